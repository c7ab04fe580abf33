//! The slide negative binomial model of the sizes of classes in a population.

use super::{ClassSizes, Estimate};

/// Largest number of Newton steps from one starting point.
const MAX_STEPS: usize = 200;

/// Largest difference of logarithms at which an equation is solved.
const SOLVED: f64 = 1e-11;

/// Starting points of α and β.
const ALPHAS: [f64; 4] = [0.2, 1.0, 5.0, 0.02];
const BETAS: [f64; 4] = [0.2, 0.05, 0.6, 0.005];

/// Which equations are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Equations {
    /// Those of Chen and Keller-McNulty (1998), with Shlosser's estimate of the number of classes (Haas and Stokes 1998).
    Published,
    /// Those of ARX 3.9.2, which differ in two places: it multiplies by (1 − d)^(α+2) instead of dividing by it in the
    /// second equation, and its denominator of Shlosser's estimate is Σ((1 − f²)^i sᵢ − 1). Often, for example with
    /// Adult, they have no solution.
    Arx,
}

/// The slide negative binomial model, fitted to a sample (Chen and Keller-McNulty 1998).
///
/// The sizes of the K classes of the population, less 1, have a negative binomial distribution: a size of k has the
/// probability C(α+k−2, k−1)(1−β)^(k−1) β^α, so that Kβ^α classes have one member.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NegativeBinomial {
    /// Estimated number K of classes in the population.
    pub classes: f64,
    /// Parameter α, greater than 0.
    pub alpha: f64,
    /// Parameter β, between 0 and 1.
    pub beta: f64,
    /// Estimated number of classes that have one member in the population. Its standard error follows by the delta method
    /// from independent numbers of classes of each size in the sample, with Poisson distributions.
    pub uniques: Estimate,
}

impl NegativeBinomial {
    /// Fits the model. The share `fraction` of the population is in the sample, each person independently of the others.
    /// K is estimated first, then α and β so that the expected numbers of classes with one and two members in the sample
    /// are those that were found. Returns `None` if there are no such α and β, or none were found.
    pub fn fit(sample: &ClassSizes, fraction: f64, equations: Equations) -> Option<Self> {
        let (c1, c2) = (sample.of_size(1) as f64, sample.of_size(2) as f64);
        if c1 == 0.0 || c2 == 0.0 {
            return None;
        }
        let classes = Shlosser::new(sample, fraction, equations);
        let system = System {
            k: classes.estimate(),
            f: fraction,
            c1,
            c2,
            sign: if equations == Equations::Published {
                1.0
            } else {
                -1.0
            },
        };
        if !(system.k.is_finite() && system.k > 0.0) {
            return None;
        }
        let mut starts = ALPHAS.iter().flat_map(|&alpha| BETAS.map(|beta| (alpha, beta)));
        let (alpha, beta) = starts.find_map(|start| system.solve(start))?;
        let uniques = system.k * beta.powf(alpha);
        let change = system.change(alpha, beta)?;
        let of_size = |(size, count): (u64, u64)| {
            let by_k = change.0 * classes.derivative(size) / system.k;
            let by_counts = match size {
                1 => change.1 / c1,
                2 => change.2 / c2,
                _ => 0.0,
            };
            count as f64 * (uniques * (by_k + by_counts)).powi(2)
        };
        let variance: f64 = sample.iter().map(of_size).sum();
        let population = sample.units() as f64 / fraction;
        (uniques <= population).then_some(NegativeBinomial {
            classes: system.k,
            alpha,
            beta,
            uniques: Estimate {
                uniques,
                standard_error: Some(variance.sqrt()),
            },
        })
    }
}

/// Shlosser's second estimate of the number of classes in the population (Haas and Stokes 1998, section 3.4):
/// u + s₁ · A/B · (C/D)², with sums over the sizes of classes in the sample.
struct Shlosser {
    fraction: f64,
    uniques: f64,
    classes: f64,
    sums: [f64; 4],
}

impl Shlosser {
    fn new(sample: &ClassSizes, fraction: f64, equations: Equations) -> Self {
        let mut sums = [0.0; 4];
        for (size, count) in sample.iter() {
            for (sum, term) in sums.iter_mut().zip(Self::terms(fraction, size)) {
                *sum += count as f64 * term;
            }
            if equations == Equations::Arx {
                let all = (1.0 - fraction).powf(size as f64);
                sums[1] += count as f64 * all - 1.0;
            }
        }
        Shlosser {
            fraction,
            uniques: sample.of_size(1) as f64,
            classes: sample.classes() as f64,
            sums,
        }
    }

    /// Returns what a class of this size adds to A, B, C and D.
    fn terms(f: f64, size: u64) -> [f64; 4] {
        let i = size as f64;
        let absent = (1.0 - f).powf(i);
        [
            i * f * f * (1.0 - f * f).powf(i - 1.0),
            (1.0 - f * f).powf(i) - absent,
            absent,
            i * f * (1.0 - f).powf(i - 1.0),
        ]
    }

    fn estimate(&self) -> f64 {
        self.classes + self.unseen()
    }

