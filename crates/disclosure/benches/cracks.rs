//! Times expected cracks alone, without Postgres: `cargo bench -p disclosure --bench cracks -- FILE…`.
//!
//! A FILE has one transaction per line: the numbers of its items, separated by blanks. The following options
//! apply to every FILE after them. For each FILE, the benchmark prints a line of `name=value` pairs with
//! times in seconds; each time is the shortest of `--runs` (by default 3):
//! - `--exact` (the default): from the frequencies to the crack probability of every item, together with the
//!   predicted cost;
//! - `--published`: the simulation with the settings of Lakshmanan et al., section 6.1. Its 5,000 samples
//!   take hours, so only one is taken, and the total time is extrapolated from the number of iterations, as
//!   if all threads were busy all the time;
//! - `--groups` and `--swaps`: our simulation to 1 %, for at most `--budget` seconds (by default 10), with
//!   moves of either kind.
//!
//! The belief is the true frequency ± `--width` (by default 1) median gaps.

use disclosure::Control;
use disclosure::cracks::{
    Belief, CrackSpace, Frequencies, Method, Moves, Settings, Simulation, Width, expected_cracks, simulate,
    simulate_as_published,
};
use disclosure::matching::Counting;
use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, Instant};

fn read(file: &str) -> Result<Frequencies, Box<dyn Error>> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut transactions = 0;
    for line in text.lines() {
        let mut items: Vec<&str> = line.split_ascii_whitespace().collect();
        items.sort_unstable();
        items.dedup();
        transactions += u64::from(!items.is_empty());
        for item in items {
            *counts.entry(item).or_default() += 1;
        }
    }
    Ok(Frequencies::new(transactions, counts.into_values().collect()))
}

/// Returns the space of a belief of ± `width` median gaps.
fn space(frequencies: &Frequencies, width: f64) -> Result<CrackSpace, Box<dyn Error>> {
    let gap = frequencies.gaps().map_or(0.0, |gaps| gaps.median);
    Ok(Belief::around(frequencies, Width::Share(gap * width))?.space(frequencies))
}

/// Returns the shortest time of several runs, and the outcome of that run.
fn quickest<T>(
    runs: u32,
    mut run: impl FnMut() -> Result<T, Box<dyn Error>>,
) -> Result<(f64, T), Box<dyn Error>> {
    let mut timed = || {
        let start = Instant::now();
        let outcome = run()?;
        Ok::<_, Box<dyn Error>>((start.elapsed().as_secs_f64(), outcome))
    };
    let mut best = timed()?;
    for _ in 1..runs {
        let again = timed()?;
        if again.0 < best.0 {
            best = again;
        }
    }
    Ok(best)
}

fn exact(
    frequencies: &Frequencies,
    width: f64,
    runs: u32,
    budget: Duration,
) -> Result<String, Box<dyn Error>> {
    let (planning, counting) = quickest(runs, || {
        Ok(Counting::new(&space(frequencies, width)?.graph, &Control::new())?)
    })?;
    let predicted = counting.steps() / Counting::STEPS_PER_SECOND;
    let plan = format!(
        "planning={planning:.6} steps={:.3e} predicted={predicted:.6} megabytes={:.3e}",
        counting.steps(),
        counting.bytes() / f64::from(1 << 20)
    );
    if predicted > budget.as_secs_f64() {
        return Ok(format!("{plan} seconds=-"));
    }
    let settings = Settings {
        method: Method::Exact,
        alpha: 1.0,
        relative_error: 0.01,
        seed: 0,
        max_steps: f64::INFINITY,
        max_bytes: f64::INFINITY,
        budget: None,
    };
    let (seconds, outcome) = quickest(runs, || {
        let space = space(frequencies, width)?;
        Ok(expected_cracks(&space, &settings, &Control::new())?)
    })?;
    let cracks = outcome.map_or(f64::NAN, |outcome| outcome.expected);
    Ok(format!("{plan} seconds={seconds:.6} expected={cracks:.6}"))
}

/// Number of iterations as published: 20 seed matchings of 100,000 iterations, each followed by 250 samples
/// of 10,000.
const PUBLISHED: f64 = 20.0 * (100e3 + 250.0 * 10e3);
/// Number of iterations that are timed: one seed matching and one sample.
const MEASURED: f64 = 100e3 + 10e3;

fn published(frequencies: &Frequencies, width: f64) -> Result<String, Box<dyn Error>> {
    let space = space(frequencies, width)?;
    let (measured, _) = quickest(1, || Ok(simulate_as_published(&space, 1, 1, &Control::new())?))?;
    let threads = std::thread::available_parallelism()?.get();
    let seconds = measured * PUBLISHED / MEASURED / threads as f64;
    Ok(format!(
        "iterations={MEASURED} measured={measured:.3} of={PUBLISHED} threads={threads} seconds={seconds:.1}"
    ))
}

fn ours(
    frequencies: &Frequencies,
    width: f64,
    moves: Moves,
    runs: u32,
    budget: Duration,
) -> Result<String, Box<dyn Error>> {
    let space = space(frequencies, width)?;
    let simulation = Simulation {
        moves,
        budget: Some(budget),
        ..Simulation::default()
    };
    let (seconds, outcome) = quickest(runs, || Ok(simulate(&space, &simulation, &Control::new())?))?;
    let outcome = outcome.ok_or("there is no crack mapping")?;
    Ok(format!(
        "seconds={seconds:.6} reached={} samples={} effective={:.0} effective_per_second={:.0} expected={:.4} \
         lower={:.4} upper={:.4}",
        outcome.is_precise_enough,
        outcome.samples,
        outcome.effective_samples,
        outcome.effective_samples / seconds,
        outcome.expected,
        outcome.lower,
        outcome.upper
    ))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut runs, mut budget, mut width) = (3, Duration::from_secs(10), 1.0);
    let mut work = "--exact".to_string();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().unwrap_or_default().parse::<f64>();
        match &argument[..] {
            "--bench" => (), // cargo's own
            "--exact" | "--published" | "--groups" | "--swaps" => work = argument,
            "--runs" => runs = number()? as u32,
            "--budget" => budget = Duration::from_secs_f64(number()?),
            "--width" => width = number()?,
            file => {
                let frequencies = read(file)?;
                let outcome = match &work[..] {
                    "--published" => published(&frequencies, width),
                    "--groups" => ours(&frequencies, width, Moves::Groups, runs, budget),
                    "--swaps" => ours(&frequencies, width, Moves::Swaps, runs, budget),
                    _ => exact(&frequencies, width, runs, budget),
                }?;
                let items = frequencies.items();
                println!("{file} items={items} width={width} {outcome}");
            }
        }
    }
    Ok(())
}
