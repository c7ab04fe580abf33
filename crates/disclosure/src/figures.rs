//! The everyday figures that a policy or a preset can limit, under the names that `risk_summary` and `diversity` give
//! them.

use crate::classes::{Diversity, HIGH_RISKS, RiskSummary, SMALL_SIZES};

/// Figure about the people, or rows, of a release, and the sizes of their classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RiskFigure {
    /// Highest risk of anybody, by a prosecutor.
    ProsecutorHighest,
    /// Average risk of all, by a prosecutor.
    ProsecutorAverage,
    /// Share whose risk is above one in [`HIGH_RISKS`], by the place there.
    ProsecutorAbove(usize),
    /// Expected share of correct matches.
    Marketer,
    /// Share in classes smaller than one of [`SMALL_SIZES`], by the place there.
    ShareBelow(usize),
    /// Number of those who are alone in their class.
    Uniques,
}

/// Figure about the values of a sensitive column in a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiversityFigure {
    /// Number of distinct values.
    LDistinct,
    /// Entropy l-diversity.
    LEntropy,
    /// Recursive (c,l)-diversity.
    LRecursive,
    /// Share of the most frequent value.
    Alpha,
    /// t-closeness by equal distance.
    TEqual,
    /// t-closeness by ordered distance.
    TOrdered,
    /// Basic β-likeness.
    Beta,
    /// Enhanced β-likeness.
    BetaEnhanced,
    /// Enhanced β-likeness as Cao and Karras define it.
    BetaEnhancedStrict,
    /// δ-disclosure.
    Delta,
}

/// Figure about single people, of which a statistic is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonFigure {
    /// SUDA score.
    Suda,
    /// Individual risk, by sampling weights.
    IndividualRisk,
}

/// Number of columns that do not belong in what is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnFigure {
    /// Columns that identify one individual on their own.
    Identifiers,
    /// Columns without a label.
    Unlabelled,
}

/// Names of the figures about people.
const RISKS: [(&str, RiskFigure); 11] = [
    ("prosecutor_highest", RiskFigure::ProsecutorHighest),
    ("prosecutor_average", RiskFigure::ProsecutorAverage),
    ("prosecutor_above_5", RiskFigure::ProsecutorAbove(0)),
    ("prosecutor_above_11", RiskFigure::ProsecutorAbove(1)),
    ("prosecutor_above_20", RiskFigure::ProsecutorAbove(2)),
    ("marketer", RiskFigure::Marketer),
    ("share_below_3", RiskFigure::ShareBelow(0)),
    ("share_below_5", RiskFigure::ShareBelow(1)),
    ("share_below_11", RiskFigure::ShareBelow(2)),
    ("share_below_20", RiskFigure::ShareBelow(3)),
    ("uniques", RiskFigure::Uniques),
];
const _: () = assert!(HIGH_RISKS[0] == 5 && HIGH_RISKS[1] == 11 && HIGH_RISKS[2] == 20);
const _: () =
    assert!(SMALL_SIZES[0] == 3 && SMALL_SIZES[1] == 5 && SMALL_SIZES[2] == 11 && SMALL_SIZES[3] == 20);

/// Names of the figures about sensitive values.
const DIVERSITIES: [(&str, DiversityFigure); 10] = [
    ("l_distinct", DiversityFigure::LDistinct),
    ("l_entropy", DiversityFigure::LEntropy),
    ("l_recursive", DiversityFigure::LRecursive),
    ("alpha", DiversityFigure::Alpha),
    ("t_equal", DiversityFigure::TEqual),
    ("t_ordered", DiversityFigure::TOrdered),
    ("beta", DiversityFigure::Beta),
    ("beta_enhanced", DiversityFigure::BetaEnhanced),
    ("beta_enhanced_strict", DiversityFigure::BetaEnhancedStrict),
    ("delta", DiversityFigure::Delta),
];

/// Names of the figures about single people.
const PERSONS: [(&str, PersonFigure); 2] = [
    ("suda", PersonFigure::Suda),
    ("individual_risk", PersonFigure::IndividualRisk),
];

/// Names of the figures about columns.
const COLUMNS: [(&str, ColumnFigure); 2] = [
    ("identifier_columns", ColumnFigure::Identifiers),
    ("unlabelled_columns", ColumnFigure::Unlabelled),
];

/// Returns the names of all figures.
pub fn names() -> impl Iterator<Item = &'static str> {
    let risks = RISKS.iter().map(|(name, _)| *name);
    let diversities = DIVERSITIES.iter().map(|(name, _)| *name);
    let persons = PERSONS.iter().map(|(name, _)| *name);
    let columns = COLUMNS.iter().map(|(name, _)| *name);
    risks.chain(diversities).chain(persons).chain(columns)
}

