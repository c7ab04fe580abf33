use super::{Frequencies, Transactions};
use crate::sort::sort;
use crate::{Control, Result};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Two items and the number of transactions that both are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The smaller item number.
    pub one: u32,
    /// The larger.
    pub other: u32,
    /// In how many transactions both are.
    pub together: u64,
}

impl Pair {
    /// Both items.
    pub fn items(&self) -> (u32, u32) {
        (self.one, self.other)
    }

    /// Of the transactions that have either item, the share that have both; 0 where there are none.
    pub fn share(&self, frequencies: &Frequencies) -> f64 {
        let counts = frequencies.counts();
        let either = counts[self.one as usize] + counts[self.other as usize] - self.together;
        self.together as f64 / either.max(1) as f64
    }
}

/// The `most` pairs that are together in most transactions, at least in one; best first. Of pairs that are
/// together equally often, those with the smaller item numbers come first, so that the answer is unique.
pub fn top_pairs(transactions: &Transactions, most: usize, control: &Control) -> Result<Vec<Pair>> {
    // Nobody is with another more often than the rarer of both occurs.
    let bound = |rarer: u64| u128::from(rarer);
    let find = |search: &Search, row: &Row, best: &mut Best| {
        for &partner in row.partners {
            let together = row.together[partner as usize];
            if search.rank[partner as usize] < row.rank {
                best.offer(together.into(), row.item, partner, together.into());
            }
        }
    };
    Search::new(transactions).run(most, bound, find, control)
}

/// The `most` pairs that are never together though both are frequent: those with the largest product of
/// frequencies, best first; of equal ones, those with the smaller item numbers first. Items that never occur
/// are in none.
pub fn apart_pairs(transactions: &Transactions, most: usize, control: &Control) -> Result<Vec<Pair>> {
    let search = Search::new(transactions);
    let most_frequent = search.by_rank.first().map_or(0, |&item| search.count(item));
    let bound = |rarer: u64| u128::from(rarer) * u128::from(most_frequent);
    let find = |search: &Search, row: &Row, best: &mut Best| {
        for &partner in &search.by_rank[..row.rank as usize] {
            let product = u128::from(search.count(partner)) * u128::from(search.count(row.item));
            if !best.wants(product) {
                break;
            }
            if row.together[partner as usize] == 0 {
                best.offer(product, row.item, partner, 0);
            }
        }
    };
    search.run(most, bound, find, control)
}

/// A row of the triangular matrix of counts: an item and all items that are more frequent. Rows are counted
/// from the transactions of their item, most frequent item first, until no later row can hold a better
/// pair; so the matrix is never there as a whole.
struct Row<'a> {
    item: u32,
    rank: u32,
    /// For every item, in how many transactions it is together with this one.
    together: &'a [u32],
    /// The items where that is not 0.
    partners: &'a [u32],
}

struct Search<'a> {
    transactions: &'a Transactions,
    frequencies: Frequencies,
    /// The items that occur, most frequent first; of equally frequent ones, the smaller number first.
    by_rank: Vec<u32>,
    rank: Vec<u32>,
}

/// How many occurrences are indexed at a time: 64 MB. Only an item that is in more transactions has more.
const INDEXED: u64 = 1 << 24;

/// The number of rows in the first round; often one round is enough. Each has eight times the rows of the
/// one before, as far as memory allows.
const FIRST_ROWS: usize = 64;

