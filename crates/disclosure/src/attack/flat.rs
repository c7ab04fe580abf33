use super::Matrix;
use super::blocks::blocks;
use super::exact::no_matching;
use super::frontier::{ROUNDING, Summed, roundings};
use crate::matching::{Counting, Graph, ItemClass, Wide};
use crate::{Control, Result};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::hash::Hash;

/// Whether all matchings that are possible are equally likely (Malik 2014, section 3.3); an error where there is no
/// perfect matching.
///
/// That is so exactly if there is a number for every row and one for every column whose products are the weights, of
/// all edges that lie in some perfect matching. Weights may differ from these products by a share of 10⁻⁹, as numbers
/// that were divided or read from decimals do.
pub fn is_flat(matrix: &Matrix, control: &Control) -> Result<bool> {
    const TOLERANCE: f64 = 1e-9;
    let blocks = blocks(matrix, control)?.ok_or_else(no_matching)?;
    for block in blocks {
        if Factors::new(&block.matrix, control)?.deviation > TOLERANCE {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A number for every row and one for every column of a block, whose products are the weights if any are.
#[derive(Debug)]
struct Factors {
    /// Natural logarithms: the sum over rows and columns.
    ln_product: f64,
    /// … which is off by no more than this.
    sum_error: f64,
    /// By what share products differ from weights at most.
    deviation: f64,
}

impl Factors {
    /// From the first row on, every edge to a line that has no number yet says what that has to be.
    fn new(matrix: &Matrix, control: &Control) -> Result<Self> {
        let size = matrix.size();
        let mut by_column = vec![Vec::new(); size];
        for row in 0..size {
            control.check()?;
            for (column, weight) in matrix.row(row) {
                by_column[column as usize].push((row, weight.ln()));
            }
        }
        let mut of_rows = vec![None; size];
        let mut of_columns = vec![None; size];
        let mut deviation = 0.0f64;
        let mut waiting = VecDeque::from_iter((size > 0).then_some(0));
        if let Some(first) = of_rows.first_mut() {
            *first = Some(0.0);
        }
        while let Some(row) = waiting.pop_front() {
            control.check()?;
            let of_row = of_rows[row].unwrap_or(0.0);
            for (column, weight) in matrix.row(row) {
                let ln = weight.ln();
                if let Some(of_column) = of_columns[column as usize] {
                    let off: f64 = ln - of_row - of_column;
                    deviation = deviation.max(off.abs());
                    continue;
                }
                let of_column = ln - of_row;
                of_columns[column as usize] = Some(of_column);
                for &(other, ln) in &by_column[column as usize] {
                    if of_rows[other].is_none() {
                        of_rows[other] = Some(ln - of_column);
                        waiting.push_back(other);
                    }
                }
            }
        }
        let (mut sum, mut error, mut magnitude) = (0.0, 0.0, 0.0f64);
        let mut largest = 0.0f64;
        for &ln in of_rows.iter().chain(&of_columns).flatten() {
            // What every addition rounds off is added in the end (Ogita, Rump and Oishi 2005, algorithm 4.1).
            let next: f64 = sum + ln;
            let added = next - sum;
            error += (sum - (next - added)) + (ln - added);
            sum = next;
            magnitude += ln.abs();
            largest = largest.max(ln.abs());
        }
        // A weight's logarithm is rounded, and so are the differences that deviations are seen by.
        deviation += 16.0 * ROUNDING * if largest > 0.0 { largest.max(1.0) } else { 0.0 };
        Ok(Factors {
            ln_product: sum + error,
            sum_error: roundings(2.0 * size as f64).powi(2) * magnitude,
            deviation: deviation.exp_m1(),
        })
    }
}

/// Sums over the matchings of a flat block, which are those of its edges without weights: rows with the same edges
/// are counted together, and so are columns, so that large blocks of few kinds are no problem.
#[derive(Debug)]
pub(super) struct Flat {
    counting: Counting,
    /// The class of every row, and of every column.
    of_row: Vec<u32>,
    of_column: Vec<u32>,
    /// How many columns every class has.
    columns: Vec<u32>,
    /// For every class of rows, its classes of columns.
    candidates: Vec<Vec<u32>>,
    factors: Factors,
}

impl Flat {
    /// `None` where the block is not flat, or so little that the answer would not be exact.
    pub fn new(matrix: &Matrix, control: &Control) -> Result<Option<Self>> {
        const TOLERANCE: f64 = 1e-11;
        let size = matrix.size();
        let factors = Factors::new(matrix, control)?;
        if factors.deviation * size as f64 > TOLERANCE {
            return Ok(None);
        }
        let mut by_column = vec![Vec::new(); size];
        for row in 0..size {
            control.check()?;
            for (column, _) in matrix.row(row) {
                by_column[column as usize].push(row as u32);
            }
        }
        let (of_column, columns, _) = twins(by_column);
        let by_row = (0..size).map(|row| {
            let mut classes: Vec<u32> = matrix
                .row(row)
                .map(|(column, _)| of_column[column as usize])
                .collect();
            classes.sort_unstable();
            classes.dedup();
            classes
        });
        let (of_row, rows, candidates) = twins(by_row);
        control.check()?;
        let class = |(&size, candidates): (&u32, &Vec<u32>)| ItemClass {
            size,
            candidates: candidates.clone(),
        };
        let graph = Graph {
            codes: columns.clone(),
            items: rows.iter().zip(&candidates).map(class).collect(),
        };
        Ok(Some(Flat {
            counting: Counting::new(&graph, control)?,
            of_row,
            of_column,
            columns,
            candidates,
            factors,
        }))
    }

    /// About how many seconds a core will take for all edges.
    pub fn seconds(&self) -> f64 {
        self.counting.steps() / Counting::STEPS_PER_SECOND
    }

    /// How much memory that will take.
    pub fn bytes(&self) -> f64 {
        self.counting.bytes()
    }

    /// How many roundings a count goes through at most. For every class of codes, each class of items that can take
    /// some adds up to as many terms as there are codes, and multiplies a few times; then items are put together, with
    /// factorials of no more than all of them, and sums are divided by the largest.
    fn count_roundings(&self) -> f64 {
        let items = self.of_row.len() as f64;
        let edges = self.candidates.iter().flatten();
        let terms: f64 = edges
            .map(|&class| f64::from(self.columns[class as usize]) + 5.0)
            .sum();
        terms + (self.columns.len() + 1) as f64 * (3.0 * items + 2.0)
    }

    /// The permanent, and by what share of it that is off at most, which is the error of its logarithm: the count, which
    /// was summed up from that of every class, has some; weights are not quite products; logarithms are rounded.
    fn by_count(&self, log_matchings: f64) -> (Wide, f64) {
        let ln = log_matchings + self.factors.ln_product;
        let of_count = roundings(self.count_roundings());
        let of_logarithms = roundings(2.0 * self.columns.len() as f64 + 8.0) * log_matchings.abs()
            + roundings(8.0) * (self.factors.ln_product.abs() + ln.abs())
            + self.factors.sum_error;
        let of_weights = self.of_row.len() as f64 * self.factors.deviation;
        (Wide::exp(ln), of_count + of_logarithms + of_weights)
    }

    /// No probability is off by more than this: it is the difference of two shares of matchings.
    pub fn edge_error(&self) -> f64 {
        4.0 * roundings(self.count_roundings()) + 2.0 * self.of_row.len() as f64 * self.factors.deviation
    }

    /// The permanent, and by what share of it that is off at most.
    pub fn permanent(&self, control: &Control) -> Result<(Wide, f64)> {
        Ok(self.by_count(self.counting.log_matchings(control)?))
    }

    /// The permanent, by what share of it that is off at most, the probability of every edge, and by how much any of
    /// these is off at most.
    pub fn edges(&self, matrix: &Matrix, control: &Control) -> Result<(Summed, f64, f64)> {
        let shares = self.counting.shares(control)?.ok_or_else(no_matching)?;
        let mut probability = Vec::with_capacity(matrix.edges());
        for (row, &class) in self.of_row.iter().enumerate() {
            let of_class = self.candidates[class as usize]
                .iter()
                .zip(&shares.of_class[class as usize]);
            // All columns of a class are as likely as each other.
            let of_column: FxHashMap<u32, f64> = of_class
                .map(|(&class, share)| (class, share / f64::from(self.columns[class as usize])))
                .collect();
            let edges = matrix
                .row(row)
                .map(|(column, _)| of_column[&self.of_column[column as usize]]);
            probability.extend(edges);
        }
        let (permanent, relative_error) = self.by_count(shares.log_matchings);
        let summed = Summed {
            permanent,
            probability,
        };
        Ok((summed, relative_error, self.edge_error()))
    }
}

/// The class of each, how many every class has, and what these have in common; classes in order of their first.
fn twins<T: Hash + Eq + Clone>(all: impl IntoIterator<Item = T>) -> (Vec<u32>, Vec<u32>, Vec<T>) {
    let mut classes: FxHashMap<T, u32> = FxHashMap::default();
    let (mut sizes, mut common) = (Vec::new(), Vec::new());
    let of = all.into_iter().map(|one| {
        let class = *classes.entry(one).or_insert_with_key(|one| {
            sizes.push(0);
            common.push(one.clone());
            sizes.len() as u32 - 1
        });
        sizes[class as usize] += 1;
        class
    });
    (of.collect(), sizes, common)
}
