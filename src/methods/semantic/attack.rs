//! Semantic attacks: `eliminate`, `elimination_steps`, `semantic_attack`, `attack_calibration`,
//! `attack_quality`, `broken_constraints`.
//!
//! `eliminate` and `elimination_steps` attack one distance table. The other functions read a release and a
//! corpus, compute a distance table for every generalised item, and attack all of them. `attack_quality` also
//! reads the original transactions to tell which eliminations are correct, and so does `attack_calibration`
//! if they are given.

use crate::args::{Args, word};
use crate::error::Error;
use crate::methods::attack::arrays::distances_of_array;
use crate::methods::semantic::coat::{k_of, privacy_of, required};
use crate::methods::semantic::corpus::{Knowledge, Source};
use crate::methods::semantic::items::Items;
use crate::methods::semantic::transactions::{Column, ItemSets, Lists, read_column, read_columns};
use crate::methods::semantic::{CorpusArguments, column, context, need_distances, read_knowledge};
use crate::pg::array_out::Grid;
use crate::pg::table::{Table, table_row};
use crate::run;
use disclosure::semantic::{
    self, AttackResult, DistanceTable, Eliminations, ListOrder, Method, OriginalItems, ReleaseAttack,
    ReleaseAttackSettings, Strategy, Threshold, Vulnerability,
};
use pgrx::Array;
use pgrx::prelude::*;

const METHODS: [(&str, Method); 6] = [
    ("random", Method::Random),
    ("mda", Method::Mda),
    ("tba", Method::Tba),
    ("wba", Method::Wba),
    ("gba", Method::Gba),
    ("rba", Method::Rba),
];

/// Methods of attacks on transactions.
const RELEASE_METHODS: [(&str, Method); 7] = [
    ("random", Method::Random),
    ("mda", Method::Mda),
    ("tba", Method::Tba),
    ("wba", Method::Wba),
    ("gba", Method::Gba),
    ("rba", Method::Rba),
    ("place", Method::Place),
];

const VULNERABILITIES: [(&str, Vulnerability); 2] = [
    ("gap", Vulnerability::Gap),
    ("normalised", Vulnerability::Normalised),
];

/// Reads the argument `method`.
fn method(args: &mut Args) -> Result<Method, Error> {
    word("method", args.optional("method"), &METHODS)
}

/// Reads the argument `method` of an attack on transactions.
fn release_method(args: &mut Args) -> Result<Method, Error> {
    word("method", args.optional("method"), &RELEASE_METHODS)
}

/// Reads the arguments `threshold`, `threshold_ratio`, `vulnerability` and `seed`.
fn strategy(args: &mut Args, method: Method) -> Result<Strategy, Error> {
    let threshold: Option<f64> = args.optional("threshold");
    let ratio: f64 = args.required("threshold_ratio")?;
    if threshold.is_some() && ratio != 1.0 {
        return Err(Error::argument(
            "threshold_ratio",
            "must not be given together with threshold",
            "Leave one of them out.",
        ));
    }
    let strategy = Strategy {
        method,
        threshold: threshold.map_or(Threshold::Mean(ratio), Threshold::Absolute),
        vulnerability: word("vulnerability", args.optional("vulnerability"), &VULNERABILITIES)?,
        seed: args.seed()?,
    };
    strategy.check()?;
    Ok(strategy)
}

/// Number of cells up to which a table is attacked without a worker thread, because a query may have very
/// many small tables.
const FEW: usize = 1000;

/// Reads the arguments of an attack on one distance table. Returns the table and its eliminations; `None` if
/// the table is NULL.
fn eliminations(mut args: Args) -> Result<Option<(DistanceTable, Eliminations)>, Error> {
    let distances: Option<Array<'_, f64>> = args.optional("distances");
    let method = method(&mut args)?;
    let strategy = strategy(&mut args, method)?;
    args.end()?;
    let Some(distances) = distances else {
        return Ok(None);
    };
    let table = distances_of_array(distances)?;
    let eliminations = run::sized("eliminating items", table.distances().len(), FEW, |control| {
        semantic::eliminate(&table, &strategy, control)
    })?;
    Ok(Some((table, eliminations)))
}

/// eliminate(distances float8[], method text, threshold float8, threshold_ratio float8, vulnerability text,
/// seed bigint)
#[pg_extern(sql = false)]
fn eliminate(args: Args) -> Option<Grid<bool>> {
    let (table, eliminations) = eliminations(args).unwrap_or_else(Error::raise)?;
    let columns = table.columns();
    Some(Grid::new(table.rows(), columns, |eliminated| {
        for cell in &eliminations.cells {
            eliminated[cell.row as usize * columns + cell.column as usize] = true;
        }
    }))
}

