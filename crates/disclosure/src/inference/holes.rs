//! Holes: combinations of attributes that no row has, although some row has every smaller part (White,
//! chapter 6).
//!
//! Everything that is inferred from within a hole lies outside of it (Theorem 6.4). A row with exactly the
//! hole's attributes removes all of these inferences and adds none (Theorem 6.5, Corollary 6.6). So decoys
//! help most if they fill holes.
//!
//! The worst inference from within a hole is one from a *free* set K, of which nothing can be left out (Lemma
//! 4.11). So holes are searched around free sets, those with the largest weight first. A hole around K
//! consists of K and a set J with three properties:
//! - No row with K has all of J.
//! - For every attribute of J, some row with K has the rest of J.
//! - For every attribute of K, some row has the rest of K and all of J.

use super::bitset::Words;
use super::inferences::{FreeSetSink, KnownSet, SlotCodeCounter, may_precede, search, weight_key};
use super::packed_table::{PackedTable, Slot, with_width};
use super::postings::{Postings, TableMasks};
use super::score::{SearchInput, Settings};
use super::search::MaskSource;
use super::{Attribute, Inference};
use crate::{Control, Error, Result};
use bitvec::prelude::*;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Combination of attributes that no row has, although some row has every smaller part of it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Hole {
    /// Attributes in ascending order.
    pub attributes: Vec<Attribute>,
    /// Worst inference from within the hole. A row with exactly the hole's attributes would remove it.
    pub worst: Inference,
}

/// Holes of a table, those with the worst inferences first.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Holes {
    /// Holes in descending order of weight. Of holes whose weights are equal up to a relative error of 1e-12,
    /// those with fewer attributes come first.
    pub holes: Vec<Hole>,
    /// Whether these are the holes with the worst inferences. If not, the budget ran out: these are holes,
    /// but there may be others, and worse inferences from within these.
    pub complete: bool,
}

/// Limits on the holes to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoleSettings {
    /// Largest number of attributes of a hole, from 2 to 8.
    pub max_size: usize,
    /// Largest number of holes to return.
    pub max_rows: usize,
}

impl Default for HoleSettings {
    fn default() -> Self {
        HoleSettings {
            max_size: 4,
            max_rows: 1000,
        }
    }
}

impl HoleSettings {
    /// Checks that the settings are allowed.
    pub fn check(&self) -> Result<()> {
        const LARGEST: usize = 8;
        if !(2..=LARGEST).contains(&self.max_size) {
            return Err(Error::invalid(
                "max_size",
                format!("must be between 2 and {LARGEST}"),
                format!("the largest number of attributes of a hole, from 2 to {LARGEST}"),
            ));
        }
        Ok(())
    }
}

/// Returns the holes with the worst inferences from within. Holes from which nothing harmful is inferred are
/// left out.
///
/// `min_confidence` must be 1, because only certain inferences are caused by holes.
pub fn holes(
    table: &PackedTable,
    settings: &Settings,
    wanted: &HoleSettings,
    control: &Control,
) -> Result<Holes> {
    settings.check()?;
    if settings.min_confidence != 1.0 {
        return Err(Error::invalid(
            "min_confidence",
            "must be 1",
            "1: holes cause certain inferences only",
        ));
    }
    wanted.check()?;
    if table.is_empty() || wanted.max_rows == 0 {
        return Ok(Holes {
            holes: Vec::new(),
            complete: true,
        });
    }
    with_width!(table.width, find_holes(table, settings, wanted, control))
}

