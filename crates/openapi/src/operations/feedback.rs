use api_types::{ErrorCode, FeedbackRequest, FeedbackResponse};
use model::Scope;

use crate::examples::{self, Example};
use crate::{InvalidRequest, Operation, Tag};

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
    const SCOPE: Option<Scope> = Some(Scope::FeedbackWrite);
    const SUMMARY: &'static str = "Give feedback";
    const DESCRIPTION: &'static str = "\
Stores one event about a result, a passage or a search. Only `event_type` is required; a `search_id` ties the event to \
the list that was returned.

The operator of the service exports the events to judge and improve its results. They do not change later searches by \
themselves; after `stale_result`, the organization's next read of the page fetches it again.";
    const LABEL: &'static str = "Feedback";
    const SUCCESS: &'static str = "The event is stored.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::DocumentNotFound, ErrorCode::SearchNotFound];
    const INVALID: InvalidRequest = InvalidRequest {
        field: "event_type",
        message: "event_type: missing field `event_type` at line 1 column 2",
    };
    // A repeated event would count twice.
    const RETRY_SAFE: bool = false;

    fn request_examples() -> Vec<Example> {
        examples::feedback::requests()
    }

    fn response_example() -> Example {
        examples::feedback::response()
    }
}
