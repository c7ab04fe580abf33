//! The rules of a table against their definition.

use disclosure::classes::Classes;
use disclosure::inference::{Attribute, Column, Meaning, PackedTable, RuleSettings, Rules, Settings, rules};
use disclosure::{Control, Weights};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::time::Duration;

/// Rows of attributes, with weights by column.
#[derive(Debug, Clone)]
struct Table {
    rows: Vec<BTreeSet<Attribute>>,
    weights: Vec<Vec<Weights>>,
    /// Whether the only column is one of sets.
    of_sets: bool,
}

#[derive(Debug, Clone)]
struct Rule {
    known: Vec<Attribute>,
    inferred: Vec<(Attribute, f64)>,
    support: u64,
    weight: f64,
}

impl Table {
    /// Rows as words of letters, a for the first element of one set column.
    fn of_words(rows: &[&str], weights: Vec<Weights>) -> Self {
        let attribute = |letter: u8| Attribute {
            column: 0,
            index: u32::from(letter - b'a'),
        };
        Table {
            rows: rows
                .iter()
                .map(|word| word.bytes().map(attribute).collect())
                .collect(),
            weights: vec![weights],
            of_sets: true,
        }
    }

    fn weights_of(&self, attribute: &Attribute) -> Weights {
        self.weights[attribute.column as usize][attribute.index as usize]
    }

    fn support(&self, set: &BTreeSet<Attribute>) -> u64 {
        self.rows.iter().filter(|row| set.is_subset(row)).count() as u64
    }

    fn rule(&self, known: &BTreeSet<Attribute>, constant: f64, min_confidence: f64) -> Rule {
        let support = self.support(known);
        let all: BTreeSet<Attribute> = self.rows.iter().flatten().copied().collect();
        let unknown = all.difference(known).map(|&attribute| {
            let mut both = known.clone();
            both.insert(attribute);
            (attribute, self.support(&both) as f64 / support as f64)
        });
        let inferred: Vec<(Attribute, f64)> = unknown
            .filter(|(attribute, confidence)| {
                *confidence >= min_confidence && self.weights_of(attribute).danger > 0.0
            })
            .collect();
        let likelihood: f64 = known.iter().map(|x| self.weights_of(x).likelihood).product();
        let danger: f64 = inferred
            .iter()
            .map(|(x, share)| share * self.weights_of(x).danger)
            .sum();
        Rule {
            known: known.iter().copied().collect(),
            inferred,
            support,
            weight: likelihood * danger / (constant + danger),
        }
    }

    fn is_free(&self, known: &BTreeSet<Attribute>) -> bool {
        known.iter().all(|x| {
            let mut rest = known.clone();
            rest.remove(x);
            self.support(&rest) > self.support(known)
        })
    }

    /// All rules, sorted as they are reported.
    fn rules(&self, constant: f64, min_confidence: f64, min_weight: f64) -> Vec<Rule> {
        let sets: BTreeSet<BTreeSet<Attribute>> = self.rows.iter().flat_map(subsets).collect();
        let free = sets.iter().filter(|known| self.is_free(known));
        let mut rules: Vec<Rule> = free
            .map(|known| self.rule(known, constant, min_confidence))
            .filter(|rule| rule.weight > 0.0 && rule.weight * (1.0 + 1e-12) >= min_weight)
            .collect();
        let rounded = |rule: &Rule| (rule.weight * 1e11).round() as u64;
        rules.sort_by(|a, b| {
            let order = rounded(b).cmp(&rounded(a));
            order.then((a.known.len(), &a.known).cmp(&(b.known.len(), &b.known)))
        });
        rules
    }

    fn population(&self) -> PackedTable {
        let mut distinct: Vec<&BTreeSet<Attribute>> = Vec::new();
        let columns = self.weights.len();
        let mut classes = Classes::new(columns);
        for row in &self.rows {
            if self.of_sets {
                let place = distinct
                    .iter()
                    .position(|other| *other == row)
                    .unwrap_or_else(|| {
                        distinct.push(row);
                        distinct.len() - 1
                    });
                classes.insert_many(&[place as u32 + 1], 1).unwrap();
            } else {
                let mut codes = vec![0; columns];
                row.iter().for_each(|x| codes[x.column as usize] = x.index + 1);
                classes.insert_many(&codes, 1).unwrap();
            }
        }
        let sets = || {
            distinct
                .iter()
                .map(|row| row.iter().map(|x| x.index).collect())
                .collect()
        };
        let column = |weights: &Vec<Weights>| Column {
            attributes: weights.clone(),
            meaning: match self.of_sets {
                true => Meaning::Set(sets()),
                false => Meaning::One((0..weights.len() as u32).map(Some).collect()),
            },
        };
        let columns: Vec<Column> = self.weights.iter().map(column).collect();
        PackedTable::new(&classes, &columns, &Control::new()).unwrap()
    }
}

