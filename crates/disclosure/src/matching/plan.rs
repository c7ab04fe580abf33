//! Plan for counting the matchings of one connected component, and its cost.
//!
//! Codes are dealt out class by class. Between two such *steps*, all that matters is how many items are still
//! without a code, and which codes they can still get. Items that can still get the same codes have the same
//! *future* and form a *pool*. Within a step, the pools take their share of its codes one after another. So a
//! state is the number of items left in every pool, and the number of codes left in the step, the *rest*.
//! Pools and rest decrease together, so any one of these coordinates follows from the others and is left out.

use crate::Control;

/// A connected component of a graph, with its codes in the order in which they are dealt out.
#[derive(Debug)]
pub(super) struct Component {
    /// Sizes of the classes of codes.
    pub code_class_sizes: Vec<u32>,
    /// Sizes of the classes of items.
    pub item_class_sizes: Vec<u32>,
    /// For every class of items, the steps that deal out its candidates, in ascending order.
    pub candidates: Vec<Vec<u32>>,
}

/// Possible states at one moment, as cells of an array.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    /// Ranges of the pools, followed by that of the rest.
    pub ranges: Vec<Interval>,
    /// Number of items in pools minus number of codes in the rest.
    balance: i64,
    /// Coordinate that follows from the others: the one with the most values.
    implied: usize,
    /// The other coordinates with more than one value, the fastest first, each with its stride in cells.
    pub axes: Vec<(usize, usize)>,
    pub cells: f64,
}

/// Numbers from `low` to `high`, inclusive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    pub low: u32,
    pub high: u32,
}

impl Interval {
    fn only(value: u32) -> Self {
        Interval {
            low: value,
            high: value,
        }
    }

    fn values(self) -> f64 {
        f64::from(self.high) - f64::from(self.low) + 1.0
    }

    pub fn holds(self, value: i64) -> bool {
        (i64::from(self.low)..=i64::from(self.high)).contains(&value)
    }
}

/// Operation that leads from one layer to the next.
#[derive(Debug)]
pub(super) enum Op {
    /// A pool takes some codes of the rest.
    Take { pool: usize },
    /// The next step begins: pools whose items now have the same future are merged, and new items come in.
    NextStep(NextStep),
}

#[derive(Debug)]
pub(super) struct NextStep {
    /// New pool of every old pool; `None` if the old pool is empty because its items have no more candidates.
    pub into: Vec<Option<usize>>,
    /// Number of new items in every pool.
    pub fresh: Vec<u32>,
    /// Number of codes that the next step deals out.
    pub codes: u32,
    /// Classes in every pool; some of their items may already have codes.
    pub members: Vec<Vec<usize>>,
}

/// All operations, each with the layer that it leads to, and their cost. The last one leads to a layer
/// without pools.
#[derive(Debug)]
pub(super) struct Plan {
    pub ops: Vec<(Op, Layer)>,
    pub cost: Cost,
    /// Largest number of items in a pool or codes in a step.
    pub largest: u32,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cost {
    /// Number of elementary steps.
    pub steps: f64,
    /// Memory in bytes.
    pub bytes: f64,
}

impl Cost {
    /// Number of steps that no computer can afford. Planning stops there, so that it is never expensive
    /// itself.
    pub const INFEASIBLE: f64 = 1e15;

    pub fn is_infeasible(self) -> bool {
        self.steps > Self::INFEASIBLE
    }
}

/// Bytes per cell.
const BYTES_PER_CELL: f64 = 16.0;

impl Layer {
    /// Returns the layer before the first step.
    pub fn empty() -> Self {
        Layer::new(vec![Interval::only(0)], 0)
    }

    fn new(ranges: Vec<Interval>, balance: i64) -> Self {
        let by_values = |&a: &usize, &b: &usize| f64::total_cmp(&ranges[a].values(), &ranges[b].values());
        let implied = (0..ranges.len()).max_by(by_values).unwrap_or(0);
        let mut cells = 1.0;
        let mut axes = Vec::new();
        for (coordinate, range) in ranges.iter().enumerate() {
            if coordinate != implied && range.low < range.high {
                axes.push((coordinate, cells as usize));
                cells *= range.values();
            }
        }
        Layer {
            ranges,
            balance,
            implied,
            axes,
            cells,
        }
    }

