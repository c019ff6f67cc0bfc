//! Three nodes with two replicas, one of which is killed and comes back under searches and changes. Takes about a minute. And a node
//! that knows no collection yet.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use engine::{Change, DocumentVectors, EngineErrorKind, Filters, IndexDocument, SearchEngine, SemanticRequest};
use engine_qdrant::{QdrantEngine, QdrantOptions};
use model::{Collection, DocId, Generation, IndexName};
use qdrant_client::Qdrant;
use qdrant_client::qdrant::ReplicaState;
use retrieval_core::embeddings::{QuantizedVector, VectorSpace};
use uuid::Uuid;

use crate::support::{options, put, request};

const DEADLINE: Duration = Duration::from_secs(120);
/// Time after a kill in which searches may fail.
const MOMENT: Duration = Duration::from_secs(2);

struct Node {
    program: PathBuf,
    folder: tempfile::TempDir,
    http: u16,
    grpc: u16,
    p2p: u16,
    /// Address of the first node; `None` for that node.
    bootstrap: Option<String>,
    process: Option<Child>,
}

impl Node {
    fn new(program: &Path, bootstrap: Option<String>) -> Self {
        // All bound before the first is free again, so that the ports differ.
        let bound = [(), (), ()].map(|()| std::net::TcpListener::bind("127.0.0.1:0").expect("a port"));
        let [http, grpc, p2p] = bound.map(|listener| listener.local_addr().expect("an address").port());
        let folder = tempfile::tempdir().expect("a folder");
        Self { program: program.to_owned(), folder, http, grpc, p2p, bootstrap, process: None }
    }

    fn uri(&self) -> String {
        format!("http://127.0.0.1:{}", self.p2p)
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.grpc)
    }

    fn client(&self) -> Qdrant {
        Qdrant::from_url(&self.url()).skip_compatibility_check().build().expect("a client")
    }

    fn start(&mut self) {
        let mut command = Command::new(&self.program);
        command.current_dir(self.folder.path()).args(["--disable-telemetry", "--uri", &self.uri()]);
        if let Some(bootstrap) = &self.bootstrap {
            command.args(["--bootstrap", bootstrap]);
        }
        let storage = self.folder.path().join("storage");
        command
            .env("QDRANT__SERVICE__HOST", "127.0.0.1")
            .env("QDRANT__SERVICE__HTTP_PORT", self.http.to_string())
            .env("QDRANT__SERVICE__GRPC_PORT", self.grpc.to_string())
            .env("QDRANT__STORAGE__STORAGE_PATH", storage)
            .env("QDRANT__STORAGE__SNAPSHOTS_PATH", self.folder.path().join("snapshots"))
            .env("QDRANT__CLUSTER__ENABLED", "true")
            .env("QDRANT__CLUSTER__P2P__PORT", self.p2p.to_string())
            .env("QDRANT__LOG_LEVEL", "ERROR")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.process = Some(command.spawn().expect("a node"));
    }

    fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Returns true if the node has all of the log of the cluster.
    async fn is_ready(&self) -> bool {
        let response = reqwest::get(format!("http://127.0.0.1:{}/readyz", self.http)).await;
        response.is_ok_and(|response| response.status().is_success())
    }

    async fn peers(&self) -> usize {
        let response = reqwest::get(format!("http://127.0.0.1:{}/cluster", self.http)).await;
        let Ok(response) = response else { return 0 };
        let cluster: serde_json::Value = response.json().await.unwrap_or_default();
        cluster["result"]["peers"].as_object().map_or(0, serde_json::Map::len)
    }

    /// Returns true if all replicas of the web index are up to date, as this node sees them.
    async fn sees_active_replicas(&self, collection: &str) -> bool {
        let Ok(info) = self.client().collection_cluster_info(collection).await else { return false };
        let active = ReplicaState::Active as i32;
        let local = info.local_shards.iter().all(|shard| shard.state == active);
        local && info.remote_shards.iter().all(|shard| shard.state == active) && info.shard_transfers.is_empty()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

async fn until<F: Future<Output = bool>>(what: &str, check: impl Fn() -> F) {
    let reached = async {
        while !check().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(DEADLINE, reached).await.unwrap_or_else(|_| panic!("{what}"));
}

fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("qdrant")).find(|program| program.is_file())
}

