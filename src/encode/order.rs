//! Sorts the values of a dictionary by the default order of their type.
//!
//! Numbers are converted to sort keys and sorted in Rust. Values of other types are sorted in Rust by their bytes,
//! and Postgres is asked only whether neighbours are in the order of their type. If they are not, Postgres itself
//! sorts them.

use crate::encode::dictionary::{Dictionary, Intake, equal_is_identical};
use crate::error::Error;
use crate::pg::memory_context::{self, Scratch};
use crate::pg::types::has_distances;
use crate::run::{self, Meter};
use disclosure::permutation::sort_key::{self, Special};
use disclosure::{NULL, permutation};
use pgrx::pg_sys::{self, Datum};
use std::ptr::null_mut;

/// Column as it was read: its distinct values, and the code of every row.
pub struct CodedColumn {
    pub dictionary: Dictionary,
    pub codes: Vec<u32>,
}

impl CodedColumn {
    pub fn name(&self) -> &str {
        &self.dictionary.column().name
    }

    /// Returns the number of records that hold each value, in the order of the codes.
    pub fn records_of(&self) -> Vec<u64> {
        let mut records_of = vec![0; self.dictionary.len() as usize];
        for &code in self.codes.iter().filter(|&&code| code != NULL) {
            records_of[code as usize - 1] += 1;
        }
        records_of
    }

    /// Keeps only these records, in this order.
    pub fn arrange(&mut self, records: &[u32]) {
        self.codes = records
            .iter()
            .map(|&record| self.codes[record as usize])
            .collect();
    }

    /// Returns the dense rank of every row's value among the distinct values, from 1; [`NULL`] if the value
    /// is NULL.
    pub fn dense_ranks(&mut self) -> Result<Vec<u32>, Error> {
        let of_code = self.dictionary.dense_ranks()?;
        let dense_rank = |&code: &u32| match code {
            NULL => NULL,
            code => of_code[code as usize - 1],
        };
        Ok(self.codes.iter().map(dense_rank).collect())
    }
}

impl Dictionary {
    /// Returns the dense rank of every value, from 1, in the order of the codes. Values are sorted in the
    /// default order of the type under the column's collation. Values that are equal by their type share a
    /// dense rank.
    pub fn dense_ranks(&mut self) -> Result<Vec<u32>, Error> {
        match self.keys() {
            Some(keys) => run::sized(
                "sorting values",
                keys.len(),
                permutation::SMALL_COLUMN,
                |control| permutation::dense_ranks(&keys, control),
            ),
            None => self.dense_ranks_by_type(),
        }
    }

    /// Returns the rank of every value by its code, NULL first; `None` if the order of the type is no distance.
    pub fn ranks(&mut self) -> Result<Option<Vec<u32>>, Error> {
        if !has_distances(self.column().base_type()) {
            return Ok(None);
        }
        let mut ranks = vec![0];
        ranks.extend(self.dense_ranks()?);
        Ok(Some(ranks))
    }

    /// Returns all codes in the order of their values or, if the type has no order, of their texts. This
    /// numbers values independently of the order in which they were read.
    pub fn sorted_codes(&mut self) -> Result<Vec<u32>, Error> {
        let mut codes: Vec<u32> = (1..=self.len()).collect();
        match self.dense_ranks() {
            Ok(dense_ranks) => codes.sort_by_key(|&code| dense_ranks[code as usize - 1]),
            Err(Error::NoOrder { .. }) => codes.sort_by_cached_key(|&code| self.text(code)),
            Err(problem) => return Err(problem),
        }
        Ok(codes)
    }

    /// Returns all codes in an order that depends only on the values. If equal values are identical, it is
    /// the order of their bytes, which is faster to find than the order of the type.
    pub fn canonical_codes(&mut self) -> Result<Vec<u32>, Error> {
        let codes = 1..=self.len();
        let is_identical = equal_is_identical(self.column());
        match self {
            Dictionary::Bits(dictionary) => {
                let keyed: Vec<(u64, u32)> = dictionary.values().iter().copied().zip(codes).collect();
                codes_in_order(keyed)
            }
            Dictionary::Images(dictionary) if is_identical => {
                let keyed: Vec<(&[u8], u32)> = dictionary.payloads().zip(codes).collect();
                codes_in_order(keyed)
            }
            Dictionary::Images(_) => self.sorted_codes(),
        }
    }

    /// Returns sort keys that have the order of the values; `None` if the values are not numbers, or if one
    /// of them does not fit into a key.
    fn keys(&self) -> Option<Vec<u64>> {
        let base_type = self.column().base_type();
        match self {
            Dictionary::Bits(dictionary) => {
                let (_, key) = sort_key(base_type)?;
                Some(dictionary.values().iter().map(|&bits| key(bits)).collect())
            }
            Dictionary::Images(dictionary) if base_type == pg_sys::NUMERICOID => {
                dictionary.payloads().map(numeric_key).collect()
            }
            Dictionary::Images(_) => None,
        }
    }

