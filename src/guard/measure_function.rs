//! A measure that somebody has written: which function it is, with whose rights it runs, and when it stops.
//!
//! It is stored by its signature and its owner and found again by exactly these. It belongs to whoever has defined the policy,
//! or to a superuser, and runs with the rights of whoever has defined the policy: never with those of whoever exports or owns
//! the relation by now, and never with those of a superuser who has not asked for it.

use crate::error::Problem;
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

/// What to give as a measure.
pub const MEASURES: &str = "Give privacy_score, k_anonymity, expected_cracks, or a function that takes the text of a query and returns a number.";

/// The function that a policy names.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureFunction {
    /// Schema and name, quoted, and the type of its argument.
    pub signature: String,
    /// Who owned it when the policy was defined.
    pub owner: Oid,
    /// Who has defined the policy.
    pub maker: Oid,
}

/// The function itself, which may be called.
pub struct Found {
    oid: Oid,
    /// With whose rights.
    pub runs_as: Oid,
    result: Oid,
}

/// What a measure takes.
const ARGUMENT: &str = "(text)";

/// Types that a measure may have.
const NUMBERS: [Oid; 6] = [
    pg_sys::INT2OID,
    pg_sys::INT4OID,
    pg_sys::INT8OID,
    pg_sys::FLOAT4OID,
    pg_sys::FLOAT8OID,
    pg_sys::NUMERICOID,
];

impl MeasureFunction {
    /// Returns the function that the calling user means by `measure`, looked up in their search_path.
    pub fn named(measure: &str) -> Result<Self, Problem> {
        let given = match measure.contains('(') {
            true => measure.to_string(),
            false => format!("{measure}(pg_catalog.text)"),
        };
        let Some(function) = look_up(&given) else {
            return Err(Problem::argument(
                "measure",
                format!("there is no function {measure}"),
                MEASURES,
            ));
        };
        if !is_measure(&function) {
            return Err(Problem::argument(
                "measure",
                format!("{measure} does not return a number"),
                MEASURES,
            ));
        }
        Ok(MeasureFunction {
            signature: rights::under_own_settings(|| signature_of(function.oid()))
                .ok_or(Problem::Internal("a function has no signature"))?,
            owner: function.proowner(),
            // SAFETY: reads what this backend knows of itself.
            maker: unsafe { pg_sys::GetUserId() },
        })
    }

    /// Schema and name, quoted.
    pub fn name(&self) -> &str {
        self.signature.strip_suffix(ARGUMENT).unwrap_or(&self.signature)
    }

    /// Returns the function if it may measure `relation` now, else why it may not. What was true when the policy was defined
    /// may have changed since.
    pub fn find(&self, relation: Oid) -> Result<Result<Found, String>, Problem> {
        // As the guard, because not everybody may look into the function's schema.
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
                "function {signature} has another owner than when the policy was defined"
            ));
        }
        // SAFETY: catalogue look-ups, which know no role that does not exist.
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
    /// Calls it with the text of a query. It is guarded like any other reader.
    pub fn call(&self, query: &str) -> Result<Option<f64>, Problem> {
        let query = query
            .into_datum()
            .ok_or(Problem::Internal("a text could not be made"))?;
        // SAFETY: `find` has seen that it takes a text and returns a number.
        sandbox::run(|| rights::run_measure(self.runs_as, || unsafe { self.invoke(query) }))
    }

    /// Calls the function by its OID, so that nobody can put another in its place.
    ///
    /// # Safety
    /// The function takes one text and returns a value of type `self.result`, one of [`NUMBERS`].
    unsafe fn invoke(&self, query: Datum) -> Result<Option<f64>, Problem> {
        // SAFETY: by the contract of the function.
        unsafe {
            let mut function = pg_sys::FmgrInfo::default();
            pg_sys::fmgr_info(self.oid, &mut function);
            let entry = function
                .fn_addr
                .ok_or(Problem::Internal("a function has no entry point"))?;
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

    /// Whether reading values of a type runs nothing that others than a superuser or the role with whose rights the function
    /// runs have written: whoever owns a type can define casts for it.
    pub fn trusts_type(&self, oid: Oid) -> bool {
        oid.to_u32() < pg_sys::FirstNormalObjectId
            || owner_of_type(oid).is_some_and(|owner| {
                // SAFETY: a catalogue look-up.
                owner == self.runs_as || unsafe { pg_sys::superuser_arg(owner) }
            })
    }
}

/// Whether a function takes a text and returns a number. Those of the extension itself are none.
fn is_measure(function: &PgProc) -> bool {
    // SAFETY: catalogue look-ups.
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

/// The function with a signature that was made by [`signature_of`]. Not by reading the signature, which raises an error if it is
/// none, and names may have changed since.
fn function_with(signature: &str) -> Result<Option<PgProc>, Problem> {
    const QUERY: &str = "
        SELECT p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
         WHERE p.proargtypes = '25' AND format('%I.%I(text)', n.nspname, p.proname) = $1";
    let mut parameters = Parameters::default();
    parameters.add(
        pg_sys::TEXTOID,
        signature
            .into_datum()
            .ok_or(Problem::Internal("a text could not be made"))?,
    );
    let found = oids(QUERY, &parameters)?;
    Ok(found.first().and_then(|&oid| PgProc::new(oid)))
}

/// Looks a function up as the caller of `protect` gave it. Raises an error if that cannot be one.
fn look_up(signature: &str) -> Option<PgProc> {
    // SAFETY: a text for a text; the answer is an OID or NULL.
    let oid = unsafe { direct_function_call::<Oid>(pg_sys::to_regprocedure, &[signature.into_datum()]) };
    PgProc::new(oid?)
}

/// Schema, name and argument type of a measure, as [`MeasureFunction::signature`] has them.
fn signature_of(function: Oid) -> Option<String> {
    // SAFETY: catalogue look-ups, which return NULL for what does not exist; the texts are copied.
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
    // SAFETY: a catalogue look-up; the tuple is released before returning.
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
