use crate::NULL;

/// Column whose values have an order and differ by amounts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ordinal {
    /// Place of each record's value among the distinct values, from 1; [`NULL`] if absent.
    pub places: Vec<u32>,
    /// Number that the value at each place counts as if differences matter, from place 1 on: the number
    /// itself, or the days of a date. The numbers never decrease. Infinite ones are at the ends, and NaN is
    /// last.
    pub scale: Vec<f64>,
}

impl Ordinal {
    /// Returns the number that a record's value counts as; `None` if the value is absent.
    pub fn value(&self, record: usize) -> Option<f64> {
        match self.places[record] {
            NULL => None,
            place => Some(self.scale[place as usize - 1]),
        }
    }
}

/// Returns a scale for the places up to `last`. The places of `released` values count from 1, and places
/// between two of them are half-way. Values that were not released have no influence on the scale, because a
/// reader of the released table does not know them.
pub fn scale_of_released(mut released: Vec<u32>, last: usize) -> Vec<f64> {
    released.sort_unstable();
    released.dedup();
    let scale = |place: u32| match released.binary_search(&place) {
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
