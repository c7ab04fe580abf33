/// A source of distances between terms, which are numbered.
pub trait Scoring: Sync {
    /// Returns the distance of two terms, `None` if it is unknown.
    fn distance(&self, one: u32, other: u32) -> Option<f64>;

    /// Returns whether anything is known about a term.
    fn is_known(&self, term: u32) -> bool;

    /// Returns the same source with another assumption about terms that never occur together: that they share
    /// `unseen` documents. Returns `None` if the source makes no such assumption.
    fn with_unseen(&self, unseen: f64) -> Option<Box<dyn Scoring + '_>> {
        let _ = unseen;
        None
    }
}
