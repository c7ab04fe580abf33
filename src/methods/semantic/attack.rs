//! Semantic attacks: `eliminate`, `elimination_steps`, `semantic_attack`, `attack_settings`,
//! `attack_calibration`, `attack_quality`, `broken_constraints`.
//!
//! `eliminate` and `elimination_steps` attack one distance table. The other functions read a release and a
//! corpus, compute a distance table for every generalised item, and attack all of them. Settings that the
//! caller leaves out are chosen; `attack_settings` lists the candidates. `attack_quality` also reads the
//! original transactions to tell which eliminations are correct, and so does `attack_calibration` if they are
//! given.

use crate::args::{Args, is_first_in_statement, word};
use crate::error::Error;
use crate::methods::attack::arrays::distances_of_array;
use crate::methods::semantic::coat::{k_of, privacy_of, required};
use crate::methods::semantic::corpus::{Knowledge, Source};
use crate::methods::semantic::items::Items;
use crate::methods::semantic::transactions::{Column, ItemSets, Lists, read_column, read_columns};
use crate::methods::semantic::{
    COMBINATIONS, CorpusArguments, column, context_of, need_distances, read_knowledge,
};
use crate::pg::array_out::Grid;
use crate::pg::table::{Table, table_row};
use crate::run;
use crate::verdict::verdict_name;
use disclosure::semantic::{
    self, AttackResult, AttackSettings, Choice, DensityBin, DistanceTable, Eliminations, ListOrder, Method,
    OpenSettings, OriginalItems, ReleaseAttack, ReleaseAttackSettings, Strategy, Threshold, Vulnerability,
};
use pgrx::Array;
use pgrx::prelude::*;

/// Methods of attacks on transactions. The last one needs no distances.
const RELEASE_METHODS: [(&str, Method); 7] = [
    ("random", Method::Random),
    ("mda", Method::Mda),
    ("tba", Method::Tba),
    ("wba", Method::Wba),
    ("gba", Method::Gba),
    ("rba", Method::Rba),
    ("place", Method::Place),
];

/// Methods of attacks on distance tables.
const METHODS: &[(&str, Method)] = RELEASE_METHODS.split_at(6).0;

const VULNERABILITIES: [(&str, Vulnerability); 2] = [
    ("gap", Vulnerability::Gap),
    ("normalised", Vulnerability::Normalised),
];

/// Reads the argument `method` of an attack on distance tables.
fn method(args: &mut Args) -> Result<Method, Error> {
    word("method", args.optional("method"), METHODS)
}

/// Reads the argument `method` of an attack on transactions.
fn release_method(args: &mut Args) -> Result<Method, Error> {
    word("method", args.optional("method"), &RELEASE_METHODS)
}

/// Reads the arguments `threshold`, `threshold_ratio`, `vulnerability` and `seed`.
fn strategy(args: &mut Args, method: Method) -> Result<Strategy, Error> {
    let threshold: Option<f64> = args.optional("threshold");
    let ratio: f64 = args.required("threshold_ratio")?;
    refuse_both(
        "threshold",
        "threshold_ratio",
        threshold.is_some() && ratio != 1.0,
    )?;
    let strategy = Strategy {
        method,
        threshold: threshold.map_or(Threshold::Mean(ratio), Threshold::Absolute),
        vulnerability: word("vulnerability", args.optional("vulnerability"), &VULNERABILITIES)?,
        seed: args.seed()?,
    };
    strategy.check()?;
    Ok(strategy)
}

