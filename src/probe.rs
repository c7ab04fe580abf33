//! Functions that only tests call: they provoke failures on purpose and show whether anything was left
//! behind. They are compiled only with the feature `probe`, and the tests themselves declare them in SQL.

use crate::error::Error;
use crate::guard::lineage::{Lineage, Origin, OutputColumn};
use crate::guard::log::{Entry, Lasting, Outcome};
use crate::guard::{lineage, log, policy, refusals};
use crate::pg::table::{Table, table_row};
use crate::{memory, run};
use pgrx::prelude::*;
use rayon::prelude::*;
use std::ffi::{CStr, CString};

/// Returns the number of bytes that this backend's Rust code holds.
#[pg_extern(sql = false)]
fn probe_memory_in_use() -> i64 {
    memory::in_use() as i64
}

/// Panics on the backend's own thread.
#[pg_extern(sql = false)]
fn probe_panic() {
    panic!("on purpose");
}

/// Panics in one of many tasks of the thread pool.
#[pg_extern(sql = false)]
fn probe_panic_in_worker() -> i64 {
    run::long("panicking", |_| {
        let sum = (0..1000i64).into_par_iter().map(|task| match task {
            500 => panic!("task {task} failed on purpose"),
            _ => task,
        });
        Ok(sum.sum())
    })
    .unwrap_or_else(Error::raise)
}

/// Allocates `megabytes` MB in a worker, one MB at a time, and returns their number.
#[pg_extern(sql = false)]
fn probe_allocate(megabytes: i64) -> i64 {
    run::long("allocating", move |control| {
        let mut held = Vec::new();
        for _ in 0..megabytes {
            control.check()?;
            held.push(vec![1u8; 1 << 20]);
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        Ok(held.len() as i64)
    })
    .unwrap_or_else(Error::raise)
}

/// Returns how many of some common signals a thread of the pool would receive; it must be 0.
#[pg_extern(sql = false)]
fn probe_unblocked_signals_in_worker() -> i64 {
    run::long("looking at signals", |_| {
        // SAFETY: reads the calling thread's own signal mask into a set in this frame.
        let open = unsafe {
            let mut mask: libc::sigset_t = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), &mut mask);
            [
                libc::SIGINT,
                libc::SIGTERM,
                libc::SIGUSR1,
                libc::SIGALRM,
                libc::SIGHUP,
            ]
            .into_iter()
            .filter(|&signal| libc::sigismember(&mask, signal) == 0)
            .count()
        };
        Ok(open as i64)
    })
    .unwrap_or_else(Error::raise)
}

/// Makes an attempt to export under a policy, which is refused after measuring if `refused`.
#[pg_extern(sql = false)]
fn probe_attempt(number: i32, refused: bool) {
    let attempt = || {
        let policies = policy::all()?;
        let chosen: Vec<_> = policies
            .iter()
            .filter(|policy| policy.number == number)
            .cloned()
            .collect();
        let turn = refusals::begin(&chosen)?;
        match refused {
            true => turn.refused(),
            false => Ok(()),
        }
    };
    attempt().unwrap_or_else(Error::raise)
}

/// Writes an entry to the export log. If `always` is false, the entry lasts only if the transaction commits.
#[pg_extern(sql = false)]
fn probe_log(kind: &str, relation: pg_sys::Oid, outcome: &str, always: bool) {
    let entry = Entry {
        kind,
        relation,
        policy: Some(1),
        measure: "k_anonymity",
        limit: "at least 5",
        measured: Some(2.0),
        rows: Some(10),
        unsafe_rows: None,
        outcome: match outcome {
            "allowed" => Outcome::Allowed,
            "dropped" => Outcome::Dropped,
            "warned" => Outcome::Warned,
            "exempt" => Outcome::Exempt,
            _ => Outcome::Refused,
        },
        counted: "age quasi",
        reason: Some("k_anonymity is 2"),
        details: false,
        query: Some("COPY patients TO STDOUT"),
    };
    let lasting = match always {
        true => Lasting::Always,
        false => Lasting::IfCommitted,
    };
    log::write(&entry, lasting).unwrap_or_else(Error::raise)
}

table_row! {
    /// Lineage of an output column, as `src/guard/lineage.rs` finds it.
    struct LineageRow {
        column_name: String,
        column_type: String,
        origins: Vec<String>,
        paired_by: Vec<String>,
        plain: Option<String>,
        unknown: bool,
    }
}

/// Returns the lineage of every output column of a query: probe_lineage(query text).
#[pg_extern(sql = false)]
fn probe_lineage(query: &str) -> Table<LineageRow> {
    let columns = lineage(query).columns.into_iter().map(|column| LineageRow {
        column_name: column.name.clone(),
        column_type: type_name(&column),
        origins: column.origins.iter().map(origin_name).collect(),
        paired_by: column.paired_by.iter().map(origin_name).collect(),
        plain: column.plain.as_ref().map(origin_name),
        unknown: column.unknown,
    });
    Table::new(Ok(columns.collect::<Vec<_>>()))
}

table_row! {
    /// Relations that a query reads, and whether each of their rows gives at most one output row.
    struct RelationsRow {
        relations: Vec<String>,
        rows_once: bool,
    }
}

/// Returns the relations of a query: probe_relations(query text).
#[pg_extern(sql = false)]
fn probe_relations(query: &str) -> Table<RelationsRow> {
    let lineage = lineage(query);
    // By name, because OIDs differ from run to run.
    let mut relations: Vec<String> = lineage.relations.into_iter().map(relation_name).collect();
    relations.sort();
    let rows_once = lineage.rows_once;
    Table::once(Ok(RelationsRow { relations, rows_once }))
}

fn lineage(query: &str) -> Lineage {
    let query = CString::new(query).unwrap_or_default();
    // SAFETY: the text outlives the call, and the elements of the parser's list are RawStmts.
    unsafe {
        let statements = pg_sys::pg_parse_query(query.as_ptr());
        let raw: *mut pg_sys::RawStmt = lineage::list(statements)[0];
        lineage::trace(lineage::analyse((*raw).stmt, query.as_ptr()))
    }
}

fn origin_name(origin: &Origin) -> String {
    format!("{}.{}", relation_name(origin.relation), origin.column)
}

fn type_name(column: &OutputColumn) -> String {
    // SAFETY: the type of a column exists, and its name is a NUL-terminated string.
    let name = unsafe { CStr::from_ptr(pg_sys::format_type_with_typemod(column.type_oid, column.typmod)) };
    name.to_string_lossy().into_owned()
}

fn relation_name(oid: pg_sys::Oid) -> String {
    // SAFETY: any OID is accepted; the result is NULL or a NUL-terminated string.
    unsafe {
        let name = pg_sys::get_rel_name(oid);
        match name.is_null() {
            true => oid.to_u32().to_string(),
            false => CStr::from_ptr(name).to_string_lossy().into_owned(),
        }
    }
}
