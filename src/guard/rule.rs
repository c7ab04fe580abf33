//! The rule of a policy: a measure, its limit, and the treatment of unsafe rows in an export table.
//!
//! [`Demand::check`] is the only place that decides which combinations are valid, both for
//! `disclosure.protect` and for rows of `disclosure_internal.policy` that were written in another way, such
//! as by a restore.

use crate::error::Error;
use crate::guard::measure_function::MeasureFunction;
use disclosure::figures::{self, ColumnFigure, DiversityFigure, PersonFigure, RiskFigure};
use disclosure::spelling;
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use std::fmt;

#[derive(Debug, Clone, PartialEq)]
pub enum Measure {
    PrivacyScore(Statistic),
    KAnonymity,
    Risk(RiskFigure),
    Diversity(DiversityFigure),
    Person(PersonFigure, Statistic),
    Columns(ColumnFigure),
    ExpectedCracks,
    Function(MeasureFunction),
    /// The stored policy is invalid, or no longer valid. Exports are refused.
    Unusable {
        name: String,
        problem: String,
    },
}

/// Statistic of the rows' scores that is compared with the limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    Maximum,
    Average,
    /// Share of rows whose score is at or above the threshold.
    Share {
        threshold: f64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    AtMost(f64),
    AtLeast(f64),
    /// Limit of an unusable measure: allows nothing.
    Unknown,
}

/// Limits that a measure can have.
enum Limits {
    /// At most a number from 0 to 1.
    AtMostOne,
    /// At most a number of 0 or more.
    AtMostAny,
    /// At least a number of 1 or more.
    AtLeastOne,
    /// Any finite number.
    Finite,
}

/// Treatment of a statement that makes rows of an export table unsafe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRows {
    Block,
    Drop,
    Warn,
}

/// Rule as it was given to `protect` or stored, not yet checked.
#[derive(Default)]
pub struct Demand {
    pub measure: String,
    /// Owner of the function at the time the policy was defined, if the measure is a function.
    pub measure_owner: Option<Oid>,
    pub made_by: Option<Oid>,
    pub statistic: Option<String>,
    pub threshold: Option<f64>,
    pub at_most: Option<f64>,
    pub at_least: Option<f64>,
    pub columns: Option<Vec<String>>,
    pub on_rows: Option<String>,
    pub min_people: Option<i32>,
    pub min_confidence: Option<f64>,
    pub max_refusals: Option<i32>,
}

/// Rule that is valid for its relation.
pub struct Rule {
    pub measure: Measure,
    pub limit: Limit,
    pub on_rows: Option<OnRows>,
    pub bounds: Bounds,
}

/// Numbers of a policy that apply to every export, whatever its measure is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Smallest number of people that may leave.
    pub min_people: i64,
    /// Share of the rows that agree on a value from which on the value counts as certain.
    pub min_confidence: f64,
    /// Number of refusals within 24 hours after which a role is locked out.
    pub max_refusals: i32,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            min_people: 5,
            min_confidence: 0.9,
            max_refusals: 20,
        }
    }
}

/// Other names of measures.
const SYNONYMS: [(&str, &str); 1] = [("k", "k_anonymity")];

/// Names that sound like measures of the extension, with what is wrong and what to give instead.
const NO_MEASURES: [(&str, &str, &str); 6] = [
    (
        "l_diversity",
        "l_diversity has several definitions",
        "Give l_distinct, l_entropy or l_recursive, with at_least.",
    ),
    (
        "t_closeness",
        "t_closeness has several definitions",
        "Give t_equal or t_ordered, with at_most. t_hierarchical needs a hierarchy, which a policy cannot have yet.",
    ),
    (
        "t_hierarchical",
        "t_hierarchical needs a hierarchy, which a policy cannot have yet",
        "Give t_equal, which is never smaller.",
    ),
    (
        "dis_suda",
        "dis_suda needs a sampling fraction, which a policy cannot have yet",
        "Give suda.",
    ),
    (
        "household_risk",
        "household_risk counts households, which a policy cannot do yet",
        "Give individual_risk.",
    ),
    (
        "journalist",
        "risks of a journalist need a population, which a policy cannot have yet",
        "Give a risk of a prosecutor, such as prosecutor_average, which is never smaller.",
    ),
];

/// Returns the names of the extension's measures; any other name is that of a function.
pub fn built_ins() -> impl Iterator<Item = &'static str> {
    ["privacy_score", "k_anonymity", "expected_cracks"]
        .into_iter()
        .chain(figures::names())
}

