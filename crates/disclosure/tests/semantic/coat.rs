//! Tests of COAT, privacy constraints, k^m-anonymity and unmarked generalised items against the figures of
//! Ong 2015 and against the definitions.

use disclosure::semantic::{
    BrokenConstraint, Coat, Constraints, Entry, GeneralisationKnowledge, GeneralisedItem, ItemOrder,
    MarkingRule, SuppressedItem, Transactions, Treatment, Violation, broken_constraints, coat, km_anonymity,
    km_violations, mark_generalised,
};
use disclosure::{Control, Error, Result};
use proptest::prelude::*;
use proptest::sample::subsequence;
use proptest::test_runner::RngSeed;
use std::collections::BTreeSet;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(5),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Builds transactions from texts: letters are items, and those in brackets form one generalised item.
fn transactions(lists: &[&str]) -> Transactions {
    let mut transactions = Transactions::new();
    for list in lists {
        transactions.begin().unwrap();
        let mut open: Option<Vec<u32>> = None;
        for letter in list.chars() {
            match (letter, &mut open) {
                ('(', _) => open = Some(Vec::new()),
                (')', _) => transactions.push(open.take().unwrap()).unwrap(),
                (_, Some(set)) => set.push(code(letter)),
                (_, None) => transactions.push(vec![code(letter)]).unwrap(),
            }
        }
    }
    transactions
}

fn code(letter: char) -> u32 {
    u32::from(letter) - u32::from('a')
}

fn codes(letters: &str) -> Vec<u32> {
    letters.chars().map(code).collect()
}

fn sets(of_letters: &[&str]) -> Vec<Vec<u32>> {
    of_letters.iter().map(|letters| codes(letters)).collect()
}

fn written(transactions: &Transactions) -> Vec<String> {
    let letters = |items: &[u32]| -> String {
        let letter = |&item: &u32| char::from(b'a' + item as u8);
        items.iter().map(letter).collect()
    };
    let entry = |entry: &Entry| match entry {
        Entry::Item(_) => letters(transactions.possible_items(entry)),
        Entry::Generalised(_) => format!("({})", letters(transactions.possible_items(entry))),
    };
    transactions
        .iter()
        .map(|entries| entries.iter().map(entry).collect())
        .collect()
}

/// Returns the items that every transaction may contain, ascending.
fn visible(transactions: &Transactions) -> Vec<Vec<u32>> {
    let of_entries = |entries: &[Entry]| {
        let items: BTreeSet<u32> = entries
            .iter()
            .flat_map(|entry| transactions.possible_items(entry))
            .copied()
            .collect();
        items.into_iter().collect()
    };
    transactions.iter().map(of_entries).collect()
}

fn from_lists(lists: &[Vec<u32>]) -> Transactions {
    let mut transactions = Transactions::new();
    for list in lists {
        transactions.begin().unwrap();
        for &item in list {
            transactions.push(vec![item]).unwrap();
        }
    }
    transactions
}

fn subsets(set: &[u32]) -> Vec<Vec<u32>> {
    let chosen = |bits: u32| {
        let members = set.iter().enumerate().filter(|(place, _)| bits & 1 << place != 0);
        members.map(|(_, &item)| item).collect()
    };
    (1..1u32 << set.len()).map(chosen).collect()
}

fn support(visible: &[Vec<u32>], set: &[u32]) -> u64 {
    let has_all = |items: &&Vec<u32>| set.iter().all(|item| items.contains(item));
    visible.iter().filter(has_all).count() as u64
}

/// Returns whether a constraint is satisfied by definition: every part has a support of 0 or of at least `k`.
fn is_satisfied(visible: &[Vec<u32>], constraint: &[u32], k: u64) -> bool {
    let parts = subsets(constraint);
    let supports = parts.iter().map(|part| support(visible, part));
    supports.into_iter().all(|support| support == 0 || support >= k)
}

fn broken(visible: &[Vec<u32>], privacy: &[Vec<u32>], k: u64) -> Vec<BrokenConstraint> {
    broken_constraints(visible, privacy, k, &Control::new()).unwrap()
}

fn protect(transactions: &Transactions, constraints: &Constraints) -> Result<Coat> {
    coat(transactions, constraints, &Control::new())
}

fn release(coat: &Coat, transactions: &Transactions) -> Transactions {
    released(coat, transactions, ItemOrder::Kept, 0)
}

fn released(coat: &Coat, transactions: &Transactions, order: ItemOrder, seed: u64) -> Transactions {
    coat.released(transactions, order, seed, &Control::new()).unwrap()
}

fn argument_of<T: std::fmt::Debug>(result: Result<T>) -> &'static str {
    match result.unwrap_err() {
        Error::InvalidArgument { argument, .. } => argument,
        other => panic!("{other}"),
    }
}

fn fig_2_11() -> (Transactions, Constraints) {
    let constraints = Constraints {
        privacy: sets(&["ab", "ef"]),
        utility: Some(sets(&["bdg", "cef"])),
        k: 2,
        max_suppressed: 0.0,
        seed: 0,
    };
    (transactions(&["ad", "abg", "cf", "eh"]), constraints)
}

