//! Search for probable inferences (White, sections 3.4 and 7). An attribute y counts as inferred from K if at
//! least a share `min_confidence` of the rows with K have it, and its danger is multiplied by that share. Rows in
//! which y is unknown are left out of the share.
//!
//! The table is split recursively into parts whose rows share one more known attribute.
//!
//! The pruning of the search for certain inferences does not apply here, because a share may rise or fall as
//! more becomes known. Three facts still hold:
//! - No inference about a row is more dangerous than all its unknown attributes together.
//! - An attribute that all rows of a part share is better inferred than known.
//! - The *twins* of a row, which agree with it on all attributes that can be known, are in every part that the
//!   row is in. Let `lacking` of them lack y, with a value that is not unknown, and let `having` rows of a part
//!   have y. In a part of that part, at most `having` rows have y and at least `lacking` rows lack it, so the
//!   share of y is at most `having / (having + lacking)` however much more becomes known.
//!
//! Joint confidence (`joint`) is never more dangerous than separate confidence, so the same bounds hold for it.
//!
//! The same search also finds the fewest attributes that have to be known for a weight that has been found before
//! (`fewest`). What it looks for is its [`Goal`].

use super::bitset::Words;
use super::few_rows::{self, Attribute, FewRows};
use super::joint::{JointInference, worst_set};
use super::packed_table::Slot;
use super::pool::Pool;
use super::score::{NEARLY_EQUAL, SearchInput, Stop, WorstSoFar};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Number of rows above which the parts of a part are searched in parallel.
const PARALLEL_ABOVE: usize = 5_000;

/// Number of rows that are processed between two checks of the limits.
const ROWS_PER_LOOK: usize = 4_096;

/// Number of slots for which twins are counted, at most: 4 bytes per row for each.
const SLOTS_WITH_TWINS: usize = 64;

/// Finds the worst inference about every open row. There must be at least one. If the search had to stop early,
/// all of them stay open, with an upper bound on their scores.
pub(super) fn search<const P: usize>(
    input: &SearchInput<P>,
    worst_so_far: &WorstSoFar,
    open: &mut [bool],
    upper: &mut [f64],
) {
    let search = ProbableSearch::new(input, worst_so_far);
    input.limits.control.set_total(input.table.searchable as u64);
    for (row, reachable) in search.run(open) {
        let bound = input.danger_function.of_sum(reachable);
        upper[row] = bound.min(upper[row]);
    }
    if !search.stop.was_requested() {
        open.fill(false);
    }
}

/// What a search looks for.
pub(super) trait Goal<const P: usize>: Sync {
    /// Returns whether an inference about a row from `size` known attributes is of use if its weight is at most
    /// `weight`.
    fn wants(&self, row: usize, weight: f64, size: u32) -> bool;

    /// Returns the number of known attributes of all inferences that are taken; `None` if any number is.
    fn size(&self) -> Option<u32> {
        None
    }

    /// Takes an inference about a row from known attributes that `support` rows have. Only one thread at a time
    /// works on a row.
    fn take(&self, row: usize, weight: f64, known: &[u64; P], support: u64);
}

impl<const P: usize> Goal<P> for &WorstSoFar {
    fn wants(&self, row: usize, weight: f64, _size: u32) -> bool {
        weight > self.weight(row) * NEARLY_EQUAL
    }

    fn take(&self, row: usize, weight: f64, known: &[u64; P], _support: u64) {
        self.improve(row, weight, known);
    }
}

/// Search for probable inferences about some rows.
pub(super) struct ProbableSearch<'a, const P: usize, G> {
    input: &'a SearchInput<'a, P>,
    pub goal: G,
    dangerous: Vec<DangerousSlot<'a>>,
    /// Number of counts of all dangerous slots.
    count_of_counts: usize,
    /// Per slot, the largest likelihood in it and in all slots after it.
    likeliest_from: Vec<f64>,
    buffers: Pool<Buffers<P>>,
    pub stop: Stop<'a>,
}

