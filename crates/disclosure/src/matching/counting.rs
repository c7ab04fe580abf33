//! Exact number of perfect matchings of a graph, and the share of them that use each edge.
//!
//! Edges that no perfect matching uses are removed first, and each connected component is counted on its own.
//! `plan` describes the states of the dynamic program and its cost. A forward pass counts the ways to reach
//! every state; a backward pass counts the ways to complete it. Both together give the probability that an
//! item is still without a code at each step, and the difference of two such probabilities is the share of an
//! edge. Counts are doubles as long as their range suffices, and [`Wide`] numbers otherwise.

use super::plan::{Component, Cost, Layer, NextStep, Op, Plan};
use super::weight::{Weight, Wide};
use super::{Components, Graph, admissible};
use crate::{Control, Result};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::convert::Infallible;

/// Plan for counting the perfect matchings of a graph. Creating one is cheap, and it can estimate the cost of
/// counting.
#[derive(Debug)]
pub struct Counting {
    /// Connected components; `None` if there is no perfect matching.
    components: Option<Vec<PlannedComponent>>,
    /// Candidates of every class of items.
    candidates: Vec<Vec<u32>>,
}

/// Share of perfect matchings that use each edge.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Shares {
    /// Natural logarithm of the number of perfect matchings.
    pub ln_matchings: f64,
    /// For every class of items and each of its candidates, in order: the share of perfect matchings that
    /// give one particular item of the class a code of that candidate class.
    pub of_class: Vec<Vec<f64>>,
}

/// A connected component, with its plan and its classes in the whole graph.
#[derive(Debug)]
struct PlannedComponent {
    component: Component,
    plan: Plan,
    item_classes: Vec<u32>,
    /// Class of codes that each step deals out.
    code_classes: Vec<u32>,
}

impl Counting {
    /// Estimated number of [`steps`](Self::steps) that a current core performs in a second.
    pub const STEPS_PER_SECOND: f64 = 5e8;

    /// Removes the edges that no perfect matching uses and plans how to count in each remaining component.
    pub fn new(graph: &Graph, control: &Control) -> Result<Self> {
        let admissible = admissible(graph, control)?;
        let components = admissible
            .map(|graph| plan_components(&graph, control))
            .transpose()?;
        Ok(Counting {
            components,
            candidates: graph.items.iter().map(|items| items.candidates.clone()).collect(),
        })
    }

    fn cost(&self) -> impl Iterator<Item = Cost> + '_ {
        self.components.iter().flatten().map(|planned| planned.plan.cost)
    }

    /// Returns the estimated number of elementary steps for counting.
    pub fn steps(&self) -> f64 {
        self.cost().map(|cost| cost.steps).fold(0.0, std::ops::Add::add)
    }

    /// Returns the estimated number of bytes for counting.
    pub fn bytes(&self) -> f64 {
        self.cost().map(|cost| cost.bytes).fold(0.0, std::ops::Add::add)
    }

    /// Returns the natural logarithm of the number of perfect matchings; negative infinity if there is none.
    pub fn ln_matchings(&self, control: &Control) -> Result<f64> {
        let Some(components) = &self.components else {
            return Ok(f64::NEG_INFINITY);
        };
        let logs = components
            .par_iter()
            .map(|planned| planned.ln_matchings(control))
            .collect::<Result<Vec<f64>>>()?;
        Ok(logs.into_iter().fold(0.0, std::ops::Add::add))
    }

    /// Returns the share of perfect matchings that use each edge; `None` if there is no perfect matching.
    pub fn shares(&self, control: &Control) -> Result<Option<Shares>> {
        let Some(components) = &self.components else {
            return Ok(None);
        };
        let of_components = components
            .par_iter()
            .map(|planned| planned.shares(control))
            .collect::<Result<Vec<_>>>()?;
        let mut shares = Shares {
            ln_matchings: 0.0,
            of_class: self.candidates.iter().map(|all| vec![0.0; all.len()]).collect(),
        };
        for (planned, (ln_matchings, of_class)) in components.iter().zip(of_components) {
            shares.ln_matchings += ln_matchings;
            for (class, of_steps) in of_class.into_iter().enumerate() {
                let item_class = planned.item_classes[class] as usize;
                for (&step, share) in planned.component.candidates[class].iter().zip(of_steps) {
                    let code_class = planned.code_classes[step as usize];
                    if let Ok(candidate) = self.candidates[item_class].binary_search(&code_class) {
                        shares.of_class[item_class][candidate] = share;
                    }
                }
            }
        }
        Ok(Some(shares))
    }
}

