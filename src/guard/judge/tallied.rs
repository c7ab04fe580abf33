//! Measures that are computed from a tally: the sizes of classes, the risk of everybody in them, and the values that
//! they have in sensitive columns.
//!
//! They count stored rows, or people if the relation has columns labelled person. If a stored row may be in several rows
//! of an export, it is counted like a person with several rows. What is not known never makes a release look safer:
//! see [`disclosure::classes::cautious_diversity`].

use super::source::{Column, Measured, Place, Source, as_count, by_bytes};
use crate::encode::dictionary::Dictionary;
use crate::error::Error;
use crate::guard::copy::tally::{Comparison, Tally, TallyColumn};
use crate::guard::policy::{self, Policy};
use crate::guard::rule::{Measure, Statistic};
use crate::guard::shape::{Counted, Occurrence};
use crate::input::relation::Relation;
use crate::run;
use disclosure::Control;
use disclosure::classes::{
    Classes, Nulls, Records, RisksOfPeople, Roles, cautious_diversity, cautious_risk_summary,
};
use disclosure::columns::{UniqueSettings, suda};
use disclosure::figures::{DiversityFigure, PersonFigure, RiskFigure};
use disclosure::population::{CodedWeights, cautious_individual_risks};
use pgrx::pg_sys::Oid;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

/// Time after which a search for minimal uniques ends. The exporting role cannot change it.
const BUDGET: Duration = Duration::from_secs(60);

/// What is measured of the values of sensitive columns.
struct Counting<'a> {
    tally: &'a Tally,
    /// Relations that share the policy's columns.
    family: &'a [Oid],
    policy: &'a Policy,
}

impl Source {
    /// Returns the columns by which the rows of an export must be counted to judge it by these policies.
    pub fn counted_columns(&self, policies: &[Rc<Policy>]) -> Result<Vec<TallyColumn>, Error> {
        let mut counted = BTreeSet::new();
        for policy in policies {
            let family = policy::family_of(&[policy.relation])?;
            counted.extend(self.tallied(&policy.measure, &self.counting(policy, &family)));
        }
        counted.extend(self.identifying());
        Ok(counted.into_iter().collect())
    }

    /// Takes the tally of the export's rows.
    pub fn take_tally(&mut self, mut counted: Tally, policies: &[Rc<Policy>]) -> Result<(), Error> {
        if policies.iter().any(|policy| policy.measure.needs_ranks()) {
            counted.rank()?;
        }
        let columns = counted.columns().to_vec();
        let meaning = |(&(number, by), dictionary): (&TallyColumn, &mut Dictionary)| {
            let column = self
                .columns
                .get(number)
                .filter(|column| column.scored_as() == Some((number, by)));
            column
                .map(|column| column.meaning_to_score(dictionary))
                .transpose()
        };
        let meanings: Result<_, Error> = columns
            .iter()
            .zip(&mut counted.dictionaries)
            .map(meaning)
            .collect();
        if let Place::Spool { tally, scored, .. } = &mut self.place {
            (*tally, *scored) = (counted, meanings?);
        }
        Ok(())
    }

    /// Returns whether people are counted.
    pub fn counts_people(&self) -> bool {
        self.occurrences
            .iter()
            .any(|occurrence| !occurrence.people.is_empty())
    }

    /// Returns the number of columns before hidden ones, or before those that stand for them.
    fn before_hidden(&self) -> usize {
        match &self.place {
            Place::Relation(_) => 0,
            Place::Spool { outputs, .. } => *outputs,
        }
    }

    /// Returns the column with the sampling weights of an occurrence.
    fn weight_column(&self, occurrence: &Occurrence) -> Option<TallyColumn> {
        let column = occurrence.weight?;
        Some((self.before_hidden() + column, Comparison::Equality))
    }

