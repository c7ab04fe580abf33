//! Many independent chains, until their mean is known well enough.

use crate::{Control, Error, Result};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// A matching that changes at random.
pub(crate) trait State: Send {
    /// Whether there is nothing to match.
    fn is_empty(&self) -> bool;
}

/// How a state changes. A move leaves the distribution of the matchings in question as it is.
pub(crate) trait Move<S>: Sync {
    fn make(&self, state: &mut S, control: &Control) -> Result<()>;

    /// About how many moves change all of the state. It may make some to see.
    ///
    /// This has to be settled before the first sample: to move until enough has changed would favour
    /// matchings that long moves lead to.
    fn pace(&self, state: &mut S, control: &Control) -> Result<u64>;
}

/// What is measured on a sample.
pub(crate) trait Observe<S>: Sync {
    /// How many figures it tallies.
    fn figures(&self) -> usize;

    /// Add every figure to its tally; returns the quantity that has to be known well enough.
    fn observe(&self, state: &S, tally: &mut [f64]) -> f64;

    /// The quantity is never more than this.
    fn most(&self) -> f64;

    /// Whether every figure has to be known well, on average: their sum may be while they are not.
    fn every_figure(&self) -> bool {
        false
    }
}

/// How many moves are made before and between samples.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pace {
    /// As many as it takes to change all of the state; a share of the first samples is dropped.
    Measured,
    /// This many; every sample counts.
    Fixed { before: u64, between: u64 },
}

/// How exact an answer has to be, and what it may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// The reach of the 95 % confidence interval to either side, as a share of the estimate.
    pub relative_error: f64,
    /// Stop at about this number of samples, at the least a few hundred.
    pub max_samples: u64,
    /// Of the random numbers.
    pub seed: u64,
    /// Stop after this time.
    pub budget: Option<Duration>,
}

/// Independent chains. Enough for a confidence interval, and more than there are threads on most machines.
const CHAINS: u64 = 16;

impl Effort {
    /// Whether there is such a relative error at all.
    pub fn check(&self) -> Result<()> {
        if !(self.relative_error > 0.0 && self.relative_error.is_finite()) {
            return Err(Error::invalid(
                "relative_error",
                "must be positive",
                "a share of the estimate, e.g. 0.01",
            ));
        }
        Ok(())
    }

    /// Run chains for as long as it takes, each from its own start.
    pub fn run<S: State>(
        &self,
        moves: &dyn Move<S>,
        observed: &dyn Observe<S>,
        control: &Control,
        start: impl Fn(&mut Pcg64Mcg, usize) -> S,
    ) -> Result<Outcome> {
        self.check()?;
        // 8 to 15 samples in the first round, so that the last one ends near the maximum.
        let per_chain = (self.max_samples / CHAINS).max(32);
        let doublings = (per_chain / 8).ilog2();
        let course = Course {
            moves,
            observed,
            pace: Pace::Measured,
            first_round: per_chain >> doublings,
            rounds: doublings + 1,
            relative_error: self.relative_error,
            deadline: self.budget.and_then(|budget| Instant::now().checked_add(budget)),
        };
        let mut seeds = Pcg64Mcg::seed_from_u64(self.seed);
        let states = (0..CHAINS as usize).map(|chain| start(&mut seeds, chain));
        course.run(states.collect(), control)
    }
}

pub(crate) struct Course<'a, S> {
    pub moves: &'a dyn Move<S>,
    pub observed: &'a dyn Observe<S>,
    pub pace: Pace,
    /// Samples of each chain in its first round. The second is as long, each later one twice as long.
    pub first_round: u64,
    pub rounds: u32,
    pub relative_error: f64,
    pub deadline: Option<Instant>,
}

pub(crate) struct Outcome {
    pub mean: f64,
    pub lower: f64,
    pub upper: f64,
    pub samples: u64,
    pub effective_samples: f64,
    pub reached: bool,
    /// The mean of every figure.
    pub figures: Vec<f64>,
}

struct Chain<S> {
    state: S,
    between: u64,
    /// The last two rounds. Those before are dropped: they remember where the chain began.
    before: Round,
    now: Round,
}

#[derive(Default)]
struct Round {
    blocks: Vec<Block>,
    tally: Vec<f64>,
}

/// Successive samples.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    samples: u64,
    sum: f64,
    sum_of_squares: f64,
}

/// The clock takes as long as a move.
const MOVES_BETWEEN_LOOKS: u64 = 16;

