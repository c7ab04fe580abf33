//! Hooks into Postgres that guard COPY … TO and CREATE TABLE AS, which copies rows of a protected relation
//! into an unprotected one.
//!
//! The hooks are called in this order:
//! 1. `process_utility` recognises an export. COPY table TO is turned into COPY (SELECT …) TO, because Postgres
//!    would read the table without planner and executor.
//! 2. `planner` gets the one tree of the export's query, judges its shape, and lets just this tree be planned.
//! 3. `executor_start` recognises the plan by its address. Any other query that starts during an export must
//!    not read a protected relation.
//! 4. `executor_run` collects the rows of the export's own query, judges them, and sends them to their
//!    destination if no policy is broken.
//!
//! Two more hooks look at relations: `relation_info`, whenever the planner looks one up, and
//! `check_permissions`, whenever the rights on one are checked.

use crate::error::Error;
use crate::guard::copy::export::{Judged, Statement, Verdict};
use crate::guard::copy::reading::{self, Reading};
use crate::guard::copy::{barrier, silence};
use crate::guard::log::{Lasting, Outcome};
use crate::guard::policy::Policy;
use crate::guard::tree::list;
use crate::guard::{judge, policy, rights};
use crate::guc;
use crate::input::relation::Relation;
use crate::pg::catalog;
use crate::pg::query::{self, Parameters};
use crate::pg::raised;
use pgrx::pg_sys::{self, NodeTag, Oid, PlannedStmt, Query, QueryDesc, TupleDesc};
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use rustc_hash::FxHashSet;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_int};
use std::rc::Rc;
use std::sync::OnceLock;

/// Hooks that were set before ours, and that ours call.
struct Before {
    utility: pg_sys::ProcessUtility_hook_type,
    planner: pg_sys::planner_hook_type,
    relation: pg_sys::get_relation_info_hook_type,
    start: pg_sys::ExecutorStart_hook_type,
    run: pg_sys::ExecutorRun_hook_type,
    permissions: pg_sys::ExecutorCheckPerms_hook_type,
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
        pub fn standard_planner(
            query: *mut Query,
            source: *const c_char,
            options: c_int,
            parameters: pg_sys::ParamListInfo,
        ) -> *mut PlannedStmt;
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

/// Arguments of the planner besides the query.
#[repr(C)]
#[derive(Clone, Copy)]
struct Planning {
    source: *const c_char,
    options: c_int,
    parameters: pg_sys::ParamListInfo,
}

impl Planning {
    /// Plans the query; see [`Utility::proceed`] about errors.
    ///
    /// # Safety
    /// The query is valid.
    unsafe fn proceed(self, query: *mut Query) -> *mut PlannedStmt {
        // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
        unsafe {
            let hook = BEFORE.get().and_then(|before| before.planner);
            hook.unwrap_or(standard::standard_planner)(query, self.source, self.options, self.parameters)
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
            planner: pg_sys::planner_hook,
            relation: pg_sys::get_relation_info_hook,
            start: pg_sys::ExecutorStart_hook,
            run: pg_sys::ExecutorRun_hook,
            permissions: pg_sys::ExecutorCheckPerms_hook,
        });
        pg_sys::ProcessUtility_hook = Some(process_utility);
        pg_sys::planner_hook = Some(planner);
        pg_sys::get_relation_info_hook = Some(relation_info);
        pg_sys::ExecutorStart_hook = Some(executor_start);
        pg_sys::ExecutorRun_hook = Some(executor_run);
        pg_sys::ExecutorCheckPerms_hook = Some(check_permissions);
    }
    barrier::install();
    silence::install();
    policy::forget_when_changed();
}

/// How far an export has come.
enum Stage {
    /// Its query, which is part of this text, has not been planned yet.
    Armed(*const c_char),
    /// It reads nothing that it has to be judged for.
    Free,
    /// Its shape was judged, and this plan was made.
    Planned(Judged, *mut PlannedStmt),
    /// This execution of it has started. Its rows have this descriptor, hidden columns included.
    Started(Judged, *mut QueryDesc, TupleDesc),
    /// Its rows were judged.
    Done,
}

/// Running statement that exports rows.
struct Export {
    statement: Rc<Statement>,
    stage: Stage,
    /// Verdicts of a dry run.
    verdicts: Vec<Verdict>,
    known_to_workers: Option<guc::Exporting>,
}

