//! Zayatz' estimate of the number of uniques in a population.

use super::{ClassSizes, Estimate};
use crate::{Control, Result};

/// Steps between two checks for a cancel.
const BATCH: u64 = 1 << 16;

/// Estimates the number of classes that have one member in a population of `population` people (Zayatz 1991).
///
/// The sizes of the classes of the population are taken to be distributed as those of the sample. Then a class that has
/// one member in the sample has one in the population with probability ζ = s₁h₁/Σ sᵢhᵢ, where sᵢ is the number of
/// classes of size i in the sample and hᵢ the hypergeometric probability that one member of a class of size i is in the
/// sample. The estimate is s₁ζ/f, with the sampling fraction f.
///
/// The standard error follows by the delta method from independent numbers sᵢ with Poisson distributions. It says nothing
/// about the assumption of equal distributions.
pub fn zayatz(sample: &ClassSizes, population: f64, control: &Control) -> Result<Option<Estimate>> {
    let (units, uniques) = (sample.units() as f64, sample.of_size(1) as f64);
    let Some((largest, _)) = sample.iter().last() else {
        return Ok(None);
    };
    // Probability that exactly one member of a class of size i is in the sample, divided by i and the sampling fraction:
    // the product of (N - n - j)/(N - 1 - j) over j from 0 to i - 2.
    let mut probability = 1.0;
    let mut relative = Vec::new();
    let mut sizes = sample.iter().peekable();
    for size in 1..=largest {
        if size % BATCH == 0 {
            control.check()?;
        }
        if size > 1 {
            let before = (size - 2) as f64;
            probability *= ((population - units - before) / (population - 1.0 - before)).max(0.0);
        }
        if let Some((_, classes)) = sizes.next_if(|&(next, _)| next == size) {
            relative.push((classes as f64, size as f64 * probability));
        }
        if probability == 0.0 {
            break; // no class is larger than what is not in the sample
        }
    }
    let expected: f64 = relative.iter().map(|(classes, h)| classes * h).sum();
    let fraction = units / population;
    if uniques == 0.0 {
        return Ok(Some(Estimate::exact(0.0)));
    }
    // As h is relative to the sampling fraction f, it is s₁/Σ sᵢhᵢ that equals ζ.
    let estimate = uniques * uniques / expected / fraction;
    let change = |size_is_one: bool, h: f64| {
        let own = if size_is_one {
            2.0 * estimate / uniques
        } else {
            0.0
        };
        own - estimate * h / expected
    };
    let variance: f64 = relative
        .iter()
        .enumerate()
        .map(|(place, &(classes, h))| classes * change(place == 0, h).powi(2))
        .sum();
    Ok(Some(Estimate {
        uniques: estimate,
        standard_error: Some(variance.sqrt()),
    }))
}
