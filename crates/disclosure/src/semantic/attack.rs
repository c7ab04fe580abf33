use super::{
    DistanceSettings, DistanceTable, Eliminations, Entry, Scoring, Strategy, Target, Transactions, eliminate,
};
use crate::{Control, Result, parallel};
use bitvec::prelude::*;

/// Total number of cells from which starting threads pays off.
pub(super) const MIN_CELLS_FOR_THREADS: usize = 10_000;

/// Computes the distance table of each target or [twin](super::Twin).
pub fn distance_tables<T: AsRef<Target> + Sync>(
    targets: &[T],
    scoring: &dyn Scoring,
    settings: &DistanceSettings,
    control: &Control,
) -> Result<Vec<DistanceTable>> {
    let cells = targets.iter().map(AsRef::as_ref);
    let cells = cells.map(|target| target.rows.len() * target.members.len());
    parallel::map_if(targets, cells.sum::<usize>() >= MIN_CELLS_FOR_THREADS, |target| {
        target.as_ref().table(scoring, settings, control)
    })
}

/// Attacks each distance table independently.
pub fn attack(tables: &[DistanceTable], strategy: &Strategy, control: &Control) -> Result<Vec<Eliminations>> {
    let cells = tables.iter().map(|table| table.distances().len());
    let is_worth_threads = cells.sum::<usize>() >= MIN_CELLS_FOR_THREADS;
    parallel::map_if(0..tables.len(), is_worth_threads, |number| {
        // With one seed for all, the random baseline would eliminate the same cells from tables of the same
        // shape.
        let seed = strategy.seed.wrapping_add(number as u64);
        eliminate(&tables[number], &Strategy { seed, ..*strategy }, control)
    })
}

/// Returns the items that each transaction may still contain, ascending, after an attack on all
/// [targets](Target::all). Without `eliminations`, returns the items that each transaction may contain as
/// released.
pub fn remaining_items(
    transactions: &Transactions,
    targets: &[Target],
    eliminations: Option<&[Eliminations]>,
    control: &Control,
) -> Result<Vec<Vec<u32>>> {
    let eliminated = |target: usize| eliminations.map_or(&[][..], |eliminations| &eliminations[target].cells);
    items_without(transactions, targets, control, |target, is_left| {
        let columns = targets[target].members.len();
        for cell in eliminated(target) {
            is_left.set(cell.row as usize * columns + cell.column as usize, false);
        }
    })
}

/// Returns those of the [remaining items](remaining_items) that the attack could judge: items that are not
/// generalised, and members with a reliable distance that were not eliminated.
pub(super) fn judged_items(
    transactions: &Transactions,
    targets: &[Target],
    tables: &[DistanceTable],
    eliminations: &[Eliminations],
    control: &Control,
) -> Result<Vec<Vec<u32>>> {
    items_without(transactions, targets, control, |target, is_left| {
        let table = &tables[target];
        is_left.fill(false);
        for (row, column) in table.reliable() {
            is_left.set(row * table.columns() + column, true);
        }
        for cell in &eliminations[target].cells {
            is_left.set(cell.row as usize * table.columns() + cell.column as usize, false);
        }
    })
}

/// Returns the items of each transaction, ascending: those that are not generalised, and the members of
/// generalised items that are left. `remove` takes the number of a target and clears the cells that are not.
fn items_without(
    transactions: &Transactions,
    targets: &[Target],
    control: &Control,
    remove: impl Fn(usize, &mut BitSlice),
) -> Result<Vec<Vec<u32>>> {
    let items = transactions
        .iter()
        .map(|entries| entries.iter().filter_map(Entry::item));
    let mut left: Vec<Vec<u32>> = items.map(Iterator::collect).collect();
    for (number, target) in targets.iter().enumerate() {
        let columns = target.members.len();
        let cells = target.rows.len().saturating_mul(columns);
        control.require::<u8>(cells.div_ceil(8))?;
        let mut is_left = bitvec![1; cells];
        remove(number, &mut is_left);
        for (row, is_left) in target.rows.iter().zip(is_left.chunks(columns)) {
            control.check()?;
            left[row.transaction as usize].extend(is_left.iter_ones().map(|place| target.members[place]));
        }
    }
    for items in &mut left {
        control.check()?;
        items.sort_unstable();
        items.dedup();
    }
    Ok(left)
}