/// Of every round. Their means show a trend, or samples that depend on each other.
const BLOCKS: u64 = 4;

/// Fewer effective samples per chain do not show that the chain has forgotten where it began.
const LEAST_EFFECTIVE: f64 = 20.0;

impl<S: State> Course<'_, S> {
    pub fn run(&self, states: Vec<S>, control: &Control) -> Result<Outcome> {
        let new_chain = |state| Chain {
            state,
            between: 0,
            before: Round::default(),
            now: Round::default(),
        };
        let mut chains: Vec<Chain<S>> = states.into_iter().map(new_chain).collect();
        control.set_total(chains.len() as u64 * (self.first_round << self.rounds.saturating_sub(1)));
        chains
            .par_iter_mut()
            .try_for_each(|chain| chain.warm_up(self, control))?;
        let mut round = 0;
        loop {
            let samples = self.first_round << round.max(1) >> 1;
            chains
                .par_iter_mut()
                .try_for_each(|chain| chain.sample(self, samples, control))?;
            round += 1;
            let outcome = self.outcome(&chains, round);
            if outcome.reached || round >= self.rounds || self.is_late() {
                return Ok(outcome);
            }
        }
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn outcome(&self, chains: &[Chain<S>], rounds: u32) -> Outcome {
        let total = chains
            .iter()
            .flat_map(Chain::blocks)
            .fold(Block::default(), Block::and);
        let mean = total.mean();
        let error = standard_error(chains, mean, total.samples);
        // Samples that differ by rounding only do not differ.
        let variance = (total.sum_of_squares / total.samples as f64 - mean * mean).max(0.0);
        let is_constant = variance <= 1e-12 * mean * mean;
        let effective_samples = match is_constant {
            true => total.samples as f64,
            false => (variance / (error * error)).min(total.samples as f64),
        };
        let half_width = match is_constant {
            _ if chains.len() < 2 => f64::INFINITY,
            // What was never seen may still be: not more often than this, at 95 %.
            true if mean == 0.0 => self.observed.most() * (3.0 / total.samples as f64).min(1.0),
            true => 0.0,
            false => student(chains.len()) * error,
        };
        // A chain that still remembers where it began is off by more than the spread shows: until the start
        // was dropped and forgotten, anything is possible.
        let is_warm = matches!(self.pace, Pace::Fixed { .. })
            || rounds > 2 && effective_samples >= LEAST_EFFECTIVE * chains.len() as f64;
        let (lower, upper) = match is_warm && half_width.is_finite() {
            true => (
                (mean - half_width).max(0.0),
                (mean + half_width).min(self.observed.most()),
            ),
            false => (0.0, self.observed.most()),
        };
        let mut figures = vec![0.0; self.observed.figures()];
        for round in chains.iter().flat_map(|chain| [&chain.before, &chain.now]) {
            for (figure, tally) in figures.iter_mut().zip(&round.tally) {
                *figure += tally / total.samples as f64;
            }
        }
        Outcome {
            mean,
            lower,
            upper,
            samples: total.samples,
            effective_samples,
            reached: is_warm
                && half_width <= self.relative_error * mean
                && (!self.observed.every_figure() || self.figures_are_known(chains, &figures)),
            figures,
        }
    }
}

impl<S: State> Course<'_, S> {
    /// Whether half the widths of the confidence intervals add up to little enough.
    fn figures_are_known(&self, chains: &[Chain<S>], figures: &[f64]) -> bool {
        let count = chains.len() as f64;
        let mut squares = vec![0.0; figures.len()];
        for chain in chains {
            let samples = chain.blocks().map(|block| block.samples).sum::<u64>() as f64;
            let tallies = chain.before.tally.iter().zip(&chain.now.tally);
            for ((square, mean), (before, now)) in squares.iter_mut().zip(figures).zip(tallies) {
                *square += ((before + now) / samples - mean).powi(2);
            }
        }
        let errors = squares
            .iter()
            .map(|square| (square / (count * (count - 1.0))).sqrt());
        let half_widths = student(chains.len()) * errors.sum::<f64>();
        half_widths <= self.relative_error * figures.iter().sum::<f64>()
    }
}

