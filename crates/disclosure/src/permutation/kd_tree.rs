//! Nearest neighbours in rank space: a k-d tree.
//!
//! The tree is our own because those of crates such as kiddo do less. Here the distance is the largest
//! difference of `u32` half ranks in any column (Chebyshev), points may have any number of columns and are
//! compared with boxes, equal records are one point, the results of many queries are united without listing
//! them ([`Marks`]), and building and querying can be cancelled. Coordinates, boxes and marks are flat
//! vectors that loops index by hand, because they are the hot part of record linkage.

use super::{HalfRanks, Points};
use crate::{Control, Result};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Number of records up to which a node is not split. Larger leaves make a search compare more points,
/// smaller ones make it visit more nodes.
const LEAF: usize = 8;
/// Number of records up to which one thread builds a subtree alone: about a millisecond of work.
const MAX_SEQUENTIAL: usize = 1 << 13;
/// Largest number of records sampled to choose the column in which a node is split.
const SAMPLE: usize = 64;

/// Number of columns of wide points that are compared at once.
const COLUMNS_AT_ONCE: usize = 4;
/// Number of points queried between two checks for a cancel.
pub(super) const QUERIES_PER_CHECK: usize = 64;

/// k-d tree of points in rank space, which finds the points near a location without comparing all of them.
///
/// Equal records are one point. A node is split at a value, so that equal points stay together, about in the
/// middle, and in the column in which the points are spread most.
#[derive(Debug, Clone)]
pub struct KdTree {
    width: usize,
    /// Nodes in preorder: the left child follows its parent.
    nodes: Vec<Node>,
    /// Lowest and highest coordinate, by node and column.
    boxes: Vec<Interval>,
    /// Lowest record number of each node.
    lowest_records: Vec<u32>,
    /// Coordinates of each distinct point. The points of a subtree are next to each other.
    coordinates: Vec<HalfRanks>,
    /// Index in `records` of the first record of each point, followed by the end of the last point.
    point_starts: Vec<u32>,
    /// Records, point by point, in ascending order within a point.
    records: Vec<u32>,
}

/// A closed interval of coordinates.
#[derive(Debug, Clone, Copy)]
struct Interval {
    low: HalfRanks,
    high: HalfRanks,
}

impl Interval {
    /// Returns the distance from another interval; 0 if they meet.
    #[inline]
    fn gap(self, other: Interval) -> HalfRanks {
        // At least one of the two is 0.
        self.low.saturating_sub(other.high) | other.low.saturating_sub(self.high)
    }

    /// Returns how far the interval extends beyond another one; 0 if it is inside.
    #[inline]
    fn excess(self, other: Interval) -> HalfRanks {
        let (below, above) = (
            other.low.saturating_sub(self.low),
            self.high.saturating_sub(other.high),
        );
        below.max(above)
    }

    fn cover(&mut self, other: Interval) {
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
    }
}

#[derive(Debug, Clone)]
struct Node {
    /// Number of its first point.
    begin: u32,
    /// Number after that of its last point.
    end: u32,
    /// Offset of the right child in the list of nodes; 0 for a leaf.
    right: u32,
    /// Column in which the points are split.
    column: u32,
    /// Range of the coordinates of each child in this column.
    child_ranges: [Interval; 2],
}

impl Node {
    fn points(&self) -> Range<usize> {
        self.begin as usize..self.end as usize
    }

    #[inline]
    fn is_leaf(&self) -> bool {
        self.right == 0
    }
}

/// Records found by a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundRecords {
    /// Number of records.
    pub records: u64,
    /// Lowest record number; `u32::MAX` if there are no records.
    pub first: u32,
}

/// Union of the results of several queries, gathered by all threads at once.
#[derive(Debug)]
pub struct Marks {
    nodes: Vec<AtomicBool>,
    points: Vec<AtomicBool>,
}

/// Part of the result of a query.
enum Piece {
    Subtree(usize),
    Point(usize),
}