#[test]
fn fig_2_11_is_protected_alike_for_every_seed() {
    let (original, mut constraints) = fig_2_11();
    let before = broken(&visible(&original), &constraints.privacy, 2);
    let expected = |constraint, letters, transactions| BrokenConstraint {
        constraint,
        itemset: codes(letters),
        support: 1,
        transactions,
    };
    assert_eq!(before, [expected(0, "ab", 1), expected(1, "e", 2)]);
    for seed in 0..100 {
        constraints.seed = seed;
        let coat = protect(&original, &constraints).unwrap();
        let released = release(&coat, &original);
        assert_eq!(written(&released), ["a(bd)", "a(bd)g", "c(ef)", "(ef)h"]);
        assert_eq!(broken(&visible(&released), &constraints.privacy, 2), []);
        let loss = 3.0 / 255.0 * 2.0 / 4.0;
        let generalised = |letters| GeneralisedItem {
            members: codes(letters),
            support: 2,
            cover: 2,
            utility_loss: loss,
        };
        for (found, expected) in coat
            .generalised
            .iter()
            .zip([generalised("bd"), generalised("ef")])
        {
            assert!((found.utility_loss - loss).abs() < 1e-15);
            assert_eq!((&found.members, found.support), (&expected.members, 2));
            assert_eq!(found.cover, expected.cover);
        }
        assert!((coat.utility_loss - 2.0 * loss).abs() < 1e-15);
        assert_eq!(coat.treatments[code('a') as usize], Treatment::Unchanged);
        assert_eq!(coat.treatments[code('d') as usize], Treatment::Generalised(0));
        assert_eq!(coat.suppressed, []);
    }
}

#[test]
fn what_cannot_be_generalised_is_suppressed_as_far_as_allowed() {
    let (original, mut constraints) = fig_2_11();
    constraints.utility = Some(sets(&["cef"]));
    assert_eq!(argument_of(protect(&original, &constraints)), "max_suppressed");
    // b is one of a, b, d, g and h, which are in no utility constraint.
    constraints.max_suppressed = 0.2;
    let coat = protect(&original, &constraints).unwrap();
    assert_eq!(
        coat.suppressed,
        [SuppressedItem {
            item: 1,
            support: 1,
            utility_loss: 0.25
        }]
    );
    assert_eq!(coat.treatments[1], Treatment::Suppressed);
    assert!((coat.utility_loss - (1.0 / 4.0 + 3.0 / 255.0 * 2.0 / 4.0)).abs() < 1e-15);
    assert_eq!(
        written(&release(&coat, &original)),
        ["ad", "ag", "c(ef)", "(ef)h"]
    );
    constraints.max_suppressed = 0.19;
    assert_eq!(argument_of(protect(&original, &constraints)), "max_suppressed");
}

#[test]
fn arguments_are_checked() {
    let (original, constraints) = fig_2_11();
    let with = |change: fn(&mut Constraints)| {
        let mut constraints = constraints.clone();
        change(&mut constraints);
        argument_of(protect(&original, &constraints))
    };
    assert_eq!(with(|constraints| constraints.k = 0), "k");
    assert_eq!(
        with(|constraints| constraints.max_suppressed = -0.1),
        "max_suppressed"
    );
    assert_eq!(
        with(|constraints| constraints.max_suppressed = f64::NAN),
        "max_suppressed"
    );
    assert_eq!(
        with(|constraints| constraints.utility = Some(sets(&["ab", "cb"]))),
        "utility"
    );
    assert_eq!(
        with(|constraints| constraints.utility = Some(sets(&["az", "zb"]))),
        "utility"
    );
    let generalised = transactions(&["a(bc)"]);
    assert_eq!(argument_of(protect(&generalised, &constraints)), "transactions");
    assert_eq!(argument_of(broken_constraints(&[], &[], 0, &Control::new())), "k");
    assert_eq!(argument_of(km_anonymity(&original, 0, &Control::new())), "m");
    assert_eq!(
        argument_of(km_violations(&original, 0, 1, 1, &Control::new())),
        "k"
    );
    assert_eq!(
        argument_of(km_violations(&original, 1, 0, 1, &Control::new())),
        "m"
    );
    let cancelled = Control::new();
    cancelled.cancel();
    assert_eq!(
        coat(&original, &constraints, &cancelled).unwrap_err(),
        Error::Cancelled
    );
}

#[test]
fn without_transactions_everything_is_protected() {
    let (_, constraints) = fig_2_11();
    let coat = protect(&Transactions::new(), &constraints).unwrap();
    assert_eq!((coat.treatments.len(), coat.utility_loss), (0, 0.0));
    assert_eq!(broken(&[], &constraints.privacy, 2), []);
    assert_eq!(
        km_anonymity(&transactions(&["", ""]), 2, &Control::new()),
        Ok(None)
    );
}

