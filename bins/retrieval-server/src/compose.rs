//! The composition: settings to adapters. The only place that knows all of them.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use access_tokens::{AccessTokens, AccessTokensOptions, KeyTiming};
use anyhow::Context;
use app::authentication::TokenVerifier;
use app::search::SecondStage;
use blobs::BlobStore;
use blobs_s3::{S3Options, S3Store, S3Timeouts};
use docstore::{Docstore, Location};
use engine::SearchEngine;
use engine_meilisearch::{MeilisearchEngine, MeilisearchOptions};
use engine_tantivy::TantivyEngine;
use extract_worker::{Extractor, WorkerOptions, WorkerPool};
use fetcher::{Fetcher, FetcherOptions, Politeness, TimeLimits};
use ingest::{Feeder, Ownership, PageReader, PageReaderOptions, Runner, RunnerOptions};
use model::SystemClock;
use models_http::{HttpReranker, HttpRerankerOptions};
use rate_limit::{MemoryLimiter, RateLimiter};
use rate_limit_redis::{OnFailure, RedisLimiter, RedisLimiterOptions};
use s3_server::{Durability, S3Server, S3ServerOptions};
use settings::{IndexBackend, RateLimitBackend, RerankBackend, Settings, StorageBackend};
use tokio::net::TcpListener;

use crate::storage_keys;
use crate::tokens::IssuerTokens;

/// Connections for reading. SQLite reads are short, and more of them than cores only wait for one another.
const CONNECTIONS: usize = 8;
const RUN_LEASE: Duration = Duration::from_secs(15);
const RUN_PATIENCE: Duration = Duration::from_secs(10 * 60);

/// Opens the database. An embedded one is brought up to date; a server's must have been (`migrate`).
pub async fn docstore(settings: &Settings) -> anyhow::Result<Docstore> {
    let location = location(settings)?;
    let store = Docstore::open(&location, CONNECTIONS)?;
    match location {
        Location::Sqlite(_) => {
            data_dir(settings)?;
            store.migrate().await?;
        }
        Location::Postgres(_) => store.check_migrated().await?,
    }
    Ok(store)
}

/// Where the settings say that the database is.
pub fn location(settings: &Settings) -> anyhow::Result<Location> {
    Ok(Location::parse(settings.database.url.expose(), &settings.data_dir)?)
}

/// Makes the data folder, for its owner alone.
pub fn data_dir(settings: &Settings) -> anyhow::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let path = &settings.data_dir;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("making the data folder `{}`", path.display()))
}

/// A search engine with the feeder that fills it.
pub struct Index {
    pub engine: Arc<dyn SearchEngine>,
    pub feeder: Arc<Feeder>,
    pub ownership: Ownership,
}

/// What became of opening the index.
pub enum OpenedIndex {
    Open(Index),
    /// The deployment has no search.
    Disabled,
    /// A running server owns the embedded index.
    OwnedElsewhere,
}

pub async fn index(settings: &Settings, store: &Docstore) -> anyhow::Result<OpenedIndex> {
    match settings.index.backend {
        IndexBackend::Embedded => {
            data_dir(settings)?;
            let folder = settings.data_dir.join("index");
            let opened = tokio::task::spawn_blocking(move || TantivyEngine::try_open(&folder, Default::default()));
            let Some(engine) = opened.await?? else { return Ok(OpenedIndex::OwnedElsewhere) };
            Ok(OpenedIndex::Open(with_feeder(Arc::new(engine), store, Ownership::Exclusive)))
        }
        IndexBackend::Meilisearch => {
            let options = MeilisearchOptions {
                url: settings.index.url.clone(),
                api_key: Some(settings.index.api_key.expose().to_owned()).filter(|key| !key.is_empty()),
                prefix: settings.index.prefix.clone(),
            };
            let engine = MeilisearchEngine::new(options).context("index.api_key")?;
            Ok(OpenedIndex::Open(with_feeder(Arc::new(engine), store, Ownership::Leased)))
        }
        IndexBackend::None => Ok(OpenedIndex::Disabled),
    }
}

fn with_feeder(engine: Arc<dyn SearchEngine>, store: &Docstore, ownership: Ownership) -> Index {
    let feeder = Arc::new(Feeder::new(store.clone(), Arc::clone(&engine), ownership, Arc::new(SystemClock)));
    Index { engine, feeder, ownership }
}

/// The embedded store's listener, bound but not yet serving.
pub struct EmbeddedStorage {
    pub server: S3Server,
    pub listener: TcpListener,
}

