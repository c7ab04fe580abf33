//! Risk after probabilistic attacks: `permanent`, `degree_of_anonymity`, `expected_cracks` of a matrix,
//! `crack_estimate`, `crack_heuristic`, `edge_probabilities`, `flat_matrix`, `normalised_matrix`, `is_flat`,
//! `matching_weight`, `nmape`, `random_attack`, `subset_cracks`, `attack_report`, `attack_summary`.

pub mod arrays;
mod tables;

use crate::args::{budget_of, given, name, warn_once};
use crate::error::Problem;
use crate::methods::attack::arrays::{mapping_of_array, matrix_of_array, subset_of_array};
use crate::methods::attack::tables::{LabelledAttack, WantedEdges};
use crate::pg::array_out::Square;
use crate::{guc, memory, run};
use disclosure::Control;
use disclosure::attack::{self, Estimate, Exact, Matrix, Method, Settings, Subsets, Truth};
use pgrx::Array;
use pgrx::datum::Interval;
use pgrx::prelude::*;
use std::borrow::Cow;
use std::ffi::CStr;
use std::time::Duration;

/// Rows that are so few that what is exact is done on the spot: a query may have very many small matrices.
const FEW: usize = 8;

/// attack_matrix_of_array(float8[])
#[pg_extern(sql = false)]
fn attack_matrix_of_array(array: Array<'_, f64>) -> Square {
    Square::of_array(array)
}

/// permanent(matrix float8[])
#[pg_extern(sql = false)]
fn permanent(matrix: Array<'_, f64>) -> f64 {
    exactly("summing over matchings", matrix, |matrix, control| {
        Exact::new(matrix, control)?.permanent(control)?.in_range()
    })
}

/// degree_of_anonymity(matrix float8[])
#[pg_extern(sql = false)]
fn degree_of_anonymity(matrix: Array<'_, f64>) -> f64 {
    exactly("summing over matchings", matrix, attack::degree_of_anonymity)
}

/// expected_cracks(matrix disclosure.attack_matrix, mapping int[])
#[pg_extern(sql = false)]
fn expected_cracks_of_matrix(matrix: Array<'_, f64>, mapping: Array<'_, i32>) -> f64 {
    let expected = || {
        let (matrix, truth) = matrix_and_truth(matrix, mapping)?;
        let settings = Wish::exact().settings();
        within_reach("expecting cracks", &matrix, |control| {
            Ok(attack::estimate(&matrix, &truth, &settings, control)?.expected)
        })
    };
    expected().unwrap_or_else(Problem::raise)
}

/// matching_weight(matrix float8[], mapping int[])
#[pg_extern(sql = false)]
fn matching_weight(matrix: Array<'_, f64>, mapping: Array<'_, i32>) -> f64 {
    let weight = || {
        let (matrix, truth) = matrix_and_truth(matrix, mapping)?;
        within_reach("summing over matchings", &matrix, |control| {
            attack::matching_weight(&matrix, &truth, control)
        })
    };
    weight().unwrap_or_else(Problem::raise)
}

/// flat_matrix(matrix float8[])
#[pg_extern(sql = false)]
fn flat_matrix(matrix: Array<'_, f64>) -> Square {
    let flat = || {
        let matrix = matrix_of_array(matrix)?;
        let flat = run::sized("scaling the matrix", matrix.size(), FEW, |control| {
            attack::flat_matrix(&matrix, control)
        });
        Ok(Square::of_matrix(&flat?))
    };
    flat().unwrap_or_else(Problem::raise)
}

/// normalised_matrix(matrix float8[])
#[pg_extern(sql = false)]
fn normalised_matrix(matrix: Array<'_, f64>) -> Square {
    let normalised = || {
        let matrix = matrix_of_array(matrix)?;
        let normalised = run::sized("scaling the matrix", matrix.size(), FEW, |control| {
            attack::normalise(&matrix, control)
        });
        Ok(Square::of_matrix(&normalised?))
    };
    normalised().unwrap_or_else(Problem::raise)
}

/// is_flat(matrix float8[])
#[pg_extern(sql = false)]
fn is_flat(matrix: Array<'_, f64>) -> bool {
    let is_flat = || {
        let matrix = matrix_of_array(matrix)?;
        run::sized("comparing matchings", matrix.size(), FEW, |control| {
            attack::is_flat(&matrix, control)
        })
    };
    is_flat().unwrap_or_else(Problem::raise)
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
        let heuristic = run::sized("scaling the matrix", matrix.size(), FEW, |control| {
            Ok(attack::heuristic(&*scaled(&matrix, normalise, control)?, &truth))
        });
        heuristic.map(Some)
    };
    heuristic().unwrap_or_else(Problem::raise)
}

