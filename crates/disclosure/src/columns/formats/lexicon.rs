//! Which lists a word is in.

use super::lists;
use crate::semantic::Folding;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Topics of a word, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Topics(u32);

macro_rules! topics {
    ($($name:ident = $bit:literal),* $(,)?) => {
        $(pub(super) const $name: Topics = Topics(1 << $bit);)*
    };
}

impl Topics {
    topics! {
        GIVEN_NAME = 0, SURNAME = 1, PARTICLE = 2, TITLE = 3, MALE = 4, FEMALE = 5, OTHER_SEX = 6, MARITAL = 7, NATIONALITY = 8,
        ETHNICITY = 9, WEAK_ETHNICITY = 10, RELIGION = 11, WEAK_RELIGION = 12, STATE = 13, COLOUR = 14, STREET = 15,
        ABOUT_PEOPLE = 16, ABOUT_GOODS = 17, LOG_LEVEL = 18, DRUG = 19, DOSE_FORM = 20, DOSE_UNIT = 21, LAB = 22,
        WEAK_LAB = 23, FIRM = 24, MONTH = 25, NOT_NAME = 26, CURRENCY = 27, ICD = 28, FLAG = 29, DISEASE = 30, MAYBE_ABOUT_PEOPLE = 31,
    }
    pub(super) const NONE: Topics = Topics(0);

    pub(super) const fn or(self, other: Topics) -> Topics {
        Topics(self.0 | other.0)
    }

    pub(super) const fn and(self, other: Topics) -> Topics {
        Topics(self.0 & other.0)
    }

    /// Returns whether the topics include one of `others`.
    pub(super) const fn has(self, others: Topics) -> bool {
        self.0 & others.0 != 0
    }
}

type Words = FxHashMap<Box<str>, Topics>;

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let months = lists::MONTHS.join(" ");
    let lists: [(&str, Topics); 32] = [
        (lists::GIVEN_NAMES, Topics::GIVEN_NAME),
        (lists::SURNAMES, Topics::SURNAME),
        (lists::PARTICLES, Topics::PARTICLE),
        (lists::TITLES, Topics::TITLE),
        (lists::MALE, Topics::MALE),
        (lists::FEMALE, Topics::FEMALE),
        (lists::OTHER_SEX, Topics::OTHER_SEX),
        (lists::MARITAL, Topics::MARITAL),
        (lists::NATIONALITIES, Topics::NATIONALITY),
        (lists::ETHNICITIES, Topics::ETHNICITY),
        (lists::WEAK_ETHNICITIES, Topics::WEAK_ETHNICITY),
        (lists::RELIGIONS, Topics::RELIGION),
        (lists::WEAK_RELIGIONS, Topics::WEAK_RELIGION),
        (lists::STATES, Topics::STATE),
        (lists::COLOURS, Topics::COLOUR),
        (lists::STREETS, Topics::STREET),
        (lists::ABOUT_PEOPLE, Topics::ABOUT_PEOPLE),
        (lists::ABOUT_GOODS, Topics::ABOUT_GOODS),
        (lists::LOG_LEVELS, Topics::LOG_LEVEL),
        (lists::DRUGS, Topics::DRUG),
        (lists::DOSE_FORMS, Topics::DOSE_FORM),
        (lists::DOSE_UNITS, Topics::DOSE_UNIT),
        (lists::LAB_WORDS, Topics::LAB),
        (lists::WEAK_LAB, Topics::WEAK_LAB),
        (lists::FIRMS, Topics::FIRM),
        (&months, Topics::MONTH),
        (lists::NOT_NAMES, Topics::NOT_NAME),
        (lists::CURRENCIES, Topics::CURRENCY),
        (lists::FREQUENT_ICD, Topics::ICD),
        (lists::FLAGS, Topics::FLAG),
        (lists::DISEASES, Topics::DISEASE),
        (lists::MAYBE_ABOUT_PEOPLE, Topics::MAYBE_ABOUT_PEOPLE),
    ];
    let mut words = Words::default();
    for (list, topic) in lists {
        each_word(list, &mut String::new(), |word| {
            let topics = words.entry(word.into()).or_default();
            *topics = topics.or(topic);
        });
    }
    words
});

/// Calls `each` for every word of a text, in lower case and without accents.
pub(super) fn each_word(text: &str, buffer: &mut String, each: impl FnMut(&str)) {
    Folding::default().words(text, buffer, each);
}

/// Returns the topics of a word in lower case and without accents.
pub(super) fn topics_of(word: &str) -> Topics {
    WORDS.get(word).copied().unwrap_or_default()
}

/// Ends of words, found by their last two letters first.
struct Endings {
    list: &'static [&'static str],
    /// For each letter before the last, the last letters as bits.
    last_two: [u32; 26],
}

static DRUG_ENDINGS: LazyLock<Endings> = LazyLock::new(|| Endings::of(lists::DRUG_ENDINGS));
static DISEASE_ENDINGS: LazyLock<Endings> = LazyLock::new(|| Endings::of(lists::DISEASE_ENDINGS));
static STREET_ENDINGS: LazyLock<Endings> = LazyLock::new(|| Endings::of(lists::STREET_ENDINGS));

impl Endings {
    fn of(list: &'static [&'static str]) -> Endings {
        let mut last_two = [0; 26];
        for (before, last) in list.iter().filter_map(|ending| Endings::key(ending)) {
            last_two[before] |= 1 << last;
        }
        Endings { list, last_two }
    }

    fn key(word: &str) -> Option<(usize, usize)> {
        match word.as_bytes() {
            [.., before @ b'a'..=b'z', last @ b'a'..=b'z'] => {
                Some((usize::from(before - b'a'), usize::from(last - b'a')))
            }
            _ => None,
        }
    }

    /// Returns whether a word is longer than one of the endings by at least `more` bytes, and has it.
    fn has(&self, word: &str, more: usize) -> bool {
        Endings::key(word).is_some_and(|(before, last)| self.last_two[before] >> last & 1 == 1)
            && self
                .list
                .iter()
                .any(|ending| word.len() >= ending.len() + more && word.ends_with(ending))
    }
}

/// Returns whether a word in lower case and without accents begins like a word for a religion.
pub(super) fn begins_like_a_religion(word: &str) -> bool {
    word.len() >= 5
        && matches!(word.as_bytes()[0], b'a'..=b'p')
        && lists::RELIGION_STEMS.iter().any(|stem| word.starts_with(stem))
}

/// Returns whether a word in lower case and without accents ends like the international name of a drug.
pub(super) fn ends_like_a_drug(word: &str) -> bool {
    word.len() >= 7 && DRUG_ENDINGS.has(word, 1)
}

/// Returns whether a word in lower case and without accents ends like the name of a disease.
pub(super) fn ends_like_a_disease(word: &str) -> bool {
    word.len() >= 7 && DISEASE_ENDINGS.has(word, 3)
}

/// Returns whether a word in lower case and without accents ends like the name of a street, as in German or
/// Dutch.
pub(super) fn ends_like_a_street(word: &str) -> bool {
    STREET_ENDINGS.has(word, 3)
}
