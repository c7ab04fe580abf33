//! Cracks: `expected_cracks`, `crack_report`, `item_risk`, and the same over stored counts.
//!
//! The forms over a relation and those over an `item_counts` value are different functions for Postgres. They
//! share their Rust code and only differ in the [`Source`], so that all arguments are checked before the
//! first row is read. The definitions are those of Lakshmanan, Ng and Ramesh (2008); the algorithms are in
//! `disclosure::cracks`.

mod aggregates;
mod beliefs;
mod item_counts;
pub mod item_names;
pub mod items;
mod itemsets;
mod recipes;
mod reidentification;

use crate::args::{Args, given, warn_once, word};
use crate::error::Error;
use crate::methods::cracks::beliefs::{Interval, read_belief};
use crate::methods::cracks::item_counts::ItemCounts;
use crate::methods::cracks::items::{CountedTable, read_counts, read_table};
use crate::pg::table::{Table, table_row};
use crate::{memory, run};
use disclosure::cracks::{
    Adversary, ExpectedCracks, Method, Scenario, Settings, Width, expected_cracks_of_each,
};
use pgrx::prelude::*;

/// Place where the transactions of a call are.
pub(super) enum Source {
    Column {
        relation: Option<pg_sys::Oid>,
        column_name: Option<String>,
    },
    /// All columns of a relation whose values an adversary could learn.
    Table { relation: Option<pg_sys::Oid> },
    /// A stored value of type item_counts; `None` if it is NULL.
    Counts(Option<Vec<u8>>),
}

/// Reads the arguments that say where the transactions are: a constructor of [`Source`].
pub(super) type ReadSource = fn(&mut Args) -> Source;

impl Source {
    pub fn column(args: &mut Args) -> Self {
        Source::Column {
            relation: args.optional("relation"),
            column_name: args.name("column_name"),
        }
    }

    /// Reads a column, or without a name the whole table.
    fn column_or_table(args: &mut Args) -> Self {
        match Self::column(args) {
            Source::Column {
                relation,
                column_name: None,
            } => Source::Table { relation },
            column => column,
        }
    }

    pub fn stored(args: &mut Args) -> Self {
        Source::Counts(args.optional("counts"))
    }

    /// Returns how often each item occurs; `None` if the stored counts are NULL.
    pub fn counts(self) -> Result<Option<ItemCounts>, Error> {
        match self {
            Source::Column {
                relation,
                column_name,
            } => read_counts(relation, column_name).map(Some),
            Source::Counts(stored) => stored.as_deref().map(ItemCounts::of_stored).transpose(),
            Source::Table { .. } => Err(Error::Internal("a whole table where one column was expected")),
        }
    }
}

/// Options that every call of the family has.
pub(super) struct Options {
    pub belief: Option<pg_sys::Oid>,
    pub adversary: Adversary,
    pub settings: Settings,
}

impl Options {
    /// Reads belief, width, method, phantoms, relative_error, seed and budget. The caller checks them after
    /// it has read all arguments.
    pub fn read(args: &mut Args) -> Result<Self, Error> {
        Self::read_of_methods(args, &METHODS)
    }

