//! Composition of the crawler, for the server and for `web crawl --wait`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crawler::{Crawler, CrawlerOptions, CrawlerParts, IsFull, PaceLimits};
use docstore::Docstore;
use extract_worker::{Extractor, WorkerPool};
use ingest::Scripted;
use model::CrawlId;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use settings::Settings;
use uuid::Uuid;

use crate::compose;

/// Lease of a host. After a crash another instance takes over within this time.
const LEASE: Duration = Duration::from_secs(15);
/// Interval of looking for due hosts.
const POLL: Duration = Duration::from_millis(250);
/// Link that names the PID namespace of this process. Only Linux has it.
const NAMESPACE: &str = "/proc/self/ns/pid";

/// Returns a crawler, after releasing hosts of instances of this machine that have ended; with `only`, for one crawl. Leases of other
/// containers, also of one that this container replaces, are waited for: they end within [`LEASE`].
pub async fn crawler(
    settings: &Settings,
    store: &Docstore,
    extractor: &Arc<WorkerPool>,
    scripted: Scripted,
    is_full: IsFull,
    only: Option<CrawlId>,
) -> anyhow::Result<Arc<Crawler>> {
    for owner in store.list_crawl_owners().await? {
        if has_ended(&owner) {
            store.release_crawl_owner(owner).await?;
        }
    }
    let parts = CrawlerParts {
        store: store.clone(),
        fetcher: compose::fetcher(settings)?,
        extractor: Arc::clone(extractor) as Arc<dyn Extractor>,
        scripted,
        clock: store.clock(),
        is_full,
        token: compose::TOKEN.to_owned(),
        owner: format!("{}/{}/{}", machine(), std::process::id(), Uuid::new_v4()),
        only,
    };
    Ok(Arc::new(Crawler::new(parts, options(settings))))
}

fn options(settings: &Settings) -> CrawlerOptions {
    let crawl = &settings.crawl;
    CrawlerOptions {
        hosts_at_a_time: usize::try_from(crawl.hosts_at_a_time).unwrap_or(usize::MAX),
        pace: PaceLimits {
            min_delay: Duration::from_millis(crawl.min_delay_ms),
            max_delay: Duration::from_millis(crawl.max_delay_ms),
            max_crawl_delay: Duration::from_millis(crawl.max_crawl_delay_ms),
            max_back_off: Duration::from_millis(crawl.max_back_off_ms),
        },
        lease: LEASE,
        poll: POLL,
    }
}

/// Returns the name within which the id of a process is unique: that of the machine since its start, and of the PID namespace. Several
/// machines, and containers of one machine, may have one host name and a process 1 each.
fn machine() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = std::fs::read_link(NAMESPACE).unwrap_or_default();
    format!("{host} {} {}", boot.trim(), namespace.display()).replace('/', "_")
}

/// Returns true if the owner was a process of this machine that does not exist any more: one with the id of this process, or with an id
/// that none has. Where the namespace is unknown, none is known to have ended.
fn has_ended(owner: &str) -> bool {
    let mut parts = owner.split('/');
    let (Some(host), Some(Ok(process))) = (parts.next(), parts.next().map(str::parse::<u32>)) else { return false };
    host == machine() && Path::new(NAMESPACE).is_symlink() && (process == std::process::id() || !exists(process))
}

/// Returns true if this PID namespace has a process of this id, also one of another user, which `/proc` may hide.
fn exists(process: u32) -> bool {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_some_and(|process| test_kill_process(process) != Err(Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ended_processes_of_this_machine_have_ended() {
        let machine = machine();
        assert!(!has_ended(&format!("{machine}/1/x")), "the first process always runs");
        assert!(!has_ended("another-machine/4000000000/x") && !has_ended("x"));
        if cfg!(target_os = "linux") {
            assert!(has_ended(&format!("{machine}/4000000000/x")));
            assert!(has_ended(&format!("{machine}/{}/x", std::process::id())), "of an earlier process");
        }
    }

    #[test]
    fn processes_of_other_containers_may_run() {
        let namespace = std::fs::read_link(NAMESPACE).map(|namespace| namespace.display().to_string());
        let machine = machine();
        let host = machine.split(' ').next().unwrap_or_default();
        let others = [
            namespace.map_or_else(|_| "another".to_owned(), |namespace| machine.replace(&namespace, "pid:[1]")),
            // After a restart of the machine, or on another one of this name.
            machine.replacen(' ', " another", 1),
            host.to_owned(),
        ];
        for other in others {
            for process in [std::process::id(), 4_000_000_000] {
                assert!(!has_ended(&format!("{other}/{process}/x")), "{other}");
            }
        }
    }
}
