use super::estimate::sum;
use super::recipe::{ROUNDING, RiskSettings};
use super::{
    Apart, Belief, CoOccurrence, Compliance, CrackSpace, Expected, Frequencies, NEARLY_ALWAYS, Pair,
    Settings, Transactions, Width, apart_pairs, assess_risk, cautious, expected, filter_edges, o_estimate,
    refine_beliefs, simulate_apart, top_pairs,
};
use crate::{Control, Error, Result};

/// What Assess-Risk-Corr (Fig. 25) needs to know beside the data and the belief.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrelationSettings {
    /// The share of items that may be cracked.
    pub tolerance: f64,
    /// How many of the pairs that co-occur most the adversary knows: w.
    pub pairs: usize,
    /// Among how many of the pairs of codes that co-occur most he looks for them, where he is not sure that they
    /// are the first: 100 as published.
    pub among: usize,
    /// How many pairs he knows that never co-occur, though both their items are frequent.
    pub apart: usize,
    /// See [`refine_beliefs`].
    pub nearly_always: f64,
    /// How α_max is found.
    pub compliance: Compliance,
    /// How expected cracks are found.
    pub settings: Settings,
}

impl Default for CorrelationSettings {
    /// 50 pairs among 100, as published.
    fn default() -> Self {
        CorrelationSettings {
            tolerance: 0.1,
            pairs: 50,
            among: 100,
            apart: 0,
            nearly_always: NEARLY_ALWAYS,
            compliance: Compliance::default(),
            settings: Settings::default(),
        }
    }
}

impl CorrelationSettings {
    /// Checks the bounds of all settings.
    pub fn check(&self) -> Result<()> {
        self.risk().check()?;
        Error::check_share("nearly_always", self.nearly_always)?;
        self.settings.check()
    }

    fn risk(&self) -> RiskSettings {
        RiskSettings {
            tolerance: self.tolerance,
            compliance: self.compliance,
        }
    }
}

/// What the adversary knows beside frequencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum KnownPairs {
    /// Nothing, but every frequency as it is.
    PointValued,
    /// Nothing.
    None,
    /// Pairs that he looks for among as many of the codes' pairs: "adjusted".
    Adjusted,
    /// Pairs that he looks for among more of the codes' pairs: "adjusted 100".
    AdjustedAmong,
    /// Pairs whose items he believes to be equally frequent (Fig. 24).
    RefinedBeliefs,
    /// Pairs that never co-occur.
    Apart,
}

/// The risk from an adversary who knows some pairs.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CorrelationRisk {
    /// What he knows.
    pub knows: KnownPairs,
    /// How many pairs.
    pub pairs: usize,
    /// The O-estimate; there is none for conditions on whole mappings.
    pub o_estimate: Option<f64>,
    /// The expected cracks; `None` where no mapping agrees with what he knows. The O-estimate decides then.
    pub expected: Option<Expected>,
    /// Whether no more than the tolerance is cracked; the largest value that the expected cracks can have counts.
    pub is_within: bool,
    /// The largest share of items that he may be right about; only of [`KnownPairs::None`], and only if more than
    /// the tolerance is cracked.
    pub alpha_max: Option<f64>,
}

/// Assess-Risk-Corr (Fig. 25), with every kind of knowledge about pairs that the data itself allows: how many items
/// does an adversary crack who knows the pairs that occur together most?
pub fn assess_correlation_risk(
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
    let pairs = ends(known);
    let adjusted = filter_edges(&space, &pairs, &pairs);
    risks.push(recipe.risk(KnownPairs::Adjusted, known.len(), &adjusted)?);
    if settings.among > settings.pairs {
        let adjusted = filter_edges(&space, &pairs, &ends(&frequent));
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

fn ends(pairs: &[Pair]) -> Vec<(u32, u32)> {
    pairs.iter().map(Pair::items).collect()
}

struct Recipe<'a> {
    frequencies: &'a Frequencies,
    settings: &'a CorrelationSettings,
    control: &'a Control,
}

impl Recipe<'_> {
    /// Steps 1 to 10: what the adversary cracks by frequencies alone.
    fn without_pairs(&self, space: &CrackSpace) -> Result<Vec<CorrelationRisk>> {
        let exact = Belief::around(self.frequencies, Width::Share(0.0))?.space(self.frequencies);
        let point_valued = self.risk(KnownPairs::PointValued, 0, &exact)?;
        let mut interval = self.risk(KnownPairs::None, 0, space)?;
        let cracks = cautious(space, interval.expected.as_ref());
        let assessment = assess_risk(self.frequencies, &cracks, &self.settings.risk(), self.control)?;
        interval.alpha_max = assessment.alpha_max.filter(|_| !interval.is_within);
        Ok(vec![point_valued, interval])
    }

    /// Steps 12 and 13.
    fn risk(&self, knows: KnownPairs, pairs: usize, space: &CrackSpace) -> Result<CorrelationRisk> {
        let found = expected(space, &self.settings.settings, self.control)?;
        Ok(CorrelationRisk {
            knows,
            pairs,
            o_estimate: Some(o_estimate(space)),
            is_within: self.is_within(space, found.as_ref()),
            expected: found,
            alpha_max: None,
        })
    }

    fn is_within(&self, space: &CrackSpace, found: Option<&Expected>) -> bool {
        let tolerated = self.settings.tolerance * self.frequencies.items() as f64;
        sum(&cautious(space, found)) <= tolerated + ROUNDING
    }

    fn apart(&self, transactions: &Transactions, space: &CrackSpace) -> Result<CorrelationRisk> {
        let settings = &self.settings.settings;
        let items: Vec<u32> = (0..transactions.items() as u32).collect();
        if CoOccurrence::bytes(items.len()) as f64 > settings.bytes {
            return Err(Error::TooMany {
                what: "items for known pairs that never occur together",
                limit: (settings.bytes * 8.0).sqrt() as u64,
            });
        }
        let together = CoOccurrence::among(transactions, &items, self.control)?;
        let pairs = ends(&apart_pairs(transactions, self.settings.apart, self.control)?);
        let apart = Apart {
            pairs: &pairs,
            together: &|one, other| together.together(one, other).unwrap_or(false),
        };
        let simulated = simulate_apart(space, &apart, &settings.simulation(), self.control)?;
        let found = simulated.map(Expected::of_simulation);
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
