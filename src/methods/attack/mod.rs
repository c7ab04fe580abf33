//! Disclosure risk after a probabilistic attack (Malik 2014): `permanent`, `ln_permanent`,
//! `degree_of_anonymity`, `expected_cracks` of a matrix, `crack_estimate`, `crack_heuristic`,
//! `crack_distribution` of a matrix and of tables, `edge_probabilities`, `flat_matrix`, `normalised_matrix`,
//! `is_flat`, `matching_weight`, `nmape`, `random_attack`, `subset_cracks`, `attack_report`,
//! `attack_summary`, `network_attack`.
//!
//! The adversary's opinion is a matrix of weights: the larger a weight, the more likely the adversary thinks
//! it is that the entry of its row became the code of its column. Most functions take the matrix as an array
//! (`arrays.rs`). `attack_report`, `attack_summary` and one form of `crack_distribution` read it from a table
//! of edges, and `network_attack` computes it from a table of channels (`tables.rs`). The definitions and
//! algorithms are in [`disclosure::attack`].

pub mod arrays;
mod tables;

use crate::args::{Args, given, warn_once, word};
use crate::error::Error;
use crate::pg::array_out::Grid;
use crate::pg::table::{Table, table_row};
use crate::verdict::verdict_name;
use crate::{guc, memory, run};
use arrays::{array_of_edges, array_of_matrix, mapping_of_array, matrix_of_array, subsets_of};
use disclosure::Control;
use disclosure::attack::{self, Exact, Matrix, Method, Network, Settings, Truth};
use pgrx::Array;
use pgrx::prelude::*;
use std::borrow::Cow;
use tables::{IN_NETWORKS, IN_TABLES, LabelledAttack, LabelledNetwork, WantedEdges, WantedNetwork};

/// Number of rows up to which an exact result is computed without a worker thread, because a query may have
/// very many small matrices.
const FEW: usize = 8;

const METHODS: [(&str, Method); 6] = [
    ("auto", Method::Auto),
    ("exact", Method::Exact),
    ("bethe", Method::Bethe),
    ("sample", Method::Sample),
    ("heuristic", Method::Heuristic),
    ("marginals", Method::Marginals),
];

/// Methods that give probabilities of single edges.
const METHODS_OF_EDGES: [(&str, Method); 3] = [METHODS[0], METHODS[1], METHODS[2]];

/// Methods that count cracked sets of entries, or matchings by their number of cracks.
const METHODS_OF_SETS: [(&str, Method); 3] = [METHODS[0], METHODS[1], METHODS[3]];

/// permanent(matrix float8[])
#[pg_extern(sql = false)]
fn permanent(matrix: Array<'_, f64>) -> f64 {
    let permanent = || {
        let matrix = matrix_of_array(matrix)?;
        within_reach("summing over matchings", &matrix, |control| {
            Exact::new(&matrix, control)?.permanent(control)?.in_range()
        })
    };
    permanent().unwrap_or_else(Error::raise)
}

/// ln_permanent(matrix float8[])
#[pg_extern(sql = false)]
fn ln_permanent(matrix: Array<'_, f64>) -> f64 {
    let logarithm = || {
        let matrix = matrix_of_array(matrix)?;
        within_reach("summing over matchings", &matrix, |control| {
            Ok(Exact::new(&matrix, control)?.permanent(control)?.ln())
        })
    };
    logarithm().unwrap_or_else(Error::raise)
}

/// degree_of_anonymity(matrix float8[])
#[pg_extern(sql = false)]
fn degree_of_anonymity(matrix: Array<'_, f64>) -> f64 {
    let degree = || {
        let matrix = matrix_of_array(matrix)?;
        within_reach("summing over matchings", &matrix, |control| {
            attack::degree_of_anonymity(&matrix, control)
        })
    };
    degree().unwrap_or_else(Error::raise)
}

/// expected_cracks(matrix float8[], mapping int[])
#[pg_extern(sql = false)]
fn expected_cracks_of_matrix(matrix: Array<'_, f64>, mapping: Array<'_, i32>) -> f64 {
    let expected = || {
        let (matrix, truth) = matrix_and_truth(matrix, mapping)?;
        let settings = exactly();
        within_reach("computing cracks", &matrix, |control| {
            Ok(attack::estimate(&matrix, &truth, &settings, control)?.expected)
        })
    };
    expected().unwrap_or_else(Error::raise)
}

