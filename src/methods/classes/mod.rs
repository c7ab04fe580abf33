//! Equivalence classes: `class_size`, `k_anonymity`, `equivalence_classes`.

pub mod counted;

use crate::encode::arguments::OptionArgument;
use crate::encode::dictionary::Dictionary;
use crate::encode::wire::{put, take, take_array};
use crate::encode::{Encoded, Sink};
use crate::error::Problem;
use crate::input::aggregate::{AggregateCall, RowAggregate, RowMethod};
use crate::input::relation::Relation;
use crate::input::window::WindowCall;
use crate::methods::classes::counted::{Counted, CountedRows};
use crate::pg::json::Json;
use crate::run;
use disclosure::Rows;
use disclosure::classes::Classes;
use pgrx::prelude::*;
use pgrx::{Array, Internal};
use std::borrow::Cow;

/// What an absent value is equal to: the SQL type `disclosure.null_treatment`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum NullTreatment {
    Value,
    Wildcard,
}

impl NullTreatment {
    const HINT: &str = "Give 'value' (NULL equals NULL only) or 'wildcard' (NULL equals everything).";

    fn of_label(label: Option<&str>) -> Result<Self, Problem> {
        let problem = match label {
            Some("value") => return Ok(NullTreatment::Value),
            Some("wildcard") => return Ok(NullTreatment::Wildcard),
            Some(_) => "is neither 'value' nor 'wildcard'",
            None => "must not be NULL",
        };
        Err(Problem::argument("nulls", problem, Self::HINT))
    }

    /// Of a value of the SQL type.
    fn of_enum(value: Option<pg_sys::Oid>) -> Result<Self, Problem> {
        let label = value.map(|oid| pgrx::enum_helper::lookup_enum_by_oid(oid).0);
        Self::of_label(label.as_deref())
    }

    /// The option of `class_size` and `k_anonymity`, their last argument if it is one.
    fn of_option(option: Option<OptionArgument>) -> Result<Self, Problem> {
        match option {
            None => Ok(NullTreatment::Value),
            Some(OptionArgument::Literal(label)) => Self::of_label(label.as_deref()),
            Some(OptionArgument::Enum(value)) => Self::of_enum(value),
        }
    }

    /// The size of every class under this treatment.
    fn sizes(self, classes: &Classes) -> Result<Cow<'_, [u64]>, Problem> {
        match self {
            NullTreatment::Value => Ok(classes.sizes().into()),
            NullTreatment::Wildcard => {
                run::long("comparing classes", |control| classes.wildcard_sizes(control)).map(Cow::from)
            }
        }
    }
}

/// class_size(VARIADIC "any") OVER (…)
#[pg_extern(sql = false)]
fn class_size(call: WindowCall) -> i64 {
    class_size_of_row(&call).unwrap_or_else(Problem::raise)
}

/// The sizes of a partition's classes, and which class each of its rows belongs to.
struct ClassesOfPartition {
    class_of_row: Vec<u32>,
    sizes: Vec<u64>,
}

