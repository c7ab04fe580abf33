//! Privacy scores (White 2021), by enumerating every set of attributes that an adversary may know of each
//! row.

use disclosure::Weights;
use std::collections::BTreeSet;

/// Table whose attributes are numbered from 0.
#[derive(Debug, Clone)]
pub struct Table {
    /// Attributes of every row, one bit each.
    pub rows: Vec<u32>,
    /// Weights of every attribute.
    pub weights: Vec<Weights>,
}

/// Inference from known attributes.
#[derive(Debug, Clone)]
pub struct Inference {
    /// Known attributes, in ascending order.
    pub known: Vec<usize>,
    /// Harmful attributes that are inferred, in ascending order, each with the share of the rows with `known`
    /// that have it.
    pub inferred: Vec<(usize, f64)>,
    /// Number of rows that have all known attributes.
    pub support: u64,
    /// Likelihood times danger.
    pub weight: f64,
}

/// Cell that can be blanked.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// Row that it is in.
    pub row: usize,
    /// Attributes that the row then lacks.
    pub lost: u32,
    /// Attributes that are then unknown in the row.
    pub unknown: u32,
}

impl Table {
    /// Returns a table whose rows are given as words. Each letter is an attribute, `a` is attribute 0. A
    /// weight is a likelihood and a danger.
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

    /// Returns the attributes in a set.
    pub fn attributes(&self, set: u32) -> impl Iterator<Item = usize> + use<> {
        (0..self.weights.len()).filter(move |x| set >> x & 1 == 1)
    }

    /// Returns the number of rows that have these attributes.
    pub fn support(&self, set: u32) -> u64 {
        self.rows.iter().filter(|&row| row & set == set).count() as u64
    }

    /// Returns the other attributes that all rows with `known` have (Definition 3.2). Some row must have
    /// `known`.
    pub fn inferred(&self, known: u32) -> u32 {
        let having = self.rows.iter().filter(|&row| row & known == known);
        having.fold(u32::MAX, |closure, row| closure & row) & !known
    }

    /// Returns the inference from `known` to attributes in `among` (section 3.4). An attribute counts as
    /// inferred if at least a share `min_confidence` of the rows with `known` have it, and its danger is
    /// multiplied by that share. With a share of 1, this is Definition 3.2.
    pub fn inference(&self, known: u32, among: u32, constant: f64, min_confidence: f64) -> Inference {
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
        Inference {
            known: self.attributes(known).collect(),
            inferred,
            support,
            weight: likelihood * danger / (constant + danger),
        }
    }

    /// Returns the weight of the certain inference from `known`, which some row must have (Definitions 3.1,
    /// 3.3 and 3.4).
    pub fn weight(&self, known: u32, constant: f64) -> f64 {
        self.inference(known, u32::MAX, constant, 1.0).weight
    }

    /// Returns the score of each row: the largest weight of all subsets of its attributes (Definition 3.1,
    /// with shares of rows as in section 3.4).
    pub fn scores(&self, constant: f64, min_confidence: f64) -> Vec<f64> {
        let worst = |&row: &u32| {
            subsets(row)
                .map(|known| self.inference(known, row, constant, min_confidence).weight)
                .fold(0.0, f64::max)
        };
        self.rows.iter().map(worst).collect()
    }

    /// Returns the score of each row if some values are unknown. `unknown` has, for each row, the attributes of
    /// which nobody knows whether the row has them: all those of a column that is NULL in the row. A boolean that
    /// is false and an array without an element are known not to have the attribute.
    ///
    /// An attribute of the row counts as inferred if at least a share `min_confidence` of those rows with the
    /// known attributes in which it is not unknown have it, and its danger is multiplied by that share. If nothing
    /// is unknown, these are the scores of [`scores`](Self::scores).
    pub fn scores_with_unknown(&self, unknown: &[u32], constant: f64, min_confidence: f64) -> Vec<f64> {
        let confidence = |known: u32, x: usize| {
            let rows = self.rows.iter().zip(unknown);
            let telling = rows.filter(|&(row, unknown)| row & known == known && unknown >> x & 1 == 0);
            self.support(known | 1 << x) as f64 / telling.count() as f64
        };
        let weight = |row: u32, known: u32| {
            let likelihood: f64 = self
                .attributes(known)
                .map(|x| self.weights[x].likelihood)
                .product();
            let danger: f64 = self
                .attributes(row & !known)
                .map(|x| (confidence(known, x), self.weights[x].danger))
                .filter(|&(confidence, _)| confidence >= min_confidence)
                .map(|(confidence, danger)| confidence * danger)
                .sum();
            likelihood * danger / (constant + danger)
        };
        let worst = |&row: &u32| subsets(row).map(|known| weight(row, known)).fold(0.0, f64::max);
        self.rows.iter().map(worst).collect()
    }