    /// Returns the estimated number of classes that are not in the sample.
    fn unseen(&self) -> f64 {
        let [a, b, c, d] = self.sums;
        self.uniques * (a / b) * (c / d).powi(2)
    }

    /// Returns by how much the estimate grows with each further class of this size.
    fn derivative(&self, size: u64) -> f64 {
        let terms = Self::terms(self.fraction, size);
        let mut relative = if size == 1 { 1.0 / self.uniques } else { 0.0 };
        for ((power, sum), term) in [1.0, -1.0, 2.0, -2.0].into_iter().zip(self.sums).zip(terms) {
            relative += power * term / sum;
        }
        1.0 + self.unseen() * relative
    }
}

/// Two equations in α and β: numbers of classes with one and two members in the sample, as expected and as found.
struct System {
    k: f64,
    f: f64,
    c1: f64,
    c2: f64,
    /// 1, or −1 for the equations of ARX.
    sign: f64,
}

/// Differences of the logarithms of what is expected and what was found, and their derivatives by ln α and logit β.
struct Residual {
    value: (f64, f64),
    by_alpha: (f64, f64),
    by_beta: (f64, f64),
}

impl System {
    /// Returns α and β that solve the equations, if Newton's method finds them from this starting point.
    fn solve(&self, start: (f64, f64)) -> Option<(f64, f64)> {
        let (mut alpha, mut beta) = start;
        let mut here = self.residual(alpha, beta);
        for _ in 0..MAX_STEPS {
            if here.size() < SOLVED {
                return Some((alpha, beta));
            }
            let (dx, dy) = here.inverse((-here.value.0, -here.value.1))?;
            let mut scale = 1.0 / dx.abs().max(dy.abs()).max(1.0);
            loop {
                let new_alpha = alpha * (scale * dx).exp();
                let logit = (beta / (1.0 - beta)).ln() + scale * dy;
                let new_beta = 1.0 / (1.0 + (-logit).exp());
                let there = self.residual(new_alpha, new_beta);
                if there.size() < here.size() {
                    (alpha, beta, here) = (new_alpha, new_beta, there);
                    break;
                }
                scale *= 0.5;
                if scale < 1e-9 {
                    return None;
                }
            }
        }
        None
    }

    fn residual(&self, a: f64, b: f64) -> Residual {
        let d = (1.0 - self.f) * (1.0 - b);
        let slope = self.f - 1.0; // derivative of d by β
        let (one, two) = (1.0 - d + a * d, 2.0 - (1.0 - a) * d);
        let rest = self.sign * (1.0 - d).ln();
        let first = (self.k * self.f / self.c1).ln() + a * (b / (1.0 - d)).ln() + (one / (1.0 - d)).ln();
        let second = (self.k * self.f * self.f / (2.0 * self.c2)).ln() + a.ln() + a * b.ln() + (1.0 - b).ln()
            - (a + 2.0) * rest
            + two.ln();
        let logit = b * (1.0 - b); // derivative of β by its logit
        let alpha_first = (b / (1.0 - d)).ln() + d / one;
        let alpha_second = 1.0 / a + b.ln() - rest + d / two;
        let beta_first = a * (1.0 / b + slope / (1.0 - d)) + (a - 1.0) * slope / one + slope / (1.0 - d);
        let beta_second =
            a / b - 1.0 / (1.0 - b) + self.sign * (a + 2.0) * slope / (1.0 - d) - (1.0 - a) * slope / two;
        Residual {
            value: (first, second),
            by_alpha: (a * alpha_first, a * alpha_second),
            by_beta: (logit * beta_first, logit * beta_second),
        }
    }

    /// Returns by how much ln(Kβ^α) grows with ln K, and with the logarithms of the numbers of classes with one and two
    /// members in the sample.
    fn change(&self, alpha: f64, beta: f64) -> Option<(f64, f64, f64)> {
        let residual = self.residual(alpha, beta);
        // ln(β^α) by ln α and logit β
        let by = (alpha * beta.ln(), alpha * (1.0 - beta));
        let of = |right: (f64, f64)| residual.inverse(right).map(|(x, y)| by.0 * x + by.1 * y);
        Some((1.0 + of((-1.0, -1.0))?, of((1.0, 0.0))?, of((0.0, 1.0))?))
    }
}

impl Residual {
    /// Returns the larger difference; infinity if one is not a number.
    fn size(&self) -> f64 {
        let (first, second) = self.value;
        match first.is_finite() && second.is_finite() {
            true => first.abs().max(second.abs()),
            false => f64::INFINITY,
        }
    }

    /// Returns the changes of ln α and logit β that change the differences by `right`.
    fn inverse(&self, right: (f64, f64)) -> Option<(f64, f64)> {
        let ((a, c), (b, d)) = (self.by_alpha, self.by_beta);
        let determinant = a * d - b * c;
        let x = (d * right.0 - b * right.1) / determinant;
        let y = (a * right.1 - c * right.0) / determinant;
        (x.is_finite() && y.is_finite()).then_some((x, y))
    }
}
