//! Figures for a decision: what is not known never makes a table look safer.
//!
//! Two things may be unknown. A *row* may belong to nobody who is known: it may be about another person, or about one of
//! those who are known. And a *value* may be absent: it may be any value. The figures of this file are bounds that hold
//! whatever is behind the unknown, and equal those of [`risk_summary`] and [`diversity`] if nothing is unknown.

use super::diversity::{Diversity, Settings, Values, diversity};
use super::records::{Exposure, Nulls, Records, Roles, UNKNOWN_PERSON};
use super::risk::{HIGH_RISKS, Risk, RiskSummary, SMALL_SIZES, risk_summary};
use super::{By, Classes};
use crate::{Control, NULL, Result};
use std::collections::BTreeMap;

/// Summarises the risk of everybody in a table. A row whose person is not known adds nobody to a class, but all that it
/// may add to the risk: as if its risk were added to that of somebody else.
pub fn cautious_risk_summary(records: &Records, control: &Control) -> Result<RiskSummary> {
    let summary = risk_summary(records, None, Nulls::Value, By::Row, control)?;
    let people = records.rows_of_people();
    if people.is_empty() || people.of(UNKNOWN_PERSON as usize).is_empty() {
        return Ok(summary);
    }
    let sizes = records.sizes(Nulls::Value, control)?;
    let mut exposure = Exposure::default();
    let mut known = 0_u64;
    for (person, classes) in people.iter().enumerate() {
        let of_person = classes.iter().map(|&(class, rows)| (sizes[class as usize], rows));
        if person == UNKNOWN_PERSON as usize {
            of_person.for_each(|(size, rows)| exposure.add(size, rows));
        } else if let Some((size, _)) = of_person.min() {
            exposure.add(size, 1);
            known += 1;
        }
    }
    let known = known.max(1);
    let highest = exposure.smallest().map_or(0.0, |size| 1.0 / size as f64);
    let share = |size: u64| (exposure.below(size) as f64 / known as f64).min(1.0);
    let expected: f64 = exposure
        .iter()
        .map(|(size, units)| units as f64 / size as f64)
        .sum();
    let prosecutor = Risk {
        highest,
        average: (expected / known as f64).min(highest),
        above: HIGH_RISKS.map(share),
    };
    Ok(RiskSummary {
        people: Some(known),
        uniques: exposure.below(2),
        share_below: Some(SMALL_SIZES.map(share)),
        prosecutor: Some(prosecutor),
        marketer: Some(prosecutor.average),
        ..summary
    })
}

/// Returns the worst figures of a sensitive column, by its position among those; `None` if there are no rows.
///
/// Every absent value counts as the most frequent value of its class, so that it neither adds a value nor makes one
/// rarer, unless `nulls_are_values`. Figures that compare a class with the whole table then have the worst value that
/// they can have, and so have all but `l_distinct` if the person of a row is not known. If people are counted, `alpha`
/// is the largest share of the people in a class who have the same value.
pub fn cautious_diversity(
    records: &Records,
    column: usize,
    values: &Values,
    nulls_are_values: bool,
    control: &Control,
) -> Result<Option<Diversity>> {
    let cells = Cells::of(records, column, nulls_are_values);
    let (completed, values) = cells.completed(values)?;
    let Some(mut figures) = diversity(&completed, 0, &values, &Settings::default(), control)? else {
        return Ok(None);
    };
    if records.counts_people() {
        figures.alpha = share_of_people(records, column, nulls_are_values);
    }
    let people = records.rows_of_people();
    if !people.is_empty() && !people.of(UNKNOWN_PERSON as usize).is_empty() {
        (figures.l_entropy, figures.l_recursive, figures.alpha) = (1.0, 1, 1.0);
        return Ok(Some(with_worst_distances(figures)));
    }
    Ok(Some(match cells.has_unknown {
        true => with_worst_distances(figures),
        false => figures,
    }))
}

/// Returns figures in which those that compare a class with the whole table have their worst value.
fn with_worst_distances(figures: Diversity) -> Diversity {
    Diversity {
        t_equal: 1.0,
        t_ordered: figures.t_ordered.map(|_| 1.0),
        t_hierarchical: figures.t_hierarchical.map(|_| 1.0),
        beta: f64::INFINITY,
        beta_enhanced: f64::INFINITY,
        delta: f64::INFINITY,
        ..figures
    }
}

