//! Database of one test, with direct SQL access that bypasses the store.

use std::ops::Deref;
use std::path::PathBuf;

use diesel::connection::SimpleConnection;
use diesel::sql_types::{Nullable, Text};
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};
use docstore::{Docstore, Location};
use tokio_postgres::SimpleQueryMessage;

use super::postgres::connect;

#[derive(Clone)]
pub enum Place {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Place {
    pub fn location(&self) -> Location {
        match self {
            Place::Sqlite(path) => Location::Sqlite(path.clone()),
            Place::Postgres(url) => Location::Postgres(url.clone()),
        }
    }
}

#[derive(Clone)]
pub struct Database {
    pub store: Docstore,
    pub place: Place,
}

impl Deref for Database {
    type Target = Docstore;

    fn deref(&self) -> &Docstore {
        &self.store
    }
}

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Nullable<Text>)]
    line: Option<String>,
}

#[derive(QueryableByName)]
struct PlanStep {
    #[diesel(sql_type = Text)]
    detail: String,
}

impl Database {
    pub fn open(place: Place) -> Self {
        Self { store: Docstore::open(&place.location(), 8).unwrap(), place }
    }

    /// Opens a second store on the same database, as another process would.
    pub fn another_store(&self) -> Docstore {
        Docstore::open(&self.place.location(), 8).unwrap()
    }

    pub fn is_sqlite(&self) -> bool {
        matches!(self.place, Place::Sqlite(_))
    }

    /// Returns the rows of a query with a single column named `line`.
    pub async fn lines(&self, sql: &str) -> Vec<Option<String>> {
        match &self.place {
            Place::Sqlite(path) => {
                let mut connection = open_sqlite(path);
                let text = format!("SELECT CAST(line AS TEXT) AS line FROM ({sql})");
                let lines: Vec<Line> = diesel::sql_query(text).load(&mut connection).unwrap();
                lines.into_iter().map(|line| line.line).collect()
            }
            Place::Postgres(url) => {
                let messages = connect(url).await.simple_query(sql).await.unwrap();
                let rows = messages.into_iter().filter_map(|message| match message {
                    SimpleQueryMessage::Row(row) => Some(row.get(0).map(str::to_owned)),
                    _ => None,
                });
                rows.collect()
            }
        }
    }

    /// Returns the plan of a query.
    pub async fn plan(&self, sql: &str) -> String {
        match &self.place {
            Place::Sqlite(path) => {
                let explain = diesel::sql_query(format!("EXPLAIN QUERY PLAN {sql}"));
                let steps: Vec<PlanStep> = explain.load(&mut open_sqlite(path)).unwrap();
                steps.into_iter().map(|step| step.detail + "\n").collect()
            }
            Place::Postgres(_) => {
                let steps = self.lines(&format!("EXPLAIN {sql}")).await;
                steps.into_iter().flatten().map(|step| step + "\n").collect()
            }
        }
    }

    /// Returns the result of a query for one number.
    pub async fn number(&self, expression: &str, from: &str) -> i64 {
        let lines = self.lines(&format!("SELECT {expression} AS line FROM {from}")).await;
        lines[0].as_deref().unwrap().parse().unwrap()
    }

    pub async fn count(&self, from: &str) -> i64 {
        self.number("count(*)", from).await
    }

    pub async fn execute(&self, sql: &str) {
        match &self.place {
            Place::Sqlite(path) => open_sqlite(path).batch_execute(sql).unwrap(),
            Place::Postgres(url) => connect(url).await.batch_execute(sql).await.unwrap(),
        }
    }
}

fn open_sqlite(path: &std::path::Path) -> SqliteConnection {
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute("PRAGMA busy_timeout = 10000; PRAGMA foreign_keys = ON").unwrap();
    connection
}
