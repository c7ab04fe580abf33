//! Itemsets: `crack_probability`, `itemset_risk`, `expected_itemset_cracks`, and the same over stored counts.

use crate::args::{Args, warn_once};
use crate::error::Error;
use crate::methods::cracks::beliefs::{ListedItemsets, itemset};
use crate::methods::cracks::{Options, ReadSource, Source, advise_on_cost, method_name};
use crate::pg::table::{Table, table_row};
use crate::run;
use disclosure::cracks::{self, CountedItemsets, ItemsetCracks, ItemsetRisk, Method, Scenario};
use pgrx::pg_sys::{self, Datum};
use pgrx::prelude::*;

/// Method by which the probability of an itemset is computed.
#[derive(Clone, Copy, PartialEq)]
enum ItemsetMethod {
    By(Method),
    Os,
    Os2,
}

const ITEMSET_METHODS: [(&str, ItemsetMethod); 5] = [
    ("auto", ItemsetMethod::By(Method::Auto)),
    ("exact", ItemsetMethod::By(Method::Exact)),
    ("simulate", ItemsetMethod::By(Method::Simulate)),
    ("os", ItemsetMethod::Os),
    ("os2", ItemsetMethod::Os2),
];

/// Methods that are not estimates.
const METHODS: [(&str, Method); 3] = [
    ("auto", Method::Auto),
    ("exact", Method::Exact),
    ("simulate", Method::Simulate),
];

#[pg_extern(sql = false)]
fn crack_probability(args: Args) -> Option<f64> {
    itemset_probability(args, Source::column).unwrap_or_else(Error::raise)
}

#[pg_extern(sql = false)]
fn crack_probability_of(args: Args) -> Option<f64> {
    itemset_probability(args, Source::stored).unwrap_or_else(Error::raise)
}

fn itemset_probability(mut args: Args, source: ReadSource) -> Result<Option<f64>, Error> {
    let source = source(&mut args);
    let given = args.any("itemset");
    let (options, method) = Options::read_with(&mut args, &ITEMSET_METHODS)?;
    args.end()?;
    // SAFETY: sql/ declares the itemset as anyarray.
    let Some(question) = (unsafe { Question::read(source, given, &options)? }) else {
        return Ok(None);
    };
    let cracks = ItemsetCracks::new(&question.scenario.space);
    let method = match method {
        ItemsetMethod::Os => return Ok(Some(cracks.os(&question.itemset)?)),
        ItemsetMethod::Os2 => return Ok(Some(cracks.os2(&question.itemset)?)),
        ItemsetMethod::By(method) => method,
    };
    let risk = question.risk(&cracks, &options.by(method))?;
    if let Some(risk) = risk {
        warn_if_not_exact(&risk, method);
    }
    Ok(risk.map(|risk| risk.crack_probability))
}

/// Warns if a result is not exact, because a number alone does not say how it was computed.
fn warn_if_not_exact(risk: &ItemsetRisk, asked: Method) {
    if !risk.is_precise_enough {
        warn_once("the simulation did not reach relative_error; itemset_risk shows its bounds");
    } else if asked == Method::Auto && risk.method == Method::Simulate {
        warn_once("an exact answer would exceed the budget; the probability was simulated");
    }
}

table_row! {
    /// Probability that an itemset is cracked, and the published estimates of it.
    struct ItemsetRiskRow {
        crack_probability: Option<f64>,
        lower: Option<f64>,
        upper: Option<f64>,
        method: Option<&'static str>,
        os: f64,
        os2: f64,
    }
}

#[pg_extern(sql = false)]
fn itemset_risk(args: Args) -> Table<ItemsetRiskRow> {
    Table::new(risk_of_itemset(args, Source::column))
}

#[pg_extern(sql = false)]
fn itemset_risk_of(args: Args) -> Table<ItemsetRiskRow> {
    Table::new(risk_of_itemset(args, Source::stored))
}

fn risk_of_itemset(mut args: Args, source: ReadSource) -> Result<Option<ItemsetRiskRow>, Error> {
    let source = source(&mut args);
    let given = args.any("itemset");
    let options = Options::read_of_methods(&mut args, &METHODS)?;
    args.end()?;
    // SAFETY: sql/ declares the itemset as anyarray.
    let Some(question) = (unsafe { Question::read(source, given, &options)? }) else {
        return Ok(None);
    };
    let cracks = ItemsetCracks::new(&question.scenario.space);
    let risk = question.risk(&cracks, &options)?;
    Ok(Some(ItemsetRiskRow {
        crack_probability: risk.map(|risk| risk.crack_probability),
        lower: risk.map(|risk| risk.lower),
        upper: risk.map(|risk| risk.upper),
        method: risk.map(|risk| method_name(risk.method)),
        os: cracks.os(&question.itemset)?,
        os2: cracks.os2(&question.itemset)?,
    }))
}

