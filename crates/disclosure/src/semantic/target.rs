//! Targets of an attack: the generalised items of released transactions, with their contexts and distance
//! tables.
//!
//! The context of a generalised item in a transaction is made of the nearest items that are not generalised
//! (Ong 2015, section 3.3.1). The distances of a member from these items are [combined](Combination) into one.

use super::{Combination, DistanceSettings, DistanceTable, Entry, Scoring, Transactions};
use crate::parallel_sort::parallel_sort;
use crate::{Control, Result};
use ndarray::Array2;

/// A generalised item under attack: its members, and the contexts in which it occurs.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Target {
    /// Codes of the members, ascending: the columns of its distance table.
    pub members: Vec<u32>,
    /// Transactions that contain the generalised item: the rows of its distance table.
    pub rows: Vec<Occurrence>,
}

/// A transaction that contains a generalised item.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Occurrence {
    /// Number of the transaction.
    pub transaction: u32,
    /// Nearby items that are not generalised, nearest first. If there are none, the row cannot be attacked.
    pub context: Vec<u32>,
}

impl Target {
    /// Returns every generalised item of some transactions; its number is its place in the result. A context
    /// has up to `context` items.
    pub fn all(transactions: &Transactions, context: usize, control: &Control) -> Result<Vec<Self>> {
        let members = (0..transactions.generalised() as u32).map(|number| Target {
            members: transactions.members(number).to_vec(),
            rows: Vec::new(),
        });
        let mut targets: Vec<Target> = members.collect();
        for (transaction, entries) in (0..).zip(transactions.iter()) {
            control.check()?;
            let items = items_of(entries, |_| true);
            for (place, entry) in entries.iter().enumerate() {
                if let Entry::Generalised(number) = entry {
                    targets[*number as usize].rows.push(Occurrence {
                        transaction,
                        context: nearest(&items, place, context),
                    });
                }
            }
        }
        Ok(targets)
    }

    /// Returns the items of all contexts, ascending, each once.
    fn contexts(&self) -> Vec<u32> {
        let mut items: Vec<u32> = self.rows.iter().flat_map(|row| &row.context).copied().collect();
        items.sort_unstable();
        items.dedup();
        items
    }

    /// Returns the pairs of terms whose distances the tables of these targets need, ascending, each once.
    pub fn pairs<'a>(
        targets: impl IntoIterator<Item = &'a Target>,
        control: &Control,
    ) -> Result<Vec<(u32, u32)>> {
        let mut pairs = Vec::new();
        for target in targets {
            let contexts = target.contexts();
            control.require::<(u32, u32)>(contexts.len().saturating_mul(target.members.len()))?;
            for item in contexts {
                control.check()?;
                pairs.extend(target.members.iter().map(|&member| (item, member)));
            }
        }
        parallel_sort(&mut pairs, control)?;
        pairs.dedup();
        Ok(pairs)
    }

    /// Computes the distance of each member from each context, which the settings may cut short.
    pub fn table(
        &self,
        scoring: &dyn Scoring,
        settings: &DistanceSettings,
        control: &Control,
    ) -> Result<DistanceTable> {
        let assuming = settings.unseen.and_then(|unseen| scoring.with_unseen(unseen));
        let scoring = assuming.as_deref().unwrap_or(scoring);
        let distances = PairDistances::new(self, scoring, control)?;
        distances.table(self, settings.context, settings.combination, control)
    }
}

/// Distances of the members of a target from each item of its contexts.
pub(super) struct PairDistances {
    /// Items of all contexts, ascending: the rows.
    contexts: Vec<u32>,
    /// Distances by item and member, NaN if unknown.
    distances: Array2<f64>,
}

impl PairDistances {
    pub(super) fn new(target: &Target, scoring: &dyn Scoring, control: &Control) -> Result<Self> {
        let (contexts, columns) = (target.contexts(), target.members.len());
        control.require::<f64>(contexts.len().saturating_mul(columns))?;
        let mut distances = Array2::zeros((contexts.len(), columns));
        for (&item, mut row) in contexts.iter().zip(distances.rows_mut()) {
            control.check()?;
            for (distance, &member) in row.iter_mut().zip(&target.members) {
                *distance = scoring.distance(item, member).unwrap_or(f64::NAN);
            }
        }
        Ok(PairDistances { contexts, distances })
    }

    /// Returns the distance of each member from the first `context` items of each context. Unknown and
    /// infinite distances are left out. Negative distances, which are unreliable, are left out if there are
    /// others.
    pub(super) fn table(
        &self,
        target: &Target,
        context: usize,
        combination: Combination,
        control: &Control,
    ) -> Result<DistanceTable> {
        let columns = target.members.len();
        control.require::<f64>(target.rows.len().saturating_mul(columns))?;
        let mut cells = Vec::with_capacity(target.rows.len() * columns);
        for row in &target.rows {
            control.check()?;
            let items = row.context.iter().take(context);
            let places: Vec<usize> = items.flat_map(|item| self.contexts.binary_search(item)).collect();
            for column in 0..columns {
                let known = || {
                    let distances = places.iter().map(|&place| self.distances[(place, column)]);
                    distances.filter(|distance| distance.is_finite())
                };
                let reliable = combination.of(known().filter(|&distance| distance >= 0.0));
                cells.push(if reliable.is_nan() {
                    combination.of(known())
                } else {
                    reliable
                });
            }
        }
        DistanceTable::new(columns, cells)
    }
}

impl AsRef<Target> for Target {
    fn as_ref(&self) -> &Target {
        self
    }
}

/// Returns the items of a transaction that are not generalised and may be used, with their places.
pub(super) fn items_of(entries: &[Entry], may_be_used: impl Fn(u32) -> bool) -> Vec<(usize, u32)> {
    let items = entries.iter().enumerate();
    let items = items.filter_map(|(place, entry)| Some((place, entry.item()?)));
    items.filter(|&(_, item)| may_be_used(item)).collect()
}

/// Returns up to `size` items that are closest to a place, nearest first. Of two items that are equally near,
/// the one in front comes first (Ong 2015, section 3.3.1).
pub(super) fn nearest(items: &[(usize, u32)], place: usize, size: usize) -> Vec<u32> {
    let (mut before, mut after) = items.split_at(items.partition_point(|item| item.0 < place));
    let mut nearest = Vec::with_capacity(size.min(items.len()));
    while nearest.len() < size {
        let is_before = match (before.last(), after.first()) {
            (Some(last), Some(first)) => place - last.0 <= first.0 - place,
            (last, _) => last.is_some(),
        };
        let next = match is_before {
            true => before.split_off_last(),
            false => after.split_off_first(),
        };
        let Some(&(_, item)) = next else {
            break;
        };
        nearest.push(item);
    }
    nearest
}