/// nmape(matrix float8[], normalise boolean)
#[pg_extern(sql = false)]
fn nmape(matrix: Option<Array<'_, f64>>, normalise: Option<bool>) -> Option<f64> {
    let nmape = || {
        let normalise = given(NORMALISE, normalise)?;
        let Some(matrix) = matrix.map(matrix_of_array).transpose()? else {
            return Ok(None);
        };
        let nmape = run::sized("trying all mappings", matrix.size(), FEW, |control| {
            attack::nmape(&*scaled(&matrix, normalise, control)?, control)
        });
        nmape.map(Some)
    };
    nmape().unwrap_or_else(Problem::raise)
}

/// random_attack(size int, seed bigint, unevenness float8)
#[pg_extern(sql = false)]
fn random_attack(size: Option<i32>, seed: Option<i64>, unevenness: Option<f64>) -> Option<Square> {
    let attack = || {
        let unevenness = given("unevenness", unevenness)?;
        let Some((size, seed)) = size.zip(seed) else {
            return Ok(None);
        };
        // The algorithm says what is allowed; no number of rows is below 0.
        let size = usize::try_from(size).unwrap_or(0);
        let attack = run::sized("drawing a matrix", size, FEW, |control| {
            attack::random_attack(size, unevenness, seed as u64, control)
        });
        Ok(Some(Square::of_matrix(&attack?)))
    };
    attack().unwrap_or_else(Problem::raise)
}

/// edge_probabilities(matrix float8[], method text, budget interval)
#[pg_extern(sql = false)]
fn edge_probabilities(
    matrix: Option<Array<'_, f64>>,
    method: Option<&str>,
    budget: Option<Interval>,
) -> Option<Square> {
    let probabilities = || {
        let wish = Wish {
            method: method_of(method)?,
            budget: budget_of(budget)?,
            ..Wish::exact()
        };
        if matches!(wish.method, Method::Sample | Method::Heuristic) {
            return Err(Problem::argument(
                METHOD,
                "says too little of single edges",
                "Give 'exact', 'bethe' or 'auto'.",
            ));
        }
        let Some(matrix) = matrix.map(matrix_of_array).transpose()? else {
            return Ok(None);
        };
        let settings = wish.settings();
        let edges = wish.answer("weighing edges", &matrix, |control| {
            attack::edge_probabilities(&matrix, &settings, control)
        });
        Ok(Some(Square::with_values(&matrix, &edges?.probability)))
    };
    probabilities().unwrap_or_else(Problem::raise)
}

/// crack_estimate(matrix float8[], mapping int[], method text, relative_error float8, seed bigint, budget interval,
/// normalise boolean)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, clippy::too_many_arguments)] // they are those of the SQL function
fn crack_estimate(
    matrix: Option<Array<'_, f64>>,
    mapping: Option<Array<'_, i32>>,
    method: Option<&str>,
    relative_error: Option<f64>,
    seed: Option<i64>,
    budget: Option<Interval>,
    normalise: Option<bool>,
) -> TableIterator<
    'static,
    (
        name!(expected, f64),
        name!(lower, Option<f64>),
        name!(upper, Option<f64>),
        name!(method, String),
        name!(heuristic, f64),
    ),
> {
    let row = || {
        let wish = Wish::new(method, relative_error, seed, budget)?;
        let normalise = given(NORMALISE, normalise)?;
        let Some((matrix, mapping)) = matrix.zip(mapping) else {
            return Ok(None);
        };
        let (matrix, truth) = matrix_and_truth(matrix, mapping)?;
        let settings = wish.settings();
        let (found, heuristic) = wish.answer("expecting cracks", &matrix, |control| {
            let matrix = scaled(&matrix, normalise, control)?;
            let found = attack::estimate(&matrix, &truth, &settings, control)?;
            Ok((found, attack::heuristic(&matrix, &truth)))
        })?;
        warn_if_not_reached(found.reached);
        Ok(Some((
            found.expected,
            found.lower,
            found.upper,
            method_name(found.method),
            heuristic,
        )))
    };
    TableIterator::new(row().unwrap_or_else(Problem::raise))
}

