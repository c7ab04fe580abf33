//! Words that people type: which spellings are the same word, and which word a misspelt one is nearest to.
//!
//! Upper and lower case are the same, and so are hyphens, underscores and spaces. The distance between two
//! words is the number of letters to insert, delete, replace or swap with their neighbour (optimal string
//! alignment distance), so that the usual slips of a typist count once.

/// Returns a spelling in lower case whose parts are separated by single spaces.
pub fn normalised(text: &str) -> String {
    let is_separator = |letter: char| letter.is_whitespace() || letter == '-' || letter == '_';
    let parts: Vec<String> = text
        .split(is_separator)
        .filter(|part| !part.is_empty())
        .map(str::to_lowercase)
        .collect();
    parts.join(" ")
}

/// Returns whether two spellings are the same word.
pub fn is_same(left: &str, right: &str) -> bool {
    normalised(left) == normalised(right)
}

/// Returns the word that is nearest to `given`, the first one if several are; `None` if no word is near.
pub fn nearest<'a>(given: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given: Vec<char> = normalised(given).chars().collect();
    let near = words.into_iter().filter_map(|word| {
        let letters: Vec<char> = normalised(word).chars().collect();
        Some((distance_if_near(&given, &letters)?, word))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, word)| word)
}

/// Returns the distance between two words, if somebody who typed the first may have meant the second: a third
/// of the letters differ at most, or one begins with the other.
fn distance_if_near(given: &[char], word: &[char]) -> Option<usize> {
    /// Letters that suffice to recognise a word by its beginning.
    const BEGINNING: usize = 2;
    let (shorter, longer) = (given.len().min(word.len()), given.len().max(word.len()));
    if shorter >= BEGINNING && (word.starts_with(given) || given.starts_with(word)) {
        return Some((longer - shorter).min(1));
    }
    let farthest = longer.div_ceil(3);
    // The distance is at least the difference in length; without this, a long text would be compared in full.
    if longer - shorter > farthest {
        return None;
    }
    let distance = distance(given, word);
    (shorter > 0 && distance <= farthest && distance < longer).then_some(distance)
}

/// Returns the optimal string alignment distance of two words.
fn distance(left: &[char], right: &[char]) -> usize {
    // Rows of the table of distances between the beginnings of both words: the last two, and the current one.
    let mut before_last = vec![0; right.len() + 1];
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, &letter) in left.iter().enumerate() {
        let mut current = vec![row + 1; right.len() + 1];
        for (column, &other) in right.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != other);
            let inserted_or_deleted = last[column + 1].min(current[column]) + 1;
            current[column + 1] = replaced.min(inserted_or_deleted);
            let is_swapped = row > 0 && column > 0 && letter == right[column - 1] && left[row - 1] == other;
            if is_swapped {
                current[column + 1] = current[column + 1].min(before_last[column - 1] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    const LABELS: [&str; 4] = ["quasi", "sensitive", "identifier", "ignore"];

    fn between(left: &str, right: &str) -> usize {
        let letters = |word: &str| word.chars().collect::<Vec<char>>();
        distance(&letters(left), &letters(right))
    }

    #[test]
    fn case_and_separators_do_not_matter() {
        for spelling in [
            "quasi identifier",
            "Quasi-Identifier",
            "QUASI_IDENTIFIER",
            "  quasi \t identifier ",
            "quasi--identifier",
        ] {
            assert!(is_same(spelling, "quasi-identifier"), "{spelling}");
        }
        assert!(is_same("GRÖSSE", "grösse"));
        assert!(!is_same("quasiidentifier", "quasi identifier"));
        assert!(is_same("- _", ""));
    }

    #[test]
    fn a_slip_counts_once() {
        assert_eq!(between("exact", "exact"), 0);
        assert_eq!(between("exakt", "exact"), 1);
        assert_eq!(between("exat", "exact"), 1);
        assert_eq!(between("exaact", "exact"), 1);
        assert_eq!(between("excat", "exact"), 1);
        assert_eq!(between("ca", "abc"), 3); // 2 if letters between swapped ones could change too
        assert_eq!(between("", "exact"), 5);
        assert_eq!(between("größe", "grösse"), 2);
    }

    #[test]
    fn the_nearest_word_is_offered() {
        for (given, word) in [
            ("qausi", Some("quasi")),
            ("QASI", Some("quasi")),
            ("sensetive", Some("sensitive")),
            ("sens", Some("sensitive")),
            ("id", Some("identifier")),
            ("identity", Some("identifier")),
            ("ignored", Some("ignore")),
            ("sensitive data", Some("sensitive")),
            ("secret", None),
            ("xyz", None),
            ("", None),
            ("i", None),
        ] {
            assert_eq!(nearest(given, LABELS), word, "for {given:?}");
        }
        assert_eq!(nearest("b", ["a", "c"]), None);
        assert_eq!(nearest("xba", ["gba", "rba"]), Some("gba"));
        assert_eq!(nearest(&"quasi".repeat(100_000), ["sensitive"]), None);
    }

    /// The definition, by the last letters of both words.
    fn defined(left: &[u8], right: &[u8]) -> usize {
        let ([rest @ .., last], [other_rest @ .., other_last]) = (left, right) else {
            return left.len().max(right.len());
        };
        let replaced = defined(rest, other_rest) + usize::from(last != other_last);
        let deleted = defined(rest, right) + 1;
        let inserted = defined(left, other_rest) + 1;
        let swapped = match (left, right) {
            ([start @ .., a, b], [other_start @ .., c, d]) if (a, b) == (d, c) => {
                defined(start, other_start) + 1
            }
            _ => usize::MAX,
        };
        replaced.min(deleted).min(inserted).min(swapped)
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 200,
            rng_seed: RngSeed::Fixed(19),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn the_distance_is_the_defined_one(left in "[abc]{0,6}", right in "[abc]{0,6}") {
            prop_assert_eq!(between(&left, &right), defined(left.as_bytes(), right.as_bytes()));
        }
    }
}
