//! Similarity by sampling (Lakshmanan et al. 2008, Fig. 15): how many items is an adversary right about if
//! they have a random sample of the transactions?
//!
//! The adversary believes the frequencies of the sample ± its median gap. The share of items for which this
//! belief is true, the *degree of compliancy*, shows which α_max of the recipes is plausible.

use super::{Frequencies, Gaps, Transactions};
use crate::{Control, Error, Result};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

/// How right an adversary is about frequencies if they have a sample of a certain size.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Similarity {
    /// Share of all transactions that are in a sample.
    pub fraction: f64,
    /// Number of transactions in a sample.
    pub transactions: u64,
    /// Result for beliefs of ± the median gap of the sample.
    pub median: Compliancy,
    /// Result for beliefs of ± the mean gap of the sample. It misleads: a few wide gaps make the adversary
    /// right about everything.
    pub mean: Compliancy,
}

/// Degree of compliancy: the share of items that the adversary is right about, over several samples.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Compliancy {
    /// Average width of the beliefs.
    pub width: f64,
    /// Average degree of compliancy.
    pub average: f64,
    /// Lowest degree of compliancy.
    pub min: f64,
    /// Highest degree of compliancy.
    pub max: f64,
}

/// Sizes and number of the samples.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingSettings {
    /// Sizes of the samples, as shares of all transactions.
    pub fractions: Vec<f64>,
    /// Number of samples for each size.
    pub samples: usize,
    /// Seed of the samples; the same seed gives the same samples.
    pub seed: u64,
}

impl Default for SamplingSettings {
    fn default() -> Self {
        SamplingSettings {
            fractions: (1..10).map(|tenths| f64::from(tenths) / 10.0).collect(),
            samples: 10,
            seed: 1,
        }
    }
}

impl SamplingSettings {
    /// Checks the bounds of all settings.
    pub fn check(&self) -> Result<()> {
        let is_fraction = |&fraction: &f64| fraction > 0.0 && fraction <= 1.0;
        if !self.fractions.iter().all(is_fraction) {
            return Err(Error::invalid(
                "fractions",
                "must be above 0 and at most 1",
                "shares of all transactions, such as 0.1",
            ));
        }
        if self.samples == 0 {
            return Err(Error::invalid(
                "samples",
                "must be at least 1",
                "a number of samples for each fraction, such as 10",
            ));
        }
        Ok(())
    }
}

/// Measures similarity by sampling (Lakshmanan et al., Fig. 15). For each fraction, draws samples without
/// replacement. From each sample, the adversary believes that every item has the frequency that it has in the
/// sample ± the gap between the frequency groups of the sample. Returns the share of items for which this is
/// true in all transactions, one result per fraction.
///
/// An item that is not in the sample is believed to have frequency 0 ± the gap, but does not form a frequency
/// group. A sample has at least one transaction. The result is empty if no item occurs.
pub fn similarity_by_sampling(
    transactions: &Transactions,
    settings: &SamplingSettings,
    control: &Control,
) -> Result<Vec<Similarity>> {
    settings.check()?;
    let &SamplingSettings {
        ref fractions,
        samples,
        seed,
    } = settings;
    let frequencies = transactions.frequencies();
    if transactions.occurrences() == 0 {
        return Ok(Vec::new());
    }
    let size = |fraction: f64| ((fraction * transactions.len() as f64).round() as u64).max(1);
    control.require::<([Totals; 2], Similarity)>(fractions.len())?;
    let mut totals = vec![[Totals::default(); 2]; fractions.len()];
    let mut seeds = Pcg64Mcg::seed_from_u64(seed);
    let numbered = fractions.iter().enumerate();
    let mut draws = numbered
        .flat_map(|(number, &fraction)| std::iter::repeat_n((number, size(fraction)), samples))
        .map(|(number, size)| (number, size, seeds.next_u64()));
    control.set_total((fractions.len() as u64).saturating_mul(samples as u64));
    let of_draw = |&(number, size, seed): &(usize, u64, u64)| {
        let sample = sample_counts(transactions, size, &mut Pcg64Mcg::seed_from_u64(seed), control)?;
        control.advance(1);
        Ok((number, compliancy_by_gaps(&frequencies, size, &sample)))
    };
    loop {
        let some: Vec<(usize, u64, u64)> = draws.by_ref().take(BATCH).collect();
        if some.is_empty() {
            break;
        }
        // Summed in the order of the draws, so that the sums do not depend on the threads.
        for (number, sampled) in some.par_iter().map(of_draw).collect::<Result<Vec<_>>>()? {
            for (totals, sampled) in totals[number].iter_mut().zip(sampled) {
                totals.add(sampled);
            }
        }
    }
    let of_fraction = |(&fraction, [median, mean]): (&f64, &[Totals; 2])| Similarity {
        fraction,
        transactions: size(fraction),
        median: median.mean_over(samples),
        mean: mean.mean_over(samples),
    };
    Ok(fractions.iter().zip(&totals).map(of_fraction).collect())
}

