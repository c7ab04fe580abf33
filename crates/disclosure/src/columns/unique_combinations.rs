//! Minimal sets of columns on which no two rows agree, whatever their size.
//!
//! Two rows that differ show a set of columns of which every unique combination contains one. The search keeps all
//! minimal sets that contain a column of each difference seen so far, and tests them. A set on which rows still agree is
//! extended as long as rows agree, which gives a difference that is as small as possible (Dualize and Advance; Gunopulos
//! et al. 1997). First it finds columns that are part of every unique combination, because rows differ in nothing else;
//! only rows that agree on all of them are looked at afterwards. If these are few, all their differences are listed.

use super::groups::{Groups, Splitter};
use super::table::Table;
use crate::classes::{Classes, Records};
use crate::{Control, Error, Result};
use rayon::prelude::*;

/// Largest number of columns.
const MAX_COLUMNS: usize = u128::BITS as usize;

/// Number of sets that are tested before the differences found are used.
const SETS_PER_ROUND: usize = 32;

/// Number of pairs of classes, for each class, that are few enough to list all their differences.
const FEW_PAIRS: u64 = 16;

/// Number of groups that a thread compares at a time.
const GROUPS_AT_A_TIME: usize = 1 << 9;

/// Number of classes that are looked at between two checks for a cancel.
const CLASSES_PER_CHECK: usize = 1 << 16;

/// Set of columns, as bits.
type Bits = u128;

/// Returns the minimal sets of columns on which all classes differ, by their size and then by their columns. Rows that
/// are equal in all columns count as one, and an absent value is a value of its own. If there are less than two classes,
/// the only minimal set is empty.
pub fn unique_combinations(records: &Records, control: &Control) -> Result<Vec<Vec<usize>>> {
    let table = Table::new(records, control)?;
    let width = table.order.len();
    if width > MAX_COLUMNS {
        return Err(Error::TooMany {
            what: "columns",
            limit: MAX_COLUMNS as u64,
        });
    }
    let search = Search {
        table: &table,
        classes: records.classes(),
        control,
    };
    let mut sets: Vec<Vec<usize>> = search
        .run()?
        .into_iter()
        .map(|set| table.positions(&columns_of(set).collect::<Vec<usize>>()))
        .collect();
    sets.sort_unstable_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    Ok(sets)
}

/// Returns a group of all classes, unless there are less than two.
fn groups_of_all(table: &Table) -> Groups {
    Groups::of_all(if table.len() > 1 { table.len() } else { 0 })
}

fn columns_of(set: Bits) -> impl Iterator<Item = usize> {
    (0..MAX_COLUMNS).filter(move |&column| set >> column & 1 == 1)
}

/// Minimal set that contains a column of each difference seen so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Candidate {
    set: Bits,
    /// Whether all classes are known to differ on it.
    is_unique: bool,
}

struct Search<'a> {
    table: &'a Table,
    classes: &'a Classes,
    control: &'a Control,
}

