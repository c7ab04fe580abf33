//! Functions, operators and types that the query of an export may use.
//!
//! `functions.txt` lists the built-in functions; its header has the criteria. Superusers add functions of
//! extensions to `disclosure.trusted_functions`. The walk over the query asks about every function and about
//! the type of every expression: polymorphic functions on the list call the comparison, input and output
//! functions of the types that they are given, so they are safe only because those types were checked.

use crate::error::Error;
use crate::guard::rights;
use crate::pg::query::{self, Answer, Parameters};
use pgrx::pg_catalog::pg_proc::PgProc;
use pgrx::pg_sys::{self, BuiltinOid, Datum, Node, Oid};
use pgrx::prelude::*;
use rustc_hash::FxHashSet;
use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::OnceLock;

/// Line of the list: a built-in function that the query of an export may call. Tests compare the signatures and
/// families with the catalogue.
#[derive(Debug)]
#[cfg_attr(not(feature = "probe"), allow(dead_code))]
pub struct Listed {
    pub oid: u32,
    /// Signature as regprocedure prints it.
    pub signature: &'static str,
    pub family: &'static str,
    /// Arguments, from 0, that must not depend on a column, because they choose how much work is done.
    pub constants: Vec<usize>,
}

/// Returns the list, in the order of the OIDs.
pub fn list() -> &'static [Listed] {
    static LIST: OnceLock<Vec<Listed>> = OnceLock::new();
    LIST.get_or_init(|| {
        let lines = include_str!("functions.txt").lines();
        let mut list: Vec<Listed> = lines.filter_map(Listed::parse).collect();
        list.sort_by_key(|listed| listed.oid);
        list
    })
}

impl Listed {
    /// Returns the function in a line; `None` for a comment. A line that cannot be read is not on the list,
    /// and the test `regress/language` would miss it.
    fn parse(line: &'static str) -> Option<Self> {
        let mut fields = line.split('\t');
        let oid = fields.next()?.parse().ok()?;
        let (signature, family) = (fields.next()?, fields.next()?);
        let places = fields.next().unwrap_or_default().split(',');
        let constants = places.filter_map(|place| place.parse::<usize>().ok()?.checked_sub(1));
        Some(Listed {
            oid,
            signature,
            family,
            constants: constants.collect(),
        })
    }
}

fn find(function: Oid) -> Option<&'static Listed> {
    let place = list().binary_search_by_key(&function.to_u32(), |listed| listed.oid);
    place.ok().map(|place| &list()[place])
}

/// Returns whether a built-in function is on the list.
pub fn is_listed(function: Oid) -> bool {
    find(function).is_some()
}

/// Returns the arguments of a listed function, from 0, whose expressions must contain no column. They choose
/// how much is computed, for example a pattern or a length.
pub fn constant_arguments(function: Oid) -> &'static [usize] {
    find(function).map_or(&[], |listed| &listed.constants)
}

/// Returns why a built-in function is not on the list and what to use instead, as sentences for a HINT. `None` if
/// nothing special is known about it.
pub fn advice(function: Oid) -> Option<String> {
    // SAFETY: both accept any OID; the name is NULL or a NUL-terminated string in the current memory context.
    let name = unsafe {
        if pg_sys::get_func_namespace(function).to_u32() != pg_sys::PG_CATALOG_NAMESPACE {
            return None;
        }
        let name = pg_sys::get_func_name(function);
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())?
    };
    refused().find_map(|(names, why, instead)| {
        let is_meant = names.split(' ').any(|refused| refused == name);
        is_meant.then(|| format!("{name} {why}. {instead}"))
    })
}

/// Returns the lines of `refused.txt`: names of functions, why they are not on the list, what to use instead.
pub fn refused() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let lines = include_str!("refused.txt").lines();
    lines.filter_map(|line| {
        let mut fields = line.split('\t');
        Some((fields.next()?, fields.next()?, fields.next()?))
    })
}

/// Returns the functions that superusers trust, as far as they exist and still qualify. Reads the table every
/// time, because exports are rare.
pub fn trusted() -> Result<FxHashSet<Oid>, Error> {
    let query = "SELECT f.function \
                   FROM disclosure.trusted_functions t, disclosure_internal.trusted_function(t.signature) f \
                  WHERE f.problem IS NULL";
    rights::as_guard(|| {
        let functions = query::oids(query, &Parameters::default())?;
        Ok(functions.into_iter().collect())
    })
}

/// Built-in types that exports may contain. Equal bytes of a value of these types give equal text and equal
/// binary output, and each has an `=` that is at least as coarse.
const TYPES: [BuiltinOid; 26] = [
    BuiltinOid::BOOLOID,
    BuiltinOid::BYTEAOID,
    BuiltinOid::CHAROID,
    BuiltinOid::NAMEOID,
    BuiltinOid::INT8OID,
    BuiltinOid::INT2OID,
    BuiltinOid::INT4OID,
    BuiltinOid::TEXTOID,
    BuiltinOid::OIDOID,
    BuiltinOid::FLOAT4OID,
    BuiltinOid::FLOAT8OID,
    BuiltinOid::MONEYOID,
    BuiltinOid::MACADDROID,
    BuiltinOid::INETOID,
    BuiltinOid::CIDROID,
    BuiltinOid::BPCHAROID,
    BuiltinOid::VARCHAROID,
    BuiltinOid::DATEOID,
    BuiltinOid::TIMEOID,
    BuiltinOid::TIMESTAMPOID,
    BuiltinOid::TIMESTAMPTZOID,
    BuiltinOid::INTERVALOID,
    BuiltinOid::TIMETZOID,
    BuiltinOid::NUMERICOID,
    BuiltinOid::UUIDOID,
    BuiltinOid::JSONBOID,
];

