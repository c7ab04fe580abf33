//! Random matchings by a Markov chain: expected cracks with a confidence interval, for matrices whose exact
//! sums over all matchings would take too long.
//!
//! A move is a *loop*. A row, drawn uniformly from the n rows with a choice, gives up its column j. Then the
//! row u that has no column takes a column k with probability a(u,k) / R(u), where R(u) is the sum of its
//! weights. If k is the free column j, the loop is closed. Otherwise the row that had k now has no column and
//! continues in the same way.
//!
//! *A move leaves the distribution of matchings invariant.* Let every matching have the weight W, the product
//! of its edges. Let every intermediate state, in which row u has no column, have the weight W · R(u) / n,
//! where W is the product of the remaining edges. Then every step is as frequent as its reverse:
//! - A matching loses row u's edge (u,j): W · 1/n. Reverse: (W / a(u,j)) · R(u)/n · a(u,j)/R(u), the same.
//! - Row u takes column k from row v: W · R(u)/n · a(u,k)/R(u) = W · a(u,k) / n. Reverse, row v takes k from
//!   u: (W · a(u,k) / a(v,k)) · R(v)/n · a(v,k)/R(v), the same.
//!
//! So the chain is reversible, and it remains reversible if only its matchings are observed. A loop that
//! becomes too long is undone. The reverse of a loop has the same length, so this does not change the
//! distribution.
//!
//! *The chain reaches every matching.* Two matchings differ by disjoint cycles in which their edges
//! alternate. A loop can follow such a cycle, which takes at most as many steps as there are rows. In
//! contrast, swaps of two rows' columns get stuck, for example in a cycle of three rows and three columns.
//!
//! On a doubly stochastic matrix that is not sparse, a loop takes about as many steps as there are rows. This
//! is the only reason why the matrix is scaled.
//!
//! *If there are more columns than rows*, some columns are free at any time, and a loop also ends if it takes
//! one of them. The reverse begins with the row that took it and ends at the column that the first row gave
//! up, with the same probabilities as above. The matrix is not scaled, because the factor of a column would
//! matter.

use super::blocks::blocks;
use super::exact::no_matching;
use super::subsets::{SubsetCracks, Subsets};
use super::{Estimate, Matrix, Method, Settings, Truth, normalise};
use crate::matching::{Graph, ItemClass, perfect_matching};
use crate::mcmc::{Move, Observe, Outcome, State};
use crate::{Control, Result};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Limit on samples. It suffices for a relative error of 0.001 if one crack is expected, and it ends the
/// sampling even if no crack ever occurs.
pub(super) const MAX_SAMPLES: u64 = 1 << 24;

/// Bytes per edge while sampling.
pub(super) const BYTES_PER_EDGE: f64 = 64.0;

/// Estimated seconds per row of an independent sample, as measured with 20 to 100 rows. It includes several
/// steps of loops, because successive samples are not independent, and a quarter of them is dropped.
const SECONDS_PER_ROW: f64 = 1e-7;

/// Like [`SECONDS_PER_ROW`], if the alias tables of all rows do not fit into a processor's cache, as measured
/// with 1000 rows.
const SECONDS_PER_ROW_OF_MANY: f64 = 1e-6;

/// Number of edges from which [`SECONDS_PER_ROW_OF_MANY`] applies.
const MANY_EDGES: usize = 1 << 17;

/// Estimated seconds per edge before the first loop.
const SECONDS_PER_EDGE: f64 = 5e-7;

/// Returns the estimated seconds until sampling reaches the relative error, if `expected` is about the number
/// of cracks. Cracks are rare and nearly independent, so the variance of their number is about its mean.
pub(super) fn seconds(matrix: &Matrix, expected: f64, relative_error: f64) -> f64 {
    let samples = (1.96 / relative_error).powi(2) / expected;
    let seconds_per_row = match matrix.edge_count() >= MANY_EDGES {
        true => SECONDS_PER_ROW_OF_MANY,
        false => SECONDS_PER_ROW,
    };
    samples.max(1000.0) * matrix.size().min(matrix.width()) as f64 * seconds_per_row
        + matrix.edge_count() as f64 * SECONDS_PER_EDGE
}