/// The greedy rule, slowly: all results that it may end with, whatever is chosen among equally good
/// alternatives. The result `None` stands for an error.
struct Greedy<'a> {
    lists: &'a [Vec<u32>],
    constraints: &'a Constraints,
    /// Utility constraint of each item, `usize::MAX` if it is in none and cannot be generalised.
    utility_of: Vec<usize>,
    seen: BTreeSet<(State, Option<usize>)>,
    ends: BTreeSet<Option<State>>,
}

/// Groups of items, ascending, without suppressed items.
type State = BTreeSet<Vec<u32>>;

impl<'a> Greedy<'a> {
    fn ends(lists: &'a [Vec<u32>], constraints: &'a Constraints) -> BTreeSet<Option<State>> {
        let items: BTreeSet<u32> = lists.iter().flatten().copied().collect();
        let most = items.last().map_or(0, |&most| most + 1);
        let utility_of = |item: u32| match &constraints.utility {
            None => 0,
            Some(utility) => {
                let found = utility.iter().position(|constraint| constraint.contains(&item));
                found.unwrap_or(usize::MAX)
            }
        };
        let mut greedy = Greedy {
            lists,
            constraints,
            utility_of: (0..most).map(utility_of).collect(),
            seen: BTreeSet::new(),
            ends: BTreeSet::new(),
        };
        greedy.explore(items.into_iter().map(|item| vec![item]).collect(), None);
        greedy.ends
    }

    fn groups_of(&self, state: &State, list: &[u32]) -> BTreeSet<Vec<u32>> {
        let is_had = |group: &&Vec<u32>| group.iter().any(|item| list.contains(item));
        state.iter().filter(is_had).cloned().collect()
    }

    fn support(&self, set: &BTreeSet<Vec<u32>>) -> usize {
        let has_all = |list: &&Vec<u32>| {
            set.iter()
                .all(|group| group.iter().any(|item| list.contains(item)))
        };
        self.lists.iter().filter(has_all).count()
    }

    fn support_of_one(&self, group: &[u32]) -> usize {
        self.support(&BTreeSet::from([group.to_vec()]))
    }

    /// Returns the parts of a constraint that transactions have but too few of them share, with their
    /// supports.
    fn violated(&self, state: &State, constraint: &[u32]) -> Vec<(usize, BTreeSet<Vec<u32>>)> {
        let of_constraint = self.groups_of(state, constraint);
        let part = |list: &Vec<u32>| {
            let had: BTreeSet<_> = self
                .groups_of(state, list)
                .intersection(&of_constraint)
                .cloned()
                .collect();
            (self.support(&had), had)
        };
        let parts = self.lists.iter().map(part);
        parts
            .filter(|(support, part)| !part.is_empty() && (*support as u64) < self.constraints.k)
            .collect()
    }

    fn explore(&mut self, state: State, current: Option<usize>) {
        if !self.seen.insert((state.clone(), current)) {
            return;
        }
        let privacy = &self.constraints.privacy;
        let is_broken = |number: &usize| !self.violated(&state, &privacy[*number]).is_empty();
        if let Some(constraint) = current.filter(is_broken) {
            return self.mend(&state, constraint);
        }
        let total = |number: &usize| {
            let constraint = &privacy[*number];
            let occurs = |item: &u32| self.lists.iter().any(|list| list.contains(item));
            let became = self.groups_of(&state, constraint);
            match constraint.iter().all(occurs) && !became.is_empty() {
                true => self.support(&became),
                false => 0,
            }
        };
        let broken: Vec<usize> = (0..privacy.len()).filter(is_broken).collect();
        let Some(greatest) = broken.iter().map(total).max() else {
            self.ends.insert(Some(state));
            return;
        };
        let first: Vec<usize> = broken
            .into_iter()
            .filter(|number| total(number) == greatest)
            .collect();
        for constraint in first {
            self.mend(&state, constraint);
        }
    }

    fn mend(&mut self, state: &State, constraint: usize) {
        let violated = self.violated(state, &self.constraints.privacy[constraint]);
        let nearest = violated.iter().map(|(support, _)| *support).max();
        let nearest = violated
            .into_iter()
            .filter(|(support, _)| Some(*support) == nearest);
        for (_, part) in nearest {
            let rarest = part.iter().map(|group| self.support_of_one(group)).min();
            for group in &part {
                if Some(self.support_of_one(group)) == rarest {
                    self.generalise(state, constraint, group);
                }
            }
        }
    }

