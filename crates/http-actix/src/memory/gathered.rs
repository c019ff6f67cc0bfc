//! Memory of answers whose parts are complete before they are serialized.

use std::sync::{Mutex, MutexGuard, PoisonError};

use admission::Permit;
use model::OrganizationId;
use tokio::sync;
use tokio::time::Instant;

use super::{Answer, Budget, weight};
use crate::failure::Failure;

/// Memory of the finished parts of an answer while others are awaited. It grows with them, so that few and short ones take none.
pub(crate) struct Gathered<'a> {
    budget: &'a Budget,
    organization: OrganizationId,
    parts: Mutex<Parts>,
    /// Turn of the part that waits for memory: the others must not count on what it may not get.
    turn: sync::Mutex<()>,
}

#[derive(Default)]
struct Parts {
    /// Length of the parts.
    bytes: usize,
    /// Memory that they hold.
    kib: u32,
    memory: Option<Permit>,
}

impl<'a> Gathered<'a> {
    pub fn new(budget: &'a Budget, organization: OrganizationId) -> Self {
        Self { budget, organization, parts: Mutex::default(), turn: sync::Mutex::default() }
    }

    /// Takes memory for a further part. One that needs no more than the parts hold does not wait for the others.
    ///
    /// # Errors
    /// `overloaded` if the wait is too long. The part does not count, and the caller drops it.
    pub async fn add(&self, bytes: usize) -> Result<(), Failure> {
        if self.lacking(bytes) == 0 {
            return Ok(());
        }
        // The wait for the turn included, so that many parts wait no longer than one.
        let deadline = self.deadline();
        let turn = tokio::time::timeout_at(deadline, self.turn.lock()).await;
        let _turn = turn.map_err(|_| self.budget.refused(self.budget.max_wait))?;
        self.grow(bytes, deadline).await
    }

    /// Returns the length of the parts.
    pub fn bytes(&self) -> usize {
        self.parts().bytes
    }

    /// Replaces the memory of the parts by that of the whole answer, which is built from them.
    ///
    /// # Errors
    /// `overloaded` if the answer needs more than its parts, and the wait for it is too long.
    pub async fn into_answer(self, body: Vec<u8>) -> Result<Answer, Failure> {
        self.parts().bytes = 0;
        self.grow(body.len(), self.deadline()).await?;
        let mut parts = self.parts();
        let needed = self.needed(&parts, body.len());
        let mut memory = parts.memory.take().filter(|_| needed > 0);
        if let Some(memory) = &mut memory {
            memory.shrink(needed);
        }
        Ok(Answer { bytes: body.into(), memory })
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.budget.max_wait
    }

    /// Takes what a further part lacks, and counts the part. Again if shorter parts came meanwhile.
    async fn grow(&self, bytes: usize, deadline: Instant) -> Result<(), Failure> {
        loop {
            let more = self.lacking(bytes);
            if more == 0 {
                return Ok(());
            }
            let max_wait = deadline.saturating_duration_since(Instant::now());
            let permit = self.budget.take_kib(self.organization, more, max_wait).await?;
            let mut parts = self.parts();
            parts.kib += more;
            match &mut parts.memory {
                Some(held) => held.merge(permit),
                None => parts.memory = Some(permit),
            }
        }
    }

    /// Returns the memory in KiB that a further part lacks. Counts the part if it lacks none.
    fn lacking(&self, bytes: usize) -> u32 {
        let mut parts = self.parts();
        let bytes = parts.bytes + bytes;
        let more = self.needed(&parts, bytes).saturating_sub(parts.kib);
        if more == 0 {
            parts.bytes = bytes;
        }
        more
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        // Poisoning is harmless: no code that changes the parts panics.
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the memory for parts of this length in KiB. What an answer takes first may exceed the share of its
    /// organization. Later it grows up to the share only, as it could never have more while it holds some.
    fn needed(&self, parts: &Parts, bytes: usize) -> u32 {
        match parts.kib {
            _ if bytes <= self.budget.small() => 0,
            0 => weight(bytes),
            held => weight(bytes).min(self.budget.share.max(held)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use futures_util::FutureExt;
    use uuid::Uuid;

    use super::*;
    use crate::memory::{Memory, MemoryLimits};

    fn gathered(memory: &Memory) -> Gathered<'_> {
        Gathered::new(&memory.responses, OrganizationId(Uuid::from_u128(1)))
    }

    #[tokio::test(start_paused = true)]
    async fn parts_take_memory_before_the_answer_is_complete() {
        let memory = Memory::new(&MemoryLimits { large_response: 2, responses: 100, ..MemoryLimits::default() });
        let in_use = || memory.responses.semaphore.in_use();
        let answer = gathered(&memory);
        answer.add(1_000).await.unwrap();
        answer.add(1_000).await.unwrap();
        assert_eq!(in_use(), 0, "a small answer needs no memory");
        answer.add(8 << 10).await.unwrap();
        assert_eq!(in_use(), 10);
        answer.add(90 << 10).await.unwrap();
        assert_eq!(in_use(), memory.responses.share, "an answer never grows beyond the share of its organization");
        let other = gathered(&memory);
        other.add(1_000).await.unwrap();
        assert_eq!(other.add(3 << 10).await.err().unwrap().code.as_str(), "overloaded");
        other.add(1_000).await.unwrap();
        let Answer { bytes, memory: held } = answer.into_answer(vec![0; 5 << 10]).await.unwrap();
        assert_eq!((bytes.len(), in_use()), (5 << 10, 5), "what the answer does not need is free");
        drop(held);
        assert!(other.into_answer(vec![0; 2 << 10]).await.unwrap().memory.is_none());
        let grown = gathered(&memory).into_answer(vec![0; 7 << 10]).await.unwrap();
        assert_eq!(in_use(), 7, "the answer needs more than its parts");
        drop(grown);
        assert_eq!(in_use(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_part_that_needs_no_memory_does_not_wait_for_the_others() {
        let memory = Memory::new(&MemoryLimits { large_response: 2, responses: 100, ..MemoryLimits::default() });
        let all = memory.responses.take(OrganizationId(Uuid::from_u128(1)), 100 << 10).await.unwrap();
        let answer = gathered(&memory);
        let mut large = Box::pin(answer.add(60 << 10));
        assert!((&mut large).now_or_never().is_none());
        assert!(answer.add(1_000).now_or_never().unwrap().is_ok());
        drop(all);
        large.await.unwrap();
        assert_eq!((answer.bytes(), memory.responses.semaphore.in_use()), (1_000 + (60 << 10), 60));
    }

    #[tokio::test(start_paused = true)]
    async fn a_single_part_may_exceed_the_share() {
        let memory = Memory::new(&MemoryLimits { large_response: 2, responses: 100, ..MemoryLimits::default() });
        let in_use = || memory.responses.semaphore.in_use();
        let answer = gathered(&memory);
        answer.add(60 << 10).await.unwrap();
        assert_eq!(in_use(), 60);
        answer.add(30 << 10).await.unwrap();
        assert_eq!(in_use(), 60, "it waits for no more while it holds that");
        let answer = answer.into_answer(vec![0; 50 << 10]).await.unwrap();
        assert_eq!(in_use(), 50);
        drop(answer);
        assert_eq!(in_use(), 0);
    }
}
