//! Record linkage by an adversary with maximum knowledge, that is, of the whole original table:
//! `record_linkage`.

use super::microdata::{Microdata, Wanted};
use super::options::Options;
use crate::args::Args;
use crate::error::Error;
use crate::pg::json::Json;
use crate::pg::table::{Table, table_row};
use crate::run;
use disclosure::permutation::{RankedTables, in_ranks};
use pgrx::prelude::*;

table_row! {
    /// An original record and the released record that it was matched with.
    struct LinkedRecord {
        key: Option<String>,
        original: Json,
        matched: Json,
        distance: f64,
        matches: i64,
        correct: Option<bool>,
        probability: Option<f64>,
    }
}

/// record_linkage(original regclass, released regclass, columns name[], key name, orders jsonb,
/// ties disclosure.tie_treatment, seed bigint)
#[pg_extern(sql = false)]
fn record_linkage(args: Args) -> Table<LinkedRecord> {
    Table::new(linked_records(args))
}

fn linked_records(mut args: Args) -> Result<impl Iterator<Item = LinkedRecord>, Error> {
    let wanted = Wanted::read(&mut args);
    let options = Options::read(&mut args)?;
    args.end()?;
    let tables = Microdata::by_rank(&wanted, &options.orders)?;
    let (original, released) = (tables.original.dense_ranks(), tables.released.dense_ranks());
    let is_paired = tables.is_paired();
    let (linkage, correct) = run::long("linking records", |control| {
        RankedTables::new(&original, &released, is_paired, options.ties, control)?.link(control)
    })?;
    let matches = linkage.matches.into_iter().enumerate();
    Ok(matches.map(move |(record, found)| {
        let correct = correct.as_ref().map(|correct| correct[record]);
        LinkedRecord {
            key: tables.original.key(record),
            original: Json(tables.original.json(record)),
            matched: Json(tables.released.json(found.first as usize)),
            distance: in_ranks(found.distance),
            matches: found.count as i64,
            correct,
            probability: correct.map(|correct| f64::from(u8::from(correct)) / found.count as f64),
        }
    }))
}
