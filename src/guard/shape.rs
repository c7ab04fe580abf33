//! The language of exports: one walk over the rewritten query that knows every node it accepts, and refuses
//! the rest. docs/guard.md has the language as a table.
//!
//! The walk also finds out what leaves. An output column counts as the stored columns that it is made of. What
//! tells more than the output shows becomes a *hidden column*, which is measured and not sent: a sensitive
//! column that an expression mixes with others, a protected column that a join compares with a list, a
//! condition that is true for every row, and the branch of a UNION ALL. [`Shape::expose`] then adds the
//! hidden columns to the tree that is planned.
//!
//! A node that is accepted names all its children. What is not named is refused, so nothing can be forgotten.
//! GROUP BY, DISTINCT, HAVING and aggregates would be walked in [`Walk::select`], where they are refused now.
//! A view that is taken as one relation, as certified views will be, is an [`Source::Opaque`] item.
//!
//! All unsafe functions in this file expect pointers into the query tree that is judged, which stays
//! allocated while they run.

use crate::error::Error;
use crate::guard::labels::Labels;
use crate::guard::language;
use crate::guard::origin::{Origin, Origins};
use crate::guard::policy;
use crate::guard::tree::{self, CteProblem, TypeOf, entries, list};
use crate::pg::catalog;
use pgrx::pg_sys::{self, JoinType, List, Node, NodeTag, Oid, Query, RTEKind, RangeTblEntry};
use pgrx::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int};
use std::ops::Range;

/// What a value is made of.
#[derive(Debug, Default, Clone)]
struct Made {
    origins: Origins,
    /// Whether the value is a stored one, unchanged.
    is_plain: bool,
    /// Hidden columns that count if the value leaves.
    needs: BTreeSet<usize>,
    /// Hidden columns that count if the value leaves or is used in a condition: columns that it compares with
    /// columns of something else.
    compared: BTreeSet<usize>,
    /// Occurrences of protected relations that it comes from.
    from: BTreeSet<usize>,
    /// Lists that it comes from: unprotected FROM items with which rows of protected ones may be repeated, by
    /// number.
    lists: BTreeSet<usize>,
}

impl Made {
    fn add(&mut self, other: &Made) {
        self.origins.extend(other.origins.iter().cloned());
        self.needs.extend(&other.needs);
        self.compared.extend(&other.compared);
        self.from.extend(&other.from);
        self.lists.extend(&other.lists);
    }

    /// Returns whether it varies with the same FROM items as another value.
    fn varies_like(&self, other: &Made) -> bool {
        self.from == other.from && self.lists == other.lists
    }
}

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
    /// Number of the branch of a UNION ALL.
    Branch,
    /// Part of the identity of stored rows, or a mark that there is one.
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

type Walked<T> = Result<T, Stopped>;

/// What the walk has to know about the relations that a query reads.
pub struct Rules<'a> {
    pub is_protected: &'a dyn Fn(Oid) -> bool,
    pub labels: &'a RefCell<Labels>,
    /// Owner of all protected relations that the query reads; `None` if they have several owners.
    pub owner: Option<Oid>,
    /// Functions that a superuser trusts.
    pub trusted: &'a FxHashSet<Oid>,
}

/// Judges the shape of a query and adds the hidden columns to it. Its LIMIT is taken away, because the rows
/// are shuffled before they are cut.
///
/// # Safety
/// The query is rewritten and about to be planned, and nobody else uses it.
pub unsafe fn judge(query: *mut Query, rules: &Rules) -> Result<Shape, Stopped> {
    // SAFETY: by the contract of the function.
    unsafe {
        let mut walk = Walk {
            rules,
            inside: Inside::default(),
            hidden: Vec::new(),
            occurrences: Vec::new(),
            linked: Vec::new(),
            conditions: Origins::new(),
            functions: FxHashSet::default(),
            views: Vec::new(),
            lists: 0,
        };
        if let Err(problem) = tree::inline_ctes(query) {
            let (what, hint) = match problem {
                CteProblem::Recursive => ("WITH RECURSIVE", "Write the query without recursion."),
                CteProblem::Modifying => ("a data-modifying WITH query", ONLY_SELECT),
                CteProblem::TooMany => ("a query with so many references to WITH queries", SIMPLER),
            };
            return walk.no(what, -1, hint);
        }
        let level = walk.query(query, true)?;
        walk.finish(query, level)
    }
}

/// Maximum number of columns, hidden ones included. The spool adds two more, up to what Postgres can store.
const MAX_COLUMNS: usize = pg_sys::MaxTupleAttributeNumber as usize - 2;

const ONLY_SELECT: &str = "Export by one SELECT, or a UNION ALL of SELECTs.";
const SIMPLER: &str = "Write a simpler query.";
const NO_ROWS: &str = "Name the columns that you need.";
const JOIN_INSTEAD: &str = "Join the relation in FROM instead.";
const PLAIN_JOIN: &str = "Use an inner join or LEFT JOIN.";
const LIST: &str = "docs/language.md lists the functions, operators and types that exports may use.";
const NOT_YET: &str = "Aggregates cannot be judged yet. Export the rows and aggregate them elsewhere, or ask the \
                       owner of the relation for an export table.";

/// Part of the tree that belongs to a view or a row security policy.
#[derive(Default, Clone)]
struct Inside {
    /// Name of the view or relation, for messages.
    place: Option<String>,
    /// Whether it belongs to the owner of the protected relations, or to a superuser.
    is_owners: bool,
}

struct Walk<'a> {
    rules: &'a Rules<'a>,
    inside: Inside,
    /// All hidden columns that somebody asked for, by number.
    hidden: Vec<Hidden>,
    occurrences: Vec<Found>,
    /// Pairs of occurrences that are joined by their columns labelled person.
    linked: Vec<(usize, usize)>,
    conditions: Origins,
    functions: FxHashSet<Oid>,
    /// Views around the current query.
    views: Vec<Oid>,
    /// Number of lists found so far.
    lists: usize,
}

/// Occurrence of a protected relation, as far as the walk has come.
struct Found {
    relations: Vec<Oid>,
    /// Whether its rows have an identity (tables), or at least a mark (foreign tables).
    identity: Identity,
    /// Hidden columns for the mark and for the identity.
    mark: Option<usize>,
    tid: Option<usize>,
    is_marked: bool,
    is_repeated: bool,
    /// Whether it is in a branch of a UNION ALL.
    is_in_union: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Identity {
    Stored,
    Marked,
    None,
}

/// Query that was walked: its SELECT list, its FROM items, and the hidden columns that it has to add.
struct Level {
    query: *mut Query,
    outputs: Vec<Made>,
    items: Vec<Item>,
    /// Branches of a UNION ALL, with their range table indexes.
    branches: Vec<(c_int, Level)>,
    /// Hidden columns that are computed in this query.
    asked: Vec<(usize, *mut Node)>,
    /// Those of them that have the value of a column, by item and number of the column.
    values: FxHashMap<(c_int, i16), usize>,
}

/// FROM item.
struct Item {
    index: c_int,
    source: Source,
    /// Outer joins that may make its columns NULL.
    nulling: Vec<c_int>,
    /// Occurrences of protected relations in it.
    occurrences: Range<usize>,
    /// If each of its rows is determined by protected columns through a unique index: what it is made of.
    determined_by: Option<Made>,
    /// If it is a list: its number, and the protected columns that decide which of its rows are joined.
    list: Option<(usize, Made)>,
}

enum Source {
    /// Stored relation.
    Relation(Oid),
    /// View that is taken as one relation.
    Opaque(Oid),
    Subquery(Box<Level>, Option<Oid>),
}

/// Reference to a column of a FROM item.
#[derive(Clone, Copy)]
struct Reference {
    item: c_int,
    number: i16,
    type_of: TypeOf,
}

/// One of the conditions that are joined by AND.
struct Clause {
    node: *mut Node,
    references: Vec<Reference>,
    /// For the condition of a LEFT JOIN: the items on its right side, which are the only ones that it
    /// restricts.
    right: Option<Vec<c_int>>,
}

impl Walk<'_> {
    fn no<T>(
        &self,
        what: impl Into<String>,
        location: c_int,
        hint: impl Into<Cow<'static, str>>,
    ) -> Walked<T> {
        Err(Stopped::Refused(Refusal {
            what: what.into(),
            location: if self.inside.place.is_some() { -1 } else { location },
            inside: self.inside.place.clone(),
            hint: hint.into(),
        }))
    }

