//! Search for all rows at once, by splitting the table along the known attributes. The rows that share K are
//! a part of the rows that share one attribute less. So each look at a row serves all sets K that the row has
//! in common with others. This is good for few slots and many rows. Only certain inferences are searched.
//!
//! In each part some rows are *active*: a worse inference about them may still be found from the known
//! attributes of the part and more. The others are *witnesses*, which only show what is not inferred. A row
//! becomes a witness as soon as no set of known attributes that extends those of the part can beat the worst
//! inference already found about it.

use super::bitset::Words;
use super::packed_table::Slot;
use super::pool::Pool;
use super::score::{NEARLY_EQUAL, SearchInput, Stop, WorstSoFar};
use super::search::{AttributeKinds, NoMoreMasks, RowSearch, Workspace};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Largest number of rows of a part that is left to the search for single rows. Parts with one active row are
/// left to it too.
const FEW_ROWS: usize = 8;

/// Number of sets that are searched for a single row if the number of known attributes is limited.
const FEW_SETS: u64 = 40;

/// Number of rows above which the parts of a part are searched in parallel.
const PARALLEL_ABOVE: usize = 10_000;

/// Number of rows up to which a part does not check the limits. Such a part is finished soon, because this
/// search is used only for few slots or few known attributes.
const FEW_ENOUGH_TO_FINISH: usize = 100;

/// Finds the worst inference about every open row from at most `max_known` known attributes. Attributes that
/// are known at no loss do not count. A row stays open if an inference that was left out may be worse;
/// `upper` then bounds it. All rows stay open if the search had to stop early.
pub(super) fn search<const P: usize>(
    input: &SearchInput<P>,
    worst_so_far: &WorstSoFar,
    max_known: u32,
    open: &mut [bool],
    upper: &mut [f64],
) {
    let partition = Partition::new(input, worst_so_far, max_known);
    let (mut active, mut witnesses) = (Vec::new(), Vec::new());
    for (row, bits) in input.rows.iter().enumerate() {
        if open[row] {
            active.push(ActiveRow {
                bits: *bits,
                danger: partition.rows[row].danger,
                costly_known: 0,
                row: row as u32,
            });
        } else {
            witnesses.push(*bits);
        }
    }
    input.limits.control.set_total(input.table.searchable as u64);
    let whole = Part {
        known: [0; P],
        likelihood: 1.0,
        inferred: input.common,
        from: 0,
        active: &active,
        witnesses: &witnesses,
    };
    partition.search_part(&mut Buffers::default(), 0, &whole);
    if partition.stop.was_requested() {
        return;
    }
    for (row, left_out) in partition.left_out.into_iter().enumerate() {
        let left_out = f64::from_bits(left_out.into_inner());
        if open[row] {
            upper[row] = upper[row].min(left_out.max(worst_so_far.weight(row)));
            open[row] = left_out > worst_so_far.weight(row) * NEARLY_EQUAL;
        }
    }
}

/// Search for the worst inferences about all open rows.
struct Partition<'a, const P: usize> {
    input: &'a SearchInput<'a, P>,
    worst_so_far: &'a WorstSoFar,
    slots: &'a [Slot],
    rows: Vec<Prospect<P>>,
    /// Per slot, the largest likelihood in it and in all slots after it.
    likeliest_from: Vec<f64>,
    /// Per slot, the set of it and all searchable slots after it.
    slots_from: Vec<[u64; P]>,
    /// Largest number of known attributes, not counting those that are known at no loss.
    max_known: u32,
    /// Per row, a bound on the inferences that were left out, as the bits of an `f64`.
    left_out: Vec<AtomicU64>,
    buffers: Pool<Buffers<P>>,
    stop: Stop<'a>,
}

/// Facts about a row that hold in every part.
struct Prospect<const P: usize> {
    /// Slots of attributes that are known for certain and are harmless or impossible to infer. Nothing is
    /// lost by knowing them.
    forced: [u64; P],
    /// Sum of the dangers of all attributes that might be inferred.
    danger: f64,
    /// Smallest danger that is lost by knowing one more attribute.
    least_danger: f64,
}

/// Row about which a worse inference may still be found.
#[derive(Clone, Copy)]
struct ActiveRow<const P: usize> {
    bits: [u64; P],
    /// Sum of the dangers of all attributes that might still be inferred.
    danger: f64,
    /// Number of known attributes, not counting those that are known at no loss.
    costly_known: u32,
    row: u32,
}

