//! The inferences K ⇒ I with the largest weights in a table. They show what a table gives away, not about
//! whom.
//!
//! Sets K are searched by a bound on their weight, the largest bound first. No inference from K or more than
//! K is more dangerous than all unknown attributes of a row with K together. So the search ends as soon as
//! there are as many inferences as requested and no bound is above the smallest of their weights.

use super::bitset::Words;
use super::explain::{CountedAttribute, inference_from_counts, restrict_to_joint};
use super::joint::{JointInference, worst_set};
use super::packed_table::{PackedTable, Slot, with_width};
use super::postings::{Postings, TableMasks};
use super::score::{NEARLY_EQUAL, SearchInput, Settings};
use super::search::MaskSource;
use super::{Attribute, Inference};
use crate::{Control, Error, Result};
use rustc_hash::FxHashSet;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, BinaryHeap};

/// Limits on the inferences to find.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InferenceListSettings {
    /// Smallest weight of an inference, between 0 and 1.
    pub min_weight: f64,
    /// Largest number of inferences to return.
    pub max_rows: usize,
}

impl Default for InferenceListSettings {
    fn default() -> Self {
        InferenceListSettings {
            min_weight: 0.0,
            max_rows: 1000,
        }
    }
}

impl InferenceListSettings {
    /// Checks that the settings are allowed.
    pub fn check(&self) -> Result<()> {
        if !(0.0..=1.0).contains(&self.min_weight) {
            return Err(Error::invalid(
                "min_weight",
                "must be a number from 0 to 1",
                "the smallest weight of an inference to list, from 0 to 1",
            ));
        }
        Ok(())
    }
}

/// Inferences of a table, those with the largest weight first.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Inferences {
    /// Inferences in descending order of weight. Of inferences whose weights are equal up to a relative error
    /// of 1e-12, those with fewer known attributes come first.
    pub inferences: Vec<Inference>,
    /// Whether these are the inferences with the largest weights. If not, the budget ran out: these are
    /// inferences, but there may be others with larger weights.
    pub complete: bool,
}

/// Returns the inferences K ⇒ I with the largest weights lk(K) · dg(I) (White, Definition 3.2).
///
/// K is every set of attributes that some row has and that is *free*: without any one of them, more rows have
/// the rest. A set that is not free is no more likely and infers no more than the free part of it (White,
/// Lemma 4.11). I consists of all harmful attributes that at least a share `min_confidence` of the rows with
/// K have. With joint confidence, it is the set of attributes with the largest weight of all that at least that share
/// has together. Inferences of weight 0 are left out.
pub fn inferences(
    table: &PackedTable,
    settings: &Settings,
    wanted: &InferenceListSettings,
    control: &Control,
) -> Result<Inferences> {
    settings.check()?;
    wanted.check()?;
    if table.is_empty() || wanted.max_rows == 0 {
        return Ok(Inferences {
            inferences: Vec::new(),
            complete: true,
        });
    }
    with_width!(table.width, find_inferences(table, settings, wanted, control))
}

fn find_inferences<const P: usize>(
    table: &PackedTable,
    settings: &Settings,
    wanted: &InferenceListSettings,
    control: &Control,
) -> Result<Inferences> {
    let input = SearchInput::<P>::new(table, settings, control);
    let postings = Postings::new(&input);
    let mut top = TopSets {
        input: &input,
        wanted,
        kept: BTreeSet::new(),
    };
    let complete = search(&input, &postings, &mut top);
    let mut counter = SlotCodeCounter::of(table);
    let mut inferences = Vec::with_capacity(top.kept.len());
    for ranked in top.kept {
        control.check()?;
        inferences.push(ranked.set.inference(&input, &postings, &mut counter));
    }
    control.check()?;
    Ok(Inferences { inferences, complete })
}

/// Inferences with the largest weights so far.
struct TopSets<'a, const P: usize> {
    input: &'a SearchInput<'a, P>,
    wanted: &'a InferenceListSettings,
    kept: BTreeSet<RankedSet<P>>,
}

/// Known set of an inference, in the order in which inferences are reported.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RankedSet<const P: usize> {
    weight_key: Reverse<u64>,
    size: usize,
    known: Vec<Attribute>,
    set: KnownSet<P>,
}

