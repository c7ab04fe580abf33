//! The number of perfect matchings of a graph, exactly, and how many of them use each edge.

use super::plan::{Component, Cost, Layer, Op, Plan, Regroup};
use super::weight::{Weight, Wide};
use super::{admissible, Components, Graph};
use crate::{Control, Result};
use rayon::prelude::*;
use std::convert::Infallible;

/// Counts the perfect matchings of a graph. Made at little cost, it knows what counting will cost.
#[derive(Debug)]
pub struct Counting {
    /// `None` where there is no perfect matching.
    components: Option<Vec<Part>>,
    /// The candidates of every class of items.
    candidates: Vec<Vec<u32>>,
}

/// Edges by how many perfect matchings use them.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares {
    /// The natural logarithm of the number of perfect matchings.
    pub log_matchings: f64,
    /// For every class of items and each of its candidates in order: the share of perfect matchings that give
    /// one and the same item of the class some code of that class of codes.
    pub of_class: Vec<Vec<f64>>,
}

/// A connected component, and where it is in the whole graph.
#[derive(Debug)]
struct Part {
    component: Component,
    plan: Plan,
    classes: Vec<u32>,
    /// The class of codes that each step deals out.
    codes: Vec<u32>,
}

impl Counting {
    /// About how many [`steps`](Self::steps) a core of our day does in a second.
    pub const STEPS_PER_SECOND: f64 = 3e8;

    /// Take away edges that no perfect matching uses, and plan how to count in each part that is left.
    pub fn new(graph: &Graph) -> Self {
        Counting {
            components: admissible(graph).map(|graph| parts(&graph)),
            candidates: graph.items.iter().map(|items| items.candidates.clone()).collect(),
        }
    }

    fn cost(&self) -> impl Iterator<Item = Cost> + '_ {
        self.components.iter().flatten().map(|part| part.plan.cost)
    }

    /// How many elementary steps counting will take, about.
    pub fn steps(&self) -> f64 {
        self.cost().map(|cost| cost.steps).fold(0.0, std::ops::Add::add)
    }

    /// How much memory counting will take, about.
    pub fn bytes(&self) -> f64 {
        self.cost().map(|cost| cost.bytes).fold(0.0, std::ops::Add::add)
    }

    /// The natural logarithm of the number of perfect matchings; negative infinity where there is none.
    pub fn log_matchings(&self, control: &Control) -> Result<f64> {
        let Some(parts) = &self.components else {
            return Ok(f64::NEG_INFINITY);
        };
        let logs = parts
            .par_iter()
            .map(|part| part.log_matchings(control))
            .collect::<Result<Vec<f64>>>()?;
        Ok(logs.into_iter().fold(0.0, std::ops::Add::add))
    }

    /// How many of the perfect matchings use each edge; `None` where there is none.
    pub fn shares(&self, control: &Control) -> Result<Option<Shares>> {
        let Some(parts) = &self.components else {
            return Ok(None);
        };
        let of_parts = parts
            .par_iter()
            .map(|part| part.shares(control))
            .collect::<Result<Vec<_>>>()?;
        let mut shares = Shares {
            log_matchings: 0.0,
            of_class: self.candidates.iter().map(|all| vec![0.0; all.len()]).collect(),
        };
        for (part, (log_matchings, of_class)) in parts.iter().zip(of_parts) {
            shares.log_matchings += log_matchings;
            for (class, of_steps) in of_class.into_iter().enumerate() {
                let whole = part.classes[class] as usize;
                for (&step, share) in part.component.candidates[class].iter().zip(of_steps) {
                    let code = part.codes[step as usize];
                    if let Ok(candidate) = self.candidates[whole].binary_search(&code) {
                        shares.of_class[whole][candidate] = share;
                    }
                }
            }
        }
        Ok(Some(shares))
    }
}

/// The connected components of a graph of admissible edges.
fn parts(graph: &Graph) -> Vec<Part> {
    let components = Components::new(graph);
    let members = components.codes.into_par_iter().zip(components.items);
    members
        .map(|(codes, classes)| Part::new(graph, codes, classes))
        .collect()
}

