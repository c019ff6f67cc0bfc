//! Research runs whose servers are killed.

pub mod gate;
pub mod world;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Database, Server, instances};
use world::{Outside, Tenant, question, word};

on_both_databases!(
    runs_killed_within_each_step_end,
    run_killed_in_every_step_ends,
    runs_killed_at_any_time_end,
    run_that_never_gets_on_ends_as_interrupted,
    cancelled_run_that_had_begun_to_write_stays_cancelled,
    other_instance_takes_runs_over_within_the_lease,
    run_over_providers_alone_ends,
);

/// Steps that are held at the same time: each keeps permits of the organization.
const AT_A_TIME: usize = 3;

fn standard(word: &str) -> Value {
    json!({ "query": question(word), "depth": "standard" })
}

/// Runs one run to its end; returns the number of its calls.
fn count_calls(outside: &Outside, server: &Server, tenant: &Tenant) -> usize {
    let word = word(0);
    outside.gate.watch(&word);
    let id = tenant.start_run(&standard(&word));
    let run = tenant.check(server, &id);
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("completed"), &json!("answered")), "{run:#}");
    assert!(!run["output"]["citations"].as_array().unwrap().is_empty(), "{run:#}");
    outside.gate.calls(&word)
}

/// Each call to the outside belongs to a step; its events are stored before the next one.
fn runs_killed_within_each_step_end(database: Database) {
    let outside = Outside::start(true);
    let mut server = Server::start_with(database, &outside.settings());
    let tenant = Tenant::create(&server);
    let calls = count_calls(&outside, &server, &tenant);
    assert!(calls >= 5, "plan, searches, reads and writing: {calls}");
    let steps: Vec<usize> = (0..calls).collect();
    for steps in steps.chunks(AT_A_TIME) {
        let runs: Vec<(String, String)> = steps
            .iter()
            .map(|step| {
                let word = word(step + 1);
                outside.gate.hold(&word, *step);
                let id = tenant.start_run(&standard(&word));
                assert!(outside.gate.is_held(&word, || tenant.has_ended(&id)), "step {step} of {id}");
                (word, id)
            })
            .collect();
        let cut: Vec<Vec<i64>> = std::thread::scope(|scope| {
            let (tenant, sent) = (&tenant, std::sync::mpsc::channel());
            let readers: Vec<_> = runs
                .iter()
                .map(|(_, id)| {
                    let sender = sent.0.clone();
                    scope.spawn(move || tenant.stream(id, 0).inspect(|_| sender.send(()).unwrap()).collect())
                })
                .collect();
            let stored: usize = runs.iter().map(|(_, id)| tenant.events(id).len()).sum();
            (0..stored).for_each(|_| sent.1.recv_timeout(Duration::from_secs(20)).unwrap());
            server.kill();
            readers.into_iter().map(|reader| reader.join().unwrap()).collect()
        });
        outside.gate.release();
        server.resume();
        for ((word, id), mut read) in runs.iter().zip(cut) {
            let run = tenant.check(&server, id);
            assert_eq!(run["status"], "completed", "{word}: {run:#}");
            let events = tenant.events(id).len() as i64;
            assert!((2..events).contains(&(read.len() as i64)), "{read:?} of {events}");
            read.extend(tenant.stream(id, *read.last().unwrap()));
            assert_eq!(read, (1..=events).collect::<Vec<_>>(), "neither lost nor repeated");
        }
    }
    // A stream can be cut at each event.
    let id = tenant.start_run(&standard(&word(calls + 1)));
    tenant.check(&server, &id);
    let events = tenant.events(&id).len() as i64;
    for after in 0..=events {
        assert_eq!(tenant.stream(&id, after).collect::<Vec<_>>(), (after + 1..=events).collect::<Vec<_>>());
    }
}

/// One run, killed again and again.
fn run_killed_in_every_step_ends(database: Database) {
    let outside = Outside::start(true);
    let mut server = Server::start_with(database, &outside.settings());
    let tenant = Tenant::create(&server);
    let word = word(0);
    outside.gate.hold(&word, 0);
    let id = tenant.start_run(&standard(&word));
    let mut kills = 0;
    while outside.gate.is_held(&word, || tenant.has_ended(&id)) {
        server.kill();
        kills += 1;
        outside.gate.release();
        // The next start repeats the call that was held; the one after it is the next step.
        outside.gate.hold(&word, outside.gate.calls(&word) + 1);
        server.resume();
    }
    assert!(kills >= 4, "{kills} kills");
    let run = tenant.check(&server, &id);
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("completed"), &json!("answered")), "{run:#}");
}

