//! What is inferred about the rows at or above the threshold, and how many rows have to be changed to break an
//! inference.

use super::bitset::Words;
use super::blanks::Unit;
use super::packed_table::PackedTable;
use super::remedies::is_at_or_above;
use super::score::{DangerFunction, Scores};
use crate::{Control, Result};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Number of rows that are processed between two checks for a cancel.
const ROWS_PER_LOOK: usize = 4_096;

/// Worst inference about a distinct row.
#[derive(Debug, Clone)]
pub(super) struct Inferred<const P: usize> {
    pub row: usize,
    /// Slots of the known attributes.
    pub known: [u64; P],
    /// Number of the known set, the same for all rows that have it in common.
    pub group: usize,
    /// Likelihood that all of it is known.
    likelihood: f64,
    attributes: Vec<InferredAttribute>,
}

/// Attribute that follows from what is known, with counts of the rows that have all of that.
#[derive(Debug, Clone, Copy)]
struct InferredAttribute {
    /// Bit of its slot.
    bit: usize,
    slot_code: usize,
    danger: f64,
    /// Number of rows that have it.
    having: u64,
    /// Number of rows that lack it and are not unknown there.
    lacking: u64,
}

impl InferredAttribute {
    fn share(&self) -> f64 {
        self.having as f64 / (self.having + self.lacking) as f64
    }

    /// Returns how many rows have to lose the attribute so that its share is below `limit`. `unknown` says
    /// whether those rows are then left out, rather than counted among those that lack it.
    fn rows_that_must_lose_it(&self, limit: f64, unknown: bool) -> u64 {
        let share = |keeping: u64| match unknown {
            true => keeping as f64 / (keeping + self.lacking) as f64,
            false => keeping as f64 / (self.having + self.lacking) as f64,
        };
        let mut keeping = match unknown {
            true if limit < 1.0 => limit * self.lacking as f64 / (1.0 - limit),
            true => self.having as f64,
            false => limit * (self.having + self.lacking) as f64,
        }
        .min(self.having as f64) as u64;
        while keeping > 0 && is_at_or_above(share(keeping), limit) {
            keeping -= 1;
        }
        (self.having - keeping).max(1)
    }
}

impl<const P: usize> Inferred<P> {
    /// Returns the slots of the inferred attributes.
    pub fn slots(&self) -> [u64; P] {
        let bits = self.attributes.iter().map(|inferred| inferred.bit);
        bits.fold([0; P], |slots, bit| slots.or(&Words::single(bit)))
    }

    /// Returns the inferred attribute that blanking a cell of this unit is to break: the one in the unit or, if the
    /// unit is known, the most dangerous one.
    fn broken_by(&self, unit: &Unit<P>) -> Option<&InferredAttribute> {
        let of_unit = self
            .attributes
            .iter()
            .find(|inferred| unit.slots.has(inferred.bit));
        let danger = |inferred: &InferredAttribute| inferred.share() * inferred.danger;
        of_unit.or_else(|| {
            let all = self.attributes.iter();
            all.max_by(|a, b| danger(a).total_cmp(&danger(b)))
        })
    }

    /// Returns how many rows with the known attributes have to be changed in this cell so that the inference is
    /// broken, or at least one of its attributes no longer inferred.
    pub fn rows_to_change(
        &self,
        unit: &Unit<P>,
        danger_function: DangerFunction,
        threshold: f64,
        min_confidence: f64,
    ) -> u64 {
        let Some(broken) = self.broken_by(unit) else {
            return u64::MAX;
        };
        let others = self
            .attributes
            .iter()
            .filter(|inferred| inferred.bit != broken.bit);
        let of_others: f64 = others.map(|inferred| inferred.share() * inferred.danger).sum();
        // The weight is at the threshold if the sum of the dangers is c·t / (likelihood − t).
        let at_threshold = danger_function.constant * threshold / (self.likelihood - threshold);
        let limit = ((at_threshold - of_others) / broken.danger).max(min_confidence);
        let is_known = !unit.slots.has(broken.bit);
        broken.rows_that_must_lose_it(limit.min(1.0), is_known || unit.becomes_unknown())
    }
}

/// How many more rows have to be changed to break an inference, by its known set, inferred attribute, and whether
/// the cell is one that is known.
#[derive(Default)]
pub(super) struct Quotas(FxHashMap<(usize, usize, usize, bool), u64>);

