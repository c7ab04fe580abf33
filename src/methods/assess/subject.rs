//! The table that is assessed: its columns, their labels, and what is measured of its rows.
//!
//! Columns without a label are left out of every figure. Rows are read when the first figure needs them, once for the
//! figures of classes and once for privacy scores, which are about attributes of their own.

use crate::args::budget_of;
use crate::error::Error;
use crate::input::relation::Relation;
use crate::label::labels_of;
use crate::methods::classes::records::{Choice, Needs, ReadRecords, with_population};
use crate::methods::columns::suggestions as suggested;
use crate::methods::inference::column_settings::{Purpose, settings_by_labels};
use crate::methods::inference::options::Options;
use crate::methods::inference::table::AttributeTable;
use crate::pg::catalog::{name_of, schema_and_name};
use crate::pg::origin::{Origins, origins_of};
use crate::pg::query::{Answer, Parameters};
use crate::pg::types::ColumnType;
use crate::run;
use disclosure::Label;
use disclosure::assess::{Criterion, Measure};
use disclosure::classes::{
    By, Diversity, Exposure, Limit, LimitedDiversity, Nulls, RiskSummary, Values, cautious_risk_summary,
    limited_diversity, risk_summary,
};
use disclosure::columns::suggestions::Suggestion;
use disclosure::columns::{KnownRisk, column_risk};
use disclosure::figures::DiversityFigure;
use disclosure::inference::{Attribute, Scores, Settings, explain};
use pgrx::datum::Interval;
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// What the caller gave.
pub struct Given {
    pub relation: Option<Oid>,
    pub population: Option<Oid>,
    pub labels: Option<Value>,
    pub budget: Option<Interval>,
}

/// A column and the label that it is assessed by.
pub struct SubjectColumn {
    pub column: ColumnType,
    /// `None` if the column has no label, or weights that are given in the call.
    pub label: Option<Label>,
    /// Whether neither a label nor the caller says anything about the column.
    pub is_unlabelled: bool,
    /// Whether the column is dangerous by what is said about it.
    pub is_sensitive: bool,
    /// Whether an adversary may know the column by what is said about it.
    pub is_known: bool,
}

/// The table that is assessed.
pub struct Subject {
    oid: Oid,
    relation: Relation,
    pub columns: Vec<SubjectColumn>,
    /// Whether no column has a label, so that suggested ones are used.
    pub has_suggested_labels: bool,
    /// Labels that differ from the stored ones, in the form of the argument `labels`.
    labels: Value,
    pub population: Option<Oid>,
    budget: Option<Interval>,
    criteria: Vec<Criterion>,
    suggestions: OnceCell<Vec<Suggestion>>,
    classes: OnceCell<ClassFigures>,
    riskiest: OnceCell<Option<String>>,
    of_population: OnceCell<RiskSummary>,
}

/// What is measured of the classes of rows that agree on all known columns.
pub struct ClassFigures {
    read: ReadRecords,
    /// What is known about the values of each sensitive column.
    values: Vec<Values>,
    /// Criteria about figures of sensitive columns.
    limits: Vec<Criterion>,
    /// Figures of each sensitive column, once they are needed.
    diversities: OnceCell<Vec<Option<LimitedDiversity>>>,
    pub summary: RiskSummary,
    /// Number of people, or rows, by the size of the smallest class that they are in.
    pub exposure: Exposure,
}

/// Worst figure of all sensitive columns.
pub struct WorstColumn {
    pub name: String,
    pub value: f64,
    /// Number of people, or rows, in classes whose values of the column are beyond the limit; `None` if there is no limit.
    pub people: Option<u64>,
}

/// Highest privacy score.
pub struct WorstScore {
    pub lower: f64,
    pub upper: f64,
    /// Number of people, or rows, whose score may be beyond the limit.
    pub people: u64,
    /// The inference behind the highest score, unless nothing can be inferred.
    pub inference: Option<WorstInference>,
}

/// Columns of the inference behind the highest score.
pub struct WorstInference {
    pub known: Vec<String>,
    pub inferred: Vec<String>,
    pub confidence: f64,
}

