use super::elimination::{mean, weighted};
use super::groups::{Groups, Member, Nearer};
use super::left::Left;
use super::{DistanceTable, Elimination, Eliminations, Threshold, Vulnerability};
use crate::{Control, Result};

/// Members of a group that are moved between two looks at the control.
const PIECE: usize = 1 << 12;

/// How likely items are to be original, from 0 to 1: what is all that the two attacks by groups differ in.
pub(super) trait Weighting {
    fn row_weight(&self, row: usize, column: usize) -> f64;

    fn column_weight(&self, row: usize, column: usize) -> f64;

    /// Make others likelier, as a cell is eliminated. What is left is without it, the lower clusters of its row and its
    /// column may have it still. No weight of another row and column changes, and none becomes less.
    fn pass_on(
        &mut self,
        eliminated: (usize, usize),
        left: &Left,
        lower_in_row: &[Member],
        lower_in_column: &[Member],
    );
}

/// The furthest cell of the group that falls into two clusters most clearly, again and again (Ong 2015, Algorithm 4.3).
/// A group whose furthest cell may not be eliminated is passed over.
pub(super) fn eliminate(
    table: &DistanceTable,
    weights: impl Weighting,
    threshold: Threshold,
    vulnerability: Vulnerability,
    control: &Control,
) -> Result<Eliminations> {
    let mut attack = Attack::new(table, weights, vulnerability, control)?;
    let threshold = threshold.resolve(|| attack.mean_vulnerability());
    let mut cells = Vec::new();
    while let Some((group, score)) = attack.most_vulnerable(threshold) {
        cells.push(attack.eliminate_furthest(group, score, control)?);
    }
    Ok(Eliminations {
        threshold: Some(threshold),
        cells,
    })
}

struct Attack<'a, W> {
    table: &'a DistanceTable,
    weights: W,
    vulnerability: Vulnerability,
    left: Left,
    rows: Groups,
    columns: Groups,
    /// The vulnerabilities of all rows, then of all columns; minus infinity where the furthest cell may not be eliminated.
    scores: Vec<f64>,
    nearer: Vec<Nearer>,
}

impl<'a, W: Weighting> Attack<'a, W> {
    fn new(
        table: &'a DistanceTable,
        weights: W,
        vulnerability: Vulnerability,
        control: &Control,
    ) -> Result<Self> {
        let mut rows = Groups::new(table.columns());
        for row in 0..table.rows() {
            control.check()?;
            let reliable = (0..table.columns()).filter(|&column| table.is_reliable(row, column));
            rows.push(reliable.map(|column| Member {
                distance: weigh(table, &weights, row, column),
                number: column as u32,
            }));
        }
        let mut columns = Groups::new(table.rows());
        for column in 0..table.columns() {
            control.check()?;
            let reliable = (0..table.rows()).filter(|&row| table.is_reliable(row, column));
            columns.push(reliable.map(|row| Member {
                distance: weigh(table, &weights, row, column),
                number: row as u32,
            }));
        }
        let mut attack = Attack {
            table,
            weights,
            vulnerability,
            left: Left::new(table),
            scores: vec![0.0; rows.len() + columns.len()],
            rows,
            columns,
            nearer: Vec::new(),
        };
        attack.score_all();
        Ok(attack)
    }

    fn mean_vulnerability(&self) -> f64 {
        let of = |groups: &'_ Groups, group| groups.vulnerability(group, self.vulnerability);
        let rows = (0..self.rows.len()).map(|row| of(&self.rows, row));
        let columns = (0..self.columns.len()).map(|column| of(&self.columns, column));
        mean(rows.chain(columns))
    }

    fn score_row(&mut self, row: usize) {
        let is_open = |column: u32| self.left.may_be_eliminated(row, column as usize);
        self.scores[row] = match self.rows.furthest(row).is_some_and(is_open) {
            true => self.rows.vulnerability(row, self.vulnerability),
            false => f64::NEG_INFINITY,
        };
    }

    fn score_column(&mut self, column: usize) {
        let is_open = |row: u32| self.left.may_be_eliminated(row as usize, column);
        self.scores[self.rows.len() + column] = match self.columns.furthest(column).is_some_and(is_open) {
            true => self.columns.vulnerability(column, self.vulnerability),
            false => f64::NEG_INFINITY,
        };
    }

    fn score_all(&mut self) {
        (0..self.rows.len()).for_each(|row| self.score_row(row));
        (0..self.columns.len()).for_each(|column| self.score_column(column));
    }

    /// The first group of the greatest vulnerability, if that is above the threshold.
    fn most_vulnerable(&self, threshold: f64) -> Option<(usize, f64)> {
        let scores = self.scores.iter().copied().enumerate();
        let above = scores.filter(|&(_, score)| score > threshold);
        above.reduce(|most, group| if group.1 > most.1 { group } else { most })
    }

    fn eliminate_furthest(&mut self, group: usize, score: f64, control: &Control) -> Result<Elimination> {
        let (row, column) = match group.checked_sub(self.rows.len()) {
            None => (
                group,
                self.rows.furthest(group).map_or(0, |column| column as usize),
            ),
            Some(column) => (
                self.columns.furthest(column).map_or(0, |row| row as usize),
                column,
            ),
        };
        let elimination = self.left.eliminate(row, column, Some(score));
        let in_row = self.rows.lower_cluster(row);
        let in_column = self.columns.lower_cluster(column);
        self.weights.pass_on((row, column), &self.left, in_row, in_column);
        let mut nearer = std::mem::take(&mut self.nearer);

        let now = |column: u32| weigh(self.table, &self.weights, row, column as usize);
        self.rows.reweigh(row, column as u32, now, &mut nearer);
        for piece in nearer.chunks(PIECE) {
            control.check()?;
            for cell in piece {
                let crossed = cell.number as usize;
                self.columns
                    .bring_nearer(crossed, row as u32, cell.before, cell.now);
                self.score_column(crossed);
            }
        }
        let now = |row: u32| weigh(self.table, &self.weights, row as usize, column);
        self.columns.reweigh(column, row as u32, now, &mut nearer);
        for piece in nearer.chunks(PIECE) {
            control.check()?;
            for cell in piece {
                let crossed = cell.number as usize;
                self.rows
                    .bring_nearer(crossed, column as u32, cell.before, cell.now);
                self.score_row(crossed);
            }
        }
        self.nearer = nearer;
        self.score_row(row);
        self.score_column(column);
        if !self.left.may_be_eliminated(row, column) {
            // Other groups, too, may have a furthest cell that is the last of its row or column now.
            self.score_all();
        }
        Ok(elimination)
    }
}

fn weigh(table: &DistanceTable, weights: &impl Weighting, row: usize, column: usize) -> f64 {
    let row_weight = weights.row_weight(row, column);
    weighted(
        table.distance(row, column),
        row_weight,
        weights.column_weight(row, column),
    )
}
