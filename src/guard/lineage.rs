//! Lineage of a query: the stored columns that each output column is made of, and all relations that it
//! reads.
//!
//! Columns are traced through the query as it was analysed, before views are expanded, so that a policy can
//! be on a view as well as on the relations under it. A column counts unless it is certain that it is not
//! used. Expressions that only decide which rows are returned (WHERE, HAVING, DISTINCT, LIMIT) are not part
//! of a column, but their relations are in [`Lineage::relations`].
//!
//! All unsafe functions in this file expect pointers into valid query trees that stay allocated and unchanged
//! while the functions run.

use crate::pg::types::ColumnType;
use pgrx::pg_catalog::pg_proc::PgProc;
use pgrx::pg_sys::{self, AttrNumber, CmdType, NodeTag, Oid, RTEKind};
use pgrx::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::hash::{Hash, Hasher};
use std::ptr;
use std::rc::Rc;

/// OID of LANGUAGE sql, which is the same in every database.
const SQL_LANGUAGE: Oid = Oid::from_u32(14);

/// Stored column that an output column is made of. A column of a view counts together with the columns that
/// it is made of; so do columns of materialized views and generated columns.
///
/// Identified by name, because columns in an inheritance tree share names but not numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    pub relation: Oid,
    pub column: String,
}

impl Ord for Origin {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |origin: &Self| origin.relation.to_u32();
        key(self)
            .cmp(&key(other))
            .then_with(|| self.column.cmp(&other.column))
    }
}

impl PartialOrd for Origin {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Output column of a query.
pub struct OutputColumn {
    pub name: String,
    pub type_oid: Oid,
    pub typmod: i32,
    /// Columns that the value is made of, sorted and without duplicates. Empty if none is stored.
    pub origins: Vec<Origin>,
    /// Columns that are not part of the value, but decide which value is in which row: those in the
    /// conditions of joins, and of the arms of a set operation. For example, a join with a list of codes
    /// turns a diagnosis into a code whose origins do not include the diagnosis. Sorted, without those in
    /// `origins`.
    pub paired_by: Vec<Origin>,
    /// Stored column that is output unchanged, possibly renamed, through any number of subqueries, CTEs and
    /// views. If there are several, the innermost one.
    pub plain: Option<Origin>,
    /// Path of the FROM item that `plain` comes from. In one output row, columns with the same path come from
    /// the same stored row.
    pub stored_in: Option<u64>,
    /// FROM items that the columns in `origins` and `paired_by` come from.
    pub places: Vec<Place>,
    /// Whether a window function may have put values of other rows into the column.
    pub windowed: bool,
    /// Whether the column may be made of anything: it comes from a function in FROM, which Postgres may
    /// expand into a query, or a rewrite rule may replace it.
    pub unknown: bool,
}

impl OutputColumn {
    /// Returns the output column for a stored column that is read unchanged.
    pub fn stored(relation: Oid, column: &ColumnType) -> Self {
        let origin = Origin {
            relation,
            column: column.name.clone(),
        };
        OutputColumn {
            name: column.name.clone(),
            type_oid: column.oid,
            typmod: -1,
            origins: vec![origin.clone()],
            paired_by: Vec::new(),
            plain: Some(origin),
            stored_in: None,
            places: Vec::new(),
            windowed: false,
            unknown: false,
        }
    }
}

/// Occurrence of a stored relation in FROM. In FROM patients p, patients q there are two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub path: u64,
    relation: u32,
}

impl Place {
    pub fn relation(self) -> Oid {
        Oid::from_u32(self.relation)
    }

    /// Returns the place with its path mapped by a function.
    fn seen_as(self, path: impl FnOnce(u64) -> u64) -> Self {
        Place {
            path: path(self.path),
            ..self
        }
    }
}

/// Returns a path for the step `on` from the path `from`. Paths are hashes of the range table entries passed.
fn path_of(from: u64, on: u64) -> u64 {
    let mut hasher = FxHasher::default();
    (from, on).hash(&mut hasher);
    hasher.finish()
}

/// Lineage of a query.
pub struct Lineage {
    pub columns: Vec<OutputColumn>,
    /// All relations that the query reads or writes, including those that occur only in WHERE, in a row
    /// security policy, or in a view or under it. Sorted. Children of a relation are not added.
    pub relations: Vec<Oid>,
    /// Whether each row of a stored relation contributes to at most one output row: there is one relation, no
    /// join, set operation, grouping set or set-returning function, and no subquery in an output column.
    pub rows_once: bool,
}

/// Returns the result of parse analysis of a raw statement, which is not changed. `source` is the text that
/// it was parsed from.
///
/// # Safety
/// `statement` is a raw statement such as a SelectStmt, not wrapped in a RawStmt, and `source` a C string.
pub unsafe fn analyse(statement: *mut pg_sys::Node, source: *const c_char) -> *mut pg_sys::Query {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe {
        let mut raw = pg_sys::RawStmt {
            type_: NodeTag::T_RawStmt,
            stmt: pg_sys::copyObjectImpl(statement.cast()).cast(),
            ..Default::default()
        };
        #[cfg(feature = "pg14")]
        return pg_sys::parse_analyze(&mut raw, source, ptr::null_mut(), 0, ptr::null_mut());
        #[cfg(not(feature = "pg14"))]
        return pg_sys::parse_analyze_fixedparams(&mut raw, source, ptr::null(), 0, ptr::null_mut());
    }
}

