//! Use cases of research runs: create, read, follow, cancel, delete.

mod changes;
mod create;
mod cursor;
mod end;
mod follow;
mod list;
mod read;
mod request;
mod state;
mod view;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use app::App;
use app::leases::Leases;
use docstore::Docstore;
use model::{Clock, ResearchId};
use models::generation::Generator;
use tokio::sync::Notify;
use webhooks::Sender;

use changes::Changes;
pub use create::{CreatedRun, NewRun, NewWebhook};
pub use follow::Follower;
pub use list::{ListQuery, RunsPage};
pub(crate) use request::StoredRequest;
pub(crate) use state::StoredState;
pub(crate) use view::progress_of;
pub use view::{PlanEntry, Progress, RunEntry, RunError, RunEvent, RunView, WebhookView};
use waiting::Waiting;

/// Dependencies of [`Research`].
pub struct Parts {
    pub app: Arc<App>,
    pub store: Docstore,
    pub clock: Arc<dyn Clock>,
    /// Measures the time of runs; changes of the wall clock do not move it.
    pub timer: Arc<dyn Clock>,
    /// `None`: reports are extractive.
    pub generator: Option<Arc<dyn Generator>>,
    /// Checks the addresses of runs.
    pub webhooks: Arc<Sender>,
    pub options: Options,
}

/// Limits and times of research runs.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Runs of one organization that are queued or in flight.
    pub runs_per_organization: u32,
    /// Runs that this process executes at a time.
    pub parallel_runs: usize,
    /// Time for which ended runs are kept.
    pub retention: Duration,
    /// Time for which captures that a report cites are kept.
    pub evidence: Duration,
    /// Time after which another worker takes over the run of a dead one.
    pub lease: Duration,
    /// Interval of looking for runs and events of other processes.
    pub poll: Duration,
    /// Requests of one organization that wait for a run at a time.
    pub waiting_per_organization: usize,
    /// Interval of comments in streams of events.
    pub keep_alive: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            runs_per_organization: 4,
            parallel_runs: 64,
            retention: Duration::from_hours(30 * 24),
            evidence: Duration::from_hours(30 * 24),
            lease: Duration::from_secs(15),
            poll: Duration::from_secs(1),
            waiting_per_organization: 32,
            keep_alive: Duration::from_secs(15),
        }
    }
}

/// Research runs of all organizations.
pub struct Research {
    pub(crate) app: Arc<App>,
    pub(crate) store: Docstore,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timer: Arc<dyn Clock>,
    pub(crate) generator: Option<Arc<dyn Generator>>,
    pub(crate) webhooks: Arc<Sender>,
    pub(crate) options: Options,
    pub(crate) changes: Changes,
    pub(crate) leases: Leases<ResearchId>,
    /// Wakes the worker of this process.
    pub(crate) wake: Notify,
    waiting: Arc<Waiting>,
}

impl Research {
    pub fn new(parts: Parts) -> Self {
        let Parts { app, store, clock, timer, generator, webhooks, options } = parts;
        Self {
            app,
            store,
            clock,
            timer,
            generator,
            webhooks,
            options,
            changes: Changes::default(),
            leases: Leases::default(),
            wake: Notify::new(),
            waiting: Arc::new(Waiting::new(options.waiting_per_organization)),
        }
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Stops the execution of a run that has ended or was deleted, and wakes its readers.
    fn interrupt(&self, research_id: ResearchId) {
        self.leases.lose(research_id);
        self.changes.notify(research_id);
    }
}
