//! Hooks into Postgres that guard COPY … TO and CREATE TABLE AS, which copies rows of a protected relation
//! into an unprotected one.
//!
//! An export can be judged if the statement itself reads the relation, because then its rows and their
//! lineage are known. Everything else is refused: a function that reads a protected relation during an
//! export; and, if the policy says `only_by_copy`, every other query that reads the relation.
//!
//! The hooks are called in this order:
//! 1. `process_utility` recognises an export, analyses its query, and runs the statement as an `Export`.
//!    COPY table TO is turned into COPY (SELECT …) TO first.
//! 2. `executor_start` checks every query that starts. The first one whose rows go to a COPY or into a new
//!    table is the export's own; any other query during an export must not read a protected relation.
//! 3. `executor_run` collects the rows of the export's own query in a [`Spool`], measures them, and sends
//!    them to their destination if no policy is broken.

use crate::error::{Error, Way};
use crate::guard::copy::spool::Spool;
use crate::guard::judge::{Measured, Source};
use crate::guard::lineage::{Lineage, entries, list};
use crate::guard::log::{Lasting, Outcome};
use crate::guard::policy::{Policies, Policy};
use crate::guard::{judge, lineage, policy, rights};
use crate::input::relation::Relation;
use crate::pg::catalog;
use crate::pg::query;
use crate::pg::query::Parameters;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::pg_sys::{self, NodeTag, Oid, PlannedStmt, QueryDesc};
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::OnceLock;

/// Hooks that were set before ours, and that ours call.
struct Before {
    utility: pg_sys::ProcessUtility_hook_type,
    start: pg_sys::ExecutorStart_hook_type,
    run: pg_sys::ExecutorRun_hook_type,
}

static BEFORE: OnceLock<Before> = OnceLock::new();

/// Postgres' own functions, declared without pgrx's wrappers. The wrappers would catch every ERROR of every
/// statement and raise another one without the context, constraint and table of the original.
mod standard {
    use super::*;

    unsafe extern "C-unwind" {
        pub fn standard_ProcessUtility(
            planned: *mut PlannedStmt,
            source: *const c_char,
            read_only_tree: bool,
            context: pg_sys::ProcessUtilityContext::Type,
            parameters: pg_sys::ParamListInfo,
            environment: *mut pg_sys::QueryEnvironment,
            destination: *mut pg_sys::DestReceiver,
            completion: *mut pg_sys::QueryCompletion,
        );
        pub fn AcceptInvalidationMessages();
        pub fn standard_ExecutorStart(execution: *mut QueryDesc, flags: c_int);
        #[cfg(not(feature = "pg18"))]
        pub fn standard_ExecutorRun(
            execution: *mut QueryDesc,
            direction: pg_sys::ScanDirection::Type,
            count: u64,
            once: bool,
        );
        #[cfg(feature = "pg18")]
        pub fn standard_ExecutorRun(
            execution: *mut QueryDesc,
            direction: pg_sys::ScanDirection::Type,
            count: u64,
        );
    }
}

/// Arguments of ProcessUtility besides the statement.
#[repr(C)]
#[derive(Clone, Copy)]
struct Utility {
    source: *const c_char,
    read_only_tree: bool,
    context: pg_sys::ProcessUtilityContext::Type,
    parameters: pg_sys::ParamListInfo,
    environment: *mut pg_sys::QueryEnvironment,
    destination: *mut pg_sys::DestReceiver,
    completion: *mut pg_sys::QueryCompletion,
}

impl Utility {
    /// Runs the statement. An ERROR jumps over this frame and the caller's, so neither may contain a value
    /// that needs to be dropped.
    ///
    /// # Safety
    /// The statement is valid.
    unsafe fn proceed(self, planned: *mut PlannedStmt) {
        // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
        unsafe {
            let hook = BEFORE.get().and_then(|before| before.utility);
            hook.unwrap_or(standard::standard_ProcessUtility)(
                planned,
                self.source,
                self.read_only_tree,
                self.context,
                self.parameters,
                self.environment,
                self.destination,
                self.completion,
            );
        }
    }
}

/// Arguments of ExecutorRun besides the execution.
#[repr(C)]
#[derive(Clone, Copy)]
struct Run {
    direction: pg_sys::ScanDirection::Type,
    count: u64,
    #[cfg(not(feature = "pg18"))]
    once: bool,
}

impl Run {
    /// Runs the execution; see [`Utility::proceed`] about errors.
    ///
    /// # Safety
    /// The execution is valid and has started.
    unsafe fn proceed(self, execution: *mut QueryDesc) {
        // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
        unsafe {
            let hook = BEFORE.get().and_then(|before| before.run);
            hook.unwrap_or(standard::standard_ExecutorRun)(
                execution,
                self.direction,
                self.count,
                #[cfg(not(feature = "pg18"))]
                self.once,
            );
        }
    }
}

