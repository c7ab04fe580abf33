//! COAT, constraint-based anonymisation of transactions (Loukides, Gkoulalas-Divanis and Malin 2011):
//! generalises items until every privacy constraint is satisfied, and suppresses items that cannot be
//! generalised further. See [`coat()`] for the order of the steps.
//!
//! At any time, the items that occur are divided into *groups*: generalised items, and single items that are
//! not generalised. Two groups of the same utility constraint are merged, or a group is suppressed, until no
//! transaction has a part of a privacy constraint that fewer than k transactions have.

use super::coat_search::{max_search_steps, search};
use super::constraints::{ProjectionFinder, as_set, check_k, check_utility, support_below, utility_of};
use super::{Entry, Transactions};
use crate::{Control, Error, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::cmp::{Ordering, Reverse};

/// Number of transactions between two checks for cancellation: less than a millisecond.
const TRANSACTIONS_PER_CHECK: usize = 1 << 12;

/// Requirements that protected transactions must meet, and limits on the changes that protect them.
#[derive(Debug, Clone, PartialEq)]
pub struct Constraints {
    /// Privacy constraints: sets of items. The number of transactions that may contain a subset of such a set
    /// must be 0 or at least `k` (Ong 2015, Definition 13).
    pub privacy: Vec<Vec<u32>>,
    /// Utility constraints: disjoint sets of items. Only items of the same set are generalised together
    /// (Definition 14). An item in none of them is not generalised. `None` means that all items form one set.
    pub utility: Option<Vec<Vec<u32>>>,
    /// Minimum number of transactions that share each subset of a privacy constraint.
    pub k: u64,
    /// Share of the items of a utility constraint that may be suppressed, of those that occur. Items in no
    /// utility constraint count as one more constraint.
    pub max_suppressed: f64,
    /// Seed for the choice between equally good alternatives.
    pub seed: u64,
}

impl Default for Constraints {
    fn default() -> Self {
        Constraints {
            privacy: Vec::new(),
            utility: None,
            k: 2,
            max_suppressed: 0.0,
            seed: 1,
        }
    }
}

impl Constraints {
    /// Returns an error if a value is out of range or if two utility constraints overlap.
    pub fn check(&self) -> Result<()> {
        check_k(self.k)?;
        Error::check_unit_interval("max_suppressed", self.max_suppressed)?;
        check_utility(self.utility.as_deref())
    }
}

/// Treatment of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Treatment {
    /// The item is unchanged, or occurs in no transaction.
    Unchanged,
    /// The item is a member of the generalised item with this number: see [`Coat::generalised`].
    Generalised(u32),
    /// The item is left out of all transactions.
    Suppressed,
}

/// A set of items that replaces each of its members in every transaction.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct GeneralisedItem {
    /// Codes of the members, ascending.
    pub members: Vec<u32>,
    /// Number of transactions that contain the generalised item.
    pub support: u64,
    /// Number of cover items: members that an original transaction does not contain, summed over all
    /// transactions that contain the generalised item.
    pub cover: u64,
    /// Utility loss UL: (2^members − 1) / (2^items − 1) × support / transactions (Loukides et al. 2011, with
    /// all weights 1).
    pub utility_loss: f64,
}

/// An item that is left out of all transactions.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SuppressedItem {
    /// Code of the item.
    pub item: u32,
    /// Number of original transactions that contain the item.
    pub support: u64,
    /// Utility loss: support / transactions, the most that a generalised item of this support could lose.
    /// Loukides et al. do not define the loss of a suppressed item.
    pub utility_loss: f64,
}

/// Result of COAT: the treatment of every item, and its cost.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Coat {
    /// Treatment of every item, by code.
    pub treatments: Vec<Treatment>,
    /// Generalised items, in the order of their lowest members.
    pub generalised: Vec<GeneralisedItem>,
    /// Suppressed items, in ascending order of their codes.
    pub suppressed: Vec<SuppressedItem>,
    /// Sum of the utility losses of all generalised and suppressed items. Other items lose nothing.
    pub utility_loss: f64,
}

impl Coat {
    /// Number of members above which a generalised item is very large, so that readers learn next to nothing.
    pub const MANY_MEMBERS: usize = 20;

