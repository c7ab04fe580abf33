//! Conversion of values to JSON.

use crate::encode::dictionary::Dictionary;
use disclosure::NULL;
use pgrx::pg_sys;
use serde_json::{Number, Value};

/// Returns the value of a code as JSON: numbers and booleans as such, and anything else as text. A number
/// becomes text too if it would change as a JSON number in Rust.
pub fn value_json(dictionary: &Dictionary, code: u32) -> Value {
    if code == NULL {
        return Value::Null;
    }
    let text = || dictionary.text(code).unwrap_or_default();
    let bits = || dictionary.value(code).value() as u64;
    match dictionary.column().base_type() {
        pg_sys::BOOLOID => Value::Bool(bits() != 0),
        pg_sys::INT2OID | pg_sys::INT4OID | pg_sys::INT8OID => Value::from(bits() as i64),
        pg_sys::FLOAT8OID => finite(f64::from_bits(bits())).unwrap_or_else(|| text().into()),
        // The digits of the float4 itself, not those of the nearest float8.
        pg_sys::FLOAT4OID => f32::from_bits(bits() as u32)
            .to_string()
            .parse()
            .ok()
            .and_then(finite)
            .unwrap_or_else(|| text().into()),
        pg_sys::NUMERICOID => {
            let text = text();
            number(&text).unwrap_or(text.into())
        }
        _ => text().into(),
    }
}

/// Returns a float8 as a JSON number; `None` if it is not finite. Whole numbers below 1e15 have no decimal
/// point, as people write them.
fn finite(number: f64) -> Option<Value> {
    let is_whole = number.fract() == 0.0 && number.abs() < 1e15;
    match Number::from_f64(number)? {
        _ if is_whole => Some(Value::from(number as i64)),
        number => Some(Value::Number(number)),
    }
}

/// Returns a numeric as a JSON number; `None` if it is NaN or infinite, or if neither int8 nor float8 can
/// hold it.
fn number(text: &str) -> Option<Value> {
    let digits = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    };
    if let Ok(integer) = digits.parse::<i64>() {
        return Some(integer.into());
    }
    let number = digits.parse::<f64>().ok()?;
    let is_same = number.to_string() == digits;
    finite(number).filter(|_| is_same)
}