/// Returns an error if two arguments are given that exclude each other.
fn refuse_both(one: &str, other: &'static str, are_given: bool) -> Result<(), Error> {
    match are_given {
        false => Ok(()),
        true => Err(Error::argument(
            other,
            format!("must not be given together with {one}"),
            "Leave one of them out.",
        )),
    }
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

    /// Chooses the settings that are open. Returns the defaults without a choice if there is too little to
    /// choose by.
    fn choose(&self, open: &OpenSettings) -> Result<(AttackSettings, Option<Choice>), Error> {
        let (study, scoring) = (&self.study, self.knowledge.scoring());
        let choice = run::long("choosing settings", |control| {
            study.choose(open, scoring, control)
        })?;
        let settings = choice
            .as_ref()
            .map_or_else(|| open.with_defaults(scoring), Choice::settings);
        Ok((settings, choice))
    }

    /// Chooses settings and attacks all targets and twins. Sends a NOTICE about the settings that were chosen,
    /// about transactions that cannot be attacked, and if confidence was requested but could not be learnt.
    fn attack(&self, open: &OpenSettings) -> Result<AttackResult, Error> {
        let (settings, choice) = self.choose(open)?;
        let (study, scoring) = (&self.study, self.knowledge.scoring());
        let attacked = run::long("eliminating items", |control| {
            study.attack(scoring, &settings, control)
        })?;
        if open.method.needs_distances() && self.report_unattacked(settings.distances.context)? {
            report_choice(open, &settings, choice.as_ref());
        }
        if study.lacks_confidence(&attacked) {
            notice!(
                "confidence could not be estimated: too few items without generalisation, or too few eliminations"
            );
        }
        Ok(attacked)
    }

    /// Sends a NOTICE if transactions have generalised items that cannot be attacked. Returns whether others
    /// can be.
    fn report_unattacked(&self, context: usize) -> Result<bool, Error> {
        let (study, scoring) = (&self.study, self.knowledge.scoring());
        let (all, unattacked) = run::long("looking for contexts", |control| {
            study.unattacked(scoring, context, control)
        })?;
        if unattacked > 0 {
            notice_once(format!(
                "{unattacked} of {all} transactions with generalised items cannot be attacked, because they have no \
                 context or the corpus does not contain it"
            ));
        }
        Ok(unattacked < all)
    }
}

/// Sends a NOTICE, unless it was already sent for the same statement of the client, which may call a function
/// for each of many rows.
fn notice_once(text: String) {
    if is_first_in_statement(text.clone()) {
        notice!("{text}");
    }
}

/// Sends a NOTICE about the settings that were open, if there was anything to choose.
fn report_choice(open: &OpenSettings, settings: &AttackSettings, choice: Option<&Choice>) {
    let values = open_values(open, settings);
    // Vectors have no `unseen`, so that it may be the only setting that was not given.
    if !open.has_choice() || values.is_empty() {
        return;
    }
    notice_once(match choice {
        Some(choice) => format!(
            "settings chosen by attacking {} artificial generalised items: {values}; \
             disclosure_lab.attack_settings() lists all candidates",
            choice.twins
        ),
        None => format!(
            "settings could not be chosen, because there are too few items without generalisation; defaults: {values}"
        ),
    });
}

/// Returns the names and values of the settings that were open.
fn open_values(open: &OpenSettings, settings: &AttackSettings) -> String {
    let AttackSettings { distances, strategy } = settings;
    let values = [
        (open.context.is_none()).then(|| format!("context {}", distances.context)),
        (open.combination.is_none()).then(|| format!("combine {}", combination_name(settings))),
        ratio_of(strategy)
            .filter(|_| open.threshold.is_none())
            .map(|ratio| format!("threshold_ratio {ratio}")),
        distances
            .unseen
            .filter(|_| open.unseen.is_none())
            .map(|unseen| format!("unseen {unseen}")),
    ];
    values.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Returns the maximum number of items in a context, which was an int in SQL.
fn context_number(settings: &AttackSettings) -> i32 {
    i32::try_from(settings.distances.context).unwrap_or(i32::MAX)
}

fn combination_name(settings: &AttackSettings) -> &'static str {
    let combination = settings.distances.combination;
    let name = COMBINATIONS.iter().find(|(_, meaning)| *meaning == combination);
    name.map_or("", |(name, _)| name)
}

/// Returns the multiple of the mean at which an attack ends; `None` if it ends otherwise.
fn ratio_of(strategy: &Strategy) -> Option<f64> {
    match strategy.threshold {
        Threshold::Mean(ratio) if strategy.method.has_threshold() => Some(ratio),
        _ => None,
    }
}

