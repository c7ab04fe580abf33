//! Counts of items, and their three forms: in memory, as a stored value of type item_counts, and as the
//! serialised state of an aggregate that a parallel worker sends to its leader.
//!
//! In memory, items are codes of a [`Dictionary`]. The stored format, [`StoredCounts`], has the items as
//! texts and names their type and collation, so that it can always be printed. If the type was dropped or
//! changed since, items are compared by their texts.

use crate::encode::dictionary::Dictionary;
use crate::encode::wire;
use crate::error::Error;
use crate::memory;
use crate::methods::cracks::item_names::{Found, ItemNames, column_of, means_the_same_for_ever};
use crate::pg::literal::Literals;
use crate::pg::memory_context;
use crate::pg::types::ColumnType;
use disclosure::byte_format::DamagedBytes;
use disclosure::cracks::{StoredCounts, StoredCountsError, StoredCountsWriter};
use pgrx::IntoDatum;
use pgrx::pg_sys::{self, Datum};
use std::borrow::Cow;

/// Number of transactions, and number of those that contain each item.
pub struct ItemCounts {
    pub transactions: u64,
    pub items: Dictionary,
    pub tallies: Tallies,
    /// The type of the items if it does not exist any more; `items` are their texts then.
    texts_of: Option<ItemNames>,
}

impl ItemCounts {
    /// Returns counts without transactions. `items` is the type of the items, as [`item_type`] returns it.
    pub fn new(items: ColumnType) -> Self {
        ItemCounts {
            transactions: 0,
            items: Dictionary::new(items),
            tallies: Tallies::default(),
            texts_of: None,
        }
    }

    /// Returns counts without transactions, for items of which only the texts are known.
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

    /// Returns counts without transactions, for items of the same type.
    pub fn of_nothing(&self) -> Self {
        let of_column = || Self::new(self.items.column().clone());
        self.texts_of.clone().map_or_else(of_column, Self::of_texts)
    }

    /// Returns whether items are compared by their texts, because their type does not exist any more.
    pub fn are_texts(&self) -> bool {
        self.texts_of.is_some()
    }

    /// Returns the names of the items' type and collation.
    pub fn names(&self) -> ItemNames {
        let of_column = || ItemNames::of_column(self.items.column());
        self.texts_of.clone().unwrap_or_else(of_column)
    }

