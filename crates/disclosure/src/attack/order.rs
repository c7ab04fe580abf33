//! In which order the rows of a block are gone through so that few columns are open at a time.

use super::Matrix;
use crate::{Control, Result};

/// The edges of a block by row, or by column: every permanent is that of the transposed matrix, too.
#[derive(Debug)]
pub(super) struct Lines {
    /// For every line, the lines that it crosses, and where the edge is among all.
    pub of: Vec<Vec<(u32, usize)>>,
    /// How many lines cross each of those.
    degree: Vec<u32>,
}

/// How many columns may be open at a time: bits of a state, of which one is kept to tell its end.
pub(super) const MOST_OPEN: usize = 63;

/// What nobody can pay.
const PROHIBITIVE: f64 = 1e15;

/// How many steps could be done in the time that a look for an order takes for every edge.
const STEPS_PER_LOOK: f64 = 16.0;

impl Lines {
    pub fn rows(matrix: &Matrix, control: &Control) -> Result<Self> {
        let line = |row| {
            control.check()?;
            let edges = matrix.row(row).zip(matrix.range(row));
            Ok(edges.map(|((column, _), edge)| (column, edge)).collect())
        };
        Lines::new((0..matrix.size()).map(line).collect::<Result<_>>()?, control)
    }

    pub fn columns(matrix: &Matrix, control: &Control) -> Result<Self> {
        let mut of = vec![Vec::new(); matrix.size()];
        for row in 0..matrix.size() {
            control.check()?;
            for ((column, _), edge) in matrix.row(row).zip(matrix.range(row)) {
                of[column as usize].push((row as u32, edge));
            }
        }
        Lines::new(of, control)
    }

    fn new(of: Vec<Vec<(u32, usize)>>, control: &Control) -> Result<Self> {
        let mut degree = vec![0; of.len()];
        for line in &of {
            control.check()?;
            for &(other, _) in line {
                degree[other as usize] += 1;
            }
        }
        Ok(Lines { of, degree })
    }

    /// What going through the lines in this order takes: states by the edges of the line that comes next. A state
    /// is a set of open columns, and its size is known: the lines so far have taken one each, closed columns are
    /// taken. `None` where it cannot be done.
    fn cost(&self, order: &[u32]) -> Option<f64> {
        let mut cost = 0.0;
        let mut states = 1.0;
        self.open_after(order, |line, open, taken| {
            cost += states * self.of[line as usize].len() as f64;
            states = binomial(open, taken);
            cost < PROHIBITIVE
        })
        .then_some(cost)
    }

    /// Visit the lines in order with the numbers of open columns after each, and of those taken; whether it came to
    /// the end without too many of them, or a visit that says so.
    pub fn open_after(&self, order: &[u32], mut visit: impl FnMut(u32, usize, usize) -> bool) -> bool {
        let mut left = self.degree.clone();
        let (mut open, mut closed) = (0, 0);
        for (number, &line) in order.iter().enumerate() {
            for &(other, _) in &self.of[line as usize] {
                open += usize::from(left[other as usize] == self.degree[other as usize]);
            }
            if open > MOST_OPEN {
                return false;
            }
            for &(other, _) in &self.of[line as usize] {
                left[other as usize] -= 1;
                if left[other as usize] == 0 {
                    open -= 1;
                    closed += 1;
                }
            }
            if !visit(line, open, number + 1 - closed) {
                return false;
            }
        }
        true
    }

    /// The cheapest of a few orders, and its cost; `None` where too many columns are always open.
    pub fn best_order(&self, control: &Control) -> Result<Option<(f64, Vec<u32>)>> {
        let size = self.of.len();
        let natural: Vec<u32> = (0..size as u32).collect();
        let mut best = self.cost(&natural).map(|cost| (cost, natural));
        if self.of.iter().all(|line| line.len() == size) {
            return Ok(best); // no order is better than another
        }
        // From a line with few edges; and from where that ended, which is likely to be at the rim.
        let few = (0..size as u32).min_by_key(|&line| self.of[line as usize].len());
        let end = few.map(|first| self.try_from(first, &mut best, control));
        if let Some(end) = end.transpose()?.flatten() {
            self.try_from(end, &mut best, control)?;
        }
        // From all over the block, as long as looking costs less than what it may save.
        const STARTS: usize = 64;
        let look = STEPS_PER_LOOK * self.of.iter().map(Vec::len).sum::<usize>() as f64;
        for (number, first) in (0..size as u32).step_by(size.div_ceil(STARTS).max(1)).enumerate() {
            let cost = best.as_ref().map_or(PROHIBITIVE, |(cost, _)| *cost);
            if look * number as f64 > cost {
                break;
            }
            self.try_from(first, &mut best, control)?;
        }
        Ok(best)
    }

    /// See whether the order that begins here is better; its end, if it has one.
    fn try_from(
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

    /// Next comes always the line after which the fewest columns are open and, of several, the one with the column
    /// that has been open for longest. `None` where too many are open or it takes too long.
    fn greedy(&self, first: u32, control: &Control) -> Result<Option<Vec<u32>>> {
        const MOST_LOOKS: usize = 10_000_000;
        let size = self.of.len();
        let crossing = self.crossing(control)?;
        let mut left = self.degree.clone();
        let mut opened = vec![usize::MAX; size];
        let mut is_candidate = vec![false; size];
        let mut candidates = vec![first];
        is_candidate[first as usize] = true;
        let mut order = Vec::with_capacity(size);
        let (mut open, mut looks) = (0, 0);
        while !candidates.is_empty() {
            control.check()?;
            let merit = |&line: &u32| {
                let (mut growth, mut oldest) = (0, usize::MAX);
                for &(other, _) in &self.of[line as usize] {
                    let opened = opened[other as usize];
                    growth += i32::from(opened == usize::MAX) - i32::from(left[other as usize] == 1);
                    oldest = oldest.min(opened);
                }
                (growth, oldest, line)
            };
            looks += candidates.len();
            let best = (0..candidates.len()).min_by_key(|&at| merit(&candidates[at]));
            let line = candidates.swap_remove(best.unwrap_or(0));
            for &(other, _) in &self.of[line as usize] {
                let column = other as usize;
                if opened[column] == usize::MAX {
                    opened[column] = order.len();
                    open += 1;
                    for &line in &crossing[column] {
                        if !std::mem::replace(&mut is_candidate[line as usize], true) {
                            candidates.push(line);
                        }
                    }
                }
            }
            if open > MOST_OPEN || looks > MOST_LOOKS {
                return Ok(None);
            }
            for &(other, _) in &self.of[line as usize] {
                left[other as usize] -= 1;
                open -= usize::from(left[other as usize] == 0);
            }
            order.push(line);
        }
        Ok((order.len() == size).then_some(order))
    }

    /// The lines that cross each column.
    fn crossing(&self, control: &Control) -> Result<Vec<Vec<u32>>> {
        let mut crossing = vec![Vec::new(); self.of.len()];
        for (line, edges) in self.of.iter().enumerate() {
            control.check()?;
            for &(other, _) in edges {
                crossing[other as usize].push(line as u32);
            }
        }
        Ok(crossing)
    }
}

/// How many sets of `k` there are out of `n`.
pub(super) fn binomial(n: usize, k: usize) -> f64 {
    if k > n {
        return 0.0;
    }
    let k = k.min(n - k);
    (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
}
