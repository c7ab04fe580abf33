//! The form in which the parts of an aggregate travel between processes of one server.

pub fn put(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_ne_bytes());
}

pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// What [`put`] has written at the beginning of `input`, which is moved past it.
pub fn take(input: &mut &[u8]) -> u64 {
    u64::from_ne_bytes(take_array(input))
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
    // Written by ourselves in another process: only a bug can make it too short.
    let (bytes, rest) = input.split_first_chunk().expect("a whole state");
    *input = rest;
    *bytes
}
