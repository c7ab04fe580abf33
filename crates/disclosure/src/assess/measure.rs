//! What a criterion can limit.

use crate::classes::{HIGH_RISKS, RiskSummary};
use crate::figures::{ColumnFigure, DiversityFigure, RiskFigure, named_in};

/// What a criterion limits. The names are those of the outputs that have the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Number of columns that do not belong in the table.
    Columns(ColumnFigure),
    /// Number of columns of certain categories of personal data.
    CategoryColumns,
    /// Largest value in columns of certain names, such as ages.
    LargestValue,
    /// Number of people, or rows, in the smallest class.
    KAnonymity,
    /// Figure about the risk of everybody in their class.
    Risk(RiskFigure),
    /// Figure about a table and the population that its people come from.
    Population(PopulationFigure),
    /// Figure about the sensitive values of a class.
    Diversity(DiversityFigure),
    /// Highest privacy score.
    PrivacyScore,
    /// Figure about tables of counts and sums. It cannot be measured of rows.
    Aggregate(AggregateFigure),
}

/// Figure about a table and the population that its people come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PopulationFigure {
    /// Smallest number of people of the population who share the known values of somebody in the table.
    KMap,
    /// Highest risk of anybody, by a journalist.
    JournalistHighest,
    /// Average risk of all, by a journalist.
    JournalistAverage,
    /// Share whose risk is above one in [`HIGH_RISKS`], by the place there.
    JournalistAbove(usize),
    /// Highest probability that somebody of the population is in the table.
    DeltaPresenceHighest,
}

/// Figure about tables of counts and sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregateFigure {
    /// Smallest number of people behind a cell that is not empty.
    SmallestCount,
    /// Largest share of a sum that a few contributors have together.
    Dominance,
    /// How closely the largest contributor can be estimated by the second largest, relative to its size.
    PPercent,
    /// Number to whose multiples all counts are rounded.
    Rounding,
}

/// Limits that a measure can have.
pub(super) enum Limits {
    /// The largest value that is allowed, from 0 to 1.
    LargestShare,
    /// The largest value that is allowed, 0 or more.
    Largest,
    /// The smallest value that is allowed, 0 or more.
    Smallest,
}

/// Names of the measures, besides those of [`ColumnFigure`], [`RiskFigure`] and [`DiversityFigure`].
const MEASURES: [(&str, Measure); 15] = [
    ("category_columns", Measure::CategoryColumns),
    ("largest_value", Measure::LargestValue),
    ("k_anonymity", Measure::KAnonymity),
    ("privacy_score", Measure::PrivacyScore),
    ("k_map", Measure::Population(PopulationFigure::KMap)),
    (
        "journalist_highest",
        Measure::Population(PopulationFigure::JournalistHighest),
    ),
    (
        "journalist_average",
        Measure::Population(PopulationFigure::JournalistAverage),
    ),
    (
        "journalist_above_5",
        Measure::Population(PopulationFigure::JournalistAbove(0)),
    ),
    (
        "journalist_above_11",
        Measure::Population(PopulationFigure::JournalistAbove(1)),
    ),
    (
        "journalist_above_20",
        Measure::Population(PopulationFigure::JournalistAbove(2)),
    ),
    (
        "delta_presence_highest",
        Measure::Population(PopulationFigure::DeltaPresenceHighest),
    ),
    (
        "smallest_count",
        Measure::Aggregate(AggregateFigure::SmallestCount),
    ),
    ("dominance", Measure::Aggregate(AggregateFigure::Dominance)),
    ("p_percent", Measure::Aggregate(AggregateFigure::PPercent)),
    ("rounding", Measure::Aggregate(AggregateFigure::Rounding)),
];
const _: () = assert!(HIGH_RISKS[0] == 5 && HIGH_RISKS[1] == 11 && HIGH_RISKS[2] == 20);

impl Measure {
    /// Returns the measure with this name.
    pub fn named(name: &str) -> Option<Self> {
        named_in(&MEASURES, name)
            .or_else(|| ColumnFigure::named(name).map(Measure::Columns))
            .or_else(|| RiskFigure::named(name).map(Measure::Risk))
            .or_else(|| DiversityFigure::named(name).map(Measure::Diversity))
    }

    /// Returns the names of all measures.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let figures = crate::figures::names().filter(|name| Measure::named(name).is_some());
        MEASURES.iter().map(|(name, _)| *name).chain(figures)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Columns(figure) => figure.name(),
            Measure::Risk(figure) => figure.name(),
            Measure::Diversity(figure) => figure.name(),
            _ => {
                let found = MEASURES.iter().find(|(_, other)| *other == self);
                found.map_or("", |(name, _)| name)
            }
        }
    }

    /// Returns whether the measure is about tables of counts and sums, and not about rows.
    pub fn is_of_aggregates(self) -> bool {
        matches!(self, Measure::Aggregate(_))
    }

    pub(super) fn limits(self) -> Limits {
        let at_most = |largest: f64| match largest {
            1.0 => Limits::LargestShare,
            _ => Limits::Largest,
        };
        match self {
            Measure::KAnonymity
            | Measure::Population(PopulationFigure::KMap)
            | Measure::Aggregate(
                AggregateFigure::SmallestCount | AggregateFigure::PPercent | AggregateFigure::Rounding,
            ) => Limits::Smallest,
            Measure::Diversity(figure) if figure.protects() => Limits::Smallest,
            Measure::Diversity(figure) => at_most(figure.largest()),
            Measure::Risk(figure) => at_most(figure.largest()),
            Measure::Population(_) | Measure::PrivacyScore | Measure::Aggregate(_) => Limits::LargestShare,
            Measure::Columns(_) | Measure::CategoryColumns | Measure::LargestValue => Limits::Largest,
        }
    }
}

impl PopulationFigure {
    /// Returns the figure; `None` if nobody of the table is in the population.
    pub fn of(self, summary: &RiskSummary) -> Option<f64> {
        match self {
            PopulationFigure::KMap => summary.population?.k_map.map(|k| k as f64),
            PopulationFigure::JournalistHighest => Some(summary.journalist?.highest),
            PopulationFigure::JournalistAverage => Some(summary.journalist?.average),
            PopulationFigure::JournalistAbove(place) => summary.journalist?.above.get(place).copied(),
            PopulationFigure::DeltaPresenceHighest => summary.population?.presence_highest,
        }
    }
}