/// Returns the expected cracks by random matchings, or an error if there is no perfect matching.
///
/// A sample counts whether each row is cracked. The probability that it is, given everything but one other
/// row, would have a smaller variance, but computing it takes longer than another loop if few rows are
/// cracked.
pub(super) fn estimate(
    matrix: &Matrix,
    truth: &Truth,
    settings: &Settings,
    control: &Control,
) -> Result<Estimate> {
    let ready = Ready::new(matrix, truth, control)?;
    let observed = Cracks::new(&ready.matrix, &ready.truth);
    let outcome = run(&ready.matrix, &ready.truth, &observed, settings, control)?;
    let of_column = |column: &Option<u32>| column.map_or(0.0, |column| outcome.figures[column as usize]);
    Ok(Estimate {
        expected: outcome.mean,
        lower: Some(outcome.lower),
        upper: Some(outcome.upper),
        method: Method::Sample,
        is_precise_enough: outcome.is_precise_enough,
        crack_probability: match matrix.size() > matrix.width() {
            true => truth.columns().iter().map(of_column).collect(),
            false => outcome.figures,
        },
    })
}

/// Share of random matchings with a number of cracks, or with at least that number, and its confidence
/// interval.
#[derive(Debug, Clone, Copy)]
pub(super) struct SampledShare {
    pub share: f64,
    pub lower: f64,
    pub upper: f64,
}

/// Shares of random matchings by their number of cracks, from 0 to `most`.
pub(super) struct SampledDistribution {
    /// Share with exactly this number of cracks.
    pub exactly: Vec<SampledShare>,
    /// Share with at least this number of cracks.
    pub at_least: Vec<SampledShare>,
    /// Whether the expected number of cracks reached its relative error.
    pub is_precise_enough: bool,
}

/// Returns the distribution of cracks by random matchings, or an error if there is no perfect matching.
/// Every share has a 95 % confidence interval of its own.
pub(super) fn distribution(
    matrix: &Matrix,
    truth: &Truth,
    most: usize,
    settings: &Settings,
    control: &Control,
) -> Result<SampledDistribution> {
    // Two figures for every number of cracks, in two rounds of every chain.
    control.require::<[f64; 4]>((most + 1).saturating_mul(STARTS))?;
    let ready = Ready::new(matrix, truth, control)?;
    let cracks = Cracks::new(&ready.matrix, &ready.truth);
    let outcome = run(
        &ready.matrix,
        &ready.truth,
        &CrackNumbers { cracks, most },
        settings,
        control,
    )?;
    let share = |number: usize| {
        let (share, half_width) = (outcome.figures[number], outcome.figure_half_widths[number]);
        match outcome.is_warm {
            true => share_with_interval(share, half_width, outcome.effective_samples),
            false => SampledShare {
                share,
                lower: 0.0,
                upper: 1.0,
            },
        }
    };
    let certain = SampledShare {
        share: 1.0,
        lower: 1.0,
        upper: 1.0,
    };
    Ok(SampledDistribution {
        exactly: (0..=most).map(share).collect(),
        at_least: (0..=most)
            .map(|cracks| match cracks {
                0 => certain,
                _ => share(most + 1 + cracks),
            })
            .collect(),
        is_precise_enough: outcome.is_precise_enough,
    })
}

/// Returns a share with its 95 % confidence interval. It contains the interval from the spread between chains,
/// which is too narrow if an event is rarely observed, and the one of Wilson 1927, which considers only the
/// number of independent samples.
fn share_with_interval(share: f64, half_width: f64, samples: f64) -> SampledShare {
    const NORMAL: f64 = 1.959_963_985;
    let square = NORMAL * NORMAL / samples;
    let middle = (share + square / 2.0) / (1.0 + square);
    let around = (share * (1.0 - share) * square + square * square / 4.0).sqrt() / (1.0 + square);
    SampledShare {
        share,
        lower: (middle - around).min(share - half_width).clamp(0.0, share),
        upper: (middle + around).max(share + half_width).clamp(share, 1.0),
    }
}

