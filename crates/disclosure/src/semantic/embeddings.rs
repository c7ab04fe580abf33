use super::Scoring;
use crate::{Error, Result};

/// Terms as directions: how far a term is from another is 1 − the cosine of their angle, from 0 to 2.
#[derive(Debug, Clone, Default)]
pub struct Embeddings {
    /// The vectors, one after the other.
    values: Vec<f32>,
    /// As long as the first vector.
    length: Option<usize>,
    /// Where each term's vector is, as a multiple of the length, and the square of its own length, which is not 0.
    places: Vec<Option<(u32, f64)>>,
}

impl Embeddings {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A term's vector. Nothing is known of a term that has none, or one without a direction, which is all 0.
    pub fn insert(&mut self, term: u32, vector: &[f32]) -> Result<()> {
        let invalid = |problem: &str| {
            Error::invalid(
                "corpus",
                problem,
                "vectors of finite numbers, all of one length, one per term",
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

    /// A term's vector and the square of its length.
    fn get(&self, term: u32) -> Option<(&[f32], f64)> {
        let (place, square) = (*self.places.get(term as usize)?)?;
        let vector = self.values.chunks_exact(self.length?).nth(place as usize)?;
        Some((vector, square))
    }
}

impl Scoring for Embeddings {
    fn distance(&self, one: u32, other: u32) -> Option<f64> {
        let (one, other) = (self.get(one)?, self.get(other)?);
        // In doubles, neither the squares of floats nor their products overflow or vanish.
        let cosine = product(one.0, other.0) / (one.1 * other.1).sqrt();
        Some((1.0 - cosine).clamp(0.0, 2.0))
    }

    fn is_known(&self, term: u32) -> bool {
        self.get(term).is_some()
    }
}

/// The scalar product of two vectors, in lanes that need not wait for each other.
fn product(one: &[f32], other: &[f32]) -> f64 {
    let mut sums = [0.0; 8];
    for (one, other) in one.chunks(sums.len()).zip(other.chunks(sums.len())) {
        for (sum, (&one, &other)) in sums.iter_mut().zip(one.iter().zip(other)) {
            *sum += f64::from(one) * f64::from(other);
        }
    }
    sums.iter().sum()
}
