//! jsonb as arguments and results. Any legal value is accepted, unless it is nested too deep for serde_json.
//! Numbers keep all their digits (serde_json's feature `arbitrary_precision`).

use crate::error::Error;
use pgrx::callconv::{Arg, ArgAbi, BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use pgrx::prelude::*;
use pgrx::{direct_function_call_as_datum, pgrx_resolved_type};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::ffi::{CStr, CString};

/// jsonb argument, as text.
pub struct JsonText(String);

impl JsonText {
    /// Number of nested levels of arrays and objects that serde_json reads.
    const DEEPEST: usize = 127;

    /// Parses the text. `argument` is the name of the argument.
    pub fn value(&self, argument: &'static str) -> Result<Value, Error> {
        if depth(&self.0) > Self::DEEPEST {
            return Err(Error::TooDeep {
                argument,
                limit: Self::DEEPEST,
            });
        }
        // The only other values that serde_json refuses are objects with a key that it reserves.
        serde_json::from_str(&self.0).map_err(|_| {
            Error::argument(
                argument,
                "has a reserved key",
                "Rename keys that begin with $serde_json.",
            )
        })
    }
}

/// Returns the number of nested levels of arrays and objects in valid JSON.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    let mut bytes = json.bytes();
    let mut in_string = false;
    while let Some(byte) = bytes.next() {
        match (in_string, byte) {
            (true, b'\\') => drop(bytes.next()),
            (_, b'"') => in_string = !in_string,
            (false, b'[' | b'{') => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

impl FromDatum for JsonText {
    unsafe fn from_polymorphic_datum(value: pg_sys::Datum, is_null: bool, _: pg_sys::Oid) -> Option<Self> {
        // SAFETY: by the contract of the function.
        unsafe {
            if is_null {
                return None;
            }
            let printed: *mut std::ffi::c_char =
                direct_function_call_as_datum(pg_sys::jsonb_out, &[Some(value)])?.cast_mut_ptr();
            let text = CStr::from_ptr(printed).to_string_lossy().into_owned();
            pg_sys::pfree(printed.cast());
            Some(JsonText(text))
        }
    }
}

// SAFETY: the argument is read as jsonb, the type that is declared below.
unsafe impl<'fcx> ArgAbi<'fcx> for JsonText {
    unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
        // SAFETY: by the contract of the function.
        unsafe {
            arg.unbox_arg_using_from_datum()
                .unwrap_or(JsonText("null".into()))
        }
    }
}

/// Reads an argument that is an object of options; those that are left out have their defaults. An error
/// message names the option but not its value, which serde's own messages would quote.
pub fn options<T: DeserializeOwned + Default>(
    argument: &'static str,
    given: Option<Value>,
    hint: &'static str,
) -> Result<T, Error> {
    let invalid = |problem: String| Error::argument(argument, problem, hint);
    let keys = match given {
        None | Some(Value::Null) => return Ok(T::default()),
        Some(Value::Object(keys)) => keys,
        Some(_) => return Err(invalid("is not a JSON object".into())),
    };
    for (key, value) in &keys {
        let alone = Value::Object([(key.clone(), value.clone())].into_iter().collect());
        let read = T::deserialize(alone);
        if matches!(&read, Err(error) if error.to_string().starts_with("unknown field")) {
            return Err(invalid(format!("\"{key}\" is not an option")));
        }
        if read.is_err() || value.is_null() {
            return Err(invalid(format!("\"{key}\" has an invalid value")));
        }
    }
    T::deserialize(Value::Object(keys)).map_err(|_| invalid("is not a valid object of options".into()))
}

/// jsonb result.
pub struct Json(pub Value);

impl IntoDatum for Json {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        let text = CString::new(self.0.to_string()).ok()?; // JSON has no NUL
        // SAFETY: jsonb_in takes a C string, and the text outlives the call.
        unsafe { direct_function_call_as_datum(pg_sys::jsonb_in, &[Some(text.as_ptr().into())]) }
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::JSONBOID
    }
}

// SAFETY: the Datum is jsonb, the type that is declared below.
unsafe impl BoxRet for Json {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        // SAFETY: by the contract of the function.
        unsafe {
            match self.into_datum() {
                Some(value) => fcinfo.return_raw_datum(value),
                None => fcinfo.return_null(),
            }
        }
    }
}

macro_rules! is_jsonb {
    ($rust:ident) => {
        // SAFETY: the type is read from and written as jsonb.
        unsafe impl SqlTranslatable for $rust {
            const TYPE_IDENT: &'static str = pgrx_resolved_type!($rust);
            const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
            const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = Ok(SqlMappingRef::literal("jsonb"));
            const RETURN_SQL: Result<ReturnsRef, ReturnsError> =
                Ok(ReturnsRef::One(SqlMappingRef::literal("jsonb")));
        }
    };
}
is_jsonb!(Json);
is_jsonb!(JsonText);
