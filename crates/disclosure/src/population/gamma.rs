//! Differences of the gamma function's logarithm and its derivatives. They are computed as differences, so that nothing
//! cancels out where the arguments are large and close together.
//!
//! The asymptotic series are those of Abramowitz and Stegun (1964), 6.1.41, 6.3.18 and 6.4.12.

/// Argument from which on the asymptotic series have full precision.
const LARGE: f64 = 20.0;

/// Number of terms up to which sums are added up one by one.
const FEW: u64 = 40;

/// Returns the logarithm of Γ(x + d)/Γ(x), for positive x and x + d.
pub(super) fn ln_gamma_ratio(mut x: f64, d: f64) -> f64 {
    let mut below = 0.0;
    while x < LARGE || x + d < LARGE {
        below += (d / x).ln_1p();
        x += 1.0;
    }
    let rest = |x: f64| {
        let r = 1.0 / (x * x);
        (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r * (1.0 / 1680.0 - r / 1188.0)))) / x
    };
    (x - 0.5) * (d / x).ln_1p() + d * (x + d).ln() - d + rest(x + d) - rest(x) - below
}

/// Returns ψ(x), the derivative of ln Γ(x), for positive x.
pub(super) fn digamma(x: f64) -> f64 {
    let terms = (LARGE - x).ceil().max(0.0);
    let r = (x + terms).powi(-2);
    (x + terms).ln() - 0.5 / (x + terms) - digamma_rest(r) - reciprocals(x, terms as u64)
}

/// Returns the rest of the asymptotic series of ψ, given 1/x².
fn digamma_rest(r: f64) -> f64 {
    r * (1.0 / 12.0 - r * (1.0 / 120.0 - r * (1.0 / 252.0 - r * (1.0 / 240.0 - r / 132.0))))
}

/// Returns 1/x + 1/(x + 1) + … of `terms` terms, which is ψ(x + terms) − ψ(x), for positive x.
pub(super) fn reciprocals(x: f64, terms: u64) -> f64 {
    let one_by_one = direct_terms(x, terms);
    let direct: f64 = (0..one_by_one).map(|i| 1.0 / (x + i as f64)).sum();
    if one_by_one == terms {
        return direct;
    }
    let rest = |x: f64| digamma_rest(1.0 / (x * x));
    let (from, to) = (x + one_by_one as f64, x + terms as f64);
    let length = (terms - one_by_one) as f64;
    direct + (length / from).ln_1p() + 0.5 * length / (from * to) + rest(from) - rest(to)
}

/// Returns 1/x² + 1/(x + 1)² + … of `terms` terms, which is ψ′(x) − ψ′(x + terms), for positive x.
pub(super) fn squared_reciprocals(x: f64, terms: u64) -> f64 {
    let one_by_one = direct_terms(x, terms);
    let direct: f64 = (0..one_by_one).map(|i| (x + i as f64).powi(-2)).sum();
    if one_by_one == terms {
        return direct;
    }
    let rest = |x: f64| {
        let r = 1.0 / (x * x);
        r * (0.5 + (1.0 / 6.0 - r * (1.0 / 30.0 - r * (1.0 / 42.0 - r * (1.0 / 30.0 - r * 5.0 / 66.0)))) / x)
    };
    let (from, to) = (x + one_by_one as f64, x + terms as f64);
    direct + (terms - one_by_one) as f64 / (from * to) + rest(from) - rest(to)
}

/// Returns how many terms of a sum from x on are added up one by one.
fn direct_terms(x: f64, terms: u64) -> u64 {
    match terms <= FEW {
        true => terms,
        false => (LARGE - x).ceil().max(0.0) as u64, // less than FEW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-13 * b.abs()
    }

    #[test]
    fn sums_equal_their_terms() {
        for x in [0.01, 0.5, 3.7, 19.5, 1234.5] {
            for terms in [0, 1, 40, 41, 1000] {
                let all = || (0..terms).map(|i| x + i as f64);
                assert!(is_close(reciprocals(x, terms), all().map(|x| 1.0 / x).sum()));
                assert!(is_close(
                    squared_reciprocals(x, terms),
                    all().map(|x| x.powi(-2)).sum()
                ));
                assert!(is_close(ln_gamma_ratio(x, terms as f64), all().map(f64::ln).sum()) || terms == 1);
            }
        }
    }

    #[test]
    fn ratios_of_gamma_values_are_known() {
        assert!(is_close(
            ln_gamma_ratio(0.5, 0.5),
            -0.5 * std::f64::consts::PI.ln()
        ));
        assert!(is_close(ln_gamma_ratio(1.0, 9.0), 362_880_f64.ln()));
        assert!(is_close(digamma(1.0), -0.577_215_664_901_532_9));
        assert!(is_close(ln_gamma_ratio(1e12, 0.5), 0.5 * 1e12_f64.ln()));
    }
}