thread_local! {
    /// Export that `is_export` has found and `run_export` will run.
    static NEXT: RefCell<Option<(Statement, *mut PlannedStmt)>> = const { RefCell::new(None) };
    /// Running exports, innermost last.
    static EXPORTS: RefCell<Vec<Export>> = const { RefCell::new(Vec::new()) };
    /// Whether the planner works on a tree whose shape was judged.
    static PLANNING_JUDGED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `statement`, whose query is part of the text `source`, as an export. Returns the verdicts of a dry run.
pub fn while_exporting(statement: Statement, source: *const c_char, run: impl FnOnce()) -> Vec<Verdict> {
    /// Removes the last entry of [`EXPORTS`] when dropped, including while an error unwinds.
    struct Ended;
    impl Drop for Ended {
        fn drop(&mut self) {
            end();
        }
    }
    begin(statement, source);
    let _ended = Ended;
    run();
    EXPORTS
        .with_borrow_mut(|exports| {
            exports
                .last_mut()
                .map(|export| std::mem::take(&mut export.verdicts))
        })
        .unwrap_or_default()
}

/// Makes a statement, whose query is part of the text `source`, the innermost export.
fn begin(statement: Statement, source: *const c_char) {
    let export = Export {
        statement: Rc::new(statement),
        stage: Stage::Armed(source),
        verdicts: Vec::new(),
        known_to_workers: Some(guc::Exporting::new()),
    };
    EXPORTS.with_borrow_mut(|exports| exports.push(export));
}

/// Ends the innermost export.
fn end() {
    let ended = EXPORTS.with_borrow_mut(Vec::pop);
    drop(ended); // gives its turn back, which must not happen while the exports are borrowed
    silence::release();
}

/// Returns whether the innermost export is a dry run that has its verdicts.
pub fn is_concluded() -> bool {
    EXPORTS.with_borrow(|exports| exports.last().is_some_and(|export| !export.verdicts.is_empty()))
}

/// Sets how far the innermost export has come, and returns the stage before.
fn advance(to: Stage) -> Option<Stage> {
    EXPORTS.with_borrow_mut(|exports| Some(std::mem::replace(&mut exports.last_mut()?.stage, to)))
}

/// Returns the answer of `ask` about the innermost export, or `false` if there is none.
fn is_at(ask: impl FnOnce(&Stage) -> bool) -> bool {
    EXPORTS.with_borrow(|exports| exports.last().is_some_and(|export| ask(&export.stage)))
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

/// Runs the export in [`NEXT`]. Most exports read nothing that is protected, so their errors reach the client
/// unchanged; see [`Utility::proceed`].
///
/// # Safety
/// There is an export in [`NEXT`], and these are its arguments.
unsafe fn run_export(utility: Utility) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged. This frame contains
    // no value that needs to be dropped.
    unsafe {
        let planned = begin_export(utility.source);
        let is_raised = raised::by(|| utility.proceed(planned));
        end_export(is_raised);
        if is_raised {
            raised::again();
        }
    }
}

/// Begins the export in [`NEXT`] and returns the statement to run.
#[pg_guard]
unsafe extern "C-unwind" fn begin_export(source: *const c_char) -> *mut PlannedStmt {
    let Some((statement, planned)) = NEXT.take() else {
        return Error::Internal("there is no export").raise();
    };
    begin(statement, source);
    planned
}

#[pg_guard]
unsafe extern "C-unwind" fn end_export(is_raised: bool) {
    if is_raised {
        // The end of the (sub)transaction restores the setting and releases the locks of the turn.
        let left = EXPORTS.with_borrow_mut(|exports| {
            let export = exports.last_mut()?;
            std::mem::forget(export.known_to_workers.take());
            Some(std::mem::replace(&mut export.stage, Stage::Done))
        });
        if let Some(Stage::Planned(judged, _) | Stage::Started(judged, ..)) = left {
            judged.abandon();
        }
    }
    end();
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

/// Returns the export that a statement is, and the statement to run, or `None` if it is no export.
///
/// # Safety
/// `planned` is a valid utility statement, and `source` the text it was parsed from.
unsafe fn export_of(
    planned: *mut PlannedStmt,
    source: *const c_char,
) -> Result<Option<(Statement, *mut PlannedStmt)>, Error> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let statement = (*planned).utilityStmt;
        let kind = match (*statement).type_ {
            NodeTag::T_CopyStmt if !(*statement.cast::<pg_sys::CopyStmt>()).is_from => "COPY TO",
            NodeTag::T_CreateTableAsStmt if is_filled_table(statement.cast()) => "CREATE TABLE AS",
            _ => return Ok(None),
        };
        if policy::all()?.is_empty() {
            return Ok(None);
        }
        let planned = match kind {
            "COPY TO" => match as_query(planned)? {
                Some(planned) => planned,
                None => return Ok(None),
            },
            _ => planned,
        };
        let statement = Statement {
            kind,
            text: text_of(planned, source),
            is_dry: false,
        };
        Ok(Some((statement, planned)))
    }
}

