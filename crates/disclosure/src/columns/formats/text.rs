//! Values of words: names of people, streets, words of lists, drugs and findings, texts.

use super::format::{Format, Formats};
use super::lexicon::{
    Topics, begins_like_a_religion, each_word, ends_like_a_disease, ends_like_a_drug, ends_like_a_street,
    topics_of,
};
use super::shape::Shape;

const NAMES: Topics = Topics::GIVEN_NAME.or(Topics::SURNAME);

/// Topics that words of names do not have, unless they are names.
const NOT_NAMES: Topics = Topics::NOT_NAME
    .or(Topics::FIRM)
    .or(Topics::STATE)
    .or(Topics::COLOUR)
    .or(Topics::ABOUT_GOODS)
    .or(Topics::NATIONALITY)
    .or(Topics::MONTH)
    .or(Topics::RELIGION)
    .or(Topics::DRUG);

/// What the words of a value are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words {
    count: usize,
    /// Topics of at least one word.
    pub(super) any: Topics,
    /// Topics of all words.
    all: Topics,
    first: Topics,
    last: Topics,
    names: usize,
    not_names: usize,
    streets: usize,
    drugs: usize,
    people: usize,
    maybe_people: usize,
    goods: usize,
}

impl Words {
    pub(super) fn of(text: &str, buffer: &mut String) -> Words {
        let mut words = Words {
            count: 0,
            any: Topics::NONE,
            all: Topics::NONE,
            first: Topics::NONE,
            last: Topics::NONE,
            names: 0,
            not_names: 0,
            streets: 0,
            drugs: 0,
            people: 0,
            maybe_people: 0,
            goods: 0,
        };
        each_word(text, buffer, |word| words.add(word));
        words
    }

    fn add(&mut self, word: &str) {
        // A unit may follow its number without a blank.
        let letters = word.trim_start_matches(|character: char| character.is_ascii_digit());
        let mut topics = topics_of(letters);
        if letters.len() < word.len() {
            topics = topics.and(Topics::DOSE_UNIT.or(Topics::LAB).or(Topics::ABOUT_GOODS));
        }
        if ends_like_a_disease(letters) {
            topics = topics.or(Topics::DISEASE);
        }
        if self.count < 3 && topics == Topics::NONE && begins_like_a_religion(letters) {
            topics = Topics::RELIGION;
        }
        if ends_like_a_drug(letters) && !topics.has(NAMES) {
            topics = topics.or(Topics::DRUG);
        }
        if topics.has(Topics::ETHNICITY) {
            topics = topics.or(Topics::WEAK_ETHNICITY);
        }
        if topics.has(Topics::RELIGION) {
            topics = topics.or(Topics::WEAK_RELIGION);
        }
        if topics.has(Topics::MALE.or(Topics::FEMALE)) {
            topics = topics.or(Topics::OTHER_SEX);
        }
        self.all = if self.count == 0 {
            topics
        } else {
            self.all.and(topics)
        };
        if self.count == 0 {
            self.first = topics;
        }
        self.last = topics;
        self.any = self.any.or(topics);
        self.count += 1;
        let is_name = topics.has(NAMES) && letters.chars().nth(1).is_some();
        self.names += usize::from(is_name);
        self.not_names += usize::from(!is_name && topics.has(NOT_NAMES));
        self.streets +=
            usize::from(topics.has(Topics::STREET) && letters.len() > 1 || ends_like_a_street(letters));
        self.drugs += usize::from(topics.has(Topics::DRUG));
        let is_word = letters.chars().nth(1).is_some();
        self.people += usize::from(topics.has(Topics::ABOUT_PEOPLE) && is_word);
        self.maybe_people += usize::from(topics.has(Topics::MAYBE_ABOUT_PEOPLE));
        self.goods += usize::from(topics.has(Topics::ABOUT_GOODS));
    }

    /// Returns the formats of a value whose words these are.
    pub(super) fn formats(&self, text: &str, shape: &Shape) -> Formats {
        let mut formats = Formats::default();
        if self.count == 0 {
            return formats;
        }
        if shape.digits == 0 && self.count <= 9 {
            self.add_phrases(&mut formats);
        }
        self.add_health(&mut formats, text, shape);
        let is_log = is_log_line(text, self.first);
        formats.add_if(Format::LogLine, is_log);
        let has_firm = self.count >= 2 && self.last.has(Topics::FIRM) && shape.digits == 0;
        formats.add_if(Format::Firm, has_firm);
        formats.add_if(Format::Street, self.is_street(text, shape) && !is_log);
        if self.count >= 4 && shape.spaces >= 3 {
            formats.add(Format::Text);
            formats.add_if(
                Format::PersonText,
                self.people + self.maybe_people > self.goods && !is_log && self.count >= 5,
            );
            formats.add_if(
                Format::SurePersonText,
                self.people > 0 && self.people >= self.goods && !is_log,
            );
            formats.add_if(Format::ProductText, self.goods > self.people && !is_log);
        }
        if shape.digits == 0 && self.count <= 7 && self.not_names == 0 && !has_firm {
            self.add_names(&mut formats, text);
        }
        formats
    }

