//! Confidence intervals that hold for rare events, too.

use super::{Simulation, simulate};
use crate::cracks::CrackSpace;
use crate::mcmc::{CHAINS, Outcome, student_quantile};
use crate::{Control, Result};
use std::time::{Duration, Instant};

/// An estimate of a quantity that is never negative, with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::cracks) struct Estimate {
    pub value: f64,
    pub lower: f64,
    pub upper: f64,
    /// Whether the target precision was reached.
    pub is_precise_enough: bool,
}

/// -ln 0.05: an event that is in none of n independent samples has at 95 % confidence at most a probability of
/// this divided by n.
const RULE_OF_THREE: f64 = 2.995_732_273_553_991;

impl Estimate {
    /// Returns a value that is known exactly.
    pub fn exact(value: f64) -> Self {
        Estimate {
            value,
            lower: value,
            upper: value,
            is_precise_enough: true,
        }
    }

    /// Returns the estimate of a quantity that is at most `bound`. A symmetric interval would be too short at
    /// one end if the mean rests on few events. So the interval is that of a Poisson distribution (Garwood
    /// 1936) whose number of events has the same relative error. If the quantity is nearly always at its bound,
    /// the events are the exceptions. `effective_samples` is only used if all samples were equal. Then an event
    /// that would have changed the quantity may have been missed.
    pub(super) fn of_outcome(outcome: &Outcome, bound: f64, effective_samples: f64) -> Self {
        let (value, error) = (outcome.mean, outcome.standard_error);
        let (lower, upper) = if !error.is_finite() {
            (0.0, bound)
        } else if error == 0.0 {
            let missed = (RULE_OF_THREE / effective_samples.max(1.0)).min(1.0);
            (value * (1.0 - missed), value + (bound - value) * missed)
        } else {
            let events = (value / error).powi(2);
            let of_rest = ((bound - value) / error).powi(2);
            match events <= of_rest {
                true => (value * least_factor(events), value * largest_factor(events)),
                false => (
                    bound - (bound - value) * largest_factor(of_rest),
                    bound - (bound - value) * least_factor(of_rest),
                ),
            }
        };
        Estimate {
            value,
            lower: lower.clamp(0.0, value),
            upper: upper.min(bound).max(value),
            is_precise_enough: outcome.is_precise_enough,
        }
    }

    /// Returns the estimate of a product of independent estimates. The distances of the ends on a logarithmic
    /// scale add up in squares (Zou and Donner 2008).
    pub fn times(self, other: Self) -> Self {
        let value = self.value * other.value;
        let is_precise_enough = self.is_precise_enough && other.is_precise_enough;
        if value == 0.0 {
            return Estimate {
                value,
                lower: 0.0,
                upper: self.upper * other.upper,
                is_precise_enough,
            };
        }
        let away = |end: fn(&Self) -> f64| {
            let logs = [self, other].map(|factor| (end(&factor) / factor.value).ln());
            logs[0].hypot(logs[1])
        };
        Estimate {
            value,
            lower: value * (-away(|factor| factor.lower)).exp(),
            upper: value * away(|factor| factor.upper).exp(),
            is_precise_enough,
        }
    }

    /// Returns the estimate of a sum of independent estimates, in the same way without logarithms.
    pub fn plus(self, other: Self) -> Self {
        let value = self.value + other.value;
        Estimate {
            value,
            lower: value - (self.value - self.lower).hypot(other.value - other.lower),
            upper: value + (self.upper - self.value).hypot(other.upper - other.value),
            is_precise_enough: self.is_precise_enough && other.is_precise_enough,
        }
    }

    /// Returns this estimate times a number that is known exactly.
    pub fn scaled(self, factor: f64) -> Self {
        Estimate {
            value: self.value * factor,
            lower: self.lower * factor,
            upper: self.upper * factor,
            ..self
        }
    }

    /// Returns this estimate of a quantity that is at most `bound`.
    pub fn at_most(self, bound: f64) -> Self {
        Estimate {
            value: self.value.min(bound),
            lower: self.lower.min(bound),
            upper: self.upper.min(bound),
            ..self
        }
    }
}

/// Returns the factor from a number of events to the upper end of its confidence interval, by Wilson and
/// Hilferty's approximation of the χ² distribution. The quantile is Student's, because the number of events
/// follows from the spread of the chains.
fn largest_factor(events: f64) -> f64 {
    let more = events + 1.0;
    let quantile = student_quantile(CHAINS as usize);
    let root = 1.0 - 1.0 / (9.0 * more) + quantile / (3.0 * more.sqrt());
    more / events * root.powi(3)
}

/// Returns the factor from a number of events to the lower end of its confidence interval.
fn least_factor(events: f64) -> f64 {
    let quantile = student_quantile(CHAINS as usize);
    let root = 1.0 - 1.0 / (9.0 * events) - quantile / (3.0 * events.sqrt());
    root.max(0.0).powi(3)
}