/// Installs the hooks. Called once, from `_PG_init`.
pub fn install() {
    // SAFETY: the library is being loaded, on the only thread of the backend, so nothing else accesses the
    // hooks.
    unsafe {
        BEFORE.get_or_init(|| Before {
            utility: pg_sys::ProcessUtility_hook,
            start: pg_sys::ExecutorStart_hook,
            run: pg_sys::ExecutorRun_hook,
        });
        pg_sys::ProcessUtility_hook = Some(process_utility);
        pg_sys::ExecutorStart_hook = Some(executor_start);
        pg_sys::ExecutorRun_hook = Some(executor_run);
    }
    policy::forget_when_changed();
}

/// Running statement that exports rows.
struct Export {
    kind: &'static str,
    /// Policies that it must comply with.
    policies: Vec<Rc<Policy>>,
    /// Relations that its query reads, as found when the query was analysed.
    relations: Vec<Oid>,
    /// Lineage of its query; `None` if there is nothing to judge, or once judging has begun.
    lineage: Option<Lineage>,
    /// Execution of its query; NULL until it starts.
    execution: *mut QueryDesc,
    /// Whether the query calls functions that do not come with Postgres.
    calls_functions: bool,
}

thread_local! {
    /// Export that `is_export` has found and `run_export` will run.
    static NEXT: RefCell<Option<(Export, *mut PlannedStmt)>> = const { RefCell::new(None) };
    /// Running exports, innermost last.
    static EXPORTS: RefCell<Vec<Export>> = const { RefCell::new(Vec::new()) };
}

/// Removes the last entry of [`EXPORTS`] when dropped, including while an error unwinds.
struct Ended;

impl Drop for Ended {
    fn drop(&mut self) {
        EXPORTS.with_borrow_mut(Vec::pop);
    }
}

/// Runs `statement` as an export and returns its result.
fn while_exporting<R>(export: Export, statement: impl FnOnce() -> R) -> R {
    EXPORTS.with_borrow_mut(|exports| exports.push(export));
    let _ended = Ended;
    statement()
}

#[allow(clippy::too_many_arguments)] // given by Postgres
unsafe extern "C-unwind" fn process_utility(
    planned: *mut PlannedStmt,
    source: *const c_char,
    read_only_tree: bool,
    context: pg_sys::ProcessUtilityContext::Type,
    parameters: pg_sys::ParamListInfo,
    environment: *mut pg_sys::QueryEnvironment,
    destination: *mut pg_sys::DestReceiver,
    completion: *mut pg_sys::QueryCompletion,
) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let utility = Utility {
            source,
            read_only_tree,
            context,
            parameters,
            environment,
            destination,
            completion,
        };
        match is_export(planned, source) {
            true => run_export(utility),
            false => utility.proceed(planned),
        }
    }
}

/// Returns whether a statement must be run as an export, which is then stored in [`NEXT`].
#[pg_guard]
unsafe extern "C-unwind" fn is_export(planned: *mut PlannedStmt, source: *const c_char) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        check_command((*planned).utilityStmt).unwrap_or_else(Error::raise);
        let export = export_of(planned, source).unwrap_or_else(Error::raise);
        let is_export = export.is_some();
        NEXT.replace(export);
        is_export
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn run_export(utility: Utility) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        if let Some((export, planned)) = NEXT.take() {
            while_exporting(export, || {
                pg_sys::ffi::pg_guard_ffi_boundary(|| utility.proceed(planned))
            });
        }
    }
}

/// Returns an error if a measure function runs a utility command. Such commands could affect the rest of the
/// transaction, or fire deferred triggers of other roles.
///
/// # Safety
/// The utility statement is valid.
unsafe fn check_command(statement: *mut pg_sys::Node) -> Result<(), Error> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let is_setting = (*statement).type_ == NodeTag::T_VariableSetStmt; // the sandbox undoes it
        if !rights::is_measuring() || rights::is_guard_at_work() || is_setting {
            return Ok(());
        }
        let name = pg_sys::GetCommandTagName(pg_sys::CreateCommandTag(statement));
        Err(Error::CommandInMeasure {
            command: CStr::from_ptr(name).to_string_lossy().into_owned(),
        })
    }
}

/// Returns the export that a statement is, and the statement in a form that can be judged, or `None` if there
/// is nothing to judge.
///
/// # Safety
/// `planned` is a valid utility statement, and `source` the text it was parsed from.
unsafe fn export_of(
    planned: *mut PlannedStmt,
    source: *const c_char,
) -> Result<Option<(Export, *mut PlannedStmt)>, Error> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let statement = (*planned).utilityStmt;
        let kind = match (*statement).type_ {
            NodeTag::T_CopyStmt if !(*statement.cast::<pg_sys::CopyStmt>()).is_from => "COPY TO",
            NodeTag::T_CreateTableAsStmt => "CREATE TABLE AS",
            _ => return Ok(None),
        };
        let all = policy::all()?;
        if all.is_empty() {
            return Ok(None);
        }
        let (query, judgeable) = match kind {
            "COPY TO" => match query_of_copy(planned, source) {
                Some(found) => found,
                None => return Ok(None),
            },
            _ => match query_of_create(statement.cast()) {
                Some(query) => (query, planned),
                None => return Ok(None),
            },
        };
        let lineage = lineage::trace(query);
        let mut policies = all.of(lineage.relations.iter().copied());
        if rights::is_exempt() {
            for policy in &policies {
                judge::record(kind, policy, None, Outcome::Exempt, Lasting::Always)?;
            }
            return Ok(None);
        }
        policies.retain(|policy| policy.concerns_us());
        if policies.is_empty() && judgeable != planned {
            return Ok(None); // COPY table TO runs no functions
        }
        if let (Some(policy), true) = (policies.first(), judgeable != planned) {
            check_bound_code(policy, &lineage.relations)?;
        }
        check_volatile(kind, &policies, query)?;
        // Even if no policy applies, functions that the query calls may read a protected relation.
        let export = Export {
            kind,
            relations: lineage.relations.clone(),
            lineage: (!policies.is_empty()).then_some(lineage),
            policies,
            execution: std::ptr::null_mut(),
            calls_functions: false,
        };
        Ok(Some((export, judgeable)))
    }
}