/// Returns the text of a statement.
///
/// # Safety
/// `planned` is a valid statement, and `source` the text it was parsed from.
unsafe fn text_of(planned: *mut PlannedStmt, source: *const c_char) -> String {
    // SAFETY: by the contract of the function.
    unsafe {
        let all = CStr::from_ptr(source).to_bytes();
        let start = usize::try_from((*planned).stmt_location)
            .unwrap_or(0)
            .min(all.len());
        let end = match (*planned).stmt_len {
            0 => all.len(),
            length => all.len().min(start + usize::try_from(length).unwrap_or(0)),
        };
        String::from_utf8_lossy(&all[start..end]).into_owned()
    }
}

/// Returns COPY table TO as COPY (SELECT …) TO, if a policy concerns the table. Other statements are returned
/// as they are. Returns `None` if the role is exempt and copies a table: nothing is planned then, so that
/// expressions of its indexes and statistics do not run with the rights of a superuser.
///
/// # Safety
/// `planned` is a valid COPY … TO.
unsafe fn as_query(planned: *mut PlannedStmt) -> Result<Option<*mut PlannedStmt>, Error> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let copy = (*planned).utilityStmt.cast::<pg_sys::CopyStmt>();
        if (*copy).relation.is_null() {
            return Ok(Some(planned));
        }
        let table = copied_table(&*copy);
        let policies = policy::concerning(&[table])?;
        if rights::is_exempt() {
            for policy in &policies {
                judge::record("COPY TO", policy, None, Outcome::Exempt, Lasting::Always)?;
            }
            return Ok(None);
        }
        let Some(policy) = policies.iter().find(|policy| policy.concerns_us()) else {
            return Ok(Some(planned));
        };
        let text = select_of_copy(&*copy, table)?.and_then(|text| CString::new(text).ok());
        let Some(text) = text else {
            return Ok(Some(planned)); // the statement is invalid: Postgres raises its own error
        };
        check_bound_code(policy, table)?;
        let parsed = list::<pg_sys::RawStmt>(pg_sys::pg_parse_query(text.as_ptr()));
        let Some(query) = parsed.first().map(|&raw| (*raw).stmt) else {
            return Ok(Some(planned));
        };
        let planned = pg_sys::copyObjectImpl(planned.cast()).cast::<PlannedStmt>();
        let copy = (*planned).utilityStmt.cast::<pg_sys::CopyStmt>();
        (*copy).relation = std::ptr::null_mut();
        (*copy).attlist = std::ptr::null_mut();
        (*copy).query = query;
        Ok(Some(planned))
    }
}

/// Returns the table that COPY table TO names; an invalid OID if there is none.
///
/// # Safety
/// `copy` is a valid COPY table … TO.
unsafe fn copied_table(copy: &pg_sys::CopyStmt) -> Oid {
    // SAFETY: by the contract of the function.
    unsafe {
        pg_sys::RangeVarGetRelidExtended(
            copy.relation,
            pg_sys::AccessShareLock as pg_sys::LOCKMODE,
            pg_sys::RVROption::RVR_MISSING_OK,
            None,
            std::ptr::null_mut(),
        )
    }
}

