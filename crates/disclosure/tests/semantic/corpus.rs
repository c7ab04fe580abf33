//! Tests of the distances between terms against their definitions: how texts become words and terms, in how
//! many documents terms occur together, and how far apart that makes them.

use disclosure::semantic::{
    Cooccurrence, Corpus, Embeddings, Folding, LexemeTerms, PairSelection, Scoring, SearchBuffer, Terms,
    normalised_google_distance,
};
use disclosure::{Control, Error};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::RngSeed;
use reference::semantic::{count_both, terms_in};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

const PLAIN: Folding = Folding { plurals: false };
const PLURALS: Folding = Folding { plurals: true };

fn words(folding: Folding, text: &str) -> Vec<String> {
    let mut words = vec![];
    folding.words(text, &mut String::from("left over"), |word| {
        words.push(word.into())
    });
    words
}

fn in_text(terms: &[&str], folding: Folding, text: &str) -> Vec<u32> {
    let mut found = vec![99];
    let terms = Terms::new(terms.iter().copied(), folding).unwrap();
    let control = Control::new();
    terms
        .in_text(text, &mut SearchBuffer::default(), &mut found, &control)
        .unwrap();
    found
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12, "{found} is not {expected}");
}

fn is_invalid<T>(found: Result<T, Error>, argument: &str) -> bool {
    matches!(found, Err(Error::InvalidArgument { argument: name, .. }) if name == argument)
}

/// Splits a text into words by definition: the whole text in NFKD, without accents, in lower case, then in
/// upper case and back.
fn words_of_nfkd(text: &str) -> Vec<String> {
    let is_accent = |part: char| match canonical_combining_class(part) {
        0..=6 => is_combining_mark(part) && !part.is_alphabetic(),
        class => class > 9,
    };
    let folded: String = text.nfkd().filter(|&part| !is_accent(part)).collect();
    let folded = folded.to_lowercase().to_uppercase();
    let folded: String = folded.chars().flat_map(char::to_lowercase).collect();
    let is_letter = |part: char| part.is_alphanumeric() || is_combining_mark(part);
    let words = folded
        .split(|part| !is_letter(part))
        .filter(|word| !word.is_empty());
    words.map(String::from).collect()
}

fn corpus(terms: usize, documents: &[Vec<u32>]) -> Corpus {
    let mut corpus = Corpus::new(terms);
    for document in documents {
        corpus.push(document).unwrap();
    }
    corpus
}

/// Generates texts of few different words, so that terms occur in them.
fn texts() -> impl Strategy<Value = String> {
    const WORDS: [&str; 15] = [
        "a", "A", "b", "bs", "ab", "é", "e\u{301}", "E", "ß", "ss", "boxes", "box", "か", "が", "🩸",
    ];
    const SEPARATORS: [&str; 8] = [" ", "  ", "-", "'", ", ", "", "\u{a0}", "。"];
    let pieces = prop::collection::vec((select(&WORDS[..]), select(&SEPARATORS[..])), 0..12);
    pieces.prop_map(|pieces| {
        pieces
            .into_iter()
            .flat_map(|(word, after)| [word, after])
            .collect()
    })
}

fn documents() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let document = subsequence((0..9).collect::<Vec<u32>>(), 0..=9);
    prop::collection::vec(document, 0..40)
}

#[test]
fn folding_of_words() {
    assert_eq!(
        words(PLAIN, "Blood-Pressure (high)"),
        ["blood", "pressure", "high"]
    );
    assert_eq!(words(PLAIN, "Café-au-lait"), ["cafe", "au", "lait"]);
    assert_eq!(words(PLAIN, "É é E\u{301}ÉÉ"), ["e", "e", "eee"]);
    assert_eq!(words(PLAIN, "ﬁne Ｆull ℌ m²"), ["fine", "full", "h", "m2"]);
    assert_eq!(words(PLAIN, "Straße STRASSE STRAẞE"), ["strasse"; 3]);
    assert_eq!(words(PLAIN, "ΣΟΦΟΣ σοφός"), ["σοφοσ"; 2]);
    assert_eq!(words(PLAIN, "İstanbul ISTANBUL"), ["istanbul"; 2]);
    assert_eq!(words(PLAIN, "patient's O'Brien"), ["patient", "s", "o", "brien"]);
    assert_eq!(words(PLAIN, "vitamin_B12,CO2/h"), ["vitamin", "b12", "co2", "h"]);
    assert_eq!(words(PLAIN, "½ dose"), ["1", "2", "dose"]);
    assert_eq!(words(PLAIN, " +–… "), [""; 0]);
    assert_eq!(words(PLAIN, ""), [""; 0]);
}

