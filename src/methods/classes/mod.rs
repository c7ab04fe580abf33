//! Equivalence classes, which are sets of rows that agree on every given column: `class_size`, `k_anonymity`,
//! `equivalence_classes`.
//!
//! Rows are counted by class while they are read (`counted.rs`). The definitions and algorithms are in
//! [`disclosure::classes`].

pub mod counted;
mod k_anonymity;

use crate::args::{Args, enum_word, word};
use crate::encode::Encoded;
use crate::encode::arguments::OptionArgument;
use crate::encode::dictionary::Dictionary;
use crate::encode::order::ranks_of_codes;
use crate::error::Error;
use crate::input::relation::Relation;
use crate::input::window::WindowCall;
use crate::label::known_columns;
use crate::methods::classes::counted::{Counted, CountedRows};
use crate::pg::expression::OverColumns;
use crate::pg::json::Json;
use crate::pg::table::{Table, table_row};
use crate::run;
use disclosure::classes::{Classes, SizeBuckets};
use pgrx::prelude::*;
use std::borrow::Cow;

/// How NULLs are compared: as a value of their own, or as a wildcard that equals any value. The SQL type
/// `disclosure.null_treatment`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum NullTreatment {
    Value,
    Wildcard,
}

impl NullTreatment {
    const WORDS: &[(&str, Self)] = &[
        ("value", NullTreatment::Value),
        ("wildcard", NullTreatment::Wildcard),
    ];

    fn of_label(label: Option<&str>) -> Result<Self, Error> {
        word("nulls", label, Self::WORDS)
    }

    /// Returns the treatment for a value of the SQL type.
    fn of_enum(value: Option<pg_sys::Oid>) -> Result<Self, Error> {
        enum_word("nulls", value, Self::WORDS)
    }

    /// Returns the treatment for the option of `class_size` and `k_anonymity`, which is their last argument
    /// if it is given.
    fn of_option(option: Option<OptionArgument>) -> Result<Self, Error> {
        match option {
            None => Ok(NullTreatment::Value),
            Some(OptionArgument::Literal(label)) => Self::of_label(label.as_deref()),
            Some(OptionArgument::Enum(value)) => Self::of_enum(value),
        }
    }

    /// Returns the size of every class under this treatment.
    fn sizes(self, classes: &Classes) -> Result<Cow<'_, [u64]>, Error> {
        match self {
            NullTreatment::Value => Ok(classes.sizes().into()),
            NullTreatment::Wildcard => {
                run::long("comparing classes", |control| classes.wildcard_sizes(control)).map(Cow::from)
            }
        }
    }
}

const CLASS_SIZE: OverColumns = OverColumns {
    name: "class_size",
    hint: "Give columns, as in SELECT disclosure.class_size(age, zip) OVER () FROM t; for a whole relation see \
           disclosure.equivalence_classes('t').",
};

/// class_size(VARIADIC "any") OVER (…)
#[pg_extern(sql = false)]
fn class_size(call: WindowCall) -> i64 {
    class_size_of_row(&call).unwrap_or_else(Error::raise)
}

/// Sizes of a partition's classes, and the class of each of its rows.
struct ClassesOfPartition {
    class_of_row: Vec<u32>,
    sizes: Vec<u64>,
}

fn class_size_of_row(call: &WindowCall) -> Result<i64, Error> {
    let partition = call.partition_state(|call| {
        let mut columns = call.argument_types();
        let option = call.take_option(&mut columns);
        call.check_columns(&CLASS_SIZE, columns.len())?;
        let nulls = NullTreatment::of_option(option)?;
        let CountedRows {
            counted,
            class_of_row,
        } = call.read(columns, CountedRows::default())?.sink;
        let classes = counted.classes();
        let sizes = nulls.sizes(&classes)?.into_owned();
        Ok(ClassesOfPartition { class_of_row, sizes })
    })?;
    let class = partition.class_of_row[call.position()];
    Ok(partition.sizes[class as usize] as i64)
}

table_row! {
    /// Classes of similar sizes.
    struct ClassesOfSize {
        size: i64,
        up_to: Option<i64>,
        classes: i64,
        rows: i64,
        examples: Option<Json>,
    }
}

/// equivalence_classes(relation regclass, columns name[], nulls disclosure.null_treatment, buckets bigint[],
/// examples int)
#[pg_extern(sql = false)]
fn equivalence_classes(args: Args) -> Table<ClassesOfSize> {
    Table::new(classes_by_size(args))
}

