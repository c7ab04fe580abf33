//! Remedies: cells to blank so that every score falls below a threshold (White, chapter 7, asks for this).
//!
//! A blank says nothing. Where NULL means unknown ([`Nulls::Unknown`](super::Nulls::Unknown)), a row with a blank
//! is left out of the shares of all values of its column, so no other row is safer because of it. If all rows
//! with K have y, then each of them has to lose y itself, or an attribute of K. If only a share of them has y, it
//! is enough that so many lose it that the share is small.
//!
//! No cell in a table without attributes can be inferred. So blanking goes on until the threshold holds, unless
//! the threshold is exceeded by columns that cannot be blanked.

use super::Attribute;
use super::bitset::Words;
use super::blanks::{Blank, BlankedTable, Copies, Unit};
use super::packed_table::{PackedTable, with_width};
use super::remedy_plan::{Inferred, Quotas, inferred_about};
use super::score::{DangerFunction, Limits, Scores, Settings, score_rows, scores};
use super::summary::{Totals, each_row};
use crate::{Control, Error, Result};

/// Row in which cells are to be blanked.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Change {
    /// Distinct row of the table.
    pub row: usize,
    /// Number of occurrences of the row that are to be changed.
    pub count: u64,
    /// Cells to blank in each of them.
    pub cells: Vec<Suppression>,
}

/// Cell to blank.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Suppression {
    /// Attributes that the row loses: one, unless the cell has several.
    pub attributes: Vec<Attribute>,
    /// Round in which the cell is blanked, as an index of [`Remedies::rounds`].
    pub round: usize,
}

/// Scores of a table, compared with the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ThresholdSummary {
    /// Number of rows with a score at or above the threshold.
    pub at_or_above: u64,
    /// Highest score.
    pub maximum: f64,
    /// Mean of the scores of all rows.
    pub average: f64,
    /// Whether the figures are exact. If not, some searches ran out of time, and the figures are upper
    /// bounds.
    pub exact: bool,
}

/// Goal of the suppressions, and limit on their number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RemedySettings {
    /// Score that all rows have to stay below, more than 0 and at most 1.
    pub threshold: f64,
    /// Largest number of cells to blank. Without one, only the threshold counts.
    pub max_rows: Option<u64>,
}

impl Default for RemedySettings {
    fn default() -> Self {
        RemedySettings {
            threshold: 0.5,
            max_rows: None,
        }
    }
}

impl RemedySettings {
    /// Checks that the settings are allowed.
    pub fn check(&self) -> Result<()> {
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return Err(Error::invalid(
                "threshold",
                "must be more than 0 and at most 1",
                "the score that all rows have to stay below, for example 0.5",
            ));
        }
        Ok(())
    }
}

/// Why the search for remedies ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum EndedBy {
    /// All scores are below the threshold.
    Threshold,
    /// The remaining rows are at or above the threshold because of columns whose cells cannot be blanked. No
    /// other cell can help them.
    NothingHelps,
    /// [`RemedySettings::max_rows`] was reached.
    MaxRows,
    /// The budget ran out.
    Budget,
}

/// Cells to blank.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Remedies {
    /// Scores before the first round.
    pub before: ThresholdSummary,
    /// Scores after each round.
    pub rounds: Vec<ThresholdSummary>,
    /// Rows to change.
    pub changes: Vec<Change>,
    /// Why there are no more.
    pub ended_by: EndedBy,
}

impl Remedies {
    /// Returns the scores after the last round.
    pub fn after(&self) -> ThresholdSummary {
        self.rounds.last().copied().unwrap_or(self.before)
    }

    /// Returns the number of cells to blank.
    pub fn cells(&self) -> u64 {
        let cells = |change: &Change| change.count * change.cells.len() as u64;
        self.changes.iter().map(cells).sum()
    }
}

/// Relative tolerance in comparisons, because scores are exact only up to a relative error of 1e-12. A score
/// that is less than this below the threshold may be at it.
const TOLERANCE: f64 = 1e-11;

/// Number of scores up to which the effect of every candidate on all rows is computed, and a single cell is
/// blanked at a time: candidates times distinct rows.
const CAREFUL_BELOW: usize = 4_000;

/// Number of rows at or above the threshold up to which a single cell is blanked at a time.
const CAREFUL_ROWS: u64 = 200;

/// Number of passes in which unnecessary blanks of a large table are withdrawn.
const WITHDRAWAL_PASSES: usize = 3;

