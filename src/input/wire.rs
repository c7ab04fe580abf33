//! The form in which the parts of an aggregate travel between processes of one server, and in which
//! summaries are stored: small numbers take one byte.

/// Seven bits to a byte, the lowest first; the eighth says that more follow.
pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// What [`put`] has written at the beginning of `input`, which is moved past it.
pub fn take(input: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let [byte] = take_array(input);
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return number;
        }
        shift += 7;
    }
}

/// What [`put_bytes`] has written.
pub fn take_bytes<'a>(input: &mut &'a [u8]) -> &'a [u8] {
    let length = take(input) as usize;
    let (bytes, rest) = input.split_at(length);
    *input = rest;
    bytes
}

/// The next `N` bytes.
pub fn take_array<const N: usize>(input: &mut &[u8]) -> [u8; N] {
    // Written by ourselves, here or in another process: only a bug can make it too short.
    let (bytes, rest) = input.split_first_chunk().expect("a whole state");
    *input = rest;
    *bytes
}
