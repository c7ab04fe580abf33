//! The guard's eyes in Postgres: COPY … TO, and CREATE TABLE AS by which rows leave a protected relation for one
//! that is not.
//!
//! What leaves is judged where it can be: the statement itself reads the relation, so that its rows and where
//! they come from are known. What cannot be judged is refused: reading a protected relation in a function that
//! runs within such a statement; and all other reading, where a policy says so.

use crate::error::{Problem, Way};
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

/// Hooks that others have set before us, and which come after us.
struct Before {
    utility: pg_sys::ProcessUtility_hook_type,
    start: pg_sys::ExecutorStart_hook_type,
    run: pg_sys::ExecutorRun_hook_type,
}

static BEFORE: OnceLock<Before> = OnceLock::new();

/// What Postgres does without hooks, as it is, without pgrx in between, which would catch every ERROR of every
/// statement and raise another one that lacks its context, its constraint, its table.
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

/// The arguments of ProcessUtility besides the statement.
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
    /// Let the statement run. An ERROR jumps over this frame and the caller's: there must be nothing in them
    /// that has to be dropped.
    ///
    /// # Safety
    /// A valid statement.
    unsafe fn proceed(self, planned: *mut PlannedStmt) {
        // SAFETY: the pointers are those that the executor passes to its hooks.
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

/// The arguments of ExecutorRun besides the execution.
#[repr(C)]
#[derive(Clone, Copy)]
struct Run {
    direction: pg_sys::ScanDirection::Type,
    count: u64,
    #[cfg(not(feature = "pg18"))]
    once: bool,
}

impl Run {
    /// Let the execution run; see [`Utility::proceed`].
    ///
    /// # Safety
    /// A valid execution that has started.
    unsafe fn proceed(self, execution: *mut QueryDesc) {
        // SAFETY: the pointers are those that the executor passes to its hooks.
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

/// Called once, from `_PG_init`.
pub fn install() {
    // SAFETY: hooks are set on the main thread while the library is loaded.
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

/// A statement by which rows would leave, while it runs.
struct Export {
    kind: &'static str,
    /// Those that it has to keep to.
    policies: Vec<Rc<Policy>>,
    /// What its query reads, by name as it was when it was judged what that is.
    relations: Vec<Oid>,
    /// Of its query; taken when that is judged, and not there where there is nothing to judge.
    lineage: Option<Lineage>,
    /// The execution of its query, once that has begun.
    execution: *mut QueryDesc,
    /// Whether that calls functions that did not come with Postgres.
    calls_functions: bool,
}

thread_local! {
    /// What `is_export` has found, for `run_export`.
    static NEXT: RefCell<Option<(Export, *mut PlannedStmt)>> = const { RefCell::new(None) };
    /// Exports that are under way, the innermost last.
    static EXPORTS: RefCell<Vec<Export>> = const { RefCell::new(Vec::new()) };
}

/// Takes the last of [`EXPORTS`] away again, however the statement ends.
struct Ended;

impl Drop for Ended {
    fn drop(&mut self) {
        EXPORTS.with_borrow_mut(Vec::pop);
    }
}

/// Run `statement` as an export.
fn while_exporting<R>(export: Export, statement: impl FnOnce() -> R) -> R {
    EXPORTS.with_borrow_mut(|exports| exports.push(export));
    let _ended = Ended;
    statement()
}

#[allow(clippy::too_many_arguments)] // Postgres has them
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
    // SAFETY: the pointers are those that the executor passes to its hooks.
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

/// Whether a statement has to be run as an export, which then is [`NEXT`].
#[pg_guard]
unsafe extern "C-unwind" fn is_export(planned: *mut PlannedStmt, source: *const c_char) -> bool {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        check_command((*planned).utilityStmt).unwrap_or_else(Problem::raise);
        let export = export_of(planned, source).unwrap_or_else(Problem::raise);
        let is_export = export.is_some();
        NEXT.replace(export);
        is_export
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn run_export(utility: Utility) {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        if let Some((export, planned)) = NEXT.take() {
            while_exporting(export, || {
                pg_sys::ffi::pg_guard_ffi_boundary(|| utility.proceed(planned))
            });
        }
    }
}

/// A measure function measures. Commands could change how the rest of the transaction runs, or run triggers of others that wait
/// for its end.
///
/// # Safety
/// A valid utility statement.
unsafe fn check_command(statement: *mut pg_sys::Node) -> Result<(), Problem> {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        let is_setting = (*statement).type_ == NodeTag::T_VariableSetStmt; // undone afterwards
        if !rights::is_measuring() || rights::is_guard_at_work() || is_setting {
            return Ok(());
        }
        let name = pg_sys::GetCommandTagName(pg_sys::CreateCommandTag(statement));
        Err(Problem::CommandInMeasure {
            command: CStr::from_ptr(name).to_string_lossy().into_owned(),
        })
    }
}

/// What has to be judged of a statement, and the statement in a form in which that is possible; `None` where
/// there is nothing to judge.
///
/// # Safety
/// A valid utility statement and the text it was parsed from.
unsafe fn export_of(
    planned: *mut PlannedStmt,
    source: *const c_char,
) -> Result<Option<(Export, *mut PlannedStmt)>, Problem> {
    // SAFETY: the pointers are those that the executor passes to its hooks.
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
            return Ok(None); // a table is copied, and nothing else runs
        }
        if let (Some(policy), true) = (policies.first(), judgeable != planned) {
            check_bound_code(policy, &lineage.relations)?;
        }
        check_volatile(kind, &policies, query)?;
        // Where no policy has to be kept, functions that the query calls may still read what they should not.
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

/// Postgres plans nothing for COPY table TO, so that it runs nothing that the table's owner has bound to the table. We make it a
/// query, for which the planner may look at expressions of indexes, statistics and checks.
fn check_bound_code(policy: &Policy, relations: &[Oid]) -> Result<(), Problem> {
    const QUERY: &str = "
        SELECT b.relation
          FROM (SELECT i.indrelid, 'pg_class'::regclass, i.indexrelid FROM pg_index i WHERE i.indrelid = ANY ($1)
                UNION ALL SELECT s.stxrelid, 'pg_statistic_ext'::regclass, s.oid FROM pg_statistic_ext s WHERE s.stxrelid = ANY ($1)
                UNION ALL SELECT c.conrelid, 'pg_constraint'::regclass, c.oid FROM pg_constraint c WHERE c.conrelid = ANY ($1))
               AS b(relation, catalogue, object)
          JOIN pg_depend d ON d.classid = b.catalogue::oid AND d.objid = b.object
         WHERE d.refclassid IN ('pg_proc'::regclass::oid, 'pg_operator'::regclass::oid) AND d.refobjid >= 16384";
    // SAFETY: reads what this backend knows of itself.
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
            "expressions of its indexes, statistics or checks call functions of others, which would run with your rights",
        )),
    }
}

