//! Scores of all rows (White, Definitions 3.1 to 3.4): the settings, the input that all searches share, and
//! the choice of the search.
//!
//! Probable inferences, and all inferences if values are unknown, are searched by `confidence`. Certain ones are
//! searched by `quasi_only` if that applies, and then by `partition` (all rows together) or `row_by_row`,
//! whichever is expected to be faster.

use super::bitset::Words;
use super::packed_table::{EditedTable, Fields, PackedTable, Slot, with_width};
use super::partition;
use super::row_by_row;
use super::{blocked, confidence, quasi_only};
use crate::{Control, Error, Result};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Settings of the privacy score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Constant in the denominator of the danger, more than 0 (White, Definition 3.4, has 1).
    pub constant: f64,
    /// Share of the rows from which on an attribute counts as inferred, more than 0 and at most 1. At 1, only
    /// certain inferences count, as in the definition.
    pub min_confidence: f64,
    /// Whether the confidence of an inference is the share of the rows that have all inferred attributes together,
    /// as White suggests in section 3.4. It then multiplies the danger of all of them. Otherwise, every attribute
    /// has a share of its own, which multiplies its own danger. If only certain inferences count and
    /// nothing is unknown, it makes no difference.
    pub joint_confidence: bool,
    /// Time limit of the search. Without one, the search ends when all scores are exact.
    pub budget: Option<Duration>,
    /// Algorithm to use. It changes the running time, not the scores; tests try all of them.
    #[doc(hidden)]
    pub algorithm: Algorithm,
}

/// Algorithm that finds the worst inferences.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// Whichever algorithm is expected to be faster.
    #[default]
    Automatic,
    /// All rows at once: for few columns.
    Together,
    /// Each row on its own: for many columns.
    RowByRow,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            constant: 1.0,
            min_confidence: 1.0,
            joint_confidence: false,
            budget: None,
            algorithm: Algorithm::Automatic,
        }
    }
}

impl Settings {
    /// Checks that the settings are allowed.
    pub fn check(&self) -> Result<()> {
        if !(self.min_confidence > 0.0 && self.min_confidence <= 1.0) {
            return Err(Error::invalid(
                "min_confidence",
                "must be more than 0 and at most 1",
                "a share of the rows, or 1 to count certain inferences only",
            ));
        }
        if !(self.constant > 0.0 && self.constant.is_finite()) {
            return Err(Error::invalid(
                "constant",
                "must be finite and more than 0",
                "a number above 0, such as 1 as in the definition",
            ));
        }
        Ok(())
    }
}

/// Scores of a table's distinct rows.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Scores {
    /// Weight of the worst inference that was found, per row.
    pub lower: Vec<f64>,
    /// Upper bound on the weight of every inference, per row. Equal to `lower` if the search was finished.
    pub upper: Vec<f64>,
    /// Slots of the known attributes of the worst inference, `width` words per row.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) known: Vec<u64>,
    /// Per row, whether no worst inference about it has fewer known attributes. Empty if that was not checked.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) has_fewest_known: Vec<bool>,
}

impl Scores {
    /// Returns whether all searches were finished.
    pub fn exact(&self) -> bool {
        self.lower == self.upper
    }
}

/// Returns the score of every distinct row.
pub fn scores(table: &PackedTable, settings: &Settings, control: &Control) -> Result<Scores> {
    settings.check()?;
    if table.is_empty() {
        return Ok(Scores::default());
    }
    with_width!(table.width, score_rows(table, settings, None, control))
}

/// Returns the scores of an edited table, given those before the edit. Only rows that are `stale`, by their
/// old positions, and an inserted row are searched. The caller guarantees that the scores of all other rows,
/// and the inferences behind them, are still true.
pub(super) fn rescore<const P: usize>(
    edited: &EditedTable,
    settings: &Settings,
    before: &Scores,
    stale: &[bool],
    control: &Control,
) -> Result<Scores> {
    let carried = Scores {
        lower: edited.carry_over(&before.lower, 1, 0.0),
        upper: edited.carry_over(&before.upper, 1, 0.0),
        known: edited.carry_over(&before.known, P, 0),
        has_fewest_known: Vec::new(),
    };
    let stale = edited.carry_over(stale, 1, true);
    if !stale.contains(&true) {
        return Ok(carried);
    }
    score_rows::<P>(&edited.table, settings, Some((&carried, &stale)), control)
}

/// Weights that differ by less than this factor count as equal. Otherwise, the search would go on through
/// every tie that differs only in the last bit.
pub(super) const NEARLY_EQUAL: f64 = 1.0 + 1e-12;

/// Danger dg(I) (White, Definition 3.4), as a function of the sum of the dangers of I.
#[derive(Debug, Clone, Copy)]
pub(super) struct DangerFunction {
    pub constant: f64,
}

impl DangerFunction {
    #[inline(always)]
    pub fn of_sum(&self, sum: f64) -> f64 {
        sum / (self.constant + sum)
    }
}

/// Limits of a search: cancellation and a deadline.
pub(super) struct Limits<'a> {
    pub control: &'a Control,
    deadline: Option<Instant>,
}