/// subset_cracks(matrix float8[], mapping int[], subset int[], size int, method text, relative_error float8,
/// seed bigint, budget interval)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, clippy::too_many_arguments)] // they are those of the SQL function
fn subset_cracks(
    matrix: Option<Array<'_, f64>>,
    mapping: Option<Array<'_, i32>>,
    subset: Option<Array<'_, i32>>,
    size: Option<i32>,
    method: Option<&str>,
    relative_error: Option<f64>,
    seed: Option<i64>,
    budget: Option<Interval>,
) -> TableIterator<
    'static,
    (
        name!(expected, f64),
        name!(lower, f64),
        name!(upper, f64),
        name!(method, String),
    ),
> {
    let row = || {
        let wish = Wish::new(method, relative_error, seed, budget)?;
        if matches!(wish.method, Method::Bethe | Method::Heuristic) {
            return Err(Problem::argument(
                METHOD,
                "says nothing of sets",
                "Give 'auto', 'exact' or 'sample'.",
            ));
        }
        let Some((matrix, mapping)) = matrix.zip(mapping) else {
            return Ok(None);
        };
        let (matrix, truth) = matrix_and_truth(matrix, mapping)?;
        let subsets = subsets_of(&matrix, subset, size)?;
        let settings = wish.settings();
        let found = run::long("expecting cracks of sets", |control| {
            attack::subset_cracks(&matrix, &truth, &subsets, &settings, control)
        })?;
        warn_if_not_reached(found.reached);
        Ok(Some((
            found.expected,
            found.lower,
            found.upper,
            method_name(found.method),
        )))
    };
    TableIterator::new(row().unwrap_or_else(Problem::raise))
}

fn subsets_of(
    matrix: &Matrix,
    subset: Option<Array<'_, i32>>,
    size: Option<i32>,
) -> Result<Subsets, Problem> {
    match (subset, size) {
        (Some(subset), None) => Ok(Subsets::Only(subset_of_array(matrix, subset)?)),
        (None, Some(size)) if (1..=matrix.size() as i64).contains(&i64::from(size)) => {
            Ok(Subsets::OfSize(size as usize))
        }
        (None, Some(_)) => Err(Problem::argument(
            "size",
            format!("must be from 1 to {}", matrix.size()),
            "It is how many entries a set has.",
        )),
        (given, _) => Err(Problem::argument(
            "subset",
            match given {
                Some(_) => "is given, and so is size",
                None => "is not given, nor is size",
            },
            "Give either one set of rows, or the size of all sets that are meant.",
        )),
    }
}

type EntryRow = (
    Option<String>,
    Option<String>,
    Option<f64>,
    Option<f64>,
    Option<String>,
    Option<f64>,
    String,
);

/// attack_report(relation regclass, row_column name, column_column name, weight_column name, truth regclass,
/// method text, relative_error float8, seed bigint, budget interval, normalise boolean)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, clippy::too_many_arguments)] // they are those of the SQL function
fn attack_report(
    relation: Option<pg_sys::Oid>,
    row_column: Option<&CStr>,
    column_column: Option<&CStr>,
    weight_column: Option<&CStr>,
    truth: Option<pg_sys::Oid>,
    method: Option<&str>,
    relative_error: Option<f64>,
    seed: Option<i64>,
    budget: Option<Interval>,
    normalise: Option<bool>,
) -> TableIterator<
    'static,
    (
        name!(entry, Option<String>),
        name!(code, Option<String>),
        name!(weight, Option<f64>),
        name!(crack_probability, Option<f64>),
        name!(likeliest, Option<String>),
        name!(likeliest_probability, Option<f64>),
        name!(method, String),
    ),
> {
    let rows = || {
        let wish = Wish::new(method, relative_error, seed, budget)?;
        let normalise = given(NORMALISE, normalise)?;
        let tables = WantedEdges {
            relation,
            row_column: name(row_column),
            column_column: name(column_column),
            weight_column: name(weight_column),
            truth,
        };
        report_of(&LabelledAttack::read(tables, FEW)?, &wish, normalise)
    };
    let rows = rows().map_err(in_tables).unwrap_or_else(Problem::raise);
    TableIterator::new(rows)
}

/// Of codes that are equally likely but for rounding, the first one is called the likeliest.
const MORE_THAN_ROUNDING: f64 = 1.0 + 1e-9;

/// What there is to say of every entry.
struct Report {
    /// For every entry, its likeliest column and how likely that is.
    likeliest: Vec<Option<(u32, f64)>>,
    /// For every entry, that of its true code; nothing where none is known.
    crack_probability: Vec<Option<f64>>,
    /// For every entry, what the true edge weighs as a share of its row.
    share: Vec<Option<f64>>,
    method: Method,
    reached: bool,
}

