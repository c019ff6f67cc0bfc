use api_types::{
    ErrorCode, NoBody, ResearchDeleteResponse, ResearchEventsResponse, ResearchListResponse, ResearchRequest,
    ResearchResponse, WarningCode,
};
use model::Scope;

use crate::examples::{Example, research as examples};
use crate::parameters::{ResearchEventsQuery, ResearchId, ResearchListQuery, ResearchQuery};
use crate::{InvalidRequest, Operation, Tag};

group! {
    /// A new research run.
    CreateResearch,
    /// The research runs of the organization.
    ListResearch,
    /// A research run with its report.
    GetResearch,
    /// The events of a research run.
    ResearchEvents,
    /// The end of a research run, by the caller.
    CancelResearch,
    /// Removal of a research run.
    DeleteResearch,
}

/// A run id that is too long.
const INVALID_ID: InvalidRequest =
    InvalidRequest { field: "research_id", message: "research_id must have at most 128 characters" };

const WARNINGS: &[WarningCode] = &[WarningCode::SynthesisUnavailable, WarningCode::BudgetReached];

impl Operation for CreateResearch {
    type Path = ();
    type Query = ();
    type Body = ResearchRequest;
    type Response = ResearchResponse;

    const ID: &'static str = "createResearch";
    const ROUTE: &'static str = "POST /v1/research";
    const TAG: Tag = Tag::Research;
    const SCOPE: Option<Scope> = Some(Scope::ResearchWrite);
    const SUMMARY: &'static str = "Start a research run";
    const DESCRIPTION: &'static str = "\
Queues a run that splits a question, searches, reads and writes a report, and returns at once; the header `Location` has the \
address of the run. Every citation of the report is compared with its capture, byte for byte. Without a model the report \
consists of sentences of the sources (`synthesis_unavailable`). Each search of a run is charged like `POST /v1/search`. The \
number of unfinished runs is limited: beyond it the status is 429, with `details.limit` = `research_concurrency`. A `webhook` \
receives the end of this run, signed with the `secret` in this response.";
    const LABEL: &'static str = "Start research";
    const STATUS: u16 = 202;
    const SUCCESS: &'static str = "The queued run.";
    const LOCATED: bool = true;
    const ERRORS: &'static [ErrorCode] = &[
        ErrorCode::InsufficientBalance,
        ErrorCode::ResearchNotFound,
        ErrorCode::RetrievalNotConfigured,
        ErrorCode::QuotaExceeded,
    ];
    const INVALID: InvalidRequest =
        InvalidRequest { field: "budget.max_seconds", message: "budget.max_seconds must be between 1 and 3600" };
    // A second request would start a second run.
    const RETRY_SAFE: bool = false;

    fn request_examples() -> Vec<Example> {
        examples::requests()
    }

    fn response_example() -> Example {
        examples::created()
    }
}

impl Operation for ListResearch {
    type Path = ();
    type Query = ResearchListQuery;
    type Body = NoBody;
    type Response = ResearchListResponse;

    const ID: &'static str = "listResearch";
    const ROUTE: &'static str = "GET /v1/research";
    const TAG: Tag = Tag::Research;
    const SCOPE: Option<Scope> = Some(Scope::ResearchRead);
    const SUMMARY: &'static str = "List research runs";
    const DESCRIPTION: &'static str = "Lists the runs of the organization, newest first, without their reports.";
    const LABEL: &'static str = "List research";
    const SUCCESS: &'static str = "The runs.";
    const INVALID: InvalidRequest =
        InvalidRequest { field: "limit", message: "limit must be a number between 1 and 100" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::list()
    }
}

impl Operation for GetResearch {
    type Path = ResearchId;
    type Query = ResearchQuery;
    type Body = NoBody;
    type Response = ResearchResponse;

