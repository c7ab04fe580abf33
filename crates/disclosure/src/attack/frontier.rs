//! Sums over the matchings of one sparse block by dynamic programming, row by row.
//!
//! A column is *open* if both a row processed so far and a later row could take it. A *state* is the set of
//! open columns that the rows so far have taken. A column that no later row can take is *closed*: it has to
//! be taken by now, and it drops out of the state. If the rows come in a good order (see `order`), few
//! columns are open at a time, and a thousand rows are feasible.
//!
//! If there are more columns than rows, a column may also close without being taken. That is a step of its
//! own, with one edge from the states in which the column is taken and one from the others. If columns are
//! gone through in place of rows, a column may take no row: one more edge of weight 1.
//!
//! A forward pass computes, for every state, the sum over the ways to reach it; the last sum is the
//! permanent. A backward pass computes the sums over the ways to complete every state. Together they give the
//! probability of every edge.
//!
//! All sums are sums of products of positive numbers. Nothing cancels, and every operation adds at most one
//! rounding to the relative error. For matrices of integers, sums are exact as long as the permanent fits
//! into a double: a state that can be completed to a matching has no larger sum than the permanent, and other
//! states contribute nothing in the end.

use super::Matrix;
use super::engine::PermanentAndEdges;
use super::order::{Lines, MAX_OPEN};
use crate::matching::{Weight, Wide};
use crate::{Control, Result};
use rayon::prelude::*;

/// Plan for a block: its rows in a good order, or its columns in place of rows.
#[derive(Debug)]
pub(super) struct Frontier {
    steps: Vec<Step>,
    cost: Cost,
    /// Number of edges of the block.
    edges: usize,
    /// Number of edges in all steps, which are those of the block and those for columns that are left over.
    edges_of_steps: usize,
}

/// Cost of the sums.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    /// Number of states times the number of edges of the next row, summed over all layers.
    steps: f64,
    /// Number of states in all layers.
    states: f64,
    /// Number of states in the largest layer.
    largest: f64,
}

/// One row, which takes one of its columns; or a column that is closed, whether it is taken or not.
#[derive(Debug)]
pub(super) struct Step {
    pub edges: Vec<Edge>,
    /// Bound on the number of states after this step.
    states: f64,
}

#[derive(Debug)]
pub(super) struct Edge {
    /// Index in the block; `None` for a column that is left over.
    pub index: Option<usize>,
    weight: f64,
    /// Bits that decide whether the row can take the column in a state: it can if they equal `required`.
    mask: u64,
    /// Required values of these bits: the column's own bit is not set, and the bits of all other columns that
    /// this row closes are set.
    required: u64,
    /// Difference between the states after and before: the column's bit, unless that is closed, minus the
    /// bits of closed columns. It is the same for all states, so that their order is kept.
    shift: i128,
}

/// Sums of all states, in ascending order of states.
pub(super) struct Layer<W> {
    pub states: Vec<u64>,
    /// One sum for every state, or as many for each of them.
    pub sums: Vec<W>,
}

/// Unit roundoff.
pub(super) const ROUNDING: f64 = f64::EPSILON / 2.0;

/// Seconds that a current core takes per step for all edge probabilities; the permanent alone takes half of
/// that.
const SECONDS_PER_STEP: f64 = 12e-9;

/// Number of states that a thread processes at a time. With more, threads would share the work unevenly; with
/// fewer, the overhead would not pay.
pub(super) const STATES_PER_TASK: usize = 1 << 14;

/// Number of neighbouring states that are summed up first, to keep the number of roundings in a long sum
/// small.
const RUN: usize = 256;