impl<'a> Limits<'a> {
    pub fn new(settings: &Settings, control: &'a Control) -> Self {
        Limits {
            control,
            // A deadline too far away to be represented is none.
            deadline: settings
                .budget
                .and_then(|budget| Instant::now().checked_add(budget)),
        }
    }

    /// Returns the time that is left, or `None` if there is no limit.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline
            .map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    pub fn reached(&self) -> bool {
        self.control.check().is_err() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Stop signal of a search over parts of the table. It remembers whether it was requested.
pub(super) struct Stop<'a> {
    limits: &'a Limits<'a>,
    was_requested: AtomicBool,
}

impl<'a> Stop<'a> {
    pub fn new(limits: &'a Limits<'a>) -> Self {
        Stop {
            limits,
            was_requested: AtomicBool::new(false),
        }
    }

    /// Returns whether the search has to end, and remembers it. Once true, it stays true.
    pub fn is_requested(&self) -> bool {
        let reached = self.limits.reached();
        if reached {
            self.was_requested.store(true, Relaxed);
        }
        reached
    }

    /// Returns whether the search was asked to end before it was complete.
    pub fn was_requested(self) -> bool {
        self.was_requested.into_inner()
    }
}

/// Input of all searches: a table, and data that are derived once from it and from the settings.
pub(super) struct SearchInput<'a, const P: usize> {
    pub table: &'a PackedTable,
    pub rows: &'a [[u64; P]],
    pub fields: Fields<P>,
    pub danger_function: DangerFunction,
    pub min_confidence: f64,
    /// Whether all inferred attributes have one confidence together.
    pub joint_confidence: bool,
    pub limits: Limits<'a>,
    /// Per row, the slots of attributes that no other attributes of the row imply.
    pub blocked: Vec<[u64; P]>,
    /// Slots in which all rows have the same attribute: the closure of the empty set.
    pub common: [u64; P],
}

impl<'a, const P: usize> SearchInput<'a, P> {
    /// Returns the input for a table that is not empty. No attributes are known to be blocked yet.
    pub fn new(table: &'a PackedTable, settings: &Settings, control: &'a Control) -> Self {
        let rows = table.rows::<P>();
        let fields = Fields::of(&table.slots);
        SearchInput {
            table,
            rows,
            fields,
            danger_function: DangerFunction {
                constant: settings.constant,
            },
            min_confidence: settings.min_confidence,
            // If all rows have each of some attributes, they have all of them.
            joint_confidence: settings.joint_confidence
                && (settings.min_confidence < 1.0 || table.has_unknown()),
            limits: Limits::new(settings, control),
            blocked: Vec::new(),
            common: common_slots(rows, &fields),
        }
    }

    /// Returns whether only certain inferences count, and every row is known to have an attribute or not.
    pub fn is_certain(&self) -> bool {
        self.min_confidence == 1.0 && !self.table.has_unknown()
    }

    /// Returns the danger of an attribute, times the share of the rows that have it: `having` of `rows` rows.
    /// Returns 0 if that is less than the minimum.
    #[inline(always)]
    pub fn danger_by_share(&self, danger: f64, having: u64, rows: u64) -> f64 {
        let confidence = having as f64 / rows as f64;
        if confidence >= self.min_confidence {
            confidence * danger
        } else {
            0.0
        }
    }

    /// Returns the ranges of rows that have the same attributes in these slots, which must be the first ones of
    /// the table: packed rows are sorted by their slots, so rows that agree on the first ones are adjacent.
    pub fn equal_in(&self, slots: &[Slot]) -> Vec<Range<usize>> {
        let slots: [u64; P] = slots
            .iter()
            .fold([0; P], |set, slot| set.or(&Words::single(slot.bit)));
        let differ = |a: &[u64; P], b: &[u64; P]| self.fields.occupied(&a.xor(b)).meets(&slots);
        let runs = self.rows.chunk_by(|a, b| !differ(a, b));
        runs.scan(0, |end, run| {
            let start = std::mem::replace(end, *end + run.len());
            Some(start..*end)
        })
        .collect()
    }

    /// Returns the sum of the dangers of a row's attributes in these slots.
    #[inline(always)]
    pub fn danger_of(&self, row: &[u64; P], slots: &[u64; P]) -> f64 {
        let of_slot = |slot: &Slot| {
            if slots.has(slot.bit) {
                slot.danger[slot.slot_code(row)]
            } else {
                0.0
            }
        };
        // Not `sum()`, which returns -0 if there is nothing to add.
        self.table
            .slots
            .iter()
            .map(of_slot)
            .fold(0.0, |sum, danger| sum + danger)
    }
}

/// Worst inference so far about every row. Only one thread at a time works on a row.
pub(super) struct WorstSoFar {
    weight: Vec<AtomicU64>,
    known: Vec<AtomicU64>,
}

