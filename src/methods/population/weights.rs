//! Sampling weights: numbers of any type become float8.

use crate::encode::dictionary::Dictionary;
use crate::error::Error;
use crate::methods::classes::records::ReadRecords;
use crate::pg::types::has_distances;
use disclosure::classes::Records;
use disclosure::population::PopulationSizes;
use disclosure::{Control, NULL};
use pgrx::FromDatum;
use pgrx::pg_sys;

/// Sampling weights by the code of their value.
pub struct SamplingWeights {
    /// The first element stands for NULL.
    by_code: Vec<f64>,
    largest: f64,
}

impl SamplingWeights {
    /// Returns the weights of rows that were read with them; `None` if no column is labelled as weight.
    pub fn of(read: &ReadRecords) -> Result<Option<Self>, Error> {
        let Some(column) = read.roles.weight else {
            return Ok(None);
        };
        let mut by_code = numbers(&read.dictionaries[column])?;
        for &weight in &by_code {
            PopulationSizes::check_weight(weight)?;
        }
        if read.records.kept(0).contains(&NULL) {
            return Err(Error::argument(
                "labels",
                "a sampling weight is NULL",
                "Give every row a weight in the column that is labelled as weight.",
            ));
        }
        let largest = by_code.iter().copied().fold(0.0, f64::max);
        by_code.insert(0, 0.0);
        Ok(Some(SamplingWeights { by_code, largest }))
    }

    /// Returns the sums of these weights by class. The weight is the first column that `records` keeps.
    pub fn sizes(&self, records: &Records, control: &Control) -> disclosure::Result<PopulationSizes> {
        let codes = records.kept(0);
        let weight_of_row = |row: usize| self.by_code[codes[row] as usize];
        PopulationSizes::of_records(records, self.largest, weight_of_row, control)
    }
}

/// Returns the values of a column as float8, by their codes from 1.
fn numbers(dictionary: &Dictionary) -> Result<Vec<f64>, Error> {
    let oid = dictionary.column().base_type();
    let codes = 1..=dictionary.len();
    // SAFETY: the values of these types are passed by value, and have the types that they are read as.
    let number = |code: u32| unsafe {
        let value = dictionary.value(code);
        match oid {
            pg_sys::INT2OID => i16::from_datum(value, false).map(f64::from),
            pg_sys::INT4OID => i32::from_datum(value, false).map(f64::from),
            pg_sys::INT8OID => i64::from_datum(value, false).map(|number| number as f64),
            pg_sys::FLOAT4OID => f32::from_datum(value, false).map(f64::from),
            pg_sys::FLOAT8OID => f64::from_datum(value, false),
            _ => dictionary.text(code)?.parse().ok(), // numeric
        }
    };
    let numbers: Option<Vec<f64>> = match has_distances(oid) {
        true => codes.map(number).collect(),
        false => None,
    };
    numbers.ok_or_else(|| {
        Error::argument(
            "labels",
            "the column that is labelled as weight has no numbers",
            "Label a column of numbers as weight.",
        )
    })
}
