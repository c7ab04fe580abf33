//! Item counts: what is stored or printed can be read back unchanged, and nothing else is accepted.

use disclosure::cracks::{SqlName, StoredCounts, StoredCountsError};
use proptest::prelude::*;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::borrow::Cow;

fn from_text(text: &str) -> Result<StoredCounts<'_>, StoredCountsError> {
    StoredCounts::from_text(text)
}

/// Returns the text of the counts of three transactions with these items.
fn with_items(items: &str) -> String {
    format!(r#"{{"type": "text", "transactions": 3, "items": {items}}}"#)
}

#[test]
fn golden_text_and_bytes() {
    let text = r#"{"type": "pg_catalog.text", "collation": "public.ci", "transactions": 3, "items": [["b", 3], ["\"", 1], ["a", 1]]}"#;
    let stored = from_text(text).unwrap();
    assert_eq!(stored.to_text(), text);
    let bytes = b"\x01\x0fpg_catalog.text\x09public.ci\x03\x03\x01b\x03\x01\"\x01\x01a\x01";
    assert_eq!(stored.to_bytes(), bytes);
    assert_eq!(StoredCounts::from_bytes(bytes), Ok(stored));
}

#[test]
fn keys_items_and_spaces_in_any_order() {
    let text =
        "\t{\"items\":[[\"\\u0062\",1] , [\"\\ud83d\\ude00\",2]],\n\"transactions\":2,\"type\":\"int\"} ";
    assert_eq!(
        from_text(text).unwrap().to_text(),
        r#"{"type": "int", "transactions": 2, "items": [["😀", 2], ["b", 1]]}"#
    );
}

#[test]
fn other_versions_are_told() {
    assert_eq!(
        StoredCounts::from_bytes(b"\x02abc"),
        Err(StoredCountsError::Version(2))
    );
    assert!(matches!(
        StoredCounts::from_bytes(b""),
        Err(StoredCountsError::Damaged(_))
    ));
}

#[test]
fn counts_stay_within_bigint() {
    let most = i64::MAX as u64;
    let text =
        |count: u64| format!(r#"{{"type": "int", "transactions": {count}, "items": [["1", {count}]]}}"#);
    assert!(from_text(&text(most)).is_ok());
    assert!(from_text(&text(most + 1)).is_err());
    assert!(from_text(&text(u64::MAX)).is_err());
}

#[test]
fn contradictions_are_refused() {
    for items in [
        r#"[["a", 4]]"#,
        r#"[["a", 0], ["b", 3]]"#,
        r#"[["a", 2]]"#,
        r#"[["a", 3], ["a", 1]]"#,
        r#"[["a", 3.0]]"#,
        r#"[["a", 03]]"#,
        r#"[["a", +3]]"#,
        r#"[["a", -3]]"#,
        r#"[["a", 3e0]]"#,
        r#"[["a"]]"#,
        r#"[[3, "a"]]"#,
        r#"[["a", 3],]"#,
        r#"[["a\u0000", 3]]"#,
        r#"[["\ud83d", 3]]"#,
        r#"[["\ud83d\ud83d", 3]]"#,
        r#"[["\u12", 3]]"#,
        r#"[["\u+123", 3]]"#,
        r#"[["\x", 3]]"#,
        "[[\"\n\", 3]]",
        r#"["#,
        r#"{}"#,
    ] {
        assert!(
            matches!(from_text(&with_items(items)), Err(StoredCountsError::Invalid(_))),
            "{items}"
        );
    }
    assert!(from_text(&with_items(r#"[["a", 3]]"#)).is_ok());
}

#[test]
fn names() {
    let qualified = |schema: &str, name: &str| {
        Some(SqlName::Qualified {
            schema: schema.into(),
            name: name.into(),
        })
    };
    assert_eq!(SqlName::parse("public.mood"), qualified("public", "mood"));
    assert_eq!(SqlName::parse("Public.\"M\"\".d\""), qualified("public", "M\".d"));
    assert_eq!(
        SqlName::parse("pg_catalog.\"char\""),
        qualified("pg_catalog", "char")
    );
    assert_eq!(SqlName::parse("timestamp with time zone"), Some(SqlName::Words));
    assert_eq!(SqlName::parse("\"a b\""), Some(SqlName::Words));
    for text in [
        "", "-", "0", "999999", "int[]", "a.b.c", "a.", ".a", "\"", "\"\"", "a  b", "a(1)", "a;b",
    ] {
        assert_eq!(SqlName::parse(text), None, "{text}");
    }
    assert_eq!(SqlName::parse(&"x".repeat(64)), None);
}

fn stored_counts() -> impl Strategy<Value = StoredCounts<'static>> {
    let item = prop_oneof!["[a-c]{0,2}", "\\PC{0,4}", "[\u{1}-\u{7f}]{0,3}"];
    let items = prop::collection::btree_map(item, 1u64..5, 1..8);
    (items, prop::option::of("[a-z]{1,3}\\.[a-z]{1,3}")).prop_map(|(items, collation)| {
        let transactions = *items.values().max().unwrap();
        let items = items.into_iter().map(|(text, count)| (Cow::Owned(text), count));
        StoredCounts::new(
            "public.t".into(),
            collation.map(Cow::Owned),
            transactions,
            items.collect(),
        )
        .unwrap()
    })
}

proptest! {
    #[test]
    fn reads_back_as_itself(stored in stored_counts()) {
        let (text, bytes) = (stored.to_text(), stored.to_bytes());
        prop_assert!(text.len() <= stored.text_length());
        prop_assert_eq!(from_text(&text), Ok(stored.clone()));
        prop_assert_eq!(StoredCounts::from_bytes(&bytes), Ok(stored));
    }
}

/// Makes a few random changes: overwrites, inserts or removes a byte, or cuts off the rest.
fn mutate(bytes: &mut Vec<u8>, random: &mut Pcg64) {
    const LIKELY: &[u8] = b"\"\\[]{},: 019-.eEu\x00\x01\x7f\x80\xff";
    for _ in 0..random.random_range(1..4) {
        let at = random.random_range(0..bytes.len() + 1);
        let byte = match random.random_bool(0.7) {
            true => LIKELY[random.random_range(0..LIKELY.len())],
            false => random.next_u32() as u8,
        };
        match random.random_range(0..8) {
            0 => bytes.truncate(at),
            1 | 2 => bytes.insert(at, byte),
            3 | 4 if at < bytes.len() => drop(bytes.remove(at)),
            _ if at < bytes.len() => bytes[at] = byte,
            _ => bytes.push(byte),
        }
    }
}

#[test]
fn damaged_texts_and_bytes_are_refused_or_read_back() {
    let seeds = [
        r#"{"type": "pg_catalog.text", "collation": "public.ci", "transactions": 3, "items": [["b", 3], ["\"\\\n", 1]]}"#,
        r#"{"type": "integer", "transactions": 12, "items": [["1", 10], ["2", 3], ["3", 1]]}"#,
        r#"{"type": "integer", "transactions": 0, "items": []}"#,
    ];
    let mut random = Pcg64::seed_from_u64(1);
    let (mut read_texts, mut read_bytes) = (0, 0);
    for case in 0..60_000 {
        let seed = seeds[case % seeds.len()];
        let mut text = seed.as_bytes().to_vec();
        mutate(&mut text, &mut random);
        if let Some(stored) = str::from_utf8(&text).ok().and_then(|text| from_text(text).ok()) {
            assert_eq!(from_text(&stored.to_text()).as_ref(), Ok(&stored));
            assert_eq!(StoredCounts::from_bytes(&stored.to_bytes()).as_ref(), Ok(&stored));
            read_texts += 1;
        }
        let mut bytes = from_text(seed).unwrap().to_bytes();
        mutate(&mut bytes, &mut random);
        if let Ok(stored) = StoredCounts::from_bytes(&bytes) {
            assert_eq!(stored.to_bytes(), bytes);
            stored.to_text();
            read_bytes += 1;
        }
    }
    assert!(
        read_texts > 1000 && read_bytes > 1000,
        "{read_texts} {read_bytes}"
    );
}
