//! Parses labels from the fuzzer. Weights have to lie between 0 and 1, and a label that is written out has to
//! parse as itself.
#![no_main]

use disclosure::{Label, Weights};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(label) = text.parse::<Label>() else {
        return;
    };
    if let Some(Weights { likelihood, danger }) = label.weights() {
        assert!((0.0..=1.0).contains(&likelihood) && (0.0..=1.0).contains(&danger));
    }
    assert_eq!(label.to_string().parse(), Ok(label));
});
