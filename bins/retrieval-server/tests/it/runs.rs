//! Run queue: per organization, one run in flight and one queued.

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use crate::support::{Client, Database, Server, until};
use std::time::Duration;

on_both_databases!(starts_join_the_queued_run, runs_of_organizations_are_concurrent, unknown_runs_are_not_found);

const FILES: usize = 60;

fn upload_many(client: &Client, round: usize) {
    for n in 0..FILES {
        client.upload(&format!("{n}.txt"), format!("Filler {n} of round {round}. ").repeat(200));
    }
}

/// Parses a time: as texts, `.1Z` comes after `.12Z`.
fn time_of(value: &Value) -> OffsetDateTime {
    OffsetDateTime::parse(value.as_str().unwrap(), &Rfc3339).unwrap()
}

fn starts_join_the_queued_run(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let mut round = 0;
    // Repeated until the first run was in flight during all starts, which is nearly always so.
    until("starts come while a run is in flight", Duration::from_secs(60), || {
        upload_many(&client, round);
        round += 1;
        let first = client.start_run("incremental");
        until("the run is in flight", Duration::from_secs(10), || {
            (client.run_status(&first)["state"] != "queued").then_some(())
        });
        let [second, third, fourth] = ["incremental", "incremental", "full"].map(|mode| client.start_run(mode));
        // In this order: if the first run is in flight now, it was when the second was read.
        let queued = client.run_status(&second);
        let in_flight = client.run_status(&first)["completed_at"].is_null();
        let (first_run, second_run) = (client.finish_run(&first), client.finish_run(&second));
        if !in_flight {
            return None;
        }
        assert_ne!(first, second);
        assert_eq!([&third, &fourth], [&second, &second]);
        assert_eq!(queued["started_at"], Value::Null);
        assert_eq!(queued["state"], "queued");
        assert_eq!(first_run["stats"]["indexed"], FILES);
        // The last start made it a full run.
        assert_eq!(second_run["stats"]["fetched"], FILES);
        assert!(time_of(&second_run["started_at"]) >= time_of(&first_run["completed_at"]));
        Some(())
    });
    // The queue is empty.
    let last = client.index();
    assert_eq!(last["stats"]["fetched"], 0, "{last:#}");
}

fn runs_of_organizations_are_concurrent(database: Database) {
    let server = Server::start(database);
    let (one, other) = (server.tenant("one"), server.tenant("other"));
    let mut round = 0;
    until("two runs are in flight concurrently", Duration::from_secs(60), || {
        upload_many(&one, round);
        upload_many(&other, round);
        round += 1;
        let (first, second) = (one.start_run("incremental"), other.start_run("incremental"));
        let mut concurrent = false;
        until("both runs end", Duration::from_secs(60), || {
            let states = [one.run_status(&first)["state"].clone(), other.run_status(&second)["state"].clone()];
            concurrent |= states.iter().all(|state| state == "running");
            states.iter().all(|state| state == "completed").then_some(())
        });
        for run in [one.run_status(&first), other.run_status(&second)] {
            assert_eq!(run["stats"]["indexed"], FILES, "{run:#}");
        }
        concurrent.then_some(())
    });
}

fn unknown_runs_are_not_found(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    for sync_id in [&Uuid::new_v4().to_string(), "not-a-uuid", "%00", &"x".repeat(128)] {
        client.get(&format!("/v1/files/index/{sync_id}")).error(404, "sync_not_found");
    }
    client.get(&format!("/v1/files/index/{}", "x".repeat(129))).error(400, "validation_error");
    for body in [json!({ "mode": "partial" }), json!({ "mode": null, "x": 1 }), json!({ "modes": "full" })] {
        client.post("/v1/files/index", &body).error(400, "validation_error");
    }
    let empty = client.post("/v1/files/index", &json!({}));
    assert_eq!(empty.status, 202, "{empty:#?}");
    let run = client.finish_run(empty.ok()["sync_id"].as_str().unwrap());
    assert_eq!((&run["state"], &run["stats"]["enumerated"]), (&"completed".into(), &0.into()));
}