impl<const P: usize> FreeSetSink<P> for TopSets<'_, P> {
    fn wants(&self, weight: f64, size: usize) -> bool {
        // Twice, because a bound may be slightly below the weight that it bounds.
        let enough = weight * NEARLY_EQUAL * NEARLY_EQUAL >= self.wanted.min_weight;
        let last = self
            .kept
            .last()
            .filter(|_| self.kept.len() >= self.wanted.max_rows);
        enough && last.is_none_or(|last| may_precede(weight, size, last.weight_key.0, last.size))
    }

    fn take(&mut self, set: KnownSet<P>, weight: f64) {
        if weight * NEARLY_EQUAL < self.wanted.min_weight {
            return;
        }
        let known = set.attributes(self.input);
        self.kept.insert(RankedSet {
            weight_key: Reverse(weight_key(weight)),
            size: known.len(),
            known,
            set,
        });
        if self.kept.len() > self.wanted.max_rows {
            self.kept.pop_last();
        }
    }
}

/// Returns a number that orders weights but is equal for weights that differ by rounding only, by about 1e-12
/// of their value (unless they are on different sides of a rounding boundary). Otherwise, sums and products
/// of the same numbers in another order would be sorted by chance.
pub(super) fn weight_key(weight: f64) -> u64 {
    const DROPPED_BITS: u32 = 12;
    (weight.to_bits() + (1 << (DROPPED_BITS - 1))) >> DROPPED_BITS
}

/// Returns whether something of about this weight and size may come before something with the key `last_key`
/// and size `last_size`. The order is by weight, then by size.
pub(super) fn may_precede(weight: f64, size: usize, last_key: u64, last_size: usize) -> bool {
    let key = weight_key(weight);
    key > last_key || (key + 1 >= last_key && size <= last_size)
}

/// Set of attributes: those of a row in some slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KnownSet<const P: usize> {
    pub slots: [u64; P],
    pub row: u32,
}

impl<const P: usize> KnownSet<P> {
    /// Returns the attributes in ascending order.
    pub fn attributes(&self, input: &SearchInput<P>) -> Vec<Attribute> {
        let row = &input.rows[self.row as usize];
        let slots = &input.table.slots;
        let known = slots.iter().filter(|slot| self.slots.has(slot.bit));
        let mut attributes: Vec<Attribute> = known
            .map(|slot| input.table.attribute(slot, slot.slot_code(row)))
            .collect();
        attributes.sort_unstable();
        attributes
    }

    /// Returns whether the set is free: without any one of its attributes, more rows have the rest.
    fn is_free(&self, input: &SearchInput<P>, postings: &Postings) -> bool {
        let mut source = TableMasks::new(input, postings, self.row as usize);
        let mut free = true;
        self.slots.for_each(|bit| {
            if free {
                source.begin(&self.slots.without(&Words::single(bit)));
                free = !source.scan(|_, mask| !mask.has(bit));
            }
        });
        free
    }

    /// Returns all distinct rows that have the set, in ascending order.
    pub fn rows(&self, input: &SearchInput<P>, postings: &Postings) -> Vec<u32> {
        let mut source = TableMasks::new(input, postings, self.row as usize);
        source.begin(&self.slots);
        let mut rows = Vec::new();
        source.scan(|other, _| {
            rows.push(other as u32);
            true
        });
        rows
    }

    /// Returns the inference from the set, to attributes of any rows that have it.
    pub fn inference(
        &self,
        input: &SearchInput<P>,
        postings: &Postings,
        counter: &mut SlotCodeCounter,
    ) -> Inference {
        let rows = self.rows(input, postings);
        let support = rows
            .iter()
            .map(|&row| input.table.multiplicity[row as usize])
            .sum();
        let others = counter.count(input, &rows);
        let mut inference = inference_from_counts(
            input,
            self.row as usize,
            &self.slots,
            support,
            others.iter().copied(),
        );
        if input.joint_confidence {
            let is_cancelled = || input.limits.control.check().is_err();
            // If it was cancelled, the inference will not be used.
            if let Some((row, joint)) = joint_inference(input, &self.slots, &rows, &others, is_cancelled) {
                restrict_to_joint(input, &mut inference, &row, &joint);
            }
        }
        inference
    }
}