/// Calls a method for the width of the tree. A small width is known at compile time; 0 stands for any width.
macro_rules! with_width {
    ($tree:ident . $method:ident ( $($argument:expr),* )) => {
        match $tree.width {
            1 => $tree.$method::<1>($($argument),*),
            2 => $tree.$method::<2>($($argument),*),
            3 => $tree.$method::<3>($($argument),*),
            4 => $tree.$method::<4>($($argument),*),
            5 => $tree.$method::<5>($($argument),*),
            6 => $tree.$method::<6>($($argument),*),
            _ => $tree.$method::<0>($($argument),*),
        }
    };
}

impl KdTree {
    /// Builds the tree of `points`, of which there may be none.
    pub fn new(points: &Points, control: &Control) -> Result<KdTree> {
        let mut records: Vec<u32> = (0..points.len() as u32).collect();
        let mut branch = if records.is_empty() {
            Branch::default()
        } else {
            Branch::build_parallel(points, &mut records, 0, control)?
        };
        branch.point_starts.push(records.len() as u32);
        let first_records = branch.point_starts[..branch.point_starts.len() - 1].par_iter();
        let coordinates = first_records
            .flat_map_iter(|&start| points.point(records[start as usize] as usize).iter().copied())
            .collect();
        Ok(KdTree {
            width: points.width(),
            nodes: branch.nodes,
            boxes: branch.boxes,
            lowest_records: branch.lowest_records,
            coordinates,
            point_starts: branch.point_starts,
            records,
        })
    }

    /// Returns the number of distinct points.
    pub fn points(&self) -> usize {
        self.point_starts.len() - 1
    }

    /// Returns the number of records.
    pub fn total_records(&self) -> usize {
        self.records.len()
    }

    /// Returns a point. Points with close numbers are close to each other.
    pub fn point(&self, number: usize) -> &[HalfRanks] {
        &self.coordinates[number * self.width..(number + 1) * self.width]
    }

    /// Returns the records at a point, in ascending order.
    pub fn records(&self, number: usize) -> &[u32] {
        &self.records[self.point_starts[number] as usize..self.point_starts[number + 1] as usize]
    }

    /// Calls `query` for each distinct point and returns the results per record. All threads take part, and
    /// neighbouring points follow each other. Records for which `query` returns `None` are left out, so it
    /// must do so for all points or for none.
    pub(super) fn per_record<T: Clone + Send>(
        &self,
        control: &Control,
        query: impl Fn(&[HalfRanks]) -> Option<T> + Sync,
    ) -> Result<Vec<T>> {
        let pieces = (0..self.points().div_ceil(QUERIES_PER_CHECK))
            .into_par_iter()
            .map(|piece| {
                control.check()?;
                let points = piece * QUERIES_PER_CHECK..self.points().min((piece + 1) * QUERIES_PER_CHECK);
                control.advance(u64::from(
                    self.point_starts[points.end] - self.point_starts[points.start],
                ));
                Ok(points.map(|point| query(self.point(point))).collect())
            });
        let answers: Vec<Vec<Option<T>>> = pieces.collect::<Result<_>>()?;
        let mut of_records = vec![None; self.records.len()];
        for (point, answer) in answers.into_iter().flatten().enumerate() {
            for &record in self.records(point) {
                of_records[record as usize] = answer.clone();
            }
        }
        Ok(of_records.into_iter().flatten().collect())
    }

    /// Returns the distance of the nearest point from a closed box: the largest gap in any column. The box is
    /// a point if `low` and `high` are equal. Returns `None` if there are no points.
    pub fn nearest(&self, low: &[HalfRanks], high: &[HalfRanks]) -> Option<HalfRanks> {
        // Larger than any distance of two ranks.
        let mut best = HalfRanks::MAX;
        if !self.nodes.is_empty() {
            with_width!(self.search(low, high, 0, 0, &mut best));
        }
        (best < HalfRanks::MAX).then_some(best)
    }

    /// Finds all records within `distance` of a closed box.
    pub fn within(&self, low: &[HalfRanks], high: &[HalfRanks], distance: HalfRanks) -> FoundRecords {
        self.gather(low, high, distance, |_| {})
    }

