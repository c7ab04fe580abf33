/// A bipartite graph between codes and items, in which vertices with the same neighbours form a class: all
/// codes of a class have the same neighbours, and so have all items of a class. In this form, sixteen
/// thousand items are a few hundred classes.
///
/// A perfect matching says what every code stands for. So a graph with a perfect matching has as many codes
/// as items.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Graph {
    /// Number of codes in every class of codes; at least one.
    pub codes: Vec<u32>,
    /// Classes of items.
    pub items: Vec<ItemClass>,
}

/// Items with the same candidate codes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ItemClass {
    /// Number of items; at least one.
    pub size: u32,
    /// Classes of codes that can stand for these items, in ascending order.
    pub candidates: Vec<u32>,
}

impl Graph {
    /// Returns the number of codes that can stand for an item of this class: its degree, O_x in Lakshmanan et
    /// al. 2008.
    pub fn degree(&self, items: &ItemClass) -> u64 {
        let sizes = items
            .candidates
            .iter()
            .map(|&code_class| self.codes[code_class as usize]);
        sizes.map(u64::from).sum()
    }

    /// Returns the number of codes.
    pub fn code_count(&self) -> u64 {
        self.codes.iter().copied().map(u64::from).sum()
    }

    /// Returns the number of items.
    pub fn item_count(&self) -> u64 {
        self.items.iter().map(|items| u64::from(items.size)).sum()
    }
}
