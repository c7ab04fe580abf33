/// In how many transactions every item occurs, and the groups of items that occur equally often.
#[derive(Debug, Clone, PartialEq)]
pub struct Frequencies {
    transactions: u64,
    counts: Vec<u64>,
    /// The different counts, in ascending order.
    group_counts: Vec<u64>,
    group_sizes: Vec<u32>,
    group_of: Vec<u32>,
}

/// The differences between the frequencies of successive groups.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Gaps {
    /// Their mean.
    pub mean: f64,
    /// Their median; of an even number of gaps, the mean of the two in the middle.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Frequencies {
    /// `counts` says for every item in how many of the transactions it is; 0 is an item that the adversary knows
    /// of and that never occurs, a *phantom*.
    pub fn new(transactions: u64, counts: Vec<u64>) -> Self {
        let mut group_counts = counts.clone();
        group_counts.sort_unstable();
        group_counts.dedup();
        let group_of: Vec<u32> = counts
            .iter()
            .map(|count| group_counts.partition_point(|other| other < count) as u32)
            .collect();
        let mut group_sizes = vec![0; group_counts.len()];
        for &group in &group_of {
            group_sizes[group as usize] += 1;
        }
        Frequencies {
            transactions,
            counts,
            group_counts,
            group_sizes,
            group_of,
        }
    }

    /// How many transactions there are.
    pub fn transactions(&self) -> u64 {
        self.transactions
    }

    /// How many items there are.
    pub fn items(&self) -> usize {
        self.counts.len()
    }

    /// For every item, the number of transactions that it is in.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The share of transactions that an item is in.
    pub fn frequency(&self, item: usize) -> f64 {
        self.share(self.counts[item])
    }

    /// For every item, the group that it belongs to; groups are numbered by ascending frequency.
    pub fn group_of(&self) -> &[u32] {
        &self.group_of
    }

    /// The number of transactions that an item of each group is in, ascending.
    pub fn group_counts(&self) -> &[u64] {
        &self.group_counts
    }

    /// How many items each group has.
    pub fn group_sizes(&self) -> &[u32] {
        &self.group_sizes
    }

    /// Groups of a single item, which who knows the frequency knows for sure.
    pub fn singletons(&self) -> usize {
        self.group_sizes.iter().filter(|&&size| size == 1).count()
    }

    /// `None` where there are fewer than two groups.
    pub fn gaps(&self) -> Option<Gaps> {
        let pairs = self.group_counts.windows(2);
        let mut gaps: Vec<u64> = pairs.map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_unstable();
        let (&min, &max) = (gaps.first()?, gaps.last()?);
        let of_middle = gaps[(gaps.len() - 1) / 2] + gaps[gaps.len() / 2];
        Some(Gaps {
            mean: self.share(gaps.iter().sum()) / gaps.len() as f64,
            median: self.share(of_middle) / 2.0,
            min: self.share(min),
            max: self.share(max),
        })
    }

    fn share(&self, count: u64) -> f64 {
        count as f64 / self.transactions.max(1) as f64
    }
}
