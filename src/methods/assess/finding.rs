//! Findings: what is measured for each criterion of a preset, why the verdict is what it is, and what to do next.

use crate::error::Error;
use crate::methods::assess::next_step;
use crate::methods::assess::preset::{MeasureOptions, PresetCriterion};
use crate::methods::assess::subject::{ClassFigures, Subject, SubjectColumn};
use disclosure::Label;
use disclosure::assess::{Criterion, Measure, Measured, PopulationFigure, Verdict};
use disclosure::classes::{HIGH_RISKS, SMALL_SIZES};
use disclosure::columns::suggestions::{SuggestedLabel, split_words};
use disclosure::figures::{ColumnFigure, DiversityFigure, RiskFigure};
use pgrx::pg_sys;

/// What is found for one criterion.
pub struct Finding {
    /// What the preset calls the criterion.
    pub name: String,
    pub measure: String,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
    /// Value of the measure; `None` if it is not known. If there are bounds only, it is the worse one.
    pub measured: Option<f64>,
    /// `None` if the criterion has no limit, so that it is shown and not judged.
    pub verdict: Option<Verdict>,
    /// Number of people, or of rows if no column is labelled person, who are beyond the limit.
    pub people: Option<u64>,
    pub why: String,
    /// SQL statement.
    pub next_step: Option<String>,
}

/// What is measured for a criterion.
struct Figures {
    measured: Measured,
    people: Option<u64>,
    why: String,
    /// What helps if the criterion is not met.
    remedy: Remedy,
}

/// What helps if a criterion is not met.
enum Remedy {
    Nothing,
    /// To leave out these columns.
    LeaveOut(Vec<String>),
    /// To leave out the known column that adds most to the risk.
    LeaveOutRiskiest,
    /// To label the columns without a label.
    Label,
}

impl Finding {
    pub fn new(subject: &Subject, wanted: &PresetCriterion) -> Result<Self, Error> {
        let Some(criterion) = wanted.criterion else {
            return Ok(Finding::of_invalid_criterion(wanted));
        };
        let figures = measure(subject, &criterion, &wanted.options)?;
        let verdict = criterion.verdict(figures.measured);
        let why = match verdict {
            None => format!(
                "Shown and not judged, because the preset has no limit. {}",
                figures.why
            ),
            Some(_) => figures.why,
        };
        let next_step = match (verdict, figures.remedy) {
            (Some(Verdict::Safe) | None, _) | (_, Remedy::Nothing) => None,
            (_, Remedy::LeaveOut(columns)) => next_step::without(subject, columns)?,
            (_, Remedy::LeaveOutRiskiest) => {
                let riskiest = subject.riskiest_column()?;
                next_step::without(subject, riskiest.into_iter().map(String::from).collect())?
            }
            (_, Remedy::Label) => Some(next_step::suggest_labels(subject)),
        };
        Ok(Finding {
            name: wanted.name.clone(),
            measure: wanted.measure.clone(),
            at_least: criterion.at_least,
            at_most: criterion.at_most,
            measured: worse_bound(&criterion, figures.measured),
            verdict,
            people: figures.people,
            why,
            next_step,
        })
    }

    /// Returns the finding that columns have no label, for presets that say nothing about them; `None` if all have one.
    pub fn about_labels(subject: &Subject) -> Option<Self> {
        let figures = unlabelled(subject);
        let criterion = Criterion {
            measure: Measure::Columns(ColumnFigure::Unlabelled),
            at_least: None,
            at_most: Some(0.0),
        };
        let verdict = criterion.verdict(figures.measured);
        (verdict != Some(Verdict::Safe)).then(|| Finding {
            name: "every verdict needs labels".into(),
            measure: criterion.measure.name().into(),
            at_least: None,
            at_most: criterion.at_most,
            measured: worse_bound(&criterion, figures.measured),
            verdict,
            people: None,
            why: figures.why,
            next_step: Some(next_step::suggest_labels(subject)),
        })
    }

    /// Returns whether the finding is about columns that say who a row is about.
    pub fn is_about_identifiers(&self) -> bool {
        self.measure == ColumnFigure::Identifiers.name()
    }

