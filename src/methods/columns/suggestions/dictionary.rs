//! The table `disclosure.dictionary`: terms that tell from its name or comment what a column is about.

use crate::args::{Args, word};
use crate::error::Error;
use crate::pg::query::{Answer, Parameters};
use crate::pg::table::{Table, table_row};
use disclosure::columns::suggestions::{Category, Dictionary, Matching, SuggestedLabel, Term};
use pgrx::prelude::*;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::rc::Rc;

table_row! {
    /// Term that comes with the extension.
    struct TermRow {
        language: String,
        term: String,
        matching: &'static str,
        category: &'static str,
        label: &'static str,
    }
}

/// shipped_terms(): called by the installation script
#[pg_extern(sql = false)]
fn shipped_terms() -> Table<TermRow> {
    let terms = Dictionary::shipped_terms().into_iter().map(|term| TermRow {
        language: term.language,
        term: term.term,
        matching: term.matching.name(),
        category: term.category.name(),
        label: term.label.name(),
    });
    Table::new(Ok(terms.collect::<Vec<_>>()))
}

/// check_term(language text, term text, matching text, category text, label text): raises an error unless the dictionary
/// can have this term.
#[pg_extern(sql = false)]
fn check_term(args: Args) {
    checked(args).unwrap_or_else(Error::raise);
}

fn checked(mut args: Args) -> Result<(), Error> {
    let language: String = args.required("language")?;
    let term: String = args.required("term")?;
    let matching: Option<String> = args.optional("matching");
    let category: Option<String> = args.optional("category");
    let label: Option<String> = args.optional("label");
    args.end()?;
    let is_code = language.len() == 2 && language.bytes().all(|letter| letter.is_ascii_lowercase());
    if !is_code {
        return Err(Error::argument(
            "language",
            "must be two letters in lower case",
            "Give an ISO 639-1 code, such as 'en'.",
        ));
    }
    const MAX_CHARACTERS: usize = 100;
    let has_words = term.split(' ').all(|word| !word.is_empty());
    let is_spelled =
        |character: char| character == ' ' || character.is_alphanumeric() && !character.is_uppercase();
    if !has_words || term.chars().count() > MAX_CHARACTERS || !term.chars().all(is_spelled) {
        return Err(Error::argument(
            "term",
            "must be one or more words in lower case, separated by single spaces",
            "Use letters and digits only, such as 'date of birth'; names of columns are split into words.",
        ));
    }
    exact_word("matching", matching.as_deref(), &Matching::WORDS)?;
    exact_word("category", category.as_deref(), &Category::WORDS)?;
    exact_word("label", label.as_deref(), &SuggestedLabel::WORDS)
}

/// Returns an error unless a column of the table has one of the words, spelled as in the list.
fn exact_word<T: Copy>(
    column: &'static str,
    value: Option<&str>,
    words: &[(&'static str, T)],
) -> Result<(), Error> {
    word(column, value, words)?;
    match words.iter().any(|(word, _)| Some(*word) == value) {
        true => Ok(()),
        false => Err(Error::argument(
            column,
            "must be spelled as in disclosure.dictionary",
            "Use lower case and underscores.",
        )),
    }
}

/// Returns the terms that the calling user uses: those of the extension, except that an added term replaces one of the same
/// language, spelling and matching.
pub fn usable() -> Result<Rc<Dictionary>, Error> {
    thread_local! {
        /// The terms of the extension. They are prepared once, because there are many, and they never change.
        static SHIPPED: OnceCell<Rc<Dictionary>> = const { OnceCell::new() };
    }
    let added = added()?;
    if added.is_empty() {
        let shipped = || Rc::new(Dictionary::new(Dictionary::shipped_terms()));
        return Ok(SHIPPED.with(|prepared| Rc::clone(prepared.get_or_init(shipped))));
    }
    let replaced: HashSet<(&str, &str, Matching)> = added.iter().map(key).collect();
    let mut terms = Dictionary::shipped_terms();
    terms.retain(|term| !replaced.contains(&key(term)));
    terms.extend(added.iter().cloned());
    Ok(Rc::new(Dictionary::new(terms)))
}

fn key(term: &Term) -> (&str, &str, Matching) {
    (&term.language, &term.term, term.matching)
}

/// Reads the terms that were added and that the calling user uses. Terms with words that this version of the extension
/// does not know are left out.
fn added() -> Result<Vec<Term>, Error> {
    const QUERY: &str = "SELECT t.language, t.term, t.matching, t.category, t.label FROM disclosure_internal.added_terms() AS t";
    Spi::connect(|_| {
        // SAFETY: within Spi::connect; the columns are of type text.
        unsafe {
            let answer = Answer::to(QUERY, &Parameters::default(), true)?;
            let text = |row, column| answer.get::<String>(row, column);
            let term = |row| {
                Some(Term {
                    language: text(row, 0)?,
                    term: text(row, 1)?,
                    matching: Matching::named(&text(row, 2)?)?,
                    category: Category::named(&text(row, 3)?)?,
                    label: SuggestedLabel::named(&text(row, 4)?)?,
                })
            };
            Ok((0..answer.rows()).filter_map(term).collect())
        }
    })
}
