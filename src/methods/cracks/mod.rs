//! Cracks: `item_summary`, `rollup`, `expected_cracks`, `crack_report`, `item_risk`, `crack_probability`.

mod beliefs;
mod item_counts_io;
pub mod items;
mod people;
mod recipes;
mod reidentification;

use crate::args::{budget_of, given, warn_once};
use crate::error::Problem;
use crate::input::aggregate::AggregateCall;
use crate::methods::cracks::beliefs::{Interval, itemset};
use crate::methods::cracks::item_counts_io::{stored_of_text, text_of_stored};
use crate::methods::cracks::items::{ItemAggregate, ItemCounts, read_counts};
use crate::{guc, memory, run};
use disclosure::cracks::{
    Belief, CrackSpace, Expected, Frequencies, ItemSummary, ItemsetCracks, Method, Settings, SummaryError,
    Width, expected,
};
use disclosure::matching::Counting;
use pgrx::Internal;
use pgrx::fcinfo::{pg_getarg, pg_getarg_datum};
use pgrx::pg_sys::FunctionCallInfo;
use pgrx::prelude::*;
use std::ffi::{CStr, CString};
use std::iter::repeat_n;
use std::time::Duration;

/// The type's input function.
#[pg_extern(sql = false)]
fn item_counts_in(text: &CStr) -> Vec<u8> {
    stored_of_text(&text.to_string_lossy()).unwrap_or_else(Problem::raise)
}

/// The type's output function.
#[pg_extern(sql = false)]
fn item_counts_out(summary: &[u8]) -> CString {
    let text = text_of_stored(summary).unwrap_or_else(Problem::raise);
    CString::new(text).unwrap_or_default() // JSON has no NUL
}

/// The type's receive function: a version and, as with jsonb, the text.
#[pg_extern(sql = false)]
fn item_counts_receive(fcinfo: FunctionCallInfo) -> Vec<u8> {
    // SAFETY: the only argument is a message, by the declaration in sql/; its rest is one text.
    let (version, text) = unsafe {
        let message = (*fcinfo).args.as_slice(1)[0]
            .value
            .cast_mut_ptr::<pg_sys::StringInfoData>();
        let version = pg_sys::pq_getmsgbyte(message) as u8;
        let mut length = 0;
        let rest = (*message).len - (*message).cursor;
        let text = pg_sys::pq_getmsgtext(message, rest, &mut length);
        (version, CStr::from_ptr(text))
    };
    let stored = match version {
        ItemSummary::VERSION => stored_of_text(&text.to_string_lossy()),
        version => Err(SummaryError::Version(version).into()),
    };
    stored.unwrap_or_else(Problem::raise)
}

/// The type's send function.
#[pg_extern(sql = false)]
fn item_counts_send(summary: &[u8]) -> Vec<u8> {
    let text = text_of_stored(summary).unwrap_or_else(Problem::raise);
    // SAFETY: a message that is begun and ended here; the text is converted to the client's encoding.
    unsafe {
        let mut message = pg_sys::StringInfoData::default();
        pg_sys::pq_begintypsend(&mut message);
        let version = [ItemSummary::VERSION];
        pg_sys::pq_sendbytes(&mut message, version.as_ptr().cast(), version.len() as i32);
        pg_sys::pq_sendtext(&mut message, text.as_ptr().cast(), text.len() as i32);
        let sent = pg_sys::pq_endtypsend(&mut message);
        pgrx::varlena::varlena_to_byte_slice(sent).to_vec()
    }
}

/// Transition function of item_summary(anyelement) and expected_cracks(anyelement)
#[pg_extern(sql = false)]
fn item_counts_transition(call: AggregateCall) -> Internal {
    ItemAggregate::transition(&call).unwrap_or_else(Problem::raise)
}

/// Transition function of rollup(disclosure.item_counts)
#[pg_extern(sql = false)]
fn item_counts_rollup(fcinfo: FunctionCallInfo) -> Internal {
    // SAFETY: as above; the second argument is a varlena of ours.
    let (call, summary) = unsafe { (AggregateCall::new(fcinfo), pg_getarg(fcinfo, 1)) };
    ItemAggregate::roll_up(&call, summary).unwrap_or_else(Problem::raise)
}

