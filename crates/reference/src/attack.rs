//! Probabilistic attacks by their definitions (Malik 2014): all matchings with the products of their weights.

use crate::matching::permutations;

/// A square matrix of weights, and all of its matchings.
pub struct Attack {
    size: usize,
    weights: Vec<f64>,
    /// For every matching, the column of every row, and the product of the weights.
    pub matchings: Vec<(Vec<usize>, f64)>,
    /// Sum of these products.
    pub permanent: f64,
}

impl Attack {
    /// Returns the attack with these weights, given row by row.
    pub fn new(weights: &[f64]) -> Self {
        let size = weights.len().isqrt();
        let with_weight = |mapping: Vec<usize>| {
            let of_row = |(row, column): (usize, &usize)| weights[row * size + column];
            let weight = mapping.iter().enumerate().map(of_row).product();
            (mapping, weight)
        };
        let matchings: Vec<(Vec<usize>, f64)> = permutations(size).into_iter().map(with_weight).collect();
        Attack {
            size,
            weights: weights.to_vec(),
            permanent: matchings.iter().map(|(_, weight)| weight).sum(),
            matchings,
        }
    }

    /// Returns the expected value of a function of the matching.
    pub fn expected(&self, value: impl Fn(&[usize]) -> f64) -> f64 {
        let weighted = self
            .matchings
            .iter()
            .map(|(mapping, weight)| weight * value(mapping));
        weighted.sum::<f64>() / self.permanent
    }

    /// Returns the probability that a row is matched with a column.
    pub fn edge(&self, row: usize, column: usize) -> f64 {
        self.expected(|mapping| f64::from(mapping[row] == column))
    }

    /// Returns the expected number of rows that are matched with their true column.
    pub fn cracks(&self, truth: &[usize]) -> f64 {
        self.expected(|mapping| mapping.iter().zip(truth).filter(|(a, b)| a == b).count() as f64)
    }

    /// Returns H: the sum of the weights of the true edges, each as a share of its row's total.
    pub fn heuristic(&self, truth: &[usize]) -> f64 {
        let of_row = |(row, weights): (usize, &[f64])| weights[truth[row]] / weights.iter().sum::<f64>();
        self.weights.chunks(self.size).enumerate().map(of_row).sum()
    }

    /// Returns the degree of anonymity: the entropy of the matchings, as a share of the largest possible
    /// entropy.
    pub fn anonymity(&self) -> f64 {
        let surprise = |(_, weight): &(Vec<usize>, f64)| match weight / self.permanent {
            0.0 => 0.0,
            probability => -probability * probability.ln(),
        };
        let all = (self.matchings.len() as f64).ln();
        let entropy: f64 = self.matchings.iter().map(surprise).sum();
        if all > 0.0 { entropy / all } else { 0.0 }
    }

    /// Returns the mean absolute error of H over all true mappings, in percent of the number of rows.
    pub fn nmape(&self) -> f64 {
        let off = |(truth, _): &(Vec<usize>, f64)| (self.heuristic(truth) - self.cracks(truth)).abs();
        let sum: f64 = self.matchings.iter().map(off).sum();
        sum / self.matchings.len() as f64 / self.size as f64 * 100.0
    }

    /// Returns the expected number of sets of `size` rows that are matched with the true columns of their
    /// rows.
    pub fn subsets(&self, truth: &[Option<u32>], size: usize) -> f64 {
        let sets = (0..1u32 << self.size).filter(|set| set.count_ones() as usize == size);
        sets.map(|set| self.subset(truth, set)).sum()
    }

    /// Returns the probability that this set of rows, one per bit, is matched with the true columns of its
    /// rows.
    pub fn subset(&self, truth: &[Option<u32>], set: u32) -> f64 {
        let members = || (0..self.size).filter(|row| set & 1 << row != 0);
        let Some(columns) = members().map(|row| truth[row]).collect::<Option<Vec<u32>>>() else {
            return 0.0;
        };
        self.expected(|mapping| f64::from(members().all(|row| columns.contains(&(mapping[row] as u32)))))
    }
}
