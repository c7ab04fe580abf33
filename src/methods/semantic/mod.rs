//! Semantic attack: `semantic_distance`, `cooccurrence`, `term_report`, `distance_table`, `eliminate`,
//! `elimination_steps`, `semantic_attack`, `attack_calibration`, `attack_quality`, `broken_constraints`.

mod coat;
mod corpus;
mod lexemes;
mod transactions;

use crate::args::{given, json, name, warn_once};
use crate::error::Problem;
use crate::methods::attack::arrays::distances_of_array;
use crate::methods::semantic::coat::{k_of, privacy_of, wanted_column};
use crate::methods::semantic::corpus::{Knowledge, Source};
use crate::methods::semantic::transactions::{Column, Vocabulary, WantedColumn, read_columns};
use crate::pg::array_out::Grid;
use crate::pg::json::JsonText;
use crate::run;
use disclosure::semantic::{
    self, Calibration, Corpus, DistanceTable, Eliminations, Entry, Method, Quality, Strategy, Target,
    Threshold, Twin, Vulnerability, Wanted,
};
use pgrx::Array;
use pgrx::prelude::*;
use std::ffi::CStr;
use std::rc::Rc;

/// semantic_distance(corpus regclass, corpus_column name, one text, other text, scoring jsonb)
#[pg_extern(sql = false)]
fn semantic_distance(
    corpus: Option<pg_sys::Oid>,
    corpus_column: Option<&CStr>,
    one: Option<&str>,
    other: Option<&str>,
    scoring: Option<JsonText>,
) -> Option<f64> {
    let distance = || {
        let source = Source::new(corpus, name(corpus_column), json("scoring", scoring)?)?;
        let Some((one, other)) = one.zip(other) else {
            return Ok(None);
        };
        let terms = [one.to_owned(), other.to_owned()];
        let knowledge = source.read_as_defined(&terms, Wanted::Pairs(&[(0, 1)]))?;
        Ok(knowledge.scoring().distance(0, 1))
    };
    distance().unwrap_or_else(Problem::raise)
}

/// semantic_distance(corpus regclass, corpus_column name, pairs text[], scoring jsonb)
#[pg_extern(sql = false)]
fn semantic_distances(
    corpus: Option<pg_sys::Oid>,
    corpus_column: Option<&CStr>,
    pairs: Option<Array<'_, &str>>,
    scoring: Option<JsonText>,
) -> Option<Vec<Option<f64>>> {
    let distances = || {
        let source = Source::new(corpus, name(corpus_column), json("scoring", scoring)?)?;
        let Some(pairs) = pairs else {
            return Ok(None);
        };
        let texts: Vec<Option<&str>> = pairs.iter().collect();
        if !texts.len().is_multiple_of(2) {
            return Err(Problem::argument(
                "pairs",
                "has a term without another",
                "Give pairs: ARRAY[['knee', 'injury'], ['knee', 'icd']].",
            ));
        }
        let mut vocabulary = Vocabulary::default();
        let mut code = |text: Option<&str>| text.map(|text| vocabulary.encode_text(text));
        let pairs: Vec<Option<(u32, u32)>> = texts
            .chunks(2)
            .map(|pair| code(pair[0]).zip(code(pair[1])))
            .collect();
        let wanted: Vec<(u32, u32)> = pairs.iter().copied().flatten().collect();
        let knowledge = source.read_as_defined(vocabulary.texts(), Wanted::Pairs(&wanted))?;
        let distance =
            |pair: Option<(u32, u32)>| pair.and_then(|(one, other)| knowledge.scoring().distance(one, other));
        Ok(Some(pairs.into_iter().map(distance).collect()))
    };
    distances().unwrap_or_else(Problem::raise)
}

/// cooccurrence(corpus regclass, corpus_column name, terms text[], scoring jsonb)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn cooccurrence(
    corpus: Option<pg_sys::Oid>,
    corpus_column: Option<&CStr>,
    terms: Option<Array<'_, &str>>,
    scoring: Option<JsonText>,
) -> TableIterator<
    'static,
    (
        name!(term, Option<String>),
        name!(other, Option<String>),
        name!(documents, i64),
    ),