/// Values of a sensitive column by class: how many rows or people have each.
struct Cells {
    /// Known values of each class.
    known: Vec<Vec<(u32, u64)>>,
    /// Number of rows in each class whose value is not known.
    unknown: Vec<u64>,
    has_unknown: bool,
}

impl Cells {
    fn of(records: &Records, column: usize, nulls_are_values: bool) -> Self {
        let is_known = |code: u32| nulls_are_values || code != NULL;
        let known = records.values(column);
        let known: Vec<Vec<(u32, u64)>> = known
            .iter()
            .map(|cells| {
                cells
                    .iter()
                    .copied()
                    .filter(|&(code, _)| is_known(code))
                    .collect()
            })
            .collect();
        let mut unknown = vec![0; known.len()];
        for (class, code, rows) in records.rows_of_values(column) {
            if !is_known(code) {
                unknown[class as usize] += rows;
            }
        }
        Cells {
            has_unknown: unknown.iter().any(|&rows| rows > 0),
            known,
            unknown,
        }
    }

    /// Returns rows in which every unknown value is the most frequent value of its class. Values have new codes, in the
    /// order of their ranks if they have any, and these are returned, too.
    fn completed(&self, values: &Values) -> Result<(Records, Values)> {
        let rank = |code: u32| values.ranks.as_ref().map_or(code, |ranks| ranks[code as usize]);
        let mut codes: Vec<u32> = self
            .known
            .iter()
            .flatten()
            .map(|&(code, _)| code)
            .filter(|&code| code != NULL)
            .collect();
        codes.sort_unstable_by_key(|&code| (rank(code), code));
        codes.dedup();
        let new_code: BTreeMap<u32, u32> = codes.iter().zip(1..).map(|(&code, new)| (code, new)).collect();
        let new_code = |code: u32| new_code.get(&code).copied().unwrap_or(NULL);
        let mut rows = Classes::new(2);
        for (class, (known, &unknown)) in self.known.iter().zip(&self.unknown).enumerate() {
            let class = class as u32;
            for &(code, count) in known {
                rows.insert(&[class, new_code(code)], count)?;
            }
            if unknown > 0 {
                // A class without any known value has one value, whichever that is.
                let most_frequent = known.iter().max_by_key(|(_, count)| *count);
                rows.insert(
                    &[class, most_frequent.map_or(1, |&(code, _)| new_code(code))],
                    unknown,
                )?;
            }
        }
        let roles = Roles {
            quasi: vec![0],
            sensitive: vec![1],
            ..Roles::default()
        };
        let is_ranked = values.ranks.is_some();
        let ranks = is_ranked.then(|| (0..=codes.len().max(1) as u32).collect());
        let values = Values {
            ranks,
            hierarchy: None,
        };
        Ok((Records::of_classes(&rows, roles)?, values))
    }
}

/// Returns the largest share of the people in a class who have, or may have, the same value.
fn share_of_people(records: &Records, column: usize, nulls_are_values: bool) -> f64 {
    let mut may_have: Vec<BTreeMap<u32, u64>> = vec![BTreeMap::new(); records.classes().len()];
    let mut people = vec![0_u64; may_have.len()];
    // People of whom a value is not known may have any.
    let mut may_have_any = people.clone();
    for (&(class, _), values) in records
        .members()
        .keys()
        .iter()
        .zip(records.values_of_members(column).iter())
    {
        let class = class as usize;
        people[class] += 1;
        match !nulls_are_values && values.iter().any(|&(code, _)| code == NULL) {
            true => may_have_any[class] += 1,
            false => {
                for &(code, _) in values {
                    *may_have[class].entry(code).or_insert(0) += 1;
                }
            }
        }
    }
    let shares = may_have
        .iter()
        .zip(&may_have_any)
        .zip(&people)
        .map(|((may_have, any), people)| {
            let most = may_have.values().max().copied().unwrap_or(0);
            (most + any) as f64 / *people as f64
        });
    shares.fold(0.0, f64::max)
}