async fn start() -> Option<Vec<Node>> {
    let program = program()?;
    let mut nodes = vec![Node::new(&program, None)];
    nodes[0].start();
    until("the first node is ready", || nodes[0].is_ready()).await;
    for _ in 0..2 {
        let mut node = Node::new(&program, Some(nodes[0].uri()));
        node.start();
        until("a node is ready", || node.is_ready()).await;
        nodes.push(node);
    }
    for node in &nodes {
        until("a node knows its peers", async || node.peers().await == 3).await;
    }
    Some(nodes)
}

/// Changes and searches without pause.
struct Load {
    engine: Arc<QdrantEngine>,
    stopped: AtomicBool,
    /// Number of documents that the engine has stored.
    stored: AtomicU64,
    searches: AtomicU64,
}

impl Load {
    /// Stores documents in batches, each until the engine accepts it.
    async fn store(&self) {
        while !self.stopped.load(Ordering::SeqCst) {
            let first = u128::from(self.stored.load(Ordering::SeqCst));
            let batch = || (first..first + 20).map(|number| put(number, "copper pipe")).collect::<Vec<Change>>();
            while self.engine.apply(IndexName::Web, batch()).await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            self.stored.fetch_add(20, Ordering::SeqCst);
        }
    }

    /// Searches, and returns the times of failures.
    async fn search(&self) -> Vec<(Instant, String)> {
        let mut failures = Vec::new();
        while !self.stopped.load(Ordering::SeqCst) {
            let least = self.stored.load(Ordering::SeqCst).min(200);
            let started = Instant::now();
            match self.engine.first_stage(&request("copper")).await {
                Ok(found) if found.total >= least => {}
                Ok(found) => failures.push((started, format!("{} of at least {least} matches", found.total))),
                Err(error) => failures.push((started, format!("{error:?}"))),
            }
            if started.elapsed() > MOMENT {
                failures.push((started, format!("a search took {:?}", started.elapsed())));
            }
            self.searches.fetch_add(1, Ordering::SeqCst);
        }
        failures
    }