impl<'a> Search<'a> {
    fn new(transactions: &'a Transactions) -> Self {
        let frequencies = transactions.frequencies();
        let counts = frequencies.counts();
        let items = (0..counts.len() as u32).filter(|&item| counts[item as usize] > 0);
        let mut by_rank: Vec<u32> = items.collect();
        by_rank.sort_by_key(|&item| Reverse(counts[item as usize]));
        let mut rank = vec![u32::MAX; counts.len()];
        for (place, &item) in by_rank.iter().enumerate() {
            rank[item as usize] = place as u32;
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

    /// `find` offers the pairs of a row; `bound` says how good a pair with an item this frequent, and one
    /// that is no less frequent, can be.
    fn run(
        &self,
        most: usize,
        bound: impl Fn(u64) -> u128 + Sync,
        find: impl Fn(&Search, &Row, &mut Best) + Sync,
        control: &Control,
    ) -> Result<Vec<Pair>> {
        let mut best = Best::new(most);
        let mut start = 0;
        let mut rows = FIRST_ROWS;
        while start < self.by_rank.len() && best.wants(bound(self.count(self.by_rank[start]))) {
            let end = self.end_of_round(start, rows);
            let index = self.index(start, end, control)?;
            let next = AtomicUsize::new(0);
            let threads = (0..rayon::current_num_threads()).into_par_iter().map(|_| {
                let mut best = best.of_thread();
                let mut counter = Counter::new(self.transactions);
                loop {
                    let row = next.fetch_add(1, Relaxed);
                    let Some(&item) = self.by_rank[start..end].get(row) else {
                        return Ok(best);
                    };
                    if !best.wants(bound(self.count(item))) {
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
            for found in threads.collect::<Result<Vec<Best>>>()? {
                best.merge(found, control)?;
            }
            start = end;
            rows = rows.saturating_mul(8);
        }
        best.into_pairs(control)
    }

    fn end_of_round(&self, start: usize, rows: usize) -> usize {
        let mut occurrences = 0;
        let fits = |&&item: &&u32| {
            occurrences += self.count(item);
            occurrences <= INDEXED
        };
        let rows = self.by_rank[start..].iter().take(rows).take_while(fits).count();
        start + rows.max(1)
    }

    /// The transactions of the items with these ranks.
    fn index(&self, start: usize, end: usize, control: &Control) -> Result<Index> {
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

/// The best pairs so far.
struct Best {
    most: usize,
    /// What is worse than this is not wanted.
    floor: u128,
    /// The worst on top.
    pairs: BinaryHeap<Reverse<Ranked>>,
}

/// A value, the item numbers and the count. Smaller numbers are better, so they are compared in reverse.
type Ranked = (u128, Reverse<(u32, u32)>, u64);

impl Best {
    fn new(most: usize) -> Self {
        Best {
            most,
            floor: 0,
            pairs: BinaryHeap::new(),
        }
    }

    /// No pairs yet, but only those are wanted that this one wants.
    fn of_thread(&self) -> Self {
        let worst = self.pairs.peek().filter(|_| self.pairs.len() == self.most);
        Best {
            floor: worst.map_or(self.floor, |worst| worst.0.0),
            ..Best::new(self.most)
        }
    }

    /// Whether a pair of this value may be among the best; of equal values, some may.
    fn wants(&self, value: u128) -> bool {
        let is_full = self.pairs.len() == self.most;
        value >= self.floor && (!is_full || self.pairs.peek().is_some_and(|worst| value >= worst.0.0))
    }

    fn offer(&mut self, value: u128, item: u32, partner: u32, together: u64) {
        if self.wants(value) {
            self.add((value, Reverse((item.min(partner), item.max(partner))), together));
        }
    }

    fn add(&mut self, pair: Ranked) {
        self.pairs.push(Reverse(pair));
        if self.pairs.len() > self.most {
            self.pairs.pop();
        }
    }

    fn merge(&mut self, other: Best, control: &Control) -> Result<()> {
        for some in other.pairs.into_vec().chunks(4096) {
            control.check()?;
            some.iter().for_each(|&Reverse(pair)| self.add(pair));
        }
        Ok(())
    }

    fn into_pairs(self, control: &Control) -> Result<Vec<Pair>> {
        let mut best_first = self.pairs.into_vec();
        sort(&mut best_first, control)?;
        let pair =
            |Reverse((_, Reverse((one, other)), together)): Reverse<Ranked>| Pair { one, other, together };
        Ok(best_first.into_iter().map(pair).collect())
    }
}

/// Which of some items are ever together in a transaction: a bit per two items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoOccurrence {
    /// For every item its row and column, or `u32::MAX`.
    place: Vec<u32>,
    words_per_row: usize,
    bits: Vec<u64>,
}

impl CoOccurrence {
    /// Among these items, in one pass over the transactions. [`bytes`](Self::bytes) says what it takes.
    pub fn among(transactions: &Transactions, items: &[u32], control: &Control) -> Result<Self> {
        let known = items.iter().map(|&item| item as usize + 1).max().unwrap_or(0);
        let mut place = vec![u32::MAX; transactions.items().max(known)];
        for (number, &item) in items.iter().enumerate() {
            place[item as usize] = number as u32;
        }
        let words_per_row = items.len().div_ceil(64);
        control.require::<u8>(Self::bytes(items.len()))?;
        let bits: Vec<AtomicU64> = (0..items.len() * words_per_row)
            .map(|_| AtomicU64::new(0))
            .collect();
        let numbers: Vec<usize> = (0..transactions.len()).step_by(1024).collect();
        numbers.into_par_iter().try_for_each(|first| {
            let mut places = Vec::new();
            for number in first..transactions.len().min(first + 1024) {
                control.check()?;
                places.clear();
                let of_items = transactions.get(number).iter().map(|&item| place[item as usize]);
                places.extend(of_items.filter(|&place| place != u32::MAX));
                for &row in &places {
                    for &column in &places {
                        let word = &bits[row as usize * words_per_row + column as usize / 64];
                        let bit = 1 << (column % 64);
                        // Nearly always it is there already; writing would make the threads wait.
                        if word.load(Relaxed) & bit == 0 {
                            word.fetch_or(bit, Relaxed);
                        }
                    }
                }
            }
            Ok(())
        })?;
        Ok(CoOccurrence {
            place,
            words_per_row,
            bits: bits.into_iter().map(AtomicU64::into_inner).collect(),
        })
    }

    /// The memory that so many items take.
    pub fn bytes(items: usize) -> usize {
        items
            .saturating_mul(items.div_ceil(64))
            .saturating_mul(size_of::<u64>())
    }

    /// Whether both items are in some transaction; an item is together with itself where it occurs at all.
    /// `None` where one of them is not among the items asked for.
    pub fn together(&self, one: u32, other: u32) -> Option<bool> {
        let (row, column) = (self.place(one)?, self.place(other)?);
        Some(self.bits[row * self.words_per_row + column / 64] >> (column % 64) & 1 == 1)
    }

    fn place(&self, item: u32) -> Option<usize> {
        let place = *self.place.get(item as usize)?;
        (place != u32::MAX).then_some(place as usize)
    }
}
