//! Policies: what `disclosure.protect` has defined, as this backend remembers it.

use crate::error::Problem;
use crate::guard::own_tables;
use crate::guard::own_tables::{Changes, own_table};
use crate::guard::rights;
use crate::guard::rule::{Demand, Limit, Measure, OnRows, Rule};
use crate::pg::catalog::{name_of, owner_of, with_heirs};
use crate::pg::query;
use crate::pg::query::{Answer, Parameters};
use crate::pg::row::RowShape;
use crate::pg::types::ColumnType;
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::prelude::*;
use pgrx::trigger_support::called_as_trigger;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::rc::Rc;

#[derive(Debug)]
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
    /// Who has defined it.
    maker: Oid,
}

impl Policy {
    /// Schema and name, quoted.
    pub fn relation_name(&self) -> String {
        name_of(self.relation)
    }

    /// Whether it is for somebody who is behind this statement.
    pub fn concerns_us(&self) -> bool {
        is_for_us(self.for_role)
    }

    /// The error by which exports are refused if the policy cannot be judged.
    pub fn unusable(&self, problem: impl Into<String>) -> Problem {
        Problem::UnusablePolicy {
            relation: self.relation_name(),
            policy: self.number,
            problem: problem.into(),
        }
    }

    /// Why it cannot be judged, whatever is exported; `None` if it can.
    fn problem(&self) -> Result<Option<String>, Problem> {
        let problem = match &self.measure {
            Measure::Unusable { problem, .. } => Some(problem.clone()),
            Measure::Function(function) => function.find(self.relation)?.err(),
            _ => None,
        };
        match (problem, self.on_rows) {
            (None, Some(_)) => self.problem_of_table(),
            (problem, _) => Ok(problem),
        }
    }

    /// Why the export table cannot be measured with the rights of its owner; `None` if it can. Postgres runs what somebody has
    /// bound to a table, such as a trigger or the expressions of CREATE STATISTICS, as whoever writes to it or plans a query
    /// of it. So all who could bind something, here or in what it inherits from or passes on, must have the same rights.
    pub fn problem_of_table(&self) -> Result<Option<String>, Problem> {
        let Some(owner) = owner_of(self.relation) else {
            return Ok(None);
        };
        if !rights::has_rights_of(self.maker, owner) {
            return Ok(Some(rights::NO_LONGER_OWNS.into()));
        }
        if self.measure.is_function() && !rights::has_rights_of(owner, self.maker) {
            return Ok(Some(
                "its function runs with the rights of the role that defined the policy, which must be the owner of an export table".into(),
            ));
        }
        let are_alike = |other| rights::has_rights_of(other, owner) && rights::has_rights_of(owner, other);
        let mut family = family_of(&[self.relation])?.into_iter();
        let found = family.find(|&member| !owner_of(member).is_some_and(are_alike));
        Ok(found.map(|member| {
            format!(
                "{} is part of the same tree and belongs to somebody else",
                name_of(member)
            )
        }))
    }

    /// The relation and what inherits from it, as far as it has the same owner.
    pub fn own_tables(&self) -> Vec<Oid> {
        let owner = owner_of(self.relation);
        let mut tables = with_heirs(self.relation);
        tables.retain(|&table| owner_of(table) == owner);
        tables
    }