/// Returns an error if planning a query on the relations could run functions of other roles with the current
/// user's rights. Postgres plans nothing for COPY table TO, but the query that the guard makes of it is
/// planned, and the planner may evaluate expressions of indexes, statistics and checks.
fn check_bound_code(policy: &Policy, relations: &[Oid]) -> Result<(), Error> {
    const QUERY: &str = "
        SELECT b.relation
          FROM (SELECT i.indrelid, 'pg_class'::regclass, i.indexrelid FROM pg_index i WHERE i.indrelid = ANY ($1)
                UNION ALL SELECT s.stxrelid, 'pg_statistic_ext'::regclass, s.oid FROM pg_statistic_ext s WHERE s.stxrelid = ANY ($1)
                UNION ALL SELECT c.conrelid, 'pg_constraint'::regclass, c.oid FROM pg_constraint c WHERE c.conrelid = ANY ($1))
               AS b(relation, catalogue, object)
          JOIN pg_depend d ON d.classid = b.catalogue::oid AND d.objid = b.object
         WHERE d.refclassid IN ('pg_proc'::regclass::oid, 'pg_operator'::regclass::oid) AND d.refobjid >= 16384";
    // SAFETY: only reads variables of this backend, on its main thread.
    let user = unsafe { pg_sys::GetUserId() };
    let parameters = Parameters::of_oids(relations)?;
    let is_others = |&relation: &Oid| {
        let owner = catalog::owner_of(relation);
        !owner.is_some_and(|owner| rights::has_rights_of(owner, user))
    };
    let bound = rights::as_guard(|| query::oids(QUERY, &parameters))?;
    match bound.iter().find(|relation| is_others(relation)) {
        None => Ok(()),
        Some(_) => Err(policy.unusable(
            "expressions of its indexes, statistics or checks call functions of other roles, which would run with your rights",
        )),
    }
}

/// Returns an error if the query calls volatile functions and a policy says `only_by_copy`. Volatile
/// functions may keep their arguments: in settings, locks, sequences or large objects.
///
/// # Safety
/// The query is valid and not yet rewritten.
unsafe fn check_volatile(
    kind: &'static str,
    policies: &[Rc<Policy>],
    query: *mut pg_sys::Query,
) -> Result<(), Error> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let is_volatile = |query: *mut pg_sys::Query| pg_sys::contain_volatile_functions(query.cast());
        match policies.iter().find(|policy| policy.only_by_copy) {
            Some(policy) if lineage::rewrite(query).into_iter().any(is_volatile) => {
                Err(refused(kind, policy, false)?)
            }
            _ => Ok(()),
        }
    }
}

/// Returns the query of COPY (query) TO, and the statement to run. COPY table TO is turned into COPY (query)
/// TO, because Postgres would read the table without the executor. Returns `None` if the statement is
/// invalid: then Postgres raises its own error.
///
/// # Safety
/// `planned` is a valid COPY … TO, and `source` the text it was parsed from.
unsafe fn query_of_copy(
    planned: *mut PlannedStmt,
    source: *const c_char,
) -> Option<(*mut pg_sys::Query, *mut PlannedStmt)> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let copy = (*planned).utilityStmt.cast::<pg_sys::CopyStmt>();
        if (*copy).relation.is_null() {
            return Some((lineage::analyse((*copy).query, source), planned));
        }
        let text = CString::new(select_of_copy(&*copy)?).ok()?;
        let parsed = list::<pg_sys::RawStmt>(pg_sys::pg_parse_query(text.as_ptr()));
        let query = (**parsed.first()?).stmt;
        let planned = pg_sys::copyObjectImpl(planned.cast()).cast::<PlannedStmt>();
        let copy = (*planned).utilityStmt.cast::<pg_sys::CopyStmt>();
        (*copy).relation = std::ptr::null_mut();
        (*copy).attlist = std::ptr::null_mut();
        (*copy).query = query;
        Some((lineage::analyse(query, text.as_ptr()), planned))
    }
}

const FIRST_TO_COPY_MATERIALIZED_VIEWS: u32 = 180_000;

