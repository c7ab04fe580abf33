//! Arguments about items: tables of beliefs, arrays of items, and lists of itemsets.
//!
//! Items are looked up in the dictionary of the counted items. Values of another type are compared by their
//! text, so that `ARRAY[1, 2]` finds the items '1' and '2' of a text column.

use crate::args::Args;
use crate::encode::dictionary::Dictionary;
use crate::error::Error;
use crate::input::relation::Relation;
use crate::methods::cracks::item_counts::ItemCounts;
use crate::pg::array::{ElementType, Elements};
use crate::pg::receiver::for_each_row;
use crate::pg::types::{ColumnType, parse, print, type_name};
use pgrx::pg_sys::{self, Datum};
use pgrx::prelude::*;

/// Smallest and largest frequency that the adversary believes an item to have; `None` if they believe
/// nothing.
pub type Interval = Option<(f64, f64)>;

/// Reads a table with the columns item, low and high. Returns the interval of every item, in the order of
/// their codes. Items that never occur are added, because the adversary knows that they exist.
pub fn read_belief(counts: &mut ItemCounts, belief: pg_sys::Oid) -> Result<Vec<Interval>, Error> {
    let items = &mut counts.items;
    let argument = "belief";
    let invalid = |problem: &str| {
        Error::argument(
            argument,
            problem,
            "Give each item once, with the smallest and the largest share of transactions that may contain it.",
        )
    };
    let relation = Relation::whole(argument, Some(belief))?;
    let item = relation.column(argument, "item")?.base_type();
    relation.column(argument, "low")?;
    relation.column(argument, "high")?;
    let wanted = items.column().oid;
    let by_way_of = if item == wanted { "" } else { "::pg_catalog.text" };
    let query = format!(
        "SELECT item{by_way_of}::{}, low::pg_catalog.float8, high::pg_catalog.float8 FROM {}",
        type_name(wanted),
        relation.name()
    );
    let mut intervals: Vec<Interval> = vec![None; items.len() as usize];
    let types = [wanted, pg_sys::FLOAT8OID, pg_sys::FLOAT8OID];
    for_each_row(&query, &types, |mut row| {
        let mut next = || row.next().filter(|(_, is_null)| !is_null).map(|(value, _)| value);
        let item = next().ok_or_else(|| invalid("an item is NULL"))?;
        // SAFETY: the query casts them to these types.
        let (low, high, code) = unsafe {
            let mut share = || next().and_then(|share| f64::from_datum(share, false));
            (share(), share(), items.encode(item)?)
        };
        let (low, high) = (low.unwrap_or(0.0), high.unwrap_or(1.0));
        if ![low, high].iter().all(|end| (0.0..=1.0).contains(end)) {
            return Err(invalid("low and high must be between 0 and 1"));
        }
        if low > high {
            return Err(invalid("low must not be greater than high"));
        }
        if code as usize > intervals.len() {
            intervals.push(None);
        }
        match intervals[code as usize - 1].replace((low, high)) {
            None => Ok(()),
            Some(_) => Err(invalid("an item occurs twice")),
        }
    })?;
    Ok(intervals)
}

/// Returns the numbers of the items in an argument, from 0, sorted and without duplicates.
///
/// # Safety
/// `itemset` is a valid array of type `array`.
pub unsafe fn itemset(
    items: &mut Dictionary,
    argument: &'static str,
    itemset: Datum,
    array: pg_sys::Oid,
) -> Result<Vec<u32>, Error> {
    let known = items.len();
    let item_type = items.column().oid;
    let array = ColumnType {
        name: String::new(),
        oid: array,
        collation: pg_sys::InvalidOid,
    };
    let element = ElementType::of(&array).ok_or(Error::argument(
        argument,
        "is not an array",
        "Give an array of items.",
    ))?;
    let given = element.column.clone();
    let mut codes = Vec::new();
    let on_item = |item: Datum| -> Result<(), Error> {
        // SAFETY: an element of the array, of the type `given`.
        let code = unsafe {
            if given.base_type() == item_type {
                items.encode(item)?
            } else {
                items.encode(parse(item_type, &print(given.oid, item))?)?
            }
        };
        if code > known {
            return Err(Error::argument(
                argument,
                "contains an item that does not occur",
                "Give items that are in the column or in the belief table.",
            ));
        }
        codes.push(code - 1);
        Ok(())
    };
    // SAFETY: an array of this type, by the contract.
    unsafe { Elements::new(element).for_each(itemset, on_item)? };
    codes.sort_unstable();
    codes.dedup();
    Ok(codes)
}

