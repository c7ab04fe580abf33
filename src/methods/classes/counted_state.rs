//! State of aggregates over the distinct rows of a group: `k_anonymity` and `count_people`.
//!
//! Each state counts the rows of one process by class. To combine two states, the values of one are added to
//! the dictionaries of the other, and its classes are translated to the codes there.

use crate::encode::arguments::{ArgumentRows, Finished};
use crate::encode::dictionary::Dictionary;
use crate::encode::encoder::Encoder;
use crate::encode::wire::{put_varint, take_array, take_varint};
use crate::encode::{Encoded, Sink};
use crate::error::Error;
use crate::input::aggregate::{AggregateCall, AggregateState, MergeableState};
use crate::methods::classes::counted::Counted;
use crate::pg::types::ColumnType;
use disclosure::classes::Classes;
use disclosure::{NULL, Rows};
use pgrx::pg_sys::NullableDatum;

/// What an aggregate keeps besides the distinct rows.
pub trait Measure: Sized + 'static {
    /// Reads the arguments of a call, whose types are `columns`. Removes the type of an option from these. Returns
    /// the positions of the columns that are read too, `None` for all.
    fn of_call(
        call: &AggregateCall,
        columns: &mut Vec<ColumnType>,
    ) -> Result<(Self, Option<Vec<usize>>), Error>;

    /// Appends the measure in a form for another process of this server.
    fn write(&self, out: &mut Vec<u8>);

    /// Reads a measure that [`write`](Self::write) has written.
    fn read(input: &mut &[u8]) -> Result<Self, Error>;
}

/// State of an aggregate.
pub struct CountedState<M> {
    pub measure: M,
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

impl<M: Measure> CountedState<M> {
    /// Returns the classes of the rows so far, and the number of further rows, which are NULL and whose columns are not
    /// known.
    pub fn so_far(&mut self) -> Result<(Option<&Classes>, u64), Error> {
        let (counted, nulls) = match &mut self.rows {
            CountedPart::Reading(rows) => rows.so_far()?,
            CountedPart::Read(finished) => (
                finished.encoded.as_ref().map(|encoded| &encoded.sink),
                finished.nulls,
            ),
        };
        Ok((counted.and_then(|counted| counted.0.as_ref()), nulls))
    }
}

impl<M: Measure> AggregateState for CountedState<M> {
    fn new(call: &AggregateCall) -> Result<Self, Error> {
        let mut columns = call.argument_types();
        let (measure, read) = M::of_call(call, &mut columns)?;
        // Without a thread of its own, because there may be thousands of groups, and parallel workers as
        // well.
        let new_encoder = move |columns: Vec<ColumnType>| {
            let encoder = Encoder::alone(columns, Counted::default());
            Ok(match read {
                None => encoder,
                Some(read) => encoder.reading(|column| read.contains(&column)),
            })
        };
        let rows = ArgumentRows::new(columns, new_encoder, call.context())?;
        Ok(CountedState {
            measure,
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

impl<M: Measure> MergeableState for CountedState<M> {
    fn merge(self, other: Self) -> Result<Self, Error> {
        let rows = merge(self.rows.finish()?, other.rows.finish()?)?;
        Ok(CountedState {
            measure: self.measure,
            rows: CountedPart::Read(rows),
        })
    }

    fn write(self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.measure.write(out);
        let Finished { encoded, nulls } = self.rows.finish()?;
        put_varint(out, nulls);
        let Some(Encoded { dictionaries, sink }) = encoded else {
            return Ok(());
        };
        put_varint(out, dictionaries.len() as u64);
        dictionaries.iter().for_each(|dictionary| dictionary.write(out));
        let classes = sink.classes();
        for (class, &size) in classes.sizes().iter().enumerate() {
            put_varint(out, size);
            out.extend(classes.codes(class).iter().flat_map(|code| code.to_ne_bytes()));
        }
        Ok(())
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let measure = M::read(input)?;
        let mut rows = Finished {
            encoded: None,
            nulls: take_varint(input)?,
        };
        if !input.is_empty() {
            let width = take_varint(input)?;
            let dictionaries = (0..width).map(|_| Dictionary::read(input));
            let dictionaries = dictionaries.collect::<Result<_, _>>()?;
            let mut classes = Classes::new(width as usize);
            let mut codes = vec![NULL; classes.width()];
            while !input.is_empty() {
                let size = take_varint(input)?;
                for code in &mut codes {
                    *code = u32::from_ne_bytes(take_array(input)?);
                }
                classes.insert(&codes, size)?;
            }
            let sink = Counted(Some(classes));
            rows.encoded = Some(Encoded { dictionaries, sink });
        }
        Ok(CountedState {
            measure,
            rows: CountedPart::Read(rows),
        })
    }
}

fn merge(this: Finished<Counted>, other: Finished<Counted>) -> Result<Finished<Counted>, Error> {
    // If only one state knows its columns, the other is merged into that one.
    let (mut this, other) = match this.encoded {
        Some(_) => (this, other),
        None => (other, this),
    };
    let Some(here) = &mut this.encoded else {
        this.nulls += other.nulls;
        return Ok(this);
    };
    if let Some(Encoded {
        dictionaries: there,
        sink: Counted(Some(classes)),
    }) = &other.encoded
    {
        let pairs = here.dictionaries.iter_mut().zip(there);
        let translation = pairs
            .map(|(here, there)| here.adopt(there))
            .collect::<Result<Vec<_>, _>>()?;
        here.sink.of_width(classes.width()).merge(classes, &translation)?;
    }
    // A row that was NULL before the columns were known counts as a row of NULLs.
    let nulls = vec![NULL; other.nulls as usize];
    let width = here.dictionaries.len();
    here.sink.rows(Rows::new(&vec![&nulls[..]; width], nulls.len()))?;
    Ok(this)
}