    /// Asks for a hidden column, which the query of the level computes, and returns its number.
    unsafe fn ask(&mut self, level: &mut Level, kind: HiddenKind, expression: *mut Node) -> usize {
        // SAFETY: the expression is new.
        let type_of = unsafe { TypeOf::expression(expression) };
        let number = self.add(kind, type_of, BTreeSet::new());
        level.asked.push((number, expression));
        number
    }

    fn add(&mut self, kind: HiddenKind, type_of: TypeOf, from: BTreeSet<usize>) -> usize {
        self.hidden.push(Hidden {
            kind,
            type_of,
            from,
            is_forced: false,
        });
        self.hidden.len() - 1
    }

    /// Makes a hidden column that counts whatever is exported, and returns its number. [`Level::fill`] gives it
    /// an integer.
    fn constant(&mut self, kind: HiddenKind, from: BTreeSet<usize>) -> usize {
        // SAFETY: the expression is new.
        let type_of = unsafe { TypeOf::expression(tree::integer(0)) };
        let number = self.add(kind, type_of, from);
        self.hidden[number].is_forced = true;
        number
    }

    /// Asks for a hidden column that has the value of a column, and returns its number. Several expressions share
    /// one.
    fn ask_for(&mut self, level: &mut Level, reference: Reference, made: &Made) -> usize {
        let place = (reference.item, reference.number);
        if let Some(&number) = level.values.get(&place) {
            return number;
        }
        let nulling = level.item(reference.item).map_or(&[][..], |item| &item.nulling);
        let column = tree::column(reference.item, reference.number, reference.type_of, nulling);
        let kind = HiddenKind::Value(made.origins.clone());
        let number = self.add(kind, reference.type_of, made.from.clone());
        level.asked.push((number, column));
        level.values.insert(place, number);
        number
    }

    unsafe fn query(&mut self, query: *mut Query, is_top: bool) -> Walked<Level> {
        // SAFETY: see the top of this file.
        unsafe {
            pg_sys::check_stack_depth();
            pgrx::check_for_interrupts!();
            self.check_clauses(&*query, is_top)?;
            let level = Level {
                query,
                outputs: Vec::new(),
                items: Vec::new(),
                branches: Vec::new(),
                asked: Vec::new(),
                values: FxHashMap::default(),
            };
            match (*query).setOperations.is_null() {
                true => self.select(level),
                false => self.union(level),
            }
        }
    }

