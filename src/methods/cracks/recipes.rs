//! The recipes: `assess_items`, `assess_itemsets`, `vulnerable_itemsets`, `assess_correlations` and
//! `similarity_by_sampling`.
//!
//! They are Assess-Risk and its variants by Lakshmanan, Ng and Ramesh (2008), Fig. 8, 9, 15 and 25. Each
//! compares the cracks of stronger and weaker adversaries with what the owner of the data tolerates.

use crate::args::Args;
use crate::error::Error;
use crate::methods::cracks::beliefs::ListedItemsets;
use crate::methods::cracks::item_counts::ItemCounts;
use crate::methods::cracks::items::read_transactions;
use crate::methods::cracks::{Options, ReadSource, Source, method_name};
use crate::pg::table::{Table, table_row};
use crate::run;
use crate::verdict::verdict_name;
use disclosure::cracks::{
    self, BoundedShare, ComplianceRuns, CorrelationRisk, CorrelationSettings, ItemSettings, ItemsetMethod,
    ItemsetSettings, ItemsetsOfInterest, KnownPairs, Method, SamplingSettings, Scenario, Similarity, Stage,
    Verdict, VulnerableItemset, VulnerableItemsets,
};
use pgrx::prelude::*;

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::PointValued => "point-valued",
        Stage::Interval => "interval",
        Stage::Compliance => "compliance",
    }
}

/// Returns the verdict of a recipe. It is up to the owner whether an adversary can be right about more than
/// alpha_max of the items, so the recipe itself never says unsafe.
fn name_of(verdict: Verdict) -> &'static str {
    verdict_name(match verdict {
        Verdict::Safe => Some(true),
        Verdict::Unknown => None,
    })
}

/// Reads the argument runs. The seed is one of the later arguments.
fn runs(args: &mut Args) -> Result<ComplianceRuns, Error> {
    Ok(ComplianceRuns {
        runs: args.count("runs")?,
        ..ComplianceRuns::default()
    })
}

table_row! {
    /// Result of the recipe for items.
    struct RiskRow {
        stage: &'static str,
        items: i64,
        tolerated: f64,
        point_valued: f64,
        width: Option<f64>,
        o_estimate: f64,
        expected: Option<f64>,
        lower: Option<f64>,
        upper: Option<f64>,
        method: Option<&'static str>,
        alpha_max: Option<f64>,
        verdict: &'static str,
    }
}

#[pg_extern(sql = false)]
fn assess_items(args: Args) -> Table<RiskRow> {
    Table::new(risk_of_items(args, Source::column))
}

#[pg_extern(sql = false)]
fn assess_items_of(args: Args) -> Table<RiskRow> {
    Table::new(risk_of_items(args, Source::stored))
}

fn risk_of_items(mut args: Args, source: ReadSource) -> Result<Option<RiskRow>, Error> {
    let source = source(&mut args);
    let mut settings = ItemSettings {
        tolerance: args.required("tolerance")?,
        compliance: runs(&mut args)?,
    };
    let options = Options::read(&mut args)?;
    args.end()?;
    settings.compliance.seed = options.settings.seed;
    settings.check()?;
    options.check()?;
    let Some(mut counts) = source.counts()? else {
        return Ok(None);
    };
    let Some(scenario) = options.scenario(&mut counts)? else {
        return Ok(None);
    };
    let found = options.expected(&scenario)?;
    let found = found.as_ref();
    let chances = cracks::cautious_probabilities(&scenario.space, found);
    let assessment = run::long("assessing risk", |control| {
        cracks::assess_items(&scenario.frequencies, &chances, &settings, control)
    })?;
    Ok(Some(RiskRow {
        stage: stage_name(assessment.stage),
        items: scenario.frequencies.items() as i64,
        tolerated: assessment.tolerated,
        point_valued: assessment.point_valued,
        width: scenario.width,
        o_estimate: cracks::o_estimate(&scenario.space),
        expected: found.map(|found| found.expected),
        lower: found.and_then(|found| found.lower),
        upper: found.and_then(|found| found.upper),
        method: found.map(|found| method_name(found.method)),
        alpha_max: assessment.alpha_max,
        verdict: name_of(assessment.verdict),
    }))
}