/// Volatile functions may keep what they are given: in settings, locks, sequences, large objects.
///
/// # Safety
/// A valid query.
unsafe fn check_volatile(
    kind: &'static str,
    policies: &[Rc<Policy>],
    query: *mut pg_sys::Query,
) -> Result<(), Problem> {
    // SAFETY: the pointers are those that the executor passes to its hooks.
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

/// The query of COPY (query) TO; COPY table TO is made one first, since Postgres would read the table past the
/// executor. `None` where Postgres itself has an objection, which it should raise.
///
/// # Safety
/// A valid COPY … TO and the text it was parsed from.
unsafe fn query_of_copy(
    planned: *mut PlannedStmt,
    source: *const c_char,
) -> Option<(*mut pg_sys::Query, *mut PlannedStmt)> {
    // SAFETY: the pointers are those that the executor passes to its hooks.
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

/// What COPY table TO would send, as a SELECT.
///
/// # Safety
/// A valid COPY table … TO.
unsafe fn select_of_copy(copy: &pg_sys::CopyStmt) -> Option<String> {
    // SAFETY: the pointers are those that the executor passes to its hooks.
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
        // A materialized view has no heirs, and takes no ONLY in every version.
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

/// # Safety
/// A valid node that holds a string.
unsafe fn string_of(node: *mut pg_sys::Node) -> *const c_char {
    // SAFETY: the pointers are those that the executor passes to its hooks.
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
    // SAFETY: catalogue look-ups.
    unsafe { pg_sys::get_attgenerated(relation, pg_sys::get_attnum(relation, column.as_ptr())) != 0 }
}

/// The query of CREATE TABLE AS and SELECT INTO; `None` where no rows leave, or where it cannot be told which:
/// then the executor meets them.
///
/// # Safety
/// A valid CREATE TABLE AS.
unsafe fn query_of_create(create: *mut pg_sys::CreateTableAsStmt) -> Option<*mut pg_sys::Query> {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        let query = (*create).query.cast::<pg_sys::Query>();
        // What leaves a materialized view has left what it is made of, and is judged then.
        let is_table = (*create).objtype == pg_sys::ObjectType::OBJECT_TABLE;
        let has_rows = !(*(*create).into).skipData && (*query).commandType == pg_sys::CmdType::CMD_SELECT;
        (is_table && has_rows).then(|| pg_sys::copyObjectImpl(query.cast()).cast())
    }
}

unsafe extern "C-unwind" fn executor_start(execution: *mut QueryDesc, flags: c_int) {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        if !is_bystander(execution) {
            look_at_start(execution, flags);
        }
        let hook = BEFORE.get().and_then(|before| before.start);
        hook.unwrap_or(standard::standard_ExecutorStart)(execution, flags);
    }
}

/// Whether an execution neither belongs to an export nor reads what a policy concerns. Every statement of everybody asks this,
/// so it is answered without pgrx in between. An ERROR jumps over this frame: there must be nothing in it that has to be
/// dropped.
///
/// # Safety
/// A valid execution that is about to start.
unsafe fn is_bystander(execution: *mut QueryDesc) -> bool {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        if may_be_export(execution) {
            return false;
        }
        standard::AcceptInvalidationMessages(); // what others have committed counts
        policy::are_unconcerned(relations_read((*execution).plannedstmt))
    }
}

