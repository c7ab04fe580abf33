//! Confidence in eliminations: how likely is an elimination right? Ong 2015 leaves that open (section 6.2).
//! Here, it is learnt from the released transactions themselves. Items that are not generalised are
//! generalised again into *twins*, so that the truth about them is known, and the twins are attacked in the
//! same way. A logistic regression gives each elimination a score from how far its cell stood out. An
//! isotonic regression then maps the score to a confidence: the share of eliminations in twins with such a
//! score that were right.

use super::elimination::mean;
use super::target::{items_of, nearest};
use super::{DistanceTable, Elimination, Eliminations, Entry, Occurrence, Quality, Target, Transactions};
use crate::{Control, Result};
use ndarray::ArrayView1;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A generalised item made of items that are not generalised in the release, so that its original cells are
/// known.
#[derive(Debug, Clone, PartialEq)]
pub struct Twin {
    /// The generalised item and its contexts, which are attacked like a real target.
    pub target: Target,
    /// Whether each cell is original, row by row.
    pub is_original: Vec<bool>,
}

impl AsRef<Target> for Twin {
    fn as_ref(&self) -> &Target {
        &self.target
    }
}

/// Minimum number of candidates from which the members of a twin are drawn.
const MIN_CANDIDATES: usize = 50;

/// Maximum number of cells of all twins together. The last twin may exceed it.
const MAX_CELLS: usize = 200_000;

impl Twin {
    /// Draws up to `count` twins, taking the targets in turn; fewer if twins are large. A twin has as many
    /// members as its target. They are drawn by `seed` from the items whose support is close to the least
    /// that the members of the target can have on average. The rows of a twin are all transactions that
    /// contain one of its members. Returns no twins if too few items occur that are not generalised.
    pub fn draw(
        transactions: &Transactions,
        targets: &[Target],
        context: usize,
        count: usize,
        seed: u64,
        control: &Control,
    ) -> Result<Vec<Self>> {
        let postings = transactions.postings(control)?;
        let mut by_support: Vec<u32> = (0..postings.len() as u32).collect();
        by_support.retain(|&item| !postings[item as usize].is_empty());
        by_support.sort_by_key(|&item| (postings[item as usize].len(), item));
        // With fewer items, twins would repeat the same few cells.
        if by_support.len() < MIN_CANDIDATES {
            return Ok(Vec::new());
        }
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let (mut twins, mut cells) = (Vec::new(), 0);
        let feasible = targets
            .iter()
            .filter(|target| target.members.len() <= by_support.len());
        for target in feasible.cycle().take(count) {
            control.check()?;
            if cells >= MAX_CELLS {
                break;
            }
            let columns = target.members.len();
            let support = target.rows.len().div_ceil(columns);
            let place = by_support.partition_point(|&item| postings[item as usize].len() < support);
            let candidates = MIN_CANDIDATES.max(4 * columns).min(by_support.len());
            let start = place
                .saturating_sub(candidates / 2)
                .min(by_support.len() - candidates);
            let mut members = by_support[start..start + candidates].to_vec();
            for place in 0..columns {
                members.swap(place, random.random_range(place..candidates));
            }
            members.truncate(columns);
            members.sort_unstable();
            let twin = Twin::from_members(transactions, &postings, members, context);
            cells += twin.is_original.len();
            twins.push(twin);
        }
        Ok(twins)
    }

    fn from_members(
        transactions: &Transactions,
        postings: &[Vec<u32>],
        members: Vec<u32>,
        context: usize,
    ) -> Self {
        let mut numbers: Vec<u32> = members
            .iter()
            .flat_map(|&item| &postings[item as usize])
            .copied()
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        let is_member = |item: u32| members.binary_search(&item).is_ok();
        let mut is_original = Vec::with_capacity(numbers.len() * members.len());
        let rows = numbers.into_iter().map(|transaction| {
            let entries = transactions.entries(transaction as usize);
            let has = |member: &u32| entries.contains(&Entry::Item(*member));
            is_original.extend(members.iter().map(has));
            let place = entries
                .iter()
                .position(|entry| entry.item().is_some_and(is_member));
            let others = items_of(entries, |item| !is_member(item));
            Occurrence {
                transaction,
                context: nearest(&others, place.unwrap_or(0), context),
            }
        });
        let rows = rows.collect();
        Twin {
            target: Target { members, rows },
            is_original,
        }
    }

    /// Returns whether an eliminated cell is cover.
    fn is_right(&self, cell: &Elimination) -> bool {
        !self.is_original[cell.row as usize * self.target.members.len() + cell.column as usize]
    }

    /// Measures an attack on the twin.
    pub(super) fn quality(&self, eliminated: &[Elimination]) -> Quality {
        Quality {
            cells: self.is_original.len() as u64,
            cover: self
                .is_original
                .iter()
                .filter(|is_original| !**is_original)
                .count() as u64,
            eliminations: eliminated.len() as u64,
            correct: eliminated.iter().filter(|cell| self.is_right(cell)).count() as u64,
        }
    }
}

/// Number of features of an elimination. The first feature is always 1, for the intercept.
const FEATURES: usize = 6;
type Features = [f64; FEATURES];

