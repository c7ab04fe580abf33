//! Measure functions that users wrote: how they are found, with whose rights they run, and when they may not
//! run.
//!
//! A policy stores the signature and the owner of its function, and finds the function by both. The function
//! must belong to the role that defined the policy or to a superuser. It runs with the rights of the role
//! that defined the policy: never with those of the exporting role or of a new owner of the relation, and
//! never with those of a superuser who did not define the policy.

use crate::error::Error;
use crate::guard::{rights, sandbox};
use crate::pg::catalog;
use crate::pg::query::Parameters;
use crate::pg::query::oids;
use pgrx::pg_catalog::pg_proc::{PgProc, ProKind};
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::prelude::*;
use pgrx::spi::quote_qualified_identifier;
use pgrx::{IntoDatum, direct_function_call};
use std::ffi::CStr;

/// Hint that lists the allowed measures.
pub const MEASURES: &str = "Give privacy_score, k_anonymity, expected_cracks, identifier_columns, unlabelled_columns, a \
                            figure of risk_summary or diversity such as prosecutor_average or l_distinct, or a function \
                            that takes the text of a query and returns a number.";

/// Function that a policy names.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureFunction {
    /// Quoted schema and name, followed by the argument type in parentheses.
    pub signature: String,
    /// Owner of the function when the policy was defined.
    pub owner: Oid,
    /// Role that defined the policy.
    pub maker: Oid,
}

/// Function that has been checked and may be called.
pub struct Found {
    oid: Oid,
    /// Role whose rights the function runs with.
    pub runs_as: Oid,
    result: Oid,
}

/// Argument list of every measure function, as part of its signature.
const ARGUMENT: &str = "(text)";

/// Types of numbers, which a measure function may return.
pub const NUMBERS: [Oid; 6] = [
    pg_sys::INT2OID,
    pg_sys::INT4OID,
    pg_sys::INT8OID,
    pg_sys::FLOAT4OID,
    pg_sys::FLOAT8OID,
    pg_sys::NUMERICOID,
];

impl MeasureFunction {
    /// Returns the function that the calling user means by `measure`, looked up in their search_path.
    pub fn named(measure: &str) -> Result<Self, Error> {
        let given = match measure.contains('(') {
            true => measure.to_string(),
            false => format!("{measure}(pg_catalog.text)"),
        };
        let Some(function) = look_up(&given) else {
            return Err(Error::argument(
                "measure",
                format!("function {measure} does not exist"),
                MEASURES,
            ));
        };
        if !is_measure(&function) {
            return Err(Error::argument(
                "measure",
                format!("function {measure} must take a text and return a number"),
                MEASURES,
            ));
        }
        Ok(MeasureFunction {
            signature: rights::under_own_settings(|| signature_of(function.oid()))
                .ok_or(Error::Internal("a function has no signature"))?,
            owner: function.proowner(),
            // SAFETY: only reads a variable of this backend, on its main thread.
            maker: unsafe { pg_sys::GetUserId() },
        })
    }

    /// Returns the quoted schema and name.
    pub fn name(&self) -> &str {
        self.signature.strip_suffix(ARGUMENT).unwrap_or(&self.signature)
    }

    /// Returns the function if it may measure `relation` now, otherwise the reason why it may not. Both
    /// function and roles may have changed since the policy was defined.
    pub fn find(&self, relation: Oid) -> Result<Result<Found, String>, Error> {
        // As the guard, because the current user may lack privileges on the function's schema.
        let function = rights::as_guard(|| function_with(&self.signature))?;
        Ok(self.check(function, relation))
    }

    fn check(&self, function: Option<PgProc>, relation: Oid) -> Result<Found, String> {
        let signature = &self.signature;
        let function = function.ok_or_else(|| format!("function {signature} does not exist"))?;
        if !is_measure(&function) {
            return Err(format!("function {signature} does not return a number"));
        }
        if function.proowner() != self.owner {
            return Err(format!(
                "function {signature} has changed its owner since the policy was defined"
            ));
        }
        // SAFETY: the function was just found, and the look-ups accept any role.
        let (is_trusted, may_execute) = unsafe {
            (
                self.owner == self.maker || pg_sys::superuser_arg(self.owner),
                rights::may_execute(function.oid(), self.maker),
            )
        };
        if !is_trusted {
            return Err(format!(
                "function {signature} belongs neither to the role that defined the policy nor to a superuser"
            ));
        }
        if !may_execute {
            return Err(format!(
                "the role that defined the policy may not execute {signature}"
            ));
        }
        match catalog::owner_of(relation) {
            Some(owner) if rights::has_rights_of(self.maker, owner) => Ok(Found {
                oid: function.oid(),
                runs_as: self.maker,
                result: function.prorettype(),
            }),
            _ => Err(rights::NO_LONGER_OWNS.into()),
        }
    }
}

impl Found {
    /// Calls the function with the text of a query and returns its result. The guard watches what the
    /// function reads, as it does for any other query.
    pub fn call(&self, query: &str) -> Result<Option<f64>, Error> {
        let query = query
            .into_datum()
            .ok_or(Error::Internal("a text could not be made"))?;
        // SAFETY: `find` has verified that the function takes one text and returns one of `NUMBERS`.
        sandbox::run(|| rights::run_measure(self.runs_as, || unsafe { self.invoke(query) }))
    }