/// Whether an export is under way, or the rows of an execution go out.
///
/// # Safety
/// A valid execution.
unsafe fn may_be_export(execution: *mut QueryDesc) -> bool {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe { EXPORTS.with_borrow(|exports| !exports.is_empty()) || is_bound_out(execution) }
}

#[pg_guard]
unsafe extern "C-unwind" fn look_at_start(execution: *mut QueryDesc, flags: c_int) {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        let only_explained = flags & pg_sys::EXEC_FLAG_EXPLAIN_ONLY as c_int != 0;
        if !only_explained && !rights::is_guard_at_work() && !is_part_of_another(execution) {
            check_reading(execution).unwrap_or_else(Problem::raise);
        }
    }
}

/// Whether an execution is a parallel worker's share of one that was looked at where it began. What functions read in a
/// worker is not.
///
/// # Safety
/// A valid execution.
unsafe fn is_part_of_another(execution: *mut QueryDesc) -> bool {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        let destination = (*execution).dest;
        pg_sys::ParallelWorkerNumber >= 0
            && !destination.is_null()
            && (*destination).mydest == pg_sys::CommandDest::DestTupleQueue
    }
}

/// Whether the query may read what it reads.
///
/// # Safety
/// A valid execution that is about to start.
unsafe fn check_reading(execution: *mut QueryDesc) -> Result<(), Problem> {
    // SAFETY: the pointers are those that the executor passes to its hooks.
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
        // The first such execution within an export is the export's own.
        let reading = EXPORTS.with_borrow_mut(|exports| match exports.last_mut() {
            Some(export) if leaves && export.execution.is_null() => {
                export.execution = execution;
                export.calls_functions |= calls_own_functions((*execution).plannedstmt);
                Reading::Judged(export.kind, export.policies.clone(), export.relations.clone())
            }
            Some(export) => {
                // Something that the export's query calls reads, perhaps while that is planned.
                export.calls_functions = true;
                Reading::Hidden(export.kind)
            }
            None if leaves => Reading::Hidden("CREATE TABLE AS"),
            None => Reading::Free,
        });
        check_relations(&all, reading, (*execution).plannedstmt)
    }
}

