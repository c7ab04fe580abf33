//! The function `population_uniqueness`: how many people of the population are unique, by several models.

use crate::args::Args;
use crate::error::Error;
use crate::methods::classes::records::{Choice, Needs, ReadRecords, Unit};
use crate::methods::population::weights::SamplingWeights;
use crate::pg::table::{Table, table_row};
use crate::run;
use disclosure::Control;
use disclosure::classes::{Nulls, Records};
use disclosure::population::{
    Equations, Estimate, Fit, Interactions, LogLinear, Model, Uniqueness, check_fraction, log_linear,
    sampling_fraction,
};
use pgrx::prelude::*;

/// Largest standardised bias at which a log-linear model is accepted.
const ACCEPTED: f64 = 1.96;

table_row! {
    /// Estimate by one model.
    struct UniquenessRow {
        model: String,
        uniques: Option<f64>,
        share: Option<f64>,
        standard_error: Option<f64>,
        tau1: Option<f64>,
        tau2: Option<f64>,
        gr1: Option<f64>,
        gr2: Option<f64>,
        applies: Option<bool>,
        reason: String,
    }
}

/// population_uniqueness(relation regclass, columns name[], fraction float8, labels jsonb, unit text)
#[pg_extern(sql = false)]
fn population_uniqueness(args: Args) -> Table<UniquenessRow> {
    Table::new(by_model(args))
}

fn by_model(mut args: Args) -> Result<Vec<UniquenessRow>, Error> {
    let oid = args.optional("relation");
    let columns = args.names("columns");
    let fraction: Option<f64> = args.optional("fraction");
    let labels = args.json("labels")?;
    let unit = Unit::of_args(&mut args)?;
    args.end()?;
    fraction.map(check_fraction).transpose()?;
    let choice = Choice {
        columns,
        labels,
        unit,
        needs: Needs {
            weight: fraction.is_none(),
            ..Needs::default()
        },
        ..Choice::default()
    };
    let read = ReadRecords::of_relation(oid, &choice)?;
    let weights = match fraction {
        Some(_) => None,
        None => Some(SamplingWeights::of(&read)?.ok_or_else(|| {
            Error::argument(
                "fraction",
                "must be given if no column is labelled as weight",
                "Give the share of the population that is in the relation, for example 0.1.",
            )
        })?),
    };
    let records = &read.records;
    let found = run::long("estimating uniqueness", |control| {
        let sizes = records.sizes(Nulls::Value, control)?;
        let fraction = match (fraction, &weights) {
            (Some(fraction), _) => Some(fraction),
            (None, Some(weights)) => {
                let population = weights.sizes(records, control)?;
                sampling_fraction(&sizes, &population.estimates(records, Nulls::Value, control)?)
            }
            (None, None) => None,
        };
        fraction
            .map(|fraction| Estimates::new(records, &sizes, fraction, control))
            .transpose()
    })?;
    Ok(found.map_or_else(Vec::new, |found| found.rows())) // no rows, no weights: nothing to estimate
}

/// Results of all models.
struct Estimates {
    fraction: f64,
    by_sizes: Uniqueness,
    main_effects: Fit,
    pairs: Fit,
}

impl Estimates {
    fn new(records: &Records, sizes: &[u64], fraction: f64, control: &Control) -> disclosure::Result<Self> {
        let by_sizes = Uniqueness::new(&sizes.iter().copied().collect(), fraction, control)?;
        let fit = |interactions| log_linear(records.classes(), sizes, fraction, interactions, control);
        Ok(Estimates {
            fraction,
            by_sizes,
            main_effects: fit(Interactions::None)?,
            pairs: fit(Interactions::Pairs)?,
        })
    }

