//! COAT, constraint-based anonymisation of transactions (Loukides, Gkoulalas-Divanis and Malin 2011).

use super::constraints::{Projections, as_set, check_k, check_utility, support_below, utility_of};
use super::{Entry, Transactions};
use crate::{Control, Error, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::cmp::{Ordering, Reverse};

/// Transactions between two looks at the control: less than a millisecond.
const PIECE: usize = 1 << 12;

/// What protected transactions have to satisfy, and what may be done to them.
#[derive(Debug, Clone, PartialEq)]
pub struct Constraints {
    /// Sets of items; every part of one that any transaction may have, at least `k` may have (Ong 2015,
    /// Definition 13).
    pub privacy: Vec<Vec<u32>>,
    /// Sets of items, no two of which overlap; only items of the same one make a generalised item (Definition 14).
    /// An item in none of them is not generalised. Without any, all items are one set.
    pub utility: Option<Vec<Vec<u32>>>,
    /// How many transactions have to share what is protected.
    pub k: u64,
    /// The share of a utility constraint's items that may be suppressed, of those that occur. Items in none of them
    /// count like one more.
    pub max_suppressed: f64,
    /// Of what is equally good, the same seed draws the same.
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
    /// Whether they can be asked for.
    pub fn check(&self) -> Result<()> {
        check_k(self.k)?;
        Error::check_share("max_suppressed", self.max_suppressed)?;
        check_utility(self.utility.as_deref())
    }
}

/// What became of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Fate {
    /// It stayed, or occurs in no transaction.
    Itself,
    /// It is a member of a generalised item, by number: see [`Coat::generalised`].
    Generalised(u32),
    /// It was left out.
    Suppressed,
}

/// A set of items that stands wherever one of them stood.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct GeneralisedItem {
    /// Ascending.
    pub members: Vec<u32>,
    /// How many transactions have it.
    pub support: u64,
    /// How many of its members, over all transactions that have it, were not there.
    pub cover: u64,
    /// UL: (2^members − 1) / (2^items − 1) × support / transactions (Loukides et al. 2011, all weights 1).
    pub utility_loss: f64,
}

/// An item that was left out.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SuppressedItem {
    /// Its code.
    pub item: u32,
    /// How many transactions had it.
    pub support: u64,
    /// Loukides et al. do not say what it loses; here it is the most that a generalised item of its support could:
    /// support / transactions.
    pub utility_loss: f64,
}

/// How transactions are protected.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Coat {
    /// What became of every item, by code.
    pub fates: Vec<Fate>,
    /// By their lowest members.
    pub generalised: Vec<GeneralisedItem>,
    /// Ascending.
    pub suppressed: Vec<SuppressedItem>,
    /// Of all generalised and suppressed items. Items that stay lose nothing.
    pub utility_loss: f64,
}

impl Coat {
    /// The protected transactions. Order is kept; a generalised item stands where the first of its members stood.
    pub fn released(&self, transactions: &Transactions, control: &Control) -> Result<Transactions> {
        let mut released = Transactions::new();
        for (number, entries) in transactions.iter().enumerate() {
            if number.is_multiple_of(PIECE) {
                control.check()?;
            }
            released.begin()?;
            for entry in entries {
                let set = match *entry {
                    Entry::Generalised(number) => transactions.members(number).to_vec(),
                    Entry::Item(item) => match self.fates.get(item as usize).unwrap_or(&Fate::Itself) {
                        Fate::Itself => vec![item],
                        Fate::Generalised(number) => self.generalised[*number as usize].members.clone(),
                        Fate::Suppressed => continue,
                    },
                };
                released.push(set)?;
            }
        }
        Ok(released)
    }
}

/// COAT, constraint-based anonymisation of transactions (Loukides, Gkoulalas-Divanis and Malin 2011): generalise items
/// until every privacy constraint is satisfied, and suppress those that cannot be generalised further.
///
/// The constraint with the greatest support comes first. Of what transactions have of it, the part whose support is
/// nearest to k is mended, by generalising its rarest item with the item of the same utility constraint that loses
/// the least utility. Only an item that brings further transactions is considered: without them, that part gains no
/// support, whatever else is generalised. Where there is none left, the item is suppressed.
///
/// [`broken_constraints`](super::broken_constraints) finds nothing in what is [released](Coat::released).
pub fn coat(transactions: &Transactions, constraints: &Constraints, control: &Control) -> Result<Coat> {
    constraints.check()?;
    let mut protection = Protection::new(transactions, constraints, control)?;
    while let Some(constraint) = protection.next()? {
        while let Some(part) = protection.broken_part(constraint)? {
            protection.mend(constraint, &part)?;
        }
        protection.of_constraint[constraint].is_open = false;
    }
    Ok(protection.into_coat())
}

