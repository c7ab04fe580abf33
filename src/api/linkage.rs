//! The intruder with maximum knowledge: `record_linkage`, `linkage_plausibility`, `compare_releases`,
//! `calibrate_permutation`.

use super::cracks::given;
use super::names;
use super::shifts::shifts;
use crate::error::Problem;
use crate::input::microdata::{Microdata, Records, Wanted};
use crate::run;
use disclosure::permutation::{self, Calibration, Kind, Linkage, Plausibility, Points, Ties, Verdict};
use disclosure::Control;
use pgrx::prelude::*;
use pgrx::{Array, JsonB};
use std::ffi::CStr;

/// How ties are treated on both sides: values of the SQL type `disclosure.tie_treatment`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TieTreatment {
    Random { seed: u64 },
    Shared,
}

impl TieTreatment {
    pub fn new(ties: Option<pg_sys::Oid>, seed: Option<i64>) -> Result<Self, Problem> {
        let seed = given("seed", seed)? as u64;
        let label = pgrx::enum_helper::lookup_enum_by_oid(given("ties", ties)?).0;
        Ok(match &label[..] {
            "random" => TieTreatment::Random { seed },
            _ => TieTreatment::Shared,
        })
    }

    pub fn of_original(self) -> Ties {
        match self {
            TieTreatment::Random { seed } => Ties::Random { seed },
            TieTreatment::Shared => Ties::Shared,
        }
    }

    /// Another draw, as one for both sides would by itself bring together what belongs together.
    pub fn of_anonymised(self) -> Ties {
        match self {
            TieTreatment::Random { seed } => Ties::Random { seed: !seed },
            TieTreatment::Shared => Ties::Shared,
        }
    }
}

/// The records of both tables in rank space.
fn points(tables: &Microdata, ties: TieTreatment, control: &Control) -> disclosure::Result<(Points, Points)> {
    Ok((
        Points::of_places(&tables.original.places(), ties.of_original(), control)?,
        Points::of_places(&tables.anonymised.places(), ties.of_anonymised(), control)?,
    ))
}

/// The records of the anonymised table that original ones have become, where there is a key.
fn own(tables: &Microdata) -> Vec<u32> {
    (0..tables.original.len() as u32).collect()
}

/// record_linkage(original regclass, anonymised regclass, columns name[], key name, orders jsonb,
/// ties disclosure.tie_treatment, seed bigint)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)] // it is that of the SQL function
fn record_linkage(
    original: Option<pg_sys::Oid>,
    anonymised: Option<pg_sys::Oid>,
    columns: Option<Array<'_, &CStr>>,
    key: Option<&CStr>,
    orders: Option<JsonB>,
    ties: Option<pg_sys::Oid>,
    seed: Option<i64>,
) -> TableIterator<
    'static,
    (
        name!(record, Option<String>),
        name!(original, JsonB),
        name!(matched, JsonB),
        name!(distance, f64),
        name!(matches, i64),
        name!(correct, Option<bool>),
        name!(probability, Option<f64>),
    ),
> {
    let found = || {
        let ties = TieTreatment::new(ties, seed)?;
        let has_key = key.is_some();
        let tables = Microdata::by_rank(Wanted {
            original,
            anonymised,
            columns: columns.map(names),
            key: text(key),
            orders,
        })?;
        let (linkage, correct) = run::long("linking records", |control| {
            let (original, anonymised) = points(&tables, ties, control)?;
            let linkage = permutation::link(&original, &anonymised, control)?;
            let correct = has_key.then(|| linkage.correct(&original, &anonymised, &own(&tables)));
            Ok((linkage, correct))
        })?;
        Ok((tables, linkage, correct))
    };
    let (tables, linkage, correct): (Microdata, Linkage, Option<Vec<bool>>) =
        found().unwrap_or_else(Problem::raise);
    TableIterator::new(linkage.matches.into_iter().enumerate().map(move |(record, found)| {
        let correct = correct.as_ref().map(|correct| correct[record]);
        (
            tables.original.key(record),
            tables.original.json(record),
            tables.anonymised.json(found.first as usize),
            in_ranks(found.distance),
            found.ties as i64,
            correct,
            correct.map(|correct| f64::from(u8::from(correct)) / found.ties as f64),
        )
    }))
}

fn text(name: Option<&CStr>) -> Option<String> {
    name.map(|name| name.to_string_lossy().into_owned())
}

/// A distance as people count it.
fn in_ranks(distance: permutation::HalfRanks) -> f64 {
    f64::from(distance) / 2.0
}
