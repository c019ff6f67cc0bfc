//! Memory of large bodies, shared fairly between organizations.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::body::{BodySize, MessageBody};
use admission::{FairSemaphore, Limits, Permit};
use bytes::Bytes;
use model::OrganizationId;

use crate::failure::Failure;

/// Part of a body that is copied at a time into the buffer of a connection.
const CHUNK: usize = 64 << 10;

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
        Self {
            requests: Budget::new("requests", limits.large_request, limits.requests, limits.max_wait),
            responses: Budget::new("responses", limits.large_response, limits.responses, limits.max_wait),
        }
    }
}

/// Memory for bodies of one direction. Its unit is 1 KiB.
pub(crate) struct Budget {
    semaphore: FairSemaphore,
    kind: &'static str,
    large: usize,
    max_wait: Duration,
}

impl Budget {
    fn new(kind: &'static str, large_kib: u32, kib: u32, max_wait: Duration) -> Self {
        count(kind, 0);
        // Clients that read slowly hold their memory for a while: no organization takes all.
        let per_organization = kib - kib / 2;
        let limits = Limits { permits: kib, per_organization, max_waiting: 8, max_wait };
        Self { semaphore: FairSemaphore::new(limits), kind, large: large_kib as usize * 1024, max_wait }
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
        let acquired = self.semaphore.acquire(organization, weight(bytes));
        let retry_after = match tokio::time::timeout(self.max_wait, acquired).await {
            Ok(Ok(permit)) => return Ok(Some(permit)),
            Ok(Err(overloaded)) => overloaded.retry_after,
            Err(_) => self.max_wait,
        };
        count(self.kind, 1);
        Err(Failure::overloaded(format!("too many large {} at a time", self.kind), retry_after))
    }

    /// Takes memory however long the wait is, for answers that must not be withheld.
    pub async fn wait(&self, organization: OrganizationId, bytes: usize) -> Option<Permit> {
        if bytes <= self.large { None } else { Some(self.semaphore.wait(organization, weight(bytes)).await) }
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

/// Response body that is sent in chunks, so that the buffer of its connection stays small. Its memory is free once it has
/// been sent or its connection is closed.
pub(crate) struct SentInChunks {
    rest: Bytes,
    _memory: Option<Permit>,
}

impl SentInChunks {
    pub fn new(bytes: Bytes, memory: Option<Permit>) -> Self {
        Self { rest: bytes, _memory: memory }
    }
}

impl MessageBody for SentInChunks {
    type Error = std::convert::Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.rest.len() as u64)
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.rest.len().min(CHUNK);
        Poll::Ready(Some(Ok(self.rest.split_to(length))))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use actix_web::body::to_bytes;
    use uuid::Uuid;

    use super::*;

    fn organization(number: u128) -> OrganizationId {
        OrganizationId(Uuid::from_u128(number))
    }

    #[actix_web::test]
    async fn a_body_is_sent_whole() {
        let bytes: Bytes = (0..200_000_u32).map(|number| (number % 251) as u8).collect::<Vec<_>>().into();
        let body = SentInChunks::new(bytes.clone(), None);
        assert_eq!(body.size(), BodySize::Sized(200_000));
        assert_eq!(to_bytes(body).await.unwrap(), bytes);
    }

    #[tokio::test(start_paused = true)]
    async fn one_organization_takes_half_and_waits_shortly() {
        let memory = Memory::new(&MemoryLimits { large_response: 1, responses: 100, ..MemoryLimits::default() });
        let responses = &memory.responses;
        assert!(responses.take(organization(1), 1024).await.unwrap().is_none(), "small bodies need no memory");
        let held = responses.take(organization(1), 50 << 10).await.unwrap().unwrap();
        let refused = responses.take(organization(1), 2 << 10).await.err().unwrap();
        assert_eq!(refused.code.as_str(), "overloaded");
        let other = responses.take(organization(2), 50 << 10).await.unwrap();
        drop(SentInChunks::new(Bytes::new(), Some(held)));
        assert!(responses.take(organization(1), 2 << 10).await.unwrap().is_some());
        drop(other);
    }
}
