//! Places that do not keep a rule yet: numbers per crate for the rules of [`ratchet`](super::ratchet), and two lists.
//!
//! A number may only fall. Once a table is empty its rule holds everywhere.

use super::ratchet::Allowed;

/// Doc comments and headings that open with a question word.
pub const OPENINGS: Allowed = &[
    ("api-types", 62),
    ("blobs", 8),
    ("blobs-s3", 15),
    ("docs", 4),
    ("docstore", 49),
    ("engine", 15),
    ("engine-meilisearch", 12),
    ("engine-tantivy", 11),
    ("extract", 75),
    ("fetcher", 48),
    ("http-actix", 28),
    ("mcp", 17),
    ("openapi", 8),
    ("rate-limit", 5),
    ("rate-limit-redis", 10),
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
pub const CLOCKS: Allowed = &[("http-actix", 1), ("retrieval-client", 1), ("retrieval-server", 1)];

/// Public functions and fields with bare ids or times.
pub const SIGNATURES: Allowed = &[("docstore", 117), ("engine", 6)];

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
    ("mcp", &["calls", "connector", "tools"]),
    ("retrieval-client", &["builder", "client"]),
    ("retrieval-core", &["analysis::query", "analysis::stop_words"]),
    ("s3-server", &["content", "operations"]),
    ("warc", &["coding", "http"]),
];
