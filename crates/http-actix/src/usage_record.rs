use std::sync::Arc;
use std::time::Instant;

use app::{Identity, Viewer};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{Service, State, UsageEvent};

/// The status of a request whose client hung up before the answer (as nginx counts it).
const CLIENT_CLOSED: u16 = 499;

/// Records one authenticated request when it is dropped: actix drops the request's future when the client hangs up, and
/// such requests count too.
pub(crate) struct UsageRecord {
    service: Arc<dyn Service>,
    organization_id: Uuid,
    identity: Identity,
    route: &'static str,
    started: Instant,
    at: OffsetDateTime,
    status: u16,
}

impl UsageRecord {
    pub fn start(state: &State, viewer: &Viewer, route: &'static str, started: Instant) -> Self {
        UsageRecord {
            service: state.service.clone(),
            organization_id: viewer.organization_id,
            identity: viewer.identity.clone(),
            route,
            started,
            at: state.now(),
            status: CLIENT_CLOSED,
        }
    }

    pub fn finish(mut self, status: u16) {
        self.status = status;
    }
}

impl Drop for UsageRecord {
    fn drop(&mut self) {
        self.service.record_usage(UsageEvent {
            organization_id: self.organization_id,
            identity: self.identity.clone(),
            route: self.route,
            status: self.status,
            duration: self.started.elapsed(),
            at: self.at,
        });
    }
}
