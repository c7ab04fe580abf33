//! Values of a single token with letters: accounts, vehicles, national ids, postcodes, codes of health and
//! of software.

use super::check_digits::{iban, vin};
use super::format::{Format, Formats};
use super::lexicon::{Topics, topics_of};
use super::national;
use super::shape::{Shape, has_pattern};

/// Longest code without separators that is compared with anything here.
const MAX_CODE: usize = 34;

/// Returns the formats of a value of up to 42 characters without blanks inside words: letters, digits,
/// separators.
pub(super) fn of_code(text: &str, shape: &Shape) -> Formats {
    let mut formats = Formats::default();
    let bytes = text.as_bytes();
    if shape.wide > 0 && shape.length > 12 || shape.length > 42 || shape.length < 2 {
        return formats;
    }
    // Without blanks, hyphens and dots, in upper case.
    let mut buffer = [0; MAX_CODE];
    let mut length = 0;
    for byte in bytes.iter().filter(|byte| !matches!(byte, b' ' | b'-' | b'.')) {
        let Some(place) = buffer.get_mut(length) else {
            return formats;
        };
        *place = byte.to_ascii_uppercase();
        length += 1;
    }
    let compact = &buffer[..length];
    let is_upper = shape.lower == 0 || shape.upper == 0;
    if is_upper && shape.digits > 0 && compact.iter().all(u8::is_ascii_alphanumeric) {
        formats.add_if(Format::Iban, is_iban(compact));
        add_national(&mut formats, compact, bytes, shape);
        if length == 17 && shape.hyphens + shape.dots + shape.spaces == 0 {
            formats.add_if(Format::Vin, is_vin(compact));
            formats.add_if(Format::VinChecked, vin(compact));
        }
        formats.add_if(Format::DutchPostcode, is_dutch_postcode(compact, shape));
        formats.add_if(Format::CanadianPostcode, is_canadian_postcode(compact));
        formats.add_if(Format::BritishPostcode, is_british_postcode(compact, shape));
        formats.add_if(Format::Isbn10, length == 10 && is_isbn_x(compact));
    }
    if shape.lower == 0 && shape.upper > 0 && shape.digits > 0 {
        formats.add_if(Format::Plate, is_plate(bytes, compact));
        add_icd(&mut formats, bytes);
        let is_atc = has_pattern(bytes, b"A99AA99") && b"ABCDGHJLMNPRSV".contains(&bytes[0]);
        formats.add_if(Format::Atc, is_atc);
    } else if shape.upper == 0 && shape.digits > 0 && shape.length <= 8 {
        add_icd(&mut formats, text.to_ascii_uppercase().as_bytes());
    }
    formats
}

/// Lengths of the IBAN registry of SWIFT for a country; any plausible one for others.
fn is_iban(text: &[u8]) -> bool {
    if text.len() < 15 || !has_pattern(&text[..4], b"AA99") {
        return false;
    }
    let length = match &text[..2] {
        b"NO" => 15,
        b"BE" => 16,
        b"DK" | b"FI" | b"NL" | b"FO" | b"GL" => 18,
        b"SI" | b"MK" => 19,
        b"AT" | b"EE" | b"LT" | b"LU" | b"BA" | b"XK" | b"KZ" => 20,
        b"CH" | b"HR" | b"LV" | b"LI" => 21,
        b"DE" | b"GB" | b"IE" | b"BG" | b"ME" | b"RS" | b"BH" | b"GE" => 22,
        b"ES" | b"SE" | b"CZ" | b"SK" | b"RO" | b"AD" | b"SA" | b"PK" | b"TN" | b"MD" | b"VG" => 24,
        b"PT" | b"IS" | b"TR" => {
            if text[1] == b'T' {
                25
            } else {
                26
            }
        }
        b"FR" | b"IT" | b"GR" | b"SM" | b"MC" | b"MR" => 27,
        b"PL" | b"HU" | b"CY" | b"AL" | b"DO" | b"GT" | b"LB" | b"SV" | b"AZ" => 28,
        b"BR" | b"UA" | b"QA" | b"EG" => 29,
        b"JO" | b"KW" | b"MU" => 30,
        b"MT" | b"SC" => 31,
        _ => text.len(),
    };
    (text.len() == length || matches!(&text[..2], b"BR" | b"GR")) && iban(text)
}