/// Rows that share `known`.
struct Part<'a, const P: usize> {
    known: [u64; P],
    likelihood: f64,
    /// Slots in which all these rows have the same attribute, known or not.
    inferred: [u64; P],
    /// First slot that has not been decided on.
    from: usize,
    active: &'a [ActiveRow<P>],
    witnesses: &'a [[u64; P]],
}

/// Buffers for the parts at one depth, reused for one slot after another.
struct Level<const P: usize> {
    active: Vec<ActiveRow<P>>,
    witnesses: Vec<[u64; P]>,
    /// Bucket of every active row, and whether the row stays active there.
    bucket_of_active: Vec<(u32, bool)>,
    buckets: Vec<Bucket<P>>,
}

impl<const P: usize> Default for Level<P> {
    fn default() -> Self {
        Level {
            active: Vec::new(),
            witnesses: Vec::new(),
            bucket_of_active: Vec::new(),
            buckets: Vec::new(),
        }
    }
}

/// Buffers of one thread.
struct Buffers<const P: usize> {
    levels: Vec<Level<P>>,
    /// Map from slot codes to buckets, which are numbered from 1; 0 means none. All 0 between uses.
    bucket_of_slot_code: Vec<u32>,
    workspace: Workspace<P>,
}

impl<const P: usize> Default for Buffers<P> {
    fn default() -> Self {
        Buffers {
            levels: Vec::new(),
            bucket_of_slot_code: Vec::new(),
            workspace: Workspace::default(),
        }
    }
}

/// Rows of a part that have the same attribute in a slot.
#[derive(Clone, Copy)]
struct Bucket<const P: usize> {
    slot_code: u32,
    first: [u64; P],
    /// Bits in which some row differs from the first.
    differing: [u64; P],
    /// Number of rows that may be active.
    candidates: u32,
    /// Number of other rows.
    others: u32,
    /// Number of rows that stay active.
    active: u32,
    /// Index of the first of them in [`Level::active`].
    active_start: u32,
    /// Number of witnesses.
    witnesses: u32,
    /// Index of the first of them in [`Level::witnesses`].
    witnesses_start: u32,
    likelihood: f64,
    /// Slots in which all its rows have the same attribute.
    shared: [u64; P],
    /// Weight of the inference from the known attributes, including that of the bucket.
    weight: f64,
}

/// Marks a row whose attribute in the slot cannot be known.
const NO_BUCKET: u32 = u32::MAX;

impl<'a, const P: usize> Partition<'a, P> {
    fn new(input: &'a SearchInput<'a, P>, worst_so_far: &'a WorstSoFar, max_known: u32) -> Self {
        let slots = &input.table.slots[..input.table.searchable];
        let mut slots_from = vec![[0; P]; slots.len() + 1];
        for (slot_index, slot) in slots.iter().enumerate().rev() {
            slots_from[slot_index] = slots_from[slot_index + 1].or(&Words::single(slot.bit));
        }
        let prospect = |(bits, blocked): (&[u64; P], &[u64; P])| {
            let mut prospect = Prospect {
                forced: [0; P],
                danger: 0.0,
                least_danger: f64::INFINITY,
            };
            for slot in &input.table.slots {
                let slot_code = slot.slot_code(bits);
                if slot_code == 0 {
                    continue;
                }
                let danger = if blocked.has(slot.bit) {
                    0.0
                } else {
                    slot.danger[slot_code]
                };
                prospect.danger += danger;
                if slot.likelihood[slot_code] == 1.0 && danger == 0.0 {
                    prospect.forced = prospect.forced.or(&Words::single(slot.bit));
                } else if slot.likelihood[slot_code] > 0.0 {
                    prospect.least_danger = prospect.least_danger.min(danger);
                }
            }
            if prospect.least_danger.is_infinite() {
                prospect.least_danger = 0.0;
            }
            prospect
        };
        Partition {
            input,
            worst_so_far,
            slots,
            rows: input.rows.par_iter().zip(&input.blocked).map(prospect).collect(),
            likeliest_from: input.table.likeliest_from(),
            slots_from,
            max_known,
            left_out: input.rows.iter().map(|_| AtomicU64::new(0)).collect(),
            buffers: Pool::default(),
            stop: Stop::new(&input.limits),
        }
    }