    /// Returns the coordinate of the rest.
    pub fn rest(&self) -> usize {
        self.ranges.len() - 1
    }

    /// Returns the distance in cells between neighbouring values of a coordinate.
    pub fn stride(&self, coordinate: usize) -> i64 {
        let axis = self.axes.iter().find(|&&(axis, _)| axis == coordinate);
        axis.map_or(0, |&(_, stride)| stride as i64)
    }

    /// Returns the cell of a state, without checking that its coordinates are in range.
    #[inline]
    pub fn cell(&self, state: &[u32]) -> i64 {
        self.cell_of(|coordinate| i64::from(state[coordinate]))
    }

    #[inline]
    fn cell_of(&self, value: impl Fn(usize) -> i64) -> i64 {
        let parts = self.axes.iter().map(|&(coordinate, stride)| {
            (value(coordinate) - i64::from(self.ranges[coordinate].low)) * stride as i64
        });
        parts.sum()
    }

    /// Returns a zero weight for every cell, or an error if there is not enough memory.
    pub fn empty_cells<W: Copy + Default>(&self, control: &Control) -> crate::Result<Vec<W>> {
        control.require::<W>(self.cells as usize)?;
        Ok(vec![W::default(); self.cells as usize])
    }

    /// Visits every cell that is a state, in order.
    #[inline]
    pub fn for_each<E>(&self, mut visit: impl FnMut(usize, &[u32]) -> Result<(), E>) -> Result<(), E> {
        self.for_each_towards(self, |cell, _, state| visit(cell, state))
    }

    /// Visits every cell that is a state, in order, together with the cell of the same state in another layer
    /// with the same pools. That cell is not checked to be in range.
    #[inline]
    pub fn for_each_towards<E>(
        &self,
        to: &Layer,
        mut visit: impl FnMut(usize, i64, &[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let sign = |coordinate| if coordinate == self.rest() { -1 } else { 1 };
        let mut state: Vec<u32> = self.ranges.iter().map(|range| range.low).collect();
        let others = (0..state.len()).filter(|&coordinate| coordinate != self.implied);
        let others = others.map(|coordinate| sign(coordinate) * i64::from(state[coordinate]));
        let mut implied = (self.balance - others.sum::<i64>()) * sign(self.implied);
        let mut target = to.cell_of(|coordinate| match coordinate == self.implied {
            true => implied,
            false => i64::from(state[coordinate]),
        });
        // Changes of the implied coordinate and of the target cell per unit of each axis.
        let slopes = self.axes.iter().map(|&(axis, _)| {
            let of_implied = -sign(axis) * sign(self.implied);
            (
                axis,
                of_implied,
                to.stride(axis) + of_implied * to.stride(self.implied),
            )
        });
        let slopes: Vec<(usize, i64, i64)> = slopes.collect();
        let range = self.ranges[self.implied];
        for cell in 0.. {
            if range.holds(implied) {
                state[self.implied] = implied as u32;
                visit(cell, target, &state)?;
            }
            let mut is_last = true;
            for &(axis, of_implied, of_target) in &slopes {
                let Interval { low, high } = self.ranges[axis];
                let change = if state[axis] < high {
                    is_last = false;
                    state[axis] += 1;
                    1
                } else {
                    state[axis] = low;
                    i64::from(low) - i64::from(high)
                };
                implied += change * of_implied;
                target += change * of_target;
                if !is_last {
                    break;
                }
            }
            if is_last {
                break;
            }
        }
        Ok(())
    }
}

/// Items with the same future.
#[derive(Debug, Clone)]
struct Pool {
    /// Classes in the pool. The first one determines the future: its candidates from `next` on.
    members: Vec<usize>,
    next_candidate: usize,
    range: Interval,
    /// Whether all items have just come in, so that none has a code yet.
    is_fresh: bool,
}

impl Plan {
    pub fn new(component: &Component, control: &Control) -> crate::Result<Self> {
        let mut planner = Planner {
            component,
            plan: Plan {
                ops: Vec::new(),
                cost: Cost::default(),
                largest: 0,
            },
            pools: Vec::new(),
            items: 0,
            layer: Layer::empty(),
            tracked: 0.0,
            largest_layer: 1.0,
        };
        let mut arrivals = vec![Vec::new(); component.code_class_sizes.len()];
        for (class, candidates) in component.candidates.iter().enumerate() {
            arrivals[candidates[0] as usize].push(class);
        }
        for (step, arrivals) in arrivals.into_iter().enumerate() {
            control.check()?;
            planner.begin(step, &arrivals, component.code_class_sizes[step]);
            planner.deal_out(step);
            if planner.plan.cost.is_infeasible() {
                return Ok(planner.plan);
            }
        }
        planner.begin(component.code_class_sizes.len(), &[], 0);
        Ok(planner.plan)
    }
}

struct Planner<'a> {
    component: &'a Component,
    plan: Plan,
    pools: Vec<Pool>,
    /// Number of items in the pools.
    items: i64,
    layer: Layer,
    /// Number of classes that share a pool and therefore have to be tracked one by one.
    tracked: f64,
    largest_layer: f64,
}

impl Planner<'_> {
    fn future(&self, pool: &Pool) -> &[u32] {
        &self.component.candidates[pool.members[0]][pool.next_candidate..]
    }

