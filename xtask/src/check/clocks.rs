//! The system's clock is read in few places; everything else takes the time from a `Clock` or as an argument.

use super::code::Token;
use super::ratchet::Places;
use super::sources::Source;
use super::{Breach, allowed};

/// Files that may read the clock: the one implementation of `Clock`, and crates that stand without `model`, each in one
/// place.
const READERS: &[&str] = &[
    "crates/model/src/clock.rs",
    // The stores stamp objects, as a foreign store would.
    "crates/blobs/src/memory.rs",
    "crates/s3-server/src/store/mod.rs",
    "crates/s3-server/src/store/upload.rs",
    "crates/s3-server/src/operations.rs",
    // Signatures and credentials are valid by the wall clock of the other side.
    "crates/blobs-s3/src/credentials.rs",
    "crates/blobs-s3/src/store.rs",
    "crates/retrieval-client/src/transport.rs",
    // `Retry-After` as an HTTP date.
    "crates/fetcher/src/admitted.rs",
    // A conformance suite compares object times with the present.
    "crates/blobs/src/conformance.rs",
    // A benchmark ends its series of requests now.
    "xtask/src/bench/usage_job.rs",
];

/// Finds other places of product code that read the clock.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let mut places = Places::default();
    for source in sources.iter().filter(|source| !READERS.contains(&source.file.as_str())) {
        for (line, read) in reads(&source.tokens()) {
            places.add(&source.krate, format!("{}:{line} {read}", source.file));
        }
    }
    places.beyond(allowed::CLOCKS, "take a `Clock` from the composition root, or the time as an argument")
}

/// Returns the reads of the clock with their lines. Imports do not count, since a path alone reads nothing.
fn reads(tokens: &[(Token, usize)]) -> Vec<(usize, &'static str)> {
    let path = |at: usize, kind: &str, function: &str| {
        tokens[at].0.is_word(function)
            && at >= 2
            && tokens[at - 1].0 == Token::PathSeparator
            && tokens[at - 2].0.is_word(kind)
    };
    let mut found = Vec::new();
    for (at, (token, line)) in tokens.iter().enumerate() {
        let called = matches!(tokens.get(at + 1), Some((Token::Mark('('), _)));
        let defined = at > 0 && tokens[at - 1].0.is_word("fn");
        if path(at, "SystemTime", "now") {
            found.push((*line, "SystemTime::now"));
        } else if token.is_word("now_utc") {
            found.push((*line, "OffsetDateTime::now_utc"));
        } else if token.is_word("now_ms") && called && !defined {
            found.push((*line, "now_ms"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::code::{strip, tokens};
    use super::super::sources::fake::source;
    use super::{check, reads};

    #[test]
    fn reads_are_found_and_imports_are_not() {
        let code = "use clock::now_ms;\nfn a() { now_ms() }\nfn b() { SystemTime::now(); \"now_ms()\" }\n\
                    let c = map(OffsetDateTime::now_utc);\nfn now_ms() {}\nInstant::now()";
        let found = reads(&tokens(&strip(code)));
        assert_eq!(found, [(2, "now_ms"), (3, "SystemTime::now"), (4, "OffsetDateTime::now_utc")]);
    }

    #[test]
    fn the_system_clock_may_read_the_clock_and_other_code_may_not() {
        let read = "fn now() { SystemTime::now() }";
        assert_eq!(check(&[source("model", "clock.rs", read)]), []);
        assert_eq!(check(&[source("new-crate", "lib.rs", read)]).len(), 1);
    }
}