/// Returns cells to blank so that every score is below the threshold. `blanks` says for each column how its
/// cells are blanked; the table has to have [room](PackedTable::with_room_for_blanks) for that.
///
/// The choice is greedy and not always the smallest number of cells. A round looks at the worst inference about
/// each row at or above the threshold. In a small table it blanks the one cell, inferred or known, that leaves
/// the fewest such rows. In a large table it blanks a cell in each of these rows: one after which the row is below
/// the threshold, if there is one, preferably one that cannot be known, and otherwise the one that lowers its
/// score most. If an inference is only probable, it does so in as many rows as are needed. At the end, blanks
/// that turned out unnecessary are withdrawn. All figures come from scoring the table with the blanks.
pub fn remedies(
    table: &PackedTable,
    blanks: &[Blank],
    settings: &Settings,
    wanted: &RemedySettings,
    control: &Control,
) -> Result<Remedies> {
    wanted.check()?;
    settings.check()?;
    with_width!(
        table.width,
        find_remedies(table, blanks, settings, wanted, control)
    )
}

fn find_remedies<const P: usize>(
    table: &PackedTable,
    blanks: &[Blank],
    settings: &Settings,
    wanted: &RemedySettings,
    control: &Control,
) -> Result<Remedies> {
    let mut search = Search::<P>::new(table, blanks, settings, wanted, control)?;
    let before = search.state.summary;
    let mut rounds = Vec::new();
    let ended_by = search.blank_until_done(&mut rounds)?;
    if ended_by != EndedBy::MaxRows && search.withdraw()? {
        rounds = search.replay(rounds.len())?;
    }
    Ok(Remedies {
        before,
        rounds,
        changes: search.changes(),
        ended_by,
    })
}

pub(super) fn is_at_or_above(score: f64, threshold: f64) -> bool {
    score >= threshold * (1.0 - TOLERANCE)
}

/// Search for cells to blank.
struct Search<'a, const P: usize> {
    original: &'a PackedTable,
    units: Vec<Unit<P>>,
    settings: &'a Settings,
    wanted: &'a RemedySettings,
    limits: Limits<'a>,
    /// Per distinct row of the original table, whether nothing can bring it below the threshold.
    hopeless: Vec<bool>,
    state: State<P>,
}

/// Table with the blanks so far.
struct State<const P: usize> {
    copies: Vec<Copies<P>>,
    blanked: BlankedTable<P>,
    scores: Scores,
    summary: ThresholdSummary,
}

/// Cell to blank in some of the copies of a distinct row.
#[derive(Debug, Clone, Copy)]
struct Choice {
    row: usize,
    unit: usize,
    count: u64,
}

/// Effect of blanking a cell on the row itself.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    unit: usize,
    /// Score of the row afterwards, or an upper bound below the threshold.
    score: f64,
}

impl<'a, const P: usize> Search<'a, P> {
    fn new(
        original: &'a PackedTable,
        blanks: &[Blank],
        settings: &'a Settings,
        wanted: &'a RemedySettings,
        control: &'a Control,
    ) -> Result<Self> {
        let mut search = Search {
            original,
            units: Unit::all(original, blanks),
            settings,
            wanted,
            limits: Limits::new(settings, control),
            hopeless: vec![false; original.len()],
            state: State {
                copies: Vec::new(),
                blanked: BlankedTable::new(original, &[], control)?,
                scores: Scores::default(),
                summary: ThresholdSummary {
                    at_or_above: 0,
                    maximum: 0.0,
                    average: 0.0,
                    exact: true,
                },
            },
        };
        search.state = search.scored(Copies::of_table(original, control)?)?;
        search.hopeless = search.hopeless_rows()?;
        Ok(search)
    }

    /// Returns the settings of one scoring, which ends when the whole search has to.
    fn settings(&self) -> Settings {
        Settings {
            budget: self.limits.remaining(),
            ..*self.settings
        }
    }

    fn scored(&self, copies: Vec<Copies<P>>) -> Result<State<P>> {
        self.limits.control.check()?;
        let blanked = BlankedTable::new(self.original, &copies, self.limits.control)?;
        let scores = scores(&blanked.table, &self.settings(), self.limits.control)?;
        Ok(State {
            summary: self.summary(&blanked.table, &scores),
            copies,
            blanked,
            scores,
        })
    }

    fn summary(&self, table: &PackedTable, scores: &Scores) -> ThresholdSummary {
        let each = || each_row(&scores.upper, &table.multiplicity);
        let reaching = each().filter(|&(score, _)| is_at_or_above(score, self.wanted.threshold));
        let totals = Totals::of(each());
        ThresholdSummary {
            at_or_above: Totals::of(reaching).rows,
            maximum: totals.maximum,
            average: totals.average(),
            exact: scores.exact(),
        }
    }