    /// Refuses the clauses of a query that are not in the language.
    unsafe fn check_clauses(&self, q: &Query, is_top: bool) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            let is_select = q.commandType == pg_sys::CmdType::CMD_SELECT
                && q.utilityStmt.is_null()
                && q.resultRelation == 0;
            let has_changes = !q.returningList.is_null() || !q.onConflict.is_null() || q.hasModifyingCTE;
            #[cfg(not(feature = "pg14"))]
            let has_changes = has_changes || !q.mergeActionList.is_null();
            let with_ties = q.limitOption == pg_sys::LimitOption::LIMIT_OPTION_WITH_TIES;
            let has_limit = !q.limitCount.is_null();
            let refused: [(bool, &str, &'static str); 14] = [
                (
                    !is_select || has_changes,
                    "a command other than SELECT",
                    ONLY_SELECT,
                ),
                (!q.withCheckOptions.is_null(), "a check option", ONLY_SELECT),
                (
                    !q.groupClause.is_null() || !q.groupingSets.is_null(),
                    "GROUP BY",
                    NOT_YET,
                ),
                (!q.havingQual.is_null(), "HAVING", NOT_YET),
                (q.hasAggs, "an aggregate", NOT_YET),
                (q.hasDistinctOn, "DISTINCT ON", "Export all rows."),
                (!q.distinctClause.is_null(), "DISTINCT", NOT_YET),
                (
                    q.hasWindowFuncs || !q.windowClause.is_null(),
                    "a window function",
                    "A window function puts values of other rows into a row. Leave it out.",
                ),
                (
                    q.hasTargetSRFs,
                    "a set-returning function",
                    "The number of its rows would tell a value. Leave it out.",
                ),
                (
                    q.hasForUpdate || !q.rowMarks.is_null(),
                    "FOR UPDATE or FOR SHARE",
                    "Leave it out.",
                ),
                (
                    !q.limitOffset.is_null(),
                    "OFFSET",
                    "Rows leave in random order, so there is nothing to skip.",
                ),
                (with_ties, "WITH TIES", "Use LIMIT with a constant."),
                (
                    has_limit && !is_top,
                    "LIMIT in a subquery",
                    "Use LIMIT at the end of the whole query.",
                ),
                (
                    has_limit && limit_of(q.limitCount).is_none(),
                    "LIMIT with an expression",
                    "Use LIMIT with a constant.",
                ),
            ];
            match refused.into_iter().find(|(is_there, ..)| *is_there) {
                Some((_, what, hint)) => self.no(what, -1, hint),
                None => Ok(()),
            }
        }
    }

    /// Walks a UNION ALL. Its branches are subqueries.
    unsafe fn union(&mut self, mut level: Level) -> Walked<Level> {
        // SAFETY: see the top of this file.
        unsafe {
            let query = level.query;
            let mut branches = Vec::new();
            self.branches((*query).setOperations, &mut branches)?;
            let found_before = self.occurrences.len();
            // All branches fill the same hidden column.
            let branch_number = self.constant(HiddenKind::Branch, BTreeSet::new());
            for (place, index) in branches.into_iter().enumerate() {
                let mut branch = self.subquery(entry_of(query, index))?;
                branch.fill(branch_number, place as i32);
                match level.branches.is_empty() {
                    true => level.outputs = branch.outputs.clone(),
                    false => {
                        for (all, made) in level.outputs.iter_mut().zip(&branch.outputs) {
                            all.is_plain &= made.is_plain;
                            all.add(made);
                        }
                    }
                }
                level.branches.push((index, branch));
            }
            self.hidden[branch_number].from = (found_before..self.occurrences.len()).collect();
            // In rows of other branches the occurrence is absent.
            for found in &mut self.occurrences[found_before..] {
                found.is_marked = true;
                found.is_in_union = true;
            }
            self.check_order(&level)?;
            Ok(level)
        }
    }

    /// Collects the range table indexes of the branches of a UNION ALL.
    unsafe fn branches(&self, node: *mut Node, found: &mut Vec<c_int>) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            pg_sys::check_stack_depth();
            match (*node).type_ {
                NodeTag::T_RangeTblRef => {
                    found.push((*node.cast::<pg_sys::RangeTblRef>()).rtindex);
                    Ok(())
                }
                NodeTag::T_SetOperationStmt => {
                    let operation = node.cast::<pg_sys::SetOperationStmt>();
                    let what = match ((*operation).op, (*operation).all) {
                        (pg_sys::SetOperation::SETOP_UNION, true) => {
                            self.branches((*operation).larg, found)?;
                            return self.branches((*operation).rarg, found);
                        }
                        (pg_sys::SetOperation::SETOP_UNION, false) => "UNION without ALL",
                        (pg_sys::SetOperation::SETOP_INTERSECT, _) => "INTERSECT",
                        _ => "EXCEPT",
                    };
                    self.no(what, -1, "Use UNION ALL.")
                }
                _ => self.no("this set operation", -1, "Use UNION ALL."),
            }
        }
    }

    /// Walks a SELECT: FROM, then conditions and joins, then the SELECT list.
    unsafe fn select(&mut self, mut level: Level) -> Walked<Level> {
        // SAFETY: see the top of this file.
        unsafe {
            let query = level.query;
            let mut clauses = Vec::new();
            self.from(&mut level, (*query).jointree.cast(), &[], &mut clauses)?;
            self.find_determined(&mut level, &clauses)?;
            self.find_lists(&mut level, &clauses)?;
            self.mark_repeated(&level);
            self.find_linked(&level, &clauses)?;
            for clause in &clauses {
                self.condition(&mut level, clause)?;
            }
            for target in list::<pg_sys::TargetEntry>((*query).targetList) {
                if (*target).resjunk {
                    let location = pg_sys::exprLocation((*target).expr.cast());
                    return self.no(
                        "ORDER BY an expression that is not exported",
                        location,
                        "Order by columns of the SELECT list.",
                    );
                }
                let made = self.output(&mut level, (*target).expr.cast())?;
                level.outputs.push(made);
            }
            self.check_order(&level)?;
            Ok(level)
        }
    }

    /// Returns what an expression of the SELECT list is made of.
    unsafe fn output(&mut self, level: &mut Level, expression: *mut Node) -> Walked<Made> {
        // SAFETY: see the top of this file.
        unsafe {
            let mut references = Vec::new();
            self.expression(level, expression, &mut references)?;
            self.type_of(pg_sys::exprType(expression), pg_sys::exprLocation(expression))?;
            if let (NodeTag::T_Var, [reference]) = ((*expression).type_, &references[..]) {
                return self.made_of(level, *reference);
            }
            self.mixture(level, &references)
        }
    }

    /// Returns what a value that is made of these columns is made of.
    unsafe fn mixture(&mut self, level: &mut Level, references: &[Reference]) -> Walked<Made> {
        // SAFETY: see the top of this file.
        unsafe {
            let compares = self.compares(level, references, |walk, occurrence| walk.person_of(occurrence))?
                || self.is_mixed(level, references)?
                || self.could_hide(level, references)?;
            let mut made = Made::default();
            for &reference in references {
                let mut part = self.disclosed(level, reference)?;
                if compares {
                    self.compare(level, reference, &mut part);
                }
                made.add(&part);
            }
            Ok(made)
        }
    }

    /// Returns whether columns in one expression are compared with each other: they come from different
    /// occurrences of protected relations, or some of them count and others do not, because they come from a list
    /// or are ignored. `group_of` tells which occurrences count as one.
    unsafe fn compares(
        &self,
        level: &Level,
        references: &[Reference],
        group_of: impl Fn(&Self, usize) -> usize,
    ) -> Walked<bool> {
        // SAFETY: see the top of this file.
        unsafe {
            let mut sources = BTreeSet::new();
            for &reference in references {
                let made = self.made_of(level, reference)?;
                let counts =
                    !made.from.is_empty() && self.rules.labels.borrow_mut().weights(&made.origins)?.is_some();
                match counts {
                    true => sources.extend(
                        made.from
                            .iter()
                            .map(|&occurrence| Some(group_of(self, occurrence))),
                    ),
                    false if made.origins.is_empty() => (),
                    false => {
                        sources.insert(None);
                    }
                }
            }
            Ok(references.len() > 1 && sources.len() > 1)
        }
    }

    /// Notes that a column is compared with something else, so that it counts with its value.
    fn compare(&mut self, level: &mut Level, reference: Reference, made: &mut Made) {
        if !made.from.is_empty() {
            let hidden = self.ask_for(level, reference, made);
            made.compared.extend(made.needs.iter().copied().chain([hidden]));
        }
    }

    /// Finds the occurrences that are joined by their columns labelled person.
    unsafe fn find_linked(&mut self, level: &Level, clauses: &[Clause]) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            for clause in clauses {
                if self.links_people(level, clause)? {
                    let mut people = BTreeSet::new();
                    for &reference in &clause.references {
                        people.extend(self.made_of(level, reference)?.from);
                    }
                    let mut people = people.into_iter();
                    if let Some(first) = people.next() {
                        self.linked.extend(people.map(|other| (first, other)));
                    }
                }
            }
            Ok(())
        }
    }

    /// Returns the first of the occurrences that an occurrence is linked with.
    fn person_of(&self, occurrence: usize) -> usize {
        let mut linked = BTreeSet::from([occurrence]);
        loop {
            let before = linked.len();
            for &(one, other) in &self.linked {
                if linked.contains(&one) || linked.contains(&other) {
                    linked.extend([one, other]);
                }
            }
            if linked.len() == before {
                return linked.first().copied().unwrap_or(occurrence);
            }
        }
    }

    /// Returns whether a value that is made of these columns could hide one that an adversary knows behind one
    /// that does not count as known. Whoever receives the second as well, or another mixture of the two,
    /// computes the first, as from (zip + diagnosis) % 6 and diagnosis. So all of them count with their stored
    /// values.
    unsafe fn could_hide(&self, level: &Level, references: &[Reference]) -> Walked<bool> {
        // SAFETY: see the top of this file.
        unsafe {
            let (mut hides, mut is_known) = (false, false);
            for &reference in references {
                let made = self.made_of(level, reference)?;
                match self.rules.labels.borrow_mut().weights(&made.origins)? {
                    Some(weights) => {
                        is_known |= weights.likelihood > 0.0;
                        hides |= weights.danger > 0.0;
                    }
                    None => hides |= !made.origins.is_empty(),
                }
            }
            let is_one = |reference: &Reference| {
                (reference.item, reference.number) == (references[0].item, references[0].number)
            };
            Ok(hides && is_known && !references.iter().all(is_one))
        }
    }

    /// Returns whether an expression mixes columns of FROM items of which one may repeat rows of another. Its
    /// value then differs between the copies of a stored row, so that no single copy shows what leaves: the
    /// columns count with their stored values.
    unsafe fn is_mixed(&self, level: &Level, references: &[Reference]) -> Walked<bool> {
        // SAFETY: see the top of this file.
        unsafe {
            let parts: Vec<Made> = references
                .iter()
                .map(|&reference| self.made_of(level, reference))
                .collect::<Walked<_>>()?;
            let is_repeated =
                |made: &Made| made.from.iter().any(|&place| self.occurrences[place].is_repeated);
            let may_vary = parts
                .iter()
                .any(|made| !made.lists.is_empty() || is_repeated(made));
            let mut varying = parts
                .iter()
                .filter(|made| !made.from.is_empty() || !made.lists.is_empty());
            let first = varying.next();
            let are_alike = varying.all(|made| first.is_none_or(|first| made.varies_like(first)));
            Ok(may_vary && !are_alike)
        }
    }

    /// Returns what a column is made of, if its value leaves as part of another value. A sensitive column then
    /// also counts with its stored value: a mixture hides nothing.
    unsafe fn disclosed(&mut self, level: &mut Level, reference: Reference) -> Walked<Made> {
        // SAFETY: see the top of this file.
        unsafe {
            let mut made = self.made_of(level, reference)?;
            if made.is_plain && self.is_dangerous(&made.origins)? {
                let hidden = self.ask_for(level, reference, &made);
                made.needs.insert(hidden);
            }
            made.is_plain = false;
            Ok(made)
        }
    }

    fn is_dangerous(&self, origins: &Origins) -> Walked<bool> {
        let weights = self.rules.labels.borrow_mut().weights(origins)?;
        Ok(weights.is_some_and(|weights| weights.danger > 0.0))
    }

    /// Walks FROM, and collects the FROM items and the conditions of joins and of WHERE.
    unsafe fn from(
        &mut self,
        level: &mut Level,
        node: *mut Node,
        nulling: &[c_int],
        clauses: &mut Vec<Clause>,
    ) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            pg_sys::check_stack_depth();
            if node.is_null() {
                return Ok(());
            }
            match (*node).type_ {
                NodeTag::T_RangeTblRef => {
                    let index = (*node.cast::<pg_sys::RangeTblRef>()).rtindex;
                    let item = self.item(level, index, nulling, clauses)?;
                    level.items.push(item);
                    Ok(())
                }
                NodeTag::T_FromExpr => {
                    let from = node.cast::<pg_sys::FromExpr>();
                    for item in list((*from).fromlist) {
                        self.from(level, item, nulling, clauses)?;
                    }
                    self.clauses(level, (*from).quals, None, clauses)
                }
                NodeTag::T_JoinExpr => self.join(level, node.cast(), nulling, clauses),
                _ => self.no("this item in FROM", -1, PLAIN_JOIN),
            }
        }
    }

    unsafe fn join(
        &mut self,
        level: &mut Level,
        join: *mut pg_sys::JoinExpr,
        nulling: &[c_int],
        clauses: &mut Vec<Clause>,
    ) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            let is_left = match (*join).jointype {
                JoinType::JOIN_INNER => false,
                JoinType::JOIN_LEFT => true,
                JoinType::JOIN_RIGHT => return self.no("RIGHT JOIN", -1, PLAIN_JOIN),
                JoinType::JOIN_FULL => return self.no("FULL JOIN", -1, PLAIN_JOIN),
                _ => return self.no("this join", -1, PLAIN_JOIN),
            };
            self.from(level, (*join).larg, nulling, clauses)?;
            let left = level.items.len();
            let mut nulling = nulling.to_vec();
            if is_left {
                nulling.push((*join).rtindex);
            }
            self.from(level, (*join).rarg, &nulling, clauses)?;
            let right: Vec<c_int> = level.items[left..].iter().map(|item| item.index).collect();
            self.clauses(level, (*join).quals, is_left.then_some(right), clauses)
        }
    }

    /// Walks a condition and adds its parts, which are joined by AND.
    unsafe fn clauses(
        &mut self,
        level: &Level,
        node: *mut Node,
        right: Option<Vec<c_int>>,
        clauses: &mut Vec<Clause>,
    ) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            pg_sys::check_stack_depth();
            if node.is_null() {
                return Ok(());
            }
            // Conditions of row security policies are lists.
            if (*node).type_ == NodeTag::T_List {
                for part in list::<Node>(node.cast()) {
                    self.clauses(level, part, right.clone(), clauses)?;
                }
                return Ok(());
            }
            let is_and = (*node).type_ == NodeTag::T_BoolExpr
                && (*node.cast::<pg_sys::BoolExpr>()).boolop == pg_sys::BoolExprType::AND_EXPR;
            if is_and {
                for part in list::<Node>((*node.cast::<pg_sys::BoolExpr>()).args) {
                    self.clauses(level, part, right.clone(), clauses)?;
                }
                return Ok(());
            }
            let mut references = Vec::new();
            self.expression(level, node, &mut references)?;
            clauses.push(Clause {
                node,
                references,
                right,
            });
            Ok(())
        }
    }

    /// Walks one FROM item.
    unsafe fn item(
        &mut self,
        level: &mut Level,
        index: c_int,
        nulling: &[c_int],
        clauses: &mut Vec<Clause>,
    ) -> Walked<Item> {
        // SAFETY: see the top of this file.
        unsafe {
            let entry = entry_of(level.query, index);
            if (*entry).lateral {
                return self.no("LATERAL", -1, JOIN_INSTEAD);
            }
            let found_before = self.occurrences.len();
            let source = match (*entry).rtekind {
                RTEKind::RTE_RELATION => self.relation(level, index, nulling, clauses)?,
                RTEKind::RTE_SUBQUERY => match tree::view_of(entry) {
                    Some(view) if self.is_taken_whole(view, (*entry).subquery) => {
                        self.opaque(view, (*entry).subquery)?;
                        Source::Opaque(view)
                    }
                    view => Source::Subquery(Box::new(self.subquery(entry)?), view),
                },
                RTEKind::RTE_FUNCTION => return self.no("a function in FROM", -1, JOIN_INSTEAD),
                RTEKind::RTE_VALUES => return self.no("VALUES in FROM", -1, JOIN_INSTEAD),
                RTEKind::RTE_TABLEFUNC => return self.no("XMLTABLE or JSON_TABLE", -1, JOIN_INSTEAD),
                _ => return self.no("this item in FROM", -1, JOIN_INSTEAD),
            };
            if !nulling.is_empty() {
                for found in &mut self.occurrences[found_before..] {
                    found.is_marked = true;
                }
            }
            Ok(Item {
                index,
                source,
                nulling: nulling.to_vec(),
                occurrences: found_before..self.occurrences.len(),
                determined_by: None,
                list: None,
            })
        }
    }

    unsafe fn relation(
        &mut self,
        level: &mut Level,
        index: c_int,
        nulling: &[c_int],
        clauses: &mut Vec<Clause>,
    ) -> Walked<Source> {
        // SAFETY: see the top of this file.
        unsafe {
            let entry = entry_of(level.query, index);
            let relation = (*entry).relid;
            if !(*entry).tablesample.is_null() {
                return self.no("TABLESAMPLE", -1, "Export all rows, or use LIMIT.");
            }
            let identity = match (*entry).relkind as u8 {
                pg_sys::RELKIND_RELATION | pg_sys::RELKIND_PARTITIONED_TABLE | pg_sys::RELKIND_MATVIEW => {
                    Identity::Stored
                }
                pg_sys::RELKIND_FOREIGN_TABLE => Identity::Marked,
                _ => return self.no("this kind of relation", -1, JOIN_INSTEAD),
            };
            let is_protected = (self.rules.is_protected)(relation);
            if is_protected {
                let mut relations = [&[relation], &self.views[..]].concat();
                if (*entry).relkind as u8 == pg_sys::RELKIND_MATVIEW && !self.has_own_policy(relation)? {
                    relations.extend(self.materialized(relation)?);
                }
                // The mark and the identity are columns that every table has.
                let system = |number: c_int, oid| {
                    let type_of = TypeOf {
                        oid,
                        modifier: -1,
                        collation: Oid::INVALID,
                    };
                    tree::column(index, number as i16, type_of, nulling)
                };
                let table = system(pg_sys::TableOidAttributeNumber, pg_sys::OIDOID);
                let mark = self.ask(level, HiddenKind::Identity, table);
                let tid = match identity {
                    Identity::Stored => {
                        let tid = system(pg_sys::SelfItemPointerAttributeNumber, pg_sys::TIDOID);
                        Some(self.ask(level, HiddenKind::Identity, tid))
                    }
                    _ => None,
                };
                self.occurrences.push(Found {
                    relations,
                    identity,
                    mark: Some(mark),
                    tid,
                    is_marked: false,
                    is_repeated: false,
                    is_in_union: false,
                });
            }
            if !(*entry).securityQuals.is_null() {
                let owner = catalog::owner_of(relation);
                let before = self.enter(
                    format!("a row security policy of {}", catalog::name_of(relation)),
                    owner,
                );
                let walked = self.clauses(level, (*entry).securityQuals.cast(), None, clauses);
                self.inside = before;
                walked?;
            }
            Ok(Source::Relation(relation))
        }
    }

    /// Returns the relations that a materialized view is made of. Its rows are taken for stored rows of these, so
    /// it must belong to their owner: anybody else could have filled it with copies.
    fn materialized(&self, view: Oid) -> Walked<Vec<Oid>> {
        if !catalog::owner_of(view).is_some_and(|owner| self.is_owners(owner)) {
            return self.no(
                format!(
                    "materialized view {}, which reads a protected relation,",
                    catalog::name_of(view)
                ),
                -1,
                "Read the protected relation itself, or a materialized view of its owner.",
            );
        }
        self.rules.labels.borrow_mut().protect(view);
        let mut under = policy::relations_under(view)?;
        under.retain(|&relation| relation != view);
        Ok(under)
    }

    /// Returns whether a materialized view is protected by its own policies alone.
    fn has_own_policy(&self, view: Oid) -> Walked<bool> {
        Ok(self.rules.labels.borrow().has_own_policy(view)?)
    }

    /// Returns whether a view is taken as one relation: it has a policy, and nothing that it reads has one.
    unsafe fn is_taken_whole(&self, view: Oid, query: *mut Query) -> bool {
        // SAFETY: see the top of this file.
        unsafe {
            (self.rules.is_protected)(view)
                && !tree::relations_in(query)
                    .into_iter()
                    .any(|relation| relation != view && (self.rules.is_protected)(relation))
        }
    }

    /// Takes a view as one relation. Its rows are what its owner has decided they are, so its query is not
    /// walked. Functions in it may be called if its owner could call them anyway.
    unsafe fn opaque(&mut self, view: Oid, query: *mut Query) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            let before = self.enter(
                format!("view {}", catalog::name_of(view)),
                catalog::owner_of(view),
            );
            let functions = language::functions_in(query);
            let walked = functions
                .into_iter()
                .try_for_each(|function| self.function(function, -1));
            self.inside = before;
            walked?;
            self.occurrences.push(Found {
                relations: [&[view], &self.views[..]].concat(),
                identity: Identity::None,
                mark: None,
                tid: None,
                is_marked: false,
                is_repeated: false,
                is_in_union: false,
            });
            Ok(())
        }
    }

    /// Enters a view or row security policy of `owner`, and returns what was around it.
    fn enter(&mut self, place: String, owner: Option<Oid>) -> Inside {
        let is_owners = owner.is_some_and(|owner| self.is_owners(owner));
        std::mem::replace(
            &mut self.inside,
            Inside {
                place: Some(place),
                is_owners,
            },
        )
    }

    /// Returns whether a role is the owner of the protected relations, or a superuser.
    fn is_owners(&self, role: Oid) -> bool {
        // SAFETY: any OID is accepted.
        self.rules.owner == Some(role) || unsafe { pg_sys::superuser_arg(role) }
    }

    /// Walks a subquery, which may be the query of a view.
    unsafe fn subquery(&mut self, entry: *mut RangeTblEntry) -> Walked<Level> {
        // SAFETY: see the top of this file.
        unsafe {
            let Some(view) = tree::view_of(entry) else {
                return self.query((*entry).subquery, false);
            };
            let before = self.enter(
                format!("view {}", catalog::name_of(view)),
                catalog::owner_of(view),
            );
            self.views.push(view);
            let level = self.query((*entry).subquery, false);
            self.views.pop();
            self.inside = before;
            level
        }
    }

    /// Finds the items that are functions of protected columns: each of their rows is found by a unique index
    /// through columns of items that are protected or determined themselves.
    unsafe fn find_determined(&mut self, level: &mut Level, clauses: &[Clause]) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            if !level.items.iter().any(|item| item.is_protected()) {
                return Ok(());
            }
            loop {
                let mut found = None;
                for (place, item) in level.items.iter().enumerate() {
                    if let (Source::Relation(relation), false, None) =
                        (&item.source, item.is_protected(), &item.determined_by)
                    {
                        let keys = keys_of(level, item.index, clauses);
                        if is_joined_by_bound(level, item.index, clauses)
                            && is_unique(*relation, (*entry_of(level.query, item.index)).inh, &keys)
                        {
                            found = Some(place);
                            break;
                        }
                    }
                }
                let Some(place) = found else {
                    return Ok(());
                };
                let index = level.items[place].index;
                let deciding = clauses
                    .iter()
                    .filter(|clause| clause.restricts(index) && clause.decides_about(index));
                let references: Vec<Reference> = deciding
                    .flat_map(|clause| clause.references.iter().copied())
                    .filter(|reference| reference.item != index && level.is_bound(reference.item))
                    .collect();
                level.items[place].determined_by = Some(self.mixture(level, &references)?);
            }
        }
    }

    /// Finds the lists: items that are neither protected nor functions of protected columns. Which of their
    /// rows are joined tells something about the protected columns that they are compared with, directly or
    /// through other lists.
    unsafe fn find_lists(&mut self, level: &mut Level, clauses: &[Clause]) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            if !level.items.iter().any(Item::is_protected) {
                return Ok(());
            }
            for item in level
                .items
                .iter_mut()
                .filter(|item| !item.is_protected() && item.determined_by.is_none())
            {
                item.list = Some((self.lists, Made::default()));
                self.lists += 1;
            }
            loop {
                let mut is_complete = true;
                for place in 0..level.items.len() {
                    let index = level.items[place].index;
                    let Some((number, mut told)) = level.items[place].list.clone() else {
                        continue;
                    };
                    let before = told.origins.len();
                    for clause in clauses.iter().filter(|clause| clause.decides_about(index)) {
                        for &reference in clause
                            .references
                            .iter()
                            .filter(|reference| reference.item != index)
                        {
                            told.add(&self.told_by(level, reference)?);
                        }
                    }
                    is_complete &= told.origins.len() == before;
                    level.items[place].list = Some((number, told));
                }
                if is_complete {
                    return Ok(());
                }
            }
        }
    }

    /// Returns what a column tells about protected columns. A column of a list tells by which of them its row
    /// was joined.
    unsafe fn told_by(&self, level: &Level, reference: Reference) -> Walked<Made> {
        // SAFETY: see the top of this file.
        unsafe {
            match level.item(reference.item).and_then(|item| item.list.as_ref()) {
                Some((_, told)) => Ok(told.clone()),
                None => self.made_of(level, reference),
            }
        }
    }

    /// Notes which occurrences may be exported repeatedly: those that are joined with anything that is not a
    /// function of them.
    fn mark_repeated(&mut self, level: &Level) {
        let free = level
            .items
            .iter()
            .filter(|item| item.determined_by.is_none())
            .count();
        if free > 1 {
            for item in &level.items {
                for found in &mut self.occurrences[item.occurrences.clone()] {
                    found.is_repeated = true;
                }
            }
        }
    }

    /// Notes what a condition tells about protected columns.
    unsafe fn condition(&mut self, level: &mut Level, clause: &Clause) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            let bound: Vec<Reference> = clause
                .references
                .iter()
                .copied()
                .filter(|reference| level.is_bound(reference.item))
                .collect();
            let mut told = Made::default();
            for &reference in &clause.references {
                told.add(&self.told_by(level, reference)?);
            }
            if told.origins.is_empty() || self.links_people(level, clause)? {
                return Ok(());
            }
            for reference in &bound {
                let made = self.made_of(level, *reference)?;
                if let Some((name, label)) = self.rules.labels.borrow_mut().naming(&made.origins)? {
                    return self.no(
                        format!("a condition on or a join by column \"{name}\", which is labelled {label},"),
                        pg_sys::exprLocation(clause.node),
                        "Select people by other columns. Two protected relations can be joined by their columns \
                         labelled person.",
                    );
                }
            }
            let protected: BTreeSet<c_int> = bound
                .iter()
                .map(|reference| reference.item)
                .filter(|&item| level.item(item).is_some_and(|item| item.is_protected()))
                .collect();
            let is_comparison = self.compares(level, &clause.references, |_, occurrence| occurrence)?
                || self.is_mixed(level, &clause.references)?
                || self.could_hide(level, &bound)?;
            for &reference in &bound {
                let mut made = match is_comparison || level.is_told(clause, reference) {
                    false => self.made_of(level, reference)?,
                    true => {
                        let mut made = self.disclosed(level, reference)?;
                        self.compare(level, reference, &mut made);
                        made
                    }
                };
                for number in std::mem::take(&mut made.compared) {
                    self.hidden[number].is_forced = true;
                }
            }
            let restricts = match &clause.right {
                None => true,
                Some(right) => protected.iter().any(|item| right.contains(item)),
            };
            if restricts {
                self.restrict(level, told)?;
            }
            Ok(())
        }
    }

    /// Notes that a condition on these columns holds for every row.
    fn restrict(&mut self, level: &mut Level, made: Made) -> Walked<()> {
        if self.is_dangerous(&made.origins)? {
            let condition = self.constant(HiddenKind::Condition(made.origins.clone()), made.from);
            level.fill(condition, 1);
        }
        self.conditions.extend(made.origins);
        Ok(())
    }
}

