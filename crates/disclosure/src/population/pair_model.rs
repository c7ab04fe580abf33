//! Log-linear model with main effects and the interactions of each pair of columns.
//!
//! The model is fitted by iterative proportional fitting (Deming and Stephan 1940): the expected numbers are scaled until
//! each pair of values is as frequent as in the sample. Only combinations of which every pair of values occurs in the
//! sample have people at all, and only these are kept.

use super::fixed::exact_sum;
use super::log_linear::{Fit, Fitted, Terms};
use crate::classes::Classes;
use crate::{Control, Result};
use rayon::prelude::*;

/// Largest number of combinations that are kept.
const MAX_COMBINATIONS: usize = 1 << 20;

/// Largest number of pairs of values, those that do not occur included.
const MAX_PAIRS: usize = 1 << 22;

/// Largest number of changes of expected numbers: combinations times pairs of columns times rounds.
const MAX_CHANGES: usize = 2_000_000_000;

/// Largest relative difference of a frequency at which the iteration stops.
const FITTED: f64 = 1e-8;

/// Largest number of rounds, and the largest relative difference of a frequency that is accepted after them. Differences
/// shrink slowly if some means converge to 0 although all pairs of values occur.
const MAX_ROUNDS: usize = 400;
const ACCEPTED: f64 = 0.01;

/// Relative size of the residual at which a system of equations is solved, and the largest number of steps to it.
const SOLVED: f64 = 1e-7;
const MAX_STEPS: usize = 500;

/// Bits of sums as 64-bit integers, without the sign and one in reserve.
const BITS: i32 = 61;

/// Fewest combinations that several threads share.
const FEW: usize = 1 << 13;

/// Two columns, and where the frequencies of their pairs of values begin.
struct Pair {
    left: usize,
    right: usize,
    start: usize,
    /// Number of codes of each column.
    levels: (usize, usize),
}

impl Pair {
    /// Returns the position of a pair of values among those of these columns.
    #[inline]
    fn place(&self, codes: &[u32]) -> usize {
        codes[self.left] as usize * self.levels.1 + codes[self.right] as usize
    }

    fn end(&self) -> usize {
        self.start + self.levels.0 * self.levels.1
    }
}

/// The fitted model.
pub(super) struct PairModel {
    pairs: Vec<Pair>,
    /// Number of people with each pair of values.
    observed: Vec<u64>,
    people: f64,
    combinations: Classes,
    /// Expected number of people with each combination.
    all_means: Vec<f64>,
    /// Combination of each class of the sample, and its mean.
    of_class: Vec<usize>,
    means: Vec<f64>,
}

impl PairModel {
    /// Fits the model to classes with these sizes, or returns why it cannot.
    pub fn fit(
        classes: &Classes,
        sizes: &[u64],
        control: &Control,
    ) -> Result<std::result::Result<Self, Fit>> {
        let Some(pairs) = pairs_of(classes) else {
            return Ok(Err(Fit::TooManyCombinations));
        };
        let entries = pairs.last().map_or(0, Pair::end);
        control.require::<u64>(6 * entries)?;
        let mut observed = vec![0; entries];
        for (class, &size) in sizes.iter().enumerate() {
            for pair in &pairs {
                observed[pair.start + pair.place(classes.codes(class))] += size;
            }
        }
        let Some(combinations) = combinations(classes, &pairs, &observed, control)? else {
            return Ok(Err(Fit::TooManyCombinations));
        };
        let people = sizes.iter().sum::<u64>() as f64;
        let of_class = (0..classes.len()).filter_map(|class| combinations.find(classes.codes(class)));
        let mut model = PairModel {
            pairs,
            observed,
            people,
            of_class: of_class.map(|combination| combination as usize).collect(),
            all_means: vec![people / combinations.len() as f64; combinations.len()],
            combinations,
            means: Vec::new(),
        };
        if !model.iterate(control)? {
            return Ok(Err(Fit::NotConverged));
        }
        model.means = model
            .of_class
            .iter()
            .map(|&combination| model.all_means[combination])
            .collect();
        Ok(Ok(model))
    }

    /// Scales the means until all frequencies fit. Returns whether they do.
    fn iterate(&mut self, control: &Control) -> Result<bool> {
        let mut means = std::mem::take(&mut self.all_means);
        let rounds = MAX_CHANGES / (means.len().max(1) * self.pairs.len());
        let mut worst = f64::INFINITY;
        for _ in 0..rounds.clamp(1, MAX_ROUNDS) {
            worst = 0.0;
            for pair in &self.pairs {
                control.check()?;
                worst = worst.max(self.scale(pair, &mut means));
            }
            if worst <= FITTED || !worst.is_finite() {
                break;
            }
        }
        self.all_means = means;
        Ok(worst <= ACCEPTED)
    }

