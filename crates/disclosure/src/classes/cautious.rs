//! Figures for a decision: what is not known never makes a table look safer.
//!
//! Two things may be unknown. A *row* may belong to nobody who is known: it may be about another person, or about one of
//! those who are known. And a *value* may be absent: it may be any value. The figures of this file are bounds that hold
//! whatever is behind the unknown, and equal those of [`risk_summary`] and [`diversity`](super::diversity) if nothing is unknown.

use super::diversity::{CHUNK, Diversity, Settings, Values, WholeTable};
use super::pairs::Grouped;
use super::records::{Cells, Exposure, Nulls, Records, Roles, UNKNOWN_PERSON, count_people};
use super::risk::{HIGH_RISKS, Risk, RiskSummary, SMALL_SIZES, risk_summary};
use super::{By, Classes};
use crate::{Control, NULL, Result};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Summarises the risk of everybody in a table. A row whose person is not known adds nobody to a class, but all that it
/// may add to the risk: as if its risk were added to that of somebody else.
pub fn cautious_risk_summary(records: &Records, control: &Control) -> Result<RiskSummary> {
    let summary = risk_summary(records, None, Nulls::Value, By::Row, control)?;
    let members = records.members(control)?;
    if !has_unknown_people(&members) {
        return Ok(summary);
    }
    let sizes = records.sizes(Nulls::Value, control)?;
    let mut exposure = Exposure::default();
    let mut smallest: BTreeMap<u32, u64> = BTreeMap::new();
    for (members, &size) in members.iter().zip(&sizes) {
        for &(person, rows) in members {
            match person {
                UNKNOWN_PERSON => exposure.add(size, rows),
                _ => {
                    let smallest = smallest.entry(person).or_insert(size);
                    *smallest = size.min(*smallest);
                }
            }
        }
    }
    smallest.values().for_each(|&size| exposure.add(size, 1));
    let known = smallest.len().max(1) as u64;
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

/// Risks of everybody in a table, given the risk of each class. A person is at the highest risk of their rows.
#[derive(Debug, Clone, PartialEq)]
pub struct RisksOfPeople {
    /// Risks, and how many people or rows have each. So has each row whose person is not known.
    risks: Vec<(f64, u64)>,
    /// Number of people who are known, or of rows; at least 1.
    number: u64,
}

impl RisksOfPeople {
    /// Returns the risks of everybody; `None` if there are no rows.
    pub fn new(records: &Records, of_classes: &[f64], control: &Control) -> Result<Option<Self>> {
        let mut risks: Vec<(f64, u64)> = Vec::new();
        if records.counts_people() {
            let mut highest: BTreeMap<u32, f64> = BTreeMap::new();
            for (members, &risk) in records.members(control)?.iter().zip(of_classes) {
                for &(person, rows) in members {
                    match person {
                        UNKNOWN_PERSON => risks.push((risk, rows)),
                        _ => {
                            let highest = highest.entry(person).or_insert(risk);
                            *highest = highest.max(risk);
                        }
                    }
                }
            }
            let number = highest.len() as u64;
            risks.extend(highest.into_values().map(|risk| (risk, 1)));
            risks.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            return Ok((!risks.is_empty()).then_some(RisksOfPeople {
                risks,
                number: number.max(1),
            }));
        }
        risks.extend(
            of_classes
                .iter()
                .copied()
                .zip(records.classes().sizes().iter().copied()),
        );
        risks.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let number = records.rows();
        Ok((number > 0).then_some(RisksOfPeople { risks, number }))
    }

    /// Returns the highest risk.
    pub fn highest(&self) -> f64 {
        self.risks.last().map_or(0.0, |&(risk, _)| risk)
    }

    /// Returns the average risk.
    pub fn average(&self) -> f64 {
        let sum: f64 = self.risks.iter().map(|&(risk, units)| risk * units as f64).sum();
        (sum / self.number as f64).min(self.highest())
    }

    /// Returns the share of people whose risk is at least this.
    pub fn share_from(&self, threshold: f64) -> f64 {
        let reached = self.risks.iter().filter(|&&(risk, _)| risk >= threshold);
        let reached: u64 = reached.map(|&(_, units)| units).sum();
        (reached as f64 / self.number as f64).min(1.0)
    }
}

/// Returns whether the person of a row is not known, given the people of each class.
fn has_unknown_people(members: &Grouped<(u32, u64)>) -> bool {
    members
        .iter()
        .flatten()
        .any(|&(person, _)| person == UNKNOWN_PERSON)
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
    let limited = limited_diversity(records, column, values, nulls_are_values, &[], control)?;
    Ok(limited.map(|limited| limited.worst))
}

/// Condition that the figures of a class may meet.
pub type Limit<'a> = &'a (dyn Fn(&Diversity) -> bool + Sync);

/// Worst figures of a sensitive column, and whom limits concern.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitedDiversity {
    /// The worst figures of all classes.
    pub worst: Diversity,
    /// For each limit, how many people, or rows, are in a class that does not meet it. So is each row whose person is not
    /// known.
    pub beyond: Vec<u64>,
}