    fn generalise(&mut self, state: &State, constraint: usize, group: &Vec<u32>) {
        let union = |other: &Vec<u32>| {
            let mut union = [&group[..], other].concat();
            union.sort();
            union
        };
        let utility = self.utility_of[group[0] as usize];
        let is_partner = |other: &&Vec<u32>| {
            utility != usize::MAX
                && *other != group
                && self.utility_of[other[0] as usize] == utility
                && self.support_of_one(&union(other)) > self.support_of_one(group)
        };
        let loss = |other: &Vec<u32>| {
            let union = union(other);
            let is_elsewhere = !other
                .iter()
                .any(|item| self.constraints.privacy[constraint].contains(item));
            (
                ((1 << union.len()) - 1) * self.support_of_one(&union),
                is_elsewhere,
            )
        };
        let partners: Vec<&Vec<u32>> = state.iter().filter(is_partner).collect();
        let mut without: State = state.clone();
        without.remove(group);
        let Some(least) = partners.iter().map(|other| loss(other)).min() else {
            let of_utility = |item: &u32| self.utility_of[*item as usize] == utility;
            let occurring: BTreeSet<u32> = self.lists.iter().flatten().copied().collect();
            let items = occurring.iter().copied().filter(of_utility).count();
            let left = without.iter().flatten().copied().filter(of_utility).count();
            match (items - left) as f64 <= self.constraints.max_suppressed * items as f64 + 1e-9 {
                true => self.explore(without, Some(constraint)),
                false => {
                    self.ends.insert(None);
                }
            }
            return;
        };
        let best: Vec<Vec<u32>> = partners
            .into_iter()
            .filter(|other| loss(other) == least)
            .cloned()
            .collect();
        for other in best {
            let mut next = without.clone();
            next.remove(&other);
            next.insert(union(&other));
            self.explore(next, Some(constraint));
        }
    }
}

/// Returns the result of COAT as a state of the greedy rule above.
fn state_of(coat: &Coat, lists: &[Vec<u32>]) -> State {
    let occurring: BTreeSet<u32> = lists.iter().flatten().copied().collect();
    let alone = occurring
        .into_iter()
        .filter(|&item| coat.treatments[item as usize] == Treatment::Unchanged)
        .map(|item| vec![item]);
    alone
        .chain(coat.generalised.iter().map(|item| item.members.clone()))
        .collect()
}

const ITEMS: u32 = 8;

fn lists(most: usize) -> impl Strategy<Value = Vec<Vec<u32>>> {
    let all: Vec<u32> = (0..ITEMS).collect();
    prop::collection::vec(subsequence(all, 0..=5).prop_shuffle(), 0..most)
}

/// Generates privacy constraints. The last item never occurs in transactions.
fn privacy() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let all: Vec<u32> = (0..ITEMS + 1).collect();
    prop::collection::vec(subsequence(all, 0..=4), 0..5)
}

fn utility() -> impl Strategy<Value = Option<Vec<Vec<u32>>>> {
    let constraint_of = prop::collection::vec(0..4usize, ITEMS as usize + 1);
    let sets = constraint_of.prop_map(|constraint_of| {
        let constraint = |number: usize| {
            let items = (0..).zip(&constraint_of);
            let within = items.filter(|&(_, &of_item)| of_item == number);
            within.map(|(item, _)| item).collect()
        };
        (0..3).map(constraint).collect()
    });
    prop::option::weighted(0.8, sets)
}

fn constraints() -> impl Strategy<Value = Constraints> {
    let max_suppressed = prop::sample::select(vec![0.0, 0.25, 0.5, 1.0, 1.0]);
    (privacy(), utility(), 1..5u64, max_suppressed, any::<u64>()).prop_map(
        |(privacy, utility, k, max_suppressed, seed)| Constraints {
            privacy,
            utility,
            k,
            max_suppressed,
            seed,
        },
    )
}