> {
    let rows = || {
        let source = Source::new(corpus, name(corpus_column), json("scoring", scoring)?)?;
        let mut vocabulary = Vocabulary::default();
        let invalid = |problem: String| {
            Problem::argument(
                "terms",
                problem,
                "Give an array of words or phrases, of which all pairs are counted.",
            )
        };
        let terms = terms.ok_or_else(|| invalid("must not be NULL".into()))?;
        terms.iter().flatten().for_each(|term| {
            vocabulary.encode_text(term);
        });
        if vocabulary.len() > Corpus::MOST_OF_ALL {
            return Err(invalid(format!("has more than {} terms", Corpus::MOST_OF_ALL)));
        }
        let knowledge = source.read_as_defined(vocabulary.texts(), Wanted::All)?;
        let Knowledge::Counts(counts) = knowledge else {
            return Err(Problem::argument(
                "corpus_column",
                "has vectors, which are not counted",
                "Give a column of documents.",
            ));
        };
        let size = vocabulary.len() as u32;
        let all = std::iter::once((None, None, counts.documents() as i64));
        let rows = (0..size).flat_map(move |term| {
            let text = vocabulary.text(term);
            let row = |other: u32| {
                let (alone, _, both) = counts.counts(term, other);
                let documents = if other == term { alone } else { both } as i64;
                let other = (other != term).then(|| vocabulary.text(other));
                (Some(text.clone()), other, documents)
            };
            // Pairs that are never together go without saying.
            let is_there =
                |(_, other, documents): &(_, Option<String>, i64)| other.is_none() || *documents > 0;
            (term..size).map(row).filter(is_there).collect::<Vec<_>>()
        });
        Ok(TableIterator::new(all.chain(rows)))
    };
    rows().unwrap_or_else(Problem::raise)
}

/// term_report(relation regclass, column_name name, corpus regclass, corpus_column name, scoring jsonb)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn term_report(
    relation: Option<pg_sys::Oid>,
    column_name: Option<&CStr>,
    corpus: Option<pg_sys::Oid>,
    corpus_column: Option<&CStr>,
    scoring: Option<JsonText>,
) -> TableIterator<
    'static,
    (
        name!(term, String),
        name!(is_known, bool),
        name!(documents, Option<i64>),
    ),
> {
    let rows = || {
        let source = Source::new(corpus, name(corpus_column), json("scoring", scoring)?)?;
        let (vocabulary, _) = read_columns([&wanted_column(relation, column_name, None)])?;
        let knowledge = source.read_as_defined(vocabulary.texts(), Wanted::Pairs(&[]))?;
        let rows = (0..vocabulary.len() as u32).map(|term| {
            let documents = knowledge.documents(term).map(|documents| documents as i64);
            (
                vocabulary.text(term),
                knowledge.scoring().is_known(term),
                documents,
            )
        });
        Ok(rows.collect::<Vec<_>>())
    };
    TableIterator::new(rows().unwrap_or_else(Problem::raise))
}

/// distance_table(relation regclass, column_name name, corpus regclass, corpus_column name, generalised text[], context
/// int, id name, scoring jsonb)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, clippy::too_many_arguments)] // they are those of the SQL function
fn distance_table(
    relation: Option<pg_sys::Oid>,
    column_name: Option<&CStr>,
    corpus: Option<pg_sys::Oid>,
    corpus_column: Option<&CStr>,
    generalised: Option<Array<'_, &str>>,
    context: Option<i32>,
    id: Option<&CStr>,
    scoring: Option<JsonText>,
) -> TableIterator<
    'static,
    (
        name!(transaction, String),
        name!(context, Vec<String>),
        name!(distances, Vec<Option<f64>>),
    ),
