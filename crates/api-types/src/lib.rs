#![doc = include_str!("../README.md")]

pub mod access;
pub mod citations;
pub mod document;
pub mod documents;
pub mod error;
pub mod feedback;
pub mod files;
pub mod keys;
pub mod me;
pub mod passage;
pub mod research;
pub mod schema_uri;
pub mod schemas;
pub mod search_record;
pub mod search_request;
pub mod search_response;
mod strict;
pub mod timestamp;
pub mod usage;
pub mod validation;
pub mod warning;
pub mod web;
pub mod webhooks;

pub use access::{Access, RateLimit, Usage};
pub use citations::{
    Citation, CitationCheck, CitationResult, CitationStatus, CitationsVerifyRequest, CitationsVerifyResponse,
    QuoteReplacement,
};
pub use document::{
    CaptureEntry, Content, ContentFormat, ContentRange, ContentRequest, DocumentBlock, DocumentRequest,
    DocumentResponse, Section, Selection,
};
pub use documents::{
    DocumentResult, DocumentTarget, DocumentsRequest, DocumentsResponse, DocumentsShape, ReadDocument, ReadStatus,
};
pub use error::{ErrorBody, ErrorCode, ErrorEnvelope};
pub use feedback::{AgentContext, EventType, FeedbackRequest, FeedbackResponse};
pub use files::{
    FileContentResponse, FileDeleteResponse, FileEntry, FileListResponse, FileResponse, FileStatus, IndexFilesResponse,
    IndexMode, IndexRequest, IndexStartResponse, IndexStats, IndexStatusResponse, IndexedFile, PresignRequest,
    PresignResponse, RunState,
};
pub use keys::{KeyCreateRequest, KeyCreateResponse, KeyEntry, KeyListResponse, KeyRevokeResponse};
pub use me::{Credential, CredentialKind, MeResponse, OrganizationInfo, Quota, Quotas, WebInfo};
pub use passage::{DocumentProvenance, Passage};
pub use research::{
    ResearchBasis, ResearchBudget, ResearchCitation, ResearchDeleteResponse, ResearchDepth, ResearchEntry,
    ResearchError, ResearchEvent, ResearchEventType, ResearchEventsResponse, ResearchFormat, ResearchListResponse,
    ResearchOnExceed, ResearchOutput, ResearchOutputRequest, ResearchPlanStep, ResearchProblem, ResearchProgress,
    ResearchRequest, ResearchResponse, ResearchRun, ResearchStatus, ResearchStopReason, ResearchUsage, ResearchWebhook,
    ResearchWebhookRequest,
};
pub use schema_uri::IgnoredSchema;
pub use schemas::{NoBody, RequestBody, ResponseBody};
pub use search_record::{Explanation, RecordedResult, SearchRecordResponse, StagePlace};
pub use search_request::{
    Filters, Freshness, FreshnessPolicy, OnExceed, ResponseBudget, ResponseShape, SearchIndex, SearchRequest,
    SearchScope, SourcePolicy, Verbosity,
};
pub use search_response::{IntegrationResults, Ranking, ResultMetadata, Score, SearchResponse, SearchResult};
pub use usage::{
    Bucket, EndpointUsage, Headline, KeyStatus, KeyUsage, LatencyPoint, ProductUsage, SeriesPoint, UsageOverview,
    UsageRange,
};
pub use warning::{Warning, WarningCode};
pub use web::{
    WebCrawlCreateRequest, WebCrawlDeleteResponse, WebCrawlEntry, WebCrawlListResponse, WebCrawlOutcomes,
    WebCrawlReason, WebCrawlReportResponse, WebCrawlResponse, WebCrawlSettings, WebCrawlState, WebHost, WebPageEntry,
    WebPageListResponse, WebPageRefresh, WebPagesRefreshRequest, WebPagesRefreshResponse, WebPagesRemoveRequest,
    WebPagesRemoveResponse, WebSitemaps, WebStatsResponse,
};
pub use webhooks::{
    WebhookCreateRequest, WebhookCreateResponse, WebhookDeleteResponse, WebhookEntry, WebhookEventType,
    WebhookListResponse, WebhookRotateResponse, WebhookStatus,
};
