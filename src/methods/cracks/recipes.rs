//! Recipes about cracks: `assess_risk`, `assess_itemset_risk`, `assess_correlation_risk`,
//! `similarity_by_sampling`.

use crate::args::{given, number};
use crate::error::Problem;
use crate::methods::cracks::beliefs::{itemsets_of_array, itemsets_of_table};
use crate::methods::cracks::items::{ItemCounts, read_transactions};
use crate::methods::cracks::{Options, Question, method_name, transactions};
use crate::run;
use disclosure::cracks::{
    self, Compliance, CorrelationQuestion, CorrelationRisk, Decision, Estimate, Interest, ItemsetMethod,
    ItemsetQuestion, KnownPairs, Method, Settings, Stage,
};
use pgrx::fcinfo::{pg_getarg, pg_getarg_datum};
use pgrx::pg_sys::FunctionCallInfo;
use pgrx::prelude::*;
use std::ffi::CStr;

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::PointValued => "point-valued",
        Stage::Interval => "interval",
        Stage::Compliance => "compliance",
    }
}

fn decision_name(decision: Decision) -> &'static str {
    match decision {
        Decision::Disclose => "disclose",
        Decision::Judge => "judge",
    }
}

fn compliance(runs: Option<i32>, settings: &Settings) -> Result<Compliance, Problem> {
    Ok(Compliance {
        runs: number("runs", 1, runs)? as u32,
        seed: settings.seed,
    })
}

