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
use crate::strongly_connected::strongly_connected;
use crate::{Control, Result, parallel};
use bitvec::prelude::*;

/// Number of transactions between two checks for cancellation: less than a millisecond.
const TRANSACTIONS_PER_CHECK: usize = 1 << 10;

/// Maximum number of items on each side of a place that are compared with a member. An item beyond them
/// rarely tells more, because nearer ones are between it and the place.
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

/// An order learnt from lists. An item comes before another one if a chain of lists says so: the first item
/// comes before a second one in one list, the second before a third one in another list, and so on. If other
/// lists say the reverse, the order of the two is unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct LearntOrder {
    /// By item: the strongly connected component of the graph of neighbours in lists. Items of one component
    /// come before each other.
    components: Vec<u32>,
    /// By component: the components that its items come before.
    later: Vec<BitVec>,
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
                    agreement.count(by_rank(&ranks, one, other));
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

    /// Learns the order of items from other lists. Returns `None` if the transactions do not follow it, by the
    /// same limits as for [`detect`](Self::detect), or if no member of a generalised item is in these lists.
    pub fn learn(
        transactions: &Transactions,
        lists: &Transactions,
        control: &Control,
    ) -> Result<Option<Self>> {
        let is_listed = {
            let postings = lists.postings(control)?;
            move |item: &u32| {
                postings
                    .get(*item as usize)
                    .is_some_and(|posting| !posting.is_empty())
            }
        };
        let mut generalised = 0..transactions.generalised() as u32;
        if !generalised.any(|number| transactions.members(number).iter().any(&is_listed)) {
            return Ok(None);
        }
        let order = LearntOrder::new(lists, control)?;
        let mut agreement = Agreement::default();
        for (number, entries) in transactions.iter().enumerate() {
            if number.is_multiple_of(TRANSACTIONS_PER_CHECK) {
                control.check()?;
            }
            for (one, other) in neighbours(entries) {
                agreement.count(order.is_before(one, other));
            }
        }
        Ok(agreement.share().map(|_| Self::Learnt(order)))
    }

    /// Returns whether an item comes before another one, `None` if that is unknown.
    pub fn is_before(&self, one: u32, other: u32) -> Option<bool> {
        match self {
            Self::Ascending(ranks) => by_rank(ranks, one, other),
            Self::Descending(ranks) => by_rank(ranks, other, one),
            Self::Learnt(order) => order.is_before(one, other),
        }
    }
}

impl LearntOrder {
    /// Learns the order of the items of these lists. Generalised items are skipped.
    pub fn new(lists: &Transactions, control: &Control) -> Result<Self> {
        let mut pairs = Vec::new();
        for (number, entries) in lists.iter().enumerate() {
            if number.is_multiple_of(TRANSACTIONS_PER_CHECK) {
                control.check()?;
            }
            pairs.extend(neighbours(entries));
        }
        parallel_sort(&mut pairs, control)?;
        pairs.dedup();
        let mut successors = vec![Vec::new(); lists.items()];
        for &(one, other) in &pairs {
            successors[one as usize].push(other);
        }
        let components = strongly_connected(&successors, control)?;
        let count = components.iter().max().map_or(0, |&last| last as usize + 1);
        control.require::<u8>((count / 8 + 32).saturating_mul(count))?;
        let mut successors: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (one, other) in pairs {
            let (one, other) = (components[one as usize], components[other as usize]);
            if one != other {
                successors[one as usize].push(other);
            }
        }
        // Successors have lower numbers, so that what comes after them is already known.
        let mut later: Vec<BitVec> = Vec::with_capacity(count);
        for successors in &mut successors {
            successors.sort_unstable();
            successors.dedup();
            let mut of_one = bitvec![0; later.len()];
            for &successor in &*successors {
                control.check()?;
                of_one[..successor as usize] |= &later[successor as usize];
                of_one.set(successor as usize, true);
            }
            later.push(of_one);
        }
        Ok(LearntOrder { components, later })
    }

    /// Returns whether an item comes before another one, `None` if that is unknown.
    pub fn is_before(&self, one: u32, other: u32) -> Option<bool> {
        let component = |item: u32| Some(*self.components.get(item as usize)? as usize);
        let (one, other) = (component(one)?, component(other)?);
        let is_later = |one: usize, other: usize| self.later[one].get(other).is_some_and(|later| *later);
        match (is_later(one, other), is_later(other, one)) {
            (false, false) => None,
            (is_before, _) => Some(is_before),
        }
    }
}

/// Numbers of neighbours that are in an order, and in the reverse order.
#[derive(Clone, Copy, Default)]
struct Agreement {
    right: u64,
    wrong: u64,
}

impl Agreement {
    /// Counts a pair of neighbours by whether they are in order.
    fn count(&mut self, is_in_order: Option<bool>) {
        self.right += u64::from(is_in_order == Some(true));
        self.wrong += u64::from(is_in_order == Some(false));
    }

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

/// Returns whether an item has a lower rank than another one, `None` if that is unknown.
fn by_rank(ranks: &[u32], one: u32, other: u32) -> Option<bool> {
    let (one, other) = (ranks.get(one as usize)?, ranks.get(other as usize)?);
    (one != other).then_some(one < other)
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
