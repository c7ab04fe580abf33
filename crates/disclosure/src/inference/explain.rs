//! The inference behind a score, as something to read.

use super::Attribute;
use super::bitset::Words;
use super::packed_table::{PackedTable, Slot, with_width};
use super::postings::{Postings, TableWitnesses};
use super::score::{Scores, SearchInput, Settings};
use super::search::Witnesses;
use crate::sort::sort;
use crate::{Control, Result};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// An inference: whoever knows these attributes learns those.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Inference {
    /// What the adversary has to know; nothing that could be left out.
    pub known: Vec<Attribute>,
    /// What he then infers, as far as it hurts.
    pub inferred: Vec<Inferred>,
    /// lk(K) of White's Definition 3.3.
    pub likelihood: f64,
    /// dg(I) of White's Definition 3.4.
    pub danger: f64,
    /// How many rows of the table have what is known.
    pub support: u64,
}

impl Inference {
    /// w(K) of White's Definition 3.2.
    pub fn weight(&self) -> f64 {
        self.likelihood * self.danger
    }

    /// Returns the confidence of the least certain attribute that is inferred; `None` if there is none.
    pub fn confidence(&self) -> Option<f64> {
        let confidences = self.inferred.iter().map(|inferred| inferred.confidence);
        confidences.min_by(f64::total_cmp)
    }

    /// Writes the inference as a formula, `zip=90210 & sex=f ⇒ diagnosis=hiv`, with the names that `name` has for
    /// attributes. What everybody shares follows from nothing, `⇒ country=fr`. Returns `None` if nothing is inferred.
    pub fn formula(&self, name: impl Fn(Attribute) -> String) -> Option<String> {
        let (known, inferred) = self.conjunctions(name)?;
        Some(format!("{known} ⇒ {inferred}").trim_start().into())
    }

    /// Writes the inference as a sentence, `who knows zip=90210 & sex=f learns diagnosis=hiv`, with the names that
    /// `name` has for attributes. Returns `None` if nothing is inferred.
    pub fn sentence(&self, name: impl Fn(Attribute) -> String) -> Option<String> {
        let (known, inferred) = self.conjunctions(name)?;
        let who = if self.known.is_empty() {
            "everybody".into()
        } else {
            format!("who knows {known}")
        };
        let probably = match self.confidence() {
            Some(confidence) if confidence < 1.0 => "probably ",
            _ => "",
        };
        Some(format!("{who} {probably}learns {inferred}"))
    }

    /// The names of what is known and of what is inferred, unless nothing is.
    fn conjunctions(&self, name: impl Fn(Attribute) -> String) -> Option<(String, String)> {
        let known: Vec<String> = self.known.iter().map(|&known| name(known)).collect();
        let inferred = self.inferred.iter().map(|inferred| name(inferred.attribute));
        let inferred: Vec<String> = inferred.collect();
        (!inferred.is_empty()).then(|| (known.join(" & "), inferred.join(" & ")))
    }
}

/// An attribute that is inferred.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Inferred {
    /// Which one.
    pub attribute: Attribute,
    /// The share of the rows with what is known that have it.
    pub confidence: f64,
}

/// The worst inferences about some rows.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Explanations {
    /// Rows about which the same is inferred from the same share one.
    inferences: Vec<Inference>,
    of_row: Vec<u32>,
}

impl Explanations {
    /// That of the row that was asked about at this place.
    pub fn of(&self, place: usize) -> &Inference {
        &self.inferences[self.of_row[place] as usize]
    }
}

/// The worst inference about each of these distinct rows, as `scores` found it.
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

/// What is known of a row, as attributes and as slots, and its place among those asked about.
type Keyed<const P: usize> = ([u64; P], [u64; P], u32);

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
    let keyed = rows.par_iter().zip(0u32..rows.len() as u32).map(|(&row, place)| {
        let attributes = table.within(&input.rows[row], &known[row]);
        (attributes, known[row], place)
    });
    let mut keyed: Vec<Keyed<P>> = keyed.collect();
    sort(&mut keyed, control)?;
    let alike: Vec<&[Keyed<P>]> = keyed.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).collect();
    control.set_total(rows.len() as u64);
    let explain = |alike: &&[Keyed<P>]| {
        control.check()?;
        control.advance(alike.len() as u64);
        let of_alike: Vec<usize> = alike.iter().map(|&(_, _, place)| rows[place as usize]).collect();
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
        for (number, &(_, _, place)) in alike.iter().enumerate() {
            explanations.of_row[place as usize] = (first + number.min(inferences.len() - 1)) as u32;
        }
        explanations.inferences.extend(inferences);
    }
    Ok(explanations)
}

