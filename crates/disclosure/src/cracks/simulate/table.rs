//! A random walk on the level of classes: how many items of each class hold a code of each group.
//!
//! The state is a contingency table instead of a matching. The expected cracks over all matchings with the
//! same table are known in closed form, so nothing is lost, and a single exchange can move many items at
//! once.

use super::walk::{Counted, Network, STEPS_BETWEEN_CHECKS};
use crate::mcmc::{Move, State};
use crate::{Control, Result};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A contingency table of classes of items by groups of codes. The number of matchings with the table k is
/// proportional to 1 / Π k(arc)!.
pub(super) struct Table<'a> {
    network: &'a Network<'a>,
    factorials: &'a LogFactorials,
    random: Pcg64Mcg,
    /// For every arc, the number of items of its class that hold a code of its group.
    counts: Vec<u32>,
    log: Vec<Step>,
    /// Number of steps of all rotations so far.
    rotation_steps: u64,
    /// Share of moves that are rotations.
    rotation_share: f64,
}

/// A step of a rotation: an item gave up a code by one arc and took one by another.
struct Step {
    from: u32,
    to: u32,
}

impl<'a> Table<'a> {
    pub fn new(
        network: &'a Network<'a>,
        factorials: &'a LogFactorials,
        counts: Vec<u32>,
        seeds: &mut Pcg64Mcg,
    ) -> Self {
        Table {
            network,
            factorials,
            random: Pcg64Mcg::from_rng(seeds),
            counts,
            log: Vec::new(),
            rotation_steps: 0,
            rotation_share: 0.5,
        }
    }

    /// Returns the number of items that hold a code by an arc.
    pub fn count(&self, arc: u32) -> u32 {
        self.counts[arc as usize]
    }

    /// Draws two classes of items and two groups that are candidates of both, and draws anew which items of
    /// these classes hold which of their codes of these groups, all arrangements being equally likely. If
    /// groups are large, one exchange does the work of thousands of swaps.
    fn exchange(&mut self) {
        let one = self.random.random_range(0..self.network.classes());
        let arcs = self.network.arcs_of(one);
        if arcs.len() < 2 {
            return;
        }
        let here = self.random.random_range(arcs.clone());
        let there = self.random.random_range(arcs.start..arcs.end - 1);
        let there = there + u32::from(there >= here);
        let (other, other_here) = self
            .network
            .random_taking_class(self.network.codes(here), &mut self.random);
        let other_there = self.network.arc_of_class(other, self.network.codes(there));
        let Some(other_there) = other_there.filter(|_| other != one) else {
            return;
        };
        let [a, b, c, d] = [here, there, other_here, other_there].map(|arc| self.counts[arc as usize]);
        let drawn = self
            .factorials
            .hypergeometric(a + b, c + d, a + c, &mut self.random);
        self.counts[here as usize] = drawn;
        self.counts[there as usize] = a + b - drawn;
        self.counts[other_here as usize] = a + c - drawn;
        self.counts[other_there as usize] = c + d + drawn - (a + c);
    }

    /// Makes a rotation as in [`Walk::rotate`](super::walk::Walk::rotate), but between classes. Tables differ
    /// by cycles that visit a class at most once, so a limit equal to the number of classes is enough to
    /// reach every table.
    ///
    /// The first item is drawn by class, because small classes contribute as much to the cracks as large
    /// ones.
    fn rotate(&mut self, limit: u64, control: &Control) -> Result<()> {
        self.log.clear();
        let class = self.random.random_range(0..self.network.classes());
        let size = self.network.space.graph.items[class as usize].size;
        let drawn = self.random.random_range(0..size);
        let first = self.holding(class, drawn);
        self.counts[first as usize] -= 1;
        let mut free = first;
        for step in 1..=limit {
            self.rotation_steps += 1;
            let (taker, arc, mut member) = self
                .network
                .random_taking_member(self.network.codes(free), &mut self.random);
            if taker == class {
                // The item without a code counts as the first member of its class.
                if member == 0 {
                    self.counts[arc as usize] += 1;
                    return Ok(());
                }
                member -= 1;
            }
            let given_up = self.holding(taker, member);
            self.counts[given_up as usize] -= 1;
            self.counts[arc as usize] += 1;
            if given_up != arc {
                self.log.push(Step {
                    from: given_up,
                    to: arc,
                });
            }
            free = given_up;
            if step.is_multiple_of(STEPS_BETWEEN_CHECKS) {
                control.check()?;
            }
        }
        for step in self.log.drain(..).rev() {
            self.counts[step.to as usize] -= 1;
            self.counts[step.from as usize] += 1;
        }
        self.counts[first as usize] += 1;
        Ok(())
    }

    /// Returns the arc by which a member of the class holds its code; members are numbered in the order of
    /// arcs.
    fn holding(&self, class: u32, mut member: u32) -> u32 {
        let mut arc = self.network.arcs_of(class).start;
        while member >= self.counts[arc as usize] {
            member -= self.counts[arc as usize];
            arc += 1;
        }
        arc
    }
}

impl Counted for Table<'_> {
    fn counted(&self, mut see: impl FnMut(u32, u32)) {
        for (arc, &items) in (0..).zip(&self.counts) {
            see(arc, items);
        }
    }
}

impl State for Table<'_> {
    fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