/// Returns the number of independent samples in a simulation with this outcome. Samples that are all equal do not
/// show how fast the chains move, so another quantity has to: the cracks in as many samples.
pub(super) fn effective_samples(
    space: &CrackSpace,
    simulation: &Simulation,
    outcome: &Outcome,
    deadline: Option<Instant>,
    control: &Control,
) -> Result<f64> {
    if outcome.standard_error != 0.0 {
        return Ok(outcome.effective_samples);
    }
    let budget = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    if budget == Some(Duration::ZERO) {
        return Ok(1.0);
    }
    let of_cracks = Simulation {
        relative_error: f64::MIN_POSITIVE,
        max_samples: outcome.samples,
        budget,
        ..simulation.clone()
    };
    let simulated = simulate(space, &of_cracks, control)?;
    Ok(simulated.map_or(1.0, |simulated| simulated.effective_samples))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(mean: f64, standard_error: f64) -> Outcome {
        Outcome {
            mean,
            lower: 0.0,
            upper: 1.0,
            samples: 1_000_000,
            effective_samples: 1_000_000.0,
            is_warm: true,
            standard_error,
            is_precise_enough: false,
            figures: Vec::new(),
            figure_half_widths: Vec::new(),
        }
    }

    /// With one, four and a hundred events: at least as wide as the exact intervals of a Poisson distribution,
    /// 0.0253 to 5.572, 1.090 to 10.24 and 81.36 to 121.6.
    #[test]
    fn few_events_give_the_interval_of_a_poisson_distribution() {
        for (events, lower, upper) in [(1.0f64, 0.0253, 5.572), (4.0, 1.09, 10.24), (100.0, 81.36, 121.6)] {
            let few = outcome(events * 1e-6, events.sqrt() * 1e-6);
            let estimate = Estimate::of_outcome(&few, 1.0, 1e6);
            assert!(
                estimate.lower <= lower * 1e-6 && estimate.lower > 0.4 * (lower - 0.03) * 1e-6,
                "{estimate:?}"
            );
            assert!(
                estimate.upper >= upper * 1e-6 && estimate.upper < 1.2 * upper * 1e-6,
                "{estimate:?}"
            );
        }
    }

    #[test]
    fn what_was_never_seen_may_still_happen() {
        let never = Estimate::of_outcome(&outcome(0.0, 0.0), 1.0, 1000.0);
        assert_eq!((never.value, never.lower), (0.0, 0.0));
        assert!((never.upper - 0.002_995_7).abs() < 1e-6);
        let always = Estimate::of_outcome(&outcome(1.0, 0.0), 1.0, 1000.0);
        assert_eq!((always.value, always.upper), (1.0, 1.0));
        assert!((always.lower - (1.0 - 0.002_995_7)).abs() < 1e-6);
        let cold = Estimate::of_outcome(&outcome(0.5, f64::INFINITY), 1.0, 1.0);
        assert_eq!((cold.lower, cold.upper), (0.0, 1.0));
    }

    /// Failures may be the rare events as well.
    #[test]
    fn both_ends_of_the_range_are_alike() {
        let rare = Estimate::of_outcome(&outcome(0.001, 0.0005), 1.0, 1.0);
        let usual = Estimate::of_outcome(&outcome(0.999, 0.0005), 1.0, 1.0);
        assert!(
            (rare.upper - (1.0 - usual.lower)).abs() < 1e-12,
            "{rare:?} {usual:?}"
        );
        assert!(
            (rare.lower - (1.0 - usual.upper)).abs() < 1e-12,
            "{rare:?} {usual:?}"
        );
    }

    #[test]
    fn products_and_sums_are_less_uncertain_than_their_parts_together() {
        let part = Estimate {
            value: 0.1,
            lower: 0.08,
            upper: 0.125,
            is_precise_enough: true,
        };
        let product = part.times(part);
        assert!((product.value - 0.01).abs() < 1e-15);
        assert!((product.upper / product.value - 1.25f64.powf(2f64.sqrt())).abs() < 1e-12);
        assert!((product.value / product.lower - 1.25f64.powf(2f64.sqrt())).abs() < 1e-12);
        let sum = part.plus(part);
        assert!((sum.lower - (0.2 - 0.02 * 2f64.sqrt())).abs() < 1e-12);
        assert!((sum.upper - (0.2 + 0.025 * 2f64.sqrt())).abs() < 1e-12);
        let nothing = part.times(Estimate::of_outcome(&outcome(0.0, 0.0), 1.0, 100.0));
        assert_eq!((nothing.value, nothing.lower), (0.0, 0.0));
        assert!((nothing.upper - 0.125 * 0.029_957_3).abs() < 1e-6);
        assert_eq!(part.times(Estimate::exact(1.0)), part.times(Estimate::exact(1.0)));
        assert_eq!(part.scaled(20.0).at_most(1.0).upper, 1.0);
    }
}
