//! Summary of a table's scores: their average and maximum, and the number of rows at or above a threshold.
//! Every score counts as often as its row occurs.

use super::{PackedTable, Scores};
use crate::{Error, Result};

/// Settings of a summary of scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SummarySettings {
    /// Score from which on a row is counted, from 0 to 1.
    pub threshold: f64,
}

impl Default for SummarySettings {
    fn default() -> Self {
        SummarySettings { threshold: 0.5 }
    }
}

impl SummarySettings {
    /// Checks that the settings are allowed.
    pub fn check(&self) -> Result<()> {
        Error::check_unit_interval("threshold", self.threshold)
    }
}

/// Summary of the scores of a table's rows, each counted as often as the row occurs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ScoreSummary {
    /// Number of rows.
    pub rows: u64,
    /// Mean of the scores, or of their upper bounds. Like the other optional figures, it is `None` if there
    /// are no rows.
    pub average: Option<f64>,
    /// Mean of the lower bounds.
    pub lower_average: Option<f64>,
    /// Highest score, or upper bound.
    pub maximum: Option<f64>,
    /// Number of rows with a score at or above the threshold.
    pub at_or_above: u64,
    /// Share of these rows among all rows.
    pub share: Option<f64>,
    /// Whether the figures are exact. If not, some searches ran out of time, and the figures except
    /// `lower_average` are upper bounds.
    pub exact: bool,
}

impl Scores {
    /// Returns a summary of these scores, which have to be those of the rows of `table`.
    pub fn summary(&self, table: &PackedTable, settings: &SummarySettings) -> Result<ScoreSummary> {
        settings.check()?;
        let each = |scores| each_row(scores, &table.multiplicity);
        let upper = Totals::of(each(&self.upper));
        let reaching = each(&self.upper).filter(|&(score, _)| score >= settings.threshold);
        let at_or_above = Totals::of(reaching).rows;
        let some = |figure: f64| (upper.rows > 0).then_some(figure);
        Ok(ScoreSummary {
            rows: upper.rows,
            average: some(upper.average()),
            lower_average: some(Totals::of(each(&self.lower)).average()),
            maximum: some(upper.maximum),
            at_or_above,
            share: some(at_or_above as f64 / upper.rows as f64),
            exact: self.exact(),
        })
    }
}

/// Returns the score and the multiplicity of every distinct row.
pub(super) fn each_row<'a>(
    scores: &'a [f64],
    multiplicity: &'a [u64],
) -> impl Iterator<Item = (f64, u64)> + 'a {
    scores.iter().copied().zip(multiplicity.iter().copied())
}

/// Number, sum and maximum of the scores of some rows.
#[derive(Clone, Copy)]
pub(super) struct Totals {
    pub rows: u64,
    sum: f64,
    pub maximum: f64,
}

impl Totals {
    /// Returns the totals of distinct rows with these scores and multiplicities.
    pub fn of(rows: impl Iterator<Item = (f64, u64)>) -> Self {
        let nothing = Totals {
            rows: 0,
            sum: 0.0,
            maximum: 0.0,
        };
        rows.fold(nothing, |totals, (score, multiplicity)| Totals {
            rows: totals.rows + multiplicity,
            sum: totals.sum + score * multiplicity as f64,
            maximum: totals.maximum.max(score),
        })
    }

    /// Returns the mean of the scores, or 0 if there are no rows.
    pub fn average(&self) -> f64 {
        if self.rows > 0 {
            self.sum / self.rows as f64
        } else {
            0.0
        }
    }
}
