//! The function `minimal_uniques`: which combinations of values only one row or person has.

use crate::args::{Args, word};
use crate::encode::dictionary::Dictionary;
use crate::encode::order::ranks_of_codes;
use crate::error::Error;
use crate::methods::classes::records::{Choice, ReadRecords, Unit, nulls_of_enum};
use crate::methods::columns::{column_names, max_columns_of, warn_unfinished};
use crate::pg::json::Json;
use crate::pg::table::{Table, table_row};
use crate::run;
use disclosure::classes::Records;
use disclosure::columns::{
    Combination, MinimalUniques, Share, UniqueSet, UniqueSettings, minimal_uniques as uniques_of,
};
use pgrx::prelude::*;
use serde_json::Value;

table_row! {
    /// Minimal uniques: a single one, or those of a set of columns, with a column, or with a value.
    struct UniqueRow {
        columns: Vec<String>,
        combination: Option<Json>,
        rows: i64,
        uniques: i64,
        contribution: f64,
    }
}

/// What a row of the answer is about.
#[derive(Clone, Copy)]
enum GroupBy {
    Combination,
    Columns,
    Column,
    Value,
}

impl GroupBy {
    const WORDS: &[(&str, Self)] = &[
        ("combination", GroupBy::Combination),
        ("columns", GroupBy::Columns),
        ("column", GroupBy::Column),
        ("value", GroupBy::Value),
    ];
}

/// minimal_uniques(relation regclass, columns name[], max_columns int, group_by text, labels jsonb,
/// nulls disclosure.null_treatment, unit text, budget interval)
#[pg_extern(sql = false)]
fn minimal_uniques(args: Args) -> Table<UniqueRow> {
    Table::new(unique_rows(args))
}

fn unique_rows(mut args: Args) -> Result<Vec<UniqueRow>, Error> {
    let oid = args.optional("relation");
    let columns = args.names("columns");
    let max_columns = max_columns_of(args.optional("max_columns"))?;
    let group_by = word("group_by", args.optional("group_by"), GroupBy::WORDS)?;
    let labels = args.json("labels")?;
    let settings = UniqueSettings {
        max_columns,
        nulls: nulls_of_enum(args.optional("nulls"))?,
        budget: None,
    };
    let unit = Unit::of_args(&mut args)?;
    let settings = UniqueSettings {
        budget: args.budget()?,
        ..settings
    };
    args.end()?;
    let choice = Choice {
        columns,
        labels,
        unit,
        ..Choice::default()
    };
    let mut read = ReadRecords::of_relation(oid, &choice)?;
    let found = run::long("looking for minimal uniques", |control| {
        uniques_of(&read.records, &settings, control)
    })?;
    if found.not_examined > 0 {
        warn_unfinished(found.not_examined, "there may be other minimal uniques");
    }
    match group_by {
        GroupBy::Combination => combinations(&mut read, &found),
        GroupBy::Columns => Ok(of_sets(&read, &found)),
        GroupBy::Column => Ok(of_columns(&read, &found)),
        GroupBy::Value => of_values(&mut read, &found),
    }
}

impl UniqueRow {
    fn new(columns: Vec<String>, combination: Option<Value>, share: Share) -> Self {
        UniqueRow {
            columns,
            combination: combination.map(Json),
            rows: share.rows as i64,
            uniques: share.uniques as i64,
            contribution: share.contribution,
        }
    }
}

/// Returns the dictionaries of the columns that form the classes, in their order.
fn of_classes(read: &ReadRecords) -> Vec<&Dictionary> {
    read.roles
        .quasi
        .iter()
        .map(|&column| &read.dictionaries[column])
        .collect()
}

/// Returns values of a class as an object of column names and values as text.
fn values(dictionaries: &[&Dictionary], records: &Records, class: u32, columns: &[usize]) -> Value {
    let codes = records.classes().codes(class as usize);
    let pairs = columns.iter().map(|&column| {
        let text = dictionaries[column].text(codes[column]);
        (
            dictionaries[column].column().name.clone(),
            text.map_or(Value::Null, Value::from),
        )
    });
    Value::Object(pairs.collect())
}

/// Returns the rank of each value, by column and code. It depends only on the values, and NULL comes last.
fn ranks(read: &mut ReadRecords) -> Result<Vec<Vec<u32>>, Error> {
    let ReadRecords {
        dictionaries, roles, ..
    } = read;
    let rank = |&column: &usize| {
        let mut ranks = ranks_of_codes(&dictionaries[column].canonical_codes()?);
        ranks[0] = u32::MAX;
        Ok(ranks)
    };
    roles.quasi.iter().map(rank).collect()
}

/// Returns all minimal uniques, ordered by their columns and then by their values.
fn combinations(read: &mut ReadRecords, found: &MinimalUniques) -> Result<Vec<UniqueRow>, Error> {
    let ranks = ranks(read)?;
    let dictionaries = of_classes(read);
    let mut rows = Vec::new();
    for set in &found.sets {
        let rank_of = |combination: &Combination| {
            let codes = read.records.classes().codes(combination.class as usize);
            set.columns
                .iter()
                .map(|&column| ranks[column][codes[column] as usize])
                .collect::<Vec<u32>>()
        };
        let mut ordered = set.combinations.clone();
        ordered.sort_by_cached_key(rank_of);
        let names = column_names(&dictionaries, &set.columns);
        rows.extend(ordered.iter().map(|combination| {
            let share = Share {
                rows: combination.rows,
                uniques: 1,
                contribution: found.contribution(set.columns.len()),
            };
            let values = values(&dictionaries, &read.records, combination.class, &set.columns);
            UniqueRow::new(names.clone(), Some(values), share)
        }));
    }
    Ok(rows)
}

fn of_sets(read: &ReadRecords, found: &MinimalUniques) -> Vec<UniqueRow> {
    let dictionaries = of_classes(read);
    let row = |(set, share): (&UniqueSet, Share)| {
        UniqueRow::new(column_names(&dictionaries, &set.columns), None, share)
    };
    found.sets.iter().zip(found.by_set()).map(row).collect()
}

fn of_columns(read: &ReadRecords, found: &MinimalUniques) -> Vec<UniqueRow> {
    let dictionaries = of_classes(read);
    let row = |(column, share)| UniqueRow::new(column_names(&dictionaries, &[column]), None, share);
    found.by_column().into_iter().enumerate().map(row).collect()
}

/// Returns the values that are part of minimal uniques, ordered by column and then by value.
fn of_values(read: &mut ReadRecords, found: &MinimalUniques) -> Result<Vec<UniqueRow>, Error> {
    let ranks = ranks(read)?;
    let mut shares = run::long("adding up values", |control| {
        found.by_value(&read.records, control)
    })?;
    let rank_of = |&(column, class, _): &(usize, u32, Share)| {
        let code = read.records.classes().codes(class as usize)[column];
        (column, ranks[column][code as usize])
    };
    shares.sort_unstable_by_key(rank_of);
    let dictionaries = of_classes(read);
    let row = |(column, class, share)| {
        let value = values(&dictionaries, &read.records, class, &[column]);
        UniqueRow::new(column_names(&dictionaries, &[column]), Some(value), share)
    };
    Ok(shares.into_iter().map(row).collect())
}
