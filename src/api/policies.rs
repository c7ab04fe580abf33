//! Policies: `protect`, `unprotect`. Only the owner of a relation decides what may leave it.

use super::names;
use crate::error::Problem;
use crate::guard::policy::{self, Limit, OnRows, Statistic};
use crate::guard::{arming, rights};
use crate::input::relation::Relation;
use crate::input::{Answer, Parameters};
use pgrx::fcinfo::pg_getarg;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{self, FunctionCallInfo, Oid};
use pgrx::prelude::*;
use std::ffi::CStr;

/// What `protect` was given, before it has been looked at.
struct Given {
    relation: Option<Oid>,
    measure: Option<String>,
    at_most: Option<f64>,
    at_least: Option<f64>,
    columns: Option<Vec<Option<String>>>,
    for_role: Option<Oid>,
    on_rows: Option<String>,
    statistic: Option<String>,
    threshold: Option<f64>,
    only_by_copy: bool,
}

/// A policy as `disclosure.policy` has it.
struct Stored {
    relation: Oid,
    measure: String,
    statistic: Option<&'static str>,
    threshold: Option<f64>,
    limit: Limit,
    columns: Option<Vec<String>>,
    for_role: Option<Oid>,
    on_rows: Option<String>,
    only_by_copy: bool,
}

/// protect(relation regclass, measure text, at_most float8, at_least float8, columns name[], for_role regrole,
/// on_rows text, statistic text, threshold float8, only_by_copy boolean)
#[pg_extern(sql = false)]
fn protect(fcinfo: FunctionCallInfo) -> i32 {
    // SAFETY: the types are those of the declaration in sql/.
    let given = unsafe {
        Given {
            relation: pg_getarg(fcinfo, 0),
            measure: pg_getarg(fcinfo, 1),
            at_most: pg_getarg(fcinfo, 2),
            at_least: pg_getarg(fcinfo, 3),
            columns: pg_getarg::<pgrx::Array<&CStr>>(fcinfo, 4).map(names),
            for_role: pg_getarg(fcinfo, 5),
            on_rows: pg_getarg(fcinfo, 6),
            statistic: pg_getarg(fcinfo, 7),
            threshold: pg_getarg(fcinfo, 8),
            only_by_copy: pg_getarg(fcinfo, 9).unwrap_or(false),
        }
    };
    lay_down(given).unwrap_or_else(Problem::raise)
}

fn lay_down(given: Given) -> Result<i32, Problem> {
    let stored = check(given)?;
    let number = as_owner(|| store(&stored))?;
    match stored.on_rows {
        Some(_) => arming::arm(stored.relation)?,
        None => arming::disarm(stored.relation)?, // what it replaces may have had one
    }
    warn_if_not_preloaded()?;
    Ok(number)
}

fn check(given: Given) -> Result<Stored, Problem> {
    let has_columns = given.columns.is_some();
    let relation = Relation::new(given.relation, given.columns)?;
    let oid = given.relation.ok_or(Problem::Lost)?; // NULL was refused above
    let chosen: Vec<String> = relation
        .columns()
        .iter()
        .map(|column| column.name.clone())
        .collect();
    check_owner(oid, &relation)?;
    let measure = given
        .measure
        .ok_or_else(|| invalid("measure", "must not be NULL", MEASURES))?;
    let measure = match measure.as_str() {
        "privacy_score" | "k_anonymity" | "expected_cracks" => measure,
        _ => function_named(&measure)?,
    };
    let statistic = check_statistic(&measure, given.statistic.as_deref(), given.threshold)?;
    let limit = check_limit(&measure, given.at_most, given.at_least)?;
    let columns = has_columns.then_some(chosen);
    if measure == "expected_cracks" && columns.as_ref().is_none_or(|columns| columns.len() != 1) {
        return Err(invalid(
            "columns",
            "must be one column where the measure is expected_cracks",
            "Give the column of items, e.g. ARRAY['items'].",
        ));
    }
    if let Some(on_rows) = &given.on_rows {
        check_on_rows(on_rows, oid, &measure, statistic)?;
    }
    Ok(Stored {
        relation: oid,
        measure,
        statistic: statistic.map(|statistic| match statistic {
            Statistic::Maximum => "maximum",
            Statistic::Average => "average",
            Statistic::Share { .. } => "share",
        }),
        threshold: given.threshold,
        limit,
        columns,
        for_role: given.for_role,
        on_rows: given.on_rows,
        only_by_copy: given.only_by_copy,
    })
}

