//! Instances that start while a dependency is away.

use std::time::Duration;

use crate::support::postgres::{Postgres, url};
use crate::support::{Database, Line, Proxy, Server, instances, put, until};

/// Time that a dependency is away, longer than it takes to start.
const OUTAGE: Duration = Duration::from_secs(3);
const RECOVERY: Duration = Duration::from_secs(30);

#[test]
fn an_instance_starts_without_its_object_store() {
    for away in [Line::Refusing, Line::Silent, Line::Failing(503)] {
        let store = instances::store();
        let proxy = Proxy::start(&store.storage_address());
        proxy.set(away);
        let mut server = instances::instance(Database::sqlite(), "all", &proxy.address, "");
        // It is ready without the store.
        server.resume();
        let client = server.tenant("acme");
        assert_eq!(client.search_workspace("walrus")["integration_results"]["total"], 0);
        assert!(server.log().contains("starting without object storage"), "{}", server.log());
        proxy.set(Line::Open);
        until("the store is prepared", RECOVERY, || server.log().contains("object storage is ready").then_some(()));
        let presigned = client.presign("a.txt", 7).ok();
        assert_eq!(put(presigned["url"].as_str().unwrap(), b"walrus!").status, 200);
        assert_eq!(client.index()["stats"]["indexed"], 1);
    }
}

#[test]
fn a_store_that_denies_access_ends_the_start() {
    let store = instances::store();
    let proxy = Proxy::start(&store.storage_address());
    proxy.set(Line::Failing(403));
    let server = instances::instance(Database::sqlite(), "all", &proxy.address, "");
    let refused = server.command(&["serve"]);
    assert_eq!(refused.code(), Some(1), "{refused:#?}");
    assert!(refused.stderr.contains("preparing object storage"), "{refused:#?}");
}

#[test]
fn an_instance_waits_for_its_database() {
    let Some(mut postgres) = Postgres::start() else { return };
    let proxy = Proxy::start(&postgres.program.address());
    let mut server = Server::prepare(Database::Shared(url(&proxy.address)), "");
    server.command(&["migrate"]).object();
    postgres.crash();
    server.spawn();
    until("the start waits", RECOVERY, || server.log().contains("waiting for the database").then_some(()));
    std::thread::sleep(OUTAGE);
    postgres.resume();
    server.wait();
    let client = server.tenant("acme");
    assert_eq!(client.search_workspace("walrus")["integration_results"]["total"], 0);

    // A start that waits can be stopped.
    server.stop();
    postgres.crash();
    let waits = server.log().matches("waiting for the database").count();
    server.spawn();
    until("the start waits again", RECOVERY, || {
        (server.log().matches("waiting for the database").count() > waits).then_some(())
    });
    assert!(server.stop().success());
}
