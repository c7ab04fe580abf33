//! Joins that are functions: which rows a unique index determines.
//!
//! All unsafe functions in this file expect pointers into the query tree that is judged, which stays
//! allocated while they run.

use super::model::*;
use crate::guard::tree::{entries, list};
use pgrx::pg_sys::{self, Node, NodeTag, Oid, Query, RTEKind};
use std::ffi::c_int;

/// Column of an item that is equal to an expression over bound items: its number, and the operator and
/// collation of the comparison.
pub(super) struct Key {
    pub(super) number: i16,
    pub(super) operator: Oid,
    pub(super) collation: Oid,
}

/// Returns the columns by which an item is joined with bound items.
///
/// # Safety
/// The clauses belong to the level.
pub(super) unsafe fn keys_of(level: &Level, item: c_int, clauses: &[Clause]) -> Vec<Key> {
    // SAFETY: by the contract of the function.
    unsafe {
        let mut keys = Vec::new();
        for clause in clauses.iter().filter(|clause| clause.restricts(item)) {
            if (*clause.node).type_ != NodeTag::T_OpExpr {
                continue;
            }
            let comparison = clause.node.cast::<pg_sys::OpExpr>();
            let [left, right] = list::<Node>((*comparison).args)[..] else {
                continue;
            };
            let others: Vec<&Reference> = clause
                .references
                .iter()
                .filter(|reference| reference.item != item)
                .collect();
            let is_one_column = clause.references.len() == others.len() + 1;
            if !is_one_column || others.is_empty() || !others.iter().all(|other| level.is_bound(other.item)) {
                continue;
            }
            let number = [left, right]
                .into_iter()
                .find_map(|side| plain_column(level.query, side, item));
            if let Some(number) = number {
                keys.push(Key {
                    number,
                    operator: (*comparison).opno,
                    collation: (*comparison).inputcollid,
                });
            }
        }
        keys
    }
}

/// Returns whether the outer joins that may make an item NULL depend on nothing but bound items and the right
/// sides themselves.
pub(super) fn is_joined_by_bound(level: &Level, item: c_int, clauses: &[Clause]) -> bool {
    let is_nullable_by = |clause: &&Clause| clause.right.as_ref().is_some_and(|right| right.contains(&item));
    let mut deciding = clauses
        .iter()
        .filter(is_nullable_by)
        .flat_map(Clause::of_left_side);
    deciding.all(|reference| level.is_bound(reference.item))
}

/// Returns the number of the item's column that an expression plainly is, without regard to casts that keep
/// the bytes.
///
/// # Safety
/// The expression belongs to the query.
pub(super) unsafe fn plain_column(query: *mut Query, mut node: *mut Node, item: c_int) -> Option<i16> {
    // SAFETY: by the contract of the function.
    unsafe {
        loop {
            match (*node).type_ {
                NodeTag::T_RelabelType => node = (*node.cast::<pg_sys::RelabelType>()).arg.cast(),
                NodeTag::T_Var => {
                    let column = node.cast::<pg_sys::Var>();
                    if (*column).varno as c_int == item {
                        return Some((*column).varattno);
                    }
                    node = alias_of(query, column)?;
                }
                _ => return None,
            }
        }
    }
}

/// Returns the expression that a column of a join stands for; `None` for columns of other items.
///
/// # Safety
/// The column belongs to the query.
pub(super) unsafe fn alias_of(query: *mut Query, column: *mut pg_sys::Var) -> Option<*mut Node> {
    // SAFETY: by the contract of the function.
    unsafe {
        let entry = entry_of(query, (*column).varno as c_int);
        if (*entry).rtekind != RTEKind::RTE_JOIN || (*column).varattno <= 0 {
            return None;
        }
        entries((*entry).joinaliasvars).nth((*column).varattno as usize - 1)
    }
}

/// Returns whether a relation has a valid, immediate unique index on columns that are all among the keys.
/// Children of a table are not covered by its index.
pub(super) fn is_unique(relation: Oid, with_children: bool, keys: &[Key]) -> bool {
    // SAFETY: the relation is locked since the query was analysed, and is closed below. The arrays of an index
    // have an element for each key column.
    unsafe {
        if keys.is_empty() {
            return false;
        }
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        let no_lock = pg_sys::NoLock as pg_sys::LOCKMODE;
        let table = pg_sys::relation_open(relation, no_lock);
        let is_covered = (*(*table).rd_rel).relkind as u8 == pg_sys::RELKIND_PARTITIONED_TABLE
            || !with_children
            || !(*(*table).rd_rel).relhassubclass;
        let indexes = pg_sys::RelationGetIndexList(table);
        let count = if indexes.is_null() || !is_covered {
            0
        } else {
            (*indexes).length as usize
        };
        let is_unique = (0..count).any(|place| {
            let index = pg_sys::index_open((*(*indexes).elements.add(place)).oid_value, lock);
            let is_unique = is_unique_by(index, keys);
            pg_sys::index_close(index, no_lock);
            is_unique
        });
        pg_sys::relation_close(table, no_lock);
        is_unique
    }
}

/// Returns whether an index is valid, immediate and unique, on all rows, and on columns that are all compared
/// by the index's own equality.
///
/// # Safety
/// The index is open.
pub(super) unsafe fn is_unique_by(index: pg_sys::Relation, keys: &[Key]) -> bool {
    // SAFETY: by the contract of the function.
    unsafe {
        let about = &*(*index).rd_index;
        let is_usable = about.indisunique && about.indisvalid && about.indimmediate && about.indislive;
        if !is_usable || !pg_sys::RelationGetIndexPredicate(index).is_null() {
            return false;
        }
        let numbers = about.indkey.values.as_slice(about.indnkeyatts as usize);
        numbers.iter().enumerate().all(|(place, &number)| {
            let (family, collation) = (
                *(*index).rd_opfamily.add(place),
                *(*index).rd_indcollation.add(place),
            );
            let is_equal = |key: &&Key| {
                let strategy = pg_sys::get_op_opfamily_strategy(key.operator, family);
                key.number == number
                    && strategy == pg_sys::BTEqualStrategyNumber as c_int
                    && (collation == Oid::INVALID || collation == key.collation)
            };
            number > 0 && keys.iter().any(|key| is_equal(&key))
        })
    }
}