/// Returns the set of attributes of any of these rows with the largest confidence times danger, and a packed row that
/// has them. `known` is known of all these rows, in which `others` were counted. Returns `None` if `should_stop` says
/// so.
fn joint_inference<const P: usize>(
    input: &SearchInput<P>,
    known: &[u64; P],
    rows: &[u32],
    others: &[CountedAttribute],
    should_stop: impl Fn() -> bool,
) -> Option<([u64; P], JointInference<P>)> {
    let inferred = others.iter().filter(|other| other.is_inferred(input, known));
    let mut slots = [0; P];
    let mut likely: FxHashSet<(usize, usize)> = FxHashSet::default();
    for other in inferred {
        slots = slots.or(&Words::single(other.slot.bit));
        likely.insert((other.slot.bit, other.slot_code));
    }
    let slots: Vec<&Slot> = input
        .table
        .slots
        .iter()
        .filter(|slot| slots.has(slot.bit))
        .collect();
    let mut tried: FxHashSet<[u64; P]> = FxHashSet::default();
    let mut worst = ([0; P], JointInference::NOTHING);
    for (done, &row) in rows.iter().enumerate() {
        if done % ROWS_PER_LOOK == ROWS_PER_LOOK - 1 && should_stop() {
            return None;
        }
        let bits = &input.rows[row as usize];
        let is_likely = |slot: &&&Slot| likely.contains(&(slot.bit, slot.slot_code(bits)));
        let among = slots
            .iter()
            .filter(is_likely)
            .fold([0; P], |slots: [u64; P], slot| slots.or(&Words::single(slot.bit)));
        let attributes = input.table.restricted_to(bits, &among);
        if tried.insert(attributes) {
            let rows = rows.iter().copied();
            let joint = worst_set(input, &attributes, &among, rows, worst.1, &should_stop)?;
            if joint.value > worst.1.value {
                worst = (attributes, joint);
            }
        }
    }
    Some(worst)
}

/// Number of rows that are looked at between two checks of the limits.
const ROWS_PER_LOOK: usize = 4_096;

/// Counter of the rows that have each attribute.
pub(super) struct SlotCodeCounter {
    rows_of_slot_code: Vec<u64>,
}

impl SlotCodeCounter {
    pub fn of(table: &PackedTable) -> Self {
        SlotCodeCounter {
            rows_of_slot_code: vec![0; max_slot_codes(table)],
        }
    }

    /// Returns the slot codes that occur in these rows, including 0, with the numbers of rows. They are ordered by
    /// slot, and then by the first row that has them.
    fn count<'a, const P: usize>(
        &mut self,
        input: &SearchInput<'a, P>,
        rows: &[u32],
    ) -> Vec<CountedAttribute<'a>> {
        let mut counted: Vec<CountedAttribute> = Vec::new();
        for slot in &input.table.slots {
            let first = counted.len();
            let mut telling = 0;
            for &row in rows {
                let bits = &input.rows[row as usize];
                let multiplicity = input.table.multiplicity[row as usize];
                let slot_code = slot.slot_code(bits);
                if self.rows_of_slot_code[slot_code] == 0 {
                    counted.push(CountedAttribute {
                        slot,
                        slot_code,
                        having: 0,
                        telling: 0,
                    });
                }
                self.rows_of_slot_code[slot_code] += multiplicity;
                telling += if slot.is_unknown(bits) { 0 } else { multiplicity };
            }
            for counted in &mut counted[first..] {
                counted.having = std::mem::take(&mut self.rows_of_slot_code[counted.slot_code]);
                counted.telling = telling;
            }
        }
        counted
    }
}

/// Returns the largest number of slot codes of a slot, including 0.
fn max_slot_codes(table: &PackedTable) -> usize {
    let codes = table.slots.iter().map(|slot| slot.danger.len());
    codes.max().unwrap_or_default()
}