/// A matrix with at least as many columns as rows, ready for sampling, and the true mapping of its rows.
struct Ready {
    /// Scaled to doubly stochastic if it is square; otherwise without the edges that no matching uses.
    matrix: Matrix,
    truth: Truth,
}

impl Ready {
    fn new(matrix: &Matrix, truth: &Truth, control: &Control) -> Result<Self> {
        if matrix.size() == matrix.width() {
            return Ok(Ready {
                matrix: normalise(matrix, control)?,
                truth: truth.clone(),
            });
        }
        let blocks = blocks(matrix, control)?.ok_or_else(|| no_matching(matrix))?;
        let mut rows = vec![Vec::new(); matrix.size().min(matrix.width())];
        for block in &blocks {
            for (within, &row) in block.rows.iter().enumerate() {
                control.check()?;
                let edges = block.matrix.row(within);
                rows[row as usize] = edges
                    .map(|(column, weight)| (block.columns[column as usize], weight))
                    .collect();
            }
        }
        Ok(Ready {
            matrix: Matrix::from_rows(matrix.size().max(matrix.width()), rows, control)?,
            truth: match matrix.size() > matrix.width() {
                true => truth.transposed(matrix),
                false => truth.clone(),
            },
        })
    }
}

/// Returns the expected number of cracked sets by random matchings, or an error if there is no perfect
/// matching.
pub(super) fn subset_cracks(
    matrix: &Matrix,
    truth: &Truth,
    subsets: &Subsets,
    settings: &Settings,
    control: &Control,
) -> Result<SubsetCracks> {
    let scaled = normalise(matrix, control)?;
    let outcome = match subsets {
        Subsets::Only(rows) => run(&scaled, truth, &OneSet::new(truth, rows), settings, control)?,
        &Subsets::OfSize(size) => run(&scaled, truth, &AllSets::new(truth, size), settings, control)?,
    };
    Ok(SubsetCracks {
        expected: outcome.mean,
        lower: outcome.lower,
        upper: outcome.upper,
        method: Method::Sample,
        is_precise_enough: outcome.is_precise_enough,
    })
}

fn run(
    scaled: &Matrix,
    truth: &Truth,
    observed: &dyn Observe<Matching>,
    settings: &Settings,
    control: &Control,
) -> Result<Outcome> {
    let limits = settings.sampling_limits();
    limits.check()?;
    // Let chains begin at different matchings. If they do not forget where they began, the confidence
    // interval then shows it.
    let mut seeds = Pcg64Mcg::seed_from_u64(settings.seed);
    let mut starts: Vec<Vec<u32>> = true_matching(scaled, truth).into_iter().collect();
    while starts.len() < STARTS {
        starts.push(random_matching(scaled, &mut seeds, control)?);
    }
    let tables = AliasTables::new(scaled, control)?;
    limits.run(&tables, observed, control, |seeds, chain| {
        Matching::new(starts[chain % starts.len()].clone(), scaled.width(), seeds)
    })
}

/// Number of matchings at which chains begin.
const STARTS: usize = 16;

/// Returns a matching of all rows as the column of every row. It depends on the order of rows and columns, which
/// is shuffled.
fn random_matching(matrix: &Matrix, random: &mut Pcg64Mcg, control: &Control) -> Result<Vec<u32>> {
    let (size, width) = (matrix.size() as u32, matrix.width() as u32);
    let (mut rows, mut columns): (Vec<u32>, Vec<u32>) = ((0..size).collect(), (0..width).collect());
    rows.shuffle(random);
    columns.shuffle(random);
    let mut number = vec![0; matrix.width()];
    for (shuffled, &column) in (0..).zip(&columns) {
        number[column as usize] = shuffled;
    }
    let item = |&row: &u32| {
        let candidates = matrix
            .row(row as usize)
            .map(|(column, _)| number[column as usize]);
        let mut candidates: Vec<u32> = candidates.collect();
        candidates.sort_unstable();
        ItemClass { size: 1, candidates }
    };
    let left = (width > size).then(|| ItemClass {
        size: width - size,
        candidates: (0..width).collect(),
    });
    let graph = Graph {
        codes: vec![1; matrix.width()],
        items: rows.iter().map(item).chain(left).collect(),
    };
    let assigned = perfect_matching(&graph, control)?.ok_or_else(|| no_matching(matrix))?;
    let mut matching = vec![0; matrix.size()];
    for ((&row, item), assigned) in rows.iter().zip(&graph.items).zip(&assigned) {
        let candidates = item.candidates.iter().zip(assigned);
        for (&candidate, _) in candidates.filter(|&(_, &assigned)| assigned > 0) {
            matching[row as usize] = columns[candidate as usize];
        }
    }
    Ok(matching)
}