    /// Returns the generalised items that have more than [`MANY_MEMBERS`](Self::MANY_MEMBERS) members, the
    /// largest first.
    pub fn very_large(&self) -> Vec<&GeneralisedItem> {
        let is_large = |item: &&GeneralisedItem| item.members.len() > Self::MANY_MEMBERS;
        let mut large: Vec<&GeneralisedItem> = self.generalised.iter().filter(is_large).collect();
        large.sort_by_key(|item| Reverse((item.members.len(), item.cover)));
        large
    }
}

/// Protects transactions by COAT, constraint-based anonymisation of transactions (Loukides, Gkoulalas-Divanis
/// and Malin 2011): generalises items until every privacy constraint is satisfied, and suppresses items that
/// cannot be generalised further.
///
/// The constraint with the greatest support comes first. Of the parts of it that transactions have and too
/// few of them share, the one whose support is nearest to k is repaired: its rarest item is generalised with
/// the item of the same utility constraint that loses the least utility. Only an item that brings further
/// transactions is considered, because without them the part gains no support, whatever else is generalised.
/// If there is no such item, the rarest item is suppressed.
///
/// If that would suppress too many items, a search tries other steps, within limits. If it fails, the error
/// says whether no solution exists or none was found.
///
/// [`broken_constraints`](super::broken_constraints) finds nothing in the [released](Coat::released)
/// transactions.
pub fn coat(transactions: &Transactions, constraints: &Constraints, control: &Control) -> Result<Coat> {
    constraints.check()?;
    let mut state = CoatState::new(transactions, constraints, control)?;
    while let Some((constraint, part)) = state.next_violation()? {
        if !state.repair(constraint, &part)? {
            let max_steps = max_search_steps(state.steps);
            drop(state);
            let start = || CoatState::new(transactions, constraints, control);
            return Ok(search(start, max_steps)?.into_coat());
        }
    }
    Ok(state.into_coat())
}

/// Group of a suppressed item, and number of an item that does not occur.
const NONE: u32 = u32::MAX;

/// State of COAT. The items that occur are numbered in random order, and so are the constraints. Of equally
/// good alternatives, the one with the lowest number is chosen. An item that is not generalised is a group of
/// one. A group has the number of its lowest member.
pub(super) struct CoatState<'a> {
    pub control: &'a Control,
    pub k: u64,
    /// Number of transactions.
    transactions: usize,
    /// Number of item codes, including items that do not occur.
    code_count: usize,
    /// Code of each item.
    code_of: Vec<u32>,
    /// Groups in each transaction, in no order.
    groups_in: Vec<Vec<u32>>,
    /// Group of each item, [`NONE`] if it is suppressed.
    pub group_of: Vec<u32>,
    /// Number of original transactions that contain each item.
    original_support: Vec<u32>,
    /// Utility constraint of each item.
    pub utility_of: Vec<u32>,
    /// Privacy constraints of each item.
    pub constraints_of: Vec<Vec<u32>>,
    pub groups: Vec<Group>,
    pub utilities: Vec<Utility>,
    privacy_constraints: Vec<Constraint>,
    /// The constraint that is being satisfied.
    current: Option<usize>,
    /// Number of steps so far: how often an entry of a list was read, roughly.
    pub steps: u64,
    /// Scratch space: by group, the number of transactions that it shares with another group.
    shared: Vec<u32>,
    finder: ProjectionFinder,
}

/// Items that are generalised together, or a single item.
#[derive(Default)]
pub(super) struct Group {
    members: Vec<u32>,
    /// Transactions that contain a member, ascending.
    pub transactions: Vec<u32>,
}

/// A utility constraint, or the set of all items that are in none.
pub(super) struct Utility {
    pub may_generalise: bool,
    /// Number of its items that may be suppressed.
    pub max_suppressed: usize,
    suppressed: usize,
    /// Groups of its items, without suppressed ones.
    pub groups: Vec<u32>,
}

/// A privacy constraint.
struct Constraint {
    /// Items of the constraint that occur.
    items: Vec<u32>,
    /// Whether all of its items occur.
    occurs: bool,
    /// Whether the constraint may be broken.
    is_open: bool,
    /// Number of transactions that contain all of its groups, `None` if it has to be recomputed.
    support: Option<u64>,
}

/// Returns the number of transactions that contain each item, by its code.
fn support_of_codes(transactions: &Transactions, control: &Control) -> Result<Vec<u32>> {
    let mut support = vec![0; transactions.items()];
    for (number, entries) in transactions.iter().enumerate() {
        if number.is_multiple_of(TRANSACTIONS_PER_CHECK) {
            control.check()?;
        }
        for entry in entries {
            support[item(entry)? as usize] += 1;
        }
    }
    Ok(support)
}

