//! Composition root: builds adapters from settings. Only this module knows all of them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use access_tokens::{AccessTokens, AccessTokensOptions, KeyTiming};
use admission::Compute;
use anyhow::Context;
use app::App;
use app::authentication::TokenVerifier;
use app::disk::FreeSpace;
use app::search::SecondStage;
use app::search::providers::{ProviderSetup, WebSources};
use blobs::BlobStore;
use blobs_s3::{S3Options, S3Store, S3Timeouts};
use connections::{Connections, Limits};
use docstore::{Docstore, Location};
use engine::SearchEngine;
use engine_meilisearch::{MeilisearchEngine, MeilisearchOptions};
use engine_qdrant::{QdrantEngine, QdrantOptions};
use engine_tantivy::TantivyEngine;
use extract_worker::{Extractor, WorkerPool};
use fetcher::{Fetcher, FetcherOptions, Politeness, TimeLimits};
use ingest::pages::IsFull;
use ingest::{Feeder, Ownership, PageReader, PageReaderOptions, RunnerOptions, Scripted};
use model::{MonotonicClock, SystemClock};
use models::generation::Generator;
use models_http::{HttpGenerator, HttpGeneratorOptions, HttpReranker, HttpRerankerOptions};
use rate_limit::{MemoryLimiter, RateLimiter};
use rate_limit_redis::{OnFailure, RedisLimiter, RedisLimiterOptions};
use research::Research;
use s3_server::{Durability, S3Server, S3ServerOptions};
use settings::{GenerateBackend, IndexBackend, RateLimitBackend, RerankBackend, Secret, Settings, StorageBackend};
use tokio::net::TcpListener;
use web_providers::WebProvider;
use web_providers_http::{Brave, BraveOptions, Mapped, MappedOptions, Mapping, QueryPlace, Searxng, SearxngOptions};
use webhooks::{Sender, SenderOptions, Worker, WorkerOptions};

use crate::database_use::{self, DatabaseUse};
use crate::tokens::IssuerTokens;
use crate::{descriptors, disk, folder_permissions, storage_keys};

/// Read connections. SQLite reads are short, and more of them than cores only wait for each other.
const CONNECTIONS: usize = 8;
/// Lease of an indexing run. After a crash another worker takes over within this time.
const RUN_LEASE: Duration = Duration::from_secs(15);
/// Maximum time for which a run retries while the database, storage or index is unavailable.
const RUN_PATIENCE: Duration = Duration::from_secs(10 * 60);

/// Opens the database for a command. SQLite is migrated automatically; PostgreSQL must have been migrated with `migrate`.
pub async fn docstore(settings: &Settings) -> anyhow::Result<Docstore> {
    Ok(server_docstore(settings).await?.0)
}

/// Opens the database for a server, which keeps the lock of a SQLite database while it runs.
pub async fn server_docstore(settings: &Settings) -> anyhow::Result<(Docstore, Option<DatabaseUse>)> {
    let location = location(settings)?;
    let store = Docstore::open(&location, CONNECTIONS)?;
    match location {
        Location::Sqlite(path) => {
            data_dir(settings)?;
            let (lock, _) = database_use::migrate(&store, &path).await?;
            Ok((store, Some(lock)))
        }
        Location::Postgres(_) => {
            store.check_migrated().await?;
            store.follow_server_clock().await?;
            Ok((store, None))
        }
    }
}

/// Returns the configured location of the database.
pub fn location(settings: &Settings) -> anyhow::Result<Location> {
    Ok(Location::parse(settings.database.url.expose(), &settings.data_dir)?)
}

/// Creates the data folder, or closes it to other users.
pub fn data_dir(settings: &Settings) -> anyhow::Result<()> {
    let database = match location(settings)? {
        Location::Sqlite(path) => Some(path),
        Location::Postgres(_) => None,
    };
    folder_permissions::prepare(&settings.data_dir, database.as_deref())
}

/// Returns the folder of the embedded index.
pub fn index_dir(settings: &Settings) -> PathBuf {
    settings.data_dir.join(folder_permissions::INDEX)
}

/// Returns the folder of the embedded object store.
pub fn objects_dir(settings: &Settings) -> PathBuf {
    settings.data_dir.join(folder_permissions::OBJECTS)
}

/// A search engine with its feeder.
pub struct Index {
    pub engine: Arc<dyn SearchEngine>,
    pub feeder: Arc<Feeder>,
    pub ownership: Ownership,
}