/// Returns the SELECT that returns the rows that COPY table TO would send.
///
/// # Safety
/// `copy` is a valid COPY table … TO.
unsafe fn select_of_copy(copy: &pg_sys::CopyStmt) -> Option<String> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let oid = pg_sys::RangeVarGetRelidExtended(
            copy.relation,
            pg_sys::AccessShareLock as pg_sys::LOCKMODE,
            pg_sys::RVROption::RVR_MISSING_OK,
            None,
            std::ptr::null_mut(),
        );
        let kind = pg_sys::get_rel_relkind(oid) as u8;
        let is_copied = kind == pg_sys::RELKIND_RELATION
            || kind == pg_sys::RELKIND_MATVIEW && pg_sys::PG_VERSION_NUM >= FIRST_TO_COPY_MATERIALIZED_VIEWS;
        if !is_copied {
            return None;
        }
        let relation = Relation::whole("relation", Some(oid)).ok()?;
        let named = list::<pg_sys::Node>(copy.attlist);
        let columns: Option<Vec<String>> = if named.is_empty() {
            let mut columns = relation.columns().iter();
            let stored = columns.by_ref().filter(|column| !is_generated(oid, &column.name));
            Some(stored.map(|column| quote_identifier(&column.name)).collect())
        } else {
            let column = |name: *mut pg_sys::Node| {
                let name = CStr::from_ptr(string_of(name)).to_string_lossy();
                let column = relation.column("columns", &name).ok()?;
                (!is_generated(oid, &column.name)).then(|| quote_identifier(&column.name))
            };
            named.into_iter().map(column).collect()
        };
        let columns = columns.filter(|columns| {
            let mut seen = FxHashSet::default();
            columns.iter().all(|column| seen.insert(column))
        });
        // A materialized view has no descendants, and not every version of Postgres accepts ONLY for it.
        let only = if kind == pg_sys::RELKIND_RELATION {
            "ONLY "
        } else {
            ""
        };
        Some(format!(
            "SELECT {} FROM {only}{}",
            columns?.join(", "),
            relation.name()
        ))
    }
}

/// Returns the string in a node.
///
/// # Safety
/// `node` is a valid string node.
unsafe fn string_of(node: *mut pg_sys::Node) -> *const c_char {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        #[cfg(feature = "pg14")]
        return (*node.cast::<pg_sys::Value>()).val.str_;
        #[cfg(not(feature = "pg14"))]
        return (*node.cast::<pg_sys::String>()).sval;
    }
}

fn is_generated(relation: Oid, column: &str) -> bool {
    let Ok(column) = CString::new(column) else {
        return false;
    };
    // SAFETY: the name is NUL-terminated, and both look-ups return 0 if there is no such column.
    unsafe { pg_sys::get_attgenerated(relation, pg_sys::get_attnum(relation, column.as_ptr())) != 0 }
}

/// Returns the query of CREATE TABLE AS or SELECT INTO. Returns `None` if no rows leave, or if the query is
/// not known yet: then the hooks of the executor check it.
///
/// # Safety
/// `create` is a valid CREATE TABLE AS.
unsafe fn query_of_create(create: *mut pg_sys::CreateTableAsStmt) -> Option<*mut pg_sys::Query> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let query = (*create).query.cast::<pg_sys::Query>();
        // A materialized view may be created freely: exports from it are judged as exports of its tables.
        let is_table = (*create).objtype == pg_sys::ObjectType::OBJECT_TABLE;
        let has_rows = !(*(*create).into).skipData && (*query).commandType == pg_sys::CmdType::CMD_SELECT;
        (is_table && has_rows).then(|| pg_sys::copyObjectImpl(query.cast()).cast())
    }
}

unsafe extern "C-unwind" fn executor_start(execution: *mut QueryDesc, flags: c_int) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        if !is_bystander(execution) {
            look_at_start(execution, flags);
        }
        let hook = BEFORE.get().and_then(|before| before.start);
        hook.unwrap_or(standard::standard_ExecutorStart)(execution, flags);
    }
}

/// Returns whether an execution neither belongs to an export nor reads a relation that a policy concerns.
/// Every statement of every user calls this, so it avoids the overhead of pgrx. An ERROR jumps over this
/// frame, so it must not contain a value that needs to be dropped.
///
/// # Safety
/// The execution is valid and about to start.
unsafe fn is_bystander(execution: *mut QueryDesc) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        if may_be_export(execution) {
            return false;
        }
        standard::AcceptInvalidationMessages(); // learn what other sessions have committed
        policy::are_unconcerned(relations_read((*execution).plannedstmt))
    }
}

/// Returns whether an export is running, or the rows of the execution go to a COPY or into a new table.
///
/// # Safety
/// The execution is valid.
unsafe fn may_be_export(execution: *mut QueryDesc) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe { EXPORTS.with_borrow(|exports| !exports.is_empty()) || is_bound_out(execution) }
}

#[pg_guard]
unsafe extern "C-unwind" fn look_at_start(execution: *mut QueryDesc, flags: c_int) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let only_explained = flags & pg_sys::EXEC_FLAG_EXPLAIN_ONLY as c_int != 0;
        if !only_explained && !rights::is_guard_at_work() && !is_part_of_another(execution) {
            check_reading(execution).unwrap_or_else(Error::raise);
        }
    }
}

