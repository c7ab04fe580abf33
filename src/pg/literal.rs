//! Values as text that means the same in every session. While values are printed and read, the settings that
//! their text depends on are pinned.

use crate::error::Error;
use crate::guc::{Pinned, Setting};
use crate::pg::types::ColumnType;
use pgrx::pg_sys::{self, Datum};
use std::ffi::{CStr, CString};

/// Printer and parser of the values of one type, independent of the session's settings.
pub struct Literals {
    output: pg_sys::FmgrInfo,
    input: pg_sys::FmgrInfo,
    parameter: pg_sys::Oid,
    _pinned: Option<Pinned>,
}

impl Literals {
    /// Returns the literals of a column's type. While they live, the settings that the text depends on are
    /// pinned. They must not outlive the current memory context.
    pub fn of(column: &ColumnType) -> Self {
        let mut output = pg_sys::FmgrInfo::default();
        let mut input = pg_sys::FmgrInfo::default();
        let mut parameter = pg_sys::InvalidOid;
        // SAFETY: an unknown type raises an ERROR; the calls fill the variables passed to them.
        unsafe {
            let mut function = pg_sys::InvalidOid;
            let mut is_varlena = false;
            pg_sys::getTypeOutputInfo(column.oid, &mut function, &mut is_varlena);
            pg_sys::fmgr_info(function, &mut output);
            pg_sys::getTypeInputInfo(column.oid, &mut function, &mut parameter);
            pg_sys::fmgr_info(function, &mut input);
        }
        Literals {
            output,
            input,
            parameter,
            _pinned: pinned(column.oid),
        }
    }

    /// Passes the text of a value to `then`.
    ///
    /// # Safety
    /// `value` must be a valid Datum of the type.
    pub unsafe fn print(&mut self, value: Datum, then: impl FnOnce(&str)) {
        // SAFETY: by the contract of the function.
        unsafe {
            let printed = pg_sys::OutputFunctionCall(&mut self.output, value);
            let bytes = CStr::from_ptr(printed).to_bytes();
            match str::from_utf8(bytes) {
                Ok(text) => then(text),
                // A value of type "char" can be one byte of a longer character. This raises an ERROR.
                Err(_) => drop(pg_sys::pg_verifymbstr(printed, bytes.len() as i32, false)),
            }
            pg_sys::pfree(printed.cast());
        }
    }

    /// Returns the value of a text, in the current memory context. The type's input function raises an ERROR
    /// if the text is not a value of the type.
    pub fn parse(&mut self, text: &str) -> Result<Datum, Error> {
        let text = CString::new(text).map_err(|_| disclosure::byte_format::DamagedBytes)?;
        // SAFETY: the function is the type's own input function, and the text is NUL-terminated.
        Ok(unsafe {
            pg_sys::InputFunctionCall(&mut self.input, text.as_ptr().cast_mut(), self.parameter, -1)
        })
    }
}

const BYTEA_OUTPUT: Setting = (c"bytea_output", c"hex");
const DATE_STYLE: Setting = (c"DateStyle", c"ISO, MDY");
const EXTRA_FLOAT_DIGITS: Setting = (c"extra_float_digits", c"1");
const INTERVAL_STYLE: Setting = (c"IntervalStyle", c"postgres");
const TIME_ZONE: Setting = (c"TimeZone", c"GMT");

/// Settings that the text of any type can depend on.
const ALL: [Setting; 10] = [
    BYTEA_OUTPUT,
    DATE_STYLE,
    EXTRA_FLOAT_DIGITS,
    INTERVAL_STYLE,
    TIME_ZONE,
    (c"array_nulls", c"on"),
    (c"lc_monetary", c"C"),
    (c"quote_all_identifiers", c"off"),
    (c"search_path", c"pg_catalog, pg_temp"),
    (c"xmloption", c"content"),
];

/// Pins the settings that the text of a type depends on, if any, until the guard is dropped.
pub fn pinned(oid: pg_sys::Oid) -> Option<Pinned> {
    Some(settings_of(oid))
        .filter(|settings| !settings.is_empty())
        .map(Pinned::new)
}

/// Returns the settings that the text of a type depends on. Most items are of types that depend on none.
fn settings_of(oid: pg_sys::Oid) -> &'static [Setting] {
    match oid {
        pg_sys::INT2OID
        | pg_sys::INT4OID
        | pg_sys::INT8OID
        | pg_sys::NUMERICOID
        | pg_sys::TEXTOID
        | pg_sys::VARCHAROID
        | pg_sys::BPCHAROID
        | pg_sys::NAMEOID
        | pg_sys::BOOLOID
        | pg_sys::UUIDOID => &[],
        pg_sys::BYTEAOID => &[BYTEA_OUTPUT],
        pg_sys::FLOAT4OID | pg_sys::FLOAT8OID => &[EXTRA_FLOAT_DIGITS],
        pg_sys::DATEOID | pg_sys::TIMESTAMPOID => &[DATE_STYLE],
        pg_sys::TIMESTAMPTZOID => &[DATE_STYLE, TIME_ZONE],
        pg_sys::INTERVALOID => &[INTERVAL_STYLE],
        _ => &ALL,
    }
}