impl Frontier {
    /// Searches for a good order of rows or columns; returns `None` if too many columns are open in
    /// every order tried.
    pub fn new(matrix: &Matrix, control: &Control) -> Result<Option<Self>> {
        let rows = Lines::rows(matrix, control)?;
        let by_rows = rows.best_order(control)?;
        if matrix.size() == matrix.width() && matrix.edge_count() == matrix.size() * matrix.size() {
            let plan = by_rows.map(|(_, order)| Frontier::in_order(matrix, &rows, &order));
            return Ok(plan);
        }
        let columns = Lines::columns(matrix, control)?;
        let by_columns = columns.best_order(control)?;
        let mut plan = match (by_rows, by_columns) {
            (Some((cost, order)), by_columns) if by_columns.as_ref().is_none_or(|other| cost <= other.0) => {
                Frontier::in_order(matrix, &rows, &order)
            }
            (_, Some((_, order))) => Frontier::in_order(matrix, &columns, &order),
            (_, None) => return Ok(None),
        };
        plan.refine_cost(control)?;
        Ok(Some(plan))
    }

    fn in_order(matrix: &Matrix, lines: &Lines, order: &[u32]) -> Self {
        let mut left = lines.degree.clone();
        let mut slot = vec![None; lines.degree.len()];
        let mut free: Vec<u32> = (0..MAX_OPEN as u32).rev().collect();
        let mut steps = Vec::with_capacity(lines.crossings.len());
        lines.states_after(order, |line, states| {
            let line = &lines.crossings[line as usize];
            let mut closed = 0u64;
            for &(other, _) in line {
                let column = other as usize;
                let bit = 1 << *slot[column].get_or_insert_with(|| free.pop().unwrap_or(0));
                left[column] -= 1;
                if left[column] == 0 {
                    closed |= bit;
                }
            }
            let bit = |other: u32| 1 << slot[other as usize].unwrap_or(0);
            let weighted = line
                .iter()
                .map(|&(other, index)| (bit(other), Some(index), matrix.weights()[index]));
            if lines.may_leave() {
                let edges = weighted.map(|(bit, index, weight)| Edge::new(index, weight, bit, 0));
                steps.push(Step {
                    edges: edges.collect(),
                    states: states.taken,
                });
                let closed = (0..MAX_OPEN)
                    .map(|slot| 1 << slot)
                    .filter(|bit| closed & bit != 0);
                steps.extend(closed.map(|bit| Step {
                    edges: vec![Edge::new(None, 1.0, 0, bit), Edge::if_not_taken(bit)],
                    states: states.taken,
                }));
                if let Some(last) = steps.last_mut() {
                    last.states = states.closed;
                }
            } else {
                let nothing = (lines.excess > 0).then_some((0, None, 1.0));
                let edges = weighted.chain(nothing);
                steps.push(Step {
                    edges: edges
                        .map(|(bit, index, weight)| Edge::new(index, weight, bit, closed))
                        .collect(),
                    states: states.closed,
                });
            }
            for &(other, _) in line {
                if left[other as usize] == 0 {
                    free.extend(slot[other as usize].take());
                }
            }
            true
        });
        let mut frontier = Frontier {
            edges_of_steps: steps.iter().map(|step| step.edges.len()).sum(),
            steps,
            cost: Cost::default(),
            edges: matrix.edge_count(),
        };
        frontier.cost = frontier.cost_from(0, 1.0, Cost::default());
        frontier
    }

    /// Adds a bound on the cost of the steps from `first` on.
    fn cost_from(&self, first: usize, mut states: f64, mut cost: Cost) -> Cost {
        for step in &self.steps[first..] {
            cost.add(states, step);
            states = step.states.min(states * step.edges.len() as f64);
        }
        cost
    }