/// Returns `type x` if exports may not contain the type; `None` if they may: built-in types of a fixed list,
/// types whose input function is trusted, enums, and arrays of and domains over such types. The checks of a
/// domain are not considered; see [`domain_checks`].
pub fn type_problem(type_oid: Oid, trusted: &FxHashSet<Oid>) -> Option<String> {
    if is_type_allowed(type_oid, trusted) {
        return None;
    }
    // SAFETY: the name is a NUL-terminated string in the current memory context.
    let name = unsafe { CStr::from_ptr(pg_sys::format_type_be(type_oid)) };
    Some(format!("type {}", name.to_string_lossy()))
}

fn is_type_allowed(type_oid: Oid, trusted: &FxHashSet<Oid>) -> bool {
    let is_listed = |oid: Oid| BuiltinOid::try_from(oid).is_ok_and(|oid| TYPES.contains(&oid));
    // SAFETY: the look-ups accept any type that exists, and the types of a query do.
    let (base, kind, element) = unsafe {
        let base = pg_sys::getBaseType(type_oid);
        (
            base,
            pg_sys::get_typtype(base) as u8,
            pg_sys::get_element_type(base),
        )
    };
    if is_listed(base) || kind == pg_sys::TYPTYPE_ENUM {
        return true;
    }
    if element != Oid::INVALID {
        return is_type_allowed(element, trusted);
    }
    kind == pg_sys::TYPTYPE_BASE && trusted.contains(&input_function(base))
}

fn input_function(type_oid: Oid) -> Oid {
    let (mut function, mut parameter) = (Oid::INVALID, Oid::INVALID);
    // SAFETY: the type exists, and both out-parameters are valid. A shell type raises an ERROR, but no column
    // or expression has one.
    unsafe { pg_sys::getTypeInputInfo(type_oid, &mut function, &mut parameter) };
    function
}

/// Returns the function of an operator that is built in or belongs to a superuser; `None` for others, whose
/// negators and commutators the planner could call instead. The caller asks whether the function is listed or
/// trusted.
pub fn operator_function(operator: Oid) -> Option<Oid> {
    // SAFETY: a tuple of this cache is a row of pg_operator, and it is released after its fields were copied.
    // The look-up accepts any role.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(
            pg_sys::SysCacheIdentifier::OPEROID as c_int,
            Datum::from(operator),
        );
        if tuple.is_null() {
            return None;
        }
        let found = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_operator>();
        let (owner, function) = ((*found).oprowner, (*found).oprcode);
        pg_sys::ReleaseSysCache(tuple);
        (function != Oid::INVALID && pg_sys::superuser_arg(owner)).then_some(function)
    }
}

/// Returns the owner of a function; `None` if it does not exist.
pub fn owner_of(function: Oid) -> Option<Oid> {
    PgProc::new(function).map(|entry| entry.proowner())
}

/// Returns the CHECK expressions of a domain and of the domains that it is made of, newly allocated; none for
/// other types. The node `CoerceToDomainValue` stands for the value in them.
pub fn domain_checks(type_oid: Oid) -> Vec<*mut Node> {
    const QUERY: &str = "WITH RECURSIVE d(oid) AS ( \
            SELECT $1 \
            UNION ALL SELECT t.typbasetype FROM pg_catalog.pg_type t JOIN d ON t.oid OPERATOR(pg_catalog.=) d.oid \
             WHERE t.typtype OPERATOR(pg_catalog.=) 'd') \
         SELECT c.conbin::pg_catalog.text FROM d \
           JOIN pg_catalog.pg_constraint c ON c.contypid OPERATOR(pg_catalog.=) d.oid \
          WHERE c.conbin IS NOT NULL";
    let read = || {
        Spi::connect(|_| {
            let mut parameters = Parameters::default();
            parameters.add(pg_sys::OIDOID, Datum::from(type_oid));
            // SAFETY: SPI is connected, the parameter is an OID, and the query returns one column of type text.
            unsafe {
                let answer = Answer::to(QUERY, &parameters, true)?;
                let checks = (0..answer.rows()).filter_map(|row| answer.get::<String>(row, 0));
                Ok(checks.collect::<Vec<_>>())
            }
        })
    };
    let checks = rights::as_guard(read).unwrap_or_else(Error::raise);
    let checks = checks.into_iter().filter_map(|check| CString::new(check).ok());
    let nodes = checks.map(|check| {
        // SAFETY: the text is an expression that Postgres has stored.
        unsafe { pg_sys::stringToNode(check.as_ptr()) }.cast()
    });
    nodes.collect()
}

/// Returns all functions that a query calls, at any depth and by any kind of node, without duplicates.
///
/// # Safety
/// The query is valid.
pub unsafe fn functions_in(query: *mut pg_sys::Query) -> FxHashSet<Oid> {
    let mut found = FxHashSet::default();
    // SAFETY: by the contract of the function; the context outlives the walk.
    unsafe { find_functions(query.cast(), (&raw mut found).cast()) };
    found
}

#[pg_guard]
unsafe extern "C-unwind" fn find_functions(node: *mut Node, found: *mut c_void) -> bool {
    // SAFETY: the walkers pass NULL or valid nodes, and the context of `functions_in`.
    unsafe {
        if node.is_null() {
            return false;
        }
        if (*node).type_ == pg_sys::NodeTag::T_Query {
            return pg_sys::query_tree_walker(node.cast(), Some(find_functions), found, 0);
        }
        pg_sys::check_functions_in_node(node, Some(add_function), found);
        pg_sys::expression_tree_walker(node, Some(find_functions), found)
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn add_function(function: Oid, found: *mut c_void) -> bool {
    // SAFETY: the context is the set of `functions_in`.
    unsafe { (*found.cast::<FxHashSet<Oid>>()).insert(function) };
    false
}
