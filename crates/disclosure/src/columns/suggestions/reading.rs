//! What the name of a column says, before the rest of the table is looked at.

use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::ops::Range;

use super::dictionary::{Dictionary, Match};
use super::{Category, Matching, SuggestedLabel, TableFacts, TableKind, Term};

/// Words that mark a key at the end or at the start of a name.
const KEY_WORDS: [&str; 13] = [
    "id", "uuid", "guid", "key", "fk", "pk", "oid", "sk", "gid", "uid", "rowid", "idx", "ref",
];
/// Words that may mark a key, but also a number or code of any kind.
const NUMBER_WORDS: [&str; 15] = [
    "nr", "no", "num", "number", "code", "cod", "codigo", "nummer", "numero", "codice", "kod", "cd", "nbr",
    "sn", "seq",
];
/// Languages whose nouns come before what describes them: `data_nascita`.
const NOUN_FIRST: [&str; 4] = ["fr", "es", "it", "pt"];

/// English words after which a name only describes.
const PREPOSITIONS: [&str; 7] = ["of", "from", "for", "per", "under", "within", "during"];

/// The words of a name and the terms that they contain.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub(super) words: Vec<String>,
    /// Words without a prefix or suffix that most columns share, and without the name of the table.
    pub(super) core: Range<usize>,
    matches: Vec<Match>,
    /// Nouns with the numbers of their words.
    pub(super) nouns: Vec<(Range<usize>, TableKind)>,
}

/// Whether a name looks like that of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyWord {
    None,
    /// As in `customer_number`.
    Number,
    /// As in `customer_id`.
    Key,
}

/// The term that fits a name best.
#[derive(Debug, Clone)]
pub(super) struct Best<'a> {
    pub(super) term: &'a Term,
    pub(super) words: Range<usize>,
    /// Share of the name's letters that the term explains.
    pub(super) coverage: f64,
    /// Whether users have added the term.
    pub(super) is_added: bool,
    /// Whether the term is from another language than most of the table.
    pub(super) is_foreign: bool,
    /// Whether the term stands where the name says what the thing is, rather than what describes it.
    pub(super) is_head: bool,
}

/// Languages of a table's names with the number of letters that they explain.
pub(super) type Languages = FxHashMap<String, f64>;

/// Reads the names of a table's columns.
pub(super) fn read_names(table: &TableFacts, dictionary: &Dictionary) -> Vec<Reading> {
    let names: Vec<Vec<String>> = table
        .columns
        .iter()
        .map(|column| dictionary.split(&column.name))
        .collect();
    let table_words = dictionary.split(&table.name);
    let first = common_word(names.iter().map(|words| words.first()));
    let last = common_word(names.iter().map(|words| words.last()));
    let read = |words: Vec<String>| {
        let core = core(
            &words,
            [first.as_deref(), last.as_deref()],
            &table_words,
            dictionary,
        );
        let matches = dictionary.find(&words, &wholes(&words, &core));
        Reading {
            words,
            core,
            matches,
            nouns: Vec::new(),
        }
    };
    names.into_iter().map(read).collect()
}

/// Returns the languages whose words explain about as much of a table's names as any other, the most first; English is
/// always one of them.
pub(super) fn main_languages(languages: &Languages) -> Vec<String> {
    let most = languages.values().copied().fold(0.0, f64::max);
    let is_main = |language: &str, letters: f64| letters * 2.0 >= most || language == "en";
    let main = languages
        .iter()
        .filter(|(language, letters)| is_main(language, **letters));
    let mut main: Vec<(&String, f64)> = main.map(|(language, letters)| (language, *letters)).collect();
    main.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(other.0)));
    main.into_iter().map(|(language, _)| language.clone()).collect()
}

/// Returns the word that most names have at one end; `None` if there is none.
fn common_word<'a>(words: impl Iterator<Item = Option<&'a String>>) -> Option<String> {
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    let mut total = 0;
    for word in words.flatten() {
        *counts.entry(word).or_default() += 1;
        total += 1;
    }
    let most = counts
        .into_iter()
        .max_by_key(|&(word, count)| (count, Reverse(word)))?;
    (most.1 >= 4 && most.1 * 2 > total && !is_key_word(most.0)).then(|| most.0.to_string())
}

