//! Byte format of values that are stored or sent between processes. Small numbers take one byte.

use thiserror::Error;

/// Error for bytes that end too early or were not written by this module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the stored bytes are damaged")]
pub struct DamagedBytes;

/// Appends a number with seven bits per byte, the lowest bits first. The eighth bit is set if more bytes
/// follow.
pub fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends the number of bytes, then the bytes themselves.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Returns a number written by [`put_varint`] and moves `input` past it.
pub fn take_varint(input: &mut &[u8]) -> Result<u64, DamagedBytes> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let [byte] = take_array(input)?;
        let bits = u64::from(byte & 0x7f);
        // The tenth byte has room for one bit only. A last byte of 0 is refused because it would be a second
        // way to write the same number.
        if bits << shift >> shift != bits || (byte == 0 && shift > 0) {
            return Err(DamagedBytes);
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(DamagedBytes)
}

/// Returns bytes written by [`put_bytes`] and moves `input` past them.
pub fn take_bytes<'a>(input: &mut &'a [u8]) -> Result<&'a [u8], DamagedBytes> {
    let length = usize::try_from(take_varint(input)?).map_err(|_| DamagedBytes)?;
    let (bytes, rest) = input.split_at_checked(length).ok_or(DamagedBytes)?;
    *input = rest;
    Ok(bytes)
}

/// Returns the next `N` bytes and moves `input` past them.
pub fn take_array<const N: usize>(input: &mut &[u8]) -> Result<[u8; N], DamagedBytes> {
    let (bytes, rest) = input.split_first_chunk().ok_or(DamagedBytes)?;
    *input = rest;
    Ok(*bytes)
}