    /// Refines the cost by enumerating the states of the first steps without their sums, because not all sets
    /// of columns may be reachable.
    fn refine_cost(&mut self, control: &Control) -> Result<()> {
        const MIN_COST: f64 = 1e6;
        const MAX_STEPS: f64 = 1e6;
        if self.cost.steps < MIN_COST {
            return Ok(());
        }
        let mut cost = Cost::default();
        let mut states = vec![0];
        for (number, step) in self.steps.iter().enumerate() {
            if cost.steps > MAX_STEPS {
                self.cost = self.cost_from(number, states.len() as f64, cost);
                return Ok(());
            }
            cost.add(states.len() as f64, step);
            let mut next = Vec::new();
            Merge::new(step, &states, i128::MIN, i128::MAX).run(
                control,
                |_, _| (),
                |state| {
                    next.push(state);
                },
            )?;
            states = next;
        }
        self.cost = cost;
        Ok(())
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the number of states in the largest layer.
    pub fn largest_layer(&self) -> f64 {
        self.cost.largest
    }

    /// Returns the estimated seconds that one core takes for all edge probabilities.
    pub fn seconds(&self) -> f64 {
        self.cost.steps * SECONDS_PER_STEP
    }

    /// Returns a bound on the bytes that the sums over states take for all edge probabilities.
    pub fn bytes(&self) -> f64 {
        // Every state has a number and a sum. For three layers at a time there are further sums, or the layer
        // is being put together from parts.
        16.0 * self.cost.states + 24.0 * 3.0 * self.cost.largest
    }

    /// Returns a bound on the relative error of the permanent: every row multiplies once and adds once for
    /// every edge but one.
    pub fn permanent_error(&self) -> f64 {
        roundings(self.edges_of_steps as f64)
    }

    /// Returns a bound on the absolute error of every edge probability. Its sum over states has the roundings
    /// of the rows before and after, of two more products, and of the sums within runs, within chunks and
    /// over all chunks. It is divided by the total of its row, which has as many roundings.
    pub fn edge_error(&self) -> f64 {
        let chunks = self.cost.largest / STATES_PER_TASK as f64;
        2.0 * roundings(self.edges_of_steps as f64 + 4.0 + (RUN + STATES_PER_TASK / RUN) as f64 + chunks)
    }

    pub fn permanent(&self, control: &Control) -> Result<Wide> {
        match self.forward::<f64>(None, control)? {
            Some(permanent) => Ok(permanent),
            None => Ok(self.forward::<Wide>(None, control)?.unwrap_or_default()),
        }
    }

    /// Returns the permanent and the probability of every edge.
    pub fn edges(&self, control: &Control) -> Result<PermanentAndEdges> {
        if let Some(found) = self.forward_backward::<f64>(control)? {
            return Ok(found);
        }
        Ok(self
            .forward_backward::<Wide>(control)?
            .unwrap_or(PermanentAndEdges {
                permanent: Wide::default(),
                probability: vec![0.0; self.edges],
            }))
    }

    /// Returns the permanent, and stores the layer before every row in `kept`. Returns `None` if the range of
    /// the number type does not suffice.
    fn forward<N: Number>(
        &self,
        mut kept: Option<&mut Vec<Layer<N>>>,
        control: &Control,
    ) -> Result<Option<Wide>> {
        let mut layer = Layer {
            states: vec![0],
            sums: vec![N::from_f64(1.0)],
        };
        let mut exponent = 0;
        for step in &self.steps {
            let Some((weights, row_exponent)) = N::scaled_weights(&step.edges) else {
                return Ok(None);
            };
            let mut next = step.forward(&weights, &layer, control)?;
            let Some(layer_exponent) = N::rescale(&mut next.sums) else {
                return Ok(None);
            };
            exponent += row_exponent + layer_exponent;
            let before = std::mem::replace(&mut layer, next);
            if let Some(kept) = &mut kept {
                kept.push(before);
            }
        }
        let permanent = layer.sums.first().map_or(Wide::default(), |sum| sum.wide());
        Ok(Some(permanent.times_power_of_two(exponent)))
    }

    fn forward_backward<N: Number>(&self, control: &Control) -> Result<Option<PermanentAndEdges>> {
        let mut layers = Vec::with_capacity(self.steps.len());
        let Some(permanent) = self.forward::<N>(Some(&mut layers), control)? else {
            return Ok(None);
        };
        let mut probability = vec![0.0; self.edges];
        // Sums over the ways to complete every state.
        let mut after = Layer {
            states: vec![0],
            sums: vec![N::from_f64(1.0)],
        };
        for step in self.steps.iter().rev() {
            let (Some((weights, _)), Some(before)) = (N::scaled_weights(&step.edges), layers.pop()) else {
                return Ok(None);
            };
            let (mut sums, of_edges) = step.backward(&weights, &before, &after, control)?;
            if N::rescale(&mut sums).is_none() {
                return Ok(None);
            }
            let mut of_row = N::default();
            of_edges.iter().for_each(|&of_edge| of_row.add(of_edge));
            for (edge, of_edge) in step.edges.iter().zip(of_edges) {
                if let Some(index) = edge.index {
                    probability[index] = of_edge.divided_by(of_row);
                }
            }
            after = Layer {
                states: before.states,
                sums,
            };
        }
        Ok(Some(PermanentAndEdges {
            permanent,
            probability,
        }))
    }
}

impl Cost {
    fn add(&mut self, states: f64, step: &Step) {
        self.steps += states * step.edges.len() as f64;
        self.states += states;
        self.largest = self.largest.max(states);
    }
}

/// Returns a bound on the relative error after `count` roundings (Higham 2002, lemma 3.1).
pub(super) fn roundings(count: f64) -> f64 {
    count * ROUNDING / (1.0 - count * ROUNDING)
}

/// Number type of sums. All sums of a layer share a factor, a power of two.
pub(super) trait Number: Weight {
    /// Returns the weights of a row divided by 2^exponent, and that exponent; `None` if they are too uneven.
    fn scaled_weights(edges: &[Edge]) -> Option<(Vec<Self>, i64)>;
    /// Divides by a power of two so that the largest number is near 1, and returns its exponent; `None` if
    /// the numbers are too uneven.
    fn rescale(sums: &mut [Self]) -> Option<i64>;
    fn wide(self) -> Wide;
}

impl Number for f64 {
    fn scaled_weights(edges: &[Edge]) -> Option<(Vec<f64>, i64)> {
        let mut weights: Vec<f64> = edges.iter().map(|edge| edge.weight).collect();
        let exponent = rescale(&mut weights, 200)?;
        Some((weights, exponent))
    }

