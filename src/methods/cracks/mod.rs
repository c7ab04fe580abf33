//! Cracks: `expected_cracks`, `crack_report`, `item_risk`, `crack_probability`.
//!
//! Most functions ask either a column of a table or a summary. They are two functions for Postgres, which only
//! differ in how the [`Source`] is read.

mod aggregates;
mod beliefs;
mod item_counts;
pub mod item_names;
pub mod items;
mod recipes;
mod reidentification;

use crate::args::{Args, given, warn_once, word};
use crate::error::Problem;
use crate::methods::cracks::beliefs::{Interval, itemset, read_belief};
use crate::methods::cracks::item_counts::ItemCounts;
use crate::methods::cracks::items::{ItemAggregate, read_counts};
use crate::pg::table::{Table, table_row};
use crate::{guc, memory, run};
use disclosure::cracks::{Adversary, Expected, ItemsetCracks, Method, Scenario, Settings, Width, expected};
use disclosure::matching::Counting;
use pgrx::Internal;
use pgrx::prelude::*;

/// Where the transactions of a call are.
pub(super) enum Source {
    Column {
        relation: Option<pg_sys::Oid>,
        column_name: Option<String>,
    },
    /// As it is stored; `None` if it is NULL.
    Summary(Option<Vec<u8>>),
}

/// Reads the arguments that say where the transactions are: [`Source::column`] or [`Source::summary`].
pub(super) type ReadSource = fn(&mut Args) -> Source;

impl Source {
    pub fn column(args: &mut Args) -> Self {
        Source::Column {
            relation: args.optional("relation"),
            column_name: args.name("column_name"),
        }
    }

    pub fn summary(args: &mut Args) -> Self {
        Source::Summary(args.optional("summary"))
    }

    /// How often each item occurs; `None` if a summary is NULL.
    pub fn counts(self) -> Result<Option<ItemCounts>, Problem> {
        match self {
            Source::Column {
                relation,
                column_name,
            } => read_counts(relation, column_name).map(Some),
            Source::Summary(stored) => stored.as_deref().map(ItemCounts::of_stored).transpose(),
        }
    }
}

/// What a caller may set in every call of the family.
pub(super) struct Options {
    pub belief: Option<pg_sys::Oid>,
    pub adversary: Adversary,
    pub settings: Settings,
}

impl Default for Options {
    /// What sql/ declares.
    fn default() -> Self {
        Options {
            belief: None,
            adversary: Adversary::default(),
            settings: Settings::within(guc::budget()),
        }
    }
}

impl Options {
    /// Reads belief, width, method, phantoms, relative_error, seed and budget. They are to be checked when all
    /// arguments were read.
    pub fn read(args: &mut Args) -> Result<Self, Problem> {
        let belief = args.optional("belief");
        let width = width(args.optional("width"))?;
        let method = word("method", args.optional("method"), &METHODS)?;
        let phantoms = phantoms(args)?;
        let settings = Settings {
            method,
            relative_error: args.required("relative_error")?,
            seed: args.seed()?,
            ..Settings::within(args.budget()?)
        };
        Ok(Options {
            belief,
            adversary: Adversary { width, phantoms },
            settings,
        })
    }

    pub fn check(&self) -> Result<(), Problem> {
        self.adversary.check()?;
        Ok(self.settings.check()?)
    }

    /// What the adversary can make of the items; `None` if there are no transactions. A belief table may add items.
    pub fn scenario(&self, counts: &mut ItemCounts) -> Result<Option<Scenario>, Problem> {
        Ok(self.scenario_in_order(counts)?.map(|(scenario, _)| scenario))
    }

