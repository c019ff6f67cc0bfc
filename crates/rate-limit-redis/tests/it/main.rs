//! The limiter against a real Redis: the one that `RATE_LIMIT_REDIS_URL` names, or `redis-server` from the `PATH`,
//! which is started for each test that stops it. Without either these do nothing, and say so; in CI they fail.
#![expect(clippy::unwrap_used, reason = "a test may end early")]
#![expect(clippy::print_stdout, reason = "what is not run is told")]

mod counting;
mod outages;
mod redis_server;
mod tls;
mod urls;
