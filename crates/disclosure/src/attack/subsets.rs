//! Cracks of sets of entries: the expected number of sets whose entries a random matching maps onto the codes
//! of the same set, in any order (Malik 2014, chapter 5, future work 1).
//!
//! Exactly, the probability of one set is a product of two permanents divided by the permanent of the matrix.
//! If that is too expensive, sets are counted in random matchings.

use super::cracks::values_of_true_edges;
use super::exact::no_matching;
use super::order::binomial;
use super::{Exact, Matrix, Method, Settings, Truth, sample};
use crate::matching::{Weight, Wide};
use crate::{Control, Error, Result, parallel};
use bitvec::bitvec;

/// Sets of entries in question.
#[derive(Debug, Clone, PartialEq)]
pub enum Subsets {
    /// Only this set.
    Only(Vec<u32>),
    /// All sets with this number of entries.
    OfSize(usize),
}

/// Expected number of cracked sets.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SubsetCracks {
    /// Expected number of cracked sets. A set is cracked if a matching assigns its entries the codes of its
    /// entries, in any order (Malik 2014, chapter 5, future work 1).
    pub expected: f64,
    /// Lower end of the interval that contains the answer.
    pub lower: f64,
    /// Upper end of that interval.
    pub upper: f64,
    /// Method that computed the answer: [`Method::Exact`] or [`Method::Sample`].
    pub method: Method,
    /// Whether a sample reached its relative error; true for the exact method.
    pub is_precise_enough: bool,
}

/// Returns the expected number of cracked sets, or an error if there is no perfect matching.
pub fn subset_cracks(
    matrix: &Matrix,
    truth: &Truth,
    subsets: &Subsets,
    settings: &Settings,
    control: &Control,
) -> Result<SubsetCracks> {
    settings.check()?;
    matrix.require_square()?;
    check(truth, subsets)?;
    match settings.method {
        Method::Auto | Method::Exact => (),
        Method::Sample => return sample::subset_cracks(matrix, truth, subsets, settings, control),
        Method::Bethe | Method::Heuristic | Method::Marginals => {
            return Err(Error::invalid(
                "method",
                "does not apply to sets of entries",
                "the exact method or sampling",
            ));
        }
    }
    let whole = Exact::new(matrix, control)?;
    if !whole.is_possible() {
        return Err(no_matching(matrix));
    }
    let exact = ExactSubsets {
        matrix,
        truth,
        whole: &whole,
    };
    let (seconds, bytes) = (exact.seconds(subsets), whole.bytes());
    if let Err(too_expensive) = settings.check_estimated_cost(seconds, bytes) {
        return match settings.method {
            Method::Auto => sample::subset_cracks(matrix, truth, subsets, settings, control),
            _ => Err(too_expensive),
        };
    }
    let expected = exact.expected(subsets, control)?;
    Ok(SubsetCracks {
        expected,
        lower: expected,
        upper: expected,
        method: Method::Exact,
        is_precise_enough: true,
    })
}

/// Checks that these are sets of entries that can be cracked.
fn check(truth: &Truth, subsets: &Subsets) -> Result<()> {
    let size = truth.columns().len();
    let invalid = |argument, problem: &str, allowed: String| Err(Error::invalid(argument, problem, allowed));
    let set = match subsets {
        Subsets::Only(set) => set,
        Subsets::OfSize(subset_size) if (1..=size).contains(subset_size) => return Ok(()),
        Subsets::OfSize(_) => {
            let problem = "must be between 1 and the number of entries";
            return invalid("size", problem, format!("a number from 1 to {size}"));
        }
    };
    let allowed = || format!("distinct numbers from 1 to {size} of entries with a known code");
    if set.is_empty() {
        return invalid("subset", "is empty", allowed());
    }
    let mut seen = bitvec![0; size];
    for &entry in set {
        match truth.columns().get(entry as usize) {
            None => return invalid("subset", "has an element that is not an entry", allowed()),
            Some(None) => return invalid("subset", "has an entry whose code is unknown", allowed()),
            Some(Some(_)) if seen.replace(entry as usize, true) => {
                return invalid("subset", "contains an entry twice", allowed());
            }
            Some(Some(_)) => (),
        }
    }
    Ok(())
}

/// Exact sums. A set is cracked if its entries are matched with its codes in any order, and all other entries
/// with all other codes. The probability is the product of the permanents of both parts divided by the
/// permanent of the whole matrix.
struct ExactSubsets<'a> {
    matrix: &'a Matrix,
    truth: &'a Truth,
    whole: &'a Exact<'a>,
}

