//! Compares privacy scores with their definition, on tables from the fuzzer. The first byte encodes the
//! number of attributes and the algorithm. Then follow a likelihood and a danger per attribute. All other
//! bytes are rows, with one attribute per bit.
#![no_main]

use disclosure::classes::Classes;
use disclosure::inference::{scores, Algorithm, AttributesOfValue, Column, Nulls, PackedTable, Settings};
use disclosure::{Control, Weights};
use libfuzzer_sys::fuzz_target;
use reference::inference::Table;

fuzz_target!(|data: &[u8]| {
    let Some((&first, data)) = data.split_first() else {
        return;
    };
    let attributes = 1 + usize::from(first % 8);
    let algorithm = [Algorithm::Together, Algorithm::RowByRow][usize::from(first / 8 % 2)];
    if data.len() < 2 * attributes {
        return;
    }
    let (weights, rows) = data.split_at(2 * attributes);
    // Many weights are exactly 0 or 1, because these are special cases.
    let weight = |byte: u8| (f64::from(byte) / 200.0 - 0.1).clamp(0.0, 1.0);
    let weights: Vec<Weights> = weights
        .chunks(2)
        .map(|pair| Weights { likelihood: weight(pair[0]), danger: weight(pair[1]) })
        .collect();
    let mask = u8::MAX >> (8 - attributes);
    let rows: Vec<u8> = rows.iter().take(60).map(|row| row & mask).collect();

    let mut classes = Classes::new(1);
    for &row in &rows {
        classes.insert(&[u32::from(row) + 1], 1).unwrap();
    }
    let elements = |set: u8| (0..attributes as u32).filter(|bit| set >> bit & 1 == 1).collect();
    let column = Column {
        attributes: weights.clone(),
        attributes_of_value: AttributesOfValue::Set((0..=u8::MAX).map(elements).collect()),
        nulls: Nulls::Absent,
    };
    let packed = PackedTable::new(&classes, &[column], &Control::new()).unwrap();
    let settings = Settings { algorithm, ..Settings::default() };
    let found = scores(&packed, &settings, &Control::new()).unwrap();
    assert!(found.exact());

    let table = Table { rows: rows.into_iter().map(u32::from).collect(), weights };
    for (row, score) in table.rows.iter().zip(table.scores(1.0, 1.0)) {
        let class = (0..classes.len()).find(|&class| classes.codes(class)[0] == row + 1).unwrap();
        assert!((found.lower[packed.row_of_class(class)] - score).abs() < 1e-9);
    }
});