/// Consumer of free sets with large weights.
pub(super) trait FreeSetSink<const P: usize> {
    /// Returns whether a set of this many attributes is of use if its weight is at most `weight`. Once false,
    /// it is never true again.
    fn wants(&self, weight: f64, size: usize) -> bool;
    /// Takes a free set of this weight.
    fn take(&mut self, set: KnownSet<P>, weight: f64);
    /// Is called when all sets with a larger weight have been taken.
    fn all_above_taken(&mut self, _weight: f64) {}
}

/// Largest number of rows in all waiting parts together. Beyond it, parts are searched immediately, which
/// needs no room but is a worse order.
const MAX_WAITING_ROWS: usize = 50_000_000;

/// Number of rows above which a single slot may take milliseconds.
const CHECK_LIMITS_ABOVE: usize = 10_000;

/// Passes to the sink all free sets with a positive weight that it wants. Returns whether the search was
/// finished in time.
pub(super) fn search<const P: usize>(
    input: &SearchInput<P>,
    postings: &Postings,
    sink: &mut impl FreeSetSink<P>,
) -> bool {
    let searchable = input.table.searchable;
    let mut remaining = vec![RemainingBounds::NOTHING; searchable + 1];
    for (slot_index, slot) in input.table.slots[..searchable].iter().enumerate().rev() {
        remaining[slot_index] = remaining[slot_index + 1].including(slot);
    }
    let rows = input.rows.iter();
    let mut search = FreeSets {
        input,
        postings,
        remaining,
        danger_of_row: rows.map(|row| possible_danger(input, row, &[0; P])).collect(),
        sink,
        waiting: BinaryHeap::new(),
        rows_waiting: 0,
        groups: Groups::of(input.table),
        cut_short: false,
        counter: SlotCodeCounter::of(input.table),
    };
    let all: Vec<u32> = (0..input.rows.len() as u32).collect();
    let nothing = KnownAttributes {
        slots: [0; P],
        size: 0,
        likelihood: 1.0,
        danger: 0.0,
        from: 0,
    };
    let mut part = search.examine(nothing, &all);
    while let Some(next) = part {
        search.sink.all_above_taken(next.bound);
        if !search.extend(next) || search.cut_short {
            return false;
        }
        part = search.waiting.pop();
        search.rows_waiting -= part.as_ref().map_or(0, |part| part.rows.len());
    }
    search.sink.all_above_taken(0.0);
    !search.cut_short
}

/// Returns the sum of the dangers of a row's attributes outside of the slots `known`. For what is unknown, it takes the
/// most dangerous attribute. So the average over some rows is at least the sum of the average dangers of all slots,
/// each of which is taken over the rows in which the slot is not unknown.
fn possible_danger<const P: usize>(input: &SearchInput<P>, row: &[u64; P], known: &[u64; P]) -> f64 {
    let unknown = input.table.slots.iter().filter(|slot| slot.is_unknown(row));
    let of_unknown = unknown.map(|slot| slot.danger.iter().copied().fold(0.0, f64::max));
    let occupied = input.fields.occupied(row).without(known);
    of_unknown.fold(input.danger_of(row, &occupied), |sum, danger| sum + danger)
}

/// Search for free sets, the largest bound first.
struct FreeSets<'a, const P: usize, S> {
    input: &'a SearchInput<'a, P>,
    postings: &'a Postings,
    /// Per slot, bounds on the attributes that can become known in it or in later slots.
    remaining: Vec<RemainingBounds>,
    danger_of_row: Vec<f64>,
    sink: &'a mut S,
    waiting: BinaryHeap<Part<P>>,
    rows_waiting: usize,
    groups: Groups,
    counter: SlotCodeCounter,
    /// Whether the limits were reached while a set was weighed.
    cut_short: bool,
}

/// Bounds on the attributes that can be known in some slots.
#[derive(Clone, Copy)]
struct RemainingBounds {
    likeliest: f64,
    least_danger: f64,
}

impl RemainingBounds {
    const NOTHING: Self = RemainingBounds {
        likeliest: 0.0,
        least_danger: f64::INFINITY,
    };

    fn including(self, slot: &Slot) -> Self {
        let weights = slot.likelihood.iter().zip(&slot.danger);
        let searchable = weights.filter(|&(&likelihood, _)| likelihood > 0.0);
        searchable.fold(self, |remaining, (&likelihood, &danger)| RemainingBounds {
            likeliest: remaining.likeliest.max(likelihood),
            least_danger: remaining.least_danger.min(danger),
        })
    }
}

