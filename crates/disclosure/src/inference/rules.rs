//! The rules K ⇒ I with the largest weights in a table. They show what a table gives away, not about whom.
//!
//! Sets K are searched by a bound on their weight, the largest bound first. No inference from K or more than
//! K is more dangerous than all unknown attributes of a row with K together. So the search ends as soon as
//! there are as many rules as requested and no bound is above the smallest of their weights.

use super::bitset::Words;
use super::explain::conclude;
use super::packed_table::{PackedTable, Slot, with_width};
use super::postings::{Postings, TableWitnesses};
use super::score::{NEARLY_EQUAL, SearchInput, Settings};
use super::search::Witnesses;
use super::{Attribute, Inference};
use crate::{Control, Error, Result};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, BinaryHeap};

/// Limits on the rules to find.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RuleSettings {
    /// Smallest weight of a rule, between 0 and 1.
    pub min_weight: f64,
    /// Largest number of rules to return.
    pub most: usize,
}

impl Default for RuleSettings {
    fn default() -> Self {
        RuleSettings {
            min_weight: 0.0,
            most: 1000,
        }
    }
}

impl RuleSettings {
    /// Checks that the settings are allowed.
    pub fn check(&self) -> Result<()> {
        if !(0.0..=1.0).contains(&self.min_weight) {
            return Err(Error::invalid(
                "min_weight",
                "must be between 0 and 1",
                "the weight from which on a rule counts",
            ));
        }
        Ok(())
    }
}

/// Rules of a table, those with the largest weight first.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Rules {
    /// Rules in descending order of weight. Of rules whose weights are equal up to a relative error of 1e-12,
    /// those with fewer known attributes come first.
    pub rules: Vec<Inference>,
    /// Whether these are the rules with the largest weights. If not, the budget ran out: these are rules, but
    /// there may be others with larger weights.
    pub complete: bool,
}

/// Returns the rules K ⇒ I with the largest weights lk(K) · dg(I) (White, Definition 3.2).
///
/// K is every set of attributes that some row has and that is *free*: without any one of them, more rows have
/// the rest. A set that is not free is no more likely and infers no more than the free part of it (White,
/// Lemma 4.11). I consists of all harmful attributes that at least a share `min_confidence` of the rows with
/// K have. Rules of weight 0 are left out.
pub fn rules(
    table: &PackedTable,
    settings: &Settings,
    wanted: &RuleSettings,
    control: &Control,
) -> Result<Rules> {
    settings.check()?;
    wanted.check()?;
    if table.is_empty() || wanted.most == 0 {
        return Ok(Rules {
            rules: Vec::new(),
            complete: true,
        });
    }
    with_width!(table.width, find_rules(table, settings, wanted, control))
}

fn find_rules<const P: usize>(
    table: &PackedTable,
    settings: &Settings,
    wanted: &RuleSettings,
    control: &Control,
) -> Result<Rules> {
    let input = SearchInput::<P>::new(table, settings, control);
    let postings = Postings::new(&input);
    let mut best = Best {
        input: &input,
        wanted,
        kept: BTreeSet::new(),
    };
    let complete = search(&input, &postings, settings.min_confidence, &mut best);
    let mut tally = Tally::of(table);
    let mut rules = Vec::with_capacity(best.kept.len());
    for rule in best.kept {
        control.check()?;
        rules.push(
            rule.set
                .inference(&input, &postings, settings.min_confidence, &mut tally),
        );
    }
    control.check()?;
    Ok(Rules { rules, complete })
}

/// Rules with the largest weights so far.
struct Best<'a, const P: usize> {
    input: &'a SearchInput<'a, P>,
    wanted: &'a RuleSettings,
    kept: BTreeSet<Rule<P>>,
}

/// Rule, in the order in which rules are reported.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rule<const P: usize> {
    rank: Reverse<u64>,
    size: usize,
    known: Vec<Attribute>,
    set: KnownSet<P>,
}

impl<const P: usize> Audience<P> for Best<'_, P> {
    fn wants(&self, weight: f64, size: usize) -> bool {
        // Twice, because a bound may be slightly below the weight that it bounds.
        let enough = weight * NEARLY_EQUAL * NEARLY_EQUAL >= self.wanted.min_weight;
        let worst = self.kept.last().filter(|_| self.kept.len() >= self.wanted.most);
        enough && worst.is_none_or(|worst| may_precede(weight, size, worst.rank.0, worst.size))
    }

    fn take(&mut self, set: KnownSet<P>, weight: f64) {
        if weight * NEARLY_EQUAL < self.wanted.min_weight {
            return;
        }
        let known = set.attributes(self.input);
        self.kept.insert(Rule {
            rank: Reverse(rank(weight)),
            size: known.len(),
            known,
            set,
        });
        if self.kept.len() > self.wanted.most {
            self.kept.pop_last();
        }
    }
}