    fn rescale(sums: &mut [f64]) -> Option<i64> {
        // The product of two such numbers and a weight is still above 2^-1000.
        rescale(sums, 400)
    }

    fn wide(self) -> Wide {
        Wide::from_f64(self)
    }
}

impl Number for Wide {
    fn scaled_weights(edges: &[Edge]) -> Option<(Vec<Wide>, i64)> {
        Some((edges.iter().map(|edge| Wide::from_f64(edge.weight)).collect(), 0))
    }

    fn rescale(_: &mut [Wide]) -> Option<i64> {
        Some(0)
    }

    fn wide(self) -> Wide {
        self
    }
}

/// Divides numbers by the largest power of two not above their maximum, exactly, and returns its exponent.
/// Returns `None` if the smallest positive number is less than 2^-`span` of that power.
pub(super) fn rescale(numbers: &mut [f64], span: i32) -> Option<i64> {
    let (mut smallest, mut largest) = (f64::INFINITY, 0.0f64);
    for &number in numbers.iter() {
        largest = largest.max(number);
        smallest = smallest.min(if number > 0.0 { number } else { f64::INFINITY });
    }
    if largest == 0.0 {
        return Some(0);
    }
    let exponent = exponent_of(largest);
    if !(smallest.is_normal() && exponent_of(smallest) >= exponent - i64::from(span) && exponent < 1000) {
        return None;
    }
    if exponent != 0 {
        let inverse = power_of_two(-exponent);
        numbers.iter_mut().for_each(|number| *number *= inverse);
    }
    Some(exponent)
}

/// Returns the exponent of the largest power of two not above a positive normal number.
pub(super) fn exponent_of(number: f64) -> i64 {
    (number.to_bits() >> 52) as i64 - 1023
}

/// Returns 2^`exponent`, for an exponent from -1022 to 1023.
pub(super) fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

impl<W: Send> Layer<W> {
    /// Returns the layer after a step, put together from parts that threads compute: `between` returns the
    /// states from one number to below another. The states after the step are divided by their numbers, which
    /// are distributed much like those before.
    pub fn in_parts(&self, between: impl Fn(i128, i128) -> Result<Self> + Sync) -> Result<Self>
    where
        W: Sync,
    {
        let mut bounds: Vec<i128> = self
            .states
            .iter()
            .step_by(STATES_PER_TASK)
            .map(|&state| state.into())
            .collect();
        bounds[0] = i128::MIN;
        bounds.push(i128::MAX);
        let parts = bounds
            .par_windows(2)
            .map(|bounds| between(bounds[0], bounds[1]))
            .collect::<Result<Vec<_>>>()?;
        let mut layer = Layer {
            states: Vec::with_capacity(parts.iter().map(|part| part.states.len()).sum()),
            sums: Vec::with_capacity(parts.iter().map(|part| part.sums.len()).sum()),
        };
        for part in parts {
            layer.states.extend(part.states);
            layer.sums.extend(part.sums);
        }
        Ok(layer)
    }
}

impl Step {
    /// Returns the layer after the row.
    fn forward<W: Weight>(&self, weights: &[W], before: &Layer<W>, control: &Control) -> Result<Layer<W>> {
        let between = |low, high| {
            let mut layer = Layer {
                states: Vec::new(),
                sums: Vec::new(),
            };
            let sum = std::cell::Cell::new(W::default());
            Merge::new(self, &before.states, low, high).run(
                control,
                |edge, position| {
                    let mut so_far = sum.get();
                    so_far.add(before.sums[position].times(weights[edge]));
                    sum.set(so_far);
                },
                |state| {
                    layer.states.push(state);
                    layer.sums.push(sum.take());
                },
            )?;
            Ok(layer)
        };
        if before.states.len() <= STATES_PER_TASK {
            return between(i128::MIN, i128::MAX);
        }
        before.in_parts(between)
    }

