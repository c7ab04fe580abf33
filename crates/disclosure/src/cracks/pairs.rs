//! Pairs of items that occur together most often, or never though both are frequent.
//!
//! The pairs are found without storing the matrix of all pair counts. Items are processed from the most to
//! the least frequent. For each item, the co-occurrences with all items are counted from its own
//! transactions. The search stops as soon as no remaining item can be in a better pair than those already
//! found. [`CoOccurrence`] answers the simpler question whether two items ever occur together, with one bit
//! per pair.

use super::{Frequencies, Transactions};
use crate::parallel_sort::parallel_sort;
use crate::{Control, Result};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Two items and the number of transactions that contain both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The smaller item number.
    pub one: u32,
    /// The larger item number.
    pub other: u32,
    /// Number of transactions that contain both items.
    pub together: u64,
}

impl Pair {
    /// Returns both item numbers, the smaller first.
    pub fn items(&self) -> (u32, u32) {
        (self.one, self.other)
    }

    /// Returns the share of the transactions with either item that contain both; 0 if there are none.
    pub fn share(&self, frequencies: &Frequencies) -> f64 {
        let counts = frequencies.counts();
        let either = counts[self.one as usize] + counts[self.other as usize] - self.together;
        self.together as f64 / either.max(1) as f64
    }
}

/// Returns up to `max_pairs` pairs that occur together in at least one transaction, those with the most common
/// transactions first. Ties are broken by the smaller item numbers, so that the answer is unique.
pub fn top_pairs(transactions: &Transactions, max_pairs: usize, control: &Control) -> Result<Vec<Pair>> {
    // A pair cannot occur together more often than its rarer item occurs.
    let bound = |rarer: u64| u128::from(rarer);
    let find = |search: &Search, row: &Row, best: &mut TopPairs| {
        for &partner in row.partners {
            let together = row.together[partner as usize];
            if search.rank[partner as usize] < row.rank {
                best.push(together.into(), row.item, partner, together.into());
            }
        }
    };
    Search::new(transactions).run(max_pairs, bound, find, control)
}

/// Returns up to `max_pairs` pairs that never occur together although both items are frequent: those with the
/// largest product of frequencies first. Ties are broken by the smaller item numbers. Items that never occur
/// are in no pair.
pub fn apart_pairs(transactions: &Transactions, max_pairs: usize, control: &Control) -> Result<Vec<Pair>> {
    let search = Search::new(transactions);
    let most_frequent = search.by_rank.first().map_or(0, |&item| search.count(item));
    let bound = |rarer: u64| u128::from(rarer) * u128::from(most_frequent);
    let find = |search: &Search, row: &Row, best: &mut TopPairs| {
        for &partner in &search.by_rank[..row.rank as usize] {
            // `by_rank` is in descending order of frequency, so all later products are at most this large.
            let product = u128::from(search.count(partner)) * u128::from(search.count(row.item));
            if !best.would_keep(product) {
                break;
            }
            if row.together[partner as usize] == 0 {
                best.push(product, row.item, partner, 0);
            }
        }
    };
    search.run(max_pairs, bound, find, control)
}

/// A row of the triangular matrix of pair counts: one item against all items that are more frequent. Rows are
/// counted from the transactions of their item, most frequent item first, until no later row can contain a
/// better pair. The whole matrix is therefore never in memory.
struct Row<'a> {
    item: u32,
    rank: u32,
    /// Number of transactions that each item shares with this item.
    together: &'a [u32],
    /// Items that share at least one transaction with this item, the item itself included.
    partners: &'a [u32],
}

/// A search for the best pairs, row by row.
struct Search<'a> {
    transactions: &'a Transactions,
    frequencies: Frequencies,
    /// Items that occur, most frequent first; ties are broken by the smaller number.
    by_rank: Vec<u32>,
    /// Position of every item in `by_rank`, or `u32::MAX` if it does not occur.
    rank: Vec<u32>,
}

/// Maximum number of occurrences that are indexed at a time: 64 MB. Only a single item that occurs more often
/// than this exceeds it.
const MAX_INDEXED_OCCURRENCES: u64 = 1 << 24;

/// Number of rows in the first round; often one round is enough. Each later round has eight times as many
/// rows, as far as [`MAX_INDEXED_OCCURRENCES`] allows.
const FIRST_ROWS: usize = 64;

impl<'a> Search<'a> {
    fn new(transactions: &'a Transactions) -> Self {
        let frequencies = transactions.frequencies();
        let counts = frequencies.counts();
        let items = (0..counts.len() as u32).filter(|&item| counts[item as usize] > 0);
        let mut by_rank: Vec<u32> = items.collect();
        by_rank.sort_by_key(|&item| Reverse(counts[item as usize]));
        let mut rank = vec![u32::MAX; counts.len()];
        for (position, &item) in by_rank.iter().enumerate() {
            rank[item as usize] = position as u32;
        }
        Search {
            transactions,
            frequencies,
            by_rank,
            rank,
        }
    }

