//! Comparison of an adversary's matches with chance (section 5 of the paper): `linkage_plausibility`,
//! `compare_releases`, `calibrate_permutation`.
//!
//! `linkage_plausibility` assesses one release and `compare_releases` several. `calibrate_permutation` swaps
//! ranks over several distances, and chooses the least one at which few matches are correct and their distances
//! overlap with those of random records.

use super::microdata::{COLUMNS, Microdata, TableArgument, Wanted};
use super::options::{Options, read_chance};
use super::records::Records;
use super::report::shifts;
use crate::args::Args;
use crate::encode::order::CodedColumn;
use crate::error::Error;
use crate::label::notice_compared;
use crate::pg::table::{Table, table_row};
use crate::run;
use crate::verdict::verdict_name;
use disclosure::permutation::{
    self, Assessment, AverageShift, CalibrationSettings, Candidate, ChanceSettings, MEDIAN, PValueMethod,
    Quantiles, RankedTables, Ties, holdout_points, in_ranks,
};
use pgrx::Array;
use pgrx::prelude::*;

table_row! {
    /// Real matches compared with matches of random records.
    struct PlausibilityRow {
        records: i64,
        random_records: i64,
        all_combinations: bool,
        real_distances: Vec<f64>,
        random_distances: Vec<f64>,
        overlap: f64,
        statistic: f64,
        p_value: f64,
        p_method: &'static str,
        matches: f64,
        unlinked: i64,
        correct: Option<i64>,
        expected_correct: Option<f64>,
        correct_p_value: Option<f64>,
        max_correct: f64,
        holdout_bound: Option<f64>,
        verdict: &'static str,
    }
}

table_row! {
    /// One of several releases.
    struct ReleaseRow {
        released: pg_sys::Oid,
        records: i64,
        rank_correlation: Option<f64>,
        permutation: Option<f64>,
        median_distance: Option<f64>,
        matches: Option<f64>,
        unlinked: Option<i64>,
        correct: Option<i64>,
        expected_correct: Option<f64>,
        overlap: Option<f64>,
        statistic: Option<f64>,
        p_value: Option<f64>,
        correct_p_value: Option<f64>,
        verdict: Option<&'static str>,
    }
}

table_row! {
    /// One of several distances over which ranks are swapped.
    struct CandidateRow {
        p: f64,
        rank_correlations: Vec<Option<f64>>,
        overlap: f64,
        statistic: f64,
        p_value: f64,
        correct: i64,
        expected_correct: f64,
        verdict: &'static str,
        chosen: bool,
    }
}

/// Assesses the links of an adversary; returns `None` if there are no records.
fn assess(tables: &Microdata, ties: Ties, chance: &ChanceSettings) -> Result<Option<Assessment>, Error> {
    let (original, released) = (tables.original.dense_ranks(), tables.released.dense_ranks());
    if tables.original.len() == 0 {
        return Ok(None);
    }
    let (is_paired, holdout) = (tables.is_paired(), tables.holdout.as_ref());
    run::long("linking records", |control| {
        let mut ranked = RankedTables::new(&original, &released, is_paired, ties, control)?;
        if let Some(holdout) = holdout {
            ranked = ranked.with_holdout(holdout_points(&original, holdout, ties, chance.seed, control)?);
        }
        ranked.assess(chance, control)
    })
}

/// Tells the caller which columns are compared, if the call names none.
fn notice_columns(records: &Records) {
    let names: Vec<&str> = records.columns.iter().map(CodedColumn::name).collect();
    notice_compared(&names);
}

/// linkage_plausibility(original regclass, released regclass, columns name[], key name, holdout regclass,
/// draws int, at_most float8, orders jsonb, ties disclosure.tie_treatment, seed bigint)
#[pg_extern(sql = false)]
fn linkage_plausibility(args: Args) -> Table<PlausibilityRow> {
    Table::new(plausibility(args))
}

