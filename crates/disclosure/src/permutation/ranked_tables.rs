//! Record linkage by an adversary with maximum knowledge (section 5 of the paper). They have the whole
//! original table and the whole released table, but do not know which records belong together. They
//! [link](super::link) the nearest records and compare the links [with
//! chance](super::plausibility_of_linkage).

use super::{ChanceSettings, Linkage, Plausibility, Points, Ties, link, plausibility_of_linkage};
use crate::{Control, Result};

/// Original and released table in rank space, both known to the adversary.
#[derive(Debug, Clone)]
pub struct RankedTables {
    original: Points,
    released: Points,
    is_paired: bool,
    holdout: Option<Points>,
}

/// Number of records that the adversary links correctly.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CorrectLinks {
    /// Number of records whose counterpart is among their matches.
    pub correct: u64,
    /// Expected number of correct links if the adversary draws one of the matches of each record.
    pub expected_correct: f64,
    /// Upper bound of the probability that at least as many are expected if the links are random. Then one
    /// correct link is expected in a table of any size.
    pub p_value: f64,
}

/// What an adversary's links are worth.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Assessment {
    /// Comparison of the links with chance.
    pub plausibility: Plausibility,
    /// Number of correct links, if it is known which records belong together.
    pub links: Option<CorrectLinks>,
    /// Whether few enough links are correct; `None` if it is not known: see [`Plausibility::is_safe`].
    pub is_safe: Option<bool>,
}

impl RankedTables {
    /// Ranks the records of two tables. A table is given by the dense ranks of its values, column by column,
    /// and has at least one column. If the tables are paired, records with the same number belong together.
    pub fn new(
        original: &[&[u32]],
        released: &[&[u32]],
        is_paired: bool,
        ties: Ties,
        control: &Control,
    ) -> Result<Self> {
        Ok(RankedTables {
            original: Points::from_dense_ranks(original, ties, control)?,
            released: Points::from_dense_ranks(released, ties.of_released(), control)?,
            is_paired,
            holdout: None,
        })
    }

    /// Adds a hold-out with which the original records are compared instead of random records: see
    /// [`holdout_points`](super::holdout_points).
    pub fn with_holdout(self, holdout: Points) -> Self {
        RankedTables {
            holdout: Some(holdout),
            ..self
        }
    }

    /// Links every original record with the nearest released records. If the tables are paired, also returns
    /// for every original record whether its counterpart is among them.
    pub fn link(&self, control: &Control) -> Result<(Linkage, Option<Vec<bool>>)> {
        let linkage = link(&self.original, &self.released, control)?;
        let correct = self.is_paired.then(|| {
            let counterparts: Vec<u32> = (0..self.original.len() as u32).collect();
            linkage.correct(&self.original, &self.released, &counterparts)
        });
        Ok((linkage, correct))
    }

    /// Compares the links with chance and, if the tables are paired, counts the correct ones. Returns `None`
    /// if there are no original records.
    pub fn assess(&self, chance: &ChanceSettings, control: &Control) -> Result<Option<Assessment>> {
        chance.check()?;
        if self.original.is_empty() {
            return Ok(None);
        }
        let (linkage, correct) = self.link(control)?;
        let links = correct.map(|correct| linkage.count_correct(&correct));
        let tables = [&self.original, &self.released];
        let found = plausibility_of_linkage(&linkage, tables, self.holdout.as_ref(), chance, control)?;
        Ok(Some(Assessment {
            plausibility: found,
            links,
            is_safe: found.is_safe(links.as_ref(), chance.at_most),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables<'a>(dense_ranks: &'a [&'a [u32]], is_paired: bool) -> RankedTables {
        RankedTables::new(dense_ranks, dense_ranks, is_paired, Ties::Shared, &Control::new()).unwrap()
    }

    #[test]
    fn an_unchanged_table_is_linked_correctly() {
        // The first two records are equal, so that a draw among their matches is correct half of the time.
        let (one, other): (&[u32], &[u32]) = (&[1, 1, 2, 3], &[1, 1, 3, 2]);
        let control = Control::new();
        let (linkage, correct) = tables(&[one, other], true).link(&control).unwrap();
        assert_eq!((linkage.matches.len(), correct), (4, Some(vec![true; 4])));
        let assessed = tables(&[one, other], true).assess(&ChanceSettings::default(), &control);
        let links = assessed.unwrap().unwrap().links;
        let expected = CorrectLinks {
            correct: 4,
            expected_correct: 3.0,
            p_value: 1.0 / 6.0,
        };
        assert_eq!(links, Some(expected));
        let assessed = tables(&[one, other], false).assess(&ChanceSettings::default(), &control);
        assert_eq!(assessed.unwrap().unwrap().links, None);
    }

    #[test]
    fn settings_are_checked_even_without_records() {
        let chance = ChanceSettings {
            draws: 0,
            ..ChanceSettings::default()
        };
        let control = Control::new();
        let none = tables(&[&[]], true);
        assert!(none.assess(&chance, &control).is_err());
        assert_eq!(none.assess(&ChanceSettings::default(), &control), Ok(None));
    }
}
