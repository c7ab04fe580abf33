//! Policies: what `disclosure.protect` has laid down, as this backend remembers it.

use super::rights;
use crate::error::Problem;
use crate::input::relation::Relation;
use crate::input::{Answer, Parameters};
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::fmt;
use std::rc::Rc;

#[derive(Debug, Clone, PartialEq)]
pub enum Measure {
    PrivacyScore(Statistic),
    KAnonymity,
    ExpectedCracks,
    /// Schema and name, quoted, of a function that returns a number for the text of a query.
    Function(String),
}

/// What of many rows' scores is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    Maximum,
    Average,
    /// Of rows whose score is at or above the threshold.
    Share {
        threshold: f64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

/// What becomes of unsafe rows that come into an export table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRows {
    Block,
    Drop,
    Warn,
}

#[derive(Debug, Clone)]
pub struct Policy {
    pub number: i32,
    pub relation: Oid,
    pub measure: Measure,
    pub limit: Limit,
    /// `None`: all.
    pub columns: Option<Vec<String>>,
    /// `None`: everyone.
    pub for_role: Option<Oid>,
    pub on_rows: Option<OnRows>,
    pub only_by_copy: bool,
}

impl Measure {
    /// From how `disclosure.policy` has it.
    fn stored(measure: String, statistic: Option<String>, threshold: Option<f64>) -> Self {
        match (measure.as_str(), statistic.as_deref(), threshold) {
            ("privacy_score", Some("average"), _) => Measure::PrivacyScore(Statistic::Average),
            ("privacy_score", Some("share"), Some(threshold)) => {
                Measure::PrivacyScore(Statistic::Share { threshold })
            }
            ("privacy_score", ..) => Measure::PrivacyScore(Statistic::Maximum),
            ("k_anonymity", ..) => Measure::KAnonymity,
            ("expected_cracks", ..) => Measure::ExpectedCracks,
            _ => Measure::Function(measure),
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::PrivacyScore(Statistic::Maximum) => f.write_str("privacy_score"),
            Measure::PrivacyScore(Statistic::Average) => f.write_str("average privacy_score"),
            Measure::PrivacyScore(Statistic::Share { threshold }) => {
                write!(f, "share of rows with a privacy_score of {threshold} or more")
            }
            Measure::KAnonymity => f.write_str("k_anonymity"),
            Measure::ExpectedCracks => f.write_str("expected_cracks"),
            Measure::Function(name) => f.write_str(name),
        }
    }
}

impl Limit {
    pub fn allows(self, measured: f64) -> bool {
        match self {
            Limit::AtMost(limit) => measured <= limit,
            Limit::AtLeast(limit) => measured >= limit,
        }
    }

    /// In words, at the end of a message.
    pub fn rule(self) -> String {
        match self {
            Limit::AtMost(_) => format!("{self} is allowed"),
            Limit::AtLeast(_) => format!("{self} is required"),
        }
    }

    pub fn value(self) -> f64 {
        match self {
            Limit::AtMost(limit) | Limit::AtLeast(limit) => limit,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::AtMost(limit) => write!(f, "at most {limit}"),
            Limit::AtLeast(limit) => write!(f, "at least {limit}"),
        }
    }
}

impl OnRows {
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "block" => Some(OnRows::Block),
            "drop" => Some(OnRows::Drop),
            "warn" => Some(OnRows::Warn),
            _ => None,
        }
    }
}

impl Policy {
    /// Schema and name, quoted.
    pub fn relation_name(&self) -> String {
        Relation::whole("relation", Some(self.relation)).map_or_else(
            |_| format!("relation {}", self.relation.to_u32()),
            |relation| relation.name().into(),
        )
    }

    /// Whether it is for somebody who is behind this statement.
    pub fn concerns_us(&self) -> bool {
        self.for_role.is_none_or(|role| {
            rights::everyone_behind()
                .into_iter()
                // SAFETY: a catalogue look-up.
                .any(|user| unsafe { pg_sys::is_member_of_role_nosuper(user, role) })
        })
    }
}