impl Item {
    /// Returns whether it reads a protected relation.
    fn is_protected(&self) -> bool {
        !self.occurrences.is_empty()
    }
}

impl Level {
    fn item(&self, index: c_int) -> Option<&Item> {
        self.items.iter().find(|item| item.index == index)
    }

    /// Returns whether the columns of an item are protected ones, or functions of these.
    fn is_bound(&self, index: c_int) -> bool {
        self.item(index)
            .is_some_and(|item| item.is_protected() || item.determined_by.is_some())
    }
}

impl Level {
    /// Returns whether a LEFT JOIN tells something about a column of its left side: its condition depends on the
    /// column, and rows of its right side are no function of columns that count anyway.
    fn is_told(&self, clause: &Clause, reference: Reference) -> bool {
        let is_free = |&item: &c_int| self.item(item).is_some_and(|item| item.determined_by.is_none());
        clause
            .right
            .as_ref()
            .is_some_and(|right| !right.contains(&reference.item) && right.iter().any(is_free))
    }
}

impl Clause {
    /// Returns whether the rows of an item that are exported satisfy the condition.
    fn restricts(&self, item: c_int) -> bool {
        self.right.as_ref().is_none_or(|right| right.contains(&item))
    }

    /// Returns whether the condition decides which row of an item is joined, or whether there is one.
    fn decides_about(&self, item: c_int) -> bool {
        let is_nullable = || self.right.as_ref().is_some_and(|right| right.contains(&item));
        self.references.iter().any(|reference| reference.item == item) || is_nullable()
    }

