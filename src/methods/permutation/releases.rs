//! Whether an intruder's matches are more than luck: `linkage_plausibility`, `compare_releases`,
//! `calibrate_permutation`.

use crate::args::{given, json, name, names, number};
use crate::error::Problem;
use crate::methods::permutation::linkage::{Places, TieTreatment, in_ranks, own};
use crate::methods::permutation::microdata::{ANONYMISED, Microdata, Records, Wanted};
use crate::methods::permutation::report::shifts;
use crate::pg::json::JsonText;
use crate::run;
use disclosure::permutation::{self, Average, Candidate, Chance, PValue, Plausibility, Quantiles, Verdict};
use pgrx::Array;
use pgrx::prelude::*;
use std::ffi::CStr;

/// linkage_plausibility(original regclass, anonymised regclass, columns name[], key name, draws int, enough float8,
/// orders jsonb, ties disclosure.tie_treatment, seed bigint)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, clippy::too_many_arguments)] // they are those of the SQL function
fn linkage_plausibility(
    original: Option<pg_sys::Oid>,
    anonymised: Option<pg_sys::Oid>,
    columns: Option<Array<'_, &CStr>>,
    key: Option<&CStr>,
    draws: Option<i32>,
    enough: Option<f64>,
    orders: Option<JsonText>,
    ties: Option<pg_sys::Oid>,
    seed: Option<i64>,
) -> TableIterator<
    'static,
    (
        name!(records, i64),
        name!(random_records, i64),
        name!(all_combinations, bool),
        name!(real_distances, Vec<f64>),
        name!(random_distances, Vec<f64>),
        name!(overlap, f64),
        name!(statistic, f64),
        name!(p_value, f64),
        name!(p_is, &'static str),
        name!(matches, f64),
        name!(unlinked, i64),
        name!(correct, Option<i64>),
        name!(expected_correct, Option<f64>),
        name!(verdict, &'static str),
    ),
> {
    let found = || {
        let intruder = Intruder::new(ties, draws, enough, seed)?;
        let tables = Microdata::by_rank(Wanted {
            original,
            anonymised,
            columns: columns.map(names),
            key: name(key),
            orders: json("orders", orders)?,
        })?;
        Ok(intruder
            .link(&tables)?
            .map(|found| plausibility_row(&tables, &found)))
    };
    TableIterator::new(found().unwrap_or_else(Problem::raise))
}

type PlausibilityRow = (
    i64,
    i64,
    bool,
    Vec<f64>,
    Vec<f64>,
    f64,
    f64,
    f64,
    &'static str,
    f64,
    i64,
    Option<i64>,
    Option<f64>,
    &'static str,
);

fn plausibility_row(tables: &Microdata, found: &Linked) -> PlausibilityRow {
    let plausibility = &found.plausibility;
    let distances = |quantiles: &Quantiles| quantiles.iter().map(|&distance| in_ranks(distance)).collect();
    (
        tables.original.len() as i64,
        plausibility.random_records as i64,
        plausibility.all_combinations,
        distances(&plausibility.real_distances),
        distances(&plausibility.random_distances),
        plausibility.overlap,
        plausibility.shorter.statistic,
        plausibility.shorter.p_value,
        match plausibility.shorter.p_is {
            PValue::Exact => "exact",
            PValue::Asymptotic => "asymptotic",
            PValue::Bound => "upper bound",
        },
        plausibility.ties,
        plausibility.unlinked as i64,
        found.hits.map(|(correct, _)| correct),
        found.hits.map(|(_, expected)| expected),
        verdict_name(plausibility.verdict),
    )
}

fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::PlausiblyRandom => "plausibly random",
        Verdict::Undecided => "undecided",
        Verdict::BetterThanChance => "better than chance",
    }
}

/// How an intruder is modelled.
struct Intruder {
    ties: TieTreatment,
    chance: Chance,
}

/// What an intruder finds.
struct Linked {
    plausibility: Plausibility,
    /// How many records have their counterpart among their matches, and how many would be linked with it by lot;
    /// only where a key tells who is who.
    hits: Option<(i64, f64)>,
}

