use crate::{Error, NULL, Result};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher, Hash};

/// Replaces the values of a column by codes: equal values get the same code, in the order in which they first occur,
/// from 1, and an absent value gets [`NULL`].
///
/// ```
/// use disclosure::{Encoder, NULL};
///
/// let mut colour = Encoder::new();
/// assert_eq!(colour.encode_all([Some("red"), Some("blue"), None, Some("red")])?, [1, 2, NULL, 1]);
/// assert_eq!(colour.len(), 2);
/// assert_eq!(colour.value(2), Some(&"blue"));
/// # Ok::<(), disclosure::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Encoder<T> {
    /// By code, from 1.
    values: Vec<T>,
    codes: HashTable<u32>,
}

impl<T> Default for Encoder<T> {
    fn default() -> Self {
        Encoder {
            values: Vec::new(),
            codes: HashTable::new(),
        }
    }
}

impl<T: Hash + Eq> Encoder<T> {
    /// Creates an encoder that knows no values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the code of a value; `None` is an absent one.
    pub fn encode(&mut self, value: Option<T>) -> Result<u32> {
        let Some(value) = value else {
            return Ok(NULL);
        };
        let Encoder { values, codes } = self;
        let hash = |value: &T| FxBuildHasher.hash_one(value);
        let value_of = |code: &u32| *code as usize - 1;
        let entry = codes.entry(
            hash(&value),
            |code| values[value_of(code)] == value,
            |code| hash(&values[value_of(code)]),
        );
        if let hashbrown::hash_table::Entry::Occupied(code) = &entry {
            return Ok(*code.get());
        }
        let code = u32::try_from(values.len() + 1).map_err(|_| Error::TooMany {
            what: "distinct values in a column",
            limit: u32::MAX.into(),
        })?;
        entry.insert(code);
        values.push(value);
        Ok(code)
    }

    /// Returns the codes of some values, e.g. of a whole column.
    pub fn encode_all(&mut self, values: impl IntoIterator<Item = Option<T>>) -> Result<Vec<u32>> {
        values.into_iter().map(|value| self.encode(value)).collect()
    }

    /// Returns how many distinct values there are, which is also the largest code.
    pub fn len(&self) -> u32 {
        self.values.len() as u32
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the value with this code; `None` for [`NULL`], and if there is no such code.
    pub fn value(&self, code: u32) -> Option<&T> {
        self.values.get((code as usize).checked_sub(1)?)
    }
}
