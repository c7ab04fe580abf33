//! Labels: `label_weights`, on which the view `labels` and the checks of `label_column` stand.

use crate::error::Problem;
use disclosure::Label;
use pgrx::prelude::*;

/// label_weights(label text): likelihood and danger
#[pg_extern(sql = false)]
fn label_weights(label: &str) -> Option<Vec<f64>> {
    let label: Result<Label, Problem> = label.parse().map_err(Problem::from);
    let weights = label.unwrap_or_else(Problem::raise).weights()?;
    Some(vec![weights.likelihood, weights.danger])
}
