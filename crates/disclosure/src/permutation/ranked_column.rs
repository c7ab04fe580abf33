use crate::NULL;

/// Column whose values have an order and differ by amounts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RankedColumn {
    /// Dense rank of each record's value; [`NULL`] if absent.
    pub dense_ranks: Vec<u32>,
    /// Number that the value of each dense rank, starting at 1, counts as if differences matter: the number
    /// itself, or the days of a date. The numbers never decrease. Infinite ones are at the ends, and NaN is
    /// last.
    pub scale: Vec<f64>,
}

impl RankedColumn {
    /// Returns the number that a record's value counts as; `None` if the value is absent.
    pub fn value(&self, record: usize) -> Option<f64> {
        match self.dense_ranks[record] {
            NULL => None,
            dense_rank => Some(self.scale[dense_rank as usize - 1]),
        }
    }
}

/// Returns a scale for the dense ranks up to `last`. The released values, given by their dense ranks, count
/// from 1, and values between two of them are half-way. Values that were not released have no influence on
/// the scale, because a reader of the released table does not know them.
pub fn scale_of_released(mut released: Vec<u32>, last: usize) -> Vec<f64> {
    released.sort_unstable();
    released.dedup();
    let scale = |dense_rank: u32| match released.binary_search(&dense_rank) {
        Ok(before) => before as f64 + 1.0,
        Err(before) => before as f64 + 0.5,
    };
    (1..=last as u32).map(scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_were_not_released_are_half_way() {
        assert_eq!(scale_of_released(vec![4, 2, 4], 5), [0.5, 1.0, 1.5, 2.0, 2.5]);
        assert!(scale_of_released(vec![], 0).is_empty());
    }
}
