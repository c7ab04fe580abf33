//! Tests of remedies: blanks the cells and compares all scores with the definition.

use crate::tables::{a_constant, assert_close, average, config, maximum};
use crate::unknown::{Coded, CodedColumn, Kind, a_confidence, a_table};
use disclosure::classes::Classes;
use disclosure::inference::{
    Attribute, Blank, Column, EndedBy, Nulls, PackedTable, Remedies, RemedySettings, Settings, Suppression,
    ThresholdSummary, remedies,
};
use disclosure::{Control, NULL, Weights};
use proptest::prelude::*;
use reference::inference::Cell;
use std::time::Duration;

const QUASI: (f64, f64) = (1.0, 0.0);
const SENSITIVE: (f64, f64) = (0.0, 1.0);
const BOTH: (f64, f64) = (1.0, 1.0);

/// Table in the form that the algorithm uses.
struct Packed {
    table: PackedTable,
    blanks: Vec<Blank>,
    distinct_of_row: Vec<usize>,
}

fn packed(coded: &Coded) -> Packed {
    let columns: Vec<Column> = coded.columns.iter().map(CodedColumn::column).collect();
    let mut classes = Classes::new(columns.len());
    let classes_of_rows: Vec<u32> = coded
        .rows
        .iter()
        .map(|row| classes.insert(row, 1).unwrap())
        .collect();
    let table = PackedTable::with_room_for_blanks(&classes, &columns, &Control::new()).unwrap();
    Packed {
        blanks: columns.iter().map(Blank::of_column).collect(),
        distinct_of_row: classes_of_rows
            .into_iter()
            .map(|class| table.row_of_class(class as usize))
            .collect(),
        table,
    }
}

fn found(coded: &Coded, settings: &Settings, wanted: &RemedySettings) -> Remedies {
    let packed = packed(coded);
    remedies(&packed.table, &packed.blanks, settings, wanted, &Control::new()).unwrap()
}

/// Returns the code of a value after a cell was blanked.
fn blanked(column: &CodedColumn, code: u32, attributes: &[Attribute]) -> u32 {
    let lost = attributes
        .iter()
        .fold(0, |set, attribute| set | 1 << attribute.index);
    assert_eq!(column.set(code) & lost, lost);
    match column.kind {
        Kind::Sets => code - lost,
        _ => NULL,
    }
}

/// Returns the table after the suppressions that `wanted` accepts, each made in as many rows as it says.
fn applied(coded: &Coded, found: &Remedies, wanted: impl Fn(&Suppression) -> bool) -> Coded {
    let distinct_of_row = packed(coded).distinct_of_row;
    let mut after = coded.clone();
    let mut is_changed = vec![false; coded.rows.len()];
    for change in &found.changes {
        for _ in 0..change.count {
            let is_free = |&row: &usize| distinct_of_row[row] == change.row && !is_changed[row];
            let row = (0..coded.rows.len()).find(is_free).unwrap();
            is_changed[row] = true;
            for suppression in change.cells.iter().filter(|cell| wanted(cell)) {
                let column = suppression.attributes[0].column as usize;
                let code = &mut after.rows[row][column];
                *code = blanked(&coded.columns[column], *code, &suppression.attributes);
            }
        }
    }
    after
}

fn defined_scores(coded: &Coded, settings: &Settings) -> Vec<f64> {
    let (table, unknown) = coded.table();
    table.scores_with_unknown(&unknown, settings.constant, settings.min_confidence)
}

fn at_or_above(scores: &[f64], threshold: f64) -> u64 {
    let is_at_or_above = |score: &&f64| **score >= threshold * (1.0 - 1e-11);
    scores.iter().filter(is_at_or_above).count() as u64
}

fn assert_summary(summary: &ThresholdSummary, scores: &[f64], threshold: f64) {
    assert!(summary.exact);
    assert_eq!(summary.at_or_above, at_or_above(scores, threshold));
    assert_close(summary.average, average(scores));
    assert_close(summary.maximum, maximum(scores));
}