/// Returns the queries that Postgres makes of a query by applying rules, views and row security policies. The
/// query itself is not changed.
///
/// # Safety
/// `query` is analysed and not yet rewritten.
pub unsafe fn rewrite(query: *mut pg_sys::Query) -> Vec<*mut pg_sys::Query> {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe {
        let query = copy(query);
        pg_sys::AcquireRewriteLocks(query, true, false);
        list(pg_sys::QueryRewrite(query))
    }
}

/// Returns the lineage of a SELECT, or of an INSERT, UPDATE, DELETE or MERGE with RETURNING. Utility
/// statements have no lineage: the caller must find the query in EXECUTE and CREATE TABLE AS. The query is
/// not changed.
///
/// # Safety
/// `query` is analysed and not yet rewritten.
pub unsafe fn trace(query: *mut pg_sys::Query) -> Lineage {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe {
        let rewritten = rewrite(query);
        let query = copy(query);
        let mut tracer = Tracer::default();
        let is_replaced = tracer.is_replaced_by_rules(query);
        // A rule may return other columns than the statement, even if the statement has no RETURNING.
        let returning = if is_replaced { &rewritten[..] } else { &[query] };
        let mut columns = Vec::new();
        for &query in returning {
            for entry in output_entries(query) {
                let made = tracer.output(query, None, (*entry).resno);
                let expression = (*entry).expr.cast();
                columns.push(OutputColumn {
                    name: text((*entry).resname),
                    type_oid: pg_sys::exprType(expression),
                    typmod: pg_sys::exprTypmod(expression),
                    paired_by: made.paired_by.difference(&made.origins).cloned().collect(),
                    origins: made.origins.into_iter().collect(),
                    stored_in: made.plain.as_ref().and(made.stored_in),
                    plain: made.plain,
                    places: made.places.into_iter().collect(),
                    windowed: made.windowed,
                    unknown: made.unknown || is_replaced,
                });
            }
        }
        let rows_once = tracer.rows_once(query, None);
        // Views occur only in the analysed query; row security policies and rules only in the rewritten ones.
        let everywhere = rewritten.into_iter().chain([query]);
        Lineage {
            columns,
            relations: relations(&mut tracer, everywhere),
            rows_once,
        }
    }
}

/// Lineage of a column or an expression, with the same meaning as in [`OutputColumn`].
#[derive(Debug, Default, Clone, PartialEq)]
struct Made {
    origins: BTreeSet<Origin>,
    paired_by: BTreeSet<Origin>,
    plain: Option<Origin>,
    stored_in: Option<u64>,
    places: BTreeSet<Place>,
    windowed: bool,
    unknown: bool,
}

impl Made {
    fn unknown() -> Self {
        Made {
            unknown: true,
            ..Self::default()
        }
    }

    /// Adds the origins of another part of the value. The caller decides whether the column is still plain.
    fn of(&mut self, other: Made) {
        self.origins.extend(other.origins);
        self.paired_by.extend(other.paired_by);
        self.places.extend(other.places);
        self.windowed |= other.windowed;
        self.unknown |= other.unknown;
    }

    /// Adds the conditions that decide which row the value is in. Unknown or windowed conditions do not make
    /// the value unknown or windowed.
    fn where_put_by(&mut self, conditions: Made) {
        self.paired_by.extend(conditions.origins);
        self.paired_by.extend(conditions.paired_by);
        self.places.extend(conditions.places);
    }

    /// Returns the lineage as seen through an entry of the range table, which extends all paths.
    unsafe fn through(mut self, entry: *mut pg_sys::RangeTblEntry) -> Self {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            let here = entry as u64;
            if (*entry).self_reference {
                // A value that recursion returns may come from any row of any iteration.
                self.stored_in = None;
                self.places = self.places.iter().map(|place| place.seen_as(|_| here)).collect();
                return self;
            }
            let path = |path| path_of(here, path);
            self.stored_in = self.stored_in.map(path);
            self.places = self.places.iter().map(|place| place.seen_as(path)).collect();
            self
        }
    }

    /// Merges the lineage of another arm of a set operation. Columns that share their places in both arms
    /// share one place afterwards.
    fn or(&mut self, other: Made) {
        /// Maximum number of combined places. Real queries have fewer, but a query can be written that has
        /// any number.
        const MOST: usize = 64;
        if self.plain != other.plain {
            self.plain = None;
        }
        self.stored_in = match (self.stored_in, other.stored_in) {
            (Some(left), Some(right)) => Some(path_of(left, right)),
            _ => None,
        };
        let paths = |places: &BTreeSet<Place>| match places.len() {
            0 => vec![0],
            _ => places.iter().map(|place| place.path).collect(),
        };
        let (left, right) = (paths(&self.places), paths(&other.places));
        let few = left.len() * right.len() <= MOST;
        let of_left = self.places.iter().flat_map(|place| {
            let right = if few { &right[..] } else { &[0] };
            right
                .iter()
                .map(|&right| place.seen_as(|left| path_of(left, right)))
        });
        let of_right = other.places.iter().flat_map(|place| {
            let left = if few { &left[..] } else { &[0] };
            left.iter()
                .map(|&left| place.seen_as(|right| path_of(left, right)))
        });
        let places = of_left.chain(of_right).collect();
        self.of(other);
        self.places = places;
    }
}