/// Returns the figures of [`cautious_diversity`], and how many people are in classes that do not meet each of these limits.
pub fn limited_diversity(
    records: &Records,
    column: usize,
    values: &Values,
    nulls_are_values: bool,
    limits: &[Limit],
    control: &Control,
) -> Result<Option<LimitedDiversity>> {
    let cells = records.cells(column, control)?;
    let unknown = Unknown::among(&cells, nulls_are_values);
    let judged = match unknown.is_nothing() {
        true => {
            let settings = Settings {
                nulls_are_values,
                ..Settings::default()
            };
            let table = WholeTable::new(&cells, values, &settings)?;
            let figures = |part: &[u32]| table.figures(&cells, part).flatten().collect();
            judge(records.classes().len(), figures, limits, control)?
        }
        false => {
            let cautious = Cautious::new(&cells, values, nulls_are_values, unknown)?;
            let completed = cautious.completed.cells(0, control)?;
            let settings = Settings::default();
            let table = WholeTable::new(&completed, &cautious.values, &settings)?;
            let figures = |part: &[u32]| {
                let figures = table.figures(&completed, part).flatten();
                let bound = |(&class, figures)| cautious.bound(class, figures);
                part.iter().zip(figures).map(bound).collect()
            };
            judge(records.classes().len(), figures, limits, control)?
        }
    };
    let Some((worst, is_beyond)) = judged else {
        return Ok(None);
    };
    let beyond = is_beyond.iter().map(|is_beyond| units_in(&cells, is_beyond));
    Ok(Some(LimitedDiversity {
        worst,
        beyond: beyond.collect(),
    }))
}

/// Returns the worst of the figures of all classes, and for each limit which classes do not meet it; `None` if there are no
/// classes.
fn judge(
    classes: usize,
    figures: impl Fn(&[u32]) -> Vec<Diversity> + Sync,
    limits: &[Limit],
    control: &Control,
) -> Result<Option<(Diversity, Vec<Vec<bool>>)>> {
    control.require::<bool>(2 * classes * limits.len())?;
    let numbers: Vec<u32> = (0..classes as u32).collect();
    let parts = numbers.par_chunks(CHUNK).map(|part| {
        control.check()?;
        let figures = figures(part);
        let is_beyond = |limit: &Limit| figures.iter().map(|figures| !limit(figures)).collect();
        let is_beyond: Vec<Vec<bool>> = limits.iter().map(is_beyond).collect();
        Ok((figures.into_iter().reduce(Diversity::worst), is_beyond))
    });
    let mut worst: Option<Diversity> = None;
    let mut is_beyond = vec![Vec::with_capacity(classes); limits.len()];
    for (of_part, is_part_beyond) in parts.collect::<Result<Vec<_>>>()? {
        worst = [worst, of_part].into_iter().flatten().reduce(Diversity::worst);
        for (all, part) in is_beyond.iter_mut().zip(is_part_beyond) {
            all.extend(part);
        }
    }
    Ok(worst.map(|worst| (worst, is_beyond)))
}

