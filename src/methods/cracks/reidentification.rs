//! People against released rows: `expected_reidentifications`.

use crate::args::{budget_of, given, names};
use crate::error::Problem;
use crate::methods::cracks::people::People;
use crate::methods::cracks::{method_name, method_of, settings};
use crate::run;
use disclosure::Rows;
use disclosure::cracks::Reidentification;
use pgrx::Array;
use pgrx::datum::Interval;
use pgrx::prelude::*;
use std::ffi::CStr;

type PeopleRow = (
    i64,
    i64,
    i64,
    i64,
    f64,
    f64,
    Option<f64>,
    Option<f64>,
    String,
    Option<f64>,
);

/// expected_reidentifications(known regclass, released regclass, on_columns name[], key name, method text,
/// relative_error float8, seed bigint, budget interval)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, clippy::too_many_arguments)] // they are those of the SQL function
fn expected_reidentifications(
    known: Option<pg_sys::Oid>,
    released: Option<pg_sys::Oid>,
    on_columns: Option<Array<'_, &CStr>>,
    key: Option<&CStr>,
    method: Option<&str>,
    relative_error: Option<f64>,
    seed: Option<i64>,
    budget: Option<Interval>,
) -> TableIterator<
    'static,
    (
        name!(people, i64),
        name!(rows, i64),
        name!(not_released, i64),
        name!(strangers, i64),
        name!(o_estimate, f64),
        name!(expected, f64),
        name!(lower, Option<f64>),
        name!(upper, Option<f64>),
        name!(method, String),
        name!(share, Option<f64>),
    ),
> {
    let row = || {
        let settings = settings(
            method_of(method)?,
            1.0,
            given("relative_error", relative_error)?,
            given("seed", seed)?,
            budget_of(budget)?,
        );
        let on_columns = on_columns.map(names).ok_or(Problem::null(
            "on_columns",
            "Give an array of the columns that the rival knows something about.",
        ))?;
        let key = key.map(|key| key.to_string_lossy().into_owned());
        let people = People::read(known, released, on_columns, key)?;
        reidentifications(&people, &settings)
    };
    TableIterator::once(row().unwrap_or_else(Problem::raise))
}

fn reidentifications(people: &People, settings: &disclosure::cracks::Settings) -> Result<PeopleRow, Problem> {
    let columns: Vec<&[u32]> = people.released.iter().map(Vec::as_slice).collect();
    let rows = columns.first().map_or(0, |column| column.len());
    let most_edges = (settings.bytes / 8.0) as u64;
    let (of_people, found) = run::long("matching people with rows", |control| {
        let released = Rows::new(&columns, rows);
        let own = people.own.as_deref();
        let of_people = Reidentification::new(&people.known, released, own, most_edges, control)?;
        let found = of_people.cracks(settings, control)?;
        Ok((of_people, found))
    })?;
    let number = people.known.len();
    Ok((
        number as i64,
        rows as i64,
        of_people.not_released() as i64,
        of_people.strangers() as i64,
        of_people.o_estimate(),
        found.expected,
        found.lower,
        found.upper,
        method_name(found.method),
        (number > 0).then(|| found.expected / number as f64),
    ))
}
