/// What is known of how far terms are from each other. Terms are numbers.
pub trait Scoring: Sync {
    /// How far a term is from another; nothing where that is not known.
    fn distance(&self, one: u32, other: u32) -> Option<f64>;

    /// Whether anything is known of a term.
    fn is_known(&self, term: u32) -> bool;
}