table_row! {
    /// Result of the recipe for itemsets.
    struct ItemsetRiskRow {
        stage: &'static str,
        itemsets: f64,
        sampled: bool,
        point_valued: f64,
        vulnerable: f64,
        lower: f64,
        upper: f64,
        method: &'static str,
        alpha_max: Option<f64>,
        verdict: &'static str,
    }
}

#[pg_extern(sql = false)]
fn assess_itemsets(args: Args) -> Table<ItemsetRiskRow> {
    Table::new(risk_of_itemsets(args, Source::column))
}

#[pg_extern(sql = false)]
fn assess_itemsets_of(args: Args) -> Table<ItemsetRiskRow> {
    Table::new(risk_of_itemsets(args, Source::stored))
}

fn risk_of_itemsets(mut args: Args, source: ReadSource) -> Result<Option<ItemsetRiskRow>, Error> {
    let source = source(&mut args);
    let sizes = vec![args.count("size")? as usize];
    let (crack_danger, tolerance) = (args.required("crack_danger")?, args.required("tolerance")?);
    let skip_top = args.required("skip_top")?;
    let listed = ListedItemsets::read(&mut args);
    let sample = args.count("samples")? as usize;
    let mut settings = ItemsetSettings {
        interest: ItemsetsOfInterest::Sizes { sizes, skip_top },
        crack_danger,
        tolerance,
        sample,
        compliance: runs(&mut args)?,
        ..ItemsetSettings::default()
    };
    let options = Options::read(&mut args)?;
    args.end()?;
    settings.compliance.seed = options.settings.seed;
    settings.exact_steps = exact_steps(&options)?;
    settings.check()?;
    options.check()?;
    listed.check()?;
    let Some((_, scenario)) = scenario_of(source, &options, &listed, &mut settings)? else {
        return Ok(None);
    };
    let assessment = run::long("assessing itemsets", |control| {
        cracks::assess_itemsets(&scenario.frequencies, &scenario.space, &settings, control)
    })?;
    check_method(&options, assessment.method)?;
    let BoundedShare { value, lower, upper } = assessment.interval;
    Ok(Some(ItemsetRiskRow {
        stage: stage_name(assessment.stage),
        itemsets: assessment.itemsets,
        sampled: assessment.sampled,
        point_valued: assessment.point_valued.value,
        vulnerable: value,
        lower,
        upper,
        method: itemset_method_name(assessment.method),
        alpha_max: assessment.alpha_max.map(|alpha| alpha.value),
        verdict: name_of(assessment.verdict),
    }))
}

table_row! {
    /// An itemset that is vulnerable.
    struct VulnerableRow {
        itemset: Vec<Option<String>>,
        crack_probability: f64,
        point_valued: f64,
        method: &'static str,
    }
}

#[pg_extern(sql = false)]
fn vulnerable_itemsets(args: Args) -> Table<VulnerableRow> {
    Table::new(vulnerable_rows(args, Source::column))
}

#[pg_extern(sql = false)]
fn vulnerable_itemsets_of(args: Args) -> Table<VulnerableRow> {
    Table::new(vulnerable_rows(args, Source::stored))
}

