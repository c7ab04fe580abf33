//! Transactions come in: sets of items, one per row, of which the items' counts are kept.
//!
//! An array is the set of its elements that are not NULL, whatever its dimensions; a value of any other
//! type is a single item. NULL, and an array without elements, is no transaction.

use crate::encode::dictionary::Dictionary;
use crate::error::Problem;
use crate::input::aggregate::AggregateCall;
use crate::input::relation::Relation;
use crate::memory;
use crate::methods::cracks::item_counts_io::ItemNames;
use crate::pg::array::{ElementType, Elements};
use crate::pg::receiver::for_each_row;
use crate::pg::types::ColumnType;
use crate::run::Meter;
use disclosure::cracks::{ItemSummary, Transactions};
use pgrx::Internal;
use pgrx::pg_sys::{self, Datum};
use pgrx::spi::quote_identifier;

/// How many transactions there are, and how many of them have each item.
pub struct ItemCounts {
    pub transactions: u64,
    pub items: Dictionary,
    tallies: Tallies,
    /// Set where the items' type is not there any more: `items` are their texts then.
    texts_of: Option<ItemNames>,
}

impl ItemCounts {
    /// Of no transactions. `items` says what items are: it has been through [`item_type`].
    pub fn new(items: ColumnType) -> Self {
        ItemCounts {
            transactions: 0,
            items: Dictionary::new(items),
            tallies: Tallies::default(),
            texts_of: None,
        }
    }

    /// Of no transactions, where texts are all that is known of the items.
    pub fn of_texts(names: ItemNames) -> Self {
        let text = ColumnType {
            name: String::new(),
            oid: pg_sys::TEXTOID,
            collation: pg_sys::C_COLLATION_OID,
        };
        ItemCounts {
            texts_of: Some(names),
            ..Self::new(text)
        }
    }

    /// Whether items are compared by their texts, as their type is not there any more.
    pub fn are_texts(&self) -> bool {
        self.texts_of.is_some()
    }

    /// What the items are, by name.
    pub fn names(&self) -> ItemNames {
        let of_column = || ItemNames::of_column(self.items.column());
        self.texts_of.clone().unwrap_or_else(of_column)
    }

    /// Of every item, codes in order.
    pub fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        // An item may have been given a code without being counted.
        let missing = self.items.len() as usize - self.tallies.0.len();
        let counted = self.tallies.0.iter().map(|tally| tally.count);
        counted.chain(std::iter::repeat_n(0, missing))
    }

    /// Add transactions, and to the counts of their items.
    pub fn add(
        &mut self,
        transactions: u64,
        counts: impl IntoIterator<Item = (u32, u64)>,
    ) -> Result<(), Problem> {
        let sum = self.transactions.checked_add(transactions);
        let is_shown = |sum: &u64| *sum <= ItemSummary::MOST;
        self.transactions = sum.filter(is_shown).ok_or(Problem::TooManyTransactions)?;
        for (code, count) in counts {
            // No count exceeds the number of transactions, so that sums of counts fit too.
            self.tallies.of(code).count += count;
        }
        Ok(())
    }

    /// Take in what was counted in another process.
    fn merge(&mut self, other: &mut Self) -> Result<(), Problem> {
        if self.are_texts() != other.are_texts() || self.items.column() != other.items.column() {
            if self.names() != other.names() {
                return Err(Problem::ItemTypesDiffer);
            }
            self.become_texts()?;
            other.become_texts()?;
        }
        let translation = self.items.adopt(&other.items)?;
        self.add(
            other.transactions,
            translation.into_iter().skip(1).zip(other.counts()),
        )
    }
}

/// One for every item, codes in order.
#[derive(Default)]
struct Tallies(Vec<Tally>);

#[derive(Clone, Copy, Default)]
struct Tally {
    count: u64,
    /// The number of the transaction that was counted last, so that an item counts once in each.
    last: u64,
}

impl Tallies {
    #[inline]
    fn of(&mut self, code: u32) -> &mut Tally {
        let place = code as usize - 1;
        if place >= self.0.len() {
            self.0.resize(place + 1, Tally::default());
        }
        &mut self.0[place]
    }

