//! The service, on its engines.

use super::contender::{Contender, Form};
use crate::bench::client::Client;
use crate::bench::collection::Collection;
use crate::bench::engine::Engine;
use crate::bench::installation::{Installation, Tenant};
use crate::bench::labelled;
use crate::bench::load;
use crate::bench::server::Server;
use crate::services::{Cluster, PrivateMeilisearch, PrivateQdrant, PrivateRedis};
use anyhow::{Context, bail};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Installation with its server. Fields are dropped in order: the server stops before the services that it uses.
struct Service {
    name: String,
    /// `None` before the import.
    server: Option<Server>,
    tenant: Tenant,
    installation: Installation,
    backends: Backends,
}

#[derive(Default)]
struct Backends {
    meilisearch: Option<PrivateMeilisearch>,
    qdrant: Option<PrivateQdrant>,
    postgres: Option<Cluster>,
    redis: Option<PrivateRedis>,
}

/// Starts the service with embedded components.
pub fn embedded(program: &Path) -> anyhow::Result<Box<dyn Contender>> {
    let installation = Installation::new(program)?;
    Ok(Box::new(Service {
        name: "embedded".to_owned(),
        server: None,
        tenant: installation.tenant()?,
        installation,
        backends: Backends::default(),
    }))
}

/// Starts the service on Meilisearch, PostgreSQL and Redis.
pub fn meilisearch(program: &Path) -> anyhow::Result<Box<dyn Contender>> {
    let meilisearch = PrivateMeilisearch::start().context("meilisearch")?;
    let engine = Engine::meilisearch(&meilisearch.url, meilisearch.key());
    on_services(program, "meilisearch", &engine, Backends { meilisearch: Some(meilisearch), ..Backends::default() })
}

/// Starts the service on Qdrant, PostgreSQL and Redis.
pub fn qdrant(program: &Path) -> anyhow::Result<Box<dyn Contender>> {
    let qdrant = PrivateQdrant::start().context("qdrant")?;
    let engine = Engine::Qdrant { url: qdrant.url.clone(), key: qdrant.key().to_owned() };
    on_services(program, "qdrant", &engine, Backends { qdrant: Some(qdrant), ..Backends::default() })
}

/// Starts the service on an external engine, PostgreSQL and Redis.
fn on_services(
    program: &Path,
    name: &str,
    engine: &Engine,
    mut backends: Backends,
) -> anyhow::Result<Box<dyn Contender>> {
    let postgres = Cluster::start().with_context(|| format!("{name}: PostgreSQL"))?;
    let redis = PrivateRedis::start().with_context(|| format!("{name}: Redis"))?;
    let installation = Installation::with(program, engine, None)?
        .with_setting("RETRIEVAL__DATABASE__URL", &postgres.url)
        .with_setting("RETRIEVAL__RATE_LIMIT__BACKEND", "redis")
        .with_setting("RETRIEVAL__RATE_LIMIT__URL", &redis.url);
    installation.migrate()?;
    (backends.postgres, backends.redis) = (Some(postgres), Some(redis));
    Ok(Box::new(Service {
        name: format!("{name}, PostgreSQL, Redis"),
        server: None,
        tenant: installation.tenant()?,
        installation,
        backends,
    }))
}

impl Contender for Service {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn import(&mut self, collection: &Collection) -> anyhow::Result<Duration> {
        let file = self.installation.folder().join("import.jsonl");
        collection.write_import(&file)?;
        let import = self.installation.import(&file)?;
        std::fs::remove_file(&file)?;
        if import.imported != collection.documents.len() as u64 {
            bail!("imported only {} of {} documents", import.imported, collection.documents.len());
        }
        self.server = Some(self.installation.serve()?);
        Ok(import.took)
    }

    fn client(&self) -> Client {
        self.installation.client(&self.tenant)
    }

    fn forms(&self) -> Vec<Form> {
        vec![Form {
            suffix: "",
            kind: load::SEARCH,
            body: |query| json!({"query": query}).to_string().into_bytes(),
            found: labelled::found,
        }]
    }

    fn pids(&self) -> Vec<u32> {
        let Backends { meilisearch, qdrant, postgres, redis } = &self.backends;
        let server = self.server.as_ref().map(Server::pid);
        let meilisearch = meilisearch.as_ref().map(PrivateMeilisearch::pid);
        let qdrant = qdrant.as_ref().map(PrivateQdrant::pid);
        let postgres = postgres.as_ref().map(Cluster::pid);
        let redis = redis.as_ref().map(PrivateRedis::pid);
        [server, meilisearch, qdrant, postgres, redis].into_iter().flatten().collect()
    }

    fn folders(&self) -> Vec<PathBuf> {
        let Backends { meilisearch, qdrant, postgres, redis } = &self.backends;
        let meilisearch = meilisearch.as_ref().map(PrivateMeilisearch::folder);
        let qdrant = qdrant.as_ref().map(PrivateQdrant::folder);
        let postgres = postgres.as_ref().map(Cluster::folder);
        let redis = redis.as_ref().map(PrivateRedis::folder);
        let backends = [meilisearch, qdrant, postgres, redis].into_iter().flatten().map(Path::to_path_buf);
        [self.installation.data()].into_iter().chain(backends).collect()
    }
}
