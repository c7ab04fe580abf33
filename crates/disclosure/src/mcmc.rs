//! Estimates by Markov chain Monte Carlo: independent chains are sampled until the mean of a quantity is
//! known precisely enough.
//!
//! Chains run in rounds. From the second round on, each round is as long as all rounds before it together.
//! Only the last two rounds count, so that from the third round on a quarter of the samples is dropped, those
//! nearest to the start. The standard error comes from the spread between chains or within them, whichever is
//! larger.

use crate::{Control, Error, Result};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// State of a chain: a matching that changes at random.
pub(crate) trait State: Send {
    /// Returns whether there is nothing to match.
    fn is_empty(&self) -> bool;
}

/// A random change of a state that leaves the distribution of the matchings in question invariant.
pub(crate) trait Move<S>: Sync {
    fn make(&self, state: &mut S, control: &Control) -> Result<()>;

    /// Returns the estimated number of moves that change all of the state. It may make some moves to find
    /// out.
    ///
    /// The number has to be fixed before the first sample: moving until enough has changed would favour
    /// matchings that long moves lead to.
    fn pace(&self, state: &mut S, control: &Control) -> Result<u64>;
}

/// Measurement of a sample.
pub(crate) trait Observe<S>: Sync {
    /// Returns the number of figures that are tallied.
    fn figures(&self) -> usize;

    /// Adds every figure to its tally, and returns the quantity that has to be known precisely enough.
    fn observe(&self, state: &S, tally: &mut [f64]) -> f64;

    /// Returns an upper bound of the quantity.
    fn upper_bound(&self) -> f64;

    /// Returns whether the figures have to be known precisely, on average: their sum may be although they are
    /// not.
    fn needs_every_figure(&self) -> bool {
        false
    }
}

/// Number of moves before and between samples.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pace {
    /// As many moves as change all of the state; the first samples are dropped.
    Measured,
    /// Fixed numbers of moves; every sample counts.
    Fixed { before: u64, between: u64 },
}

/// Precision of an estimate, and its limits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SamplingLimits {
    /// Half-width of the 95 % confidence interval, as a share of the estimate.
    pub relative_error: f64,
    /// Approximate limit on the number of samples; a limit below a few hundred has no effect.
    pub max_samples: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Limit on the elapsed time.
    pub budget: Option<Duration>,
}

/// Number of independent chains: enough for a confidence interval, and more than most machines have threads.
pub(crate) const CHAINS: u64 = 16;

impl SamplingLimits {
    /// Checks that the relative error is positive and finite.
    pub fn check(&self) -> Result<()> {
        if !(self.relative_error > 0.0 && self.relative_error.is_finite()) {
            return Err(Error::invalid(
                "relative_error",
                "must be positive and finite",
                "a share of the estimate, e.g. 0.01",
            ));
        }
        Ok(())
    }

    /// Runs chains until the estimate is precise enough or a limit is reached. `start` returns the initial
    /// state of a chain, given its number.
    pub fn run<S: State>(
        &self,
        moves: &dyn Move<S>,
        observed: &dyn Observe<S>,
        control: &Control,
        start: impl Fn(&mut Pcg64Mcg, usize) -> S,
    ) -> Result<Outcome> {
        self.check()?;
        // Begin with 8 to 15 samples, so that the last round ends near the limit.
        let per_chain = (self.max_samples / CHAINS).max(32);
        let doublings = (per_chain / 8).ilog2();
        let sampler = Sampler {
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
        sampler.run(states.collect(), control)
    }
}

/// Run of several chains: what moves and what is measured, the length of rounds, and when to stop.
pub(crate) struct Sampler<'a, S> {
    pub moves: &'a dyn Move<S>,
    pub observed: &'a dyn Observe<S>,
    pub pace: Pace,
    /// Number of samples of each chain in the first round. The second round is as long; each later one is
    /// twice as long as the one before.
    pub first_round: u64,
    pub rounds: u32,
    pub relative_error: f64,
    pub deadline: Option<Instant>,
}

/// Estimate of a run, with its confidence interval.
pub(crate) struct Outcome {
    pub mean: f64,
    pub lower: f64,
    pub upper: f64,
    pub samples: u64,
    /// Number of independent samples that would give the same standard error.
    pub effective_samples: f64,
    /// Whether the chains have forgotten where they began; otherwise the interval contains everything.
    pub is_warm: bool,
    /// Standard error of the mean: 0 if all samples were equal, infinite if the chains may still remember
    /// where they began.
    pub standard_error: f64,
    /// Whether the estimate is as precise as required.
    pub is_precise_enough: bool,
    /// Mean of every figure.
    pub figures: Vec<f64>,
    /// Half-width of every figure's own 95 % confidence interval, from the spread between chains.
    pub figure_half_widths: Vec<f64>,
}

