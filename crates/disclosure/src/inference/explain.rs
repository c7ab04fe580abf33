//! Explanations: the worst inference behind a score, with its known and inferred attributes, its likelihood
//! and danger, and as text.
//!
//! A search stores the slots that are known in the worst inference about a row. From these, the inferred
//! attributes and their confidence are counted again, with the help of posting lists. Rows that share a certain
//! inference share its explanation.

use super::Attribute;
use super::bitset::Words;
use super::joint::{JointInference, worst_set};
use super::packed_table::{PackedTable, Slot, with_width};
use super::postings::{Postings, TableMasks};
use super::score::{Scores, SearchInput, Settings};
use super::search::MaskSource;
use crate::parallel_sort::parallel_sort;
use crate::{Control, Result};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Inference from known attributes to others.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Inference {
    /// Attributes that the adversary has to know.
    pub known: Vec<Attribute>,
    /// Harmful attributes that the adversary then infers.
    pub inferred: Vec<InferredAttribute>,
    /// Likelihood lk(K) of the known attributes (White, Definition 3.3).
    pub likelihood: f64,
    /// Danger dg(I) of the inferred attributes (White, Definition 3.4). With separate confidence, the danger of
    /// each is multiplied by its share.
    pub danger: f64,
    /// Number of rows of the table that have all known attributes.
    pub support: u64,
    /// With joint confidence, the share of these rows that have all inferred attributes, which multiplies the
    /// danger; otherwise `None`.
    pub joint_confidence: Option<f64>,
}

impl Inference {
    /// Returns the weight w(K) of the inference (White, Definition 3.2).
    pub fn weight(&self) -> f64 {
        self.likelihood * self.danger * self.joint_confidence.unwrap_or(1.0)
    }

    /// Returns the joint confidence of all inferred attributes or, if each has its own, the confidence of the least
    /// certain one; `None` if nothing is inferred.
    pub fn confidence(&self) -> Option<f64> {
        if self.joint_confidence.is_some() {
            return self.joint_confidence.filter(|_| !self.inferred.is_empty());
        }
        let confidences = self.inferred.iter().map(|inferred| inferred.confidence);
        confidences.min_by(f64::total_cmp)
    }

    /// Returns the inference as a formula, such as `zip=90210 & sex=f ⇒ diagnosis=hiv`, or `None` if nothing
    /// is inferred. `name` returns the name of an attribute. Attributes that all rows share follow from
    /// nothing: `⇒ country=fr`.
    pub fn formula(&self, name: impl Fn(Attribute) -> String) -> Option<String> {
        let (known, inferred) = self.conjunctions(name)?;
        Some(format!("{known} ⇒ {inferred}").trim_start().into())
    }

    /// Returns the inference as a sentence, such as `anyone who knows zip=90210 & sex=f learns
    /// diagnosis=hiv`, or `None` if nothing is inferred. `name` returns the name of an attribute.
    pub fn sentence(&self, name: impl Fn(Attribute) -> String) -> Option<String> {
        let (known, inferred) = self.conjunctions(name)?;
        let who = if self.known.is_empty() {
            "anyone".into()
        } else {
            format!("anyone who knows {known}")
        };
        let probably = match self.confidence() {
            Some(confidence) if confidence < 1.0 => "probably ",
            _ => "",
        };
        Some(format!("{who} {probably}learns {inferred}"))
    }

    /// Returns the names of the known and of the inferred attributes, each joined by `&`, or `None` if
    /// nothing is inferred.
    fn conjunctions(&self, name: impl Fn(Attribute) -> String) -> Option<(String, String)> {
        let known: Vec<String> = self.known.iter().map(|&known| name(known)).collect();
        let inferred = self.inferred.iter().map(|inferred| name(inferred.attribute));
        let inferred: Vec<String> = inferred.collect();
        (!inferred.is_empty()).then(|| (known.join(" & "), inferred.join(" & ")))
    }
}

/// Inferred attribute and its confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct InferredAttribute {
    /// Attribute that is inferred.
    pub attribute: Attribute,
    /// Share of the rows with the known attributes that have this one too, of those in which it is not unknown.
    pub confidence: f64,
}

/// Worst inferences about some rows.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Explanations {
    /// Inferences about the rows. Rows with the same certain inference share one.
    inferences: Vec<Inference>,
    /// Index into `inferences` for each of the rows.
    of_row: Vec<u32>,
}

impl Explanations {
    /// Returns the inference about the row at this position of the rows that were given to [`explain`].
    pub fn of(&self, position: usize) -> &Inference {
        &self.inferences[self.of_row[position] as usize]
    }
}

