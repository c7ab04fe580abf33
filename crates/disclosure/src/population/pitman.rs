//! Pitman's model of the sizes of classes in a population.

use super::gamma::{digamma, ln_gamma_ratio, reciprocals, squared_reciprocals};
use super::{ClassSizes, Estimate};
use crate::{Control, Result};

/// Largest number of Newton steps.
const MAX_STEPS: usize = 300;

/// Newton decrement below which steps are no longer compared by the likelihood, which is not precise enough.
const CLOSE: f64 = 1e-4;

/// Newton decrement at which the maximum is reached.
const REACHED: f64 = 1e-18;

/// Bounds of α and θ. A maximum outside is at a boundary.
const ALPHAS: (f64, f64) = (1e-6, 1.0 - 1e-6);
const THETAS: (f64, f64) = (1e-6, 1e15);

/// Pitman's sampling formula, fitted to a sample by maximum likelihood (Hoshino 2001).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pitman {
    /// Parameter θ, greater than 0: the more classes, the greater.
    pub theta: f64,
    /// Parameter α, between 0 and 1: the more small classes, the greater.
    pub alpha: f64,
    /// Inverse of the observed information: variance of θ, covariance, variance of α.
    covariance: (f64, f64, f64),
}

/// Likelihood and its derivatives at (ln θ, logit α).
struct Slope {
    likelihood: f64,
    gradient: (f64, f64),
    /// Second derivatives: by the first variable, by both, by the second.
    hessian: (f64, f64, f64),
    /// Second derivatives by θ and α.
    natural: (f64, f64, f64),
}

impl Pitman {
    /// Fits the model. Returns `None` if the likelihood has no maximum for positive θ and α between 0 and 1, for example
    /// if all classes have one member.
    pub fn fit(sample: &ClassSizes, control: &Control) -> Result<Option<Self>> {
        let (units, classes) = (sample.units(), sample.classes());
        if classes < 2 || units == classes {
            return Ok(None);
        }
        let (mut theta, mut alpha) = first_guess(sample);
        let mut here = Slope::at(sample, theta, alpha);
        for _ in 0..MAX_STEPS {
            control.check()?;
            let (step, decrement) = here.step();
            let next = |scale: f64| moved(theta, alpha, (step.0 * scale, step.1 * scale));
            let mut scale = 1.0;
            let (mut new, mut there) = (next(scale), None);
            for _ in 0..60 {
                let slope = Slope::at(sample, new.0, new.1);
                if decrement < CLOSE || slope.likelihood >= here.likelihood {
                    there = Some(slope);
                    break;
                }
                scale *= 0.5;
                new = next(scale);
            }
            let is_inside = (THETAS.0..THETAS.1).contains(&new.0) && (ALPHAS.0..ALPHAS.1).contains(&new.1);
            match there {
                Some(slope) if is_inside => here = slope,
                _ => return Ok(None),
            }
            (theta, alpha) = new;
            if decrement < REACHED {
                return Ok(covariance(here.natural).map(|covariance| Pitman {
                    theta,
                    alpha,
                    covariance,
                }));
            }
        }
        Ok(None)
    }

    /// Estimates the number of classes with one member in a population of `population` people, by the limit for a large
    /// population, Γ(θ+1)/Γ(θ+α) · N^α (Hoshino 2001; ARX). Returns `None` if there would be more than people.
    pub fn uniques(&self, population: f64) -> Option<Estimate> {
        let Pitman { theta, alpha, .. } = *self;
        let logarithm = ln_gamma_ratio(theta + alpha, 1.0 - alpha) + alpha * population.ln();
        let by_theta = digamma(theta + 1.0) - digamma(theta + alpha);
        let by_alpha = population.ln() - digamma(theta + alpha);
        self.estimate(logarithm, (by_theta, by_alpha), population)
    }

    /// Returns the expected number of classes with one member in a population of `population` people: N times the
    /// probability that a person shares their class with nobody, Γ(θ+1)/Γ(θ+α) · Γ(θ+α+N−1)/Γ(θ+N).
    pub fn expected_uniques(&self, population: f64) -> Option<Estimate> {
        let Pitman { theta, alpha, .. } = *self;
        let last = theta + alpha + population - 1.0;
        let logarithm =
            ln_gamma_ratio(theta + alpha, 1.0 - alpha) - ln_gamma_ratio(last, 1.0 - alpha) + population.ln();
        let by_theta =
            digamma(theta + 1.0) - digamma(theta + alpha) - digamma(theta + population) + digamma(last);
        let by_alpha = digamma(last) - digamma(theta + alpha);
        self.estimate(logarithm, (by_theta, by_alpha), population)
    }