/// Reads the arguments `context`, `combine`, `threshold`, `threshold_ratio`, `vulnerability` and `seed`, which
/// follow the method. Settings that are NULL are open.
fn open_settings(args: &mut Args, method: Method) -> Result<OpenSettings, Error> {
    let context: Option<i32> = args.optional("context");
    let combination: Option<&str> = args.optional("combine");
    let combination = combination.map(|name| word("combine", Some(name), &COMBINATIONS));
    let threshold: Option<f64> = args.optional("threshold");
    let ratio: Option<f64> = args.optional("threshold_ratio");
    refuse_both(
        "threshold",
        "threshold_ratio",
        threshold.is_some() && ratio.is_some(),
    )?;
    let open = OpenSettings {
        context: context.map(context_of),
        combination: combination.transpose()?,
        unseen: None,
        threshold: threshold.map(Threshold::Absolute).or(ratio.map(Threshold::Mean)),
        method,
        vulnerability: word("vulnerability", args.optional("vulnerability"), &VULNERABILITIES)?,
        seed: args.seed()?,
    };
    open.check()?;
    Ok(open)
}

/// Returns the settings of an attack on a release, which depend on those that are open.
fn release_settings(open: &OpenSettings, calibration: usize) -> ReleaseAttackSettings {
    ReleaseAttackSettings {
        max_context: open.max_context(),
        default_context: open.default_context(),
        calibration,
        has_choice: open.has_choice(),
        seed: open.seed,
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
/// method text, context int, combine text, threshold float8, threshold_ratio float8, vulnerability text,
/// seed bigint, calibration int, scoring jsonb)
#[pg_extern(sql = false)]
fn semantic_attack(args: Args) -> Table<AttackedItem> {
    Table::new(attacked_items(args))
}

fn attacked_items(mut args: Args) -> Result<impl Iterator<Item = AttackedItem>, Error> {
    let column = column(&mut args)?;
    let corpus = CorpusArguments::read(&mut args);
    let column = column.with_key(args.name("key").as_deref())?;
    let method = release_method(&mut args)?;
    let mut open = open_settings(&mut args, method)?;
    let calibration = match (args.number("calibration", 0)?, method) {
        (_, Method::Place) => 0,
        (calibration, _) => calibration,
    };
    let source = corpus.source_of_attack(&mut args, &[method])?;
    args.end()?;
    open.unseen = source.as_ref().and_then(Source::unseen);
    let release = Release::read(
        &column,
        source.as_ref(),
        &release_settings(&open, calibration),
        method,
    )?;
    let attacked = release.attack(&open)?;
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
    /// Settings of an attack, and how well they do against twins.
    struct Candidate {
        context: i32,
        combine: String,
        threshold_ratio: Option<f64>,
        unseen: Option<f64>,
        eliminations: i64,
        correct: i64,
        cover: i64,
        precision_score: Option<f64>,
        recall_score: Option<f64>,
        f_score: Option<f64>,
        chosen: bool,
    }
}

/// attack_settings(relation regclass, column_name name, corpus regclass, corpus_column name, key name,
/// method text, context int, combine text, threshold float8, threshold_ratio float8, vulnerability text,
/// seed bigint, scoring jsonb)
#[pg_extern(sql = false)]
fn attack_settings(args: Args) -> Table<Candidate> {
    Table::new(candidates(args))
}

fn candidates(mut args: Args) -> Result<Vec<Candidate>, Error> {
    let column = column(&mut args)?;
    let corpus = CorpusArguments::read(&mut args);
    let column = column.with_key(args.name("key").as_deref())?;
    let method = method(&mut args)?;
    let mut open = open_settings(&mut args, method)?;
    let source = corpus.source(&mut args)?.finite()?;
    args.end()?;
    open.unseen = source.unseen();
    let release = Release::read(&column, Some(&source), &release_settings(&open, 0), method)?;
    let (settings, choice) = release.choose(&open)?;
    let Some(choice) = choice else {
        if release.report_unattacked(settings.distances.context)? {
            report_choice(&open, &settings, None);
        }
        return Ok(Vec::new());
    };
    let rows = choice
        .candidates
        .iter()
        .enumerate()
        .map(|(place, (settings, quality))| Candidate {
            context: context_number(settings),
            combine: combination_name(settings).to_owned(),
            threshold_ratio: ratio_of(&settings.strategy),
            unseen: settings.distances.unseen,
            eliminations: quality.eliminations as i64,
            correct: quality.correct as i64,
            cover: quality.cover as i64,
            precision_score: quality.precision(),
            recall_score: quality.recall(),
            f_score: quality.f_score(),
            chosen: place == choice.chosen,
        });
    Ok(rows.collect())
}

table_row! {
    /// Eliminations of about the same confidence.
    struct ReliabilityBin { bin: i32, eliminations: i64, predicted: f64, observed: f64 }
}

/// attack_calibration(relation regclass, column_name name, corpus regclass, corpus_column name, key name,
/// original regclass, method text, context int, combine text, threshold float8, threshold_ratio float8,
/// vulnerability text, seed bigint, calibration int, scoring jsonb)
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
    let mut open = open_settings(&mut args, method)?;
    let calibration = args.number("calibration", 0)?;
    let source = corpus.source(&mut args)?.finite()?;
    args.end()?;
    open.unseen = source.unseen();
    let settings = release_settings(&open, calibration);
    let (release, truth) = match original {
        None => (Release::read(&column, Some(&source), &settings, method)?, None),
        Some(original) => {
            let (release, truth) =
                Release::read_with(&original, &column, Some(&source), &settings, &[method])?;
            (release, Some(truth))
        }
    };
    let attacked = release.attack(&open)?;
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
        density_from: f64,
        density_to: f64,
        generalised_items: i64,
        context: Option<i32>,
        combine: Option<&'static str>,
        threshold_ratio: Option<f64>,
        unseen: Option<f64>,
    }
}

