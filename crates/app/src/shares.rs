//! Shares of this process: how much of each kind of work runs at a time, and for how long.

use std::future::Future;
use std::time::{Duration, Instant};

use admission::{Compute, FairSemaphore, Limits, Permit};

use metrics::{gauge, histogram};

use crate::error::{Error, Result};
use crate::{App, Deadline, Viewer};

/// Time that requests wait for their turn.
const WAIT: &str = "retrieval_admission_wait_seconds";

/// Kind of work of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Work {
    Search,
    /// A read of one document. It may wait for a page of the web, so many run at a time; what they compute and hold in memory
    /// is bounded separately.
    Read,
    /// A report over many rows.
    Report,
    /// A few rows, read or written.
    Small,
}

/// Sizes of the shares.
#[derive(Clone, Debug)]
pub struct ShareLimits {
    /// Threads of computation.
    pub cores: usize,
    /// Concurrent requests of each kind.
    pub searches: u32,
    pub reads: u32,
    pub reports: u32,
    pub small: u32,
    /// Waiting requests of one organization and kind, beyond which further ones are refused.
    pub max_waiting: usize,
    /// Expected wait beyond which a request is refused.
    pub max_wait: Duration,
}

impl ShareLimits {
    /// Returns the limits for a machine.
    pub fn for_cores(cores: usize) -> Self {
        let cores = cores.max(1);
        let cores_u32 = u32::try_from(cores).unwrap_or(u32::MAX);
        Self {
            cores,
            // Three quarters, for one organization, keep the cores busy while others wait for the database. More would only share
            // the cores among more searches, and the next one, of another organization, would take as much longer.
            searches: cores_u32.saturating_mul(4),
            reads: 256,
            reports: cores_u32,
            small: 64,
            max_waiting: 2_048,
            max_wait: Duration::from_secs(2),
        }
    }
}

/// Permits of each kind of work, and threads of computation.
pub struct Shares {
    cores: usize,
    searches: FairSemaphore,
    reads: FairSemaphore,
    reports: FairSemaphore,
    small: FairSemaphore,
    compute: Compute,
    long_compute: Compute,
}

impl Shares {
    /// Must be called on a runtime, whose blocking threads compute.
    pub fn new(limits: &ShareLimits) -> Self {
        for work in Work::ALL {
            count(work, 0);
            // Registered by naming it: a recorded value would count as a request.
            let _ = histogram!(WAIT, "work" => work.as_str());
        }
        let shared = |permits| Limits::shared(permits, limits.max_waiting, limits.max_wait);
        // Many searches take a second, and reads and small requests may wait for something outside: no organization takes all
        // places, so that the next one of another need not wait for their end.
        let partial = |permits: u32| Limits { per_organization: permits - permits / 4, ..shared(permits) };
        // A quarter of a few places is none, and a report may take seconds: one place is always left for others.
        let places = limits.reports.max(2);
        let reports = Limits { per_organization: places - 1, ..shared(places) };
        Self {
            cores: limits.cores,
            searches: FairSemaphore::new(partial(limits.searches)),
            reads: FairSemaphore::new(partial(limits.reads)),
            reports: FairSemaphore::new(reports),
            small: FairSemaphore::new(partial(limits.small)),
            compute: Compute::interactive(limits.cores),
            long_compute: Compute::background(limits.cores),
        }
    }

    /// Updates the gauges of running and waiting requests.
    pub fn measure(&self) {
        for work in Work::ALL {
            let semaphore = self.of(work);
            let requests = |state: &'static str, count: f64| {
                gauge!("retrieval_requests_in_progress", "work" => work.as_str(), "state" => state).set(count);
            };
            requests("running", f64::from(semaphore.in_use()));
            requests("waiting", semaphore.waiting() as f64);
        }
    }

    /// Returns the number of cores that the shares were made for.
    pub fn cores(&self) -> usize {
        self.cores
    }

    /// Threads for short requests.
    pub fn compute(&self) -> &Compute {
        &self.compute
    }

    /// Threads for requests with long texts.
    pub fn long_compute(&self) -> &Compute {
        &self.long_compute
    }

    fn of(&self, work: Work) -> &FairSemaphore {
        match work {
            Work::Search => &self.searches,
            Work::Read => &self.reads,
            Work::Report => &self.reports,
            Work::Small => &self.small,
        }
    }
}

impl App {
    /// Refuses a use case that would wait too long for its turn, before it is moved to another thread.
    ///
    /// # Errors
    /// `Overloaded`.
    pub fn check_share(&self, viewer: &Viewer, work: Work) -> Result<()> {
        let checked = self.shares.of(work).check(viewer.organization_id).map_err(Error::from);
        count_overloaded(work, checked)
    }

    /// Runs a use case within the share of the viewer's organization and within the time of a request. Dropping the future
    /// stops the use case at its next step.
    ///
    /// # Errors
    /// `Overloaded` if the request would wait too long for its turn, or takes too long.
    pub async fn within_share<T>(
        &self,
        viewer: &Viewer,
        work: Work,
        use_case: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        self.within_share_until(self.request_deadline(), viewer, work, use_case).await
    }

    /// Starts the time of a request that runs several use cases with [`within_share_until`](Self::within_share_until).
    pub fn request_deadline(&self) -> Deadline {
        Deadline::after(self.options.request_timeout)
    }

    /// Runs one of several use cases of a request, as [`within_share`](Self::within_share) runs the only one.
    ///
    /// # Errors
    /// `Overloaded` if the use case would wait too long for its turn, or does not end before the deadline.
    pub async fn within_share_until<T>(
        &self,
        deadline: Deadline,
        viewer: &Viewer,
        work: Work,
        use_case: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let admitted = async {
            let arrived = Instant::now();
            let left = deadline.left().unwrap_or(Duration::MAX);
            let permit = self.shares.of(work).acquire_within(viewer.organization_id, 1, left).await?;
            let mut unanswered = Unanswered(Some(permit));
            histogram!(WAIT, "work" => work.as_str()).record(arrived.elapsed());
            let outcome = deadline.within(use_case).await.unwrap_or_else(|| Err(self.too_long()));
            unanswered.0 = None;
            outcome
        };
        count_overloaded(work, admitted.await)
    }

    fn too_long(&self) -> Error {
        let limit = self.options.request_timeout.as_secs_f64();
        let message = format!("the request took longer than {limit} seconds");
        Error::Overloaded { message, retry_after: Duration::from_secs(1) }
    }
}

fn count_overloaded<T>(work: Work, outcome: Result<T>) -> Result<T> {
    if matches!(outcome, Err(Error::Overloaded { .. })) {
        count(work, 1);
    }
    outcome
}

/// Counts refused requests. A count of 0 makes the counter known to the first scrape.
fn count(work: Work, requests: u64) {
    metrics::counter!("retrieval_overloaded_total", "work" => work.as_str()).increment(requests);
}

/// Permit of a request whose client may leave before the answer.
struct Unanswered(Option<Permit>);

impl Drop for Unanswered {
    fn drop(&mut self) {
        if let Some(permit) = self.0.take() {
            permit.abandon();
        }
    }
}

impl Work {
    const ALL: [Self; 4] = [Work::Search, Work::Read, Work::Report, Work::Small];

    fn as_str(self) -> &'static str {
        match self {
            Work::Search => "search",
            Work::Read => "read",
            Work::Report => "report",
            Work::Small => "small",
        }
    }
}