/// The group of an item that was suppressed, and the number of one that does not occur.
const NONE: u32 = u32::MAX;

/// What is done so far. Items that occur are numbered in a random order, and so are constraints: of what is equally
/// good, the lowest number is drawn. An item that is not generalised is a group of one; a group has the number of its
/// lowest member.
struct Protection<'a> {
    control: &'a Control,
    k: u64,
    max_suppressed: f64,
    /// How many transactions there are.
    transactions: usize,
    /// By code of an item.
    codes: usize,
    code_of: Vec<u32>,
    /// The groups of every transaction, in no order.
    groups_in: Vec<Vec<u32>>,
    /// By item.
    group_of: Vec<u32>,
    original_support: Vec<u32>,
    utility_of: Vec<u32>,
    constraints_of: Vec<Vec<u32>>,
    groups: Vec<Group>,
    of_utility: Vec<Utility>,
    of_constraint: Vec<Constraint>,
    /// By group, room to count the transactions that it has in common with another.
    shared: Vec<u32>,
    projections: Projections,
}

/// What became one.
#[derive(Default)]
struct Group {
    members: Vec<u32>,
    /// Those that have it, ascending.
    transactions: Vec<u32>,
}

/// A utility constraint, or the items that are in none.
struct Utility {
    may_generalise: bool,
    /// How many of its items occur.
    items: usize,
    suppressed: usize,
    /// Those that were not suppressed.
    groups: Vec<u32>,
}

/// A privacy constraint.
struct Constraint {
    /// Those that occur.
    items: Vec<u32>,
    /// Whether all of its items occur.
    occurs: bool,
    /// Whether it may be broken.
    is_open: bool,
    /// Unless it has changed.
    support: Option<u64>,
}

