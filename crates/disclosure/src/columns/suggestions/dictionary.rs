//! Terms that tell from its name or comment what a column is about.

use crate::figures::named_in;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

use super::name_words::{expand_umlauts, split_words};
use super::reading::{is_key_word, names_person};
use super::term_files;
use super::{Category, SuggestedLabel, TableKind};

/// Most words of a name that are compared with one term.
const MAX_WORDS: usize = 6;

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

    /// Returns what a word in SQL stands for.
    pub fn named(word: &str) -> Option<Self> {
        named_in(&Self::WORDS, word)
    }

    /// Returns the word in SQL.
    pub fn name(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// Terms, prepared so that the terms of a name are found quickly.
#[derive(Debug, Clone)]
pub struct Dictionary {
    terms: Vec<Term>,
    /// Whether a term was added to the shipped ones, per term.
    is_added: Vec<bool>,
    /// Numbers of terms by their words, without spaces.
    words: FxHashMap<String, Vec<usize>>,
    /// Numbers of the terms that must be the whole name, without spaces.
    names: FxHashMap<String, Vec<usize>>,
    /// Terms that occur within words, by their first two bytes.
    parts: FxHashMap<[u8; 2], Vec<(String, usize)>>,
    /// Nouns without spaces, with their languages.
    nouns: FxHashMap<String, Vec<(String, TableKind)>>,
    /// Languages of the shipped terms.
    pub(super) languages: Vec<String>,
    /// Nouns that occur within words, with their languages.
    noun_parts: Vec<(String, (String, TableKind))>,
    /// First letters of nouns, with the languages and kinds of all nouns that begin with them.
    abbreviations: FxHashMap<String, Vec<(String, TableKind)>>,
    /// Single words of terms and nouns.
    vocabulary: FxHashSet<String>,
}

/// Terms that occur at one place of a name.
#[derive(Debug, Clone)]
pub(super) struct Match {
    /// Which words of the name.
    pub(super) words: Range<usize>,
    /// Number of letters that agree.
    pub(super) letters: usize,
    /// Numbers of the terms, which may differ in language, label and category.
    pub(super) terms: Vec<usize>,
}

impl Dictionary {
    /// Prepares terms. Terms that are not shipped win over those that are.
    pub fn new(terms: impl IntoIterator<Item = Term>) -> Dictionary {
        let mut dictionary = Dictionary {
            terms: terms.into_iter().collect(),
            is_added: Vec::new(),
            words: FxHashMap::default(),
            names: FxHashMap::default(),
            parts: FxHashMap::default(),
            nouns: FxHashMap::default(),
            languages: term_files::languages().map(str::to_string).collect(),
            noun_parts: Vec::new(),
            abbreviations: FxHashMap::default(),

            vocabulary: FxHashSet::default(),
        };
        for number in 0..dictionary.terms.len() {
            let term = dictionary.terms[number].clone();
            dictionary.is_added.push(!term_files::is_shipped(&term));
            for spelling in spellings(&term.language, &term.term) {
                dictionary.insert(number, term.matching, &spelling);
            }
        }
        for noun in term_files::shipped_nouns() {
            for spelling in spellings(&noun.language, &noun.noun) {
                let key = spelling.concat();
                dictionary.vocabulary.extend(spelling);
                let meaning = (noun.language.clone(), noun.kind);
                if noun.matching == Matching::Part {
                    dictionary.noun_parts.push((key.clone(), meaning.clone()));
                }
                for length in 3..=5 {
                    if let Some(start) = key.get(..length).filter(|start| start.len() < key.len()) {
                        dictionary
                            .abbreviations
                            .entry(start.to_string())
                            .or_default()
                            .push(meaning.clone());
                    }
                }
                dictionary.nouns.entry(key).or_default().push(meaning);
            }
        }
        dictionary
    }

    /// Returns the terms that are part of the extension.
    pub fn shipped_terms() -> Vec<Term> {
        term_files::shipped_terms().to_vec()
    }

    fn insert(&mut self, number: usize, matching: Matching, words: &[String]) {
        let key = words.concat();
        if key.is_empty() {
            return;
        }
        for word in words {
            if !self.vocabulary.contains(word) {
                self.vocabulary.insert(word.clone());
            }
        }
        let index = match matching {
            Matching::Name => &mut self.names,
            Matching::Words | Matching::Part => &mut self.words,
        };
        index.entry(key.clone()).or_default().push(number);
        if matching == Matching::Part
            && let Some(&start) = key.as_bytes().first_chunk()
        {
            self.parts.entry(start).or_default().push((key, number));
        }
    }

    /// Returns a term by its number.
    pub(super) fn term(&self, number: usize) -> &Term {
        &self.terms[number]
    }

    /// Returns whether a term was added to the shipped ones.
    pub(super) fn is_added(&self, number: usize) -> bool {
        self.is_added[number]
    }

    /// Returns the places of a name at which terms occur. `wholes` are the ranges of words that count as the whole name.
    pub(super) fn find(&self, words: &[String], wholes: &[Range<usize>]) -> Vec<Match> {
        let mut matches = Vec::new();
        let mut key = String::new();
        for start in 0..words.len() {
            key.clear();
            for end in start + 1..=words.len().min(start + MAX_WORDS) {
                key.push_str(&words[end - 1]);
                let mut terms = self.words.get(&key).cloned().unwrap_or_default();
                if wholes.contains(&(start..end)) {
                    terms.extend(self.names.get(&key).into_iter().flatten());
                }
                if !terms.is_empty() {
                    let letters = key.chars().count();
                    matches.push(Match {
                        words: start..end,
                        letters,
                        terms,
                    });
                }
            }
            self.find_parts(start, &words[start], &mut matches);
            self.find_compounds(start, &words[start], &mut matches);
        }
        matches
    }

    fn find_parts(&self, number: usize, word: &str, matches: &mut Vec<Match>) {
        for (position, start) in word.as_bytes().windows(2).enumerate() {
            let Some(parts) = self.parts.get(start) else {
                continue;
            };
            for (part, term) in parts {
                let is_within =
                    word.len() > part.len() && word.as_bytes()[position..].starts_with(part.as_bytes());
                if is_within {
                    let letters = part.chars().count();
                    matches.push(Match {
                        words: number..number + 1,
                        letters,
                        terms: vec![*term],
                    });
                }
            }
        }
    }

    /// Finds the longest term of six letters or more with which an unknown word ends or begins: the head of a compound,
    /// or a word with another ending.
    fn find_compounds(&self, number: usize, word: &str, matches: &mut Vec<Match>) {
        const LEAST: usize = 6;
        if word.len() <= LEAST || matches.iter().any(|found| found.words.contains(&number)) {
            return;
        }
        let places = || (1..word.len()).filter(|&place| word.is_char_boundary(place));
        let ends = places().map(|place| &word[place..]);
        let starts = places().rev().map(|place| &word[..place]);
        let mut parts = ends.chain(starts).filter(|part| part.len() >= LEAST);
        if let Some((part, terms)) = parts.find_map(|part| Some((part, self.words.get(part)?))) {
            let letters = part.chars().count();
            matches.push(Match {
                words: number..number + 1,
                letters,
                terms: terms.clone(),
            });
        }
    }

    /// Returns the term that must be the whole name, and here is a single word of a longer one.
    pub(super) fn generic_name(&self, word: &str) -> Option<&Term> {
        let terms = self.names.get(word)?.iter().map(|&number| &self.terms[number]);
        terms.into_iter().find(|term| term.category == Category::Name)
    }

    /// Returns what the rows of a table are that has this noun as its name, in the first of the languages that has it.
    fn noun(&self, key: &str, languages: &[String]) -> Option<TableKind> {
        let in_language = |meanings: &[(String, TableKind)], language: &String| {
            meanings
                .iter()
                .find(|(one, _)| one == language)
                .map(|(_, kind)| *kind)
        };
        let whole = self.nouns.get(key).map(Vec::as_slice).unwrap_or_default();
        let parts = self
            .noun_parts
            .iter()
            .filter(|(part, _)| key.contains(part.as_str()));
        let parts: Vec<(String, TableKind)> = parts.map(|(_, meaning)| meaning.clone()).collect();
        let find = |meanings: &[(String, TableKind)]| {
            languages
                .iter()
                .find_map(|language| in_language(meanings, language))
        };
        find(whole).or_else(|| find(&parts))
    }

    /// Returns whether a word says a fact by itself.
    pub(super) fn is_fact(&self, word: &str) -> bool {
        let of = |index: &FxHashMap<String, Vec<usize>>| index.get(word).cloned().unwrap_or_default();
        let terms = [of(&self.words), of(&self.names)].concat();
        terms.iter().any(|&term| !names_person(&self.terms[term]))
    }

    /// Returns whether a word is a noun for a person in one of the languages, and nothing else in any.
    pub(super) fn is_person(&self, word: &str, is_language: impl Fn(&str) -> bool) -> bool {
        let Some(kinds) = self.nouns.get(word) else {
            return false;
        };
        let has_language = kinds.iter().any(|(language, _)| is_language(language));
        has_language && kinds.iter().all(|(_, kind)| kind.is_person())
    }

    /// Returns whether the nouns of a language that begin with these letters are persons, or events and persons.
    pub(super) fn abbreviates_person(&self, letters: &str, language: &str) -> bool {
        if self.vocabulary.contains(letters) {
            return false;
        }
        let all = self
            .abbreviations
            .get(letters)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let kinds = all
            .iter()
            .filter(|(one, _)| one == language)
            .map(|(_, kind)| kind);
        // Events are often called after the same word: adhésion of an adhérent.
        let kinds: Vec<TableKind> = kinds.copied().collect();
        let may_be = |kind: &TableKind| matches!(kind, TableKind::Person | TableKind::Event);
        kinds.contains(&TableKind::Person) && kinds.iter().all(may_be)
    }

    /// Returns the nouns of a name in their order, with the numbers of their words. A longer noun hides those within it.
    /// The first of the languages counts most.
    pub(super) fn nouns(&self, words: &[String], languages: &[String]) -> Vec<(Range<usize>, TableKind)> {
        let mut nouns = Vec::new();
        let mut start = 0;
        while start < words.len() {
            let mut ends = (start + 1..=words.len().min(start + 3)).rev();
            let longest = ends.find_map(|end| {
                let key = words[start..end].concat();
                let may_match = end == start + 1 || self.nouns.contains_key(&key);
                Some((end, self.noun(&key, languages).filter(|_| may_match)?))
            });
            match longest {
                Some((end, kind)) => {
                    nouns.push((start..end, kind));
                    start = end;
                }
                None => start += 1,
            }
        }
        nouns
    }

    /// Returns the words of a name. Words that were written together are split if both are known: `visitdate`.
    pub(super) fn split(&self, name: &str) -> Vec<String> {
        let mut words = Vec::new();
        for word in split_words(name) {
            let is_known = self.words.contains_key(&word)
                || self.names.contains_key(&word)
                || self.nouns.contains_key(&word);
            match self.split_word(&word).filter(|_| !is_known) {
                Some((first, second)) => words.extend([first, second].map(str::to_string)),
                None => words.push(word),
            }
        }
        words
    }

    fn split_word<'a>(&self, word: &'a str) -> Option<(&'a str, &'a str)> {
        let is_part = |part: &str| match part.len() {
            0..3 => false,
            3 => self.words.contains_key(part),
            _ => self.vocabulary.contains(part) || self.nouns.contains_key(part),
        };
        let is_split = |first: &str, second: &str| {
            let is_key = |part: &str, other: &str| is_key_word(part) && self.nouns.contains_key(other);
            is_part(first) && is_part(second) || is_key(second, first) || is_key(first, second)
        };
        let places = (2..word.len().saturating_sub(1)).filter(|&place| word.is_char_boundary(place));
        places
            .map(|place| word.split_at(place))
            .find(|(first, second)| is_split(first, second))
    }
}

/// Returns the words of a term in each of its spellings. Names are read with English plurals; elsewhere `ies` is the plural
/// of `ie`.
fn spellings(language: &str, term: &str) -> impl Iterator<Item = Vec<String>> {
    let singular = |word: &str| match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}ie"),
        None => word.to_string(),
    };
    let term = match language != "en" && term.contains("ies") {
        true => term.split(' ').map(singular).collect::<Vec<_>>().join(" "),
        false => term.to_string(),
    };
    let expanded = expand_umlauts(&term);
    [Some(term), expanded]
        .into_iter()
        .flatten()
        .map(|term| split_words(&term))
}
