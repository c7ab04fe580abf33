//! Compares scores of tables with unknown values with their definition.

use crate::tables::{a_constant, a_weight, assert_close, config};
use disclosure::classes::Classes;
use disclosure::inference::{
    Attribute, AttributesOfValue, Column, Nulls, PackedTable, Settings, discount_common, scores,
};
use disclosure::{Control, NULL, Weights};
use proptest::prelude::*;
use reference::inference::Table;

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Each value is an attribute.
    Values,
    /// Each value but the last is an attribute. The last is known and no attribute, as false is in a boolean
    /// column.
    ValuesOrNone,
    /// A value is a set of attributes, given by the bits of its code minus 1.
    Sets,
}

#[derive(Debug, Clone)]
pub struct CodedColumn {
    pub kind: Kind,
    pub weights: Vec<Weights>,
    pub nulls: Nulls,
}

impl CodedColumn {
    /// Returns the number of codes besides NULL.
    pub fn codes(&self) -> u32 {
        let attributes = self.weights.len() as u32 - u32::from(self.null_attribute().is_some());
        match self.kind {
            Kind::Values => attributes,
            Kind::ValuesOrNone => attributes + 1,
            Kind::Sets => 1 << attributes,
        }
    }

    fn null_attribute(&self) -> Option<u32> {
        match self.nulls {
            Nulls::Attribute(attribute) => Some(attribute),
            _ => None,
        }
    }

    /// Returns the attributes of a value as bits.
    pub fn set(&self, code: u32) -> u32 {
        match (code, self.kind) {
            (NULL, _) => self.null_attribute().map_or(0, |attribute| 1 << attribute),
            (code, Kind::ValuesOrNone) if code == self.codes() => 0,
            (code, Kind::Sets) => code - 1,
            (code, _) => 1 << (code - 1),
        }
    }

    pub fn column(&self) -> Column {
        let sets = (1..=self.codes()).map(|code| {
            let set = self.set(code);
            (0..u32::BITS).filter(|x| set >> x & 1 == 1).collect::<Vec<u32>>()
        });
        Column {
            attributes: self.weights.clone(),
            attributes_of_value: match self.kind {
                Kind::Sets => AttributesOfValue::Set(sets.collect()),
                _ => AttributesOfValue::One(sets.map(|set| set.first().copied()).collect()),
            },
            nulls: self.nulls,
        }
    }
}

/// Rows of codes.
#[derive(Debug, Clone)]
pub struct Coded {
    pub columns: Vec<CodedColumn>,
    pub rows: Vec<Vec<u32>>,
}

impl Coded {
    /// Returns the columns, the classes of equal rows, and the class of every row.
    pub fn encoded(&self) -> (Vec<Column>, Classes, Vec<u32>) {
        let columns: Vec<Column> = self.columns.iter().map(CodedColumn::column).collect();
        let (mut classes, mut class_of_row) = (Classes::new(columns.len()), Vec::new());
        for row in &self.rows {
            class_of_row.push(classes.insert(row, 1).unwrap());
        }
        (columns, classes, class_of_row)
    }

    /// Returns the packed table, and the distinct row of every row.
    pub fn packed(&self) -> (PackedTable, Vec<usize>) {
        let (columns, classes, class_of_row) = self.encoded();
        let packed = PackedTable::new(&classes, &columns, &Control::new()).unwrap();
        let row_of = |class: u32| packed.row_of_class(class as usize);
        let distinct_of_row = class_of_row.into_iter().map(row_of).collect();
        (packed, distinct_of_row)
    }

    /// Returns the score of every row.
    pub fn scores(&self, settings: &Settings) -> Vec<f64> {
        let (packed, distinct_of_row) = self.packed();
        let found = scores(&packed, settings, &Control::new()).unwrap();
        assert!(found.exact());
        distinct_of_row.into_iter().map(|row| found.lower[row]).collect()
    }

    /// Returns the place of an attribute in the sets of the definition.
    pub fn place(&self, attribute: Attribute) -> usize {
        let before = self.columns[..attribute.column as usize].iter();
        before.map(|column| column.weights.len()).sum::<usize>() + attribute.index as usize
    }

    /// Returns the table of the definition, and the unknown attributes of every row.
    pub fn table(&self) -> (Table, Vec<u32>) {
        let (mut rows, mut unknown) = (vec![0; self.rows.len()], vec![0; self.rows.len()]);
        let mut start = 0;
        for (position, column) in self.columns.iter().enumerate() {
            for (row, codes) in self.rows.iter().enumerate() {
                rows[row] |= column.set(codes[position]) << start;
                if codes[position] == NULL && column.nulls == Nulls::Unknown {
                    unknown[row] |= ((1 << column.weights.len()) - 1) << start;
                }
            }
            start += column.weights.len();
        }
        let weights = self.columns.iter().flat_map(|column| column.weights.clone());
        let weights = weights.collect();
        (Table { rows, weights }, unknown)
    }
}

