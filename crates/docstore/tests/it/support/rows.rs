//! Builders of rows. Contents are ASCII, so that byte and character offsets are equal.

use std::sync::Arc;

use docstore::{
    AuditEntry, Capture, Details, Docstore, Document, Feedback, IndexRun, NewDocument, NewParts, NewWebhookEvent,
    Organization, OutboxEntry, OutboxWork, Passage, ResearchRun, Strings, Webhook, WebhookDelivery, divide_at,
};
use model::{
    AuditAction, CaptureFormat, CaptureId, Collection, DocId, FeedbackEvent, OrganizationId, PassageId, ResearchStatus,
    Timestamp, WebhookEvent, WebhookId,
};
use uuid::Uuid;

/// Arbitrary reference time.
pub const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

/// Returns the time this many milliseconds after [`NOW`].
pub fn at(offset: i64) -> Timestamp {
    Timestamp::from_millis(NOW.as_millis() + offset)
}

/// Small, so that short contents have several passages.
const PASSAGE_BYTES: usize = 10;

pub fn organization() -> Organization {
    Organization {
        id: Uuid::new_v4().into(),
        name: "example".to_owned(),
        billed: false,
        created_at: NOW,
        deleted_at: None,
        removed_at: None,
    }
}

/// Returns an audit entry.
pub fn audit_entry() -> AuditEntry {
    AuditEntry::new(Uuid::new_v4().into(), NOW, "cli:test@host", AuditAction::OrganizationCreated)
}

pub async fn new_organization(store: &Docstore) -> OrganizationId {
    let organization = organization();
    store.create_organization(organization.clone(), None, audit_entry()).await.unwrap();
    organization.id
}

fn document_id(url: &str) -> DocId {
    DocId(Uuid::new_v5(&Uuid::NAMESPACE_URL, url.as_bytes()))
}

/// Returns a document of the shared web, read at `NOW`.
pub fn page(url: &str, content: &str) -> NewDocument {
    document(Collection::Web, url.to_owned(), content)
}

/// Returns a document of the organization's workspace, read at `NOW`.
pub fn workspace_document(organization_id: OrganizationId, name: &str, content: &str) -> NewDocument {
    document(Collection::Workspace(organization_id), format!("workspace://{organization_id}/{name}"), content)
}

fn document(collection: Collection, url: String, content: &str) -> NewDocument {
    let doc_id = document_id(&url);
    let capture_id = CaptureId(Uuid::new_v4());
    let content_digest = format!("sha256:{}", Uuid::new_v5(&Uuid::NAMESPACE_OID, content.as_bytes()).simple());
    let document = Document {
        doc_id,
        collection,
        canonical_url: url.clone(),
        source_url: format!("{url}#top"),
        source_uri: collection.owner().map(|_| "s3://workspace/object".to_owned()),
        title: Some("Title".to_owned()),
        description: Some("A description".to_owned()),
        mime: Some("text/markdown".to_owned()),
        language: Some("en".to_owned()),
        country: None,
        labels: Strings(vec!["kind:md".to_owned(), "a \"quoted\" label".to_owned()]),
        published_at: Some(at(-86_400_000)),
        first_seen_at: NOW,
        last_seen_at: NOW,
        last_crawled_at: Some(NOW),
        latest_capture_id: None,
        removed_at: None,
        listed: true,
    };
    let capture = Capture {
        capture_id,
        doc_id,
        captured_at: NOW,
        format: CaptureFormat::Markdown,
        content_digest: content_digest.clone(),
        content: content.to_owned(),
        headings: Strings(vec!["First".to_owned()]),
        fetched_from: None,
        etag: None,
        last_modified: None,
        organization_id: collection.owner(),
        parts: None,
    };
    let passages = content.as_bytes().chunks(PASSAGE_BYTES).enumerate().map(|(ordinal, slice)| {
        let start = i32::try_from(ordinal * PASSAGE_BYTES).unwrap();
        let end = start + i32::try_from(slice.len()).unwrap();
        Passage {
            passage_id: PassageId(Uuid::new_v5(&doc_id.0, format!("{content_digest}/{ordinal}").as_bytes())),
            doc_id,
            capture_id,
            ordinal: i32::try_from(ordinal).unwrap(),
            byte_start: start,
            byte_end: end,
            char_start: start,
            char_end: end,
            section_path: Strings(vec!["First".to_owned(), "Second".to_owned()]),
        }
    });
    NewDocument { document, capture, passages: passages.collect(), parts: None }
}

