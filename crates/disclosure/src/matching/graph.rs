/// A bipartite graph between codes and items, with twins in classes: all codes of a class have the same
/// neighbours, and so have all items of a class. Sixteen thousand items are a few hundred classes then.
///
/// A perfect matching is one way to say what every code stands for, so there are as many codes as items.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Graph {
    /// How many codes every class of codes has; none is empty.
    pub codes: Vec<u32>,
    /// The classes of items.
    pub items: Vec<ItemClass>,
}

/// Items that the same codes can stand for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ItemClass {
    /// How many items; more than none.
    pub size: u32,
    /// The classes of codes that can stand for them, in ascending order.
    pub candidates: Vec<u32>,
}

impl Graph {
    /// How many codes can stand for an item of this class: its degree, O_x in Lakshmanan et al. 2008.
    pub fn degree(&self, items: &ItemClass) -> u64 {
        let sizes = items.candidates.iter().map(|&codes| self.codes[codes as usize]);
        sizes.map(u64::from).sum()
    }

    /// How many codes there are.
    pub fn code_count(&self) -> u64 {
        self.codes.iter().copied().map(u64::from).sum()
    }

    /// How many items there are.
    pub fn item_count(&self) -> u64 {
        self.items.iter().map(|items| u64::from(items.size)).sum()
    }
}
