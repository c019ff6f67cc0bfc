//! `backup`, `restore` and `verify`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Client, Database, Server, instances, until};

const PAGES: usize = 30;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found
}

/// Uploads, deletes, searches and gives feedback until `done`. Returns the number of uploads that stay.
fn work(client: &Client, worker: usize, done: &AtomicBool, uploads: &AtomicUsize) {
    let mut round = 0;
    while !done.load(Ordering::Relaxed) {
        let kept = format!("{worker}-{round}.txt");
        client.upload(&kept, format!("The walrus number {round} of worker {worker}."));
        uploads.fetch_add(1, Ordering::Relaxed);
        client.upload("doomed.txt", "This file comes and goes.");
        client.delete("/v1/files/doomed.txt").ok();
        client.search_workspace("walrus");
        client.post("/v1/feedback", &json!({ "event_type": "stale_result" })).ok();
        round += 1;
    }
}

#[test]
fn backup_of_a_busy_server_is_restored() {
    let mut server = Server::start(Database::sqlite());
    let client = server.tenant("acme");
    let pages: Vec<Value> = (0..PAGES)
        .map(|n| json!({ "url": format!("https://example.com/{n}"), "text": format!("Observatory number {n}.") }))
        .collect();
    server.import(&pages);
    for n in 0..10 {
        client.upload(&format!("before-{n}.txt"), format!("A clam, number {n}."));
    }
    client.index();
    let folder = tempfile::tempdir().unwrap();
    let backup = folder.path().join("backup");
    let (done, uploads) = (AtomicBool::new(false), AtomicUsize::new(0));
    let written = std::thread::scope(|scope| {
        for worker in 0..4 {
            let (client, done, uploads) = (&client, &done, &uploads);
            scope.spawn(move || work(client, worker, done, uploads));
        }
        until("there is load", Duration::from_secs(30), || (uploads.load(Ordering::Relaxed) > 8).then_some(()));
        let written = server.command(&["backup", text(&backup)]);
        done.store(true, Ordering::Relaxed);
        written
    });
    let lines = written.lines();
    let summary = lines.last().unwrap();
    assert_eq!((summary["documents"].as_u64().unwrap() >= PAGES as u64 + 10, &summary["problems"]), (true, &json!(0)));
    assert!(summary["objects"].as_u64().unwrap() >= 18, "{summary}");
    for path in files_below(&backup) {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
    }
    assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o700);
    let siblings: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(siblings, ["backup"]);
    let secret = fs::read_to_string(server.data_folder().join("storage-credentials")).unwrap();
    let settings = fs::read_to_string(backup.join("settings.toml")).unwrap();
    assert!(settings.contains("[storage]") && !settings.contains(secret.lines().last().unwrap()));

    // Refused, and nothing is changed.
    let again = server.command(&["backup", text(&backup)]);
    assert_eq!(again.code(), Some(1), "{again:#?}");
    assert!(again.stderr.contains("is not empty"), "{}", again.stderr);
    let refused = server.command(&["restore", text(&backup)]);
    assert_eq!(refused.code(), Some(1), "{refused:#?}");
    assert!(refused.stderr.contains("is not empty"), "{}", refused.stderr);

    // Lost, except for the backup.
    assert_eq!(server.stop().code(), Some(0));
    fs::remove_dir_all(server.data_folder()).unwrap();
    let restored = server.command(&["restore", text(&backup)]).object();
    assert_eq!(restored["documents"], summary["documents"]);
    assert_eq!(names(&server.data_folder()), ["objects", "retrieval.db"]);
    server.resume();
    client.index();
    // A file that was deleted during the backup is gone by now.
    assert_eq!(server.command(&["verify"]).lines().last().unwrap()["problems"], 0);
    let scope = json!({ "indexes": ["web", "workspace"], "workspace_id": client.organization });
    until("everything is found", Duration::from_secs(30), || {
        let found = client.search("observatory clam", json!({ "scope": scope, "max_results": 50 })).ok();
        (found["results"].as_array().unwrap().len() == PAGES + 10).then_some(())
    });
    let names = client.file_names();
    for n in 0..10 {
        assert!(names.contains(&format!("before-{n}.txt")), "{names:?}");
    }
    for name in &names {
        let read = client.document(json!({ "canonical_url": client.workspace_url(name) })).ok();
        assert!(read["content"]["text"].is_string(), "{name}: {read:#}");
    }
}

