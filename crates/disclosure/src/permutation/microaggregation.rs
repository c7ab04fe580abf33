use super::moments::Moments;
use super::spread::{power_of_two_below, present_and_finite};
use crate::{Control, Error, Result};

/// Settings of [`microaggregate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MicroaggregationSettings {
    /// Smallest number of values in a group.
    pub k: usize,
}

impl Default for MicroaggregationSettings {
    fn default() -> Self {
        MicroaggregationSettings { k: 3 }
    }
}

impl MicroaggregationSettings {
    /// Checks all bounds.
    pub fn check(&self) -> Result<()> {
        if self.k > 0 {
            return Ok(());
        }
        Err(Error::invalid(
            "k",
            "must be at least 1",
            "the smallest number of values in a group, such as 3",
        ))
    }
}

/// Replaces every value of a column by the mean of its group: optimal microaggregation. Groups have at least
/// `k` values, and the sum of squared differences from the means is the smallest possible. Fewer than `k`
/// values form one group. Absent values stay absent.
///
/// Groups are runs of the sorted values. No group needs 2 `k` values, because it could be split without
/// increasing the sum. The best groups are therefore a shortest path (Hansen and Mukherjee 2003), which is
/// found in time proportional to `k` times the number of values.
pub fn microaggregate(
    values: &[Option<f64>],
    settings: &MicroaggregationSettings,
    control: &Control,
) -> Result<Vec<Option<f64>>> {
    settings.check()?;
    let unit = power_of_two_below(&present_and_finite(values)?);
    let in_units = values.iter().map(|value| value.map(|value| value / unit));
    let present = in_units
        .enumerate()
        .filter_map(|(record, value)| Some((value?, record)));
    let mut sorted: Vec<(f64, usize)> = present.collect();
    sorted.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let mut means = vec![None; values.len()];
    let mut rest = &sorted[..];
    for size in group_sizes(&sorted, settings.k, control)? {
        let (group, after) = rest.split_at(size);
        let alone = group.iter().map(|(value, _)| Moments::of_equal(*value, 1));
        let mean = alone.fold(Moments::default(), Moments::merge).mean() * unit;
        for &(_, record) in group {
            means[record] = Some(mean);
        }
        rest = after;
    }
    Ok(means)
}

/// Returns the sizes of the best groups, in the order of the sorted values.
fn group_sizes(sorted: &[(f64, usize)], k: usize, control: &Control) -> Result<Vec<usize>> {
    if sorted.len() < k.saturating_mul(2) {
        return Ok(vec![sorted.len()]);
    }
    // `best[n]` is for the first n values: the smallest sum of squares, and the size of the last group.
    let mut best = vec![(f64::INFINITY, 0); sorted.len() + 1];
    best[0] = (0.0, 0);
    for start in 0..=sorted.len() - k {
        control.check()?;
        let before = best[start].0;
        if before == f64::INFINITY {
            continue;
        }
        let mut moments = Moments::default();
        for (size, (value, _)) in (1..2 * k).zip(&sorted[start..]) {
            moments = moments.merge(Moments::of_equal(*value, 1));
            let sum = before + moments.sum_of_squares();
            let known = &mut best[start + size];
            if size >= k && sum < known.0 {
                *known = (sum, size);
            }
        }
    }
    let mut sizes = Vec::with_capacity(sorted.len() / k);
    let mut end = sorted.len();
    while end > 0 {
        sizes.push(best[end].1);
        end -= best[end].1;
    }
    sizes.reverse();
    Ok(sizes)
}
