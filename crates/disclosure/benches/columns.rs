//! Times searches over sets of columns, without Postgres: `cargo bench -p disclosure --bench columns -- [FILE.csv]`.
//!
//! Tables are random: people live in one of many places, and what they are depends on the place. Prints a line for each
//! measure and each number of rows and columns: the number of classes, and the milliseconds of the quickest of three
//! runs. They do not include reading the rows into classes, whose time is printed first.
//!
//! Given a CSV file without quotes, prints instead how long it takes to find the minimal unique column combinations of its
//! distinct rows, and what they are.

use disclosure::classes::{Nulls, Records, Roles};
use disclosure::columns::{
    SinglingOutSettings, UniqueSettings, column_risk, minimal_uniques, singling_out, suda,
    unique_combinations,
};
use disclosure::{Control, Encoder, Result, Rows};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::error::Error;
use std::time::Instant;

const RUNS: usize = 3;

/// Returns the time of the quickest of some runs, in milliseconds, and the result of the last one.
fn quickest<T>(mut run: impl FnMut() -> Result<T>) -> Result<(f64, T)> {
    let mut timed = || {
        let start = Instant::now();
        let found = run()?;
        Ok((1e3 * start.elapsed().as_secs_f64(), found))
    };
    let mut best = timed()?;
    for _ in 1..RUNS {
        let again = timed()?;
        best = (again.0.min(best.0), again.1);
    }
    Ok(best)
}

/// Returns the classes of columns.
fn records_of(columns: &[Vec<u32>]) -> Result<Records> {
    let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
    let roles = Roles {
        quasi: (0..columns.len()).collect(),
        ..Roles::default()
    };
    let mut records = Records::new(roles, true);
    records.extend(Rows::new(
        &columns,
        columns.first().map_or(0, |column| column.len()),
    ))?;
    Ok(records)
}

/// Returns random columns. Their numbers of values are like those of sex, age, place, income and so on.
fn random_columns(rows: usize, columns: usize) -> Vec<Vec<u32>> {
    const VALUES: [u32; 6] = [2, 90, 500, 12, 5, 3];
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let places: Vec<f64> = (0..rows).map(|_| random.random()).collect();
    let value = |(place, values): (&f64, u32), random: &mut Pcg64Mcg| {
        // Half of the columns depend on the place.
        let share = if values % 2 == 0 {
            *place
        } else {
            random.random::<f64>()
        };
        (f64::from(values) * share * random.random::<f64>().sqrt()) as u32 + 1
    };
    (0..columns)
        .map(|column| {
            let values = VALUES[column % VALUES.len()];
            places
                .iter()
                .map(|place| value((place, values), &mut random))
                .collect()
        })
        .collect()
}

fn growth() -> Result<()> {
    println!(
        "{:>9} {:>7} {:>5} {:>8} {:>9} {:>10} {:>9} {:>13} {:>12}",
        "rows", "columns", "sets", "classes", "counting", "suda", "listing", "singling out", "column risk"
    );
    let sizes = [(10_000, 6), (100_000, 6), (1_000_000, 6), (3_000_000, 6)];
    let widths = [
        (50_000, 6),
        (50_000, 10),
        (50_000, 15),
        (50_000, 20),
        (50_000, 30),
    ];
    for (rows, columns) in sizes.into_iter().chain(widths) {
        let max_columns = if columns > 6 { Some(3) } else { None };
        let data = random_columns(rows, columns);
        let (counting, records) = quickest(|| records_of(&data))?;
        let settings = UniqueSettings {
            max_columns,
            ..UniqueSettings::default()
        };
        let of_sets = SinglingOutSettings {
            max_columns,
            ..SinglingOutSettings::default()
        };
        let (suda, _) = quickest(|| suda(&records, &settings, &Control::new()))?;
        let (listing, _) = quickest(|| minimal_uniques(&records, &settings, &Control::new()))?;
        let (singling_out, found) = quickest(|| singling_out(&records, &of_sets, &Control::new()))?;
        let (column_risk, _) = quickest(|| column_risk(&records, Nulls::Value, &Control::new()))?;
        println!(
            "{rows:>9} {columns:>7} {:>5} {:>8} {counting:>9.1} {suda:>10.1} {listing:>9.1} {singling_out:>13.1} {column_risk:>12.1}",
            found.sets.len(),
            records.classes().len(),
        );
    }
    Ok(())
}

fn combinations(path: &str) -> std::result::Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let mut columns: Vec<(Encoder<&str>, Vec<u32>)> =
        names.iter().map(|_| (Encoder::new(), Vec::new())).collect();
    for line in lines {
        for ((encoder, codes), value) in columns.iter_mut().zip(line.split(',')) {
            codes.push(encoder.encode(Some(value))?);
        }
    }
    let columns: Vec<Vec<u32>> = columns.into_iter().map(|(_, codes)| codes).collect();
    let records = records_of(&columns)?;
    let (milliseconds, found) = quickest(|| unique_combinations(&records, &Control::new()))?;
    println!(
        "{} distinct rows of {} columns: {milliseconds:.2} ms",
        records.classes().len(),
        names.len()
    );
    for set in found {
        println!("{set:?}");
    }
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    match std::env::args().skip(1).find(|argument| argument != "--bench") {
        Some(path) => combinations(&path),
        None => Ok(growth()?),
    }
}