/// Outcome of opening the index.
pub enum OpenedIndex {
    Open(Index),
    /// Search is disabled in the settings.
    Disabled,
    /// A running server owns the embedded index.
    OwnedElsewhere,
}

pub async fn index(settings: &Settings, store: &Docstore) -> anyhow::Result<OpenedIndex> {
    match settings.index.backend {
        IndexBackend::Embedded => {
            data_dir(settings)?;
            let folder = index_dir(settings);
            let opened = tokio::task::spawn_blocking(move || TantivyEngine::try_open(&folder, Default::default()));
            let Some(engine) = opened.await?? else { return Ok(OpenedIndex::OwnedElsewhere) };
            Ok(OpenedIndex::Open(with_feeder(Arc::new(engine), store, Ownership::Exclusive)))
        }
        IndexBackend::Meilisearch => {
            Ok(OpenedIndex::Open(with_feeder(Arc::new(meilisearch(settings)?), store, Ownership::Leased)))
        }
        IndexBackend::Qdrant => {
            Ok(OpenedIndex::Open(with_feeder(Arc::new(qdrant(settings)?), store, Ownership::Leased)))
        }
        IndexBackend::None => Ok(OpenedIndex::Disabled),
    }
}

/// Returns the client of the configured Qdrant.
pub fn qdrant(settings: &Settings) -> anyhow::Result<QdrantEngine> {
    let index = &settings.index;
    let options = QdrantOptions {
        url: index.url.clone(),
        api_key: Some(index.api_key.expose().to_owned()).filter(|key| !key.is_empty()),
        prefix: index.prefix.clone(),
        shards: index.shards,
        replicas: index.replicas,
    };
    QdrantEngine::new(options).context("index.url or index.api_key")
}

/// Returns the client of the configured Meilisearch.
pub fn meilisearch(settings: &Settings) -> anyhow::Result<MeilisearchEngine> {
    let options = MeilisearchOptions {
        url: settings.index.url.clone(),
        api_key: Some(settings.index.api_key.expose().to_owned()).filter(|key| !key.is_empty()),
        prefix: settings.index.prefix.clone(),
    };
    MeilisearchEngine::new(options).context("index.api_key")
}

fn with_feeder(engine: Arc<dyn SearchEngine>, store: &Docstore, ownership: Ownership) -> Index {
    let feeder = Arc::new(Feeder::new(store.clone(), Arc::clone(&engine), ownership, store.clock()));
    Index { engine, feeder, ownership }
}

/// The embedded store's listeners, bound but not yet serving.
pub struct EmbeddedStorage {
    pub server: S3Server,
    /// For clients.
    pub public: TcpListener,
    /// For this process, which uploads of clients must not keep out.
    pub internal: TcpListener,
}

/// Returns the connections of this process to its embedded store.
pub fn internal_connections() -> Connections {
    let limits = Limits { connections: descriptors::INTERNAL_STORAGE_CONNECTIONS, per_address: 0, trusted: vec![] };
    Connections::new("storage_internal", limits)
}

/// Returns the client of an external object store.
pub fn external_storage(settings: &Settings) -> anyhow::Result<S3Store> {
    Ok(S3Store::new(s3_options(settings))?)
}

fn s3_options(settings: &Settings) -> S3Options {
    let storage = &settings.storage;
    let public_endpoint = Some(storage.public_endpoint.clone()).filter(|endpoint| !endpoint.is_empty());
    S3Options {
        endpoint: Some(storage.endpoint.clone()).filter(|endpoint| !endpoint.is_empty()),
        public_endpoint,
        region: storage.region.clone(),
        bucket: storage.bucket.clone(),
        access_key_id: storage.access_key_id.expose().to_owned(),
        secret_access_key: storage.secret_access_key.expose().to_owned(),
        session_token: None,
        path_style: storage.path_style,
        max_requests: None,
        timeouts: S3Timeouts::default(),
    }
}

/// Returns the guard of uploads, imports and pages that are read.
pub fn free_space(settings: &Settings) -> Arc<FreeSpace> {
    Arc::new(FreeSpace::new(disk::checker(settings)))
}

/// Returns the guard as a function.
pub fn is_full(free_space: &Arc<FreeSpace>) -> IsFull {
    let free_space = Arc::clone(free_space);
    Arc::new(move || free_space.is_low())
}