/// Plans every connected component of a graph of admissible edges.
fn plan_components(graph: &Graph, control: &Control) -> Result<Vec<PlannedComponent>> {
    let components = Components::new(graph, control)?;
    let members = components.codes.into_par_iter().zip(components.items);
    members
        .map(|(codes, classes)| PlannedComponent::new(graph, codes, classes, control))
        .collect()
}

impl PlannedComponent {
    /// Plans a component in the given order of codes, which is by frequency if codes are frequency groups. If
    /// that is expensive, tries a few other orders and keeps the cheapest.
    fn new(graph: &Graph, code_classes: Vec<u32>, item_classes: Vec<u32>, control: &Control) -> Result<Self> {
        let mut best = PlannedComponent::in_order(graph, code_classes, item_classes, control)?;
        if best.plan.cost.steps > MIN_STEPS_FOR_SEARCH {
            let backwards = best.code_classes.iter().rev().copied().collect();
            let few_open = few_open_order(graph, &best.code_classes, &best.item_classes, control)?;
            for order in std::iter::once(backwards).chain(few_open) {
                let planned = PlannedComponent::in_order(graph, order, best.item_classes.clone(), control)?;
                if planned.plan.cost.steps < best.plan.cost.steps {
                    best = planned;
                }
            }
        }
        Ok(best)
    }

    fn in_order(
        graph: &Graph,
        code_classes: Vec<u32>,
        item_classes: Vec<u32>,
        control: &Control,
    ) -> Result<Self> {
        let numbered = code_classes.iter().enumerate();
        let step_of: FxHashMap<u32, u32> = numbered
            .map(|(step, &code_class)| (code_class, step as u32))
            .collect();
        let items = || item_classes.iter().map(|&class| &graph.items[class as usize]);
        let steps = |candidates: &Vec<u32>| {
            let mut steps: Vec<u32> = candidates.iter().map(|code_class| step_of[code_class]).collect();
            steps.sort_unstable();
            steps
        };
        let component = Component {
            code_class_sizes: code_classes
                .iter()
                .map(|&code_class| graph.codes[code_class as usize])
                .collect(),
            item_class_sizes: items().map(|items| items.size).collect(),
            candidates: items().map(|items| steps(&items.candidates)).collect(),
        };
        Ok(PlannedComponent {
            plan: Plan::new(&component, control)?,
            component,
            item_classes,
            code_classes,
        })
    }

    fn ln_matchings(&self, control: &Control) -> Result<f64> {
        match self.forward::<f64>(None, control)? {
            Some(result) => Ok(result.ln_matchings),
            None => Ok(self
                .forward::<Wide>(None, control)?
                .map_or(f64::NEG_INFINITY, |result| result.ln_matchings)),
        }
    }

    /// Returns the logarithm of the number of matchings, and the shares of every class by its candidates.
    fn shares(&self, control: &Control) -> Result<(f64, Vec<Vec<f64>>)> {
        let narrow = match self.backward::<f64>(control)? {
            Some(backward) => self.forward(Some(&backward), control)?,
            None => None,
        };
        let result = match narrow {
            Some(result) => Some(result),
            None => match self.backward::<Wide>(control)? {
                Some(backward) => self.forward(Some(&backward), control)?,
                None => None,
            },
        };
        let result = result.unwrap_or_default();
        let of_class = result.waiting.iter().map(|waiting| {
            let after = waiting.iter().skip(1).chain([&0.0]);
            // The difference of two shares that are equal except for rounding may be below 0.
            let given = waiting.iter().zip(after);
            given.map(|(before, after)| (before - after).max(0.0)).collect()
        });
        Ok((result.ln_matchings, of_class.collect()))
    }
}

