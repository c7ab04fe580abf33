//! Search for probable inferences (White, sections 3.4 and 7). An attribute y counts as inferred from K if at
//! least a share `min_confidence` of the rows with K have it, and its danger is multiplied by that share.
//!
//! The table is split recursively into parts whose rows share one more known attribute.
//!
//! The pruning of the search for certain inferences does not apply here, because a share may rise or fall as
//! more becomes known. Two facts still hold. No inference about a row is more dangerous than all its unknown
//! attributes together. And an attribute that all rows of a part share is better inferred than known.

use super::bitset::Words;
use super::packed_table::Slot;
use super::pool::Pool;
use super::score::{NEARLY_EQUAL, SearchInput, Stop, WorstSoFar};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Number of rows above which the parts of a part are searched in parallel.
const PARALLEL_ABOVE: usize = 5_000;

/// Number of rows that are processed between two checks of the limits.
const ROWS_PER_LOOK: usize = 4_096;

/// Finds the worst inference about every open row. There must be at least one. All of them stay open if the
/// search had to stop early.
pub(super) fn search<const P: usize>(
    input: &SearchInput<P>,
    min_confidence: f64,
    worst_so_far: &WorstSoFar,
    open: &mut [bool],
) {
    let slots = &input.table.slots;
    let offsets = slots.iter().scan(0, |end, slot| {
        Some(std::mem::replace(end, *end + slot.danger.len()))
    });
    let search = ProbableSearch {
        input,
        min_confidence,
        worst_so_far,
        offsets: offsets.collect(),
        slot_code_count: slots.iter().map(|slot| slot.danger.len()).sum(),
        likeliest_from: input.table.likeliest_from(),
        buffers: Pool::default(),
        stop: Stop::new(&input.limits),
    };
    let (active, witnesses): (Vec<u32>, Vec<u32>) =
        (0..open.len() as u32).partition(|&row| open[row as usize]);
    let active = active.into_iter().map(|row| {
        let bits = &input.rows[row as usize];
        let danger = input.danger_of(bits, &input.fields.occupied(bits));
        ActiveRow { row, danger }
    });
    input.limits.control.set_total(input.table.searchable as u64);
    let whole = Part {
        known: [0; P],
        likelihood: 1.0,
        from: 0,
        active: active.collect(),
        witnesses,
    };
    search.search_with_own_buffer(&whole);
    if !search.stop.was_requested() {
        open.fill(false);
    }
}

/// Search for probable inferences about all open rows.
struct ProbableSearch<'a, const P: usize> {
    input: &'a SearchInput<'a, P>,
    min_confidence: f64,
    worst_so_far: &'a WorstSoFar,
    /// Per slot, the index of its first slot code among the slot codes of all slots.
    offsets: Vec<usize>,
    /// Number of slot codes of all slots.
    slot_code_count: usize,
    /// Per slot, the largest likelihood in it and in all slots after it.
    likeliest_from: Vec<f64>,
    /// Buffers with a count for every attribute, all 0 between uses.
    buffers: Pool<Vec<u64>>,
    stop: Stop<'a>,
}

/// Row about which a worse inference may still be found.
#[derive(Clone, Copy)]
struct ActiveRow {
    row: u32,
    /// Sum of the dangers of its attributes that are not known.
    danger: f64,
}

/// Rows that share `known`. A row is active as long as a worse inference about it may be found; otherwise it
/// is a witness.
struct Part<const P: usize> {
    known: [u64; P],
    likelihood: f64,
    /// First slot that may become known too.
    from: usize,
    active: Vec<ActiveRow>,
    witnesses: Vec<u32>,
}

