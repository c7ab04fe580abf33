//! Looks up the attributes of a single row in a table that is queried instead of read.
//!
//! Each lookup of the search is one query for rows that have some of the row's attributes and lack others. No
//! result is kept, so an answer is never older than its question. The table's indexes make the queries fast.

use crate::encode::dictionary::Dictionary;
use crate::error::Error;
use crate::input::relation::Relation;
use crate::label;
use crate::methods::inference::column_settings::{ColumnSettings, NullMeaning, Purpose, column_settings};
use crate::pg::array::ElementType;
use crate::pg::query::{Answer, Parameters};
use crate::pg::row::RowShape;
use crate::pg::types::{ColumnType, equality_operator, print, read_literal};
use disclosure::Weights;
use disclosure::inference::Lookup;
use pgrx::pg_sys::{self, Datum};
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use serde_json::Value;

/// Attributes of one row, and how to find rows of a relation that have them.
pub struct RowLookup {
    /// Quoted schema and name of the relation.
    relation: String,
    attributes: Vec<Asked>,
    parameters: Parameters,
    /// Columns of the row that take part without a label.
    unlabelled: Vec<String>,
    /// Whether queries run under the active snapshot instead of a new one.
    in_snapshot: bool,
    /// Error that ended the search, if any.
    problem: Option<Error>,
}

/// An attribute of the row.
struct Asked {
    /// SQL condition that is true for rows with the attribute, and false or NULL for others.
    condition: String,
    weights: Weights,
}

/// Maximum number of rows that a query returns. A few are enough to see that something is not inferred.
const ENOUGH: usize = 32;

impl RowLookup {
    /// Prepares queries that compare `row` with the rows of `relation`. The labels of `relation` apply,
    /// except for columns to which `weights`, given by the caller, assigns other weights.
    ///
    /// # Safety
    /// `row` must be a valid composite Datum, and stay valid as long as the value that is returned.
    pub unsafe fn new(
        row: Datum,
        relation: Option<pg_sys::Oid>,
        weights: Option<&Value>,
    ) -> Result<Self, Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            let table = Relation::new(relation, None)?;
            let settings = column_settings(
                table.columns(),
                relation,
                weights,
                Purpose::Score(NullMeaning::Absent),
            )?;
            let mut shape = RowShape::of_value(row, pg_sys::CurrentMemoryContext);
            let columns = shape.columns();
            let mut lookup = RowLookup {
                relation: table.name().into(),
                attributes: Vec::new(),
                parameters: Parameters::default(),
                unlabelled: Vec::new(),
                in_snapshot: false,
                problem: None,
            };
            for (column, (value, is_null)) in columns.iter().zip(shape.deform(row)?) {
                let place = place_of(column, &columns, table.columns())?;
                if settings[place].is_unlabelled {
                    lookup.unlabelled.push(table.columns()[place].name.clone());
                }
                if !is_null {
                    lookup.add_column(&table.columns()[place], &settings[place], column, value)?;
                } else if settings[place].nulls == NullMeaning::Value
                    && let Some(weights) = &settings[place].weights
                {
                    let name = quote_identifier(&table.columns()[place].name);
                    lookup.add(format!("t.{name} IS NULL"), weights.of_null());
                }
            }
            Ok(lookup)
        }
    }

    /// Makes queries run under the active snapshot.
    pub fn in_snapshot(mut self) -> Self {
        self.in_snapshot = true;
        self
    }

    /// Tells the caller which columns of the row take part without a label.
    pub fn notice_unlabelled(&self, relation: Option<pg_sys::Oid>) {
        let names: Vec<&str> = self.unlabelled.iter().map(String::as_str).collect();
        if let Some(relation) = relation {
            label::notice_unlabelled(relation, &names);
        }
    }

    /// Returns the weights of the row's attributes, by the attributes' numbers.
    pub fn weights(&self) -> Vec<Weights> {
        self.attributes
            .iter()
            .map(|attribute| attribute.weights)
            .collect()
    }

    /// Takes the error that ended the search, if any.
    pub fn problem(&mut self) -> Option<Error> {
        self.problem.take()
    }

    unsafe fn add_column(
        &mut self,
        there: &ColumnType,
        settings: &ColumnSettings,
        here: &ColumnType,
        value: Datum,
    ) -> Result<(), Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            let Some(weights) = &settings.weights else {
                return Ok(());
            };
            if settings.binning.is_some() {
                return Err(Error::argument(
                    "labels",
                    format!(
                        "column \"{}\": bins and width cannot be used for a single record",
                        there.name
                    ),
                    "Compare the record with a view whose column has been put into bins.",
                ));
            }
            if settings.parts.is_some() {
                return Err(Error::argument(
                    "labels",
                    format!(
                        "column \"{}\": prefixes and pattern cannot be used for a single record",
                        there.name
                    ),
                    "Compare the record with a view that has a column for the part.",
                ));
            }
            let value = match here.oid {
                pg_sys::UNKNOWNOID => read_literal(there, value),
                _ => value,
            };
            if here.oid != pg_sys::UNKNOWNOID && here.base_type() != there.base_type() {
                return Err(Error::argument(
                    "record",
                    format!("column \"{}\" has a different type in the relation", there.name),
                    "Give a record of the relation's row type, such as NEW in a trigger.",
                ));
            }
            let name = format!("t.{}", quote_identifier(&there.name));
            if there.base_type() == pg_sys::BOOLOID {
                if value.value() != 0 {
                    self.add(format!("{name} IS TRUE"), weights.of_value("true"));
                }
            } else if let Some(elements) = ElementType::of(there) {
                for element in distinct_elements(&elements, value)? {
                    let weights = weights.of_value(&print(elements.column.oid, element));
                    let parameter = self.parameters.add(elements.column.oid, element);
                    self.add(
                        format!("{name} OPERATOR(pg_catalog.@>) ARRAY[{parameter}]"),
                        weights,
                    );
                }
            } else {
                let weights = match weights.of_all() {
                    Some(weights) => weights,
                    None => weights.of_value(&print(there.oid, value)),
                };
                let equals = equality_operator(there).ok_or_else(|| {
                    Error::argument(
                        "record",
                        format!("the type of column \"{}\" has no equality operator", there.name),
                        "Label the column 'ignore', or leave it out of the record.",
                    )
                })?;
                let parameter = self.parameters.add(there.base_type(), value);
                self.add(format!("{name} {equals} {parameter}"), weights);
            }
            Ok(())
        }
    }

    /// Adds an attribute, unless it can neither be known nor do harm: such an attribute changes no score.
    fn add(&mut self, condition: String, weights: Weights) {
        if weights.likelihood > 0.0 || weights.danger > 0.0 {
            self.attributes.push(Asked { condition, weights });
        }
    }

    /// Returns a query for rows that have all of `known` but not all of `inferred`. It selects, for every
    /// attribute of the row, whether the found row lacks it.
    fn question(&self, known: &[usize], inferred: &[usize]) -> String {
        let lacks = |attribute: &Asked| format!("({}) IS NOT TRUE", attribute.condition);
        let all: Vec<String> = self.attributes.iter().map(lacks).collect();
        let mut conditions: Vec<&str> = known
            .iter()
            .map(|&number| &self.attributes[number].condition[..])
            .collect();
        let some: Vec<&str> = inferred.iter().map(|&number| &all[number][..]).collect();
        let some = format!("({})", some.join(" OR "));
        conditions.push(&some);
        let (all, conditions) = (all.join(", "), conditions.join(" AND "));
        format!(
            "SELECT {all} FROM {} t WHERE {conditions} LIMIT {ENOUGH}",
            self.relation
        )
    }

    /// Runs the query. Returns the attributes that each found row lacks, and whether there may be more such
    /// rows.
    fn ask(&self, known: &[usize], inferred: &[usize]) -> Result<(Vec<Vec<usize>>, bool), Error> {
        pgrx::check_for_interrupts!();
        let question = self.question(known, inferred);
        Spi::connect(|_| {
            // SAFETY: this is within Spi::connect, and the parameters belong to the row, which is valid by
            // the contract of `new`.
            let answer = unsafe { Answer::to(&question, &self.parameters, self.in_snapshot)? };
            let lacks = |row, &attribute: &usize| {
                answer
                    .value(row, attribute)
                    .is_some_and(|lacks| lacks.value() != 0)
            };
            let lacking = (0..answer.rows())
                .map(|row| {
                    (0..self.attributes.len())
                        .filter(|attribute| lacks(row, attribute))
                        .collect()
                })
                .collect();
            Ok((lacking, answer.rows() == ENOUGH))
        })
    }
}