    /// Scales the means so that the pairs of values of two columns are as frequent as in the sample. Returns the largest
    /// relative difference before.
    fn scale(&self, pair: &Pair, means: &mut [f64]) -> f64 {
        let expected = self.frequencies(pair, self.people, |combination| means[combination]);
        let observed = &self.observed[pair.start..pair.end()];
        let (mut factors, mut worst) = (vec![0.0; observed.len()], 0.0_f64);
        for ((factor, &observed), expected) in factors.iter_mut().zip(observed).zip(expected) {
            if observed > 0 {
                *factor = observed as f64 / expected;
                worst = worst.max((*factor - 1.0).abs());
            }
        }
        let chunk = self.chunk();
        let chunks = means.par_chunks_mut(chunk).enumerate();
        chunks.for_each(|(number, means)| {
            for (mean, combination) in means.iter_mut().zip(number * chunk..) {
                *mean *= factors[pair.place(self.combinations.codes(combination))];
            }
        });
        worst
    }

    /// Returns the number of combinations that a thread works on at a time.
    fn chunk(&self) -> usize {
        match self.combinations.len() {
            few @ 0..=FEW => few.max(1),
            many => many.div_ceil(rayon::current_num_threads()),
        }
    }

    /// Adds up an amount of each combination by its pair of values in two columns. No sum of absolute amounts is greater
    /// than `bound`. Sums are in whole units, so that their order does not matter.
    fn frequencies(&self, pair: &Pair, bound: f64, amount: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
        let scale = 2_f64.powi(BITS - bound.max(f64::MIN_POSITIVE).log2().ceil() as i32 - 1);
        let (chunk, combinations) = (self.chunk(), self.combinations.len());
        let sums = (0..combinations.div_ceil(chunk)).into_par_iter().map(|number| {
            let mut sums = vec![0_i64; pair.levels.0 * pair.levels.1];
            for combination in number * chunk..((number + 1) * chunk).min(combinations) {
                let place = pair.place(self.combinations.codes(combination));
                sums[place] += (amount(combination) * scale) as i64;
            }
            sums
        });
        let sums = sums.reduce_with(|mut all, sums| {
            all.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
            all
        });
        sums.unwrap_or_default()
            .into_iter()
            .map(|sum| sum as f64 / scale)
            .collect()
    }

    /// Returns the information matrix of the model, in which each pair of values is a parameter, times a vector.
    fn information_times(&self, vector: &[f64]) -> Vec<f64> {
        let largest = vector
            .iter()
            .fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
        let bound = self.people * largest * self.pairs.len() as f64 * 1.01; // means are fitted to within less
        let chunk = self.chunk();
        let mut amounts = vec![0.0; self.combinations.len()];
        amounts
            .par_chunks_mut(chunk)
            .enumerate()
            .for_each(|(number, amounts)| {
                for (amount, combination) in amounts.iter_mut().zip(number * chunk..) {
                    let codes = self.combinations.codes(combination);
                    let entries = self
                        .pairs
                        .iter()
                        .map(|pair| vector[pair.start + pair.place(codes)]);
                    *amount = self.all_means[combination] * entries.sum::<f64>();
                }
            });
        let products = self
            .pairs
            .iter()
            .map(|pair| self.frequencies(pair, bound, |place| amounts[place]));
        products.flatten().collect()
    }
}

/// Returns the pairs of columns, unless they have too many values.
fn pairs_of(classes: &Classes) -> Option<Vec<Pair>> {
    let mut levels = vec![1_usize; classes.width()];
    for class in 0..classes.len() {
        for (levels, &code) in levels.iter_mut().zip(classes.codes(class)) {
            *levels = (*levels).max(code as usize + 1);
        }
    }
    let (mut pairs, mut start) = (Vec::new(), 0_usize);
    for right in 1..levels.len() {
        for left in 0..right {
            let pair = Pair {
                left,
                right,
                start,
                levels: (levels[left], levels[right]),
            };
            start = levels[left].checked_mul(levels[right])?.checked_add(start)?;
            pairs.push(pair);
        }
    }
    (start <= MAX_PAIRS).then_some(pairs)
}