impl Part {
    /// In the order that is given, by frequency where codes are frequency groups; where that is expensive, in the
    /// cheapest of a few orders.
    fn new(graph: &Graph, codes: Vec<u32>, classes: Vec<u32>) -> Self {
        let mut best = Part::in_order(graph, codes, classes);
        if best.plan.cost.steps > CHEAP {
            let backwards = best.codes.iter().rev().copied().collect();
            let few_open = few_open_order(graph, &best.codes, &best.classes);
            for order in std::iter::once(backwards).chain(few_open) {
                let part = Part::in_order(graph, order, best.classes.clone());
                if part.plan.cost.steps < best.plan.cost.steps {
                    best = part;
                }
            }
        }
        best
    }

    fn in_order(graph: &Graph, codes: Vec<u32>, classes: Vec<u32>) -> Self {
        let mut step_of = vec![0; graph.codes.len()];
        for (step, &code) in codes.iter().enumerate() {
            step_of[code as usize] = step as u32;
        }
        let items = || classes.iter().map(|&class| &graph.items[class as usize]);
        let steps = |candidates: &Vec<u32>| {
            let mut steps: Vec<u32> = candidates.iter().map(|&code| step_of[code as usize]).collect();
            steps.sort_unstable();
            steps
        };
        let component = Component {
            codes: codes.iter().map(|&code| graph.codes[code as usize]).collect(),
            sizes: items().map(|items| items.size).collect(),
            candidates: items().map(|items| steps(&items.candidates)).collect(),
        };
        Part {
            plan: Plan::new(&component),
            component,
            classes,
            codes,
        }
    }

    fn log_matchings(&self, control: &Control) -> Result<f64> {
        match self.forth::<f64>(None, control)? {
            Some(whole) => Ok(whole.log_matchings),
            None => Ok(self
                .forth::<Wide>(None, control)?
                .map_or(f64::NEG_INFINITY, |whole| whole.log_matchings)),
        }
    }

    /// The logarithm of the number of matchings, and every class's shares by its candidates.
    fn shares(&self, control: &Control) -> Result<(f64, Vec<Vec<f64>>)> {
        let narrow = match self.back::<f64>(control)? {
            Some(back) => self.forth(Some(&back), control)?,
            None => None,
        };
        let whole = match narrow {
            Some(whole) => Some(whole),
            None => match self.back::<Wide>(control)? {
                Some(back) => self.forth(Some(&back), control)?,
                None => None,
            },
        };
        let whole = whole.unwrap_or_default();
        let of_class = whole.waiting.iter().map(|waiting| {
            let after = waiting.iter().skip(1).chain([&0.0]);
            // A difference of two shares that are equal but for rounding may be below 0.
            let given = waiting.iter().zip(after);
            given.map(|(before, after)| (before - after).max(0.0)).collect()
        });
        Ok((whole.log_matchings, of_class.collect()))
    }
}

/// An order that always takes next the codes after which the fewest states are open; `None` where there are so
/// many that looking for it would take long.
fn few_open_order(graph: &Graph, codes: &[u32], classes: &[u32]) -> Option<Vec<u32>> {
    const MOST: usize = 250;
    if codes.len() > MOST {
        return None;
    }
    let mut holders: rustc_hash::FxHashMap<u32, Vec<u32>> = Default::default();
    for &class in classes {
        for &code in &graph.items[class as usize].candidates {
            holders.entry(code).or_default().push(class);
        }
    }
    // Candidates that were not dealt out yet, of the classes that have begun.
    let mut left: rustc_hash::FxHashMap<u32, usize> = Default::default();
    let weight = |class: u32| f64::from(graph.items[class as usize].size + 1).ln();
    let mut waiting: Vec<u32> = codes.to_vec();
    let mut order = Vec::with_capacity(codes.len());
    while !waiting.is_empty() {
        let growth = |code: u32| {
            let effects = holders[&code].iter().map(|&class| {
                let all = graph.items[class as usize].candidates.len();
                match left.get(&class) {
                    _ if all == 1 => 0.0,
                    None => weight(class),
                    Some(1) => -weight(class),
                    Some(_) => 0.0,
                }
            });
            effects.fold(0.0, std::ops::Add::add)
        };
        let best = (0..waiting.len())
            .min_by(|&a, &b| growth(waiting[a]).total_cmp(&growth(waiting[b])))
            .unwrap_or(0);
        let code = waiting.remove(best);
        for &class in &holders[&code] {
            let all = graph.items[class as usize].candidates.len();
            *left.entry(class).or_insert(all) -= 1;
        }
        order.push(code);
    }
    Some(order)
}

/// Steps that are not worth a second thought.
const CHEAP: f64 = 1e6;

