//! Reads what words mean from a corpus: a table of documents, of document counts, or of vectors, depending on
//! the type of its column.
//!
//! Documents are read in one pass. While this thread reads rows, another one looks for the terms in them.
//! Counts and vectors are read by this thread alone.

use crate::error::Error;
use crate::input::relation::Relation;
use crate::pg::array::ElementType;
use crate::pg::json::{JsonText, options};
use crate::pg::receiver::{Row, for_each_row};
use crate::pg::types::{ColumnType, becomes};
use crate::run;
use crate::run::{CancelOnDrop, Conveyor};
use disclosure::Control;
use disclosure::semantic::{
    Cooccurrence, Corpus, Embeddings, Folding, LexemeTerms, PairSelection, Scoring, SearchBuffer, Terms,
    Transactions, for_each_lexeme,
};
use pgrx::Array;
use pgrx::pg_sys;
use pgrx::prelude::*;
use pgrx::spi::{quote_identifier, quote_literal};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// A table that defines distances between terms.
pub struct Source {
    relation: Relation,
    column: ColumnType,
    kind: Kind,
    settings: Settings,
}

/// Content of a column.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Documents as text, in which a term is a sequence of consecutive words.
    Text,
    /// Documents as arrays of terms.
    Array,
    /// Documents as JSON lists of terms.
    Json,
    /// Documents as tsvectors.
    Lexemes,
    /// Numbers of documents that have one term or two.
    Counts,
    /// Vectors of terms.
    Vectors,
}

/// The argument `scoring`.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    plurals: bool,
    /// Text search configuration that made the tsvectors of the documents; `None` for that of the session.
    config: Option<String>,
    term_column: String,
    other_column: String,
    documents: Option<u64>,
    /// `None` if the caller did not give it.
    unseen: Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            plurals: Folding::default().plurals,
            config: None,
            term_column: "term".into(),
            other_column: "other".into(),
            documents: None,
            unseen: None,
        }
    }
}

const CORPUS: &str = "corpus";
const CORPUS_COLUMN: &str = "corpus_column";
const SCORING: &str = "scoring";

/// What the corpus knows about terms.
pub enum Knowledge {
    Counts(Cooccurrence),
    Vectors(Embeddings),
    /// There is no corpus.
    Nothing,
}

impl Knowledge {
    pub fn scoring(&self) -> &dyn Scoring {
        match self {
            Knowledge::Counts(counts) => counts,
            Knowledge::Vectors(vectors) => vectors,
            Knowledge::Nothing => &Unknown,
        }
    }

    /// Returns the number of documents that have a term; `None` if the corpus has vectors.
    pub fn documents(&self, term: u32) -> Option<u64> {
        match self {
            Knowledge::Counts(counts) => Some(counts.counts(term, term).0),
            Knowledge::Vectors(_) | Knowledge::Nothing => None,
        }
    }
}

/// A scoring by which all distances are unknown.
struct Unknown;

impl Scoring for Unknown {
    fn distance(&self, _: u32, _: u32) -> Option<f64> {
        None
    }

    fn is_known(&self, _: u32) -> bool {
        false
    }
}

impl Source {
    /// Checks the arguments and opens the corpus.
    pub fn new(
        corpus: Option<pg_sys::Oid>,
        column: Option<String>,
        scoring: Option<Value>,
    ) -> Result<Self, Error> {
        let settings = Settings::new(scoring)?;
        let relation = Relation::whole(CORPUS, corpus)?;
        let name = column.ok_or(Error::null(
            CORPUS_COLUMN,
            "Give the name of the column that holds documents, counts or vectors.",
        ))?;
        let column = relation.column(CORPUS_COLUMN, &name)?.clone();
        let kind = Kind::of(&column).ok_or_else(|| {
            Error::argument(
                CORPUS_COLUMN,
                format!("\"{name}\" has a type that is not supported"),
                "Give documents as text, text[], jsonb or tsvector, counts of documents as integers, or vectors of \
                   terms as float4[] or float8[].",
            )
        })?;
        let source = Source {
            relation,
            column,
            kind,
            settings,
        };
        if matches!(kind, Kind::Counts | Kind::Vectors) {
            source.term()?;
        }
        if kind == Kind::Counts {
            source.other()?;
        }
        Ok(source)
    }

