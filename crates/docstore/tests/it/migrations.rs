//! Migrations: up, down, and concurrent.

use std::time::Duration;

use docstore::StoreError;

use crate::support::{Database, Place, connect, new_organization};

on_both_backends!(empty:
    up_down_up_restores_schema, down_removes_all_tables, concurrent_migrations_run_once,
    newer_database_is_refused_if_it_takes_something_away, newer_database_without_a_record_of_contractions_is_refused,
    migration_does_not_queue_for_a_table_in_use,
);

/// Returns the definitions of all tables, indexes and constraints.
async fn schema(db: &Database) -> Vec<String> {
    let sql = if db.is_sqlite() {
        "SELECT type || ' ' || name || ': ' || coalesce(sql, '') AS line FROM sqlite_master ORDER BY 1"
    } else {
        "SELECT line FROM (
             SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable
                 || ' ' || coalesce(column_default, '') || ' ' || coalesce(collation_name, '')
                 || ' ' || ordinal_position AS line
             FROM information_schema.columns WHERE table_schema = 'public'
             UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
             UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
             FROM pg_constraint WHERE connamespace = 'public'::regnamespace
             UNION ALL SELECT 'sequence ' || sequence_name FROM information_schema.sequences
         ) AS everything ORDER BY line"
    };
    db.lines(sql).await.into_iter().flatten().collect()
}

async fn up_down_up_restores_schema(db: Database) {
    assert!(db.migrate().await.unwrap() > 0);
    let first = schema(&db).await;
    assert!(first.iter().any(|line| line.contains("one_run_in_flight")), "{first:?}");
    new_organization(&db).await;
    db.revert_all_migrations().await.unwrap();
    assert!(db.check_migrated().await.is_err());
    assert!(db.migrate().await.unwrap() > 0);
    assert_eq!(schema(&db).await, first);
    assert_eq!(db.count("organizations").await, 0);
}

async fn down_removes_all_tables(db: Database) {
    db.migrate().await.unwrap();
    new_organization(&db).await;
    db.revert_all_migrations().await.unwrap();
    let left = schema(&db).await;
    // diesel's migration table and SQLite's internal tables remain.
    let leftovers: Vec<_> =
        left.iter().filter(|line| !line.contains("__diesel_schema_migrations") && !line.contains("sqlite_")).collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
}

async fn concurrent_migrations_run_once(db: Database) {
    let stores = [db.store.clone(), db.another_store(), db.another_store(), db.another_store()];
    let migrating = stores.map(|store| tokio::spawn(async move { store.migrate().await.unwrap() }));
    let mut ran = 0;
    for one in migrating {
        ran += one.await.unwrap();
    }
    db.check_migrated().await.unwrap();
    assert_eq!(ran as i64, db.count("__diesel_schema_migrations").await);
}

async fn migration_does_not_queue_for_a_table_in_use(db: Database) {
    let Place::Postgres(url) = &db.place else { return };
    db.migrate().await.unwrap();
    db.revert_all_migrations().await.unwrap();
    let user = connect(url).await;
    user.batch_execute("BEGIN; LOCK TABLE __diesel_schema_migrations IN EXCLUSIVE MODE").await.unwrap();
    let store = db.another_store();
    let migrating = tokio::spawn(async move { store.migrate().await });
    let observer = connect(url).await;
    let waiting = "SELECT 1 FROM pg_locks JOIN pg_database AS d ON d.oid = pg_locks.database
        WHERE NOT granted AND locktype = 'relation' AND d.datname = current_database()";
    // Once for the wait, and once for its end while the table is still in use.
    for expected in [true, false] {
        let reached = async {
            while observer.query(waiting, &[]).await.unwrap().is_empty() == expected {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), reached).await.unwrap();
    }
    assert!(!migrating.is_finished());
    user.batch_execute("COMMIT").await.unwrap();
    let ran = migrating.await.unwrap().unwrap();
    assert_eq!((ran > 0, ran as i64), (true, db.count("__diesel_schema_migrations").await));
    db.check_migrated().await.unwrap();
}

async fn newer_database_is_refused_if_it_takes_something_away(db: Database) {
    db.migrate().await.unwrap();
    db.execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('20990101000000'), ('20990102000000')").await;
    db.check_migrated().await.unwrap();
    assert_eq!(db.migrate().await.unwrap(), 0);
    assert_refused(&db, "INSERT INTO contractions (migration) VALUES ('20990101000000')", "20990101000000").await;
}

async fn newer_database_without_a_record_of_contractions_is_refused(db: Database) {
    db.migrate().await.unwrap();
    let change = "DROP TABLE contractions; DELETE FROM __diesel_schema_migrations WHERE version = '20261125000000';
        INSERT INTO __diesel_schema_migrations (version) VALUES ('20990101000000')";
    assert_refused(&db, change, "20990101000000").await;
}

async fn assert_refused(db: &Database, change: &str, expected: &str) {
    for statement in change.split(';') {
        db.execute(statement).await;
    }
    for refused in [db.check_migrated().await, db.migrate().await.map(|_| ())] {
        let error = refused.unwrap_err();
        assert!(matches!(&error, StoreError::NewerDatabase { migration } if migration == expected), "{error}");
    }
}
