use super::HalfRanks;
use crate::{Control, Error, NULL, Result};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::borrow::Cow;

/// What ranks equal values have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// Different ones in an order that is drawn at random. It depends on the seed and the number of records
    /// only, so that two columns of the same records are treated alike, and one that was not changed has
    /// the same ranks on both sides.
    Random {
        /// The same seed draws the same order.
        seed: u64,
    },
    /// The mean of their ranks.
    Shared,
}

impl Ties {
    /// The ties of a release whose original has these: another draw, because the same draw for both would bring
    /// together the records that belong together.
    pub fn of_released(self) -> Self {
        match self {
            Ties::Random { seed } => Ties::Random { seed: !seed },
            Ties::Shared => Ties::Shared,
        }
    }
}

/// Records that can be ranked in half steps.
pub(super) const MOST_RECORDS: usize = (u32::MAX / 2) as usize;

/// Records between two looks at the control: less than a millisecond.
pub(super) const PIECE: usize = 1 << 16;

/// The records of a column in the order of their values; those whose values are absent come last.
pub(super) struct Sorted<'a> {
    /// Equal ones are in any order.
    pub records: Vec<u32>,
    /// The place of every record's value, [`NULL`] if it is absent; `None` if all values differ.
    tied_places: Option<Cow<'a, [u32]>>,
}

impl<'a> Sorted<'a> {
    /// Sorts values, of which `keys` are in the same order. Those of `absent` records, ascending, are `u64::MAX`.
    pub fn by_keys(keys: &[u64], absent: &[u32], control: &Control) -> Result<Self> {
        check_number(keys.len())?;
        match Packed::all(keys) {
            Some(packed) => Self::new(sort(packed, control)?, absent, control),
            None => Self::new(sort(Pair::all(keys), control)?, absent, control),
        }
    }

    fn new<K: Keyed>(mut sorted: Vec<K>, absent: &[u32], control: &Control) -> Result<Self> {
        let has_ties = sorted.windows(2).any(|pair| pair[0].key() == pair[1].key());
        let tied_places = if has_ties {
            let mut places = places_sorted(&sorted, control)?;
            absent.iter().for_each(|&record| places[record as usize] = NULL);
            Some(Cow::Owned(places))
        } else {
            None
        };
        if !absent.is_empty() {
            sorted.retain(|keyed| absent.binary_search(&keyed.record()).is_err());
        }
        let present = sorted.iter().map(|keyed| keyed.record());
        Ok(Sorted {
            records: present.chain(absent.iter().copied()).collect(),
            tied_places,
        })
    }

    /// Sorts values of which the places are known.
    pub fn by_places(places: &'a [u32], control: &Control) -> Result<Self> {
        check_number(places.len())?;
        let ranks_up_to = ranks_up_to(places, control)?;
        let tied_places = (!all_differ(&ranks_up_to)).then_some(Cow::Borrowed(places));
        let records: Vec<u32> = (0..places.len() as u32).collect();
        Ok(Sorted {
            records: sort_by_places(&records, places, ranks_up_to, control)?,
            tied_places,
        })
    }

    /// Whether two records have equal values.
    pub fn has_ties(&self) -> bool {
        self.tied_places.is_some()
    }

    /// The records in the order of their values, equal ones in the order of `turns`, which has all records.
    pub fn with_ties_in(&self, turns: &[u32], control: &Control) -> Result<Vec<u32>> {
        match &self.tied_places {
            None => Ok(self.records.clone()),
            Some(places) => sort_by_places(turns, places, ranks_up_to(places, control)?, control),
        }
    }
}

/// The place of every value in their order, from 1; equal values share one. `keys` are in the order of the
/// values.
pub fn places(keys: &[u64], control: &Control) -> Result<Vec<u32>> {
    match Packed::all(keys) {
        Some(packed) => places_sorted(&sort(packed, control)?, control),
        None => places_sorted(&sort(Pair::all(keys), control)?, control),
    }
}

/// A record and its key.
trait Keyed: Copy + Default + Ord {
    fn key(self) -> u64;
    fn record(self) -> u32;
}

/// Any key, and the record.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Pair(u64, u32);