/// States between two looks at the control.
const LOOK_EVERY: usize = 1 << 14;

/// To be called for every state. Their cells do not tell when it is time: round numbers may be no states.
#[inline]
fn look(visited: &mut usize, control: &Control) -> Result<()> {
    let is_due = visited.is_multiple_of(LOOK_EVERY);
    *visited += 1;
    match is_due {
        true => control.check(),
        false => Ok(()),
    }
}

/// What the way forth finds.
#[derive(Debug, Default)]
struct Whole {
    log_matchings: f64,
    /// For every class and each of its candidates: the probability that an item has no code yet when those are
    /// dealt out.
    waiting: Vec<Vec<f64>>,
}

/// k! and 1/k!.
struct Factorials<W> {
    of: Vec<W>,
    inverse: Vec<W>,
}

impl<W: Weight> Factorials<W> {
    fn new(largest: u32) -> Self {
        let mut factorials = Factorials {
            of: vec![W::of(1.0)],
            inverse: vec![W::of(1.0)],
        };
        for k in 1..=largest as usize {
            let (of, inverse) = (factorials.of[k - 1], factorials.inverse[k - 1]);
            factorials.of.push(of.times(W::of(k as f64)));
            factorials.inverse.push(inverse.times(W::of(1.0 / k as f64)));
        }
        factorials
    }
}

/// A weight for every cell of a layer.
///
/// On the way forth, the weight of a state is the number of ways to get there, times r! for every pool of r
/// items: then a pool that takes u codes has the weight 1/u! whatever its size, instead of r over u. On the way
/// back it is the number of ways to go on from there, divided by the same, so that the product of both is the
/// number of matchings that pass through the state.
type Cells<W> = Vec<W>;

impl Part {
    /// The number of ways to go on from every state of each layer that begins a step.
    fn back<W: Weight>(&self, control: &Control) -> Result<Option<Vec<Cells<W>>>> {
        if self.plan.largest > W::LARGEST_POOL {
            return Ok(None);
        }
        let factorials = Factorials::new(self.plan.largest);
        let mut cells = vec![W::of(1.0)];
        let mut of_steps = Vec::with_capacity(self.component.codes.len() + 1);
        for (number, (op, to)) in self.plan.ops.iter().enumerate().rev() {
            let empty = Layer::empty();
            let from = number
                .checked_sub(1)
                .map_or(&empty, |before| &self.plan.ops[before].1);
            let mut before = vec![W::default(); from.cells as usize];
            match op {
                Op::Take { pool } => gather_take(from, to, *pool, &cells, &mut before, &factorials, control)?,
                Op::Regroup(regroup) => {
                    if scale(&mut cells).is_none() {
                        return Ok(None);
                    }
                    gather_regroup(from, to, regroup, &cells, &mut before, &factorials, control)?;
                    of_steps.push(std::mem::take(&mut cells));
                }
            }
            cells = before;
        }
        of_steps.reverse();
        Ok(Some(of_steps))
    }

    /// Count all matchings and, if the way back is known, how many leave an item waiting until each of its
    /// candidates. `None` where the number type does not suffice.
    fn forth<W: Weight>(&self, back: Option<&[Cells<W>]>, control: &Control) -> Result<Option<Whole>> {
        if self.plan.largest > W::LARGEST_POOL {
            return Ok(None);
        }
        let factorials = Factorials::new(self.plan.largest);
        let mut whole = Whole {
            log_matchings: 0.0,
            waiting: self
                .component
                .candidates
                .iter()
                .map(|candidates| Vec::with_capacity(candidates.len()))
                .collect(),
        };
        let mut cells = vec![W::of(1.0)];
        // The weights of the ways that leave one and the same item of a class waiting, by class and pool.
        let mut tracked: Vec<Track<W>> = Vec::new();
        let mut from = &Layer::empty();
        let mut members: &[Vec<usize>] = &[];
        let mut step = 0;
        for (op, to) in &self.plan.ops {
            let after = match op {
                Op::Take { pool } => {
                    for track in &mut tracked {
                        track.cells = scatter_take(
                            from,
                            to,
                            *pool,
                            &track.cells,
                            &factorials,
                            track.pool == *pool,
                            control,
                        )?;
                    }
                    scatter_take(from, to, *pool, &cells, &factorials, false, control)?
                }
                Op::Regroup(regroup) => {
                    let old = if back.is_some() {
                        retrack(
                            &mut tracked,
                            regroup,
                            members,
                            from,
                            &cells,
                            &self.component.sizes,
                        )
                    } else {
                        Vec::new()
                    };
                    for track in &mut tracked {
                        track.cells = scatter_regroup(from, to, regroup, &track.cells, &factorials, control)?;
                    }
                    let mut after = scatter_regroup(from, to, regroup, &cells, &factorials, control)?;
                    track_fresh(&mut tracked, regroup, &old, &after, back.is_some());
                    let Some(factor) = scale(&mut after) else {
                        return Ok(None);
                    };
                    for track in &mut tracked {
                        for cell in &mut track.cells {
                            *cell = cell.times(factor.inverse());
                        }
                    }
                    whole.log_matchings += factor.ln() + factorials.of[regroup.codes as usize].ln();
                    if let Some(back) = back {
                        self.measure(step, to, regroup, &after, &back[step], &tracked, &mut whole)?;
                    }
                    members = &regroup.members;
                    step += 1;
                    after
                }
            };
            cells = after;
            from = to;
        }
        whole.log_matchings += cells[0].ln();
        Ok(Some(whole))
    }

