//! SQL functions that define and remove policies, `protect` and `unprotect`, and the event trigger that keeps
//! policies consistent with the relations and columns they name.
//!
//! Only the owner of a relation can define or remove its policies. All arguments are checked before a row of
//! `disclosure_internal.policy` is written. A policy with `on_rows` also installs the triggers of an export
//! table.

use crate::args::Args;
use crate::error::{Error, did_you_mean};
use crate::guard::export_table::{install, obstacle};
use crate::guard::measure_function::MEASURES;
use crate::guard::measure_function::MeasureFunction;
use crate::guard::rule::{Demand, Measure};
use crate::guard::{policy, rights, rule};
use crate::input::relation::Relation;
use crate::pg::call::event_trigger_data;
use crate::pg::catalog;
use crate::pg::query::{Answer, Parameters};
use disclosure::spelling;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;

/// Arguments of `protect`, not yet checked.
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

/// Policy as it is stored in `disclosure_internal.policy`.
struct Stored {
    relation: Oid,
    demand: Demand,
    for_role: Option<Oid>,
    only_by_copy: bool,
}

/// protect(relation regclass, measure text, columns name[], at_most float8, at_least float8, for_role regrole,
/// on_rows text, statistic text, threshold float8, only_by_copy boolean)
#[pg_extern(sql = false)]
fn protect(mut args: Args) -> SetOfIterator<'static, i32> {
    let given = Given {
        relation: args.optional("relation"),
        measure: args.optional("measure"),
        columns: args.names("columns"),
        at_most: args.optional("at_most"),
        at_least: args.optional("at_least"),
        for_role: args.optional("for_role"),
        on_rows: args.optional("on_rows"),
        statistic: args.optional("statistic"),
        threshold: args.optional("threshold"),
        only_by_copy: args.optional("only_by_copy").unwrap_or(false),
    };
    let number = args.end().and_then(|()| define(given));
    SetOfIterator::new([number.unwrap_or_else(Error::raise)])
}

fn define(given: Given) -> Result<i32, Error> {
    let stored = check(given)?;
    rights::begin_change(c"protect()", stored.relation)?;
    let number = rights::as_owner(|| store(&stored))?;
    match stored.demand.on_rows {
        Some(_) => install::arm(stored.relation)?,
        None => install::disarm(stored.relation)?, // the policy that it replaces may have had one
    }
    warn_if_not_preloaded()?;
    Ok(number)
}

fn check(given: Given) -> Result<Stored, Error> {
    let has_columns = given.columns.is_some();
    let relation = Relation::new(given.relation, given.columns)?;
    let oid = given.relation.ok_or(Error::Internal("a relation without OID"))?; // NULL was refused above
    let chosen: Vec<String> = relation
        .columns()
        .iter()
        .map(|column| column.name.clone())
        .collect();
    rights::check_owner(oid)?;
    check_persistence(oid)?;
    check_role(given.for_role)?;
    let measure = given.measure.ok_or_else(|| Error::null("measure", MEASURES))?;
    let built_in = rule::built_in(&measure);
    let function = match built_in {
        Some(_) => None,
        None => Some(MeasureFunction::named(&measure).map_err(|error| offer_nearest(error, &measure))?),
    };
    let mut demand = Demand {
        measure_owner: function.as_ref().map(|function| function.owner),
        measure: match &function {
            Some(function) => function.signature.clone(),
            None => built_in.unwrap_or_default().into(),
        },
        // SAFETY: only reads a variable of this backend, on its main thread.
        made_by: Some(unsafe { pg_sys::GetUserId() }),
        statistic: given.statistic.as_deref().map(spelling::normalised),
        threshold: given.threshold,
        at_most: given.at_most,
        at_least: given.at_least,
        columns: has_columns.then_some(chosen),
        on_rows: given.on_rows.as_deref().map(spelling::normalised),
    };
    let rule = demand.check(oid)?;
    if let Some(on_rows) = rule.on_rows
        && let Some(problem) = obstacle::find(&policy::family_of(&[oid])?, on_rows)?
    {
        return Err(Error::argument(
            "on_rows",
            problem,
            "Remove it from the table, or leave on_rows out. For triggers, rules and foreign keys, block and warn are \
             possible, too.",
        ));
    }
    if let Measure::PrivacyScore(statistic) = rule.measure {
        demand.statistic = Some(statistic.name().into());
    }
    if let Some(Err(problem)) = function.map(|function| function.find(oid)).transpose()? {
        return Err(Error::argument("measure", problem, MEASURES));
    }
    Ok(Stored {
        relation: oid,
        demand,
        for_role: given.for_role,
        only_by_copy: given.only_by_copy,
    })
}

