//! Estimated sizes of classes in the population, and the risk of every class.

use super::Method;
use super::fixed::{Unit, exact_sum};
use crate::classes::{Grouped, Nulls, Pairs, Records};
use crate::{Control, Error, Result};
use rayon::prelude::*;

/// Classes whose risk is computed between two checks for a cancel.
const BATCH: usize = 1 << 12;

/// Number of a person who is not known, as in [`Records::person_of_row`].
const UNKNOWN_PERSON: u32 = 0;

/// Sampling weights, added up by class: how many people of the population are probably in each class.
///
/// A row with the sampling weight w stands for w rows of the population. If people are counted instead of rows, a person
/// weighs the smallest weight of their rows in the class, so that nobody seems safer than one of their rows; and rows
/// whose person is not known count only where nobody else is, as in [`Records::sizes`].
///
/// Sums are exact unless some weights are more than 2^41 times (12 decimal orders) larger than others, and do not depend
/// on the order of rows.
#[derive(Debug, Clone)]
pub struct PopulationSizes {
    unit: Unit,
    /// Sums of weights by class, if rows are counted.
    of_rows: Vec<i128>,
    /// Pairs of a class and a person, if people are counted.
    members: Pairs,
    /// Weight of each member.
    of_members: Vec<f64>,
    counts_people: bool,
}

impl PopulationSizes {
    /// Returns sizes of 0 for all classes of `records`. At most `rows` rows will be added, and none of them weighs more
    /// than `largest`.
    pub fn new(records: &Records, largest: f64, rows: u64) -> Self {
        let counts_people = records.counts_people();
        let classes = if counts_people { 0 } else { records.classes().len() };
        PopulationSizes {
            unit: Unit::new(largest, rows),
            of_rows: vec![0; classes],
            members: Pairs::default(),
            of_members: Vec::new(),
            counts_people,
        }
    }

    /// Checks that a sampling weight is a positive number.
    pub fn check_weight(weight: f64) -> Result<()> {
        match weight > 0.0 && weight.is_finite() {
            true => Ok(()),
            false => Err(Error::invalid(
                "labels",
                "a sampling weight is not a positive number",
                "a positive number in every row of the column that is labelled as weight",
            )),
        }
    }

    /// Adds `count` rows of a class and a person with this sampling weight. The person does not matter if rows are
    /// counted.
    #[inline]
    pub fn add(&mut self, class: u32, person: u32, weight: f64, count: u64) -> Result<()> {
        if !self.counts_people {
            self.of_rows[class as usize] += self.unit.count(weight) * i128::from(count);
            return Ok(());
        }
        let member = self.members.insert(class, person, count)? as usize;
        match self.of_members.get_mut(member) {
            Some(smallest) => *smallest = smallest.min(weight),
            None => self.of_members.push(weight),
        }
        Ok(())
    }

    /// Returns the sizes of all rows that `records` has kept. `weight_of_row` returns the weight of a row.
    pub fn of_records(
        records: &Records,
        largest: f64,
        weight_of_row: impl Fn(usize) -> f64,
        control: &Control,
    ) -> Result<Self> {
        let classes = records.class_of_row();
        let people = records.person_of_row();
        let mut sizes = Self::new(records, largest, classes.len() as u64);
        for (row, &class) in classes.iter().enumerate() {
            if row % BATCH == 0 {
                control.check()?;
            }
            let person = people.get(row).copied().unwrap_or(UNKNOWN_PERSON);
            sizes.add(class, person, weight_of_row(row), 1)?;
        }
        Ok(sizes)
    }

    /// Returns the estimated number of rows, or of people if they are counted, of the population in each class.
    pub fn estimates(&self, records: &Records, nulls: Nulls, control: &Control) -> Result<Vec<f64>> {
        let classes = records.classes();
        let sums = match (self.counts_people, nulls) {
            (false, Nulls::Value) => return Ok(self.values(&self.of_rows)),
            (false, Nulls::Wildcard) => classes.sum_agreeing(classes, &self.of_rows, control)?,
            (true, Nulls::Value) => {
                let weighed = self.members.keys().iter().zip(&self.of_members);
                let mut known = vec![0; classes.len()];
                let mut unknown = vec![0; classes.len()];
                for (&(class, person), &weight) in weighed {
                    let sums = if person == UNKNOWN_PERSON {
                        &mut unknown
                    } else {
                        &mut known
                    };
                    sums[class as usize] += self.unit.count(weight);
                }
                let or_unknown = |(known, unknown)| if known == 0 { unknown } else { known };
                known.into_iter().zip(unknown).map(or_unknown).collect()
            }
            (true, Nulls::Wildcard) => {
                let members = self.members.keys().iter().zip(0..);
                let members = members.map(|(&(class, person), number)| (class, (person, number)));
                let of_class: Grouped<(u32, u32)> = Grouped::new(classes.len(), members);
                classes.map_agreeing(control, |_, agreeing| {
                    let members = agreeing.iter().flat_map(|&class| of_class.of(class as usize));
                    let weighed = members.map(|&(person, member)| (person, self.of_members[member as usize]));
                    self.sum_of_people(weighed.collect())
                })?
            }
        };
        Ok(self.values(&sums))
    }

    /// Returns the sum of the weights of different people, each with their smallest weight.
    fn sum_of_people(&self, mut weighed: Vec<(u32, f64)>) -> i128 {
        weighed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        weighed.dedup_by_key(|(person, _)| *person);
        let is_known = |&&(person, _): &&(u32, f64)| person != UNKNOWN_PERSON;
        let known: i128 = weighed
            .iter()
            .filter(is_known)
            .map(|&(_, weight)| self.unit.count(weight))
            .sum();
        match (known, weighed.first()) {
            (0, Some(&(_, weight))) => self.unit.count(weight),
            _ => known,
        }
    }

    fn values(&self, sums: &[i128]) -> Vec<f64> {
        sums.iter().map(|&sum| self.unit.value(sum)).collect()
    }
}

/// Returns the share of the population that is in a table, given the size of each class there and its estimated size in
/// the population; `None` if there are no classes.
pub fn sampling_fraction(sizes: &[u64], population: &[f64]) -> Option<f64> {
    let units: u64 = sizes.iter().sum();
    (units > 0).then(|| units as f64 / exact_sum(population.iter().copied()))
}

/// Returns the risk of the rows of each class: see [`Method`]. Without weights the table is the whole population, and the
/// risk is 1/f.
pub fn class_risks(
    records: &Records,
    weights: Option<&PopulationSizes>,
    nulls: Nulls,
    method: Method,
    control: &Control,
) -> Result<Vec<f64>> {
    let sizes = records.sizes(nulls, control)?;
    let Some(weights) = weights else {
        return Ok(sizes.iter().map(|&size| 1.0 / size as f64).collect());
    };
    let population = weights.estimates(records, nulls, control)?;
    let mut risks = vec![0.0; sizes.len()];
    let batches = risks.par_chunks_mut(BATCH);
    let batches = batches
        .zip(sizes.par_chunks(BATCH))
        .zip(population.par_chunks(BATCH));
    batches.try_for_each(|((risks, sizes), population)| {
        control.check()?;
        for ((risk, &size), &population) in risks.iter_mut().zip(sizes).zip(population) {
            *risk = method.risk(size, population);
        }
        Ok(())
    })?;
    Ok(risks)
}
