//! Composition of the crawler, for the server and for `web crawl --wait`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crawler::{Crawler, CrawlerOptions, CrawlerParts, IsFull, PaceLimits};
use docstore::Docstore;
use extract_worker::{Extractor, WorkerPool};
use ingest::Scripted;
use model::CrawlId;
use settings::Settings;
use uuid::Uuid;

use crate::compose;

/// Lease of a host. After a crash another instance takes over within this time.
const LEASE: Duration = Duration::from_secs(15);
/// Interval of looking for due hosts.
const POLL: Duration = Duration::from_millis(250);

/// Returns a crawler, after releasing hosts of instances of this machine that have ended; with `only`, for one crawl.
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

fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().replace('/', "_")
}

/// Returns true if the owner was a process of this machine that does not exist any more.
fn has_ended(owner: &str) -> bool {
    let mut parts = owner.split('/');
    let (Some(host), Some(Ok(process))) = (parts.next(), parts.next().map(str::parse::<u32>)) else { return false };
    let processes = Path::new("/proc");
    let is_gone = process == std::process::id() || !processes.join(process.to_string()).exists();
    host == machine() && processes.join("self").exists() && is_gone
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
            assert!(has_ended(&format!("{machine}/{}/x", std::process::id())), "of a former container");
        }
    }
}
