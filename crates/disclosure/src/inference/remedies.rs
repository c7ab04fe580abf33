//! Remedies: a few cells to suppress so that every score falls below a threshold (White, chapter 7, asks for
//! this).
//!
//! Suppressing y in one row that has K breaks K ⟹ y for all rows with K at once, which is why a few cells
//! suffice. The only inferences that can get worse are those *from* y, because fewer rows have y afterwards.
//! They concern only rows that have y themselves. So if y cannot be known beforehand, l(y) = 0, no score
//! rises.

use super::Attribute;
use super::bitset::Words;
use super::packed_table::{EditedTable, Fields, PackedTable, Slot, with_width};
use super::score::{Limits, Scores, Settings, rescore, scores};
use super::summary::{Totals, each_row};
use crate::{Control, Error, Result};

/// Cell to suppress.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Suppression {
    /// Attributes of the row just before this suppression. Any row with exactly these attributes will do.
    pub row: Vec<Attribute>,
    /// Attribute that the row loses.
    pub attribute: Attribute,
    /// Scores after this suppression and all before it.
    pub after: ThresholdSummary,
}

/// Scores of a table, compared with the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ThresholdSummary {
    /// Number of rows with a score at or above the threshold.
    pub at_or_above: u64,
    /// Highest score.
    pub maximum: f64,
    /// Mean of the scores of all rows.
    pub average: f64,
    /// Whether the figures are exact. If not, some searches ran out of time, and the figures are upper
    /// bounds.
    pub exact: bool,
}

/// Goal of the suppressions, and limit on their number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RemedySettings {
    /// Score that all rows have to stay below, more than 0 and at most 1.
    pub threshold: f64,
    /// Largest number of suppressions.
    pub max_rows: usize,
}

impl Default for RemedySettings {
    fn default() -> Self {
        RemedySettings {
            threshold: 0.5,
            max_rows: 1000,
        }
    }
}

impl RemedySettings {
    /// Checks that the settings are allowed.
    pub fn check(&self) -> Result<()> {
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return Err(Error::invalid(
                "threshold",
                "must be more than 0 and at most 1",
                "the score that all rows have to stay below, for example 0.5",
            ));
        }
        Ok(())
    }
}

/// Suppressions, to be made in this order.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Remedies {
    /// Cells to suppress.
    pub suppressions: Vec<Suppression>,
    /// Scores before the first suppression.
    pub before: ThresholdSummary,
    /// Whether all rows are below the threshold after the last suppression.
    pub done: bool,
}

/// Number of inferred attributes whose suppression is tried, the most dangerous first.
const INFERRED_TRIED: usize = 4;

/// Number of known attributes whose suppression is tried if that of no inferred one helps.
const KNOWN_TRIED: usize = 6;

/// Relative tolerance in comparisons, because scores are exact only up to a relative error of 1e-12. A score
/// that is less than this below the threshold may be at it, and a sum that falls by less has not fallen.
const TOLERANCE: f64 = 1e-11;

/// Returns suppressions after which as few rows as possible score at or above the threshold.
///
/// The choice is greedy and not always the smallest number of cells. Each round groups the rows at or above
/// the threshold by their worst inference. It then suppresses one cell per inference, beginning with the
/// inference whose rows have the largest total score. The cell holds an inferred attribute or, if none of
/// those helps and the inference concerns only one distinct row, a known one. Of the cells that are tried,
/// the choice is the one that leaves the fewest rows at or above the threshold, then the lowest maximum, then
/// the lowest average. A cell is suppressed only if that lowers the number of these rows, or lowers the
/// average and does not raise their number. If the budget runs out, the search ends after the current cell.
pub fn remedies(
    table: &PackedTable,
    settings: &Settings,
    wanted: &RemedySettings,
    control: &Control,
) -> Result<Remedies> {
    wanted.check()?;
    let scores = scores(table, settings, control)?;
    with_width!(
        table.width,
        find_suppressions(table, settings, scores, wanted, control)
    )
}

fn find_suppressions<const P: usize>(
    table: &PackedTable,
    settings: &Settings,
    scores: Scores,
    &RemedySettings { threshold, max_rows }: &RemedySettings,
    control: &Control,
) -> Result<Remedies> {
    let before = threshold_summary(table, &scores, threshold);
    let mut search = SuppressionSearch {
        fields: Fields::<P>::of(&table.slots),
        settings,
        threshold,
        control,
        table: table.clone(),
        scores,
        summary: before,
    };
    let limits = Limits::new(settings, control);
    let mut suppressions = Vec::new();
    while !limits.reached() {
        let so_far = suppressions.len();
        for inference in search.inferences() {
            if suppressions.len() == max_rows || search.summary.at_or_above == 0 || limits.reached() {
                break;
            }
            suppressions.extend(search.break_inference(&inference)?);
        }
        if suppressions.len() == so_far || suppressions.len() == max_rows {
            break;
        }
    }
    Ok(Remedies {
        suppressions,
        before,
        done: search.summary.at_or_above == 0,
    })
}