    /// A row of disclosure_internal.policy. One that makes no sense becomes a policy that cannot be judged, so that it neither
    /// hides others nor lets anything leave.
    ///
    /// # Safety
    /// A valid row of disclosure_internal.policy.
    unsafe fn from_row(row: &Row) -> Self {
        // SAFETY: by the contract of the function.
        unsafe {
            let relation = row.get("relation").unwrap_or(Oid::INVALID);
            let for_role: Option<Oid> = row.get("for_role");
            let demand = Demand {
                measure: row.get("measure").unwrap_or_default(),
                measure_owner: row.get("measure_owner"),
                made_by: row.get("made_by"),
                statistic: row.get("statistic"),
                threshold: row.get("threshold"),
                at_most: row.get("at_most"),
                at_least: row.get("at_least"),
                columns: row.names("columns"),
                on_rows: row.get("on_rows"),
            };
            let numbers: Option<Vec<Option<i16>>> = row.get("attnums");
            let is_role_gone = for_role.is_some_and(|role| pg_sys::GetUserNameFromId(role, true).is_null());
            let rule = if pg_sys::get_rel_relkind(relation) == 0 {
                Err("the relation does not exist".into())
            } else if is_role_gone {
                Err("the role that it is for does not exist".into())
            } else if !are_columns(relation, demand.columns.as_deref(), numbers.as_deref()) {
                Err("not all of its columns exist".into())
            } else {
                demand.check(relation).map_err(|problem| problem.to_string())
            };
            let rule = rule.unwrap_or_else(|problem| Rule {
                measure: Measure::Unusable {
                    name: demand.measure,
                    problem,
                },
                limit: Limit::Unknown,
                on_rows: demand.on_rows.map(|_| OnRows::Block),
            });
            Policy {
                maker: demand.made_by.unwrap_or(Oid::INVALID),
                number: row.get("policy").unwrap_or(0),
                relation,
                measure: rule.measure,
                limit: rule.limit,
                columns: demand.columns,
                // A role that is gone may have been anybody's.
                for_role: for_role.filter(|_| !is_role_gone),
                on_rows: rule.on_rows,
                only_by_copy: row.get("only_by_copy").unwrap_or(false),
            }
        }
    }
}

/// Whether `role`, or everyone if there is none, includes somebody who is behind this statement.
fn is_for_us(role: Option<Oid>) -> bool {
    role.is_none_or(|role| {
        rights::everyone_behind()
            .into_iter()
            // SAFETY: a catalogue look-up.
            .any(|user| unsafe { pg_sys::is_member_of_role_nosuper(user, role) })
    })
}

/// Reads rows of disclosure_internal.policy.
struct Reader {
    shape: RowShape,
    columns: Vec<ColumnType>,
}

/// One of these rows.
struct Row<'a> {
    columns: &'a [ColumnType],
    values: Vec<(Datum, bool)>,
}

impl Reader {
    /// # Safety
    /// A valid Datum of the rows' type. The reader lives no longer than the current memory context.
    unsafe fn of(row: Datum) -> Self {
        // SAFETY: by the contract of the function.
        unsafe {
            let shape = RowShape::of_value(row, pg_sys::CurrentMemoryContext);
            let columns = shape.columns();
            Reader { shape, columns }
        }
    }

    /// # Safety
    /// A valid Datum of type disclosure_internal.policy.
    unsafe fn policy(&mut self, row: Datum) -> Result<Policy, Problem> {
        // SAFETY: by the contract of the function.
        unsafe {
            let values = self.shape.deform(row)?.collect();
            Ok(Policy::from_row(&Row {
                columns: &self.columns,
                values,
            }))
        }
    }
}

impl Row<'_> {
    /// A column; `None` if it is NULL.
    ///
    /// # Safety
    /// `T` stands for the type of the column, or for one with the same bytes.
    unsafe fn get<T: FromDatum>(&self, name: &str) -> Option<T> {
        // SAFETY: by the contract of the function.
        unsafe {
            let place = self.columns.iter().position(|column| column.name == name)?;
            let (value, is_null) = self.values[place];
            T::from_datum(value, is_null)
        }
    }

    /// A column of type name[]. A NULL in it becomes a name that no column has.
    ///
    /// # Safety
    /// The column is of that type.
    unsafe fn names(&self, name: &str) -> Option<Vec<String>> {
        // SAFETY: by the contract of the function.
        unsafe {
            let names: pgrx::Array<&CStr> = self.get(name)?;
            let text = |name: Option<&CStr>| name.unwrap_or_default().to_string_lossy().into_owned();
            Some(names.iter().map(text).collect())
        }
    }
}

/// Whether columns have these names and numbers; both are NULL if a policy is about all columns.
fn are_columns(relation: Oid, names: Option<&[String]>, numbers: Option<&[Option<i16>]>) -> bool {
    let is_column = |(name, number): (&String, &Option<i16>)| {
        // SAFETY: a catalogue look-up, which returns NULL for a column that does not exist.
        let found = unsafe { pg_sys::get_attname(relation, number.unwrap_or(0), true) };
        // SAFETY: a text in the current memory context.
        !found.is_null() && unsafe { CStr::from_ptr(found) }.to_bytes() == name.as_bytes()
    };
    match (names, numbers) {
        (None, None) => true,
        (Some(names), Some(numbers)) => {
            !names.is_empty() && names.len() == numbers.len() && names.iter().zip(numbers).all(is_column)
        }
        _ => false,
    }
}

