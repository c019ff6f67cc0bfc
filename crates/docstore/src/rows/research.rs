use std::fmt;

use diesel::prelude::*;
use model::{CaptureId, OrganizationId, ResearchId, ResearchStatus, ResearchStop, SessionId, Timestamp, WebhookEvent};
use uuid::Uuid;

use super::{NewWebhookEvent, WebhookDelivery};
use crate::schema::{research_events, research_runs};
use crate::types::{Details, Strings, row};

row! {
    /// Research run, without its state and report.
    #[derive(Clone, Insertable, Queryable, Selectable)]
    #[diesel(table_name = research_runs, treat_none_as_default_value = false)]
    pub struct ResearchRun {
        pub research_id: ResearchId,
        pub organization_id: OrganizationId,
        pub session_id: SessionId,
        /// Identity that its searches are charged to.
        pub identity: String,
        pub query: String,
        /// JSON of everything that determines the run; empty after its end.
        pub request: String,
        /// Progress for readers.
        pub progress: Details,
        pub status: ResearchStatus,
        pub stop_reason: Option<ResearchStop>,
        /// JSON of the error of a failed run.
        pub error: Option<String>,
        pub metadata: Details,
        /// Address that receives the end of this run only.
        pub webhook_url: Option<String>,
        pub webhook_secret: Option<String>,
        pub webhook_events: Option<Strings>,
        pub searches: i32,
        pub documents: i32,
        pub tokens: i64,
        /// Sequence of the last event.
        pub last_sequence: i64,
        /// Claims since the last stored step.
        pub attempts: i32,
        pub lease_owner: Option<String>,
        pub lease_expires_at: Option<Timestamp>,
        pub created_at: Timestamp,
        pub started_at: Option<Timestamp>,
        pub completed_at: Option<Timestamp>,
        pub expires_at: Timestamp,
    }
}

impl ResearchRun {
    /// Returns the delivery of an event to the address of this run, if it has one and the event is wanted.
    pub(crate) fn delivery(&self, event: &NewWebhookEvent, now: Timestamp) -> Option<WebhookDelivery> {
        let name = event.event_type.as_str();
        let wanted = self.webhook_events.as_ref()?.0.iter().any(|wanted| wanted == name);
        let (url, secret) = (self.webhook_url.clone()?, self.webhook_secret.clone()?);
        wanted.then(|| WebhookDelivery {
            delivery_id: Uuid::new_v5(&self.research_id.0, name.as_bytes()).into(),
            organization_id: self.organization_id,
            webhook_id: None,
            url: Some(url),
            secret: Some(secret),
            event_type: name.to_owned(),
            payload: event.payload.clone(),
            attempts: 0,
            next_attempt_at: now,
            lease_owner: None,
            lease_expires_at: None,
            last_error: None,
            created_at: now,
        })
    }
}

/// Research run of a list, without what takes much room: its request can have hundreds of kilobytes.
#[derive(Clone, Queryable, Selectable)]
#[diesel(table_name = research_runs)]
pub struct ListedResearch {
    pub research_id: ResearchId,
    pub session_id: SessionId,
    pub query: String,
    pub status: ResearchStatus,
    pub stop_reason: Option<ResearchStop>,
    pub metadata: Details,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub expires_at: Timestamp,
}

// Hides the secret and the texts.
impl fmt::Debug for ResearchRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ResearchRun");
        shown.field("research_id", &self.research_id).field("organization_id", &self.organization_id);
        shown.field("status", &self.status).field("stop_reason", &self.stop_reason);
        shown.field("last_sequence", &self.last_sequence).finish_non_exhaustive()
    }
}

row! {
    /// Event of a research run.
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = research_events, treat_none_as_default_value = false)]
    pub struct ResearchEvent {
        pub research_id: ResearchId,
        /// Number within the run, from 1, without gaps.
        pub sequence: i64,
        pub organization_id: OrganizationId,
        /// Last part of the name of its type.
        pub kind: String,
        pub at: Timestamp,
        pub data: Details,
    }
}

/// Event to store; the database numbers it.
#[derive(Clone, Debug)]
pub struct NewResearchEvent {
    pub kind: &'static str,
    pub data: Details,
}

/// Research run that a worker has leased.
#[derive(Clone, Debug)]
pub struct ClaimedResearch {
    pub run: ResearchRun,
    /// State after the last step; empty before the first.
    pub state: String,
}

/// Progress and consumption of a research run.
#[derive(Clone, Debug, Default)]
pub struct ResearchProgress {
    pub progress: Details,
    pub searches: i32,
    pub documents: i32,
    pub tokens: i64,
}

/// Outcome of a step.
#[derive(Clone, Debug)]
pub struct ResearchStep {
    /// Sequence of the last event before the step.
    pub last_sequence: i64,
    pub state: String,
    pub progress: ResearchProgress,
    pub events: Vec<NewResearchEvent>,
}

/// End of a research run.
#[derive(Clone, Debug)]
pub struct ResearchEnd {
    /// A terminal status.
    pub status: ResearchStatus,
    pub stop_reason: ResearchStop,
    /// JSON of the error of a failed run.
    pub error: Option<String>,
    /// JSON of the report.
    pub output: Option<String>,
    /// `None` keeps the stored progress.
    pub progress: Option<ResearchProgress>,
    /// Sequence of the last event before the last step. `None`: whichever is stored.
    pub last_sequence: Option<i64>,
    /// Events of the last step.
    pub events: Vec<NewResearchEvent>,
    /// Captures that the report cites.
    pub cited: Vec<CaptureId>,
    /// Time until which they are kept at least.
    pub cited_until: Timestamp,
    pub expires_at: Timestamp,
}

/// Converts an ended run to the event for webhooks.
pub type ResearchEnded = fn(&ResearchRun, WebhookEvent) -> NewWebhookEvent;
