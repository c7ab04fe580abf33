//! Queries through SPI whose plans a backend keeps, because the same queries are run again and again.

use crate::error::Error;
use pgrx::IntoDatum;
use pgrx::Spi;
use pgrx::pg_sys::{self, Datum};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ffi::CString;
use std::rc::Rc;

/// Number of plans that a backend keeps. When it is reached, all of them are dropped.
const KEPT_PLANS: usize = 1_000;

/// Parameters of a query: types and values, none of them NULL.
#[derive(Default)]
pub struct Parameters {
    types: Vec<pg_sys::Oid>,
    values: Vec<Datum>,
}

impl Parameters {
    /// Returns parameters with one element, an array of OIDs.
    pub fn of_oids(oids: &[pg_sys::Oid]) -> Result<Self, Error> {
        let mut parameters = Self::default();
        let array = oids
            .to_vec()
            .into_datum()
            .ok_or(Error::Internal("could not make an array of OIDs"))?;
        parameters.add(pg_sys::OIDARRAYOID, array);
        Ok(parameters)
    }

    /// Adds a parameter and returns its placeholder.
    pub fn add(&mut self, oid: pg_sys::Oid, value: Datum) -> String {
        self.types.push(oid);
        self.values.push(value);
        format!("${}", self.types.len())
    }
}

/// Rows that a query has returned. They live until SPI is disconnected.
pub struct Answer {
    table: *mut pg_sys::SPITupleTable,
    rows: usize,
}

impl Answer {
    /// Runs a query with the calling user's privileges. If `read_only`, it runs under the snapshot of the
    /// calling statement, otherwise under a new one.
    ///
    /// # Safety
    /// Must be called within `Spi::connect`, and the parameters must be valid Datums of their types.
    pub unsafe fn to(query: &str, parameters: &Parameters, read_only: bool) -> Result<Self, Error> {
        // SAFETY: by the contract of the function.
        unsafe {
            let plan = plan(query, &parameters.types)?;
            let mut values = parameters.values.clone();
            pg_sys::SPI_execute_plan(plan.0, values.as_mut_ptr(), std::ptr::null(), read_only, 0);
            Ok(Answer {
                table: pg_sys::SPI_tuptable,
                rows: pg_sys::SPI_processed as usize,
            })
        }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns a value by row and column, both from 0; `None` if it is NULL.
    pub fn value(&self, row: usize, column: usize) -> Option<Datum> {
        debug_assert!(row < self.rows);
        let mut is_null = false;
        // SAFETY: SPI has filled the table with `rows` rows; it checks the column itself.
        let value = unsafe {
            let tuple = *(*self.table).vals.add(row);
            pg_sys::SPI_getbinval(tuple, (*self.table).tupdesc, column as i32 + 1, &mut is_null)
        };
        (!is_null).then_some(value)
    }

    /// Returns a value as a Rust type; `None` if it is NULL.
    ///
    /// # Safety
    /// The column must be of the SQL type that `T` stands for.
    pub unsafe fn get<T: pgrx::FromDatum>(&self, row: usize, column: usize) -> Option<T> {
        // SAFETY: by the contract of the function.
        unsafe { T::from_datum(self.value(row, column)?, false) }
    }
}

/// Returns the result of a query with one column of OIDs.
pub fn oids(query: &str, parameters: &Parameters) -> Result<Vec<pg_sys::Oid>, Error> {
    Spi::connect(|_| {
        // SAFETY: SPI is connected. Callers pass parameters of their types, and queries with one column of
        // OIDs.
        unsafe {
            let answer = Answer::to(query, parameters, true)?;
            Ok((0..answer.rows()).filter_map(|row| answer.get(row, 0)).collect())
        }
    })
}

/// The planner's estimates about a query.
pub struct Estimate {
    pub cost: f64,
    pub rows: f64,
}

/// Returns the planner's estimates about a query without parameters.
///
/// # Safety
/// Must be called within `Spi::connect`.
pub unsafe fn estimate_of(query: &str) -> Result<Estimate, Error> {
    // SAFETY: by the contract of the function.
    unsafe {
        let kept = plan(query, &[])?;
        let plan = pg_sys::SPI_plan_get_cached_plan(kept.0);
        if plan.is_null() {
            return Err(Error::Internal("a query has no cached plan"));
        }
        // A query is a single statement.
        let statement = (*(*(*plan).stmt_list).elements)
            .ptr_value
            .cast::<pg_sys::PlannedStmt>();
        let tree = &*(*statement).planTree;
        let estimate = Estimate {
            cost: tree.total_cost,
            rows: tree.plan_rows,
        };
        pg_sys::ReleaseCachedPlan(plan, pg_sys::CurrentResourceOwner);
        Ok(estimate)
    }
}

/// Plan that outlives its query. Postgres itself replans when a table changes.
struct Plan(pg_sys::SPIPlanPtr);

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: nothing else uses the plan, because code that runs it holds a reference to this `Plan`.
        unsafe { pg_sys::SPI_freeplan(self.0) };
    }
}

/// Text of a query and types of its parameters.
type Question = (String, Vec<pg_sys::Oid>);

/// Returns the plan of a query. While a plan runs, it may be dropped from those that are kept, because it may
/// run further queries itself. Callers therefore hold the returned reference until they are done with the
/// plan.
///
/// # Safety
/// SPI must be connected.
unsafe fn plan(query: &str, types: &[pg_sys::Oid]) -> Result<Rc<Plan>, Error> {
    // SAFETY: by the contract of the function.
    unsafe {
        thread_local! {
            static PLANS: RefCell<FxHashMap<Question, Rc<Plan>>> = RefCell::default();
        }
        let key = (query.to_string(), types.to_vec());
        if let Some(plan) = PLANS.with_borrow(|plans| plans.get(&key).cloned()) {
            return Ok(plan);
        }
        if PLANS.with_borrow(|plans| plans.len()) >= KEPT_PLANS {
            PLANS.take();
        }
        let query = CString::new(query).map_err(|_| Error::Internal("a query contains a NUL character"))?;
        let mut types = types.to_vec();
        let plan = pg_sys::SPI_prepare(query.as_ptr(), types.len() as i32, types.as_mut_ptr());
        if plan.is_null() {
            return Err(Error::Internal("SPI_prepare failed"));
        }
        pg_sys::SPI_keepplan(plan);
        let plan = Rc::new(Plan(plan));
        PLANS.with_borrow_mut(|plans| plans.insert(key, plan.clone()));
        Ok(plan)
    }
}