/// Returns whether an execution is a parallel worker's share of one that was checked in its leader. Queries
/// that functions run within a worker are not.
///
/// # Safety
/// The execution is valid.
unsafe fn is_part_of_another(execution: *mut QueryDesc) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let destination = (*execution).dest;
        pg_sys::ParallelWorkerNumber >= 0
            && !destination.is_null()
            && (*destination).mydest == pg_sys::CommandDest::DestTupleQueue
    }
}

/// Returns an error if the query must not read one of its relations.
///
/// # Safety
/// The execution is valid and about to start.
unsafe fn check_reading(execution: *mut QueryDesc) -> Result<(), Error> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let all = policy::all()?;
        if all.is_empty() {
            return Ok(());
        }
        let is_parallel = (*(*execution).plannedstmt).parallelModeNeeded;
        let is_export = EXPORTS.with_borrow(|exports| !exports.is_empty());
        if is_parallel && is_export && all.concern_us() && !rights::is_exempt() {
            keep_own_functions_here(execution);
        }
        let leaves = is_bound_out(execution);
        // The first execution within an export whose rows leave is the export's own.
        let reading = EXPORTS.with_borrow_mut(|exports| match exports.last_mut() {
            Some(export) if leaves && export.execution.is_null() => {
                export.execution = execution;
                export.calls_functions |= calls_own_functions((*execution).plannedstmt);
                Reading::Judged(export.kind, export.policies.clone(), export.relations.clone())
            }
            Some(export) => {
                // A function that the export's query calls runs a query, perhaps while the export is planned.
                export.calls_functions = true;
                Reading::Hidden(export.kind)
            }
            None if leaves => Reading::Hidden("CREATE TABLE AS"),
            None => Reading::Free,
        });
        check_relations(&all, reading, (*execution).plannedstmt)
    }
}

/// Disables parallel workers for an execution that calls functions that do not come with Postgres. A worker
/// does not know that it works for an export, so such a function could read a protected relation there.
///
/// # Safety
/// The execution is valid and about to start in parallel mode.
unsafe fn keep_own_functions_here(execution: *mut QueryDesc) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let planned = (*execution).plannedstmt;
        if calls_own_functions(planned) {
            // The plan may be cached and shared, so a copy is changed. Without parallel mode, the leader does
            // all the work.
            let here = pg_sys::MemoryContextAlloc(pg_sys::TopTransactionContext, size_of::<PlannedStmt>());
            let here = here.cast::<PlannedStmt>();
            here.copy_from_nonoverlapping(planned, 1);
            (*here).parallelModeNeeded = false;
            (*execution).plannedstmt = here;
        }
    }
}

/// Returns whether a plan depends on functions that do not come with Postgres.
///
/// # Safety
/// The plan is valid.
unsafe fn calls_own_functions(planned: *mut PlannedStmt) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        list::<pg_sys::PlanInvalItem>((*planned).invalItems)
            .into_iter()
            .any(|item| (*item).cacheId == pg_sys::SysCacheIdentifier::PROCOID as i32)
    }
}

/// Returns whether a plan may do more than return rows that are judged: write data elsewhere, or reveal it by
/// notices, settings or locks.
///
/// # Safety
/// The plan is valid.
unsafe fn has_side_effects(planned: *mut PlannedStmt) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        (*planned).commandType != pg_sys::CmdType::CMD_SELECT
            || (*planned).hasModifyingCTE
            || calls_own_functions(planned)
    }
}

/// Returns whether the rows of an execution go to a COPY or into a new table.
///
/// # Safety
/// The execution is valid.
unsafe fn is_bound_out(execution: *mut QueryDesc) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let destination = (*execution).dest;
        !destination.is_null()
            && match (*destination).mydest {
                pg_sys::CommandDest::DestCopyOut => true,
                pg_sys::CommandDest::DestIntoRel => !is_materialized_view(destination),
                _ => false,
            }
    }
}

/// First fields of Postgres' private struct `DR_intorel`, the destination for rows of a new table. They are
/// the same in every major version.
#[repr(C)]
struct IntoRelation {
    callbacks: pg_sys::DestReceiver,
    into: *mut pg_sys::IntoClause,
}

/// Returns whether a query fills a new materialized view, which is allowed: see [`query_of_create`]. Since
/// Postgres 17, CREATE MATERIALIZED VIEW fills it as REFRESH does, with another kind of destination.
///
/// # Safety
/// `destination` is a valid destination of kind DestIntoRel.
unsafe fn is_materialized_view(destination: *mut pg_sys::DestReceiver) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let into = (*destination.cast::<IntoRelation>()).into;
        !into.is_null() && !(*into).viewQuery.is_null()
    }
}

