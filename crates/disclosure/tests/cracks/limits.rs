//! Arguments that would take more memory or time than allowed.

use disclosure::cracks::{
    Belief, ComplianceRuns, CrackSpace, Frequencies, ItemSettings, ItemsetAssessment, ItemsetSettings,
    ItemsetsOfInterest, Stage, Width, assess_items, assess_itemsets,
};
use disclosure::{Control, Error, MemoryBudget, Result};

/// Returns a control with one megabyte of memory, none of it in use.
fn tight() -> Control {
    Control::with_memory(MemoryBudget {
        limit: 1 << 20,
        in_use: || 0,
    })
}

const OUT_OF_MEMORY: Error = Error::OutOfMemory { limit: 1 << 20 };

/// Returns items with unique frequencies, so that an adversary who knows the frequencies identifies all of
/// them.
fn frequencies(items: u64) -> Frequencies {
    Frequencies::new(2 * items, (1..=items).collect())
}

fn space(frequencies: &Frequencies) -> CrackSpace {
    let belief = Belief::around(frequencies, Width::Share(0.0)).unwrap();
    belief.space(frequencies)
}

fn settings(sizes: Vec<usize>, sample: usize, runs: u32) -> ItemsetSettings {
    ItemsetSettings {
        interest: ItemsetsOfInterest::Sizes { sizes, skip_top: 0.0 },
        crack_danger: 0.5,
        tolerance: 0.1,
        exact_steps: 0.0,
        sample,
        compliance: ComplianceRuns { runs, seed: 1 },
    }
}

fn assess(items: u64, settings: &ItemsetSettings, control: &Control) -> Result<ItemsetAssessment> {
    let frequencies = frequencies(items);
    assess_itemsets(&frequencies, &space(&frequencies), settings, control)
}

/// Starts a job that would never end, cancels it as soon as it makes progress, and returns its result.
fn ends_when_cancelled<T: Send>(job: impl Fn(&Control) -> Result<T> + Sync) -> Result<T> {
    let control = tight();
    std::thread::scope(|scope| {
        let job = scope.spawn(|| job(&control));
        while control.progress().is_none_or(|share| share == 0.0) && !job.is_finished() {
            std::thread::yield_now();
        }
        control.cancel();
        job.join().unwrap()
    })
}

#[test]
fn any_number_of_runs_takes_little_memory() {
    // A batch has room for only some of these runs.
    let few = assess(40, &settings(vec![2], 100, 1), &tight()).unwrap();
    assert_eq!(few.stage, Stage::Compliance);
    let endless = ends_when_cancelled(|control| assess(40, &settings(vec![2], 100, u32::MAX), control));
    assert_eq!(endless, Err(Error::Cancelled));
}

#[test]
fn runs_that_are_sampled_end_as_well() {
    // There are too many vulnerable pairs to list them all, so a sample of them is drawn after all orders.
    let endless = ends_when_cancelled(|control| {
        let many = Frequencies::new(10, vec![1; 4000]);
        let space = CrackSpace::clone(&space(&many));
        let vulnerable = ItemsetSettings {
            crack_danger: 0.0,
            ..settings(vec![2], 100, u32::MAX)
        };
        assess_itemsets(&many, &space, &vulnerable, control).map(|_| ())
    });
    assert_eq!(endless, Err(Error::Cancelled));
}

#[test]
fn a_sample_of_itemsets_asks_for_its_memory() {
    // There are too many kinds of itemsets to assess them all.
    let sizes = vec![20];
    assert!(assess(40, &settings(sizes.clone(), 10, 1), &tight()).is_ok());
    for sample in [1 << 20, usize::MAX] {
        let refused = assess(40, &settings(sizes.clone(), sample, 1), &tight());
        assert_eq!(refused, Err(OUT_OF_MEMORY));
    }
}

#[test]
fn any_number_of_runs_of_items_can_be_cancelled() {
    let frequencies = frequencies(20);
    let control = tight();
    control.cancel();
    let compliance = ComplianceRuns {
        runs: u32::MAX,
        seed: 1,
    };
    let cancelled = assess_items(
        &frequencies,
        &[1.0; 20],
        &ItemSettings {
            tolerance: 0.1,
            compliance,
        },
        &control,
    );
    assert_eq!(cancelled, Err(Error::Cancelled));
}