impl Subject {
    /// Reads what is known about the columns of a table. The criteria are those that it is assessed by.
    pub fn new(given: Given, criteria: Vec<Criterion>) -> Result<Self, Error> {
        let relation = Relation::whole("relation", given.relation)?;
        let oid = given.relation.ok_or(Error::Internal("a relation without OID"))?; // NULL was refused above
        let stored = labels_of(oid)?;
        let settings_by = |labels: Option<&Value>| {
            settings_by_labels(relation.columns(), Some(&stored), labels, Purpose::Classes)
        };
        let settings = settings_by(given.labels.as_ref())?;
        let is_unlabelled: Vec<bool> = settings.iter().map(|settings| settings.is_unlabelled).collect();
        let mut labels = match given.labels {
            Some(Value::Object(labels)) => labels,
            _ => Map::new(),
        };
        let names = relation.columns().iter().map(|column| &column.name);
        let has_suggested_labels = !is_unlabelled.contains(&false);
        let suggestions = OnceCell::new();
        if has_suggested_labels {
            let found = suggested::of_relation(oid)?;
            for (name, suggestion) in names.clone().zip(&found) {
                if let Some(label) = suggested::label_of(suggestion) {
                    labels.insert(name.clone(), label.to_string().into());
                }
            }
            suggestions.get_or_init(|| found);
        }
        for (name, _) in names
            .zip(&is_unlabelled)
            .filter(|(_, is_unlabelled)| **is_unlabelled)
        {
            labels.entry(name.clone()).or_insert_with(|| "ignore".into());
        }
        let labels = Value::Object(labels);
        let settings = settings_by(Some(&labels))?;
        let columns = relation.columns().iter().zip(settings).zip(is_unlabelled);
        let columns = columns.map(|((column, settings), is_unlabelled)| SubjectColumn {
            column: column.clone(),
            is_sensitive: settings.is_dangerous(),
            is_known: settings.is_known(),
            label: settings.label,
            is_unlabelled,
        });
        Ok(Subject {
            columns: columns.collect(),
            oid,
            relation,
            has_suggested_labels,
            labels,
            population: given.population,
            budget: given.budget,
            criteria,
            suggestions,
            classes: OnceCell::new(),
            riskiest: OnceCell::new(),
            of_population: OnceCell::new(),
        })
    }

    /// Returns the schema and name of the table, quoted.
    pub fn name(&self) -> &str {
        self.relation.name()
    }

    /// Returns the schema and the name of the table, not quoted.
    pub fn schema_and_name(&self) -> Result<(String, String), Error> {
        schema_and_name(self.oid).ok_or(Error::Internal("the relation was dropped"))
    }

    /// Returns the names of the columns for which `is_meant` returns true.
    pub fn names(&self, is_meant: impl Fn(&SubjectColumn) -> bool) -> Vec<String> {
        let meant = self.columns.iter().filter(|column| is_meant(column));
        meant.map(|column| column.column.name.clone()).collect()
    }

    /// Returns the columns whose suggested label and category are taken as right, with their suggestions.
    pub fn suggestions(&self) -> Result<Vec<(&SubjectColumn, &Suggestion)>, Error> {
        if self.suggestions.get().is_none() {
            let found = suggested::of_relation(self.oid)?;
            self.suggestions.get_or_init(|| found);
        }
        let found = self.suggestions.get().into_iter().flatten();
        let likely = self.columns.iter().zip(found);
        Ok(likely
            .filter(|(_, suggestion)| suggested::is_likely(suggestion))
            .collect())
    }

    /// Returns whether a column is known to an adversary or dangerous.
    pub fn has_measured_columns(&self) -> bool {
        self.columns
            .iter()
            .any(|column| column.is_known || column.is_sensitive)
    }

    /// Returns whether people are counted, and not rows.
    pub fn counts_people(&self) -> bool {
        self.columns
            .iter()
            .any(|column| column.label == Some(Label::Person))
    }

    /// Returns the name of a relation that a view is made of and that has a column labelled person, if the view has none.
    pub fn relation_with_people(&self) -> Result<Option<String>, Error> {
        match self.counts_people() {
            true => Ok(None),
            false => relation_with_people(self.oid),
        }
    }

    fn choice(&self) -> Choice {
        Choice {
            labels: Some(self.labels.clone()),
            needs: Needs {
                sensitive: true,
                ..Needs::default()
            },
            may_know_nothing: true,
            ..Choice::default()
        }
    }