> {
    let rows = || {
        let invalid = |problem: &str| {
            Problem::argument(
                "generalised",
                problem,
                "Give all members of a generalised item of the transactions, in any order.",
            )
        };
        let context = context_of(context)?;
        let source = Source::new(corpus, name(corpus_column), json("scoring", scoring)?)?;
        let members = generalised.ok_or_else(|| invalid("must not be NULL"))?;
        let members: Option<Vec<&str>> = members.iter().collect();
        let members = members.ok_or_else(|| invalid("must not contain NULL"))?;
        let (mut vocabulary, [column]) = read_columns([&wanted_column(relation, column_name, id)])?;
        let members: Vec<u32> = members.iter().map(|text| vocabulary.encode_text(text)).collect();
        let number = column.transactions.find(members.clone());
        let number = number.ok_or_else(|| invalid("is no generalised item of the transactions"))?;
        let (target, pairs) = run::long("looking for contexts", |control| {
            let mut targets = Target::all(&column.transactions, context, control)?;
            let target = targets.swap_remove(number as usize);
            let pairs = Target::pairs([&target], control)?;
            Ok((target, pairs))
        })?;
        let knowledge = read_knowledge(&source, &vocabulary, &pairs)?;
        let table = run::long("measuring distances", |control| {
            target.table(knowledge.scoring(), control)
        })?;
        let rows = target.rows.iter().enumerate().map(|(row, occurrence)| {
            let distances = members.iter().map(|member| {
                let place = target.members.binary_search(member).ok();
                place.and_then(|column| known(table.distance(row, column)))
            });
            let transaction = column.ids[occurrence.transaction as usize].clone();
            (
                transaction,
                vocabulary.texts_of(&occurrence.context),
                distances.collect(),
            )
        });
        Ok(rows.collect::<Vec<_>>())
    };
    TableIterator::new(rows().unwrap_or_else(Problem::raise))
}

/// A distance as SQL has it.
fn known(distance: f64) -> Option<f64> {
    (!distance.is_nan()).then_some(distance)
}

fn context_of(context: Option<i32>) -> Result<usize, Problem> {
    let context = given("context", context)?;
    usize::try_from(context)
        .ok()
        .filter(|&context| context > 0)
        .ok_or(Problem::argument(
            "context",
            "must be at least 1",
            "It is how many items around a generalised one are looked at.",
        ))
}

/// What there is to know about pairs of items; it is said how many items are not known.
fn read_knowledge(
    source: &Source,
    vocabulary: &Vocabulary,
    pairs: &[(u32, u32)],
) -> Result<Knowledge, Problem> {
    let knowledge = source.read_finite(vocabulary.texts(), pairs)?;
    let mut is_asked = vec![false; vocabulary.len()];
    for &(one, other) in pairs {
        is_asked[one as usize] = true;
        is_asked[other as usize] = true;
    }
    let asked = (0..).zip(is_asked).filter(|(_, is_asked)| *is_asked);
    let asked: Vec<u32> = asked.map(|(term, _)| term).collect();
    let unknown = asked
        .iter()
        .filter(|&&term| !knowledge.scoring().is_known(term))
        .count();
    if unknown > 0 {
        warn_once(&format!(
            "terms that are not in the corpus, so that their distances are not known: {unknown} of {}; \
             disclosure.term_report() lists them",
            asked.len()
        ));
    }
    Ok(knowledge)
}

/// What a caller may set of an attack.
struct Options<'a> {
    threshold: Option<f64>,
    threshold_ratio: Option<f64>,
    vulnerability: Option<&'a str>,
    seed: Option<i64>,
}

const METHODS: [(&str, Method); 6] = [
    ("random", Method::Random),
    ("mda", Method::Mda),
    ("tba", Method::Tba),
    ("wba", Method::Wba),
    ("gba", Method::Gba),
    ("rba", Method::Rba),
];

impl<'a> Options<'a> {
    fn new(
        threshold: Option<f64>,
        threshold_ratio: Option<f64>,
        vulnerability: Option<&'a str>,
        seed: Option<i64>,
    ) -> Self {
        Options {
            threshold,
            threshold_ratio,
            vulnerability,
            seed,
        }
    }