fn vulnerable_rows(mut args: Args, source: ReadSource) -> Result<Vec<VulnerableRow>, Error> {
    let source = source(&mut args);
    let sizes = vec![args.count("size")? as usize];
    let crack_danger = args.required("crack_danger")?;
    let skip_top = args.required("skip_top")?;
    let listed = ListedItemsets::read(&mut args);
    let sample = args.count("samples")? as usize;
    let max_rows = args.number("max_rows", 1)?;
    let options = Options::read(&mut args)?;
    args.end()?;
    let mut settings = ItemsetSettings {
        interest: ItemsetsOfInterest::Sizes { sizes, skip_top },
        crack_danger,
        sample,
        exact_steps: exact_steps(&options)?,
        ..ItemsetSettings::default()
    };
    settings.compliance.seed = options.settings.seed;
    settings.check()?;
    options.check()?;
    listed.check()?;
    let Some((counts, scenario)) = scenario_of(source, &options, &listed, &mut settings)? else {
        return Ok(Vec::new());
    };
    let found = run::long("assessing itemsets", |control| {
        cracks::vulnerable_itemsets(
            &scenario.frequencies,
            &scenario.space,
            &settings,
            max_rows,
            control,
        )
    })?;
    check_method(&options, found.method)?;
    notice_what_is_not_listed(&found);
    let named = counts.items.len();
    // Phantoms have no name.
    let name = |&item: &u32| (item < named).then(|| counts.items.text(item + 1)).flatten();
    let row = |vulnerable: &VulnerableItemset| VulnerableRow {
        itemset: vulnerable.items.iter().map(name).collect(),
        crack_probability: vulnerable.crack_probability,
        point_valued: vulnerable.point_valued,
        method: itemset_method_name(found.method),
    };
    Ok(found.itemsets.iter().map(row).collect())
}

/// Reads the source and, into the settings, the itemsets that are listed. Returns the counts and the scenario;
/// `None` if there are no transactions.
fn scenario_of(
    source: Source,
    options: &Options,
    listed: &ListedItemsets,
    settings: &mut ItemsetSettings,
) -> Result<Option<(ItemCounts, Scenario)>, Error> {
    let Some(mut counts) = source.counts()? else {
        return Ok(None);
    };
    let Some(scenario) = options.scenario(&mut counts)? else {
        return Ok(None);
    };
    // SAFETY: sql/ declares itemsets as text[].
    if let Some(itemsets) = unsafe { listed.itemsets(&mut counts)? } {
        settings.interest = ItemsetsOfInterest::Listed(itemsets);
    }
    Ok(Some((counts, scenario)))
}

fn notice_what_is_not_listed(found: &VulnerableItemsets) {
    let further = found.vulnerable - found.itemsets.len() as f64;
    if further > 0.0 {
        notice!("{further:.0} further itemsets are vulnerable; raise max_rows to list more");
    }
    if found.sampled {
        notice!("there are too many kinds of itemsets; only a random sample of them was assessed");
    }
}

fn itemset_method_name(method: ItemsetMethod) -> &'static str {
    match method {
        ItemsetMethod::Exact => "exact",
        ItemsetMethod::Os => "os",
    }
}

/// Returns an error if the caller wants exact probabilities and they are not.
fn check_method(options: &Options, method: ItemsetMethod) -> Result<(), Error> {
    if options.settings.method == Method::Exact && method == ItemsetMethod::Os {
        return Err(Error::argument(
            "method",
            "exact is not possible: it would exceed the budget, or no mapping agrees with the belief",
            "Raise budget, list fewer itemsets, or give 'auto' or 'o_estimate'.",
        ));
    }
    Ok(())
}

/// Returns the number of steps that exact probabilities of itemsets may take, by the method and the budget.
fn exact_steps(options: &Options) -> Result<f64, Error> {
    match options.settings.method {
        Method::Auto | Method::Exact => Ok(options.settings.max_steps),
        Method::OEstimate => Ok(0.0),
        _ => Err(Error::argument(
            "method",
            "is not a method for itemsets",
            "Give 'auto', 'exact' or 'o_estimate', which means the estimate OS here.",
        )),
    }
}

table_row! {
    /// Expected cracks of an adversary with one kind of knowledge about pairs.
    struct CorrelationRow {
        knows: String,
        pairs: i64,
        o_estimate: Option<f64>,
        expected: Option<f64>,
        lower: Option<f64>,
        upper: Option<f64>,
        method: Option<&'static str>,
        share: Option<f64>,
        verdict: &'static str,
        alpha_max: Option<f64>,
    }
}

#[pg_extern(sql = false)]
fn assess_correlations(args: Args) -> Table<CorrelationRow> {
    Table::new(risk_of_pairs(args))
}

