use crate::{Control, Error, Result};
use bitvec::prelude::*;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Transactions between two looks at the control: less than a millisecond.
const PIECE: usize = 1 << 12;

/// One place in a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Entry {
    /// An item as it is; its code, from 0.
    Item(u32),
    /// A generalised item; its number, see [`Transactions::members`].
    Generalised(u32),
}

impl Entry {
    /// The item, unless it is generalised.
    pub fn item(&self) -> Option<u32> {
        match self {
            Entry::Item(item) => Some(*item),
            Entry::Generalised(_) => None,
        }
    }
}

/// Transactions whose items are codes from 0 on, in the order in which they stand.
#[derive(Debug, Clone, Default)]
pub struct Transactions {
    /// Where each transaction ends.
    ends: Vec<u32>,
    entries: Vec<Entry>,
    /// The members of every generalised item, ascending.
    members: Vec<Box<[u32]>>,
    numbers: HashMap<Box<[u32]>, u32, FxBuildHasher>,
    /// How many transactions there were when each item, and each generalised item, was added last.
    last_item: Vec<u32>,
    last_generalised: Vec<u32>,
}

impl Transactions {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begin the next transaction.
    pub fn begin(&mut self) -> Result<()> {
        self.ends.push(self.entries.len() as u32);
        match self.ends.len() < u32::MAX as usize {
            true => Ok(()),
            false => Err(too_many("transactions")),
        }
    }

    /// Adds to the transaction that was begun last; without one nothing is added. What comes is a set of items that stand
    /// in one place. One alone is not generalised; an empty one is nothing. What the transaction has already is not
    /// added again.
    pub fn push(&mut self, mut set: Vec<u32>) -> Result<()> {
        set.sort_unstable();
        set.dedup();
        match set[..] {
            [] => Ok(()),
            [item] => self.push_item(item),
            [.., most] => {
                self.make_room(most);
                let number = self.number(set);
                let transactions = self.ends.len() as u32;
                let last = std::mem::replace(&mut self.last_generalised[number as usize], transactions);
                self.push_new(Entry::Generalised(number), last)
            }
        }
    }

    /// Adds one item that is not generalised, as [`push`](Self::push) does.
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

    /// Adds an entry, unless it was added to the same transaction last.
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
            Err(too_many("items of transactions"))
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

    /// How many transactions there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// One more than the largest code of an item.
    pub fn items(&self) -> usize {
        self.last_item.len()
    }

    /// How many different generalised items there are.
    pub fn generalised(&self) -> usize {
        self.members.len()
    }

    /// The members of a generalised item, ascending.
    pub fn members(&self, generalised: u32) -> &[u32] {
        &self.members[generalised as usize]
    }

    /// The number of a generalised item, by its members in any order.
    pub fn find(&self, mut members: Vec<u32>) -> Option<u32> {
        members.sort_unstable();
        members.dedup();
        self.numbers.get(&members[..]).copied()
    }

    /// A transaction, as it stands.
    pub fn entries(&self, transaction: usize) -> &[Entry] {
        let start = transaction.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start as usize..self.ends[transaction] as usize]
    }

    /// Every transaction, as it stands.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Entry]> + '_ {
        (0..self.len()).map(|transaction| self.entries(transaction))
    }

    /// The transactions that have each item as it is, ascending.
    pub fn postings(&self, control: &Control) -> Result<Vec<Vec<u32>>> {
        let mut postings = vec![Vec::new(); self.items()];
        for (transaction, entries) in (0..).zip(self.iter()) {
            if (transaction as usize).is_multiple_of(PIECE) {
                control.check()?;
            }
            for item in entries.iter().filter_map(Entry::item) {
                postings[item as usize].push(transaction);
            }
        }
        Ok(postings)
    }

    /// The same transactions with other codes: `codes` has the new one of every item. Items with the same new code become
    /// one.
    pub fn recoded(mut self, codes: &[u32], control: &Control) -> Result<Self> {
        let mut recoded = Transactions::new();
        if let Some(&most) = codes.iter().max() {
            recoded.make_room(most);
        }
        let mut is_taken = bitvec![0; recoded.items()];
        let is_one_to_one = codes.iter().all(|&code| !is_taken.replace(code as usize, true));
        let recode = |set: &[u32]| set.iter().map(|&item| codes[item as usize]).collect();
        if !is_one_to_one {
            for (number, entries) in self.iter().enumerate() {
                if number.is_multiple_of(PIECE) {
                    control.check()?;
                }
                recoded.begin()?;
                for entry in entries {
                    recoded.push(recode(self.may_be(entry)))?;
                }
            }
            return Ok(recoded);
        }
        // No entry goes: only the items of each change.
        for members in &self.members {
            let mut members: Vec<u32> = recode(members);
            members.sort_unstable();
            recoded.number(members);
        }
        for entries in self.entries.chunks_mut(PIECE) {
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

    /// The items that an entry may stand for, ascending.
    pub fn may_be<'a>(&'a self, entry: &'a Entry) -> &'a [u32] {
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