    /// Returns the smallest number of cells to blank so that all scores of
    /// [`scores_with_unknown`](Self::scores_with_unknown) are below the threshold, by trying all sets of cells.
    /// `None` if no set will do.
    pub fn fewest_blanks(
        &self,
        unknown: &[u32],
        cells: &[Cell],
        threshold: f64,
        constant: f64,
        min_confidence: f64,
    ) -> Option<u32> {
        let holds = |blanked: u32| {
            let (mut table, mut unknown) = (self.clone(), unknown.to_vec());
            for cell in (0..cells.len()).filter(|cell| blanked >> cell & 1 == 1) {
                let Cell {
                    row,
                    lost,
                    unknown: then,
                } = cells[cell];
                table.rows[row] &= !lost;
                unknown[row] |= then;
            }
            let scores = table.scores_with_unknown(&unknown, constant, min_confidence);
            scores.iter().all(|&score| score < threshold * (1.0 - 1e-11))
        };
        let sets = 0..1_u32 << cells.len();
        sets.filter(|&blanked| holds(blanked)).map(u32::count_ones).min()
    }

    /// Returns all inferences with a positive weight of at least `min_weight` whose known set is free:
    /// without any one of its attributes, more rows have the rest. The inferences with the largest weight
    /// come first and, of these, those with the fewest known attributes.
    pub fn inferences(&self, constant: f64, min_confidence: f64, min_weight: f64) -> Vec<Inference> {
        let sets: BTreeSet<u32> = self.rows.iter().flat_map(|&row| subsets(row)).collect();
        let is_free = |known: u32| {
            self.attributes(known)
                .all(|x| self.support(known & !(1 << x)) > self.support(known))
        };
        let mut inferences: Vec<Inference> = sets
            .into_iter()
            .filter(|&known| is_free(known))
            .map(|known| self.inference(known, u32::MAX, constant, min_confidence))
            .filter(|inference| inference.weight > 0.0 && inference.weight * (1.0 + 1e-12) >= min_weight)
            .collect();
        let rounded = |inference: &Inference| (inference.weight * 1e11).round() as u64;
        inferences.sort_by(|a, b| {
            let order = rounded(b).cmp(&rounded(a));
            order.then((a.known.len(), &a.known).cmp(&(b.known.len(), &b.known)))
        });
        inferences
    }

    /// Returns whether a row with exactly these attributes is a decoy (Theorem 6.5): for each of them, some row has
    /// all others but not that one.
    pub fn is_decoy(&self, set: u32) -> bool {
        self.attributes(set)
            .all(|x| self.rows.iter().any(|&row| row & set == set & !(1 << x)))
    }

    /// Returns whether a set is a hole (section 6.2): no row has it, but for each of its attributes some row
    /// has the rest.
    pub fn is_hole(&self, set: u32) -> bool {
        let is_had = |set| self.support(set) > 0;
        !is_had(set) && self.attributes(set).all(|x| is_had(set & !(1 << x)))
    }
}

/// Returns the information in each of these values, in bits: −log2 of the share of the values that are equal to it.
/// `None` is no value, and tells nothing.
pub fn information<T: PartialEq>(values: &[Option<T>]) -> Vec<f64> {
    let count = |value: &T| values.iter().flatten().filter(|&other| other == value).count() as f64;
    let all = values.iter().flatten().count() as f64;
    let bits = |value: &Option<T>| value.as_ref().map_or(0.0, |value| -(count(value) / all).log2());
    values.iter().map(bits).collect()
}

/// Returns all subsets of a set of attributes, including itself and the empty set.
pub fn subsets(set: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(set), move |subset| {
        subset.checked_sub(1).map(|next| next & set)
    })
}