/// Returns all combinations of values of which every pair occurs in the sample, unless there are too many.
fn combinations(
    classes: &Classes,
    pairs: &[Pair],
    observed: &[u64],
    control: &Control,
) -> Result<Option<Classes>> {
    let width = classes.width();
    let first_values = (0..classes.len()).map(|class| classes.codes(class)[0]);
    let mut begun: Vec<u32> = first_values.collect();
    begun.sort_unstable();
    begun.dedup();
    for column in 1..width {
        let with_earlier: Vec<&Pair> = pairs.iter().filter(|pair| pair.right == column).collect();
        let occurs = |pair: &Pair, left: u32, value: usize| {
            observed[pair.start + left as usize * pair.levels.1 + value] > 0
        };
        // Values of this column that occur with each value of the column before it.
        let before = with_earlier[column - 1];
        let followers: Vec<Vec<usize>> = (0..before.levels.0 as u32)
            .map(|left| {
                (0..before.levels.1)
                    .filter(|&value| occurs(before, left, value))
                    .collect()
            })
            .collect();
        let mut longer = Vec::new();
        let mut allowed = 1024;
        for (number, values) in begun.chunks(column).enumerate() {
            if number % 1024 == 0 {
                control.check()?;
            }
            for &value in &followers[values[column - 1] as usize] {
                if with_earlier
                    .iter()
                    .zip(values)
                    .all(|(pair, &left)| occurs(pair, left, value))
                {
                    longer.extend_from_slice(values);
                    longer.push(value as u32);
                }
            }
            if longer.len() > MAX_COMBINATIONS * (column + 1) {
                return Ok(None);
            }
            if longer.len() > allowed {
                allowed = 2 * longer.len();
                control.require::<u32>(allowed)?;
            }
        }
        begun = longer;
    }
    control.require::<u32>(begun.len() + 12 * (begun.len() / width))?; // codes, sizes, index and means
    let mut combinations = Classes::new(width);
    for values in begun.chunks(width) {
        combinations.insert(values, 1)?;
    }
    Ok(Some(combinations))
}

impl Fitted for PairModel {
    fn means(&self) -> &[f64] {
        &self.means
    }

    /// The variance is gᵀJ⁻¹g, with the information J and the derivatives g of the sum by the parameters. There are more
    /// parameters than needed, so that J has no inverse; but any solution of Jx = g gives the same gᵀx. It is found by
    /// conjugate gradients, scaled by the diagonal of J.
    fn variance(&self, amounts: &[f64], control: &Control) -> Result<Option<f64>> {
        let largest = amounts
            .iter()
            .fold(0.0_f64, |largest, amount| largest.max(amount.abs()));
        let mut of_combination = vec![0.0; self.combinations.len()];
        for (&combination, &amount) in self.of_class.iter().zip(amounts) {
            of_combination[combination] = amount;
        }
        let bound = largest * amounts.len() as f64;
        let gradients = self
            .pairs
            .iter()
            .map(|pair| self.frequencies(pair, bound, |place| of_combination[place]));
        let gradient: Vec<f64> = gradients.flatten().collect();
        let dot = |a: &[f64], b: &[f64]| exact_sum(a.iter().zip(b).map(|(a, b)| a * b));
        let scaled = |vector: &[f64]| -> Vec<f64> {
            let entries = vector.iter().zip(&self.observed);
            entries
                .map(|(entry, &count)| if count > 0 { entry / count as f64 } else { 0.0 })
                .collect()
        };
        let mut solution = vec![0.0; gradient.len()];
        let mut residual = gradient.clone();
        let mut direction = scaled(&residual);
        let mut size = dot(&residual, &direction);
        let enough = SOLVED * SOLVED * size;
        for _ in 0..MAX_STEPS {
            if size <= enough {
                return Ok(Some(dot(&gradient, &solution)));
            }
            control.check()?;
            let product = self.information_times(&direction);
            let step = size / dot(&direction, &product);
            for (entry, direction) in solution.iter_mut().zip(&direction) {
                *entry += step * direction;
            }
            for (entry, product) in residual.iter_mut().zip(&product) {
                *entry -= step * product;
            }
            let preconditioned = scaled(&residual);
            let new_size = dot(&residual, &preconditioned);
            let ratio = new_size / size;
            for (direction, entry) in direction.iter_mut().zip(&preconditioned) {
                *direction = entry + ratio * *direction;
            }
            size = new_size;
        }
        Ok(None)
    }

    fn sum_over_combinations(
        &self,
        term: &(dyn Fn(f64) -> Terms + Sync),
        control: &Control,
    ) -> Result<Option<Terms>> {
        let chunks = self.all_means.par_chunks(self.chunk().min(FEW));
        let sums = chunks.map(|means| {
            control.check()?;
            Ok(means.iter().map(|&mean| term(mean)).sum::<Terms>())
        });
        Ok(Some(sums.try_reduce(Terms::default, |a, b| Ok(a + b))?))
    }
}
