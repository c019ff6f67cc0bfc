use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use app::usage::UsageEvent;
use app::{App, Identity, Viewer};
use model::OrganizationId;
use time::OffsetDateTime;

use crate::{State, request_metrics};

/// Status recorded when the client disconnects before the response, as in nginx.
pub(crate) const CLIENT_CLOSED: u16 = 499;

/// Records one authenticated request on drop. actix drops the future when a client disconnects, and such requests count
/// too.
pub(crate) struct UsageRecord {
    app: Arc<App>,
    organization_id: OrganizationId,
    identity: Identity,
    route: Cell<&'static str>,
    started: Instant,
    at: OffsetDateTime,
    status: Cell<Option<u16>>,
    is_refused: bool,
}

impl UsageRecord {
    pub fn start(state: &State, viewer: &Viewer, route: &'static str, started: Instant) -> Self {
        UsageRecord {
            app: state.app.clone(),
            organization_id: viewer.organization_id,
            identity: viewer.identity.clone(),
            route: Cell::new(route),
            started,
            at: state.now(),
            status: Cell::new(None),
            is_refused: false,
        }
    }

    /// Marks a request that was not admitted.
    pub fn refused(mut self) -> Self {
        self.is_refused = true;
        self
    }

    /// Returns the route that the request counts as.
    pub fn route(&self) -> &'static str {
        self.route.get()
    }

    /// Assigns the request to another route, such as the operation of a tool call.
    pub fn counts_as(&self, route: &'static str) {
        self.route.set(route);
    }

    /// Sets the status. The first one counts: a tool call can fail within a successful response.
    pub fn finish(&self, status: u16) {
        self.status.set(self.status.get().or(Some(status)));
    }
}

impl Drop for UsageRecord {
    fn drop(&mut self) {
        let status = self.status.get().unwrap_or_else(|| {
            // The pipeline counts the others.
            request_metrics::record(self.route.get(), CLIENT_CLOSED, None);
            CLIENT_CLOSED
        });
        self.app.record_usage(UsageEvent {
            organization_id: self.organization_id,
            identity: self.identity.clone(),
            route: self.route.get(),
            status,
            duration: self.started.elapsed(),
            at: self.at,
            is_refused: self.is_refused,
        });
    }
}
