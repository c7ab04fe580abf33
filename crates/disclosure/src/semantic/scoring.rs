/// How far terms, which are numbers, are from each other.
pub trait Scoring: Sync {
    /// `None` where it is not known.
    fn distance(&self, one: u32, other: u32) -> Option<f64>;

    /// Whether the source knows the term at all.
    fn is_known(&self, term: u32) -> bool;
}
