//! Visits all sets of columns by size, smallest first.
//!
//! What is known about a set helps with the sets that contain it. It is kept for all sets of a size if there is room,
//! and otherwise found again from smaller sets.

use super::column_sets::ColumnSets;
use crate::{Control, Result};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Number of bytes that may be kept about sets of one size.
const KEPT_BYTES: usize = 128 << 20;

/// What a search finds out about sets of columns.
pub(super) trait Search: Sync {
    /// What is known about a set of columns and helps with larger ones.
    type Node: Send + Sync;
    /// Result about a set of columns.
    type Outcome: Send + Sync;
    /// Memory of a thread.
    type Scratch: Send;

    fn scratch(&self) -> Self::Scratch;

    /// Returns what is known about the set without columns.
    fn root(&self) -> Self::Node;

    /// Returns about how many bytes a node takes. A node of a larger set takes at most as many.
    fn bytes(&self, node: &Self::Node) -> usize;

    /// Returns what is known about a set that has one column more.
    fn add_column(&self, scratch: &mut Self::Scratch, node: &Self::Node, column: usize)
    -> Result<Self::Node>;

    /// Returns the result about a set, given those of the sets with one column less.
    fn outcome(
        &self,
        node: &Self::Node,
        set: &[usize],
        smaller: &Level<Self::Outcome>,
    ) -> Result<Self::Outcome>;

    /// Drops what is not needed once all sets with one column more are done.
    fn release(&self, _outcome: &mut Self::Outcome) {}
}

/// Results about all sets of one size, by the number of the set; `None` if the set was not examined.
#[derive(Debug)]
pub(super) struct Level<T> {
    pub outcomes: Vec<Option<T>>,
}

impl<T> Level<T> {
    /// Returns the result about a set, if it was examined.
    pub fn of(&self, sets: &ColumnSets, set: impl ExactSizeIterator<Item = usize>) -> Option<&T> {
        self.outcomes.get(sets.number(set))?.as_ref()
    }
}

/// Limits of a search: cancellation and a deadline.
pub(super) struct Limits<'a> {
    pub control: &'a Control,
    deadline: Option<Instant>,
}

impl<'a> Limits<'a> {
    pub fn new(budget: Option<Duration>, control: &'a Control) -> Self {
        Limits {
            control,
            // A deadline too far away to be represented is none.
            deadline: budget.and_then(|budget| Instant::now().checked_add(budget)),
        }
    }

    fn reached(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// A set whose node is kept.
struct Kept<N> {
    set: Vec<usize>,
    node: N,
}

/// Results of some sets of one size, and the nodes of these sets if they are kept.
struct Part<S: Search + ?Sized> {
    outcomes: Vec<Option<S::Outcome>>,
    kept: Vec<Kept<S::Node>>,
}

/// Returns the results about sets by their sizes, from 1 on. If time runs out, the last ones are missing.
/// `after_level` is called when all sets of a size are done.
pub(super) fn by_size<S: Search>(
    search: &S,
    sets: &ColumnSets,
    limits: &Limits,
    mut after_level: impl FnMut(usize),
) -> Result<Vec<Level<S::Outcome>>> {
    let mut levels: Vec<Level<S::Outcome>> = Vec::new();
    let none = Level { outcomes: Vec::new() };
    let mut kept = vec![Kept {
        set: Vec::new(),
        node: search.root(),
    }];
    limits.control.set_total(sets.count());
    for size in 1..=sets.max_columns() {
        limits.control.require::<Option<S::Outcome>>(sets.of_size(size))?;
        let bytes_after = |kept: &Kept<S::Node>| {
            search
                .bytes(&kept.node)
                .saturating_mul(sets.beginning_with(&kept.set, size))
        };
        let bytes = kept.iter().map(bytes_after).fold(0, usize::saturating_add);
        let keeps_nodes =
            size < sets.max_columns() && bytes <= KEPT_BYTES && limits.control.require::<u8>(bytes).is_ok();
        let visit = Visit {
            search,
            sets,
            limits,
            size,
            keeps_nodes,
            smaller: levels.last().unwrap_or(&none),
        };
        let of_kept = |scratch: &mut S::Scratch, start: &Kept<S::Node>| {
            let mut part = Part {
                outcomes: Vec::with_capacity(sets.beginning_with(&start.set, size)),
                kept: Vec::new(),
            };
            visit.descend(scratch, &mut start.set.clone(), &start.node, &mut part)?;
            Ok(part)
        };
        let parts: Vec<Part<S>> = kept
            .par_iter()
            .map_init(|| search.scratch(), of_kept)
            .collect::<Result<_>>()?;
        let mut outcomes = Vec::with_capacity(sets.of_size(size));
        let mut next = Vec::new();
        for part in parts {
            outcomes.extend(part.outcomes);
            next.extend(part.kept);
        }
        if let Some(smaller) = levels.last_mut() {
            smaller
                .outcomes
                .iter_mut()
                .flatten()
                .for_each(|outcome| search.release(outcome));
        }
        let is_complete = outcomes.iter().all(Option::is_some);
        levels.push(Level { outcomes });
        after_level(size);
        if !is_complete {
            break;
        }
        if keeps_nodes {
            kept = next;
        }
    }
    Ok(levels)
}

/// A visit of all sets of one size.
struct Visit<'a, S: Search> {
    search: &'a S,
    sets: &'a ColumnSets,
    limits: &'a Limits<'a>,
    size: usize,
    keeps_nodes: bool,
    smaller: &'a Level<S::Outcome>,
}

impl<S: Search> Visit<'_, S> {
    /// Visits the sets that begin with the columns of `set`.
    fn descend(
        &self,
        scratch: &mut S::Scratch,
        set: &mut Vec<usize>,
        node: &S::Node,
        part: &mut Part<S>,
    ) -> Result<()> {
        let missing = self.size - set.len();
        let first = set.last().map_or(0, |last| last + 1);
        for column in first..=self.sets.columns() - missing {
            self.limits.control.check()?;
            set.push(column);
            if self.limits.reached() {
                let skipped = self.sets.beginning_with(set, self.size);
                part.outcomes.extend((0..skipped).map(|_| None));
            } else {
                let larger = self.search.add_column(scratch, node, column)?;
                if missing > 1 {
                    self.descend(scratch, set, &larger, part)?;
                } else {
                    let outcome = self.search.outcome(&larger, set, self.smaller)?;
                    part.outcomes.push(Some(outcome));
                    self.limits.control.advance(1);
                    if self.keeps_nodes {
                        part.kept.push(Kept {
                            set: set.clone(),
                            node: larger,
                        });
                    }
                }
            }
            set.pop();
        }
        Ok(())
    }
}
