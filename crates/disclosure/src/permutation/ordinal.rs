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
