//! Means and variances that can be merged, for single values and for ranges of values.
//!
//! [`Moments`] are merged by the formula of Chan, Golub and LeVeque (1979). [`MomentTree`] is a segment tree
//! of moments: it merges a number of them that is logarithmic in the length of the range.

/// Number of values, their mean, and the sum of their squared distances from it. Merging adds only squares,
/// so that nothing cancels, however large the mean is (Chan, Golub and LeVeque 1979).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    count: f64,
    /// The mean is the sum of `mean` and `rest_of_mean`. One number would be too coarse for large values that
    /// differ by little.
    mean: f64,
    rest_of_mean: f64,
    /// Sum of the squared distances from the mean.
    sum_of_squares: f64,
}

impl Moments {
    /// Returns the moments of `count` equal values.
    pub(super) fn of_equal(value: f64, count: u32) -> Moments {
        Moments {
            count: f64::from(count),
            mean: value,
            ..Moments::default()
        }
    }

    /// Returns the moments of all values of both.
    pub(super) fn merge(self, other: Moments) -> Moments {
        if self.count == 0.0 {
            return other;
        }
        let count = self.count + other.count;
        let difference = (other.mean - self.mean) + (other.rest_of_mean - self.rest_of_mean);
        let step = difference * (other.count / count);
        let (mean, lost) = two_sum(self.mean, step);
        Moments {
            count,
            mean,
            rest_of_mean: self.rest_of_mean + lost,
            sum_of_squares: self.sum_of_squares + other.sum_of_squares + difference * step * self.count,
        }
    }

    /// Returns the mean; 0 without values.
    pub(super) fn mean(self) -> f64 {
        self.mean + self.rest_of_mean
    }

    /// Returns the sum of the squared distances from the mean.
    pub(super) fn sum_of_squares(self) -> f64 {
        self.sum_of_squares
    }

    /// Returns the population variance, infinite if it is too large for an `f64`; `None` without values.
    pub(super) fn variance(self) -> Option<f64> {
        let variance = self.sum_of_squares / self.count;
        (self.count > 0.0).then_some(if variance.is_nan() {
            f64::INFINITY
        } else {
            variance
        })
    }
}

/// Returns a rounded sum and its rounding error (Knuth's TwoSum).
fn two_sum(first: f64, second: f64) -> (f64, f64) {
    let sum = first + second;
    let of_second = sum - first;
    (sum, (first - (sum - of_second)) + (second - of_second))
}

/// Number of values that are merged one by one. Smaller blocks make [`MomentTree`] larger, larger blocks make
/// it slower.
const BLOCK: usize = 16;

/// Segment tree that returns the moments of any range of values quickly.
#[derive(Debug, Clone)]
pub(super) struct MomentTree {
    /// Nodes of the tree. Node i merges nodes 2i and 2i + 1; the second half of the nodes are the blocks.
    blocks: Vec<Moments>,
}

impl MomentTree {
    pub(super) fn new(values: usize, moments: impl Fn(usize) -> Moments) -> MomentTree {
        let count = values.div_ceil(BLOCK);
        let mut blocks = vec![Moments::default(); 2 * count];
        for block in 0..count {
            let values = block * BLOCK..values.min((block + 1) * BLOCK);
            blocks[count + block] = values.map(&moments).fold(Moments::default(), Moments::merge);
        }
        for block in (1..count).rev() {
            blocks[block] = blocks[2 * block].merge(blocks[2 * block + 1]);
        }
        MomentTree { blocks }
    }

    /// Returns the moments of a range of values. `moments` must return the same moments of single values as
    /// when the tree was made.
    pub(super) fn of_range(
        &self,
        values: std::ops::Range<usize>,
        moments: impl Fn(usize) -> Moments,
    ) -> Moments {
        let together = |all: Moments, value: usize| all.merge(moments(value));
        let (mut first, mut last) = (values.start.div_ceil(BLOCK), values.end / BLOCK);
        if first >= last {
            return values.fold(Moments::default(), together);
        }
        let mut all = (values.start..first * BLOCK).fold(Moments::default(), together);
        all = (last * BLOCK..values.end).fold(all, together);
        let count = self.blocks.len() / 2;
        (first, last) = (first + count, last + count);
        while first < last {
            if first % 2 == 1 {
                all = all.merge(self.blocks[first]);
                first += 1;
            }
            if last % 2 == 1 {
                last -= 1;
                all = all.merge(self.blocks[last]);
            }
            (first, last) = (first / 2, last / 2);
        }
        all
    }
}
