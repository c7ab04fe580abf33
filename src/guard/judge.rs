//! Measures rows for a policy: rows that a query returned and [`spool`] collected, or the rows of an export
//! table.
//!
//! An export table is measured by queries that call the extension's own SQL functions. Of an export,
//! `k_anonymity` and `privacy_score` are computed from its [`tally`](crate::guard::copy::tally); other measures
//! are queries on `disclosure_internal.leaving`. Labels decide which columns count and with which weights; a column
//! of a query has the labels of the stored columns that it is made of. In an export, columns that an adversary
//! may know are compared by their stored bytes, because equal bytes are sent equally, and sensitive columns by
//! the equality of their type. If a query may return a stored row more than once, `k_anonymity` counts distinct
//! stored rows, and `privacy_score` scores each stored row once. Functions that users wrote are called by
//! `function`.

mod tallied;

use crate::encode::dictionary::Dictionary;
use crate::error::{Change, Error};
use crate::guard::copy::spool::{self, Asked};
use crate::guard::copy::tally::{Comparison, Tally, TallyColumn};
use crate::guard::labels::Labels;
use crate::guard::log::{Lasting, Outcome};
use crate::guard::measure_function::{Found, MeasureFunction};
use crate::guard::origin::{Origin, Origins};
use crate::guard::policy::Policy;
use crate::guard::rule::{Limit, Measure, Statistic};
use crate::guard::shape::{Counted, HiddenKind, Occurrence, Shape};
use crate::guard::{log, policy, rights, sandbox};
use crate::input::relation::Relation;
use crate::methods::inference::attributes::unnamed_column;
use crate::methods::inference::column_settings::NullMeaning;
use crate::methods::inference::scores::scores_for_policy;
use crate::pg::catalog;
use crate::pg::catalog::with_heirs;
use crate::pg::query::{Answer, Parameters};
use disclosure::Weights;
use disclosure::classes::Unit;
use disclosure::inference::{self, Nulls};
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Rows to be judged.
pub struct Source {
    place: Place,
    columns: Vec<Column>,
    /// Occurrences of protected relations. A relation is one, with the numbers of its columns instead of those of
    /// hidden ones.
    occurrences: Vec<Occurrence>,
    /// Relations that the query reads.
    relations: Vec<Oid>,
}

/// Location of the rows of a [`Source`].
enum Place {
    /// Relation with this quoted schema and name.
    Relation(String),
    /// Collected rows, which `disclosure_internal.leaving` returns.
    Spool {
        /// Number of output columns; hidden ones follow.
        outputs: usize,
        tally: Tally,
        /// For each column of the tally, what its values mean to the score; `None` if it takes no part.
        scored: Vec<Option<inference::Column>>,
    },
}

/// Column of a [`Source`].
pub struct Column {
    /// Index among the columns of the source, from 0.
    number: usize,
    /// Name in the relation or in the export; empty if the column is hidden.
    pub name: String,
    /// Quoted name in the source.
    pub sql: String,
    type_oid: Oid,
    modifier: i32,
    /// Stored columns that it is made of.
    origins: Origins,
    /// Weights of the column; `None` if it is ignored by all measures.
    pub weights: Option<Weights>,
    /// Whether it is an expression, so that false tells as much as true.
    is_computed: bool,
    /// Whether NULL is a value that can be inferred, and not unknown.
    nulls_are_values: bool,
    /// Whether it counts for every policy: it tells which branch of a UNION ALL a row comes from.
    always_counts: bool,
    /// Whether it is the value of columns, and not a condition on them.
    is_value: bool,
    /// Occurrences that it comes from.
    from: BTreeSet<usize>,
    /// Output columns that make a hidden column count; `None` if it always counts, or is an output column.
    needed_by: Option<Vec<usize>>,
}

/// Result of a measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Measured value; `None` if there are no rows.
    pub value: Option<f64>,
    pub rows: i64,
    /// Number of rows that break the policy by themselves; `None` if the measure has no value for single
    /// rows.
    pub unsafe_rows: Option<i64>,
}

/// Weights of a column that tells which branch a row comes from, or which rows belong together: the recipient
/// sees it.
const KNOWN: Weights = Weights {
    likelihood: 1.0,
    danger: 0.0,
};

