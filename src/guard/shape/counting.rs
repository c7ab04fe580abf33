//! What counts as leaving: what values are made of, what joins and conditions tell, and which rows are repeated.
//!
//! All unsafe functions in this file expect pointers into the query tree that is judged, which stays
//! allocated while they run.

use super::model::*;
use super::unique::{is_joined_by_bound, is_unique, keys_of, plain_column};
use super::walk::Walk;
use crate::error::Error;
use crate::guard::origin::{Origin, Origins};
use crate::guard::tree::{self, TypeOf, list};
use pgrx::pg_sys::{self, Node, NodeTag, Oid};
use std::collections::BTreeSet;
use std::ffi::c_int;

impl Walk<'_> {
    /// Returns what an expression of the SELECT list is made of.
    pub(super) unsafe fn output(&mut self, level: &mut Level, expression: *mut Node) -> Walked<Made> {
        // SAFETY: see the top of this file.
        unsafe {
            let mut references = Vec::new();
            self.expression(level, expression, &mut references)?;
            self.type_of(pg_sys::exprType(expression), pg_sys::exprLocation(expression))?;
            let is_determined = |item: &Item| item.determined_by.is_some();
            let mut made = match ((*expression).type_, &references[..]) {
                (NodeTag::T_Var, [reference]) => {
                    let made = self.made_of(level, *reference)?;
                    if !level.item(reference.item).is_some_and(is_determined) {
                        return Ok(made);
                    }
                    made
                }
                _ => self.mixture(level, &references)?,
            };
            let absence = self.absence(level, expression, &references, &made)?;
            made.needs.extend(absence);
            Ok(made)
        }
    }

    /// Asks for the hidden column that tells in which rows a value is absent, although it is made of a dangerous column
    /// that is not: CASE, NULLIF or an outer join made it NULL. It is not asked for if an adversary may know the value,
    /// because then NULL is a value like any other.
    unsafe fn absence(
        &mut self,
        level: &mut Level,
        value: *mut Node,
        references: &[Reference],
        made: &Made,
    ) -> Walked<Option<usize>> {
        let weights = self.rules.labels.borrow_mut().weights(&made.origins)?;
        if !weights.is_some_and(|weights| weights.danger > 0.0 && weights.likelihood == 0.0) {
            return Ok(None);
        }
        let mut sources = Vec::new();
        for reference in references.iter().flat_map(|&reference| level.deciding(reference)) {
            // SAFETY: see the top of this file.
            let origins = unsafe { self.made_of(level, reference)? }.origins;
            if let Some(item) = level.item(reference.item).filter(|item| item.is_protected())
                && self.is_dangerous(&origins)?
            {
                let Reference {
                    item: index,
                    number,
                    type_of,
                } = reference;
                sources.push(tree::column(index, number, type_of, &item.nulling));
            }
        }
        if sources.is_empty() {
            return Ok(None);
        }
        // SAFETY: the value is copied, and the columns are new.
        let expression = unsafe { tree::absence(value, sources) };
        // SAFETY: the expression is new.
        let type_of = unsafe { TypeOf::expression(expression) };
        let kind = HiddenKind::Absence(made.origins.clone());
        let number = self.add(kind, type_of, made.from.clone());
        level.asked.push((number, expression));
        Ok(Some(number))
    }

    /// Returns what a value that is made of these columns is made of.
    pub(super) unsafe fn mixture(&mut self, level: &mut Level, references: &[Reference]) -> Walked<Made> {
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
    pub(super) unsafe fn compares(
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

    /// Returns whether a value that is made of these columns could hide one that an adversary knows behind one
    /// that does not count as known. Whoever receives the second as well, or another mixture of the two,
    /// computes the first, as from (zip + diagnosis) % 6 and diagnosis. So all of them count with their stored
    /// values.
    pub(super) unsafe fn could_hide(&self, level: &Level, references: &[Reference]) -> Walked<bool> {
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
    pub(super) unsafe fn is_mixed(&self, level: &Level, references: &[Reference]) -> Walked<bool> {
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

    /// Notes that a column is compared with something else, so that it counts with its value.
    pub(super) fn compare(&mut self, level: &mut Level, reference: Reference, made: &mut Made) {
        if !made.from.is_empty() {
            let hidden = self.ask_for(level, reference, made);
            made.compared.extend(made.needs.iter().copied().chain([hidden]));
        }
    }

    /// Returns what a column is made of, if its value leaves as part of another value. A sensitive column then
    /// also counts with its stored value: a mixture hides nothing.
    pub(super) unsafe fn disclosed(&mut self, level: &mut Level, reference: Reference) -> Walked<Made> {
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

    pub(super) fn is_dangerous(&self, origins: &Origins) -> Walked<bool> {
        let weights = self.rules.labels.borrow_mut().weights(origins)?;
        Ok(weights.is_some_and(|weights| weights.danger > 0.0))
    }

    /// Returns what a column of a FROM item is made of.
    pub(super) unsafe fn made_of(&self, level: &Level, reference: Reference) -> Walked<Made> {
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

    /// Finds the items that are functions of protected columns: each of their rows is found by a unique index
    /// through columns of items that are protected or determined themselves.
    pub(super) unsafe fn find_determined(&mut self, level: &mut Level, clauses: &[Clause]) -> Walked<()> {
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
                level.items[place].deciding = references;
            }
        }
    }

    /// Finds the lists: items that are neither protected nor functions of protected columns. Which of their
    /// rows are joined tells something about the protected columns that they are compared with, directly or
    /// through other lists.
    pub(super) unsafe fn find_lists(&mut self, level: &mut Level, clauses: &[Clause]) -> Walked<()> {
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
    pub(super) unsafe fn told_by(&self, level: &Level, reference: Reference) -> Walked<Made> {
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
    pub(super) fn mark_repeated(&mut self, level: &Level) {
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

    /// Finds the occurrences that are joined by their columns labelled person.
    pub(super) unsafe fn find_linked(&mut self, level: &Level, clauses: &[Clause]) -> Walked<()> {
        // SAFETY: see the top of this file.
        unsafe {
            for clause in clauses {
                if self.links_people(level, clause, clauses)? {
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
    pub(super) fn person_of(&self, occurrence: usize) -> usize {
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

    /// Returns whether a condition joins two protected relations by their columns labelled person. If several columns
    /// identify a person, the conditions must compare all of them, each with that of the same name.
    pub(super) unsafe fn links_people(
        &self,
        level: &Level,
        clause: &Clause,
        clauses: &[Clause],
    ) -> Walked<bool> {
        // SAFETY: see the top of this file.
        unsafe {
            if !self.compares_people(level, clause)? {
                return Ok(false);
            }
            let mut linked = Vec::new();
            for &reference in &clause.references {
                linked.extend(self.made_of(level, reference)?.from);
            }
            if linked.iter().all(|&place| {
                self.occurrences[place]
                    .people
                    .iter()
                    .all(|columns| columns.len() < 2)
            }) {
                return Ok(true);
            }
            let items = |clause: &Clause| -> BTreeSet<c_int> {
                clause.references.iter().map(|reference| reference.item).collect()
            };
            let mut compared = BTreeSet::new();
            for other in clauses.iter().filter(|other| items(other) == items(clause)) {
                if self.compares_people(level, other)? {
                    let names = |reference: &Reference| -> Walked<BTreeSet<String>> {
                        let made = self.made_of(level, *reference)?;
                        Ok(made.origins.into_iter().map(|origin| origin.column).collect())
                    };
                    let (left, right) = (names(&other.references[0])?, names(&other.references[1])?);
                    if left.len() != 1 || left != right {
                        return Ok(false);
                    }
                    compared.extend(left);
                }
            }
            for place in linked {
                let found = &self.occurrences[place];
                let relation = found.relations.first().copied().unwrap_or(Oid::INVALID);
                let mut labels = self.rules.labels.borrow_mut();
                let sets = labels.people(relation)?;
                if sets.len() != found.people.len()
                    || !sets.iter().all(|columns| columns.is_subset(&compared))
                {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }

    /// Returns whether a condition compares columns labelled person of two protected relations.
    unsafe fn compares_people(&self, level: &Level, clause: &Clause) -> Walked<bool> {
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

    /// Notes what a condition tells about protected columns.
    pub(super) unsafe fn condition(
        &mut self,
        level: &mut Level,
        clause: &Clause,
        clauses: &[Clause],
    ) -> Walked<()> {
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
            if told.origins.is_empty() || self.links_people(level, clause, clauses)? {
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
            // In a LEFT JOIN, the recipient sees in which rows the condition is true. Several rows of a list can look
            // alike there, so that what they tell has no value that could be measured.
            let restricts = match &clause.right {
                None => true,
                Some(right) => {
                    protected.iter().any(|item| right.contains(item))
                        || level.tells(clause) && self.is_dangerous(&told.origins)?
                }
            };
            if restricts {
                self.restrict(level, told)?;
            }
            Ok(())
        }
    }

    /// Notes that a condition on these columns holds for every row.
    pub(super) fn restrict(&mut self, level: &mut Level, made: Made) -> Walked<()> {
        if self.is_dangerous(&made.origins)? {
            let condition = self.constant(HiddenKind::Condition(made.origins.clone()), made.from);
            level.fill(condition, 1);
        }
        self.conditions.extend(made.origins);
        Ok(())
    }
}
