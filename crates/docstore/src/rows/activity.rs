use diesel::prelude::*;
use model::{DocId, FeedbackEvent, FeedbackId, OrganizationId, PassageId, SearchId, SessionId, Timestamp};

use crate::arrays::array_row;
use crate::rows::Document;
use crate::schema::{feedback, searches};
use crate::search_details::SearchDetails;
use crate::types::row;

row! {
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = searches, treat_none_as_default_value = false)]
    pub struct Search {
        pub search_id: SearchId,
        pub organization_id: OrganizationId,
        pub identity: String,
        pub session_id: SessionId,
        pub query: String,
        /// Ranked documents, best first.
        pub results: Vec<DocId>,
        pub created_at: Timestamp,
        /// The request as it was sent, in JSON.
        pub request: Option<String>,
        /// `None` in searches of earlier versions, as `request`.
        pub details: Option<SearchDetails>,
    }
}

array_row!(Search => searches {
    search_id: search_id, organization_id: organization_id, identity: identity, session_id: session_id, query: query,
    results: results, created_at: created_at, request: request, details: details,
});

row! {
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = feedback, treat_none_as_default_value = false)]
    pub struct Feedback {
        pub feedback_id: FeedbackId,
        pub organization_id: OrganizationId,
        pub identity: String,
        pub session_id: SessionId,
        pub event_type: FeedbackEvent,
        pub search_id: Option<SearchId>,
        pub doc_id: Option<DocId>,
        pub passage_id: Option<PassageId>,
        pub comment: Option<String>,
        pub query: Option<String>,
        /// One-based position in the ranked list.
        pub result_rank: Option<i32>,
        pub client_model: Option<String>,
        pub created_at: Timestamp,
    }
}

/// Feedback event with its search and its document, if they still exist.
#[derive(Clone, Debug)]
pub struct FeedbackExport {
    pub event: Feedback,
    pub search: Option<Search>,
    pub document: Option<Document>,
}
