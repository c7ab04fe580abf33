//! The recipe Assess-Risk-Corr of Lakshmanan et al. 2008 (Fig. 25): how much does an adversary gain by
//! knowing which items occur together?
//!
//! The recipe first measures the risk from frequencies alone, and then the risk for each kind of knowledge
//! about pairs of items: pairs that occur together most often, and pairs that never do. The second kind is
//! left open in the paper.

use super::o_estimate::kahan_sum;
use super::recipe::{COMPARISON_MARGIN, ItemSettings};
use super::{
    Apart, Belief, CoOccurrence, ComplianceRuns, CrackSpace, ExpectedCracks, Frequencies, NEARLY_ALWAYS,
    Pair, Settings, Transactions, Width, apart_pairs, assess_items, cautious_probabilities, expected_cracks,
    filter_edges, o_estimate, refine_beliefs, simulate_apart, top_pairs,
};
use crate::{Control, Error, Result};

/// Settings of Assess-Risk-Corr (Fig. 25).
#[derive(Debug, Clone, PartialEq)]
pub struct CorrelationSettings {
    /// Share of items that may be cracked.
    pub tolerance: f64,
    /// Number of the most frequent pairs that the adversary knows: w.
    pub pairs: usize,
    /// Number of the most frequent pairs of codes among which the adversary looks for the known pairs, if
    /// they are not sure that the known pairs come first: 100 as published.
    pub among: usize,
    /// Number of pairs that the adversary knows never to occur together, though both items are frequent.
    pub apart: usize,
    /// Share of transactions that makes two items nearly always together: see [`refine_beliefs`].
    pub nearly_always: f64,
    /// How α_max is found.
    pub compliance: ComplianceRuns,
    /// How expected cracks are computed.
    pub settings: Settings,
}

impl Default for CorrelationSettings {
    /// Settings for 50 pairs among 100, as published.
    fn default() -> Self {
        CorrelationSettings {
            tolerance: 0.1,
            pairs: 50,
            among: 100,
            apart: 0,
            nearly_always: NEARLY_ALWAYS,
            compliance: ComplianceRuns::default(),
            settings: Settings::default(),
        }
    }
}

impl CorrelationSettings {
    /// Checks the bounds of all settings.
    pub fn check(&self) -> Result<()> {
        self.risk().check()?;
        Error::check_unit_interval("nearly_always", self.nearly_always)?;
        self.settings.check()
    }

    fn risk(&self) -> ItemSettings {
        ItemSettings {
            tolerance: self.tolerance,
            compliance: self.compliance,
        }
    }
}

/// What the adversary knows in addition to the belief about frequencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum KnownPairs {
    /// No pairs, but every frequency exactly.
    PointValued,
    /// Nothing.
    NoPairs,
    /// Pairs that the adversary looks for among equally many pairs of codes: "adjusted".
    Adjusted,
    /// Pairs that the adversary looks for among more pairs of codes: "adjusted 100".
    AdjustedAmong,
    /// Pairs whose items the adversary believes to be equally frequent (Fig. 24).
    RefinedBeliefs,
    /// Pairs that never occur together.
    Apart,
}

/// Risk from an adversary with one kind of knowledge about pairs.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CorrelationRisk {
    /// What the adversary knows.
    pub knows: KnownPairs,
    /// Number of pairs that the adversary knows and can use.
    pub pairs: usize,
    /// The O-estimate; `None` for [`KnownPairs::Apart`], which is a condition on whole mappings.
    pub o_estimate: Option<f64>,
    /// Expected cracks; `None` if no mapping is consistent with the adversary's knowledge. The O-estimate
    /// decides then.
    pub expected: Option<ExpectedCracks>,
    /// Whether the expected cracks are within the tolerance, judged by the upper end of their interval.
    pub is_within: bool,
    /// Largest share of items that the adversary may be right about; only for [`KnownPairs::NoPairs`], and only
    /// if the tolerance is exceeded.
    pub alpha_max: Option<f64>,
}

