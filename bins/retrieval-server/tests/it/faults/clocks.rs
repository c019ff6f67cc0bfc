//! Clocks that differ between instances, and that jump. A library that shifts the clock of a process is compiled for the tests.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use test_support::crawl_site::{CrawlSite, generated};

use super::crawls::assert_one_at_a_time;
use super::research::world::{Outside, Tenant, question, word};
use crate::support::{Database, Page, Server, instances, until};

on_both_databases!(work_goes_on_when_the_clock_jumps);

const LIBRARY: &str = include_str!("clock.c");
const MINUTE: i64 = 60;

/// Clock of processes, with an offset that a test changes.
struct Clock {
    library: PathBuf,
    offset: PathBuf,
    _folder: tempfile::TempDir,
}

impl Clock {
    /// Compiles the library; `None` without a compiler.
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let (source, library) = (folder.path().join("clock.c"), folder.path().join("clock.so"));
        fs::write(&source, LIBRARY).unwrap();
        let mut compiler = Command::new("cc");
        let compiled = compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).arg("-ldl").output();
        if !compiled.is_ok_and(|output| output.status.success()) {
            println!("NOT RUN: no C compiler for the shifted clock");
            return None;
        }
        let offset = folder.path().join("offset");
        fs::write(&offset, 0_i64.to_ne_bytes()).unwrap();
        Some(Self { library, offset, _folder: folder })
    }

    /// Makes the processes of a server follow this clock from their next start.
    fn apply(&self, server: &mut Server) {
        let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
        server.environment =
            vec![("LD_PRELOAD".to_owned(), text(&self.library)), ("TEST_CLOCK_OFFSET".to_owned(), text(&self.offset))];
    }

    /// Changes the offset of running processes, too.
    fn set(&self, seconds: i64) {
        let file = File::options().write(true).open(&self.offset).unwrap();
        file.write_all_at(&seconds.to_ne_bytes(), 0).unwrap();
    }
}

/// Two instances, one of them a minute ahead. A lease of the other one is over for it.
#[test]
fn instances_with_different_clocks_do_not_share_a_host() {
    const PAGES: usize = 40;
    let (Some(database), Some(clock)) = (Database::postgres(), Clock::new()) else { return };
    let settings = "[index]\nbackend = \"none\"\n[fetch]\nallow_networks = [\"127.0.0.0/8\"]\n";
    let store = instances::store();
    let mut one = instances::instance(database, "all", &store.storage_address(), settings);
    one.command(&["migrate"]).object();
    one.resume();
    let mut ahead = instances::instance(one.same_database(), "all", &store.storage_address(), settings);
    clock.apply(&mut ahead);
    clock.set(60);
    let site = CrawlSite::start("127.0.4.1", |path| match path.strip_prefix("/page/").and_then(|n| n.parse().ok()) {
        Some(n) if n < PAGES => generated(n, &[format!("/page/{}", n + 1)]).after(Duration::from_millis(150)),
        _ => Page::status(404),
    });
    one.command(&["web", "crawl", "--name", "slow", "--sitemaps", "off", &site.url("/page/0")]).object();
    until("the crawl has begun", Duration::from_secs(30), || (site.paths().len() > 3).then_some(()));
    ahead.resume();
    until("the crawl ends", Duration::from_secs(60), || {
        (one.command(&["web", "crawl-show", "slow"]).object()["state"] == "completed").then_some(())
    });
    let log = site.take_log();
    let mut visits: BTreeMap<&str, usize> = BTreeMap::new();
    for request in log.iter().filter(|request| request.path != "/robots.txt") {
        *visits.entry(&request.path).or_default() += 1;
    }
    assert!(visits.values().all(|count| *count == 1), "{visits:?}");
    assert_one_at_a_time(&log);
}

fn work_goes_on_when_the_clock_jumps(database: Database) {
    const FILES: usize = 30;
    const PAGES: usize = 20;
    let Some(clock) = Clock::new() else { return };
    let outside = Outside::start(false);
    // The embedded store checks presigned URLs against the clock of the machine, with PostgreSQL they have that of its server.
    let unit = if database.is_postgres() { 10 * MINUTE } else { 60 * MINUTE };
    let mut server = Server::prepare(database, &outside.settings());
    server.command(&["migrate"]).object();
    clock.apply(&mut server);
    server.resume();
    let tenant = Tenant::create(&server);
    let client = &tenant.client;
    let site = CrawlSite::start("127.0.4.2", |path| match path.strip_prefix("/page/").and_then(|n| n.parse().ok()) {
        Some(n) if n < PAGES => generated(n, &[format!("/page/{}", n + 1)]).after(Duration::from_millis(150)),
        _ => Page::status(404),
    });
    for (round, jump) in [unit, 0, -unit, unit].into_iter().enumerate() {
        let name = format!("round-{round}");
        for n in 0..FILES {
            client.upload(&format!("{round}-{n}.txt"), format!("The walrus {n} of round {round} eats clams."));
        }
        server.command(&["web", "crawl", "--name", &name, "--sitemaps", "off", &site.url("/page/0")]).object();
        let word = word(round);
        outside.gate.hold(&word, 1);
        let id = tenant.start_run(&json!({ "query": question(&word) }));
        assert!(outside.gate.is_held(&word, || tenant.has_ended(&id)));
        let sync_id = client.start_run("incremental");
        clock.set(jump);
        std::thread::sleep(Duration::from_millis(500));
        outside.gate.release();
        let run = client.finish_run(&sync_id);
        let stats = json!([run["state"], run["stats"]["indexed"], run["stats"]["failed"]]);
        assert_eq!(stats, json!(["completed", FILES, 0]), "{run:#}");
        let research = tenant.check(&server, &id);
        assert_eq!(
            (&research["status"], &research["stop_reason"]),
            (&json!("completed"), &json!("answered")),
            "a jump by {jump} s uses no budget: {research:#}"
        );
        until("files are found", Duration::from_secs(30), || {
            (client.search_workspace("walrus")["integration_results"]["total"] == (round + 1) * FILES).then_some(())
        });
    }
    // The last jump goes forward: visits that were planned before the clock was set back are due again.
    for crawl in server.command(&["web", "crawls"]).lines() {
        let name = crawl["name"].as_str().unwrap();
        until("the crawl ends", Duration::from_secs(60), || {
            let shown = server.command(&["web", "crawl-show", name]).object();
            (shown["state"] == "completed").then(|| assert_eq!(shown["pages"], PAGES))
        });
    }
    assert_one_at_a_time(&site.take_log());
    // And across a restart into the past.
    clock.set(0);
    server.kill();
    server.resume();
    client.upload("last.txt", "The last walrus eats clams.");
    assert_eq!(client.index()["stats"]["indexed"], 1);
}
