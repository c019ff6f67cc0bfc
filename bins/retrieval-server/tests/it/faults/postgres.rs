//! A PostgreSQL that crashes, restarts, and fails over to its standby while the service works.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::research::world::{Outside, Tenant, question, word};
use crate::support::postgres::{Postgres, url};
use crate::support::{Client, Database, Line, Proxy, Server, put, until};

const FILES: usize = 40;
/// Time without a database that accepts writes.
const OUTAGE: Duration = Duration::from_secs(3);
const RECOVERY: Duration = Duration::from_secs(30);

#[test]
fn postgres_restarts_lose_nothing() {
    let Some(mut postgres) = Postgres::start() else { return };
    let proxy = Proxy::start(&postgres.program.address());
    survive(&proxy, |release| {
        postgres.crash();
        std::thread::sleep(OUTAGE / 2);
        release();
        std::thread::sleep(OUTAGE / 2);
        postgres.resume();
        std::thread::sleep(Duration::from_secs(1));
        // In order, as an upgrade of the system does.
        postgres.program.end(Signal::INT);
        std::thread::sleep(OUTAGE / 3);
        postgres.resume();
    });
}

#[test]
fn postgres_failover_loses_nothing() {
    let Some(mut primary) = Postgres::start() else { return };
    let standby = primary.standby();
    let proxy = Proxy::start(&primary.program.address());
    survive(&proxy, |release| {
        primary.crash();
        proxy.redirect(&standby.program.address());
        // The standby answers, and rejects writes.
        std::thread::sleep(OUTAGE / 2);
        release();
        std::thread::sleep(OUTAGE / 2);
        standby.promote();
    });
}

/// An administrator makes a server read-only for a while; connections stay.
#[test]
fn read_only_postgres_loses_nothing() {
    let Some(postgres) = Postgres::start() else { return };
    let proxy = Proxy::start(&postgres.program.address());
    survive(&proxy, |release| {
        let set = |value: &str| {
            postgres.execute(&format!("ALTER SYSTEM SET default_transaction_read_only = {value}"));
            postgres.execute("SELECT pg_reload_conf()");
        };
        set("on");
        std::thread::sleep(OUTAGE / 2);
        release();
        std::thread::sleep(OUTAGE / 2);
        // `ALTER SYSTEM` is no transaction that the setting concerns.
        set("off");
    });
}

/// The usage of the last requests cannot be written.
#[test]
fn server_stops_in_time_when_postgres_no_longer_answers() {
    let Some(postgres) = Postgres::start() else { return };
    let proxy = Proxy::start(&postgres.program.address());
    let mut server = Server::prepare(Database::Shared(url(&proxy.address)), "");
    server.command(&["migrate"]).object();
    server.resume();
    let client = server.tenant("acme");
    for _ in 0..5 {
        client.get("/v1/files").ok();
    }
    proxy.set(Line::Silent);
    assert!(server.stop().success());
}

/// Requests that were acknowledged, and those with an unknown outcome.
#[derive(Default)]
struct Written {
    files: Vec<String>,
    searches: usize,
    uncertain_searches: usize,
}

