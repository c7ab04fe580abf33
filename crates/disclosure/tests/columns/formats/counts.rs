//! Counting any values, merging counts, and what values rule out.

use super::random::Random;
use disclosure::columns::formats::FormatCounts;
use disclosure::columns::suggestions::{Category, SuggestedLabel};
use proptest::prelude::*;

fn counts_of<'a>(values: impl IntoIterator<Item = &'a str>) -> FormatCounts {
    let mut counts = FormatCounts::default();
    values.into_iter().for_each(|value| counts.count(value));
    counts
}

/// Returns strings of characters that formats are made of, and of any others.
fn strings() -> impl Strategy<Value = String> {
    let parts = prop_oneof![
        Just("\u{df}"),
        Just("'"),
        Just("-"),
        Just("@"),
        Just("."),
        Just("/"),
        Just("$2a$"),
        Just("rs"),
        Just("c."),
        Just("p.1"),
        Just("AB"),
        Just("00"),
        Just("+4"),
        Just("eyJ"),
        Just("POINT"),
        Just("mg"),
        Just(" "),
        Just("5"),
        Just("é"),
        Just("["),
        Just("INFO"),
        Just("12:3"),
        Just("md5"),
        Just("*"),
        Just("{"),
        Just("x"),
        Just("%"),
        Just("//"),
        Just("www."),
        Just("DE"),
        Just("rue"),
        Just("١"),
        Just("𝟘"),
    ];
    prop_oneof![
        any::<String>(),
        prop::collection::vec(parts, 0..24).prop_map(|parts| parts.concat())
    ]
}

proptest! {
    #![proptest_config(crate::tables::config(800))]

    #[test]
    fn no_value_panics_or_is_repeated(values in prop::collection::vec(strings(), 1..20)) {
        let counts = counts_of(values.iter().map(String::as_str));
        prop_assert_eq!(counts.values(), values.len() as u64);
        for (_, category) in Category::WORDS {
            prop_assert!(values.len() >= 20 || !counts.contradict(category));
        }
        if let Some(suggestion) = counts.suggestion() {
            prop_assert!((0.0..=1.0).contains(&suggestion.confidence));
            let is_told = |value: &String| value.len() >= 5 && suggestion.evidence.contains(value.as_str());
            prop_assert!(!values.iter().any(is_told), "{}", suggestion.evidence);
        }
    }

    #[test]
    fn merged_counts_are_counts_of_all(values in prop::collection::vec(strings(), 0..40), cut: prop::sample::Index) {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let (left, right) = values.split_at(cut.index(values.len() + 1));
        let mut merged = counts_of(left.iter().copied());
        merged.merge(&counts_of(right.iter().copied()));
        let all = counts_of(values.iter().copied());
        prop_assert_eq!(merged.values(), all.values());
        prop_assert_eq!(merged.found().collect::<Vec<_>>(), all.found().collect::<Vec<_>>());
    }
}

#[test]
fn empty_values_say_nothing() {
    let counts = counts_of(["", " ", "NULL", "n/a", "-"]);
    assert_eq!((counts.values(), counts.suggestion()), (5, None));
    assert!(
        Category::WORDS
            .iter()
            .all(|(_, category)| !counts.contradict(*category))
    );
}

#[test]
fn evidence_counts_in_words() {
    let values: Vec<String> = (0..1500)
        .map(|number| format!("person{number}@example.org"))
        .collect();
    let mut values: Vec<&str> = values.iter().map(String::as_str).collect();
    values.extend(["", "unreachable", "unreachable", "unreachable"].repeat(20));
    let suggestion = counts_of(values).suggestion().unwrap();
    assert_eq!(suggestion.label, SuggestedLabel::Identifier);
    assert_eq!(suggestion.category, Category::Email);
    assert_eq!(
        suggestion.evidence,
        "96 % of 1,560 values that are not empty are e-mail addresses"
    );
}

#[test]
fn one_card_number_is_no_evidence_but_many_are() {
    assert_eq!(counts_of(["4111111111111111"]).suggestion(), None);
    assert_eq!(counts_of(["4111111111111111"].repeat(100)).suggestion(), None);
    let mut random = Random(5);
    let numbers: Vec<String> = (0..40)
        .map(|_| super::random::with_luhn(&random.fill("4##############")))
        .collect();
    let suggestion = counts_of(numbers.iter().map(String::as_str))
        .suggestion()
        .unwrap();
    assert_eq!(suggestion.category, Category::Account);
    assert!(suggestion.confidence > 0.95);
}

#[test]
fn values_rule_categories_out() {
    let contradicted =
        |values: &[&str], category| counts_of(values.iter().copied().cycle().take(60)).contradict(category);
    let flags = ["0", "1"];
    for category in [
        Category::Email,
        Category::Phone,
        Category::Name,
        Category::Date,
        Category::Ssn,
        Category::Credential,
    ] {
        assert!(contradicted(&flags, category), "{category:?}");
    }
    for category in [
        Category::Health,
        Category::Demographic,
        Category::Financial,
        Category::Religion,
    ] {
        assert!(!contradicted(&flags, category), "{category:?}");
    }
    assert!(contradicted(&["2091-01-03", "2093-02-01"], Category::Date));
    assert!(contradicted(&["977-00-1355", "000-12-3456"], Category::Ssn));
    assert!(contradicted(
        &["open", "closed", "in progress"],
        Category::Religion
    ));
    assert!(contradicted(&["3.6.1.3871", "10.2.3.400"], Category::Ip));
    assert!(contradicted(&["* * * * 0", "5 4 * * *"], Category::Health));
    assert!(contradicted(&["12", "77", "350"], Category::Phone));
    assert!(!contradicted(&["a@example.org", "open"], Category::Email));
    assert!(!contradicted(&["1985-01-03", "1993-02-01"], Category::Date));
    assert!(!contradicted(
        &["5f4dcc3b5aa765d61d8327deb882cf99"],
        Category::Email
    ));
    assert!(!counts_of(flags.into_iter().cycle().take(19)).contradict(Category::Email));
}
