//! Query trees of Postgres: reading their lists, finding the relations in them, and adding columns to them.
//!
//! All unsafe functions in this file expect pointers to valid nodes that stay allocated while the functions
//! run.

use pgrx::PgBox;
use pgrx::pg_sys::{self, List, Node, NodeTag, Oid, Query, RTEKind, RangeTblEntry};
use rustc_hash::FxHashMap;
use std::ffi::{CStr, CString, c_int, c_void};

/// Returns the elements of a list of nodes.
///
/// # Safety
/// `nodes` is NULL or a list of pointers to `T`.
pub unsafe fn list<T>(nodes: *mut List) -> Vec<*mut T> {
    // SAFETY: by the contract of the function.
    unsafe { entries(nodes) }.collect()
}

/// Returns the elements of a list of nodes without allocating memory, so that an ERROR may jump over it.
///
/// # Safety
/// `nodes` is NULL or a list of pointers to `T`, which outlives the iterator.
pub unsafe fn entries<T>(nodes: *mut List) -> impl Iterator<Item = *mut T> {
    // SAFETY: by the contract of the function; a list has `length` elements.
    unsafe {
        let length = if nodes.is_null() { 0 } else { (*nodes).length };
        (0..length as usize).map(move |place| (*(*nodes).elements.add(place)).ptr_value.cast())
    }
}

/// Postgres' own walkers, declared without pgrx's wrappers: one guard at the top is enough, and an ERROR that
/// meets a callback without a guard would abort the server.
mod plain {
    use super::*;

    pub type Callback = unsafe extern "C-unwind" fn(*mut Node, *mut c_void) -> bool;

    #[cfg(any(feature = "pg14", feature = "pg15"))]
    unsafe extern "C-unwind" {
        pub fn expression_tree_walker(node: *mut Node, visit: Callback, context: *mut c_void) -> bool;
        pub fn query_tree_walker(
            query: *mut Query,
            visit: Callback,
            context: *mut c_void,
            flags: c_int,
        ) -> bool;
    }

    #[cfg(not(any(feature = "pg14", feature = "pg15")))]
    unsafe extern "C-unwind" {
        #[link_name = "expression_tree_walker_impl"]
        pub fn expression_tree_walker(node: *mut Node, visit: Callback, context: *mut c_void) -> bool;
        #[link_name = "query_tree_walker_impl"]
        pub fn query_tree_walker(
            query: *mut Query,
            visit: Callback,
            context: *mut c_void,
            flags: c_int,
        ) -> bool;
    }
}

/// Returns all relations in a rewritten query, at any depth, without duplicates: tables, and the views that
/// were expanded.
///
/// # Safety
/// The query is valid.
pub unsafe fn relations_in(query: *mut Query) -> Vec<Oid> {
    /// Collects relations in a list of Postgres, because an ERROR may jump over this function.
    unsafe extern "C-unwind" fn visit(node: *mut Node, found: *mut c_void) -> bool {
        unsafe extern "C-unwind" {
            fn list_append_unique_oid(list: *mut List, oid: Oid) -> *mut List;
        }
        // SAFETY: the walkers pass NULL or valid nodes, and the context that they were given.
        unsafe {
            if node.is_null() {
                return false;
            }
            match (*node).type_ {
                NodeTag::T_RangeTblEntry => {
                    let entry = node.cast::<RangeTblEntry>();
                    if (*entry).relid != Oid::INVALID {
                        let found = found.cast::<*mut List>();
                        *found = list_append_unique_oid(*found, (*entry).relid);
                    }
                    false
                }
                NodeTag::T_Query => {
                    let flags = pg_sys::QTW_EXAMINE_RTES_BEFORE as c_int;
                    plain::query_tree_walker(node.cast(), visit, found, flags)
                }
                _ => plain::expression_tree_walker(node, visit, found),
            }
        }
    }
    let mut found: *mut List = std::ptr::null_mut();
    // SAFETY: the query is valid by the contract, and an ERROR (nested too deep) is caught at this boundary.
    unsafe {
        pg_sys::ffi::pg_guard_ffi_boundary(|| visit(query.cast(), (&raw mut found).cast()));
        let length = if found.is_null() {
            0
        } else {
            (*found).length as usize
        };
        (0..length)
            .map(|place| (*(*found).elements.add(place)).oid_value)
            .collect()
    }
}