fn add_national(formats: &mut Formats, compact: &[u8], bytes: &[u8], shape: &Shape) {
    match compact.len() {
        9 => {
            formats.add_if(Format::Dni, national::is_dni(compact));
            formats.add_if(
                Format::Nino,
                shape.hyphens + shape.dots == 0 && national::is_nino(compact),
            );
        }
        10 if shape.length == 11 => {
            let mut code = [0; 11];
            code.copy_from_slice(&bytes[..11]);
            code.make_ascii_uppercase();
            formats.add_if(Format::Hetu, national::is_hetu(&code));
        }
        11 => formats.add_if(Format::Hetu, national::is_hetu(compact)),
        15 => formats.add_if(Format::Nir, shape.upper == 1 && national::is_nir(compact)),
        16 => {
            formats.add_if(Format::CodiceFiscale, national::is_codice_fiscale(compact));
            formats.add_if(Format::DrivingLicence, is_driving_licence(compact));
        }
        _ => (),
    }
}

/// UK driving licence number (DVLA): five letters of the surname, filled with 9; decade, month (5 more for
/// women), day and year of birth; two initials or 9; a digit and two letters.
fn is_driving_licence(text: &[u8]) -> bool {
    let number = |from: usize| text[from].wrapping_sub(b'0') * 10 + text[from + 1].wrapping_sub(b'0');
    let letters = text[..5]
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase())
        .count();
    letters > 0
        && text[letters..5].iter().all(|byte| *byte == b'9')
        && text[5..11].iter().all(u8::is_ascii_digit)
        && matches!(number(6), 1..=12 | 51..=62)
        && matches!(number(8), 1..=31)
        && text[11].is_ascii_uppercase()
        && (text[12].is_ascii_uppercase() || text[12] == b'9')
        && text[13].is_ascii_digit()
        && text[14..].iter().all(u8::is_ascii_uppercase)
}

/// Vehicle identification number (ISO 3779): no I, O or Q; the last four characters are digits as a rule.
fn is_vin(text: &[u8]) -> bool {
    text.iter().all(|byte| !matches!(byte, b'I' | b'O' | b'Q'))
        && text[13..].iter().all(u8::is_ascii_digit)
        && text[..13].iter().filter(|byte| byte.is_ascii_uppercase()).count() >= 2
        && text[..3].iter().any(u8::is_ascii_uppercase)
}

/// Four digits and two letters, but not SA, SD or SS (PostNL).
fn is_dutch_postcode(text: &[u8], shape: &Shape) -> bool {
    has_pattern(text, b"9999AA")
        && text[0] != b'0'
        && shape.hyphens == 0
        && !matches!(&text[4..], b"SA" | b"SD" | b"SS")
}

/// Letters and digits in turn, without D, F, I, O, Q and U (Canada Post).
fn is_canadian_postcode(text: &[u8]) -> bool {
    has_pattern(text, b"A9A9A9")
        && !matches!(text[0], b'W' | b'Z')
        && text
            .iter()
            .all(|byte| !matches!(byte, b'D' | b'F' | b'I' | b'O' | b'Q' | b'U'))
}

/// Outward and inward code (BS 7666); the inward code has no C, I, K, M, O and V.
fn is_british_postcode(text: &[u8], shape: &Shape) -> bool {
    let Some((outward, inward)) = text.split_last_chunk::<3>() else {
        return false;
    };
    let has_inward = has_pattern(inward, b"9AA")
        && inward
            .iter()
            .all(|byte| !matches!(byte, b'C' | b'I' | b'K' | b'M' | b'O' | b'V'));
    let patterns: [&[u8]; 6] = [b"A9", b"A99", b"AA9", b"AA99", b"A9A", b"AA9A"];
    has_inward
        && shape.hyphens + shape.dots == 0
        && shape.spaces <= 1
        && patterns.iter().any(|pattern| has_pattern(outward, pattern))
}

