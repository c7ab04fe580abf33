//! The functions `assess` and `assess_summary`: whether a table keeps to the criteria of a preset, and what to do if not.
//! The verdicts are defined in [`disclosure::assess`].

mod finding;
mod next_step;
pub mod preset;
mod subject;

use crate::args::Args;
use crate::error::Error;
use crate::pg::table::{Table, table_row};
use disclosure::assess::{Measure, Verdict, overall, severity};
use disclosure::figures::ColumnFigure;
use finding::Finding;
use pgrx::prelude::*;
use preset::Preset;
use subject::{Given, Subject};

/// What an assessment found.
struct Assessment {
    preset: Preset,
    subject: Subject,
    /// The findings, worst first.
    findings: Vec<Finding>,
    verdict: Verdict,
}

impl Assessment {
    fn of_args(mut args: Args) -> Result<Self, Error> {
        let relation = args.optional("relation");
        let preset: Option<String> = args.optional("preset");
        let given = Given {
            relation,
            population: args.optional("population"),
            labels: args.json("labels")?,
            budget: args.optional("budget"),
        };
        args.end()?;
        let preset = Preset::named(preset.as_deref())?;
        let criteria = preset.criteria.iter().filter_map(|wanted| wanted.criterion);
        let subject = Subject::new(given, criteria.collect())?;
        if subject.has_suggested_labels {
            notice!(
                "no column of {} has a label, so labels are suggested first: see disclosure.suggest_labels()",
                subject.name()
            );
        }
        if let Some(base) = subject.relation_with_people()? {
            notice!(
                "rows of {} are counted, because it has no column labelled person; people would be counted in {base}",
                subject.name()
            );
        }
        let found = preset
            .criteria
            .iter()
            .map(|wanted| Finding::new(&subject, wanted));
        let mut findings: Vec<Finding> = found.collect::<Result<_, _>>()?;
        // A verdict rests on all columns, also if the preset does not ask for labels.
        if !preset.limits(Measure::Columns(ColumnFigure::Unlabelled)) {
            findings.extend(Finding::about_labels(&subject));
        }
        findings.sort_by(|a, b| {
            let by_severity = severity(a.verdict).cmp(&severity(b.verdict));
            let by_people = by_severity.then(b.people.cmp(&a.people));
            // Identifiers are the first to leave out. The rest stays in alphabetical order.
            by_people.then(b.is_about_identifiers().cmp(&a.is_about_identifiers()))
        });
        let verdict = overall(findings.iter().map(|finding| finding.verdict));
        if let (Verdict::Safe, Some(first)) = (verdict, findings.first_mut()) {
            first.next_step = next_step::protect(&subject, &preset);
        }
        Ok(Assessment {
            preset,
            subject,
            findings,
            verdict,
        })
    }
}

/// Returns the word for a verdict.
fn word(verdict: Verdict) -> &'static str {
    crate::verdict::verdict_name(match verdict {
        Verdict::Safe => Some(true),
        Verdict::Unsafe => Some(false),
        Verdict::Unknown => None,
    })
}

table_row! {
    /// Finding about one criterion.
    struct FindingRow {
        criterion: String,
        measure: String,
        measured: Option<f64>,
        at_least: Option<f64>,
        at_most: Option<f64>,
        verdict: Option<&'static str>,
        people: Option<i64>,
        why: String,
        next_step: Option<String>,
    }
}

/// assess(relation regclass, preset text, population regclass, labels jsonb, budget interval)
#[pg_extern(sql = false)]
fn assess(args: Args) -> Table<FindingRow> {
    Table::new(finding_rows(args))
}

fn finding_rows(args: Args) -> Result<Vec<FindingRow>, Error> {
    let row = |finding: Finding| FindingRow {
        criterion: finding.name,
        measure: finding.measure,
        measured: finding.measured,
        at_least: finding.at_least,
        at_most: finding.at_most,
        verdict: finding.verdict.map(word),
        people: finding.people.map(|people| people as i64),
        why: finding.why,
        next_step: finding.next_step,
    };
    Ok(Assessment::of_args(args)?.findings.into_iter().map(row).collect())
}

table_row! {
    /// Verdict on a table.
    struct SummaryRow {
        version: i32,
        verdict: &'static str,
        criteria: i64,
        failed: i64,
        not_known: i64,
        not_judged: i64,
        unlabelled: Vec<String>,
        people: Option<i64>,
        why: String,
        next_step: Option<String>,
    }
}

/// assess_summary(relation regclass, preset text, population regclass, labels jsonb, budget interval)
#[pg_extern(sql = false)]
fn assess_summary(args: Args) -> Table<SummaryRow> {
    Table::once(summary(args))
}

fn summary(args: Args) -> Result<SummaryRow, Error> {
    let found = Assessment::of_args(args)?;
    let count = |verdict: Option<Verdict>| {
        let same = found.findings.iter().filter(|finding| finding.verdict == verdict);
        same.count() as i64
    };
    let people = found
        .findings
        .iter()
        .filter(|finding| finding.verdict == Some(Verdict::Unsafe));
    let people = people.filter_map(|finding| finding.people).max();
    let worst = found.findings.first();
    let (failed, not_known) = (count(Some(Verdict::Unsafe)), count(Some(Verdict::Unknown)));
    let thresholds = found.preset.thresholds();
    let preset = &found.preset.name;
    let sentence = match found.verdict {
        Verdict::Safe => format!("It meets the thresholds of {preset}."),
        Verdict::Unsafe => format!("It does not meet {failed} of {thresholds} thresholds of {preset}."),
        Verdict::Unknown if thresholds == 0 => format!("The preset {preset} has no thresholds."),
        Verdict::Unknown => format!("It is not known whether it meets the thresholds of {preset}."),
    };
    let reason = worst.filter(|finding| matches!(finding.verdict, Some(Verdict::Unsafe | Verdict::Unknown)));
    Ok(SummaryRow {
        verdict: word(found.verdict),
        criteria: found.findings.len() as i64,
        failed,
        not_known,
        not_judged: count(None),
        unlabelled: found.subject.names(|column| column.is_unlabelled),
        people: people.map(|people| people as i64),
        why: match reason {
            Some(worst) => format!("{sentence} {}", worst.why),
            None => sentence,
        },
        next_step: worst.and_then(|finding| finding.next_step.clone()),
        version: found.preset.version,
    })
}