/// matching_weight(matrix float8[], mapping int[])
#[pg_extern(sql = false)]
fn matching_weight(matrix: Array<'_, f64>, mapping: Array<'_, i32>) -> f64 {
    let weight = || {
        let (matrix, truth) = matrix_and_truth(matrix, mapping)?;
        within_reach("summing over matchings", &matrix, |control| {
            attack::matching_probability(&matrix, &truth, control)
        })
    };
    weight().unwrap_or_else(Error::raise)
}

/// flat_matrix(matrix float8[])
#[pg_extern(sql = false)]
fn flat_matrix(matrix: Array<'_, f64>) -> Grid<f64> {
    array_of_matrix(&of_matrix("scaling the matrix", matrix, attack::flat_matrix))
}

/// normalised_matrix(matrix float8[])
#[pg_extern(sql = false)]
fn normalised_matrix(matrix: Array<'_, f64>) -> Grid<f64> {
    array_of_matrix(&of_matrix("scaling the matrix", matrix, attack::normalise))
}

/// is_flat(matrix float8[])
#[pg_extern(sql = false)]
fn is_flat(matrix: Array<'_, f64>) -> bool {
    of_matrix("comparing matchings", matrix, attack::is_flat)
}

/// Returns the result of a function of the crate for a matrix.
fn of_matrix<R: Send>(
    what: &'static str,
    matrix: Array<'_, f64>,
    job: fn(&Matrix, &Control) -> disclosure::Result<R>,
) -> R {
    let found = matrix_of_array(matrix)
        .and_then(|matrix| run::sized(what, larger_side(&matrix), FEW, |control| job(&matrix, control)));
    found.unwrap_or_else(Error::raise)
}

/// crack_heuristic(matrix float8[], mapping int[], normalise boolean)
#[pg_extern(sql = false)]
fn crack_heuristic(
    matrix: Option<Array<'_, f64>>,
    mapping: Option<Array<'_, i32>>,
    normalise: Option<bool>,
) -> Option<f64> {
    let heuristic = || {
        let normalise = given(NORMALISE, normalise)?;
        let Some((matrix, mapping)) = matrix.zip(mapping) else {
            return Ok(None);
        };
        let (matrix, truth) = matrix_and_truth(matrix, mapping)?;
        let heuristic = run::sized("scaling the matrix", larger_side(&matrix), FEW, |control| {
            Ok(attack::heuristic(&*scaled(&matrix, normalise, control)?, &truth))
        });
        heuristic.map(Some)
    };
    heuristic().unwrap_or_else(Error::raise)
}

/// nmape(matrix float8[], normalise boolean)
#[pg_extern(sql = false)]
fn nmape(matrix: Option<Array<'_, f64>>, normalise: Option<bool>) -> Option<f64> {
    let nmape = || {
        let normalise = given(NORMALISE, normalise)?;
        let Some(matrix) = matrix.map(matrix_of_array).transpose()? else {
            return Ok(None);
        };
        let nmape = run::sized("trying all mappings", larger_side(&matrix), FEW, |control| {
            attack::nmape(&*scaled(&matrix, normalise, control)?, control)
        });
        nmape.map(Some)
    };
    nmape().unwrap_or_else(Error::raise)
}

/// random_attack(size int, seed bigint, unevenness float8)
#[pg_extern(sql = false)]
fn random_attack(size: Option<i32>, seed: Option<i64>, unevenness: Option<f64>) -> Option<Grid<f64>> {
    let attack = || {
        let unevenness = given("unevenness", unevenness)?;
        let Some((size, seed)) = size.zip(seed) else {
            return Ok(None);
        };
        // The crate checks the range. A negative size becomes 0, which it refuses.
        let size = usize::try_from(size).unwrap_or(0);
        let attack = run::sized("drawing a matrix", size, FEW, |control| {
            attack::random_attack(size, unevenness, seed as u64, control)
        });
        Ok(Some(array_of_matrix(&attack?)))
    };
    attack().unwrap_or_else(Error::raise)
}

/// edge_probabilities(matrix float8[], method text, budget interval)
#[pg_extern(sql = false)]
fn edge_probabilities(args: Args) -> Option<Grid<f64>> {
    edge_array(args).unwrap_or_else(Error::raise)
}

