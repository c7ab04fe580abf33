//! Decoys: rows that do not stand for a person, added to break inferences (White, section 6.2).
//!
//! A *hole* is a set of attributes that no row has, although for each of its attributes some row has all the
//! others. A row with exactly the attributes of a hole scores 0 and raises no other score. Nothing is
//! inferred any more from any set within the hole (White, Theorem 6.5 and Corollary 6.6). Decoys are chosen
//! greedily, one hole at a time.

use super::Attribute;
use super::bitset::Words;
use super::packed_table::{Fields, PackedTable, Slot, with_width};
use super::score::{Limits, Scores, Settings, rescore, scores};
use super::summary::Totals;
use crate::{Control, Result};
use bitvec::prelude::*;
use rayon::prelude::*;

/// Row to add, and its effect on the scores of the original rows.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Decoy {
    /// All attributes of the row.
    pub attributes: Vec<Attribute>,
    /// Summary of the scores before this decoy is added.
    pub before: OriginalRowsSummary,
    /// Summary of the scores after this decoy is added.
    pub after: OriginalRowsSummary,
}

/// Summary of the scores of the original rows, each counted as often as it occurs. Decoys do not count.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OriginalRowsSummary {
    /// Number of original rows.
    pub rows: u64,
    /// Mean of their scores.
    pub average: f64,
    /// Highest of their scores.
    pub maximum: f64,
    /// Whether the figures are exact. If not, some searches ran out of time, and the figures are upper
    /// bounds.
    pub exact: bool,
}

/// Number of worst inferences around which holes are searched in one batch.
const INFERENCES_PER_BATCH: usize = 50;
/// Number of inferences after which the search ends if no hole helps.
const MAX_INFERENCES: usize = 20_000;

/// Number of holes per batch whose effect is computed, the most promising first. More are tried only until
/// one helps.
const HOLES_TRIED: usize = 5;
/// Number of holes that do not help after which the search ends.
const MAX_UNHELPFUL: usize = 40;

/// An average has fallen if it is below the previous one times this factor. The factor is less than 1,
/// because scores are exact only up to a relative error of 1e-12.
const FALL_FACTOR: f64 = 1.0 - 1e-11;

/// Returns up to `max_rows` rows that lower the scores of the rows in the table, each one given those before
/// it.
///
/// The choice is greedy and not always the best set of rows. Every step looks at the worst inferences K
/// behind the current scores and at the holes that consist of K and one more attribute. Of the few most
/// promising holes, it takes the one that leaves the lowest average. The search ends early if it finds no
/// such hole that lowers the average. If the budget runs out, it ends after the current decoy.
///
/// With a `min_confidence` below 1 the theorem does not hold, because one more row also changes shares. The
/// figures are still correct and the average falls, but single scores may rise.
pub fn decoys(
    table: &PackedTable,
    settings: &Settings,
    max_rows: usize,
    control: &Control,
) -> Result<Vec<Decoy>> {
    let scores = scores(table, settings, control)?;
    with_width!(
        table.width,
        add_decoys(table, settings, scores, max_rows, control)
    )
}

fn add_decoys<const P: usize>(
    table: &PackedTable,
    settings: &Settings,
    scores: Scores,
    max_rows: usize,
    control: &Control,
) -> Result<Vec<Decoy>> {
    let mut current = TableWithDecoys::<P> {
        fields: Fields::of(&table.slots),
        certain_only: settings.min_confidence == 1.0,
        original: vec![true; table.len()],
        table: table.clone(),
        scores,
    };
    let limits = Limits::new(settings, control);
    let mut before = current.summary();
    let mut decoys = Vec::new();
    while decoys.len() < max_rows && before.average > 0.0 && !limits.reached() {
        let Some(filled) = current.best_hole(settings, before, control)? else {
            break;
        };
        decoys.push(Decoy {
            attributes: filled.attributes,
            before,
            after: filled.after,
        });
        (current, before) = (filled.table, filled.after);
    }
    Ok(decoys)
}

/// Table with the decoys so far.
struct TableWithDecoys<const P: usize> {
    table: PackedTable,
    fields: Fields<P>,
    /// Whether only certain inferences count.
    certain_only: bool,
    scores: Scores,
    /// Whether each distinct row is an original row. A decoy never equals another row, because no row has all
    /// attributes of a hole.
    original: Vec<bool>,
}