/// Checks that exactly those constraints are found that are broken by definition.
fn assert_broken_by_definition(
    lists: Vec<Vec<u32>>,
    privacy: &[Vec<u32>],
    k: u64,
) -> std::result::Result<(), TestCaseError> {
    let sorted = |mut list: Vec<u32>| {
        list.sort();
        list
    };
    let visible: Vec<Vec<u32>> = lists.into_iter().map(sorted).collect();
    let found = broken(&visible, privacy, k);
    let expected: Vec<usize> = (0..privacy.len())
        .filter(|&number| !is_satisfied(&visible, &privacy[number], k))
        .collect();
    prop_assert_eq!(
        found.iter().map(|broken| broken.constraint).collect::<Vec<_>>(),
        expected
    );
    for broken in found {
        let part = |list: &Vec<u32>| -> Vec<u32> {
            let had = privacy[broken.constraint]
                .iter()
                .filter(|item| list.contains(item));
            had.copied().collect()
        };
        let mut parts: Vec<(u64, usize, Vec<u32>)> = visible
            .iter()
            .map(part)
            .filter(|part| !part.is_empty())
            .map(|part| (support(&visible, &part), part.len(), part))
            .filter(|(support, ..)| *support < k)
            .collect();
        parts.sort();
        prop_assert_eq!(broken.transactions, parts.len() as u64);
        prop_assert_eq!(
            (broken.support, broken.itemset.len(), broken.itemset),
            parts[0].clone()
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(4000))]

    #[test]
    fn constraints_are_broken_by_definition(lists in lists(12), privacy in privacy(), k in 1..5u64) {
        assert_broken_by_definition(lists, &privacy, k)?;
    }

    #[test]
    fn protected_transactions_satisfy_all_constraints(lists in lists(12), constraints in constraints()) {
        let original = from_lists(&lists);
        let protected = protect(&original, &constraints);
        prop_assert_eq!(&protected, &protect(&original, &constraints));
        let coat = match protected {
            Ok(coat) => coat,
            Err(error) => {
                prop_assert_eq!(argument_of::<()>(Err(error)), "max_suppressed");
                prop_assert!(constraints.max_suppressed < 1.0);
                return Ok(());
            }
        };
        let released = release(&coat, &original);
        let visible = visible(&released);
        for constraint in &constraints.privacy {
            prop_assert!(is_satisfied(&visible, constraint, constraints.k));
        }
        prop_assert_eq!(broken(&visible, &constraints.privacy, constraints.k), []);

        let occurring: BTreeSet<u32> = lists.iter().flatten().copied().collect();
        let suppressed: BTreeSet<u32> = coat.suppressed.iter().map(|suppressed| suppressed.item).collect();
        let share = |items: BTreeSet<u32>| {
            let left_out = items.intersection(&suppressed).count();
            left_out as f64 <= constraints.max_suppressed * items.len() as f64 + 1e-9
        };
        let mut in_none = occurring.clone();
        for constraint in constraints.utility.iter().flatten() {
            let items: BTreeSet<u32> = constraint.iter().copied().filter(|item| occurring.contains(item)).collect();
            in_none = in_none.difference(&items).copied().collect();
            prop_assert!(share(items));
        }
        prop_assert!(share(in_none));

        let members: Vec<u32> = coat.generalised.iter().flat_map(|item| item.members.clone()).collect();
        prop_assert_eq!(members.iter().collect::<BTreeSet<_>>().len(), members.len());
        for (number, item) in (0..).zip(&coat.generalised) {
            prop_assert!(item.members.is_sorted() && item.members.len() > 1);
            if let Some(utility) = &constraints.utility {
                let holds = |constraint: &Vec<u32>| item.members.iter().all(|member| constraint.contains(member));
                prop_assert!(utility.iter().any(holds));
            }
            for &member in &item.members {
                prop_assert_eq!(coat.treatments[member as usize], Treatment::Generalised(number));
            }
            let has_any = |list: &&Vec<u32>| item.members.iter().any(|member| list.contains(member));
            let holders: Vec<&Vec<u32>> = lists.iter().filter(has_any).collect();
            let cover = |list: &&Vec<u32>| item.members.iter().filter(|member| !list.contains(member)).count() as u64;
            prop_assert_eq!(item.support, holders.len() as u64);
            prop_assert_eq!(item.cover, holders.iter().map(cover).sum::<u64>());
        }
        for suppressed in &coat.suppressed {
            prop_assert_eq!(coat.treatments[suppressed.item as usize], Treatment::Suppressed);
            prop_assert_eq!(suppressed.support, support(&lists, &[suppressed.item]));
        }

        prop_assert_eq!(released.len(), lists.len());
        for (list, entries) in lists.iter().zip(released.iter()) {
            // Only suppressed items are lost, no entry is added, and entries are in the order of their first
            // members.
            let place = |entry: &Entry| {
                let items = released.possible_items(entry);
                list.iter().position(|item| items.contains(item)).unwrap()
            };
            let places: Vec<usize> = entries.iter().map(place).collect();
            prop_assert!(places.is_sorted_by(|a, b| a < b));
            for item in list {
                let holders = entries.iter().filter(|entry| released.possible_items(entry).contains(item)).count();
                prop_assert_eq!(holders, usize::from(!suppressed.contains(item)));
            }
        }
    }

    #[test]
    fn items_are_generalised_by_the_greedy_rule(lists in lists(9), constraints in constraints()) {
        let ends = Greedy::ends(&lists, &constraints);
        let end = protect(&from_lists(&lists), &constraints).ok().map(|coat| state_of(&coat, &lists));
        // If the greedy rule may fail, the search may find something else.
        prop_assert!(ends.contains(&end) || ends.contains(&None), "{end:?} is none of {ends:?}");
    }

    #[test]
    fn the_order_tells_nothing_about_the_original(
        lists in lists(12), constraints in constraints(), seed in any::<u64>(), draw in any::<u64>(),
    ) {
        let constraints = Constraints { max_suppressed: 1.0, ..constraints };
        let original = from_lists(&lists);
        let coat = protect(&original, &constraints).unwrap();
        // Other originals with the same released items: each item becomes a member of its generalised item,
        // in another order, and suppressed items disappear.
        let other = |(number, list): (usize, &Vec<u32>)| -> Vec<u32> {
            let pick = |item: &u32| match coat.treatments[*item as usize] {
                Treatment::Unchanged => Some(*item),
                Treatment::Suppressed => None,
                Treatment::Generalised(number) => {
                    let members = &coat.generalised[number as usize].members;
                    Some(members[draw as usize % members.len()])
                }
            };
            let mut other: Vec<u32> = list.iter().filter_map(pick).collect();
            let places = (draw as usize % 100 + number).checked_rem(other.len());
            other.rotate_left(places.unwrap_or(0));
            other
        };
        let other = from_lists(&lists.iter().enumerate().map(other).collect::<Vec<_>>());
        for order in [ItemOrder::Shuffled, ItemOrder::Sorted] {
            let released = written(&released(&coat, &original, order, seed));
            prop_assert_eq!(&released, &written(&self::released(&coat, &other, order, seed)));
            // The same items as in the original order, each once.
            for (shuffled, kept) in released.iter().zip(written(&release(&coat, &original))) {
                let sorted = |text: &str| {
                    let mut letters: Vec<char> = text.chars().collect();
                    letters.sort();
                    letters
                };
                prop_assert_eq!(sorted(shuffled), sorted(&kept));
            }
        }
    }

    #[test]
    fn generalised_items_are_found_again_without_their_marks(
        lists in lists(12), constraints in constraints(), k in any::<bool>(), utility in any::<bool>(),
        privacy in any::<bool>(), rule in prop::sample::select(vec![MarkingRule::Together, MarkingRule::Repeated]),
    ) {
        let constraints = Constraints { max_suppressed: 1.0, ..constraints };
        let original = from_lists(&lists);
        let coat = protect(&original, &constraints).unwrap();
        let released = release(&coat, &original);
        let unmarked = from_lists(
            &released
                .iter()
                .map(|entries| entries.iter().flat_map(|entry| released.possible_items(entry)).copied().collect())
                .collect::<Vec<_>>(),
        );
        let known = GeneralisationKnowledge {
            k: k.then_some(constraints.k),
            utility: constraints.utility.clone().filter(|_| utility),
            privacy: privacy.then(|| constraints.privacy.clone()),
        };
        let marked = mark_generalised(&unmarked, rule, &known, &Control::new()).unwrap();
        prop_assert_eq!(visible(&marked), visible(&unmarked));
        for (before, after) in released.iter().zip(marked.iter()) {
            for entry in before.iter().filter(|entry| matches!(entry, Entry::Generalised(_))) {
                let members = released.possible_items(entry);
                let holds = |set: &&Entry| members.iter().all(|member| marked.possible_items(set).contains(member));
                prop_assert_eq!(after.iter().filter(holds).count(), 1);
            }
        }
        if let Some(utility) = &known.utility {
            for number in 0..marked.generalised() as u32 {
                let holds = |constraint: &Vec<u32>| {
                    marked.members(number).iter().all(|member| constraint.contains(member))
                };
                prop_assert!(utility.iter().any(holds));
            }
        }
    }

    #[test]
    fn km_anonymity_is_as_defined(
        lists in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![
            vec![0], vec![1], vec![2], vec![3], vec![4], vec![0, 1], vec![2, 3, 4],
        ]), 0..5), 0..10),
        m in 1..6usize, k in 1..5u64, most in 0..8usize,
    ) {
        let mut transactions = Transactions::new();
        for list in lists {
            transactions.begin().unwrap();
            for set in list {
                transactions.push(set).unwrap();
            }
        }
        // Generalised items are numbered after all items.
        let number = |entry: &Entry| match *entry {
            Entry::Item(item) => item,
            Entry::Generalised(number) => 5 + number,
        };
        let as_numbers: Vec<Vec<u32>> = transactions
            .iter()
            .map(|entries| {
                let numbers: BTreeSet<u32> = entries.iter().map(number).collect();
                numbers.into_iter().collect()
            })
            .collect();
        let all: BTreeSet<Vec<u32>> = as_numbers
            .iter()
            .flat_map(|set| subsets(set))
            .filter(|set| set.len() <= m)
            .collect();
        let least = all.iter().map(|set| support(&as_numbers, set)).min();
        prop_assert_eq!(km_anonymity(&transactions, m, &Control::new()).unwrap(), least);

        let is_violated = |set: &Vec<u32>| support(&as_numbers, set) < k;
        let is_minimal = |set: &&Vec<u32>| {
            is_violated(set) && subsets(set).iter().all(|part| part == *set || !is_violated(part))
        };
        let mut minimal: Vec<&Vec<u32>> = all.iter().filter(is_minimal).collect();
        minimal.sort_by_key(|set| (set.len(), *set));
        let expected: Vec<(Vec<u32>, u64)> = minimal
            .into_iter()
            .take(most)
            .map(|set| (set.clone(), support(&as_numbers, set)))
            .collect();
        let found: Vec<(Vec<u32>, u64)> = km_violations(&transactions, k, m, most, &Control::new())
            .unwrap()
            .into_iter()
            .map(|Violation { itemset, support }| (itemset.iter().map(number).collect(), support))
            .collect();
        prop_assert_eq!(found, expected);
    }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn wide_constraints_are_broken_by_definition(
        lists in prop::collection::vec(subsequence((0..13).collect::<Vec<u32>>(), 0..=13), 0..30),
        privacy in prop::collection::vec(subsequence((0..14).collect::<Vec<u32>>(), 12..=14), 1..3),
        k in 1..5u64,
    ) {
        assert_broken_by_definition(lists, &privacy, k)?;
    }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn every_solvable_small_case_is_solved(
        lists in prop::collection::vec(subsequence((0..6).collect::<Vec<u32>>(), 1..=3), 1..8),
        privacy in prop::collection::vec(subsequence((0..6).collect::<Vec<u32>>(), 1..=3), 1..4),
        classes in prop::option::weighted(0.8, prop::collection::vec(0..3usize, 6)),
        k in 2..4u64, max_suppressed in prop::sample::select(vec![0.0, 0.0, 0.34]), seed in any::<u64>(),
    ) {
        let utility = classes.map(|classes| {
            let set = |class: usize| (0..6).filter(|&item| classes[item as usize] == class).collect();
            (0..2).map(set).collect()
        });
        let constraints = Constraints { privacy, utility, k, max_suppressed, seed };
        let is_possible = reference::semantic::can_be_protected(&lists, &constraints);
        match protect(&from_lists(&lists), &constraints) {
            Ok(_) => prop_assert!(is_possible),
            Err(error) => {
                prop_assert!(!is_possible, "{lists:?} {constraints:?}");
                prop_assert!(error.to_string().contains("cannot be satisfied"));
            }
        }
    }
}