fn class_size_of_row(call: &WindowCall) -> Result<i64, Problem> {
    let partition = call.partition_state(|call| {
        let mut columns = call.argument_types();
        let nulls = NullTreatment::of_option(call.take_option(&mut columns))?;
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

/// The method of the aggregate k_anonymity.
struct KAnonymity {
    counted: Counted,
    nulls: NullTreatment,
}

impl Sink for KAnonymity {
    fn rows(&mut self, rows: Rows) -> disclosure::Result<()> {
        self.counted.rows(rows)
    }
}

impl RowMethod for KAnonymity {
    fn new(option: Option<OptionArgument>) -> Result<Self, Problem> {
        Ok(KAnonymity {
            counted: Counted::default(),
            nulls: NullTreatment::of_option(option)?,
        })
    }

    fn merge(&mut self, other: &Self, translation: &[Vec<u32>]) -> Result<(), Problem> {
        if let Some(classes) = &other.counted.0 {
            let here = self
                .counted
                .0
                .get_or_insert_with(|| Classes::new(classes.width()));
            here.merge(classes, translation)?;
        }
        Ok(())
    }

    fn write(&self, out: &mut Vec<u8>) {
        put(out, u64::from(self.nulls == NullTreatment::Wildcard));
        let Some(classes) = &self.counted.0 else {
            return;
        };
        put(out, classes.width() as u64);
        for (class, &size) in classes.sizes().iter().enumerate() {
            put(out, size);
            out.extend(classes.codes(class).iter().flat_map(|code| code.to_ne_bytes()));
        }
    }

    fn read(input: &mut &[u8]) -> Result<Self, Problem> {
        let nulls = match take(input)? {
            0 => NullTreatment::Value,
            _ => NullTreatment::Wildcard,
        };
        let mut counted = Counted::default();
        if !input.is_empty() {
            let mut classes = Classes::new(take(input)? as usize);
            let mut codes = vec![0; classes.width()];
            while !input.is_empty() {
                let size = take(input)?;
                for code in &mut codes {
                    *code = u32::from_ne_bytes(take_array(input)?);
                }
                classes.insert_many(&codes, size)?;
            }
            counted.0 = Some(classes);
        }
        Ok(KAnonymity { counted, nulls })
    }
}

/// Transition function of k_anonymity(VARIADIC "any")
#[pg_extern(sql = false)]
fn k_anonymity_transition(call: AggregateCall) -> Internal {
    RowAggregate::<KAnonymity>::transition(&call).unwrap_or_else(Problem::raise)
}

#[pg_extern(sql = false)]
fn k_anonymity_combine(call: AggregateCall) -> Internal {
    RowAggregate::<KAnonymity>::combine(&call).unwrap_or_else(Problem::raise)
}

#[pg_extern(sql = false)]
fn k_anonymity_serialise(call: AggregateCall) -> Vec<u8> {
    RowAggregate::<KAnonymity>::serialise(&call).unwrap_or_else(Problem::raise)
}

#[pg_extern(sql = false)]
fn k_anonymity_deserialise(bytes: &[u8], call: AggregateCall) -> Internal {
    RowAggregate::<KAnonymity>::deserialise(&call, bytes).unwrap_or_else(Problem::raise)
}

#[pg_extern(sql = false)]
fn k_anonymity_final(mut state: Internal) -> Option<i64> {
    k_anonymity(&mut state).unwrap_or_else(Problem::raise)
}

fn k_anonymity(state: &mut Internal) -> Result<Option<i64>, Problem> {
    let (method, null_rows) = RowAggregate::<KAnonymity>::so_far(state)?;
    let k = match method.map(|method| (&method.counted.0, method.nulls)) {
        Some((Some(classes), nulls)) => nulls.sizes(classes)?.iter().min().copied(),
        _ => Some(null_rows).filter(|&rows| rows > 0),
    };
    Ok(k.map(|k| k as i64))
}

/// equivalence_classes(relation regclass, columns name[], nulls disclosure.null_treatment, examples int)
#[pg_extern(sql = false)]
fn equivalence_classes(
    relation: Option<pg_sys::Oid>,
    columns: Option<Array<'_, &std::ffi::CStr>>,
    nulls: Option<pg_sys::Oid>,
    examples: Option<i32>,
) -> TableIterator<
    'static,
    (
        name!(size, i64),
        name!(classes, i64),
        name!(rows, i64),
        name!(smallest, Option<Json>),
    ),
> {
    let columns = columns.map(crate::args::names);
    let rows = classes_by_size(relation, columns, nulls, examples);
    TableIterator::new(rows.unwrap_or_else(Problem::raise))
}

type SizeRow = (i64, i64, i64, Option<Json>);

fn classes_by_size(
    relation: Option<pg_sys::Oid>,
    columns: Option<Vec<Option<String>>>,
    nulls: Option<pg_sys::Oid>,
    examples: Option<i32>,
) -> Result<Vec<SizeRow>, Problem> {
    let nulls = NullTreatment::of_enum(nulls)?;
    let wanted = examples.filter(|&wanted| wanted >= 0).ok_or(Problem::argument(
        "examples",
        "must be 0 or more",
        "It is the number of classes, smallest first, whose values are to be shown.",
    ))?;
    let relation = Relation::new(relation, columns)?;
    let Encoded { dictionaries, sink } = relation.read(Counted::default())?;
    let classes = sink.classes();
    let sizes = nulls.sizes(&classes)?;
    let mut shown = Examples::new(wanted as usize, &classes, &sizes);
    let rows = classes.size_groups(&sizes).into_iter().map(|group| {
        let examples = shown.of_size(group.size, &dictionaries, &classes);
        (
            group.size as i64,
            group.classes as i64,
            group.rows as i64,
            examples,
        )
    });
    Ok(rows.collect())
}

/// The smallest classes, whose values the caller wants to see.
struct Examples {
    smallest: std::iter::Peekable<std::vec::IntoIter<(u64, usize)>>,
}

impl Examples {
    fn new(wanted: usize, classes: &Classes, sizes: &[u64]) -> Self {
        let mut by_size: Vec<(u64, usize)> = if wanted == 0 {
            Vec::new()
        } else {
            sizes.iter().copied().zip(0..classes.len()).collect()
        };
        by_size.sort_unstable();
        by_size.truncate(wanted);
        Examples {
            smallest: by_size.into_iter().peekable(),
        }
    }

    /// The examples of one size, which must be asked for in ascending order: column and value as text.
    fn of_size(&mut self, size: u64, dictionaries: &[Dictionary], classes: &Classes) -> Option<Json> {
        let mut examples = Vec::new();
        while let Some((_, class)) = self.smallest.next_if(|&(of_class, _)| of_class == size) {
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