    /// Returns the dense rank of every value like [`dense_ranks`](Self::dense_ranks). Postgres sorts them by
    /// their type.
    fn dense_ranks_by_type(&mut self) -> Result<Vec<u32>, Error> {
        let column = self.column().clone();
        let wanted = pg_sys::TYPECACHE_LT_OPR | pg_sys::TYPECACHE_CMP_PROC_FINFO;
        // SAFETY: an unknown OID raises an ERROR; entries of the type cache live as long as the backend.
        let functions = unsafe { &mut *pg_sys::lookup_type_cache(column.oid, wanted as i32) };
        if functions.lt_opr == pg_sys::InvalidOid {
            return Err(Error::NoOrder { column: column.name });
        }
        if let Some(dense_ranks) = self.dense_ranks_by_bytes(functions.lt_opr)? {
            return Ok(dense_ranks);
        }
        // Values of a dictionary can be equal only if it is an exact one and equal values need not be
        // identical.
        let may_be_equal = !equal_is_identical(&column);
        let codes = 1..self.len() + 1;
        // SAFETY: the operator is the type's own.
        let mut sort = unsafe { Sort::new(column.base_type(), functions.lt_opr, column.collation) };
        memory_context::for_each("sorting values", codes.clone(), |code| {
            // SAFETY: the dictionary keeps valid values of the column's type.
            unsafe { sort.put(code, self.value(code)) };
            Ok(())
        })?;
        sort.perform();
        let mut dense_ranks = vec![0; codes.len()];
        let (mut dense_rank, mut before) = (0, None);
        memory_context::for_each("sorting values", codes, |_| {
            let code = sort
                .next()
                .ok_or(Error::Internal("a sort returned too few values"))?;
            let is_equal = before
                .replace(code)
                .filter(|_| may_be_equal)
                .is_some_and(|before| {
                    let (before, value) = (self.value(before), self.value(code));
                    let compare = &raw mut functions.cmp_proc_finfo;
                    // SAFETY: both values are of the type that the function compares.
                    let order =
                        unsafe { pg_sys::FunctionCall2Coll(compare, column.collation, before, value) };
                    order.value() as i32 == 0
                });
            dense_rank += u32::from(!is_equal);
            dense_ranks[code as usize - 1] = dense_rank;
            Ok(())
        })?;
        sort.end();
        Ok(dense_ranks)
    }
}

impl Dictionary {
    /// Returns the dense rank of every value like [`dense_ranks`](Self::dense_ranks) if the order of their bytes
    /// is that of their type; `None` if it is not. `less` is the operator of the type's order.
    ///
    /// This takes one comparison per value instead of one for each step of a sort. Comparing texts under a
    /// collation takes far longer than comparing bytes.
    fn dense_ranks_by_bytes(&self, less: pg_sys::Oid) -> Result<Option<Vec<u32>>, Error> {
        let Dictionary::Images(dictionary) = self else {
            return Ok(None);
        };
        let payloads: Vec<&[u8]> = dictionary.payloads().collect();
        // SAFETY: the operator is that of the column's type.
        let mut comparison = unsafe { Comparison::new(less, self.column().collation) };
        // If a few values from all over the column are not in order, there is no need to sort the others.
        let step = payloads.len() / SAMPLE + 1;
        let mut sample: Vec<usize> = (0..payloads.len()).step_by(step).collect();
        sample.sort_unstable_by_key(|&value| payloads[value]);
        let mut in_order = |codes: &[u32]| comparison.dense_ranks(codes, |code| self.value(code));
        if in_order(&sample.iter().map(|&value| value as u32 + 1).collect::<Vec<_>>())?.is_none() {
            return Ok(None);
        }
        let order = run::sized(
            "sorting values",
            payloads.len(),
            permutation::SMALL_COLUMN,
            |control| permutation::byte_order(&payloads, control),
        )?;
        let codes: Vec<u32> = order.into_iter().map(|value| value + 1).collect();
        let Some(of_sorted) = in_order(&codes)? else {
            return Ok(None);
        };
        let mut dense_ranks = vec![0; codes.len()];
        for (code, dense_rank) in codes.into_iter().zip(of_sorted) {
            dense_ranks[code as usize - 1] = dense_rank;
        }
        Ok(Some(dense_ranks))
    }
}

/// Number of values that are compared before all are sorted by their bytes.
const SAMPLE: usize = 1000;

