//! Risk that an adversary finds the one person of the population whose record is in the sample.

/// How the risk of a record is computed from the size of its class in the sample and in the population.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Exactly: see [`individual_risk`].
    #[default]
    Exact,
    /// As sdcMicro does: see [`individual_risk_sdcmicro`].
    SdcMicro,
}

impl Method {
    /// Returns the risk of a record.
    pub fn risk(self, sample: u64, population: f64) -> f64 {
        match self {
            Method::Exact => individual_risk(sample, population),
            Method::SdcMicro => individual_risk_sdcmicro(sample, population),
        }
    }
}

/// Size of a class in the sample from which on the series has few terms for any sampling fraction.
const LARGE: u64 = 30;

/// Sampling fraction from which on the series has few terms for any class.
const HIGH: f64 = 0.3;

/// Returns the individual risk of Benedetti and Franconi (1998): the expectation of 1/F, where F is the number of
/// people of the population in a class that has `sample` people of the sample and an estimated `population` people.
///
/// Given f people in the sample, F has the negative binomial distribution with f successes of probability
/// p = f/`population` (Franconi and Polettini 2004, section 3). With q = 1 − p, the expectation is
///
/// ```text
/// p^f/f · ₂F₁(f, f; f+1; q) = p/f · ₂F₁(1, 1; f+1; q) = p ∫₀¹ v^(f−1)/(p + qv) dv
/// ```
///
/// by Euler's transformation and integral. If q is not close to 1 or f is large, the middle form is added up: all of its
/// terms are positive and each is less than q times the one before it. Otherwise the integral I(f) follows from
/// I(1) = ln(1/p)/q by q·I(f+1) + p·I(f) = 1/f, which is stable for p below 1/2.
///
/// A population that is not larger than the sample has the risk 1/f.
pub fn individual_risk(sample: u64, population: f64) -> f64 {
    let f = sample as f64;
    if population <= f {
        return 1.0 / f;
    }
    let (p, q) = (f / population, (population - f) / population);
    if p == 0.0 {
        return 0.0; // the population is infinite
    }
    if sample >= LARGE || p >= HIGH {
        return p / f * series(f, q);
    }
    let mut integral = -p.ln() / q;
    for size in 1..sample {
        integral = (1.0 / size as f64 - p * integral) / q;
    }
    p * integral
}

/// Returns ₂F₁(1, 1; f+1; q) by its series.
fn series(f: f64, q: f64) -> f64 {
    let (mut sum, mut term, mut number) = (1.0, 1.0, 0.0);
    loop {
        number += 1.0;
        term *= number * q / (f + number);
        let next = sum + term;
        // What is left is less than this term times (f + n)/(f − 1 + (1 − q)n) for f > 1, or 1/(1 − q).
        if next == sum {
            return sum;
        }
        sum = next;
    }
}

/// Returns the individual risk as sdcMicro approximates it (`indivRisk`): exactly for classes of one or two people in the
/// sample, and for more by p/(f − (1 − p)).
pub fn individual_risk_sdcmicro(sample: u64, population: f64) -> f64 {
    let f = sample as f64;
    if sample <= 2 || population <= f {
        return individual_risk(sample, population);
    }
    let p = f / population;
    p / (f - (1.0 - p))
}
