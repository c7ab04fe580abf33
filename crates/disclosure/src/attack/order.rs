//! Order in which the rows of a block are processed by `frontier`, chosen so that few columns are open at a
//! time.
//!
//! The search is greedy: it tries several starts, extends each order by the row that leaves the fewest
//! columns open, and keeps the order with the lowest estimated cost.

use super::Matrix;
use crate::{Control, Result};

/// Edges of a block by row, or by column: a matrix and its transpose have the same permanent. A *line* is a
/// row or a column; comments call the lines that it crosses columns.
///
/// If the block has more columns than rows, some columns are left. If lines are rows, a column may close
/// without being taken; if lines are columns, a line may take nothing.
#[derive(Debug)]
pub(super) struct Lines {
    /// For every line, the lines that it crosses and the indices of these edges.
    pub crossings: Vec<Vec<(u32, usize)>>,
    /// For every crossed line, the number of lines that cross it.
    pub degree: Vec<u32>,
    /// Number of columns of the block that are left.
    pub excess: usize,
    /// Whether lines may take nothing, rather than crossed lines not be taken.
    pub may_skip: bool,
}

/// Bounds on the number of states around a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct States {
    /// After the line has taken a column, and before columns are closed.
    pub taken: f64,
    /// After all columns that this line closes are closed.
    pub closed: f64,
}

/// Largest number of open columns, which are the bits of a state. One bit of 64 is reserved to mark the end
/// of a sequence.
pub(super) const MAX_OPEN: usize = 63;

/// Cost that no computer can afford.
const INFEASIBLE: f64 = 1e15;

/// Cost of the search for an order per edge, in steps of the sums.
const STEPS_PER_SEARCHED_EDGE: f64 = 16.0;

impl Lines {
    pub fn rows(matrix: &Matrix, control: &Control) -> Result<Self> {
        let line = |row| {
            control.check()?;
            let edges = matrix.row(row).zip(matrix.edge_range(row));
            Ok(edges.map(|((column, _), edge)| (column, edge)).collect())
        };
        let crossings = (0..matrix.size()).map(line).collect::<Result<_>>()?;
        Lines::new(crossings, matrix.width(), false, control)
    }

    pub fn columns(matrix: &Matrix, control: &Control) -> Result<Self> {
        let mut crossings = vec![Vec::new(); matrix.width()];
        for row in 0..matrix.size() {
            control.check()?;
            for ((column, _), edge) in matrix.row(row).zip(matrix.edge_range(row)) {
                crossings[column as usize].push((row as u32, edge));
            }
        }
        Lines::new(crossings, matrix.size(), true, control)
    }

    fn new(
        crossings: Vec<Vec<(u32, usize)>>,
        crossed: usize,
        may_skip: bool,
        control: &Control,
    ) -> Result<Self> {
        let mut degree = vec![0; crossed];
        for line in &crossings {
            control.check()?;
            for &(other, _) in line {
                degree[other as usize] += 1;
            }
        }
        Ok(Lines {
            excess: crossings.len().abs_diff(crossed),
            crossings,
            degree,
            may_skip,
        })
    }

    /// Returns whether a column may close without being taken.
    pub fn may_leave(&self) -> bool {
        self.excess > 0 && !self.may_skip
    }

    /// Returns the cost of processing the lines in this order: the number of states times the number of edges
    /// of the next line, summed over all lines. Returns `None` if the order is infeasible.
    fn cost(&self, order: &[u32]) -> Option<f64> {
        let mut cost = 0.0;
        let mut before = 1.0;
        self.states_after(order, |line, states| {
            let edges = self.crossings[line as usize].len();
            cost += before * edges as f64 + f64::from(u8::from(self.may_leave())) * 2.0 * states.taken;
            before = states.closed;
            cost < INFEASIBLE
        })
        .then_some(cost)
    }

    /// Visits the lines in order. `visit` gets the line and the number of states after it, and returns
    /// whether to go on. Returns false if there are too many open columns or if `visit` stopped.
    pub fn states_after(&self, order: &[u32], mut visit: impl FnMut(u32, States) -> bool) -> bool {
        let mut left = self.degree.clone();
        let (mut open, mut closed) = (0, 0);
        for (number, &line) in order.iter().enumerate() {
            for &(other, _) in &self.crossings[line as usize] {
                open += usize::from(left[other as usize] == self.degree[other as usize]);
            }
            if open > MAX_OPEN {
                return false;
            }
            let taken = self.states(open, closed, number + 1);
            for &(other, _) in &self.crossings[line as usize] {
                left[other as usize] -= 1;
                if left[other as usize] == 0 {
                    open -= 1;
                    closed += 1;
                }
            }
            let closed = self.states(open, closed, number + 1);
            if !visit(line, States { taken, closed }) {
                return false;
            }
        }
        true
    }

    /// Returns the number of sets of open columns that may be taken after some lines. If nothing is left,
    /// their size is known, because every line so far has taken one column and all closed columns are taken.
    /// Otherwise as many columns or lines may be missing as are left.
    fn states(&self, open: usize, closed: usize, lines: usize) -> f64 {
        let (low, high) = match self.may_skip {
            true => (
                lines.saturating_sub(closed + self.excess),
                lines.checked_sub(closed),
            ),
            false => (
                lines.saturating_sub(closed),
                (lines + self.excess).checked_sub(closed),
            ),
        };
        let high = high.map_or(0, |high| high.min(open) + 1);
        (low..high).fold(0.0, |sum, taken| sum + binomial(open, taken))
    }