/// A worker does not know that it works for an export, so that a function that it calls could read what it must not. Functions
/// that come with Postgres do not.
///
/// # Safety
/// A valid execution that is about to start in parallel mode.
unsafe fn keep_own_functions_here(execution: *mut QueryDesc) {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        let planned = (*execution).plannedstmt;
        if calls_own_functions(planned) {
            // The plan may be one that is kept, for others too. Without parallel mode, its leader does all the work.
            let here = pg_sys::MemoryContextAlloc(pg_sys::TopTransactionContext, size_of::<PlannedStmt>());
            let here = here.cast::<PlannedStmt>();
            here.copy_from_nonoverlapping(planned, 1);
            (*here).parallelModeNeeded = false;
            (*execution).plannedstmt = here;
        }
    }
}

/// Whether a plan depends on functions that did not come with Postgres.
///
/// # Safety
/// A valid plan.
unsafe fn calls_own_functions(planned: *mut PlannedStmt) -> bool {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        list::<pg_sys::PlanInvalItem>((*planned).invalItems)
            .into_iter()
            .any(|item| (*item).cacheId == pg_sys::SysCacheIdentifier::PROCOID as i32)
    }
}

/// Whether a statement that a policy lets read may do more than return what is judged: write it elsewhere, or
/// tell it by notices, settings, locks.
///
/// # Safety
/// A valid plan.
unsafe fn has_side_effects(planned: *mut PlannedStmt) -> bool {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        (*planned).commandType != pg_sys::CmdType::CMD_SELECT
            || (*planned).hasModifyingCTE
            || calls_own_functions(planned)
    }
}

/// Whether an execution's rows go to a COPY or into a new table.
///
/// # Safety
/// A valid execution.
unsafe fn is_bound_out(execution: *mut QueryDesc) -> bool {
    // SAFETY: the pointers are those that the executor passes to its hooks.
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

/// What Postgres knows of a table that a query fills, up to what is needed here. It keeps that to itself, but it is
/// the same in every major.
#[repr(C)]
struct IntoRelation {
    callbacks: pg_sys::DestReceiver,
    into: *mut pg_sys::IntoClause,
}

/// Whether a query fills a materialized view as that is made; see [`query_of_create`]. From Postgres 17 on, it is
/// filled as REFRESH does, which is no such destination.
///
/// # Safety
/// A valid destination of the kind DestIntoRel.
unsafe fn is_materialized_view(destination: *mut pg_sys::DestReceiver) -> bool {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        let into = (*destination.cast::<IntoRelation>()).into;
        !into.is_null() && !(*into).viewQuery.is_null()
    }
}

