use crate::{Control, Error, Result};
use rayon::prelude::*;

/// Order of values that have no order of their own, from the most central to the most marginal value
/// (Domingo-Ferrer, Sánchez and Rufian-Torrell 2013).
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Marginality {
    /// Dense rank of every value in this order. Equally marginal values share it.
    pub dense_ranks: Vec<u32>,
    /// Marginality of the values of each dense rank, starting at 1.
    pub scale: Vec<f64>,
}

/// Relative difference up to which two marginalities count as equal, because rounding explains it.
const ROUNDING: f64 = 1e-12;

/// Orders values by marginality. The marginality of a value is the sum of its distances to the values of all
/// records. `counts` has the number of records of every value, and `distance` returns the distance of two
/// values.
pub fn marginality(
    counts: &[u64],
    distance: impl Fn(usize, usize) -> f64 + Sync,
    control: &Control,
) -> Result<Marginality> {
    if u32::try_from(counts.len()).is_err() {
        return Err(Error::TooMany {
            what: "distinct values",
            limit: u64::from(u32::MAX),
        });
    }
    control.set_total(counts.len() as u64);
    let of_value = |value: usize| {
        control.check()?;
        control.advance(1);
        let mut to_others = counts.iter().enumerate();
        to_others.try_fold(0.0, |sum, (other, &records)| match distance(value, other) {
            distance if distance >= 0.0 && distance.is_finite() => Ok(sum + records as f64 * distance),
            _ => Err(Error::invalid(
                "distance",
                "must be a finite number of 0 or more",
                "a finite distance of 0 or more for every pair of values",
            )),
        })
    };
    let marginality: Vec<f64> = (0..counts.len())
        .into_par_iter()
        .map(of_value)
        .collect::<Result<_>>()?;
    Ok(Marginality::new(&marginality))
}

impl Marginality {
    fn new(marginality: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..marginality.len()).collect();
        order.sort_by(|&one, &other| marginality[one].total_cmp(&marginality[other]));
        let mut found = Marginality {
            dense_ranks: vec![0; marginality.len()],
            scale: Vec::new(),
        };
        for value in order {
            let marginality = marginality[value];
            match found.scale.last() {
                Some(last) if marginality - last <= ROUNDING * marginality => {}
                _ => found.scale.push(marginality),
            }
            found.dense_ranks[value] = found.scale.len() as u32;
        }
        found
    }

    /// Returns the marginality of a value.
    pub fn of_value(&self, value: usize) -> f64 {
        self.scale[self.dense_ranks[value] as usize - 1]
    }
}
