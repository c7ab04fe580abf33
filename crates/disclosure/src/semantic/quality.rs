use super::{Eliminations, Target};
use crate::{Error, Result};
use std::iter::Sum;

/// Counts that show how well an attack tells cover from original items (Ong 2015, section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Quality {
    /// Number of cells: members of generalised items, in all transactions that contain them.
    pub cells: u64,
    /// Number of cells that are cover.
    pub cover: u64,
    /// Number of cells that were eliminated.
    pub eliminations: u64,
    /// Number of cells that were eliminated and are cover.
    pub correct: u64,
}

impl Quality {
    /// Measures an attack if the original transactions are known: `is_original` takes a transaction and an
    /// item. The results are by target.
    pub fn of_targets(
        targets: &[Target],
        eliminations: &[Eliminations],
        is_original: impl Fn(u32, u32) -> bool,
    ) -> Vec<Self> {
        let of_target = |(target, eliminations): (&Target, &Eliminations)| {
            let is_original =
                |row: usize, column: usize| is_original(target.rows[row].transaction, target.members[column]);
            let (rows, columns) = (target.rows.len(), target.members.len());
            let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
            let correct = eliminations
                .cells
                .iter()
                .filter(|cell| !is_original(cell.row as usize, cell.column as usize));
            Quality {
                cells: (rows * columns) as u64,
                cover: cells.filter(|&(row, column)| !is_original(row, column)).count() as u64,
                eliminations: eliminations.cells.len() as u64,
                correct: correct.count() as u64,
            }
        };
        targets.iter().zip(eliminations).map(of_target).collect()
    }

    /// Returns the share of eliminations that is right.
    pub fn precision(&self) -> Option<f64> {
        share(self.correct, self.eliminations)
    }

    /// Returns the share of cover that was eliminated.
    pub fn recall(&self) -> Option<f64> {
        share(self.correct, self.cover)
    }

    /// Returns the harmonic mean of precision and recall.
    pub fn f_score(&self) -> Option<f64> {
        share(2 * self.correct, self.eliminations + self.cover)
    }

    /// Returns the share of cells that are original (Ong 2015, Definition 16).
    pub fn density(&self) -> Option<f64> {
        share(self.cells - self.cover, self.cells)
    }
}

impl Sum for Quality {
    fn sum<I: Iterator<Item = Self>>(qualities: I) -> Self {
        qualities.fold(Quality::default(), |sum, next| Quality {
            cells: sum.cells + next.cells,
            cover: sum.cover + next.cover,
            eliminations: sum.eliminations + next.eliminations,
            correct: sum.correct + next.correct,
        })
    }
}

/// Generalised items of similar density, and how well an attack on them does (Ong 2015, section 5.3.5).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DensityBin {
    /// Least density of the bin.
    pub from: f64,
    /// Density at which the next bin begins; that of the last bin is 1, which belongs to it.
    pub to: f64,
    /// Number of generalised items.
    pub generalised_items: u64,
    /// Quality of the attack on them.
    pub quality: Quality,
}

/// Divides targets into bins by density, given the quality of the attack on each. The bins are divided by
/// `bounds`; without any, there is one bin. Bins without targets are left out, unless there is only one bin.
pub fn density_bins(qualities: &[Quality], bounds: &[f64]) -> Vec<DensityBin> {
    let bin_of = |quality: &Quality| {
        let density = quality.density().unwrap_or(0.0);
        bounds.partition_point(|&bound| bound <= density)
    };
    let mut by_bin = vec![Vec::new(); bounds.len() + 1];
    for quality in qualities {
        by_bin[bin_of(quality)].push(*quality);
    }
    let bins = by_bin.into_iter().enumerate().map(|(bin, qualities)| DensityBin {
        from: bin.checked_sub(1).map_or(0.0, |before| bounds[before]),
        to: bounds.get(bin).copied().unwrap_or(1.0),
        generalised_items: qualities.len() as u64,
        quality: qualities.into_iter().sum(),
    });
    bins.filter(|bin| bin.generalised_items > 0 || bounds.is_empty())
        .collect()
}

/// Returns an error unless the bounds are ascending and between 0 and 1.
pub fn check_density_bounds(bounds: &[f64]) -> Result<()> {
    let is_density = |bound: &f64| *bound > 0.0 && *bound < 1.0;
    let is_ascending = bounds.windows(2).all(|two| two[0] < two[1]);
    if bounds.iter().all(is_density) && is_ascending {
        return Ok(());
    }
    Err(Error::invalid(
        "density_bounds",
        "must be ascending and between 0 and 1",
        "densities that divide generalised items into groups, such as 0.2, 0.4 and 0.6",
    ))
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