/// attack_quality(original regclass, released regclass, column_name name, corpus regclass,
/// corpus_column name, key name, methods text[], contexts int[], context int, combine text,
/// threshold float8, threshold_ratio float8, vulnerability text, seed bigint, density_bounds float8[],
/// scoring jsonb)
#[pg_extern(sql = false)]
fn attack_quality(args: Args) -> Table<MethodQuality> {
    Table::new(qualities(args))
}

fn qualities(mut args: Args) -> Result<Vec<MethodQuality>, Error> {
    let (original, released) = (args.optional("original"), args.optional("released"));
    let column_name = args.name("column_name");
    let corpus = CorpusArguments::read(&mut args);
    let key = args.name("key");
    let column = Column::open("released", released, column_name.as_deref())?.with_key(key.as_deref())?;
    let original = open_original(original, column_name, key)?;
    let methods: Array<'_, &str> = args.required("methods")?;
    let methods = methods
        .iter()
        .map(|method| word("methods", method, &RELEASE_METHODS));
    let methods: Vec<Method> = methods.collect::<Result<_, Error>>()?;
    let contexts: Option<Array<'_, i32>> = args.optional("contexts");
    let mut open = open_settings(&mut args, Method::Rba)?;
    refuse_both(
        "contexts",
        "context",
        contexts.is_some() && open.context.is_some(),
    )?;
    let contexts = contexts.map_or(Ok(vec![open.context]), contexts_of)?;
    let bounds: Option<Vec<f64>> = args.optional("density_bounds").map(bounds_of).transpose()?;
    let bounds = bounds.unwrap_or_default();
    semantic::check_density_bounds(&bounds)?;
    let source = corpus.source_of_attack(&mut args, &methods)?;
    args.end()?;
    open.unseen = source.as_ref().and_then(Source::unseen);
    let attacks = methods.iter().flat_map(|&method| {
        let contexts = match method.needs_distances() {
            true => &contexts[..],
            false => &[None],
        };
        contexts.iter().map(move |&context| OpenSettings {
            method,
            context,
            ..open
        })
    });
    let attacks: Vec<OpenSettings> = attacks.collect();
    let settings = ReleaseAttackSettings {
        max_context: attacks.iter().map(OpenSettings::max_context).fold(1, usize::max),
        default_context: attacks
            .iter()
            .map(OpenSettings::default_context)
            .fold(1, usize::max),
        has_choice: attacks.iter().any(OpenSettings::has_choice),
        ..release_settings(&open, 0)
    };
    let (release, truth) = Release::read_with(&original, &column, source.as_ref(), &settings, &methods)?;
    let settings = release.choose_all(&attacks)?;
    let (study, scoring) = (&release.study, release.knowledge.scoring());
    let bins = run::long("eliminating items", |control| {
        study.quality(scoring, &settings, &truth, &bounds, control)
    })?;
    let rows = settings.iter().zip(bins);
    let rows = rows.flat_map(|(settings, bins)| bins.into_iter().map(|bin| quality_row(settings, &bin)));
    Ok(rows.collect())
}

