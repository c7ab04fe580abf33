//! Semantic attacks on set-generalised transactions (Ong 2015), and the meaning of words that they rest on:
//! `semantic_distance`, `semantic_distances`, `cooccurrence`, `term_report`, `distance_table`.
//!
//! Transactions are read by `transactions.rs`, their items are numbered by `items.rs`, and the meaning of
//! words is read by `corpus.rs`. The attack itself is in `attack.rs`. `coat.rs` makes set-generalised
//! transactions and checks how well they are protected. The definitions and algorithms are in
//! [`disclosure::semantic`].

mod attack;
mod coat;
mod corpus;
mod items;
mod transactions;

use crate::args::{Args, warn_once, word};
use crate::error::Error;
use crate::methods::semantic::corpus::{Knowledge, Source};
use crate::methods::semantic::items::Items;
use crate::methods::semantic::transactions::{Column, read_column};
use crate::pg::table::{Table, table_row};
use crate::run;
use disclosure::semantic::{
    Combination, Cooccurrence, Corpus, DistanceSettings, Method, PairSelection, Target,
};
use pgrx::Array;
use pgrx::prelude::*;

/// semantic_distance(corpus regclass, corpus_column name, term text, other text, scoring jsonb)
#[pg_extern(sql = false)]
fn semantic_distance(args: Args) -> Option<f64> {
    distance(args).unwrap_or_else(Error::raise)
}

fn distance(mut args: Args) -> Result<Option<f64>, Error> {
    let corpus = CorpusArguments::read(&mut args);
    let (one, other): (Option<String>, Option<String>) = (args.optional("term"), args.optional("other"));
    let source = corpus.source(&mut args)?;
    args.end()?;
    let Some((one, other)) = one.zip(other) else {
        return Ok(None);
    };
    let knowledge = source.read(&[one, other], PairSelection::Pairs(&[(0, 1)]))?;
    Ok(knowledge.scoring().distance(0, 1))
}

/// semantic_distances(corpus regclass, corpus_column name, pairs text[], scoring jsonb)
#[pg_extern(sql = false)]
fn semantic_distances(args: Args) -> Option<Vec<Option<f64>>> {
    distances(args).unwrap_or_else(Error::raise)
}

fn distances(mut args: Args) -> Result<Option<Vec<Option<f64>>>, Error> {
    let corpus = CorpusArguments::read(&mut args);
    let pairs: Option<Array<'_, &str>> = args.optional("pairs");
    let source = corpus.source(&mut args)?;
    args.end()?;
    let Some(pairs) = pairs else {
        return Ok(None);
    };
    let mut items = Items::of_texts()?;
    let codes = pairs
        .iter()
        .map(|text| text.map(|text| items.of_text(text)).transpose());
    let codes: Vec<Option<u32>> = codes.collect::<Result<_, Error>>()?;
    let (pairs, []) = codes.as_chunks::<2>() else {
        return Err(Error::argument(
            "pairs",
            "must have an even number of terms",
            "Give pairs: ARRAY[['knee', 'injury'], ['knee', 'icd']].",
        ));
    };
    let pairs = || pairs.iter().map(|&[one, other]| one.zip(other));
    let wanted: Vec<(u32, u32)> = pairs().flatten().collect();
    let knowledge = source.read(items.texts(), PairSelection::Pairs(&wanted))?;
    let distance =
        |pair: Option<(u32, u32)>| pair.and_then(|(one, other)| knowledge.scoring().distance(one, other));
    Ok(Some(pairs().map(distance).collect()))
}

/// The arguments `corpus` and `corpus_column`. The argument `scoring`, the last one of every function, adds
/// settings to them.
struct CorpusArguments {
    corpus: Option<pg_sys::Oid>,
    corpus_column: Option<String>,
}

impl CorpusArguments {
    fn read(args: &mut Args) -> Self {
        CorpusArguments {
            corpus: args.optional("corpus"),
            corpus_column: args.name("corpus_column"),
        }
    }

    /// Reads the argument `scoring` and opens the corpus.
    fn source(self, args: &mut Args) -> Result<Source, Error> {
        Source::new(self.corpus, self.corpus_column, args.json("scoring")?)
    }