/// An ISBN-10 with check digit X (ISO 2108:1992).
fn is_isbn_x(text: &[u8]) -> bool {
    let digits = text[..9].iter().zip((2..=10).rev());
    let sum: u32 = digits
        .map(|(byte, weight)| u32::from(byte.wrapping_sub(b'0')) * weight)
        .sum();
    text[9] == b'X' && text[..9].iter().all(u8::is_ascii_digit) && (sum + 10).is_multiple_of(11)
}

/// Number plates of countries whose pattern or alphabet is distinctive.
fn is_plate(bytes: &[u8], compact: &[u8]) -> bool {
    let text = match bytes.len() {
        4..=11 => bytes,
        _ => return false,
    };
    let no = |letters: &[u8]| compact.iter().all(|byte| !letters.contains(byte));
    let year = |at: usize| {
        compact.get(at..at + 2).map_or(0, |pair| {
            (pair[0].wrapping_sub(b'0')) as u32 * 10 + u32::from(pair[1].wrapping_sub(b'0'))
        })
    };
    // France since 2009, Italy since 1994.
    let french =
        has_pattern(text, b"AA-999-AA") || has_pattern(text, b"AA 999 AA") || has_pattern(text, b"AA999AA");
    // The United Kingdom since 2001, with the half year of registration.
    let british = has_pattern(text, b"AA99 AAA") || has_pattern(text, b"AA99AAA");
    // Spain since 2000: no vowels.
    let spanish =
        has_pattern(text, b"9999 AAA") || has_pattern(text, b"9999-AAA") || has_pattern(text, b"9999AAA");
    // Brazil: Mercosul since 2018, and before.
    let brazilian = has_pattern(text, b"AAA9A99") || has_pattern(text, b"AAA-9999") && compact.len() == 7;
    french && no(b"IOU")
        || british && no(b"IQ") && matches!(year(2), 2..=49 | 51..=99)
        || spanish && no(b"AEIOUQ")
        || brazilian
        || is_german_plate(text)
        || is_dutch_plate(text)
        || is_swiss_plate(text)
        || has_pattern(text, b"9-AAA-999") && matches!(text[0], b'1' | b'2')
}

/// One to three letters of the district, one or two letters, up to four digits, and E or H (FZV, annex 4).
fn is_german_plate(text: &[u8]) -> bool {
    let mut parts = text.splitn(2, |byte| matches!(byte, b'-' | b' '));
    let (Some(district), Some(rest)) = (parts.next(), parts.next()) else {
        return false;
    };
    let letters = rest.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let rest_digits = rest[letters..]
        .strip_prefix(b" ")
        .or_else(|| rest[letters..].strip_prefix(b"-"))
        .unwrap_or(&rest[letters..]);
    let digits = rest_digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let is_district = match district {
        [first, rest @ ..] => {
            rest.len() <= 2 && district.iter().all(u8::is_ascii_uppercase) && *first != b'J'
        }
        [] => false,
    };
    is_district
        && (1..=2).contains(&letters)
        && (1..=4).contains(&digits)
        && rest_digits[0] != b'0'
        && rest[..letters].iter().all(|byte| !matches!(byte, b'Q'))
        && matches!(&rest_digits[digits..], b"" | b"E" | b"H")
}

/// Six characters in three groups, each of letters or of digits (RDW, sidecodes); Portugal has some of them
/// as well.
fn is_dutch_plate(text: &[u8]) -> bool {
    let patterns: [&[u8]; 12] = [
        b"AA-99-99",
        b"99-99-AA",
        b"99-AA-99",
        b"AA-99-AA",
        b"AA-AA-99",
        b"99-AA-AA",
        b"99-AAA-9",
        b"9-AAA-99",
        b"AA-999-A",
        b"A-999-AA",
        b"AAA-99-A",
        b"9-AA-999",
    ];
    text.len() == 8 && patterns.iter().any(|pattern| has_pattern(text, pattern))
}

/// A canton and up to six digits (VVV, annex).
fn is_swiss_plate(text: &[u8]) -> bool {
    const CANTONS: &[u8; 52] = b"ZHBELUURSZOWNWGLZGFRSOBSBLSHARAISGGRAGTGTIVDVSNEGEJU";
    let Some((canton, rest)) = text.split_first_chunk::<2>() else {
        return false;
    };
    let Some(number) = rest.strip_prefix(b" ") else {
        return false;
    };
    CANTONS.chunks(2).any(|known| known == canton)
        && (3..=6).contains(&number.len())
        && number[0] != b'0'
        && number.iter().all(u8::is_ascii_digit)
}

