//! Numbers and dates in bins, so that near values become one attribute.

use crate::encode::dictionary::Dictionary;
use crate::encode::scale::Scale;
use crate::error::Problem;

/// How a column's values are to be put into bins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Binning {
    /// This many bins, all with about the same number of rows.
    EqualFrequency(usize),
    /// From a multiple of the width up to the next one; for dates and timestamps it is in days, and the
    /// multiples count from 2000-01-01, as Postgres does itself.
    EqualWidth(f64),
}

/// The bins of a column.
pub struct Bins {
    scale: Scale,
    bins: Vec<Bin>,
}

enum Bin {
    /// Of equal width, the upper bound excluded.
    Between { lower: f64, upper: f64 },
    /// Of equal frequency: codes of the smallest and the largest value.
    FromTo { smallest: u32, largest: u32 },
    /// Beside all bins.
    NotFinite(&'static str),
}

/// A number that is not finite: each of these is an attribute of its own.
fn not_finite(number: f64) -> Option<&'static str> {
    match number {
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        number => number.is_nan().then_some("NaN"),
    }
}

impl Bins {
    /// The bins, and the number of every value's bin, codes in order. `rows_of` tells how many rows hold
    /// each value, codes in order.
    pub fn new(
        dictionary: &Dictionary,
        scale: Scale,
        binning: Binning,
        rows_of: impl FnOnce() -> Vec<u64>,
    ) -> Result<(Self, Vec<u32>), Problem> {
        let numbers = scale.numbers(dictionary)?;
        let mut of_value = vec![0; numbers.len()];
        let mut bins = match binning {
            Binning::EqualFrequency(parts) => equal_frequency(&numbers, &rows_of(), parts, &mut of_value),
            Binning::EqualWidth(width) => {
                let grid = Grid::new(scale.width(width));
                equal_width(&numbers, grid, &mut of_value).ok_or_else(|| {
                    Problem::argument(
                        "weights",
                        format!(
                            "column \"{}\": width is too small for values as large as some are",
                            dictionary.column().name
                        ),
                        "Give a larger width, or a number of bins.",
                    )
                })?
            }
        };
        for name in ["NaN", "Infinity", "-Infinity"] {
            let places = of_value.iter_mut().zip(&numbers);
            let mut places = places
                .filter(|&(_, &number)| not_finite(number) == Some(name))
                .peekable();
            if places.peek().is_some() {
                places.for_each(|(bin, _)| *bin = bins.len() as u32);
                bins.push(Bin::NotFinite(name));
            }
        }
        Ok((Bins { scale, bins }, of_value))
    }

    pub fn len(&self) -> u32 {
        self.bins.len() as u32
    }

    /// What people call the bin; `dictionary` is the one that `new` was given.
    pub fn text(&self, bin: u32, dictionary: &Dictionary) -> String {
        match self.bins[bin as usize] {
            Bin::Between { lower, upper } => {
                let text = |bound| self.scale.bound_text(bound, dictionary.column().oid);
                format!("[{},{})", text(lower), text(upper))
            }
            Bin::FromTo { smallest, largest } => {
                let text = |code| dictionary.text(code).unwrap_or_default();
                if smallest == largest {
                    text(smallest)
                } else {
                    format!("{}..{}", text(smallest), text(largest))
                }
            }
            Bin::NotFinite(name) => name.into(),
        }
    }
}

/// Bins of about as many rows each; equal numbers are never parted.
fn equal_frequency(numbers: &[f64], rows_of: &[u64], parts: usize, of_value: &mut [u32]) -> Vec<Bin> {
    let mut sorted: Vec<usize> = (0..numbers.len())
        .filter(|&value| numbers[value].is_finite())
        .collect();
    sorted.sort_unstable_by(|&one, &other| numbers[one].total_cmp(&numbers[other]));
    // Different integers may be the same float.
    let equal: Vec<&[usize]> = sorted
        .chunk_by(|&one, &other| numbers[one] == numbers[other])
        .collect();
    let rows = |value: &usize| rows_of.get(*value).copied().unwrap_or(0);
    let rows_of_equal: Vec<u64> = equal.iter().map(|values| values.iter().map(rows).sum()).collect();
    let mut bins = Vec::new();
    let mut rest = &equal[..];
    for length in even_parts(&rows_of_equal, parts) {
        let (part, after) = rest.split_at(length);
        rest = after;
        for &value in part.iter().copied().flatten() {
            of_value[value] = bins.len() as u32;
        }
        if let (Some([smallest, ..]), Some([.., largest])) = (part.first(), part.last()) {
            bins.push(Bin::FromTo {
                smallest: *smallest as u32 + 1,
                largest: *largest as u32 + 1,
            });
        }
    }
    bins
}

