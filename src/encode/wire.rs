//! Format in which the parts of an aggregate travel between processes of one server: values as they lie in
//! memory, types by OID. The format is cheap but means nothing on another server, so it begins with its
//! origin.

use crate::error::Error;
use pgrx::pg_sys;

pub use disclosure::byte_format::{put_bytes, put_varint, take_array, take_bytes, take_varint};

/// First byte of the format. Stored values begin with a version below 0x80. Whenever the format changes,
/// another number from 0x80 on must be chosen, because a process may have loaded another version of the
/// library.
const LOCAL: u8 = 0x82;

/// Returns the first bytes of a message for another process of this server.
pub fn local() -> Vec<u8> {
    let mut out = vec![LOCAL];
    out.extend(place());
    out
}

/// Returns the origin of the bytes: the server and the database.
fn place() -> [u8; 12] {
    let mut place = [0; 12];
    // SAFETY: both are set when the backend starts and do not change afterwards.
    let (server, database) = unsafe { (pg_sys::GetSystemIdentifier(), pg_sys::MyDatabaseId) };
    place[..8].copy_from_slice(&server.to_ne_bytes());
    place[8..].copy_from_slice(&database.to_u32().to_ne_bytes());
    place
}

/// Moves past the bytes that [`local`] has written; an error if they come from elsewhere.
pub fn take_local(input: &mut &[u8]) -> Result<(), Error> {
    let ([first], from) = (take_array(input)?, take_array(input)?);
    if first != LOCAL || from != place() {
        return Err(Error::NotLocal);
    }
    Ok(())
}

/// Returns the bytes, or an error if they are too long for a Postgres value.
pub fn finish(what: &'static str, bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
    const MOST: usize = 0x3fff_ffff - pg_sys::VARHDRSZ; // MaxAllocSize
    if bytes.len() > MOST {
        return Err(Error::TooLarge { what, limit: "1 GB" });
    }
    Ok(bytes)
}