    /// The strategy with a method, which comes from `argument`.
    fn strategy(&self, argument: &'static str, method: Option<&str>) -> Result<Strategy, Problem> {
        let method = given(argument, method)?;
        let method = METHODS.iter().find(|(other, _)| *other == method);
        let (_, method) = *method.ok_or(Problem::argument(
            argument,
            "is none of the methods",
            "Give 'random', 'mda', 'tba', 'wba', 'gba' or 'rba'.",
        ))?;
        let vulnerability = match given("vulnerability", self.vulnerability)? {
            "gap" => Vulnerability::Gap,
            "normalised" => Vulnerability::Normalised,
            _ => {
                return Err(Problem::argument(
                    "vulnerability",
                    "is none of the definitions",
                    "Give 'gap' or 'normalised'.",
                ));
            }
        };
        let ratio = given("threshold_ratio", self.threshold_ratio)?;
        if self.threshold.is_some() && ratio != 1.0 {
            return Err(Problem::argument(
                "threshold_ratio",
                "is a multiple of the mean, but threshold is given",
                "Leave one of them out.",
            ));
        }
        let threshold = self.threshold.map_or(Threshold::Mean(ratio), Threshold::At);
        threshold.check()?; // before tables are read
        Ok(Strategy {
            method,
            threshold,
            vulnerability,
            seed: given("seed", self.seed)? as u64,
        })
    }
}

/// Cells that are so few that they are attacked on the spot: a query may have very many small tables.
const FEW: usize = 1000;

fn eliminations_of(
    distances: Array<'_, f64>,
    strategy: &Strategy,
) -> Result<(DistanceTable, Eliminations), Problem> {
    let table = distances_of_array(distances)?;
    let eliminations = run::sized("eliminating items", table.distances().len(), FEW, |control| {
        semantic::eliminate(&table, strategy, control)
    })?;
    Ok((table, eliminations))
}

/// eliminate(distances float8[], method text, threshold float8, threshold_ratio float8, vulnerability text, seed bigint)
#[pg_extern(sql = false)]
fn eliminate(
    distances: Option<Array<'_, f64>>,
    method: Option<&str>,
    threshold: Option<f64>,
    threshold_ratio: Option<f64>,
    vulnerability: Option<&str>,
    seed: Option<i64>,
) -> Option<Grid<bool>> {
    let eliminated = || {
        let options = Options::new(threshold, threshold_ratio, vulnerability, seed);
        let strategy = options.strategy("method", method)?;
        let Some(distances) = distances else {
            return Ok(None);
        };
        let (table, eliminations) = eliminations_of(distances, &strategy)?;
        let columns = table.columns();
        Ok(Some(Grid::new(table.rows(), columns, |eliminated| {
            for cell in &eliminations.cells {
                eliminated[cell.row as usize * columns + cell.column as usize] = true;
            }
        })))
    };
    eliminated().unwrap_or_else(Problem::raise)
}

/// elimination_steps(distances float8[], method text, threshold float8, threshold_ratio float8, vulnerability text, seed
/// bigint)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn elimination_steps(
    distances: Option<Array<'_, f64>>,
    method: Option<&str>,
    threshold: Option<f64>,
    threshold_ratio: Option<f64>,
    vulnerability: Option<&str>,
    seed: Option<i64>,
) -> TableIterator<
    'static,
    (
        name!(step, i32),
        name!(row_number, i32),
        name!(column_number, i32),
        name!(score, Option<f64>),
        name!(threshold, Option<f64>),
    ),
> {
    let rows = || {
        let options = Options::new(threshold, threshold_ratio, vulnerability, seed);
        let strategy = options.strategy("method", method)?;
        let Some(distances) = distances else {
            return Ok(Vec::new());
        };
        let (_, eliminations) = eliminations_of(distances, &strategy)?;
        let steps = (1..).zip(&eliminations.cells).map(|(step, cell)| {
            let (row, column) = (cell.row as i32 + 1, cell.column as i32 + 1);
            (step, row, column, cell.score, eliminations.threshold)
        });
        Ok(steps.collect::<Vec<_>>())
    };
    TableIterator::new(rows().unwrap_or_else(Problem::raise))
}

/// A release, what an attacker looks at in it, and what the corpus says about that.
struct Release {
    vocabulary: Vocabulary,
    column: Column,
    targets: Vec<Target>,
    /// Whether it is to be learnt how sure eliminations are.
    is_calibrated: bool,
    /// Items that were generalised again for that.
    twins: Vec<Twin>,
    knowledge: Knowledge,
}

/// What a caller says about a release.
struct WantedRelease {
    column: WantedColumn,
    context: usize,
    source: Source,
    /// How many items are generalised again.
    twins: usize,
    seed: u64,
}

impl Release {
    fn read(wanted: WantedRelease) -> Result<Self, Problem> {
        let (vocabulary, [column]) = read_columns([&wanted.column])?;
        Self::new(wanted, vocabulary, column)
    }

