//! Counters of a column's values, of a size that does not depend on how many there are.

use super::dates::Date;
use super::format::{Format, Formats};
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Number of hashes that are kept to estimate how many values are distinct.
const KEPT_HASHES: usize = 128;

/// First year that is counted on its own.
pub(super) const FIRST_YEAR: u16 = 1800;

/// Largest whole number that is counted on its own.
pub(super) const MAX_SMALL: usize = 130;

/// Distinct values, estimated from the smallest hashes (k minimum values; Bar-Yossef et al. 2002).
#[derive(Debug, Clone, Default)]
pub(super) struct Distinct {
    /// Smallest hashes in ascending order.
    smallest: Vec<u64>,
}

impl Distinct {
    pub(super) fn add(&mut self, value: &str) {
        let mut hasher = FxHasher::default();
        hasher.write(value.as_bytes());
        self.add_hash(mixed(hasher.finish()));
    }

    fn add_hash(&mut self, hash: u64) {
        if self.smallest.len() == KEPT_HASHES && self.smallest.last().is_some_and(|largest| hash >= *largest)
        {
            return;
        }
        if let Err(place) = self.smallest.binary_search(&hash) {
            self.smallest.truncate(KEPT_HASHES - 1);
            self.smallest.insert(place.min(self.smallest.len()), hash);
        }
    }

    pub(super) fn merge(&mut self, other: &Distinct) {
        other.smallest.iter().for_each(|hash| self.add_hash(*hash));
    }

    /// Returns the number of distinct values: exact up to a limit, then an estimate with an error of about 9
    /// %.
    pub(super) fn estimate(&self) -> f64 {
        match self.smallest.last() {
            Some(largest) if self.smallest.len() == KEPT_HASHES => {
                (KEPT_HASHES - 1) as f64 / (*largest as f64 / 2_f64.powi(64))
            }
            _ => self.smallest.len() as f64,
        }
    }
}

/// Mixes the bits of a hash (the finalizer of MurmurHash3), because the estimate needs all of them to be
/// random.
fn mixed(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

/// Smallest and largest of some numbers, and how often they ascend.
#[derive(Debug, Clone)]
pub(super) struct Range {
    pub(super) count: u64,
    pub(super) min: f64,
    pub(super) max: f64,
    last: f64,
    pub(super) ascending: u64,
}

impl Default for Range {
    fn default() -> Range {
        Range {
            count: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            last: f64::INFINITY,
            ascending: 0,
        }
    }
}

impl Range {
    pub(super) fn add(&mut self, number: f64) {
        self.count += 1;
        self.min = self.min.min(number);
        self.max = self.max.max(number);
        self.ascending += u64::from(number > self.last);
        self.last = number;
    }

    fn merge(&mut self, other: &Range) {
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.ascending += other.ascending;
        self.last = other.last;
    }

    /// Returns whether nearly all numbers are larger than the one before.
    pub(super) fn is_sequence(&self) -> bool {
        self.count >= 10 && self.ascending as f64 >= 0.95 * (self.count - 1) as f64
    }
}

/// Counters of a column's values.
#[derive(Debug, Clone)]
pub(super) struct Statistics {
    /// Values that are not empty.
    pub(super) present: u64,
    counts: [u64; Format::ALL.len()],
    pub(super) distinct: Distinct,
    /// Single letters, without case.
    pub(super) letters: [u64; 26],
    /// Words for men and for women.
    pub(super) men: u64,
    pub(super) women: u64,
    /// Whole numbers up to a limit.
    pub(super) small: [u64; MAX_SMALL + 1],
    pub(super) integers: Range,
    /// Numbers of at least four decimal places.
    pub(super) decimals: Range,
    /// Numbers below zero among them.
    pub(super) negative: u64,
    /// First two digits of numbers of five or nine and more digits that occur, as bits.
    pub(super) leading: u128,
    /// Dates by year since 1800.
    pub(super) years: [u64; 300],
    pub(super) timed: u64,
    pub(super) new_years: u64,
    /// IPv4 addresses whose first number is above 24, and those that begin with 10.
    pub(super) high_octets: u64,
    pub(super) private_octets: u64,
    /// Whole numbers that may be years.
    pub(super) bare_years: [u64; 300],
}

impl Default for Statistics {
    fn default() -> Statistics {
        Statistics {
            present: 0,
            counts: [0; Format::ALL.len()],
            distinct: Distinct::default(),
            letters: [0; 26],
            men: 0,
            women: 0,
            small: [0; MAX_SMALL + 1],
            integers: Range::default(),
            decimals: Range::default(),
            negative: 0,
            leading: 0,
            years: [0; 300],
            timed: 0,
            new_years: 0,
            high_octets: 0,
            private_octets: 0,
            bare_years: [0; 300],
        }
    }
}

impl Statistics {
    pub(super) fn count_of(&self, format: Format) -> u64 {
        self.counts[format as usize]
    }

    /// Returns the share of the values that are not empty and have a format.
    pub(super) fn share(&self, format: Format) -> f64 {
        self.count_of(format) as f64 / self.present.max(1) as f64
    }

    pub(super) fn add_formats(&mut self, formats: Formats) {
        for format in formats {
            self.counts[format] += 1;
        }
    }

    pub(super) fn add_date(&mut self, date: Date) {
        if let Some(count) = self
            .years
            .get_mut(usize::from(date.year.wrapping_sub(FIRST_YEAR)))
        {
            *count += 1;
        }
        self.timed += u64::from(date.has_time);
        self.new_years += u64::from(date.is_new_year);
    }

    pub(super) fn add_leading(&mut self, digits: &[u8]) {
        if let [first, second, ..] = digits {
            self.leading |= 1 << (first * 10 + second);
        }
    }

    pub(super) fn merge(&mut self, other: &Statistics) {
        let add = |counts: &mut [u64], others: &[u64]| {
            counts
                .iter_mut()
                .zip(others)
                .for_each(|(count, other)| *count += other);
        };
        self.present += other.present;
        add(&mut self.counts, &other.counts);
        self.distinct.merge(&other.distinct);
        add(&mut self.letters, &other.letters);
        self.men += other.men;
        self.women += other.women;
        add(&mut self.small, &other.small);
        self.integers.merge(&other.integers);
        self.decimals.merge(&other.decimals);
        self.negative += other.negative;
        self.leading |= other.leading;
        add(&mut self.years, &other.years);
        self.timed += other.timed;
        self.new_years += other.new_years;
        self.high_octets += other.high_octets;
        self.private_octets += other.private_octets;
        add(&mut self.bare_years, &other.bare_years);
    }
}
