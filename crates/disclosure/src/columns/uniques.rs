//! Searches for minimal sample uniques: combinations of values that only one unit has, while each part of the
//! combination is shared with others (Elliot, Manning and Ford 2002; SUDA2: Manning, Haglin and Keane 2008).
//!
//! Only classes of a single unit can have them. A group of classes that agree on a set of columns is left alone as soon
//! as it has a single unit, because all larger sets are unique there too, or none that could be unique. Classes that
//! are unique in a set are kept as bits until all sets with one column more are done.

use super::column_sets::{ColumnSets, without};
use super::groups::{Groups, Splitter};
use super::lattice::{Level, Search};
use super::table::{SEVERAL, Table, unit_of_both};
use crate::classes::{Nulls, Records};
use crate::{Control, Result};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Number of classes that are looked at between two checks for a cancel.
const CLASSES_PER_CHECK: usize = 1 << 16;

/// Combination of values that only one unit has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Combination {
    /// A class that has these values; the first one if there are several, which belong to the same person.
    pub class: u32,
    /// Number of rows that have these values.
    pub rows: u64,
}

/// Minimal uniques of a set of columns.
pub(super) struct Found {
    /// Which candidates are unique in the set, as bits; `None` if all are.
    unique: Option<Vec<u64>>,
    /// Number of minimal uniques.
    pub count: u64,
    /// Minimal uniques, if they are listed.
    pub combinations: Vec<Combination>,
}

/// Search for minimal uniques. `G` finds the groups that are unique in a set.
pub(super) struct UniqueSearch<'a, G> {
    grouping: &'a G,
    sets: &'a ColumnSets,
    rows: &'a [u64],
    control: &'a Control,
    lists: bool,
    /// Number of each class that has a single unit.
    candidates: Vec<u32>,
    candidate_count: usize,
    /// Number of minimal uniques of each class among sets of the current size.
    counts: Vec<AtomicU32>,
}

/// Finds the groups of classes that are unique in a set of columns.
pub(super) trait Grouping: Sync {
    type Node: Send + Sync;
    type Scratch: Send;

    fn scratch(&self) -> Self::Scratch;
    fn root(&self) -> Self::Node;
    fn bytes(&self, node: &Self::Node) -> usize;
    fn add_column(&self, scratch: &mut Self::Scratch, node: &Self::Node, column: usize)
    -> Result<Self::Node>;

    /// Returns the groups that are unique in a set, given the node of the set. Those that were already unique without
    /// its last column may be left out.
    fn unique(&self, node: &Self::Node, set: &[usize]) -> Result<Groups>;

    /// Returns whether every class that has a single unit is unique, so that no larger set has minimal uniques.
    fn is_done(&self, node: &Self::Node) -> bool;
}

impl<'a, G: Grouping> UniqueSearch<'a, G> {
    /// Returns a search. If `lists`, the minimal uniques themselves are kept.
    pub fn new(
        grouping: &'a G,
        sets: &'a ColumnSets,
        rows: &'a [u64],
        units: &[u32],
        lists: bool,
        control: &'a Control,
    ) -> Self {
        let mut candidates = vec![u32::MAX; units.len()];
        let mut candidate_count = 0;
        for (candidate, _) in candidates
            .iter_mut()
            .zip(units)
            .filter(|&(_, &unit)| unit != SEVERAL)
        {
            *candidate = candidate_count as u32;
            candidate_count += 1;
        }
        UniqueSearch {
            grouping,
            sets,
            rows,
            control,
            lists,
            candidates,
            candidate_count,
            counts: units.iter().map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Returns the number of minimal uniques that each class has among the sets done since the last call.
    pub fn take_counts(&self) -> impl Iterator<Item = u32> + '_ {
        self.counts.iter().map(|count| count.swap(0, Relaxed))
    }

    /// Returns whether a class is unique in a set of the level.
    fn is_unique(&self, class: u32, set: impl ExactSizeIterator<Item = usize>, level: &Level<Found>) -> bool {
        let candidate = self.candidates[class as usize];
        level.of(self.sets, set).is_some_and(|found| found.has(candidate))
    }

    /// Returns the bits of the candidates that are unique in a set: those of the set without its last column, and those
    /// in `groups`.
    fn bits(&self, set: &[usize], groups: &Groups, smaller: &Level<Found>) -> Result<Vec<u64>> {
        let words = self.candidate_count.div_ceil(64);
        self.control.require::<u64>(words)?;
        let before = match set.len() > 1 {
            true => smaller.of(self.sets, without(set, set.len() - 1)),
            false => None,
        };
        let mut bits = match before {
            Some(Found {
                unique: Some(bits), ..
            }) => bits.clone(),
            Some(Found { unique: None, .. }) => vec![u64::MAX; words],
            None => vec![0; words],
        };
        for &class in groups.iter().flatten() {
            let candidate = self.candidates[class as usize] as usize;
            bits[candidate / 64] |= 1 << (candidate % 64);
        }
        Ok(bits)
    }
}

impl Found {
    fn has(&self, candidate: u32) -> bool {
        let is_set = |bits: &Vec<u64>| bits[candidate as usize / 64] >> (candidate % 64) & 1 == 1;
        self.unique.as_ref().is_none_or(is_set)
    }
}

impl<G: Grouping> Search for UniqueSearch<'_, G> {
    type Node = G::Node;
    type Outcome = Found;
    type Scratch = G::Scratch;

