//! Reads rows in the formats of COPY, and turns those of the truth into what the definition judges.

use super::expression::{Expression, Origin, Role};
use super::query::{Branch, policies};
use reference::guard::{Objection, Row, Value, objection};
use std::collections::BTreeSet;

/// A format of COPY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Csv,
    Binary,
}

impl Format {
    /// Returns the option of COPY.
    pub fn option(self) -> &'static str {
        match self {
            Format::Text => "(FORMAT text)",
            Format::Csv => "(FORMAT csv)",
            Format::Binary => "(FORMAT binary)",
        }
    }

    /// Returns the rows that COPY sent. Escapes of the text format stay as they are.
    pub fn rows(self, copied: &[u8]) -> Result<Vec<Vec<Value>>, String> {
        match self {
            Format::Text => {
                let lines = copied
                    .split(|&byte| byte == b'\n')
                    .take(copied.iter().filter(|&&byte| byte == b'\n').count());
                let value = |field: &[u8]| (field != b"\\N").then(|| field.to_vec());
                Ok(lines
                    .map(|line| line.split(|&byte| byte == b'\t').map(value).collect())
                    .collect())
            }
            Format::Csv => Ok(csv_rows(copied)),
            Format::Binary => {
                binary_rows(copied).ok_or_else(|| "COPY sent a broken binary format".to_owned())
            }
        }
    }
}

fn csv_rows(copied: &[u8]) -> Vec<Vec<Value>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), Vec::new());
    let (mut is_quoted, mut was_quoted) = (false, false);
    for &byte in copied {
        match byte {
            b'"' => {
                // Two quotes within quotes are one: the second opens the field again.
                if !is_quoted && was_quoted {
                    field.push(b'"');
                }
                is_quoted = !is_quoted;
                was_quoted = true;
            }
            b',' | b'\n' if !is_quoted => {
                let value = std::mem::take(&mut field);
                row.push((was_quoted || !value.is_empty()).then_some(value));
                was_quoted = false;
                if byte == b'\n' {
                    rows.push(std::mem::take(&mut row));
                }
            }
            _ => field.push(byte),
        }
    }
    rows
}

/// Returns the rows after a header of 19 bytes; `None` if they are broken.
fn binary_rows(copied: &[u8]) -> Option<Vec<Vec<Value>>> {
    let mut rest = match copied.is_empty() {
        true => return Some(Vec::new()),
        false => copied.get(19..)?,
    };
    let mut rows = Vec::new();
    loop {
        let (count, after) = rest.split_first_chunk::<2>()?;
        rest = after;
        let Ok(count) = u16::try_from(i16::from_be_bytes(*count)) else {
            return Some(rows); // -1 ends the rows
        };
        let mut row = Vec::new();
        for _ in 0..count {
            let (length, after) = rest.split_first_chunk::<4>()?;
            let length = usize::try_from(i32::from_be_bytes(*length)).ok();
            let (value, after) = after.split_at_checked(length.unwrap_or(0))?;
            row.push(length.map(|_| value.to_vec()));
            rest = after;
        }
        rows.push(row);
    }
}

/// Returns why rows of a branch, with what [`super::query::Query::truth`] adds to them, must not leave; `None` if
/// they may.
pub fn branch_objection(branch: &Branch, truth: &[Vec<Value>]) -> Option<Objection> {
    let subjects = branch.instances.iter().map(|instance| instance.subject);
    for subject in 0..=subjects.max().unwrap_or(0) {
        // People are counted, so copies of a row change nothing.
        let rows: BTreeSet<Row> = truth
            .iter()
            .filter_map(|row| about(branch, subject, row))
            .collect();
        let rows: Vec<Row> = rows.into_iter().collect();
        let members = branch
            .instances
            .iter()
            .filter(|instance| instance.subject == subject);
        for policy in members.flat_map(|instance| policies(instance.table)) {
            if let Some(objection) = objection(&rows, &policy) {
                return Some(objection);
            }
        }
    }
    None
}

/// Number of columns that the truth adds for each protected table.
const KEYS: usize = 4;

/// Returns what a row says about one person, a subject of the branch; `None` if it is about none.
fn about(branch: &Branch, subject: usize, row: &[Value]) -> Option<Row> {
    let keys = branch.outputs.len();
    let compared = keys + KEYS * branch.instances.len();
    let of_subject = |instance: usize| branch.instances[instance].subject == subject;
    let is_known = |expression: &Expression| {
        let mut origins = expression.made_of.iter();
        origins.any(|origin| of_subject(origin.instance) && origin.role() != Role::Sensitive)
    };
    let outputs = branch.outputs.iter().zip(row);
    let shown = outputs.chain(branch.compared.iter().zip(&row[compared..]));
    let mut known = Vec::new();
    let mut sensitive = Vec::new();
    for (expression, value) in shown {
        if is_known(expression) {
            known.push(value.clone());
        }
        let origins = expression.made_of.iter();
        for origin in origins.filter(|origin| origin.role() == Role::Sensitive && of_subject(origin.instance))
        {
            // A mixture hides nothing, and neither does an expression that makes a value NULL.
            let stored = keys + KEYS * origin.instance + if origin.column == 7 { 2 } else { 3 };
            sensitive.push(row[stored].clone());
            if expression.made_of.len() == 1 && !expression.of_list {
                sensitive.push(value.clone());
                // What an expression makes NULL is no less telling than another value.
                let absent = row[stored].as_ref().map(|_| b"absent".to_vec());
                sensitive.push(value.clone().or(absent));
            }
        }
    }
    let is_sensitive = |condition: &Expression| {
        let mut origins = condition.made_of.iter();
        let is_dangerous = |origin: &Origin| matches!(origin.role(), Role::Sensitive | Role::Unlabelled);
        origins.any(|origin| of_subject(origin.instance) && is_dangerous(origin))
    };
    sensitive.extend(
        branch
            .conditions
            .iter()
            .filter(|condition| is_sensitive(condition))
            .map(|_| Some(b"true".to_vec())),
    );
    let mut stored: Option<u64> = None;
    let mut person = None;
    for instance in (0..branch.instances.len()).filter(|&instance| of_subject(instance)) {
        let number = |place: usize| {
            let value = row[keys + KEYS * instance + place].as_ref()?;
            String::from_utf8_lossy(value)
                .trim_start_matches('p')
                .parse::<u64>()
                .ok()
        };
        // Rows that are joined by their person are about the same one.
        stored = number(0).map(|key| stored.unwrap_or(0) << 16 | key).or(stored);
        person = person.or(number(1));
    }
    Some(Row {
        stored: stored?,
        person,
        known,
        sensitive,
    })
}