    /// Together with which items its transactions have had.
    fn read_with(original: Option<pg_sys::Oid>, wanted: WantedRelease) -> Result<(Self, Truth), Problem> {
        if wanted.column.id.is_none() {
            return Err(Problem::argument(
                "id",
                "must not be NULL where there is an original",
                "Give the column by which transactions of both tables are the same.",
            ));
        }
        let of_original = WantedColumn {
            argument: ORIGINAL,
            relation: original,
            ..wanted.column.clone()
        };
        let (vocabulary, [original, released]) = read_columns([&of_original, &wanted.column])?;
        let truth = Truth::of(&original, &released)?;
        Ok((Self::new(wanted, vocabulary, released)?, truth))
    }

    fn new(wanted: WantedRelease, vocabulary: Vocabulary, column: Column) -> Result<Self, Problem> {
        let transactions = &column.transactions;
        let (targets, twins, pairs) = run::long("looking for contexts", |control| {
            let targets = Target::all(transactions, wanted.context, control)?;
            let twins = Twin::draw(
                transactions,
                &targets,
                wanted.context,
                wanted.twins,
                wanted.seed,
                control,
            )?;
            let twin_targets = twins.iter().map(|twin| &twin.target);
            let pairs = Target::pairs(targets.iter().chain(twin_targets), control)?;
            Ok((targets, twins, pairs))
        })?;
        let knowledge = read_knowledge(&wanted.source, &vocabulary, &pairs)?;
        Ok(Release {
            vocabulary,
            column,
            targets,
            is_calibrated: wanted.twins > 0,
            twins,
            knowledge,
        })
    }

    /// Attack all targets and twins. Where confidence is wanted and there is none, it is said.
    fn attack(&self, strategy: &Strategy) -> Result<Attacked, Problem> {
        let attacked = run::long("eliminating items", |control| {
            let scoring = self.knowledge.scoring();
            let tables = semantic::distance_tables(&self.targets, scoring, control)?;
            let eliminations = semantic::attack(&tables, strategy, control)?;
            let twin_tables = semantic::distance_tables(&self.twins, scoring, control)?;
            let twin_eliminations = semantic::attack(&twin_tables, strategy, control)?;
            let calibration = Calibration::learn(&self.twins, &twin_tables, &twin_eliminations, control)?;
            Ok(Attacked {
                tables,
                eliminations,
                calibration,
            })
        })?;
        let has_any = attacked
            .eliminations
            .iter()
            .any(|of_target| !of_target.cells.is_empty());
        if self.is_calibrated && has_any && attacked.calibration.is_none() {
            notice!(
                "disclosure: too few items are not generalised, or too few were eliminated, to learn how sure that is"
            );
        }
        Ok(attacked)
    }
}

/// What an attack came to.
struct Attacked {
    tables: Vec<DistanceTable>,
    eliminations: Vec<Eliminations>,
    /// `None` where there was too little to learn from.
    calibration: Option<Calibration>,
}

impl Attacked {
    /// How sure each elimination of a target is, in their order.
    fn confidence(&self, target: usize) -> Option<Vec<f64>> {
        let calibration = self.calibration.as_ref()?;
        Some(calibration.confidence(&self.tables[target], &self.eliminations[target]))
    }
}

fn twins_of(calibration: Option<i32>) -> Result<usize, Problem> {
    usize::try_from(given("calibration", calibration)?).map_err(|_| {
        Problem::argument(
            "calibration",
            "must not be negative",
            "It is how many generalised items are made again to learn from; with 0 there is no confidence.",
        )
    })
}

type AttackRow = (
    String,
    Vec<String>,
    String,
    Option<f64>,
    bool,
    Option<i32>,
    Option<f64>,
);

