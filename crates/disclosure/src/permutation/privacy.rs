//! (d, **v**)-permuted privacy (Domingo-Ferrer and Muralidhar 2015, section 4): how well a released table
//! hides a record.
//!
//! In each column, the released value closest to that of the record is looked up. The distance d holds if
//! every released record is at least d ranks away from the closest value in some column. The largest such d
//! is the distance of the nearest point in a [`KdTree`] of the released ranks, in whole ranks. The variances
//! **v** are those of the released values at most d ranks away from the closest one in each column. They are
//! computed from [`MomentTree`] of the sorted values.

use super::moments::{MomentTree, Moments};
use super::{HalfRanks, KdTree, Points, RankedColumn, Ties, ranks};
use crate::{Control, NULL, Result};
use rayon::prelude::*;
use std::cmp::Ordering;

/// Released table, prepared to tell how well it hides a record.
///
/// The paper takes *the* released value closest to each value of the record. If several are closest, because
/// they are equal or equally far below and above, any of them may be meant, and the result holds for all of
/// them: distances are measured from the range of ranks between the lowest and the highest of the closest
/// values.
#[derive(Debug, Clone)]
pub struct ReleasedTable {
    columns: Vec<Column>,
    tree: KdTree,
}

/// Permuted privacy of one record.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PermutedPrivacy {
    /// Largest distance that holds: every released record is at least this many ranks away from the closest
    /// value in some column.
    pub d: u64,
    /// Variance, in each column, of the values at most `d` ranks away from the closest one; see
    /// [`ReleasedTable::variances`].
    pub variances: Vec<Option<f64>>,
}

/// Released values that are closest to a value: those from the first to the last of these dense ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ClosestValues {
    /// First of the dense ranks; [`NULL`] if absent values are closest.
    pub first: u32,
    /// Last of the dense ranks.
    pub last: u32,
}

/// Lowest and highest rank in a column: of the closest values, or of a group.
#[derive(Debug, Clone, Copy)]
struct RankRange {
    low: HalfRanks,
    high: HalfRanks,
}

/// Group of records with equal values in a column.
#[derive(Debug, Clone, Copy)]
struct Group {
    dense_rank: u32,
    /// Number that the value counts as; NaN for absent values.
    value: f64,
    /// Index of its first record among the sorted records.
    start: u32,
    ranks: RankRange,
}

/// Sorted column of the released table.
#[derive(Debug, Clone)]
struct Column {
    /// Groups in the order of their values, absent values last.
    groups: Vec<Group>,
    /// Number of groups that have a value.
    present_groups: usize,
    records: u32,
    shares_ranks: bool,
    moments: MomentTree,
}

impl ReleasedTable {
    /// Prepares a released table of at least one column.
    pub fn new(columns: &[RankedColumn], ties: Ties, control: &Control) -> Result<ReleasedTable> {
        let ranks: Vec<_> = columns
            .par_iter()
            .enumerate()
            .map(|(number, column)| ranks(&column.dense_ranks, ties.of_column(number), control))
            .collect::<Result<_>>()?;
        control.check()?;
        let tree = KdTree::new(&Points::new(&ranks), control)?;
        let columns = columns.par_iter().map(|column| Column::new(column, ties));
        Ok(ReleasedTable {
            columns: columns.collect(),
            tree,
        })
    }

    /// Returns how well a record is hidden; `None` if no record was released, because then any distance
    /// holds. The record is given by the numbers that its values count as.
    pub fn privacy_of(&self, record: &[Option<f64>]) -> Option<PermutedPrivacy> {
        let (low, high): (Vec<_>, Vec<_>) = self
            .closest_ranks(record)?
            .into_iter()
            .map(|range| (range.low, range.high))
            .unzip();
        self.privacy_of_box(&low, &high)
    }

    /// Returns the variances for permuted privacy at distance `d`: in each column, the variance of the values
    /// at most `d` ranks away from the closest one. Absent values are left out. A variance is `None` if no
    /// value is left, or if one of them is not finite.
    pub fn variances(&self, record: &[Option<f64>], d: u64) -> Vec<Option<f64>> {
        match self.closest_ranks(record) {
            None => vec![None; self.columns.len()],
            Some(ranges) => {
                let columns = self.columns.iter().zip(ranges);
                columns.map(|(column, range)| column.variance(range, d)).collect()
            }
        }
    }

