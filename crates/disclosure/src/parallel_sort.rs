use crate::{Control, Result};
use rayon::prelude::*;

/// Number of items that are sorted or merged between two checks for a cancel: some milliseconds of work.
const PIECE: usize = 1 << 17;

/// Sorts on all threads. Pieces are sorted separately and then merged, so that a cancel is noticed soon.
pub fn parallel_sort<T: Ord + Copy + Send + Sync>(items: &mut Vec<T>, control: &Control) -> Result<()> {
    items.par_chunks_mut(PIECE).try_for_each(|piece| {
        piece.sort_unstable();
        control.check()
    })?;
    let mut merged = items.clone();
    let mut run = PIECE;
    while run < items.len() {
        let pairs = items.par_chunks(2 * run).zip(merged.par_chunks_mut(2 * run));
        pairs.try_for_each(|(pair, merged)| {
            let (left, right) = pair.split_at(run.min(pair.len()));
            merge(left, right, merged, control)
        })?;
        std::mem::swap(items, &mut merged);
        run *= 2;
    }
    Ok(())
}

/// Merges two sorted runs into `merged`, which has room for both.
fn merge<'a, T: Ord + Copy>(
    mut left: &'a [T],
    mut right: &'a [T],
    merged: &mut [T],
    control: &Control,
) -> Result<()> {
    for piece in merged.chunks_mut(PIECE) {
        control.check()?;
        for slot in piece {
            let from = match (left.first(), right.first()) {
                (Some(a), Some(b)) if b < a => &mut right,
                (Some(_), _) => &mut left,
                _ => &mut right,
            };
            *slot = from[0];
            *from = &from[1..];
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_any_number_of_pieces() {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7, 5 * PIECE] {
            let scattered = |number: usize| (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            let mut items: Vec<u64> = (0..length).map(scattered).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            parallel_sort(&mut items, &Control::new()).unwrap();
            assert!(items == expected, "{length} items");
        }
    }

    #[test]
    fn notices_a_cancel() {
        let control = Control::new();
        control.cancel();
        assert!(parallel_sort(&mut vec![2, 1], &control).is_err());
    }
}