/// semantic_attack(relation regclass, column_name name, corpus regclass, corpus_column name, id name, method text, context
/// int, threshold float8, threshold_ratio float8, vulnerability text, seed bigint, calibration int, scoring jsonb)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, clippy::too_many_arguments)] // they are those of the SQL function
fn semantic_attack(
    relation: Option<pg_sys::Oid>,
    column_name: Option<&CStr>,
    corpus: Option<pg_sys::Oid>,
    corpus_column: Option<&CStr>,
    id: Option<&CStr>,
    method: Option<&str>,
    context: Option<i32>,
    threshold: Option<f64>,
    threshold_ratio: Option<f64>,
    vulnerability: Option<&str>,
    seed: Option<i64>,
    calibration: Option<i32>,
    scoring: Option<JsonText>,
) -> TableIterator<
    'static,
    (
        name!(transaction, String),
        name!(generalised, Vec<String>),
        name!(item, String),
        name!(distance, Option<f64>),
        name!(eliminated, bool),
        name!(step, Option<i32>),
        name!(confidence, Option<f64>),
    ),
> {
    let rows = || {
        let options = Options::new(threshold, threshold_ratio, vulnerability, seed);
        let strategy = options.strategy("method", method)?;
        let release = Release::read(WantedRelease {
            context: context_of(context)?,
            twins: twins_of(calibration)?,
            source: Source::new(corpus, name(corpus_column), json("scoring", scoring)?)?,
            column: wanted_column(relation, column_name, id),
            seed: strategy.seed,
        })?;
        let attacked = Rc::new(release.attack(&strategy)?);
        let (numbers, release) = (0..release.targets.len(), Rc::new(release));
        Ok(numbers.flat_map(move |number| attack_rows(release.clone(), attacked.clone(), number)))
    };
    TableIterator::new(rows().unwrap_or_else(Problem::raise))
}

/// Every cell of a target. One at a time, as each repeats the generalised item.
fn attack_rows(
    release: Rc<Release>,
    attacked: Rc<Attacked>,
    number: usize,
) -> impl Iterator<Item = AttackRow> {
    let target = &release.targets[number];
    let columns = target.members.len();
    let confidence = attacked.confidence(number);
    let mut steps = vec![None; target.rows.len() * columns];
    for (step, cell) in attacked.eliminations[number].cells.iter().enumerate() {
        let confidence = confidence.as_ref().map(|confidence| confidence[step]);
        steps[cell.row as usize * columns + cell.column as usize] = Some((step as i32 + 1, confidence));
    }
    let generalised = release.vocabulary.texts_of(&target.members);
    steps.into_iter().enumerate().map(move |(cell, step)| {
        let transaction = release.targets[number].rows[cell / columns].transaction;
        (
            release.column.ids[transaction as usize].clone(),
            generalised.clone(),
            generalised[cell % columns].clone(),
            known(attacked.tables[number].distances()[cell]),
            step.is_some(),
            step.map(|(step, _)| step),
            step.and_then(|(_, confidence)| confidence),
        )
    })
}

const ORIGINAL: &str = "original";
const RELEASED: &str = "released";

/// Which items transactions have had.
struct Truth {
    /// By the number of the transaction in the release: its items, ascending.
    items: Vec<Vec<u32>>,
}

impl Truth {
    /// For every transaction of a release, the one of the original that has its id.
    fn of(original: &Column, released: &Column) -> Result<Self, Problem> {
        let by_id = original.by_id(ORIGINAL)?;
        released.by_id(RELEASED)?;
        let invalid = |argument, problem: &str| {
            Problem::argument(
                argument,
                problem,
                "The original has every transaction of the release, as it was before items were generalised.",
            )
        };
        let items = released.ids.iter().map(|id| {
            let number = by_id.get(&id[..]);
            let number = *number
                .ok_or_else(|| invalid(RELEASED, "has a transaction that the original does not have"))?;
            let items = original
                .transactions
                .entries(number as usize)
                .iter()
                .map(Entry::item);
            let items: Option<Vec<u32>> = items.collect();
            let mut items = items.ok_or_else(|| invalid(ORIGINAL, "has generalised items"))?;
            items.sort_unstable();
            Ok(items)
        });
        let items: Result<_, Problem> = items.collect();
        Ok(Truth { items: items? })
    }

    fn is_original(&self, transaction: u32, item: u32) -> bool {
        self.items[transaction as usize].binary_search(&item).is_ok()
    }
}