    /// Returns the count of every item, in the order of their codes.
    pub fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        // An item that has only been looked up has a code, but no tally.
        let missing = self.items.len() as usize - self.tallies.0.len();
        let counted = self.tallies.0.iter().map(|tally| tally.count);
        counted.chain(std::iter::repeat_n(0, missing))
    }

    /// Renumbers the items by their values, so that codes do not depend on the order of rows. Returns the
    /// former codes in the new order.
    pub fn put_in_order(&mut self) -> Result<Vec<u32>, Error> {
        let order = self.items.canonical_codes()?;
        if order.is_sorted() {
            return Ok(order);
        }
        let mut items = Dictionary::new(self.items.column().clone());
        memory_context::for_each("ordering items", 0..order.len() as u32, |place| {
            let value = self.items.value(order[place as usize]);
            // SAFETY: a value of the same type, from its dictionary.
            unsafe { items.encode(value) }
        })?;
        let tally = |&code: &u32| *self.tallies.of(code);
        self.tallies = Tallies(order.iter().map(tally).collect());
        self.items = items;
        Ok(order)
    }

    /// Adds transactions and the counts of their items; an error if there are more than can be shown.
    pub fn add(
        &mut self,
        transactions: u64,
        counts: impl IntoIterator<Item = (u32, u64)>,
    ) -> Result<(), Error> {
        let sum = self.transactions.checked_add(transactions);
        let is_shown = |sum: &u64| *sum <= StoredCounts::MAX_TRANSACTIONS;
        self.transactions = sum.filter(is_shown).ok_or(Error::TooManyTransactions)?;
        for (code, count) in counts {
            // A count is at most the number of transactions, so its sum does not overflow either.
            self.tallies.of(code).count += count;
        }
        Ok(())
    }

    /// Adds the counts of another process.
    pub fn merge(&mut self, other: &mut Self) -> Result<(), Error> {
        if self.are_texts() != other.are_texts() || self.items.column() != other.items.column() {
            if self.names() != other.names() {
                return Err(Error::ItemTypesDiffer);
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

    /// Returns the stored form.
    pub fn stored(&self) -> Result<Vec<u8>, Error> {
        let names = self.names();
        let counted = self.counts().filter(|&count| count > 0).count();
        let collation = names.collation.as_deref();
        let mut out = StoredCountsWriter::new(&names.type_name, collation, self.transactions, counted);
        let mut counts = self.counts();
        self.print(|text| match counts.next() {
            Some(count) if count > 0 => out.item(text, count),
            _ => {}
        })?;
        checked(out.finish())
    }

    /// Passes the text of every item to `each`, in the order of their codes.
    fn print(&self, mut each: impl FnMut(&str)) -> Result<(), Error> {
        let mut literals = Literals::of(self.items.column());
        memory_context::for_each("printing items", 1..self.items.len() + 1, |code| {
            // SAFETY: a value of the items' type.
            unsafe { literals.print(self.items.value(code), &mut each) };
            Ok(())
        })?;
        Ok(())
    }

    /// Reads the stored form.
    pub fn of_stored(bytes: &[u8]) -> Result<Self, Error> {
        let summary = StoredCounts::from_bytes(bytes)?;
        match column_of(&summary)? {
            Some(column) => Self::of_items(column, &summary),
            None => {
                let mut counts = Self::of_texts(ItemNames::of_summary(&summary));
                counts.take_items(&summary)?;
                Ok(counts)
            }
        }
    }

    fn of_items(column: ColumnType, summary: &StoredCounts) -> Result<Self, Error> {
        let mut counts = ItemCounts::new(column);
        counts.take_items(summary)?;
        Ok(counts)
    }

    /// Adds other counts, given in the stored form; an error if their items are of another type.
    pub fn merge_stored(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let summary = StoredCounts::from_bytes(bytes)?;
        if ItemNames::of_summary(&summary) != self.names() {
            return Err(Error::ItemTypesDiffer);
        }
        if !self.are_texts() && column_of(&summary)?.as_ref() != Some(self.items.column()) {
            self.become_texts()?;
        }
        self.take_items(&summary)
    }

    /// Adds the items of a stored value.
    fn take_items(&mut self, summary: &StoredCounts) -> Result<(), Error> {
        let mut literals = Literals::of(self.items.column());
        let numbers = 0..u32::try_from(summary.items.len()).map_err(|_| DamagedBytes)?;
        let codes = memory_context::for_each("reading items", numbers, |number| {
            let value = literals.parse(&summary.items[number as usize].0)?;
            // SAFETY: a value that was just made, of the items' type.
            unsafe { self.items.encode(value) }
        })?;
        drop(literals);
        let mut is_there = vec![false; self.items.len() as usize];
        let mut codes_so_far = codes.iter();
        if codes_so_far.any(|&code| std::mem::replace(&mut is_there[code as usize - 1], true)) {
            return Err(Error::EqualItems);
        }
        let counts = summary.items.iter().map(|(_, count)| *count);
        self.add(summary.transactions, codes.into_iter().zip(counts))
    }

    /// Changes the items to their texts, because some stored items cannot be read as values of their type any
    /// more.
    pub fn become_texts(&mut self) -> Result<(), Error> {
        let mut counts = Self::of_texts(self.names());
        let mut texts = Vec::new();
        self.print(|text| texts.push(text.to_owned()))?;
        let numbers = 0..self.items.len();
        let codes = memory_context::for_each("reading items", numbers, |number| {
            let text = texts[number as usize].as_str().into_datum();
            // SAFETY: a text, of which `of_texts` has made a dictionary.
            unsafe { counts.items.encode(text.unwrap_or(Datum::from(0))) }
        })?;
        counts.add(self.transactions, codes.into_iter().zip(self.counts()))?;
        *self = counts;
        Ok(())
    }

    /// Returns the form for another process of this server, which may refer to types by OID.
    pub fn serial(&self) -> Result<Vec<u8>, Error> {
        let mut out = wire::local();
        let column = self.items.column();
        wire::put_varint(&mut out, u64::from(column.oid.to_u32()));
        wire::put_varint(&mut out, u64::from(column.collation.to_u32()));
        wire::put_varint(&mut out, u64::from(self.are_texts()));
        if self.are_texts() {
            let names = self.names();
            wire::put_bytes(&mut out, names.type_name.as_bytes());
            wire::put_bytes(&mut out, names.collation.unwrap_or_default().as_bytes());
        }
        wire::put_varint(&mut out, self.transactions);
        self.items.write_values(&mut out);
        self.counts().for_each(|count| wire::put_varint(&mut out, count));
        wire::finish("a part of item counts", out)
    }

    /// Reads what [`serial`](Self::serial) has written.
    pub fn of_serial(mut bytes: &[u8]) -> Result<Self, Error> {
        let input = &mut bytes;
        wire::take_local(input)?;
        let oid = |input: &mut &[u8]| wire::take_varint(input).map(|oid| pg_sys::Oid::from(oid as u32));
        let text = |input: &mut &[u8]| {
            wire::take_bytes(input).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        let name = String::new();
        let (oid, collation) = (oid(input)?, oid(input)?);
        let mut counts = match wire::take_varint(input)? {
            0 => ItemCounts::new(ColumnType { name, oid, collation }),
            _ => Self::of_texts(ItemNames {
                type_name: text(input)?,
                collation: Some(text(input)?).filter(|name| !name.is_empty()),
            }),
        };
        let transactions = wire::take_varint(input)?;
        let codes = counts.items.read_values(input)?;
        let of_items = codes
            .into_iter()
            .map(|code| Ok((code, wire::take_varint(input)?)))
            .collect::<Result<Vec<_>, DamagedBytes>>()?;
        counts.add(transactions, of_items)?;
        Ok(counts)
    }
}

/// One tally for every item, in the order of their codes.
#[derive(Default)]
pub struct Tallies(Vec<Tally>);

#[derive(Clone, Copy, Default)]
struct Tally {
    count: u64,
    /// Number of the last transaction that was counted, so that an item counts once in each transaction.
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

    /// Counts an item of a transaction; only once, if the item is in it several times.
    #[inline]
    pub fn see(&mut self, code: u32, transaction: u64) {
        let tally = self.of(code);
        tally.count += u64::from(tally.last != transaction);
        tally.last = transaction;
    }
}

/// Memory that each item takes while a text is read, beside the text itself.
const BYTES_PER_ITEM: usize = size_of::<(Cow<str>, u64)>();

/// Returns the stored form of a text: the type's input.
pub fn stored_of_text(text: &str) -> Result<Vec<u8>, Error> {
    let most_items = text.bytes().filter(|&byte| byte == b'[').count();
    memory::require(text.len() + most_items * BYTES_PER_ITEM)?;
    let mut summary = StoredCounts::from_text(text)?;
    match ItemNames::of_summary(&summary).look_up()? {
        Found::Other => Err(StoredCountsError::Invalid("items cannot be of this type").into()),
        // A dump must be restorable even if it contains counts of items whose type does not exist any more.
        Found::Nothing => checked(summary.to_bytes()),
        Found::Column(column) => {
            let names = ItemNames::of_column(&column);
            summary.type_name = names.type_name.into();
            summary.collation = names.collation.map(Cow::Owned);
            if means_the_same_for_ever(&column) && summary.collation.is_none() {
                return ItemCounts::of_items(column, &summary)?.stored();
            }
            // A dump must also be restorable if the type has changed since, so the items are not read.
            checked(summary.to_bytes())
        }
    }
}

/// Returns the text of the stored form: the type's output. It depends on the bytes alone.
pub fn text_of_stored(bytes: &[u8]) -> Result<String, Error> {
    Ok(StoredCounts::from_bytes(bytes)?.to_text())
}

/// Checks the length of a stored form. Its text must fit into a message of Postgres (1 GB) even if COPY
/// escapes, and so doubles, every byte.
fn checked(bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
    const MOST: usize = 1 << 28;
    /// Largest ratio of the length of the text to that of the bytes: an item of two bytes takes a text of
    /// thirty, and any further byte becomes six if JSON escapes it.
    const GROWTH: usize = 15;
    let may_be_too_long = bytes.len() > MOST / GROWTH;
    if may_be_too_long && StoredCounts::from_bytes(&bytes)?.text_length() > MOST {
        return Err(Error::TooLarge {
            what: "the text of item counts",
            limit: "256 MB",
        });
    }
    Ok(bytes)
}