/// Returns how many people, or rows, are in at least one of the classes that are meant. Each row whose person is not known
/// counts as a person.
fn units_in(cells: &Cells, is_meant: &[bool]) -> u64 {
    match cells {
        Cells::OfRows(cells) => {
            let meant = cells.iter().zip(is_meant).filter(|(_, is_meant)| **is_meant);
            meant.flat_map(|(values, _)| values).map(|&(_, rows)| rows).sum()
        }
        Cells::OfPeople(cells) => {
            let people = cells.all().iter().map(|&((_, person), _)| person as usize + 1);
            let mut seen = vec![false; people.max().unwrap_or(0)];
            let mut unknown = 0;
            for (values, _) in cells.iter().zip(is_meant).filter(|(_, is_meant)| **is_meant) {
                for &((_, person), rows) in values {
                    match person {
                        UNKNOWN_PERSON => unknown += rows,
                        _ => seen[person as usize] = true,
                    }
                }
            }
            unknown + seen.into_iter().filter(|&seen| seen).count() as u64
        }
    }
}

/// What is not known about the rows of a table.
#[derive(Debug, Clone, Copy)]
struct Unknown {
    people: bool,
    values: bool,
}

impl Unknown {
    fn among(cells: &Cells, nulls_are_values: bool) -> Self {
        let is_unknown = |code: u32| code == NULL && !nulls_are_values;
        match cells {
            Cells::OfRows(cells) => Unknown {
                people: false,
                values: cells.all().iter().any(|&(code, _)| is_unknown(code)),
            },
            Cells::OfPeople(cells) => Unknown {
                people: cells
                    .all()
                    .iter()
                    .any(|&((_, person), _)| person == UNKNOWN_PERSON),
                values: cells.all().iter().any(|&((code, _), _)| is_unknown(code)),
            },
        }
    }

    fn is_nothing(self) -> bool {
        !self.people && !self.values
    }
}

/// Rows in which every unknown value was replaced by the one that is worst for the people of its class.
struct Cautious {
    /// The rows, with the same classes. Every class has a value.
    completed: Records,
    values: Values,
    /// Largest share of the people of each class who have the same value, if people are counted.
    shares_of_people: Option<Vec<f64>>,
    unknown: Unknown,
}

impl Cautious {
    fn new(cells: &Cells, values: &Values, nulls_are_values: bool, unknown: Unknown) -> Result<Self> {
        let classes = ClassValues::of(cells, nulls_are_values);
        let (completed, values) = completed(&classes, values)?;
        let share = |values: &[((u32, u32), u64)]| share_of_people(values, nulls_are_values);
        let shares_of_people = match cells {
            Cells::OfPeople(cells) => Some(cells.iter().map(share).collect()),
            Cells::OfRows(_) => None,
        };
        Ok(Cautious {
            completed,
            values,
            shares_of_people,
            unknown,
        })
    }

    /// Returns the figures of a class that hold whatever is behind what is not known.
    fn bound(&self, class: u32, mut figures: Diversity) -> Diversity {
        if let Some(shares) = &self.shares_of_people {
            figures.alpha = shares[class as usize];
        }
        if self.unknown.people {
            (figures.l_entropy, figures.l_recursive, figures.alpha) = (1.0, 1, 1.0);
        }
        match self.unknown.is_nothing() {
            true => figures,
            false => with_worst_distances(figures),
        }
    }
}

/// Returns figures in which those that compare a class with the whole table have their worst value.
fn with_worst_distances(figures: Diversity) -> Diversity {
    Diversity {
        t_equal: 1.0,
        t_ordered: figures.t_ordered.map(|_| 1.0),
        t_hierarchical: figures.t_hierarchical.map(|_| 1.0),
        beta: f64::INFINITY,
        beta_enhanced: f64::INFINITY,
        beta_enhanced_strict: f64::INFINITY,
        delta: f64::INFINITY,
        ..figures
    }
}