    /// Returns the columns of the left side in the condition of a LEFT JOIN. The recipient sees whether it was
    /// true: the right side is NULL if not, and may repeat the left side if so.
    fn of_left_side(&self) -> impl Iterator<Item = &Reference> {
        let right = self.right.as_deref();
        let references = self.references.iter();
        references.filter(move |reference| right.is_some_and(|right| !right.contains(&reference.item)))
    }
}

/// Returns an entry of the range table.
///
/// # Safety
/// The index is one that the query uses.
unsafe fn entry_of(query: *mut Query, index: c_int) -> *mut RangeTblEntry {
    // SAFETY: by the contract of the function.
    unsafe {
        (*(*(*query).rtable).elements.add(index as usize - 1))
            .ptr_value
            .cast()
    }
}

/// Returns the number in a LIMIT clause; `None` if it is not a constant, and the highest number for LIMIT
/// ALL. Until it is planned, LIMIT 3 is int8(3).
///
/// # Safety
/// The node is valid.
unsafe fn limit_of(node: *mut Node) -> Option<u64> {
    // SAFETY: by the contract of the function. The functions convert a number to bigint.
    unsafe {
        let constant = match (*node).type_ {
            NodeTag::T_Const => node.cast::<pg_sys::Const>(),
            NodeTag::T_FuncExpr => {
                let call = node.cast::<pg_sys::FuncExpr>();
                let to_bigint = [pg_sys::F_INT8_INT4, pg_sys::F_INT8_INT2];
                let argument = entries::<Node>((*call).args).next()?;
                if !to_bigint.contains(&(*call).funcid.to_u32()) || (*argument).type_ != NodeTag::T_Const {
                    return None;
                }
                argument.cast()
            }
            _ => return None,
        };
        if (*constant).constisnull {
            return Some(u64::MAX);
        }
        let value = match (*constant).consttype {
            pg_sys::INT8OID => i64::from_datum((*constant).constvalue, false)?,
            pg_sys::INT4OID => i32::from_datum((*constant).constvalue, false)?.into(),
            pg_sys::INT2OID => i16::from_datum((*constant).constvalue, false)?.into(),
            _ => return None,
        };
        u64::try_from(value).ok()
    }
}