/// Query together with the outer queries that it can refer to.
#[derive(Clone, Copy)]
struct Scope<'a> {
    query: *mut pg_sys::Query,
    parent: Option<&'a Scope<'a>>,
    /// Whether the expression is in RETURNING, where the target's columns have the values just written.
    returning: bool,
}

impl<'a> Scope<'a> {
    fn up(&'a self, levels: pg_sys::Index) -> Option<&'a Scope<'a>> {
        (0..levels).try_fold(self, |scope, _| scope.parent)
    }

    /// Returns the scope of the query's clauses other than RETURNING.
    fn outside_returning(self) -> Self {
        Scope {
            returning: false,
            ..self
        }
    }
}

/// Key of all output columns of a query in [`Tracer::known`]. No column has this number.
const WHOLE_ROW: AttrNumber = AttrNumber::MIN;

/// Relation as described by the catalogue.
struct Stored {
    columns: BTreeMap<AttrNumber, StoredColumn>,
    /// Query of a view or materialized view; NULL for other relations.
    definition: *mut pg_sys::Query,
    /// Whether a rewrite rule may replace an INSERT, UPDATE or DELETE.
    has_action_rules: bool,
}

struct StoredColumn {
    name: String,
    /// Columns of the same relation that a generated column is computed from.
    generated_from: Vec<AttrNumber>,
}

#[derive(Default)]
struct Tracer {
    relations: FxHashMap<Oid, Rc<Stored>>,
    /// Output columns that were traced already, so that each is traced only once.
    known: FxHashMap<(*mut pg_sys::Query, AttrNumber), Made>,
    /// Recursive CTEs that are being traced, with the lineage of their columns found so far.
    unsettled: FxHashMap<*mut pg_sys::Query, Vec<Made>>,
}

impl Tracer {
    /// Returns a relation as described by the catalogue, and locks it.
    ///
    /// # Safety
    /// `oid` is the OID of a relation.
    unsafe fn relation(&mut self, oid: Oid) -> Rc<Stored> {
        // SAFETY: the relation exists by the contract, and is closed only after its last use.
        unsafe {
            if let Some(known) = self.relations.get(&oid) {
                return Rc::clone(known);
            }
            let relation = pg_sys::relation_open(oid, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
            let stored = Rc::new(Stored {
                columns: stored_columns(oid, relation),
                definition: definition(relation),
                has_action_rules: rules(relation)
                    .iter()
                    .any(|rule| (**rule).event != CmdType::CMD_SELECT),
            });
            // The lock is kept, so that the relation does not change before the query runs.
            pg_sys::relation_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
            self.relations.insert(oid, Rc::clone(&stored));
            stored
        }
    }

    /// Returns the lineage of an output column of a query.
    ///
    /// # Safety
    /// `query` is a valid query, and `parent` the scope around it.
    unsafe fn output(
        &mut self,
        query: *mut pg_sys::Query,
        parent: Option<&Scope>,
        column: AttrNumber,
    ) -> Made {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            look_around();
            if let Some(known) = self.known.get(&(query, column)) {
                return known.clone();
            }
            let scope = Scope {
                query,
                parent,
                returning: (*query).commandType != CmdType::CMD_SELECT,
            };
            let mut made = if (*query).setOperations.is_null() {
                match output_entries(query)
                    .into_iter()
                    .find(|entry| (**entry).resno == column)
                {
                    Some(entry) => self.expression(&scope, (*entry).expr.cast()),
                    None => Made::unknown(),
                }
            } else {
                self.set_operation(&scope, (*query).setOperations, column)
            };
            made.unknown |= self.is_replaced_by_rules(query);
            self.known.insert((query, column), made.clone());
            made
        }
    }

