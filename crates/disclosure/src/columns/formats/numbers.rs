//! Values of digits and punctuation: telephone numbers, national ids, cards, addresses of networks,
//! postcodes.

use super::check_digits::{gtin, luhn, npi};
use super::format::{Format, Formats};
use super::national;
use super::shape::{Shape, has_pattern};

/// Returns the formats of a value of digits alone.
pub(super) fn of_digits(digits: &[u8]) -> Formats {
    let mut formats = national::of_digits(digits);
    match digits.len() {
        3 => formats.add_if(Format::HttpStatus, is_http_status(digits)),
        5 => formats.add(Format::Digits5),
        9..=12 => {
            formats.add_if(Format::BarePhone, is_bare_phone(digits));
            if let Ok(digits) = <&[u8; 10]>::try_from(digits) {
                formats.add_if(Format::Npi, matches!(digits[0], 1 | 2) && npi(digits));
                formats.add_if(Format::Isbn10, formats.has(Format::Nhs));
            }
            formats.add_if(Format::Gtin, digits.len() == 12 && gtin(digits));
        }
        8 => formats.add_if(Format::Gtin, gtin(digits)),
        13 | 14 => formats.add_if(Format::Gtin, gtin(digits) && !formats.has(Format::Ahv)),
        15 => {
            let text: Vec<u8> = digits.iter().map(|digit| digit + b'0').collect();
            formats.add_if(Format::Nir, national::is_nir(&text));
            formats.add_if(Format::Imei, luhn(digits) && !is_card(digits));
        }
        _ => (),
    }
    formats.add_if(Format::Card, is_card(digits));
    formats
}

/// Codes of the registry of IANA that servers really send.
fn is_http_status(digits: &[u8]) -> bool {
    matches!(
        digits,
        [1, 0, 0..=3]
            | [2, 0, 0..=8]
            | [3, 0, 0..=8]
            | [4, 0..=2, _]
            | [4, 3, 1]
            | [4, 5, 1]
            | [5, 0, _]
            | [5, 1, 0 | 1]
    )
}

/// Returns whether digits have the prefix and length of an issuer and pass the Luhn test (ISO/IEC 7812;
/// lists of the issuers Visa, Mastercard, American Express, Discover, Diners Club, JCB, UnionPay, Maestro).
pub(super) fn is_card(digits: &[u8]) -> bool {
    let is_issued = match (digits, digits.len()) {
        ([4, ..], 16 | 19)
        | ([5, 1..=5, ..], 16)
        | ([3, 4 | 7, ..], 15)
        | ([3, 6 | 8, ..] | [3, 0, 0..=5, ..], 14)
        | ([3, 5, 2..=8, ..], 16)
        | ([6, 0, 1, 1, ..] | [6, 5, ..] | [6, 4, 4..=9, ..], 16)
        | ([6, 2, ..], 16..=19)
        | ([5, 0 | 6..=8, ..] | [6, 3 | 7, ..], 16 | 19) => true,
        ([2, a, b, c, ..], 16) => {
            (2221..=2720).contains(&(2000 + i32::from(*a) * 100 + i32::from(*b) * 10 + i32::from(*c)))
        }
        _ => false,
    };
    is_issued && luhn(digits)
}

/// National numbering plans, for numbers without separators: DE, FR, UK, NL (with the leading 0), ES, PT,
/// IT, BR, US.
fn is_bare_phone(digits: &[u8]) -> bool {
    match (digits.len(), digits) {
        (10..=12, [0, 1, 5..=7, ..])
        | (10 | 11, [0, 1..=9, ..])
        | (9, [2 | 6..=9, ..])
        | (11, [1..=9, 1..=9, 9, ..])
        | (11, [1, 2..=9, _, _, 2..=9, ..])
        | (10, [3, 2..=9, ..])
        | (10, [2..=9, _, _, 2..=9, ..]) => true,
        (11 | 12, digits) => matches!(
            digits,
            [4, 9, 1, 5..=7, ..]
                | [4, 4, 7, ..]
                | [3, 3, 6 | 7, ..]
                | [3, 4, 6 | 7, ..]
                | [3, 9, 3, ..]
                | [3, 1, 6, ..]
        ),
        _ => false,
    }
}