/// Returns the true mapping if it is completely known and possible.
fn true_matching(matrix: &Matrix, truth: &Truth) -> Option<Vec<u32>> {
    let column = |(row, &column): (usize, &Option<u32>)| {
        let column = column?;
        matrix.edge_index(row, column).map(|_| column)
    };
    truth.columns().iter().enumerate().map(column).collect()
}

/// State of a chain: a matching that changes at random.
struct Matching {
    /// Column of every row.
    columns: Vec<u32>,
    /// Row of every column; [`NOBODY`] if it is free.
    rows: Vec<u32>,
    random: Pcg64Mcg,
    /// Rows that the current loop has changed, and the columns that they had before.
    undo_log: Vec<(u32, u32)>,
    steps: u64,
}

impl Matching {
    fn new(columns: Vec<u32>, width: usize, seeds: &mut Pcg64Mcg) -> Self {
        let mut rows = vec![NOBODY; width];
        for (row, &column) in (0..).zip(&columns) {
            rows[column as usize] = row;
        }
        Matching {
            columns,
            rows,
            random: Pcg64Mcg::from_rng(seeds),
            undo_log: Vec::new(),
            steps: 0,
        }
    }
}

impl State for Matching {
    fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }
}

/// Probabilities of every row's columns in alias tables, so that a draw takes constant time (Walker 1977).
/// Every column of a row gets a slot of the same size, and fills what it does not need with one other column.
struct AliasTables {
    /// Start of every row in `slots`, followed by the end of the last row.
    starts: Vec<usize>,
    slots: Vec<AliasSlot>,
    /// Rows with more than one column.
    rows: Vec<u32>,
    /// Largest number of steps of a loop; a longer loop is undone.
    max_steps: u64,
}

#[derive(Debug, Clone, Copy)]
struct AliasSlot {
    /// Part of 2⁶⁴ that belongs to the first column; the rest belongs to the second.
    limit: u64,
    first: u32,
    second: u32,
}

/// Largest number of steps of a loop per row. It has to be at least one for the chain to reach every
/// matching.
const MAX_STEPS_PER_ROW: u64 = 32;

/// Number of steps of a long loop between two checks for cancellation.
const STEPS_PER_CHECK: u64 = 1 << 14;

impl AliasTables {
    fn new(matrix: &Matrix, control: &Control) -> Result<Self> {
        let mut tables = AliasTables {
            starts: vec![0],
            slots: Vec::with_capacity(matrix.edge_count()),
            rows: Vec::new(),
            max_steps: MAX_STEPS_PER_ROW * matrix.size() as u64,
        };
        for row in 0..matrix.size() {
            control.check()?;
            tables.push_row(matrix, row);
            if matrix.edge_range(row).len() > 1 {
                tables.rows.push(row as u32);
            }
        }
        Ok(tables)
    }