    /// The probability that an item of every class that can get codes of this step is still waiting.
    #[expect(
        clippy::too_many_arguments,
        reason = "one moment of a computation that has many parts"
    )]
    fn measure<W: Weight>(
        &self,
        step: usize,
        layer: &Layer,
        regroup: &Regroup,
        forth: &Cells<W>,
        back: &Cells<W>,
        tracked: &[Track<W>],
        whole: &mut Whole,
    ) -> Result<()> {
        let mut all = W::default();
        let mut of_pools = vec![W::default(); regroup.members.len()];
        layer.for_each(|cell, state| {
            let both = forth[cell].times(back[cell]);
            if !both.is_zero() {
                all.add(both);
                for (sum, &items) in of_pools.iter_mut().zip(state) {
                    if items > 0 {
                        sum.add(both.times(W::of(f64::from(items))));
                    }
                }
            }
            Ok(())
        })?;
        for (pool, members) in regroup.members.iter().enumerate() {
            for &class in members {
                let candidates = &self.component.candidates[class];
                let candidate = whole.waiting[class].len();
                if candidates.get(candidate) != Some(&(step as u32)) {
                    continue;
                }
                let probability = match tracked.iter().find(|track| track.class == class) {
                    Some(track) => {
                        let mut waiting = W::default();
                        for (&forth, &back) in track.cells.iter().zip(back) {
                            waiting.add(forth.times(back));
                        }
                        waiting.per(all)
                    }
                    None => of_pools[pool].per(all) / f64::from(self.component.sizes[class]),
                };
                whole.waiting[class].push(probability);
            }
        }
        Ok(())
    }
}

/// A class that shares its pool with others, so that its items are not as likely to wait as theirs.
struct Track<W> {
    class: usize,
    pool: usize,
    cells: Cells<W>,
}

