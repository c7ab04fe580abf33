//! The spool: rows of an export, collected instead of sent, so that they can be judged first.
//!
//! The export's query runs only once, so the rows that are judged are the rows that leave. They are collected
//! in a sort of Postgres, which spills to disk beyond `work_mem`, with a random number as the key: rows leave
//! in random order. With ORDER BY, only rows that are equal in its columns are shuffled. Hidden columns follow
//! the output columns; they are judged and not sent.
//!
//! Rows are counted while they are collected ([`tally`](crate::guard::copy::tally)). For measures that need
//! more than counts, the set-returning function `disclosure_internal.leaving` makes them readable to SQL while
//! they are judged. [`from_item`] makes the FROM item that calls it.

use crate::error::Error;
use crate::guard::copy::tally::{Counting, Tally, TallyColumn};
use crate::guard::shape::Order;
use crate::memory;
use crate::pg::memory_context::Scratch;
use crate::pg::receiver::values_of;
use crate::pg::row::attribute;
use pgrx::pg_sys::{self, Datum, DestReceiver, Oid, TupleDesc, TupleTableSlot};
use pgrx::prelude::*;
use pgrx::varlena;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_int};
use std::hash::{BuildHasher, RandomState};

/// Number of columns before the exported ones: the random number, and the number of the run of rows that
/// ORDER BY does not tell apart.
const KEYS: usize = 2;

/// Rows that are collected.
pub struct Collecting {
    sort: *mut pg_sys::Tuplesortstate,
    /// Row that is handed to the sort.
    keyed: *mut TupleTableSlot,
    /// Previous row, to find the end of a run.
    previous: *mut TupleTableSlot,
    order: Vec<(usize, pg_sys::FmgrInfo, Oid)>,
    /// Whether each exported column has a variable length.
    is_variable: Vec<bool>,
    run: i64,
    rows: u64,
    random: RandomState,
    scratch: Scratch,
    /// At most this many rows leave.
    limit: Option<u64>,
    is_readable: bool,
    counting: Counting,
}

/// Collected rows. They are freed by [`Spool::end`], or with the transaction if the statement fails.
pub struct Spool {
    sort: *mut pg_sys::Tuplesortstate,
    keyed: TupleDesc,
    /// Number of rows that leave.
    rows: u64,
    visible: usize,
    /// Whether the rows can be read more than once.
    is_readable: bool,
}

/// Destination that the executor sends rows to.
#[repr(C)]
struct Collector<'a> {
    /// First field, because Postgres refers to the collector by a pointer to it.
    callbacks: DestReceiver,
    collecting: &'a mut Collecting,
}