    /// Returns the sets of columns of which each identifies the people of an occurrence.
    fn people_columns(&self, occurrence: &Occurrence) -> Vec<Vec<TallyColumn>> {
        let first = self.before_hidden();
        let set = |columns: &Vec<usize>| {
            columns
                .iter()
                .map(|column| (first + column, Comparison::Person))
                .collect()
        };
        occurrence.people.iter().map(set).collect()
    }

    /// Returns the columns that identify what is counted of an occurrence: people, or stored rows that may be in several
    /// rows of the export. There may be several such sets of columns. An empty one stands for rows.
    fn counted_by(&self, occurrence: &Occurrence) -> Vec<Vec<TallyColumn>> {
        let people = self.people_columns(occurrence);
        match (people.is_empty(), &occurrence.counted) {
            (false, _) => people,
            (true, Counted::Distinct(_)) => {
                vec![self.identity(occurrence).into_iter().map(by_bytes).collect()]
            }
            (true, _) => vec![Vec::new()],
        }
    }

    /// Returns the columns by which rows must be counted whatever the measure is.
    pub(super) fn identifying(&self) -> impl Iterator<Item = TallyColumn> + '_ {
        self.occurrences.iter().flat_map(|occurrence| {
            let identity = self.identity(occurrence).into_iter().map(by_bytes);
            identity.chain(self.people_columns(occurrence).into_iter().flatten())
        })
    }

    /// Returns the columns by which rows must be counted for a measure, given the columns that count.
    pub(super) fn tallied(&self, measure: &Measure, counting: &[&Column]) -> Vec<TallyColumn> {
        match measure {
            Measure::KAnonymity | Measure::Risk(_) | Measure::Person(..) => {
                let weights = self
                    .occurrences
                    .iter()
                    .filter_map(|occurrence| self.weight_column(occurrence));
                let weights =
                    weights.filter(|_| matches!(measure, Measure::Person(PersonFigure::IndividualRisk, _)));
                counting
                    .iter()
                    .map(|column| self.as_known(column))
                    .chain(weights)
                    .collect()
            }
            Measure::Diversity(_) => {
                let known = counting.iter().filter(|column| column.is_quasi());
                let sensitive = counting.iter().filter(|column| column.is_dangerous());
                let known = known.map(|column| self.as_known(column));
                known
                    .chain(sensitive.map(|column| as_sensitive(column)))
                    .collect()
            }
            Measure::PrivacyScore(_) => counting.iter().filter_map(|column| column.scored_as()).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns a column as one that an adversary may know. The recipient of an export sees its bytes.
    fn as_known(&self, column: &Column) -> TallyColumn {
        match self.place {
            Place::Relation(_) => (column.number, Comparison::Equality),
            Place::Spool { .. } => by_bytes(column.number),
        }
    }

    /// Calls `job` with the tally of the rows, and returns its result. Rows of a relation are read for it, as the current
    /// user.
    fn with_tally<R>(
        &self,
        measure: &Measure,
        counting: &[&Column],
        job: impl FnOnce(&Tally) -> Result<R, Error>,
    ) -> Result<R, Error> {
        if let Place::Spool { tally, .. } = &self.place {
            return job(tally);
        }
        let columns: BTreeSet<TallyColumn> = self
            .tallied(measure, counting)
            .into_iter()
            .chain(self.identifying())
            .collect();
        let relation = Relation::whole("relation", self.relations.first().copied())?;
        let mut tally = Tally::of_relation(&relation, columns.into_iter().collect())?;
        if measure.needs_ranks() {
            tally.rank()?;
        }
        job(&tally)
    }

    /// Returns the units of an occurrence by their known and sensitive columns, and by further ones.
    fn units<'a>(
        &self,
        tally: &'a Tally,
        occurrence: &Occurrence,
        counted_by: &[TallyColumn],
        quasi: &[TallyColumn],
        others: &[TallyColumn],
    ) -> Result<(Cow<'a, Classes>, Roles), Error> {
        let (after_quasi, after_others) = (quasi.len(), quasi.len() + others.len());
        let roles = Roles {
            quasi: (0..after_quasi).collect(),
            sensitive: (after_quasi..after_others).collect(),
            person: (after_others..after_others + counted_by.len()).collect(),
            ..Roles::default()
        };
        let columns = quasi.iter().chain(others).chain(counted_by).copied();
        let counted = tally.count_units(&tally.places(columns)?, &self.unit(tally, occurrence)?)?;
        Ok((counted.classes, roles))
    }

    fn records(
        &self,
        tally: &Tally,
        occurrence: &Occurrence,
        counted_by: &[TallyColumn],
        quasi: &[TallyColumn],
        sensitive: &[TallyColumn],
    ) -> Result<Records, Error> {
        let (classes, roles) = self.units(tally, occurrence, counted_by, quasi, sensitive)?;
        Ok(Records::of_classes(&classes, roles)?)
    }

    /// Returns the number of people whose rows leave: the smallest number in any occurrence of the policy's relation.
    pub fn people(&self, policy: &Policy) -> Result<i64, Error> {
        let Place::Spool { tally, .. } = &self.place else {
            return Ok(i64::MAX);
        };
        let family = policy::family_of(&[policy.relation])?;
        let mut fewest = tally.rows();
        for (_, occurrence) in self.occurrences_of(&family) {
            for counted_by in self.counted_by(occurrence) {
                let everybody = self.records(tally, occurrence, &counted_by, &[], &[])?;
                let sizes = sizes_of(&everybody)?;
                fewest = fewest.min(sizes.iter().sum());
            }
        }
        Ok(as_count(fewest))
    }
}