impl Report {
    /// Cracks as `settings` say, so that they sum up to what is expected. Where that is not exact, the likeliest codes
    /// are found by belief propagation, as a sample says little of single edges.
    fn new(
        matrix: &Matrix,
        truth: Option<&Truth>,
        settings: &Settings,
        control: &Control,
    ) -> disclosure::Result<Self> {
        let of_edges = Settings {
            method: match settings.method {
                Method::Auto | Method::Exact => settings.method,
                Method::Bethe | Method::Sample | Method::Heuristic => Method::Bethe,
            },
            ..settings.clone()
        };
        let edges = attack::edge_probabilities(matrix, &of_edges, control)?;
        let likeliest = |row| {
            let columns = matrix.row(row).map(|(column, _)| column);
            let edges = columns.zip(edges.probability[matrix.range(row)].iter().copied());
            edges.reduce(|best, edge| {
                if edge.1 > best.1 * MORE_THAN_ROUNDING {
                    edge
                } else {
                    best
                }
            })
        };
        let of_true_edges = |of_edge: &dyn Fn(usize, u32) -> f64| {
            let columns = (0..).zip(truth.iter().flat_map(|truth| truth.columns()));
            let mut found: Vec<Option<f64>> = columns
                .map(|(row, column)| column.map(|column| of_edge(row, column)))
                .collect();
            found.resize(matrix.size(), None);
            found
        };
        let probability = |row, column| {
            let position = matrix.position(row, column);
            position.map_or(0.0, |position| edges.probability[position])
        };
        let shares = attack::shares(matrix);
        let share = |row, column| {
            let position = matrix.position(row, column);
            position.map_or(0.0, |position| shares[position])
        };
        let mut report = Report {
            likeliest: (0..matrix.size()).map(likeliest).collect(),
            crack_probability: of_true_edges(&probability),
            share: of_true_edges(&share),
            method: edges.method,
            reached: true,
        };
        let is_found = matches!(edges.method, Method::Exact) || settings.method == Method::Bethe;
        if let Some(truth) = truth.filter(|_| !is_found) {
            let found = attack::estimate(matrix, truth, settings, control)?;
            report.crack_probability = of_true_edges(&|row, _| found.crack_probability[row]);
            report.method = found.method;
            report.reached = found.reached;
        }
        Ok(report)
    }
}

fn report_of(tables: &LabelledAttack, wish: &Wish, normalise: bool) -> Result<Vec<EntryRow>, Problem> {
    let (matrix, truth) = (&tables.matrix, tables.truth.as_ref());
    let settings = wish.settings();
    let found = wish.answer("weighing edges", matrix, |control| {
        let matrix = scaled(matrix, normalise, control)?;
        Report::new(&matrix, truth, &settings, control)
    })?;
    warn_if_not_reached(found.reached);
    let row = |entry: usize| {
        let code = truth.and_then(|truth| truth.columns()[entry]);
        let likeliest = found.likeliest[entry];
        (
            tables.entries.text(entry as u32),
            code.and_then(|code| tables.codes.text(code)),
            found.share[entry],
            found.crack_probability[entry],
            likeliest.and_then(|(code, _)| tables.codes.text(code)),
            likeliest.map(|(_, probability)| probability),
            method_name(found.method),
        )
    };
    Ok((0..matrix.size()).map(row).collect())
}

type SummaryRow = (
    i64,
    i64,
    i64,
    i64,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<String>,
    Option<f64>,
);

/// attack_summary(relation regclass, row_column name, column_column name, weight_column name, truth regclass,
/// method text, relative_error float8, seed bigint, budget interval, normalise boolean)
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, clippy::too_many_arguments)] // they are those of the SQL function
fn attack_summary(
    relation: Option<pg_sys::Oid>,
    row_column: Option<&CStr>,
    column_column: Option<&CStr>,
    weight_column: Option<&CStr>,
    truth: Option<pg_sys::Oid>,
    method: Option<&str>,
    relative_error: Option<f64>,
    seed: Option<i64>,
    budget: Option<Interval>,
    normalise: Option<bool>,
) -> TableIterator<
    'static,
    (
        name!(entries, i64),
        name!(edges, i64),
        name!(possible_edges, i64),
        name!(blocks, i64),
        name!(ln_permanent, Option<f64>),
        name!(degree_of_anonymity, Option<f64>),
        name!(expected, Option<f64>),
        name!(lower, Option<f64>),
        name!(upper, Option<f64>),
        name!(method, Option<String>),
        name!(heuristic, Option<f64>),
    ),
