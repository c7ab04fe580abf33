use super::rank::{ranks, Ties, PIECE};
use super::{rank_correlation, HalfRanks};
use crate::{Control, Result, NULL};

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
    pub verdict: Option<Extent>,
}

impl Shift {
    /// What holds for every column: the farthest that the least moved one has moved, and the largest correlation
    /// by its absolute value. Columns in which there is nothing to permute do not matter, and noise in
    /// different units cannot be compared.
    pub fn weakest(columns: &[Shift]) -> Self {
        let columns: Vec<&Shift> = columns.iter().filter(|column| column.verdict.is_some()).collect();
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
            verdict: columns.iter().filter_map(|column| column.verdict).min(),
        }
    }
}

/// What permutation a column has seen, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// No rank has changed.
    NotPermuted,
    /// Ranks tell something about the original ones.
    PartlyPermuted,
    /// The rank correlation is not significant (5 %).
    AsGoodAsRandom,
}

/// The 97.5 % quantile of the standard normal distribution, which a rank correlation of independent columns
/// times √(n − 1) follows.
const SIGNIFICANT: f64 = 1.96;

/// Compare a column with its anonymised version. Ties are broken by one draw for both, so that a column that was
/// not changed has not moved.
pub fn shift(original: Side, released: Side, seed: u64, control: &Control) -> Result<Shift> {
    let ties = Ties::Random { seed };
    let before = ranks(original.places, ties, control)?;
    let after = ranks(released.places, ties, control)?;
    let records = before.len();
    let mut moved: Vec<HalfRanks> = before.iter().zip(&after).map(|(x, y)| x.abs_diff(*y)).collect();
    let sum: u64 = moved.iter().map(|&moved| u64::from(moved)).sum();
    let max = moved.iter().max().map(|&moved| u64::from(moved) / 2);
    let mean = (records > 0).then(|| sum as f64 / 2.0 / records as f64);
    control.check()?;
    let median = (records > 0).then(|| {
        let (_, middle, _) = moved.select_nth_unstable((records - 1) / 2);
        f64::from(*middle) / 2.0
    });
    let rank_correlation = rank_correlation(original.places, released.places, control)?;
    let residual_noise = match (original.numbers, released.numbers) {
        (Some(x), Some(y)) => noise(
            (original.places, &before, x),
            (released.places, &after, y),
            control,
        )?,
        _ => None,
    };
    let deviation = original
        .numbers
        .and_then(|numbers| standard_deviation(original.places, numbers));
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
        verdict: rank_correlation.map(|correlation| {
            let spread = ((records - 1) as f64).sqrt();
            match max {
                Some(0) => Extent::NotPermuted,
                _ if correlation.abs() * spread < SIGNIFICANT => Extent::AsGoodAsRandom,
                _ => Extent::PartlyPermuted,
            }
        }),
    })
}

/// How far a random permutation moves a value on average.
fn mean_of_random(records: usize) -> f64 {
    let records = records as f64;
    (records * records - 1.0) / (3.0 * records)
}

/// The root mean square of the anonymised values less the reverse-mapped ones.
fn noise(
    (places, ranks, numbers): (&[u32], &[HalfRanks], &[f64]),
    (released, released_ranks, released_numbers): (&[u32], &[HalfRanks], &[f64]),
    control: &Control,
) -> Result<Option<f64>> {
    let mut sorted = vec![NULL; places.len()];
    for (&place, &rank) in places.iter().zip(ranks) {
        sorted[rank as usize / 2 - 1] = place;
    }
    let finite = |place: u32, numbers: &[f64]| {
        let number = (place != NULL).then(|| numbers[place as usize - 1]);
        number.filter(|number| number.is_finite())
    };
    let (mut squares, mut counted) = (0.0, 0u64);
    for (places, ranks) in released.chunks(PIECE).zip(released_ranks.chunks(PIECE)) {
        control.check()?;
        for (&place, &rank) in places.iter().zip(ranks) {
            let (y, z) = (
                finite(place, released_numbers),
                finite(sorted[rank as usize / 2 - 1], numbers),
            );
            if let (Some(y), Some(z)) = (y, z) {
                squares += (y - z) * (y - z);
                counted += 1;
            }
        }
    }
    Ok((counted > 0).then(|| (squares / counted as f64).sqrt()))
}

/// Of the finite values of all records; `None` where it is 0.
fn standard_deviation(places: &[u32], numbers: &[f64]) -> Option<f64> {
    let values = || {
        let present = places.iter().filter(|&&place| place != NULL);
        present
            .map(|&place| numbers[place as usize - 1])
            .filter(|number| number.is_finite())
    };
    let count = values().count() as f64;
    let mean = values().map(|value| value / count).sum::<f64>();
    let variance = values().map(|value| (value - mean).powi(2) / count).sum::<f64>();
    (variance > 0.0).then(|| variance.sqrt())
}
