//! Invariants of every extraction.

use extract::{ExtractErrorKind, ExtractRequest, extract};
use retrieval_core::passages;

/// Maximum growth factor of markdown over its source, plus [`FREE`] bytes. Links grow as they become absolute, row
/// spans repeat cells up to a limit, and every marker takes a byte or two.
const GROWTH: usize = 64;
const FREE: usize = 2 << 20;

pub fn check(request: &ExtractRequest, bytes: &[u8]) {
    let read = match extract(request, bytes) {
        Ok(read) => read,
        Err(error) => {
            assert_ne!(error.kind, ExtractErrorKind::Crashed, "{}", error.message);
            return;
        }
    };
    assert!(read.markdown.len() <= bytes.len() * GROWTH + FREE, "{} from {}", read.markdown.len(), bytes.len());
    let stray = read.markdown.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    assert_eq!(stray, None);
    let spans = passages::split(&read.markdown);
    let mut end = 0;
    for span in &spans {
        assert_eq!(span.bytes.start, end);
        end = span.bytes.end;
    }
    assert_eq!(end, read.markdown.len());
}
