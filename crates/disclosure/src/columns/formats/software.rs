//! Values that software makes: secrets, digests, versions, colours, locales, time zones.

use super::format::{Format, Formats};
use super::lexicon::{Topics, topics_of};
use super::shape::Shape;

/// Beginnings of password hashes: crypt(3), PHC strings, Django, Spring, LDAP (RFC 2307), PostgreSQL,
/// WordPress, Drupal.
const PASSWORD_HASHES: [&str; 31] = [
    "$2a$",
    "$2b$",
    "$2y$",
    "$2x$",
    "$argon2",
    "$1$",
    "$5$",
    "$6$",
    "$y$",
    "$gy$",
    "$7$",
    "$scrypt",
    "$pbkdf2",
    "$apr1$",
    "$P$",
    "$H$",
    "$S$",
    "$md5",
    "$sha1$",
    "pbkdf2_",
    "pbkdf2:",
    "scrypt:",
    "scrypt$",
    "argon2$",
    "bcrypt",
    "sha1$",
    "{SSHA",
    "{SHA",
    "{CRYPT}",
    "{bcrypt}",
    "SCRAM-SHA-",
];

/// Beginnings of keys and tokens of well-known services.
const KEYS: [&str; 34] = [
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "whsec_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "SG.",
    "sk-",
    "hf_",
    "npm_",
    "dop_v1_",
    "shpat_",
    "pypi-",
    "EAA",
    "AccountKey=",
    "tok_",
    "key-",
    "pat_",
    "secret_",
    "Bearer ",
];

/// Beginnings of identifiers of well-known services that are not secret.
const REFERENCES: [&str; 19] = [
    "cus_", "pi_", "ch_", "in_", "sub_", "evt_", "price_", "prod_", "acct_", "req_", "txn_", "re_", "seti_",
    "cs_", "pm_", "sha1-", "sha256-", "sha384-", "sha512-",
];

/// Returns the formats of secrets and digests.
pub(super) fn of_secret(text: &str, shape: &Shape) -> Formats {
    let mut formats = Formats::default();
    if shape.length < 16 {
        return formats;
    }
    formats.add_if(
        Format::PrivateKey,
        text.starts_with("-----BEGIN") && text.contains("PRIVATE KEY"),
    );
    formats.add_if(Format::Jwt, is_jwt(text, shape));
    formats.add_if(Format::PasswordHash, is_password_hash(text, shape));
    formats.add_if(Format::HexDigest, is_hex_digest(text, shape));
    if formats.is_empty() && !text.starts_with("eyJ") {
        formats.add_if(Format::ApiKey, is_key(text, shape));
    }
    formats
}

/// JSON web token (RFC 7519): three parts in base64url, the first of which is an object.
fn is_jwt(text: &str, shape: &Shape) -> bool {
    text.starts_with("eyJ")
        && shape.dots == 2
        && shape.length > 36
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'='))
}

fn is_password_hash(text: &str, shape: &Shape) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let begins = matches!(text.as_bytes()[0], b'$' | b'p' | b's' | b'a' | b'b' | b'{' | b'S')
        && PASSWORD_HASHES
            .iter()
            .any(|beginning| text.starts_with(beginning));
    begins && shape.length >= 20 && shape.spaces == 0
        || text
            .strip_prefix('*')
            .is_some_and(|hash| hash.len() == 40 && is_hex(hash))
        || text
            .strip_prefix("md5")
            .is_some_and(|hash| hash.len() == 32 && is_hex(hash))
}

/// MD5, SHA-1, SHA-2 in hexadecimal digits, also with the name of the function in front.
fn is_hex_digest(text: &str, shape: &Shape) -> bool {
    let hash = match text.rsplit_once(':') {
        Some(("md5" | "sha1" | "sha256" | "sha512", hash)) => hash,
        Some(_) => return false,
        None => text,
    };
    matches!(hash.len(), 24 | 32 | 40 | 56 | 64 | 96 | 128)
        && shape.spaces == 0
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        && shape.digits < shape.length
}

/// A well-known beginning and random characters, or random characters of both cases and digits.
fn is_key(text: &str, shape: &Shape) -> bool {
    if !(20..=200).contains(&shape.length) || shape.wide > 0 || shape.ats > 0 || shape.commas > 0 {
        return false;
    }
    if REFERENCES.iter().any(|beginning| text.starts_with(beginning)) {
        return false;
    }
    if let Some(body) = KEYS.iter().find_map(|beginning| text.strip_prefix(beginning)) {
        return body.len() >= 16 && is_random(body, 6);
    }
    // A prefix of words in lower case, such as `api_`.
    let mut body = text;
    for _ in 0..3 {
        let word = body.bytes().take_while(u8::is_ascii_lowercase).count();
        match body.as_bytes().get(word) {
            Some(b'_' | b'-') if (2..=10).contains(&word) => body = &body[word + 1..],
            _ => break,
        }
    }
    let [upper, lower, digits] = [shape.upper, shape.lower, shape.digits].map(|count| count >= 2);
    body.len() >= 24 && shape.slashes <= 4 && upper && lower && digits && is_random(body, 4)
}

