//! Search row by row, for tables with so many slots that it is impossible to go through all sets of them.
//! Each row is searched on its own, by branch and bound. Other rows are looked up only when one is needed to
//! show that something is not inferred.

use super::bitset::Words;
use super::partition;
use super::postings::{Postings, TableWitnesses};
use super::score::{Found, SearchInput};
use super::search::{Kinds, RowSearch, Workspace};
use crate::parallel_sort::parallel_sort;
use rayon::prelude::*;

/// Number of sets that are searched per row in the first round. It is small, so that all rows have good
/// bounds early.
const FIRST_BUDGET: u64 = 40;
/// Number of sets that are searched per row in the second round.
const SECOND_BUDGET: u64 = 2_000;
/// Factor by which the number grows in each later round.
const GROWTH: u64 = 10;

/// Number of masks that an unfinished search passes on to the next round.
const KEPT_MASKS: usize = 160;

/// Row whose search is not finished.
struct Unfinished<const P: usize> {
    row: usize,
    masks: Vec<[u64; P]>,
    /// Upper bound on the weight of every inference about the row.
    upper: f64,
    finished: bool,
}

/// Finds the worst inference about every open row. For rows that stay open, narrows `upper`.
pub(super) fn search<const P: usize>(
    input: &SearchInput<P>,
    found: &Found,
    open: &mut [bool],
    upper: &mut [f64],
) {
    // Inferences from single attributes are cheap to find for all rows together, and they are the worst ones
    // about many rows.
    partition::search(input, found, 1, open, upper);
    if !open.contains(&true) {
        return;
    }
    let postings = Postings::new(input);
    let neighbours = Neighbours::new(input);
    let rows = (0..open.len()).filter(|&row| open[row]);
    let mut left: Vec<Unfinished<P>> = rows
        .map(|row| Unfinished {
            row,
            masks: Vec::new(),
            upper: upper[row],
            finished: false,
        })
        .collect();
    input.limits.control.set_total(left.len() as u64);
    let mut budget = FIRST_BUDGET;
    while !left.is_empty() && !input.limits.reached() {
        left.par_iter_mut()
            .with_max_len(32)
            .for_each_init(Workspace::default, |workspace, row| {
                if !input.limits.reached() {
                    if row.masks.is_empty() {
                        row.masks = neighbours.masks(input, row.row);
                    }
                    search_row(input, found, &postings, workspace, row, budget);
                }
            });
        for row in &left {
            open[row.row] = !row.finished;
            upper[row.row] = row.upper;
        }
        left.retain(|row| !row.finished);
        budget = if budget == FIRST_BUDGET {
            SECOND_BUDGET
        } else {
            budget.saturating_mul(GROWTH)
        };
    }
}

fn search_row<const P: usize>(
    input: &SearchInput<P>,
    found: &Found,
    postings: &Postings,
    workspace: &mut Workspace<P>,
    unfinished: &mut Unfinished<P>,
    budget: u64,
) {
    let bits = input.rows[unfinished.row];
    let Kinds {
        all,
        certain,
        free,
        choice,
    } = workspace.weigh(input.table.weights(&bits));
    let masks = workspace.masks();
    masks.clear();
    masks.extend(unfinished.masks.iter().filter(|mask| !mask.meets(&free)));
    let mut search = RowSearch {
        workspace,
        witnesses: TableWitnesses::new(input, postings, unfinished.row),
        danger: input.danger,
        limits: &input.limits,
        all,
        certain,
        weight: found.weight(unfinished.row),
        known: None,
        budget,
        open: 0.0,
        ended: false,
    };
    search.run(free, 1.0, choice);
    let (weight, known, ended, bound) = (search.weight, search.known, search.ended, search.open);
    if let Some(known) = known {
        found.improve(unfinished.row, weight, &known);
    }
    unfinished.finished = !ended;
    unfinished.upper = if ended {
        unfinished.upper.min(bound).max(weight)
    } else {
        weight
    };
    if ended {
        unfinished.masks.clone_from(workspace.masks());
        unfinished
            .masks
            .sort_unstable_by_key(|mask| (mask.count(), *mask));
        unfinished.masks.dedup();
        unfinished.masks.truncate(KEPT_MASKS);
    } else {
        unfinished.masks = Vec::new();
        input.limits.control.advance(1);
    }
}

/// Several orders of the rows. Rows that are adjacent in one of them differ in few attributes, so their masks
/// are small, and small masks give the best bounds.
struct Neighbours {
    orders: Vec<Order>,
}

struct Order {
    rows: Vec<u32>,
    place_of: Vec<u32>,
}

/// Number of orders.
const ORDERS: usize = 8;
/// Number of neighbours on each side of a row, per order.
const NEIGHBOURS: usize = 8;

impl Neighbours {
    /// Sorts the rows in several orders, which begin with different slots. Every other order reads the bits
    /// backwards.
    fn new<const P: usize>(input: &SearchInput<P>) -> Self {
        let slots = &input.table.slots;
        let order = |number: usize| {
            let start = slots
                .get(number * slots.len() / ORDERS)
                .map_or(0, |slot| slot.bit);
            let mut keys: Vec<([u64; P], u32)> = input
                .rows
                .iter()
                .zip(0..)
                .map(|(row, place)| (rotated(row, start, number % 2 == 1), place))
                .collect();
            // If a cancel has left the order unfinished, it is not used.
            let _ = parallel_sort(&mut keys, input.limits.control);
            let rows: Vec<u32> = keys.into_iter().map(|(_, row)| row).collect();
            let mut place_of = vec![0; rows.len()];
            rows.iter()
                .zip(0..)
                .for_each(|(&row, place)| place_of[row as usize] = place);
            Order { rows, place_of }
        };
        Neighbours {
            orders: (0..ORDERS).map(order).collect(),
        }
    }

    /// Returns the masks of a row's neighbours, and of rows that differ from it in a single slot.
    fn masks<const P: usize>(&self, input: &SearchInput<P>, row: usize) -> Vec<[u64; P]> {
        let bits = input.rows[row];
        let all = input.fields.occupied(&bits);
        let mut masks = Vec::new();
        input.blocked[row].for_each(|bit| masks.push(Words::single(bit)));
        for order in &self.orders {
            let place = order.place_of[row] as usize;
            let near = place.saturating_sub(NEIGHBOURS)..(place + NEIGHBOURS + 1).min(order.rows.len());
            let mask = |&other: &u32| input.fields.missing(&bits, &all, &input.rows[other as usize]);
            masks.extend(order.rows[near].iter().map(mask).filter(|mask| !mask.is_none()));
        }
        masks.sort_unstable_by_key(|mask| (mask.count(), *mask));
        masks.dedup();
        masks
    }
}

/// Returns the row's bits from `start` on, followed by those before it; or all of these backwards.
fn rotated<const P: usize>(row: &[u64; P], start: usize, backwards: bool) -> [u64; P] {
    // Bit 63 of word 0 comes first, because a slot's highest bit is its first.
    let (word, bits) = (start / 64, 63 - start as u32 % 64);
    let mut turned = [0; P];
    for (place, turned) in turned.iter_mut().enumerate() {
        let (this, next) = (row[(word + place) % P], row[(word + place + 1) % P]);
        *turned = this << bits | next.checked_shr(64 - bits).unwrap_or(0);
    }
    if backwards {
        turned.reverse();
        turned.iter_mut().for_each(|word| *word = word.reverse_bits());
    }
    turned
}
