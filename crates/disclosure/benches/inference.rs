//! Measures the time of the privacy score alone, without Postgres:
//! `cargo bench -p disclosure --bench inference -- TABLE…`.
//!
//! A TABLE is the common prefix of the names of three files:
//! - `TABLE.mat` has a line of 0s and 1s per row: whether the row has each of the attributes.
//! - `TABLE.w` has a line per attribute: its likelihood and its danger.
//! - `TABLE.g` has one number per attribute: its column. A row has at most one attribute of a column.
//!
//! The bench prints a line per TABLE:
//! - its name;
//! - seconds for packing and scoring, the fastest of `--runs` runs (3 by default);
//! - CPU seconds per run (the system counts hundredths of a second, so short times need many runs);
//! - the number of distinct rows;
//! - the average score;
//! - whether the scores are exact after `--budget` seconds (60 by default).
//!
//! With `--min-confidence SHARE`, probable inferences count too, and with `--unknown` a row without an attribute
//! of a column counts as unknown there, as in policies.
//! With `--definition`, it evaluates the definition instead, for all sets of columns one by one.

use disclosure::classes::Classes;
use disclosure::inference::{AttributesOfValue, Column, Nulls, PackedTable, Settings, scores};
use disclosure::{Control, Weights};
use std::collections::HashMap;
use std::error::Error;
use std::time::{Duration, Instant};

struct Table {
    columns: Vec<Column>,
    classes: Classes,
}

impl Table {
    fn read(name: &str, nulls: Nulls) -> Result<Self, Box<dyn Error>> {
        let file = |ending: &str| {
            let path = format!("{name}.{ending}");
            std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))
        };
        let groups: Result<Vec<usize>, _> = file("g")?.split_whitespace().map(str::parse).collect();
        let groups = groups?;
        let mut columns = vec![Column::default(); groups.iter().map(|group| group + 1).max().unwrap_or(0)];
        let mut codes = Vec::new();
        for (line, &group) in file("w")?.lines().zip(&groups) {
            let (likelihood, danger) = line.split_once(' ').ok_or("expected two weights per line")?;
            columns[group].attributes.push(Weights {
                likelihood: likelihood.parse()?,
                danger: danger.parse()?,
            });
            codes.push(columns[group].attributes.len() as u32);
        }
        for column in &mut columns {
            column.nulls = nulls;
            column.attributes_of_value =
                AttributesOfValue::One((0..column.attributes.len() as u32).map(Some).collect());
        }
        let mut classes = Classes::new(columns.len());
        let mut row = vec![0; columns.len()];
        for line in file("mat")?.lines() {
            row.fill(0);
            let attributes = line.bytes().enumerate().filter(|&(_, bit)| bit == b'1');
            attributes.for_each(|(attribute, _)| row[groups[attribute]] = codes[attribute]);
            classes.insert(&row, 1)?;
        }
        Ok(Table { columns, classes })
    }

    fn score(&self, settings: &Settings) -> Result<Outcome, Box<dyn Error>> {
        let start = (Instant::now(), cpu_seconds());
        let packed = PackedTable::new(&self.classes, &self.columns, &Control::new())?;
        let scores = scores(&packed, settings, &Control::new())?;
        Ok(Outcome {
            seconds: start.0.elapsed().as_secs_f64(),
            cpu_seconds: cpu_seconds() - start.1,
            average: self.average(|class| scores.lower[packed.row_of_class(class)]),
            exact: scores.exact(),
        })
    }

    /// Evaluates the definition for every set of known columns. Rows that agree in these columns have the
    /// same known attributes K, and the other attributes in which they agree are those that K implies.
    fn definition(&self) -> Outcome {
        let start = (Instant::now(), cpu_seconds());
        let rows: Vec<&[u32]> = (0..self.classes.len())
            .map(|class| self.classes.codes(class))
            .collect();
        let mut best = vec![0.0; rows.len()];
        for known in 0..1_u64 << self.columns.len() {
            let is_known = |column: usize| known >> column & 1 == 1;
            let of = |row: &[u32], column: usize| match row[column] {
                0 => None,
                code => Some(self.columns[column].attributes[code as usize - 1]),
            };
            let known_of = |row: &[u32]| -> Vec<u32> {
                (0..row.len())
                    .filter(|&column| is_known(column))
                    .map(|column| row[column])
                    .collect()
            };
            let mut implied: HashMap<Vec<u32>, Vec<u32>> = HashMap::new();
            for row in &rows {
                let common = implied.entry(known_of(row)).or_insert_with(|| row.to_vec());
                for (common, code) in common.iter_mut().zip(*row) {
                    if common != code {
                        *common = 0;
                    }
                }
            }
            for (row, best) in rows.iter().zip(&mut best) {
                let common = &implied[&known_of(row)];
                let (mut likelihood, mut danger) = (1.0, 0.0);
                for column in 0..row.len() {
                    if is_known(column) {
                        likelihood *= of(row, column).map_or(0.0, |weights| weights.likelihood);
                    } else {
                        danger += of(common, column).map_or(0.0, |weights| weights.danger);
                    }
                }
                *best = f64::max(*best, likelihood * danger / (1.0 + danger));
            }
        }
        Outcome {
            seconds: start.0.elapsed().as_secs_f64(),
            cpu_seconds: cpu_seconds() - start.1,
            average: self.average(|class| best[class]),
            exact: true,
        }
    }

    fn average(&self, score_of_class: impl Fn(usize) -> f64) -> f64 {
        let sizes = self.classes.sizes();
        let sum: f64 = (0..sizes.len())
            .map(|class| score_of_class(class) * sizes[class] as f64)
            .sum();
        sum / sizes.iter().sum::<u64>() as f64
    }
}

struct Outcome {
    seconds: f64,
    cpu_seconds: f64,
    average: f64,
    exact: bool,
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

fn main() -> Result<(), Box<dyn Error>> {
    let (mut runs, mut definition, mut nulls) = (3, false, Nulls::Absent);
    let mut settings = Settings {
        budget: Some(Duration::from_secs(60)),
        ..Settings::default()
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_default();
        match &argument[..] {
            "--bench" => (), // passed by cargo
            "--definition" => definition = true,
            "--runs" => runs = value().parse::<u32>()?,
            "--budget" => settings.budget = Some(Duration::from_secs(value().parse()?)),
            "--unknown" => nulls = Nulls::Unknown,
            "--min-confidence" => settings.min_confidence = value().parse()?,
            name => {
                let table = Table::read(name, nulls)?;
                let mut outcomes = Vec::new();
                for _ in 0..runs {
                    outcomes.push(match definition {
                        true => table.definition(),
                        false => table.score(&settings)?,
                    });
                }
                let cpu_seconds: f64 = outcomes.iter().map(|outcome| outcome.cpu_seconds).sum();
                let by_time = |a: &&Outcome, b: &&Outcome| a.seconds.total_cmp(&b.seconds);
                if let Some(best) = outcomes.iter().min_by(by_time) {
                    println!(
                        "{name} seconds={:.4} cpu={:.4} distinct={} average={:.6} exact={}",
                        best.seconds,
                        cpu_seconds / f64::from(runs),
                        table.classes.len(),
                        best.average,
                        best.exact
                    );
                }
            }
        }
    }
    Ok(())
}
