//! The inferences K ⇒ I with the largest weights in a table, or those [about most people](super::by_people). They show
//! what a table gives away, and about how many people.
//!
//! Sets K are searched by a bound on their weight, the largest bound first. No inference from K or more than
//! K is more dangerous than all unknown attributes of a row with K together. So the search ends as soon as
//! there are as many inferences as requested and no bound is above the smallest of their weights.

use super::bitset::Words;
use super::by_people::inferences_by_people;
use super::explain::{CountedAttribute, inference_from_counts, restrict_to_joint};
use super::joint::{JointInference, worst_set};
use super::packed_table::{PackedTable, Slot, with_width};
use super::people::{People, PeopleCounter};
use super::postings::{Postings, TableMasks};
use super::score::{NEARLY_EQUAL, SearchInput, Settings};
use super::search::MaskSource;
use super::waiting::{Part, Waiting};
use super::{Attribute, Inference};
use crate::{Control, Error, Result};
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Which inferences to list, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InferenceOrder {
    /// Everything that can be inferred from each known set, the largest weight first.
    #[default]
    Weight,
    /// What can be inferred from each known set but from no part of it, the largest number of people first.
    People,
}

/// Inferences to find.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InferenceListSettings {
    /// Which inferences to list, and in which order.
    pub order: InferenceOrder,
    /// Smallest weight of an inference, between 0 and 1.
    pub min_weight: f64,
    /// Largest number of inferences to return.
    pub max_rows: usize,
}

impl Default for InferenceListSettings {
    fn default() -> Self {
        InferenceListSettings {
            order: InferenceOrder::default(),
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

/// Inferences of a table, in the order that was asked for.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Inferences {
    /// Inferences in descending order of weight, or of people and then of weight. Of inferences whose weights are equal
    /// up to a relative error of 1e-12, those with fewer known attributes come first.
    pub inferences: Vec<Inference>,
    /// For each inference, the number of people, or rows, whom it is about: they have all known attributes and one of the
    /// inferred attributes or, with joint confidence, all of these.
    pub people: Vec<u64>,
    /// Whether these are the first inferences in this order. If not, the budget ran out: these are inferences, but
    /// there may be others that come before them.
    pub complete: bool,
}

/// Returns the inferences K ⇒ I with the largest weights lk(K) · dg(I) (White, Definition 3.2), or those about most
/// people without what follows from fewer known attributes. If `people` is `None`, each row is about somebody else.
///
/// K is every set of attributes that some row has and that is *free*: without any one of them, more rows have
/// the rest. A set that is not free is no more likely and infers no more than the free part of it (White,
/// Lemma 4.11). I consists of all harmful attributes that at least a share `min_confidence` of the rows with
/// K have. With joint confidence, it is the set of attributes with the largest weight of all that at least that share
/// has together. Inferences of weight 0 are left out.
///
/// In the order of people, I consists only of attributes that no part of K is enough for: less than that share of the
/// rows with the part have the attribute. And a column is not taken as known if another column says the same: if each of
/// its attributes has a harmless counterpart in the other, at least as likely to be known, which the same rows have.
pub fn inferences(
    table: &PackedTable,
    settings: &Settings,
    wanted: &InferenceListSettings,
    people: Option<&People>,
    control: &Control,
) -> Result<Inferences> {
    settings.check()?;
    wanted.check()?;
    if table.is_empty() || wanted.max_rows == 0 {
        return Ok(Inferences {
            inferences: Vec::new(),
            people: Vec::new(),
            complete: true,
        });
    }
    with_width!(
        table.width,
        find_inferences(table, settings, wanted, people, control)
    )
}

fn find_inferences<const P: usize>(
    table: &PackedTable,
    settings: &Settings,
    wanted: &InferenceListSettings,
    people: Option<&People>,
    control: &Control,
) -> Result<Inferences> {
    let input = SearchInput::<P>::new(table, settings, control);
    let postings = Postings::new(&input);
    let mut counter = PeopleCounter::new(table, people);
    let (found, complete) = match wanted.order {
        InferenceOrder::Weight => inferences_by_weight(&input, &postings, wanted, &mut counter)?,
        InferenceOrder::People => inferences_by_people(&input, &postings, wanted, counter),
    };
    control.check()?;
    let (inferences, people) = found.into_iter().unzip();
    Ok(Inferences {
        inferences,
        people,
        complete,
    })
}

/// Returns the inferences with the largest weights, each with the number of people whom it is about, and whether the
/// search was finished in time.
fn inferences_by_weight<const P: usize>(
    input: &SearchInput<P>,
    postings: &Postings,
    wanted: &InferenceListSettings,
    people: &mut PeopleCounter,
) -> Result<(Vec<(Inference, u64)>, bool)> {
    let mut top = TopSets {
        input,
        wanted,
        kept: BTreeSet::new(),
    };
    let complete = search(input, postings, &mut top);
    let mut counter = SlotCodeCounter::of(input.table);
    let mut found = Vec::with_capacity(top.kept.len());
    for RankedSet { set, .. } in top.kept {
        input.limits.control.check()?;
        let rows = set.rows(input, postings);
        let (inference, inferred) = set.inference_in(input, &rows, &mut counter)?;
        let is_right = |row: &u32| inferred.is_right(input, &input.rows[*row as usize]);
        found.push((inference, people.count(rows.into_iter().filter(is_right))));
    }
    Ok((found, complete))
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
    ) -> Result<Inference> {
        let rows = self.rows(input, postings);
        Ok(self.inference_in(input, &rows, counter)?.0)
    }

    /// Returns the inference from the set, to attributes of any of these rows, which are all that have it.
    fn inference_in<'a>(
        &self,
        input: &SearchInput<'a, P>,
        rows: &[u32],
        counter: &mut SlotCodeCounter,
    ) -> Result<(Inference, Inferred<'a, P>)> {
        let others = counter.count(input, rows);
        let is_cancelled = || input.limits.control.check().is_err();
        infer(input, self, rows, &others, is_cancelled).ok_or(Error::Cancelled)
    }
}

