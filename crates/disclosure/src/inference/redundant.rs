//! Columns that tell nothing that another column does not tell, such as a code beside its name.

use super::bitset::Words;
use super::packed_table::Slot;
use super::score::SearchInput;

/// Returns the slots of redundant columns.
///
/// A column *covers* another if each attribute of the other that can be known has a harmless counterpart, at least as
/// likely to be known, which exactly the same rows have. So whatever can be inferred from the other and more, can be
/// inferred from this column and as much more. A column is *redundant* if another column covers it and either is not
/// covered by it or comes first. Columns of sets are left alone.
///
/// If the limits are reached meanwhile, some redundant columns may be missing.
pub(super) fn redundant_slots<const P: usize>(input: &SearchInput<P>) -> [u64; P] {
    let slots = &input.table.slots[..input.table.searchable];
    let slots: Vec<&Slot> = slots.iter().filter(|slot| !slot.of_set).collect();
    let is_redundant = |slot: &Slot| {
        slots.iter().filter(|other| other.bit != slot.bit).any(|other| {
            covers(input, other, slot) && (other.column < slot.column || !covers(input, slot, other))
        })
    };
    let redundant = slots
        .iter()
        .filter(|slot| !input.limits.reached() && is_redundant(slot));
    redundant.fold([0; P], |set: [u64; P], slot| set.or(&Words::single(slot.bit)))
}

/// Number of rows that are looked at between two checks of the limits.
const ROWS_PER_LOOK: usize = 4_096;

/// Returns whether a slot covers another one.
fn covers<const P: usize>(input: &SearchInput<P>, slot: &Slot, other: &Slot) -> bool {
    let mut counterparts: Vec<usize> = vec![0; other.danger.len()];
    // Per slot code, the distinct rows that have it, but nothing that it may be the counterpart of.
    let mut other_rows: Vec<usize> = vec![0; slot.danger.len()];
    for (done, row) in input.rows.iter().enumerate() {
        if done % ROWS_PER_LOOK == ROWS_PER_LOOK - 1 && input.limits.reached() {
            return false;
        }
        let (own, others) = (slot.slot_code(row), other.slot_code(row));
        if other.likelihood[others] == 0.0 {
            other_rows[own] += 1;
            continue;
        }
        let is_counterpart = own > 0
            && slot.danger[own] == 0.0
            && slot.likelihood[own] >= other.likelihood[others]
            && [0, own].contains(&counterparts[others]);
        if !is_counterpart {
            return false;
        }
        counterparts[others] = own;
    }
    let mut counterparts: Vec<usize> = counterparts.into_iter().filter(|&own| own > 0).collect();
    counterparts.sort_unstable();
    let is_of_one = counterparts.windows(2).all(|pair| pair[0] != pair[1]);
    is_of_one && counterparts.iter().all(|&own| other_rows[own] == 0)
}