/// Role of a query, as far as the guard is concerned.
enum Reading {
    /// Own query of an export: the kind of export, the policies it is judged by, and the relations that it
    /// was found to read.
    Judged(&'static str, Vec<Rc<Policy>>, Vec<Oid>),
    /// Query within an export of this kind, or an export of this kind whose lineage is unknown.
    Hidden(&'static str),
    /// Any other query.
    Free,
}

/// Returns an error if a plan reads a relation whose policy forbids it for this kind of reading.
///
/// # Safety
/// The plan is valid.
unsafe fn check_relations(all: &Policies, reading: Reading, planned: *mut PlannedStmt) -> Result<(), Error> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let read = relations_read(planned).filter(|&relation| !rights::is_being_measured(relation));
        let found = all.of(read);
        if found.is_empty() {
            return Ok(()); // the case for most statements
        }
        let is_other = match &reading {
            Reading::Judged(_, judged, relations) => !judged.is_empty() && reads_others(planned, relations)?,
            _ => false,
        };
        let is_broken = |policy: &Policy| match &reading {
            Reading::Judged(_, judged, _) => {
                let is_same =
                    |other: &Rc<Policy>| (other.number, other.relation) == (policy.number, policy.relation);
                let judged = judged.iter().any(is_same);
                !judged || is_other || policy.only_by_copy && has_side_effects(planned)
            }
            Reading::Hidden(_) => true,
            Reading::Free => policy.only_by_copy,
        };
        let is_kept = |policy: &Policy| !policy.concerns_us() || is_foreign_key_of(policy);
        let Some(policy) = found.iter().find(|policy| is_broken(policy) && !is_kept(policy)) else {
            return Ok(());
        };
        if rights::is_exempt() {
            return Ok(());
        }
        let kind = match reading {
            Reading::Judged(kind, ..) | Reading::Hidden(kind) => kind,
            Reading::Free => "SELECT",
        };
        Err(refused(kind, policy, matches!(reading, Reading::Free))?)
    }
}

/// Logs that a statement was refused without being measured, and returns the error. `for_reading` tells
/// whether the policy forbids reading the relation at all, or the export cannot be judged.
fn refused(kind: &'static str, policy: &Policy, for_reading: bool) -> Result<Error, Error> {
    judge::record(kind, policy, None, Outcome::Refused, Lasting::Always)?;
    let (relation, policy) = (policy.relation_name(), policy.number);
    Ok(match for_reading {
        true => Error::OnlyByCopy { relation, policy },
        false => Error::CannotBeJudged { relation, policy },
    })
}

/// Returns whether a plan reads other relations than its lineage. Names are looked up twice: between the two
/// look-ups somebody may have renamed a schema, or created a relation that hides another one of the same
/// name.
///
/// # Safety
/// The plan is valid.
unsafe fn reads_others(planned: *mut PlannedStmt, relations: &[Oid]) -> Result<bool, Error> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let read = list::<pg_sys::RangeTblEntry>((*planned).rtable)
            .into_iter()
            .map(|entry| (*entry).relid)
            .filter(|&oid| oid != Oid::INVALID && !relations.contains(&oid));
        let others: Vec<Oid> = read.collect();
        if others.is_empty() {
            return Ok(false);
        }
        let family = policy::family_of(relations)?;
        Ok(others.iter().any(|other| !family.contains(other)))
    }
}

/// Returns whether the query is the check of a foreign key, which runs as the owner of the policy's relation
/// and shows its result to nobody. Triggers fired by a foreign key's action run in the same context, but as
/// the owner of their own table.
fn is_foreign_key_of(policy: &Policy) -> bool {
    // SAFETY: only reads variables of this backend, on its main thread.
    let (is_foreign_key, user) = unsafe { (pg_sys::InNoForceRLSOperation(), pg_sys::GetUserId()) };
    is_foreign_key && catalog::owner_of(policy.relation) == Some(user)
}

/// Returns all relations that a plan reads, regardless of whose privileges are checked.
///
/// # Safety
/// The plan is valid.
unsafe fn relations_read(planned: *mut PlannedStmt) -> impl Iterator<Item = Oid> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        #[cfg(any(feature = "pg14", feature = "pg15"))]
        let found = entries::<pg_sys::RangeTblEntry>((*planned).rtable);
        #[cfg(not(any(feature = "pg14", feature = "pg15")))]
        let found = entries::<pg_sys::RTEPermissionInfo>((*planned).permInfos);
        found
            .filter(|&entry| (*entry).requiredPerms & pg_sys::ACL_SELECT as pg_sys::AclMode != 0)
            .map(|entry| (*entry).relid)
    }
}

#[cfg(not(feature = "pg18"))]
unsafe extern "C-unwind" fn executor_run(
    execution: *mut QueryDesc,
    direction: pg_sys::ScanDirection::Type,
    count: u64,
    once: bool,
) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let run = Run {
            direction,
            count,
            once,
        };
        run_looked_at(execution, run);
    }
}

#[cfg(feature = "pg18")]
unsafe extern "C-unwind" fn executor_run(
    execution: *mut QueryDesc,
    direction: pg_sys::ScanDirection::Type,
    count: u64,
) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        run_looked_at(execution, Run { direction, count });
    }
}

/// Runs an execution, judging its rows first if it is an export's own.
///
/// # Safety
/// The execution is valid and has started.
unsafe fn run_looked_at(execution: *mut QueryDesc, run: Run) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        match may_be_export(execution) && has_to_be_judged(execution) {
            true => run_judged(execution, run),
            false => run.proceed(execution),
        }
    }
}

