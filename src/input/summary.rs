//! The forms of an item summary: bytes, as it is stored, and text, as people and pg_dump see it.

use super::dictionary::parse;
use super::items::{item_type, ItemCounts};
use super::wire::{put, put_bytes, take, take_bytes};
use super::{scratch, ColumnType};
use crate::error::Problem;
use pgrx::pg_sys;
use pgrx::spi::quote_qualified_identifier;
use serde_json::Value;
use std::ffi::CStr;

impl ItemCounts {
    /// As bytes: the OID of the items' type, which pg_upgrade keeps; the name of a collation that matters,
    /// whose OID it does not; transactions; items; counts.
    pub fn stored(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let column = self.items.column();
        put(&mut out, u64::from(column.oid.to_u32()));
        put_bytes(&mut out, collation_name(column).unwrap_or_default().as_bytes());
        put(&mut out, self.transactions);
        match is_kept_as_text(column.oid) {
            true => self.put_texts(&mut out),
            false => self.items.write_values(&mut out),
        }
        self.counts().for_each(|count| put(&mut out, count));
        out
    }

    fn put_texts(&self, out: &mut Vec<u8>) {
        put(out, u64::from(self.items.len()));
        for code in 1..=self.items.len() {
            put_bytes(out, self.items.text(code).unwrap_or_default().as_bytes());
        }
    }

    /// The codes of items that [`put_texts`](Self::put_texts) has written.
    fn take_texts(&mut self, bytes: &mut &[u8]) -> Result<Vec<u32>, Problem> {
        let oid = self.items.column().oid;
        let items = 0..take(bytes) as u32;
        scratch::for_each("reading items", items, |_| {
            let text = String::from_utf8_lossy(take_bytes(bytes));
            // SAFETY: a value that was just made, of the type that the items are of.
            unsafe { self.items.encode(parse(oid, &text)?) }
        })
    }

    pub fn of_stored(mut bytes: &[u8]) -> Result<Self, Problem> {
        let mut counts = ItemCounts::new(stored_type(&mut bytes)?);
        counts.take_stored(bytes)?;
        Ok(counts)
    }

    /// Add what [`stored`](Self::stored) has made of other counts of such items.
    pub fn merge_stored(&mut self, mut bytes: &[u8]) -> Result<(), Problem> {
        if stored_type(&mut bytes)? != *self.items.column() {
            return Err(Problem::ItemTypesDiffer);
        }
        self.take_stored(bytes)
    }

    fn take_stored(&mut self, mut bytes: &[u8]) -> Result<(), Problem> {
        let bytes = &mut bytes;
        self.transactions += take(bytes);
        let codes = match is_kept_as_text(self.items.column().oid) {
            true => self.take_texts(bytes)?,
            false => self.items.read_values(bytes)?,
        };
        self.add(codes.into_iter().map(|code| (code, take(bytes))));
        Ok(())
    }

    /// `{"type": "text", "transactions": 10, "items": [["beer", 5], …]}`, the most frequent first; with a
    /// "collation" where it makes different texts equal.
    pub fn text(&self) -> Result<String, Problem> {
        let column = self.items.column();
        let counts: Vec<u64> = self.counts().collect();
        let mut items = scratch::for_each("printing items", 0..self.items.len(), |item| {
            let text = self.items.text(item + 1).unwrap_or_default();
            Ok((counts[item as usize], text))
        })?;
        items.sort_unstable_by(|a, b| (b.0, &a.1).cmp(&(a.0, &b.1)));
        let items: Vec<String> = items
            .into_iter()
            .map(|(count, text)| format!("[{}, {count}]", Value::from(text)))
            .collect();
        let collation = collation_name(column).map_or(String::new(), |name| {
            format!(r#""collation": {}, "#, Value::from(name))
        });
        Ok(format!(
            r#"{{"type": {}, {collation}"transactions": {}, "items": [{}]}}"#,
            Value::from(type_name(column.oid)),
            self.transactions,
            items.join(", ")
        ))
    }

    pub fn of_text(text: &str) -> Result<Self, Problem> {
        let invalid = |problem: &str| Problem::SummaryText {
            problem: problem.into(),
        };
        let summary: Value = serde_json::from_str(text).map_err(|_| invalid("it is not JSON"))?;
        let summary = summary
            .as_object()
            .ok_or_else(|| invalid("it is not an object"))?;
        if let Some(key) = summary.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(invalid(&format!("it has a key \"{key}\"")));
        }
        let name = summary.get("type").and_then(Value::as_str);
        let name = name.ok_or_else(|| invalid("\"type\" is not the name of a type"))?;
        // SAFETY: the type's own input function says what is wrong with a name.
        let oid = unsafe { pg_sys::Oid::from(parse(pg_sys::REGTYPEOID, name)?.value() as u32) };
        let collation = match summary.get("collation").map(Value::as_str) {
            None => pg_sys::InvalidOid,
            Some(Some(name)) => named_collation(name)?,
            Some(None) => return Err(invalid("\"collation\" is not the name of a collation")),
        };
        let name = String::new();
        let column = ColumnType { name, oid, collation };
        // SAFETY: catalogue look-ups.
        unsafe {
            let kind = pg_sys::get_typtype(column.base_type()) as u8;
            let is_array = pg_sys::get_element_type(column.base_type()) != pg_sys::InvalidOid;
            if is_array || kind == pg_sys::TYPTYPE_PSEUDO {
                return Err(invalid("items cannot be of this type"));
            }
        }
        let mut counts = ItemCounts::new(item_type(&column)?);
        let transactions = summary.get("transactions").and_then(Value::as_u64);
        counts.transactions =
            transactions.ok_or_else(|| invalid("\"transactions\" is not a whole number"))?;
        let items = summary.get("items").and_then(Value::as_array);
        let items = items.ok_or_else(|| invalid("\"items\" is not an array"))?;
        let numbers = 0..u32::try_from(items.len()).map_err(|_| invalid("it has too many items"))?;
        let oid = counts.items.column().oid;
        scratch::for_each("reading items", numbers, |number| {
            let item = items[number as usize].as_array().map(Vec::as_slice);
            let (text, count) = match item {
                Some([Value::String(text), Value::Number(count)]) => (text, count.as_u64()),
                _ => return Err(invalid("an item is not a text and a number in an array")),
            };
            let count = count.filter(|count| (1..=counts.transactions).contains(count));
            let count =
                count.ok_or_else(|| invalid("a count is not from 1 to the number of transactions"))?;
            // SAFETY: a value that was just made, of the type that the items are of.
            let code = unsafe { counts.items.encode(parse(oid, text)?)? };
            if code <= number {
                return Err(invalid("an item is there twice"));
            }
            counts.add([(code, count)]);
            Ok(())
        })?;
        if counts.counts().map(u128::from).sum::<u128>() < u128::from(counts.transactions) {
            return Err(invalid("there are transactions without items"));
        }
        Ok(counts)
    }
}

