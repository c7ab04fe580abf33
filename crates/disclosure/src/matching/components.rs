//! Connected components of a bipartite graph, by union-find.

use super::Graph;
use crate::{Control, Result};

/// Connected components of a graph, numbered by their first class of codes. Classes of items without
/// candidates come last, each as a component of its own.
#[derive(Debug)]
pub(crate) struct Components {
    /// Component of every class of codes.
    pub of_codes: Vec<u32>,
    /// Component of every class of items.
    pub of_items: Vec<u32>,
    /// Classes of codes in every component, ascending.
    pub codes: Vec<Vec<u32>>,
    /// Classes of items in every component, ascending.
    pub items: Vec<Vec<u32>>,
}

impl Components {
    pub fn new(graph: &Graph, control: &Control) -> Result<Self> {
        let code_classes = graph.codes.len();
        // Every class points towards the first class of its component. Classes of items come after those of
        // codes.
        let mut towards: Vec<u32> = (0..(code_classes + graph.items.len()) as u32).collect();
        for (class, items) in graph.items.iter().enumerate() {
            control.check()?;
            let mut first = first_of(&mut towards, (code_classes + class) as u32);
            for &candidate in &items.candidates {
                let other = first_of(&mut towards, candidate);
                let (low, high) = (first.min(other), first.max(other));
                towards[high as usize] = low;
                first = low;
            }
        }
        let mut components = Components {
            of_codes: Vec::with_capacity(code_classes),
            of_items: Vec::with_capacity(graph.items.len()),
            codes: Vec::new(),
            items: Vec::new(),
        };
        for class in 0..towards.len() {
            let first = first_of(&mut towards, class as u32) as usize;
            let component = if first == class {
                components.codes.push(Vec::new());
                components.items.push(Vec::new());
                components.codes.len() - 1
            } else {
                components.of_codes[first] as usize // a class of items is never the first of several
            };
            match class.checked_sub(code_classes) {
                None => {
                    components.of_codes.push(component as u32);
                    components.codes[component].push(class as u32);
                }
                Some(class) => {
                    components.of_items.push(component as u32);
                    components.items[component].push(class as u32);
                }
            }
        }
        Ok(components)
    }

    /// Returns the number of components.
    pub fn len(&self) -> usize {
        self.codes.len()
    }
}

/// Returns the first of the classes that are joined to a class (union-find). Every class points towards it; the
/// way is shortened.
pub(crate) fn first_of(towards: &mut [u32], mut class: u32) -> u32 {
    while towards[class as usize] != class {
        towards[class as usize] = towards[towards[class as usize] as usize];
        class = towards[class as usize];
    }
    class
}
