use hashbrown::hash_table::{Entry, HashTable};

/// A hash table that never stops for long to grow: from a million entries on it is many tables, each with
/// a share of the hashes, which grow one by one. So whoever fills it can look up every now and then, e.g.
/// for a cancel request, and does not need twice the memory all at once.
///
/// Like [`HashTable`], it leaves hashing and equality to the caller.
#[derive(Debug, Clone)]
pub struct ShardedTable<T> {
    /// One table, or [`SHARDS`](Self::SHARDS).
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
    /// A power of two.
    const SHARDS: usize = 32;

    /// Entries that one table may have: growing it takes some tens of milliseconds.
    const ALONE: usize = if cfg!(test) { 100 } else { 1 << 20 };

    /// An entry with this hash that `equal` accepts.
    #[inline]
    pub fn find(&self, hash: u64, equal: impl FnMut(&T) -> bool) -> Option<&T> {
        self.shards[self.shard(hash)].find(hash, equal)
    }

    /// The place of an entry with this hash that `equal` accepts; `hash_of` tells the hash of entries.
    #[inline]
    pub fn entry(
        &mut self,
        hash: u64,
        equal: impl FnMut(&T) -> bool,
        hash_of: impl Fn(&T) -> u64,
    ) -> Entry<'_, T> {
        self.table(hash, &hash_of).entry(hash, equal, hash_of)
    }

    /// Add an entry that is known not to be there.
    #[inline]
    pub fn insert_unique(&mut self, hash: u64, entry: T, hash_of: impl Fn(&T) -> u64) {
        self.table(hash, &hash_of).insert_unique(hash, entry, hash_of);
    }

    /// The table for this hash, when one more entry may come.
    #[inline]
    fn table(&mut self, hash: u64, hash_of: impl Fn(&T) -> u64) -> &mut HashTable<T> {
        if self.shards[0].len() >= Self::ALONE && self.shards.len() == 1 {
            self.split(hash_of);
        }
        let shard = self.shard(hash);
        &mut self.shards[shard]
    }

    /// Bits from the middle: the table takes its own from both ends.
    #[inline]
    fn shard(&self, hash: u64) -> usize {
        (hash >> 40) as usize & (self.shards.len() - 1)
    }

    #[cold]
    fn split(&mut self, hash_of: impl Fn(&T) -> u64) {
        let share = 2 * Self::ALONE / Self::SHARDS;
        let empty = std::iter::repeat_with(|| HashTable::with_capacity(share)).take(Self::SHARDS);
        let alone = std::mem::replace(&mut self.shards, empty.collect());
        for entry in alone.into_iter().flatten() {
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
            if let Entry::Vacant(place) = table.entry(hash(&number), |&other| other == number, hash) {
                place.insert(number);
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