    /// Returns the sums over the completions of every state before the row, and for each edge of the row the
    /// sum over all matchings that contain it.
    fn backward<W: Weight>(
        &self,
        weights: &[W],
        before: &Layer<W>,
        after: &Layer<W>,
        control: &Control,
    ) -> Result<(Vec<W>, Vec<W>)> {
        let chunk = |(states, sums): (&[u64], &[W])| {
            control.check()?;
            let mut following = Vec::with_capacity(states.len());
            let mut of_edges = vec![W::default(); weights.len()];
            // Position of every edge's target among the states after the row. States and targets ascend
            // together, so that positions only move forward.
            let mut found = vec![None; weights.len()];
            for (states, sums) in states.chunks(RUN).zip(sums.chunks(RUN)) {
                let mut of_run = vec![W::default(); weights.len()];
                for (&state, &sum) in states.iter().zip(sums) {
                    let mut all = W::default();
                    for (number, edge) in self.edges.iter().enumerate() {
                        let Some(target) = edge.target(state) else {
                            continue;
                        };
                        let at = found[number]
                            .get_or_insert_with(|| after.states.partition_point(|&state| state < target));
                        while after.states[*at] < target {
                            *at += 1;
                        }
                        let through = after.sums[*at].times(weights[number]);
                        all.add(through);
                        of_run[number].add(sum.times(through));
                    }
                    following.push(all);
                }
                for (of_edge, of_run) in of_edges.iter_mut().zip(of_run) {
                    of_edge.add(of_run);
                }
            }
            Ok((following, of_edges))
        };
        if before.states.len() <= STATES_PER_TASK {
            return chunk((&before.states, &before.sums));
        }
        let parts = before
            .states
            .par_chunks(STATES_PER_TASK)
            .zip(before.sums.par_chunks(STATES_PER_TASK))
            .map(chunk)
            .collect::<Result<Vec<_>>>()?;
        let mut following = Vec::with_capacity(before.states.len());
        let mut of_edges = vec![W::default(); weights.len()];
        for (of_states, of_part) in parts {
            following.extend(of_states);
            for (of_edge, of_part) in of_edges.iter_mut().zip(of_part) {
                of_edge.add(of_part);
            }
        }
        Ok((following, of_edges))
    }
}

impl Edge {
    /// Returns the edge by which a row takes the column with this bit, while the columns with the bits
    /// `closed` are closed. Without a bit, the row takes nothing.
    fn new(index: Option<usize>, weight: f64, bit: u64, closed: u64) -> Self {
        let required = closed & !bit;
        Edge {
            index,
            weight,
            mask: bit | required,
            required,
            shift: i128::from(bit & !closed) - i128::from(required),
        }
    }

