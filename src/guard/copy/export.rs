//! An export that is judged: its shape before it is planned, its rows before they are sent, and what is logged
//! and said about it.
//!
//! The tree that is judged is the tree that is planned and executed, so names cannot change their meaning in
//! between. Whatever goes wrong after the shape was accepted is reported in the same words as a refusal,
//! because an error tells something about the data, too.

use crate::error::Error;
use crate::guard::copy::silence::{self, Withheld};
use crate::guard::copy::spool::Spool;
use crate::guard::copy::{barrier, spool};
use crate::guard::judge::{self, Measured, Remarks, Source};
use crate::guard::labels::Labels;
use crate::guard::log::{Lasting, Outcome};
use crate::guard::origin::Origins;
use crate::guard::policy::Policy;
use crate::guard::refusals::{self, Turn};
use crate::guard::shape::{self, HiddenKind, Refusal, Rules, Shape, Stopped};
use crate::guard::{language, policy, rights, tree};
use crate::pg::catalog;
use pgrx::pg_sys::{self, Oid, Query, TupleDesc};
use std::cell::RefCell;
use std::rc::Rc;

/// Statement that exports rows.
pub struct Statement {
    /// Command, such as COPY TO.
    pub kind: &'static str,
    /// Text of the statement, for the log.
    pub text: String,
    /// Whether the rows are only judged, and not sent.
    pub is_dry: bool,
}

/// Export whose shape was accepted.
pub struct Judged {
    statement: Rc<Statement>,
    /// Policies that it must comply with, in the order of their numbers. In a dry run these are all policies
    /// that the caller may know of.
    pub policies: Vec<Rc<Policy>>,
    shape: Shape,
    labels: RefCell<Labels>,
    relations: Vec<Oid>,
    /// Columns that count, with their labels, for the log and for messages.
    counted: String,
    /// Turn of the session role; `None` if it may see what is measured, which is possible in a dry run only.
    turn: Option<Turn>,
}

/// Result of one policy.
pub struct Verdict {
    pub policy: Rc<Policy>,
    /// `None` if the measure was not called, because another policy is broken or the query failed.
    pub measured: Option<Measured>,
    pub is_safe: bool,
    /// What was measured, for the owner of the relation.
    reason: String,
}

impl Judged {
    /// Judges the shape of a query that is about to be planned, and adds hidden columns to it. Returns `None` if
    /// the export need not be judged.
    ///
    /// # Safety
    /// The query is rewritten and about to be planned, and nobody else uses it.
    pub unsafe fn new(query: *mut Query, statement: Rc<Statement>) -> Result<Option<Self>, Error> {
        // SAFETY: by the contract of the function.
        let relations = unsafe { tree::relations_in(query) };
        let mut policies = policy::concerning(&relations)?;
        let is_exempt = rights::is_exempt();
        if is_exempt && !statement.is_dry {
            for policy in &policies {
                judge::record(statement.kind, policy, None, Outcome::Exempt, Lasting::Always)?;
            }
            return Ok(None);
        }
        policies.retain(|policy| policy.concerns_us() || statement.is_dry && may_see(policy));
        if policies.is_empty() {
            return Ok(None);
        }
        if !is_exempt && is_serializable() {
            return Err(refused(&statement, &policies, in_serializable())?);
        }
        for policy in &policies {
            if let Some(problem) = policy.problem()? {
                record(&statement, policy, None, Outcome::Refused, "", &problem)?;
                return Err(policy.unusable(problem));
            }
        }
        let labels = RefCell::new(Labels::new(&policies)?);
        // SAFETY: by the contract of the function.
        let shape = match unsafe { judge_shape(query, &policies, &labels) } {
            Ok(shape) => shape,
            Err(Stopped::Failed(error)) => return Err(error),
            Err(Stopped::Refused(refusal)) => return Err(refused(&statement, &policies, refusal)?),
        };
        let sees_all = || policies.iter().all(|policy| may_see(policy));
        if !(statement.is_dry && sees_all())
            && let Some(refusal) = unwanted_column(&policies, &shape, &relations, &labels)?
        {
            return Err(refused(&statement, &policies, refusal)?);
        }
        // What a caller may see anyway tells nothing new.
        let is_counted = |policy: &&Rc<Policy>| !statement.is_dry || policy.concerns_us() && !may_see(policy);
        let counted_by: Vec<Rc<Policy>> = policies.iter().filter(is_counted).cloned().collect();
        let turn = match counted_by.is_empty() {
            true => None,
            false => Some(refusals::begin(&counted_by)?),
        };
        let counted = counted(&shape, &mut labels.borrow_mut())?;
        Ok(Some(Judged {
            statement,
            policies,
            shape,
            labels,
            relations,
            counted,
            turn,
        }))
    }

