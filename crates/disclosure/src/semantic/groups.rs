use super::Vulnerability;
use std::cmp::Ordering;

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

/// A cell whose distance became less.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nearer {
    /// As in the group.
    pub(super) number: u32,
    pub(super) before: f64,
    pub(super) now: f64,
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
}

impl Groups {
    /// No groups yet, of up to so many members each.
    pub(super) fn new(stride: usize) -> Self {
        Groups {
            stride,
            sizes: Vec::new(),
            members: Vec::new(),
            gaps: Vec::new(),
        }
    }

    /// One more.
    pub(super) fn push(&mut self, members: impl Iterator<Item = Member>) {
        let start = self.members.len();
        self.members.extend(members);
        let members = &mut self.members[start..];
        members.sort_unstable_by(Member::order);
        self.gaps.push(largest_gap(members));
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
        let gap = self.gaps[group];
        match (kind, self.members(group)) {
            (Vulnerability::Normalised, [nearest, .., furthest]) if furthest.distance > nearest.distance => {
                gap / (furthest.distance - nearest.distance)
            }
            _ => gap,
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

    /// Take a member out, and give all others new distances, which are not greater; hand over which are less.
    pub(super) fn reweigh(
        &mut self,
        group: usize,
        without: u32,
        distance: impl Fn(u32) -> f64,
        nearer: &mut Vec<Nearer>,
    ) {
        let members = &mut self.members[group * self.stride..][..self.sizes[group]];
        nearer.clear();
        let mut kept = 0;
        for place in 0..members.len() {
            let Member {
                distance: before,
                number,
            } = members[place];
            if number == without {
                continue;
            }
            let now = distance(number);
            if now != before {
                nearer.push(Nearer { number, before, now });
            }
            let member = Member {
                distance: now,
                number,
            };
            insert(&mut members[..=kept], member);
            kept += 1;
        }
        self.sizes[group] = kept;
        self.gaps[group] = largest_gap(&members[..kept]);
    }

    /// Give a member a distance that is less. All gaps are looked at again only if the largest may have become less.
    pub(super) fn bring_nearer(&mut self, group: usize, number: u32, before: f64, now: f64) {
        let members = &mut self.members[group * self.stride..][..self.sizes[group]];
        let old = Member {
            distance: before,
            number,
        };
        let from = members.partition_point(|member| member.is_before(&old));
        let left_behind = from
            .checked_sub(1)
            .map_or(0.0, |below| before - members[below].distance);
        let to = insert(
            &mut members[..=from],
            Member {
                distance: now,
                number,
            },
        );
        let members = &*members;
        let split = match to.checked_sub(1) {
            Some(below) if to < from => members[to + 1].distance - members[below].distance,
            _ => 0.0,
        };
        let gap_above = |place: usize| match members[place..] {
            [lower, upper, ..] => upper.distance - lower.distance,
            _ => 0.0,
        };
        let gap_below = to.checked_sub(1).map_or(0.0, gap_above);
        let gained = gap_below.max(gap_above(to)).max(gap_above(from));
        let gap = &mut self.gaps[group];
        if gained >= *gap {
            *gap = gained;
        } else if left_behind == *gap || split == *gap {
            *gap = largest_gap(members);
        }
    }
}

/// Put a member to where it belongs among others that are sorted, whose last place is free; returns where that is.
fn insert(members: &mut [Member], member: Member) -> usize {
    let mut place = members.len() - 1;
    while place > 0 && member.is_before(&members[place - 1]) {
        members[place] = members[place - 1];
        place -= 1;
    }
    members[place] = member;
    place
}

fn largest_gap(members: &[Member]) -> f64 {
    let gaps = members.windows(2).map(|pair| pair[1].distance - pair[0].distance);
    gaps.fold(0.0, |largest, gap| if gap > largest { gap } else { largest })
}
