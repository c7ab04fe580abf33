//! SQL functions that define and remove policies, `protect` and `unprotect`, and the event trigger that keeps
//! policies consistent with the relations and columns they name.
//!
//! Only the owner of a relation, and roles that administer policies, can define or remove its policies. All arguments are checked before a row of
//! `disclosure_internal.policy` is written. A policy with `on_rows` also installs the triggers of an export
//! table.

use crate::args::Args;
use crate::error::{Error, did_you_mean};
use crate::guard::export_table::{install, obstacle};
use crate::guard::log::{self, Entry, Lasting};
use crate::guard::measure_function::MEASURES;
use crate::guard::measure_function::MeasureFunction;
use crate::guard::rule::{Bounds, Demand, Measure, Rule};
use crate::guard::{duties, enforcement, policy, rights, rule};
use crate::input::relation::Relation;
use crate::methods::assess::preset::{Preset, PresetCriterion};
use crate::pg::call::event_trigger_data;
use crate::pg::catalog;
use disclosure::figures::ColumnFigure;
use disclosure::spelling;
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;

/// Arguments of `protect`, not yet checked.
#[derive(Clone)]
struct Given {
    relation: Option<Oid>,
    measure: Option<String>,
    preset: Option<String>,
    unlabelled: Option<String>,
    at_most: Option<f64>,
    at_least: Option<f64>,
    columns: Option<Vec<Option<String>>>,
    for_role: Option<Oid>,
    on_rows: Option<String>,
    statistic: Option<String>,
    threshold: Option<f64>,
    only_by_copy: bool,
    min_people: Option<i32>,
    min_confidence: Option<f64>,
    max_refusals: Option<i32>,
    details: bool,
    locked: bool,
}

/// Policy as it is stored in `disclosure_internal.policy`.
struct Stored {
    relation: Oid,
    demand: Demand,
    /// Measure and limit in words.
    measure: String,
    limit: String,
    for_role: Option<Oid>,
    only_by_copy: bool,
    bounds: Bounds,
    details: bool,
    locked: bool,
}

/// protect(relation regclass, measure text, columns name[], at_most float8, at_least float8, for_role regrole,
/// on_rows text, statistic text, threshold float8, only_by_copy boolean, min_people int, min_confidence float8,
/// max_refusals int, details boolean, locked boolean, preset text, unlabelled text)
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
        min_people: args.optional("min_people"),
        min_confidence: args.optional("min_confidence"),
        max_refusals: args.optional("max_refusals"),
        details: args.optional("details").unwrap_or(false),
        locked: args.optional("locked").unwrap_or(false),
        preset: args.optional("preset"),
        unlabelled: args.optional("unlabelled"),
    };
    let numbers = args.end().and_then(|()| define_all(given));
    SetOfIterator::new(numbers.unwrap_or_else(Error::raise))
}

/// Defines all policies of a call, or none if one of them is not valid, and returns their numbers.
fn define_all(given: Given) -> Result<Vec<i32>, Error> {
    let unlabelled = given
        .refuses_unlabelled()?
        .then(|| given.about_unlabelled_columns());
    let mut wanted = match &given.preset {
        Some(preset) => given.of_preset(preset)?,
        None => vec![given],
    };
    wanted.extend(unlabelled.filter(|extra| wanted.iter().all(|other| other.measure != extra.measure)));
    let stored: Vec<Stored> = wanted.into_iter().map(check).collect::<Result<_, _>>()?;
    stored.into_iter().map(define).collect()
}

impl Given {
    /// Returns whether exports of columns without a label are refused.
    fn refuses_unlabelled(&self) -> Result<bool, Error> {
        match self.unlabelled.as_deref().map(spelling::normalised).as_deref() {
            None | Some("judge") => Ok(false),
            Some("refuse") => Ok(true),
            Some(_) => Err(Error::argument(
                "unlabelled",
                "must be judge or refuse",
                "judge takes columns without a label for known and dangerous, and refuse lets none of them leave.",
            )),
        }
    }