/// ICD-10 (WHO) with up to four more characters as in ICD-10-CM, or with the additions G, V, A, Z of
/// ICD-10-GM.
fn add_icd(formats: &mut Formats, bytes: &[u8]) {
    let bytes = match bytes {
        [code @ .., b' ', b'G' | b'V' | b'A' | b'Z'] | [code @ .., b'.', b'-'] => code,
        _ => bytes,
    };
    let Some((category, rest)) = bytes.split_first_chunk::<3>() else {
        return;
    };
    if !category[0].is_ascii_uppercase()
        || !category[1].is_ascii_digit()
        || !matches!(category[2], b'0'..=b'9' | b'A' | b'B')
    {
        return;
    }
    let is_code = match rest {
        [] => true,
        [b'.', first, more @ ..] => {
            first.is_ascii_digit() | (*first == b'A')
                && more.len() <= 3
                && more.iter().all(u8::is_ascii_alphanumeric)
        }
        _ => false,
    };
    if is_code {
        formats.add(Format::Icd10);
        formats.add_if(Format::IcdDotted, !rest.is_empty());
        let lower = category.map(|byte| byte.to_ascii_lowercase());
        let is_frequent =
            std::str::from_utf8(&lower).is_ok_and(|category| topics_of(category).has(Topics::ICD));
        formats.add_if(Format::IcdCommon, is_frequent);
    }
}

/// Returns the formats of genes and blood: `rs` numbers (dbSNP), HGVS names, sequences; ABO groups with
/// rhesus factor.
pub(super) fn of_medicine(text: &str) -> Formats {
    let mut formats = Formats::default();
    let is_base = |byte: u8| {
        matches!(
            byte,
            b'A' | b'C'
                | b'G'
                | b'T'
                | b'-'
                | b'/'
                | b'|'
                | b';'
                | b'('
                | b')'
                | b' '
                | b':'
                | b'>'
                | b'I'
                | b'D'
        )
    };
    if let Some(rest) = text.strip_prefix("rs").or_else(|| text.strip_prefix("RS")) {
        let number = rest.bytes().take_while(u8::is_ascii_digit).count();
        formats.add_if(
            Format::Genotype,
            (3..=12).contains(&number) && rest[number..].bytes().all(is_base),
        );
    } else if text.len() >= 20 {
        formats.add_if(
            Format::Genotype,
            text.bytes()
                .all(|byte| matches!(byte, b'A' | b'C' | b'G' | b'T' | b'N')),
        );
    }
    let hgvs = text.split_once(':').map_or(text, |(_, change)| change);
    if (hgvs.starts_with("c.") || hgvs.starts_with("g.") || hgvs.starts_with("p.")) && hgvs.len() >= 5 {
        let has_change =
            hgvs.contains('>') || hgvs.contains("del") || hgvs.contains("dup") || hgvs.contains("ins");
        let is_protein = hgvs.starts_with("p.")
            && hgvs.bytes().any(|byte| byte.is_ascii_digit())
            && hgvs.as_bytes()[2].is_ascii_uppercase();
        formats.add_if(
            Format::Genotype,
            hgvs.bytes().any(|byte| byte.is_ascii_digit()) && has_change || is_protein,
        );
    }
    if let Some(group) = ["AB", "A", "B", "O", "0"]
        .iter()
        .find_map(|group| text.strip_prefix(group))
    {
        let factor = group
            .trim()
            .trim_start_matches("Rh")
            .trim_start_matches("rh")
            .trim_start();
        let is_factor = matches!(
            factor,
            "+" | "-"
                | "−"
                | "pos"
                | "neg"
                | "pos."
                | "neg."
                | "positive"
                | "negative"
                | "positiv"
                | "negativ"
                | "D+"
                | "D-"
        );
        formats.add_if(Format::BloodGroup, is_factor);
    }
    formats
}