    fn of_invalid_criterion(wanted: &PresetCriterion) -> Self {
        Finding {
            name: wanted.name.clone(),
            measure: wanted.measure.clone(),
            at_least: None,
            at_most: None,
            measured: None,
            verdict: Some(Verdict::Unknown),
            people: None,
            why: "The criterion is not valid in this version of pg_disclosure.".into(),
            next_step: None,
        }
    }
}

/// Returns the value that is shown: the worse one of two bounds.
fn worse_bound(criterion: &Criterion, measured: Measured) -> Option<f64> {
    match measured {
        Measured::Between { lower, .. } if criterion.at_least.is_some() => Some(lower),
        Measured::Between { upper, .. } => Some(upper),
        Measured::Nothing | Measured::Unknown => None,
    }
}

fn measure(subject: &Subject, criterion: &Criterion, options: &MeasureOptions) -> Result<Figures, Error> {
    match criterion.measure {
        Measure::Columns(ColumnFigure::Identifiers) => identifiers(subject),
        Measure::Columns(ColumnFigure::Unlabelled) => Ok(unlabelled(subject)),
        Measure::CategoryColumns => categories(subject, options),
        Measure::LargestValue => largest_value(subject, criterion, options),
        Measure::KAnonymity => k_anonymity(subject, criterion),
        Measure::Risk(figure) => risk(subject, criterion, figure),
        Measure::Population(figure) => population(subject, figure),
        Measure::Diversity(figure) => diversity(subject, criterion, figure),
        Measure::PrivacyScore => privacy_score(subject, criterion, options),
        Measure::Aggregate(_) => Ok(Figures::unknown(
            "The criterion is about tables of counts and sums, and this is a table of rows.",
        )),
    }
}

impl Figures {
    fn unknown(why: impl Into<String>) -> Self {
        Figures {
            measured: Measured::Unknown,
            people: None,
            why: why.into(),
            remedy: Remedy::Nothing,
        }
    }

    /// Returns the figures if there is nothing that the criterion could protect.
    fn nothing(why: impl Into<String>) -> Self {
        Figures {
            measured: Measured::Nothing,
            people: Some(0),
            ..Figures::unknown(why)
        }
    }

    /// Returns the figures of columns that should not be in the table.
    fn of_columns(subject: &Subject, columns: Vec<String>, why: String) -> Result<Self, Error> {
        Ok(Figures {
            measured: Measured::exactly(columns.len() as f64),
            people: match columns.is_empty() {
                true => Some(0),
                false => Some(everybody(subject.classes()?)),
            },
            why,
            remedy: Remedy::LeaveOut(columns),
        })
    }
}

/// Returns the number of people, or rows.
fn everybody(classes: &ClassFigures) -> u64 {
    classes.summary.people.unwrap_or(classes.summary.rows)
}

/// Returns a number of people, or rows, in words.
fn counted(subject: &Subject, number: u64) -> String {
    match (subject.counts_people(), number) {
        (true, 1) => "1 person".into(),
        (true, _) => format!("{number} people"),
        (false, 1) => "1 row".into(),
        (false, _) => format!("{number} rows"),
    }
}

