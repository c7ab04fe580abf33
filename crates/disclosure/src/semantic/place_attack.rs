//! The attack by place: an adversary without a corpus assumes that the original lists were sorted, and that a
//! generalised item stands where its original stood. Then only members that fit between the other items of
//! the list can be original.
//!
//! First, the adversary looks for an [order](ListOrder) in which the items of the release are listed: by
//! their texts, or as in other lists. Then a member *contradicts* its place as often as an item of the list
//! that is not generalised is on the wrong side of it. Members with more contradictions than others are
//! eliminated.

use super::{Elimination, Eliminations, Entry, Transactions};
use crate::parallel_sort::parallel_sort;
use crate::{Control, Result, parallel};
use bitvec::prelude::*;
use rustc_hash::FxHashMap;

/// Number of transactions between two checks for cancellation: less than a millisecond.
const TRANSACTIONS_PER_CHECK: usize = 1 << 10;

/// Maximum number of items on each side of a place that are compared with a member. An item beyond them
/// rarely tells more, because the nearer ones stand between it and the place.
const WINDOW: usize = 32;

/// Share of the neighbouring items that must be in order for lists to count as sorted.
const MIN_SHARE: f64 = 0.9;

/// Minimum number of neighbouring items to judge by. Of ten pairs in random order, one direction has nine or
/// more in 2 % of all cases.
const MIN_PAIRS: u64 = 10;

/// Number of cells from which starting threads pays off.
const MIN_CELLS_FOR_THREADS: usize = 10_000;

/// An order in which transactions list their items.
#[derive(Debug, Clone, PartialEq)]
pub enum ListOrder {
    /// Items in ascending order of their ranks, by code. Items with the same rank may be in any order.
    Ascending(Vec<u32>),
    /// Items in descending order of their ranks.
    Descending(Vec<u32>),
    /// An order learnt from lists.
    Learnt(LearntOrder),
}

/// An order learnt from lists: how often one item of a pair comes before the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LearntOrder {
    /// By pair, the lower item first: the number of lists in which the lower item comes before the other, and
    /// the number of lists in which it comes after.
    counts: FxHashMap<(u32, u32), (u32, u32)>,
}

impl ListOrder {
    /// Returns the ranking in which transactions list the items that are not generalised, ascending or
    /// descending; `None` if fewer than nine in ten neighbours are in that order, or if there are fewer than
    /// ten pairs of neighbours. Each ranking holds a rank for every item. Of several, the one that fits best
    /// is returned, then the first.
    pub fn detect(
        transactions: &Transactions,
        rankings: Vec<Vec<u32>>,
        control: &Control,
    ) -> Result<Option<Self>> {
        let mut best: Option<(f64, Self)> = None;
        for ranks in rankings {
            let mut agreement = Agreement::default();
            for (number, entries) in transactions.iter().enumerate() {
                if number.is_multiple_of(TRANSACTIONS_PER_CHECK) {
                    control.check()?;
                }
                for (one, other) in neighbours(entries) {
                    match ranks[one as usize].cmp(&ranks[other as usize]) {
                        std::cmp::Ordering::Less => agreement.right += 1,
                        std::cmp::Ordering::Greater => agreement.wrong += 1,
                        std::cmp::Ordering::Equal => {}
                    }
                }
            }
            let ascending = agreement.share();
            let Some(share) = ascending.or(agreement.reversed().share()) else {
                continue;
            };
            if best.as_ref().is_none_or(|(most, _)| share > *most) {
                let order = match ascending {
                    Some(_) => Self::Ascending(ranks),
                    None => Self::Descending(ranks),
                };
                best = Some((share, order));
            }
        }
        Ok(best.map(|(_, order)| order))
    }

    /// Learns the order of items from other lists and from the transactions themselves. Returns `None` if the
    /// transactions do not follow it, by the same limits as for [`detect`](Self::detect). To judge a
    /// transaction, only the other lists are used. Also returns `None` if nothing was learnt about members of
    /// generalised items, for example because they occur in no other list.
    pub fn learn(
        transactions: &Transactions,
        lists: &Transactions,
        control: &Control,
    ) -> Result<Option<Self>> {
        let mut order = LearntOrder::of_pairs(transactions, control)?;
        for lists in [transactions, lists] {
            order.count(lists, control)?;
        }
        let mut agreement = Agreement::default();
        for (number, entries) in transactions.iter().enumerate() {
            if number.is_multiple_of(TRANSACTIONS_PER_CHECK) {
                control.check()?;
            }
            for (one, other) in neighbours(entries) {
                let (before, after) = order.counts(one, other);
                match majority(before.saturating_sub(1), after) {
                    Some(true) => agreement.right += 1,
                    Some(false) => agreement.wrong += 1,
                    None => {}
                }
            }
        }
        let is_useful = agreement.share().is_some() && order.knows_members(transactions);
        Ok(is_useful.then_some(Self::Learnt(order)))
    }