table_row! {
    /// A cell that was eliminated.
    struct Step {
        step: i32,
        row_number: i32,
        column_number: i32,
        score: Option<f64>,
        threshold: Option<f64>,
    }
}

/// elimination_steps(distances float8[], method text, threshold float8, threshold_ratio float8,
/// vulnerability text, seed bigint)
#[pg_extern(sql = false)]
fn elimination_steps(args: Args) -> Table<Step> {
    Table::new(eliminations(args).map(|found| {
        let (threshold, cells) =
            found.map_or((None, Vec::new()), |(_, found)| (found.threshold, found.cells));
        (1..).zip(cells).map(move |(step, cell)| Step {
            step,
            row_number: cell.row as i32 + 1,
            column_number: cell.column as i32 + 1,
            score: cell.score,
            threshold,
        })
    }))
}

/// Released transactions, the part of them that is attacked, and what the corpus knows about that part.
struct Release {
    items: Items,
    lists: Lists,
    study: ReleaseAttack,
    knowledge: Knowledge,
}

impl Release {
    /// Prepares an attack by these methods. A corpus is needed by all methods except [`Method::Place`].
    fn new(
        items: Items,
        lists: Lists,
        source: Option<&Source>,
        settings: &ReleaseAttackSettings,
        methods: &[Method],
    ) -> Result<Self, Error> {
        let needs_distances = need_distances(methods);
        let (study, pairs) = run::long("looking for contexts", |control| {
            let study = ReleaseAttack::new(&lists.transactions, settings, control)?;
            let pairs = if needs_distances {
                study.pairs(control)?
            } else {
                Vec::new()
            };
            Ok((study, pairs))
        })?;
        let knowledge = match source.filter(|_| needs_distances) {
            Some(source) => read_knowledge(source, &items, &pairs)?,
            None => Knowledge::Nothing,
        };
        let mut release = Release {
            items,
            lists,
            study,
            knowledge,
        };
        if methods.contains(&Method::Place) {
            release.attack_places(source)?;
        }
        Ok(release)
    }

    /// Attacks all targets by place, in the order of the lists. If they are not sorted by text, the order is
    /// learnt from the lists of the corpus. Sends a NOTICE if the lists are in no order that is found.
    fn attack_places(&mut self, source: Option<&Source>) -> Result<(), Error> {
        let Release {
            items, lists, study, ..
        } = self;
        let transactions = &lists.transactions;
        let mut order = lists.text_order(items)?;
        if order.is_none() {
            let others = source.map(|source| source.read_lists(items.texts()));
            let others = others.transpose()?.unwrap_or_default();
            order = run::long("looking for an order", |control| {
                ListOrder::learn(transactions, &others, control)
            })?;
        }
        match order {
            Some(order) => run::long("eliminating items", |control| {
                study.attack_places(transactions, &order, control)
            }),
            None => {
                notice!("the lists are in no known order, so places tell nothing");
                Ok(())
            }
        }
    }

    fn read(
        column: &Column,
        source: Option<&Source>,
        settings: &ReleaseAttackSettings,
        method: Method,
    ) -> Result<Self, Error> {
        let (items, lists) = read_column(column)?;
        Self::new(items, lists, source, settings, &[method])
    }

    /// Reads a release together with the original items of its transactions. Both columns must have keys.
    fn read_with(
        original: &Column,
        released: &Column,
        source: Option<&Source>,
        settings: &ReleaseAttackSettings,
        methods: &[Method],
    ) -> Result<(Self, OriginalItems), Error> {
        let (items, lists) = read_columns(&[original, released])?;
        let [original, released] =
            <[Lists; 2]>::try_from(lists).map_err(|_| Error::Internal("a column was not read"))?;
        let truth = OriginalItems::new(&original.transactions, original.ids(), released.ids())?;
        Ok((Self::new(items, released, source, settings, methods)?, truth))
    }

    /// Attacks all targets and twins. Sends a NOTICE if confidence was requested but could not be learnt.
    fn attack(&self, strategy: &Strategy) -> Result<AttackResult, Error> {
        let (study, scoring) = (&self.study, self.knowledge.scoring());
        let attacked = run::long("eliminating items", |control| {
            study.attack(scoring, strategy, control)
        })?;
        if study.lacks_confidence(&attacked) {
            notice!(
                "confidence could not be estimated: too few items without generalisation, or too few eliminations"
            );
        }
        Ok(attacked)
    }
}

/// The arguments `context`, `threshold`, `threshold_ratio`, `vulnerability` and `seed`, which follow the
/// method.
struct Options {
    strategy: Strategy,
    settings: ReleaseAttackSettings,
}

impl Options {
    fn read(args: &mut Args, method: Method) -> Result<Self, Error> {
        let context = context(args)?;
        let strategy = strategy(args, method)?;
        let settings = ReleaseAttackSettings {
            context,
            calibration: 0,
            seed: strategy.seed,
        };
        settings.check()?;
        Ok(Options { strategy, settings })
    }

