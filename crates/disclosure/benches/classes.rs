//! Measures the everyday measures alone, without Postgres: `cargo bench -p disclosure --bench classes`.
//!
//! The table is random: 3 million rows, 6 known columns with 100,000 classes, a sensitive column with 50 values and
//! 500,000 people. `--rows`, `--classes`, `--values`, `--people` and `--columns` change it; `--nulls SHARE` makes that
//! share of the known cells NULL and measures them as wildcards. With `--growth`, it also measures ever larger parts
//! of the table and ever more columns.
//!
//! The bench prints a line per table: its size, then seconds of CPU time of each step, the fastest of `--runs` runs
//! (3 by default):
//! - `classes`: counting the classes only;
//! - `extend`: reading all rows, with the sensitive column and, if people are counted, with people;
//! - `risk`: the risk summary;
//! - `diversity`: the diversity of the sensitive column.

use disclosure::classes::{
    By, Classes, DiversitySettings, Nulls, Records, Roles, Values, diversity, risk_summary,
};
use disclosure::{Control, NULL, Rows};
use std::error::Error;

/// Rows in a batch, as the extension makes them.
const BATCH: usize = 512;

/// Size of a random table.
#[derive(Debug, Clone, Copy)]
struct Size {
    rows: usize,
    columns: usize,
    classes: u64,
    values: u64,
    /// 0 if rows are counted.
    people: u64,
    /// Share of known cells that are NULL.
    nulls: f64,
}

/// Returns the next number of a linear congruential generator, by its upper bits.
fn next(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Returns the columns of a random table: the known ones, the sensitive one and the person.
fn table(size: &Size) -> Vec<Vec<u32>> {
    let mut state = 1;
    // The codes of a class are the digits of its number.
    let radix = (size.classes as f64)
        .powf(1.0 / size.columns as f64)
        .ceil()
        .max(2.0) as u64;
    let mut columns = vec![Vec::with_capacity(size.rows); size.columns + 2];
    for _ in 0..size.rows {
        let mut class = next(&mut state) % size.classes;
        for column in &mut columns[..size.columns] {
            let is_null = (next(&mut state) as f64) < size.nulls * (1u64 << 31) as f64;
            column.push(if is_null { NULL } else { (class % radix) as u32 + 1 });
            class /= radix;
        }
        columns[size.columns].push((next(&mut state) % size.values) as u32 + 1);
        columns[size.columns + 1].push((next(&mut state) % size.people.max(1)) as u32 + 1);
    }
    columns
}

/// Calls `job` for each batch of rows.
fn in_batches(
    columns: &[Vec<u32>],
    mut job: impl FnMut(Rows) -> disclosure::Result<()>,
) -> disclosure::Result<()> {
    let rows = columns[0].len();
    for start in (0..rows).step_by(BATCH) {
        let end = rows.min(start + BATCH);
        let batch: Vec<&[u32]> = columns.iter().map(|column| &column[start..end]).collect();
        job(Rows::new(&batch, end - start))?;
    }
    Ok(())
}

/// Returns the CPU seconds of each step.
fn measure(size: &Size, columns: &[Vec<u32>]) -> Result<[f64; 4], Box<dyn Error>> {
    let nulls = if size.nulls > 0.0 {
        Nulls::Wildcard
    } else {
        Nulls::Value
    };
    let mut times = [cpu_seconds(); 5];
    let mut classes = Classes::new(size.columns);
    in_batches(&columns[..size.columns], |rows| classes.extend(rows, |_| {}))?;
    times[1] = cpu_seconds();
    let roles = Roles {
        quasi: (0..size.columns).collect(),
        sensitive: vec![size.columns],
        person: if size.people > 0 {
            vec![size.columns + 1]
        } else {
            vec![]
        },
        kept: vec![],
    };
    let mut records = Records::new(roles, false);
    in_batches(columns, |rows| records.extend(rows))?;
    times[2] = cpu_seconds();
    std::hint::black_box(risk_summary(&records, None, nulls, By::Row, Control::none())?);
    times[3] = cpu_seconds();
    let settings = DiversitySettings {
        nulls,
        ..Default::default()
    };
    let values = Values {
        ranks: Some((0..=size.values as u32).collect()),
        hierarchy: None,
    };
    std::hint::black_box(diversity(&records, 0, &values, &settings, Control::none())?);
    times[4] = cpu_seconds();
    Ok([0, 1, 2, 3].map(|step| times[step + 1] - times[step]))
}

/// Returns the CPU seconds of all threads of this process, or 0 if the system does not report them.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum();
    ticks / 100.0
}

fn report(size: &Size, runs: u32) -> Result<(), Box<dyn Error>> {
    let columns = table(size);
    let mut best = [f64::INFINITY; 4];
    for _ in 0..runs {
        let times = measure(size, &columns)?;
        best = [0, 1, 2, 3].map(|step| f64::min(best[step], times[step]));
    }
    let Size {
        rows,
        columns,
        classes,
        values,
        people,
        nulls,
    } = size;
    println!(
        "rows={rows} columns={columns} classes={classes} values={values} people={people} nulls={nulls} \
         classes={:.2} extend={:.2} risk={:.2} diversity={:.2}",
        best[0], best[1], best[2], best[3]
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut size = Size {
        rows: 3_000_000,
        columns: 6,
        classes: 100_000,
        values: 50,
        people: 0,
        nulls: 0.0,
    };
    let (mut runs, mut growth) = (3, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_default();
        match &argument[..] {
            "--bench" => (), // passed by cargo
            "--rows" => size.rows = value().parse()?,
            "--columns" => size.columns = value().parse()?,
            "--classes" => size.classes = value().parse()?,
            "--values" => size.values = value().parse()?,
            "--people" => size.people = value().parse()?,
            "--nulls" => size.nulls = value().parse()?,
            "--runs" => runs = value().parse()?,
            "--growth" => growth = true,
            other => return Err(format!("unknown argument: {other}").into()),
        }
    }
    report(&size, runs)?;
    if growth {
        for part in [8, 4, 2] {
            report(
                &Size {
                    rows: size.rows / part,
                    ..size
                },
                runs,
            )?;
        }
        for columns in [2, 4, 8, 16] {
            report(&Size { columns, ..size }, runs)?;
        }
    }
    Ok(())
}