/// Returns a greedy order, in which the next class of codes is always the one that leaves the fewest states
/// open; `None` if there are so many classes that the search would take long.
fn few_open_order(
    graph: &Graph,
    code_classes: &[u32],
    item_classes: &[u32],
    control: &Control,
) -> Result<Option<Vec<u32>>> {
    const MAX_CLASSES: usize = 1000;
    if code_classes.len() > MAX_CLASSES {
        return Ok(None);
    }
    let mut holders: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    // For every class: the number of candidates that are not dealt out yet, and the logarithm of the factor
    // by which the class multiplies the number of states while it is open.
    let mut left: FxHashMap<u32, (usize, f64)> = FxHashMap::default();
    for &class in item_classes {
        let items = &graph.items[class as usize];
        left.insert(class, (items.candidates.len(), f64::from(items.size + 1).ln()));
        for &code_class in &items.candidates {
            holders.entry(code_class).or_default().push(class);
        }
    }
    let candidates = |class: u32| &graph.items[class as usize].candidates;
    let growth = |code_class: u32, left: &FxHashMap<u32, (usize, f64)>| {
        let effects = holders[&code_class].iter().map(|class| {
            let (left, weight) = left[class];
            let all = candidates(*class).len();
            match left {
                _ if all == 1 => 0.0,
                1 => -weight,
                _ if left == all => weight,
                _ => 0.0,
            }
        });
        effects.fold(0.0, std::ops::Add::add)
    };
    let mut waiting: Vec<(u32, f64)> = code_classes
        .iter()
        .map(|&code_class| (code_class, growth(code_class, &left)))
        .collect();
    let mut order = Vec::with_capacity(code_classes.len());
    while !waiting.is_empty() {
        control.check()?;
        let best = (0..waiting.len())
            .min_by(|&a, &b| waiting[a].1.total_cmp(&waiting[b].1))
            .unwrap_or(0);
        let (code_class, _) = waiting.remove(best);
        order.push(code_class);
        let mut affected: FxHashSet<u32> = FxHashSet::default();
        for class in &holders[&code_class] {
            if let Some((left, _)) = left.get_mut(class) {
                *left -= 1;
                // A class that has just begun, or that has one candidate left, now contributes differently.
                if *left == 1 || *left + 1 == candidates(*class).len() {
                    affected.extend(candidates(*class));
                }
            }
        }
        for (code_class, known) in &mut waiting {
            if affected.contains(code_class) {
                *known = growth(*code_class, &left);
            }
        }
    }
    Ok(Some(order))
}

/// Number of steps below which looking for a better order does not pay.
const MIN_STEPS_FOR_SEARCH: f64 = 1e6;

/// Number of weights between two checks for cancellation.
const WEIGHTS_PER_CHECK: usize = 1 << 14;

/// Check for cancellation every [`WEIGHTS_PER_CHECK`] weights, and at the first one, because layers may be
/// many and small.
struct CancelCheck<'a> {
    control: &'a Control,
    seen: usize,
}

impl<'a> CancelCheck<'a> {
    fn new(control: &'a Control) -> Self {
        CancelCheck {
            control,
            seen: WEIGHTS_PER_CHECK,
        }
    }

    /// Has to be called for every state, with its number of weights.
    #[inline]
    fn pass(&mut self, weights: usize) -> Result<()> {
        self.seen += weights;
        if self.seen < WEIGHTS_PER_CHECK {
            return Ok(());
        }
        self.seen = 0;
        self.control.check()
    }
}

/// Result of the forward pass.
#[derive(Debug, Default)]
struct ForwardResult {
    ln_matchings: f64,
    /// For every class and each of its candidates: the probability that an item has no code yet when the
    /// codes of that candidate are dealt out.
    waiting: Vec<Vec<f64>>,
}

/// k! and 1/k! for every k up to a limit.
struct Factorials<W> {
    values: Vec<W>,
    inverse: Vec<W>,
}

impl<W: Weight> Factorials<W> {
    fn new(largest: u32) -> Self {
        let mut factorials = Factorials {
            values: vec![W::from_f64(1.0)],
            inverse: vec![W::from_f64(1.0)],
        };
        for k in 1..=largest as usize {
            let (value, inverse) = (factorials.values[k - 1], factorials.inverse[k - 1]);
            factorials.values.push(value.times(W::from_f64(k as f64)));
            factorials
                .inverse
                .push(inverse.times(W::from_f64(1.0 / k as f64)));
        }
        factorials
    }
}

