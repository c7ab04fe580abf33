//! Holes: combinations that nobody has, though everything short of them occurs (White, chapter 6).
//!
//! What is inferred from within a hole lies outside of it (Theorem 6.4), and a row with just the hole's
//! attributes takes all of these inferences away and adds none (Theorem 6.5, Corollary 6.6): holes are where
//! false rows help most.
//!
//! The worst inference from within a hole is one from a set K of which nothing can be left out (Lemma 4.11),
//! so holes are found around such sets, those of the largest weight first. A hole around K is K and some J
//! such that no row with K has J, but each J without one of its attributes; and for every x of K, some row
//! has all but x.

use super::bitset::Words;
use super::packed_table::{PackedTable, Slot, with_width};
use super::postings::{Postings, TableWitnesses};
use super::rules::{Audience, KnownSet, Tally, may_precede, rank, search};
use super::score::{SearchInput, Settings};
use super::search::Witnesses;
use super::{Attribute, Inference};
use crate::{Control, Error, Result};
use bitvec::prelude::*;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A combination of attributes that no row has, while some row has each part of it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Hole {
    /// In ascending order.
    pub attributes: Vec<Attribute>,
    /// The worst inference from within. A row with just these attributes would remove it.
    pub worst: Inference,
}

/// Holes of a table, those with the worst inferences first.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Holes {
    /// Of holes with the same weight, up to 1e-12 of it, those with fewer attributes come first.
    pub holes: Vec<Hole>,
    /// Whether these are the holes with the worst inferences. If not, the budget ran out: these are holes,
    /// but there may be others, and worse inferences from within these.
    pub complete: bool,
}

/// Which holes the caller wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoleSettings {
    /// No holes of more attributes, from 2 to 8.
    pub max_size: usize,
    /// No more holes than this.
    pub most: usize,
}

impl Default for HoleSettings {
    fn default() -> Self {
        HoleSettings {
            max_size: 4,
            most: 1000,
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
                "the number of attributes that a hole may have",
            ));
        }
        Ok(())
    }
}

/// The holes with the worst inferences from within. Holes that nothing harmful is inferred from do not count.
///
/// Only certain inferences have holes as their cause, so that `min_confidence` must be 1.
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
            "1, since filling a hole takes away inferences that are certain",
        ));
    }
    wanted.check()?;
    if table.is_empty() || wanted.most == 0 {
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
    let mut places = Vec::new();
    let mut offsets = Vec::new();
    let mut attributes = 0;
    for slot in &table.slots {
        offsets.push(attributes);
        for code in 1..slot.danger.len() {
            places.push(Place {
                attribute: table.attribute(slot, code),
                slot,
                code,
                number: attributes + code,
            });
        }
        attributes += slot.danger.len();
    }
    places.sort_unstable_by_key(|place| place.attribute);
    let mut finder = Finder {
        input: &input,
        postings: &postings,
        places,
        offsets,
        attributes,
        max_size: wanted.max_size,
        waiting: BTreeSet::new(),
        best: Best {
            most: wanted.most,
            kept: BTreeMap::new(),
            rank_of: FxHashMap::default(),
        },
        cut_short: false,
    };
    let complete = search(&input, &postings, 1.0, &mut finder) && !finder.cut_short;
    let mut tally = Tally::of(table);
    let mut holes = Vec::with_capacity(finder.best.kept.len());
    for (key, inference) in finder.best.kept {
        control.check()?;
        holes.push(Hole {
            attributes: key.attributes,
            worst: inference.set.inference(&input, &postings, 1.0, &mut tally),
        });
    }
    control.check()?;
    Ok(Holes { holes, complete })
}

/// Where an attribute is packed.
#[derive(Clone, Copy)]
struct Place<'a> {
    attribute: Attribute,
    slot: &'a Slot,
    code: usize,
    /// Its number among all codes of all slots.
    number: usize,
}

/// The holes with the worst inferences so far.
struct Best<const P: usize> {
    most: usize,
    kept: BTreeMap<Key, Within<P>>,
    rank_of: FxHashMap<Vec<Attribute>, u64>,
}

