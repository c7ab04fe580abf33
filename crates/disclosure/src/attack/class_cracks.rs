//! Distribution of cracks in a flat block, in which all matchings are equally likely, by classes.
//!
//! Columns with the same rows form a class, and so do rows with the same columns and with true columns in the
//! same class. One class of columns after the other takes rows. A state is the number of rows of each class
//! that are left, and it has a polynomial: the number of ways to reach it, by cracks.
//!
//! If a class of n columns takes rows of which s have their true columns in it, all n! ways to match them are
//! possible, and their cracks are the fixed points among s marked elements of a random permutation. So only
//! s matters. All terms are positive, and nothing cancels.

use super::Matrix;
use super::distribution::uniform;
use super::flat::{is_flat_enough, twins};
use crate::matching::{Weight, Wide};
use crate::{Control, Result};
use std::collections::BTreeMap;

/// Plan for a flat block.
#[derive(Debug)]
pub(super) struct ClassCracks {
    /// Number of columns in every class.
    columns: Vec<u32>,
    rows: Vec<RowClass>,
}

/// Rows with the same columns, and with true columns in the same class.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct RowClass {
    size: u32,
    /// Classes of columns that can take these rows, ascending.
    candidates: Vec<u32>,
    /// Class of the true columns; `None` if none of the rows can be cracked.
    own: Option<u32>,
}

/// Polynomials of states; a state has the number of rows that are left of every class.
type Layer = BTreeMap<Vec<u32>, Vec<Wide>>;

/// Number of pairs of a class of rows and a class of columns up to which a plan is worth its time.
const MAX_PAIRS: usize = 1 << 16;

/// Seconds per product of a coefficient and a number.
const SECONDS_PER_STEP: f64 = 1e-8;

impl ClassCracks {
    /// Returns `None` if the block is not flat or has too many classes. `is_true` says for every edge whether it is true.
    pub fn new(block: &Matrix, is_true: &[bool], control: &Control) -> Result<Option<Self>> {
        if !is_flat_enough(block, control)? {
            return Ok(None);
        }
        let mut by_column = vec![Vec::new(); block.width()];
        for row in 0..block.size() {
            control.check()?;
            for (column, _) in block.row(row) {
                by_column[column as usize].push(row as u32);
            }
        }
        let (class_of, columns, _) = twins(by_column);
        let kind = |row: usize| {
            let class = |(column, _): (u32, f64)| class_of[column as usize];
            let mut candidates: Vec<u32> = block.row(row).map(class).collect();
            candidates.sort_unstable();
            candidates.dedup();
            let mut edges = block.row(row).zip(&is_true[block.edge_range(row)]);
            let own = edges.find(|(_, is_true)| **is_true).map(|(edge, _)| class(edge));
            (candidates, own)
        };
        let (_, sizes, kinds) = twins((0..block.size()).map(kind));
        let class = |(size, (candidates, own))| RowClass {
            size,
            candidates,
            own,
        };
        // Columns that are left are taken by rows that can have any column and are never cracked.
        let left = (block.width() > block.size()).then(|| RowClass {
            size: (block.width() - block.size()) as u32,
            candidates: (0..columns.len() as u32).collect(),
            own: None,
        });
        if sizes.len().saturating_mul(columns.len()) > MAX_PAIRS {
            return Ok(None);
        }
        Ok(Some(ClassCracks {
            rows: sizes.into_iter().zip(kinds).map(class).chain(left).collect(),
            columns,
        }))
    }

    /// Returns the classes of rows that a class of columns can take, and the estimated number of states before
    /// it and while it takes rows.
    fn states(&self, class: u32) -> (Vec<usize>, f64) {
        let is_candidate = |rows: &&RowClass| rows.candidates.contains(&class);
        let is_open = |rows: &&RowClass| {
            let (first, last) = (rows.candidates.first(), rows.candidates.last());
            first <= Some(&class) && last >= Some(&class)
        };
        let numbers = |rows: &RowClass| f64::from(rows.size) + 1.0;
        let mut open: Vec<f64> = self.rows.iter().filter(is_open).map(numbers).collect();
        // The number of all rows that are left is known, so one class follows from the others.
        open.sort_unstable_by(f64::total_cmp);
        open.pop();
        let own = self.rows.iter().filter(|rows| rows.own == Some(class));
        let marked: f64 = own.map(|rows| f64::from(rows.size)).sum();
        let candidates = self
            .rows
            .iter()
            .enumerate()
            .filter(|(_, rows)| is_candidate(rows));
        (
            candidates.map(|(number, _)| number).collect(),
            open.iter().product::<f64>() * (marked + 1.0),
        )
    }

