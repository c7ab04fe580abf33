//! Decoys: rows that do not stand for a person, added to break inferences (White, section 6.2), or persons who get
//! attributes that they do not have (option 1 of Example 6.3).
//!
//! Let M be a set of attributes none of which follows from the others: for each of them, some row has all others
//! but not that one. A row with exactly the attributes of M scores 0 and raises no other score. Nothing outside M
//! is inferred any more from any set within M (White, Theorem 6.5). M need not be a *hole*, that is a set that no
//! row has: it is enough that no row has M and nothing else.
//!
//! Each subset of such a set is one too. So if a decoy lowers the score of a row, then so does the union of all
//! sets from which the worst is inferred about the row. The search begins with one of them, adds the decoy, and
//! extends it by the next such set as long as the score has not fallen. Decoys are chosen greedily, one at a time.

use super::Attribute;
use super::bitset::Words;
use super::packed_table::{EditedTable, Fields, PackedTable, Slot, with_width};
use super::score::{Limits, Scores, Settings, rescore, scores};
use super::summary::Totals;
use crate::{Control, Result};
use bitvec::prelude::*;
use rayon::prelude::*;
use std::collections::{BTreeSet, VecDeque};

/// What is done with the attributes of a decoy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DecoyMethod {
    /// A row with these attributes is added.
    #[default]
    Add,
    /// A row that has only some of these attributes gets all of them.
    Complete,
}

/// Settings of the search for decoys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecoySettings {
    /// What is done with the attributes of a decoy.
    pub method: DecoyMethod,
    /// Largest number of decoys.
    pub max_rows: usize,
    /// Positions of columns in which a row without an attribute has NULL. If such a column has harmful attributes,
    /// every decoy has one of its attributes, because NULL would tell an adversary nothing.
    pub columns_to_fill: Vec<u32>,
}

/// Row to add or to complete, and its effect on the scores of the original rows.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Decoy {
    /// All attributes of the row.
    pub attributes: Vec<Attribute>,
    /// Attributes that the row has before it is completed, or `None` if it is added.
    pub completes: Option<Vec<Attribute>>,
    /// Summary of the scores before this decoy.
    pub before: OriginalRowsSummary,
    /// Summary of the scores after this decoy.
    pub after: OriginalRowsSummary,
    /// Number of original rows whose score rises.
    pub rows_raised: u64,
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

/// Number of worst inferences around which decoys are searched in one batch.
const INFERENCES_PER_BATCH: usize = 50;
/// Number of inferences after which the search ends if no decoy helps.
const MAX_INFERENCES: usize = 20_000;

/// Number of decoys that help after which no more are looked for in a batch.
const ENOUGH_HELPFUL: usize = 10;
/// Number of decoys per batch that are extended, and number of extensions whose effect is computed, the most
/// promising first.
const EXTENSIONS_TRIED: usize = 5;
/// Number of rows that are tried for each decoy to be completed.
const ROWS_TRIED: usize = 5;
/// Number of decoys that do not help after which the search ends.
const MAX_UNHELPFUL: usize = 100;

/// An average has fallen if it is below the previous one times this factor. The factor is less than 1,
/// because scores are exact only up to a relative error of 1e-12.
const FALL_FACTOR: f64 = 1.0 - 1e-11;

/// Returns up to `max_rows` rows to add or complete that lower the scores of the rows in the table, each one given
/// those before it.
///
/// The choice is greedy and not always the best set of rows. Every step looks at the worst inferences behind the
/// current scores and at the decoys that break them. Of those that are tried, it takes the one that leaves the
/// lowest average. The search ends early if it finds none that lowers the average. If the budget runs out, it ends
/// after the current decoy.
///
/// An added row raises no score. A completed row may: it no longer shows that those with its old attributes may
/// lack the new ones. With a `min_confidence` below 1 the theorem does not hold either, because one more row also
/// changes shares. The figures are still correct and the average falls.
pub fn decoys(
    table: &PackedTable,
    settings: &Settings,
    wanted: &DecoySettings,
    control: &Control,
) -> Result<Vec<Decoy>> {
    let limits = Limits::new(settings, control);
    let scores = scores(table, settings, control)?;
    with_width!(table.width, find_decoys(table, settings, scores, wanted, &limits))
}