/// Returns all cells that can be blanked.
fn cells(coded: &Coded) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (row, codes) in coded.rows.iter().enumerate() {
        let mut start = 0;
        for (column, &code) in coded.columns.iter().zip(codes) {
            let set = column.set(code);
            let size = column.weights.len();
            let all = ((1 << size) - 1) << start;
            let cell = |lost: u32, unknown| Cell {
                row,
                lost: lost << start,
                unknown,
            };
            match (Blank::of_column(&column.column()), column.nulls) {
                (Blank::Never, _) => {}
                _ if set == 0 => {}
                (Blank::Element, _) => {
                    let elements = (0..size).filter(|element| set >> element & 1 == 1);
                    cells.extend(elements.map(|element| cell(1 << element, 0)));
                }
                (Blank::Value, Nulls::Unknown) => cells.push(cell(set, all)),
                (Blank::Value, _) => cells.push(cell(set, 0)),
            }
            start += size;
        }
    }
    cells
}

/// Returns a table of booleans with these weights, whose rows are words of the letters of the columns that are
/// true.
fn booleans(words: &[&str], weights: &[(f64, f64)]) -> Coded {
    let column = |&(likelihood, danger): &(f64, f64)| CodedColumn {
        kind: Kind::ValuesOrNone,
        weights: vec![Weights { likelihood, danger }],
        nulls: Nulls::Unknown,
    };
    let code = |word: &str, column: usize| {
        if word.contains((b'a' + column as u8) as char) {
            1
        } else {
            2
        }
    };
    Coded {
        columns: weights.iter().map(column).collect(),
        rows: words
            .iter()
            .map(|word| (0..weights.len()).map(|column| code(word, column)).collect())
            .collect(),
    }
}

/// Returns a table of values, a known one and a sensitive one.
fn values(rows: &[(u32, u32)], nulls: Nulls) -> Coded {
    let column = |size: u32, (likelihood, danger), nulls| CodedColumn {
        kind: Kind::Values,
        weights: vec![Weights { likelihood, danger }; size as usize],
        nulls,
    };
    let null = u32::from(matches!(nulls, Nulls::Attribute(_)));
    Coded {
        columns: vec![
            column(3, QUASI, Nulls::Unknown),
            column(3 + null, SENSITIVE, nulls),
        ],
        rows: rows
            .iter()
            .map(|&(known, sensitive)| vec![known, sensitive])
            .collect(),
    }
}

fn nearly_certain() -> Settings {
    Settings {
        min_confidence: 0.9,
        ..Settings::default()
    }
}

/// Finds remedies and checks them. Returns the number of cells.
fn check(coded: &Coded, settings: &Settings, wanted: &RemedySettings) -> u64 {
    let found = found(coded, settings, wanted);
    let scores = |coded: &Coded| defined_scores(coded, settings);
    assert_summary(&found.before, &scores(coded), wanted.threshold);
    for (round, summary) in found.rounds.iter().enumerate() {
        let after = applied(coded, &found, |suppression| suppression.round <= round);
        assert_summary(summary, &scores(&after), wanted.threshold);
        let is_of_round = |suppression: &Suppression| suppression.round == round;
        assert!(
            found
                .changes
                .iter()
                .flat_map(|change| &change.cells)
                .any(is_of_round)
        );
    }
    let after = applied(coded, &found, |_| true);
    assert_summary(&found.after(), &scores(&after), wanted.threshold);
    assert!(found.cells() <= wanted.max_rows.unwrap_or(u64::MAX));
    let remaining = found.after().at_or_above;
    match found.ended_by {
        EndedBy::Threshold => assert_eq!(remaining, 0),
        EndedBy::MaxRows => assert_eq!(Some(found.cells()), wanted.max_rows),
        EndedBy::NothingHelps => {
            assert!(remaining > 0);
            assert_eq!(
                remaining,
                at_or_above(&scores(&everything_blanked(coded)), wanted.threshold)
            );
        }
        EndedBy::Budget => panic!("there is no budget"),
    }
    found.cells()
}

fn everything_blanked(coded: &Coded) -> Coded {
    let mut after = coded.clone();
    for row in &mut after.rows {
        for (column, code) in coded.columns.iter().zip(row) {
            match (Blank::of_column(&column.column()), *code) {
                (Blank::Never, _) | (_, NULL) => {}
                (Blank::Element, _) => *code = 1,
                (Blank::Value, code_before) => {
                    if column.set(code_before) > 0 {
                        *code = NULL;
                    }
                }
            }
        }
    }
    after
}