const KEYS: [&str; 4] = ["type", "collation", "transactions", "items"];

/// Whether the bytes of an item cannot be kept: those of a row mean something else after ALTER TYPE, which
/// does not know of summaries, and ranges may be of rows.
fn is_kept_as_text(oid: pg_sys::Oid) -> bool {
    // SAFETY: a catalogue look-up.
    let kind = unsafe { pg_sys::get_typtype(oid) } as u8;
    kind != pg_sys::TYPTYPE_BASE && kind != pg_sys::TYPTYPE_ENUM
}

/// The name of a type, without any modifier, that is the same under any search_path.
pub fn type_name(oid: pg_sys::Oid) -> String {
    // What is not qualified is a word of SQL, of which some, like character, mean a length of 1.
    let flags = pg_sys::FORMAT_TYPE_TYPEMOD_GIVEN | pg_sys::FORMAT_TYPE_FORCE_QUALIFY;
    // SAFETY: a catalogue look-up; the name is a string in the current memory context.
    unsafe {
        let name = pg_sys::format_type_extended(oid, -1, flags as pg_sys::bits16);
        CStr::from_ptr(name).to_string_lossy().into_owned()
    }
}

/// The type at the beginning of a stored summary.
fn stored_type(bytes: &mut &[u8]) -> Result<ColumnType, Problem> {
    let oid = pg_sys::Oid::from(take(bytes) as u32);
    let collation = String::from_utf8_lossy(take_bytes(bytes)).into_owned();
    item_type(&ColumnType {
        name: String::new(),
        oid,
        collation: match collation.is_empty() {
            true => pg_sys::InvalidOid,
            false => named_collation(&collation)?,
        },
    })
}

fn named_collation(name: &str) -> Result<pg_sys::Oid, Problem> {
    // SAFETY: the type's own input function says what is wrong with a name.
    let oid = unsafe { parse(pg_sys::REGCOLLATIONOID, name)? };
    Ok(pg_sys::Oid::from(oid.value() as u32))
}

/// The name of the items' collation, quoted and the same under any search_path, where it makes different
/// texts equal.
fn collation_name(items: &ColumnType) -> Option<String> {
    let collation = items.collation;
    // SAFETY: a tuple of the catalogue's cache, released when its names are copied.
    unsafe {
        if collation == pg_sys::InvalidOid || pg_sys::get_collation_isdeterministic(collation) {
            return None;
        }
        let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::COLLOID as i32, collation.into());
        if tuple.is_null() {
            return None; // dropped in this very moment
        }
        let form = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_collation>();
        let text = |name: *const std::ffi::c_char| CStr::from_ptr(name).to_string_lossy().into_owned();
        let name = text((*form).collname.data.as_ptr());
        let schema = pg_sys::get_namespace_name((*form).collnamespace);
        let schema = (!schema.is_null()).then(|| text(schema));
        pg_sys::ReleaseSysCache(tuple);
        schema.map(|schema| quote_qualified_identifier(schema, name))
    }
}
