//! Risk in a population, by the formulas as they are published.

use disclosure::NULL;

/// Returns the expectation of 1/F, given f people in the sample: the number F of people in the population has the
/// negative binomial distribution with f successes of probability p (Franconi and Polettini 2004). `terms` values of F
/// are added up.
pub fn individual_risk(f: u64, p: f64, terms: u64) -> f64 {
    let mut probability = p.powi(f as i32);
    let mut sum = 0.0;
    for population in f..f + terms {
        sum += probability / population as f64;
        probability *= (1.0 - p) * population as f64 / (population + 1 - f) as f64;
    }
    sum
}

/// Returns sdcMicro's approximation of the individual risk, by its formulas for one, two and more people.
pub fn individual_risk_sdcmicro(f: u64, p: f64) -> f64 {
    let odds = p / (1.0 - p);
    match f {
        1 => odds * (1.0 / p).ln(),
        2 => odds - odds * odds * (1.0 / p).ln(),
        _ => p / (f as f64 - (1.0 - p)),
    }
}

/// Returns the risk that at least one member of a household is found.
pub fn household_risk(members: &[f64]) -> f64 {
    1.0 - members.iter().map(|risk| 1.0 - risk).product::<f64>()
}

/// Returns whether two combinations of values may be the same, if an absent value agrees with any value or only with
/// another absent value.
pub fn agree(a: &[u32], b: &[u32], nulls_agree: bool) -> bool {
    a.iter()
        .zip(b)
        .all(|(a, b)| a == b || nulls_agree && (*a == NULL || *b == NULL))
}

/// Returns the sum of the weights of all rows that agree with this one.
pub fn population_size(rows: &[Vec<u32>], weights: &[f64], row: &[u32], nulls_agree: bool) -> f64 {
    let agreeing = rows
        .iter()
        .zip(weights)
        .filter(|(other, _)| agree(other, row, nulls_agree));
    agreeing.map(|(_, weight)| weight).sum()
}

/// Returns the number of people who agree with this row, and the sum of their smallest weights there. Rows without a
/// person count as one person if there is nobody else.
pub fn people_and_population(
    rows: &[Vec<u32>],
    people: &[u32],
    weights: &[f64],
    row: &[u32],
    nulls_agree: bool,
) -> (u64, f64) {
    let agreeing: Vec<usize> = (0..rows.len())
        .filter(|&other| agree(&rows[other], row, nulls_agree))
        .collect();
    let mut present: Vec<u32> = agreeing.iter().map(|&row| people[row]).collect();
    present.sort_unstable();
    present.dedup();
    if present.len() > 1 {
        present.retain(|&person| person != NULL);
    }
    let smallest = |person: &u32| {
        let rows = agreeing.iter().filter(|&&row| people[row] == *person);
        rows.map(|&row| weights[row]).fold(f64::INFINITY, f64::min)
    };
    (present.len() as u64, present.iter().map(smallest).sum())
}

/// Returns the logarithm of the likelihood of Pitman's sampling formula, without its constant (Hoshino 2001). `sizes` has
/// the size of each class.
pub fn pitman_likelihood(sizes: &[u64], theta: f64, alpha: f64) -> f64 {
    let people: u64 = sizes.iter().sum();
    let classes: f64 = (1..sizes.len()).map(|i| (theta + i as f64 * alpha).ln()).sum();
    let all: f64 = (1..people).map(|i| (theta + i as f64).ln()).sum();
    let within = sizes
        .iter()
        .flat_map(|&size| 1..size)
        .map(|i| (i as f64 - alpha).ln());
    classes - all + within.sum::<f64>()
}

/// Returns the probability that a person of a population with Pitman's distribution shares their class with nobody:
/// each further person of `population` joins another class.
pub fn pitman_alone(population: u64, theta: f64, alpha: f64) -> f64 {
    (1..population)
        .map(|i| (theta + alpha + i as f64 - 1.0) / (theta + i as f64))
        .product()
}

/// Returns Zayatz' estimate of the number of population uniques (1991). `sizes` has the size of each class.
pub fn zayatz(sizes: &[u64], population: u64) -> f64 {
    let people: u64 = sizes.iter().sum();
    let ln_choose = |n: u64, k: u64| {
        (0..k)
            .map(|i| ((n - i) as f64 / (k - i) as f64).ln())
            .sum::<f64>()
    };
    // Probability that one member of a class is in the sample.
    let one_of = |size: u64| {
        if population - size < people - 1 {
            return 0.0;
        }
        size as f64 * (ln_choose(population - size, people - 1) - ln_choose(population, people)).exp()
    };
    let uniques = sizes.iter().filter(|&&size| size == 1).count() as f64;
    let expected: f64 = sizes.iter().map(|&size| one_of(size)).sum();
    uniques * (uniques * one_of(1) / expected) * population as f64 / people as f64
}