#[test]
fn other_scripts_keep_their_letters() {
    assert_eq!(words(PLAIN, "血圧 が高い。か"), ["血圧", "か\u{3099}高い", "か"]);
    assert_eq!(words(PLAIN, "ガ が").len(), 2);
    assert_eq!(words(PLAIN, "कि का क्या"), ["कि", "का", "क्या"]);
    assert_eq!(words(PLAIN, "혈압").len(), 1);
    assert_eq!(words(PLAIN, "❤\u{fe0f}🩸 👩\u{200d}⚕\u{fe0f}"), [""; 0]);
    assert_eq!(words(PLAIN, "1\u{fe0f}\u{20e3}"), ["1"]);
    assert_eq!(words(PLURALS, "échos ñññs ñs"), ["echo", "nnn", "ns"]);
}

#[test]
fn plurals_become_what_singulars_become() {
    for (plural, singular) in [
        ("allergies", "allergy"),
        ("calories", "calorie"),
        ("ties", "tie"),
        ("glasses", "glass"),
        ("rashes", "rash"),
        ("stitches", "stitch"),
        ("headaches", "headache"),
        ("boxes", "box"),
        ("axes", "axe"),
        ("sizes", "size"),
        ("viruses", "virus"),
        ("irises", "iris"),
        ("causes", "cause"),
        ("knees", "knee"),
        ("Pressures", "pressure"),
        ("Diabetes", "diabetes"),
    ] {
        assert_eq!(words(PLURALS, plural), words(PLURALS, singular), "{plural}");
    }
    for same in [
        "glass",
        "virus",
        "diagnosis",
        "gas",
        "yes",
        "axe",
        "die",
        "bus",
        "box",
        "knee",
        "allergy",
    ] {
        assert_eq!(words(PLURALS, same), [same]);
    }
    assert_eq!(words(PLURALS, "sses"), ["sse"]);
    assert_eq!(words(PLURALS, "glasses knees"), ["glass", "knee"]);
    assert_eq!(words(PLAIN, "glasses knees"), ["glasses", "knees"]);
}

#[test]
fn terms_are_consecutive_words() {
    let terms = [
        "blood pressure",
        "blood",
        "pressure",
        "Blood  PRESSURE",
        "+",
        "high blood",
        "knee",
    ];
    assert_eq!(in_text(&terms, PLAIN, "High blood-pressure"), [0, 1, 2, 3, 5]);
    assert_eq!(in_text(&terms, PLAIN, "blood, sweat, pressure"), [1, 2]);
    assert_eq!(in_text(&terms, PLAIN, "blood blood pressure blood"), [0, 1, 2, 3]);
    assert_eq!(in_text(&terms, PLAIN, "kneel + knees"), []);
    assert_eq!(in_text(&terms, PLURALS, "kneel + knees"), [6]);
    assert_eq!(in_text(&terms, PLAIN, ""), []);
    assert_eq!(in_text(&[], PLAIN, "knee"), []);
    assert_eq!(in_text(&["a a", "a a a", "a b"], PLAIN, "a a b"), [0, 2]);
}

/// Texts are searched in pieces. A long term that almost repeats itself takes no longer than others.
#[test]
fn long_texts_are_no_different() {
    let filler = "word ".repeat(20_000);
    let text = format!("{filler}blood {filler}pressure of blood{filler} blood pressure {filler}knee");
    assert_eq!(
        in_text(&["blood pressure", "knee", "of bloodword"], PLAIN, &text),
        [0, 1, 2]
    );
    let long = "a ".repeat(50_000);
    let repeated = format!("{}b", "a ".repeat(500_000));
    assert_eq!(
        in_text(&[&long, "a b", &format!("{long}b")], PLAIN, &repeated),
        [0, 1, 2]
    );
}

