//! Reads transactions, which are sets of items, one for each row, and counts the items.
//!
//! An array is the set of its elements that are not NULL, for any number of dimensions. A value of any other
//! type is a single item. NULL and arrays without elements are not transactions. Rows come from a relation,
//! by [`read_counts`], [`read_table`] and [`read_transactions`], or one by one from an aggregate, by
//! [`ItemAggregate`].

use crate::encode::dictionary::Dictionary;
use crate::error::Error;
use crate::input::aggregate::AggregateCall;
use crate::input::relation::Relation;
use crate::label::{labels_of, notice_unlabelled};
use crate::memory;
use crate::methods::cracks::item_counts::ItemCounts;
use crate::methods::cracks::item_names::item_type;
use crate::pg::array::{ElementType, Elements};
use crate::pg::expression::OverColumns;
use crate::pg::receiver::for_each_row;
use crate::pg::types::ColumnType;
use crate::run::Meter;
use disclosure::cracks::Transactions;
use pgrx::Internal;
use pgrx::pg_sys::{self, Datum};
use pgrx::spi::quote_identifier;
use std::collections::HashMap;

/// Counts the transactions of a column.
pub struct Counter {
    counts: ItemCounts,
    /// `Some` if values are arrays.
    elements: Option<Elements>,
}

impl Counter {
    fn new(column: &ColumnType) -> Result<Self, Error> {
        let (item, elements) = items_of(column)?;
        Ok(Counter {
            counts: ItemCounts::new(item),
            elements,
        })
    }

    /// Counts the items of one value.
    ///
    /// # Safety
    /// A valid Datum of the column's type.
    #[inline]
    unsafe fn push(&mut self, transaction: Datum) -> Result<(), Error> {
        let ItemCounts {
            transactions,
            items,
            tallies,
            ..
        } = &mut self.counts;
        let number = *transactions + 1;
        let on_item = |code| {
            tallies.see(code, number);
            *transactions = number;
        };
        // SAFETY: by the contract.
        unsafe { for_each_item(items, &mut self.elements, transaction, on_item) }
    }
}

/// Passes the code of each item of a transaction to `on_item`. An item that occurs twice in an array is
/// passed twice. `elements` is `Some` if transactions are arrays.
///
/// # Safety
/// A valid Datum of a type for which both were made.
#[inline]
pub unsafe fn for_each_item(
    items: &mut Dictionary,
    elements: &mut Option<Elements>,
    transaction: Datum,
    mut on_item: impl FnMut(u32),
) -> Result<(), Error> {
    // One loop for each kind of dictionary, so that the kind is not looked up for each element.
    match (elements, items) {
        (None, items) => {
            // SAFETY: by the contract of the function.
            on_item(unsafe { items.encode(transaction)? });
            Ok(())
        }
        (Some(elements), Dictionary::Bits(items)) => {
            let intake = items.intake();
            let on_element = |element: Datum| -> Result<(), Error> {
                on_item(items.encode(intake.bits(element))?);
                Ok(())
            };
            // SAFETY: by the contract of the function, `transaction` is a valid array.
            unsafe { elements.for_each(transaction, on_element) }
        }
        (Some(elements), Dictionary::Images(items)) => {
            let on_element = |element: Datum| -> Result<(), Error> {
                // SAFETY: an element of the array, of the type of the items.
                on_item(unsafe { items.encode(element)? });
                Ok(())
            };
            // SAFETY: by the contract of the function, `transaction` is a valid array.
            unsafe { elements.for_each(transaction, on_element) }
        }
    }
}

/// Returns the type of a column's items and, if its values are arrays, a reader of their elements.
pub fn items_of(column: &ColumnType) -> Result<(ColumnType, Option<Elements>), Error> {
    let element = ElementType::of(column);
    let item = item_type(element.as_ref().map_or(column, |element| &element.column))?;
    Ok((item, element.map(Elements::new)))
}

/// Counts the items of one column of a relation, in the rows that the calling user may see.
pub fn read_counts(relation: Option<pg_sys::Oid>, column_name: Option<String>) -> Result<ItemCounts, Error> {
    let (query, column) = query(relation, column_name)?;
    let (_, mut counts) = read_columns(&query, &[column])?;
    counts.pop().ok_or(Error::Internal("a column was not counted"))
}

