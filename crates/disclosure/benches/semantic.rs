//! Times eliminations alone, without Postgres: `cargo bench -p disclosure --bench semantic`.
//!
//! For attacks on tables of random distances, prints the number of eliminations, the seconds that they take,
//! and the time of one elimination as a multiple of the time to read the table once. An attack that looks at
//! the whole table again for each elimination cannot be below 1. For small tables, also prints how many times
//! as long the plain definition takes.
//!
//! Options: `--definition N` compares with the definition up to N cells (4000 by default); `--runs N` takes
//! the quickest of N runs (20 by default).

use disclosure::semantic::{DistanceTable, Method, Strategy, Threshold, Vulnerability, eliminate};
use disclosure::{Control, Result};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

/// Returns the time of the quickest of some runs, in seconds, and the result of the last one.
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

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let (mut definition, mut runs) = (4000, 20);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().unwrap_or_default().parse::<usize>();
        match &argument[..] {
            "--bench" => (), // cargo's own
            "--definition" => definition = number()?,
            "--runs" => runs = number()?,
            unknown => return Err(format!("no such option: {unknown}").into()),
        }
    }
    println!("table     attack  threshold  eliminated     seconds  of reading  definition");
    for (rows, columns) in [(50, 10), (100, 20), (200, 20), (400, 20)] {
        let mut random = Pcg64Mcg::seed_from_u64(rows as u64);
        let distances: Vec<f64> = (0..rows * columns).map(|_| random.random()).collect();
        let table = DistanceTable::new(columns, distances)?;
        let read = || Ok(black_box(&table).distances().iter().sum::<f64>());
        let (reading, sum) = quickest(1000, read)?;
        black_box(sum);
        for method in [Method::Wba, Method::Gba, Method::Rba] {
            for threshold in [Threshold::Absolute(0.0), Threshold::Mean(1.0)] {
                let strategy = Strategy {
                    method,
                    threshold,
                    vulnerability: Vulnerability::Gap,
                    seed: 1,
                };
                let control = Control::new();
                let (seconds, found) = quickest(runs, || eliminate(&table, &strategy, &control))?;
                let eliminated = found.cells.len();
                print!(
                    "{:<9} {:<7} {:<9} {eliminated:>11} {seconds:>11.2e} {:>11.2}",
                    format!("{rows} x {columns}"),
                    format!("{method:?}"),
                    format!("{threshold:?}"),
                    seconds / (eliminated as f64 * reading),
                );
                if rows * columns <= definition {
                    let start = Instant::now();
                    let defined = reference::semantic::attack(&table, &strategy).found;
                    print!(" {:>11.0}", start.elapsed().as_secs_f64() / seconds);
                    if defined != found {
                        return Err("the definition gives other eliminations".into());
                    }
                }
                println!();
            }
        }
    }
    Ok(())
}