#[test]
fn damaged_backups_are_refused() {
    let mut server = Server::start(Database::sqlite());
    let client = server.tenant("acme");
    client.upload("walrus.txt", "The walrus eats clams.");
    client.index();
    assert_eq!(server.stop().code(), Some(0));
    let folder = tempfile::tempdir().unwrap();
    let backup = folder.path().join("backup");
    server.command(&["backup", text(&backup)]).lines();
    // The note of the backup is of this service: a start closes the folder.
    fs::set_permissions(server.data_folder(), fs::Permissions::from_mode(0o755)).unwrap();
    server.resume();
    assert_eq!(fs::metadata(server.data_folder()).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(server.stop().code(), Some(0));
    fs::remove_dir_all(server.data_folder()).unwrap();
    for file in files_below(&backup) {
        if file.ends_with("settings.toml") || file.ends_with("manifest.json") {
            continue;
        }
        let good = fs::read(&file).unwrap();
        let mut bad = good.clone();
        let middle = bad.len() / 2;
        bad[middle] ^= 1;
        fs::write(&file, bad).unwrap();
        let refused = server.command(&["restore", text(&backup)]);
        assert_eq!((refused.code(), refused.stdout.as_str()), (Some(1), ""), "{}: {refused:#?}", file.display());
        let left: Vec<_> = fs::read_dir(server.data_folder()).into_iter().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
        fs::write(&file, good).unwrap();
    }
    // A manifest cannot name files outside of the folder.
    let manifest = fs::read_to_string(backup.join("manifest.json")).unwrap();
    fs::write(backup.join("manifest.json"), manifest.replace("settings.toml", "../settings.toml")).unwrap();
    let refused = server.command(&["restore", text(&backup)]);
    assert!(refused.stderr.contains("outside of its folder"), "{}", refused.stderr);
    fs::write(backup.join("manifest.json"), manifest).unwrap();
    server.command(&["restore", text(&backup)]).object();
    server.resume();
    assert_eq!(client.file_names(), ["walrus.txt"]);
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

/// Returns a stopped server with one file, and its backup.
fn backed_up(folder: &Path) -> (Server, Client, PathBuf) {
    let mut server = Server::start(Database::sqlite());
    let client = server.tenant("acme");
    client.upload("walrus.txt", "The walrus eats clams.");
    client.index();
    assert_eq!(server.stop().code(), Some(0));
    let backup = folder.join("backup");
    server.command(&["backup", text(&backup)]).lines();
    (server, client, backup)
}

/// Volumes are mount points: they exist, and their file system has a folder of its own.
#[test]
fn existing_folders_are_filled_and_rests_of_killed_commands_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (mut server, client, _) = backed_up(folder.path());
    let volume = folder.path().join("volume");
    fs::create_dir_all(volume.join("lost+found")).unwrap();
    fs::create_dir_all(volume.join(".retrieval-partial-1/objects")).unwrap();
    server.command(&["backup", text(&volume)]).lines();
    let complete = ["lost+found", "manifest.json", "objects", "objects.jsonl", "retrieval.db", "settings.toml"];
    assert_eq!(names(&volume), complete);

    fs::remove_dir_all(server.data_folder()).unwrap();
    fs::create_dir_all(server.data_folder().join("lost+found")).unwrap();
    fs::create_dir_all(server.data_folder().join(".retrieval-partial-2/objects")).unwrap();
    // A failed restore leaves nothing that stops the next one.
    let settings = fs::read_to_string(volume.join("settings.toml")).unwrap();
    fs::write(volume.join("settings.toml"), "damaged").unwrap();
    assert_eq!(server.command(&["restore", text(&volume)]).code(), Some(1));
    fs::write(volume.join("settings.toml"), settings).unwrap();
    server.command(&["restore", text(&volume)]).object();
    assert_eq!(names(&server.data_folder()), ["lost+found", "objects", "retrieval.db", "retrieval.db.lock"]);
    server.resume();
    assert_eq!(client.file_names(), ["walrus.txt"]);
}

/// The size, the content and the digest of a link's target may be right.
#[test]
fn links_and_endless_files_in_a_backup_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _, backup) = backed_up(folder.path());
    fs::remove_dir_all(server.data_folder()).unwrap();
    let outside = folder.path().join("outside");
    for name in ["retrieval.db", "objects.jsonl", "manifest.json", "objects", "settings.toml"] {
        fs::rename(backup.join(name), &outside).unwrap();
        std::os::unix::fs::symlink(&outside, backup.join(name)).unwrap();
        let refused = server.command(&["restore", text(&backup)]);
        assert_eq!((refused.code(), refused.stdout.as_str()), (Some(1), ""), "{name}: {refused:#?}");
        assert!(refused.stderr.contains("neither a file nor a folder"), "{name}: {}", refused.stderr);
        assert!(!server.data_folder().exists(), "{name}");
        fs::remove_file(backup.join(name)).unwrap();
        fs::rename(&outside, backup.join(name)).unwrap();
    }
    // A wrong size is noticed before the file is copied.
    fs::OpenOptions::new().write(true).open(backup.join("retrieval.db")).unwrap().set_len(1 << 40).unwrap();
    let refused = server.command(&["restore", text(&backup)]);
    assert!(refused.stderr.contains("is damaged: it has 1099511627776 bytes"), "{}", refused.stderr);
}

