//! Joint confidence (White, section 3.4): of all sets I of attributes that may be inferred from K, the one with
//! the largest conf(I|K) · dg(I), where conf(I|K) is the share of the rows with K that have all of I.
//!
//! A row of which it is unknown whether it has all of I is left out of the share, unless it is known to lack some
//! of I. So the share falls or stays the same with every attribute that is added to I, and
//! - no set that contains I and any of some further attributes has a larger share than I with that attribute alone;
//! - conf(I|K) · dg(I) is at most the danger by separate confidence, because each attribute of I has at least the
//!   share of I, and dg(conf · D) is at least conf · dg(D).

use super::bitset::Words;
use super::score::{NEARLY_EQUAL, SearchInput};
use rustc_hash::FxHashMap;

/// Set of attributes that are inferred together.
#[derive(Debug, Clone, Copy)]
pub(super) struct JointInference<const P: usize> {
    /// Slots of the inferred attributes.
    pub inferred: [u64; P],
    /// Share of the rows that have all of them.
    pub confidence: f64,
    /// Confidence times danger.
    pub value: f64,
}

impl<const P: usize> JointInference<P> {
    pub const NOTHING: Self = JointInference {
        inferred: [0; P],
        confidence: 1.0,
        value: 0.0,
    };
}

/// Rows that agree with the attributes that may be inferred in the same way.
struct Evidence<const P: usize> {
    /// Slots in which these rows are known to lack the attribute.
    lacking: [u64; P],
    /// Slots in which it is unknown whether they have it.
    unknown: [u64; P],
    rows: u64,
}

/// Attribute that may be added to a set.
#[derive(Clone, Copy)]
struct Extension {
    bit: usize,
    danger: f64,
    /// Confidence of the set with this attribute added.
    confidence: f64,
}

/// Set of attributes whose extensions are being searched.
struct Node<const P: usize> {
    inferred: [u64; P],
    confidence: f64,
    danger: f64,
    /// Number of rows that are known to lack some of the set.
    lacking: u64,
    /// All other rows, as indices of evidence.
    others: Vec<u32>,
    /// Attributes that may be added, the largest confidence first.
    extensions: Vec<Extension>,
    next: usize,
}

/// Returns the set of attributes with the largest confidence times danger, of those that `row` has in the slots
/// `among`; or `best` if no set is worse than that. `rows` are the rows with the known attributes. Returns `None`
/// if `should_stop` says so.
pub(super) fn worst_set<const P: usize>(
    input: &SearchInput<P>,
    row: &[u64; P],
    among: &[u64; P],
    rows: impl Iterator<Item = u32>,
    best: JointInference<P>,
    should_stop: impl Fn() -> bool,
) -> Option<JointInference<P>> {
    let search = JointSearch {
        input,
        row,
        evidence: evidence(input, row, among, rows, &should_stop)?,
    };
    let disputed = search.evidence.iter().fold([0; P], |union: [u64; P], evidence| {
        union.or(&evidence.lacking).or(&evidence.unknown)
    });
    // Attributes that all rows have cost nothing.
    let common = among.without(&disputed);
    let others: Vec<u32> = (0..search.evidence.len() as u32).collect();
    let mut best = best;
    let candidates = search.bits_of(&among.and(&disputed));
    let root = search.node(common, 0, others, &candidates);
    search.improve(&mut best, &root);
    let mut path = vec![root];
    while let Some(node) = path.last_mut() {
        if should_stop() {
            return None;
        }
        let from = node.next;
        node.next += 1;
        if from >= node.extensions.len() {
            path.pop();
            continue;
        }
        if search.bound(node, from) <= best.value * NEARLY_EQUAL {
            continue;
        }
        let added = Words::single(node.extensions[from].bit);
        let inferred = node.inferred.or(&added);
        let lacks = |&&other: &&u32| search.evidence[other as usize].lacking.meets(&added);
        let lacking = node
            .others
            .iter()
            .filter(lacks)
            .map(|&other| search.rows(other))
            .sum::<u64>();
        let others = node
            .others
            .iter()
            .filter(|other| !lacks(other))
            .copied()
            .collect();
        let candidates: Vec<usize> = node.extensions[from + 1..].iter().map(|more| more.bit).collect();
        let child = search.node(inferred, node.lacking + lacking, others, &candidates);
        search.improve(&mut best, &child);
        path.push(child);
    }
    Some(best)
}

/// Number of rows that are grouped between two checks of the limits.
const ROWS_PER_LOOK: usize = 4_096;