    /// Returns the edge by which the column with this bit closes without being taken.
    fn if_not_taken(bit: u64) -> Self {
        Edge {
            index: None,
            weight: 1.0,
            mask: bit,
            required: 0,
            shift: 0,
        }
    }

    /// Returns the state after the row takes this edge; `None` if it cannot.
    #[inline]
    fn target(&self, state: u64) -> Option<u64> {
        (state & self.mask == self.required).then(|| state.wrapping_add(self.shift as u64))
    }
}

/// Merge that visits the states after a row in ascending order: each edge maps the states before to an
/// ascending sequence of targets.
pub(super) struct Merge<'a> {
    step: &'a Step,
    before: &'a [u64],
    /// Exclusive upper limit of the states to visit.
    high: i128,
    /// Next target of every edge.
    next: Vec<u64>,
    /// Position of the state that leads to that target, for every edge.
    position: Vec<usize>,
    /// Number of states between two checks for cancellation.
    states_per_check: usize,
}

/// Number of states between two checks for cancellation, if every state has one sum.
const STATES_PER_CHECK: usize = 1 << 12;

/// Marks the end of a sequence. It is never a state, because one bit is never used.
const END: u64 = u64::MAX;

impl<'a> Merge<'a> {
    pub fn new(step: &'a Step, before: &'a [u64], low: i128, high: i128) -> Self {
        let edges = step.edges.len();
        let mut merge = Merge {
            step,
            before,
            high,
            next: vec![END; edges],
            position: vec![0; edges],
            states_per_check: STATES_PER_CHECK,
        };
        for (number, edge) in step.edges.iter().enumerate() {
            let least = low.saturating_sub(edge.shift);
            merge.position[number] = before.partition_point(|&state| i128::from(state) < least);
            merge.seek(number);
        }
        merge
    }

    /// Checks for cancellation more often, because every state has this many sums.
    pub fn with_sums(self, sums: usize) -> Self {
        Merge {
            states_per_check: (STATES_PER_CHECK / sums.max(1)).max(1),
            ..self
        }
    }

    /// Finds the edge's next target.
    #[inline]
    fn seek(&mut self, number: usize) {
        let edge = &self.step.edges[number];
        let mut position = self.position[number];
        self.next[number] = loop {
            let Some(&state) = self.before.get(position) else {
                break END;
            };
            if let Some(target) = edge.target(state) {
                break if i128::from(target) < self.high {
                    target
                } else {
                    END
                };
            }
            position += 1;
        };
        self.position[number] = position;
    }

