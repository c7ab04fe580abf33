//! Reads lexemes with positions from text in the notation of Postgres' `tsvector`.

/// Calls `each` for every lexeme with its positions, ascending. For example, `'fat':2A,11 'o''neil'` has two
/// lexemes, the second without positions.
pub fn for_each_lexeme(text: &str, mut each: impl FnMut(&str, &[u16])) {
    let (mut lexeme, mut positions) = (String::new(), Vec::new());
    let mut characters = text.chars().peekable();
    while characters.by_ref().any(|character| character == '\'') {
        lexeme.clear();
        positions.clear();
        while let Some(character) = characters.next() {
            // Quotes and backslashes are doubled.
            match character {
                '\'' if characters.next_if_eq(&'\'').is_none() => break,
                '\\' => lexeme.extend(characters.next()),
                _ => lexeme.push(character),
            }
        }
        while characters.next_if(|&next| next == ':' || next == ',').is_some() {
            let mut position = 0_u16;
            while let Some(digit) = characters.peek().and_then(|next| next.to_digit(10)) {
                position = position.saturating_mul(10).saturating_add(digit as u16);
                characters.next();
            }
            positions.push(position);
            characters.next_if(char::is_ascii_uppercase); // weight of the position
        }
        each(&lexeme, &positions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexemes(text: &str) -> Vec<(String, Vec<u16>)> {
        let mut found = Vec::new();
        for_each_lexeme(text, |lexeme, positions| {
            found.push((lexeme.to_owned(), positions.to_vec()))
        });
        found
    }

    #[test]
    fn quotes_weights_and_positions_are_read() {
        assert_eq!(lexemes(""), []);
        assert_eq!(
            lexemes(r"'a\\b' 'fat':2A,11 'o''neil' ':1,':65535"),
            [
                (r"a\b".into(), vec![]),
                ("fat".into(), vec![2, 11]),
                ("o'neil".into(), vec![]),
                (":1,".into(), vec![u16::MAX]),
            ]
        );
    }

    #[test]
    fn text_that_is_cut_off_ends() {
        assert_eq!(
            lexemes("'fat':99999999 'ca"),
            [("fat".into(), vec![u16::MAX]), ("ca".into(), vec![])]
        );
    }
}
