//! Eliminations of cells that seem to be cover from a distance table: the methods of Ong 2015 (chapter 4, and
//! the baseline of section 5.2) and their parameters. Each method is in a module of its own.

use super::{DistanceTable, gba, mda, random_baseline, rba, tba, wba};
use crate::{Control, Error, Result};

/// Method of choosing the cells that seem to be cover (Ong 2015).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The baseline: cells drawn at random, each eliminated or not by the toss of a coin (section 5.2).
    Random,
    /// Maximum distance: the one cell that is furthest away (section 4.1).
    Mda,
    /// Threshold: all cells that are further away than a threshold (section 4.2).
    Tba,
    /// Weight: the furthest cell by weighted distance, one at a time. Each elimination makes the other cells
    /// of its row and column likelier to be original (section 4.3).
    Wba,
    /// Grouping: the furthest cell of the row or column that falls into two clusters most clearly (section
    /// 4.4).
    Gba,
    /// Redistribution: like grouping, but only the near cluster becomes likelier to be original (section
    /// 4.5).
    Rba,
    /// Place: all cells whose items do not fit between the other items of a sorted list. It attacks
    /// transactions instead of a distance table, see [`place_attack()`](super::place_attack()).
    Place,
}

impl Method {
    /// Returns whether an attack by this method ends at a threshold.
    pub fn has_threshold(self) -> bool {
        !matches!(self, Method::Random | Method::Mda)
    }
}

/// Limit that a cell's distance or a group's vulnerability has to exceed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// This multiple of the mean before the first elimination.
    Mean(f64),
    /// This number.
    Absolute(f64),
}

/// Measure of how clearly a row or column falls into two clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vulnerability {
    /// The largest gap between neighbouring distances, as in Figures 4.11 to 4.17.
    Gap,
    /// The largest gap divided by the difference between the furthest and the nearest distance (Definition
    /// 20).
    Normalised,
}

/// Parameters of an attack on a distance table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strategy {
    /// Method of choosing cells.
    pub method: Method,
    /// Threshold at which the attack ends. [`Method::Random`], [`Method::Mda`] and
    /// [`Method::Place`] have none.
    pub threshold: Threshold,
    /// Measure of vulnerability, for [`Method::Gba`] and [`Method::Rba`].
    pub vulnerability: Vulnerability,
    /// Seed, for [`Method::Random`].
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
    /// Returns an error if the threshold is invalid.
    pub fn check(&self) -> Result<()> {
        self.threshold.check()
    }
}

/// An eliminated cell.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Elimination {
    /// Row of the cell: the transaction.
    pub row: u32,
    /// Column of the cell: the member of the generalised item.
    pub column: u32,
    /// Value that was compared with the threshold: the cell's distance (TBA; for MDA without a threshold),
    /// its weighted distance (WBA), or the vulnerability of its group (GBA, RBA). `None` for the baseline.
    pub score: Option<f64>,
}

/// Result of an attack on a distance table.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Eliminations {
    /// Threshold that scores had to exceed. `None` for the baseline and MDA, or if no cell may be eliminated
    /// from the outset, because none is reliable or there is at most one row or column.
    pub threshold: Option<f64>,
    /// Eliminated cells, in the order of elimination.
    pub cells: Vec<Elimination>,
}

/// Eliminates the cells of a distance table that seem to be cover.
///
/// Only reliable cells are eliminated, and never the last of a row or a column. Of equal distances, the one
/// in the lower row, then in the lower column, counts as the greatest. Of equal vulnerabilities, a row comes
/// before a column, then the lower number comes first.
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
    // Every method except the simplest keeps at least two numbers for each cell.
    control.require::<[f64; 2]>(table.distances().len())?;
    match method {
        Method::Random => random_baseline::eliminate(table, seed, control),
        Method::Mda => Ok(mda::eliminate(table)),
        Method::Tba => tba::eliminate(table, threshold, control),
        Method::Wba => wba::eliminate(table, threshold, control),
        Method::Gba => gba::eliminate(table, threshold, vulnerability, control),
        Method::Rba => rba::eliminate(table, threshold, vulnerability, control),
        Method::Place => Err(Error::invalid(
            "method",
            "place needs lists of items, not a distance table",
            "a method that works by distances, such as rba",
        )),
    }
}

impl Threshold {
    /// Returns an error if the number is not finite, or if the multiple of the mean is negative.
    fn check(self) -> Result<()> {
        match self {
            Threshold::Absolute(threshold) if !threshold.is_finite() => Err(Error::invalid(
                "threshold",
                "must be a finite number",
                "the value that distances or vulnerabilities must exceed, such as 1.6",
            )),
            Threshold::Mean(ratio) if !(ratio >= 0.0 && ratio.is_finite()) => Err(Error::invalid(
                "threshold_ratio",
                "must be a finite number of at least 0",
                "a multiple of the mean, such as 1",
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn resolve(self, mean: impl FnOnce() -> f64) -> f64 {
        match self {
            Threshold::Absolute(threshold) => threshold,
            Threshold::Mean(ratio) => ratio * mean(),
        }
    }
}

/// Returns the mean of the values. Without any, it is NaN, like an unknown distance.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Returns the weighted distance: the likelier an item is original, the nearer it is (Ong 2015, Definition
/// 17).
pub(super) fn weighted(distance: f64, row_weight: f64, column_weight: f64) -> f64 {
    distance * (1.0 - row_weight) * (1.0 - column_weight)
}