#[test]
fn manifest_without_database_or_objects_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _, backup) = backed_up(folder.path());
    fs::remove_dir_all(server.data_folder()).unwrap();
    let good = fs::read_to_string(backup.join("manifest.json")).unwrap();
    for (part, named) in [
        ("retrieval.db", "does not name `retrieval.db`"),
        ("objects/journal", "has 0 objects, and its manifest states 1"),
    ] {
        let mut manifest: Value = serde_json::from_str(&good).unwrap();
        manifest["parts"].as_array_mut().unwrap().retain(|one| one["path"] != part);
        fs::write(backup.join("manifest.json"), manifest.to_string()).unwrap();
        let refused = server.command(&["restore", text(&backup)]);
        assert_eq!((refused.code(), refused.stdout.as_str()), (Some(1), ""), "{part}: {refused:#?}");
        assert!(refused.stderr.contains(named), "{part}: {}", refused.stderr);
        assert!(!server.data_folder().exists(), "{part}");
    }
}

/// An indexing run would take files without objects for deleted ones.
#[test]
fn backup_of_external_storage_is_restored_with_external_storage_only() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _, backup) = backed_up(folder.path());
    fs::remove_dir_all(server.data_folder()).unwrap();
    let complete = fs::read_to_string(backup.join("manifest.json")).unwrap();
    let mut manifest: Value = serde_json::from_str(&complete).unwrap();
    manifest["objects"] = Value::Null;
    manifest["parts"].as_array_mut().unwrap().retain(|part| !part["path"].as_str().unwrap().starts_with("objects"));
    fs::write(backup.join("manifest.json"), manifest.to_string()).unwrap();
    let refused = server.command(&["restore", text(&backup)]);
    assert_eq!((refused.code(), refused.stdout.as_str()), (Some(1), ""), "{refused:#?}");
    assert!(refused.stderr.contains("1 files and no objects"), "{}", refused.stderr);
    assert!(!server.data_folder().exists());

    let settings = fs::read_to_string(server.settings_file()).unwrap();
    let external = "[storage]\nbackend = \"s3\"\nendpoint = \"http://127.0.0.1:9\"\n";
    fs::write(server.settings_file(), settings.replace("[storage]\n", external)).unwrap();
    let restored = server.command(&["restore", text(&backup)]);
    assert_eq!(restored.object()["files"], 1);
    assert!(!restored.stderr.contains("warning"), "{}", restored.stderr);
    fs::remove_dir_all(server.data_folder()).unwrap();
    // With objects the operator learns that nothing reads them.
    fs::write(backup.join("manifest.json"), complete).unwrap();
    let restored = server.command(&["restore", text(&backup)]);
    assert_eq!(restored.object()["objects"], 1);
    assert!(restored.stderr.contains("warning: storage is external"), "{}", restored.stderr);
}

