//! Order of nominal values: `marginality`.
//!
//! The marginality of a value is the sum of its distances to the values of all records. Distances come from a
//! relation with one row per pair of values. Values are ordered from the most central to the most marginal
//! one.

use super::coded_table::CodedTable;
use crate::args::name;
use crate::encode::dictionary::Dictionary;
use crate::encode::scale::Scale;
use crate::error::Error;
use crate::input::relation::Relation;
use crate::pg::memory_context;
use crate::pg::receiver::for_each_row;
use crate::pg::table::{Table, table_row};
use crate::pg::types::{ColumnType, becomes, type_name};
use crate::run;
use crate::run::Meter;
use disclosure::permutation::{self, Marginality};
use pgrx::pg_sys::{self, Datum};
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use rustc_hash::FxHashMap;
use std::ffi::CStr;

table_row! {
    /// A value of a nominal column.
    struct MarginalValue {
        value: Option<String>,
        records: i64,
        marginality: f64,
        rank: i64,
    }
}

/// marginality(relation regclass, column_name name, distances regclass)
#[pg_extern(sql = false)]
fn marginality(
    relation: Option<pg_sys::Oid>,
    column: Option<&CStr>,
    distances: Option<pg_sys::Oid>,
) -> Table<MarginalValue> {
    Table::new(marginal_values(relation, name(column), distances))
}

/// Returns the values of a column from the most central to the most marginal one, equally marginal ones by
/// their text.
fn marginal_values(
    relation: Option<pg_sys::Oid>,
    column: Option<String>,
    distances: Option<pg_sys::Oid>,
) -> Result<Vec<MarginalValue>, Error> {
    let relation = Relation::whole("relation", relation)?;
    let column = column.ok_or(Error::null("column_name", "Give the name of a column."))?;
    let column = relation.column("column_name", &column)?.clone();
    let distances = distances.ok_or(Error::null("distances", "Give the name of a table or view."))?;
    let mut values = CodedTable::read(&relation, [column])?.pop_column()?;
    let records_of = values.records_of();
    let found = order_by_marginality("distances", &mut values.dictionary, distances, &records_of)?;
    let of_value = |(records, number): (u64, usize)| MarginalValue {
        value: values.dictionary.text(number as u32 + 1),
        records: records as i64,
        marginality: found.of_value(number),
        rank: i64::from(found.dense_ranks[number]),
    };
    let mut values: Vec<MarginalValue> = records_of.into_iter().zip(0..).map(of_value).collect();
    values.sort_by(|one, other| (one.rank, &one.value).cmp(&(other.rank, &other.value)));
    Ok(values)
}

/// Orders the values of a column by marginality: the sum of a value's distances to the values of all records.
/// `distances` is a relation with the distances of values, given by the caller as `argument`. `records_of`
/// has the number of records that hold each value, by code.
pub fn order_by_marginality(
    argument: &'static str,
    dictionary: &mut Dictionary,
    distances: pg_sys::Oid,
    records_of: &[u64],
) -> Result<Marginality, Error> {
    let distances = Distances::read(argument, dictionary, distances)?;
    let values = records_of.len() as u32;
    let missing = || {
        Error::argument(
            argument,
            format!(
                "column \"{}\": the distance of two values is missing",
                dictionary.column().name
            ),
            DISTANCES,
        )
    };
    let all = (1..=values).flat_map(|one| (1..one).map(move |other| (other, one)));
    let mut meter = Meter::new("looking for distances");
    for pair in all {
        meter.row()?;
        if !distances.0.contains_key(&pair) {
            return Err(missing());
        }
    }
    let distance = |one: usize, other: usize| {
        let (one, other) = (one as u32 + 1, other as u32 + 1);
        distances
            .0
            .get(&(one.min(other), one.max(other)))
            .copied()
            .unwrap_or(0.0)
    };
    run::long("adding up distances", |control| {
        permutation::marginality(records_of, distance, control)
    })
}

const DISTANCES: &str = "Give a relation with three columns: two values, and their distance (or similarity, which is 1 - distance). \
     Every pair of different values must have a row.";

/// Distances of values, by the codes of both, the lower one first.
struct Distances(FxHashMap<(u32, u32), f64>);