/// Returns a column as one that an adversary must not learn.
fn as_sensitive(column: &Column) -> TallyColumn {
    (column.number, Comparison::Equality)
}

/// Returns the number of units in each class.
fn sizes_of(records: &Records) -> Result<Vec<u64>, Error> {
    run::long("counting people", |control| records.sizes(Nulls::Value, control))
}

fn not_countable(policy: &Policy) -> Error {
    policy.unusable("the query does not read its relation in a way that can be counted")
}

/// Measures the rows by their tally.
pub(super) fn measure(
    policy: &Policy,
    source: &Source,
    counting: &[&Column],
    family: &[Oid],
) -> Result<Measured, Error> {
    source.with_tally(&policy.measure, counting, |tally| match policy.measure {
        Measure::KAnonymity => k_anonymity(policy, source, tally, counting, family),
        Measure::Risk(figure) => risk(policy, figure, source, tally, counting, family),
        Measure::Diversity(figure) => diversity(policy, figure, source, tally, counting, family),
        Measure::Person(figure, statistic) => {
            persons(policy, (figure, statistic), source, tally, counting, family)
        }
        _ => Err(Error::Internal("the measure is not computed from a tally")),
    })
}

/// Measures k: the smallest number of people, or of stored rows, of the policy's relation behind rows that look alike to
/// the recipient. Classes without any say nothing about anybody.
fn k_anonymity(
    policy: &Policy,
    source: &Source,
    tally: &Tally,
    quasi: &[&Column],
    family: &[Oid],
) -> Result<Measured, Error> {
    let known: Vec<TallyColumn> = quasi.iter().map(|column| source.as_known(column)).collect();
    let places = tally.places(known.iter().copied())?;
    let mut smallest: Option<Measured> = None;
    for (_, occurrence) in source.occurrences_of(family) {
        let found = tally.count_units(&places, &source.unit(tally, occurrence)?)?;
        let mut sizes = found.classes.sizes().to_vec();
        for people in source.people_columns(occurrence) {
            let records = source.records(tally, occurrence, &people, &known, &[])?;
            let of_people = sizes_of(&records)?;
            for (class, size) in sizes.iter_mut().enumerate() {
                let same = records.classes().find(found.classes.codes(class));
                *size = same.map_or(0, |same| of_people[same as usize]).min(*size);
            }
        }
        let is_unsafe = |(size, _): &(&u64, &u64)| (**size as f64) < policy.limit.value();
        let unsafe_rows = sizes.iter().zip(&*found.rows).filter(is_unsafe);
        let measured = Measured {
            value: sizes.iter().min().map(|&size| size as f64),
            rows: as_count(tally.rows()),
            unsafe_rows: Some(as_count(unsafe_rows.map(|(_, rows)| rows).sum())),
        };
        let is_smaller = |so_far: &Measured| match (measured.value, so_far.value) {
            (Some(value), Some(so_far)) => value < so_far,
            (value, _) => value.is_some(),
        };
        if smallest.as_ref().is_none_or(is_smaller) {
            smallest = Some(measured);
        }
    }
    smallest.ok_or_else(|| not_countable(policy))
}

