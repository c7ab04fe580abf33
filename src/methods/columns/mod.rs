//! What each column shows by itself: `column_profile`.

use crate::encode::dictionary::Dictionary;
use crate::encode::{Encoded, Sink};
use crate::error::Problem;
use crate::input::relation::Relation;
use disclosure::{ColumnCounts, Rows};
use pgrx::Array;
use pgrx::prelude::*;

type ProfileRow = (String, pg_sys::Oid, i64, i64, i64, i64);

/// column_profile(relation regclass, columns name[])
#[pg_extern(sql = false)]
fn column_profile(
    relation: Option<pg_sys::Oid>,
    columns: Option<Array<'_, &std::ffi::CStr>>,
) -> TableIterator<
    'static,
    (
        name!(column_name, String),
        name!(type, pg_sys::Oid),
        name!(distinct_values, i64),
        name!(unique_values, i64),
        name!(nulls, i64),
        name!(most_frequent, i64),
    ),
> {
    let rows = profiles(relation, columns.map(crate::args::names));
    TableIterator::new(rows.unwrap_or_else(Problem::raise))
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
) -> Result<Vec<ProfileRow>, Problem> {
    let relation = Relation::new(relation, columns)?;
    let counts = ColumnCounts::new(relation.width());
    let Encoded { dictionaries, sink } = relation.read(counts)?;
    let row = |(position, dictionary): (usize, &Dictionary)| {
        let profile = sink.profile(position);
        (
            dictionary.column().name.clone(),
            dictionary.column().oid,
            profile.values as i64,
            profile.unique_values as i64,
            profile.nulls as i64,
            profile.most_frequent as i64,
        )
    };
    Ok(dictionaries.iter().enumerate().map(row).collect())
}
