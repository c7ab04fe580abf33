use super::Matrix;
use super::blocks::{Block, blocks};
use super::engine::{Engine, Sum};
use super::frontier::roundings;
use super::matrix::invalid;
use crate::matching::{Weight, Wide};
use crate::{Control, Error, Result, threads};

/// Permanents and what follows from them, exactly. Made at little cost, it knows what the answer will cost.
#[derive(Debug)]
pub struct Exact<'a> {
    matrix: &'a Matrix,
    /// `None` where there is no perfect matching.
    parts: Option<Vec<Part>>,
}

/// The sum over all matchings of the products of their weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Permanent {
    value: Wide,
    /// The permanent is off by no more than this share of it.
    pub relative_error: f64,
}

impl Permanent {
    /// As a double: infinite or zero where it is too large or too small for one.
    pub fn value(&self) -> f64 {
        self.value.per(Wide::of(1.0))
    }

    /// Returns it as a double, and an error where it is too large or too small for one. Zero means that there is
    /// no perfect matching.
    pub fn in_range(&self) -> Result<f64> {
        let value = self.value();
        let is_out = value.is_infinite() || value == 0.0 && !self.value.is_zero();
        match is_out {
            true => Err(Error::OutOfRange {
                what: "the permanent",
                is_large: value > 0.0,
            }),
            false => Ok(value),
        }
    }

    pub(super) fn wide(&self) -> Wide {
        self.value
    }

    /// Its natural logarithm; negative infinity where there is no matching.
    pub fn ln(&self) -> f64 {
        self.value.ln()
    }
}

/// How likely each edge is in a random matching.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeProbabilities {
    /// For every positive weight of the matrix, row by row.
    pub probability: Vec<f64>,
    /// None of them is off by more than this.
    pub error: f64,
    /// The permanent of the matrix.
    pub permanent: Permanent,
}

/// A block, and how to sum up in it.
#[derive(Debug)]
struct Part {
    block: Block,
    engine: Engine,
    /// Where the engine loses too many digits, which it knows afterwards.
    spare: Option<Engine>,
    /// Whether all weights are integers, so that the permanent is.
    integers: bool,
}

/// Permanents that are off by a smaller share are exact enough for anybody; where one way cannot promise that, another
/// may.
const SMALL_ERROR: f64 = 1e-10;

/// The same for probabilities, which are shown with fewer digits, and of which bounds are not as tight.
const SMALL_EDGE_ERROR: f64 = 1e-8;

/// Below so many seconds, starting threads takes longer.
const WORTH_THREADS: f64 = 1e-3;

/// Integers below this are exact as doubles.
const LARGEST_INTEGER: f64 = (1u64 << 53) as f64;

impl Part {
    /// The quickest engine of those that promise a small error or, if there is none, of all.
    fn new(block: Block, control: &Control) -> Result<Self> {
        let mut engines = Engine::all(&block.matrix, control)?;
        let merit = |engine: &Engine| (engine.edge_error() > SMALL_EDGE_ERROR, engine.seconds());
        let by_merit = |a: &Engine, b: &Engine| {
            let ((a_errs, a_seconds), (b_errs, b_seconds)) = (merit(a), merit(b));
            a_errs.cmp(&b_errs).then(a_seconds.total_cmp(&b_seconds))
        };
        engines.sort_by(by_merit);
        let mut engines = engines.into_iter();
        Ok(Part {
            engine: engines.next().unwrap_or(Engine::Prohibitive),
            spare: engines.find(Engine::is_spare),
            integers: block.matrix.weights().iter().all(|weight| weight.fract() == 0.0),
            block,
        })
    }

    fn permanent(&self, control: &Control) -> Result<Sum> {
        let with = |engine: &Engine| {
            let sum = engine.permanent(&self.block.matrix, control)?;
            Ok(self.as_integer(sum, engine))
        };
        let found = with(&self.engine)?;
        match &self.spare {
            Some(spare) if !self.suffices(&found) => with(spare),
            _ => Ok(found),
        }
    }

    /// The permanent, the probability of every edge, and by how much any of these is off at most.
    fn edges(&self, control: &Control) -> Result<(Sum, Vec<f64>, f64)> {
        let with = |engine: &Engine| {
            let (sum, probability, error) = engine.edges(&self.block.matrix, control)?;
            Ok((self.as_integer(sum, engine), probability, error))
        };
        let found = with(&self.engine)?;
        match &self.spare {
            Some(spare) if found.2 > SMALL_EDGE_ERROR || !self.suffices(&found.0) => with(spare),
            _ => Ok(found),
        }
    }

    /// Where a sum has to be an integer, and it follows which, it is that.
    fn as_integer(&self, sum: Sum, engine: &Engine) -> Sum {
        let found = sum.value.per(Wide::of(1.0));
        let most_off = found * sum.relative_error;
        if !self.integers || found + most_off >= LARGEST_INTEGER {
            return sum;
        }
        let value = match engine.keeps_integers() {
            true => sum.value,
            false if most_off < 0.25 => Wide::of(found.round()),
            false => return sum,
        };
        Sum {
            value,
            relative_error: 0.0,
        }
    }

