//! What kinds of characters a value has: computed once, so that each format can be ruled out cheaply.

/// Most digits that are kept; no format has more.
const MAX_DIGITS: usize = 24;

/// Kinds of characters of a value, counted by bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) length: usize,
    pub(super) digits: usize,
    pub(super) upper: usize,
    pub(super) lower: usize,
    pub(super) spaces: usize,
    /// Bytes of characters beyond ASCII.
    pub(super) wide: usize,
    pub(super) dots: usize,
    pub(super) hyphens: usize,
    pub(super) colons: usize,
    pub(super) slashes: usize,
    pub(super) ats: usize,
    pub(super) commas: usize,
    kept: [u8; MAX_DIGITS],
}

impl Shape {
    pub(super) fn of(text: &str) -> Shape {
        let mut shape = Shape {
            length: text.len(),
            digits: 0,
            upper: 0,
            lower: 0,
            spaces: 0,
            wide: 0,
            dots: 0,
            hyphens: 0,
            colons: 0,
            slashes: 0,
            ats: 0,
            commas: 0,
            kept: [0; MAX_DIGITS],
        };
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9' => {
                    if let Some(kept) = shape.kept.get_mut(shape.digits) {
                        *kept = byte - b'0';
                    }
                    shape.digits += 1;
                }
                b'a'..=b'z' => shape.lower += 1,
                b'A'..=b'Z' => shape.upper += 1,
                b' ' | b'\t' | b'\n' | b'\r' => shape.spaces += 1,
                b'.' => shape.dots += 1,
                b'-' => shape.hyphens += 1,
                b':' => shape.colons += 1,
                b'/' => shape.slashes += 1,
                b'@' => shape.ats += 1,
                b',' => shape.commas += 1,
                0x80.. => shape.wide += 1,
                _ => (),
            }
        }
        shape
    }

    /// Returns the number of letters, where each byte beyond ASCII counts.
    pub(super) fn letters(&self) -> usize {
        self.upper + self.lower + self.wide
    }

    /// Returns the digits as numbers from 0 to 9; none if there are too many for any format.
    pub(super) fn digits(&self) -> &[u8] {
        self.kept.get(..self.digits).unwrap_or_default()
    }
}

/// Returns whether a text has the pattern, in which `9` stands for a digit, `A` for a letter in upper case,
/// `a` for a letter of any case, and any other character for itself.
pub(super) fn has_pattern(text: &[u8], pattern: &[u8]) -> bool {
    text.len() == pattern.len()
        && text.iter().zip(pattern).all(|(byte, pattern)| match pattern {
            b'9' => byte.is_ascii_digit(),
            b'A' => byte.is_ascii_uppercase(),
            b'a' => byte.is_ascii_alphabetic(),
            _ => byte == pattern,
        })
}
