//! Processes killed or stopped during indexing runs and imports.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Client, Database, Server, finish, lines, signal_group, until, wait};

on_both_databases!(
    run_survives_three_kills,
    run_survives_three_restarts,
    killed_import_is_completed_by_the_next,
    killed_import_with_running_server_is_completed_by_the_next,
    import_continues_after_server_is_killed,
);

const FILES: usize = 200;

fn run_survives_three_kills(database: Database) {
    interrupt_three_times(database, Server::kill);
}

fn run_survives_three_restarts(database: Database) {
    interrupt_three_times(database, |server| assert_eq!(server.stop().code(), Some(0)));
}

/// Returns a word that occurs in one document only.
fn word(n: usize) -> String {
    const SYLLABLES: [&str; 10] = ["ba", "ke", "di", "fo", "gu", "ra", "le", "mi", "no", "tu"];
    let digits = [n / 100 % 10, n / 10 % 10, n % 10];
    format!("z{}x", digits.map(|digit| SYLLABLES[digit]).concat())
}

fn interrupt_three_times(database: Database, interrupt: impl Fn(&mut Server)) {
    let mut server = Server::start(database);
    let client = server.tenant("acme");
    let contents: Vec<String> =
        (0..FILES).map(|n| format!("File {} of the archive. {}", word(n), "Common filler text. ".repeat(20))).collect();
    std::thread::scope(|scope| {
        for part in 0..4 {
            let (client, contents) = (&client, &contents);
            scope.spawn(move || {
                for n in (part..FILES).step_by(4) {
                    client.upload(&format!("{n}.txt"), &contents[n]);
                }
            });
        }
    });

    let sync_id = client.start_run("incremental");
    let mut interrupted = 0;
    for target in [1, FILES / 3, FILES * 2 / 3] {
        let state = until("the run indexes enough files", Duration::from_secs(60), || {
            let status = client.run_status(&sync_id);
            let indexed = status["stats"]["indexed"].as_u64().unwrap() as usize;
            (indexed >= target).then(|| status["state"].clone())
        });
        interrupted += usize::from(state == "running");
        interrupt(&mut server);
        server.resume();
    }
    // A fast run may finish between two polls, before the last interruption.
    assert!(interrupted >= 2, "{interrupted} interruptions during the run");

    let run = client.finish_run(&sync_id);
    let bytes: usize = contents.iter().map(String::len).sum();
    let expected = json!({
        "enumerated": FILES, "fetched": FILES, "indexed": FILES, "failed": 0, "skipped_unsupported": 0, "deleted": 0,
        "bytes": bytes,
    });
    assert_eq!((&run["state"], &run["stats"]), (&"completed".into(), &expected), "{run:#}");
    let common = client.search_workspace("archive");
    assert_eq!(common["integration_results"]["total"], FILES);
    for n in 0..FILES {
        let found = client
            .search(&word(n), json!({ "scope": client.workspace_scope(), "response": { "verbosity": "ids_only" } }));
        let found = found.ok();
        let addresses: Vec<&Value> =
            found["results"].as_array().unwrap().iter().map(|hit| &hit["canonical_url"]).collect();
        assert_eq!(addresses, [&json!(client.workspace_url(&format!("{n}.txt")))], "{}", word(n));
    }
    let unchanged = client.index();
    assert_eq!((&unchanged["stats"]["fetched"], &unchanged["stats"]["deleted"]), (&0.into(), &0.into()));
}

const PAGES: usize = 1_000;

fn pages() -> Vec<Value> {
    (0..PAGES)
        .map(|n| {
            let text = format!("Page {} of the almanac. {}", word(n), "Common filler text. ".repeat(10));
            json!({ "url": format!("https://example.com/{n}"), "title": format!("Page {n}"), "text": text })
        })
        .collect()
}

/// Asserts that every page is found exactly once.
fn assert_all_found(client: &Client) {
    for n in (0..PAGES).step_by(40).chain([PAGES - 1]) {
        let found = client.search(&word(n), json!({ "max_results": 50 })).ok();
        let addresses: Vec<&Value> =
            found["results"].as_array().unwrap().iter().map(|hit| &hit["canonical_url"]).collect();
        assert_eq!(addresses, [&json!(format!("https://example.com/{n}"))], "{}", word(n));
    }
}

/// Kills the import after a while, if it has not ended by then.
fn kill_import(server: &Server, input: &str, enough: Duration) {
    let mut import = server.start_command(&["web", "import", "-"], input);
    if wait(&mut import.child, enough).is_none() {
        signal_group(&import.child, Signal::KILL);
        import.child.wait().unwrap();
    }
}

fn killed_import_is_completed_by_the_next(database: Database) {
    let mut server = Server::start(database);
    let client = server.tenant("acme");
    assert_eq!(server.stop().code(), Some(0));
    let input = lines(&pages());
    for milliseconds in [60, 150, 400, 800] {
        kill_import(&server, &input, Duration::from_millis(milliseconds));
    }
    let report = server.command_with_input(&["web", "import", "-"], &input).object();
    assert_eq!((&report["read"], &report["failed"]), (&PAGES.into(), &0.into()));
    assert_eq!(report["imported"].as_u64().unwrap() + report["unchanged"].as_u64().unwrap(), PAGES as u64);
    server.resume();
    assert_all_found(&client);
}

fn killed_import_with_running_server_is_completed_by_the_next(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let input = lines(&pages());
    for milliseconds in [100, 400] {
        kill_import(&server, &input, Duration::from_millis(milliseconds));
    }
    let report = server.command_with_input(&["web", "import", "-"], &input).object();
    assert_eq!((&report["read"], &report["failed"]), (&PAGES.into(), &0.into()));
    assert_all_found(&client);
}

/// The import goes on in the server's place.
fn import_continues_after_server_is_killed(database: Database) {
    let mut server = Server::start(database);
    let client = server.tenant("acme");
    let mut import = server.start_command(&["web", "import", "-"], lines(&pages()));
    until("the import is in the middle", Duration::from_secs(30), || {
        let some = client.search("almanac", json!({ "max_results": 1 })).ok();
        let ended = import.child.try_wait().unwrap().is_some();
        (ended || !some["results"].as_array().unwrap().is_empty()).then_some(())
    });
    server.kill();
    let report = finish(import).object();
    assert_eq!((&report["imported"], &report["failed"]), (&PAGES.into(), &0.into()), "{report:#}");
    server.resume();
    assert_all_found(&client);
}
