use super::rank::{cumulative_counts, sort_by_dense_ranks};
use crate::{Control, Result};

/// Returns the numbers of all records in an order that depends only on their values: sorted by the dense
/// ranks of the first column, then of the second, and so on, absent values last. Records that are equal in
/// every column keep their order; they cannot be told apart.
pub fn canonical_order(columns: &[&[u32]], control: &Control) -> Result<Vec<u32>> {
    let records = columns.first().map_or(0, |column| column.len());
    let mut order: Vec<u32> = (0..records as u32).collect();
    // Stable sorts by one column at a time, the last column first, amount to a sort by all columns.
    for dense_ranks in columns.iter().rev() {
        order = sort_by_dense_ranks(
            &order,
            dense_ranks,
            cumulative_counts(dense_ranks, control)?,
            control,
        )?;
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NULL;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

        #[test]
        fn as_a_sort_by_all_columns(records in prop::collection::vec((0u32..4, 0u32..3, 0u32..9), 0..60)) {
            let columns = [
                records.iter().map(|record| record.0).collect::<Vec<_>>(),
                records.iter().map(|record| record.1).collect(),
                records.iter().map(|record| record.2).collect(),
            ];
            let absent_last = |dense_rank: u32| if dense_rank == NULL { u32::MAX } else { dense_rank };
            let mut expected: Vec<u32> = (0..records.len() as u32).collect();
            expected.sort_by_key(|&record| {
                columns.each_ref().map(|column| absent_last(column[record as usize]))
            });
            let columns = columns.each_ref().map(Vec::as_slice);
            prop_assert_eq!(canonical_order(&columns, &Control::new()).unwrap(), expected);
        }
    }
}
