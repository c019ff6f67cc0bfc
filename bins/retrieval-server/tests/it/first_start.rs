//! First start, readiness, shutdown, conflicts between servers.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Client, Database, Finished, Server, finish, run, until, uuid_of};

on_both_databases!(
    readiness_lists_all_dependencies,
    sigterm_stops_within_five_seconds,
    second_server_on_a_data_folder_is_refused,
    deployment_without_index_refuses_searches,
);

/// Returns the word after a label of the banner.
fn value_after<'a>(banner: &'a str, label: &str) -> &'a str {
    let line = banner
        .lines()
        .find(|line| line.trim_start().starts_with(label))
        .unwrap_or_else(|| panic!("{label} in {banner}"));
    line.trim_start()[label.len()..].split_whitespace().next().unwrap()
}

/// Runs the commands in one shell. Without curl it reports the skipped check and returns `None`, or panics in CI.
fn run_pasted_commands(commands: &[&str]) -> Option<Finished> {
    if Command::new("curl").arg("--version").output().is_err() {
        assert!(std::env::var("CI").is_err(), "CI is set, but curl is missing");
        println!("NOT RUN: the pasted commands require curl");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(commands.join("\n")).current_dir(folder.path());
    Some(run(shell, b""))
}

/// Returns the output of the last command.
fn answer(pasted: &Finished) -> Value {
    assert_eq!(pasted.code(), Some(0), "{pasted:#?}");
    let last = pasted.stdout.lines().last().unwrap_or_else(|| panic!("nothing was printed: {pasted:#?}"));
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {pasted:#?}"))
}

fn banner_of(server: &Server) -> String {
    until("the banner is printed", Duration::from_secs(5), || {
        let shown = server.stdout();
        shown.contains("workspace_id").then_some(shown)
    })
}

/// Standard output of the test is a file, as that of a service is: the key stays out of it.
#[test]
fn first_start_prints_working_commands() {
    let mut server = Server::start(Database::sqlite());
    let banner = banner_of(&server);
    assert_eq!(value_after(&banner, "Base URL"), server.base());
    let organization = Uuid::parse_str(value_after(&banner, "Organization")).unwrap();
    let key_file = server.data_folder().join("first-key");
    assert!(banner.contains(&format!("in the file {} (mode 600)", key_file.display())), "{banner}");
    assert_eq!(fs::metadata(&key_file).unwrap().permissions().mode() & 0o777, 0o600);
    let key = fs::read_to_string(&key_file).unwrap().trim_end().to_owned();
    assert!(!banner.contains(&key) && !server.log().contains(&key));
    assert_eq!(value_after(&banner, "Console"), format!("{}/console/", server.base()));
    let client = server.client(Some(&key), organization);

    let pasted: Vec<&str> = banner.lines().filter(|line| line.contains("curl ")).collect();
    assert_eq!(pasted.len(), 3, "{banner}");
    if let Some(pasted) = run_pasted_commands(&pasted) {
        let answer = answer(&pasted);
        assert_eq!(answer["results"][0]["title"], "Hello", "{answer:#}");
        assert_eq!(answer["results"][0]["snippet"], "The walrus eats clams at midnight.");
    }

    assert!(banner.contains("The web index is empty"), "{banner}");
    for command in ["web crawl https://docs.example.com --wait", "RETRIEVAL__WEB__PROVIDERS=", "web import pages.jsonl"]
    {
        assert!(banner.lines().any(|line| line.contains(command)), "{command} in {banner}");
    }
    let me = client.get("/v1/me").ok();
    assert_eq!(me["web"]["index_empty"], true);
    assert!(!me["credential"]["scopes"].as_array().unwrap().contains(&json!("web:manage")), "{me}");

    let listed = server.command(&["admin", "org", "list"]).lines();
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0]["name"], &listed[0]["organization_id"]), (&"default".into(), &json!(organization)));
    assert_eq!(server.stop().code(), Some(0));
    server.resume();
    assert_eq!(client.get("/v1/files").status, 200);
    assert_eq!(server.stop().code(), Some(0));
    assert_eq!(server.stdout(), banner, "printed once");
    if let Some(refused) = run_pasted_commands(&pasted[1..2]) {
        assert!(refused.code() == Some(1) && refused.stdout.is_empty(), "it waits for no run: {refused:#?}");
        assert!(refused.stderr.contains("curl: "), "{refused:#?}");
    }
    assert!(!server.log().contains(client.key.as_deref().unwrap()));
}