/// Slot with harmful attributes.
struct DangerousSlot<'a> {
    slot: &'a Slot,
    /// Index of its first count. There is one per slot code, and then that of the rows in which the slot is
    /// unknown.
    offset: usize,
    /// Per row, at least how many of its twins lack its attribute. Empty if that is not counted.
    lacking: Vec<u32>,
}

/// Working memory of one thread.
#[derive(Default)]
struct Buffers<const P: usize> {
    /// Counts of all dangerous slots, all 0 between uses.
    counts: Vec<u64>,
    /// Per slot code, 1 + the index of its part, all 0 between uses.
    part_of_slot_code: Vec<u32>,
    groups: Vec<Group<P>>,
    few: FewRows,
}

/// Rows of a part that have the same attribute in a slot.
struct Group<const P: usize> {
    slot_code: usize,
    first: [u64; P],
    /// Bits in which some row differs from the first.
    differing: [u64; P],
    support: u64,
    likelihood: f64,
    /// Weight of the certain inference.
    weight: f64,
}

/// Row about which a worse inference may still be found.
#[derive(Clone, Copy)]
struct ActiveRow {
    row: u32,
    /// Sum of the dangers of its attributes that are not known.
    danger: f64,
    /// Bound on the danger of inferences about it, however much more becomes known.
    reachable: f64,
}

/// Rows that share `known`. A row is active as long as a worse inference about it may be found; otherwise it
/// is a witness.
struct Part<const P: usize> {
    known: [u64; P],
    /// Number of known attributes.
    size: u32,
    likelihood: f64,
    /// First slot that may become known too.
    from: usize,
    active: Vec<ActiveRow>,
    witnesses: Vec<u32>,
}

impl<const P: usize> Part<P> {
    /// Returns the numbers of all rows.
    fn rows(&self) -> impl Iterator<Item = u32> {
        let active = self.active.iter().map(|active| active.row);
        active.chain(self.witnesses.iter().copied())
    }
}

impl<'a, const P: usize, G: Goal<P>> ProbableSearch<'a, P, G> {
    pub fn new(input: &'a SearchInput<'a, P>, goal: G) -> Self {
        let mut search = ProbableSearch {
            input,
            goal,
            dangerous: Vec::new(),
            count_of_counts: 0,
            likeliest_from: input.table.likeliest_from(),
            buffers: Pool::default(),
            stop: Stop::new(&input.limits),
        };
        let twins = input.equal_in(&input.table.slots[..input.table.searchable]);
        let slots = input.table.slots.iter().enumerate();
        for (slot_index, slot) in slots.filter(|(_, slot)| slot.is_dangerous()) {
            // Twins agree on the slots that can be known.
            let is_counted = (input.table.searchable..input.table.searchable + SLOTS_WITH_TWINS)
                .contains(&slot_index)
                && !search.stop.is_requested();
            search.dangerous.push(DangerousSlot {
                slot,
                offset: search.count_of_counts,
                lacking: if is_counted {
                    twins_lacking(input, &twins, slot)
                } else {
                    Vec::new()
                },
            });
            search.count_of_counts += slot.danger.len() + 1;
        }
        search
    }

    /// Searches for inferences about the active rows, of which there must be at least one. Returns these rows, each with
    /// a bound on the sum of the dangers that can be inferred about it.
    pub fn run(&self, is_active: &[bool]) -> Vec<(usize, f64)> {
        let input = self.input;
        let (active, witnesses): (Vec<u32>, Vec<u32>) =
            (0..input.rows.len() as u32).partition(|&row| is_active[row as usize]);
        let active = active.into_iter().map(|row| {
            let bits = &input.rows[row as usize];
            let danger = input.danger_of(bits, &input.fields.occupied(bits));
            ActiveRow {
                row,
                danger,
                reachable: danger,
            }
        });
        let mut whole = Part {
            known: [0; P],
            size: 0,
            likelihood: 1.0,
            from: 0,
            active: active.collect(),
            witnesses,
        };
        self.buffers
            .lend(Buffers::default, |buffers| self.search_part(buffers, &mut whole));
        let active = whole.active.into_iter();
        active
            .map(|active| (active.row as usize, active.reachable))
            .collect()
    }