    /// Reads the argument `calibration` as well, which comes next.
    fn calibrated(mut self, args: &mut Args) -> Result<Self, Error> {
        self.settings.calibration = args.number("calibration", 0)?;
        Ok(self)
    }
}

table_row! {
    /// A member of a generalised item in one of the transactions that have it.
    struct AttackedItem {
        transaction: String,
        generalised: Vec<String>,
        item: String,
        distance: Option<f64>,
        eliminated: bool,
        step: Option<i32>,
        confidence: Option<f64>,
    }
}

/// semantic_attack(relation regclass, column_name name, corpus regclass, corpus_column name, key name,
/// method text, context int, threshold float8, threshold_ratio float8, vulnerability text, seed bigint,
/// calibration int, scoring jsonb)
#[pg_extern(sql = false)]
fn semantic_attack(args: Args) -> Table<AttackedItem> {
    Table::new(attacked_items(args))
}

fn attacked_items(mut args: Args) -> Result<impl Iterator<Item = AttackedItem>, Error> {
    let column = column(&mut args)?;
    let corpus = CorpusArguments::read(&mut args);
    let column = column.with_key(args.name("key").as_deref())?;
    let method = release_method(&mut args)?;
    let mut options = Options::read(&mut args, method)?.calibrated(&mut args)?;
    let source = corpus.source_of_attack(&mut args, &[method])?;
    args.end()?;
    if method == Method::Place {
        options.settings.calibration = 0;
    }
    let release = Release::read(&column, source.as_ref(), &options.settings, method)?;
    let attacked = release.attack(&options.strategy)?;
    // One target at a time, because each row repeats the generalised item.
    let targets = 0..release.study.targets().len();
    Ok(targets.flat_map(move |target| items_of_target(&release, &attacked, target)))
}

fn items_of_target(release: &Release, attacked: &AttackResult, target: usize) -> Vec<AttackedItem> {
    let generalised = release.items.texts_of(&release.study.targets()[target].members);
    let cells = release.study.cells(attacked, target).into_iter();
    let rows = cells.map(|cell| AttackedItem {
        transaction: release.lists.id(cell.transaction as usize),
        generalised: generalised.clone(),
        item: generalised[cell.member].clone(),
        distance: cell.distance,
        eliminated: cell.step.is_some(),
        step: cell.step.map(|step| step as i32 + 1),
        confidence: cell.confidence,
    });
    rows.collect()
}

table_row! {
    /// Eliminations of about the same confidence.
    struct ReliabilityBin { bin: i32, eliminations: i64, predicted: f64, observed: f64 }
}

/// attack_calibration(relation regclass, column_name name, corpus regclass, corpus_column name, key name,
/// original regclass, method text, context int, threshold float8, threshold_ratio float8, vulnerability text,
/// seed bigint, calibration int, scoring jsonb)
#[pg_extern(sql = false)]
fn attack_calibration(args: Args) -> Table<ReliabilityBin> {
    Table::new(reliability(args))
}

fn reliability(mut args: Args) -> Result<impl Iterator<Item = ReliabilityBin>, Error> {
    let (relation, column_name) = (args.optional("relation"), args.name("column_name"));
    let column = Column::open("relation", relation, column_name.as_deref())?;
    let corpus = CorpusArguments::read(&mut args);
    let key = args.name("key");
    let original: Option<pg_sys::Oid> = args.optional("original");
    let column = column.with_key(key.as_deref())?;
    let original = original.map(|original| open_original(Some(original), column_name, key));
    let original = original.transpose()?;
    let method = method(&mut args)?;
    let Options { strategy, settings } = Options::read(&mut args, method)?.calibrated(&mut args)?;
    let source = corpus.source(&mut args)?.finite()?;
    args.end()?;
    let (release, truth) = match original {
        None => (Release::read(&column, Some(&source), &settings, method)?, None),
        Some(original) => {
            let (release, truth) =
                Release::read_with(&original, &column, Some(&source), &settings, &[method])?;
            (release, Some(truth))
        }
    };
    let attacked = release.attack(&strategy)?;
    let bins = release.study.reliability_bins(&attacked, truth.as_ref());
    Ok((1..).zip(bins).map(|(number, bin)| ReliabilityBin {
        bin: number,
        eliminations: bin.eliminations as i64,
        predicted: bin.predicted,
        observed: bin.observed,
    }))
}

/// Opens the column of the original transactions, which have the same keys as those of the release.
fn open_original(
    original: Option<pg_sys::Oid>,
    column_name: Option<String>,
    key: Option<String>,
) -> Result<Column, Error> {
    let key = key.ok_or(Error::argument(
        "key",
        "must not be NULL if original is given",
        "Give the column of both tables that identifies the transactions.",
    ))?;
    Column::open("original", original, column_name.as_deref())?.with_key(Some(&key))
}

