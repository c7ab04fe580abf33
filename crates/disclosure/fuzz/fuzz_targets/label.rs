//! Parses labels from the fuzzer. Weights have to lie between 0 and 1, and a label that is written out has to
//! parse as itself.
#![no_main]

use disclosure::{Label, Weights};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(Label::Weighted(Weights { likelihood, danger })) = text.parse() {
        assert!((0.0..=1.0).contains(&likelihood) && (0.0..=1.0).contains(&danger));
        let written = format!("likelihood={likelihood} danger={danger}");
        assert_eq!(written.parse(), Ok(Label::Weighted(Weights { likelihood, danger })));
    }
});