    fn count(&self, item: u32) -> u64 {
        self.frequencies.counts()[item as usize]
    }

    /// Finds the best pairs. `find` pushes the pairs of a row; `bound` returns the best possible value of a
    /// pair whose rarer item has the given count.
    fn run(
        &self,
        max_pairs: usize,
        bound: impl Fn(u64) -> u128 + Sync,
        find: impl Fn(&Search, &Row, &mut TopPairs) + Sync,
        control: &Control,
    ) -> Result<Vec<Pair>> {
        let mut best = TopPairs::new(max_pairs);
        let mut start = 0;
        let mut rows = FIRST_ROWS;
        while start < self.by_rank.len() && best.would_keep(bound(self.count(self.by_rank[start]))) {
            let end = self.end_of_round(start, rows);
            let index = self.index(start, end, control)?;
            let next = AtomicUsize::new(0);
            let threads = (0..rayon::current_num_threads()).into_par_iter().map(|_| {
                let mut best = best.for_thread();
                let mut counter = Counter::new(self.transactions);
                loop {
                    let row = next.fetch_add(1, Relaxed);
                    let Some(&item) = self.by_rank[start..end].get(row) else {
                        return Ok(best);
                    };
                    if !best.would_keep(bound(self.count(item))) {
                        return Ok(best);
                    }
                    counter.count(index.transactions_of(row), control)?;
                    let row = Row {
                        item,
                        rank: (start + row) as u32,
                        together: &counter.together,
                        partners: &counter.partners,
                    };
                    find(self, &row, &mut best);
                }
            });
            for found in threads.collect::<Result<Vec<TopPairs>>>()? {
                best.merge(found, control)?;
            }
            start = end;
            rows = rows.saturating_mul(8);
        }
        best.into_pairs(control)
    }

    /// Returns the end of a round of at most `rows` rows that fit into [`MAX_INDEXED_OCCURRENCES`]
    /// occurrences; at least one row.
    fn end_of_round(&self, start: usize, rows: usize) -> usize {
        let mut occurrences = 0;
        let fits = |&&item: &&u32| {
            occurrences += self.count(item);
            occurrences <= MAX_INDEXED_OCCURRENCES
        };
        let rows = self.by_rank[start..].iter().take(rows).take_while(fits).count();
        start + rows.max(1)
    }

    /// Builds the index of the transactions that contain the items with these ranks.
    fn index(&self, start: usize, end: usize, control: &Control) -> Result<Index> {
        // First the start of each row; every occurrence moves it on, so that it becomes the end.
        let mut ends = Vec::with_capacity(end - start);
        let mut occurrences = 0;
        for &item in &self.by_rank[start..end] {
            ends.push(occurrences);
            occurrences += self.count(item) as usize;
        }
        let mut transactions = vec![0; occurrences];
        for (number, items) in self.transactions.iter().enumerate() {
            if number % 4096 == 0 {
                control.check()?;
            }
            for &item in items {
                // A smaller rank wraps around to a number that is not a row.
                let row = (self.rank[item as usize] as usize).wrapping_sub(start);
                if let Some(end) = ends.get_mut(row) {
                    transactions[*end] = number as u32;
                    *end += 1;
                }
            }
        }
        Ok(Index { ends, transactions })
    }
}

/// Inverted index: the transactions that contain each item of a round.
struct Index {
    ends: Vec<usize>,
    transactions: Vec<u32>,
}

impl Index {
    fn transactions_of(&self, row: usize) -> &[u32] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.transactions[start..self.ends[row]]
    }
}

/// Counts the co-occurrences of one item at a time, reusing its buffers.
struct Counter<'a> {
    all: &'a Transactions,
    together: Vec<u32>,
    partners: Vec<u32>,
}

impl<'a> Counter<'a> {
    fn new(all: &'a Transactions) -> Self {
        Counter {
            all,
            together: vec![0; all.items()],
            partners: Vec::new(),
        }
    }

    fn count(&mut self, transactions: &[u32], control: &Control) -> Result<()> {
        for partner in self.partners.drain(..) {
            self.together[partner as usize] = 0;
        }
        for some in transactions.chunks(4096) {
            control.check()?;
            for &transaction in some {
                for &item in self.all.get(transaction as usize) {
                    let together = &mut self.together[item as usize];
                    if *together == 0 {
                        self.partners.push(item);
                    }
                    *together += 1;
                }
            }
        }
        Ok(())
    }
}

/// The best pairs found so far.
struct TopPairs {
    max_pairs: usize,
    /// Pairs with a smaller value are rejected.
    threshold: u128,
    /// Min-heap: the worst pair is on top.
    pairs: BinaryHeap<Reverse<Ranked>>,
}

/// Value, item numbers and count of a pair. Smaller item numbers rank higher, so they are compared in
/// reverse.
type Ranked = (u128, Reverse<(u32, u32)>, u64);

