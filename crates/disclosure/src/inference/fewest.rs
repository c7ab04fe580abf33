//! The fewest attributes that have to be known for a score. Several inferences about a row are often equally bad.
//! The ones with the fewest known attributes show best how exposed the row is and, of these, the ones that the
//! fewest rows share.
//!
//! All sets of one attribute are tried, then all of two, and so on, for all rows together. A row takes part until
//! an inference with its score is found.

use super::PackedTable;
use super::confidence::{Goal, ProbableSearch};
use super::packed_table::with_width;
use super::score::{NEARLY_EQUAL, Scores, SearchInput, Settings};
use crate::{Control, Result};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Replaces the inferences behind the scores by equally bad ones with the fewest known attributes and, of these,
/// by ones with the smallest support. Returns whether all were found within the budget, which is that of
/// this search alone. If not, some inferences stay as they are.
pub fn fewest_known(
    table: &PackedTable,
    settings: &Settings,
    scores: &mut Scores,
    control: &Control,
) -> Result<bool> {
    settings.check()?;
    if table.is_empty() {
        return Ok(true);
    }
    with_width!(table.width, find_fewest(table, settings, scores, control))
}

fn find_fewest<const P: usize>(
    table: &PackedTable,
    settings: &Settings,
    scores: &mut Scores,
    control: &Control,
) -> Result<bool> {
    let input = SearchInput::<P>::new(table, settings, control);
    let none = || table.multiplicity.iter().map(|_| AtomicU64::new(u64::MAX));
    let goal = FewestKnown {
        scores: &scores.lower,
        multiplicity: &table.multiplicity,
        size: 0,
        support: none().collect(),
        known: (0..table.len() * P).map(|_| AtomicU64::new(0)).collect(),
    };
    let mut search = ProbableSearch::new(&input, goal);
    let mut is_open: Vec<bool> = scores.lower.iter().map(|&score| score > 0.0).collect();
    for size in 0..=table.searchable as u32 {
        if !is_open.contains(&true) {
            break;
        }
        search.goal.size = size;
        control.set_total(table.searchable as u64);
        search.run(&is_open);
        if search.stop.is_requested() {
            break;
        }
        for (row, is_open) in is_open.iter_mut().enumerate() {
            *is_open &= search.goal.support(row) == u64::MAX;
        }
    }
    control.check()?;
    let known = search.goal.known.into_iter().map(AtomicU64::into_inner);
    let known: Vec<u64> = known.collect();
    for row in (0..table.len()).filter(|&row| !is_open[row] && scores.lower[row] > 0.0) {
        scores.known[row * P..(row + 1) * P].copy_from_slice(&known[row * P..(row + 1) * P]);
    }
    scores.has_fewest_known = is_open.iter().map(|is_open| !is_open).collect();
    Ok(!is_open.contains(&true))
}

/// Inferences with the scores of rows from `size` known attributes.
struct FewestKnown<'a> {
    scores: &'a [f64],
    multiplicity: &'a [u64],
    size: u32,
    /// Smallest support per row; the largest number if no inference was found.
    support: Vec<AtomicU64>,
    /// Slots of the known attributes, `P` words per row.
    known: Vec<AtomicU64>,
}

impl FewestKnown<'_> {
    fn support(&self, row: usize) -> u64 {
        self.support[row].load(Relaxed)
    }
}

impl<const P: usize> Goal<P> for FewestKnown<'_> {
    fn wants(&self, row: usize, weight: f64, size: u32) -> bool {
        // No support is smaller than the number of rows that are equal to this one.
        size <= self.size
            && weight * NEARLY_EQUAL >= self.scores[row]
            && self.support(row) > self.multiplicity[row]
    }

    fn size(&self) -> Option<u32> {
        Some(self.size)
    }

    fn take(&self, row: usize, weight: f64, known: &[u64; P], support: u64) {
        if weight * NEARLY_EQUAL >= self.scores[row] && support < self.support(row) {
            self.support[row].store(support, Relaxed);
            for (stored, &word) in self.known[row * P..].iter().zip(known) {
                stored.store(word, Relaxed);
            }
        }
    }
}