    /// Returns the arguments of a policy that lets no column without a label leave.
    fn about_unlabelled_columns(&self) -> Self {
        Given {
            measure: Some(ColumnFigure::Unlabelled.name().into()),
            at_most: Some(0.0),
            at_least: None,
            statistic: None,
            threshold: None,
            on_rows: None,
            ..self.clone()
        }
    }

    /// Returns the arguments of a policy for each criterion of a preset.
    fn of_preset(&self, name: &str) -> Result<Vec<Self>, Error> {
        let said_by_preset = [
            ("measure", self.measure.is_some()),
            ("columns", self.columns.is_some()),
            ("at_most", self.at_most.is_some()),
            ("at_least", self.at_least.is_some()),
            ("statistic", self.statistic.is_some()),
            ("threshold", self.threshold.is_some()),
        ];
        if let Some((argument, _)) = said_by_preset.into_iter().find(|(_, is_given)| *is_given) {
            return Err(Error::argument(
                argument,
                "must be left out if preset is given",
                "A preset has measures and limits of its own.",
            ));
        }
        let preset = Preset::named(Some(name))?;
        let refused = |criterion: &PresetCriterion, problem: &str| {
            Err(Error::argument(
                "preset",
                format!(
                    "criterion \"{}\" of preset \"{}\" {problem}",
                    criterion.name, preset.name
                ),
                "disclosure.assess() measures it. For policies, add a preset of your own without this criterion.",
            ))
        };
        if let Some(criterion) = preset.unenforceable().next() {
            return refused(criterion, "cannot be enforced on an export");
        }
        let mut policies: Vec<Self> = Vec::new();
        for wanted in &preset.criteria {
            let criterion = wanted.criterion.as_ref();
            let measure = Some(wanted.measure.clone());
            if policies.iter().any(|other| other.measure == measure) {
                return refused(
                    wanted,
                    "has the same measure as another, and a policy has one limit",
                );
            }
            policies.push(Given {
                measure,
                at_most: criterion.and_then(|criterion| criterion.at_most),
                at_least: criterion.and_then(|criterion| criterion.at_least),
                min_confidence: wanted.options.min_confidence.or(self.min_confidence),
                ..self.clone()
            });
        }
        Ok(policies)
    }
}

fn define(stored: Stored) -> Result<i32, Error> {
    rights::begin_change(c"protect()", stored.relation)?;
    let may_administer = duties::may_administer();
    let number = rights::as_owner(|| store(&stored, may_administer))?;
    match stored.demand.on_rows {
        Some(_) => install::arm(stored.relation)?,
        None => install::disarm(stored.relation)?, // the policy that it replaces may have had one
    }
    let what = stored.settings();
    let entry = Entry {
        policy: Some(number),
        measure: &stored.measure,
        limit: &stored.limit,
        ..Entry::change("protect", stored.relation, &what)
    };
    log::write(&entry, Lasting::IfCommitted)?;
    enforcement::warn()?;
    Ok(number)
}

impl Stored {
    /// Returns the settings other than measure and limit, for the log.
    fn settings(&self) -> String {
        let columns = self.demand.columns.as_ref().map(|columns| columns.join(", "));
        let role = self
            .for_role
            .map(|role| log::role_name(role).to_string_lossy().into_owned());
        let settings = [
            columns.map(|columns| format!("columns {columns}")),
            role.map(|role| format!("for_role {role}")),
            self.demand
                .on_rows
                .as_ref()
                .map(|on_rows| format!("on_rows {on_rows}")),
            self.only_by_copy.then(|| "only_by_copy".into()),
            Some(format!("min_people {}", self.bounds.min_people)),
            Some(format!("min_confidence {}", self.bounds.min_confidence)),
            Some(format!("max_refusals {}", self.bounds.max_refusals)),
            self.details.then(|| "details".into()),
            self.locked.then(|| "locked".into()),
        ];
        let settings: Vec<String> = settings.into_iter().flatten().collect();
        settings.join("; ")
    }
}