impl TopPairs {
    fn new(max_pairs: usize) -> Self {
        TopPairs {
            max_pairs,
            threshold: 0,
            pairs: BinaryHeap::new(),
        }
    }

    /// Returns an empty collection for a thread that rejects every pair that `self` would reject.
    fn for_thread(&self) -> Self {
        let worst = self.pairs.peek().filter(|_| self.pairs.len() == self.max_pairs);
        TopPairs {
            threshold: worst.map_or(self.threshold, |worst| worst.0.0),
            ..TopPairs::new(self.max_pairs)
        }
    }

    /// Returns whether a pair of this value may be among the best. A tie with the worst pair may be,
    /// depending on the item numbers.
    fn would_keep(&self, value: u128) -> bool {
        let is_full = self.pairs.len() == self.max_pairs;
        value >= self.threshold && (!is_full || self.pairs.peek().is_some_and(|worst| value >= worst.0.0))
    }

    fn push(&mut self, value: u128, item: u32, partner: u32, together: u64) {
        if self.would_keep(value) {
            self.add((value, Reverse((item.min(partner), item.max(partner))), together));
        }
    }

    fn add(&mut self, pair: Ranked) {
        self.pairs.push(Reverse(pair));
        if self.pairs.len() > self.max_pairs {
            self.pairs.pop();
        }
    }

    fn merge(&mut self, other: TopPairs, control: &Control) -> Result<()> {
        for some in other.pairs.into_vec().chunks(4096) {
            control.check()?;
            some.iter().for_each(|&Reverse(pair)| self.add(pair));
        }
        Ok(())
    }

    fn into_pairs(self, control: &Control) -> Result<Vec<Pair>> {
        let mut best_first = self.pairs.into_vec();
        parallel_sort(&mut best_first, control)?;
        let pair =
            |Reverse((_, Reverse((one, other)), together)): Reverse<Ranked>| Pair { one, other, together };
        Ok(best_first.into_iter().map(pair).collect())
    }
}

/// Symmetric bit matrix of selected items: whether two of them ever occur together in a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoOccurrence {
    /// Row and column of every item, or `u32::MAX` if it was not selected.
    position: Vec<u32>,
    words_per_row: usize,
    bits: Vec<u64>,
}

impl CoOccurrence {
    /// Builds the matrix of these items in one pass over the transactions. It takes [`bytes`](Self::bytes)
    /// bytes.
    pub fn among(transactions: &Transactions, items: &[u32], control: &Control) -> Result<Self> {
        let known = items.iter().map(|&item| item as usize + 1).max().unwrap_or(0);
        let mut position = vec![u32::MAX; transactions.items().max(known)];
        for (number, &item) in items.iter().enumerate() {
            position[item as usize] = number as u32;
        }
        let words_per_row = items.len().div_ceil(64);
        control.require::<u8>(Self::bytes(items.len()))?;
        let bits: Vec<AtomicU64> = (0..items.len() * words_per_row)
            .map(|_| AtomicU64::new(0))
            .collect();
        let numbers: Vec<usize> = (0..transactions.len()).step_by(1024).collect();
        numbers.into_par_iter().try_for_each(|first| {
            let mut positions = Vec::new();
            for number in first..transactions.len().min(first + 1024) {
                control.check()?;
                positions.clear();
                let of_items = transactions
                    .get(number)
                    .iter()
                    .map(|&item| position[item as usize]);
                positions.extend(of_items.filter(|&position| position != u32::MAX));
                for &row in &positions {
                    for &column in &positions {
                        let word = &bits[row as usize * words_per_row + column as usize / 64];
                        let bit = 1 << (column % 64);
                        // Usually the bit is set already. Reading first avoids contention between the
                        // threads.
                        if word.load(Relaxed) & bit == 0 {
                            word.fetch_or(bit, Relaxed);
                        }
                    }
                }
            }
            Ok(())
        })?;
        Ok(CoOccurrence {
            position,
            words_per_row,
            bits: bits.into_iter().map(AtomicU64::into_inner).collect(),
        })
    }

    /// Returns the number of bytes for a matrix of this many items.
    pub fn bytes(items: usize) -> usize {
        items
            .saturating_mul(items.div_ceil(64))
            .saturating_mul(size_of::<u64>())
    }

    /// Returns whether some transaction contains both items; an item occurs together with itself if it occurs
    /// at all. `None` if one of them was not selected.
    pub fn together(&self, one: u32, other: u32) -> Option<bool> {
        let (row, column) = (self.position(one)?, self.position(other)?);
        Some(self.bits[row * self.words_per_row + column / 64] >> (column % 64) & 1 == 1)
    }

    fn position(&self, item: u32) -> Option<usize> {
        let position = *self.position.get(item as usize)?;
        (position != u32::MAX).then_some(position as usize)
    }
}