/// Returns the client of the object store and, with embedded storage, its server, which refuses uploads without free space.
pub async fn storage(
    settings: &Settings,
    free_space: &Arc<FreeSpace>,
) -> anyhow::Result<(Arc<dyn BlobStore>, Option<EmbeddedStorage>)> {
    let Some((mut options, server, internal)) = embedded_store(settings, free_space).await? else {
        return Ok((Arc::new(external_storage(settings)?), None));
    };
    let bind = &settings.storage.bind;
    let public = TcpListener::bind(bind).await.with_context(|| format!("storage.bind: listening on `{bind}`"))?;
    // The listener's address, not the setting's: with port 0 the system chooses the port.
    let endpoint = format!("{}://{}", settings.scheme(), reachable(public.local_addr()?));
    options.public_endpoint.get_or_insert(endpoint);
    Ok((Arc::new(S3Store::new(options)?), Some(EmbeddedStorage { server, public, internal })))
}

/// Opens the object store of a command, without a listener for clients.
pub async fn private_storage(
    settings: &Settings,
    free_space: &Arc<FreeSpace>,
) -> anyhow::Result<(Arc<dyn BlobStore>, Option<(S3Server, TcpListener)>)> {
    let Some((options, server, internal)) = embedded_store(settings, free_space).await? else {
        return Ok((Arc::new(external_storage(settings)?), None));
    };
    Ok((Arc::new(S3Store::new(options)?), Some((server, internal))))
}

/// Opens the embedded store with a listener for this process, and returns the options of its client. `None` with an external store.
async fn embedded_store(
    settings: &Settings,
    free_space: &Arc<FreeSpace>,
) -> anyhow::Result<Option<(S3Options, S3Server, TcpListener)>> {
    let storage = &settings.storage;
    if storage.backend == StorageBackend::S3 {
        return Ok(None);
    }
    let mut options = s3_options(settings);
    data_dir(settings)?;
    if options.access_key_id.is_empty() || options.secret_access_key.is_empty() {
        let keys = storage_keys::read_or_create(&settings.data_dir)?;
        options.access_key_id = keys.access_key_id;
        options.secret_access_key = keys.secret_access_key;
    }
    let server_options = S3ServerOptions {
        root: objects_dir(settings),
        bucket: storage.bucket.clone(),
        access_key_id: options.access_key_id.clone(),
        secret_access_key: options.secret_access_key.clone(),
        max_object_bytes: settings.files.max_object_bytes,
        durability: Durability::Power,
        paces: s3_server::Paces::default(),
        is_full: is_full(free_space),
    };
    let server = tokio::task::spawn_blocking(move || S3Server::open(server_options)).await??;
    let internal = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await.context("listening on loopback")?;
    options.endpoint = Some(format!("http://{}", internal.local_addr()?));
    options.path_style = true;
    options.max_requests = Some(descriptors::INTERNAL_STORAGE_REQUESTS);
    Ok(Some((options, server, internal)))
}

/// Returns the address at which this process reaches its own listener: loopback for an unspecified address.
fn reachable(mut address: std::net::SocketAddr) -> std::net::SocketAddr {
    if address.ip().is_unspecified() {
        match address {
            std::net::SocketAddr::V4(_) => address.set_ip(std::net::Ipv4Addr::LOCALHOST.into()),
            std::net::SocketAddr::V6(_) => address.set_ip(std::net::Ipv6Addr::LOCALHOST.into()),
        }
    }
    address
}