table_row! {
    /// Quality of a method: how well it tells cover from original items.
    struct MethodQuality {
        method: String,
        eliminations: i64,
        correct: i64,
        cover: i64,
        precision_score: Option<f64>,
        recall_score: Option<f64>,
        f_score: Option<f64>,
        density: Option<f64>,
    }
}

/// attack_quality(original regclass, released regclass, column_name name, corpus regclass,
/// corpus_column name, key name, methods text[], context int, threshold float8, threshold_ratio float8,
/// vulnerability text, seed bigint, scoring jsonb)
#[pg_extern(sql = false)]
fn attack_quality(args: Args) -> Table<MethodQuality> {
    Table::new(qualities(args))
}

fn qualities(mut args: Args) -> Result<impl Iterator<Item = MethodQuality>, Error> {
    let (original, released) = (args.optional("original"), args.optional("released"));
    let column_name = args.name("column_name");
    let corpus = CorpusArguments::read(&mut args);
    let key = args.name("key");
    let column = Column::open("released", released, column_name.as_deref())?.with_key(key.as_deref())?;
    let original = open_original(original, column_name, key)?;
    let methods: Array<'_, &str> = args.required("methods")?;
    let methods = methods.iter().map(|method| {
        let meaning = word("methods", method, &RELEASE_METHODS)?;
        Ok((method.unwrap_or_default().to_owned(), meaning))
    });
    let methods = methods.collect::<Result<Vec<(String, Method)>, Error>>()?;
    let (names, methods): (Vec<String>, Vec<Method>) = methods.into_iter().unzip();
    let Options { strategy, settings } = Options::read(&mut args, Method::Rba)?;
    let source = corpus.source_of_attack(&mut args, &methods)?;
    args.end()?;
    let (release, truth) = Release::read_with(&original, &column, source.as_ref(), &settings, &methods)?;
    let strategies = methods.iter().map(|&method| Strategy { method, ..strategy });
    let strategies: Vec<Strategy> = strategies.collect();
    let (study, scoring) = (&release.study, release.knowledge.scoring());
    let qualities = run::long("eliminating items", |control| {
        study.quality(scoring, &strategies, &truth, control)
    })?;
    let rows = names.into_iter().zip(qualities);
    Ok(rows.map(|(method, quality)| MethodQuality {
        method,
        eliminations: quality.eliminations as i64,
        correct: quality.correct as i64,
        cover: quality.cover as i64,
        precision_score: quality.precision(),
        recall_score: quality.recall(),
        f_score: quality.f_score(),
        density: quality.density(),
    }))
}

table_row! {
    /// A privacy constraint that does not hold after the attack.
    struct BrokenConstraint {
        privacy_constraint: Vec<String>,
        items: Vec<String>,
        support: i64,
        transactions: i64,
        held_before: bool,
    }
}

/// broken_constraints(relation regclass, column_name name, corpus regclass, corpus_column name,
/// privacy jsonb, k int, method text, context int, threshold float8, threshold_ratio float8,
/// vulnerability text, seed bigint, scoring jsonb)
#[pg_extern(sql = false)]
fn broken_constraints(args: Args) -> Table<BrokenConstraint> {
    Table::new(constraints_after_attack(args))
}

fn constraints_after_attack(mut args: Args) -> Result<Vec<BrokenConstraint>, Error> {
    let column = column(&mut args)?;
    let corpus = CorpusArguments::read(&mut args);
    let privacy = ItemSets::read("privacy", args.json("privacy")?)?;
    let k = k_of(args.optional("k"));
    semantic::check_k(k)?;
    let method = release_method(&mut args)?;
    let Options { strategy, settings } = Options::read(&mut args, method)?;
    let source = corpus.source_of_attack(&mut args, &[method])?;
    args.end()?;
    let privacy = required(privacy)?;
    let mut release = Release::read(&column, source.as_ref(), &settings, method)?;
    let privacy = privacy_of(&privacy, &mut release.items)?;
    let attacked = release.attack(&strategy)?;
    let (study, transactions) = (&release.study, &release.lists.transactions);
    let broken = run::long("counting remaining items", |control| {
        study.broken_constraints(transactions, &attacked, &privacy, k, control)
    })?;
    let rows = broken.into_iter().map(|(broken, held_before)| BrokenConstraint {
        privacy_constraint: release.items.texts_of(&privacy[broken.constraint]),
        items: release.items.texts_of(&broken.itemset),
        support: broken.support as i64,
        transactions: broken.transactions as i64,
        held_before,
    });
    Ok(rows.collect())
}
