//! Bins for numeric columns: values in the same bin become one attribute.
//!
//! The bins either hold about the same number of rows each, or they have the same width and start at
//! multiples of it. NaN and the two infinities get a bin of their own.

/// Method of grouping a column's values into bins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Binning {
    /// This many bins, all with about the same number of rows.
    EqualFrequency(usize),
    /// Bins of this width. Each one starts at a multiple of the width and ends before the next multiple.
    EqualWidth(f64),
}

impl Binning {
    /// Returns a binning into this many bins, or `None` if `bins` is 0.
    pub fn equal_frequency(bins: u64) -> Option<Self> {
        (bins > 0).then(|| Binning::EqualFrequency(usize::try_from(bins).unwrap_or(usize::MAX)))
    }

    /// Returns a binning into bins of this width, or `None` unless the width is finite and more than 0.
    pub fn equal_width(width: f64) -> Option<Self> {
        (width.is_finite() && width > 0.0).then_some(Binning::EqualWidth(width))
    }
}

/// Bins of a column's values.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bins {
    /// All bins that hold a value: those of finite values in ascending order, then the others.
    pub bins: Vec<Bin>,
    /// Bin of every value, as an index into `bins`.
    pub bin_of_value: Vec<u32>,
}

/// One bin of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Bin {
    /// Bin of a given width.
    EqualWidth {
        /// Inclusive lower bound.
        lower: f64,
        /// Exclusive upper bound.
        upper: f64,
    },
    /// Bin with about as many rows as each of the others.
    EqualFrequency {
        /// Index of the smallest value in the bin.
        smallest: usize,
        /// Index of the largest value in the bin.
        largest: usize,
    },
    /// NaN or an infinity, each in a bin of its own.
    NotFinite(f64),
}

impl Bins {
    /// Returns the bins of `values`, or `None` if a value is so large that neighbouring multiples of the
    /// width cannot be told apart. `rows_of` returns how many rows hold each value; it is called only if the
    /// bins depend on it.
    pub fn new(values: &[f64], binning: Binning, rows_of: impl FnOnce() -> Vec<u64>) -> Option<Self> {
        let mut bin_of_value = vec![0; values.len()];
        let mut bins = match binning {
            Binning::EqualFrequency(parts) => equal_frequency(values, &rows_of(), parts, &mut bin_of_value),
            Binning::EqualWidth(width) => equal_width(values, BinWidth::new(width), &mut bin_of_value)?,
        };
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let is_number = |value: f64| value == number || (value.is_nan() && number.is_nan());
            let mut places = bin_of_value
                .iter_mut()
                .zip(values)
                .filter(|&(_, &value)| is_number(value))
                .peekable();
            if places.peek().is_some() {
                places.for_each(|(bin, _)| *bin = bins.len() as u32);
                bins.push(Bin::NotFinite(number));
            }
        }
        Some(Bins { bins, bin_of_value })
    }
}

/// Returns bins with about the same number of rows each and sets `bin_of_value` for every finite value. Equal
/// numbers always share a bin.
fn equal_frequency(values: &[f64], rows_of: &[u64], parts: usize, bin_of_value: &mut [u32]) -> Vec<Bin> {
    let mut sorted: Vec<usize> = (0..values.len())
        .filter(|&value| values[value].is_finite())
        .collect();
    sorted.sort_unstable_by(|&one, &other| values[one].total_cmp(&values[other]));
    // Different integers may become the same float.
    let equal: Vec<&[usize]> = sorted
        .chunk_by(|&one, &other| values[one] == values[other])
        .collect();
    let rows = |value: &usize| rows_of.get(*value).copied().unwrap_or(0);
    let rows_of_equal: Vec<u64> = equal.iter().map(|values| values.iter().map(rows).sum()).collect();
    let mut bins = Vec::new();
    let mut rest = &equal[..];
    for length in even_parts(&rows_of_equal, parts) {
        let (part, after) = rest.split_at(length);
        rest = after;
        for &value in part.iter().copied().flatten() {
            bin_of_value[value] = bins.len() as u32;
        }
        if let (Some([smallest, ..]), Some([.., largest])) = (part.first(), part.last()) {
            bins.push(Bin::EqualFrequency {
                smallest: *smallest,
                largest: *largest,
            });
        }
    }
    bins
}