    /// Searches the part and, recursively, its parts. `buffers` are all 0 before and after, unless the search
    /// has to stop.
    fn search_part(&self, buffers: &mut Buffers<P>, part: &mut Part<P>) {
        if self.stop.is_requested() {
            return;
        }
        let rows = part.active.len() + part.witnesses.len();
        if let Some(size) = self.goal.size()
            && self.input.is_certain()
            && rows <= few_rows::MAX_ROWS
        {
            for own in 0..part.active.len() {
                self.search_few(&mut buffers.few, part, own, size);
            }
            return;
        }
        let Some(shared) = self.weigh(&mut buffers.counts, part) else {
            return;
        };
        let likelihood = part.likelihood * self.likeliest_from[part.from];
        let (live, done): (Vec<ActiveRow>, Vec<ActiveRow>) = part
            .active
            .iter()
            .partition(|active| self.is_worthwhile(likelihood, active, part.size + 1));
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
            if self.goal.size() == Some(part.size + 1) && self.input.is_certain() {
                if self
                    .take_certain(buffers, part, &live, &witnesses, slot_index)
                    .is_none()
                {
                    return;
                }
                continue;
            }
            let Some(mut parts) = self.parts(
                &mut buffers.part_of_slot_code,
                part,
                &live,
                &witnesses,
                slot_index,
            ) else {
                return;
            };
            if live.len() + witnesses.len() > PARALLEL_ABOVE {
                parts.par_iter_mut().with_max_len(1).for_each(|part| {
                    self.buffers
                        .lend(Buffers::default, |buffers| self.search_part(buffers, part))
                });
            } else {
                parts.iter_mut().for_each(|part| self.search_part(buffers, part));
            }
        }
    }

    /// Returns whether an inference about a row may be of use, from at least `size` attributes that are known with
    /// at most this likelihood.
    fn is_worthwhile(&self, likelihood: f64, active: &ActiveRow, size: u32) -> bool {
        let bound = likelihood * self.input.danger_function.of_sum(active.reachable);
        self.goal.wants(active.row as usize, bound, size)
    }

    /// Passes the inferences about the part's active rows from `part.known` to the goal, and bounds what can be
    /// inferred if more is known. Returns the slots in which all rows have the same attribute, or `None` if
    /// the search has to stop.
    fn weigh(&self, counts: &mut Vec<u64>, part: &mut Part<P>) -> Option<[u64; P]> {
        counts.resize(self.count_of_counts, 0);
        let first = self.input.rows[part.active[0].row as usize];
        let (mut total, mut differing) = (0, [0; P]);
        for (done, row) in part.rows().enumerate() {
            if self.should_stop_at(done) {
                return None;
            }
            let multiplicity = self.input.table.multiplicity[row as usize];
            let bits = &self.input.rows[row as usize];
            total += multiplicity;
            differing = differing.or(&bits.xor(&first));
            for dangerous in &self.dangerous {
                counts[dangerous.count_of(bits)] += multiplicity;
            }
        }
        let mut joint = FxHashMap::default();
        for done in 0..part.active.len() {
            if self.should_stop_at(done) {
                return None;
            }
            let active = &mut part.active[done];
            let danger = self.danger_and_reach(counts, total, &part.known, active);
            if self.goal.size().is_some_and(|size| size != part.size) {
                continue;
            }
            let row = active.row as usize;
            let mut weight = part.likelihood * self.input.danger_function.of_sum(danger);
            if self.input.joint_confidence {
                if !self.goal.wants(row, weight, part.size) {
                    continue;
                }
                weight = part.likelihood * self.joint_danger(counts, total, part, row, &mut joint)?;
            }
            self.goal.take(row, weight, &part.known, total);
        }
        for (done, row) in part.rows().enumerate() {
            if self.should_stop_at(done) {
                return None;
            }
            for dangerous in &self.dangerous {
                counts[dangerous.count_of(&self.input.rows[row as usize])] = 0;
            }
        }
        let fields = &self.input.fields;
        Some(fields.occupied(&first).without(&fields.occupied(&differing)))
    }

    /// Returns the danger of the inference about a row from `known`, given the counts of a part with `total`
    /// rows. Sets what is reachable from there.
    fn danger_and_reach(&self, counts: &[u64], total: u64, known: &[u64; P], active: &mut ActiveRow) -> f64 {
        let row = active.row as usize;
        let bits = &self.input.rows[row];
        let (mut danger, mut reachable) = (0.0, 0.0);
        for dangerous in self.dangerous.iter().filter(|other| !known.has(other.slot.bit)) {
            let of_attribute = dangerous.slot.danger[dangerous.slot.slot_code(bits)];
            if of_attribute > 0.0 {
                let having = counts[dangerous.count_of(bits)];
                let lacking = dangerous.lacking.get(row).copied().unwrap_or(0);
                let unknown = counts[dangerous.count_of_unknown()];
                danger += self.input.danger_by_share(of_attribute, having, total - unknown);
                reachable += self
                    .input
                    .danger_by_share(of_attribute, having, having + u64::from(lacking));
            }
        }
        active.reachable = active.reachable.min(reachable);
        danger
    }

    /// Returns the largest confidence times danger of all sets of attributes that may be inferred about a row, or
    /// `None` if the search has to stop. `found` has the results for rows of the part with the same attributes.
    fn joint_danger(
        &self,
        counts: &[u64],
        total: u64,
        part: &Part<P>,
        row: usize,
        found: &mut FxHashMap<[u64; P], f64>,
    ) -> Option<f64> {
        let input = self.input;
        let bits = &input.rows[row];
        let mut among = [0; P];
        for dangerous in self
            .dangerous
            .iter()
            .filter(|other| !part.known.has(other.slot.bit))
        {
            let of_attribute = dangerous.slot.danger[dangerous.slot.slot_code(bits)];
            let having = counts[dangerous.count_of(bits)];
            let unknown = counts[dangerous.count_of_unknown()];
            if of_attribute > 0.0 && input.danger_by_share(of_attribute, having, total - unknown) > 0.0 {
                among = among.or(&Words::single(dangerous.slot.bit));
            }
        }
        let attributes = input.table.restricted_to(bits, &among);
        if let Some(&danger) = found.get(&attributes) {
            return Some(danger);
        }
        let nothing = JointInference::NOTHING;
        let stop = || self.stop.is_requested();
        let danger = worst_set(input, bits, &among, part.rows(), nothing, stop)?.value;
        found.insert(attributes, danger);
        Some(danger)
    }

    /// Returns whether the search has to stop. Checks the limits only once every `ROWS_PER_LOOK` rows.
    fn should_stop_at(&self, done: usize) -> bool {
        done % ROWS_PER_LOOK == ROWS_PER_LOOK - 1 && self.stop.is_requested()
    }

    /// Returns the parts of a part whose rows also share an attribute of this slot, without those that cannot
    /// lead to a worse inference, or `None` if the search has to stop.
    fn parts(
        &self,
        part_of_slot_code: &mut Vec<u32>,
        part: &Part<P>,
        live: &[ActiveRow],
        witnesses: &[u32],
        slot_index: usize,
    ) -> Option<Vec<Part<P>>> {
        let slot = &self.input.table.slots[slot_index];
        if part_of_slot_code.len() < slot.likelihood.len() {
            part_of_slot_code.resize(slot.likelihood.len(), 0);
        }
        let slot_code_of = |row: u32| slot.slot_code(&self.input.rows[row as usize]);
        let mut slot_codes = Vec::new();
        let mut parts: Vec<Part<P>> = Vec::new();
        for (done, active) in live.iter().enumerate() {
            if self.should_stop_at(done) {
                return None;
            }
            let slot_code = slot_code_of(active.row);
            let likelihood = part.likelihood * slot.likelihood[slot_code];
            if likelihood == 0.0 {
                continue;
            }
            if part_of_slot_code[slot_code] == 0 {
                slot_codes.push(slot_code);
                parts.push(Part {
                    known: part.known.or(&Words::single(slot.bit)),
                    size: part.size + 1,
                    likelihood,
                    from: slot_index + 1,
                    active: Vec::new(),
                    witnesses: Vec::new(),
                });
                part_of_slot_code[slot_code] = parts.len() as u32;
            }
            let part = &mut parts[part_of_slot_code[slot_code] as usize - 1];
            let danger = active.danger - slot.danger[slot_code];
            let active = ActiveRow {
                danger,
                reachable: active.reachable.min(danger),
                ..*active
            };
            if self.is_worthwhile(likelihood, &active, part.size) {
                part.active.push(active);
            } else {
                part.witnesses.push(active.row);
            }
        }
        for (done, &witness) in witnesses.iter().enumerate() {
            if self.should_stop_at(done) {
                return None;
            }
            if let Some(index) = part_of_slot_code[slot_code_of(witness)].checked_sub(1) {
                parts[index as usize].witnesses.push(witness);
            }
        }
        for slot_code in slot_codes {
            part_of_slot_code[slot_code] = 0;
        }
        parts.retain(|part| !part.active.is_empty());
        Some(parts)
    }
}

