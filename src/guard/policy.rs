//! Policies that `disclosure.protect` defined, cached per backend.
//!
//! The cache holds all policies of the database, indexed by the relations that they concern: the policy's
//! relation and those above and below it in inheritance and partition trees. Invalidation messages of
//! Postgres count changes in [`own_tables`]; the cache is rebuilt if the counters have moved since it was
//! filled.

use crate::error::Error;
use crate::guard::export_table::obstacle;
use crate::guard::own_tables;
use crate::guard::own_tables::{Changes, own_table};
use crate::guard::rights;
use crate::guard::rule::{Bounds, Demand, Limit, Measure, OnRows, Rule};
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
    /// Columns that count; `None` for all.
    pub columns: Option<Vec<String>>,
    /// Role that the policy is for; `None` for everyone.
    pub for_role: Option<Oid>,
    pub on_rows: Option<OnRows>,
    pub only_by_copy: bool,
    /// Smallest number of people that may leave.
    min_people: i64,
    /// Share of the rows that agree on a value from which on the value counts as certain.
    pub min_confidence: f64,
    /// Number of refusals within 24 hours after which a role is locked out.
    pub max_refusals: i32,
    /// Whether refusals tell the exporting role what was measured.
    pub details: bool,
    /// Whether only a role that may administer policies can change the policy.
    pub locked: bool,
    /// Role that defined the policy.
    maker: Oid,
}

impl Policy {
    /// Returns the quoted schema and name of the relation.
    pub fn relation_name(&self) -> String {
        name_of(self.relation)
    }

    /// Returns the smallest number of people that may leave: `min_people` as given to `protect`, otherwise the
    /// limit of a policy on k_anonymity, otherwise 5.
    pub fn min_people(&self) -> i64 {
        self.min_people
    }

    /// Returns whether the policy is for a role that the current statement acts for.
    pub fn concerns_us(&self) -> bool {
        is_for_us(self.for_role)
    }

    /// Returns the error that refuses exports because the policy cannot be judged.
    pub fn unusable(&self, problem: impl Into<String>) -> Error {
        Error::UnusablePolicy {
            relation: self.relation_name(),
            policy: self.number,
            problem: problem.into(),
        }
    }

    /// Returns why the policy cannot be judged for any export, or `None` if it can be.
    pub fn problem(&self) -> Result<Option<String>, Error> {
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

    /// Returns why the export table cannot be measured with the rights of its owner, or `None` if it can be.
    /// Code that is attached to a table, such as a trigger or an expression of CREATE STATISTICS, runs as the
    /// role that writes to the table or plans a query on it. So all roles that can attach code to the table,
    /// or to a table above or below it, must have the same rights.
    pub fn problem_of_table(&self) -> Result<Option<String>, Error> {
        let Some(owner) = owner_of(self.relation) else {
            return Ok(None);
        };
        if !rights::has_rights_of(self.maker, owner) {
            return Ok(Some(rights::NO_LONGER_OWNS.into()));
        }
        if self.measure.is_function() && !rights::has_rights_of(owner, self.maker) {
            return Ok(Some(
                "its function runs with the rights of the role that defined the policy, which must own the export table".into(),
            ));
        }
        let are_alike = |other| rights::has_rights_of(other, owner) && rights::has_rights_of(owner, other);
        let family = family_of(&[self.relation])?;
        let found = family
            .iter()
            .find(|&&member| !owner_of(member).is_some_and(are_alike));
        match (found, self.on_rows) {
            (Some(&member), _) => Ok(Some(format!(
                "{} is in the same inheritance tree and has another owner",
                name_of(member)
            ))),
            (None, Some(on_rows)) => obstacle::find(&family, on_rows),
            (None, None) => Ok(None),
        }
    }

    /// Returns the relation and its descendants that have the same owner.
    pub fn own_tables(&self) -> Vec<Oid> {
        let owner = owner_of(self.relation);
        let mut tables = with_heirs(self.relation);
        tables.retain(|&table| owner_of(table) == owner);
        tables
    }

    /// Returns the policy in a row of disclosure_internal.policy. An invalid row becomes a policy that cannot
    /// be judged, so that it neither hides other policies nor allows an export.
    ///
    /// # Safety
    /// The row is a valid row of disclosure_internal.policy.
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
                min_people: row.get("min_people"),
                min_confidence: row.get("min_confidence"),
                max_refusals: row.get("max_refusals"),
            };
            let numbers: Option<Vec<Option<i16>>> = row.get("attnums");
            let is_role_gone = for_role.is_some_and(|role| pg_sys::GetUserNameFromId(role, true).is_null());
            let rule = if pg_sys::get_rel_relkind(relation) == 0 {
                Err("the relation does not exist".into())
            } else if is_role_gone {
                Err("the role in for_role does not exist".into())
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
                bounds: Bounds::default(),
            });
            Policy {
                maker: demand.made_by.unwrap_or(Oid::INVALID),
                number: row.get("policy").unwrap_or(0),
                relation,
                measure: rule.measure,
                limit: rule.limit,
                columns: demand.columns,
                // Nobody knows which roles were members of a role that was dropped, so the policy is for
                // everyone.
                for_role: for_role.filter(|_| !is_role_gone),
                on_rows: rule.on_rows,
                only_by_copy: row.get("only_by_copy").unwrap_or(false),
                min_people: rule.bounds.min_people,
                min_confidence: rule.bounds.min_confidence,
                max_refusals: rule.bounds.max_refusals,
                details: row.get("details").unwrap_or(false),
                locked: row.get("locked").unwrap_or(false),
            }
        }
    }
}

