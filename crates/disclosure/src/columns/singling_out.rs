//! How many rows or people each set of columns singles out.

use super::column_sets::{ColumnSets, check_max_columns, without};
use super::groups::{Groups, Splitter};
use super::lattice::{Level, Limits, Search, by_size};
use super::minimal_uniques::next_set;
use super::table::Table;
use crate::classes::{Grouped, Nulls, Records, UNKNOWN_PERSON};
use crate::{Control, Error, Result};
use std::time::Duration;

/// Number of classes that are looked at between two checks for a cancel.
const CLASSES_PER_CHECK: usize = 1 << 16;

/// Settings of [`singling_out`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SinglingOutSettings {
    /// Largest number of columns of a set; `None` for any number.
    pub max_columns: Option<usize>,
    /// Share of the rows or people that a set must single out to be reported as minimal.
    pub at_least: f64,
    /// Comparison of absent values.
    pub nulls: Nulls,
    /// Time after which the search ends; `None` for no limit.
    pub budget: Option<Duration>,
}

impl Default for SinglingOutSettings {
    fn default() -> Self {
        SinglingOutSettings {
            max_columns: Some(3),
            at_least: 0.05,
            nulls: Nulls::Value,
            budget: None,
        }
    }
}

impl SinglingOutSettings {
    /// Checks that the share is a number from 0 to 1, and that sets may have columns.
    pub fn check(&self) -> Result<()> {
        check_max_columns(self.max_columns)?;
        Error::check_unit_interval("at_least", self.at_least)
    }
}

/// What sets of columns give away about who a row is about.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SinglingOut {
    /// Figures of every set that was examined, the smallest sets first.
    pub sets: Vec<SetFigures>,
    /// What each column contributes, by its position; `None` if no set with the column was examined.
    ///
    /// It is the average increase of the share singled out when the column is added to a set: first the average over
    /// the sets of each size, then over the sizes, from 0 to one less than the largest examined. With sets of all sizes
    /// it is the Shapley value of the column, and all contributions add up to the share that all columns single out.
    pub contributions: Vec<Option<f64>>,
    /// Number of sets that were not examined because time ran out.
    pub not_examined: u64,
    /// Lower and upper bound of the share that any of these sets singles out.
    pub bounds: Option<(f64, f64)>,
}

/// Figures about a set of columns.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SetFigures {
    /// Positions of the columns, in ascending order.
    pub columns: Vec<usize>,
    /// Number of different combinations of values.
    pub classes: u64,
    /// Number of rows or people who are alone in a class.
    pub uniques: u64,
    /// Size of the smallest class; `None` if there are no rows.
    pub k: Option<u64>,
    /// Share of the rows or people who are alone in a class; `None` if there are none at all.
    pub share: Option<f64>,
    /// Number of different combinations per row (Motwani and Xu 2007; ARX); `None` if there are no rows.
    pub distinction: Option<f64>,
    /// Share of the pairs of rows that differ in some column (Motwani and Xu 2007; ARX); `None` if there are less than
    /// two rows.
    pub separation: Option<f64>,
    /// Whether the set singles out at least the required share, and no part of it does.
    pub is_minimal: bool,
}

/// Counts of a set of columns.
#[derive(Debug, Clone, Copy)]
struct Counts {
    classes: u64,
    uniques: u64,
    k: u64,
    /// Number of ordered pairs of rows that agree, those of a row with itself included.
    agreeing: u128,
}

/// Returns the figures of every set of up to a number of columns.
pub fn singling_out(
    records: &Records,
    settings: &SinglingOutSettings,
    control: &Control,
) -> Result<SinglingOut> {
    settings.check()?;
    let table = Table::new(records, control)?;
    let sets = ColumnSets::new(table.order.len(), settings.max_columns)?;
    let limits = Limits::new(settings.budget, control);
    let levels = match settings.nulls {
        Nulls::Value => by_size(
            &SplitSearch::new(records, &table, control)?,
            &sets,
            &limits,
            |_| (),
        )?,
        Nulls::Wildcard => {
            let search = WildcardSearch {
                records,
                table: &table,
                control,
            };
            by_size(&search, &sets, &limits, |_| ())?
        }
    };
    let everybody = records.exposure(&records.sizes(settings.nulls, control)?);
    let (one_class, _) = records.project(&[], control)?;
    let nothing_known = one_class.exposure(&one_class.sizes(settings.nulls, control)?);
    let report = Report {
        sets: &sets,
        table: &table,
        rows: records.rows(),
        units: everybody.units(),
        uniques_of_none: nothing_known.below(2),
        uniques_of_all: everybody.below(2),
        at_least: settings.at_least,
        levels,
    };
    Ok(report.finish())
}

