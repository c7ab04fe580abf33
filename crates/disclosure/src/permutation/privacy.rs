use super::moments::{Moments, Ranges};
use super::{HalfRanks, Ordinal, Points, Ties, Tree, ranks};
use crate::{Control, NULL, Result};
use rayon::prelude::*;
use std::cmp::Ordering;

/// An anonymised table, prepared to be asked how well it hides a record: (d, **v**)-permuted privacy.
///
/// The paper takes *the* released value closest to each of the record's own. Where several are, because they
/// are equal or as far below as above, any of them may be meant, and what is promised holds for all: ranks
/// are then compared with those from the lowest to the highest of the closest.
#[derive(Debug, Clone)]
pub struct Release {
    columns: Vec<Column>,
    tree: Tree,
}

/// How well a record is hidden.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Permuted {
    /// The largest distance that holds: in every released record some column is at least so many ranks away
    /// from the closest value.
    pub d: u64,
    /// Per column the variance of the values at most `d` ranks away from the closest one; see
    /// [`Release::variances`].
    pub variances: Vec<Option<f64>>,
}

/// The released values that are closest to a value: those at these places and between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Closest {
    /// The first of their places, [`NULL`] where absent values are closest.
    pub first: u32,
    /// The last one.
    pub last: u32,
}

/// The ranks of the closest values in a column.
#[derive(Debug, Clone, Copy)]
struct Sides {
    low: HalfRanks,
    high: HalfRanks,
}

/// Records with equal values.
#[derive(Debug, Clone, Copy)]
struct Group {
    place: u32,
    /// What it counts as; NaN for absent values.
    value: f64,
    /// Where it begins among the sorted records.
    start: u32,
    sides: Sides,
}

/// A sorted column.
#[derive(Debug, Clone)]
struct Column {
    /// In order, absent values last.
    groups: Vec<Group>,
    /// How many groups have a value.
    values: usize,
    records: u32,
    shares_ranks: bool,
    moments: Ranges,
}

impl Release {
    /// Prepares a table of at least one column.
    pub fn new(columns: &[Ordinal], ties: Ties, control: &Control) -> Result<Release> {
        let ranks: Vec<_> = columns
            .par_iter()
            .map(|column| ranks(&column.places, ties, control))
            .collect::<Result<_>>()?;
        control.check()?;
        let tree = Tree::new(&Points::new(&ranks), control)?;
        let columns = columns.par_iter().map(|column| Column::new(column, ties));
        Ok(Release {
            columns: columns.collect(),
            tree,
        })
    }

    /// How well a record is hidden, given by what its values count as; `None` if no record was released, so
    /// that any distance holds.
    pub fn check(&self, record: &[Option<f64>]) -> Option<Permuted> {
        let (low, high): (Vec<_>, Vec<_>) = self
            .sides(record)?
            .into_iter()
            .map(|sides| (sides.low, sides.high))
            .unzip();
        self.check_box(&low, &high)
    }

    /// The variances that permuted privacy at distance `d` asks for: of the values at most so many ranks away
    /// from the closest one, in each column. Absent values are left out. `None` where no value is left, or
    /// one that is not finite.
    pub fn variances(&self, record: &[Option<f64>], d: u64) -> Vec<Option<f64>> {
        match self.sides(record) {
            None => vec![None; self.columns.len()],
            Some(sides) => {
                let columns = self.columns.iter().zip(sides);
                columns.map(|(column, sides)| column.variance(sides, d)).collect()
            }
        }
    }

    /// The released values closest to those of a record, column by column; `None` if there are none.
    pub fn closest(&self, record: &[Option<f64>]) -> Option<Vec<Closest>> {
        let columns = self.columns.iter().zip(record);
        columns
            .map(|(column, &value)| {
                let (first, last) = column.closest(value)?;
                Some(Closest {
                    first: column.groups[first].place,
                    last: column.groups[last].place,
                })
            })
            .collect()
    }

    /// How well each record of a table is hidden, which has the same columns; empty if no record was
    /// released.
    pub fn check_all(&self, original: &[Ordinal], control: &Control) -> Result<Vec<Permuted>> {
        let records = original.first().map_or(0, |column| column.places.len());
        control.set_total(records as u64);
        let sides: Option<Vec<Vec<Sides>>> = self
            .columns
            .par_iter()
            .zip(original)
            .map(|(column, original)| column.sides_of_all(original))
            .collect();
        let Some(sides) = sides else {
            return Ok(Vec::new());
        };
        // Equal boxes have equal answers, and neighbours need the same part of the tree.
        let side =
            |side: fn(&Sides) -> HalfRanks| sides.iter().map(move |column| column.iter().map(side).collect());
        let columns: Vec<Vec<HalfRanks>> = side(|sides| sides.low).chain(side(|sides| sides.high)).collect();
        let boxes = Tree::new(&Points::new(&columns), control)?;
        boxes.per_record(control, |point| {
            let (low, high) = point.split_at(self.columns.len());
            self.check_box(low, high)
        })
    }

    fn check_box(&self, low: &[HalfRanks], high: &[HalfRanks]) -> Option<Permuted> {
        let d = u64::from(self.tree.nearest(low, high)? / 2);
        let sides = low.iter().zip(high).map(|(&low, &high)| Sides { low, high });
        let columns = self.columns.iter().zip(sides);
        Some(Permuted {
            d,
            variances: columns.map(|(column, sides)| column.variance(sides, d)).collect(),
        })
    }

