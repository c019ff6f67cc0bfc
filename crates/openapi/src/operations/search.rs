use api_types::{ErrorCode, NoBody, SearchRecordResponse, SearchRequest, SearchResponse, WarningCode};
use model::Scope;

use crate::examples::{self, Example};
use crate::parameters::SearchId;
use crate::{InvalidRequest, Operation, Tag};

group! {
    /// Ranked search over the web index and the workspace.
    Search,
    /// The record of a search.
    GetSearch,
}

impl Operation for Search {
    type Path = ();
    type Query = ();
    type Body = SearchRequest;
    type Response = SearchResponse;

    const ID: &'static str = "search";
    const ROUTE: &'static str = "POST /v1/search";
    const TAG: Tag = Tag::Search;
    const SCOPE: Option<Scope> = Some(Scope::SearchRead);
    const SUMMARY: &'static str = "Search";
    const DESCRIPTION: &'static str = "\
Ranks documents of the web index, of the organization's workspace, or of both, and returns the passages that answer the \
query best.

A 200 with warnings is a complete answer. Results of both indexes are ranked by scores on one scale, and an index with \
relevant documents keeps a share of the places. Scores are comparable only within one \
response; use `doc_id` as a lasting reference. Invalid requests also count against the rate limit.";
    const LABEL: &'static str = "Search";
    const SUCCESS: &'static str = "The ranked list, best first.";
    const ERRORS: &'static [ErrorCode] =
        &[ErrorCode::ResponseTooLarge, ErrorCode::InsufficientBalance, ErrorCode::RetrievalNotConfigured];
    const INVALID: InvalidRequest =
        InvalidRequest { field: "max_results", message: "max_results must be between 1 and 50" };
    const WARNINGS: &'static [WarningCode] = &[
        WarningCode::ResponseTruncated,
        WarningCode::BudgetUnsatisfiable,
        WarningCode::UnknownField,
        WarningCode::SourcePolicyFiltered,
        WarningCode::FilterUnknownValues,
        WarningCode::IndexEmpty,
        WarningCode::RerankUnavailable,
        WarningCode::SemanticUnavailable,
        WarningCode::WebProviderUnavailable,
    ];
    // Every search is charged.
    const RETRY_SAFE: bool = false;

    fn request_examples() -> Vec<Example> {
        examples::search::requests()
    }

    fn response_example() -> Example {
        examples::search::response()
    }
}

impl Operation for GetSearch {
    type Path = SearchId;
    type Query = ();
    type Body = NoBody;
    type Response = SearchRecordResponse;

    const ID: &'static str = "getSearch";
    const ROUTE: &'static str = "GET /v1/searches/{search_id}";
    const TAG: Tag = Tag::Search;
    const SCOPE: Option<Scope> = Some(Scope::SearchRead);
    const SUMMARY: &'static str = "Explain a search";
    const DESCRIPTION: &'static str = "\
Returns the request of an earlier search, its ranked list with scores, the version of the ranker, the generations of the indexes, \
and the places of each result after each stage. Searches are kept for a time that the operator sets, by default 90 days. It is \
free of charge.";
    const LABEL: &'static str = "Explain search";
    const SUCCESS: &'static str = "The recorded search.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::SearchNotFound];
    const INVALID: InvalidRequest =
        InvalidRequest { field: "search_id", message: "search_id must have at most 128 characters" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::search::record()
    }
}
