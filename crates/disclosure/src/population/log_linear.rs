//! Risk of sample uniques by log-linear models of the numbers of people with each combination of values.
//!
//! The number F of people of the population with a combination of values has a Poisson distribution with mean λ, and each
//! is in the sample with probability π (Skinner and Holmes 1998; Skinner and Shlomo 2008). So the number f in the sample
//! has mean μ = πλ, and what is not in the sample, F − f, has mean (1 − π)λ. The model says how μ depends on the values.

use super::Estimate;
use super::fixed::{Unit, exact_sum};
use super::independence::Independence;
use super::pair_model::PairModel;
use crate::classes::Classes;
use crate::{Control, Result};

/// Which values of different columns depend on each other in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interactions {
    /// None: main effects only.
    None,
    /// Those of each pair of columns.
    Pairs,
}

/// Result of [`log_linear`].
#[derive(Debug, Clone, PartialEq)]
pub enum Fit {
    /// The model was fitted.
    Fitted(LogLinear),
    /// More combinations of values are possible than the model has room for.
    TooManyCombinations,
    /// The iteration did not converge.
    NotConverged,
}

/// Risk of sample uniques by a log-linear model.
#[derive(Debug, Clone, PartialEq)]
pub struct LogLinear {
    /// Number of sample uniques.
    pub sample_uniques: u64,
    /// Expected number of sample uniques that are unique in the population: Σ e^(−(1−π)λ).
    pub unique: f64,
    /// Standard error of this prediction: see [`log_linear`].
    pub unique_error: Option<f64>,
    /// Expected number of correct matches if each sample unique is matched with one of its F people of the population:
    /// Σ (1 − e^(−(1−π)λ))/((1−π)λ).
    pub matches: f64,
    /// Test of the model for `unique`; `None` if there are too many combinations for it.
    pub unique_bias: Option<Bias>,
    /// Test of the model for `matches`.
    pub matches_bias: Option<Bias>,
    /// `unique` as sdcMicro computes it (`modRisk`, gr1): per combination in the sample, and with μ in place of λ.
    pub sdcmicro_gr1: f64,
    /// `matches` as sdcMicro computes it (gr2).
    pub sdcmicro_gr2: f64,
}

/// Estimated bias of a risk measure that comes from too simple or too rich a model (Skinner and Shlomo 2008, section 4).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bias {
    /// Estimated bias, B̂: positive if the model is too simple, so that risk is probably overestimated.
    pub estimate: f64,
    /// Standard error of the estimate if the model is right.
    pub standard_error: f64,
}

impl Bias {
    /// Returns the bias in standard errors; `None` if there is no variance.
    pub fn standardised(&self) -> Option<f64> {
        (self.standard_error > 0.0).then(|| self.estimate / self.standard_error)
    }
}

impl LogLinear {
    /// Estimates the number of people who are unique in the population: `unique`, extrapolated from the sample. The
    /// variance is that of `unique`, extrapolated, plus that of sampling the uniques of the population.
    pub fn population_uniques(&self, fraction: f64) -> Estimate {
        let uniques = self.unique / fraction;
        let of_sampling = uniques * (1.0 - fraction) / fraction;
        let standard_error = self
            .unique_error
            .map(|error| ((error / fraction).powi(2) + of_sampling).sqrt());
        Estimate {
            uniques,
            standard_error,
        }
    }
}

/// A model that was fitted to classes.
pub(super) trait Fitted {
    /// Returns the expected number of people in each class of the sample.
    fn means(&self) -> &[f64];

    /// Returns the variance of the sum of `amounts` times the logarithms of these means, which comes from estimating the
    /// parameters. `None` if it is not found.
    fn variance(&self, amounts: &[f64], control: &Control) -> Result<Option<f64>>;

    /// Adds up `term` of the means of all possible combinations, whether they are in the sample or not. `None` if there
    /// are too many of them.
    fn sum_over_combinations(
        &self,
        term: &(dyn Fn(f64) -> Terms + Sync),
        control: &Control,
    ) -> Result<Option<Terms>>;
}