/// Comparison of values by the order of their type, as sorts of Postgres make it.
struct Comparison {
    /// Boxed, because functions of Postgres keep its address.
    support: Box<pg_sys::SortSupportData>,
    /// Memory of the comparison.
    _context: Scratch,
}

impl Comparison {
    /// Prepares to compare values.
    ///
    /// # Safety
    /// `less` must be an operator by which values of a type are ordered.
    unsafe fn new(less: pg_sys::Oid, collation: pg_sys::Oid) -> Self {
        let context = Scratch::new();
        let mut support = Box::new(pg_sys::SortSupportData {
            ssup_collation: collation,
            ssup_attno: 1,
            ..Default::default()
        });
        {
            let _entered = context.enter();
            // SAFETY: the context lives as long as the support, which is not moved.
            unsafe {
                support.ssup_cxt = pg_sys::CurrentMemoryContext;
                pg_sys::PrepareSortSupportFromOrderingOp(less, &mut *support);
            }
        }
        Comparison {
            support,
            _context: context,
        }
    }

    /// Returns the dense ranks of values that are given in order; `None` if one of them is below the value before.
    fn dense_ranks(
        &mut self,
        codes: &[u32],
        value: impl Fn(u32) -> Datum,
    ) -> Result<Option<Vec<u32>>, Error> {
        let compare = self
            .support
            .comparator
            .ok_or(Error::Internal("a type has an order but no comparison"))?;
        let scratch = Scratch::new();
        let _entered = scratch.enter();
        let mut meter = Meter::new("sorting values");
        let mut dense_ranks = Vec::with_capacity(codes.len());
        dense_ranks.extend(codes.first().map(|_| 1));
        let (mut dense_rank, mut is_sorted) = (1, true);
        for start in (1..codes.len()).step_by(AT_ONCE) {
            let pairs = codes[start - 1..codes.len().min(start + AT_ONCE)].windows(2);
            let read = || {
                for pair in pairs {
                    // SAFETY: both values are of the type that the function compares. The guard below
                    // surrounds the call.
                    let order = unsafe { compare(value(pair[0]), value(pair[1]), &mut *self.support) };
                    is_sorted &= order <= 0;
                    dense_rank += u32::from(order < 0);
                    // There is room, so that nothing is allocated.
                    dense_ranks.push(dense_rank);
                }
            };
            // SAFETY: nothing in `read` has to be dropped if an ERROR leaves it.
            unsafe { pg_sys::ffi::pg_guard_ffi_boundary(read) };
            if !is_sorted {
                return Ok(None);
            }
            if meter.add_rows(AT_ONCE as u64)? {
                scratch.reset();
            }
        }
        Ok(Some(dense_ranks))
    }
}

/// Number of comparisons within one guard against ERRORs. A guard takes longer than many comparisons.
const AT_ONCE: usize = 256;

/// Function that converts the bits of a value to a number with the order of the values.
pub type SortKey = fn(u64) -> u64;

/// Returns how to extract the bits of a value and how to convert them to a sort key; `None` if values of the
/// type are not stored as numbers.
pub fn sort_key(base_type: pg_sys::Oid) -> Option<(Intake, SortKey)> {
    let integer: SortKey = |bits| sort_key::of_integer(bits as i64);
    let single: SortKey = |bits| sort_key::of_float(f64::from(f32::from_bits(bits as u32)));
    let double: SortKey = |bits| sort_key::of_float(f64::from_bits(bits));
    let (length, key) = match base_type {
        pg_sys::BOOLOID => (1, integer),
        pg_sys::INT2OID => (2, integer),
        pg_sys::INT4OID | pg_sys::DATEOID => (4, integer),
        pg_sys::INT8OID | pg_sys::TIMEOID | pg_sys::TIMESTAMPOID | pg_sys::TIMESTAMPTZOID => (8, integer),
        pg_sys::FLOAT4OID => (4, single),
        pg_sys::FLOAT8OID => (8, double),
        _ => return None,
    };
    Some((Intake::plain(length), key))
}

/// Returns the sort key of a numeric as Postgres stores it (utils/adt/numeric.c): a header with the sign and
/// the power of 10,000 of the first digit, then digits from 0 to 9,999, of which the first and the last are
/// not 0. `None` if the number does not fit into a key.
pub fn numeric_key(stored: &[u8]) -> Option<u64> {
    let (words, _) = stored.as_chunks::<2>();
    let mut words = words.iter().map(|&word| u16::from_ne_bytes(word));
    let header = words.next()?;
    let (is_negative, power) = match header & 0xF000 {
        0xC000 => return Some(Special::NaN as u64),
        0xD000 => return Some(Special::Infinity as u64),
        0xF000 => return Some(Special::NegativeInfinity as u64),
        // The short form has the power in seven bits, in two's complement.
        0x8000..=0xB000 => (header & 0x2000 != 0, (header << 9) as i16 >> 9),
        _ => (header & 0x4000 != 0, words.next()? as i16),
    };
    sort_key::of_decimal(is_negative, power, words)
}

