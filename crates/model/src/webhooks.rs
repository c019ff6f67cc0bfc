use crate::names::named_enum;

named_enum! {
    /// The type of an event that webhooks receive.
    WebhookEvent: "webhook event type" {
        RunCompleted = "run.completed",
        RunFailed = "run.failed",
        ResearchCompleted = "research.completed",
        ResearchFailed = "research.failed",
        ResearchCancelled = "research.cancelled",
    }
}