fn find_holes<const P: usize>(
    table: &PackedTable,
    settings: &Settings,
    wanted: &HoleSettings,
    control: &Control,
) -> Result<Holes> {
    let input = SearchInput::<P>::new(table, settings, control);
    let postings = Postings::new(&input);
    let mut packed_attributes = Vec::new();
    let mut offsets = Vec::new();
    let mut slot_code_count = 0;
    for slot in &table.slots {
        offsets.push(slot_code_count);
        for slot_code in 1..slot.danger.len() {
            packed_attributes.push(PackedAttribute {
                attribute: table.attribute(slot, slot_code),
                slot,
                slot_code,
                slot_code_index: slot_code_count + slot_code,
            });
        }
        slot_code_count += slot.danger.len();
    }
    packed_attributes.sort_unstable_by_key(|packed| packed.attribute);
    let mut finder = Finder {
        input: &input,
        postings: &postings,
        packed_attributes,
        offsets,
        slot_code_count,
        max_size: wanted.max_size,
        waiting: BTreeSet::new(),
        top: TopHoles {
            max_rows: wanted.max_rows,
            kept: BTreeMap::new(),
            weight_key_of: FxHashMap::default(),
        },
        cut_short: false,
    };
    let complete = search(&input, &postings, &mut finder) && !finder.cut_short;
    let mut counter = SlotCodeCounter::of(table);
    let mut holes = Vec::with_capacity(finder.top.kept.len());
    for (key, inference) in finder.top.kept {
        control.check()?;
        holes.push(Hole {
            attributes: key.attributes,
            worst: inference.set.inference(&input, &postings, &mut counter)?,
        });
    }
    control.check()?;
    Ok(Holes { holes, complete })
}

/// Attribute and where it is packed.
#[derive(Clone, Copy)]
struct PackedAttribute<'a> {
    attribute: Attribute,
    slot: &'a Slot,
    slot_code: usize,
    /// Index of the slot code among the slot codes of all slots.
    slot_code_index: usize,
}

/// Holes with the worst inferences so far, at most `max_rows` of them.
struct TopHoles<const P: usize> {
    max_rows: usize,
    kept: BTreeMap<Key, InnerInference<P>>,
    weight_key_of: FxHashMap<Vec<Attribute>, u64>,
}

/// Sort key of a hole. Holes are reported in this order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    weight_key: Reverse<u64>,
    size: usize,
    attributes: Vec<Attribute>,
}

/// Inference from within a hole. Of several inferences that are equally bad, the first in this order is
/// reported.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct InnerInference<const P: usize> {
    size: usize,
    known: Vec<Attribute>,
    set: KnownSet<P>,
}

impl Key {
    fn new(weight_key: u64, mut attributes: Vec<Attribute>) -> Self {
        attributes.sort_unstable();
        Key {
            weight_key: Reverse(weight_key),
            size: attributes.len(),
            attributes,
        }
    }
}

impl<const P: usize> TopHoles<P> {
    /// Returns the key of the last hole if there is no room for more.
    fn last(&self) -> Option<&Key> {
        let last = self.kept.last_key_value();
        last.map(|(key, _)| key)
            .filter(|_| self.kept.len() >= self.max_rows)
    }

    fn has_room_for(&self, key: &Key) -> bool {
        self.last().is_none_or(|last| key <= last)
    }

    fn keep(&mut self, key: Key, inner: &InnerInference<P>) {
        if !self.has_room_for(&key) {
            return;
        }
        match self.weight_key_of.get(&key.attributes) {
            Some(&weight_key) if weight_key > key.weight_key.0 => return,
            Some(&weight_key) if weight_key < key.weight_key.0 => {
                self.kept.remove(&Key {
                    weight_key: Reverse(weight_key),
                    ..key.clone()
                });
            }
            _ => {}
        }
        self.weight_key_of
            .insert(key.attributes.clone(), key.weight_key.0);
        let kept = self.kept.entry(key).or_insert_with(|| inner.clone());
        if inner < kept {
            *kept = inner.clone();
        }
        if self.kept.len() > self.max_rows
            && let Some((last, _)) = self.kept.pop_last()
        {
            self.weight_key_of.remove(&last.attributes);
        }
    }
}

/// Search for holes around free sets.
struct Finder<'a, const P: usize> {
    input: &'a SearchInput<'a, P>,
    postings: &'a Postings,
    /// All attributes, in ascending order.
    packed_attributes: Vec<PackedAttribute<'a>>,
    /// Per slot, the index of its first slot code among the slot codes of all slots.
    offsets: Vec<usize>,
    /// Number of slot codes of all slots.
    slot_code_count: usize,
    max_size: usize,
    /// Free sets around which holes are still to be searched, the largest weight first.
    waiting: BTreeSet<(Reverse<u64>, InnerInference<P>)>,
    top: TopHoles<P>,
    cut_short: bool,
}

