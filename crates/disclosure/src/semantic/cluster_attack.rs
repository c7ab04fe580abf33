use super::clusters::{Groups, Member};
use super::elimination::{mean, weighted};
use super::remaining::Left;
use super::{DistanceTable, Elimination, Eliminations, Threshold, Vulnerability};
use crate::{Control, Result};
use ndarray::{Array2, ArrayView1};

/// Cells that are weighted between two looks at the control.
const PIECE: usize = 1 << 12;

/// How likely items are to be original, from 0 to 1: all that the two attacks by groups differ in.
pub(super) trait Weighting {
    /// Whether weights are passed on to lower clusters; otherwise these need not be known.
    const BY_CLUSTERS: bool;

    fn row_weight(&self, row: usize, column: usize) -> f64;

    fn column_weight(&self, row: usize, column: usize) -> f64;

    /// Make others likelier, as a cell is eliminated. What is left is without it; the lower clusters of its row and its
    /// column may still have it. No weight outside of these changes, and none becomes less.
    fn pass_on(
        &mut self,
        eliminated: (usize, usize),
        left: &Left,
        lower_in_row: &[Member],
        lower_in_column: &[Member],
    );
}

/// The furthest cell of the group that falls into two clusters most clearly, again and again (Ong 2015, Algorithm 4.3).
/// A group whose furthest cell may not be eliminated is passed over.
pub(super) fn eliminate(
    table: &DistanceTable,
    weights: impl Weighting,
    threshold: Threshold,
    vulnerability: Vulnerability,
    control: &Control,
) -> Result<Eliminations> {
    let mut attack = Attack::new(table, weights, vulnerability, control)?;
    // No group has changed yet: bounds are vulnerabilities.
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

/// An elimination changes a cell of almost every group, but hardly any vulnerability by much. A group is therefore looked
/// at again only when it may have become the most vulnerable.
struct Attack<W> {
    /// NaN where a cell is unreliable or eliminated.
    distances: Array2<f64>,
    weights: W,
    vulnerability: Vulnerability,
    left: Left,
    /// The same, weighted.
    weighted: Array2<f64>,
    rows: Groups,
    columns: Groups,
    /// By how much members of each row, then of each column, came nearer since the group was refreshed, at most.
    slacks: Vec<f64>,
    /// What vulnerabilities are at most, and without slack, just that; minus infinity where a group is passed over.
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
        let group = |cells: ArrayView1<f64>| -> Vec<Member> {
            let members = (0..)
                .zip(cells)
                .map(|(number, &distance)| Member { distance, number });
            members.filter(|member| !member.distance.is_nan()).collect()
        };
        let mut rows = Groups::new(table.columns());
        for row in weighted.rows() {
            control.check()?;
            rows.push(group(row));
        }
        let mut columns = Groups::new(table.rows());
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
            left: Left::new(table),
            slacks: vec![0.0; rows.len() + columns.len()],
            bounds: of_rows.chain(of_columns).collect(),
            weighted,
            rows,
            columns,
        })
    }

    /// The furthest cell of the first group of the greatest vulnerability, if that is above the threshold.
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
                Some((row, column)) if self.left.may_be_eliminated(row, column) => {
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

    /// A member came nearer, by NaN if it is none.
    #[inline]
    fn loosen(&mut self, group: usize, nearer: f64) {
        // No branch, as it cannot be foreseen which cells are eliminated.
        let slack = self.slacks[group] + nearer.max(0.0);
        self.slacks[group] = slack;
        if slack > 0.0 {
            self.bounds[group] = match group.checked_sub(self.rows.len()) {
                None => self.rows.most_vulnerability(group, self.vulnerability, slack),
                Some(column) => self.columns.most_vulnerability(column, self.vulnerability, slack),
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
        let mut clusters: [&[Member]; 2] = [&[], &[]];
        if W::BY_CLUSTERS {
            for group in [row, rows + column] {
                if self.slacks[group] > 0.0 {
                    self.refresh(group);
                }
            }
            clusters = [self.rows.lower_cluster(row), self.columns.lower_cluster(column)];
        }
        let elimination = self.left.eliminate(row, column, Some(score));
        self.weights
            .pass_on((row, column), &self.left, clusters[0], clusters[1]);
        self.distances[(row, column)] = f64::NAN;
        for other in 0..columns {
            let nearer = self.weigh_again(row, other);
            self.loosen(rows + other, nearer);
        }
        for start in (0..rows).step_by(PIECE) {
            control.check()?;
            for other in start..rows.min(start + PIECE) {
                let nearer = self.weigh_again(other, column);
                self.loosen(other, nearer);
            }
        }
        // These lost a member: any gap may be the largest now.
        self.loosen(row, f64::INFINITY);
        self.loosen(rows + column, f64::INFINITY);
        Ok(elimination)
    }

    /// By how much a cell came nearer; NaN if it is none.
    #[inline]
    fn weigh_again(&mut self, row: usize, column: usize) -> f64 {
        let now = weigh(self.distances[(row, column)], &self.weights, row, column);
        std::mem::replace(&mut self.weighted[(row, column)], now) - now
    }
}

fn weigh(distance: f64, weights: &impl Weighting, row: usize, column: usize) -> f64 {
    let row_weight = weights.row_weight(row, column);
    weighted(distance, row_weight, weights.column_weight(row, column))
}

/// Of at least one value.
fn first_greatest(values: &[f64]) -> (usize, f64) {
    // In lanes, of which processors compare several at once.
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