impl WorstSoFar {
    fn new(rows: usize, width: usize, weight: f64) -> Self {
        WorstSoFar {
            weight: (0..rows).map(|_| AtomicU64::new(weight.to_bits())).collect(),
            known: (0..rows * width).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    #[inline(always)]
    pub fn weight(&self, row: usize) -> f64 {
        f64::from_bits(self.weight[row].load(Relaxed))
    }

    #[inline]
    pub fn improve<const P: usize>(&self, row: usize, weight: f64, known: &[u64; P]) {
        if weight > self.weight(row) {
            self.set(row, weight, known);
        }
    }

    fn set<const P: usize>(&self, row: usize, weight: f64, known: &[u64; P]) {
        self.weight[row].store(weight.to_bits(), Relaxed);
        for (stored, &word) in self.known[row * P..].iter().zip(known) {
            stored.store(word, Relaxed);
        }
    }
}

/// Returns the scores of all rows of a table that is not empty. If scores are `carried` over, only the stale
/// rows are searched.
pub(super) fn score_rows<const P: usize>(
    table: &PackedTable,
    settings: &Settings,
    carried: Option<(&Scores, &[bool])>,
    control: &Control,
) -> Result<Scores> {
    let mut input = SearchInput::<P>::new(table, settings, control);
    let rows = input.rows;
    let common = input
        .danger_function
        .of_sum(input.danger_of(&rows[0], &input.common));
    let worst_so_far = WorstSoFar::new(rows.len(), P, common);
    let mut open = carried.map_or_else(|| vec![true; rows.len()], |(_, stale)| stale.to_vec());
    let everything = |row: &[u64; P]| {
        input
            .danger_function
            .of_sum(input.danger_of(row, &input.fields.occupied(row)))
    };
    let bounds = rows.par_iter().zip(&open);
    let mut upper: Vec<f64> = bounds
        .map(|(row, &open)| if open { everything(row) } else { 0.0 })
        .collect();
    if let Some((carried, stale)) = carried {
        let known = carried.known.as_chunks::<P>().0;
        for row in (0..rows.len()).filter(|&row| !stale[row]) {
            worst_so_far.set(row, carried.lower[row], &known[row]);
        }
    }
    if !input.is_certain() {
        confidence::search(&input, &worst_so_far, &mut open, &mut upper);
    } else {
        quasi_only::search(&input, &worst_so_far, &mut open);
        if open.contains(&true) {
            input.blocked = blocked::find(&input);
            close_harmless_rows(&input, &worst_so_far, &mut open, &mut upper);
            let together = match settings.algorithm {
                Algorithm::Automatic => few_choices(table),
                algorithm => algorithm == Algorithm::Together,
            };
            if together {
                partition::search(&input, &worst_so_far, u32::MAX, &mut open, &mut upper);
            } else {
                row_by_row::search(&input, &worst_so_far, &mut open, &mut upper);
            }
        }
    }
    control.check()?;
    let lower: Vec<f64> = (0..rows.len()).map(|row| worst_so_far.weight(row)).collect();
    for ((upper, &lower), &open) in upper.iter_mut().zip(&lower).zip(&open) {
        *upper = if open { upper.max(lower) } else { lower };
    }
    if let Some((carried, stale)) = carried {
        for row in (0..rows.len()).filter(|&row| !stale[row]) {
            upper[row] = carried.upper[row].max(lower[row]);
        }
    }
    Ok(Scores {
        lower,
        upper,
        known: worst_so_far
            .known
            .into_iter()
            .map(AtomicU64::into_inner)
            .collect(),
        has_fewest_known: Vec::new(),
    })
}

/// Bounds the score of every open row by its attributes that are not blocked. Closes the rows about which no
/// more can be inferred than the attributes that all rows have.
fn close_harmless_rows<const P: usize>(
    input: &SearchInput<P>,
    worst_so_far: &WorstSoFar,
    open: &mut [bool],
    upper: &mut [f64],
) {
    let likelihood = input.table.likeliest_from()[0];
    for (row, bits) in input.rows.iter().enumerate() {
        if open[row] {
            let inferable = input.fields.occupied(bits).without(&input.blocked[row]);
            let bound = likelihood * input.danger_function.of_sum(input.danger_of(bits, &inferable));
            upper[row] = bound.max(worst_so_far.weight(row));
            open[row] = bound > worst_so_far.weight(row) * NEARLY_EQUAL;
        }
    }
}

/// Returns the slots in which all rows have the same attribute.
fn common_slots<const P: usize>(rows: &[[u64; P]], fields: &Fields<P>) -> [u64; P] {
    let first = rows[0];
    let differing = rows
        .iter()
        .fold([0; P], |bits: [u64; P], row| bits.or(&row.xor(&first)));
    fields.occupied(&first).without(&fields.occupied(&differing))
}

/// Returns whether there are so few sets of slots that it is faster to go through them for all rows together.
/// That costs about 10 ns per row and set. A row on its own costs about 30 µs, and 1 ns for each row to
/// compare it with (measured on two cores).
fn few_choices(table: &PackedTable) -> bool {
    let slots = &table.slots[..table.searchable];
    let choices = slots.iter().filter(|slot| !slot.is_costless()).count();
    2f64.powi(choices as i32) <= 2_500.0 + 0.08 * table.len() as f64
}
