//! tantivy alone, behind the smallest possible HTTP server: an example of `engine-tantivy`.

use super::contender::{Contender, Form};
use crate::bench::client::Client;
use crate::bench::collection::Collection;
use crate::bench::load::Kind;
use crate::services::free_port;
use crate::services::process::{self, Process};
use crate::shell;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Documents in one request.
const BATCH: usize = 10_000;

struct RawTantivy {
    process: Process,
    base: String,
    folder: TempDir,
}

/// Builds and starts the server.
pub fn start(_: &Path) -> anyhow::Result<Box<dyn Contender>> {
    let mut build = shell::cargo();
    build.args(["build", "--release", "--package", "engine-tantivy", "--example", "raw_tantivy"]);
    shell::run(&mut build)?;
    let program = shell::target_folder()?.join("release/examples/raw_tantivy");
    let folder = tempfile::Builder::new().prefix("retrieval-tantivy-").tempdir()?;
    let port = free_port()?;
    let mut command = process::command(&program);
    command.arg(folder.path()).arg(port.to_string());
    let process = process::start(command, "raw_tantivy", port)?;
    Ok(Box::new(RawTantivy { process, base: format!("http://127.0.0.1:{port}"), folder }))
}

impl Contender for RawTantivy {
    fn name(&self) -> String {
        "raw tantivy".to_owned()
    }

    fn import(&mut self, collection: &Collection) -> anyhow::Result<Duration> {
        let client = self.client();
        let begun = Instant::now();
        for batch in collection.documents.chunks(BATCH) {
            let mut lines = String::new();
            for document in batch {
                let line = json!({"id": document.id, "title": document.title, "text": document.text});
                lines.push_str(&line.to_string());
                lines.push('\n');
            }
            client.post("/import", lines.as_bytes())?;
        }
        client.post("/commit", b"")?;
        Ok(begun.elapsed())
    }

    fn client(&self) -> Client {
        Client::new(&self.base, "")
    }

    fn forms(&self) -> Vec<Form> {
        vec![Form {
            suffix: "",
            kind: Kind { path: "/search", mark: b"\"id\":", may_be_refused: false },
            body: |query| query.as_bytes().to_vec(),
            // A stored field is a list of its values.
            found: |answer| {
                let hits = answer["hits"].as_array().into_iter().flatten();
                hits.filter_map(|hit| hit["id"][0].as_str()).map(str::to_owned).collect()
            },
        }]
    }

    fn pids(&self) -> Vec<u32> {
        vec![self.process.pid()]
    }

    fn folders(&self) -> Vec<PathBuf> {
        vec![self.folder.path().to_path_buf()]
    }
}
