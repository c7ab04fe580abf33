//! Equivalence classes, which are sets of rows that agree on every given column: `class_size`, `k_anonymity`,
//! `equivalence_classes`.
//!
//! Rows are counted by class while they are read (`counted.rs`). The definitions and algorithms are in
//! [`disclosure::classes`].

mod count_people;
pub mod counted;
mod counted_state;
mod diversity;
mod hierarchy;
mod k_anonymity;
pub mod records;
mod risk;

use crate::args::{Args, json, word};
use crate::encode::arguments::OptionArgument;
use crate::encode::dictionary::Dictionary;
use crate::encode::order::ranks_of_codes;
use crate::error::Error;
use crate::input::window::WindowCall;
use crate::memory;
use crate::methods::classes::counted::CountedRows;
use crate::methods::classes::records::{Choice, NULLS, ReadRecords, Unit, is_labelled_row, nulls_of_enum};
use crate::pg::expression::OverColumns;
use crate::pg::json::Json;
use crate::pg::table::{Table, table_row};
use crate::run;
use disclosure::classes::{By, Classes, Nulls, Records, SizeBuckets, SizeGroup, check_by_person};
use pgrx::prelude::*;
use std::borrow::Cow;

/// Returns how NULL is compared by `class_size` and `k_anonymity`, whose last argument it is if it is given.
fn nulls_of_option(option: Option<OptionArgument>) -> Result<Nulls, Error> {
    match option {
        None => Ok(Nulls::Value),
        Some(OptionArgument::Literal(label)) => word("nulls", label.as_deref(), NULLS),
        Some(OptionArgument::Enum(value)) => nulls_of_enum(value),
    }
}

/// Returns the number of rows of every class.
fn sizes_of(classes: &Classes, nulls: Nulls) -> Result<Cow<'_, [u64]>, Error> {
    match nulls {
        Nulls::Value => Ok(classes.sizes().into()),
        Nulls::Wildcard => {
            run::long("comparing classes", |control| classes.wildcard_sizes(control)).map(Cow::from)
        }
    }
}

/// Returns the number of rows, or of people if they are counted, of every class.
pub fn sizes_of_records(records: &Records, nulls: Nulls) -> Result<Vec<u64>, Error> {
    match nulls {
        Nulls::Value => Ok(records.sizes(nulls, &memory::control())?),
        Nulls::Wildcard => run::long("comparing classes", |control| records.sizes(nulls, control)),
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
        let nulls = nulls_of_option(option)?;
        if is_labelled_row(&columns)? {
            return classes_of_records(call, Choice::default(), nulls);
        }
        let CountedRows {
            counted,
            class_of_row,
        } = call.read(columns)?.sink;
        let classes = counted.classes();
        let sizes = sizes_of(&classes, nulls)?.into_owned();
        Ok(ClassesOfPartition { class_of_row, sizes })
    })?;
    Ok(partition.size_at(call.position()))
}

impl ClassesOfPartition {
    fn size_at(&self, row: usize) -> i64 {
        self.sizes[self.class_of_row[row] as usize] as i64
    }
}

/// Reads the rows of a partition as the choice says, and counts them by class.
fn classes_of_records(call: &WindowCall, choice: Choice, nulls: Nulls) -> Result<ClassesOfPartition, Error> {
    let ReadRecords { records, .. } = ReadRecords::of_partition(call, choice)?;
    Ok(ClassesOfPartition {
        sizes: sizes_of_records(&records, nulls)?,
        class_of_row: records.into_class_of_row(),
    })
}

/// class_size_of_record(record record, columns name[], labels jsonb) OVER (…)
#[pg_extern(sql = false)]
fn class_size_of_record(call: WindowCall) -> i64 {
    class_size_by_choice(&call).unwrap_or_else(Error::raise)
}

fn class_size_by_choice(call: &WindowCall) -> Result<i64, Error> {
    let partition = call.partition_state(|call| {
        // SAFETY: sql/ declares the options with these types.
        let options = unsafe { call.options() };
        let choice = Choice {
            columns: options.names(1),
            labels: json("labels", options.get(2))?,
            ..Choice::default()
        };
        classes_of_records(call, choice, Nulls::Value)
    })?;
    Ok(partition.size_at(call.position()))
}

table_row! {
    /// Classes of similar sizes.
    struct ClassesOfSize {
        size: i64,
        up_to: Option<i64>,
        classes: i64,
        rows: i64,
        people: Option<i64>,
        examples: Option<Json>,
    }
}

/// equivalence_classes(relation regclass, columns name[], nulls disclosure.null_treatment, buckets bigint[],
/// examples int, unit text, by text, labels jsonb)
#[pg_extern(sql = false)]
fn equivalence_classes(args: Args) -> Table<ClassesOfSize> {
    Table::new(classes_by_size(args))
}

fn classes_by_size(mut args: Args) -> Result<Vec<ClassesOfSize>, Error> {
    let oid = args.optional("relation");
    let columns = args.names("columns");
    let nulls = nulls_of_enum(args.optional("nulls"))?;
    let buckets = size_buckets(args.optional("buckets"));
    let wanted = args.number("examples", 0)?;
    let unit = Unit::of_args(&mut args)?;
    let by = by_of_args(&mut args)?;
    let labels = args.json("labels")?;
    args.end()?;
    buckets.check()?;
    let choice = Choice {
        columns,
        labels,
        unit,
        ..Choice::default()
    };
    let ReadRecords {
        records,
        mut dictionaries,
        roles,
    } = ReadRecords::of_relation(oid, &choice)?;
    let people = records.counts_people();
    let row = |group: SizeGroup, examples: Option<Json>| ClassesOfSize {
        size: group.from as i64,
        up_to: group.up_to.map(|up_to| up_to as i64),
        classes: group.classes as i64,
        rows: group.rows as i64,
        people: people.then_some(group.people as i64),
        examples,
    };
    if by == By::Person {
        check_by_person(&records, None, nulls)?;
        no_examples(wanted)?;
        let groups = run::long("comparing people", |control| {
            records.size_groups_by_person(&buckets, control)
        })?;
        return Ok(groups.into_iter().map(|group| row(group, None)).collect());
    }
    let sizes = sizes_of_records(&records, nulls)?;
    // Of all columns that were read, those that form the classes, in their order.
    let mut of_column: Vec<Option<Dictionary>> = dictionaries.drain(..).map(Some).collect();
    let of_classes = roles.quasi.iter().filter_map(|&column| of_column[column].take());
    let mut dictionaries: Vec<Dictionary> = of_classes.collect();
    let classes = records.classes();
    let mut shown = Examples::new(wanted, &mut dictionaries, classes, &sizes)?;
    let groups = records.size_groups(&sizes, &buckets).into_iter();
    let row = groups.map(|group| {
        let examples = shown.up_to(group.up_to, &dictionaries, classes);
        row(group, examples)
    });
    Ok(row.collect())
}

/// Reads the argument `by`.
fn by_of_args(args: &mut Args) -> Result<By, Error> {
    word(
        "by",
        args.optional("by"),
        &[("row", By::Row), ("person", By::Person)],
    )
}

/// Refuses examples of classes of people, because these have no values in common that one row could show.
fn no_examples(wanted: usize) -> Result<(), Error> {
    match wanted {
        0 => Ok(()),
        _ => Err(Error::argument(
            "examples",
            "must be 0 if by is 'person'",
            "Leave it out.",
        )),
    }
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