/// Generates columns of all kinds. Many have the weights of a label.
fn a_column() -> impl Strategy<Value = CodedColumn> {
    let kind = prop_oneof![4 => Just(Kind::Values), 1 => Just(Kind::ValuesOrNone), 1 => Just(Kind::Sets)];
    let nulls = prop_oneof![1 => Just(0), 4 => Just(1), 1 => Just(2)];
    (kind, 1usize..=3, nulls).prop_flat_map(|(kind, values, nulls)| {
        let (size, nulls) = match nulls {
            0 => (values, Nulls::Absent),
            1 => (values, Nulls::Unknown),
            _ => (values + 1, Nulls::Attribute(values as u32)),
        };
        let any = (a_weight(), a_weight()).prop_map(|(likelihood, danger)| Weights { likelihood, danger });
        let all = |likelihood, danger| Just(vec![Weights { likelihood, danger }; size]);
        let weights = prop_oneof![
            4 => all(1.0, 0.0),
            4 => all(0.0, 1.0),
            1 => all(1.0, 1.0),
            2 => prop::collection::vec(any, size),
        ];
        weights.prop_map(move |weights| CodedColumn { kind, weights, nulls })
    })
}

pub fn a_table() -> impl Strategy<Value = Coded> {
    prop::collection::vec(a_column(), 1..=4).prop_flat_map(|columns| {
        let codes: Vec<_> = columns
            .iter()
            .map(|column| prop_oneof![1 => Just(NULL), 4 => 1..=column.codes()])
            .collect();
        // Few different rows, so that shares are high.
        let rows = prop::collection::vec(codes, 1..10).prop_flat_map(|different| {
            let choices = prop::collection::vec(0..different.len(), 0..24);
            choices.prop_map(move |choices| choices.iter().map(|&row| different[row].clone()).collect())
        });
        rows.prop_map(move |rows| Coded {
            columns: columns.clone(),
            rows,
        })
    })
}

pub fn a_confidence() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), Just(0.9), Just(0.75), Just(0.5), Just(0.3)]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn unknown_values_score_as_defined(
        coded in a_table(), constant in a_constant(), min_confidence in a_confidence(),
    ) {
        let found = coded.scores(&Settings { constant, min_confidence, ..Settings::default() });
        let (table, unknown) = coded.table();
        let expected = table.scores_with_unknown(&unknown, constant, min_confidence);
        for (found, expected) in found.into_iter().zip(expected) {
            assert_close(found, expected);
        }
    }

    #[test]
    fn without_unknown_values_the_definitions_agree(coded in a_table(), min_confidence in a_confidence()) {
        let (table, unknown) = coded.table();
        let nothing = vec![0; unknown.len()];
        let scores = table.scores(1.0, min_confidence);
        for (score, other) in scores.into_iter().zip(table.scores_with_unknown(&nothing, 1.0, min_confidence)) {
            assert_close(score, other);
        }
    }

    /// NULL in a sensitive column is no protection for others: certain inferences stay certain.
    #[test]
    fn blanking_a_value_lowers_no_other_score(coded in a_table(), blanked in any::<prop::sample::Index>()) {
        let mut coded = coded;
        for column in &mut coded.columns {
            let is_sensitive = column.weights.iter().all(|weights| weights.likelihood == 0.0);
            if is_sensitive && column.null_attribute().is_none() {
                column.nulls = Nulls::Unknown;
            }
        }
        prop_assume!(!coded.rows.is_empty());
        let before = coded.scores(&Settings::default());
        let row = blanked.index(coded.rows.len());
        let mut after = coded.clone();
        for (column, code) in coded.columns.iter().zip(&mut after.rows[row]) {
            if column.nulls == Nulls::Unknown && column.weights.iter().all(|weights| weights.likelihood == 0.0) {
                *code = NULL;
            }
        }
        let after = after.scores(&Settings::default());
        for other in (0..after.len()).filter(|&other| other != row) {
            prop_assert!(after[other] >= before[other] - 1e-9);
        }
    }
}

const QUASI: Weights = Weights {
    likelihood: 1.0,
    danger: 0.0,
};
const SENSITIVE: Weights = Weights {
    likelihood: 0.0,
    danger: 1.0,
};

/// Returns a table of ZIP codes and diagnoses.
fn patients(diagnoses: u32, nulls: Nulls, rows: Vec<Vec<u32>>) -> Coded {
    let column = |values: u32, weights, nulls| CodedColumn {
        kind: Kind::Values,
        weights: vec![weights; values as usize],
        nulls,
    };
    let zips = rows.iter().map(|row| row[0]).max().unwrap_or(0);
    let diagnoses = diagnoses + u32::from(matches!(nulls, Nulls::Attribute(_)));
    Coded {
        columns: vec![
            column(zips, QUASI, Nulls::Absent),
            column(diagnoses, SENSITIVE, nulls),
        ],
        rows,
    }
}