/// Values of a sensitive column in a class.
#[derive(Default)]
struct ClassValues {
    /// Values that are known, and how many rows or people have each.
    known: Vec<(u32, u64)>,
    /// Number of rows whose value is not known.
    unknown: u64,
}

impl ClassValues {
    /// Returns the values of every class.
    fn of(cells: &Cells, nulls_are_values: bool) -> Vec<Self> {
        let is_unknown = |code: u32| code == NULL && !nulls_are_values;
        let class = |known: Vec<(u32, u64)>, rows: &mut dyn Iterator<Item = (u32, u64)>| ClassValues {
            known: known.into_iter().filter(|&(code, _)| !is_unknown(code)).collect(),
            unknown: rows
                .filter(|&(code, _)| is_unknown(code))
                .map(|(_, rows)| rows)
                .sum(),
        };
        match cells {
            Cells::OfRows(cells) => cells
                .iter()
                .map(|values| class(values.to_vec(), &mut values.iter().copied()))
                .collect(),
            Cells::OfPeople(cells) => {
                let rows = |&((code, _), rows): &((u32, u32), u64)| (code, rows);
                cells
                    .iter()
                    .map(|values| class(count_people(values).collect(), &mut values.iter().map(rows)))
                    .collect()
            }
        }
    }
}

/// Returns rows in which every unknown value is the most frequent value of its class. Values have new codes, in the order
/// of their ranks if they have any, and these are returned, too.
fn completed(classes: &[ClassValues], values: &Values) -> Result<(Records, Values)> {
    let rank = |code: u32| values.ranks.as_ref().map_or(code, |ranks| ranks[code as usize]);
    let known = classes
        .iter()
        .flat_map(|class| &class.known)
        .map(|&(code, _)| code);
    let codes: BTreeSet<(u32, u32)> = known
        .filter(|&code| code != NULL)
        .map(|code| (rank(code), code))
        .collect();
    let new_code: BTreeMap<u32, u32> = codes
        .iter()
        .zip(1..)
        .map(|(&(_, code), new)| (code, new))
        .collect();
    let new_code = |code: u32| new_code.get(&code).copied().unwrap_or(NULL);
    let mut rows = Classes::new(2);
    for (number, class) in (0..).zip(classes) {
        for &(code, count) in &class.known {
            rows.insert(&[number, new_code(code)], count)?;
        }
        if class.unknown > 0 {
            // A class without any known value has one value, whichever that is.
            let most_frequent = class.known.iter().max_by_key(|(_, count)| *count);
            let code = most_frequent.map_or(1, |&(code, _)| new_code(code));
            rows.insert(&[number, code], class.unknown)?;
        }
    }
    let roles = Roles {
        quasi: vec![0],
        sensitive: vec![1],
        ..Roles::default()
    };
    let last = codes.len().max(1) as u32;
    let values = Values {
        ranks: values.ranks.as_ref().map(|_| (0..=last).collect()),
        hierarchy: None,
    };
    Ok((Records::of_classes(&rows, roles)?, values))
}

/// Returns the largest share of the people in a class who have, or may have, the same value. Each value comes with the
/// person who has it.
fn share_of_people(values: &[((u32, u32), u64)], nulls_are_values: bool) -> f64 {
    let people: BTreeSet<u32> = values.iter().map(|&((_, person), _)| person).collect();
    let is_unknown = |code: u32| code == NULL && !nulls_are_values;
    // Somebody of whom a value is not known may have any.
    let unknown = values.iter().filter(|&&((code, _), _)| is_unknown(code));
    let may_have_any: BTreeSet<u32> = unknown.map(|&((_, person), _)| person).collect();
    let known = values
        .chunk_by(|a, b| a.0.0 == b.0.0)
        .filter(|equal| !is_unknown(equal[0].0.0));
    let having = known.map(|equal| {
        let others = equal
            .iter()
            .filter(|&&((_, person), _)| !may_have_any.contains(&person));
        others.count()
    });
    (having.max().unwrap_or(0) + may_have_any.len()) as f64 / people.len().max(1) as f64
}
