//! The form in which the parts of an aggregate travel between processes of one server: values as they lie in memory,
//! types by OID. It is cheap, and nobody else can read it, so its beginning says where it comes from.

use crate::error::Problem;
use pgrx::pg_sys;

pub use disclosure::byte_format::{put_bytes, put_varint, take_array, take_bytes, take_varint};

/// The first byte. Stored values begin with a version below 0x80; another number from 0x80 on has to be taken here
/// whenever the form changes, because a process may have loaded another version of the library.
const LOCAL: u8 = 0x82;

/// Bytes for another process of this server.
pub fn local() -> Vec<u8> {
    let mut out = vec![LOCAL];
    out.extend(place());
    out
}

/// Where the bytes were made: the server and the database.
fn place() -> [u8; 12] {
    let mut place = [0; 12];
    // SAFETY: they do not change while the process lives.
    let (server, database) = unsafe { (pg_sys::GetSystemIdentifier(), pg_sys::MyDatabaseId) };
    place[..8].copy_from_slice(&server.to_ne_bytes());
    place[8..].copy_from_slice(&database.to_u32().to_ne_bytes());
    place
}

/// Moves past what [`local`] has written.
pub fn take_local(input: &mut &[u8]) -> Result<(), Problem> {
    let ([first], from) = (take_array(input)?, take_array(input)?);
    if first != LOCAL || from != place() {
        return Err(Problem::NotLocal);
    }
    Ok(())
}

/// Bytes as a value of Postgres, whose length it limits.
pub fn finish(what: &'static str, bytes: Vec<u8>) -> Result<Vec<u8>, Problem> {
    const MOST: usize = 0x3fff_ffff - pg_sys::VARHDRSZ; // MaxAllocSize
    if bytes.len() > MOST {
        return Err(Problem::TooLarge { what, limit: "1 GB" });
    }
    Ok(bytes)
}