/// Settings of policies.
const NEARLY_CERTAIN: f64 = 0.9;

fn maximum(coded: &Coded, min_confidence: f64) -> f64 {
    let settings = Settings {
        min_confidence,
        ..Settings::default()
    };
    crate::tables::maximum(&coded.scores(&settings))
}

#[test]
fn one_null_among_a_thousand_does_not_protect_the_others() {
    let table = |nulls, last| {
        let mut rows = vec![vec![1, 1]; 999];
        rows.push(vec![1, last]);
        patients(1, nulls, rows)
    };
    for min_confidence in [NEARLY_CERTAIN, 1.0] {
        assert_close(maximum(&table(Nulls::Unknown, 1), min_confidence), 0.5);
        assert_close(maximum(&table(Nulls::Unknown, NULL), min_confidence), 0.5);
    }
    assert_close(maximum(&table(Nulls::Absent, NULL), 1.0), 0.0); // as White defines it
    let share = 0.999;
    let as_value = table(Nulls::Attribute(1), NULL);
    assert_close(maximum(&as_value, NEARLY_CERTAIN), share / (1.0 + share));
    assert_close(maximum(&as_value, 1.0), 0.0);
}

/// In each of 20 ZIP codes, all 50 patients have the same of three diagnoses.
#[test]
fn blanking_two_percent_does_not_make_an_unsafe_table_safe() {
    let rows: Vec<Vec<u32>> = (0..1_000)
        .map(|row| vec![1 + row % 20, 1 + row % 20 % 3])
        .collect();
    let complete = patients(3, Nulls::Unknown, rows);
    let mut blanked = complete.clone();
    let mut state = 1_u64;
    for row in &mut blanked.rows {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        if (state >> 33).is_multiple_of(50) {
            row[1] = NULL;
        }
    }
    let nulls = blanked.rows.iter().filter(|row| row[1] == NULL).count();
    assert!((10..40).contains(&nulls));
    for min_confidence in [NEARLY_CERTAIN, 1.0] {
        assert_close(maximum(&complete, min_confidence), 0.5);
        assert_close(maximum(&blanked, min_confidence), 0.5);
    }
}

/// A boolean that is false is known. A boolean that is NULL is not.
#[test]
fn false_is_known_and_null_is_not() {
    let table = |others: u32| Coded {
        columns: vec![CodedColumn {
            kind: Kind::ValuesOrNone,
            weights: vec![SENSITIVE],
            nulls: Nulls::Unknown,
        }],
        rows: [vec![vec![1]; 8], vec![vec![others]; 2]].concat(),
    };
    assert_close(maximum(&table(2), NEARLY_CERTAIN), 0.0);
    assert_close(maximum(&table(NULL), NEARLY_CERTAIN), 0.5);
}

/// An array without the element lacks it. An array that is NULL may have it.
#[test]
fn an_array_lacks_an_element_and_null_may_have_it() {
    let (with, without) = (2, 1); // the codes of {x} and {}
    let table = |others: u32| Coded {
        columns: vec![CodedColumn {
            kind: Kind::Sets,
            weights: vec![SENSITIVE],
            nulls: Nulls::Unknown,
        }],
        rows: [vec![vec![with]; 8], vec![vec![others]; 2]].concat(),
    };
    assert_close(maximum(&table(without), NEARLY_CERTAIN), 0.0);
    assert_close(maximum(&table(NULL), NEARLY_CERTAIN), 0.5);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn common_values_are_discounted_as_defined(coded in a_table(), min_confidence in a_confidence()) {
        let (mut columns, classes, class_of_row) = coded.encoded();
        discount_common(&classes, &mut columns, &Control::new()).unwrap();
        let packed = PackedTable::new(&classes, &columns, &Control::new()).unwrap();
        let settings = Settings { min_confidence, ..Settings::default() };
        let found = scores(&packed, &settings, &Control::new()).unwrap();
        let (table, unknown) = coded.table();
        // NULL in any column tells nothing about the column, whether it counts as unknown or as absent.
        let is_null = |(code, column): (&u32, &CodedColumn)| *code == NULL && column.null_attribute().is_none();
        let nulls: Vec<u32> = coded.rows.iter().map(|row| {
            let starts = coded.columns.iter().scan(0, |end, column| {
                Some((std::mem::replace(end, *end + column.weights.len()), column))
            });
            let nulls = row.iter().zip(starts).filter(|&(code, (_, column))| is_null((code, column)));
            nulls.fold(0, |set, (_, (start, column))| set | ((1 << column.weights.len()) - 1) << start)
        }).collect();
        let expected = table.with_common_discounted(&nulls).scores_with_unknown(&unknown, 1.0, min_confidence);
        for (class, expected) in class_of_row.into_iter().zip(expected) {
            assert_close(found.lower[packed.row_of_class(class as usize)], expected);
        }
    }
}
