use diesel::prelude::*;

use crate::rows::Document;
use crate::schema::{feedback, searches};
use crate::types::{Id, Strings};

#[derive(Clone, Debug, Identifiable, Insertable, Queryable, Selectable)]
#[diesel(table_name = searches, primary_key(search_id), treat_none_as_default_value = false)]
pub struct Search {
    pub search_id: Id,
    pub organization_id: Id,
    pub identity: String,
    pub session_id: Id,
    pub query: String,
    /// The ranked list: document ids, best first.
    pub results: Strings,
    pub created_at: i64,
}

#[derive(Clone, Debug, Identifiable, Insertable, Queryable, Selectable)]
#[diesel(table_name = feedback, primary_key(feedback_id), treat_none_as_default_value = false)]
pub struct Feedback {
    pub feedback_id: Id,
    pub organization_id: Id,
    pub identity: String,
    pub session_id: Id,
    pub event_type: String,
    pub search_id: Option<Id>,
    pub doc_id: Option<Id>,
    pub passage_id: Option<Id>,
    pub comment: Option<String>,
    pub query: Option<String>,
    /// One-based position in the ranked list.
    pub result_rank: Option<i32>,
    pub client_model: Option<String>,
    pub created_at: i64,
}

/// An event with what it is about, as far as that is still there.
#[derive(Clone, Debug)]
pub struct FeedbackExport {
    pub event: Feedback,
    pub search: Option<Search>,
    pub document: Option<Document>,
}