/// Returns the features of each eliminated cell, in the order of elimination: 1, its distance relative to the
/// means of the table, of its row and of its column, its step as a share of all cells, and the reciprocal of
/// the number of members.
fn features(table: &DistanceTable, eliminations: &Eliminations) -> Vec<Features> {
    let (rows, columns) = (table.rows(), table.columns());
    let of_reliable =
        |distances: ArrayView1<f64>| mean(distances.into_iter().copied().filter(|&distance| distance >= 0.0));
    let of_row: Vec<f64> = table.view().rows().into_iter().map(of_reliable).collect();
    let of_column: Vec<f64> = table.view().columns().into_iter().map(of_reliable).collect();
    let of_all = mean(table.reliable().map(|(row, column)| table.distance(row, column)));
    // If the mean is 0, the distance is 0 as well, and the ratio says nothing.
    let ratio = |distance: f64, mean: f64| if mean > 0.0 { distance / mean } else { 1.0 };
    let cells = eliminations.cells.iter().enumerate();
    let features = cells.map(|(step, cell)| {
        let (row, column) = (cell.row as usize, cell.column as usize);
        let distance = table.distance(row, column);
        [
            1.0,
            ratio(distance, of_all),
            ratio(distance, of_row[row]),
            ratio(distance, of_column[column]),
            step as f64 / (rows * columns) as f64,
            1.0 / columns as f64,
        ]
    });
    features.collect()
}

/// Model of the confidence in eliminations, learnt from attacks on [twins](Twin).
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    model: Model,
    /// Predicted confidence of each elimination in the twins, from a model learnt without that twin, and
    /// whether the elimination was right.
    pub held_out: Vec<(f64, bool)>,
}

/// Minimum number of eliminations to learn from.
const MIN_ELIMINATIONS: usize = 50;

/// Number of folds of the cross-validation. Each fold of the twins is held out once.
const FOLDS: usize = 5;

impl Calibration {
    /// Learns from attacks on twins. Returns `None` if there are too few eliminations to learn from.
    pub fn learn(
        twins: &[Twin],
        tables: &[DistanceTable],
        eliminations: &[Eliminations],
        control: &Control,
    ) -> Result<Option<Self>> {
        let mut folds = vec![Vec::new(); FOLDS];
        for (number, ((twin, table), eliminations)) in twins.iter().zip(tables).zip(eliminations).enumerate()
        {
            control.check()?;
            let is_right = eliminations.cells.iter().map(|cell| twin.is_right(cell));
            folds[number % FOLDS].extend(features(table, eliminations).into_iter().zip(is_right));
        }
        let all = folds.concat();
        if all.len() < MIN_ELIMINATIONS {
            return Ok(None);
        }
        let mut held_out = Vec::with_capacity(all.len());
        for (number, fold) in folds.iter().enumerate() {
            control.check()?;
            let others = folds.iter().enumerate().filter(|(other, _)| *other != number);
            let others: Vec<Example> = others.flat_map(|(_, fold)| fold).copied().collect();
            let model = Model::learn(&others);
            held_out.extend(
                fold.iter()
                    .map(|(features, is_right)| (model.confidence(features), *is_right)),
            );
        }
        let model = Model::learn(&all);
        Ok(Some(Calibration { model, held_out }))
    }

    /// Returns the probability that each elimination is right, in the order of elimination.
    pub fn confidence(&self, table: &DistanceTable, eliminations: &Eliminations) -> Vec<f64> {
        let features = features(table, eliminations);
        features
            .iter()
            .map(|features| self.model.confidence(features))
            .collect()
    }
}

/// Features of an elimination, and whether it was right.
type Example = (Features, bool);

/// Mapping from features to a confidence, which is interpolated linearly between blocks.
#[derive(Debug, Clone, PartialEq)]
struct Model {
    /// Weights of the features in the score.
    weights: Features,
    /// Mean score of each block of eliminations, ascending, and the share of them that was right, which never
    /// decreases.
    blocks: Vec<(f64, f64)>,
}

/// Minimum number of eliminations in a block, except the last one.
const MIN_BLOCK: usize = 25;

/// Maximum number of blocks before they are pooled.
const MAX_BLOCKS: usize = 50;

impl Model {
    fn learn(examples: &[Example]) -> Self {
        let weights = fit_logistic_regression(examples);
        let mut scores: Vec<(f64, bool)> = examples
            .iter()
            .map(|(features, is_right)| (score(&weights, features), *is_right))
            .collect();
        scores.sort_by(|one, other| one.0.total_cmp(&other.0));
        let size = MIN_BLOCK.max(scores.len().div_ceil(MAX_BLOCKS));
        let blocks = scores.chunks(size).map(|part| Block {
            count: part.len() as f64,
            score_sum: part.iter().map(|(score, _)| score).sum(),
            right_count: part.iter().filter(|(_, is_right)| *is_right).count() as f64,
        });
        // Isotonic regression: adjacent blocks whose shares are in the wrong order are pooled (Ayer et al.
        // 1955).
        let mut pooled: Vec<Block> = Vec::new();
        for mut block in blocks {
            while let Some(before) = pooled.pop_if(|before| before.share() >= block.share()) {
                block = block.merge(before);
            }
            pooled.push(block);
        }
        let blocks = pooled
            .iter()
            .map(|block| (block.score_sum / block.count, block.share()));
        Model {
            weights,
            blocks: blocks.collect(),
        }
    }