#[pg_extern(sql = false)]
fn item_counts_combine(call: AggregateCall) -> Internal {
    ItemAggregate::combine(&call).unwrap_or_else(Problem::raise)
}

#[pg_extern(sql = false)]
fn item_counts_serialise(mut state: Internal) -> Option<Vec<u8>> {
    let serial = ItemAggregate::so_far(&mut state).map(ItemCounts::serial);
    serial.transpose().unwrap_or_else(Problem::raise)
}

#[pg_extern(sql = false)]
fn item_counts_deserialise(bytes: &[u8], call: AggregateCall) -> Internal {
    ItemAggregate::deserialise(&call, bytes).unwrap_or_else(Problem::raise)
}

/// Final function of item_summary and rollup
#[pg_extern(sql = false)]
fn item_counts_final(mut state: Internal) -> Option<Vec<u8>> {
    let stored = ItemAggregate::so_far(&mut state).map(ItemCounts::stored);
    stored.transpose().unwrap_or_else(Problem::raise)
}

/// Final function of expected_cracks(anyelement)
#[pg_extern(sql = false)]
fn expected_cracks_final(mut state: Internal) -> Option<f64> {
    let options = Options::default();
    let expected = ItemAggregate::so_far(&mut state)
        .map(|counts| Question::new(counts, None, &options))
        .transpose()
        .and_then(|question| expected_of(question.flatten(), &options));
    expected.unwrap_or_else(Problem::raise)
}

/// What a caller may set in every call of the family.
pub(super) struct Options {
    pub belief: Option<pg_sys::Oid>,
    pub width: Width,
    pub phantoms: usize,
    pub settings: Settings,
}

impl Default for Options {
    /// What sql/ declares.
    fn default() -> Self {
        Options {
            belief: None,
            width: Width::Median,
            phantoms: 0,
            settings: settings(Method::Auto, 1.0, 0.01, 1, guc::budget()),
        }
    }
}

pub(super) fn settings(
    method: Method,
    alpha: f64,
    relative_error: f64,
    seed: i64,
    budget: Option<Duration>,
) -> Settings {
    Settings {
        method,
        alpha,
        relative_error,
        seed: seed as u64,
        steps: budget.map_or(f64::INFINITY, |budget| {
            budget.as_secs_f64() * Counting::STEPS_PER_SECOND
        }),
        bytes: f64::INFINITY, // until it is known what the items take
        budget,
    }
}

/// Phantoms that there may be: each takes as much room as an item.
const MOST_PHANTOMS: i32 = 1_000_000;

impl Options {
    /// The arguments from `first` on: belief, width, method, phantoms, relative_error, seed, budget. `alpha` is
    /// where else there is an argument of that name.
    ///
    /// # Safety
    /// They have the types that sql/ declares.
    pub unsafe fn of_call(
        fcinfo: FunctionCallInfo,
        first: usize,
        alpha: Option<usize>,
    ) -> Result<Self, Problem> {
        let alpha = alpha.map(|alpha| given("alpha", pg_getarg(fcinfo, alpha)));
        Ok(Options {
            belief: pg_getarg(fcinfo, first),
            width: width(pg_getarg(fcinfo, first + 1))?,
            phantoms: phantoms(pg_getarg(fcinfo, first + 3))?,
            settings: settings(
                method_of(pg_getarg(fcinfo, first + 2))?,
                alpha.transpose()?.unwrap_or(1.0),
                given("relative_error", pg_getarg(fcinfo, first + 4))?,
                given("seed", pg_getarg(fcinfo, first + 5))?,
                budget_of(pg_getarg(fcinfo, first + 6))?,
            ),
        })
    }

    /// How many arguments [`of_call`](Self::of_call) takes.
    pub const ARGUMENTS: usize = 7;
}

const METHODS: [(&str, Method); 6] = [
    ("auto", Method::Auto),
    ("exact", Method::Exact),
    ("o_estimate", Method::OEstimate),
    ("propagated", Method::Propagated),
    ("refined", Method::Refined),
    ("simulate", Method::Simulate),
];