/// How a query reads, as far as the guard is concerned.
enum Reading {
    /// As an export of that kind, which keeps to these policies, and was found to read these relations.
    Judged(&'static str, Vec<Rc<Policy>>, Vec<Oid>),
    /// Within an export of that kind, or as one that the guard cannot see into.
    Hidden(&'static str),
    /// For whatever else.
    Free,
}

/// # Safety
/// A valid plan.
unsafe fn check_relations(
    all: &Policies,
    reading: Reading,
    planned: *mut PlannedStmt,
) -> Result<(), Problem> {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        let read = relations_read(planned).filter(|&relation| !rights::is_being_measured(relation));
        let found = all.of(read);
        if found.is_empty() {
            return Ok(()); // as for most statements
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

/// Log that a statement was refused without a measure, and say why: for reading at all, or where it cannot be judged.
fn refused(kind: &'static str, policy: &Policy, for_reading: bool) -> Result<Problem, Problem> {
    judge::record(kind, policy, None, Outcome::Refused, Lasting::Always)?;
    let (relation, policy) = (policy.relation_name(), policy.number);
    Ok(match for_reading {
        true => Problem::OnlyByCopy { relation, policy },
        false => Problem::CannotBeJudged { relation, policy },
    })
}

/// Whether a plan reads other relations than those that its columns were followed to. Names are looked up twice:
/// meanwhile somebody may have renamed a schema, or made a relation that comes before another of that name.
///
/// # Safety
/// A valid plan.
unsafe fn reads_others(planned: *mut PlannedStmt, relations: &[Oid]) -> Result<bool, Problem> {
    // SAFETY: the pointers are those that the executor passes to its hooks.
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

/// Whether a foreign key looks for its own, which it does as the owner, and shows nobody what it finds. Triggers
/// that a foreign key sets off run alike, but as the owner of their own table.
fn is_foreign_key_of(policy: &Policy) -> bool {
    // SAFETY: reads what this backend knows of itself.
    let (is_foreign_key, user) = unsafe { (pg_sys::InNoForceRLSOperation(), pg_sys::GetUserId()) };
    is_foreign_key && catalog::owner_of(policy.relation) == Some(user)
}

/// The relations that a plan reads, on whose behalf soever.
///
/// # Safety
/// A valid plan.
unsafe fn relations_read(planned: *mut PlannedStmt) -> impl Iterator<Item = Oid> {
    // SAFETY: the pointers are those that the executor passes to its hooks.
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
    // SAFETY: the pointers are those that the executor passes to its hooks.
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
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        run_looked_at(execution, Run { direction, count });
    }
}

/// # Safety
/// A valid execution that has started.
unsafe fn run_looked_at(execution: *mut QueryDesc, run: Run) {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        match may_be_export(execution) && has_to_be_judged(execution) {
            true => run_judged(execution, run),
            false => run.proceed(execution),
        }
    }
}

/// Whether it is an export's own execution; any other must not be a hidden one.
#[pg_guard]
unsafe extern "C-unwind" fn has_to_be_judged(execution: *mut QueryDesc) -> bool {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        let is_own = EXPORTS.with_borrow(|exports| {
            let export = exports.last();
            export.is_some_and(|export| export.execution == execution && export.lineage.is_some())
        });
        if !is_own {
            check_late(execution).unwrap_or_else(Problem::raise);
        }
        is_own
    }
}

/// Run an export's execution, and let its rows pass only when they have been judged.
#[pg_guard]
unsafe extern "C-unwind" fn run_judged(execution: *mut QueryDesc, run: Run) {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        let export = EXPORTS.with_borrow_mut(|exports| {
            let export = exports.last_mut()?;
            Some((export.kind, export.policies.clone(), export.lineage.take()?))
        });
        let Some((kind, policies, lineage)) = export else {
            return Problem::Internal("an export is not the one that was announced").raise();
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
        // By now it is known what the query has called.
        let calls_functions =
            EXPORTS.with_borrow(|exports| exports.last().is_some_and(|export| export.calls_functions));
        Source::of_query(lineage, calls_functions)
            .and_then(|source| judge_export(kind, &policies, &source, &spool, (*execution).tupDesc))
            .unwrap_or_else(Problem::raise);
        spool.forward(destination, (*execution).operation as c_int, (*execution).tupDesc);
        spool.end();
    }
}

/// Run a query whose error messages may hold values: where only what is judged may be seen, they are withheld.
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
            Problem::QueryFailed {
                relation: relation.clone(),
                policy,
                sqlstate: sqlstate_of(code),
            }
            .raise()
        })
        .execute();
}

/// The bits of an error code that are its class.
const CLASS: i32 = (1 << 12) - 1;

/// Classes of errors that come from the circumstances, not from values.
const HARMLESS: [PgSqlErrorCode; 3] = [
    PgSqlErrorCode::ERRCODE_TRANSACTION_ROLLBACK,
    PgSqlErrorCode::ERRCODE_INSUFFICIENT_RESOURCES,
    PgSqlErrorCode::ERRCODE_OPERATOR_INTERVENTION,
];

/// The five characters that an error code stands for.
fn sqlstate_of(code: i32) -> String {
    // SAFETY: returns a static buffer, which is copied.
    unsafe { CStr::from_ptr(pg_sys::unpack_sql_state(code)) }
        .to_string_lossy()
        .into_owned()
}