/// Returns whether the execution is an export's own. Raises an error if it is another one that must not read
/// its relations.
#[pg_guard]
unsafe extern "C-unwind" fn has_to_be_judged(execution: *mut QueryDesc) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let is_own = EXPORTS.with_borrow(|exports| {
            let export = exports.last();
            export.is_some_and(|export| export.execution == execution && export.lineage.is_some())
        });
        if !is_own {
            check_late(execution).unwrap_or_else(Error::raise);
        }
        is_own
    }
}

/// Runs an export's execution, judges its rows, and only then sends them to their destination.
#[pg_guard]
unsafe extern "C-unwind" fn run_judged(execution: *mut QueryDesc, run: Run) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let export = EXPORTS.with_borrow_mut(|exports| {
            let export = exports.last_mut()?;
            Some((export.kind, export.policies.clone(), export.lineage.take()?))
        });
        let Some((kind, policies, lineage)) = export else {
            return Error::Internal("the running export is not the one that was found").raise();
        };
        let destination = (*execution).dest;
        let spool = Spool::new();
        spool.collect(|collector| {
            (*execution).dest = collector;
            without_telling(&policies, || {
                pg_sys::ffi::pg_guard_ffi_boundary(|| run.proceed(execution))
            });
            (*execution).dest = destination;
        });
        // Known only now, because functions are noticed when they run a query.
        let calls_functions =
            EXPORTS.with_borrow(|exports| exports.last().is_some_and(|export| export.calls_functions));
        Source::of_query(lineage, calls_functions)
            .and_then(|source| judge_export(kind, &policies, &source, &spool, (*execution).tupDesc))
            .unwrap_or_else(Error::raise);
        spool.forward(destination, (*execution).operation as c_int, (*execution).tupDesc);
        spool.end();
    }
}

/// Runs a query. If a policy says `only_by_copy`, error messages of the query are withheld, because they may
/// contain data values.
fn without_telling(policies: &[Rc<Policy>], run: impl FnOnce()) {
    let Some(policy) = policies
        .iter()
        .find(|policy| policy.only_by_copy && policy.concerns_us())
    else {
        return run();
    };
    if rights::is_exempt() {
        return run();
    }
    let (relation, policy) = (policy.relation_name(), policy.number);
    PgTryBuilder::new(AssertUnwindSafe(run))
        .catch_others(move |cause| {
            let (CaughtError::PostgresError(report)
            | CaughtError::ErrorReport(report)
            | CaughtError::RustPanic { ereport: report, .. }) = &cause;
            let code = report.sql_error_code() as i32;
            if HARMLESS.iter().any(|&class| code & CLASS == class as i32) {
                cause.rethrow()
            }
            Error::QueryFailed {
                relation: relation.clone(),
                policy,
                sqlstate: sqlstate_of(code),
            }
            .raise()
        })
        .execute();
}

/// Bit mask of the class of an error code.
const CLASS: i32 = (1 << 12) - 1;

/// Classes of errors whose messages contain no data values, because they come from the environment.
const HARMLESS: [PgSqlErrorCode; 3] = [
    PgSqlErrorCode::ERRCODE_TRANSACTION_ROLLBACK,
    PgSqlErrorCode::ERRCODE_INSUFFICIENT_RESOURCES,
    PgSqlErrorCode::ERRCODE_OPERATOR_INTERVENTION,
];

/// Returns the five characters of an error code.
fn sqlstate_of(code: i32) -> String {
    // SAFETY: returns a NUL-terminated static buffer, which is copied at once.
    unsafe { CStr::from_ptr(pg_sys::unpack_sql_state(code)) }
        .to_string_lossy()
        .into_owned()
}

/// Checks an execution that could not be checked when it started. CREATE TABLE AS EXECUTE sets the
/// destination of a prepared statement only when it runs, and a cursor that was opened before an export may
/// be read within it.
///
/// # Safety
/// The execution is valid and has started.
unsafe fn check_late(execution: *mut QueryDesc) -> Result<(), Error> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        if rights::is_guard_at_work() || is_part_of_another(execution) {
            return Ok(());
        }
        let kind = EXPORTS.with_borrow(|exports| match exports.last() {
            Some(export) if export.execution == execution => None,
            Some(export) => Some(export.kind),
            None => is_bound_out(execution).then_some("CREATE TABLE AS"),
        });
        match kind {
            None => Ok(()),
            Some(kind) => check_relations(
                policy::all()?.as_ref(),
                Reading::Hidden(kind),
                (*execution).plannedstmt,
            ),
        }
    }
}