impl Collecting {
    /// Prepares to collect rows with this descriptor, in this order, and to count them by these columns. At
    /// most `limit` rows leave. Measures can read the rows only if `is_readable`, which takes longer if the
    /// rows do not fit into memory.
    ///
    /// # Safety
    /// The descriptor is valid, and all columns are columns of it.
    pub unsafe fn new(
        shape: TupleDesc,
        order: &[Order],
        limit: Option<u64>,
        counted: Vec<TallyColumn>,
        is_readable: bool,
    ) -> Self {
        // SAFETY: by the contract of the function. Everything is allocated in the current memory context,
        // which is the statement's.
        unsafe {
            let width = (*shape).natts as usize;
            let keyed = pg_sys::CreateTemplateTupleDesc((width + KEYS) as c_int);
            for key in 1..=KEYS {
                pg_sys::TupleDescInitEntry(keyed, key as i16, c"key".as_ptr(), pg_sys::INT8OID, -1, 0);
            }
            for column in 1..=width {
                pg_sys::TupleDescCopyEntry(keyed, (column + KEYS) as i16, shape, column as i16);
            }
            // Without ORDER BY there is one run. Postgres sorts by one integer much faster than by two.
            let mut columns: Vec<i16> = match order {
                [] => vec![1],
                _ => vec![2, 1],
            };
            let mut operators = [Oid::from(pg_sys::Int8LessOperator); KEYS];
            let (mut collations, mut nulls_first) = ([Oid::INVALID; KEYS], [false; KEYS]);
            // Under a limit, the rows that leave are known only when all are sorted, and are counted then.
            let is_readable = is_readable || limit.is_some();
            #[cfg(feature = "pg14")]
            let options = is_readable;
            #[cfg(not(feature = "pg14"))]
            let options = match is_readable {
                true => pg_sys::TUPLESORT_RANDOMACCESS as c_int,
                false => pg_sys::TUPLESORT_NONE as c_int,
            };
            let sort = pg_sys::tuplesort_begin_heap(
                keyed,
                columns.len() as c_int,
                columns.as_mut_ptr(),
                operators.as_mut_ptr(),
                collations.as_mut_ptr(),
                nulls_first.as_mut_ptr(),
                pg_sys::work_mem,
                std::ptr::null_mut(),
                options,
            );
            let comparison = |by: &Order| {
                let mut function = pg_sys::FmgrInfo::default();
                pg_sys::fmgr_info(pg_sys::get_opcode(by.equality), &mut function);
                (by.column, function, by.collation)
            };
            // Every row replaces the values of the one before, of which the slot keeps no copy.
            let keyed = pg_sys::MakeSingleTupleTableSlot(keyed, &pg_sys::TTSOpsVirtual);
            (*keyed).tts_isnull.write_bytes(0, width + KEYS);
            pg_sys::ExecStoreVirtualTuple(keyed);
            Collecting {
                sort,
                keyed,
                previous: pg_sys::MakeSingleTupleTableSlot(shape, &pg_sys::TTSOpsMinimalTuple),
                order: order.iter().map(comparison).collect(),
                is_variable: (0..width)
                    .map(|column| (*attribute(shape, column)).attlen == -1)
                    .collect(),
                run: 0,
                rows: 0,
                random: RandomState::new(),
                scratch: Scratch::new(),
                limit,
                is_readable,
                counting: Counting::new(shape, counted),
            }
        }
    }

    /// Calls `deliver` with a destination that collects the rows sent to it.
    pub fn collect(&mut self, deliver: impl FnOnce(*mut DestReceiver)) {
        let mut collector = Collector {
            callbacks: DestReceiver {
                rStartup: Some(start),
                receiveSlot: Some(receive),
                rShutdown: Some(ignore),
                rDestroy: Some(ignore),
                mydest: pg_sys::CommandDest::DestNone,
            },
            collecting: self,
        };
        deliver(&raw mut collector.callbacks);
    }

    /// Ends collecting. Returns the rows that leave, each with `visible` columns to be sent, and their tally.
    pub fn finish(self, visible: usize) -> Result<(Spool, Tally), Error> {
        // SAFETY: the sort is live, and all rows were put.
        let spool = unsafe {
            pg_sys::tuplesort_performsort(self.sort);
            pg_sys::ExecDropSingleTupleTableSlot(self.previous);
            Spool {
                sort: self.sort,
                keyed: (*self.keyed).tts_tupleDescriptor,
                rows: self.limit.map_or(self.rows, |limit| limit.min(self.rows)),
                visible,
                is_readable: self.is_readable,
            }
        };
        let mut counting = self.counting;
        if self.limit.is_some() {
            // SAFETY: the values are those of a row that was collected.
            spool.for_each(|values, nulls| unsafe { counting.add(values, nulls).map(|()| true) })?;
        }
        Ok((spool, counting.finish()?))
    }

    /// Adds a row. Values are detoasted, because whether a value is compressed or stored elsewhere depends on
    /// the other values of its row, and CREATE TABLE AS would keep that.
    ///
    /// # Safety
    /// The slot holds a row with the descriptor that `new` was given.
    unsafe fn add(&mut self, slot: *mut TupleTableSlot) {
        // SAFETY: by the contract of the function; the keyed slot has two columns more.
        unsafe {
            let (values, nulls) = values_of(slot);
            self.start_run(slot, values, nulls);
            let entered = self.scratch.enter();
            let (to, to_null) = ((*self.keyed).tts_values, (*self.keyed).tts_isnull);
            *to = Datum::from(self.random.hash_one(self.rows) as i64);
            *to.add(1) = Datum::from(self.run);
            let mut leaves_memory = self.rows.is_multiple_of(1024);
            for (place, (&value, &is_null)) in values.iter().zip(nulls).enumerate() {
                let is_toasted = self.is_variable[place] && !is_null && is_toasted(value);
                leaves_memory |= is_toasted;
                *to_null.add(KEYS + place) = is_null;
                *to.add(KEYS + place) = match is_toasted {
                    true => Datum::from(pg_sys::pg_detoast_datum_packed(value.cast_mut_ptr())),
                    false => value,
                };
            }
            pg_sys::tuplesort_puttupleslot(self.sort, self.keyed);
            if self.limit.is_none() {
                let (values, nulls) = values_of(self.keyed);
                let counted = self.counting.add(&values[KEYS..], &nulls[KEYS..]);
                counted.unwrap_or_else(Error::raise);
            }
            drop(entered);
            if leaves_memory {
                self.scratch.reset();
            }
            self.rows += 1;
        }
    }

