//! Compares the information in cells with its definition.

use crate::tables::{assert_close, config};
use crate::unknown::{Coded, CodedColumn, Kind, a_table};
use disclosure::classes::Classes;
use disclosure::inference::{Attribute, CellInformation, Column, Nulls};
use disclosure::{NULL, Weights};
use proptest::prelude::*;
use reference::inference::information;

fn measured(coded: &Coded) -> CellInformation {
    let columns: Vec<Column> = coded.columns.iter().map(CodedColumn::column).collect();
    let mut classes = Classes::new(columns.len());
    for row in &coded.rows {
        classes.insert(row, 1).unwrap();
    }
    CellInformation::new(&classes, &columns)
}

/// Three of four values are equal: 3 · log2(4/3) + log2(4) bits in all.
#[test]
fn rare_values_tell_more() {
    let column = CodedColumn {
        kind: Kind::Values,
        weights: vec![
            Weights {
                likelihood: 1.0,
                danger: 0.0
            };
            2
        ],
        nulls: Nulls::Unknown,
    };
    let coded = Coded {
        columns: vec![column],
        rows: vec![vec![1], vec![1], vec![1], vec![2], vec![NULL]],
    };
    let measured = measured(&coded);
    let attribute = |index| Attribute { column: 0, index };
    assert_close(measured.of_attribute(attribute(0)), (4.0_f64 / 3.0).log2());
    assert_close(measured.of_attribute(attribute(1)), 2.0);
    assert_close(measured.share(2.0), 2.0 / (3.0 * (4.0_f64 / 3.0).log2() + 2.0));
    assert_close(CellInformation::default().share(0.0), 0.0);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn information_is_as_defined(coded in a_table()) {
        let measured = measured(&coded);
        let mut total = 0.0;
        let check = |is_present: Vec<Option<bool>>, bits: Vec<f64>, attribute: Attribute| {
            for (is_present, bits) in is_present.into_iter().zip(bits) {
                match is_present {
                    Some(true) => assert_close(measured.of_attribute(attribute), bits),
                    Some(false) => assert_close(measured.of_absence(attribute), bits),
                    None => {}
                }
            }
        };
        for (position, column) in coded.columns.iter().enumerate() {
            let value = |row: &Vec<u32>| {
                let is_value = row[position] != NULL || matches!(column.nulls, Nulls::Attribute(_));
                is_value.then(|| column.set(row[position]))
            };
            let values: Vec<Option<u32>> = coded.rows.iter().map(value).collect();
            let attribute = |index: usize| Attribute { column: position as u32, index: index as u32 };
            if column.kind != Kind::Sets {
                let bits = information(&values);
                total += bits.iter().sum::<f64>();
                for x in 0..column.weights.len() {
                    let is_present = |value: &Option<u32>| match (*value)? {
                        0 => Some(false),
                        set => (set >> x & 1 == 1).then_some(true),
                    };
                    check(values.iter().map(is_present).collect(), bits.clone(), attribute(x));
                }
                continue;
            }
            for x in 0..column.weights.len() {
                let has = |value: &Option<u32>| value.map(|set| set >> x & 1 == 1);
                let is_present: Vec<Option<bool>> = values.iter().map(has).collect();
                let bits = information(&is_present);
                total += bits.iter().sum::<f64>();
                check(is_present, bits, attribute(x));
            }
        }
        assert_close(measured.share(total), if total > 0.0 { 1.0 } else { 0.0 });
    }
}
