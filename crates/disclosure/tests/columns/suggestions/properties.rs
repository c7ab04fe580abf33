//! What holds for any table.

use disclosure::columns::formats::FormatCounts;
use disclosure::columns::suggestions::*;
use proptest::prelude::*;
use std::sync::LazyLock;

static SHIPPED: LazyLock<Dictionary> = LazyLock::new(|| Dictionary::new(Dictionary::shipped_terms()));

/// Dictionaries with two added terms, and the label of both.
static ADDED: LazyLock<Vec<(Dictionary, SuggestedLabel)>> = LazyLock::new(|| {
    let added = |term: &str, matching, label| Term {
        language: "en".to_string(),
        term: term.to_string(),
        matching,
        label,
        category: Category::Religion,
    };
    let dictionary = |(_, label)| {
        let mut terms = Dictionary::shipped_terms();
        terms.insert(0, added("email", Matching::Name, label));
        terms.push(added("xyzzy", Matching::Words, label));
        (Dictionary::new(terms), label)
    };
    SuggestedLabel::WORDS.map(dictionary).to_vec()
});

const KINDS: [TypeKind; 17] = [
    TypeKind::Text,
    TypeKind::Integer,
    TypeKind::Decimal,
    TypeKind::Money,
    TypeKind::Boolean,
    TypeKind::Date,
    TypeKind::Timestamp,
    TypeKind::Time,
    TypeKind::Uuid,
    TypeKind::Inet,
    TypeKind::MacAddress,
    TypeKind::Geometry,
    TypeKind::Enum,
    TypeKind::Array,
    TypeKind::Document,
    TypeKind::Bytes,
    TypeKind::Other,
];

/// Any name, or one made of words that terms know.
fn name() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "id",
        "email",
        "name",
        "patient",
        "birth",
        "date",
        "type",
        "geburtsdatum",
        "nom",
        "ville",
        "amount",
        "created",
        "by",
        "is",
        "uid",
        "weight",
        "no",
        "größe",
        "1",
        "datum",
        "fk",
        "status",
        "of",
    ]);
    prop_oneof![
        ".{0,12}",
        prop::collection::vec(word, 0..4).prop_map(|words| words.join("_"))
    ]
}

fn statistics() -> impl Strategy<Value = ColumnStatistics> {
    let number = || {
        prop_oneof![
            Just(0.0),
            Just(-1.0),
            Just(f64::NAN),
            Just(f64::INFINITY),
            0.0..1e6
        ]
    };
    let share = || 0.0..=1.0;
    (
        number(),
        number(),
        share(),
        share(),
        number(),
        prop::option::of(share()),
    )
        .prop_map(
            |(rows, distinct, nulls, most_frequent, mean_width, singled_out)| ColumnStatistics {
                rows,
                distinct,
                nulls,
                most_frequent,
                mean_width,
                singled_out,
            },
        )
}

fn column() -> impl Strategy<Value = ColumnFacts> {
    let flags = prop::array::uniform3(any::<bool>());
    let kind = prop::sample::select(KINDS.to_vec());
    let references = prop::option::of((name(), name()));
    let formats = prop::option::of(prop::collection::vec(".{0,20}", 0..30));
    (
        name(),
        prop::option::of(name()),
        kind,
        flags,
        references,
        prop::option::of(statistics()),
        formats,
    )
        .prop_map(
            |(
                name,
                comment,
                kind,
                [is_nullable, is_primary_key, is_unique],
                references,
                statistics,
                values,
            )| ColumnFacts {
                name,
                comment,
                kind,
                max_length: None,
                is_nullable,
                is_primary_key,
                is_unique,
                references,
                statistics,
                formats: values.map(|values| count(values.iter().map(String::as_str))),
            },
        )
}

fn table() -> impl Strategy<Value = TableFacts> {
    (name(), prop::collection::vec(column(), 0..9)).prop_map(|(name, columns)| TableFacts {
        schema: String::new(),
        name,
        comment: None,
        columns,
    })
}

fn count<'a>(values: impl IntoIterator<Item = &'a str>) -> FormatCounts {
    let mut counts = FormatCounts::default();
    values.into_iter().for_each(|value| counts.count(value));
    counts
}

/// Labels, categories and evidence, without the confidence.
fn words(suggestions: &[Suggestion]) -> Vec<(&str, &str, &str)> {
    let mut words = Vec::new();
    for one in suggestions {
        words.push((one.label.name(), one.category.name(), one.evidence.as_str()));
    }
    words
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// Any table gets a suggestion for each column, with a confidence and evidence.
    #[test]
    fn every_column_gets_one(table in table()) {
        let suggestions = suggest(&table, &SHIPPED);
        prop_assert_eq!(suggestions.len(), table.columns.len());
        for one in suggestions {
            prop_assert!((0.0..=1.0).contains(&one.confidence), "{}", one.confidence);
            prop_assert!(one.evidence.ends_with('.'));
        }
    }

    /// The same table gets the same suggestions, and the order of its columns does not matter.
    #[test]
    fn order_does_not_matter(table in table(), seed in any::<u64>()) {
        let suggestions = suggest(&table, &SHIPPED);
        let again = suggest(&table, &SHIPPED);
        prop_assert_eq!(&suggestions, &again);
        let mut order: Vec<usize> = (0..table.columns.len()).collect();
        order.sort_by_key(|&number| (seed.wrapping_mul(number as u64 * 2 + 1)) >> 7 & 0xff);
        let columns = order.iter().map(|&number| table.columns[number].clone()).collect();
        let shuffled = suggest(&TableFacts { columns, ..table.clone() }, &SHIPPED);
        let expected: Vec<Suggestion> = order.iter().map(|&number| suggestions[number].clone()).collect();
        prop_assert_eq!(words(&shuffled), words(&expected));
    }

    /// A term that a user has added wins, also against a shipped one.
    #[test]
    fn added_terms_win(mut table in table(), number in 0..SuggestedLabel::WORDS.len()) {
        let named = |name: &str| ColumnFacts { name: name.to_string(), ..ColumnFacts::default() };
        table.columns.extend([named("email"), named("patient_xyzzy_id")]);
        let (dictionary, label) = &ADDED[number];
        let suggestions = suggest(&table, dictionary);
        for one in &suggestions[suggestions.len() - 2..] {
            prop_assert_eq!(one.label, *label, "{:?}", one);
        }
    }

    /// No value of the data is part of the evidence.
    #[test]
    fn evidence_has_no_value(
        mut table in table(),
        values in prop::collection::vec("[A-Z][a-z]{4}[0-9]{5}|[a-z]{5}[0-9]{4}@[a-z]{7}\\.org|0[0-9]{9}", 30),
    ) {
        for column in &mut table.columns {
            column.formats = Some(count(values.iter().map(String::as_str)));
        }
        for one in suggest(&table, &SHIPPED) {
            prop_assert!(values.iter().all(|value| !one.evidence.contains(value.as_str())), "{}", one.evidence);
        }
    }
}
