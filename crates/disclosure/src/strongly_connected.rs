use crate::{Control, Result};

/// Returns the strongly connected component of every vertex of a directed graph (Tarjan 1972, without
/// recursion). The successors of a component have lower numbers than the component itself.
pub(crate) fn strongly_connected(successors: &[Vec<u32>], control: &Control) -> Result<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let vertices = successors.len();
    let mut order = vec![UNSEEN; vertices];
    let mut lowest = vec![0; vertices];
    let mut component = vec![UNSEEN; vertices];
    let (mut seen, mut components) = (0, 0);
    let mut open = Vec::new();
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..vertices {
        if order[root] != UNSEEN {
            continue;
        }
        path.push((root, 0));
        while let Some((vertex, next)) = path.pop() {
            control.check()?;
            if next == 0 {
                order[vertex] = seen;
                lowest[vertex] = seen;
                seen += 1;
                open.push(vertex);
            } else {
                let done = successors[vertex][next - 1] as usize;
                lowest[vertex] = lowest[vertex].min(lowest[done]);
            }
            let rest = successors[vertex].iter().enumerate().skip(next);
            let mut descend = None;
            for (number, &successor) in rest {
                let successor = successor as usize;
                if order[successor] == UNSEEN {
                    descend = Some((number, successor));
                    break;
                } else if component[successor] == UNSEEN {
                    lowest[vertex] = lowest[vertex].min(order[successor]);
                }
            }
            if let Some((number, successor)) = descend {
                path.push((vertex, number + 1));
                path.push((successor, 0));
            } else if lowest[vertex] == order[vertex] {
                while let Some(member) = open.pop() {
                    component[member] = components;
                    if member == vertex {
                        break;
                    }
                }
                components += 1;
            }
        }
    }
    Ok(component)
}