/// Returns names as a list in words.
fn listed(names: &[String]) -> String {
    /// Names that are written out.
    const MAX_NAMES: usize = 10;
    let shown: Vec<&str> = names.iter().take(MAX_NAMES).map(String::as_str).collect();
    match (&shown[..], names.len() - shown.len()) {
        ([], _) => "nothing".into(),
        ([only], _) => (*only).into(),
        ([others @ .., last], 0) => format!("{} and {last}", others.join(", ")),
        (shown, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Counts the columns that say who a row is about, as a policy does when they are exported.
fn identifiers(subject: &Subject) -> Result<Figures, Error> {
    let columns = subject.names(|column| {
        matches!(
            column.label,
            Some(Label::Identifier | Label::Person | Label::Household)
        )
    });
    let why = match &columns[..] {
        [] => "No column is labelled as identifier, person or household.".into(),
        [only] => format!("Column {only} says who a row is about."),
        several => format!("Columns {} say who a row is about.", listed(several)),
    };
    Figures::of_columns(subject, columns, why)
}

fn unlabelled(subject: &Subject) -> Figures {
    let columns = subject.names(|column| column.is_unlabelled);
    let why = match (&columns[..], subject.has_suggested_labels) {
        ([], _) => "Every column has a label.".into(),
        (_, true) => {
            "No column has a label. All figures rest on suggested labels, which nobody has confirmed.".into()
        }
        ([only], _) => format!("Column {only} has no label and is left out of all figures."),
        (several, _) => format!(
            "Columns {} have no label and are left out of all figures.",
            listed(several)
        ),
    };
    Figures {
        measured: Measured::exactly(columns.len() as f64),
        people: None,
        why,
        remedy: Remedy::Label,
    }
}

/// Counts columns of categories of personal data, as suggestions have them. A column that somebody labelled as ignore
/// does not count. Suggestions may overlook a column, so nothing is known while a column has no label, or while the suggestions
/// do not recognise a column that outsiders know.
fn categories(subject: &Subject, options: &MeasureOptions) -> Result<Figures, Error> {
    let wanted = options.categories();
    let is_integer = |oid| matches!(oid, pg_sys::INT2OID | pg_sys::INT4OID | pg_sys::INT8OID);
    let mut columns = Vec::new();
    let mut recognised = Vec::new();
    for (column, suggestion) in subject.suggestions()? {
        if suggestion.label != SuggestedLabel::Ignore {
            recognised.push(&column.column.name);
        }
        let is_ignored = match column.is_unlabelled {
            true => suggestion.label == SuggestedLabel::Ignore,
            false => column.label == Some(Label::Ignore),
        };
        let is_year = options.years_are_allowed && is_integer(column.column.base_type());
        if wanted.contains(&suggestion.category) && !is_ignored && !is_year {
            columns.push(column.column.name.clone());
        }
    }
    let names: Vec<&str> = wanted.iter().map(|category| category.name()).collect();
    let kinds = names.join(", ").replace('_', " ");
    let mut none_found = format!("No column was found by its name and values ({kinds}).");
    if let Some(min_population) = options.min_population.filter(|_| !columns.is_empty()) {
        let Some(population) = subject.population else {
            return Ok(Figures {
                remedy: Remedy::LeaveOut(columns.clone()),
                ..Figures::unknown(format!(
                    "{} may hold small areas. Give a population with a column of the same name, to see whether more than \
                     {min_population} people live in each area.",
                    listed(&columns)
                ))
            });
        };
        none_found = format!(
            "More than {min_population} people live in each area of {}.",
            listed(&columns)
        );
        let mut small = Vec::new();
        for column in columns {
            if !subject.is_of_large_areas(&column, population, min_population)? {
                small.push(column);
            }
        }
        columns = small;
    }
    // What outsiders know may be of any category, unless its name or values say which.
    let unrecognised = subject.names(|column| {
        column.is_known && !column.is_unlabelled && !recognised.contains(&&column.column.name)
    });
    if columns.is_empty() && !unrecognised.is_empty() {
        return Ok(Figures::unknown(format!(
            "{none_found} But the name and values of {} do not say what it is.",
            listed(&unrecognised)
        )));
    }
    if columns.is_empty() && subject.columns.iter().any(|column| column.is_unlabelled) {
        return Ok(Figures {
            remedy: Remedy::Label,
            ..Figures::unknown(format!(
                "{none_found} But a column without a label may hold some ({kinds})."
            ))
        });
    }
    let why = match &columns[..] {
        [] => none_found,
        several => format!(
            "By name and values, {} may not be released ({kinds}).",
            listed(several)
        ),
    };
    Figures::of_columns(subject, columns, why)
}

fn largest_value(
    subject: &Subject,
    criterion: &Criterion,
    options: &MeasureOptions,
) -> Result<Figures, Error> {
    let wanted: Vec<Vec<String>> = options
        .column_names
        .iter()
        .flatten()
        .map(|name| split_words(name))
        .collect();
    let is_number = |oid| {
        matches!(
            oid,
            pg_sys::INT2OID
                | pg_sys::INT4OID
                | pg_sys::INT8OID
                | pg_sys::NUMERICOID
                | pg_sys::FLOAT4OID
                | pg_sys::FLOAT8OID
        )
    };
    let is_meant = |column: &&SubjectColumn| {
        let is_ignored = column.label == Some(Label::Ignore) && !column.is_unlabelled;
        let words = split_words(&column.column.name);
        let occurs = |wanted: &Vec<String>| words.windows(wanted.len().max(1)).any(|part| part == wanted);
        !is_ignored && wanted.iter().any(occurs)
    };
    let meant: Vec<&SubjectColumn> = subject.columns.iter().filter(is_meant).collect();
    let names = |columns: &[&SubjectColumn]| -> Vec<String> {
        columns.iter().map(|column| column.column.name.clone()).collect()
    };
    let (readable, others): (Vec<&SubjectColumn>, Vec<&SubjectColumn>) = meant
        .into_iter()
        .partition(|column| !column.is_unlabelled && is_number(column.column.base_type()));
    if !others.is_empty() {
        return Ok(Figures::unknown(format!(
            "{} may have such values, but is no number or has no label.",
            listed(&names(&others))
        )));
    }
    let columns = names(&readable);
    if columns.is_empty() {
        return Ok(Figures::nothing("No column has one of the names."));
    }
    let found = subject.largest_value(&columns, criterion.at_most)?;
    Ok(match found {
        None => Figures::nothing(format!("{} has no values.", listed(&columns))),
        Some((largest, people)) => Figures {
            measured: Measured::exactly(largest),
            people: Some(people),
            why: match people {
                0 => format!("No value of {} is beyond the limit.", listed(&columns)),
                _ => format!(
                    "Values of {} are beyond the limit for {}.",
                    listed(&columns),
                    counted(subject, people)
                ),
            },
            remedy: Remedy::LeaveOut(columns),
        },
    })
}

/// Returns a sentence that says that every class has at least so many members.
fn at_least(size: u64) -> String {
    match size {
        0 | 1 => "Nobody else need share the known values of somebody.".into(),
        2 => "Everybody shares their known values with somebody else.".into(),
        _ => format!(
            "Everybody shares their known values with at least {} others.",
            size - 1
        ),
    }
}

/// Returns a sentence that says that `who` are in classes with fewer members.
fn fewer_than(size: u64, who: &str) -> String {
    match size {
        0..=2 => format!("Nobody else shares the known values of {who}."),
        _ => format!("Fewer than {} others share the known values of {who}.", size - 1),
    }
}

/// Says that nothing can be measured, because by its labels the table has nothing that an adversary knows or must not learn.
const NOTHING_MEASURABLE: &str =
    "No column is labelled as quasi or sensitive, so the labels do not say what an adversary may know.";

fn k_anonymity(subject: &Subject, criterion: &Criterion) -> Result<Figures, Error> {
    if !subject.has_measured_columns() {
        return Ok(Figures::unknown(NOTHING_MEASURABLE));
    }
    let classes = subject.classes()?;
    let Some(k) = classes.summary.k else {
        return Ok(Figures::nothing("The table has no rows."));
    };
    let people = criterion
        .at_least
        .map(|least| classes.exposure.below(least.ceil() as u64));
    Ok(Figures {
        measured: Measured::exactly(k as f64),
        people,
        why: match (people, criterion.at_least) {
            (Some(0), _) if criterion.allows(k as f64) => at_least(k),
            (Some(0), Some(least)) => format!(
                "Fewer than {} others may share the known values of rows whose person is not known.",
                least.ceil() - 1.0
            ),
            (Some(people), Some(least)) => fewer_than(least.ceil() as u64, &counted(subject, people)),
            _ => format!(
                "{} are in the smallest classes.",
                counted(subject, classes.exposure.below(k + 1))
            ),
        },
        remedy: Remedy::LeaveOutRiskiest,
    })
}

fn risk(subject: &Subject, criterion: &Criterion, figure: RiskFigure) -> Result<Figures, Error> {
    if !subject.has_measured_columns() {
        return Ok(Figures::unknown(NOTHING_MEASURABLE));
    }
    let classes = subject.classes()?;
    let Some(value) = figure.of(&classes.summary) else {
        return Ok(Figures::nothing("The table has no rows."));
    };
    // The smallest class whose members have a risk within the limit.
    let size = match (figure, criterion.at_most) {
        (RiskFigure::ProsecutorAbove(place), _) => HIGH_RISKS.get(place).copied(),
        (RiskFigure::ShareBelow(place), _) => SMALL_SIZES.get(place).copied(),
        (RiskFigure::Uniques, _) => Some(2),
        (_, Some(limit)) if limit > 0.0 => Some((1.0 / limit).ceil() as u64),
        _ => None,
    };
    let people = size.map(|size| classes.exposure.below(size));
    let everybody = counted(subject, everybody(classes));
    let why = match (size, people) {
        (Some(size), Some(0)) => at_least(size),
        (Some(size), Some(people)) => fewer_than(size, &format!("{people} of {everybody}")),
        _ => format!("It is an average over {everybody}."),
    };
    Ok(Figures {
        measured: Measured::exactly(value),
        people,
        why,
        remedy: Remedy::LeaveOutRiskiest,
    })
}

fn population(subject: &Subject, figure: PopulationFigure) -> Result<Figures, Error> {
    if subject.population.is_none() {
        return Ok(Figures::unknown(
            "It depends on the population that the people of the table come from. Give the argument population.",
        ));
    }
    let Some(summary) = subject.of_population()? else {
        return Ok(Figures::nothing(
            "No column is known to an adversary by its label.",
        ));
    };
    let Some(value) = figure.of(summary) else {
        return Ok(Figures::unknown("Nobody of the table is in the population."));
    };
    // Whoever is missing from the population may be alone in it.
    let missing = summary
        .population
        .map_or(0, |population| population.not_in_population);
    let (measured, why) = match (missing, figure) {
        (0, _) => (
            Measured::exactly(value),
            "Everybody is compared with the people of the population who share their known values.".into(),
        ),
        (_, PopulationFigure::KMap) => (
            Measured::Between {
                lower: 1.0,
                upper: value,
            },
            lacks(subject, missing),
        ),
        _ => (
            Measured::Between {
                lower: value,
                upper: 1.0,
            },
            lacks(subject, missing),
        ),
    };
    Ok(Figures {
        measured,
        remedy: Remedy::LeaveOutRiskiest,
        ..Figures::unknown(why)
    })
}

fn lacks(subject: &Subject, missing: u64) -> String {
    format!(
        "Nobody of the population has the known values of {}.",
        counted(subject, missing)
    )
}

fn diversity(subject: &Subject, criterion: &Criterion, figure: DiversityFigure) -> Result<Figures, Error> {
    let classes = subject.classes()?;
    let Some(worst) = classes.diversity(criterion, figure)? else {
        return Ok(Figures::nothing(
            "No column is labelled as sensitive, or there are no rows.",
        ));
    };
    let people = worst.people;
    let name = &worst.name;
    let why = match people {
        Some(0) => format!("Every class keeps to the limit. The least varied values are those of {name}."),
        Some(people) => format!(
            "The values of {name} vary too little in the classes of {}.",
            counted(subject, people)
        ),
        None => format!("The least varied values in a class are those of {name}."),
    };
    Ok(Figures {
        measured: Measured::exactly(worst.value),
        people,
        why,
        remedy: Remedy::LeaveOut(vec![worst.name]),
    })
}

fn privacy_score(
    subject: &Subject,
    criterion: &Criterion,
    options: &MeasureOptions,
) -> Result<Figures, Error> {
    if !subject.columns.iter().any(|column| column.is_sensitive) {
        return Ok(Figures::nothing("No column is labelled as sensitive."));
    }
    let min_confidence = options.min_confidence();
    let worst = subject.privacy_score(min_confidence, |score| criterion.allows(score))?;
    let inferred = match &worst.inference {
        Some(inference) => format!(
            "At worst, whoever knows {} of somebody infers {} with a confidence of {:.2}.",
            listed(&inference.known),
            listed(&inference.inferred),
            inference.confidence
        ),
        None => format!("Nothing can be inferred with a confidence of at least {min_confidence}."),
    };
    let why = match worst.lower == worst.upper {
        true => inferred,
        false => format!(
            "The search was not finished within the budget, so the score is an upper bound. {inferred}"
        ),
    };
    Ok(Figures {
        measured: Measured::Between {
            lower: worst.lower,
            upper: worst.upper,
        },
        people: criterion.is_judged().then_some(worst.people),
        why,
        remedy: match worst.inference {
            Some(inference) => Remedy::LeaveOut(inference.inferred),
            None => Remedy::Nothing,
        },
    })
}
