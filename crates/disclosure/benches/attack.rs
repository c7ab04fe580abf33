//! Times sums over signs alone, without Postgres: `cargo bench -p disclosure --bench attack`.
//!
//! Prints the seconds that the permanent and all edge probabilities of a dense random matrix take, the latter as a
//! multiple of the former, and how far both are off where the permanent is known: a matrix of ones the rows and
//! columns of which are multiplied by numbers.
//!
//! Options: `--most` rows (by default 28), `--edges` up to so many rows (by default 24), `--runs` of which the quickest
//! counts.

use disclosure::attack::Matrix;
use disclosure::{Control, Result};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::error::Error;
use std::time::Instant;

// The functions themselves, which are not public: `Exact` chooses between them and others. Clippy compiles their tests,
// which nothing runs here.
#[allow(unused)]
#[path = "../src/attack/glynn.rs"]
mod glynn;

/// The quickest of some runs, in seconds, and what it came to.
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

/// A matrix with a permanent that is known: n! times the factors of all rows and columns. Every edge has the
/// probability 1/n.
fn known(size: usize, random: &mut Pcg64Mcg) -> Result<(Matrix, f64)> {
    let mut factors = || -> Vec<f64> { (0..size).map(|_| random.random_range(0.5..2.0)).collect() };
    let (rows, columns) = (factors(), factors());
    let weights: Vec<f64> = rows
        .iter()
        .flat_map(|row| columns.iter().map(move |column| row * column))
        .collect();
    let factorial: f64 = (1..=size).map(|number| number as f64).product();
    let permanent = rows
        .iter()
        .chain(&columns)
        .fold(factorial, |product, factor| product * factor);
    Ok((Matrix::dense(size, size, &weights)?, permanent))
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let (mut most, mut most_edges, mut runs) = (28, 24, 5);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().unwrap_or_default().parse::<usize>();
        match &argument[..] {
            "--bench" => (), // cargo's own
            "--most" => most = number()?,
            "--edges" => most_edges = number()?,
            "--runs" => runs = number()?,
            unknown => return Err(format!("no such option: {unknown}").into()),
        }
    }
    println!(
        "rows   permanent   bound   edges     times  bound   on one core    permanent off      edges off"
    );
    for size in [3, 5, 7, 8, 10, 12, 16, 20, 24, 26, 28, 30] {
        if size > most {
            break;
        }
        let mut random = Pcg64Mcg::seed_from_u64(size as u64);
        let control = Control::new();
        let matrix = dense(size, &mut random)?;
        let runs = if size <= 20 { 10 * runs } else { runs };
        let (seconds, permanent) = quickest(runs, || glynn::permanent(&matrix, &control))?;
        let (ones, truth) = known(size, &mut random)?;
        let found = glynn::permanent(&ones, &control)?;
        print!(
            "{size:>4} {seconds:>11.2e} {:>7.0e}",
            permanent.error / permanent.value
        );
        if size <= most_edges {
            let (edge_seconds, (_, _, error)) = quickest(runs, || glynn::edges(&matrix, &control))?;
            let (_, probability, _) = glynn::edges(&ones, &control)?;
            let off = |&p: &f64| (p - 1.0 / size as f64).abs();
            print!(
                " {edge_seconds:>7.2e} {:>9.2} {error:>6.0e} {:>13.2e} {:>14.0e} {:>14.0e}",
                edge_seconds / seconds,
                glynn::seconds(size),
                (found.value - truth).abs() / truth,
                probability.iter().map(off).fold(0.0, f64::max)
            );
        } else {
            print!("{:>55.0e}", (found.value - truth).abs() / truth);
        }
        println!();
    }
    Ok(())
}
