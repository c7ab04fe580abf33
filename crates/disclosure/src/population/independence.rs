//! Log-linear model with main effects: the values of different columns are independent.

use super::fixed::Unit;
use super::log_linear::{Fitted, Terms};
use crate::classes::Classes;
use crate::{Control, Result};
use rayon::prelude::*;

/// Largest number of combinations that are added up one by one.
const MAX_COMBINATIONS: f64 = (1_u32 << 24) as f64;

/// Means of the model with main effects, which follow from the frequencies of values.
pub(super) struct Independence<'a> {
    classes: &'a Classes,
    people: f64,
    /// Number of people with each value, by column and code.
    margins: Vec<Vec<u64>>,
    means: Vec<f64>,
}

impl<'a> Independence<'a> {
    /// Fits the model to classes with these sizes.
    pub fn fit(classes: &'a Classes, sizes: &[u64]) -> Self {
        let margins: Vec<Vec<u64>> = (0..classes.width())
            .map(|column| margin(classes, sizes, column))
            .collect();
        let mut model = Independence {
            classes,
            people: sizes.iter().sum::<u64>() as f64,
            margins,
            means: Vec::new(),
        };
        model.means = (0..classes.len())
            .map(|class| model.mean(classes.codes(class)))
            .collect();
        model
    }

    /// Returns the expected number of people with these values. Factors are multiplied in the order of columns.
    fn mean(&self, codes: &[u32]) -> f64 {
        let counts = codes
            .iter()
            .zip(&self.margins)
            .map(|(&code, margin)| margin[code as usize]);
        counts.fold(self.people, |mean, count| mean * self.share(count))
    }

    fn share(&self, count: u64) -> f64 {
        count as f64 / self.people
    }

    /// Adds up the terms of all combinations that begin with values of which `mean` is expected.
    fn sum_from(
        &self,
        column: usize,
        mean: f64,
        term: &(dyn Fn(f64) -> Terms + Sync),
        control: &Control,
    ) -> Result<Terms> {
        let Some(margin) = self.margins.get(column) else {
            return Ok(term(mean));
        };
        control.check()?;
        let mut sum = Terms::default();
        for &count in margin.iter().filter(|&&count| count > 0) {
            sum += self.sum_from(column + 1, mean * self.share(count), term, control)?;
        }
        Ok(sum)
    }
}

/// Returns the number of people with each value of a column, by its code.
fn margin(classes: &Classes, sizes: &[u64], column: usize) -> Vec<u64> {
    let mut margin = Vec::new();
    for (class, &size) in sizes.iter().enumerate() {
        let code = classes.codes(class)[column] as usize;
        if margin.len() <= code {
            margin.resize(code + 1, 0);
        }
        margin[code] += size;
    }
    margin
}

impl Fitted for Independence<'_> {
    fn means(&self) -> &[f64] {
        &self.means
    }

    /// The frequencies of the values of each column are those of a multinomial distribution, and those of different
    /// columns are independent of each other, given the number of people, which has a Poisson distribution.
    fn variance(&self, amounts: &[f64], _control: &Control) -> Result<Option<f64>> {
        let largest = amounts
            .iter()
            .fold(0.0_f64, |largest, amount| largest.max(amount.abs()));
        let unit = Unit::new(largest, amounts.len() as u64);
        let total = unit.value(amounts.iter().map(|&amount| unit.count(amount)).sum());
        let of_total = total * total / self.people;
        let mut variance = of_total;
        for (column, margin) in self.margins.iter().enumerate() {
            let mut sums = vec![0_i128; margin.len()];
            for (class, &amount) in amounts.iter().enumerate() {
                sums[self.classes.codes(class)[column] as usize] += unit.count(amount);
            }
            let with_people = sums.iter().zip(margin).filter(|&(_, &count)| count > 0);
            let terms = with_people.map(|(&sum, &count)| unit.value(sum).powi(2) / count as f64);
            variance += super::fixed::exact_sum(terms) - of_total;
        }
        Ok((self.people > 0.0).then_some(variance))
    }

    fn sum_over_combinations(
        &self,
        term: &(dyn Fn(f64) -> Terms + Sync),
        control: &Control,
    ) -> Result<Option<Terms>> {
        let levels = |margin: &Vec<u64>| margin.iter().filter(|&&count| count > 0).count() as f64;
        if self.margins.iter().map(levels).product::<f64>() > MAX_COMBINATIONS {
            return Ok(None);
        }
        let Some(first) = self.margins.first() else {
            return Ok(Some(term(self.people)));
        };
        let sums = first
            .par_iter()
            .filter(|&&count| count > 0)
            .map(|&count| self.sum_from(1, self.people * self.share(count), term, control));
        Ok(Some(sums.try_reduce(Terms::default, |a, b| Ok(a + b))?))
    }
}