/// Uploads and searches until told to stop.
fn write(client: &Client, stop: &AtomicBool) -> Written {
    let mut written = Written::default();
    for n in 0.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let name = format!("later-{n}.txt");
        let text = format!("The later walrus {n} eats clams.");
        let presigned = client.presign(&name, text.len());
        if presigned.status == 200 && put(presigned.json()["url"].as_str().unwrap(), text.as_bytes()).status == 200 {
            written.files.push(name);
        }
        match client.search("walrus", json!({ "scope": client.workspace_scope() })).status {
            200 => written.searches += 1,
            _ => written.uncertain_searches += 1,
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    written
}

/// Works while `disturb` disturbs the database. Held research runs go on when it calls its argument.
fn survive(proxy: &Proxy, disturb: impl FnOnce(&dyn Fn())) {
    let outside = Outside::start(true);
    let mut server = Server::prepare(Database::Shared(url(&proxy.address)), &outside.settings());
    server.command(&["migrate"]).object();
    server.resume();
    let tenant = Tenant::create(&server);
    let client = &tenant.client;

    let first = word(0);
    outside.gate.watch(&first);
    tenant.check(&server, &tenant.start_run(&json!({ "query": question(&first) })));
    let calls = outside.gate.calls(&first);
    let unbilled = Tenant::create_unbilled(&server);
    let steps = [0, 1, calls / 2, calls - 1];
    let runs: Vec<(&Tenant, String)> = steps
        .iter()
        .flat_map(|step| [(&tenant, *step), (&unbilled, *step)])
        .enumerate()
        .map(|(run, (tenant, step))| {
            let word = word(run + 1);
            outside.gate.hold(&word, step);
            let id = tenant.start_run(&json!({ "query": question(&word) }));
            assert!(outside.gate.is_held(&word, || tenant.has_ended(&id)), "step {step} of {calls}");
            (tenant, id)
        })
        .collect();

    for n in 0..FILES {
        client.upload(&format!("{n}.txt"), format!("The walrus {n} eats clams."));
    }
    let sync_id = client.start_run("incremental");
    let stop = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let writing = scope.spawn(|| write(client, &stop));
        std::thread::sleep(Duration::from_millis(200));
        disturb(&|| outside.gate.release());
        until("requests are served again", RECOVERY, || {
            let served =
                (0..5).all(|_| client.get("/v1/files").status == 200 && client.presign("x.txt", 1).status == 200);
            served.then_some(())
        });
        std::thread::sleep(Duration::from_millis(500));
        stop.store(true, Ordering::SeqCst);
        writing.join().unwrap()
    });
    assert!(written.uncertain_searches > 0 && written.searches > 0, "the outage was noticed");

    let run = client.finish_run(&sync_id);
    assert_eq!((&run["state"], &run["stats"]["failed"]), (&json!("completed"), &json!(0)), "{run:#}");
    assert!(run["stats"]["indexed"].as_u64().unwrap() >= FILES as u64, "{run:#}");
    let again = client.index();
    assert_eq!((&again["state"], &again["stats"]["failed"]), (&json!("completed"), &json!(0)), "{again:#}");
    let names = client.file_names();
    let lost: Vec<&String> = written.files.iter().filter(|name| !names.contains(name)).collect();
    assert!(lost.is_empty(), "acknowledged uploads are lost: {lost:?}");
    let uploaded = FILES + written.files.len();
    let found = client.search_workspace("walrus")["integration_results"]["total"].as_u64().unwrap() as usize;
    // An upload without an acknowledgement may have arrived.
    assert!((uploaded..=uploaded + written.uncertain_searches).contains(&found), "{found} of {uploaded}");

    for (tenant, id) in runs {
        let run = tenant.check(&server, &id);
        assert_eq!((&run["status"], &run["stop_reason"]), (&json!("completed"), &json!("answered")), "{run:#}");
        assert!(!run["output"]["citations"].as_array().unwrap().is_empty(), "{run:#}");
    }
    let paid = paid_searches(&server, &tenant);
    let certain = written.searches + 1;
    assert!((certain..=certain + written.uncertain_searches).contains(&paid), "{paid} of {certain} paid");
}

/// Number of searches outside of runs that are paid for and not refunded, after the last one of this function.
fn paid_searches(server: &Server, tenant: &Tenant) -> usize {
    let organization = tenant.client.organization.to_string();
    let ledger: Vec<Value> = server.command(&["admin", "balance", "ledger", "--org", &organization]).lines();
    let of_searches = ledger.iter().filter(|entry| entry["research_id"].is_null() && !entry["search_id"].is_null());
    usize::try_from(-of_searches.map(|entry| entry["cents"].as_i64().unwrap()).sum::<i64>()).unwrap()
}