    fn confidence(&self, features: &Features) -> f64 {
        let score = score(&self.weights, features);
        let place = self.blocks.partition_point(|step| step.0 < score);
        let before = place.checked_sub(1).map(|before| self.blocks[before]);
        match (before, self.blocks.get(place)) {
            (Some(before), Some(after)) => {
                let way = (score - before.0) / (after.0 - before.0);
                before.1 + way * (after.1 - before.1)
            }
            (Some(only), None) => only.1,
            (None, Some(only)) => only.1,
            (None, None) => 0.5,
        }
    }
}

/// A run of eliminations with neighbouring scores.
struct Block {
    count: f64,
    score_sum: f64,
    right_count: f64,
}

impl Block {
    fn merge(self, other: Block) -> Self {
        Block {
            count: self.count + other.count,
            score_sum: self.score_sum + other.score_sum,
            right_count: self.right_count + other.right_count,
        }
    }

    /// Returns the share that was right by Laplace's rule of succession: even if all were right, the next
    /// need not be.
    fn share(&self) -> f64 {
        (self.right_count + 1.0) / (self.count + 2.0)
    }
}

/// A bin of eliminations of similar confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ReliabilityBin {
    /// Number of eliminations.
    pub eliminations: u64,
    /// Mean confidence.
    pub predicted: f64,
    /// Share of the eliminations that is right.
    pub observed: f64,
}

/// Sorts eliminations by confidence and divides them into up to `bins` bins of the same size; the last may be
/// smaller.
pub fn reliability_bins(mut predictions: Vec<(f64, bool)>, bins: usize) -> Vec<ReliabilityBin> {
    predictions.sort_by(|one, other| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal));
    let size = predictions.len().div_ceil(bins.max(1)).max(1);
    let bin = |part: &[(f64, bool)]| ReliabilityBin {
        eliminations: part.len() as u64,
        predicted: part.iter().map(|(predicted, _)| predicted).sum::<f64>() / part.len() as f64,
        observed: part.iter().filter(|(_, is_right)| *is_right).count() as f64 / part.len() as f64,
    };
    predictions.chunks(size).map(bin).collect()
}

fn score(weights: &Features, features: &Features) -> f64 {
    weights
        .iter()
        .zip(features)
        .map(|(weight, feature)| weight * feature)
        .sum()
}

/// Strength of the ridge penalty on the weights. Without it, the likelihood has no maximum if all
/// eliminations are right.
const RIDGE: f64 = 1.0;

/// Maximum number of steps of Newton's method. Ten are plenty because the likelihood is concave.
const MAX_NEWTON_STEPS: usize = 50;

/// Fits a logistic regression by Newton's method and returns the weights of greatest penalised likelihood.
fn fit_logistic_regression(examples: &[Example]) -> Features {
    let mut weights = [0.0; FEATURES];
    for _ in 0..MAX_NEWTON_STEPS {
        let mut gradient = weights.map(|weight| -RIDGE * weight);
        let mut curvature = [[0.0; FEATURES]; FEATURES];
        (0..FEATURES).for_each(|at| curvature[at][at] = RIDGE);
        for (features, is_right) in examples {
            let predicted = 1.0 / (1.0 + (-score(&weights, features)).exp());
            let spread = predicted * (1.0 - predicted);
            for at in 0..FEATURES {
                gradient[at] += (f64::from(*is_right) - predicted) * features[at];
                for other in 0..FEATURES {
                    curvature[at][other] += spread * features[at] * features[other];
                }
            }
        }
        let step = solve(curvature, gradient);
        let longest = step
            .iter()
            .fold(0.0, |longest: f64, part| longest.max(part.abs()));
        // Far from the maximum, a full step may overshoot.
        let scale = (4.0 / longest.max(4.0)).min(1.0);
        (0..FEATURES).for_each(|at| weights[at] += scale * step[at]);
        if longest < 1e-9 {
            break;
        }
    }
    weights
}

/// Solves a system of linear equations by Gaussian elimination. No pivoting is needed because the matrix is
/// symmetric and positive definite.
fn solve(mut matrix: [Features; FEATURES], mut right_side: Features) -> Features {
    for at in 0..FEATURES {
        for below in at + 1..FEATURES {
            let factor = matrix[below][at] / matrix[at][at];
            let above = matrix[at];
            matrix[below]
                .iter_mut()
                .zip(above)
                .for_each(|(cell, above)| *cell -= factor * above);
            right_side[below] -= factor * right_side[at];
        }
    }
    for at in (0..FEATURES).rev() {
        let known: f64 = (at + 1..FEATURES)
            .map(|column| matrix[at][column] * right_side[column])
            .sum();
        right_side[at] = (right_side[at] - known) / matrix[at][at];
    }
    right_side
}
