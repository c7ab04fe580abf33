use super::HalfRanks;
use crate::{Control, Error, Result, NULL};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

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

/// Records that can be ranked in half steps.
pub(super) const MOST_RECORDS: usize = (u32::MAX / 2) as usize;

/// Records between two looks at the control: less than a millisecond.
pub(super) const PIECE: usize = 1 << 16;

/// The records in the order of their values, of which `keys` are in the same order; equal ones in an order that
/// the seed draws, the same as that of [`ranks`]. Those whose values are absent are given in ascending order,
/// and come last.
pub fn order(keys: &[u64], absent: &[u32], seed: u64, control: &Control) -> Result<Vec<u32>> {
    check_number(keys.len())?;
    let mut pairs = sorted(keys, control)?;
    if !absent.is_empty() {
        let is_absent = |&(_, record): &(u64, u32)| absent.binary_search(&record).is_ok();
        pairs.retain(|pair| !is_absent(pair));
    }
    let alike = |one: &(u64, u32), other: &(u64, u32)| one.0 == other.0;
    let has_ties = absent.len() > 1 || pairs.windows(2).any(|pair| alike(&pair[0], &pair[1]));
    let mut records: Vec<u32> = pairs
        .iter()
        .map(|&(_, record)| record)
        .chain(absent.iter().copied())
        .collect();
    if has_ties {
        let mut drawn = vec![0; records.len()];
        for (number, record) in (0..).zip(shuffled(records.len(), seed, control)?) {
            drawn[record as usize] = number;
        }
        let (mut rest, groups) = (&mut records[..], pairs.chunk_by(alike).map(<[_]>::len));
        for group in groups.chain([absent.len()]) {
            let (equal, after) = rest.split_at_mut(group);
            // As `ranks` has it, the first that is drawn gets the last rank.
            equal.sort_unstable_by_key(|&record| std::cmp::Reverse(drawn[record as usize]));
            rest = after;
        }
    }
    Ok(records)
}

/// Keys and records in the order of the keys.
fn sorted(keys: &[u64], control: &Control) -> Result<Vec<(u64, u32)>> {
    let mut sorted: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
    match sorted.len() {
        0..=FEW => sorted.sort_unstable(),
        _ => radix_sort(&mut sorted, control)?,
    }
    Ok(sorted)
}

/// The place of every value in their order, from 1; equal values share one. `keys` are in the order of the
/// values.
pub fn places(keys: &[u64], control: &Control) -> Result<Vec<u32>> {
    let sorted = sorted(keys, control)?;
    let mut places = vec![0; keys.len()];
    let (mut place, mut before) = (0, None);
    for piece in sorted.chunks(PIECE) {
        control.check()?;
        for &(key, value) in piece {
            place += u32::from(before.replace(key) != Some(key));
            places[value as usize] = place;
        }
    }
    Ok(places)
}

/// Bits by which pairs are dealt out in one pass: as many as there may be open pages at the same time.
const DIGIT: u32 = 11;

/// Sort pairs by their keys, from the last digit to the first.
fn radix_sort(pairs: &mut Vec<(u64, u32)>, control: &Control) -> Result<()> {
    let digit = |key: u64, shift: u32| (key >> shift) as usize & ((1 << DIGIT) - 1);
    let shifts = || (0..u64::BITS).step_by(DIGIT as usize);
    let mut counts: Vec<[u32; 1 << DIGIT]> = shifts().map(|_| [0; 1 << DIGIT]).collect();
    for piece in pairs.chunks(PIECE) {
        control.check()?;
        for &(key, _) in piece {
            for (counts, shift) in counts.iter_mut().zip(shifts()) {
                counts[digit(key, shift)] += 1;
            }
        }
    }
    let mut dealt = vec![(0, 0); pairs.len()];
    for (counts, shift) in counts.iter_mut().zip(shifts()) {
        if counts.iter().any(|&count| count as usize == pairs.len()) {
            continue; // all have the same digit
        }
        let mut next = 0;
        for count in counts.iter_mut() {
            next += std::mem::replace(count, next);
        }
        for piece in pairs.chunks(PIECE) {
            control.check()?;
            for &pair in piece {
                let place = &mut counts[digit(pair.0, shift)];
                dealt[*place as usize] = pair;
                *place += 1;
            }
        }
        std::mem::swap(pairs, &mut dealt);
    }
    Ok(())
}

/// So few that other threads would not be worth it, nor would be sorting by digits.
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
            let records = match ranks_up_to.len() >= places.len() && all_differ(&ranks_up_to) {
                true => (0..places.len() as u32).collect(),
                false => shuffled(places.len(), seed, control)?,
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
    match records <= MOST_RECORDS {
        true => Ok(()),
        false => Err(Error::TooMany {
            what: "records to rank",
            limit: MOST_RECORDS as u64,
        }),
    }
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

/// All record numbers in an order that depends on nothing but the seed.
fn shuffled(records: usize, seed: u64, control: &Control) -> Result<Vec<u32>> {
    let mut order: Vec<u32> = (0..records as u32).collect();
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    for last in (1..records).rev() {
        if last % PIECE == 0 {
            control.check()?;
        }
        order.swap(last, random.random_range(0..=last));
    }
    Ok(order)
}