/// Returns how many consecutive groups to put into each part, so that all parts have about the same number of
/// rows. There are `parts` parts, or one per group if there are fewer groups.
fn even_parts(rows_of_group: &[u64], parts: usize) -> Vec<usize> {
    let mut lengths = Vec::new();
    let mut rest = rows_of_group;
    let mut rows_left: u64 = rest.iter().sum();
    for parts_left in (1..=parts.min(rest.len())).rev() {
        // Recomputed for every part, because a large group may have given an earlier part more than its
        // share.
        let even = rows_left as f64 / parts_left as f64;
        let mut rows = rest[0];
        let mut length = 1;
        // Every part gets one group. It gets another one if that brings it closer to its even share and
        // enough groups remain for the later parts.
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

/// Returns the bins between neighbouring multiples of a width that hold a value, and sets `bin_of_value` for
/// every finite value. Returns `None` if a value is so large that neighbouring multiples cannot be told
/// apart.
fn equal_width(values: &[f64], width: BinWidth, bin_of_value: &mut [u32]) -> Option<Vec<Bin>> {
    let mut multiples = Vec::new();
    for &value in values.iter().filter(|value| value.is_finite()) {
        multiples.push(width.multiple_below(value)?);
    }
    let mut distinct = multiples.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let finite = bin_of_value
        .iter_mut()
        .zip(values)
        .filter(|(_, value)| value.is_finite());
    for ((bin, _), multiple) in finite.zip(multiples) {
        *bin = distinct.partition_point(|&other| other < multiple) as u32;
    }
    let bin = |multiple| Bin::EqualWidth {
        lower: width.bound(multiple),
        upper: width.bound(multiple + 1),
    };
    Some(distinct.into_iter().map(bin).collect())
}

/// Width of bins, which may be a decimal fraction, and its multiples. The width is stored as a fraction,
/// because 3 times 0.1 has to be 0.3. The quotient 3 / 10 is 0.3, but the floating-point product of 3 and 0.1
/// is not.
#[derive(Clone, Copy)]
struct BinWidth {
    width: f64,
    numerator: f64,
    denominator: f64,
}

impl BinWidth {
    /// Largest number of decimals of a width that is stored as a fraction. Larger powers of ten are not
    /// exact.
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
        BinWidth {
            width,
            numerator,
            denominator,
        }
    }

    fn bound(self, multiple: i64) -> f64 {
        multiple as f64 * self.numerator / self.denominator
    }

    /// Returns which multiple of the width is the largest one that is not above a finite number, or `None` if
    /// neighbouring multiples cannot be told apart.
    fn multiple_below(self, number: f64) -> Option<i64> {
        const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
        let multiple = (number / self.width).floor();
        if multiple.abs() >= EXACT {
            return None;
        }
        // The division is rounded, so the number may lie just outside these bounds.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(values: &[f64], width: f64) -> Vec<(f64, f64)> {
        let bins = Bins::new(values, Binning::EqualWidth(width), Vec::new).unwrap();
        let bounds = |bin: &Bin| match *bin {
            Bin::EqualWidth { lower, upper } => (lower, upper),
            _ => panic!("a bin without bounds"),
        };
        values.iter().zip(&bins.bin_of_value).for_each(|(value, &bin)| {
            let (lower, upper) = bounds(&bins.bins[bin as usize]);
            assert!(lower <= *value && *value < upper, "{lower} {value} {upper}");
        });
        bins.bins.iter().map(bounds).collect()
    }

    #[test]
    fn invalid_binnings() {
        assert_eq!(Binning::equal_frequency(0), None);
        assert_eq!(Binning::equal_frequency(3), Some(Binning::EqualFrequency(3)));
        for width in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Binning::equal_width(width), None);
        }
        assert_eq!(Binning::equal_width(0.5), Some(Binning::EqualWidth(0.5)));
    }

    #[test]
    fn bins_of_equal_width_begin_at_multiples() {
        assert_eq!(
            bounds(&[30.0, 39.0, 40.0, -1.0], 10.0),
            [(-10.0, 0.0), (30.0, 40.0), (40.0, 50.0)]
        );
        assert_eq!(bounds(&[], 10.0), []);
    }

    #[test]
    fn decimal_fractions_are_bounds() {
        // 3 * 0.1 is 0.30000000000000004, and 0.7 / 0.1 is below 7.
        assert_eq!(bounds(&[0.3, 0.7], 0.1), [(0.3, 0.4), (0.7, 0.8)]);
        assert_eq!(bounds(&[1e-30], 1e-31).len(), 1);
    }

    #[test]
    fn numbers_too_large_for_a_width() {
        let bins = |value, width| Bins::new(&[value], Binning::EqualWidth(width), Vec::new);
        assert_eq!(bins(1e300, 1.0), None);
        assert_eq!(bins(f64::MAX, f64::MIN_POSITIVE), None);
        assert!(bins(1e15, 1.0).is_some());
    }

    #[test]
    fn bins_of_equal_frequency_have_about_as_many_rows() {
        assert_eq!(even_parts(&[1, 1, 1, 1, 1, 1], 3), [2, 2, 2]);
        assert_eq!(even_parts(&[10, 1, 1, 1, 1], 2), [1, 4]);
        assert_eq!(even_parts(&[1, 1, 10], 2), [2, 1]);
        assert_eq!(even_parts(&[1, 1], 5), [1, 1]);
        assert_eq!(even_parts(&[], 5), []);
        let values = [5.0, 1.0, 3.0, 3.0];
        let bins = Bins::new(&values, Binning::EqualFrequency(2), || vec![1, 1, 1, 1]).unwrap();
        assert_eq!(bins.bin_of_value, [1, 0, 0, 0]); // 3 and 3 stay together
        assert!(matches!(
            bins.bins[0],
            Bin::EqualFrequency {
                smallest: 1,
                largest: 2 | 3
            }
        ));
        assert_eq!(
            bins.bins[1..],
            [Bin::EqualFrequency {
                smallest: 0,
                largest: 0
            }]
        );
    }

    #[test]
    fn infinite_and_nan_have_own_bins() {
        let values = [f64::INFINITY, 1.0, f64::NAN, f64::NAN, f64::NEG_INFINITY];
        for binning in [Binning::EqualWidth(10.0), Binning::EqualFrequency(3)] {
            let Bins { bins, bin_of_value } = Bins::new(&values, binning, || vec![1; 5]).unwrap();
            assert_eq!(bin_of_value, [2, 0, 1, 1, 3]);
            assert_eq!(bins.len(), 4);
            assert!(matches!(bins[1], Bin::NotFinite(number) if number.is_nan()));
            assert_eq!(
                bins[2..],
                [Bin::NotFinite(f64::INFINITY), Bin::NotFinite(f64::NEG_INFINITY)]
            );
        }
    }
}