/// Counts of all sets, from which the figures are derived.
struct Report<'a> {
    sets: &'a ColumnSets,
    table: &'a Table,
    rows: u64,
    units: u64,
    /// Number of units that are singled out if nothing is known, because there is only one.
    uniques_of_none: u64,
    /// Number of units that all columns together single out.
    uniques_of_all: u64,
    at_least: f64,
    levels: Vec<Level<Counts>>,
}

impl Report<'_> {
    fn finish(&self) -> SinglingOut {
        let mut sets = Vec::new();
        let mut increases = vec![vec![Average::default(); self.levels.len()]; self.sets.columns()];
        for (level, size) in (1..).zip(&self.levels).map(|(size, level)| (level, size)) {
            let mut of_size = Vec::new();
            let mut set: Vec<usize> = (0..size).collect();
            for counts in &level.outcomes {
                if let Some(counts) = counts {
                    of_size.push(self.figures(&set, counts));
                    for (at, &column) in set.iter().enumerate() {
                        let before = self.uniques_without(&set, at);
                        increases[self.table.order[column]][size - 1].add(counts.uniques - before);
                    }
                }
                next_set(&mut set, self.sets.columns());
            }
            of_size.sort_unstable_by(|a, b| a.columns.cmp(&b.columns));
            sets.extend(of_size);
        }
        let not_examined = self.sets.count() - sets.len() as u64;
        SinglingOut {
            sets,
            contributions: increases.iter().map(|sizes| self.contribution(sizes)).collect(),
            not_examined,
            bounds: (not_examined > 0).then(|| self.bounds()).flatten(),
        }
    }

    fn share(&self, uniques: u64) -> Option<f64> {
        (self.units > 0).then(|| uniques as f64 / self.units as f64)
    }

    /// Returns the number of units that a set singles out without the column at a position.
    fn uniques_without(&self, set: &[usize], at: usize) -> u64 {
        match set.len() {
            1 => self.uniques_of_none,
            size => {
                let smaller = &self.levels[size - 2];
                smaller
                    .of(self.sets, without(set, at))
                    .map_or(0, |counts| counts.uniques)
            }
        }
    }

    fn singles_out_enough(&self, uniques: u64) -> bool {
        self.share(uniques).is_some_and(|share| share >= self.at_least)
    }

    fn figures(&self, set: &[usize], counts: &Counts) -> SetFigures {
        let rows = u128::from(self.rows);
        let pairs = rows * rows.saturating_sub(1);
        let is_minimal = self.singles_out_enough(counts.uniques)
            && (0..set.len()).all(|at| !self.singles_out_enough(self.uniques_without(set, at)));
        SetFigures {
            columns: self.table.positions(set),
            classes: counts.classes,
            uniques: counts.uniques,
            k: (rows > 0).then_some(counts.k),
            share: self.share(counts.uniques),
            distinction: (rows > 0).then(|| counts.classes as f64 / rows as f64),
            separation: (pairs > 0).then(|| (rows * rows - counts.agreeing) as f64 / pairs as f64),
            is_minimal,
        }
    }

    /// Returns the contribution of a column, given the increases by the size of the set.
    fn contribution(&self, sizes: &[Average]) -> Option<f64> {
        let averages = sizes.iter().filter(|average| average.count > 0);
        let sizes = averages.clone().count();
        let sum: f64 = averages
            .map(|average| average.sum as f64 / average.count as f64)
            .sum();
        (sizes > 0 && self.units > 0).then(|| sum / sizes as f64 / self.units as f64)
    }

    /// Returns bounds of the share that any set singles out which was not examined. A set singles out at least as many
    /// as any part of it, and at most as many as all columns together.
    fn bounds(&self) -> Option<(f64, f64)> {
        let mut lowest = u64::MAX;
        if let Some(last) = self.levels.last() {
            let size = self.levels.len();
            let reaches_further = size < self.sets.max_columns();
            let mut set: Vec<usize> = (0..size).collect();
            for counts in &last.outcomes {
                lowest = match counts {
                    None => {
                        let of_parts = (0..size).map(|at| self.uniques_without(&set, at));
                        lowest.min(of_parts.max().unwrap_or(0))
                    }
                    // A larger set contains this one, among others.
                    Some(counts) if reaches_further => lowest.min(counts.uniques),
                    Some(_) => lowest,
                };
                next_set(&mut set, self.sets.columns());
            }
        }
        Some((self.share(lowest)?, self.share(self.uniques_of_all)?))
    }
}