    /// Starts a new run if the row differs from the previous one in a column of ORDER BY.
    ///
    /// # Safety
    /// The slot holds a row with these values.
    unsafe fn start_run(&mut self, slot: *mut TupleTableSlot, values: &[Datum], nulls: &[bool]) {
        // SAFETY: by the contract of the function; the previous slot has the same descriptor.
        unsafe {
            if self.order.is_empty() {
                return;
            }
            if self.rows > 0 {
                let (before, nulls_before) = values_of(self.previous);
                let differs = self.order.iter_mut().any(|(column, equality, collation)| {
                    let column = *column;
                    match (nulls[column], nulls_before[column]) {
                        (false, false) => {
                            let equal = pg_sys::FunctionCall2Coll(
                                equality,
                                *collation,
                                values[column],
                                before[column],
                            );
                            !bool::from_datum(equal, false).unwrap_or(false)
                        }
                        (now, then) => now != then,
                    }
                });
                self.run += i64::from(differs);
            }
            if let Some(copy) = (*(*self.previous).tts_ops).copyslot {
                pg_sys::ffi::pg_guard_ffi_boundary(|| copy(self.previous, slot));
            }
        }
    }
}

/// Returns whether a value is compressed or stored elsewhere.
///
/// # Safety
/// The value is a varlena.
unsafe fn is_toasted(value: Datum) -> bool {
    let value = value.cast_mut_ptr::<pg_sys::varlena>();
    // SAFETY: by the contract of the function.
    unsafe { varlena::varatt_is_1b_e(value) || varlena::varatt_is_4b_c(value) }
}

#[pg_guard]
unsafe extern "C-unwind" fn start(_collector: *mut DestReceiver, _operation: c_int, _shape: TupleDesc) {}