#[test]
fn terms_as_elements_of_a_list() {
    let terms = ["blood pressure", "blood", "+", "BLOOD", "knee"];
    let terms = Terms::new(terms.into_iter(), PLAIN).unwrap();
    assert_eq!(terms.len(), 5);
    let mut scratch = SearchBuffer::default();
    assert_eq!(terms.of_whole(" Blood Pressure!", &mut scratch), [0]);
    assert_eq!(terms.of_whole("blood", &mut scratch), [1, 3]);
    for none in [
        "pressure",
        "blood pressure high",
        "high blood",
        "+",
        "",
        "blood pressure blood pressure",
    ] {
        assert!(terms.of_whole(none, &mut scratch).is_empty(), "{none}");
    }
    let mut found = vec![99];
    let elements = ["knee", "Blood pressure", "+", "knee"];
    terms
        .in_list(elements, &mut scratch, &mut found, &Control::new())
        .unwrap();
    assert_eq!(found, [0, 4]);
}

#[test]
fn lexemes_at_distances() {
    let term = |lexemes: &[(&str, u32)]| -> Vec<(String, u32)> {
        let owned = |&(lexeme, position): &(&str, u32)| (lexeme.to_string(), position);
        lexemes.iter().map(owned).collect()
    };
    let terms = vec![
        term(&[("pressur", 2), ("blood", 1)]),
        term(&[("blood", 1)]),
        term(&[]),
        term(&[("loss", 1), ("blood", 3)]),
        term(&[("blood", 7), ("blood", 7)]),
        term(&[("blood", 1), ("blood", 2)]),
        term(&[("knee", 1)]),
    ];
    let terms = LexemeTerms::new(terms).unwrap();
    assert_eq!(terms.len(), 7);
    let (mut scratch, mut found) = (SearchBuffer::default(), vec![99]);
    let mut check = |document: &[(&str, &[u16])], expected: &[u32]| {
        terms.in_lexemes(document, &mut scratch, &mut found);
        assert_eq!(found, expected);
    };
    check(&[("blood", &[3, 9]), ("pressur", &[10])], &[0, 1, 4]);
    check(&[("blood", &[3, 9]), ("loss", &[1])], &[1, 3, 4]);
    check(&[("blood", &[4, 9]), ("loss", &[1])], &[1, 4]);
    check(&[("blood", &[9, 10])], &[1, 4, 5]);
    check(&[("blood", &[]), ("knee", &[]), ("pressur", &[])], &[1, 4, 6]);
    check(&[("pressur", &[1]), ("blood", &[2])], &[1, 4]);
    check(&[], &[]);
}

#[test]
fn normalised_google_distance_by_hand() {
    let (eight_four_two, half) = (normalised_google_distance(8.0, 4.0, 2.0, 16.0), 0.5);
    assert_close(eight_four_two.unwrap(), 1.0);
    assert_close(normalised_google_distance(4.0, 4.0, 2.0, 16.0).unwrap(), half);
    assert_eq!(normalised_google_distance(4.0, 8.0, 2.0, 16.0), eight_four_two);
    assert_eq!(normalised_google_distance(5.0, 5.0, 5.0, 16.0), Some(0.0));
    assert_eq!(normalised_google_distance(16.0, 16.0, 16.0, 16.0), Some(0.0));
    assert_eq!(
        normalised_google_distance(8.0, 4.0, 0.0, 16.0),
        Some(f64::INFINITY)
    );
    assert_eq!(normalised_google_distance(0.0, 4.0, 0.0, 16.0), None);
    assert_eq!(normalised_google_distance(4.0, 0.0, 0.0, 16.0), None);
    assert_eq!(normalised_google_distance(0.0, 0.0, 0.0, 0.0), None);
    assert_close(normalised_google_distance(4.0, 4.0, 8.0, 16.0).unwrap(), -half);
}