    /// Searches every set that contains the known attributes of the part and more.
    fn search_part(&self, buffers: &mut Buffers<P>, depth: usize, part: &Part<P>) {
        if part.active.len() + part.witnesses.len() <= FEW_ROWS || part.active.len() == 1 {
            for active in part.active {
                self.search_row(&mut buffers.workspace, part, active);
            }
            return;
        }
        if buffers.levels.len() <= depth {
            buffers.levels.resize_with(depth + 1, Level::default);
        }
        // Taken out, so that the deeper levels can be borrowed at the same time.
        let mut level = std::mem::take(&mut buffers.levels[depth]);
        let is_large = part.active.len() + part.witnesses.len() > FEW_ENOUGH_TO_FINISH;
        let mut skipped = [0; P];
        for slot_index in part.from..self.slots.len() {
            let slot = &self.slots[slot_index];
            if is_large && self.stop.is_requested() {
                break;
            }
            if depth == 0 {
                self.input.limits.control.advance(1);
            }
            if part.inferred.has(slot.bit) {
                continue; // knowing an inferred attribute never gives a worse inference (White, Lemma 4.11)
            }
            self.fill(
                &mut level,
                &mut buffers.bucket_of_slot_code,
                part,
                slot_index,
                &skipped,
            );
            self.search_buckets(buffers, depth, part, &level, slot_index);
            skipped = skipped.or(&Words::single(slot.bit));
            // A row whose forced attribute was skipped needs no further slots: knowing that attribute costs
            // nothing.
            let undecided = |active: &&ActiveRow<P>| !self.rows[active.row as usize].forced.meets(&skipped);
            if !part.active.iter().any(|active| undecided(&active)) {
                break;
            }
        }
        buffers.levels[depth] = level;
    }

    fn search_buckets(
        &self,
        buffers: &mut Buffers<P>,
        depth: usize,
        part: &Part<P>,
        level: &Level<P>,
        slot_index: usize,
    ) {
        let bit = Words::single(self.slots[slot_index].bit);
        let part_of = |bucket: &Bucket<P>| {
            let active = bucket.active_start as usize..(bucket.active_start + bucket.active) as usize;
            let witnesses =
                bucket.witnesses_start as usize..(bucket.witnesses_start + bucket.witnesses) as usize;
            (active, witnesses, bucket.likelihood, bucket.shared)
        };
        let search_bucket = |buffers: &mut Buffers<P>, bucket: &Bucket<P>| {
            let (active, witnesses, likelihood, inferred) = part_of(bucket);
            let below = Part {
                known: part.known.or(&bit),
                likelihood,
                inferred,
                from: slot_index + 1,
                active: &level.active[active],
                witnesses: &level.witnesses[witnesses],
            };
            self.search_part(buffers, depth + 1, &below);
        };
        let rows: u32 = level
            .buckets
            .iter()
            .map(|bucket| bucket.active + bucket.witnesses)
            .sum();
        let buckets = level.buckets.iter().filter(|bucket| bucket.active > 0);
        if rows as usize > PARALLEL_ABOVE && rayon::current_num_threads() > 1 {
            // Different buckets contain different rows, so no two threads work on the same row.
            let buckets: Vec<&Bucket<P>> = buckets.collect();
            buckets.into_par_iter().with_max_len(1).for_each(|bucket| {
                if !self.stop.is_requested() {
                    self.buffers
                        .lend(Buffers::default, |buffers| search_bucket(buffers, bucket));
                }
            });
        } else {
            buckets.for_each(|bucket| search_bucket(buffers, bucket));
        }
    }

