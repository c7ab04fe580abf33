//! What the walk works with: the shape that it finds, and its picture of queries, FROM items and conditions.

use crate::error::Error;
use crate::guard::labels::Labels;
use crate::guard::origin::Origins;
use crate::guard::tree::{self, TypeOf};
use pgrx::pg_sys::{Node, Oid, Query, RangeTblEntry};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int};
use std::ops::Range;

/// Column that is measured and not sent.
#[derive(Debug, Clone)]
pub struct Hidden {
    pub kind: HiddenKind,
    pub type_of: TypeOf,
    /// Occurrences of protected relations that it comes from, as places in [`Shape::occurrences`].
    pub from: BTreeSet<usize>,
    /// Whether it counts whatever is exported. Otherwise it counts with the output columns that need it.
    pub is_forced: bool,
}

#[derive(Debug, Clone)]
pub enum HiddenKind {
    /// Value made of stored columns, which counts like an output column.
    Value(Origins),
    /// Constant that stands for a condition on these columns, which holds for every row.
    Condition(Origins),
    /// Whether a value that is made of these columns is NULL although one of the dangerous ones is not.
    Absence(Origins),
    /// Number of the branch of a UNION ALL.
    Branch,
    /// Part of the identity of stored rows or of people, a mark that there is one, or a sampling weight.
    Identity,
}

/// Output column of the export.
#[derive(Debug, Clone)]
pub struct Output {
    pub name: String,
    pub type_of: TypeOf,
    pub origins: Origins,
    /// Whether the column is a stored one, unchanged.
    pub is_plain: bool,
    /// Hidden columns that count if the column is exported, as places in [`Shape::hidden`].
    pub needs: Vec<usize>,
    /// Occurrences of protected relations that it comes from, as places in [`Shape::occurrences`].
    pub from: BTreeSet<usize>,
}

/// Occurrence of a protected relation in FROM. In FROM patients p, patients q there are two of them.
#[derive(Debug, Clone)]
pub struct Occurrence {
    /// The relation, and the views that it is read through.
    pub relations: Vec<Oid>,
    pub counted: Counted,
    /// Sets of hidden columns of which each identifies the person that a stored row is about; empty if no column is
    /// labelled person.
    pub people: Vec<Vec<usize>>,
    /// Hidden column with the sampling weight of the stored row, if there is one.
    pub weight: Option<usize>,
}

/// How the stored rows of an occurrence are counted.
#[derive(Debug, Clone, PartialEq)]
pub enum Counted {
    /// Every exported row has one, and each is exported once.
    Rows,
    /// Each is exported at most once, in rows in which these columns are not NULL.
    Marked(Vec<usize>),
    /// It may be exported repeatedly. These columns identify it; they are NULL in rows without one.
    Distinct(Vec<usize>),
}

/// ORDER BY: an output column, from 0, and the operator and collation by which its values are equal.
#[derive(Debug, Clone)]
pub struct Order {
    pub column: usize,
    pub equality: Oid,
    pub collation: Oid,
}

/// What a judged export sends, and what else is measured.
#[derive(Debug)]
pub struct Shape {
    pub outputs: Vec<Output>,
    /// Hidden columns, in the order in which they follow the output columns in each row. Column numbers in
    /// [`Counted`] are places in this list.
    pub hidden: Vec<Hidden>,
    pub occurrences: Vec<Occurrence>,
    /// Whether rows of several occurrences leave that are not linked by their columns labelled person. Then even
    /// an ignored column would tell which of them belong together.
    pub is_paired: bool,
    /// Columns in conditions, of all conditions together.
    pub conditions: Origins,
    pub order: Vec<Order>,
    pub limit: Option<u64>,
    /// Functions that do not come with Postgres and may be called.
    pub functions: FxHashSet<Oid>,
}

/// Reason why an export is not in the language.
#[derive(Debug)]
pub struct Refusal {
    /// What is not allowed.
    pub what: String,
    /// Byte at which it stands in the query, or a negative number if that is unknown.
    pub location: c_int,
    /// View or row security policy that it stands in.
    pub inside: Option<String>,
    /// What to write instead.
    pub hint: Cow<'static, str>,
}

/// Reason why the walk ended early.
#[derive(Debug)]
pub enum Stopped {
    Refused(Refusal),
    Failed(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Stopped::Failed(error)
    }
}

/// What the walk has to know about the relations that a query reads.
pub struct Rules<'a> {
    pub is_protected: &'a dyn Fn(Oid) -> bool,
    pub labels: &'a RefCell<Labels>,
    /// Owner of all protected relations that the query reads; `None` if they have several owners.
    pub owner: Option<Oid>,
    /// Functions that a superuser trusts.
    pub trusted: &'a FxHashSet<Oid>,
}