impl<'a> CoatState<'a> {
    fn new(transactions: &Transactions, constraints: &Constraints, control: &'a Control) -> Result<Self> {
        let code_count = transactions.items();
        let utility_of_code = match &constraints.utility {
            Some(utility) => utility_of(utility, code_count),
            None => vec![Some(0); code_count],
        };
        let mut random = Pcg64Mcg::seed_from_u64(constraints.seed);
        let support_of_code = support_of_codes(transactions, control)?;
        let occurs = |&code: &u32| support_of_code[code as usize] > 0;
        let mut code_of: Vec<u32> = (0..code_count as u32).filter(occurs).collect();
        code_of.shuffle(&mut random);
        let mut number_of = vec![NONE; code_count];
        for (number, &code) in (0..).zip(&code_of) {
            number_of[code as usize] = number;
        }

        let mut groups_in = Vec::with_capacity(transactions.len());
        let new_group = |(number, &code): (u32, &u32)| Group {
            members: vec![number],
            transactions: Vec::with_capacity(support_of_code[code as usize] as usize),
        };
        let mut groups: Vec<Group> = (0..).zip(&code_of).map(new_group).collect();
        for (number, entries) in (0..).zip(transactions.iter()) {
            if (number as usize).is_multiple_of(TRANSACTIONS_PER_CHECK) {
                control.check()?;
            }
            let numbers = entries
                .iter()
                .map(|entry| Ok(number_of[item(entry)? as usize]))
                .collect::<Result<Vec<u32>>>()?;
            for &item in &numbers {
                groups[item as usize].transactions.push(number);
            }
            groups_in.push(numbers);
        }

        let utility_count = constraints.utility.as_ref().map_or(1, Vec::len);
        let new_utility = |number: usize| Utility {
            may_generalise: number < utility_count,
            max_suppressed: 0,
            suppressed: 0,
            groups: Vec::new(),
        };
        let mut utilities: Vec<Utility> = (0..=utility_count).map(new_utility).collect();
        let utility = |&code: &u32| utility_of_code[code as usize].unwrap_or(utility_count as u32);
        let utility_of: Vec<u32> = code_of.iter().map(utility).collect();
        for (item, &utility) in (0..).zip(&utility_of) {
            utilities[utility as usize].groups.push(item);
        }
        for utility in &mut utilities {
            // A limit that is a whole number except for rounding counts as that number.
            let limit = constraints.max_suppressed * utility.groups.len() as f64;
            utility.max_suppressed = (limit * (1.0 + 4.0 * f64::EPSILON)) as usize;
        }

        let mut privacy: Vec<&Vec<u32>> = constraints.privacy.iter().collect();
        privacy.shuffle(&mut random);
        let mut constraints_of = vec![Vec::new(); code_of.len()];
        let mut privacy_constraints = Vec::with_capacity(privacy.len());
        for (number, codes) in (0..).zip(privacy) {
            let set = as_set(codes);
            let occurring = set.iter().filter_map(|&code| number_of.get(code as usize));
            let items: Vec<u32> = occurring.copied().filter(|&item| item != NONE).collect();
            for &item in &items {
                constraints_of[item as usize].push(number);
            }
            privacy_constraints.push(Constraint {
                occurs: items.len() == set.len(),
                items,
                is_open: true,
                support: None,
            });
        }
        Ok(CoatState {
            control,
            k: constraints.k,
            transactions: transactions.len(),
            code_count,
            group_of: (0..code_of.len() as u32).collect(),
            original_support: code_of
                .iter()
                .map(|&code| support_of_code[code as usize])
                .collect(),
            shared: vec![0; code_of.len()],
            finder: ProjectionFinder::new(transactions.len()),
            code_of,
            groups_in,
            utility_of,
            constraints_of,
            groups,
            utilities,
            privacy_constraints,
            current: None,
            steps: 0,
        })
    }

    /// Returns a part of a constraint that too few transactions have, and the number of that constraint;
    /// `None` if all constraints are satisfied. One constraint is satisfied after the other.
    pub fn next_violation(&mut self) -> Result<Option<(usize, Vec<u32>)>> {
        loop {
            if self.current.is_none() {
                self.current = self.next_constraint()?;
            }
            let Some(constraint) = self.current else {
                return Ok(None);
            };
            if let Some(part) = self.unsatisfied_part(constraint)? {
                return Ok(Some((constraint, part)));
            }
            self.privacy_constraints[constraint].is_open = false;
            self.current = None;
        }
    }

