//! Response bodies on their way to clients.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::body::{BodySize, MessageBody};
use admission::Permit;
use bytes::Bytes;
use tokio::time::Instant;

/// Part of a body that is copied at a time into the buffer of a connection.
const CHUNK: usize = 64 << 10;

/// Time to read any body that takes memory.
const PATIENCE: Duration = Duration::from_secs(30);

/// Speed at which the rest of the time to read such a body is counted. Clients of the least speed that connections permit could
/// otherwise hold the memory for hours.
const BYTES_PER_SECOND: u32 = 256 << 10;

/// Response body that is sent in chunks, so that the buffer of its connection stays small. Its memory is free once it has
/// been sent or its connection is closed, which happens at the next chunk after its time is up.
pub(crate) struct SentInChunks {
    rest: Bytes,
    memory: Option<Held>,
}

/// Memory of a body, and the end of the time to read it.
struct Held {
    _memory: Permit,
    until: Instant,
}

impl SentInChunks {
    pub fn new(bytes: Bytes, memory: Option<Permit>) -> Self {
        let until = Instant::now() + time_to_read(bytes.len());
        Self { rest: bytes, memory: memory.map(|memory| Held { _memory: memory, until }) }
    }
}

fn time_to_read(length: usize) -> Duration {
    PATIENCE + Duration::from_secs_f64(length as f64 / f64::from(BYTES_PER_SECOND))
}

impl MessageBody for SentInChunks {
    type Error = io::Error;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.rest.len() as u64)
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        // Without a timer: a client that reads nothing at all is closed by its connection.
        if self.memory.as_ref().is_some_and(|held| held.until <= Instant::now()) {
            return Poll::Ready(Some(Err(io::Error::new(io::ErrorKind::TimedOut, "the response is read too slowly"))));
        }
        let length = self.rest.len().min(CHUNK);
        Poll::Ready(Some(Ok(self.rest.split_to(length))))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use actix_web::body::to_bytes;
    use admission::{FairSemaphore, Limits};
    use model::OrganizationId;
    use uuid::Uuid;

    use super::*;

    #[actix_web::test]
    async fn a_body_is_sent_whole() {
        let bytes: Bytes = (0..200_000_u32).map(|number| (number % 251) as u8).collect::<Vec<_>>().into();
        let body = SentInChunks::new(bytes.clone(), None);
        assert_eq!(body.size(), BodySize::Sized(200_000));
        assert_eq!(to_bytes(body).await.unwrap(), bytes);
    }

    /// Reads a body of 1 MiB with a pause before each chunk.
    async fn is_read(memory: Option<Permit>, pause: Duration) -> bool {
        let mut body = SentInChunks::new(vec![0; 1 << 20].into(), memory);
        loop {
            tokio::time::sleep(pause).await;
            match std::future::poll_fn(|context| Pin::new(&mut body).poll_next(context)).await {
                None => return true,
                Some(Ok(_)) => {}
                Some(Err(_)) => return false,
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_body_without_memory_may_be_read_forever() {
        let semaphore = FairSemaphore::new(Limits::shared(1, 1, Duration::MAX));
        let memory = || semaphore.try_acquire(OrganizationId(Uuid::from_u128(1)), 1);
        // It has 34 s, and 16 chunks.
        assert!(is_read(memory(), Duration::from_secs(2)).await);
        assert_eq!(semaphore.available(), 1);
        assert!(!is_read(memory(), Duration::from_secs(4)).await);
        assert_eq!(semaphore.available(), 1);
        assert!(is_read(None, Duration::from_secs(3_600)).await);
    }
}