/// Sum of increases and their number.
#[derive(Debug, Clone, Copy, Default)]
struct Average {
    sum: u128,
    count: u64,
}

impl Average {
    fn add(&mut self, increase: u64) {
        self.sum += u128::from(increase);
        self.count += 1;
    }
}

/// Search that splits groups of classes, where an absent value is a value of its own.
struct SplitSearch<'a> {
    table: &'a Table,
    control: &'a Control,
    /// Number of rows or people in each class.
    sizes: Vec<u64>,
    /// People in each class, if people are counted.
    people: Option<Grouped<(u32, u64)>>,
    person_numbers: usize,
}

/// Groups of classes that agree on a set of columns, and their counts.
struct Split {
    /// Groups of several classes.
    open: Groups,
    /// Counts of the groups of one class, which no column splits.
    settled: Counts,
    /// Counts of all groups.
    counts: Counts,
    /// Who was singled out, as bits, if people are counted.
    singled_out: Vec<u64>,
}

/// Memory of a thread.
struct Scratch {
    splitter: Splitter,
    /// For each person, the last group in which they were counted.
    counted_in: Vec<u64>,
    group: u64,
}

impl Counts {
    const NOTHING: Counts = Counts {
        classes: 0,
        uniques: 0,
        k: u64::MAX,
        agreeing: 0,
    };

    fn add_group(&mut self, rows: u64, size: u64) {
        self.classes += 1;
        self.k = self.k.min(size);
        self.agreeing += u128::from(rows) * u128::from(rows);
    }
}

impl<'a> SplitSearch<'a> {
    fn new(records: &Records, table: &'a Table, control: &'a Control) -> Result<Self> {
        let people = match records.counts_people() {
            true => Some(records.members(control)?),
            false => None,
        };
        let largest = people
            .iter()
            .flat_map(Grouped::iter)
            .flatten()
            .map(|&(person, _)| person)
            .max();
        let person_numbers = largest.map_or(0, |largest| largest as usize + 1);
        control.require::<u64>(person_numbers.saturating_mul(rayon::current_num_threads()))?;
        Ok(SplitSearch {
            table,
            control,
            sizes: records.sizes(Nulls::Value, control)?,
            people,
            person_numbers,
        })
    }

    /// Returns the number of units in a group of classes.
    fn size(&self, scratch: &mut Scratch, group: &[u32], rows: u64) -> u64 {
        let Some(people) = &self.people else {
            return rows;
        };
        if let [class] = *group {
            return self.sizes[class as usize];
        }
        scratch.group += 1;
        let mut size = 0;
        for &(person, _) in group.iter().flat_map(|&class| people.of(class as usize)) {
            let last = &mut scratch.counted_in[person as usize];
            if *last != scratch.group && person != UNKNOWN_PERSON {
                size += 1;
            }
            *last = scratch.group;
        }
        size.max(1)
    }
}