    /// Returns the released values closest to those of a record, column by column; `None` if no record was
    /// released.
    pub fn closest(&self, record: &[Option<f64>]) -> Option<Vec<ClosestValues>> {
        let columns = self.columns.iter().zip(record);
        columns
            .map(|(column, &value)| {
                let (first, last) = column.closest(value)?;
                Some(ClosestValues {
                    first: column.groups[first].dense_rank,
                    last: column.groups[last].dense_rank,
                })
            })
            .collect()
    }

    /// Returns how well each record of an original table with the same columns is hidden; empty if no record
    /// was released.
    pub fn privacy_of_all(
        &self,
        original: &[RankedColumn],
        control: &Control,
    ) -> Result<Vec<PermutedPrivacy>> {
        let records = original.first().map_or(0, |column| column.dense_ranks.len());
        control.set_total(records as u64);
        let ranges: Option<Vec<Vec<RankRange>>> = self
            .columns
            .par_iter()
            .zip(original)
            .map(|(column, original)| column.closest_ranks_of_all(original))
            .collect();
        let Some(ranges) = ranges else {
            return Ok(Vec::new());
        };
        // Equal boxes are looked up only once in a tree, and neighbours, which need the same part of the
        // other tree, follow each other.
        let bounds = |bound: fn(&RankRange) -> HalfRanks| {
            ranges
                .iter()
                .map(move |column| column.iter().map(bound).collect())
        };
        let columns: Vec<Vec<HalfRanks>> = bounds(|range| range.low)
            .chain(bounds(|range| range.high))
            .collect();
        let boxes = KdTree::new(&Points::new(&columns), control)?;
        boxes.per_record(control, |point| {
            let (low, high) = point.split_at(self.columns.len());
            self.privacy_of_box(low, high)
        })
    }

    fn privacy_of_box(&self, low: &[HalfRanks], high: &[HalfRanks]) -> Option<PermutedPrivacy> {
        let d = u64::from(self.tree.nearest(low, high)? / 2);
        let ranges = low.iter().zip(high).map(|(&low, &high)| RankRange { low, high });
        let columns = self.columns.iter().zip(ranges);
        Some(PermutedPrivacy {
            d,
            variances: columns.map(|(column, range)| column.variance(range, d)).collect(),
        })
    }

    fn closest_ranks(&self, record: &[Option<f64>]) -> Option<Vec<RankRange>> {
        debug_assert_eq!(record.len(), self.columns.len());
        let columns = self.columns.iter().zip(record);
        columns
            .map(|(column, &value)| column.closest_ranks(value))
            .collect()
    }
}

impl Column {
    fn new(ranked: &RankedColumn, ties: Ties) -> Column {
        let shares_ranks = ties == Ties::Shared;
        let mut records_at = vec![0u32; ranked.scale.len() + 1];
        for &dense_rank in &ranked.dense_ranks {
            records_at[dense_rank as usize] += 1;
        }
        let dense_ranks = (1..records_at.len()).chain([NULL as usize]);
        let mut groups = Vec::new();
        let mut start = 0;
        for dense_rank in dense_ranks.filter(|&dense_rank| records_at[dense_rank] > 0) {
            let end = start + records_at[dense_rank];
            let [low, high] = if shares_ranks {
                [start + 1 + end; 2]
            } else {
                [2 * (start + 1), 2 * end]
            };
            groups.push(Group {
                dense_rank: dense_rank as u32,
                value: dense_rank
                    .checked_sub(1)
                    .map_or(f64::NAN, |index| ranked.scale[index]),
                start,
                ranks: RankRange { low, high },
            });
            start = end;
        }
        let present_groups = groups.len() - usize::from(records_at[NULL as usize] > 0);
        let mut column = Column {
            groups,
            present_groups,
            records: start,
            shares_ranks,
            moments: MomentTree::new(0, |_| Moments::default()),
        };
        column.moments = MomentTree::new(present_groups, |group| column.moments(group));
        column
    }

    /// Returns the index after the last record of a group among the sorted records.
    fn end(&self, group: usize) -> u32 {
        self.groups.get(group + 1).map_or(self.records, |next| next.start)
    }

    fn moments(&self, group: usize) -> Moments {
        let Group { value, start, .. } = self.groups[group];
        if value.is_finite() {
            Moments::of_equal(value, self.end(group) - start)
        } else {
            Moments::default()
        }
    }