    /// Finds all records within `distance` of a closed box and marks them.
    pub fn mark_within(
        &self,
        low: &[HalfRanks],
        high: &[HalfRanks],
        distance: HalfRanks,
        marks: &Marks,
    ) -> FoundRecords {
        self.gather(low, high, distance, |piece| marks.add(piece))
    }

    /// Returns marks for this tree, none of them set.
    pub fn marks(&self) -> Marks {
        let none = |number: usize| (0..number).map(|_| AtomicBool::new(false)).collect();
        Marks {
            nodes: none(self.nodes.len()),
            points: none(self.points()),
        }
    }

    /// Returns the number of records that are not marked.
    pub fn unmarked(&self, marks: &Marks) -> u64 {
        let mut unmarked = 0;
        let mut covered_up_to = 0;
        for (node, marked) in self.nodes.iter().zip(&marks.nodes) {
            if marked.load(Relaxed) {
                covered_up_to = covered_up_to.max(node.end);
            } else if node.is_leaf() && node.begin >= covered_up_to {
                let points = node.points().filter(|&point| !marks.points[point].load(Relaxed));
                unmarked += points.map(|point| self.records(point).len() as u64).sum::<u64>();
            }
        }
        unmarked
    }

    /// Lowers `best` to the distance of the nearest point below a node, if that is shorter. `gap` is a lower
    /// bound of the distances of all points of the node.
    fn search<const WIDTH: usize>(
        &self,
        low: &[HalfRanks],
        high: &[HalfRanks],
        mut gap: HalfRanks,
        mut number: usize,
        best: &mut HalfRanks,
    ) {
        loop {
            let node = &self.nodes[number];
            if node.is_leaf() {
                for point in node.points() {
                    *best = (*best).min(self.gap_to_point::<WIDTH>(low, high, point, *best));
                }
                return;
            }
            let column = node.column as usize;
            let here = Interval {
                low: low[column],
                high: high[column],
            };
            let [left, right] = node.child_ranges.map(|range| range.gap(here).max(gap));
            let (left, right) = ((left, number + 1), (right, number + node.right as usize));
            let (near, far) = if left.0 <= right.0 {
                (left, right)
            } else {
                (right, left)
            };
            if near.0 < *best {
                self.search::<WIDTH>(low, high, near.0, near.1, best);
            }
            if far.0 >= *best {
                return;
            }
            (gap, number) = far;
        }
    }

    /// Returns the distance of a point from a box. If that is at least `bound`, the result may be any number
    /// from `bound` to the distance.
    #[inline]
    fn gap_to_point<const WIDTH: usize>(
        &self,
        low: &[HalfRanks],
        high: &[HalfRanks],
        point: usize,
        bound: HalfRanks,
    ) -> HalfRanks {
        let width = if WIDTH == 0 { self.width } else { WIDTH };
        let (low, high) = (&low[..width], &high[..width]);
        let point = &self.coordinates[point * width..][..width];
        if WIDTH > 0 {
            return gap(point, low, high);
        }
        // Most points are too far away in one of the first columns. A branch after each column would be hard
        // to predict.
        let (points, rest_of_point) = point.as_chunks::<COLUMNS_AT_ONCE>();
        let (lows, rest_of_low) = low.as_chunks::<COLUMNS_AT_ONCE>();
        let (highs, rest_of_high) = high.as_chunks::<COLUMNS_AT_ONCE>();
        let mut farthest = 0;
        for ((point, low), high) in points.iter().zip(lows).zip(highs) {
            farthest = farthest.max(gap(point, low, high));
            if farthest >= bound {
                return farthest;
            }
        }
        farthest.max(gap(rest_of_point, rest_of_low, rest_of_high))
    }

    /// Finds all records within `distance` of a box. `keep` gets them in pieces.
    fn gather(
        &self,
        low: &[HalfRanks],
        high: &[HalfRanks],
        distance: HalfRanks,
        mut keep: impl FnMut(Piece),
    ) -> FoundRecords {
        let mut found = FoundRecords {
            records: 0,
            first: u32::MAX,
        };
        let mut add = |piece: Piece| {
            let (points, first) = match piece {
                Piece::Subtree(node) => (self.nodes[node].points(), self.lowest_records[node]),
                Piece::Point(point) => (point..point + 1, self.records[self.point_starts[point] as usize]),
            };
            found.records += u64::from(self.point_starts[points.end] - self.point_starts[points.start]);
            found.first = found.first.min(first);
            keep(piece);
        };
        if !self.nodes.is_empty() {
            with_width!(self.gather_below(low, high, distance, 0, &mut add));
        }
        found
    }