/// Measures a figure about the risk of everybody.
fn risk(
    policy: &Policy,
    figure: RiskFigure,
    source: &Source,
    tally: &Tally,
    quasi: &[&Column],
    family: &[Oid],
) -> Result<Measured, Error> {
    let known: Vec<TallyColumn> = quasi.iter().map(|column| source.as_known(column)).collect();
    let occurrences = source.occurrences_of(family);
    if occurrences.is_empty() {
        return Err(not_countable(policy));
    }
    let mut highest: Option<f64> = None;
    for (_, occurrence) in occurrences {
        for counted_by in source.counted_by(occurrence) {
            let records = source.records(tally, occurrence, &counted_by, &known, &[])?;
            let summary = run::long("measuring risk", |control| {
                cautious_risk_summary(&records, control)
            })?;
            highest = highest.into_iter().chain(figure.of(&summary)).reduce(f64::max);
        }
    }
    Ok(Measured {
        value: highest,
        rows: as_count(tally.rows()),
        unsafe_rows: None,
    })
}

/// Measures a statistic of a figure about single people.
fn persons(
    policy: &Policy,
    (figure, statistic): (PersonFigure, Statistic),
    source: &Source,
    tally: &Tally,
    quasi: &[&Column],
    family: &[Oid],
) -> Result<Measured, Error> {
    let known: Vec<TallyColumn> = quasi.iter().map(|column| source.as_known(column)).collect();
    let occurrences = source.occurrences_of(family);
    if occurrences.is_empty() {
        return Err(not_countable(policy));
    }
    let mut highest: Option<f64> = None;
    for (_, occurrence) in occurrences {
        let weight = source.weight_column(occurrence);
        let weight = weight.filter(|_| figure == PersonFigure::IndividualRisk);
        let weights = weight.map(|weight| tally.numbers_of(weight)).transpose()?;
        for counted_by in source.counted_by(occurrence) {
            let others: Vec<TallyColumn> = weight.into_iter().collect();
            let (classes, roles) = source.units(tally, occurrence, &counted_by, &known, &others)?;
            let records = Records::of_classes(&classes, roles.clone())?;
            let weights = weights.as_ref().map(|of_codes| CodedWeights {
                column: known.len(),
                of_codes,
            });
            let risks = run::long("measuring risk", |control| {
                let of_classes = match figure {
                    PersonFigure::Suda => suda_scores(&records, control)?,
                    PersonFigure::IndividualRisk => {
                        cautious_individual_risks(&records, &classes, &roles, weights, control)?
                    }
                };
                RisksOfPeople::new(&records, &of_classes, control)
            })?;
            let found = risks.map(|risks| match statistic {
                Statistic::Maximum => risks.highest(),
                Statistic::Average => risks.average(),
                Statistic::Share { threshold } => risks.share_from(threshold),
            });
            highest = highest.into_iter().chain(found).reduce(f64::max);
        }
    }
    Ok(Measured {
        value: highest,
        rows: as_count(tally.rows()),
        unsafe_rows: None,
    })
}