    /// Returns the estimate e^`logarithm`, with the standard error that follows from the derivatives of `logarithm` by θ
    /// and α (delta method).
    fn estimate(
        &self,
        logarithm: f64,
        (by_theta, by_alpha): (f64, f64),
        population: f64,
    ) -> Option<Estimate> {
        let uniques = logarithm.exp();
        let (theta, both, alpha) = self.covariance;
        let variance =
            by_theta * by_theta * theta + 2.0 * by_theta * by_alpha * both + by_alpha * by_alpha * alpha;
        (uniques <= population).then(|| Estimate {
            uniques,
            standard_error: Some(uniques * variance.max(0.0).sqrt()),
        })
    }
}

impl Slope {
    /// Returns the logarithm of the likelihood without its constant, and its derivatives.
    ///
    /// With u classes and n people, sⱼ classes of size j: Σ_{i<u} ln(θ + iα) − Σ_{i<n} ln(θ + i) + Σⱼ sⱼ Σ_{i<j} ln(i − α),
    /// where i starts at 1.
    fn at(sample: &ClassSizes, theta: f64, alpha: f64) -> Self {
        let (units, classes) = (sample.units(), sample.classes());
        let (first, further) = (theta / alpha + 1.0, classes - 1);
        let mut likelihood = further as f64 * alpha.ln() + ln_gamma_ratio(first, further as f64)
            - ln_gamma_ratio(theta + 1.0, (units - 1) as f64);
        let (mut of_sizes, mut of_sizes_squared) = (0.0, 0.0);
        for (size, count) in sample.iter().filter(|&(size, _)| size > 1) {
            let count = count as f64;
            likelihood += count * ln_gamma_ratio(1.0 - alpha, (size - 1) as f64);
            of_sizes += count * reciprocals(1.0 - alpha, size - 1);
            of_sizes_squared += count * squared_reciprocals(1.0 - alpha, size - 1);
        }
        let sum = reciprocals(first, further) / alpha;
        let squares = squared_reciprocals(first, further) / (alpha * alpha);
        let by_theta = sum - reciprocals(theta + 1.0, units - 1);
        let by_alpha = (further as f64 - theta * sum) / alpha - of_sizes;
        let tt = squared_reciprocals(theta + 1.0, units - 1) - squares;
        let ta = -(sum - theta * squares) / alpha;
        let aa = -(further as f64 - 2.0 * theta * sum + theta * theta * squares) / (alpha * alpha)
            - of_sizes_squared;
        let slope = alpha * (1.0 - alpha); // derivative of α by its logit
        Slope {
            likelihood,
            gradient: (theta * by_theta, slope * by_alpha),
            hessian: (
                theta * theta * tt + theta * by_theta,
                theta * slope * ta,
                slope * slope * aa + slope * (1.0 - 2.0 * alpha) * by_alpha,
            ),
            natural: (tt, ta, aa),
        }
    }

    /// Returns a step towards a maximum, and by how much it is expected to increase the likelihood, doubled. It is
    /// Newton's step if the likelihood is concave here, and else one along the gradient.
    fn step(&self) -> ((f64, f64), f64) {
        let ((x, y), (xx, xy, yy)) = (self.gradient, self.hessian);
        let determinant = xx * yy - xy * xy;
        let (dx, dy) = match xx < 0.0 && determinant > 0.0 {
            true => ((xy * y - yy * x) / determinant, (xy * x - xx * y) / determinant),
            false => (x / xx.abs().max(1.0), y / yy.abs().max(1.0)),
        };
        let decrement = (dx * x + dy * y).abs();
        let shorten = 1.0 / dx.abs().max(dy.abs()).max(1.0);
        ((dx * shorten, dy * shorten), decrement)
    }
}

/// Returns Hoshino's estimate by moments, or a pair inside the bounds.
fn first_guess(sample: &ClassSizes) -> (f64, f64) {
    let (n, u) = (sample.units() as f64, sample.classes() as f64);
    let (c1, c2) = (sample.of_size(1) as f64, sample.of_size(2).max(1) as f64);
    let c = c1 * (c1 - 1.0) / c2;
    let theta = (n * u * c - c1 * (n - 1.0) * (2.0 * u + c)) / (2.0 * c1 * u + c1 * c - n * c);
    let alpha = (theta * (c1 - n) + (n - 1.0) * c1) / (n * u);
    match theta > 0.0 && theta < THETAS.1 && alpha > 0.01 && alpha < 0.99 {
        true => (theta, alpha),
        false => (u, 0.5),
    }
}

/// Returns θ and α after a step of (ln θ, logit α).
fn moved(theta: f64, alpha: f64, step: (f64, f64)) -> (f64, f64) {
    let logit = (alpha / (1.0 - alpha)).ln() + step.1;
    (theta * step.0.exp(), 1.0 / (1.0 + (-logit).exp()))
}

/// Returns the inverse of the negative second derivatives, if it is positive definite.
fn covariance((tt, ta, aa): (f64, f64, f64)) -> Option<(f64, f64, f64)> {
    let determinant = tt * aa - ta * ta;
    (tt < 0.0 && determinant > 0.0).then(|| (-aa / determinant, ta / determinant, -tt / determinant))
}