    fn push_row(&mut self, matrix: &Matrix, row: usize) {
        const ALL: f64 = 18_446_744_073_709_551_616.0;
        let all: f64 = matrix.row(row).map(|(_, weight)| weight).sum();
        let count = matrix.edge_range(row).len() as f64;
        let mut left: Vec<(u32, f64)> = matrix
            .row(row)
            .map(|(column, weight)| (column, weight / all * count))
            .collect();
        let (mut below, mut above): (Vec<usize>, Vec<usize>) =
            (0..left.len()).partition(|&number| left[number].1 < 1.0);
        while let (Some(&small), Some(&large)) = (below.last(), above.last()) {
            below.pop();
            self.slots.push(AliasSlot {
                // A positive share must not become zero, because its edge is possible.
                limit: (left[small].1 * ALL).max(1.0) as u64,
                first: left[small].0,
                second: left[large].0,
            });
            left[large].1 -= 1.0 - left[small].1;
            if left[large].1 < 1.0 {
                above.pop();
                below.push(large);
            }
        }
        // The remaining shares are 1 except for rounding.
        self.slots
            .extend(below.iter().chain(&above).map(|&number| AliasSlot {
                limit: u64::MAX,
                first: left[number].0,
                second: left[number].0,
            }));
        self.starts.push(self.slots.len());
    }

    #[inline]
    fn draw(&self, row: u32, random: &mut Pcg64Mcg) -> u32 {
        let slots = &self.slots[self.starts[row as usize]..self.starts[row as usize + 1]];
        // For a number below the count, the integer part selects the slot, and the fraction the position
        // within it.
        let drawn = u128::from(random.next_u64()) * slots.len() as u128;
        let slot = slots[(drawn >> 64) as usize];
        if (drawn as u64) < slot.limit {
            slot.first
        } else {
            slot.second
        }
    }
}

impl Move<Matching> for AliasTables {
    fn make(&self, matching: &mut Matching, control: &Control) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut row = self.rows[matching.random.random_range(0..self.rows.len())];
        let free = matching.columns[row as usize];
        matching.undo_log.clear();
        for step in 1..=self.max_steps {
            let column = self.draw(row, &mut matching.random);
            let loser = matching.rows[column as usize];
            matching.undo_log.push((row, matching.columns[row as usize]));
            matching.columns[row as usize] = column;
            matching.rows[column as usize] = row;
            if column == free || loser == NOBODY {
                if column != free {
                    matching.rows[free as usize] = NOBODY;
                }
                matching.steps += step;
                return Ok(());
            }
            row = loser;
            if step.is_multiple_of(STEPS_PER_CHECK) {
                control.check()?;
            }
        }
        matching.steps += matching.undo_log.len() as u64;
        // The last row that lost its column has not taken another one, so it is not in the undo log.
        matching.rows[matching.columns[row as usize] as usize] = row;
        while let Some((row, column)) = matching.undo_log.pop() {
            matching.columns[row as usize] = column;
            matching.rows[column as usize] = row;
        }
        Ok(())
    }

    fn pace(&self, matching: &mut Matching, control: &Control) -> Result<u64> {
        let rows = self.rows.len() as u64;
        let mut moves = 0;
        while moves < 64 || moves < 4 * rows && matching.steps < 4 * rows {
            self.make(matching, control)?;
            moves += 1;
        }
        Ok(rows * moves / matching.steps.max(1))
    }
}

/// Observer that counts the rows with their true column.
struct Cracks<'a> {
    truth: &'a Truth,
    /// Number of rows that can have their true column.
    crackable: usize,
}

impl<'a> Cracks<'a> {
    fn new(matrix: &Matrix, truth: &'a Truth) -> Self {
        let is_possible = |(row, column): (usize, &Option<u32>)| {
            column.is_some_and(|column| matrix.weight(row, column) > 0.0)
        };
        let possible = truth.columns().iter().enumerate().map(is_possible);
        Cracks {
            truth,
            crackable: possible.filter(|&is_possible| is_possible).count(),
        }
    }
}

impl Observe<Matching> for Cracks<'_> {
    fn figures(&self) -> usize {
        self.truth.columns().len()
    }

    fn observe(&self, matching: &Matching, tally: &mut [f64]) -> f64 {
        let mut cracks = 0.0;
        for ((&column, own), tally) in matching.columns.iter().zip(self.truth.columns()).zip(tally) {
            if *own == Some(column) {
                *tally += 1.0;
                cracks += 1.0;
            }
        }
        cracks
    }

    fn upper_bound(&self) -> f64 {
        self.crackable as f64
    }
}