/// Reads the argument `contexts`.
fn contexts_of(sizes: Array<'_, i32>) -> Result<Vec<Option<usize>>, Error> {
    let sizes = sizes.iter().map(|size| match size {
        Some(size) if size >= 1 => Ok(Some(size as usize)),
        _ => Err(Error::argument(
            "contexts",
            "must be numbers of at least 1",
            "Give the sizes of contexts to compare, such as '{1,2,5}'.",
        )),
    });
    sizes.collect()
}

/// Reads the argument `density_bounds`.
fn bounds_of(bounds: Array<'_, f64>) -> Result<Vec<f64>, Error> {
    let bounds: Option<Vec<f64>> = bounds.iter().collect();
    bounds.ok_or(Error::argument(
        "density_bounds",
        "must not contain NULL",
        "Give densities that divide generalised items into groups, such as '{0.2,0.4,0.6}'.",
    ))
}

impl Release {
    /// Chooses the settings of several attacks. Sends a NOTICE if transactions cannot be attacked, or if
    /// settings could not be chosen; those that were chosen are in the result.
    fn choose_all(&self, attacks: &[OpenSettings]) -> Result<Vec<AttackSettings>, Error> {
        let (mut all, mut without) = (Vec::with_capacity(attacks.len()), None);
        for open in attacks {
            let (settings, choice) = self.choose(open)?;
            if choice.is_none() && open.has_choice() {
                without = Some((open, settings));
            }
            all.push(settings);
        }
        let by_distances = all
            .iter()
            .filter(|settings| settings.strategy.method.needs_distances());
        let context = by_distances.map(|settings| settings.distances.context).max();
        let is_any_attacked = context.map_or(Ok(false), |context| self.report_unattacked(context))?;
        if let Some((open, settings)) = without.filter(|_| is_any_attacked) {
            report_choice(open, &settings, None);
        }
        Ok(all)
    }
}

fn quality_row(settings: &AttackSettings, bin: &DensityBin) -> MethodQuality {
    let AttackSettings { distances, strategy } = settings;
    let method = RELEASE_METHODS
        .iter()
        .find(|(_, method)| *method == strategy.method);
    let needs_distances = strategy.method.needs_distances();
    let quality = &bin.quality;
    MethodQuality {
        method: method.map_or("", |(name, _)| name).to_owned(),
        eliminations: quality.eliminations as i64,
        correct: quality.correct as i64,
        cover: quality.cover as i64,
        precision_score: quality.precision(),
        recall_score: quality.recall(),
        f_score: quality.f_score(),
        density: quality.density(),
        density_from: bin.from,
        density_to: bin.to,
        generalised_items: bin.generalised_items as i64,
        context: needs_distances.then(|| context_number(settings)),
        combine: needs_distances.then(|| combination_name(settings)),
        threshold_ratio: ratio_of(strategy),
        unseen: distances.unseen.filter(|_| needs_distances),
    }
}

table_row! {
    /// A privacy constraint that does not hold, or might not hold, after the attack.
    struct BrokenConstraint {
        verdict: &'static str,
        privacy_constraint: Vec<String>,
        items: Vec<String>,
        support: i64,
        transactions: i64,
        held_before: bool,
    }
}

/// broken_constraints(relation regclass, column_name name, corpus regclass, corpus_column name,
/// privacy jsonb, k int, method text, context int, combine text, threshold float8, threshold_ratio float8,
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
    let mut open = open_settings(&mut args, method)?;
    let source = corpus.source_of_attack(&mut args, &[method])?;
    args.end()?;
    let privacy = required(privacy)?;
    open.unseen = source.as_ref().and_then(Source::unseen);
    let mut release = Release::read(&column, source.as_ref(), &release_settings(&open, 0), method)?;
    let privacy = privacy_of(&privacy, &mut release.items)?;
    let attacked = release.attack(&open)?;
    let (study, transactions) = (&release.study, &release.lists.transactions);
    let broken = run::long("counting remaining items", |control| {
        study.broken_constraints(transactions, &attacked, &privacy, k, control)
    })?;
    let rows = broken.into_iter().map(|after| {
        let constraint = after.constraint;
        BrokenConstraint {
            verdict: verdict_name(after.is_broken.then_some(false)),
            privacy_constraint: release.items.texts_of(&privacy[constraint.constraint]),
            items: release.items.texts_of(&constraint.itemset),
            support: constraint.support as i64,
            transactions: constraint.transactions as i64,
            held_before: after.held_before,
        }
    });
    Ok(rows.collect())
}
