//! Risk of re-identification, as El Emam (2013) and ARX define it.
//!
//! A *prosecutor* knows that somebody is in the table, and is right about them with probability 1/f if f people of the
//! table share their known values. A *journalist* does not know that, and chooses among the F people of the population
//! who share them. A *marketer* is content with the average over everybody.

use super::records::{Exposure, Nulls, Records};
use super::{By, Classes};
use crate::{Control, Error, Result};

/// Sizes below which a class counts as small in [`RiskSummary::share_below`].
pub const SMALL_SIZES: [u64; 4] = [3, 5, 11, 20];

/// Reciprocals of the risks in [`Risk::above`].
pub const HIGH_RISKS: [u64; 3] = [5, 11, 20];

/// Classes between two checks for a cancel.
const CHUNK: usize = 1 << 14;

/// Risk of re-identification by one kind of adversary.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Risk {
    /// Highest risk of anybody.
    pub highest: f64,
    /// Average risk of all.
    pub average: f64,
    /// Shares of those whose risk is above 1/5, 1/11 and 1/20: see [`HIGH_RISKS`].
    pub above: [f64; 3],
}

/// Figures about the people, or rows, of a table.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RiskSummary {
    /// Number of rows.
    pub rows: u64,
    /// Number of people; `None` if rows are counted.
    pub people: Option<u64>,
    /// Number of classes.
    pub classes: u64,
    /// Size of the smallest class; `None` if there are no rows.
    pub k: Option<u64>,
    /// Number of rows or people who are alone in a class.
    pub uniques: u64,
    /// Shares of those who are in a class smaller than 3, 5, 11 and 20: see [`SMALL_SIZES`]. `None` if there are no rows.
    pub share_below: Option<[f64; 4]>,
    /// Risk if the adversary knows who is in the table; `None` if there are no rows.
    pub prosecutor: Option<Risk>,
    /// Risk if the adversary chooses among the population; `None` if no population is given or nobody is in it.
    pub journalist: Option<Risk>,
    /// Expected share of correct matches if the adversary matches everybody, in the population if there is one.
    pub marketer: Option<f64>,
    /// Comparison with the population, if one is given.
    pub population: Option<PopulationSummary>,
}

/// Figures about a table and the population that its people come from.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PopulationSummary {
    /// The k of k-map (Sweeney 2002): the smallest number of people of the population who share the known values of
    /// somebody in the table. `None` if nobody of the table is in the population.
    pub k_map: Option<u64>,
    /// Lowest probability that somebody of the population is in the table, the δ_min of δ-presence (Nergiz et al.
    /// 2007). `None` if the population is empty.
    pub presence_lowest: Option<f64>,
    /// Highest such probability, δ_max.
    pub presence_highest: Option<f64>,
    /// Number of rows or people of the table whose known values nobody of the population has.
    pub not_in_population: u64,
}

impl Risk {
    /// Returns the risk of units, given the sizes of their classes; `None` if there are no units. A unit in a class of
    /// size 0 has no counterpart and is at no risk.
    pub fn of(exposure: &Exposure) -> Option<Self> {
        let units = exposure.units();
        if units == 0 {
            return None;
        }
        let matched = || exposure.iter().filter(|&(size, _)| size > 0);
        let expected: f64 = matched().map(|(size, units)| units as f64 / size as f64).sum();
        let unmatched = exposure.below(1);
        Some(Risk {
            highest: matched().next().map_or(0.0, |(size, _)| 1.0 / size as f64),
            average: expected / units as f64,
            above: HIGH_RISKS.map(|size| (exposure.below(size) - unmatched) as f64 / units as f64),
        })
    }
}