/// Attributes that the rows of a part share and that the adversary is assumed to know.
#[derive(Clone, Copy)]
struct KnownAttributes<const P: usize> {
    slots: [u64; P],
    size: usize,
    likelihood: f64,
    /// Sum of the dangers of these attributes.
    danger: f64,
    /// First slot that may become known too.
    from: usize,
}

/// All rows that share the known attributes.
struct Part<const P: usize> {
    known: KnownAttributes<P>,
    rows: Vec<u32>,
    /// Upper bound on the weight of every set that contains the known attributes and more.
    bound: f64,
}

impl<const P: usize> Ord for Part<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_bound = self.bound.total_cmp(&other.bound);
        by_bound.then(other.known.size.cmp(&self.known.size))
    }
}

impl<const P: usize> PartialOrd for Part<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const P: usize> PartialEq for Part<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<const P: usize> Eq for Part<P> {}

impl<const P: usize, S: FreeSetSink<P>> FreeSets<'_, P, S> {
    /// Searches all sets with one more known attribute. Returns whether the search was finished in time.
    fn extend(&mut self, part: Part<P>) -> bool {
        if !self.sink.wants(part.bound, part.known.size + 1) {
            return true;
        }
        let input = self.input;
        if input.limits.reached() {
            return false;
        }
        // A set is not free if it contains a set that is not free.
        if part.known.size > 1 && !part.known.set(&part.rows).is_free(input, self.postings) {
            return true;
        }
        let searchable = &input.table.slots[..input.table.searchable];
        for (slot_index, slot) in searchable.iter().enumerate().skip(part.known.from) {
            if part.rows.len() > CHECK_LIMITS_ABOVE && input.limits.reached() {
                return false;
            }
            let mut smaller = Vec::new();
            let mut groups = std::mem::take(&mut self.groups);
            groups.split(input, slot, &part.rows);
            for (slot_code, rows) in groups.iter() {
                let likelihood = part.known.likelihood * slot.likelihood[slot_code];
                if likelihood > 0.0 && rows.len() < part.rows.len() {
                    let known = KnownAttributes {
                        slots: part.known.slots.or(&Words::single(slot.bit)),
                        size: part.known.size + 1,
                        likelihood,
                        danger: part.known.danger + slot.danger[slot_code],
                        from: slot_index + 1,
                    };
                    smaller.extend(self.examine(known, rows));
                }
            }
            self.groups = groups;
            for part in smaller {
                if self.rows_waiting + part.rows.len() <= MAX_WAITING_ROWS {
                    self.rows_waiting += part.rows.len();
                    self.waiting.push(part);
                } else if !self.extend(part) {
                    return false;
                }
            }
        }
        true
    }

    /// Passes the set of known attributes to the sink if it wants it. `rows` are all rows that have the
    /// set. Returns the part if a set with more known attributes may be wanted.
    fn examine(&mut self, known: KnownAttributes<P>, rows: &[u32]) -> Option<Part<P>> {
        // Differences of sums may be wrong in the last digits.
        const ROUNDING: f64 = 1e-13;
        let input = self.input;
        let (mut worst, mut sum, mut support) = (rows[0], 0.0, 0);
        for &row in rows {
            let danger = self.danger_of_row[row as usize];
            let multiplicity = input.table.multiplicity[row as usize];
            if danger > self.danger_of_row[worst as usize] {
                worst = row;
            }
            sum += danger * multiplicity as f64;
            support += multiplicity;
        }
        let largest = self.danger_of_row[worst as usize];
        let bound = |danger: f64| {
            let unknown = (danger - known.danger).max(0.0) + ROUNDING * largest;
            known.likelihood * input.danger_function.of_sum(unknown)
        };
        if !self.sink.wants(bound(largest), known.size) {
            return None;
        }
        // An inferred danger counts times the share of rows that have it, so all of them together are at most
        // the average danger of a row.
        if self.sink.wants(bound(sum / support as f64), known.size) {
            let weight = known.likelihood * self.inferred_danger(&known, rows);
            let set = known.set(rows);
            if weight > 0.0
                && self.sink.wants(weight, known.size)
                && (known.size < 2 || set.is_free(input, self.postings))
            {
                self.sink.take(set, weight);
            }
        }
        // If only one row has the set, all its attributes are inferred, so more need not be known.
        let remaining = self.remaining[known.from];
        if rows.len() == 1 || remaining.likeliest == 0.0 {
            return None;
        }
        let unknown = possible_danger(input, &input.rows[worst as usize], &known.slots);
        let left = (unknown - remaining.least_danger).max(0.0);
        let bound = known.likelihood * remaining.likeliest * input.danger_function.of_sum(left);
        let deeper = bound > 0.0 && self.sink.wants(bound, known.size + 1);
        deeper.then(|| Part {
            known,
            rows: rows.to_vec(),
            bound,
        })
    }

    /// Returns the danger of what is inferred, times the confidence.
    fn inferred_danger(&mut self, known: &KnownAttributes<P>, rows: &[u32]) -> f64 {
        let input = self.input;
        if input.is_certain() {
            let first = &input.rows[rows[0] as usize];
            let differing = rows.iter().fold([0; P], |bits: [u64; P], &row| {
                bits.or(&input.rows[row as usize].xor(first))
            });
            let shared = input
                .fields
                .occupied(first)
                .without(&input.fields.occupied(&differing));
            let danger = input.danger_of(first, &shared.without(&known.slots));
            return input.danger_function.of_sum(danger);
        }
        let others = self.counter.count(input, rows);
        let inferred = others
            .iter()
            .filter(|other| other.is_inferred(input, &known.slots));
        let danger = input
            .danger_function
            .of_sum(inferred.map(CountedAttribute::danger).sum());
        // Joint confidence is never more dangerous.
        if !input.joint_confidence || !self.sink.wants(known.likelihood * danger, known.size) {
            return danger;
        }
        let should_stop = || input.limits.reached();
        match joint_inference(input, &known.slots, rows, &others, should_stop) {
            Some((_, joint)) => joint.value,
            None => {
                self.cut_short = true;
                0.0
            }
        }
    }
}

