//! Restored and damaged data: an older database, and objects that the disk has damaged.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::{Client, Database, Server, until};

const DATABASE: [&str; 3] = ["retrieval.db", "retrieval.db-wal", "retrieval.db-shm"];

fn copy_database(from: &Path, to: &Path) {
    for name in DATABASE {
        let _ = fs::remove_file(to.join(name));
        if from.join(name).exists() {
            fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

fn total(client: &Client, query: &str) -> u64 {
    client.search_workspace(query)["integration_results"]["total"].as_u64().unwrap()
}

/// The index is newer: it lacks a file that was deleted after the backup, and has one that was added.
#[test]
fn index_catches_up_with_a_restored_database() {
    let mut server = Server::start(Database::sqlite());
    let client = server.tenant("acme");
    client.upload("old.txt", "The walrus eats clams.");
    client.index();
    assert_eq!(server.stop().code(), Some(0));
    let backup = tempfile::tempdir().unwrap();
    copy_database(&server.data_folder(), backup.path());

    server.resume();
    client.delete("/v1/files/old.txt").ok();
    client.upload("new.txt", "The carpenter eats oysters.");
    client.index();
    until("the deleted file is gone", std::time::Duration::from_secs(30), || {
        (total(&client, "walrus") == 0).then_some(())
    });
    assert_eq!(total(&client, "carpenter"), 1);
    assert_eq!(server.stop().code(), Some(0));

    copy_database(backup.path(), &server.data_folder());
    server.resume();
    until("the index follows the database", std::time::Duration::from_secs(30), || {
        (total(&client, "walrus") == 1 && total(&client, "carpenter") == 0).then_some(())
    });
    let log = server.log();
    assert!(log.contains("of another time than the database"), "{log}");
    assert_eq!(server.stop().code(), Some(0));
    let before = server.log().matches("rebuilding the index").count();
    server.resume();
    assert_eq!((total(&client, "walrus"), server.log().matches("rebuilding the index").count()), (1, before));
}

fn contents(folder: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(folder.join("objects/objects")).unwrap().map(|entry| entry.unwrap().path());
    folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())).collect()
}

#[test]
fn damaged_object_is_a_fault_and_keeps_its_text() {
    let server = Server::start(Database::sqlite());
    let client = server.tenant("acme");
    client.upload("a.pdf", crate::support::files::pdf("The walrus eats clams."));
    client.upload("b.txt", "The observatory opens after sunset.");
    client.index();
    let [content] = contents(&server.data_folder())
        .into_iter()
        .filter(|path| fs::read(path).unwrap().starts_with(b"%PDF"))
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    let (whole, length) = (fs::read(&content).unwrap(), fs::metadata(&content).unwrap().len());
    for damaged in [vec![0; usize::try_from(length).unwrap()], b"short".to_vec()] {
        fs::write(&content, damaged).unwrap();
        let run = client.finish_run(&client.start_run("full"));
        assert_eq!(
            (&run["state"], &run["stats"]["failed"], &run["stats"]["indexed"]),
            (&json!("completed"), &json!(1), &json!(1))
        );
        assert_eq!(total(&client, "walrus"), 1, "the text is kept");
        let shown = server.command(&["admin", "run", "show", run["sync_id"].as_str().unwrap()]);
        assert!(shown.stdout.contains("corrupt_object"), "{shown:#?}");
    }
    assert!(server.log().contains("object storage has damaged a file"));
    fs::write(&content, whole).unwrap();
    assert_eq!(client.index()["stats"]["indexed"], 1, "the next run tries again");
}