    /// Returns the number of output columns, which hidden columns follow.
    pub fn outputs(&self) -> usize {
        self.shape.outputs.len()
    }

    /// Runs `job`, which plans the query, in silence and with the barrier up. An error is a refusal.
    pub fn plan<R>(&self, job: impl FnOnce() -> R) -> Result<R, Error> {
        let plan = || {
            tree::prepare_indexes(&self.relations);
            barrier::raised(&self.shape.functions, job)
        };
        match silence::withholding(plan) {
            Ok(planned) => Ok(planned),
            Err(withheld) => Err(self.failed(&withheld)?),
        }
    }

    /// Runs `job`, which starts the query, in silence and with the barrier up. Its errors do not depend on data.
    pub fn start<R>(&self, job: impl FnOnce() -> R) -> R {
        silence::quietly(|| barrier::raised(&self.shape.functions, job))
    }

    /// Collects the rows that `deliver` sends to a destination, judges them, and returns them with the verdicts.
    /// An error is a refusal.
    ///
    /// # Safety
    /// `full` is the descriptor of the rows, hidden columns included.
    pub unsafe fn run(
        &self,
        full: TupleDesc,
        deliver: impl FnOnce(*mut pg_sys::DestReceiver),
    ) -> Result<(Spool, Vec<Verdict>), Error> {
        let run = || {
            // SAFETY: by the contract of the function.
            let judged = unsafe { self.collect_and_judge(full, deliver) };
            judged.unwrap_or_else(Error::raise)
        };
        match silence::withholding(run) {
            Ok(judged) => Ok(judged),
            Err(withheld) => Err(self.failed(&withheld)?),
        }
    }

    /// Collects the rows that `deliver` sends to a destination, and judges them.
    ///
    /// # Safety
    /// `full` is the descriptor of the rows, hidden columns included.
    unsafe fn collect_and_judge(
        &self,
        full: TupleDesc,
        deliver: impl FnOnce(*mut pg_sys::DestReceiver),
    ) -> Result<(Spool, Vec<Verdict>), Error> {
        let shape = &self.shape;
        let mut source = Source::of_export(shape, self.relations.clone(), &mut self.labels.borrow_mut())?;
        let counted = source.counted_columns(&self.policies)?;
        let is_readable = source.reads_rows(&self.policies)?;
        // SAFETY: by the contract of the function; ORDER BY names output columns.
        let mut collecting =
            unsafe { spool::Collecting::new(full, &shape.order, shape.limit, counted, is_readable) };
        barrier::raised(&shape.functions, || collecting.collect(deliver));
        let (spool, tally) = collecting.finish(self.outputs())?;
        rights::under_own_settings(|| source.take_tally(tally, &self.policies))?;
        let verdicts = spool.show(|| self.verdicts(&source))?;
        Ok((spool, verdicts))
    }

    /// Judges the collected rows by each policy. Measures that users wrote come last, and are not called if
    /// another policy is broken, because they must not see rows that are refused anyway.
    fn verdicts(&self, source: &Source) -> Result<Vec<Verdict>, Error> {
        let mut ordered: Vec<&Rc<Policy>> = self.policies.iter().collect();
        ordered.sort_by_key(|policy| policy.measure.is_function());
        let mut verdicts: Vec<Verdict> = Vec::with_capacity(ordered.len());
        for policy in ordered {
            let is_called = !policy.measure.is_function() || verdicts.iter().all(|verdict| verdict.is_safe);
            verdicts.push(match is_called {
                true => verdict(policy, source)?,
                false => Verdict {
                    policy: policy.clone(),
                    measured: None,
                    is_safe: true,
                    reason: "not measured, because another policy is broken".into(),
                },
            });
        }
        verdicts.sort_by_key(|verdict| verdict.policy.number);
        Ok(verdicts)
    }