/// Column of an item that is equal to an expression over bound items: its number, and the operator and
/// collation of the comparison.
struct Key {
    number: i16,
    operator: Oid,
    collation: Oid,
}

/// Returns the columns by which an item is joined with bound items.
///
/// # Safety
/// The clauses belong to the level.
unsafe fn keys_of(level: &Level, item: c_int, clauses: &[Clause]) -> Vec<Key> {
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
fn is_joined_by_bound(level: &Level, item: c_int, clauses: &[Clause]) -> bool {
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
unsafe fn plain_column(query: *mut Query, mut node: *mut Node, item: c_int) -> Option<i16> {
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
unsafe fn alias_of(query: *mut Query, column: *mut pg_sys::Var) -> Option<*mut Node> {
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
fn is_unique(relation: Oid, with_children: bool, keys: &[Key]) -> bool {
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
unsafe fn is_unique_by(index: pg_sys::Relation, keys: &[Key]) -> bool {
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

impl Walk<'_> {
    /// Returns what a column of a FROM item is made of.
    unsafe fn made_of(&self, level: &Level, reference: Reference) -> Walked<Made> {
        // SAFETY: see the top of this file.
        unsafe {
            let Some(item) = level.item(reference.item) else {
                return Err(Error::Internal("a column of no FROM item").into());
            };
            if let Some(made) = &item.determined_by {
                return Ok(made.clone());
            }
            let stored = |relation| Origin {
                relation,
                column: text(pg_sys::get_attname(relation, reference.number, true)),
            };
            let mut made = match &item.source {
                Source::Relation(relation) | Source::Opaque(relation) => Made {
                    origins: Origins::from([stored(*relation)]),
                    is_plain: true,
                    from: item.occurrences.clone().collect(),
                    ..Made::default()
                },
                Source::Subquery(query, view) => {
                    let made = query.outputs.get(reference.number as usize - 1);
                    let mut made = made.cloned().ok_or(Error::Internal("a column of no subquery"))?;
                    made.origins.extend(view.map(stored));
                    made
                }
            };
            if let Some((number, told)) = &item.list {
                made.origins.extend(told.origins.iter().cloned());
                made.lists.insert(*number);
            }
            Ok(made)
        }
    }

    /// Returns whether a condition joins two protected relations by their columns labelled person.
    unsafe fn links_people(&self, level: &Level, clause: &Clause) -> Walked<bool> {
        // SAFETY: see the top of this file.
        unsafe {
            let [left, right] = clause.references[..] else {
                return Ok(false);
            };
            // A LEFT JOIN says nothing about two relations that are both on its left side. And whoever owns one of
            // the relations could have filled it with a list of people.
            let is_applied = clause.restricts(left.item) || clause.restricts(right.item);
            let has_one_owner = self.rules.owner.is_some();
            if (*clause.node).type_ != NodeTag::T_OpExpr
                || left.item == right.item
                || !is_applied
                || !has_one_owner
            {
                return Ok(false);
            }
            let comparison = clause.node.cast::<pg_sys::OpExpr>();
            let sides = list::<Node>((*comparison).args);
            let is_plain = |reference: Reference| {
                sides
                    .iter()
                    .any(|&side| plain_column(level.query, side, reference.item) == Some(reference.number))
            };
            let is_equality = pg_sys::op_mergejoinable((*comparison).opno, left.type_of.oid);
            if !is_equality || !is_plain(left) || !is_plain(right) {
                return Ok(false);
            }
            for reference in [left, right] {
                let made = self.made_of(level, reference)?;
                let is_protected = level.item(reference.item).is_some_and(Item::is_protected);
                if !is_protected
                    || !made.is_plain
                    || !self.rules.labels.borrow_mut().is_person(&made.origins)?
                {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }

    /// Checks that ORDER BY uses operators on the list. Its columns are in the SELECT list.
    unsafe fn check_order(&mut self, level: &Level) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            for clause in list::<pg_sys::SortGroupClause>((*level.query).sortClause) {
                self.operator((*clause).eqop, -1)?;
                self.operator((*clause).sortop, -1)?;
            }
            Ok(())
        }
    }

    unsafe fn expressions(
        &mut self,
        level: &Level,
        nodes: *mut List,
        references: &mut Vec<Reference>,
    ) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            for node in list(nodes) {
                self.expression(level, node, references)?;
            }
            Ok(())
        }
    }

    /// Walks an expression, and collects the columns that it refers to.
    unsafe fn expression(
        &mut self,
        level: &Level,
        node: *mut Node,
        references: &mut Vec<Reference>,
    ) -> Walked<()> {
        macro_rules! is {
            ($kind:ident) => {
                &*node.cast::<pg_sys::$kind>()
            };
        }
        // SAFETY: see the top of this file. Each node is of the kind that its tag says.
        unsafe {
            pg_sys::check_stack_depth();
            if node.is_null() {
                return Ok(());
            }
            let location = pg_sys::exprLocation(node);
            match (*node).type_ {
                NodeTag::T_Const => self.type_of((is!(Const)).consttype, location),
                NodeTag::T_Var => self.column(level, node.cast(), references),
                NodeTag::T_FuncExpr => {
                    let n = is!(FuncExpr);
                    if n.funcretset || n.funcvariadic {
                        return self.no("a set-returning or VARIADIC function", location, LIST);
                    }
                    self.function(n.funcid, location)?;
                    self.collation(n.inputcollid, location)?;
                    self.type_of(n.funcresulttype, location)?;
                    self.arguments(level, n.funcid, n.args, references)
                }
                // DistinctExpr and NullIfExpr are the same structure.
                NodeTag::T_OpExpr | NodeTag::T_DistinctExpr | NodeTag::T_NullIfExpr => {
                    let n = is!(OpExpr);
                    let function = self.operator(n.opno, location)?;
                    self.collation(n.inputcollid, location)?;
                    self.type_of(n.opresulttype, location)?;
                    self.arguments(level, function, n.args, references)
                }
                NodeTag::T_ScalarArrayOpExpr => {
                    let n = is!(ScalarArrayOpExpr);
                    self.operator(n.opno, location)?;
                    self.collation(n.inputcollid, location)?;
                    match list::<Node>(n.args)[..] {
                        [value, members] => {
                            self.expression(level, value, references)?;
                            self.members(level, members)
                        }
                        _ => self.no("this comparison with a list", location, LIST),
                    }
                }
                NodeTag::T_BoolExpr => self.expressions(level, (is!(BoolExpr)).args, references),
                NodeTag::T_NullTest => {
                    let n = is!(NullTest);
                    match n.argisrow {
                        true => self.no("IS NULL of a row", location, NO_ROWS),
                        false => self.expression(level, n.arg.cast(), references),
                    }
                }
                NodeTag::T_BooleanTest => self.expression(level, (is!(BooleanTest)).arg.cast(), references),
                NodeTag::T_CaseExpr => {
                    let n = is!(CaseExpr);
                    self.type_of(n.casetype, location)?;
                    self.expression(level, n.arg.cast(), references)?;
                    self.expressions(level, n.args, references)?;
                    self.expression(level, n.defresult.cast(), references)
                }
                NodeTag::T_CaseWhen => {
                    let n = is!(CaseWhen);
                    self.expression(level, n.expr.cast(), references)?;
                    self.expression(level, n.result.cast(), references)
                }
                // Stands for the value that CASE compares, or for an element of an array that is cast.
                NodeTag::T_CaseTestExpr => self.type_of((is!(CaseTestExpr)).typeId, location),
                NodeTag::T_CoalesceExpr => self.expressions(level, (is!(CoalesceExpr)).args, references),
                NodeTag::T_MinMaxExpr => {
                    let n = is!(MinMaxExpr);
                    self.type_of(n.minmaxtype, location)?;
                    self.collation(n.inputcollid, location)?;
                    self.expressions(level, n.args, references)
                }
                NodeTag::T_RelabelType => {
                    let n = is!(RelabelType);
                    self.type_of(n.resulttype, location)?;
                    self.expression(level, n.arg.cast(), references)
                }
                // Calls the output function of one type and the input function of the other.
                NodeTag::T_CoerceViaIO => {
                    let n = is!(CoerceViaIO);
                    self.type_of(n.resulttype, location)?;
                    self.type_of(pg_sys::exprType(n.arg.cast()), location)?;
                    self.domain_checks(level, n.resulttype)?;
                    self.domain_checks(level, pg_sys::get_element_type(n.resulttype))?;
                    self.expression(level, n.arg.cast(), references)
                }
                NodeTag::T_ArrayCoerceExpr => {
                    let n = is!(ArrayCoerceExpr);
                    self.type_of(n.resulttype, location)?;
                    self.expression(level, n.elemexpr.cast(), references)?;
                    self.expression(level, n.arg.cast(), references)
                }
                NodeTag::T_CoerceToDomain => {
                    let n = is!(CoerceToDomain);
                    self.type_of(n.resulttype, location)?;
                    self.domain_checks(level, n.resulttype)?;
                    self.expression(level, n.arg.cast(), references)
                }
                NodeTag::T_CollateExpr => {
                    let n = is!(CollateExpr);
                    self.collation(n.collOid, location)?;
                    self.expression(level, n.arg.cast(), references)
                }
                NodeTag::T_SQLValueFunction => {
                    let n = is!(SQLValueFunction);
                    let is_time = n.op <= pg_sys::SQLValueFunctionOp::SVFOP_LOCALTIMESTAMP_N;
                    match is_time || self.inside.is_owners {
                        true => Ok(()),
                        false => self.no("a value that depends on the session", location, LIST),
                    }
                }
                // Stands for the value in the check of a domain.
                NodeTag::T_CoerceToDomainValue => Ok(()),
                other => {
                    let (what, hint) = name_of_node(other);
                    self.no(what, location, hint)
                }
            }
        }
    }

    /// Walks the arguments of a function. Some of them must not contain columns.
    unsafe fn arguments(
        &mut self,
        level: &Level,
        function: Oid,
        arguments: *mut List,
        references: &mut Vec<Reference>,
    ) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            let constants = language::constant_arguments(function);
            for (place, argument) in list(arguments).into_iter().enumerate() {
                let before = references.len();
                self.expression(level, argument, references)?;
                if references.len() > before && constants.contains(&place) {
                    return self.no(
                        format!(
                            "a column as argument {} of {}",
                            place + 1,
                            name_of_function(function)
                        ),
                        pg_sys::exprLocation(argument),
                        "Give a constant.",
                    );
                }
            }
            Ok(())
        }
    }

    /// Walks the list of IN, which contains constants only.
    unsafe fn members(&mut self, level: &Level, node: *mut Node) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            let location = pg_sys::exprLocation(node);
            let mut references = Vec::new();
            match (*node).type_ {
                NodeTag::T_Const => self.type_of((*node.cast::<pg_sys::Const>()).consttype, location)?,
                NodeTag::T_ArrayExpr => {
                    let array = node.cast::<pg_sys::ArrayExpr>();
                    self.type_of((*array).element_typeid, location)?;
                    self.expressions(level, (*array).elements, &mut references)?;
                }
                NodeTag::T_ArrayCoerceExpr => {
                    let cast = node.cast::<pg_sys::ArrayCoerceExpr>();
                    self.expression(level, (*cast).elemexpr.cast(), &mut references)?;
                    self.members(level, (*cast).arg.cast())?;
                }
                NodeTag::T_RelabelType => {
                    self.members(level, (*node.cast::<pg_sys::RelabelType>()).arg.cast())?;
                }
                _ => return self.no("ANY or ALL of an array", location, "Use IN with constants."),
            }
            match references.is_empty() {
                true => Ok(()),
                false => self.no("IN with columns", location, "Use IN with constants, or OR."),
            }
        }
    }

    /// Walks the checks of a domain, which a cast to it evaluates.
    unsafe fn domain_checks(&mut self, level: &Level, domain: Oid) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            let mut references = Vec::new();
            for check in language::domain_checks(domain) {
                self.expression(level, check, &mut references)?;
            }
            Ok(())
        }
    }

    unsafe fn column(
        &mut self,
        level: &Level,
        column: *mut pg_sys::Var,
        references: &mut Vec<Reference>,
    ) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            let location = (*column).location;
            if (*column).varlevelsup > 0 {
                return self.no("a reference to an outer query", location, JOIN_INSTEAD);
            }
            if (*column).varattno == 0 {
                return self.no("a whole row", location, NO_ROWS);
            }
            if (*column).varattno < 0 {
                return self.no("a system column", location, NO_ROWS);
            }
            if let Some(expression) = alias_of(level.query, column) {
                return self.expression(level, expression, references);
            }
            self.type_of((*column).vartype, location)?;
            references.push(Reference {
                item: (*column).varno as c_int,
                number: (*column).varattno,
                type_of: TypeOf::expression(column.cast()),
            });
            Ok(())
        }
    }

    /// Checks that a function may be called: it is on the list, a superuser trusts it, or it is the owner's own
    /// in the owner's own view or row security policy.
    fn function(&mut self, function: Oid, location: c_int) -> Walked<()> {
        if language::is_listed(function) {
            return Ok(());
        }
        let is_owners = || language::owner_of(function).is_some_and(|owner| self.is_owners(owner));
        if self.rules.trusted.contains(&function) || self.inside.is_owners && is_owners() {
            self.functions.insert(function);
            return Ok(());
        }
        let hint = language::advice(function).map_or(Cow::Borrowed(LIST), Cow::Owned);
        self.no(format!("function {}", name_of_function(function)), location, hint)
    }

    /// Checks an operator by the function that it calls, and returns that function.
    fn operator(&mut self, operator: Oid, location: c_int) -> Walked<Oid> {
        match language::operator_function(operator) {
            Some(function) => self.function(function, location).map(|()| function),
            None => {
                // SAFETY: a catalogue look-up of an operator that exists; the text is copied.
                let name = unsafe { text(pg_sys::format_operator(operator)) };
                self.no(format!("operator {name}"), location, LIST)
            }
        }
    }

    fn type_of(&self, oid: Oid, location: c_int) -> Walked<()> {
        match language::type_problem(oid, self.rules.trusted) {
            None => Ok(()),
            Some(what) => self.no(what, location, LIST),
        }
    }

    /// Checks that values which are equal by the collation have the same bytes.
    fn collation(&self, collation: Oid, location: c_int) -> Walked<()> {
        // SAFETY: the collation is one that the query uses.
        match collation == Oid::INVALID || unsafe { pg_sys::get_collation_isdeterministic(collation) } {
            true => Ok(()),
            false => self.no("a collation that is not deterministic", location, LIST),
        }
    }

    /// Decides which hidden columns count, adds them to the tree, and returns the shape.
    unsafe fn finish(mut self, query: *mut Query, mut level: Level) -> Walked<Shape> {
        // SAFETY: see the top of this file.
        unsafe {
            let order = order_of(query);
            let limit = match (*query).limitCount.is_null() {
                true => None,
                false => limit_of((*query).limitCount).filter(|&limit| limit != u64::MAX),
            };
            (*query).limitCount = std::ptr::null_mut();
            if limit.is_some() && !order.is_empty() {
                // Whoever is among the first of an order satisfies a condition on its columns.
                let mut made = Made::default();
                for by in &order {
                    made.add(&level.outputs[by.column]);
                }
                self.restrict(&mut level, made)?;
            }
            if self.occurrences.iter().any(|found| found.is_repeated) {
                // Copies of one occurrence's rows distort what is measured of the others.
                for found in &mut self.occurrences {
                    found.is_repeated = true;
                }
            }
            self.check_countable()?;
            let forced = self
                .hidden
                .iter()
                .enumerate()
                .filter(|(_, hidden)| hidden.is_forced);
            let mut wanted: BTreeSet<usize> = forced.map(|(number, _)| number).collect();
            for made in &level.outputs {
                wanted.extend(made.needs.union(&made.compared));
            }
            for found in &self.occurrences {
                wanted.extend(found.columns());
            }
            let numbers: Vec<usize> = wanted.into_iter().collect();
            if level.outputs.len() + numbers.len() > MAX_COLUMNS {
                return self.no("so many columns", -1, "Export fewer columns.");
            }
            self.expose(&level, &numbers);
            let place = |number: usize| numbers.iter().position(|&other| other == number).unwrap_or(0);
            let occurrences = self.occurrences.iter().map(|found| {
                let columns: Vec<usize> = found.columns().map(place).collect();
                Occurrence {
                    relations: found.relations.clone(),
                    counted: match (found.is_repeated, found.is_marked) {
                        (true, _) => Counted::Distinct(columns),
                        (false, true) => Counted::Marked(columns),
                        (false, false) => Counted::Rows,
                    },
                }
            });
            let targets = list::<pg_sys::TargetEntry>((*query).targetList);
            let outputs = targets.iter().zip(&level.outputs).map(|(&target, made)| Output {
                name: text((*target).resname),
                type_of: TypeOf::expression((*target).expr.cast()),
                origins: made.origins.clone(),
                is_plain: made.is_plain,
                needs: made.needs.union(&made.compared).copied().map(place).collect(),
                from: made.from.clone(),
            });
            Ok(Shape {
                outputs: outputs.collect(),
                hidden: numbers
                    .iter()
                    .map(|&number| self.hidden[number].clone())
                    .collect(),
                occurrences: occurrences.collect(),
                is_paired: (0..self.occurrences.len()).any(|occurrence| self.person_of(occurrence) != 0),
                conditions: self.conditions,
                order,
                limit,
                functions: self.functions,
            })
        }
    }

    /// Refuses queries in which the stored rows of a relation cannot be counted.
    fn check_countable(&self) -> Walked<()> {
        for found in &self.occurrences {
            let is_countable = !(found.is_in_union && found.is_repeated)
                && match found.identity {
                    Identity::Stored => true,
                    Identity::Marked => !found.is_repeated,
                    Identity::None => !found.is_repeated && !found.is_marked,
                };
            if !is_countable {
                let relation = found.relations.first().copied().unwrap_or(Oid::INVALID);
                return self.no(
                    format!(
                        "a join or union that may repeat rows of {}",
                        catalog::name_of(relation)
                    ),
                    -1,
                    "Join it only with relations that have a unique index on the columns of the join.",
                );
            }
        }
        Ok(())
    }

    /// Appends hidden columns, given by their numbers, to the SELECT list of a level and of its subqueries.
    /// Columns that a branch of a UNION ALL does not have are NULL there.
    unsafe fn expose(&self, level: &Level, numbers: &[usize]) {
        // SAFETY: the tree is ours, and every level's query is part of it.
        unsafe {
            let query = level.query;
            let mut expressions: Vec<(usize, *mut Node)> = level.asked.clone();
            for item in &level.items {
                if let Source::Subquery(inner, _) = &item.source {
                    let below: Vec<usize> = numbers
                        .iter()
                        .copied()
                        .filter(|&number| inner.has(number))
                        .collect();
                    let first = inner.outputs.len() + 1;
                    self.expose(inner, &below);
                    let entry = entry_of(query, item.index);
                    for (place, number) in below.into_iter().enumerate() {
                        tree::name_appended(entry);
                        let type_of = self.hidden[number].type_of;
                        let column = tree::column(item.index, (first + place) as i16, type_of, &item.nulling);
                        expressions.push((number, column));
                    }
                }
            }
            for (index, branch) in &level.branches {
                self.expose(branch, numbers);
                let entry = entry_of(query, *index);
                numbers.iter().for_each(|_| tree::name_appended(entry));
            }
            for (place, &number) in numbers.iter().enumerate() {
                let type_of = self.hidden[number].type_of;
                let expression = match level.branches.first() {
                    Some((first, _)) => {
                        tree::widen_set_operation((*query).setOperations, type_of);
                        tree::column(*first, (level.outputs.len() + 1 + place) as i16, type_of, &[])
                    }
                    None => match expressions.iter().find(|(other, _)| *other == number) {
                        Some(&(_, expression)) => expression,
                        None => type_of.null(),
                    },
                };
                tree::append_column(query, expression);
            }
        }
    }
}