    /// Returns what is measured of the classes.
    pub fn classes(&self) -> Result<&ClassFigures, Error> {
        if self.classes.get().is_none() {
            let mut read = ReadRecords::of_relation(Some(self.oid), &self.choice())?;
            let values = values_of(&mut read)?;
            let records = &read.records;
            let (summary, exposure) = run::long("measuring classes", |control| {
                let sizes = records.sizes(Nulls::Value, control)?;
                Ok((cautious_risk_summary(records, control)?, records.exposure(&sizes)))
            })?;
            let is_limit = |criterion: &&Criterion| {
                criterion.is_judged() && matches!(criterion.measure, Measure::Diversity(_))
            };
            let limits = self.criteria.iter().filter(is_limit).copied().collect();
            self.classes.get_or_init(|| ClassFigures {
                read,
                values,
                limits,
                diversities: OnceCell::new(),
                summary,
                exposure,
            });
        }
        self.classes
            .get()
            .ok_or(Error::Internal("the classes were not measured"))
    }

    /// Returns what is measured of the table and its population; `None` if no population is given, or no column is
    /// known to an adversary.
    pub fn of_population(&self) -> Result<Option<&RiskSummary>, Error> {
        let Some(population) = self.population else {
            return Ok(None);
        };
        if self.of_population.get().is_none() {
            let choice = Choice {
                needs: Needs::default(),
                ..self.choice()
            };
            if choice
                .roles(self.relation.columns(), Some(self.oid))?
                .quasi
                .is_empty()
            {
                return Ok(None);
            }
            let (records, everybody) = with_population(Some(self.oid), &choice, population)?;
            let summary = run::long("measuring classes", |control| {
                risk_summary(&records, Some(&everybody), Nulls::Value, By::Row, control)
            })?;
            self.of_population.get_or_init(|| summary);
        }
        Ok(self.of_population.get())
    }

    /// Returns the known column without which the average risk is smallest, if it is smaller then.
    pub fn riskiest_column(&self) -> Result<Option<&str>, Error> {
        if self.riskiest.get().is_none() {
            let read = &self.classes()?.read;
            let records = &read.records;
            let found = run::long("leaving out columns", |control| {
                column_risk(records, Nulls::Value, control)
            })?;
            let names = read.roles.quasi.iter();
            let names = names.map(|&column| &read.dictionaries[column].column().name);
            let average = |risk: &KnownRisk| risk.average.unwrap_or(0.0);
            let best = names.zip(&found.without).min_by(|(a, of_a), (b, of_b)| {
                let by_average = average(of_a).total_cmp(&average(of_b));
                by_average.then(of_b.k.cmp(&of_a.k)).then(a.cmp(b))
            });
            let best = best.filter(|(_, risk)| average(risk) < average(&found.of_all));
            self.riskiest.get_or_init(|| best.map(|(name, _)| name.clone()));
        }
        Ok(self.riskiest.get().and_then(Option::as_deref))
    }

    /// Returns the privacy score. `is_allowed` says whether a score keeps to the limit.
    pub fn privacy_score(
        &self,
        min_confidence: f64,
        is_allowed: impl Fn(f64) -> bool,
    ) -> Result<WorstScore, Error> {
        let options = Options {
            labels: Some(self.labels.clone()),
            settings: Settings {
                min_confidence,
                budget: budget_of(self.budget)?,
                ..Settings::default()
            },
            discount_common: false,
            purpose: Purpose::Policy,
        };
        options.settings.check()?;
        let (table, people) = AttributeTable::with_people(Some(self.oid), None, &options)?;
        let scores = table.scores(&options)?;
        let highest = |scores: &[f64]| scores.iter().copied().fold(0.0, f64::max);
        let concerned = (0..scores.upper.len()).filter(|&row| !is_allowed(scores.upper[row]));
        let people = match people {
            Some(people) => people.among(concerned),
            None => concerned.map(|row| table.packed().multiplicity(row)).sum(),
        };
        let worst = (0..scores.lower.len())
            .max_by(|&a, &b| scores.lower[a].total_cmp(&scores.lower[b]).then(b.cmp(&a)));
        let inference = match worst.filter(|&row| scores.lower[row] > 0.0) {
            Some(row) => Some(self.inference(&table, &options, &scores, row)?),
            None => None,
        };
        Ok(WorstScore {
            lower: highest(&scores.lower),
            upper: highest(&scores.upper),
            people,
            inference,
        })
    }

