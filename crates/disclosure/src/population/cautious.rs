//! Individual risk for a decision: what is not known never makes a table look safer.

use super::{Method, PopulationSizes};
use crate::classes::{Classes, Nulls, Records, Roles};
use crate::{Control, NULL, Result};

/// Sampling weights of rows that are counted in classes.
#[derive(Debug, Clone, Copy)]
pub struct CodedWeights<'a> {
    /// Column of the weight.
    pub column: usize,
    /// Weight of each code.
    pub of_codes: &'a [f64],
}

/// Returns the individual risk of the rows of each class of `records`, which were made of `counted` by these roles.
///
/// A row whose person is not known may be about anybody, and have a smaller weight than their other rows. So it makes
/// the weights of its class count for nothing: the risk there is 1/f.
pub fn cautious_individual_risks(
    records: &Records,
    counted: &Classes,
    roles: &Roles,
    weights: Option<CodedWeights>,
    control: &Control,
) -> Result<Vec<f64>> {
    let sizes = records.sizes(Nulls::Value, control)?;
    let mut risks: Vec<f64> = sizes.iter().map(|&size| 1.0 / size as f64).collect();
    let Some(CodedWeights { column, of_codes }) = weights else {
        return Ok(risks);
    };
    let largest = of_codes.iter().copied().fold(1.0, f64::max);
    let rows = counted.sizes().iter().sum();
    let mut population = PopulationSizes::new(records, largest, rows);
    let mut has_unknown = vec![false; risks.len()];
    let mut people = Classes::new(roles.person.len());
    let (mut quasi, mut person) = (Vec::new(), Vec::new());
    for (entry, &count) in counted.sizes().iter().enumerate() {
        let codes = counted.codes(entry);
        quasi.clear();
        quasi.extend(roles.quasi.iter().map(|&column| codes[column]));
        let Some(class) = records.classes().find(&quasi) else {
            continue; // every row is in a class
        };
        person.clear();
        person.extend(roles.person.iter().map(|&column| codes[column]));
        let number = people.insert(&person, 1)? + 1;
        has_unknown[class as usize] |= !person.is_empty() && person.iter().all(|&code| code == NULL);
        let weight = of_codes.get(codes[column] as usize).copied().unwrap_or(1.0);
        population.add(class, number, weight, count)?;
    }
    let estimates = population.estimates(records, Nulls::Value, control)?;
    let known = has_unknown.iter().zip(&sizes).zip(&estimates);
    for (risk, ((&has_unknown, &size), &estimate)) in risks.iter_mut().zip(known) {
        if !has_unknown {
            *risk = Method::Exact.risk(size, estimate);
        }
    }
    Ok(risks)
}