    /// Puts the part's rows into buckets by their attribute in a slot, weighs the inference from each bucket,
    /// and keeps the rows about which a worse inference may be found from more known attributes.
    fn fill(
        &self,
        level: &mut Level<P>,
        bucket_of_slot_code: &mut Vec<u32>,
        part: &Part<P>,
        slot_index: usize,
        skipped: &[u64; P],
    ) {
        let slot = &self.slots[slot_index];
        if bucket_of_slot_code.len() < slot.likelihood.len() {
            bucket_of_slot_code.resize(slot.likelihood.len(), 0);
        }
        let Level {
            active,
            witnesses,
            bucket_of_active,
            buckets,
        } = level;
        bucket_of_active.clear();
        buckets.clear();
        for row in part.active {
            let slot_code = slot.slot_code(&row.bits);
            let likelihood = part.likelihood * slot.likelihood[slot_code];
            if likelihood == 0.0 {
                bucket_of_active.push((NO_BUCKET, false));
                continue;
            }
            let bucket_number = &mut bucket_of_slot_code[slot_code];
            if *bucket_number == 0 {
                buckets.push(Bucket::new(slot_code, row.bits, likelihood));
                *bucket_number = buckets.len() as u32;
            }
            let bucket = &mut buckets[*bucket_number as usize - 1];
            bucket.differing = bucket.differing.or(&row.bits.xor(&bucket.first));
            let forced = &self.rows[row.row as usize].forced;
            let worthwhile = !forced.meets(skipped) && {
                let bound = likelihood
                    * self
                        .input
                        .danger_function
                        .of_sum(self.danger_left(row, slot, slot_code));
                bound > self.worst_so_far.weight(row.row as usize) * NEARLY_EQUAL
                    && (row.costly_known < self.max_known
                        || forced.has(slot.bit)
                        || self.record_left_out(row, bound))
            };
            if worthwhile {
                bucket.candidates += 1;
            } else {
                bucket.others += 1;
            }
            bucket_of_active.push((*bucket_number - 1, worthwhile));
        }
        if buckets.iter().any(|bucket| bucket.candidates > 0) {
            for row in part.witnesses {
                let bucket_number = bucket_of_slot_code[slot.slot_code(row)];
                if bucket_number > 0 {
                    let bucket = &mut buckets[bucket_number as usize - 1];
                    bucket.others += 1;
                    bucket.differing = bucket.differing.or(&row.xor(&bucket.first));
                }
            }
            self.weigh(part, slot, buckets);
            self.keep_active(active, bucket_of_active, buckets, part, slot_index);
            keep_witnesses(
                witnesses,
                bucket_of_active,
                buckets,
                bucket_of_slot_code,
                part,
                slot,
            );
        }
        buckets
            .iter()
            .for_each(|bucket| bucket_of_slot_code[bucket.slot_code as usize] = 0);
    }

    /// Returns the danger that can still be inferred about a row once its attribute in a slot is known.
    #[inline(always)]
    fn danger_left(&self, row: &ActiveRow<P>, slot: &Slot, slot_code: usize) -> f64 {
        if self.input.blocked[row.row as usize].has(slot.bit) {
            row.danger
        } else {
            row.danger - slot.danger[slot_code]
        }
    }

    /// Records a bound on an inference about a row that is not searched. Always returns `false`, so that it
    /// can end a condition for searching it.
    fn record_left_out(&self, row: &ActiveRow<P>, bound: f64) -> bool {
        let left_out = &self.left_out[row.row as usize];
        let before = f64::from_bits(left_out.load(Relaxed));
        left_out.store(bound.max(before).to_bits(), Relaxed);
        false
    }

    /// Weighs the inference from each bucket and assigns room for its rows.
    fn weigh(&self, part: &Part<P>, slot: &Slot, buckets: &mut [Bucket<P>]) {
        let known = part.known.or(&Words::single(slot.bit));
        let (mut active_start, mut witnesses_start) = (0, 0);
        for bucket in buckets.iter_mut().filter(|bucket| bucket.candidates > 0) {
            let occupied = self.input.fields.occupied(&bucket.first);
            bucket.shared = occupied.without(&self.input.fields.occupied(&bucket.differing));
            let inferred = bucket.shared.without(&known);
            let danger = self.input.danger_of(&bucket.first, &inferred);
            bucket.weight = bucket.likelihood * self.input.danger_function.of_sum(danger);
            bucket.active_start = active_start;
            bucket.witnesses_start = witnesses_start;
            active_start += bucket.candidates;
            witnesses_start += bucket.candidates + bucket.others;
        }
    }

    /// Improves the scores of the candidates in each bucket and stores those that stay active.
    fn keep_active(
        &self,
        kept: &mut Vec<ActiveRow<P>>,
        bucket_of_active: &mut [(u32, bool)],
        buckets: &mut [Bucket<P>],
        part: &Part<P>,
        slot_index: usize,
    ) {
        let slot = &self.slots[slot_index];
        let known = part.known.or(&Words::single(slot.bit));
        let nothing = ActiveRow {
            bits: [0; P],
            danger: 0.0,
            costly_known: 0,
            row: 0,
        };
        let candidates = buckets.iter().map(|bucket| bucket.candidates as usize).sum();
        kept.resize(kept.len().max(candidates), nothing);
        for (row, assigned) in part
            .active
            .iter()
            .zip(bucket_of_active.iter_mut())
            .filter(|(_, assigned)| assigned.1)
        {
            let bucket = &mut buckets[assigned.0 as usize];
            let prospect = &self.rows[row.row as usize];
            let row_number = row.row as usize;
            self.worst_so_far.improve(row_number, bucket.weight, &known);
            let danger = self.danger_left(row, slot, bucket.slot_code as usize);
            let more_forced = prospect.forced.meets(&self.slots_from[slot_index + 1]);
            let lost = if more_forced { 0.0 } else { prospect.least_danger };
            let bound = bucket.likelihood
                * self.likeliest_from[slot_index + 1]
                * self.input.danger_function.of_sum((danger - lost).max(0.0));
            let all_inferred = self.input.fields.occupied(&row.bits) == bucket.shared;
            let costly_known = row.costly_known + u32::from(!prospect.forced.has(slot.bit));
            assigned.1 = !all_inferred
                && bound > self.worst_so_far.weight(row_number) * NEARLY_EQUAL
                && (costly_known < self.max_known || more_forced || self.record_left_out(row, bound));
            if assigned.1 {
                kept[(bucket.active_start + bucket.active) as usize] = ActiveRow {
                    bits: row.bits,
                    danger,
                    costly_known,
                    row: row.row,
                };
                bucket.active += 1;
            }
        }
    }