/// Measures every policy, and returns an error if one is broken. Logs the broken policies or, if none is
/// broken, all of them. So an entry in the log says `allowed` only if the rows have left.
///
/// # Safety
/// `shape` is the descriptor of the collected rows.
unsafe fn judge_export(
    kind: &'static str,
    policies: &[Rc<Policy>],
    source: &Source,
    spool: &Spool,
    shape: pg_sys::TupleDesc,
) -> Result<(), Error> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let is_allowed = |(policy, measured): &(&Rc<Policy>, Measured)| measured.is_allowed(policy.limit);
        let mut judged = Vec::with_capacity(policies.len());
        for policy in functions_last(policies) {
            if policy.measure.is_function() && !judged.iter().all(is_allowed) {
                break; // a function must not see rows that are refused anyway
            }
            let measured = spool.show(shape, || judge::measure(policy, source));
            judged.push((policy, judge::or_refused(kind, policy, measured)?));
        }
        let (kept, broken): (Vec<_>, Vec<_>) = judged.into_iter().partition(is_allowed);
        let (outcome, entries) = match broken.is_empty() {
            true => (Outcome::Allowed, &kept),
            false => (Outcome::Refused, &broken),
        };
        for (policy, measured) in entries {
            judge::record(kind, policy, Some(*measured), outcome, Lasting::Always)?;
        }
        match broken.first() {
            Some((policy, measured)) => Err(judge::refusal(policy, *measured, Way::Out)),
            None => Ok(()),
        }
    }
}

/// Returns the policies, those with measure functions that users wrote last.
fn functions_last(policies: &[Rc<Policy>]) -> Vec<&Rc<Policy>> {
    let mut ordered: Vec<&Rc<Policy>> = policies.iter().collect();
    ordered.sort_by_key(|policy| policy.measure.is_function());
    ordered
}

/// Result of one policy in a dry run.
pub struct Trial {
    pub policy: Rc<Policy>,
    /// Whether the caller would have to comply with the policy.
    pub applies: bool,
    /// Result of the measure. `None` for a measure function that was not called because another policy is
    /// broken.
    pub measured: Option<Measured>,
}

/// Runs a query and measures its result for every policy of the relations that it reads. No rows leave, and
/// only refusals are logged.
pub fn try_out(query: &str) -> Result<Vec<Trial>, Error> {
    let text = CString::new(query).map_err(|_| not_a_query("must not contain a NUL character"))?;
    // SAFETY: the text is NUL-terminated and outlives the block, and so do the nodes that are parsed from it.
    let (lineage, policies) = unsafe {
        let statement = match list::<pg_sys::RawStmt>(pg_sys::pg_parse_query(text.as_ptr()))[..] {
            [statement] => (*statement).stmt,
            _ => return Err(not_a_query("must be one statement")),
        };
        if (*statement).type_ != NodeTag::T_SelectStmt {
            return Err(not_a_query("must be a SELECT"));
        }
        let query = lineage::analyse(statement, text.as_ptr());
        if (*query).commandType != pg_sys::CmdType::CMD_SELECT {
            return Err(not_a_query("must be a SELECT"));
        }
        let lineage = lineage::trace(query);
        let policies = policy::all()?.of(lineage.relations.iter().copied());
        if !rights::is_exempt() {
            let ours: Vec<Rc<Policy>> = policies
                .iter()
                .filter(|policy| policy.concerns_us())
                .cloned()
                .collect();
            check_volatile(CHECK_EXPORT, &ours, query)?;
        }
        (lineage, policies)
    };
    let spool = Spool::new();
    let export = Export {
        kind: CHECK_EXPORT,
        relations: lineage.relations.clone(),
        policies: policies.clone(),
        lineage: None,
        execution: std::ptr::null_mut(),
        calls_functions: false,
    };
    let run = || {
        Spi::connect(|_| {
            spool.collect(|collector| {
                let options = pg_sys::SPIExecuteOptions {
                    read_only: true,
                    dest: collector,
                    ..Default::default()
                };
                // SAFETY: SPI is connected, and the text, the options and the collector outlive the call.
                unsafe { pg_sys::SPI_execute_extended(text.as_ptr(), &options) };
            })
        })
    };
    let mut shape = None;
    let calls_functions = while_exporting(export, || {
        without_telling(&policies, || shape = run());
        EXPORTS.with_borrow(|exports| exports.last().is_some_and(|export| export.calls_functions))
    });
    let shape = shape.ok_or(Error::Internal("the executor reported no row type"))?;
    let source = Source::of_query(lineage, calls_functions)?;
    let is_exempt = rights::is_exempt();
    let mut trials: Vec<Trial> = Vec::with_capacity(policies.len());
    for policy in functions_last(&policies) {
        let is_allowed = |trial: &Trial| {
            let measured = trial.measured;
            measured.is_none_or(|measured| measured.is_allowed(trial.policy.limit))
        };
        let is_called = !policy.measure.is_function() || trials.iter().all(is_allowed);
        // SAFETY: `shape` is the descriptor that the executor used for the collected rows.
        let measure = || unsafe { spool.show(shape, || judge::measure(policy, &source)) };
        trials.push(Trial {
            policy: policy.clone(),
            applies: !is_exempt && policy.concerns_us(),
            measured: if is_called { Some(measure()?) } else { None },
        });
    }
    spool.end();
    trials.sort_by_key(|trial| trial.policy.number);
    Ok(trials)
}

/// Name of the dry run in the log.
const CHECK_EXPORT: &str = "check_export";

fn not_a_query(problem: &str) -> Error {
    Error::argument("query", problem, "Give the text of one SELECT.")
}