/// Returns the worst inference about each of these distinct rows, as found by `scores` or
/// [`fewest_known`](super::fewest_known). If only certain inferences count and nothing is unknown, known attributes that are
/// not needed are left out. Otherwise, only `fewest_known` does that.
pub fn explain(
    table: &PackedTable,
    settings: &Settings,
    scores: &Scores,
    rows: &[usize],
    control: &Control,
) -> Result<Explanations> {
    settings.check()?;
    with_width!(table.width, explain_rows(table, settings, scores, rows, control))
}

/// Known attributes of a row's worst inference, as a packed row and as slots, and the row's position among
/// the given rows.
type KnownOfRow<const P: usize> = ([u64; P], [u64; P], u32);

fn explain_rows<const P: usize>(
    table: &PackedTable,
    settings: &Settings,
    scores: &Scores,
    rows: &[usize],
    control: &Control,
) -> Result<Explanations> {
    if rows.is_empty() {
        return Ok(Explanations::default());
    }
    let input = SearchInput::<P>::new(table, settings, control);
    let postings = Postings::new(&input);
    let known: &[[u64; P]] = scores.known.as_chunks().0;
    let known_of_rows = rows
        .par_iter()
        .zip(0u32..rows.len() as u32)
        .map(|(&row, position)| {
            let attributes = table.restricted_to(&input.rows[row], &known[row]);
            (attributes, known[row], position)
        });
    let mut known_of_rows: Vec<KnownOfRow<P>> = known_of_rows.collect();
    parallel_sort(&mut known_of_rows, control)?;
    let alike: Vec<&[KnownOfRow<P>]> = known_of_rows.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).collect();
    control.set_total(rows.len() as u64);
    let explain = |alike: &&[KnownOfRow<P>]| {
        control.check()?;
        control.advance(alike.len() as u64);
        let of_alike: Vec<usize> = alike
            .iter()
            .map(|&(_, _, position)| rows[position as usize])
            .collect();
        let is_minimal = |&row: &usize| scores.has_fewest_known.get(row) == Some(&true);
        Ok(if input.is_certain() {
            let mut known = alike[0].1;
            if !of_alike.iter().any(is_minimal) {
                known = shorten(&input, &postings, of_alike[0], known);
            }
            vec![certain_inference(&input, &postings, of_alike[0], &known)]
        } else {
            let mut rows = RowsWithKnown::new(&input, &postings, of_alike[0], alike[0].1);
            of_alike.iter().map(|&row| rows.inference(row)).collect()
        })
    };
    let explained: Vec<Vec<Inference>> = alike.par_iter().map(explain).collect::<Result<_>>()?;
    let mut explanations = Explanations {
        inferences: Vec::new(),
        of_row: vec![0; rows.len()],
    };
    for (alike, inferences) in alike.into_iter().zip(explained) {
        let first = explanations.inferences.len();
        for (index, &(_, _, position)) in alike.iter().enumerate() {
            explanations.of_row[position as usize] = (first + index.min(inferences.len() - 1)) as u32;
        }
        explanations.inferences.extend(inferences);
    }
    control.check()?;
    Ok(explanations)
}

/// Rows that have some known attributes, counted by their other attributes.
struct RowsWithKnown<'a, const P: usize> {
    input: &'a SearchInput<'a, P>,
    known: [u64; P],
    rows: Vec<u32>,
    support: u64,
    /// Numbers of rows by slot index and slot code. Those in which the slot is unknown are not counted.
    counts: FxHashMap<(usize, usize), u64>,
    /// Sets that are inferred with joint confidence, by the attributes that may be inferred.
    joint: FxHashMap<[u64; P], JointInference<P>>,
}

impl<'a, const P: usize> RowsWithKnown<'a, P> {
    /// Counts the rows that have the attributes of `row` in the slots `known`.
    fn new(input: &'a SearchInput<'a, P>, postings: &Postings, row: usize, known: [u64; P]) -> Self {
        let mut rows = RowsWithKnown {
            input,
            known,
            rows: Vec::new(),
            support: 0,
            counts: FxHashMap::default(),
            joint: FxHashMap::default(),
        };
        let mut source = TableMasks::new(input, postings, row);
        source.begin(&known);
        source.scan(|other, _| {
            let multiplicity = input.table.multiplicity[other];
            rows.rows.push(other as u32);
            rows.support += multiplicity;
            let bits = &input.rows[other];
            for (slot_index, slot) in input.table.slots.iter().enumerate() {
                if !slot.is_unknown(bits) {
                    let key = (slot_index, slot.slot_code(bits));
                    *rows.counts.entry(key).or_default() += multiplicity;
                    *rows.counts.entry((slot_index, ANY)).or_default() += multiplicity;
                }
            }
            true
        });
        rows
    }