/// Returns the measure of the extension with this name, in any spelling that [`spelling`] accepts.
pub fn built_in(measure: &str) -> Option<&'static str> {
    let synonym = SYNONYMS.iter().find(|(name, _)| spelling::is_same(name, measure));
    let measure = synonym.map_or(measure, |(_, name)| name);
    built_ins().find(|name| spelling::is_same(name, measure))
}

/// Returns the error of a name that sounds like a measure of the extension and is none.
pub fn no_measure(measure: &str) -> Option<Error> {
    let given = spelling::normalised(measure);
    let is_meant = |(name, ..): &&(&str, &str, &str)| {
        let name = spelling::normalised(name);
        given == name || name == "journalist" && given.starts_with("journalist ")
    };
    let (name, problem, hint) = NO_MEASURES.iter().find(is_meant)?;
    Some(match *name {
        "l_diversity" | "t_closeness" => Error::argument("measure", *problem, *hint),
        _ => Error::unusable(
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            "measure",
            *problem,
            *hint,
        ),
    })
}

impl Demand {
    /// Checks the rule for an existing relation, and returns it in its checked form. A measure function is
    /// not looked up here, because it may change at any time: see [`MeasureFunction::find`].
    pub fn check(&self, relation: Oid) -> Result<Rule, Error> {
        let statistic = self.check_statistic()?;
        let limit = self.check_limit()?;
        if self.measure == "expected_cracks" && self.columns.as_ref().is_none_or(|columns| columns.len() != 1)
        {
            return Err(Error::argument(
                "columns",
                "must be one column if the measure is expected_cracks",
                "Give the column of items, e.g. ARRAY['items'].",
            ));
        }
        let on_rows = match &self.on_rows {
            Some(on_rows) => Some(self.check_on_rows(on_rows, relation, statistic)?),
            None => None,
        };
        let name = self.measure.as_str();
        let measure = match (name, statistic) {
            ("privacy_score", Some(statistic)) => Measure::PrivacyScore(statistic),
            ("k_anonymity", _) => Measure::KAnonymity,
            ("expected_cracks", _) => Measure::ExpectedCracks,
            _ => Measure::of_figure(name, statistic).unwrap_or_else(|| {
                Measure::Function(MeasureFunction {
                    signature: self.measure.clone(),
                    owner: self.measure_owner.unwrap_or(Oid::INVALID),
                    maker: self.made_by.unwrap_or(Oid::INVALID),
                })
            }),
        };
        Ok(Rule {
            bounds: self.check_bounds(limit)?,
            measure,
            limit,
            on_rows,
        })
    }

    /// Returns the bounds, with defaults for those that are not given. The default of `min_people` is the
    /// limit of a policy on k_anonymity.
    fn check_bounds(&self, limit: Limit) -> Result<Bounds, Error> {
        let default = Bounds::default();
        let at_least_one = |argument, number: Option<i32>| match number {
            Some(..1) => Err(Error::argument(
                argument,
                "must be 1 or more",
                "Give a number of 1 or more, or NULL for the default.",
            )),
            number => Ok(number),
        };
        let min_people = at_least_one("min_people", self.min_people)?;
        let max_refusals = at_least_one("max_refusals", self.max_refusals)?;
        let min_confidence = self.min_confidence.unwrap_or(default.min_confidence);
        if !(min_confidence > 0.0 && min_confidence <= 1.0) {
            return Err(Error::argument(
                "min_confidence",
                "must be more than 0 and at most 1",
                "It is the share of the rows with a known value from which on that value counts as certain.",
            ));
        }
        let own_k = (self.measure == "k_anonymity").then(|| limit.value().ceil() as i64);
        Ok(Bounds {
            min_people: min_people.map(i64::from).or(own_k).unwrap_or(default.min_people),
            min_confidence,
            max_refusals: max_refusals.unwrap_or(default.max_refusals),
        })
    }