/// Returns a number that orders weights but is equal for weights that differ by rounding only, by about 1e-12
/// of their value (unless they are on different sides of a rounding boundary). Otherwise, sums and products
/// of the same numbers in another order would be sorted by chance.
pub(super) fn rank(weight: f64) -> u64 {
    const DROPPED_BITS: u32 = 12;
    (weight.to_bits() + (1 << (DROPPED_BITS - 1))) >> DROPPED_BITS
}

/// Returns whether something of about this weight and size may come before something of rank `worst_rank` and
/// size `worst_size`. The order is by weight, then by size.
pub(super) fn may_precede(weight: f64, size: usize, worst_rank: u64, worst_size: usize) -> bool {
    let rank = rank(weight);
    rank > worst_rank || (rank + 1 >= worst_rank && size <= worst_size)
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
            .map(|slot| input.table.attribute(slot, slot.code(row)))
            .collect();
        attributes.sort_unstable();
        attributes
    }

    /// Returns whether the set is free: without any one of its attributes, more rows have the rest.
    fn is_free(&self, input: &SearchInput<P>, postings: &Postings) -> bool {
        let mut witnesses = TableWitnesses::new(input, postings, self.row as usize);
        let mut free = true;
        self.slots.for_each(|bit| {
            if free {
                witnesses.begin(&self.slots.without(&Words::single(bit)));
                free = !witnesses.scan(|_, mask| !mask.has(bit));
            }
        });
        free
    }

    /// Returns all distinct rows that have the set, in ascending order.
    pub fn rows(&self, input: &SearchInput<P>, postings: &Postings) -> Vec<u32> {
        let mut witnesses = TableWitnesses::new(input, postings, self.row as usize);
        witnesses.begin(&self.slots);
        let mut rows = Vec::new();
        witnesses.scan(|other, _| {
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
        min_confidence: f64,
        tally: &mut Tally,
    ) -> Inference {
        let rows = self.rows(input, postings);
        let support = rows
            .iter()
            .map(|&row| input.table.multiplicity[row as usize])
            .sum();
        let slots = &input.table.slots;
        let others = tally
            .count(input, &rows)
            .iter()
            .map(|had| (&slots[had.slot], had.code, had.rows));
        conclude(
            input,
            min_confidence,
            self.row as usize,
            &self.slots,
            support,
            others,
        )
    }
}

/// Counter of the rows that have each attribute.
pub(super) struct Tally {
    of_code: Vec<u64>,
    counted: Vec<Had>,
}

/// Attribute, and the number of rows that have it.
pub(super) struct Had {
    pub slot: usize,
    pub code: usize,
    pub rows: u64,
}

impl Tally {
    pub fn of(table: &PackedTable) -> Self {
        Tally {
            of_code: vec![0; most_codes(table)],
            counted: Vec::new(),
        }
    }

    /// Returns the codes that occur in these rows, including 0, with the number of rows that have each. They
    /// are ordered by slot, and then by the first row that has them.
    fn count<const P: usize>(&mut self, input: &SearchInput<P>, rows: &[u32]) -> &[Had] {
        self.counted.clear();
        for (number, slot) in input.table.slots.iter().enumerate() {
            let first = self.counted.len();
            for &row in rows {
                let code = slot.code(&input.rows[row as usize]);
                if self.of_code[code] == 0 {
                    self.counted.push(Had {
                        slot: number,
                        code,
                        rows: 0,
                    });
                }
                self.of_code[code] += input.table.multiplicity[row as usize];
            }
            for had in &mut self.counted[first..] {
                had.rows = std::mem::take(&mut self.of_code[had.code]);
            }
        }
        &self.counted
    }
}

/// Returns the largest number of codes of a slot, including 0.
fn most_codes(table: &PackedTable) -> usize {
    let codes = table.slots.iter().map(|slot| slot.danger.len());
    codes.max().unwrap_or_default()
}

/// Consumer of free sets with large weights.
pub(super) trait Audience<const P: usize> {
    /// Returns whether a set of this many attributes is of use if its weight is at most `weight`. Once false,
    /// it is never true again.
    fn wants(&self, weight: f64, size: usize) -> bool;
    /// Takes a free set of this weight.
    fn take(&mut self, set: KnownSet<P>, weight: f64);
    /// Is called when all sets with a larger weight have been taken.
    fn expect_at_most(&mut self, _weight: f64) {}
}

/// Largest number of rows in all waiting parts together. Beyond it, parts are searched immediately, which
/// needs no room but is a worse order.
const MOST_WAITING: usize = 50_000_000;

/// Number of rows above which a single slot may take milliseconds.
const MANY_ROWS: usize = 10_000;

/// Passes to the audience all free sets with a positive weight that it wants. Returns whether the search was
/// finished in time.
pub(super) fn search<const P: usize>(
    input: &SearchInput<P>,
    postings: &Postings,
    min_confidence: f64,
    audience: &mut impl Audience<P>,
) -> bool {
    let searchable = input.table.searchable;
    let mut ahead = vec![Ahead::NOTHING; searchable + 1];
    for (number, slot) in input.table.slots[..searchable].iter().enumerate().rev() {
        ahead[number] = ahead[number + 1].and(slot);
    }
    let everything = |row: &[u64; P]| input.danger_of(row, &input.fields.occupied(row));
    let mut search = FreeSets {
        input,
        postings,
        min_confidence,
        ahead,
        danger_of_row: input.rows.iter().map(everything).collect(),
        audience,
        waiting: BinaryHeap::new(),
        rows_waiting: 0,
        groups: Groups::of(input.table),
        tally: Tally::of(input.table),
    };
    let all: Vec<u32> = (0..input.rows.len() as u32).collect();
    let nothing = Known {
        slots: [0; P],
        size: 0,
        likelihood: 1.0,
        danger: 0.0,
        from: 0,
    };
    let mut part = search.look(nothing, &all);
    while let Some(next) = part {
        search.audience.expect_at_most(next.bound);
        if !search.divide(next) {
            return false;
        }
        part = search.waiting.pop();
        search.rows_waiting -= part.as_ref().map_or(0, |part| part.rows.len());
    }
    search.audience.expect_at_most(0.0);
    true
}

/// Search for free sets, the largest bound first.
struct FreeSets<'a, const P: usize, A> {
    input: &'a SearchInput<'a, P>,
    postings: &'a Postings,
    min_confidence: f64,
    /// Per slot, bounds on the attributes that can become known in it or in later slots.
    ahead: Vec<Ahead>,
    danger_of_row: Vec<f64>,
    audience: &'a mut A,
    waiting: BinaryHeap<Part<P>>,
    rows_waiting: usize,
    groups: Groups,
    tally: Tally,
}