#[test]
fn the_next_rarest_item_is_generalised_before_any_is_suppressed() {
    // The rarest item of {a, b} is b, which is alone in its utility constraint.
    let original = transactions(&["ba", "abc", "c", "c", "d"]);
    for seed in 0..100 {
        let constraints = Constraints {
            privacy: sets(&["dba", "bdc"]),
            utility: Some(sets(&["acd", "b"])),
            k: 2,
            max_suppressed: 0.0,
            seed,
        };
        let coat = protect(&original, &constraints).unwrap();
        assert_eq!(
            written(&release(&coat, &original)),
            ["b(acd)", "(acd)b", "(acd)", "(acd)", "(acd)"]
        );
    }
}

#[test]
fn an_error_says_whether_no_solution_exists() {
    // Thirty items that can be generalised in many ways, and 40 and 41, which are together only once.
    let mut lists: Vec<Vec<u32>> = (0..60).map(|number| vec![number / 2]).collect();
    lists.extend([
        vec![40, 41],
        vec![40],
        vec![40],
        vec![41],
        vec![41],
        vec![42],
        vec![43],
    ]);
    let protect_with = |privacy: &[&[u32]], utility: &[&[u32]]| {
        let others = (0..30).map(|item| vec![item]);
        let constraints = Constraints {
            privacy: others.chain(privacy.iter().map(|set| set.to_vec())).collect(),
            utility: Some(
                utility
                    .iter()
                    .map(|set| set.to_vec())
                    .chain([(0..30).collect()])
                    .collect(),
            ),
            k: 3,
            ..Constraints::default()
        };
        protect(&from_lists(&lists), &constraints)
    };
    let problem = |privacy, utility| protect_with(privacy, utility).unwrap_err().to_string();
    assert!(protect_with(&[&[40], &[41]], &[]).is_ok());
    // Items that are too rare and cannot be generalised, or not with enough others.
    assert!(problem(&[&[42]], &[]).contains("cannot be satisfied"));
    assert!(problem(&[&[42]], &[&[42, 43]]).contains("cannot be satisfied"));
    // Items that are too rare together.
    assert!(problem(&[&[40, 41]], &[]).contains("cannot be satisfied"));
    assert!(problem(&[&[40, 41]], &[&[40], &[41]]).contains("cannot be satisfied"));
    // They can be generalised, but that is not enough. There are too many other things to try.
    let unknown = problem(&[&[40, 41]], &[&[40, 42], &[41, 43]]);
    assert!(unknown.contains("was found, but there may be one"), "{unknown}");
}