/// attack_calibration(relation regclass, column_name name, corpus regclass, corpus_column name, original regclass, id
/// name, method text, context int, threshold float8, threshold_ratio float8, vulnerability text, seed bigint, calibration
/// int, scoring jsonb)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, clippy::too_many_arguments)] // they are those of the SQL function
fn attack_calibration(
    relation: Option<pg_sys::Oid>,
    column_name: Option<&CStr>,
    corpus: Option<pg_sys::Oid>,
    corpus_column: Option<&CStr>,
    original: Option<pg_sys::Oid>,
    id: Option<&CStr>,
    method: Option<&str>,
    context: Option<i32>,
    threshold: Option<f64>,
    threshold_ratio: Option<f64>,
    vulnerability: Option<&str>,
    seed: Option<i64>,
    calibration: Option<i32>,
    scoring: Option<JsonText>,
) -> TableIterator<
    'static,
    (
        name!(bin, i32),
        name!(eliminations, i64),
        name!(predicted, f64),
        name!(observed, f64),
    ),
> {
    let rows = || {
        let options = Options::new(threshold, threshold_ratio, vulnerability, seed);
        let strategy = options.strategy("method", method)?;
        let wanted = WantedRelease {
            context: context_of(context)?,
            twins: twins_of(calibration)?,
            source: Source::new(corpus, name(corpus_column), json("scoring", scoring)?)?,
            column: wanted_column(relation, column_name, id),
            seed: strategy.seed,
        };
        let (release, truth) = match original {
            None => (Release::read(wanted)?, None),
            Some(_) => {
                let (release, truth) = Release::read_with(original, wanted)?;
                (release, Some(truth))
            }
        };
        let attacked = release.attack(&strategy)?;
        let Some(calibration) = &attacked.calibration else {
            return Ok(Vec::new());
        };
        let predictions = match truth {
            None => calibration.held_out.clone(),
            Some(truth) => predictions(&release, &attacked, &truth),
        };
        let bins = semantic::reliability(predictions, BINS);
        let rows = (1..)
            .zip(bins)
            .map(|(number, bin)| (number, bin.eliminations as i64, bin.predicted, bin.observed));
        Ok(rows.collect::<Vec<_>>())
    };
    TableIterator::new(rows().unwrap_or_else(Problem::raise))
}

const BINS: usize = 10;

/// How sure each elimination of a release is, and whether it is right.
fn predictions(release: &Release, attacked: &Attacked, truth: &Truth) -> Vec<(f64, bool)> {
    let of_target = |(number, target): (usize, &Target)| {
        let confidence = attacked.confidence(number).unwrap_or_default();
        let cells = attacked.eliminations[number].cells.iter();
        let is_right = cells.map(|cell| {
            let transaction = target.rows[cell.row as usize].transaction;
            !truth.is_original(transaction, target.members[cell.column as usize])
        });
        confidence.into_iter().zip(is_right).collect::<Vec<_>>()
    };
    release.targets.iter().enumerate().flat_map(of_target).collect()
}

/// attack_quality(original regclass, released regclass, column_name name, id name, corpus regclass, corpus_column name,
/// methods text[], context int, threshold float8, threshold_ratio float8, vulnerability text, seed bigint, scoring jsonb)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, clippy::too_many_arguments)] // they are those of the SQL function
fn attack_quality(
    original: Option<pg_sys::Oid>,
    released: Option<pg_sys::Oid>,
    column_name: Option<&CStr>,
    id: Option<&CStr>,
    corpus: Option<pg_sys::Oid>,
    corpus_column: Option<&CStr>,
    methods: Option<Array<'_, &str>>,
    context: Option<i32>,
    threshold: Option<f64>,
    threshold_ratio: Option<f64>,
    vulnerability: Option<&str>,
    seed: Option<i64>,
    scoring: Option<JsonText>,
) -> TableIterator<
    'static,
    (
        name!(method, String),
        name!(eliminations, i64),
        name!(correct, i64),
        name!(cover, i64),
        name!(precision, Option<f64>),
        name!(recall, Option<f64>),
        name!(f_score, Option<f64>),
        name!(density, Option<f64>),
    ),
