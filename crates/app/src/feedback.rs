use uuid::Uuid;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FeedbackEvent {
    ResultHelpful,
    ResultNotHelpful,
    PassageUsed,
    ReadAbandoned,
    DuplicateResult,
    StaleResult,
    SpamOrLowQuality,
    MissingExpectedSource,
    UnsafeOrPolicyIssue,
}

#[derive(Clone, Debug)]
pub struct FeedbackRequest {
    pub event: FeedbackEvent,
    pub search_id: Option<Uuid>,
    pub doc_id: Option<Uuid>,
    pub passage_id: Option<Uuid>,
    pub session_id: Uuid,
    pub comment: Option<String>,
    pub query: Option<String>,
    pub rank: Option<u32>,
    pub client_model: Option<String>,
}