impl Distances {
    /// Reads the distances of a dictionary's values from a relation. Values that only the relation has may be
    /// added to the dictionary.
    fn read(
        argument: &'static str,
        dictionary: &mut Dictionary,
        relation: pg_sys::Oid,
    ) -> Result<Self, Error> {
        let relation = Relation::whole(argument, Some(relation))?;
        let invalid = |problem: &str| {
            Error::argument(
                argument,
                format!("relation {}: {problem}", relation.name()),
                DISTANCES,
            )
        };
        let is_measure = |column: &&ColumnType| matches!(&column.name[..], "distance" | "similarity");
        let measures: Vec<&ColumnType> = relation.columns().iter().filter(is_measure).collect();
        let values: Vec<&ColumnType> = relation
            .columns()
            .iter()
            .filter(|column| !is_measure(column))
            .collect();
        let (&[measure], &[one, other]) = (&measures[..], &values[..]) else {
            return Err(invalid(
                "must have two columns of values and one named distance or similarity",
            ));
        };
        let scale = Scale::of_type(measure.base_type()).filter(|scale| scale.is_of_numbers());
        let scale =
            scale.ok_or_else(|| invalid("the column distance or similarity must be of a numeric type"))?;
        let codes = [Codes::of(one, dictionary)?, Codes::of(other, dictionary)?];
        let query = format!(
            "SELECT {}, {}, {} FROM {}",
            codes[0].query,
            codes[1].query,
            quote_identifier(&measure.name),
            relation.name()
        );
        let is_similarity = measure.name == "similarity";
        let mut distances = FxHashMap::default();
        let types = [codes[0].oid, codes[1].oid, measure.oid];
        for_each_row(&query, &types, |mut row| {
            let mut next = || row.next().filter(|(_, is_null)| !is_null).map(|(value, _)| value);
            let (Some(one), Some(other), Some(number)) = (next(), next(), next()) else {
                return Err(invalid("a value, distance or similarity is NULL"));
            };
            // SAFETY: the values have the types that the query selects.
            let (one, other, number) = unsafe {
                (
                    codes[0].code(one, dictionary)?,
                    codes[1].code(other, dictionary)?,
                    scale.number(number),
                )
            };
            let distance = if is_similarity { 1.0 - number } else { number };
            if !distance.is_finite() || distance < 0.0 {
                return Err(invalid("a distance is negative, infinite or NaN"));
            }
            let (Some(one), Some(other)) = (one, other) else {
                return Ok(());
            };
            if one == other {
                if distance != 0.0 {
                    return Err(invalid("the distance of a value to itself is not 0"));
                }
                return Ok(());
            }
            match distances.insert((one.min(other), one.max(other)), distance) {
                Some(before) if before != distance => {
                    Err(invalid("a pair of values has two different distances"))
                }
                _ => Ok(()),
            }
        })?;
        Ok(Distances(distances))
    }
}

/// Conversion of the values in a column of the distances relation to codes of a dictionary.
struct Codes {
    /// Expression that selects the value in a query.
    query: String,
    /// Type of that expression.
    oid: pg_sys::Oid,
    /// Codes by the text of their values, if values in the column cannot be cast to the dictionary's type.
    /// Values are then equal if they are printed the same.
    by_text: Option<FxHashMap<String, u32>>,
}

impl Codes {
    /// Chooses how to convert the values of a column to codes of `dictionary`.
    fn of(column: &ColumnType, dictionary: &Dictionary) -> Result<Self, Error> {
        let name = quote_identifier(&column.name);
        if column.base_type() == dictionary.column().base_type() {
            return Ok(Codes {
                query: name,
                oid: column.oid,
                by_text: None,
            });
        }
        if becomes(column.base_type(), dictionary.column().base_type()) {
            return Ok(Codes {
                query: format!("{name}::{}", type_name(dictionary.column().base_type())),
                oid: dictionary.column().base_type(),
                by_text: None,
            });
        }
        let texts = memory_context::for_each("printing values", 0..dictionary.len(), |value| {
            Ok((dictionary.text(value + 1).unwrap_or_default(), value + 1))
        })?;
        Ok(Codes {
            query: format!("{name}::pg_catalog.text"),
            oid: pg_sys::TEXTOID,
            by_text: Some(texts.into_iter().collect()),
        })
    }

    /// Returns the code of a value; `None` if values are compared as text and the dictionary does not have
    /// it.
    ///
    /// # Safety
    /// `value` must be a valid Datum of the type that [`query`](Self::query) selects, and `dictionary` the
    /// one that was passed to [`of`](Self::of).
    unsafe fn code(&self, value: Datum, dictionary: &mut Dictionary) -> Result<Option<u32>, Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            match &self.by_text {
                None => dictionary.encode(value).map(Some),
                Some(codes) => {
                    let text = String::from_datum(value, false).unwrap_or_default();
                    Ok(codes.get(&text).copied())
                }
            }
        }
    }
}