    /// Logs the verdicts, and returns an error if one of them is a refusal, which is counted.
    pub fn conclude(&self, verdicts: &[Verdict]) -> Result<(), Error> {
        let is_safe = verdicts.iter().all(|verdict| verdict.is_safe);
        let outcome = if is_safe {
            Outcome::Allowed
        } else {
            Outcome::Refused
        };
        for verdict in verdicts {
            self.record(&verdict.policy, verdict.measured, outcome, &verdict.reason)?;
        }
        if is_safe {
            return Ok(());
        }
        self.count()?;
        let is_shown = |verdict: &&Verdict| {
            verdict.policy.details && !verdict.is_safe && is_seen_by_owner(&verdict.policy, &self.policies)
        };
        let details: Vec<String> = verdicts
            .iter()
            .filter(is_shown)
            .map(|verdict| format!("Policy {}: {}.", verdict.policy.number, verdict.reason))
            .collect();
        Err(self.refusal(details.join(" ")))
    }

    /// Logs the verdicts of a dry run and counts a refusal, unless the caller is exempt.
    pub fn conclude_dry(&self, verdicts: &[Verdict]) -> Result<(), Error> {
        if rights::is_exempt() {
            return Ok(());
        }
        match self.conclude(verdicts) {
            Err(Error::NotSatisfied { .. }) => Ok(()),
            result => result,
        }
    }

    /// Ends the export because of an error that Postgres is raising.
    pub fn abandon(self) {
        if let Some(turn) = self.turn {
            turn.leave();
        }
    }

    /// Returns the verdicts of a query that failed.
    pub fn all_broken(&self) -> Vec<Verdict> {
        let broken = |policy: &Rc<Policy>| Verdict {
            policy: policy.clone(),
            measured: None,
            is_safe: false,
            reason: String::new(),
        };
        self.policies.iter().map(broken).collect()
    }

    /// Logs an error of the query, and returns the error for the client: a refusal like any other, or, if the
    /// error comes from the circumstances, one with a fixed text.
    fn failed(&self, withheld: &Withheld) -> Result<Error, Error> {
        let circumstance = withheld.circumstance();
        let outcome = if circumstance.is_some() {
            Outcome::Failed
        } else {
            Outcome::Refused
        };
        for policy in &self.policies {
            self.record(policy, None, outcome, &withheld.reason())?;
        }
        if circumstance.is_none() || withheld.is_about_resources() {
            self.count()?;
        }
        Ok(match circumstance {
            Some(text) => Error::Circumstance {
                sqlstate: withheld.sqlstate,
                text,
            },
            None => self.refusal(String::new()),
        })
    }

    /// Counts a refusal.
    fn count(&self) -> Result<(), Error> {
        self.turn.as_ref().map_or(Ok(()), Turn::refused)
    }

    /// Returns the error of a refusal after measuring. It is the same whichever policy is broken.
    fn refusal(&self, details: String) -> Error {
        let describe =
            |policy: &Rc<Policy>| format!("{} ({} {})", policy.number, policy.measure, policy.limit);
        let policies: Vec<String> = self.policies.iter().map(describe).collect();
        Error::NotSatisfied {
            relation: self
                .policies
                .first()
                .map_or(String::new(), |policy| policy.relation_name()),
            policies: policies.join(", "),
            counted: self.counted.clone(),
            details,
        }
    }

    fn record(
        &self,
        policy: &Policy,
        measured: Option<Measured>,
        outcome: Outcome,
        reason: &str,
    ) -> Result<(), Error> {
        let (measured, reason) = match is_seen_by_owner(policy, &self.policies) {
            true => (measured, reason),
            false => (
                None,
                "not shown, because the query reads protected relations of other owners, too",
            ),
        };
        record(&self.statement, policy, measured, outcome, &self.counted, reason)
    }
}

/// Returns whether the owner of a policy's relation may learn what was measured for it. Rows of all protected
/// relations that the query reads take part in that, so the owner must have the rights of all their owners.
/// Otherwise a role could read what is protected from it by a policy on a relation of its own.
pub fn is_seen_by_owner(policy: &Policy, policies: &[Rc<Policy>]) -> bool {
    let has_rights = |owner: Oid| {
        let mut others = policies.iter().map(|other| catalog::owner_of(other.relation));
        others.all(|other| other.is_some_and(|other| rights::has_rights_of(owner, other)))
    };
    catalog::owner_of(policy.relation).is_some_and(has_rights)
}

/// Returns whether the current user may see all that a policy measures: roles that are exempt, own the
/// relation, or administer policies.
pub fn may_see(policy: &Policy) -> bool {
    let role = rights::asking();
    rights::is_exempt()
        || rights::may_administer(role)
        || catalog::owner_of(policy.relation).is_some_and(|owner| rights::has_rights_of(role, owner))
}