/// Sort of values of one type, each with its code, by Postgres and within work_mem. The sorted rows are
/// (code, value), so that the code of a sorted value need not be looked up.
struct Sort {
    state: *mut pg_sys::Tuplesortstate,
    descriptor: pg_sys::TupleDesc,
    /// Next row to be sorted.
    input: *mut pg_sys::TupleTableSlot,
    /// Last row that was read.
    output: *mut pg_sys::TupleTableSlot,
}

impl Sort {
    /// Begins a sort.
    ///
    /// # Safety
    /// `less` must be the operator by which values of the type are ordered. The current memory context must
    /// outlive the sort.
    unsafe fn new(oid: pg_sys::Oid, mut less: pg_sys::Oid, mut collation: pg_sys::Oid) -> Self {
        #[cfg(feature = "pg14")]
        let options = false;
        #[cfg(not(feature = "pg14"))]
        let options = 0;
        let (mut column, mut nulls_first) = (2, false);
        // SAFETY: the descriptor has two columns, the second of which is the sort key. The sort copies the
        // description of its key. The input row has both columns, and neither is NULL.
        unsafe {
            let descriptor = pg_sys::CreateTemplateTupleDesc(2);
            pg_sys::TupleDescInitEntry(descriptor, 1, c"code".as_ptr(), pg_sys::INT4OID, -1, 0);
            pg_sys::TupleDescInitEntry(descriptor, 2, c"value".as_ptr(), oid, -1, 0);
            let input = pg_sys::MakeSingleTupleTableSlot(descriptor, &raw const pg_sys::TTSOpsVirtual);
            pg_sys::ExecStoreVirtualTuple(input);
            Sort {
                state: pg_sys::tuplesort_begin_heap(
                    descriptor,
                    1,
                    &mut column,
                    &mut less,
                    &mut collation,
                    &mut nulls_first,
                    pg_sys::work_mem,
                    null_mut(),
                    options,
                ),
                descriptor,
                input,
                output: pg_sys::MakeSingleTupleTableSlot(descriptor, &raw const pg_sys::TTSOpsMinimalTuple),
            }
        }
    }

    /// Adds a value and its code.
    ///
    /// # Safety
    /// `value` must be a valid Datum of the type.
    unsafe fn put(&mut self, code: u32, value: Datum) {
        // SAFETY: the sort is live and copies the row, and the slot has two values.
        unsafe {
            *(*self.input).tts_values = Datum::from(code);
            *(*self.input).tts_values.add(1) = value;
            pg_sys::tuplesort_puttupleslot(self.state, self.input);
        }
    }

    fn perform(&mut self) {
        // SAFETY: the sort is live.
        unsafe { pg_sys::tuplesort_performsort(self.state) }
    }

    /// Returns the code of the next value in order; `None` after the last one.
    fn next(&mut self) -> Option<u32> {
        let (forward, copy) = (true, false);
        // SAFETY: the sort is live and was performed, and the first column of its rows is the code.
        unsafe {
            if !pg_sys::tuplesort_gettupleslot(self.state, forward, copy, self.output, null_mut()) {
                return None;
            }
            pg_sys::slot_getsomeattrs_int(self.output, 1);
            Some((*(*self.output).tts_values).value() as u32)
        }
    }

    /// Frees the sort. After an ERROR this is left to Postgres, as it is with Postgres's own sorts.
    fn end(self) {
        // SAFETY: the sort is live and not used afterwards. Slots are dropped before the rows that they refer
        // to.
        unsafe {
            pg_sys::ExecDropSingleTupleTableSlot(self.input);
            pg_sys::ExecDropSingleTupleTableSlot(self.output);
            pg_sys::tuplesort_end(self.state);
            pg_sys::FreeTupleDesc(self.descriptor);
        }
    }
}

/// Returns the codes in the order of their keys.
fn codes_in_order<K: Ord + Copy + Send + Sync>(mut keyed: Vec<(K, u32)>) -> Result<Vec<u32>, Error> {
    run::sized(
        "ordering values",
        keyed.len(),
        permutation::SMALL_COLUMN,
        |control| {
            disclosure::parallel_sort(&mut keyed, control)?;
            Ok(keyed.into_iter().map(|(_, code)| code).collect())
        },
    )
}

/// Returns the rank of every code in `codes`, from 1. `codes` contains each code once. The rank of [`NULL`]
/// is 0.
pub fn ranks_of_codes(codes: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0; codes.len() + 1];
    for (rank, &code) in (1..).zip(codes) {
        ranks[code as usize] = rank;
    }
    ranks
}