    #[inline]
    fn see(&mut self, code: u32, transaction: u64) {
        let tally = self.of(code);
        tally.count += u64::from(tally.last != transaction);
        tally.last = transaction;
    }
}

/// Counts the transactions of a column.
pub struct Counter {
    counts: ItemCounts,
    /// Set where values are arrays.
    elements: Option<Elements>,
}

impl Counter {
    fn new(column: &ColumnType) -> Result<Self, Problem> {
        let (item, elements) = items_of(column)?;
        Ok(Counter {
            counts: ItemCounts::new(item),
            elements,
        })
    }

    /// # Safety
    /// A valid Datum of the column's type.
    #[inline]
    unsafe fn push(&mut self, transaction: Datum) -> Result<(), Problem> {
        let ItemCounts {
            transactions,
            items,
            tallies,
            ..
        } = &mut self.counts;
        let number = *transactions + 1;
        for_each_item(items, &mut self.elements, transaction, |code| {
            tallies.see(code, number);
            *transactions = number;
        })
    }
}

/// Hand the code of every item of a transaction to `on_item`, perhaps several times. `elements` is set where
/// transactions are arrays.
///
/// # Safety
/// A valid Datum of a type for which both were made.
#[inline]
pub unsafe fn for_each_item(
    items: &mut Dictionary,
    elements: &mut Option<Elements>,
    transaction: Datum,
    mut on_item: impl FnMut(u32),
) -> Result<(), Problem> {
    // One loop for each kind of dictionary, so that the choice is made once.
    match (elements, items) {
        (None, items) => on_item(items.encode(transaction)?),
        (Some(elements), Dictionary::Bits(items)) => {
            let intake = items.intake();
            elements.for_each(transaction, |element| {
                on_item(items.encode(intake.bits(element))?);
                Ok(())
            })?;
        }
        (Some(elements), Dictionary::Images(items)) => {
            elements.for_each(transaction, |element| {
                on_item(items.encode(element)?);
                Ok(())
            })?;
        }
    }
    Ok(())
}

/// What the items of a column are, and where its values are arrays, how to read them.
pub fn items_of(column: &ColumnType) -> Result<(ColumnType, Option<Elements>), Problem> {
    let element = ElementType::of(column);
    let item = item_type(element.as_ref().map_or(column, |element| &element.column))?;
    Ok((item, element.map(Elements::new)))
}

/// What items of a column are: values of the type under all domains, under a collation only where that makes
/// different texts equal.
pub fn item_type(column: &ColumnType) -> Result<ColumnType, Problem> {
    let oid = column.base_type();
    if oid == pg_sys::RECORDOID {
        return Err(Problem::argument(
            "items",
            "rows of no type in particular cannot be kept",
            "Cast them to a composite type, or to text.",
        ));
    }
    // SAFETY: catalogue look-ups.
    let collation = unsafe {
        let given = column.collation;
        if given != pg_sys::InvalidOid && !pg_sys::get_collation_isdeterministic(given) {
            given
        } else {
            pg_sys::get_typcollation(oid)
        }
    };
    let name = String::new();
    Ok(ColumnType { name, oid, collation })
}

/// How often each item occurs in the transactions of a relation's column, as far as the calling user may
/// see them.
pub fn read_counts(
    relation: Option<pg_sys::Oid>,
    column_name: Option<String>,
) -> Result<ItemCounts, Problem> {
    let (query, column) = query(relation, column_name)?;
    let mut counter = Counter::new(&column)?;
    for_each_row(&query, |mut row| match row.next() {
        // SAFETY: a value of the column, whose type the lock on the relation keeps.
        Some((value, false)) => unsafe { counter.push(value) },
        _ => Ok(()),
    })?;
    Ok(counter.counts)
}