/// The table of the audit, on which the search once ended two cells early.
#[test]
fn the_search_goes_on_until_the_threshold_holds() {
    let table = booleans(&["abe", "be", "de", "abc"], &[BOTH; 5]);
    for settings in [Settings::default(), nearly_certain()] {
        let cells = check(&table, &settings, &RemedySettings::default());
        assert_eq!(
            found(&table, &settings, &RemedySettings::default()).ended_by,
            EndedBy::Threshold
        );
        let (sets, unknown) = table.table();
        let least = sets.fewest_blanks(&unknown, &self::cells(&table), 0.5, 1.0, settings.min_confidence);
        assert_eq!((cells, least), (4, Some(4)));
    }
}

/// One blank among 50 equal diagnoses is no remedy, because all diagnoses that are left are the same.
#[test]
fn a_blank_is_not_another_value() {
    let rows: Vec<(u32, u32)> = (0..100).map(|row| (1 + row % 2, 1 + row % 2)).collect();
    let table = values(&rows, Nulls::Unknown);
    for settings in [Settings::default(), nearly_certain()] {
        assert_eq!(check(&table, &settings, &RemedySettings::default()), 100);
    }
}

/// As White defines it, a blank is a value that is absent, and one is enough.
#[test]
fn an_absent_value_helps_a_whole_group() {
    let rows: Vec<(u32, u32)> = (0..100).map(|row| (1 + row % 2, 1 + row % 2)).collect();
    let mut table = values(&rows, Nulls::Absent);
    table.columns[0].nulls = Nulls::Absent;
    assert_eq!(check(&table, &Settings::default(), &RemedySettings::default()), 2);
}

/// Of 20 rows, 19 have the same diagnosis. Below a share of 0.9 it no longer counts: 9 of 10.
#[test]
fn just_enough_rows_lose_a_probable_value() {
    let mut rows = vec![(1, 1); 19];
    rows.push((1, 2));
    rows.extend(vec![(2, 2); 10]);
    rows.extend(vec![(2, 1); 10]);
    let table = values(&rows, Nulls::Unknown);
    let wanted = RemedySettings {
        threshold: 0.4,
        max_rows: None,
    };
    assert_eq!(check(&table, &nearly_certain(), &wanted), 11);
}

/// In a column in which NULL is a value, there is nothing to blank a cell with. The known value can be blanked.
#[test]
fn nulls_that_are_values_are_no_blanks() {
    let table = values(&[(1, 1), (1, 1), (2, 2), (2, 3), (2, 2)], Nulls::Attribute(3));
    assert_eq!(check(&table, &nearly_certain(), &RemedySettings::default()), 2);
    let all_equal = values(&[(1, 1), (2, 1)], Nulls::Attribute(3));
    let hopeless = found(&all_equal, &nearly_certain(), &RemedySettings::default());
    assert_eq!(hopeless.ended_by, EndedBy::NothingHelps);
    assert_eq!((hopeless.cells(), hopeless.after().at_or_above), (0, 2));
}

/// Two sensitive values follow from one known value: one cell instead of two.
#[test]
fn a_known_cell_may_take_fewer_cells() {
    let weights = [QUASI, QUASI, SENSITIVE, SENSITIVE];
    let table = booleans(&["abcd", "ac", "ad", "a", "c", "d", "cd"], &weights);
    assert_eq!(check(&table, &nearly_certain(), &RemedySettings::default()), 1);
}

#[test]
fn tables_below_the_threshold_need_nothing() {
    let table = booleans(&["ab", "ab"], &[QUASI, SENSITIVE]);
    let wanted = RemedySettings {
        threshold: 0.6,
        max_rows: None,
    };
    assert_eq!(check(&table, &Settings::default(), &wanted), 0);
    assert_eq!(check(&booleans(&[], &[QUASI]), &Settings::default(), &wanted), 0);
    let no_room = RemedySettings {
        threshold: 0.5,
        max_rows: Some(0),
    };
    assert_eq!(
        found(&table, &Settings::default(), &no_room).ended_by,
        EndedBy::MaxRows
    );
}

#[test]
fn the_threshold_is_a_score() {
    let packed = packed(&booleans(&["a"], &[QUASI]));
    for threshold in [0.0, -0.5, 1.1, f64::NAN] {
        let wanted = RemedySettings {
            threshold,
            max_rows: None,
        };
        let settings = Settings::default();
        let error = remedies(&packed.table, &packed.blanks, &settings, &wanted, &Control::new()).unwrap_err();
        assert_eq!(error.to_string(), "threshold: must be more than 0 and at most 1");
    }
}

