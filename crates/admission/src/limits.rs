use std::time::Duration;

/// Size of a [`FairSemaphore`](crate::FairSemaphore).
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub permits: u32,
    /// Permits that one organization holds at most. A single request may exceed it.
    pub per_organization: u32,
    /// Permits that the waiting requests of one organization need together, from which further ones are refused.
    pub max_waiting: usize,
    /// Expected wait beyond which a request is refused.
    pub max_wait: Duration,
}

impl Limits {
    /// Returns limits under which one organization may hold all permits while no other waits.
    pub fn shared(permits: u32, max_waiting: usize, max_wait: Duration) -> Self {
        Self { permits, per_organization: permits, max_waiting, max_wait }
    }
}

/// Refusal of a request that would wait too long.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("too many requests are waiting")]
pub struct Overloaded {
    /// Expected time until a retry succeeds, from a second to a minute.
    pub retry_after: Duration,
}
