//! The intruder with maximum knowledge: `record_linkage`.

use crate::args::{given, json, name, names};
use crate::error::Problem;
use crate::methods::permutation::microdata::{Microdata, Wanted};
use crate::pg::json::{Json, JsonText};
use crate::run;
use disclosure::Control;
use disclosure::permutation::{self, HalfRanks, Linkage, Points, Ties};
use pgrx::Array;
use pgrx::prelude::*;
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

/// The places of both tables' values, which other threads may see.
pub(super) struct Places<'a> {
    original: Vec<&'a [u32]>,
    anonymised: Vec<&'a [u32]>,
}

impl<'a> Places<'a> {
    pub fn of(tables: &'a Microdata) -> Self {
        Places {
            original: tables.original.places(),
            anonymised: tables.anonymised.places(),
        }
    }

    /// The records of both tables in rank space.
    pub fn points(&self, ties: TieTreatment, control: &Control) -> disclosure::Result<(Points, Points)> {
        Ok((
            Points::of_places(&self.original, ties.of_original(), control)?,
            Points::of_places(&self.anonymised, ties.of_anonymised(), control)?,
        ))
    }
}

/// The anonymised record that every original one has become, where tables are paired.
pub(super) fn own(original: &Points) -> Vec<u32> {
    (0..original.len() as u32).collect()
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
    orders: Option<JsonText>,
    ties: Option<pg_sys::Oid>,
    seed: Option<i64>,
) -> TableIterator<
    'static,
    (
        name!(record, Option<String>),
        name!(original, Json),
        name!(matched, Json),
        name!(distance, f64),
        name!(matches, i64),
        name!(correct, Option<bool>),
        name!(probability, Option<f64>),
    ),
> {
    let found = || {
        let ties = TieTreatment::new(ties, seed)?;
        let tables = Microdata::by_rank(Wanted {
            original,
            anonymised,
            columns: columns.map(names),
            key: name(key),
            orders: json("orders", orders)?,
        })?;
        let (places, is_paired) = (Places::of(&tables), tables.is_paired());
        let (linkage, correct) = run::long("linking records", |control| {
            let (original, anonymised) = places.points(ties, control)?;
            let linkage = permutation::link(&original, &anonymised, control)?;
            let correct = is_paired.then(|| linkage.correct(&original, &anonymised, &own(&original)));
            Ok((linkage, correct))
        })?;
        Ok((tables, linkage, correct))
    };
    let (tables, linkage, correct): (Microdata, Linkage, Option<Vec<bool>>) =
        found().unwrap_or_else(Problem::raise);
    TableIterator::new(
        linkage
            .matches
            .into_iter()
            .enumerate()
            .map(move |(record, found)| {
                let correct = correct.as_ref().map(|correct| correct[record]);
                (
                    tables.original.key(record),
                    Json(tables.original.json(record)),
                    Json(tables.anonymised.json(found.first as usize)),
                    in_ranks(found.distance),
                    found.ties as i64,
                    correct,
                    correct.map(|correct| f64::from(u8::from(correct)) / found.ties as f64),
                )
            }),
    )
}

/// A distance as people count it.
pub(super) fn in_ranks(distance: HalfRanks) -> f64 {
    f64::from(distance) / 2.0
}
