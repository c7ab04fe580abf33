use super::{Eliminations, Target};

/// Counts that show how well an attack tells cover from original items (Ong 2015, section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Quality {
    /// Number of cells: members of generalised items, in all transactions that contain them.
    pub cells: u64,
    /// Number of cells that are cover.
    pub cover: u64,
    /// Number of cells that were eliminated.
    pub eliminations: u64,
    /// Number of cells that were eliminated and are cover.
    pub correct: u64,
}

impl Quality {
    /// Measures an attack if the original transactions are known: `is_original` takes a transaction and an
    /// item.
    pub fn measure(
        targets: &[Target],
        eliminations: &[Eliminations],
        is_original: impl Fn(u32, u32) -> bool,
    ) -> Self {
        let mut quality = Quality::default();
        for (target, eliminations) in targets.iter().zip(eliminations) {
            let is_original =
                |row: usize, column: usize| is_original(target.rows[row].transaction, target.members[column]);
            let (rows, columns) = (target.rows.len(), target.members.len());
            let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
            quality.cells += (rows * columns) as u64;
            quality.cover += cells.filter(|&(row, column)| !is_original(row, column)).count() as u64;
            quality.eliminations += eliminations.cells.len() as u64;
            let correct = eliminations
                .cells
                .iter()
                .filter(|cell| !is_original(cell.row as usize, cell.column as usize));
            quality.correct += correct.count() as u64;
        }
        quality
    }

    /// Returns the share of eliminations that is right.
    pub fn precision(&self) -> Option<f64> {
        share(self.correct, self.eliminations)
    }

    /// Returns the share of cover that was eliminated.
    pub fn recall(&self) -> Option<f64> {
        share(self.correct, self.cover)
    }

    /// Returns the harmonic mean of precision and recall.
    pub fn f_score(&self) -> Option<f64> {
        share(2 * self.correct, self.eliminations + self.cover)
    }

    /// Returns the share of cells that are original (Ong 2015, Definition 16).
    pub fn density(&self) -> Option<f64> {
        share(self.cells - self.cover, self.cells)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
