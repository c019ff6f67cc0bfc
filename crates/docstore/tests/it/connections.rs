//! Database URLs, and unavailable databases.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use docstore::{Docstore, Location, StoreError};

use crate::support::{Backend, Database, InitialState, Place, new_organization, run};

on_both_backends!(empty: unmigrated_database_is_reported, query_without_tables_fails, messages_are_english);

async fn unmigrated_database_is_reported(db: Database) {
    let refused = db.check_migrated().await;
    assert!(matches!(refused, Err(StoreError::NotMigrated { pending: 1.. })), "{refused:?}");
    assert!(refused.unwrap_err().to_string().contains("`retrieval-server migrate`"));
    assert!(db.migrate().await.unwrap() > 0);
    db.check_migrated().await.unwrap();
    assert_eq!(db.migrate().await.unwrap(), 0);
}

async fn query_without_tables_fails(db: Database) {
    assert!(matches!(db.list_organizations().await, Err(StoreError::Query(_))));
}

async fn messages_are_english(db: Database) {
    assert_eq!(db.find_translated_messages().await.unwrap(), None);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

#[test]
fn urls_are_parsed() {
    let data_dir = Path::new("/data");
    let sqlite = |url: &str| match Location::parse(url, data_dir) {
        Ok(Location::Sqlite(path)) => path,
        other => panic!("{url}: {other:?}"),
    };
    assert_eq!(sqlite("sqlite:retrieval.db"), PathBuf::from("/data/retrieval.db"));
    assert_eq!(sqlite("sqlite:sub folder/ä.db"), PathBuf::from("/data/sub folder/ä.db"));
    assert_eq!(sqlite("sqlite:/elsewhere/retrieval.db"), PathBuf::from("/elsewhere/retrieval.db"));
    assert_eq!(sqlite("sqlite:///elsewhere/retrieval.db"), PathBuf::from("/elsewhere/retrieval.db"));
    for url in ["postgres://db/retrieval", "postgresql://user:secret@db:5433/retrieval?sslmode=require"] {
        assert!(matches!(Location::parse(url, data_dir), Ok(Location::Postgres(same)) if same == url));
    }
}

#[test]
fn invalid_url_error_hides_password() {
    // Each URL is invalid in a different way. No part of the password is shown, even if it is a parameter or contains
    // reserved characters.
    let invalid = [
        "",
        "retrieval.db",
        "sqlite:",
        "sqlite://",
        "sqlite::memory:",
        "mysql://user:hunter2@db/retrieval",
        "mysql:user:hunter2@db/retrieval",
        "postgres:user:hunter2@db/retrieval",
        "Postgres//user:hunter2@db/retrieval",
        "user:hunter2@db",
        "mysql://db/retrieval?user=me&password=hunter2",
        "postgres://user:hunter2@db:port/retrieval",
        "postgres://user:hunter2@db/retrieval?unknown=1",
        "postgres://user:x@hunter2@db:port/retrieval",
        "postgres://db/retrieval?hunter2=x",
        "postgres://user:x#hunter2@db:port/retrieval",
        "postgres://db:port/retrieval?password=hunter2",
        "mysql://db/retrieval?password=x@hunter2",
        "postgres:///retrieval",
        "postgres://",
    ];
    for url in invalid {
        match Location::parse(url, Path::new("/data")) {
            Err(error @ StoreError::InvalidUrl { .. }) => {
                let (shown, debug) = (error.to_string(), format!("{error:?}"));
                assert!(!shown.contains("hunter2") && !debug.contains("hunter2"), "{url}: {shown}");
            }
            other => panic!("{url}: {other:?}"),
        }
    }
    let shown = Location::parse("mysql://user:hunter2@db/retrieval", Path::new("/data")).unwrap_err().to_string();
    assert!(shown.contains("db/retrieval"), "the rest of the URL is shown: {shown}");
}

#[test]
fn debug_output_hides_password() {
    let shown = [
        ("postgres://user:hunter2@db/retrieval", "postgres://...@db/retrieval"),
        ("postgres://user:x/hunter2@db/retrieval?sslmode=require", "postgres://...@db/retrieval"),
        ("postgres://db/retrieval?user=me&password=hunter2", "postgres://db/retrieval?..."),
        ("postgres://db/retrieval?user=me&password=x@hunter2", "postgres://..."),
        ("postgres://user:x?hunter2@db/retrieval", "postgres://..."),
    ];
    for (url, expected) in shown {
        let location = Location::parse(url, Path::new("/data")).unwrap();
        assert_eq!(format!("{location:?}"), format!("Postgres({expected:?})"));
    }
}

#[test]
fn store_requires_multi_threaded_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(folder.path().join("retrieval.db"));
    assert!(matches!(Docstore::open(&location, 2), Err(StoreError::WrongRuntime)));
    let current_thread = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    current_thread.block_on(async {
        assert!(matches!(Docstore::open(&location, 2), Err(StoreError::WrongRuntime)));
    });
}