thread_local! {
    /// What `disclosure.policy` holds; `None` if that has to be looked up again.
    static REMEMBERED: RefCell<Option<Rc<Vec<Policy>>>> = const { RefCell::new(None) };
    /// The table that the callback below waits for a change of.
    static TABLE: Cell<Oid> = const { Cell::new(pg_sys::InvalidOid) };
}

/// Called once, from `_PG_init`.
pub fn forget_when_changed() {
    // SAFETY: a function that lives as long as the library, which is never unloaded.
    unsafe { pg_sys::CacheRegisterRelcacheCallback(Some(forget), pg_sys::Datum::from(0)) };
}

#[pg_guard]
unsafe extern "C-unwind" fn forget(_argument: pg_sys::Datum, relation: Oid) {
    if relation == pg_sys::InvalidOid || relation == TABLE.get() {
        REMEMBERED.replace(None);
    }
}

/// Tell every session, this one too, that the policies have changed: once this transaction commits.
pub fn announce_change() -> Result<(), Problem> {
    if let Some(table) = own_table(c"policy") {
        // SAFETY: a relation that exists.
        unsafe { pg_sys::CacheInvalidateRelcacheByRelid(table) };
    }
    Ok(())
}

/// A table of the guard's own; `None` where the extension is not in this database.
pub fn own_table(name: &CStr) -> Option<Oid> {
    // SAFETY: catalogue look-ups. The last two are slow, and most databases never come to them.
    unsafe {
        let schema = pg_sys::get_namespace_oid(c"disclosure".as_ptr(), true);
        let table = pg_sys::get_relname_relid(name.as_ptr(), schema);
        if table == pg_sys::InvalidOid {
            return None;
        }
        // Else it is not ours, but somebody's who wants to read or to decide.
        let extension = pg_sys::get_extension_oid(c"pg_disclosure".as_ptr(), true);
        let is_ours = extension != pg_sys::InvalidOid
            && pg_sys::getExtensionOfObject(pg_sys::RelationRelationId, table) == extension;
        is_ours.then_some(table)
    }
}

/// The table of policies, which is known as long as they are remembered: it cannot go without being announced.
pub fn table() -> Result<Oid, Problem> {
    match REMEMBERED.with_borrow(Option::is_some) {
        true => Ok(TABLE.get()),
        false => own_table(c"policy").ok_or(Problem::Lost),
    }
}

/// Whose rights it takes to read and write the guard's own tables.
pub fn owner_of_policies() -> Result<Oid, Problem> {
    owner_of(table()?).ok_or(Problem::Lost)
}

/// The owner of a relation; `None` where there is no such relation.
pub fn owner_of(relation: Oid) -> Option<Oid> {
    // SAFETY: a catalogue look-up; the tuple is released before returning.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(
            pg_sys::SysCacheIdentifier::RELOID as i32,
            pg_sys::Datum::from(relation),
        );
        if tuple.is_null() {
            return None;
        }
        let class = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_class>();
        let owner = (*class).relowner;
        pg_sys::ReleaseSysCache(tuple);
        Some(owner)
    }
}

/// Whether it has columns that are made of others'.
pub fn is_view(relation: Oid) -> bool {
    // SAFETY: a catalogue look-up.
    let kind = unsafe { pg_sys::get_rel_relkind(relation) } as u8;
    matches!(kind, pg_sys::RELKIND_VIEW | pg_sys::RELKIND_MATVIEW)
}

/// Every policy of this database.
pub fn all() -> Result<Rc<Vec<Policy>>, Problem> {
    // SAFETY: what other sessions have committed may make us forget.
    unsafe { pg_sys::AcceptInvalidationMessages() };
    if let Some(remembered) = REMEMBERED.with_borrow(Clone::clone) {
        return Ok(remembered);
    }
    let Some(table) = own_table(c"policy") else {
        return Ok(Rc::default()); // CREATE EXTENSION may follow: not remembered
    };
    TABLE.set(table);
    let found = Rc::new(rights::as_guard(read)?);
    REMEMBERED.replace(Some(found.clone()));
    Ok(found)
}