impl Source {
    /// Returns the source for an export. Its rows can be judged after [`take_tally`](Self::take_tally), and can
    /// be read only within [`spool::Spool::show`].
    pub fn of_export(shape: &Shape, relations: Vec<Oid>, labels: &mut Labels) -> Result<Self, Error> {
        let mut columns = Vec::new();
        for output in &shape.outputs {
            let number = columns.len();
            let weights = labels.weights(&output.origins)?;
            let may_link = shape.is_paired && !output.from.is_empty();
            columns.push(Column {
                number,
                name: output.name.clone(),
                sql: column_name(number),
                type_oid: output.type_of.oid,
                modifier: output.type_of.modifier,
                weights: weights.or(may_link.then_some(KNOWN)),
                is_computed: !output.is_plain,
                nulls_are_values: labels.nulls_are_values(&output.origins)?,
                origins: output.origins.clone(),
                always_counts: false,
                is_value: true,
                from: output.from.clone(),
                needed_by: None,
            });
        }
        for (place, hidden) in shape.hidden.iter().enumerate() {
            let number = columns.len();
            let (origins, weights) = match &hidden.kind {
                HiddenKind::Value(origins) => (origins.clone(), labels.weights(origins)?),
                HiddenKind::Condition(origins) => {
                    let danger = labels.weights(origins)?.map_or(0.0, |weights| weights.danger);
                    let weights = Weights {
                        likelihood: 0.0,
                        danger,
                    };
                    (origins.clone(), Some(weights))
                }
                HiddenKind::Branch => (Origins::new(), Some(KNOWN)),
                HiddenKind::Identity => (Origins::new(), None),
            };
            let needing = shape.outputs.iter().enumerate();
            let needing = needing.filter(|(_, output)| output.needs.contains(&place));
            columns.push(Column {
                number,
                name: String::new(),
                sql: column_name(number),
                type_oid: hidden.type_of.oid,
                modifier: hidden.type_of.modifier,
                is_computed: false,
                nulls_are_values: matches!(hidden.kind, HiddenKind::Value(_))
                    && labels.nulls_are_values(&origins)?,
                origins,
                weights,
                always_counts: matches!(hidden.kind, HiddenKind::Branch),
                is_value: matches!(hidden.kind, HiddenKind::Value(_)),
                from: hidden.from.clone(),
                needed_by: (!hidden.is_forced).then(|| needing.map(|(number, _)| number).collect()),
            });
        }
        Ok(Source {
            columns,
            place: Place::Spool {
                outputs: shape.outputs.len(),
                tally: Tally::default(),
                scored: Vec::new(),
            },
            occurrences: shape.occurrences.clone(),
            relations,
        })
    }

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

