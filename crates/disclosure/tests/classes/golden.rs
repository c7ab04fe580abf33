//! Values that other tools compute, and that papers print.

use crate::tables::assert_close;
use disclosure::classes::{
    By, Classes, Diversity, DiversitySettings, Nulls, Records, Roles, Values, class_diversity, diversity,
    risk_summary,
};
use disclosure::{Control, Encoder, NULL, Rows};

const N: Option<&str> = None;

/// Returns the classes of rows, and the class of each row.
fn classes_of<const W: usize>(rows: &[[Option<u32>; W]]) -> (Classes, Vec<usize>) {
    let mut classes = Classes::new(W);
    let codes = |row: &[Option<u32>; W]| row.map(|value| value.unwrap_or(NULL));
    let of_row = rows
        .iter()
        .map(|row| classes.insert(&codes(row), 1).unwrap() as usize);
    let of_row = of_row.collect();
    (classes, of_row)
}

/// Checks how many rows agree with each row, and the sums of their weights, which are multiples of 0.5.
fn check_frequencies<const W: usize>(
    rows: &[[Option<u32>; W]],
    weights: &[f64],
    fk: &[u64],
    weighted: &[f64],
) {
    let (classes, of_row) = classes_of(rows);
    let sizes = classes.wildcard_sizes(Control::none()).unwrap();
    let mut halves = vec![0_u64; classes.len()];
    for (&class, weight) in of_row.iter().zip(weights) {
        halves[class] += (2.0 * weight) as u64;
    }
    let sums = classes.sum_agreeing(&classes, &halves, Control::none()).unwrap();
    for (row, &class) in of_row.iter().enumerate() {
        assert_eq!((sizes[class], sums[class] as f64 / 2.0), (fk[row], weighted[row]));
    }
}

const WEIGHTS: [f64; 8] = [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0];

fn table_s() -> [[Option<u32>; 3]; 8] {
    [
        [2, 3, 1],
        [3, 3, 3],
        [2, 3, 1],
        [2, 3, 2],
        [3, 3, 1],
        [3, 3, 1],
        [1, 4, 1],
        [2, 3, 1],
    ]
    .map(|row| row.map(Some))
}

#[test]
fn frequencies_of_sdcmicro() {
    let weighted = [108.0, 45.5, 108.0, 17.0, 100.0, 100.0, 123.5, 108.0];
    check_frequencies(&table_s(), &WEIGHTS, &[3, 1, 3, 1, 2, 2, 1, 3], &weighted);
}

#[test]
fn frequencies_of_sdcmicro_with_wildcards() {
    let mut rows = table_s();
    (rows[2][2], rows[6][2]) = (None, None);
    let weighted = [108.0, 45.5, 125.0, 56.0, 100.0, 100.0, 123.5, 108.0];
    check_frequencies(&rows, &WEIGHTS, &[3, 1, 4, 2, 2, 2, 1, 3], &weighted);
    rows[2] = [None; 3];
    rows.iter_mut().for_each(|row| row[2] = None);
    let weighted = [125.0, 184.5, 394.0, 125.0, 184.5, 184.5, 162.5, 125.0];
    check_frequencies(&rows, &WEIGHTS, &[4, 4, 8, 4, 4, 4, 2, 4], &weighted);
    let a = [Some(2), Some(3), None, Some(2), Some(1), None, Some(1), Some(2)].map(|a| [a]);
    let weighted = [133.0, 92.5, 394.0, 133.0, 262.5, 394.0, 262.5, 133.0];
    check_frequencies(&a, &WEIGHTS, &[5, 3, 8, 5, 4, 8, 4, 5], &weighted);
}

#[test]
fn frequencies_of_francdat() {
    let rows = [
        [1, 2, 5, 1],
        [1, 2, 1, 1],
        [1, 2, 1, 1],
        [3, 3, 1, 5],
        [4, 3, 1, 4],
        [4, 3, 1, 1],
        [6, 2, 1, 5],
        [1, 2, 5, 1],
    ];
    let weights = [18.0, 45.5, 39.0, 17.0, 541.0, 8.0, 5.0, 92.0];
    let weighted = [110.0, 84.5, 84.5, 17.0, 541.0, 8.0, 5.0, 110.0];
    let rows = rows.map(|row| row.map(Some));
    check_frequencies(&rows, &weights, &[2, 2, 2, 1, 1, 1, 1, 2], &weighted);
}

#[test]
fn wildcards_of_arx() {
    let (m, f) = (Some(1), Some(2));
    let (a, b) = (Some(4711), Some(4712));
    let rows = [
        [m, a],
        [m, a],
        [m, a],
        [None, a],
        [None, a],
        [f, b],
        [f, None],
        [m, None],
    ];
    let weights = [0.0; 8];
    check_frequencies(&rows, &weights, &[6, 6, 6, 7, 7, 2, 4, 6], &weights);
    let (age, n, s, x) = (Some(68), Some(1), Some(2), None);
    let rows = [
        [x, f, n],
        [age, f, n],
        [age, x, n],
        [x, x, n],
        [x, x, n],
        [x, x, n],
        [age, f, x],
        [age, x, s],
        [age, f, s],
        [age, f, s],
    ];
    let weights = [0.0; 10];
    check_frequencies(&rows, &weights, &[7, 7, 7, 7, 7, 7, 10, 4, 4, 4], &weights);
}

