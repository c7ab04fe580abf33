//! Search row by row, for tables with so many slots that it is impossible to go through all sets of them.
//! Each row is searched on its own, by branch and bound. Other rows are looked up only when one is needed to
//! show that something is not inferred.

use super::bitset::Words;
use super::partition;
use super::postings::{Postings, TableMasks};
use super::score::{SearchInput, WorstSoFar};
use super::search::{AttributeKinds, RowSearch, Workspace};
use crate::parallel_sort::parallel_sort;
use rayon::prelude::*;

/// Number of sets that are searched per row in the first round. It is small, so that all rows have good
/// bounds early.
const SETS_IN_FIRST_ROUND: u64 = 40;
/// Number of sets that are searched per row in the second round.
const SETS_IN_SECOND_ROUND: u64 = 2_000;
/// Factor by which the number grows in each later round.
const GROWTH: u64 = 10;

/// Number of masks that an unfinished search passes on to the next round.
const KEPT_MASKS: usize = 160;

/// Row whose search is not finished.
struct UnfinishedRow<const P: usize> {
    row: usize,
    masks: Vec<[u64; P]>,
    /// Upper bound on the weight of every inference about the row.
    upper: f64,
    finished: bool,
}

/// Finds the worst inference about every open row. For rows that stay open, narrows `upper`.
pub(super) fn search<const P: usize>(
    input: &SearchInput<P>,
    worst_so_far: &WorstSoFar,
    open: &mut [bool],
    upper: &mut [f64],
) {
    // Inferences from single attributes are cheap to find for all rows together, and they are the worst ones
    // about many rows.
    partition::search(input, worst_so_far, 1, open, upper);
    if !open.contains(&true) {
        return;
    }
    let postings = Postings::new(input);
    let neighbours = Neighbours::new(input);
    let rows = (0..open.len()).filter(|&row| open[row]);
    let mut left: Vec<UnfinishedRow<P>> = rows
        .map(|row| UnfinishedRow {
            row,
            masks: Vec::new(),
            upper: upper[row],
            finished: false,
        })
        .collect();
    input.limits.control.set_total(left.len() as u64);
    let mut sets_per_row = SETS_IN_FIRST_ROUND;
    while !left.is_empty() && !input.limits.reached() {
        left.par_iter_mut()
            .with_max_len(32)
            .for_each_init(Workspace::default, |workspace, row| {
                if !input.limits.reached() {
                    if row.masks.is_empty() {
                        row.masks = neighbours.masks(input, row.row);
                    }
                    search_row(input, worst_so_far, &postings, workspace, row, sets_per_row);
                }
            });
        for row in &left {
            open[row.row] = !row.finished;
            upper[row.row] = row.upper;
        }
        left.retain(|row| !row.finished);
        sets_per_row = if sets_per_row == SETS_IN_FIRST_ROUND {
            SETS_IN_SECOND_ROUND
        } else {
            sets_per_row.saturating_mul(GROWTH)
        };
    }
}

fn search_row<const P: usize>(
    input: &SearchInput<P>,
    worst_so_far: &WorstSoFar,
    postings: &Postings,
    workspace: &mut Workspace<P>,
    unfinished: &mut UnfinishedRow<P>,
    sets_per_row: u64,
) {
    let bits = input.rows[unfinished.row];
    let AttributeKinds {
        all,
        certain,
        costless,
        choice,
    } = workspace.load_weights(input.table.weights(&bits));
    let masks = workspace.masks();
    masks.clear();
    masks.extend(unfinished.masks.iter().filter(|mask| !mask.meets(&costless)));
    let mut search = RowSearch {
        workspace,
        mask_source: TableMasks::new(input, postings, unfinished.row),
        danger_function: input.danger_function,
        limits: &input.limits,
        all,
        certain,
        weight: worst_so_far.weight(unfinished.row),
        known: None,
        sets_left: sets_per_row,
        bound_on_rest: 0.0,
        stopped_early: false,
    };
    search.run(costless, 1.0, choice);
    let (weight, known, stopped_early, bound) = (
        search.weight,
        search.known,
        search.stopped_early,
        search.bound_on_rest,
    );
    if let Some(known) = known {
        worst_so_far.improve(unfinished.row, weight, &known);
    }
    unfinished.finished = !stopped_early;
    unfinished.upper = if stopped_early {
        unfinished.upper.min(bound).max(weight)
    } else {
        weight
    };
    if stopped_early {
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

/// Rows in one order, and the position of every row in it.
struct Order {
    rows: Vec<u32>,
    rank_of_row: Vec<u32>,
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
        let order = |order_index: usize| {
            let start = slots
                .get(order_index * slots.len() / ORDERS)
                .map_or(0, |slot| slot.bit);
            let mut keys: Vec<([u64; P], u32)> = input
                .rows
                .iter()
                .zip(0..)
                .map(|(bits, row)| (rotated(bits, start, order_index % 2 == 1), row))
                .collect();
            // If a cancel has left the order unfinished, it is not used.
            let _ = parallel_sort(&mut keys, input.limits.control);
            let rows: Vec<u32> = keys.into_iter().map(|(_, row)| row).collect();
            let mut rank_of_row = vec![0; rows.len()];
            rows.iter()
                .zip(0..)
                .for_each(|(&row, rank)| rank_of_row[row as usize] = rank);
            Order { rows, rank_of_row }
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
            let rank = order.rank_of_row[row] as usize;
            let near = rank.saturating_sub(NEIGHBOURS)..(rank + NEIGHBOURS + 1).min(order.rows.len());
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
    for (position, turned) in turned.iter_mut().enumerate() {
        let (this, next) = (row[(word + position) % P], row[(word + position + 1) % P]);
        *turned = this << bits | next.checked_shr(64 - bits).unwrap_or(0);
    }
    if backwards {
        turned.reverse();
        turned.iter_mut().for_each(|word| *word = word.reverse_bits());
    }
    turned
}
