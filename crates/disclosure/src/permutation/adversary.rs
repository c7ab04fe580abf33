use super::{Chance, Linkage, Plausibility, Points, Ties, link, plausibility_of};
use crate::{Control, Result};

/// Two tables in rank space, as an adversary with maximum knowledge has them: the whole original, and the release.
#[derive(Debug, Clone)]
pub struct RankedTables {
    original: Points,
    released: Points,
    is_paired: bool,
}

/// How many records the adversary links correctly.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Hits {
    /// Records whose counterpart is among their matches.
    pub correct: u64,
    /// The expected number of correct links if one of the matches of each record is drawn.
    pub expected_correct: f64,
}

impl RankedTables {
    /// Ranks the records of two tables, given by the places of their values, column by column. There is at least one
    /// column. If they are paired, records with the same number belong together.
    pub fn new(
        original: &[&[u32]],
        released: &[&[u32]],
        is_paired: bool,
        ties: Ties,
        control: &Control,
    ) -> Result<Self> {
        Ok(RankedTables {
            original: Points::of_places(original, ties, control)?,
            released: Points::of_places(released, ties.of_released(), control)?,
            is_paired,
        })
    }

    /// Links every original record with the released ones that are nearest. If the tables are paired, also tells for
    /// every original record whether its counterpart is among them.
    pub fn link(&self, control: &Control) -> Result<(Linkage, Option<Vec<bool>>)> {
        let linkage = link(&self.original, &self.released, control)?;
        let correct = self.is_paired.then(|| {
            let own: Vec<u32> = (0..self.original.len() as u32).collect();
            linkage.correct(&self.original, &self.released, &own)
        });
        Ok((linkage, correct))
    }

    /// Tells whether the links are more than luck and, if the tables are paired, how many are correct. `None` if there
    /// are no records.
    pub fn assess(&self, chance: &Chance, control: &Control) -> Result<Option<(Plausibility, Option<Hits>)>> {
        chance.check()?;
        if self.original.is_empty() {
            return Ok(None);
        }
        let (linkage, correct) = self.link(control)?;
        let hits = correct.map(|correct| linkage.hits(&correct));
        let found = plausibility_of(&linkage, &self.original, &self.released, chance, control)?;
        Ok(Some((found, hits)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables<'a>(places: &'a [&'a [u32]], is_paired: bool) -> RankedTables {
        RankedTables::new(places, places, is_paired, Ties::Shared, &Control::new()).unwrap()
    }

    #[test]
    fn an_unchanged_table_is_linked_correctly() {
        // The first two records are equal, so that a draw among their matches is correct half of the time.
        let (one, other): (&[u32], &[u32]) = (&[1, 1, 2, 3], &[1, 1, 3, 2]);
        let control = Control::new();
        let (linkage, correct) = tables(&[one, other], true).link(&control).unwrap();
        assert_eq!((linkage.matches.len(), correct), (4, Some(vec![true; 4])));
        let assessed = tables(&[one, other], true).assess(&Chance::default(), &control);
        let (_, hits) = assessed.unwrap().unwrap();
        let expected = Hits {
            correct: 4,
            expected_correct: 3.0,
        };
        assert_eq!(hits, Some(expected));
        let assessed = tables(&[one, other], false).assess(&Chance::default(), &control);
        assert_eq!(assessed.unwrap().unwrap().1, None);
    }

    #[test]
    fn settings_are_checked_even_without_records() {
        let chance = Chance {
            draws: 0,
            ..Chance::default()
        };
        let control = Control::new();
        let none = tables(&[&[]], true);
        assert!(none.assess(&chance, &control).is_err());
        assert_eq!(none.assess(&Chance::default(), &control), Ok(None));
    }
}
