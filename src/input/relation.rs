//! Road (b): a table or view by name, read with a SELECT by the calling user, so that privileges, row
//! level security, partitions and inheritance are those of that SELECT.

use super::encoder::Encoder;
use super::scratch::Scratch;
use super::summary::type_name;
use super::{ColumnType, Encoded, Sink, row};
use crate::error::Problem;
use crate::run::Meter;
use pgrx::pg_sys::{self, Datum, DestReceiver, TupleDesc, TupleTableSlot};
use pgrx::prelude::*;
use pgrx::spi::{quote_identifier, quote_qualified_identifier};
use std::ffi::{CStr, CString, c_char, c_int};
use std::iter::{Copied, Zip};
use std::slice::Iter;

/// A relation and the columns of it that are asked for.
pub struct Relation {
    /// Schema and name, quoted.
    name: String,
    columns: Vec<ColumnType>,
}

impl Relation {
    /// `columns` as the caller gave them; `None` means all.
    pub fn new(oid: Option<pg_sys::Oid>, columns: Option<Vec<Option<String>>>) -> Result<Self, Problem> {
        let mut relation = Self::whole("relation", oid)?;
        if let Some(given) = columns {
            relation.columns = relation.chosen_columns(given)?;
        }
        Ok(relation)
    }

    /// All columns of the relation that the caller gave as `argument`.
    pub fn whole(argument: &'static str, oid: Option<pg_sys::Oid>) -> Result<Self, Problem> {
        let oid = oid.ok_or(Problem::Argument {
            argument,
            problem: "must not be NULL".into(),
            hint: "Give the name of a table or view.",
        })?;
        Ok(Relation {
            name: qualified_name(argument, oid)?,
            columns: columns_of(oid),
        })
    }

    /// A column by its name, which comes from `argument`.
    pub fn column(&self, argument: &'static str, name: &str) -> Result<&ColumnType, Problem> {
        let mut columns = self.columns.iter();
        columns
            .find(|column| column.name == name)
            .ok_or_else(|| Problem::NoSuchColumn {
                argument,
                relation: self.name.clone(),
                column: name.into(),
            })
    }

    /// Schema and name, quoted.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn width(&self) -> usize {
        self.columns.len()
    }

    pub fn columns(&self) -> &[ColumnType] {
        &self.columns
    }

    /// Encode every row that the calling user may see.
    pub fn read<S: Sink>(self, sink: S) -> Result<Encoded<S>, Problem> {
        self.read_as(self.columns.clone(), sink)
    }

    /// Encode these columns of every row that the calling user may see. Those that are to be of another type
    /// than they are here are cast to it.
    pub fn read_as<S: Sink>(&self, columns: Vec<ColumnType>, sink: S) -> Result<Encoded<S>, Problem> {
        let is_here = |wanted: &ColumnType| {
            let mut columns = self.columns.iter();
            columns.any(|column| column.name == wanted.name && column.oid == wanted.oid)
        };
        let wanted = columns.iter().map(|column| {
            let name = quote_identifier(&column.name);
            match is_here(column) {
                true => name,
                false => format!("{name}::{}", type_name(column.oid)),
            }
        });
        let wanted: Vec<String> = wanted.collect();
        let query = format!("SELECT {} FROM {}", wanted.join(", "), self.name);
        let mut encoder = Encoder::new(columns, sink);
        // SAFETY: the row has the columns that `encoder` was made for: the query names them, and the lock
        // that `columns_of` has taken keeps their types.
        for_each_row(&query, |row| unsafe { encoder.push(row) })?;
        encoder.finish()
    }

    /// What the caller asked for, if it makes sense.
    pub fn chosen_columns(&self, given: Vec<Option<String>>) -> Result<Vec<ColumnType>, Problem> {
        let argument = "columns";
        let invalid = |problem: String| Problem::Argument {
            argument,
            problem,
            hint: "Give an array of distinct column names, or NULL for all columns.",
        };
        if given.is_empty() {
            return Err(invalid("must not be empty".into()));
        }
        let mut chosen: Vec<ColumnType> = Vec::with_capacity(given.len());
        for name in given {
            let name = name.ok_or_else(|| invalid("must not contain NULL".into()))?;
            let column = self.column(argument, &name)?;
            if chosen.contains(column) {
                return Err(invalid(format!("\"{name}\" is given twice")));
            }
            chosen.push(column.clone());
        }
        Ok(chosen)
    }
}

/// Hand every row of a query to `on_row`, with scratch memory as the current one.
pub fn for_each_row(query: &str, mut on_row: impl FnMut(Row) -> Result<(), Problem>) -> Result<(), Problem> {
    let mut meter = Meter::new("reading the table");
    Spi::connect(|_| {
        let scratch = Scratch::new();
        execute(query, &mut |row| {
            let _entered = scratch.enter();
            on_row(row)?;
            if meter.row()? {
                scratch.reset();
            }
            Ok(())
        })
    })?;
    meter.finish();
    Ok(())
}