    /// Returns whether an item comes before another one, `None` if that is unknown.
    pub fn is_before(&self, one: u32, other: u32) -> Option<bool> {
        let by_rank = |ranks: &[u32], one: u32, other: u32| {
            let (one, other) = (ranks.get(one as usize)?, ranks.get(other as usize)?);
            (one != other).then_some(one < other)
        };
        match self {
            Self::Ascending(ranks) => by_rank(ranks, one, other),
            Self::Descending(ranks) => by_rank(ranks, other, one),
            Self::Learnt(order) => {
                let (before, after) = order.counts(one, other);
                majority(before, after)
            }
        }
    }
}

impl LearntOrder {
    /// Creates an order of the pairs that an attack asks for, without any counts.
    fn of_pairs(transactions: &Transactions, control: &Control) -> Result<Self> {
        let mut counts = FxHashMap::default();
        for entries in transactions.iter() {
            control.check()?;
            for (one, other) in neighbours(entries) {
                counts.insert((one.min(other), one.max(other)), (0, 0));
            }
            for (place, entry) in entries.iter().enumerate() {
                let Entry::Generalised(number) = entry else {
                    continue;
                };
                let members = transactions.members(*number);
                control.require::<[u32; 8]>(counts.len() + members.len() * 2 * WINDOW)?;
                let (before, after) = around(entries, place);
                for item in before.chain(after) {
                    for &member in members.iter().filter(|&&member| member != item) {
                        counts.insert((item.min(member), item.max(member)), (0, 0));
                    }
                }
            }
        }
        Ok(LearntOrder { counts })
    }