/// A prepared statement learns only now that its rows go into a new table; a cursor that was opened before may be
/// read within an export.
///
/// # Safety
/// A valid execution that has started.
unsafe fn check_late(execution: *mut QueryDesc) -> Result<(), Problem> {
    // SAFETY: the pointers are those that the executor passes to its hooks.
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

/// Every policy is measured; one that is broken is an error. The log has those that are broken or, where there are
/// none, all: whoever reads there that something was allowed can rely on it that it has left.
///
/// # Safety
/// `shape` is that of the collected rows.
unsafe fn judge_export(
    kind: &'static str,
    policies: &[Rc<Policy>],
    source: &Source,
    spool: &Spool,
    shape: pg_sys::TupleDesc,
) -> Result<(), Problem> {
    // SAFETY: the pointers are those that the executor passes to its hooks.
    unsafe {
        let is_allowed = |(policy, measured): &(&Rc<Policy>, Measured)| measured.is_allowed(policy.limit);
        let mut judged = Vec::with_capacity(policies.len());
        for policy in functions_last(policies) {
            if policy.measure.is_function() && !judged.iter().all(is_allowed) {
                break; // a function sees nothing of what is refused anyway
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

/// Policies in an order in which functions that others have written come after all measures of our own.
fn functions_last(policies: &[Rc<Policy>]) -> Vec<&Rc<Policy>> {
    let mut ordered: Vec<&Rc<Policy>> = policies.iter().collect();
    ordered.sort_by_key(|policy| policy.measure.is_function());
    ordered
}

/// What a policy says of what a query returns.
pub struct Trial {
    pub policy: Rc<Policy>,
    /// Whether the caller would have to keep to it.
    pub applies: bool,
    /// `None` if it is somebody's own function, which is not called because another policy is broken.
    pub measured: Option<Measured>,
}

/// What every policy of the relations that a query reads says of what it returns. Nothing leaves, nothing is logged.
pub fn try_out(query: &str) -> Result<Vec<Trial>, Problem> {
    let text = CString::new(query).map_err(|_| not_a_query("contains a NUL character"))?;
    // SAFETY: the text outlives the call, and so does all that is parsed from it.
    let (lineage, policies) = unsafe {
        let statement = match list::<pg_sys::RawStmt>(pg_sys::pg_parse_query(text.as_ptr()))[..] {
            [statement] => (*statement).stmt,
            _ => return Err(not_a_query("is not one statement")),
        };
        if (*statement).type_ != NodeTag::T_SelectStmt {
            return Err(not_a_query("is not a SELECT"));
        }
        let query = lineage::analyse(statement, text.as_ptr());
        if (*query).commandType != pg_sys::CmdType::CMD_SELECT {
            return Err(not_a_query("is not a SELECT"));
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
                // SAFETY: SPI is connected; the collector outlives the call.
                unsafe { pg_sys::SPI_execute_extended(text.as_ptr(), &options) };
            })
        })
    };
    let mut shape = None;
    let calls_functions = while_exporting(export, || {
        without_telling(&policies, || shape = run());
        EXPORTS.with_borrow(|exports| exports.last().is_some_and(|export| export.calls_functions))
    });
    let shape = shape.ok_or(Problem::Internal("the executor showed no row type"))?;
    let source = Source::of_query(lineage, calls_functions)?;
    let is_exempt = rights::is_exempt();
    let mut trials: Vec<Trial> = Vec::with_capacity(policies.len());
    for policy in functions_last(&policies) {
        let is_allowed = |trial: &Trial| {
            let measured = trial.measured;
            measured.is_none_or(|measured| measured.is_allowed(trial.policy.limit))
        };
        let is_called = !policy.measure.is_function() || trials.iter().all(is_allowed);
        // SAFETY: the shape is that of the collected rows.
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

/// What the dry run is called in the log, where it is refused.
const CHECK_EXPORT: &str = "check_export";

fn not_a_query(problem: &str) -> Problem {
    Problem::argument("query", problem, "Give the text of one SELECT.")
}