/// The values of a row, and which of them are NULL.
pub type Row<'a> = Zip<Copied<Iter<'a, Datum>>, Copied<Iter<'a, bool>>>;

/// Where the executor delivers rows: they are looked at on the spot, without a copy in between.
#[repr(C)]
struct Receiver<'a> {
    /// First, because Postgres passes the receiver around as a pointer to this.
    callbacks: DestReceiver,
    on_row: &'a mut dyn FnMut(Row) -> Result<(), Problem>,
    outcome: Result<(), Problem>,
}

/// Run a query to its end, within `Spi::connect`, and hand every row to `on_row`.
fn execute(query: &str, on_row: &mut dyn FnMut(Row) -> Result<(), Problem>) -> Result<(), Problem> {
    let query = CString::new(query).map_err(|_| Problem::Argument {
        argument: "columns",
        problem: "a name contains a NUL character".into(),
        hint: "Give the names as the catalogue has them.",
    })?;
    let mut receiver = Receiver {
        callbacks: DestReceiver {
            rStartup: Some(start),
            receiveSlot: Some(receive),
            rShutdown: Some(ignore),
            rDestroy: Some(ignore),
            mydest: pg_sys::CommandDest::DestNone,
        },
        on_row,
        outcome: Ok(()),
    };
    let options = pg_sys::SPIExecuteOptions {
        // The snapshot of the calling statement: what it sees is what is measured.
        read_only: true,
        dest: &raw mut receiver.callbacks,
        ..Default::default()
    };
    // SAFETY: SPI is connected; the receiver outlives the call.
    unsafe { pg_sys::SPI_execute_extended(query.as_ptr(), &options) };
    receiver.outcome
}

/// All values of a row, and which of them are NULL.
///
/// # Safety
/// A slot that holds a row, which stays there as long as the slices are used.
pub unsafe fn values_of<'a>(slot: *mut TupleTableSlot) -> (&'a [Datum], &'a [bool]) {
    let width = (*(*slot).tts_tupleDescriptor).natts;
    if c_int::from((*slot).tts_nvalid) < width {
        pg_sys::slot_getsomeattrs_int(slot, width);
    }
    (
        std::slice::from_raw_parts((*slot).tts_values, width as usize),
        std::slice::from_raw_parts((*slot).tts_isnull, width as usize),
    )
}

#[pg_guard]
unsafe extern "C-unwind" fn receive(slot: *mut TupleTableSlot, receiver: *mut DestReceiver) -> bool {
    let receiver = &mut *receiver.cast::<Receiver>();
    let (values, nulls) = values_of(slot);
    receiver.outcome = (receiver.on_row)(values.iter().copied().zip(nulls.iter().copied()));
    receiver.outcome.is_ok()
}

#[pg_guard]
unsafe extern "C-unwind" fn start(_receiver: *mut DestReceiver, _operation: c_int, _descriptor: TupleDesc) {}

#[pg_guard]
unsafe extern "C-unwind" fn ignore(_receiver: *mut DestReceiver) {}

/// Schema and name of a relation, not quoted; `None` if there is none with this OID.
pub fn schema_and_name(oid: pg_sys::Oid) -> Option<(String, String)> {
    // SAFETY: catalogue look-ups that return NULL for an unknown OID, else a string that lives until the
    // current memory context is reset.
    unsafe {
        let text = |name: *const c_char| {
            (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
        };
        let schema = text(pg_sys::get_namespace_name(pg_sys::get_rel_namespace(oid)))?;
        Some((schema, text(pg_sys::get_rel_name(oid))?))
    }
}

/// Schema and name of a relation that has rows.
fn qualified_name(argument: &'static str, oid: pg_sys::Oid) -> Result<String, Problem> {
    let Some((schema, name)) = schema_and_name(oid) else {
        return Err(Problem::Argument {
            argument,
            problem: format!("there is no relation with OID {}", oid.to_u32()),
            hint: "Give the name of a table or view.",
        });
    };
    // SAFETY: a catalogue look-up.
    let kind = unsafe { pg_sys::get_rel_relkind(oid) } as u8;
    match kind {
        pg_sys::RELKIND_RELATION
        | pg_sys::RELKIND_PARTITIONED_TABLE
        | pg_sys::RELKIND_VIEW
        | pg_sys::RELKIND_MATVIEW
        | pg_sys::RELKIND_FOREIGN_TABLE => Ok(quote_qualified_identifier(schema, name)),
        _ => Err(Problem::NotReadable {
            argument,
            relation: name,
        }),
    }
}

/// The columns of a relation, in order.
fn columns_of(oid: pg_sys::Oid) -> Vec<ColumnType> {
    // SAFETY: a lock on the relation is held while its descriptor is read, and kept until the end of the
    // transaction, as a SELECT would.
    unsafe {
        let relation = pg_sys::relation_open(oid, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        let columns = row::columns_of((*relation).rd_att);
        pg_sys::relation_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
        columns
    }
}
