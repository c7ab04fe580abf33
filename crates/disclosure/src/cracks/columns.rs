//! Expected cracks of several columns within one budget.
//!
//! Counting is planned for every column first, because a plan is cheap and says what counting costs. The
//! cheapest columns are then counted, as many as the budget has steps for; the others are simulated, each in
//! an equal share of the time that is left. Which columns are counted depends on their plans alone, not on
//! the clock.

use super::{CrackSpace, ExpectedCracks, Method, Settings, expected_cracks};
use crate::matching::Counting;
use crate::{Control, Result};
use rayon::prelude::*;
use std::time::Instant;

/// Returns the expected cracks of each space, as [`expected_cracks`] does, within the steps and the time that
/// the settings have for all of them together.
pub fn expected_cracks_of_each(
    spaces: &[&CrackSpace],
    settings: &Settings,
    control: &Control,
) -> Result<Vec<Option<ExpectedCracks>>> {
    settings.check()?;
    if let [only] = spaces {
        return Ok(vec![expected_cracks(only, settings, control)?]);
    }
    let start = Instant::now();
    let mut shares = steps_of_each(spaces, settings, control)?;
    let may_simulate = |share: &Share| match settings.method {
        Method::Simulate => true,
        Method::Auto => !share.is_counted,
        _ => false,
    };
    // Those that are counted come first, so that the others know how much time is left.
    shares.sort_by_key(|share| (may_simulate(share), share.space));
    let mut simulations = shares.iter().filter(|&share| may_simulate(share)).count() as u32;
    let mut found = vec![None; spaces.len()];
    for share in shares {
        let mut settings = Settings {
            max_steps: share.max_steps,
            ..settings.clone()
        };
        if simulations > 0 && may_simulate(&share) {
            let left = |budget: std::time::Duration| budget.saturating_sub(start.elapsed()) / simulations;
            settings.budget = settings.budget.map(left);
            simulations -= 1;
        }
        found[share.space] = expected_cracks(spaces[share.space], &settings, control)?;
    }
    Ok(found)
}

/// Number of steps that one of the spaces may take.
struct Share {
    space: usize,
    max_steps: f64,
    /// Whether counting takes no more than these steps, nor too much memory.
    is_counted: bool,
}

/// Hands out the steps, to those first that need the fewest.
fn steps_of_each(spaces: &[&CrackSpace], settings: &Settings, control: &Control) -> Result<Vec<Share>> {
    let needs_plan = matches!(settings.method, Method::Auto | Method::Exact);
    let cost = |(space, &graph): (usize, &&CrackSpace)| {
        let counting = Counting::new(&graph.graph, control)?;
        Ok((space, counting.steps(), counting.bytes()))
    };
    if !needs_plan {
        let share = |space| Share {
            space,
            max_steps: settings.max_steps,
            is_counted: false,
        };
        return Ok((0..spaces.len()).map(share).collect());
    }
    let mut costs = spaces
        .par_iter()
        .enumerate()
        .map(cost)
        .collect::<Result<Vec<_>>>()?;
    costs.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut left = settings.max_steps;
    let share = |(space, steps, bytes): (usize, f64, f64)| {
        let share = Share {
            space,
            max_steps: left,
            is_counted: steps <= left && bytes <= settings.max_bytes,
        };
        if share.is_counted {
            left -= steps;
        }
        share
    };
    Ok(costs.into_iter().map(share).collect())
}
