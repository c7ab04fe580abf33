use super::remaining::RemainingCounts;
use super::{DistanceTable, Eliminations};
use crate::{Control, Result};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Eliminates cells at random (Ong 2015, section 5.2). The number of attempts is uniform between 0 and the
/// number of cells. Each attempt draws a reliable cell that is left, and tosses a coin whether to eliminate
/// it.
pub(super) fn eliminate(table: &DistanceTable, seed: u64, control: &Control) -> Result<Eliminations> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut remaining = RemainingCounts::new(table);
    let mut reliable: Vec<(usize, usize)> = table.reliable().collect();
    let mut cells = Vec::new();
    for _ in 0..random.random_range(0..=table.distances().len()) {
        control.check()?;
        if reliable.is_empty() {
            break;
        }
        let drawn = random.random_range(0..reliable.len());
        let (row, column) = reliable[drawn];
        if random.random::<bool>() && remaining.may_be_eliminated(row, column) {
            reliable.swap_remove(drawn);
            cells.push(remaining.eliminate(row, column, None));
        }
    }
    Ok(Eliminations {
        threshold: None,
        cells,
    })
}