struct Chain<S> {
    state: S,
    between: u64,
    /// The round before the last. Earlier rounds are dropped, because they remember where the chain began.
    before: Round,
    now: Round,
}

#[derive(Default)]
struct Round {
    batches: Vec<Batch>,
    tally: Vec<f64>,
}

/// Sums over successive samples.
#[derive(Debug, Clone, Copy, Default)]
struct Batch {
    samples: u64,
    sum: f64,
    sum_of_squares: f64,
}

/// Number of moves between two checks of the clock, because a check takes as long as a move.
const MOVES_PER_CLOCK_CHECK: u64 = 16;

/// Number of batches in every round. Their means reveal a trend, or samples that depend on each other.
const BATCHES_PER_ROUND: u64 = 4;

/// Least number of effective samples per chain. Fewer do not show that the chain has forgotten where it
/// began.
const MIN_EFFECTIVE_SAMPLES: f64 = 20.0;

impl<S: State> Sampler<'_, S> {
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
            if outcome.is_precise_enough || round >= self.rounds || self.is_past_deadline() {
                return Ok(outcome);
            }
        }
    }

    fn is_past_deadline(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn outcome(&self, chains: &[Chain<S>], rounds: u32) -> Outcome {
        let total = chains
            .iter()
            .flat_map(Chain::batches)
            .fold(Batch::default(), Batch::merge);
        let mean = total.mean();
        let error = standard_error(chains, mean, total.samples);
        // Samples that differ only by rounding count as equal.
        let variance = (total.sum_of_squares / total.samples as f64 - mean * mean).max(0.0);
        let is_constant = variance <= 1e-12 * mean * mean;
        let effective_samples = match is_constant {
            true => total.samples as f64,
            false => (variance / (error * error)).min(total.samples as f64),
        };
        let half_width = match is_constant {
            _ if chains.len() < 2 => f64::INFINITY,
            // An event that was never observed is still possible, but at 95 % confidence not more often than
            // this.
            true if mean == 0.0 => self.observed.upper_bound() * (3.0 / total.samples as f64).min(1.0),
            true => 0.0,
            false => student_quantile(chains.len()) * error,
        };
        // The error of a chain that still remembers where it began is larger than its spread shows. Until the
        // start is dropped and forgotten, the interval contains everything.
        let is_warm = matches!(self.pace, Pace::Fixed { .. })
            || rounds > 2 && effective_samples >= MIN_EFFECTIVE_SAMPLES * chains.len() as f64;
        let (lower, upper) = match is_warm && half_width.is_finite() {
            true => (
                (mean - half_width).max(0.0),
                (mean + half_width).min(self.observed.upper_bound()),
            ),
            false => (0.0, self.observed.upper_bound()),
        };
        let mut figures = vec![0.0; self.observed.figures()];
        for round in chains.iter().flat_map(|chain| [&chain.before, &chain.now]) {
            for (figure, tally) in figures.iter_mut().zip(&round.tally) {
                *figure += tally / total.samples as f64;
            }
        }
        let figure_half_widths = figure_half_widths(chains, &figures);
        let figures_are_known =
            figure_half_widths.iter().sum::<f64>() <= self.relative_error * figures.iter().sum::<f64>();
        Outcome {
            mean,
            lower,
            upper,
            samples: total.samples,
            effective_samples,
            is_warm,
            standard_error: match (is_warm && chains.len() > 1, is_constant) {
                (false, _) => f64::INFINITY,
                (true, true) => 0.0,
                (true, false) => error,
            },
            is_precise_enough: is_warm
                && half_width <= self.relative_error * mean
                && (!self.observed.needs_every_figure() || figures_are_known),
            figures,
            figure_half_widths,
        }
    }
}

/// Returns the half-width of every figure's 95 % confidence interval, from the spread between chains. Before
/// the second round, it is not known, and 0 is returned.
fn figure_half_widths<S>(chains: &[Chain<S>], figures: &[f64]) -> Vec<f64> {
    let count = chains.len() as f64;
    let mut squares = vec![0.0; figures.len()];
    for chain in chains {
        let samples = chain.batches().map(|batch| batch.samples).sum::<u64>() as f64;
        let tallies = chain.before.tally.iter().zip(&chain.now.tally);
        for ((square, mean), (before, now)) in squares.iter_mut().zip(figures).zip(tallies) {
            *square += ((before + now) / samples - mean).powi(2);
        }
    }
    let quantile = student_quantile(chains.len());
    let half_width = |square: f64| quantile * (square / (count * (count - 1.0))).sqrt();
    squares.into_iter().map(half_width).collect()
}

