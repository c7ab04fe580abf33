//! Blocks: items that are mapped to their own codes, independently of all other items.

use super::{ItemsetCracks, Mappings};
use crate::matching::first_of;
use crate::{Control, Result};

/// Items of some connected components that have all codes of these components. An itemset is cracked if and
/// only if its part in every block is. Usually a block is one component. If the adversary is wrong about an
/// item, its own code may be in another component than the item.
pub(super) struct Block {
    /// Items, in ascending order.
    pub items: Vec<u32>,
    /// Whether every code of the block can stand for every item.
    pub is_complete: bool,
    /// Predicted number of steps for counting the mappings.
    pub steps: f64,
    /// Predicted number of bytes for counting the mappings.
    pub bytes: f64,
    /// Number of classes and edges, which planning takes time for.
    pub extent: f64,
}

impl ItemsetCracks<'_> {
    /// Returns the blocks by their first item; `None` if no mapping is consistent with the belief.
    pub(super) fn blocks(&self, control: &Control) -> Result<Option<Vec<Block>>> {
        let Some(mappings) = self.mappings(control)? else {
            return Ok(None);
        };
        let block_of = self.block_of_components(mappings, control)?;
        let mut blocks: Vec<Option<Block>> = (0..mappings.components.len()).map(|_| None).collect();
        for (component, &block) in mappings.components.iter().zip(&block_of) {
            let graph = &component.graph;
            let edges: usize = graph.items.iter().map(|class| class.candidates.len()).sum();
            let has_all = graph
                .items
                .iter()
                .all(|class| class.candidates.len() == graph.codes.len());
            let joined = blocks[block as usize].is_some();
            let block = blocks[block as usize].get_or_insert(Block {
                items: Vec::new(),
                is_complete: true,
                steps: 0.0,
                bytes: 0.0,
                extent: 0.0,
            });
            block.is_complete &= has_all && !joined;
            block.steps += component.counting.steps();
            block.bytes += component.counting.bytes();
            block.extent += (graph.codes.len() + graph.items.len() + edges) as f64;
        }
        for item in 0..self.space.items() as u32 {
            let component = mappings.items[self.class_of(item) as usize].component;
            if let Some(block) = &mut blocks[block_of[component as usize] as usize] {
                block.items.push(item);
            }
        }
        let mut blocks: Vec<Block> = blocks.into_iter().flatten().collect();
        blocks.sort_by_key(|block| block.items.first().copied());
        Ok(Some(blocks))
    }

    /// Returns the first component of the block of every component.
    fn block_of_components(&self, mappings: &Mappings, control: &Control) -> Result<Vec<u32>> {
        let mut block_of: Vec<u32> = (0..mappings.components.len() as u32).collect();
        for item in 0..self.space.items() as u32 {
            control.check()?;
            let of_item = mappings.items[self.class_of(item) as usize].component;
            let of_code = mappings.codes[self.own_code_class(item) as usize].component;
            let (one, other) = (first_of(&mut block_of, of_item), first_of(&mut block_of, of_code));
            block_of[one.max(other) as usize] = one.min(other);
        }
        for component in 0..block_of.len() as u32 {
            block_of[component as usize] = first_of(&mut block_of, component);
        }
        Ok(block_of)
    }
}