impl Intruder {
    fn new(
        ties: Option<pg_sys::Oid>,
        draws: Option<i32>,
        enough: Option<f64>,
        seed: Option<i64>,
    ) -> Result<Self, Problem> {
        Ok(Intruder {
            ties: TieTreatment::new(ties, seed)?,
            chance: Chance {
                draws: number("draws", 1, draws)? as u32,
                enough: given("enough", enough)?,
                seed: given("seed", seed)? as u64,
            },
        })
    }

    /// `None` where there are no records.
    fn link(&self, tables: &Microdata) -> Result<Option<Linked>, Problem> {
        if tables.original.is_empty() {
            return Ok(None);
        }
        let (places, is_paired) = (Places::of(tables), tables.is_paired());
        run::long("linking records", |control| {
            let (original, anonymised) = places.points(self.ties, control)?;
            let linkage = permutation::link(&original, &anonymised, control)?;
            let hits = is_paired.then(|| {
                let correct = linkage.correct(&original, &anonymised, &own(&original));
                let number = correct.iter().filter(|correct| **correct).count() as i64;
                (number, linkage.expected_correct(&correct))
            });
            let plausibility =
                permutation::plausibility_of(&linkage, &original, &anonymised, &self.chance, control)?;
            Ok(Some(Linked { plausibility, hits }))
        })
    }
}

