//! Probabilistic attacks by their definitions (Malik 2014): all matchings with the products of their weights.

use std::collections::BTreeMap;

/// A matrix of weights, and all of its matchings: all ways to match as many rows as possible with different
/// columns. In a square matrix, that is every row; otherwise it is every row, or every column, whichever are
/// fewer.
pub struct Attack {
    size: usize,
    columns: usize,
    weights: Vec<f64>,
    /// For every matching, the column of every row ([`NONE`] if it has none), and the product of the weights.
    pub matchings: Vec<(Vec<usize>, f64)>,
    /// Sum of these products.
    pub permanent: f64,
}

/// Column of a row that is not matched, because there are fewer columns than rows.
pub const NONE: usize = usize::MAX;

/// Returns all ways to match rows with different columns so that as many as possible are matched.
fn matchings(rows: usize, columns: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..rows {
        let longer = |so_far: &Vec<usize>| {
            let unmatched = so_far.iter().filter(|&&column| column == NONE).count();
            let free = (0..columns).filter(|column| !so_far.contains(column));
            let nothing = (unmatched < rows.saturating_sub(columns)).then_some(NONE);
            let choices: Vec<usize> = free.chain(nothing).collect();
            let with = |column| [&so_far[..], &[column]].concat();
            choices.into_iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

impl Attack {
    /// Returns the attack with these weights of a square matrix, given row by row.
    pub fn new(weights: &[f64]) -> Self {
        let size = weights.len().isqrt();
        Attack::rectangular(size, size, weights)
    }

    /// Returns the attack with these weights, given row by row.
    pub fn rectangular(rows: usize, columns: usize, weights: &[f64]) -> Self {
        let with_weight = |mapping: Vec<usize>| {
            let matched = mapping.iter().enumerate().filter(|&(_, &column)| column != NONE);
            let weight = matched
                .map(|(row, column)| weights[row * columns + column])
                .product();
            (mapping, weight)
        };
        let matchings: Vec<(Vec<usize>, f64)> =
            matchings(rows, columns).into_iter().map(with_weight).collect();
        Attack {
            size: rows,
            columns,
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

    /// Returns the probability of exactly 0, 1, 2, … cracks, up to the number of rows. A row whose true
    /// column is `None` is never cracked.
    pub fn crack_distribution(&self, truth: &[Option<u32>]) -> Vec<f64> {
        let cracks = |mapping: &[usize]| {
            let is_cracked = |(row, &column): (usize, &usize)| truth[row] == u32::try_from(column).ok();
            let matched = mapping.iter().enumerate().filter(|&(_, &column)| column != NONE);
            matched.filter(|&row| is_cracked(row)).count()
        };
        (0..=self.size)
            .map(|count| self.expected(|mapping| f64::from(cracks(mapping) == count)))
            .collect()
    }

    /// Returns H: the sum of the weights of the true edges, each as a share of its row's total.
    pub fn heuristic(&self, truth: &[usize]) -> f64 {
        let of_row = |(row, weights): (usize, &[f64])| weights[truth[row]] / weights.iter().sum::<f64>();
        self.weights.chunks(self.columns).enumerate().map(of_row).sum()
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

/// A network of randomising steps: a node passes what it gets on to other nodes with these probabilities.
/// Nodes that get nothing from others are entries, and nodes that pass nothing on are codes (Malik 2014,
/// section 3.1).
pub struct Network<'a> {
    /// (from, to, probability) of every channel.
    pub channels: &'a [(&'a str, &'a str, f64)],
}

impl Network<'_> {
    /// Returns the probability that each entry becomes each code: the sum, over all paths from the entry to
    /// the code, of the products of their probabilities. The network must not have a cycle.
    pub fn attack(&self) -> BTreeMap<(String, String), f64> {
        let entries = self.channels.iter().map(|channel| channel.0);
        let entries = entries.filter(|node| self.channels.iter().all(|channel| channel.1 != *node));
        let mut found = BTreeMap::new();
        for entry in entries.collect::<std::collections::BTreeSet<&str>>() {
            self.follow(entry, entry, 1.0, &mut found);
        }
        found
    }

    fn follow(&self, entry: &str, node: &str, product: f64, found: &mut BTreeMap<(String, String), f64>) {
        let mut next = self
            .channels
            .iter()
            .filter(|channel| channel.0 == node)
            .peekable();
        if next.peek().is_none() {
            *found.entry((entry.into(), node.into())).or_default() += product;
        }
        for (_, to, probability) in next {
            self.follow(entry, to, product * probability, found);
        }
    }
}