impl<'a> Protection<'a> {
    fn new(transactions: &Transactions, constraints: &Constraints, control: &'a Control) -> Result<Self> {
        let codes = transactions.items();
        let utility_of_code = match &constraints.utility {
            Some(utility) => utility_of(utility, codes),
            None => vec![Some(0); codes],
        };
        let mut random = Pcg64Mcg::seed_from_u64(constraints.seed);
        let mut support_of_code = vec![0; codes];
        for (number, entries) in transactions.iter().enumerate() {
            if number.is_multiple_of(PIECE) {
                control.check()?;
            }
            for entry in entries {
                support_of_code[item(entry)? as usize] += 1;
            }
        }
        let occurs = |&code: &u32| support_of_code[code as usize] > 0;
        let mut code_of: Vec<u32> = (0..codes as u32).filter(occurs).collect();
        code_of.shuffle(&mut random);
        let mut number_of = vec![NONE; codes];
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
            if (number as usize).is_multiple_of(PIECE) {
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

        let utilities = constraints.utility.as_ref().map_or(1, Vec::len);
        let new_utility = |number: usize| Utility {
            may_generalise: number < utilities,
            items: 0,
            suppressed: 0,
            groups: Vec::new(),
        };
        let mut of_utility: Vec<Utility> = (0..=utilities).map(new_utility).collect();
        let utility = |&code: &u32| utility_of_code[code as usize].unwrap_or(utilities as u32);
        let utility_of: Vec<u32> = code_of.iter().map(utility).collect();
        for (item, &utility) in (0..).zip(&utility_of) {
            of_utility[utility as usize].items += 1;
            of_utility[utility as usize].groups.push(item);
        }

        let mut privacy: Vec<&Vec<u32>> = constraints.privacy.iter().collect();
        privacy.shuffle(&mut random);
        let mut constraints_of = vec![Vec::new(); code_of.len()];
        let mut of_constraint = Vec::with_capacity(privacy.len());
        for (number, codes) in (0..).zip(privacy) {
            let set = as_set(codes);
            let occurring = set.iter().filter_map(|&code| number_of.get(code as usize));
            let items: Vec<u32> = occurring.copied().filter(|&item| item != NONE).collect();
            for &item in &items {
                constraints_of[item as usize].push(number);
            }
            of_constraint.push(Constraint {
                occurs: items.len() == set.len(),
                items,
                is_open: true,
                support: None,
            });
        }
        Ok(Protection {
            control,
            k: constraints.k,
            max_suppressed: constraints.max_suppressed,
            transactions: transactions.len(),
            codes,
            group_of: (0..code_of.len() as u32).collect(),
            original_support: code_of
                .iter()
                .map(|&code| support_of_code[code as usize])
                .collect(),
            shared: vec![0; code_of.len()],
            projections: Projections::new(transactions.len()),
            code_of,
            groups_in,
            utility_of,
            constraints_of,
            groups,
            of_utility,
            of_constraint,
        })
    }

    /// The groups of a constraint's items, ascending.
    fn groups_of(&self, constraint: usize) -> Vec<u32> {
        let of_items = self.of_constraint[constraint].items.iter();
        let mut groups: Vec<u32> = of_items.map(|&item| self.group_of[item as usize]).collect();
        groups.sort_unstable();
        groups.dedup();
        groups.pop_if(|last| *last == NONE);
        groups
    }

    fn support(&self, group: u32) -> u64 {
        self.groups[group as usize].transactions.len() as u64
    }

    /// The constraint with the greatest support of those that may be broken.
    fn next(&mut self) -> Result<Option<usize>> {
        for number in 0..self.of_constraint.len() {
            let constraint = &self.of_constraint[number];
            if constraint.is_open && constraint.support.is_none() {
                self.control.check()?;
                self.of_constraint[number].support = Some(self.support_of_constraint(number));
            }
        }
        let open = (0..self.of_constraint.len()).filter(|&number| self.of_constraint[number].is_open);
        Ok(open.max_by_key(|&number| (self.of_constraint[number].support, Reverse(number))))
    }

    /// How many transactions have all that its items became.
    fn support_of_constraint(&self, constraint: usize) -> u64 {
        if !self.of_constraint[constraint].occurs {
            return 0;
        }
        let groups = self.groups_of(constraint);
        let of_group = |&group: &u32| &self.groups[group as usize].transactions[..];
        let mut postings: Vec<&[u32]> = groups.iter().map(of_group).collect();
        support_below(&mut postings, u64::MAX).unwrap_or(u64::MAX)
    }

    /// What too few transactions have of a constraint, if there is such a part: the one whose support is nearest to k.
    fn broken_part(&mut self, constraint: usize) -> Result<Option<Vec<u32>>> {
        self.control.check()?;
        let groups = self.groups_of(constraint);
        let of_group = |&group: &u32| (group, &self.groups[group as usize].transactions[..]);
        let postings: Vec<(u32, &[u32])> = groups.iter().map(of_group).collect();
        let mut nearest: Option<(u64, Vec<u32>)> = None;
        self.projections
            .violated(&postings, self.k, self.control, |part| {
                let is_nearer = nearest.as_ref().is_none_or(|(support, groups)| {
                    (part.support, Reverse(part.items)) > (*support, Reverse(groups))
                });
                if is_nearer {
                    nearest = Some((part.support, part.items.to_vec()));
                }
            })?;
        Ok(nearest.map(|(_, part)| part))
    }

    /// Generalise or suppress the rarest of what too few transactions have of a constraint.
    fn mend(&mut self, constraint: usize, part: &[u32]) -> Result<()> {
        let Some(&rarest) = part.iter().min_by_key(|&&group| (self.support(group), group)) else {
            return Ok(());
        };
        match self.partner(rarest, &self.groups_of(constraint))? {
            Some(partner) => self.generalise(rarest, partner),
            None => self.suppress(rarest)?,
        }
        Ok(())
    }

    /// The group that brings further transactions and with which the least utility is lost; of equal ones one of the
    /// constraint that is to be satisfied.
    fn partner(&mut self, group: u32, of_constraint: &[u32]) -> Result<Option<u32>> {
        let utility = &self.of_utility[self.utility_of[group as usize] as usize];
        if !utility.may_generalise {
            return Ok(None);
        }
        let Group {
            members,
            transactions,
        } = &self.groups[group as usize];
        let shared = &mut self.shared;
        shared.fill(0);
        for (step, &transaction) in transactions.iter().enumerate() {
            if step.is_multiple_of(PIECE) {
                self.control.check()?;
            }
            for &other in &self.groups_in[transaction as usize] {
                shared[other as usize] += 1;
            }
        }
        let loss_with = |&other: &u32| {
            let Group {
                members: others,
                transactions: of_other,
            } = &self.groups[other as usize];
            let further = of_other.len() - shared[other as usize] as usize;
            let loss = Loss {
                members: members.len() + others.len(),
                support: (transactions.len() + further) as u64,
            };
            (other != group && further > 0).then_some((loss, other))
        };
        let is_elsewhere = |other: &u32| of_constraint.binary_search(other).is_err();
        let compare = |(loss, group): &(Loss, u32), (other_loss, other): &(Loss, u32)| {
            let ties = || (is_elsewhere(group), group).cmp(&(is_elsewhere(other), other));
            loss.compare(other_loss).then_with(ties)
        };
        let best = utility.groups.iter().filter_map(loss_with).min_by(compare);
        Ok(best.map(|(_, partner)| partner))
    }

    fn generalise(&mut self, one: u32, other: u32) {
        let (into, from) = (one.min(other), one.max(other));
        let joined = std::mem::take(&mut self.groups[from as usize]);
        for &item in &joined.members {
            self.group_of[item as usize] = into;
        }
        for &transaction in &joined.transactions {
            let groups = &mut self.groups_in[transaction as usize];
            groups.retain(|&group| group != into && group != from);
            groups.push(into);
        }
        self.of_utility[self.utility_of[into as usize] as usize]
            .groups
            .retain(|&group| group != from);
        let group = &mut self.groups[into as usize];
        group.members.extend(joined.members);
        group.transactions.extend(joined.transactions);
        // Two ascending runs: merged in one pass.
        group.transactions.sort();
        group.transactions.dedup();
        // Transactions that have more of a constraint than before may break it again.
        for &item in &group.members {
            for &constraint in &self.constraints_of[item as usize] {
                let constraint = &mut self.of_constraint[constraint as usize];
                constraint.is_open = true;
                constraint.support = None;
            }
        }
    }

    fn suppress(&mut self, group: u32) -> Result<()> {
        let utility = &mut self.of_utility[self.utility_of[group as usize] as usize];
        let Group {
            members,
            transactions,
        } = std::mem::take(&mut self.groups[group as usize]);
        utility.suppressed += members.len();
        // What is whole but for rounding counts as whole.
        let most = self.max_suppressed * utility.items as f64 * (1.0 + 4.0 * f64::EPSILON);
        if utility.suppressed as f64 > most {
            return Err(Error::invalid(
                "max_suppressed",
                "the privacy constraints cannot be satisfied with so few items suppressed",
                "a larger share, unless utility constraints become wider or k smaller",
            ));
        }
        utility.groups.retain(|&other| other != group);
        for transaction in transactions {
            self.groups_in[transaction as usize].retain(|&other| other != group);
        }
        for item in members {
            self.group_of[item as usize] = NONE;
            // What is satisfied stays so: what transactions still have of a constraint, no fewer of them share.
            for &constraint in &self.constraints_of[item as usize] {
                self.of_constraint[constraint as usize].support = None;
            }
        }
        Ok(())
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
        let mut fates = vec![Fate::Itself; self.codes];
        for (number, item) in (0..).zip(&generalised) {
            for &member in &item.members {
                fates[member as usize] = Fate::Generalised(number);
            }
        }
        let mut suppressed = Vec::new();
        for (item, &code) in self.code_of.iter().enumerate() {
            if self.group_of[item] == NONE {
                fates[code as usize] = Fate::Suppressed;
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
            fates,
            generalised,
            suppressed,
        }
    }
}

/// The item of an entry of transactions that are to be protected.
fn item(entry: &Entry) -> Result<u32> {
    match entry {
        Entry::Item(item) => Ok(*item),
        Entry::Generalised(_) => Err(Error::invalid(
            "transactions",
            "are generalised already",
            "transactions of items, as they are before they are protected",
        )),
    }
}

/// What the utility loss of a generalised item, UL (Loukides et al. 2011), depends on. UL itself underflows where there
/// are thousands of items.
#[derive(Clone, Copy)]
struct Loss {
    members: usize,
    /// From 1, below 2³².
    support: u64,
}

impl Loss {
    /// (2^members − 1) / (2^items − 1) × support / transactions.
    fn value(self, items: usize, transactions: usize) -> f64 {
        let share = ((self.members as f64) - (items as f64)).exp2();
        let without_one = |size: usize| 1.0 - (-(size as f64)).exp2();
        share * without_one(self.members) / without_one(items) * self.support as f64 / transactions as f64
    }
    /// By (2^members − 1) × support, without rounding.
    fn compare(&self, other: &Self) -> Ordering {
        if self.members < other.members {
            return other.compare(self).reverse();
        }
        let more = self.members - other.members;
        if more > 32 {
            return Ordering::Greater;
        }
        let (support, of_other) = (i128::from(self.support), i128::from(other.support));
        // 2^other.members × (2^more × support − of_other) against support − of_other. The latter has 33 bits, so that
        // higher powers decide alike.
        let powers = ((support << more) - of_other) << other.members.min(34);
        powers.cmp(&(support - of_other))
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
                assert_eq!(one.compare(other), exact(one).cmp(&exact(other)));
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
        assert_eq!(one.compare(&all), Ordering::Less);
    }
}