/// assess_risk(relation regclass, column_name name, tolerance float8, runs int, belief regclass, …) and
/// assess_risk(summary disclosure.item_counts, tolerance float8, runs int, belief regclass, …)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn assess_risk(
    fcinfo: FunctionCallInfo,
) -> TableIterator<
    'static,
    (
        name!(stage, &'static str),
        name!(items, i64),
        name!(tolerated, f64),
        name!(point_valued, f64),
        name!(width, Option<f64>),
        name!(o_estimate, f64),
        name!(expected, Option<f64>),
        name!(lower, Option<f64>),
        name!(upper, Option<f64>),
        name!(method, Option<String>),
        name!(alpha_max, Option<f64>),
        name!(decision, &'static str),
    ),
> {
    // SAFETY: the types are those of the declarations in sql/.
    let row = unsafe { risk_of_items(fcinfo) };
    TableIterator::new(row.unwrap_or_else(Problem::raise))
}

type RiskRow = (
    &'static str,
    i64,
    f64,
    f64,
    Option<f64>,
    f64,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<String>,
    Option<f64>,
    &'static str,
);

/// # Safety
/// `fcinfo` has the arguments of assess_risk.
unsafe fn risk_of_items(fcinfo: FunctionCallInfo) -> Result<Option<RiskRow>, Problem> {
    const OWN: usize = 2;
    let first = (*fcinfo).nargs as usize - OWN - Options::ARGUMENTS;
    let tolerance = given("tolerance", pg_getarg(fcinfo, first))?;
    let options = Options::of_call(fcinfo, first + OWN, None)?;
    let compliance = compliance(pg_getarg(fcinfo, first + 1), &options.settings)?;
    let Some(mut counts) = transactions(fcinfo, first)? else {
        return Ok(None);
    };
    let Some(question) = Question::of_rival(&mut counts, &options)? else {
        return Ok(None);
    };
    let found = question.expected(&options.settings)?;
    let chances = cracks::cautious(&question.space, found.as_ref());
    let frequencies = &question.frequencies;
    let assessment = run::long("assessing risk", |control| {
        cracks::assess_risk(frequencies, &chances, tolerance, &compliance, control)
    })?;
    Ok(Some((
        stage_name(assessment.stage),
        frequencies.items() as i64,
        assessment.tolerated,
        assessment.point_valued,
        question.width,
        cracks::o_estimate(&question.space),
        found.as_ref().map(|found| found.expected),
        found.as_ref().and_then(|found| found.lower),
        found.as_ref().and_then(|found| found.upper),
        found.as_ref().map(|found| method_name(found.method)),
        assessment.alpha_max,
        decision_name(assessment.decision),
    )))
}

/// assess_itemset_risk(relation regclass, column_name name, sizes int, crack_danger float8, tolerance float8,
/// skip_top float8, itemsets text[], itemset_table regclass, sample int, runs int, belief regclass, …) and the same
/// with a summary
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn assess_itemset_risk(
    fcinfo: FunctionCallInfo,
) -> TableIterator<
    'static,
    (
        name!(stage, &'static str),
        name!(itemsets, f64),
        name!(sampled, bool),
        name!(point_valued, f64),
        name!(vulnerable, f64),
        name!(lower, f64),
        name!(upper, f64),
        name!(method, &'static str),
        name!(alpha_max, Option<f64>),
        name!(decision, &'static str),
    ),
> {
    // SAFETY: the types are those of the declarations in sql/.
    let row = unsafe { risk_of_itemsets(fcinfo) };
    TableIterator::new(row.unwrap_or_else(Problem::raise))
}

type ItemsetRow = (
    &'static str,
    f64,
    bool,
    f64,
    f64,
    f64,
    f64,
    &'static str,
    Option<f64>,
    &'static str,
);

/// # Safety
/// `fcinfo` has the arguments of assess_itemset_risk.
unsafe fn risk_of_itemsets(fcinfo: FunctionCallInfo) -> Result<Option<ItemsetRow>, Problem> {
    const OWN: usize = 8;
    let first = (*fcinfo).nargs as usize - OWN - Options::ARGUMENTS;
    let options = Options::of_call(fcinfo, first + OWN, None)?;
    let exact_steps = match options.settings.method {
        Method::Auto | Method::Exact => options.settings.steps,
        Method::OEstimate => 0.0,
        _ => {
            return Err(Problem::argument(
                "method",
                "is none of the methods for itemsets",
                "Give 'auto', 'exact' or 'o_estimate', which stands for OS here.",
            ));
        }
    };
    let Some(mut counts) = transactions(fcinfo, first)? else {
        return Ok(None);
    };
    let Some(question) = Question::of_rival(&mut counts, &options)? else {
        return Ok(None);
    };
    let interest = interest(fcinfo, first, &mut counts)?;
    let of_itemsets = ItemsetQuestion {
        interest,
        crack_danger: given("crack_danger", pg_getarg(fcinfo, first + 1))?,
        tolerance: given("tolerance", pg_getarg(fcinfo, first + 2))?,
        exact_steps,
        sample: number("sample", 1, pg_getarg(fcinfo, first + 6))?,
        compliance: compliance(pg_getarg(fcinfo, first + 7), &options.settings)?,
    };
    let assessment = run::long("assessing itemsets", |control| {
        cracks::assess_itemset_risk(&question.frequencies, &question.space, &of_itemsets, control)
    })?;
    if options.settings.method == Method::Exact && assessment.method == ItemsetMethod::Os {
        return Err(Problem::argument(
            "method",
            "exact is out of reach: it would take longer than the budget, or no mapping agrees with the belief",
            "Raise budget, ask about fewer itemsets, or give 'auto' or 'o_estimate'.",
        ));
    }
    let Estimate { value, lower, upper } = assessment.interval;
    Ok(Some((
        stage_name(assessment.stage),
        assessment.itemsets,
        assessment.sampled,
        assessment.point_valued.value,
        value,
        lower,
        upper,
        match assessment.method {
            ItemsetMethod::Exact => "exact",
            ItemsetMethod::Os => "os",
        },
        assessment.alpha_max.map(|alpha| alpha.value),
        decision_name(assessment.decision),
    )))
}

/// Itemsets that are listed, in an array or in a table, or else all of a size.
///
/// # Safety
/// `fcinfo` has the arguments of assess_itemset_risk, its own ones from `first` on.
unsafe fn interest(
    fcinfo: FunctionCallInfo,
    first: usize,
    counts: &mut ItemCounts,
) -> Result<Interest, Problem> {
    let table = pg_getarg::<pg_sys::Oid>(fcinfo, first + 5);
    match (pg_getarg_datum(fcinfo, first + 4), table) {
        (Some(_), Some(_)) => Err(Problem::argument(
            "itemsets",
            "must not be given together with itemset_table",
            "Give one of them, or neither for all itemsets of a size.",
        )),
        (Some(array), None) => Ok(Interest::Listed(itemsets_of_array(counts, array)?)),
        (None, Some(table)) => Ok(Interest::Listed(itemsets_of_table(counts, table)?)),
        (None, None) => Ok(Interest::Sizes {
            sizes: vec![number("sizes", 1, pg_getarg(fcinfo, first))?],
            skip_top: given("skip_top", pg_getarg(fcinfo, first + 3))?,
        }),
    }
}

/// The column that the first two arguments name.
///
/// # Safety
/// They are a regclass and a name.
unsafe fn read_column(fcinfo: FunctionCallInfo) -> Result<(ItemCounts, cracks::Transactions), Problem> {
    let column_name = pg_getarg::<&CStr>(fcinfo, 1).map(|name| name.to_string_lossy().into_owned());
    read_transactions(pg_getarg(fcinfo, 0), column_name)
}

/// assess_correlation_risk(relation regclass, column_name name, tolerance float8, pairs int, among int, apart int,
/// nearly_always float8, runs int, belief regclass, …)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn assess_correlation_risk(
    fcinfo: FunctionCallInfo,
) -> TableIterator<
    'static,
    (
        name!(knows, String),
        name!(pairs, i64),
        name!(o_estimate, Option<f64>),
        name!(expected, Option<f64>),
        name!(lower, Option<f64>),
        name!(upper, Option<f64>),
        name!(method, Option<String>),
        name!(share, Option<f64>),
        name!(within_tolerance, bool),
        name!(alpha_max, Option<f64>),
    ),
> {
    // SAFETY: the types are those of the declarations in sql/.
    let rows = unsafe { risk_of_pairs(fcinfo) };
    TableIterator::new(rows.unwrap_or_else(Problem::raise))
}

type PairsRow = (
    String,
    i64,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<String>,
    Option<f64>,
    bool,
    Option<f64>,
);

/// # Safety
/// `fcinfo` has the arguments of assess_correlation_risk.
unsafe fn risk_of_pairs(fcinfo: FunctionCallInfo) -> Result<Vec<PairsRow>, Problem> {
    const FIRST: usize = 2;
    const OWN: usize = 6;
    let options = Options::of_call(fcinfo, FIRST + OWN, None)?;
    let of_pairs = CorrelationQuestion {
        tolerance: given("tolerance", pg_getarg(fcinfo, FIRST))?,
        pairs: number("pairs", 0, pg_getarg(fcinfo, FIRST + 1))?,
        among: number("among", 0, pg_getarg(fcinfo, FIRST + 2))?,
        apart: number("apart", 0, pg_getarg(fcinfo, FIRST + 3))?,
        nearly_always: given("nearly_always", pg_getarg(fcinfo, FIRST + 4))?,
        compliance: compliance(pg_getarg(fcinfo, FIRST + 5), &options.settings)?,
        settings: options.settings.clone(),
    };
    let (mut counts, transactions) = read_column(fcinfo)?;
    let Some(question) = Question::of_rival(&mut counts, &options)? else {
        return Ok(Vec::new());
    };
    let risks = run::long("assessing pairs", |control| {
        cracks::assess_correlation_risk(
            &transactions,
            &question.frequencies,
            &question.belief,
            &of_pairs,
            control,
        )
    })?;
    let items = question.frequencies.items() as f64;
    let row = |risk| pairs_row(risk, of_pairs.among, items);
    Ok(risks.into_iter().map(row).collect())
}

fn pairs_row(risk: CorrelationRisk, among: usize, items: f64) -> PairsRow {
    let found = risk.expected.as_ref();
    (
        match risk.knows {
            KnownPairs::PointValued => "frequencies".into(),
            KnownPairs::None => "no pairs".into(),
            KnownPairs::Adjusted => "adjusted".into(),
            KnownPairs::AdjustedAmong => format!("adjusted {among}"),
            KnownPairs::RefinedBeliefs => "refined beliefs".into(),
            KnownPairs::Apart => "apart".into(),
        },
        risk.pairs as i64,
        risk.o_estimate,
        found.map(|found| found.expected),
        found.and_then(|found| found.lower),
        found.and_then(|found| found.upper),
        found.map(|found| method_name(found.method)),
        found.map(|found| found.expected / items),
        risk.is_within,
        risk.alpha_max,
    )
}

/// similarity_by_sampling(relation regclass, column_name name, fractions float8[], samples int, seed bigint)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn similarity_by_sampling(
    fcinfo: FunctionCallInfo,
) -> TableIterator<
    'static,
    (
        name!(fraction, f64),
        name!(transactions, i64),
        name!(width, f64),
        name!(compliancy, f64),
        name!(lowest, f64),
        name!(highest, f64),
        name!(mean_gap, f64),
        name!(mean_gap_compliancy, f64),
    ),
> {
    // SAFETY: the types are those of the declarations in sql/.
    let rows = unsafe { similarities(fcinfo) };
    TableIterator::new(rows.unwrap_or_else(Problem::raise))
}

type SimilarityRow = (f64, i64, f64, f64, f64, f64, f64, f64);

/// # Safety
/// `fcinfo` has the arguments of similarity_by_sampling.
unsafe fn similarities(fcinfo: FunctionCallInfo) -> Result<Vec<SimilarityRow>, Problem> {
    let fractions: Option<Vec<Option<f64>>> = pg_getarg(fcinfo, 2);
    let fractions = given("fractions", fractions)?
        .into_iter()
        .map(|fraction| given("fractions", fraction))
        .collect::<Result<Vec<f64>, _>>()?;
    let samples = number("samples", 1, pg_getarg(fcinfo, 3))?;
    let seed: i64 = given("seed", pg_getarg(fcinfo, 4))?;
    let (_, transactions) = read_column(fcinfo)?;
    let similarities = run::long("sampling transactions", |control| {
        cracks::similarity_by_sampling(&transactions, &fractions, samples, seed as u64, control)
    })?;
    let row = |of_fraction: cracks::Similarity| {
        (
            of_fraction.fraction,
            of_fraction.transactions as i64,
            of_fraction.median.width,
            of_fraction.median.average,
            of_fraction.median.min,
            of_fraction.median.max,
            of_fraction.mean.width,
            of_fraction.mean.average,
        )
    };
    Ok(similarities.into_iter().map(row).collect())
}