/// Fits a log-linear model to classes with these sizes, and estimates the risk of sample uniques. The share `fraction` of
/// the population is in the sample.
///
/// The standard error is that of the difference between the estimate of `unique` and the true number: the variance of the
/// number of population uniques given the sample, Σ h(1 − h) with h = e^(−(1−π)λ) (Rinott and Shlomo 2007), plus the
/// variance of the estimated parameters by the delta method, with the inverse information of the Poisson model.
pub fn log_linear(
    classes: &Classes,
    sizes: &[u64],
    fraction: f64,
    interactions: Interactions,
    control: &Control,
) -> Result<Fit> {
    super::check_fraction(fraction)?;
    if interactions == Interactions::Pairs && classes.width() > 1 {
        return match PairModel::fit(classes, sizes, control)? {
            Ok(model) => Ok(Fit::Fitted(measures(&model, sizes, fraction, control)?)),
            Err(reason) => Ok(reason),
        };
    }
    let model = Independence::fit(classes, sizes);
    Ok(Fit::Fitted(measures(&model, sizes, fraction, control)?))
}

fn measures(model: &impl Fitted, sizes: &[u64], fraction: f64, control: &Control) -> Result<LogLinear> {
    let unsampled = (1.0 - fraction) / fraction; // (1 - π)λ is this times μ
    let uniques = || {
        sizes
            .iter()
            .zip(model.means())
            .filter(|&(&size, _)| size == 1)
            .map(|(_, &mean)| mean)
    };
    let unique = |mean: f64| (-unsampled * mean).exp();
    let amounts: Vec<f64> = sizes
        .iter()
        .zip(model.means())
        .map(|(&size, &mean)| {
            if size == 1 {
                -unsampled * mean * unique(mean)
            } else {
                0.0
            }
        })
        .collect();
    let of_parameters = model.variance(&amounts, control)?;
    let of_population = exact_sum(uniques().map(|mean| unique(mean) * (1.0 - unique(mean))));
    let classes = sizes.len() as f64;
    let as_sdcmicro = |measure: fn(f64) -> f64| {
        let sum = exact_sum(uniques().map(|mean| measure((1.0 - fraction) * mean)));
        if classes > 0.0 { sum / classes } else { 0.0 }
    };
    let bias = biases(model, sizes, fraction, control)?;
    Ok(LogLinear {
        sample_uniques: sizes.iter().filter(|&&size| size == 1).count() as u64,
        unique: exact_sum(uniques().map(unique)),
        unique_error: of_parameters.map(|variance| (variance.max(0.0) + of_population).sqrt()),
        matches: exact_sum(uniques().map(|mean| expected_reciprocal(unsampled * mean))),
        unique_bias: bias.map(|(unique, _)| unique),
        matches_bias: bias.map(|(_, matches)| matches),
        sdcmicro_gr1: as_sdcmicro(|v| (-v).exp()),
        sdcmicro_gr2: as_sdcmicro(expected_reciprocal),
    })
}

/// Returns the expectation of 1/(1 + V) for V with a Poisson distribution of mean `v`.
fn expected_reciprocal(v: f64) -> f64 {
    if v == 0.0 { 1.0 } else { -(-v).exp_m1() / v }
}

/// Sums over combinations, in whole units so that their order does not matter: bias and its variance, of both measures.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Terms([i128; 4]);

/// Unit of [`Terms`].
const UNIT_EXPONENT: i32 = -56;

impl Terms {
    fn new(values: [f64; 4]) -> Self {
        let unit = Unit::of_exponent(UNIT_EXPONENT);
        Terms(values.map(|value| unit.count(value)))
    }

    fn values(self) -> [f64; 4] {
        self.0.map(|units| Unit::of_exponent(UNIT_EXPONENT).value(units))
    }
}

