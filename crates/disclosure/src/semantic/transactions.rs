//! Transactions: lists of items, some of which are generalised. Each set of items that makes a generalised
//! item is stored once and has a number.

use crate::{Control, Error, Result};
use bitvec::prelude::*;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Number of transactions between two checks for cancellation: less than a millisecond.
const TRANSACTIONS_PER_CHECK: usize = 1 << 12;

/// One entry of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Entry {
    /// An item that is not generalised, by its code, from 0.
    Item(u32),
    /// A generalised item, by its number: see [`Transactions::members`].
    Generalised(u32),
}

impl Entry {
    /// Returns the item, `None` if the entry is generalised.
    pub fn item(&self) -> Option<u32> {
        match self {
            Entry::Item(item) => Some(*item),
            Entry::Generalised(_) => None,
        }
    }
}

/// A list of transactions. Items are numbered from 0, and keep their order in the transaction.
#[derive(Debug, Clone, Default)]
pub struct Transactions {
    /// Place in `entries` at which each transaction ends.
    ends: Vec<u32>,
    entries: Vec<Entry>,
    /// Members of every generalised item, ascending.
    members: Vec<Box<[u32]>>,
    numbers: HashMap<Box<[u32]>, u32, FxBuildHasher>,
    /// By item, the number of transactions when it was last added, 0 if it never was.
    last_item: Vec<u32>,
    /// The same by generalised item.
    last_generalised: Vec<u32>,
}

impl Transactions {
    /// Creates an empty list of transactions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins the next transaction.
    pub fn begin(&mut self) -> Result<()> {
        self.ends.push(self.entries.len() as u32);
        match self.ends.len() < u32::MAX as usize {
            true => Ok(()),
            false => Err(too_many("transactions")),
        }
    }

    /// Adds an entry to the last transaction: a set of items that stand in one place. A set of one item is
    /// not generalised, and an empty set is ignored. So is an entry that the transaction already contains,
    /// and any entry before the first transaction is begun.
    pub fn push(&mut self, mut set: Vec<u32>) -> Result<()> {
        set.sort_unstable();
        set.dedup();
        match set[..] {
            [] => Ok(()),
            [item] => self.push_item(item),
            [.., largest] => {
                self.make_room(largest);
                let number = self.number(set);
                let transactions = self.ends.len() as u32;
                let last = std::mem::replace(&mut self.last_generalised[number as usize], transactions);
                self.push_new(Entry::Generalised(number), last)
            }
        }
    }

    /// Adds one item that is not generalised, by the same rules as [`push`](Self::push).
    #[inline]
    pub fn push_item(&mut self, item: u32) -> Result<()> {
        self.make_room(item);
        let last = std::mem::replace(&mut self.last_item[item as usize], self.ends.len() as u32);
        self.push_new(Entry::Item(item), last)
    }

    fn make_room(&mut self, item: u32) {
        if item as usize >= self.last_item.len() {
            self.last_item.resize(item as usize + 1, 0);
        }
    }

    /// Adds an entry, unless the last transaction already contains it: `last` is the number of transactions
    /// when it was last added. Before the first transaction, both numbers are 0 and nothing is added.
    fn push_new(&mut self, entry: Entry, last: u32) -> Result<()> {
        let transactions = self.ends.len();
        if last as usize == transactions {
            return Ok(());
        }
        self.entries.push(entry);
        self.ends[transactions - 1] += 1;
        if self.entries.len() < u32::MAX as usize {
            Ok(())
        } else {
            Err(too_many("items in transactions"))
        }
    }

    fn number(&mut self, set: Vec<u32>) -> u32 {
        let set = set.into_boxed_slice();
        if let Some(&number) = self.numbers.get(&set) {
            return number;
        }
        let number = self.members.len() as u32;
        self.members.push(set.clone());
        self.last_generalised.push(0);
        self.numbers.insert(set, number);
        number
    }

    /// Returns the number of transactions.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no transactions.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns one more than the largest code of an item.
    pub fn items(&self) -> usize {
        self.last_item.len()
    }

    /// Returns the number of different generalised items.
    pub fn generalised(&self) -> usize {
        self.members.len()
    }

    /// Returns the members of a generalised item, ascending.
    pub fn members(&self, generalised: u32) -> &[u32] {
        &self.members[generalised as usize]
    }

    /// Returns the number of a generalised item by its members, in any order.
    pub fn find(&self, mut members: Vec<u32>) -> Option<u32> {
        members.sort_unstable();
        members.dedup();
        self.numbers.get(&members[..]).copied()
    }

    /// Returns the entries of a transaction, in their order.
    pub fn entries(&self, transaction: usize) -> &[Entry] {
        let start = transaction.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start as usize..self.ends[transaction] as usize]
    }

    /// Returns the entries of every transaction, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Entry]> + '_ {
        (0..self.len()).map(|transaction| self.entries(transaction))
    }

    /// Returns the posting list of each item: the transactions that contain it as an item that is not
    /// generalised, ascending.
    pub fn postings(&self, control: &Control) -> Result<Vec<Vec<u32>>> {
        let mut postings = vec![Vec::new(); self.items()];
        for (transaction, entries) in (0..).zip(self.iter()) {
            if (transaction as usize).is_multiple_of(TRANSACTIONS_PER_CHECK) {
                control.check()?;
            }
            for item in entries.iter().filter_map(Entry::item) {
                postings[item as usize].push(transaction);
            }
        }
        Ok(postings)
    }

    /// Returns the same transactions with other codes: `codes` holds the new code of every item. Items with
    /// the same new code become one.
    pub fn recoded(mut self, codes: &[u32], control: &Control) -> Result<Self> {
        let mut recoded = Transactions::new();
        if let Some(&largest) = codes.iter().max() {
            recoded.make_room(largest);
        }
        let mut is_taken = bitvec![0; recoded.items()];
        let is_one_to_one = codes.iter().all(|&code| !is_taken.replace(code as usize, true));
        let recode = |set: &[u32]| set.iter().map(|&item| codes[item as usize]).collect();
        if !is_one_to_one {
            for (number, entries) in self.iter().enumerate() {
                if number.is_multiple_of(TRANSACTIONS_PER_CHECK) {
                    control.check()?;
                }
                recoded.begin()?;
                for entry in entries {
                    recoded.push(recode(self.possible_items(entry)))?;
                }
            }
            return Ok(recoded);
        }
        // The codes are one to one, so no entry disappears. Only the items of each entry change.
        for members in &self.members {
            let mut members: Vec<u32> = recode(members);
            members.sort_unstable();
            recoded.number(members);
        }
        for entries in self.entries.chunks_mut(TRANSACTIONS_PER_CHECK) {
            control.check()?;
            for entry in entries {
                if let Entry::Item(item) = entry {
                    *item = codes[*item as usize];
                }
            }
        }
        for (&code, last) in codes.iter().zip(self.last_item) {
            recoded.last_item[code as usize] = last;
        }
        recoded.last_generalised = self.last_generalised;
        recoded.ends = self.ends;
        recoded.entries = self.entries;
        Ok(recoded)
    }

    /// Returns the items that an entry may stand for, ascending.
    pub fn possible_items<'a>(&'a self, entry: &'a Entry) -> &'a [u32] {
        match entry {
            Entry::Item(item) => std::slice::from_ref(item),
            Entry::Generalised(number) => self.members(*number),
        }
    }
}

fn too_many(what: &'static str) -> Error {
    Error::TooMany {
        what,
        limit: u32::MAX.into(),
    }
}