    /// Returns the merged lineage of all output columns of a query.
    unsafe fn outputs(&mut self, query: *mut pg_sys::Query, parent: Option<&Scope>) -> Made {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            if let Some(known) = self.known.get(&(query, WHOLE_ROW)) {
                return known.clone();
            }
            let mut all = Made::default();
            for entry in output_entries(query) {
                all.of(self.output(query, parent, (*entry).resno));
            }
            self.known.insert((query, WHOLE_ROW), all.clone());
            all
        }
    }

    /// Returns the merged lineage of a column of all arms of a set operation.
    unsafe fn set_operation(&mut self, scope: &Scope, arm: *mut pg_sys::Node, column: AttrNumber) -> Made {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            look_around();
            if (*arm).type_ == NodeTag::T_RangeTblRef {
                let index = (*arm.cast::<pg_sys::RangeTblRef>()).rtindex;
                let entry = range_table_entry(scope.query, index);
                let query = (*entry).subquery;
                let mut made = self.output(query, Some(scope), column);
                made.where_put_by(self.conditions(&Scope {
                    query,
                    parent: Some(scope),
                    returning: false,
                }));
                return made;
            }
            let operation = arm.cast::<pg_sys::SetOperationStmt>();
            let mut made = self.set_operation(scope, (*operation).larg, column);
            made.or(self.set_operation(scope, (*operation).rarg, column));
            made
        }
    }

    /// Returns the lineage of an expression.
    ///
    /// # Safety
    /// `expression` is NULL or an expression of the scope's query.
    unsafe fn expression(&mut self, scope: &Scope, expression: *mut pg_sys::Node) -> Made {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            if !expression.is_null() && (*expression).type_ == NodeTag::T_Var {
                return self.variable(scope, expression.cast());
            }
            let mut walk = Walk {
                tracer: self,
                scope: *scope,
                made: Made::default(),
            };
            collect_origins(expression, &mut walk);
            walk.made
        }
    }

    unsafe fn variable(&mut self, scope: &Scope, variable: *mut pg_sys::Var) -> Made {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            look_around();
            let Some(scope) = scope.up((*variable).varlevelsup) else {
                return Made::unknown();
            };
            let mut made = self.column(scope, (*variable).varno as c_int, (*variable).varattno);
            made.where_put_by(self.pairing(scope));
            made
        }
    }

    /// Returns the lineage of the conditions that decide how rows of joined relations are paired.
    unsafe fn pairing(&mut self, scope: &Scope) -> Made {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            let query = scope.query;
            if from_item(query).is_some() {
                return Made::default();
            }
            // The key is 0, which is not the number of a column.
            if let Some(known) = self.known.get(&(query, 0)) {
                return known.clone();
            }
            // The conditions refer to columns of the same joins. The empty entry ends that recursion.
            self.known.insert((query, 0), Made::default());
            let conditions = self.conditions(&scope.outside_returning());
            self.known.insert((query, 0), conditions.clone());
            conditions
        }
    }

    /// Returns the lineage of all conditions that decide which rows a query returns and how it joins
    /// relations.
    unsafe fn conditions(&mut self, scope: &Scope) -> Made {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            let query = scope.query;
            let mut made = self.expression(scope, (*query).jointree.cast());
            made.of(self.expression(scope, (*query).havingQual));
            #[cfg(any(feature = "pg17", feature = "pg18"))]
            made.of(self.expression(scope, (*query).mergeJoinCondition));
            #[cfg(not(feature = "pg14"))]
            for action in list::<pg_sys::MergeAction>((*query).mergeActionList) {
                made.of(self.expression(scope, (*action).qual));
            }
            for entry in list::<pg_sys::RangeTblEntry>((*query).rtable) {
                if (*entry).lateral && (*entry).rtekind == RTEKind::RTE_SUBQUERY {
                    made.of(self.expression(scope, (*entry).subquery.cast()));
                }
            }
            made
        }
    }

    /// Returns the lineage of a column of a range table entry. Column 0 is the whole row.
    unsafe fn column(&mut self, scope: &Scope, index: c_int, column: AttrNumber) -> Made {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            let entry = range_table_entry(scope.query, index);
            let outside = scope.outside_returning();
            match (*entry).rtekind {
                RTEKind::RTE_RELATION => {
                    let mut made = self.relation_column((*entry).relid, column);
                    if let Some(written) = self.written(scope, index, column) {
                        made.of(written);
                        made.plain = None;
                    }
                    made.through(entry)
                }
                // A transition table has the columns of its table.
                RTEKind::RTE_NAMEDTUPLESTORE if (*entry).relid != Oid::INVALID => {
                    self.relation_column((*entry).relid, column).through(entry)
                }
                RTEKind::RTE_SUBQUERY if column > 0 => self
                    .output((*entry).subquery, Some(&outside), column)
                    .through(entry),
                RTEKind::RTE_SUBQUERY => self.outputs((*entry).subquery, Some(&outside)).through(entry),
                RTEKind::RTE_CTE => self.cte_column(&outside, entry, column).through(entry),
                RTEKind::RTE_JOIN => self.nth_expression(&outside, (*entry).joinaliasvars, column),
                RTEKind::RTE_FUNCTION => self.function_column(&outside, entry, column),
                RTEKind::RTE_TABLEFUNC => self.expression(&outside, (*entry).tablefunc.cast()),
                RTEKind::RTE_VALUES => {
                    let mut made = Made::default();
                    for row in list::<pg_sys::List>((*entry).values_lists) {
                        made.of(self.nth_expression(&outside, row, column));
                    }
                    made
                }
                #[cfg(feature = "pg18")]
                RTEKind::RTE_GROUP => self.nth_expression(&outside, (*entry).groupexprs, column),
                _ => Made::unknown(),
            }
        }
    }

    /// Returns the lineage of the expression at a position, from 1, or the merged lineage of all for position
    /// 0.
    unsafe fn nth_expression(
        &mut self,
        scope: &Scope,
        expressions: *mut pg_sys::List,
        position: AttrNumber,
    ) -> Made {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            let expressions = list::<pg_sys::Node>(expressions);
            if position > 0 {
                return match expressions.get(position as usize - 1) {
                    Some(&expression) => self.expression(scope, expression),
                    None => Made::unknown(),
                };
            }
            let mut all = Made::default();
            for expression in expressions {
                all.of(self.expression(scope, expression));
            }
            all
        }
    }

    unsafe fn relation_column(&mut self, oid: Oid, column: AttrNumber) -> Made {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            look_around();
            let relation = self.relation(oid);
            if column == 0 {
                let mut row = Made::default();
                for &column in relation.columns.keys() {
                    row.of(self.relation_column(oid, column));
                }
                return row;
            }
            let name = match relation.columns.get(&column) {
                Some(stored) => stored.name.clone(),
                None if column < 0 => {
                    text((*pg_sys::SystemAttributeDefinition(column)).attname.data.as_ptr())
                }
                None => return Made::unknown(),
            };
            let mut made = if relation.definition.is_null() {
                let place = Place {
                    path: 0,
                    relation: oid.to_u32(),
                };
                Made {
                    stored_in: Some(place.path),
                    places: BTreeSet::from([place]),
                    ..Made::default()
                }
            } else {
                self.output(relation.definition, None, column)
            };
            let sources = relation.columns.get(&column).map(|stored| &stored.generated_from);
            for &source in sources.into_iter().flatten() {
                made.of(self.relation_column(oid, source));
            }
            let origin = Origin {
                relation: oid,
                column: name,
            };
            made.plain.get_or_insert_with(|| origin.clone());
            made.origins.insert(origin);
            made
        }
    }

    /// Returns the lineage of the values that the statement itself writes into a column of its target, if
    /// RETURNING or `excluded` refer to them.
    unsafe fn written(&mut self, scope: &Scope, index: c_int, column: AttrNumber) -> Option<Made> {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            let query = scope.query;
            let conflict = (*query).onConflict;
            let mut lists = Vec::new();
            if !conflict.is_null() && index == (*conflict).exclRelIndex {
                lists.push((*query).targetList);
            } else if scope.returning && index == (*query).resultRelation {
                lists.push((*query).targetList);
                if !conflict.is_null() {
                    lists.push((*conflict).onConflictSet);
                }
                #[cfg(not(feature = "pg14"))]
                for action in list::<pg_sys::MergeAction>((*query).mergeActionList) {
                    lists.push((*action).targetList);
                }
            }
            let outside = scope.outside_returning();
            let mut written = None;
            for entry in lists
                .into_iter()
                .flat_map(|entries| list::<pg_sys::TargetEntry>(entries))
            {
                // The subquery of SET (a, b) = (SELECT …) is in a junk entry of its own.
                if column == 0 || (*entry).resno == column || (*entry).resjunk {
                    let made = self.expression(&outside, (*entry).expr.cast());
                    written.get_or_insert_with(Made::default).of(made);
                }
            }
            written
        }
    }

    unsafe fn cte_column(
        &mut self,
        scope: &Scope,
        entry: *mut pg_sys::RangeTblEntry,
        column: AttrNumber,
    ) -> Made {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            let Some((home, cte)) = find_cte(scope, entry) else {
                return Made::unknown();
            };
            let query = (*cte).ctequery.cast::<pg_sys::Query>();
            let width = output_entries(query).len() as AttrNumber;
            if column < 1 || column > width {
                // The whole row, or a column that SEARCH or CYCLE adds.
                let mut all = Made::default();
                for column in 1..=width {
                    all.of(self.cte_column(scope, entry, column));
                }
                return all;
            }
            if (*cte).cterecursive {
                return self.recursive_column(query, &home, column, width);
            }
            self.output(query, Some(&home), column)
        }
    }

    /// Returns the lineage of a column of a recursive CTE. The columns are also made of themselves, so all
    /// are traced repeatedly until a fixed point is reached.
    unsafe fn recursive_column(
        &mut self,
        query: *mut pg_sys::Query,
        home: &Scope,
        column: AttrNumber,
        width: AttrNumber,
    ) -> Made {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            let position = column as usize - 1;
            if let Some(so_far) = self.unsettled.get(&query) {
                return so_far[position].clone();
            }
            if let Some(known) = self.known.get(&(query, column)) {
                return known.clone();
            }
            let mut columns = vec![Made::default(); width as usize];
            loop {
                self.unsettled.insert(query, columns.clone());
                // Lineage found during this iteration is preliminary, so it is discarded afterwards.
                let known = self.known.clone();
                let next: Vec<Made> = (1..=width)
                    .map(|column| self.output(query, Some(home), column))
                    .collect();
                self.known = known;
                if next == columns {
                    break;
                }
                columns = next;
            }
            self.unsettled.remove(&query);
            let made = columns[position].clone();
            let columns = (1..=width).map(|column| (query, column)).zip(columns);
            self.known.extend(columns);
            made
        }
    }

    /// Returns the lineage of a column of functions in FROM. ROWS FROM concatenates the columns of several
    /// functions.
    unsafe fn function_column(
        &mut self,
        scope: &Scope,
        entry: *mut pg_sys::RangeTblEntry,
        column: AttrNumber,
    ) -> Made {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            let mut all = Made::default();
            let mut last = 0;
            for function in list::<pg_sys::RangeTblFunction>((*entry).functions) {
                let made = self.expression(scope, function.cast());
                let first = last + 1;
                last += (*function).funccolcount;
                if (first..=last).contains(&c_int::from(column)) {
                    return made;
                }
                all.of(made);
            }
            // The whole row, or the column of WITH ORDINALITY, which tells how many rows the functions
            // return.
            all
        }
    }

    /// Returns whether a rewrite rule may return other columns than the statement.
    unsafe fn is_replaced_by_rules(&mut self, query: *mut pg_sys::Query) -> bool {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            let target = (*query).resultRelation;
            target > 0
                && self
                    .relation((*range_table_entry(query, target)).relid)
                    .has_action_rules
        }
    }

    /// Returns [`Lineage::rows_once`] for a query.
    unsafe fn rows_once(&mut self, query: *mut pg_sys::Query, parent: Option<&Scope>) -> bool {
        // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
        unsafe {
            look_around();
            let multiplies = !(*query).setOperations.is_null()
                || (*query).hasTargetSRFs
                || !(*query).groupingSets.is_null()
                || pg_sys::checkExprHasSubLink((*query).targetList.cast())
                || pg_sys::checkExprHasSubLink((*query).returningList.cast())
                || self.is_replaced_by_rules(query);
            if multiplies {
                return false;
            }
            let Some(entry) = from_item(query) else {
                return false;
            };
            let scope = Scope {
                query,
                parent,
                returning: false,
            };
            match (*entry).rtekind {
                RTEKind::RTE_RELATION => {
                    let definition = self.relation((*entry).relid).definition;
                    definition.is_null() || self.rows_once(definition, None)
                }
                RTEKind::RTE_NAMEDTUPLESTORE => true,
                RTEKind::RTE_SUBQUERY => self.rows_once((*entry).subquery, Some(&scope)),
                RTEKind::RTE_CTE => match find_cte(&scope, entry) {
                    Some((home, cte)) => {
                        !(*cte).cterecursive && self.rows_once((*cte).ctequery.cast(), Some(&home))
                    }
                    None => false,
                },
                _ => false,
            }
        }
    }
}

