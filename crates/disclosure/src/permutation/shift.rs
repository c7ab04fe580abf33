//! Comparison of a column with its released version: how far values were moved in rank, and how much noise
//! was added beyond that (section 3 of the paper).

use super::rank::RECORDS_PER_CHECK;
use super::spread::{root_mean_square, standard_deviation};
use super::{order_by_dense_ranks, rank_correlation, rank_shifts, reverse_map};
use crate::{Control, NULL, Result};

/// One side of a column, original or released: the dense rank of every record's value and, if values are
/// numbers, the number that every dense rank stands for.
#[derive(Debug, Clone, Copy)]
pub struct ColumnSide<'a> {
    /// Dense rank of every record's value. Records are in the same order on both sides.
    pub dense_ranks: &'a [u32],
    /// Number that each dense rank, starting at 1, stands for; `None` if values are not numbers.
    pub numbers: Option<&'a [f64]>,
}

/// Permutation of a column and the noise beyond it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ColumnShift {
    /// Rank correlation of the original and the reverse-mapped values, which have the ranks of the released
    /// values; `None` if a side has fewer than two different values.
    pub rank_correlation: Option<f64>,
    /// Mean number of ranks that a value has moved; `None` without records.
    pub mean: Option<f64>,
    /// Median number of ranks that a value has moved; of two in the middle, the lower one.
    pub median: Option<f64>,
    /// Largest number of ranks that a value has moved.
    pub max: Option<u64>,
    /// Mean shift in units of that of a random permutation; `None` with fewer than two records.
    pub relative_shift: Option<f64>,
    /// Root mean square of the noise that was added to the reverse-mapped values, over the records for which
    /// both values are finite numbers; `None` if there is no such record.
    pub residual_noise: Option<f64>,
    /// Residual noise in units of the standard deviation of the original values; `None` if they do not vary.
    pub noise_share: Option<f64>,
    /// Extent of the permutation; `None` if a side has fewer than two different values, so that there is
    /// nothing to permute.
    pub extent: Option<Extent>,
}

impl ColumnShift {
    /// Returns what holds for every column: the smallest shifts and noise share, the rank correlation with
    /// the largest absolute value, and the weakest extent. Columns in which there is nothing to permute are
    /// left out. There is no residual noise, because noise in different units cannot be compared.
    pub fn weakest(columns: &[ColumnShift]) -> Self {
        let columns: Vec<&ColumnShift> = columns.iter().filter(|column| column.extent.is_some()).collect();
        let least = |value: fn(&ColumnShift) -> Option<f64>| {
            let values = columns.iter().filter_map(|column| value(column));
            values.min_by(f64::total_cmp)
        };
        let correlations = columns.iter().filter_map(|column| column.rank_correlation);
        ColumnShift {
            rank_correlation: correlations.max_by(|one, other| one.abs().total_cmp(&other.abs())),
            mean: least(|column| column.mean),
            median: least(|column| column.median),
            max: columns.iter().filter_map(|column| column.max).min(),
            relative_shift: least(|column| column.relative_shift),
            residual_noise: None,
            noise_share: least(|column| column.noise_share),
            extent: columns.iter().filter_map(|column| column.extent).min(),
        }
    }
}

/// Averages over the columns in which there is something to permute.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AverageShift {
    /// Mean absolute value of the rank correlations.
    pub rank_correlation: Option<f64>,
    /// Mean of [`ColumnShift::relative_shift`].
    pub relative_shift: Option<f64>,
}

impl AverageShift {
    /// Returns the averages of these columns; each is `None` if there is nothing to average.
    pub fn from_columns(columns: &[ColumnShift]) -> Self {
        let columns = columns.iter().filter(|column| column.extent.is_some());
        let mean =
            |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        let correlations = columns.clone().filter_map(|column| column.rank_correlation);
        AverageShift {
            rank_correlation: mean(correlations.map(f64::abs).collect()),
            relative_shift: mean(columns.filter_map(|column| column.relative_shift).collect()),
        }
    }
}

/// Extent to which a column was permuted, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Extent {
    /// No rank has changed.
    NotPermuted,
    /// The rank correlation is significant (5 %): the released ranks tell something about the original ones.
    PartlyPermuted,
    /// The rank correlation is not significant (5 %), but with so few records one of 0.2 would not be
    /// significant either.
    Unknown,
    /// The rank correlation is not significant (5 %), although one of 0.2 would be.
    AsGoodAsRandom,
}

