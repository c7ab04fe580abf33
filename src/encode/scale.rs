//! Scales: which types have values that can be converted to numbers, and how.

use super::dictionary::Dictionary;
use crate::error::Error;
use crate::pg::memory_context;
use crate::pg::types::print;
use pgrx::pg_sys::{self, Datum};

/// Conversion of values to numbers, for the types that can be put into bins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    Integer,
    Single,
    Double,
    Numeric,
    /// Number of days.
    Date,
    /// Number of microseconds. As a float, a number of days is not always an exact number of them.
    Timestamp,
}

const MICROSECONDS_PER_DAY: f64 = 86_400_000_000.0;

impl Scale {
    /// Returns the scale of a type; `None` if its values are neither numbers nor points in time.
    pub fn of_type(base_type: pg_sys::Oid) -> Option<Self> {
        match base_type {
            pg_sys::INT2OID | pg_sys::INT4OID | pg_sys::INT8OID => Some(Scale::Integer),
            pg_sys::FLOAT4OID => Some(Scale::Single),
            pg_sys::FLOAT8OID => Some(Scale::Double),
            pg_sys::NUMERICOID => Some(Scale::Numeric),
            pg_sys::DATEOID => Some(Scale::Date),
            pg_sys::TIMESTAMPOID | pg_sys::TIMESTAMPTZOID => Some(Scale::Timestamp),
            _ => None,
        }
    }

    /// Returns the numbers of a dictionary's values, in the order of the codes. The dictionary must be of a
    /// type of this scale.
    pub fn numbers(self, dictionary: &Dictionary) -> Result<Vec<f64>, Error> {
        memory_context::for_each("reading values", 0..dictionary.len(), |value| {
            // SAFETY: the dictionary keeps valid values of its type, which is of this scale.
            Ok(unsafe { self.number(dictionary.value(value + 1)) })
        })
    }

    /// Returns whether values of the type are numbers, not points in time.
    pub fn is_of_numbers(self) -> bool {
        !matches!(self, Scale::Date | Scale::Timestamp)
    }

    /// Returns the number of a value.
    ///
    /// # Safety
    /// `value` must be a valid Datum of a type of this scale.
    pub unsafe fn number(self, value: Datum) -> f64 {
        // SAFETY: by the contract of the function.
        unsafe {
            let bits = value.value() as i64;
            match self {
                Scale::Integer => bits as f64,
                Scale::Single => {
                    // Via its text: a float4 that prints as 0.7 means 0.7, not the float8 equal to it.
                    let number = f32::from_bits(bits as u32);
                    number.to_string().parse().unwrap_or(f64::from(number))
                }
                Scale::Double => f64::from_bits(bits as u64),
                Scale::Numeric => {
                    let float8 = pg_sys::numeric_float8_no_overflow;
                    pgrx::direct_function_call(float8, &[Some(value)]).unwrap_or(f64::NAN)
                }
                Scale::Date => match bits as i32 {
                    i32::MIN => f64::NEG_INFINITY,
                    i32::MAX => f64::INFINITY,
                    days => f64::from(days),
                },
                Scale::Timestamp => match bits {
                    i64::MIN => f64::NEG_INFINITY,
                    i64::MAX => f64::INFINITY,
                    microseconds => microseconds as f64,
                },
            }
        }
    }

    /// Converts a width as the caller gives it, for dates and timestamps in days, to the unit of
    /// [`number`](Self::number).
    pub fn width(self, given: f64) -> f64 {
        match self {
            Scale::Timestamp => (given * MICROSECONDS_PER_DAY).round().max(1.0),
            _ => given,
        }
    }

    /// Returns the bound of a bin as people write it; `oid` is the column's type.
    pub fn bound_text(self, bound: f64, oid: pg_sys::Oid) -> String {
        let (unit, end) = match self {
            Scale::Date => (1.0, pg_sys::DATE_END_JULIAN),
            Scale::Timestamp => (MICROSECONDS_PER_DAY, pg_sys::TIMESTAMP_END_JULIAN),
            _ => return bound.to_string(),
        };
        // The values in the bin are in Postgres's calendar, but the bounds of the bin need not be.
        let first = -f64::from(pg_sys::POSTGRES_EPOCH_JDATE);
        if bound < first * unit {
            return "-infinity".into();
        }
        if bound >= (first + f64::from(end)) * unit {
            return "infinity".into();
        }
        // SAFETY: the value is within the limits of the type, which is passed by value as an integer.
        unsafe { print(oid, Datum::from(bound as i64)) }
    }
}
