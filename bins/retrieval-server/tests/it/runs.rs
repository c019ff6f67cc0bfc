//! One run at a time for an organization, one more in the queue.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Client, Database, Server, until};
use std::time::Duration;

on_both_databases!(
    starts_join_the_run_that_waits,
    organizations_do_not_wait_for_one_another,
    unknown_runs_are_not_found
);

const FILES: usize = 60;

fn upload_many(client: &Client, round: usize) {
    for n in 0..FILES {
        client.upload(&format!("{n}.txt"), format!("Filler {n} of round {round}. ").repeat(200));
    }
}

fn starts_join_the_run_that_waits(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let mut round = 0;
    // Told again until the first run was in flight all the time, which it nearly always is.
    until("starts come while a run is in flight", Duration::from_secs(60), || {
        upload_many(&client, round);
        round += 1;
        let first = client.start_run("incremental");
        until("the run is in flight", Duration::from_secs(10), || {
            (client.run_status(&first)["state"] != "queued").then_some(())
        });
        let [second, third, fourth] = ["incremental", "incremental", "full"].map(|mode| client.start_run(mode));
        // In this order: what is in flight afterwards was so when the other was looked at.
        let waiting = client.run_status(&second);
        let in_flight = client.run_status(&first)["completed_at"].is_null();
        let (first_run, second_run) = (client.finish_run(&first), client.finish_run(&second));
        if !in_flight {
            return None;
        }
        assert_ne!(first, second);
        assert_eq!([&third, &fourth], [&second, &second]);
        assert_eq!(waiting["started_at"], Value::Null);
        assert_eq!(waiting["state"], "queued");
        assert_eq!(first_run["stats"]["indexed"], FILES);
        // It was made a full one by the last start.
        assert_eq!(second_run["stats"]["fetched"], FILES);
        assert!(second_run["started_at"].as_str() >= first_run["completed_at"].as_str());
        Some(())
    });
    // Nothing is left in the queue.
    let last = client.index();
    assert_eq!(last["stats"]["fetched"], 0, "{last:#}");
}

fn organizations_do_not_wait_for_one_another(database: Database) {
    let server = Server::start(database);
    let (one, other) = (server.tenant("one"), server.tenant("other"));
    let mut round = 0;
    until("two runs are in flight together", Duration::from_secs(60), || {
        upload_many(&one, round);
        upload_many(&other, round);
        round += 1;
        let (first, second) = (one.start_run("incremental"), other.start_run("incremental"));
        let mut together = false;
        until("both runs end", Duration::from_secs(60), || {
            let states = [one.run_status(&first)["state"].clone(), other.run_status(&second)["state"].clone()];
            together |= states.iter().all(|state| state == "running");
            states.iter().all(|state| state == "completed").then_some(())
        });
        for run in [one.run_status(&first), other.run_status(&second)] {
            assert_eq!(run["stats"]["indexed"], FILES, "{run:#}");
        }
        together.then_some(())
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