impl Lookup for RowLookup {
    fn missing_attributes(&mut self, known: &[usize], inferred: &[usize]) -> Option<(Vec<Vec<usize>>, bool)> {
        match self.ask(known, inferred) {
            Ok(found) => Some(found),
            Err(problem) => {
                self.problem = Some(problem);
                None
            }
        }
    }
}

/// Returns the position of the relation's column that a column of the row belongs to: the one with the same
/// name or, if the row has no names, with the same position.
fn place_of(column: &ColumnType, all: &[ColumnType], of_relation: &[ColumnType]) -> Result<usize, Error> {
    let nameless = all
        .iter()
        .zip(1..)
        .all(|(column, number)| column.name == number.to_string());
    let place = if nameless {
        column.name.parse().ok().map(|number: usize| number - 1)
    } else {
        of_relation.iter().position(|other| other.name == column.name)
    };
    place.filter(|&place| place < of_relation.len()).ok_or_else(|| {
        Error::argument(
            "record",
            format!("the relation has no column for \"{}\"", column.name),
            "Give a record of the relation's row type, or columns in the relation's order.",
        )
    })
}

/// Returns the distinct elements of an array, leaving out NULLs. They live as long as the current memory
/// context.
///
/// # Safety
/// `array` must be a valid array with elements of this type.
unsafe fn distinct_elements(element: &ElementType, array: Datum) -> Result<Vec<Datum>, Error> {
    // SAFETY: by the contract of the function.
    unsafe {
        let whole = Datum::from(pg_sys::pg_detoast_datum(array.cast_mut_ptr()));
        let mut seen = Dictionary::new(element.column.clone());
        let mut elements = Vec::new();
        for (value, is_null) in element.deconstruct(whole) {
            if !is_null && seen.encode(value)? as usize > elements.len() {
                elements.push(value);
            }
        }
        Ok(elements)
    }
}
