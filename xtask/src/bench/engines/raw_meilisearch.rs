//! Meilisearch alone, with its defaults and its own ranking.

use super::contender::{Contender, Form};
use crate::bench::check_interrupt;
use crate::bench::client::Client;
use crate::bench::collection::Collection;
use crate::bench::load::Kind;
use crate::services::PrivateMeilisearch;
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const INDEX: &str = "/indexes/raw";
const SEARCH: Kind = Kind { path: "/indexes/raw/search", mark: b"\"id\":", may_be_refused: false };
/// Documents in one request.
const BATCH: usize = 10_000;
const POLL: Duration = Duration::from_millis(5);

struct RawMeilisearch(PrivateMeilisearch);

pub fn start(_: &Path) -> anyhow::Result<Box<dyn Contender>> {
    Ok(Box::new(RawMeilisearch(PrivateMeilisearch::start().context("raw-meilisearch")?)))
}

impl RawMeilisearch {
    /// Waits until the server has completed a task.
    fn wait(client: &Client, task: &Value) -> anyhow::Result<()> {
        let path = format!("/tasks/{}", task["taskUid"]);
        loop {
            check_interrupt()?;
            let state: Value = serde_json::from_slice(&client.get(&path)?)?;
            match state["status"].as_str() {
                Some("succeeded") => return Ok(()),
                Some("failed" | "canceled") => bail!("raw-meilisearch: {}", state["error"]),
                _ => std::thread::sleep(POLL),
            }
        }
    }
}

impl Contender for RawMeilisearch {
    fn name(&self) -> String {
        "raw Meilisearch".to_owned()
    }

    fn import(&mut self, collection: &Collection) -> anyhow::Result<Duration> {
        let client = self.client();
        let begun = Instant::now();
        let mut tasks = Vec::new();
        for batch in collection.documents.chunks(BATCH) {
            let documents: Vec<Value> = batch
                .iter()
                .map(|document| json!({"id": document.id, "title": document.title, "text": document.text}))
                .collect();
            tasks.push(client.call(&format!("{INDEX}/documents?primaryKey=id"), &Value::Array(documents))?);
        }
        tasks.iter().try_for_each(|task| Self::wait(&client, task))?;
        Ok(begun.elapsed())
    }

    fn client(&self) -> Client {
        Client::new(&self.0.url, self.0.key())
    }

    fn forms(&self) -> Vec<Form> {
        let plain = Form {
            suffix: "",
            kind: SEARCH,
            body: |query| json!({"q": query, "limit": 10}).to_string().into_bytes(),
            found: |answer| {
                let hits = answer["hits"].as_array().into_iter().flatten();
                hits.filter_map(|hit| hit["id"].as_str()).map(str::to_owned).collect()
            },
        };
        let cropped = Form {
            suffix: ", cropped text",
            body: |query| {
                let attributes = ["id", "title"];
                let request =
                    json!({"q": query, "limit": 10, "attributesToRetrieve": attributes, "attributesToCrop": ["text"]});
                request.to_string().into_bytes()
            },
            ..plain
        };
        vec![plain, cropped]
    }

    fn pids(&self) -> Vec<u32> {
        vec![self.0.pid()]
    }

    fn folders(&self) -> Vec<PathBuf> {
        vec![self.0.folder().to_path_buf()]
    }
}
