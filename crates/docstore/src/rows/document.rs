use diesel::prelude::*;
use model::{CaptureFormat, CaptureId, Collection, DocId, OrganizationId, PassageId, Timestamp};

use crate::schema::{captures, documents, grants, passages};
use crate::types::{Strings, row};

row! {
    #[derive(AsChangeset, Clone, Debug, Insertable, PartialEq, Queryable, Selectable)]
    #[diesel(table_name = documents, primary_key(doc_id), treat_none_as_null = true, treat_none_as_default_value = false)]
    pub struct Document {
        pub doc_id: DocId,
        #[diesel(
            column_name = organization_id,
            deserialize_as = Option<OrganizationId>
        )]
        pub collection: Collection,
        pub canonical_url: String,
        /// The address as it was given, before it was made canonical.
        pub source_url: String,
        /// Where the stored object is; workspace documents only.
        pub source_uri: Option<String>,
        pub title: Option<String>,
        pub description: Option<String>,
        pub mime: Option<String>,
        pub language: Option<String>,
        pub country: Option<String>,
        pub labels: Strings,
        pub published_at: Option<Timestamp>,
        pub first_seen_at: Timestamp,
        pub last_seen_at: Timestamp,
        /// When its content was last read.
        pub last_crawled_at: Option<Timestamp>,
        pub latest_capture_id: Option<CaptureId>,
        /// Set from the moment a document is deleted until its rows are purged: it answers nowhere.
        pub removed_at: Option<Timestamp>,
        /// Whether it belongs into its index. A web page that was only read by its address does not: the address may be a
        /// secret of who knew it. Once listed, it stays so.
        pub listed: bool,
        /// When somebody said that the content is out of date: an older capture is not good any more.
        pub stale_at: Option<Timestamp>,
    }
}

row! {
    #[derive(Clone, Debug, Insertable, PartialEq, Queryable, Selectable)]
    #[diesel(table_name = captures, treat_none_as_default_value = false)]
    pub struct Capture {
        pub capture_id: CaptureId,
        pub doc_id: DocId,
        pub captured_at: Timestamp,
        pub format: CaptureFormat,
        /// `sha256:` and the hex digest of the content.
        pub content_digest: String,
        pub content: String,
        pub headings: Strings,
        /// Where it was fetched from, behind all redirects; `None` for what was imported or uploaded.
        pub fetched_from: Option<String>,
        /// What the server there calls this state of the page (RFC 9110, 8.8).
        pub etag: Option<String>,
        pub last_modified: Option<String>,
    }
}

row! {
    /// A slice of its capture's content: bytes `[byte_start, byte_end)`.
    #[derive(Clone, Debug, Insertable, PartialEq, Queryable, Selectable)]
    #[diesel(table_name = passages, treat_none_as_default_value = false)]
    pub struct Passage {
        pub passage_id: PassageId,
        pub doc_id: DocId,
        pub capture_id: CaptureId,
        pub ordinal: i32,
        pub byte_start: i32,
        pub byte_end: i32,
        pub char_start: i32,
        pub char_end: i32,
        /// Headings from the outermost to the passage's own.
        pub section_path: Strings,
    }
}

row! {
    #[derive(Clone, Debug, Insertable)]
    #[diesel(table_name = grants)]
    pub struct Grant {
        pub organization_id: OrganizationId,
        pub doc_id: DocId,
        pub granted_at: Timestamp,
    }
}