#[test]
fn counts_from_elsewhere() {
    let pairs = vec![(1, 0, 2), (0, 1, 2), (0, 2, 8), (2, 2, 4)];
    let given = Cooccurrence::from_counts(16, vec![8, 4, 4, 0], pairs).unwrap();
    assert_eq!(given.documents(), 16);
    assert_eq!(given.counts(0, 1), (8, 4, 2));
    assert_eq!(given.counts(1, 0), (4, 8, 2));
    assert_eq!(given.counts(1, 2), (4, 4, 0));
    assert_eq!(given.counts(1, 1), (4, 4, 4));
    assert_eq!(given.counts(1, 99), (4, 0, 0));
    assert_close(given.distance(1, 0).unwrap(), 1.0);
    assert_eq!(given.distance(1, 2), Some(f64::INFINITY));
    assert_eq!(given.distance(1, 1), Some(0.0));
    assert_eq!(given.distance(1, 3), None);
    assert_eq!(given.distance(99, 1), None);
    assert_eq!(
        [0, 1, 2, 3, 99].map(|term| given.is_known(term)),
        [true, true, true, false, false]
    );

    let half = given.clone().with_unseen(0.5).unwrap();
    assert_close(half.distance(1, 2).unwrap(), 8_f64.log2() / 2.0);
    assert_eq!(half.distance(1, 3), None);
    for unseen in [-0.1, 1.0, f64::NAN, f64::INFINITY] {
        assert!(is_invalid(given.clone().with_unseen(unseen), "unseen"));
    }

    for (singles, pairs) in [
        (vec![17, 0], vec![]),
        (vec![4, 4], vec![(0, 1, 17)]),
        (vec![4, 4], vec![(0, 1, 2), (1, 0, 3)]),
        (vec![4, 4], vec![(0, 0, 3)]),
        (vec![4, 4], vec![(0, 2, 3)]),
    ] {
        assert!(is_invalid(
            Cooccurrence::from_counts(16, singles, pairs),
            "corpus"
        ));
    }
}

#[test]
fn a_corpus_without_documents_or_terms() {
    let control = Control::new();
    for wanted in [
        PairSelection::All,
        PairSelection::Pairs(&[(0, 1), (7, 7), (9, 1)]),
    ] {
        let none = Corpus::new(0).cooccurrence(wanted, &control).unwrap();
        assert_eq!((none.documents(), none.distance(0, 1)), (0, None));
        let empty = corpus(3, &[vec![], vec![1], vec![]]);
        let empty = empty.cooccurrence(wanted, &control).unwrap();
        assert_eq!((empty.documents(), empty.counts(1, 2)), (3, (1, 0, 0)));
    }
    let many = Corpus::new(Corpus::MAX_TERMS_FOR_ALL_PAIRS + 1);
    assert!(matches!(
        many.cooccurrence(PairSelection::All, &control),
        Err(Error::TooMany { .. })
    ));
}

#[test]
fn counting_can_be_cancelled() {
    let control = Control::new();
    control.cancel();
    let found = corpus(2, &[vec![0, 1]]).cooccurrence(PairSelection::All, &control);
    assert_eq!(found.err(), Some(Error::Cancelled));
}

#[test]
fn threads_count_the_same() {
    let document = |number: u32| {
        (0..600)
            .filter(|term| (number * 31 + term * 17) % 7 < 3)
            .collect()
    };
    let documents: Vec<Vec<u32>> = (0..200).map(document).collect();
    let all = corpus(600, &documents).cooccurrence(PairSelection::All, &Control::new());
    let all = all.unwrap();
    for one in (0..600).step_by(23) {
        for other in 0..600 {
            assert_eq!(all.counts(one, other).2, count_both(&documents, one, other));
        }
    }
}

