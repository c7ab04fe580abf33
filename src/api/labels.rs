//! Labels: `label_column`, and `label_weights`, on which the view `labels` stands.

use super::name;
use crate::error::Problem;
use crate::guard::rights;
use crate::input::relation::Relation;
use disclosure::Label;
use pgrx::fcinfo::pg_getarg;
use pgrx::pg_sys::{FunctionCallInfo, Oid};
use pgrx::prelude::*;
use pgrx::spi::{Error, quote_identifier};

/// label_weights(label text): likelihood and danger
#[pg_extern(sql = false)]
fn label_weights(label: &str) -> Option<Vec<f64>> {
    let label: Result<Label, Problem> = label.parse().map_err(Problem::from);
    let weights = label.unwrap_or_else(Problem::raise).weights()?;
    Some(vec![weights.likelihood, weights.danger])
}

/// label_column(relation regclass, column_name name, label text)
#[pg_extern(sql = false)]
fn label_column(fcinfo: FunctionCallInfo) {
    // SAFETY: the types are those of the declaration in sql/.
    let (relation, column, label) = unsafe {
        (
            pg_getarg(fcinfo, 0),
            name(pg_getarg(fcinfo, 1)),
            pg_getarg(fcinfo, 2),
        )
    };
    set_label(relation, column, label).unwrap_or_else(Problem::raise);
}

fn set_label(oid: Option<Oid>, column: Option<String>, label: Option<String>) -> Result<(), Problem> {
    let relation = Relation::whole("relation", oid)?;
    let oid = oid.ok_or(Problem::Lost)?; // NULL was refused above
    let column = column.ok_or_else(|| Problem::Argument {
        argument: "column_name",
        problem: "must not be NULL".into(),
        hint: "Give the name of a column.",
    })?;
    relation.column("column_name", &column)?;
    if let Some(label) = &label {
        label.parse::<Label>()?;
    }
    rights::check_owner(oid)?;
    rights::begin_change(c"label_column()", oid)?;
    let is_overruled = rights::as_owner(|| store(oid, &column, label.as_deref()).map_err(|_| Problem::Lost))?;
    if is_overruled {
        notice!(
            "column {} of relation {} has a security label too, which wins",
            quote_identifier(&column),
            relation.name()
        );
    }
    Ok(())
}

/// Replaces the label of a column. Returns whether it has a security label too.
fn store(relation: Oid, column: &str, label: Option<&str>) -> Result<bool, Error> {
    const REMOVE: &str =
        "DELETE FROM disclosure.column_label l WHERE l.relation::oid = $1 AND l.attribute = $2::name";
    const ADD: &str =
        "INSERT INTO disclosure.column_label (relation, attribute, label) VALUES ($1, $2::name, $3)";
    const IS_OVERRULED: &str = "
        SELECT EXISTS (SELECT FROM disclosure.labels l
                        WHERE l.relation = $1 AND l.column_name = $2::name AND l.source = 'security label')";
    Spi::connect_mut(|client| {
        client.update(REMOVE, None, &[relation.into(), column.into()])?;
        let Some(label) = label else {
            return Ok(false);
        };
        client.update(ADD, None, &[relation.into(), column.into(), label.into()])?;
        let answer = client.select(IS_OVERRULED, None, &[relation.into(), column.into()])?;
        Ok(answer.first().get_one()?.unwrap_or(false))
    })
}
