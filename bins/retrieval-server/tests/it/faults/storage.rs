//! An object store that fails, stalls, or refuses connections during an indexing run.

use std::time::Duration;

use serde_json::json;

use crate::support::{Database, Line, Proxy, instances, until};

const FILES: usize = 24;
/// Duration of each fault.
const OUTAGE: Duration = Duration::from_secs(4);

#[test]
fn store_that_fails_stalls_or_refuses_loses_nothing() {
    let mut store = instances::store();
    let proxy = Proxy::start(&store.storage_address());
    let mut server = instances::instance(Database::sqlite(), "all", &proxy.address, "");
    server.resume();
    let client = server.tenant("acme");
    let mut files = 0;
    for fault in ["500", "503", "stalled", "refused"] {
        for n in files..files + FILES {
            client.upload(&format!("{n}.txt"), format!("The walrus {n} eats clams."));
        }
        files += FILES;
        match fault {
            "500" => proxy.set(Line::Failing(500)),
            "503" => proxy.set(Line::Failing(503)),
            "stalled" => proxy.set(Line::Silent),
            _ => store.kill(),
        }
        let sync_id = client.start_run("incremental");
        // Each response says that the file is gone, or that it is not.
        let deleted = client.delete(&format!("/v1/files/{}.txt", files - 1));
        assert!(deleted.status == 200 || deleted.status >= 500, "{deleted:#?}");
        std::thread::sleep(OUTAGE);
        let during = client.run_status(&sync_id);
        assert!(matches!(during["state"].as_str(), Some("queued" | "planning" | "running")), "{fault}: {during:#}");
        let found = client.search_workspace("walrus")["integration_results"]["total"].as_u64().unwrap() as usize;
        assert!(found + FILES + 4 >= files, "searches need no store: {found}");
        proxy.set(Line::Open);
        if fault == "refused" {
            store.resume();
        }
        let run = client.finish_run(&sync_id);
        assert_eq!((&run["state"], &run["stats"]["failed"]), (&json!("completed"), &json!(0)), "{fault}: {run:#}");
        client.delete(&format!("/v1/files/{}.txt", files - 1));
        client.index();
    }
    let kept = files - 4;
    until("deleted files are gone", Duration::from_secs(30), || {
        (client.search_workspace("walrus")["integration_results"]["total"] == kept).then_some(())
    });
    assert_eq!(client.file_names().len(), kept);
    let verified = server.command(&["verify"]).lines();
    assert!(verified.iter().all(|line| line["problem"].is_null()), "{verified:#?}");
}

#[test]
fn uploads_to_a_stalled_store_are_not_acknowledged() {
    let store = instances::store();
    let proxy = Proxy::start(&store.storage_address());
    let mut server = instances::instance(Database::sqlite(), "all", &proxy.address, "");
    server.resume();
    let client = server.tenant("acme");
    let presigned = client.presign("a.txt", 7).ok();
    let url = presigned["url"].as_str().unwrap();
    proxy.set(Line::Failing(500));
    assert_eq!(crate::support::put(url, b"walrus!").status, 500);
    proxy.set(Line::Open);
    assert_eq!(client.file_names(), Vec::<String>::new(), "nothing was uploaded");
    assert_eq!(crate::support::put(url, b"walrus!").status, 200, "the URL is still good");
    assert_eq!(client.index()["stats"]["indexed"], 1);
}