/// Returns whether the transaction is serializable. Then pg_locks, which everybody may read, shows the rows that an
/// index has found, also after the export was refused.
fn is_serializable() -> bool {
    // SAFETY: only reads a variable of this backend, on its main thread.
    unsafe { pg_sys::XactIsoLevel == pg_sys::XACT_SERIALIZABLE as i32 }
}

fn in_serializable() -> Refusal {
    Refusal {
        what: "a serializable transaction".into(),
        location: -1,
        inside: None,
        hint: "Use the isolation level REPEATABLE READ.".into(),
    }
}

/// Judges collected rows by one policy.
fn verdict(policy: &Rc<Policy>, source: &Source) -> Result<Verdict, Error> {
    let people = source.people(policy)?;
    let measured = judge::measure(policy, source)?;
    let is_within = measured.is_allowed(policy.limit);
    let is_enough = people >= policy.min_people();
    let is_uniform = source.is_uniform(policy)?;
    let mut reason = judge::described(policy, measured);
    if !is_enough {
        reason += &format!(
            "; number of people {people}, at least {} is required",
            policy.min_people()
        );
    }
    if !is_uniform {
        reason += "; the relation is read more than once, and only some of its rows leave more than once";
    }
    if !is_within && let Some(column) = judge::spoiler(policy, source)? {
        reason += &format!("; without column \"{column}\" it would be within the limit");
    }
    Ok(Verdict {
        policy: policy.clone(),
        measured: Some(measured),
        is_safe: is_within && is_enough && is_uniform,
        reason,
    })
}

/// Walks the query of an export.
///
/// # Safety
/// The query is rewritten and about to be planned, and nobody else uses it.
unsafe fn judge_shape(
    query: *mut Query,
    policies: &[Rc<Policy>],
    labels: &RefCell<Labels>,
) -> Result<Shape, Stopped> {
    let mut owners: Vec<Option<Oid>> = policies
        .iter()
        .map(|policy| catalog::owner_of(policy.relation))
        .collect();
    owners.dedup();
    let is_protected = |relation: Oid| {
        let found = policy::concerning(&[relation]);
        let is_ours = |policy: &Rc<Policy>| policies.iter().any(|other| other.number == policy.number);
        // If the policies cannot be read, everything counts as protected.
        found.map_or(true, |found| found.iter().any(is_ours))
    };
    let rules = Rules {
        is_protected: &is_protected,
        labels,
        owner: match owners[..] {
            [owner] => owner,
            _ => None,
        },
        trusted: &language::trusted()?,
    };
    // SAFETY: by the contract of the function.
    unsafe { shape::judge(query, &rules) }
}

/// Returns why columns must not leave, if a policy that applies limits their number and the query alone breaks it.
fn unwanted_column(
    policies: &[Rc<Policy>],
    shape: &Shape,
    relations: &[Oid],
    labels: &RefCell<Labels>,
) -> Result<Option<Refusal>, Error> {
    let is_judged = |policy: &&Rc<Policy>| policy.concerns_us() && policy.measure.is_about_columns();
    let mut judged = policies.iter().filter(is_judged).peekable();
    if judged.peek().is_none() {
        return Ok(None);
    }
    let source = Source::of_export(shape, relations.to_vec(), &mut labels.borrow_mut())?;
    for policy in judged {
        if let Some(origin) = judge::unwanted_column(policy, &source)? {
            let only = &Origins::from([origin.clone()]);
            let label = labels.borrow_mut().naming(only)?;
            let (label, advice) = match label {
                Some((_, label)) => (format!("is labelled {label}"), "Leave it out."),
                None => (
                    "has no label".into(),
                    "Leave it out, or ask the owner of the relation to label it.",
                ),
            };
            return Ok(Some(Refusal {
                what: format!("column \"{}\", which {label},", origin.column),
                location: -1,
                inside: None,
                hint: format!(
                    "{advice} Policy {} limits {} to {}.",
                    policy.number, policy.measure, policy.limit
                )
                .into(),
            }));
        }
    }
    Ok(None)
}

