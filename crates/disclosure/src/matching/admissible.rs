//! Edges that lie in some perfect matching.

use super::perfect::perfect_matching;
use super::{Graph, ItemClass};
use crate::strongly_connected::strongly_connected;
use crate::{Control, Result};

/// Returns the graph without the edges that no perfect matching uses, with the same classes in the same
/// order; `None` if there is no perfect matching.
///
/// Given one perfect matching, an edge lies in some perfect matching if and only if it is matched or closes
/// an alternating cycle, whose edges are in turn outside and inside of the given matching (Berge). That is
/// the case if and only if both ends of the edge are in one strongly connected component of the directed
/// graph in which all edges lead from items to codes, and matched edges also lead back.
pub fn admissible(graph: &Graph, control: &Control) -> Result<Option<Graph>> {
    let Some(matched) = perfect_matching(graph, control)? else {
        return Ok(None);
    };
    let component = components(graph, &matched, control)?;
    let code_classes = graph.codes.len();
    let prune = |(class, items): (usize, &ItemClass)| {
        control.check()?;
        let own = component[code_classes + class];
        let edges = items.candidates.iter().zip(&matched[class]);
        let kept = edges.filter(|&(&code_class, &flow)| flow > 0 || component[code_class as usize] == own);
        Ok(ItemClass {
            size: items.size,
            candidates: kept.map(|(&code_class, _)| code_class).collect(),
        })
    };
    Ok(Some(Graph {
        codes: graph.codes.clone(),
        items: graph.items.iter().enumerate().map(prune).collect::<Result<_>>()?,
    }))
}

/// Returns the strongly connected component of every class of codes, followed by those of every class of
/// items.
fn components(graph: &Graph, matched: &[Vec<u32>], control: &Control) -> Result<Vec<u32>> {
    let code_classes = graph.codes.len();
    let mut successors: Vec<Vec<u32>> = vec![Vec::new(); code_classes];
    for (class, items) in graph.items.iter().enumerate() {
        control.check()?;
        for (&code_class, &flow) in items.candidates.iter().zip(&matched[class]) {
            if flow > 0 {
                successors[code_class as usize].push((code_classes + class) as u32);
            }
        }
    }
    successors.extend(graph.items.iter().map(|items| items.candidates.clone()));
    strongly_connected(&successors, control)
}