    const ID: &'static str = "getResearch";
    const ROUTE: &'static str = "GET /v1/research/{research_id}";
    const TAG: Tag = Tag::Research;
    const SCOPE: Option<Scope> = Some(Scope::ResearchRead);
    const SUMMARY: &'static str = "Get a research run";
    const DESCRIPTION: &'static str = "\
Returns status, progress and, at the end, the report. With `wait_seconds` the response waits for the end of the run. Runs are \
kept until `expires_at`.";
    const LABEL: &'static str = "Get research";
    const SUCCESS: &'static str = "The run.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::ResearchNotFound];
    const INVALID: InvalidRequest =
        InvalidRequest { field: "wait_seconds", message: "wait_seconds must be a number between 0 and 30" };
    const WARNINGS: &'static [WarningCode] = WARNINGS;
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::completed()
    }
}

impl Operation for ResearchEvents {
    type Path = ResearchId;
    type Query = ResearchEventsQuery;
    type Body = NoBody;
    type Response = ResearchEventsResponse;

    const ID: &'static str = "listResearchEvents";
    const ROUTE: &'static str = "GET /v1/research/{research_id}/events";
    const TAG: Tag = Tag::Research;
    const SCOPE: Option<Scope> = Some(Scope::ResearchRead);
    const SUMMARY: &'static str = "Follow a research run";
    const DESCRIPTION: &'static str = "\
Returns a page of the run's events. With `Accept: text/event-stream` the events are streamed until the last one instead, those \
of a finished run as well; `id` is the sequence, `event` the type and `data` the event as JSON. A client that was cut off sends \
the last sequence as the header `Last-Event-ID` and continues without loss or repetition. A comment is sent every 15 seconds. \
The number of streams of an organization is limited: beyond it the status is 429, with `details.limit` = `research_readers`.";
    const LABEL: &'static str = "Follow research";
    const SUCCESS: &'static str = "The events.";
    const STREAM: Option<&'static str> = Some("text/event-stream");
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::ResearchNotFound];
    const INVALID: InvalidRequest =
        InvalidRequest { field: "limit", message: "limit must be a number between 1 and 1000" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::events()
    }
}

impl Operation for CancelResearch {
    type Path = ResearchId;
    type Query = ();
    type Body = NoBody;
    type Response = ResearchResponse;

    const ID: &'static str = "cancelResearch";
    const ROUTE: &'static str = "POST /v1/research/{research_id}/cancel";
    const TAG: Tag = Tag::Research;
    const SCOPE: Option<Scope> = Some(Scope::ResearchWrite);
    const SUMMARY: &'static str = "Cancel a research run";
    const DESCRIPTION: &'static str = "\
Ends a run without a report and interrupts its work in progress. Returns the run; one that has ended stays as it is.";
    const LABEL: &'static str = "Cancel research";
    const STATUS: u16 = 202;
    const SUCCESS: &'static str = "The run.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::ResearchNotFound];
    const INVALID: InvalidRequest = INVALID_ID;
    const WARNINGS: &'static [WarningCode] = WARNINGS;
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::cancelled()
    }
}

impl Operation for DeleteResearch {
    type Path = ResearchId;
    type Query = ();
    type Body = NoBody;
    type Response = ResearchDeleteResponse;

    const ID: &'static str = "deleteResearch";
    const ROUTE: &'static str = "DELETE /v1/research/{research_id}";
    const TAG: Tag = Tag::Research;
    const SCOPE: Option<Scope> = Some(Scope::ResearchWrite);
    const SUMMARY: &'static str = "Delete a research run";
    const DESCRIPTION: &'static str = "\
Deletes a run with its report and events, and cancels it first if it has not ended. The ledger keeps its searches.";
    const LABEL: &'static str = "Delete research";
    const SUCCESS: &'static str = "The run is deleted.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::ResearchNotFound];
    const INVALID: InvalidRequest = INVALID_ID;
    // A repeated request reports `research_not_found`.
    const RETRY_SAFE: bool = false;

    fn response_example() -> Example {
        examples::deleted()
    }
}