fn is_at_or_above(score: f64, threshold: f64) -> bool {
    score >= threshold * (1.0 - TOLERANCE)
}

fn threshold_summary(table: &PackedTable, scores: &Scores, threshold: f64) -> ThresholdSummary {
    let each = || each_row(&scores.upper, &table.multiplicity);
    let reaching = each().filter(|&(score, _)| is_at_or_above(score, threshold));
    let totals = Totals::of(each());
    ThresholdSummary {
        at_or_above: Totals::of(reaching).rows,
        maximum: totals.maximum,
        average: totals.average(),
        exact: scores.exact(),
    }
}

/// Table with the suppressions so far.
struct SuppressionSearch<'a, const P: usize> {
    fields: Fields<P>,
    settings: &'a Settings,
    threshold: f64,
    control: &'a Control,
    table: PackedTable,
    scores: Scores,
    summary: ThresholdSummary,
}

/// Worst inference that some rows at or above the threshold have in common.
struct SharedInference<const P: usize> {
    /// Known attributes, as a packed row.
    known: [u64; P],
    /// Sum of the scores of these rows, each counted as often as it occurs.
    total: f64,
}

/// Cell that could be suppressed.
struct Cell<'a> {
    row: usize,
    slot: &'a Slot,
}

/// Table after one more suppression.
struct Outcome {
    table: PackedTable,
    scores: Scores,
    summary: ThresholdSummary,
    suppressed: (Vec<Attribute>, Attribute),
}

