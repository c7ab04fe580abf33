//! Functions that only tests call: they provoke failures on purpose and show whether anything was left
//! behind. They are compiled only with the feature `probe`, and the tests themselves declare them in SQL.

use crate::error::Error;
use crate::guard::copy::export;
use crate::guard::log::{Entry, Lasting, Outcome};
use crate::guard::{language, log, policy, refusals, tree};
use crate::pg::table::{Table, table_row};
use crate::{memory, run};
use pgrx::prelude::*;
use rayon::prelude::*;
use std::ffi::CString;

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

/// Returns what the guard finds in a query, a line each, as if all policies applied: probe_shape(query text).
#[pg_extern(sql = false)]
fn probe_shape(query: &str) -> SetOfIterator<'static, String> {
    let query = CString::new(query).unwrap_or_default();
    // SAFETY: the text outlives the call, the elements of the parser's list are RawStmts, and nobody else uses
    // the tree.
    let lines = unsafe {
        let statements = tree::list::<pg_sys::RawStmt>(pg_sys::pg_parse_query(query.as_ptr()));
        #[cfg(feature = "pg14")]
        let rewritten = pg_sys::pg_analyze_and_rewrite(
            statements[0],
            query.as_ptr(),
            std::ptr::null_mut(),
            0,
            std::ptr::null_mut(),
        );
        #[cfg(not(feature = "pg14"))]
        let rewritten = pg_sys::pg_analyze_and_rewrite_fixedparams(
            statements[0],
            query.as_ptr(),
            std::ptr::null(),
            0,
            std::ptr::null_mut(),
        );
        export::describe(tree::list::<pg_sys::Query>(rewritten)[0])
    };
    SetOfIterator::new(lines.unwrap_or_else(Error::raise))
}

table_row! {
    /// Line of `src/guard/language/functions.txt`.
    struct ListedRow {
        oid: pg_sys::Oid,
        signature: String,
        family: String,
        constants: Vec<i32>,
    }
}

/// Returns the built-in functions that exports may use; `constants` are the numbers, from 1, of the arguments
/// that must be constant.
#[pg_extern(sql = false)]
fn probe_listed() -> Table<ListedRow> {
    let rows = language::list().iter().map(|listed| ListedRow {
        oid: pg_sys::Oid::from(listed.oid),
        signature: listed.signature.into(),
        family: listed.family.into(),
        constants: listed.constants.iter().map(|&place| place as i32 + 1).collect(),
    });
    Table::new(Ok(rows.collect::<Vec<_>>()))
}

/// Returns the hint that follows the refusal of a function, if there is a special one.
#[pg_extern(sql = false)]
fn probe_advice(function: pg_sys::Oid) -> Option<String> {
    language::advice(function)
}

/// Returns why exports may not contain a type; NULL if they may.
#[pg_extern(sql = false)]
fn probe_type_problem(type_oid: pg_sys::Oid) -> Option<String> {
    let trusted = language::trusted().unwrap_or_else(Error::raise);
    language::type_problem(type_oid, &trusted)
}

/// Returns the functions that superusers trust.
#[pg_extern(sql = false)]
fn probe_trusted() -> Vec<pg_sys::Oid> {
    let trusted = language::trusted().unwrap_or_else(Error::raise);
    trusted.into_iter().collect()
}

/// Returns the function of an operator that exports may use if they may call the function.
#[pg_extern(sql = false)]
fn probe_operator_function(operator: pg_sys::Oid) -> Option<pg_sys::Oid> {
    language::operator_function(operator)
}

/// Returns the tags of the top nodes of a domain's CHECK expressions.
#[pg_extern(sql = false)]
fn probe_domain_checks(type_oid: pg_sys::Oid) -> Vec<String> {
    let checks = language::domain_checks(type_oid).into_iter().map(|check| {
        // SAFETY: the node was just made.
        format!("{:?}", unsafe { (*check).type_ })
    });
    checks.collect()
}