#[test]
fn places_and_multiplicities_are_hidden_unless_kept() {
    // Two originals of one generalised item make one entry.
    let original = transactions(&["axby", "cxy", "dbe", "a"]);
    let constraints = Constraints {
        privacy: sets(&["x", "y", "b"]),
        utility: Some(sets(&["xyb"])),
        k: 3,
        ..Constraints::default()
    };
    let coat = protect(&original, &constraints).unwrap();
    let in_order = |order, seed| written(&released(&coat, &original, order, seed));
    assert_eq!(in_order(ItemOrder::Kept, 1), ["a(bxy)", "c(bxy)", "d(bxy)e", "a"]);
    assert_eq!(
        in_order(ItemOrder::Sorted, 1),
        ["a(bxy)", "(bxy)c", "(bxy)de", "a"]
    );
    let shuffled: BTreeSet<Vec<String>> = (0..100).map(|seed| in_order(ItemOrder::Shuffled, seed)).collect();
    // Every order of every transaction is drawn, independently of the others.
    assert_eq!(shuffled.len(), 2 * 2 * 6);
    // The order does not depend on other rows, and equal transactions have equal orders.
    let reversed = transactions(&["a", "dbe", "cxy", "axby", "dxey"]);
    let of_reversed = written(&released(&coat, &reversed, ItemOrder::Shuffled, 7));
    let mut expected = in_order(ItemOrder::Shuffled, 7);
    expected.reverse();
    assert_eq!(of_reversed[..4], expected);
    assert_eq!(of_reversed[4], of_reversed[1]);
}

