use super::Scoring;
use crate::{Error, Result};

/// Vectors of terms. The distance of two terms is 1 minus the cosine of the angle between their vectors, from
/// 0 to 2.
#[derive(Debug, Clone, Default)]
pub struct Embeddings {
    /// The vectors, one after the other.
    values: Vec<f32>,
    /// Length of every vector, `None` before the first.
    length: Option<usize>,
    /// By term, the place of its vector, as a multiple of the length, and the square of its norm, which is
    /// not 0.
    places: Vec<Option<(u32, f64)>>,
}

impl Embeddings {
    /// Creates an empty collection of vectors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the vector of a term. Nothing is known about a term without a vector, or with a zero vector,
    /// which has no direction.
    pub fn insert(&mut self, term: u32, vector: &[f32]) -> Result<()> {
        let invalid = |problem: &str| {
            Error::invalid(
                "corpus",
                problem,
                "one vector per term, all of the same length and with finite numbers",
            )
        };
        if vector.len() != *self.length.get_or_insert(vector.len()) {
            return Err(invalid("vectors differ in length"));
        }
        if !vector.iter().all(|value| value.is_finite()) {
            return Err(invalid("a vector has a value that is not finite"));
        }
        let square = product(vector, vector);
        if square == 0.0 {
            return Ok(());
        }
        if let Some((before, _)) = self.get(term) {
            return match before == vector {
                true => Ok(()),
                false => Err(invalid("a term has two different vectors")),
            };
        }
        if term as usize >= self.places.len() {
            self.places.resize(term as usize + 1, None);
        }
        let place = self.values.len() / vector.len();
        self.places[term as usize] = Some((place as u32, square));
        self.values.extend_from_slice(vector);
        Ok(())
    }

    /// Returns the vector of a term and the square of its norm.
    fn get(&self, term: u32) -> Option<(&[f32], f64)> {
        let (place, square) = (*self.places.get(term as usize)?)?;
        let vector = self.values.chunks_exact(self.length?).nth(place as usize)?;
        Some((vector, square))
    }
}

impl Scoring for Embeddings {
    fn distance(&self, one: u32, other: u32) -> Option<f64> {
        let (one, other) = (self.get(one)?, self.get(other)?);
        // In double precision, the squares of single-precision numbers and their products neither overflow
        // nor underflow.
        let cosine = product(one.0, other.0) / (one.1 * other.1).sqrt();
        Some((1.0 - cosine).clamp(0.0, 2.0))
    }

    fn is_known(&self, term: u32) -> bool {
        self.get(term).is_some()
    }
}

/// Returns the scalar product of two vectors. It is summed in independent lanes, so that additions need not
/// wait for each other.
fn product(one: &[f32], other: &[f32]) -> f64 {
    let mut sums = [0.0; 8];
    for (one, other) in one.chunks(sums.len()).zip(other.chunks(sums.len())) {
        for (sum, (&one, &other)) in sums.iter_mut().zip(one.iter().zip(other)) {
            *sum += f64::from(one) * f64::from(other);
        }
    }
    sums.iter().sum()
}