#[test]
fn first_key_is_printed_on_request() {
    let mut server = Server::prepare(Database::sqlite(), "");
    server.arguments = vec!["--print-key", "serve"];
    server.resume();
    let banner = banner_of(&server);
    let organization = Uuid::parse_str(value_after(&banner, "Organization")).unwrap();
    let key = value_after(&banner, "API key");
    let client = server.client(Some(key), organization);
    client.get("/v1/files").ok();
    assert_eq!(value_after(&banner, "Console"), format!("{}/console/#key={key}", server.base()));
    assert!(!server.data_folder().join("first-key").exists());
}

/// A key that cannot be kept is never created, so that the next start is the first one again.
#[test]
fn first_start_is_repeated_if_its_key_cannot_be_written() {
    let mut server = Server::prepare(Database::sqlite(), "");
    let key_file = server.data_folder().join("first-key");
    fs::create_dir_all(&key_file).unwrap();
    let failed = server.command(&["serve"]);
    assert_eq!((failed.code(), failed.stdout.as_str()), (Some(1), ""), "{failed:#?}");
    assert!(failed.stderr.contains("writing the first key"), "{}", failed.stderr);
    assert_eq!(server.command(&["admin", "org", "list"]).lines(), [] as [Value; 0]);

    fs::remove_dir(&key_file).unwrap();
    server.resume();
    let organization = Uuid::parse_str(value_after(&banner_of(&server), "Organization")).unwrap();
    let key = fs::read_to_string(&key_file).unwrap();
    server.client(Some(key.trim_end()), organization).get("/v1/files").ok();
}

/// A start may be killed, or fail, between creating the key and naming its file.
#[test]
fn first_key_that_was_never_shown_is_found_by_the_next_start() {
    let mut server = Server::start(Database::sqlite());
    let organization = Uuid::parse_str(value_after(&banner_of(&server), "Organization")).unwrap();
    assert_eq!(server.stop().code(), Some(0));
    let key_file = server.data_folder().join("first-key");
    let draft = server.data_folder().join(".retrieval-partial-0123456789abcdef");
    fs::rename(&key_file, &draft).unwrap();
    // Keys of starts that created no organization stay where they are.
    let invalid = server.data_folder().join(".retrieval-partial-0000000000000000");
    fs::write(&invalid, "rsk_of_no_organization\n").unwrap();

    server.resume();
    until("the key is found", Duration::from_secs(5), || key_file.exists().then_some(()));
    let key = fs::read_to_string(&key_file).unwrap();
    server.client(Some(key.trim_end()), organization).get("/v1/files").ok();
    let warning = format!("the key is in the file `{}`", key_file.display());
    until("the file is named", Duration::from_secs(5), || server.log().contains(&warning).then_some(()));
    assert!(!draft.exists() && invalid.exists());
    assert!(!server.log().contains(key.trim_end()));
}

/// Standard output may be full or closed.
#[cfg(target_os = "linux")]
#[test]
fn first_key_that_cannot_be_printed_goes_to_the_file() {
    let mut server = Server::prepare(Database::sqlite(), "");
    let mut command = crate::support::command();
    command.args(["--print-key", "serve", "--config"]).arg(server.settings_file());
    command.stdout(fs::File::options().write(true).open("/dev/full").unwrap()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let key_file = server.data_folder().join("first-key");
    let key = until("the key is written", Duration::from_secs(30), || {
        fs::read_to_string(&key_file).ok().filter(|key| key.ends_with('\n'))
    });
    child.kill().unwrap();
    child.wait().unwrap();
    server.resume();
    let organization = uuid_of(&server.admin(&["org", "list"])["organization_id"]);
    server.client(Some(key.trim_end()), organization).get("/v1/files").ok();
}

/// The first start creates nothing if a command has created an organization before.
#[test]
fn first_start_keeps_existing_organizations() {
    let mut server = Server::prepare(Database::sqlite(), "");
    server.create_organization("mine");
    server.resume();
    assert_eq!(server.stop().code(), Some(0));
    assert_eq!(server.stdout(), "");
    assert_eq!(server.command(&["admin", "org", "list"]).lines().len(), 1);
}

/// Returns the path and mode of every entry below a folder.
fn modes(folder: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let metadata = entry.metadata().unwrap();
        found.push((entry.path(), metadata.permissions().mode() & 0o777));
        if metadata.is_dir() {
            found.extend(modes(&entry.path()));
        }
    }
    found
}