/// Observer that counts matchings by their number of cracks: one figure for each number, and one for each
/// number or more.
struct CrackNumbers<'a> {
    cracks: Cracks<'a>,
    /// Largest number of cracks.
    most: usize,
}

impl Observe<Matching> for CrackNumbers<'_> {
    fn figures(&self) -> usize {
        2 * (self.most + 1)
    }

    fn observe(&self, matching: &Matching, tally: &mut [f64]) -> f64 {
        let own = matching.columns.iter().zip(self.cracks.truth.columns());
        let cracks = own.filter(|&(&column, own)| *own == Some(column)).count();
        let (exactly, at_least) = tally.split_at_mut(self.most + 1);
        exactly[cracks] += 1.0;
        at_least[..=cracks].iter_mut().for_each(|tally| *tally += 1.0);
        cracks as f64
    }

    fn upper_bound(&self) -> f64 {
        self.cracks.upper_bound()
    }
}

/// Row of a free column, or owner of a column that is not the true column of any row.
const NOBODY: u32 = u32::MAX;

/// Returns for every column the row whose true column it is.
fn owners(truth: &Truth) -> Vec<u32> {
    let mut owners = vec![NOBODY; truth.columns().len()];
    for (row, column) in (0..).zip(truth.columns()) {
        if let &Some(column) = column {
            owners[column as usize] = row;
        }
    }
    owners
}

/// Observer of one set: whether its rows have the true columns of the set, in any order.
struct OneSet {
    rows: Vec<u32>,
    /// For every column, whether it is a true column of the set.
    is_own: Vec<bool>,
    /// Whether the true columns of all rows in the set are known.
    is_known: bool,
}

impl OneSet {
    fn new(truth: &Truth, rows: &[u32]) -> Self {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        rows.dedup();
        let own: Option<Vec<u32>> = rows.iter().map(|&row| truth.columns()[row as usize]).collect();
        let mut is_own = vec![false; truth.columns().len()];
        for &column in own.iter().flatten() {
            is_own[column as usize] = true;
        }
        OneSet {
            rows,
            is_own,
            is_known: own.is_some(),
        }
    }
}

impl Observe<Matching> for OneSet {
    fn figures(&self) -> usize {
        0
    }

    fn observe(&self, matching: &Matching, _: &mut [f64]) -> f64 {
        let is_own = |&row: &u32| self.is_own[matching.columns[row as usize] as usize];
        f64::from(u8::from(self.is_known && self.rows.iter().all(is_own)))
    }

    fn upper_bound(&self) -> f64 {
        1.0
    }
}

/// Observer that counts the sets of a given size whose rows have the true columns of the set, in any order.
struct AllSets {
    owners: Vec<u32>,
    size: usize,
    upper_bound: f64,
}

impl AllSets {
    fn new(truth: &Truth, size: usize) -> Self {
        let known = truth.columns().iter().flatten().count();
        let factor = |chosen: usize| (known as f64 - chosen as f64) / (chosen + 1) as f64;
        AllSets {
            owners: owners(truth),
            size,
            upper_bound: (0..size).map(factor).product::<f64>().max(0.0),
        }
    }
}

impl Observe<Matching> for AllSets {
    fn figures(&self) -> usize {
        0
    }

    /// Consider the map from each row to the owner of the column that it has. A set is cracked if and only if
    /// it is a union of cycles of this map. So the number of cracked sets of size s is the coefficient of zˢ
    /// in the product of 1 + zˡ over all cycles, where l is the length of the cycle.
    fn observe(&self, matching: &Matching, _: &mut [f64]) -> f64 {
        let mut is_seen = vec![false; matching.columns.len()];
        let mut sets = vec![0.0; self.size + 1];
        sets[0] = 1.0;
        for first in 0..matching.columns.len() {
            let (mut row, mut length) = (first as u32, 0);
            while row != NOBODY && !is_seen[row as usize] {
                is_seen[row as usize] = true;
                row = self.owners[matching.columns[row as usize] as usize];
                length += 1;
            }
            // A path that ends at a column without an owner is not a cycle.
            if row == first as u32 && length > 0 {
                for size in (length..=self.size).rev() {
                    sets[size] += sets[size - length];
                }
            }
        }
        sets[self.size]
    }

