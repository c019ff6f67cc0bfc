//! Research runs: requests, runs with their reports, events.

mod events;
mod output;
mod request;
mod responses;
mod run;

pub use events::{ResearchEvent, ResearchEventsResponse};
pub use output::{ResearchBasis, ResearchCitation, ResearchOutput, ResearchProblem};
pub use request::{
    ResearchBudget, ResearchDepth, ResearchEventType, ResearchFormat, ResearchOnExceed, ResearchOutputRequest,
    ResearchRequest, ResearchWebhookRequest,
};
pub use responses::{ResearchDeleteResponse, ResearchEntry, ResearchListResponse, ResearchResponse, ResearchUsage};
pub use run::{
    ResearchError, ResearchPlanStep, ResearchProgress, ResearchRun, ResearchStatus, ResearchStopReason, ResearchWebhook,
};