fn plausibility(mut args: Args) -> Result<Option<PlausibilityRow>, Error> {
    let wanted = Wanted::read_with_holdout(&mut args);
    let mut chance = read_chance(&mut args)?;
    let options = Options::read(&mut args)?;
    args.end()?;
    chance.seed = options.seed;
    chance.check()?;
    let tables = Microdata::by_rank(&wanted, &options.orders)?;
    if wanted.columns.is_none() {
        notice_columns(&tables.original);
    }
    let assessed = assess(&tables, options.ties, &chance)?;
    Ok(assessed.as_ref().map(plausibility_row))
}

fn plausibility_row(assessed: &Assessment) -> PlausibilityRow {
    let distances = |quantiles: &Quantiles| quantiles.iter().copied().map(in_ranks).collect();
    let (found, links) = (&assessed.plausibility, assessed.links);
    PlausibilityRow {
        records: found.records as i64,
        random_records: found.random_records as i64,
        all_combinations: found.all_combinations,
        real_distances: distances(&found.real_distances),
        random_distances: distances(&found.random_distances),
        overlap: found.overlap,
        statistic: found.shorter.statistic,
        p_value: found.shorter.p_value,
        p_method: match found.shorter.p_method {
            PValueMethod::Exact => "exact",
            PValueMethod::Asymptotic => "asymptotic",
            PValueMethod::Bound => "upper bound",
        },
        matches: found.mean_matches,
        unlinked: found.unlinked as i64,
        correct: links.map(|links| links.correct as i64),
        expected_correct: links.map(|links| links.expected_correct),
        correct_p_value: links.map(|links| links.p_value),
        max_correct: found.max_correct,
        holdout_bound: found.holdout_bound,
        verdict: verdict_name(assessed.is_safe),
    }
}

/// compare_releases(original regclass, released regclass[], columns name[], key name, holdout regclass,
/// draws int, at_most float8, orders jsonb, ties disclosure.tie_treatment, seed bigint)
#[pg_extern(sql = false)]
fn compare_releases(args: Args) -> Table<ReleaseRow> {
    Table::new(compared_releases(args))
}

const RELEASED: &str = "released";

fn compared_releases(mut args: Args) -> Result<Vec<ReleaseRow>, Error> {
    let original = TableArgument::read(&mut args, "original");
    let releases = read_releases(&mut args)?;
    let (columns, key) = (args.names(COLUMNS), args.name("key"));
    let holdout = TableArgument::read_holdout(&mut args);
    let mut chance = read_chance(&mut args)?;
    let options = Options::read(&mut args)?;
    args.end()?;
    chance.seed = options.seed;
    chance.check()?;
    let row = |(&release, number): (&pg_sys::Oid, usize)| {
        let wanted = Wanted {
            original,
            released: TableArgument {
                argument: RELEASED,
                oid: Some(release),
            },
            key: key.clone(),
            columns: columns.clone(),
            holdout,
        };
        let tables = Microdata::by_rank(&wanted, &options.orders);
        let tables = tables.map_err(|problem| problem_of_element(problem, number))?;
        if columns.is_none() {
            notice_columns(&tables.original);
        }
        release_row(release, &tables, options.ties, &chance)
    };
    releases.iter().zip(1..).map(row).collect()
}

/// Reads the argument `released`.
fn read_releases(args: &mut Args) -> Result<Vec<pg_sys::Oid>, Error> {
    let given: Option<Array<'_, pg_sys::Oid>> = args.optional(RELEASED);
    let releases: Option<Option<Vec<pg_sys::Oid>>> = given.map(|given| given.iter().collect());
    let problem = match releases {
        Some(Some(releases)) if !releases.is_empty() => return Ok(releases),
        Some(Some(_)) => "must not be empty",
        Some(None) => "must not contain NULL",
        None => "must not be NULL",
    };
    Err(Error::argument(
        RELEASED,
        problem,
        "Give an array of tables or views: ARRAY['a', 'b']::regclass[].",
    ))
}

