//! Benchmark of sums over matchings, without Postgres: `cargo bench -p disclosure --bench attack`.
//!
//! Prints the seconds for the permanent and for all edge probabilities of a dense random matrix, the latter
//! also as a multiple of the former, the bounds on their errors, and the relative error of a known permanent.
//! Up to 20 rows, it also prints the seconds for the distribution of cracks.
//!
//! Options: `--most` limits the rows (by default 28), `--edges` limits the rows for edge probabilities (by
//! default 24), and `--runs` is the number of runs, of which the quickest counts.

use disclosure::attack::{Exact, Matrix, Settings, Truth, crack_distribution};
use disclosure::{Control, Result};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::error::Error;
use std::time::Instant;

/// Returns the time of the quickest of some runs, in seconds, and the result of the last run.
fn quickest<T>(runs: usize, mut run: impl FnMut() -> Result<T>) -> Result<(f64, T)> {
    let mut best = f64::INFINITY;
    let mut found = run()?;
    for _ in 0..runs {
        let start = Instant::now();
        found = run()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok((best, found))
}

fn dense(size: usize, random: &mut Pcg64Mcg) -> Result<Matrix> {
    let weights: Vec<f64> = (0..size * size).map(|_| random.random()).collect();
    Matrix::dense(size, size, &weights)
}

/// Returns a matrix with a known permanent: ones with twos on the diagonal, whose permanent is the sum of
/// n!/k! over k from 0 to n, with rows and columns multiplied by random factors.
fn known(size: usize, random: &mut Pcg64Mcg) -> Result<(Matrix, f64)> {
    let mut factors = || -> Vec<f64> { (0..size).map(|_| random.random_range(0.5..2.0)).collect() };
    let (rows, columns) = (factors(), factors());
    let weight = |row: usize, column: usize| {
        let plain = if row == column { 2.0 } else { 1.0 };
        plain * rows[row] * columns[column]
    };
    let weights: Vec<f64> = (0..size * size)
        .map(|cell| weight(cell / size, cell % size))
        .collect();
    let (mut plain, mut term) = (1.0, 1.0);
    for number in (1..=size).rev() {
        term *= number as f64;
        plain += term;
    }
    let factors = rows.iter().chain(&columns);
    let permanent = factors.fold(plain, |product, factor| product * factor);
    Ok((Matrix::dense(size, size, &weights)?, permanent))
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let (mut most, mut most_edges, mut runs) = (28, 24, 5);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().unwrap_or_default().parse::<usize>();
        match &argument[..] {
            "--bench" => (), // passed by cargo
            "--most" => most = number()?,
            "--edges" => most_edges = number()?,
            "--runs" => runs = number()?,
            unknown => return Err(format!("no such option: {unknown}").into()),
        }
    }
    println!("rows   permanent     bound  permanent off       edges     times     bound  distribution");
    for size in [3, 5, 7, 8, 10, 12, 16, 20, 24, 26, 28, 30] {
        if size > most {
            break;
        }
        let mut random = Pcg64Mcg::seed_from_u64(size as u64);
        let control = Control::new();
        let matrix = dense(size, &mut random)?;
        let runs = if size <= 20 { 10 * runs } else { runs };
        let (seconds, permanent) = quickest(runs, || Exact::new(&matrix, &control)?.permanent(&control))?;
        let (ones, truth) = known(size, &mut random)?;
        let found = Exact::new(&ones, &control)?.permanent(&control)?.value();
        print!(
            "{size:>4} {seconds:>11.2e} {:>9.0e} {:>14.0e}",
            permanent.relative_error,
            (found - truth).abs() / truth
        );
        if size <= most_edges {
            let edges = || Exact::new(&matrix, &control)?.edge_probabilities(&control);
            let (edge_seconds, edges) = quickest(runs, edges)?;
            print!(
                " {edge_seconds:>11.2e} {:>9.2} {:>9.0e}",
                edge_seconds / seconds,
                edges.error
            );
        }
        if size <= 20 {
            let truth = Truth::new(&matrix, (0..size as u32).map(Some).collect())?;
            let runs = if size <= 16 { runs } else { 3 };
            let settings = Settings::default();
            let distribution = || crack_distribution(&matrix, &truth, &settings, &control);
            print!(" {:>13.2e}", quickest(runs, distribution)?.0);
        }
        println!();
    }
    Ok(())
}