/// Returns the view that a subquery in FROM is the expanded query of, if it is one.
///
/// # Safety
/// The entry is a subquery.
pub unsafe fn view_of(entry: *mut RangeTblEntry) -> Option<Oid> {
    // SAFETY: by the contract of the function.
    unsafe {
        // Before Postgres 16, the query of an expanded view keeps the view as its first range table entry,
        // which is not in its FROM clause. Since then, the entry itself has it.
        #[cfg(any(feature = "pg14", feature = "pg15"))]
        let view = {
            let first = entries::<RangeTblEntry>((*(*entry).subquery).rtable).next()?;
            ((*first).rtekind == RTEKind::RTE_RELATION && (*first).relkind as u8 == pg_sys::RELKIND_VIEW)
                .then(|| (*first).relid)
        };
        #[cfg(not(any(feature = "pg14", feature = "pg15")))]
        let view = Some((*entry).relid).filter(|&view| view != Oid::INVALID);
        view
    }
}

/// Number of references to CTEs that a query may have, including those in the copies that references become. A
/// few CTEs which refer to each other twice would otherwise become a tree of any size.
const MAX_CTE_REFERENCES: usize = 500;

/// Reason why the CTEs of a query cannot become subqueries.
pub enum CteProblem {
    Recursive,
    Modifying,
    TooMany,
}

/// Turns every reference to a CTE into a subquery, as the planner does if there is one reference.
///
/// # Safety
/// The query is rewritten, and nobody else uses it.
pub unsafe fn inline_ctes(query: *mut Query) -> Result<(), CteProblem> {
    let mut inlining = Inlining {
        outer: Vec::new(),
        references: 0,
        inside: FxHashMap::default(),
    };
    // SAFETY: by the contract of the function.
    unsafe { inlining.query(query) }
}

struct Inlining {
    /// Queries around the current one, the outermost first.
    outer: Vec<*mut Query>,
    references: usize,
    /// Number of references in the query of each CTE.
    inside: FxHashMap<*mut pg_sys::CommonTableExpr, usize>,
}

impl Inlining {
    unsafe fn query(&mut self, query: *mut Query) -> Result<(), CteProblem> {
        // SAFETY: the query is part of the tree that `inline_ctes` was given.
        unsafe {
            pg_sys::check_stack_depth();
            pgrx::check_for_interrupts!();
            self.outer.push(query);
            for cte in list::<pg_sys::CommonTableExpr>((*query).cteList) {
                if (*query).hasRecursive || (*cte).cterecursive {
                    return Err(CteProblem::Recursive);
                }
                let of_cte = (*cte).ctequery.cast::<Query>();
                if (*of_cte).type_ != NodeTag::T_Query || (*of_cte).commandType != pg_sys::CmdType::CMD_SELECT
                {
                    return Err(CteProblem::Modifying);
                }
                let before = self.references;
                self.query(of_cte)?;
                self.inside.insert(cte, self.references - before);
            }
            for entry in list::<RangeTblEntry>((*query).rtable) {
                match (*entry).rtekind {
                    RTEKind::RTE_CTE => self.inline(entry)?,
                    RTEKind::RTE_SUBQUERY => self.query((*entry).subquery)?,
                    _ => (),
                }
            }
            self.outer.pop();
            (*query).cteList = std::ptr::null_mut();
            Ok(())
        }
    }

    unsafe fn inline(&mut self, entry: *mut RangeTblEntry) -> Result<(), CteProblem> {
        // SAFETY: the entry refers to a CTE of one of the queries around it, whose own CTEs are inlined.
        unsafe {
            let level = (*entry).ctelevelsup as usize + 1;
            let owner = self.outer.len().checked_sub(level).map(|place| self.outer[place]);
            let name = CStr::from_ptr((*entry).ctename);
            let cte = owner.and_then(|owner| {
                let mut ctes = entries::<pg_sys::CommonTableExpr>((*owner).cteList);
                ctes.find(|&cte| CStr::from_ptr((*cte).ctename) == name)
            });
            let Some(cte) = cte else {
                return Err(CteProblem::Recursive);
            };
            self.references += 1 + self.inside.get(&cte).copied().unwrap_or(0);
            if self.references > MAX_CTE_REFERENCES {
                return Err(CteProblem::TooMany);
            }
            (*entry).rtekind = RTEKind::RTE_SUBQUERY;
            (*entry).subquery = pg_sys::copyObjectImpl((*cte).ctequery.cast()).cast();
            (*entry).security_barrier = false;
            (*entry).ctename = std::ptr::null_mut();
            (*entry).coltypes = std::ptr::null_mut();
            (*entry).coltypmods = std::ptr::null_mut();
            (*entry).colcollations = std::ptr::null_mut();
            Ok(())
        }
    }
}