/// Before pools are put together: follow the classes in them from now on, and forget those that are done.
/// Returns the pool that every class which is followed was in.
fn retrack<W: Weight>(
    tracked: &mut Vec<Track<W>>,
    regroup: &Regroup,
    members: &[Vec<usize>],
    from: &Layer,
    cells: &Cells<W>,
    sizes: &[u32],
) -> Vec<usize> {
    tracked.retain_mut(|track| match regroup.into[track.pool] {
        Some(pool) => {
            track.pool = pool;
            true
        }
        None => false,
    });
    for (pool, classes) in members.iter().enumerate() {
        let Some(target) = regroup.into[pool] else {
            continue;
        };
        let [class] = classes[..] else {
            continue;
        };
        if regroup.members[target].len() == 1 {
            continue;
        }
        let mut of_class = vec![W::default(); cells.len()];
        let share = 1.0 / f64::from(sizes[class]);
        let Ok(()) = from.for_each(|cell, state| {
            of_class[cell] = cells[cell].times(W::of(f64::from(state[pool]) * share));
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

/// After pools were put together: follow the classes that came new into a pool with others. All their items
/// are waiting.
fn track_fresh<W: Weight>(
    tracked: &mut Vec<Track<W>>,
    regroup: &Regroup,
    old: &[usize],
    cells: &Cells<W>,
    follow: bool,
) {
    for (pool, classes) in regroup.members.iter().enumerate() {
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

/// How many codes a pool can take, from `from` to `to`.
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

fn scatter_take<W: Weight>(
    from: &Layer,
    to: &Layer,
    pool: usize,
    cells: &Cells<W>,
    factorials: &Factorials<W>,
    is_tracked: bool,
    control: &Control,
) -> Result<Cells<W>> {
    let mut after = vec![W::default(); to.cells as usize];
    let stride = (to.stride(pool) + to.stride(to.rest())) as i64;
    let mut visited = 0;
    from.for_each(|cell, state| {
        look(&mut visited, control)?;
        let weight = cells[cell];
        if weight.is_zero() {
            return Ok(());
        }
        let (items, rest) = (state[pool], state[from.rest()]);
        let target = to.cell(state);
        for taken in choices(to, pool, items, rest) {
            let mut part = weight.times(factorials.inverse[taken as usize]);
            if is_tracked {
                part = part.times(W::of(f64::from(items - taken) / f64::from(items.max(1))));
            }
            after[(target - i64::from(taken) * stride) as usize].add(part);
        }
        Ok(())
    })?;
    Ok(after)
}

fn gather_take<W: Weight>(
    from: &Layer,
    to: &Layer,
    pool: usize,
    after: &Cells<W>,
    before: &mut Cells<W>,
    factorials: &Factorials<W>,
    control: &Control,
) -> Result<()> {
    let stride = (to.stride(pool) + to.stride(to.rest())) as i64;
    let mut visited = 0;
    from.for_each(|cell, state| {
        look(&mut visited, control)?;
        let target = to.cell(state);
        let mut sum = W::default();
        for taken in choices(to, pool, state[pool], state[from.rest()]) {
            let weight = after[(target - i64::from(taken) * stride) as usize];
            sum.add(weight.times(factorials.inverse[taken as usize]));
        }
        before[cell] = sum;
        Ok(())
    })
}

/// Where a state goes when pools are put together, and its factor R!/∏r! for every pool of R items that were
/// r in each of the old ones; `None` where it leads nowhere.
fn regrouped<W: Weight>(
    to: &Layer,
    regroup: &Regroup,
    state: &[u32],
    new_state: &mut Vec<u32>,
    factorials: &Factorials<W>,
) -> Option<(usize, W)> {
    new_state.clear();
    new_state.extend_from_slice(&regroup.fresh);
    let mut factor = W::of(1.0);
    for (&items, &target) in state.iter().zip(&regroup.into) {
        if let Some(pool) = target {
            new_state[pool] += items;
            if items > 1 {
                factor = factor.times(factorials.inverse[items as usize]);
            }
        }
    }
    for &items in &*new_state {
        if items > 1 {
            factor = factor.times(*factorials.of.get(items as usize)?);
        }
    }
    new_state.push(regroup.codes);
    let mut in_range = new_state.iter().zip(&to.ranges);
    in_range
        .all(|(&value, range)| range.holds(i64::from(value)))
        .then(|| (to.cell(new_state) as usize, factor))
}

fn scatter_regroup<W: Weight>(
    from: &Layer,
    to: &Layer,
    regroup: &Regroup,
    cells: &Cells<W>,
    factorials: &Factorials<W>,
    control: &Control,
) -> Result<Cells<W>> {
    let mut after = vec![W::default(); to.cells as usize];
    let mut new_state = Vec::new();
    let mut visited = 0;
    from.for_each(|cell, state| {
        look(&mut visited, control)?;
        if !cells[cell].is_zero() {
            if let Some((target, factor)) = regrouped(to, regroup, state, &mut new_state, factorials) {
                after[target].add(cells[cell].times(factor));
            }
        }
        Ok(())
    })?;
    Ok(after)
}

fn gather_regroup<W: Weight>(
    from: &Layer,
    to: &Layer,
    regroup: &Regroup,
    after: &Cells<W>,
    before: &mut Cells<W>,
    factorials: &Factorials<W>,
    control: &Control,
) -> Result<()> {
    let mut new_state = Vec::new();
    let mut visited = 0;
    from.for_each(|cell, state| {
        look(&mut visited, control)?;
        if let Some((target, factor)) = regrouped(to, regroup, state, &mut new_state, factorials) {
            before[cell] = after[target].times(factor);
        }
        Ok(())
    })
}

/// Divide all weights by the largest, which is returned; `None` where the number type cannot hold them.
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
