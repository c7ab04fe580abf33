//! Item counts (`item_counts` in SQL): how they are stored and printed.
//!
//! They contain the name of the items' type, the name of the collation that determines which items are
//! equal, and every item as text with its count. They do not depend on anything else in the database. So they
//! can be printed, moved to another server and merged with other counts of the same type, even if the type
//! no longer exists.

use crate::byte_format::{DamagedBytes, put_bytes, put_varint, take_array, take_bytes, take_varint};
use crate::json::{Reader, put_string, quoted_length};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt::Write;
use thiserror::Error;

/// Number of transactions, and number of transactions that contain each item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCounts<'a> {
    /// Name of the items' type, in a form that SQL resolves under any search path.
    pub type_name: Cow<'a, str>,
    /// Name of the collation, if it treats different texts as equal.
    pub collation: Option<Cow<'a, str>>,
    /// Number of transactions, at most [`MAX_TRANSACTIONS`](Self::MAX_TRANSACTIONS).
    pub transactions: u64,
    /// Items and their counts, in any order.
    pub items: Vec<(Cow<'a, str>, u64)>,
}

/// Reason why a text or a byte string is not valid as stored counts. Messages never contain an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StoredCountsError {
    /// The text has another form, or contradicts itself.
    #[error("{0}")]
    Invalid(&'static str),
    /// The bytes were written by another version of this code.
    #[error("unknown version {0} of the format")]
    Version(u8),
    /// The bytes have another form.
    #[error(transparent)]
    Damaged(#[from] DamagedBytes),
}

use StoredCountsError::Invalid;

impl<'a> StoredCounts<'a> {
    /// Version of the byte format, stored in the first byte.
    pub const VERSION: u8 = 1;

    /// Maximum number of transactions: the largest `bigint`.
    pub const MAX_TRANSACTIONS: u64 = i64::MAX as u64;

    /// Sorts the items into the order in which they are printed, and checks the invariants:
    /// items are distinct, counts are from 1 to the number of transactions, and no transaction is empty.
    fn sorted_and_checked(mut self) -> Result<Self, StoredCountsError> {
        self.items.sort_unstable();
        if self.items.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(Invalid("an item occurs twice"));
        }
        self.items.sort_by_key(|&(_, count)| Reverse(count));
        let mut counts = self.items.iter().map(|(_, count)| count);
        if !counts.all(|count| (1..=self.transactions).contains(count)) {
            return Err(Invalid("a count is not between 1 and the number of transactions"));
        }
        let sum: u128 = self.items.iter().map(|(_, count)| u128::from(*count)).sum();
        if sum < u128::from(self.transactions) {
            return Err(Invalid(
                "the counts add up to less than the number of transactions",
            ));
        }
        Ok(self)
    }

    /// Returns the counts of these items, which may come in any order.
    pub fn new(
        type_name: Cow<'a, str>,
        collation: Option<Cow<'a, str>>,
        transactions: u64,
        items: Vec<(Cow<'a, str>, u64)>,
    ) -> Result<Self, StoredCountsError> {
        let stored = StoredCounts {
            type_name,
            collation,
            transactions,
            items,
        };
        match transactions > Self::MAX_TRANSACTIONS {
            true => Err(Invalid(TRANSACTIONS)),
            false => stored.sorted_and_checked(),
        }
    }

    /// Returns the byte format: the version, the names of the type and the collation (empty if there is
    /// none), the number of transactions, the number of items, and every item with its count.
    pub fn to_bytes(&self) -> Vec<u8> {
        let collation = self.collation.as_deref();
        let mut out =
            StoredCountsWriter::new(&self.type_name, collation, self.transactions, self.items.len());
        for (text, count) in &self.items {
            out.item(text, *count);
        }
        out.finish()
    }

    /// Reads the byte format that [`to_bytes`](Self::to_bytes) writes.
    pub fn from_bytes(mut bytes: &'a [u8]) -> Result<Self, StoredCountsError> {
        let input = &mut bytes;
        match take_array(input)? {
            [Self::VERSION] => {}
            [version] => return Err(StoredCountsError::Version(version)),
        }
        let type_name = take_text(input)?;
        let collation = Some(take_text(input)?).filter(|name| !name.is_empty());
        let transactions = take_varint(input)?;
        let number = take_varint(input)?;
        let mut items = Vec::with_capacity((number as usize).min(input.len() / 2));
        for _ in 0..number {
            items.push((take_text(input)?, take_varint(input)?));
        }
        let is_count = |(_, count): &(Cow<str>, u64)| (1..=transactions).contains(count);
        if !input.is_empty() || transactions > Self::MAX_TRANSACTIONS || !items.iter().all(is_count) {
            return Err(DamagedBytes.into());
        }
        Ok(StoredCounts {
            type_name,
            collation,
            transactions,
            items,
        })
    }

    /// Prints `{"type": "text", "transactions": 10, "items": [["beer", 5], …]}`, the most frequent items
    /// first, with a "collation" after the type if there is one.
    pub fn to_text(&self) -> String {
        let mut out = String::with_capacity(self.text_length());
        out.push_str(r#"{"type": "#);
        put_string(&mut out, &self.type_name);
        if let Some(collation) = &self.collation {
            out.push_str(r#", "collation": "#);
            put_string(&mut out, collation);
        }
        // Writing to a string cannot fail.
        let _ = write!(out, r#", "transactions": {}, "items": ["#, self.transactions);
        let mut items: Vec<_> = self.items.iter().collect();
        items.sort_unstable_by_key(|(text, count)| (Reverse(*count), text));
        for (number, (text, count)) in items.into_iter().enumerate() {
            out.push_str(if number == 0 { "[" } else { ", [" });
            put_string(&mut out, text);
            let _ = write!(out, ", {count}]");
        }
        out.push_str("]}");
        out
    }

    /// Returns an upper bound on the length of [`to_text`](Self::to_text) in bytes.
    pub fn text_length(&self) -> usize {
        const DIGITS: usize = 20;
        let item = |(text, _): &(Cow<'_, str>, u64)| quoted_length(text) + DIGITS + ", [, ]".len();
        let names = quoted_length(&self.type_name) + self.collation.as_deref().map_or(0, quoted_length);
        let rest = r#"{"type": , "collation": , "transactions": , "items": []}"#.len() + DIGITS;
        rest + names + self.items.iter().map(item).sum::<usize>()
    }

    /// Reads the text that [`to_text`](Self::to_text) prints, or any other JSON object with the same keys.
    pub fn from_text(text: &'a str) -> Result<Self, StoredCountsError> {
        const NOT_JSON: StoredCountsError = Invalid("the text is not valid JSON");
        let mut json = Reader::new(text);
        let (mut type_name, mut collation, mut transactions, mut items) = (None, None, None, None);
        json.punctuation('{')
            .ok_or(Invalid("the text is not a JSON object"))?;
        let mut is_first = true;
        while json.punctuation('}').is_none() {
            if !std::mem::take(&mut is_first) {
                json.punctuation(',').ok_or(NOT_JSON)?;
            }
            let key = json.string().ok_or(NOT_JSON)?;
            json.punctuation(':').ok_or(NOT_JSON)?;
            let is_new = match &*key {
                "type" => type_name.replace(name(&mut json).ok_or(Invalid(TYPE))?).is_none(),
                "collation" => collation
                    .replace(name(&mut json).ok_or(Invalid(COLLATION))?)
                    .is_none(),
                "transactions" => transactions
                    .replace(json.whole_number().ok_or(Invalid(TRANSACTIONS))?)
                    .is_none(),
                "items" => items.replace(read_items(&mut json)?).is_none(),
                _ => return Err(Invalid("the object contains an unknown key")),
            };
            if !is_new {
                return Err(Invalid("the object contains a key twice"));
            }
        }
        json.end().ok_or(NOT_JSON)?;
        Self::new(
            type_name.ok_or(Invalid(TYPE))?,
            collation,
            transactions.ok_or(Invalid(TRANSACTIONS))?,
            items.ok_or(Invalid(ITEMS))?,
        )
    }
}

/// Writes the byte format of [`StoredCounts::to_bytes`] item by item.
pub struct StoredCountsWriter(Vec<u8>);

impl StoredCountsWriter {
    /// Starts counts with this number of distinct items.
    pub fn new(type_name: &str, collation: Option<&str>, transactions: u64, items: usize) -> Self {
        let mut out = vec![StoredCounts::VERSION];
        put_bytes(&mut out, type_name.as_bytes());
        put_bytes(&mut out, collation.unwrap_or("").as_bytes());
        put_varint(&mut out, transactions);
        put_varint(&mut out, items as u64);
        StoredCountsWriter(out)
    }

    /// Adds an item and the number of transactions that contain it.
    pub fn item(&mut self, text: &str, count: u64) {
        put_bytes(&mut self.0, text.as_bytes());
        put_varint(&mut self.0, count);
    }

    /// Returns the bytes. To be called after the last item.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

const TYPE: &str = "\"type\" is not the name of a type";
const COLLATION: &str = "\"collation\" is not the name of a collation";
const TRANSACTIONS: &str = "\"transactions\" is not a whole number from 0 to 9223372036854775807";
const ITEMS: &str = "\"items\" is not an array";

fn take_text<'a>(input: &mut &'a [u8]) -> Result<Cow<'a, str>, DamagedBytes> {
    let text = str::from_utf8(take_bytes(input)?).map_err(|_| DamagedBytes)?;
    Ok(text.into())
}

fn name<'a>(json: &mut Reader<'a>) -> Option<Cow<'a, str>> {
    json.string().filter(|name| SqlName::parse(name).is_some())
}

fn read_items<'a>(json: &mut Reader<'a>) -> Result<Vec<(Cow<'a, str>, u64)>, StoredCountsError> {
    const ITEM: StoredCountsError = Invalid("an item is not an array of a string and a number");
    json.punctuation('[').ok_or(Invalid(ITEMS))?;
    let mut items = Vec::new();
    while json.punctuation(']').is_none() {
        if !items.is_empty() {
            json.punctuation(',').ok_or(ITEM)?;
        }
        json.punctuation('[').ok_or(ITEM)?;
        let text = json.string().ok_or(ITEM)?;
        if text.contains('\0') {
            return Err(Invalid("an item contains a NUL character"));
        }
        json.punctuation(',').ok_or(ITEM)?;
        let count = json.whole_number();
        json.punctuation(']').ok_or(ITEM)?;
        let count = count.ok_or(Invalid("a count is not a whole number"))?;
        items.push((text, count));
    }
    Ok(items)
}

/// Name of a type or collation in SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SqlName {
    /// `schema.name`, which means the same under any search path.
    Qualified {
        /// The schema.
        schema: String,
        /// The name within the schema.
        name: String,
    },
    /// One or more words, such as `timestamp with time zone`, or a quoted identifier.
    Words,
}

