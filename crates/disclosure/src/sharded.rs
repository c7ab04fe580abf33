//! A hash table that never pauses for long to grow.
//!
//! A single large table would copy all of its entries whenever it grows, which takes a long time and needs
//! memory for both copies at once. From a million entries on, this table is therefore split into many tables
//! by a part of the hash, and these grow one at a time.

use hashbrown::hash_table::{Entry, HashTable};

/// Hash table that never pauses for long to grow. The code that fills it can therefore check for a cancel
/// request often enough, and never needs twice the memory at once.
///
/// Like [`HashTable`], it leaves hashing and equality to the caller.
#[derive(Debug, Clone)]
pub struct ShardedTable<T> {
    /// One table, or [`SHARDS`](Self::SHARDS) tables after the split.
    shards: Vec<HashTable<T>>,
}

impl<T> Default for ShardedTable<T> {
    fn default() -> Self {
        ShardedTable {
            shards: vec![HashTable::new()],
        }
    }
}

impl<T> ShardedTable<T> {
    /// Number of tables after the split; a power of two.
    const SHARDS: usize = 32;

    /// Number of entries at which the single table is split. Growing a table of this size takes some tens of
    /// milliseconds.
    const SPLIT_AT: usize = if cfg!(test) { 100 } else { 1 << 20 };

    /// Returns the entry with this hash that `equal` accepts, if there is one.
    #[inline]
    pub fn find(&self, hash: u64, equal: impl FnMut(&T) -> bool) -> Option<&T> {
        self.shards[self.shard(hash)].find(hash, equal)
    }

    /// Returns the occupied or vacant [`Entry`] for this hash. `equal` accepts the entry that is looked for,
    /// and `hash_of` returns the hash of an entry.
    #[inline]
    pub fn entry(
        &mut self,
        hash: u64,
        equal: impl FnMut(&T) -> bool,
        hash_of: impl Fn(&T) -> u64,
    ) -> Entry<'_, T> {
        self.table_for_insert(hash, &hash_of).entry(hash, equal, hash_of)
    }

    /// Adds an entry that is known not to be in the table.
    #[inline]
    pub fn insert_unique(&mut self, hash: u64, entry: T, hash_of: impl Fn(&T) -> u64) {
        self.table_for_insert(hash, &hash_of)
            .insert_unique(hash, entry, hash_of);
    }

    /// Returns the table to which an entry with this hash can be added. Splits the single table first if it
    /// is full.
    #[inline]
    fn table_for_insert(&mut self, hash: u64, hash_of: impl Fn(&T) -> u64) -> &mut HashTable<T> {
        if self.shards[0].len() >= Self::SPLIT_AT && self.shards.len() == 1 {
            self.split(hash_of);
        }
        let shard = self.shard(hash);
        &mut self.shards[shard]
    }

    /// Returns the index of the table for this hash. It is taken from the middle bits of the hash because
    /// [`HashTable`] itself uses the bits at both ends.
    #[inline]
    fn shard(&self, hash: u64) -> usize {
        (hash >> 40) as usize & (self.shards.len() - 1)
    }

    #[cold]
    fn split(&mut self, hash_of: impl Fn(&T) -> u64) {
        let capacity = 2 * Self::SPLIT_AT / Self::SHARDS;
        let empty = std::iter::repeat_with(|| HashTable::with_capacity(capacity)).take(Self::SHARDS);
        let single = std::mem::replace(&mut self.shards, empty.collect());
        for entry in single.into_iter().flatten() {
            let hash = hash_of(&entry);
            let shard = self.shard(hash);
            self.shards[shard].insert_unique(hash, entry, &hash_of);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{BuildHasher, BuildHasherDefault};

    fn hash(number: &u64) -> u64 {
        BuildHasherDefault::<rustc_hash::FxHasher>::default().hash_one(number)
    }

    #[test]
    fn holds_what_was_put_in_before_and_after_the_split() {
        let mut table = ShardedTable::default();
        for number in (0..1000u64).chain(0..1000) {
            if let Entry::Vacant(entry) = table.entry(hash(&number), |&other| other == number, hash) {
                entry.insert(number);
            }
        }
        assert_eq!(table.shards.len(), ShardedTable::<u64>::SHARDS);
        assert_eq!(table.shards.iter().map(HashTable::len).sum::<usize>(), 1000);
        for number in 0..2000 {
            let found = table.find(hash(&number), |&other| other == number);
            assert_eq!(found.copied(), (number < 1000).then_some(number));
        }
    }
}