/// Returns the words of a name without what it shares with the others, with the table, or with every table about persons:
/// `nom_adh` in a table of adherents, `customer_city`.
fn core(
    words: &[String],
    common: [Option<&str>; 2],
    table_words: &[String],
    dictionary: &Dictionary,
) -> Range<usize> {
    let [first, last] = common;
    let (mut start, mut end) = (0, words.len());
    let names_table = |word: &String| {
        table_words
            .iter()
            .any(|one| one == word || word.len() > 2 && one.starts_with(word.as_str()))
            && !dictionary.is_fact(word)
    };
    let abbreviates_table = |word: &String| names_table(word) && !table_words.contains(word);
    if end - start > 1
        && (last.is_some_and(|last| words[end - 1] == last) || abbreviates_table(&words[end - 1]))
    {
        end -= 1;
    }
    if end - start > 1 && first.is_some_and(|first| words[start] == first) {
        start += 1;
    }
    while end - start > 1 && (table_words.contains(&words[start]) || names_table(&words[start])) {
        start += 1;
    }
    if end - start > 1 && dictionary.is_person(&words[start], |_| true) {
        start += 1;
    }
    if end - start > 1 && dictionary.is_person(&words[end - 1], |language| NOUN_FIRST.contains(&language)) {
        end -= 1;
    }
    start..end
}

/// Returns the ranges of words that count as the whole name: all words, and those of the core, with and without numbers
/// at the end.
fn wholes(words: &[String], core: &Range<usize>) -> [Range<usize>; 4] {
    let without_numbers = |range: Range<usize>| {
        let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
        let numbers = words[range.clone()]
            .iter()
            .rev()
            .take_while(|word| is_number(word))
            .count();
        range.start..(range.end - numbers).max(range.start)
    };
    let all = 0..words.len();
    [
        all.clone(),
        without_numbers(all),
        core.clone(),
        without_numbers(core.clone()),
    ]
}

/// Counts the letters that each language explains in all names of a table. English starts with a few, because its words
/// are used everywhere.
pub(super) fn count_languages(readings: &[Reading], dictionary: &Dictionary) -> Languages {
    let mut languages = Languages::default();
    languages.insert("en".to_string(), 6.0);
    for reading in readings {
        let mut letters: FxHashMap<&str, usize> = FxHashMap::default();
        for found in &reading.matches {
            for &term in &found.terms {
                let most = letters.entry(&dictionary.term(term).language).or_default();
                *most = (*most).max(found.letters);
            }
        }
        for (language, letters) in letters {
            *languages.entry(language.to_string()).or_default() += letters as f64;
        }
    }
    languages
}

impl Reading {
    /// Returns whether the name looks like that of a key.
    pub(super) fn key_word(&self) -> KeyWord {
        let ends = [
            self.words.first(),
            self.words.last(),
            self.words.get(self.core.end.wrapping_sub(1)),
        ];
        let has = |words: &[&str]| ends.iter().flatten().any(|word| words.contains(&word.as_str()));
        match () {
            () if has(&KEY_WORDS) => KeyWord::Key,
            () if has(&NUMBER_WORDS) => KeyWord::Number,
            () => KeyWord::None,
        }
    }

    /// Returns the words that are no key words.
    pub(super) fn base(&self) -> Vec<&str> {
        self.words
            .iter()
            .map(String::as_str)
            .filter(|word| !is_key_word(word))
            .collect()
    }

    /// Returns whether the noun at these words is what the name is about, and not what describes it. In English this is
    /// the last one, but what follows a preposition only describes: `dividends_from_stocks`.
    pub(super) fn is_head(&self, words: &Range<usize>, is_noun_first: bool) -> bool {
        let is_key = |word: &String| is_key_word(word) || word.bytes().all(|byte| byte.is_ascii_digit());
        if is_noun_first {
            return self.words[self.core.start.min(words.start)..words.start]
                .iter()
                .all(is_key);
        }
        let is_preposition = |word: &&String| PREPOSITIONS.contains(&word.as_str());
        let mut rest = self.words[words.end..self.core.end.max(words.end)].iter();
        let is_after = self.words[self.core.start.min(words.start)..words.start]
            .iter()
            .skip(1)
            .any(|word| is_preposition(&word));
        !is_after && rest.by_ref().take_while(|word| !is_preposition(word)).all(is_key)
    }

