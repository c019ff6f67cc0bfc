use diesel::prelude::*;
use model::{CaptureId, DocId, OrganizationId, Timestamp};

use crate::schema::page_reads;
use crate::types::{Strings, row};

row! {
    /// Web page as one organization read it by URL.
    #[derive(AsChangeset, Clone, Debug, Insertable, PartialEq, Queryable, Selectable)]
    #[diesel(table_name = page_reads, primary_key(organization_id, doc_id), treat_none_as_null = true, treat_none_as_default_value = false)]
    pub struct PageRead {
        pub organization_id: OrganizationId,
        pub doc_id: DocId,
        /// URL as the organization first gave it, before canonicalization.
        pub source_url: String,
        pub title: Option<String>,
        pub description: Option<String>,
        pub mime: Option<String>,
        pub language: Option<String>,
        pub labels: Strings,
        pub published_at: Option<Timestamp>,
        /// Time of the first lookup.
        pub first_seen_at: Timestamp,
        pub last_seen_at: Timestamp,
        /// Time of the last successful fetch.
        pub last_crawled_at: Option<Timestamp>,
        /// Time at which the organization reported the content as outdated. Older captures are fetched again.
        pub stale_at: Option<Timestamp>,
        /// `None` until the page is read.
        pub latest_capture_id: Option<CaptureId>,
    }
}