/// The inferences about rows that share what is known: what is certain follows for all of them alike, and is given
/// once; what is only probable depends on what each of them has.
fn explain_alike<const P: usize>(
    input: &SearchInput<P>,
    postings: &Postings,
    min_confidence: f64,
    known: &[u64; P],
    rows: &[usize],
) -> Vec<Inference> {
    if min_confidence == 1.0 {
        let known = shorten(input, postings, rows[0], *known);
        return vec![inference(input, postings, rows[0], &known)];
    }
    let mut support = 0;
    let mut having: FxHashMap<(usize, usize), u64> = FxHashMap::default();
    let mut witnesses = TableWitnesses::new(input, postings, rows[0]);
    witnesses.begin(known);
    witnesses.scan(|other, _| {
        let multiplicity = input.table.multiplicity[other];
        support += multiplicity;
        for (number, slot) in input.table.slots.iter().enumerate() {
            *having.entry((number, slot.code(&input.rows[other]))).or_default() += multiplicity;
        }
        true
    });
    let explain = |&row: &usize| {
        let others = input.table.slots.iter().enumerate().map(|(number, slot)| {
            let code = slot.code(&input.rows[row]);
            (slot, code, having.get(&(number, code)).copied().unwrap_or(0))
        });
        conclude(input, min_confidence, row, known, support, others)
    };
    rows.iter().map(explain).collect()
}

/// Leave out what is not needed: attributes that are known for certain make an inference no less likely,
/// so a search may have taken some that add nothing.
fn shorten<const P: usize>(
    input: &SearchInput<P>,
    postings: &Postings,
    row: usize,
    known: [u64; P],
) -> [u64; P] {
    let bits = &input.rows[row];
    let mut witnesses = TableWitnesses::new(input, postings, row);
    witnesses.begin(&known);
    let mut missing = [0; P];
    witnesses.scan(|_, mask| {
        missing = missing.or(&mask);
        true
    });
    let mut harmful = input.fields.occupied(bits).without(&missing).without(&known);
    for slot in &input.table.slots {
        if slot.danger[slot.code(bits)] == 0.0 {
            harmful = harmful.without(&Words::single(slot.bit));
        }
    }
    let mut needed = known;
    // Those that tell rows apart best come first: keep them.
    for slot in input.table.slots.iter().rev() {
        if needed.has(slot.bit) && slot.likelihood[slot.code(bits)] == 1.0 {
            let without = needed.without(&Words::single(slot.bit));
            witnesses.begin(&without);
            if witnesses.scan(|_, mask| !mask.meets(&harmful)) {
                needed = without;
            }
        }
    }
    needed
}

/// What follows for certain from these attributes of a row.
fn inference<const P: usize>(
    input: &SearchInput<P>,
    postings: &Postings,
    row: usize,
    known: &[u64; P],
) -> Inference {
    let table = input.table;
    let mut witnesses = TableWitnesses::new(input, postings, row);
    let mut support = 0;
    let mut lacking = vec![0; 64 * P];
    witnesses.begin(known);
    witnesses.scan(|other, mask| {
        let rows = table.multiplicity[other];
        support += rows;
        mask.for_each(|bit| lacking[bit] += rows);
        true
    });
    let of_row = table.slots.iter().map(|slot| {
        let code = slot.code(&input.rows[row]);
        (slot, code, support - lacking[slot.bit])
    });
    conclude(input, 1.0, row, known, support, of_row)
}

/// The inference from these attributes of a row, which `support` rows have, to those of `others` that
/// follow: attributes by slot and code, with the number of rows that have them too. Code 0 and what is
/// known are left out.
pub(super) fn conclude<'a, const P: usize>(
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
        let code = slot.code(&input.rows[row]);
        inference.known.push(table.attribute(slot, code));
        inference.likelihood *= slot.likelihood[code];
    }
    let mut danger = 0.0;
    for (slot, code, rows) in others {
        let confidence = rows as f64 / support as f64;
        if code > 0 && !known.has(slot.bit) && confidence >= min_confidence && slot.danger[code] > 0.0 {
            inference.inferred.push(Inferred {
                attribute: table.attribute(slot, code),
                confidence,
            });
            danger += confidence * slot.danger[code];
        }
    }
    inference.known.sort_unstable();
    inference
        .inferred
        .sort_unstable_by_key(|inferred| inferred.attribute);
    inference.danger = input.danger.of(danger);
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
        let inferred = inferred.iter().map(|&(column, confidence)| Inferred {
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
            "who knows zip=7 & sex=7 learns diagnosis=7"
        );
        let probable = inference(&[0], &[(1, 1.0), (2, 0.9)]);
        assert_eq!(probable.confidence(), Some(0.9));
        assert_eq!(
            probable.sentence(name).unwrap(),
            "who knows zip=7 probably learns sex=7 & diagnosis=7"
        );
        let common = inference(&[], &[(2, 1.0)]);
        assert_eq!(common.formula(name).unwrap(), "⇒ diagnosis=7");
        assert_eq!(common.sentence(name).unwrap(), "everybody learns diagnosis=7");
        let nothing = inference(&[0], &[]);
        assert_eq!((nothing.formula(name), nothing.sentence(name)), (None, None));
        assert_eq!(nothing.confidence(), None);
    }
}