/// The client of the blob store, and the embedded server where there is one.
pub async fn storage(settings: &Settings) -> anyhow::Result<(Arc<dyn BlobStore>, Option<EmbeddedStorage>)> {
    let storage = &settings.storage;
    let public_endpoint = Some(storage.public_endpoint.clone()).filter(|endpoint| !endpoint.is_empty());
    let mut options = S3Options {
        endpoint: Some(storage.endpoint.clone()).filter(|endpoint| !endpoint.is_empty()),
        public_endpoint,
        region: storage.region.clone(),
        bucket: storage.bucket.clone(),
        access_key_id: storage.access_key_id.expose().to_owned(),
        secret_access_key: storage.secret_access_key.expose().to_owned(),
        session_token: None,
        path_style: storage.path_style,
        timeouts: S3Timeouts::default(),
    };
    if storage.backend == StorageBackend::S3 {
        return Ok((Arc::new(S3Store::new(options)?), None));
    }
    data_dir(settings)?;
    if options.access_key_id.is_empty() || options.secret_access_key.is_empty() {
        let keys = storage_keys::read_or_create(&settings.data_dir)?;
        options.access_key_id = keys.access_key_id;
        options.secret_access_key = keys.secret_access_key;
    }
    let server_options = S3ServerOptions {
        root: settings.data_dir.join("objects"),
        bucket: storage.bucket.clone(),
        access_key_id: options.access_key_id.clone(),
        secret_access_key: options.secret_access_key.clone(),
        max_object_bytes: settings.files.max_object_bytes,
        durability: Durability::default(),
    };
    let server = tokio::task::spawn_blocking(move || S3Server::open(server_options)).await??;
    let listener = TcpListener::bind(&storage.bind)
        .await
        .with_context(|| format!("storage.bind: listening on `{}`", storage.bind))?;
    // The listener's own address: the port is chosen by the system when the settings say 0.
    options.endpoint = Some(format!("http://{}", reachable(listener.local_addr()?)));
    options.path_style = true;
    Ok((Arc::new(S3Store::new(options)?), Some(EmbeddedStorage { server, listener })))
}

/// How this process reaches a listener of its own: one on all addresses is reached on loopback.
fn reachable(mut address: std::net::SocketAddr) -> std::net::SocketAddr {
    if address.ip().is_unspecified() {
        match address {
            std::net::SocketAddr::V4(_) => address.set_ip(std::net::Ipv4Addr::LOCALHOST.into()),
            std::net::SocketAddr::V6(_) => address.set_ip(std::net::Ipv6Addr::LOCALHOST.into()),
        }
    }
    address
}

pub fn limiter(settings: &Settings) -> anyhow::Result<Arc<dyn RateLimiter>> {
    let limit = &settings.rate_limit;
    match limit.backend {
        RateLimitBackend::Memory => Ok(Arc::new(MemoryLimiter::new())),
        RateLimitBackend::Redis => {
            let options = RedisLimiterOptions {
                url: limit.url.expose().to_owned(),
                prefix: "retrieval:rate_limit:".to_owned(),
                on_failure: match limit.on_failure {
                    settings::OnFailure::Open => OnFailure::Open,
                    settings::OnFailure::Closed => OnFailure::Closed,
                },
            };
            Ok(Arc::new(RedisLimiter::new(options).context("rate_limit.url")?))
        }
    }
}

/// How far the issuer's clock may be off ours.
const TOKEN_LEEWAY: Duration = Duration::from_secs(60);
/// Of one attempt to get the issuer's keys: a caller with a token waits no longer than two seconds for an answer.
const TOKEN_KEYS_TIMEOUT: Duration = Duration::from_millis(1_500);

/// Who verifies access tokens; `None` when OAuth is off.
pub fn tokens(settings: &Settings) -> anyhow::Result<Option<Arc<dyn TokenVerifier>>> {
    let oauth = &settings.auth.oauth;
    if oauth.issuer.is_empty() {
        return Ok(None);
    }
    let tokens = AccessTokens::new(AccessTokensOptions {
        issuer: oauth.issuer.clone(),
        audience: oauth.audience.clone(),
        jwks_url: oauth.jwks_url.clone(),
        leeway: TOKEN_LEEWAY,
        timing: KeyTiming { timeout: TOKEN_KEYS_TIMEOUT, ..KeyTiming::default() },
    })
    .context("auth.oauth.jwks_url")?;
    Ok(Some(Arc::new(IssuerTokens {
        tokens,
        clock: Arc::new(SystemClock),
        issuer: oauth.issuer.clone(),
        organization_claim: oauth.organization_claim.clone(),
    })))
}

