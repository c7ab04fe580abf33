//! Ranges, and which values they hold.

use crate::pg::memory_context::Scratch;
use crate::pg::types::ColumnType;
use pgrx::pg_sys::{self, Datum};
use std::cmp::Ordering;
use std::ops::Range;

/// A type whose values are ranges.
pub struct RangeType(*mut pg_sys::TypeCacheEntry);

impl RangeType {
    /// The type of a column; `None` if its values are not ranges of values of the type `element`.
    pub fn of(column: &ColumnType, element: pg_sys::Oid) -> Option<Self> {
        let oid = column.base_type();
        // SAFETY: catalogue look-ups, of which the first finds nothing for what is no range type; entries of the type
        // cache live as long as the backend.
        unsafe {
            let is_range = pg_sys::get_range_subtype(oid) == element;
            is_range.then(|| {
                RangeType(pg_sys::lookup_type_cache(
                    oid,
                    pg_sys::TYPECACHE_RANGE_INFO as i32,
                ))
            })
        }
    }

    /// The collation under which ranges compare values.
    pub fn collation(&self) -> pg_sys::Oid {
        // SAFETY: a live entry of the type cache.
        unsafe { (*self.0).rng_collation }
    }

    /// # Safety
    /// Two valid Datums of the type that the ranges are of.
    unsafe fn compare(&self, one: Datum, other: Datum) -> Ordering {
        // SAFETY: the function takes two such values, by the contract.
        let order = unsafe {
            let function = &raw mut (*self.0).rng_cmp_proc_finfo;
            pg_sys::FunctionCall2Coll(function, self.collation(), one, other)
        };
        (order.value() as i32).cmp(&0)
    }

    /// Sorts pairs of a value and something else by the value.
    ///
    /// # Safety
    /// Valid Datums of the type that the ranges are of.
    pub unsafe fn sort<T>(&self, values: &mut [(Datum, T)]) {
        const LOOK_EVERY: u32 = 1 << 12;
        let scratch = Scratch::new();
        let _entered = scratch.enter();
        let mut compared = 0;
        values.sort_by(|one, other| {
            compared = (compared + 1) % LOOK_EVERY;
            if compared == 0 {
                pgrx::check_for_interrupts!();
            }
            // SAFETY: by the contract.
            unsafe { self.compare(one.0, other.0) }
        });
    }

    /// Which of the values, which [`sort`](Self::sort) has sorted, are in a range.
    ///
    /// # Safety
    /// A valid range of this type, and valid Datums of the type that it is of.
    pub unsafe fn held<T>(&self, range: Datum, values: &[(Datum, T)]) -> Range<usize> {
        // SAFETY: these functions take any range; the bounds are asked for only if there are any.
        let call = |function: u32| unsafe {
            pg_sys::OidFunctionCall1Coll(function.into(), pg_sys::InvalidOid, range)
        };
        let is = |function: u32| call(function).value() != 0;
        if is(pg_sys::F_ISEMPTY_ANYRANGE) {
            return 0..0;
        }
        let before = |bound: Datum, with_bound: bool| {
            values.partition_point(|&(value, _)| {
                // SAFETY: by the contract, and the bound is of the same type.
                match unsafe { self.compare(value, bound) } {
                    Ordering::Less => true,
                    Ordering::Equal => with_bound,
                    Ordering::Greater => false,
                }
            })
        };
        let first = if is(pg_sys::F_LOWER_INF_ANYRANGE) {
            0
        } else {
            before(call(pg_sys::F_LOWER_ANYRANGE), !is(pg_sys::F_LOWER_INC_ANYRANGE))
        };
        let end = if is(pg_sys::F_UPPER_INF_ANYRANGE) {
            values.len()
        } else {
            before(call(pg_sys::F_UPPER_ANYRANGE), is(pg_sys::F_UPPER_INC_ANYRANGE))
        };
        first..end.max(first)
    }
}