    /// Counts the pairs of items in each list that are at most [`WINDOW`] places apart.
    fn count(&mut self, lists: &Transactions, control: &Control) -> Result<()> {
        let mut items = Vec::new();
        for entries in lists.iter() {
            control.check()?;
            items.clear();
            items.extend(entries.iter().filter_map(Entry::item));
            for (place, &one) in items.iter().enumerate() {
                for &other in items[place + 1..].iter().take(WINDOW) {
                    if let Some((before, after)) = self.counts.get_mut(&(one.min(other), one.max(other))) {
                        *(if one < other { before } else { after }) += 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns whether a member of a generalised item was in a list with another item.
    fn knows_members(&self, transactions: &Transactions) -> bool {
        let mut is_member = bitvec![0; transactions.items()];
        for number in 0..transactions.generalised() as u32 {
            for &member in transactions.members(number) {
                is_member.set(member as usize, true);
            }
        }
        self.counts.iter().any(|(&(one, other), &counts)| {
            counts != (0, 0) && (is_member[one as usize] || is_member[other as usize])
        })
    }

    /// Returns the numbers of lists in which an item comes before and after another one.
    fn counts(&self, one: u32, other: u32) -> (u32, u32) {
        let counts = self.counts.get(&(one.min(other), one.max(other)));
        let (before, after) = counts.copied().unwrap_or_default();
        match one < other {
            true => (before, after),
            false => (after, before),
        }
    }
}

/// Returns which of two counts is by far the greater one; `None` if neither is.
fn majority(before: u32, after: u32) -> Option<bool> {
    let (before, after) = (f64::from(before), f64::from(after));
    let needed = MIN_SHARE * (before + after);
    (before.max(after) >= needed && before != after).then_some(before > after)
}

/// Numbers of neighbours that are in an order, and in the reverse order.
#[derive(Clone, Copy, Default)]
struct Agreement {
    right: u64,
    wrong: u64,
}

impl Agreement {
    /// Returns the share of neighbours that are in order, `None` if the lists are not sorted.
    fn share(self) -> Option<f64> {
        let pairs = self.right + self.wrong;
        let share = self.right as f64 / pairs as f64;
        (pairs >= MIN_PAIRS && share >= MIN_SHARE).then_some(share)
    }

    fn reversed(self) -> Self {
        Agreement {
            right: self.wrong,
            wrong: self.right,
        }
    }
}

/// Returns the pairs of items that are not generalised and follow one another, except for generalised items
/// between them.
fn neighbours(entries: &[Entry]) -> impl Iterator<Item = (u32, u32)> + '_ {
    let items = entries.iter().filter_map(Entry::item);
    items.clone().zip(items.skip(1))
}

/// Returns the items that are not generalised before and after a place, nearest first, at most [`WINDOW`] of
/// each.
fn around(
    entries: &[Entry],
    place: usize,
) -> (impl Iterator<Item = u32> + '_, impl Iterator<Item = u32> + '_) {
    let before = entries[..place].iter().rev().filter_map(Entry::item);
    let after = entries[place + 1..].iter().filter_map(Entry::item);
    (before.take(WINDOW), after.take(WINDOW))
}

/// Returns rankings of texts by which people and programs sort lists: by bytes; by letters and digits,
/// without regard to case and signs, as most collations do; and with numbers compared as numbers.
pub fn text_rankings(texts: &[String], control: &Control) -> Result<Vec<Vec<u32>>> {
    let folded = |text: &str| -> String {
        let letters = text.chars().filter(|character| character.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    Ok(vec![
        ranking(texts, |text| text, control)?,
        ranking(texts, folded, control)?,
        ranking(texts, with_numbers, control)?,
    ])
}

/// A piece of a text: a number, or other characters. Numbers come first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Piece {
    Number(i128),
    Text(String),
}

/// Divides a text into numbers and what is between them. A number with too many digits counts as text.
fn with_numbers(text: &str) -> Vec<Piece> {
    if let Ok(number) = text.parse() {
        return vec![Piece::Number(number)];
    }
    let characters: Vec<char> = text.chars().collect();
    let runs = characters.chunk_by(|one, other| one.is_ascii_digit() == other.is_ascii_digit());
    let piece = |run: &[char]| {
        let run: String = run.iter().collect();
        run.parse().map_or(Piece::Text(run), Piece::Number)
    };
    runs.map(piece).collect()
}

/// Returns the rank of each text by a key, the same for equal keys.
fn ranking<'a, K: Ord + Send + Sync>(
    texts: &'a [String],
    key: impl Fn(&'a str) -> K,
    control: &Control,
) -> Result<Vec<u32>> {
    let mut keys = Vec::with_capacity(texts.len());
    for (number, text) in texts.iter().enumerate() {
        if number.is_multiple_of(TRANSACTIONS_PER_CHECK) {
            control.check()?;
        }
        keys.push(key(text));
    }
    let mut order: Vec<(&K, u32)> = keys.iter().zip(0..).collect();
    parallel_sort(&mut order, control)?;
    let mut ranks = vec![0; keys.len()];
    for (rank, equal) in (0..).zip(order.chunk_by(|one, other| one.0 == other.0)) {
        for &(_, item) in equal {
            ranks[item as usize] = rank;
        }
    }
    Ok(ranks)
}

/// Attacks every generalised item of some transactions by its places; its number is its place in the result.
///
/// In each transaction, the members with the fewest contradictions are kept. A member that has more
/// contradictions than others in every transaction is kept where it has the least excess, because every
/// member is original somewhere (Ong 2015, Observation 1). If at least half of the members of a generalised
/// item are such, it does not stand where its originals stood, and nothing is eliminated. So no row and no
/// column loses its last item. Eliminations are in the order of rows, then of columns, and have no scores.
pub fn place_attack(
    transactions: &Transactions,
    order: &ListOrder,
    control: &Control,
) -> Result<Vec<Eliminations>> {
    let mut places: Vec<Vec<(u32, u32)>> = vec![Vec::new(); transactions.generalised()];
    let mut cells = 0;
    for (transaction, entries) in (0..).zip(transactions.iter()) {
        control.check()?;
        for (place, entry) in (0..).zip(entries) {
            if let Entry::Generalised(number) = entry {
                places[*number as usize].push((transaction, place));
                cells += transactions.members(*number).len();
            }
        }
    }
    let numbers = 0..transactions.generalised();
    parallel::map_if(numbers, cells >= MIN_CELLS_FOR_THREADS, |number| {
        let members = transactions.members(number as u32);
        eliminate(transactions, members, &places[number], order, control)
    })
}

/// Attacks one generalised item with these members and places, each a transaction and a place in it.
fn eliminate(
    transactions: &Transactions,
    members: &[u32],
    places: &[(u32, u32)],
    order: &ListOrder,
    control: &Control,
) -> Result<Eliminations> {
    let columns = members.len();
    control.require::<u8>(places.len().saturating_mul(columns))?;
    // Row by row, the number of contradictions of each member minus that of the best member.
    let mut excess = Vec::with_capacity(places.len() * columns);
    let mut least = vec![u8::MAX; columns];
    for &(transaction, place) in places {
        control.check()?;
        let entries = transactions.entries(transaction as usize);
        let start = excess.len();
        excess.extend(
            members
                .iter()
                .map(|&member| contradictions(entries, place as usize, member, order)),
        );
        let row = &mut excess[start..];
        let fewest = row.iter().copied().min().unwrap_or(0);
        for (excess, least) in row.iter_mut().zip(&mut least) {
            *excess -= fewest;
            *least = (*least).min(*excess);
        }
    }
    let misplaced = least.iter().filter(|&&least| least > 0).count();
    let mut cells = Vec::new();
    if 2 * misplaced < columns {
        for (row, excess) in (0..).zip(excess.chunks(columns)) {
            let gone = (0..).zip(excess.iter().zip(&least));
            let gone = gone.filter(|(_, (excess, least))| excess > least);
            cells.extend(gone.map(|(column, _)| Elimination {
                row,
                column,
                score: None,
            }));
        }
    }
    Ok(Eliminations {
        threshold: None,
        cells,
    })
}

/// Returns how many items around a place are on the wrong side of a member: at most twice [`WINDOW`].
fn contradictions(entries: &[Entry], place: usize, member: u32, order: &ListOrder) -> u8 {
    let (before, after) = around(entries, place);
    let wrong_before = before.filter(|&item| order.is_before(item, member) == Some(false));
    let wrong_after = after.filter(|&item| order.is_before(item, member) == Some(true));
    (wrong_before.count() + wrong_after.count()) as u8
}
