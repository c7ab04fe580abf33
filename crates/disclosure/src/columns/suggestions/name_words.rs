//! Words of names.

use crate::semantic::Folding;

/// Returns the words of a name or comment in lower case, without accents and English plurals. `birthDate2`,
/// `BIRTH_DATE_2` and `birth-date 2` have the same words.
pub fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let folding = Folding { plurals: true };
    folding.words(&separate(text), &mut String::new(), |word| {
        words.push(word.to_string());
    });
    words
}

/// Puts spaces between words that are told apart by case, as in `birthDate` and `HTTPServer`, and between letters and
/// digits.
fn separate(text: &str) -> String {
    let mut separated = String::with_capacity(text.len() + 8);
    let mut characters = text.chars().peekable();
    let mut previous: Option<char> = None;
    while let Some(character) = characters.next() {
        let next_is_small = characters.peek().is_some_and(|next| next.is_lowercase());
        let starts = previous.is_some_and(|previous| {
            previous.is_lowercase() && character.is_uppercase()
                || previous.is_uppercase() && character.is_uppercase() && next_is_small
                || previous.is_alphabetic() && character.is_numeric()
                || previous.is_numeric() && character.is_alphabetic()
        });
        if starts {
            separated.push(' ');
        }
        separated.push(character);
        previous = Some(character);
    }
    separated
}

/// Returns a text with ä, ö and ü written as ae, oe and ue; `None` if it has none of them.
pub(super) fn expand_umlauts(text: &str) -> Option<String> {
    let expanded = |letter: char| match letter {
        'ä' | 'Ä' => Some("ae"),
        'ö' | 'Ö' => Some("oe"),
        'ü' | 'Ü' => Some("ue"),
        _ => None,
    };
    if text.is_ascii() || !text.contains(|letter| expanded(letter).is_some()) {
        return None;
    }
    let mut letters = String::with_capacity(text.len() + 2);
    for letter in text.chars() {
        match expanded(letter) {
            Some(two) => letters.push_str(two),
            None => letters.push(letter),
        }
    }
    Some(letters)
}
