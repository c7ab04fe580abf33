use super::verdict::chance_of_correct;
use super::{CorrectLinks, HalfRanks, KdTree, Points, distance};
use crate::{Control, Result};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Matches of one original record: the released records at the shortest distance. An adversary takes one of
/// them for the original record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Matches {
    /// Distance of the matches from the original record.
    pub distance: HalfRanks,
    /// Number of matches.
    pub count: u64,
    /// Lowest record number of a match.
    pub first: u32,
}

/// Links of every original record with the nearest released records.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Linkage {
    /// Matches of each original record; empty if no record was released.
    pub matches: Vec<Matches>,
    /// Number of released records that are the match of an original record.
    pub linked: u64,
    /// Number of released records that are not the match of any original record.
    pub unlinked: u64,
}

/// Links every original record with the released records at the shortest permutation distance. Both tables
/// have the same columns.
pub fn link(original: &Points, released: &Points, control: &Control) -> Result<Linkage> {
    control.set_total(original.len() as u64);
    link_trees(
        &KdTree::new(original, control)?,
        &KdTree::new(released, control)?,
        control,
    )
}

/// Links records like [`link`], if they are already arranged in trees and linking is part of a larger task.
/// Equal original records are looked up only once, and neighbours, which need the same part of the other
/// tree, follow each other.
pub(super) fn link_trees(original: &KdTree, released: &KdTree, control: &Control) -> Result<Linkage> {
    let marks = released.marks();
    let matches = original.per_record(control, |point| {
        let distance = released.nearest(point, point)?;
        let found = released.mark_within(point, point, distance, &marks);
        Some(Matches {
            distance,
            count: found.records,
            first: found.first,
        })
    })?;
    let unlinked = released.unmarked(&marks);
    Ok(Linkage {
        matches,
        linked: released.total_records() as u64 - unlinked,
        unlinked,
    })
}

impl Linkage {
    /// Returns for each original record whether its counterpart is among its matches. `counterparts` has the
    /// number of each counterpart among the released records. A number that no released record has stands for
    /// a record that was not released.
    pub fn correct(&self, original: &Points, released: &Points, counterparts: &[u32]) -> Vec<bool> {
        let records = self.matches.par_iter().zip(counterparts).enumerate();
        let is_correct = records.map(|(record, (found, &counterpart))| {
            let counterpart = counterpart as usize;
            counterpart < released.len()
                && distance(original.point(record), released.point(counterpart)) == found.distance
        });
        is_correct.collect()
    }

    /// Counts the correct links, given the result of [`correct`](Self::correct).
    pub fn count_correct(&self, correct: &[bool]) -> CorrectLinks {
        let links = self.matches.iter().zip(correct).filter(|(_, correct)| **correct);
        let expected_correct = expected_links(links.clone().map(|(found, _)| found));
        CorrectLinks {
            correct: links.count() as u64,
            expected_correct,
            p_value: chance_of_correct(expected_correct),
        }
    }

    /// Returns an upper bound of the expected number of correct links that holds whichever records belong
    /// together, so that it needs no key. At best the counterpart of every record is among its matches and is
    /// drawn with probability 1 / matches, and a released record that is nobody's match is never linked.
    pub fn max_correct(&self) -> f64 {
        f64::min(expected_links(self.matches.iter()), self.linked as f64)
    }
}

/// Returns the sum of 1 / matches over records. Records with equally many matches are counted before they are divided,
/// so that the sum does not depend on the order of records, and three thirds are 1.
fn expected_links<'a>(matches: impl Iterator<Item = &'a Matches>) -> f64 {
    let mut records_with = BTreeMap::new();
    for found in matches {
        *records_with.entry(found.count).or_insert(0_u64) += 1;
    }
    let shares = records_with
        .iter()
        .map(|(&count, &records)| records as f64 / count as f64);
    // Not `sum`, because the sum of nothing is -0.0.
    shares.fold(0.0, |sum, share| sum + share)
}