/// Raises an ERROR if the stack is nearly full or the statement is cancelled. Not inlined, so that the frames
/// of the recursive tracer stay small.
#[inline(never)]
unsafe fn look_around() {
    // SAFETY: no preconditions; an ERROR unwinds as a panic.
    unsafe {
        pg_sys::check_stack_depth();
        pgrx::check_for_interrupts!();
    }
}

/// Returns the CTE that a range table entry refers to, and the scope of the query that defines it.
unsafe fn find_cte<'a>(
    scope: &'a Scope<'a>,
    entry: *mut pg_sys::RangeTblEntry,
) -> Option<(Scope<'a>, *mut pg_sys::CommonTableExpr)> {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe {
        let home = scope.up((*entry).ctelevelsup)?.outside_returning();
        let name = CStr::from_ptr((*entry).ctename);
        list::<pg_sys::CommonTableExpr>((*home.query).cteList)
            .into_iter()
            .find(|cte| CStr::from_ptr((**cte).ctename) == name)
            .map(|cte| (home, cte))
    }
}

/// Walk through an expression that collects its lineage.
struct Walk<'a> {
    tracer: &'a mut Tracer,
    scope: Scope<'a>,
    made: Made,
}

/// Callback for Postgres' tree walkers. Rust code calls [`collect_origins`] instead, because this function
/// turns a panic into an ERROR, which would jump over Rust frames.
#[pg_guard]
unsafe extern "C-unwind" fn origins_callback(node: *mut pg_sys::Node, walk: *mut c_void) -> bool {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe { collect_origins(node, &mut *walk.cast()) }
}

