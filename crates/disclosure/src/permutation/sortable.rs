use super::mapping::order_of_places;
use super::rank::{FEW, order, places};
use crate::{Control, NULL, Result};

/// A column whose values can be sorted.
#[derive(Debug, Clone, Copy)]
pub enum Sortable<'a> {
    /// Numbers of any kind.
    Numbers {
        /// The bits of every record's value; anything if it is absent.
        bits: &'a [u64],
        /// Makes [sort keys](super::sort_key) of the bits.
        key: fn(u64) -> u64,
        /// The records whose value is absent, ascending.
        absent: &'a [u32],
    },
    /// The place of every record's value, [`NULL`] if it is absent: values that were sorted before.
    Places(&'a [u32]),
}

impl Sortable<'_> {
    /// How many records there are.
    pub fn len(&self) -> usize {
        match self {
            Sortable::Numbers { bits, .. } => bits.len(),
            Sortable::Places(places) => places.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place of every record's value; [`NULL`] if it is absent.
    pub fn places(&self, control: &Control) -> Result<Vec<u32>> {
        match *self {
            Sortable::Numbers { bits, key, absent } => {
                let mut places = places(&keys(bits, key, absent), control)?;
                absent.iter().for_each(|&record| places[record as usize] = NULL);
                Ok(places)
            }
            Sortable::Places(places) => Ok(places.to_vec()),
        }
    }

    /// The records in the order of their values, equal ones in an order that the seed draws, absent ones last.
    pub fn order(&self, seed: u64, control: &Control) -> Result<Vec<u32>> {
        match *self {
            Sortable::Numbers { bits, key, absent } => order(&keys(bits, key, absent), absent, seed, control),
            Sortable::Places(places) => order_of_places(places, seed, control),
        }
    }
}

/// The [orders](Sortable::order) of two columns of the same records, on two threads if there are many.
pub fn orders(columns: [Sortable; 2], seed: u64, control: &Control) -> Result<[Vec<u32>; 2]> {
    let [one, other] = columns;
    let orders = if one.len() <= FEW {
        (one.order(seed, control), other.order(seed, control))
    } else {
        rayon::join(|| one.order(seed, control), || other.order(seed, control))
    };
    Ok([orders.0?, orders.1?])
}

/// Absent values sort last, so that they do not change the places of others.
fn keys(bits: &[u64], key: fn(u64) -> u64, absent: &[u32]) -> Vec<u64> {
    let mut keys: Vec<u64> = bits.iter().map(|&bits| key(bits)).collect();
    absent.iter().for_each(|&record| keys[record as usize] = u64::MAX);
    keys
}

#[cfg(test)]
mod tests {
    use super::super::sort_key::of_integer;
    use super::*;

    #[test]
    fn numbers_and_their_places_have_the_same_order() {
        for records in [0, 1, 100, FEW + 1] {
            let bits: Vec<u64> = (0..records as u64).map(|record| record * 7919 % 1009).collect();
            let absent: Vec<u32> = (0..records as u32).filter(|record| record % 10 == 3).collect();
            let key = |bits: u64| of_integer(-(bits as i64));
            let numbers = Sortable::Numbers {
                bits: &bits,
                key,
                absent: &absent,
            };
            let control = Control::new();
            let places = numbers.places(&control).unwrap();
            assert_eq!(
                places.iter().filter(|&&place| place == NULL).count(),
                absent.len()
            );
            let [of_numbers, of_places] = orders([numbers, Sortable::Places(&places)], 1, &control).unwrap();
            assert!(of_numbers == of_places && of_numbers.len() == records);
        }
    }
}
