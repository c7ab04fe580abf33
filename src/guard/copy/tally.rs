//! The tally of an export: its distinct rows, and how often each occurs.
//!
//! Rows are counted while they are collected. The measures of the extension are computed from the tally, so
//! the rows need not be read again, however many policies there are.

use crate::encode::Encoded;
use crate::encode::dictionary::Dictionary;
use crate::encode::encoder::Encoder;
use crate::error::Error;
use crate::guard::copy::barrier;
use crate::guard::measure_function::NUMBERS;
use crate::input::relation::Relation;
use crate::memory;
use crate::methods::classes::counted::Counted;
use crate::pg::row::attribute;
use crate::pg::types::ColumnType;
use disclosure::classes::{Classes, Unit, UnitCounts, Values};
use pgrx::pg_sys::{self, Datum, TupleDesc};

/// How the values of a column are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Comparison {
    /// By their stored bytes, because equal bytes are sent equally.
    Bytes,
    /// By the equality of their type, under the collation of the type.
    Equality,
    /// By the equality of their type, under the collation of the column: people who might be the same are.
    Person,
}

/// Column that is counted: the index, from 0, of an output or hidden column, and how its values are compared.
pub type TallyColumn = (usize, Comparison);

/// Tally of the rows so far.
pub struct Counting {
    columns: Vec<TallyColumn>,
    encoder: Encoder<Counted>,
    /// Whether functions of types are called to compare values.
    calls_functions: bool,
    rows: usize,
}

/// Finished tally.
#[derive(Default)]
pub struct Tally {
    columns: Vec<TallyColumn>,
    /// Distinct values of each column.
    pub dictionaries: Vec<Dictionary>,
    /// Rank of each value by its code, that of NULL first, for each column; `None` if its order is no distance.
    ranks: Vec<Option<Vec<u32>>>,
    classes: Classes,
}

impl Counting {
    /// Prepares to count rows with this descriptor by these columns.
    ///
    /// # Safety
    /// The descriptor is valid and has the columns.
    pub unsafe fn new(shape: TupleDesc, columns: Vec<TallyColumn>) -> Self {
        // SAFETY: by the contract of the function; the look-up accepts any OID.
        let dictionary = |&(column, comparison): &TallyColumn| unsafe {
            let about = attribute(shape, column);
            let oid = (*about).atttypid;
            let column = ColumnType {
                name: column.to_string(),
                oid,
                collation: match comparison {
                    Comparison::Person => (*about).attcollation,
                    _ => pg_sys::get_typcollation(oid),
                },
            };
            match comparison {
                Comparison::Bytes => Dictionary::exact(column),
                Comparison::Equality | Comparison::Person => Dictionary::new(column),
            }
        };
        let dictionaries: Vec<Dictionary> = columns.iter().map(dictionary).collect();
        Counting {
            encoder: Encoder::with(dictionaries, Counted::default()),
            calls_functions: columns
                .iter()
                .any(|(_, comparison)| *comparison != Comparison::Bytes),
            columns,
            rows: 0,
        }
    }

    /// Counts a row. Comparing values is not part of the query, so the barrier is down.
    ///
    /// # Safety
    /// The values have the types of the descriptor.
    pub unsafe fn add(&mut self, values: &[Datum], nulls: &[bool]) -> Result<(), Error> {
        let counted = self
            .columns
            .iter()
            .map(|&(column, _)| (values[column], nulls[column]));
        // SAFETY: by the contract of the function.
        let push = || unsafe { self.encoder.push(counted) };
        match self.calls_functions {
            true => barrier::lowered(push)?,
            false => push()?,
        }
        self.rows += 1;
        match self.rows.is_multiple_of(1024) {
            true => memory::check(),
            false => Ok(()),
        }
    }

    pub fn finish(self) -> Result<Tally, Error> {
        let width = self.columns.len();
        let Encoded {
            dictionaries,
            mut sink,
        } = self.encoder.finish()?;
        sink.of_width(width); // there may have been no rows
        Ok(Tally {
            columns: self.columns,
            dictionaries,
            ranks: Vec::new(),
            classes: sink.classes(),
        })
    }
}

impl Tally {
    /// Counts the rows of a relation that the current user may see.
    pub fn of_relation(relation: &Relation, columns: Vec<TallyColumn>) -> Result<Self, Error> {
        let read = columns
            .iter()
            .map(|&(column, _)| relation.columns()[column].clone());
        let Encoded {
            dictionaries,
            mut sink,
        } = relation.read_as(read.collect(), Counted::default())?;
        sink.of_width(columns.len()); // there may have been no rows
        Ok(Tally {
            columns,
            dictionaries,
            ranks: Vec::new(),
            classes: sink.classes(),
        })
    }

    /// Ranks the values of columns that are compared by the equality of their type.
    pub fn rank(&mut self) -> Result<(), Error> {
        let columns = self.columns.iter().zip(&mut self.dictionaries);
        let ranks = columns.map(|((_, comparison), dictionary)| match comparison {
            Comparison::Equality => dictionary.ranks(),
            _ => Ok(None),
        });
        self.ranks = ranks.collect::<Result<_, Error>>()?;
        Ok(())
    }

    /// Returns the positive number that each code of a column stands for; 1 for NULL and for anything else.
    pub fn numbers_of(&self, column: TallyColumn) -> Result<Vec<f64>, Error> {
        let dictionary = &self.dictionaries[self.places([column])?[0]];
        let is_number = NUMBERS.contains(&dictionary.column().base_type());
        let number = |code: u32| {
            let text = dictionary.text(code).filter(|_| is_number)?;
            let number: f64 = text.parse().ok()?;
            (number > 0.0 && number.is_finite()).then_some(number)
        };
        Ok((0..=dictionary.len())
            .map(|code| number(code).unwrap_or(1.0))
            .collect())
    }

    /// Returns what is known about the values of a column.
    pub fn values_of(&self, column: TallyColumn) -> Result<Values, Error> {
        let place = self.places([column])?[0];
        Ok(Values {
            ranks: self.ranks.get(place).cloned().flatten(),
            hierarchy: None,
        })
    }

    pub fn columns(&self) -> &[TallyColumn] {
        &self.columns
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.classes.sizes().iter().sum()
    }

    /// Returns the places of columns among those that are counted.
    pub fn places(&self, columns: impl IntoIterator<Item = TallyColumn>) -> Result<Vec<usize>, Error> {
        let place = |wanted: TallyColumn| {
            let place = self.columns.iter().position(|column| *column == wanted);
            place.ok_or(Error::Internal("a column was not counted"))
        };
        columns.into_iter().map(place).collect()
    }

    /// Returns the classes of the columns at these places, and how many units each contains.
    pub fn count_units(&self, places: &[usize], unit: &Unit) -> Result<UnitCounts<'_>, Error> {
        Ok(self.classes.count_units(places, unit)?)
    }
}
