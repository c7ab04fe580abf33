//! Frequencies of items, and the frequency groups that they form.
//!
//! Items that occur in equally many transactions form a *frequency group*. Nobody can tell them apart by
//! frequency alone. The gaps between successive groups are the natural unit for the width of a belief.

/// Number of transactions that contain each item, and the groups of items that occur equally often.
#[derive(Debug, Clone, PartialEq)]
pub struct Frequencies {
    transactions: u64,
    counts: Vec<u64>,
    /// Distinct counts, in ascending order.
    group_counts: Vec<u64>,
    group_sizes: Vec<u32>,
    group_of: Vec<u32>,
}

/// Statistics of the gaps: the differences between the frequencies of successive groups.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Gaps {
    /// Mean gap.
    pub mean: f64,
    /// Median gap; with an even number of gaps, the mean of the middle two.
    pub median: f64,
    /// Smallest gap.
    pub min: f64,
    /// Largest gap.
    pub max: f64,
}

impl Frequencies {
    /// Groups items by `counts`, the number of transactions that contain each item. An item with count 0 is a
    /// *phantom*: the adversary knows of it, but it never occurs.
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

    /// Returns the number of transactions.
    pub fn transactions(&self) -> u64 {
        self.transactions
    }

    /// Returns the number of items.
    pub fn items(&self) -> usize {
        self.counts.len()
    }

    /// Returns the number of transactions that contain each item.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the share of transactions that contain an item.
    pub fn frequency(&self, item: usize) -> f64 {
        self.share(self.counts[item])
    }

    /// Returns the group of every item; groups are numbered by ascending frequency.
    pub fn group_of(&self) -> &[u32] {
        &self.group_of
    }

    /// Returns, for each group, the number of transactions that contain any one of its items, in ascending
    /// order.
    pub fn group_counts(&self) -> &[u64] {
        &self.group_counts
    }

    /// Returns the number of items in each group.
    pub fn group_sizes(&self) -> &[u32] {
        &self.group_sizes
    }

    /// Returns the number of groups with a single item. An adversary who knows its frequency identifies it
    /// with certainty.
    pub fn singletons(&self) -> usize {
        self.group_sizes.iter().filter(|&&size| size == 1).count()
    }

    /// Returns the gaps between groups, or `None` if there are fewer than two groups.
    pub fn gaps(&self) -> Option<Gaps> {
        let pairs = self.group_counts.windows(2);
        let mut gaps: Vec<u64> = pairs.map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_unstable();
        let (&min, &max) = (gaps.first()?, gaps.last()?);
        let middle_two_sum = gaps[(gaps.len() - 1) / 2] + gaps[gaps.len() / 2];
        Some(Gaps {
            mean: self.share(gaps.iter().sum()) / gaps.len() as f64,
            median: self.share(middle_two_sum) / 2.0,
            min: self.share(min),
            max: self.share(max),
        })
    }

    fn share(&self, count: u64) -> f64 {
        count as f64 / self.transactions.max(1) as f64
    }
}