    fn add_phrases(&self, formats: &mut Formats) {
        formats.add_if(Format::Sex, self.all.has(Topics::OTHER_SEX));
        formats.add_if(Format::Marital, self.all.has(Topics::MARITAL));
        formats.add_if(Format::Nationality, self.all.has(Topics::NATIONALITY));
        formats.add_if(Format::WeakEthnicity, self.all.has(Topics::WEAK_ETHNICITY));
        let is_ethnicity = self.any.has(Topics::ETHNICITY) && self.all.has(Topics::WEAK_ETHNICITY);
        formats.add_if(Format::Ethnicity, is_ethnicity);
        formats.add_if(Format::WeakReligion, self.all.has(Topics::WEAK_RELIGION));
        formats.add_if(
            Format::Religion,
            self.any.has(Topics::RELIGION) && self.all.has(Topics::WEAK_RELIGION),
        );
        formats.add_if(Format::Status, self.all.has(Topics::STATE));
        formats.add_if(Format::WeakLab, self.all.has(Topics::WEAK_LAB));
        formats.add_if(Format::Colour, self.all.has(Topics::COLOUR));
        formats.add_if(Format::Flag, self.count == 1 && self.all.has(Topics::FLAG));
        formats.add_if(Format::Month, self.count == 1 && self.all.has(Topics::MONTH));
    }

    fn add_health(&self, formats: &mut Formats, text: &str, shape: &Shape) {
        let has_unit = shape.digits > 0 && self.any.has(Topics::DOSE_UNIT);
        let has_form = self.any.has(Topics::DOSE_FORM);
        let is_drug = self.drugs > 0 && (has_unit || has_form || self.count == 1 && shape.length > 4);
        formats.add_if(Format::Drug, is_drug && self.count <= 14);
        let is_finding = self.any.has(Topics::LAB) && (shape.digits > 0 || self.any.has(Topics::WEAK_LAB));
        formats.add_if(
            Format::Diagnosis,
            self.any.has(Topics::DISEASE) && self.count <= 8 && !is_drug,
        );
        formats.add_if(Format::Lab, is_finding && self.count <= 12 && !is_drug);
        formats.add_if(
            Format::WeakLab,
            shape.digits > 0 && text.ends_with('%') && self.count <= 3,
        );
    }

    /// Returns whether a text is a street with a number, or a post office box.
    fn is_street(&self, text: &str, shape: &Shape) -> bool {
        let is_box = text.get(..6).is_some_and(|start| {
            start.eq_ignore_ascii_case("po box") || start.eq_ignore_ascii_case("p.o. b")
        }) || text.starts_with("Postfach ");
        let has_number = (1..=12).contains(&shape.digits)
            && text
                .split(|character: char| !character.is_alphanumeric())
                .any(is_house_number);
        (2..=14).contains(&self.count)
            && has_number
            && (is_box || self.streets > 0 && self.goods == 0 && self.drugs == 0)
    }

    fn add_names(&self, formats: &mut Formats, text: &str) {
        let Some(tokens) = name_tokens(text) else {
            // Names in lower case are names only if all words are.
            formats.add_if(
                Format::PersonName,
                self.count >= 2 && self.names == self.count && self.count <= 4,
            );
            return;
        };
        if tokens == 1 {
            formats.add(Format::SingleShape);
            formats.add_if(Format::SingleName, self.names > 0);
        } else {
            formats.add(Format::NameShape);
            let has_title = self.first.has(Topics::TITLE)
                && text.split_ascii_whitespace().skip(1).any(|token| token.len() > 3);
            formats.add_if(
                Format::PersonName,
                self.names > 0 && (self.names * 3 >= self.count) || has_title || has_initial(text),
            );
            formats.add_if(
                Format::SingleName,
                tokens == 2 && self.all.has(NAMES.or(Topics::PARTICLE)),
            );
        }
    }
}

/// Returns whether a text has an initial with a dot, and a longer word.
fn has_initial(text: &str) -> bool {
    let is_initial =
        |token: &str| token.len() == 2 && token.ends_with('.') && token.as_bytes()[0].is_ascii_uppercase();
    text.split_ascii_whitespace().any(is_initial)
        && text.split_ascii_whitespace().any(|token| token.len() > 3)
}

/// Returns whether a word is up to five digits and perhaps a letter.
fn is_house_number(word: &str) -> bool {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    (1..=5).contains(&digits) && word.len() <= digits + 1
}

/// Returns whether a text begins with the level of a message, or with a point in time and has a level.
fn is_log_line(text: &str, first: Topics) -> bool {
    let start = text.trim_start_matches(['[', '<']);
    let level = start.bytes().take_while(u8::is_ascii_alphabetic).count();
    let is_upper = level >= 4 && start[..level].bytes().all(|byte| byte.is_ascii_uppercase());
    let has_mark = text.starts_with('[') || start[level..].starts_with([':', ']']);
    if first.has(Topics::LOG_LEVEL) && (is_upper || has_mark) && text.len() > level + 2 {
        return true;
    }
    let is_dated = text.len() > 24
        && text.starts_with(|first: char| first.is_ascii_digit() || first == '[')
        && text.bytes().take(20).any(|byte| byte == b':');
    is_dated
        && [
            "INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL", "LOG:", "[error]", "[warn]", "[info]",
            "[notice]",
        ]
        .iter()
        .any(|level| text.contains(level))
}

/// Returns the number of parts of a text that is written like a name: each begins with a capital, or is a
/// particle.
fn name_tokens(text: &str) -> Option<usize> {
    let mut tokens = 0;
    let mut capitals = 0;
    for token in text.split_ascii_whitespace() {
        let token = token.trim_end_matches([',', '.']);
        let mut characters = token.chars();
        let first = characters.next()?;
        let is_particle = token.len() <= 4 && first.is_lowercase();
        let is_capital = first.is_uppercase()
            || token.starts_with("d'")
            || token.starts_with("d’")
            || token.starts_with("'t");
        let is_word = |character: char| {
            character.is_alphabetic() || matches!(character, '-' | '\'' | '’' | '.' | '\u{300}'..='\u{36f}')
        };
        if !(is_capital || is_particle) || !characters.all(is_word) {
            return None;
        }
        tokens += 1;
        capitals += usize::from(is_capital);
    }
    (capitals > 0 && tokens <= 7).then_some(tokens)
}
