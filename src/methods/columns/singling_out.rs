//! The functions `singling_out` and `unique_column_combinations`: which sets of columns single people out.

use crate::args::Args;
use crate::encode::dictionary::Dictionary;
use crate::error::Error;
use crate::methods::classes::records::{Choice, ReadRecords, Unit, nulls_of_enum};
use crate::methods::columns::{column_names, max_columns_of, warn_unfinished};
use crate::pg::table::{Table, table_row};
use crate::run;
use disclosure::columns::{SetFigures, SinglingOutSettings, singling_out as figures_of, unique_combinations};
use pgrx::prelude::*;

table_row! {
    /// Figures about a set of columns.
    struct SetRow {
        columns: Vec<String>,
        classes: i64,
        uniques: i64,
        k: Option<i64>,
        share: Option<f64>,
        distinction: Option<f64>,
        separation: Option<f64>,
        minimal: bool,
        contribution: Option<f64>,
    }
}

table_row! {
    /// A minimal set of columns on which all distinct rows differ.
    struct CombinationRow {
        columns: Vec<String>,
        size: i32,
    }
}

/// singling_out(relation regclass, columns name[], max_columns int, at_least float8, labels jsonb,
/// nulls disclosure.null_treatment, unit text, budget interval)
#[pg_extern(sql = false)]
fn singling_out(args: Args) -> Table<SetRow> {
    Table::new(set_rows(args))
}

fn set_rows(mut args: Args) -> Result<Vec<SetRow>, Error> {
    let oid = args.optional("relation");
    let columns = args.names("columns");
    let max_columns = max_columns_of(args.optional("max_columns"))?;
    let at_least = args.required("at_least")?;
    let labels = args.json("labels")?;
    let nulls = nulls_of_enum(args.optional("nulls"))?;
    let unit = Unit::of_args(&mut args)?;
    let settings = SinglingOutSettings {
        max_columns,
        at_least,
        nulls,
        budget: args.budget()?,
    };
    args.end()?;
    settings.check()?;
    let choice = Choice {
        columns,
        labels,
        unit,
        ..Choice::default()
    };
    let read = ReadRecords::of_relation(oid, &choice)?;
    let found = run::long("splitting classes", |control| {
        figures_of(&read.records, &settings, control)
    })?;
    if let Some((lowest, highest)) = found.bounds {
        let bounds = format!("each of them singles out a share from {lowest:.3} to {highest:.3}");
        warn_unfinished(found.not_examined, &bounds);
    } else if found.not_examined > 0 {
        warn_unfinished(found.not_examined, "they are not in the answer");
    }
    let dictionaries: Vec<&Dictionary> = read
        .roles
        .quasi
        .iter()
        .map(|&column| &read.dictionaries[column])
        .collect();
    let row = |set: &SetFigures| SetRow {
        columns: column_names(&dictionaries, &set.columns),
        classes: set.classes as i64,
        uniques: set.uniques as i64,
        k: set.k.map(|k| k as i64),
        share: set.share,
        distinction: set.distinction,
        separation: set.separation,
        minimal: set.is_minimal,
        contribution: match set.columns[..] {
            [column] => found.contributions[column],
            _ => None,
        },
    };
    Ok(found.sets.iter().map(row).collect())
}

/// unique_column_combinations(relation regclass, columns name[], labels jsonb)
#[pg_extern(sql = false)]
fn unique_column_combinations(args: Args) -> Table<CombinationRow> {
    Table::new(combination_rows(args))
}

fn combination_rows(mut args: Args) -> Result<Vec<CombinationRow>, Error> {
    let oid = args.optional("relation");
    let columns = args.names("columns");
    let labels = args.json("labels")?;
    args.end()?;
    let choice = Choice {
        columns,
        labels,
        unit: Unit::Row,
        ..Choice::default()
    };
    let read = ReadRecords::of_relation(oid, &choice)?;
    let found = run::long("looking for unique column combinations", |control| {
        unique_combinations(&read.records, control)
    })?;
    let dictionaries: Vec<&Dictionary> = read
        .roles
        .quasi
        .iter()
        .map(|&column| &read.dictionaries[column])
        .collect();
    let row = |set: &Vec<usize>| CombinationRow {
        columns: column_names(&dictionaries, set),
        size: set.len() as i32,
    };
    Ok(found.iter().map(row).collect())
}