/// Returns the standard error of the mean of all samples. Chains are independent, so it follows from the
/// spread of their means. If all chains drift in the same way, that is too small, but the spread of a chain's
/// batches is not. The larger of the two counts.
fn standard_error<S: State>(chains: &[Chain<S>], mean: f64, samples: u64) -> f64 {
    let count = chains.len() as f64;
    let of_chains: Vec<Batch> = chains
        .iter()
        .map(|chain| chain.batches().fold(Batch::default(), Batch::merge))
        .collect();
    let spread = of_chains
        .iter()
        .map(|chain| (chain.mean() - mean).powi(2))
        .sum::<f64>();
    let between = spread / (count * (count - 1.0));
    let mut within = 0.0;
    for (chain, of_chain) in chains.iter().zip(&of_chains) {
        let batches: Vec<Batch> = chain.batches().filter(|batch| batch.samples > 0).collect();
        let weighted = |batch: &Batch| {
            let share = batch.samples as f64 / samples as f64;
            (share * (batch.mean() - of_chain.mean())).powi(2)
        };
        if batches.len() > 1 {
            let spread = batches.iter().map(weighted).sum::<f64>();
            within += spread * batches.len() as f64 / (batches.len() as f64 - 1.0);
        }
    }
    between.max(within).sqrt()
}

/// Returns the half-width of a 95 % confidence interval in standard errors, if these come from the spread of
/// this many means: a quantile of Student's distribution. It is computed by Cornish and Fisher's expansion,
/// which is too small by 0.7 % for four means and by less for more; for two and three means it is the closed
/// form.
pub(crate) fn student_quantile(means: usize) -> f64 {
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

impl<S> Chain<S> {
    fn batches(&self) -> impl Iterator<Item = Batch> + '_ {
        self.before.batches.iter().chain(&self.now.batches).copied()
    }
}

impl<S: State> Chain<S> {
    fn warm_up(&mut self, sampler: &Sampler<S>, control: &Control) -> Result<()> {
        match sampler.pace {
            Pace::Fixed { before, between } => {
                self.between = between;
                self.advance(sampler, before, control)
            }
            Pace::Measured if self.state.is_empty() => Ok(()),
            Pace::Measured => {
                self.between = sampler.moves.pace(&mut self.state, control)?.max(1);
                Ok(())
            }
        }
    }

    fn advance(&mut self, sampler: &Sampler<S>, count: u64, control: &Control) -> Result<()> {
        // If there is nothing to match, there is nothing to move.
        let count = if self.state.is_empty() { 0 } else { count };
        for number in 0..count {
            if number % MOVES_PER_CLOCK_CHECK == 0 && sampler.is_past_deadline() {
                return Ok(());
            }
            sampler.moves.make(&mut self.state, control)?;
            control.check()?;
        }
        Ok(())
    }

    fn sample(&mut self, sampler: &Sampler<S>, samples: u64, control: &Control) -> Result<()> {
        self.before = std::mem::take(&mut self.now);
        self.now.tally = vec![0.0; sampler.observed.figures()];
        for batch in 0..BATCHES_PER_ROUND {
            let mut so_far = Batch::default();
            for _ in samples * batch / BATCHES_PER_ROUND..samples * (batch + 1) / BATCHES_PER_ROUND {
                // Draw at least one sample, even after the deadline.
                let has_sample = so_far.samples > 0 || self.batches().any(|batch| batch.samples > 0);
                if has_sample && sampler.is_past_deadline() {
                    break;
                }
                self.advance(sampler, self.between, control)?;
                let value = sampler.observed.observe(&self.state, &mut self.now.tally);
                so_far.add(value);
                control.advance(1);
            }
            self.now.batches.push(so_far);
        }
        Ok(())
    }
}

impl Batch {
    fn add(&mut self, value: f64) {
        self.samples += 1;
        self.sum += value;
        self.sum_of_squares += value * value;
    }

    fn merge(self, other: Batch) -> Batch {
        Batch {
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
                (student_quantile(means) / quantile - 1.0).abs() < 0.008,
                "{means}: {}",
                student_quantile(means)
            );
        }
    }
}
