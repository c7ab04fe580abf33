//! How likely is it that an elimination is right? The thesis leaves that open (section 6.2). Here it is learnt from what
//! the release itself shows: items that are not generalised are generalised again, so that the truth about them is
//! known, and attacked in the same way. Whether such eliminations are right is then regressed on how far the cell stood
//! out; what share of those with such a score was right is the confidence in the real ones.

use super::elimination::mean;
use super::target::{items_of, nearest};
use super::{DistanceTable, Eliminations, Entry, Occurrence, Target, Transactions};
use crate::{Control, Result};
use ndarray::ArrayView1;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A generalised item that we made, of items whose transactions are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Twin {
    /// What is attacked.
    pub target: Target,
    /// Whether each cell is original, row by row.
    pub is_original: Vec<bool>,
}

impl AsRef<Target> for Twin {
    fn as_ref(&self) -> &Target {
        &self.target
    }
}

/// Items from among which the members of a twin are drawn, at least.
const CHOICE: usize = 50;

/// Cells of all twins together, at most, but for the last.
const MOST_CELLS: usize = 200_000;

impl Twin {
    /// Twins of the targets in turn, `count` of them or fewer where they are large. A twin has as many members, drawn by
    /// the seed from the items that occur about as often as its target's have to; its transactions are all that have
    /// one of them. There are none where too few items are as they are.
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
        // From fewer items, the same few cells would be learnt from again and again.
        if by_support.len() < CHOICE {
            return Ok(Vec::new());
        }
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let (mut twins, mut cells) = (Vec::new(), 0);
        let can_be_made = targets
            .iter()
            .filter(|target| target.members.len() <= by_support.len());
        for target in can_be_made.cycle().take(count) {
            control.check()?;
            if cells >= MOST_CELLS {
                break;
            }
            let columns = target.members.len();
            let support = target.rows.len().div_ceil(columns);
            let place = by_support.partition_point(|&item| postings[item as usize].len() < support);
            let choice = CHOICE.max(4 * columns).min(by_support.len());
            let start = place.saturating_sub(choice / 2).min(by_support.len() - choice);
            let mut members = by_support[start..start + choice].to_vec();
            for place in 0..columns {
                members.swap(place, random.random_range(place..choice));
            }
            members.truncate(columns);
            members.sort_unstable();
            let twin = Twin::of(transactions, &postings, members, context);
            cells += twin.is_original.len();
            twins.push(twin);
        }
        Ok(twins)
    }

    fn of(transactions: &Transactions, postings: &[Vec<u32>], members: Vec<u32>, context: usize) -> Self {
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
}

/// Numbers by which an elimination is judged, the first of which is always 1.
const FEATURES: usize = 6;
type Features = [f64; FEATURES];

/// How far the cells that were eliminated stood out, in the order of elimination: the cell's distance by the mean of the
/// table, of its row and of its column, how early it went, and how few members there are.
fn features(table: &DistanceTable, eliminations: &Eliminations) -> Vec<Features> {
    let (rows, columns) = (table.rows(), table.columns());
    let of_reliable =
        |distances: ArrayView1<f64>| mean(distances.into_iter().copied().filter(|&distance| distance >= 0.0));
    let of_row: Vec<f64> = table.view().rows().into_iter().map(of_reliable).collect();
    let of_column: Vec<f64> = table.view().columns().into_iter().map(of_reliable).collect();
    let of_all = mean(table.reliable().map(|(row, column)| table.distance(row, column)));
    // A ratio to a mean of 0, where the distance is 0 as well, says nothing.
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

/// What the confidence in eliminations is, by what was learnt from [twins](Twin).
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    model: Model,
    /// Predictions for eliminations in twins that had no part in what predicted them, and whether they were right.
    pub held_out: Vec<(f64, bool)>,
}

/// Fewer eliminations than these teach nothing.
const FEWEST: usize = 50;

/// Of how many parts of the twins each is held out once.
const FOLDS: usize = 5;

impl Calibration {
    /// Learn from attacks on twins; `None` where there was too little to learn from.
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
            let is_right = eliminations
                .cells
                .iter()
                .map(|cell| !twin.is_original[cell.row as usize * table.columns() + cell.column as usize]);
            folds[number % FOLDS].extend(features(table, eliminations).into_iter().zip(is_right));
        }
        let all = folds.concat();
        if all.len() < FEWEST {
            return Ok(None);
        }
        let mut held_out = Vec::with_capacity(all.len());
        for (number, fold) in folds.iter().enumerate() {
            control.check()?;
            let others = folds.iter().enumerate().filter(|(other, _)| *other != number);
            let others: Vec<Seen> = others.flat_map(|(_, fold)| fold).copied().collect();
            let model = Model::learn(&others);
            held_out.extend(
                fold.iter()
                    .map(|(features, is_right)| (model.confidence(features), *is_right)),
            );
        }
        let model = Model::learn(&all);
        Ok(Some(Calibration { model, held_out }))
    }

    /// How likely each elimination is right, in their order.
    pub fn confidence(&self, table: &DistanceTable, eliminations: &Eliminations) -> Vec<f64> {
        let features = features(table, eliminations);
        features
            .iter()
            .map(|features| self.model.confidence(features))
            .collect()
    }
}

