//! The permutation paradigm (Domingo-Ferrer and Muralidhar 2015) by its definitions: ranks by counting, and
//! every record compared with all others.

use disclosure::NULL;

/// Returns twice the rank of every record, given the dense ranks of their values. Equal values share their
/// mean rank, which is the number of lower values, plus half the number of equal values, plus one half.
pub fn shared_half_ranks(dense_ranks: &[u32]) -> Vec<u32> {
    let key = |&dense_rank: &u32| if dense_rank == NULL { u32::MAX } else { dense_rank };
    let count = |of: &u32, keep: fn(u32, u32) -> bool| {
        dense_ranks
            .iter()
            .filter(|other| keep(key(other), key(of)))
            .count() as u32
    };
    let half_ranks =
        |dense_rank: &u32| 2 * count(dense_rank, |a, b| a < b) + count(dense_rank, |a, b| a == b) + 1;
    dense_ranks.iter().map(half_ranks).collect()
}

/// Returns for every record the original value with the rank of its released value: Algorithm 1, for columns
/// in which no two values are equal.
pub fn reverse_map(original: &[i64], released: &[i64]) -> Vec<i64> {
    let mut sorted = original.to_vec();
    sorted.sort_unstable();
    let rank = |value: &i64| released.iter().filter(|other| *other <= value).count();
    released.iter().map(|value| sorted[rank(value) - 1]).collect()
}

/// Returns the distance of two records: the largest difference of their ranks in any column.
pub fn distance(one: &[u32], other: &[u32]) -> u32 {
    let differences = one.iter().zip(other).map(|(a, b)| a.abs_diff(*b));
    differences.max().unwrap_or(0)
}

/// Returns the shortest distance of a record to any of the others, and the numbers of those at that distance.
pub fn nearest<'a>(record: &[u32], others: impl Iterator<Item = &'a [u32]>) -> (u32, Vec<usize>) {
    let mut nearest = (u32::MAX, vec![]);
    for (number, other) in others.enumerate() {
        let distance = distance(record, other);
        if distance < nearest.0 {
            nearest = (distance, vec![]);
        }
        if distance == nearest.0 {
            nearest.1.push(number);
        }
    }
    nearest
}

/// Returns the expected number of correct links if an adversary draws one of the matches of each record.
/// `counterparts` has the released record that belongs to each original one.
pub fn expected_correct(matches: &[Vec<usize>], counterparts: &[usize]) -> f64 {
    let probability = |(matches, counterpart): (&Vec<usize>, &usize)| {
        if matches.contains(counterpart) {
            1.0 / matches.len() as f64
        } else {
            0.0
        }
    };
    matches.iter().zip(counterparts).map(probability).sum()
}

/// Returns the expected numbers of correct links for every way in which the released records may belong to the
/// original ones.
pub fn expected_correct_of_all(matches: &[Vec<usize>]) -> Vec<f64> {
    let assignments = permutations(matches.len());
    assignments
        .iter()
        .map(|counterparts| expected_correct(matches, counterparts))
        .collect()
}

fn permutations(number: usize) -> Vec<Vec<usize>> {
    let Some(last) = number.checked_sub(1) else {
        return vec![vec![]];
    };
    let shorter = permutations(last);
    let longer = shorter.iter().flat_map(|shorter| {
        (0..number).map(move |place| {
            let mut longer = shorter.clone();
            longer.insert(place, last);
            longer
        })
    });
    longer.collect()
}

/// Returns twice the rank of a value, given by its dense rank, after it has replaced that of a record.
pub fn half_rank_in_place_of(dense_ranks: &[u32], replaced: usize, dense_rank: u32) -> u32 {
    let mut column = dense_ranks.to_vec();
    column[replaced] = dense_rank;
    shared_half_ranks(&column)[replaced]
}
