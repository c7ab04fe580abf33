//! Compares class sizes with their definitions, on tables from the fuzzer. The first byte is the number of
//! columns, every other byte is a cell.
#![no_main]

use disclosure::classes::Classes;
use disclosure::{Control, Rows};
use libfuzzer_sys::fuzz_target;
use reference::classes::{class_size, wildcard_size};

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
    for (row, class) in rows.iter().zip(of_row) {
        assert_eq!(classes.sizes()[class], class_size(&rows, row));
        assert_eq!(wildcard[class], wildcard_size(&rows, row));
    }
});