impl<const P: usize> SuppressionSearch<'_, P> {
    /// Returns the inferences to break. Those whose rows have the largest total score come first.
    fn inferences(&self) -> Vec<SharedInference<P>> {
        let rows = self.table.rows::<P>();
        let mut of_rows: Vec<([u64; P], f64)> = (0..rows.len())
            .filter(|&row| is_at_or_above(self.scores.upper[row], self.threshold))
            .map(|row| {
                let known = self.table.restricted_to(&rows[row], &self.known()[row]);
                (known, self.total_of(row))
            })
            .collect();
        // The sort is stable, so that scores with equal keys are always added up in the order of the rows.
        of_rows.sort_by_key(|of_row| of_row.0);
        let mut inferences: Vec<SharedInference<P>> = of_rows
            .chunk_by(|a, b| a.0 == b.0)
            .map(|alike| SharedInference {
                known: alike[0].0,
                total: alike.iter().map(|of_row| of_row.1).sum(),
            })
            .collect();
        inferences.sort_by(|a, b| b.total.total_cmp(&a.total));
        inferences
    }

    fn known(&self) -> &[[u64; P]] {
        self.scores.known.as_chunks().0
    }

    fn total_of(&self, row: usize) -> f64 {
        self.scores.upper[row] * self.table.multiplicity[row] as f64
    }

    /// Suppresses a cell so that an inference concerns fewer rows. Returns `None` if no cell helps. Also
    /// returns `None` if the total score of the rows that it concerns has fallen since it was ranked; such an
    /// inference has to wait for the next ranking.
    fn break_inference(&mut self, inference: &SharedInference<P>) -> Result<Option<Suppression>> {
        self.control.check()?;
        let known_slots = self.fields.occupied(&inference.known);
        let rows = self.table.rows::<P>();
        let has_known = |row: &[u64; P]| self.fields.missing(&inference.known, &known_slots, row).is_none();
        let concerned: Vec<usize> = (0..rows.len())
            .filter(|&row| {
                self.known()[row] == known_slots
                    && is_at_or_above(self.scores.upper[row], self.threshold)
                    && has_known(&rows[row])
            })
            .collect();
        let total: f64 = concerned.iter().map(|&row| self.total_of(row)).sum();
        let Some(&first) = concerned.first() else {
            return Ok(None);
        };
        if total < inference.total * (1.0 - TOLERANCE) {
            return Ok(None);
        }
        let sharing: Vec<usize> = (0..rows.len()).filter(|&row| has_known(&rows[row])).collect();
        let mut best = self.best_of(&self.inferred_cells(first, &known_slots, &sharing))?;
        if best.is_none() && concerned.len() == 1 {
            let known = self.table.slots.iter().filter(|slot| known_slots.has(slot.bit));
            let cells: Vec<Cell> = known
                .take(KNOWN_TRIED)
                .map(|slot| Cell { row: first, slot })
                .collect();
            best = self.best_of(&cells)?;
        }
        Ok(best.map(|outcome| {
            self.table = outcome.table;
            self.scores = outcome.scores;
            self.summary = outcome.summary;
            let (row, attribute) = outcome.suppressed;
            Suppression {
                row,
                attribute,
                after: outcome.summary,
            }
        }))
    }

    /// Returns cells that hold an attribute which is inferred about `row`: one cell per attribute, in one of
    /// the rows `sharing` the known attributes. The most dangerous attributes come first.
    fn inferred_cells(&self, row: usize, known_slots: &[u64; P], sharing: &[usize]) -> Vec<Cell<'_>> {
        let rows = self.table.rows::<P>();
        let multiplicity = &self.table.multiplicity;
        let support: u64 = sharing.iter().map(|&other| multiplicity[other]).sum();
        let mut inferred: Vec<(f64, Cell)> = Vec::new();
        for slot in &self.table.slots {
            let slot_code = slot.slot_code(&rows[row]);
            if slot.danger[slot_code] == 0.0 || known_slots.has(slot.bit) {
                continue;
            }
            let holders = || {
                sharing
                    .iter()
                    .copied()
                    .filter(|&other| slot.slot_code(&rows[other]) == slot_code)
            };
            let share = holders().map(|other| multiplicity[other]).sum::<u64>() as f64 / support as f64;
            if share < self.settings.min_confidence {
                continue;
            }
            // Prefer a row that occurs more than once: an equal row remains, so every set of attributes still
            // has the same distinct rows. Otherwise, an attribute that cannot be known is best suppressed in
            // the row with the most attributes, which breaks the most inferences. Any other attribute is best
            // suppressed in the row with the fewest attributes, which makes the fewest inferences worse.
            let attributes = |other: usize| i64::from(self.fields.occupied(&rows[other]).count());
            let direction = if slot.likelihood[slot_code] == 0.0 { -1 } else { 1 };
            let holder = holders()
                .min_by_key(|&other| (multiplicity[other] == 1, direction * attributes(other), other));
            inferred.extend(holder.map(|row| (share * slot.danger[slot_code], Cell { row, slot })));
        }
        inferred.sort_by(|a, b| b.0.total_cmp(&a.0));
        let cells = inferred.into_iter().map(|(_, cell)| cell);
        cells.take(INFERRED_TRIED).collect()
    }

    /// Returns the best outcome of suppressing one of these cells, or `None` if none brings the table closer
    /// to the goal.
    fn best_of(&self, cells: &[Cell]) -> Result<Option<Outcome>> {
        let mut best: Option<Outcome> = None;
        for cell in cells {
            self.control.check()?;
            let outcome = self.suppress_cell(cell)?;
            let (before, after) = (&self.summary, &outcome.summary);
            let is_nearer = after.at_or_above < before.at_or_above
                || (after.at_or_above == before.at_or_above
                    && after.average < before.average * (1.0 - TOLERANCE));
            let is_best = best.as_ref().is_none_or(|best| {
                (after.at_or_above.cmp(&best.summary.at_or_above))
                    .then(after.maximum.total_cmp(&best.summary.maximum))
                    .then(after.average.total_cmp(&best.summary.average))
                    .is_lt()
            });
            if is_nearer && is_best {
                best = Some(outcome);
            }
        }
        Ok(best)
    }

    /// Returns the table after the suppression of a cell.
    fn suppress_cell(&self, cell: &Cell) -> Result<Outcome> {
        let rows = self.table.rows::<P>();
        let row = &rows[cell.row];
        let slot_code = cell.slot.slot_code(row);
        let edited: EditedTable = self
            .table
            .edited(Some(cell.row), &row.without(&cell.slot.field()));
        let stale = self.stale(cell);
        let scores = rescore::<P>(&edited, self.settings, &self.scores, &stale, self.control)?;
        Ok(Outcome {
            summary: threshold_summary(&edited.table, &scores, self.threshold),
            table: edited.table,
            scores,
            suppressed: (
                self.table.attributes(cell.row),
                self.table.attribute(cell.slot, slot_code),
            ),
        })
    }

    /// Returns which rows may change their scores when y is suppressed in a row. Rows without y do not,
    /// because each set of their attributes is shared by the same rows as before. Inferences only get weaker
    /// if y cannot be known, or if an equal row remains and only certain inferences count. The ones that get
    /// weaker are then those of y from attributes of the changed row. So a row with y also keeps its score
    /// unless its worst inference is from such attributes.
    fn stale(&self, cell: &Cell) -> Vec<bool> {
        let rows = self.table.rows::<P>();
        let row = &rows[cell.row];
        let slot_code = cell.slot.slot_code(row);
        let is_last = self.table.multiplicity[cell.row] == 1 || self.settings.min_confidence < 1.0;
        let may_rise = cell.slot.likelihood[slot_code] > 0.0 && is_last;
        let is_stale = |(other, known): (&[u64; P], &[u64; P])| {
            cell.slot.slot_code(other) == slot_code
                && (may_rise || self.fields.missing(other, known, row).is_none())
        };
        rows.iter().zip(self.known()).map(is_stale).collect()
    }
}
