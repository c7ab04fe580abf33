//! SUDA scores: how special a row is (Elliot, Manning and Ford 2002), as sdcMicro computes them.
//!
//! A row with many and small minimal uniques scores high. DIS-SUDA scales the scores so that they estimate how likely a
//! match with a unique row is correct (Elliot 2005; Skinner and Elliot 2002).

use super::column_sets::ColumnSets;
use super::lattice::{Level, Limits, by_size};
use super::table::Table;
use super::uniques::{ByValue, ByWildcard, Found, Grouping, UniqueSearch};
use crate::classes::{Nulls, Records};
use crate::{Control, Error, Result};
use std::time::Duration;

/// Settings of a search for minimal uniques.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UniqueSettings {
    /// Largest number of columns of a minimal unique; `None` for any number.
    pub max_columns: Option<usize>,
    /// Comparison of absent values.
    pub nulls: Nulls,
    /// Time after which the search ends, so that large sets are not examined; `None` for no limit.
    pub budget: Option<Duration>,
}

/// SUDA scores of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Suda {
    /// Score of each class; 0 if it has no minimal unique.
    pub scores: Vec<f64>,
    /// Number of sets of columns that were not examined because time ran out. If there are any, scores are lower bounds.
    pub not_examined: u64,
}

/// Minimal uniques and scores, as the search finds them.
pub(super) struct Uniques {
    pub table: Table,
    pub sets: ColumnSets,
    /// Minimal uniques of all sets, by size.
    pub levels: Vec<Level<Found>>,
    pub scores: Vec<f64>,
}

impl Uniques {
    /// Finds the minimal uniques of a table. If `lists`, they are kept one by one.
    pub fn find(
        records: &Records,
        settings: &UniqueSettings,
        lists: bool,
        control: &Control,
    ) -> Result<Self> {
        let table = Table::new(records, control)?;
        let sets = ColumnSets::new(table.order.len(), settings.max_columns)?;
        let limits = Limits::new(settings.budget, control);
        let (levels, scores) = match settings.nulls {
            Nulls::Value => {
                let grouping = ByValue {
                    table: &table,
                    control,
                };
                search(&grouping, &table, &sets, lists, &limits)
            }
            Nulls::Wildcard => {
                let grouping = ByWildcard {
                    records,
                    table: &table,
                    control,
                };
                search(&grouping, &table, &sets, lists, &limits)
            }
        }?;
        Ok(Uniques {
            table,
            sets,
            levels,
            scores,
        })
    }

    /// Returns the number of sets that were not examined.
    pub fn not_examined(&self) -> u64 {
        let examined = self
            .levels
            .iter()
            .flat_map(|level| level.outcomes.iter().flatten());
        self.sets.count() - examined.count() as u64
    }
}

fn search<G: Grouping>(
    grouping: &G,
    table: &Table,
    sets: &ColumnSets,
    lists: bool,
    limits: &Limits,
) -> Result<(Vec<Level<Found>>, Vec<f64>)> {
    let search = UniqueSearch::new(grouping, sets, &table.rows, &table.units, lists, limits.control);
    let mut scores = vec![0.0; table.len()];
    let levels = by_size(&search, sets, limits, |size| {
        let weight = weight(size, sets.columns());
        for (score, count) in scores.iter_mut().zip(search.take_counts()) {
            if count > 0 {
                *score += f64::from(count) * weight;
            }
        }
    })?;
    match scores.iter().all(|score| score.is_finite()) {
        true => Ok((levels, scores)),
        false => Err(Error::OutOfRange {
            what: "the SUDA score",
            is_large: true,
        }),
    }
}

/// Returns the weight of a minimal unique of `size` columns out of `columns`, ∏_{i=size}^{columns−1} (columns − i)
/// (Elliot, Manning and Ford 2002; sdcMicro's default).
pub(super) fn weight(size: usize, columns: usize) -> f64 {
    (size..columns).map(|i| (columns - i) as f64).product()
}

/// Returns the SUDA score of every class: the sum of the weights of its minimal uniques. A minimal unique of s columns
/// out of m weighs ∏_{i=s}^{m−1} (m − i).
pub fn suda(records: &Records, settings: &UniqueSettings, control: &Control) -> Result<Suda> {
    let found = Uniques::find(records, settings, false, control)?;
    Ok(Suda {
        not_examined: found.not_examined(),
        scores: found.scores,
    })
}

/// Checks that a sampling fraction is above 0, up to 1.
pub fn check_fraction(fraction: f64) -> Result<()> {
    match fraction > 0.0 && fraction <= 1.0 {
        true => Ok(()),
        false => Err(Error::invalid(
            "fraction",
            "must be a number above 0, up to 1",
            "the share of the population that is in the table",
        )),
    }
}

/// Returns the DIS-SUDA score of every class, given its SUDA score, if the table is a sample of this fraction of the
/// population.
///
/// As in sdcMicro, the score is 1 / (1 + (U/D − U) / (s^q A)). Here s is the SUDA score, q = 1 + (8 − m)/20 for m
/// columns, and A is the sum of 1/s^q over the combinations of values whose score is not 0. D is the data intrusion
/// simulation (Skinner and Elliot 2002): U f / (U f + P (1 − f)) for U units that are alone in their class, P units that
/// are in a class of two, and a fraction f. So U/D − U is P (1 − f) / f.
pub fn dis_suda(
    records: &Records,
    scores: &[f64],
    fraction: f64,
    nulls: Nulls,
    control: &Control,
) -> Result<Vec<f64>> {
    check_fraction(fraction)?;
    let sizes = records.sizes(nulls, control)?;
    let own = records.sizes(Nulls::Value, control)?;
    let pairs: u64 = sizes
        .iter()
        .zip(&own)
        .filter(|&(&size, _)| size == 2)
        .map(|(_, &own)| own)
        .sum();
    let q = 1.0 + (8.0 - records.classes().width() as f64) / 20.0;
    let mut positive: Vec<f64> = scores.iter().copied().filter(|&score| score > 0.0).collect();
    positive.sort_by(f64::total_cmp); // so that the sum does not depend on the order of rows
    let adjustment: f64 = positive.iter().map(|score| score.powf(-q)).sum();
    let doubt = pairs as f64 * (1.0 - fraction) / fraction;
    let dis = |&score: &f64| match score > 0.0 {
        true => 1.0 / (1.0 + doubt / (score.powf(q) * adjustment)),
        false => 0.0,
    };
    Ok(scores.iter().map(dis).collect())
}