/// Who orders search results.
pub fn second_stage(settings: &Settings) -> anyhow::Result<SecondStage> {
    let rerank = &settings.rerank;
    match rerank.backend {
        RerankBackend::Lexical => Ok(SecondStage::Lexical),
        RerankBackend::None => Ok(SecondStage::None),
        RerankBackend::Http => {
            let options = HttpRerankerOptions {
                url: rerank.url.clone(),
                model: rerank.model.clone(),
                api_key: Some(rerank.api_key.expose().to_owned()).filter(|key| !key.is_empty()),
                timeout: Duration::from_millis(rerank.timeout_ms),
            };
            Ok(SecondStage::Model(Arc::new(HttpReranker::new(options).context("rerank.url or rerank.api_key")?)))
        }
    }
}

/// Worker processes of this very program.
pub fn extractor() -> anyhow::Result<Arc<WorkerPool>> {
    let program = std::env::current_exe().context("finding this program's own file")?;
    Ok(Arc::new(WorkerPool::new(WorkerOptions::new(program, vec![OsString::from("extract-worker")]))))
}

/// Pages that are fetched and read at a time: each may take `fetch.max_bytes` of memory.
const PAGES_AT_A_TIME: usize = 32;
/// Longer than any page takes that people read; the workers' own limits are made for files.
const PAGE_EXTRACT_TIMEOUT: Duration = Duration::from_secs(15);

/// Reads pages of the web on demand.
pub fn pages(settings: &Settings, store: &Docstore, extractor: &Arc<WorkerPool>) -> anyhow::Result<Arc<PageReader>> {
    let fetch = &settings.fetch;
    let whole = Duration::from_millis(fetch.timeout_ms);
    let contact = Some(fetch.contact.as_str()).filter(|contact| !contact.is_empty());
    let defaults = FetcherOptions::new("retrieval", env!("CARGO_PKG_VERSION"), contact);
    let fetcher = Fetcher::new(FetcherOptions {
        respect_robots: fetch.respect_robots,
        allow_networks: fetch.allow_networks.clone(),
        allow_ports: fetch.allow_ports.clone(),
        time_limits: TimeLimits { connect: TimeLimits::default().connect.min(whole), first_byte: whole, total: whole },
        max_bytes: usize::try_from(fetch.max_bytes).unwrap_or(usize::MAX),
        max_concurrent: PAGES_AT_A_TIME,
        // What one person's browser does: these are pages that somebody asked for, not a crawl.
        politeness: Politeness { concurrent: 6, delay: Duration::ZERO, ..Politeness::default() },
        ..defaults
    })
    .context("fetch")?;
    let options = PageReaderOptions {
        clock: Arc::new(SystemClock),
        concurrent: PAGES_AT_A_TIME,
        extract_timeout: PAGE_EXTRACT_TIMEOUT,
        failure_ttl: Duration::from_secs(settings.captures.failure_ttl_seconds),
    };
    let extractor: Arc<dyn Extractor> = Arc::clone(extractor) as Arc<dyn Extractor>;
    Ok(Arc::new(PageReader::new(store.clone(), fetcher, extractor, options)))
}

pub fn runner(
    settings: &Settings,
    store: &Docstore,
    blobs: &Arc<dyn BlobStore>,
    extractor: &Arc<WorkerPool>,
    feeder: &Arc<Feeder>,
) -> anyhow::Result<Arc<Runner>> {
    let temp_dir = settings.data_dir.join("tmp");
    // What a killed process left behind.
    let _ = std::fs::remove_dir_all(&temp_dir);
    std::fs::create_dir_all(&temp_dir).with_context(|| format!("making `{}`", temp_dir.display()))?;
    let options = RunnerOptions {
        clock: Arc::new(SystemClock),
        parallel_files: std::thread::available_parallelism().map_or(2, usize::from) * 2,
        parallel_runs: 2,
        max_object_bytes: settings.files.max_object_bytes,
        temp_dir,
        lease: RUN_LEASE,
        retry_timeout: RUN_PATIENCE,
    };
    let extractor: Arc<dyn Extractor> = Arc::clone(extractor) as Arc<dyn Extractor>;
    Ok(Arc::new(Runner::new(store.clone(), Arc::clone(blobs), extractor, Arc::clone(feeder), options)))
}
