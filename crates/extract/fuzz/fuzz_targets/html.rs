//! Arbitrary bytes as a web page, with and without a URL and a charset.
#![no_main]

mod invariants;

use extract::{ExtractRequest, FileKind};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (bool, Option<String>, &[u8])| {
    let (from_web, charset, bytes) = input;
    let base_url = from_web.then(|| "https://example.org/a/b.html".to_owned());
    invariants::check(&ExtractRequest { kind: FileKind::Html, name: "page.html".into(), base_url, charset }, bytes);
});
