#![no_main]
//! Any bytes, under any kind of name: an answer or an error, never a panic, and markdown that can be stored and split.

use extract::{ExtractErrorKind, ExtractRequest, FileKind, extract};
use libfuzzer_sys::fuzz_target;

/// Markdown may be longer than its source (links are made absolute, tables get rules), but not by orders of magnitude:
/// packed formats excepted, which have a limit of their own.
const GROWTH: usize = 64;

fuzz_target!(|input: (u8, bool, Option<String>, &[u8])| {
    let (kind, from_web, charset, bytes) = input;
    let kind = FileKind::ALL[usize::from(kind) % FileKind::ALL.len()];
    let request = ExtractRequest {
        base_url: from_web.then(|| "https://example.com/a/b".to_owned()),
        charset,
        ..ExtractRequest::new(kind, format!("name.{}", kind.as_str()))
    };
    match extract(&request, bytes) {
        Ok(read) => {
            assert!(!read.markdown.contains('\0') && !read.markdown.contains('\r'));
            if matches!(kind, FileKind::Html | FileKind::Txt | FileKind::Md | FileKind::Csv | FileKind::Tsv) {
                assert!(read.markdown.len() <= 4_096 + bytes.len() * GROWTH);
            }
            let spans = retrieval_core::passages::split(&read.markdown);
            assert_eq!(spans.last().map_or(0, |span| span.bytes.end), read.markdown.len());
        }
        Err(error) => assert_ne!(error.kind, ExtractErrorKind::Crashed, "{error}"),
    }
});