impl Search for SplitSearch<'_> {
    type Node = Split;
    type Outcome = Counts;
    type Scratch = Scratch;

    fn scratch(&self) -> Scratch {
        Scratch {
            splitter: Splitter::new(self.table.max_codes()),
            counted_in: vec![0; self.person_numbers],
            group: 0,
        }
    }

    fn root(&self) -> Split {
        Split {
            open: Groups::of_all(self.table.len()),
            settled: Counts::NOTHING,
            counts: Counts::NOTHING,
            singled_out: vec![0; self.person_numbers.div_ceil(64)],
        }
    }

    fn bytes(&self, node: &Split) -> usize {
        8 * node.open.classes() + 8 * node.singled_out.len()
    }

    fn add_column(&self, scratch: &mut Scratch, node: &Split, column: usize) -> Result<Split> {
        self.control.require::<u64>(node.singled_out.len())?;
        let mut split = Split {
            open: Groups::default(),
            settled: node.settled,
            counts: Counts::NOTHING,
            singled_out: node.singled_out.clone(),
        };
        let mut of_open = Counts::NOTHING;
        let codes = &self.table.columns[column];
        let mut splitter = std::mem::take(&mut scratch.splitter);
        let mut unchecked = 0;
        for group in node.open.iter() {
            unchecked += group.len();
            if unchecked >= CLASSES_PER_CHECK {
                self.control.check()?;
                unchecked = 0;
            }
            splitter.split(group, codes, |part| {
                let rows = part.iter().map(|&class| self.table.rows[class as usize]).sum();
                let size = self.size(scratch, part, rows);
                let counts = if part.len() > 1 {
                    &mut of_open
                } else {
                    &mut split.settled
                };
                counts.add_group(rows, size);
                if size == 1 {
                    counts.uniques += match &self.people {
                        None => 1,
                        Some(people) => mark(part, people, &mut split.singled_out),
                    };
                }
                if part.len() > 1 {
                    split.open.push(part.iter().copied());
                }
            });
        }
        scratch.splitter = splitter;
        // Who is singled out stays so, even if their group is split again.
        split.settled.uniques += std::mem::take(&mut of_open.uniques);
        split.counts = Counts {
            classes: split.settled.classes + of_open.classes,
            uniques: split.settled.uniques,
            k: split.settled.k.min(of_open.k),
            agreeing: split.settled.agreeing + of_open.agreeing,
        };
        Ok(split)
    }

    fn outcome(&self, node: &Split, _set: &[usize], _smaller: &Level<Counts>) -> Result<Counts> {
        Ok(node.counts)
    }
}

/// Marks the people of a group, and returns how many were not marked before.
fn mark(group: &[u32], people: &Grouped<(u32, u64)>, marked: &mut [u64]) -> u64 {
    let mut new = 0;
    for &(person, _) in group.iter().flat_map(|&class| people.of(class as usize)) {
        let (word, bit) = (&mut marked[person as usize / 64], 1 << (person % 64));
        new += u64::from(*word & bit == 0);
        *word |= bit;
    }
    new
}

/// Search that compares the classes of each set, where an absent value agrees with any value.
struct WildcardSearch<'a> {
    records: &'a Records,
    table: &'a Table,
    control: &'a Control,
}

impl Search for WildcardSearch<'_> {
    type Node = ();
    type Outcome = Counts;
    type Scratch = ();

    fn scratch(&self) {}

    fn root(&self) {}

    fn bytes(&self, _node: &()) -> usize {
        0
    }

    fn add_column(&self, _scratch: &mut (), _node: &(), _column: usize) -> Result<()> {
        Ok(())
    }

    fn outcome(&self, _node: &(), set: &[usize], _smaller: &Level<Counts>) -> Result<Counts> {
        let (projected, _) = self.records.project(&self.table.positions(set), self.control)?;
        let sizes = projected.sizes(Nulls::Wildcard, self.control)?;
        let rows = projected.classes().sizes();
        let agreeing = match self.records.counts_people() {
            false => &sizes,
            true => &projected.classes().wildcard_sizes(self.control)?,
        };
        Ok(Counts {
            classes: rows.len() as u64,
            uniques: projected.exposure(&sizes).below(2),
            k: sizes.iter().min().copied().unwrap_or(u64::MAX),
            agreeing: rows
                .iter()
                .zip(agreeing)
                .map(|(&a, &b)| u128::from(a) * u128::from(b))
                .sum(),
        })
    }
}