    fn sides(&self, record: &[Option<f64>]) -> Option<Vec<Sides>> {
        debug_assert_eq!(record.len(), self.columns.len());
        let columns = self.columns.iter().zip(record);
        columns.map(|(column, &value)| column.sides(value)).collect()
    }
}

impl Column {
    fn new(ordinal: &Ordinal, ties: Ties) -> Column {
        let shares_ranks = ties == Ties::Shared;
        let mut records_at = vec![0u32; ordinal.scale.len() + 1];
        for &place in &ordinal.places {
            records_at[place as usize] += 1;
        }
        let places = (1..records_at.len()).chain([NULL as usize]);
        let mut groups = Vec::new();
        let mut start = 0;
        for place in places.filter(|&place| records_at[place] > 0) {
            let end = start + records_at[place];
            let sides = if shares_ranks {
                [start + 1 + end; 2]
            } else {
                [2 * (start + 1), 2 * end]
            };
            groups.push(Group {
                place: place as u32,
                value: place
                    .checked_sub(1)
                    .map_or(f64::NAN, |index| ordinal.scale[index]),
                start,
                sides: Sides {
                    low: sides[0],
                    high: sides[1],
                },
            });
            start = end;
        }
        let values = groups.len() - usize::from(records_at[NULL as usize] > 0);
        let mut column = Column {
            groups,
            values,
            records: start,
            shares_ranks,
            moments: Ranges::new(0, |_| Moments::default()),
        };
        column.moments = Ranges::new(values, |group| column.moments(group));
        column
    }

    /// Where a group ends among the sorted records.
    fn end(&self, group: usize) -> u32 {
        self.groups.get(group + 1).map_or(self.records, |next| next.start)
    }

    fn moments(&self, group: usize) -> Moments {
        let Group { value, start, .. } = self.groups[group];
        if value.is_finite() {
            Moments::equal(value, self.end(group) - start)
        } else {
            Moments::default()
        }
    }

    /// The first and the last of the groups closest to a value: absent ones to an absent value, or the last
    /// value if none is absent. `None` if there is no record.
    fn closest(&self, value: Option<f64>) -> Option<(usize, usize)> {
        let last = self.groups.len().checked_sub(1)?;
        let Some(value) = value.filter(|_| self.values > 0) else {
            return Some((last, last));
        };
        let values = &self.groups[..self.values];
        let first_not_below =
            |value: f64| values.partition_point(|group| order(group.value, value) == Ordering::Less);
        let first_above =
            |value: f64| values.partition_point(|group| order(group.value, value) != Ordering::Greater);
        let below = first_not_below(value)
            .checked_sub(1)
            .map(|group| values[group].value);
        let above = values.get(first_not_below(value)).map(|group| group.value);
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

    fn sides(&self, value: Option<f64>) -> Option<Sides> {
        let (first, last) = self.closest(value)?;
        Some(Sides {
            low: self.groups[first].sides.low,
            high: self.groups[last].sides.high,
        })
    }

    /// The ranks of the values closest to those of all records of the original column.
    fn sides_of_all(&self, original: &Ordinal) -> Option<Vec<Sides>> {
        let values = original.scale.iter().map(|&value| Some(value));
        let of_places: Vec<Sides> = std::iter::once(None)
            .chain(values)
            .map(|value| self.sides(value))
            .collect::<Option<_>>()?;
        let places = original.places.iter();
        Some(places.map(|&place| of_places[place as usize]).collect())
    }

    /// The variance of the values at most `d` ranks away from some.
    fn variance(&self, sides: Sides, d: u64) -> Option<f64> {
        let reach = d.saturating_mul(2);
        let low = u64::from(sides.low).saturating_sub(reach);
        let high = u64::from(sides.high).saturating_add(reach);
        let values = &self.groups[..self.values];
        // The groups of which a record at least is so near.
        let first = values.partition_point(|group| u64::from(group.sides.high) < low);
        let last = values
            .partition_point(|group| u64::from(group.sides.low) <= high)
            .checked_sub(1)
            .filter(|&last| first <= last)?;
        if !values[first].value.is_finite() || !values[last].value.is_finite() {
            return None;
        }
        // Records of a group that do not share their rank may be near in part.
        let near = |group: usize| {
            if self.shares_ranks {
                return self.moments(group);
            }
            let from = u64::from(values[group].start).max(low.div_ceil(2).saturating_sub(1));
            let to = u64::from(self.end(group)).min(high / 2);
            Moments::equal(values[group].value, to.saturating_sub(from) as u32)
        };
        if first == last {
            return near(first).variance();
        }
        let between = self.moments.of(first + 1..last, |group| self.moments(group));
        near(first).and(near(last)).and(between).variance()
    }
}

/// The order of numbers with NaN after all others, and equal to itself.
fn order(first: f64, second: f64) -> Ordering {
    first
        .partial_cmp(&second)
        .unwrap_or_else(|| first.is_nan().cmp(&second.is_nan()))
}

/// Which of two values is nearer to one between them: `Less` for the lower one. Distances that differ by no
/// more than the rounding of their ends are equal, as those of 0.2 and 0.4 to 0.3.
fn nearer(below: f64, value: f64, above: f64) -> Ordering {
    if order(value, above) == Ordering::Equal {
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
    order(down, up)
}