pub(super) fn method_of(name: Option<&str>) -> Result<Method, Problem> {
    let name = given("method", name)?;
    let method = METHODS.iter().find(|(other, _)| *other == name);
    method.map(|(_, method)| *method).ok_or(Problem::argument(
        "method",
        "is none of the methods",
        "Give 'auto', 'exact', 'o_estimate', 'propagated', 'refined' or 'simulate'.",
    ))
}

pub(super) fn method_name(method: Method) -> String {
    let named = METHODS.iter().find(|(_, other)| *other == method);
    named.map_or("", |(name, _)| name).into()
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

fn phantoms(given: Option<i32>) -> Result<usize, Problem> {
    given
        .filter(|phantoms| (0..=MOST_PHANTOMS).contains(phantoms))
        .map(|phantoms| phantoms as usize)
        .ok_or(Problem::argument(
            "phantoms",
            "must be from 0 to 1000000",
            "It is how many items the rival knows of, besides those of a belief table, that never occur.",
        ))
}

/// The transactions of a call to the SQL functions below: those of a column, which takes two arguments, or
/// in a summary, which takes one. `first` is the number of the first argument after them.
///
/// # Safety
/// They have the types that sql/ declares.
pub(super) unsafe fn transactions(
    fcinfo: FunctionCallInfo,
    first: usize,
) -> Result<Option<ItemCounts>, Problem> {
    if first == 2 {
        let column_name = pg_getarg::<&CStr>(fcinfo, 1).map(|name| name.to_string_lossy().into_owned());
        return read_counts(pg_getarg(fcinfo, 0), column_name).map(Some);
    }
    pg_getarg(fcinfo, 0).map(ItemCounts::of_stored).transpose()
}

/// Items, and what the rival can make of them.
pub(super) struct Question {
    pub frequencies: Frequencies,
    pub belief: Belief,
    pub space: CrackSpace,
    /// `None` where a table has the beliefs.
    pub width: Option<f64>,
}

impl Question {
    /// `None` where there are no transactions.
    fn new(
        counts: &ItemCounts,
        intervals: Option<Vec<Interval>>,
        options: &Options,
    ) -> Result<Option<Self>, Problem> {
        if counts.transactions == 0 {
            return Ok(None);
        }
        let of_items = counts.counts().chain(repeat_n(0, options.phantoms));
        let frequencies = Frequencies::new(counts.transactions, of_items.collect());
        let (belief, width) = match intervals {
            None => (
                Belief::around(&frequencies, options.width)?,
                Some(options.width.share(&frequencies)?),
            ),
            Some(mut intervals) => {
                intervals.extend(repeat_n(None, options.phantoms));
                (Belief::of_intervals(&frequencies, &intervals), None)
            }
        };
        Ok(Some(Question {
            space: belief.space(&frequencies),
            belief,
            frequencies,
            width,
        }))
    }

    /// The belief table, if there is one, has a say too, and may add items to `counts`.
    pub fn of_rival(counts: &mut ItemCounts, options: &Options) -> Result<Option<Self>, Problem> {
        let intervals = options.belief.map(|belief| counts.believe(belief)).transpose()?;
        Question::new(counts, intervals, options)
    }

    pub fn expected(&self, settings: &Settings) -> Result<Option<Expected>, Problem> {
        let settings = Settings {
            bytes: memory::left() as f64,
            ..settings.clone()
        };
        run::long("expecting cracks", |control| {
            expected(&self.space, &settings, control)
        })
    }
}

/// Two functions share this: expected_cracks(relation regclass, column_name name, belief regclass, …) and
/// expected_cracks(summary disclosure.item_counts, belief regclass, …)
#[pg_extern(sql = false)]
fn expected_cracks(fcinfo: FunctionCallInfo) -> Option<f64> {
    // SAFETY: the types are those of the declarations in sql/.
    let expected = unsafe { answer(fcinfo, |_, question, options| expected_of(question, options)) };
    expected.unwrap_or_else(Problem::raise).flatten()
}

/// What `answer` makes of the transactions of a call, and of the question whether they can be cracked;
/// `None` where they are NULL.
///
/// # Safety
/// As for [`transactions`] and [`Options::of_call`].
unsafe fn answer<R>(
    fcinfo: FunctionCallInfo,
    answer: impl FnOnce(&ItemCounts, Option<Question>, &Options) -> Result<R, Problem>,
) -> Result<Option<R>, Problem> {
    let first = (*fcinfo).nargs as usize - Options::ARGUMENTS - 1;
    let options = Options::of_call(fcinfo, first, Some(first + Options::ARGUMENTS))?;
    let Some(mut counts) = transactions(fcinfo, first)? else {
        return Ok(None);
    };
    let question = Question::of_rival(&mut counts, &options)?;
    answer(&counts, question, &options).map(Some)
}

fn expected_of(question: Option<Question>, options: &Options) -> Result<Option<f64>, Problem> {
    let Some(question) = question else {
        return Ok(None);
    };
    let expected = question.expected(&options.settings)?;
    if let Some(found) = &expected {
        warn_if_not_exact(found, options);
    }
    Ok(expected.map(|expected| expected.expected))
}

/// Where a number alone cannot say how it was found.
fn warn_if_not_exact(found: &Expected, options: &Options) {
    if !found.reached {
        warn_once(
            "the simulation did not reach relative_error within the budget: see crack_report for its bounds",
        );
    } else if options.settings.method == Method::Auto && found.method == Method::Simulate {
        warn_once("an exact answer is out of reach of the budget: the expected cracks were simulated");
    }
}

type ReportRow = (
    i64,
    i64,
    i64,
    i64,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<String>,
    Option<f64>,
    Option<f64>,
);

const NO_TRANSACTIONS: ReportRow = (
    0, 0, 0, 0, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None,
    None,
);

/// crack_report(relation regclass, column_name name, …) and crack_report(summary disclosure.item_counts, …)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn crack_report(
    fcinfo: FunctionCallInfo,
) -> TableIterator<
    'static,
    (
        name!(items, i64),
        name!(transactions, i64),
        name!(groups, i64),
        name!(singletons, i64),
        name!(gap_mean, Option<f64>),
        name!(gap_median, Option<f64>),
        name!(gap_min, Option<f64>),
        name!(gap_max, Option<f64>),
        name!(width, Option<f64>),
        name!(ignorant, Option<f64>),
        name!(point_valued, Option<f64>),
        name!(o_estimate, Option<f64>),
        name!(propagated, Option<f64>),
        name!(refined, Option<f64>),
        name!(expected, Option<f64>),
        name!(lower, Option<f64>),
        name!(upper, Option<f64>),
        name!(method, Option<String>),
        name!(log_matchings, Option<f64>),
        name!(degree_of_anonymity, Option<f64>),
    ),