    fn gather_below<const WIDTH: usize>(
        &self,
        low: &[HalfRanks],
        high: &[HalfRanks],
        distance: HalfRanks,
        mut number: usize,
        add: &mut impl FnMut(Piece),
    ) {
        loop {
            let node = &self.nodes[number];
            if node.is_leaf() {
                let near = |&point: &usize| {
                    let too_far = distance.saturating_add(1);
                    self.gap_to_point::<WIDTH>(low, high, point, too_far) <= distance
                };
                node.points()
                    .filter(near)
                    .for_each(|point| add(Piece::Point(point)));
                return;
            }
            if self.is_inside::<WIDTH>(low, high, distance, number) {
                add(Piece::Subtree(number));
                return;
            }
            let column = node.column as usize;
            let here = Interval {
                low: low[column],
                high: high[column],
            };
            let [left, right] = node.child_ranges.map(|range| range.gap(here) <= distance);
            let children = [number + 1, number + node.right as usize];
            match (left, right) {
                (true, true) => {
                    self.gather_below::<WIDTH>(low, high, distance, children[0], add);
                    number = children[1];
                }
                (true, false) => number = children[0],
                (false, true) => number = children[1],
                (false, false) => return,
            }
        }
    }

    /// Returns whether all points of a node are certainly within `distance` of the box.
    #[inline]
    fn is_inside<const WIDTH: usize>(
        &self,
        low: &[HalfRanks],
        high: &[HalfRanks],
        distance: HalfRanks,
        node: usize,
    ) -> bool {
        let width = if WIDTH == 0 { self.width } else { WIDTH };
        let reach = &self.boxes[node * width..][..width];
        let mut columns = reach.iter().zip(low[..width].iter().zip(&high[..width]));
        columns.all(|(reach, (&low, &high))| reach.excess(Interval { low, high }) <= distance)
    }
}

impl Marks {
    #[inline]
    fn add(&self, piece: Piece) {
        let mark = match piece {
            Piece::Subtree(node) => &self.nodes[node],
            Piece::Point(point) => &self.points[point],
        };
        // A store would take the cache line away from other threads, even if it changes nothing.
        if !mark.load(Relaxed) {
            mark.store(true, Relaxed);
        }
    }
}

/// Returns the distance of a point from a box.
#[inline]
fn gap(point: &[HalfRanks], low: &[HalfRanks], high: &[HalfRanks]) -> HalfRanks {
    let bounds = low.iter().zip(high);
    let gaps = point.iter().zip(bounds).map(|(&coordinate, (&low, &high))| {
        // At least one of the two is 0.
        low.saturating_sub(coordinate) | coordinate.saturating_sub(high)
    });
    gaps.max().unwrap_or(0)
}

/// Part of a tree under construction. Points are numbered from the first point of the branch, records from
/// the start of the slice of `records` from which the branch is built.
#[derive(Default)]
struct Branch {
    nodes: Vec<Node>,
    boxes: Vec<Interval>,
    lowest_records: Vec<u32>,
    point_starts: Vec<u32>,
}