/// A weight for every cell of a layer.
///
/// In the forward pass, the weight of a state is the number of ways to reach it, times r! for every pool of r
/// items. Then a pool that takes u codes has the factor 1/u! regardless of its size, instead of the binomial
/// coefficient of r and u. In the backward pass, the weight is the number of ways to complete the state,
/// divided by the same factorials. So the product of both weights is the number of matchings that pass
/// through the state.
type Cells<W> = Vec<W>;

impl PlannedComponent {
    /// Returns the weights of the backward pass, for every state of each layer that begins a step. Returns
    /// `None` if the range of the number type does not suffice.
    fn backward<W: Weight>(&self, control: &Control) -> Result<Option<Vec<Cells<W>>>> {
        if self.plan.largest > W::MAX_POOL {
            return Ok(None);
        }
        let factorials = Factorials::new(self.plan.largest);
        let mut cells = vec![W::from_f64(1.0)];
        let mut of_steps = Vec::with_capacity(self.component.code_class_sizes.len() + 1);
        for (number, (op, to)) in self.plan.ops.iter().enumerate().rev() {
            let empty = Layer::empty();
            let from = number
                .checked_sub(1)
                .map_or(&empty, |before| &self.plan.ops[before].1);
            cells = match op {
                Op::Take { pool } => gather_take(from, to, *pool, &cells, &factorials, control)?,
                Op::NextStep(next_step) => {
                    if scale(&mut cells).is_none() {
                        return Ok(None);
                    }
                    let before = gather_next_step(from, to, next_step, &cells, &factorials, control)?;
                    of_steps.push(cells);
                    before
                }
            };
        }
        of_steps.reverse();
        Ok(Some(of_steps))
    }

    /// Counts all matchings and, if `backward` has the weights of the backward pass, how many leave an item
    /// waiting until each of its candidates. Returns `None` if the range of the number type does not suffice.
    fn forward<W: Weight>(
        &self,
        backward: Option<&[Cells<W>]>,
        control: &Control,
    ) -> Result<Option<ForwardResult>> {
        if self.plan.largest > W::MAX_POOL {
            return Ok(None);
        }
        let factorials = Factorials::new(self.plan.largest);
        let mut result = ForwardResult {
            ln_matchings: 0.0,
            waiting: self
                .component
                .candidates
                .iter()
                .map(|candidates| Vec::with_capacity(candidates.len()))
                .collect(),
        };
        let mut cells = vec![W::from_f64(1.0)];
        // Weights of the ways that leave one particular item of a class waiting, by class and pool.
        let mut tracked: Vec<Track<W>> = Vec::new();
        let mut from = &Layer::empty();
        let mut members: &[Vec<usize>] = &[];
        let mut step = 0;
        for (op, to) in &self.plan.ops {
            let after = match op {
                Op::Take { pool } => {
                    scatter_take(from, to, *pool, &cells, &mut tracked, &factorials, control)?
                }
                Op::NextStep(next_step) => {
                    let old = if backward.is_some() {
                        track_before_merge(
                            &mut tracked,
                            next_step,
                            members,
                            from,
                            &cells,
                            &self.component.item_class_sizes,
                        )
                    } else {
                        Vec::new()
                    };
                    let mut after =
                        scatter_next_step(from, to, next_step, &cells, &mut tracked, &factorials, control)?;
                    track_after_merge(&mut tracked, next_step, &old, &after, backward.is_some());
                    let Some(factor) = scale(&mut after) else {
                        return Ok(None);
                    };
                    let inverse = factor.inverse();
                    for cell in tracked.iter_mut().flat_map(|track| &mut track.cells) {
                        *cell = cell.times(inverse);
                    }
                    result.ln_matchings += factor.ln() + factorials.values[next_step.codes as usize].ln();
                    if let Some(backward) = backward {
                        self.measure(
                            step,
                            to,
                            next_step,
                            &after,
                            &backward[step],
                            &tracked,
                            &mut result,
                        )?;
                    }
                    members = &next_step.members;
                    step += 1;
                    after
                }
            };
            cells = after;
            from = to;
        }
        result.ln_matchings += cells[0].ln();
        Ok(Some(result))
    }