/// Table with one more hole filled.
struct FilledHole<const P: usize> {
    attributes: Vec<Attribute>,
    table: TableWithDecoys<P>,
    after: OriginalRowsSummary,
}

/// Worst inference that some rows have in common.
struct SharedInference<const P: usize> {
    /// Known attributes, as a packed row.
    known: [u64; P],
    /// Sum of the scores of these rows, each counted as often as it occurs.
    total: f64,
    /// Highest score of these rows.
    worst: f64,
}

impl<const P: usize> TableWithDecoys<P> {
    /// Returns the slots that are known in the worst inference about a row, together with all slots that can
    /// be known at no loss. Only a hole around all of them breaks the inference for good.
    fn known(&self, row: usize) -> [u64; P] {
        let bits = &self.table.rows::<P>()[row];
        let known = self.scores.known.as_chunks::<P>().0[row];
        let is_costless = |slot: &&Slot| {
            let slot_code = slot.slot_code(bits);
            slot.likelihood[slot_code] == 1.0 && slot.danger[slot_code] == 0.0
        };
        if !self.certain_only {
            return known; // knowing more may lower a share
        }
        let costless = self.table.slots.iter().filter(is_costless);
        costless.fold(known, |known, slot| known.or(&Words::single(slot.bit)))
    }

