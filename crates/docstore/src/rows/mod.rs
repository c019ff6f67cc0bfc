//! Table rows, shared by both backends.

mod account;
mod activity;
mod audit;
mod crawl;
mod document;
mod embedding;
mod file;
mod outbox;
mod page_read;
mod research;
mod run;
mod usage;
mod webhook;

pub use account::{ApiKey, BalanceEntry, KeyCreation, Organization, OrganizationSize};
pub use activity::{Feedback, FeedbackExport, Search};
pub use audit::{AuditEntry, AuditFilter};
pub use crawl::{Crawl, CrawlCount, CrawlHost, CrawlQueue, CrawlUrl};
pub use document::{Capture, CapturePart, CaptureTerms, Document, Grant, Passage, StoredTermVector};
pub use embedding::{EmbeddingJob, IndexModel, ModelCalibration, StoredVectors};
pub(crate) use file::{DeletedObject, UPLOAD_PRECISION};
pub use file::{
    File, FileChanges, MeasuredObject, MeasuredUpload, Registration, ReplacedUpload, RunFile, StorageQuotas,
    StorageTotals, Withdrawal,
};
pub use outbox::{IndexGenerations, NewOutboxEntry, OutboxEntry, PendingOutbox};
pub use page_read::PageRead;
pub use research::{
    ClaimedResearch, ListedResearch, NewResearchEvent, ResearchEnd, ResearchEnded, ResearchEvent, ResearchProgress,
    ResearchRun, ResearchStep,
};
pub use run::IndexRun;
pub use usage::{DAY, HOUR, MINUTE, RollupPosition, UsageEvent, UsageRollup};
pub use webhook::{AfterFailure, ClaimedDelivery, NewWebhookEvent, Webhook, WebhookDelivery};