    /// Returns whether the rows of an export must be read to judge it by these policies, and not only their
    /// tally. Stored rows of several occurrences are compared by their values.
    pub fn reads_rows(&self, policies: &[Rc<Policy>]) -> Result<bool, Error> {
        for policy in policies {
            let family = policy::family_of(&[policy.relation])?;
            if policy.measure.reads_rows() || self.occurrences_of(&family).len() > 1 {
                return Ok(true);
            }
        }
        Ok(false)
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

    /// Returns the source for all rows of a relation.
    pub fn of_relation(oid: Oid) -> Result<Self, Error> {
        let relation = Relation::whole("relation", Some(oid))?;
        let mut labels = Labels::of_relation(oid)?;
        let mut columns = Vec::new();
        for column in relation.columns() {
            let origins = Origins::from([Origin {
                relation: oid,
                column: column.name.clone(),
            }]);
            columns.push(Column {
                number: columns.len(),
                name: column.name.clone(),
                sql: quote_identifier(&column.name),
                type_oid: column.oid,
                modifier: -1,
                weights: labels.weights(&origins)?,
                is_computed: false,
                nulls_are_values: labels.nulls_are_values(&origins)?,
                origins,
                always_counts: false,
                is_value: true,
                from: BTreeSet::new(),
                needed_by: None,
            });
        }
        let weight = labels.weight_of(oid)?;
        let weight = weight.and_then(|name| columns.iter().position(|column| column.name == name));
        let mut people = Vec::new();
        for names in labels.people(oid)? {
            let number = |name: &String| {
                let number = columns.iter().position(|column| column.name == *name);
                number.ok_or_else(|| people_not_counted(relation.name()))
            };
            people.push(names.iter().map(number).collect::<Result<_, _>>()?);
        }
        Ok(Source {
            columns,
            place: Place::Relation(relation.name().into()),
            occurrences: vec![Occurrence {
                relations: vec![oid],
                counted: Counted::Rows,
                people,
                weight,
            }],
            relations: vec![oid],
        })
    }

    /// Returns the columns that count for a policy's measure. `family` contains the relations that share the
    /// policy's columns.
    pub fn counting(&self, policy: &Policy, family: &[Oid]) -> Vec<&Column> {
        self.counting_without(policy, family, None)
    }

    /// Returns the columns that would count if an output column were not exported.
    fn counting_without(&self, policy: &Policy, family: &[Oid], without: Option<usize>) -> Vec<&Column> {
        let only_quasi = policy.measure.is_about_classes() && policy.columns.is_none();
        let is_exported = |column: &Column| {
            let needed = column.needed_by.as_ref();
            Some(column.number) != without
                && needed.is_none_or(|needing| needing.iter().any(|&number| Some(number) != without))
        };
        let counts = |column: &&Column| {
            is_exported(column) && column.counts_for(policy, family) && (!only_quasi || column.is_quasi())
        };
        self.columns.iter().filter(counts).collect()
    }

    /// Returns the FROM item for a query that reads these columns, under their names in the source, and these
    /// others.
    fn from(&self, columns: &[&Column], others: Vec<(String, Asked)>) -> String {
        let value = |column: &&Column| {
            let asked = Asked::Value(column.number);
            (column.sql.clone(), asked, column.type_oid, column.modifier)
        };
        let other = |(name, asked)| (name, asked, pg_sys::INT8OID, -1);
        match &self.place {
            Place::Relation(name) => name.clone(),
            Place::Spool { .. } => {
                let asked = columns.iter().map(value).chain(others.into_iter().map(other));
                spool::from_item(&asked.collect::<Vec<_>>())
            }
        }
    }

    /// Returns the occurrences of a policy's relation.
    fn occurrences_of(&self, family: &[Oid]) -> Vec<(usize, &Occurrence)> {
        let is_meant = |occurrence: &Occurrence| {
            let mut relations = occurrence.relations.iter();
            relations.any(|relation| family.contains(relation))
        };
        let all = self.occurrences.iter().enumerate();
        all.filter(|(_, occurrence)| is_meant(occurrence)).collect()
    }

    /// Returns the indexes of the columns that identify the stored rows of an occurrence, or mark them.
    fn identity(&self, occurrence: &Occurrence) -> Vec<usize> {
        match (&self.place, &occurrence.counted) {
            (Place::Spool { outputs, .. }, Counted::Marked(hidden) | Counted::Distinct(hidden)) => {
                hidden.iter().map(|place| outputs + place).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns how the stored rows of an occurrence are counted in the tally.
    fn unit(&self, tally: &Tally, occurrence: &Occurrence) -> Result<Unit, Error> {
        let identity = tally.places(self.identity(occurrence).into_iter().map(by_bytes))?;
        Ok(match occurrence.counted {
            Counted::Rows => Unit::Row,
            Counted::Marked(_) => Unit::Marked(identity),
            Counted::Distinct(_) => Unit::Distinct(identity),
        })
    }

    /// Returns whether two occurrences of the policy's relation have the same stored rows or none in common.
    /// Otherwise the recipient could subtract the rows of one occurrence from those of the other, and see the
    /// few that are left.
    pub fn is_uniform(&self, policy: &Policy) -> Result<bool, Error> {
        let Place::Spool { outputs, .. } = self.place else {
            return Ok(true);
        };
        let family = policy::family_of(&[policy.relation])?;
        let occurrences = self.occurrences_of(&family);
        if occurrences.len() < 2 {
            return Ok(true);
        }
        // A materialized view has copies of the stored rows, which cannot be compared with these.
        let read: Vec<Option<&Oid>> = occurrences
            .iter()
            .map(|(_, occurrence)| occurrence.relations.first())
            .collect();
        // SAFETY: any OID is accepted.
        let is_copy =
            |relation: &Oid| unsafe { pg_sys::get_rel_relkind(*relation) } as u8 == pg_sys::RELKIND_MATVIEW;
        if read.iter().flatten().any(|relation| is_copy(relation))
            && read.iter().any(|other| *other != read[0])
        {
            return Ok(false);
        }
        let mut parts = Vec::new();
        for (place, occurrence) in occurrences {
            let (Counted::Marked(columns) | Counted::Distinct(columns)) = &occurrence.counted else {
                return Ok(false);
            };
            let identity: Vec<&Column> = columns
                .iter()
                .map(|column| &self.columns[outputs + column])
                .collect();
            let [table, tid] = identity[..] else {
                return Ok(false); // rows of a foreign table cannot be told apart
            };
            parts.push(format!(
                "SELECT DISTINCT {place} AS occurrence, {table} AS \"table\", {tid} AS tid FROM {from} \
                  WHERE {tid} IS NOT NULL",
                table = table.sql,
                tid = tid.sql,
                from = self.from(&identity, Vec::new())
            ));
        }
        let query = format!(
            "SELECT NULL::float8, coalesce(max(sets), 0), NULL::int8 \
               FROM (SELECT occurrence, count(*) AS sets \
                       FROM (SELECT DISTINCT array_agg(occurrence ORDER BY occurrence) AS occurrences \
                               FROM ({}) AS stored GROUP BY \"table\", tid) AS signed, \
                            unnest(occurrences) AS occurrence \
                      GROUP BY occurrence) AS counted",
            parts.join(" UNION ALL ")
        );
        Ok(rights::under_own_settings(|| ask(&query))?.rows <= 1)
    }
}

fn people_not_counted(relation: &str) -> Error {
    Error::unusable(
        PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
        "relation",
        format!(
            "people of {relation} cannot be counted, because a child has a column labelled person that it lacks"
        ),
        "Label a column that all relations of the inheritance tree have.",
    )
}

/// Returns a column that is compared by its stored bytes, as the tally needs it.
fn by_bytes(number: usize) -> TallyColumn {
    (number, Comparison::Bytes)
}

/// Returns a number of rows as SQL has it.
fn as_count(rows: u64) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// Returns the name of an exported column, by its index from 0, in the FROM item of
/// `disclosure_internal.leaving`.
fn column_name(number: usize) -> String {
    format!("c{number}")
}

impl Column {
    /// Returns whether the column counts for a policy. `family` contains the relations that share the
    /// policy's columns.
    fn counts_for(&self, policy: &Policy, family: &[Oid]) -> bool {
        // A column of a materialized view may be made of any columns of the relation.
        let is_derived = |origin: &Origin| {
            // SAFETY: any OID is accepted.
            let kind = unsafe { pg_sys::get_rel_relkind(origin.relation) } as u8;
            kind == pg_sys::RELKIND_MATVIEW && !family.contains(&origin.relation)
        };
        let is_meant = |origin: &Origin| match &policy.columns {
            Some(columns) => {
                family.contains(&origin.relation) && columns.contains(&origin.column) || is_derived(origin)
            }
            None => true,
        };
        self.always_counts || self.origins.iter().any(is_meant)
    }

    /// Returns the expression whose values are scored. The false of a stored boolean column is not a value, but a
    /// computed boolean column is as good as one that says yes or no.
    fn scored(&self) -> String {
        match self.tells_by_false() {
            true => format!("{}::pg_catalog.text", self.sql),
            false => self.sql.clone(),
        }
    }

    /// Returns whether it is a computed boolean column that is not known.
    fn tells_by_false(&self) -> bool {
        self.is_computed && self.type_oid == pg_sys::BOOLOID && !self.is_quasi()
    }

    /// Returns whether the column is the same in all rows with the same stored rows of these occurrences:
    /// conditions hold for every row.
    fn is_of(&self, unit: &[usize]) -> bool {
        !self.is_value || !self.from.is_empty() && self.from.iter().all(|place| unit.contains(place))
    }

    /// Returns whether an adversary may know the values beforehand.
    fn is_quasi(&self) -> bool {
        self.weights.is_some_and(|weights| weights.likelihood > 0.0)
    }

    /// Returns whether an adversary must not learn the values.
    fn is_dangerous(&self) -> bool {
        self.weights.is_some_and(|weights| weights.danger > 0.0)
    }

    /// Returns the form in which the column of an export takes part in a score; `None` if it does not.
    fn scored_as(&self) -> Option<TallyColumn> {
        let comparison = match self.is_quasi() {
            true => Comparison::Bytes,
            false => Comparison::Equality,
        };
        self.weights.map(|_| (self.number, comparison))
    }

    /// Returns what the values of the column in an export mean to the score. In a column that an adversary may
    /// know, NULL is a value like any other, because the recipient sees it.
    fn meaning_to_score(&self, dictionary: &mut Dictionary) -> Result<inference::Column, Error> {
        let Some(weights) = self.weights else {
            return Ok(inference::Column::ignored());
        };
        let values = dictionary.len();
        let nulls_are_values = self.is_quasi() || self.nulls_are_values;
        Ok(
            match (self.is_quasi() || self.tells_by_false(), nulls_are_values) {
                (true, true) => inference::Column {
                    nulls: Nulls::Attribute(values),
                    ..inference::Column::categories(values + 1, weights)
                },
                (true, false) => inference::Column {
                    nulls: Nulls::Unknown,
                    ..inference::Column::categories(values, weights)
                },
                (false, true) => unnamed_column(dictionary, weights, NullMeaning::Value)?,
                (false, false) => unnamed_column(dictionary, weights, NullMeaning::Unknown)?,
            },
        )
    }
}

/// Measures the source for a policy and returns the result.
pub fn measure(policy: &Policy, source: &Source) -> Result<Measured, Error> {
    measure_without(policy, source, None)
}

/// Returns the name of an output column without which the export would satisfy the policy, if there is one.
/// Only the first columns are tried.
pub fn spoiler(policy: &Policy, source: &Source) -> Result<Option<String>, Error> {
    /// Number of columns that are tried.
    const MAX_TRIED: usize = 12;
    let Place::Spool { outputs, .. } = source.place else {
        return Ok(None);
    };
    if policy.measure.is_function() {
        return Ok(None);
    }
    for number in 0..outputs.min(MAX_TRIED) {
        if measure_without(policy, source, Some(number))?.is_allowed(policy.limit) {
            return Ok(Some(source.columns[number].name.clone()));
        }
    }
    Ok(None)
}

fn measure_without(policy: &Policy, source: &Source, without: Option<usize>) -> Result<Measured, Error> {
    let family = policy::family_of(&[policy.relation])?;
    let counting = source.counting_without(policy, &family, without);
    rights::under_own_settings(|| match &policy.measure {
        Measure::KAnonymity => match &source.place {
            Place::Relation(_) if !source.counts_people() => k_anonymity(policy, source, &counting),
            _ => tallied::measure(policy, source, &counting, &family),
        },
        Measure::Risk(_) | Measure::Diversity(_) | Measure::Person(..) => {
            tallied::measure(policy, source, &counting, &family)
        }
        Measure::PrivacyScore(statistic) => privacy_score(policy, *statistic, source, &counting, &family),
        Measure::ExpectedCracks => cracks(source, &counting, &family),
        Measure::Function(measure) => function(policy, measure, source, &family),
        Measure::Unusable { problem, .. } => Err(policy.unusable(problem)),
    })
}

/// Runs a query that returns one row with the value, the number of rows and the number of unsafe rows.
fn ask(query: &str) -> Result<Measured, Error> {
    Spi::connect(|_| {
        // SAFETY: SPI is connected, and all queries in this file return float8, bigint and bigint.
        unsafe {
            let answer = Answer::to(query, &Parameters::default(), true)?;
            Ok(Measured {
                value: answer.get(0, 0),
                rows: answer.get(0, 1).unwrap_or(0),
                unsafe_rows: answer.get(0, 2),
            })
        }
    })
}

/// Measures k of a relation with the aggregate, which is much faster than the window function. Only if the
/// policy is broken, the window function counts the unsafe rows. Rows are compared by the equality of the
/// types, because rows that a statement inserts are compared in this way, too.
fn k_anonymity(policy: &Policy, source: &Source, quasi: &[&Column]) -> Result<Measured, Error> {
    let names: Vec<&str> = quasi.iter().map(|column| column.sql.as_str()).collect();
    let (names, from) = (names.join(", "), source.from(quasi, Vec::new()));
    let (smallest, size) = match quasi.is_empty() {
        true => ("nullif(count(*), 0)".into(), "count(*) OVER ()".into()),
        false => (
            format!("disclosure.k_anonymity({names})"),
            format!("disclosure.class_size({names}) OVER ()"),
        ),
    };
    let measured = ask(&format!(
        "SELECT {smallest}::float8, count(*), NULL::int8 FROM {from}"
    ))?;
    match measured.is_allowed(policy.limit) {
        true => Ok(Measured {
            unsafe_rows: Some(0),
            ..measured
        }),
        false => ask(&format!(
            "SELECT min(size)::float8, count(*), count(*) FILTER (WHERE size < {limit}) \
               FROM (SELECT {size} AS size FROM {from}) AS sized",
            limit = number(policy.limit.value()),
        )),
    }
}

/// Measures the privacy score of a relation or an export.
fn privacy_score(
    policy: &Policy,
    statistic: Statistic,
    source: &Source,
    counting: &[&Column],
    family: &[Oid],
) -> Result<Measured, Error> {
    let taking_part: Vec<&Column> = counting
        .iter()
        .copied()
        .filter(|column| column.weights.is_some())
        .collect();
    match &source.place {
        Place::Relation(_) => ask(&scores(
            policy,
            statistic,
            &score_of_rows(policy, source, &taking_part),
        )),
        Place::Spool { tally, scored, .. } => {
            let mut worst: Option<Measured> = None;
            for (unit, part) in units_to_score(source, tally, &taking_part, family)? {
                let places = tally.places(part.iter().filter_map(|column| column.scored_as()))?;
                let rows = tally.count_units(&places, &unit)?;
                let columns: Vec<inference::Column> = places
                    .iter()
                    .filter_map(|&place| scored.get(place)?.clone())
                    .collect();
                let scores = match columns.is_empty() {
                    true => rows.classes.sizes().iter().map(|&rows| (0.0, rows)).collect(),
                    false => scores_for_policy(&rows.classes, &columns, policy.min_confidence)?,
                };
                let measured = summary(policy, statistic, &scores);
                if worst.is_none_or(|worst| measured.value > worst.value) {
                    worst = Some(measured);
                }
            }
            worst.ok_or(Error::Internal("nothing was scored"))
        }
    }
}

/// Returns what is scored of an export: units and columns. If the query may return a stored row more than
/// once, copies would distort the shares of values. So the columns that come from each occurrence of the
/// relation are scored by themselves, one row for each stored row, and then all columns together, one row for
/// each combination of stored rows. The highest score counts.
fn units_to_score<'a>(
    source: &Source,
    tally: &Tally,
    taking_part: &[&'a Column],
    family: &[Oid],
) -> Result<Vec<(Unit, Vec<&'a Column>)>, Error> {
    let is_repeated = |occurrence: &Occurrence| matches!(occurrence.counted, Counted::Distinct(_));
    if !source.occurrences.iter().any(is_repeated) {
        return Ok(vec![(Unit::Row, taking_part.to_vec())]);
    }
    let mut units: Vec<Vec<usize>> = source
        .occurrences_of(family)
        .into_iter()
        .map(|(place, _)| vec![place])
        .collect();
    if source.occurrences.len() > 1 {
        units.push((0..source.occurrences.len()).collect());
    }
    let scored = |unit: Vec<usize>| {
        let identities = unit
            .iter()
            .flat_map(|&place| source.identity(&source.occurrences[place]));
        let identities = tally.places(identities.map(by_bytes))?;
        let part = taking_part
            .iter()
            .copied()
            .filter(|column| column.is_of(&unit))
            .collect();
        Ok(match identities.is_empty() {
            true => (Unit::Row, part),
            // Outer joins and branches of a UNION ALL leave some identities out, and that tells something, too.
            false => (Unit::Combination(identities), part),
        })
    };
    units.into_iter().map(scored).collect()
}

/// Returns the statistic of scores, which are given with the number of rows that have them.
fn summary(policy: &Policy, statistic: Statistic, scores: &[(f64, u64)]) -> Measured {
    let rows_with = |is_meant: &dyn Fn(f64) -> bool| -> u64 {
        let meant = scores.iter().filter(|(score, _)| is_meant(*score));
        meant.map(|(_, rows)| rows).sum()
    };
    let rows = rows_with(&|_| true);
    let (value, unsafe_rows) = match statistic {
        Statistic::Maximum => (
            scores.iter().map(|(score, _)| *score).fold(0.0, f64::max),
            Some(rows_with(&|score| score > policy.limit.value())),
        ),
        Statistic::Average => {
            let sum: f64 = scores.iter().map(|(score, rows)| score * *rows as f64).sum();
            (sum / rows as f64, None)
        }
        Statistic::Share { threshold } => {
            let reached = rows_with(&|score| score >= threshold);
            (reached as f64 / rows as f64, Some(reached))
        }
    };
    Measured {
        value: (rows > 0).then_some(value),
        rows: as_count(rows),
        unsafe_rows: unsafe_rows.map(as_count),
    }
}

/// Returns a query for the statistic of the scores. `score_of_rows` is a query that returns the column
/// `score`.
fn scores(policy: &Policy, statistic: Statistic, score_of_rows: &str) -> String {
    let (value, is_unsafe) = match statistic {
        Statistic::Maximum => (
            "max(score)".into(),
            format!("score > {}", number(policy.limit.value())),
        ),
        Statistic::Average => ("avg(score)".into(), "NULL".into()),
        Statistic::Share { threshold } => {
            let reached = format!("score >= {}", number(threshold));
            (format!("avg(({reached})::int)::float8"), reached)
        }
    };
    let unsafe_rows = match statistic {
        Statistic::Average => "NULL::int8".to_string(),
        _ => format!("count(*) FILTER (WHERE {is_unsafe})"),
    };
    format!("SELECT {value}, count(*), {unsafe_rows} FROM ({score_of_rows}) AS scored")
}

/// Returns a query for the scores of a relation's rows.
fn score_of_rows(policy: &Policy, source: &Source, columns: &[&Column]) -> String {
    let from = source.from(columns, Vec::new());
    if columns.is_empty() {
        return format!("SELECT 0::float8 AS score FROM {from}");
    }
    let (weighted, weights) = weighted(columns);
    format!(
        "SELECT {score} AS score FROM (SELECT {columns} FROM {from}) AS \"row\"",
        score = score_call(policy, &weights),
        columns = weighted.join(", "),
    )
}

/// Returns the call that scores the rows of the FROM item `"row"` for a policy. Values that are NULL are unknown,
/// and nearly certain inferences count.
pub fn score_call(policy: &Policy, weights: &Value) -> String {
    format!(
        "disclosure_internal.policy_score(\"row\", labels => '{weights}'::jsonb, min_confidence => {}) OVER ()",
        number(policy.min_confidence)
    )
}

/// Returns the entries of a SELECT list for the columns that take part in a score, and their weights as JSON.
/// The columns are named by position (c0, c1, …), because the names in the result of a query need not be
/// unique.
pub fn weighted(counting: &[&Column]) -> (Vec<String>, Value) {
    let mut columns = Vec::new();
    let mut weights = serde_json::Map::new();
    for (column, of_column) in counting
        .iter()
        .filter_map(|column| Some((column, column.weights?)))
    {
        let place = columns.len();
        columns.push(format!("{} AS c{place}", column.scored()));
        let mut of_column = as_json(of_column);
        if column.nulls_are_values {
            of_column["nulls"] = "value".into();
        }
        weights.insert(format!("c{place}"), of_column);
    }
    (columns, Value::Object(weights))
}

/// Returns weights in the form that the argument `labels` of scores expects.
pub fn as_json(weights: Weights) -> Value {
    json!({"likelihood": weights.likelihood, "danger": weights.danger})
}

/// Measures the highest number of expected cracks of a column of items, which is 0 if there is no such column.
/// Each stored row counts once.
fn cracks(source: &Source, counting: &[&Column], family: &[Oid]) -> Result<Measured, Error> {
    let identity = source
        .occurrences_of(family)
        .into_iter()
        .find(|(_, occurrence)| matches!(occurrence.counted, Counted::Distinct(_)))
        .map(|(_, occurrence)| Asked::Identity(source.identity(occurrence)));
    let (which, others) = match identity {
        Some(identity) => ("DISTINCT ON (id)", vec![("id".to_string(), identity)]),
        None => ("", Vec::new()),
    };
    let columns = counting.iter().filter(|column| column.is_value);
    let upper: Vec<String> = columns
        .map(|column| {
            let others = others
                .iter()
                .map(|(name, asked)| (name.clone(), asked.clone()))
                .collect();
            format!(
                "(SELECT upper FROM disclosure.crack_report_of((SELECT disclosure.count_items(item) \
                   FROM (SELECT {which} {} AS item FROM {}) AS items)))",
                column.sql,
                source.from(&[column], others)
            )
        })
        .collect();
    let value = match &upper[..] {
        [] => "0::float8".into(),
        upper => format!("greatest({})", upper.join(", ")),
    };
    ask(&format!(
        "SELECT {value}, count(*), NULL::int8 FROM {}",
        source.from(&[], Vec::new())
    ))
}

/// Measures with a function that a user wrote. The function sees only columns of the policy's relation, and
/// columns that the query computed from these. It neither uses the rights of the exporting role nor learns
/// what else that role exports.
fn function(
    policy: &Policy,
    measure: &MeasureFunction,
    source: &Source,
    family: &[Oid],
) -> Result<Measured, Error> {
    let found = measure
        .find(policy.relation)?
        .map_err(|problem| policy.unusable(problem))?;
    if sandbox::has_open_cursors()? {
        return Err(policy.unusable(format!(
            "{} is not called while the session has open cursors, which it could read",
            measure.name()
        )));
    }
    check_relations_seen(policy, measure, &found, source)?;
    let seen = columns_seen(policy, measure, &found, source, family)?;
    let columns: Vec<String> = seen
        .iter()
        .map(|column| format!("{} AS {}", column.sql, quote_identifier(&column.name)))
        .collect();
    let query = format!(
        "SELECT {} FROM {}",
        columns.join(", "),
        source.from(&seen, Vec::new())
    );
    let rows = ask(&format!(
        "SELECT NULL::float8, count(*), NULL::int8 FROM {}",
        source.from(&[], Vec::new())
    ))?
    .rows;
    let (visible, measured) = match &source.place {
        Place::Relation(_) => (None, policy.own_tables()),
        Place::Spool { .. } => (
            Some(seen.iter().map(|column| column.number).collect()),
            Vec::new(),
        ),
    };
    let value = spool::show_only(visible, || {
        rights::while_measuring(measured, || found.call(&query))
    })?;
    match value {
        None if rows > 0 => Err(Error::NothingMeasured {
            measure: measure.name().into(),
            policy: policy.number,
        }),
        value => Ok(Measured {
            value: value.filter(|_| rows > 0),
            rows,
            unsafe_rows: None,
        }),
    }
}

/// Checks that the function may learn which rows leave. That may depend on all relations that the query
/// reads. So the role that the function runs as must have the rights of their owners, and a relation of
/// another owner must not be protected itself.
fn check_relations_seen(
    policy: &Policy,
    measure: &MeasureFunction,
    found: &Found,
    source: &Source,
) -> Result<(), Error> {
    let owner = catalog::owner_of(policy.relation);
    let protected = policy::all()?;
    let is_others = |relation: &Oid| {
        let other = catalog::owner_of(*relation);
        let may_be_seen =
            |other: Oid| holds_nothing(*relation) || rights::has_rights_of(found.runs_as, other);
        other != owner && (!other.is_some_and(may_be_seen) || !protected.of([*relation]).is_empty())
    };
    let mut relations = source.relations.iter().flat_map(|&relation| with_heirs(relation));
    match relations.find(is_others) {
        None => Ok(()),
        Some(other) => Err(policy.unusable(format!(
            "function {} must not learn which rows {} has, because that relation has another owner",
            measure.name(),
            catalog::name_of(other)
        ))),
    }
}

/// Returns the columns that a function sees: those that count and are made of columns of the policy's
/// relation. Returns an error if one of them is also made of something else.
fn columns_seen<'a>(
    policy: &Policy,
    measure: &MeasureFunction,
    found: &Found,
    source: &'a Source,
    family: &[Oid],
) -> Result<Vec<&'a Column>, Error> {
    let is_own = |origin: &Origin| family.contains(&origin.relation);
    // If the policy is on a view, a column is also made of columns of the relations under the view. These may
    // be seen if they have the view's owner.
    let owner = catalog::owner_of(policy.relation).filter(|_| catalog::is_view(policy.relation));
    let may_be_seen = |origin: &Origin| {
        is_own(origin)
            || holds_nothing(origin.relation)
            || owner.is_some() && catalog::owner_of(origin.relation) == owner
    };
    // The function sees neither hidden columns nor columns that are made of other relations only.
    let is_hidden = |column: &&Column| match source.place {
        Place::Relation(_) => false,
        Place::Spool { outputs, .. } => column.number >= outputs,
    };
    let counting = source.counting(policy, family);
    let seen = counting
        .into_iter()
        .filter(|column| !is_hidden(column) && column.origins.iter().any(is_own));
    let seen: Vec<&Column> = seen.collect();
    for column in &seen {
        let name = &column.name;
        if !column.origins.iter().all(may_be_seen) {
            return Err(policy.unusable(format!(
                "column \"{name}\" is not made only of columns of the relation, so {} must not see it",
                measure.name()
            )));
        }
        if !found.trusts_type(column.type_oid) {
            return Err(policy.unusable(format!(
                "column \"{name}\" has a type of another role, whose casts {} would run",
                measure.name()
            )));
        }
    }
    Ok(seen)
}

/// Returns whether a relation stores no rows itself because it is a view.
fn holds_nothing(relation: Oid) -> bool {
    // SAFETY: accepts any OID, and returns 0 if there is no such relation.
    unsafe { pg_sys::get_rel_relkind(relation) as u8 == pg_sys::RELKIND_VIEW }
}

/// Returns the result of a measure unchanged, and logs a refusal if the policy cannot be judged.
pub fn or_refused(kind: &str, policy: &Policy, measured: Result<Measured, Error>) -> Result<Measured, Error> {
    if let Err(Error::UnusablePolicy { .. }) = measured {
        record(kind, policy, None, Outcome::Refused, Lasting::Always)?;
    }
    measured
}

/// Returns a number as an SQL literal, which is valid for NaN and infinity, too.
pub fn number(value: f64) -> String {
    format!("'{value}'::float8")
}

/// Returns what was measured for a policy, as a text for the owner of its relation.
pub fn described(policy: &Policy, measured: Measured) -> String {
    let value = measured.value.map_or("unknown".into(), |value| value.to_string());
    let found = match measured.unsafe_rows {
        Some(unsafe_rows) => {
            let are = if unsafe_rows == 1 { "is" } else { "are" };
            format!("; {unsafe_rows} of {} rows {are} unsafe", measured.rows)
        }
        None => format!("; measured on {} rows", measured.rows),
    };
    format!("{} is {value}, {}{found}", policy.measure, policy.limit.rule())
}

/// Returns the error, or warning, for rows that break a policy.
pub fn refusal(policy: &Policy, measured: Measured, change: Change) -> Error {
    Error::Unsafe {
        relation: policy.relation_name(),
        policy: policy.number,
        measure: policy.measure.to_string(),
        limit: policy.limit.rule(),
        measured: measured.value,
        rows: measured.rows,
        unsafe_rows: measured.unsafe_rows,
        change,
    }
}

/// What the log says of a statement besides its outcome.
#[derive(Default)]
pub struct Remarks<'a> {
    /// Columns that counted, with their labels; empty if there are none.
    pub counted: &'a str,
    /// For the owner of the relation: what was measured, or the error of the query.
    pub reason: Option<&'a str>,
    /// Text of the whole statement.
    pub query: Option<&'a str>,
}

/// Logs the outcome of a statement under a policy.
pub fn record(
    kind: &str,
    policy: &Policy,
    measured: Option<Measured>,
    outcome: Outcome,
    lasting: Lasting,
) -> Result<(), Error> {
    record_with(kind, policy, measured, outcome, lasting, Remarks::default())
}

/// Logs the outcome of a statement under a policy, with remarks.
pub fn record_with(
    kind: &str,
    policy: &Policy,
    measured: Option<Measured>,
    outcome: Outcome,
    lasting: Lasting,
    remarks: Remarks,
) -> Result<(), Error> {
    let entry = log::Entry {
        kind,
        relation: policy.relation,
        policy: Some(policy.number),
        measure: &policy.measure.to_string(),
        limit: &policy.limit.to_string(),
        measured: measured.and_then(|measured| measured.value),
        rows: measured.map(|measured| measured.rows),
        unsafe_rows: measured.and_then(|measured| measured.unsafe_rows),
        outcome,
        counted: remarks.counted,
        reason: remarks.reason,
        details: policy.details,
        query: remarks.query,
    };
    log::write(&entry, lasting)
}

impl Measured {
    pub fn is_allowed(&self, limit: Limit) -> bool {
        self.value.is_none_or(|value| limit.allows(value))
    }
}