    /// Returns the number of codes that the pool can still get.
    fn capacity(&self, pool: &Pool) -> u64 {
        let codes = self.future(pool).iter();
        codes
            .map(|&step| u64::from(self.component.code_class_sizes[step as usize]))
            .sum()
    }

    fn begin(&mut self, step: usize, arrivals: &[usize], codes: u32) {
        let component = self.component;
        let before = std::mem::take(&mut self.pools);
        let mut pools: Vec<Pool> = Vec::new();
        let mut fresh = Vec::new();
        let mut by_future = rustc_hash::FxHashMap::default();
        let mut into = Vec::with_capacity(before.len());
        for pool in before {
            let future = &component.candidates[pool.members[0]][pool.next_candidate..];
            if future.is_empty() {
                into.push(None);
                continue;
            }
            let target = *by_future.entry(future).or_insert(pools.len());
            into.push(Some(target));
            if let Some(same) = pools.get_mut(target) {
                same.members.extend(pool.members);
                same.range.low += pool.range.low;
                same.range.high += pool.range.high;
            } else {
                pools.push(Pool {
                    is_fresh: false,
                    ..pool
                });
                fresh.push(0);
            }
        }
        for &class in arrivals {
            let size = component.item_class_sizes[class];
            self.items += i64::from(size);
            let target = *by_future
                .entry(&component.candidates[class][..])
                .or_insert(pools.len());
            if let Some(same) = pools.get_mut(target) {
                // The first member determines the future, and may be further on in its candidates.
                same.members.push(class);
                same.range.low += size;
                same.range.high += size;
                fresh[target] += size;
            } else {
                pools.push(Pool {
                    members: vec![class],
                    next_candidate: 0,
                    range: Interval::only(size),
                    is_fresh: true,
                });
                fresh.push(size);
            }
        }
        debug_assert!(pools.iter().all(|pool| self.future(pool)[0] as usize >= step));
        self.pools = pools;
        let balance = self.items - i64::from(codes);
        self.tighten(self.items);
        self.tracked = self
            .pools
            .iter()
            .map(|pool| pool.members.len() as f64)
            .filter(|&members| members > 1.0)
            .fold(0.0, std::ops::Add::add);
        let members = self.pools.iter().map(|pool| pool.members.clone()).collect();
        let highest = self.pools.iter().map(|pool| pool.range.high).max();
        self.plan.largest = self.plan.largest.max(codes).max(highest.unwrap_or(0));
        let next_step = NextStep {
            into,
            fresh,
            codes,
            members,
        };
        self.push(Op::NextStep(next_step), Interval::only(codes), balance, 1.0);
        // The backward pass keeps this layer's weights for the forward pass.
        self.plan.cost.bytes += self.layer.cells * BYTES_PER_CELL;
    }

