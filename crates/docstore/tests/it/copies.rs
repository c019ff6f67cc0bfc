//! Copies of SQLite databases.

use docstore::{Docstore, StoreError};

use crate::support::{Database, NOW, at, new_organization, page};

on_both_backends!(copy_contains_writes_of_the_log, damage_is_found);

async fn copy_contains_writes_of_the_log(db: Database) {
    let folder = tempfile::tempdir().unwrap();
    // The characters have a meaning in URIs.
    let file = folder.path().join("a copy?#%41.db");
    if !db.is_sqlite() {
        assert!(matches!(db.copy_to(&file).await, Err(StoreError::NotSqlite)));
        return;
    }
    new_organization(&db).await;
    let writer = tokio::spawn({
        let store = db.store.clone();
        async move {
            for n in 0..50 {
                store.save_documents(vec![page(&format!("https://example.com/{n}"), "a page")], at(n)).await.unwrap();
            }
        }
    });
    db.save_documents(vec![page("https://first/", "a page")], NOW).await.unwrap();
    let before = db.count_contents().await.unwrap();
    db.copy_to(&file).await.unwrap();
    writer.await.unwrap();
    let after = db.count_contents().await.unwrap();

    let copy = Docstore::open_copy(&file).unwrap();
    let copied = copy.count_contents().await.unwrap();
    assert!((before.documents..=after.documents).contains(&copied.documents), "{copied:?}");
    assert_eq!((copied.organizations, copied.captures), (1, copied.documents));
    assert_eq!(copy.find_damage().await.unwrap(), [] as [String; 0]);
    copy.check_supported().await.unwrap();
    assert!(copy.save_documents(vec![page("https://last/", "a page")], NOW).await.is_err(), "a copy is only read");
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["a copy?#%41.db"]);
    assert!(db.copy_to(&file).await.is_err(), "an existing file is kept");
}

async fn damage_is_found(db: Database) {
    assert_eq!(db.find_damage().await.unwrap(), [] as [String; 0]);
    if !db.is_sqlite() {
        return;
    }
    db.execute("PRAGMA foreign_keys = OFF; INSERT INTO balances VALUES (zeroblob(16), 1)").await;
    assert_eq!(db.find_damage().await.unwrap(), ["row of `balances` without its `organizations`"]);
    db.execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('29991231235959')").await;
    db.check_supported().await.unwrap();
    db.execute("INSERT INTO contractions (migration) VALUES ('29991231235959')").await;
    let refused = db.check_supported().await;
    assert!(
        matches!(&refused, Err(StoreError::NewerDatabase { migration }) if migration == "29991231235959"),
        "{refused:?}"
    );
}