/// Returns the formats of a value of digits and punctuation, without letters.
pub(super) fn of_punctuated(text: &str, shape: &Shape) -> Formats {
    let bytes = text.as_bytes();
    let digits = shape.digits();
    let mut formats = Formats::default();
    match shape.length {
        7 if has_pattern(bytes, b"999 999") => formats.add(Format::PolishPostcode),
        _ if shape.colons > 1 => formats.add_if(Format::Ipv6, text.parse::<std::net::Ipv6Addr>().is_ok()),
        _ => (),
    }
    if is_cron(text) {
        return Format::Cron.into();
    }
    if shape.dots == 3 && shape.digits + 3 <= shape.length {
        formats.add_all(dotted(text));
    }
    add_postcodes(&mut formats, bytes, digits);
    add_national(&mut formats, bytes, digits);
    let has_groups = shape.spaces > 0 || shape.hyphens > 0;
    if (12..=19).contains(&digits.len()) && shape.digits + shape.spaces + shape.hyphens == shape.length {
        formats.add_if(Format::Card, has_groups && is_card(digits) && digits.len() >= 14);
        formats.add_if(
            Format::Gtin,
            digits.len() == 13 && gtin(digits) && matches!(digits, [9, 7, 8 | 9, ..]),
        );
        formats.add_if(
            Format::Imei,
            digits.len() == 15 && bytes.get(2) == Some(&b'-') && luhn(digits),
        );
    }
    if shape.slashes == 1 && is_blood_pressure(text) {
        formats.add(Format::Lab);
    }
    if formats.is_empty() && digits.len() >= 7 {
        formats.add_all(phone(bytes, shape));
    }
    formats
}

fn add_postcodes(formats: &mut Formats, bytes: &[u8], digits: &[u8]) {
    match bytes.len() {
        10 => formats.add_if(Format::ZipPlus4, has_pattern(bytes, b"99999-9999")),
        8 => formats.add_if(
            Format::PortuguesePostcode,
            digits.len() == 7 && has_pattern(bytes, b"9999-999") && digits[0] != 0,
        ),
        9 => formats.add_if(Format::BrazilianPostcode, has_pattern(bytes, b"99999-999")),
        6 => formats.add_if(Format::PolishPostcode, has_pattern(bytes, b"99-999")),
        _ => (),
    }
}

fn add_national(formats: &mut Formats, bytes: &[u8], digits: &[u8]) {
    let mut add = |patterns: &[&[u8]], format: Format| {
        if patterns.iter().any(|pattern| has_pattern(bytes, pattern))
            && national::of_digits(digits).has(format)
        {
            formats.add(format);
        }
    };
    match digits.len() {
        9 => {
            add(&[b"999.99.999", b"9999.99.999", b"999 999 999"], Format::Bsn);
            add(&[b"999 999 999", b"999.999.999"], Format::Nif);
            if has_pattern(bytes, b"999-99-9999") || has_pattern(bytes, b"999 99 9999") {
                formats.add(Format::SsnShape);
                if let Ok(digits) = digits.try_into() {
                    formats.add_if(Format::Ssn, national::is_ssn(digits));
                }
            }
        }
        10 => {
            add(&[b"999999-9999", b"999999+9999"], Format::Personnummer);
            add(&[b"999999-9999", b"999999 9999"], Format::Cpr);
            add(&[b"999 999 9999", b"999-999-9999"], Format::Nhs);
            formats.add_if(Format::Hetu, national::is_hetu(bytes));
            if let Ok(digits) = digits.try_into() {
                let has_shape = has_pattern(bytes, b"999999-9999") && national::has_cpr_date(digits);
                formats.add_if(Format::CprShape, has_shape);
            }
            let has_isbn = bytes.len() == 13
                && matches!(bytes[1], b'-' | b' ')
                && national::of_digits(digits).has(Format::Nhs);
            formats.add_if(Format::Isbn10, has_isbn);
        }
        11 => {
            add(&[b"999.999.999-99"], Format::Cpf);
            add(&[b"99 999 999 999", b"99/999/999/999"], Format::SteuerId);
            add(&[b"999999 99999", b"999999-99999"], Format::Fodselsnummer);
            add(
                &[
                    b"99.99.99-999.99",
                    b"99.99.99-999-99",
                    b"999999-999-99",
                    b"99.99.99.999-99",
                ],
                Format::Rijksregister,
            );
        }
        12 => add(&[b"99999999-9999", b"99999999+9999"], Format::Personnummer),
        13 => add(&[b"999.9999.9999.99"], Format::Ahv),
        14 => add(&[b"99.999.999/9999-99"], Format::Cnpj),
        15 => {
            let mut compact = bytes
                .iter()
                .filter(|byte| byte.is_ascii_digit())
                .copied()
                .collect::<Vec<u8>>();
            compact.truncate(15);
            formats.add_if(Format::Nir, !bytes.contains(&b'.') && national::is_nir(&compact));
        }
        _ => (),
    }
}

