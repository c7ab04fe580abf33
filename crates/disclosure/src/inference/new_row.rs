//! Score of a single row that is about to enter a table, if the table is too large to be read for it.
//!
//! The row is searched by branch and bound, as in `search`. The caller looks up other rows of the table
//! whenever the search needs one to show that something is not inferred.

use super::bitset::Words;
use super::packed_table::{WIDTHS, with_width};
use super::score::{DangerFunction, Limits, Settings};
use super::search::{AttributeKinds, MaskSource, RowSearch, Workspace};
use crate::{Control, Error, Result, Weights};

/// Access to the rows of the table. The attributes of the new row are numbered from 0.
pub trait Lookup {
    /// Looks for rows of the table that have all of `known` but not all of `inferred`. Returns the attributes
    /// of the new row that they lack, for some of these rows, and whether there may be more such rows.
    /// Returns `None` to end the search.
    fn missing_attributes(&mut self, known: &[usize], inferred: &[usize]) -> Option<(Vec<Vec<usize>>, bool)>;
}

/// Score of one row.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RowScore {
    /// Weight of the worst inference that was found.
    pub lower: f64,
    /// Upper bound on the weight of every inference. Equal to `lower` if the search was finished.
    pub upper: f64,
    /// Known attributes of the worst inference that was found.
    pub known: Vec<usize>,
}

/// Returns the score of a row whose attributes have these weights, in the table with the row added. Only
/// certain inferences count, whatever `settings` says.
pub fn score_row(
    attributes: &[Weights],
    settings: &Settings,
    lookup: &mut impl Lookup,
    control: &Control,
) -> Result<RowScore> {
    settings.check()?;
    attributes.iter().try_for_each(Weights::check)?;
    // The number of attributes is limited, because the search recurses once per attribute on the stack of a
    // thread that is not ours.
    const MAX_WORDS: usize = 8;
    let needed = attributes.len().div_ceil(64);
    let widths = WIDTHS.into_iter().take_while(|&width| width <= MAX_WORDS);
    let width = widths
        .into_iter()
        .find(|&width| width >= needed)
        .ok_or(Error::TooMany {
            what: "attributes of one row",
            limit: 64 * MAX_WORDS as u64,
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
    let AttributeKinds {
        all,
        certain,
        costless,
        choice,
    } = workspace.load_weights(attributes.iter().copied().enumerate());
    let limits = Limits::new(settings, control);
    let mut search = RowSearch {
        workspace: &mut workspace,
        mask_source: LookupMasks {
            lookup,
            known: Vec::new(),
        },
        danger_function: DangerFunction {
            constant: settings.constant,
        },
        limits: &limits,
        all,
        certain,
        weight: 0.0,
        known: None,
        sets_left: u64::MAX,
        bound_on_rest: 0.0,
        stopped_early: false,
    };
    search.run(costless, 1.0, choice);
    RowScore {
        lower: search.weight,
        upper: search.weight.max(search.bound_on_rest),
        known: bits_of(&search.known.unwrap_or([0; P])),
    }
}

fn bits_of<const P: usize>(set: &[u64; P]) -> Vec<usize> {
    let mut bits = Vec::new();
    set.for_each(|bit| bits.push(bit));
    bits
}

struct LookupMasks<'a, L> {
    lookup: &'a mut L,
    known: Vec<usize>,
}

impl<const P: usize, L: Lookup> MaskSource<P> for LookupMasks<'_, L> {
    const COMPLETE: bool = false;

    fn begin(&mut self, known: &[u64; P]) {
        self.known = bits_of(known);
    }

    fn find(&mut self, inferred: &[u64; P], masks: &mut Vec<[u64; P]>) -> Option<bool> {
        if inferred.is_none() {
            return Some(false);
        }
        let (lacking, more) = self.lookup.missing_attributes(&self.known, &bits_of(inferred))?;
        let mask = |bits: &Vec<usize>| {
            bits.iter()
                .fold([0; P], |mask: [u64; P], &bit| mask.or(&Words::single(bit)))
        };
        masks.extend(lacking.iter().map(mask));
        Some(more)
    }
}