    /// Returns the statistic of a privacy score, which is the maximum by default, and `None` for other
    /// measures.
    fn check_statistic(&self) -> Result<Option<Statistic>, Error> {
        let hint = "Give maximum, average, or share (of rows whose score is at or above the threshold).";
        let largest = match (self.measure.as_str(), PersonFigure::named(&self.measure)) {
            ("privacy_score", _) => Some(1.0),
            (_, figure) => figure.map(PersonFigure::largest),
        };
        let (is_score, largest) = (largest.is_some(), largest.unwrap_or(0.0));
        let statistic = match (self.statistic.as_deref(), self.threshold) {
            (None, None) if !is_score => return Ok(None),
            (Some(_), _) if !is_score => {
                return Err(Error::argument(
                    "statistic",
                    "is allowed only for the measures privacy_score, suda and individual_risk",
                    hint,
                ));
            }
            (Some("share"), Some(threshold)) if (0.0..=largest).contains(&threshold) => {
                Statistic::Share { threshold }
            }
            (Some("share"), _) => {
                return Err(Error::argument(
                    "threshold",
                    match largest {
                        1.0 => "must be a number from 0 to 1",
                        _ => "must be a number of 0 or more",
                    },
                    "It is the lowest score at which a row counts.",
                ));
            }
            (_, Some(_)) => {
                return Err(Error::argument(
                    "threshold",
                    "is allowed only for the statistic share",
                    hint,
                ));
            }
            (None | Some("maximum"), None) => Statistic::Maximum,
            (Some("average"), None) => Statistic::Average,
            (Some(_), None) => {
                return Err(Error::argument(
                    "statistic",
                    "must be maximum, average or share",
                    hint,
                ));
            }
        };
        Ok(Some(statistic))
    }

    fn check_limit(&self) -> Result<Limit, Error> {
        let limit = match (self.at_most, self.at_least) {
            (Some(limit), None) => Limit::AtMost(limit),
            (None, Some(limit)) => Limit::AtLeast(limit),
            _ => {
                return Err(Error::argument(
                    "at_most, at_least",
                    "exactly one of them must be given",
                    "Limit a risk by at_most and protection by at_least: for example, at_most => 0.5 for privacy_score \
                     and at_least => 5 for k_anonymity.",
                ));
            }
        };
        let range = |allowed, hint| match allowed {
            true => Ok(limit),
            false => Err(Error::argument(
                match limit {
                    Limit::AtLeast(_) => "at_least",
                    _ => "at_most",
                },
                "is not a valid limit for this measure",
                hint,
            )),
        };
        match (self.limits(), limit) {
            (Limits::AtMostOne, Limit::AtMost(limit)) => {
                range((0.0..=1.0).contains(&limit), "Give a number from 0 to 1.")
            }
            (Limits::AtMostOne, _) => range(false, "Give at_most, a number from 0 to 1."),
            (Limits::AtLeastOne, Limit::AtLeast(limit)) => {
                range(limit >= 1.0 && limit.is_finite(), "Give a number of 1 or more.")
            }
            (Limits::AtLeastOne, _) => range(false, "Give at_least, a number of 1 or more."),
            (Limits::AtMostAny, Limit::AtMost(limit)) => {
                range(limit >= 0.0 && limit.is_finite(), "Give a number of 0 or more.")
            }
            (Limits::AtMostAny, _) => range(false, "Give at_most, a number of 0 or more."),
            (Limits::Finite, limit) => range(limit.value().is_finite(), "Give a finite number."),
        }
    }

    /// Returns the limits that the measure can have.
    fn limits(&self) -> Limits {
        let name = self.measure.as_str();
        let largest = RiskFigure::named(name).map(RiskFigure::largest);
        let figure = DiversityFigure::named(name);
        let largest = largest.or(figure.map(DiversityFigure::largest));
        let of_persons = PersonFigure::named(name).map(PersonFigure::largest);
        let largest = largest.or(of_persons.map(|largest| match self.statistic.as_deref() {
            Some("share") => 1.0,
            _ => largest,
        }));
        match (name, largest) {
            ("privacy_score", _) => Limits::AtMostOne,
            ("k_anonymity", _) => Limits::AtLeastOne,
            ("expected_cracks", _) => Limits::AtMostAny,
            (name, _) if ColumnFigure::named(name).is_some() => Limits::AtMostAny,
            _ if figure.is_some_and(DiversityFigure::protects) => Limits::AtLeastOne,
            (_, Some(1.0)) => Limits::AtMostOne,
            (_, Some(_)) => Limits::AtMostAny,
            (_, None) => Limits::Finite,
        }
    }

    fn check_on_rows(
        &self,
        on_rows: &str,
        relation: Oid,
        statistic: Option<Statistic>,
    ) -> Result<OnRows, Error> {
        let Some(parsed) = OnRows::parse(on_rows) else {
            return Err(Error::argument(
                "on_rows",
                "must be block, drop or warn",
                "block refuses the statement, drop leaves out the unsafe rows, and warn lets them pass with a warning.",
            ));
        };
        // SAFETY: accepts any OID, and returns 0 if there is no such relation.
        let kind = unsafe { pg_sys::get_rel_relkind(relation) } as u8;
        if !matches!(kind, pg_sys::RELKIND_RELATION | pg_sys::RELKIND_PARTITIONED_TABLE) {
            return Err(Error::argument(
                "on_rows",
                "is allowed only for tables",
                "Leave it out: rows that leave a view or a foreign table are judged by COPY TO.",
            ));
        }
        let is_by_row = self.measure == "k_anonymity"
            || self.measure == "privacy_score" && statistic == Some(Statistic::Maximum);
        match parsed {
            OnRows::Drop if !is_by_row => Err(Error::argument(
                "on_rows",
                "must not be drop if the measure has no value for single rows",
                "Give block or warn.",
            )),
            parsed => Ok(parsed),
        }
    }
}