fn find_decoys<const P: usize>(
    table: &PackedTable,
    settings: &Settings,
    scores: Scores,
    wanted: &DecoySettings,
    limits: &Limits,
) -> Result<Vec<Decoy>> {
    let mut current = TableWithDecoys::<P> {
        fields: Fields::of(&table.slots),
        certain_only: settings.min_confidence == 1.0,
        original: vec![true; table.len()],
        table: table.clone(),
        scores,
    };
    let to_fill = table
        .slots
        .iter()
        .filter(|slot| slot.is_dangerous() && wanted.columns_to_fill.contains(&slot.column));
    let to_fill: [u64; P] = to_fill.fold([0; P], |slots, slot| slots.or(&Words::single(slot.bit)));
    let mut before = current.summary();
    let mut decoys = Vec::new();
    while decoys.len() < wanted.max_rows && before.average > 0.0 && !limits.reached() {
        let mut one_budget = *settings;
        one_budget.budget = limits.remaining();
        let Some(best) = current.best(&one_budget, (wanted.method, &to_fill), before, limits.control)? else {
            break;
        };
        let unpacked = |row: &[u64; P]| {
            let mut attributes = table.unpacked(row);
            attributes.sort_unstable();
            attributes
        };
        decoys.push(Decoy {
            attributes: unpacked(&best.decoy),
            completes: best.completes.as_ref().map(unpacked),
            before,
            after: best.after,
            rows_raised: current.rows_raised(&best),
        });
        (current, before) = (best.table, best.after);
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
    /// Whether each distinct row is an original row. An added decoy never equals another row.
    original: Vec<bool>,
}

/// Table with one more decoy.
struct Outcome<const P: usize> {
    decoy: [u64; P],
    /// Row that is completed, before the change.
    completes: Option<[u64; P]>,
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

    /// Returns whether none of these attributes follows from the others.
    fn is_decoy(&self, set: &[u64; P]) -> bool {
        let slots = self.fields.occupied(set);
        let mut lacking_one = [0; P];
        for row in self.table.rows::<P>() {
            let missing = self.fields.missing(set, &slots, row);
            if missing.count() == 1 {
                lacking_one = lacking_one.or(&missing);
            }
        }
        lacking_one == slots
    }

    /// Returns the decoys that consist of these attributes, which are a decoy, and one more.
    fn extensions(&self, decoy: &[u64; P]) -> Vec<[u64; P]> {
        let slots = &self.table.slots;
        let decoy_slots = self.fields.occupied(decoy);
        // For an attribute x, by slot and slot code: `with_all_but` holds each slot of the decoy that some row with
        // x lacks while it has the rest. `with_all` says whether some row has x and the whole decoy.
        let mut with_all_but: Vec<Vec<[u64; P]>> =
            slots.iter().map(|s| vec![[0; P]; s.danger.len()]).collect();
        let mut with_all: Vec<BitVec> = slots.iter().map(|s| bitvec![0; s.danger.len()]).collect();
        for row in self.table.rows::<P>() {
            let missing = self.fields.missing(decoy, &decoy_slots, row);
            if missing.count() > 1 {
                continue;
            }
            for (slot_index, slot) in slots.iter().enumerate() {
                let slot_code = slot.slot_code(row);
                if missing.is_none() {
                    with_all[slot_index].set(slot_code, true);
                } else {
                    with_all_but[slot_index][slot_code] = with_all_but[slot_index][slot_code].or(&missing);
                }
            }
        }
        let mut extensions = Vec::new();
        for (slot_index, slot) in slots.iter().enumerate() {
            // A row cannot have two attributes of one slot.
            if decoy_slots.has(slot.bit) {
                continue;
            }
            let seen = &with_all[slot_index];
            for slot_code in 1..slot.danger.len() {
                let is_missing_somewhere = seen.count_ones() > usize::from(seen[slot_code]);
                if is_missing_somewhere && with_all_but[slot_index][slot_code] == decoy_slots {
                    extensions.push(decoy.or(&slot.packed(slot_code)));
                }
            }
        }
        extensions
    }

    /// Returns the best outcome of one more decoy, which has an attribute in each of the slots `to_fill`, or `None` if
    /// none lowers the average.
    fn best(
        &self,
        settings: &Settings,
        (method, to_fill): (DecoyMethod, &[u64; P]),
        before: OriginalRowsSummary,
        control: &Control,
    ) -> Result<Option<Outcome<P>>> {
        let inferences = self.inferences();
        let mut unhelpful = 0;
        for worst in inferences[..inferences.len().min(MAX_INFERENCES)].chunks(INFERENCES_PER_BATCH) {
            let helpful = self.helpful(worst, settings, before, &mut unhelpful, control)?;
            let mut extended = self.extended(helpful, to_fill, &inferences, settings, control)?;
            extended.retain(|outcome| to_fill.without(&self.fields.occupied(&outcome.decoy)).is_none());
            let best = match method {
                DecoyMethod::Add => extended.into_iter().reduce(Outcome::better),
                DecoyMethod::Complete => self.best_completion(&extended, settings, before, control)?,
            };
            if best.is_some() || unhelpful >= MAX_UNHELPFUL {
                return Ok(best);
            }
        }
        Ok(None)
    }

    /// Returns decoys that break these inferences and lower the average. Each begins with the known attributes of
    /// an inference. If the average does not fall, because the same score comes from other known attributes too,
    /// these are added.
    fn helpful(
        &self,
        worst: &[SharedInference<P>],
        settings: &Settings,
        before: OriginalRowsSummary,
        unhelpful: &mut usize,
        control: &Control,
    ) -> Result<Vec<Outcome<P>>> {
        let mut queue: VecDeque<[u64; P]> = worst.iter().map(|inference| inference.known).collect();
        let mut tried: BTreeSet<[u64; P]> = BTreeSet::new();
        let mut helpful = Vec::new();
        while let Some(decoy) = queue.pop_front() {
            control.check()?;
            if !tried.insert(decoy) || self.exists(&decoy) || !self.is_decoy(&decoy) {
                continue;
            }
            let outcome = self.add(&decoy, settings, control)?;
            if outcome.after.average < before.average * FALL_FACTOR {
                helpful.push(outcome);
                if helpful.len() == ENOUGH_HELPFUL {
                    break;
                }
                continue;
            }
            *unhelpful += 1;
            if *unhelpful >= MAX_UNHELPFUL {
                break;
            }
            queue.extend(self.grown(&decoy, &outcome));
        }
        Ok(helpful)
    }

    fn exists(&self, row: &[u64; P]) -> bool {
        self.table.rows::<P>().binary_search(row).is_ok()
    }

    /// Returns the decoy together with what is known in the worst inferences that are left about the rows whose
    /// worst inference it broke.
    fn grown(&self, decoy: &[u64; P], outcome: &Outcome<P>) -> BTreeSet<[u64; P]> {
        let mut grown = BTreeSet::new();
        for (row, score, _) in outcome.table.original_rows() {
            let bits = &outcome.table.table.rows::<P>()[row];
            let slots = self.fields.occupied(decoy);
            if score > 0.0 && self.fields.missing(decoy, &slots, bits).is_none() {
                let known = outcome.table.known(row);
                grown.insert(decoy.or(&self.table.restricted_to(bits, &known)));
            }
        }
        grown.remove(decoy);
        grown
    }

    /// Extends the best of these decoys by more attributes, as long as the average does not rise. The more it has,
    /// the more it breaks, and the more it looks like a real row.
    fn extended(
        &self,
        mut outcomes: Vec<Outcome<P>>,
        to_fill: &[u64; P],
        inferences: &[SharedInference<P>],
        settings: &Settings,
        control: &Control,
    ) -> Result<Vec<Outcome<P>>> {
        outcomes.sort_by(Outcome::order);
        let mut extended = Vec::new();
        for outcome in outcomes.into_iter().take(EXTENSIONS_TRIED) {
            let mut best = outcome;
            loop {
                let mut next: Option<Outcome<P>> = None;
                for decoy in self.promising_extensions(&best.decoy, to_fill, inferences, control)? {
                    control.check()?;
                    let outcome = self.add(&decoy, settings, control)?;
                    if outcome.after.average * FALL_FACTOR <= best.after.average {
                        next = Some(match next {
                            Some(next) => next.better(outcome),
                            None => outcome,
                        });
                    }
                }
                match next {
                    Some(next) => extended.push(std::mem::replace(&mut best, next)),
                    None => break,
                }
            }
            extended.push(best);
        }
        Ok(extended)
    }

    /// Returns the extensions of a decoy that might lower the average most. Those in slots `to_fill` come first.
    fn promising_extensions(
        &self,
        decoy: &[u64; P],
        to_fill: &[u64; P],
        inferences: &[SharedInference<P>],
        control: &Control,
    ) -> Result<Vec<[u64; P]>> {
        // The gain is at most the total score of the inferences within the decoy.
        let estimate = |decoy: &[u64; P]| -> f64 {
            let is_within = |one: &&SharedInference<P>| {
                let slots = self.fields.occupied(&one.known);
                self.fields.missing(&one.known, &slots, decoy).is_none()
            };
            inferences.iter().filter(is_within).map(|one| one.total).sum()
        };
        let mut estimated: Vec<(f64, [u64; P])> = self
            .extensions(decoy)
            .into_par_iter()
            .filter(|extension| !self.exists(extension))
            .map(|extension| {
                control.check()?;
                Ok((estimate(&extension), extension))
            })
            .collect::<Result<_>>()?;
        let filled = |extension: &[u64; P]| self.fields.occupied(extension).and(to_fill).count();
        estimated.sort_by(|a, b| {
            let order = filled(&b.1).cmp(&filled(&a.1));
            order.then(b.0.total_cmp(&a.0)).then(a.1.cmp(&b.1))
        });
        estimated.truncate(EXTENSIONS_TRIED);
        Ok(estimated.into_iter().map(|(_, decoy)| decoy).collect())
    }

    /// Returns the table with a decoy added. A row keeps its score if its worst inference, including all that can be
    /// known at no loss, is not within the decoy: that inference stays, and no other gets worse.
    fn add(&self, decoy: &[u64; P], settings: &Settings, control: &Control) -> Result<Outcome<P>> {
        let rows = self.table.rows::<P>();
        let stale: Vec<bool> = (0..rows.len())
            .map(|row| {
                !self.certain_only || self.fields.missing(&rows[row], &self.known(row), decoy).is_none()
            })
            .collect();
        let edited = self.table.edited(None, decoy);
        let original = edited.carry_over(&self.original, 1, false);
        self.outcome(edited, original, &stale, (*decoy, None), settings, control)
    }

    /// Returns the table after a row got the attributes of a decoy. All scores may change.
    fn complete(
        &self,
        row: usize,
        decoy: &[u64; P],
        settings: &Settings,
        control: &Control,
    ) -> Result<Outcome<P>> {
        let stale = vec![true; self.table.len()];
        let completes = Some(self.table.rows::<P>()[row]);
        let edited = self.table.edited(Some(row), decoy);
        let original = edited.carry_over(&self.original, 1, true);
        self.outcome(edited, original, &stale, (*decoy, completes), settings, control)
    }

    fn outcome(
        &self,
        edited: EditedTable,
        original: Vec<bool>,
        stale: &[bool],
        (decoy, completes): ([u64; P], Option<[u64; P]>),
        settings: &Settings,
        control: &Control,
    ) -> Result<Outcome<P>> {
        let scores = rescore::<P>(&edited, settings, &self.scores, stale, control)?;
        let table = TableWithDecoys {
            original,
            table: edited.table,
            fields: self.fields,
            certain_only: self.certain_only,
            scores,
        };
        Ok(Outcome {
            decoy,
            completes,
            after: table.summary(),
            table,
        })
    }

    /// Returns the best outcome of giving all attributes of one of these decoys to a row that has only some of them,
    /// or `None` if that does not lower the average.
    fn best_completion(
        &self,
        decoys: &[Outcome<P>],
        settings: &Settings,
        before: OriginalRowsSummary,
        control: &Control,
    ) -> Result<Option<Outcome<P>>> {
        let rows = self.table.rows::<P>();
        let mut best: Option<Outcome<P>> = None;
        for Outcome { decoy, .. } in decoys {
            let is_within = |row: &usize| {
                let slots = self.fields.occupied(&rows[*row]);
                self.fields.missing(&rows[*row], &slots, decoy).is_none()
            };
            let mut within: Vec<usize> = (0..rows.len()).filter(is_within).collect();
            within.sort_by_key(|&row| std::cmp::Reverse(self.fields.occupied(&rows[row]).count()));
            for row in within.into_iter().take(ROWS_TRIED) {
                control.check()?;
                let outcome = self.complete(row, decoy, settings, control)?;
                if outcome.after.average < before.average * FALL_FACTOR {
                    best = Some(match best {
                        Some(best) => best.better(outcome),
                        None => outcome,
                    });
                }
            }
        }
        Ok(best)
    }

    /// Returns the number of original rows whose score is higher in an outcome.
    fn rows_raised(&self, outcome: &Outcome<P>) -> u64 {
        let rows = outcome.table.table.rows::<P>();
        let score_after = |row: &[u64; P]| {
            rows.binary_search(row)
                .map_or(0.0, |row| outcome.table.scores.upper[row])
        };
        let mut raised = 0;
        for (row, before, mut count) in self.original_rows() {
            let bits = &self.table.rows::<P>()[row];
            let is_raised = |after: f64| u64::from(after * FALL_FACTOR > before);
            if outcome.completes == Some(*bits) {
                count -= 1;
                raised += is_raised(score_after(&outcome.decoy));
            }
            raised += count * is_raised(score_after(bits));
        }
        raised
    }
}

impl<const P: usize> Outcome<P> {
    /// Compares outcomes. The better one is less: a lower average, then a lower maximum, then more attributes.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let attributes = |outcome: &Self| outcome.table.fields.occupied(&outcome.decoy).count();
        let rounded = |outcome: &Self| (outcome.after.average / (1.0 - FALL_FACTOR)).round();
        (rounded(self).total_cmp(&rounded(other)))
            .then(self.after.maximum.total_cmp(&other.after.maximum))
            .then(attributes(other).cmp(&attributes(self)))
            .then_with(|| self.decoy.cmp(&other.decoy))
            .then_with(|| other.completes.cmp(&self.completes))
    }

    fn better(self, other: Self) -> Self {
        if other.order(&self).is_lt() { other } else { self }
    }
}