/// Divides the content into parts of 20 to 29 characters, with one bucket of words.
pub fn divided(mut new: NewDocument) -> NewDocument {
    let content = std::mem::take(&mut new.capture.content);
    let map = divide_at(&content, &new.passages, 1, 20, 20).unwrap();
    new.capture.content = content[..map.start(1).byte].to_owned();
    new.capture.parts = Some(map);
    new.parts = Some(NewParts { content: Arc::new(content), terms: Arc::new(vec![Vec::new(), vec![1, 2, 3]]) });
    new
}

/// Returns the documents that the entries name, in order.
pub fn documents_in(entries: &[OutboxEntry]) -> Vec<DocId> {
    let document = |entry: &OutboxEntry| match entry.work {
        OutboxWork::Document(doc_id) => doc_id,
        OutboxWork::ClearIndex => panic!("not a document: {entry:?}"),
    };
    entries.iter().map(document).collect()
}

/// Returns the event of a run that ended.
pub fn run_event(run: &IndexRun) -> NewWebhookEvent {
    let event_type = if run.error.is_none() { WebhookEvent::RunCompleted } else { WebhookEvent::RunFailed };
    NewWebhookEvent { event_type, subject: run.sync_id.to_string(), payload: format!("state {}", run.state) }
}

/// Creates a webhook for these event types.
pub async fn new_webhook(store: &Docstore, organization_id: OrganizationId, event_types: &[&str]) -> Webhook {
    let event_types = Strings(event_types.iter().map(|name| (*name).to_owned()).collect());
    let url = "https://example.com/hook".to_owned();
    let webhook = Webhook::new(Uuid::new_v4().into(), organization_id, url, event_types, "whsec_bmV3".to_owned(), NOW);
    assert!(store.create_webhook(webhook.clone(), 100, audit_entry()).await.unwrap());
    webhook
}

/// A delivery that is due.
pub fn new_delivery(organization_id: OrganizationId, webhook_id: Option<WebhookId>) -> WebhookDelivery {
    WebhookDelivery {
        delivery_id: Uuid::new_v4().into(),
        organization_id,
        webhook_id,
        url: None,
        secret: None,
        event_type: "run.completed".to_owned(),
        payload: String::new(),
        attempts: 0,
        next_attempt_at: NOW,
        lease_owner: None,
        lease_expires_at: None,
        last_error: None,
        created_at: NOW,
    }
}

/// Feedback without any details.
pub fn new_feedback(organization_id: OrganizationId) -> Feedback {
    Feedback {
        feedback_id: Uuid::new_v4().into(),
        organization_id,
        identity: String::new(),
        session_id: Uuid::new_v4().into(),
        event_type: FeedbackEvent::ResultHelpful,
        search_id: None,
        doc_id: None,
        passage_id: None,
        comment: None,
        query: None,
        result_rank: None,
        client_model: None,
        created_at: NOW,
    }
}

/// A queued research run.
pub fn new_research(organization_id: OrganizationId) -> ResearchRun {
    ResearchRun {
        research_id: Uuid::new_v4().into(),
        organization_id,
        session_id: Uuid::new_v4().into(),
        identity: String::new(),
        query: String::new(),
        request: "{}".to_owned(),
        progress: Details::default(),
        status: ResearchStatus::Queued,
        stop_reason: None,
        error: None,
        metadata: Details::default(),
        webhook_url: None,
        webhook_secret: None,
        webhook_events: None,
        searches: 0,
        documents: 0,
        tokens: 0,
        last_sequence: 0,
        attempts: 0,
        lease_owner: None,
        lease_expires_at: None,
        created_at: NOW,
        started_at: None,
        completed_at: None,
        expires_at: at(1_000),
    }
}