/// Checks that a relation is neither a system catalogue nor one of the extension's own, which statements of all users
/// and the guard itself read.
fn check_of_users(relation: Oid) -> Result<(), Error> {
    // SAFETY: catalogue look-ups, which accept any OID.
    let is_own = unsafe {
        let extension = pg_sys::get_extension_oid(c"pg_disclosure".as_ptr(), true);
        pg_sys::getExtensionOfObject(pg_sys::RelationRelationId, relation) == extension
    };
    match is_own || relation.to_u32() < pg_sys::FirstNormalObjectId {
        false => Ok(()),
        true => Err(Error::argument(
            "relation",
            "must not be a system catalogue or a relation of pg_disclosure",
            "Give a table or view of your own.",
        )),
    }
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
    duties::check_may_change(oid)?;
    check_of_users(oid)?;
    check_lock(given.locked)?;
    check_persistence(oid)?;
    check_role(given.for_role)?;
    let measure = given.measure.ok_or_else(|| Error::null("measure", MEASURES))?;
    let built_in = rule::built_in(&measure);
    let function = match built_in {
        Some(_) => None,
        None => Some(MeasureFunction::named(&measure).map_err(|error| not_found(error, &measure))?),
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
        min_people: given.min_people,
        min_confidence: given.min_confidence,
        max_refusals: given.max_refusals,
    };
    let rule = demand.check(oid)?;
    check_ownership(oid, &rule)?;
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
    if let Measure::PrivacyScore(statistic) | Measure::Person(_, statistic) = rule.measure {
        demand.statistic = Some(statistic.name().into());
    }
    if let Some(Err(problem)) = function.map(|function| function.find(oid)).transpose()? {
        return Err(Error::argument("measure", problem, MEASURES));
    }
    Ok(Stored {
        relation: oid,
        demand,
        measure: rule.measure.to_string(),
        limit: rule.limit.to_string(),
        for_role: given.for_role,
        only_by_copy: given.only_by_copy,
        bounds: rule.bounds,
        details: given.details,
        locked: given.locked,
    })
}

/// Returns an error if the policy is to be locked by a role that could not change it afterwards.
fn check_lock(locked: bool) -> Result<(), Error> {
    match !locked || duties::may_administer() {
        true => Ok(()),
        false => Err(Error::unusable(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            "locked",
            "is allowed only for roles that may execute disclosure.administer_policies()",
            "Leave it out, or ask a superuser to grant EXECUTE on that function.",
        )),
    }
}

/// Returns an error if the rule needs the rights of the owner of the relation and the current user, who may
/// administer policies, has not got them. A measure function would show the rows to its owner, and the
/// triggers of an export table run with the rights of the table's owner.
fn check_ownership(relation: Oid, rule: &Rule) -> Result<(), Error> {
    let needs_owner = match rule {
        Rule { measure, .. } if measure.is_function() => "measure",
        Rule { on_rows: Some(_), .. } => "on_rows",
        _ => return Ok(()),
    };
    match rights::check_owner(relation) {
        Ok(()) => Ok(()),
        Err(_) => Err(Error::unusable(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            needs_owner,
            "a measure function or on_rows can be given only by the owner of the relation",
            "Give a measure of pg_disclosure, without on_rows.",
        )),
    }
}