    /// Appends, for every class that can get codes of this step, the probability that an item is still
    /// waiting.
    #[expect(
        clippy::too_many_arguments,
        reason = "one moment of a computation that has many parts"
    )]
    fn measure<W: Weight>(
        &self,
        step: usize,
        layer: &Layer,
        next_step: &NextStep,
        forward: &Cells<W>,
        backward: &Cells<W>,
        tracked: &[Track<W>],
        result: &mut ForwardResult,
    ) -> Result<()> {
        let mut all = W::default();
        let mut of_pools = vec![W::default(); next_step.members.len()];
        layer.for_each(|cell, state| {
            let both = forward[cell].times(backward[cell]);
            if !both.is_zero() {
                all.add(both);
                for (sum, &items) in of_pools.iter_mut().zip(state) {
                    if items > 0 {
                        sum.add(both.times(W::from_f64(f64::from(items))));
                    }
                }
            }
            Ok(())
        })?;
        for (pool, members) in next_step.members.iter().enumerate() {
            for &class in members {
                let candidates = &self.component.candidates[class];
                let candidate = result.waiting[class].len();
                if candidates.get(candidate) != Some(&(step as u32)) {
                    continue;
                }
                let probability = match tracked.iter().find(|track| track.class == class) {
                    Some(track) => {
                        let mut waiting = W::default();
                        for (&forward, &backward) in track.cells.iter().zip(backward) {
                            waiting.add(forward.times(backward));
                        }
                        waiting.divided_by(all)
                    }
                    None => {
                        of_pools[pool].divided_by(all) / f64::from(self.component.item_class_sizes[class])
                    }
                };
                result.waiting[class].push(probability);
            }
        }
        Ok(())
    }
}

/// A class that shares its pool with others and is tracked on its own, because its items are not as likely to
/// wait as the others.
struct Track<W> {
    class: usize,
    pool: usize,
    cells: Cells<W>,
}

/// Weights after an operation: those of all ways, and those of every tracked class.
struct Scattered<W> {
    all: Cells<W>,
    tracked: Vec<Cells<W>>,
}

impl<W: Weight> Scattered<W> {
    fn new(to: &Layer, tracked: &[Track<W>], control: &Control) -> Result<Self> {
        let rooms = tracked.iter().map(|_| to.empty_cells(control));
        Ok(Scattered {
            all: to.empty_cells(control)?,
            tracked: rooms.collect::<Result<_>>()?,
        })
    }

    /// Stores the new weights of the tracked classes, and returns those of all ways.
    fn finish(self, tracked: &mut [Track<W>]) -> Cells<W> {
        for (track, after) in tracked.iter_mut().zip(self.tracked) {
            track.cells = after;
        }
        self.all
    }
}

/// Before pools are merged: starts to track the classes whose pools will be shared, and drops the classes
/// that are done. Returns the tracked classes.
fn track_before_merge<W: Weight>(
    tracked: &mut Vec<Track<W>>,
    next_step: &NextStep,
    members: &[Vec<usize>],
    from: &Layer,
    cells: &Cells<W>,
    sizes: &[u32],
) -> Vec<usize> {
    tracked.retain_mut(|track| match next_step.into[track.pool] {
        Some(pool) => {
            track.pool = pool;
            true
        }
        None => false,
    });
    for (pool, classes) in members.iter().enumerate() {
        let Some(target) = next_step.into[pool] else {
            continue;
        };
        let [class] = classes[..] else {
            continue;
        };
        if next_step.members[target].len() == 1 {
            continue;
        }
        let mut of_class = vec![W::default(); cells.len()];
        let share = 1.0 / f64::from(sizes[class]);
        let Ok(()) = from.for_each(|cell, state| {
            of_class[cell] = cells[cell].times(W::from_f64(f64::from(state[pool]) * share));
            Ok::<(), Infallible>(())
        });
        tracked.push(Track {
            class,
            pool: target,
            cells: of_class,
        });
    }
    tracked.iter().map(|track| track.class).collect()
}

/// After pools are merged: starts to track the classes that are new in a shared pool. All their items are
/// waiting.
fn track_after_merge<W: Weight>(
    tracked: &mut Vec<Track<W>>,
    next_step: &NextStep,
    old: &[usize],
    cells: &Cells<W>,
    follow: bool,
) {
    for (pool, classes) in next_step.members.iter().enumerate() {
        if follow && classes.len() > 1 {
            for &class in classes.iter().filter(|class| !old.contains(class)) {
                tracked.push(Track {
                    class,
                    pool,
                    cells: cells.clone(),
                });
            }
        }
    }
}

