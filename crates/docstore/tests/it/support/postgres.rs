//! Test databases in the PostgreSQL named by the environment.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::time::Duration;

use docstore::{Docstore, Location};
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

const VARIABLE: &str = "TEST_DATABASE_URL";

/// Arbitrary number of the advisory lock that serializes test processes creating the template.
const TEMPLATE_LOCK: i64 = 0x7465_6d70;

pub struct Cluster {
    url: String,
}

impl Cluster {
    /// Returns `None` and prints `NOT RUN` if no PostgreSQL is configured. Panics if one is required.
    pub fn from_environment() -> Option<Self> {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !["", "0", "false"].contains(&value.as_str()));
        let Some(url) = set(VARIABLE) else {
            if let Some(name) = ["CI", "REQUIRE_POSTGRES"].into_iter().find(|name| set(name).is_some()) {
                panic!("{name} requires PostgreSQL: set {VARIABLE}");
            }
            eprintln!("NOT RUN: {VARIABLE} is not set");
            return None;
        };
        Some(Self { url })
    }

    pub fn url_of(&self, database: &str) -> String {
        let separator = if self.url.contains('?') { '&' } else { '?' };
        format!("{}{separator}dbname={database}", self.url)
    }

    /// Creates a database with all tables by copying a template, which is faster than migrating.
    pub async fn create_migrated(&self) -> String {
        let template = self.template().await;
        let name = new_name();
        self.execute(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
        name
    }

    pub async fn create_empty(&self) -> String {
        let name = new_name();
        self.execute(&format!("CREATE DATABASE {name}")).await;
        name
    }

    pub async fn drop_database(&self, name: &str) {
        self.execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
    }

    /// Returns the template of these migrations. The first test creates it; it is kept for the next run.
    async fn template(&self) -> String {
        let name = format!("docstore_template_{:016x}", digest_of_migrations());
        let client = connect(&self.url).await;
        let exists = format!("SELECT 1 FROM pg_database WHERE datname = '{name}'");
        if !client.query(&exists, &[]).await.unwrap().is_empty() {
            return name;
        }
        client.batch_execute(&format!("SELECT pg_advisory_lock({TEMPLATE_LOCK})")).await.unwrap();
        if client.query(&exists, &[]).await.unwrap().is_empty() {
            let unfinished = format!("{name}_unfinished");
            client.batch_execute(&format!("DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)")).await.unwrap();
            client.batch_execute(&format!("CREATE DATABASE {unfinished}")).await.unwrap();
            let store = Docstore::open(&Location::Postgres(self.url_of(&unfinished)), 1).unwrap();
            store.migrate().await.unwrap();
            drop(store);
            // Renamed once complete, so that a crash leaves no partial template.
            client.batch_execute(&format!("ALTER DATABASE {unfinished} RENAME TO {name}")).await.unwrap();
        }
        client.batch_execute(&format!("SELECT pg_advisory_unlock({TEMPLATE_LOCK})")).await.unwrap();
        name
    }

    async fn execute(&self, statement: &str) {
        connect(&self.url).await.batch_execute(statement).await.unwrap();
    }
}

/// Opens a connection that does not belong to the store.
pub async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn new_name() -> String {
    format!("docstore_test_{}", Uuid::new_v4().simple())
}

/// Hashes the migrations. `DefaultHasher` has fixed keys, so all test processes agree.
fn digest_of_migrations() -> u64 {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/postgres");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path().join("up.sql")).collect();
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        fs::read(file).unwrap().hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns once a query of the database waits for a lock.
pub async fn until_a_query_waits(observer: &Client) {
    until_queries_wait(observer, 1).await;
}

/// Returns once this number of queries of the database wait for locks.
pub async fn until_queries_wait(observer: &Client, count: usize) {
    let waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let waits = async {
        while observer.query(waiting, &[]).await.unwrap().len() < count {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waits).await.expect("too few queries wait for locks");
}