    /// Returns which rows are at or above the threshold because of attributes that cannot be blanked alone. These
    /// attributes never change, so neither do the inferences between them.
    fn hopeless_rows(&self) -> Result<Vec<bool>> {
        let slots = self
            .units
            .iter()
            .fold([0; P], |slots: [u64; P], unit| slots.or(&unit.slots));
        let kept = self.original.disregarding(&slots);
        if !kept.slots.iter().any(|slot| slot.is_dangerous()) {
            return Ok(vec![false; self.original.len()]);
        }
        let found = scores(&kept, &self.settings(), self.limits.control)?;
        let is_hopeless = |&score: &f64| is_at_or_above(score, self.wanted.threshold);
        Ok(found.lower.iter().map(is_hopeless).collect())
    }

    /// Blanks cells, round by round.
    fn blank_until_done(&mut self, rounds: &mut Vec<ThresholdSummary>) -> Result<EndedBy> {
        let mut room = self.wanted.max_rows.unwrap_or(u64::MAX);
        loop {
            self.limits.control.check()?;
            let targets = self.targets(&self.state);
            if self.limits.reached() && self.state.summary.at_or_above > 0 {
                return Ok(EndedBy::Budget);
            } else if targets.is_empty() {
                return Ok(match self.state.summary.at_or_above {
                    0 => EndedBy::Threshold,
                    _ => EndedBy::NothingHelps,
                });
            } else if room == 0 {
                return Ok(EndedBy::MaxRows);
            }
            let inferred = inferred_about(
                &self.state.blanked.table,
                &self.state.scores,
                &targets,
                self.settings.min_confidence,
                self.limits.control,
            )?;
            let choices = match self.is_small(&inferred) {
                true => self.best_cell(&inferred)?,
                false => self.cells_of_all(&inferred)?,
            };
            self.state = self.blank(&choices, &mut room, rounds.len())?;
            rounds.push(self.state.summary);
        }
    }

    /// Returns the distinct rows at or above the threshold that can be helped.
    fn targets(&self, state: &State<P>) -> Vec<usize> {
        let is_target = |&row: &usize| {
            let first = state.blanked.copies_of(row)[0];
            is_at_or_above(state.scores.upper[row], self.wanted.threshold)
                && !self.hopeless[state.copies[first].origin]
        };
        (0..state.blanked.table.len()).filter(is_target).collect()
    }

    fn is_small(&self, inferred: &[Inferred<P>]) -> bool {
        let table = &self.state.blanked.table;
        let candidates: usize = inferred.iter().map(|about| self.candidates(about).count()).sum();
        let rows: u64 = inferred.iter().map(|about| table.multiplicity[about.row]).sum();
        candidates.saturating_mul(table.len()) <= CAREFUL_BELOW && rows <= CAREFUL_ROWS
    }

    /// Returns the cells that could break the worst inference about a row.
    fn candidates<'b>(&'b self, about: &'b Inferred<P>) -> impl Iterator<Item = usize> + 'b {
        let slots = about.known.or(&about.slots());
        (0..self.units.len()).filter(move |&unit| self.units[unit].slots.meets(&slots))
    }

    /// Returns the copies after these choices, which take from `room` what they need.
    fn blank(&self, choices: &[Choice], room: &mut u64, round: usize) -> Result<State<P>> {
        let mut copies = self.state.copies.clone();
        for choice in choices {
            let mut wanted = choice.count.min(*room);
            *room -= wanted;
            for &copy in self.state.blanked.copies_of(choice.row) {
                let count = copies[copy].count.min(wanted);
                wanted -= count;
                if count > 0 {
                    let changed = copies[copy].with_blank(choice.unit, &self.units, round, count);
                    copies[copy].count -= count;
                    copies.push(changed);
                }
            }
        }
        copies.retain(|copies| copies.count > 0);
        self.scored(copies)
    }

    /// Returns the one cell after which the fewest rows are at or above the threshold, then the one with the
    /// lowest maximum, then that with the lowest average, and then one that cannot be known.
    fn best_cell(&self, inferred: &[Inferred<P>]) -> Result<Vec<Choice>> {
        let mut best: Option<(ThresholdSummary, Choice)> = None;
        let may_be_known = |choice: &Choice| self.units[choice.unit].may_be_known;
        for about in inferred {
            for unit in self.candidates(about) {
                let choice = Choice {
                    row: about.row,
                    unit,
                    count: 1,
                };
                let after = self.blank(&[choice], &mut 1, 0)?.summary;
                let is_better = |(than, other): &(ThresholdSummary, Choice)| {
                    (after.at_or_above.cmp(&than.at_or_above))
                        .then(after.maximum.total_cmp(&than.maximum))
                        .then(after.average.total_cmp(&than.average))
                        .then(may_be_known(&choice).cmp(&may_be_known(other)))
                        .is_lt()
                };
                if best.as_ref().is_none_or(is_better) {
                    best = Some((after, choice));
                }
            }
        }
        Ok(best.into_iter().map(|(_, choice)| choice).collect())
    }

