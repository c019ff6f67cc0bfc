use crate::names::named_enum;

named_enum! {
    /// An agent's or evaluator's verdict on a result, a passage or a search.
    FeedbackEvent: "feedback event" {
        ResultHelpful = "result_helpful",
        ResultNotHelpful = "result_not_helpful",
        PassageUsed = "passage_used",
        ReadAbandoned = "read_abandoned",
        DuplicateResult = "duplicate_result",
        StaleResult = "stale_result",
        SpamOrLowQuality = "spam_or_low_quality",
        MissingExpectedSource = "missing_expected_source",
        UnsafeOrPolicyIssue = "unsafe_or_policy_issue",
    }
}