    /// Returns the cheapest of a few orders, and its cost; `None` if too many columns are open in all of
    /// them.
    pub fn best_order(&self, control: &Control) -> Result<Option<(f64, Vec<u32>)>> {
        let size = self.crossings.len();
        let natural: Vec<u32> = (0..size as u32).collect();
        let mut best = self.cost(&natural).map(|cost| (cost, natural));
        if self.crossings.iter().all(|line| line.len() == self.degree.len()) {
            return Ok(best); // all orders cost the same
        }
        // Try the order that starts at the line with the fewest edges. Its last line is probably at the
        // periphery, so try that as a start, too.
        let few = (0..size as u32).min_by_key(|&line| self.crossings[line as usize].len());
        let end = few.map(|first| self.try_start(first, &mut best, control));
        if let Some(end) = end.transpose()?.flatten() {
            self.try_start(end, &mut best, control)?;
        }
        // Start anywhere in the block, as long as the search costs less than it can save.
        const STARTS: usize = 64;
        let search_cost = STEPS_PER_SEARCHED_EDGE * self.crossings.iter().map(Vec::len).sum::<usize>() as f64;
        for (number, first) in (0..size as u32).step_by(size.div_ceil(STARTS).max(1)).enumerate() {
            let cost = best.as_ref().map_or(INFEASIBLE, |(cost, _)| *cost);
            if search_cost * number as f64 > cost {
                break;
            }
            self.try_start(first, &mut best, control)?;
        }
        Ok(best)
    }

    /// Keeps the greedy order that starts with `first` if it is better than the best one. Returns its last
    /// line, if there is such an order.
    fn try_start(
        &self,
        first: u32,
        best: &mut Option<(f64, Vec<u32>)>,
        control: &Control,
    ) -> Result<Option<u32>> {
        let Some(order) = self.greedy(first, control)? else {
            return Ok(None);
        };
        let end = order.last().copied();
        if let Some(cost) = self.cost(&order)
            && best.as_ref().is_none_or(|(known, _)| cost < *known)
        {
            *best = Some((cost, order));
        }
        Ok(end)
    }

    /// Returns the greedy order that starts with `first`. The next line is always the one that leaves the
    /// fewest columns open; of several, the one with the column that has been open longest. Returns `None` if
    /// too many columns are open or if the search takes too long.
    fn greedy(&self, first: u32, control: &Control) -> Result<Option<Vec<u32>>> {
        const MAX_EXAMINED: usize = 10_000_000;
        let size = self.crossings.len();
        let lines_by_column = self.lines_by_column(control)?;
        let mut left = self.degree.clone();
        let mut opened = vec![usize::MAX; self.degree.len()];
        let mut is_candidate = vec![false; size];
        let mut candidates = vec![first];
        is_candidate[first as usize] = true;
        let mut order = Vec::with_capacity(size);
        let (mut open, mut examined) = (0, 0);
        while !candidates.is_empty() {
            control.check()?;
            let merit = |&line: &u32| {
                let (mut growth, mut oldest) = (0, usize::MAX);
                for &(other, _) in &self.crossings[line as usize] {
                    let opened = opened[other as usize];
                    growth += i32::from(opened == usize::MAX) - i32::from(left[other as usize] == 1);
                    oldest = oldest.min(opened);
                }
                (growth, oldest, line)
            };
            examined += candidates.len();
            let best = (0..candidates.len()).min_by_key(|&at| merit(&candidates[at]));
            let line = candidates.swap_remove(best.unwrap_or(0));
            for &(other, _) in &self.crossings[line as usize] {
                let column = other as usize;
                if opened[column] == usize::MAX {
                    opened[column] = order.len();
                    open += 1;
                    for &line in &lines_by_column[column] {
                        if !std::mem::replace(&mut is_candidate[line as usize], true) {
                            candidates.push(line);
                        }
                    }
                }
            }
            if open > MAX_OPEN || examined > MAX_EXAMINED {
                return Ok(None);
            }
            for &(other, _) in &self.crossings[line as usize] {
                left[other as usize] -= 1;
                open -= usize::from(left[other as usize] == 0);
            }
            order.push(line);
        }
        Ok((order.len() == size).then_some(order))
    }

    /// Returns the lines that cross each column.
    fn lines_by_column(&self, control: &Control) -> Result<Vec<Vec<u32>>> {
        let mut lines_by_column = vec![Vec::new(); self.degree.len()];
        for (line, edges) in self.crossings.iter().enumerate() {
            control.check()?;
            for &(other, _) in edges {
                lines_by_column[other as usize].push(line as u32);
            }
        }
        Ok(lines_by_column)
    }
}

/// Returns the number of subsets of size `k` of a set of size `n`.
pub(super) fn binomial(n: usize, k: usize) -> f64 {
    if k > n {
        return 0.0;
    }
    let k = k.min(n - k);
    (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
}