/// Number of samples that are drawn before their results are summed. It bounds the memory for any number of
/// samples.
const BATCH: usize = 1024;

/// Draws a sample of this size, and returns the number of its transactions that contain each item. Each
/// transaction is taken with probability (transactions still wanted) / (transactions still left), which makes
/// all samples equally likely (Fan, Muller and Rezucha 1962).
fn sample_counts(
    transactions: &Transactions,
    size: u64,
    random: &mut impl Rng,
    control: &Control,
) -> Result<Vec<u64>> {
    let mut counts = vec![0; transactions.items()];
    let mut wanted = size;
    for (number, items) in transactions.iter().enumerate() {
        if number % 4096 == 0 {
            control.check()?;
        }
        if wanted == 0 {
            break;
        }
        if random.random_range(0..(transactions.len() - number) as u64) < wanted {
            wanted -= 1;
            items.iter().for_each(|&item| counts[item as usize] += 1);
        }
    }
    Ok(counts)
}

/// Width of the beliefs and degree of compliancy from one sample.
struct Sampled {
    width: f64,
    degree: f64,
}

/// Returns the results for the median gap and for the mean gap of the sample.
fn compliancy_by_gaps(all: &Frequencies, size: u64, sample: &[u64]) -> [Sampled; 2] {
    let occurring = sample.iter().copied().filter(|&count| count > 0).collect();
    let groups = Frequencies::new(size, occurring);
    let gaps = groups.gaps();
    let width = |of_gaps: fn(&Gaps) -> f64| gaps.as_ref().map_or(0.0, of_gaps);
    // In transactions of the sample, the median gap is a multiple of 1/2 and the mean gap a multiple of
    // 1/`steps`.
    let steps = groups.group_counts().len().saturating_sub(1).max(1) as u64;
    [(width(|gaps| gaps.median), 2), (width(|gaps| gaps.mean), steps)].map(|(width, divisor)| Sampled {
        width,
        degree: compliancy_degree(
            all,
            size,
            sample,
            (width * (divisor * size) as f64).round() as u64,
            divisor,
        ),
    })
}

/// Returns the share of the occurring items whose frequency differs from that in the sample by at most
/// `reach / divisor` transactions of the sample. It computes in whole numbers, so that rounding does not
/// affect ties.
fn compliancy_degree(all: &Frequencies, size: u64, sample: &[u64], reach: u64, divisor: u64) -> f64 {
    let [transactions, size, reach, divisor] = [all.transactions(), size, reach, divisor].map(u128::from);
    let mut items = 0u64;
    let mut right = 0u64;
    for (&count, &sampled) in all.counts().iter().zip(sample).filter(|&(&count, _)| count > 0) {
        let difference = (u128::from(count) * size).abs_diff(u128::from(sampled) * transactions);
        items += 1;
        right += u64::from(difference * divisor <= reach * transactions);
    }
    right as f64 / items as f64
}

/// Running totals over the samples so far.
#[derive(Clone, Copy)]
struct Totals {
    width: f64,
    degree: f64,
    min: f64,
    max: f64,
}

impl Default for Totals {
    fn default() -> Self {
        Totals {
            width: 0.0,
            degree: 0.0,
            min: f64::INFINITY,
            max: 0.0,
        }
    }
}

impl Totals {
    fn add(&mut self, sample: Sampled) {
        self.width += sample.width;
        self.degree += sample.degree;
        self.min = self.min.min(sample.degree);
        self.max = self.max.max(sample.degree);
    }