    /// Returns a cell of every row at or above the threshold, or of as many as are needed.
    fn cells_of_all(&self, inferred: &[Inferred<P>]) -> Result<Vec<Choice>> {
        let mut best: Vec<Option<Candidate>> = vec![None; inferred.len()];
        let dangerous = |unit: &Unit<P>, about: &Inferred<P>| unit.slots.meets(&about.slots());
        self.try_units(inferred, &mut best, dangerous)?;
        let known = |unit: &Unit<P>, about: &Inferred<P>| unit.slots.meets(&about.known);
        self.try_units(inferred, &mut best, known)?;
        let mut quotas = Quotas::default();
        let danger_function = DangerFunction {
            constant: self.settings.constant,
        };
        let mut choices = Vec::new();
        for (about, best) in inferred.iter().zip(best) {
            let Some(Candidate { unit, .. }) = best else {
                continue;
            };
            let rows = self.state.blanked.table.multiplicity[about.row];
            let quota = quotas.of(about, &self.units[unit], || {
                about.rows_to_change(
                    &self.units[unit],
                    danger_function,
                    self.wanted.threshold,
                    self.settings.min_confidence,
                )
            });
            let count = rows.min(*quota);
            *quota -= count;
            if count > 0 {
                choices.push(Choice {
                    row: about.row,
                    unit,
                    count,
                });
            }
        }
        Ok(choices)
    }

    /// Finds out what score rows would have without some of their cells. Rows for which there is already a cell
    /// that suffices are left out.
    fn try_units(
        &self,
        inferred: &[Inferred<P>],
        best: &mut [Option<Candidate>],
        suits: impl Fn(&Unit<P>, &Inferred<P>) -> bool,
    ) -> Result<()> {
        let threshold = self.wanted.threshold;
        let suffices = |candidate: &Candidate| !is_at_or_above(candidate.score, threshold);
        let open: Vec<bool> = best
            .iter()
            .map(|best| !best.is_some_and(|best| suffices(&best)))
            .collect();
        for (unit_index, unit) in self.units.iter().enumerate() {
            let about: Vec<usize> = (0..inferred.len())
                .filter(|&about| open[about] && suits(unit, &inferred[about]))
                .collect();
            if about.is_empty() {
                continue;
            }
            let rows: Vec<usize> = about.iter().map(|&about| inferred[about].row).collect();
            for (&about, score) in about.iter().zip(self.scores_without(unit, &rows)?) {
                let candidate = Candidate {
                    unit: unit_index,
                    score,
                };
                let is_better = best[about].is_none_or(|best| self.is_better(&candidate, &best));
                if is_better {
                    best[about] = Some(candidate);
                }
            }
        }
        Ok(())
    }

    fn is_better(&self, candidate: &Candidate, than: &Candidate) -> bool {
        let rank = |candidate: &Candidate| {
            let suffices = !is_at_or_above(candidate.score, self.wanted.threshold);
            (!suffices, suffices && self.units[candidate.unit].may_be_known)
        };
        (rank(candidate).cmp(&rank(than)))
            .then(candidate.score.total_cmp(&than.score))
            .is_lt()
    }

    /// Returns the scores that rows would have without their attributes in this cell. Such a row is still counted
    /// in the same way wherever these attributes are neither known nor inferred, so its score is the one that it has
    /// in the table without the cell's slots.
    fn scores_without(&self, unit: &Unit<P>, rows: &[usize]) -> Result<Vec<f64>> {
        let state = &self.state;
        let table = state.blanked.table.disregarding(&unit.slots);
        let danger_function = DangerFunction {
            constant: self.settings.constant,
        };
        let mut scores: Vec<f64> = rows
            .iter()
            .map(|&row| {
                let weights = table.weights(&table.rows::<P>()[row]);
                danger_function.of_sum(weights.map(|(_, weights)| weights.danger).sum())
            })
            .collect();
        let mut stale = vec![false; table.len()];
        for (&row, &bound) in rows.iter().zip(&scores) {
            stale[row] = is_at_or_above(bound, self.wanted.threshold);
        }
        if stale.contains(&true) {
            let carried = Some((&state.scores, &stale[..]));
            let found = score_rows::<P>(&table, &self.settings(), carried, self.limits.control)?;
            for (&row, score) in rows.iter().zip(&mut scores) {
                if stale[row] {
                    *score = found.upper[row];
                }
            }
        }
        Ok(scores)
    }

