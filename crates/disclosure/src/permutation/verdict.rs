//! The verdict on an adversary's links: whether they can be expected to link too many records correctly.

use super::{CorrectLinks, Plausibility};

/// Significance level: what is less probable than this is not explained by chance.
pub(super) const SIGNIFICANCE_LEVEL: f64 = 0.05;

/// Relative difference that is due to rounding: 29 of 100 records are not more than the share 0.29, although
/// 0.29 × 100 is less than 29 in floating point.
const ROUNDING: f64 = 1e-12;

impl Plausibility {
    /// Returns whether the links are safe, that is, whether an adversary can be expected to link at most the
    /// share `at_most` of the records correctly; `None` if it is not known.
    ///
    /// If it is known which records belong together, the correct `links` were counted. They are safe if they
    /// are not too many, and unsafe if they are too many and chance does not explain them: in a small table, a
    /// single lucky link is a large share.
    ///
    /// Otherwise they are safe if an upper bound of their number is small enough. They are unsafe only if
    /// records are nearer to the released table than those of a hold-out are, for more than the share
    /// `at_most` and not by chance. Random records that were drawn prove nothing: real records are nearer to
    /// any realistic table than they are, because the columns of a draw are unrelated.
    pub fn is_safe(&self, links: Option<&CorrectLinks>, at_most: f64) -> Option<bool> {
        let allowed = at_most * self.records as f64 * (1.0 + ROUNDING);
        if let Some(links) = links {
            return match links.expected_correct <= allowed {
                true => Some(true),
                false => (links.p_value < SIGNIFICANCE_LEVEL).then_some(false),
            };
        }
        let is_small = |bound: &f64| *bound <= allowed;
        if is_small(&self.max_correct) || self.holdout_bound.as_ref().is_some_and(is_small) {
            return Some(true);
        }
        let is_nearer = self.shorter.statistic > at_most && self.shorter.p_value < SIGNIFICANCE_LEVEL;
        (self.holdout_bound.is_some() && is_nearer).then_some(false)
    }
}

/// Returns an upper bound of the probability that the expected number of correct links is at least
/// `expected_correct` if the links have nothing to do with which records belong together.
///
/// Let C be the number of correct links of an adversary who draws one match for each record. If all
/// assignments of the n released records to the n original ones are equally likely, the probability that k
/// given links to different records are all correct is 1 / (n (n−1) … (n−k+1)), and no two links to the same
/// record are. So E\[C choose k\] is at most (n choose k) / (n (n−1) … (n−k+1)) = 1 / k! for every k. The
/// expected number of correct links is the mean of C over the draws. Interpolate (c choose k) linearly between
/// whole numbers: the result is convex, so its mean is no larger for the expected number than for C (Jensen).
/// With k = ⌊`expected_correct`⌋, Markov's inequality gives the bound. It is 1 / k! for a whole number k, which
/// is the probability itself if all n = k links are correct.
pub(super) fn chance_of_correct(expected_correct: f64) -> f64 {
    let whole = expected_correct.floor();
    // Factorials above 170! are infinite, so that the bound is 0.
    let factorial: f64 = (1..=whole.min(171.0) as u32).map(f64::from).product();
    1.0 / (factorial * (1.0 + whole * (expected_correct - whole)))
}