/// Those of the policies of the given relations, of what inherits from them, and of what they inherit from.
/// `all` is where to look.
pub fn of_relations(all: &[Policy], relations: &[Oid]) -> Result<Vec<Policy>, Problem> {
    if all.is_empty() || relations.is_empty() {
        return Ok(Vec::new());
    }
    let family = family_of(relations)?;
    let concerned = all.iter().filter(|policy| family.contains(&policy.relation));
    Ok(concerned.cloned().collect())
}

#[pg_guard]
unsafe extern "C-unwind" {
    fn has_subclass(relation: Oid) -> bool;
    fn has_superclass(relation: Oid) -> bool;
}

/// Whether nothing is above or below it in an inheritance or partition tree.
fn is_alone(&relation: &Oid) -> bool {
    // SAFETY: catalogue look-ups; the first one fails where there is no such relation.
    unsafe { pg_sys::get_rel_relkind(relation) != 0 && !has_subclass(relation) && !has_superclass(relation) }
}

/// The relations themselves, and all above and below them in inheritance and partition trees.
pub fn family_of(relations: &[Oid]) -> Result<Vec<Oid>, Problem> {
    match relations.iter().all(is_alone) {
        true => Ok(relations.to_vec()), // as most are, and every statement on an export table asks
        false => rights::as_guard(|| relatives_of(relations)),
    }
}

fn relatives_of(relations: &[Oid]) -> Result<Vec<Oid>, Problem> {
    const QUERY: &str = "
        WITH RECURSIVE above(relation) AS (
            SELECT pg_catalog.unnest($1)
            UNION SELECT i.inhparent FROM pg_catalog.pg_inherits i, above a WHERE i.inhrelid = a.relation),
        below(relation) AS (
            SELECT pg_catalog.unnest($1)
            UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i, below b WHERE i.inhparent = b.relation)
        TABLE above UNION TABLE below";
    oids(QUERY, &Parameters::of_oids(relations)?)
}

/// The answer to a query of one column of OIDs.
pub fn oids(query: &str, parameters: &Parameters) -> Result<Vec<Oid>, Problem> {
    Spi::connect(|_| {
        // SAFETY: SPI is connected; callers give parameters of their types, and queries of one column of
        // OIDs.
        unsafe {
            let answer = Answer::to(query, parameters, true)?;
            Ok((0..answer.rows()).filter_map(|row| answer.get(row, 0)).collect())
        }
    })
}

fn read() -> Result<Vec<Policy>, Problem> {
    const QUERY: &str = "
        SELECT p.policy, p.relation::pg_catalog.oid, p.measure, p.statistic, p.threshold, p.at_most, p.at_least,
               p.columns::pg_catalog.text[], p.for_role::pg_catalog.oid, p.on_rows, p.only_by_copy
          FROM disclosure.policy p ORDER BY p.policy";
    Spi::connect(|_| {
        // SAFETY: SPI is connected; the types below are those of the columns.
        unsafe {
            let answer = Answer::to(QUERY, &Parameters::default(), true)?;
            (0..answer.rows())
                .map(|row| {
                    let limit = match (answer.get(row, 5), answer.get(row, 6)) {
                        (Some(limit), _) => Limit::AtMost(limit),
                        (None, Some(limit)) => Limit::AtLeast(limit),
                        (None, None) => return Err(Problem::Lost),
                    };
                    let on_rows: Option<String> = answer.get(row, 9);
                    Ok(Policy {
                        number: answer.get(row, 0).ok_or(Problem::Lost)?,
                        relation: answer.get(row, 1).ok_or(Problem::Lost)?,
                        measure: Measure::stored(
                            answer.get(row, 2).ok_or(Problem::Lost)?,
                            answer.get(row, 3),
                            answer.get(row, 4),
                        ),
                        limit,
                        columns: answer.get(row, 7),
                        for_role: answer.get(row, 8),
                        on_rows: on_rows.as_deref().and_then(OnRows::parse),
                        only_by_copy: answer.get(row, 10).unwrap_or(false),
                    })
                })
                .collect()
        }
    })
}