    /// Waits for this many further batches and searches.
    async fn progress(&self) {
        let read = || (self.stored.load(Ordering::SeqCst), self.searches.load(Ordering::SeqCst));
        let (stored, searches) = read();
        until("changes and searches continue", async || read().0 > stored + 200 && read().1 > searches + 200).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_node_interrupts_nothing_and_catches_up() {
    let Some(mut nodes) = start().await else { return };
    let urls: Vec<String> = nodes.iter().map(Node::url).collect();
    let of = |url: &str| QdrantOptions { shards: 3, replicas: 2, ..options(url.to_owned()) };
    let engine = Arc::new(QdrantEngine::new(of(&urls.join(","))).expect("a client"));
    engine.mark_rebuilt(IndexName::ALL).await.expect("the indexes are created");
    let generation = Generation(Uuid::from_u128(9));
    engine.set_generation(IndexName::Web, generation).await.expect("stored");
    for node in &nodes {
        until("the replicas are active", || node.sees_active_replicas("web-v3-data")).await;
    }

    let load = Arc::new(Load {
        engine: Arc::clone(&engine),
        stopped: AtomicBool::new(false),
        stored: AtomicU64::new(0),
        searches: AtomicU64::new(0),
    });
    let storing = tokio::spawn({
        let load = Arc::clone(&load);
        async move { load.store().await }
    });
    let searching = tokio::spawn({
        let load = Arc::clone(&load);
        async move { load.search().await }
    });
    load.progress().await;
    let mut kills = Vec::new();
    // The first node led the cluster when it started.
    for killed in [1, 0] {
        kills.push(Instant::now());
        nodes[killed].kill();
        load.progress().await;
        nodes[killed].start();
        until("the node is back", || nodes[killed].is_ready()).await;
        for node in &nodes {
            until("the node has caught up", || node.sees_active_replicas("web-v3-data")).await;
        }
        load.progress().await;
    }
    load.stopped.store(true, Ordering::SeqCst);
    storing.await.expect("changes");
    let failures = searching.await.expect("searches");
    let later: Vec<_> = failures
        .iter()
        .filter(|(at, _)| !kills.iter().any(|kill| *at + MOMENT > *kill && *at < *kill + MOMENT))
        .collect();
    let searches = load.searches.load(Ordering::SeqCst);
    assert!(later.is_empty(), "{searches} searches, {} failures: {later:#?}", failures.len());

    // Each pair of nodes has everything.
    let stored = load.stored.load(Ordering::SeqCst);
    for killed in 0..3 {
        for node in &nodes {
            until("the node has caught up", || node.sees_active_replicas("web-v3-data")).await;
        }
        nodes[killed].kill();
        for (at, url) in urls.iter().enumerate().filter(|(at, _)| *at != killed) {
            let one = QdrantEngine::new(of(url)).expect("a client");
            assert_eq!(
                one.document_count(IndexName::Web).await.expect("a count"),
                stored,
                "node {at} without {killed}"
            );
            let all = engine::FirstStageRequest { limit: stored as usize, ..request("copper") };
            let found = one.first_stage(&all).await.expect("hits");
            let mut ids: Vec<DocId> = found.hits.iter().map(|hit| hit.doc_id).collect();
            ids.sort();
            assert!(ids.iter().copied().eq((0..u128::from(stored)).map(|number| DocId(Uuid::from_u128(number)))));
            assert_eq!(one.generation(IndexName::Web).await.expect("a generation"), Some(generation));
        }
        nodes[killed].start();
        until("the node is back", || nodes[killed].is_ready()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn node_without_collections_hides_nothing() {
    let Some(program) = program() else { return };
    // Each of them is a cluster of its own, so that one stays empty.
    let mut nodes = [(), ()].map(|()| Node::new(&program, None));
    nodes.iter_mut().for_each(Node::start);
    for node in &nodes {
        until("a node is ready", || node.is_ready()).await;
    }
    let [empty, full] = nodes.each_ref().map(Node::url);
    let alone = QdrantEngine::new(options(full.clone())).expect("a client");
    alone.mark_rebuilt(IndexName::ALL).await.expect("the indexes are created");
    let generation = Generation(Uuid::from_u128(9));
    alone.set_generation(IndexName::Web, generation).await.expect("stored");
    let vector = QuantizedVector::quantize(&[1.0, 2.0, 3.0]).expect("a vector");
    let vectors = Some(DocumentVectors { space: VectorSpace(7), passages: vec![vector.clone()] });
    let document = IndexDocument {
        body: "copper".to_owned(),
        vectors,
        ..IndexDocument::new(DocId(Uuid::from_u128(1)), Collection::Web)
    };
    alone.apply(IndexName::Web, vec![Change::Put(Box::new(document))]).await.expect("changes");

    let both = QdrantEngine::new(options(format!("{empty},{full}"))).expect("a client");
    let by_meaning = SemanticRequest {
        collection: Collection::Web,
        space: VectorSpace(7),
        vector,
        filters: Filters::default(),
        limit: 10,
    };
    for _ in 0..4 {
        assert!(both.needs_rebuild().await.expect("a rebuild state").is_empty());
        both.ping().await.expect("a ping");
        assert_eq!(both.generation(IndexName::Web).await.expect("a generation"), Some(generation));
        assert_eq!(both.first_stage(&request("copper")).await.expect("hits").total, 1);
        assert_eq!(both.semantic(&by_meaning).await.expect("hits").len(), 1);
    }
    // The vectors of this space are on no node.
    let unknown = SemanticRequest { space: VectorSpace(8), ..by_meaning };
    assert!(both.semantic(&unknown).await.expect("no hits").is_empty());

    // The empty node alone proves nothing.
    nodes[1].kill();
    for _ in 0..2 {
        let rebuild = both.needs_rebuild().await.expect_err("no node with the indexes");
        let generation = both.generation(IndexName::Web).await.expect_err("no node with the generation");
        let ping = both.ping().await.expect_err("no node with the index");
        assert_eq!([rebuild.kind, generation.kind, ping.kind], [EngineErrorKind::Unavailable; 3]);
    }
}
