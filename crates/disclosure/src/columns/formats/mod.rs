//! What the values of a column say about it. Values are compared with formats of personal data, such as
//! e-mail addresses, IBANs and national ids, and counted; no value is kept. Wherever a format has check
//! digits, they are checked.
//!
//! A value may have several formats. Each is looked for only if the length of the value and its kinds of
//! characters allow it. Which format a column has is decided at the end (`judgement`), from the share of its
//! values and from how often other values would have the format by chance.

mod check_digits;
mod codes;
mod dates;
mod format;
mod judgement;
mod lexicon;
mod lists;
mod national;
mod numbers;
mod shape;
mod software;
mod statistics;
mod text;
mod web;

use super::suggestions::{Category, SuggestedLabel};
use format::{Format, Formats};
use lexicon::Topics;
use shape::Shape;
use statistics::Statistics;

/// Longest beginning of a value that is looked at.
const MAX_BYTES: usize = 400;

/// How many values have which format.
#[derive(Debug, Clone, Default)]
pub struct FormatCounts {
    values: u64,
    statistics: Box<Statistics>,
    /// Memory for the words of a value.
    buffer: String,
}

/// What the values of a column suggest, whatever the column is called.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueSuggestion {
    /// Label that fits best.
    pub label: SuggestedLabel,
    /// What the column is about.
    pub category: Category,
    /// Estimated probability that label and category are right, from 0 to 1.
    pub confidence: f64,
    /// Why, in words and numbers that contain no value of the data, such as "96 % of the values are e-mail
    /// addresses".
    pub evidence: String,
}

impl FormatCounts {
    /// Counts a value, given as text.
    pub fn count(&mut self, value: &str) {
        self.values += 1;
        let text = beginning(value.trim());
        if is_missing(text) {
            return;
        }
        let shape = Shape::of(text);
        self.statistics.present += 1;
        self.statistics.distinct.add(text);
        let formats = match shape.letters() {
            0 => self.of_number(text, &shape),
            _ => self.of_text(text, &shape),
        };
        self.statistics.add_formats(formats);
        self.buffer.clear();
    }

    /// Returns how many values were counted.
    pub fn values(&self) -> u64 {
        self.values
    }

    /// Adds the values that another part of the column has counted.
    pub fn merge(&mut self, other: &FormatCounts) {
        self.values += other.values;
        self.statistics.merge(&other.statistics);
    }

    /// Returns what the values suggest; `None` if they say nothing.
    pub fn suggestion(&self) -> Option<ValueSuggestion> {
        judgement::suggestion(&self.statistics, self.values)
    }

    /// Returns how many values have which format, in words. A value may have several formats.
    pub fn found(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = Format::ALL
            .iter()
            .map(|format| (format.meaning().noun, self.statistics.count_of(*format)));
        counts.filter(|(_, count)| *count > 0)
    }

    /// Returns whether the values show that the column is not about this category, for example because none
    /// of them looks like an e-mail address.
    pub fn contradict(&self, category: Category) -> bool {
        judgement::contradict(&self.statistics, category)
    }

    /// Returns the formats of a value without letters.
    fn of_number(&mut self, text: &str, shape: &Shape) -> Formats {
        let statistics = &mut self.statistics;
        let mut formats = Formats::from(Format::HasDigits);
        if shape.digits == 0 {
            return Formats::default();
        }
        if shape.digits == shape.length {
            formats.add_all(numbers::of_digits(shape.digits()));
            add_integer(statistics, &mut formats, text, shape);
        } else if let Some(number) = decimal(text, shape) {
            if text.len() - text.find('.').unwrap_or(text.len()) > 4 {
                statistics.decimals.add(number);
                statistics.negative += u64::from(number < 0.0);
                formats.add_if(Format::Coordinate, number.abs() <= 180.0);
            }
            return formats;
        } else {
            formats.add_all(numbers::of_punctuated(text, shape));
            if formats.has(Format::Ipv4) {
                let first = text.split('.').next().and_then(|first| first.parse::<u8>().ok());
                statistics.high_octets += u64::from(first.is_some_and(|first| first > 24));
                statistics.private_octets += u64::from(first == Some(10));
            }
            if formats.has(Format::ZipPlus4) {
                statistics.add_leading(shape.digits());
            }
            formats.add_if(Format::CoordinatePair, is_coordinate_pair(text));
            formats.add_if(Format::Colour, software::is_colour(text));
        }
        if let Some(date) = dates::parse(text, shape, &mut self.buffer) {
            statistics.add_date(date);
            formats.add(Format::Date);
        } else if shape.dots >= 2 && formats == Format::HasDigits.into() {
            formats.add_if(Format::Version, software::is_version(text, shape));
        }
        formats
    }

