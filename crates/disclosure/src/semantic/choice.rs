//! Choice of the settings that a caller leaves open, without the truth about the release: the candidate that
//! does best against [twins](Twin), whose truth is known.
//!
//! An attack eliminates cells in an order that does not depend on its threshold, which only decides where it
//! ends. So one attack, with the least threshold, gives the eliminations for all of them.

use super::attack::MIN_CELLS_FOR_THREADS;
use super::settings::LEAST_RATIO;
use super::target::PairDistances;
use super::{
    AttackSettings, DistanceSettings, Eliminations, OpenSettings, Quality, Scoring, Threshold, Twin,
    eliminate,
};
use crate::{Control, Result, parallel};

/// Candidates for the settings of an attack, and the one that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Settings, and the quality of the attack on twins with them.
    pub candidates: Vec<(AttackSettings, Quality)>,
    /// Place of the candidate with the greatest F score; of equal ones, the first.
    pub chosen: usize,
    /// Number of twins that were attacked.
    pub twins: usize,
}

/// Number of twins that may be attacked with each candidate.
const MAX_TWINS: usize = 200;

/// Maximum number of cells of these twins together. The last twin may exceed it.
const MAX_CELLS: usize = 10_000;

/// Minimum numbers of cover and of original cells to choose by.
const MIN_CELLS_OF_EACH: u64 = 50;

impl Choice {
    /// Returns how many twins have to be drawn for a choice.
    pub(super) fn twins_needed() -> usize {
        MAX_TWINS
    }

    /// Returns the first twins, with as many cells as a choice uses.
    pub(super) fn twins(twins: &[Twin]) -> &[Twin] {
        let mut cells = 0;
        let is_enough = twins.iter().take(MAX_TWINS).position(|twin| {
            cells += twin.is_original.len();
            cells >= MAX_CELLS
        });
        &twins[..is_enough.map_or(twins.len().min(MAX_TWINS), |last| last + 1)]
    }

    /// Returns whether twins have enough cells to choose by.
    pub(super) fn is_possible(twins: &[Twin]) -> bool {
        let Quality { cells, cover, .. } = Self::twins(twins).iter().map(|twin| twin.quality(&[])).sum();
        cover.min(cells - cover) >= MIN_CELLS_OF_EACH
    }

    /// Attacks twins with all candidates. Returns `None` if nothing is open, or if the twins have too few
    /// cells to choose by.
    pub fn make(
        open: &OpenSettings,
        twins: &[Twin],
        scoring: &dyn Scoring,
        control: &Control,
    ) -> Result<Option<Self>> {
        open.check()?;
        let twins = Self::twins(twins);
        if !open.has_choice() || !Self::is_possible(twins) {
            return Ok(None);
        }
        let cells: usize = twins.iter().map(|twin| twin.is_original.len()).sum();
        let candidates = candidates(open, scoring);
        let is_worth_threads = cells.saturating_mul(candidates.len()) >= MIN_CELLS_FOR_THREADS;
        let of_twins = parallel::map_if(twins, is_worth_threads, |twin| {
            qualities(open, twin, scoring, control)
        })?;
        let quality = |place: usize| of_twins.iter().map(|of_twin| of_twin[place]).sum();
        let candidates = candidates.into_iter().enumerate();
        let candidates: Vec<_> = candidates
            .map(|(place, candidate)| (candidate, quality(place)))
            .collect();
        let f_score = |place: usize| Quality::f_score(&candidates[place].1).unwrap_or(0.0);
        let better = |best: usize, next: usize| if f_score(next) > f_score(best) { next } else { best };
        Ok(Some(Choice {
            chosen: (0..candidates.len()).fold(0, better),
            candidates,
            twins: twins.len(),
        }))
    }

    /// Returns the chosen settings.
    pub fn settings(&self) -> AttackSettings {
        self.candidates[self.chosen].0
    }
}

/// Returns all ways to measure distances, those with the same `unseen` next to each other.
fn measures(open: &OpenSettings, unseen: Option<f64>) -> Vec<DistanceSettings> {
    let (contexts, combinations) = (open.contexts(), open.combinations());
    let of_context = |&context: &usize| {
        let settings = combinations.iter().map(move |&combination| DistanceSettings {
            context,
            combination,
            unseen,
        });
        settings.collect::<Vec<_>>()
    };
    contexts.iter().flat_map(of_context).collect()
}

/// Returns all settings to choose from. The defaults come first.
fn candidates(open: &OpenSettings, scoring: &dyn Scoring) -> Vec<AttackSettings> {
    let unseen = open.unseen(scoring).into_iter();
    let measures = unseen.flat_map(|unseen| measures(open, unseen));
    let of_measure = |distances: DistanceSettings| {
        let thresholds = open.thresholds().into_iter();
        thresholds.map(move |threshold| AttackSettings {
            distances,
            strategy: open.strategy(threshold),
        })
    };
    measures.flat_map(of_measure).collect()
}

/// Returns the quality of the attack on a twin with each candidate, in their order.
fn qualities(
    open: &OpenSettings,
    twin: &Twin,
    scoring: &dyn Scoring,
    control: &Control,
) -> Result<Vec<Quality>> {
    let thresholds = open.thresholds();
    let least = match thresholds[..] {
        [only] => only,
        _ => Threshold::Mean(LEAST_RATIO),
    };
    let strategy = open.strategy(least);
    let mut qualities = Vec::new();
    for unseen in open.unseen(scoring) {
        let assuming = unseen.and_then(|unseen| scoring.with_unseen(unseen));
        let scoring = assuming.as_deref().unwrap_or(scoring);
        let distances = PairDistances::new(&twin.target, scoring, control)?;
        for measure in measures(open, unseen) {
            let table = distances.table(&twin.target, measure.context, measure.combination, control)?;
            let eliminations = eliminate(&table, &strategy, control)?;
            qualities.extend(thresholds.iter().map(|&threshold| {
                let count = match threshold {
                    Threshold::Mean(ratio) if thresholds.len() > 1 => {
                        eliminations_above(&eliminations, ratio)
                    }
                    _ => eliminations.cells.len(),
                };
                twin.quality(&eliminations.cells[..count])
            }));
        }
    }
    Ok(qualities)
}

/// Returns how many of the eliminations with [`LEAST_RATIO`] an attack with a higher ratio makes: all before
/// the first whose score does not exceed its threshold.
fn eliminations_above(eliminations: &Eliminations, ratio: f64) -> usize {
    let cells = &eliminations.cells;
    let Some(least) = eliminations.threshold else {
        return cells.len();
    };
    let threshold = ratio * (least / LEAST_RATIO);
    let is_above = |score: Option<f64>| score.is_some_and(|score| score > threshold);
    let end = cells.iter().position(|cell| !is_above(cell.score));
    end.unwrap_or(cells.len())
}