pub(super) type Walked<T> = Result<T, Stopped>;

pub(super) const ONLY_SELECT: &str = "Export by one SELECT, or a UNION ALL of SELECTs.";
pub(super) const SIMPLER: &str = "Write a simpler query.";
pub(super) const NO_ROWS: &str = "Name the columns that you need.";
pub(super) const JOIN_INSTEAD: &str = "Join the relation in FROM instead.";
pub(super) const PLAIN_JOIN: &str = "Use an inner join or LEFT JOIN.";
pub(super) const LIST: &str =
    "docs/language.md lists the functions, operators and types that exports may use.";
pub(super) const NOT_YET: &str = "Aggregates cannot be judged yet. Export the rows and aggregate them elsewhere, or ask the \
                       owner of the relation for an export table.";

/// What a value is made of.
#[derive(Debug, Default, Clone)]
pub(super) struct Made {
    pub(super) origins: Origins,
    /// Whether the value is a stored one, unchanged.
    pub(super) is_plain: bool,
    /// Hidden columns that count if the value leaves.
    pub(super) needs: BTreeSet<usize>,
    /// Hidden columns that count if the value leaves or is used in a condition: columns that it compares with
    /// columns of something else.
    pub(super) compared: BTreeSet<usize>,
    /// Occurrences of protected relations that it comes from.
    pub(super) from: BTreeSet<usize>,
    /// Lists that it comes from: unprotected FROM items with which rows of protected ones may be repeated, by
    /// number.
    pub(super) lists: BTreeSet<usize>,
}

impl Made {
    pub(super) fn add(&mut self, other: &Made) {
        self.origins.extend(other.origins.iter().cloned());
        self.needs.extend(&other.needs);
        self.compared.extend(&other.compared);
        self.from.extend(&other.from);
        self.lists.extend(&other.lists);
    }

    /// Returns whether it varies with the same FROM items as another value.
    pub(super) fn varies_like(&self, other: &Made) -> bool {
        self.from == other.from && self.lists == other.lists
    }
}

/// Occurrence of a protected relation, as far as the walk has come.
pub(super) struct Found {
    pub(super) relations: Vec<Oid>,
    /// Whether its rows have an identity (tables), or at least a mark (foreign tables).
    pub(super) identity: Identity,
    /// Hidden columns for the mark and for the identity.
    pub(super) mark: Option<usize>,
    pub(super) tid: Option<usize>,
    /// Sets of hidden columns of which each identifies the person.
    pub(super) people: Vec<Vec<usize>>,
    pub(super) weight: Option<usize>,
    pub(super) is_marked: bool,
    pub(super) is_repeated: bool,
    /// Whether it is in a branch of a UNION ALL.
    pub(super) is_in_union: bool,
}

impl Found {
    /// Returns the hidden columns by which the occurrence is counted. In a UNION ALL they also show which stored
    /// rows leave by several branches.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> {
        let mark = self.mark.filter(|_| self.is_marked || self.is_repeated);
        let tid = self.tid.filter(|_| self.is_repeated || self.is_in_union);
        mark.into_iter().chain(tid)
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Identity {
    Stored,
    Marked,
    None,
}

/// Query that was walked: its SELECT list, its FROM items, and the hidden columns that it has to add.
pub(super) struct Level {
    pub(super) query: *mut Query,
    pub(super) outputs: Vec<Made>,
    pub(super) items: Vec<Item>,
    /// Branches of a UNION ALL, with their range table indexes.
    pub(super) branches: Vec<(c_int, Level)>,
    /// Hidden columns that are computed in this query.
    pub(super) asked: Vec<(usize, *mut Node)>,
    /// Those of them that have the value of a column, by item and number of the column.
    pub(super) values: FxHashMap<(c_int, i16), usize>,
}

impl Level {
    pub(super) fn item(&self, index: c_int) -> Option<&Item> {
        self.items.iter().find(|item| item.index == index)
    }

    /// Returns whether the columns of an item are protected ones, or functions of these.
    pub(super) fn is_bound(&self, index: c_int) -> bool {
        self.item(index)
            .is_some_and(|item| item.is_protected() || item.determined_by.is_some())
    }

    /// Returns whether a LEFT JOIN tells something about a column of its left side: its condition depends on the
    /// column, and rows of its right side are no function of columns that count anyway.
    pub(super) fn is_told(&self, clause: &Clause, reference: Reference) -> bool {
        self.tells(clause)
            && clause
                .right
                .as_ref()
                .is_some_and(|right| !right.contains(&reference.item))
    }