/// policy_problem(disclosure_internal.policy)
#[pg_extern(sql = false)]
fn policy_problem(fcinfo: pg_sys::FunctionCallInfo) -> Option<String> {
    // SAFETY: declared STRICT with a disclosure_internal.policy in sql/.
    let policy = unsafe {
        let row = (*(*fcinfo).args.as_ptr()).value;
        Reader::of(row).policy(row)
    };
    policy
        .and_then(|policy| policy.problem())
        .unwrap_or_else(Problem::raise)
}

/// The policies of this database, by the relations that they concern.
#[derive(Default)]
pub struct Policies {
    all: Vec<Rc<Policy>>,
    /// Every relation whose rows a policy concerns: its own, and those above and below that in inheritance and partition
    /// trees. With the places of these policies in `all`, in order.
    by_relation: FxHashMap<Oid, Vec<usize>>,
    /// Whom they are for, each once.
    roles: Vec<Option<Oid>>,
}

impl Policies {
    fn new(all: Vec<Policy>) -> Result<Self, Problem> {
        Self::indexed(all.into_iter().map(Rc::new).collect())
    }

    /// Finds out which relations they concern.
    fn indexed(all: Vec<Rc<Policy>>) -> Result<Self, Problem> {
        let mut policies = Policies::default();
        let mut families: FxHashMap<Oid, Rc<Vec<Oid>>> = FxHashMap::default();
        for (place, policy) in all.into_iter().enumerate() {
            let family = match families.get(&policy.relation) {
                Some(family) => family.clone(),
                None => {
                    let family = Rc::new(family_of(&[policy.relation])?);
                    families.insert(policy.relation, family.clone());
                    family
                }
            };
            for &member in family.iter() {
                policies.by_relation.entry(member).or_default().push(place);
            }
            if !policies.roles.contains(&policy.for_role) {
                policies.roles.push(policy.for_role);
            }
            policies.all.push(policy);
        }
        Ok(policies)
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Rc<Policy>> {
        self.all.iter()
    }

    /// Those that concern rows of the given relations, in order.
    pub fn of(&self, relations: impl IntoIterator<Item = Oid>) -> Vec<Rc<Policy>> {
        let mut places: Vec<usize> = Vec::new(); // allocates nothing for most statements
        for relation in relations {
            if let Some(found) = self.by_relation.get(&relation) {
                places.extend(found);
            }
        }
        places.sort_unstable();
        places.dedup();
        places.into_iter().map(|place| self.all[place].clone()).collect()
    }

    /// Whether any is for somebody who is behind this statement.
    pub fn concern_us(&self) -> bool {
        self.roles.iter().any(|&role| is_for_us(role))
    }
}

thread_local! {
    /// The policies as they were after so many changes.
    static REMEMBERED: RefCell<Option<(Changes, Rc<Policies>)>> = const { RefCell::new(None) };
    /// Whether they are being read, so that it is not known yet which relations they concern.
    static READING: Cell<bool> = const { Cell::new(false) };
}

/// Called once, from `_PG_init`.
pub fn forget_when_changed() {
    // SAFETY: a function that lives as long as the library, which is never unloaded.
    unsafe {
        pg_sys::CacheRegisterRelcacheCallback(Some(note_change), pg_sys::Datum::from(0));
        let roles = pg_sys::SysCacheIdentifier::AUTHOID as i32;
        pg_sys::CacheRegisterSyscacheCallback(roles, Some(note_change_of_role), pg_sys::Datum::from(0));
    }
}

/// A policy may be for a role that is dropped.
#[pg_guard]
unsafe extern "C-unwind" fn note_change_of_role(_argument: Datum, _cache: i32, _hash: u32) {
    Changes::count(true);
}

/// A relation that comes below or above another changes both.
#[pg_guard]
unsafe extern "C-unwind" fn note_change(_argument: pg_sys::Datum, relation: Oid) {
    let is_concerned = || {
        REMEMBERED.with_borrow(|remembered| {
            let policies = remembered.as_ref().map(|(_, policies)| policies);
            policies.is_some_and(|policies| policies.by_relation.contains_key(&relation))
        })
    };
    // Without the extension, any new table may be its.
    let is_own =
        || relation == pg_sys::InvalidOid || [relation, Oid::INVALID].contains(&own_tables::remembered());
    if is_own() || READING.get() {
        Changes::count(true);
    } else if is_concerned() {
        Changes::count(false); // their rows are the same
    }
}

/// announce_policies(): trigger of disclosure_internal.policy. Tells every session, this one too, that the policies have changed: once
/// this transaction commits.
#[pg_extern(sql = false)]
fn announce_policies(fcinfo: pg_sys::FunctionCallInfo) {
    // SAFETY: a call of this function; a trigger has a relation, which is open.
    unsafe {
        let table = called_as_trigger(fcinfo)
            .then(|| (*(*(*fcinfo).context.cast::<pg_sys::TriggerData>()).tg_relation).rd_id);
        if table.is_none() || table != own_table(c"policy") {
            Problem::NotTheTrigger("announce_policies").raise()
        }
        pg_sys::CacheInvalidateRelcacheByRelid(table.unwrap_or(Oid::INVALID));
    }
}

/// What is remembered, if nothing has changed since.
fn remembered() -> Option<Rc<Policies>> {
    REMEMBERED.with_borrow(|remembered| {
        let (changes, policies) = remembered.as_ref()?;
        (*changes == Changes::so_far()).then(|| policies.clone())
    })
}

/// Whether it is known that no policy concerns rows of any of the relations. Calls nothing of Postgres.
pub fn are_unconcerned(mut relations: impl Iterator<Item = Oid>) -> bool {
    REMEMBERED.with_borrow(|remembered| {
        remembered.as_ref().is_some_and(|(changes, policies)| {
            *changes == Changes::so_far()
                && !relations.any(|relation| policies.by_relation.contains_key(&relation))
        })
    })
}

/// The policies of this database.
pub fn all() -> Result<Rc<Policies>, Problem> {
    // SAFETY: what other sessions have committed counts from now on.
    unsafe { pg_sys::AcceptInvalidationMessages() };
    if let Some(remembered) = remembered() {
        return Ok(remembered);
    }
    // SAFETY: reads the state of this backend.
    let is_parallel = unsafe { pg_sys::IsInParallelMode() };
    if let Some((_, older)) = REMEMBERED.with_borrow(Clone::clone).filter(|_| is_parallel) {
        return Ok(older); // a parallel query takes no new snapshot: what it began with counts
    }
    let changes = Changes::so_far();
    let unchanged = REMEMBERED.with_borrow(Clone::clone);
    let unchanged = unchanged.filter(|(remembered, _)| remembered.policies == changes.policies);
    READING.set(true);
    let reading = rights::Undo(|| READING.set(false));
    let found = match unchanged {
        Some((_, policies)) => Rc::new(Policies::indexed(policies.all.clone())?),
        None => read_all()?,
    };
    drop(reading);
    // Under an older snapshot, some may be missing.
    let as_of = match is_parallel {
        true => Changes {
            policies: changes.policies.wrapping_sub(1),
            ..changes
        },
        false => changes,
    };
    REMEMBERED.replace(Some((as_of, found.clone())));
    Ok(found)
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
    query::oids(QUERY, &Parameters::of_oids(relations)?)
}

fn read_all() -> Result<Rc<Policies>, Problem> {
    let table = own_table(c"policy");
    own_tables::remember(table.unwrap_or(Oid::INVALID));
    match table {
        Some(_) => Ok(Rc::new(rights::as_guard(|| Policies::new(read()?))?)),
        None => Ok(Rc::default()), // the extension is not in this database
    }
}

fn read() -> Result<Vec<Policy>, Problem> {
    Spi::connect(|_| {
        // SAFETY: SPI is connected; the column is of the type that is read.
        unsafe {
            let query = "SELECT p FROM disclosure_internal.policy p ORDER BY p.policy";
            let answer = Answer::to(query, &Parameters::default(), true)?;
            let mut rows = (0..answer.rows())
                .filter_map(|row| answer.value(row, 0))
                .peekable();
            let Some(&first) = rows.peek() else {
                return Ok(Vec::new());
            };
            let mut reader = Reader::of(first);
            rows.map(|row| reader.policy(row)).collect()
        }
    })
}