unsafe fn collect_origins(node: *mut pg_sys::Node, walk: &mut Walk) -> bool {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe {
        if node.is_null() {
            return false;
        }
        match (*node).type_ {
            NodeTag::T_Var => {
                let made = walk.tracer.variable(&walk.scope, node.cast());
                walk.made.of(made);
                return false;
            }
            // A query within an expression. All of it counts, because its conditions reveal as much as its
            // columns: EXISTS (SELECT WHERE zip = '1') is equivalent to zip = '1'.
            NodeTag::T_Query => {
                let query = node.cast();
                let mut inner = Walk {
                    tracer: &mut *walk.tracer,
                    scope: Scope {
                        query,
                        parent: Some(&walk.scope),
                        returning: false,
                    },
                    made: Made::default(),
                };
                pg_sys::query_tree_walker(
                    query,
                    Some(origins_callback),
                    (&raw mut inner).cast(),
                    pg_sys::QTW_IGNORE_JOINALIASES as c_int,
                );
                let made = inner.made;
                walk.made.of(made);
                return false;
            }
            // The rank within a window reveals the columns by which the window is ordered.
            NodeTag::T_WindowFunc => {
                let function = node.cast::<pg_sys::WindowFunc>();
                walk.made.windowed |= !(*function).args.is_null() || !(*function).aggfilter.is_null();
                for expression in window_expressions(walk.scope.query, node.cast()) {
                    collect_origins(expression, walk);
                }
            }
            NodeTag::T_RangeTblFunction => {
                let function = node.cast::<pg_sys::RangeTblFunction>();
                walk.made.unknown |= calls_unknown_function((*function).funcexpr);
            }
            _ => {}
        }
        pg_sys::expression_tree_walker(node, Some(origins_callback), ptr::from_mut(walk).cast())
    }
}