impl Found {
    /// Returns the hidden columns by which the occurrence is counted. In a UNION ALL they also show which stored
    /// rows leave by several branches.
    fn columns(&self) -> impl Iterator<Item = usize> {
        let mark = self.mark.filter(|_| self.is_marked || self.is_repeated);
        let tid = self.tid.filter(|_| self.is_repeated || self.is_in_union);
        mark.into_iter().chain(tid)
    }
}

impl Level {
    /// Gives a hidden column this value in every row, in each branch if the level is a UNION ALL.
    fn fill(&mut self, number: usize, value: i32) {
        match self.branches.is_empty() {
            true => self.asked.push((number, tree::integer(value))),
            false => self
                .branches
                .iter_mut()
                .for_each(|(_, branch)| branch.fill(number, value)),
        }
    }

    /// Returns whether the level or a subquery of it computes a hidden column.
    fn has(&self, number: usize) -> bool {
        self.asked.iter().any(|(asked, _)| *asked == number)
            || self.branches.iter().any(|(_, branch)| branch.has(number))
            || self.items.iter().any(|item| match &item.source {
                Source::Subquery(level, _) => level.has(number),
                _ => false,
            })
    }
}

/// Returns the ORDER BY of a query.
///
/// # Safety
/// The query was walked, so that all columns that it is ordered by are in its SELECT list.
unsafe fn order_of(query: *mut Query) -> Vec<Order> {
    // SAFETY: by the contract of the function.
    unsafe {
        let targets = list::<pg_sys::TargetEntry>((*query).targetList);
        let clauses = list::<pg_sys::SortGroupClause>((*query).sortClause);
        let order = clauses.into_iter().filter_map(|clause| {
            let column = targets
                .iter()
                .position(|&target| (*target).ressortgroupref == (*clause).tleSortGroupRef)?;
            Some(Order {
                column,
                equality: (*clause).eqop,
                collation: pg_sys::exprCollation((*targets[column]).expr.cast()),
            })
        });
        order.collect()
    }
}