impl Branch {
    /// Builds the tree of the records in `records`, of which there is at least one, and sorts `records` by
    /// points. The parent is split in column `above`.
    fn build_parallel(
        points: &Points,
        records: &mut [u32],
        above: usize,
        control: &Control,
    ) -> Result<Branch> {
        let mut branch = Branch::default();
        if records.len() <= MAX_SEQUENTIAL {
            control.check()?;
            // The points are scattered in memory; a copy of them fits into the cache.
            records.sort_unstable();
            let mut copies: Vec<u32> = (0..records.len() as u32).collect();
            branch.build(&points.select(records), &mut copies, 0, above, &mut Vec::new());
            let of_copy = |&copy: &u32| records[copy as usize];
            let sorted: Vec<u32> = copies.iter().map(of_copy).collect();
            branch
                .lowest_records
                .iter_mut()
                .for_each(|first| *first = of_copy(first));
            records.copy_from_slice(&sorted);
            return Ok(branch);
        }
        let Some(column) = most_spread(points, records, above) else {
            branch.push_leaf(points, records, 0);
            return Ok(branch);
        };
        control.check()?;
        let middle = split(points, records, column, &mut Vec::new());
        let (before, after) = records.split_at_mut(middle);
        let (left, right) = rayon::join(
            || Self::build_parallel(points, before, column, control),
            || Self::build_parallel(points, after, column, control),
        );
        let root = branch.push_node(points.width());
        let left_child = branch.nodes.len();
        branch.append(left?, 0);
        let right_child = branch.nodes.len();
        branch.append(right?, middle as u32);
        branch.join(root, column, [left_child, right_child], points.width());
        Ok(branch)
    }

    /// Appends the tree of the records in `records`, which begins at `start`, and returns its root. The
    /// parent is split in column `above`. `keys` is a buffer that is reused.
    fn build(
        &mut self,
        points: &Points,
        records: &mut [u32],
        start: u32,
        above: usize,
        keys: &mut Vec<u64>,
    ) -> usize {
        let column = (records.len() > LEAF).then(|| most_spread(points, records, above));
        let Some(Some(column)) = column else {
            return self.push_leaf(points, records, start);
        };
        let middle = split(points, records, column, keys);
        let (before, after) = records.split_at_mut(middle);
        let root = self.push_node(points.width());
        let left = self.build(points, before, start, column, keys);
        let right = self.build(points, after, start + middle as u32, column, keys);
        self.join(root, column, [left, right], points.width());
        root
    }

    /// Appends an empty node and returns its number.
    fn push_node(&mut self, width: usize) -> usize {
        const EMPTY: Interval = Interval {
            low: HalfRanks::MAX,
            high: 0,
        };
        let points = self.point_starts.len() as u32;
        self.nodes.push(Node {
            begin: points,
            end: points,
            right: 0,
            column: 0,
            child_ranges: [EMPTY; 2],
        });
        self.boxes.extend(std::iter::repeat_n(EMPTY, width));
        self.lowest_records.push(u32::MAX);
        self.nodes.len() - 1
    }

    /// Appends a leaf with these records and returns its number.
    fn push_leaf(&mut self, points: &Points, records: &mut [u32], start: u32) -> usize {
        let point = |record: u32| points.point(record as usize);
        records.sort_unstable_by(|&a, &b| point(a).cmp(point(b)).then(a.cmp(&b)));
        let leaf = self.push_node(points.width());
        let reach = &mut self.boxes[leaf * points.width()..];
        let mut begin = start;
        for equal in records.chunk_by(|&a, &b| point(a) == point(b)) {
            self.point_starts.push(begin);
            begin += equal.len() as u32;
            self.lowest_records[leaf] = self.lowest_records[leaf].min(equal[0]);
            for (reach, &coordinate) in reach.iter_mut().zip(point(equal[0])) {
                reach.cover(Interval {
                    low: coordinate,
                    high: coordinate,
                });
            }
        }
        self.nodes[leaf].end = self.point_starts.len() as u32;
        leaf
    }

    /// Appends a branch that was built separately, from records that begin at `start`.
    fn append(&mut self, mut other: Branch, start: u32) {
        let points = self.point_starts.len() as u32;
        for node in &mut other.nodes {
            node.begin += points;
            node.end += points;
        }
        self.point_starts
            .extend(other.point_starts.iter().map(|first| first + start));
        self.nodes.append(&mut other.nodes);
        self.boxes.append(&mut other.boxes);
        self.lowest_records.append(&mut other.lowest_records);
    }

