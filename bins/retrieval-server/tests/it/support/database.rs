//! Database of one test.

use tokio_postgres::NoTls;
use uuid::Uuid;

const VARIABLE: &str = "TEST_DATABASE_URL";

pub enum Database {
    /// A file in the server's own data folder.
    Sqlite,
    Postgres(PostgresDatabase),
    /// A database that another server has prepared, by its URL.
    Shared(String),
}

/// A database that is dropped when the test ends.
pub struct PostgresDatabase {
    cluster: String,
    name: String,
}

impl Database {
    pub fn sqlite() -> Self {
        Database::Sqlite
    }

    /// Creates an empty database. Without a PostgreSQL it reports the skipped test and returns `None`, or panics in CI.
    pub fn postgres() -> Option<Self> {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !["", "0", "false"].contains(&value.as_str()));
        let Some(cluster) = set(VARIABLE) else {
            if let Some(name) = ["CI", "REQUIRE_POSTGRES"].into_iter().find(|name| set(name).is_some()) {
                panic!("{name} is set, but {VARIABLE} is not");
            }
            println!("NOT RUN: {VARIABLE} is not set");
            return None;
        };
        let name = format!("server_test_{}", Uuid::new_v4().simple());
        execute(&cluster, &format!("CREATE DATABASE {name}"));
        Some(Database::Postgres(PostgresDatabase { cluster, name }))
    }

    /// Returns the value of `database.url`.
    pub fn url(&self) -> String {
        match self {
            Database::Sqlite => "sqlite:retrieval.db".to_owned(),
            Database::Shared(url) => url.clone(),
            Database::Postgres(database) => {
                let separator = if database.cluster.contains('?') { '&' } else { '?' };
                format!("{}{separator}dbname={}", database.cluster, database.name)
            }
        }
    }

    /// Runs SQL statements directly, on PostgreSQL only.
    pub fn execute(&self, statements: &str) {
        assert!(self.is_postgres());
        execute(&self.url(), statements);
    }

    pub fn is_postgres(&self) -> bool {
        matches!(self, Database::Postgres(_))
    }
}

impl Drop for PostgresDatabase {
    fn drop(&mut self) {
        execute(&self.cluster, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}

fn execute(url: &str, statement: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        client.batch_execute(statement).await.unwrap();
        drop(client);
        let _ = connection.await;
    });
}