impl Statistic {
    /// Returns the name that is stored in `disclosure_internal.policy`.
    pub fn name(self) -> &'static str {
        match self {
            Statistic::Maximum => "maximum",
            Statistic::Average => "average",
            Statistic::Share { .. } => "share",
        }
    }
}

impl Measure {
    /// Returns the measure that is the figure with this name, if there is one.
    fn of_figure(name: &str, statistic: Option<Statistic>) -> Option<Self> {
        let of_persons = || PersonFigure::named(name).zip(statistic);
        RiskFigure::named(name)
            .map(Measure::Risk)
            .or_else(|| DiversityFigure::named(name).map(Measure::Diversity))
            .or_else(|| ColumnFigure::named(name).map(Measure::Columns))
            .or_else(|| of_persons().map(|(figure, statistic)| Measure::Person(figure, statistic)))
    }

    /// Returns whether the measure is a function that a user wrote.
    pub fn is_function(&self) -> bool {
        matches!(self, Measure::Function(_))
    }

    /// Returns whether the measure counts who is alike on the columns that an adversary may know, and nothing else.
    pub fn is_about_classes(&self) -> bool {
        matches!(self, Measure::KAnonymity | Measure::Risk(_) | Measure::Person(..))
    }

    /// Returns whether the measure counts columns, so that the query alone decides about an export.
    pub fn is_about_columns(&self) -> bool {
        matches!(self, Measure::Columns(_))
    }

    /// Returns whether the measure needs the order of values.
    pub fn needs_ranks(&self) -> bool {
        *self == Measure::Diversity(DiversityFigure::TOrdered)
    }

    /// Returns whether the measure reads the rows of an export, and not only their tally.
    pub fn reads_rows(&self) -> bool {
        matches!(self, Measure::Function(_) | Measure::ExpectedCracks)
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::PrivacyScore(Statistic::Maximum) => f.write_str("privacy_score"),
            Measure::PrivacyScore(Statistic::Average) => f.write_str("average privacy_score"),
            Measure::PrivacyScore(Statistic::Share { threshold }) => {
                write!(f, "share of rows with a privacy_score of {threshold} or more")
            }
            Measure::KAnonymity => f.write_str("k_anonymity"),
            Measure::Risk(figure) => f.write_str(figure.name()),
            Measure::Diversity(figure) => f.write_str(figure.name()),
            Measure::Person(figure, Statistic::Maximum) => f.write_str(figure.name()),
            Measure::Person(figure, Statistic::Average) => write!(f, "average {}", figure.name()),
            Measure::Person(figure, Statistic::Share { threshold }) => {
                write!(f, "share of people with {} of {threshold} or more", figure.name())
            }
            Measure::Columns(figure) => f.write_str(figure.name()),
            Measure::ExpectedCracks => f.write_str("expected_cracks"),
            Measure::Function(function) => f.write_str(function.name()),
            Measure::Unusable { name, .. } => f.write_str(name),
        }
    }
}

impl Limit {
    pub fn allows(self, measured: f64) -> bool {
        match self {
            Limit::AtMost(limit) => measured <= limit,
            Limit::AtLeast(limit) => measured >= limit,
            Limit::Unknown => false,
        }
    }

    /// Returns the limit in words, for the end of a message.
    pub fn rule(self) -> String {
        match self {
            Limit::AtMost(_) => format!("{self} is allowed"),
            Limit::AtLeast(_) => format!("{self} is required"),
            Limit::Unknown => "the limit is unknown".into(),
        }
    }

    pub fn value(self) -> f64 {
        match self {
            Limit::AtMost(limit) | Limit::AtLeast(limit) => limit,
            Limit::Unknown => f64::NAN,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::AtMost(limit) => write!(f, "at most {limit}"),
            Limit::AtLeast(limit) => write!(f, "at least {limit}"),
            Limit::Unknown => f.write_str("unknown"),
        }
    }
}

impl OnRows {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "block" => Some(OnRows::Block),
            "drop" => Some(OnRows::Drop),
            "warn" => Some(OnRows::Warn),
            _ => None,
        }
    }
}
