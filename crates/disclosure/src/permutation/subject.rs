//! Verification of permuted privacy by the subject of a record (section 4 of the paper). They need only their
//! own record and the released table.

use super::{ClosestValues, ReleasedTable};
use crate::{Error, Result};

/// Privacy that the subject of a record asks for: (d, **v**)-permuted privacy.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Demand {
    /// Permutation distance; `None` for the largest one that holds.
    pub d: Option<i64>,
    /// Variance that must be exceeded in each column; an element is `None` if its column does not matter.
    pub v: Option<Vec<Option<f64>>>,
}

/// Result of verifying a [`Demand`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Verification {
    /// Largest permutation distance that holds.
    pub largest_d: u64,
    /// Released values closest to those of the record, column by column.
    pub closest: Vec<ClosestValues>,
    /// Variance of the values around the closest ones in each column, up to the distance that was asked for,
    /// or else up to the largest one that holds.
    pub variances: Vec<Option<f64>>,
    /// Whether the distance that was asked for holds; `None` if none was asked for.
    pub d_met: Option<bool>,
    /// Whether each variance is exceeded; an element is `None` if its column does not matter or its variance
    /// is unknown.
    pub v_met: Option<Vec<Option<bool>>>,
    /// Whether the whole demand holds; `None` if nothing was asked for, or if it depends on an unknown
    /// variance.
    pub is_met: Option<bool>,
}

impl Demand {
    /// Checks the bounds of `d` and `v` for a table with this number of columns.
    pub fn check(&self, columns: usize) -> Result<()> {
        if self.d.is_some_and(|d| d < 0) {
            return Err(Error::invalid(
                "d",
                "must not be negative",
                "a number of ranks, or NULL to find the largest distance that holds",
            ));
        }
        let invalid = |problem: String| {
            Error::invalid(
                "v",
                problem,
                "one variance of 0 or more per column, NULL for columns that do not matter",
            )
        };
        match &self.v {
            Some(v) if v.len() != columns => Err(invalid(format!(
                "has {} elements, but the number of columns is {columns}",
                v.len()
            ))),
            Some(v) if !v.iter().flatten().all(|&variance| variance >= 0.0) => {
                Err(invalid("every element must be 0 or more".into()))
            }
            _ => Ok(()),
        }
    }
}

impl ReleasedTable {
    /// Verifies the demand of the subject of a record, which is given by the numbers that its values count
    /// as. Returns `None` if no record was released.
    pub fn verify(&self, record: &[Option<f64>], demand: &Demand) -> Result<Option<Verification>> {
        demand.check(record.len())?;
        let Some((found, closest)) = self.privacy_of(record).zip(self.closest(record)) else {
            return Ok(None);
        };
        let d = demand.d.map(i64::unsigned_abs);
        let variances = match d {
            Some(d) => self.variances(record, d),
            None => found.variances,
        };
        let d_met = d.map(|d| d <= found.d);
        let v_met = demand.v.as_ref().map(|v| {
            let exceeds = |(asked, variance): (&Option<f64>, &Option<f64>)| Some((*variance)? > (*asked)?);
            v.iter().zip(&variances).map(exceeds).collect::<Vec<_>>()
        });
        let asked = demand.v.iter().flatten().zip(v_met.iter().flatten());
        let of_v = asked
            .filter(|(asked, _)| asked.is_some())
            .map(|(_, &holds)| holds);
        Ok(Some(Verification {
            largest_d: found.d,
            is_met: all_three_valued(d_met.map(Some).into_iter().chain(of_v)),
            closest,
            variances,
            d_met,
            v_met,
        }))
    }
}

/// Returns whether all hold, in three-valued logic; `None` also if there are none.
fn all_three_valued(holds: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let and = |one: Option<bool>, other: Option<bool>| match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    };
    holds.reduce(and).flatten()
}

#[cfg(test)]
mod tests {
    use super::super::{RankedColumn, Ties};
    use super::*;
    use crate::Control;

    /// Returns a released table with one column: 10, 20, 30, 40 and 50.
    fn released_table() -> ReleasedTable {
        let column = RankedColumn {
            dense_ranks: vec![1, 2, 3, 4, 5],
            scale: vec![10.0, 20.0, 30.0, 40.0, 50.0],
        };
        ReleasedTable::new(&[column], Ties::Shared, &Control::new()).unwrap()
    }

    fn verified(d: Option<i64>, v: Option<Vec<Option<f64>>>) -> Verification {
        let verified = released_table().verify(&[Some(31.0)], &Demand { d, v });
        verified.unwrap().unwrap()
    }

    #[test]
    fn demands_are_verified() {
        let nothing = verified(None, None);
        assert_eq!((nothing.largest_d, nothing.variances), (0, vec![Some(0.0)]));
        assert_eq!(nothing.closest, [ClosestValues { first: 3, last: 3 }]);
        assert_eq!((nothing.d_met, nothing.v_met, nothing.is_met), (None, None, None));
        // The values within one rank are 20, 30 and 40.
        let near = verified(Some(1), Some(vec![Some(66.0)]));
        assert!((near.variances[0].unwrap() - 200.0 / 3.0).abs() < 1e-9);
        assert_eq!((near.d_met, near.is_met), (Some(false), Some(false)));
        assert_eq!(near.v_met, Some(vec![Some(true)]));
        assert_eq!(verified(Some(0), Some(vec![None])).is_met, Some(true));
        assert_eq!(verified(None, Some(vec![None])).is_met, None);
    }

    #[test]
    fn unknown_unless_something_fails() {
        assert_eq!(all_three_valued([Some(true), None].into_iter()), None);
        assert_eq!(all_three_valued([None, Some(false)].into_iter()), Some(false));
        assert_eq!(all_three_valued([Some(true), Some(true)].into_iter()), Some(true));
        assert_eq!(all_three_valued([].into_iter()), None);
    }

    #[test]
    fn demands_are_checked() {
        let argument = |d, v| match released_table().verify(&[Some(1.0)], &Demand { d, v }) {
            Err(Error::InvalidArgument { argument, .. }) => argument,
            _ => "",
        };
        assert_eq!(argument(Some(-1), None), "d");
        assert_eq!(argument(None, Some(vec![])), "v");
        assert_eq!(argument(None, Some(vec![Some(-1.0)])), "v");
        assert_eq!(argument(None, Some(vec![Some(f64::NAN)])), "v");
        assert_eq!(argument(Some(0), Some(vec![Some(0.0)])), "");
    }
}