    /// Does the same for an attack. Returns `None` if no corpus was given and all methods do without one.
    fn source_of_attack(self, args: &mut Args, methods: &[Method]) -> Result<Option<Source>, Error> {
        if self.corpus.is_none() && !need_distances(methods) {
            args.json("scoring")?;
            return Ok(None);
        }
        Ok(Some(self.source(args)?.finite()?))
    }
}

/// Returns whether an attack by these methods needs distances, and so a corpus. Only the attack by place does
/// not.
fn need_distances(methods: &[Method]) -> bool {
    methods.is_empty() || methods.iter().any(|method| method.needs_distances())
}

table_row! {
    /// Number of documents that have a term, or two terms; without terms, the number of all documents.
    struct Count { term: Option<String>, other: Option<String>, documents: i64 }
}

/// cooccurrence(corpus regclass, corpus_column name, terms text[], scoring jsonb)
#[pg_extern(sql = false)]
fn cooccurrence(args: Args) -> Table<Count> {
    Table::new(counts(args))
}

fn counts(mut args: Args) -> Result<impl Iterator<Item = Count>, Error> {
    let invalid = |problem: String| {
        Error::argument(
            "terms",
            problem,
            "Give an array of words or phrases; all pairs of them are counted.",
        )
    };
    let corpus = CorpusArguments::read(&mut args);
    let terms: Option<Array<'_, &str>> = args.optional("terms");
    let source = corpus.source(&mut args)?;
    args.end()?;
    let mut items = Items::of_texts()?;
    for term in terms
        .ok_or_else(|| invalid("must not be NULL".into()))?
        .iter()
        .flatten()
    {
        items.of_text(term)?;
    }
    if items.len() > Corpus::MAX_TERMS_FOR_ALL_PAIRS {
        return Err(invalid(format!(
            "must not have more than {} terms",
            Corpus::MAX_TERMS_FOR_ALL_PAIRS
        )));
    }
    let Knowledge::Counts(counts) = source.read(items.texts(), PairSelection::All)? else {
        return Err(Error::argument(
            "corpus_column",
            "must not be a column of vectors",
            "Give a column of documents.",
        ));
    };
    let size = items.len() as u32;
    let all = std::iter::once(Count {
        term: None,
        other: None,
        documents: counts.documents() as i64,
    });
    let rows = (0..size).flat_map(move |term| {
        let row = |other: u32| {
            let (alone, _, both) = counts.counts(term, other);
            let documents = if other == term { alone } else { both } as i64;
            // Pairs that are never together are left out.
            (other == term || documents > 0).then(|| Count {
                term: Some(items.text(term)),
                other: (other != term).then(|| items.text(other)),
                documents,
            })
        };
        (term..size).filter_map(row).collect::<Vec<_>>()
    });
    Ok(all.chain(rows))
}

table_row! {
    /// An item of the transactions, and what the corpus knows about it.
    struct KnownTerm { term: String, is_known: bool, documents: Option<i64> }
}

/// term_report(relation regclass, column_name name, corpus regclass, corpus_column name, scoring jsonb)
#[pg_extern(sql = false)]
fn term_report(args: Args) -> Table<KnownTerm> {
    Table::new(known_terms(args))
}

fn known_terms(mut args: Args) -> Result<Vec<KnownTerm>, Error> {
    let column = column(&mut args)?;
    let source = CorpusArguments::read(&mut args).source(&mut args)?;
    args.end()?;
    let (items, _) = read_column(&column)?;
    let knowledge = source.read(items.texts(), PairSelection::Pairs(&[]))?;
    let row = |term: u32| KnownTerm {
        term: items.text(term),
        is_known: knowledge.scoring().is_known(term),
        documents: knowledge.documents(term).map(|documents| documents as i64),
    };
    Ok((0..items.len() as u32).map(row).collect())
}

/// Reads the arguments `relation` and `column_name`.
fn column(args: &mut Args) -> Result<Column, Error> {
    let (relation, column_name) = (args.optional("relation"), args.name("column_name"));
    Column::open("relation", relation, column_name.as_deref())
}

/// Returns the size of a context. A negative number becomes 0, which the algorithm crate refuses.
fn context_of(given: i32) -> usize {
    given.max(0) as usize
}