#[test]
fn database_elsewhere_is_restored_after_the_objects_and_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (mut server, client, backup) = backed_up(folder.path());
    fs::remove_dir_all(server.data_folder()).unwrap();
    let place = folder.path().join("databases");
    let database = place.join("service.db");
    let settings = fs::read_to_string(server.settings_file()).unwrap();
    let start = settings.find("[database]\nurl = ").unwrap();
    let end = start + "[database]\n".len() + settings[start + "[database]\n".len()..].find('\n').unwrap();
    let url = format!("[database]\nurl = \"sqlite://{}\"", database.display());
    fs::write(server.settings_file(), format!("{}{url}{}", &settings[..start], &settings[end..])).unwrap();

    let refused = server.command(&["restore", text(&backup)]);
    assert!(refused.stderr.contains("does not exist: create it first"), "{}", refused.stderr);
    fs::create_dir(&place).unwrap();
    // SQLite would apply the log of another database to the restored one.
    for suffix in ["", "-wal", "-journal"] {
        let file = place.join(format!("service.db{suffix}"));
        fs::write(&file, "of another database").unwrap();
        let refused = server.command(&["restore", text(&backup)]);
        assert_eq!(refused.code(), Some(1), "{refused:#?}");
        assert!(refused.stderr.contains(&format!("`{}` exists", file.display())), "{}", refused.stderr);
        fs::remove_file(file).unwrap();
    }
    // A server holds the lock of the database.
    let lock = fs::File::create(place.join("service.db.lock")).unwrap();
    lock.lock_shared().unwrap();
    let refused = server.command(&["restore", text(&backup)]);
    assert!(refused.stderr.contains("another process uses the database"), "{}", refused.stderr);
    drop(lock);
    server.command(&["restore", text(&backup)]).object();
    assert_eq!(names(&place), ["service.db", "service.db.lock"]);
    assert_eq!(names(&server.data_folder()), ["objects"]);
    assert_eq!(fs::metadata(&database).unwrap().permissions().mode() & 0o777, 0o600);
    server.resume();
    assert_eq!(client.file_names(), ["walrus.txt"]);
}

#[test]
fn postgres_is_left_to_its_own_tools() {
    let server = Server::prepare(Database::Shared("postgres://u:hunter2@127.0.0.1:1/retrieval".to_owned()), "");
    let folder = tempfile::tempdir().unwrap();
    let objects = server.data_folder().join("objects");
    for (command, tool) in [("backup", "pg_dump --format=custom"), ("restore", "pg_restore --dbname")] {
        let refused = server.command(&[command, text(&folder.path().join("backup"))]);
        assert_eq!((refused.code(), refused.stdout.as_str()), (Some(1), ""), "{refused:#?}");
        assert!(refused.stderr.contains(tool) && !refused.stderr.contains("hunter2"), "{}", refused.stderr);
        assert!(refused.stderr.contains(text(&objects)), "{}", refused.stderr);
    }
    let external = instances::instance(server.same_database(), "all", "127.0.0.1:1", "");
    for command in ["backup", "restore"] {
        let refused = external.command(&[command, text(&folder.path().join("backup"))]);
        assert!(refused.stderr.contains("the tools of their store"), "{}", refused.stderr);
    }
}

