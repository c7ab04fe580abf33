//! Privacy scores (White 2021): every set of attributes that an adversary may know of every row.

use disclosure::Weights;
use std::collections::BTreeSet;

/// A table of attributes, numbered from 0.
#[derive(Debug, Clone)]
pub struct Table {
    /// The attributes of every row, one per bit.
    pub rows: Vec<u32>,
    /// The weights of every attribute.
    pub weights: Vec<Weights>,
}

/// What follows from knowing some attributes.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The attributes that are known, ascending.
    pub known: Vec<usize>,
    /// The attributes that are inferred and hurt, ascending, and the share of the rows with `known` that have them.
    pub inferred: Vec<(usize, f64)>,
    /// How many rows have what is known.
    pub support: u64,
    /// Likelihood times danger.
    pub weight: f64,
}

impl Table {
    /// Rows as words of letters, a for attribute 0. Weights are likelihood and danger.
    pub fn of_words(rows: &[&str], weights: &[(f64, f64)]) -> Self {
        let set = |word: &&str| word.bytes().fold(0, |set, letter| set | 1 << (letter - b'a'));
        let weights = weights
            .iter()
            .map(|&(likelihood, danger)| Weights { likelihood, danger });
        Table {
            rows: rows.iter().map(set).collect(),
            weights: weights.collect(),
        }
    }

    /// The attributes in a set.
    pub fn attributes(&self, set: u32) -> impl Iterator<Item = usize> + use<> {
        (0..self.weights.len()).filter(move |x| set >> x & 1 == 1)
    }

    /// How many rows have these attributes.
    pub fn support(&self, set: u32) -> u64 {
        self.rows.iter().filter(|&row| row & set == set).count() as u64
    }

    /// Definition 3.2: what all rows with `known` have besides, if there is such a row.
    pub fn inferred(&self, known: u32) -> u32 {
        let having = self.rows.iter().filter(|&row| row & known == known);
        having.fold(u32::MAX, |closure, row| closure & row) & !known
    }

    /// Section 3.4: what a share of at least `min_confidence` of the rows with `known` have counts as inferred, times
    /// that share. With a share of 1 that is Definition 3.2.
    pub fn rule(&self, known: u32, among: u32, constant: f64, min_confidence: f64) -> Rule {
        let support = self.support(known);
        let inferred: Vec<(usize, f64)> = self
            .attributes(among & !known)
            .map(|x| (x, self.support(known | 1 << x) as f64 / support as f64))
            .filter(|&(x, confidence)| confidence >= min_confidence && self.weights[x].danger > 0.0)
            .collect();
        let likelihood: f64 = self
            .attributes(known)
            .map(|x| self.weights[x].likelihood)
            .product();
        let danger: f64 = inferred
            .iter()
            .map(|&(x, confidence)| confidence * self.weights[x].danger)
            .sum();
        Rule {
            known: self.attributes(known).collect(),
            inferred,
            support,
            weight: likelihood * danger / (constant + danger),
        }
    }

    /// Definitions 3.1, 3.3 and 3.4: the weight of what certainly follows from `known`, which some row has.
    pub fn weight(&self, known: u32, constant: f64) -> f64 {
        self.rule(known, u32::MAX, constant, 1.0).weight
    }

    /// Definition 3.1, with shares of rows as in section 3.4: the worst of all subsets of each row.
    pub fn scores(&self, constant: f64, min_confidence: f64) -> Vec<f64> {
        let worst = |&row: &u32| {
            subsets(row)
                .map(|known| self.rule(known, row, constant, min_confidence).weight)
                .fold(0.0, f64::max)
        };
        self.rows.iter().map(worst).collect()
    }

    /// All rules with a weight of at least `min_weight` from which nothing that is known can be left out without more
    /// rows having the rest; the heaviest first, then those that take the least knowledge.
    pub fn rules(&self, constant: f64, min_confidence: f64, min_weight: f64) -> Vec<Rule> {
        let sets: BTreeSet<u32> = self.rows.iter().flat_map(|&row| subsets(row)).collect();
        let is_free = |known: u32| {
            self.attributes(known)
                .all(|x| self.support(known & !(1 << x)) > self.support(known))
        };
        let mut rules: Vec<Rule> = sets
            .into_iter()
            .filter(|&known| is_free(known))
            .map(|known| self.rule(known, u32::MAX, constant, min_confidence))
            .filter(|rule| rule.weight > 0.0 && rule.weight * (1.0 + 1e-12) >= min_weight)
            .collect();
        let rounded = |rule: &Rule| (rule.weight * 1e11).round() as u64;
        rules.sort_by(|a, b| {
            let order = rounded(b).cmp(&rounded(a));
            order.then((a.known.len(), &a.known).cmp(&(b.known.len(), &b.known)))
        });
        rules
    }

    /// Section 6.2: no row has the set, but each of its facets is had by some row.
    pub fn is_hole(&self, set: u32) -> bool {
        let is_had = |set| self.support(set) > 0;
        !is_had(set) && self.attributes(set).all(|x| is_had(set & !(1 << x)))
    }
}

/// All subsets of a set of attributes, itself and the empty one among them.
pub fn subsets(set: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(set), move |subset| {
        subset.checked_sub(1).map(|next| next & set)
    })
}
