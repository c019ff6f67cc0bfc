//! The limiter against a real Redis: the one in `RATE_LIMIT_REDIS_URL`, or `redis-server` from the `PATH`, started for
//! each test that stops it. Without either, the tests print a note and do nothing; in CI they fail.
#![expect(clippy::unwrap_used, reason = "a test may end early")]
#![expect(clippy::print_stdout, reason = "skipped tests print a note")]

mod counting;
mod outages;
mod redis_server;
mod tls;
mod urls;
