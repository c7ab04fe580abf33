//! Terms that tell from its name or comment what a column is about.

use super::term_files;
use super::{Category, SuggestedLabel};

/// A term that occurs in the names and comments of columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// Language of the term, as an ISO 639-1 code.
    pub language: String,
    /// One or more words in lower case, separated by spaces.
    pub term: String,
    /// Where in a name the term counts.
    pub matching: Matching,
    /// Label of a column with such a name.
    pub label: SuggestedLabel,
    /// What such a column is about.
    pub category: Category,
}

/// Where in a name a term counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Matching {
    /// The term is the whole name.
    Name,
    /// The words of the term occur in the name, one after the other.
    Words,
    /// The term occurs anywhere, also within a word, as in compounds.
    Part,
}

impl Matching {
    /// The ways of matching with their words in SQL.
    pub const WORDS: [(&str, Matching); 3] = [
        ("name", Matching::Name),
        ("words", Matching::Words),
        ("part", Matching::Part),
    ];

    /// Returns the word in SQL.
    pub fn name(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// Terms, prepared so that the terms of a name are found quickly.
#[derive(Debug, Clone)]
pub struct Dictionary {
    _terms: Vec<Term>,
}

impl Dictionary {
    /// Prepares terms.
    pub fn new(terms: impl IntoIterator<Item = Term>) -> Dictionary {
        Dictionary {
            _terms: terms.into_iter().collect(),
        }
    }

    /// Returns the terms that are part of the extension.
    pub fn shipped_terms() -> Vec<Term> {
        term_files::shipped_terms()
    }
}
