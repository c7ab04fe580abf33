//! Search for other steps of COAT, for constraints that its own steps cannot satisfy with so few items
//! suppressed.
//!
//! COAT repairs a part of a constraint by its rarest item only, and takes the best partner at once. The
//! search tries all other ways to repair the part, depth first: another partner, then another item of the
//! part, and suppression last. Together they leave nothing out. If some generalised items satisfy all
//! constraints, at least one item of the part belongs to a larger one that brings further transactions, or is
//! suppressed: else the part would still have too little support. So one of the ways leads towards these
//! generalised items. If none of them leads anywhere, there is no solution.
//!
//! The number of steps is limited, so the search may also end without an answer. Steps are counted, not
//! timed, so the result does not depend on the machine.

use super::coat::CoatState;
use crate::{Error, Result};
use rustc_hash::FxHashSet;
use std::vec;

/// Minimum number of steps after which a search gives up: about a tenth of a second.
const MIN_SEARCH_STEPS: u64 = 1 << 24;

/// Maximum number of partners that are tried for a group, to limit memory. If there are more, the search cannot
/// show that no solution exists.
const MAX_PARTNERS: usize = 64;

/// Returns the number of steps after which a search gives up if COAT itself took `steps`.
pub(super) fn max_search_steps(steps: u64) -> u64 {
    MIN_SEARCH_STEPS.max(steps.saturating_mul(4))
}

/// A way to repair a part of a constraint.
#[derive(Clone, Copy)]
enum Action {
    /// Generalises two groups together.
    Generalise(u32, u32),
    /// Suppresses a group.
    Suppress(u32),
}

/// Searches for a state that satisfies all constraints. `start` returns the state without any generalised
/// items. Returns an error if there is no solution, or if none was found within `max_steps` steps.
pub(super) fn search<'a>(start: impl Fn() -> Result<CoatState<'a>>, max_steps: u64) -> Result<CoatState<'a>> {
    let mut state = start()?;
    if state.is_impossible()? {
        return Err(impossible());
    }
    let size = state.size();
    // Actions that led to the current state, each with the ones that are left to be tried in its place.
    let mut path: Vec<(Action, vec::IntoIter<Action>)> = Vec::new();
    let mut seen: FxHashSet<Vec<u32>> = FxHashSet::default();
    let mut is_complete = true;
    while let Some((constraint, part)) = state.next_violation()? {
        state.control.require::<u32>(state.group_of.len())?;
        let mut left = match seen.insert(state.group_of.clone()) {
            true => state.actions(constraint, &part, &mut is_complete)?.into_iter(),
            false => Vec::new().into_iter(),
        };
        let mut is_elsewhere = false;
        let action = loop {
            if let Some(action) = left.next() {
                break action;
            }
            let Some((_, others)) = path.pop() else {
                return Err(if is_complete { impossible() } else { not_found() });
            };
            left = others;
            is_elsewhere = true;
        };
        if state.steps > max_steps {
            return Err(not_found());
        }
        if is_elsewhere {
            let steps = state.steps + size;
            state = start()?;
            state.steps = steps;
            for (action, _) in &path {
                state.take(*action)?;
            }
        }
        state.take(action)?;
        path.push((action, left));
    }
    Ok(state)
}

impl CoatState<'_> {
    /// Returns the ways to repair a part that too few transactions have, the best first: the rarest group of
    /// the part is generalised with the partner that loses the least utility. Groups are suppressed if
    /// nothing else helps. Clears `is_complete` if some ways are left out.
    fn actions(&mut self, constraint: usize, part: &[u32], is_complete: &mut bool) -> Result<Vec<Action>> {
        let mut groups = part.to_vec();
        groups.sort_unstable_by_key(|&group| (self.support(group), group));
        let of_constraint = self.groups_of(constraint);
        let mut actions = Vec::new();
        for &group in &groups {
            let mut partners: Vec<_> = self.partners(group, &of_constraint)?.collect();
            partners.sort_unstable();
            *is_complete &= partners.len() <= MAX_PARTNERS;
            partners.truncate(MAX_PARTNERS);
            actions.extend(
                partners
                    .iter()
                    .map(|partner| Action::Generalise(group, partner.group)),
            );
        }
        let suppressible = groups.iter().filter(|&&group| self.may_be_suppressed(group));
        actions.extend(suppressible.map(|&group| Action::Suppress(group)));
        Ok(actions)
    }

    fn take(&mut self, action: Action) -> Result<()> {
        self.control.check()?;
        match action {
            Action::Generalise(one, other) => self.generalise(one, other),
            Action::Suppress(group) => self.suppress(group),
        }
        Ok(())
    }

    /// Returns the number of steps that it takes to create such a state.
    fn size(&self) -> u64 {
        let transactions = self
            .groups
            .iter()
            .map(|group| group.transactions.len() as u64 + 1);
        2 * transactions.sum::<u64>()
    }

    /// Returns whether it is obvious that no solution exists, from the state without any generalised items:
    /// too many items of privacy constraints have to be suppressed, because too few transactions have an item
    /// that they may be generalised with; or a part that too few transactions have can never change.
    fn is_impossible(&mut self) -> Result<bool> {
        for utility in &self.utilities {
            self.control.check()?;
            let private = utility
                .groups
                .iter()
                .filter(|&&item| !self.constraints_of[item as usize].is_empty());
            let lost = if utility.may_generalise {
                let mut transactions: Vec<u32> = utility
                    .groups
                    .iter()
                    .flat_map(|&item| &self.groups[item as usize].transactions)
                    .copied()
                    .collect();
                transactions.sort_unstable();
                transactions.dedup();
                private.filter(|_| (transactions.len() as u64) < self.k).count()
            } else {
                private.filter(|&&item| self.support(item) < self.k).count()
            };
            if lost > utility.max_suppressed {
                return Ok(true);
            }
        }
        let may_change = |item: u32| {
            let utility = &self.utilities[self.utility_of[item as usize] as usize];
            self.may_be_suppressed(item) || utility.may_generalise && utility.groups.len() > 1
        };
        let is_fixed: Vec<bool> = (0..self.group_of.len() as u32)
            .map(|item| !may_change(item))
            .collect();
        self.has_violation_within(&is_fixed)
    }
}

fn impossible() -> Error {
    Error::invalid(
        "max_suppressed",
        "the privacy constraints cannot be satisfied without suppressing more items",
        "a larger share, wider utility constraints or a smaller k",
    )
}

fn not_found() -> Error {
    Error::invalid(
        "max_suppressed",
        "no way to satisfy the privacy constraints without suppressing more items was found, but there may be one",
        "another seed, a larger share, wider utility constraints or a smaller k",
    )
}
