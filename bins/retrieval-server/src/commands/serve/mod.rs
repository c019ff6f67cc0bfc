//! `serve`: runs the service until SIGTERM or SIGINT.

mod background;
mod dependencies;
mod first_start;

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use app::documents::CaptureLifetimes;
use app::readiness::HostCheck;
use app::{App, Options, Parts, ReadLimits, Retention, ShareLimits};
use connections::Connections;
use docstore::Location;
use http_actix::{Listeners, MetricsText};
use ingest::Supervisor;
use model::SystemClock;
use server_tls::ServerTls;
use settings::{IndexBackend, Settings, StorageBackend};
use tokio::net::TcpSocket;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::compose::{self, EmbeddedStorage};
use crate::index_use::IndexClaim;
use crate::readiness::Readiness;
use crate::rendering::Browser;
use crate::role::Role;
use crate::temp_folder::TempFolder;
use crate::{
    certificates, data_folder, descriptors, disk, embedder, logging, metrics, objects_binding, sandbox, traces,
};
use background::{Background, Shared};

/// Time that background tasks get to end after a stop signal.
const GRACE: Duration = Duration::from_secs(10);
/// Time for the last documents of workers, and for usage that is not written yet.
const CLOSING: Duration = Duration::from_secs(5);

/// Validity of a presigned upload URL.
const PRESIGN_LIFETIME: Duration = Duration::from_secs(15 * 60);
const ENGINE_TIMEOUT: Duration = Duration::from_millis(1_900);
/// Connections that the system keeps until they are accepted. Beyond them it drops first packets, which clients repeat after a second.
const BACKLOG: u32 = 4_096;