    fn mean_over(&self, samples: usize) -> Compliancy {
        let count = samples as f64;
        Compliancy {
            width: self.width / count,
            // Rounding must not move the average of equal degrees away from them.
            average: (self.degree / count).clamp(self.min, self.max),
            min: self.min,
            max: self.max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryBudget;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    /// Twelve transactions; item x is in every (x + 1)-th of them.
    fn transactions() -> Transactions {
        let mut transactions = Transactions::new(7);
        for number in 0..12 {
            let items: Vec<u32> = (0..6).filter(|item| number % (item + 1) == 0).collect();
            transactions.push(&items).unwrap();
        }
        transactions
    }

    fn settings(fractions: &[f64], samples: usize, seed: u64) -> SamplingSettings {
        SamplingSettings {
            fractions: fractions.to_vec(),
            samples,
            seed,
        }
    }

    fn similarity(fractions: &[f64], samples: usize, seed: u64) -> Result<Vec<Similarity>> {
        similarity_by_sampling(
            &transactions(),
            &settings(fractions, samples, seed),
            &Control::new(),
        )
    }

    #[test]
    fn a_sample_of_all_is_right_about_all() {
        let all = similarity(&[1.0], 3, 0).unwrap()[0];
        let gaps = transactions().frequencies();
        // Item 6 is a phantom and does not form a group in the sample.
        let gaps = Frequencies::new(12, gaps.counts()[..6].to_vec()).gaps().unwrap();
        assert_eq!((all.transactions, all.fraction), (12, 1.0));
        let compliancy = |width| Compliancy {
            width,
            average: 1.0,
            min: 1.0,
            max: 1.0,
        };
        assert_eq!(
            (all.median, all.mean),
            (compliancy(gaps.median), compliancy(gaps.mean))
        );
    }

    #[test]
    fn the_seed_decides_and_not_the_threads() {
        let run = |seed, threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| similarity(&[0.3, 0.6, 0.01], 20, seed).unwrap())
        };
        let one = run(1, 1);
        assert_eq!(one, run(1, 2));
        assert_ne!(one, run(2, 1));
        assert_eq!(
            one.iter().map(|of| of.transactions).collect::<Vec<_>>(),
            [4, 7, 1]
        );
        for of in one
            .iter()
            .flat_map(|similarity| [similarity.median, similarity.mean])
        {
            assert!(0.0 <= of.min && of.min <= of.average && of.average <= of.max && of.max <= 1.0);
        }
        assert!(one[1].median.min < one[1].median.max);
    }

    /// Returns the answer that results from keeping all samples and averaging at the end.
    fn collected(fraction: f64, samples: usize, seed: u64) -> Compliancy {
        let (transactions, control) = (transactions(), Control::new());
        let size = (fraction * transactions.len() as f64).round() as u64;
        let mut seeds = Pcg64Mcg::seed_from_u64(seed);
        let mut degrees = Vec::new();
        let mut widths = Vec::new();
        for _ in 0..samples {
            let mut random = Pcg64Mcg::seed_from_u64(seeds.next_u64());
            let sample = sample_counts(&transactions, size, &mut random, &control).unwrap();
            let [median, _] = compliancy_by_gaps(&transactions.frequencies(), size, &sample);
            degrees.push(median.degree);
            widths.push(median.width);
        }
        let average = degrees.iter().fold(0.0, |sum, degree| sum + degree) / samples as f64;
        let (min, max) = (
            degrees.iter().copied().fold(1.0, f64::min),
            degrees.iter().copied().fold(0.0, f64::max),
        );
        Compliancy {
            width: widths.iter().fold(0.0, |sum, width| sum + width) / samples as f64,
            average: average.clamp(min, max),
            min,
            max,
        }
    }

    #[test]
    fn samples_that_are_not_kept_say_the_same() {
        for samples in [1, BATCH - 1, BATCH, 2 * BATCH + 7] {
            let found = similarity(&[0.5, 0.25], samples, 3).unwrap();
            assert_eq!(found[0].median, collected(0.5, samples, 3));
        }
    }

    #[test]
    fn any_number_of_samples_takes_little_memory_and_ends_when_asked_to() {
        let control = tight();
        let endless = settings(&[0.5], usize::MAX, 1);
        std::thread::scope(|scope| {
            let job = scope.spawn(|| similarity_by_sampling(&transactions(), &endless, &control));
            while control.progress().is_none_or(|share| share == 0.0) {
                std::thread::yield_now();
            }
            control.cancel();
            assert_eq!(job.join().unwrap(), Err(Error::Cancelled));
        });
        let many = vec![0.5; 1 << 14];
        let refused = similarity_by_sampling(&transactions(), &settings(&many, 1, 1), &tight());
        assert_eq!(refused, Err(Error::OutOfMemory { limit: 1 << 20 }));
    }