/// Adds the measure of the extension that was probably meant to the hint of an error.
fn offer_nearest(error: Error, measure: &str) -> Error {
    match error {
        Error::Argument {
            argument,
            problem,
            hint,
        } => Error::Argument {
            argument,
            problem,
            hint: did_you_mean(spelling::nearest(measure, rule::BUILT_IN), &hint).into(),
        },
        other => other,
    }
}

/// Checks that a relation is not temporary, because a policy outlives the session and a temporary table does
/// not.
fn check_persistence(relation: Oid) -> Result<(), Error> {
    // SAFETY: accepts the OID of any relation, and the relation was found by `Relation::new`.
    match unsafe { pg_sys::get_rel_persistence(relation) } as u8 == pg_sys::RELPERSISTENCE_TEMP {
        true => Err(Error::argument(
            "relation",
            "must not be temporary",
            "Give a relation that outlives the session.",
        )),
        false => Ok(()),
    }
}

fn check_role(role: Option<Oid>) -> Result<(), Error> {
    // SAFETY: accepts any OID, and returns NULL if there is no such role.
    let exists = role.is_none_or(|role| unsafe { !pg_sys::GetUserNameFromId(role, true).is_null() });
    match exists {
        true => Ok(()),
        false => Err(Error::argument(
            "for_role",
            "role does not exist",
            "Give the name of a role, or NULL for everyone.",
        )),
    }
}

/// Stores a policy and returns its number. A policy with the same relation, measure, statistic, columns and
/// role is replaced and keeps its number.
fn store(policy: &Stored) -> Result<i32, Error> {
    const UPDATE: &str = "
        UPDATE disclosure_internal.policy p SET at_most = $6, at_least = $7, on_rows = $8, only_by_copy = $9, threshold = $10,
               made_by = $11, measure_owner = $12, made_at = now()
         WHERE p.relation::oid = $1 AND p.measure = $2 AND p.statistic IS NOT DISTINCT FROM $3
           AND p.columns IS NOT DISTINCT FROM $4::name[] AND p.for_role::oid IS NOT DISTINCT FROM $5
        RETURNING p.policy";
    const INSERT: &str = "
        INSERT INTO disclosure_internal.policy (relation, measure, statistic, columns, for_role, at_most, at_least, on_rows,
               only_by_copy, threshold, made_by, measure_owner, made_at)
        VALUES ($1, $2, $3, $4::name[], $5, $6, $7, $8, $9, $10, $11, $12, now())
        RETURNING policy";
    let demand = &policy.demand;
    let arguments = [
        policy.relation.into(),
        demand.measure.as_str().into(),
        demand.statistic.as_deref().into(),
        demand.columns.clone().into(),
        policy.for_role.into(),
        demand.at_most.into(),
        demand.at_least.into(),
        demand.on_rows.as_deref().into(),
        policy.only_by_copy.into(),
        demand.threshold.into(),
        demand.made_by.into(),
        demand.measure_owner.into(),
    ];
    let number = Spi::connect_mut(|client| {
        let updated = client.update(UPDATE, None, &arguments)?;
        match updated.is_empty() {
            false => updated.first().get_one::<i32>(),
            true => client.update(INSERT, None, &arguments)?.first().get_one::<i32>(),
        }
    });
    number
        .map_err(|_: pgrx::spi::Error| Error::Internal("the policy could not be stored"))?
        .ok_or(Error::Internal("the policy could not be stored"))
}

/// unprotect_policy(policy int)
#[pg_extern(sql = false)]
fn unprotect_policy(policy: i32) -> bool {
    take_away(|candidate| candidate.number == policy).unwrap_or_else(Error::raise) > 0
}

/// unprotect(relation regclass)
#[pg_extern(sql = false)]
fn unprotect(relation: Oid) -> i32 {
    let number = check_exists(relation).and_then(|()| take_away(|candidate| candidate.relation == relation));
    number.unwrap_or_else(Error::raise)
}

