//! Presets: named lists of criteria in the table `disclosure.presets`.
//!
//! A role uses its own rows and those for everybody, and no rows of other roles. If it has a preset of the same name as
//! one for everybody, its own counts, unless that one comes with the extension. The latest version counts, unless the
//! caller names one, as in `standard@1`.

use crate::args::Args;
use crate::error::{Error, did_you_mean};
use crate::pg::json::{self, JsonText};
use crate::pg::query::{Answer, Parameters};
use disclosure::assess::{Criterion, Measure};
use disclosure::columns::suggestions::Category;
use disclosure::spelling;
use pgrx::pg_sys;
use pgrx::prelude::*;
use serde::Deserialize;
use serde_json::Value;

const ARGUMENT: &str = "preset";

/// Criteria under a name.
pub struct Preset {
    pub name: String,
    pub version: i32,
    /// Criteria in alphabetical order.
    pub criteria: Vec<PresetCriterion>,
}

/// One criterion of a preset.
pub struct PresetCriterion {
    /// What the preset calls the criterion.
    pub name: String,
    /// `None` if this version of the extension does not have the measure, or does not allow the limit or the options.
    pub criterion: Option<Criterion>,
    /// Name of the measure, as it is stored.
    pub measure: String,
    pub options: MeasureOptions,
}

/// Options of a measure.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MeasureOptions {
    /// Share of the rows from which on a value counts as certain, if the measure is `privacy_score`.
    pub min_confidence: Option<f64>,
    /// Categories of personal data that are counted, if the measure is `category_columns`.
    pub categories: Option<Vec<String>>,
    /// Whether dates may be given as years, if the measure is `category_columns`.
    pub years_are_allowed: bool,
    /// Number of people that an area must have more of to be allowed, if the measure is `category_columns`.
    pub min_population: Option<f64>,
    /// Names of columns whose largest value counts, if the measure is `largest_value`.
    pub column_names: Option<Vec<String>>,
    /// Number of contributors that are taken together, if the measure is `dominance`.
    pub contributors: Option<u32>,
}

/// Confidence from which on a value counts as certain, unless a preset has its own.
const MIN_CONFIDENCE: f64 = 0.9;

impl MeasureOptions {
    fn read(measure: Measure, options: Option<Value>) -> Result<Self, Error> {
        let options: MeasureOptions =
            json::options("options", options, "Give an object of options of the measure.")?;
        let invalid =
            |problem: &str, hint: &'static str| Err(Error::argument("options", problem.to_string(), hint));
        let given = [
            (
                "min_confidence",
                options.min_confidence.is_some(),
                measure == Measure::PrivacyScore,
            ),
            (
                "categories",
                options.categories.is_some(),
                measure == Measure::CategoryColumns,
            ),
            (
                "years_are_allowed",
                options.years_are_allowed,
                measure == Measure::CategoryColumns,
            ),
            (
                "min_population",
                options.min_population.is_some(),
                measure == Measure::CategoryColumns,
            ),
            (
                "column_names",
                options.column_names.is_some(),
                measure == Measure::LargestValue,
            ),
            (
                "contributors",
                options.contributors.is_some(),
                measure.is_of_aggregates(),
            ),
        ];
        if let Some((name, ..)) = given
            .iter()
            .find(|(_, is_given, is_possible)| *is_given && !is_possible)
        {
            return invalid(
                &format!("{name} is not an option of {}", measure.name()),
                "Leave the option out.",
            );
        }
        if options
            .min_confidence
            .is_some_and(|share| !(share > 0.0 && share <= 1.0))
        {
            return invalid(
                "min_confidence must be more than 0 and at most 1",
                "It is the share of the rows with a known value from which on that value counts as certain.",
            );
        }
        match (measure, &options.categories, &options.column_names) {
            (Measure::CategoryColumns, None, _) => invalid(
                "categories are missing",
                "Give an array of categories, such as [\"name\"].",
            ),
            (Measure::CategoryColumns, Some(names), _)
                if names.is_empty() || names.iter().any(|name| Category::named(name).is_none()) =>
            {
                invalid(
                    "categories must be a list of categories of personal data",
                    "Give those that disclosure.suggest_labels() shows.",
                )
            }
            (Measure::LargestValue, _, None) => invalid(
                "column_names are missing",
                "Give an array of names, such as [\"age\"].",
            ),
            _ => Ok(options),
        }
    }

    pub fn min_confidence(&self) -> f64 {
        self.min_confidence.unwrap_or(MIN_CONFIDENCE)
    }

    /// Returns the categories that are counted.
    pub fn categories(&self) -> Vec<Category> {
        let names = self.categories.iter().flatten();
        names.filter_map(|name| Category::named(name)).collect()
    }
}

impl Preset {
    /// Reads a preset by its name, as the calling user.
    pub fn named(given: Option<&str>) -> Result<Self, Error> {
        let given =
            given.ok_or_else(|| Error::null(ARGUMENT, "Give the name of a preset, such as 'standard'."))?;
        let (name, version) = match given.split_once('@') {
            Some((name, version)) => (name, Some(version_of(version)?)),
            None => (given, None),
        };
        let names = usable_names()?;
        let found = names.iter().find(|other| spelling::is_same(other, name));
        let name = found.ok_or_else(|| {
            let nearest = spelling::nearest(name, names.iter().map(String::as_str));
            Error::argument(
                ARGUMENT,
                format!("there is no preset \"{name}\""),
                did_you_mean(nearest, "disclosure.presets lists the presets."),
            )
        })?;
        let preset = read(name, version)?;
        preset.ok_or_else(|| {
            Error::argument(
                ARGUMENT,
                format!("preset \"{name}\" has no such version"),
                "disclosure.presets lists the versions.",
            )
        })
    }

