//! Report of an attack entry by entry, and its summary in one row of figures.
//!
//! Both combine methods: crack probabilities come from the method of the settings, the likeliest columns from
//! exact sums or belief propagation, and figures that need exact sums are left out of a summary if they are
//! too expensive.

use super::{
    Estimate, Exact, Matrix, Method, Settings, Truth, degree_of_anonymity, edge_probabilities, estimate,
    heuristic, ln_permanent_bounds, shares,
};
use crate::{Control, Result};

/// Risk of one entry.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EntryRisk {
    /// Likeliest column and its probability; the first one if several are equally likely.
    pub likeliest: Option<(u32, f64)>,
    /// Weight of the true edge as a share of the row's total, or of the column's if there are fewer columns
    /// than rows; `None` if the true code is unknown.
    pub share: Option<f64>,
    /// Probability that the entry is matched with its true column; `None` if the true code is unknown.
    pub crack_probability: Option<f64>,
}

/// An attack, entry by entry.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Report {
    /// One element for every row of the matrix.
    pub entries: Vec<EntryRisk>,
    /// Method that computed the crack probabilities; never [`Method::Auto`].
    pub method: Method,
    /// Whether a sample reached its relative error; true for other methods.
    pub is_precise_enough: bool,
}

/// An attack in one row of figures.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Summary {
    /// Number of edges that lie in some perfect matching.
    pub possible_edges: usize,
    /// Number of independent blocks; `None` if the weights are marginals, which say nothing about that.
    pub blocks: Option<usize>,
    /// Natural logarithm of the permanent; `None` if it is too expensive, or if the weights are marginals.
    pub ln_permanent: Option<f64>,
    /// Lower and upper bound of that logarithm, see [`ln_permanent_bounds`]; both are the logarithm itself if
    /// it is known.
    pub ln_permanent_bounds: Option<(f64, f64)>,
    /// Share of the uncertainty that remains: see [`degree_of_anonymity`]; `None` if it is too expensive.
    pub degree_of_anonymity: Option<f64>,
    /// Expected cracks; `None` without a true mapping.
    pub cracks: Option<Estimate>,
    /// The heuristic H of Malik 2014: see [`heuristic`]; `None` without a true mapping.
    pub heuristic: Option<f64>,
    /// Number of cracks that are tolerated; `None` without a tolerance.
    pub tolerated: Option<f64>,
    /// Whether the expected cracks are within the tolerance of the settings; `None` if that is unknown:
    /// without a tolerance or a true mapping, for an approximation without an error bound, if the interval of
    /// a sample contains the limit, or if entries whose code is unknown might exceed it.
    pub is_within: Option<bool>,
}

/// Factor by which a probability has to exceed another one to count as larger, because of rounding.
const MORE_THAN_ROUNDING: f64 = 1.0 + 1e-9;

/// Returns the risk of every entry, or an error if there is no perfect matching. Crack probabilities come
/// from the method of the settings, so that they sum to the expected cracks of [`estimate`]. If that method
/// is not exact, the likeliest columns come from belief propagation, because a sample says little about
/// single edges.
pub fn report(
    matrix: &Matrix,
    truth: Option<&Truth>,
    settings: &Settings,
    control: &Control,
) -> Result<Report> {
    let edge_settings = Settings {
        method: match settings.method {
            Method::Auto | Method::Exact | Method::Marginals => settings.method,
            Method::Bethe | Method::Sample | Method::Heuristic => Method::Bethe,
        },
        ..settings.clone()
    };
    let edges = edge_probabilities(matrix, &edge_settings, control)?;
    let shares = shares(matrix);
    let of_entry = |row: usize| {
        let column = truth.and_then(|truth| truth.columns()[row]);
        let of_true_edge = |of_edges: &[f64]| {
            let edge = column.map(|column| matrix.edge_index(row, column));
            edge.map(|edge| edge.map_or(0.0, |edge| of_edges[edge]))
        };
        EntryRisk {
            likeliest: likeliest(matrix, &edges.probability, row),
            share: of_true_edge(&shares),
            crack_probability: of_true_edge(&edges.probability),
        }
    };
    let mut report = Report {
        entries: (0..matrix.size()).map(of_entry).collect(),
        method: edges.method,
        is_precise_enough: true,
    };
    let is_by_requested_method =
        edges.method == Method::Exact || matches!(settings.method, Method::Bethe | Method::Marginals);
    if let Some(truth) = truth.filter(|_| !is_by_requested_method) {
        let found = estimate(matrix, truth, settings, control)?;
        let of_entries = report.entries.iter_mut().zip(found.crack_probability);
        for (entry, probability) in of_entries.filter(|(entry, _)| entry.crack_probability.is_some()) {
            entry.crack_probability = Some(probability);
        }
        (report.method, report.is_precise_enough) = (found.method, found.is_precise_enough);
    }
    Ok(report)
}

