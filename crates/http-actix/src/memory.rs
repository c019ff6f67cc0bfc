//! Memory of large bodies, shared fairly between organizations.

mod gathered;
mod sent;

use std::time::Duration;

use admission::{FairSemaphore, Limits, Permit};
use bytes::Bytes;
use model::OrganizationId;

pub(crate) use gathered::Gathered;
pub(crate) use sent::SentInChunks;

use crate::failure::Failure;

/// Limits of the memory of large bodies. Sizes are in KiB.
#[derive(Clone, Copy, Debug)]
pub struct MemoryLimits {
    /// Size from which a request body counts.
    pub large_request: u32,
    /// Request bodies together.
    pub requests: u32,
    /// Size from which a response body counts.
    pub large_response: u32,
    /// Response bodies together, until they have been sent.
    pub responses: u32,
    /// Longest wait for memory.
    pub max_wait: Duration,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        Self {
            large_request: 64,
            requests: 64 << 10,
            large_response: 256,
            responses: 192 << 10,
            max_wait: Duration::from_secs(2),
        }
    }
}

/// Budgets of memory for request and response bodies.
pub(crate) struct Memory {
    pub requests: Budget,
    pub responses: Budget,
}

impl Memory {
    pub fn new(limits: &MemoryLimits) -> Self {
        let MemoryLimits { large_request, requests, large_response, responses, max_wait } = *limits;
        // Clients that send or read slowly hold their memory for a while: no organization takes all. Responses are held for
        // longer, so that the memory is left for more than two.
        Self {
            requests: Budget::new("requests", large_request, requests, requests.div_ceil(2), max_wait),
            responses: Budget::new("responses", large_response, responses, responses.div_ceil(4), max_wait),
        }
    }
}

/// Memory for bodies of one direction. Its unit is 1 KiB.
pub(crate) struct Budget {
    semaphore: FairSemaphore,
    kind: &'static str,
    large: usize,
    /// Most that one organization holds.
    share: u32,
    max_wait: Duration,
}

impl Budget {
    fn new(kind: &'static str, large_kib: u32, kib: u32, share: u32, max_wait: Duration) -> Self {
        count(kind, 0);
        // Responses exist while they wait: those of one organization need about as much memory again as it may hold.
        let limits = Limits { permits: kib, per_organization: share, max_waiting: share as usize, max_wait };
        Self { semaphore: FairSemaphore::new(limits), kind, large: large_kib as usize * 1024, share, max_wait }
    }

    /// Returns the size up to which bodies need no permit.
    pub fn small(&self) -> usize {
        self.large
    }

    /// Takes memory for a body, and none for a small one.
    ///
    /// # Errors
    /// `overloaded` if the wait is too long.
    pub async fn take(&self, organization: OrganizationId, bytes: usize) -> Result<Option<Permit>, Failure> {
        if bytes <= self.large {
            return Ok(None);
        }
        self.take_kib(organization, weight(bytes), self.max_wait).await.map(Some)
    }

    async fn take_kib(&self, organization: OrganizationId, kib: u32, max_wait: Duration) -> Result<Permit, Failure> {
        let acquired = self.semaphore.acquire_within(organization, kib, max_wait).await;
        acquired.map_err(|overloaded| self.refused(overloaded.retry_after))
    }

    fn refused(&self, retry_after: Duration) -> Failure {
        count(self.kind, 1);
        Failure::overloaded(format!("too many large {} at a time", self.kind), retry_after)
    }
}

/// Counts refused bodies. A count of 0 makes the counter known to the first scrape.
fn count(kind: &'static str, bodies: u64) {
    metrics::counter!("retrieval_overloaded_total", "work" => kind).increment(bodies);
}

fn weight(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX)
}

/// Serialized body with the memory that it takes.
#[derive(Default)]
pub(crate) struct Answer {
    pub bytes: Bytes,
    pub memory: Option<Permit>,
}

impl From<Vec<u8>> for Answer {
    fn from(bytes: Vec<u8>) -> Self {
        Answer { bytes: bytes.into(), memory: None }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use futures_util::FutureExt;
    use uuid::Uuid;

    use super::*;

    fn organization(number: u128) -> OrganizationId {
        OrganizationId(Uuid::from_u128(number))
    }

    #[tokio::test(start_paused = true)]
    async fn one_organization_takes_a_quarter_and_waits_shortly() {
        let memory = Memory::new(&MemoryLimits { large_response: 1, responses: 100, ..MemoryLimits::default() });
        let responses = &memory.responses;
        assert!(responses.take(organization(1), 1024).await.unwrap().is_none(), "small bodies need no memory");
        let held = responses.take(organization(1), 25 << 10).await.unwrap().unwrap();
        let refused = responses.take(organization(1), 2 << 10).await.err().unwrap();
        assert_eq!(refused.code.as_str(), "overloaded");
        let other = responses.take(organization(2), 75 << 10).await.unwrap();
        assert!(other.is_some(), "a single body may exceed the share");
        drop(SentInChunks::new(Bytes::new(), Some(held)));
        assert!(responses.take(organization(1), 2 << 10).await.unwrap().is_some());
        drop(other);
    }

    #[tokio::test(start_paused = true)]
    async fn as_much_as_an_organization_holds_may_wait() {
        let memory = Memory::new(&MemoryLimits::default());
        let responses = &memory.responses;
        let take = || Box::pin(responses.take(organization(1), 1 << 20));
        let mut held = Vec::new();
        for _ in 0..48 {
            held.push(take().await.unwrap());
        }
        let mut waiting: Vec<_> = (0..48).map(|_| take()).collect();
        waiting.iter_mut().for_each(|answer| assert!(answer.now_or_never().is_none()));
        assert!(take().now_or_never().unwrap().is_err(), "waiting answers are in memory, too");
        held.clear();
        let answers = futures_util::future::join_all(waiting).await;
        assert!(answers.iter().all(Result::is_ok));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_after_the_wait_does_not_shorten_the_wait_of_others() {
        let memory = Memory::new(&MemoryLimits { large_response: 1, responses: 100, ..MemoryLimits::default() });
        let responses = &memory.responses;
        let take = |kib: usize| Box::pin(responses.take(organization(1), kib << 10));
        let _most = take(21).await.unwrap();
        let mut rest = take(4).await.unwrap();
        let parts = Gathered::new(responses, organization(1));
        assert!(parts.add(4 << 10).await.is_err() && take(4).await.is_err());
        let mut waiting: Vec<_> = (0..6).map(|_| take(4)).collect();
        waiting.iter_mut().for_each(|answer| assert!(answer.now_or_never().is_none()));
        for _ in 0..3 {
            tokio::time::advance(Duration::from_millis(400)).await;
            drop(rest.take());
            rest = waiting.remove(0).now_or_never().unwrap().unwrap();
        }
        assert!(take(4).now_or_never().is_none(), "behind three others, 1.2 s");
    }
}