    /// Returns the same source, or an error if `scoring` would make distances infinite.
    pub fn finite(self) -> Result<Self, Error> {
        if self.settings.unseen == Some(0.0) {
            return Err(Error::argument(
                SCORING,
                "\"unseen\" must not be 0 here",
                "Leave it out, or give a number between 0 and 1; 0 makes distances infinite, which have no mean.",
            ));
        }
        Ok(self)
    }

    /// Returns the number of documents that two terms are assumed to share if they are never together, if the
    /// caller gave it.
    pub fn unseen(&self) -> Option<f64> {
        self.settings.unseen
    }

    /// Reads what the corpus knows about terms and pairs of them. Terms that are never together are
    /// infinitely far apart, unless the caller gave `unseen`.
    pub fn read(&self, terms: &[String], wanted: PairSelection) -> Result<Knowledge, Error> {
        let counts = match self.kind {
            Kind::Vectors => return Ok(Knowledge::Vectors(self.read_vectors(terms)?)),
            Kind::Counts => self.read_counts(terms)?,
            _ => {
                let corpus = self.read_documents(terms)?;
                run::long("counting pairs of terms", |control| {
                    corpus.cooccurrence(wanted, control)
                })?
            }
        };
        let unseen = self.settings.unseen.unwrap_or(0.0);
        Ok(Knowledge::Counts(counts.with_unseen(unseen)?))
    }

    /// Finds the documents of each term in one pass over the table, while another thread looks for the terms.
    fn read_documents(&self, terms: &[String]) -> Result<Corpus, Error> {
        let control = Arc::new(Control::new());
        let finder = Finder {
            needles: self.needles(terms)?,
            corpus: Corpus::new(terms.len()),
            scratch: SearchBuffer::default(),
            found: Vec::new(),
            control: control.clone(),
        };
        let mut conveyor = Conveyor::start(finder, Finder::push)?;
        // Dropped before the conveyor, whose own drop waits for the finder to end.
        let _stop = CancelOnDrop(&control);
        let mut batch = Batch::default();
        self.for_each_document(&mut batch, |batch| {
            if batch.is_full() {
                let spare = conveyor.spare().unwrap_or_default();
                // Few rows may take the finder long, because documents may be long. If it has ended with an
                // error, `finish` returns that error.
                conveyor.send_patiently(std::mem::replace(batch, spare))?;
            }
            Ok(())
        })?;
        conveyor.send_patiently(batch)?;
        conveyor.wait()?;
        Ok(conveyor.finish()?.corpus)
    }