fn subsets(row: &BTreeSet<Attribute>) -> Vec<BTreeSet<Attribute>> {
    row.iter().fold(vec![BTreeSet::new()], |subsets, &attribute| {
        let with = subsets.iter().map(|subset| {
            let mut with = subset.clone();
            with.insert(attribute);
            with
        });
        subsets.iter().cloned().chain(with).collect()
    })
}

fn find(table: &Table, settings: &Settings, min_weight: f64, most: usize) -> Rules {
    let wanted = RuleSettings { min_weight, most };
    rules(&table.population(), settings, &wanted, &Control::new()).unwrap()
}

fn assert_same(found: &Rules, expected: &[Rule]) {
    assert!(found.complete);
    let known = |rules: &[Rule]| rules.iter().map(|rule| rule.known.clone()).collect::<Vec<_>>();
    let found_known: Vec<_> = found.rules.iter().map(|rule| rule.known.clone()).collect();
    assert_eq!(found_known, known(expected));
    for (found, expected) in found.rules.iter().zip(expected) {
        assert!((found.weight() - expected.weight).abs() <= 1e-12);
        assert_eq!(found.support, expected.support);
        let inferred: Vec<_> = found
            .inferred
            .iter()
            .map(|y| (y.attribute, y.confidence))
            .collect();
        assert_eq!(inferred, expected.inferred);
    }
}

fn words(rules: &Rules) -> Vec<String> {
    let letter = |x: &Attribute| char::from(b'a' + x.index as u8);
    let rule = |rule: &disclosure::inference::Inference| {
        let known: String = rule.known.iter().map(letter).collect();
        let inferred: String = rule.inferred.iter().map(|y| letter(&y.attribute)).collect();
        format!("{known}>{inferred}")
    };
    rules.rules.iter().map(rule).collect()
}

const CERTAIN: Settings = Settings {
    constant: 1.0,
    min_confidence: 1.0,
    budget: None,
    search: disclosure::inference::Search::Automatic,
};

#[test]
fn an_intersection_infers_itself() {
    // White, Example 6.2: A ⇒ B and B ⇒ A; here everybody has both.
    let table = Table::of_words(&["abc", "abd"], vec![Weights::UNLABELLED; 4]);
    assert_eq!(words(&find(&table, &CERTAIN, 0.0, 10)), [">ab", "c>ab", "d>ab"]);
    assert_eq!(words(&find(&table, &CERTAIN, 0.0, 2)), [">ab", "c>ab"]);
    assert_eq!(words(&find(&table, &CERTAIN, 2.0 / 3.0, 10)).len(), 3);
    assert!(find(&table, &CERTAIN, 0.7, 10).rules.is_empty());
    // With others that have only one of them, there is an inference from A, and none from nothing.
    let table = Table::of_words(&["abc", "abd", "b"], vec![Weights::UNLABELLED; 4]);
    assert_eq!(
        words(&find(&table, &CERTAIN, 0.0, 10)),
        ["c>ab", "d>ab", ">b", "a>b"]
    );
}

/// White, Example 4.13: the rows between a set and the empty one lack ab, bc, bdf and ef of it; what has to be known
/// for all of it are the minimal sets that meet each of these.
#[test]
fn minimal_sets_that_infer_everything() {
    let table = Table::of_words(
        &["abcdef", "cdef", "adef", "ace", "abcd"],
        vec![Weights::UNLABELLED; 6],
    );
    let rules = find(&table, &CERTAIN, 0.0, 100);
    let everything = |rule: &&String| rule.len() == "abcdef>".len();
    let mut known: Vec<String> = words(&rules).iter().filter(everything).cloned().collect();
    known.sort();
    assert_eq!(known, ["acde>bf", "acf>bde", "be>acdf", "bf>acde"]);
}

#[test]
fn shares_of_rows_count_where_they_suffice() {
    let table = Table::of_words(&["ab", "ac", "ab"], vec![Weights::UNLABELLED; 3]);
    let settings = Settings {
        min_confidence: 0.3,
        ..CERTAIN
    };
    let found = find(&table, &settings, 0.0, 1);
    assert_eq!(words(&found), [">abc"]);
    assert!((found.rules[0].weight() - 2.0 / 3.0).abs() < 1e-12);
}

#[test]
fn nothing_asked_for_and_nothing_there() {
    let table = Table::of_words(&["ab"], vec![Weights::UNLABELLED; 2]);
    assert_eq!(find(&table, &CERTAIN, 0.0, 0).rules, []);
    let empty = Table::of_words(&[], vec![Weights::UNLABELLED; 2]);
    assert!(find(&empty, &CERTAIN, 0.0, 5).complete);
}

