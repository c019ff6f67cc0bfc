#![no_main]
//! Fuzzes splitting: passages are contiguous slices that concatenate to the content, and derived data is consistent.

use libfuzzer_sys::fuzz_target;
use retrieval_core::{chars, outline, passages, plain, select, snippet};

fuzz_target!(|input: (String, String, u16)| {
    let (content, query, length) = input;
    let spans = passages::split(&content);
    let (mut byte, mut char) = (0, 0);
    for (ordinal, span) in spans.iter().enumerate() {
        assert_eq!(span.ordinal as usize, ordinal);
        assert_eq!((span.bytes.start, span.chars.start), (byte, char));
        assert_eq!(content[span.bytes.clone()].chars().count(), span.chars.len());
        (byte, char) = (span.bytes.end, span.chars.end);
    }
    assert_eq!(byte, content.len());
    let chosen = select::query_relevant(&query, &content, &spans, Some("en"));
    assert!(chosen.iter().all(|position| *position < spans.len()));
    let shown = snippet::snippet(&query, &content, usize::from(length));
    assert!(shown.chars().count() <= usize::from(length));
    let _ = outline::headings(&content).count();
    let _ = plain::from_markdown(&content);
    let (slice, count) = chars::slice(&content, usize::from(length), 100);
    assert_eq!(slice.chars().count(), count);
});
