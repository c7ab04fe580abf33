//! Tables of the extension to which the guard appends rows without the executor, so that the rows can
//! survive a rollback.
//!
//! A refusal is an ERROR, which rolls back its transaction, but what was written about it must stay. So such
//! a row is written as sequences write theirs: frozen, which makes it visible to everyone immediately and
//! lets it survive a rollback. Nothing else would have to be rolled back, because these tables have no index.

use crate::error::Error;
use crate::guard::own_tables::own_table;
use crate::pg::row::columns_of;
use crate::pg::types::ColumnType;
use pgrx::pg_sys::{self, Datum, LOCKMODE, Oid};
use std::ffi::{CStr, c_int};

#[derive(Clone, Copy, PartialEq)]
pub enum Lasting {
    /// The row survives a rollback and a crash of the server: for rows that left, and for refusals.
    Always,
    /// The row belongs to the transaction: for changes that count only if it commits, such as rows inserted
    /// into an export table.
    IfCommitted,
}

/// Types of the columns of a table. `None` stands for one of the extension's own types of references.
pub type Types<const N: usize> = [Option<Oid>; N];

/// Open table with `N` columns.
pub struct Ledger<const N: usize> {
    relation: pg_sys::Relation,
    name: &'static CStr,
    lasting: Lasting,
}

/// Returns whether tables can be written. They cannot on a standby and during a parallel query.
pub fn is_writable() -> bool {
    // SAFETY: both only read the state of this backend, on its main thread.
    unsafe { !pg_sys::RecoveryInProgress() && !pg_sys::IsInParallelMode() }
}

impl<const N: usize> Ledger<N> {
    /// Opens a table of schema disclosure_internal, which must have columns of these types, for rows that
    /// last as long as `lasting` says.
    pub fn open(name: &'static CStr, types: &Types<N>, lasting: Lasting) -> Result<Self, Error> {
        let table = own_table(name).ok_or(Error::LogUnusable {
            table: name,
            problem: "the table does not exist",
        })?;
        // SAFETY: the table was just looked up, and `table_open` raises an error if it is gone. The lock is
        // the one that an INSERT takes.
        let relation = unsafe { pg_sys::table_open(table, pg_sys::RowExclusiveLock as LOCKMODE) };
        let ledger = Ledger {
            relation,
            name,
            lasting,
        };
        ledger.check(types)?;
        Ok(ledger)
    }

    /// Checks that rows can be inserted without the executor. The owner of the table may have altered it.
    fn check(&self, types: &Types<N>) -> Result<(), Error> {
        let unusable = |problem| {
            Err(Error::LogUnusable {
                table: self.name,
                problem,
            })
        };
        // SAFETY: an open relation has a tuple descriptor and a row of pg_class.
        unsafe {
            let about = &*(*self.relation).rd_rel;
            if about.relkind as u8 != pg_sys::RELKIND_RELATION || about.relam != pg_sys::HEAP_TABLE_AM_OID {
                return unusable("it is not a plain table");
            }
            if !pg_sys::RelationGetIndexList(self.relation).is_null() {
                return unusable("the table must not have an index");
            }
            let descriptor = (*self.relation).rd_att;
            let columns = columns_of(descriptor);
            let is_as_expected = |(column, expected): (&ColumnType, &Option<Oid>)| match expected {
                Some(oid) => column.oid == *oid,
                None => pg_sys::get_typlen(column.oid) as usize == size_of::<Oid>(),
            };
            if (*descriptor).natts as usize != N
                || columns.len() != N
                || !columns.iter().zip(types).all(is_as_expected)
            {
                return unusable("the table has unexpected columns");
            }
        }
        Ok(())
    }

    /// Inserts a row.
    ///
    /// # Safety
    /// The values are valid Datums of the types that were given to `open`.
    pub unsafe fn insert(&self, values: [Option<Datum>; N]) {
        // SAFETY: by the contract of the function.
        unsafe {
            let mut nulls = values.map(|value| value.is_none());
            let mut values = values.map(|value| value.unwrap_or(Datum::null()));
            let row =
                pg_sys::heap_form_tuple((*self.relation).rd_att, values.as_mut_ptr(), nulls.as_mut_ptr());
            let options = match self.lasting {
                Lasting::Always => pg_sys::HEAP_INSERT_FROZEN as c_int,
                Lasting::IfCommitted => 0,
            };
            let command = pg_sys::GetCurrentCommandId(true);
            pg_sys::heap_insert(self.relation, row, command, options, std::ptr::null_mut());
            pg_sys::heap_freetuple(row);
            if self.lasting == Lasting::Always {
                // There may be no commit that would flush the row to disk.
                pg_sys::XLogFlush(pg_sys::XactLastRecEnd);
            }
        }
    }

    /// Closes the table. The lock is released at once, unless the transaction must keep it for a row of its
    /// own.
    pub fn close(self) {
        let unlocked = match self.lasting {
            Lasting::Always => pg_sys::RowExclusiveLock,
            Lasting::IfCommitted => pg_sys::NoLock,
        };
        // SAFETY: `open` opened the relation and took this lock, and `self` is consumed.
        unsafe { pg_sys::table_close(self.relation, unlocked as LOCKMODE) };
    }
}
