//! Figures about each column by itself: `column_profile`.

use crate::args::names;
use crate::encode::dictionary::Dictionary;
use crate::encode::{Encoded, Sink};
use crate::error::Error;
use crate::input::relation::Relation;
use crate::pg::table::{Table, table_row};
use disclosure::{ColumnCounts, Rows};
use pgrx::Array;
use pgrx::prelude::*;
use std::ffi::CStr;

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
