//! The end of the walk: decides which hidden columns count, and adds them to the tree that is planned.
//!
//! All unsafe functions in this file expect pointers into the query tree that is judged, which stays
//! allocated while they run.

use super::model::*;
use super::walk::{Walk, limit_of};
use crate::guard::tree::{self, TypeOf, list};
use crate::pg::catalog;
use pgrx::pg_sys::{self, Node, Oid, Query};
use std::collections::BTreeSet;

/// Maximum number of columns, hidden ones included. The spool adds two more, up to what Postgres can store.
pub(super) const MAX_COLUMNS: usize = pg_sys::MaxTupleAttributeNumber as usize - 2;

impl Walk<'_> {
    /// Decides which hidden columns count, adds them to the tree, and returns the shape.
    pub(super) unsafe fn finish(mut self, query: *mut Query, mut level: Level) -> Walked<Shape> {
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
                wanted.extend(found.columns().chain(found.people.iter().flatten().copied()));
                wanted.extend(found.weight);
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
                    people: found
                        .people
                        .iter()
                        .map(|columns| columns.iter().copied().map(place).collect())
                        .collect(),
                    weight: found.weight.map(place),
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
    pub(super) fn check_countable(&self) -> Walked<()> {
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
    pub(super) unsafe fn expose(&self, level: &Level, numbers: &[usize]) {
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

/// Returns the ORDER BY of a query.
///
/// # Safety
/// The query was walked, so that all columns that it is ordered by are in its SELECT list.
pub(super) unsafe fn order_of(query: *mut Query) -> Vec<Order> {
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