/// Type of a column: its OID, its modifier and its collation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TypeOf {
    pub oid: Oid,
    pub modifier: i32,
    pub collation: Oid,
}

impl TypeOf {
    /// Returns the type of an expression.
    ///
    /// # Safety
    /// The expression is valid.
    pub unsafe fn expression(expression: *mut Node) -> Self {
        // SAFETY: by the contract of the function.
        unsafe {
            TypeOf {
                oid: pg_sys::exprType(expression),
                modifier: pg_sys::exprTypmod(expression),
                collation: pg_sys::exprCollation(expression),
            }
        }
    }

    /// Returns the number and the type of a relation's column; `None` if there is no such column.
    pub fn column(relation: Oid, name: &str) -> Option<(i16, Self)> {
        let name = CString::new(name).ok()?;
        let mut type_of = TypeOf {
            oid: Oid::INVALID,
            modifier: -1,
            collation: Oid::INVALID,
        };
        // SAFETY: the name is NUL-terminated. The result is 0 if there is no such column, and negative for system
        // columns; otherwise its type can be looked up.
        unsafe {
            let number = pg_sys::get_attnum(relation, name.as_ptr());
            if number <= 0 {
                return None;
            }
            let TypeOf {
                oid,
                modifier,
                collation,
            } = &mut type_of;
            pg_sys::get_atttypetypmodcoll(relation, number, oid, modifier, collation);
            Some((number, type_of))
        }
    }

    /// Returns a NULL of this type.
    pub fn null(self) -> *mut Node {
        // SAFETY: the type was taken from a valid expression.
        unsafe { pg_sys::makeNullConst(self.oid, self.modifier, self.collation).cast() }
    }
}

/// Returns a constant of type integer.
pub fn integer(value: i32) -> *mut Node {
    // SAFETY: the length and the passing of integers are those of the type.
    unsafe {
        let by_value = true;
        pg_sys::makeConst(
            pg_sys::INT4OID,
            -1,
            Oid::INVALID,
            size_of::<i32>() as c_int,
            value.into(),
            false,
            by_value,
        )
        .cast()
    }
}

/// Returns a reference to a column of a FROM item. `nulling` are the outer joins that may make it NULL.
pub fn column(item: c_int, number: i16, type_of: TypeOf, nulling: &[c_int]) -> *mut Node {
    // SAFETY: makes a new node.
    unsafe {
        #[cfg(feature = "pg14")]
        let item = item as pg_sys::Index;
        let column = pg_sys::makeVar(item, number, type_of.oid, type_of.modifier, type_of.collation, 0);
        #[cfg(not(any(feature = "pg14", feature = "pg15")))]
        for &join in nulling {
            (*column).varnullingrels = pg_sys::bms_add_member((*column).varnullingrels, join);
        }
        #[cfg(any(feature = "pg14", feature = "pg15"))]
        let _ = nulling; // tracked by the planner itself
        column.cast()
    }
}

/// Returns an expression that tells whether a value is NULL, in rows in which one of these columns is not NULL. In other
/// rows the expression is NULL.
///
/// # Safety
/// The value and the columns are valid, and nobody else uses the columns.
pub unsafe fn absence(value: *mut Node, columns: Vec<*mut Node>) -> *mut Node {
    // SAFETY: by the contract of the function; all other nodes are new.
    unsafe {
        let test = |argument: *mut Node, kind| {
            let mut test = PgBox::<pg_sys::NullTest>::alloc_node(NodeTag::T_NullTest);
            test.arg = argument.cast();
            test.nulltesttype = kind;
            test.location = -1;
            test.into_pg().cast::<Node>()
        };
        let append = |list: *mut List, node: *mut Node| pg_sys::lappend(list, node.cast());
        let is_there = columns
            .into_iter()
            .map(|column| test(column, pg_sys::NullTestType::IS_NOT_NULL))
            .fold(std::ptr::null_mut(), append);
        let mut when = PgBox::<pg_sys::CaseWhen>::alloc_node(NodeTag::T_CaseWhen);
        when.expr = pg_sys::makeBoolExpr(pg_sys::BoolExprType::OR_EXPR, is_there, -1);
        when.result = test(
            pg_sys::copyObjectImpl(value.cast()).cast(),
            pg_sys::NullTestType::IS_NULL,
        )
        .cast();
        when.location = -1;
        let mut case = PgBox::<pg_sys::CaseExpr>::alloc_node(NodeTag::T_CaseExpr);
        case.casetype = pg_sys::BOOLOID;
        case.args = append(std::ptr::null_mut(), when.into_pg().cast());
        case.defresult = pg_sys::makeBoolConst(false, true).cast();
        case.location = -1;
        case.into_pg().cast()
    }
}