pub async fn run(settings: Settings, print_key: bool, role: Role, config: Option<&Path>) -> anyhow::Result<()> {
    role.check(&settings)?;
    let mut signals = StopSignals::listen()?;
    logging::start(&settings.log)?;
    let metrics = metrics::start()?;
    let traces = traces::start(&settings)?;
    let tls = certificates::load(&settings)?.map(Arc::new);
    let plan = descriptors::plan(&settings, descriptors::limit())?;
    if plan.lowered_by.is_some() {
        tracing::warn!("{plan}");
    }
    let stop = CancellationToken::new();
    let supervisor = Supervisor::new(stop.clone());
    let workers = sandbox::workers(&settings).await?;
    sandbox::log(&workers.report);
    let extractor = workers.pool;
    let browser = Browser::start(&settings).await?;
    settings.warnings().iter().for_each(|warning| tracing::warn!("{warning}"));
    let embedder = embedder::open(&settings).await?;
    let creation = data_folder::creation_note(&settings, &compose::location(&settings)?);
    let (store, _database_use) = tokio::select! {
        opened = dependencies::database(&settings) => opened?,
        () = signals.received() => return Ok(()),
    };
    if let Some(note) = creation {
        tracing::info!("{note}");
    }
    tokio::select! {
        checked = objects_binding::check(&settings, &store) => checked?,
        () = signals.received() => return Ok(()),
    }
    let (index, index_claim) = tokio::select! {
        opened = dependencies::index(&settings, &store) => opened?,
        () = signals.received() => return Ok(()),
    };
    let free_space = compose::free_space(&settings);
    let (blobs, embedded_storage) = tokio::select! {
        opened = dependencies::open_storage(&settings, &free_space) => opened?,
        () = signals.received() => return Ok(()),
    };
    let mut tasks: Vec<JoinHandle<()>> = Vec::new();
    if let Some(EmbeddedStorage { server, public, internal }) = embedded_storage {
        for (listener, connections, tls) in [
            (public, Connections::new("storage", compose::connection_limits(&settings, plan.storage)), tls.clone()),
            (internal, compose::internal_connections(), None),
        ] {
            let (server, stop) = (server.clone().over(tls), stop.clone());
            tasks.push(tokio::spawn(server.serve(listener, connections, async move { stop.cancelled().await })));
        }
    }
    dependencies::storage(&blobs, &stop).await?;
    let webhooks = compose::webhook_sender(&settings)?;
    let (mut runner, mut temp_folder) = (None, None);
    if role.works() {
        let shared = Shared {
            settings: &settings,
            store: &store,
            blobs: &blobs,
            extractor: &extractor,
            scripted: browser.scripted(),
            is_full: compose::is_full(&free_space),
        };
        let mut background = Background { supervisor: &supervisor, stop: &stop, tasks: &mut tasks };
        if let Some(index) = &index {
            compose::data_dir(&settings)?;
            let temp_dir = temp_folder.insert(TempFolder::create(&settings.data_dir)?).path();
            runner = Some(background.index(&shared, index, temp_dir).await?);
        }
        background.deliver_webhooks(&shared, &webhooks);
        if settings.crawl.enabled {
            background.crawl(&shared).await?;
        }
    }
    let limiter = compose::limiter(&settings)?;
    let mut host_checks = vec![disk_check(&settings), sandbox::host_check(workers.report)];
    host_checks.extend(browser.host_check());
    host_checks.extend(embedder.as_ref().map(embedder::host_check));
    let app = Arc::new(App::new(Parts {
        clock: store.clock(),
        store: store.clone(),
        blobs,
        engine: index.as_ref().map(|index| Arc::clone(&index.engine)),
        feeder: index.as_ref().map(|index| Arc::clone(&index.feeder)),
        runner,
        pages: compose::pages(&settings, &store, &extractor, browser.scripted(), compose::is_full(&free_space))?,
        second_stage: compose::second_stage(&settings)?,
        embedder: embedder.clone(),
        web: compose::web_sources(&settings)?,
        limiter: Arc::clone(&limiter),
        tokens: compose::tokens(&settings)?,
        webhooks: Arc::clone(&webhooks),
        host_checks,
        free_space,
        supervisor: supervisor.clone(),
        upkeep: role.works(),
        options: options(&settings),
    }));
    let research = compose::research(&settings, &app, &store, &webhooks)?;
    if role.works() {
        let mut background = Background { supervisor: &supervisor, stop: &stop, tasks: &mut tasks };
        background.research(&research);
    }
    let public = if role.serves_requests() { Some(listen("server.bind", settings.server.bind)?) } else { None };
    let listeners = Listeners { public, operations: listen("operations.bind", settings.operations.bind)? };
    if let Some(tls) = &tls {
        let (tls, stop) = (Arc::clone(tls), stop.clone());
        tasks.push(supervisor.spawn("certificates", move || certificates::watch(Arc::clone(&tls), stop.clone())));
    }
    let readiness = Arc::new(Readiness::new(&app, settings.data_dir.clone()));
    // Before the first scrape.
    readiness.measure().await;
    {
        let stop = stop.clone();
        tasks.push(supervisor.spawn("readiness", move || Arc::clone(&readiness).watch(stop.clone())));
    }
    let http_options = http_options(&settings, &plan, metrics, tls);
    let mut servers = http_actix::serve(Arc::clone(&app), research, limiter, &http_options, listeners)?;
    // Once the server listens: one that cannot start must not switch the model of running ones.
    if role.works() && index.is_some() {
        let mut background = Background { supervisor: &supervisor, stop: &stop, tasks: &mut tasks };
        background.embed(&store, embedder.as_ref()).await?;
    }
    let address = role.serves_requests().then(|| tracing::field::display(settings.server.bind));
    tracing::info!(role = role.as_str(), address, operations = %settings.operations.bind, "listening");
    if role.serves_requests() {
        first_start::run(&settings, &app, &store, print_key, config).await?;
    }
    let failure = tokio::select! {
        () = signals.received() => None,
        error = servers.failed() => Some(error.into()),
        () = lost(index_claim.as_ref()) => Some(anyhow!("another server has taken over the embedded index")),
    };
    tracing::info!("stopping");
    // Listeners first, so that no new requests arrive; background work afterwards.
    if failure.is_none() {
        servers.stop().await?;
    }
    stop.cancel();
    let _ = tokio::time::timeout(GRACE, futures_util::future::join_all(tasks)).await;
    // A database that no longer answers, or a document that takes minutes, must not hold up the stop.
    let close = async { tokio::join!(extractor.shutdown(), browser.shutdown(), app.close()) };
    if tokio::time::timeout(CLOSING, close).await.is_err() {
        tracing::warn!("stopped before the last documents and usage events were written");
    } else if let Some(claim) = index_claim {
        // A lease that is not released is over after some seconds.
        let _ = tokio::time::timeout(CLOSING, claim.release()).await;
    }
    drop(temp_folder);
    // Last, since everything before it is part of traces.
    if let Some(traces) = traces {
        traces.stop().await;
    }
    failure.map_or(Ok(()), Err)
}

/// Returns once another server has taken over the embedded index.
async fn lost(claim: Option<&IndexClaim>) {
    match claim {
        Some(claim) => claim.lost().await,
        None => std::future::pending().await,
    }
}