fn edge_array(mut args: Args) -> Result<Option<Grid<f64>>, Error> {
    let matrix = args.optional("matrix");
    let settings = Settings {
        method: word(METHOD, args.optional(METHOD), &METHODS_OF_EDGES)?,
        budget: args.budget()?,
        ..Settings::default()
    };
    args.end()?;
    let Some(matrix) = matrix.map(matrix_of_array).transpose()? else {
        return Ok(None);
    };
    let edges = answer(
        "computing edge probabilities",
        &matrix,
        settings,
        |settings, control| attack::edge_probabilities(&matrix, settings, control),
    );
    Ok(Some(array_of_edges(&matrix, &edges?.probability)))
}

table_row! {
    /// Number of entries that are expected to be cracked.
    struct CrackEstimate {
        expected: f64,
        lower: Option<f64>,
        upper: Option<f64>,
        method: &'static str,
        heuristic: f64,
    }
}

/// crack_estimate(matrix float8[], mapping int[], method text, relative_error float8, seed bigint,
/// budget interval, normalise boolean)
#[pg_extern(sql = false)]
fn crack_estimate(args: Args) -> Table<CrackEstimate> {
    Table::new(estimated_cracks(args))
}

fn estimated_cracks(mut args: Args) -> Result<Option<CrackEstimate>, Error> {
    let (matrix, mapping) = (args.optional("matrix"), args.optional("mapping"));
    let settings = settings_of(&mut args, &METHODS)?;
    let normalise = normalise_of(&mut args, &settings)?;
    args.end()?;
    let Some((matrix, mapping)) = matrix.zip(mapping) else {
        return Ok(None);
    };
    let (matrix, truth) = matrix_and_truth(matrix, mapping)?;
    let (found, heuristic) = answer("computing cracks", &matrix, settings, |settings, control| {
        let matrix = scaled(&matrix, normalise, control)?;
        let found = attack::estimate(&matrix, &truth, settings, control)?;
        Ok((found, attack::heuristic(&matrix, &truth)))
    })?;
    warn_if_not_reached(found.is_precise_enough);
    Ok(Some(CrackEstimate {
        expected: found.expected,
        lower: found.lower,
        upper: found.upper,
        method: name_of(found.method),
        heuristic,
    }))
}

table_row! {
    /// Probabilities of a number of cracks.
    struct CracksOf {
        cracks: i64,
        probability: f64,
        lower: f64,
        upper: f64,
        at_least: f64,
        at_least_lower: f64,
        at_least_upper: f64,
        method: &'static str,
    }
}

/// crack_distribution(matrix float8[], mapping int[], method text, relative_error float8, seed bigint,
/// budget interval)
#[pg_extern(sql = false)]
fn crack_distribution_of_matrix(args: Args) -> Table<CracksOf> {
    Table::new(distribution_of_matrix(args))
}

fn distribution_of_matrix(mut args: Args) -> Result<Vec<CracksOf>, Error> {
    let (matrix, mapping) = (args.optional("matrix"), args.optional("mapping"));
    let settings = settings_of(&mut args, &METHODS_OF_SETS)?;
    args.end()?;
    let Some((matrix, mapping)) = matrix.zip(mapping) else {
        return Ok(Vec::new());
    };
    let (matrix, truth) = matrix_and_truth(matrix, mapping)?;
    distribution(&matrix, &truth, settings)
}

/// crack_distribution(relation regclass, entry_column name, code_column name, weight_column name,
/// truth regclass, method text, relative_error float8, seed bigint, budget interval)
#[pg_extern(sql = false)]
fn crack_distribution(args: Args) -> Table<CracksOf> {
    Table::new(distribution_of_tables(args).map_err(|problem| problem.renamed(&IN_TABLES)))
}

fn distribution_of_tables(mut args: Args) -> Result<Vec<CracksOf>, Error> {
    let wanted = WantedEdges::read(&mut args);
    let settings = settings_of(&mut args, &METHODS_OF_SETS)?;
    args.end()?;
    if wanted.truth.is_none() {
        let hint = "Give a table with the true code of each entry, because only true codes are cracks.";
        return Err(Error::null(tables::TRUTH, hint));
    }
    let tables = LabelledAttack::read(wanted, FEW)?;
    match &tables.truth {
        Some(truth) => distribution(&tables.matrix, truth, settings),
        None => Ok(Vec::new()),
    }
}

