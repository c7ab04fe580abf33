//! Comparison of an adversary's matches with chance (section 5 of the paper): `linkage_plausibility`,
//! `compare_releases`, `calibrate_permutation`.
//!
//! `linkage_plausibility` assesses one release and `compare_releases` several. `calibrate_permutation` swaps
//! ranks over several distances, and chooses the least one at which matches are plausibly random and few of
//! them correct.

use super::microdata::{Microdata, TableArgument, Wanted};
use super::options::{Options, read_chance};
use super::records::Records;
use super::report::shifts;
use crate::args::Args;
use crate::error::Error;
use crate::pg::table::{Table, table_row};
use crate::run;
use disclosure::permutation::{
    self, AverageShift, CalibrationSettings, Candidate, ChanceSettings, CorrectLinks, Finding, MEDIAN,
    PValueMethod, Plausibility, Quantiles, RankedTables, Ties, in_ranks,
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
        finding: &'static str,
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
        finding: Option<&'static str>,
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
        finding: &'static str,
        chosen: bool,
    }
}

/// Plausibility of an adversary's matches and, if there is a key, the number of correct ones.
type Assessed = (Plausibility, Option<CorrectLinks>);

/// Assesses the matches of an adversary; returns `None` if there are no records.
fn assess(tables: &Microdata, ties: Ties, chance: &ChanceSettings) -> Result<Option<Assessed>, Error> {
    let (original, released) = (tables.original.dense_ranks(), tables.released.dense_ranks());
    let is_paired = tables.is_paired();
    run::long("linking records", |control| {
        RankedTables::new(&original, &released, is_paired, ties, control)?.assess(chance, control)
    })
}

fn finding_name(finding: Finding) -> &'static str {
    match finding {
        Finding::PlausiblyRandom => "plausibly random",
        Finding::Undecided => "undecided",
        Finding::BetterThanChance => "better than chance",
    }
}

/// linkage_plausibility(original regclass, released regclass, columns name[], key name, draws int,
/// at_least float8, orders jsonb, ties disclosure.tie_treatment, seed bigint)
#[pg_extern(sql = false)]
fn linkage_plausibility(args: Args) -> Table<PlausibilityRow> {
    Table::new(plausibility(args))
}

fn plausibility(mut args: Args) -> Result<Option<PlausibilityRow>, Error> {
    let wanted = Wanted::read(&mut args);
    let mut chance = read_chance(&mut args)?;
    let options = Options::read(&mut args)?;
    args.end()?;
    chance.seed = options.seed;
    chance.check()?;
    let tables = Microdata::by_rank(&wanted, &options.orders)?;
    let assessed = assess(&tables, options.ties, &chance)?;
    Ok(assessed.map(|(found, links)| plausibility_row(&tables, &found, links)))
}

fn plausibility_row(
    tables: &Microdata,
    found: &Plausibility,
    links: Option<CorrectLinks>,
) -> PlausibilityRow {
    let distances = |quantiles: &Quantiles| quantiles.iter().copied().map(in_ranks).collect();
    PlausibilityRow {
        records: tables.original.len() as i64,
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
        finding: finding_name(found.finding),
    }
}

/// compare_releases(original regclass, released regclass[], columns name[], key name, draws int,
/// at_least float8, orders jsonb, ties disclosure.tie_treatment, seed bigint)
#[pg_extern(sql = false)]
fn compare_releases(args: Args) -> Table<ReleaseRow> {
    Table::new(compared_releases(args))
}

const RELEASED: &str = "released";

fn compared_releases(mut args: Args) -> Result<Vec<ReleaseRow>, Error> {
    let original = TableArgument::read(&mut args, "original");
    let releases = read_releases(&mut args)?;
    let (columns, key) = (args.names("columns"), args.name("key"));
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
        };
        let tables = Microdata::by_rank(&wanted, &options.orders);
        let tables = tables.map_err(|problem| problem_of_element(problem, number))?;
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
    let (found, links) = assess(tables, ties, chance)?.unzip();
    let (found, links) = (found.as_ref(), links.flatten());
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
        finding: found.map(|found| finding_name(found.finding)),
    })
}

/// calibrate_permutation(original regclass, columns name[], candidates float8[], draws int, at_least float8,
/// at_most float8, orders jsonb, ties disclosure.tie_treatment, seed bigint)
#[pg_extern(sql = false)]
fn calibrate_permutation(args: Args) -> Table<CandidateRow> {
    Table::new(calibrated(args))
}

fn calibrated(mut args: Args) -> Result<Vec<CandidateRow>, Error> {
    let original = TableArgument::read(&mut args, "original");
    let columns = args.names("columns");
    let mut settings = CalibrationSettings {
        candidates: args.numbers("candidates")?,
        chance: read_chance(&mut args)?,
        at_most: args.required("at_most")?,
    };
    let options = Options::read(&mut args)?;
    args.end()?;
    settings.chance.seed = options.seed;
    settings.check()?;
    let records = Records::alone(original, columns, &options.orders)?;
    if records.len() == 0 {
        return Ok(Vec::new());
    }
    let ranked_columns = records.ranked_columns.into_iter();
    let dense_ranks: Vec<Vec<u32>> = ranked_columns.map(|column| column.dense_ranks).collect();
    let candidates = run::long("swapping ranks", |control| {
        permutation::calibrate(&dense_ranks, options.ties, &settings, control)
    })?;
    Ok(candidates.into_iter().map(candidate_row).collect())
}

fn candidate_row(candidate: Candidate) -> CandidateRow {
    let found = &candidate.plausibility;
    CandidateRow {
        p: candidate.p,
        rank_correlations: candidate.correlations,
        overlap: found.overlap,
        statistic: found.shorter.statistic,
        p_value: found.shorter.p_value,
        correct: candidate.correct as i64,
        expected_correct: candidate.expected_correct,
        finding: finding_name(found.finding),
        chosen: candidate.chosen,
    }
}