    fn count(&self, slot_index: usize, slot_code: usize) -> u64 {
        self.counts.get(&(slot_index, slot_code)).copied().unwrap_or(0)
    }

    /// Returns the inference about a row that has the known attributes.
    fn inference(&mut self, row: usize) -> Inference {
        let bits = &self.input.rows[row];
        let slots = self.input.table.slots.iter().enumerate();
        let others = slots.map(|(slot_index, slot)| {
            let slot_code = slot.slot_code(bits);
            CountedAttribute {
                slot,
                slot_code,
                having: self.count(slot_index, slot_code),
                telling: self.count(slot_index, ANY),
            }
        });
        let others: Vec<CountedAttribute> = others.collect();
        let inferred = others
            .iter()
            .filter(|other| other.is_inferred(self.input, &self.known));
        let among = inferred.fold([0; P], |slots: [u64; P], other| {
            slots.or(&Words::single(other.slot.bit))
        });
        let mut inference =
            inference_from_counts(self.input, row, &self.known, self.support, others.into_iter());
        if self.input.joint_confidence {
            let attributes = self.input.table.restricted_to(bits, &among);
            let joint = *self.joint.entry(attributes).or_insert_with(|| {
                let rows = self.rows.iter().copied();
                let is_cancelled = || self.input.limits.control.check().is_err();
                let found = worst_set(
                    self.input,
                    bits,
                    &among,
                    rows,
                    JointInference::NOTHING,
                    is_cancelled,
                );
                found.unwrap_or(JointInference::NOTHING) // cancelled, so it will not be used
            });
            restrict_to_joint(self.input, &mut inference, bits, &joint);
        }
        inference
    }
}

/// Stands for all slot codes.
const ANY: usize = usize::MAX;

/// Returns the known slots without those that are not needed. An attribute that is known for certain does not
/// make an inference less likely, so a search may have taken some that add nothing.
fn shorten<const P: usize>(
    input: &SearchInput<P>,
    postings: &Postings,
    row: usize,
    known: [u64; P],
) -> [u64; P] {
    let bits = &input.rows[row];
    let mut source = TableMasks::new(input, postings, row);
    source.begin(&known);
    let mut missing = [0; P];
    source.scan(|_, mask| {
        missing = missing.or(&mask);
        true
    });
    let mut harmful = input.fields.occupied(bits).without(&missing).without(&known);
    for slot in &input.table.slots {
        if slot.danger[slot.slot_code(bits)] == 0.0 {
            harmful = harmful.without(&Words::single(slot.bit));
        }
    }
    let mut needed = known;
    // The slots that tell rows apart best come first. Going backwards keeps those.
    for slot in input.table.slots.iter().rev() {
        if needed.has(slot.bit) && slot.likelihood[slot.slot_code(bits)] == 1.0 {
            let without = needed.without(&Words::single(slot.bit));
            source.begin(&without);
            if source.scan(|_, mask| !mask.meets(&harmful)) {
                needed = without;
            }
        }
    }
    needed
}

/// Returns the certain inference from these attributes of a row.
fn certain_inference<const P: usize>(
    input: &SearchInput<P>,
    postings: &Postings,
    row: usize,
    known: &[u64; P],
) -> Inference {
    let table = input.table;
    let mut source = TableMasks::new(input, postings, row);
    let mut support = 0;
    let mut lacking = vec![0; 64 * P];
    source.begin(known);
    source.scan(|other, mask| {
        let rows = table.multiplicity[other];
        support += rows;
        mask.for_each(|bit| lacking[bit] += rows);
        true
    });
    let of_row = table.slots.iter().map(|slot| CountedAttribute {
        slot,
        slot_code: slot.slot_code(&input.rows[row]),
        having: support - lacking[slot.bit],
        telling: support,
    });
    inference_from_counts(input, row, known, support, of_row)
}

/// Attribute, and numbers of rows.
#[derive(Clone, Copy)]
pub(super) struct CountedAttribute<'a> {
    pub slot: &'a Slot,
    /// 0 if it is no attribute.
    pub slot_code: usize,
    /// Number of rows that have the attribute.
    pub having: u64,
    /// Number of rows of which it is known whether they have it.
    pub telling: u64,
}