/// Returns an error if planning a query on the table could run functions of other roles with the current
/// user's rights. Postgres plans nothing for COPY table TO, but the query that the guard makes of it is
/// planned, and the planner may evaluate expressions of indexes, statistics and checks.
fn check_bound_code(policy: &Policy, table: Oid) -> Result<(), Error> {
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
    let parameters = Parameters::of_oids(&[table])?;
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

const FIRST_TO_COPY_MATERIALIZED_VIEWS: u32 = 180_000;

/// Returns the SELECT that returns the rows that COPY table TO would send, or `None` if the statement is invalid.
///
/// # Safety
/// `copy` is a valid COPY table … TO, and `oid` the table.
unsafe fn select_of_copy(copy: &pg_sys::CopyStmt, oid: Oid) -> Result<Option<String>, Error> {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let kind = pg_sys::get_rel_relkind(oid) as u8;
        let is_copied = kind == pg_sys::RELKIND_RELATION
            || kind == pg_sys::RELKIND_MATVIEW && pg_sys::PG_VERSION_NUM >= FIRST_TO_COPY_MATERIALIZED_VIEWS;
        if !is_copied {
            return Ok(None);
        }
        let relation = Relation::whole("relation", Some(oid))?;
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
        let select =
            |columns: Vec<String>| format!("SELECT {} FROM {only}{}", columns.join(", "), relation.name());
        Ok(columns.map(select))
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

/// Returns whether a statement creates a table and fills it from a query. CREATE TABLE AS EXECUTE runs a plan
/// that was made before, which the executor's hooks refuse if it reads a protected relation. A materialized
/// view may be created freely: exports of it are judged.
///
/// # Safety
/// `create` is a valid CREATE TABLE AS.
unsafe fn is_filled_table(create: *mut pg_sys::CreateTableAsStmt) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let query = (*create).query.cast::<Query>();
        (*create).objtype == pg_sys::ObjectType::OBJECT_TABLE
            && !(*(*create).into).skipData
            && (*query).commandType == pg_sys::CmdType::CMD_SELECT
    }
}

unsafe extern "C-unwind" fn planner(
    query: *mut Query,
    source: *const c_char,
    options: c_int,
    parameters: pg_sys::ParamListInfo,
) -> *mut PlannedStmt {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let planning = Planning {
            source,
            options,
            parameters,
        };
        // Other queries may be planned before, for example by event triggers. They have a text of their own.
        let is_export = is_at(|stage| matches!(stage, Stage::Armed(text) if *text == source));
        let planned = if is_export {
            plan_export(query, planning)
        } else {
            std::ptr::null_mut()
        };
        match planned.is_null() {
            true => planning.proceed(query),
            false => planned,
        }
    }
}

/// Judges the shape of the export's query, and plans just this tree. Returns NULL if it need not be judged.
#[pg_guard]
unsafe extern "C-unwind" fn plan_export(query: *mut Query, planning: Planning) -> *mut PlannedStmt {
    // SAFETY: Postgres passes valid pointers to its hooks. The planner may change the tree, so nobody else
    // uses it.
    unsafe {
        advance(Stage::Free);
        let statement = EXPORTS.with_borrow(|exports| exports.last().map(|export| export.statement.clone()));
        let Some(statement) = statement else {
            return Error::Internal("there is no export").raise();
        };
        let judged = Judged::new(query, statement).unwrap_or_else(Error::raise);
        let Some(judged) = judged else {
            return std::ptr::null_mut();
        };
        let planning = Planning {
            options: planning.options & !(pg_sys::CURSOR_OPT_PARALLEL_OK as c_int),
            ..planning
        };
        let planned = {
            let before = PLANNING_JUDGED.replace(true);
            let _undo = rights::Undo(|| PLANNING_JUDGED.set(before));
            judged.plan(|| pg_sys::ffi::pg_guard_ffi_boundary(|| planning.proceed(query)))
        };
        let planned = planned.unwrap_or_else(Error::raise);
        advance(Stage::Planned(judged, planned));
        silence::hold();
        planned
    }
}

