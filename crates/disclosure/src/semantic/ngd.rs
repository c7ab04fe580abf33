/// The normalised Google distance of two terms (Cilibrasi and Vitányi 2007; Ong 2015, equation 3.2) of which one is in
/// so many documents, the other in so many, both in so many, of all documents.
///
/// Nothing is known where one of them is in no document. Terms that are never together are infinitely far apart. Counts
/// that do not belong together, as those that search engines estimate, may give a negative distance.
pub fn normalised_google_distance(one: f64, other: f64, both: f64, documents: f64) -> Option<f64> {
    if one <= 0.0 || other <= 0.0 {
        return None;
    }
    let apart = one.max(other).ln() - both.ln();
    let room = documents.ln() - one.min(other).ln();
    // There is no room either between terms that are in all documents.
    Some(if apart == 0.0 { 0.0 } else { apart / room })
}
