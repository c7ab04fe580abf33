use super::rank::PIECE;
use super::spread::{root_mean_square, standard_deviation};
use super::{order_of_places, rank_correlation, rank_shifts, reverse_map};
use crate::{Control, NULL, Result};

/// One side of a column: the place of every record's value, and the number that every place stands for
/// where values are numbers.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// Records in the same order on both sides.
    pub places: &'a [u32],
    /// By place from 1; `None` where values are not numbers.
    pub numbers: Option<&'a [f64]>,
}

/// How much a column was permuted, and what else was done to it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Shift {
    /// Between the original and the reverse-mapped values; `None` where a side has less than two values.
    pub rank_correlation: Option<f64>,
    /// Ranks that a value has moved; `None` without records.
    pub mean: Option<f64>,
    /// The lower one of two in the middle.
    pub median: Option<f64>,
    /// The farthest that a value has moved.
    pub max: Option<u64>,
    /// The mean shift in units of that of a random permutation; `None` with less than two records.
    pub permutation: Option<f64>,
    /// The root mean square of what was added to the reverse-mapped values, over records where both are
    /// finite numbers; `None` where there is no such record.
    pub residual_noise: Option<f64>,
    /// The residual noise in units of the standard deviation of the original values; `None` where they do
    /// not vary.
    pub noise_share: Option<f64>,
    /// `None` where a side has less than two values, and there is nothing to permute.
    pub extent: Option<Extent>,
}

impl Shift {
    /// What holds for every column: the farthest that the least moved one has moved, and the largest correlation
    /// by its absolute value. Columns in which there is nothing to permute do not matter, and noise in
    /// different units cannot be compared.
    pub fn weakest(columns: &[Shift]) -> Self {
        let columns: Vec<&Shift> = columns.iter().filter(|column| column.extent.is_some()).collect();
        let least = |value: fn(&Shift) -> Option<f64>| {
            let values = columns.iter().filter_map(|column| value(column));
            values.min_by(f64::total_cmp)
        };
        let correlations = columns.iter().filter_map(|column| column.rank_correlation);
        Shift {
            rank_correlation: correlations.max_by(|one, other| one.abs().total_cmp(&other.abs())),
            mean: least(|column| column.mean),
            median: least(|column| column.median),
            max: columns.iter().filter_map(|column| column.max).min(),
            permutation: least(|column| column.permutation),
            residual_noise: None,
            noise_share: least(|column| column.noise_share),
            extent: columns.iter().filter_map(|column| column.extent).min(),
        }
    }
}

/// What columns have seen on average, as far as there is something to permute.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Average {
    /// Of the absolute values.
    pub rank_correlation: Option<f64>,
    /// In units of a random permutation.
    pub permutation: Option<f64>,
}

impl Average {
    /// Of these columns; `None` where there is none to count.
    pub fn of(columns: &[Shift]) -> Self {
        let columns = columns.iter().filter(|column| column.extent.is_some());
        let mean =
            |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        let correlations = columns.clone().filter_map(|column| column.rank_correlation);
        Average {
            rank_correlation: mean(correlations.map(f64::abs).collect()),
            permutation: mean(columns.filter_map(|column| column.permutation).collect()),
        }
    }
}

/// What permutation a column has seen, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Extent {
    /// No rank has changed.
    NotPermuted,
    /// Ranks tell something about the original ones.
    PartlyPermuted,
    /// The rank correlation is not significant (5 %), but there are so few records that one of 0.2 would
    /// not be, either.
    Undecided,
    /// The rank correlation is not significant (5 %), though one of 0.2 would be.
    AsGoodAsRandom,
}

/// A rank correlation that would tell an adversary little.
const SMALL: f64 = 0.2;

/// The 97.5 % quantile of the standard normal distribution, which a rank correlation of independent columns
/// times √(n − 1) follows.
const SIGNIFICANT: f64 = 1.96;

/// Compares a column with its anonymised version. Ties are broken by one draw for both, so that a column that was
/// not changed has not moved.
pub fn shift(original: Side, released: Side, seed: u64, control: &Control) -> Result<Shift> {
    let before = order_of_places(original.places, seed, control)?;
    let after = order_of_places(released.places, seed, control)?;
    let mut moved = rank_shifts(&before, &after);
    let records = moved.len();
    let sum: u64 = moved.iter().map(|&moved| u64::from(moved)).sum();
    let max = moved.iter().max().map(|&moved| u64::from(moved));
    let mean = (records > 0).then(|| sum as f64 / records as f64);
    control.check()?;
    let median = (records > 0).then(|| f64::from(*moved.select_nth_unstable((records - 1) / 2).1));
    let rank_correlation = rank_correlation(original.places, released.places, control)?;
    let residual_noise = match (original.numbers, released.numbers) {
        (Some(of_original), Some(of_released)) => {
            let sources = reverse_map(&before, &after).into_iter();
            let mapped: Vec<u32> = sources.map(|source| original.places[source as usize]).collect();
            noise((&mapped, of_original), (released.places, of_released), control)?
        }
        _ => None,
    };
    let deviation = finite_values(original)
        .map(|values| standard_deviation(&values))
        .filter(|&deviation| deviation > 0.0);
    Ok(Shift {
        rank_correlation,
        mean,
        median,
        max,
        permutation: mean
            .filter(|_| records > 1)
            .map(|mean| mean / mean_of_random(records)),
        residual_noise,
        noise_share: residual_noise
            .zip(deviation)
            .map(|(noise, deviation)| noise / deviation),
        extent: rank_correlation.map(|correlation| {
            let spread = ((records - 1) as f64).sqrt();
            match max {
                Some(0) => Extent::NotPermuted,
                _ if correlation.abs() * spread >= SIGNIFICANT => Extent::PartlyPermuted,
                _ if SMALL * spread < SIGNIFICANT => Extent::Undecided,
                _ => Extent::AsGoodAsRandom,
            }
        }),
    })
}

/// How far a random permutation moves a value on average.
fn mean_of_random(records: usize) -> f64 {
    let records = records as f64;
    (records * records - 1.0) / (3.0 * records)
}

/// The root mean square of the anonymised values less the reverse-mapped ones, of which both the places, and the
/// numbers by place, are given.
fn noise(
    (mapped, of_mapped): (&[u32], &[f64]),
    (released, of_released): (&[u32], &[f64]),
    control: &Control,
) -> Result<Option<f64>> {
    let finite = |place: u32, numbers: &[f64]| {
        let number = (place != NULL).then(|| numbers[place as usize - 1]);
        number.filter(|number| number.is_finite())
    };
    let mut halves = Vec::with_capacity(released.len());
    for (mapped, released) in mapped.chunks(PIECE).zip(released.chunks(PIECE)) {
        control.check()?;
        for (&mapped, &released) in mapped.iter().zip(released) {
            if let (Some(z), Some(y)) = (finite(mapped, of_mapped), finite(released, of_released)) {
                // Of any two numbers, the halves have a difference that is not infinite.
                halves.push(y / 2.0 - z / 2.0);
            }
        }
    }
    Ok((!halves.is_empty()).then(|| 2.0 * root_mean_square(&halves)))
}

/// What the values of all records count as, as far as they are finite.
fn finite_values(side: Side) -> Option<Vec<f64>> {
    let numbers = side.numbers?;
    let present = side.places.iter().filter(|&&place| place != NULL);
    let values = present.map(|&place| numbers[place as usize - 1]);
    Some(values.filter(|value| value.is_finite()).collect())
}