const MEASURES: &str =
    "Give privacy_score, k_anonymity, expected_cracks, or a function that takes the text of a query and returns a number.";

fn invalid(argument: &'static str, problem: impl Into<String>, hint: &'static str) -> Problem {
    Problem::Argument {
        argument,
        problem: problem.into(),
        hint,
    }
}

fn check_owner(oid: Oid, relation: &Relation) -> Result<(), Problem> {
    let owner = policy::owner_of(oid).ok_or(Problem::Lost)?;
    // SAFETY: a catalogue look-up.
    match unsafe { pg_sys::has_privs_of_role(pg_sys::GetUserId(), owner) } {
        true => Ok(()),
        false => Err(Problem::NotOwner {
            relation: relation.name().into(),
        }),
    }
}

/// Only a score has one: the greatest, unless the caller asks for another.
fn check_statistic(
    measure: &str,
    statistic: Option<&str>,
    threshold: Option<f64>,
) -> Result<Option<Statistic>, Problem> {
    let hint = "maximum, average, or share (of rows whose score is at or above the threshold)";
    let is_score = measure == "privacy_score";
    let statistic = match (statistic, threshold) {
        (None, None) if !is_score => return Ok(None),
        (Some(_), _) if !is_score => {
            return Err(invalid(
                "statistic",
                "is for the measure privacy_score only",
                hint,
            ))
        }
        (Some("share"), Some(threshold)) if (0.0..=1.0).contains(&threshold) => {
            Statistic::Share { threshold }
        }
        (Some("share"), _) => {
            return Err(invalid(
                "threshold",
                "must be a number from 0 to 1",
                "It is the score from which on a row counts.",
            ))
        }
        (_, Some(_)) => return Err(invalid("threshold", "is for the statistic share only", hint)),
        (None | Some("maximum"), None) => Statistic::Maximum,
        (Some("average"), None) => Statistic::Average,
        (Some(_), None) => return Err(invalid("statistic", "is not understood", hint)),
    };
    Ok(Some(statistic))
}

fn check_limit(measure: &str, at_most: Option<f64>, at_least: Option<f64>) -> Result<Limit, Problem> {
    let limit = match (at_most, at_least) {
        (Some(limit), None) => Limit::AtMost(limit),
        (None, Some(limit)) => Limit::AtLeast(limit),
        _ => {
            return Err(invalid(
                "at_most, at_least",
                "exactly one of them must be given",
                "A risk has a limit at_most, protection one at_least: at_most => 0.5 for privacy_score, \
                 at_least => 5 for k_anonymity.",
            ))
        }
    };
    let range = |allowed, hint| match allowed {
        true => Ok(limit),
        false => Err(invalid(
            match limit {
                Limit::AtMost(_) => "at_most",
                Limit::AtLeast(_) => "at_least",
            },
            "is not a limit of this measure",
            hint,
        )),
    };
    match (measure, limit) {
        ("privacy_score", Limit::AtMost(limit)) => {
            range((0.0..=1.0).contains(&limit), "Give a number from 0 to 1.")
        }
        ("privacy_score", _) => range(false, "A score has a limit at_most, from 0 to 1."),
        ("k_anonymity", Limit::AtLeast(limit)) => {
            range(limit >= 1.0 && limit.is_finite(), "Give a number from 1.")
        }
        ("k_anonymity", _) => range(false, "k has a limit at_least, from 1."),
        ("expected_cracks", Limit::AtMost(limit)) => {
            range(limit >= 0.0 && limit.is_finite(), "Give a number from 0.")
        }
        ("expected_cracks", _) => range(false, "Cracks have a limit at_most, from 0."),
        (_, limit) => range(limit.value().is_finite(), "Give a finite number."),
    }
}