impl ExactSubsets<'_> {
    /// Returns the estimated seconds that one core takes.
    fn seconds(&self, subsets: &Subsets) -> f64 {
        let size = self.matrix.size();
        let sets = match *subsets {
            Subsets::Only(_) => 1.0,
            Subsets::OfSize(1) => return self.whole.seconds(),
            Subsets::OfSize(subset_size) if subset_size == size && self.is_complete() => return 0.0,
            Subsets::OfSize(subset_size) => binomial(size, subset_size),
        };
        // The permanent of a submatrix costs no more than that of the whole, but each has to be planned
        // first.
        const PLAN_SECONDS: f64 = 1e-7;
        sets * (self.whole.seconds() + PLAN_SECONDS * (size + self.matrix.edge_count()) as f64)
    }

    fn is_complete(&self) -> bool {
        self.truth.columns().iter().all(Option::is_some)
    }

    fn expected(&self, subsets: &Subsets, control: &Control) -> Result<f64> {
        let size = self.matrix.size();
        match subsets {
            Subsets::Only(set) => {
                let permanent = self.whole.permanent(control)?.wide();
                self.probability(set, permanent, control)
            }
            Subsets::OfSize(1) => self.entries(control),
            // The set of all entries always gets the set of all codes.
            Subsets::OfSize(subset_size) if *subset_size == size && self.is_complete() => Ok(1.0),
            // A set is cracked if and only if its complement is, which is smaller here.
            Subsets::OfSize(subset_size) if 2 * subset_size > size && self.is_complete() => {
                self.expected(&Subsets::OfSize(size - subset_size), control)
            }
            Subsets::OfSize(subset_size) => self.all_of_size(*subset_size, subsets, control),
        }
    }

    /// Returns Ψ, because a set of one entry is cracked if and only if the entry is.
    fn entries(&self, control: &Control) -> Result<f64> {
        let edges = self.whole.edge_probabilities(control)?;
        Ok(values_of_true_edges(self.matrix, self.truth, &edges.probability)
            .iter()
            .sum())
    }

    fn all_of_size(&self, subset_size: usize, subsets: &Subsets, control: &Control) -> Result<f64> {
        const MIN_SECONDS_FOR_THREADS: f64 = 1e-3;
        const SETS_AT_A_TIME: usize = 1024;
        let is_worth_threads = self.seconds(subsets) > MIN_SECONDS_FOR_THREADS;
        let permanent = self.whole.permanent(control)?.wide();
        let known = self.truth.columns().iter().enumerate();
        let known: Vec<u32> = known
            .filter_map(|(row, column)| column.map(|_| row as u32))
            .collect();
        let mut combinations = Combinations::new(known.len(), subset_size);
        let mut expected = 0.0;
        loop {
            let set = |choice: Vec<usize>| choice.into_iter().map(|at| known[at]).collect();
            let sets: Vec<Vec<u32>> = combinations.by_ref().take(SETS_AT_A_TIME).map(set).collect();
            if sets.is_empty() {
                return Ok(expected);
            }
            let of_set = |set: &Vec<u32>| self.probability(set, permanent, control);
            let of_sets = parallel::map_if(&sets, is_worth_threads, of_set)?;
            expected += of_sets.iter().sum::<f64>();
        }
    }

    /// Returns the probability that a set is cracked.
    fn probability(&self, set: &[u32], whole: Wide, control: &Control) -> Result<f64> {
        control.check()?;
        let size = self.matrix.size();
        let (mut rows, mut columns) = (vec![false; size], vec![false; size]);
        for &row in set {
            rows[row as usize] = true;
            if let Some(column) = self.truth.columns()[row as usize] {
                columns[column as usize] = true;
            }
        }
        let mut product = Wide::from_f64(1.0);
        for inside in [true, false] {
            let submatrix = submatrix(self.matrix, &rows, &columns, inside)?;
            product = product.times(Exact::new(&submatrix, control)?.permanent(control)?.wide());
            if product.is_zero() {
                return Ok(0.0);
            }
        }
        Ok(product.divided_by(whole))
    }
}

/// Returns the matrix of the rows and columns whose mark equals `marked`.
fn submatrix(matrix: &Matrix, rows: &[bool], columns: &[bool], marked: bool) -> Result<Matrix> {
    let number = |marks: &[bool]| {
        let mut next = 0;
        let numbers = marks.iter().map(|&mark| {
            let own = next;
            next += u32::from(mark == marked);
            (mark == marked).then_some(own)
        });
        let numbers: Vec<Option<u32>> = numbers.collect();
        (numbers, next as usize)
    };
    let (of_row, row_count) = number(rows);
    let (of_column, column_count) = number(columns);
    let mut edges = Vec::new();
    for (row, own) in of_row.iter().enumerate() {
        let Some(own) = *own else {
            continue;
        };
        for (column, weight) in matrix.row(row) {
            edges.extend(of_column[column as usize].map(|column| (own, column, weight)));
        }
    }
    Matrix::sparse(row_count, column_count, edges)
}

/// Iterator over all subsets of a given size of the numbers below `count`, in lexicographic order.
struct Combinations {
    count: usize,
    next: Option<Vec<usize>>,
}

impl Combinations {
    fn new(count: usize, size: usize) -> Self {
        Combinations {
            count,
            next: (size <= count).then(|| (0..size).collect()),
        }
    }
}

impl Iterator for Combinations {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let current = self.next.take()?;
        let size = current.len();
        // Increment the last element that can grow; the elements after it follow consecutively.
        let last = (0..size).rev().find(|&at| current[at] < self.count - size + at);
        self.next = last.map(|last| {
            let mut next = current.clone();
            for (choice, value) in next[last..].iter_mut().zip(current[last] + 1..) {
                *choice = value;
            }
            next
        });
        Some(current)
    }
}