#[test]
fn unopenable_file_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        for path in [folder.path().join("no such folder/retrieval.db"), folder.path().to_path_buf()] {
            let store = Docstore::open(&Location::Sqlite(path), 2).unwrap();
            assert!(matches!(store.migrate().await, Err(StoreError::Unavailable(_))));
            assert!(matches!(store.list_organizations().await, Err(StoreError::Unavailable(_))));
        }
    });
}

#[test]
fn invalid_database_file_fails() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("retrieval.db");
    std::fs::write(&path, "not a database, but long enough for a database header. ".repeat(100)).unwrap();
    runtime().block_on(async {
        let store = Docstore::open(&Location::Sqlite(path), 2).unwrap();
        assert!(store.migrate().await.is_err());
        assert!(store.list_organizations().await.is_err());
    });
}

/// A refused connection and a silent server both fail within the connection timeout.
#[test]
fn unreachable_postgres_times_out() {
    let refusing = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    runtime().block_on(async {
        for address in [refusing, silent.local_addr().unwrap()] {
            let url = format!("postgres://user:hunter2@{address}/retrieval");
            let store = Docstore::open(&Location::Postgres(url), 2).unwrap();
            let start = Instant::now();
            let error = store.list_organizations().await.unwrap_err();
            assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
            assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
            let error = store.check_migrated().await.unwrap_err();
            assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
        }
    });
}

#[test]
fn pool_recovers_from_dropped_connections() {
    run(Backend::Postgres, InitialState::Migrated, async |db: Database| {
        let organization_id = new_organization(&db).await;
        db.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        .await;
        // A call may hit a connection that is being closed and fail; soon after, calls succeed.
        let deadline = Instant::now() + Duration::from_secs(5);
        while let Err(error) = db.find_organization(organization_id).await {
            assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
            assert!(Instant::now() < deadline, "{error:?}");
        }
        let organization_id = new_organization(&db).await;
        assert!(db.find_organization(organization_id).await.unwrap().is_some());
    });
}

#[test]
fn locked_sqlite_is_unavailable() {
    run(Backend::Sqlite, InitialState::Migrated, async |db: Database| {
        let Place::Sqlite(path) = &db.place else { unreachable!("it is SQLite") };
        let (locked, release) = (std::sync::mpsc::channel(), std::sync::mpsc::channel::<()>());
        let path = path.clone();
        let holder = std::thread::spawn(move || {
            use diesel::Connection;
            use diesel::connection::SimpleConnection;
            let mut connection = diesel::SqliteConnection::establish(path.to_str().unwrap()).unwrap();
            connection.batch_execute("BEGIN IMMEDIATE").unwrap();
            locked.0.send(()).unwrap();
            let _ = release.1.recv();
            connection.batch_execute("ROLLBACK").unwrap();
        });
        locked.1.recv().unwrap();
        let refused = db.create_organization(crate::support::organization(), None, crate::support::audit_entry()).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        // Readers do not wait for the writer.
        assert!(db.list_organizations().await.unwrap().is_empty());
        release.0.send(()).unwrap();
        holder.join().unwrap();
        new_organization(&db).await;
    });
}

/// SQLite rejects all but one of the processes that create the journal of a new file concurrently. Without retries about
/// one open in thirty would fail here.
#[test]
fn concurrent_opens_of_new_file_succeed() {
    let folder = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        for round in 0..60 {
            let location = Location::Sqlite(folder.path().join(format!("{round}.db")));
            let opening: Vec<_> = (0..8)
                .map(|_| Docstore::open(&location, 1).unwrap())
                .map(|store| tokio::spawn(async move { store.check_migrated().await }))
                .collect();
            for one in opening {
                let outcome = one.await.unwrap();
                assert!(matches!(outcome, Err(StoreError::NotMigrated { .. })), "round {round}: {outcome:?}");
            }
        }
    });
}