#[test]
fn weights_are_between_0_and_1() {
    let table = Table::of_words(&["ab"], vec![Weights::UNLABELLED; 2]);
    for min_weight in [-0.1, 1.1, f64::NAN] {
        let wanted = RuleSettings { min_weight, most: 1 };
        let error = rules(&table.population(), &CERTAIN, &wanted, &Control::new()).unwrap_err();
        assert_eq!(error.to_string(), "min_weight: must be between 0 and 1");
    }
}

#[test]
fn without_time_it_says_so_and_cancelling_is_an_error() {
    let table = Table::of_words(&["abc", "abd", "b"], vec![Weights::UNLABELLED; 4]);
    let settings = Settings {
        budget: Some(Duration::ZERO),
        ..CERTAIN
    };
    assert!(!find(&table, &settings, 0.0, 10).complete);
    let control = Control::new();
    control.cancel();
    let wanted = RuleSettings {
        min_weight: 0.0,
        most: 10,
    };
    assert!(rules(&table.population(), &CERTAIN, &wanted, &control).is_err());
}

fn weights() -> impl Strategy<Value = Weights> {
    let weight = || prop_oneof![2 => Just(0.0), 3 => Just(1.0), 4 => (0u32..=20).prop_map(|weight| f64::from(weight) / 20.0)];
    (weight(), weight()).prop_map(|(likelihood, danger)| Weights { likelihood, danger })
}

fn of_column(values: usize) -> impl Strategy<Value = Vec<Weights>> {
    let quasi_identifier = Weights {
        likelihood: 1.0,
        danger: 0.0,
    };
    let sensitive = Weights {
        likelihood: 0.0,
        danger: 1.0,
    };
    prop_oneof![
        Just(vec![quasi_identifier; values]),
        Just(vec![sensitive; values]),
        Just(vec![Weights::UNLABELLED; values]),
        prop::collection::vec(weights(), values)
    ]
}

fn a_table() -> impl Strategy<Value = Table> {
    let sets = (1usize..=7).prop_flat_map(|elements| {
        let rows = prop::collection::vec(0u32..1 << elements, 0..12);
        (rows, of_column(elements)).prop_map(move |(rows, weights)| {
            let row = |bits: u32| {
                let elements = (0..elements as u32).filter(move |x| bits >> x & 1 == 1);
                elements.map(|index| Attribute { column: 0, index }).collect()
            };
            Table {
                rows: rows.into_iter().map(row).collect(),
                weights: vec![weights],
                of_sets: true,
            }
        })
    });
    let columns = prop::collection::vec((1u32..=4, 0u32..=1), 1..=5).prop_flat_map(|columns| {
        let codes: Vec<_> = columns.iter().map(|&(values, first)| first..=values).collect();
        let weights: Vec<_> = columns
            .iter()
            .map(|&(values, _)| of_column(values as usize))
            .collect();
        (prop::collection::vec(codes, 0..25), weights).prop_map(|(rows, weights)| {
            let row = |codes: Vec<u32>| {
                let present = (0..).zip(codes).filter(|&(_, code)| code > 0);
                present
                    .map(|(column, code)| Attribute {
                        column,
                        index: code - 1,
                    })
                    .collect()
            };
            Table {
                rows: rows.into_iter().map(row).collect(),
                weights,
                of_sets: false,
            }
        })
    });
    prop_oneof![sets, columns]
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 4_000,
        rng_seed: proptest::test_runner::RngSeed::Fixed(2021),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn rules_are_as_defined(
        table in a_table(),
        constant in prop_oneof![Just(1.0), Just(0.1), Just(7.5)],
        min_confidence in prop_oneof![3 => Just(1.0), 1 => Just(0.9), 1 => Just(0.6), 1 => Just(0.3), 1 => Just(0.01)],
        most in prop_oneof![Just(usize::MAX), 1usize..30],
        threshold in any::<prop::sample::Index>(),
    ) {
        let settings = Settings { constant, min_confidence, ..CERTAIN };
        let all = table.rules(constant, min_confidence, 0.0);
        assert_same(&find(&table, &settings, 0.0, most), &all[..most.min(all.len())]);
        if !all.is_empty() {
            // Exactly the weight of a rule: that one belongs to them.
            let min_weight = threshold.get(&all).weight;
            let heavy = table.rules(constant, min_confidence, min_weight);
            assert_same(&find(&table, &settings, min_weight, most), &heavy[..most.min(heavy.len())]);
        }
    }
}
