use std::time::Duration;

/// Limits of a `LocalEmbedder`, and the texts that its model expects.
#[derive(Clone, Debug)]
pub struct LocalEmbedderOptions {
    /// Number of first components that are kept; 0 for all.
    pub dimensions: usize,
    pub query_prefix: String,
    pub document_prefix: String,
    /// Maximum number of texts per computation.
    pub batch: usize,
    /// Timeout of one call for queries.
    pub timeout: Duration,
    /// Number of threads; 0 for one per core, at most 8. At least two are used: one is always free for queries.
    pub threads: usize,
}