/// Runs Assess-Risk-Corr (Fig. 25) for every kind of knowledge about pairs. The known pairs are taken from
/// the data itself. Returns one risk per kind of knowledge, first the risk from frequencies alone.
pub fn assess_correlations(
    transactions: &Transactions,
    frequencies: &Frequencies,
    belief: &Belief,
    settings: &CorrelationSettings,
    control: &Control,
) -> Result<Vec<CorrelationRisk>> {
    settings.check()?;
    let recipe = Recipe {
        frequencies,
        settings,
        control,
    };
    let space = belief.space(frequencies);
    let mut risks = recipe.without_pairs(&space)?;

    let most = settings.pairs.max(settings.among);
    let frequent = top_pairs(transactions, most, control)?;
    let known = &frequent[..settings.pairs.min(frequent.len())];
    let pairs = item_pairs(known);
    let adjusted = filter_edges(&space, &pairs, &pairs);
    risks.push(recipe.risk(KnownPairs::Adjusted, known.len(), &adjusted)?);
    if settings.among > settings.pairs {
        let adjusted = filter_edges(&space, &pairs, &item_pairs(&frequent));
        risks.push(recipe.risk(KnownPairs::AdjustedAmong, known.len(), &adjusted)?);
    }
    let mut refined = belief.clone();
    let used = refine_beliefs(&mut refined, frequencies, known, settings.nearly_always);
    risks.push(recipe.risk(KnownPairs::RefinedBeliefs, used, &refined.space(frequencies))?);
    if settings.apart > 0 {
        risks.push(recipe.apart(transactions, &space)?);
    }
    Ok(risks)
}

fn item_pairs(pairs: &[Pair]) -> Vec<(u32, u32)> {
    pairs.iter().map(Pair::items).collect()
}

struct Recipe<'a> {
    frequencies: &'a Frequencies,
    settings: &'a CorrelationSettings,
    control: &'a Control,
}

impl Recipe<'_> {
    /// Returns the risk from frequencies alone (steps 1 to 10).
    fn without_pairs(&self, space: &CrackSpace) -> Result<Vec<CorrelationRisk>> {
        let point_valued_space = Belief::around(self.frequencies, Width::Share(0.0))?.space(self.frequencies);
        let point_valued = self.risk(KnownPairs::PointValued, 0, &point_valued_space)?;
        let mut interval = self.risk(KnownPairs::NoPairs, 0, space)?;
        let cracks = cautious_probabilities(space, interval.expected.as_ref());
        let assessment = assess_items(self.frequencies, &cracks, &self.settings.risk(), self.control)?;
        interval.alpha_max = assessment.alpha_max.filter(|_| !interval.is_within);
        Ok(vec![point_valued, interval])
    }

    /// Returns the risk in a space of crack mappings (steps 12 and 13).
    fn risk(&self, knows: KnownPairs, pairs: usize, space: &CrackSpace) -> Result<CorrelationRisk> {
        let found = expected_cracks(space, &self.settings.settings, self.control)?;
        Ok(CorrelationRisk {
            knows,
            pairs,
            o_estimate: Some(o_estimate(space)),
            is_within: self.is_within(space, found.as_ref()),
            expected: found,
            alpha_max: None,
        })
    }

    fn is_within(&self, space: &CrackSpace, found: Option<&ExpectedCracks>) -> bool {
        let tolerated = self.settings.tolerance * self.frequencies.items() as f64;
        kahan_sum(&cautious_probabilities(space, found)) <= tolerated + COMPARISON_MARGIN
    }

    fn apart(&self, transactions: &Transactions, space: &CrackSpace) -> Result<CorrelationRisk> {
        let settings = &self.settings.settings;
        let items: Vec<u32> = (0..transactions.items() as u32).collect();
        if CoOccurrence::bytes(items.len()) as f64 > settings.max_bytes {
            return Err(Error::TooMany {
                what: "items in a search for pairs that never occur together",
                limit: (settings.max_bytes * 8.0).sqrt() as u64,
            });
        }
        let together = CoOccurrence::among(transactions, &items, self.control)?;
        let pairs = item_pairs(&apart_pairs(transactions, self.settings.apart, self.control)?);
        let apart = Apart {
            pairs: &pairs,
            together: &|one, other| together.together(one, other).unwrap_or(false),
        };
        let simulated = simulate_apart(space, &apart, &settings.simulation(), self.control)?;
        let found = simulated.map(ExpectedCracks::of_simulation);
        Ok(CorrelationRisk {
            knows: KnownPairs::Apart,
            pairs: pairs.len(),
            o_estimate: None,
            is_within: self.is_within(space, found.as_ref()),
            expected: found,
            alpha_max: None,
        })
    }
}