impl std::ops::Add for Terms {
    type Output = Terms;

    fn add(mut self, other: Terms) -> Terms {
        self += other;
        self
    }
}

impl std::ops::AddAssign for Terms {
    fn add_assign(&mut self, other: Terms) {
        for (sum, term) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(term);
        }
    }
}

impl std::ops::Sub for Terms {
    type Output = Terms;

    fn sub(mut self, other: Terms) -> Terms {
        for (sum, term) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_sub(term);
        }
        self
    }
}

impl std::iter::Sum for Terms {
    fn sum<I: Iterator<Item = Terms>>(terms: I) -> Terms {
        terms.fold(Terms::default(), |sum, term| sum + term)
    }
}

/// Returns the estimated biases of both measures.
fn biases(
    model: &impl Fitted,
    sizes: &[u64],
    fraction: f64,
    control: &Control,
) -> Result<Option<(Bias, Bias)>> {
    let empty = |mean: f64| bias_terms(0.0, mean, fraction);
    let Some(mut sum) = model.sum_over_combinations(&empty, control)? else {
        return Ok(None);
    };
    for (&size, &mean) in sizes.iter().zip(model.means()) {
        sum += bias_terms(size as f64, mean, fraction) - empty(mean);
    }
    let [unique, unique_variance, matches, matches_variance] = sum.values();
    let bias = |estimate, variance: f64| Bias {
        estimate,
        standard_error: variance.max(0.0).sqrt(),
    };
    Ok(Some((
        bias(unique, unique_variance),
        bias(matches, matches_variance),
    )))
}

/// Returns what a combination with f people in the sample, where the model expects μ, adds to the biases and their
/// variances.
///
/// A measure is a sum of h(λ) over sample uniques. Its bias is approximately Σ πλe^(−πλ) (h′(λ)δ + h″(λ)δ²/2) with the
/// error δ of λ. As πλ − μ is estimated by f − μ, and its square by (f − μ)² − f, the estimate is
/// Σ μe^(−μ) (−h′(f − μ)/π + h″((f − μ)² − f)/(2π²)). If the model is right, f − μ and (f − μ)² − f are uncorrelated and
/// have the variances μ and 2μ².
fn bias_terms(f: f64, mean: f64, fraction: f64) -> Terms {
    let v = mean * (1.0 - fraction) / fraction;
    let rate = (1.0 - fraction) / fraction; // derivatives by λ/π are those by v, times this
    let weight = mean * (-mean).exp();
    let error = f - mean;
    let square = error * error - f;
    let of = |first: f64, second: f64| {
        let (first, second) = (first * rate, second * rate * rate);
        let bias = weight * (-first * error + 0.5 * second * square);
        let variance = (weight * weight) * (first * first * mean + 0.5 * (second * mean).powi(2));
        [bias, variance]
    };
    let unique = (-v).exp();
    let ([a, b], [c, d]) = (of(-unique, unique), {
        let (first, second) = reciprocal_derivatives(v);
        of(first, second)
    });
    Terms::new([a, b, c, d])
}

/// Returns the first and second derivative of (1 − e^(−v))/v.
fn reciprocal_derivatives(v: f64) -> (f64, f64) {
    if v < 0.05 {
        // Taylor series: the sum of (-v)^i/(i + 1)!
        let first =
            -0.5 + v * (1.0 / 3.0 - v * (1.0 / 8.0 - v * (1.0 / 30.0 - v * (1.0 / 144.0 - v / 840.0))));
        let second = 1.0 / 3.0 - v * (0.25 - v * (0.1 - v * (1.0 / 36.0 - v * (1.0 / 168.0 - v / 960.0))));
        return (first, second);
    }
    let rest = (-v).exp();
    let first = (rest * (1.0 + v) - 1.0) / (v * v);
    let second = (2.0 - rest * (v * v + 2.0 * v + 2.0)) / (v * v * v);
    (first, second)
}
