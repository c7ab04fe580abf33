use super::Matrix;
use crate::matching::{Weight, Wide};
use crate::{Control, Result};
use rustc_hash::FxHashMap;

/// A block's matchings, row by row: a state is the set of columns that the rows so far have taken. Only sums of
/// products of positive numbers, so that nothing cancels.
#[derive(Debug)]
pub(super) struct Frontier<'a> {
    matrix: &'a Matrix,
}

type Layer = FxHashMap<u64, Wide>;

impl<'a> Frontier<'a> {
    pub fn new(matrix: &'a Matrix) -> Self {
        Frontier { matrix }
    }

    pub fn permanent(&self, control: &Control) -> Result<Wide> {
        let layers = self.forth(control)?;
        Ok(layers
            .last()
            .and_then(|layer| layer.values().next().copied())
            .unwrap_or_default())
    }

    /// The permanent, and the probability of every edge.
    pub fn edges(&self, control: &Control) -> Result<(Wide, Vec<f64>)> {
        let size = self.matrix.size();
        let layers = self.forth(control)?;
        let whole = layers[size].values().next().copied().unwrap_or_default();
        let mut probability = vec![0.0; self.matrix.edges()];
        let mut after: Layer = layers[size].keys().map(|&set| (set, Wide::of(1.0))).collect();
        for row in (0..size).rev() {
            control.check()?;
            let mut before = Layer::default();
            for (&set, &so_far) in &layers[row] {
                let mut rest = Wide::default();
                for (edge, (column, weight)) in self.matrix.range(row).zip(self.matrix.row(row)) {
                    let taken = 1 << column;
                    if set & taken == 0 {
                        if let Some(after) = after.get(&(set | taken)) {
                            let through = after.times(Wide::of(weight));
                            probability[edge] += so_far.times(through).per(whole);
                            rest.add(through);
                        }
                    }
                }
                before.insert(set, rest);
            }
            after = before;
        }
        Ok((whole, probability))
    }

    fn forth(&self, control: &Control) -> Result<Vec<Layer>> {
        let mut layers = vec![Layer::from_iter([(0, Wide::of(1.0))])];
        for row in 0..self.matrix.size() {
            control.check()?;
            let mut next = Layer::default();
            for (&set, so_far) in &layers[row] {
                for (column, weight) in self.matrix.row(row) {
                    if set & 1 << column == 0 {
                        next.entry(set | 1 << column)
                            .or_default()
                            .add(so_far.times(Wide::of(weight)));
                    }
                }
            }
            layers.push(next);
        }
        Ok(layers)
    }
}