impl<const P: usize> KnownAttributes<P> {
    fn set(&self, rows: &[u32]) -> KnownSet<P> {
        KnownSet {
            slots: self.slots,
            row: rows[0],
        }
    }
}

/// Rows grouped by their attribute in a slot.
#[derive(Default)]
struct Groups {
    /// Per slot code, the position of its next row. All 0 except while rows are split.
    next_position: Vec<u32>,
    /// Codes that occur, and the ends of their groups in `rows`.
    ends: Vec<(usize, usize)>,
    rows: Vec<u32>,
}

impl Groups {
    fn of(table: &PackedTable) -> Self {
        Groups {
            next_position: vec![0; max_slot_codes(table)],
            ..Self::default()
        }
    }

    /// Splits rows into groups by counting sort. Rows keep their order within a group.
    fn split<const P: usize>(&mut self, input: &SearchInput<P>, slot: &Slot, rows: &[u32]) {
        self.ends.clear();
        self.rows.resize(rows.len(), 0);
        for &row in rows {
            let slot_code = slot.slot_code(&input.rows[row as usize]);
            if self.next_position[slot_code] == 0 {
                self.ends.push((slot_code, 0));
            }
            self.next_position[slot_code] += 1;
        }
        let mut start = 0;
        for (slot_code, end) in &mut self.ends {
            *end = start + self.next_position[*slot_code] as usize;
            self.next_position[*slot_code] = start as u32;
            start = *end;
        }
        for &row in rows {
            let slot_code = slot.slot_code(&input.rows[row as usize]);
            self.rows[self.next_position[slot_code] as usize] = row;
            self.next_position[slot_code] += 1;
        }
        for &(slot_code, _) in &self.ends {
            self.next_position[slot_code] = 0;
        }
    }

    /// Returns the slot code and the rows of each group.
    fn iter(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let mut start = 0;
        self.ends.iter().map(move |&(slot_code, end)| {
            let rows = &self.rows[start..end];
            start = end;
            (slot_code, rows)
        })
    }
}