#[track_caller]
fn assert_private(server: &Server) {
    assert_eq!(fs::metadata(server.data_folder()).unwrap().permissions().mode() & 0o777, 0o700);
    let found = modes(&server.data_folder());
    assert!(found.len() > 10, "{found:?}");
    for (path, mode) in found {
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
}

#[test]
fn private_files_are_readable_by_owner_only() {
    let mut server = Server::prepare(Database::sqlite(), "");
    // As `mkdir` or a container runtime creates it.
    fs::create_dir(server.data_folder()).unwrap();
    fs::set_permissions(server.data_folder(), Permissions::from_mode(0o755)).unwrap();
    server.resume();
    let client = server.tenant("acme");
    client.upload("a.txt", "The walrus eats clams.");
    client.index();
    assert_eq!(server.stop().code(), Some(0));
    assert_private(&server);
    assert!(server.log().contains("mode 755"), "{}", server.log());

    // As an older version left it.
    for (path, _) in modes(&server.data_folder()) {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    server.resume();
    assert_eq!(client.search_workspace("walrus")["integration_results"]["total"], 1);
    assert_eq!(server.stop().code(), Some(0));
    assert_private(&server);
}

#[test]
fn unmigrated_postgres_error_names_migrate() {
    let Some(database) = Database::postgres() else { return };
    let mut server = Server::prepare(database, "");
    for arguments in [&["serve"][..], &["admin", "org", "list"]] {
        let refused = server.command(arguments);
        assert_eq!((refused.code(), refused.stdout.as_str()), (Some(1), ""), "{refused:#?}");
        assert!(refused.stderr.contains("migrate"), "{}", refused.stderr);
    }
    server.command(&["migrate"]).object();
    server.resume();
    assert_eq!(server.command(&["admin", "org", "list"]).lines(), [] as [Value; 0], "nothing is created automatically");
    assert_eq!(server.stop().code(), Some(0));
    assert_eq!(server.stdout(), "");
}

fn readiness_lists_all_dependencies(database: Database) {
    let server = Server::start(database);
    let operations = Client::new(&server.operations(), None, Uuid::nil());
    assert_eq!(operations.get("/healthz").ok()["status"], "ok");
    let ready = operations.get("/readyz").ok();
    assert_eq!(ready["status"], "ready");
    let dependencies = ready["dependencies"].as_array().unwrap();
    assert!(dependencies.len() >= 3, "{ready:#}");
    for dependency in dependencies {
        assert_eq!(dependency["state"], "up", "{ready:#}");
        assert!(dependency["latency_ms"].as_f64().is_some_and(|latency| latency >= 0.0), "{ready:#}");
    }
    operations.get("/nothing").error(404, "not_found");
    operations.get("/v1/files").error(404, "not_found");
    operations.send("POST", "/healthz", &[], None).error(405, "method_not_allowed");
}

fn sigterm_stops_within_five_seconds(database: Database) {
    let mut server = Server::start(database);
    let client = server.tenant("acme");
    client.get("/v1/files").ok();
    // Idle connections to every listener do not delay the shutdown.
    let idle = [server.base(), server.operations(), format!("http://{}", server.storage_address())]
        .map(|address| std::net::TcpStream::connect(address.strip_prefix("http://").unwrap()).unwrap());
    let asked = Instant::now();
    assert_eq!(server.stop().code(), Some(0));
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    drop(idle);
    server.resume();
    assert_eq!(client.get("/v1/files").status, 200);
}

fn second_server_on_a_data_folder_is_refused(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let second = server.command(&["serve"]);
    assert_eq!((second.code(), second.stdout.as_str()), (Some(1), ""), "{second:#?}");
    let folder = server.data_folder().display().to_string();
    assert!(second.stderr.contains("another server") && second.stderr.contains(&folder), "{}", second.stderr);
    assert_eq!(client.get("/v1/files").status, 200, "the first server is unaffected");

    // The error of a port in use names the setting.
    let occupied = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let bind = occupied.local_addr().unwrap().to_string();
    let other = Server::prepare(Database::sqlite(), "");
    let settings = fs::read_to_string(other.settings_file()).unwrap();
    let taken = settings.replacen("bind = \"127.0.0.1:", "bind = \"taken:", 1);
    let start = taken.find("taken:").unwrap();
    let end = start + taken[start..].find('"').unwrap();
    fs::write(other.settings_file(), format!("{}{bind}{}", &taken[..start], &taken[end..])).unwrap();
    let refused = other.command(&["serve"]);
    assert_eq!(refused.code(), Some(1), "{refused:#?}");
    assert!(refused.stderr.contains("server.bind") && refused.stderr.contains(&bind), "{}", refused.stderr);
}

/// An import may take hours. It gives way to a server, which then feeds the index.
#[test]
fn server_starts_beside_a_command_that_feeds_the_index() {
    let mut server = Server::prepare(Database::sqlite(), "");
    let input = server.settings_file().with_file_name("pages");
    assert!(Command::new("mkfifo").arg(&input).status().unwrap().success());
    // Reading, too: that does not wait for the command.
    let mut pipe = fs::File::options().read(true).write(true).open(&input).unwrap();
    let page = |url: &str, text: &str| format!("{}\n", json!({ "url": url, "text": text }));
    let mut import = server.start_command(&["web", "import", input.to_str().unwrap()], "");
    pipe.write_all(page("https://example.com/1", "The walrus eats clams.").as_bytes()).unwrap();
    let index = server.data_folder().join("index/LOCK");
    until("the command has the index", Duration::from_secs(30), || index.exists().then_some(()));
    server.resume();
    assert!(import.child.try_wait().unwrap().is_none(), "the command goes on");
    let second = server.command(&["serve"]);
    assert!(second.stderr.contains("another server uses the data folder"), "{second:#?}");
    pipe.write_all(page("https://example.com/2", "A carpenter met a walrus on the beach.").as_bytes()).unwrap();
    drop(pipe);
    assert_eq!(finish(import).object()["imported"], 2);
    let found = server.tenant("acme").search_web("walrus");
    assert_eq!(found["results"].as_array().unwrap().len(), 2, "the command waits for the server: {found:#}");
    assert_eq!(server.stop().code(), Some(0));

    // And the other way round: the command takes over.
    assert_eq!(server.command(&["index", "rebuild", "--index", "web"]).object()["documents"], 2);
}

/// The deletion of an organization without a server is such a command.
#[test]
fn server_starts_once_a_command_has_left_the_object_store() {
    let mut server = Server::prepare(Database::sqlite(), "");
    let objects = server.data_folder().join("objects");
    fs::create_dir_all(&objects).unwrap();
    let lock = fs::File::create(objects.join("lock")).unwrap();
    lock.lock().unwrap();
    server.spawn();
    let waits = || server.log().contains("uses the object store").then_some(());
    until("the server waits", Duration::from_secs(30), waits);
    drop(lock);
    server.wait();
    server.tenant("acme").upload("a.txt", "The walrus eats clams.");
    assert_eq!(server.stop().code(), Some(0));
}

/// Searches are refused and not charged; documents can be read.
fn deployment_without_index_refuses_searches(database: Database) {
    let server = Server::start_with(database, "[index]\nbackend = \"none\"\n");
    let organization = server.admin(&["org", "create", "--name", "acme", "--prepaid-cents", "1"]);
    let organization = uuid_of(&organization["organization_id"]);
    let key = server.create_key(organization, &[]);
    let client = server.client(key["key"].as_str(), organization);
    server.import(&[json!({ "url": "https://example.com/", "text": "The walrus eats clams." })]);
    for _ in 0..3 {
        client.search("walrus", json!({})).error(503, "provider_unavailable");
    }
    let read = client.document(json!({ "canonical_url": "https://example.com/" })).ok();
    assert_eq!(read["content"]["text"], "The walrus eats clams.");
    let added = server.admin(&["balance", "add", "--org", &organization.to_string(), "--cents", "1"]);
    assert_eq!(added["balance_cents"], 2);
}
