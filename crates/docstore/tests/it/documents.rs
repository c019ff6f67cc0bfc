//! Visibility of documents.

use docstore::{Document, Grant, LoadedDocument, SaveOutcome};
use model::{Collection, DocId, IndexName, OrganizationId};
use uuid::Uuid;

use crate::support::{Database, NOW, at, documents_in, new_organization, page, workspace_document};

on_both_backends!(
    web_document_is_found_by_url_for_all,
    document_by_id_requires_grant,
    workspace_document_is_isolated,
    removed_document_is_hidden,
    unknown_document_is_not_found,
    documents_are_loaded_per_collection,
    hiding_deletes_grants_and_queues_once,
    only_own_workspace_documents_can_be_hidden,
    indexable_documents_are_paged,
    indexer_loads_documents_of_all_tenants,
);

async fn grant(db: &Database, organization_id: OrganizationId, doc_id: DocId) {
    db.grant_document(Grant { organization_id, doc_id, granted_at: NOW, capture_id: None }).await.unwrap();
}

async fn by_url(db: &Database, organization_id: OrganizationId, document: &Document) -> bool {
    db.read_document(organization_id, document.doc_id).await.unwrap().map(|(visible, _)| visible).is_some()
}

async fn by_id(db: &Database, organization_id: OrganizationId, document: &Document) -> bool {
    db.find_granted_document(organization_id, document.doc_id).await.unwrap().is_some()
}

async fn captured(db: &Database, organization_id: OrganizationId, document: &Document) -> bool {
    db.read_document(organization_id, document.doc_id).await.unwrap().and_then(|(_, stored)| stored).is_some()
}

async fn web_document_is_found_by_url_for_all(db: Database) {
    let web = page("https://example.com/", "a page");
    assert_eq!(db.save_documents(vec![web.clone()], NOW).await.unwrap(), [SaveOutcome::Stored]);
    for organization_id in [new_organization(&db).await, new_organization(&db).await] {
        let found = db.read_document(organization_id, web.document.doc_id).await.unwrap().map(|(visible, _)| visible);
        assert_eq!(found.unwrap().document.doc_id, web.document.doc_id);
        let stored = db
            .read_document(organization_id, web.document.doc_id)
            .await
            .unwrap()
            .and_then(|(_, stored)| stored)
            .unwrap();
        assert_eq!((stored.capture, stored.passages), (web.capture.clone(), web.passages.clone()));
    }
}

async fn document_by_id_requires_grant(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let web = page("https://example.com/", "a page");
    db.save_documents(vec![web.clone()], NOW).await.unwrap();
    assert!(!by_id(&db, ours, &web.document).await);
    assert!(!db.is_granted(ours, web.document.doc_id).await.unwrap());
    grant(&db, ours, web.document.doc_id).await;
    grant(&db, ours, web.document.doc_id).await;
    assert!(by_id(&db, ours, &web.document).await);
    assert!(db.is_granted(ours, web.document.doc_id).await.unwrap());
    assert!(!by_id(&db, theirs, &web.document).await);
    assert!(!db.is_granted(theirs, web.document.doc_id).await.unwrap());
}

async fn workspace_document_is_isolated(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let own = workspace_document(ours, "secret.md", "a secret");
    db.save_documents(vec![own.clone()], NOW).await.unwrap();
    // Not even a grant, which should never be written, makes it visible.
    grant(&db, theirs, own.document.doc_id).await;
    grant(&db, ours, own.document.doc_id).await;
    for (organization_id, visible) in [(ours, true), (theirs, false)] {
        assert_eq!(by_url(&db, organization_id, &own.document).await, visible);
        assert_eq!(by_id(&db, organization_id, &own.document).await, visible);
        assert_eq!(captured(&db, organization_id, &own.document).await, visible);
        let listed = db.list_workspace_documents(organization_id).await.unwrap();
        assert_eq!(listed.contains(&own.document.doc_id), visible);
    }
}

async fn removed_document_is_hidden(db: Database) {
    let ours = new_organization(&db).await;
    let own = workspace_document(ours, "a.md", "a file");
    let doc_id = own.document.doc_id;
    db.save_documents(vec![own.clone()], NOW).await.unwrap();
    grant(&db, ours, doc_id).await;
    assert!(by_id(&db, ours, &own.document).await);
    assert!(db.hide_workspace_document(ours, doc_id, NOW).await.unwrap());
    // A concurrent search grants it again.
    grant(&db, ours, doc_id).await;

    assert!(!by_url(&db, ours, &own.document).await);
    assert!(!by_id(&db, ours, &own.document).await);
    assert!(!captured(&db, ours, &own.document).await);
    assert!(db.load_documents(Collection::Workspace(ours), vec![doc_id]).await.unwrap().is_empty());
    let known = vec![(doc_id, own.capture.capture_id)];
    assert!(db.load_known_documents(Collection::Workspace(ours), known).await.unwrap().is_empty());
    assert!(db.load_for_indexing(vec![doc_id]).await.unwrap().is_empty());
    assert!(db.list_indexable_documents(IndexName::Workspace, None, 10).await.unwrap().is_empty());
    // The next run must still find the document to purge it.
    assert_eq!(db.list_workspace_documents(ours).await.unwrap(), [doc_id]);
}

