//! Values as text that means the same in every session.

use super::ColumnType;
use crate::error::Problem;
use pgrx::pg_sys::{self, Datum};
use std::ffi::{CStr, CString};

/// Prints and reads the values of a type, whatever the session's settings are.
pub struct Literals {
    output: pg_sys::FmgrInfo,
    input: pg_sys::FmgrInfo,
    parameter: pg_sys::Oid,
    _pinned: Option<Pinned>,
}

impl Literals {
    /// While it lives, settings that texts depend on are pinned. It lives no longer than the current memory context.
    pub fn of(column: &ColumnType) -> Self {
        let mut output = pg_sys::FmgrInfo::default();
        let mut input = pg_sys::FmgrInfo::default();
        let mut parameter = pg_sys::InvalidOid;
        // SAFETY: catalogue look-ups, which raise an ERROR where there is no such type.
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
            _pinned: (!is_plain(column.oid)).then(Pinned::new),
        }
    }

    /// # Safety
    /// A valid Datum of the type.
    pub unsafe fn print(&mut self, value: Datum) -> String {
        let printed = pg_sys::OutputFunctionCall(&mut self.output, value);
        let bytes = CStr::from_ptr(printed).to_bytes();
        if str::from_utf8(bytes).is_err() {
            // "char" can be half a character. This raises an ERROR.
            pg_sys::pg_verifymbstr(printed, bytes.len() as i32, false);
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        pg_sys::pfree(printed.cast());
        text
    }

    /// The value of a text, in the current memory context.
    pub fn parse(&mut self, text: &str) -> Result<Datum, Problem> {
        let text = CString::new(text).map_err(|_| disclosure::wire::Damaged)?;
        // SAFETY: the type's own input function, which says what is wrong with a text.
        Ok(unsafe {
            pg_sys::InputFunctionCall(&mut self.input, text.as_ptr().cast_mut(), self.parameter, -1)
        })
    }
}

/// Whether no setting has an influence on the texts of a type. Most items are of these types.
fn is_plain(oid: pg_sys::Oid) -> bool {
    matches!(
        oid,
        pg_sys::INT2OID
            | pg_sys::INT4OID
            | pg_sys::INT8OID
            | pg_sys::NUMERICOID
            | pg_sys::TEXTOID
            | pg_sys::VARCHAROID
            | pg_sys::BPCHAROID
            | pg_sys::NAMEOID
            | pg_sys::BOOLOID
            | pg_sys::UUIDOID
    )
}

/// What texts depend on, and what it has to be.
const SETTINGS: [(&CStr, &CStr); 10] = [
    (c"array_nulls", c"on"),
    (c"bytea_output", c"hex"),
    (c"DateStyle", c"ISO, MDY"),
    (c"extra_float_digits", c"1"),
    (c"IntervalStyle", c"postgres"),
    (c"lc_monetary", c"C"),
    (c"quote_all_identifiers", c"off"),
    (c"search_path", c"pg_catalog, pg_temp"),
    (c"TimeZone", c"GMT"),
    (c"xmloption", c"content"),
];

/// While this lives, [`SETTINGS`] hold.
struct Pinned(i32);

impl Pinned {
    fn new() -> Self {
        // SAFETY: known settings and valid values; `drop` puts back what was changed, or the end of the transaction
        // if there is an ERROR before.
        unsafe {
            let pinned = Pinned(pg_sys::NewGUCNestLevel());
            for (name, wanted) in SETTINGS {
                let now = pg_sys::GetConfigOption(name.as_ptr(), false, false);
                if now.is_null() || CStr::from_ptr(now) != wanted {
                    pg_sys::set_config_option(
                        name.as_ptr(),
                        wanted.as_ptr(),
                        pg_sys::GucContext::PGC_USERSET,
                        pg_sys::GucSource::PGC_S_SESSION,
                        // Which is allowed in parallel workers too.
                        pg_sys::GucAction::GUC_ACTION_SAVE,
                        true,
                        0,
                        false,
                    );
                }
            }
            pinned
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: the level that `new` has entered; what was entered later has been left.
        unsafe { pg_sys::AtEOXact_GUC(true, self.0) }
    }
}