/// Returns whether the kind of character changes at least once per `run` characters, as in random text.
fn is_random(text: &str, run: usize) -> bool {
    let kind = |byte: u8| match byte {
        b'0'..=b'9' => Some(0),
        b'a'..=b'z' => Some(1),
        b'A'..=b'Z' => Some(2),
        b'_' | b'-' | b'/' | b'+' | b'=' | b'.' => Some(3),
        _ => None,
    };
    let bytes = text.as_bytes();
    let changes = bytes
        .windows(2)
        .filter(|pair| kind(pair[0]) != kind(pair[1]))
        .count();
    bytes.iter().all(|byte| kind(*byte).is_some()) && changes * run >= bytes.len()
}

/// Returns the formats of values that steer software.
pub(super) fn of_settings(text: &str, shape: &Shape) -> Formats {
    let mut formats = Formats::default();
    formats.add_if(Format::Colour, is_colour(text));
    formats.add_if(Format::Version, is_version(text, shape));
    if shape.length <= 40 && shape.spaces == 0 {
        formats.add_if(Format::Locale, is_locale(text.as_bytes()));
        formats.add_if(Format::TimeZone, is_time_zone(text));
        if shape.length == 3 && shape.upper == 3 {
            let mut code = [0; 3];
            code.copy_from_slice(text.as_bytes());
            code.make_ascii_lowercase();
            let is_currency =
                std::str::from_utf8(&code).is_ok_and(|code| topics_of(code).has(Topics::CURRENCY));
            formats.add_if(Format::Currency, is_currency);
        }
    }
    formats
}

/// Hexadecimal and functional notations of CSS.
pub(super) fn is_colour(text: &str) -> bool {
    if let Some(hex) = text.strip_prefix('#') {
        return matches!(hex.len(), 3 | 4 | 6 | 8) && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    text.ends_with(')')
        && ["rgb(", "rgba(", "hsl(", "hsla("]
            .iter()
            .any(|function| text.starts_with(function))
}

/// Two to four numbers between dots, with `v` in front or a suffix (semver.org) or neither.
pub(super) fn is_version(text: &str, shape: &Shape) -> bool {
    let body = text.strip_prefix(['v', 'V']).unwrap_or(text);
    if shape.dots == 0 || shape.length > 32 || !body.starts_with(|first: char| first.is_ascii_digit()) {
        return false;
    }
    let end = body
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b'.')
        .count();
    let (numbers, suffix) = body.split_at(end);
    let parts = numbers.split('.').count();
    let is_suffix = suffix.is_empty() || suffix.starts_with(['-', '+', 'b', 'r', 'a']) && shape.spaces == 0;
    let has_mark = body.len() < text.len() || !suffix.is_empty();
    let is_number = |part: &str| !part.is_empty() && (part.len() == 1 || !part.starts_with('0') || has_mark);
    numbers.split('.').all(is_number) && is_suffix && ((3..=5).contains(&parts) || parts == 2 && has_mark)
}

/// Language, script and region (BCP 47, POSIX).
fn is_locale(bytes: &[u8]) -> bool {
    let tag = bytes
        .split(|byte| matches!(byte, b'.' | b'@'))
        .next()
        .unwrap_or(bytes);
    let lower = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_lowercase);
    match tag {
        [language @ .., b'_' | b'-', a, b] => {
            let language = language
                .split(|byte| matches!(byte, b'_' | b'-'))
                .next()
                .unwrap_or(language);
            matches!(language.len(), 2 | 3)
                && lower(language)
                && a.is_ascii_uppercase()
                && b.is_ascii_uppercase()
        }
        _ => false,
    }
}

/// Names of the tz database, and frequent abbreviations.
fn is_time_zone(text: &str) -> bool {
    const AREAS: [&str; 11] = [
        "Africa",
        "America",
        "Antarctica",
        "Arctic",
        "Asia",
        "Atlantic",
        "Australia",
        "Europe",
        "Indian",
        "Pacific",
        "Etc",
    ];
    match text.split_once('/') {
        Some((area, _)) => AREAS.contains(&area),
        None => {
            let offset = text.strip_prefix("UTC").or_else(|| text.strip_prefix("GMT"));
            matches!(
                text,
                "CET"
                    | "CEST"
                    | "EST"
                    | "EDT"
                    | "PST"
                    | "PDT"
                    | "MST"
                    | "MDT"
                    | "BST"
                    | "WET"
                    | "EET"
                    | "JST"
                    | "IST"
                    | "AEST"
            ) || offset.is_some_and(|offset| offset.is_empty() || offset.starts_with(['+', '-']))
        }
    }
}

/// Returns whether a text is a UUID (RFC 9562), in braces or not.
pub(super) fn is_uuid(text: &str) -> bool {
    let text = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'))
        .unwrap_or(text);
    let text = text.strip_prefix("urn:uuid:").unwrap_or(text).as_bytes();
    text.len() == 36
        && text.iter().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Returns whether a text is a MAC address (IEEE 802): six pairs, or three groups of four digits.
pub(super) fn is_mac(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_hex = |byte: &u8| byte.is_ascii_hexdigit();
    match bytes.len() {
        17 => {
            let separator = bytes[2];
            matches!(separator, b':' | b'-')
                && bytes.iter().enumerate().all(|(place, byte)| match place % 3 {
                    2 => *byte == separator,
                    _ => is_hex(byte),
                })
        }
        14 => bytes.iter().enumerate().all(|(place, byte)| match place {
            4 | 9 => *byte == b'.',
            _ => is_hex(byte),
        }),
        _ => false,
    }
}
