use api_types::{ErrorCode, FeedbackRequest, FeedbackResponse};
use model::Scope;

use crate::examples::{self, Example};
use crate::{Operation, Tag};

group! {
    /// Feedback on a result, a passage or a search.
    SubmitFeedback,
}

impl Operation for SubmitFeedback {
    type Path = ();
    type Query = ();
    type Body = FeedbackRequest;
    type Response = FeedbackResponse;

    const ID: &'static str = "submitFeedback";
    const ROUTE: &'static str = "POST /v1/feedback";
    const TAG: Tag = Tag::Feedback;
    const SCOPE: Scope = Scope::FeedbackWrite;
    const SUMMARY: &'static str = "Give feedback";
    const DESCRIPTION: &'static str = "\
Stores one event about a result, a passage or a search. Only `event_type` is required; a `search_id` ties the event to \
the list that was returned.";
    const LABEL: &'static str = "Feedback";
    const SUCCESS: &'static str = "The event is stored.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::DocumentNotFound, ErrorCode::SearchNotFound];
    // A repeated event would count twice.
    const RETRY_SAFE: bool = false;

    fn request_examples() -> Vec<Example> {
        examples::feedback::requests()
    }

    fn response_example() -> Example {
        examples::feedback::response()
    }
}
