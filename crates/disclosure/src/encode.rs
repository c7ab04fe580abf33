use crate::{Error, NULL, Result};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher, Hash};

/// Dictionary that replaces the values of a column by codes. Equal values get the same code. Codes are
/// numbered from 1, in the order in which the values first occur. An absent value gets [`NULL`].
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
    /// Distinct values; the value with code c is at index c − 1.
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
    /// Creates an encoder without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the code of a value, which is a new one if the value is new; [`NULL`] for an absent value.
    pub fn encode(&mut self, value: Option<T>) -> Result<u32> {
        let Some(value) = value else {
            return Ok(NULL);
        };
        let Encoder { values, codes } = self;
        let hash = |value: &T| FxBuildHasher.hash_one(value);
        let index_of = |code: &u32| *code as usize - 1;
        let entry = codes.entry(
            hash(&value),
            |code| values[index_of(code)] == value,
            |code| hash(&values[index_of(code)]),
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

    /// Returns the codes of several values, for example of a whole column.
    pub fn encode_all(&mut self, values: impl IntoIterator<Item = Option<T>>) -> Result<Vec<u32>> {
        values.into_iter().map(|value| self.encode(value)).collect()
    }

    /// Returns the number of distinct values, which is also the largest code.
    pub fn len(&self) -> u32 {
        self.values.len() as u32
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the value with this code; `None` for [`NULL`] and for a code that was not assigned.
    pub fn value(&self, code: u32) -> Option<&T> {
        self.values.get((code as usize).checked_sub(1)?)
    }
}