#[pg_guard]
unsafe extern "C-unwind" fn receive(slot: *mut TupleTableSlot, collector: *mut DestReceiver) -> bool {
    // SAFETY: Postgres calls it with valid pointers, the collector being the one made by `collect`.
    unsafe {
        (*collector.cast::<Collector>()).collecting.add(slot);
        true
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn ignore(_collector: *mut DestReceiver) {}

impl Spool {
    /// Returns the number of rows that leave.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Sends the output columns of the rows to their original destination.
    ///
    /// # Safety
    /// The destination is valid, and `shape` is the descriptor of the output columns.
    pub unsafe fn forward(&self, destination: *mut DestReceiver, operation: c_int, shape: TupleDesc) {
        // SAFETY: by the contract of the function.
        unsafe {
            if let Some(start) = (*destination).rStartup {
                pg_sys::ffi::pg_guard_ffi_boundary(|| start(destination, operation, shape));
            }
            let sent = pg_sys::MakeSingleTupleTableSlot(shape, &pg_sys::TTSOpsVirtual);
            self.for_each(|values, nulls| {
                if let Some(clear) = (*(*sent).tts_ops).clear {
                    pg_sys::ffi::pg_guard_ffi_boundary(|| clear(sent));
                }
                for place in 0..self.visible {
                    *(*sent).tts_values.add(place) = values[place];
                    *(*sent).tts_isnull.add(place) = nulls[place];
                }
                pg_sys::ExecStoreVirtualTuple(sent);
                Ok(match (*destination).receiveSlot {
                    Some(receive) => pg_sys::ffi::pg_guard_ffi_boundary(|| receive(sent, destination)),
                    None => false,
                })
            })
            .unwrap_or_else(Error::raise);
            pg_sys::ExecDropSingleTupleTableSlot(sent);
            if let Some(shutdown) = (*destination).rShutdown {
                pg_sys::ffi::pg_guard_ffi_boundary(|| shutdown(destination));
            }
        }
    }

    /// Calls `visit` with the exported values of every row, hidden ones included, until it returns false. If
    /// the rows are not readable, this can be done once.
    fn for_each(&self, mut visit: impl FnMut(&[Datum], &[bool]) -> Result<bool, Error>) -> Result<(), Error> {
        // SAFETY: the sort is live and allows random access, and the slot has the descriptor of its rows.
        unsafe {
            let slot = pg_sys::MakeSingleTupleTableSlot(self.keyed, &pg_sys::TTSOpsMinimalTuple);
            if self.is_readable {
                pg_sys::tuplesort_rescan(self.sort);
            }
            for _ in 0..self.rows {
                pgrx::check_for_interrupts!();
                if !pg_sys::tuplesort_gettupleslot(self.sort, true, false, slot, std::ptr::null_mut()) {
                    break;
                }
                let (values, nulls) = values_of(slot);
                if !visit(&values[KEYS..], &nulls[KEYS..])? {
                    break;
                }
            }
            pg_sys::ExecDropSingleTupleTableSlot(slot);
            Ok(())
        }
    }

    pub fn end(self) {
        // SAFETY: the sort is live, and consuming `self` ensures that it is not used again.
        unsafe { pg_sys::tuplesort_end(self.sort) };
    }

    /// Returns the type of an exported or hidden column, by its index from 0.
    fn type_of(&self, column: usize) -> Option<pg_sys::FormData_pg_attribute> {
        // SAFETY: the descriptor is valid as long as the sort is.
        unsafe {
            let place = column + KEYS;
            (place < (*self.keyed).natts as usize).then(|| *attribute(self.keyed, place))
        }
    }
}

thread_local! {
    /// Rows that are being judged, innermost last, because judging may itself run an export. `None` if a
    /// measure may see no rows.
    static SHOWN: RefCell<Vec<Option<Shown>>> = const { RefCell::new(Vec::new()) };
}

/// Rows that are being judged, as `disclosure_internal.leaving` returns them.
#[derive(Clone)]
struct Shown {
    /// Valid as long as it is shown.
    spool: *const Spool,
    /// Indexes, from 0, of the columns that the measure may see; `None` for all.
    columns: Option<Vec<usize>>,
}

/// Removes the last entry of [`SHOWN`] when dropped.
struct Hide;

impl Drop for Hide {
    fn drop(&mut self) {
        SHOWN.with_borrow_mut(Vec::pop);
    }
}

impl Spool {
    /// Makes the rows readable to the queries that `judge` runs, and returns its result.
    pub fn show<R>(&self, judge: impl FnOnce() -> R) -> R {
        let shown = Shown {
            spool: self,
            columns: None,
        };
        SHOWN.with_borrow_mut(|all| all.push(Some(shown)));
        let _hide = Hide;
        judge()
    }
}

/// Makes only the columns with these indexes, from 0, readable to the queries that `measure` runs, or no rows
/// at all if `columns` is `None`. Returns the result of `measure`.
pub fn show_only<R>(columns: Option<Vec<usize>>, measure: impl FnOnce() -> R) -> R {
    SHOWN.with_borrow_mut(|all| {
        let shown = all.last().cloned().flatten().zip(columns);
        let shown = shown.map(|(shown, columns)| Shown {
            columns: Some(columns),
            ..shown
        });
        all.push(shown);
    });
    let _hide = Hide;
    measure()
}

/// Column of the FROM item that reads the rows that are being judged.
#[derive(Clone)]
pub enum Asked {
    /// Value of a column, given by its index from 0.
    Value(usize),
    /// Number that is the same for rows whose stored bytes are the same in all of these columns; NULL if all of
    /// the columns are NULL.
    Identity(Vec<usize>),
}

impl Asked {
    /// Returns the column as an argument of `disclosure_internal.leaving`.
    fn argument(&self) -> String {
        let kind = match self {
            Asked::Value(_) => "v",
            Asked::Identity(_) => "i",
        };
        let columns: Vec<String> = self.columns().iter().map(usize::to_string).collect();
        format!("{kind}{}", columns.join(","))
    }

    fn parse(text: &str) -> Option<Self> {
        let (kind, columns) = text.split_at_checked(1)?;
        let columns: Option<Vec<usize>> = columns.split(',').map(|column| column.parse().ok()).collect();
        match (kind, &columns?[..]) {
            ("v", [column]) => Some(Asked::Value(*column)),
            ("i", columns) => Some(Asked::Identity(columns.to_vec())),
            _ => None,
        }
    }

    fn columns(&self) -> &[usize] {
        match self {
            Asked::Value(column) => std::slice::from_ref(column),
            Asked::Identity(columns) => columns,
        }
    }
}

/// Returns the FROM item that reads these columns of the rows that are being judged. Each has a name, and its
/// type, which is that of the exported column for a value.
pub fn from_item(columns: &[(String, Asked, Oid, i32)]) -> String {
    let arguments: Vec<String> = columns.iter().map(|(_, asked, ..)| asked.argument()).collect();
    let definitions: Vec<String> = columns
        .iter()
        .map(|(name, asked, oid, modifier)| match asked {
            Asked::Value(_) => format!("{name} {}", type_name(*oid, *modifier)),
            Asked::Identity(_) => format!("{name} pg_catalog.int8"),
        })
        .collect();
    match columns {
        // A function in FROM must return at least one column.
        [] => "disclosure_internal.leaving('') AS leaving(nothing bool)".into(),
        _ => format!(
            "disclosure_internal.leaving('{}') AS leaving({})",
            arguments.join(" "),
            definitions.join(", ")
        ),
    }
}

/// Returns the qualified name of a type, without a collation. Under a collation that treats different values
/// as equal, the measure would not see the difference.
fn type_name(oid: Oid, modifier: i32) -> String {
    let flags = pg_sys::FORMAT_TYPE_TYPEMOD_GIVEN | pg_sys::FORMAT_TYPE_FORCE_QUALIFY;
    // SAFETY: the type exists, and the returned C string is copied at once.
    unsafe {
        let name = pg_sys::format_type_extended(oid, modifier, flags as u16);
        CStr::from_ptr(name).to_string_lossy().into_owned()
    }
}

/// Appends the stored bytes of a value, with their length, so that ('ab', 'c') and ('a', 'bc') differ.
///
/// # Safety
/// The value is valid for the column, and detoasted.
unsafe fn append_bytes(column: &pg_sys::FormData_pg_attribute, value: Datum, key: &mut Vec<u8>) {
    // SAFETY: by the contract of the function.
    unsafe {
        key.push(1);
        if column.attbyval {
            return key.extend_from_slice(&value.value().to_ne_bytes()[..column.attlen as usize]);
        }
        let bytes = match column.attlen {
            -2 => CStr::from_ptr(value.cast_mut_ptr()).to_bytes(),
            -1 => varlena::varlena_to_byte_slice(value.cast_mut_ptr()),
            length => std::slice::from_raw_parts(value.cast_mut_ptr::<u8>(), length as usize),
        };
        key.extend_from_slice(&(bytes.len() as u64).to_ne_bytes());
        key.extend_from_slice(bytes);
    }
}

/// Gives numbers to rows: the same to rows with the same bytes in some columns.
struct Coder {
    columns: Vec<(usize, pg_sys::FormData_pg_attribute)>,
    codes: HashMap<Box<[u8]>, i64>,
    key: Vec<u8>,
}

impl Coder {
    /// Returns the code of a row; `None` if it is NULL in all columns.
    ///
    /// # Safety
    /// The values are those of a row of the spool.
    unsafe fn code(&mut self, values: &[Datum], nulls: &[bool]) -> Result<Option<i64>, Error> {
        self.key.clear();
        let mut is_null = true;
        for (column, about) in &self.columns {
            match nulls[*column] {
                true => self.key.push(0),
                false => {
                    is_null = false;
                    // SAFETY: by the contract of the function; the spool detoasts values.
                    unsafe { append_bytes(about, values[*column], &mut self.key) };
                }
            }
        }
        if is_null {
            return Ok(None);
        }
        if let Some(&code) = self.codes.get(&self.key[..]) {
            return Ok(Some(code));
        }
        let code = self.codes.len() as i64;
        self.codes.insert(self.key.clone().into_boxed_slice(), code);
        memory::check()?;
        Ok(Some(code))
    }
}

/// How a column of a call of `disclosure_internal.leaving` is filled.
enum Filled {
    Value(usize),
    Code(Coder),
}

/// Makes a call of `disclosure_internal.leaving` return the given columns of the rows that are being judged.
///
/// # Safety
/// `fcinfo` is a call of a function that returns SETOF record.
pub unsafe fn show_in(fcinfo: pg_sys::FunctionCallInfo, columns: &str) -> Result<(), Error> {
    // SAFETY: by the contract of the function. What is shown is valid as long as it is in `SHOWN`.
    unsafe {
        let result = (*fcinfo).resultinfo.cast::<pg_sys::ReturnSetInfo>();
        let materialise = pg_sys::SetFunctionReturnMode::SFRM_Materialize;
        if result.is_null()
            || (*result).expectedDesc.is_null()
            || (*result).allowedModes as u32 & materialise == 0
        {
            return Err(Error::NotLeaving);
        }
        let shown = SHOWN.with_borrow(|all| all.last().cloned().flatten());
        let shown = shown.ok_or(Error::NotLeaving)?;
        let spool = &*shown.spool;
        if !spool.is_readable {
            return Err(Error::NotLeaving);
        }
        let before = pg_sys::MemoryContextSwitchTo((*(*result).econtext).ecxt_per_query_memory);
        let expected = pg_sys::CreateTupleDescCopy((*result).expectedDesc);
        let backward = pg_sys::SetFunctionReturnMode::SFRM_Materialize_Random;
        let is_random = (*result).allowedModes as u32 & backward != 0;
        let copy = pg_sys::tuplestore_begin_heap(is_random, false, pg_sys::work_mem);
        pg_sys::MemoryContextSwitchTo(before);
        let mut filled = filled(spool, &shown, columns, expected)?;
        let width = (*expected).natts as usize;
        let mut row = vec![Datum::from(true); width];
        let mut is_null = vec![false; width];
        spool.for_each(|values, nulls| {
            for (place, column) in filled.iter_mut().enumerate() {
                let value = match column {
                    Filled::Value(column) => (!nulls[*column]).then(|| values[*column]),
                    Filled::Code(coder) => coder.code(values, nulls)?.map(Datum::from),
                };
                is_null[place] = value.is_none();
                row[place] = value.unwrap_or(Datum::null());
            }
            pg_sys::tuplestore_putvalues(copy, expected, row.as_mut_ptr(), is_null.as_mut_ptr());
            Ok(true)
        })?;
        (*result).returnMode = materialise;
        (*result).setResult = copy;
        (*result).setDesc = expected;
        Ok(())
    }
}

/// Returns how the columns of a call are filled. Checks that they may be seen, and that the call expects their
/// types.
///
/// # Safety
/// `expected` is a valid descriptor.
unsafe fn filled(
    spool: &Spool,
    shown: &Shown,
    columns: &str,
    expected: TupleDesc,
) -> Result<Vec<Filled>, Error> {
    // SAFETY: by the contract of the function.
    let types: Vec<Oid> = unsafe {
        let width = (*expected).natts as usize;
        (0..width)
            .map(|column| (*attribute(expected, column)).atttypid)
            .collect()
    };
    let asked: Option<Vec<Asked>> = columns.split_whitespace().map(Asked::parse).collect();
    let asked = asked.ok_or(Error::NotLeaving)?;
    if types.len() != asked.len().max(1) {
        return Err(Error::NotLeaving);
    }
    let may_be_seen = |column: &usize| shown.columns.as_ref().is_none_or(|seen| seen.contains(column));
    let fill = |(asked, expected): (Asked, Oid)| {
        if !asked.columns().iter().all(may_be_seen) {
            return Err(Error::NotLeaving);
        }
        let about: Option<Vec<_>> = asked
            .columns()
            .iter()
            .map(|&column| Some((column, spool.type_of(column)?)))
            .collect();
        let about = about.ok_or(Error::NotLeaving)?;
        match asked {
            Asked::Value(column) if about[0].1.atttypid == expected => Ok(Filled::Value(column)),
            Asked::Identity(_) if expected == pg_sys::INT8OID => Ok(Filled::Code(Coder {
                columns: about,
                codes: HashMap::new(),
                key: Vec::new(),
            })),
            _ => Err(Error::NotLeaving),
        }
    };
    asked.into_iter().zip(types).map(fill).collect()
}