impl<const P: usize> ProbableSearch<'_, P> {
    /// Calls [`search_part`](Self::search_part) with a buffer that no other thread is using. Buffers are
    /// lent, because each has a count for every attribute of the table.
    fn search_with_own_buffer(&self, part: &Part<P>) {
        if !self.stop.is_requested() {
            self.buffers.lend(
                || vec![0; self.slot_code_count],
                |counts| self.search_part(counts, part),
            );
        }
    }

    /// Searches the part and, recursively, its parts. `counts` is all 0 before and after, unless the search
    /// has to stop.
    fn search_part(&self, counts: &mut Vec<u64>, part: &Part<P>) {
        let rows = part.active.len() + part.witnesses.len();
        if self.stop.is_requested() {
            return;
        }
        let Some(shared) = self.weigh(counts, part) else {
            return;
        };
        let bound = |active: &ActiveRow| {
            part.likelihood
                * self.likeliest_from[part.from]
                * self.input.danger_function.of_sum(active.danger)
        };
        let (live, done): (Vec<ActiveRow>, Vec<ActiveRow>) = part
            .active
            .iter()
            .partition(|active| bound(active) > self.weight_to_beat(active.row));
        if live.is_empty() {
            return;
        }
        let mut witnesses = part.witnesses.clone();
        witnesses.extend(done.iter().map(|active| active.row));
        let searchable = &self.input.table.slots[..self.input.table.searchable];
        for (slot_index, slot) in searchable.iter().enumerate().skip(part.from) {
            if part.known == [0; P] {
                self.input.limits.control.advance(1);
            }
            if shared.has(slot.bit) {
                continue;
            }
            let parts = self.parts(part, &live, &witnesses, slot_index, slot);
            if rows > PARALLEL_ABOVE {
                parts
                    .par_iter()
                    .with_max_len(1)
                    .for_each(|part| self.search_with_own_buffer(part));
            } else {
                parts.iter().for_each(|part| self.search_part(counts, part));
            }
        }
    }

    fn weight_to_beat(&self, row: u32) -> f64 {
        self.worst_so_far.weight(row as usize) * NEARLY_EQUAL
    }

    /// Improves the scores of the part's active rows by the inferences from `part.known`. Returns the slots
    /// in which all rows have the same attribute, or `None` if the search has to stop.
    fn weigh(&self, counts: &mut [u64], part: &Part<P>) -> Option<[u64; P]> {
        let slots = &self.input.table.slots;
        let rows = || {
            part.active
                .iter()
                .map(|active| active.row)
                .chain(part.witnesses.iter().copied())
        };
        let mut total = 0;
        for (done, row) in rows().enumerate() {
            if self.should_stop_at(done) {
                return None;
            }
            let multiplicity = self.input.table.multiplicity[row as usize];
            total += multiplicity;
            for (slot, offset) in slots.iter().zip(&self.offsets) {
                counts[offset + slot.slot_code(&self.input.rows[row as usize])] += multiplicity;
            }
        }
        let of_slot = |slot: &Slot, offset: usize, slot_code: usize| {
            let confidence = counts[offset + slot_code] as f64 / total as f64;
            if confidence >= self.min_confidence && !part.known.has(slot.bit) {
                confidence * slot.danger[slot_code]
            } else {
                0.0
            }
        };
        for (done, active) in part.active.iter().enumerate() {
            if self.should_stop_at(done) {
                return None;
            }
            let bits = &self.input.rows[active.row as usize];
            let slots = slots.iter().zip(&self.offsets);
            let danger = slots
                .map(|(slot, &offset)| of_slot(slot, offset, slot.slot_code(bits)))
                .fold(0.0, |sum, danger| sum + danger);
            let weight = part.likelihood * self.input.danger_function.of_sum(danger);
            self.worst_so_far
                .improve(active.row as usize, weight, &part.known);
        }
        let first = part.active[0].row as usize;
        let mut shared = [0; P];
        for (slot, offset) in slots.iter().zip(&self.offsets) {
            let slot_code = slot.slot_code(&self.input.rows[first]);
            if slot_code > 0 && counts[offset + slot_code] == total {
                shared = shared.or(&Words::single(slot.bit));
            }
        }
        for (done, row) in rows().enumerate() {
            if self.should_stop_at(done) {
                return None;
            }
            for (slot, offset) in slots.iter().zip(&self.offsets) {
                counts[offset + slot.slot_code(&self.input.rows[row as usize])] = 0;
            }
        }
        Some(shared)
    }

    /// Returns whether the search has to stop. Checks the limits only once every `ROWS_PER_LOOK` rows.
    fn should_stop_at(&self, done: usize) -> bool {
        done % ROWS_PER_LOOK == ROWS_PER_LOOK - 1 && self.stop.is_requested()
    }

    /// Returns the parts of a part whose rows also share an attribute of this slot, without those that cannot
    /// lead to a worse inference.
    fn parts(
        &self,
        part: &Part<P>,
        live: &[ActiveRow],
        witnesses: &[u32],
        slot_index: usize,
        slot: &Slot,
    ) -> Vec<Part<P>> {
        let mut part_of_slot_code: FxHashMap<usize, usize> = FxHashMap::default();
        let mut parts: Vec<Part<P>> = Vec::new();
        for (done, active) in live.iter().enumerate() {
            if self.should_stop_at(done) {
                return Vec::new();
            }
            let slot_code = slot.slot_code(&self.input.rows[active.row as usize]);
            let likelihood = part.likelihood * slot.likelihood[slot_code];
            if likelihood == 0.0 {
                continue;
            }
            let part_index = *part_of_slot_code.entry(slot_code).or_insert_with(|| {
                parts.push(Part {
                    known: part.known.or(&Words::single(slot.bit)),
                    likelihood,
                    from: slot_index + 1,
                    active: Vec::new(),
                    witnesses: Vec::new(),
                });
                parts.len() - 1
            });
            let danger = active.danger - slot.danger[slot_code];
            if likelihood * self.input.danger_function.of_sum(danger) > self.weight_to_beat(active.row) {
                parts[part_index].active.push(ActiveRow { danger, ..*active });
            } else {
                parts[part_index].witnesses.push(active.row);
            }
        }
        for (done, &witness) in witnesses.iter().enumerate() {
            if self.should_stop_at(done) {
                return Vec::new();
            }
            if let Some(&part_index) =
                part_of_slot_code.get(&slot.slot_code(&self.input.rows[witness as usize]))
            {
                parts[part_index].witnesses.push(witness);
            }
        }
        parts.retain(|part| !part.active.is_empty());
        parts
    }
}