/// compare_releases(original regclass, releases regclass[], key name, columns name[], draws int, enough float8,
/// orders jsonb, ties disclosure.tie_treatment, seed bigint)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, clippy::too_many_arguments)] // they are those of the SQL function
fn compare_releases(
    original: Option<pg_sys::Oid>,
    releases: Option<Array<'_, pg_sys::Oid>>,
    key: Option<&CStr>,
    columns: Option<Array<'_, &CStr>>,
    draws: Option<i32>,
    enough: Option<f64>,
    orders: Option<JsonText>,
    ties: Option<pg_sys::Oid>,
    seed: Option<i64>,
) -> TableIterator<
    'static,
    (
        name!(release, pg_sys::Oid),
        name!(records, i64),
        name!(rank_correlation, Option<f64>),
        name!(permutation, Option<f64>),
        name!(median_distance, Option<f64>),
        name!(matches, Option<f64>),
        name!(unlinked, Option<i64>),
        name!(correct, Option<i64>),
        name!(expected_correct, Option<f64>),
        name!(overlap, Option<f64>),
        name!(statistic, Option<f64>),
        name!(p_value, Option<f64>),
        name!(verdict, Option<&'static str>),
    ),
> {
    let rows = || {
        let intruder = Intruder::new(ties, draws, enough, seed)?;
        let releases = releases_of(releases)?;
        let (columns, orders) = (columns.map(names), json("orders", orders)?);
        let row = |(release, number): (&pg_sys::Oid, usize)| {
            let tables = Microdata::by_rank(Wanted {
                original,
                anonymised: Some(*release),
                columns: columns.clone(),
                key: name(key),
                orders: orders.clone(),
            });
            let tables = tables.map_err(|problem| problem_of_release(problem, number))?;
            release_row(*release, &tables, &intruder)
        };
        let rows = releases.iter().zip(1..).map(row);
        rows.collect::<Result<Vec<_>, Problem>>()
    };
    TableIterator::new(rows().unwrap_or_else(Problem::raise))
}

/// Which of the quantiles 0, 5, 25, 50, 75, 95 and 100 % it is.
const MEDIAN: usize = 3;

fn releases_of(given: Option<Array<'_, pg_sys::Oid>>) -> Result<Vec<pg_sys::Oid>, Problem> {
    let invalid = |problem: &str| {
        Problem::argument(
            "releases",
            problem,
            "Give an array of tables or views: ARRAY['a', 'b']::regclass[].",
        )
    };
    let given = given.ok_or_else(|| invalid("must not be NULL"))?;
    let releases: Option<Vec<pg_sys::Oid>> = given.iter().collect();
    releases
        .ok_or_else(|| invalid("must not contain NULL"))
        .and_then(|releases| match releases.is_empty() {
            true => Err(invalid("must not be empty")),
            false => Ok(releases),
        })
}

/// What is wrong with the anonymised table is wrong with an element of the argument here, counted from 1.
fn problem_of_release(problem: Problem, number: usize) -> Problem {
    const RELEASES: &str = "releases";
    match problem {
        Problem::Argument {
            argument: ANONYMISED,
            problem,
            hint,
        } => Problem::argument(RELEASES, format!("element {number}: {problem}"), hint),
        Problem::NotReadable {
            argument: ANONYMISED,
            relation,
        } => Problem::NotReadable {
            argument: RELEASES,
            relation,
        },
        other => other,
    }
}

type ReleaseRow = (
    pg_sys::Oid,
    i64,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<i64>,
    Option<i64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<&'static str>,
);

fn release_row(release: pg_sys::Oid, tables: &Microdata, intruder: &Intruder) -> Result<ReleaseRow, Problem> {
    let shifts = match tables.is_paired() {
        true => shifts(tables, intruder.chance.seed)?,
        false => Vec::new(),
    };
    let average = Average::of(&shifts);
    let found = intruder.link(tables)?;
    let found = found.as_ref();
    let hits = found.and_then(|found| found.hits);
    let plausibility = found.map(|found| &found.plausibility);
    let shorter = plausibility.map(|found| found.shorter);
    Ok((
        release,
        tables.original.len() as i64,
        average.rank_correlation,
        average.permutation,
        plausibility.map(|found| in_ranks(found.real_distances[MEDIAN])),
        plausibility.map(|found| found.ties),
        plausibility.map(|found| found.unlinked as i64),
        hits.map(|(correct, _)| correct),
        hits.map(|(_, expected)| expected),
        plausibility.map(|found| found.overlap),
        shorter.map(|shorter| shorter.statistic),
        shorter.map(|shorter| shorter.p_value),
        plausibility.map(|found| verdict_name(found.verdict)),
    ))
}

/// calibrate_permutation(original regclass, columns name[], candidates float8[], draws int, enough float8,
/// most_correct float8, orders jsonb, ties disclosure.tie_treatment, seed bigint)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, clippy::too_many_arguments)] // they are those of the SQL function
fn calibrate_permutation(
    original: Option<pg_sys::Oid>,
    columns: Option<Array<'_, &CStr>>,
    candidates: Option<Vec<Option<f64>>>,
    draws: Option<i32>,
    enough: Option<f64>,
    most_correct: Option<f64>,
    orders: Option<JsonText>,
    ties: Option<pg_sys::Oid>,
    seed: Option<i64>,
) -> TableIterator<
    'static,
    (
        name!(p, f64),
        name!(rank_correlations, Vec<Option<f64>>),
        name!(overlap, f64),
        name!(statistic, f64),
        name!(p_value, f64),
        name!(correct, i64),
        name!(expected_correct, f64),
        name!(verdict, &'static str),
        name!(chosen, bool),
    ),
> {
    let rows = || {
        let intruder = Intruder::new(ties, draws, enough, seed)?;
        let most_correct = given("most_correct", most_correct)?;
        let candidates = given("candidates", candidates)?
            .into_iter()
            .map(|p| given("candidates", p))
            .collect::<Result<Vec<f64>, Problem>>()?;
        let records = Records::alone(original, columns.map(names), json("orders", orders)?)?;
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let places: Vec<Vec<u32>> = records.ordinals.into_iter().map(|column| column.places).collect();
        let candidates = run::long("swapping ranks", |control| {
            let ties = intruder.ties.of_original();
            permutation::calibrate(
                &places,
                ties,
                &candidates,
                &intruder.chance,
                most_correct,
                control,
            )
        })?;
        Ok(candidates.into_iter().map(candidate_row).collect())
    };
    TableIterator::new(rows().unwrap_or_else(Problem::raise))
}

type CandidateRow = (f64, Vec<Option<f64>>, f64, f64, f64, i64, f64, &'static str, bool);

fn candidate_row(candidate: Candidate) -> CandidateRow {
    let plausibility = &candidate.plausibility;
    (
        candidate.p,
        candidate.correlations,
        plausibility.overlap,
        plausibility.shorter.statistic,
        plausibility.shorter.p_value,
        candidate.correct as i64,
        candidate.expected_correct,
        verdict_name(plausibility.verdict),
        candidate.chosen,
    )
}