/// Called when the planner has looked a relation up, before it reads its statistics.
unsafe extern "C-unwind" fn relation_info(
    root: *mut pg_sys::PlannerInfo,
    relation: Oid,
    is_parent: bool,
    info: *mut pg_sys::RelOptInfo,
) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        // CREATE INDEX and CLUSTER use the planner, too, for a query without FROM.
        if relation.to_u32() >= pg_sys::FirstNormalObjectId
            && !(*(*root).parse).jointree.is_null()
            && !PLANNING_JUDGED.get()
            && !policy::is_known_empty()
            && !rights::is_guard_at_work()
        {
            check_planned(relation);
        }
        if let Some(hook) = BEFORE.get().and_then(|before| before.relation) {
            hook(root, relation, is_parent, info);
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn check_planned(relation: Oid) {
    reading::check_planned(relation).unwrap_or_else(Error::raise);
}

unsafe extern "C-unwind" fn executor_start(execution: *mut QueryDesc, flags: c_int) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        if is_at(|stage| matches!(stage, Stage::Planned(_, plan) if *plan == (*execution).plannedstmt)) {
            return start_export(execution, flags);
        }
        if may_be_export(execution) || !reading::is_bystander(execution) {
            look_at_start(execution, flags);
        }
        start(execution, flags);
    }
}

/// Starts an execution; see [`Utility::proceed`] about errors.
///
/// # Safety
/// The execution is valid and about to start.
unsafe fn start(execution: *mut QueryDesc, flags: c_int) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let hook = BEFORE.get().and_then(|before| before.start);
        hook.unwrap_or(standard::standard_ExecutorStart)(execution, flags);
    }
}

/// Starts the export's own execution. The descriptor that Postgres sees afterwards has no hidden columns.
#[pg_guard]
unsafe extern "C-unwind" fn start_export(execution: *mut QueryDesc, flags: c_int) {
    // SAFETY: Postgres passes valid pointers to its hooks. Its executor sets the descriptor.
    unsafe {
        silence::release();
        let Some(Stage::Planned(judged, _)) = advance(Stage::Done) else {
            return Error::Internal("the export was not planned").raise();
        };
        judged.start(|| pg_sys::ffi::pg_guard_ffi_boundary(|| start(execution, flags)));
        let full = (*execution).tupDesc;
        let visible = pg_sys::CreateTemplateTupleDesc(judged.outputs() as c_int);
        for column in 1..=judged.outputs() as i16 {
            pg_sys::TupleDescCopyEntry(visible, column, full, column);
        }
        (*execution).tupDesc = visible;
        advance(Stage::Started(judged, execution, full));
    }
}

/// Returns whether an export is running, or the rows of the execution go to a COPY or into a new table.
///
/// # Safety
/// The execution is valid.
unsafe fn may_be_export(execution: *mut QueryDesc) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe { EXPORTS.with_borrow(|exports| !exports.is_empty()) || reading::is_bound_out(execution) }
}

#[pg_guard]
unsafe extern "C-unwind" fn look_at_start(execution: *mut QueryDesc, flags: c_int) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        if rights::is_guard_at_work() || reading::is_part_of_another(execution) {
            return;
        }
        let reading = match flags & pg_sys::EXEC_FLAG_EXPLAIN_ONLY as c_int {
            0 => reading_of(execution),
            _ => Reading::Free, // nothing is read, but the plan shows estimates
        };
        reading::check(execution, reading).unwrap_or_else(Error::raise);
    }
}

/// Returns the role of an execution that is not a judged export's own.
///
/// # Safety
/// The execution is valid.
unsafe fn reading_of(execution: *mut QueryDesc) -> Reading {
    let kind = EXPORTS.with_borrow(|exports| exports.last().map(|export| export.statement.kind));
    // SAFETY: by the contract of the function.
    let is_bound_out = unsafe { reading::is_bound_out(execution) };
    match kind {
        Some(kind) => Reading::Hidden(kind),
        None if guc::is_in_worker_of_export() => Reading::Hidden("COPY TO"),
        None if is_bound_out => Reading::Hidden("CREATE TABLE AS"),
        None => Reading::Free,
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
        if is_at(|stage| matches!(stage, Stage::Started(_, started, _) if *started == execution)) {
            return run_judged(execution, run);
        }
        if may_be_export(execution) {
            check_late(execution);
        }
        run.proceed(execution);
    }
}

/// Checks an execution that could not be checked when it started. CREATE TABLE AS EXECUTE sets the
/// destination of a prepared statement only when it runs, and a cursor that was opened before an export may
/// be read within it.
#[pg_guard]
unsafe extern "C-unwind" fn check_late(execution: *mut QueryDesc) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        if !rights::is_guard_at_work() && !reading::is_part_of_another(execution) {
            reading::check(execution, reading_of(execution)).unwrap_or_else(Error::raise);
        }
    }
}

