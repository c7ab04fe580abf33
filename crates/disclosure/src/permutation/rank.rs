use super::HalfRanks;
use crate::{Error, Result, NULL};
use rand::seq::SliceRandom;
use rand::SeedableRng;
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

/// Twice the rank of every record, from 2 on. Absent values come last.
pub fn ranks(places: &[u32], ties: Ties) -> Result<Vec<HalfRanks>> {
    if places.len() > MOST_RECORDS {
        return Err(Error::TooMany {
            what: "records to rank",
            limit: MOST_RECORDS as u64,
        });
    }
    let ranks_up_to = ranks_up_to(places);
    Ok(match ties {
        Ties::Shared => {
            let first = |place: usize| if place == 0 { 1 } else { ranks_up_to[place - 1] + 1 };
            let twice_the_mean = |place: usize| first(place) + ranks_up_to[place];
            let of_place: Vec<HalfRanks> = (0..ranks_up_to.len()).map(twice_the_mean).collect();
            places
                .iter()
                .map(|&place| of_place[bucket(place, &of_place)])
                .collect()
        }
        Ties::Random { seed } => {
            let mut last_free = ranks_up_to;
            let mut ranks = vec![0; places.len()];
            for record in shuffled(places.len(), seed) {
                let bucket = bucket(places[record as usize], &last_free);
                ranks[record as usize] = 2 * last_free[bucket];
                last_free[bucket] -= 1;
            }
            ranks
        }
    })
}

/// Where a place is counted: in order, the absent values at the end.
#[inline]
fn bucket<T>(place: u32, buckets: &[T]) -> usize {
    match place {
        NULL => buckets.len() - 1,
        place => place as usize - 1,
    }
}

/// How many records have this place or one before it; the last entry is for absent values.
fn ranks_up_to(places: &[u32]) -> Vec<u32> {
    let last = places.iter().max().map_or(0, |&place| place as usize);
    let mut counts = vec![0; last + 1];
    for &place in places {
        let bucket = bucket(place, &counts);
        counts[bucket] += 1;
    }
    let mut sum = 0;
    for count in &mut counts {
        sum += *count;
        *count = sum;
    }
    counts
}

/// All record numbers in an order that depends on nothing but the seed.
fn shuffled(records: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..records as u32).collect();
    order.shuffle(&mut Pcg64Mcg::seed_from_u64(seed));
    order
}