fn distribution(matrix: &Matrix, truth: &Truth, settings: Settings) -> Result<Vec<CracksOf>, Error> {
    let found = answer(
        "computing the distribution of cracks",
        matrix,
        settings,
        |settings, control| attack::crack_distribution(matrix, truth, settings, control),
    )?;
    warn_if_not_reached(found.is_precise_enough);
    memory::require(found.cracks.len() * size_of::<CracksOf>())?;
    let row = |(cracks, of): (i64, &attack::CrackProbability)| CracksOf {
        cracks,
        probability: of.probability,
        lower: of.lower,
        upper: of.upper,
        at_least: of.at_least,
        at_least_lower: of.at_least_lower,
        at_least_upper: of.at_least_upper,
        method: name_of(found.method),
    };
    Ok((0..).zip(&found.cracks).map(row).collect())
}

table_row! {
    /// Number of sets of entries that are expected to be cracked.
    struct SubsetCracks { expected: f64, lower: f64, upper: f64, method: &'static str }
}

/// subset_cracks(matrix float8[], mapping int[], subset int[], size int, method text, relative_error float8,
/// seed bigint, budget interval)
#[pg_extern(sql = false)]
fn subset_cracks(args: Args) -> Table<SubsetCracks> {
    Table::new(cracked_sets(args))
}

fn cracked_sets(mut args: Args) -> Result<Option<SubsetCracks>, Error> {
    let (matrix, mapping) = (args.optional("matrix"), args.optional("mapping"));
    let (subset, size) = (args.optional("subset"), args.optional("size"));
    let settings = settings_of(&mut args, &METHODS_OF_SETS)?;
    args.end()?;
    let Some((matrix, mapping)) = matrix.zip(mapping) else {
        return Ok(None);
    };
    let (matrix, truth) = matrix_and_truth(matrix, mapping)?;
    let subsets = subsets_of(subset, size)?;
    let settings = with_memory(settings);
    let found = run::long("computing cracks of sets", |control| {
        attack::subset_cracks(&matrix, &truth, &subsets, &settings, control)
    })?;
    warn_if_not_reached(found.is_precise_enough);
    Ok(Some(SubsetCracks {
        expected: found.expected,
        lower: found.lower,
        upper: found.upper,
        method: name_of(found.method),
    }))
}

table_row! {
    /// Result of the attack for one entry.
    struct Entry {
        entry: Option<String>,
        code: Option<String>,
        weight: Option<f64>,
        crack_probability: Option<f64>,
        likeliest: Option<String>,
        likeliest_probability: Option<f64>,
        method: &'static str,
    }
}

/// attack_report(relation regclass, entry_column name, code_column name, weight_column name, truth regclass,
/// method text, relative_error float8, seed bigint, budget interval, normalise boolean)
#[pg_extern(sql = false)]
fn attack_report(args: Args) -> Table<Entry> {
    let found = of_tables(args, "computing edge probabilities", attack::report, |_| None);
    Table::new(found.map(|(tables, report)| {
        warn_if_not_reached(report.is_precise_enough);
        let row = |(number, entry): (usize, &attack::EntryRisk)| {
            let truth = tables.truth.as_ref();
            let code = truth.and_then(|truth| truth.columns()[number]);
            Entry {
                entry: tables.entries.text(number as u32),
                code: code.and_then(|code| tables.codes.text(code)),
                weight: entry.share,
                crack_probability: entry.crack_probability,
                likeliest: entry.likeliest.and_then(|(code, _)| tables.codes.text(code)),
                likeliest_probability: entry.likeliest.map(|(_, probability)| probability),
                method: name_of(report.method),
            }
        };
        report.entries.iter().enumerate().map(row).collect::<Vec<Entry>>()
    }))
}

table_row! {
    /// Result of the attack in one row.
    struct Summary {
        entries: i64,
        codes: i64,
        edges: i64,
        possible_edges: i64,
        blocks: Option<i64>,
        ln_permanent: Option<f64>,
        ln_permanent_lower: Option<f64>,
        ln_permanent_upper: Option<f64>,
        degree_of_anonymity: Option<f64>,
        expected: Option<f64>,
        lower: Option<f64>,
        upper: Option<f64>,
        method: Option<&'static str>,
        heuristic: Option<f64>,
        verdict: Option<&'static str>,
    }
}

/// attack_summary(relation regclass, entry_column name, code_column name, weight_column name, truth regclass,
/// tolerance float8, method text, relative_error float8, seed bigint, budget interval, normalise boolean)
#[pg_extern(sql = false)]
fn attack_summary(args: Args) -> Table<Summary> {
    let found = of_tables(args, "summing over matchings", attack::summary, |args| {
        args.optional("tolerance")
    });
    Table::once(found.map(|(tables, summary)| {
        let cracks = summary.cracks.as_ref();
        warn_if_not_reached(cracks.is_none_or(|cracks| cracks.is_precise_enough));
        Summary {
            entries: tables.matrix.size() as i64,
            codes: tables.matrix.width() as i64,
            edges: tables.matrix.edge_count() as i64,
            possible_edges: summary.possible_edges as i64,
            blocks: summary.blocks.map(|blocks| blocks as i64),
            ln_permanent: summary.ln_permanent,
            ln_permanent_lower: summary.ln_permanent_bounds.map(|(lower, _)| lower),
            ln_permanent_upper: summary.ln_permanent_bounds.map(|(_, upper)| upper),
            degree_of_anonymity: summary.degree_of_anonymity,
            expected: cracks.map(|cracks| cracks.expected),
            lower: cracks.and_then(|cracks| cracks.lower),
            upper: cracks.and_then(|cracks| cracks.upper),
            method: cracks.map(|cracks| name_of(cracks.method)),
            heuristic: summary.heuristic,
            verdict: summary.tolerated.map(|_| verdict_name(summary.is_within)),
        }
    }))
}

table_row! {
    /// Probability that an entry of a network becomes a code.
    struct NetworkEdge { entry: Option<String>, code: Option<String>, weight: f64 }
}

/// network_attack(relation regclass, from_column name, to_column name, probability_column name)
#[pg_extern(sql = false)]
fn network_attack(mut args: Args) -> Table<NetworkEdge> {
    let attack = || {
        let wanted = WantedNetwork::read(&mut args);
        args.end()?;
        let LabelledNetwork {
            channels,
            has_probabilities,
            nodes,
        } = LabelledNetwork::read(wanted)?;
        let count = nodes.len();
        let edges = run::sized("following channels", count, FEW, |control| {
            let network = match has_probabilities {
                true => Network::new(count, &channels, control)?,
                false => {
                    let pairs: Vec<(u32, u32)> = channels.iter().map(|&(from, to, _)| (from, to)).collect();
                    Network::of_equal_channels(count, &pairs, control)?
                }
            };
            network.attack(control)
        })?;
        // Two labels of a few bytes each.
        memory::require(edges.len() * (size_of::<NetworkEdge>() + 32))?;
        let row = |&(entry, code, weight): &(u32, u32, f64)| NetworkEdge {
            entry: nodes.text(entry),
            code: nodes.text(code),
            weight,
        };
        Ok(edges.iter().map(row).collect::<Vec<_>>())
    };
    Table::new(attack().map_err(|problem: Error| problem.renamed(&IN_NETWORKS)))
}

/// Reads the arguments that `attack_report` and `attack_summary` share, and the tolerance, then the tables.
/// Returns the tables and the result of `job` for them.
fn of_tables<R: Send>(
    mut args: Args,
    what: &'static str,
    job: fn(&Matrix, Option<&Truth>, &Settings, &Control) -> disclosure::Result<R>,
    tolerance: fn(&mut Args) -> Option<f64>,
) -> Result<(LabelledAttack, R), Error> {
    let wanted = WantedEdges::read(&mut args);
    let settings = Settings {
        tolerance: tolerance(&mut args),
        ..settings_of(&mut args, &METHODS)?
    };
    settings.check()?;
    let normalise = normalise_of(&mut args, &settings)?;
    args.end()?;
    let found = LabelledAttack::read(wanted, FEW).and_then(|tables| {
        let (entries, codes) = (tables.matrix.size(), tables.matrix.width());
        if normalise && entries != codes {
            let problem = format!("is not possible with {entries} entries and {codes} codes");
            let hint = "Leave it out, or give as many codes as entries.";
            return Err(Error::argument(NORMALISE, problem, hint));
        }
        let found = answer(what, &tables.matrix, settings, |settings, control| {
            let matrix = scaled(&tables.matrix, normalise, control)?;
            job(&matrix, tables.truth.as_ref(), settings, control)
        })?;
        Ok((tables, found))
    });
    found.map_err(|problem| problem.renamed(&IN_TABLES))
}

const METHOD: &str = "method";
const NORMALISE: &str = "normalise";

fn name_of(method: Method) -> &'static str {
    let named = METHODS.iter().find(|(_, other)| *other == method);
    named.map_or("", |(name, _)| name)
}

