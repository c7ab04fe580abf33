//! Reads and writes the subset of JSON in which stored values are printed: strings, whole numbers and
//! punctuation. The reader works directly on the text and builds no tree.

use std::borrow::Cow;

/// Cursor that reads a JSON text from its beginning. Every method that reads skips white space first and
/// returns `None` if the expected token does not follow.
pub struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str) -> Self {
        Reader { rest: text }
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Reads a punctuation mark such as a bracket.
    pub fn punctuation(&mut self, mark: char) -> Option<()> {
        self.skip_space();
        self.rest = self.rest.strip_prefix(mark)?;
        Some(())
    }

    /// Returns `Some` if only white space is left.
    pub fn end(&mut self) -> Option<()> {
        self.skip_space();
        self.rest.is_empty().then_some(())
    }

    /// Reads a string, which is copied only if it contains escapes.
    pub fn string(&mut self) -> Option<Cow<'a, str>> {
        self.punctuation('"')?;
        let mut copy = String::new();
        loop {
            let plain = self
                .rest
                .bytes()
                .position(|byte| byte == b'"' || byte == b'\\' || byte < 0x20)?;
            let (text, rest) = self.rest.split_at(plain);
            let mark = rest.as_bytes()[0];
            self.rest = &rest[1..];
            match mark {
                b'"' if copy.is_empty() => return Some(text.into()),
                b'"' => return Some((copy + text).into()),
                b'\\' => {
                    copy.push_str(text);
                    copy.push(self.escaped()?);
                }
                _ => return None,
            }
        }
    }

    /// Reads the rest of an escape after its backslash and returns the character that it stands for.
    fn escaped(&mut self) -> Option<char> {
        let kind = self.rest.chars().next()?;
        self.rest = &self.rest[kind.len_utf8()..];
        match kind {
            '"' | '\\' | '/' => Some(kind),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'u' => {
                let unit = self.four_digits()?;
                match unit {
                    0xd800..0xdc00 => {
                        self.rest = self.rest.strip_prefix("\\u")?;
                        let low = self.four_digits()?.checked_sub(0xdc00)?;
                        char::from_u32(0x10000 + ((unit - 0xd800) << 10 | low)).filter(|_| low < 0x400)
                    }
                    _ => char::from_u32(unit),
                }
            }
            _ => None,
        }
    }

    fn four_digits(&mut self) -> Option<u32> {
        let (digits, rest) = self.rest.split_at_checked(4)?;
        let all_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        self.rest = rest;
        u32::from_str_radix(digits, 16).ok().filter(|_| all_hex)
    }

    /// Reads a whole number that is not negative. Leading zeros are refused, as in JSON.
    pub fn whole_number(&mut self) -> Option<u64> {
        self.skip_space();
        let end = self
            .rest
            .find(|next: char| !(next.is_ascii_alphanumeric() || ['+', '-', '.'].contains(&next)))
            .unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        let is_plain = number.bytes().all(|digit| digit.is_ascii_digit())
            && (number.len() == 1 || !number.starts_with('0'));
        number.parse().ok().filter(|_| is_plain)
    }
}

/// Returns the escape with which a character is written in a string; `None` if it is written as itself.
fn escape(character: char) -> Option<&'static str> {
    const CONTROL: [&str; 0x20] = [
        "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b", "\\t",
        "\\n", "\\u000b", "\\f", "\\r", "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013",
        "\\u0014", "\\u0015", "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c",
        "\\u001d", "\\u001e", "\\u001f",
    ];
    match character {
        '"' => Some("\\\""),
        '\\' => Some("\\\\"),
        _ => CONTROL.get(character as usize).copied(),
    }
}

/// Appends a string in quotation marks.
pub fn put_string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match escape(character) {
            None => out.push(character),
            Some(escape) => out.push_str(escape),
        }
    }
    out.push('"');
}

/// Returns the number of bytes that [`put_string`] appends.
pub fn quoted_length(text: &str) -> usize {
    let length = |byte: u8| escape(byte as char).map_or(1, str::len);
    2 + text.bytes().map(length).sum::<usize>()
}