> {
    // SAFETY: the types are those of the declarations in sql/.
    let report = unsafe { answer(fcinfo, |_, question, options| report_of(question, options)) };
    TableIterator::new(report.unwrap_or_else(Problem::raise))
}

fn report_of(question: Option<Question>, options: &Options) -> Result<ReportRow, Problem> {
    let Some(question) = question else {
        return Ok(NO_TRANSACTIONS);
    };
    let frequencies = &question.frequencies;
    let by = |method| {
        let settings = Settings {
            method,
            ..options.settings.clone()
        };
        let expected = question.expected(&settings)?;
        Ok::<_, Problem>(expected.map(|expected| expected.expected))
    };
    let gaps = frequencies.gaps();
    let groups = frequencies.group_counts().len();
    let expected = question.expected(&options.settings)?;
    Ok((
        frequencies.items() as i64,
        frequencies.transactions() as i64,
        groups as i64,
        frequencies.singletons() as i64,
        gaps.map(|gaps| gaps.mean),
        gaps.map(|gaps| gaps.median),
        gaps.map(|gaps| gaps.min),
        gaps.map(|gaps| gaps.max),
        question.width,
        Some(1.0), // whatever the frequencies are (Lemma 3.1)
        Some(groups as f64),
        by(Method::OEstimate)?,
        by(Method::Propagated)?,
        by(Method::Refined)?,
        expected.as_ref().map(|expected| expected.expected),
        expected.as_ref().and_then(|expected| expected.lower),
        expected.as_ref().and_then(|expected| expected.upper),
        expected.as_ref().map(|expected| method_name(expected.method)),
        expected.as_ref().and_then(|expected| expected.log_matchings),
        expected.as_ref().and_then(Expected::degree_of_anonymity),
    ))
}

