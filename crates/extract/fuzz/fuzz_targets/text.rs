//! Arbitrary bytes as each of the text kinds.
#![no_main]

mod invariants;

use extract::{ExtractRequest, FileKind};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Option<String>, &[u8])| {
    let (kind, charset, bytes) = input;
    let kinds = [FileKind::Txt, FileKind::Md, FileKind::Csv, FileKind::Tsv];
    let kind = kinds[usize::from(kind) % kinds.len()];
    invariants::check(&ExtractRequest { kind, name: "file".into(), base_url: None, charset }, bytes);
});
