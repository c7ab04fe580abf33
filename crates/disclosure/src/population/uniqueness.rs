//! Uniqueness in a population, estimated from the sizes of classes in a sample: all models, and which of them applies.

use super::{ClassSizes, Equations, NegativeBinomial, Pitman, zayatz};
use crate::{Control, Error, Result};

/// Largest sampling fraction at which Dankar's rule prefers Pitman's model.
const SMALL_FRACTION: f64 = 0.1;

/// Smallest sampling fraction that is accepted.
const SMALLEST_FRACTION: f64 = 1e-12;

/// Estimated number of classes that have one member in the population.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Estimate {
    /// Estimated number.
    pub uniques: f64,
    /// Standard error of the estimate if the model is right; `None` if it cannot be computed.
    pub standard_error: Option<f64>,
}

impl Estimate {
    /// Returns a number that is known.
    pub(super) fn exact(uniques: f64) -> Self {
        Estimate {
            uniques,
            standard_error: Some(0.0),
        }
    }
}

/// Model of the sizes of classes in a population.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// Pitman's: see [`Pitman`].
    Pitman,
    /// Zayatz': see [`zayatz()`].
    Zayatz,
    /// The slide negative binomial model: see [`NegativeBinomial`].
    NegativeBinomial,
}

/// Estimates of the number of classes that have one member in the population. An estimate is `None` if its model does
/// not converge.
#[derive(Debug, Clone, PartialEq)]
pub struct Uniqueness {
    /// Number of rows or people in the population.
    pub population: f64,
    /// By Pitman's model, for a large population, as ARX computes it.
    pub pitman: Option<Estimate>,
    /// By Pitman's model, for a population of this size.
    pub pitman_expected: Option<Estimate>,
    /// By Zayatz' model.
    pub zayatz: Option<Estimate>,
    /// By the slide negative binomial model, with the published equations.
    pub negative_binomial: Option<Estimate>,
    /// By the slide negative binomial model, with the equations of ARX.
    pub negative_binomial_arx: Option<Estimate>,
}

impl Uniqueness {
    /// Estimates uniqueness in a population of which the share `fraction` is in the sample. If the sample is the whole
    /// population, all estimates are the number of uniques in it.
    pub fn new(sample: &ClassSizes, fraction: f64, control: &Control) -> Result<Self> {
        check_fraction(fraction)?;
        let units = sample.units() as f64;
        let population = (units / fraction).round();
        let known = match (sample.of_size(1), population == units) {
            (0, _) => Some(Estimate::exact(0.0)),
            (uniques, true) => Some(Estimate::exact(uniques as f64)),
            _ => None,
        };
        if known.is_some() {
            return Ok(Uniqueness {
                population,
                pitman: known,
                pitman_expected: known,
                zayatz: known,
                negative_binomial: known,
                negative_binomial_arx: known,
            });
        }
        let fraction = units / population;
        let pitman = Pitman::fit(sample, control)?;
        let negative_binomial =
            |equations| NegativeBinomial::fit(sample, fraction, equations).map(|model| model.uniques);
        Ok(Uniqueness {
            population,
            pitman: pitman.and_then(|pitman| pitman.uniques(population)),
            pitman_expected: pitman.and_then(|pitman| pitman.expected_uniques(population)),
            zayatz: zayatz(sample, population, control)?,
            negative_binomial: negative_binomial(Equations::Published),
            negative_binomial_arx: negative_binomial(Equations::Arx),
        })
    }

    /// Returns the estimate of a model, with the negative binomial equations of choice.
    fn of(&self, model: Model, equations: Equations) -> Option<Estimate> {
        match (model, equations) {
            (Model::Pitman, _) => self.pitman,
            (Model::Zayatz, _) => self.zayatz,
            (Model::NegativeBinomial, Equations::Published) => self.negative_binomial,
            (Model::NegativeBinomial, Equations::Arx) => self.negative_binomial_arx,
        }
    }

    /// Returns the model that applies by the rule of Dankar et al. (2012), and its estimate: Pitman's model if at most a
    /// tenth of the population is sampled, else the lower of Zayatz' and the negative binomial estimate; and always
    /// Zayatz' model if the others do not converge.
    pub fn dankar(&self, fraction: f64, equations: Equations) -> (Model, Option<Estimate>) {
        let estimate = |model| self.of(model, equations);
        let uniques = |model| estimate(model).map(|estimate| estimate.uniques);
        let model = match (fraction <= SMALL_FRACTION, uniques(Model::NegativeBinomial)) {
            (true, _) if self.pitman.is_some() => Model::Pitman,
            (true, _) | (false, None) => Model::Zayatz,
            (false, negative_binomial) if uniques(Model::Zayatz) < negative_binomial => Model::Zayatz,
            (false, Some(_)) => Model::NegativeBinomial,
        };
        (model, estimate(model))
    }
}

/// Checks that a sampling fraction is at least 10⁻¹² and at most 1.
pub fn check_fraction(fraction: f64) -> Result<()> {
    match (SMALLEST_FRACTION..=1.0).contains(&fraction) {
        true => Ok(()),
        false => Err(Error::invalid(
            "fraction",
            format!("must be at least {SMALLEST_FRACTION:e} and at most 1"),
            "the share of the population that is in the table, for example 0.1",
        )),
    }
}
