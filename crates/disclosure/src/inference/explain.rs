//! Explanations: the worst inference behind a score, with its known and inferred attributes, its likelihood
//! and danger, and as text.
//!
//! A search stores the slots that are known in the worst inference about a row. From these, the inferred
//! attributes and their confidence are counted again, with the help of posting lists. Rows that share an
//! inference share its explanation.

use super::Attribute;
use super::bitset::Words;
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
    /// Danger dg(I) of the inferred attributes (White, Definition 3.4).
    pub danger: f64,
    /// Number of rows of the table that have all known attributes.
    pub support: u64,
}

impl Inference {
    /// Returns the weight w(K) of the inference (White, Definition 3.2).
    pub fn weight(&self) -> f64 {
        self.likelihood * self.danger
    }

    /// Returns the confidence of the least certain inferred attribute, or `None` if nothing is inferred.
    pub fn confidence(&self) -> Option<f64> {
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
    /// Share of the rows with the known attributes that have this one too.
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

/// Returns the worst inference about each of these distinct rows, as found by `scores`. If only certain
/// inferences count, known attributes that are not needed are left out.
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
        Ok(explain_alike(
            &input,
            &postings,
            settings.min_confidence,
            &alike[0].1,
            &of_alike,
        ))
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
    Ok(explanations)
}

/// Returns the inferences about rows that share the known attributes. A certain inference is the same for all
/// of them and is returned once. Probable inferences depend on the other attributes of each row, so one is
/// returned per row.
fn explain_alike<const P: usize>(
    input: &SearchInput<P>,
    postings: &Postings,
    min_confidence: f64,
    known: &[u64; P],
    rows: &[usize],
) -> Vec<Inference> {
    if min_confidence == 1.0 {
        let known = shorten(input, postings, rows[0], *known);
        return vec![certain_inference(input, postings, rows[0], &known)];
    }
    let mut support = 0;
    let mut counts: FxHashMap<(usize, usize), u64> = FxHashMap::default();
    let mut source = TableMasks::new(input, postings, rows[0]);
    source.begin(known);
    source.scan(|other, _| {
        let multiplicity = input.table.multiplicity[other];
        support += multiplicity;
        for (slot_index, slot) in input.table.slots.iter().enumerate() {
            *counts
                .entry((slot_index, slot.slot_code(&input.rows[other])))
                .or_default() += multiplicity;
        }
        true
    });
    let explain = |&row: &usize| {
        let others = input.table.slots.iter().enumerate().map(|(slot_index, slot)| {
            let slot_code = slot.slot_code(&input.rows[row]);
            (
                slot,
                slot_code,
                counts.get(&(slot_index, slot_code)).copied().unwrap_or(0),
            )
        });
        inference_from_counts(input, min_confidence, row, known, support, others)
    };
    rows.iter().map(explain).collect()
}

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
    let of_row = table.slots.iter().map(|slot| {
        let slot_code = slot.slot_code(&input.rows[row]);
        (slot, slot_code, support - lacking[slot.bit])
    });
    inference_from_counts(input, 1.0, row, known, support, of_row)
}

/// Returns the inference from the known attributes of `row`, which `support` rows have. `others` are the
/// attributes that may be inferred, by slot and slot code, each with the number of rows that have it along
/// with the known ones. Slot code 0, known attributes, harmless ones and those below `min_confidence` are
/// left out.
pub(super) fn inference_from_counts<'a, const P: usize>(
    input: &SearchInput<P>,
    min_confidence: f64,
    row: usize,
    known: &[u64; P],
    support: u64,
    others: impl Iterator<Item = (&'a Slot, usize, u64)>,
) -> Inference {
    let table = input.table;
    let mut inference = Inference {
        known: Vec::new(),
        inferred: Vec::new(),
        likelihood: 1.0,
        danger: 0.0,
        support,
    };
    for slot in table.slots.iter().filter(|slot| known.has(slot.bit)) {
        let slot_code = slot.slot_code(&input.rows[row]);
        inference.known.push(table.attribute(slot, slot_code));
        inference.likelihood *= slot.likelihood[slot_code];
    }
    let mut danger = 0.0;
    for (slot, slot_code, rows) in others {
        let confidence = rows as f64 / support as f64;
        if slot_code > 0
            && !known.has(slot.bit)
            && confidence >= min_confidence
            && slot.danger[slot_code] > 0.0
        {
            inference.inferred.push(InferredAttribute {
                attribute: table.attribute(slot, slot_code),
                confidence,
            });
            danger += confidence * slot.danger[slot_code];
        }
    }
    inference.known.sort_unstable();
    inference
        .inferred
        .sort_unstable_by_key(|inferred| inferred.attribute);
    inference.danger = input.danger_function.of_sum(danger);
    inference
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