    /// Returns the formats of a value with letters.
    fn of_text(&mut self, text: &str, shape: &Shape) -> Formats {
        let mut formats = Formats::from(Format::HasLetters);
        formats.add_if(Format::HasDigits, shape.digits > 0);
        if let &[letter] = text.as_bytes() {
            self.statistics.letters[usize::from(letter.to_ascii_lowercase() - b'a')] += 1;
        }
        if web::is_url(text) {
            formats.add_all(web::of_url(text));
            return formats;
        }
        if shape.ats > 0 && web::is_email(text) {
            formats.add(Format::Email);
            return formats;
        }
        if web::is_user_agent(text) {
            formats.add(Format::UserAgent);
            return formats;
        }
        if text.starts_with("POINT") || text.starts_with("SRID=") {
            formats.add_if(Format::CoordinatePair, text.contains('('));
            return formats;
        }
        let is_token = shape.spaces == 0 || text.starts_with("-----BEGIN");
        if is_token && self.add_token(&mut formats, text, shape) {
            return formats;
        }
        formats.add_all(codes::of_code(text, shape));
        formats.add_all(codes::of_medicine(text));
        formats.add_all(software::of_settings(text, shape));
        formats.add_if(
            Format::Cron,
            shape.digits > 0 && shape.spaces >= 4 && numbers::is_cron(text),
        );
        if let Some(phone) = without_extension(text, shape) {
            formats.add_all(numbers::phone(phone.as_bytes(), &Shape::of(phone)));
        }
        if let Some(date) = dates::parse(text, shape, &mut self.buffer) {
            self.statistics.add_date(date);
            formats.add(Format::Date);
            return formats;
        }
        let words = text::Words::of(text, &mut self.buffer);
        formats.add_all(words.formats(text, shape));
        if formats.has(Format::Sex) {
            self.statistics.men += u64::from(words.any.has(Topics::MALE));
            self.statistics.women += u64::from(words.any.has(Topics::FEMALE));
        }
        formats.add_if(
            Format::PersonText,
            shape.ats > 0 && shape.spaces > 1 && web::mentions_email(text),
        );
        formats
    }

    /// Adds the formats of a value without blanks; returns whether nothing else needs to be looked for.
    fn add_token(&mut self, formats: &mut Formats, text: &str, shape: &Shape) -> bool {
        if shape.hyphens >= 4 && software::is_uuid(text) {
            formats.add(Format::Uuid);
            return true;
        }
        if software::is_mac(text) {
            formats.add(Format::Mac);
            return true;
        }
        if shape.colons >= 2
            && shape.digits + shape.letters() + shape.colons + shape.dots + shape.slashes <= shape.length
        {
            let address = text.split('/').next().unwrap_or(text);
            formats.add_if(Format::Ipv6, address.parse::<std::net::Ipv6Addr>().is_ok());
        }
        let secrets = software::of_secret(text, shape);
        if !secrets.is_empty() {
            formats.add_all(secrets);
            return true;
        }
        if shape.dots > 0 || shape.slashes > 0 {
            let paths = web::of_path(text);
            if !paths.is_empty() {
                formats.add_all(paths);
                return true;
            }
        }
        let has_mark = shape.digits + shape.dots + shape.hyphens > 0 || text.contains('_');
        let is_login = shape.upper == 0 && has_mark && (4..=40).contains(&shape.length) && shape.lower >= 3;
        formats.add_if(
            Format::Login,
            is_login
                && shape.slashes + shape.colons + shape.ats == 0
                && web::is_login(text, &mut self.buffer),
        );
        false
    }
}

