//! The values that suggestions rest on.
//!
//! A relation with at most [`MAX_ROWS`] rows is read as a whole, so the answer depends neither on the order of the rows nor
//! on the plan. Of a larger one, a sample is read. Tables are sampled by TABLESAMPLE SYSTEM with a fixed seed, which
//! chooses the same rows until the table is rewritten. Views and foreign tables cannot be sampled, so the first rows that
//! they return are read.

use super::facts::{ColumnExtras, RelationFacts};
use crate::encode::Encoded;
use crate::encode::dictionary::Dictionary;
use crate::error::Error;
use crate::input::relation::Relation;
use crate::pg::array::{ElementType, Elements};
use crate::pg::memory_context::for_each;
use crate::pg::query::estimate_of;
use crate::pg::types::{ColumnType, print};
use disclosure::ColumnCounts;
use disclosure::columns::formats::FormatCounts;
use disclosure::columns::suggestions::{ColumnStatistics, TypeKind};
use pgrx::pg_sys;
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use rustc_hash::FxHasher;
use std::cell::RefCell;
use std::hash::Hasher;

/// Number of rows up to which all are read, and about how many are read of a larger relation.
const MAX_ROWS: u64 = 10_000;

/// Number of characters of a text that are read. No format is longer.
const MAX_CHARACTERS: u32 = 1000;

/// Which rows were read.
#[derive(Clone, Copy, PartialEq)]
pub enum RowsRead {
    /// None.
    Nothing,
    /// All rows that the caller may see.
    All,
    /// A sample of so many rows.
    Sample(u64),
    /// The first so many rows.
    First(u64),
}

impl RowsRead {
    /// Returns what the evidence says about the rows; `None` if there is nothing to say.
    pub fn evidence(self) -> Option<String> {
        match self {
            RowsRead::Nothing | RowsRead::All => None,
            RowsRead::Sample(rows) => Some(format!("A sample of {rows} rows was read.")),
            RowsRead::First(rows) => Some(format!("Only the first {rows} rows were read.")),
        }
    }
}

/// Reads values of a relation with the calling user's rights and adds what they say to the facts. Columns that the user
/// may not read keep what the catalogues say.
pub fn read(facts: &mut RelationFacts, full_pass: bool) -> Result<RowsRead, Error> {
    let kinds = facts.table.columns.iter().map(|column| column.kind);
    let of_kinds = facts.columns.iter().zip(kinds);
    let wanted = of_kinds
        .enumerate()
        .filter(|(_, (extras, _))| facts.is_reachable && extras.may_read);
    let wanted: Vec<WantedColumn> = wanted
        .filter_map(|(place, (extras, kind))| WantedColumn::new(place, extras, kind))
        .collect();
    if wanted.is_empty() {
        return Ok(RowsRead::Nothing);
    }
    let (values, all_rows, read) = rows_of(facts, &wanted, full_pass)?;
    let rows = values.rows;
    for (position, (column, dictionary)) in wanted.iter().zip(&values.dictionaries).enumerate() {
        let found = formats_of(dictionary, values.counts.by_code(position), rows)?;
        let mean_width = found.mean_width();
        let profile = values.counts.profile(position);
        let facts = &mut facts.table.columns[column.place];
        if read == RowsRead::All || facts.statistics.is_none() {
            facts.statistics = Some(ColumnStatistics::of_profile(&profile, rows, all_rows, mean_width));
        }
        facts.formats = Some(found.formats);
    }
    if read == RowsRead::All {
        // Whether a table was analyzed must not matter for columns that were not read either.
        let columns = facts.table.columns.iter_mut();
        columns
            .filter(|column| column.formats.is_none())
            .for_each(|column| column.statistics = None);
    }
    Ok(read)
}

/// A column that is read.
struct WantedColumn {
    /// Position among the columns of the relation.
    place: usize,
    /// What is read, in SQL.
    expression: String,
    /// Its type.
    column: ColumnType,
}

impl WantedColumn {
    /// Returns how a column is read; `None` if its values have no format.
    fn new(place: usize, extras: &ColumnExtras, kind: TypeKind) -> Option<Self> {
        let column = extras.column.clone();
        let name = quote_identifier(&column.name);
        let (expression, column) = match kind {
            TypeKind::Text => (
                format!("pg_catalog.left({name}::pg_catalog.text, {MAX_CHARACTERS})"),
                ColumnType {
                    oid: pg_sys::TEXTOID,
                    collation: match column.collation {
                        pg_sys::InvalidOid => pg_sys::DEFAULT_COLLATION_OID,
                        collation => collation,
                    },
                    ..column
                },
            ),
            TypeKind::Array if !has_text_elements(&column) => return None,
            TypeKind::Document | TypeKind::Bytes | TypeKind::Geometry | TypeKind::Other => return None,
            _ => (name, column),
        };
        Some(WantedColumn {
            place,
            expression,
            column,
        })
    }
}

/// Returns whether the elements of an array may have a format, unlike those of a vector of numbers.
fn has_text_elements(array: &ColumnType) -> bool {
    ElementType::of(array).is_some_and(|element| {
        let base = element.column.base_type();
        crate::pg::types::type_category(base) == b'S' || [pg_sys::UUIDOID, pg_sys::INETOID].contains(&base)
    })
}

/// Values of rows.
struct ReadValues {
    dictionaries: Vec<Dictionary>,
    counts: ColumnCounts,
    rows: u64,
}