/// Reads the arguments `method`, `relative_error`, `seed` and `budget`.
fn settings_of(args: &mut Args, methods: &[(&'static str, Method)]) -> Result<Settings, Error> {
    let settings = Settings {
        method: word(METHOD, args.optional(METHOD), methods)?,
        relative_error: args.required("relative_error")?,
        seed: args.seed()?,
        budget: args.budget()?,
        ..Settings::default()
    };
    settings.check()?;
    Ok(settings)
}

/// Reads the argument `normalise`. Marginals are probabilities already, and would lose their meaning.
fn normalise_of(args: &mut Args, settings: &Settings) -> Result<bool, Error> {
    let normalise = args.required(NORMALISE)?;
    if normalise && settings.method == Method::Marginals {
        let hint = "Leave it out, or choose a method that takes weights in any unit.";
        return Err(Error::argument(NORMALISE, "does not apply to marginals", hint));
    }
    Ok(normalise)
}

/// Returns settings that allow only an exact result.
fn exactly() -> Settings {
    with_memory(Settings {
        method: Method::Exact,
        budget: guc::budget(),
        ..Settings::default()
    })
}

/// Returns the settings with the memory that is left now, after all input was read.
fn with_memory(settings: Settings) -> Settings {
    Settings {
        max_bytes: memory::left() as f64,
        ..settings
    }
}

/// Runs a job with these settings. If the method is exact and the matrix small, no worker thread is used.
fn answer<R: Send>(
    what: &'static str,
    matrix: &Matrix,
    settings: Settings,
    job: impl FnOnce(&Settings, &Control) -> disclosure::Result<R> + Send,
) -> Result<R, Error> {
    let settings = with_memory(settings);
    if settings.method == Method::Exact {
        run::sized(what, larger_side(matrix), FEW, |control| job(&settings, control))
    } else {
        run::long(what, |control| job(&settings, control))
    }
}

/// Runs a job whose result is always exact, so that the caller cannot choose a cheaper method. If it would
/// cost too much, the matrix is refused as too large. The cost of a small matrix is not even estimated,
/// because a query may have very many of them.
fn within_reach<R: Send>(
    what: &'static str,
    matrix: &Matrix,
    job: impl FnOnce(&Control) -> disclosure::Result<R> + Send,
) -> Result<R, Error> {
    let settings = (larger_side(matrix) > FEW).then(exactly);
    let found = run::sized(what, larger_side(matrix), FEW, |control| {
        if let Some(settings) = settings
            && let Err(too_expensive) = settings.check_cost(&Exact::new(matrix, control)?)
        {
            return Ok(Err(too_expensive));
        }
        job(control).map(Ok)
    })?;
    found.map_err(|too_expensive| {
        let hint = "Raise disclosure.budget or disclosure.max_memory. crack_estimate() approximates expected \
                    cracks, and attack_summary() returns bounds of the permanent.";
        Error::from(too_expensive).about("matrix", hint)
    })
}

/// Returns the number of rows or of columns, whichever is larger.
fn larger_side(matrix: &Matrix) -> usize {
    matrix.size().max(matrix.width())
}

fn matrix_and_truth(matrix: Array<'_, f64>, mapping: Array<'_, i32>) -> Result<(Matrix, Truth), Error> {
    let matrix = matrix_of_array(matrix)?;
    let truth = mapping_of_array(&matrix, mapping)?;
    Ok((matrix, truth))
}

/// Returns the matrix itself or, if `normalise` is set, its doubly stochastic scaling.
fn scaled<'a>(matrix: &'a Matrix, normalise: bool, control: &Control) -> disclosure::Result<Cow<'a, Matrix>> {
    if normalise {
        attack::normalise(matrix, control).map(Cow::Owned)
    } else {
        Ok(Cow::Borrowed(matrix))
    }
}

fn warn_if_not_reached(reached: bool) {
    if !reached {
        warn_once(
            "the sample did not reach relative_error; lower and upper show the precision that was reached",
        );
    }
}
