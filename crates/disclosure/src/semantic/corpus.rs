//! A corpus of documents, and the number of documents that contain each pair of terms.
//!
//! For each term, an inverted index gives its documents. All larger terms of these documents are counted in
//! one array, from which the counts of the wanted pairs are kept. Threads share the terms in parts of about
//! the same work.

use super::Cooccurrence;
use super::cooccurrence::Pairs;
use crate::cracks::Transactions;
use crate::parallel_sort::parallel_sort;
use crate::{Control, Error, Result, parallel};
use std::ops::Range;

/// Documents, each a set of terms. Terms are numbered from 0.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    documents: Transactions,
}

/// Pairs of terms to be counted.
#[derive(Debug, Clone, Copy)]
pub enum PairSelection<'a> {
    /// All pairs of up to [`Corpus::MAX_TERMS_FOR_ALL_PAIRS`] terms.
    All,
    /// These pairs, in any order, either way round.
    Pairs(&'a [(u32, u32)]),
}

/// Number of steps, about a millisecond, below which starting threads takes longer.
const MIN_STEPS_FOR_THREADS: u64 = 1 << 21;

/// Number of parts of about the same work that threads share. Each takes some memory for every term.
const PARTS: u64 = 64;

impl Corpus {
    /// Maximum number of terms of which all pairs may be counted. The counts take 268 MB.
    pub const MAX_TERMS_FOR_ALL_PAIRS: usize = 1 << 13;

    /// Creates a corpus without documents. It has `terms` terms, or more if larger ones occur.
    pub fn new(terms: usize) -> Self {
        Corpus {
            documents: Transactions::new(terms),
        }
    }

    /// Adds a document, which may have no terms.
    pub fn push(&mut self, terms: &[u32]) -> Result<()> {
        self.documents.push(terms)
    }

    /// Returns the number of documents.
    pub fn documents(&self) -> usize {
        self.documents.len()
    }

    /// Returns the memory that the documents take, in bytes.
    pub fn bytes(&self) -> usize {
        self.documents.bytes()
    }

    /// Counts the documents that contain each term and each wanted pair.
    pub fn cooccurrence(self, selection: PairSelection, control: &Control) -> Result<Cooccurrence> {
        let terms = self.documents.items();
        let pairs = match selection {
            PairSelection::All if terms > Self::MAX_TERMS_FOR_ALL_PAIRS => {
                return Err(Error::TooMany {
                    what: "terms whose pairs are all to be counted",
                    limit: Self::MAX_TERMS_FOR_ALL_PAIRS as u64,
                });
            }
            PairSelection::All => Pairs::All(terms),
            PairSelection::Pairs(pairs) => {
                // A term from `terms` on is in no document, so it never occurs together with another.
                let is_there = |&(one, other): &(u32, u32)| one != other && (one.max(other) as usize) < terms;
                let pairs = pairs.iter().copied().filter(is_there);
                let mut pairs: Vec<(u32, u32)> = pairs
                    .map(|(one, other)| (one.min(other), one.max(other)))
                    .collect();
                parallel_sort(&mut pairs, control)?;
                pairs.dedup();
                Pairs::listed(terms, pairs.into_iter())
            }
        };
        let index = Index::new(&self.documents, control)?;
        let pair_counts = index.pair_counts(&pairs, control)?;
        let term_counts = self.documents.frequencies().counts().to_vec();
        Ok(Cooccurrence::new(
            self.documents.len() as u64,
            term_counts,
            pairs,
            pair_counts,
        ))
    }
}

/// Inverted index: the documents that contain each term.
struct Index<'a> {
    documents: &'a Transactions,
    /// Place in `documents_of` at which those of each term start, followed by the end of the last ones.
    starts: Vec<usize>,
    documents_of: Vec<u32>,
    /// By term, the number of larger terms in its documents, summed over these documents.
    steps: Vec<u64>,
}

/// Part of the counts: those of the pairs of `terms` with larger terms.
struct Part<'a> {
    terms: Range<usize>,
    pair_counts: &'a mut [u64],
}