impl Pair {
    fn all(keys: &[u64]) -> Vec<Self> {
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

/// The difference of a key to the least one, and the record, in one word: half as much memory to move.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Packed(u64);

impl Packed {
    fn new(key: u32, record: u32) -> Self {
        Packed(u64::from(key) << 32 | u64::from(record))
    }

    /// `None` where keys are too far apart.
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

fn places_sorted<K: Keyed>(sorted: &[K], control: &Control) -> Result<Vec<u32>> {
    let mut places = vec![0; sorted.len()];
    let (mut place, mut before) = (0, None);
    for piece in sorted.chunks(PIECE) {
        control.check()?;
        for keyed in piece {
            place += u32::from(before.replace(keyed.key()) != Some(keyed.key()));
            places[keyed.record() as usize] = place;
        }
    }
    Ok(places)
}

/// In the order of the keys.
fn sort<K: Keyed>(mut all: Vec<K>, control: &Control) -> Result<Vec<K>> {
    match all.len() {
        0..=FEW => all.sort_unstable(),
        _ => radix_sort(&mut all, control)?,
    }
    Ok(all)
}

/// Bits by which keys are dealt out in one pass: as many as there may be open pages at the same time.
const DIGIT: u32 = 11;

/// Sorts by keys, from their last digit to the first.
fn radix_sort<K: Keyed>(all: &mut Vec<K>, control: &Control) -> Result<()> {
    let digit = |key: u64, shift: u32| (key >> shift) as usize & ((1 << DIGIT) - 1);
    let bits = u64::BITS
        - all
            .iter()
            .fold(0, |bits, keyed| bits | keyed.key())
            .leading_zeros();
    let shifts = || (0..bits).step_by(DIGIT as usize);
    let mut counts: Vec<[u32; 1 << DIGIT]> = shifts().map(|_| [0; 1 << DIGIT]).collect();
    for piece in all.chunks(PIECE) {
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
            continue; // all have the same digit
        }
        let mut next = 0;
        for count in counts.iter_mut() {
            next += std::mem::replace(count, next);
        }
        for piece in all.chunks(PIECE) {
            control.check()?;
            for &keyed in piece {
                let place = &mut counts[digit(keyed.key(), shift)];
                dealt[*place as usize] = keyed;
                *place += 1;
            }
        }
        std::mem::swap(all, &mut dealt);
    }
    Ok(())
}

/// So few records that neither other threads nor sorting by digits would be worth it. Columns that are not longer are
/// sorted, swapped and grouped on the calling thread alone.
pub const FEW: usize = 1 << 14;

/// Twice the rank of every record, from 2 on. Absent values come last.
pub fn ranks(places: &[u32], ties: Ties, control: &Control) -> Result<Vec<HalfRanks>> {
    check_number(places.len())?;
    let ranks_up_to = ranks_up_to(places, control)?;
    match ties {
        Ties::Shared => {
            let first = |place: usize| if place == 0 { 1 } else { ranks_up_to[place - 1] + 1 };
            let twice_the_mean = |place: usize| first(place) + ranks_up_to[place];
            let of_place: Vec<HalfRanks> = (0..ranks_up_to.len()).map(twice_the_mean).collect();
            let mut ranks = Vec::with_capacity(places.len());
            for piece in places.chunks(PIECE) {
                control.check()?;
                ranks.extend(piece.iter().map(|&place| of_place[bucket(place, &of_place)]));
            }
            Ok(ranks)
        }
        Ties::Random { seed } => {
            // Where all values differ, there is nothing to draw.
            let records = if ranks_up_to.len() >= places.len() && all_differ(&ranks_up_to) {
                (0..places.len() as u32).collect()
            } else {
                shuffled((0..places.len() as u32).collect(), seed, control)?
            };
            let mut last_free = ranks_up_to;
            let mut ranks = vec![0; places.len()];
            for piece in records.chunks(PIECE) {
                control.check()?;
                for &record in piece {
                    let bucket = bucket(places[record as usize], &last_free);
                    ranks[record as usize] = 2 * last_free[bucket];
                    last_free[bucket] -= 1;
                }
            }
            Ok(ranks)
        }
    }
}

fn check_number(records: usize) -> Result<()> {
    if records > MOST_RECORDS {
        return Err(Error::TooMany {
            what: "records to rank",
            limit: MOST_RECORDS as u64,
        });
    }
    Ok(())
}

/// Where a place is counted: in order, the absent values at the end.
#[inline]
pub(super) fn bucket<T>(place: u32, buckets: &[T]) -> usize {
    match place {
        NULL => buckets.len() - 1,
        place => place as usize - 1,
    }
}

/// How many records have this place or one before it; the last entry is for absent values.
pub(super) fn ranks_up_to(places: &[u32], control: &Control) -> Result<Vec<u32>> {
    let last = places.iter().max().map_or(0, |&place| place as usize);
    let mut counts = vec![0; last + 1];
    for piece in places.chunks(PIECE) {
        control.check()?;
        for &place in piece {
            let bucket = bucket(place, &counts);
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

/// Whether no two records share a place.
fn all_differ(ranks_up_to: &[u32]) -> bool {
    let after_the_first = ranks_up_to.windows(2).all(|pair| pair[1] - pair[0] <= 1);
    after_the_first && ranks_up_to.first().is_none_or(|&first| first <= 1)
}

/// Sorts records by their places, absent values last; those that share a place stay as they were. [`ranks_up_to`] is
/// that of the places.
pub(super) fn sort_by_places(
    records: &[u32],
    places: &[u32],
    ranks_up_to: Vec<u32>,
    control: &Control,
) -> Result<Vec<u32>> {
    let mut after = ranks_up_to;
    let mut sorted = vec![0; records.len()];
    for piece in records.rchunks(PIECE) {
        control.check()?;
        for &record in piece.iter().rev() {
            let bucket = bucket(places[record as usize], &after);
            after[bucket] -= 1;
            sorted[after[bucket] as usize] = record;
        }
    }
    Ok(sorted)
}

/// Records in an order that depends on nothing but the one in which they are given, and the seed.
pub(super) fn shuffled(mut records: Vec<u32>, seed: u64, control: &Control) -> Result<Vec<u32>> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    for last in (1..records.len()).rev() {
        if last % PIECE == 0 {
            control.check()?;
        }
        records.swap(last, random.random_range(0..=last));
    }
    Ok(records)
}
