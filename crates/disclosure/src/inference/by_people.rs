//! The inferences about most people, without those that follow from fewer known attributes.
//!
//! An attribute can be inferred from a set K if at least a share `min_confidence` of the rows with K have it. It
//! *follows from fewer* if it can be inferred from a part of K. Then more knowledge is not needed, and what it adds
//! about fewer people is not listed.
//!
//! Attributes of [redundant](super::redundant) columns are not taken as known.
//!
//! Sets K are searched by a bound on the number of people, the largest bound first. The more is known, the fewer rows
//! have all of it, and the more follows from fewer. So an inference from K or more than K is about people with a row
//! that has K and a harmful attribute that does not follow from fewer. All parts of K have a bound that is at least as
//! large, and are searched before. What follows from each set is remembered, so that it is computed once.

use super::bitset::Words;
use super::explain::CountedAttribute;
use super::inferences::{
    CHECK_LIMITS_ABOVE, Groups, InferenceListSettings, KnownSet, SlotCodeCounter, infer, possible_danger,
    weight_key,
};
use super::packed_table::Slot;
use super::people::PeopleCounter;
use super::postings::Postings;
use super::redundant::redundant_slots;
use super::score::{NEARLY_EQUAL, SearchInput};
use super::waiting::{Part, Waiting};
use super::{Attribute, Inference};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Returns the inferences about most people, each with their number, and whether the search was finished in time.
pub(super) fn inferences_by_people<'a, const P: usize>(
    input: &'a SearchInput<'a, P>,
    postings: &'a Postings,
    wanted: &'a InferenceListSettings,
    people: PeopleCounter<'a>,
) -> (Vec<(Inference, u64)>, bool) {
    let mut search = Search::new(input, postings, wanted, people);
    let complete = search.run();
    let found = search.kept.into_iter();
    let found = found.map(|(rank, inference)| (inference, rank.people.0));
    (found.collect(), complete)
}

/// Place of an inference in the list.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    people: Reverse<u64>,
    weight_key: Reverse<u64>,
    size: usize,
    known: Vec<Attribute>,
}

/// Attribute: the bit of its slot, and its slot code.
type SlotCode = (u32, u32);

/// What is known of a set that was examined before.
struct Examined {
    support: u64,
    /// Harmful attributes that can be inferred from the set or from a part of it, in ascending order.
    inferred: Box<[SlotCode]>,
}

/// Largest number of sets that are remembered. Beyond it, they are forgotten, and examined again if they are needed.
const MAX_REMEMBERED: usize = 2_000_000;

/// Known attributes.
#[derive(Clone, Copy)]
struct Known<const P: usize> {
    set: KnownSet<P>,
    /// The attributes as a packed row.
    attributes: [u64; P],
    size: usize,
    likelihood: f64,
    /// First slot that may become known too.
    from: usize,
}

/// Search for sets, the largest bound first.
struct Search<'a, const P: usize> {
    input: &'a SearchInput<'a, P>,
    postings: &'a Postings,
    wanted: &'a InferenceListSettings,
    people: PeopleCounter<'a>,
    /// Slots with harmful attributes.
    harmful: Vec<&'a Slot>,
    /// Index in `is_settled` of the first slot code of each of these slots, by the bit of the slot.
    offsets: Vec<usize>,
    /// Per slot code of these slots, whether it is harmless or, while people are counted, follows from what is known.
    is_settled: Vec<bool>,
    /// Slots that are not taken as known.
    redundant: [u64; P],
    likeliest_from: Vec<f64>,
    danger_of_row: Vec<f64>,
    kept: BTreeMap<Rank, Inference>,
    examined: FxHashMap<[u64; P], Examined>,
    waiting: Waiting<Known<P>>,
    groups: Groups,
    counter: SlotCodeCounter,
    /// Whether the limits were reached.
    cut_short: bool,
}

impl<'a, const P: usize> Search<'a, P> {
    fn new(
        input: &'a SearchInput<'a, P>,
        postings: &'a Postings,
        wanted: &'a InferenceListSettings,
        people: PeopleCounter<'a>,
    ) -> Self {
        let mut is_settled = Vec::new();
        let mut offsets = vec![0; 64 * P];
        let slots = input.table.slots.iter();
        let harmful: Vec<&Slot> = slots.filter(|slot| slot.is_dangerous()).collect();
        for slot in &harmful {
            offsets[slot.bit] = is_settled.len();
            is_settled.extend(slot.danger.iter().map(|&danger| danger == 0.0));
        }
        let rows = input.rows.iter();
        Search {
            input,
            postings,
            wanted,
            people,
            harmful,
            offsets,
            is_settled,
            redundant: redundant_slots(input),
            likeliest_from: input.table.likeliest_from(),
            danger_of_row: rows.map(|row| possible_danger(input, row, &[0; P])).collect(),
            kept: BTreeMap::new(),
            examined: FxHashMap::default(),
            waiting: Waiting::new(),
            groups: Groups::of(input.table),
            counter: SlotCodeCounter::of(input.table),
            cut_short: false,
        }
    }