    /// Finds the worst inference about one row of a part. The part contains all rows that matter, so all
    /// masks are computed beforehand.
    fn search_row(&self, workspace: &mut Workspace<P>, part: &Part<P>, row: &ActiveRow<P>) {
        let input = self.input;
        let row_number = row.row as usize;
        let AttributeKinds { all, certain, .. } = workspace.load_weights(input.table.weights(&row.bits));
        let undecided = self.slots_from[part.from].and(&all);
        let forced = self.rows[row_number].forced.and(&undecided);
        let masks = workspace.masks();
        masks.clear();
        let others = part
            .active
            .iter()
            .map(|active| &active.bits)
            .chain(part.witnesses);
        masks.extend(
            others
                .map(|other| input.fields.missing(&row.bits, &all, other))
                .filter(|mask| !mask.is_none() && !mask.meets(&forced)),
        );
        if masks.len() > FEW_ROWS {
            masks.sort_unstable();
            masks.dedup();
        }
        let mut search = RowSearch {
            workspace,
            mask_source: NoMoreMasks,
            danger_function: input.danger_function,
            limits: &input.limits,
            all,
            certain,
            weight: self.worst_so_far.weight(row_number),
            known: None,
            sets_left: if self.max_known < u32::MAX {
                FEW_SETS
            } else {
                u64::MAX
            },
            bound_on_rest: 0.0,
            stopped_early: false,
        };
        search.run(
            part.known.or(&forced),
            part.likelihood,
            undecided.without(&forced),
        );
        let (weight, known, stopped_early, left_out) = (
            search.weight,
            search.known,
            search.stopped_early,
            search.bound_on_rest,
        );
        if stopped_early {
            // If the search ended for lack of time, this makes the other parts stop too.
            self.stop.is_requested();
            self.record_left_out(row, left_out);
        }
        if let Some(known) = known {
            self.worst_so_far.improve(row_number, weight, &known);
        }
    }
}

impl<const P: usize> Bucket<P> {
    fn new(slot_code: usize, first: [u64; P], likelihood: f64) -> Self {
        Bucket {
            slot_code: slot_code as u32,
            first,
            differing: [0; P],
            candidates: 0,
            others: 0,
            active: 0,
            active_start: 0,
            witnesses: 0,
            witnesses_start: 0,
            likelihood,
            shared: [0; P],
            weight: 0.0,
        }
    }
}

/// Stores the witnesses of each bucket that has active rows: all its rows that are not active.
fn keep_witnesses<const P: usize>(
    kept: &mut Vec<[u64; P]>,
    bucket_of_active: &[(u32, bool)],
    buckets: &mut [Bucket<P>],
    bucket_of_slot_code: &[u32],
    part: &Part<P>,
    slot: &Slot,
) {
    let rows: u32 = buckets
        .iter()
        .map(|bucket| bucket.candidates + bucket.others)
        .sum();
    kept.resize(kept.len().max(rows as usize), [0; P]);
    let mut keep = |bucket: &mut Bucket<P>, bits: &[u64; P]| {
        if bucket.active > 0 {
            kept[(bucket.witnesses_start + bucket.witnesses) as usize] = *bits;
            bucket.witnesses += 1;
        }
    };
    for (row, &(bucket_index, active)) in part.active.iter().zip(bucket_of_active) {
        if bucket_index != NO_BUCKET && !active {
            keep(&mut buckets[bucket_index as usize], &row.bits);
        }
    }
    for row in part.witnesses {
        let bucket_number = bucket_of_slot_code[slot.slot_code(row)];
        if bucket_number > 0 {
            keep(&mut buckets[bucket_number as usize - 1], row);
        }
    }
}