    /// Returns whether the preset has a criterion with this measure.
    pub fn limits(&self, measure: Measure) -> bool {
        let mut criteria = self.criteria.iter();
        criteria.any(|wanted| {
            wanted
                .criterion
                .is_some_and(|criterion| criterion.measure == measure)
        })
    }

    /// Returns how many criteria have a limit.
    pub fn thresholds(&self) -> usize {
        let criteria = self.criteria.iter().filter_map(|wanted| wanted.criterion);
        criteria.filter(Criterion::is_judged).count()
    }

    /// Returns the criteria that cannot be enforced on an export.
    pub fn unenforceable(&self) -> impl Iterator<Item = &PresetCriterion> {
        let can_be_enforced = |wanted: &PresetCriterion| {
            wanted
                .criterion
                .is_some_and(|criterion| criterion.can_be_enforced())
        };
        self.criteria
            .iter()
            .filter(move |wanted| !can_be_enforced(wanted))
    }
}

fn version_of(text: &str) -> Result<i32, Error> {
    text.trim().parse().map_err(|_| {
        Error::argument(
            ARGUMENT,
            "what follows @ is not a version",
            "Give a number, as in standard@1, or leave it out to use the latest version.",
        )
    })
}

/// Returns the names of the presets that the calling user may use.
fn usable_names() -> Result<Vec<String>, Error> {
    const QUERY: &str = "SELECT DISTINCT p.name FROM disclosure_internal.usable_presets() AS p ORDER BY 1";
    Spi::connect(|_| {
        // SAFETY: within Spi::connect; the column is of type text.
        unsafe {
            let answer = Answer::to(QUERY, &Parameters::default(), true)?;
            Ok((0..answer.rows()).filter_map(|row| answer.get(row, 0)).collect())
        }
    })
}

/// Reads the criteria of a preset, of its latest version if none is given; `None` if there is no such version.
fn read(name: &str, version: Option<i32>) -> Result<Option<Preset>, Error> {
    let version = version.map_or("NULL".into(), |version| version.to_string());
    let query = format!(
        "SELECT p.version, p.criterion, p.measure, p.at_least, p.at_most, p.options \
           FROM disclosure_internal.criteria_of($1, {version}) AS p ORDER BY p.criterion COLLATE pg_catalog.\"C\""
    );
    let mut parameters = Parameters::default();
    let text = name
        .into_datum()
        .ok_or(Error::Internal("a name without a value"))?;
    parameters.add(pg_sys::TEXTOID, text);
    Spi::connect(|_| {
        // SAFETY: within Spi::connect, with a text for a text; the columns are int, text, text, float8, float8 and
        // jsonb.
        let answer = unsafe { Answer::to(&query, &parameters, true)? };
        let mut preset = None;
        for row in 0..answer.rows() {
            // SAFETY: as above.
            let (version, criterion) = unsafe { (answer.get(row, 0), criterion_of_row(&answer, row)?) };
            let preset = preset.get_or_insert_with(|| Preset {
                name: name.into(),
                version: version.unwrap_or(1),
                criteria: Vec::new(),
            });
            preset.criteria.push(criterion);
        }
        Ok(preset)
    })
}

/// Reads a criterion from a row of the query in [`read`].
///
/// # Safety
/// The answer must be that of the query.
unsafe fn criterion_of_row(answer: &Answer, row: usize) -> Result<PresetCriterion, Error> {
    // SAFETY: by the contract of the function.
    let (name, measure, at_least, at_most, options) = unsafe {
        (
            answer.get::<String>(row, 1),
            answer.get::<String>(row, 2),
            answer.get(row, 3),
            answer.get(row, 4),
            answer.get::<JsonText>(row, 5),
        )
    };
    let measure = measure.unwrap_or_default();
    let options = options.map(|options| options.value("options")).transpose()?;
    let valid = Measure::named(&measure).and_then(|measure| {
        let criterion = Criterion {
            measure,
            at_least,
            at_most,
        };
        criterion.check().ok()?;
        let options = MeasureOptions::read(measure, options).ok()?;
        Some((criterion, options))
    });
    let (criterion, options) = valid.unzip();
    Ok(PresetCriterion {
        name: name.unwrap_or_default(),
        criterion,
        options: options.unwrap_or_default(),
        measure,
    })
}

/// check_criterion(measure text, at_least float8, at_most float8, options jsonb, scope text): raises an error unless a
/// preset can have this criterion.
#[pg_extern(sql = false)]
fn check_criterion(args: Args) {
    checked(args).unwrap_or_else(Error::raise);
}

fn checked(mut args: Args) -> Result<(), Error> {
    let name: String = args.required("measure")?;
    let at_least = args.optional("at_least");
    let at_most = args.optional("at_most");
    let options = args.json("options")?;
    let scope: String = args.required("scope")?;
    args.end()?;
    let measure = Measure::named(&name).ok_or_else(|| {
        Error::argument(
            "measure",
            format!("there is no measure \"{name}\""),
            did_you_mean(
                spelling::nearest(&name, Measure::names()),
                "docs/assess.md lists the measures.",
            ),
        )
    })?;
    let criterion = Criterion {
        measure,
        at_least,
        at_most,
    };
    criterion.check()?;
    MeasureOptions::read(measure, options)?;
    let right = match measure.is_of_aggregates() {
        true => "aggregates",
        false => "rows",
    };
    match scope == right {
        true => Ok(()),
        false => Err(Error::argument(
            "scope",
            format!("must be '{right}' for this measure"),
            "Measures of rows have the scope 'rows', and those of tables of counts and sums have 'aggregates'.",
        )),
    }
}