impl<const P: usize, G: Goal<P>> ProbableSearch<'_, P, G> {
    /// Passes the certain inferences about rows of a part to the goal, if their attribute in one more slot is known.
    /// It does the same as searching the parts of the part, but more quickly. Returns `None` if the search has to
    /// stop.
    fn take_certain(
        &self,
        Buffers {
            part_of_slot_code: group_of_slot_code,
            groups,
            ..
        }: &mut Buffers<P>,
        part: &Part<P>,
        live: &[ActiveRow],
        witnesses: &[u32],
        slot_index: usize,
    ) -> Option<()> {
        let input = self.input;
        let slot = &input.table.slots[slot_index];
        if group_of_slot_code.len() < slot.likelihood.len() {
            group_of_slot_code.resize(slot.likelihood.len(), 0);
        }
        groups.clear();
        for (done, active) in live.iter().enumerate() {
            if self.should_stop_at(done) {
                return None;
            }
            let bits = &input.rows[active.row as usize];
            let slot_code = slot.slot_code(bits);
            let likelihood = part.likelihood * slot.likelihood[slot_code];
            if group_of_slot_code[slot_code] == 0 && likelihood > 0.0 {
                groups.push(Group::new(slot_code, *bits, likelihood));
                group_of_slot_code[slot_code] = groups.len() as u32;
            }
        }
        let rows = live
            .iter()
            .map(|active| active.row)
            .chain(witnesses.iter().copied());
        for (done, row) in rows.enumerate() {
            if self.should_stop_at(done) {
                return None;
            }
            let bits = &input.rows[row as usize];
            if let Some(index) = group_of_slot_code[slot.slot_code(bits)].checked_sub(1) {
                let group = &mut groups[index as usize];
                group.differing = group.differing.or(&bits.xor(&group.first));
                group.support += input.table.multiplicity[row as usize];
            }
        }
        let known = part.known.or(&Words::single(slot.bit));
        for group in groups.iter_mut() {
            let differing = input.fields.occupied(&group.differing);
            let inferred = input
                .fields
                .occupied(&group.first)
                .without(&differing)
                .without(&known);
            let danger = input.danger_of(&group.first, &inferred);
            group.weight = group.likelihood * input.danger_function.of_sum(danger);
        }
        for (done, active) in live.iter().enumerate() {
            if self.should_stop_at(done) {
                return None;
            }
            let row = active.row as usize;
            if let Some(index) = group_of_slot_code[slot.slot_code(&input.rows[row])].checked_sub(1) {
                let group = &groups[index as usize];
                self.goal.take(row, group.weight, &known, group.support);
            }
        }
        groups
            .iter()
            .for_each(|group| group_of_slot_code[group.slot_code] = 0);
        Some(())
    }
}