/// Returns the check of free disk space. It is required if the disk holds the database, the index or the objects: otherwise a load
/// balancer would take all instances with a full disk out of service, which still answer searches.
fn disk_check(settings: &Settings) -> HostCheck {
    let required = settings.storage.backend == StorageBackend::Embedded
        || settings.index.backend == IndexBackend::Embedded
        || !matches!(compose::location(settings), Ok(Location::Postgres(_)));
    HostCheck { name: "disk", required, check: disk::checker(settings) }
}

/// Binds a listener. The error names the setting.
fn listen(setting: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    let bind = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // A restarted server need not wait for the connections of the one before.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)?.into_std()
    };
    bind().with_context(|| format!("{setting}: listening on `{address}`"))
}

fn http_options(
    settings: &Settings,
    plan: &descriptors::Plan,
    metrics: MetricsText,
    tls: Option<Arc<ServerTls>>,
) -> http_actix::Options {
    http_actix::Options {
        tls,
        public_url: settings.server.public_url.clone(),
        mcp_allow_origins: settings.mcp.allow_origins.clone(),
        oauth_issuer: Some(settings.auth.oauth.issuer.clone()).filter(|issuer| !issuer.is_empty()),
        workers: usize::from(settings.server.workers),
        drain: Duration::from_secs(settings.server.drain_seconds),
        connections: compose::connection_limits(settings, plan.api),
        paces: http_actix::Paces::default(),
        memory: http_actix::MemoryLimits::default(),
        clock: Arc::new(SystemClock),
        access_log: settings.log.access,
        rejected_per_minute: settings.rate_limit.rejected_per_minute,
        metrics: Some(metrics),
    }
}

fn options(settings: &Settings) -> Options {
    Options {
        default_rps: settings.rate_limit.default_rps,
        search_cents: settings.billing.search_cents,
        max_object_bytes: settings.files.max_object_bytes,
        max_files_per_organization: settings.files.max_per_organization,
        max_bytes_per_organization: Some(settings.quotas.bytes_per_organization).filter(|bytes| *bytes > 0),
        presign_lifetime: PRESIGN_LIFETIME,
        engine_timeout: ENGINE_TIMEOUT,
        capture_lifetimes: CaptureLifetimes {
            snippet: Duration::from_secs(settings.captures.search_ttl_seconds),
            document: Duration::from_secs(settings.captures.document_ttl_seconds),
        },
        read_limits: ReadLimits::default(),
        usage_retention: compose::days(settings.usage.retention_days),
        retention: Retention {
            searches: Some(settings.retention.searches_days).filter(|count| *count > 0).map(compose::days),
            feedback: Some(settings.retention.feedback_days).filter(|count| *count > 0).map(compose::days),
            evidence: compose::days(settings.captures.evidence_days),
        },
        request_timeout: Duration::from_millis(settings.server.request_timeout_ms),
        shares: ShareLimits::for_cores(std::thread::available_parallelism().map_or(2, usize::from)),
        max_crawl_urls: settings.crawl.max_urls,
    }
}

/// Stop signals. Registered before the service starts, so that it can be stopped while starting.
struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
    /// Not received here: `certificates` reacts to SIGHUP, if there are any. Without a listener it would end the
    /// process at once.
    _hangup: Signal,
}

impl StopSignals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            _hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const EXTERNAL: [(&str, &str); 5] = [
        ("RETRIEVAL__DATABASE__URL", "postgres://u:p@h/d"),
        ("RETRIEVAL__INDEX__BACKEND", "meilisearch"),
        ("RETRIEVAL__INDEX__URL", "http://h:7700"),
        ("RETRIEVAL__STORAGE__BACKEND", "s3"),
        ("RETRIEVAL__QUOTAS__MIN_FREE_DISK_BYTES", "9000000000000000000"),
    ];

    fn disk_without(variable: &str) -> HostCheck {
        let given = EXTERNAL.iter().filter(|(name, _)| *name != variable);
        let given = given.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        disk_check(&Settings::load(None, given).unwrap())
    }

    #[test]
    fn full_disk_takes_an_instance_out_of_service_only_if_it_holds_data() {
        let disk = disk_without("");
        assert!(!disk.required && (disk.check)().is_err(), "it is shown as down, and nothing else follows");
        for embedded in ["RETRIEVAL__DATABASE__URL", "RETRIEVAL__INDEX__BACKEND", "RETRIEVAL__STORAGE__BACKEND"] {
            assert!(disk_without(embedded).required, "{embedded}");
        }
    }
}