/// Summarises the risk of everybody in a table. `population` has the people that they come from, with codes of the
/// same meaning.
///
/// Averages go over rows or people, as in ARX. pyCANON's average goes over classes instead, so that a person in a small
/// class counts more there.
///
/// ```
/// use disclosure::classes::{By, Nulls, Records, Roles, risk_summary};
/// use disclosure::{Control, Encoder, Rows};
///
/// let zips = Encoder::new().encode_all([90210, 90210, 90210, 10001].map(Some))?;
/// let patients = Encoder::new().encode_all([1, 1, 2, 3].map(Some))?;
/// let roles = Roles { quasi: vec![0], person: vec![1], ..Roles::default() };
/// let mut records = Records::new(roles, false);
/// records.extend(Rows::new(&[&zips, &patients], 4))?;
/// let summary = risk_summary(&records, None, Nulls::Value, By::Row, Control::none())?;
/// assert_eq!((summary.people, summary.k, summary.uniques), (Some(3), Some(1), 1)); // patient 3 is alone
/// # Ok::<(), disclosure::Error>(())
/// ```
pub fn risk_summary(
    records: &Records,
    population: Option<&Records>,
    nulls: Nulls,
    by: By,
    control: &Control,
) -> Result<RiskSummary> {
    let (exposure, classes) = match by {
        By::Row => {
            let sizes = records.sizes(nulls, control)?;
            (records.exposure(&sizes), records.classes().len() as u64)
        }
        By::Person => {
            check_by_person(records, population, nulls)?;
            records.classes_by_person(control)?
        }
    };
    let units = exposure.units();
    let share = |part: u64| part as f64 / units as f64;
    let prosecutor = Risk::of(&exposure);
    let mut summary = RiskSummary {
        rows: records.rows(),
        people: records.counts_people().then(|| records.people()),
        classes,
        k: exposure.smallest(),
        uniques: exposure.below(2),
        share_below: (units > 0).then(|| SMALL_SIZES.map(|size| share(exposure.below(size)))),
        prosecutor,
        journalist: None,
        marketer: prosecutor.map(|risk| risk.average),
        population: None,
    };
    if let Some(population) = population {
        let (risk, figures) = in_population(records, population, nulls, control)?;
        summary.marketer = risk.map(|risk| risk.average);
        summary.journalist = risk;
        summary.population = Some(figures);
    }
    Ok(summary)
}

/// Checks that classes of people are defined: see [`By::Person`].
pub fn check_by_person(records: &Records, population: Option<&Records>, nulls: Nulls) -> Result<()> {
    let problem = match (records.counts_people(), population, nulls) {
        (false, ..) => "must be 'row' if no column is labelled as person",
        (true, Some(_), _) => "must be 'row' if a population is given",
        (true, None, Nulls::Wildcard) => "must be 'row' if NULL is a wildcard",
        (true, None, Nulls::Value) => return Ok(()),
    };
    Err(Error::invalid("by", problem, "'row', or leave it out"))
}

/// Compares a table with its population.
fn in_population(
    records: &Records,
    population: &Records,
    nulls: Nulls,
    control: &Control,
) -> Result<(Option<Risk>, PopulationSummary)> {
    if nulls == Nulls::Wildcard && population.counts_people() {
        // A person with several rows could agree with a class by each of them.
        return Err(Error::invalid(
            "nulls",
            "must be 'value' if the population has a column that is labelled as person",
            "'value', or a population without such a label",
        ));
    }
    let (here, there) = (records.classes(), population.classes());
    let sizes = records.sizes(Nulls::Value, control)?;
    let sizes_there = population.sizes(Nulls::Value, control)?;
    let of_class = counterparts(here, there, &sizes_there, nulls, control)?;
    let exposure = records.exposure(&of_class);
    // People of the table who may be somebody of each class of the population.
    let present = counterparts(there, here, &sizes, nulls, control)?;
    let everybody = match nulls {
        Nulls::Value => sizes_there,
        Nulls::Wildcard => population.sizes(nulls, control)?,
    };
    let presence = || {
        present
            .iter()
            .zip(&everybody)
            .map(|(&here, &there)| here as f64 / there as f64)
    };
    let figures = PopulationSummary {
        k_map: exposure.iter().map(|(size, _)| size).find(|&size| size > 0),
        presence_lowest: presence().reduce(f64::min),
        presence_highest: presence().reduce(f64::max),
        not_in_population: exposure.below(1),
    };
    Ok((Risk::of(&exposure), figures))
}

/// Returns for each class the sum of the sizes of those classes of `others` that agree with it.
fn counterparts(
    classes: &Classes,
    others: &Classes,
    sizes: &[u64],
    nulls: Nulls,
    control: &Control,
) -> Result<Vec<u64>> {
    match nulls {
        Nulls::Wildcard => classes.sum_agreeing(others, sizes, control),
        Nulls::Value => {
            let size_there = |class: usize| {
                if class.is_multiple_of(CHUNK) {
                    control.check()?;
                }
                let found = others.find(classes.codes(class));
                Ok(found.map_or(0, |found| sizes[found as usize]))
            };
            (0..classes.len()).map(size_there).collect()
        }
    }
}