/// Returns the SUDA score of each class. If time runs out, anything is possible.
fn suda_scores(records: &Records, control: &Control) -> disclosure::Result<Vec<f64>> {
    let settings = UniqueSettings {
        budget: Some(BUDGET),
        ..UniqueSettings::default()
    };
    let found = suda(records, &settings, control)?;
    Ok(match found.not_examined {
        0 => found.scores,
        _ => vec![f64::INFINITY; found.scores.len()],
    })
}

/// Measures a figure about the values of sensitive columns, of which the worst counts.
fn diversity(
    policy: &Policy,
    figure: DiversityFigure,
    source: &Source,
    tally: &Tally,
    columns: &[&Column],
    family: &[Oid],
) -> Result<Measured, Error> {
    let counting = Counting {
        tally,
        family,
        policy,
    };
    Ok(Measured {
        value: counting.worst(figure, source, columns)?,
        rows: as_count(tally.rows()),
        unsafe_rows: None,
    })
}

impl Counting<'_> {
    /// Returns the worst figure of all sensitive columns; `None` if there is no such column, or no row.
    fn worst(
        &self,
        figure: DiversityFigure,
        source: &Source,
        columns: &[&Column],
    ) -> Result<Option<f64>, Error> {
        let occurrences = source.occurrences_of(self.family);
        if occurrences.is_empty() {
            return Err(not_countable(self.policy));
        }
        let is_condition = |column: &&&Column| column.is_dangerous() && !column.is_value;
        if self.tally.rows() > 0 && columns.iter().any(|column| is_condition(&column)) {
            // Everybody satisfies it. And the rows do not show how frequent that is among all.
            return Ok(Some(figure.worst()));
        }
        let mut worst: Option<f64> = None;
        for (place, occurrence) in occurrences {
            // Copies of a row could spread its class over many, and hide which value is frequent there.
            let of = |unit: &[usize]| -> Vec<&Column> {
                columns
                    .iter()
                    .copied()
                    .filter(|column| column.is_of(unit))
                    .collect()
            };
            let mut parts = vec![columns.to_vec()];
            if matches!(occurrence.counted, Counted::Distinct(_)) {
                let all: Vec<usize> = (0..source.occurrences.len()).collect();
                parts.extend([of(&[place]), of(&all)]);
            }
            for part in &parts {
                for counted_by in source.counted_by(occurrence) {
                    let found = self.worst_of(figure, source, occurrence, &counted_by, part)?;
                    worst = worst
                        .into_iter()
                        .chain(found)
                        .reduce(|one, other| figure.worse(one, other));
                }
            }
        }
        Ok(worst)
    }

    /// Returns the worst figure of all sensitive columns among these. The classes are those of the known ones.
    fn worst_of(
        &self,
        figure: DiversityFigure,
        source: &Source,
        occurrence: &Occurrence,
        counted_by: &[TallyColumn],
        columns: &[&Column],
    ) -> Result<Option<f64>, Error> {
        let mut worst: Option<f64> = None;
        for sensitive in columns.iter().filter(|column| column.is_dangerous()) {
            let known = columns
                .iter()
                .filter(|column| column.is_quasi() && column.number != sensitive.number);
            let known: Vec<TallyColumn> = known.map(|column| source.as_known(column)).collect();
            let values = self.tally.values_of(as_sensitive(sensitive))?;
            let nulls_are_values = sensitive.nulls_are_values;
            let records = source.records(
                self.tally,
                occurrence,
                counted_by,
                &known,
                &[as_sensitive(sensitive)],
            )?;
            let found = run::long("comparing values", |control| {
                cautious_diversity(&records, 0, &values, nulls_are_values, control)
            })?;
            let found = found.map(|found| figure.of(&found));
            worst = worst
                .into_iter()
                .chain(found)
                .reduce(|one, other| figure.worse(one, other));
        }
        Ok(worst)
    }
}
