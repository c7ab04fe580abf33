//! Calls of `privacy_score` that do not give a row. Postgres would only say that there is no such function; these
//! overloads say what to write.

use crate::args::Args;
use crate::error::Error;
use pgrx::prelude::*;

/// privacy_score(relation text)
#[pg_extern(sql = false)]
fn privacy_score_of_name(_args: Args) -> f64 {
    Error::argument(
        "record",
        "must be a row of a query, not the name of a relation",
        "Write SELECT disclosure.privacy_score(p) OVER () FROM patients p; for a whole relation, write SELECT * FROM \
         disclosure.privacy_summary('patients').",
    )
    .raise()
}

/// privacy_score(text, VARIADIC "any") OVER (…) and privacy_score(float8, VARIADIC "any") OVER (…)
#[pg_extern(sql = false)]
fn privacy_score_of_columns(_args: Args) -> f64 {
    Error::argument(
        "record",
        "must be a whole row, not single columns",
        "Write SELECT disclosure.privacy_score(p) OVER () FROM patients p. To leave a column out, label it as ignore, \
         for example with labels => '{\"zip\": \"ignore\"}'.",
    )
    .raise()
}