    /// Returns the groups of a constraint's items, ascending, without suppressed ones.
    pub fn groups_of(&self, constraint: usize) -> Vec<u32> {
        let of_items = self.privacy_constraints[constraint].items.iter();
        let mut groups: Vec<u32> = of_items.map(|&item| self.group_of[item as usize]).collect();
        groups.sort_unstable();
        groups.dedup();
        groups.pop_if(|last| *last == NONE);
        groups
    }

    pub fn support(&self, group: u32) -> u64 {
        self.groups[group as usize].transactions.len() as u64
    }

    /// Returns the constraint with the greatest support among those that may be broken.
    fn next_constraint(&mut self) -> Result<Option<usize>> {
        for number in 0..self.privacy_constraints.len() {
            let constraint = &self.privacy_constraints[number];
            if constraint.is_open && constraint.support.is_none() {
                self.control.check()?;
                self.privacy_constraints[number].support = Some(self.support_of_constraint(number));
            }
        }
        let open =
            (0..self.privacy_constraints.len()).filter(|&number| self.privacy_constraints[number].is_open);
        Ok(open.max_by_key(|&number| (self.privacy_constraints[number].support, Reverse(number))))
    }

    /// Returns the number of transactions that contain all groups of the constraint's items, 0 if one of its
    /// items does not occur.
    fn support_of_constraint(&self, constraint: usize) -> u64 {
        if !self.privacy_constraints[constraint].occurs {
            return 0;
        }
        let groups = self.groups_of(constraint);
        let of_group = |&group: &u32| &self.groups[group as usize].transactions[..];
        let mut postings: Vec<&[u32]> = groups.iter().map(of_group).collect();
        support_below(&mut postings, u64::MAX).unwrap_or(u64::MAX)
    }

    /// Returns the part of a constraint that too few transactions have, if there is one: of several, the one
    /// whose support is nearest to k.
    fn unsatisfied_part(&mut self, constraint: usize) -> Result<Option<Vec<u32>>> {
        self.control.check()?;
        let groups = self.groups_of(constraint);
        let of_group = |&group: &u32| (group, &self.groups[group as usize].transactions[..]);
        let postings: Vec<(u32, &[u32])> = groups.iter().map(of_group).collect();
        self.steps += postings
            .iter()
            .map(|(_, posting)| posting.len() as u64 + 1)
            .sum::<u64>();
        let mut nearest: Option<(u64, Vec<u32>)> = None;
        self.finder
            .find_violated(&postings, self.k, self.control, |part| {
                let is_nearer = nearest.as_ref().is_none_or(|(support, groups)| {
                    (part.support, Reverse(part.items)) > (*support, Reverse(groups))
                });
                if is_nearer {
                    nearest = Some((part.support, part.items.to_vec()));
                }
            })?;
        Ok(nearest.map(|(_, part)| part))
    }

    /// Returns whether too few transactions have some part of a constraint that consists of these groups
    /// only.
    pub fn has_violation_within(&mut self, is_included: &[bool]) -> Result<bool> {
        let mut is_found = false;
        for constraint in 0..self.privacy_constraints.len() {
            let groups = self.groups_of(constraint);
            let included = groups.iter().filter(|&&group| is_included[group as usize]);
            let of_group = |&group: &u32| (group, &self.groups[group as usize].transactions[..]);
            let postings: Vec<(u32, &[u32])> = included.map(of_group).collect();
            self.finder
                .find_violated(&postings, self.k, self.control, |_| is_found = true)?;
        }
        Ok(is_found)
    }