#[test]
fn directions() {
    let mut embeddings = Embeddings::new();
    let vectors: [&[f32]; 7] = [
        &[1.0, 0.0, 0.0],
        &[0.0, 2.0, 0.0],
        &[-3.0, 0.0, 0.0],
        &[0.0; 3],
        &[3.0, 4.0, 0.0],
        &[f32::MAX; 3],
        &[1e-45; 3],
    ];
    for (term, vector) in (0..).zip(vectors) {
        embeddings.insert(term, vector).unwrap();
    }
    assert_eq!(embeddings.distance(0, 1), Some(1.0));
    assert_eq!(embeddings.distance(0, 2), Some(2.0));
    assert_eq!(embeddings.distance(0, 3), None);
    assert_close(embeddings.distance(4, 0).unwrap(), 0.4);
    assert_close(embeddings.distance(5, 6).unwrap(), 0.0);
    assert_eq!(embeddings.distance(4, 4), Some(0.0));
    assert_eq!(
        [0, 3, 4, 99].map(|term| embeddings.is_known(term)),
        [true, false, true, false]
    );

    assert_eq!(embeddings.insert(0, vectors[0]), Ok(()));
    assert_eq!(embeddings.insert(3, vectors[4]), Ok(()));
    assert!(is_invalid(embeddings.insert(0, vectors[1]), "corpus"));
    assert!(is_invalid(embeddings.insert(8, &[1.0]), "corpus"));
    assert!(is_invalid(embeddings.insert(8, &[1.0, f32::NAN, 0.0]), "corpus"));
    assert!(is_invalid(
        embeddings.insert(8, &[1.0, f32::INFINITY, 0.0]),
        "corpus"
    ));
}

fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(5),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn words_are_runs_of_folded_letters(text in any::<String>(), plurals: bool) {
        let found = words(PLAIN, &text);
        prop_assert_eq!(&found, &words_of_nfkd(&text));
        prop_assert_eq!(&words(PLAIN, &found.join(" ")), &found);
        let folding = Folding { plurals };
        prop_assert!(words(folding, &text).iter().all(|word| !word.is_empty()));
    }

    #[test]
    fn terms_are_found_where_windows_are(
        terms in prop::collection::vec(texts(), 0..12),
        more in texts(),
        plurals: bool,
    ) {
        let folding = Folding { plurals };
        let text = terms.iter().step_by(2).chain([&more]).cloned().collect::<Vec<_>>().join(" ");
        let found = Terms::new(terms.iter().map(|term| &term[..]), folding).unwrap();
        let (mut scratch, mut numbers) = (SearchBuffer::default(), vec![]);
        let of_terms: Vec<_> = terms.iter().map(|term| words(folding, term)).collect();
        for text in [&text, &more] {
            found.in_text(text, &mut scratch, &mut numbers, &Control::new()).unwrap();
            prop_assert_eq!(&numbers, &terms_in(&of_terms, &words(folding, text)));
        }
        for text in &terms {
            let same = |&term: &u32| {
                let term = words(folding, &terms[term as usize]);
                !term.is_empty() && term == words(folding, text)
            };
            let same: Vec<u32> = (0..terms.len() as u32).filter(same).collect();
            prop_assert_eq!(found.of_whole(text, &mut scratch), same);
        }
    }

    #[test]
    fn lexemes_are_found_where_they_are(
        terms in prop::collection::vec(prop::collection::vec((0..4_usize, 0..4_u32), 0..4), 0..8),
        documents in prop::collection::vec(
            prop::collection::btree_map(0..5_usize, prop::collection::btree_set(0..9_u16, 0..5), 0..5),
            1..4,
        ),
    ) {
        let names = ["a", "b", "c", "d", "e"];
        let named = terms.iter().map(|term| {
            term.iter().map(|&(lexeme, position)| (names[lexeme].to_string(), position + 5)).collect()
        });
        let found = LexemeTerms::new(named.collect()).unwrap();
        let (mut scratch, mut numbers) = (SearchBuffer::default(), vec![]);
        for document in documents {
            let occurs = |term: &Vec<(usize, u32)>| {
                let is_there = |lexeme: usize, position: i32| {
                    let positions = document.get(&lexeme);
                    positions.is_some_and(|positions| positions.iter().any(|&at| i32::from(at) == position))
                };
                let at = |start: i32| term.iter().all(|&(lexeme, place)| is_there(lexeme, start + place as i32));
                match term.first() {
                    None => false,
                    Some(first) if term.iter().all(|other| other == first) => document.contains_key(&first.0),
                    Some(_) => (-9..9).any(at),
                }
            };
            let expected: Vec<u32> =
                (0..terms.len() as u32).filter(|&term| occurs(&terms[term as usize])).collect();
            let positions: Vec<(&str, Vec<u16>)> =
                document.iter().map(|(&lexeme, at)| (names[lexeme], at.iter().copied().collect())).collect();
            let lexemes: Vec<(&str, &[u16])> =
                positions.iter().map(|(lexeme, at)| (*lexeme, &at[..])).collect();
            found.in_lexemes(&lexemes, &mut scratch, &mut numbers);
            prop_assert_eq!(&numbers, &expected);
        }
    }

    #[test]
    fn pairs_are_counted_as_defined(
        documents in documents(),
        wanted in prop::collection::vec((0..12_u32, 0..12_u32), 0..40),
        unseen in 0.0..1.0,
    ) {
        let control = Control::new();
        let all = corpus(9, &documents).cooccurrence(PairSelection::All, &control).unwrap();
        let some = corpus(9, &documents).cooccurrence(PairSelection::Pairs(&wanted), &control).unwrap();
        let some = some.with_unseen(unseen).unwrap();
        let every = (0..12).flat_map(|one| (0..12).map(move |other| (one, other)));
        for (one, other) in every {
            let count = |one: u32, other: u32| count_both(&documents, one, other);
            let expected = (count(one, one), count(other, other), count(one, other));
            prop_assert_eq!(all.counts(one, other), expected);
            prop_assert_eq!(all.is_known(one), expected.0 > 0);
            if wanted.contains(&(one, other)) || wanted.contains(&(other, one)) {
                prop_assert_eq!(some.counts(one, other), expected);
            }
            let distance = normalised_google_distance(
                expected.0 as f64, expected.1 as f64, expected.2 as f64, documents.len() as f64,
            );
            prop_assert_eq!(all.distance(one, other), distance);
            prop_assert_eq!(all.distance(other, one), distance);
            prop_assert!(distance.is_none_or(|distance| distance >= 0.0));
        }
        for &(one, other) in &wanted {
            let (_, _, both) = some.counts(one, other);
            if both > 0 || !some.is_known(one) || !some.is_known(other) {
                prop_assert_eq!(some.distance(one, other), all.distance(one, other));
            } else {
                prop_assert_eq!(some.distance(one, other) == Some(f64::INFINITY), unseen == 0.0);
            }
        }
        let pairs = (0..9).flat_map(|one| (0..9).map(move |other| (one, other)));
        let pairs = pairs.map(|(one, other)| (one, other, count_both(&documents, one, other)));
        let singles = (0..9).map(|term| count_both(&documents, term, term)).collect();
        let given = Cooccurrence::from_counts(documents.len() as u64, singles, pairs.collect()).unwrap();
        for (one, other) in (0..9).flat_map(|one| (0..9).map(move |other| (one, other))) {
            prop_assert_eq!(given.distance(one, other), all.distance(one, other));
        }
    }

    #[test]
    fn distances_of_directions(vectors in prop::collection::vec(prop::array::uniform11(-9.0_f32..9.0), 2..6)) {
        let mut embeddings = Embeddings::new();
        for (term, vector) in (0..).zip(&vectors) {
            embeddings.insert(term, vector).unwrap();
        }
        let product = |one: usize, other: usize| -> f64 {
            let pairs = vectors[one].iter().zip(&vectors[other]);
            pairs.map(|(&one, &other)| f64::from(one) * f64::from(other)).sum()
        };
        for one in 0..vectors.len() {
            for other in 0..vectors.len() {
                let cosine = product(one, other) / product(one, one).sqrt() / product(other, other).sqrt();
                let found = embeddings.distance(one as u32, other as u32);
                prop_assert!((found.unwrap() - (1.0 - cosine)).abs() < 1e-12);
                prop_assert_eq!(found, embeddings.distance(other as u32, one as u32));
            }
        }
    }
}