impl<const P: usize> FreeSetSink<P> for Finder<'_, P> {
    fn wants(&self, weight: f64, size: usize) -> bool {
        let smallest = (size + 1).max(2);
        let last = self.top.last();
        smallest <= self.max_size
            && last.is_none_or(|last| may_precede(weight, smallest, last.weight_key.0, last.size))
    }

    fn take(&mut self, set: KnownSet<P>, weight: f64) {
        let known = set.attributes(self.input);
        let inner = InnerInference {
            size: known.len(),
            known,
            set,
        };
        self.waiting.insert((Reverse(weight_key(weight)), inner));
    }

    fn all_above_taken(&mut self, weight: f64) {
        let largest_left = Reverse(weight_key(weight));
        while let Some((weight_key, inner)) = self.waiting.pop_first() {
            if weight_key > largest_left {
                self.waiting.insert((weight_key, inner));
                return;
            }
            if self.check_limits() {
                return;
            }
            self.find_holes_around(weight_key.0, &inner);
        }
    }
}

/// Rows that have all attributes of a set except the one in the slot `omitted`.
struct RowsLackingOne<const P: usize> {
    omitted: [u64; P],
    rows: Vec<u32>,
}

impl<const P: usize> Finder<'_, P> {
    /// Finds the holes from within which this inference is made.
    fn find_holes_around(&mut self, weight_key: u64, inner: &InnerInference<P>) {
        if inner.size > 0 {
            let rows = inner.set.rows(self.input, self.postings);
            self.find_with_one_more(inner.set, &rows, weight_key, inner);
            self.find_with_two_or_more(inner.set, &rows, weight_key, inner);
            return;
        }
        // An inference from nothing is made from within every hole. Small holes come first.
        for larger in [false, true] {
            for index in 0..self.packed_attributes.len() {
                if self.check_limits() || (larger && !self.may_have_room(weight_key, 3)) {
                    return;
                }
                let (single, rows) = self.single(self.packed_attributes[index]);
                if larger {
                    self.find_with_two_or_more(single, &rows, weight_key, inner);
                } else {
                    self.find_with_one_more(single, &rows, weight_key, inner);
                }
            }
        }
    }

    /// Checks the limits and returns whether the search has to stop.
    fn check_limits(&mut self) -> bool {
        self.cut_short |= self.input.limits.reached();
        self.cut_short
    }

    fn may_have_room(&self, weight_key: u64, size: usize) -> bool {
        let last = self.top.last();
        last.is_none_or(|last| (Reverse(weight_key), size) <= (last.weight_key, last.size))
    }

    /// Returns the set of one attribute, and the rows that have it.
    fn single(&self, packed: PackedAttribute) -> (KnownSet<P>, Vec<u32>) {
        let has = |&row: &u32| packed.slot.slot_code(&self.input.rows[row as usize]) == packed.slot_code;
        let rows: Vec<u32> = (0..self.input.rows.len() as u32).filter(has).collect();
        let set = KnownSet {
            slots: Words::single(packed.slot.bit),
            row: rows[0],
        };
        (set, rows)
    }

    /// Returns a set of attributes as a packed row.
    fn packed(&self, set: &KnownSet<P>) -> [u64; P] {
        let row = &self.input.rows[set.row as usize];
        let slots = self.input.table.slots.iter();
        slots
            .filter(|slot| set.slots.has(slot.bit))
            .fold([0; P], |packed: [u64; P], slot| {
                packed.or(&row.and(&slot.field()))
            })
    }

    /// Returns the rows that lack exactly one attribute of the set: of all attributes, the one that the
    /// fewest rows lack alone.
    fn lacking_one(&self, set: &KnownSet<P>) -> RowsLackingOne<P> {
        let mut source = TableMasks::new(self.input, self.postings, set.row as usize);
        let mut fewest: Option<RowsLackingOne<P>> = None;
        set.slots.for_each(|bit| {
            let omitted = Words::single(bit);
            let is_fewer = |rows: &[u32]| {
                fewest
                    .as_ref()
                    .is_none_or(|fewest| rows.len() < fewest.rows.len())
            };
            let mut rows = Vec::new();
            source.begin(&set.slots.without(&omitted));
            source.scan(|row, mask| {
                if mask.has(bit) {
                    rows.push(row as u32);
                }
                is_fewer(&rows)
            });
            if is_fewer(&rows) {
                fewest = Some(RowsLackingOne { omitted, rows });
            }
        });
        fewest.unwrap_or(RowsLackingOne {
            omitted: [0; P],
            rows: Vec::new(),
        })
    }

    /// Returns which attributes occur in these rows.
    fn occurring(&self, rows: &[u32]) -> BitVec {
        let mut occurring = bitvec![0; self.slot_code_count];
        for &row in rows {
            for (slot, offset) in self.input.table.slots.iter().zip(&self.offsets) {
                occurring.set(offset + slot.slot_code(&self.input.rows[row as usize]), true);
            }
        }
        occurring
    }

    /// Returns whether for each of these slots some row has all attributes of the hole except the one in the
    /// slot.
    fn all_but_each_occur(&self, hole: &[u64; P], slots: [u64; P]) -> bool {
        let all = self.input.fields.occupied(hole);
        let mut source = TableMasks::of_attributes(self.input, self.postings, *hole);
        let mut occur = true;
        slots.for_each(|bit| {
            if occur {
                source.begin(&all.without(&Words::single(bit)));
                occur = !source.scan(|_, _| false);
            }
        });
        occur
    }

    /// Finds the holes that consist of a set and one more attribute. `rows` are the rows that have the set;
    /// none of them has that attribute.
    fn find_with_one_more(
        &mut self,
        set: KnownSet<P>,
        rows: &[u32],
        weight_key: u64,
        inner: &InnerInference<P>,
    ) {
        let known = set.attributes(self.input);
        if known.len() + 1 > self.max_size || !self.may_have_room(weight_key, known.len() + 1) {
            return;
        }
        let with_set = self.occurring(rows);
        // A set of one attribute needs no check: without it, only the other attribute of the hole is left,
        // and every attribute occurs.
        let lacking = (known.len() > 1).then(|| self.lacking_one(&set));
        let with_rest = lacking.as_ref().map(|lacking| self.occurring(&lacking.rows));
        let packed = self.packed(&set);
        for index in 0..self.packed_attributes.len() {
            let added = self.packed_attributes[index];
            // Two attributes of one slot never occur together. In an array column, such a pair is a hole, so
            // a larger set that contains it is not. In any other column, no row could have both, so it does
            // not count.
            let excluded = set.slots.has(added.slot.bit) && !(added.slot.of_set && known.len() == 1);
            let with_rest = with_rest
                .as_ref()
                .is_none_or(|with_rest| with_rest[added.slot_code_index]);
            if excluded || with_set[added.slot_code_index] || !with_rest {
                continue;
            }
            let mut attributes = known.clone();
            attributes.push(added.attribute);
            let key = Key::new(weight_key, attributes);
            if !self.top.has_room_for(&key) {
                // Holes with later attributes come later, so there is no room for them either.
                return;
            }
            let occur = lacking.as_ref().is_none_or(|lacking| {
                let hole = packed.or(&added.slot.packed(added.slot_code));
                self.all_but_each_occur(&hole, set.slots.without(&lacking.omitted))
            });
            if occur {
                self.top.keep(key, inner);
            }
        }
    }

    /// Finds the holes that consist of a set and at least two more attributes. Each of these occurs in some
    /// of `rows`, the rows that have the set, but none of the rows has all of them.
    fn find_with_two_or_more(
        &mut self,
        set: KnownSet<P>,
        rows: &[u32],
        weight_key: u64,
        inner: &InnerInference<P>,
    ) {
        let size = set.slots.count() as usize;
        if rows.len() < 2 || size + 2 > self.max_size || !self.may_have_room(weight_key, size + 2) {
            return;
        }
        let input = self.input;
        let known = set.attributes(input);
        let packed = self.packed(&set);
        let lacking = self.lacking_one(&set);
        let others = self.what_occurs_with(&set, rows, &lacking);
        for other in others {
            if self.check_limits() {
                return;
            }
            let all = input.fields.occupied(&other);
            let missing = |&row: &u32| input.fields.missing(&other, &all, &input.rows[row as usize]);
            let masks = minimal(rows.iter().map(missing).collect());
            let mut hitting = HittingSets {
                masks: &masks,
                max_size: self.max_size - size,
                found: Vec::new(),
                looked_at: 0,
                finder: self,
            };
            hitting.extend([0; P], [0; P]);
            for more in hitting.found {
                let mut hole = packed;
                let mut attributes = known.clone();
                for slot in input.table.slots.iter().filter(|slot| more.has(slot.bit)) {
                    hole = hole.or(&other.and(&slot.field()));
                    attributes.push(input.table.attribute(slot, slot.slot_code(&other)));
                }
                let key = Key::new(weight_key, attributes);
                if self.top.has_room_for(&key)
                    && self.all_but_each_occur(&hole, set.slots.without(&lacking.omitted))
                {
                    self.top.keep(key, inner);
                }
            }
        }
    }

    /// Returns the attributes beyond the set of every row that lacks one attribute of the set. Attributes
    /// that do not occur in `rows`, which have the set, are left out. The result consists of packed rows
    /// without duplicates.
    fn what_occurs_with(
        &self,
        set: &KnownSet<P>,
        rows: &[u32],
        lacking: &RowsLackingOne<P>,
    ) -> Vec<[u64; P]> {
        let occurring = self.occurring(rows);
        let reduced = |&row: &u32| {
            let row = &self.input.rows[row as usize];
            let slots = self.input.table.slots.iter().zip(&self.offsets);
            slots
                .filter(|(slot, offset)| {
                    !set.slots.has(slot.bit) && occurring[**offset + slot.slot_code(row)]
                })
                .fold([0; P], |reduced: [u64; P], (slot, _)| {
                    reduced.or(&row.and(&slot.field()))
                })
        };
        let mut others: Vec<[u64; P]> = lacking.rows.iter().map(reduced).collect();
        others.sort_unstable();
        others.dedup();
        others
    }
}