#[test]
fn fig_2_11_b_is_not_anonymous() {
    // The thesis calls it 2²-anonymous. Every generalised item is in two transactions, but every pair in one.
    let figure = transactions(&["(ab)(cd)", "(ab)(gh)", "(cd)(ef)", "(ef)(gh)"]);
    assert_eq!(km_anonymity(&figure, 1, &Control::new()), Ok(Some(2)));
    assert_eq!(km_anonymity(&figure, 2, &Control::new()), Ok(Some(1)));
    assert_eq!(km_violations(&figure, 2, 2, 9, &Control::new()).unwrap().len(), 4);
}

#[test]
fn fig_2_9_becomes_anonymous() {
    // s: skim milk, c: choco milk, h: hard cheese, o: soft cheese.
    let original = transactions(&["sho", "ch", "cho", "sco"]);
    let control = Control::new();
    assert_eq!(km_anonymity(&original, 2, &control), Ok(Some(1)));
    let violations = km_violations(&original, 2, 2, 10, &control).unwrap();
    let expected = [("cs", 1), ("hs", 1)].map(|(letters, support)| Violation {
        itemset: codes(letters).into_iter().map(Entry::Item).collect(),
        support,
    });
    assert_eq!(violations, expected);
    let generalised = transactions(&["(sc)ho", "(sc)h", "(sc)ho", "(sc)o"]);
    assert_eq!(km_anonymity(&generalised, 2, &control), Ok(Some(2)));
    assert_eq!(km_violations(&generalised, 2, 2, 10, &control), Ok(vec![]));
}

#[test]
fn long_transactions_do_not_overflow_the_stack() {
    let long: Vec<u32> = (0..20_000).collect();
    let twice = from_lists(&[long.clone(), long]);
    assert_eq!(km_anonymity(&twice, usize::MAX, &Control::new()), Ok(Some(2)));
}

/// h: heart disease, b: blood pressure, i: icd, l: limbs, j: injury, w: weakness, d: dizziness, a:
/// anesthesia, p: pain, t: diabetes, g: gangrene, k: knee.
const FIG_3_7: [&str; 4] = ["hbiljwd", "abiljpt", "gbilj", "kbilj"];
const FIG_1_5: [&str; 4] = ["h(bijl)wd", "a(bijl)pt", "g(bijl)", "k(bijl)"];

fn marked(lists: &[&str], rule: MarkingRule, known: &GeneralisationKnowledge) -> Vec<String> {
    written(&mark_generalised(&transactions(lists), rule, known, &Control::new()).unwrap())
}

#[test]
fn fig_3_7_is_marked_as_fig_1_5() {
    for rule in [MarkingRule::Together, MarkingRule::Repeated] {
        for k in [None, Some(1), Some(4)] {
            let known = GeneralisationKnowledge {
                k,
                ..GeneralisationKnowledge::default()
            };
            assert_eq!(marked(&FIG_3_7, rule, &known), FIG_1_5);
        }
        let less_than_k = GeneralisationKnowledge {
            k: Some(5),
            ..GeneralisationKnowledge::default()
        };
        assert_eq!(marked(&FIG_3_7, rule, &less_than_k), FIG_3_7);
    }
}

#[test]
fn what_is_known_separates_generalised_items() {
    let lists = ["abcde", "abcd", "e(xy)"];
    let nothing = GeneralisationKnowledge::default();
    assert_eq!(
        marked(&lists, MarkingRule::Repeated, &nothing),
        ["(abcde)", "(abcd)", "e(xy)"]
    );
    assert_eq!(
        marked(&lists, MarkingRule::Together, &nothing),
        ["(abcd)e", "(abcd)", "e(xy)"]
    );
    let utility = GeneralisationKnowledge {
        utility: Some(sets(&["ac", "de"])),
        ..GeneralisationKnowledge::default()
    };
    assert_eq!(
        marked(&lists, MarkingRule::Repeated, &utility),
        ["(ac)b(de)", "(ac)bd", "e(xy)"]
    );
    assert_eq!(
        marked(&lists, MarkingRule::Together, &utility),
        ["(ac)bde", "(ac)bd", "e(xy)"]
    );
    let privacy = GeneralisationKnowledge {
        utility: Some(sets(&["ac", "bd"])),
        privacy: Some(sets(&["dz"])),
        ..GeneralisationKnowledge::default()
    };
    for rule in [MarkingRule::Together, MarkingRule::Repeated] {
        assert_eq!(marked(&lists, rule, &privacy), ["a(bd)ce", "a(bd)c", "e(xy)"]);
    }
    let overlapping = GeneralisationKnowledge {
        utility: Some(sets(&["ab", "bc"])),
        ..GeneralisationKnowledge::default()
    };
    let result = mark_generalised(
        &transactions(&lists),
        MarkingRule::Together,
        &overlapping,
        &Control::new(),
    );
    assert_eq!(argument_of(result), "utility");
}
