//! E-mail addresses, web addresses, paths of files, user agents, and login names.

use super::format::{Format, Formats};
use super::lexicon::{Topics, each_word, topics_of};

/// Ends of the names of pictures.
const PICTURES: [&str; 9] = [
    ".jpg", ".jpeg", ".png", ".gif", ".webp", ".heic", ".bmp", ".tiff", ".avif",
];

/// Ends of the names of other files that software consists of.
const ASSETS: [&str; 22] = [
    ".js", ".mjs", ".css", ".woff", ".woff2", ".ttf", ".otf", ".eot", ".svg", ".ico", ".map", ".json",
    ".xml", ".html", ".php", ".wasm", ".ts", ".scss", ".less", ".txt", ".zip", ".gz",
];

/// Words in paths of pictures of people.
const PORTRAITS: [&str; 15] = [
    "avatar", "portrait", "profile", "headshot", "selfie", "passfoto", "passbild", "userpic", "mugshot",
    "gravatar", "faces", "profil", "retrat", "ritratt", "people/",
];

/// Words in paths of pictures that may show people or not.
const PHOTOS: [&str; 3] = ["photo", "foto", "pictures/user"];

/// Words in paths of pictures of things.
const THINGS: [&str; 9] = [
    "product", "item", "sku", "article", "banner", "icon", "logo", "catalog", "thumb",
];

/// Parts of addresses of people's pages.
const PEOPLE_PAGES: [&str; 18] = [
    "linkedin.com/in/",
    "facebook.com/",
    "twitter.com/",
    "//x.com/",
    "instagram.com/",
    "xing.com/profile",
    "tiktok.com/@",
    "youtube.com/@",
    "medium.com/@",
    "orcid.org/",
    "researchgate.net/profile",
    "/users/",
    "/user/",
    "/profile",
    "/people/",
    "/members/",
    "/author/",
    "/~",
];

/// Returns whether a text is one e-mail address (RFC 5321), with or without a name in front (RFC 5322).
pub(super) fn is_email(text: &str) -> bool {
    let text = text.strip_prefix("mailto:").unwrap_or(text);
    let address = match text.strip_suffix('>') {
        Some(named) => named.rsplit_once('<').map_or("", |(_, address)| address),
        None => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else {
        return false;
    };
    let is_local =
        |character: char| character.is_alphanumeric() || "!#$%&'*+/=?^_`{|}~.-".contains(character);
    let Some((_, last)) = domain.rsplit_once('.') else {
        return false;
    };
    (1..=64).contains(&local.len())
        && local.chars().all(is_local)
        && domain.len() <= 253
        && domain.split('.').all(|part| {
            !part.is_empty()
                && part
                    .chars()
                    .all(|character| character.is_alphanumeric() || character == '-')
        })
        && last.len() >= 2
        && (last.starts_with("xn--") || last.chars().all(char::is_alphabetic))
}

/// Returns whether one of the words of a text is an e-mail address.
pub(super) fn mentions_email(text: &str) -> bool {
    let is_bracket =
        |character: char| matches!(character, '<' | '>' | '(' | ')' | ',' | ';' | '.' | '"' | ':');
    text.split_ascii_whitespace()
        .filter(|word| word.contains('@'))
        .any(|word| is_email(word.trim_matches(is_bracket)))
}

/// Returns whether a text is a web address.
pub(super) fn is_url(text: &str) -> bool {
    let rest = ["https://", "http://", "ftp://", "www."]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    rest.is_some_and(|rest| rest.len() >= 3 && rest.contains('.') && !rest.contains(' '))
}

/// Returns the formats of a web address.
pub(super) fn of_url(text: &str) -> Formats {
    let lower = text.to_ascii_lowercase();
    let path = lower.split(['?', '#']).next().unwrap_or(&lower);
    let formats = of_path_in_lower_case(path);
    if !formats.is_empty() {
        return formats;
    }
    let is_github_user = path
        .split_once("github.com/")
        .is_some_and(|(_, rest)| !rest.is_empty() && !rest.trim_end_matches('/').contains('/'));
    if is_github_user || PEOPLE_PAGES.iter().any(|part| path.contains(part)) && !path.contains("/assets/") {
        return Format::PersonalUrl.into();
    }
    match ["//cdn.", "//static.", "//assets."]
        .iter()
        .any(|host| path.contains(host))
    {
        true => Format::AssetUrl.into(),
        false => Format::Url.into(),
    }
}

/// Returns the formats of a path of a file.
pub(super) fn of_path(text: &str) -> Formats {
    of_path_in_lower_case(&text.to_ascii_lowercase())
}

fn of_path_in_lower_case(path: &str) -> Formats {
    let has = |words: &[&str]| words.iter().any(|word| path.contains(word));
    if PICTURES.iter().any(|end| path.ends_with(end)) {
        let is_portrait = has(&PORTRAITS) || !has(&THINGS) && (has(&PHOTOS) || has_given_name(path));
        return if is_portrait {
            Format::Photo.into()
        } else {
            Format::AssetUrl.into()
        };
    }
    match ASSETS.iter().any(|end| path.ends_with(end)) {
        true => Format::AssetUrl.into(),
        false => Formats::default(),
    }
}

fn has_given_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut found = false;
    each_word(name, &mut String::new(), |word| {
        found |= word.len() >= 3 && topics_of(word).has(Topics::GIVEN_NAME);
    });
    found
}

/// Returns whether a text is the user agent of a browser or another program (RFC 9110).
pub(super) fn is_user_agent(text: &str) -> bool {
    const BEGINNINGS: [&str; 7] = [
        "Mozilla/",
        "Opera/",
        "Dalvik/",
        "okhttp/",
        "curl/",
        "Safari/",
        "CFNetwork/",
    ];
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning)) || text.contains("AppleWebKit/")
}

/// Returns whether a text without blanks is a login name that contains a name, such as a given name, a dot
/// and a surname.
pub(super) fn is_login(text: &str, buffer: &mut String) -> bool {
    const NAMES: Topics = Topics::GIVEN_NAME.or(Topics::SURNAME);
    let mut parts = 0;
    let mut names = 0;
    let mut others = 0;
    each_word(text, buffer, |word| {
        let letters = word.trim_end_matches(|character: char| character.is_ascii_digit());
        parts += 1;
        match letters.len() {
            0 | 1 => (),
            _ if topics_of(letters).has(NAMES) && letters.len() >= 3 => names += 1,
            _ => others += 1,
        }
    });
    (1..=3).contains(&parts) && names > 0 && (others == 0 || parts > 1)
}