/// Reads rows. Returns their values, how many rows the relation has, perhaps by estimate, and which were read.
fn rows_of(
    facts: &RelationFacts,
    wanted: &[WantedColumn],
    full_pass: bool,
) -> Result<(ReadValues, f64, RowsRead), Error> {
    if full_pass {
        let all = read_part(facts, wanted, String::new())?;
        let rows = all.rows as f64;
        return Ok((all, rows, RowsRead::All));
    }
    let first = read_part(facts, wanted, format!("LIMIT {}", MAX_ROWS + 1))?;
    let rows = first.rows;
    if rows <= MAX_ROWS {
        return Ok((first, rows as f64, RowsRead::All));
    }
    let query = format!(
        "SELECT FROM {}",
        Relation::whole("relation", Some(facts.oid))?.name()
    );
    // SAFETY: within Spi::connect.
    let estimated = Spi::connect(|_| unsafe { estimate_of(&query) })?.rows;
    let all_rows = estimated.max(rows as f64);
    let can_be_sampled = matches!(
        facts.kind,
        pg_sys::RELKIND_RELATION | pg_sys::RELKIND_MATVIEW | pg_sys::RELKIND_PARTITIONED_TABLE
    );
    if can_be_sampled {
        let percentage = (100.0 * MAX_ROWS as f64 / all_rows).min(100.0);
        let part = format!(
            "TABLESAMPLE pg_catalog.system ({percentage}) REPEATABLE (0) LIMIT {}",
            2 * MAX_ROWS
        );
        let sample = read_part(facts, wanted, part)?;
        // Whole pages are sampled, which may be hardly any if each has many rows.
        if sample.rows >= MAX_ROWS / 10 {
            let rows = sample.rows;
            return Ok((sample, all_rows, RowsRead::Sample(rows)));
        }
    }
    Ok((first, all_rows, RowsRead::First(rows)))
}

/// Reads part of the rows.
fn read_part(facts: &RelationFacts, wanted: &[WantedColumn], part: String) -> Result<ReadValues, Error> {
    let relation = Relation::whole("relation", Some(facts.oid))?.with_part(part);
    let expressions = wanted.iter().map(|column| column.expression.clone()).collect();
    let dictionaries = wanted.iter().map(|column| Dictionary::new(column.column.clone()));
    let counts = ColumnCounts::new(wanted.len());
    let Encoded { dictionaries, sink } =
        relation.read_expressions(expressions, dictionaries.collect(), counts)?;
    Ok(ReadValues {
        rows: sink.rows(),
        dictionaries,
        counts: sink,
    })
}

/// Formats of the values of a column.
#[derive(Default)]
struct FoundFormats {
    formats: FormatCounts,
    /// Length of all values that were counted, as text.
    bytes: u64,
    counted: u64,
}

impl FoundFormats {
    fn count(&mut self, value: &str, times: u64) {
        (0..times).for_each(|_| self.formats.count(value));
        self.bytes += value.len() as u64 * times;
        self.counted += times;
    }

    fn mean_width(&self) -> f64 {
        self.bytes as f64 / self.counted.max(1) as f64
    }
}

/// Returns how often a value counts that occurs in `rows` of `all_rows` rows: as often as it occurs or, if there are many
/// rows, in proportion, but at least once.
fn times(rows: u64, all_rows: u64) -> u64 {
    const COUNTED: u64 = 2 * MAX_ROWS;
    match all_rows > COUNTED {
        true => (u128::from(rows) * u128::from(COUNTED) / u128::from(all_rows)).max(1) as u64,
        false => rows,
    }
}

/// Counts the formats of the values of a column, and of the elements of arrays. `rows` has the number of rows with each
/// value.
fn formats_of(dictionary: &Dictionary, rows: &[u64], all_rows: u64) -> Result<FoundFormats, Error> {
    let element = ElementType::of(dictionary.column());
    let element_type = element.as_ref().map(|element| element.column.oid);
    let mut elements = element.map(Elements::new);
    let order = order_by_value(dictionary)?;
    let found = RefCell::new(FoundFormats::default());
    for_each("looking at values", 0..dictionary.len(), |place| {
        let code = order[place as usize];
        let times = times(rows.get(code as usize).copied().unwrap_or(0), all_rows);
        let mut found = found.borrow_mut();
        match (&mut elements, element_type) {
            // SAFETY: the dictionary keeps valid arrays, whose elements have this type.
            (Some(elements), Some(oid)) => unsafe {
                elements.for_each(dictionary.value(code), |element| {
                    found.count(&print(oid, element), times);
                    Ok(())
                })?;
            },
            _ => {
                if let Some(text) = dictionary.text(code) {
                    found.count(&text, times);
                }
            }
        }
        Ok(())
    })?;
    Ok(found.into_inner())
}

/// Returns the codes of all values in an order that depends on the values alone, so that the order of the rows does not
/// matter: by a hash of their texts.
fn order_by_value(dictionary: &Dictionary) -> Result<Vec<u32>, Error> {
    let hashes = for_each("looking at values", 1..dictionary.len() + 1, |code| {
        let mut hasher = FxHasher::default();
        hasher.write(dictionary.text(code).unwrap_or_default().as_bytes());
        Ok((hasher.finish(), code))
    });
    let mut hashes = hashes?;
    hashes.sort_unstable();
    Ok(hashes.into_iter().map(|(_, code)| code).collect())
}