/// Returns the likeliest column of a row, and its probability.
fn likeliest(matrix: &Matrix, probability: &[f64], row: usize) -> Option<(u32, f64)> {
    let columns = matrix.row(row).map(|(column, _)| column);
    let edges = columns.zip(probability[matrix.edge_range(row)].iter().copied());
    edges.reduce(|best, edge| {
        if edge.1 > best.1 * MORE_THAN_ROUNDING {
            edge
        } else {
            best
        }
    })
}

/// Returns the summary of an attack. Figures that need exact sums are left out if they are too expensive;
/// with [`Method::Exact`] that is an error.
pub fn summary(
    matrix: &Matrix,
    truth: Option<&Truth>,
    settings: &Settings,
    control: &Control,
) -> Result<Summary> {
    settings.check()?;
    let mut summary = match settings.method {
        Method::Marginals => {
            edge_probabilities(matrix, settings, control)?;
            Summary {
                possible_edges: matrix.edge_count(),
                ..Summary::default()
            }
        }
        _ => of_matchings(matrix, settings, control)?,
    };
    summary.tolerated = settings.tolerance.map(|share| share * matrix.size() as f64);
    if let Some(truth) = truth {
        let cracks = estimate(matrix, truth, settings, control)?;
        let unknown = unknown(matrix, truth);
        summary.is_within = summary
            .tolerated
            .and_then(|tolerated| is_within(&cracks, tolerated, unknown));
        summary.cracks = Some(cracks);
        summary.heuristic = Some(heuristic(matrix, truth));
    }
    Ok(summary)
}

/// Returns the part of a summary that does not depend on the true mapping.
fn of_matchings(matrix: &Matrix, settings: &Settings, control: &Control) -> Result<Summary> {
    let exact = Exact::new(matrix, control)?;
    let mut summary = Summary {
        possible_edges: exact.possible_edges(),
        blocks: Some(exact.blocks()),
        ..Summary::default()
    };
    match settings.check_cost(&exact) {
        Ok(()) => {
            let ln_permanent = exact.permanent(control)?.ln();
            summary.degree_of_anonymity = Some(degree_of_anonymity(matrix, control)?);
            summary.ln_permanent = Some(ln_permanent);
            summary.ln_permanent_bounds = Some((ln_permanent, ln_permanent));
        }
        Err(too_expensive) if settings.method == Method::Exact => return Err(too_expensive),
        Err(_) => summary.ln_permanent_bounds = ln_permanent_bounds(matrix, control)?,
    }
    Ok(summary)
}

/// Returns the largest number of entries that might have a code although it is unknown.
fn unknown(matrix: &Matrix, truth: &Truth) -> f64 {
    let known = truth.columns().iter().flatten().count();
    (matrix.size().min(matrix.width()) - known) as f64
}

