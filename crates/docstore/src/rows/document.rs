use diesel::prelude::*;
use model::{CaptureFormat, CaptureId, Collection, DocId, OrganizationId, PassageId, Timestamp};

use crate::arrays::array_row;
use crate::part_map::PartMap;
use crate::schema::{capture_parts, capture_terms, captures, documents, grants, passages, term_vectors};
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
        /// URL as given, before canonicalization.
        pub source_url: String,
        /// URI of the stored object; workspace documents only.
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
        /// Time at which the content was last read.
        pub last_crawled_at: Option<Timestamp>,
        pub latest_capture_id: Option<CaptureId>,
        /// Time of deletion. The document is hidden from all reads until its rows are purged.
        pub removed_at: Option<Timestamp>,
        /// True if the document belongs in its index. A web page that was only read by URL is not listed, since the URL
        /// may be secret: its row anchors foreign keys, and each reader has a [`PageRead`](super::PageRead). Never reset
        /// to false.
        pub listed: bool,
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
        /// Hex digest of the content, prefixed with `sha256:`.
        pub content_digest: String,
        /// The whole content, or its first part if there are `parts`.
        pub content: String,
        pub headings: Strings,
        /// Final URL after redirects; `None` for imported or uploaded content.
        pub fetched_from: Option<String>,
        /// `ETag` header of the origin server (RFC 9110, 8.8.3).
        pub etag: Option<String>,
        /// `Last-Modified` header of the origin server (RFC 9110, 8.8.2).
        pub last_modified: Option<String>,
        /// The only organization that may read it; `None` for captures of the shared web.
        pub organization_id: Option<OrganizationId>,
        /// Directory of a content that is stored in parts.
        pub parts: Option<PartMap>,
    }
}

row! {
    /// Part of a content, except the first.
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = capture_parts)]
    pub struct CapturePart {
        pub capture_id: CaptureId,
        pub part: i32,
        pub content: String,
    }
}

row! {
    /// Words of a content that is stored in parts.
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = capture_terms)]
    pub struct CaptureTerms {
        pub capture_id: CaptureId,
        pub bucket: i32,
        pub lists: Vec<u8>,
    }
}

row! {
    /// Slice `[byte_start, byte_end)` of the content of its capture.
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
        /// Headings above the passage, outermost first.
        pub section_path: Strings,
    }
}

row! {
    /// Term vector of the beginning of a capture, for ranking without the content.
    #[derive(Clone, Debug, Eq, Insertable, PartialEq)]
    #[diesel(table_name = term_vectors)]
    pub struct StoredTermVector {
        pub doc_id: DocId,
        pub capture_id: CaptureId,
        /// Version of the analysis and of the format of `terms`.
        pub version: i32,
        /// Key of the title, description and language that it was computed from.
        pub text_key: i64,
        pub terms: Vec<u8>,
    }
}

row! {
    #[derive(Clone, Debug, Insertable)]
    #[diesel(table_name = grants, treat_none_as_default_value = false)]
    pub struct Grant {
        pub organization_id: OrganizationId,
        pub doc_id: DocId,
        pub granted_at: Timestamp,
        /// Capture that is shown with the grant, unless the organization itself read it. Kept when it is replaced.
        pub capture_id: Option<CaptureId>,
    }
}

array_row!(Document => documents {
    doc_id: doc_id, organization_id: collection, canonical_url: canonical_url, source_url: source_url,
    source_uri: source_uri, title: title, description: description, mime: mime, language: language, country: country,
    labels: labels, published_at: published_at, first_seen_at: first_seen_at, last_seen_at: last_seen_at,
    last_crawled_at: last_crawled_at, latest_capture_id: latest_capture_id, removed_at: removed_at, listed: listed,
});

array_row!(Capture => captures {
    capture_id: capture_id, doc_id: doc_id, captured_at: captured_at, format: format, content_digest: content_digest,
    content: content, headings: headings, fetched_from: fetched_from, etag: etag, last_modified: last_modified,
    organization_id: organization_id, parts: parts,
});

array_row!(CapturePart => capture_parts {
    capture_id: capture_id, part: part, content: content,
});

array_row!(Passage => passages {
    passage_id: passage_id, doc_id: doc_id, capture_id: capture_id, ordinal: ordinal, byte_start: byte_start,
    byte_end: byte_end, char_start: char_start, char_end: char_end, section_path: section_path,
});