/// Follows the documentation: the dump, and then the copy, while the server runs.
#[test]
fn objects_beside_postgres_are_copied_with_their_journal_first() {
    let Some(database) = Database::postgres() else { return };
    let mut server = Server::start(database);
    let client = server.tenant("acme");
    client.upload("walrus.txt", "The walrus eats clams.");
    client.index();
    let folder = tempfile::tempdir().unwrap();
    let backup = folder.path().join("backup");
    let refused = server.command(&["backup", text(&backup)]);
    let command = refused.stderr.split('`').find(|part| part.starts_with("mkdir")).unwrap().to_owned();
    let copied = std::process::Command::new("sh").args(["-c", &command]).status().unwrap();
    assert!(copied.success(), "{command}");

    assert_eq!(server.stop().code(), Some(0));
    let objects = server.data_folder().join("objects");
    fs::remove_dir_all(&objects).unwrap();
    fs::rename(backup.join("objects"), &objects).unwrap();
    server.resume();
    assert_eq!(client.file_names(), ["walrus.txt"]);
    assert_eq!(server.command(&["verify"]).lines().last().unwrap()["problems"], 0);
}

#[test]
fn verify_finds_damage() {
    let mut server = Server::start(Database::sqlite());
    let client = server.tenant("acme");
    for name in ["damaged.txt", "lost.txt", "sound.txt", "deleted.txt"] {
        client.upload(name, format!("The walrus of {name}."));
    }
    server.import(&[json!({ "url": "https://example.com/", "text": "An observatory." })]);
    client.index();
    client.delete("/v1/files/deleted.txt").ok();
    client.index();
    let sound = server.command(&["verify"]);
    assert_eq!(sound.lines().last().unwrap()["problems"], 0, "{sound:#?}");
    assert!(sound.lines().last().unwrap()["indexes"].as_str().unwrap().contains("running server"));
    assert_eq!(server.stop().code(), Some(0));
    let sound = server.command(&["verify"]).object();
    let counted = json!({
        "web": { "documents": 1, "indexed": 1, "pending": 0 },
        "workspace": { "documents": 3, "indexed": 3, "pending": 0 },
    });
    assert_eq!((&sound["objects"], &sound["indexes"]), (&json!(3), &counted));

    let objects = files_below(&server.data_folder().join("objects/objects"));
    let of = |name: &str| {
        let is_of = |path: &&PathBuf| fs::read_to_string(path).unwrap().contains(name);
        objects.iter().find(is_of).unwrap()
    };
    fs::write(of("damaged.txt"), "The walrus of damaged.tXt.").unwrap();
    fs::remove_file(of("lost.txt")).unwrap();
    let found = server.command(&["verify"]);
    assert_eq!(found.code(), Some(1), "{found:#?}");
    let lines: Vec<Value> = found.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let problems: Vec<_> = lines.iter().map(|line| (line["problem"].as_str(), line["name"].as_str())).collect();
    assert!(problems.contains(&(Some("object_damaged"), Some("damaged.txt"))), "{problems:?}");
    assert!(problems.contains(&(Some("object_missing"), Some("lost.txt"))), "{problems:?}");
    assert_eq!((problems.len(), &lines[2]["problems"]), (3, &json!(2)));

    // A backup contains the rest and fails.
    let folder = tempfile::tempdir().unwrap();
    let backup = server.command(&["backup", text(&folder.path().join("backup"))]);
    assert_eq!(backup.code(), Some(1), "{backup:#?}");
    assert!(backup.stdout.contains("object_damaged") && backup.stdout.contains("object_missing"), "{backup:#?}");
    assert!(folder.path().join("backup/manifest.json").exists());
}