/// Kills between and within the steps that make no calls, too: the comparison of quotes, the end.
fn runs_killed_at_any_time_end(database: Database) {
    const ROUNDS: usize = 8;
    let outside = Outside::start(false);
    let mut server = Server::start_with(database, &outside.settings());
    let tenant = Tenant::create(&server);
    let mut unfinished = 0;
    let mut runs = Vec::new();
    for round in 0..ROUNDS {
        let started: Vec<String> = (0..2).map(|run| tenant.start_run(&standard(&word(round * 2 + run)))).collect();
        std::thread::sleep(Duration::from_millis(round as u64 * 67 % 400));
        unfinished += started.iter().filter(|id| !tenant.has_ended(id)).count();
        server.kill();
        server.resume();
        runs.extend(started);
    }
    assert!(unfinished >= ROUNDS / 2, "{unfinished} runs were killed");
    for id in runs {
        let run = tenant.check(&server, &id);
        // A run whose servers die four times before it stores a step is given up.
        assert!(run["status"] == "completed" || run["stop_reason"] == "interrupted", "{run:#}");
    }
}

fn run_that_never_gets_on_ends_as_interrupted(database: Database) {
    const ATTEMPTS: usize = 4;
    let outside = Outside::start(false);
    let mut server = Server::start_with(database, &outside.settings());
    let tenant = Tenant::create(&server);
    let word = word(0);
    outside.gate.hold(&word, 0);
    let id = tenant.start_run(&standard(&word));
    for attempt in 1..=ATTEMPTS {
        assert!(outside.gate.is_held(&word, || tenant.has_ended(&id)), "attempt {attempt}");
        server.kill();
        outside.gate.release();
        outside.gate.hold(&word, outside.gate.calls(&word));
        server.resume();
    }
    let run = tenant.check(&server, &id);
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("failed"), &json!("interrupted")), "{run:#}");
    assert_eq!(run["error"]["code"], "interrupted");
}

fn cancelled_run_that_had_begun_to_write_stays_cancelled(database: Database) {
    let outside = Outside::start(true);
    let mut server = Server::start_with(database, &outside.settings());
    let tenant = Tenant::create(&server);
    let calls = count_calls(&outside, &server, &tenant);
    let word = word(1);
    // The last call writes the report.
    outside.gate.hold(&word, calls - 1);
    let id = tenant.start_run(&standard(&word));
    assert!(outside.gate.is_held(&word, || tenant.has_ended(&id)));
    for _ in 0..2 {
        let cancelled = tenant.client.post(&format!("/v1/research/{id}/cancel"), &json!({}));
        assert_eq!((cancelled.status, &cancelled.json()["status"]), (202, &json!("cancelled")));
    }
    outside.gate.release();
    server.kill();
    server.resume();
    let run = tenant.check(&server, &id);
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("cancelled"), &json!("cancelled")));
    assert!(run["output"].is_null(), "{run:#}");
    assert_eq!(tenant.events(&id).last().unwrap()["type"], "research.cancelled");
}

/// Skipped without a Meilisearch, since instances share neither the embedded index nor its start.
fn other_instance_takes_runs_over_within_the_lease(database: Database) {
    const LEASE: Duration = Duration::from_secs(15);
    let Some(index) = instances::index(&Uuid::new_v4().simple().to_string()) else { return };
    let store = instances::store();
    let outside = Outside::start(true);
    let settings = format!("{index}{}", outside.settings());
    let mut first = instances::instance(database, "all", &store.storage_address(), &settings);
    first.command(&["migrate"]).object();
    first.resume();
    let tenant = Tenant::create(&first);
    let calls = count_calls(&outside, &first, &tenant);
    let runs: Vec<String> = [0, calls / 2, calls - 1]
        .into_iter()
        .enumerate()
        .map(|(run, step)| {
            let word = word(run + 1);
            outside.gate.hold(&word, step);
            let id = tenant.start_run(&standard(&word));
            assert!(outside.gate.is_held(&word, || tenant.has_ended(&id)), "step {step}");
            id
        })
        .collect();
    let mut second = instances::instance(first.same_database(), "all", &store.storage_address(), &settings);
    second.resume();
    first.kill();
    let killed = Instant::now();
    outside.gate.release();
    let tenant = tenant.at(&second);
    for id in runs {
        assert_eq!(tenant.check(&second, &id)["status"], "completed");
    }
    assert!(killed.elapsed() > LEASE / 2, "the lease was held");
    assert!(killed.elapsed() < LEASE * 2, "{:?}", killed.elapsed());
}

/// Without an index, searches ask the provider only.
fn run_over_providers_alone_ends(database: Database) {
    let outside = Outside::start(false);
    let server = Server::start_with(database, &format!("[index]\nbackend = \"none\"\n{}", outside.settings()));
    let tenant = Tenant::create(&server);
    let body = json!({ "query": question(&word(0)), "scope": { "indexes": ["web"] } });
    let id = tenant.start_run(&body);
    assert_eq!(tenant.check(&server, &id)["status"], "completed");
}