/// How many consecutive groups to put into each of `parts` parts, or as many as there are groups, so that
/// all parts have about as many rows.
fn even_parts(rows_of_group: &[u64], parts: usize) -> Vec<usize> {
    let mut lengths = Vec::new();
    let mut rest = rows_of_group;
    let mut rows_left: u64 = rest.iter().sum();
    for parts_left in (1..=parts.min(rest.len())).rev() {
        // Large groups among those before have changed what is even.
        let even = rows_left as f64 / parts_left as f64;
        let mut rows = rest[0];
        let mut length = 1;
        // Every part gets a group, and one more if that brings it nearer to what is even.
        while rest.len() - length >= parts_left && rows as f64 + rest[length] as f64 / 2.0 <= even {
            rows += rest[length];
            length += 1;
        }
        lengths.push(length);
        rows_left -= rows;
        rest = &rest[length..];
    }
    lengths
}

/// Bins between neighbouring multiples of a width, where there are numbers; `None` where numbers are too
/// large to tell neighbouring multiples apart.
fn equal_width(numbers: &[f64], grid: Grid, of_value: &mut [u32]) -> Option<Vec<Bin>> {
    let mut multiples = Vec::new();
    for &number in numbers.iter().filter(|number| number.is_finite()) {
        multiples.push(grid.multiple_below(number)?);
    }
    let mut distinct = multiples.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let finite = of_value
        .iter_mut()
        .zip(numbers)
        .filter(|(_, number)| number.is_finite());
    for ((bin, _), multiple) in finite.zip(multiples) {
        *bin = distinct.partition_point(|&other| other < multiple) as u32;
    }
    let between = |multiple| Bin::Between {
        lower: grid.bound(multiple),
        upper: grid.bound(multiple + 1),
    };
    Some(distinct.into_iter().map(between).collect())
}

/// The multiples of a width that may be a decimal fraction: 3 times 0.1 is to be 0.3, which it is as 3 / 10,
/// but not as floats are multiplied.
#[derive(Clone, Copy)]
struct Grid {
    width: f64,
    numerator: f64,
    denominator: f64,
}

impl Grid {
    /// Above, powers of ten are not exact.
    const DECIMALS: usize = 22;

    fn new(width: f64) -> Self {
        let decimals = match width.to_string().split_once('.') {
            Some((_, decimals)) if decimals.len() <= Self::DECIMALS => decimals.len(),
            Some(_) => return Self::with(width, width, 1.0),
            None => 0,
        };
        let denominator = 10_f64.powi(decimals as i32);
        Self::with(width, (width * denominator).round(), denominator)
    }

    fn with(width: f64, numerator: f64, denominator: f64) -> Self {
        Grid {
            width,
            numerator,
            denominator,
        }
    }

    fn bound(self, multiple: i64) -> f64 {
        multiple as f64 * self.numerator / self.denominator
    }

    /// Which multiple is the largest that is not above a finite number.
    fn multiple_below(self, number: f64) -> Option<i64> {
        const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
        let multiple = (number / self.width).floor();
        if multiple.abs() >= EXACT {
            return None;
        }
        // The division is rounded, so the number may be just beyond a bound.
        let multiple = multiple as i64;
        if self.bound(multiple) > number {
            Some(multiple - 1)
        } else if self.bound(multiple + 1) <= number {
            Some(multiple + 1)
        } else {
            Some(multiple)
        }
    }
}
