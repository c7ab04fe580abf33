//! Distinct rows of a table, stored by column, and the units that they belong to.

use crate::classes::{Records, UNKNOWN_PERSON};
use crate::{Control, NULL, Result};
use rayon::prelude::*;

/// Unit of a class to which several units belong.
pub(super) const SEVERAL: u32 = u32::MAX;

/// Unit of a class to which only people belong who are not known. They are one unit unless there is another.
const UNKNOWN: u32 = UNKNOWN_PERSON;

/// Returns the unit of two groups of rows together.
#[inline]
pub(super) fn unit_of_both(a: u32, b: u32) -> u32 {
    match (a, b) {
        (a, b) if a == b => a,
        (a, UNKNOWN) => a,
        (UNKNOWN, b) => b,
        _ => SEVERAL,
    }
}

/// Number of classes that are read at a time, for all columns.
const CLASSES_AT_A_TIME: usize = 1 << 10;

/// Distinct rows of a table, stored by column. Columns on which the fewest classes agree come first, because sets that
/// contain them have few rows left to look at.
pub(super) struct Table {
    /// Position of each column in [`Records`].
    pub order: Vec<usize>,
    /// Codes of each column, by class. They are smaller than the column's number in `code_counts`.
    pub columns: Vec<Vec<u32>>,
    pub code_counts: Vec<usize>,
    /// The only unit of each class, or [`SEVERAL`].
    pub units: Vec<u32>,
    /// Number of rows in each class.
    pub rows: Vec<u64>,
}

impl Table {
    /// Returns the classes of a table.
    pub fn new(records: &Records, control: &Control) -> Result<Self> {
        let classes = records.classes();
        let (width, len) = (classes.width(), classes.len());
        control.require::<u32>(len.saturating_mul(width + 3))?;
        let mut columns: Vec<Vec<u32>> = (0..width).map(|_| Vec::with_capacity(len)).collect();
        for start in (0..len).step_by(CLASSES_AT_A_TIME) {
            control.check()?;
            let some = start..len.min(start + CLASSES_AT_A_TIME);
            for (position, column) in columns.iter_mut().enumerate() {
                column.extend(some.clone().map(|class| classes.codes(class)[position]));
            }
        }
        let mut columns: Vec<Column> = columns.into_par_iter().enumerate().map(Column::new).collect();
        columns.sort_by_key(|column| (column.agreeing, column.position));
        let mut table = Table {
            order: Vec::with_capacity(width),
            columns: Vec::with_capacity(width),
            code_counts: Vec::with_capacity(width),
            units: units(records, control)?,
            rows: classes.sizes().to_vec(),
        };
        for column in columns {
            table.order.push(column.position);
            table.columns.push(column.codes);
            table.code_counts.push(column.code_count);
        }
        Ok(table)
    }

    /// Returns the number of classes.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the positions of a set of columns in [`Records`], in ascending order.
    pub fn positions(&self, set: &[usize]) -> Vec<usize> {
        let mut positions: Vec<usize> = set.iter().map(|&column| self.order[column]).collect();
        positions.sort_unstable();
        positions
    }

    /// Returns the largest number of codes of a column.
    pub fn max_codes(&self) -> usize {
        self.code_counts.iter().max().copied().unwrap_or(0)
    }
}

/// Returns the only unit of each class, or [`SEVERAL`].
fn units(records: &Records, control: &Control) -> Result<Vec<u32>> {
    if records.counts_people() {
        let people = |people: &[(u32, u64)]| {
            people
                .iter()
                .fold(UNKNOWN, |unit, &(person, _)| unit_of_both(unit, person))
        };
        return Ok(records.members(control)?.iter().map(people).collect());
    }
    let sizes = records.classes().sizes().iter().enumerate();
    // Row numbers start at 1, because 0 is a person who is not known.
    let unit = |(class, &rows): (usize, &u64)| if rows == 1 { class as u32 + 1 } else { SEVERAL };
    Ok(sizes.map(unit).collect())
}

/// A column by itself.
struct Column {
    position: usize,
    codes: Vec<u32>,
    /// A number that is larger than all codes.
    code_count: usize,
    /// Number of ordered pairs of classes that agree.
    agreeing: u64,
}

impl Column {
    fn new((position, codes): (usize, Vec<u32>)) -> Self {
        let (codes, code_count) = dense(codes);
        let mut counts = vec![0_u64; code_count];
        codes.iter().for_each(|&code| counts[code as usize] += 1);
        Column {
            position,
            codes,
            code_count,
            agreeing: counts.iter().map(|count| count * count).sum(),
        }
    }
}

/// Renumbers codes if they are much larger than their number, and returns them with a number that is larger than all.
/// [`NULL`] stays as it is.
fn dense(mut codes: Vec<u32>) -> (Vec<u32>, usize) {
    let largest = codes.iter().max().copied().unwrap_or(NULL) as usize;
    if largest <= codes.len() {
        return (codes, largest + 1);
    }
    let mut distinct = codes.clone();
    distinct.push(NULL);
    distinct.sort_unstable();
    distinct.dedup();
    for code in &mut codes {
        *code = distinct.partition_point(|other| other < code) as u32;
    }
    (codes, distinct.len())
}
