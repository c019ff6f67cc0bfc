//! Two instances that race for the same work. Skipped without a Meilisearch, as the embedded index has one owner.

use std::time::Duration;

use serde_json::json;
use uuid::Uuid;

use super::research::world::{Outside, Tenant, question, word};
use crate::support::{Client, Database, instances, until};

on_both_databases!(racing_instances_do_each_work_once);

const TENANTS: usize = 6;
const FILES: usize = 10;
const RUNS: usize = 12;

fn racing_instances_do_each_work_once(database: Database) {
    let Some(index) = instances::index(&Uuid::new_v4().simple().to_string()) else { return };
    let store = instances::store();
    let outside = Outside::start(false);
    let settings = format!("{index}{}", outside.settings());
    let mut one = instances::instance(database, "all", &store.storage_address(), &settings);
    one.command(&["migrate"]).object();
    let mut other = instances::instance(one.same_database(), "all", &store.storage_address(), &settings);
    one.resume();
    other.resume();
    let clients: Vec<Client> = (0..TENANTS).map(|n| one.tenant(&format!("tenant {n}"))).collect();
    for client in &clients {
        for n in 0..FILES {
            client.upload(&format!("{n}.txt"), format!("The walrus {n} eats clams."));
        }
    }
    let tenant = Tenant::create(&one);
    let instances = [&one, &other];
    std::thread::scope(|scope| {
        for (n, client) in clients.iter().enumerate() {
            // Both instances are asked at the same time: one run is started, or two are merged into one.
            for server in instances {
                let client = server.client(client.key.as_deref(), client.organization);
                scope.spawn(move || {
                    let run = client.finish_run(&client.start_run("incremental"));
                    assert_eq!(
                        (&run["state"], &run["stats"]["failed"]),
                        (&json!("completed"), &json!(0)),
                        "{n}: {run:#}"
                    );
                });
            }
        }
        for run in 0..RUNS {
            let (tenant, one) = (&tenant, &one);
            scope.spawn(move || {
                let at = tenant.at(instances[run % 2]);
                let id = at.start_run(&json!({ "query": question(&word(run)) }));
                assert_eq!(at.check(one, &id)["status"], "completed");
            });
        }
    });
    for client in &clients {
        until("each file is found once", Duration::from_secs(30), || {
            (client.search_workspace("walrus")["integration_results"]["total"] == FILES).then_some(())
        });
        assert_eq!(client.index()["stats"]["fetched"], 0, "every file was read");
    }
}