impl CountedAttribute<'_> {
    /// Returns the share of the rows that have the attribute.
    fn confidence(&self) -> f64 {
        self.having as f64 / self.telling as f64
    }

    /// Returns the danger of the attribute, times its share.
    pub fn danger(&self) -> f64 {
        self.confidence() * self.slot.danger[self.slot_code]
    }

    /// Returns whether this is an attribute, not known, harmful, and of enough rows to be inferred.
    pub fn is_inferred<const P: usize>(&self, input: &SearchInput<P>, known: &[u64; P]) -> bool {
        self.slot_code > 0
            && !known.has(self.slot.bit)
            && self.confidence() >= input.min_confidence
            && self.slot.danger[self.slot_code] > 0.0
    }
}

/// Returns the inference from the known attributes of `row`, which `support` rows have, with separate confidence.
/// `others` are the attributes that may be inferred, counted in these rows.
pub(super) fn inference_from_counts<'a, const P: usize>(
    input: &SearchInput<P>,
    row: usize,
    known: &[u64; P],
    support: u64,
    others: impl Iterator<Item = CountedAttribute<'a>>,
) -> Inference {
    let table = input.table;
    let mut inference = Inference {
        known: Vec::new(),
        inferred: Vec::new(),
        likelihood: 1.0,
        danger: 0.0,
        support,
        joint_confidence: None,
    };
    for slot in table.slots.iter().filter(|slot| known.has(slot.bit)) {
        let slot_code = slot.slot_code(&input.rows[row]);
        inference.known.push(table.attribute(slot, slot_code));
        inference.likelihood *= slot.likelihood[slot_code];
    }
    let mut danger = 0.0;
    for counted in others.filter(|other| other.is_inferred(input, known)) {
        inference.inferred.push(InferredAttribute {
            attribute: table.attribute(counted.slot, counted.slot_code),
            confidence: counted.confidence(),
        });
        danger += counted.danger();
    }
    inference.known.sort_unstable();
    inference
        .inferred
        .sort_unstable_by_key(|inferred| inferred.attribute);
    inference.danger = input.danger_function.of_sum(danger);
    inference
}

/// Restricts an inference to the attributes of a packed row that are inferred with joint confidence.
pub(super) fn restrict_to_joint<const P: usize>(
    input: &SearchInput<P>,
    inference: &mut Inference,
    row: &[u64; P],
    joint: &JointInference<P>,
) {
    let attributes = input
        .table
        .unpacked(&input.table.restricted_to(row, &joint.inferred));
    inference
        .inferred
        .retain(|inferred| attributes.contains(&inferred.attribute));
    inference.danger = input
        .danger_function
        .of_sum(input.danger_of(row, &joint.inferred));
    inference.joint_confidence = Some(joint.confidence);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(attribute: Attribute) -> String {
        format!(
            "{}={}",
            ["zip", "sex", "diagnosis"][attribute.column as usize],
            attribute.index
        )
    }

    fn inference(known: &[u32], inferred: &[(u32, f64)]) -> Inference {
        let attribute = |column| Attribute { column, index: 7 };
        let inferred = inferred.iter().map(|&(column, confidence)| InferredAttribute {
            attribute: attribute(column),
            confidence,
        });
        Inference {
            known: known.iter().copied().map(attribute).collect(),
            inferred: inferred.collect(),
            likelihood: 1.0,
            danger: 0.5,
            support: 2,
            joint_confidence: None,
        }
    }

    #[test]
    fn inferences_in_symbols_and_in_words() {
        let certain = inference(&[0, 1], &[(2, 1.0)]);
        assert_eq!(certain.formula(name).unwrap(), "zip=7 & sex=7 ⇒ diagnosis=7");
        assert_eq!(
            certain.sentence(name).unwrap(),
            "anyone who knows zip=7 & sex=7 learns diagnosis=7"
        );
        let probable = inference(&[0], &[(1, 1.0), (2, 0.9)]);
        assert_eq!(probable.confidence(), Some(0.9));
        assert_eq!(
            probable.sentence(name).unwrap(),
            "anyone who knows zip=7 probably learns sex=7 & diagnosis=7"
        );
        let common = inference(&[], &[(2, 1.0)]);
        assert_eq!(common.formula(name).unwrap(), "⇒ diagnosis=7");
        assert_eq!(common.sentence(name).unwrap(), "anyone learns diagnosis=7");
        let nothing = inference(&[0], &[]);
        assert_eq!((nothing.formula(name), nothing.sentence(name)), (None, None));
        assert_eq!(nothing.confidence(), None);
    }
}