    fn tight() -> Control {
        Control::with_memory(MemoryBudget {
            limit: 1 << 20,
            in_use: || 0,
        })
    }

    #[test]
    fn all_samples_are_equally_likely() {
        let mut transactions = Transactions::new(4);
        (0..4).for_each(|item| transactions.push(&[item]).unwrap());
        let mut times = std::collections::BTreeMap::new();
        let mut random = Pcg64Mcg::seed_from_u64(15);
        for _ in 0..6_000 {
            let sample = sample_counts(&transactions, 2, &mut random, &Control::new()).unwrap();
            *times.entry(sample).or_insert(0u32) += 1;
        }
        assert_eq!(times.len(), 6);
        // The tolerance is five standard deviations.
        assert!(
            times.values().all(|&times| times.abs_diff(1_000) < 145),
            "{times:?}"
        );
    }

    #[test]
    fn arguments_are_checked() {
        let argument = |result: Result<Vec<Similarity>>| match result {
            Err(Error::InvalidArgument { argument, .. }) => argument,
            other => panic!("{other:?}"),
        };
        assert_eq!(argument(similarity(&[0.5], 0, 1)), "samples");
        for fraction in [0.0, -0.1, 1.1, f64::NAN] {
            assert_eq!(argument(similarity(&[0.5, fraction], 1, 1)), "fractions");
        }
        assert_eq!(similarity(&[], 1, 1), Ok(Vec::new()));
        let control = Control::new();
        let none = similarity_by_sampling(&Transactions::new(3), &settings(&[0.5], 1, 1), &control);
        assert_eq!(none, Ok(Vec::new()));
        control.cancel();
        let cancelled = similarity_by_sampling(&transactions(), &settings(&[0.5], 1, 1), &control);
        assert_eq!(cancelled, Err(Error::Cancelled));
    }

    /// Computes steps (b) to (d) of Fig. 15 in fractions; returns the width and the share of items that are
    /// right, for the median gap and for the mean gap.
    fn defined(all: &[u64], transactions: u64, sample: &[u64], size: u64) -> [(f64, f64); 2] {
        let mut groups: Vec<u64> = sample.iter().copied().filter(|&count| count > 0).collect();
        groups.sort();
        groups.dedup();
        let mut gaps: Vec<u64> = groups.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort();
        let count = gaps.len();
        let (median, mean) = match count {
            0 => ((0, 1), (0, 1)),
            _ => (
                (gaps[(count - 1) / 2] + gaps[count / 2], 2),
                (gaps.iter().sum(), count as u64),
            ),
        };
        [median, mean].map(|(numerator, denominator): (u64, u64)| {
            let items: Vec<usize> = (0..all.len()).filter(|&item| all[item] > 0).collect();
            // |all / transactions − sample / size| ≤ numerator / denominator / size, without division.
            let is_right = |&&item: &&usize| {
                let difference = (all[item] * size).abs_diff(sample[item] * transactions);
                difference * denominator <= numerator * transactions
            };
            let right = items.iter().filter(is_right).count();
            let width = numerator as f64 / (denominator * size) as f64;
            (width, right as f64 / items.len() as f64)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 3000,
            rng_seed: RngSeed::Fixed(15),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn compliancy_is_as_defined(
            counts in prop::collection::vec((0u64..30, 0.0..1.0f64), 1..9),
            size in 1u64..30,
        ) {
            let all: Vec<u64> = counts.iter().map(|&(count, _)| count).chain([1]).collect();
            let part = |&(count, part): &(u64, f64)| (count.min(size) as f64 * part).round() as u64;
            let sample: Vec<u64> = counts.iter().map(part).chain([0]).collect();
            let found = compliancy_by_gaps(&Frequencies::new(30, all.clone()), size, &sample);
            for (found, (width, degree)) in found.iter().zip(defined(&all, 30, &sample, size)) {
                prop_assert!((found.width - width).abs() < 1e-12);
                prop_assert_eq!(found.degree, degree);
            }
        }
    }
}
