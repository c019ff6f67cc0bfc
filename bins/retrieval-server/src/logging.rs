//! The log: standard error, for people on a terminal and as JSON for programs.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// `RUST_LOG` chooses what is logged; without it, `level` of ours and warnings of the libraries.
pub fn start(level: &str) {
    let default = format!("warn,retrieval_server={level},app={level},http_actix={level},ingest={level},docstore={level},engine_tantivy={level},s3_server={level},blobs_s3={level},extract={level}");
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if std::io::stderr().is_terminal() {
        builder.with_target(false).init();
    } else {
        builder.json().flatten_event(true).with_ansi(false).init();
    }
}