type RiskRow = (Option<String>, f64, i64, i64, Option<f64>);

/// item_risk(relation regclass, column_name name, …) and item_risk(summary disclosure.item_counts, …)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn item_risk(
    fcinfo: FunctionCallInfo,
) -> TableIterator<
    'static,
    (
        name!(item, Option<String>),
        name!(frequency, f64),
        name!(group_size, i64),
        name!(candidates, i64),
        name!(crack_probability, Option<f64>),
    ),
> {
    // SAFETY: the types are those of the declarations in sql/.
    let risks = unsafe { answer(fcinfo, risks_of) };
    TableIterator::new(risks.unwrap_or_else(Problem::raise).unwrap_or_default())
}

fn risks_of(
    counts: &ItemCounts,
    question: Option<Question>,
    options: &Options,
) -> Result<Vec<RiskRow>, Problem> {
    let Some(Question {
        frequencies, space, ..
    }) = &question
    else {
        return Ok(Vec::new());
    };
    let expected = question
        .as_ref()
        .map(|question| question.expected(&options.settings));
    let expected = expected.transpose()?.flatten();
    if let Some(found) = &expected {
        warn_if_not_exact(found, options);
    }
    let named = counts.items.len() as usize;
    let row = |item: usize| {
        let group = frequencies.group_of()[item] as usize;
        (
            (item < named)
                .then(|| counts.items.text(item as u32 + 1))
                .flatten(),
            frequencies.frequency(item),
            i64::from(frequencies.group_sizes()[group]),
            space.graph.degree(space.class(item)) as i64,
            expected.as_ref().map(|expected| expected.crack_probability[item]),
        )
    };
    Ok((0..frequencies.items()).map(row).collect())
}

/// crack_probability(relation regclass, column_name name, itemset anyarray, belief regclass, …) and
/// crack_probability(summary disclosure.item_counts, itemset anyarray, belief regclass, …)
#[pg_extern(sql = false)]
fn crack_probability(fcinfo: FunctionCallInfo) -> Option<f64> {
    // SAFETY: the types are those of the declarations in sql/.
    unsafe { itemset_probability(fcinfo) }.unwrap_or_else(Problem::raise)
}

/// # Safety
/// `fcinfo` has the arguments of crack_probability.
unsafe fn itemset_probability(fcinfo: FunctionCallInfo) -> Result<Option<f64>, Problem> {
    const OTHERS: usize = 6;
    let first = (*fcinfo).nargs as usize - OTHERS;
    let given_itemset =
        pg_getarg_datum(fcinfo, first).ok_or(Problem::null("itemset", "Give an array of items."))?;
    let method = given("method", pg_getarg::<&str>(fcinfo, first + 3))?;
    if !["exact", "os", "os2"].contains(&method) {
        return Err(Problem::argument(
            "method",
            "is none of the methods",
            "Give 'exact', 'os' or 'os2'.",
        ));
    }
    let budget = budget_of(pg_getarg(fcinfo, first + 5))?;
    let options = Options {
        belief: pg_getarg(fcinfo, first + 1),
        width: width(pg_getarg(fcinfo, first + 2))?,
        phantoms: phantoms(pg_getarg(fcinfo, first + 4))?,
        settings: settings(Method::Exact, 1.0, 1.0, 1, budget),
    };
    let Some(mut counts) = transactions(fcinfo, first)? else {
        return Ok(None);
    };
    let Some(question) = Question::of_rival(&mut counts, &options)? else {
        return Ok(None);
    };
    let array = pg_sys::get_fn_expr_argtype((*fcinfo).flinfo, first as i32);
    let itemset = itemset(&mut counts.items, given_itemset, array)?;
    let cracks = ItemsetCracks::new(&question.space);
    match method {
        "os" => Ok(Some(cracks.os(&itemset)?)),
        "os2" => Ok(Some(cracks.os2(&itemset)?)),
        _ => {
            let exact = run::long("counting crack mappings", |control| {
                let steps = cracks.steps([&itemset[..]], control)?;
                match steps > options.settings.steps {
                    true => Ok(Err(steps)),
                    false => cracks.exact(&itemset, control).map(Ok),
                }
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
    }
}