async fn unknown_document_is_not_found(db: Database) {
    let ours = new_organization(&db).await;
    let never_saved = page("https://example.com/", "a page").document;
    assert!(!by_url(&db, ours, &never_saved).await);
    assert!(!by_id(&db, ours, &never_saved).await);
    assert!(!captured(&db, ours, &never_saved).await);
}

async fn documents_are_loaded_per_collection(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let web = page("https://example.com/", "a page, in three passages");
    let own = workspace_document(ours, "a.md", "our file");
    let foreign = workspace_document(theirs, "a.md", "their file");
    let all = vec![web.clone(), own.clone(), foreign.clone()];
    let mut ids: Vec<DocId> = all.iter().map(|new| new.document.doc_id).collect();
    ids.push(Uuid::new_v4().into());
    let known: Vec<_> = all.iter().map(|new| (new.document.doc_id, new.capture.capture_id)).collect();
    db.save_documents(all, NOW).await.unwrap();
    for (owner, expected) in
        [(Collection::Web, web), (Collection::Workspace(ours), own), (Collection::Workspace(theirs), foreign)]
    {
        let loaded = db.load_documents(owner, ids.clone()).await.unwrap();
        let found: Vec<DocId> = loaded.iter().map(|one| one.document.doc_id).collect();
        assert_eq!(found, [expected.document.doc_id]);
        assert_eq!(loaded[0].passages, expected.passages);
        let unchanged = db.load_known_documents(owner, known.clone()).await.unwrap();
        let fields = |all: Vec<LoadedDocument>| all.into_iter().map(|one| (one.document, one.capture, one.passages));
        assert!(fields(unchanged).eq(fields(loaded)));
    }
}

async fn hiding_deletes_grants_and_queues_once(db: Database) {
    let ours = new_organization(&db).await;
    let own = workspace_document(ours, "a.md", "a file");
    let doc_id = own.document.doc_id;
    db.save_documents(vec![own], NOW).await.unwrap();
    grant(&db, ours, doc_id).await;
    db.execute("DELETE FROM outbox").await;
    assert!(db.hide_workspace_document(ours, doc_id, at(1)).await.unwrap());
    assert!(!db.hide_workspace_document(ours, doc_id, at(2)).await.unwrap());
    assert!(!db.is_granted(ours, doc_id).await.unwrap());
    let queued = db.pending_outbox(IndexName::Workspace, 10).await.unwrap().entries;
    assert_eq!(documents_in(&queued), [doc_id]);
}

async fn only_own_workspace_documents_can_be_hidden(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let web = page("https://example.com/", "a page");
    let foreign = workspace_document(theirs, "a.md", "their file");
    db.save_documents(vec![web.clone(), foreign.clone()], NOW).await.unwrap();
    grant(&db, theirs, foreign.document.doc_id).await;
    db.execute("DELETE FROM outbox").await;
    for doc_id in [web.document.doc_id, foreign.document.doc_id, Uuid::new_v4().into()] {
        assert!(!db.hide_workspace_document(ours, doc_id, NOW).await.unwrap());
    }
    assert!(by_url(&db, ours, &web.document).await);
    assert!(by_id(&db, theirs, &foreign.document).await);
    assert_eq!(db.count("outbox").await, 0);
}

async fn indexable_documents_are_paged(db: Database) {
    let organization_id = new_organization(&db).await;
    let web: Vec<_> = (0..25).map(|n| page(&format!("https://example.com/{n}"), "a page")).collect();
    let own: Vec<_> = (0..5).map(|n| workspace_document(organization_id, &format!("{n}.md"), "a file")).collect();
    for (index, batch) in [(IndexName::Web, web), (IndexName::Workspace, own)] {
        let mut expected: Vec<DocId> = batch.iter().map(|new| new.document.doc_id).collect();
        expected.sort_unstable();
        db.save_documents(batch, NOW).await.unwrap();
        let mut listed = Vec::new();
        loop {
            let next = db.list_indexable_documents(index, listed.last().copied(), 10).await.unwrap();
            assert!(next.len() <= 10);
            if next.is_empty() {
                break;
            }
            listed.extend(next);
        }
        assert_eq!(listed, expected);
    }
}

async fn indexer_loads_documents_of_all_tenants(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let all = vec![
        page("https://example.com/", "a page"),
        workspace_document(ours, "a.md", "our file"),
        workspace_document(theirs, "a.md", "their file"),
    ];
    db.save_documents(all.clone(), NOW).await.unwrap();
    let ids = all.iter().map(|new| new.document.doc_id).collect();
    let mut loaded = db.load_for_indexing(ids).await.unwrap();
    loaded.sort_by_key(|(document, _)| all.iter().position(|new| new.document.doc_id == document.doc_id));
    let contents: Vec<&str> = loaded.iter().map(|(_, capture)| capture.content.as_str()).collect();
    assert_eq!(contents, ["a page", "our file", "their file"]);
}