/// The transactions themselves, and what [`read_counts`] would say of them: an item's number is one less than its
/// code.
pub fn read_transactions(
    relation: Option<pg_sys::Oid>,
    column_name: Option<String>,
) -> Result<(ItemCounts, Transactions), Problem> {
    let (query, column) = query(relation, column_name)?;
    let (item, mut elements) = items_of(&column)?;
    let mut counts = ItemCounts::new(item);
    let mut transactions = Transactions::new(0);
    let mut transaction = Vec::new();
    for_each_row(&query, |mut row| {
        transaction.clear();
        if let Some((value, false)) = row.next() {
            let on_item = |code| transaction.push(code - 1);
            // SAFETY: a value of the column, whose type the lock on the relation keeps.
            unsafe { for_each_item(&mut counts.items, &mut elements, value, on_item)? };
        }
        match transaction.is_empty() {
            true => Ok(()),
            false => Ok(transactions.push(&transaction)?),
        }
    })?;
    let frequencies = transactions.frequencies();
    counts.add(
        transactions.len() as u64,
        (1..).zip(frequencies.counts().iter().copied()),
    )?;
    Ok((counts, transactions))
}

/// The query for a column, and its type.
fn query(
    relation: Option<pg_sys::Oid>,
    column_name: Option<String>,
) -> Result<(String, ColumnType), Problem> {
    let relation = Relation::whole("relation", relation)?;
    let argument = "column_name";
    let column_name = column_name.ok_or(Problem::null(
        argument,
        "Give the name of the column that holds the items.",
    ))?;
    let column = relation.column(argument, &column_name)?.clone();
    let query = format!(
        "SELECT {} FROM {}",
        quote_identifier(&column.name),
        relation.name()
    );
    Ok((query, column))
}

/// The state of every aggregate over transactions or summaries of them.
pub enum ItemAggregate {
    /// Transactions are coming in.
    Counting { counter: Counter, meter: Meter },
    /// Parts are coming in that were counted before.
    Merging(ItemCounts),
}

impl ItemAggregate {
    /// The transition function over transactions.
    pub fn transition(call: &AggregateCall) -> Result<Internal, Problem> {
        let transaction = call.arguments()[0];
        let mut state = call.state();
        if !state.initialized() {
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
        // The meter looks now and then; with many groups of few rows each, that would be never.
        memory::check()?;
        Ok(state)
    }

    /// The transition function over summaries; `None` is NULL.
    pub fn roll_up(call: &AggregateCall, summary: Option<&[u8]>) -> Result<Internal, Problem> {
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

    /// The combine function.
    pub fn combine(call: &AggregateCall) -> Result<Internal, Problem> {
        let mut state = call.state();
        let other = call.arguments()[0];
        let mut other = Internal::from((!other.isnull).then_some(other.value));
        // SAFETY: both states are of this type, by the declaration of the aggregate.
        let (this, other) = unsafe { (state.get_mut::<Self>(), other.get_mut::<Self>()) };
        match (this, other) {
            (Some(this), Some(other)) => this.counts_mut().merge(other.counts_mut())?,
            (None, Some(other)) => {
                let other = other.counts_mut();
                let nothing = || ItemCounts::new(other.items.column().clone());
                let mut counts = other.texts_of.clone().map_or_else(nothing, ItemCounts::of_texts);
                counts.merge(other)?;
                state = call.keep(Self::Merging(counts));
            }
            (_, None) => {}
        }
        memory::check()?;
        Ok(state)
    }

    /// The deserial function; what it reads is what [`ItemCounts::serial`] writes.
    pub fn deserialise(call: &AggregateCall, bytes: &[u8]) -> Result<Internal, Problem> {
        Ok(call.keep(Self::Merging(ItemCounts::of_serial(bytes)?)))
    }

    /// For the serial and final functions, the latter of which may be called again after more rows. `None`:
    /// there were no rows.
    pub fn so_far(state: &mut Internal) -> Option<&ItemCounts> {
        // SAFETY: the state is of this type, by the declaration of the aggregate.
        unsafe { state.get_mut::<Self>() }.map(|state| &*state.counts_mut())
    }

    fn counts_mut(&mut self) -> &mut ItemCounts {
        match self {
            Self::Counting { counter, .. } => &mut counter.counts,
            Self::Merging(counts) => counts,
        }
    }
}
