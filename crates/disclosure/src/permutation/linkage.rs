use super::{HalfRanks, Hits, Points, Tree, distance};
use crate::{Control, Result};
use rayon::prelude::*;

/// The released records that an adversary takes for an original one: those at the shortest distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Match {
    /// How far they are.
    pub distance: HalfRanks,
    /// How many there are.
    pub ties: u64,
    /// The one with the lowest number.
    pub first: u32,
}

/// What an adversary gets who links every original record with the released ones nearest to it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Linkage {
    /// Per original record; empty if no record was released.
    pub matches: Vec<Match>,
    /// How many released records are nobody's match.
    pub unlinked: u64,
}

/// Links every original record with the released ones at the shortest permutation distance. Both have the
/// same columns.
pub fn link(original: &Points, released: &Points, control: &Control) -> Result<Linkage> {
    control.set_total(original.len() as u64);
    link_trees(
        &Tree::new(original, control)?,
        &Tree::new(released, control)?,
        control,
    )
}

/// The same for records that are arranged, as part of some larger task. Equal original records have equal
/// matches, and neighbours need the same part of the other tree.
pub(super) fn link_trees(original: &Tree, released: &Tree, control: &Control) -> Result<Linkage> {
    let marks = released.marks();
    let matches = original.per_record(control, |place| {
        let distance = released.nearest(place, place)?;
        let found = released.mark_within(place, place, distance, &marks);
        Some(Match {
            distance,
            ties: found.records,
            first: found.first,
        })
    })?;
    Ok(Linkage {
        matches,
        unlinked: released.unmarked(&marks),
    })
}

impl Linkage {
    /// Per original record whether its counterpart, number `own` of the released ones, is among its matches.
    /// A number that no released record has stands for a record that was not released.
    pub fn correct(&self, original: &Points, released: &Points, own: &[u32]) -> Vec<bool> {
        let records = self.matches.par_iter().zip(own).enumerate();
        let is_correct = records.map(|(record, (found, &own))| {
            let own = own as usize;
            own < released.len() && distance(original.point(record), released.point(own)) == found.distance
        });
        is_correct.collect()
    }

    /// How many links are correct, given whether the counterpart of each record is [among its matches](Self::correct).
    pub fn hits(&self, correct: &[bool]) -> Hits {
        let hits = self.matches.iter().zip(correct).filter(|(_, correct)| **correct);
        Hits {
            correct: hits.clone().count() as u64,
            // Not `sum`: that of nothing is a negative zero.
            expected_correct: hits.fold(0.0, |sum, (found, _)| sum + 1.0 / found.ties as f64),
        }
    }
}