fn check_on_rows(
    on_rows: &str,
    oid: Oid,
    measure: &str,
    statistic: Option<Statistic>,
) -> Result<(), Problem> {
    let Some(parsed) = OnRows::parse(on_rows) else {
        return Err(invalid(
            "on_rows",
            "is not understood",
            "block refuses the statement, drop leaves the unsafe rows out, warn lets them pass with a warning.",
        ));
    };
    // SAFETY: a catalogue look-up.
    let kind = unsafe { pg_sys::get_rel_relkind(oid) } as u8;
    if !matches!(kind, pg_sys::RELKIND_RELATION | pg_sys::RELKIND_PARTITIONED_TABLE) {
        return Err(invalid(
            "on_rows",
            "is for tables only",
            "Leave it out: what leaves a view or a foreign table is judged by COPY TO.",
        ));
    }
    let is_by_row = measure == "k_anonymity" || statistic == Some(Statistic::Maximum);
    match parsed {
        OnRows::Drop if !is_by_row => Err(invalid(
            "on_rows",
            "cannot be drop where the measure has no value for single rows",
            "Give block or warn.",
        )),
        _ => Ok(()),
    }
}

/// Schema and name, quoted, of a function that is to measure.
fn function_named(measure: &str) -> Result<String, Problem> {
    const QUERY: &str = "
        SELECT pg_catalog.format('%I.%I', n.nspname, p.proname),
               p.prorettype OPERATOR(pg_catalog.=) ANY ('{int2,int4,int8,float4,float8,numeric}'::pg_catalog.regtype[])
               AND NOT p.proretset AND p.prokind OPERATOR(pg_catalog.=) 'f'
               AND p.proargtypes OPERATOR(pg_catalog.=) '25'::pg_catalog.oidvector,
               pg_catalog.has_function_privilege(p.oid, 'EXECUTE')
          FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
         WHERE p.oid OPERATOR(pg_catalog.=) pg_catalog.to_regprocedure($1)";
    let signature = match measure.contains('(') {
        true => measure.to_string(),
        false => format!("{measure}(pg_catalog.text)"),
    };
    let mut parameters = Parameters::default();
    parameters.add(pg_sys::TEXTOID, signature.into_datum().ok_or(Problem::Lost)?);
    Spi::connect(|_| {
        // SAFETY: SPI is connected; a text for the text; text, boolean and boolean are what is read.
        unsafe {
            let answer = Answer::to(QUERY, &parameters, true)?;
            if answer.rows() == 0 {
                return Err(invalid(
                    "measure",
                    format!("there is no function {measure}"),
                    MEASURES,
                ));
            }
            let name: String = answer.get(0, 0).ok_or(Problem::Lost)?;
            match (answer.get(0, 1), answer.get(0, 2)) {
                (Some(true), Some(true)) => Ok(name),
                (Some(true), _) => Err(invalid(
                    "measure",
                    format!("you may not execute {name}"),
                    "GRANT EXECUTE ON FUNCTION …",
                )),
                _ => Err(invalid(
                    "measure",
                    format!("{name} does not return a number"),
                    MEASURES,
                )),
            }
        }
    })
}

/// Whoever may lay a policy down need not be allowed to write the table of policies.
fn as_owner<R>(job: impl FnOnce() -> Result<R, Problem>) -> Result<R, Problem> {
    rights::run_as(policy::owner_of_policies()?, false, || {
        rights::under_own_settings(job)
    })
}

