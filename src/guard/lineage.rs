//! Where the columns of a query come from, and what it reads at all.
//!
//! Columns are followed through the query as it was analysed, before views are expanded, so that a policy
//! may be on a view as well as on what is under it. Where it is not certain that a column is not used, it is
//! counted. What only decides which rows there are (WHERE, HAVING, DISTINCT, LIMIT) is not part of a column;
//! [`Lineage::relations`] has it.

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

/// The OID of LANGUAGE sql, the same in every database.
const SQL_LANGUAGE: Oid = Oid::from_u32(14);

/// A column that an output column is made of. Views are both: the view's own column, and what that is made
/// of. So are materialized views and generated columns.
///
/// By name, because in an inheritance tree the names agree, the numbers do not.
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

/// A column of what a query returns.
pub struct OutputColumn {
    pub name: String,
    pub type_oid: Oid,
    pub typmod: i32,
    /// Sorted, without duplicates. Empty: made of nothing that is stored.
    pub origins: Vec<Origin>,
    /// Columns that are no part of the value, but decide which value stands in which row: those in the
    /// conditions of joins, and of the arms of a set operation. A join with a list of codes turns a diagnosis
    /// into a code that has no origin. Sorted, without those in `origins`.
    pub paired_by: Vec<Origin>,
    /// A column of that relation as it is, at most renamed, through any number of subqueries, CTEs and views:
    /// the one that is furthest down.
    pub plain: Option<Origin>,
    /// In which place that column stands: columns of one place and one row come from one stored row.
    pub stored_in: Option<u64>,
    /// The places that the value comes from, or what decides where it stands.
    pub places: Vec<Place>,
    /// A window function may have put values of other rows into it.
    pub windowed: bool,
    /// May be made of anything: it comes out of a function in FROM, which Postgres may expand into a query of
    /// its own, or a rewrite rule puts something else in its place.
    pub unknown: bool,
}

impl OutputColumn {
    /// A column of a relation as it is stored.
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

/// A stored relation where it stands in FROM: in FROM patients p, patients q there are two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub path: u64,
    relation: u32,
}

impl Place {
    pub fn relation(self) -> Oid {
        Oid::from_u32(self.relation)
    }

    /// The same, where `path` is seen as something else.
    fn seen_as(self, path: impl FnOnce(u64) -> u64) -> Self {
        Place {
            path: path(self.path),
            ..self
        }
    }
}

/// A path that leads on from another.
fn path_of(from: u64, on: u64) -> u64 {
    let mut hasher = FxHasher::default();
    (from, on).hash(&mut hasher);
    hasher.finish()
}

/// Where what a query returns comes from.
pub struct Lineage {
    pub columns: Vec<OutputColumn>,
    /// Every relation that is read anywhere in the query, or written by it: also if only in WHERE, by a row
    /// security policy, in a view or under it. Sorted. Without the children of a parent.
    pub relations: Vec<Oid>,
    /// Whether each row of a stored relation gives at most one row: there is one relation, and no join, set
    /// operation, grouping set or set-returning function on the way; no output column looks into a relation
    /// of its own.
    pub rows_once: bool,
}