/// Counts a value of digits alone as a number.
fn add_integer(statistics: &mut Statistics, formats: &mut Formats, text: &str, shape: &Shape) {
    formats.add(Format::Integer);
    let Ok(number) = text.parse::<u64>() else {
        return;
    };
    statistics.integers.add(number as f64);
    if let Some(count) = statistics.small.get_mut(number as usize) {
        *count += 1;
    }
    formats.add_if(Format::Flag, number <= 1 && shape.length == 1);
    if shape.length == 4 && (1800..2100).contains(&number) {
        statistics.bare_years[number as usize - 1800] += 1;
    }
    if shape.length == 5 || shape.length >= 9 {
        statistics.add_leading(shape.digits());
    }
    let is_epoch = matches!(shape.length, 10 | 13) && text.starts_with('1') && text.as_bytes()[1] >= b'2';
    formats.add_if(Format::EpochLike, is_epoch);
}

/// Returns the beginning of a text that is looked at.
fn beginning(text: &str) -> &str {
    let end = (0..=MAX_BYTES.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end))
        .unwrap_or(0);
    &text[..end]
}

/// Returns whether a value stands for no value.
fn is_missing(text: &str) -> bool {
    match text.len() {
        0 => true,
        1 => matches!(text, "-" | "?" | "." | "*" | "/"),
        2..=4 => [
            "n/a", "na", "null", "none", "nan", "--", "nil", "tbd", "k.a.", "n.a.",
        ]
        .iter()
        .any(|missing| text.eq_ignore_ascii_case(missing)),
        _ => text == "\\N" || text.eq_ignore_ascii_case("(null)"),
    }
}

/// Returns a number with a decimal point.
fn decimal(text: &str, shape: &Shape) -> Option<f64> {
    let digits = shape.digits + shape.dots + usize::from(text.starts_with(['-', '+']));
    (shape.dots <= 1 && !text.starts_with('+') && digits == shape.length && shape.length <= 24)
        .then(|| text.parse().ok())
        .flatten()
}

/// Returns whether a text is a latitude and a longitude of at least three decimal places.
fn is_coordinate_pair(text: &str) -> bool {
    let inner = text.trim_matches(|character| matches!(character, '(' | ')' | '[' | ']'));
    let Some((first, second)) = inner.split_once([',', ';', ' ']) else {
        return false;
    };
    let number = |part: &str| {
        let part = part.trim();
        let places = part.split_once('.').map_or(0, |(_, places)| places.len());
        part.parse::<f64>()
            .ok()
            .filter(|number| places >= 3 && number.abs() <= 180.0)
    };
    matches!((number(first), number(second)), (Some(a), Some(b)) if a.abs() <= 90.0 || b.abs() <= 90.0)
}

/// Returns a telephone number without its extension, if it has one.
fn without_extension<'a>(text: &'a str, shape: &Shape) -> Option<&'a str> {
    if shape.digits < 8 || shape.letters() > 9 || shape.length > 34 {
        return None;
    }
    let end = text.find(|character: char| character.is_alphabetic())?;
    let extension =
        text[end..].trim_end_matches(|character: char| character.is_ascii_digit() || character == ' ');
    let is_extension = matches!(
        extension,
        "x" | "ext" | "ext." | "ext:" | "Ext." | "Durchwahl" | "poste" | "int." | "tst."
    );
    (is_extension && end > 6).then(|| text[..end].trim_end_matches([' ', ',']))
}