impl SqlName {
    /// Maximum number of bytes in a Postgres identifier.
    const MAX_BYTES: usize = 63;

    /// Parses a name; `None` if the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        let first = identifier(&mut rest)?;
        match rest.strip_prefix('.') {
            Some(mut rest) => {
                let name = identifier(&mut rest)?;
                rest.is_empty()
                    .then_some(SqlName::Qualified { schema: first, name })
            }
            None => {
                while let Some(mut more) = rest.strip_prefix(' ') {
                    identifier(&mut more)?;
                    rest = more;
                }
                rest.is_empty().then_some(SqlName::Words)
            }
        }
    }
}

/// Reads the identifier at the beginning of `text` and advances `text` past it. A quoted identifier keeps its
/// case; any other is converted to lower case.
fn identifier(text: &mut &str) -> Option<String> {
    let mut found = String::new();
    if let Some(quoted) = text.strip_prefix('"') {
        let mut parts = quoted;
        loop {
            let (part, rest) = parts.split_once('"')?;
            found.push_str(part);
            match rest.strip_prefix('"') {
                Some(rest) => {
                    found.push('"');
                    parts = rest;
                }
                None => {
                    *text = rest;
                    break;
                }
            }
        }
    } else {
        let is_start = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
        let is_part = |c: char| is_start(c) || c.is_ascii_digit() || c == '$';
        let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        found = Some(name.to_ascii_lowercase()).filter(|name| name.starts_with(is_start))?;
        *text = rest;
    }
    let is_valid = !found.is_empty() && found.len() <= SqlName::MAX_BYTES && !found.contains('\0');
    is_valid.then_some(found)
}
