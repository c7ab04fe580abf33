//! Numerics of a column, row by row, that are to be sorted.
//!
//! Each one is kept as it is stored, with a key that has its order. So they need no dictionary, whose look-ups
//! take longer than the sort if most values differ.

use crate::encode::order::numeric_key;
use crate::error::Error;
use crate::run::Meter;
use disclosure::permutation::ColumnToSort;
use pgrx::pg_sys::{self, Datum};
use pgrx::varlena;

/// Numerics of a column, one for every row.
pub struct Decimals {
    /// Key of every row's value; arbitrary if the value is NULL.
    keys: Vec<u64>,
    /// Payloads of all values, one after the other. A NULL has none, and every value has some bytes.
    payloads: Vec<u8>,
    /// End of every row's payload.
    ends: Vec<usize>,
    /// Rows whose value is NULL, in ascending order.
    nulls: Vec<u32>,
}

impl Decimals {
    /// Creates an empty column with capacity for `rows` values.
    pub fn new(rows: usize) -> Self {
        Decimals {
            keys: Vec::with_capacity(rows),
            payloads: Vec::with_capacity(rows * size_of::<u64>()),
            ends: Vec::with_capacity(rows),
            nulls: Vec::new(),
        }
    }

    /// Appends NULL.
    pub fn push_null(&mut self) {
        self.nulls.push(self.keys.len() as u32);
        self.keys.push(u64::MAX);
        self.ends.push(self.payloads.len());
    }

    /// Appends the value of the next row; returns `false` without doing so if it does not fit into a key.
    ///
    /// # Safety
    /// `value` must be a valid Datum of type numeric.
    #[inline]
    pub unsafe fn push(&mut self, value: Datum) -> bool {
        // SAFETY: by the contract of the function.
        unsafe {
            let packed = value.cast_mut_ptr::<pg_sys::varlena>();
            if varlena::varatt_is_1b_e(packed) || varlena::varatt_is_4b_c(packed) {
                let unpacked = pg_sys::pg_detoast_datum_packed(packed);
                let is_kept = self.push_payload(varlena::varlena_to_byte_slice(unpacked));
                pg_sys::pfree(unpacked.cast());
                return is_kept;
            }
            self.push_payload(varlena::varlena_to_byte_slice(packed))
        }
    }

    #[inline]
    fn push_payload(&mut self, payload: &[u8]) -> bool {
        let Some(key) = numeric_key(payload) else {
            return false;
        };
        self.keys.push(key);
        self.payloads.extend_from_slice(payload);
        self.ends.push(self.payloads.len());
        true
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn column_to_sort(&self) -> ColumnToSort<'_> {
        ColumnToSort::Numbers {
            bits: &self.keys,
            key: |key| key,
            absent: &self.nulls,
        }
    }

    /// Returns the payload of every row's value; `None` if it is NULL.
    pub fn payloads(&self) -> impl Iterator<Item = Option<&[u8]>> {
        (0..self.len()).map(|row| self.payload(row))
    }

    fn payload(&self, row: usize) -> Option<&[u8]> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        let payload = &self.payloads[start..self.ends[row]];
        (!payload.is_empty()).then_some(payload)
    }

    /// Returns the values in another order: every row gets the value of the row that `sources` names. The result
    /// can be read, but not sorted.
    pub fn arranged(&self, sources: &[u32]) -> Result<Self, Error> {
        let mut meter = Meter::new("arranging values");
        let mut arranged = Decimals {
            keys: Vec::new(),
            payloads: Vec::with_capacity(self.payloads.len()),
            ends: Vec::with_capacity(self.ends.len()),
            nulls: Vec::new(),
        };
        for &source in sources {
            let payload = self.payload(source as usize);
            arranged.payloads.extend_from_slice(payload.unwrap_or_default());
            arranged.ends.push(arranged.payloads.len());
            meter.row()?;
        }
        Ok(arranged)
    }

    /// Returns a copy of the value of a row, in the current memory context; `None` if it is NULL.
    pub fn copy(&self, row: usize) -> Option<Datum> {
        let payload = self.payload(row)?;
        let total = pg_sys::VARHDRSZ + payload.len();
        // SAFETY: the copy has room for the length and the payload.
        unsafe {
            let copy = pg_sys::palloc(total).cast::<u8>();
            varlena::set_varsize_4b(copy.cast(), total as i32);
            std::ptr::copy_nonoverlapping(payload.as_ptr(), copy.add(pg_sys::VARHDRSZ), payload.len());
            Some(Datum::from(copy))
        }
    }
}