    /// Returns the columns of the worst inference about a distinct row.
    fn inference(
        &self,
        table: &AttributeTable,
        options: &Options,
        scores: &Scores,
        row: usize,
    ) -> Result<WorstInference, Error> {
        let explained = table.compute("explaining scores", |packed, control| {
            explain(packed, &options.settings, scores, &[row], control)
        })?;
        let inference = explained.of(0);
        let names = |attributes: &mut dyn Iterator<Item = Attribute>| {
            let columns: BTreeSet<u32> = attributes.map(|attribute| attribute.column).collect();
            let names = columns
                .into_iter()
                .map(|column| table.attributes.column_name(column));
            names.map(String::from).collect()
        };
        Ok(WorstInference {
            known: names(&mut inference.known.iter().copied()),
            inferred: names(&mut inference.inferred.iter().map(|inferred| inferred.attribute)),
            confidence: inference.confidence().unwrap_or(1.0),
        })
    }

    /// Returns the largest number in columns, and how many people, or rows, have a larger number than the limit; `None` if no
    /// row has a number. A row whose person is not known counts as a person. The columns have types of numbers.
    pub fn largest_value(&self, columns: &[String], limit: Option<f64>) -> Result<Option<(f64, u64)>, Error> {
        // No value is too large for numeric, so that no error message contains one.
        let quoted = columns.iter().map(quote_identifier);
        let numbers: Vec<String> = quoted
            .map(|column| format!("{column}::pg_catalog.numeric"))
            .collect();
        let largest = format!("GREATEST({})", numbers.join(", "));
        let people = self.names(|column| column.label == Some(Label::Person));
        let people: Vec<String> = people.iter().map(quote_identifier).collect();
        let people = people.join(", ");
        let counted = match people.is_empty() {
            true => "pg_catalog.count(*) FILTER (WHERE is_beyond)".to_string(),
            false => format!(
                "pg_catalog.count(DISTINCT ({people})) FILTER (WHERE is_beyond AND pg_catalog.num_nonnulls({people}) OPERATOR(pg_catalog.>) 0) \
                 OPERATOR(pg_catalog.+) pg_catalog.count(*) FILTER (WHERE is_beyond AND pg_catalog.num_nonnulls({people}) OPERATOR(pg_catalog.=) 0)"
            ),
        };
        let query = format!(
            "SELECT LEAST(GREATEST(pg_catalog.max(largest), '-1e300'::pg_catalog.numeric), '1e300'::pg_catalog.numeric)::pg_catalog.float8, \
                    {counted} \
               FROM (SELECT *, {largest} AS largest, \
                            {largest} OPERATOR(pg_catalog.>) {limit}::pg_catalog.numeric AS is_beyond FROM {}) AS numbers",
            self.name(),
            limit = limit.map_or("'Infinity'".into(), |limit| limit.to_string()),
        );
        Spi::connect(|_| {
            // SAFETY: within Spi::connect; the columns are of types float8 and bigint.
            unsafe {
                let answer = Answer::to(&query, &Parameters::default(), true)?;
                let beyond: i64 = answer.get(0, 1).unwrap_or(0);
                Ok(answer.get(0, 0).map(|largest| (largest, beyond as u64)))
            }
        })
    }

    /// Returns whether every value of a column is an area in which more than `min_population` people live by the
    /// population that was given. That has one row for each of them, or a column labelled as weight.
    pub fn is_of_large_areas(
        &self,
        column: &str,
        population: Oid,
        min_population: f64,
    ) -> Result<bool, Error> {
        let areas = Relation::whole("population", Some(population))?;
        let in_table = self.columns.iter().find(|other| other.column.name == column);
        let in_population = areas.columns().iter().find(|other| other.name == column);
        let columns = [in_table.map(|found| &found.column), in_population];
        if !columns.iter().all(|found| found.is_some_and(is_of_builtin_type)) {
            return Ok(false);
        }
        let labels = labels_of(population)?;
        let mut weights = labels.iter().filter(|(_, label)| **label == Label::Weight);
        let people = match weights.next() {
            Some((weight, _)) => format!("pg_catalog.sum({}::pg_catalog.float8)", quote_identifier(weight)),
            None => "pg_catalog.count(*)::pg_catalog.float8".into(),
        };
        let query = format!(
            "SELECT NOT EXISTS (SELECT FROM {table} AS r WHERE r.{area} IS NOT NULL AND NOT EXISTS \
               (SELECT FROM (SELECT {area}::pg_catalog.text AS area FROM {areas} GROUP BY 1 \
                             HAVING {people} OPERATOR(pg_catalog.>) {min_population}::pg_catalog.float8) AS large \
                 WHERE large.area OPERATOR(pg_catalog.=) r.{area}::pg_catalog.text))",
            table = self.name(),
            area = quote_identifier(column),
            areas = areas.name(),
        );
        Spi::connect(|_| {
            // SAFETY: within Spi::connect; the column is of type boolean.
            unsafe {
                let answer = Answer::to(&query, &Parameters::default(), true)?;
                Ok(answer.get(0, 0).unwrap_or(false))
            }
        })
    }
}