/// Appends a column to the SELECT list of a query.
///
/// # Safety
/// The query is valid, and nobody else uses it or the expression.
pub unsafe fn append_column(query: *mut Query, expression: *mut Node) {
    // SAFETY: by the contract of the function.
    unsafe {
        let targets = (*query).targetList;
        let number = if targets.is_null() { 0 } else { (*targets).length } + 1;
        let name = pg_sys::pstrdup(c"hidden".as_ptr());
        let target = pg_sys::makeTargetEntry(expression.cast(), number as i16, name, false);
        (*query).targetList = pg_sys::lappend(targets, target.cast());
    }
}

/// Adds a name for a column that was appended to the subquery of a range table entry.
///
/// # Safety
/// The entry is valid, and nobody else uses it.
pub unsafe fn name_appended(entry: *mut RangeTblEntry) {
    // SAFETY: by the contract of the function; the name is copied into the current memory context.
    unsafe {
        let names = (*(*entry).eref).colnames;
        let name = pg_sys::makeString(pg_sys::pstrdup(c"hidden".as_ptr()));
        (*(*entry).eref).colnames = pg_sys::lappend(names, name.cast());
    }
}

/// Adds a column to a tree of set operations.
///
/// # Safety
/// The node is a valid tree of set operations, and nobody else uses it.
pub unsafe fn widen_set_operation(node: *mut Node, type_of: TypeOf) {
    // SAFETY: by the contract of the function.
    unsafe {
        if (*node).type_ != NodeTag::T_SetOperationStmt {
            return;
        }
        let operation = node.cast::<pg_sys::SetOperationStmt>();
        (*operation).colTypes = pg_sys::lappend_oid((*operation).colTypes, type_of.oid);
        (*operation).colTypmods = pg_sys::lappend_int((*operation).colTypmods, type_of.modifier);
        (*operation).colCollations = pg_sys::lappend_oid((*operation).colCollations, type_of.collation);
        widen_set_operation((*operation).larg, type_of);
        widen_set_operation((*operation).rarg, type_of);
    }
}

/// Lets Postgres prepare and keep the expressions of all indexes of these relations and their descendants.
/// Otherwise the planner would do so while the barrier of functions is up, which forbids inlining, and later
/// queries of the session would not find the index.
pub fn prepare_indexes(relations: &[Oid]) {
    let (no_lock, lock) = (pg_sys::NoLock as c_int, pg_sys::AccessShareLock as c_int);
    for &relation in relations {
        // SAFETY: any OID is accepted.
        let kind = unsafe { pg_sys::get_rel_relkind(relation) } as u8;
        if !matches!(
            kind,
            pg_sys::RELKIND_RELATION | pg_sys::RELKIND_MATVIEW | pg_sys::RELKIND_PARTITIONED_TABLE
        ) {
            continue;
        }
        for table in crate::pg::catalog::with_heirs(relation) {
            // SAFETY: the relations were locked when their descendants were found, and are closed below.
            unsafe {
                let open = pg_sys::relation_open(table, no_lock);
                let indexes = pg_sys::RelationGetIndexList(open);
                let count = if indexes.is_null() {
                    0
                } else {
                    (*indexes).length as usize
                };
                for place in 0..count {
                    let index = pg_sys::index_open((*(*indexes).elements.add(place)).oid_value, lock);
                    pg_sys::RelationGetIndexExpressions(index);
                    pg_sys::RelationGetIndexPredicate(index);
                    pg_sys::index_close(index, no_lock);
                }
                pg_sys::relation_close(open, no_lock);
            }
        }
    }
}
