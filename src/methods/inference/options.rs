//! Options shared by the functions of this folder.

use crate::args::{Args, budget_of, enum_word, given, json};
use crate::error::Error;
use crate::input::window::WindowCall;
use crate::methods::inference::column_settings::{NullMeaning, Purpose};
use disclosure::inference::Settings;
use pgrx::pg_sys;
use serde_json::Value;

/// Options of a call.
pub struct Options {
    pub labels: Option<Value>,
    pub settings: Settings,
    /// Whether values that are common in the whole table are less dangerous.
    pub discount_common: bool,
    pub purpose: Purpose,
}

impl Options {
    /// Reads `labels`, the first option of every function.
    pub fn labels(args: &mut Args) -> Result<Self, Error> {
        Ok(Options {
            labels: args.json("labels")?,
            settings: Settings::default(),
            discount_common: false,
            purpose: Purpose::Measure,
        })
    }

    /// Reads the options of a measure that come before `constant`, from `min_confidence` on.
    pub fn measure(&mut self, args: &mut Args) -> Result<(), Error> {
        self.min_confidence(args)?;
        self.settings.joint_confidence = args.required("joint_confidence")?;
        self.purpose = Purpose::Score(null_meaning(args.optional("sensitive_nulls"))?);
        self.discount_common = args.required("discount_common")?;
        self.constant(args)
    }

    /// Reads `min_confidence`, which always comes before `constant`.
    pub fn min_confidence(&mut self, args: &mut Args) -> Result<(), Error> {
        self.settings.min_confidence = args.required("min_confidence")?;
        Ok(())
    }

    /// Reads `constant`.
    pub fn constant(&mut self, args: &mut Args) -> Result<(), Error> {
        self.settings.constant = args.required("constant")?;
        Ok(())
    }

    /// Reads `budget`, the last argument of every function, and checks all settings.
    pub fn finish(mut self, mut args: Args) -> Result<Self, Error> {
        self.settings.budget = args.budget()?;
        args.end()?;
        self.settings.check()?;
        Ok(self)
    }

    /// Reads all options of a window function, which follow the record.
    pub fn of_call(call: &WindowCall) -> Result<Self, Error> {
        // SAFETY: sql/ declares the window functions of this folder with these options.
        let given_options = unsafe { call.options() };
        let options = Options {
            labels: json("labels", given_options.get(1))?,
            settings: Settings {
                min_confidence: given("min_confidence", given_options.get(2))?,
                joint_confidence: given("joint_confidence", given_options.get(3))?,
                constant: given("constant", given_options.get(6))?,
                budget: budget_of(given_options.get(7))?,
                ..Settings::default()
            },
            purpose: Purpose::Score(null_meaning(given_options.get(4))?),
            discount_common: given("discount_common", given_options.get(5))?,
        };
        options.settings.check()?;
        Ok(options)
    }

    /// Reads the options of `policy_score`, which follow the record. The others have their defaults.
    pub fn of_policy_call(call: &WindowCall) -> Result<Self, Error> {
        // SAFETY: sql/ declares `policy_score` with these options.
        let given_options = unsafe { call.options() };
        let options = Options {
            labels: json("labels", given_options.get(1))?,
            settings: Settings {
                min_confidence: given("min_confidence", given_options.get(2))?,
                budget: budget_of(None)?,
                ..Settings::default()
            },
            discount_common: false,
            purpose: Purpose::Policy,
        };
        options.settings.check()?;
        Ok(options)
    }
}

/// Returns the meaning of NULL that the option `sensitive_nulls` stands for.
fn null_meaning(value: Option<pg_sys::Oid>) -> Result<NullMeaning, Error> {
    enum_word("sensitive_nulls", value, NullMeaning::WORDS)
}