    /// Adds each document to a batch and then calls `added`, which may take the batch away.
    fn for_each_document(
        &self,
        batch: &mut Batch,
        mut added: impl FnMut(&mut Batch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let name = quote_identifier(&self.column.name);
        let (wanted, oid) = match self.kind {
            Kind::Array => (format!("{name}::pg_catalog.text[]"), pg_sys::TEXTARRAYOID),
            Kind::Json => (format!("pg_catalog.to_jsonb({name})"), pg_sys::JSONBOID),
            _ => (format!("{name}::pg_catalog.text"), pg_sys::TEXTOID),
        };
        let query = format!("SELECT {wanted} FROM {}", self.relation.name());
        for_each_row(&query, &[oid], |mut row| {
            let Some((value, false)) = row.next() else {
                return Ok(()); // NULL is not a document
            };
            // SAFETY: the query casts the value to the type that is read here.
            unsafe {
                match self.kind {
                    Kind::Array => {
                        let elements = Array::<&str>::from_datum(value, false);
                        elements
                            .iter()
                            .flat_map(Array::iter)
                            .flatten()
                            .for_each(|term| batch.element(term));
                    }
                    Kind::Json => {
                        let document = JsonText::from_datum(value, false);
                        let document = document.map(|json| json.value(CORPUS_COLUMN)).transpose()?;
                        batch.elements_of_json(document)?
                    }
                    _ => batch.element(<&str>::from_datum(value, false).unwrap_or("")),
                }
            }
            batch.end_document();
            added(batch)
        })
    }

    /// Reads the documents that are lists of terms, with the terms in their order. Returns no lists if the
    /// documents are of another kind.
    pub fn read_lists(&self, terms: &[String]) -> Result<Transactions, Error> {
        let mut lists = Transactions::new();
        if !matches!(self.kind, Kind::Array | Kind::Json) {
            return Ok(lists);
        }
        let (needles, mut scratch) = (self.folded(terms)?, SearchBuffer::default());
        self.for_each_document(&mut Batch::default(), |batch| {
            lists.begin()?;
            for text in batch.texts() {
                for &term in needles.of_whole(text, &mut scratch) {
                    lists.push_item(term)?;
                }
            }
            batch.clear();
            Ok(())
        })?;
        Ok(lists)
    }

    fn needles(&self, terms: &[String]) -> Result<Needles, Error> {
        Ok(match self.kind {
            Kind::Lexemes => Needles::Lexemes(LexemeTerms::new(self.lexemes_of(terms)?)?),
            Kind::Text => Needles::Words(self.folded(terms)?),
            _ => Needles::Elements(self.folded(terms)?),
        })
    }

    fn folded(&self, terms: &[String]) -> Result<Terms, Error> {
        let terms = terms.iter().map(|term| &term[..]);
        let folding = Folding {
            plurals: self.settings.plurals,
        };
        Ok(Terms::new(terms, folding)?)
    }

    /// Returns terms as lexemes with positions, made by the text search configuration of the documents.
    fn lexemes_of(&self, terms: &[String]) -> Result<Vec<Vec<(String, u32)>>, Error> {
        let literals: Vec<String> = terms.iter().map(quote_literal).collect();
        let config = self.settings.config.as_ref().map_or(String::new(), |config| {
            format!("{}::pg_catalog.regconfig, ", quote_literal(config))
        });
        let query = format!(
            "SELECT pg_catalog.to_tsvector({config}term)::pg_catalog.text \
               FROM pg_catalog.unnest(ARRAY[{}]::pg_catalog.text[]) WITH ORDINALITY AS given(term, place) ORDER BY place",
            literals.join(", ")
        );
        let mut found = Vec::with_capacity(terms.len());
        for_each_row(&query, &[pg_sys::TEXTOID], |mut row| {
            let mut lexemes = Vec::new();
            for_each_lexeme(&text(&mut row).unwrap_or_default(), |lexeme, positions| {
                lexemes.extend(
                    positions
                        .iter()
                        .map(|&position| (lexeme.to_owned(), position.into())),
                );
            });
            found.push(lexemes);
            Ok(())
        })?;
        Ok(found)
    }

    /// Reads the counts that the table has: of two terms; of one term if the other is NULL or the same; of
    /// all documents if both are NULL.
    fn read_counts(&self, terms: &[String]) -> Result<Cooccurrence, Error> {
        let invalid = |problem: &str| {
            Error::argument(
                CORPUS,
                problem,
                "Give the number of documents for every term, for every pair of terms and, with both terms NULL, for \
                   the whole corpus; see disclosure.cooccurrence().",
            )
        };
        let needles = self.folded(terms)?;
        let (mut scratch, mut pairs) = (SearchBuffer::default(), Vec::new());
        let mut singles: Vec<Option<u64>> = vec![None; terms.len()];
        let mut documents = None;
        let (term, other) = (self.term()?, self.other()?);
        let query = format!(
            "SELECT {term}::pg_catalog.text, {other}::pg_catalog.text, {}::pg_catalog.int8 FROM {}",
            quote_identifier(&self.column.name),
            self.relation.name()
        );
        let types = [pg_sys::TEXTOID, pg_sys::TEXTOID, pg_sys::INT8OID];
        for_each_row(&query, &types, |mut row| {
            let (term, other) = (text(&mut row), text(&mut row));
            // SAFETY: the query casts the value to bigint.
            let count = row
                .next()
                .and_then(|(value, is_null)| unsafe { i64::from_datum(value, is_null) });
            let count = count.ok_or_else(|| invalid("a count is NULL"))?;
            let count = u64::try_from(count).map_err(|_| invalid("a count is negative"))?;
            let set = |known: &mut Option<u64>, problem| match known.replace(count) {
                Some(before) if before != count => Err(invalid(problem)),
                _ => Ok(()),
            };
            let mut find = |text: &str| needles.of_whole(text, &mut scratch).to_vec();
            let (ones, others) = match (term, other) {
                (None, None) => return set(&mut documents, "the whole corpus has two different counts"),
                (Some(term), None) | (None, Some(term)) => {
                    let found = find(&term);
                    (found.clone(), found)
                }
                (Some(term), Some(other)) => (find(&term), find(&other)),
            };
            for &one in &ones {
                // Terms that are written differently may be the same term.
                if others.contains(&one) {
                    set(&mut singles[one as usize], "a term has two different counts")?;
                }
                pairs.extend(
                    others
                        .iter()
                        .filter(|&&other| other != one)
                        .map(|&other| (one, other, count)),
                );
            }
            Ok(())
        })?;
        let documents = self.settings.documents.or(documents);
        let documents = documents.ok_or_else(|| invalid("the number of all documents is missing"))?;
        let singles = singles.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Cooccurrence::from_counts(documents, singles, pairs)?)
    }