const COMBINATIONS: [(&str, Combination); 2] =
    [("mean", Combination::Mean), ("nearest", Combination::Nearest)];

table_row! {
    /// Distances of the members of a generalised item from one of its contexts.
    struct Distances { transaction: String, context: Vec<String>, distances: Vec<Option<f64>> }
}

/// distance_table(relation regclass, column_name name, corpus regclass, corpus_column name,
/// generalised text[], key name, context int, combine text, scoring jsonb)
#[pg_extern(sql = false)]
fn distance_table(args: Args) -> Table<Distances> {
    Table::new(distances_of_item(args))
}

fn distances_of_item(mut args: Args) -> Result<Vec<Distances>, Error> {
    let invalid = |problem: &str| {
        Error::argument(
            "generalised",
            problem,
            "Give all members of a generalised item of the transactions, in any order.",
        )
    };
    let column = column(&mut args)?;
    let corpus = CorpusArguments::read(&mut args);
    let generalised: Option<Array<'_, &str>> = args.optional("generalised");
    let column = column.with_key(args.name("key").as_deref())?;
    let context = context_of(args.required("context")?);
    let combination = word("combine", args.optional("combine"), &COMBINATIONS)?;
    let source = corpus.source(&mut args)?.finite()?;
    args.end()?;
    let settings = DistanceSettings {
        context,
        combination,
        unseen: source.unseen().or(DistanceSettings::default().unseen),
    };
    settings.check()?;
    let members = generalised.ok_or_else(|| invalid("must not be NULL"))?;
    let members: Option<Vec<&str>> = members.iter().collect();
    let members = members.ok_or_else(|| invalid("must not contain NULL"))?;

    let (mut items, lists) = read_column(&column)?;
    let members = members.iter().map(|text| items.of_text(text));
    let members: Vec<u32> = members.collect::<Result<_, Error>>()?;
    let number = lists.transactions.find(members.clone());
    let number = number.ok_or_else(|| invalid("is not a generalised item of the transactions"))?;
    let (target, pairs) = run::long("looking for contexts", |control| {
        let mut targets = Target::all(&lists.transactions, settings.context, control)?;
        let target = targets.swap_remove(number as usize);
        let pairs = Target::pairs([&target], control)?;
        Ok((target, pairs))
    })?;
    let knowledge = read_knowledge(&source, &items, &pairs)?;
    let table = run::long("measuring distances", |control| {
        target.table(knowledge.scoring(), &settings, control)
    })?;
    let distance = |row: usize, member: &u32| {
        let column = target.members.binary_search(member).ok()?;
        Some(table.distance(row, column)).filter(|distance| !distance.is_nan())
    };
    let rows = target.rows.iter().enumerate().map(|(row, occurrence)| Distances {
        transaction: lists.id(occurrence.transaction as usize),
        context: items.texts_of(&occurrence.context),
        distances: members.iter().map(|member| distance(row, member)).collect(),
    });
    Ok(rows.collect())
}

/// Reads what the corpus knows about pairs of items. Warns if it does not know some of the items.
fn read_knowledge(source: &Source, items: &Items, pairs: &[(u32, u32)]) -> Result<Knowledge, Error> {
    if pairs.is_empty() {
        // Nothing is asked, so a large corpus need not be read.
        return Ok(Knowledge::Counts(Cooccurrence::from_counts(
            0,
            Vec::new(),
            Vec::new(),
        )?));
    }
    let knowledge = source.read(items.texts(), PairSelection::Pairs(pairs))?;
    let mut is_asked = vec![false; items.len()];
    for &(one, other) in pairs {
        is_asked[one as usize] = true;
        is_asked[other as usize] = true;
    }
    let asked = || (0..).zip(&is_asked).filter(|(_, is_asked)| **is_asked);
    let unknown = asked()
        .filter(|&(term, _)| !knowledge.scoring().is_known(term))
        .count();
    if unknown > 0 {
        warn_once(&format!(
            "{unknown} of {} terms are not in the corpus, so their distances are unknown; \
             disclosure.term_report() lists them",
            asked().count()
        ));
    }
    Ok(knowledge)
}
