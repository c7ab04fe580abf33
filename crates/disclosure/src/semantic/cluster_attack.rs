//! The attacks by groups, GBA and RBA, which differ only in their [`Weighting`] (Ong 2015, Algorithms 4.3 and
//! 4.5).
//!
//! A *group* is a row or a column of the distance table. The largest gap between neighbouring weighted
//! distances divides it into a near (lower) and a far cluster: the wider the gap, the more *vulnerable* the
//! group. Each step eliminates the furthest cell of the most vulnerable group and updates the weights.
//!
//! An elimination changes a cell of almost every group, but hardly any vulnerability by much. The attack
//! therefore keeps an upper bound of each vulnerability and recomputes a group only when its bound is the
//! greatest.

use super::clusters::{GroupCell, SortedGroups};
use super::elimination::{mean, weighted};
use super::remaining::RemainingCounts;
use super::{DistanceTable, Elimination, Eliminations, Threshold, Vulnerability};
use crate::{Control, Result};
use ndarray::{Array2, ArrayView1};

/// Number of cells weighted between two checks for cancellation.
const CELLS_PER_CHECK: usize = 1 << 12;

/// Weights of cells: how likely each is to be original, from 0 to 1. The two attacks by groups differ only in
/// them.
pub(super) trait Weighting {
    /// Whether weights are passed on to the lower clusters. If not, the lower clusters need not be known.
    const NEEDS_CLUSTERS: bool;

    fn row_weight(&self, row: usize, column: usize) -> f64;

    fn column_weight(&self, row: usize, column: usize) -> f64;

    /// Makes other cells likelier to be original after a cell was eliminated. `remaining` no longer counts
    /// that cell, but the lower clusters of its row and its column may still contain it. Weights change only
    /// in that row and that column, and none decreases.
    fn redistribute(
        &mut self,
        eliminated: (usize, usize),
        remaining: &RemainingCounts,
        lower_in_row: &[GroupCell],
        lower_in_column: &[GroupCell],
    );
}

/// Eliminates the furthest cell of the most vulnerable group until no group is above the threshold (Ong 2015,
/// Algorithm 4.3). A group whose furthest cell may not be eliminated is skipped.
pub(super) fn eliminate(
    table: &DistanceTable,
    weights: impl Weighting,
    threshold: Threshold,
    vulnerability: Vulnerability,
    control: &Control,
) -> Result<Eliminations> {
    let mut attack = Attack::new(table, weights, vulnerability, control)?;
    // No group has changed yet, so the bounds are the vulnerabilities themselves.
    let threshold = threshold.resolve(|| mean(attack.bounds.iter().copied()));
    let mut cells = Vec::new();
    while let Some((cell, score)) = attack.most_vulnerable(threshold, control)? {
        cells.push(attack.eliminate(cell, score, control)?);
    }
    Ok(Eliminations {
        threshold: Some(threshold),
        cells,
    })
}

/// State of an attack. Groups are numbered: first all rows, then all columns. A group is refreshed only when
/// it may have become the most vulnerable.
struct Attack<W> {
    /// Distances, NaN if the cell is unreliable or eliminated.
    distances: Array2<f64>,
    weights: W,
    vulnerability: Vulnerability,
    remaining: RemainingCounts,
    /// Weighted distances, NaN for the same cells.
    weighted: Array2<f64>,
    rows: SortedGroups,
    columns: SortedGroups,
    /// By group, an upper bound of how much nearer any member came since the group was refreshed.
    slacks: Vec<f64>,
    /// By group, an upper bound of its vulnerability; the vulnerability itself if the slack is 0, and minus
    /// infinity if the group is skipped.
    bounds: Vec<f64>,
}

impl<W: Weighting> Attack<W> {
    fn new(
        table: &DistanceTable,
        weights: W,
        vulnerability: Vulnerability,
        control: &Control,
    ) -> Result<Self> {
        let mut distances = Array2::from_elem((table.rows(), table.columns()), f64::NAN);
        let mut weighted = distances.clone();
        for (row, column) in table.reliable() {
            distances[(row, column)] = table.distance(row, column);
            weighted[(row, column)] = weigh(table.distance(row, column), &weights, row, column);
        }
        let group = |cells: ArrayView1<f64>| -> Vec<GroupCell> {
            let members = (0..)
                .zip(cells)
                .map(|(number, &distance)| GroupCell { distance, number });
            members.filter(|member| !member.distance.is_nan()).collect()
        };
        let mut rows = SortedGroups::new(table.columns());
        for row in weighted.rows() {
            control.check()?;
            rows.push(group(row));
        }
        let mut columns = SortedGroups::new(table.rows());
        for column in weighted.columns() {
            control.check()?;
            columns.push(group(column));
        }
        let of_rows = (0..rows.len()).map(|row| rows.vulnerability(row, vulnerability));
        let of_columns = (0..columns.len()).map(|column| columns.vulnerability(column, vulnerability));
        Ok(Attack {
            distances,
            weights,
            vulnerability,
            remaining: RemainingCounts::new(table),
            slacks: vec![0.0; rows.len() + columns.len()],
            bounds: of_rows.chain(of_columns).collect(),
            weighted,
            rows,
            columns,
        })
    }

