//! The argument `orders`: how the values of a column are ordered if not by their type.
//!
//! The JSON is read by hand because the value for a column is either an array of values or the name of a
//! relation, and because messages name the column.

use super::marginality::order_by_marginality;
use crate::args::Args;
use crate::encode::dictionary::Dictionary;
use crate::encode::scale::Scale;
use crate::error::Error;
use crate::pg::types::{ColumnType, parse};
use pgrx::pg_sys;
use serde_json::Value;

/// Orders that the caller gave, by column name.
#[derive(Default)]
pub struct Orders(Vec<(String, Given)>);

/// Order that the caller gave for a column.
pub enum Given {
    /// Values of the column from first to last, as text.
    List(Vec<String>),
    /// Relation with the distances of the column's values, which are ordered by marginality.
    Distances(pg_sys::Oid),
}

impl Orders {
    /// Reads the argument `orders`.
    pub fn read(args: &mut Args) -> Result<Self, Error> {
        let given = match args.json("orders")? {
            None => return Ok(Self::default()),
            Some(Value::Object(given)) => given,
            Some(_) => return Err(invalid("is not a JSON object".into())),
        };
        let of_columns = given.into_iter().map(|(column, given)| {
            let given = match given {
                Value::Array(values) => Given::List(texts(&column, values)?),
                // SAFETY: the type exists, and its values are OIDs.
                Value::String(relation) => unsafe {
                    let oid = parse(pg_sys::REGCLASSOID, &relation)?;
                    Given::Distances(pg_sys::Oid::from(oid.value() as u32))
                },
                _ => {
                    return Err(invalid_for(
                        &column,
                        "is neither an array nor the name of a relation",
                    ));
                }
            };
            Ok((column, given))
        });
        Ok(Orders(of_columns.collect::<Result<_, Error>>()?))
    }

    pub fn of_column(&self, name: &str) -> Option<&Given> {
        let mut orders = self.0.iter();
        orders.find(|(column, _)| column == name).map(|(_, given)| given)
    }

    /// Checks that every column for which the caller gave an order is one of `columns`.
    pub fn check(&self, columns: &[ColumnType]) -> Result<(), Error> {
        let is_known = |name: &str| columns.iter().any(|column| column.name == name);
        match self.0.iter().find(|(name, _)| !is_known(name)) {
            Some((name, _)) => Err(invalid(format!("\"{name}\" is not one of the columns"))),
            None => Ok(()),
        }
    }
}

/// Returns the values of an array as text.
fn texts(column: &str, values: Vec<Value>) -> Result<Vec<String>, Error> {
    let text = |value| match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(truth.to_string()),
        _ => Err(invalid_for(
            column,
            "an element is not a string, number or boolean",
        )),
    };
    values.into_iter().map(text).collect()
}

/// Dense ranks of the values of a dictionary.
pub struct RankedValues {
    /// Dense rank of every value, by code.
    dense_rank_of: Vec<u32>,
    /// Number that the value of each dense rank, starting at 1, counts as.
    pub scale: Vec<f64>,
    /// Meaning of the scale.
    pub meaning: Meaning,
}

/// Meaning of the difference of two values on the scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Difference of two numbers, dates or timestamps.
    Numbers,
    /// Difference of their dense ranks, because their type has an order but no differences.
    DenseRanks,
    /// Difference that the caller's order or distances define.
    Given,
}

impl RankedValues {
    /// Orders values as the caller says, or else by their type. `records_of` has the number of records that
    /// hold each value, by code, in the table whose frequencies count.
    pub fn new(dictionary: &mut Dictionary, orders: &Orders, records_of: &[u64]) -> Result<Self, Error> {
        match orders.of_column(&dictionary.column().name) {
            None => Self::by_type(dictionary),
            Some(Given::List(texts)) => Self::by_list(dictionary, texts),
            Some(Given::Distances(relation)) => {
                let found = order_by_marginality("orders", dictionary, *relation, records_of)?;
                Ok(RankedValues {
                    dense_rank_of: found.dense_ranks,
                    scale: found.scale,
                    meaning: Meaning::Given,
                })
            }
        }
    }

    /// Orders values by their type.
    pub fn by_type(dictionary: &mut Dictionary) -> Result<Self, Error> {
        let dense_rank_of = dictionary.dense_ranks()?;
        let last = dense_rank_of
            .iter()
            .max()
            .map_or(0, |&dense_rank| dense_rank as usize);
        let Some(numbers) = Scale::of_type(dictionary.column().base_type()) else {
            return Ok(RankedValues {
                scale: (1..=last).map(|dense_rank| dense_rank as f64).collect(),
                dense_rank_of,
                meaning: Meaning::DenseRanks,
            });
        };
        let mut scale = vec![f64::NAN; last];
        for (&dense_rank, number) in dense_rank_of.iter().zip(numbers.numbers(dictionary)?) {
            scale[dense_rank as usize - 1] = number;
        }
        Ok(RankedValues {
            dense_rank_of,
            scale,
            meaning: Meaning::Numbers,
        })
    }

    /// Orders values as listed by the caller.
    fn by_list(dictionary: &mut Dictionary, texts: &[String]) -> Result<Self, Error> {
        let column = dictionary.column().clone();
        let known = dictionary.len() as usize;
        let mut dense_rank_of = vec![0; known];
        for (text, dense_rank) in texts.iter().zip(1..) {
            // SAFETY: the value was just read as one of the column's type.
            let code = unsafe { dictionary.encode(parse(column.oid, text)?)? } as usize;
            if code > dense_rank_of.len() {
                dense_rank_of.push(0);
            }
            if std::mem::replace(&mut dense_rank_of[code - 1], dense_rank) != 0 {
                return Err(invalid_for(&column.name, "a value is listed twice"));
            }
        }
        if dense_rank_of[..known].contains(&0) {
            return Err(invalid_for(&column.name, "a value of the column is missing"));
        }
        Ok(RankedValues {
            dense_rank_of,
            scale: (1..=texts.len()).map(|dense_rank| dense_rank as f64).collect(),
            meaning: Meaning::Given,
        })
    }

    /// Returns the dense rank of a code; [`NULL`](disclosure::NULL) for an absent value.
    pub fn dense_rank(&self, code: u32) -> u32 {
        match code {
            disclosure::NULL => disclosure::NULL,
            code => self.dense_rank_of[code as usize - 1],
        }
    }
}

fn invalid_for(column: &str, problem: &str) -> Error {
    invalid(format!("column \"{column}\": {problem}"))
}

fn invalid(problem: String) -> Error {
    Error::argument(
        "orders",
        problem,
        "For each column, give an array of all its values from first to last, or the name of a relation \
               with their distances.",
    )
}
