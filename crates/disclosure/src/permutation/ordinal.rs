use crate::NULL;

/// A column whose values have an order and differ by amounts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ordinal {
    /// The place of each record's value in the order of the different ones, from 1; [`NULL`] if absent.
    pub places: Vec<u32>,
    /// What the value at each place counts as where differences matter, from place 1 on: the number itself,
    /// the days of a date. It does not fall; what is infinite or no number is at the ends, NaN last.
    pub scale: Vec<f64>,
}

impl Ordinal {
    /// What a record's value counts as.
    pub fn value(&self, record: usize) -> Option<f64> {
        match self.places[record] {
            NULL => None,
            place => Some(self.scale[place as usize - 1]),
        }
    }
}

/// The scale of the places up to `last` if only those of `released` values count, and those between two of them are
/// half-way. Values that were not released have no influence on it, because a reader of the release does not know them.
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