/// Refuses an OID that is not that of a relation, above all the number of a policy.
fn check_exists(relation: Oid) -> Result<(), Error> {
    if catalog::owner_of(relation).is_some() {
        return Ok(());
    }
    Err(Error::argument(
        "relation",
        format!("there is no relation with OID {}", relation.to_u32()),
        "Give the name of a relation. To remove one policy by its number, use disclosure.unprotect_policy().",
    ))
}

/// Removes all policies for which `is_meant` returns true, and returns their number.
fn take_away(is_meant: impl Fn(&policy::Policy) -> bool) -> Result<i32, Error> {
    let all = policy::all()?;
    let meant: Vec<_> = all.iter().filter(|policy| is_meant(policy)).collect();
    for policy in &meant {
        // Keeps the owner from changing while this transaction waits for others.
        // SAFETY: a lock accepts any OID, and the end of this transaction releases it.
        unsafe { pg_sys::LockRelationOid(policy.relation, pg_sys::AccessShareLock as pg_sys::LOCKMODE) };
        rights::check_owner(policy.relation)?;
        rights::begin_change(c"unprotect()", policy.relation)?;
    }
    rights::as_owner(|| {
        Spi::connect_mut(|client| {
            for policy in &meant {
                let which = [policy.number.into(), policy.relation.into()];
                client
                    .update(
                        "DELETE FROM disclosure_internal.policy p WHERE p.policy = $1 AND p.relation::oid = $2",
                        None,
                        &which,
                    )
                    .map_err(|_| Error::Internal("the policy could not be removed"))?;
            }
            Ok(())
        })
    })?;
    for policy in &meant {
        if catalog::owner_of(policy.relation).is_some() {
            install::disarm(policy.relation)?;
        }
    }
    Ok(meant.len() as i32)
}

/// Warns if the library is not preloaded: sessions that do not load it can export without being guarded.
fn warn_if_not_preloaded() -> Result<(), Error> {
    let is_preloaded = Spi::connect(|_| {
        // SAFETY: SPI is connected, and the only column has type boolean.
        unsafe {
            let answer = Answer::to(
                "SELECT disclosure_internal.is_preloaded()",
                &Parameters::default(),
                true,
            )?;
            Ok::<_, Error>(answer.get(0, 0).unwrap_or(false))
        }
    })?;
    if !is_preloaded {
        ErrorReport::new(
            PgSqlErrorCode::ERRCODE_WARNING,
            "pg_disclosure is not preloaded: COPY TO is not guarded yet",
            "",
        )
        .set_hint(
            "Run ALTER DATABASE … SET session_preload_libraries = 'pg_disclosure'. It takes effect in new sessions.",
        )
        .report(PgLogLevel::WARNING);
    }
    Ok(())
}

/// policies_hold(): event trigger on sql_drop.
#[pg_extern(sql = false)]
fn policies_hold(fcinfo: pg_sys::FunctionCallInfo) {
    // SAFETY: `fcinfo` is the current call.
    let held = match unsafe { event_trigger_data(fcinfo) } {
        Some(_) => hold_columns(),
        None => Err(Error::NotTheTrigger("policies_hold")),
    };
    held.unwrap_or_else(Error::raise);
}

/// Removes the policies of dropped relations. Returns an error if a dropped column is needed by a policy.
fn hold_columns() -> Result<(), Error> {
    const FORGET: &str = "
        DELETE FROM disclosure_internal.policy p
         USING pg_event_trigger_dropped_objects() d
         WHERE d.classid = 'pg_class'::regclass AND d.objid = p.relation AND d.objsubid = 0";
    const NEEDED: &str = "
        SELECT d.object_identity, p.policy
          FROM disclosure_internal.policy p, pg_event_trigger_dropped_objects() d
         WHERE d.classid = 'pg_class'::regclass AND d.objid = p.relation AND d.objsubid = ANY (p.attnums)
         ORDER BY p.policy, d.objsubid LIMIT 1";
    let needed = Spi::connect_mut(|client| {
        client.update(FORGET, None, &[])?;
        let found = client.select(NEEDED, Some(1), &[])?;
        if found.is_empty() {
            return Ok(None);
        }
        let (column, policy) = found.first().get_two::<String, i32>()?;
        Ok(column.zip(policy))
    });
    match needed
        .map_err(|_: pgrx::spi::Error| Error::Internal("the policies of dropped objects could not be read"))?
    {
        None => Ok(()),
        Some((column, policy)) => Err(Error::ColumnNeeded { column, policy }),
    }
}