/// Moves that are exchanges or, less often, rotations. On interval beliefs, exchanges alone reach every
/// table; on other graphs they may get stuck.
pub(super) struct ExchangesAndRotations;

/// Number of rotations made to measure how long they take.
const TRIAL_ROTATIONS: u64 = 256;

impl ExchangesAndRotations {
    /// Makes a rotation whose limit is a random power of two, so that every length gets its share. Short
    /// rotations are cheap, but some cycles can only be completed by long ones, because a random walk on the
    /// cycle must first get more than half way round.
    fn rotate(table: &mut Table, control: &Control) -> Result<()> {
        let classes = u64::from(table.network.classes());
        let doublings = classes.next_power_of_two().ilog2();
        // Returning may take a number of steps that is quadratic in the number of classes, which is too slow
        // if there are many.
        let most = (2 * doublings).min((doublings + 4).max(16));
        let limit = 4 << table.random.random_range(0..=most);
        table.rotate(limit, control)
    }
}

impl<'a> Move<Table<'a>> for ExchangesAndRotations {
    fn make(&self, table: &mut Table<'a>, control: &Control) -> Result<()> {
        if table.random.random_bool(table.rotation_share) {
            ExchangesAndRotations::rotate(table, control)
        } else {
            table.exchange();
            Ok(())
        }
    }

    /// Divides the time equally between exchanges and rotations.
    fn pace(&self, table: &mut Table<'a>, control: &Control) -> Result<u64> {
        for _ in 0..TRIAL_ROTATIONS {
            ExchangesAndRotations::rotate(table, control)?;
            control.check()?;
        }
        table.rotation_share = TRIAL_ROTATIONS as f64 / (TRIAL_ROTATIONS + table.rotation_steps) as f64;
        // However many arcs an item has, it holds only one code.
        let items = table.network.space.items() as u64;
        Ok((table.counts.len() as u64 / 2).min(items))
    }
}

/// Table of ln 0!, ln 1!, ln 2!, …
pub(super) struct LogFactorials(Vec<f64>);

impl LogFactorials {
    pub fn up_to(most: usize) -> Self {
        let mut logs = vec![0.0; most + 1];
        for n in 1..=most {
            logs[n] = logs[n - 1] + (n as f64).ln();
        }
        LogFactorials(logs)
    }

    /// Draws the number of red balls among `drawn` balls out of `red` red and `blue` blue ones. Uses
    /// inversion, from the mode outwards, which takes a number of steps of about one standard deviation.
    fn hypergeometric(&self, red: u32, blue: u32, drawn: u32, random: &mut Pcg64Mcg) -> u32 {
        let (least, most) = (drawn.saturating_sub(blue), red.min(drawn));
        if least == most {
            return least;
        }
        let mut left: f64 = random.random();
        if red + blue == 2 {
            return u32::from(left < 0.5);
        }
        let log = |n: u32| self.0[n as usize];
        let choose = |n: u32, k: u32| log(n) - log(k) - log(n - k);
        let mode = ((f64::from(drawn) + 1.0) * (f64::from(red) + 1.0) / (f64::from(red + blue) + 2.0)) as u32;
        let mode = mode.clamp(least, most);
        let of_mode = (choose(red, mode) + choose(blue, drawn - mode) - choose(red + blue, drawn)).exp();
        // p(k + 1) / p(k)
        let ratio = |k: u32| {
            f64::from(red - k) * f64::from(drawn - k) / (f64::from(k + 1) * f64::from(blue + k + 1 - drawn))
        };
        left -= of_mode;
        let (mut below, mut above) = (mode, mode);
        let (mut of_below, mut of_above) = (of_mode, of_mode);
        while left >= 0.0 && (below > least || above < most) {
            if above < most {
                of_above *= ratio(above);
                above += 1;
                left -= of_above;
                if left < 0.0 {
                    return above;
                }
            }
            if below > least {
                below -= 1;
                of_below /= ratio(below);
                left -= of_below;
                if left < 0.0 {
                    return below;
                }
            }
        }
        mode
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(n: u32, k: u32) -> f64 {
        (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product()
    }

    /// Over many draws, every number occurs as often as the formula predicts.
    #[test]
    fn draws_are_hypergeometric() {
        let factorials = LogFactorials::up_to(60);
        let mut random = Pcg64Mcg::seed_from_u64(1);
        for (red, blue, drawn) in [
            (1, 1, 1),
            (2, 1, 2),
            (5, 7, 4),
            (3, 20, 21),
            (30, 30, 30),
            (9, 0, 4),
            (4, 4, 0),
        ] {
            const DRAWS: u32 = 40_000;
            let mut seen = vec![0u32; drawn as usize + 1];
            for _ in 0..DRAWS {
                seen[factorials.hypergeometric(red, blue, drawn, &mut random) as usize] += 1;
            }
            for (k, &seen) in (0..).zip(&seen) {
                let possible = k <= red && drawn - k <= blue;
                let expected = match possible {
                    true => choose(red, k) * choose(blue, drawn - k) / choose(red + blue, drawn),
                    false => 0.0,
                };
                let tolerance = 5.0 * (expected * (1.0 - expected) / f64::from(DRAWS)).sqrt() + 1e-9;
                let share = f64::from(seen) / f64::from(DRAWS);
                assert!(
                    (share - expected).abs() <= tolerance,
                    "{red} {blue} {drawn} {k}: {share}"
                );
            }
        }
    }
}