#[test]
fn cancelling_ends_it() {
    let control = Control::new();
    control.cancel();
    let packed = packed(&booleans(&["ab", "ac"], &[BOTH; 3]));
    let (settings, wanted) = (Settings::default(), RemedySettings::default());
    assert!(remedies(&packed.table, &packed.blanks, &settings, &wanted, &control).is_err());
}

/// One budget holds for the whole search, and a search without time says so.
#[test]
fn without_time_the_budget_ends_it() {
    let table = booleans(&["abe", "be", "de", "abc"], &[BOTH; 5]);
    let settings = Settings {
        budget: Some(Duration::ZERO),
        ..nearly_certain()
    };
    let found = found(&table, &settings, &RemedySettings::default());
    assert_eq!((found.ended_by, found.cells()), (EndedBy::Budget, 0));
    assert!(!found.before.exact);
}

/// A table that is too large for looking at all cells one by one.
#[test]
fn large_tables_are_finished_in_rounds() {
    let mut state = 7_u64;
    let mut random = |values: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((state >> 33) % values) as u32 + 1
    };
    for (likelihood, danger) in [QUASI, BOTH] {
        let column = |size: u32, (likelihood, danger)| CodedColumn {
            kind: Kind::Values,
            weights: vec![Weights { likelihood, danger }; size as usize],
            nulls: Nulls::Unknown,
        };
        let known = [6, 4, 2].map(|size| column(size, (likelihood, danger)));
        let table = Coded {
            columns: [known.to_vec(), vec![column(3, SENSITIVE), column(2, SENSITIVE)]].concat(),
            rows: (0..150)
                .map(|_| vec![random(6), random(4), random(2), random(3), random(2)])
                .collect(),
        };
        let cells = check(&table, &nearly_certain(), &RemedySettings::default());
        let sensitive = 2 * at_or_above(&defined_scores(&table, &nearly_certain()), 0.5);
        if danger == 0.0 {
            assert!(
                cells < sensitive,
                "{cells} cells, {sensitive} sensitive ones at risk"
            );
        }
    }
}

fn a_threshold() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.5), Just(0.25), Just(0.1), Just(0.01), Just(0.7)]
}

/// Generates tables of up to four booleans that are both known and harmful, or either.
fn a_tiny_table() -> impl Strategy<Value = Coded> {
    let weights = prop_oneof![Just(QUASI), Just(SENSITIVE), Just(BOTH)];
    prop::collection::vec(weights, 2..=3).prop_flat_map(|weights| {
        let rows = prop::collection::vec(prop::collection::vec(any::<bool>(), weights.len()), 1..=4);
        rows.prop_map(move |rows| {
            let mut table = booleans(&[], &weights);
            let code = |&is_true: &bool| if is_true { 1 } else { 2 };
            table.rows = rows.iter().map(|row| row.iter().map(code).collect()).collect();
            table
        })
    })
}

/// The number of cells is close to the smallest possible, over many small tables.
#[test]
fn few_cells_more_than_the_minimum() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(config());
    let (mut tables, mut minimal, mut cells, mut least) = (0, 0, 0, 0);
    for _ in 0..400 {
        let table = a_tiny_table().new_tree(&mut runner).unwrap().current();
        let (sets, unknown) = table.table();
        let fewest = sets
            .fewest_blanks(&unknown, &self::cells(&table), 0.5, 1.0, 0.9)
            .unwrap();
        let found = check(&table, &nearly_certain(), &RemedySettings::default());
        assert!(found >= u64::from(fewest));
        if fewest > 0 {
            tables += 1;
            minimal += u64::from(found == u64::from(fewest));
            cells += found;
            least += u64::from(fewest);
        }
    }
    println!("{tables} tables need cells: {minimal} times the fewest; {cells} cells instead of {least}");
    assert!(tables > 200 && minimal * 100 >= tables * 95 && cells * 100 <= least * 102);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn figures_are_as_defined(
        table in a_table(), threshold in a_threshold(), constant in a_constant(), min_confidence in a_confidence(),
        max_rows in prop_oneof![3 => Just(None), 1 => (0u64..4).prop_map(Some)],
    ) {
        let settings = Settings { constant, min_confidence, ..Settings::default() };
        check(&table, &settings, &RemedySettings { threshold, max_rows });
    }

    #[test]
    fn threads_change_nothing(table in a_table(), threshold in a_threshold()) {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let wanted = RemedySettings { threshold, max_rows: None };
            pool.install(|| found(&table, &nearly_certain(), &wanted))
        };
        prop_assert_eq!(with(1), with(4));
    }
}