/// Returns the name in a table of names.
fn name_in<T: PartialEq>(table: &[(&'static str, T)], figure: &T) -> &'static str {
    let found = table.iter().find(|(_, other)| other == figure);
    found.map_or("", |(name, _)| name)
}

/// Returns what has this name in a table of names.
pub(crate) fn named_in<T: Copy>(table: &[(&'static str, T)], name: &str) -> Option<T> {
    let found = table.iter().find(|(other, _)| *other == name);
    found.map(|(_, figure)| *figure)
}

impl RiskFigure {
    /// Returns the figure with this name.
    pub fn named(name: &str) -> Option<Self> {
        named_in(&RISKS, name)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        name_in(&RISKS, &self)
    }

    /// Returns the largest value that the figure can have.
    pub fn largest(self) -> f64 {
        match self {
            RiskFigure::Uniques => f64::MAX,
            _ => 1.0,
        }
    }

    /// Returns the figure; `None` if there are no rows.
    pub fn of(self, summary: &RiskSummary) -> Option<f64> {
        let prosecutor = summary.prosecutor?;
        match self {
            RiskFigure::ProsecutorHighest => Some(prosecutor.highest),
            RiskFigure::ProsecutorAverage => Some(prosecutor.average),
            RiskFigure::ProsecutorAbove(place) => prosecutor.above.get(place).copied(),
            RiskFigure::Marketer => summary.marketer,
            RiskFigure::ShareBelow(place) => summary.share_below?.get(place).copied(),
            RiskFigure::Uniques => Some(summary.uniques as f64),
        }
    }
}

impl ColumnFigure {
    /// Returns the figure with this name.
    pub fn named(name: &str) -> Option<Self> {
        named_in(&COLUMNS, name)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        name_in(&COLUMNS, &self)
    }
}

impl PersonFigure {
    /// Returns the figure with this name.
    pub fn named(name: &str) -> Option<Self> {
        named_in(&PERSONS, name)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        name_in(&PERSONS, &self)
    }

    /// Returns the largest value that the figure can have.
    pub fn largest(self) -> f64 {
        match self {
            PersonFigure::Suda => f64::MAX,
            PersonFigure::IndividualRisk => 1.0,
        }
    }
}

impl DiversityFigure {
    /// Returns the figure with this name.
    pub fn named(name: &str) -> Option<Self> {
        named_in(&DIVERSITIES, name)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        name_in(&DIVERSITIES, &self)
    }

    /// Returns whether a larger value is safer, so that the figure is limited by `at_least`.
    pub fn protects(self) -> bool {
        matches!(
            self,
            DiversityFigure::LDistinct | DiversityFigure::LEntropy | DiversityFigure::LRecursive
        )
    }

    /// Returns the largest value that the figure can have.
    pub fn largest(self) -> f64 {
        match self {
            DiversityFigure::Alpha | DiversityFigure::TEqual | DiversityFigure::TOrdered => 1.0,
            _ => f64::MAX,
        }
    }

    /// Returns the worst value that the figure can have.
    pub fn worst(self) -> f64 {
        match (self.protects(), self.largest()) {
            (true, _) => 1.0,
            (false, f64::MAX) => f64::INFINITY,
            (false, largest) => largest,
        }
    }

    /// Returns the worse of two values.
    pub fn worse(self, one: f64, other: f64) -> f64 {
        match self.protects() {
            true => one.min(other),
            false => one.max(other),
        }
    }

    /// Returns the figure. Values without an order are taken to be equally far apart, which is never less.
    pub fn of(self, diversity: &Diversity) -> f64 {
        match self {
            DiversityFigure::LDistinct => diversity.l_distinct as f64,
            DiversityFigure::LEntropy => diversity.l_entropy,
            DiversityFigure::LRecursive => diversity.l_recursive as f64,
            DiversityFigure::Alpha => diversity.alpha,
            DiversityFigure::TEqual => diversity.t_equal,
            DiversityFigure::TOrdered => diversity.t_ordered.unwrap_or(diversity.t_equal),
            DiversityFigure::Beta => diversity.beta,
            DiversityFigure::BetaEnhanced => diversity.beta_enhanced,
            DiversityFigure::BetaEnhancedStrict => diversity.beta_enhanced_strict,
            DiversityFigure::Delta => diversity.delta,
        }
    }
}
