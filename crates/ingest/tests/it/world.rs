//! Test environment: one organization with a bucket, a docstore, an index and workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use admission::Compute;
use blobs::BlobStore;
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use docstore::{AuditEntry, Docstore, File, IndexRun, Location, Organization, StorageQuotas, Withdrawal};
use engine::{Filters, FirstStageRequest, SearchEngine};
use extract_worker::{Extractor, InProcess};
use ingest::clock::from_date_time;
use ingest::{Feeder, Ownership, Runner, RunnerOptions, objects};
use model::{
    AuditAction, AuditEntryId, Clock, Collection, DocId, ManualClock, OrganizationId, RunMode, SyncId, SystemClock,
    Timestamp,
};
use retrieval_core::url;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::faulty::{FaultyEngine, FaultyStore};
use crate::slow::SlowExtractor;

pub struct World {
    pub store: Docstore,
    /// Moves only with uploads, since storage dates objects by the system clock.
    pub clock: Arc<ManualClock>,
    pub blobs: Arc<FaultyStore>,
    pub engine: Arc<FaultyEngine>,
    pub feeder: Arc<Feeder>,
    pub extractor: Arc<dyn Extractor>,
    pub organization_id: OrganizationId,
    pub folder: Arc<tempfile::TempDir>,
    pub disk: Arc<Disk>,
}

/// Disk that can be almost full.
#[derive(Default)]
pub struct Disk {
    pub is_full: AtomicBool,
    /// Number of questions if it is.
    pub asked: AtomicU32,
}

impl Disk {
    fn is_full(&self) -> bool {
        let is_full = self.is_full.load(Ordering::SeqCst);
        // Afterwards, so that whoever waits for a question knows its answer.
        self.asked.fetch_add(1, Ordering::SeqCst);
        is_full
    }
}

