//! Installation with a heavy organization and a bystander.

use super::probe::{CONNECTIONS, Probe};
use crate::bench::client::Client;
use crate::bench::installation::{Installation, Tenant};
use crate::bench::site::Site;
use crate::bench::swarm::{Load, Refusal};
use crate::bench::wire;
use anyhow::ensure;
use serde_json::{Value, json};
use std::time::Duration;

/// Interval of a bystander's searches and page reads. Its own load must be small.
const SEARCH_INTERVAL: Duration = Duration::from_millis(50);
const READ_INTERVAL: Duration = Duration::from_millis(250);
/// Timeout of clients that keep waiting.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Setup {
    pub installation: Installation,
    pub heavy: Tenant,
    pub bystander: Tenant,
    /// Queries that find web documents.
    pub queries: Vec<String>,
}

impl Setup {
    /// Returns the request of an operation as bytes for a load.
    pub fn request(&self, tenant: &Tenant, path: &str, body: &Value) -> Vec<u8> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        wire::request(&self.installation.api().to_string(), path, &tenant.key, body.as_bytes())
    }

    /// Returns a web search per query.
    pub fn searches(&self, tenant: &Tenant) -> Vec<Vec<u8>> {
        self.queries.iter().map(|query| self.request(tenant, "/v1/search", &json!({"query": query}))).collect()
    }

    /// Returns a load of patient clients, which wait when they are refused.
    pub fn patient<'a>(&self, requests: &'a [Vec<u8>], clients: usize, time: Duration) -> Load<'a> {
        let address = self.installation.api();
        Load { address, requests, clients, timeout: PATIENCE, time, refusal: Refusal::Obey }
    }

    /// Returns clients of the bystander for a probe.
    pub fn clients(&self) -> Vec<Client> {
        (0..CONNECTIONS).map(|_| self.installation.client(&self.bystander)).collect()
    }

    /// Returns web searches of the bystander.
    pub fn search_probe(&self) -> Probe<'_> {
        Probe::new("search", SEARCH_INTERVAL, self.clients(), move |client, number| {
            let query = &self.queries[number % self.queries.len()];
            client.call("/v1/search", &json!({"query": query})).map(drop)
        })
    }

    /// Returns reads of the bystander, each of a page that was never read before.
    pub fn page_probe<'a>(&'a self, site: &'a Site) -> Probe<'a> {
        Probe::new("page", READ_INTERVAL, self.clients(), move |client, number| {
            let answer = client.call("/v1/document", &json!({"canonical_url": site.url(number)}))?;
            ensure!(answer["content"].is_object(), "a page has no content: {}", answer["warnings"]);
            Ok(())
        })
    }
}