/// The items of all columns of a table that take part.
pub struct CountedTable {
    pub rows: u64,
    /// Names and counts, in the order of the columns.
    pub columns: Vec<(String, ItemCounts)>,
}

/// Counts the items of all columns of a relation in one pass over the rows that the calling user may see.
/// Columns whose labels exclude them from every measure are left out.
pub fn read_table(oid: Option<pg_sys::Oid>) -> Result<CountedTable, Error> {
    let relation = Relation::whole("relation", oid)?;
    let labels = oid.map_or_else(|| Ok(HashMap::new()), labels_of)?;
    let takes_part = |column: &&ColumnType| {
        let label = labels.get(&column.name);
        label.is_none_or(|label| label.weights().is_some())
    };
    let columns: Vec<ColumnType> = relation.columns().iter().filter(takes_part).cloned().collect();
    if let Some(oid) = oid {
        let names = columns.iter().map(|column| &column.name[..]);
        let unlabelled: Vec<&str> = names.filter(|name| !labels.contains_key(*name)).collect();
        notice_unlabelled(oid, &unlabelled);
    }
    if columns.is_empty() {
        let (rows, columns) = (0, Vec::new());
        return Ok(CountedTable { rows, columns });
    }
    let (rows, counts) = read_columns(&select(&columns, &relation), &columns)?;
    let names = columns.into_iter().map(|column| column.name);
    Ok(CountedTable {
        rows,
        columns: names.zip(counts).collect(),
    })
}

/// Returns the number of rows of a query, and the counts of the items in each of its columns.
fn read_columns(query: &str, columns: &[ColumnType]) -> Result<(u64, Vec<ItemCounts>), Error> {
    let counters = columns.iter().map(Counter::new);
    let mut counters = counters.collect::<Result<Vec<_>, Error>>()?;
    let mut rows = 0;
    let types: Vec<pg_sys::Oid> = columns.iter().map(|column| column.oid).collect();
    for_each_row(query, &types, |row| {
        rows += 1;
        for (counter, (value, is_null)) in counters.iter_mut().zip(row) {
            if !is_null {
                // SAFETY: the value has the type of the column, because `for_each_row` checks it.
                unsafe { counter.push(value)? };
            }
        }
        Ok(())
    })?;
    Ok((rows, counters.into_iter().map(|counter| counter.counts).collect()))
}

/// Returns the counts that [`read_counts`] would return, and the transactions themselves. There, an item's
/// number is its code minus one.
pub fn read_transactions(
    relation: Option<pg_sys::Oid>,
    column_name: Option<String>,
) -> Result<(ItemCounts, Transactions), Error> {
    let (query, column) = query(relation, column_name)?;
    let (item, mut elements) = items_of(&column)?;
    let mut counts = ItemCounts::new(item);
    let mut transactions = Transactions::new(0);
    let mut transaction = Vec::new();
    for_each_row(&query, &[column.oid], |mut row| {
        transaction.clear();
        if let Some((value, false)) = row.next() {
            let on_item = |code| transaction.push(code - 1);
            // SAFETY: the value has the type of the column, because `for_each_row` checks it.
            unsafe { for_each_item(&mut counts.items, &mut elements, value, on_item)? };
        }
        if !transaction.is_empty() {
            transactions.push(&transaction)?;
        }
        Ok(())
    })?;
    let frequencies = transactions.frequencies();
    counts.add(
        transactions.len() as u64,
        (1..).zip(frequencies.counts().iter().copied()),
    )?;
    Ok((counts, transactions))
}

/// Returns the query for one column, and the column's type.
fn query(relation: Option<pg_sys::Oid>, column_name: Option<String>) -> Result<(String, ColumnType), Error> {
    let relation = Relation::whole("relation", relation)?;
    let argument = "column_name";
    let column_name = column_name.ok_or(Error::null(
        argument,
        "Give the name of the column that holds the items.",
    ))?;
    let column = relation.column(argument, &column_name)?.clone();
    let query = select(std::slice::from_ref(&column), &relation);
    Ok((query, column))
}