impl Search<'_> {
    fn run(&self) -> Result<Vec<Bits>> {
        let root = groups_of_all(self.table);
        let mut splitter = Splitter::new(self.table.max_codes());
        if !root.is_empty() && self.needs_first_column()? {
            let groups = self.split(&mut splitter, &root, [0])?;
            if self.has_few_pairs(&groups) {
                return self.sets_of_all_differences(&groups, 1);
            }
        }
        let all: Vec<usize> = (0..self.table.order.len()).collect();
        let required = self.required(&root, &all)?;
        let groups = self.split(&mut splitter, &root, columns_of(required))?;
        match self.has_few_pairs(&groups) {
            true => self.sets_of_all_differences(&groups, required),
            false => self.minimal_sets(&groups, required),
        }
    }

    /// Returns whether two classes differ in the first column only.
    fn needs_first_column(&self) -> Result<bool> {
        let mut others = Classes::new(self.table.order.len() - 1);
        let mut row = Vec::new();
        for class in 0..self.classes.len() {
            if class % CLASSES_PER_CHECK == 0 {
                self.control.check()?;
            }
            row.clear();
            let codes = self.classes.codes(class);
            row.extend(self.table.order[1..].iter().map(|&column| codes[column]));
            if others.insert(&row, 1)? as usize != class {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_few_pairs(&self, groups: &Groups) -> bool {
        let pairs: u64 = groups.iter().map(|group| (group.len() as u64).pow(2) / 2).sum();
        pairs <= FEW_PAIRS * self.table.len() as u64
    }

    /// Returns the minimal unique sets, which all contain the `required` columns. `groups` agree on these. Compares all
    /// classes within each group.
    fn sets_of_all_differences(&self, groups: &Groups, required: Bits) -> Result<Vec<Bits>> {
        let groups: Vec<&[u32]> = groups.iter().collect();
        let parts = groups.par_chunks(GROUPS_AT_A_TIME).map(|groups| {
            let mut smallest = Vec::new();
            for group in groups {
                for (at, &class) in group.iter().enumerate() {
                    self.control.check()?;
                    for &other in &group[at + 1..] {
                        add_if_minimal(&mut smallest, self.difference_of(class, other));
                    }
                }
            }
            Ok(smallest)
        });
        let parts: Vec<Vec<Bits>> = parts.collect::<Result<_>>()?;
        let mut smallest = Vec::new();
        for difference in parts.into_iter().flatten() {
            add_if_minimal(&mut smallest, difference);
        }
        smallest.sort_unstable_by_key(|difference| (difference.count_ones(), *difference));
        let mut candidates = vec![Candidate {
            set: required,
            is_unique: false,
        }];
        for difference in smallest {
            self.control.check()?;
            self.control
                .require::<Candidate>(candidates.len().saturating_mul(2))?;
            candidates = after_difference(&candidates, difference);
        }
        Ok(candidates.iter().map(|candidate| candidate.set).collect())
    }

    /// Returns the columns in which two classes differ.
    fn difference_of(&self, class: u32, other: u32) -> Bits {
        let (a, b) = (
            self.classes.codes(class as usize),
            self.classes.codes(other as usize),
        );
        let order = self.table.order.iter().enumerate();
        order.fold(0, |bits, (place, &column)| {
            bits | Bits::from(a[column] != b[column]) << place
        })
    }

    /// Returns the groups of classes that agree on further columns. Groups of one class are left out.
    fn split(
        &self,
        splitter: &mut Splitter,
        groups: &Groups,
        columns: impl IntoIterator<Item = usize>,
    ) -> Result<Groups> {
        let mut groups = groups.clone();
        for column in columns {
            self.control.check()?;
            let mut split = Groups::default();
            for group in groups.iter() {
                splitter.split(group, &self.table.columns[column], |part| {
                    if part.len() > 1 {
                        split.push(part.iter().copied());
                    }
                });
            }
            groups = split;
            if groups.is_empty() {
                break;
            }
        }
        Ok(groups)
    }

    /// Returns those of `columns` without which some classes agree on all other columns. `groups` agree on all columns
    /// that are not in `columns`.
    fn required(&self, groups: &Groups, columns: &[usize]) -> Result<Bits> {
        if groups.is_empty() {
            return Ok(0);
        }
        if let [column] = *columns {
            return Ok(1 << column);
        }
        // The first column splits best, so all others are looked at after it.
        let middle = if columns.len() == self.table.order.len() {
            1
        } else {
            columns.len() / 2
        };
        let (first, second) = columns.split_at(middle);
        let of_part = |part: &[usize], others: &[usize]| {
            let mut splitter = Splitter::new(self.table.max_codes());
            let split = self.split(&mut splitter, groups, others.iter().copied())?;
            self.required(&split, part)
        };
        let (a, b) = match columns.len() == self.table.order.len() {
            true => rayon::join(|| of_part(first, second), || of_part(second, first)),
            false => (of_part(first, second), of_part(second, first)),
        };
        Ok(a? | b?)
    }

    /// Returns the minimal unique sets, which all contain the `required` columns. `groups` agree on these.
    fn minimal_sets(&self, groups: &Groups, required: Bits) -> Result<Vec<Bits>> {
        let mut candidates = vec![Candidate {
            set: required,
            is_unique: groups.is_empty(),
        }];
        loop {
            let untested: Vec<usize> = (0..candidates.len())
                .filter(|&at| !candidates[at].is_unique)
                .take(SETS_PER_ROUND)
                .collect();
            if untested.is_empty() {
                return Ok(candidates.iter().map(|candidate| candidate.set).collect());
            }
            let differences: Vec<Option<Bits>> = untested
                .par_iter()
                .map_init(
                    || Splitter::new(self.table.max_codes()),
                    |splitter, &at| self.difference(splitter, groups, required, candidates[at].set),
                )
                .collect::<Result<_>>()?;
            for (&at, difference) in untested.iter().zip(&differences) {
                candidates[at].is_unique = difference.is_none();
            }
            for difference in differences.into_iter().flatten() {
                self.control.check()?;
                self.control
                    .require::<Candidate>(candidates.len().saturating_mul(2))?;
                candidates = after_difference(&candidates, difference);
            }
        }
    }

    /// Returns the columns outside a set in which two classes differ that agree on it; `None` if all classes differ on
    /// the set. No two classes differ in fewer of these columns.
    fn difference(
        &self,
        splitter: &mut Splitter,
        groups: &Groups,
        required: Bits,
        set: Bits,
    ) -> Result<Option<Bits>> {
        let mut agreeing = self.split(splitter, groups, columns_of(set & !required))?;
        if agreeing.is_empty() {
            return Ok(None);
        }
        let mut difference = 0;
        for column in (0..self.table.order.len()).filter(|column| set >> column & 1 == 0) {
            let still_agreeing = self.split(splitter, &agreeing, [column])?;
            match still_agreeing.is_empty() {
                true => difference |= 1 << column,
                false => agreeing = still_agreeing,
            }
        }
        Ok(Some(difference))
    }
}

/// Adds a set to others, none of which contains another, and removes those that contain it. Leaves it out if it contains
/// one of them.
fn add_if_minimal(sets: &mut Vec<Bits>, set: Bits) {
    if sets.iter().any(|other| other & !set == 0) {
        return;
    }
    sets.retain(|other| set & !other != 0);
    sets.push(set);
}

/// Returns the minimal sets that also contain a column of a further difference (Berge 1989).
fn after_difference(candidates: &[Candidate], difference: Bits) -> Vec<Candidate> {
    let (mut kept, missed): (Vec<Candidate>, Vec<Candidate>) = candidates
        .iter()
        .partition(|candidate| candidate.set & difference != 0);
    // A larger set is minimal unless it contains a set that was kept and has the same column of the difference only.
    let mut others_with: Vec<Vec<Bits>> = vec![Vec::new(); MAX_COLUMNS];
    for candidate in &kept {
        let shared = candidate.set & difference;
        if shared.is_power_of_two() {
            others_with[shared.trailing_zeros() as usize].push(candidate.set);
        }
    }
    for candidate in missed {
        for column in columns_of(difference) {
            let set = candidate.set | 1 << column;
            if others_with[column].iter().all(|other| other & !set != 0) {
                kept.push(Candidate {
                    set,
                    is_unique: false,
                });
            }
        }
    }
    kept
}
