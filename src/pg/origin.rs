//! Where the columns of a relation come from, as far as the catalogue says so without following expressions:
//! a column of a view or materialized view that is plainly a column of another relation, and the columns that
//! a partition or an inheritance child shares with its parents. Nothing but catalogues is read, so no
//! privileges are needed.

use crate::error::Error;
use crate::pg::catalog;
use crate::pg::query::{self, Parameters};
use pgrx::pg_sys::{self, CmdType, Oid};
use pgrx::prelude::*;
use std::collections::HashMap;
use std::ffi::CStr;

/// A column of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub relation: Oid,
    pub name: String,
}

/// The origins of a relation's columns, one step away: they may have origins in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origins {
    /// The relation is a view or materialized view: the columns that its own ones plainly refer to, by the
    /// names of its own ones. Columns that are computed have no origin.
    View(HashMap<String, Column>),
    /// The relations that it is a partition or an inheritance child of, in the order of the INHERITS clause.
    /// All of their columns are columns of the relation, under the same names.
    Parents(Vec<Oid>),
}

/// Returns the origins of a relation's columns; there are none if the relation no longer exists.
pub fn origins_of(relation: Oid) -> Result<Origins, Error> {
    if catalog::is_view(relation) {
        return Ok(Origins::View(references_of(relation)));
    }
    parents_of(relation).map(Origins::Parents)
}

#[pg_guard]
unsafe extern "C-unwind" {
    fn has_superclass(relation: Oid) -> bool;
}

/// Returns the parents of a partition or an inheritance child.
fn parents_of(relation: Oid) -> Result<Vec<Oid>, Error> {
    const QUERY: &str = "SELECT i.inhparent FROM pg_catalog.pg_inherits i \
         WHERE i.inhrelid OPERATOR(pg_catalog.=) $1 ORDER BY i.inhseqno";
    // Most tables have none, which a look at an index tells sooner than a query.
    // SAFETY: a catalogue look-up.
    if !unsafe { has_superclass(relation) } {
        return Ok(Vec::new());
    }
    let mut parameters = Parameters::default();
    parameters.add(pg_sys::OIDOID, relation.into());
    query::oids(QUERY, &parameters)
}

/// Returns the plain references in the query of a view or materialized view.
fn references_of(view: Oid) -> HashMap<String, Column> {
    let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
    // SAFETY: the query belongs to the relation, which is open and locked while it is read. What is returned
    // was copied.
    unsafe {
        let relation = pg_sys::try_relation_open(view, lock);
        if relation.is_null() {
            return HashMap::new();
        }
        let references = match definition(relation) {
            Some(query) => pointers((*query).targetList)
                .filter_map(|entry| reference(view, entry))
                .collect(),
            None => HashMap::new(),
        };
        pg_sys::relation_close(relation, lock);
        references
    }
}

/// Returns the query of a view or materialized view.
///
/// # Safety
/// An open relation, to which the query belongs.
unsafe fn definition(relation: pg_sys::Relation) -> Option<*mut pg_sys::Query> {
    // SAFETY: by the contract of the function; a rule for SELECT has one action, which is a query.
    unsafe {
        let rules = (*relation).rd_rules;
        if rules.is_null() {
            return None;
        }
        let rules = std::slice::from_raw_parts((*rules).rules, (*rules).numLocks as usize);
        let select = rules.iter().find(|rule| (***rule).event == CmdType::CMD_SELECT)?;
        pointers((**select).actions).next()
    }
}

/// Returns the name of a view's column and the column that it plainly refers to. Parse analysis has followed
/// the reference through joins, subqueries and CTEs; to the columns of a set operation it gives no origin.
///
/// # Safety
/// An entry of the target list of the view's query.
unsafe fn reference(view: Oid, entry: *mut pg_sys::TargetEntry) -> Option<(String, Column)> {
    // SAFETY: by the contract of the function.
    let (number, relation, column, is_junk) = unsafe {
        let entry = &*entry;
        (entry.resno, entry.resorigtbl, entry.resorigcol, entry.resjunk)
    };
    // A reference to a system column or to a whole row is not one to a column with a label.
    if is_junk || relation == Oid::INVALID || column <= 0 {
        return None;
    }
    let origin = Column {
        relation,
        name: column_name(relation, column)?,
    };
    Some((column_name(view, number)?, origin))
}

/// Returns the name of a column by its number; `None` if there is no such column any more.
fn column_name(relation: Oid, number: pg_sys::AttrNumber) -> Option<String> {
    // SAFETY: catalogue look-ups. A dropped column has no type. The name is NULL or a string that lives until
    // the current memory context is reset.
    unsafe {
        if pg_sys::get_atttype(relation, number) == Oid::INVALID {
            return None;
        }
        let name = pg_sys::get_attname(relation, number, true);
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
    }
}

/// Returns the pointers in a list, one after another.
///
/// # Safety
/// A list of pointers to `T`, or NIL, that lives as long as the iterator.
unsafe fn pointers<T>(list: *mut pg_sys::List) -> impl Iterator<Item = *mut T> {
    // SAFETY: by the contract of the function.
    unsafe {
        let length = if list.is_null() {
            0
        } else {
            (*list).length as usize
        };
        (0..length).map(move |position| (*(*list).elements.add(position)).ptr_value.cast())
    }
}
