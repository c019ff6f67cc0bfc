//! Embeds texts from standard input with the model of a folder, for `cargo xtask bench semantic`.
//!
//! ```text
//! cargo run --release -p models-local --example embed_lines FOLDER
//! ```
//!
//! A line is a JSON array of texts; the answer is a line with an array of vectors.

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Duration;

use models::embedding::{Embedder, TextKind};
use models_local::{LocalEmbedder, LocalEmbedderOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: embed_lines FOLDER")?;
    let options = LocalEmbedderOptions {
        dimensions: 0,
        query_prefix: String::new(),
        document_prefix: String::new(),
        batch: 32,
        timeout: Duration::from_mins(1),
        threads: 0,
    };
    let embedder = LocalEmbedder::open(Path::new(&folder), options)?;
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let texts: Vec<String> = serde_json::from_str(&line?)?;
        // Documents have no timeout, and without prefixes both kinds of texts have the same vectors.
        let vectors = embedder.embed(TextKind::Document, &texts).await?;
        writeln!(output, "{}", serde_json::to_string(&vectors)?)?;
        output.flush()?;
    }
    Ok(())
}
