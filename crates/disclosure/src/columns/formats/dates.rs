//! Dates in the notations of several countries.

use super::lexicon::{Topics, each_word, topics_of};
use super::shape::Shape;

/// What matters of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Date {
    /// Year with four digits.
    pub(super) year: u16,
    /// Whether there is a time of day other than midnight.
    pub(super) has_time: bool,
    /// Whether it is 1 January.
    pub(super) is_new_year: bool,
}

/// Returns the date that a text is: year, month and day in any usual order, with a time of day or without.
pub(super) fn parse(text: &str, shape: &Shape, buffer: &mut String) -> Option<Date> {
    if !(6..=35).contains(&shape.length) || !(3..=20).contains(&shape.digits) {
        return None;
    }
    if shape.digits == 8 && shape.length == 8 {
        return compact(shape.digits());
    }
    if shape.upper + shape.lower >= 3 {
        return with_month_in_letters(text, buffer);
    }
    let (date, time) = split_time(text);
    let separator = date.bytes().find(|byte| !byte.is_ascii_digit())?;
    if !matches!(separator, b'-' | b'/' | b'.') {
        return None;
    }
    let mut numbers = [0_u16; 3];
    let mut widths = [0; 3];
    let mut parts = date.split(separator as char);
    for (number, width) in numbers.iter_mut().zip(&mut widths) {
        let part = parts.next()?.trim_start();
        if part.is_empty() || part.len() > 4 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *width = part.len();
        *number = part.parse().ok()?;
    }
    if parts.next().is_some() {
        return None;
    }
    let (year, month, day) = match widths {
        [4, 1 | 2, 1 | 2] => (numbers[0], numbers[1], numbers[2]),
        // The larger of both can only be the day.
        [1 | 2, 1 | 2, 4] => (numbers[2], numbers[0].min(numbers[1]), numbers[0].max(numbers[1])),
        [2, 2, 2] if separator != b'-' => (
            short_year(numbers[2]),
            numbers[0].min(numbers[1]),
            numbers[0].max(numbers[1]),
        ),
        _ => return None,
    };
    date_of(year, month, day, has_time(time))
}

fn split_time(text: &str) -> (&str, &str) {
    let end = text
        .bytes()
        .enumerate()
        .position(|(place, byte)| place >= 6 && matches!(byte, b' ' | b'T'));
    end.map_or((text, ""), |end| text.split_at(end))
}

fn has_time(time: &str) -> bool {
    let clock = time.split(['+', 'Z']).next().unwrap_or(time);
    clock.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
}

/// Returns the year of two digits that is not in the future: birth dates are written like that.
fn short_year(year: u16) -> u16 {
    if year <= 26 { 2000 + year } else { 1900 + year }
}

fn date_of(year: u16, month: u16, day: u16, has_time: bool) -> Option<Date> {
    let is_date = (1800..2100).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    is_date.then_some(Date {
        year,
        has_time,
        is_new_year: month == 1 && day == 1,
    })
}

/// Year, month and day without separators.
fn compact(digits: &[u8]) -> Option<Date> {
    let number = |range: std::ops::Range<usize>| {
        digits[range]
            .iter()
            .fold(0, |number, digit| number * 10 + u16::from(*digit))
    };
    date_of(number(0..4), number(4..6), number(6..8), false)
}

/// A month as a word, with day and year in either order.
fn with_month_in_letters(text: &str, buffer: &mut String) -> Option<Date> {
    let mut months = 0;
    let mut others = 0;
    let mut day = None;
    let mut year = None;
    each_word(text, buffer, |word| {
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let suffix = &word[digits..];
        match (digits, suffix) {
            (4, "") if year.is_none() => year = word.parse().ok(),
            (1 | 2, "" | "st" | "nd" | "rd" | "th" | "er") if day.is_none() => {
                day = word[..digits].parse().ok()
            }
            (2, "") if year.is_none() => year = word.parse().ok().map(short_year),
            (0, "de" | "di" | "of" | "do" | "am" | "pm") | (1.., _) => (),
            _ if topics_of(word).has(Topics::MONTH) => months += 1,
            _ => others += 1,
        }
    });
    (months == 1 && others == 0).then(|| date_of(year?, 2, day?, false))?
}