    /// Returns whether the condition is that of a LEFT JOIN, and rows of its right side are no function of columns that
    /// count anyway.
    pub(super) fn tells(&self, clause: &Clause) -> bool {
        let is_free = |&item: &c_int| self.item(item).is_some_and(|item| item.determined_by.is_none());
        clause
            .right
            .as_ref()
            .is_some_and(|right| right.iter().any(is_free))
    }

    /// Returns the columns that decide about the value of a column: itself, or those that determine its FROM item.
    pub(super) fn deciding(&self, reference: Reference) -> Vec<Reference> {
        match self.item(reference.item) {
            Some(item) if item.determined_by.is_some() => {
                let deciding = item.deciding.iter();
                deciding.flat_map(|&reference| self.deciding(reference)).collect()
            }
            _ => vec![reference],
        }
    }

    /// Gives a hidden column this value in every row, in each branch if the level is a UNION ALL.
    pub(super) fn fill(&mut self, number: usize, value: i32) {
        match self.branches.is_empty() {
            true => self.asked.push((number, tree::integer(value))),
            false => self
                .branches
                .iter_mut()
                .for_each(|(_, branch)| branch.fill(number, value)),
        }
    }

    /// Returns whether the level or a subquery of it computes a hidden column.
    pub(super) fn has(&self, number: usize) -> bool {
        self.asked.iter().any(|(asked, _)| *asked == number)
            || self.branches.iter().any(|(_, branch)| branch.has(number))
            || self.items.iter().any(|item| match &item.source {
                Source::Subquery(level, _) => level.has(number),
                _ => false,
            })
    }
}

/// FROM item.
pub(super) struct Item {
    pub(super) index: c_int,
    pub(super) source: Source,
    /// Outer joins that may make its columns NULL.
    pub(super) nulling: Vec<c_int>,
    /// Occurrences of protected relations in it.
    pub(super) occurrences: Range<usize>,
    /// If each of its rows is determined by protected columns through a unique index: what it is made of.
    pub(super) determined_by: Option<Made>,
    /// The columns that determine it.
    pub(super) deciding: Vec<Reference>,
    /// If it is a list: its number, and the protected columns that decide which of its rows are joined.
    pub(super) list: Option<(usize, Made)>,
}

impl Item {
    /// Returns whether it reads a protected relation.
    pub(super) fn is_protected(&self) -> bool {
        !self.occurrences.is_empty()
    }
}

pub(super) enum Source {
    /// Stored relation.
    Relation(Oid),
    /// View that is taken as one relation.
    Opaque(Oid),
    Subquery(Box<Level>, Option<Oid>),
}

/// Reference to a column of a FROM item.
#[derive(Clone, Copy)]
pub(super) struct Reference {
    pub(super) item: c_int,
    pub(super) number: i16,
    pub(super) type_of: TypeOf,
}

/// One of the conditions that are joined by AND.
pub(super) struct Clause {
    pub(super) node: *mut Node,
    pub(super) references: Vec<Reference>,
    /// For the condition of a LEFT JOIN: the items on its right side, which are the only ones that it
    /// restricts.
    pub(super) right: Option<Vec<c_int>>,
}

impl Clause {
    /// Returns whether the rows of an item that are exported satisfy the condition.
    pub(super) fn restricts(&self, item: c_int) -> bool {
        self.right.as_ref().is_none_or(|right| right.contains(&item))
    }

    /// Returns whether the condition decides which row of an item is joined, or whether there is one.
    pub(super) fn decides_about(&self, item: c_int) -> bool {
        let is_nullable = || self.right.as_ref().is_some_and(|right| right.contains(&item));
        self.references.iter().any(|reference| reference.item == item) || is_nullable()
    }

    /// Returns the columns of the left side in the condition of a LEFT JOIN. The recipient sees whether it was
    /// true: the right side is NULL if not, and may repeat the left side if so.
    pub(super) fn of_left_side(&self) -> impl Iterator<Item = &Reference> {
        let right = self.right.as_deref();
        let references = self.references.iter();
        references.filter(move |reference| right.is_some_and(|right| !right.contains(&reference.item)))
    }
}

/// Returns an entry of the range table.
///
/// # Safety
/// The index is one that the query uses.
pub(super) unsafe fn entry_of(query: *mut Query, index: c_int) -> *mut RangeTblEntry {
    // SAFETY: by the contract of the function.
    unsafe {
        (*(*(*query).rtable).elements.add(index as usize - 1))
            .ptr_value
            .cast()
    }
}

/// Returns a C string as text.
///
/// # Safety
/// The string is NULL or NUL-terminated.
pub(super) unsafe fn text(string: *const c_char) -> String {
    // SAFETY: by the contract of the function.
    unsafe {
        match string.is_null() {
            true => String::new(),
            false => CStr::from_ptr(string).to_string_lossy().into_owned(),
        }
    }
}
