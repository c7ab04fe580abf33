//! Dense ranks, ranks and order of a column.
//!
//! Values come in as [sort keys](super::sort_key) or as dense ranks. Long columns of keys are sorted with a
//! radix sort, dense ranks with a counting sort. Equal values are ranked at random, as in the paper, or share
//! their mean rank: see [`Ties`].

use super::HalfRanks;
use crate::{Control, Error, NULL, Result};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::borrow::Cow;

/// Treatment of ties: the ranks of equal values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// Different ranks, in an order that is drawn at random. The draw depends only on the seed and the number
    /// of records, so that two columns of the same records are treated alike, and an unchanged column has the
    /// same ranks on both sides.
    Random {
        /// The same seed draws the same order.
        seed: u64,
    },
    /// The mean of their ranks.
    Shared,
}

impl Ties {
    /// Returns the treatment of ties for the released table, given that for the original. A random order is
    /// drawn with another seed, because the same draw for both would bring together the records that belong
    /// together.
    pub fn of_released(self) -> Self {
        match self {
            Ties::Random { seed } => Ties::Random { seed: !seed },
            Ties::Shared => Ties::Shared,
        }
    }

    /// Returns the treatment of ties in one of several columns. A random order is drawn for each column
    /// separately, because the same draw for all would bring together records that are tied in several.
    pub fn of_column(self, column: usize) -> Self {
        match self {
            Ties::Random { seed } => Ties::Random {
                seed: seed.wrapping_add((column as u64).wrapping_mul(SEED_STEP)),
            },
            Ties::Shared => Ties::Shared,
        }
    }
}

/// Difference between the seeds of two columns. It is so large that the columns of neighbouring seeds do not
/// share seeds.
const SEED_STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Largest number of records that can be ranked in half steps.
pub(super) const MAX_RECORDS: usize = (u32::MAX / 2) as usize;

/// Number of records between two checks for a cancel: less than a millisecond of work.
pub(super) const RECORDS_PER_CHECK: usize = 1 << 16;

/// Records of a column, sorted by their values; absent values come last.
pub(super) struct SortedRecords<'a> {
    /// Order of the column; records with equal values are in any order.
    pub order: Vec<u32>,
    /// Dense rank of every record's value, [`NULL`] if it is absent; `None` if all values differ.
    tied_dense_ranks: Option<Cow<'a, [u32]>>,
}

impl<'a> SortedRecords<'a> {
    /// Sorts values by their `keys`, which have the same order. The keys of the `absent` records, which are
    /// listed in ascending order, are `u64::MAX`.
    pub fn from_keys(keys: &[u64], absent: &[u32], control: &Control) -> Result<Self> {
        check_records(keys.len())?;
        match Packed::all(keys) {
            Some(packed) => Self::new(sort_by_keys(packed, control)?, absent, control),
            None => Self::new(sort_by_keys(Pair::all(keys), control)?, absent, control),
        }
    }

    fn new<K: Keyed>(mut sorted: Vec<K>, absent: &[u32], control: &Control) -> Result<Self> {
        let has_ties = sorted.windows(2).any(|pair| pair[0].key() == pair[1].key());
        let tied_dense_ranks = if has_ties {
            let mut dense_ranks = dense_ranks_of_sorted(&sorted, control)?;
            absent
                .iter()
                .for_each(|&record| dense_ranks[record as usize] = NULL);
            Some(Cow::Owned(dense_ranks))
        } else {
            None
        };
        if !absent.is_empty() {
            sorted.retain(|keyed| absent.binary_search(&keyed.record()).is_err());
        }
        let present = sorted.iter().map(|keyed| keyed.record());
        Ok(SortedRecords {
            order: present.chain(absent.iter().copied()).collect(),
            tied_dense_ranks,
        })
    }

    /// Sorts values by their known dense ranks.
    pub fn from_dense_ranks(dense_ranks: &'a [u32], control: &Control) -> Result<Self> {
        check_records(dense_ranks.len())?;
        let cumulative_counts = cumulative_counts(dense_ranks, control)?;
        let tied_dense_ranks = (!all_differ(&cumulative_counts)).then_some(Cow::Borrowed(dense_ranks));
        let records: Vec<u32> = (0..dense_ranks.len() as u32).collect();
        Ok(SortedRecords {
            order: sort_by_dense_ranks(&records, dense_ranks, cumulative_counts, control)?,
            tied_dense_ranks,
        })
    }

    /// Returns whether any two records have equal values.
    pub fn has_ties(&self) -> bool {
        self.tied_dense_ranks.is_some()
    }

    /// Returns the order of the column in which equal values are in the order of `turns`, which lists all
    /// records.
    pub fn order_with_ties_in(&self, turns: &[u32], control: &Control) -> Result<Vec<u32>> {
        match &self.tied_dense_ranks {
            None => Ok(self.order.clone()),
            Some(dense_ranks) => sort_by_dense_ranks(
                turns,
                dense_ranks,
                cumulative_counts(dense_ranks, control)?,
                control,
            ),
        }
    }
}