/// Returns the numbers of codes that a pool of `items` items can take out of `rest`, so that the new state is
/// in the range of layer `to`.
#[inline]
fn choices(to: &Layer, pool: usize, items: u32, rest: u32) -> std::ops::RangeInclusive<u32> {
    let (pool, of_rest) = (to.ranges[pool], to.ranges[to.rest()]);
    let least = items
        .saturating_sub(pool.high)
        .max(rest.saturating_sub(of_rest.high));
    if items < pool.low || rest < of_rest.low {
        #[expect(clippy::reversed_empty_ranges, reason = "nothing is possible")]
        return 1..=0;
    }
    least..=(items - pool.low).min(rest - of_rest.low)
}

/// Applies [`Op::Take`] in the forward pass: a pool takes codes. Every state is visited once, for all ways
/// and for every tracked class.
fn scatter_take<W: Weight>(
    from: &Layer,
    to: &Layer,
    pool: usize,
    cells: &Cells<W>,
    tracked: &mut [Track<W>],
    factorials: &Factorials<W>,
    control: &Control,
) -> Result<Cells<W>> {
    let mut after = Scattered::new(to, tracked, control)?;
    let stride = to.stride(pool) + to.stride(to.rest());
    let mut cancel_check = CancelCheck::new(control);
    from.for_each_towards(to, |cell, target, state| {
        cancel_check.pass(1 + tracked.len())?;
        let weight = cells[cell];
        if weight.is_zero() {
            return Ok(());
        }
        let items = state[pool];
        for taken in choices(to, pool, items, state[from.rest()]) {
            let target = (target - i64::from(taken) * stride) as usize;
            let share = factorials.inverse[taken as usize];
            after.all[target].add(weight.times(share));
            // All items of the pool are equally likely to be left waiting.
            let waiting = share.times(W::from_f64(f64::from(items - taken) / f64::from(items.max(1))));
            for (track, after) in tracked.iter().zip(&mut after.tracked) {
                let share = if track.pool == pool { waiting } else { share };
                after[target].add(track.cells[cell].times(share));
            }
        }
        Ok(())
    })?;
    Ok(after.finish(tracked))
}

fn gather_take<W: Weight>(
    from: &Layer,
    to: &Layer,
    pool: usize,
    after: &Cells<W>,
    factorials: &Factorials<W>,
    control: &Control,
) -> Result<Cells<W>> {
    let mut before = from.empty_cells(control)?;
    let stride = to.stride(pool) + to.stride(to.rest());
    let mut cancel_check = CancelCheck::new(control);
    from.for_each_towards(to, |cell, target, state| {
        cancel_check.pass(1)?;
        let mut sum = W::default();
        for taken in choices(to, pool, state[pool], state[from.rest()]) {
            let target = (target - i64::from(taken) * stride) as usize;
            sum.add(after[target].times(factorials.inverse[taken as usize]));
        }
        before[cell] = sum;
        Ok(())
    })?;
    Ok(before)
}

/// Returns the cell of a state after pools are merged, and its factor: R!/∏r! for every pool of R items, of
/// which r come from each old pool. Returns `None` if the new state is out of range. Neither the factor nor
/// any of its intermediate products is below 1.
fn state_in_next_step<W: Weight>(
    to: &Layer,
    next_step: &NextStep,
    state: &[u32],
    new_state: &mut Vec<u32>,
    factorials: &Factorials<W>,
) -> Option<(usize, W)> {
    new_state.clear();
    new_state.extend_from_slice(&next_step.fresh);
    let mut factor = W::from_f64(1.0);
    for &items in next_step.fresh.iter().filter(|&&items| items > 1) {
        factor = factor.times(*factorials.values.get(items as usize)?);
    }
    for (&items, &target) in state.iter().zip(&next_step.into) {
        if let Some(pool) = target {
            let others = new_state[pool];
            new_state[pool] += items;
            if items > 0 && others > 0 {
                let together = *factorials.values.get((items + others) as usize)?;
                let apart = factorials.inverse[items as usize].times(factorials.inverse[others as usize]);
                factor = factor.times(together.times(apart));
            }
        }
    }
    new_state.push(next_step.codes);
    let mut in_range = new_state.iter().zip(&to.ranges);
    in_range
        .all(|(&value, range)| range.holds(i64::from(value)))
        .then(|| (to.cell(new_state) as usize, factor))
}