/// A policy is known by its relation, measure, columns and role; what is new of it replaces what was.
fn store(policy: &Stored) -> Result<i32, Problem> {
    const UPDATE: &str = "
        UPDATE disclosure.policy p SET at_most = $6, at_least = $7, on_rows = $8, only_by_copy = $9, threshold = $10,
               made_by = $11, made_at = now()
         WHERE p.relation = $1 AND p.measure = $2 AND p.statistic IS NOT DISTINCT FROM $3
           AND p.columns IS NOT DISTINCT FROM $4::name[] AND p.for_role IS NOT DISTINCT FROM $5::regrole
        RETURNING p.policy";
    const INSERT: &str = "
        INSERT INTO disclosure.policy (relation, measure, statistic, columns, for_role, at_most, at_least, on_rows,
               only_by_copy, threshold, made_by, made_at)
        VALUES ($1, $2, $3, $4::name[], $5::regrole, $6, $7, $8, $9, $10, $11, now())
        RETURNING policy";
    let (at_most, at_least) = match policy.limit {
        Limit::AtMost(limit) => (Some(limit), None),
        Limit::AtLeast(limit) => (None, Some(limit)),
    };
    // SAFETY: a role that exists; the name lives until the current memory context is reset.
    let maker = unsafe { CStr::from_ptr(pg_sys::GetUserNameFromId(rights::asking(), false)) };
    let arguments = [
        policy.relation.into(),
        policy.measure.as_str().into(),
        policy.statistic.into(),
        policy.columns.clone().into(),
        policy.for_role.into(),
        at_most.into(),
        at_least.into(),
        policy.on_rows.as_deref().into(),
        policy.only_by_copy.into(),
        policy.threshold.into(),
        maker.to_string_lossy().into_owned().into(),
    ];
    let number = Spi::connect_mut(|client| {
        // Two who lay down the same policy at once make one.
        client.update(
            "LOCK TABLE disclosure.policy IN SHARE ROW EXCLUSIVE MODE",
            None,
            &[],
        )?;
        let updated = client.update(UPDATE, None, &arguments)?;
        match updated.is_empty() {
            false => updated.first().get_one::<i32>(),
            true => client.update(INSERT, None, &arguments)?.first().get_one::<i32>(),
        }
    });
    number
        .map_err(|_: pgrx::spi::Error| Problem::Lost)?
        .ok_or(Problem::Lost)
}

/// unprotect(policy int)
#[pg_extern(sql = false)]
fn unprotect_policy(policy: i32) -> bool {
    take_away(|candidate| candidate.number == policy).unwrap_or_else(Problem::raise) > 0
}

/// unprotect(relation regclass)
#[pg_extern(sql = false)]
fn unprotect_relation(relation: Oid) -> i32 {
    take_away(|candidate| candidate.relation == relation).unwrap_or_else(Problem::raise)
}

/// Take away all policies that are meant; how many they were.
fn take_away(is_meant: impl Fn(&policy::Policy) -> bool) -> Result<i32, Problem> {
    let all = policy::all()?;
    let meant: Vec<&policy::Policy> = all.iter().filter(|policy| is_meant(policy)).collect();
    for policy in &meant {
        check_owner(
            policy.relation,
            &Relation::whole("relation", Some(policy.relation))?,
        )?;
    }
    as_owner(|| {
        Spi::connect_mut(|client| {
            for policy in &meant {
                let number = [policy.number.into()];
                client
                    .update(
                        "DELETE FROM disclosure.policy p WHERE p.policy = $1",
                        None,
                        &number,
                    )
                    .map_err(|_| Problem::Lost)?;
            }
            Ok(())
        })
    })?;
    for policy in &meant {
        arming::disarm(policy.relation)?;
    }
    Ok(meant.len() as i32)
}

/// announce_policies(): trigger of disclosure.policy
#[pg_trigger(sql = false)]
fn announce_policies<'a>(
    _trigger: &'a pgrx::PgTrigger<'a>,
) -> Result<Option<PgHeapTuple<'a, pgrx::AllocatedByPostgres>>, Problem> {
    policy::announce_change()?;
    Ok(None)
}

/// Without preloading, whoever likes can export in a session in which the guard is not there.
fn warn_if_not_preloaded() -> Result<(), Problem> {
    let is_preloaded = Spi::connect(|_| {
        // SAFETY: SPI is connected; the answer is one boolean.
        unsafe {
            let answer = Answer::to("SELECT disclosure.is_preloaded()", &Parameters::default(), true)?;
            Ok::<_, Problem>(answer.get(0, 0).unwrap_or(false))
        }
    })?;
    if !is_preloaded {
        ErrorReport::new(
            PgSqlErrorCode::ERRCODE_WARNING,
            "pg_disclosure is not preloaded: COPY TO is not guarded yet",
            "",
        )
        .set_hint(
            "ALTER DATABASE … SET session_preload_libraries = 'pg_disclosure'; it holds for new sessions.",
        )
        .report(PgLogLevel::WARNING);
    }
    Ok(())
}