/// An itemset, and the adversary's beliefs about its items.
struct Question {
    scenario: Scenario,
    itemset: Vec<u32>,
}

impl Question {
    /// Checks the options and reads the source; `None` if there are no transactions.
    ///
    /// # Safety
    /// `given` is an array of the type that comes with it.
    unsafe fn read(
        source: Source,
        given: Option<(Datum, pg_sys::Oid)>,
        options: &Options,
    ) -> Result<Option<Self>, Error> {
        options.check()?;
        let argument = "itemset";
        let (array, array_type) = given.ok_or(Error::null(argument, "Give an array of items."))?;
        let Some(mut counts) = source.counts()? else {
            return Ok(None);
        };
        let Some(scenario) = options.scenario(&mut counts)? else {
            return Ok(None);
        };
        // SAFETY: by the contract.
        let itemset = unsafe { itemset(&mut counts.items, argument, array, array_type)? };
        Ok(Some(Question { scenario, itemset }))
    }

    fn risk(&self, cracks: &ItemsetCracks, options: &Options) -> Result<Option<ItemsetRisk>, Error> {
        let settings = options.settings_with_memory();
        run::long("counting crack mappings", |control| {
            cracks.risk(&self.itemset, &settings, control)
        })
        .map_err(advise_on_cost)
    }
}

table_row! {
    /// Expected number of cracked itemsets.
    #[derive(Default)]
    struct ExpectedItemsetsRow {
        itemsets: Option<f64>,
        expected: Option<f64>,
        lower: Option<f64>,
        upper: Option<f64>,
        share: Option<f64>,
        method: Option<&'static str>,
    }
}

#[pg_extern(sql = false)]
fn expected_itemset_cracks(args: Args) -> Table<ExpectedItemsetsRow> {
    Table::new(expected_number(args, Source::column))
}

#[pg_extern(sql = false)]
fn expected_itemset_cracks_of(args: Args) -> Table<ExpectedItemsetsRow> {
    Table::new(expected_number(args, Source::stored))
}

fn expected_number(mut args: Args, source: ReadSource) -> Result<Option<ExpectedItemsetsRow>, Error> {
    let source = source(&mut args);
    let size = args.count("size")? as usize;
    let interest = args.any("interest");
    let listed = ListedItemsets::read(&mut args);
    let options = Options::read_of_methods(&mut args, &METHODS)?;
    args.end()?;
    let mut counted = CountedItemsets::OfSize { size, interest: None };
    counted.check()?;
    options.check()?;
    listed.check()?;
    if interest.is_some() && listed.is_given() {
        return Err(Error::argument(
            "interest",
            "must not be given together with a list of itemsets",
            "Give items of interest, or the itemsets themselves.",
        ));
    }
    let Some(mut counts) = source.counts()? else {
        return Ok(None);
    };
    let Some(scenario) = options.scenario(&mut counts)? else {
        return Ok(None);
    };
    if let Some((array, array_type)) = interest {
        // SAFETY: sql/ declares interest as text[].
        let interest = unsafe { itemset(&mut counts.items, "interest", array, array_type)? };
        counted = CountedItemsets::OfSize {
            size,
            interest: Some(interest),
        };
    }
    // SAFETY: sql/ declares itemsets as text[].
    if let Some(itemsets) = unsafe { listed.itemsets(&mut counts)? } {
        counted = CountedItemsets::Listed(itemsets);
    }
    let settings = options.settings_with_memory();
    let found = run::long("expecting cracks of itemsets", |control| {
        cracks::expected_itemset_cracks(&scenario.space, &counted, &settings, control)
    })
    .map_err(advise_on_cost)?;
    let row = found.map(|found| ExpectedItemsetsRow {
        itemsets: Some(found.itemsets),
        expected: Some(found.expected),
        lower: Some(found.lower),
        upper: Some(found.upper),
        share: found.share,
        method: Some(method_name(found.method)),
    });
    Ok(Some(row.unwrap_or_default()))
}
