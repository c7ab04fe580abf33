//! The values of `../shared/data/schemas`, if they are there. Its RULES.md says how they were labelled.

use super::score::{KnownColumn, scores};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the file of values: `BENCH_SHARED` or `../shared` next to the repository, or next to its
/// worktrees.
fn file() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let beside = root.ancestors().map(|folder| folder.join("shared"));
    let given = std::env::var_os("BENCH_SHARED").map(PathBuf::from);
    let files = given
        .into_iter()
        .chain(beside)
        .map(|shared| shared.join("data/schemas/values.tsv.gz"));
    files.into_iter().find(|file| file.exists())
}

fn columns() -> Option<Vec<KnownColumn>> {
    let Some(file) = file() else {
        println!("skipped: there is no ../shared/data/schemas/values.tsv.gz");
        return None;
    };
    let unpacked = Command::new("gzip")
        .arg("-dc")
        .arg(&file)
        .output()
        .ok()
        .filter(|output| output.status.success());
    let Some(unpacked) = unpacked else {
        println!("skipped: gzip -dc cannot read the values");
        return None;
    };
    let text = String::from_utf8(unpacked.stdout).expect("values are UTF-8");
    let mut columns: Vec<KnownColumn> = Vec::new();
    for line in text.lines().skip(1) {
        let mut fields = line.splitn(4, '\t').map(str::to_string);
        let [Some(name), Some(label), Some(category), Some(value)] = std::array::from_fn(|_| fields.next())
        else {
            continue;
        };
        match columns.last_mut().filter(|column| column.name == name) {
            Some(column) => column.values.push(value),
            None => columns.push(KnownColumn {
                name,
                label,
                category,
                values: vec![value],
            }),
        }
    }
    Some(columns)
}

#[test]
fn shared_columns_are_labelled_by_their_values() {
    let Some(columns) = columns() else { return };
    let scores = scores(&columns);
    for (label, score) in &scores {
        assert!(score.recall() >= 0.95, "{label}: {score:?}");
        assert!(score.precision() >= 0.95, "{label}: {score:?}");
    }
}
