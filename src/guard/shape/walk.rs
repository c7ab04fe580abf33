//! The walk over queries, FROM and views: which clauses and FROM items are in the language.
//!
//! All unsafe functions in this file expect pointers into the query tree that is judged, which stays
//! allocated while they run.

use super::model::*;
use crate::error::Error;
use crate::guard::language;
use crate::guard::origin::Origins;
use crate::guard::policy;
use crate::guard::tree::{self, CteProblem, TypeOf, entries, list};
use crate::pg::catalog;
use pgrx::pg_sys::{self, JoinType, Node, NodeTag, Oid, Query, RTEKind, RangeTblEntry};
use pgrx::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::c_int;

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

/// Part of the tree that belongs to a view or a row security policy.
#[derive(Default, Clone)]
pub(super) struct Inside {
    /// Name of the view or relation, for messages.
    pub(super) place: Option<String>,
    /// Whether it belongs to the owner of the protected relations, or to a superuser.
    pub(super) is_owners: bool,
}

pub(super) struct Walk<'a> {
    pub(super) rules: &'a Rules<'a>,
    pub(super) inside: Inside,
    /// All hidden columns that somebody asked for, by number.
    pub(super) hidden: Vec<Hidden>,
    pub(super) occurrences: Vec<Found>,
    /// Pairs of occurrences that are joined by their columns labelled person.
    pub(super) linked: Vec<(usize, usize)>,
    pub(super) conditions: Origins,
    pub(super) functions: FxHashSet<Oid>,
    /// Views around the current query.
    pub(super) views: Vec<Oid>,
    /// Number of lists found so far.
    pub(super) lists: usize,
}

