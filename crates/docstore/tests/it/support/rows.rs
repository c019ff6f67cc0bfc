//! Rows to store. Contents are ASCII, so that bytes and characters count the same.

use docstore::{AuditEntry, Capture, Docstore, Document, Id, NewDocument, Organization, Passage, Strings};
use uuid::Uuid;

/// Some time; what matters is what comes before and after it.
pub const NOW: i64 = 1_790_000_000_000;

/// Short, so that little content makes many passages.
const PASSAGE_BYTES: usize = 10;

pub fn organization() -> Organization {
    Organization { id: Id(Uuid::new_v4()), name: "example".to_owned(), billed: false, created_at: NOW }
}

/// An entry of the audit log, of something that a test does.
pub fn audit_entry() -> AuditEntry {
    AuditEntry::new(Id(Uuid::new_v4()), NOW, "cli:test@host", "tested")
}

pub async fn new_organization(store: &Docstore) -> Uuid {
    let organization = organization();
    store.create_organization(organization.clone(), None, audit_entry()).await.unwrap();
    organization.id.into()
}

fn document_id(url: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_URL, url.as_bytes())
}

/// A document of the shared web, read at `NOW`.
pub fn page(url: &str, content: &str) -> NewDocument {
    document(None, url.to_owned(), content)
}

/// A document of the organization's workspace, read at `NOW`.
pub fn workspace_document(organization_id: Uuid, name: &str, content: &str) -> NewDocument {
    document(Some(Id(organization_id)), format!("workspace://{organization_id}/{name}"), content)
}

fn document(organization_id: Option<Id>, url: String, content: &str) -> NewDocument {
    let doc_id = document_id(&url);
    let capture_id = Id(Uuid::new_v4());
    let content_digest = format!("sha256:{}", Uuid::new_v5(&Uuid::NAMESPACE_OID, content.as_bytes()).simple());
    let document = Document {
        doc_id: Id(doc_id),
        organization_id,
        canonical_url: url.clone(),
        source_url: format!("{url}#top"),
        source_uri: organization_id.map(|_| "s3://workspace/object".to_owned()),
        title: Some("Title".to_owned()),
        description: Some("What it is about".to_owned()),
        mime: Some("text/markdown".to_owned()),
        language: Some("en".to_owned()),
        country: None,
        labels: Strings(vec!["kind:md".to_owned(), "a \"quoted\" label".to_owned()]),
        published_at: Some(NOW - 86_400_000),
        first_seen_at: NOW,
        last_seen_at: NOW,
        last_crawled_at: Some(NOW),
        latest_capture_id: None,
        removed_at: None,
        listed: true,
        stale_at: None,
    };
    let capture = Capture {
        capture_id,
        doc_id: Id(doc_id),
        captured_at: NOW,
        format: "markdown".to_owned(),
        content_digest: content_digest.clone(),
        content: content.to_owned(),
        headings: Strings(vec!["First".to_owned()]),
        fetched_from: None,
        etag: None,
        last_modified: None,
    };
    let passages = content.as_bytes().chunks(PASSAGE_BYTES).enumerate().map(|(ordinal, slice)| {
        let start = i32::try_from(ordinal * PASSAGE_BYTES).unwrap();
        let end = start + i32::try_from(slice.len()).unwrap();
        Passage {
            passage_id: Id(Uuid::new_v5(&doc_id, format!("{content_digest}/{ordinal}").as_bytes())),
            doc_id: Id(doc_id),
            capture_id,
            ordinal: i32::try_from(ordinal).unwrap(),
            byte_start: start,
            byte_end: end,
            char_start: start,
            char_end: end,
            section_path: Strings(vec!["First".to_owned(), "Second".to_owned()]),
        }
    });
    NewDocument { document, capture, passages: passages.collect() }
}
