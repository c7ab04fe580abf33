//! Rows and columns of a distance table as groups of comparable distances, each of which falls into two
//! clusters at its largest gap (Ong 2015, Definitions 18 to 20).
//!
//! Members of a group are kept sorted by distance. After an elimination, they rarely move far, so a refresh
//! inserts them one by one and resorts to a full sort only if that takes too many moves.

use super::Vulnerability;
use std::cmp::Ordering;

/// Factor by which bounds are widened, more than the relative rounding error of a sum of 2^32 numbers.
const ROUNDING: f64 = 1.0 + 1e-6;

/// Number of moves per member that take about as long as a full sort.
const MAX_MOVES_PER_MEMBER: usize = 8;

/// A cell of a row or a column.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GroupCell {
    /// Weighted distance.
    pub(super) distance: f64,
    /// Number of the column in a row, of the row in a column.
    pub(super) number: u32,
}

impl GroupCell {
    /// Compares by distance. Of equal distances, the one with the lower number sorts last.
    fn order(&self, other: &GroupCell) -> Ordering {
        let by_distance = self.distance.partial_cmp(&other.distance);
        by_distance
            .unwrap_or(Ordering::Equal)
            .then(other.number.cmp(&self.number))
    }

    fn is_before(&self, other: &GroupCell) -> bool {
        self.distance < other.distance || self.distance == other.distance && self.number > other.number
    }
}

/// All rows, or all columns: groups of comparable distances (Ong 2015, Definition 18), kept sorted.
#[derive(Debug)]
pub(super) struct SortedGroups {
    /// Maximum number of members of a group, and the distance between the starts of two groups in `members`.
    stride: usize,
    sizes: Vec<usize>,
    members: Vec<GroupCell>,
    /// Largest gap between neighbouring members of each group, 0 if it has fewer than two.
    gaps: Vec<f64>,
    /// Difference between the furthest and the nearest distance of each group.
    ranges: Vec<f64>,
}

impl SortedGroups {
    /// Creates an empty collection of groups with up to `stride` members each.
    pub(super) fn new(stride: usize) -> Self {
        SortedGroups {
            stride,
            sizes: Vec::new(),
            members: Vec::new(),
            gaps: Vec::new(),
            ranges: Vec::new(),
        }
    }

    /// Adds a group.
    pub(super) fn push(&mut self, members: Vec<GroupCell>) {
        let start = self.members.len();
        self.members.extend(members);
        let members = &mut self.members[start..];
        members.sort_unstable_by(GroupCell::order);
        self.gaps.push(largest_gap(members));
        self.ranges.push(range(members));
        self.sizes.push(members.len());
        self.members.resize(start + self.stride, GroupCell::default());
    }

    /// Returns the number of groups.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    fn members(&self, group: usize) -> &[GroupCell] {
        &self.members[group * self.stride..][..self.sizes[group]]
    }

    /// Returns the number of the member that is furthest away, `None` if the group is empty.
    pub(super) fn furthest(&self, group: usize) -> Option<u32> {
        self.members(group).last().map(|member| member.number)
    }

    /// Returns how clearly a group falls into two clusters (Ong 2015, Definition 20).
    pub(super) fn vulnerability(&self, group: usize, kind: Vulnerability) -> f64 {
        let (gap, range) = (self.gaps[group], self.ranges[group]);
        match kind {
            Vulnerability::Normalised if range > 0.0 => gap / range,
            _ => gap,
        }
    }

    /// Returns an upper bound of the vulnerability after members came nearer, none of them by more than
    /// `slack`. The k-th nearest distance did not decrease by more than that either, so no gap is wider and
    /// the range is not narrower by more than `slack`.
    #[inline]
    pub(super) fn vulnerability_bound(&self, group: usize, kind: Vulnerability, slack: f64) -> f64 {
        let gap = (self.gaps[group] + slack) * ROUNDING;
        match kind {
            Vulnerability::Gap => gap,
            Vulnerability::Normalised => {
                let range = self.ranges[group] - slack * ROUNDING;
                if gap < range { gap / range } else { 1.0 }
            }
        }
    }

    /// Returns the members below the largest gap, the lowest of equal gaps (Ong 2015, Definition 19). If all
    /// distances are equal, there is only one cluster.
    pub(super) fn lower_cluster(&self, group: usize) -> &[GroupCell] {
        let members = self.members(group);
        let gap = self.gaps[group];
        let is_largest = |pair: &[GroupCell]| pair[1].distance - pair[0].distance == gap;
        match members.windows(2).position(is_largest) {
            Some(below) if gap > 0.0 => &members[..=below],
            _ => members,
        }
    }

    /// Gives all members their current distances, and removes those whose distance is NaN.
    pub(super) fn refresh(&mut self, group: usize, distance: impl Fn(u32) -> f64) {
        let members = &mut self.members[group * self.stride..][..self.sizes[group]];
        // Members rarely move far, and insertion is then faster than a sort.
        let (mut kept, mut moves) = (0, 0);
        let max_moves = MAX_MOVES_PER_MEMBER * members.len();
        for place in 0..members.len() {
            let number = members[place].number;
            let distance = distance(number);
            if distance.is_nan() {
                continue;
            }
            members[kept] = GroupCell { distance, number };
            kept += 1;
            if moves <= max_moves {
                moves += insert_last(&mut members[..kept]);
            }
        }
        if moves > max_moves {
            members[..kept].sort_unstable_by(GroupCell::order);
        }
        self.sizes[group] = kept;
        self.gaps[group] = largest_gap(&members[..kept]);
        self.ranges[group] = range(&members[..kept]);
    }
}

/// Moves the last member to its place among the others, which are sorted, and returns by how many places it
/// moved.
fn insert_last(members: &mut [GroupCell]) -> usize {
    let last = members.len() - 1;
    let member = members[last];
    let mut place = last;
    while place > 0 && member.is_before(&members[place - 1]) {
        members[place] = members[place - 1];
        place -= 1;
    }
    members[place] = member;
    last - place
}

fn largest_gap(members: &[GroupCell]) -> f64 {
    let gaps = members.windows(2).map(|pair| pair[1].distance - pair[0].distance);
    gaps.fold(0.0, |largest, gap| if gap > largest { gap } else { largest })
}

fn range(members: &[GroupCell]) -> f64 {
    match members {
        [nearest, .., furthest] => furthest.distance - nearest.distance,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_move_far_are_sorted() {
        let member = |number: u32| GroupCell {
            distance: f64::from(number),
            number,
        };
        let mut groups = SortedGroups::new(100);
        groups.push((0..100).map(member).collect());
        assert_eq!(groups.furthest(0), Some(99));
        // In reverse order, without number 99, and with a gap of 10 in the middle.
        groups.refresh(0, |number| match number {
            99 => f64::NAN,
            0..50 => -f64::from(number),
            _ => -f64::from(number + 9),
        });
        assert!(groups.members(0).is_sorted_by(|a, b| a.distance < b.distance));
        assert_eq!(groups.furthest(0), Some(0));
        assert_eq!(groups.vulnerability(0, Vulnerability::Gap), 10.0);
        assert_eq!(groups.lower_cluster(0).len(), 49);
    }
}