/// Of the mean of all samples. Chains are independent, so the spread of their means tells. Should all of
/// them drift the same way, it would not: then the spread of a chain's blocks does, and the larger counts.
fn standard_error<S: State>(chains: &[Chain<S>], mean: f64, samples: u64) -> f64 {
    let count = chains.len() as f64;
    let of_chains: Vec<Block> = chains
        .iter()
        .map(|chain| chain.blocks().fold(Block::default(), Block::and))
        .collect();
    let spread = of_chains
        .iter()
        .map(|chain| (chain.mean() - mean).powi(2))
        .sum::<f64>();
    let between = spread / (count * (count - 1.0));
    let mut within = 0.0;
    for (chain, of_chain) in chains.iter().zip(&of_chains) {
        let blocks: Vec<Block> = chain.blocks().filter(|block| block.samples > 0).collect();
        let weighted = |block: &Block| {
            let share = block.samples as f64 / samples as f64;
            (share * (block.mean() - of_chain.mean())).powi(2)
        };
        if blocks.len() > 1 {
            let spread = blocks.iter().map(weighted).sum::<f64>();
            within += spread * blocks.len() as f64 / (blocks.len() as f64 - 1.0);
        }
    }
    between.max(within).sqrt()
}

/// How many standard errors a 95 % confidence interval reaches to either side, by the spread of this many
/// means: a quantile of Student's distribution. Cornish and Fisher's expansion, which is short by 0.7 % for
/// four means and by less for more; for two and three the closed form.
fn student(means: usize) -> f64 {
    const NORMAL: f64 = 1.959_963_985;
    let freedom = match means {
        0 | 1 => return f64::INFINITY,
        2 => return 12.706_205,
        3 => return 4.302_653,
        more => more as f64 - 1.0,
    };
    let power = |exponent| NORMAL.powi(exponent);
    let terms = [
        power(1),
        (power(3) + power(1)) / 4.0,
        (5.0 * power(5) + 16.0 * power(3) + 3.0 * power(1)) / 96.0,
        (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * power(1)) / 384.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| sum / freedom + term)
}

impl<S: State> Chain<S> {
    fn warm_up(&mut self, course: &Course<S>, control: &Control) -> Result<()> {
        match course.pace {
            Pace::Fixed { before, between } => {
                self.between = between;
                self.advance(course, before, control)
            }
            Pace::Measured if self.state.is_empty() => Ok(()),
            Pace::Measured => {
                self.between = course.moves.pace(&mut self.state, control)?.max(1);
                Ok(())
            }
        }
    }

    fn advance(&mut self, course: &Course<S>, count: u64, control: &Control) -> Result<()> {
        // Where there is nothing to match, there is nothing to move.
        let count = if self.state.is_empty() { 0 } else { count };
        for number in 0..count {
            if number % MOVES_BETWEEN_LOOKS == 0 && course.is_late() {
                return Ok(());
            }
            course.moves.make(&mut self.state, control)?;
            control.check()?;
        }
        Ok(())
    }

    fn sample(&mut self, course: &Course<S>, samples: u64, control: &Control) -> Result<()> {
        self.before = std::mem::take(&mut self.now);
        self.now.tally = vec![0.0; course.observed.figures()];
        for block in 0..BLOCKS {
            let mut so_far = Block::default();
            for _ in samples * block / BLOCKS..samples * (block + 1) / BLOCKS {
                // A first sample there must be, however late.
                let has_sample = so_far.samples > 0 || self.blocks().any(|block| block.samples > 0);
                if has_sample && course.is_late() {
                    break;
                }
                self.advance(course, self.between, control)?;
                let value = course.observed.observe(&self.state, &mut self.now.tally);
                so_far.add(value);
                control.advance(1);
            }
            self.now.blocks.push(so_far);
        }
        Ok(())
    }

    fn blocks(&self) -> impl Iterator<Item = Block> + '_ {
        self.before.blocks.iter().chain(&self.now.blocks).copied()
    }
}

impl Block {
    fn add(&mut self, value: f64) {
        self.samples += 1;
        self.sum += value;
        self.sum_of_squares += value * value;
    }

    fn and(self, other: Block) -> Block {
        Block {
            samples: self.samples + other.samples,
            sum: self.sum + other.sum,
            sum_of_squares: self.sum_of_squares + other.sum_of_squares,
        }
    }

    fn mean(&self) -> f64 {
        self.sum / self.samples as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (means, quantile) in [
            (4, 3.1824),
            (8, 2.3646),
            (16, 2.1314),
            (20, 2.0930),
            (1000, 1.9623),
        ] {
            assert!(
                (student(means) / quantile - 1.0).abs() < 0.008,
                "{means}: {}",
                student(means)
            );
        }
    }
}