/// Returns the dense rank of every value. The `keys` have the order of the values.
pub fn dense_ranks(keys: &[u64], control: &Control) -> Result<Vec<u32>> {
    match Packed::all(keys) {
        Some(packed) => dense_ranks_of_sorted(&sort_by_keys(packed, control)?, control),
        None => dense_ranks_of_sorted(&sort_by_keys(Pair::all(keys), control)?, control),
    }
}

/// A record with its sort key.
pub(super) trait Keyed: Copy + Default + Ord {
    fn key(self) -> u64;
    fn record(self) -> u32;
}

/// A key of any size and its record.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair(u64, u32);

impl Pair {
    pub fn all(keys: &[u64]) -> Vec<Self> {
        keys.iter()
            .zip(0..)
            .map(|(&key, record)| Pair(key, record))
            .collect()
    }
}

impl Keyed for Pair {
    fn key(self) -> u64 {
        self.0
    }

    fn record(self) -> u32 {
        self.1
    }
}

/// A key, relative to the smallest one, and its record in one word. This halves the memory to move.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Packed(u64);

impl Packed {
    fn new(key: u32, record: u32) -> Self {
        Packed(u64::from(key) << 32 | u64::from(record))
    }

    /// Packs all keys with their records; `None` if there are no keys or if they differ by
    /// more than 32 bits can hold.
    fn all(keys: &[u64]) -> Option<Vec<Self>> {
        let (&least, &most) = (keys.iter().min()?, keys.iter().max()?);
        let pack = |(&key, record): (&u64, u32)| Packed::new((key - least) as u32, record);
        (most - least <= u64::from(u32::MAX)).then(|| keys.iter().zip(0..).map(pack).collect())
    }
}

impl Keyed for Packed {
    fn key(self) -> u64 {
        self.0 >> 32
    }

    fn record(self) -> u32 {
        self.0 as u32
    }
}

fn dense_ranks_of_sorted<K: Keyed>(sorted: &[K], control: &Control) -> Result<Vec<u32>> {
    let mut dense_ranks = vec![0; sorted.len()];
    let (mut dense_rank, mut before) = (0, None);
    for piece in sorted.chunks(RECORDS_PER_CHECK) {
        control.check()?;
        for keyed in piece {
            dense_rank += u32::from(before.replace(keyed.key()) != Some(keyed.key()));
            dense_ranks[keyed.record() as usize] = dense_rank;
        }
    }
    Ok(dense_ranks)
}

/// Sorts records by their keys.
pub(super) fn sort_by_keys<K: Keyed>(mut all: Vec<K>, control: &Control) -> Result<Vec<K>> {
    match all.len() {
        0..=SMALL_COLUMN => all.sort_unstable(),
        _ => radix_sort(&mut all, control)?,
    }
    Ok(all)
}

/// Number of key bits by which records are distributed in one pass. Each of the 2¹¹ buckets writes to a
/// memory page of its own, and not many more pages can be open at the same time.
const DIGIT: u32 = 11;

/// Sorts records by their keys, from the last digit to the first.
fn radix_sort<K: Keyed>(all: &mut Vec<K>, control: &Control) -> Result<()> {
    let digit = |key: u64, shift: u32| (key >> shift) as usize & ((1 << DIGIT) - 1);
    let bits = u64::BITS
        - all
            .iter()
            .fold(0, |bits, keyed| bits | keyed.key())
            .leading_zeros();
    let shifts = || (0..bits).step_by(DIGIT as usize);
    let mut counts: Vec<[u32; 1 << DIGIT]> = shifts().map(|_| [0; 1 << DIGIT]).collect();
    for piece in all.chunks(RECORDS_PER_CHECK) {
        control.check()?;
        for keyed in piece {
            for (counts, shift) in counts.iter_mut().zip(shifts()) {
                counts[digit(keyed.key(), shift)] += 1;
            }
        }
    }
    let mut dealt = vec![K::default(); all.len()];
    for (counts, shift) in counts.iter_mut().zip(shifts()) {
        if counts.iter().any(|&count| count as usize == all.len()) {
            continue; // all keys have the same digit
        }
        let mut next = 0;
        for count in counts.iter_mut() {
            next += std::mem::replace(count, next);
        }
        for piece in all.chunks(RECORDS_PER_CHECK) {
            control.check()?;
            for &keyed in piece {
                let slot = &mut counts[digit(keyed.key(), shift)];
                dealt[*slot as usize] = keyed;
                *slot += 1;
            }
        }
        std::mem::swap(all, &mut dealt);
    }
    Ok(())
}

/// Number of records up to which neither other threads nor sorting by digits are worth it. Columns of at most
/// this length are sorted, swapped and grouped on the calling thread alone.
pub const SMALL_COLUMN: usize = 1 << 14;