impl<const P: usize, G: Goal<P>> ProbableSearch<'_, P, G> {
    /// Passes the certain inferences from `size` known attributes about one active row to the goal, if the part has
    /// few rows.
    fn search_few(&self, few: &mut FewRows, part: &Part<P>, own: usize, size: u32) {
        let input = self.input;
        let active = &part.active[own];
        if size < part.size || !self.is_worthwhile(part.likelihood, active, size) {
            return;
        }
        let bits = &input.rows[active.row as usize];
        few.clear();
        for (slot_index, slot) in input.table.slots.iter().enumerate() {
            let slot_code = slot.slot_code(bits);
            if slot_code == 0 || part.known.has(slot.bit) {
                continue;
            }
            let (likelihood, danger) = (slot.likelihood[slot_code], slot.danger[slot_code]);
            let is_choice = likelihood > 0.0 && slot_index >= part.from;
            if is_choice || danger > 0.0 {
                let has = |row: u32| slot.slot_code(&input.rows[row as usize]) == slot_code;
                few.add(
                    Attribute {
                        bit: slot.bit,
                        likelihood,
                        danger,
                        rows: few_rows::set(part.rows().map(has)),
                    },
                    is_choice,
                );
            }
        }
        few.multiplicity
            .extend(part.rows().map(|row| input.table.multiplicity[row as usize]));
        let row = active.row as usize;
        few.search(
            size - part.size,
            part.likelihood,
            |likelihood, danger| {
                let weight = likelihood * input.danger_function.of_sum(danger);
                self.goal.wants(row, weight, size)
            },
            |added, likelihood, danger, support| {
                let single = |known: [u64; P], &bit: &usize| known.or(&Words::single(bit));
                let known = added.iter().fold(part.known, single);
                let weight = likelihood * input.danger_function.of_sum(danger);
                self.goal.take(row, weight, &known, support);
            },
            || self.stop.is_requested(),
        );
    }
}

