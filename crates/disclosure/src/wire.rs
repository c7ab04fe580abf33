//! Bytes in which values are stored, or travel between processes: small numbers take one byte.

use thiserror::Error;

/// The bytes end too early, or are none that this module has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the bytes are damaged")]
pub struct Damaged;

/// Appends a number: seven bits to a byte, the lowest first; the eighth says that more follow.
pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends bytes and how many they are.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Returns what [`put`] has written at the beginning of `input`, which is moved past it.
pub fn take(input: &mut &[u8]) -> Result<u64, Damaged> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let [byte] = take_array(input)?;
        let bits = u64::from(byte & 0x7f);
        // The tenth byte has room for one bit. A last byte of 0 would be a second way to write a number.
        if bits << shift >> shift != bits || (byte == 0 && shift > 0) {
            return Err(Damaged);
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(Damaged)
}

/// Returns what [`put_bytes`] has written.
pub fn take_bytes<'a>(input: &mut &'a [u8]) -> Result<&'a [u8], Damaged> {
    let length = usize::try_from(take(input)?).map_err(|_| Damaged)?;
    let (bytes, rest) = input.split_at_checked(length).ok_or(Damaged)?;
    *input = rest;
    Ok(bytes)
}

/// Returns the next `N` bytes.
pub fn take_array<const N: usize>(input: &mut &[u8]) -> Result<[u8; N], Damaged> {
    let (bytes, rest) = input.split_first_chunk().ok_or(Damaged)?;
    *input = rest;
    Ok(*bytes)
}
