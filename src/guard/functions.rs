//! SQL functions of the export guard: `check_export`, and `leaving`, which returns the rows to be measured.

use crate::args::Args;
use crate::error::Error;
use crate::guard::copy::dry_run::Trial;
use crate::guard::copy::{dry_run, spool};
use crate::guard::enforcement;
use crate::pg::table::{Table, table_row};
use crate::verdict::verdict_name;
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;

/// leaving(columns text): returns the rows that are being judged.
#[pg_extern(sql = false)]
fn leaving(mut args: Args, fcinfo: pg_sys::FunctionCallInfo) {
    let columns: Option<String> = args.optional("columns");
    let columns = columns.unwrap_or_default();
    // SAFETY: `fcinfo` is the current call, and sql/ declares the function as returning SETOF record.
    let shown = args
        .end()
        .and_then(|()| unsafe { spool::show_in(fcinfo, &columns) });
    shown.unwrap_or_else(Error::raise);
}

table_row! {
    /// Verdict of one policy on a query.
    struct Checked {
        policy: i32,
        relation: Oid,
        measure: String,
        required: String,
        applies: bool,
        measured: Option<f64>,
        rows: Option<i64>,
        unsafe_rows: Option<i64>,
        verdict: &'static str,
    }
}

/// check_export(query text)
#[pg_extern(sql = false)]
fn check_export(query: &str) -> Table<Checked> {
    let checked = |trial| {
        let Trial {
            policy,
            applies,
            measured,
            is_safe,
        } = trial;
        Checked {
            policy: policy.number,
            relation: policy.relation,
            measure: policy.measure.to_string(),
            required: policy.limit.to_string(),
            applies,
            measured: measured.and_then(|measured| measured.value),
            rows: measured.map(|measured| measured.rows),
            unsafe_rows: measured.and_then(|measured| measured.unsafe_rows),
            verdict: verdict_name(is_safe),
        }
    };
    enforcement::remind().unwrap_or_else(Error::raise);
    Table::new(dry_run::try_out(query).map(|trials| trials.into_iter().map(checked)))
}
