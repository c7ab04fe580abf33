//! Tests of suggested labels for tables with names in German, French, Spanish, Italian, Dutch and Portuguese.
//!
//! The tables are invented and were used to find missing terms, so the figures show that nothing gets worse rather than
//! how well unseen tables are read: for that, see `suggestions.rs`.

use disclosure::columns::suggestions::*;
use std::collections::BTreeMap;

/// The tables, in a format that the file describes.
const TABLES: &str = include_str!("suggestions_languages.txt");

/// A table with the labels that are right for each column.
struct TrueTable {
    language: &'static str,
    facts: TableFacts,
    labels: Vec<Vec<SuggestedLabel>>,
}

impl TrueTable {
    /// Returns whether no column of the table concerns a person.
    fn is_harmless(&self) -> bool {
        self.labels
            .iter()
            .all(|labels| labels.contains(&SuggestedLabel::Ignore))
    }
}

fn parse_kind(letter: &str) -> TypeKind {
    match letter {
        "t" => TypeKind::Text,
        "i" => TypeKind::Integer,
        "n" => TypeKind::Decimal,
        "d" => TypeKind::Date,
        "s" => TypeKind::Timestamp,
        "b" => TypeKind::Boolean,
        _ => panic!("unknown type: {letter}"),
    }
}

fn parse_label(letter: char) -> SuggestedLabel {
    match letter {
        'I' => SuggestedLabel::Identifier,
        'Q' => SuggestedLabel::Quasi,
        'S' => SuggestedLabel::Sensitive,
        'P' => SuggestedLabel::Person,
        'H' => SuggestedLabel::Household,
        'W' => SuggestedLabel::Weight,
        'C' => SuggestedLabel::Count,
        '-' => SuggestedLabel::Ignore,
        _ => panic!("unknown label: {letter}"),
    }
}

fn parse_column(text: &'static str) -> (ColumnFacts, Vec<SuggestedLabel>) {
    let cells: Vec<&str> = text.split(':').collect();
    let [name, kind, labels] = cells[..] else {
        panic!("not name:type:labels: {text}");
    };
    let facts = ColumnFacts {
        name: name.to_string(),
        kind: parse_kind(kind),
        is_nullable: true,
        ..Default::default()
    };
    (facts, labels.chars().map(parse_label).collect())
}

fn parse_table(line: &'static str) -> TrueTable {
    let cells: Vec<&str> = line.split('|').collect();
    let [language, name, columns] = cells[..] else {
        panic!("not language|table|columns: {line}");
    };
    let (columns, labels) = columns.split(',').map(parse_column).unzip();
    let facts = TableFacts {
        name: name.to_string(),
        columns,
        ..Default::default()
    };
    TrueTable {
        language,
        facts,
        labels,
    }
}

fn true_tables() -> impl Iterator<Item = TrueTable> {
    let is_table = |line: &&str| !line.is_empty() && !line.starts_with('#');
    TABLES.lines().filter(is_table).map(parse_table)
}

/// Returns, for each language, the number of columns, the number of right labels, and the wrong answers.
fn measure(tables: impl Iterator<Item = TrueTable>) -> BTreeMap<&'static str, (usize, usize, String)> {
    let dictionary = Dictionary::new(Dictionary::shipped_terms());
    let mut figures: BTreeMap<&str, (usize, usize, String)> = BTreeMap::new();
    for table in tables {
        let (columns, right, wrong) = figures.entry(table.language).or_default();
        let answers = suggest(&table.facts, &dictionary);
        for ((column, labels), answer) in table.facts.columns.iter().zip(&table.labels).zip(answers) {
            *columns += 1;
            if labels.contains(&answer.label) {
                *right += 1;
            } else {
                let Suggestion {
                    label,
                    confidence,
                    evidence,
                    ..
                } = answer;
                let name = (&table.facts.name, &column.name);
                wrong.push_str(&format!(
                    "{name:?}: {label:?} {confidence:.2}, not {labels:?}: {evidence}\n"
                ));
            }
        }
    }
    figures
}

fn assert_right(tables: impl Iterator<Item = TrueTable>, at_least: f64) {
    for (language, (columns, right, wrong)) in measure(tables) {
        let share = right as f64 / columns as f64;
        println!("{language}: {share:.3} of {columns} columns are right\n{wrong}");
        assert!(
            share >= at_least,
            "{language}: only {share:.3} of {columns} columns are right\n{wrong}"
        );
    }
}

/// Columns of tables about people get the right label in every language.
#[test]
fn tables_about_people() {
    assert_right(true_tables().filter(|table| !table.is_harmless()), 0.9);
}

/// Tables that concern no person stay quiet in every language.
#[test]
fn tables_about_no_one() {
    assert_right(true_tables().filter(TrueTable::is_harmless), 0.95);
}