    /// Reads the same for a function that has only these methods.
    pub fn read_of_methods(args: &mut Args, methods: &[(&'static str, Method)]) -> Result<Self, Error> {
        let (options, method) = Self::read_with(args, methods)?;
        Ok(options.by(method))
    }

    /// Reads the same for a function with methods of its own. Returns the method, which is not in the options.
    pub fn read_with<M: Copy>(args: &mut Args, methods: &[(&'static str, M)]) -> Result<(Self, M), Error> {
        let belief = args.optional("belief");
        let width = width(args.optional("width"))?;
        let method = word("method", args.optional("method"), methods)?;
        let phantoms = phantoms(args)?;
        let settings = Settings {
            relative_error: args.required("relative_error")?,
            seed: args.seed()?,
            ..Settings::within(args.budget()?)
        };
        let options = Options {
            belief,
            adversary: Adversary { width, phantoms },
            settings,
        };
        Ok((options, method))
    }

    /// Returns these options with another method.
    pub fn by(mut self, method: Method) -> Self {
        self.settings.method = method;
        self
    }

    pub fn check(&self) -> Result<(), Error> {
        self.adversary.check()?;
        Ok(self.settings.check()?)
    }

    /// Refuses options that have no meaning for a whole table.
    fn check_table(&self) -> Result<(), Error> {
        match self.belief {
            None => Ok(()),
            Some(_) => Err(Error::argument(
                "belief",
                "must not be given without column_name",
                "Give column_name too: a belief is about the items of one column.",
            )),
        }
    }

    /// Returns the items and the adversary's beliefs about them; `None` if there are no transactions. A
    /// belief table may add items.
    pub fn scenario(&self, counts: &mut ItemCounts) -> Result<Option<Scenario>, Error> {
        Ok(self.scenario_in_order(counts)?.map(|(scenario, _)| scenario))
    }

    /// Returns the scenario and the former codes of its items. The items are renumbered by value, because
    /// random draws and sums follow their numbers and must not depend on the order of rows.
    pub fn scenario_in_order(&self, counts: &mut ItemCounts) -> Result<Option<(Scenario, Vec<u32>)>, Error> {
        let intervals = self
            .belief
            .map(|belief| read_belief(counts, belief))
            .transpose()?;
        if counts.transactions == 0 {
            return Ok(None);
        }
        let order = counts.put_in_order()?;
        let in_order = |intervals: Vec<Interval>| {
            let of_code = |&code: &u32| intervals[code as usize - 1];
            order.iter().map(of_code).collect()
        };
        let intervals = intervals.map(in_order);
        let scenario = Scenario::new(counts.transactions, counts.counts(), intervals, &self.adversary)?;
        Ok(Some((scenario, order)))
    }

    /// Returns the expected cracks, by the method that the caller asks for.
    pub fn expected(&self, scenario: &Scenario) -> Result<Option<ExpectedCracks>, Error> {
        let found = self.expected_of_each(self.settings.method, &[scenario])?;
        Ok(found.into_iter().next().flatten())
    }

    /// Returns the expected cracks of every scenario. The budget is for all of them together.
    fn expected_of_each(
        &self,
        method: Method,
        scenarios: &[&Scenario],
    ) -> Result<Vec<Option<ExpectedCracks>>, Error> {
        let settings = Settings {
            method,
            ..self.settings_with_memory()
        };
        let spaces: Vec<_> = scenarios.iter().map(|scenario| &scenario.space).collect();
        run::long("expecting cracks", |control| {
            expected_cracks_of_each(&spaces, &settings, control)
        })
        .map_err(advise_on_cost)
    }

    /// Returns the settings of the computation with the memory that is left as a limit.
    pub fn settings_with_memory(&self) -> Settings {
        Settings {
            max_bytes: memory::left() as f64,
            ..self.settings.clone()
        }
    }
}

/// Returns the error with another hint if it says that an exact answer is too expensive.
pub(super) fn advise_on_cost(problem: Error) -> Error {
    match problem {
        Error::Algorithm(disclosure::Error::InvalidArgument {
            argument: "method",
            problem,
            ..
        }) => Error::argument(
            "method",
            problem,
            "Give 'auto', which simulates instead, or raise budget and disclosure.max_memory.",
        ),
        other => other,
    }
}

pub(super) const METHODS: [(&str, Method); 6] = [
    ("auto", Method::Auto),
    ("exact", Method::Exact),
    ("o_estimate", Method::OEstimate),
    ("propagated", Method::Propagated),
    ("refined", Method::Refined),
    ("simulate", Method::Simulate),
];

pub(super) fn method_name(method: Method) -> &'static str {
    let named = METHODS.iter().find(|(_, other)| *other == method);
    named.map_or("", |(name, _)| name)
}

/// Reads a value of the SQL type `disclosure.belief_width`.
fn width(text: Option<&str>) -> Result<Width, Error> {
    match given("width", text)? {
        "median" => Ok(Width::Median),
        "mean" => Ok(Width::Mean),
        "point" => Ok(Width::Share(0.0)),
        "ignorant" => Ok(Width::Ignorant),
        number => number.parse().map(Width::Share).map_err(|_| {
            Error::argument(
                "width",
                "is neither a number nor one of the allowed words",
                "Give a share of all transactions, 'median', 'mean', 'point' or 'ignorant'.",
            )
        }),
    }
}

/// Reads the argument phantoms. A negative number becomes one that is too large, so that the crate refuses
/// it.
fn phantoms(args: &mut Args) -> Result<usize, Error> {
    let phantoms: i32 = args.required("phantoms")?;
    Ok(usize::try_from(phantoms).unwrap_or(usize::MAX))
}

/// A call of a function that also has the option alpha: its options, and the scenario of each column.
struct Answer {
    options: Options,
    columns: Vec<AnsweredColumn>,
    /// Number of rows, if the call is for a whole table.
    rows_of_table: Option<u64>,
}

/// The items of one column, and the adversary's beliefs about them.
struct AnsweredColumn {
    /// `None` if the counts come from a stored value.
    name: Option<String>,
    counts: ItemCounts,
    /// `None` if there are no transactions.
    scenario: Option<Scenario>,
}

impl Answer {
    /// Reads all arguments, checks them, and reads the source. There are no columns if stored counts are
    /// NULL.
    fn new(mut args: Args, source: ReadSource) -> Result<Self, Error> {
        let source = source(&mut args);
        let mut options = Options::read(&mut args)?;
        options.settings.alpha = args.required("alpha")?;
        args.end()?;
        options.check()?;
        let name = match &source {
            Source::Column { column_name, .. } => column_name.clone(),
            _ => None,
        };
        let (columns, rows_of_table) = match source {
            Source::Table { relation } => {
                options.check_table()?;
                let CountedTable { rows, columns } = read_table(relation)?;
                let named = columns.into_iter().map(|(name, counts)| (Some(name), counts));
                (named.collect(), Some(rows))
            }
            source => (
                Vec::from_iter(source.counts()?.map(|counts| (name, counts))),
                None,
            ),
        };
        let answered = |(name, mut counts)| {
            Ok(AnsweredColumn {
                name,
                scenario: options.scenario(&mut counts)?,
                counts,
            })
        };
        Ok(Answer {
            columns: columns.into_iter().map(answered).collect::<Result<_, Error>>()?,
            options,
            rows_of_table,
        })
    }

    /// Returns the expected cracks of every column, by one method; `None` if the column has no transactions,
    /// or if no mapping agrees with the belief.
    fn expected_by(&self, method: Method) -> Result<Vec<Option<ExpectedCracks>>, Error> {
        let scenarios: Vec<&Scenario> = self.columns.iter().filter_map(AnsweredColumn::scenario).collect();
        let mut found = self.options.expected_of_each(method, &scenarios)?.into_iter();
        let of_column = |column: &AnsweredColumn| column.scenario().and_then(|_| found.next().flatten());
        Ok(self.columns.iter().map(of_column).collect())
    }

    /// Returns the expected cracks of every column, by the method that the caller asks for.
    fn expected(&self) -> Result<Vec<Option<ExpectedCracks>>, Error> {
        self.expected_by(self.options.settings.method)
    }
}

impl AnsweredColumn {
    fn scenario(&self) -> Option<&Scenario> {
        self.scenario.as_ref()
    }
}

#[pg_extern(sql = false)]
fn expected_cracks(args: Args) -> Option<f64> {
    sum_of_cracks(args, Source::column_or_table).unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn cracks_of(args: Args) -> Option<f64> {
    sum_of_cracks(args, Source::stored).unwrap_or_else(Error::raise)
}

fn sum_of_cracks(args: Args, source: ReadSource) -> Result<Option<f64>, Error> {
    let answer = Answer::new(args, source)?;
    if answer.rows_of_table == Some(0) {
        return Ok(None);
    }
    let found = answer.expected()?;
    found
        .iter()
        .for_each(|found| warn_if_not_exact(found.as_ref(), &answer.options));
    let expected = |found: &Option<ExpectedCracks>| found.as_ref().map(|found| found.expected);
    Ok(match answer.rows_of_table {
        // A column without values has no codes that could be identified.
        Some(_) => found
            .iter()
            .map(|found| expected(found).unwrap_or(0.0))
            .reduce(std::ops::Add::add),
        None => found.first().and_then(expected),
    })
}

/// Warns if a result is not exact, because a number alone does not say how it was computed.
fn warn_if_not_exact(found: Option<&ExpectedCracks>, options: &Options) {
    let Some(found) = found else {
        return;
    };
    if !found.is_precise_enough {
        warn_once(
            "the simulation did not reach relative_error within the budget; crack_report shows its bounds",
        );
    } else if options.settings.method == Method::Auto && found.method == Method::Simulate {
        warn_once("an exact answer would exceed the budget; the expected cracks were simulated");
    }
}

/// Declares the rows of crack_report_of, and those of crack_report, which begin with the name of the column.
macro_rules! report_rows {
    ($($field:ident: $type:ty),+ $(,)?) => {
        table_row! {
            /// Expected cracks and the figures that they depend on.
            #[derive(Default)]
            struct CountsReport { $($field: $type),+ }
        }
        table_row! {
            /// Report on one column.
            struct CrackReport { column_name: Option<String>, $($field: $type),+ }
        }
        impl CountsReport {
            fn of_column(self, column_name: Option<String>) -> CrackReport {
                CrackReport { column_name, $($field: self.$field),+ }
            }
        }
    };
}

report_rows! {
    items: i64,
    transactions: i64,
    groups: i64,
    singletons: i64,
    mean_gap: Option<f64>,
    median_gap: Option<f64>,
    min_gap: Option<f64>,
    max_gap: Option<f64>,
    width: Option<f64>,
    ignorant: Option<f64>,
    point_valued: Option<f64>,
    o_estimate: Option<f64>,
    propagated: Option<f64>,
    refined: Option<f64>,
    expected: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    method: Option<&'static str>,
    ln_matchings: Option<f64>,
    degree_of_anonymity: Option<f64>,
}

#[pg_extern(sql = false)]
fn crack_report(args: Args) -> Table<CrackReport> {
    let named = |(name, report): (_, CountsReport)| report.of_column(name);
    let reports = reports(args, Source::column_or_table);
    Table::new(reports.map(|reports| reports.into_iter().map(named)))
}

#[pg_extern(sql = false)]
fn crack_report_of(args: Args) -> Table<CountsReport> {
    let reports = reports(args, Source::stored);
    Table::new(reports.map(|reports| reports.into_iter().map(|(_, report)| report)))
}

/// Returns a report on each column, with the column's name.
fn reports(args: Args, source: ReadSource) -> Result<Vec<(Option<String>, CountsReport)>, Error> {
    let answer = Answer::new(args, source)?;
    let by = |method| {
        let found = answer.expected_by(method)?.into_iter();
        Ok::<_, Error>(found.map(|found| found.map(|found| found.expected)))
    };
    let mut o_estimates = by(Method::OEstimate)?;
    let mut propagated = by(Method::Propagated)?;
    let mut refined = by(Method::Refined)?;
    let found = answer.expected()?;
    let reports = answer.columns.into_iter().zip(found).map(|(column, found)| {
        let report = CountsReport {
            o_estimate: o_estimates.next().flatten(),
            propagated: propagated.next().flatten(),
            refined: refined.next().flatten(),
            ..CountsReport::default()
        };
        let report = match &column.scenario {
            Some(scenario) => report.with(scenario, found.as_ref()),
            None => report,
        };
        (column.name, report)
    });
    Ok(reports.collect())
}

impl CountsReport {
    /// Returns this report, which has the estimates, with all other figures filled in.
    fn with(self, scenario: &Scenario, found: Option<&ExpectedCracks>) -> Self {
        let frequencies = &scenario.frequencies;
        let gaps = frequencies.gaps();
        let groups = frequencies.group_counts().len();
        CountsReport {
            items: frequencies.items() as i64,
            transactions: frequencies.transactions() as i64,
            groups: groups as i64,
            singletons: frequencies.singletons() as i64,
            mean_gap: gaps.map(|gaps| gaps.mean),
            median_gap: gaps.map(|gaps| gaps.median),
            min_gap: gaps.map(|gaps| gaps.min),
            max_gap: gaps.map(|gaps| gaps.max),
            width: scenario.width,
            ignorant: Some(1.0), // for any frequencies (Lemma 3.1)
            point_valued: Some(groups as f64),
            expected: found.map(|found| found.expected),
            lower: found.and_then(|found| found.lower),
            upper: found.and_then(|found| found.upper),
            method: found.map(|found| method_name(found.method)),
            ln_matchings: found.and_then(|found| found.ln_matchings),
            degree_of_anonymity: found.and_then(ExpectedCracks::degree_of_anonymity),
            ..self
        }
    }
}

table_row! {
    /// Probability that one item is cracked.
    struct ItemRisk {
        item: Option<String>,
        frequency: f64,
        group_size: i64,
        candidates: i64,
        crack_probability: Option<f64>,
    }
}

#[pg_extern(sql = false)]
fn item_risk(args: Args) -> Table<ItemRisk> {
    Table::new(risks(args, Source::column))
}

#[pg_extern(sql = false)]
fn item_risk_of(args: Args) -> Table<ItemRisk> {
    Table::new(risks(args, Source::stored))
}

fn risks(args: Args, source: ReadSource) -> Result<Vec<ItemRisk>, Error> {
    let mut answer = Answer::new(args, source)?;
    let Some(AnsweredColumn {
        counts,
        scenario: Some(scenario),
        ..
    }) = answer.columns.pop()
    else {
        return Ok(Vec::new());
    };
    let found = answer.options.expected(&scenario)?;
    warn_if_not_exact(found.as_ref(), &answer.options);
    let Scenario {
        frequencies, space, ..
    } = &scenario;
    let named = counts.items.len() as usize;
    let row = |item: usize| {
        let group = frequencies.group_of()[item] as usize;
        ItemRisk {
            item: (item < named)
                .then(|| counts.items.text(item as u32 + 1))
                .flatten(),
            frequency: frequencies.frequency(item),
            group_size: i64::from(frequencies.group_sizes()[group]),
            candidates: space.graph.degree(space.class(item)) as i64,
            crack_probability: found.as_ref().map(|found| found.crack_probability[item]),
        }
    };
    Ok((0..frequencies.items()).map(row).collect())
}