    /// Generalises or suppresses the rarest group of a part that too few transactions have. Returns whether
    /// either was possible.
    fn repair(&mut self, constraint: usize, part: &[u32]) -> Result<bool> {
        let Some(&rarest) = part.iter().min_by_key(|&&group| (self.support(group), group)) else {
            return Ok(true);
        };
        let constraint_groups = self.groups_of(constraint);
        let best = self.partners(rarest, &constraint_groups)?.min();
        match best {
            Some(Partner { group, .. }) => self.generalise(rarest, group),
            None if self.may_be_suppressed(rarest) => self.suppress(rarest),
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the groups that bring further transactions if they are generalised together with a group.
    pub fn partners<'s>(
        &'s mut self,
        group: u32,
        constraint_groups: &'s [u32],
    ) -> Result<impl Iterator<Item = Partner> + 's> {
        let utility = &self.utilities[self.utility_of[group as usize] as usize];
        let others = match utility.may_generalise {
            true => &utility.groups[..],
            false => &[],
        };
        let Group {
            members,
            transactions,
        } = &self.groups[group as usize];
        let shared = &mut self.shared;
        shared.fill(0);
        for (step, &transaction) in transactions.iter().enumerate() {
            if step.is_multiple_of(TRANSACTIONS_PER_CHECK) {
                self.control.check()?;
            }
            for &other in &self.groups_in[transaction as usize] {
                shared[other as usize] += 1;
            }
        }
        self.steps += (shared.len() + transactions.len() + others.len()) as u64;
        let (shared, groups) = (&*shared, &self.groups);
        let partner = move |&other: &u32| {
            let Group {
                members: others,
                transactions: of_other,
            } = &groups[other as usize];
            let further = of_other.len() - shared[other as usize] as usize;
            let loss = Loss {
                members: members.len() + others.len(),
                support: (transactions.len() + further) as u64,
            };
            (other != group && further > 0).then_some(Partner {
                loss,
                is_elsewhere: constraint_groups.binary_search(&other).is_err(),
                group: other,
            })
        };
        Ok(others.iter().filter_map(partner))
    }

    /// Generalises two groups together.
    pub fn generalise(&mut self, one: u32, other: u32) {
        let (into, from) = (one.min(other), one.max(other));
        self.steps += self.support(one) + self.support(other);
        let joined = std::mem::take(&mut self.groups[from as usize]);
        for &item in &joined.members {
            self.group_of[item as usize] = into;
        }
        for &transaction in &joined.transactions {
            let groups = &mut self.groups_in[transaction as usize];
            groups.retain(|&group| group != into && group != from);
            groups.push(into);
        }
        self.utilities[self.utility_of[into as usize] as usize]
            .groups
            .retain(|&group| group != from);
        let group = &mut self.groups[into as usize];
        group.members.extend(joined.members);
        group.transactions.extend(joined.transactions);
        // The list consists of two ascending runs, which a stable sort merges in one pass.
        group.transactions.sort();
        group.transactions.dedup();
        // Transactions may now have more of a constraint than before and break it again.
        for &item in &group.members {
            for &constraint in &self.constraints_of[item as usize] {
                let constraint = &mut self.privacy_constraints[constraint as usize];
                constraint.is_open = true;
                constraint.support = None;
            }
        }
    }

    /// Returns whether the limit allows to suppress all members of a group.
    pub fn may_be_suppressed(&self, group: u32) -> bool {
        let utility = &self.utilities[self.utility_of[group as usize] as usize];
        utility.suppressed + self.groups[group as usize].members.len() <= utility.max_suppressed
    }

    /// Suppresses all members of a group.
    pub fn suppress(&mut self, group: u32) {
        self.steps += self.support(group);
        let utility = &mut self.utilities[self.utility_of[group as usize] as usize];
        let Group {
            members,
            transactions,
        } = std::mem::take(&mut self.groups[group as usize]);
        utility.suppressed += members.len();
        utility.groups.retain(|&other| other != group);
        for transaction in transactions {
            self.groups_in[transaction as usize].retain(|&other| other != group);
        }
        for item in members {
            self.group_of[item as usize] = NONE;
            // A satisfied constraint stays satisfied: no part that transactions still have loses support.
            for &constraint in &self.constraints_of[item as usize] {
                self.privacy_constraints[constraint as usize].support = None;
            }
        }
    }