    /// Returns the number, score and multiplicity of each original row.
    fn original_rows(&self) -> impl Iterator<Item = (usize, f64, u64)> + '_ {
        let rows = (0..self.original.len()).filter(|&row| self.original[row]);
        rows.map(|row| (row, self.scores.upper[row], self.table.multiplicity[row]))
    }

    fn summary(&self) -> OriginalRowsSummary {
        let totals = Totals::of(self.original_rows().map(|(_, score, rows)| (score, rows)));
        OriginalRowsSummary {
            rows: totals.rows,
            average: totals.average(),
            maximum: totals.maximum,
            exact: self
                .original_rows()
                .all(|(row, score, _)| self.scores.lower[row] == score),
        }
    }

    /// Returns the worst inferences behind the scores. Those about a row with the highest score come first;
    /// otherwise, the inference whose rows have the largest total score comes first.
    fn inferences(&self) -> Vec<SharedInference<P>> {
        let rows = self.table.rows::<P>();
        let mut of_rows: Vec<([u64; P], f64, f64)> = self
            .original_rows()
            .filter(|&(_, score, _)| score > 0.0)
            .map(|(row, score, multiplicity)| {
                let known = self.table.restricted_to(&rows[row], &self.known(row));
                (known, score, score * multiplicity as f64)
            })
            .collect();
        // The sort is stable, so that scores with equal keys are always added up in the order of the rows.
        of_rows.sort_by_key(|of_row| of_row.0);
        let mut inferences: Vec<SharedInference<P>> = of_rows
            .chunk_by(|a, b| a.0 == b.0)
            .map(|alike| SharedInference {
                known: alike[0].0,
                total: alike.iter().map(|of_row| of_row.2).sum(),
                worst: alike.iter().map(|of_row| of_row.1).fold(0.0, f64::max),
            })
            .collect();
        let maximum = inferences.iter().map(|one| one.worst).fold(0.0, f64::max);
        inferences.sort_by(|a, b| {
            let (a_is_worst, b_is_worst) = (a.worst == maximum, b.worst == maximum);
            b_is_worst.cmp(&a_is_worst).then(b.total.total_cmp(&a.total))
        });
        inferences
    }

    /// Returns the holes that consist of these attributes and one more.
    fn holes_around(&self, known: &[u64; P]) -> Vec<[u64; P]> {
        let slots = &self.table.slots;
        let known_slots = self.fields.occupied(known);
        // For an attribute x, by slot and slot code: `with_all` says whether some row has x and all of
        // `known`. `with_all_but` holds each known slot that some row with x lacks while it has the rest of
        // `known`.
        let mut with_all: Vec<BitVec> = slots.iter().map(|s| bitvec![0; s.danger.len()]).collect();
        let mut with_all_but: Vec<Vec<[u64; P]>> =
            slots.iter().map(|s| vec![[0; P]; s.danger.len()]).collect();
        for row in self.table.rows::<P>() {
            let missing = self.fields.missing(known, &known_slots, row);
            if missing.count() > 1 {
                continue;
            }
            for (slot_index, slot) in slots.iter().enumerate() {
                let slot_code = slot.slot_code(row);
                if missing.is_none() {
                    with_all[slot_index].set(slot_code, true);
                }
                with_all_but[slot_index][slot_code] = with_all_but[slot_index][slot_code].or(&missing);
            }
        }
        let mut holes = Vec::new();
        for (slot_index, slot) in slots.iter().enumerate() {
            // A row cannot have two attributes of one slot.
            if known_slots.has(slot.bit) {
                continue;
            }
            for slot_code in 1..slot.danger.len() {
                if !with_all[slot_index][slot_code] && with_all_but[slot_index][slot_code] == known_slots {
                    holes.push(known.or(&slot.packed(slot_code)));
                }
            }
        }
        holes
    }

    /// Fills one hole after another and returns the result with the lowest average, or `None` if no hole
    /// lowers it.
    fn best_hole(
        &self,
        settings: &Settings,
        before: OriginalRowsSummary,
        control: &Control,
    ) -> Result<Option<FilledHole<P>>> {
        let inferences = self.inferences();
        let mut unhelpful = 0;
        for worst in inferences[..inferences.len().min(MAX_INFERENCES)].chunks(INFERENCES_PER_BATCH) {
            let mut best: Option<FilledHole<P>> = None;
            let holes = self.promising_holes(worst, &inferences, control)?;
            for (tried, hole) in holes.into_iter().enumerate() {
                if unhelpful == MAX_UNHELPFUL || (best.is_some() && tried >= HOLES_TRIED) {
                    break;
                }
                control.check()?;
                let filled = self.fill(&hole, settings, control)?;
                if filled.after.average >= before.average * FALL_FACTOR {
                    unhelpful += 1;
                } else if best.as_ref().is_none_or(|best| filled.is_better_than(best)) {
                    best = Some(filled);
                }
            }
            if best.is_some() || unhelpful == MAX_UNHELPFUL {
                return Ok(best);
            }
        }
        Ok(None)
    }

    /// Returns the holes around these inferences. Those that might lower the average most come first.
    fn promising_holes(
        &self,
        worst: &[SharedInference<P>],
        all: &[SharedInference<P>],
        control: &Control,
    ) -> Result<Vec<[u64; P]>> {
        let holes: Vec<Vec<[u64; P]>> = worst
            .par_iter()
            .map(|inference| {
                control.check()?;
                Ok(self.holes_around(&inference.known))
            })
            .collect::<Result<_>>()?;
        let mut holes = holes.concat();
        holes.sort_unstable();
        holes.dedup();
        // The gain is at most the total score of the inferences within the hole.
        let estimate = |hole: &[u64; P]| -> f64 {
            let is_within = |one: &&SharedInference<P>| {
                let slots = self.fields.occupied(&one.known);
                self.fields.missing(&one.known, &slots, hole).is_none()
            };
            all.iter().filter(is_within).map(|one| one.total).sum()
        };
        let mut estimated: Vec<(f64, [u64; P])> = holes
            .into_par_iter()
            .map(|hole| {
                control.check()?;
                Ok((estimate(&hole), hole))
            })
            .collect::<Result<_>>()?;
        estimated.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(estimated.into_iter().map(|(_, hole)| hole).collect())
    }

    /// Returns the table with a hole filled. A row keeps its score if its worst inference, including all that
    /// can be known at no loss, is not within the hole: that inference stays, and no other gets worse.
    fn fill(&self, hole: &[u64; P], settings: &Settings, control: &Control) -> Result<FilledHole<P>> {
        let edited = self.table.edited(None, hole);
        let rows = self.table.rows::<P>();
        let stale: Vec<bool> = (0..rows.len())
            .map(|row| {
                !self.certain_only || self.fields.missing(&rows[row], &self.known(row), hole).is_none()
            })
            .collect();
        let scores = rescore::<P>(&edited, settings, &self.scores, &stale, control)?;
        let table = TableWithDecoys {
            original: edited.carry_over(&self.original, 1, false),
            table: edited.table,
            fields: self.fields,
            certain_only: self.certain_only,
            scores,
        };
        let mut attributes = self.table.unpacked(hole);
        attributes.sort_unstable();
        Ok(FilledHole {
            attributes,
            after: table.summary(),
            table,
        })
    }
}

impl<const P: usize> FilledHole<P> {
    fn is_better_than(&self, other: &Self) -> bool {
        (self.after.average.total_cmp(&other.after.average))
            .then(self.after.maximum.total_cmp(&other.after.maximum))
            .then_with(|| self.attributes.cmp(&other.attributes))
            .is_lt()
    }
}