fn scatter_next_step<W: Weight>(
    from: &Layer,
    to: &Layer,
    next_step: &NextStep,
    cells: &Cells<W>,
    tracked: &mut [Track<W>],
    factorials: &Factorials<W>,
    control: &Control,
) -> Result<Cells<W>> {
    let mut after = Scattered::new(to, tracked, control)?;
    let mut new_state = Vec::new();
    let mut cancel_check = CancelCheck::new(control);
    from.for_each(|cell, state| {
        cancel_check.pass(1 + tracked.len())?;
        if cells[cell].is_zero() {
            return Ok(());
        }
        if let Some((target, factor)) = state_in_next_step(to, next_step, state, &mut new_state, factorials) {
            after.all[target].add(cells[cell].times(factor));
            for (track, after) in tracked.iter().zip(&mut after.tracked) {
                after[target].add(track.cells[cell].times(factor));
            }
        }
        Ok(())
    })?;
    Ok(after.finish(tracked))
}

fn gather_next_step<W: Weight>(
    from: &Layer,
    to: &Layer,
    next_step: &NextStep,
    after: &Cells<W>,
    factorials: &Factorials<W>,
    control: &Control,
) -> Result<Cells<W>> {
    let mut before = from.empty_cells(control)?;
    let mut new_state = Vec::new();
    let mut cancel_check = CancelCheck::new(control);
    from.for_each(|cell, state| {
        cancel_check.pass(1)?;
        if let Some((target, factor)) = state_in_next_step(to, next_step, state, &mut new_state, factorials) {
            // The factor may be infinite, which is noticed later. But infinity times zero would be NaN.
            if !after[target].is_zero() {
                before[cell] = after[target].times(factor);
            }
        }
        Ok(())
    })?;
    Ok(before)
}

/// Divides all weights by the largest and returns it; `None` if the number type cannot hold them.
fn scale<W: Weight>(cells: &mut Cells<W>) -> Option<W> {
    let (mut smallest, mut largest) = (None::<W>, W::default());
    for &cell in cells.iter().filter(|cell| !cell.is_zero()) {
        if largest.is_less(cell) {
            largest = cell;
        }
        if smallest.is_none_or(|smallest| cell.is_less(smallest)) {
            smallest = Some(cell);
        }
    }
    let inverse = largest.inverse();
    let can_hold = W::can_hold(smallest?.times(inverse));
    can_hold.then(|| {
        for cell in cells {
            *cell = cell.times(inverse);
        }
        largest
    })
}

#[cfg(test)]
mod tests {
    use super::super::ItemClass;
    use super::*;

    /// Eleven pools of about 28 items: a double has hardly any digits left for the product of their 1/r!.
    #[test]
    fn doubles_agree_with_wide_numbers_where_pools_are_many() {
        const CLASSES: u32 = 11;
        // Every class comes in at a step of its own and takes at most two codes before the large classes of
        // codes are dealt out.
        let class = |number: u32| ItemClass {
            size: 29,
            candidates: vec![
                number,
                number + 1,
                CLASSES + 1 + number,
                CLASSES + 1 + (number + 1) % CLASSES,
            ],
        };
        let mut codes = vec![1; CLASSES as usize + 1];
        codes.push(27);
        codes.extend(vec![28; CLASSES as usize - 1]);
        let mut items: Vec<ItemClass> = (0..CLASSES).map(class).collect();
        for items in &mut items {
            items.candidates.sort_unstable();
        }
        let graph = Graph { codes, items };
        // A better order would keep fewer pools open.
        let control = Control::new();
        let codes = (0..graph.codes.len() as u32).collect();
        let in_order = PlannedComponent::in_order(&graph, codes, (0..CLASSES).collect(), &control).unwrap();
        let narrow = in_order.forward::<f64>(None, &control).unwrap().unwrap();
        let wide = in_order.forward::<Wide>(None, &control).unwrap().unwrap();
        assert!((narrow.ln_matchings / wide.ln_matchings - 1.0).abs() < 1e-14);
    }
}
