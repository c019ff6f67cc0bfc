use app::Deadline;
use app::documents::{ContentFormat, Include, ReadRequest, Selection, Target};
use app::feedback::FeedbackRequest;
use app::search::{Detail, SearchRequest, SourcePolicy};
use model::{DocId, FeedbackEvent, IndexName, SessionId};
use uuid::Uuid;

/// A search of the web for ten results with passages.
pub fn search(query: &str) -> SearchRequest {
    SearchRequest {
        query: query.to_owned(),
        search_queries: Vec::new(),
        max_results: 10,
        indexes: vec![IndexName::Web],
        workspace_id: None,
        language: None,
        country: None,
        exact_match: false,
        labels: Vec::new(),
        session_id: SessionId(Uuid::new_v4()),
        published_after: None,
        published_before: None,
        source_policy: SourcePolicy::default(),
        detail: Detail::Passages,
        passages_per_hit: 3,
        deadline: Deadline::default(),
        original: None,
    }
}

/// A read of the whole document with all sections, by address.
pub fn read_url(url: &str) -> ReadRequest {
    read(Target::Url(url.to_owned()))
}

/// A read of the whole document with all sections, by id.
pub fn read_id(doc_id: DocId) -> ReadRequest {
    read(Target::DocId(doc_id))
}

fn read(target: Target) -> ReadRequest {
    ReadRequest {
        target,
        include: Include::ALL,
        query: None,
        selection: Selection::FullDocument,
        format: ContentFormat::Markdown,
        max_chars: None,
        include_offsets: false,
        passage_ids: Vec::new(),
        range: None,
        max_passages: None,
        whole_page: false,
        max_age: None,
        cache_only: false,
        capture_id: None,
        deadline: Deadline::default(),
    }
}

/// An event about nothing in particular.
pub fn feedback(event: FeedbackEvent) -> FeedbackRequest {
    FeedbackRequest {
        event,
        search_id: None,
        doc_id: None,
        passage_id: None,
        session_id: SessionId(Uuid::new_v4()),
        comment: None,
        query: None,
        rank: None,
        client_model: None,
    }
}