/// Bounds on the attributes that can be known in some slots.
#[derive(Clone, Copy)]
struct Ahead {
    likeliest: f64,
    least_danger: f64,
}

impl Ahead {
    const NOTHING: Self = Ahead {
        likeliest: 0.0,
        least_danger: f64::INFINITY,
    };

    fn and(self, slot: &Slot) -> Self {
        let weights = slot.likelihood.iter().zip(&slot.danger);
        let searchable = weights.filter(|&(&likelihood, _)| likelihood > 0.0);
        searchable.fold(self, |ahead, (&likelihood, &danger)| Ahead {
            likeliest: ahead.likeliest.max(likelihood),
            least_danger: ahead.least_danger.min(danger),
        })
    }
}

/// Attributes that the rows of a part share and that the adversary is assumed to know.
#[derive(Clone, Copy)]
struct Known<const P: usize> {
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
    known: Known<P>,
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

impl<const P: usize, A: Audience<P>> FreeSets<'_, P, A> {
    /// Searches all sets with one more known attribute. Returns whether the search was finished in time.
    fn divide(&mut self, part: Part<P>) -> bool {
        if !self.audience.wants(part.bound, part.known.size + 1) {
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
        for (number, slot) in searchable.iter().enumerate().skip(part.known.from) {
            if part.rows.len() > MANY_ROWS && input.limits.reached() {
                return false;
            }
            let mut smaller = Vec::new();
            let mut groups = std::mem::take(&mut self.groups);
            groups.split(input, slot, &part.rows);
            for (code, rows) in groups.iter() {
                let likelihood = part.known.likelihood * slot.likelihood[code];
                if likelihood > 0.0 && rows.len() < part.rows.len() {
                    let known = Known {
                        slots: part.known.slots.or(&Words::single(slot.bit)),
                        size: part.known.size + 1,
                        likelihood,
                        danger: part.known.danger + slot.danger[code],
                        from: number + 1,
                    };
                    smaller.extend(self.look(known, rows));
                }
            }
            self.groups = groups;
            for part in smaller {
                if self.rows_waiting + part.rows.len() <= MOST_WAITING {
                    self.rows_waiting += part.rows.len();
                    self.waiting.push(part);
                } else if !self.divide(part) {
                    return false;
                }
            }
        }
        true
    }

    /// Passes the set of known attributes to the audience if it wants it. `rows` are all rows that have the
    /// set. Returns the part if a set with more known attributes may be wanted.
    fn look(&mut self, known: Known<P>, rows: &[u32]) -> Option<Part<P>> {
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
            known.likelihood * input.danger.of(unknown)
        };
        if !self.audience.wants(bound(largest), known.size) {
            return None;
        }
        // An inferred danger counts times the share of rows that have it, so all of them together are at most
        // the average danger of a row.
        if self.audience.wants(bound(sum / support as f64), known.size) {
            let weight = known.likelihood * input.danger.of(self.inferred_danger(&known, rows, support));
            let set = known.set(rows);
            if weight > 0.0
                && self.audience.wants(weight, known.size)
                && (known.size < 2 || set.is_free(input, self.postings))
            {
                self.audience.take(set, weight);
            }
        }
        // If only one row has the set, all its attributes are inferred, so more need not be known.
        let ahead = self.ahead[known.from];
        if rows.len() == 1 || ahead.likeliest == 0.0 {
            return None;
        }
        let worst = &input.rows[worst as usize];
        let unknown = input.danger_of(worst, &input.fields.occupied(worst).without(&known.slots));
        let left = (unknown - ahead.least_danger).max(0.0);
        let bound = known.likelihood * ahead.likeliest * input.danger.of(left);
        let deeper = bound > 0.0 && self.audience.wants(bound, known.size + 1);
        deeper.then(|| Part {
            known,
            rows: rows.to_vec(),
            bound,
        })
    }

