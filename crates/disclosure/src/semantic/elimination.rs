/// How cells are chosen that seem to be cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The baseline: cells drawn at random, each eliminated or not by the toss of a coin (section 5.2).
    Random,
    /// Maximum distance: the one cell that is furthest away (section 4.1).
    Mda,
    /// Threshold: all cells that are further away than a threshold (section 4.2).
    Tba,
    /// Weight: one at a time, whereby what is left of its row and column becomes likelier to be original (section 4.3).
    Wba,
    /// Grouping: the furthest cell of the row or column that falls into two clusters most clearly (section 4.4).
    Gba,
    /// Redistribution: as grouping, but only the near cluster becomes likelier to be original (section 4.5).
    Rba,
}

/// What a cell's distance, or a group's vulnerability, has to exceed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// This multiple of the mean, as it is before the first elimination.
    Mean(f64),
    /// A number.
    At(f64),
}

/// How clearly a row or column falls into two clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vulnerability {
    /// The largest gap between neighbouring distances: what Figures 4.11 to 4.17 show.
    Gap,
    /// By the distance of the furthest from the nearest (Definition 20).
    Normalised,
}

/// How to attack a distance table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strategy {
    /// How cells are chosen.
    pub method: Method,
    /// Where it ends; [`Method::Random`] and [`Method::Mda`] have none.
    pub threshold: Threshold,
    /// For [`Method::Gba`] and [`Method::Rba`].
    pub vulnerability: Vulnerability,
    /// For [`Method::Random`].
    pub seed: u64,
}

/// A cell that was eliminated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elimination {
    /// The transaction.
    pub row: u32,
    /// The member of the generalised item.
    pub column: u32,
    /// What was above the threshold: the cell's distance (MDA, TBA), its weighted distance (WBA), the vulnerability of
    /// its group (GBA, RBA); nothing for the baseline.
    pub score: Option<f64>,
}

/// What an attack eliminates.
#[derive(Debug, Clone, PartialEq)]
pub struct Eliminations {
    /// What scores had to exceed; nothing for the baseline and MDA, or where no cell is reliable.
    pub threshold: Option<f64>,
    /// In the order in which they were made.
    pub cells: Vec<Elimination>,
}
