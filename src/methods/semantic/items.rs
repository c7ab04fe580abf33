//! Items of transactions. Values that are equal for their type are one item, as for every other measure.
//!
//! First, the values of each column are collected as [`Images`], in which equal values that look different
//! are distinct, such as 1.0 and 1.00. Then [`Items`] merges the images of all columns and numbers the items.

use crate::encode::dictionary::Dictionary;
use crate::error::Error;
use crate::methods::cracks::item_names::item_type;
use crate::pg::literal::Literals;
use crate::pg::memory_context;
use crate::pg::types::ColumnType;
use disclosure::semantic::{Entry, Transactions};
use pgrx::prelude::*;
use serde_json::{Number, Value};

/// Items of one column, before equal ones are merged. Their codes count from 1.
pub struct Images {
    pub values: Dictionary,
    /// Whether each item was a number in JSON, by code. Items beyond the end of the list were not.
    is_number: Vec<bool>,
}

impl Images {
    /// Creates an empty set of items. Their type must be one that [`item_type`] returned.
    pub fn new(item: ColumnType) -> Self {
        Images {
            values: Dictionary::exact(item),
            is_number: Vec::new(),
        }
    }

    /// Returns the code of an item in JSON; `None` if it is neither a string nor a whole number.
    pub fn encode_json(&mut self, item: &Value) -> Result<Option<u32>, Error> {
        let Some(text) = text_of_json(item) else {
            return Ok(None);
        };
        // SAFETY: the dictionary of items from JSON has values of type text.
        let code = unsafe { self.values.encode(text_datum(&text)?)? } as usize;
        self.is_number.resize(self.is_number.len().max(code), false);
        self.is_number[code - 1] |= item.is_number();
        Ok(Some(code as u32))
    }
}

/// Returns the type text, which items in JSON have.
pub fn text_type() -> Result<ColumnType, Error> {
    item_type(&ColumnType {
        name: String::new(),
        oid: pg_sys::TEXTOID,
        collation: pg_sys::InvalidOid,
    })
}

/// Returns a text in the current memory context.
fn text_datum(text: &str) -> Result<pg_sys::Datum, Error> {
    text.into_datum().ok_or(Error::Internal("a text is NULL"))
}

/// Returns the text of an item in JSON; `None` if it is neither a string nor a whole number.
pub fn text_of_json(item: &Value) -> Option<String> {
    match item {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()).filter(|number| is_whole(number)),
        _ => None,
    }
}