    /// Returns the sum of the dangers of all inferred attributes, each times its confidence.
    fn inferred_danger(&mut self, known: &Known<P>, rows: &[u32], support: u64) -> f64 {
        let input = self.input;
        if self.min_confidence == 1.0 {
            let first = &input.rows[rows[0] as usize];
            let differing = rows.iter().fold([0; P], |bits: [u64; P], &row| {
                bits.or(&input.rows[row as usize].xor(first))
            });
            let shared = input
                .fields
                .occupied(first)
                .without(&input.fields.occupied(&differing));
            return input.danger_of(first, &shared.without(&known.slots));
        }
        let slots = &input.table.slots;
        let others = self.tally.count(input, rows).iter();
        others
            .filter(|had| !known.slots.has(slots[had.slot].bit))
            .map(|had| (had.rows as f64 / support as f64, slots[had.slot].danger[had.code]))
            .filter(|&(confidence, _)| confidence >= self.min_confidence)
            .map(|(confidence, danger)| confidence * danger)
            .sum()
    }
}

impl<const P: usize> Known<P> {
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
    /// Per code, the position of its next row. All 0 except while rows are split.
    place: Vec<u32>,
    /// Codes that occur, and the ends of their groups in `rows`.
    ends: Vec<(usize, usize)>,
    rows: Vec<u32>,
}

impl Groups {
    fn of(table: &PackedTable) -> Self {
        Groups {
            place: vec![0; most_codes(table)],
            ..Self::default()
        }
    }

    /// Splits rows into groups by counting sort. Rows keep their order within a group.
    fn split<const P: usize>(&mut self, input: &SearchInput<P>, slot: &Slot, rows: &[u32]) {
        self.ends.clear();
        self.rows.resize(rows.len(), 0);
        for &row in rows {
            let code = slot.code(&input.rows[row as usize]);
            if self.place[code] == 0 {
                self.ends.push((code, 0));
            }
            self.place[code] += 1;
        }
        let mut start = 0;
        for (code, end) in &mut self.ends {
            *end = start + self.place[*code] as usize;
            self.place[*code] = start as u32;
            start = *end;
        }
        for &row in rows {
            let code = slot.code(&input.rows[row as usize]);
            self.rows[self.place[code] as usize] = row;
            self.place[code] += 1;
        }
        for &(code, _) in &self.ends {
            self.place[code] = 0;
        }
    }

    /// Returns the code and the rows of each group.
    fn iter(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let mut start = 0;
        self.ends.iter().map(move |&(code, end)| {
            let rows = &self.rows[start..end];
            start = end;
            (code, rows)
        })
    }
}