impl World {
    pub async fn new() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let store = Docstore::open(&Location::Sqlite(folder.path().join("test.db")), 4).unwrap();
        store.migrate().await.unwrap();
        let clock = Arc::new(ManualClock::starting_at(SystemClock.now()));
        let organization_id = create_organization(&store, clock.now()).await;
        let engine = Arc::new(FaultyEngine::default());
        let feeder = Arc::new(Feeder::new(
            store.clone(),
            Arc::clone(&engine) as Arc<dyn SearchEngine>,
            Ownership::Exclusive,
            Arc::clone(&clock) as Arc<dyn Clock>,
        ));
        let (blobs, extractor) = (Arc::default(), Arc::new(InProcess));
        let disk = Arc::default();
        Self { store, clock, blobs, engine, feeder, extractor, organization_id, folder, disk }
    }

    /// Changes the database behind the store's back.
    pub fn execute(&self, sql: &str) {
        let path = self.folder.path().join("test.db");
        let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        connection.batch_execute(&format!("PRAGMA busy_timeout = 10000; {sql}")).unwrap();
    }

    /// Returns a world whose extractor knows slow documents.
    pub async fn slow() -> (Self, Arc<SlowExtractor>) {
        let (extractor, _begun, _ended) = SlowExtractor::new();
        let extractor = Arc::new(extractor);
        (Self { extractor: Arc::clone(&extractor) as _, ..Self::new().await }, extractor)
    }

    /// Returns the same world as another organization sees it.
    pub async fn neighbour(&self) -> Self {
        Self {
            store: self.store.clone(),
            clock: Arc::clone(&self.clock),
            blobs: Arc::clone(&self.blobs),
            engine: Arc::clone(&self.engine),
            feeder: Arc::clone(&self.feeder),
            extractor: Arc::clone(&self.extractor),
            organization_id: create_organization(&self.store, self.clock.now()).await,
            folder: Arc::clone(&self.folder),
            disk: Arc::clone(&self.disk),
        }
    }

    /// Starts a runner and the feeder. Stop or kill them through the returned guard.
    pub fn worker(&self, lease: Duration, retry_timeout: Duration) -> Worker {
        let disk = Arc::clone(&self.disk);
        let options = RunnerOptions {
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            compute: Compute::interactive(2),
            parallel_files: 4,
            parallel_runs: 8,
            max_bytes_in_progress: 8 << 20,
            max_object_bytes: 2 << 20,
            temp_dir: self.folder.path().to_owned(),
            is_full: Arc::new(move || disk.is_full()),
            lease,
            retry_timeout,
        };
        let runner = Arc::new(Runner::new(
            self.store.clone(),
            Arc::clone(&self.blobs) as Arc<dyn BlobStore>,
            Arc::clone(&self.extractor),
            Arc::clone(&self.feeder),
            options,
        ));
        let stop = CancellationToken::new();
        let feeder = Arc::clone(&self.feeder);
        let (stop_feeder, stop_runner) = (stop.clone(), stop.clone());
        let feeding = tokio::spawn(async move { feeder.work(stop_feeder).await });
        let working = tokio::spawn(runner.work(stop_runner));
        Worker { stop, tasks: vec![feeding, working] }
    }

    pub fn key(&self, name: &str) -> String {
        objects::key(self.organization_id, name)
    }

    pub fn doc_id(&self, name: &str) -> DocId {
        url::document_id(&url::workspace_url(self.organization_id, name))
    }

    /// Deletes a file in the database. Returns the id of the run that deletes its object, and the outcome.
    pub async fn withdraw(&self, name: &str, mode: RunMode) -> (SyncId, Option<Withdrawal>) {
        let now = self.clock.now();
        let run = IndexRun::queued(SyncId(Uuid::new_v4()), self.organization_id, mode, now);
        let sync_id = run.sync_id;
        (sync_id, self.store.withdraw_file(self.organization_id, self.key(name), run, now).await.unwrap())
    }

    pub async fn upload(&self, name: &str, text: &str) {
        self.register(name).await;
        self.put(name, text).await;
    }

    /// Registers a name for an upload.
    pub async fn register(&self, name: &str) {
        let file = File::registered(
            self.key(name),
            self.organization_id,
            name.to_owned(),
            self.doc_id(name),
            self.clock.now(),
        );
        self.store.register_file(file, StorageQuotas::NONE).await.unwrap();
    }

    /// Stores the object of a name.
    pub async fn put(&self, name: &str, text: &str) {
        let object = self.blobs.inner.put(&self.key(name), text.to_owned().into()).await.unwrap();
        self.clock.set(from_date_time(object.last_modified).max(self.clock.now()));
    }

    pub async fn request_run(&self, mode: RunMode) -> SyncId {
        let run = IndexRun::queued(SyncId(Uuid::new_v4()), self.organization_id, mode, self.clock.now());
        self.store.request_run(run).await.unwrap().sync_id
    }

    pub async fn run(&self, sync_id: SyncId) -> IndexRun {
        self.store.find_run(self.organization_id, sync_id).await.unwrap().unwrap()
    }

    pub async fn wait(&self, sync_id: SyncId) -> IndexRun {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let run = self.run(sync_id).await;
            if run.state.is_terminal() {
                return run;
            }
            assert!(Instant::now() < deadline, "the run did not end: {run:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub async fn found(&self, text: &str) -> Vec<DocId> {
        let request = FirstStageRequest {
            collection: Collection::Workspace(self.organization_id),
            texts: vec![text.to_owned()],
            exact_phrase: false,
            rerank_text: None,
            filters: Filters::default(),
            limit: 1_000,
        };
        self.engine.first_stage(&request).await.unwrap().hits.into_iter().map(|hit| hit.doc_id).collect()
    }
}

async fn create_organization(store: &Docstore, now: Timestamp) -> OrganizationId {
    let id = OrganizationId(Uuid::new_v4());
    let organization =
        Organization { id, name: "test".into(), billed: false, created_at: now, deleted_at: None, removed_at: None };
    let entry = AuditEntry::new(AuditEntryId(Uuid::new_v4()), now, "test", AuditAction::OrganizationCreated);
    store.create_organization(organization, None, entry).await.unwrap();
    id
}

pub struct Worker {
    stop: CancellationToken,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Worker {
    /// Stops like SIGTERM: releases the run.
    pub async fn stop(self) {
        self.stop.cancel();
        for task in self.tasks {
            task.await.unwrap();
        }
    }

    /// Stops like SIGKILL: the lease stays until it expires.
    pub fn kill(self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}
