use super::{DistanceTable, gba, mda, random_baseline, rba, tba, wba};
use crate::{Control, Error, Result};

/// How cells are chosen that seem to be cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The baseline: cells drawn at random, each eliminated or not by the toss of a coin (section 5.2).
    Random,
    /// Maximum distance: the one cell that is furthest away (section 4.1).
    Mda,
    /// Threshold: all cells that are further away than a threshold (section 4.2).
    Tba,
    /// Weight: one at a time, whereby what is left of its row and column becomes likelier to be original (section 4.3).
    Wba,
    /// Grouping: the furthest cell of the row or column that falls into two clusters most clearly (section 4.4).
    Gba,
    /// Redistribution: as grouping, but only the near cluster becomes likelier to be original (section 4.5).
    Rba,
}

/// What a cell's distance, or a group's vulnerability, has to exceed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// This multiple of the mean, as it is before the first elimination.
    Mean(f64),
    /// A number.
    At(f64),
}

/// How clearly a row or column falls into two clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vulnerability {
    /// The largest gap between neighbouring distances: what Figures 4.11 to 4.17 show.
    Gap,
    /// By the distance of the furthest from the nearest (Definition 20).
    Normalised,
}

/// How to attack a distance table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strategy {
    /// How cells are chosen.
    pub method: Method,
    /// Where it ends; [`Method::Random`] and [`Method::Mda`] have none.
    pub threshold: Threshold,
    /// For [`Method::Gba`] and [`Method::Rba`].
    pub vulnerability: Vulnerability,
    /// For [`Method::Random`].
    pub seed: u64,
}

impl Default for Strategy {
    fn default() -> Self {
        Strategy {
            method: Method::Rba,
            threshold: Threshold::Mean(1.0),
            vulnerability: Vulnerability::Gap,
            seed: 1,
        }
    }
}

impl Strategy {
    /// Whether it can be followed.
    pub fn check(&self) -> Result<()> {
        self.threshold.check()
    }
}

/// A cell that was eliminated.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Elimination {
    /// The transaction.
    pub row: u32,
    /// The member of the generalised item.
    pub column: u32,
    /// What was above the threshold: the cell's distance (MDA, TBA), its weighted distance (WBA), the vulnerability of
    /// its group (GBA, RBA); nothing for the baseline.
    pub score: Option<f64>,
}

/// What an attack eliminates.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Eliminations {
    /// What scores had to exceed; nothing for the baseline and MDA, or where from the outset no cell may be eliminated:
    /// none is reliable, or there is only one row or column.
    pub threshold: Option<f64>,
    /// In the order in which they were made.
    pub cells: Vec<Elimination>,
}

/// Eliminates the cells of a distance table that seem to be cover.
///
/// Only reliable cells are eliminated, and never the last of a row or a column. Of equal distances that of the lower row,
/// then of the lower column counts as the greatest; of equal vulnerabilities that of a row before that of a column, then
/// that with the lower number.
pub fn eliminate(table: &DistanceTable, strategy: &Strategy, control: &Control) -> Result<Eliminations> {
    let &Strategy {
        method,
        threshold,
        vulnerability,
        seed,
    } = strategy;
    strategy.check()?;
    if table.rows() < 2 || table.columns() < 2 || table.reliable().next().is_none() {
        return Ok(Eliminations {
            threshold: None,
            cells: Vec::new(),
        });
    }
    // Every method but the simplest keeps at least two numbers for each cell.
    control.require::<[f64; 2]>(table.distances().len())?;
    match method {
        Method::Random => random_baseline::eliminate(table, seed, control),
        Method::Mda => Ok(mda::eliminate(table)),
        Method::Tba => tba::eliminate(table, threshold, control),
        Method::Wba => wba::eliminate(table, threshold, control),
        Method::Gba => gba::eliminate(table, threshold, vulnerability, control),
        Method::Rba => rba::eliminate(table, threshold, vulnerability, control),
    }
}

impl Threshold {
    /// Whether it can be one.
    fn check(self) -> Result<()> {
        match self {
            Threshold::At(threshold) if !threshold.is_finite() => Err(Error::invalid(
                "threshold",
                "must be a finite number",
                "what distances or vulnerabilities have to exceed, such as 1.6",
            )),
            Threshold::Mean(ratio) if !(ratio >= 0.0 && ratio.is_finite()) => Err(Error::invalid(
                "threshold_ratio",
                "must be a finite number from 0 on",
                "a multiple of the mean, such as 1",
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn resolve(self, mean: impl FnOnce() -> f64) -> f64 {
        match self {
            Threshold::At(threshold) => threshold,
            Threshold::Mean(ratio) => ratio * mean(),
        }
    }
}

/// NaN where there are none, as of a distance that is not known.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// The likelier it is that an item is original, the nearer it is (Ong 2015, Definition 17).
pub(super) fn weighted(distance: f64, row_weight: f64, column_weight: f64) -> f64 {
    distance * (1.0 - row_weight) * (1.0 - column_weight)
}
