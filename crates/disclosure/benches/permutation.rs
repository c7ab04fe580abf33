//! Times record linkage alone, without Postgres: `cargo bench -p disclosure --bench permutation`.
//!
//! Links n original records with n released ones in four columns and prints the nanoseconds per record: for
//! the whole linkage, for building both trees, and, up to 10,000 records, for comparing every record with
//! every other. The released table is
//! - `noise`: the original with ranks moved by a thousandth of the table or less;
//! - `shuffle`: every column shuffled by itself, so that there is nothing to find;
//! - `tied`: the original with noise, in columns of ten values; equal values share their rank;
//! - `together`: the same order in every column, while the columns of the original are independent.
//!
//! Options: `--columns`; `--max-records`, the largest number of records (by default 1,000,000); `--runs`, of
//! which the quickest counts.

use disclosure::Control;
use disclosure::permutation::{KdTree, Points, Ties, link, ranks};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use reference::permutation::nearest;
use std::error::Error;
use std::time::Instant;

/// Function that returns the dense ranks of a number of records in one column, original and released.
type MakeColumn = fn(usize, &mut Pcg64Mcg) -> (Vec<u32>, Vec<u32>);

fn shuffled(records: usize, random: &mut Pcg64Mcg) -> Vec<u32> {
    let mut dense_ranks: Vec<u32> = (1..=records as u32).collect();
    dense_ranks.shuffle(random);
    dense_ranks
}

/// Moves every dense rank by up to a thousandth of the table, in either direction. Those below 1 become 1.
fn blurred(dense_ranks: &[u32], random: &mut Pcg64Mcg) -> Vec<u32> {
    let reach = dense_ranks.len() as u32 / 1000 + 1;
    let blur = |&dense_rank: &u32| {
        (dense_rank + random.random_range(0..=2 * reach))
            .saturating_sub(reach)
            .max(1)
    };
    dense_ranks.iter().map(blur).collect()
}

fn noise(records: usize, random: &mut Pcg64Mcg) -> (Vec<u32>, Vec<u32>) {
    let dense_ranks = shuffled(records, random);
    let released = blurred(&dense_ranks, random);
    (dense_ranks, released)
}

fn shuffle(records: usize, random: &mut Pcg64Mcg) -> (Vec<u32>, Vec<u32>) {
    (shuffled(records, random), shuffled(records, random))
}

fn tied(records: usize, random: &mut Pcg64Mcg) -> (Vec<u32>, Vec<u32>) {
    let (original, released) = noise(records, random);
    let tenth = |dense_ranks: Vec<u32>| {
        dense_ranks
            .iter()
            .map(|&dense_rank| ((dense_rank as usize - 1) * 10 / records).min(9) as u32 + 1)
            .collect()
    };
    (tenth(original), tenth(released))
}

fn together(records: usize, random: &mut Pcg64Mcg) -> (Vec<u32>, Vec<u32>) {
    (shuffled(records, random), (1..=records as u32).collect())
}

/// Returns the time of the quickest run, in seconds.
fn quickest<T>(
    runs: u32,
    mut run: impl FnMut() -> Result<T, disclosure::Error>,
) -> Result<f64, disclosure::Error> {
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        std::hint::black_box(run()?);
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn brute_force(original: &Points, released: &Points) -> Vec<(u32, Vec<usize>)> {
    let points: Vec<_> = original.iter().collect();
    points
        .par_iter()
        .map(|point| nearest(point, released.iter()))
        .collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut columns, mut max_records, mut runs) = (4, 1_000_000, 3);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().unwrap_or_default().parse::<usize>();
        match &argument[..] {
            "--bench" => (), // cargo's own
            "--columns" => columns = number()?,
            "--max-records" => max_records = number()?,
            "--runs" => runs = number()? as u32,
            unknown => return Err(format!("no such option: {unknown}").into()),
        }
    }
    let kinds: [(&str, MakeColumn, Ties); 4] = [
        ("noise", noise, Ties::Random { seed: 1 }),
        ("shuffle", shuffle, Ties::Random { seed: 1 }),
        ("tied", tied, Ties::Shared),
        ("together", together, Ties::Shared),
    ];
    println!("ns per record        records      link     trees     brute   seconds  mean distance  matches");
    for (name, make_column, ties) in kinds {
        for records in [1_000, 10_000, 100_000, 1_000_000, 10_000_000] {
            if records > max_records {
                break;
            }
            let mut random = Pcg64Mcg::seed_from_u64(records as u64);
            let (mut original, mut released) = (Vec::new(), Vec::new());
            for _ in 0..columns {
                let (before, after) = make_column(records, &mut random);
                original.push(ranks(&before, ties, &Control::new())?);
                released.push(ranks(&after, ties, &Control::new())?);
            }
            let (original, released) = (Points::new(&original), Points::new(&released));
            let linkage = link(&original, &released, &Control::new())?;
            let seconds = quickest(runs, || link(&original, &released, &Control::new()))?;
            let trees = quickest(runs, || {
                Ok((
                    KdTree::new(&original, &Control::new())?,
                    KdTree::new(&released, &Control::new())?,
                ))
            })?;
            let each = |seconds: f64| seconds * 1e9 / records as f64;
            let brute = match records <= 10_000 {
                true => format!(
                    "{:.0}",
                    each(quickest(1, || Ok(brute_force(&original, &released)))?)
                ),
                false => "-".to_string(),
            };
            let of_all = |sum: f64| sum / records as f64;
            let ranks = linkage
                .matches
                .iter()
                .map(|found| f64::from(found.distance) / 2.0);
            let matches = linkage.matches.iter().map(|found| found.count as f64);
            println!(
                "{name:>13} {records:>14} {:>9.0} {:>9.0} {brute:>9} {seconds:>9.3} {:>14.1} {:>8.1}",
                each(seconds),
                each(trees),
                of_all(ranks.sum()),
                of_all(matches.sum())
            );
        }
    }
    Ok(())
}