/// Returns the expected number of classes with `members` members in the sample, if the sizes of `classes` classes of the
/// population have the slide negative binomial distribution (Chen and Keller-McNulty 1998). Sizes up to `terms` are added
/// up.
pub fn negative_binomial_expected(
    classes: f64,
    (alpha, beta): (f64, f64),
    fraction: f64,
    members: u64,
    terms: u64,
) -> f64 {
    let mut of_size = beta.powf(alpha);
    let mut sum = 0.0;
    for size in 1..terms {
        if size >= members {
            let choose: f64 = (0..members)
                .map(|i| (size - i) as f64 / (members - i) as f64)
                .product();
            let not_sampled = (1.0 - fraction).powi((size - members) as i32);
            sum += of_size * choose * fraction.powi(members as i32) * not_sampled;
        }
        of_size *= (1.0 - beta) * (alpha + size as f64 - 1.0) / size as f64;
    }
    classes * sum
}

/// Returns Shlosser's second estimate of the number of classes in the population (Haas and Stokes 1998).
pub fn shlosser(sizes: &[u64], f: f64) -> f64 {
    let sum = |term: &dyn Fn(f64) -> f64| sizes.iter().map(|&size| term(size as f64)).sum::<f64>();
    let uniques = sizes.iter().filter(|&&size| size == 1).count() as f64;
    let first = sum(&|i| i * f * f * (1.0 - f * f).powf(i - 1.0));
    let second = sum(&|i| (1.0 - f).powf(i) * ((1.0 + f).powf(i) - 1.0));
    let third = sum(&|i| (1.0 - f).powf(i));
    let fourth = sum(&|i| i * f * (1.0 - f).powf(i - 1.0));
    sizes.len() as f64 + uniques * first / second * (third / fourth).powi(2)
}

/// A log-linear model: every combination of the values of all columns, the number of people of the sample who have it,
/// and the number that the model expects.
pub struct Table {
    /// Combinations of values.
    pub cells: Vec<Vec<u32>>,
    /// Number of people of the sample with each.
    pub counts: Vec<f64>,
    /// Expected number of each.
    pub means: Vec<f64>,
}

impl Table {
    /// Fits a model by `rounds` rounds of iterative proportional fitting to the frequencies of values of these sets of
    /// columns, such as `[0]` and `[1]` for main effects.
    pub fn fit(rows: &[Vec<u32>], margins: &[Vec<usize>], rounds: usize) -> Self {
        let width = rows.first().map_or(0, Vec::len);
        let mut cells = vec![vec![]];
        for column in 0..width {
            let mut values: Vec<u32> = rows.iter().map(|row| row[column]).collect();
            values.sort_unstable();
            values.dedup();
            let longer = |cell: &Vec<u32>| -> Vec<Vec<u32>> {
                values
                    .iter()
                    .map(|value| [cell.clone(), vec![*value]].concat())
                    .collect()
            };
            cells = cells.iter().flat_map(longer).collect();
        }
        let count = |cell: &Vec<u32>| rows.iter().filter(|row| *row == cell).count() as f64;
        let counts: Vec<f64> = cells.iter().map(count).collect();
        let mut means = vec![1.0; cells.len()];
        for _ in 0..rounds {
            for margin in margins {
                let same = |a: &[u32], b: &[u32]| margin.iter().all(|&column| a[column] == b[column]);
                let total = |of: &[f64], cell: &[u32]| -> f64 {
                    let cells = cells.iter().zip(of).filter(|(other, _)| same(other, cell));
                    cells.map(|(_, amount)| amount).sum()
                };
                let factor = |cell: &Vec<u32>| match total(&counts, cell) {
                    0.0 => 0.0,
                    observed => observed / total(&means, cell),
                };
                let factors: Vec<f64> = cells.iter().map(factor).collect();
                means
                    .iter_mut()
                    .zip(factors)
                    .for_each(|(mean, factor)| *mean *= factor);
            }
        }
        Table { cells, counts, means }
    }

    fn sum_over_uniques(&self, risk: impl Fn(f64) -> f64) -> f64 {
        let uniques = self
            .counts
            .iter()
            .zip(&self.means)
            .filter(|(count, _)| **count == 1.0);
        uniques.map(|(_, &mean)| risk(mean)).sum()
    }

    /// Returns the expected number of sample uniques that are unique in the population (Skinner and Holmes 1998).
    pub fn unique(&self, fraction: f64) -> f64 {
        self.sum_over_uniques(|mean| (-(1.0 - fraction) * mean / fraction).exp())
    }

    /// Returns the expected number of correct matches of sample uniques.
    pub fn matches(&self, fraction: f64) -> f64 {
        self.sum_over_uniques(|mean| {
            let v = (1.0 - fraction) * mean / fraction;
            (1.0 - (-v).exp()) / v
        })
    }

    /// Returns the estimated bias of [`unique`](Self::unique) (Skinner and Shlomo 2008): Σ λe^(−λ)(1 − π)
    /// ((f − πλ) + (1 − π)((f − πλ)² − f)/(2π)).
    pub fn unique_bias(&self, fraction: f64) -> f64 {
        let terms = self.counts.iter().zip(&self.means).map(|(f, mean)| {
            let (lambda, error) = (mean / fraction, f - mean);
            let square = error * error - f;
            lambda
                * (-lambda).exp()
                * (1.0 - fraction)
                * (error + (1.0 - fraction) * square / (2.0 * fraction))
        });
        terms.sum()
    }
}