    fn read_vectors(&self, terms: &[String]) -> Result<Embeddings, Error> {
        let needles = self.folded(terms)?;
        let (mut scratch, mut vectors) = (SearchBuffer::default(), Embeddings::new());
        let query = format!(
            "SELECT {}::pg_catalog.text, {}::pg_catalog.float4[] FROM {}",
            self.term()?,
            quote_identifier(&self.column.name),
            self.relation.name()
        );
        let types = [pg_sys::TEXTOID, pg_sys::FLOAT4ARRAYOID];
        for_each_row(&query, &types, |mut row| {
            let Some(term) = text(&mut row) else {
                return Ok(());
            };
            // SAFETY: the query casts the value to real[].
            let vector = row
                .next()
                .and_then(|(value, is_null)| unsafe { Array::<f32>::from_datum(value, is_null) });
            let Some(vector) = vector else {
                return Ok(());
            };
            let vector: Vec<f32> = vector.iter().map(|value| value.unwrap_or(f32::NAN)).collect();
            for &term in needles.of_whole(&term, &mut scratch) {
                vectors.insert(term, &vector)?;
            }
            Ok(())
        })?;
        Ok(vectors)
    }

    fn term(&self) -> Result<String, Error> {
        self.quoted(&self.settings.term_column)
    }

    fn other(&self) -> Result<String, Error> {
        self.quoted(&self.settings.other_column)
    }

    /// Returns the quoted name of a column that must exist beside counts or vectors.
    fn quoted(&self, name: &str) -> Result<String, Error> {
        match self.relation.column(SCORING, name) {
            Ok(column) => Ok(quote_identifier(&column.name)),
            Err(_) => Err(Error::argument(
                CORPUS,
                format!("has no column \"{name}\""),
                "Integers are read as counts of documents, arrays of numbers as vectors. Their terms are in the \
                       columns term and, for counts, other, unless scoring has \"term_column\" or \"other_column\".",
            )),
        }
    }
}

/// Returns the next value of a row, which is a text; `None` if it is NULL.
fn text(row: &mut Row) -> Option<String> {
    // SAFETY: the queries cast the value to text.
    row.next()
        .and_then(|(value, is_null)| unsafe { String::from_datum(value, is_null) })
}

impl Kind {
    fn of(column: &ColumnType) -> Option<Self> {
        let oid = column.base_type();
        match oid {
            pg_sys::JSONBOID | pg_sys::JSONOID => return Some(Kind::Json),
            pg_sys::TSVECTOROID => return Some(Kind::Lexemes),
            _ => {}
        }
        if let Some(element) = ElementType::of(column) {
            let element = element.column.base_type();
            return match element {
                pg_sys::FLOAT4OID | pg_sys::FLOAT8OID => Some(Kind::Vectors),
                _ => (becomes(element, pg_sys::TEXTOID) || becomes(element, pg_sys::INT8OID))
                    .then_some(Kind::Array),
            };
        }
        // Sums of bigint counts are numeric.
        if becomes(oid, pg_sys::INT8OID) || oid == pg_sys::NUMERICOID {
            Some(Kind::Counts)
        } else if becomes(oid, pg_sys::TEXTOID) {
            Some(Kind::Text)
        } else {
            // Extensions define types for vectors.
            becomes(oid, pg_sys::FLOAT4ARRAYOID).then_some(Kind::Vectors)
        }
    }
}

