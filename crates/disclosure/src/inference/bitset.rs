//! Bit sets of a few machine words: packed rows and sets of slots.
//!
//! The crate bitvec is not used here. To test whether a row lacks an attribute that seems to be inferred
//! (xor, and, any bit set) takes 0.6 ns with two words in registers but 46 ns with `BitArray<[u64; 2]>`
//! (measured over 40,000 rows).

/// `P` machine words: either a packed row, whose slots are bit fields, or a set of slots, one bit each.
pub(super) trait Words: Copy + Eq + Ord {
    const NONE: Self;
    fn and(self, other: &Self) -> Self;
    fn or(self, other: &Self) -> Self;
    fn xor(self, other: &Self) -> Self;
    fn without(self, other: &Self) -> Self;
    fn is_none(&self) -> bool;
    fn meets(&self, other: &Self) -> bool;
    fn count(&self) -> u32;
    fn has(&self, bit: usize) -> bool;
    fn single(bit: usize) -> Self;
    /// Calls `each` with every bit that is set, lowest first.
    fn for_each(&self, each: impl FnMut(usize));
}

impl<const P: usize> Words for [u64; P] {
    const NONE: Self = [0; P];

    #[inline(always)]
    fn and(self, other: &Self) -> Self {
        std::array::from_fn(|word| self[word] & other[word])
    }

    #[inline(always)]
    fn or(self, other: &Self) -> Self {
        std::array::from_fn(|word| self[word] | other[word])
    }

    #[inline(always)]
    fn xor(self, other: &Self) -> Self {
        std::array::from_fn(|word| self[word] ^ other[word])
    }

    #[inline(always)]
    fn without(self, other: &Self) -> Self {
        std::array::from_fn(|word| self[word] & !other[word])
    }

    #[inline(always)]
    fn is_none(&self) -> bool {
        self.iter().fold(0, |all, word| all | word) == 0
    }

    #[inline(always)]
    fn meets(&self, other: &Self) -> bool {
        !self.and(other).is_none()
    }

    #[inline(always)]
    fn count(&self) -> u32 {
        self.iter().map(|word| word.count_ones()).sum()
    }

    #[inline(always)]
    fn has(&self, bit: usize) -> bool {
        self[bit / 64] >> (bit % 64) & 1 == 1
    }

    #[inline(always)]
    fn single(bit: usize) -> Self {
        let mut set = Self::NONE;
        set[bit / 64] = 1 << (bit % 64);
        set
    }

    #[inline(always)]
    fn for_each(&self, mut each: impl FnMut(usize)) {
        for (word, &bits) in self.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                each(word * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }
}