    fn upper_bound(&self) -> f64 {
        self.upper_bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_that_are_undone_change_nothing() {
        let control = Control::new();
        // Three rows in a cycle, with chords of small weight: with a limit of 3 steps, many loops are undone.
        let weights = [0.5, 0.4, 0.1, 0.1, 0.5, 0.4, 0.4, 0.1, 0.5];
        let matrix = Matrix::dense(3, 3, &weights).unwrap();
        let mut tables = AliasTables::new(&matrix, &control).unwrap();
        tables.max_steps = 3;
        let mut seeds = Pcg64Mcg::seed_from_u64(1);
        let mut matching = Matching::new(vec![0, 1, 2], 3, &mut seeds);
        let mut counts = std::collections::BTreeMap::<Vec<u32>, u32>::new();
        let samples = 200_000;
        for _ in 0..samples {
            tables.make(&mut matching, &control).unwrap();
            for (row, &column) in (0..).zip(&matching.columns) {
                assert_eq!(matching.rows[column as usize], row);
            }
            *counts.entry(matching.columns.clone()).or_default() += 1;
        }
        let weight =
            |columns: &[u32]| -> f64 { (0..3).map(|row| matrix.weight(row, columns[row])).product() };
        let all: f64 = counts.keys().map(|columns| weight(columns)).sum();
        assert_eq!(counts.len(), 6);
        for (columns, &count) in &counts {
            let share = f64::from(count) / f64::from(samples);
            assert!(
                (share - weight(columns) / all).abs() < 0.01,
                "{columns:?}: {share}"
            );
        }
    }

    /// Matchings of a ring differ in how often they go around it. With 1000 rows and weights that differ by a
    /// factor of 100, chains that all began with the first candidate of each row agreed on 390 cracks. Chains
    /// with different starts did not.
    #[test]
    fn chains_begin_at_different_matchings() {
        let control = Control::new();
        let edges = (0..30).flat_map(|row| [0, 1, 7].map(|step| (row, (row + step) % 30, 1.0)));
        let ring = Matrix::sparse(30, 30, edges.collect()).unwrap();
        let mut seeds = Pcg64Mcg::seed_from_u64(1);
        let mut around = std::collections::BTreeSet::new();
        for _ in 0..STARTS {
            let matching = random_matching(&ring, &mut seeds, &control).unwrap();
            assert!((0..30).all(|row| ring.weight(row, matching[row]) > 0.0));
            let steps = (0..)
                .zip(&matching)
                .map(|(row, &column)| (column + 30 - row) % 30);
            around.insert(steps.sum::<u32>() / 30);
        }
        assert!(around.len() > 2, "{around:?}");
    }

    #[test]
    fn alias_tables_have_the_probabilities_of_rows() {
        let control = Control::new();
        let weights = [
            0.7, 0.0, 0.2, 0.1, 1.0, 1.0, 1.0, 1.0, 1e-9, 0.5, 0.25, 0.25, 0.0, 3.0, 0.0, 0.0,
        ];
        let matrix = Matrix::dense(4, 4, &weights).unwrap();
        let tables = AliasTables::new(&matrix, &control).unwrap();
        assert_eq!(tables.rows, [0, 1, 2]);
        for row in 0..4 {
            let mut probability = [0.0; 4];
            let slots = &tables.slots[tables.starts[row]..tables.starts[row + 1]];
            for slot in slots {
                let first = slot.limit as f64 / 2f64.powi(64);
                probability[slot.first as usize] += first / slots.len() as f64;
                probability[slot.second as usize] += (1.0 - first) / slots.len() as f64;
            }
            let all: f64 = matrix.row(row).map(|(_, weight)| weight).sum();
            for (column, probability) in (0..).zip(probability) {
                assert!((probability - matrix.weight(row, column) / all).abs() < 1e-15);
            }
        }
    }
}