/// Returns twice the rank of every record, so that shared ranks are whole numbers. Ranks start at 1, so the
/// lowest result is 2. Absent values come last.
pub fn ranks(dense_ranks: &[u32], ties: Ties, control: &Control) -> Result<Vec<HalfRanks>> {
    check_records(dense_ranks.len())?;
    let cumulative_counts = cumulative_counts(dense_ranks, control)?;
    match ties {
        Ties::Shared => {
            let first = |bucket: usize| {
                if bucket == 0 {
                    1
                } else {
                    cumulative_counts[bucket - 1] + 1
                }
            };
            let twice_the_mean = |bucket: usize| first(bucket) + cumulative_counts[bucket];
            let shared_ranks: Vec<HalfRanks> = (0..cumulative_counts.len()).map(twice_the_mean).collect();
            let mut ranks = Vec::with_capacity(dense_ranks.len());
            for piece in dense_ranks.chunks(RECORDS_PER_CHECK) {
                control.check()?;
                ranks.extend(
                    piece
                        .iter()
                        .map(|&dense_rank| shared_ranks[bucket(dense_rank, &shared_ranks)]),
                );
            }
            Ok(ranks)
        }
        Ties::Random { seed } => {
            // If all values differ, there is nothing to draw.
            let records = if cumulative_counts.len() >= dense_ranks.len() && all_differ(&cumulative_counts) {
                (0..dense_ranks.len() as u32).collect()
            } else {
                shuffled((0..dense_ranks.len() as u32).collect(), seed, control)?
            };
            let mut next_rank = cumulative_counts;
            let mut ranks = vec![0; dense_ranks.len()];
            for piece in records.chunks(RECORDS_PER_CHECK) {
                control.check()?;
                for &record in piece {
                    let bucket = bucket(dense_ranks[record as usize], &next_rank);
                    ranks[record as usize] = 2 * next_rank[bucket];
                    next_rank[bucket] -= 1;
                }
            }
            Ok(ranks)
        }
    }
}

fn check_records(records: usize) -> Result<()> {
    if records > MAX_RECORDS {
        return Err(Error::TooMany {
            what: "records to rank",
            limit: MAX_RECORDS as u64,
        });
    }
    Ok(())
}

/// Returns the index at which the records of a dense rank are counted. Absent values are counted at the end.
#[inline]
pub(super) fn bucket<T>(dense_rank: u32, buckets: &[T]) -> usize {
    match dense_rank {
        NULL => buckets.len() - 1,
        dense_rank => dense_rank as usize - 1,
    }
}

/// Returns for each dense rank the number of records with this or a lower dense rank. The last entry is for
/// absent values.
pub(super) fn cumulative_counts(dense_ranks: &[u32], control: &Control) -> Result<Vec<u32>> {
    let last = dense_ranks
        .iter()
        .max()
        .map_or(0, |&dense_rank| dense_rank as usize);
    let mut counts = vec![0; last + 1];
    for piece in dense_ranks.chunks(RECORDS_PER_CHECK) {
        control.check()?;
        for &dense_rank in piece {
            let bucket = bucket(dense_rank, &counts);
            counts[bucket] += 1;
        }
    }
    let mut sum = 0;
    for count in &mut counts {
        sum += *count;
        *count = sum;
    }
    Ok(counts)
}

/// Returns whether no two records share a dense rank.
fn all_differ(cumulative_counts: &[u32]) -> bool {
    let after_the_first = cumulative_counts.windows(2).all(|pair| pair[1] - pair[0] <= 1);
    after_the_first && cumulative_counts.first().is_none_or(|&first| first <= 1)
}

/// Sorts records by their dense ranks, absent values last. Records that share a dense rank keep their order.
/// The argument `cumulative_counts` is the result of [`cumulative_counts`] for these dense ranks.
pub(super) fn sort_by_dense_ranks(
    records: &[u32],
    dense_ranks: &[u32],
    cumulative_counts: Vec<u32>,
    control: &Control,
) -> Result<Vec<u32>> {
    let mut ends = cumulative_counts;
    let mut sorted = vec![0; records.len()];
    for piece in records.rchunks(RECORDS_PER_CHECK) {
        control.check()?;
        for &record in piece.iter().rev() {
            let bucket = bucket(dense_ranks[record as usize], &ends);
            ends[bucket] -= 1;
            sorted[ends[bucket] as usize] = record;
        }
    }
    Ok(sorted)
}

/// Shuffles records. The result depends only on the order in which they are given and on the seed.
pub(super) fn shuffled(mut records: Vec<u32>, seed: u64, control: &Control) -> Result<Vec<u32>> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    for last in (1..records.len()).rev() {
        if last % RECORDS_PER_CHECK == 0 {
            control.check()?;
        }
        records.swap(last, random.random_range(0..=last));
    }
    Ok(records)
}
