//! Facts of one request, which the code that serves it shares with its log lines.

use std::cell::Cell;
use std::rc::Rc;

use actix_web::http::header::HeaderMap;
use actix_web::{HttpMessage, HttpRequest};
use model::OrganizationId;
use trace_context::{TRACEPARENT, TRACESTATE, TraceContext};
use uuid::Uuid;

/// A request, from its head to the end of its answer.
pub(crate) struct Exchange {
    pub request_id: Uuid,
    pub trace: TraceContext,
    route: Cell<Option<&'static str>>,
    organization: Cell<Option<OrganizationId>>,
}

impl Exchange {
    /// Begins an exchange, in the caller's trace or a new one.
    pub fn begin(headers: &HeaderMap) -> Self {
        let request_id = Uuid::now_v7();
        let trace = continued(headers).unwrap_or_else(|| TraceContext::start(request_id));
        Self { request_id, trace, route: Cell::new(None), organization: Cell::new(None) }
    }

    /// Returns the exchange of a request. One that nobody observes gets its own.
    pub fn of(request: &HttpRequest) -> Rc<Self> {
        let observed = request.extensions().get::<Rc<Self>>().cloned();
        observed.unwrap_or_else(|| Rc::new(Self::begin(request.headers())))
    }

    /// Returns the name of the route once the request is known to belong to it.
    pub fn route(&self) -> Option<&'static str> {
        self.route.get()
    }

    pub fn set_route(&self, route: &'static str) {
        self.route.set(Some(route));
    }

    pub fn organization(&self) -> Option<OrganizationId> {
        self.organization.get()
    }

    pub fn set_organization(&self, organization: OrganizationId) {
        self.organization.set(Some(organization));
    }
}

/// Returns the trace of the caller. Two headers contradict each other.
fn continued(headers: &HeaderMap) -> Option<TraceContext> {
    let mut parents = headers.get_all(TRACEPARENT);
    let (parent, None) = (parents.next()?.to_str().ok()?, parents.next()) else { return None };
    let mut states = headers.get_all(TRACESTATE);
    let state = match (states.next(), states.next()) {
        (Some(state), None) => state.to_str().ok(),
        _ => None,
    };
    TraceContext::continued(parent, state)
}
