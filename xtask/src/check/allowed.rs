//! Places that do not keep a rule yet: numbers per crate for the rules of [`ratchet`](super::ratchet), and two lists.
//!
//! A number may only fall. Once a table is empty its rule holds everywhere.

use super::ratchet::Allowed;

/// Doc comments and headings that open with a question word.
pub const OPENINGS: Allowed = &[
    ("access-tokens", 23),
    ("api-types", 62),
    ("app", 52),
    ("blobs", 8),
    ("blobs-s3", 15),
    ("docs", 4),
    ("extract", 75),
    ("extract-worker", 75),
    ("fetcher", 48),
    ("http-actix", 28),
    ("ingest", 28),
    ("mcp", 17),
    ("model", 1),
    ("models", 3),
    ("models-http", 3),
    ("openapi", 8),
    ("rate-limit", 5),
    ("rate-limit-redis", 10),
    ("rerank", 3),
    ("rerank-http", 3),
    ("retrieval", 23),
    ("retrieval-client", 17),
    ("retrieval-core", 76),
    ("retrieval-server", 46),
    ("s3-server", 20),
    ("settings", 4),
    ("skills", 2),
    ("warc", 15),
];

/// Reads of the system's clock outside `clocks::READERS`.
pub const CLOCKS: Allowed =
    &[("app", 23), ("http-actix", 1), ("ingest", 14), ("retrieval-client", 1), ("retrieval-server", 1)];

/// Public functions and fields with bare ids or times.
pub const SIGNATURES: Allowed = &[("app", 36), ("ingest", 11)];

/// Packages whose folder has another name.
pub const FOLDERS: &[&str] = &["retrieval-client"];

/// Groups of modules that use each other in circles, by crate.
pub const CYCLES: &[(&str, &[&str])] = &[
    ("extract", &["html::hidden", "html::style_rules"]),
    ("extract", &["html::render", "html::table"]),
    ("extract", &["pdf::bidi", "pdf::piece"]),
    ("extract", &["pdf::layout", "pdf::table"]),
    (
        "http-actix",
        &["call", "door", "endpoint", "handlers::skills", "handlers::unmatched", "reply", "state", "usage_record"],
    ),
    ("ingest", &["feeder", "rebuild"]),
    ("mcp", &["calls", "connector", "tools"]),
    ("retrieval-client", &["builder", "client"]),
    ("retrieval-core", &["analysis::query", "analysis::stop_words"]),
    ("s3-server", &["content", "operations"]),
    ("warc", &["coding", "http"]),
];