/// An elimination, and whether it was right.
type Seen = (Features, bool);

/// How features become a confidence.
#[derive(Debug, Clone, PartialEq)]
struct Model {
    /// Their weights in the score.
    weights: Features,
    /// Mean scores of neighbours, ascending, and the share of them that was right, which never falls.
    steps: Vec<(f64, f64)>,
}

/// Neighbours whose share is looked at, at least.
const NEIGHBOURS: usize = 25;

/// Shares that are looked at, at most.
const MOST_STEPS: usize = 50;

impl Model {
    fn learn(seen: &[Seen]) -> Self {
        let weights = regress(seen);
        let mut scores: Vec<(f64, bool)> = seen
            .iter()
            .map(|(features, is_right)| (score(&weights, features), *is_right))
            .collect();
        scores.sort_by(|one, other| one.0.total_cmp(&other.0));
        let size = NEIGHBOURS.max(scores.len().div_ceil(MOST_STEPS));
        let blocks = scores.chunks(size).map(|part| Block {
            count: part.len() as f64,
            score: part.iter().map(|(score, _)| score).sum(),
            right: part.iter().filter(|(_, is_right)| *is_right).count() as f64,
        });
        // Isotonic regression by pooling neighbours that are the wrong way round (Ayer et al. 1955).
        let mut pooled: Vec<Block> = Vec::new();
        for mut block in blocks {
            while let Some(before) = pooled.pop_if(|before| before.share() >= block.share()) {
                block = block.with(before);
            }
            pooled.push(block);
        }
        let steps = pooled
            .iter()
            .map(|block| (block.score / block.count, block.share()));
        Model {
            weights,
            steps: steps.collect(),
        }
    }

    fn confidence(&self, features: &Features) -> f64 {
        let score = score(&self.weights, features);
        let place = self.steps.partition_point(|step| step.0 < score);
        let before = place.checked_sub(1).map(|before| self.steps[before]);
        match (before, self.steps.get(place)) {
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

/// Eliminations with neighbouring scores.
struct Block {
    count: f64,
    score: f64,
    right: f64,
}

impl Block {
    fn with(self, other: Block) -> Self {
        Block {
            count: self.count + other.count,
            score: self.score + other.score,
            right: self.right + other.right,
        }
    }

    /// By Laplace's rule, as none is sure because some were right.
    fn share(&self) -> f64 {
        (self.right + 1.0) / (self.count + 2.0)
    }
}

/// Eliminations of about the same confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bin {
    /// How many there are.
    pub eliminations: u64,
    /// Their mean confidence.
    pub predicted: f64,
    /// The share that is right.
    pub observed: f64,
}

/// Eliminations by confidence, in up to `bins` bins of the same size.
pub fn reliability(mut predictions: Vec<(f64, bool)>, bins: usize) -> Vec<Bin> {
    predictions.sort_by(|one, other| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal));
    let size = predictions.len().div_ceil(bins.max(1)).max(1);
    let bin = |part: &[(f64, bool)]| Bin {
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

/// How much a weight other than 0 costs: enough for a maximum to exist where all are right.
const RIDGE: f64 = 1.0;

/// Steps of Newton's method; ten are plenty as the likelihood is concave.
const STEPS: usize = 50;

/// Logistic regression: the weights under which what was seen is likeliest, by Newton's method.
fn regress(seen: &[Seen]) -> Features {
    let mut weights = [0.0; FEATURES];
    for _ in 0..STEPS {
        let mut gradient = weights.map(|weight| -RIDGE * weight);
        let mut curvature = [[0.0; FEATURES]; FEATURES];
        (0..FEATURES).for_each(|at| curvature[at][at] = RIDGE);
        for (features, is_right) in seen {
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
        // A full step may overshoot from afar.
        let scale = (4.0 / longest.max(4.0)).min(1.0);
        (0..FEATURES).for_each(|at| weights[at] += scale * step[at]);
        if longest < 1e-9 {
            break;
        }
    }
    weights
}

/// Solve a system of equations whose matrix is symmetric and positive, by elimination; no pivoting is needed then.
fn solve(mut matrix: [Features; FEATURES], mut right: Features) -> Features {
    for at in 0..FEATURES {
        for below in at + 1..FEATURES {
            let factor = matrix[below][at] / matrix[at][at];
            let above = matrix[at];
            matrix[below]
                .iter_mut()
                .zip(above)
                .for_each(|(cell, above)| *cell -= factor * above);
            right[below] -= factor * right[at];
        }
    }
    for at in (0..FEATURES).rev() {
        let known: f64 = (at + 1..FEATURES)
            .map(|column| matrix[at][column] * right[column])
            .sum();
        right[at] = (right[at] - known) / matrix[at][at];
    }
    right
}