    /// Runs the search. Returns whether it was finished in time.
    fn run(&mut self) -> bool {
        let all: Vec<u32> = (0..self.input.rows.len() as u32).collect();
        let nothing = Known {
            set: KnownSet {
                slots: [0; P],
                row: 0,
            },
            attributes: [0; P],
            size: 0,
            likelihood: 1.0,
            from: 0,
        };
        let mut part = self.examine(nothing, &all);
        while let Some(next) = part {
            if !self.extend(next) || self.cut_short {
                return false;
            }
            part = self.waiting.pop();
        }
        !self.cut_short
    }

    /// Returns whether an inference about at most this many people is of use. Once false, it is never true again.
    fn wants(&self, people: u64) -> bool {
        let is_full = self.kept.len() >= self.wanted.max_rows;
        let last = self.kept.last_key_value().filter(|_| is_full);
        people > 0 && last.is_none_or(|(last, _)| people >= last.people.0)
    }

    /// Returns whether an inference of at most this weight is of use.
    fn is_heavy_enough(&self, weight: f64) -> bool {
        weight > 0.0 && weight * NEARLY_EQUAL >= self.wanted.min_weight
    }

    /// Examines all sets with one more known attribute. Returns whether that was finished in time.
    fn extend(&mut self, part: Part<Known<P>>) -> bool {
        if !self.wants(part.bound as u64) {
            return true;
        }
        let input = self.input;
        let searchable = &input.table.slots[..input.table.searchable];
        let mut looked_at = 0;
        let slots = searchable.iter().enumerate().skip(part.known.from);
        for (slot_index, slot) in slots {
            if self.redundant.has(slot.bit) {
                continue;
            }
            if input.limits.reached() {
                return false;
            }
            let mut smaller = Vec::new();
            let mut groups = std::mem::take(&mut self.groups);
            groups.split(input, slot, &part.rows);
            for (slot_code, rows) in groups.iter() {
                looked_at += rows.len();
                if looked_at > CHECK_LIMITS_ABOVE {
                    looked_at = 0;
                    if input.limits.reached() {
                        return false;
                    }
                }
                let likelihood = part.known.likelihood * slot.likelihood[slot_code];
                if likelihood > 0.0 && rows.len() < part.rows.len() {
                    let known = Known {
                        set: KnownSet {
                            slots: part.known.set.slots.or(&Words::single(slot.bit)),
                            row: rows[0],
                        },
                        attributes: part.known.attributes.or(&slot.packed(slot_code)),
                        size: part.known.size + 1,
                        likelihood,
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

    /// Keeps the inference from the known attributes if it is wanted. `rows` are all rows that have them. Returns the
    /// part if an inference from more known attributes may be wanted.
    fn examine(&mut self, known: Known<P>, rows: &[u32]) -> Option<Part<Known<P>>> {
        let input = self.input;
        let most = self.people.count(rows.iter().copied());
        if !self.wants(most) {
            return None;
        }
        let (smallest_support, mut inferred) = self.follows_from_parts(&known);
        if self.cut_short {
            return None;
        }
        let others = self.counted(rows);
        let support = self.support(rows);
        let is_new = |other: &CountedAttribute| {
            other.is_inferred(input, &known.set.slots)
                && inferred.binary_search(&slot_code_of(other)).is_err()
        };
        let new: Vec<CountedAttribute> = others.into_iter().filter(is_new).collect();
        inferred.extend(new.iter().map(slot_code_of));
        inferred.sort_unstable();
        self.remember(known.attributes, support, &inferred);
        // If a part has no more rows, the same follows from it, and from it with anything that is added to both.
        if smallest_support.is_some_and(|smallest| smallest == support) {
            return None;
        }
        if !new.is_empty() {
            self.keep(&known, rows, &new);
        }
        let likelihood = known.likelihood * self.likeliest_from[known.from];
        let danger = rows.iter().map(|&row| self.danger_of_row[row as usize]);
        let danger = input.danger_function.of_sum(danger.fold(0.0, f64::max));
        if !self.is_heavy_enough(likelihood * danger * NEARLY_EQUAL) {
            return None;
        }
        let bound = self.people_left(&known, rows, &inferred);
        self.wants(bound).then(|| Part {
            known,
            size: known.size,
            rows: rows.to_vec(),
            bound: bound as f64,
        })
    }

    /// Keeps the inference from the known attributes to those that are `new`, if it is wanted.
    fn keep(&mut self, known: &Known<P>, rows: &[u32], new: &[CountedAttribute]) {
        let input = self.input;
        let is_new = |&&row: &&u32| {
            let bits = &input.rows[row as usize];
            new.iter().any(|new| new.slot.slot_code(bits) == new.slot_code)
        };
        let most = self.people.count(rows.iter().filter(is_new).copied());
        if !self.wants(most) {
            return;
        }
        let should_stop = || input.limits.reached();
        let Some((inference, inferred)) = infer(input, &known.set, rows, new, should_stop) else {
            self.cut_short = true;
            return;
        };
        let weight = inference.weight();
        let right = rows.iter().copied();
        let right = right.filter(|&row| inferred.is_right(input, &input.rows[row as usize]));
        let people = self.people.count(right);
        if !self.is_heavy_enough(weight) || !self.wants(people) {
            return;
        }
        let rank = Rank {
            people: Reverse(people),
            weight_key: Reverse(weight_key(weight)),
            size: known.size,
            known: inference.known.clone(),
        };
        self.kept.insert(rank, inference);
        if self.kept.len() > self.wanted.max_rows {
            self.kept.pop_last();
        }
    }

    /// Returns how many people have a row with a harmful attribute that is neither known nor `inferred`.
    fn people_left(&mut self, known: &Known<P>, rows: &[u32], inferred: &[SlotCode]) -> u64 {
        self.settle(inferred, true);
        let slots = self.harmful.iter().copied();
        let unknown: Vec<&Slot> = slots.filter(|slot| !known.set.slots.has(slot.bit)).collect();
        let is_left = |&&row: &&u32| {
            let bits = &self.input.rows[row as usize];
            let is_settled = |slot: &&Slot| self.is_settled[self.offsets[slot.bit] + slot.slot_code(bits)];
            !unknown.iter().all(is_settled)
        };
        let left = self.people.count(rows.iter().filter(is_left).copied());
        self.settle(inferred, false);
        left
    }

    /// Marks harmful attributes as settled, or no longer.
    fn settle(&mut self, attributes: &[SlotCode], settled: bool) {
        for &(bit, slot_code) in attributes {
            self.is_settled[self.offsets[bit as usize] + slot_code as usize] = settled;
        }
    }

    /// Returns the harmful attributes of rows, with the numbers of rows.
    fn counted(&mut self, rows: &[u32]) -> Vec<CountedAttribute<'a>> {
        self.counter
            .count_in(self.input, self.harmful.iter().copied(), rows)
    }

    fn support(&self, rows: &[u32]) -> u64 {
        let of_row = |&row: &u32| self.input.table.multiplicity[row as usize];
        rows.iter().map(of_row).sum()
    }

    /// Returns the smallest number of rows that have all known attributes but one, and what can be inferred from parts
    /// of the known attributes.
    fn follows_from_parts(&mut self, known: &Known<P>) -> (Option<u64>, Vec<SlotCode>) {
        let input = self.input;
        let (mut smallest, mut inferred) = (None::<u64>, Vec::new());
        let slots = &input.table.slots[..known.from];
        for slot in slots.iter().filter(|slot| known.set.slots.has(slot.bit)) {
            let part = Known {
                set: KnownSet {
                    slots: known.set.slots.without(&Words::single(slot.bit)),
                    ..known.set
                },
                attributes: known.attributes.without(&slot.field()),
                size: known.size - 1,
                ..*known
            };
            if !self.examined.contains_key(&part.attributes) {
                self.examine_again(&part);
            }
            if let Some(examined) = self.examined.get(&part.attributes) {
                smallest = Some(smallest.map_or(examined.support, |least| least.min(examined.support)));
                inferred.extend_from_slice(&examined.inferred);
            }
        }
        inferred.sort_unstable();
        inferred.dedup();
        (smallest, inferred)
    }

    /// Finds out what follows from a set that is not remembered, and remembers it.
    fn examine_again(&mut self, known: &Known<P>) {
        if self.input.limits.reached() {
            self.cut_short = true; // so it will not be used
            return;
        }
        let (_, mut inferred) = self.follows_from_parts(known);
        let rows = known.set.rows(self.input, self.postings);
        let others = self.counted(&rows);
        let can_be_inferred = |other: &&CountedAttribute| other.is_inferred(self.input, &known.set.slots);
        inferred.extend(others.iter().filter(can_be_inferred).map(slot_code_of));
        inferred.sort_unstable();
        inferred.dedup();
        let support = self.support(&rows);
        self.remember(known.attributes, support, &inferred);
    }

    /// Remembers what follows from a set, after forgetting the others if there is no room.
    fn remember(&mut self, known: [u64; P], support: u64, inferred: &[SlotCode]) {
        let remembered = self.examined.len();
        if remembered == self.examined.capacity() {
            let control = self.input.limits.control;
            let grown = (2 * remembered).max(1024);
            let has_room = control.require::<([u64; P], Examined, u8)>(2 * grown).is_ok();
            if remembered >= MAX_REMEMBERED || !has_room {
                self.examined.clear();
            }
        }
        self.examined.insert(
            known,
            Examined {
                support,
                inferred: inferred.into(),
            },
        );
    }
}

fn slot_code_of(counted: &CountedAttribute) -> SlotCode {
    (counted.slot.bit as u32, counted.slot_code as u32)
}