    /// Whether there is nothing left to wish for.
    fn suffices(&self, sum: &Sum) -> bool {
        let fits = sum.value.per(Wide::of(1.0)) < LARGEST_INTEGER;
        sum.relative_error <= if self.integers && fits { 0.0 } else { SMALL_ERROR }
    }
}

impl<'a> Exact<'a> {
    /// Take away edges that no matching uses, and plan how to sum up in each block that is left.
    pub fn new(matrix: &'a Matrix, control: &Control) -> Result<Self> {
        let part = |block| Part::new(block, control);
        let parts = blocks(matrix, control)?.map(|blocks| blocks.into_iter().map(part).collect());
        Ok(Exact {
            matrix,
            parts: parts.transpose()?,
        })
    }

    fn parts(&self) -> &[Part] {
        self.parts.as_deref().unwrap_or_default()
    }

    /// About how many seconds a core will take for all edge probabilities; infinite where that is out of reach.
    pub fn seconds(&self) -> f64 {
        self.parts()
            .iter()
            .fold(0.0, |sum, part| sum + part.engine.seconds())
    }

    /// About how much memory it will take.
    pub fn bytes(&self) -> f64 {
        let mut of_parts: Vec<f64> = self.parts().iter().map(|part| part.engine.bytes()).collect();
        of_parts.sort_unstable_by(|a, b| b.total_cmp(a));
        let at_a_time = if self.is_worth_threads() {
            rayon::current_num_threads()
        } else {
            1
        };
        of_parts
            .into_iter()
            .take(at_a_time)
            .fold(0.0, |sum, bytes| sum + bytes)
    }

    /// How many blocks there are: parts that have nothing to do with each other.
    pub fn blocks(&self) -> usize {
        self.parts().len()
    }

    /// How many edges lie in some perfect matching.
    pub fn possible_edges(&self) -> usize {
        self.parts().iter().map(|part| part.block.matrix.edges()).sum()
    }

    /// Whether there is a perfect matching.
    pub fn is_possible(&self) -> bool {
        self.parts.is_some()
    }

    fn is_worth_threads(&self) -> bool {
        self.parts().len() > 1 && self.seconds() > WORTH_THREADS
    }

    /// Do something for each block, on several threads where that is worth it.
    fn for_parts<T: Send>(&self, of_part: impl Fn(&Part) -> Result<T> + Send + Sync) -> Result<Vec<T>> {
        threads::map(self.parts(), self.is_worth_threads(), of_part)
    }

    /// The permanent; zero where there is no perfect matching.
    pub fn permanent(&self, control: &Control) -> Result<Permanent> {
        if !self.is_possible() {
            return Ok(Permanent {
                value: Wide::default(),
                relative_error: 0.0,
            });
        }
        let sums = self.for_parts(|part| part.permanent(control))?;
        Ok(self.product(&sums))
    }

    /// The probability of every edge; an error where there is no perfect matching.
    pub fn edge_probabilities(&self, control: &Control) -> Result<EdgeProbabilities> {
        if !self.is_possible() {
            return Err(no_matching());
        }
        let of_parts = self.for_parts(|part| part.edges(control))?;
        let mut probability = vec![0.0; self.matrix.edges()];
        let mut sums = Vec::with_capacity(of_parts.len());
        let mut largest_error = 0.0f64;
        for (part, (sum, edges, error)) in self.parts().iter().zip(of_parts) {
            sums.push(sum);
            largest_error = largest_error.max(error);
            part.block.put(&edges, self.matrix, &mut probability, control)?;
        }
        Ok(EdgeProbabilities {
            probability,
            error: largest_error,
            permanent: self.product(&sums),
        })
    }

    /// The permanent of all blocks together.
    fn product(&self, sums: &[Sum]) -> Permanent {
        let value = sums
            .iter()
            .fold(Wide::of(1.0), |product, sum| product.times(sum.value));
        let of_blocks: f64 = sums.iter().map(|sum| sum.relative_error.ln_1p()).sum();
        let integers = self.parts().iter().all(|part| part.integers);
        let of_product = match sums.len() {
            0 | 1 => 0.0,
            _ if integers && of_blocks == 0.0 && value.per(Wide::of(1.0)) < LARGEST_INTEGER => 0.0,
            blocks => roundings(blocks as f64),
        };
        Permanent {
            value,
            relative_error: (of_blocks + of_product).exp_m1(),
        }
    }
}

pub(super) fn too_large() -> Error {
    invalid(
        "is too large and too dense for exact sums over its matchings",
        "a smaller matrix, more zeros, or another method",
    )
}

pub(super) fn no_matching() -> Error {
    invalid(
        "has no perfect matching: the attacker rules out every way to give all entries different codes",
        "a matrix in which some choice of one positive weight per row and column exists",
    )
}