impl ClassFigures {
    /// Returns the worst figure of all sensitive columns; `None` if there is no such column, or no row.
    pub fn diversity(
        &self,
        criterion: &Criterion,
        figure: DiversityFigure,
    ) -> Result<Option<WorstColumn>, Error> {
        let limit = self.limits.iter().position(|limit| limit == criterion);
        let mut worst: Option<WorstColumn> = None;
        for (place, found) in self.diversities()?.iter().enumerate() {
            let Some(found) = found else {
                continue;
            };
            let value = figure.of(&found.worst);
            let is_worse =
                |so_far: &WorstColumn| value != so_far.value && figure.worse(value, so_far.value) == value;
            if worst.as_ref().is_none_or(is_worse) {
                worst = Some(WorstColumn {
                    name: self.read.sensitive_name(place).into(),
                    value,
                    people: limit.map(|limit| found.beyond[limit]),
                });
            }
        }
        Ok(worst)
    }

    /// Returns the figures of each sensitive column.
    fn diversities(&self) -> Result<&Vec<Option<LimitedDiversity>>, Error> {
        if self.diversities.get().is_none() {
            let (records, values) = (&self.read.records, &self.values);
            let nulls_are_values = &self.read.roles.nulls_are_values;
            let allows = |criterion: &Criterion| {
                let criterion = *criterion;
                move |found: &Diversity| match criterion.measure {
                    Measure::Diversity(figure) => criterion.allows(figure.of(found)),
                    _ => true,
                }
            };
            let limits: Vec<_> = self.limits.iter().map(allows).collect();
            let limits: Vec<Limit> = limits.iter().map(|limit| limit as Limit).collect();
            let found = run::long("comparing values", |control| {
                let columns = values.iter().zip(nulls_are_values).enumerate();
                let figures = |(place, (values, nulls)): (usize, (&Values, &bool))| {
                    limited_diversity(records, place, values, *nulls, &limits, control)
                };
                columns.map(figures).collect::<disclosure::Result<_>>()
            })?;
            self.diversities.get_or_init(|| found);
        }
        self.diversities
            .get()
            .ok_or(Error::Internal("the sensitive values were not compared"))
    }
}

/// Returns the name of a relation that the columns of a view come from and that has a column labelled person.
fn relation_with_people(view: Oid) -> Result<Option<String>, Error> {
    let Origins::View(columns) = origins_of(view)? else {
        return Ok(None);
    };
    let bases: BTreeSet<u32> = columns.values().map(|column| column.relation.to_u32()).collect();
    for base in bases.into_iter().map(Oid::from) {
        // SAFETY: raises an error if the stack is nearly full: views may be nested deeply.
        unsafe { pg_sys::check_stack_depth() };
        if labels_of(base)?.values().any(|label| *label == Label::Person) {
            return Ok(Some(name_of(base)));
        }
        if let Some(name) = relation_with_people(base)? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Returns whether the type of a column, or the one that its domain is made of, comes with Postgres. A cast from another
/// type may call a function that its owner wrote.
fn is_of_builtin_type(column: &ColumnType) -> bool {
    column.base_type().to_u32() < pg_sys::FirstNormalObjectId
}

/// Returns what is known about the values of each sensitive column.
fn values_of(read: &mut ReadRecords) -> Result<Vec<Values>, Error> {
    let columns = read.roles.sensitive.clone();
    let values = columns.into_iter().map(|column| {
        Ok(Values {
            ranks: read.dictionaries[column].ranks()?,
            hierarchy: None,
        })
    });
    values.collect()
}