/// What is inferred from a set.
pub(super) enum Inferred<'a, const P: usize> {
    /// Attributes with a confidence each.
    Separately(Vec<CountedAttribute<'a>>),
    /// Attributes with one confidence together: those of a packed row in some slots.
    Together { attributes: [u64; P], slots: [u64; P] },
}

impl<const P: usize> Inferred<'_, P> {
    /// Returns whether something that is inferred is right about a row: any of the attributes, or all if they have one
    /// confidence together.
    pub fn is_right(&self, input: &SearchInput<P>, row: &[u64; P]) -> bool {
        match self {
            Inferred::Separately(inferred) => {
                let mut inferred = inferred.iter();
                inferred.any(|inferred| inferred.slot.slot_code(row) == inferred.slot_code)
            }
            Inferred::Together { attributes, slots } => input.table.restricted_to(row, slots) == *attributes,
        }
    }
}

/// Returns the inference from a set, to any of the attributes `others`, which were counted in all rows that have the set.
/// Returns `None` if `should_stop` says so.
pub(super) fn infer<'a, const P: usize>(
    input: &SearchInput<'a, P>,
    set: &KnownSet<P>,
    rows: &[u32],
    others: &[CountedAttribute<'a>],
    should_stop: impl Fn() -> bool,
) -> Option<(Inference, Inferred<'a, P>)> {
    let multiplicity = rows.iter().map(|&row| input.table.multiplicity[row as usize]);
    let support = multiplicity.sum();
    let row = set.row as usize;
    let mut inference = inference_from_counts(input, row, &set.slots, support, others.iter().copied());
    if !input.joint_confidence {
        let inferred = others.iter().filter(|other| other.is_inferred(input, &set.slots));
        return Some((inference, Inferred::Separately(inferred.copied().collect())));
    }
    let (row, joint) = joint_inference(input, &set.slots, rows, others, should_stop)?;
    restrict_to_joint(input, &mut inference, &row, &joint);
    let inferred = Inferred::Together {
        attributes: input.table.restricted_to(&row, &joint.inferred),
        slots: joint.inferred,
    };
    Some((inference, inferred))
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
        self.count_in(input, &input.table.slots, rows)
    }

    /// Returns the same for some of the slots.
    pub fn count_in<'a, const P: usize>(
        &mut self,
        input: &SearchInput<'a, P>,
        slots: impl IntoIterator<Item = &'a Slot>,
        rows: &[u32],
    ) -> Vec<CountedAttribute<'a>> {
        let mut counted: Vec<CountedAttribute> = Vec::new();
        for slot in slots {
            if rows.len() > CHECK_LIMITS_ABOVE && input.limits.control.check().is_err() {
                break; // cancelled, so it will not be used
            }
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

/// Number of rows above which a single slot may take milliseconds.
pub(super) const CHECK_LIMITS_ABOVE: usize = 10_000;

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
        waiting: Waiting::new(),
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
    }
    search.sink.all_above_taken(0.0);
    !search.cut_short
}

/// Returns the sum of the dangers of a row's attributes outside of the slots `known`. For what is unknown, it takes the
/// most dangerous attribute. So the average over some rows is at least the sum of the average dangers of all slots,
/// each of which is taken over the rows in which the slot is not unknown.
pub(super) fn possible_danger<const P: usize>(
    input: &SearchInput<P>,
    row: &[u64; P],
    known: &[u64; P],
) -> f64 {
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
    waiting: Waiting<KnownAttributes<P>>,
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

impl<const P: usize, S: FreeSetSink<P>> FreeSets<'_, P, S> {
    /// Searches all sets with one more known attribute. Returns whether the search was finished in time.
    fn extend(&mut self, part: Part<KnownAttributes<P>>) -> bool {
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
                if let Err(part) = self.waiting.push(part)
                    && !self.extend(part)
                {
                    return false;
                }
            }
        }
        true
    }

    /// Passes the set of known attributes to the sink if it wants it. `rows` are all rows that have the
    /// set. Returns the part if a set with more known attributes may be wanted.
    fn examine(&mut self, known: KnownAttributes<P>, rows: &[u32]) -> Option<Part<KnownAttributes<P>>> {
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
            size: known.size,
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
pub(super) struct Groups {
    /// Per slot code, the position of its next row. All 0 except while rows are split.
    next_position: Vec<u32>,
    /// Codes that occur, and the ends of their groups in `rows`.
    ends: Vec<(usize, usize)>,
    rows: Vec<u32>,
}

impl Groups {
    pub fn of(table: &PackedTable) -> Self {
        Groups {
            next_position: vec![0; max_slot_codes(table)],
            ..Self::default()
        }
    }

    /// Splits rows into groups by counting sort. Rows keep their order within a group.
    pub fn split<const P: usize>(&mut self, input: &SearchInput<P>, slot: &Slot, rows: &[u32]) {
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
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let mut start = 0;
        self.ends.iter().map(move |&(slot_code, end)| {
            let rows = &self.rows[start..end];
            start = end;
            (slot_code, rows)
        })
    }
}
