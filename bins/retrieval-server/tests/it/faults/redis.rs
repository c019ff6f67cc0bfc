//! A Redis that is killed and started again.

use std::time::{Duration, Instant};

use crate::support::{Database, Server, program, until};

#[test]
fn killed_redis_neither_blocks_nor_opens_the_service_for_long() {
    let Some(mut redis) = program::redis() else { return };
    let settings = format!("[rate_limit]\nbackend = \"redis\"\nurl = \"redis://{}\"\n", redis.address());
    let server = Server::start_with(Database::sqlite(), &settings);
    let organization = server.create_organization("acme");
    let key = server.create_key(organization, &["--limit-rps", "5"]);
    let client = server.client(key["key"].as_str(), organization);
    let limited = || (0..30).filter(|_| client.get("/v1/files").status == 429).count();
    assert!(limited() > 0);
    for _ in 0..3 {
        redis.kill();
        let started = Instant::now();
        assert_eq!(limited(), 0, "requests are not limited without Redis");
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        redis.resume();
        until("requests are limited again", Duration::from_secs(10), || (limited() > 0).then_some(()));
    }
}

/// A process that hangs keeps its connections.
#[test]
fn hanging_redis_delays_requests_for_a_moment() {
    let Some(redis) = program::redis() else { return };
    let settings =
        format!("[rate_limit]\nbackend = \"redis\"\nurl = \"redis://{}\"\non_failure = \"closed\"\n", redis.address());
    let server = Server::start_with(Database::sqlite(), &settings);
    let client = server.tenant("acme");
    client.get("/v1/files").ok();
    redis.signal(rustix::process::Signal::STOP);
    let started = Instant::now();
    for _ in 0..10 {
        client.get("/v1/files").error(500, "internal_error");
    }
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    redis.signal(rustix::process::Signal::CONT);
    until("requests are served", Duration::from_secs(10), || (client.get("/v1/files").status == 200).then_some(()));
}
