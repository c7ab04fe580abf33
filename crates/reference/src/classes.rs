//! Sizes of equivalence classes, by comparing a row with all rows.

use disclosure::NULL;

/// Returns the number of rows that are equal to this one.
pub fn class_size(rows: &[Vec<u32>], row: &[u32]) -> u64 {
    rows.iter().filter(|other| *other == row).count() as u64
}

/// Returns the number of rows that agree with this one in every column in which both have a value.
pub fn wildcard_size(rows: &[Vec<u32>], row: &[u32]) -> u64 {
    let agree = |(a, b): (&u32, &u32)| a == b || *a == NULL || *b == NULL;
    rows.iter()
        .filter(|other| other.iter().zip(row).all(agree))
        .count() as u64
}