    /// Narrows the ranges of the pools to possible values: together they have `items` items, and no item may
    /// be left without candidates.
    fn tighten(&mut self, items: i64) {
        let sum = |end: fn(Interval) -> u32, pools: &[Pool]| -> i64 {
            pools.iter().map(|pool| i64::from(end(pool.range))).sum()
        };
        for pool in 0..self.pools.len() {
            let capacity = self.capacity(&self.pools[pool]);
            let range = &mut self.pools[pool].range;
            range.high = u64::from(range.high).min(capacity) as u32;
        }
        let (lows, highs) = (sum(|r| r.low, &self.pools), sum(|r| r.high, &self.pools));
        for pool in &mut self.pools {
            let Interval { low, high } = pool.range;
            let (low, high) = (i64::from(low), i64::from(high));
            // With admissible edges only, some state is possible, so `low` never exceeds `high`.
            pool.range.low = low.max(items - (highs - high)) as u32;
            pool.range.high = high.min(items - (lows - low)).max(low) as u32;
        }
    }

    /// Lets the pools take codes of this step. Pools that cannot get codes later come first. The last pool,
    /// which has to take the remaining codes, is the largest one, if possible one whose size is still
    /// certain.
    fn deal_out(&mut self, step: usize) {
        let takes = |pool: &usize| self.future(&self.pools[*pool])[0] as usize == step;
        let mut takers: Vec<usize> = (0..self.pools.len()).filter(takes).collect();
        takers.sort_by_key(|&taker| {
            let pool = &self.pools[taker];
            let is_last_chance = self.future(pool).len() == 1;
            (!is_last_chance, pool.is_fresh, pool.range.high)
        });
        for (turn, &taker) in takers.iter().enumerate() {
            let later = &takers[turn + 1..];
            let rest = self.layer.ranges[self.layer.rest()];
            self.pools[taker].next_candidate += 1;
            let capacity = self.capacity(&self.pools[taker]);
            let before = self.pools[taker].range;
            let after = Interval {
                low: before.low.saturating_sub(rest.high),
                high: u64::from(before.high).min(capacity) as u32,
            };
            let after = Interval {
                low: after.low.min(after.high),
                ..after
            };
            self.pools[taker].range = after;
            // Codes that the pools after this one can take, and those that they have to take.
            let possible: u64 = later
                .iter()
                .map(|&other| u64::from(self.pools[other].range.high))
                .sum();
            let necessary: u64 = later
                .iter()
                .filter(|&&other| self.future(&self.pools[other]).len() == 1)
                .map(|&other| u64::from(self.pools[other].range.low))
                .sum();
            let (least, most) = (before.low.saturating_sub(after.high), before.high - after.low);
            let low = rest.low.saturating_sub(most).max(necessary as u32);
            let high = u64::from(rest.high.saturating_sub(least)).min(possible) as u32;
            let rest_after = Interval {
                low: low.min(high),
                high,
            };
            let choices = Interval {
                low: 0,
                high: (before.high - after.low).min(rest.high - rest_after.low),
            };
            let taken = (choices.values() / 2.0).max(1.0);
            let balance = self.layer.balance;
            self.push(Op::Take { pool: taker }, rest_after, balance, taken);
            if self.plan.cost.is_infeasible() {
                return;
            }
        }
        self.items = self.layer.balance;
    }

    /// Appends an operation and adds its cost; `targets` is the number of cells in the new layer that one
    /// cell of the old layer reaches.
    fn push(&mut self, op: Op, rest: Interval, balance: i64, targets: f64) {
        let mut ranges: Vec<Interval> = self.pools.iter().map(|pool| pool.range).collect();
        ranges.push(rest);
        let before = std::mem::replace(&mut self.layer, Layer::new(ranges, balance));
        let arrays = 2.0 + self.tracked;
        // In both passes, a cell and its targets have to be found; a tracked class adds to that.
        let per_cell = 2.0 * (2.0 + before.ranges.len() as f64 / 2.0 + targets);
        let per_class = 1.0 + targets;
        self.plan.cost.steps += before.cells * (per_cell + self.tracked * per_class);
        let cells = before.cells + self.layer.cells;
        if arrays * cells > self.largest_layer {
            self.plan.cost.bytes += (arrays * cells - self.largest_layer) * BYTES_PER_CELL;
            self.largest_layer = arrays * cells;
        }
        self.plan.ops.push((op, self.layer.clone()));
    }
}