    /// Calls the function by its OID, so that no other function can be substituted, and returns its result.
    ///
    /// # Safety
    /// The function takes one text and returns a value of type `self.result`, one of [`NUMBERS`].
    unsafe fn invoke(&self, query: Datum) -> Result<Option<f64>, Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            let mut function = pg_sys::FmgrInfo::default();
            pg_sys::fmgr_info(self.oid, &mut function);
            let entry = function
                .fn_addr
                .ok_or(Error::Internal("a function has no entry point"))?;
            let size = size_of::<pg_sys::FunctionCallInfoBaseData>() + size_of::<pg_sys::NullableDatum>();
            let call = pg_sys::palloc0(size).cast::<pg_sys::FunctionCallInfoBaseData>();
            (*call).flinfo = &mut function;
            (*call).fncollation = pg_sys::DEFAULT_COLLATION_OID;
            (*call).nargs = 1;
            (*(*call).args.as_mut_ptr()).value = query;
            let value = pg_sys::ffi::pg_guard_ffi_boundary(|| entry(call));
            if (*call).isnull {
                return Ok(None);
            }
            Ok(match self.result {
                pg_sys::INT2OID => i16::from_datum(value, false).map(f64::from),
                pg_sys::INT4OID => i32::from_datum(value, false).map(f64::from),
                pg_sys::INT8OID => i64::from_datum(value, false).map(|number| number as f64),
                pg_sys::FLOAT4OID => f32::from_datum(value, false).map(f64::from),
                pg_sys::FLOAT8OID => f64::from_datum(value, false),
                _ => direct_function_call(pg_sys::numeric_float8, &[Some(value)]),
            })
        }
    }

    /// Returns whether the function may read values of a type. The owner of a type can define casts for it,
    /// which would run with the function's rights. So the type must come with Postgres, or belong to the role
    /// that the function runs as or to a superuser.
    pub fn trusts_type(&self, oid: Oid) -> bool {
        oid.to_u32() < pg_sys::FirstNormalObjectId
            || owner_of_type(oid).is_some_and(|owner| {
                // SAFETY: accepts any OID.
                owner == self.runs_as || unsafe { pg_sys::superuser_arg(owner) }
            })
    }
}

/// Returns whether a function can be a measure: it takes one text, returns a number, and does not belong to
/// the extension.
fn is_measure(function: &PgProc) -> bool {
    // SAFETY: the name is NUL-terminated, and the look-ups accept any OID.
    let is_ours = unsafe {
        let extension = pg_sys::get_extension_oid(c"pg_disclosure".as_ptr(), true);
        pg_sys::getExtensionOfObject(pg_sys::ProcedureRelationId, function.oid()) == extension
    };
    !is_ours
        && matches!(function.prokind(), ProKind::Function)
        && !function.proretset()
        && function.proargtypes() == [pg_sys::TEXTOID]
        && NUMBERS.contains(&function.prorettype())
}

/// Returns the function with a signature made by [`signature_of`]. The signature is compared and not parsed,
/// because parsing raises an error if it is invalid, and stored signatures may be outdated.
fn function_with(signature: &str) -> Result<Option<PgProc>, Error> {
    const QUERY: &str = "
        SELECT p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
         WHERE p.proargtypes = '25' AND format('%I.%I(text)', n.nspname, p.proname) = $1";
    let mut parameters = Parameters::default();
    parameters.add(
        pg_sys::TEXTOID,
        signature
            .into_datum()
            .ok_or(Error::Internal("a text could not be made"))?,
    );
    let found = oids(QUERY, &parameters)?;
    Ok(found.first().and_then(|&oid| PgProc::new(oid)))
}

/// Returns the function that the caller of `protect` named, if it exists. Raises an error if the name or the
/// argument list cannot be parsed.
fn look_up(signature: &str) -> Option<PgProc> {
    // SAFETY: `to_regprocedure` takes a text and returns an OID or NULL.
    let oid = unsafe { direct_function_call::<Oid>(pg_sys::to_regprocedure, &[signature.into_datum()]) };
    PgProc::new(oid?)
}

/// Returns the signature of a function in the form of [`MeasureFunction::signature`].
fn signature_of(function: Oid) -> Option<String> {
    // SAFETY: the look-ups return NULL for objects that do not exist, otherwise C strings, which are copied.
    unsafe {
        let schema = pg_sys::get_namespace_name(pg_sys::get_func_namespace(function));
        let name = pg_sys::get_func_name(function);
        if schema.is_null() || name.is_null() {
            return None;
        }
        let text = |text| CStr::from_ptr(text).to_string_lossy();
        let name = quote_qualified_identifier(text(schema), text(name));
        Some(format!("{name}{ARGUMENT}"))
    }
}

fn owner_of_type(oid: Oid) -> Option<Oid> {
    // SAFETY: the tuple is checked for NULL, and read only before it is released.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(
            pg_sys::SysCacheIdentifier::TYPEOID as i32,
            pg_sys::Datum::from(oid),
        );
        if tuple.is_null() {
            return None;
        }
        let owner = (*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_type>()).typowner;
        pg_sys::ReleaseSysCache(tuple);
        Some(owner)
    }
}
