//! Inferences that a table allows, whichever rows they are about: `inferences`, `holes`.
//!
//! A hole is a combination of attributes that no row has, although some row has every smaller part of it
//! (chapter 6 of the paper). Holes make inferences possible.

use crate::args::{Args, warn_once, word};
use crate::error::Error;
use crate::methods::inference::options::Options;
use crate::methods::inference::table::AttributeTable;
use crate::pg::table::{Table, table_row};
use disclosure::inference::{self, HoleSettings, Holes, InferenceListSettings, InferenceOrder, Inferences};
use pgrx::prelude::*;

table_row! {
    /// An inference: what has to be known, and what follows from it.
    struct Rule {
        known: Vec<String>,
        inferred: Vec<String>,
        support: i64,
        people: i64,
        confidence: f64,
        likelihood: f64,
        danger: f64,
        weight: f64,
    }
}

/// What the list is ordered by.
const ORDERS: &[(&str, InferenceOrder)] = &[
    ("weight", InferenceOrder::Weight),
    ("people", InferenceOrder::People),
];

/// inferences(relation regclass, columns name[], labels jsonb, min_weight float8, min_confidence float8,
/// joint_confidence boolean, sensitive_nulls disclosure.sensitive_null_treatment, discount_common boolean,
/// constant float8, order_by text, max_rows int, budget interval)
#[pg_extern(sql = false)]
fn inferences(args: Args) -> Table<Rule> {
    Table::new(rules_of(args))
}

fn rules_of(mut args: Args) -> Result<Vec<Rule>, Error> {
    let relation = args.optional("relation");
    let columns = args.names("columns");
    let mut options = Options::labels(&mut args)?;
    let min_weight = args.required("min_weight")?;
    options.measure(&mut args)?;
    let wanted = InferenceListSettings {
        order: word("order_by", args.optional("order_by"), ORDERS)?,
        min_weight,
        max_rows: args.number("max_rows", 1)?,
    };
    let options = options.finish(args)?;
    wanted.check()?;
    let (table, people) = AttributeTable::with_people(relation, columns, &options)?;
    let Inferences {
        inferences,
        people,
        complete,
    } = table.compute("looking for inferences", |table, control| {
        inference::inferences(table, &options.settings, &wanted, people.as_ref(), control)
    })?;
    if !complete {
        warn_once("the search was not finished within the budget: there may be other inferences");
    }
    let row = |(rule, people): (&inference::Inference, u64)| Rule {
        known: table.texts(&rule.known),
        inferred: table.inferred(rule),
        support: rule.support as i64,
        people: people as i64,
        confidence: rule.confidence().unwrap_or(1.0),
        likelihood: rule.likelihood,
        danger: rule.danger,
        weight: rule.weight(),
    };
    Ok(inferences.iter().zip(people).map(row).collect())
}

table_row! {
    /// A hole, and the worst inference from a part of it.
    struct Hole {
        hole: Vec<String>,
        size: i32,
        weight: f64,
        inference: Option<String>,
        support: i64,
    }
}

/// holes(relation regclass, columns name[], labels jsonb, max_size int, constant float8, max_rows int,
/// budget interval)
#[pg_extern(sql = false)]
fn holes(args: Args) -> Table<Hole> {
    Table::new(holes_of(args))
}

fn holes_of(mut args: Args) -> Result<Vec<Hole>, Error> {
    let relation = args.optional("relation");
    let columns = args.names("columns");
    let mut options = Options::labels(&mut args)?;
    let max_size = args.count("max_size")? as usize;
    options.constant(&mut args)?;
    let wanted = HoleSettings {
        max_size,
        max_rows: args.number("max_rows", 1)?,
    };
    let options = options.finish(args)?;
    wanted.check()?;
    let table = AttributeTable::of_relation(relation, columns, &options)?;
    let Holes { holes, complete } = table.compute("looking for holes", |table, control| {
        inference::holes(table, &options.settings, &wanted, control)
    })?;
    if !complete {
        warn_once("the search was not finished within the budget: there may be other holes");
    }
    let row = |hole: &inference::Hole| Hole {
        hole: table.texts(&hole.attributes),
        size: hole.attributes.len() as i32,
        weight: hole.worst.weight(),
        inference: table.formula(&hole.worst),
        support: hole.worst.support as i64,
    };
    Ok(holes.iter().map(row).collect())
}