/// Returns rows of known columns and, last, a sensitive column; and the ranks of its values.
fn records<const W: usize>(rows: &[[Option<&'static str>; W]]) -> (Records, Vec<u32>) {
    let mut encoder = Encoder::new();
    let mut column = |column: usize| encoder.encode_all(rows.iter().map(|row| row[column])).unwrap();
    let columns: Vec<Vec<u32>> = (0..W).map(&mut column).collect();
    let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
    let roles = Roles {
        quasi: (0..W - 1).collect(),
        sensitive: vec![W - 1],
        ..Roles::default()
    };
    let mut records = Records::new(roles, true);
    records.extend(Rows::new(&columns, rows.len())).unwrap();
    let number = |code: u32| encoder.value(code).and_then(|value| value.parse::<u32>().ok());
    let ranks = (0..=encoder.len())
        .map(|code| number(code).unwrap_or(0))
        .collect();
    (records, ranks)
}

fn figures<const W: usize>(rows: &[[Option<&'static str>; W]]) -> Diversity {
    let (records, ranks) = records(rows);
    let values = Values {
        ranks: Some(ranks),
        hierarchy: None,
    };
    let settings = DiversitySettings::default();
    diversity(&records, 0, &values, &settings, Control::none())
        .unwrap()
        .unwrap()
}

#[test]
fn the_hospital_of_pycanon() {
    let rows = [
        ["F", "Kerala", "Viral"],
        ["F", "Kerala", "Heart"],
        ["F", "TN", "Cancer"],
        ["F", "TN", "TB"],
        ["M", "Karnataka", "None"],
        ["M", "Karnataka", "TB"],
        ["M", "Karnataka", "Heart"],
        ["M", "Kerala", "Cancer"],
        ["M", "Kerala", "Heart"],
        ["M", "Kerala", "Viral"],
        ["M", "TN", "Cancer"],
        ["M", "TN", "Cancer"],
        ["M", "TN", "Cancer"],
    ];
    let rows = rows.map(|row| row.map(Some));
    let found = figures(&rows);
    assert_eq!((found.alpha, found.l_distinct, found.l_entropy), (1.0, 1, 1.0));
    let is =
        |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    is(found.beta, 10.0 / 3.0);
    is(found.beta_enhanced, 2.5649493574615);
    is(found.t_equal, 0.6153846153846154);
    is(found.delta, 1.4663370687934272);
    let (records, _) = records(&rows);
    let risk = risk_summary(&records, None, Nulls::Value, By::Row, Control::none()).unwrap();
    assert_eq!(risk.k, Some(2));
    let prosecutor = risk.prosecutor.unwrap();
    assert_eq!(prosecutor.highest, 0.5);
    // As in ARX, the average goes over records. pyCANON's .4 goes over classes.
    assert_close(prosecutor.average, 5.0 / 13.0);
    let of_classes: Vec<f64> = records
        .classes()
        .sizes()
        .iter()
        .map(|&size| 1.0 / size as f64)
        .collect();
    assert_close(of_classes.iter().sum::<f64>() / of_classes.len() as f64, 0.4);
}

#[test]
fn ordered_distances_of_the_t_closeness_paper() {
    let table = |classes: [[&'static str; 3]; 3]| -> Vec<[Option<&'static str>; 2]> {
        let of_class =
            |(class, values): (&'static str, [&'static str; 3])| values.map(|v| [Some(class), Some(v)]);
        ["a", "b", "c"]
            .into_iter()
            .zip(classes)
            .flat_map(of_class)
            .collect()
    };
    let mixed = figures(&table([["3", "5", "9"], ["6", "11", "8"], ["4", "7", "10"]]));
    assert_close(mixed.t_ordered.unwrap(), 1.0 / 6.0);
    let sorted = figures(&table([["3", "4", "5"], ["6", "11", "8"], ["7", "9", "10"]]));
    assert_close(sorted.t_ordered.unwrap(), 0.375);
}

#[test]
fn distinct_diversity_of_sdcmicro_with_wildcards() {
    let (f, m, o, t, n, maj) = (Some("f"), Some("m"), Some("o"), Some("t"), Some("n"), Some("maj"));
    let (zero, one, two) = (Some("0"), Some("1"), Some("2"));
    let rows = [
        [f, N, o, one],
        [f, N, o, zero],
        [f, N, o, two],
        [m, t, o, one],
        [m, t, o, zero],
        [f, n, maj, zero],
        [f, n, maj, one],
    ];
    let (records, _) = records(&rows);
    let settings = DiversitySettings {
        nulls: Nulls::Wildcard,
        ..Default::default()
    };
    let found = class_diversity(&records, 0, &Values::default(), &settings, Control::none()).unwrap();
    let of_rows = records.class_of_row().iter();
    let l: Vec<u64> = of_rows
        .map(|&class| found[class as usize].unwrap().l_distinct)
        .collect();
    assert_eq!(l, [3, 3, 3, 2, 2, 2, 2]);
}