fn risk_of_pairs(mut args: Args) -> Result<Vec<CorrelationRow>, Error> {
    let (relation, column_name) = (args.optional("relation"), args.name("column_name"));
    let mut settings = CorrelationSettings {
        tolerance: args.required("tolerance")?,
        pairs: args.number("pairs", 0)?,
        among: args.number("among", 0)?,
        apart: args.number("apart", 0)?,
        nearly_always: args.required("nearly_always")?,
        compliance: runs(&mut args)?,
        ..CorrelationSettings::default()
    };
    let options = Options::read(&mut args)?;
    args.end()?;
    settings.compliance.seed = options.settings.seed;
    settings.settings = options.settings.clone();
    settings.check()?;
    options.check()?;
    let (mut counts, transactions) = read_transactions(relation, column_name)?;
    let Some((scenario, order)) = options.scenario_in_order(&mut counts)? else {
        return Ok(Vec::new());
    };
    let risks = run::long("assessing pairs", |control| {
        let transactions = transactions.in_order(order.iter().map(|code| code - 1), control)?;
        cracks::assess_correlations(
            &transactions,
            &scenario.frequencies,
            &scenario.belief,
            &settings,
            control,
        )
    })?;
    let items = scenario.frequencies.items() as f64;
    let row = |risk| correlation_row(risk, settings.among, items);
    Ok(risks.into_iter().map(row).collect())
}

fn correlation_row(risk: CorrelationRisk, among: usize, items: f64) -> CorrelationRow {
    let found = risk.expected.as_ref();
    CorrelationRow {
        knows: match risk.knows {
            KnownPairs::PointValued => "frequencies".into(),
            KnownPairs::NoPairs => "no pairs".into(),
            KnownPairs::Adjusted => "adjusted".into(),
            KnownPairs::AdjustedAmong => format!("adjusted {among}"),
            KnownPairs::RefinedBeliefs => "refined beliefs".into(),
            KnownPairs::Apart => "apart".into(),
        },
        pairs: risk.pairs as i64,
        o_estimate: risk.o_estimate,
        expected: found.map(|found| found.expected),
        lower: found.and_then(|found| found.lower),
        upper: found.and_then(|found| found.upper),
        method: found.map(|found| method_name(found.method)),
        share: found.map(|found| found.expected / items),
        verdict: verdict_name(match (risk.is_within, risk.alpha_max) {
            (true, _) => Some(true),
            // As in the other recipes, the owner judges whether the adversary can be right about more items.
            (false, Some(_)) => None,
            (false, None) => Some(false),
        }),
        alpha_max: risk.alpha_max,
    }
}

table_row! {
    /// Share of items that an adversary with samples of one size is right about.
    struct SimilarityRow {
        fraction: f64,
        transactions: i64,
        width: f64,
        compliancy: f64,
        lowest: f64,
        highest: f64,
        mean_gap: f64,
        mean_gap_compliancy: f64,
    }
}

#[pg_extern(sql = false)]
fn similarity_by_sampling(args: Args) -> Table<SimilarityRow> {
    Table::new(similarities(args))
}

fn similarities(mut args: Args) -> Result<Vec<SimilarityRow>, Error> {
    let (relation, column_name) = (args.optional("relation"), args.name("column_name"));
    let settings = SamplingSettings {
        fractions: args.numbers("fractions")?,
        samples: args.count("samples")? as usize,
        seed: args.seed()?,
    };
    args.end()?;
    settings.check()?;
    let (mut counts, transactions) = read_transactions(relation, column_name)?;
    let order = counts.put_in_order()?;
    let similarities = run::long("sampling transactions", |control| {
        // Samples are drawn by the numbers of the transactions, which must not depend on the order of rows.
        let transactions = transactions.in_order(order.iter().map(|code| code - 1), control)?;
        cracks::similarity_by_sampling(&transactions, &settings, control)
    })?;
    let row = |of_fraction: Similarity| SimilarityRow {
        fraction: of_fraction.fraction,
        transactions: of_fraction.transactions as i64,
        width: of_fraction.median.width,
        compliancy: of_fraction.median.average,
        lowest: of_fraction.median.min,
        highest: of_fraction.median.max,
        mean_gap: of_fraction.mean.width,
        mean_gap_compliancy: of_fraction.mean.average,
    };
    Ok(similarities.into_iter().map(row).collect())
}
