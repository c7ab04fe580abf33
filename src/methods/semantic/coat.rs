//! Set-generalised transactions: `coat`, `coat_report`, `km_anonymity`, `km_violations`, `mark_generalised`.

use crate::args::{given, json, name, warn_once};
use crate::error::Problem;
use crate::methods::semantic::transactions::{Column, Vocabulary, WantedColumn, constraints, read_columns};
use crate::pg::json::{Json, JsonText};
use crate::run;
use disclosure::semantic::{self, Coat, Constraints, Known, Rule, Transactions};
use pgrx::prelude::*;
use serde_json::Value;
use std::ffi::CStr;

const RELATION: &str = "relation";
const PRIVACY: &str = "privacy";
const UTILITY: &str = "utility";
const K: &str = "k";

/// coat(relation regclass, column_name name, privacy jsonb, k int, id name, utility jsonb, max_suppressed float8, seed
/// bigint)
#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments)] // they are those of the SQL function
fn coat(
    relation: Option<pg_sys::Oid>,
    column_name: Option<&CStr>,
    privacy: Option<JsonText>,
    k: Option<i32>,
    id: Option<&CStr>,
    utility: Option<JsonText>,
    max_suppressed: Option<f64>,
    seed: Option<i64>,
) -> TableIterator<'static, (name!(transaction, String), name!(terms, Json))> {
    let rows = || {
        let wish = CoatWish::new(privacy, utility, k, max_suppressed, seed)?;
        let (mut vocabulary, column) = read(relation, column_name, id)?;
        let coat = wish.fulfil(&column.transactions, &mut vocabulary)?;
        let released = run::long("generalising items", |control| {
            coat.released(&column.transactions, control)
        })?;
        Ok(as_rows(column.ids, released, vocabulary))
    };
    rows().unwrap_or_else(Problem::raise)
}

/// coat_report(relation regclass, column_name name, privacy jsonb, k int, utility jsonb, max_suppressed float8, seed
/// bigint)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn coat_report(
    relation: Option<pg_sys::Oid>,
    column_name: Option<&CStr>,
    privacy: Option<JsonText>,
    k: Option<i32>,
    utility: Option<JsonText>,
    max_suppressed: Option<f64>,
    seed: Option<i64>,
) -> TableIterator<
    'static,
    (
        name!(items, Vec<String>),
        name!(suppressed, bool),
        name!(support, i64),
        name!(cover, i64),
        name!(utility_loss, f64),
    ),
> {
    let rows = || {
        let wish = CoatWish::new(privacy, utility, k, max_suppressed, seed)?;
        let (mut vocabulary, column) = read(relation, column_name, None)?;
        let Coat {
            generalised,
            suppressed,
            ..
        } = wish.fulfil(&column.transactions, &mut vocabulary)?;
        let generalised = generalised.into_iter().map(|item| {
            let members = vocabulary.texts_of(&item.members);
            (
                members,
                false,
                item.support as i64,
                item.cover as i64,
                item.utility_loss,
            )
        });
        let suppressed = suppressed.into_iter().map(|item| {
            let texts = vec![vocabulary.text(item.item)];
            (texts, true, item.support as i64, 0, item.utility_loss)
        });
        Ok(generalised.chain(suppressed).collect::<Vec<_>>())
    };
    TableIterator::new(rows().unwrap_or_else(Problem::raise))
}

/// What the caller wants of COAT.
struct CoatWish {
    privacy: Option<Value>,
    utility: Option<Value>,
    k: Option<i32>,
    max_suppressed: Option<f64>,
    seed: Option<i64>,
}

impl CoatWish {
    fn new(
        privacy: Option<JsonText>,
        utility: Option<JsonText>,
        k: Option<i32>,
        max_suppressed: Option<f64>,
        seed: Option<i64>,
    ) -> Result<Self, Problem> {
        Ok(CoatWish {
            privacy: json("privacy", privacy)?,
            utility: json("utility", utility)?,
            k,
            max_suppressed,
            seed,
        })
    }

    fn fulfil(self, transactions: &Transactions, vocabulary: &mut Vocabulary) -> Result<Coat, Problem> {
        let constraints = Constraints {
            privacy: privacy_of(self.privacy, vocabulary)?,
            utility: constraints(UTILITY, self.utility, vocabulary)?,
            k: k_of(self.k)?,
            max_suppressed: given("max_suppressed", self.max_suppressed)?,
            seed: given("seed", self.seed)? as u64,
        };
        run::long("generalising items", |control| {
            semantic::coat(transactions, &constraints, control)
        })
    }
}

/// The argument privacy, where there has to be one, when all transactions were read.
pub(super) fn privacy_of(
    given: Option<Value>,
    vocabulary: &mut Vocabulary,
) -> Result<Vec<Vec<u32>>, Problem> {
    let known = vocabulary.len();
    let privacy = constraints(PRIVACY, given, vocabulary)?;
    let unknown = vocabulary.len() - known;
    // One with a slip of the pen protects nothing.
    if unknown > 0 && known > 0 {
        warn_once(&format!("items of privacy that are in no transaction: {unknown}"));
    }
    privacy.ok_or(Problem::null(
        PRIVACY,
        "Give lists of items that are to be protected: '[[\"blood pressure\"], [\"limbs\", \"injury\"]]'.",
    ))
}