    fn scratch(&self) -> G::Scratch {
        self.grouping.scratch()
    }

    fn root(&self) -> G::Node {
        self.grouping.root()
    }

    fn bytes(&self, node: &G::Node) -> usize {
        self.grouping.bytes(node)
    }

    fn add_column(&self, scratch: &mut G::Scratch, node: &G::Node, column: usize) -> Result<G::Node> {
        self.grouping.add_column(scratch, node, column)
    }

    fn outcome(&self, node: &G::Node, set: &[usize], smaller: &Level<Found>) -> Result<Found> {
        let groups = self.grouping.unique(node, set)?;
        let mut found = Found {
            unique: None,
            count: 0,
            combinations: Vec::new(),
        };
        for group in groups.iter() {
            let is_minimal = set.len() == 1
                || (0..set.len()).all(|column| !self.is_unique(group[0], without(set, column), smaller));
            if !is_minimal {
                continue;
            }
            found.count += 1;
            for &class in group {
                self.counts[class as usize].fetch_add(1, Relaxed);
            }
            if self.lists {
                found.combinations.push(Combination {
                    class: group.iter().min().copied().unwrap_or_default(),
                    rows: group.iter().map(|&class| self.rows[class as usize]).sum(),
                });
            }
        }
        self.control.require::<Combination>(found.combinations.len())?;
        found.combinations.sort_unstable();
        if set.len() < self.sets.max_columns() && !self.grouping.is_done(node) {
            found.unique = Some(self.bits(set, &groups, smaller)?);
        }
        Ok(found)
    }

    fn release(&self, found: &mut Found) {
        found.unique = None;
    }
}

/// Groups of classes that agree on a set of columns, where an absent value is a value of its own.
pub(super) struct ByValue<'a> {
    pub table: &'a Table,
    pub control: &'a Control,
}

/// Groups of classes that agree on a set of columns.
pub(super) struct SplitGroups {
    /// Groups of several units of which at least one may become unique.
    open: Groups,
    /// Groups of a single unit that the last column has split off.
    unique: Groups,
}

impl Grouping for ByValue<'_> {
    type Node = SplitGroups;
    type Scratch = Splitter;

    fn scratch(&self) -> Splitter {
        Splitter::new(self.table.max_codes())
    }

    fn root(&self) -> SplitGroups {
        let has_candidates = self.table.units.iter().any(|&unit| unit != SEVERAL);
        SplitGroups {
            open: Groups::of_all(if has_candidates { self.table.len() } else { 0 }),
            unique: Groups::default(),
        }
    }

    fn bytes(&self, node: &SplitGroups) -> usize {
        8 * (node.open.classes() + node.unique.classes())
    }

    fn add_column(&self, splitter: &mut Splitter, node: &SplitGroups, column: usize) -> Result<SplitGroups> {
        let (mut open, mut unique) = (Groups::default(), Groups::default());
        let codes = &self.table.columns[column];
        let mut unchecked = 0;
        for group in node.open.iter() {
            unchecked += group.len();
            if unchecked >= CLASSES_PER_CHECK {
                self.control.check()?;
                unchecked = 0;
            }
            splitter.split(group, codes, |part| {
                let units = part.iter().map(|&class| self.table.units[class as usize]);
                let (mut unit, mut may_be_unique) = (self.table.units[part[0] as usize], false);
                for other in units {
                    unit = unit_of_both(unit, other);
                    may_be_unique |= other != SEVERAL;
                }
                if unit != SEVERAL {
                    unique.push(part.iter().copied());
                } else if may_be_unique {
                    open.push(part.iter().copied());
                }
            });
        }
        Ok(SplitGroups { open, unique })
    }

    fn unique(&self, node: &SplitGroups, _set: &[usize]) -> Result<Groups> {
        Ok(node.unique.clone())
    }

    fn is_done(&self, node: &SplitGroups) -> bool {
        node.open.is_empty()
    }
}

/// Groups of classes that agree on a set of columns, where an absent value agrees with any value.
pub(super) struct ByWildcard<'a> {
    pub records: &'a Records,
    pub table: &'a Table,
    pub control: &'a Control,
}

impl Grouping for ByWildcard<'_> {
    type Node = ();
    type Scratch = ();

    fn scratch(&self) {}

    fn root(&self) {}

    fn bytes(&self, _node: &()) -> usize {
        0
    }

    fn add_column(&self, _scratch: &mut (), _node: &(), _column: usize) -> Result<()> {
        Ok(())
    }

    fn unique(&self, _node: &(), set: &[usize]) -> Result<Groups> {
        let (projected, new_class) = self.records.project(&self.table.positions(set), self.control)?;
        let sizes = projected.sizes(Nulls::Wildcard, self.control)?;
        let mut members: Vec<(u32, u32)> = Vec::new();
        for (class, &new) in new_class.iter().enumerate() {
            if sizes[new as usize] == 1 {
                members.push((new, class as u32));
            }
        }
        members.sort_unstable();
        let mut groups = Groups::default();
        for group in members.chunk_by(|a, b| a.0 == b.0) {
            groups.push(group.iter().map(|&(_, class)| class));
        }
        Ok(groups)
    }

    fn is_done(&self, _node: &()) -> bool {
        false
    }
}