    /// Returns the term that fits best. Terms of users come first. Then a technical term at the head of the name, such as
    /// `verified` in `email_verified`; then the longest.
    pub(super) fn best<'a>(
        &self,
        dictionary: &'a Dictionary,
        languages: &Languages,
        fits: impl Fn(&Term) -> bool,
    ) -> Option<Best<'a>> {
        let outer = |found: &&Match| {
            !self.matches.iter().any(|other| {
                let is_around = other.words.start <= found.words.start && found.words.end <= other.words.end;
                is_around && other.words.len() > found.words.len()
            })
        };
        let added = |found: &Match| found.terms.iter().any(|&term| dictionary.is_added(term));
        let has_added = self.matches.iter().any(added);
        let candidates = self
            .matches
            .iter()
            .filter(|found| if has_added { added(found) } else { outer(found) });
        let candidates = candidates.filter_map(|found| self.judge(found, dictionary, languages));
        let candidates = candidates.filter(|(_, best)| best.is_added || fits(best.term));
        candidates
            .max_by(|one, other| one.0.total_cmp(&other.0))
            .map(|(_, best)| best)
    }

    /// Reads a comment, in which no term is the whole name.
    pub(super) fn of_comment(words: Vec<String>, dictionary: &Dictionary) -> Reading {
        let matches = dictionary.find(&words, &[]);
        Reading {
            core: 0..words.len(),
            words,
            matches,
            nouns: Vec::new(),
        }
    }

    /// Returns the term that a comment begins with, or that comes first in it.
    pub(super) fn first<'a>(&self, dictionary: &'a Dictionary, languages: &Languages) -> Option<Best<'a>> {
        let earliest = self
            .matches
            .iter()
            .min_by_key(|found| (found.words.start, Reverse(found.letters)))?;
        self.judge(earliest, dictionary, languages).map(|(_, best)| best)
    }

    /// Returns the term of a match in the language of the table, and how well it fits.
    fn judge<'a>(
        &self,
        found: &Match,
        dictionary: &'a Dictionary,
        languages: &Languages,
    ) -> Option<(f64, Best<'a>)> {
        let share = |term: &Term| languages.get(&term.language).copied().unwrap_or_default();
        let rank = |&number: &usize| {
            let term = dictionary.term(number);
            let bonus = if term.matching == Matching::Name { 0.5 } else { 0.0 };
            (
                dictionary.is_added(number),
                !names_person(term),
                share(term) + bonus,
            )
        };
        // Of equal terms the first counts.
        let number =
            found.terms.iter().copied().reduce(
                |best, number| {
                    if rank(&number) > rank(&best) { number } else { best }
                },
            )?;
        let term = dictionary.term(number);
        let most = languages.values().copied().fold(0.0, f64::max);
        let is_added = dictionary.is_added(number);
        let is_minor = share(term) * 2.0 < most && !is_added;
        let is_foreign = is_minor && term.language != "en";
        let total: usize = self.words[self.core.clone()]
            .iter()
            .map(|word| word.chars().count())
            .sum();
        let coverage = (found.letters as f64 / total.max(1) as f64).min(1.0);
        let is_rare = share(term) * 5.0 < most && found.letters < 8;
        if is_minor && found.letters < 4 || is_foreign && is_rare || is_foreign && coverage < 0.6 {
            return None;
        }
        // A count is the whole name, not what is left of `passenger_count`.
        let is_part = found.words.len() < self.words.len() && term.matching == Matching::Name;
        if term.label == SuggestedLabel::Count && is_part && !is_added {
            return None;
        }
        let is_head = self.is_head(&found.words, NOUN_FIRST.contains(&term.language.as_str()));
        let mut fit = found.letters as f64;
        fit += if term.matching == Matching::Name { 4.0 } else { 0.0 };
        fit += if is_head { 1.5 } else { 0.0 };
        fit += match is_contact(term) {
            true if is_head || self.is_head(&found.words, false) => 20.0,
            true => 3.0,
            false => 0.0,
        };
        fit -= if is_foreign { 2.0 } else { 0.0 };
        fit -= if names_person(term) { 20.0 } else { 0.0 };
        if term.label == SuggestedLabel::Ignore {
            let is_last = self.is_head(&found.words, false) && !NOUN_FIRST.contains(&term.language.as_str());
            fit += if is_last { 100.0 } else { -3.0 };
        }
        // The later of two that fit equally well, as the head is mostly the last word.
        fit += found.words.end as f64 * 1e-3;
        Some((
            fit,
            Best {
                term,
                words: found.words.clone(),
                coverage,
                is_added,
                is_foreign,
                is_head,
            },
        ))
    }
}

/// Returns whether a word marks a key or a number.
pub(super) fn is_key_word(word: &str) -> bool {
    KEY_WORDS.contains(&word) || NUMBER_WORDS.contains(&word)
}

/// Returns whether a term only says which person: what is said about the person counts more, as in `teacher_email`.
pub(super) fn names_person(term: &Term) -> bool {
    let is_other = term.label == SuggestedLabel::Quasi && term.category == Category::OtherId;
    matches!(term.label, SuggestedLabel::Person | SuggestedLabel::Household) || is_other
}

/// Returns whether a term says an identifier that is one wherever it stands in a name, as in `father_phone_work`.
fn is_contact(term: &Term) -> bool {
    use Category::*;
    let is_contact = matches!(term.category, Email | Phone | Ssn | Ip | Credential);
    is_contact && matches!(term.label, SuggestedLabel::Identifier | SuggestedLabel::Sensitive)
}

/// Returns whether nouns come first in the language of most of a table's names.
pub(super) fn is_noun_first(languages: &Languages) -> bool {
    let most = languages
        .iter()
        .max_by(|one, other| one.1.total_cmp(other.1).then_with(|| other.0.cmp(one.0)));
    most.is_some_and(|(language, _)| NOUN_FIRST.contains(&language.as_str()))
}
