//! Reads the term files that are part of the extension, one per language.
//!
//! A line is empty, a comment (`# …`), or `category label | term, term, …`. A bare term matches as consecutive words of
//! a name, `=term` must be the whole name, and `~term` matches anywhere within a word. Spaces within a term are optional
//! in names: `birth date` matches `birth_date`, `birthDate` and `birthdate`. Accents, case and a plural s do not matter;
//! ä, ö and ü also match ae, oe and ue.
//!
//! `table kind | noun, noun, …` lists nouns that say what the rows of a table are: see [`TableKind`]. The same nouns tell
//! what a key refers to, as in `patient_id`. `=` and `~` work as in terms.

use rustc_hash::FxHashMap;
use std::sync::LazyLock;

use super::{Category, Matching, SuggestedLabel, TableKind, Term};

/// The files with the ISO 639-1 codes of their languages.
const FILES: [(&str, &str); 7] = [
    ("en", include_str!("terms/en.txt")),
    ("de", include_str!("terms/de.txt")),
    ("fr", include_str!("terms/fr.txt")),
    ("es", include_str!("terms/es.txt")),
    ("it", include_str!("terms/it.txt")),
    ("nl", include_str!("terms/nl.txt")),
    ("pt", include_str!("terms/pt.txt")),
];

/// A noun that says what the rows of a table are.
pub(super) struct Noun {
    /// Language of the noun, as an ISO 639-1 code.
    pub(super) language: String,
    /// One or more words in lower case, separated by spaces.
    pub(super) noun: String,
    /// Where in a name the noun counts.
    pub(super) matching: Matching,
    /// What the rows are.
    pub(super) kind: TableKind,
}

/// What a line of a term file says.
enum Line {
    Terms(Vec<Term>),
    Nouns(Vec<Noun>),
}

/// Returns the languages of the files.
pub(super) fn languages() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(language, _)| *language)
}

/// Returns the terms of all files. They are read once.
pub(super) fn shipped_terms() -> &'static [Term] {
    static TERMS: LazyLock<Vec<Term>> = LazyLock::new(|| {
        let terms = |line| match line {
            Line::Terms(terms) => terms,
            Line::Nouns(_) => Vec::new(),
        };
        lines().flat_map(terms).collect()
    });
    &TERMS
}

/// Returns whether a term is one of those of the files.
pub(super) fn is_shipped(term: &Term) -> bool {
    static NUMBERS: LazyLock<FxHashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
        let mut numbers: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (number, term) in shipped_terms().iter().enumerate() {
            numbers.entry(&term.term).or_default().push(number);
        }
        numbers
    });
    let numbers = NUMBERS.get(term.term.as_str());
    numbers.is_some_and(|numbers| numbers.iter().any(|&number| shipped_terms()[number] == *term))
}

/// Returns the nouns of all files with the kinds of tables that they name.
pub(super) fn shipped_nouns() -> Vec<Noun> {
    let nouns = |line| match line {
        Line::Terms(_) => Vec::new(),
        Line::Nouns(nouns) => nouns,
    };
    lines().flat_map(nouns).collect()
}

/// Returns the lines of all files that can be read; a test makes sure that these are all.
fn lines() -> impl Iterator<Item = Line> {
    let lines = FILES
        .iter()
        .flat_map(|(language, text)| text.lines().map(move |line| (language, line)));
    lines.filter_map(|(language, line)| parse_line(language, line).ok().flatten())
}

/// Reads a line; `None` if it is empty or a comment.
fn parse_line(language: &str, line: &str) -> Result<Option<Line>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (head, list) = line.split_once('|').ok_or_else(|| format!("no | in: {line}"))?;
    let items = || list.split(',').map(str::trim).filter(|item| !item.is_empty());
    let (first, second) = head
        .trim()
        .split_once(' ')
        .ok_or_else(|| format!("one word before | in: {line}"))?;
    let second = second.trim();
    if first == "table" {
        let kind = TableKind::WORDS.iter().find(|(word, _)| *word == second);
        let (_, kind) = kind.ok_or_else(|| format!("unknown kind of table: {second}"))?;
        let noun = |(matching, noun)| Noun {
            language: language.to_string(),
            noun,
            matching,
            kind: *kind,
        };
        return Ok(Some(Line::Nouns(items().map(split_sign).map(noun).collect())));
    }
    let category = Category::named(first).ok_or_else(|| format!("unknown category: {first}"))?;
    let label = SuggestedLabel::named(second).ok_or_else(|| format!("unknown label: {second}"))?;
    let term = |(matching, term)| Term {
        language: language.to_string(),
        term,
        matching,
        label,
        category,
    };
    Ok(Some(Line::Terms(items().map(split_sign).map(term).collect())))
}

/// Splits an item of a list into the sign before it and the rest.
fn split_sign(item: &str) -> (Matching, String) {
    let (matching, rest) = match item.split_at_checked(1) {
        Some(("=", rest)) => (Matching::Name, rest),
        Some(("~", rest)) => (Matching::Part, rest),
        _ => (Matching::Words, item),
    };
    (matching, rest.trim().to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{FILES, parse_line};

    /// Every line of the term files can be read.
    #[test]
    fn lines_parse() {
        for (language, text) in FILES {
            for line in text.lines() {
                if let Err(message) = parse_line(language, line) {
                    panic!("terms/{language}.txt: {message}");
                }
            }
        }
    }
}
