//! What each column adds to the risk of re-identification.

use crate::classes::{Nulls, Records, Risk};
use crate::{Control, Result};
use rayon::prelude::*;

/// Risk of re-identification if an adversary knows a set of columns.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct KnownRisk {
    /// Size of the smallest class; `None` if there are no rows.
    pub k: Option<u64>,
    /// Number of rows or people who are alone in a class.
    pub uniques: u64,
    /// Average prosecutor risk; `None` if there are no rows.
    pub average: Option<f64>,
}

/// Risk with all columns, and without each of them.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ColumnRisk {
    /// Risk if all columns are known.
    pub of_all: KnownRisk,
    /// Risk if all columns but one are known, by the position of that column.
    pub without: Vec<KnownRisk>,
}

/// Returns the risk of re-identification with all columns and without each of them.
pub fn column_risk(records: &Records, nulls: Nulls, control: &Control) -> Result<ColumnRisk> {
    let width = records.classes().width();
    let without = (0..width).into_par_iter().map(|left_out| {
        control.check()?;
        let known: Vec<usize> = (0..width).filter(|&column| column != left_out).collect();
        risk_of(&records.project(&known, control)?.0, nulls, control)
    });
    Ok(ColumnRisk {
        of_all: risk_of(records, nulls, control)?,
        without: without.collect::<Result<_>>()?,
    })
}

fn risk_of(records: &Records, nulls: Nulls, control: &Control) -> Result<KnownRisk> {
    let sizes = records.sizes(nulls, control)?;
    let exposure = records.exposure(&sizes);
    Ok(KnownRisk {
        k: sizes.iter().min().copied(),
        uniques: exposure.below(2),
        average: Risk::of(&exposure).map(|risk| risk.average),
    })
}
