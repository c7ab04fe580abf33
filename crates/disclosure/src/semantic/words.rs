use unicode_normalization::char::{canonical_combining_class, decompose_compatible, is_combining_mark};

/// Rules for splitting a text into words, the same for terms and for documents.
///
/// A word is a run of letters and digits. Everything else separates words, including hyphens and apostrophes.
/// Case is folded, and so are variants of characters and accents (each character is replaced by its
/// compatibility decomposition, as in NFKD, without accents): `Café ﬁfty STRASSE` and `cafe fifty Straße` are
/// the same words. Signs that make a different letter rather than an accented one (vowel signs, virama, kana
/// voicing) are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Folding {
    /// Whether English plurals are folded into their singular. The result need not be a word, but it is the
    /// same for both. In words of more than three letters
    /// - a final `s` is removed, unless it is part of `ss`, `us` or `is`;
    /// - if there are still more than three letters, a final `ie` becomes `y`, and a final `e` is removed
    ///   after `ss`, `us`, `is`, `sh`, `ch`, `x` or `z`.
    ///
    /// So `allergies` is the same as `allergy`, `calories` as `calorie`, `viruses` as `virus` and `headaches`
    /// as `headache`, but `feet` is not the same as `foot`.
    pub plurals: bool,
}

impl Folding {
    /// Calls `each` for every word of a text. `buffer` is memory for the words; its contents are lost.
    pub fn words(&self, text: &str, buffer: &mut String, mut each: impl FnMut(&str)) {
        buffer.clear();
        let mut end = |word: &mut String| {
            if !word.is_empty() {
                if self.plurals {
                    make_singular(word);
                }
                each(word);
                word.clear();
            }
        };
        let mut rest = text;
        loop {
            let plain = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
            let (run, after) = rest.split_at(plain);
            let start = buffer.len();
            buffer.push_str(run);
            buffer[start..].make_ascii_lowercase();
            let Some(next) = after.chars().next() else {
                return end(buffer);
            };
            if next.is_ascii() {
                end(buffer);
            } else {
                decompose_compatible(next, |part| match role(part) {
                    Role::Letter => buffer.extend(fold_case(part)),
                    Role::Accent => (),
                    Role::Separator => end(buffer),
                });
            }
            rest = &after[next.len_utf8()..];
        }
    }
}

/// Folds the case of a character: converts it to upper case, which has fewer variants, and then to lower
/// case. ς becomes σ, and both ß and ẞ become ss.
fn fold_case(character: char) -> impl Iterator<Item = char> {
    let capitals = character.to_lowercase().flat_map(char::to_uppercase);
    capitals.flat_map(char::to_lowercase)
}

enum Role {
    Letter,
    Accent,
    Separator,
}

fn role(character: char) -> Role {
    // Combining classes 7 to 9 are nukta, kana voicing and virama. Vowel signs have class 0. Higher classes
    // are marks placed around a letter.
    match canonical_combining_class(character) {
        10.. => Role::Accent,
        7..=9 => Role::Letter,
        _ if character.is_alphanumeric() => Role::Letter,
        _ if is_combining_mark(character) => Role::Accent,
        _ => Role::Separator,
    }
}

fn make_singular(word: &mut String) {
    let is_long = |word: &str| word.chars().nth(3).is_some();
    let ends_with_one_of = |word: &str, ends: &[&str]| ends.iter().any(|end| word.ends_with(end));
    if is_long(word) && word.ends_with('s') && !ends_with_one_of(word, &["ss", "us", "is"]) {
        word.pop();
    }
    if is_long(word) && word.ends_with("ie") {
        word.truncate(word.len() - 2);
        word.push('y');
    } else if is_long(word) && ends_with_one_of(word, &["sse", "use", "ise", "she", "che", "xe", "ze"]) {
        word.pop();
    }
}
