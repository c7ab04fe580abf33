//! One row against a table that somebody else looks things up in: for a row that is about to enter a table
//! which is too large to read for it.

use super::bitset::Words;
use super::packed_table::{WIDTHS, with_width};
use super::score::{Danger, Limits, Settings};
use super::search::{Kinds, RowSearch, Witnesses, Workspace};
use crate::{Control, Error, Result, Weights};

/// Who looks things up. Attributes of the row are numbered from 0.
pub trait Lookup {
    /// For some rows of the table that have all of `known` but not all of `inferred`, the attributes of our
    /// row that they lack; and whether there may be more such rows. `None` ends the search.
    fn lacking(&mut self, known: &[usize], inferred: &[usize]) -> Option<(Vec<Vec<usize>>, bool)>;
}

/// The score of one row.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RowScore {
    /// The worst inference that was found.
    pub lower: f64,
    /// No inference is worse. Equal to `lower` if the search was finished.
    pub upper: f64,
    /// What has to be known for it.
    pub known: Vec<usize>,
}

/// The score of a row that has attributes with these weights, in the table together with the row itself.
/// Only what is certain counts as inferred, whatever `settings` says.
pub fn score_row(
    attributes: &[Weights],
    settings: &Settings,
    lookup: &mut impl Lookup,
    control: &Control,
) -> Result<RowScore> {
    settings.check()?;
    attributes.iter().try_for_each(Weights::check)?;
    // The search goes as deep as there are attributes, on the stack of a thread that is not ours.
    const MOST_WORDS: usize = 8;
    let needed = attributes.len().div_ceil(64);
    let widths = WIDTHS.into_iter().take_while(|&width| width <= MOST_WORDS);
    let width = widths
        .into_iter()
        .find(|&width| width >= needed)
        .ok_or(Error::TooMany {
            what: "attributes of one row",
            limit: 64 * MOST_WORDS as u64,
        })?;
    Ok(with_width!(width, search(attributes, settings, lookup, control)))
}

fn search<const P: usize>(
    attributes: &[Weights],
    settings: &Settings,
    lookup: &mut impl Lookup,
    control: &Control,
) -> RowScore {
    let mut workspace = Workspace::<P>::default();
    let Kinds {
        all,
        certain,
        free,
        choice,
    } = workspace.weigh(attributes.iter().copied().enumerate());
    let limits = Limits::new(settings, control);
    let mut search = RowSearch {
        workspace: &mut workspace,
        witnesses: LookedUp {
            lookup,
            known: Vec::new(),
        },
        danger: Danger {
            constant: settings.constant,
        },
        limits: &limits,
        all,
        certain,
        weight: 0.0,
        known: None,
        budget: u64::MAX,
        open: 0.0,
        ended: false,
    };
    search.run(free, 1.0, choice);
    RowScore {
        lower: search.weight,
        upper: search.weight.max(search.open),
        known: numbers(&search.known.unwrap_or([0; P])),
    }
}

fn numbers<const P: usize>(set: &[u64; P]) -> Vec<usize> {
    let mut numbers = Vec::new();
    set.for_each(|bit| numbers.push(bit));
    numbers
}

struct LookedUp<'a, L> {
    lookup: &'a mut L,
    known: Vec<usize>,
}

impl<const P: usize, L: Lookup> Witnesses<P> for LookedUp<'_, L> {
    const COMPLETE: bool = false;

    fn begin(&mut self, known: &[u64; P]) {
        self.known = numbers(known);
    }

    fn find(&mut self, inferred: &[u64; P], masks: &mut Vec<[u64; P]>) -> Option<bool> {
        if inferred.is_none() {
            return Some(false);
        }
        let (lacking, more) = self.lookup.lacking(&self.known, &numbers(inferred))?;
        let mask = |bits: &Vec<usize>| {
            bits.iter()
                .fold([0; P], |mask: [u64; P], &bit| mask.or(&Words::single(bit)))
        };
        masks.extend(lacking.iter().map(mask));
        Some(more)
    }
}
