//! The aggregate `k_anonymity`: the size of the smallest class of rows that are equal on the given columns.
//!
//! Each state counts the rows of one process by class. To combine two states, the values of one are added to
//! the dictionaries of the other, and its classes are translated to the codes there.

use crate::encode::Sink;
use crate::encode::arguments::{ArgumentRows, Finished, OptionArgument};
use crate::encode::dictionary::Dictionary;
use crate::encode::encoder::Encoder;
use crate::encode::wire::{put_varint, take_array, take_varint};
use crate::error::Error;
use crate::input::aggregate::{AggregateCall, AggregateState, MergeableState, so_far};
use crate::methods::classes::NullTreatment;
use crate::methods::classes::counted::Counted;
use crate::pg::expression::OverColumns;
use disclosure::classes::Classes;
use disclosure::{NULL, Rows};
use pgrx::Internal;
use pgrx::pg_sys::NullableDatum;
use pgrx::prelude::*;

const K_ANONYMITY: OverColumns = OverColumns {
    name: "k_anonymity",
    hint: "Give columns, as in SELECT disclosure.k_anonymity(age, zip) FROM t; for a whole relation see \
           disclosure.equivalence_classes('t').",
};

/// State of the aggregate.
struct KAnonymity {
    nulls: NullTreatment,
    rows: CountedPart,
}

/// Rows of one process, or of several after their states were combined.
enum CountedPart {
    /// Rows are still being read.
    Reading(ArgumentRows<Counted>),
    /// All rows of this part were read.
    Read(Finished<Counted>),
}

impl CountedPart {
    fn finish(self) -> Result<Finished<Counted>, Error> {
        match self {
            Self::Reading(rows) => rows.finish(),
            Self::Read(finished) => Ok(finished),
        }
    }
}

impl AggregateState for KAnonymity {
    fn new(call: &AggregateCall) -> Result<Self, Error> {
        let mut columns = call.argument_types();
        // SAFETY: every argument has the type at its position.
        let option = unsafe { OptionArgument::take(&mut columns, |last| call.arguments()[last]) };
        call.check_columns(&K_ANONYMITY, columns.len())?;
        let nulls = NullTreatment::of_option(option)?;
        // Without a thread of its own, because there may be thousands of groups, and parallel workers as
        // well.
        let rows = ArgumentRows::new(columns, Counted::default(), Encoder::alone, call.context())?;
        Ok(KAnonymity {
            nulls,
            rows: CountedPart::Reading(rows),
        })
    }

    unsafe fn push(&mut self, arguments: &[NullableDatum]) -> Result<(), Error> {
        match &mut self.rows {
            // SAFETY: by the contract.
            CountedPart::Reading(rows) => unsafe { rows.push(arguments) },
            CountedPart::Read(_) => Err(Error::Internal("rows were pushed after the last")),
        }
    }
}

impl MergeableState for KAnonymity {
    fn merge(self, other: Self) -> Result<Self, Error> {
        let rows = merge(self.rows.finish()?, other.rows.finish()?)?;
        Ok(KAnonymity {
            nulls: self.nulls,
            rows: CountedPart::Read(rows),
        })
    }

    fn write(self, out: &mut Vec<u8>) -> Result<(), Error> {
        let Finished {
            dictionaries,
            sink,
            nulls,
        } = self.rows.finish()?;
        put_varint(out, u64::from(self.nulls == NullTreatment::Wildcard));
        put_varint(out, nulls);
        let (Some(dictionaries), Some(classes)) = (dictionaries, sink.0) else {
            return Ok(());
        };
        put_varint(out, dictionaries.len() as u64);
        dictionaries.iter().for_each(|dictionary| dictionary.write(out));
        for (class, &size) in classes.sizes().iter().enumerate() {
            put_varint(out, size);
            out.extend(classes.codes(class).iter().flat_map(|code| code.to_ne_bytes()));
        }
        Ok(())
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let nulls = match take_varint(input)? {
            0 => NullTreatment::Value,
            _ => NullTreatment::Wildcard,
        };
        let mut rows = Finished {
            nulls: take_varint(input)?,
            dictionaries: None,
            sink: Counted::default(),
        };
        if !input.is_empty() {
            let width = take_varint(input)?;
            let dictionaries = (0..width).map(|_| Dictionary::read(input));
            rows.dictionaries = Some(dictionaries.collect::<Result<_, _>>()?);
            let mut classes = Classes::new(width as usize);
            let mut codes = vec![NULL; classes.width()];
            while !input.is_empty() {
                let size = take_varint(input)?;
                for code in &mut codes {
                    *code = u32::from_ne_bytes(take_array(input)?);
                }
                classes.insert(&codes, size)?;
            }
            rows.sink = Counted(Some(classes));
        }
        Ok(KAnonymity {
            nulls,
            rows: CountedPart::Read(rows),
        })
    }
}

fn merge(this: Finished<Counted>, other: Finished<Counted>) -> Result<Finished<Counted>, Error> {
    // If only one state knows its columns, the other is merged into that one.
    let (mut this, other) = match this.dictionaries {
        Some(_) => (this, other),
        None => (other, this),
    };
    let Some(here) = &mut this.dictionaries else {
        this.nulls += other.nulls;
        return Ok(this);
    };
    if let (Some(there), Some(classes)) = (&other.dictionaries, &other.sink.0) {
        let pairs = here.iter_mut().zip(there);
        let translation = pairs
            .map(|(here, there)| here.adopt(there))
            .collect::<Result<Vec<_>, _>>()?;
        this.sink.of_width(classes.width()).merge(classes, &translation)?;
    }
    // A row that was NULL before the columns were known counts as a row of NULLs.
    let nulls = vec![NULL; other.nulls as usize];
    this.sink
        .rows(Rows::new(&vec![&nulls[..]; here.len()], nulls.len()))?;
    Ok(this)
}

/// Transition function of k_anonymity(VARIADIC "any").
#[pg_extern(sql = false)]
fn k_anonymity_transition(call: AggregateCall) -> Internal {
    call.transition::<KAnonymity>().unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn k_anonymity_combine(call: AggregateCall) -> Internal {
    call.combine::<KAnonymity>().unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn k_anonymity_serialise(call: AggregateCall) -> Vec<u8> {
    call.serialise::<KAnonymity>().unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn k_anonymity_deserialise(bytes: &[u8], call: AggregateCall) -> Internal {
    call.deserialise::<KAnonymity>(bytes).unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn k_anonymity_final(mut state: Internal) -> Option<i64> {
    k_anonymity(&mut state).unwrap_or_else(Error::raise)
}

fn k_anonymity(state: &mut Internal) -> Result<Option<i64>, Error> {
    let Some(state) = so_far::<KAnonymity>(state)? else {
        return Ok(None);
    };
    let (counted, null_rows) = match &mut state.rows {
        CountedPart::Reading(rows) => rows.so_far()?,
        CountedPart::Read(finished) => (Some(&finished.sink), finished.nulls),
    };
    let k = match counted.and_then(|counted| counted.0.as_ref()) {
        Some(classes) => state.nulls.sizes(classes)?.iter().min().copied(),
        None => Some(null_rows).filter(|&rows| rows > 0),
    };
    Ok(k.map(|k| k as i64))
}