/// Holes in the order in which they are reported.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    rank: Reverse<u64>,
    size: usize,
    attributes: Vec<Attribute>,
}

/// An inference from within a hole. Of several that are as bad, the first is reported.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Within<const P: usize> {
    size: usize,
    known: Vec<Attribute>,
    set: KnownSet<P>,
}

impl Key {
    fn new(rank: u64, mut attributes: Vec<Attribute>) -> Self {
        attributes.sort_unstable();
        Key {
            rank: Reverse(rank),
            size: attributes.len(),
            attributes,
        }
    }
}

impl<const P: usize> Best<P> {
    fn worst(&self) -> Option<&Key> {
        let worst = self.kept.last_key_value();
        worst.map(|(key, _)| key).filter(|_| self.kept.len() >= self.most)
    }

    fn has_room_for(&self, key: &Key) -> bool {
        self.worst().is_none_or(|worst| key <= worst)
    }

    fn keep(&mut self, key: Key, within: &Within<P>) {
        if !self.has_room_for(&key) {
            return;
        }
        match self.rank_of.get(&key.attributes) {
            Some(&rank) if rank > key.rank.0 => return,
            Some(&rank) if rank < key.rank.0 => {
                self.kept.remove(&Key {
                    rank: Reverse(rank),
                    ..key.clone()
                });
            }
            _ => {}
        }
        self.rank_of.insert(key.attributes.clone(), key.rank.0);
        let kept = self.kept.entry(key).or_insert_with(|| within.clone());
        if within < kept {
            *kept = within.clone();
        }
        if self.kept.len() > self.most
            && let Some((last, _)) = self.kept.pop_last()
        {
            self.rank_of.remove(&last.attributes);
        }
    }
}

/// Finds holes around sets.
struct Finder<'a, const P: usize> {
    input: &'a SearchInput<'a, P>,
    postings: &'a Postings,
    /// All attributes, in ascending order.
    places: Vec<Place<'a>>,
    /// Per slot the number of its first code.
    offsets: Vec<usize>,
    /// How many codes there are.
    attributes: usize,
    max_size: usize,
    /// Sets to look around, by their rank.
    waiting: BTreeSet<(Reverse<u64>, Within<P>)>,
    best: Best<P>,
    cut_short: bool,
}

impl<const P: usize> Audience<P> for Finder<'_, P> {
    fn wants(&self, weight: f64, size: usize) -> bool {
        let smallest = (size + 1).max(2);
        let worst = self.best.worst();
        smallest <= self.max_size
            && worst.is_none_or(|worst| may_precede(weight, smallest, worst.rank.0, worst.size))
    }

    fn take(&mut self, set: KnownSet<P>, weight: f64) {
        let known = set.attributes(self.input);
        let within = Within {
            size: known.len(),
            known,
            set,
        };
        self.waiting.insert((Reverse(rank(weight)), within));
    }

    fn expect_at_most(&mut self, weight: f64) {
        let worst = Reverse(rank(weight));
        while let Some((rank, within)) = self.waiting.pop_first() {
            if rank > worst {
                self.waiting.insert((rank, within));
                return;
            }
            if self.too_late() {
                return;
            }
            self.look_around(rank.0, &within);
        }
    }
}

/// Rows that have all of a set but one attribute, that in the slot `omitted`.
struct Lacking<const P: usize> {
    omitted: [u64; P],
    rows: Vec<u32>,
}