    fn rows(&self) -> Vec<UniquenessRow> {
        let (chosen, by_rule) = self.by_sizes.dankar(self.fraction, Equations::Published);
        let (chosen_by_arx, by_arx) = self.by_sizes.dankar(self.fraction, Equations::Arx);
        let rule = |model: Model, estimate: Option<Estimate>| match (estimate, model == chosen) {
            (None, _) => (false, NO_SOLUTION.to_string()),
            (Some(_), true) => (true, "chosen by Dankar's rule".into()),
            (Some(_), false) => (false, format!("Dankar's rule chooses {}", name_of(chosen))),
        };
        let other = |estimate: Option<Estimate>, reason: &str| match estimate {
            None => (false, NO_SOLUTION.to_string()),
            Some(_) => (false, reason.to_string()),
        };
        let finite = "as pitman, without its limit for large populations";
        let all = &self.by_sizes;
        let mut rows = vec![
            self.row("pitman", all.pitman, rule(Model::Pitman, all.pitman)),
            self.row(
                "pitman_finite",
                all.pitman_expected,
                other(all.pitman_expected, finite),
            ),
            self.row("zayatz", all.zayatz, rule(Model::Zayatz, all.zayatz)),
            self.row(
                "negative_binomial",
                all.negative_binomial,
                rule(Model::NegativeBinomial, all.negative_binomial),
            ),
            self.row(
                "negative_binomial_arx",
                all.negative_binomial_arx,
                other(
                    all.negative_binomial_arx,
                    "the equations of ARX 3.9.2, which differ from the published ones",
                ),
            ),
            self.row(
                "dankar",
                by_rule,
                (by_rule.is_some(), format!("is {}", name_of(chosen))),
            ),
            self.row(
                "dankar_arx",
                by_arx,
                (
                    false,
                    format!("is {}, with the equations of ARX 3.9.2", name_of(chosen_by_arx)),
                ),
            ),
        ];
        let (main_effects, pairs) = (Tested::new(&self.main_effects), Tested::new(&self.pairs));
        rows.push(self.log_linear_row("main_effects", &main_effects, &pairs));
        rows.push(self.log_linear_row("pairs", &pairs, &main_effects));
        rows
    }

    fn row(
        &self,
        model: &str,
        estimate: Option<Estimate>,
        (applies, reason): (bool, String),
    ) -> UniquenessRow {
        let uniques = estimate.map(|estimate| estimate.uniques);
        UniquenessRow {
            model: model.into(),
            uniques,
            share: uniques.and_then(|uniques| self.share(uniques)),
            standard_error: estimate.and_then(|estimate| estimate.standard_error),
            tau1: None,
            tau2: None,
            gr1: None,
            gr2: None,
            applies: Some(applies),
            reason,
        }
    }

    /// Returns the share of the population; `None` if nobody is in it.
    fn share(&self, uniques: f64) -> Option<f64> {
        (self.by_sizes.population > 0.0).then(|| uniques / self.by_sizes.population)
    }

    fn log_linear_row(&self, model: &str, tested: &Tested, other: &Tested) -> UniquenessRow {
        let found = tested.model;
        let estimate = found.map(|found| found.population_uniques(self.fraction));
        let (applies, reason) = tested.verdict(other);
        UniquenessRow {
            tau1: found.map(|found| found.unique),
            tau2: found.map(|found| found.matches),
            gr1: found.map(|found| found.sdcmicro_gr1),
            gr2: found.map(|found| found.sdcmicro_gr2),
            applies,
            ..self.row(model, estimate, (false, reason))
        }
    }
}

const NO_SOLUTION: &str = "its equations have no solution for this table";

fn name_of(model: Model) -> &'static str {
    match model {
        Model::Pitman => "pitman",
        Model::Zayatz => "zayatz",
        Model::NegativeBinomial => "negative_binomial",
    }
}

/// A log-linear model and its standardised bias.
struct Tested<'a> {
    model: Option<&'a LogLinear>,
    bias: Option<f64>,
    /// Why there is no model or no bias.
    problem: &'static str,
}

impl<'a> Tested<'a> {
    fn new(fit: &'a Fit) -> Self {
        let (model, problem) = match fit {
            Fit::Fitted(model) if model.unique_bias.is_none() => (
                Some(model),
                "not tested: too many combinations of values are possible",
            ),
            Fit::Fitted(model) => (Some(model), "not tested: no sample unique can be anything else"),
            Fit::TooManyCombinations => (None, "not fitted: too many combinations of values are possible"),
            Fit::NotConverged => (None, "not fitted: the iteration did not converge"),
        };
        let bias = model.and_then(|model| model.unique_bias?.standardised());
        Tested { model, bias, problem }
    }

    /// Returns whether the model applies, and why: its bias must be acceptable and lower than that of the other model.
    fn verdict(&self, other: &Tested) -> (Option<bool>, String) {
        let Some(bias) = self.bias else {
            return (self.model.is_none().then_some(false), self.problem.into());
        };
        let is_lower = other.bias.is_none_or(|other| bias.abs() <= other.abs());
        let comment = match (bias.abs() <= ACCEPTED, is_lower) {
            (false, _) if bias > 0.0 => ", the model is too simple",
            (false, _) => ", the model is too rich",
            (true, false) => ", higher than that of the other model",
            (true, true) => "",
        };
        (
            Some(bias.abs() <= ACCEPTED && is_lower),
            format!("standardised bias {bias:.2}{comment}"),
        )
    }
}
