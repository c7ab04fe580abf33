//! Prints what Rust says about the SQL functions in a library: `symbol<TAB>arguments<TAB>results`, types as
//! SQL has them. pgrx keeps that in a section of the library, of which the argument names a copy.
//!
//! Functions that take their arguments raw are left out: Rust does not say what they are.

use pgrx_sql_entity_graph::metadata::{Returns, SqlArrayMapping, SqlMapping};
use pgrx_sql_entity_graph::section::decode_entities;
use pgrx_sql_entity_graph::{PgExternEntity, PgExternReturnEntity, SqlGraphEntity, UsedTypeEntity};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let section = std::env::args().nth(1).ok_or("usage: signatures SECTION")?;
    let section = std::fs::read(section)?;
    let mut lines: Vec<String> = decode_entities(&section)?.iter().filter_map(signature).collect();
    lines.sort_unstable();
    lines.iter().for_each(|line| println!("{line}"));
    Ok(())
}

fn signature(entity: &SqlGraphEntity) -> Option<String> {
    let SqlGraphEntity::Function(function) = entity else {
        return None;
    };
    let arguments = arguments(function)?;
    let results = match &function.fn_return {
        PgExternReturnEntity::None | PgExternReturnEntity::Trigger => Vec::new(),
        PgExternReturnEntity::Type { ty } | PgExternReturnEntity::SetOf { ty } => columns(ty),
        PgExternReturnEntity::Iterated { tys } => tys.iter().map(|item| result(&item.ty)).collect(),
    };
    let symbol = format!("{}_wrapper", function.unaliased_name);
    Some(format!(
        "{symbol}\t{}\t{}",
        arguments.join(","),
        results.join(",")
    ))
}

/// `None` if one of them is raw.
fn arguments(function: &PgExternEntity) -> Option<Vec<String>> {
    let argument = |ty: &UsedTypeEntity| match &ty.metadata.argument_sql {
        Ok(SqlMapping::Skip) => None,
        Ok(mapping) => Some(name(mapping)),
        Err(error) => Some(error.to_string()),
    };
    function
        .fn_args
        .iter()
        .map(|item| argument(&item.used_ty))
        .collect()
}

/// The columns of a table, or one result.
fn columns(ty: &UsedTypeEntity) -> Vec<String> {
    match &ty.metadata.return_sql {
        Ok(Returns::Table(columns)) => columns.iter().map(name).collect(),
        _ => vec![result(ty)],
    }
}

fn result(ty: &UsedTypeEntity) -> String {
    match &ty.metadata.return_sql {
        Ok(Returns::One(mapping) | Returns::SetOf(mapping)) => name(mapping),
        Ok(other) => format!("{other:?}"),
        Err(error) => error.to_string(),
    }
}

fn name(mapping: &SqlMapping) -> String {
    match mapping {
        SqlMapping::As(sql) => sql.to_lowercase(),
        SqlMapping::Array(SqlArrayMapping::As(element)) => format!("{}[]", element.to_lowercase()),
        other => format!("{other:?}"),
    }
}
