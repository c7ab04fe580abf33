//! Means and variances that can be merged, for single values and for ranges of values.
//!
//! [`Moments`] are merged by the formula of Chan, Golub and LeVeque (1979). [`Ranges`] is a segment tree of
//! moments: it merges a number of them that is logarithmic in the length of the range.

/// Number of values, their mean, and the sum of their squared distances from it. Merging adds only squares,
/// so that nothing cancels, however large the mean is (Chan, Golub and LeVeque 1979).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    number: f64,
    /// The mean is the sum of `mean` and `rest_of_mean`. One number would be too coarse for large values that
    /// differ by little.
    mean: f64,
    rest_of_mean: f64,
    /// Sum of the squared distances from the mean.
    squares: f64,
}

impl Moments {
    /// Returns the moments of `number` equal values.
    pub(super) fn equal(value: f64, number: u32) -> Moments {
        Moments {
            number: f64::from(number),
            mean: value,
            ..Moments::default()
        }
    }

    /// Returns the moments of all values of both.
    pub(super) fn and(self, other: Moments) -> Moments {
        if self.number == 0.0 {
            return other;
        }
        let number = self.number + other.number;
        let apart = (other.mean - self.mean) + (other.rest_of_mean - self.rest_of_mean);
        let step = apart * (other.number / number);
        let (mean, lost) = sum(self.mean, step);
        Moments {
            number,
            mean,
            rest_of_mean: self.rest_of_mean + lost,
            squares: self.squares + other.squares + apart * step * self.number,
        }
    }

    /// Returns the mean; 0 without values.
    pub(super) fn mean(self) -> f64 {
        self.mean + self.rest_of_mean
    }

    /// Returns the sum of the squared distances from the mean.
    pub(super) fn squares(self) -> f64 {
        self.squares
    }

    /// Returns the population variance, infinite if it is too large for an `f64`; `None` without values.
    pub(super) fn variance(self) -> Option<f64> {
        let variance = self.squares / self.number;
        (self.number > 0.0).then_some(if variance.is_nan() {
            f64::INFINITY
        } else {
            variance
        })
    }
}

/// Returns a rounded sum and its rounding error (Knuth's TwoSum).
fn sum(first: f64, second: f64) -> (f64, f64) {
    let sum = first + second;
    let of_second = sum - first;
    (sum, (first - (sum - of_second)) + (second - of_second))
}

/// Number of values that are merged one by one. Smaller blocks make [`Ranges`] larger, larger blocks make it
/// slower.
const BLOCK: usize = 16;

/// Segment tree that returns the moments of any range of values quickly.
#[derive(Debug, Clone)]
pub(super) struct Ranges {
    /// Nodes of the tree. Node i merges nodes 2i and 2i + 1; the second half of the nodes are the blocks.
    blocks: Vec<Moments>,
}

impl Ranges {
    pub(super) fn new(values: usize, moments: impl Fn(usize) -> Moments) -> Ranges {
        let number = values.div_ceil(BLOCK);
        let mut blocks = vec![Moments::default(); 2 * number];
        for block in 0..number {
            let values = block * BLOCK..values.min((block + 1) * BLOCK);
            blocks[number + block] = values.map(&moments).fold(Moments::default(), Moments::and);
        }
        for block in (1..number).rev() {
            blocks[block] = blocks[2 * block].and(blocks[2 * block + 1]);
        }
        Ranges { blocks }
    }

    /// Returns the moments of a range of values. `moments` must return the same moments of single values as
    /// when the tree was made.
    pub(super) fn of(&self, values: std::ops::Range<usize>, moments: impl Fn(usize) -> Moments) -> Moments {
        let together = |all: Moments, value: usize| all.and(moments(value));
        let (mut first, mut last) = (values.start.div_ceil(BLOCK), values.end / BLOCK);
        if first >= last {
            return values.fold(Moments::default(), together);
        }
        let mut all = (values.start..first * BLOCK).fold(Moments::default(), together);
        all = (last * BLOCK..values.end).fold(all, together);
        let number = self.blocks.len() / 2;
        (first, last) = (first + number, last + number);
        while first < last {
            if first % 2 == 1 {
                all = all.and(self.blocks[first]);
                first += 1;
            }
            if last % 2 == 1 {
                last -= 1;
                all = all.and(self.blocks[last]);
            }
            (first, last) = (first / 2, last / 2);
        }
        all
    }
}