    /// For every state after the row, calls `edge` with every edge that leads there and the position of the
    /// state that it comes from, then `state` with the state itself.
    pub fn run(
        mut self,
        control: &Control,
        mut edge: impl FnMut(usize, usize),
        mut state: impl FnMut(u64),
    ) -> Result<()> {
        loop {
            control.check()?;
            for _ in 0..self.states_per_check {
                let least = self.next.iter().copied().fold(END, u64::min);
                if least == END {
                    return Ok(());
                }
                for number in 0..self.next.len() {
                    if self.next[number] == least {
                        edge(number, self.position[number]);
                        self.position[number] += 1;
                        self.seek(number);
                    }
                }
                state(least);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn plan(matrix: &Matrix) -> Frontier {
        Frontier::new(matrix, &Control::new()).unwrap().unwrap()
    }

    /// Returns pseudo-random numbers between 0 and 1 (Knuth's MMIX generator).
    fn uneven(count: usize) -> Vec<f64> {
        let mut state = 1u64;
        let mut next = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 40) as f64 / (1u64 << 24) as f64
        };
        (0..count).map(|_| next()).collect()
    }

    /// The largest layers have 24,310 states and are divided between threads.
    #[test]
    fn large_layers_are_the_same_for_any_number_of_threads() {
        let control = Control::new();
        let size = 17;
        let ones = Matrix::dense(size, size, &vec![1.0; size * size]).unwrap();
        let found = plan(&ones).edges(&control).unwrap();
        assert_eq!(found.permanent, Wide::from_f64(355687428096000.0));
        for probability in found.probability {
            assert!((probability - 1.0 / 17.0).abs() < 1e-14);
        }
        let matrix = Matrix::dense(size, size, &uneven(size * size)).unwrap();
        let frontier = plan(&matrix);
        let with_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| frontier.edges(&control)).unwrap()
        };
        let (one, three) = (with_threads(1), with_threads(3));
        assert_eq!(one.permanent, three.permanent);
        assert_eq!(one.probability, three.probability);
        let mut of_column = vec![0.0; size];
        for (edge, probability) in one.probability.iter().enumerate() {
            of_column[edge % size] += probability;
        }
        assert!(of_column.iter().all(|sum| (sum - 1.0).abs() < 1e-13));
    }

    #[test]
    fn doubles_agree_with_wide_numbers() {
        let control = Control::new();
        let matrix = Matrix::dense(11, 11, &uneven(121)).unwrap();
        let frontier = plan(&matrix);
        let narrow = frontier.forward_backward::<f64>(&control).unwrap().unwrap();
        let wide = frontier.forward_backward::<Wide>(&control).unwrap().unwrap();
        assert!((narrow.permanent.divided_by(wide.permanent) - 1.0).abs() < 2.0 * frontier.permanent_error());
        for (narrow, wide) in narrow.probability.iter().zip(&wide.probability) {
            assert!((narrow - wide).abs() < 2.0 * frontier.edge_error());
        }
    }

    /// Row by row, the first row opens all columns. Column by column, the first row is only one open line.
    #[test]
    fn columns_are_gone_through_where_rows_open_too_many() {
        let control = Control::new();
        let size = 200;
        let mut edges: Vec<(u32, u32, f64)> = (0..size).map(|column| (0, column, 1.0)).collect();
        for row in 1..size {
            edges.extend([(row, row, 1.0), (row, row - 1, 1.0)]);
        }
        let matrix = Matrix::sparse(size as usize, size as usize, edges).unwrap();
        let lines = Lines::rows(&matrix, &control).unwrap();
        assert!(lines.best_order(&control).unwrap().is_none());
        let frontier = plan(&matrix);
        assert!(frontier.seconds() < 1e-3);
        // For each column of the first row, there is one way to match the other rows.
        let found = frontier.edges(&control).unwrap();
        assert_eq!(found.permanent, Wide::from_f64(200.0));
        assert!((found.probability[77] - 1.0 / 200.0).abs() < 1e-15);
    }

    #[test]
    fn too_dense_is_refused_and_long_work_stops() {
        let control = Control::new();
        let matrix = Matrix::dense(70, 70, &[1.0; 4900]).unwrap();
        assert!(Frontier::new(&matrix, &control).unwrap().is_none());
        let frontier = plan(&Matrix::dense(9, 9, &uneven(81)).unwrap());
        control.cancel();
        assert_eq!(frontier.permanent(&control), Err(Error::Cancelled));
    }
}