    /// Returns the furthest cell of the first group of the greatest vulnerability, and that vulnerability, if
    /// it is above the threshold.
    fn most_vulnerable(
        &mut self,
        threshold: f64,
        control: &Control,
    ) -> Result<Option<((usize, usize), f64)>> {
        loop {
            control.check()?;
            let (group, bound) = first_greatest(&self.bounds);
            let is_above = bound > threshold;
            if !is_above {
                return Ok(None);
            }
            if self.slacks[group] > 0.0 {
                self.refresh(group);
                continue;
            }
            match self.furthest(group) {
                Some((row, column)) if self.remaining.may_be_eliminated(row, column) => {
                    return Ok(Some(((row, column), bound)));
                }
                _ => self.bounds[group] = f64::NEG_INFINITY,
            }
        }
    }

    fn furthest(&self, group: usize) -> Option<(usize, usize)> {
        match group.checked_sub(self.rows.len()) {
            None => self.rows.furthest(group).map(|column| (group, column as usize)),
            Some(column) => self.columns.furthest(column).map(|row| (row as usize, column)),
        }
    }

    fn refresh(&mut self, group: usize) {
        self.bounds[group] = match group.checked_sub(self.rows.len()) {
            None => {
                let row = self.weighted.row(group);
                self.rows.refresh(group, |column| row[column as usize]);
                self.rows.vulnerability(group, self.vulnerability)
            }
            Some(column) => {
                let of_row = self.weighted.column(column);
                self.columns.refresh(column, |row| of_row[row as usize]);
                self.columns.vulnerability(column, self.vulnerability)
            }
        };
        self.slacks[group] = 0.0;
    }

    /// Records that a member of the group came nearer. `nearer` is NaN if the cell is not a member.
    #[inline]
    fn raise_bound(&mut self, group: usize, nearer: f64) {
        // `max` turns NaN into 0 without a branch, because the processor could not predict which cells are
        // eliminated.
        let slack = self.slacks[group] + nearer.max(0.0);
        self.slacks[group] = slack;
        if slack > 0.0 {
            self.bounds[group] = match group.checked_sub(self.rows.len()) {
                None => self.rows.vulnerability_bound(group, self.vulnerability, slack),
                Some(column) => self
                    .columns
                    .vulnerability_bound(column, self.vulnerability, slack),
            };
        }
    }

    fn eliminate(
        &mut self,
        (row, column): (usize, usize),
        score: f64,
        control: &Control,
    ) -> Result<Elimination> {
        let (rows, columns) = (self.rows.len(), self.columns.len());
        let mut clusters: [&[GroupCell]; 2] = [&[], &[]];
        if W::NEEDS_CLUSTERS {
            for group in [row, rows + column] {
                if self.slacks[group] > 0.0 {
                    self.refresh(group);
                }
            }
            clusters = [self.rows.lower_cluster(row), self.columns.lower_cluster(column)];
        }
        let elimination = self.remaining.eliminate(row, column, Some(score));
        self.weights
            .redistribute((row, column), &self.remaining, clusters[0], clusters[1]);
        self.distances[(row, column)] = f64::NAN;
        for other in 0..columns {
            let nearer = self.reweigh(row, other);
            self.raise_bound(rows + other, nearer);
        }
        for start in (0..rows).step_by(CELLS_PER_CHECK) {
            control.check()?;
            for other in start..rows.min(start + CELLS_PER_CHECK) {
                let nearer = self.reweigh(other, column);
                self.raise_bound(other, nearer);
            }
        }
        // The row and the column lost a member, so no finite slack bounds the change of their largest gaps.
        self.raise_bound(row, f64::INFINITY);
        self.raise_bound(rows + column, f64::INFINITY);
        Ok(elimination)
    }

    /// Recomputes the weighted distance of a cell and returns how much nearer it came, NaN if it is
    /// unreliable or eliminated.
    #[inline]
    fn reweigh(&mut self, row: usize, column: usize) -> f64 {
        let now = weigh(self.distances[(row, column)], &self.weights, row, column);
        std::mem::replace(&mut self.weighted[(row, column)], now) - now
    }
}

fn weigh(distance: f64, weights: &impl Weighting, row: usize, column: usize) -> f64 {
    let row_weight = weights.row_weight(row, column);
    weighted(distance, row_weight, weights.column_weight(row, column))
}

/// Returns the place and the value of the first greatest of at least one value.
fn first_greatest(values: &[f64]) -> (usize, f64) {
    // Independent lanes let the processor compare several values at once.
    let greater = |a: f64, b: f64| if b > a { b } else { a };
    let (chunks, rest) = values.as_chunks::<8>();
    let lanes = chunks.iter().fold([f64::NEG_INFINITY; 8], |mut lanes, chunk| {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = greater(*lane, value);
        }
        lanes
    });
    let greatest = lanes.iter().chain(rest).copied().fold(f64::NEG_INFINITY, greater);
    let first = values.iter().position(|&value| value == greatest);
    (first.unwrap_or(0), greatest)
}