/// IPv4 addresses, and versions that have four numbers as well. Three dots.
fn dotted(text: &str) -> Formats {
    let address = text.split(['/', ':']).next().unwrap_or(text);
    let mut is_address = true;
    let mut parts = 0;
    for part in address.split('.') {
        parts += 1;
        if part.is_empty() || part.len() > 6 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return Formats::default();
        }
        is_address &=
            part.len() <= 3 && part.parse::<u8>().is_ok() && (part.len() == 1 || !part.starts_with('0'));
    }
    match parts {
        4 if is_address => Format::Ipv4.into(),
        4 => Format::Version.into(),
        _ => Formats::default(),
    }
}

/// Five or six fields of a crontab (crontab(5)), of which one at least is `*`.
pub(super) fn is_cron(text: &str) -> bool {
    let mut fields = 0;
    let mut stars = 0;
    for field in text.split_ascii_whitespace() {
        fields += 1;
        stars += usize::from(field.starts_with('*') || field == "?");
        let is_field = |byte: u8| {
            matches!(
                byte,
                b'0'..=b'9' | b'*' | b'/' | b',' | b'-' | b'?' | b'#' | b'L' | b'W'
            )
        };
        let is_day = field.len() <= 7
            && field
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'-');
        if fields > 7 || !(field.bytes().all(is_field) || is_day) {
            return false;
        }
    }
    (5..=7).contains(&fields) && stars > 0
}

/// Systolic and diastolic pressure, with `mmHg` or without.
pub(super) fn is_blood_pressure(text: &str) -> bool {
    let number = |part: &str| part.parse::<u16>().ok().filter(|_| (2..=3).contains(&part.len()));
    text.split_once('/').is_some_and(|(systolic, diastolic)| {
        matches!((number(systolic.trim()), number(diastolic.trim())), (Some(high @ 70..=260), Some(low @ 35..=150)) if high > low + 10)
    })
}

/// Telephone numbers: international (ITU-T E.123), and as written in their country.
pub(super) fn phone(bytes: &[u8], shape: &Shape) -> Formats {
    let none = Formats::default();
    if !(7..=15).contains(&shape.digits) || shape.length > 26 || shape.commas > 0 || shape.colons > 0 {
        return none;
    }
    let is_allowed = |byte: &u8| matches!(byte, b'0'..=b'9' | b' ' | b'+' | b'-' | b'.' | b'/' | b'(' | b')');
    if !bytes.iter().all(is_allowed) {
        return none;
    }
    let digits = shape.digits();
    let body = bytes.strip_prefix(b"(").unwrap_or(bytes);
    if body.starts_with(b"+") || (body.starts_with(b"00") && digits.get(2).is_some_and(|digit| *digit != 0)) {
        let country = if body.starts_with(b"+") {
            digits.first()
        } else {
            digits.get(2)
        };
        let is_number = (8..=15).contains(&digits.len())
            && country.is_some_and(|digit| *digit != 0)
            && shape.slashes <= 1;
        return if is_number && (body.starts_with(b"+") || digits.len() >= 10) {
            Format::InternationalPhone.into()
        } else {
            none
        };
    }
    let groups = || {
        bytes
            .split(|byte| !byte.is_ascii_digit())
            .filter(|group| !group.is_empty())
            .map(<[u8]>::len)
    };
    let count = groups().count();
    let mut lengths = [0; 6];
    if count > lengths.len() || count < 2 {
        return none;
    }
    lengths
        .iter_mut()
        .zip(groups())
        .for_each(|(length, group)| *length = group);
    let bracket = bytes[0] == b'(';
    let is_date =
        shape.spaces == 0 && !bracket && matches!(lengths[..count], [1 | 2, 1 | 2, 4 | 2] | [4, 2, 2]);
    let is_us = match lengths[..count] {
        [3, 3, 4] => digits[0] >= 2 && digits[3] >= 2,
        [1, 3, 3, 4] => digits[0] == 1 && digits[1] >= 2,
        _ => false,
    };
    let is_spaced = shape.dots == 0 && shape.slashes == 0 && (shape.spaces > 0 || shape.hyphens > 0);
    let is_national = match lengths[..count] {
        _ if is_date => false,
        [first, ..] if digits[0] == 0 => {
            (2..=6).contains(&first) && digits.get(1).is_some_and(|digit| *digit != 0) && digits.len() >= 8
                || bracket && first == 1 && digits.len() >= 8
        }
        [2, 4 | 5, 4] => bracket || digits[0] == 9 || digits.len() == 11 && is_spaced,
        [3, 3, 3] | [3, 2, 2, 2] | [2, 3, 4] | [2, 3, 2, 2] | [2, 2, 2, 3] => {
            is_spaced && matches!(digits[0], 2 | 6..=9)
        }
        [3, 6 | 7] | [3, 3, 2, 2] => is_spaced && matches!(digits[0], 3 | 6),
        _ => bracket && (9..=13).contains(&digits.len()),
    };
    if is_us || is_national {
        Format::Phone.into()
    } else {
        none
    }
}
