/// Returns the normalised Google distance of two terms (Cilibrasi and Vitányi 2007; Ong 2015, equation 3.2).
/// `one`, `other` and `both` are the numbers of documents that contain one term, the other term and both, and
/// `documents` is the number of all documents.
///
/// Returns `None` if one of the terms is in no document. Terms that never occur together are infinitely far
/// apart. Inconsistent counts, such as those that search engines estimate, may give a negative distance.
pub fn normalised_google_distance(one: f64, other: f64, both: f64, documents: f64) -> Option<f64> {
    if one <= 0.0 || other <= 0.0 {
        return None;
    }
    let apart = one.max(other).ln() - both.ln();
    let room = documents.ln() - one.min(other).ln();
    // If both terms are in all documents, the denominator is 0 as well.
    Some(if apart == 0.0 { 0.0 } else { apart / room })
}