    /// The scenario, and the former codes of the items: these are numbered anew, because what is drawn or summed up by
    /// number must not depend on the order of rows.
    pub fn scenario_in_order(
        &self,
        counts: &mut ItemCounts,
    ) -> Result<Option<(Scenario, Vec<u32>)>, Problem> {
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

    /// The expected cracks, by the method that is asked for.
    pub fn expected(&self, scenario: &Scenario) -> Result<Option<Expected>, Problem> {
        self.expected_by(self.settings.method, scenario)
    }

    fn expected_by(&self, method: Method, scenario: &Scenario) -> Result<Option<Expected>, Problem> {
        let settings = Settings {
            method,
            bytes: memory::left() as f64,
            ..self.settings.clone()
        };
        run::long("expecting cracks", |control| {
            expected(&scenario.space, &settings, control)
        })
        .map_err(|problem| match problem {
            Problem::Algorithm(disclosure::Error::InvalidArgument {
                argument: "method",
                problem,
                ..
            }) => Problem::argument(
                "method",
                problem,
                "Give 'auto', which simulates then, or a budget and disclosure.max_memory that suffice.",
            ),
            other => other,
        })
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

/// A value of the SQL type `disclosure.belief_width`.
fn width(text: Option<&str>) -> Result<Width, Problem> {
    match given("width", text)? {
        "median" => Ok(Width::Median),
        "mean" => Ok(Width::Mean),
        "point" => Ok(Width::Share(0.0)),
        "ignorant" => Ok(Width::Ignorant),
        number => number.parse().map(Width::Share).map_err(|_| {
            Problem::argument(
                "width",
                "is neither a number nor a word for one",
                "Give a share of all transactions, 'median', 'mean', 'point' or 'ignorant'.",
            )
        }),
    }
}

/// The next argument, phantoms. If it is negative, it becomes a number that is too large.
fn phantoms(args: &mut Args) -> Result<usize, Problem> {
    let phantoms: i32 = args.required("phantoms")?;
    Ok(usize::try_from(phantoms).unwrap_or(usize::MAX))
}

/// A call of a function that also has alpha: its options, and what they make of the items.
struct Answer {
    options: Options,
    counts: ItemCounts,
    /// `None` if there are no transactions.
    scenario: Option<Scenario>,
}

impl Answer {
    /// `None` if a summary is NULL.
    fn new(mut args: Args, source: ReadSource) -> Result<Option<Self>, Problem> {
        let source = source(&mut args);
        let mut options = Options::read(&mut args)?;
        options.settings.alpha = args.required("alpha")?;
        args.end()?;
        options.check()?;
        let Some(mut counts) = source.counts()? else {
            return Ok(None);
        };
        let scenario = options.scenario(&mut counts)?;
        Ok(Some(Answer {
            options,
            counts,
            scenario,
        }))
    }
}

#[pg_extern(sql = false)]
fn expected_cracks(args: Args) -> Option<f64> {
    expected_cracks_of(args, Source::column).unwrap_or_else(Problem::raise)
}

#[pg_extern(sql = false)]
fn expected_cracks_of_summary(args: Args) -> Option<f64> {
    expected_cracks_of(args, Source::summary).unwrap_or_else(Problem::raise)
}

fn expected_cracks_of(args: Args, source: ReadSource) -> Result<Option<f64>, Problem> {
    match Answer::new(args, source)? {
        Some(Answer {
            options,
            scenario: Some(scenario),
            ..
        }) => expected_number(&options, &scenario),
        _ => Ok(None),
    }
}

/// Final function of the aggregate expected_cracks
#[pg_extern(sql = false)]
fn expected_cracks_final(mut state: Internal) -> Option<f64> {
    let options = Options::default();
    let expected = |counts| match options.scenario(counts)? {
        Some(scenario) => expected_number(&options, &scenario),
        None => Ok(None),
    };
    let expected = ItemAggregate::so_far(&mut state).map(expected);
    expected.transpose().unwrap_or_else(Problem::raise).flatten()
}

fn expected_number(options: &Options, scenario: &Scenario) -> Result<Option<f64>, Problem> {
    let found = options.expected(scenario)?;
    warn_if_not_exact(found.as_ref(), options);
    Ok(found.map(|found| found.expected))
}

/// Warns where a number alone cannot say how it was found.
fn warn_if_not_exact(found: Option<&Expected>, options: &Options) {
    let Some(found) = found else {
        return;
    };
    if !found.reached {
        warn_once(
            "the simulation did not reach relative_error within the budget: see crack_report for its bounds",
        );
    } else if options.settings.method == Method::Auto && found.method == Method::Simulate {
        warn_once("an exact answer is out of reach of the budget: the expected cracks were simulated");
    }
}

table_row! {
    /// Expected cracks and what they depend on.
    #[derive(Default)]
    struct CrackReport {
        items: i64,
        transactions: i64,
        groups: i64,
        singletons: i64,
        gap_mean: Option<f64>,
        gap_median: Option<f64>,
        gap_min: Option<f64>,
        gap_max: Option<f64>,
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
        log_matchings: Option<f64>,
        degree_of_anonymity: Option<f64>,
    }
}

#[pg_extern(sql = false)]
fn crack_report(args: Args) -> Table<CrackReport> {
    Table::new(report_of(args, Source::column))
}

#[pg_extern(sql = false)]
fn crack_report_of_summary(args: Args) -> Table<CrackReport> {
    Table::new(report_of(args, Source::summary))
}

fn report_of(args: Args, source: ReadSource) -> Result<Option<CrackReport>, Problem> {
    let Some(Answer {
        options, scenario, ..
    }) = Answer::new(args, source)?
    else {
        return Ok(None);
    };
    let Some(scenario) = scenario else {
        return Ok(Some(CrackReport::default()));
    };
    let by = |method| {
        let found = options.expected_by(method, &scenario)?;
        Ok::<_, Problem>(found.map(|found| found.expected))
    };
    let frequencies = &scenario.frequencies;
    let gaps = frequencies.gaps();
    let groups = frequencies.group_counts().len();
    let found = options.expected(&scenario)?;
    let found = found.as_ref();
    Ok(Some(CrackReport {
        items: frequencies.items() as i64,
        transactions: frequencies.transactions() as i64,
        groups: groups as i64,
        singletons: frequencies.singletons() as i64,
        gap_mean: gaps.map(|gaps| gaps.mean),
        gap_median: gaps.map(|gaps| gaps.median),
        gap_min: gaps.map(|gaps| gaps.min),
        gap_max: gaps.map(|gaps| gaps.max),
        width: scenario.width,
        ignorant: Some(1.0), // whatever the frequencies are (Lemma 3.1)
        point_valued: Some(groups as f64),
        o_estimate: by(Method::OEstimate)?,
        propagated: by(Method::Propagated)?,
        refined: by(Method::Refined)?,
        expected: found.map(|found| found.expected),
        lower: found.and_then(|found| found.lower),
        upper: found.and_then(|found| found.upper),
        method: found.map(|found| method_name(found.method)),
        log_matchings: found.and_then(|found| found.log_matchings),
        degree_of_anonymity: found.and_then(Expected::degree_of_anonymity),
    }))
}

table_row! {
    /// How likely an item is named.
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
    Table::new(risks_of(args, Source::column))
}

#[pg_extern(sql = false)]
fn item_risk_of_summary(args: Args) -> Table<ItemRisk> {
    Table::new(risks_of(args, Source::summary))
}

fn risks_of(args: Args, source: ReadSource) -> Result<Vec<ItemRisk>, Problem> {
    let Some(Answer {
        options,
        counts,
        scenario: Some(scenario),
    }) = Answer::new(args, source)?
    else {
        return Ok(Vec::new());
    };
    let found = options.expected(&scenario)?;
    warn_if_not_exact(found.as_ref(), &options);
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

/// How the probability of an itemset is found.
#[derive(Clone, Copy, PartialEq)]
enum ItemsetMethod {
    Exact,
    Os,
    Os2,
}

const ITEMSET_METHODS: [(&str, ItemsetMethod); 3] = [
    ("exact", ItemsetMethod::Exact),
    ("os", ItemsetMethod::Os),
    ("os2", ItemsetMethod::Os2),
];

#[pg_extern(sql = false)]
fn crack_probability(args: Args) -> Option<f64> {
    itemset_probability(args, Source::column).unwrap_or_else(Problem::raise)
}

#[pg_extern(sql = false)]
fn crack_probability_of_summary(args: Args) -> Option<f64> {
    itemset_probability(args, Source::summary).unwrap_or_else(Problem::raise)
}

fn itemset_probability(mut args: Args, source: ReadSource) -> Result<Option<f64>, Problem> {
    let source = source(&mut args);
    let itemset_given = args.any("itemset");
    let belief = args.optional("belief");
    let width = width(args.optional("width"))?;
    let method = word("method", args.optional("method"), &ITEMSET_METHODS)?;
    let phantoms = phantoms(&mut args)?;
    let options = Options {
        belief,
        adversary: Adversary { width, phantoms },
        settings: Settings::within(args.budget()?),
    };
    args.end()?;
    options.check()?;
    let (array, array_type) = itemset_given.ok_or(Problem::null("itemset", "Give an array of items."))?;
    let Some(mut counts) = source.counts()? else {
        return Ok(None);
    };
    let Some(scenario) = options.scenario(&mut counts)? else {
        return Ok(None);
    };
    // SAFETY: an array of this type, by the declaration in sql/.
    let itemset = unsafe { itemset(&mut counts.items, array, array_type)? };
    let cracks = ItemsetCracks::new(&scenario.space);
    match method {
        ItemsetMethod::Os => Ok(Some(cracks.os(&itemset)?)),
        ItemsetMethod::Os2 => Ok(Some(cracks.os2(&itemset)?)),
        ItemsetMethod::Exact => exact_probability(&cracks, &itemset, options.settings.steps),
    }
}

/// The exact probability of an itemset, if it takes no more than so many steps.
fn exact_probability(
    cracks: &ItemsetCracks,
    itemset: &[u32],
    most_steps: f64,
) -> Result<Option<f64>, Problem> {
    let exact = run::long("counting crack mappings", |control| {
        let steps = cracks.steps([itemset], control)?;
        if steps > most_steps {
            return Ok(Err(steps));
        }
        cracks.exact(itemset, control).map(Ok)
    })?;
    exact.map_err(|steps| {
        Problem::argument(
            "method",
            format!(
                "exact would take about {:.1e} s",
                steps / Counting::STEPS_PER_SECOND
            ),
            "Raise budget, or give 'os' or 'os2'.",
        )
    })
}