    /// Withdraws blanks that are not necessary. Returns whether there were any.
    fn withdraw(&mut self) -> Result<bool> {
        if !self.targets(&self.state).is_empty() || self.limits.reached() {
            return Ok(false);
        }
        let cells: usize = self.state.copies.iter().map(|copies| copies.cells.len()).sum();
        let mut withdrawn = false;
        if cells.saturating_mul(self.original.len()) <= CAREFUL_BELOW {
            withdrawn |= self.withdraw_one_by_one()?;
        } else {
            for _ in 0..WITHDRAWAL_PASSES {
                if self.limits.reached() || !self.withdraw_together()? {
                    break;
                }
                withdrawn = true;
            }
        }
        Ok(withdrawn)
    }

    /// Tries to withdraw each blank on its own, the first ones first.
    fn withdraw_one_by_one(&mut self) -> Result<bool> {
        let mut withdrawn = false;
        let mut index = 0;
        while index < self.state.copies.len() {
            let mut position = 0;
            while position < self.state.copies[index].cells.len() {
                let rows = self.original.rows::<P>();
                let restored = self.state.copies[index].without_blank(position, &self.units, rows);
                let mut copies = self.state.copies.clone();
                copies[index] = restored;
                let state = self.scored(copies)?;
                if state.scores.exact() && self.targets(&state).is_empty() {
                    self.state = state;
                    withdrawn = true;
                } else {
                    position += 1;
                }
            }
            index += 1;
        }
        Ok(withdrawn)
    }

    /// Tries to withdraw the first blank of every row with several. If some of these rows are then at or above the
    /// threshold, they keep theirs. Gives up if other rows are.
    fn withdraw_together(&mut self) -> Result<bool> {
        let mut tried: Vec<bool> = self
            .state
            .copies
            .iter()
            .map(|copies| copies.cells.len() > 1)
            .collect();
        while tried.contains(&true) && !self.limits.reached() {
            let restore = |(copies, &tried): (&Copies<P>, &bool)| match tried {
                true => copies.without_blank(0, &self.units, self.original.rows::<P>()),
                false => copies.clone(),
            };
            let copies = self.state.copies.iter().zip(&tried).map(restore).collect();
            let state = self.scored(copies)?;
            let targets = self.targets(&state);
            if state.scores.exact() && targets.is_empty() {
                self.state = state;
                return Ok(true);
            }
            let mut kept = false;
            for &row in &targets {
                for &copy in state.blanked.copies_of(row) {
                    kept |= std::mem::replace(&mut tried[copy], false);
                }
            }
            if !kept {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Scores the table after each of `count` rounds. Rounds of which no blank is left are dropped.
    fn replay(&mut self, count: usize) -> Result<Vec<ThresholdSummary>> {
        let mut is_used = vec![false; count];
        for &(_, round) in self.state.copies.iter().flat_map(|copies| &copies.cells) {
            is_used[round] = true;
        }
        let number = |round: usize| is_used[..round].iter().filter(|&&used| used).count();
        let numbers: Vec<usize> = (0..count).map(number).collect();
        for cell in self.state.copies.iter_mut().flat_map(|copies| &mut copies.cells) {
            cell.1 = numbers[cell.1];
        }
        let used = is_used.iter().filter(|&&used| used).count();
        let mut rounds = Vec::new();
        for round in 0..used {
            if round + 1 == used {
                rounds.push(self.state.summary);
                break;
            }
            let until = |copies: &Copies<P>| {
                let later = copies.cells.iter().position(|cell| cell.1 > round);
                let mut before = copies.clone();
                for position in (later.unwrap_or(copies.cells.len())..copies.cells.len()).rev() {
                    before = before.without_blank(position, &self.units, self.original.rows::<P>());
                }
                before
            };
            rounds.push(
                self.scored(self.state.copies.iter().map(until).collect())?
                    .summary,
            );
        }
        Ok(rounds)
    }

    fn changes(&self) -> Vec<Change> {
        let rows = self.original.rows::<P>();
        let changed = self.state.copies.iter().filter(|copies| !copies.cells.is_empty());
        let change = |copies: &Copies<P>| Change {
            row: copies.origin,
            count: copies.count,
            cells: copies
                .cells
                .iter()
                .map(|&(unit, round)| Suppression {
                    attributes: self.units[unit].attributes(self.original, &rows[copies.origin]),
                    round,
                })
                .collect(),
        };
        changed.map(change).collect()
    }
}