/// Groups the rows by the attributes of `row` that they lack or may lack. Returns `None` if `should_stop` says so.
fn evidence<const P: usize>(
    input: &SearchInput<P>,
    row: &[u64; P],
    among: &[u64; P],
    rows: impl Iterator<Item = u32>,
    should_stop: impl Fn() -> bool,
) -> Option<Vec<Evidence<P>>> {
    let slots: Vec<_> = input
        .table
        .slots
        .iter()
        .filter(|slot| among.has(slot.bit))
        .collect();
    let mut counts: FxHashMap<([u64; P], [u64; P]), u64> = FxHashMap::default();
    for (done, other) in rows.enumerate() {
        if done % ROWS_PER_LOOK == ROWS_PER_LOOK - 1 && should_stop() {
            return None;
        }
        let bits = &input.rows[other as usize];
        let missing = input.fields.missing(row, among, bits);
        let unknown = slots
            .iter()
            .filter(|slot| slot.is_unknown(bits))
            .fold([0; P], |set: [u64; P], slot| set.or(&Words::single(slot.bit)));
        *counts.entry((missing.without(&unknown), unknown)).or_default() +=
            input.table.multiplicity[other as usize];
    }
    let mut evidence: Vec<Evidence<P>> = counts
        .into_iter()
        .map(|((lacking, unknown), rows)| Evidence {
            lacking,
            unknown,
            rows,
        })
        .collect();
    evidence.sort_unstable_by_key(|evidence| (evidence.lacking, evidence.unknown));
    Some(evidence)
}

/// Search for the set with the largest confidence times danger.
struct JointSearch<'a, const P: usize> {
    input: &'a SearchInput<'a, P>,
    row: &'a [u64; P],
    evidence: Vec<Evidence<P>>,
}

impl<const P: usize> JointSearch<'_, P> {
    fn rows(&self, evidence: u32) -> u64 {
        self.evidence[evidence as usize].rows
    }

    fn bits_of(&self, slots: &[u64; P]) -> Vec<usize> {
        let mut bits = Vec::new();
        slots.for_each(|bit| bits.push(bit));
        bits
    }

    /// Returns the set with the attributes that may be added to it. Those that would take the confidence below the
    /// minimum are left out, because they would do so in every set that contains this one.
    fn node(&self, inferred: [u64; P], lacking: u64, others: Vec<u32>, candidates: &[usize]) -> Node<P> {
        let has_all = |other: u32| !self.evidence[other as usize].unknown.meets(&inferred);
        let having: u64 = others
            .iter()
            .filter(|&&other| has_all(other))
            .map(|&other| self.rows(other))
            .sum();
        let mut extensions: Vec<Extension> = candidates
            .iter()
            .map(|&bit| {
                let (mut having, mut lacking) = (having, lacking);
                for &other in &others {
                    let evidence = &self.evidence[other as usize];
                    let (lacks, unknown) = (evidence.lacking.has(bit), evidence.unknown.has(bit));
                    if lacks {
                        lacking += evidence.rows;
                    }
                    if (lacks || unknown) && has_all(other) {
                        having -= evidence.rows;
                    }
                }
                Extension {
                    bit,
                    danger: self.input.danger_of(self.row, &Words::single(bit)),
                    confidence: share(having, lacking),
                }
            })
            .filter(|extension| extension.confidence >= self.input.min_confidence)
            .collect();
        extensions.sort_by(|a, b| {
            let order = b.confidence.total_cmp(&a.confidence);
            order.then(b.danger.total_cmp(&a.danger)).then(a.bit.cmp(&b.bit))
        });
        Node {
            inferred,
            confidence: share(having, lacking),
            danger: self.input.danger_of(self.row, &inferred),
            lacking,
            others,
            extensions,
            next: 0,
        }
    }

    fn improve(&self, best: &mut JointInference<P>, node: &Node<P>) {
        let value = node.confidence * self.input.danger_function.of_sum(node.danger);
        if value > best.value * NEARLY_EQUAL {
            *best = JointInference {
                inferred: node.inferred,
                confidence: node.confidence,
                value,
            };
        }
    }

    /// Returns a bound on all sets that extend the node by this extension and any later ones. The least confident
    /// one that is added bounds the confidence, and all up to it bound the danger.
    fn bound(&self, node: &Node<P>, from: usize) -> f64 {
        let (mut danger, mut bound) = (node.danger, 0f64);
        for extension in &node.extensions[from..] {
            danger += extension.danger;
            bound = bound.max(extension.confidence * self.input.danger_function.of_sum(danger));
        }
        bound
    }
}

/// Returns the share of the rows that have something, of those that have or lack it.
fn share(having: u64, lacking: u64) -> f64 {
    if having == 0 {
        0.0
    } else {
        having as f64 / (having + lacking) as f64
    }
}
