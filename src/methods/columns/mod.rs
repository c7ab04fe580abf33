//! Columns and sets of columns: figures about each column by itself (`column_profile`), and what columns, together and
//! one by one, tell about who a row is about (`suda`, `minimal_uniques`, `singling_out`, `column_risk`).
//!
//! The definitions and algorithms are in [`disclosure::columns`].

mod column_risk;
mod minimal_uniques;
mod singling_out;
mod suda;
pub mod suggestions;

use crate::args::{names, warn_once};
use crate::encode::dictionary::Dictionary;
use crate::encode::{Encoded, Sink};
use crate::error::Error;
use crate::input::relation::Relation;
use crate::pg::table::{Table, table_row};
use disclosure::{ColumnCounts, Rows};
use pgrx::Array;
use pgrx::prelude::*;
use std::ffi::CStr;

/// Reads the argument `max_columns`: `None` stands for sets of any size. A negative number becomes 0, which the crate
/// refuses as well.
fn max_columns_of(value: Option<i32>) -> Result<Option<usize>, Error> {
    let max_columns = value.map(|value| usize::try_from(value).unwrap_or(0));
    disclosure::columns::check_max_columns(max_columns)?;
    Ok(max_columns)
}

/// Returns the names of columns, by their positions among those that form the classes.
fn column_names(dictionaries: &[&Dictionary], columns: &[usize]) -> Vec<String> {
    columns
        .iter()
        .map(|&column| dictionaries[column].column().name.clone())
        .collect()
}

/// Warns that some sets of columns were not examined, and says what follows.
fn warn_unfinished(not_examined: u64, consequence: &str) {
    warn_once(&format!(
        "the search was not finished within the budget: {not_examined} sets of columns were not examined; {consequence}"
    ));
}

table_row! {
    /// Figures about one column by itself.
    struct Profile {
        column_name: String,
        r#type: pg_sys::Oid,
        distinct_values: i64,
        unique_values: i64,
        null_values: i64,
        most_frequent: i64,
    }
}

/// column_profile(relation regclass, columns name[])
#[pg_extern(sql = false)]
fn column_profile(relation: Option<pg_sys::Oid>, columns: Option<Array<'_, &CStr>>) -> Table<Profile> {
    Table::new(profiles(relation, columns.map(names)))
}

impl Sink for ColumnCounts {
    fn rows(&mut self, rows: Rows) -> disclosure::Result<()> {
        self.extend(rows);
        Ok(())
    }
}

fn profiles(
    relation: Option<pg_sys::Oid>,
    columns: Option<Vec<Option<String>>>,
) -> Result<Vec<Profile>, Error> {
    let relation = Relation::new(relation, columns)?;
    let counts = ColumnCounts::new(relation.width());
    let Encoded { dictionaries, sink } = relation.read(counts)?;
    let row = |(position, dictionary): (usize, &Dictionary)| {
        let profile = sink.profile(position);
        Profile {
            column_name: dictionary.column().name.clone(),
            r#type: dictionary.column().oid,
            distinct_values: profile.distinct_values as i64,
            unique_values: profile.unique_values as i64,
            null_values: profile.nulls as i64,
            most_frequent: profile.most_frequent as i64,
        }
    };
    Ok(dictionaries.iter().enumerate().map(row).collect())
}
