//! Numbers of values: which types have them.

use super::dictionary::Dictionary;
use crate::error::Problem;
use crate::pg::memory_context;
use crate::pg::types::print;
use pgrx::pg_sys::{self, Datum};

/// How to make a number out of a value: the types that can be put into bins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    Integer,
    Single,
    Double,
    Numeric,
    /// In days.
    Date,
    /// In microseconds, of which days are not always exact multiples as floats.
    Timestamp,
}

const MICROSECONDS_PER_DAY: f64 = 86_400_000_000.0;

impl Scale {
    /// `None` where values of the type are no numbers.
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

    /// The numbers of a dictionary's values, codes in order. It is one of a type of this scale.
    pub fn numbers(self, dictionary: &Dictionary) -> Result<Vec<f64>, Problem> {
        memory_context::for_each("reading values", 0..dictionary.len(), |value| {
            // SAFETY: a value of the dictionary.
            Ok(unsafe { self.number(dictionary.value(value + 1)) })
        })
    }

    /// Whether the type is one of numbers, not of points in time.
    pub fn is_of_numbers(self) -> bool {
        !matches!(self, Scale::Date | Scale::Timestamp)
    }

    /// # Safety
    /// A valid Datum of a type of this scale.
    pub unsafe fn number(self, value: Datum) -> f64 {
        // SAFETY: by the contract of the function.
        unsafe {
            let bits = value.value() as i64;
            match self {
                Scale::Integer => bits as f64,
                Scale::Single => {
                    // 0.7 is meant where it is printed, and not the float8 that is nearest to the float4.
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

    /// A width as the caller gives it, in the unit of [`number`](Self::number).
    pub fn width(self, given: f64) -> f64 {
        match self {
            Scale::Timestamp => (given * MICROSECONDS_PER_DAY).round().max(1.0),
            _ => given,
        }
    }

    /// The bound of a bin as people write it; `oid` is the column's type.
    pub fn bound_text(self, bound: f64, oid: pg_sys::Oid) -> String {
        let (unit, end) = match self {
            Scale::Date => (1.0, pg_sys::DATE_END_JULIAN),
            Scale::Timestamp => (MICROSECONDS_PER_DAY, pg_sys::TIMESTAMP_END_JULIAN),
            _ => return bound.to_string(),
        };
        // The values of the bin are in the calendar of Postgres, but its bounds need not be.
        let first = -f64::from(pg_sys::POSTGRES_EPOCH_JDATE);
        if bound < first * unit {
            return "-infinity".into();
        }
        if bound >= (first + f64::from(end)) * unit {
            return "infinity".into();
        }
        // SAFETY: a value within the limits of the type, which is passed as an integer.
        unsafe { print(oid, Datum::from(bound as i64)) }
    }
}
