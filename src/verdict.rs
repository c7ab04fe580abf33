//! The words of a verdict, which are the same wherever a call decides.

/// Returns the verdict for SQL: `None` if it is not known whether something is safe.
pub fn verdict_name(is_safe: Option<bool>) -> &'static str {
    match is_safe {
        Some(true) => "safe",
        Some(false) => "unsafe",
        None => "unknown",
    }
}
