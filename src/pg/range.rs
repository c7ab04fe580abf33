//! Range types, and which values a range contains.

use crate::pg::memory_context::Scratch;
use crate::pg::types::ColumnType;
use pgrx::pg_sys::{self, Datum};
use std::cmp::Ordering;
use std::ops::Range;

/// Range type, as an entry of the type cache.
pub struct RangeType(*mut pg_sys::TypeCacheEntry);

impl RangeType {
    /// Returns the type of a column; `None` if its values are not ranges over the type `element`.
    pub fn of(column: &ColumnType, element: pg_sys::Oid) -> Option<Self> {
        let oid = column.base_type();
        // SAFETY: any OID is accepted; only a range type has a subtype, so that the second look-up finds its
        // range functions. Entries of the type cache live as long as the backend.
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

    /// Returns the collation under which ranges compare values.
    pub fn collation(&self) -> pg_sys::Oid {
        // SAFETY: entries of the type cache live as long as the backend.
        unsafe { (*self.0).rng_collation }
    }

    /// Compares two values as ranges of this type do.
    ///
    /// # Safety
    /// Both must be valid Datums of the ranges' element type.
    unsafe fn compare(&self, one: Datum, other: Datum) -> Ordering {
        // SAFETY: the function compares values of this type, by the contract.
        let order = unsafe {
            let function = &raw mut (*self.0).rng_cmp_proc_finfo;
            pg_sys::FunctionCall2Coll(function, self.collation(), one, other)
        };
        (order.value() as i32).cmp(&0)
    }

    /// Sorts pairs of a value and something else by the value.
    ///
    /// # Safety
    /// The values must be valid Datums of the ranges' element type.
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

    /// Returns the positions of the values that are in a range. [`sort`](Self::sort) must have sorted the
    /// values.
    ///
    /// # Safety
    /// `range` must be a valid range of this type, and the values valid Datums of its element type.
    pub unsafe fn held<T>(&self, range: Datum, values: &[(Datum, T)]) -> Range<usize> {
        // SAFETY: these functions accept any range. Bounds are read only if the range has them.
        let call = |function: u32| unsafe {
            pg_sys::OidFunctionCall1Coll(function.into(), pg_sys::InvalidOid, range)
        };
        let is = |function: u32| call(function).value() != 0;
        if is(pg_sys::F_ISEMPTY_ANYRANGE) {
            return 0..0;
        }
        let before = |bound: Datum, with_bound: bool| {
            values.partition_point(|&(value, _)| {
                // SAFETY: by the contract of the function; the bound has the same type as the values.
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