/// Returns a name for a node that is not in the language, and what to write instead.
fn name_of_node(tag: NodeTag) -> (&'static str, &'static str) {
    match tag {
        NodeTag::T_SubLink => ("a subquery in an expression", JOIN_INSTEAD),
        NodeTag::T_Param => ("a parameter", "Write the value as a constant."),
        NodeTag::T_Aggref | NodeTag::T_GroupingFunc => ("an aggregate", NOT_YET),
        NodeTag::T_WindowFunc => ("a window function", SIMPLER),
        NodeTag::T_RowExpr
        | NodeTag::T_RowCompareExpr
        | NodeTag::T_FieldSelect
        | NodeTag::T_ConvertRowtypeExpr => ("a row", NO_ROWS),
        NodeTag::T_ArrayExpr => ("ARRAY[…]", "Export the elements as columns."),
        NodeTag::T_SubscriptingRef => ("an element or slice of an array", "Export the whole array."),
        NodeTag::T_XmlExpr => ("XML", LIST),
        NodeTag::T_SetToDefault | NodeTag::T_CurrentOfExpr => ("this expression", SIMPLER),
        _ => ("this expression", LIST),
    }
}

/// Returns the name of a function with its argument types.
fn name_of_function(function: Oid) -> String {
    // SAFETY: a catalogue look-up of a function that exists; the text is copied.
    unsafe { text(pg_sys::format_procedure(function)) }
}

/// Returns a C string as text.
///
/// # Safety
/// The string is NULL or NUL-terminated.
unsafe fn text(string: *const c_char) -> String {
    // SAFETY: by the contract of the function.
    unsafe {
        match string.is_null() {
            true => String::new(),
            false => CStr::from_ptr(string).to_string_lossy().into_owned(),
        }
    }
}