impl<'a> Index<'a> {
    fn new(documents: &'a Transactions, control: &Control) -> Result<Self> {
        let counts = documents.frequencies();
        let mut starts = Vec::with_capacity(documents.items() + 1);
        let mut end = 0;
        for &count in counts.counts() {
            starts.push(end);
            end += count as usize;
        }
        let mut next = starts.clone();
        starts.push(end);
        let mut documents_of = vec![0; end];
        let mut steps = vec![0; documents.items()];
        for (number, terms) in documents.iter().enumerate() {
            if number % 1024 == 0 {
                control.check()?;
            }
            for (place, &term) in terms.iter().enumerate() {
                let next = &mut next[term as usize];
                documents_of[*next] = number as u32;
                *next += 1;
                steps[term as usize] += (terms.len() - place - 1) as u64;
            }
        }
        Ok(Index {
            documents,
            starts,
            documents_of,
            steps,
        })
    }

    /// Returns the number of documents that contain each pair.
    fn pair_counts(&self, pairs: &Pairs, control: &Control) -> Result<Vec<u64>> {
        let terms = self.documents.items();
        control.require::<u64>(pairs.start(terms))?;
        let mut pair_counts = vec![0; pairs.start(terms)];
        let is_wanted = |term: &usize| pairs.start(*term) < pairs.start(term + 1);
        let total: u64 = (0..terms).filter(is_wanted).map(|term| self.steps[term]).sum();
        control.set_total(total);
        let mut parts = vec![];
        let (mut rest, mut first, mut steps) = (&mut pair_counts[..], 0, 0);
        for term in 0..terms {
            steps += if is_wanted(&term) { self.steps[term] } else { 0 };
            if steps > total / PARTS || term + 1 == terms {
                let (part, after) = rest.split_at_mut(pairs.start(term + 1) - pairs.start(first));
                parts.push(Part {
                    terms: first..term + 1,
                    pair_counts: part,
                });
                (rest, first, steps) = (after, term + 1, 0);
            }
        }
        parallel::map_if(parts, total > MIN_STEPS_FOR_THREADS, |part| {
            self.count(part, pairs, control)
        })?;
        Ok(pair_counts)
    }

    /// Counts all larger terms in the documents of each term, and keeps the counts of wanted pairs.
    fn count(&self, part: Part, pairs: &Pairs, control: &Control) -> Result<()> {
        let mut counts = vec![0_u32; self.documents.items()];
        let start = pairs.start(part.terms.start);
        for term in part.terms {
            let range = pairs.start(term)..pairs.start(term + 1);
            if range.is_empty() {
                continue;
            }
            control.check()?;
            self.for_each_larger(term, control, |other| counts[other as usize] += 1)?;
            let kept = &mut part.pair_counts[range.start - start..range.end - start];
            match pairs {
                Pairs::All(_) => {
                    for (kept, &count) in kept.iter_mut().zip(&counts[term + 1..]) {
                        *kept = count.into();
                    }
                }
                Pairs::Listed { partners, .. } => {
                    for (kept, &other) in kept.iter_mut().zip(&partners[range]) {
                        *kept = counts[other as usize].into();
                    }
                }
            }
            // Clears only what was counted if that takes fewer steps than clearing everything.
            if self.steps[term] < counts.len() as u64 {
                self.for_each_larger(term, control, |other| counts[other as usize] = 0)?;
            } else {
                counts.fill(0);
            }
            control.advance(self.steps[term]);
        }
        Ok(())
    }

    /// Calls `each` for every larger term of each document that contains `term`.
    fn for_each_larger(&self, term: usize, control: &Control, mut each: impl FnMut(u32)) -> Result<()> {
        /// Number of steps between two checks for cancellation: a fraction of a millisecond.
        const STEPS_PER_CHECK: usize = 1 << 18;
        let mut steps = 0;
        for &document in &self.documents_of[self.starts[term]..self.starts[term + 1]] {
            let terms = self.documents.get(document as usize);
            let larger = &terms[terms.partition_point(|&other| other as usize <= term)..];
            larger.iter().for_each(|&other| each(other));
            steps += 1 + larger.len();
            if steps > STEPS_PER_CHECK {
                control.check()?;
                steps = 0;
            }
        }
        Ok(())
    }
}