> {
    let row = || {
        let wish = Wish::new(method, relative_error, seed, budget)?;
        let normalise = given(NORMALISE, normalise)?;
        let tables = WantedEdges {
            relation,
            row_column: name(row_column),
            column_column: name(column_column),
            weight_column: name(weight_column),
            truth,
        };
        summary_of(&LabelledAttack::read(tables, FEW)?, &wish, normalise)
    };
    TableIterator::once(row().map_err(in_tables).unwrap_or_else(Problem::raise))
}

fn summary_of(tables: &LabelledAttack, wish: &Wish, normalise: bool) -> Result<SummaryRow, Problem> {
    struct Summary {
        possible_edges: usize,
        blocks: usize,
        /// The logarithm of the permanent, and the degree of anonymity.
        exact: Option<(f64, f64)>,
        cracks: Option<(Estimate, f64)>,
    }
    let (matrix, truth) = (&tables.matrix, tables.truth.as_ref());
    let (settings, limit) = (wish.settings(), Limit::new(wish.budget));
    let found = wish.answer("summing over matchings", matrix, |control| {
        let matrix = scaled(matrix, normalise, control)?;
        let exact = Exact::new(&matrix, control)?;
        let is_affordable = limit.check(&exact).is_ok();
        let of_matchings = is_affordable.then(|| {
            let degree = attack::degree_of_anonymity(&matrix, control)?;
            Ok((exact.permanent(control)?.ln(), degree))
        });
        let cracks = truth.map(|truth| {
            let found = attack::estimate(&matrix, truth, &settings, control)?;
            Ok((found, attack::heuristic(&matrix, truth)))
        });
        Ok(Summary {
            possible_edges: exact.possible_edges(),
            blocks: exact.blocks(),
            exact: of_matchings.transpose()?,
            cracks: cracks.transpose()?,
        })
    })?;
    let cracks = found.cracks.as_ref().map(|(cracks, _)| cracks);
    warn_if_not_reached(cracks.is_none_or(|cracks| cracks.reached));
    Ok((
        matrix.size() as i64,
        matrix.edges() as i64,
        found.possible_edges as i64,
        found.blocks as i64,
        found.exact.map(|(ln_permanent, _)| ln_permanent),
        found.exact.map(|(_, degree_of_anonymity)| degree_of_anonymity),
        cracks.map(|cracks| cracks.expected),
        cracks.and_then(|cracks| cracks.lower),
        cracks.and_then(|cracks| cracks.upper),
        cracks.map(|cracks| method_name(cracks.method)),
        found.cracks.as_ref().map(|(_, heuristic)| *heuristic),
    ))
}

const METHOD: &str = "method";
const NORMALISE: &str = "normalise";

const METHODS: [(&str, Method); 5] = [
    ("auto", Method::Auto),
    ("exact", Method::Exact),
    ("bethe", Method::Bethe),
    ("sample", Method::Sample),
    ("heuristic", Method::Heuristic),
];

fn method_of(name: Option<&str>) -> Result<Method, Problem> {
    let name = given(METHOD, name)?;
    let method = METHODS.iter().find(|(other, _)| *other == name);
    method.map(|(_, method)| *method).ok_or(Problem::argument(
        METHOD,
        "is none of the methods",
        "Give 'auto', 'exact', 'bethe', 'sample' or 'heuristic'.",
    ))
}

fn method_name(method: Method) -> String {
    let named = METHODS.iter().find(|(_, other)| *other == method);
    named.map_or("", |(name, _)| name).into()
}

/// How the caller wants the answer to be found.
struct Wish {
    method: Method,
    relative_error: f64,
    seed: i64,
    budget: Option<Duration>,
}

impl Wish {
    fn new(
        method: Option<&str>,
        relative_error: Option<f64>,
        seed: Option<i64>,
        budget: Option<Interval>,
    ) -> Result<Self, Problem> {
        Ok(Wish {
            method: method_of(method)?,
            relative_error: given("relative_error", relative_error)?,
            seed: given("seed", seed)?,
            budget: budget_of(budget)?,
        })
    }

    /// Where there is no choice.
    fn exact() -> Self {
        Wish {
            method: Method::Exact,
            relative_error: 0.01,
            seed: 1,
            budget: guc::budget(),
        }
    }

    fn settings(&self) -> Settings {
        Settings {
            method: self.method,
            relative_error: self.relative_error,
            seed: self.seed as u64,
            budget: self.budget,
            bytes: memory::left() as f64,
        }
    }

