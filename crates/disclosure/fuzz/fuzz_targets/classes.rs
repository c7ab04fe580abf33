//! Class sizes against their definitions, on tables that the fuzzer thinks up: the first byte is the number
//! of columns, every other one a cell.
#![no_main]

use disclosure::classes::Classes;
use disclosure::{Control, Rows, NULL};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&width, cells)) = data.split_first() else {
        return;
    };
    let width = 1 + usize::from(width % 8);
    let rows: Vec<Vec<u32>> = cells
        .chunks_exact(width)
        .take(200)
        .map(|row| row.iter().map(|&cell| u32::from(cell % 5)).collect())
        .collect();
    let columns: Vec<Vec<u32>> = (0..width)
        .map(|column| rows.iter().map(|row| row[column]).collect())
        .collect();
    let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();

    let mut classes = Classes::new(width);
    let mut of_row = Vec::new();
    classes
        .extend(Rows::new(&columns, rows.len()), |class| of_row.push(class as usize))
        .unwrap();
    let wildcard = classes.wildcard_sizes(&Control::new()).unwrap();
    let agree = |(a, b): (&u32, &u32)| a == b || *a == NULL || *b == NULL;
    for (row, class) in rows.iter().zip(of_row) {
        let equal = rows.iter().filter(|other| *other == row).count();
        let agreeing = rows.iter().filter(|other| other.iter().zip(row).all(agree)).count();
        assert_eq!(classes.sizes()[class], equal as u64);
        assert_eq!(wildcard[class], agreeing as u64);
    }
});