/// Returns whether an expression calls a function that Postgres may expand into a query, or that does not
/// come with Postgres.
unsafe fn calls_unknown_function(node: *mut pg_sys::Node) -> bool {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe {
        if node.is_null() {
            return false;
        }
        if (*node).type_ == NodeTag::T_FuncExpr {
            let function = (*node.cast::<pg_sys::FuncExpr>()).funcid;
            let is_own = pg_sys::get_func_namespace(function).to_u32() == pg_sys::PG_CATALOG_NAMESPACE;
            let is_sql = PgProc::new(function).is_none_or(|entry| entry.prolang() == SQL_LANGUAGE);
            if !is_own || is_sql {
                return true;
            }
        }
        pg_sys::expression_tree_walker(node, Some(unknown_function_callback), ptr::null_mut())
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn unknown_function_callback(
    node: *mut pg_sys::Node,
    _nothing: *mut c_void,
) -> bool {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe { calls_unknown_function(node) }
}

/// Returns the expressions that partition, order and bound the window of a window function.
unsafe fn window_expressions(
    query: *mut pg_sys::Query,
    function: *mut pg_sys::WindowFunc,
) -> Vec<*mut pg_sys::Node> {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe {
        let mut expressions = Vec::new();
        for window in list::<pg_sys::WindowClause>((*query).windowClause) {
            if (*window).winref != (*function).winref {
                continue;
            }
            for clauses in [(*window).partitionClause, (*window).orderClause] {
                for clause in list::<pg_sys::SortGroupClause>(clauses) {
                    let entry = pg_sys::get_sortgroupclause_tle(clause, (*query).targetList);
                    expressions.push((*entry).expr.cast());
                }
            }
            expressions.extend([(*window).startOffset, (*window).endOffset]);
        }
        expressions
    }
}

/// Walk through queries that collects the relations.
struct Readings<'a> {
    tracer: &'a mut Tracer,
    found: FxHashSet<Oid>,
}

/// Returns [`Lineage::relations`] for queries.
unsafe fn relations(tracer: &mut Tracer, queries: impl Iterator<Item = *mut pg_sys::Query>) -> Vec<Oid> {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe {
        let mut readings = Readings {
            tracer,
            found: FxHashSet::default(),
        };
        for query in queries {
            collect_relations(query.cast(), &mut readings);
        }
        let mut found: Vec<Oid> = readings.found.into_iter().collect();
        found.sort_by_key(|oid| oid.to_u32());
        found
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn relations_callback(node: *mut pg_sys::Node, readings: *mut c_void) -> bool {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe { collect_relations(node, &mut *readings.cast()) }
}

unsafe fn collect_relations(node: *mut pg_sys::Node, readings: &mut Readings) -> bool {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe {
        if node.is_null() {
            return false;
        }
        match (*node).type_ {
            NodeTag::T_RangeTblEntry => {
                let oid = (*node.cast::<pg_sys::RangeTblEntry>()).relid;
                if oid != Oid::INVALID && readings.found.insert(oid) {
                    let definition = readings.tracer.relation(oid).definition;
                    collect_relations(definition.cast(), readings);
                }
                false
            }
            NodeTag::T_Query => pg_sys::query_tree_walker(
                node.cast(),
                Some(relations_callback),
                ptr::from_mut(readings).cast(),
                pg_sys::QTW_EXAMINE_RTES_BEFORE as c_int,
            ),
            _ => {
                pg_sys::expression_tree_walker(node, Some(relations_callback), ptr::from_mut(readings).cast())
            }
        }
    }
}

/// Returns the target entries of a query's output columns.
unsafe fn output_entries(query: *mut pg_sys::Query) -> Vec<*mut pg_sys::TargetEntry> {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe {
        let entries = match (*query).commandType {
            CmdType::CMD_SELECT => (*query).targetList,
            _ => (*query).returningList,
        };
        let mut entries = list::<pg_sys::TargetEntry>(entries);
        entries.retain(|entry| !(**entry).resjunk);
        entries
    }
}

/// Returns the only FROM item of a query, or `None` if there are none or several.
unsafe fn from_item(query: *mut pg_sys::Query) -> Option<*mut pg_sys::RangeTblEntry> {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe {
        // The target of MERGE is joined, but not in FROM.
        #[cfg(not(feature = "pg14"))]
        if (*query).commandType == CmdType::CMD_MERGE {
            return None;
        }
        let from = (*query).jointree;
        if from.is_null() {
            return None;
        }
        match list::<pg_sys::Node>((*from).fromlist)[..] {
            [item] if (*item).type_ == NodeTag::T_RangeTblRef => {
                let index = (*item.cast::<pg_sys::RangeTblRef>()).rtindex;
                Some(range_table_entry(query, index))
            }
            _ => None,
        }
    }
}

unsafe fn range_table_entry(query: *mut pg_sys::Query, index: c_int) -> *mut pg_sys::RangeTblEntry {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe { list((*query).rtable)[index as usize - 1] }
}

/// Returns the columns of an open relation that are not dropped.
unsafe fn stored_columns(oid: Oid, relation: pg_sys::Relation) -> BTreeMap<AttrNumber, StoredColumn> {
    // SAFETY: the relation is open, and the column numbers are those of its descriptor.
    unsafe {
        let mut columns = BTreeMap::new();
        for column in 1..=(*(*relation).rd_att).natts as AttrNumber {
            // A dropped column has no type.
            if pg_sys::get_atttype(oid, column) == Oid::INVALID {
                continue;
            }
            let generated_from = match pg_sys::get_attgenerated(oid, column) {
                0 => Vec::new(),
                _ => columns_in(pg_sys::build_column_default(relation, column.into())),
            };
            let stored = StoredColumn {
                name: text(pg_sys::get_attname(oid, column, false)),
                generated_from,
            };
            columns.insert(column, stored);
        }
        columns
    }
}

/// Returns the numbers of the columns in an expression over one relation.
unsafe fn columns_in(expression: *mut pg_sys::Node) -> Vec<AttrNumber> {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe {
        let mut members = ptr::null_mut();
        pg_sys::pull_varattnos(expression, 1, &mut members);
        let mut columns = Vec::new();
        let mut member = pg_sys::bms_next_member(members, -1);
        while member >= 0 {
            columns.push((member + pg_sys::FirstLowInvalidHeapAttributeNumber) as AttrNumber);
            member = pg_sys::bms_next_member(members, member);
        }
        columns
    }
}

/// Returns the query of a view or materialized view, with all its relations locked, or NULL for other
/// relations.
unsafe fn definition(relation: pg_sys::Relation) -> *mut pg_sys::Query {
    // SAFETY: the relation is open, so its rules are valid.
    unsafe {
        let rules = rules(relation);
        let Some(rule) = rules.iter().find(|rule| (***rule).event == CmdType::CMD_SELECT) else {
            return ptr::null_mut();
        };
        let query = copy(list((**rule).actions)[0]);
        pg_sys::AcquireRewriteLocks(query, true, false);
        query
    }
}

unsafe fn rules<'a>(relation: pg_sys::Relation) -> &'a [*mut pg_sys::RewriteRule] {
    // SAFETY: the relation is open, and `rules` has `numLocks` elements.
    unsafe {
        let rules = (*relation).rd_rules;
        if rules.is_null() {
            return &[];
        }
        std::slice::from_raw_parts((*rules).rules, (*rules).numLocks as usize)
    }
}

unsafe fn copy(query: *mut pg_sys::Query) -> *mut pg_sys::Query {
    // SAFETY: the pointers are nodes of a valid query tree, see the top of this file.
    unsafe { pg_sys::copyObjectImpl(query.cast()).cast() }
}

/// Returns the pointers in a list.
///
/// # Safety
/// `list` is a list of pointers to `T`, or NIL.
pub unsafe fn list<T>(list: *mut pg_sys::List) -> Vec<*mut T> {
    // SAFETY: by the contract of the function.
    unsafe { entries(list).collect() }
}

/// Returns an iterator over the pointers in a list.
///
/// # Safety
/// `list` is a list of pointers to `T`, or NIL, and outlives the iterator.
pub unsafe fn entries<T>(list: *mut pg_sys::List) -> impl Iterator<Item = *mut T> {
    // SAFETY: by the contract of the function; the list has `length` elements.
    unsafe {
        let length = if list.is_null() {
            0
        } else {
            (*list).length as usize
        };
        (0..length).map(move |position| (*(*list).elements.add(position)).ptr_value.cast())
    }
}

/// Returns a name as a string, which is empty for NULL.
unsafe fn text(name: *const c_char) -> String {
    // SAFETY: `name` is NULL or a C string in a live memory context, and is copied.
    unsafe {
        if name.is_null() {
            return String::new();
        }
        CStr::from_ptr(name).to_string_lossy().into_owned()
    }
}