impl Walk<'_> {
    pub(super) fn no<T>(
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
    pub(super) unsafe fn ask(&mut self, level: &mut Level, kind: HiddenKind, expression: *mut Node) -> usize {
        // SAFETY: the expression is new.
        let type_of = unsafe { TypeOf::expression(expression) };
        let number = self.add(kind, type_of, BTreeSet::new());
        level.asked.push((number, expression));
        number
    }

    pub(super) fn add(&mut self, kind: HiddenKind, type_of: TypeOf, from: BTreeSet<usize>) -> usize {
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
    pub(super) fn constant(&mut self, kind: HiddenKind, from: BTreeSet<usize>) -> usize {
        // SAFETY: the expression is new.
        let type_of = unsafe { TypeOf::expression(tree::integer(0)) };
        let number = self.add(kind, type_of, from);
        self.hidden[number].is_forced = true;
        number
    }

    /// Asks for a hidden column that has the value of a column, and returns its number. Several expressions share
    /// one.
    pub(super) fn ask_for(&mut self, level: &mut Level, reference: Reference, made: &Made) -> usize {
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

    pub(super) unsafe fn query(&mut self, query: *mut Query, is_top: bool) -> Walked<Level> {
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
    pub(super) unsafe fn check_clauses(&self, q: &Query, is_top: bool) -> Walked<()> {
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
    pub(super) unsafe fn union(&mut self, mut level: Level) -> Walked<Level> {
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
    pub(super) unsafe fn branches(&self, node: *mut Node, found: &mut Vec<c_int>) -> Walked<()> {
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
    pub(super) unsafe fn select(&mut self, mut level: Level) -> Walked<Level> {
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
                self.condition(&mut level, clause, &clauses)?;
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

    /// Walks FROM, and collects the FROM items and the conditions of joins and of WHERE.
    pub(super) unsafe fn from(
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

    pub(super) unsafe fn join(
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
    pub(super) unsafe fn clauses(
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
    pub(super) unsafe fn item(
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
                        let people = self.people(level, view, index, nulling)?;
                        let weight = self.weight(level, view, index, nulling)?;
                        for found in &mut self.occurrences[found_before..] {
                            (found.people, found.weight) = (people.clone(), weight);
                        }
                        Source::Opaque(view)
                    }
                    Some(view) => {
                        let inner = self.subquery(entry)?;
                        self.people_of_view(level, view, index, nulling, &inner, found_before)?;
                        Source::Subquery(Box::new(inner), Some(view))
                    }
                    None => Source::Subquery(Box::new(self.subquery(entry)?), None),
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
                deciding: Vec::new(),
                list: None,
            })
        }
    }

    pub(super) unsafe fn relation(
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
                let people = self.people(level, relation, index, nulling)?;
                if people.is_empty() {
                    self.check_people(&relations)?;
                }
                let weight = self.weight(level, relation, index, nulling)?;
                self.occurrences.push(Found {
                    relations,
                    identity,
                    mark: Some(mark),
                    tid,
                    people,
                    weight,
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

    /// Asks for the columns that identify the people of a protected FROM item, and returns the numbers of these
    /// hidden columns, a list for each set of columns.
    unsafe fn people(
        &mut self,
        level: &mut Level,
        relation: Oid,
        index: c_int,
        nulling: &[c_int],
    ) -> Walked<Vec<Vec<usize>>> {
        let sets = self.rules.labels.borrow_mut().people(relation)?.clone();
        let mut people = Vec::new();
        for names in sets {
            let mut columns = Vec::new();
            for name in names {
                // A child may have columns that its parent has not.
                let Some((number, type_of)) = TypeOf::column(relation, &name) else {
                    return self.no_people(relation);
                };
                self.type_of(type_of.oid, -1)?;
                let column = tree::column(index, number, type_of, nulling);
                // SAFETY: the column is new, and one of the FROM item.
                columns.push(unsafe { self.ask(level, HiddenKind::Identity, column) });
            }
            people.push(columns);
        }
        Ok(people)
    }

    /// Asks for the column with the sampling weights of a protected FROM item, if there is one.
    unsafe fn weight(
        &mut self,
        level: &mut Level,
        relation: Oid,
        index: c_int,
        nulling: &[c_int],
    ) -> Walked<Option<usize>> {
        let name = self.rules.labels.borrow_mut().weight_of(relation)?;
        let Some((number, type_of)) = name.and_then(|name| TypeOf::column(relation, &name)) else {
            return Ok(None);
        };
        self.type_of(type_of.oid, -1)?;
        let column = tree::column(index, number, type_of, nulling);
        // SAFETY: the column is new, and one of the FROM item.
        Ok(Some(unsafe { self.ask(level, HiddenKind::Identity, column) }))
    }

    /// Adds the columns that identify people by the labels of a view with a policy of its own to all occurrences in
    /// it, unless these are plainly columns that identify people without the view.
    unsafe fn people_of_view(
        &mut self,
        level: &mut Level,
        view: Oid,
        index: c_int,
        nulling: &[c_int],
        inner: &Level,
        first: usize,
    ) -> Walked<()> {
        if !(self.rules.is_protected)(view) || self.occurrences.len() == first {
            return Ok(());
        }
        let sets = self.rules.labels.borrow_mut().people(view)?.clone();
        let is_plain = |name: &String| {
            let number = TypeOf::column(view, name).map_or(0, |(number, _)| number);
            let made = inner.outputs.get((number as usize).wrapping_sub(1));
            let is_person = |made: &Made| self.rules.labels.borrow_mut().is_person(&made.origins);
            made.map_or(Ok(false), |made| Ok(made.is_plain && is_person(made)?))
        };
        let plain: Vec<bool> = sets
            .iter()
            .flatten()
            .map(is_plain)
            .collect::<Result<_, Error>>()?;
        let have_people = self.occurrences[first..]
            .iter()
            .all(|found| !found.people.is_empty());
        if have_people && plain.into_iter().all(|is_plain| is_plain) {
            return Ok(());
        }
        // SAFETY: see the top of this file.
        let people = unsafe { self.people(level, view, index, nulling)? };
        for found in &mut self.occurrences[first..] {
            found.people.extend(people.iter().cloned());
        }
        Ok(())
    }

    /// Refuses to count rows of relations, of which the first is read, instead of the people of the others.
    fn check_people(&self, relations: &[Oid]) -> Walked<()> {
        for &relation in relations {
            let is_view = self.views.contains(&relation);
            if !is_view && !self.rules.labels.borrow_mut().people(relation)?.is_empty() {
                return self.no_people(relations[0]);
            }
        }
        Ok(())
    }

    /// Refuses a relation whose people cannot be counted.
    fn no_people<T>(&self, relation: Oid) -> Walked<T> {
        self.no(
            format!(
                "reading {} without its column labelled person",
                catalog::name_of(relation)
            ),
            -1,
            "People cannot be counted without that column. Read the relation that has it.",
        )
    }

    /// Returns the relations that a materialized view is made of. Its rows are taken for stored rows of these, so
    /// it must belong to their owner: anybody else could have filled it with copies.
    pub(super) fn materialized(&self, view: Oid) -> Walked<Vec<Oid>> {
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
    pub(super) fn has_own_policy(&self, view: Oid) -> Walked<bool> {
        Ok(self.rules.labels.borrow().has_own_policy(view)?)
    }

    /// Returns whether a view is taken as one relation: it has a policy, and nothing that it reads has one.
    pub(super) unsafe fn is_taken_whole(&self, view: Oid, query: *mut Query) -> bool {
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
    pub(super) unsafe fn opaque(&mut self, view: Oid, query: *mut Query) -> Walked<()> {
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
            self.rules.labels.borrow_mut().take_whole(view);
            self.occurrences.push(Found {
                relations: [&[view], &self.views[..]].concat(),
                identity: Identity::None,
                mark: None,
                tid: None,
                people: Vec::new(),
                weight: None,
                is_marked: false,
                is_repeated: false,
                is_in_union: false,
            });
            Ok(())
        }
    }

    /// Enters a view or row security policy of `owner`, and returns what was around it.
    pub(super) fn enter(&mut self, place: String, owner: Option<Oid>) -> Inside {
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
    pub(super) fn is_owners(&self, role: Oid) -> bool {
        // SAFETY: any OID is accepted.
        self.rules.owner == Some(role) || unsafe { pg_sys::superuser_arg(role) }
    }

    /// Walks a subquery, which may be the query of a view.
    pub(super) unsafe fn subquery(&mut self, entry: *mut RangeTblEntry) -> Walked<Level> {
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

    /// Checks that ORDER BY uses operators on the list. Its columns are in the SELECT list.
    pub(super) unsafe fn check_order(&mut self, level: &Level) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            for clause in list::<pg_sys::SortGroupClause>((*level.query).sortClause) {
                self.operator((*clause).eqop, -1)?;
                self.operator((*clause).sortop, -1)?;
            }
            Ok(())
        }
    }
}

/// Returns the number in a LIMIT clause; `None` if it is not a constant, and the highest number for LIMIT
/// ALL. Until it is planned, LIMIT 3 is int8(3).
///
/// # Safety
/// The node is valid.
pub(super) unsafe fn limit_of(node: *mut Node) -> Option<u64> {
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