/// Returns the error of a measure that is neither the extension's nor a function, with the measure of the extension that
/// was probably meant.
fn not_found(error: Error, measure: &str) -> Error {
    if let Some(error) = rule::no_measure(measure) {
        return error;
    }
    match error {
        Error::Argument {
            argument,
            problem,
            hint,
        } => Error::Argument {
            argument,
            problem,
            hint: did_you_mean(spelling::nearest(measure, rule::built_ins()), &hint).into(),
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
/// role is replaced and keeps its number. If that is locked, `may_administer` must be true.
fn store(policy: &Stored, may_administer: bool) -> Result<i32, Error> {
    const LOCKED: &str = "
        SELECT p.policy FROM disclosure_internal.policy p
         WHERE p.relation::oid = $1 AND p.measure = $2 AND p.statistic IS NOT DISTINCT FROM $3
           AND p.columns IS NOT DISTINCT FROM $4::name[] AND p.for_role::oid IS NOT DISTINCT FROM $5 AND p.locked";
    const UPDATE: &str = "
        UPDATE disclosure_internal.policy p SET at_most = $6, at_least = $7, on_rows = $8, only_by_copy = $9, threshold = $10,
               made_by = $11, measure_owner = $12, min_people = $13, min_confidence = $14, max_refusals = $15,
               details = $16, locked = $17, made_at = now()
         WHERE p.relation::oid = $1 AND p.measure = $2 AND p.statistic IS NOT DISTINCT FROM $3
           AND p.columns IS NOT DISTINCT FROM $4::name[] AND p.for_role::oid IS NOT DISTINCT FROM $5
        RETURNING p.policy";
    const INSERT: &str = "
        INSERT INTO disclosure_internal.policy (relation, measure, statistic, columns, for_role, at_most, at_least, on_rows,
               only_by_copy, threshold, made_by, measure_owner, min_people, min_confidence, max_refusals, details, locked,
               made_at)
        VALUES ($1, $2, $3, $4::name[], $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, now())
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
        demand.min_people.into(), // NULL: follows the limit
        policy.bounds.min_confidence.into(),
        policy.bounds.max_refusals.into(),
        policy.details.into(),
        policy.locked.into(),
    ];
    let locked = Spi::connect(|client| {
        let found = client.select(LOCKED, Some(1), &arguments[..5])?;
        match found.is_empty() {
            true => Ok(None),
            false => found.first().get_one::<i32>(),
        }
    });
    let locked = locked.map_err(|_: pgrx::spi::Error| Error::Internal("the policies could not be read"))?;
    if let Some(number) = locked.filter(|_| !may_administer) {
        return Err(Error::Locked {
            what: "change",
            relation: catalog::name_of(policy.relation),
            policy: number,
        });
    }
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
        duties::check_may_change_policy(policy)?;
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
                client
                    .update(
                        "DELETE FROM disclosure_internal.refusal r WHERE r.policy = $1",
                        None,
                        &which[..1],
                    )
                    .map_err(|_| Error::Internal("the refusals of the policy could not be removed"))?;
            }
            Ok(())
        })
    })?;
    for policy in &meant {
        if catalog::owner_of(policy.relation).is_some() {
            install::disarm(policy.relation)?;
        }
        let entry = Entry {
            policy: Some(policy.number),
            measure: &policy.measure.to_string(),
            limit: &policy.limit.to_string(),
            ..Entry::change("unprotect", policy.relation, "")
        };
        log::write(&entry, Lasting::IfCommitted)?;
    }
    enforcement::remind()?;
    Ok(meant.len() as i32)
}

/// check_may_change(disclosure_internal.policy): raises an error unless the caller may write the policy.
#[pg_extern(sql = false)]
fn check_may_change(fcinfo: pg_sys::FunctionCallInfo) {
    // SAFETY: sql/ declares the function as STRICT, with one argument of type disclosure_internal.policy.
    let policy = unsafe { policy::argument(fcinfo) };
    policy
        .and_then(|policy| duties::check_may_change_policy(&policy))
        .unwrap_or_else(Error::raise)
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
        WITH forgotten AS (
            DELETE FROM disclosure_internal.policy p
             USING pg_event_trigger_dropped_objects() d
             WHERE d.classid = 'pg_class'::regclass AND d.objid = p.relation AND d.objsubid = 0
            RETURNING p.policy)
        DELETE FROM disclosure_internal.refusal r USING forgotten f WHERE r.policy = f.policy";
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
