//! Reads summaries of items from texts and bytes of the fuzzer. A summary that is accepted has to be printed
//! and stored so that it reads back as itself.
#![no_main]

use disclosure::cracks::ItemSummary;
use libfuzzer_sys::fuzz_target;

fn check(summary: &ItemSummary) {
    let (text, bytes) = (summary.to_text(), summary.to_bytes());
    assert!(text.len() <= summary.text_length());
    assert_eq!(ItemSummary::of_bytes(&bytes).as_ref(), Ok(summary));
    if let Ok(again) = ItemSummary::of_text(&text) {
        assert_eq!(again.to_text(), text);
    }
}

fuzz_target!(|data: &[u8]| {
    if let Ok(summary) = ItemSummary::of_bytes(data) {
        assert_eq!(summary.to_bytes(), data);
        check(&summary);
    }
    if let Some(summary) = str::from_utf8(data).ok().and_then(|text| ItemSummary::of_text(text).ok()) {
        assert_eq!(ItemSummary::of_text(&summary.to_text()).as_ref(), Ok(&summary));
        check(&summary);
    }
});