    fn degree(&self) -> f64 {
        let marked = self.rows.iter().filter(|rows| rows.own.is_some());
        marked.map(|rows| f64::from(rows.size)).sum::<f64>() + 1.0
    }

    /// Returns the estimated seconds that one core takes.
    pub fn seconds(&self) -> f64 {
        let mut steps = 0.0;
        for (class, &size) in (0..).zip(&self.columns) {
            let (candidates, states) = self.states(class);
            let choices = candidates
                .iter()
                .map(|&rows| f64::from(self.rows[rows].size.min(size)) + 1.0);
            // Every state is multiplied by the distribution of its marked rows in the end.
            steps += states * (choices.sum::<f64>() + f64::from(size) + 1.0) * self.degree();
            steps += f64::from(size).powi(3) / 4.0;
        }
        steps * SECONDS_PER_STEP
    }

    /// Returns the estimated bytes.
    pub fn bytes(&self) -> f64 {
        let states = (0..self.columns.len() as u32).map(|class| self.states(class).1);
        let per_state = 16.0 * self.degree() + 4.0 * self.rows.len() as f64 + 100.0;
        2.0 * states.fold(0.0, f64::max) * per_state
    }

    /// Returns the probability of 0, 1, 2, … cracks.
    pub fn distribution(&self, control: &Control) -> Result<Vec<f64>> {
        let all: Vec<u32> = self.rows.iter().map(|rows| rows.size).collect();
        let mut layer = Layer::from([(all, vec![Wide::from_f64(1.0)])]);
        for class in 0..self.columns.len() as u32 {
            layer = self.take(class, layer, control)?;
        }
        let polynomial = layer.into_values().next().unwrap_or_default();
        let mut total = Wide::default();
        polynomial.iter().for_each(|&coefficient| total.add(coefficient));
        Ok(polynomial
            .iter()
            .map(|coefficient| coefficient.divided_by(total))
            .collect())
    }

    /// Returns the states after a class of columns has taken as many rows. There are n! / Π u! ways to
    /// distribute the columns if u rows of each class are taken, and the factor n! is the same for all.
    fn take(&self, class: u32, layer: Layer, control: &Control) -> Result<Layer> {
        let size = self.columns[class as usize];
        let left = |state: &[u32]| state.iter().sum::<u32>();
        let before = layer.keys().next().map_or(0, |state| left(state));
        // Ways to choose u rows of a class, without the factor that is the same for all states.
        let mut ways = vec![Wide::from_f64(1.0)];
        for taken in 1..=size {
            ways.push(ways[taken as usize - 1].times(Wide::from_f64(1.0 / f64::from(taken))));
        }
        // States with the number of rows taken so far that have their true column in the class.
        let mut partial: BTreeMap<(Vec<u32>, u32), Vec<Wide>> = layer
            .into_iter()
            .map(|(state, polynomial)| ((state, 0), polynomial))
            .collect();
        for number in self.states(class).0 {
            let rows = &self.rows[number];
            let is_last = rows.candidates.last() == Some(&class);
            let mut next = BTreeMap::new();
            for ((state, marked), polynomial) in partial {
                let most = state[number].min(size - (before - left(&state)));
                let least = if is_last { state[number] } else { 0 };
                for taken in least..=most {
                    control.check()?;
                    let mut state = state.clone();
                    state[number] -= taken;
                    let marked = marked + if rows.own == Some(class) { taken } else { 0 };
                    add(
                        next.entry((state, marked)).or_default(),
                        &polynomial,
                        ways[taken as usize],
                        0,
                    );
                }
            }
            partial = next;
        }
        let mut cracks: Vec<Option<Vec<f64>>> = vec![None; size as usize + 1];
        let mut after = Layer::new();
        for ((state, marked), polynomial) in partial {
            control.check()?;
            if before - left(&state) < size {
                continue;
            }
            let cached = &mut cracks[marked as usize];
            if cached.is_none() {
                *cached = Some(uniform(size as usize, marked as usize, control)?);
            }
            let into = after.entry(state).or_default();
            for (cracks, &probability) in cached.iter().flatten().enumerate() {
                control.check()?;
                if probability > 0.0 {
                    add(into, &polynomial, Wide::from_f64(probability), cracks);
                }
            }
        }
        Ok(after)
    }
}

/// Adds a polynomial times a factor times x to the power of `cracks`.
fn add(into: &mut Vec<Wide>, polynomial: &[Wide], factor: Wide, cracks: usize) {
    let length = polynomial.len() + cracks;
    if into.len() < length {
        into.resize(length, Wide::default());
    }
    for (sum, &coefficient) in into[cracks..].iter_mut().zip(polynomial) {
        sum.add(coefficient.times(factor));
    }
}