    /// Do the job, unless an exact answer is wanted that costs too much.
    fn answer<R: Send>(
        &self,
        what: &'static str,
        matrix: &Matrix,
        job: impl FnOnce(&Control) -> disclosure::Result<R> + Send,
    ) -> Result<R, Problem> {
        match self.method {
            Method::Exact => {
                let hint = "Raise budget, or give another method.";
                within_limit(what, matrix, Limit::new(self.budget), (METHOD, hint), job)
            }
            _ => run::long(what, job),
        }
    }
}

/// How much an exact answer may cost.
#[derive(Clone, Copy)]
struct Limit {
    /// Of one core: the answer must not depend on how many there are.
    seconds: f64,
    bytes: f64,
}

impl Limit {
    fn new(budget: Option<Duration>) -> Self {
        Limit {
            seconds: budget.map_or(f64::INFINITY, |budget| budget.as_secs_f64()),
            bytes: memory::left() as f64,
        }
    }

    /// What is wrong with the cost, if anything.
    fn check(self, exact: &Exact) -> Result<(), String> {
        let seconds = exact.seconds();
        if seconds > self.seconds {
            return Err(format!("an exact answer would take about {seconds:.1e} s"));
        }
        if exact.bytes() > self.bytes {
            return Err("an exact answer would take more than disclosure.max_memory".into());
        }
        Ok(())
    }
}

/// Do a job whose answer is exact, unless that costs too much: then the argument is wrong, and the hint says what to
/// do. What is small costs little.
fn within_limit<R: Send>(
    what: &'static str,
    matrix: &Matrix,
    limit: Limit,
    (argument, hint): (&'static str, &'static str),
    job: impl FnOnce(&Control) -> disclosure::Result<R> + Send,
) -> Result<R, Problem> {
    let found = run::sized(what, matrix.size(), FEW, |control| {
        if matrix.size() > FEW {
            if let Err(problem) = limit.check(&Exact::new(matrix, control)?) {
                return Ok(Err(problem));
            }
        }
        job(control).map(Ok)
    })?;
    found.map_err(|problem| Problem::argument(argument, problem, hint))
}

/// An exact answer about a matrix.
fn exactly<R: Send>(
    what: &'static str,
    matrix: Array<'_, f64>,
    job: impl FnOnce(&Matrix, &Control) -> disclosure::Result<R> + Send,
) -> R {
    let answer = || {
        let matrix = matrix_of_array(matrix)?;
        within_reach(what, &matrix, |control| job(&matrix, control))
    };
    answer().unwrap_or_else(Problem::raise)
}

/// Do a job whose answer is exact, where the caller has no other choice.
fn within_reach<R: Send>(
    what: &'static str,
    matrix: &Matrix,
    job: impl FnOnce(&Control) -> disclosure::Result<R> + Send,
) -> Result<R, Problem> {
    let hint = "Raise disclosure.budget or disclosure.max_memory; crack_estimate() comes close where exact answers \
                are out of reach.";
    within_limit(what, matrix, Limit::new(guc::budget()), ("matrix", hint), job)
}

fn matrix_and_truth(matrix: Array<'_, f64>, mapping: Array<'_, i32>) -> Result<(Matrix, Truth), Problem> {
    let matrix = matrix_of_array(matrix)?;
    let truth = mapping_of_array(&matrix, mapping)?;
    Ok((matrix, truth))
}

/// The matrix itself, or what is doubly stochastic of it.
fn scaled<'a>(matrix: &'a Matrix, normalise: bool, control: &Control) -> disclosure::Result<Cow<'a, Matrix>> {
    match normalise {
        true => attack::normalise(matrix, control).map(Cow::Owned),
        false => Ok(Cow::Borrowed(matrix)),
    }
}

fn warn_if_not_reached(reached: bool) {
    if !reached {
        warn_once("the sample did not reach relative_error; lower and upper say how far it came");
    }
}

/// What is wrong with the matrix or the mapping is wrong with the tables where they are from.
fn in_tables(problem: Problem) -> Problem {
    match problem {
        Problem::Algorithm(disclosure::Error::InvalidArgument {
            argument,
            problem,
            allowed,
        }) => Problem::Algorithm(disclosure::Error::InvalidArgument {
            argument: match argument {
                "matrix" => "relation",
                "mapping" => "truth",
                other => other,
            },
            problem,
            allowed,
        }),
        other => other,
    }
}
