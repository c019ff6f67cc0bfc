//! Faults of processes, services and machines, injected from outside into running servers.
//!
//! `cargo xtask e2e --faults --rounds N` repeats these tests; docs/faults.md says what each one checks. Tests whose programs are
//! missing report that and pass.

mod chat;
mod clocks;
mod crawls;
mod disk;
mod evidence;
mod kills;
mod meilisearch;
mod outbox;
mod postgres;
mod races;
mod redis;
mod research;
mod starts;
mod storage;