impl<const P: usize> Group<P> {
    fn new(slot_code: usize, first: [u64; P], likelihood: f64) -> Self {
        Group {
            slot_code,
            first,
            differing: [0; P],
            support: 0,
            likelihood,
            weight: 0.0,
        }
    }
}

impl DangerousSlot<'_> {
    /// Returns the index of the count of rows that have the same attribute as this row, or are unknown if it
    /// is unknown.
    #[inline(always)]
    fn count_of<const P: usize>(&self, row: &[u64; P]) -> usize {
        if self.slot.is_unknown(row) {
            self.count_of_unknown()
        } else {
            self.offset + self.slot.slot_code(row)
        }
    }

    fn count_of_unknown(&self) -> usize {
        self.offset + self.slot.danger.len()
    }
}

/// Returns for every row how many of its twins lack its attribute in a slot and are not unknown there, or less
/// if that number is too large. Rows without an attribute there get 0.
fn twins_lacking<const P: usize>(
    input: &SearchInput<P>,
    twins: &[std::ops::Range<usize>],
    slot: &Slot,
) -> Vec<u32> {
    let mut lacking = vec![0; input.rows.len()];
    let mut having = vec![0; slot.danger.len()];
    for twins in twins {
        let known = || twins.clone().filter(|&row| !slot.is_unknown(&input.rows[row]));
        let mut total = 0;
        for row in known() {
            total += input.table.multiplicity[row];
            having[slot.slot_code(&input.rows[row])] += input.table.multiplicity[row];
        }
        for row in known() {
            let slot_code = slot.slot_code(&input.rows[row]);
            if slot_code > 0 {
                lacking[row] = u32::try_from(total - having[slot_code]).unwrap_or(u32::MAX);
            }
        }
        known().for_each(|row| having[slot.slot_code(&input.rows[row])] = 0);
    }
    lacking
}