    /// Completes a node with the data of its children, which have just been appended.
    fn join(&mut self, root: usize, column: usize, children: [usize; 2], width: usize) {
        for (side, child) in children.into_iter().enumerate() {
            self.nodes[root].child_ranges[side] = self.boxes[child * width + column];
            self.lowest_records[root] = self.lowest_records[root].min(self.lowest_records[child]);
            for column in 0..width {
                let reach = self.boxes[child * width + column];
                self.boxes[root * width + column].cover(reach);
            }
        }
        let node = &mut self.nodes[root];
        node.end = self.point_starts.len() as u32;
        node.right = (children[1] - root) as u32;
        node.column = column as u32;
    }
}

/// Returns the column in which the records are spread most; `None` if all records are equal. Columns with
/// nearly the same spread take turns, beginning after column `above`. The spread is that of a sample, or of
/// all records if the sampled ones are equal.
fn most_spread(points: &Points, records: &[u32], above: usize) -> Option<usize> {
    let sample = || records.iter().step_by(records.len().div_ceil(SAMPLE)).copied();
    widest(points, above, |column| {
        let coordinates = || sample().map(|record| points.point(record as usize)[column]);
        let number = coordinates().count() as u64;
        let mean = coordinates().map(u64::from).sum::<u64>() / number;
        // Mean distance, not range: a column in which few records differ from all others is a bad one to
        // split, however far away these are.
        coordinates()
            .map(|coordinate| u64::from(coordinate).abs_diff(mean))
            .sum()
    })
    .or_else(|| {
        widest(points, above, |column| {
            let coordinates = || {
                records
                    .iter()
                    .map(|&record| points.point(record as usize)[column])
            };
            let (low, high) = (coordinates().min(), coordinates().max());
            u64::from(high.unwrap_or(0) - low.unwrap_or(0))
        })
    })
}

/// Returns the next column after `above` whose width is close to the largest one; `None` if all widths are 0.
/// If correlated columns did not take turns, a search would not see how far away points are in the columns
/// that are never split.
fn widest(points: &Points, above: usize, width: impl Fn(usize) -> u64) -> Option<usize> {
    let widths: Vec<u64> = (0..points.width()).map(width).collect();
    let largest = *widths.iter().max().filter(|&&largest| largest > 0)?;
    let mut in_turn = (above + 1..points.width()).chain(0..=above);
    in_turn.find(|&column| widths[column] >= largest - largest / 8)
}

/// Moves the records with lower values in a column to the front and returns their number. These are about
/// half of the records, but equal values are never separated. The column has at least two different values.
fn split(points: &Points, records: &mut [u32], column: usize, keys: &mut Vec<u64>) -> usize {
    let coordinate = |record: u32| points.point(record as usize)[column];
    keys.clear();
    keys.extend(
        records
            .iter()
            .map(|&record| u64::from(coordinate(record)) << 32 | u64::from(record)),
    );
    let half = keys.len() / 2;
    let (lower, &mut median, upper) = keys.select_nth_unstable(half);
    let median = median >> 32;
    let below = lower.iter().filter(|&&key| key >> 32 < median).count();
    let up_to = records.len() - upper.iter().filter(|&&key| key >> 32 > median).count();
    // The records at the median go to the side that makes both sides more equal and leaves neither empty.
    let median_is_upper = below > 0 && (up_to == records.len() || half - below <= up_to - half);
    let middle = if median_is_upper { below } else { up_to };
    let mut ends = [0, middle];
    for &key in &*keys {
        let is_upper = key >> 32 > median || (median_is_upper && key >> 32 == median);
        let end = &mut ends[usize::from(is_upper)];
        records[*end] = key as u32;
        *end += 1;
    }
    middle
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_go_together_are_split_in_turn() {
        let up: Vec<HalfRanks> = (1..=20_000).map(|rank| 2 * rank).collect();
        let down: Vec<HalfRanks> = up.iter().rev().copied().collect();
        let tree = KdTree::new(&Points::new(&[up.clone(), down, up]), &Control::new()).unwrap();
        for (number, node) in tree.nodes.iter().enumerate().filter(|(_, node)| !node.is_leaf()) {
            for child in [number + 1, number + node.right as usize].map(|child| &tree.nodes[child]) {
                assert!(child.is_leaf() || child.column == (node.column + 1) % 3);
            }
        }
    }
}