    /// Returns the first and the last of the groups closest to a value. Closest to an absent value are the
    /// absent values, or the last value if none is absent. If all values are absent, they are closest to any
    /// value. Returns `None` if there are no records.
    fn closest(&self, value: Option<f64>) -> Option<(usize, usize)> {
        let last = self.groups.len().checked_sub(1)?;
        let Some(value) = value.filter(|_| self.present_groups > 0) else {
            return Some((last, last));
        };
        let groups = &self.groups[..self.present_groups];
        let first_not_below =
            |value: f64| groups.partition_point(|group| compare(group.value, value) == Ordering::Less);
        let first_above =
            |value: f64| groups.partition_point(|group| compare(group.value, value) != Ordering::Greater);
        let below = first_not_below(value)
            .checked_sub(1)
            .map(|group| groups[group].value);
        let above = groups.get(first_not_below(value)).map(|group| group.value);
        let (lowest, highest) = match (below, above) {
            (Some(below), Some(above)) => match nearer(below, value, above) {
                Ordering::Less => (below, below),
                Ordering::Equal => (below, above),
                Ordering::Greater => (above, above),
            },
            (Some(only), None) | (None, Some(only)) => (only, only),
            (None, None) => return None,
        };
        Some((first_not_below(lowest), first_above(highest) - 1))
    }

    fn closest_ranks(&self, value: Option<f64>) -> Option<RankRange> {
        let (first, last) = self.closest(value)?;
        Some(RankRange {
            low: self.groups[first].ranks.low,
            high: self.groups[last].ranks.high,
        })
    }

    /// Returns the ranks of the values closest to that of each record of the original column; `None` if no
    /// record was released.
    fn closest_ranks_of_all(&self, original: &RankedColumn) -> Option<Vec<RankRange>> {
        let values = original.scale.iter().map(|&value| Some(value));
        let by_dense_rank: Vec<RankRange> = std::iter::once(None)
            .chain(values)
            .map(|value| self.closest_ranks(value))
            .collect::<Option<_>>()?;
        let dense_ranks = original.dense_ranks.iter();
        Some(
            dense_ranks
                .map(|&dense_rank| by_dense_rank[dense_rank as usize])
                .collect(),
        )
    }

    /// Returns the variance of the values at most `d` ranks away from `range`.
    fn variance(&self, range: RankRange, d: u64) -> Option<f64> {
        let reach = d.saturating_mul(2);
        let low = u64::from(range.low).saturating_sub(reach);
        let high = u64::from(range.high).saturating_add(reach);
        let groups = &self.groups[..self.present_groups];
        // First and last group that have at least one record within reach.
        let first = groups.partition_point(|group| u64::from(group.ranks.high) < low);
        let last = groups
            .partition_point(|group| u64::from(group.ranks.low) <= high)
            .checked_sub(1)
            .filter(|&last| first <= last)?;
        if !groups[first].value.is_finite() || !groups[last].value.is_finite() {
            return None;
        }
        // If records do not share their ranks, only a part of a group may be within reach.
        let near = |group: usize| {
            if self.shares_ranks {
                return self.moments(group);
            }
            let from = u64::from(groups[group].start).max(low.div_ceil(2).saturating_sub(1));
            let to = u64::from(self.end(group)).min(high / 2);
            Moments::of_equal(groups[group].value, to.saturating_sub(from) as u32)
        };
        if first == last {
            return near(first).variance();
        }
        let between = self
            .moments
            .of_range(first + 1..last, |group| self.moments(group));
        near(first).merge(near(last)).merge(between).variance()
    }
}

/// Compares numbers. NaN comes after all others and is equal to itself.
fn compare(first: f64, second: f64) -> Ordering {
    first
        .partial_cmp(&second)
        .unwrap_or_else(|| first.is_nan().cmp(&second.is_nan()))
}

/// Returns which of two values is nearer to a value between them: `Less` for the lower one. Distances that
/// differ by no more than the rounding of their ends are equal, such as those of 0.2 and 0.4 from 0.3.
fn nearer(below: f64, value: f64, above: f64) -> Ordering {
    if compare(value, above) == Ordering::Equal {
        return Ordering::Greater;
    }
    let finite = |distance: f64| {
        if distance.is_nan() {
            f64::INFINITY
        } else {
            distance
        }
    };
    let (down, up) = (finite(value - below), finite(above - value));
    let rounding = 2.0 * f64::EPSILON * below.abs().max(above.abs());
    if down == up || (down - up).abs() <= rounding && rounding.is_finite() {
        return Ordering::Equal;
    }
    compare(down, up)
}