/// Returns the query for some columns of a relation.
fn select(columns: &[ColumnType], relation: &Relation) -> String {
    let names: Vec<String> = columns
        .iter()
        .map(|column| quote_identifier(&column.name))
        .collect();
    format!("SELECT {} FROM {}", names.join(", "), relation.name())
}

const COUNT_ITEMS: OverColumns = OverColumns {
    name: "count_items",
    hint: "Give a column, as in SELECT disclosure.count_items(items) FROM t; for a column of a relation by name \
     see disclosure.count_items('t', 'items').",
};

/// State of the aggregates `count_items` and `rollup`.
pub enum ItemAggregate {
    /// Counts rows of the current process.
    Counting { counter: Counter, meter: Meter },
    /// Merges parts that were counted before.
    Merging(ItemCounts),
}

impl ItemAggregate {
    /// Transition function of `count_items`: counts one transaction.
    pub fn transition(call: &AggregateCall) -> Result<Internal, Error> {
        let transaction = call.arguments()[0];
        let mut state = call.state();
        if !state.initialized() {
            call.check_columns(&COUNT_ITEMS, 1)?;
            let counter = Counter::new(&call.argument_types()[0])?;
            let meter = Meter::new("counting items");
            state = call.keep(Self::Counting { counter, meter });
        }
        // SAFETY: the state was made above, in this or an earlier call, for values of the argument's type.
        unsafe {
            if let Some(Self::Counting { counter, meter }) = state.get_mut::<Self>() {
                if !transaction.isnull {
                    counter.push(transaction.value)?;
                }
                meter.row()?;
            }
        }
        // The meter checks memory every 1,024 rows, which is never if there are many groups of few rows.
        memory::check()?;
        Ok(state)
    }

    /// Transition function of `rollup`: merges stored counts; `None` is NULL.
    pub fn roll_up(call: &AggregateCall, summary: Option<&[u8]>) -> Result<Internal, Error> {
        let mut state = call.state();
        let Some(summary) = summary else {
            return Ok(state);
        };
        // SAFETY: the state is of this type, by the declaration of the aggregate.
        match unsafe { state.get_mut::<Self>() } {
            Some(this) => this.counts_mut().merge_stored(summary)?,
            None => state = call.keep(Self::Merging(ItemCounts::of_stored(summary)?)),
        }
        pgrx::check_for_interrupts!();
        memory::check()?;
        Ok(state)
    }

    /// Combine function: merges the states of two processes.
    pub fn combine(call: &AggregateCall) -> Result<Internal, Error> {
        let mut state = call.state();
        let other = call.arguments()[0];
        let mut other = Internal::from((!other.isnull).then_some(other.value));
        // SAFETY: both states are of this type, by the declaration of the aggregate.
        let (this, other) = unsafe { (state.get_mut::<Self>(), other.get_mut::<Self>()) };
        match (this, other) {
            (Some(this), Some(other)) => this.counts_mut().merge(other.counts_mut())?,
            (None, Some(other)) => {
                let other = other.counts_mut();
                let mut counts = other.of_nothing();
                counts.merge(other)?;
                state = call.keep(Self::Merging(counts));
            }
            (_, None) => {}
        }
        memory::check()?;
        Ok(state)
    }

    /// Deserialisation function: reads what [`ItemCounts::serial`] has written.
    pub fn deserialise(call: &AggregateCall, bytes: &[u8]) -> Result<Internal, Error> {
        Ok(call.keep(Self::Merging(ItemCounts::of_serial(bytes)?)))
    }

    /// Returns the counts so far, for the serialisation and final functions; `None` if there were no rows.
    /// The final function may be called again after more rows.
    pub fn so_far(state: &mut Internal) -> Option<&mut ItemCounts> {
        // SAFETY: the state is of this type, by the declaration of the aggregate.
        unsafe { state.get_mut::<Self>() }.map(Self::counts_mut)
    }

    fn counts_mut(&mut self) -> &mut ItemCounts {
        match self {
            Self::Counting { counter, .. } => &mut counter.counts,
            Self::Merging(counts) => counts,
        }
    }
}