    fn into_coat(self) -> Coat {
        let mut generalised = Vec::new();
        for group in self.groups.iter().filter(|group| group.members.len() > 1) {
            let mut members: Vec<u32> = group
                .members
                .iter()
                .map(|&item| self.code_of[item as usize])
                .collect();
            members.sort_unstable();
            let support = group.transactions.len() as u64;
            let original: u64 = group
                .members
                .iter()
                .map(|&item| u64::from(self.original_support[item as usize]))
                .sum();
            let loss = Loss {
                members: members.len(),
                support,
            };
            generalised.push(GeneralisedItem {
                cover: members.len() as u64 * support - original,
                utility_loss: loss.value(self.code_of.len(), self.transactions),
                members,
                support,
            });
        }
        generalised.sort_unstable_by(|one, other| one.members.cmp(&other.members));
        let mut treatments = vec![Treatment::Unchanged; self.code_count];
        for (number, item) in (0..).zip(&generalised) {
            for &member in &item.members {
                treatments[member as usize] = Treatment::Generalised(number);
            }
        }
        let mut suppressed = Vec::new();
        for (item, &code) in self.code_of.iter().enumerate() {
            if self.group_of[item] == NONE {
                treatments[code as usize] = Treatment::Suppressed;
                let support = self.original_support[item];
                suppressed.push(SuppressedItem {
                    item: code,
                    support: support.into(),
                    utility_loss: f64::from(support) / self.transactions as f64,
                });
            }
        }
        suppressed.sort_unstable_by_key(|suppressed| suppressed.item);
        let of_generalised = generalised.iter().map(|item| item.utility_loss);
        let of_suppressed = suppressed.iter().map(|item| item.utility_loss);
        Coat {
            utility_loss: of_generalised
                .chain(of_suppressed)
                .fold(0.0, |sum, loss| sum + loss),
            treatments,
            generalised,
            suppressed,
        }
    }
}

/// Returns the item of an entry. Transactions that are to be protected must not contain generalised items.
fn item(entry: &Entry) -> Result<u32> {
    match entry {
        Entry::Item(item) => Ok(*item),
        Entry::Generalised(_) => Err(Error::invalid(
            "transactions",
            "already contain generalised items",
            "the original transactions, without generalised items",
        )),
    }
}

/// A group that another one may be generalised with. The least is the best: it loses the least utility or, of
/// equal ones, belongs to the constraint that is being satisfied.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Partner {
    loss: Loss,
    is_elsewhere: bool,
    pub group: u32,
}

/// The numbers that determine the utility loss UL of a generalised item (Loukides et al. 2011). Losses are
/// compared by these numbers, because UL itself underflows if there are thousands of items.
#[derive(Clone, Copy)]
struct Loss {
    members: usize,
    /// At least 1 and less than 2³².
    support: u64,
}

impl Loss {
    /// Returns UL: (2^members − 1) / (2^items − 1) × support / transactions.
    fn value(self, items: usize, transactions: usize) -> f64 {
        let share = ((self.members as f64) - (items as f64)).exp2();
        let without_one = |size: usize| 1.0 - (-(size as f64)).exp2();
        share * without_one(self.members) / without_one(items) * self.support as f64 / transactions as f64
    }
}

impl Ord for Loss {
    /// Compares by (2^members − 1) × support, without rounding.
    fn cmp(&self, other: &Self) -> Ordering {
        if self.members < other.members {
            return other.cmp(self).reverse();
        }
        let more = self.members - other.members;
        if more > 32 {
            return Ordering::Greater;
        }
        let (support, of_other) = (i128::from(self.support), i128::from(other.support));
        // Compares 2^other.members × (2^more × support − of_other) with support − of_other. The latter has 33
        // bits, so powers above 2^34 give the same result as 2^34.
        let powers = ((support << more) - of_other) << other.members.min(34);
        powers.cmp(&(support - of_other))
    }
}

impl PartialEq for Loss {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Loss {}

impl PartialOrd for Loss {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_compared_without_rounding() {
        let supports = [1, 2, 3, 7, 9, 21, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1];
        let sizes = [1, 2, 3, 4, 6, 31, 32, 33, 34, 35, 36, 64, 66, 67, 68, 90];
        let losses: Vec<Loss> = sizes
            .iter()
            .flat_map(|&members| supports.map(|support| Loss { members, support }))
            .collect();
        let exact = |loss: &Loss| ((1u128 << loss.members) - 1) * u128::from(loss.support);
        for one in &losses {
            for other in &losses {
                assert_eq!(one.cmp(other), exact(one).cmp(&exact(other)));
            }
        }
    }

    #[test]
    fn no_loss_overflows() {
        let all = Loss {
            members: 100_000,
            support: 3,
        };
        assert_eq!(all.value(100_000, 4), 0.75);
        let one = Loss { members: 1, ..all };
        assert_eq!(one.value(100_000, 4), 0.0);
        assert_eq!(one.cmp(&all), Ordering::Less);
    }
}