/// Logs a refusal by shape, and returns the error. It is not counted, because it follows from the query alone.
fn refused(statement: &Statement, policies: &[Rc<Policy>], refusal: Refusal) -> Result<Error, Error> {
    for policy in policies {
        let reason = format!("{} is not allowed", refusal.what);
        record(statement, policy, None, Outcome::Refused, "", &reason)?;
    }
    Ok(Error::NotInLanguage {
        relation: policies
            .first()
            .map_or(String::new(), |policy| policy.relation_name()),
        what: refusal.what,
        place: match (refusal.inside, refusal.location) {
            (Some(inside), _) => Some(format!("It is in {inside}.")),
            (None, location @ 0..) => character_at(&statement.text, location)
                .map(|character| format!("It is at character {character} of the statement.")),
            _ => None,
        },
        hint: refusal.hint,
    })
}

/// Returns the number, from 1, of the character that begins at a byte of a text.
fn character_at(text: &str, byte: i32) -> Option<usize> {
    let before = text.get(..usize::try_from(byte).ok()?)?;
    Some(before.chars().count() + 1)
}

/// Logs the outcome of an export under a policy. What may tell something about the data is for the owner.
fn record(
    statement: &Statement,
    policy: &Policy,
    measured: Option<Measured>,
    outcome: Outcome,
    counted: &str,
    reason: &str,
) -> Result<(), Error> {
    let remarks = Remarks {
        counted,
        reason: Some(reason),
        query: Some(&statement.text),
    };
    judge::record_with(
        statement.kind,
        policy,
        measured,
        outcome,
        Lasting::Always,
        remarks,
    )
}

/// Returns the columns that count, with their labels.
fn counted(shape: &Shape, labels: &mut Labels) -> Result<String, Error> {
    let mut leaving = Origins::new();
    for output in &shape.outputs {
        leaving.extend(output.origins.iter().cloned());
    }
    for hidden in &shape.hidden {
        if let HiddenKind::Value(origins) = &hidden.kind {
            leaving.extend(origins.iter().cloned());
        }
    }
    let mut parts = Vec::new();
    if !leaving.is_empty() {
        parts.push(labels.described(&leaving)?.join(", "));
    }
    let conditions = labels.described(&shape.conditions)?;
    if !conditions.is_empty() {
        parts.push(format!("conditions on {}", conditions.join(", ")));
    }
    Ok(parts.join("; "))
}

/// Returns what the walk finds in a query, a line each, as if all policies applied to it. For tests.
///
/// # Safety
/// The query is rewritten, and nobody else uses it.
#[cfg(feature = "probe")]
pub unsafe fn describe(query: *mut Query) -> Result<Vec<String>, Error> {
    use crate::guard::shape::Counted;
    // SAFETY: by the contract of the function.
    let relations = unsafe { tree::relations_in(query) };
    let policies = policy::concerning(&relations)?;
    let labels = RefCell::new(Labels::new(&policies)?);
    // SAFETY: by the contract of the function.
    let shape = match unsafe { judge_shape(query, &policies, &labels) } {
        Ok(shape) => shape,
        Err(Stopped::Failed(error)) => return Err(error),
        Err(Stopped::Refused(refusal)) => {
            let place = refusal
                .inside
                .map_or(String::new(), |inside| format!(" in {inside}"));
            return Ok(vec![format!("refused: {}{place}", refusal.what)]);
        }
    };
    let names = |origins: &Origins| {
        let names: Vec<String> = origins
            .iter()
            .map(|origin| format!("{}.{}", catalog::name_of(origin.relation), origin.column))
            .collect();
        names.join(" ")
    };
    let outputs = shape
        .outputs
        .iter()
        .map(|output| format!("{}: {}", output.name, names(&output.origins)));
    let hidden = shape.hidden.iter().filter_map(|hidden| match &hidden.kind {
        HiddenKind::Value(origins) => Some(format!("hidden value: {}", names(origins))),
        HiddenKind::Condition(origins) => Some(format!("hidden condition: {}", names(origins))),
        HiddenKind::Absence(origins) => Some(format!("hidden absence: {}", names(origins))),
        HiddenKind::Branch => Some("hidden branch".into()),
        HiddenKind::Identity => None,
    });
    let counted = shape.occurrences.iter().map(|occurrence| {
        let how = match occurrence.counted {
            Counted::Rows => "rows",
            Counted::Marked(_) => "marked rows",
            Counted::Distinct(_) => "distinct rows",
        };
        let relations: Vec<String> = occurrence
            .relations
            .iter()
            .map(|&oid| catalog::name_of(oid))
            .collect();
        format!("counted: {how} of {}", relations.join(" through "))
    });
    Ok(outputs.chain(hidden).chain(counted).collect())
}
