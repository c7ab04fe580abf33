//! Risk that an adversary finds at least one member of a household.

use super::fixed::Unit;
use crate::classes::{Classes, Pairs};
use crate::{Control, NULL, Result, Rows};
use std::borrow::Cow;

/// Smallest logarithm that is added up. The risk is 1 from there on.
const CERTAIN: f64 = -64.0;

/// Unit of sums of logarithms. A sum may be as low as -128.
const UNIT_EXPONENT: i32 = -120;

/// Rows between two checks for a cancel.
const BATCH: usize = 1 << 16;

/// Returns the number of the household of each row, given the codes of the columns that identify it. [`NULL`] stands for
/// a household that is not known, because all of them are NULL.
pub fn number_households<'a>(columns: &[&'a [u32]]) -> Result<Cow<'a, [u32]>> {
    if let [column] = columns {
        return Ok((*column).into());
    }
    let rows = columns.first().map_or(0, |column| column.len());
    let mut numbers = Vec::with_capacity(rows);
    Classes::new(columns.len()).extend(Rows::new(columns, rows), |household| numbers.push(household + 1))?;
    for (row, number) in numbers.iter_mut().enumerate() {
        if columns.iter().all(|column| column[row] == NULL) {
            *number = NULL;
        }
    }
    Ok(numbers.into())
}

/// Returns the risk of each household by its number: 1 − ∏(1 − r) over the risks of its members, who are found
/// independently of each other. Members are rows or, if `people` has the person of each row, people; a person is at the
/// highest risk of their rows. [`NULL`] stands for a household that is not known, and for a person who is not known;
/// such people count as one person in each household.
///
/// Logarithms are added up in whole units, so that the order of rows does not matter.
pub fn household_risks(
    households: &[u32],
    people: Option<&[u32]>,
    risk_of_row: impl Fn(usize) -> f64,
    control: &Control,
) -> Result<Vec<f64>> {
    let largest = households.iter().max().copied().unwrap_or(NULL) as usize;
    let unit = Unit::of_exponent(UNIT_EXPONENT);
    let mut sums = vec![0_i128; largest + 1];
    let mut add = |household: u32, risk: f64| {
        let logarithm = unit.count((-risk).ln_1p().max(CERTAIN));
        let sum = &mut sums[household as usize];
        *sum = sum.saturating_add(logarithm);
    };
    match people {
        None => {
            for (row, &household) in households.iter().enumerate() {
                if row % BATCH == 0 {
                    control.check()?;
                }
                add(household, risk_of_row(row));
            }
        }
        Some(people) => {
            let (mut members, mut risks) = (Pairs::default(), Vec::new());
            for (row, (&household, &person)) in households.iter().zip(people).enumerate() {
                if row % BATCH == 0 {
                    control.check()?;
                }
                let member = members.insert(household, person, 1)? as usize;
                let risk = risk_of_row(row);
                match risks.get_mut(member) {
                    Some(highest) if risk > *highest => *highest = risk,
                    Some(_) => {}
                    None => risks.push(risk),
                }
            }
            for (&(household, _), &risk) in members.keys().iter().zip(&risks) {
                add(household, risk);
            }
        }
    }
    Ok(sums.into_iter().map(|sum| -unit.value(sum).exp_m1()).collect())
}