/// Rank correlation that would tell an adversary little.
const SMALL_CORRELATION: f64 = 0.2;

/// 97.5 % quantile of the standard normal distribution. The rank correlation of two independent columns of n
/// records, times √(n − 1), approximately follows this distribution.
const SIGNIFICANT_Z: f64 = 1.96;

/// Compares a column with its released version. Ties are broken by the same draw on both sides, so that an
/// unchanged column has not moved.
pub fn column_shift(
    original: ColumnSide,
    released: ColumnSide,
    seed: u64,
    control: &Control,
) -> Result<ColumnShift> {
    let before = order_by_dense_ranks(original.dense_ranks, seed, control)?;
    let after = order_by_dense_ranks(released.dense_ranks, seed, control)?;
    let mut moved = rank_shifts(&before, &after);
    let records = moved.len();
    let sum: u64 = moved.iter().map(|&moved| u64::from(moved)).sum();
    let max = moved.iter().max().map(|&moved| u64::from(moved));
    let mean = (records > 0).then(|| sum as f64 / records as f64);
    control.check()?;
    let median = (records > 0).then(|| f64::from(*moved.select_nth_unstable((records - 1) / 2).1));
    let rank_correlation = rank_correlation(original.dense_ranks, released.dense_ranks, control)?;
    let residual_noise = match (original.numbers, released.numbers) {
        (Some(of_original), Some(of_released)) => {
            let sources = reverse_map(&before, &after).into_iter();
            let mapped: Vec<u32> = sources
                .map(|source| original.dense_ranks[source as usize])
                .collect();
            noise(
                (&mapped, of_original),
                (released.dense_ranks, of_released),
                control,
            )?
        }
        _ => None,
    };
    let deviation = finite_values(original)
        .map(|values| standard_deviation(&values))
        .filter(|&deviation| deviation > 0.0);
    Ok(ColumnShift {
        rank_correlation,
        mean,
        median,
        max,
        relative_shift: mean
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
                _ if correlation.abs() * spread >= SIGNIFICANT_Z => Extent::PartlyPermuted,
                _ if SMALL_CORRELATION * spread < SIGNIFICANT_Z => Extent::Unknown,
                _ => Extent::AsGoodAsRandom,
            }
        }),
    })
}

/// Returns the mean number of ranks by which a random permutation moves a value.
fn mean_of_random(records: usize) -> f64 {
    let records = records as f64;
    (records * records - 1.0) / (3.0 * records)
}

/// Returns the root mean square of the released values minus the reverse-mapped ones; `None` if no record has
/// two finite values. Each column is given by its dense ranks and by the number that each of them stands for.
fn noise(
    (mapped, of_mapped): (&[u32], &[f64]),
    (released, of_released): (&[u32], &[f64]),
    control: &Control,
) -> Result<Option<f64>> {
    let finite = |dense_rank: u32, numbers: &[f64]| {
        let number = (dense_rank != NULL).then(|| numbers[dense_rank as usize - 1]);
        number.filter(|number| number.is_finite())
    };
    let mut halves = Vec::with_capacity(released.len());
    for (mapped, released) in mapped
        .chunks(RECORDS_PER_CHECK)
        .zip(released.chunks(RECORDS_PER_CHECK))
    {
        control.check()?;
        for (&mapped, &released) in mapped.iter().zip(released) {
            if let (Some(z), Some(y)) = (finite(mapped, of_mapped), finite(released, of_released)) {
                // Halves, because the difference of two finite numbers may be infinite.
                halves.push(y / 2.0 - z / 2.0);
            }
        }
    }
    Ok((!halves.is_empty()).then(|| 2.0 * root_mean_square(&halves)))
}

/// Returns the finite numbers that the values of the records count as; `None` if values are not numbers.
fn finite_values(side: ColumnSide) -> Option<Vec<f64>> {
    let numbers = side.numbers?;
    let present = side.dense_ranks.iter().filter(|&&dense_rank| dense_rank != NULL);
    let values = present.map(|&dense_rank| numbers[dense_rank as usize - 1]);
    Some(values.filter(|value| value.is_finite()).collect())
}
