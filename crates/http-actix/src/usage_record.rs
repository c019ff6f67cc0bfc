use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use app::usage::UsageEvent;
use app::{App, Identity, Viewer};
use model::OrganizationId;
use time::OffsetDateTime;

use crate::State;

/// The status of a request whose client hung up before the answer (as nginx counts it).
const CLIENT_CLOSED: u16 = 499;

/// Records one authenticated request when it is dropped: actix drops the request's future when the client hangs up, and
/// such requests count too.
pub(crate) struct UsageRecord {
    app: Arc<App>,
    organization_id: OrganizationId,
    identity: Identity,
    route: Cell<&'static str>,
    started: Instant,
    at: OffsetDateTime,
    status: Cell<Option<u16>>,
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
        }
    }

    /// What the request counts as: the route that it came by, or that of the operation it turned out to stand for.
    pub fn route(&self) -> &'static str {
        self.route.get()
    }

    /// The request stands for the operation of this route.
    pub fn counts_as(&self, route: &'static str) {
        self.route.set(route);
    }

    /// The status that it ended with. The first one holds: an operation may have failed in an answer that did not.
    pub fn finish(&self, status: u16) {
        self.status.set(self.status.get().or(Some(status)));
    }
}

impl Drop for UsageRecord {
    fn drop(&mut self) {
        self.app.record_usage(UsageEvent {
            organization_id: self.organization_id,
            identity: self.identity.clone(),
            route: self.route.get(),
            status: self.status.get().unwrap_or(CLIENT_CLOSED),
            duration: self.started.elapsed(),
            at: self.at,
        });
    }
}
