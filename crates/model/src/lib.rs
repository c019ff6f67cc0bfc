#![doc = include_str!("../README.md")]

mod access;
mod clock;
mod collection;
mod crawls;
mod feedback;
mod files;
mod ids;
mod ledger;
mod names;
mod research;
mod runs;
mod text;
mod timestamp;
mod webhooks;

pub use access::{AuditAction, KeyState, Scope};
pub use clock::{Clock, ManualClock, MonotonicClock, SystemClock};
pub use collection::{CaptureFormat, Collection, IndexName};
pub use crawls::{CrawlStatus, CrawlUrlKind, CrawlUrlState};
pub use feedback::FeedbackEvent;
pub use files::{FileOutcome, FileStatus};
pub use ids::{
    ApiKeyId, AuditEntryId, BalanceEntryId, CaptureId, CrawlId, DeliveryId, DocId, FeedbackId, Generation,
    OrganizationId, PassageId, ResearchId, SearchId, SessionId, SyncId, WebhookId,
};
pub use ledger::BalanceReason;
pub use names::UnknownName;
pub use research::{ResearchStatus, ResearchStop};
pub use runs::{RunMode, RunState, RunStats};
pub use text::is_bidi_control;
pub use timestamp::Timestamp;
pub use webhooks::WebhookEvent;