/// Returns whether a role that the current statement acts for is a member of `role`; always true for `None`.
fn is_for_us(role: Option<Oid>) -> bool {
    role.is_none_or(|role| {
        rights::everyone_behind()
            .into_iter()
            // SAFETY: accepts any OIDs; a role that does not exist has no members.
            .any(|user| unsafe { pg_sys::is_member_of_role_nosuper(user, role) })
    })
}

/// Reader of rows of disclosure_internal.policy.
struct Reader {
    shape: RowShape,
    columns: Vec<ColumnType>,
}

/// Row of disclosure_internal.policy.
struct Row<'a> {
    columns: &'a [ColumnType],
    values: Vec<(Datum, bool)>,
}

impl Reader {
    /// Returns a reader of rows that have the same type as `row`.
    ///
    /// # Safety
    /// `row` is a valid composite Datum. The reader does not outlive the current memory context.
    unsafe fn of(row: Datum) -> Self {
        // SAFETY: by the contract of the function.
        unsafe {
            let shape = RowShape::of_value(row, pg_sys::CurrentMemoryContext);
            let columns = shape.columns();
            Reader { shape, columns }
        }
    }

    /// Returns the policy in a row.
    ///
    /// # Safety
    /// `row` is a valid Datum of type disclosure_internal.policy.
    unsafe fn policy(&mut self, row: Datum) -> Result<Policy, Error> {
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
    /// Returns the value of a column, or `None` if it is NULL.
    ///
    /// # Safety
    /// `T` matches the type of the column, or one with the same binary representation.
    unsafe fn get<T: FromDatum>(&self, name: &str) -> Option<T> {
        // SAFETY: by the contract of the function.
        unsafe {
            let place = self.columns.iter().position(|column| column.name == name)?;
            let (value, is_null) = self.values[place];
            T::from_datum(value, is_null)
        }
    }

    /// Returns the value of a column of type name[]. A NULL element becomes the empty name, which no column
    /// has.
    ///
    /// # Safety
    /// The column has type name[].
    unsafe fn names(&self, name: &str) -> Option<Vec<String>> {
        // SAFETY: by the contract of the function.
        unsafe {
            let names: pgrx::Array<&CStr> = self.get(name)?;
            let text = |name: Option<&CStr>| name.unwrap_or_default().to_string_lossy().into_owned();
            Some(names.iter().map(text).collect())
        }
    }
}

/// Returns whether the relation has columns with these names and numbers. Both are NULL if a policy is about
/// all columns.
fn are_columns(relation: Oid, names: Option<&[String]>, numbers: Option<&[Option<i16>]>) -> bool {
    let is_column = |(name, number): (&String, &Option<i16>)| {
        // SAFETY: accepts any OID and number, and returns NULL if there is no such column.
        let found = unsafe { pg_sys::get_attname(relation, number.unwrap_or(0), true) };
        // SAFETY: a C string in the current memory context, compared at once.
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
    // SAFETY: sql/ declares the function as STRICT, with one argument of type disclosure_internal.policy.
    let policy = unsafe { argument(fcinfo) };
    policy
        .and_then(|policy| policy.problem())
        .unwrap_or_else(Error::raise)
}

/// policy_min_people(disclosure_internal.policy)
#[pg_extern(sql = false)]
fn policy_min_people(fcinfo: pg_sys::FunctionCallInfo) -> i64 {
    // SAFETY: sql/ declares the function as STRICT, with one argument of type disclosure_internal.policy.
    let policy = unsafe { argument(fcinfo) };
    policy
        .map(|policy| policy.min_people())
        .unwrap_or_else(Error::raise)
}

/// Returns the policy that is the first argument of a call.
///
/// # Safety
/// `fcinfo` is the current call, whose first argument is of type disclosure_internal.policy and not NULL.
pub unsafe fn argument(fcinfo: pg_sys::FunctionCallInfo) -> Result<Policy, Error> {
    // SAFETY: by the contract of the function.
    unsafe {
        let row = (*(*fcinfo).args.as_ptr()).value;
        Reader::of(row).policy(row)
    }
}

/// Policies of this database, indexed by the relations that they concern.
#[derive(Default)]
pub struct Policies {
    all: Vec<Rc<Policy>>,
    /// Relations whose rows a policy concerns: the policy's relation, and those above and below it in
    /// inheritance and partition trees. Each is mapped to the ascending positions of its policies in `all`.
    by_relation: FxHashMap<Oid, Vec<usize>>,
}

impl Policies {
    fn new(all: Vec<Policy>) -> Result<Self, Error> {
        Self::indexed(all.into_iter().map(Rc::new).collect())
    }

    /// Returns the policies, indexed by the relations that they concern.
    fn indexed(all: Vec<Rc<Policy>>) -> Result<Self, Error> {
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

    /// Returns the policies that concern rows of the given relations, in the order of their numbers.
    pub fn of(&self, relations: impl IntoIterator<Item = Oid>) -> Vec<Rc<Policy>> {
        let mut places: Vec<usize> = Vec::new(); // stays unallocated for most statements
        for relation in relations {
            if let Some(found) = self.by_relation.get(&relation) {
                places.extend(found);
            }
        }
        places.sort_unstable();
        places.dedup();
        places.into_iter().map(|place| self.all[place].clone()).collect()
    }
}

thread_local! {
    /// Cached policies, with the counters of changes at the time they were read.
    static REMEMBERED: RefCell<Option<(Changes, Rc<Policies>)>> = const { RefCell::new(None) };
    /// Whether policies are being read. Meanwhile it is unknown which relations they concern.
    static READING: Cell<bool> = const { Cell::new(false) };
}

/// Registers the callbacks that invalidate the cache. Called once, from `_PG_init`.
pub fn forget_when_changed() {
    // SAFETY: the callbacks have the expected signatures, and the library is never unloaded.
    unsafe {
        pg_sys::CacheRegisterRelcacheCallback(Some(note_change), pg_sys::Datum::from(0));
        let roles = pg_sys::SysCacheIdentifier::AUTHOID as i32;
        pg_sys::CacheRegisterSyscacheCallback(roles, Some(note_change_of_role), pg_sys::Datum::from(0));
    }
}

/// Counts a change of the policies, because the dropped or altered role may be one that a policy is for.
#[pg_guard]
unsafe extern "C-unwind" fn note_change_of_role(_argument: Datum, _cache: i32, _hash: u32) {
    Changes::count(true);
}

/// Counts a change if Postgres invalidates a relation that the policies depend on. A relation that is
/// attached to another, or detached from it, invalidates both.
#[pg_guard]
unsafe extern "C-unwind" fn note_change(_argument: pg_sys::Datum, relation: Oid) {
    let is_concerned = || {
        REMEMBERED.with_borrow(|remembered| {
            let policies = remembered.as_ref().map(|(_, policies)| policies);
            policies.is_some_and(|policies| policies.by_relation.contains_key(&relation))
        })
    };
    // InvalidOid means all relations. If the extension was not installed so far, any new table may be its.
    let is_own =
        || relation == pg_sys::InvalidOid || [relation, Oid::INVALID].contains(&own_tables::remembered());
    if is_own() || READING.get() {
        Changes::count(true);
    } else if is_concerned() {
        Changes::count(false); // rows of disclosure_internal.policy are unchanged
    }
}

/// announce_policies(): trigger of disclosure_internal.policy. Tells every session, including this one, that
/// the policies have changed. Other sessions learn of it when the transaction commits.
#[pg_extern(sql = false)]
fn announce_policies(fcinfo: pg_sys::FunctionCallInfo) {
    // SAFETY: `fcinfo` is the current call; `called_as_trigger` ensures that its context is TriggerData,
    // whose relation is open.
    unsafe {
        let table = called_as_trigger(fcinfo)
            .then(|| (*(*(*fcinfo).context.cast::<pg_sys::TriggerData>()).tg_relation).rd_id);
        if table.is_none() || table != own_table(c"policy") {
            Error::NotTheTrigger("announce_policies").raise()
        }
        pg_sys::CacheInvalidateRelcacheByRelid(table.unwrap_or(Oid::INVALID));
    }
}

/// Returns the cached policies if they are up to date.
fn remembered() -> Option<Rc<Policies>> {
    REMEMBERED.with_borrow(|remembered| {
        let (changes, policies) = remembered.as_ref()?;
        (*changes == Changes::so_far()).then(|| policies.clone())
    })
}

/// Returns whether the cache is up to date and no policy concerns rows of any of the relations. Does not call
/// Postgres.
pub fn are_unconcerned(mut relations: impl Iterator<Item = Oid>) -> bool {
    REMEMBERED.with_borrow(|remembered| {
        remembered.as_ref().is_some_and(|(changes, policies)| {
            *changes == Changes::so_far()
                && !relations.any(|relation| policies.by_relation.contains_key(&relation))
        })
    })
}

/// Returns whether the cache is up to date and there are no policies. Does not call Postgres.
pub fn is_known_empty() -> bool {
    REMEMBERED.with_borrow(|remembered| {
        let (changes, policies) = match remembered {
            Some(remembered) => remembered,
            None => return false,
        };
        *changes == Changes::so_far() && policies.is_empty()
    })
}

/// Returns the policies that concern rows of the given relations, in the order of their numbers. Policies of a
/// relation also concern the materialized views that are made of it, unless its owner has given the
/// materialized view a policy of its own for the roles that the statement acts for.
pub fn concerning(relations: &[Oid]) -> Result<Vec<Rc<Policy>>, Error> {
    let all = all()?;
    let mut found = all.of(relations.iter().copied());
    for &relation in relations {
        // SAFETY: any OID is accepted.
        let kind = unsafe { pg_sys::get_rel_relkind(relation) } as u8;
        if kind != pg_sys::RELKIND_MATVIEW {
            continue;
        }
        let is_own = |policy: &&Rc<Policy>| policy.relation == relation && policy.concerns_us();
        let own: Vec<Rc<Policy>> = all.iter().filter(is_own).cloned().collect();
        let is_replaced = |policy: &Policy| {
            let owner = owner_of(policy.relation);
            own.iter()
                .any(|own| owner.is_some_and(|owner| rights::has_rights_of(own.maker, owner)))
        };
        let below = all.of(relations_under(relation)?);
        found.extend(below.into_iter().filter(|policy| !is_replaced(policy)));
    }
    found.sort_by_key(|policy| policy.number);
    found.dedup_by_key(|policy| policy.number);
    Ok(found)
}

/// Returns the relations that a materialized view is made of, through views and other materialized views.
pub fn relations_under(view: Oid) -> Result<Vec<Oid>, Error> {
    const QUERY: &str = "
        WITH RECURSIVE under(relation) AS (
            SELECT pg_catalog.unnest($1)
            UNION
            SELECT d.refobjid
              FROM under u, pg_catalog.pg_class c, pg_catalog.pg_rewrite r, pg_catalog.pg_depend d
             WHERE c.oid = u.relation AND c.relkind IN ('m', 'v') AND r.ev_class = u.relation
               AND d.classid = 'pg_catalog.pg_rewrite'::regclass::oid AND d.objid = r.oid
               AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid)
        TABLE under";
    rights::as_guard(|| query::oids(QUERY, &Parameters::of_oids(&[view])?))
}

/// Returns the policies of this database.
pub fn all() -> Result<Rc<Policies>, Error> {
    // SAFETY: the statement that is running is in a transaction, as this function requires. It makes changes
    // visible that other sessions have committed.
    unsafe { pg_sys::AcceptInvalidationMessages() };
    if let Some(remembered) = remembered() {
        return Ok(remembered);
    }
    // SAFETY: only reads the state of this backend, on its main thread.
    let is_parallel = unsafe { pg_sys::IsInParallelMode() };
    if let Some((_, older)) = REMEMBERED.with_borrow(Clone::clone).filter(|_| is_parallel) {
        return Ok(older); // a parallel query cannot take a new snapshot
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
    // A parallel query reads under an older snapshot, in which policies may be missing, so the cache is
    // stale.
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

/// Returns whether a relation exists and has no relations above or below it in inheritance and partition
/// trees.
fn is_alone(&relation: &Oid) -> bool {
    // SAFETY: `has_subclass` requires an existing relation, which the first look-up checks; it accepts any
    // OID.
    unsafe { pg_sys::get_rel_relkind(relation) != 0 && !has_subclass(relation) && !has_superclass(relation) }
}

/// Returns the relations, and all above and below them in inheritance and partition trees.
pub fn family_of(relations: &[Oid]) -> Result<Vec<Oid>, Error> {
    match relations.iter().all(is_alone) {
        true => Ok(relations.to_vec()), // fast path: most relations are alone
        false => rights::as_guard(|| relatives_of(relations)),
    }
}

fn relatives_of(relations: &[Oid]) -> Result<Vec<Oid>, Error> {
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

fn read_all() -> Result<Rc<Policies>, Error> {
    let table = own_table(c"policy");
    own_tables::remember(table.unwrap_or(Oid::INVALID));
    match table {
        Some(_) => Ok(Rc::new(rights::as_guard(|| Policies::new(read()?))?)),
        None => Ok(Rc::default()), // the extension is not installed in this database
    }
}

fn read() -> Result<Vec<Policy>, Error> {
    Spi::connect(|_| {
        // SAFETY: SPI is connected, and the column has type disclosure_internal.policy.
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
