//! Compares the terms found in a text with their definition, on texts from the fuzzer. The first line says
//! whether plurals are folded, the second line is the text, and every other line is a term.
#![no_main]

use disclosure::Control;
use disclosure::semantic::{Folding, SearchBuffer, Terms};
use libfuzzer_sys::fuzz_target;
use reference::semantic::terms_in;

fuzz_target!(|data: &str| {
    let mut lines = data.split('\n');
    let folding = Folding { plurals: lines.next() == Some("plurals") };
    let Some(text) = lines.next() else {
        return;
    };
    let terms: Vec<&str> = lines.take(20).collect();
    let words = |text: &str| {
        let mut words = Vec::new();
        folding.words(text, &mut String::new(), |word| words.push(word.to_owned()));
        words
    };
    let of_terms: Vec<Vec<String>> = terms.iter().map(|term| words(term)).collect();
    if let Ok(known) = Terms::new(terms.iter().copied(), folding) {
        let mut found = Vec::new();
        known.in_text(text, &mut SearchBuffer::default(), &mut found, &Control::new()).unwrap();
        assert_eq!(found, terms_in(&of_terms, &words(text)));
    }
});
