use super::Vulnerability;
use std::cmp::Ordering;

/// What bounds are stretched by: more than a sum of 2^32 numbers is off by rounding.
const ROUNDING: f64 = 1.0 + 1e-6;

/// So many moves for every member take about as long as a sort.
const MOVES: usize = 8;

/// A cell of a row or a column.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Member {
    /// Its weighted distance.
    pub(super) distance: f64,
    /// The column, in a row; the row, in a column.
    pub(super) number: u32,
}

impl Member {
    /// By distance; of equal ones, that with the lower number is the last.
    fn order(&self, other: &Member) -> Ordering {
        let by_distance = self.distance.partial_cmp(&other.distance);
        by_distance
            .unwrap_or(Ordering::Equal)
            .then(other.number.cmp(&self.number))
    }

    fn is_before(&self, other: &Member) -> bool {
        self.distance < other.distance || self.distance == other.distance && self.number > other.number
    }
}

/// All rows, or all columns: comparable distances (Ong 2015, Definition 18), which are kept sorted.
#[derive(Debug)]
pub(super) struct Groups {
    /// The most that a group has.
    stride: usize,
    sizes: Vec<usize>,
    members: Vec<Member>,
    /// The largest gap between neighbours; 0 if there are none.
    gaps: Vec<f64>,
    /// How far the furthest is from the nearest.
    ranges: Vec<f64>,
}

impl Groups {
    /// No groups yet, of up to so many members each.
    pub(super) fn new(stride: usize) -> Self {
        Groups {
            stride,
            sizes: Vec::new(),
            members: Vec::new(),
            gaps: Vec::new(),
            ranges: Vec::new(),
        }
    }

    /// One more.
    pub(super) fn push(&mut self, members: Vec<Member>) {
        let start = self.members.len();
        self.members.extend(members);
        let members = &mut self.members[start..];
        members.sort_unstable_by(Member::order);
        self.gaps.push(largest_gap(members));
        self.ranges.push(range(members));
        self.sizes.push(members.len());
        self.members.resize(start + self.stride, Member::default());
    }

    /// How many groups there are.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    fn members(&self, group: usize) -> &[Member] {
        &self.members[group * self.stride..][..self.sizes[group]]
    }

    /// The number of the member that is furthest away.
    pub(super) fn furthest(&self, group: usize) -> Option<u32> {
        self.members(group).last().map(|member| member.number)
    }

    /// How clearly a group falls into two clusters (Ong 2015, Definition 20).
    pub(super) fn vulnerability(&self, group: usize, kind: Vulnerability) -> f64 {
        let (gap, range) = (self.gaps[group], self.ranges[group]);
        match kind {
            Vulnerability::Normalised if range > 0.0 => gap / range,
            _ => gap,
        }
    }

    /// No vulnerability is more after members came nearer, none of them by more than `slack`: the k-th of them did not
    /// either, so that no gap is wider, and the range not narrower, by more than that.
    #[inline]
    pub(super) fn most_vulnerability(&self, group: usize, kind: Vulnerability, slack: f64) -> f64 {
        let gap = (self.gaps[group] + slack) * ROUNDING;
        match kind {
            Vulnerability::Gap => gap,
            Vulnerability::Normalised => {
                let range = self.ranges[group] - slack * ROUNDING;
                if gap < range { gap / range } else { 1.0 }
            }
        }
    }

    /// The members below the largest gap, the lowest of equal ones (Ong 2015, Definition 19). If all are at the same
    /// distance, there is but one cluster.
    pub(super) fn lower_cluster(&self, group: usize) -> &[Member] {
        let members = self.members(group);
        let gap = self.gaps[group];
        let is_largest = |pair: &[Member]| pair[1].distance - pair[0].distance == gap;
        match members.windows(2).position(is_largest) {
            Some(below) if gap > 0.0 => &members[..=below],
            _ => members,
        }
    }

    /// Give all members the distances that they have now, NaN those that are members no more.
    pub(super) fn refresh(&mut self, group: usize, distance: impl Fn(u32) -> f64) {
        let members = &mut self.members[group * self.stride..][..self.sizes[group]];
        // Hardly any has moved far, mostly: then there is less to do than in a sort.
        let (mut kept, mut moves) = (0, 0);
        let most_moves = MOVES * members.len();
        for place in 0..members.len() {
            let number = members[place].number;
            let distance = distance(number);
            if distance.is_nan() {
                continue;
            }
            members[kept] = Member { distance, number };
            kept += 1;
            if moves <= most_moves {
                moves += sink(&mut members[..kept]);
            }
        }
        if moves > most_moves {
            members[..kept].sort_unstable_by(Member::order);
        }
        self.sizes[group] = kept;
        self.gaps[group] = largest_gap(&members[..kept]);
        self.ranges[group] = range(&members[..kept]);
    }
}

/// Put the last member to where it belongs among the others, which are sorted; returns how far that is.
fn sink(members: &mut [Member]) -> usize {
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

fn largest_gap(members: &[Member]) -> f64 {
    let gaps = members.windows(2).map(|pair| pair[1].distance - pair[0].distance);
    gaps.fold(0.0, |largest, gap| if gap > largest { gap } else { largest })
}

fn range(members: &[Member]) -> f64 {
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
        let member = |number: u32| Member {
            distance: f64::from(number),
            number,
        };
        let mut groups = Groups::new(100);
        groups.push((0..100).map(member).collect());
        assert_eq!(groups.furthest(0), Some(99));
        // The other way round, without the last, and with a gap of 10 in the middle.
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