> {
    let rows = || {
        const METHODS: &str = "methods";
        let options = Options::new(threshold, threshold_ratio, vulnerability, seed);
        let methods = given(METHODS, methods)?;
        let strategies = methods.iter().map(|method| {
            let strategy = options.strategy(METHODS, method)?;
            Ok((method.unwrap_or_default().to_owned(), strategy))
        });
        let strategies: Vec<(String, Strategy)> = strategies.collect::<Result<_, Problem>>()?;
        let wanted = WantedRelease {
            context: context_of(context)?,
            twins: 0,
            source: Source::new(corpus, name(corpus_column), json("scoring", scoring)?)?,
            column: WantedColumn {
                argument: RELEASED,
                ..wanted_column(released, column_name, id)
            },
            seed: given("seed", seed)? as u64,
        };
        let (release, truth) = Release::read_with(original, wanted)?;
        let rows = run::long("eliminating items", |control| {
            let tables = semantic::distance_tables(&release.targets, release.knowledge.scoring(), control)?;
            let rows = strategies.into_iter().map(|(method, strategy)| {
                let eliminations = semantic::attack(&tables, &strategy, control)?;
                let quality = Quality::of(&release.targets, &eliminations, |transaction, item| {
                    truth.is_original(transaction, item)
                });
                Ok((method, quality))
            });
            rows.collect::<disclosure::Result<Vec<_>>>()
        })?;
        let rows = rows.into_iter().map(|(method, quality)| {
            (
                method,
                quality.eliminations as i64,
                quality.correct as i64,
                quality.cover as i64,
                quality.precision(),
                quality.recall(),
                quality.f_score(),
                quality.density(),
            )
        });
        Ok(rows.collect::<Vec<_>>())
    };
    TableIterator::new(rows().unwrap_or_else(Problem::raise))
}

/// broken_constraints(relation regclass, column_name name, corpus regclass, corpus_column name, privacy jsonb, k int,
/// method text, context int, threshold float8, threshold_ratio float8, vulnerability text, seed bigint, scoring jsonb)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, clippy::too_many_arguments)] // they are those of the SQL function
fn broken_constraints(
    relation: Option<pg_sys::Oid>,
    column_name: Option<&CStr>,
    corpus: Option<pg_sys::Oid>,
    corpus_column: Option<&CStr>,
    privacy: Option<JsonText>,
    k: Option<i32>,
    method: Option<&str>,
    context: Option<i32>,
    threshold: Option<f64>,
    threshold_ratio: Option<f64>,
    vulnerability: Option<&str>,
    seed: Option<i64>,
    scoring: Option<JsonText>,
) -> TableIterator<
    'static,
    (
        name!(privacy_constraint, Vec<String>),
        name!(items, Vec<String>),
        name!(support, i64),
        name!(transactions, i64),
        name!(held_before, bool),
    ),
> {
    let rows = || {
        let options = Options::new(threshold, threshold_ratio, vulnerability, seed);
        let strategy = options.strategy("method", method)?;
        let (k, privacy) = (k_of(k)?, json("privacy", privacy)?);
        let wanted = WantedRelease {
            context: context_of(context)?,
            twins: 0,
            source: Source::new(corpus, name(corpus_column), json("scoring", scoring)?)?,
            column: wanted_column(relation, column_name, None),
            seed: strategy.seed,
        };
        privacy_of(privacy.clone(), &mut Vocabulary::default())?; // before tables are read
        let mut release = Release::read(wanted)?;
        let privacy = privacy_of(privacy, &mut release.vocabulary)?;
        let attacked = release.attack(&strategy)?;
        let (before, after) = run::long("counting what is left", |control| {
            let left = |eliminations: Option<&[Eliminations]>| {
                let transactions = &release.column.transactions;
                let left = semantic::left_over(transactions, &release.targets, eliminations, control)?;
                semantic::broken_constraints(&left, &privacy, k, control)
            };
            Ok((left(None)?, left(Some(&attacked.eliminations))?))
        })?;
        let rows = after.into_iter().map(|broken| {
            let was_broken = before.iter().any(|before| before.constraint == broken.constraint);
            (
                release.vocabulary.texts_of(&privacy[broken.constraint]),
                release.vocabulary.texts_of(&broken.itemset),
                broken.support as i64,
                broken.transactions as i64,
                !was_broken,
            )
        });
        Ok(rows.collect::<Vec<_>>())
    };
    TableIterator::new(rows().unwrap_or_else(Problem::raise))
}