impl Quotas {
    pub fn of<const P: usize>(
        &mut self,
        about: &Inferred<P>,
        unit: &Unit<P>,
        rows_to_change: impl FnOnce() -> u64,
    ) -> &mut u64 {
        let broken = about.broken_by(unit);
        let (bit, slot_code) = broken.map_or((0, 0), |broken| (broken.bit, broken.slot_code));
        let is_known = !unit.slots.has(bit);
        self.0
            .entry((about.group, bit, slot_code, is_known))
            .or_insert_with(rows_to_change)
    }
}

/// Returns the worst inference about each of these rows.
pub(super) fn inferred_about<const P: usize>(
    table: &PackedTable,
    scores: &Scores,
    targets: &[usize],
    min_confidence: f64,
    control: &Control,
) -> Result<Vec<Inferred<P>>> {
    let rows = table.rows::<P>();
    let known_slots = scores.known.as_chunks::<P>().0;
    let mut by_slots: BTreeMap<[u64; P], Vec<usize>> = BTreeMap::new();
    for &row in targets {
        by_slots.entry(known_slots[row]).or_default().push(row);
    }
    let mut found = Vec::with_capacity(targets.len());
    let mut groups = 0;
    for (slots, targets) in by_slots {
        let fields = table.slots.iter().filter(|slot| slots.has(slot.bit));
        let fields: [u64; P] = fields.fold([0; P], |bits, slot| bits.or(&slot.field()));
        let mut group_of: FxHashMap<[u64; P], usize> = FxHashMap::default();
        for &row in &targets {
            let next = group_of.len();
            group_of.entry(rows[row].and(&fields)).or_insert(next);
        }
        let mut sharing = vec![Vec::new(); group_of.len()];
        for (row, bits) in rows.iter().enumerate() {
            if row % ROWS_PER_LOOK == 0 {
                control.check()?;
            }
            if let Some(&group) = group_of.get(&bits.and(&fields)) {
                sharing[group].push(row);
            }
        }
        let mut counts: FxHashMap<(usize, usize, usize), (u64, u64)> = FxHashMap::default();
        for (done, row) in targets.into_iter().enumerate() {
            if done % ROWS_PER_LOOK == 0 {
                control.check()?;
            }
            let group = group_of[&rows[row].and(&fields)];
            let attributes = inferred_attributes(table, row, &slots, min_confidence, |slot, slot_code| {
                *counts
                    .entry((group, slot, slot_code))
                    .or_insert_with(|| count::<P>(table, &sharing[group], slot, slot_code))
            });
            let weights = table.weights(&rows[row]).filter(|(bit, _)| slots.has(*bit));
            found.push(Inferred {
                row,
                known: slots,
                group: groups + group,
                likelihood: weights.map(|(_, weights)| weights.likelihood).product(),
                attributes,
            });
        }
        groups += group_of.len();
    }
    found.sort_by_key(|inferred| inferred.row);
    Ok(found)
}

/// Returns the harmful attributes of a row that follow from what is known. `counts` returns the number of rows
/// that have an attribute, given the index of its slot and its slot code, and that of the rows that lack it.
fn inferred_attributes<const P: usize>(
    table: &PackedTable,
    row: usize,
    known: &[u64; P],
    min_confidence: f64,
    mut counts: impl FnMut(usize, usize) -> (u64, u64),
) -> Vec<InferredAttribute> {
    let mut inferred = Vec::new();
    for (slot_index, slot) in table.slots.iter().enumerate() {
        let slot_code = slot.slot_code(&table.rows::<P>()[row]);
        let danger = slot.danger[slot_code];
        if danger == 0.0 || known.has(slot.bit) {
            continue;
        }
        let (having, lacking) = counts(slot_index, slot_code);
        let attribute = InferredAttribute {
            bit: slot.bit,
            slot_code,
            danger,
            having,
            lacking,
        };
        if attribute.share() >= min_confidence {
            inferred.push(attribute);
        }
    }
    inferred
}

/// Returns how many of these distinct rows, each as often as it occurs, have an attribute, and how many lack it
/// and are not unknown in its slot.
fn count<const P: usize>(
    table: &PackedTable,
    sharing: &[usize],
    slot_index: usize,
    slot_code: usize,
) -> (u64, u64) {
    let slot = &table.slots[slot_index];
    let (mut having, mut lacking) = (0, 0);
    for &row in sharing {
        let bits = &table.rows::<P>()[row];
        if slot.slot_code(bits) == slot_code {
            having += table.multiplicity[row];
        } else if !slot.is_unknown(bits) {
            lacking += table.multiplicity[row];
        }
    }
    (having, lacking)
}