/// Returns whether the text of a number has neither a decimal point nor an exponent.
fn is_whole(number: &str) -> bool {
    number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// All items of a call, numbered from 0: first those of transactions, sorted by their texts, then those that
/// occur only in arguments. Of equal values that look different, the first text in sort order stands for all.
/// So neither numbers nor texts depend on the order in which rows are read.
pub struct Items {
    values: Dictionary,
    /// Number of every value's item, by code.
    numbers: Vec<u32>,
    texts: Vec<String>,
    /// Whether each item is a number: a JSON number, or a value of a column of whole numbers.
    is_number: Vec<bool>,
}

impl Items {
    /// Creates an empty set of items of type text.
    pub fn of_texts() -> Result<Self, Error> {
        Ok(Items::none(text_type()?))
    }

    fn none(item: ColumnType) -> Self {
        Items {
            values: Dictionary::new(item),
            numbers: Vec::new(),
            texts: Vec::new(),
            is_number: Vec::new(),
        }
    }

    /// Merges the items of several columns. Returns them and, for each column, the number of every image's
    /// item, by code. If the types of the columns differ, items are compared as text.
    pub fn of_columns(columns: &[&Images]) -> Result<(Self, Vec<Vec<u32>>), Error> {
        let mut items = Items::none(common_type(columns)?);
        let codes = columns.iter().map(|images| items.take_up(images));
        let mut codes: Vec<Vec<u32>> = codes.collect::<Result<_, Error>>()?;
        let mut order: Vec<u32> = (0..items.texts.len() as u32).collect();
        order.sort_by_key(|&value| &items.texts[value as usize]);
        items.numbers = vec![0; order.len()];
        for (number, &value) in (0..).zip(&order) {
            items.numbers[value as usize] = number;
        }
        let text = |&value: &u32| std::mem::take(&mut items.texts[value as usize]);
        items.texts = order.iter().map(text).collect();
        let is_number = |&value: &u32| items.is_number[value as usize];
        items.is_number = order.iter().map(is_number).collect();
        let number = |code: &mut u32| *code = items.numbers[*code as usize];
        codes.iter_mut().flatten().for_each(number);
        Ok((items, codes))
    }

    /// Adds the items of a column, without sorting them. Returns the value that every image became, from 0.
    fn take_up(&mut self, images: &Images) -> Result<Vec<u32>, Error> {
        let column = images.values.column();
        let is_same = column == self.values.column();
        let mut literals = Literals::of(column);
        memory_context::for_each("comparing items", 0..images.values.len(), |image| {
            let value = images.values.value(image + 1);
            let mut text = String::new();
            // SAFETY: either the dictionary has the type of the column, as the value does, or it is one of
            // text and the value is a text.
            let code = unsafe {
                literals.print(value, |printed| text.push_str(printed));
                let value = if is_same { value } else { text_datum(&text)? };
                self.values.encode(value)?
            } as usize;
            let was_number = images.is_number.get(image as usize).copied().unwrap_or_default();
            let is_number = was_number || is_number_type(column.oid) && is_whole(&text);
            if code > self.texts.len() {
                self.texts.push(text);
                self.is_number.push(is_number);
            } else {
                let first = &mut self.texts[code - 1];
                if text < *first {
                    *first = text;
                }
                self.is_number[code - 1] |= is_number;
            }
            Ok(code as u32 - 1)
        })
    }

    /// Returns the item that a text in an argument stands for. An unknown item is added.
    pub fn of_text(&mut self, text: &str) -> Result<u32, Error> {
        // SAFETY: the text is parsed as a value of the dictionary's type.
        let code = unsafe {
            let value = Literals::of(self.values.column()).parse(text)?;
            self.values.encode(value)?
        } as usize;
        if code > self.numbers.len() {
            self.numbers.push(self.texts.len() as u32);
            self.texts.push(text.to_owned());
            self.is_number.push(false);
        }
        Ok(self.numbers[code - 1])
    }

    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns the texts of all items, by number.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    pub fn text(&self, item: u32) -> String {
        self.texts[item as usize].clone()
    }

    pub fn texts_of(&self, items: &[u32]) -> Vec<String> {
        items.iter().map(|&item| self.text(item)).collect()
    }

    /// Returns an entry of a transaction as JSON.
    pub fn json(&self, transactions: &Transactions, entry: &Entry) -> Value {
        let value = |&item: &u32| {
            let text = self.text(item);
            let number = self.is_number[item as usize].then(|| text.parse::<Number>().ok());
            number.flatten().map_or(Value::String(text), Value::Number)
        };
        match entry {
            Entry::Item(item) => value(item),
            Entry::Generalised(number) => transactions.members(*number).iter().map(value).collect(),
        }
    }
}

/// Returns the type in which items of several columns are compared: their own type if it is the same, else
/// text. The collation of text is the first one of the columns that differs from the default.
fn common_type(columns: &[&Images]) -> Result<ColumnType, Error> {
    let text = text_type()?;
    let mut types = columns.iter().map(|images| images.values.column());
    let first = types.next().unwrap_or(&text);
    if types.all(|other| other == first) {
        return Ok(first.clone());
    }
    let collations = columns.iter().map(|images| images.values.column().collation);
    let own = |&collation: &pg_sys::Oid| collation != pg_sys::InvalidOid && collation != text.collation;
    let collation = collations.into_iter().find(own).unwrap_or(text.collation);
    Ok(ColumnType { collation, ..text })
}

/// Returns whether values of a type are numbers in JSON.
fn is_number_type(oid: pg_sys::Oid) -> bool {
    matches!(
        oid,
        pg_sys::INT2OID
            | pg_sys::INT4OID
            | pg_sys::INT8OID
            | pg_sys::FLOAT4OID
            | pg_sys::FLOAT8OID
            | pg_sys::NUMERICOID
    )
}
