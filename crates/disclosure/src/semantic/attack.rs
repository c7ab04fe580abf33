use super::{DistanceTable, Eliminations, Entry, Scoring, Strategy, Target, Transactions, eliminate};
use crate::{Control, Result, parallel};
use bitvec::prelude::*;

/// Total number of cells from which starting threads pays off.
const MIN_CELLS_FOR_THREADS: usize = 10_000;

/// Computes the distance table of each target or [twin](super::Twin).
pub fn distance_tables<T: AsRef<Target> + Sync>(
    targets: &[T],
    scoring: &dyn Scoring,
    control: &Control,
) -> Result<Vec<DistanceTable>> {
    let cells = targets.iter().map(AsRef::as_ref);
    let cells = cells.map(|target| target.rows.len() * target.members.len());
    parallel::map_if(targets, cells.sum::<usize>() >= MIN_CELLS_FOR_THREADS, |target| {
        target.as_ref().table(scoring, control)
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
    let items = transactions
        .iter()
        .map(|entries| entries.iter().filter_map(Entry::item));
    let mut remaining: Vec<Vec<u32>> = items.map(Iterator::collect).collect();
    for (number, target) in targets.iter().enumerate() {
        let columns = target.members.len();
        let cells = target.rows.len().saturating_mul(columns);
        control.require::<u8>(cells.div_ceil(8))?;
        let mut is_remaining = bitvec![1; cells];
        for cell in eliminations.map_or(&[][..], |eliminations| &eliminations[number].cells) {
            is_remaining.set(cell.row as usize * columns + cell.column as usize, false);
        }
        for (row, is_remaining) in target.rows.iter().zip(is_remaining.chunks(columns)) {
            control.check()?;
            remaining[row.transaction as usize]
                .extend(is_remaining.iter_ones().map(|place| target.members[place]));
        }
    }
    for items in &mut remaining {
        control.check()?;
        items.sort_unstable();
        items.dedup();
    }
    Ok(remaining)
}