fn classes_by_size(mut args: Args) -> Result<Vec<ClassesOfSize>, Error> {
    let oid = args.optional("relation");
    let columns = args.names("columns");
    let nulls = NullTreatment::of_enum(args.optional("nulls"))?;
    let buckets = size_buckets(args.optional("buckets"));
    let wanted = args.number("examples", 0)?;
    args.end()?;
    buckets.check()?;
    let relation = relation_by_labels(oid, columns)?;
    let Encoded {
        mut dictionaries,
        sink,
    } = relation.read(Counted::default())?;
    let classes = sink.classes();
    let sizes = nulls.sizes(&classes)?;
    let mut shown = Examples::new(wanted, &mut dictionaries, &classes, &sizes)?;
    let groups = classes.size_groups(&sizes, &buckets).into_iter();
    let row = groups.map(|group| ClassesOfSize {
        size: group.from as i64,
        up_to: group.up_to.map(|up_to| up_to as i64),
        classes: group.classes as i64,
        rows: group.rows as i64,
        examples: shown.up_to(group.up_to, &dictionaries, &classes),
    });
    Ok(row.collect())
}

/// Returns the buckets that the caller gave. Without any, each size has a bucket of its own.
fn size_buckets(starts: Option<Vec<Option<i64>>>) -> SizeBuckets {
    // Negative numbers and NULL are as wrong as 0, which the check refuses.
    let start = |start: Option<i64>| start.and_then(|start| u64::try_from(start).ok()).unwrap_or(0);
    match starts {
        None => SizeBuckets::EachSize,
        Some(starts) => SizeBuckets::StartingAt(starts.into_iter().map(start).collect()),
    }
}

/// Returns a relation with the columns that the caller gave; without any, those that are known by their labels.
fn relation_by_labels(
    oid: Option<pg_sys::Oid>,
    columns: Option<Vec<Option<String>>>,
) -> Result<Relation, Error> {
    let relation = Relation::new(oid, columns.clone())?;
    match (oid, columns) {
        (Some(oid), None) => {
            let known = known_columns(oid, &relation)?;
            if known.is_empty() && relation.width() > 0 {
                return Err(Error::argument(
                    "columns",
                    "no column of the relation is known to an adversary by its label",
                    "Give the columns, or label those that outsiders may know as quasi.",
                ));
            }
            Ok(relation.with_columns(known))
        }
        _ => Ok(relation),
    }
}

/// Smallest classes, whose values the caller wants to see.
struct Examples {
    /// Size and number of each class. Sizes ascend.
    smallest: std::iter::Peekable<std::vec::IntoIter<(u64, usize)>>,
}

impl Examples {
    /// Selects the `wanted` smallest classes. Classes of the same size are ordered by their values, so that
    /// the selection does not depend on the order in which rows are read.
    fn new(
        wanted: usize,
        dictionaries: &mut [Dictionary],
        classes: &Classes,
        sizes: &[u64],
    ) -> Result<Self, Error> {
        let mut smallest = Vec::new();
        if wanted > 0 {
            let codes = dictionaries.iter_mut().map(Dictionary::canonical_codes);
            let places = codes.map(|codes| codes.map(|codes| ranks_of_codes(&codes)));
            let places = places.collect::<Result<Vec<_>, Error>>()?;
            let values = |class: usize| {
                let codes = classes.codes(class).iter().zip(&places);
                // NULL has place 0, which wraps around and so comes last.
                codes.map(|(&code, places)| places[code as usize].wrapping_sub(1))
            };
            let before = |one: &(u64, usize), other: &(u64, usize)| {
                one.0
                    .cmp(&other.0)
                    .then_with(|| values(one.1).cmp(values(other.1)))
            };
            smallest = sizes.iter().copied().zip(0..classes.len()).collect();
            if wanted < smallest.len() {
                smallest.select_nth_unstable_by(wanted, before);
                smallest.truncate(wanted);
            }
            smallest.sort_unstable_by(before);
        }
        Ok(Examples {
            smallest: smallest.into_iter().peekable(),
        })
    }

    /// Returns the examples whose size is at most this one, `None` for all that are left, each as an object of
    /// column names and values as text. Sizes must be asked for in ascending order.
    fn up_to(&mut self, size: Option<u64>, dictionaries: &[Dictionary], classes: &Classes) -> Option<Json> {
        let is_asked_for = |&(of_class, _): &(u64, usize)| size.is_none_or(|size| of_class <= size);
        let mut examples = Vec::new();
        while let Some((_, class)) = self.smallest.next_if(is_asked_for) {
            let pairs = dictionaries.iter().zip(classes.codes(class));
            let example = pairs.map(|(dictionary, &code)| {
                let value = dictionary.text(code).map_or(serde_json::Value::Null, Into::into);
                (dictionary.column().name.clone(), value)
            });
            examples.push(serde_json::Value::Object(example.collect()));
        }
        (!examples.is_empty()).then(|| Json(examples.into()))
    }
}