/// Adds the number of the release, from 1, to a problem with it.
fn problem_of_element(problem: Error, number: usize) -> Error {
    match problem {
        Error::Argument {
            argument: RELEASED,
            problem,
            hint,
        } => Error::argument(RELEASED, format!("element {number}: {problem}"), hint),
        other => other,
    }
}

fn release_row(
    release: pg_sys::Oid,
    tables: &Microdata,
    ties: Ties,
    chance: &ChanceSettings,
) -> Result<ReleaseRow, Error> {
    let shifts = if tables.is_paired() {
        shifts(tables, chance.seed)?
    } else {
        Vec::new()
    };
    let average = AverageShift::from_columns(&shifts);
    let assessed = assess(tables, ties, chance)?;
    let found = assessed.as_ref().map(|assessed| &assessed.plausibility);
    let links = assessed.as_ref().and_then(|assessed| assessed.links);
    Ok(ReleaseRow {
        released: release,
        records: tables.original.len() as i64,
        rank_correlation: average.rank_correlation,
        permutation: average.relative_shift,
        median_distance: found.map(|found| in_ranks(found.real_distances[MEDIAN])),
        matches: found.map(|found| found.mean_matches),
        unlinked: found.map(|found| found.unlinked as i64),
        correct: links.map(|links| links.correct as i64),
        expected_correct: links.map(|links| links.expected_correct),
        overlap: found.map(|found| found.overlap),
        statistic: found.map(|found| found.shorter.statistic),
        p_value: found.map(|found| found.shorter.p_value),
        correct_p_value: links.map(|links| links.p_value),
        verdict: assessed.as_ref().map(|assessed| verdict_name(assessed.is_safe)),
    })
}

/// calibrate_permutation(original regclass, columns name[], candidates float8[], holdout regclass, draws int,
/// at_most float8, at_least float8, orders jsonb, ties disclosure.tie_treatment, seed bigint)
#[pg_extern(sql = false)]
fn calibrate_permutation(args: Args) -> Table<CandidateRow> {
    Table::new(calibrated(args))
}

fn calibrated(mut args: Args) -> Result<Vec<CandidateRow>, Error> {
    let original = TableArgument::read(&mut args, "original");
    let columns = args.names(COLUMNS);
    let candidates = args.numbers("candidates")?;
    let holdout = TableArgument::read_holdout(&mut args);
    let mut settings = CalibrationSettings {
        candidates,
        chance: read_chance(&mut args)?,
        at_least: args.required("at_least")?,
    };
    let options = Options::read(&mut args)?;
    args.end()?;
    settings.chance.seed = options.seed;
    settings.check()?;
    let are_named = columns.is_some();
    let (records, holdout) = Records::alone(original, columns, holdout, &options.orders)?;
    if !are_named {
        notice_columns(&records);
    }
    if records.len() == 0 {
        return Ok(Vec::new());
    }
    let ranked_columns = records.ranked_columns.into_iter();
    let dense_ranks: Vec<Vec<u32>> = ranked_columns.map(|column| column.dense_ranks).collect();
    let candidates = run::long("swapping ranks", |control| {
        permutation::calibrate(&dense_ranks, holdout.as_deref(), options.ties, &settings, control)
    })?;
    candidates.into_iter().map(candidate_row).collect()
}

fn candidate_row(candidate: Candidate) -> Result<CandidateRow, Error> {
    let Assessment {
        plausibility: found,
        links,
        is_safe,
    } = candidate.assessment;
    let links = links.ok_or(Error::Internal("the links of a candidate were not counted"))?;
    Ok(CandidateRow {
        p: candidate.p,
        rank_correlations: candidate.correlations,
        overlap: found.overlap,
        statistic: found.shorter.statistic,
        p_value: found.shorter.p_value,
        correct: links.correct as i64,
        expected_correct: links.expected_correct,
        verdict: verdict_name(is_safe),
        chosen: candidate.chosen,
    })
}
