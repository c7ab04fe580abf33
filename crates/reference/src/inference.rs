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

/// How inferences are weighed.
#[derive(Debug, Clone, Copy)]
pub struct Definition<'a> {
    /// c of Definition 3.4.
    pub constant: f64,
    /// Share of the rows from which on something counts as inferred.
    pub min_confidence: f64,
    /// Whether the share is that of all inferred attributes together, and multiplies the danger of all of
    /// them, as White suggests in section 3.4. Otherwise, every attribute has its own share, which multiplies
    /// its own danger.
    pub joint: bool,
    /// For each row, the attributes of which nobody knows whether the row has them: all those of a column that
    /// is NULL in the row. A boolean that is false and an array without an element are known not to have the
    /// attribute.
    pub unknown: &'a [u32],
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

    /// Returns the share of the rows with `known` that have all of `inferred`. Rows of which that is unknown
    /// are left out: they may lack some of it, but are not known to lack any.
    pub fn confidence(&self, known: u32, inferred: u32, unknown: &[u32]) -> f64 {
        let rows = || {
            self.rows
                .iter()
                .zip(unknown)
                .filter(|(row, _)| *row & known == known)
        };
        let having = rows().filter(|(row, _)| *row & inferred == inferred).count();
        let lacking = rows()
            .filter(|(row, unknown)| inferred & !*row & !*unknown != 0)
            .count();
        having as f64 / (having + lacking) as f64
    }

    /// Returns the inference from `known` to attributes in `among`. With joint confidence, it is the one with the
    /// largest conf(I|K) · dg(I) of all sets I whose confidence is at least `min_confidence`.
    pub fn inference_by(&self, definition: &Definition, known: u32, among: u32) -> Inference {
        let share = |set: u32| self.confidence(known, set, definition.unknown);
        let is_enough = |share: f64| share >= definition.min_confidence;
        let danger = |sum: f64| sum / (definition.constant + sum);
        let harmful = self
            .attributes(among & !known)
            .filter(|&x| self.weights[x].danger > 0.0);
        let harmful: u32 = harmful.map(|x| 1 << x).sum();
        let sum = |set: u32| -> f64 { self.attributes(set).map(|x| self.weights[x].danger).sum() };
        let (inferred, weight) = if definition.joint {
            let sets = subsets(harmful).filter(|&set| set != 0 && is_enough(share(set)));
            let weighed = sets.map(|set| (set, share(set) * danger(sum(set))));
            weighed.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
        } else {
            let inferred = self.attributes(harmful).filter(|x| is_enough(share(1 << x)));
            let inferred: u32 = inferred.map(|x| 1 << x).sum();
            let dangers = self
                .attributes(inferred)
                .map(|x| share(1 << x) * self.weights[x].danger);
            (inferred, danger(dangers.sum()))
        };
        let likelihoods = self.attributes(known).map(|x| self.weights[x].likelihood);
        Inference {
            known: self.attributes(known).collect(),
            inferred: self.attributes(inferred).map(|x| (x, share(1 << x))).collect(),
            support: self.support(known),
            weight: likelihoods.product::<f64>() * weight,
        }
    }

    /// Returns the score of each row: the largest weight of the inferences from all subsets of its attributes to
    /// others of them.
    pub fn scores_by(&self, definition: &Definition) -> Vec<f64> {
        let weight = |row: u32, known: u32| self.inference_by(definition, known, row).weight;
        let worst = |&row: &u32| subsets(row).map(|known| weight(row, known)).fold(0.0, f64::max);
        self.rows.iter().map(worst).collect()
    }

    /// Returns the score of each row if some values are unknown: [`scores_by`](Self::scores_by) with separate
    /// confidence.
    pub fn scores_with_unknown(&self, unknown: &[u32], constant: f64, min_confidence: f64) -> Vec<f64> {
        self.scores_by(&Definition {
            constant,
            min_confidence,
            joint: false,
            unknown,
        })
    }

    /// Returns for each row the smallest number of attributes that have to be known in one of the worst inferences
    /// about it and, of these inferences, the smallest support; `None` if nothing is inferred.
    pub fn fewest_known_by(&self, definition: &Definition) -> Vec<Option<(usize, u64)>> {
        let scores = self.scores_by(definition);
        let fewest = |(&row, &score): (&u32, &f64)| {
            let inferences = subsets(row).map(|known| self.inference_by(definition, known, row));
            inferences
                .filter(|inference| score > 0.0 && inference.weight >= score * (1.0 - 1e-12))
                .map(|inference| (inference.known.len(), inference.support))
                .min()
        };
        self.rows.iter().zip(&scores).map(fewest).collect()
    }

    /// Returns the table with the danger of each attribute multiplied by the share of the rows that lack it, of
    /// those in which it is not `unknown`.
    pub fn with_common_discounted(&self, unknown: &[u32]) -> Self {
        let mut table = self.clone();
        for (x, weights) in table.weights.iter_mut().enumerate() {
            let telling = unknown.iter().filter(|unknown| *unknown >> x & 1 == 0).count();
            if telling > 0 {
                weights.danger *= 1.0 - self.support(1 << x) as f64 / telling as f64;
            }
        }
        table
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
        let definition = Definition {
            constant,
            min_confidence,
            joint: false,
            unknown: &vec![0; self.rows.len()],
        };
        self.inferences_by(&definition, min_weight)
    }

    /// Returns the same for another definition.
    pub fn inferences_by(&self, definition: &Definition, min_weight: f64) -> Vec<Inference> {
        let sets: BTreeSet<u32> = self.rows.iter().flat_map(|&row| subsets(row)).collect();
        let is_free = |known: u32| {
            self.attributes(known)
                .all(|x| self.support(known & !(1 << x)) > self.support(known))
        };
        let all = (1 << self.weights.len()) - 1;
        let mut inferences: Vec<Inference> = sets
            .into_iter()
            .filter(|&known| is_free(known))
            .map(|known| self.inference_by(definition, known, all))
            .filter(|inference| inference.weight > 0.0 && inference.weight * (1.0 + 1e-12) >= min_weight)
            .collect();
        let rounded = |inference: &Inference| (inference.weight * 1e11).round() as u64;
        inferences.sort_by(|a, b| {
            let order = rounded(b).cmp(&rounded(a));
            order.then((a.known.len(), &a.known).cmp(&(b.known.len(), &b.known)))
        });
        inferences
    }

    /// Returns the number of people whom an inference is about: those with a row that has all of `known` and one of
    /// the inferred attributes, or all of these with joint confidence. A row whose person is `None` is about somebody
    /// else than all other rows.
    pub fn people(
        &self,
        definition: &Definition,
        inference: &Inference,
        person_of_row: &[Option<u32>],
    ) -> u64 {
        let set = |attributes: &mut dyn Iterator<Item = usize>| attributes.map(|x| 1u32 << x).sum::<u32>();
        let known = set(&mut inference.known.iter().copied());
        let inferred = set(&mut inference.inferred.iter().map(|&(x, _)| x));
        let is_right = |row: u32| match definition.joint {
            true => row & inferred == inferred,
            false => row & inferred != 0,
        };
        let rows = self.rows.iter().zip(person_of_row);
        let concerned = rows.filter(|&(&row, _)| row & known == known && is_right(row));
        let people: Vec<Option<u32>> = concerned.map(|(_, &person)| person).collect();
        let named: BTreeSet<u32> = people.iter().copied().flatten().collect();
        (named.len() + people.iter().filter(|person| person.is_none()).count()) as u64
    }

    /// Returns the attributes of redundant columns, given the attributes of each column. A column *covers* another if each
    /// attribute of the other that can be known has a harmless counterpart, at least as likely to be known, which exactly
    /// the same rows have. A column is *redundant* if another one covers it and either is not covered by it or comes first.
    pub fn redundant(&self, columns: &[u32]) -> u32 {
        let same_rows = |x: usize, y: usize| self.rows.iter().all(|row| row >> x & 1 == row >> y & 1);
        let is_counterpart = |y: usize, x: usize| {
            let (of_x, of_y) = (self.weights[x], self.weights[y]);
            same_rows(x, y) && of_y.danger == 0.0 && of_y.likelihood >= of_x.likelihood
        };
        let covers = |column: u32, other: u32| {
            self.attributes(other)
                .filter(|&x| self.weights[x].likelihood > 0.0 && self.support(1 << x) > 0)
                .all(|x| self.attributes(column).any(|y| is_counterpart(y, x)))
        };
        let is_redundant = |place: usize| {
            let column = columns[place];
            let mut others = columns.iter().enumerate().filter(|&(other, _)| other != place);
            others.any(|(other, &by)| covers(by, column) && (other < place || !covers(column, by)))
        };
        let redundant = (0..columns.len()).filter(|&place| is_redundant(place));
        redundant.fold(0, |set, place| set | columns[place])
    }

    /// Returns what can be inferred from each known set without attributes that are `redundant`, but from no smaller part
    /// of it, with the number of people whom it is about. An attribute *can be inferred* from a set if at least a share `min_confidence` of the rows with the
    /// set have it. It *follows from fewer* if it can be inferred from a part of the set, and is then left out, and so
    /// is an inference of which nothing is left, or whose weight is less than `min_weight` then. The inferences about
    /// most people come first, then those with the largest weight, and then those with the fewest known attributes.
    pub fn inferences_by_people(
        &self,
        definition: &Definition,
        min_weight: f64,
        redundant: u32,
        person_of_row: &[Option<u32>],
    ) -> Vec<(Inference, u64)> {
        let separate = Definition {
            joint: false,
            ..*definition
        };
        let can_be_inferred = |known: u32| -> u32 {
            let inference = self.inference_by(&separate, known, u32::MAX);
            inference.inferred.iter().map(|&(x, _)| 1u32 << x).sum()
        };
        let follows_from_fewer = |known: u32| {
            let parts = subsets(known).filter(|&part| part != known);
            parts.fold(0, |found, part| found | can_be_inferred(part))
        };
        let sets: BTreeSet<u32> = self
            .rows
            .iter()
            .flat_map(|&row| subsets(row & !redundant))
            .collect();
        let inferences = sets.into_iter().map(|known| {
            let inference = self.inference_by(definition, known, !follows_from_fewer(known));
            let people = self.people(definition, &inference, person_of_row);
            (inference, people)
        });
        let mut inferences: Vec<(Inference, u64)> = inferences
            .filter(|(inference, _)| inference.weight > 0.0 && inference.weight * (1.0 + 1e-12) >= min_weight)
            .collect();
        let rounded = |inference: &Inference| (inference.weight * 1e11).round() as u64;
        inferences.sort_by(|(a, people_of_a), (b, people_of_b)| {
            let order = people_of_b.cmp(people_of_a);
            let order = order.then(rounded(b).cmp(&rounded(a)));
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