impl Settings {
    fn new(given: Option<Value>) -> Result<Self, Error> {
        let hint = "Give any of \"plurals\" (true or false), \"config\" (a text search configuration), \"unseen\" (from 0 \
                    to less than 1), \"documents\" (a number), \"term_column\" and \"other_column\" (names).";
        let settings: Settings = options(SCORING, given, hint)?;
        if settings
            .unseen
            .is_some_and(|unseen| Cooccurrence::check_unseen(unseen).is_err())
        {
            return Err(Error::argument(
                SCORING,
                "\"unseen\" must be at least 0 and less than 1",
                hint,
            ));
        }
        Ok(settings)
    }
}

/// Documents on their way to the thread that looks for terms.
#[derive(Default)]
struct Batch {
    text: String,
    /// End of each element in the text.
    elements: Vec<usize>,
    /// Number of elements up to the end of each document.
    documents: Vec<usize>,
}

/// Bytes of text after which a batch is sent.
const FULL: usize = 1 << 16;

impl Batch {
    fn element(&mut self, text: &str) {
        self.text.push_str(text);
        self.elements.push(self.text.len());
    }

    /// Adds the terms of a JSON list that are not generalised.
    fn elements_of_json(&mut self, document: Option<Value>) -> Result<(), Error> {
        let Some(Value::Array(terms)) = document else {
            return Err(Error::argument(
                CORPUS_COLUMN,
                "a document is not a list",
                "Give documents as JSON lists of terms, or as text.",
            ));
        };
        for term in terms {
            match term {
                Value::String(text) => self.element(&text),
                Value::Number(number) => self.element(&number.to_string()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns all elements.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.elements.iter().copied());
        starts
            .zip(&self.elements)
            .map(|(start, &end)| &self.text[start..end])
    }

    fn end_document(&mut self) {
        self.documents.push(self.elements.len());
    }

    fn is_full(&self) -> bool {
        self.text.len() >= FULL
    }

    fn clear(&mut self) {
        self.text.clear();
        self.elements.clear();
        self.documents.clear();
    }
}

/// Terms to look for.
enum Needles {
    Words(Terms),
    Elements(Terms),
    Lexemes(LexemeTerms),
}

/// Looks for terms in documents, on a thread of its own.
struct Finder {
    needles: Needles,
    corpus: Corpus,
    scratch: SearchBuffer,
    found: Vec<u32>,
    control: Arc<Control>,
}

impl Finder {
    fn push(&mut self, batch: &mut Batch) -> disclosure::Result<()> {
        let start_of = |element: usize| element.checked_sub(1).map_or(0, |before| batch.elements[before]);
        let element = |element: usize| &batch.text[start_of(element)..batch.elements[element]];
        let mut first = 0;
        for &end in &batch.documents {
            let elements = (first..end).map(element);
            let (scratch, found) = (&mut self.scratch, &mut self.found);
            self.control.check()?;
            match &self.needles {
                Needles::Elements(terms) => terms.in_list(elements, scratch, found, &self.control)?,
                Needles::Words(terms) => {
                    for text in elements {
                        terms.in_text(text, scratch, found, &self.control)?;
                    }
                }
                Needles::Lexemes(terms) => elements.for_each(|text| {
                    let mut lexemes = Vec::new();
                    for_each_lexeme(text, |lexeme, positions| {
                        lexemes.push((lexeme.to_owned(), positions.to_vec()))
                    });
                    let lexemes: Vec<(&str, &[u16])> = lexemes
                        .iter()
                        .map(|(lexeme, positions)| (&lexeme[..], &positions[..]))
                        .collect();
                    terms.in_lexemes(&lexemes, scratch, found);
                }),
            }
            self.corpus.push(&self.found)?;
            first = end;
        }
        batch.clear();
        Ok(())
    }
}