/// Itemsets that a call lists: in the argument `itemsets`, in a table, or not at all.
pub struct ListedItemsets {
    array: Option<Datum>,
    table: Option<pg_sys::Oid>,
}

impl ListedItemsets {
    /// Reads the arguments itemsets and itemset_table. The caller checks them after it has read all arguments.
    pub fn read(args: &mut Args) -> Self {
        ListedItemsets {
            array: args.any("itemsets").map(|(array, _)| array),
            table: args.optional("itemset_table"),
        }
    }

    pub fn check(&self) -> Result<(), Error> {
        match (self.array, self.table) {
            (Some(_), Some(_)) => Err(Error::argument(
                "itemsets",
                "must not be given together with itemset_table",
                "Give one of the two, or neither for all itemsets of a size.",
            )),
            _ => Ok(()),
        }
    }

    /// Returns whether itemsets are listed.
    pub fn is_given(&self) -> bool {
        self.array.is_some() || self.table.is_some()
    }

    /// Returns the itemsets; `None` if they are not listed.
    ///
    /// # Safety
    /// The arguments were read from a call of a function that declares itemsets as text[].
    pub unsafe fn itemsets(&self, counts: &mut ItemCounts) -> Result<Option<Vec<Vec<u32>>>, Error> {
        match (self.array, self.table) {
            // SAFETY: by the contract.
            (Some(array), _) => unsafe { itemsets_of_array(counts, array) }.map(Some),
            (None, Some(table)) => itemsets_of_table(counts, table).map(Some),
            (None, None) => Ok(None),
        }
    }
}

/// Returns the itemsets of a two-dimensional text[], one for each of its rows. NULLs pad shorter itemsets.
///
/// # Safety
/// `itemsets` is a valid text[].
unsafe fn itemsets_of_array(counts: &mut ItemCounts, itemsets: Datum) -> Result<Vec<Vec<u32>>, Error> {
    // SAFETY: by the contract.
    let literal = pgrx::spi::quote_literal(unsafe { print(pg_sys::TEXTARRAYOID, itemsets) });
    let query = format!(
        "SELECT ARRAY(SELECT a[i][j] FROM pg_catalog.generate_subscripts(a, 2) j) \
         FROM (SELECT {literal}::pg_catalog.text[] AS a) AS itemsets, pg_catalog.generate_subscripts(a, 1) i"
    );
    let array = pg_sys::TEXTARRAYOID;
    itemsets_of_query(
        counts,
        &query,
        array,
        array,
        "itemsets",
        "Give an array of arrays of items, such as ARRAY[['beer', 'diapers'], ['milk', NULL]].",
    )
}

/// Returns the itemsets in the column "itemset" of a table, which has an array type.
fn itemsets_of_table(counts: &mut ItemCounts, table: pg_sys::Oid) -> Result<Vec<Vec<u32>>, Error> {
    let argument = "itemset_table";
    let relation = Relation::whole(argument, Some(table))?;
    let column = relation.column(argument, "itemset")?;
    let query = format!("SELECT itemset FROM {}", relation.name());
    itemsets_of_query(
        counts,
        &query,
        column.oid,
        column.base_type(),
        argument,
        "Give a table whose column itemset has at least one item in every row that is not NULL.",
    )
}

/// Returns the itemsets that a query returns in its only column, of type `column`, which is the array type
/// `array` or a domain over it. They come from `argument`; `hint` says what it should contain if one is empty.
fn itemsets_of_query(
    counts: &mut ItemCounts,
    query: &str,
    column: pg_sys::Oid,
    array: pg_sys::Oid,
    argument: &'static str,
    hint: &'static str,
) -> Result<Vec<Vec<u32>>, Error> {
    let mut itemsets = Vec::new();
    for_each_row(query, &[column], |mut row| {
        if let Some((value, false)) = row.next() {
            // SAFETY: `for_each_row` checks that the value is of type `column`, a domain over `array` or that type.
            itemsets.push(unsafe { itemset(&mut counts.items, argument, value, array)? });
        }
        Ok(())
    })?;
    // Checked after the last row: which error is raised must not depend on the order of rows.
    if itemsets.iter().any(Vec::is_empty) {
        return Err(Error::argument(
            argument,
            "contains an itemset without items",
            hint,
        ));
    }
    Ok(itemsets)
}