/// Runs an export's execution, judges its rows, and only then sends them to their destination.
#[pg_guard]
unsafe extern "C-unwind" fn run_judged(execution: *mut QueryDesc, run: Run) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        let Some(Stage::Started(judged, _, full)) = advance(Stage::Done) else {
            return Error::Internal("the export has not started").raise();
        };
        let destination = (*execution).dest;
        let collected = judged.run(full, |collector| {
            (*execution).dest = collector;
            pg_sys::ffi::pg_guard_ffi_boundary(|| run.proceed(execution));
            (*execution).dest = destination;
        });
        let is_dry =
            EXPORTS.with_borrow(|exports| exports.last().is_some_and(|export| export.statement.is_dry));
        if is_dry {
            silence::hold(); // auto_explain may print row counts when the execution ends
            return conclude_dry(
                &judged,
                collected.map(|(spool, verdicts)| {
                    spool.end();
                    verdicts
                }),
            );
        }
        let (spool, verdicts) = collected.unwrap_or_else(refuse);
        judged.conclude(&verdicts).unwrap_or_else(refuse);
        drop(judged); // the next attempt need not wait until the rows are sent
        (*(*execution).estate).es_processed = spool.rows(); // the command tag must not count rows beyond LIMIT
        silence::hold();
        spool.forward(destination, (*execution).operation as c_int, (*execution).tupDesc);
        spool.end();
    }
}

/// Raises the error of an export whose query has run. What the query leaves behind is not heard of.
fn refuse<T>(error: Error) -> T {
    silence::hold_until_released();
    error.raise()
}

/// Stores the verdicts of a dry run. If the query failed, all policies are broken. The error is then raised,
/// because the execution cannot go on; `check_export` catches it.
fn conclude_dry(judged: &Judged, verdicts: Result<Vec<Verdict>, Error>) {
    let (verdicts, failure) = match verdicts {
        Ok(verdicts) => {
            judged.conclude_dry(&verdicts).unwrap_or_else(Error::raise);
            (verdicts, None)
        }
        Err(error @ Error::NotSatisfied { .. }) => (judged.all_broken(), Some(error)),
        Err(error) => error.raise(),
    };
    EXPORTS.with_borrow_mut(|exports| {
        if let Some(export) = exports.last_mut() {
            export.verdicts = verdicts;
        }
    });
    if let Some(error) = failure {
        error.raise()
    }
}

#[cfg(any(feature = "pg14", feature = "pg15"))]
unsafe extern "C-unwind" fn check_permissions(entries: *mut pg_sys::List, raises: bool) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        if is_at(|stage| matches!(stage, Stage::Armed(_))) && !rights::is_guard_at_work() {
            check_copied(entries);
        }
        BEFORE
            .get()
            .and_then(|before| before.permissions)
            .is_none_or(|hook| hook(entries, raises))
    }
}

#[cfg(not(any(feature = "pg14", feature = "pg15")))]
unsafe extern "C-unwind" fn check_permissions(
    entries: *mut pg_sys::List,
    permissions: *mut pg_sys::List,
    raises: bool,
) -> bool {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        if is_at(|stage| matches!(stage, Stage::Armed(_))) && !rights::is_guard_at_work() {
            check_copied(entries);
        }
        BEFORE
            .get()
            .and_then(|before| before.permissions)
            .is_none_or(|hook| hook(entries, permissions, raises))
    }
}

/// Raises an error if COPY table TO has opened a protected table, though its name meant another table before.
/// COPY checks the rights on a table that it has opened and locked, so this is the last place to see it.
#[pg_guard]
unsafe extern "C-unwind" fn check_copied(entries: *mut pg_sys::List) {
    // SAFETY: Postgres passes valid pointers to its hooks, and these are passed on unchanged.
    unsafe {
        // COPY cannot read a partitioned table, and says so afterwards.
        let opened: Vec<Oid> = list::<pg_sys::RangeTblEntry>(entries)
            .into_iter()
            .filter(|&entry| (*entry).relkind as u8 != pg_sys::RELKIND_PARTITIONED_TABLE)
            .map(|entry| (*entry).relid)
            .collect();
        reading::check_opened(&opened).unwrap_or_else(Error::raise);
    }
}