/// Returns whether at most the tolerated number of cracks is expected, if up to `unknown` further entries
/// might be cracked; `None` if the interval does not say.
fn is_within(cracks: &Estimate, tolerated: f64, unknown: f64) -> Option<bool> {
    let (lower, upper) = cracks.lower.zip(cracks.upper)?;
    let upper = upper + unknown;
    // A margin for rounding, so that 29 of 100 entries are within a tolerance of 0.29.
    let limit = tolerated + 1e-9;
    match (upper <= limit, lower > limit) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use std::time::Duration;

    /// Returns an attack with the permanent 0.74, of which the diagonal is 0.72.
    fn small() -> (Matrix, Truth) {
        let matrix = Matrix::dense(2, 2, &[0.9, 0.1, 0.2, 0.8]).unwrap();
        let truth = Truth::new(&matrix, vec![Some(0), None]).unwrap();
        (matrix, truth)
    }

    fn with(method: Method) -> Settings {
        Settings {
            method,
            ..Settings::default()
        }
    }

    #[test]
    fn only_entries_with_a_known_code_can_be_cracked() {
        let (matrix, truth) = small();
        let found = report(&matrix, Some(&truth), &with(Method::Auto), &Control::new()).unwrap();
        let [first, second] = found.entries[..] else {
            panic!("{found:?}")
        };
        assert_eq!((found.method, found.is_precise_enough), (Method::Exact, true));
        assert!((first.crack_probability.unwrap() - 0.72 / 0.74).abs() < 1e-12);
        assert_eq!(first.likeliest.unwrap().0, 0);
        assert!((first.share.unwrap() - 0.9).abs() < 1e-12);
        assert_eq!((second.share, second.crack_probability), (None, None));
        assert_eq!(second.likeliest.unwrap().0, 1);
    }

    #[test]
    fn cracks_are_those_of_the_method_and_the_likeliest_column_is_not() {
        let (matrix, truth) = small();
        for method in [Method::Bethe, Method::Sample, Method::Heuristic] {
            let settings = with(method);
            let found = report(&matrix, Some(&truth), &settings, &Control::new()).unwrap();
            let expected = estimate(&matrix, &truth, &settings, &Control::new()).unwrap();
            assert_eq!(found.method, method);
            assert_eq!(
                found.entries[0].crack_probability,
                Some(expected.crack_probability[0])
            );
            let by_bethe = report(&matrix, None, &with(Method::Bethe), &Control::new()).unwrap();
            assert_eq!(found.entries[0].likeliest, by_bethe.entries[0].likeliest);
        }
    }

    #[test]
    fn of_equally_likely_columns_the_first_is_named() {
        let ones = Matrix::dense(3, 3, &[0.1; 9]).unwrap();
        let found = report(&ones, None, &Settings::default(), &Control::new()).unwrap();
        assert!(
            found
                .entries
                .iter()
                .all(|entry| entry.likeliest.is_some_and(|(column, _)| column == 0))
        );
    }

    #[test]
    fn a_summary_leaves_out_what_is_too_expensive() {
        let (matrix, truth) = small();
        let whole = summary(&matrix, Some(&truth), &Settings::default(), &Control::new()).unwrap();
        assert_eq!((whole.possible_edges, whole.blocks), (4, Some(1)));
        assert!((whole.ln_permanent.unwrap() - 0.74_f64.ln()).abs() < 1e-12);
        assert!((whole.heuristic.unwrap() - 0.9).abs() < 1e-12);
        let hasty = |method| Settings {
            budget: Some(Duration::ZERO),
            ..with(method)
        };
        let part = summary(&matrix, Some(&truth), &hasty(Method::Auto), &Control::new()).unwrap();
        assert_eq!((part.ln_permanent, part.degree_of_anonymity), (None, None));
        assert_eq!(part.cracks.unwrap().method, Method::Bethe);
        let refused = summary(&matrix, None, &hasty(Method::Exact), &Control::new());
        assert!(matches!(
            refused,
            Err(Error::InvalidArgument {
                argument: "method",
                ..
            })
        ));
    }

    #[test]
    fn settings_are_checked_whatever_the_method() {
        let (matrix, truth) = small();
        for method in [
            Method::Auto,
            Method::Exact,
            Method::Bethe,
            Method::Sample,
            Method::Heuristic,
        ] {
            let settings = Settings {
                relative_error: -1.0,
                ..with(method)
            };
            let argument = Err(settings.check().unwrap_err());
            assert_eq!(
                report(&matrix, Some(&truth), &settings, &Control::new()),
                argument
            );
            let argument = Err(settings.check().unwrap_err());
            assert_eq!(summary(&matrix, None, &settings, &Control::new()), argument);
        }
    }
}
