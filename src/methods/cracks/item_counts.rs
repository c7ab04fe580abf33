//! Counts of items: while they are counted, as they are stored, and on their way from one process to another.
//! [`ItemSummary`] has the stored format, in which items are texts.

use crate::encode::dictionary::Dictionary;
use crate::encode::wire;
use crate::error::Problem;
use crate::memory;
use crate::methods::cracks::item_names::{Found, ItemNames, column_of, means_the_same_for_ever};
use crate::pg::literal::Literals;
use crate::pg::memory_context;
use crate::pg::types::ColumnType;
use disclosure::byte_format::DamagedBytes;
use disclosure::cracks::{ItemSummary, SummaryError, SummaryWriter};
use pgrx::IntoDatum;
use pgrx::pg_sys::{self, Datum};
use std::borrow::Cow;

/// How many transactions there are, and how many of them have each item.
pub struct ItemCounts {
    pub transactions: u64,
    pub items: Dictionary,
    pub tallies: Tallies,
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

    /// Of no transactions, where items are the same as here.
    pub fn of_nothing(&self) -> Self {
        let of_column = || Self::new(self.items.column().clone());
        self.texts_of.clone().map_or_else(of_column, Self::of_texts)
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

    /// Numbers the items anew, by their values instead of as they were read. Returns the former codes in the new order.
    pub fn put_in_order(&mut self) -> Result<Vec<u32>, Problem> {
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
    pub fn merge(&mut self, other: &mut Self) -> Result<(), Problem> {
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

    /// As it is stored.
    pub fn stored(&self) -> Result<Vec<u8>, Problem> {
        let names = self.names();
        let counted = self.counts().filter(|&count| count > 0).count();
        let collation = names.collation.as_deref();
        let mut out = SummaryWriter::new(&names.type_name, collation, self.transactions, counted);
        let mut counts = self.counts();
        self.print(|text| match counts.next() {
            Some(count) if count > 0 => out.item(text, count),
            _ => {}
        })?;
        checked(out.finish())
    }

    /// Hand the text of every item to `each`, codes in order.
    fn print(&self, mut each: impl FnMut(&str)) -> Result<(), Problem> {
        let mut literals = Literals::of(self.items.column());
        memory_context::for_each("printing items", 1..self.items.len() + 1, |code| {
            // SAFETY: a value of the items' type.
            unsafe { literals.print(self.items.value(code), &mut each) };
            Ok(())
        })?;
        Ok(())
    }

    pub fn of_stored(bytes: &[u8]) -> Result<Self, Problem> {
        let summary = ItemSummary::of_bytes(bytes)?;
        match column_of(&summary)? {
            Some(column) => Self::of_items(column, &summary),
            None => {
                let mut counts = Self::of_texts(ItemNames::of_summary(&summary));
                counts.take_items(&summary)?;
                Ok(counts)
            }
        }
    }

    fn of_items(column: ColumnType, summary: &ItemSummary) -> Result<Self, Problem> {
        let mut counts = ItemCounts::new(column);
        counts.take_items(summary)?;
        Ok(counts)
    }

    /// Add what [`stored`](Self::stored) has made of other counts of such items.
    pub fn merge_stored(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        let summary = ItemSummary::of_bytes(bytes)?;
        if ItemNames::of_summary(&summary) != self.names() {
            return Err(Problem::ItemTypesDiffer);
        }
        if !self.are_texts() && column_of(&summary)?.as_ref() != Some(self.items.column()) {
            self.become_texts()?;
        }
        self.take_items(&summary)
    }

    /// Add the items of a summary.
    fn take_items(&mut self, summary: &ItemSummary) -> Result<(), Problem> {
        let mut literals = Literals::of(self.items.column());
        let numbers = 0..u32::try_from(summary.items.len()).map_err(|_| DamagedBytes)?;
        let codes = memory_context::for_each("reading items", numbers, |number| {
            let value = literals.parse(&summary.items[number as usize].0)?;
            // SAFETY: a value that was just made, of the type that the items are of.
            unsafe { self.items.encode(value) }
        })?;
        drop(literals);
        let mut is_there = vec![false; self.items.len() as usize];
        let mut codes_so_far = codes.iter();
        if codes_so_far.any(|&code| std::mem::replace(&mut is_there[code as usize - 1], true)) {
            return Err(Problem::EqualItems);
        }
        let counts = summary.items.iter().map(|(_, count)| *count);
        self.add(summary.transactions, codes.into_iter().zip(counts))
    }

    /// Compare items by their texts from now on, since not all of them can be read any more.
    pub fn become_texts(&mut self) -> Result<(), Problem> {
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

    /// For another process of this server.
    pub fn serial(&self) -> Result<Vec<u8>, Problem> {
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
        wire::finish("a part of an item summary", out)
    }

    /// What [`serial`](Self::serial) has written.
    pub fn of_serial(mut bytes: &[u8]) -> Result<Self, Problem> {
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

/// One for every item, codes in order.
#[derive(Default)]
pub struct Tallies(Vec<Tally>);

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
    pub fn see(&mut self, code: u32, transaction: u64) {
        let tally = self.of(code);
        tally.count += u64::from(tally.last != transaction);
        tally.last = transaction;
    }
}

/// What a summary needs in memory to be read, beside its text.
const BYTES_PER_ITEM: usize = size_of::<(Cow<str>, u64)>();

/// The type's input: what is stored for a text.
pub fn stored_of_text(text: &str) -> Result<Vec<u8>, Problem> {
    let most_items = text.bytes().filter(|&byte| byte == b'[').count();
    memory::require(text.len() + most_items * BYTES_PER_ITEM)?;
    let mut summary = ItemSummary::of_text(text)?;
    match ItemNames::of_summary(&summary).look_up()? {
        Found::Other => Err(SummaryError::Invalid("items cannot be of this type").into()),
        // A dump has to be restored even if it has summaries of what is not there any more.
        Found::Nothing => checked(summary.to_bytes()),
        Found::Column(column) => {
            let names = ItemNames::of_column(&column);
            summary.type_name = names.type_name.into();
            summary.collation = names.collation.map(Cow::Owned);
            if means_the_same_for_ever(&column) && summary.collation.is_none() {
                return ItemCounts::of_items(column, &summary)?.stored();
            }
            // Nor may it depend on what has changed since.
            checked(summary.to_bytes())
        }
    }
}

/// The type's output, which asks for nothing but the bytes.
pub fn text_of_stored(bytes: &[u8]) -> Result<String, Problem> {
    Ok(ItemSummary::of_bytes(bytes)?.to_text())
}

/// What is stored. Its text must fit into a message of Postgres (1 GB), even if COPY doubles every byte of it.
fn checked(bytes: Vec<u8>) -> Result<Vec<u8>, Problem> {
    const MOST: usize = 1 << 28;
    /// An item takes two bytes or more, and a text of thirty; another byte becomes six if it is escaped.
    const GROWTH: usize = 15;
    let may_be_too_long = bytes.len() > MOST / GROWTH;
    if may_be_too_long && ItemSummary::of_bytes(&bytes)?.text_length() > MOST {
        return Err(Problem::TooLarge {
            what: "the text of an item summary",
            limit: "256 MB",
        });
    }
    Ok(bytes)
}
