//! What is judged: the rows of an export or of a relation, and their columns with what they count as.

use crate::encode::dictionary::Dictionary;
use crate::error::Error;
use crate::guard::copy::spool::{self, Asked};
use crate::guard::copy::tally::{Comparison, Tally, TallyColumn};
use crate::guard::labels::Labels;
use crate::guard::origin::{Origin, Origins};
use crate::guard::policy::{self, Policy};
use crate::guard::rule::{Limit, Measure};
use crate::guard::shape::{Counted, HiddenKind, Occurrence, Shape};
use crate::input::relation::Relation;
use crate::methods::inference::attributes::unnamed_column;
use crate::methods::inference::column_settings::NullMeaning;
use disclosure::Weights;
use disclosure::classes::Unit;
use disclosure::inference::{self, AttributesOfValue, Nulls};
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Rows to be judged.
pub struct Source {
    pub(super) place: Place,
    pub(super) columns: Vec<Column>,
    /// Occurrences of protected relations. A relation is one, with the numbers of its columns instead of those of
    /// hidden ones.
    pub(super) occurrences: Vec<Occurrence>,
    /// Relations that the query reads.
    pub(super) relations: Vec<Oid>,
}

/// Location of the rows of a [`Source`].
pub(super) enum Place {
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
    pub(super) number: usize,
    /// Name in the relation or in the export; empty if the column is hidden.
    pub name: String,
    /// Quoted name in the source.
    pub sql: String,
    pub(super) type_oid: Oid,
    pub(super) modifier: i32,
    /// Stored columns that it is made of.
    pub(super) origins: Origins,
    /// Weights of the column; `None` if it is ignored by all measures.
    pub weights: Option<Weights>,
    /// Whether it is an expression, so that false tells as much as true.
    pub(super) is_computed: bool,
    /// Whether NULL is a value that can be inferred, and not unknown.
    pub(super) nulls_are_values: bool,
    /// Whether it counts for every policy: it tells which branch of a UNION ALL a row comes from.
    pub(super) always_counts: bool,
    /// Whether it is the value of columns, and not a condition on them.
    pub(super) is_value: bool,
    /// Whether it tells only in which rows a value of columns is NULL. That counts for the privacy score. For other
    /// measures NULL is the worst value already.
    pub(super) is_absence: bool,
    /// Columns among the origins that name people: identifiers, and columns labelled person or household.
    pub(super) identifiers: Origins,
    /// Columns among the origins that have no label.
    pub(super) unlabelled: Origins,
    /// Occurrences that it comes from.
    pub(super) from: BTreeSet<usize>,
    /// Output columns that make a hidden column count; `None` if it always counts, or is an output column.
    pub(super) needed_by: Option<Vec<usize>>,
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
                identifiers: labels.identifiers(&output.origins)?,
                unlabelled: labels.unlabelled(&output.origins)?,
                origins: output.origins.clone(),
                always_counts: false,
                is_value: true,
                is_absence: false,
                from: output.from.clone(),
                needed_by: None,
            });
        }
        for (place, hidden) in shape.hidden.iter().enumerate() {
            let number = columns.len();
            let (origins, weights) = match &hidden.kind {
                HiddenKind::Value(origins) => (origins.clone(), labels.weights(origins)?),
                HiddenKind::Condition(origins) | HiddenKind::Absence(origins) => {
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
                identifiers: labels.identifiers(&origins)?,
                unlabelled: labels.unlabelled(&origins)?,
                origins,
                weights,
                always_counts: matches!(hidden.kind, HiddenKind::Branch),
                is_value: matches!(hidden.kind, HiddenKind::Value(_) | HiddenKind::Absence(_)),
                is_absence: matches!(hidden.kind, HiddenKind::Absence(_)),
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
                identifiers: labels.identifiers(&origins)?,
                unlabelled: labels.unlabelled(&origins)?,
                origins,
                always_counts: false,
                is_value: true,
                is_absence: false,
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
    pub(super) fn counting_without(
        &self,
        policy: &Policy,
        family: &[Oid],
        without: Option<usize>,
    ) -> Vec<&Column> {
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
    pub(super) fn from(&self, columns: &[&Column], others: Vec<(String, Asked)>) -> String {
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
    pub(super) fn occurrences_of(&self, family: &[Oid]) -> Vec<(usize, &Occurrence)> {
        let is_meant = |occurrence: &Occurrence| {
            let mut relations = occurrence.relations.iter();
            relations.any(|relation| family.contains(relation))
        };
        let all = self.occurrences.iter().enumerate();
        all.filter(|(_, occurrence)| is_meant(occurrence)).collect()
    }

    /// Returns the indexes of the columns that identify the stored rows of an occurrence, or mark them.
    pub(super) fn identity(&self, occurrence: &Occurrence) -> Vec<usize> {
        match (&self.place, &occurrence.counted) {
            (Place::Spool { outputs, .. }, Counted::Marked(hidden) | Counted::Distinct(hidden)) => {
                hidden.iter().map(|place| outputs + place).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns how the stored rows of an occurrence are counted in the tally.
    pub(super) fn unit(&self, tally: &Tally, occurrence: &Occurrence) -> Result<Unit, Error> {
        let identity = tally.places(self.identity(occurrence).into_iter().map(by_bytes))?;
        Ok(match occurrence.counted {
            Counted::Rows => Unit::Row,
            Counted::Marked(_) => Unit::Marked(identity),
            Counted::Distinct(_) => Unit::Distinct(identity),
        })
    }
}

/// Makes a set without elements an attribute of the column. An array without elements that a query computes tells as much
/// as any other.
fn with_empty_sets(mut column: inference::Column, weights: Weights) -> inference::Column {
    if let AttributesOfValue::Set(sets) = &mut column.attributes_of_value {
        let empty = column.attributes.len() as u32;
        column.attributes.push(weights);
        sets.iter_mut()
            .filter(|set| set.is_empty())
            .for_each(|set| set.push(empty));
    }
    column
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
pub(super) fn by_bytes(number: usize) -> TallyColumn {
    (number, Comparison::Bytes)
}

/// Returns a number of rows as SQL has it.
pub(super) fn as_count(rows: u64) -> i64 {
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
    pub(super) fn counts_for(&self, policy: &Policy, family: &[Oid]) -> bool {
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
        let is_measured = !self.is_absence || matches!(policy.measure, Measure::PrivacyScore(_));
        self.always_counts || is_measured && self.origins.iter().any(is_meant)
    }

    /// Returns the expression whose values are scored. The false of a stored boolean column is not a value, but a
    /// computed boolean column is as good as one that says yes or no.
    pub(super) fn scored(&self) -> String {
        match self.tells_by_false() {
            true => format!("{}::pg_catalog.text", self.sql),
            false => self.sql.clone(),
        }
    }

    /// Returns whether it is a computed boolean column that is not known.
    pub(super) fn tells_by_false(&self) -> bool {
        // SAFETY: any type of a column is accepted; a domain counts as the type that it is made of.
        let is_boolean = unsafe { pg_sys::getBaseType(self.type_oid) } == pg_sys::BOOLOID;
        self.is_computed && is_boolean && !self.is_quasi()
    }

    /// Returns whether the column is the same in all rows with the same stored rows of these occurrences:
    /// conditions hold for every row.
    pub(super) fn is_of(&self, unit: &[usize]) -> bool {
        !self.is_value || !self.from.is_empty() && self.from.iter().all(|place| unit.contains(place))
    }

    /// Returns whether an adversary may know the values beforehand.
    pub(super) fn is_quasi(&self) -> bool {
        self.weights.is_some_and(|weights| weights.likelihood > 0.0)
    }

    /// Returns whether an adversary must not learn the values.
    pub(super) fn is_dangerous(&self) -> bool {
        self.weights.is_some_and(|weights| weights.danger > 0.0)
    }

    /// Returns the form in which the column of an export takes part in a score; `None` if it does not.
    pub(super) fn scored_as(&self) -> Option<TallyColumn> {
        let comparison = match self.is_quasi() {
            true => Comparison::Bytes,
            false => Comparison::Equality,
        };
        self.weights.map(|_| (self.number, comparison))
    }

    /// Returns what the values of the column in an export mean to the score. In a column that an adversary may
    /// know, NULL is a value like any other, because the recipient sees it.
    pub(super) fn meaning_to_score(&self, dictionary: &mut Dictionary) -> Result<inference::Column, Error> {
        let Some(weights) = self.weights else {
            return Ok(inference::Column::ignored());
        };
        let values = dictionary.len();
        let nulls_are_values = self.is_quasi() || self.nulls_are_values;
        let nulls = match nulls_are_values {
            true => NullMeaning::Value,
            false => NullMeaning::Unknown,
        };
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
                (false, _) if self.is_computed => {
                    with_empty_sets(unnamed_column(dictionary, weights, nulls)?, weights)
                }
                (false, _) => unnamed_column(dictionary, weights, nulls)?,
            },
        )
    }
}

impl Measured {
    pub fn is_allowed(&self, limit: Limit) -> bool {
        self.value.is_none_or(|value| limit.allows(value))
    }
}