/// Returns the masks that contain no other mask.
fn minimal<const P: usize>(mut masks: Vec<[u64; P]>) -> Vec<[u64; P]> {
    masks.sort_unstable_by_key(|mask| (mask.count(), *mask));
    masks.dedup();
    let mut minimal: Vec<[u64; P]> = Vec::new();
    for mask in masks {
        if !minimal.iter().any(|smaller| smaller.without(&mask).is_none()) {
            minimal.push(mask);
        }
    }
    minimal
}

/// Search for minimal hitting sets: sets that meet all masks, but no longer if any element is removed.
struct HittingSets<'a, 'b, const P: usize> {
    masks: &'a [[u64; P]],
    /// Largest number of elements of a set.
    max_size: usize,
    found: Vec<[u64; P]>,
    looked_at: u32,
    finder: &'a mut Finder<'b, P>,
}

impl<const P: usize> HittingSets<'_, '_, P> {
    /// Finds the minimal hitting sets that contain `chosen` but nothing of `excluded`.
    fn extend(&mut self, chosen: [u64; P], mut excluded: [u64; P]) {
        self.looked_at += 1;
        if self.looked_at.is_multiple_of(256) && self.finder.check_limits() {
            return;
        }
        let mut needed = [0; P];
        for mask in self.masks {
            let hits = mask.and(&chosen);
            if hits.count() == 1 {
                needed = needed.or(&hits);
            }
        }
        // Every element has to be the only one that hits some mask. Otherwise, it could be left out.
        if needed != chosen {
            return;
        }
        let Some(mask) = self.masks.iter().find(|mask| !mask.meets(&chosen)) else {
            self.found.push(chosen);
            return;
        };
        if chosen.count() as usize == self.max_size {
            return;
        }
        mask.without(&excluded).for_each(|bit| {
            let bit = Words::single(bit);
            self.extend(chosen.or(&bit), excluded);
            excluded = excluded.or(&bit);
        });
    }
}