/// Returns the limits of a listener for clients.
pub fn connection_limits(settings: &Settings, connections: usize) -> Limits {
    Limits {
        connections,
        per_address: usize::try_from(settings.server.max_connections_per_address).unwrap_or(usize::MAX),
        trusted: settings.server.trusted_networks.clone(),
    }
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

/// Accepted clock skew between the issuer and this server.
const TOKEN_LEEWAY: Duration = Duration::from_secs(60);
/// Timeout of one fetch of the issuer's keys. Callers with a token get a response within two seconds.
const TOKEN_KEYS_TIMEOUT: Duration = Duration::from_millis(1_500);

/// Returns the verifier of access tokens; `None` without OAuth settings.
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

/// Returns the second stage of ranking.
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

/// Delay before the first retry of a call of the model.
const GENERATE_RETRY_DELAY: Duration = Duration::from_millis(500);

/// Returns the model that writes research reports; `None` if none is configured.
pub fn generator(settings: &Settings) -> anyhow::Result<Option<Arc<dyn Generator>>> {
    let generate = &settings.generate;
    match generate.backend {
        GenerateBackend::None => Ok(None),
        GenerateBackend::Http => {
            let options = HttpGeneratorOptions {
                url: generate.url.clone(),
                model: generate.model.clone(),
                api_key: Some(generate.api_key.expose().to_owned()).filter(|key| !key.is_empty()),
                timeout: Duration::from_millis(generate.timeout_ms),
                max_tokens: generate.max_tokens,
                retry_delay: GENERATE_RETRY_DELAY,
            };
            let generator = HttpGenerator::new(options).context("generate.url or generate.api_key")?;
            Ok(Some(Arc::new(generator)))
        }
    }
}

/// Research runs in progress. They wait for searches, pages and the model most of the time.
const RESEARCH_AT_A_TIME: usize = 64;
/// Lease of a research run.
const RESEARCH_LEASE: Duration = Duration::from_secs(15);

/// Returns a setting in days as a time.
pub fn days(count: u32) -> Duration {
    Duration::from_secs(u64::from(count) * 24 * 60 * 60)
}

pub fn research(
    settings: &Settings,
    app: &Arc<App>,
    store: &Docstore,
    webhooks: &Arc<Sender>,
) -> anyhow::Result<Arc<Research>> {
    let options = research::Options {
        runs_per_organization: settings.research.runs_per_organization,
        parallel_runs: RESEARCH_AT_A_TIME,
        retention: days(settings.research.retention_days),
        evidence: days(settings.captures.evidence_days),
        lease: RESEARCH_LEASE,
        ..research::Options::default()
    };
    Ok(Arc::new(Research::new(research::Parts {
        app: Arc::clone(app),
        store: store.clone(),
        clock: store.clock(),
        timer: Arc::new(MonotonicClock::default()),
        generator: generator(settings)?,
        webhooks: Arc::clone(webhooks),
        options,
    })))
}

/// Returns the sources of web results.
pub fn web_sources(settings: &Settings) -> anyhow::Result<WebSources> {
    let web = &settings.web;
    let timeout = Duration::from_millis(web.timeout_ms);
    let mut providers = Vec::new();
    for provider in &web.providers {
        let (provider, limit_rps): (Arc<dyn WebProvider>, u32) = match provider {
            settings::WebProvider::Index => continue,
            settings::WebProvider::Searxng => {
                let options = SearxngOptions { url: web.searxng.url.clone(), timeout };
                (Arc::new(Searxng::new(&options).context("web.searxng.url")?), web.searxng.limit_rps)
            }
            settings::WebProvider::Brave => {
                let (url, api_key) = (web.brave.url.clone(), web.brave.api_key.expose().to_owned());
                let options = BraveOptions { url, api_key, timeout };
                (Arc::new(Brave::new(&options).context("web.brave")?), web.brave.limit_rps)
            }
            settings::WebProvider::Http => {
                let options = mapped_options(&web.http, timeout).context("web.http")?;
                (Arc::new(Mapped::new(options).context("web.http")?), web.http.limit_rps)
            }
        };
        let limit_rps = Some(limit_rps).filter(|limit| *limit > 0);
        providers.push(ProviderSetup { provider, timeout, limit_rps });
    }
    Ok(WebSources {
        index: web.providers.contains(&settings::WebProvider::Index),
        providers,
        read_top: usize::try_from(web.read_top).unwrap_or(usize::MAX),
        read_timeout: Duration::from_millis(web.read_timeout_ms),
    })
}

/// Returns the header with a credential: a bearer token in `Authorization`, the key itself in any other. `None` without a key.
pub fn credential_header(name: &str, key: &Secret) -> Option<(String, String)> {
    let key = key.expose();
    let value = match name.eq_ignore_ascii_case("authorization") {
        true => format!("Bearer {key}"),
        false => key.to_owned(),
    };
    (!key.is_empty()).then(|| (name.to_owned(), value))
}

fn mapped_options(http: &settings::WebHttp, timeout: Duration) -> anyhow::Result<MappedOptions> {
    let parameter = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
    Ok(MappedOptions {
        url: http.url.clone(),
        header: credential_header(&http.api_key_header, &http.api_key),
        query: match parameter(&http.query_pointer) {
            None => QueryPlace::Parameter(http.query_parameter.clone()),
            Some(pointer) => QueryPlace::Body { pointer, body: serde_json::from_str(&http.body).context("body")? },
        },
        country_parameter: parameter(&http.country_parameter),
        language_parameter: parameter(&http.language_parameter),
        mapping: Mapping {
            results: http.results.clone(),
            url: http.result_url.clone(),
            title: http.result_title.clone(),
            snippet: http.result_snippet.clone(),
            date: http.result_date.clone(),
        },
        timeout,
    })
}

/// Pages fetched and extracted concurrently; each may take `fetch.max_bytes` of memory. One organization has at most a third.
const PAGES_AT_A_TIME: usize = 48;
/// CPU time of extracting a page. Real pages take less; the workers' own limits are meant for files.
const PAGE_EXTRACT_TIMEOUT: Duration = Duration::from_secs(15);

/// Product token of this program in robots.txt and in directives of pages.
pub const TOKEN: &str = "retrieval";

pub fn fetcher(settings: &Settings) -> anyhow::Result<Fetcher> {
    Fetcher::new(fetcher_options(settings)).context("fetch")
}

pub fn fetcher_options(settings: &Settings) -> FetcherOptions {
    let fetch = &settings.fetch;
    let whole = Duration::from_millis(fetch.timeout_ms);
    let contact = Some(fetch.contact.as_str()).filter(|contact| !contact.is_empty());
    let defaults = FetcherOptions::new(TOKEN, env!("CARGO_PKG_VERSION"), contact);
    FetcherOptions {
        respect_robots: fetch.respect_robots,
        allow_networks: fetch.allow_networks.clone(),
        allow_ports: fetch.allow_ports.clone(),
        time_limits: TimeLimits {
            connect: TimeLimits::default().connect.min(whole),
            first_byte: whole,
            total: whole,
            ..TimeLimits::default()
        },
        max_bytes: usize::try_from(fetch.max_bytes).unwrap_or(usize::MAX),
        max_concurrent: PAGES_AT_A_TIME,
        // As a browser does: users request these pages, so this is not a crawl.
        politeness: Politeness { concurrent: 6, delay: Duration::ZERO, ..Politeness::default() },
        ..defaults
    }
}

/// Returns the sender of webhook deliveries, which also checks the URLs of new webhooks.
pub fn webhook_sender(settings: &Settings) -> anyhow::Result<Arc<Sender>> {
    let options = SenderOptions {
        user_agent: concat!("retrieval-webhooks/", env!("CARGO_PKG_VERSION")).to_owned(),
        allow_networks: settings.webhooks.allow_networks.clone(),
        timeout: Duration::from_millis(settings.webhooks.timeout_ms),
    };
    Ok(Arc::new(Sender::new(options).context("webhooks")?))
}

/// Interval of looking for due deliveries.
const WEBHOOK_POLL: Duration = Duration::from_secs(1);

pub fn webhook_worker(settings: &Settings, store: &Docstore, sender: &Arc<Sender>) -> Arc<Worker> {
    let timeout = Duration::from_millis(settings.webhooks.timeout_ms);
    let options = WorkerOptions { poll: WEBHOOK_POLL, timeout };
    Arc::new(Worker::new(store.clone(), Arc::clone(sender), store.clock(), options))
}

/// Returns the reader of web pages on demand.
pub fn pages(
    settings: &Settings,
    store: &Docstore,
    extractor: &Arc<WorkerPool>,
    scripted: Scripted,
    is_full: IsFull,
) -> anyhow::Result<Arc<PageReader>> {
    let fetcher = fetcher(settings)?;
    let options = PageReaderOptions {
        clock: store.clock(),
        compute: Compute::interactive(cores()),
        long_compute: Compute::background(cores().div_ceil(2)),
        is_full,
        scripted,
        extract_timeout: PAGE_EXTRACT_TIMEOUT,
        failure_ttl: Duration::from_secs(settings.captures.failure_ttl_seconds),
    };
    let extractor: Arc<dyn Extractor> = Arc::clone(extractor) as Arc<dyn Extractor>;
    Ok(Arc::new(PageReader::new(store.clone(), fetcher, extractor, options)))
}

/// Runs of different organizations in progress. A run that waits for its turn takes little more than the ids of its files.
const RUNS_AT_A_TIME: usize = 128;
/// Bytes of the files of all runs in progress, in memory and on disk.
const RUN_BYTES: u64 = 512 << 20;

fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

pub fn runner_options(settings: &Settings, store: &Docstore, is_full: IsFull, temp_dir: PathBuf) -> RunnerOptions {
    RunnerOptions {
        clock: store.clock(),
        // Half of the cores, in the background: searches come first.
        compute: Compute::background(cores().div_ceil(2)),
        parallel_files: cores() * 2,
        parallel_runs: RUNS_AT_A_TIME,
        max_bytes_in_progress: RUN_BYTES.max(settings.files.max_object_bytes),
        max_object_bytes: settings.files.max_object_bytes,
        temp_dir,
        is_full,
        lease: RUN_LEASE,
        retry_timeout: RUN_PATIENCE,
    }
}