/// Parse analysis of a raw statement, which stays as it is. `source` is the text that it was parsed from.
///
/// # Safety
/// A raw statement such as a SelectStmt, not wrapped in a RawStmt, and a C string.
pub unsafe fn analyse(statement: *mut pg_sys::Node, source: *const c_char) -> *mut pg_sys::Query {
    // SAFETY: by the contract, these are nodes of a valid query tree.
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

/// What Postgres makes of a query by rules, views and row security policies.
///
/// # Safety
/// An analysed query that is not yet rewritten. It stays as it is.
pub unsafe fn rewrite(query: *mut pg_sys::Query) -> Vec<*mut pg_sys::Query> {
    // SAFETY: by the contract, these are nodes of a valid query tree.
    unsafe {
        let query = copy(query);
        pg_sys::AcquireRewriteLocks(query, true, false);
        list(pg_sys::QueryRewrite(query))
    }
}

/// The lineage of a SELECT, or of an INSERT, UPDATE, DELETE or MERGE with RETURNING. Of a utility statement
/// there is none: EXECUTE and CREATE TABLE AS have a query inside, for the caller to find.
///
/// # Safety
/// An analysed query that is not yet rewritten. It stays as it is.
pub unsafe fn trace(query: *mut pg_sys::Query) -> Lineage {
    // SAFETY: by the contract, these are nodes of a valid query tree.
    unsafe {
        let rewritten = rewrite(query);
        let query = copy(query);
        let mut tracer = Tracer::default();
        let is_replaced = tracer.is_replaced_by_rules(query);
        // A rule may return other columns than the statement, even where that has no RETURNING.
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
        // Views are in the query as it was analysed; row security policies and rules only in the rewritten one.
        let everywhere = rewritten.into_iter().chain([query]);
        Lineage {
            columns,
            relations: relations(&mut tracer, everywhere),
            rows_once,
        }
    }
}

/// What a column or an expression is made of.
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

    /// It is made of `other`, too. Whether it is a plain column is for the caller to say.
    fn of(&mut self, other: Made) {
        self.origins.extend(other.origins);
        self.paired_by.extend(other.paired_by);
        self.places.extend(other.places);
        self.windowed |= other.windowed;
        self.unknown |= other.unknown;
    }

    /// It stands where `conditions` put it. Whatever those are made of, its values are known.
    fn where_put_by(&mut self, conditions: Made) {
        self.paired_by.extend(conditions.origins);
        self.paired_by.extend(conditions.paired_by);
        self.places.extend(conditions.places);
    }

    /// It is seen through an entry of the range table.
    unsafe fn through(mut self, entry: *mut pg_sys::RangeTblEntry) -> Self {
        // SAFETY: by the contract, these are nodes of a valid query tree.
        unsafe {
            let here = entry as u64;
            if (*entry).self_reference {
                // What recursion brings along may be from any row of any round.
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

    /// It comes from one arm of a set operation or the other. Columns that share their places in both arms
    /// share one here.
    fn or(&mut self, other: Made) {
        /// More places than people write; a query could be made to have any number.
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

/// A query within those that it may refer to.
#[derive(Clone, Copy)]
struct Scope<'a> {
    query: *mut pg_sys::Query,
    parent: Option<&'a Scope<'a>>,
    /// The expression is in RETURNING: the target's columns are what was just written.
    returning: bool,
}

impl<'a> Scope<'a> {
    fn up(&'a self, levels: pg_sys::Index) -> Option<&'a Scope<'a>> {
        (0..levels).try_fold(self, |scope, _| scope.parent)
    }

    /// The same query, seen from its other clauses.
    fn outside_returning(self) -> Self {
        Scope {
            returning: false,
            ..self
        }
    }
}

/// Stands for all output columns of a query in [`Tracer::known`]: no column has this number.
const WHOLE_ROW: AttrNumber = AttrNumber::MIN;

/// What the catalogue says of a relation.
struct Stored {
    columns: BTreeMap<AttrNumber, StoredColumn>,
    /// NULL but for views and materialized views.
    definition: *mut pg_sys::Query,
    /// A rewrite rule may do something else than the INSERT, UPDATE or DELETE that is asked for.
    has_action_rules: bool,
}

struct StoredColumn {
    name: String,
    /// Columns of the same relation.
    generated_from: Vec<AttrNumber>,
}

#[derive(Default)]
struct Tracer {
    relations: FxHashMap<Oid, Rc<Stored>>,
    /// Output columns of queries that are known by now, so that what is used often is followed once.
    known: FxHashMap<(*mut pg_sys::Query, AttrNumber), Made>,
    /// Recursive CTEs that are being followed: what is known of their columns so far.
    unsettled: FxHashMap<*mut pg_sys::Query, Vec<Made>>,
}

impl Tracer {
    /// # Safety
    /// The OID of a relation.
    unsafe fn relation(&mut self, oid: Oid) -> Rc<Stored> {
        // SAFETY: by the contract, these are nodes of a valid query tree.
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
            // The lock stays, so that what was found here still holds when the query runs.
            pg_sys::relation_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
            self.relations.insert(oid, Rc::clone(&stored));
            stored
        }
    }

    /// An output column of a query.
    ///
    /// # Safety
    /// A query and the scope around it.
    unsafe fn output(
        &mut self,
        query: *mut pg_sys::Query,
        parent: Option<&Scope>,
        column: AttrNumber,
    ) -> Made {
        // SAFETY: by the contract, these are nodes of a valid query tree.
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

    /// All output columns of a query.
    unsafe fn outputs(&mut self, query: *mut pg_sys::Query, parent: Option<&Scope>) -> Made {
        // SAFETY: by the contract, these are nodes of a valid query tree.
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

    /// A column of all arms of a set operation.
    unsafe fn set_operation(&mut self, scope: &Scope, arm: *mut pg_sys::Node, column: AttrNumber) -> Made {
        // SAFETY: by the contract, these are nodes of a valid query tree.
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

    /// # Safety
    /// An expression of the scope's query.
    unsafe fn expression(&mut self, scope: &Scope, expression: *mut pg_sys::Node) -> Made {
        // SAFETY: by the contract, these are nodes of a valid query tree.
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
        // SAFETY: by the contract, these are nodes of a valid query tree.
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

    /// What decides how the rows of joined relations meet.
    unsafe fn pairing(&mut self, scope: &Scope) -> Made {
        // SAFETY: by the contract, these are nodes of a valid query tree.
        unsafe {
            let query = scope.query;
            if from_item(query).is_some() {
                return Made::default();
            }
            // No column has the number 0.
            if let Some(known) = self.known.get(&(query, 0)) {
                return known.clone();
            }
            // The conditions are about columns of the same joins, which need not add what is being added.
            self.known.insert((query, 0), Made::default());
            let conditions = self.conditions(&scope.outside_returning());
            self.known.insert((query, 0), conditions.clone());
            conditions
        }
    }

    /// All that decides which rows a query returns, or makes of joined relations.
    unsafe fn conditions(&mut self, scope: &Scope) -> Made {
        // SAFETY: by the contract, these are nodes of a valid query tree.
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

    /// A column of an entry of the range table; 0 is the whole row.
    unsafe fn column(&mut self, scope: &Scope, index: c_int, column: AttrNumber) -> Made {
        // SAFETY: by the contract, these are nodes of a valid query tree.
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
                // A transition table: the columns are those of its table.
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

    /// The expression at a position from 1, or all of them.
    unsafe fn nth_expression(
        &mut self,
        scope: &Scope,
        expressions: *mut pg_sys::List,
        position: AttrNumber,
    ) -> Made {
        // SAFETY: by the contract, these are nodes of a valid query tree.
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
        // SAFETY: by the contract, these are nodes of a valid query tree.
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

    /// What the statement itself writes into a column of its target, as RETURNING and `excluded` show it.
    unsafe fn written(&mut self, scope: &Scope, index: c_int, column: AttrNumber) -> Option<Made> {
        // SAFETY: by the contract, these are nodes of a valid query tree.
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
                // What SET (a, b) = (SELECT …) assigns is in an entry of its own, out of the way.
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
        // SAFETY: by the contract, these are nodes of a valid query tree.
        unsafe {
            let Some((home, cte)) = find_cte(scope, entry) else {
                return Made::unknown();
            };
            let query = (*cte).ctequery.cast::<pg_sys::Query>();
            let width = output_entries(query).len() as AttrNumber;
            if column < 1 || column > width {
                // The whole row, or what SEARCH or CYCLE adds.
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

    /// A recursive CTE's columns are made of themselves, too: follow them until nothing new turns up.
    unsafe fn recursive_column(
        &mut self,
        query: *mut pg_sys::Query,
        home: &Scope,
        column: AttrNumber,
        width: AttrNumber,
    ) -> Made {
        // SAFETY: by the contract, these are nodes of a valid query tree.
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
                // What is found on the way is true for this round only.
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

    /// A column of functions in FROM, which stand side by side in ROWS FROM.
    unsafe fn function_column(
        &mut self,
        scope: &Scope,
        entry: *mut pg_sys::RangeTblEntry,
        column: AttrNumber,
    ) -> Made {
        // SAFETY: by the contract, these are nodes of a valid query tree.
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
            // The whole row, or WITH ORDINALITY, which tells how many rows they return.
            all
        }
    }

    /// Whether a rewrite rule may return something else than the statement says.
    unsafe fn is_replaced_by_rules(&mut self, query: *mut pg_sys::Query) -> bool {
        // SAFETY: by the contract, these are nodes of a valid query tree.
        unsafe {
            let target = (*query).resultRelation;
            target > 0
                && self
                    .relation((*range_table_entry(query, target)).relid)
                    .has_action_rules
        }
    }

    /// See [`Lineage::rows_once`].
    unsafe fn rows_once(&mut self, query: *mut pg_sys::Query, parent: Option<&Scope>) -> bool {
        // SAFETY: by the contract, these are nodes of a valid query tree.
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

/// Ends the trace with an ERROR where the stack is nearly full, or where somebody wants the statement to end. Not
/// inlined, so that the frames of the tracer, which is recursive, stay small.
#[inline(never)]
unsafe fn look_around() {
    // SAFETY: by the contract, these are nodes of a valid query tree.
    unsafe {
        pg_sys::check_stack_depth();
        pgrx::check_for_interrupts!();
    }
}

/// The CTE that an entry of the range table stands for, and the query that defines it.
unsafe fn find_cte<'a>(
    scope: &'a Scope<'a>,
    entry: *mut pg_sys::RangeTblEntry,
) -> Option<(Scope<'a>, *mut pg_sys::CommonTableExpr)> {
    // SAFETY: by the contract, these are nodes of a valid query tree.
    unsafe {
        let home = scope.up((*entry).ctelevelsup)?.outside_returning();
        let name = CStr::from_ptr((*entry).ctename);
        list::<pg_sys::CommonTableExpr>((*home.query).cteList)
            .into_iter()
            .find(|cte| CStr::from_ptr((**cte).ctename) == name)
            .map(|cte| (home, cte))
    }
}

/// A walk through an expression that collects what it is made of.
struct Walk<'a> {
    tracer: &'a mut Tracer,
    scope: Scope<'a>,
    made: Made,
}

/// For Postgres to call; Rust calls [`collect_origins`], because an ERROR leaves this one by a jump.
#[pg_guard]
unsafe extern "C-unwind" fn origins_callback(node: *mut pg_sys::Node, walk: *mut c_void) -> bool {
    // SAFETY: by the contract, these are nodes of a valid query tree.
    unsafe { collect_origins(node, &mut *walk.cast()) }
}

unsafe fn collect_origins(node: *mut pg_sys::Node, walk: &mut Walk) -> bool {
    // SAFETY: by the contract, these are nodes of a valid query tree.
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
            // A query within an expression. All of it counts, because its conditions tell as much as its
            // columns: EXISTS (SELECT WHERE zip = '1') is like zip = '1'.
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
            // The rank within a window tells what the window is ordered by.
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

/// Whether a function is called that Postgres may expand into a query, or that is not its own.
unsafe fn calls_unknown_function(node: *mut pg_sys::Node) -> bool {
    // SAFETY: by the contract, these are nodes of a valid query tree.
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
    // SAFETY: by the contract, these are nodes of a valid query tree.
    unsafe { calls_unknown_function(node) }
}

/// What the window of a window function is divided, ordered and bounded by.
unsafe fn window_expressions(
    query: *mut pg_sys::Query,
    function: *mut pg_sys::WindowFunc,
) -> Vec<*mut pg_sys::Node> {
    // SAFETY: by the contract, these are nodes of a valid query tree.
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

/// A walk through queries that collects the relations.
struct Readings<'a> {
    tracer: &'a mut Tracer,
    found: FxHashSet<Oid>,
}

/// See [`Lineage::relations`].
unsafe fn relations(tracer: &mut Tracer, queries: impl Iterator<Item = *mut pg_sys::Query>) -> Vec<Oid> {
    // SAFETY: by the contract, these are nodes of a valid query tree.
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
    // SAFETY: by the contract, these are nodes of a valid query tree.
    unsafe { collect_relations(node, &mut *readings.cast()) }
}

unsafe fn collect_relations(node: *mut pg_sys::Node, readings: &mut Readings) -> bool {
    // SAFETY: by the contract, these are nodes of a valid query tree.
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

/// The entries that a query returns.
unsafe fn output_entries(query: *mut pg_sys::Query) -> Vec<*mut pg_sys::TargetEntry> {
    // SAFETY: by the contract, these are nodes of a valid query tree.
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

/// What stands in FROM, if it is one thing and nothing is joined to it.
unsafe fn from_item(query: *mut pg_sys::Query) -> Option<*mut pg_sys::RangeTblEntry> {
    // SAFETY: by the contract, these are nodes of a valid query tree.
    unsafe {
        // Its target is not in FROM, but joined.
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
    // SAFETY: by the contract, these are nodes of a valid query tree.
    unsafe { list((*query).rtable)[index as usize - 1] }
}

/// The live columns of an open relation.
unsafe fn stored_columns(oid: Oid, relation: pg_sys::Relation) -> BTreeMap<AttrNumber, StoredColumn> {
    // SAFETY: by the contract, these are nodes of a valid query tree.
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

/// The columns in an expression over one relation.
unsafe fn columns_in(expression: *mut pg_sys::Node) -> Vec<AttrNumber> {
    // SAFETY: by the contract, these are nodes of a valid query tree.
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

/// The query of a view or materialized view, all relations of it locked; else NULL.
unsafe fn definition(relation: pg_sys::Relation) -> *mut pg_sys::Query {
    // SAFETY: by the contract, these are nodes of a valid query tree.
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
    // SAFETY: by the contract, these are nodes of a valid query tree.
    unsafe {
        let rules = (*relation).rd_rules;
        if rules.is_null() {
            return &[];
        }
        std::slice::from_raw_parts((*rules).rules, (*rules).numLocks as usize)
    }
}

unsafe fn copy(query: *mut pg_sys::Query) -> *mut pg_sys::Query {
    // SAFETY: by the contract, these are nodes of a valid query tree.
    unsafe { pg_sys::copyObjectImpl(query.cast()).cast() }
}

/// The pointers in a list; none in NIL.
///
/// # Safety
/// A list of pointers to `T`, or NIL.
pub unsafe fn list<T>(list: *mut pg_sys::List) -> Vec<*mut T> {
    // SAFETY: by the contract, these are nodes of a valid query tree.
    unsafe { entries(list).collect() }
}

/// [`list`], one after another.
///
/// # Safety
/// As for [`list`]; the list lives as long as the iterator.
pub unsafe fn entries<T>(list: *mut pg_sys::List) -> impl Iterator<Item = *mut T> {
    // SAFETY: by the contract, these are nodes of a valid query tree.
    unsafe {
        let length = if list.is_null() {
            0
        } else {
            (*list).length as usize
        };
        (0..length).map(move |position| (*(*list).elements.add(position)).ptr_value.cast())
    }
}

/// A name; none is empty.
unsafe fn text(name: *const c_char) -> String {
    // SAFETY: by the contract, these are nodes of a valid query tree.
    unsafe {
        if name.is_null() {
            return String::new();
        }
        CStr::from_ptr(name).to_string_lossy().into_owned()
    }
}
