//! Co-occurrence of terms: in how many documents each term and each pair of terms occurs, and the normalised
//! Google distance that follows from these counts. Pairs are stored as one array of counts, either of all
//! pairs or of a sorted list of pairs.

use super::{Scoring, normalised_google_distance};
use crate::{Error, Result};

/// Numbers of documents that contain each term and each pair of terms. The distance of two terms is their
/// [normalised Google distance](normalised_google_distance).
#[derive(Debug, Clone)]
pub struct Cooccurrence {
    documents: u64,
    term_counts: Vec<u64>,
    pairs: Pairs,
    /// Number of documents that contain each pair.
    pair_counts: Vec<u64>,
    /// Number of documents, less than 1, that two terms are assumed to share if both occur, but never
    /// together.
    unseen: f64,
}

impl Cooccurrence {
    /// Creates the counts from numbers that were obtained elsewhere: of all documents, of those with each
    /// term, and of those with each of some pairs of terms. Pairs that are not given never occur together.
    pub fn from_counts(
        documents: u64,
        term_counts: Vec<u64>,
        mut pairs: Vec<(u32, u32, u64)>,
    ) -> Result<Self> {
        let invalid = |problem: &str| {
            Error::invalid(
                "corpus",
                problem,
                "one count per term and per pair of terms, none of them larger than the number of documents",
            )
        };
        let counts = pairs.iter().map(|pair| &pair.2);
        if counts.chain(&term_counts).any(|&count| count > documents) {
            return Err(invalid("a count is larger than the number of documents"));
        }
        if pairs
            .iter()
            .any(|&(one, other, _)| one.max(other) as usize >= term_counts.len())
        {
            return Err(invalid("a pair has a term without a count"));
        }
        if pairs
            .iter()
            .any(|&(one, other, count)| one == other && count != term_counts[one as usize])
        {
            return Err(invalid("a term has two different counts"));
        }
        pairs.retain(|&(one, other, _)| one != other);
        for pair in &mut pairs {
            *pair = (pair.0.min(pair.1), pair.0.max(pair.1), pair.2);
        }
        pairs.sort_unstable();
        pairs.dedup();
        if pairs
            .windows(2)
            .any(|two| (two[0].0, two[0].1) == (two[1].0, two[1].1))
        {
            return Err(invalid("a pair has two different counts"));
        }
        let listed = Pairs::listed(
            term_counts.len(),
            pairs.iter().map(|&(one, other, _)| (one, other)),
        );
        let pair_counts = pairs.iter().map(|&(_, _, count)| count).collect();
        Ok(Self::new(documents, term_counts, listed, pair_counts))
    }

    pub(super) fn new(documents: u64, term_counts: Vec<u64>, pairs: Pairs, pair_counts: Vec<u64>) -> Self {
        Cooccurrence {
            documents,
            term_counts,
            pairs,
            pair_counts,
            unseen: 0.0,
        }
    }

    /// Sets the number of documents that two terms are assumed to share if both occur, but never together.
    /// The default is 0, which makes such terms infinitely far apart.
    pub fn with_unseen(mut self, unseen: f64) -> Result<Self> {
        Self::check_unseen(unseen)?;
        self.unseen = unseen;
        Ok(self)
    }

    /// Returns an error unless 0 ≤ `unseen` < 1.
    pub fn check_unseen(unseen: f64) -> Result<()> {
        if (0.0..1.0).contains(&unseen) {
            return Ok(());
        }
        Err(Error::invalid(
            "unseen",
            "must be at least 0 and less than 1",
            "a number from 0 to less than 1, such as 0.5",
        ))
    }

    /// Returns the number of documents.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns the numbers of documents that contain one term, the other term, and both. A pair that was not
    /// counted is in none.
    pub fn counts(&self, one: u32, other: u32) -> (u64, u64, u64) {
        let term_count = |term: u32| self.term_counts.get(term as usize).copied().unwrap_or(0);
        let both = match one == other {
            true => term_count(one),
            false => self
                .pairs
                .place(one.min(other), one.max(other))
                .map_or(0, |place| self.pair_counts[place]),
        };
        (term_count(one), term_count(other), both)
    }

    /// Returns the distance of two terms that share `unseen` documents if they never occur together.
    fn distance_with(&self, one: u32, other: u32, unseen: f64) -> Option<f64> {
        let (one, other, both) = self.counts(one, other);
        let both = if both == 0 { unseen } else { both as f64 };
        normalised_google_distance(one as f64, other as f64, both, self.documents as f64)
    }
}

impl Scoring for Cooccurrence {
    fn distance(&self, one: u32, other: u32) -> Option<f64> {
        self.distance_with(one, other, self.unseen)
    }

    fn is_known(&self, term: u32) -> bool {
        self.term_counts
            .get(term as usize)
            .is_some_and(|&count| count > 0)
    }

    fn with_unseen(&self, unseen: f64) -> Option<Box<dyn Scoring + '_>> {
        Some(Box::new(WithUnseen { counts: self, unseen }))
    }
}

/// The same counts with another number of documents for terms that never occur together.
struct WithUnseen<'a> {
    counts: &'a Cooccurrence,
    unseen: f64,
}

impl Scoring for WithUnseen<'_> {
    fn distance(&self, one: u32, other: u32) -> Option<f64> {
        self.counts.distance_with(one, other, self.unseen)
    }

    fn is_known(&self, term: u32) -> bool {
        self.counts.is_known(term)
    }
}

/// Sequence of pairs of different terms, sorted by the smaller number, then by the larger one.
#[derive(Debug, Clone)]
pub(super) enum Pairs {
    /// All pairs of this number of terms.
    All(usize),
    /// Some pairs.
    Listed {
        /// Place in `partners` at which those of each term start, followed by the end of the last ones.
        starts: Vec<usize>,
        /// Larger term of each pair.
        partners: Vec<u32>,
    },
}

impl Pairs {
    /// Creates the sequence of the given pairs of `terms` terms. They must be ascending, with the smaller
    /// number first.
    pub(super) fn listed(terms: usize, pairs: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut starts = vec![0; terms + 1];
        let mut partners = Vec::with_capacity(pairs.size_hint().0);
        for (one, other) in pairs {
            partners.push(other);
            starts[one as usize + 1] = partners.len();
        }
        for term in 0..terms {
            starts[term + 1] = starts[term + 1].max(starts[term]);
        }
        Pairs::Listed { starts, partners }
    }

    /// Returns the place at which the pairs of a term with larger ones start; after the last term, the number
    /// of pairs.
    pub(super) fn start(&self, term: usize) -> usize {
        match self {
            // The number of pairs whose smaller term is before this one.
            Pairs::All(terms) => term * (2 * terms - term).saturating_sub(1) / 2,
            Pairs::Listed { starts, .. } => starts[term],
        }
    }

    /// Returns the place of a pair, smaller number first.
    fn place(&self, one: u32, other: u32) -> Option<usize> {
        match self {
            Pairs::All(terms) => {
                ((other as usize) < *terms).then(|| self.start(one as usize) + (other - one - 1) as usize)
            }
            Pairs::Listed { starts, partners } => {
                let start = *starts.get(one as usize)?;
                let end = *starts.get(one as usize + 1)?;
                Some(start + partners[start..end].binary_search(&other).ok()?)
            }
        }
    }
}
