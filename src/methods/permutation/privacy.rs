//! (d, v)-permuted privacy (section 4 of the paper): `permuted_privacy` for the owner of the original table,
//! `check_subject` for the subject of a record.
//!
//! The owner needs both tables. A subject needs only their own record and the released table.

use super::microdata::{Microdata, TableArgument, Wanted};
use super::options::Options;
use crate::args::Args;
use crate::error::Error;
use crate::pg::json::Json;
use crate::pg::table::{Table, table_row};
use crate::run;
use crate::verdict::verdict_name;
use disclosure::permutation::{ClosestValues, Demand, ReleasedTable};
use pgrx::prelude::*;
use serde_json::Value;

table_row! {
    /// An original record and how well it is hidden.
    struct HiddenRecord {
        key: Option<String>,
        original: Json,
        d: Option<i64>,
        v: Option<Vec<Option<f64>>>,
    }
}

table_row! {
    /// What a subject can verify. Everything but the verdict is NULL if no record was released.
    #[derive(Default)]
    struct SubjectCheck {
        largest_d: Option<i64>,
        closest: Option<Json>,
        variances: Option<Vec<Option<f64>>>,
        d_met: Option<bool>,
        v_met: Option<Vec<Option<bool>>>,
        verdict: &'static str,
    }
}

/// permuted_privacy(original regclass, released regclass, columns name[], key name, orders jsonb,
/// ties disclosure.tie_treatment, seed bigint)
#[pg_extern(sql = false)]
fn permuted_privacy(args: Args) -> Table<HiddenRecord> {
    Table::new(hidden_records(args))
}

fn hidden_records(mut args: Args) -> Result<impl Iterator<Item = HiddenRecord>, Error> {
    let wanted = Wanted::read(&mut args);
    let options = Options::read(&mut args)?;
    args.end()?;
    let tables = Microdata::by_value(&wanted, &options.orders)?;
    let (here, there) = (&tables.original.ranked_columns, &tables.released.ranked_columns);
    let ties = options.ties.of_released();
    let mut found = run::long("checking records", |control| {
        ReleasedTable::new(there, ties, control)?.privacy_of_all(here, control)
    })?;
    Ok((0..tables.original.len()).map(move |record| {
        // `found` is empty if no record was released.
        let found = found.get_mut(record);
        HiddenRecord {
            key: tables.original.key(record),
            original: Json(tables.original.json(record)),
            d: found.as_ref().map(|found| found.d as i64),
            v: found.map(|found| std::mem::take(&mut found.variances)),
        }
    }))
}

/// check_subject(record record, released regclass, columns name[], d bigint, v float8[], orders jsonb,
/// ties disclosure.tie_treatment, seed bigint)
#[pg_extern(sql = false)]
fn check_subject(args: Args) -> Table<SubjectCheck> {
    Table::once(check_of_subject(args))
}

fn check_of_subject(mut args: Args) -> Result<SubjectCheck, Error> {
    let record = args.any("record");
    let released = TableArgument::read(&mut args, "released");
    let columns = args.names("columns");
    let demand = Demand {
        d: args.optional("d"),
        v: args.optional("v"),
    };
    let options = Options::read(&mut args)?;
    args.end()?;
    let (record, _) = record.ok_or(Error::null(
        "record",
        "Give a record with one value per column: ROW(41000, 37).",
    ))?;
    demand.check(columns.as_ref().map_or(0, Vec::len))?;
    // SAFETY: the value is an argument of type record.
    let tables = unsafe { Microdata::of_subject(record, released, columns, &options.orders)? };
    let fields = tables.original.ranked_columns.iter();
    let record: Vec<Option<f64>> = fields.map(|field| field.value(0)).collect();
    let there = &tables.released.ranked_columns;
    let ties = options.ties.of_released();
    let found = run::long("checking the record", |control| {
        ReleasedTable::new(there, ties, control)?.verify(&record, &demand)
    })?;
    let Some(found) = found else {
        return Ok(SubjectCheck {
            verdict: verdict_name(None),
            ..SubjectCheck::default()
        });
    };
    Ok(SubjectCheck {
        largest_d: Some(found.largest_d as i64),
        closest: Some(Json(closest_values(&tables, &found.closest))),
        variances: Some(found.variances),
        d_met: found.d_met,
        v_met: found.v_met,
        verdict: verdict_name(found.is_met),
    })
}

/// Returns the closest value of every column, as an array if several values are equally close.
fn closest_values(tables: &Microdata, closest: &[ClosestValues]) -> Value {
    let columns = tables.released.columns.iter().zip(closest).enumerate();
    let fields = columns.map(|(number, (column, dense_ranks))| {
        let mut values = tables
            .released
            .values_between(number, dense_ranks.first, dense_ranks.last);
        let value = match values.len() {
            1 => values.remove(0),
            _ => Value::Array(values),
        };
        (column.name().to_string(), value)
    });
    Value::Object(fields.collect())
}