/// The argument k, where there has to be one; as NULL it is none.
pub(super) fn k_of(k: Option<i32>) -> Result<u64, Problem> {
    let hint = "It is how many transactions have to share what is protected.";
    positive(K, k.unwrap_or_default(), hint)
}

fn positive(argument: &'static str, given: i32, hint: &'static str) -> Result<u64, Problem> {
    u64::try_from(given)
        .ok()
        .filter(|&number| number > 0)
        .ok_or(Problem::argument(argument, "must be at least 1", hint))
}

fn read(
    relation: Option<pg_sys::Oid>,
    column_name: Option<&CStr>,
    id: Option<&CStr>,
) -> Result<(Vocabulary, Column), Problem> {
    let (vocabulary, [column]) = read_columns([&wanted_column(relation, column_name, id)])?;
    Ok((vocabulary, column))
}

pub(super) fn wanted_column(
    relation: Option<pg_sys::Oid>,
    column_name: Option<&CStr>,
    id: Option<&CStr>,
) -> WantedColumn {
    WantedColumn {
        argument: RELATION,
        relation,
        column_name: name(column_name),
        id: name(id),
    }
}

/// Transactions as they leave.
fn as_rows(
    ids: Vec<String>,
    transactions: Transactions,
    vocabulary: Vocabulary,
) -> TableIterator<'static, (name!(transaction, String), name!(terms, Json))> {
    TableIterator::new(ids.into_iter().enumerate().map(move |(number, id)| {
        let entries = transactions.entries(number).iter();
        let terms = entries.map(|entry| vocabulary.json(&transactions, entry));
        (id, Json(terms.collect()))
    }))
}

/// km_anonymity(relation regclass, column_name name, m int)
#[pg_extern(sql = false)]
fn km_anonymity(relation: Option<pg_sys::Oid>, column_name: Option<&CStr>, m: Option<i32>) -> Option<i64> {
    let k = || {
        let m = m_of(m)?;
        let (_, column) = read(relation, column_name, None)?;
        run::long("looking for rare sets", |control| {
            semantic::km_anonymity(&column.transactions, m, control)
        })
    };
    let k: Option<u64> = k().unwrap_or_else(Problem::raise);
    k.map(|k| k as i64)
}

/// km_violations(relation regclass, column_name name, k int, m int, most int)
#[pg_extern(sql = false)]
fn km_violations(
    relation: Option<pg_sys::Oid>,
    column_name: Option<&CStr>,
    k: Option<i32>,
    m: Option<i32>,
    most: Option<i32>,
) -> TableIterator<'static, (name!(items, Json), name!(support, i64))> {
    let rows = || {
        let (k, m) = (k_of(k)?, m_of(m)?);
        let most = positive("most", given("most", most)?, "It is how many sets are listed.")? as usize;
        let (vocabulary, column) = read(relation, column_name, None)?;
        let violations = run::long("looking for rare sets", |control| {
            semantic::km_violations(&column.transactions, k, m, most, control)
        })?;
        let rows = violations.into_iter().map(|violation| {
            let entries = violation.set.iter();
            let items = entries.map(|entry| vocabulary.json(&column.transactions, entry));
            (Json(items.collect()), violation.support as i64)
        });
        Ok(rows.collect::<Vec<_>>())
    };
    TableIterator::new(rows().unwrap_or_else(Problem::raise))
}

fn m_of(m: Option<i32>) -> Result<usize, Problem> {
    let m = positive(
        "m",
        given("m", m)?,
        "It is how many items somebody may know of a transaction.",
    )?;
    Ok(m as usize)
}

/// mark_generalised(relation regclass, column_name name, id name, rule text, k int, utility jsonb, privacy jsonb)
#[pg_extern(sql = false)]
fn mark_generalised(
    relation: Option<pg_sys::Oid>,
    column_name: Option<&CStr>,
    id: Option<&CStr>,
    rule: Option<&str>,
    k: Option<i32>,
    utility: Option<JsonText>,
    privacy: Option<JsonText>,
) -> TableIterator<'static, (name!(transaction, String), name!(terms, Json))> {
    let rows = || {
        let rule = match given("rule", rule)? {
            "together" => Rule::Together,
            "repeated" => Rule::Repeated,
            _ => {
                return Err(Problem::argument(
                    "rule",
                    "is none of the rules",
                    "Give 'together' or 'repeated'.",
                ));
            }
        };
        let k = k.map(|k| k_of(Some(k))).transpose()?;
        let (mut vocabulary, column) = read(relation, column_name, id)?;
        let known = Known {
            k,
            utility: constraints(UTILITY, json("utility", utility)?, &mut vocabulary)?,
            privacy: constraints(PRIVACY, json("privacy", privacy)?, &mut vocabulary)?,
        };
        let marked = run::long("looking for generalised items", |control| {
            semantic::mark_generalised(&column.transactions, rule, &known, control)
        })?;
        Ok(as_rows(column.ids, marked, vocabulary))
    };
    rows().unwrap_or_else(Problem::raise)
}
