//! Files of an organization: uploads and indexing runs through the API.

use super::client::Client;
use super::installation::{Installation, Tenant};
use super::{check_interrupt, load, progress, spinner};
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Polling interval of an indexing run: the maximum error of its time.
const POLL: Duration = Duration::from_millis(10);

/// File to upload.
pub struct File {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// New organization.
pub struct Workspace<'a> {
    installation: &'a Installation,
    tenant: Tenant,
}

/// Result of an indexing run.
pub struct Run {
    pub took: Duration,
    pub stats: Value,
}

impl Run {
    pub fn count(&self, name: &str) -> u64 {
        self.stats[name].as_u64().unwrap_or(0)
    }
}

impl<'a> Workspace<'a> {
    /// Creates an organization.
    ///
    /// # Errors
    ///
    /// Returns an error if the organization cannot be created.
    pub fn new(installation: &'a Installation) -> anyhow::Result<Self> {
        Ok(Self { tenant: installation.tenant()?, installation })
    }

    /// Uses an existing organization.
    pub fn of(installation: &'a Installation, tenant: Tenant) -> Self {
        Self { installation, tenant }
    }

    pub fn client(&self) -> Client {
        self.installation.client(&self.tenant)
    }

    /// Uploads files with `clients` in parallel and returns the elapsed time.
    ///
    /// # Errors
    ///
    /// Returns an error if an upload is rejected or a signal interrupts it.
    pub fn upload(&self, files: &[File], clients: usize) -> anyhow::Result<Duration> {
        let bar = progress(files.len(), "uploading files");
        let next = AtomicUsize::new(0);
        let begun = Instant::now();
        let clients: Vec<Client> = (0..clients.max(1)).map(|_| self.client()).collect();
        let work = |client: &Client| -> anyhow::Result<()> {
            while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                check_interrupt()?;
                let asked = json!({"filename": file.name, "size": file.bytes.len()});
                let made = client.call("/v1/files/presign", &asked)?;
                client.put(made["url"].as_str().context("the presign response has no `url`")?, &file.bytes)?;
                bar.inc(1);
            }
            Ok(())
        };
        load::run_concurrently(&clients, work)?;
        let took = begun.elapsed();
        bar.finish_and_clear();
        Ok(took)
    }

    /// Starts a run, calls `watch` while it lasts, and returns its result.
    ///
    /// # Errors
    ///
    /// Returns an error if the run fails or a signal interrupts it.
    pub fn index(&self, mode: &str, mut watch: impl FnMut()) -> anyhow::Result<Run> {
        let client = self.client();
        let waiting = spinner("indexing files");
        let begun = Instant::now();
        let path = self.start_run(mode)?;
        let mut status = loop {
            check_interrupt()?;
            let status: Value = serde_json::from_slice(&client.get(&path)?)?;
            if ["completed", "failed"].iter().any(|end| status["state"] == *end) {
                break status;
            }
            watch();
            std::thread::sleep(POLL);
        };
        let took = begun.elapsed();
        waiting.finish_and_clear();
        if status["state"] != "completed" {
            bail!("the run failed: {status}");
        }
        Ok(Run { took, stats: status["stats"].take() })
    }

    /// Starts a run and returns the path of its state.
    ///
    /// # Errors
    ///
    /// Returns an error if the run is refused.
    pub fn start_run(&self, mode: &str) -> anyhow::Result<String> {
        let started = self.client().call("/v1/files/index", &json!({"mode": mode}))?;
        Ok(format!("/v1/files/index/{}", started["sync_id"].as_str().context("no `sync_id`")?))
    }

    /// Searches the indexed files.
    ///
    /// # Errors
    ///
    /// Returns an error if the search fails.
    pub fn search(&self, query: &str) -> anyhow::Result<Value> {
        let scope = json!({"indexes": ["workspace"], "workspace_id": self.tenant.organization});
        self.client().call("/v1/search", &json!({"query": query, "scope": scope}))
    }

    /// Checks that the indexed files can be found, since the figures are worthless otherwise.
    ///
    /// # Errors
    ///
    /// Returns an error if nothing is found.
    pub fn must_find(&self, query: &str) -> anyhow::Result<()> {
        let found = self.search(query)?;
        if found["results"].as_array().is_none_or(Vec::is_empty) {
            bail!("an indexed file is not found by its first sentence");
        }
        Ok(())
    }
}
