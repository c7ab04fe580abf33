//! The window functions `individual_risk` and `household_risk`.

use crate::args::{json, word};
use crate::error::Error;
use crate::input::window::WindowCall;
use crate::methods::classes::records::{Choice, Needs, ReadRecords, Unit, nulls_of_enum};
use crate::methods::population::weights::SamplingWeights;
use crate::run;
use disclosure::NULL;
use disclosure::classes::Nulls;
use disclosure::population::{Method, class_risks, household_risks, number_households};
use pgrx::prelude::*;

const METHODS: &[(&str, Method)] = &[("exact", Method::Exact), ("sdcmicro", Method::SdcMicro)];

/// Arguments of both functions, the row aside.
struct Options {
    choice: Choice,
    nulls: Nulls,
    method: Method,
}

impl Options {
    fn of(call: &WindowCall, household: bool) -> Result<Self, Error> {
        // SAFETY: sql/ declares both functions with these options.
        let given_options = unsafe { call.options() };
        Ok(Options {
            choice: Choice {
                columns: given_options.names(1),
                labels: json("labels", given_options.get(2))?,
                unit: Unit::of_word(given_options.get(4))?,
                needs: Needs {
                    weight: true,
                    household,
                    ..Needs::default()
                },
                ..Choice::default()
            },
            nulls: nulls_of_enum(given_options.get(3))?,
            method: word("method", given_options.get(5), METHODS)?,
        })
    }
}

/// Risk of a partition's rows: that of a group of rows, and the group of each row.
struct RiskOfPartition {
    group_of_row: Vec<u32>,
    risks: Vec<f64>,
}

impl RiskOfPartition {
    fn at(&self, row: usize) -> f64 {
        self.risks[self.group_of_row[row] as usize]
    }
}

/// individual_risk(record record, columns name[], labels jsonb, nulls disclosure.null_treatment, unit text,
/// method text) OVER (…)
#[pg_extern(sql = false)]
fn individual_risk(call: WindowCall) -> f64 {
    let partition = call.partition_state(|call| {
        let (read, risks) = by_class(call, Options::of(call, false)?)?;
        Ok(RiskOfPartition {
            group_of_row: read.records.into_class_of_row(),
            risks,
        })
    });
    let risk = partition.map(|partition| partition.at(call.position()));
    risk.unwrap_or_else(Error::raise)
}

/// household_risk(record record, columns name[], labels jsonb, nulls disclosure.null_treatment, unit text,
/// method text) OVER (…)
#[pg_extern(sql = false)]
fn household_risk(call: WindowCall) -> f64 {
    let partition = call.partition_state(|call| {
        let (read, risks) = by_class(call, Options::of(call, true)?)?;
        by_household(read, risks)
    });
    let risk = partition.map(|partition| partition.at(call.position()));
    risk.unwrap_or_else(Error::raise)
}

/// Reads the rows of a partition and returns the risk of each class.
fn by_class(call: &WindowCall, options: Options) -> Result<(ReadRecords, Vec<f64>), Error> {
    let read = ReadRecords::of_partition(call, options.choice)?;
    let weights = SamplingWeights::of(&read)?;
    let risks = run::long("estimating risk", |control| {
        let sizes = weights.map(|weights| weights.sizes(&read.records, control));
        class_risks(
            &read.records,
            sizes.transpose()?.as_ref(),
            options.nulls,
            options.method,
            control,
        )
    })?;
    Ok((read, risks))
}

/// Returns the risk of the households of a partition, given that of its classes. A row whose household is not known is a
/// household of its own.
fn by_household(read: ReadRecords, risks: Vec<f64>) -> Result<RiskOfPartition, Error> {
    let ReadRecords { records, roles, .. } = &read;
    if roles.household.is_empty() {
        return Ok(RiskOfPartition {
            group_of_row: read.records.into_class_of_row(),
            risks, // of anonymous rows that are all NULL
        });
    }
    let first = usize::from(roles.weight.is_some());
    let columns = (first..first + roles.household.len()).map(|column| records.kept(column));
    let columns: Vec<&[u32]> = columns.collect();
    let classes = records.class_of_row();
    let (households, of_household) = run::long("estimating risk", |control| {
        let households = number_households(&columns)?;
        let people = records.counts_people().then(|| records.person_of_row());
        let risk_of_row = |row: usize| risks[classes[row] as usize];
        let of_household = household_risks(&households, people, risk_of_row, control)?;
        Ok((households, of_household))
    })?;
    // Groups are households and, for rows without one, the classes after them.
    let after = of_household.len() as u32;
    let group = |(&household, &class): (&u32, &u32)| match household {
        NULL => after.saturating_add(class),
        household => household,
    };
    Ok(RiskOfPartition {
        group_of_row: households.iter().zip(classes).map(group).collect(),
        risks: [of_household, risks].concat(),
    })
}