impl<const P: usize> Finder<'_, P> {
    /// Find the holes that this inference is from within of.
    fn look_around(&mut self, rank: u64, within: &Within<P>) {
        if within.size > 0 {
            let rows = within.set.rows(self.input, self.postings);
            self.one_more(within.set, &rows, rank, within);
            self.some_more(within.set, &rows, rank, within);
            return;
        }
        // What everybody gives away follows from within every hole. Small ones come first.
        for larger in [false, true] {
            for place in 0..self.places.len() {
                if self.too_late() || (larger && !self.may_have_room(rank, 3)) {
                    return;
                }
                let (single, rows) = self.single(self.places[place]);
                if larger {
                    self.some_more(single, &rows, rank, within);
                } else {
                    self.one_more(single, &rows, rank, within);
                }
            }
        }
    }

    fn too_late(&mut self) -> bool {
        self.cut_short |= self.input.limits.reached();
        self.cut_short
    }

    fn may_have_room(&self, rank: u64, size: usize) -> bool {
        let worst = self.best.worst();
        worst.is_none_or(|worst| (Reverse(rank), size) <= (worst.rank, worst.size))
    }

    /// An attribute as a set, and the rows that have it.
    fn single(&self, place: Place) -> (KnownSet<P>, Vec<u32>) {
        let has = |&row: &u32| place.slot.code(&self.input.rows[row as usize]) == place.code;
        let rows: Vec<u32> = (0..self.input.rows.len() as u32).filter(has).collect();
        let set = KnownSet {
            slots: Words::single(place.slot.bit),
            row: rows[0],
        };
        (set, rows)
    }

    /// A set, packed like a row.
    fn packed(&self, set: &KnownSet<P>) -> [u64; P] {
        let row = &self.input.rows[set.row as usize];
        let slots = self.input.table.slots.iter();
        slots
            .filter(|slot| set.slots.has(slot.bit))
            .fold([0; P], |packed: [u64; P], slot| {
                packed.or(&row.and(&slot.field()))
            })
    }

    /// The rows that lack one attribute of the set: that which fewest lack alone.
    fn lacking_one(&self, set: &KnownSet<P>) -> Lacking<P> {
        let mut witnesses = TableWitnesses::new(self.input, self.postings, set.row as usize);
        let mut fewest: Option<Lacking<P>> = None;
        set.slots.for_each(|bit| {
            let omitted = Words::single(bit);
            let is_fewer = |rows: &[u32]| {
                fewest
                    .as_ref()
                    .is_none_or(|fewest| rows.len() < fewest.rows.len())
            };
            let mut rows = Vec::new();
            witnesses.begin(&set.slots.without(&omitted));
            witnesses.scan(|row, mask| {
                if mask.has(bit) {
                    rows.push(row as u32);
                }
                is_fewer(&rows)
            });
            if is_fewer(&rows) {
                fewest = Some(Lacking { omitted, rows });
            }
        });
        fewest.unwrap_or(Lacking {
            omitted: [0; P],
            rows: Vec::new(),
        })
    }

    /// Which attributes these rows have.
    fn occurring(&self, rows: &[u32]) -> BitVec {
        let mut occurring = bitvec![0; self.attributes];
        for &row in rows {
            for (slot, offset) in self.input.table.slots.iter().zip(&self.offsets) {
                occurring.set(offset + slot.code(&self.input.rows[row as usize]), true);
            }
        }
        occurring
    }

    /// Whether for each of these slots some row has all of a hole but the attribute there.
    fn all_but_each_occur(&self, hole: &[u64; P], slots: [u64; P]) -> bool {
        let all = self.input.fields.occupied(hole);
        let mut witnesses = TableWitnesses::about(self.input, self.postings, *hole);
        let mut occur = true;
        slots.for_each(|bit| {
            if occur {
                witnesses.begin(&all.without(&Words::single(bit)));
                occur = !witnesses.scan(|_, _| false);
            }
        });
        occur
    }

    /// Holes with one attribute more than a set that these rows have: an attribute that none of them has.
    fn one_more(&mut self, set: KnownSet<P>, rows: &[u32], rank: u64, within: &Within<P>) {
        let known = set.attributes(self.input);
        if known.len() + 1 > self.max_size || !self.may_have_room(rank, known.len() + 1) {
            return;
        }
        let with_set = self.occurring(rows);
        // Without the only attribute of a set, nothing is left that others would have to occur with.
        let lacking = (known.len() > 1).then(|| self.lacking_one(&set));
        let with_rest = lacking.as_ref().map(|lacking| self.occurring(&lacking.rows));
        let packed = self.packed(&set);
        for number in 0..self.places.len() {
            let place = self.places[number];
            // A row has one attribute of a slot, and cannot be given two but by adding to a set.
            let excluded = set.slots.has(place.slot.bit) && !(place.slot.of_set && known.len() == 1);
            let with_rest = with_rest.as_ref().is_none_or(|with_rest| with_rest[place.number]);
            if excluded || with_set[place.number] || !with_rest {
                continue;
            }
            let mut attributes = known.clone();
            attributes.push(place.attribute);
            let key = Key::new(rank, attributes);
            if !self.best.has_room_for(&key) {
                // Holes with later attributes come later.
                return;
            }
            let occur = lacking.as_ref().is_none_or(|lacking| {
                let hole = packed.or(&place.slot.packed(place.code));
                self.all_but_each_occur(&hole, set.slots.without(&lacking.omitted))
            });
            if occur {
                self.best.keep(key, within);
            }
        }
    }

    /// Holes with at least two attributes more than a set that these rows have: each of them occurs in
    /// some of the rows, but together in none.
    fn some_more(&mut self, set: KnownSet<P>, rows: &[u32], rank: u64, within: &Within<P>) {
        let size = set.slots.count() as usize;
        if rows.len() < 2 || size + 2 > self.max_size || !self.may_have_room(rank, size + 2) {
            return;
        }
        let input = self.input;
        let known = set.attributes(input);
        let packed = self.packed(&set);
        let lacking = self.lacking_one(&set);
        let others = self.what_occurs_with(&set, rows, &lacking);
        for other in others {
            if self.too_late() {
                return;
            }
            let all = input.fields.occupied(&other);
            let missing = |&row: &u32| input.fields.missing(&other, &all, &input.rows[row as usize]);
            let masks = minimal(rows.iter().map(missing).collect());
            let mut hitting = HittingSets {
                masks: &masks,
                most: self.max_size - size,
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
                    attributes.push(input.table.attribute(slot, slot.code(&other)));
                }
                let key = Key::new(rank, attributes);
                if self.best.has_room_for(&key)
                    && self.all_but_each_occur(&hole, set.slots.without(&lacking.omitted))
                {
                    self.best.keep(key, within);
                }
            }
        }
    }

    /// What rows that lack one attribute of the set have beyond the set, as far as it also occurs in these
    /// rows, which have the set: packed like rows, without duplicates.
    fn what_occurs_with(&self, set: &KnownSet<P>, rows: &[u32], lacking: &Lacking<P>) -> Vec<[u64; P]> {
        let occurring = self.occurring(rows);
        let reduced = |&row: &u32| {
            let row = &self.input.rows[row as usize];
            let slots = self.input.table.slots.iter().zip(&self.offsets);
            slots
                .filter(|(slot, offset)| !set.slots.has(slot.bit) && occurring[**offset + slot.code(row)])
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

/// Those of the masks that hold no other.
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

/// Sets that meet all masks, and would not without any of their elements.
struct HittingSets<'a, 'b, const P: usize> {
    masks: &'a [[u64; P]],
    /// How many elements they may have.
    most: usize,
    found: Vec<[u64; P]>,
    looked_at: u32,
    finder: &'a mut Finder<'b, P>,
}

impl<const P: usize> HittingSets<'_, '_, P> {
    fn extend(&mut self, chosen: [u64; P], mut excluded: [u64; P]) {
        self.looked_at += 1;
        if self.looked_at.is_multiple_of(256) && self.finder.too_late() {
            return;
        }
        let mut needed = [0; P];
        for mask in self.masks {
            let hits = mask.and(&chosen);
            if hits.count() == 1 {
                needed = needed.or(&hits);
            }
        }
        if needed != chosen {
            return;
        }
        let Some(mask) = self.masks.iter().find(|mask| !mask.meets(&chosen)) else {
            self.found.push(chosen);
            return;
        };
        if chosen.count() as usize == self.most {
            return;
        }
        mask.without(&excluded).for_each(|bit| {
            let bit = Words::single(bit);
            self.extend(chosen.or(&bit), excluded);
            excluded = excluded.or(&bit);
        });
    }
}
