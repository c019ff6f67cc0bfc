//! Deletion of organizations.

use std::time::Duration;

use docstore::{AuditEntry, Grant, IndexRun, NewPage, OutboxWork, UsageEvent};
use model::{AuditAction, IndexName, RunMode, RunState};
use uuid::Uuid;

use crate::support::{
    Database, NOW, Place, at, connect, new_delivery, new_organization, new_webhook, page, until_a_query_waits,
    workspace_document,
};

on_both_backends!(
    deleted_organization_loses_its_keys_and_runs,
    data_is_removed_in_batches,
    organization_is_listed_once_more_after_the_last_time,
    rows_of_one_run_and_of_one_minute_are_removed_in_batches,
    organization_with_documents_or_files_is_not_removed,
    rows_that_another_instance_deletes_are_not_the_last_ones,
);

fn entry() -> AuditEntry {
    AuditEntry::new(Uuid::new_v4().into(), NOW, "cli:test@host", AuditAction::OrganizationDeleted)
}

async fn deleted_organization_loses_its_keys_and_runs(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let mut runs = Vec::new();
    for organization_id in [ours, theirs] {
        let run = IndexRun::queued(Uuid::new_v4().into(), organization_id, RunMode::Full, NOW);
        runs.push(db.request_run(run).await.unwrap().sync_id);
    }
    let claimed = db.claim_run("worker".to_owned(), NOW, at(1_000)).await.unwrap().unwrap();
    assert_eq!(db.mark_organization_deleted(Uuid::nil().into(), at(1), entry()).await.unwrap().map(|one| one.id), None);
    for now in [at(1), at(2)] {
        let deleted = db.mark_organization_deleted(ours, now, entry()).await.unwrap().unwrap();
        assert_eq!((deleted.deleted_at, deleted.removed_at), (Some(at(1)), None));
    }
    assert_eq!(db.count("audit_entries WHERE action = 'organization.deleted'").await, 1);
    let run = db.find_run(ours, runs[0]).await.unwrap().unwrap();
    assert_eq!((run.state, run.error.as_deref()), (RunState::Failed, Some("the organization was deleted")));
    assert_eq!(db.find_run(theirs, runs[1]).await.unwrap().unwrap().state, {
        if claimed.organization_id == theirs { RunState::Planning } else { RunState::Queued }
    });
    assert_eq!(db.find_organization(theirs).await.unwrap().unwrap().deleted_at, None);
}

async fn data_is_removed_in_batches(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let web = ["https://example.com/", "https://example.org/"].map(|url| page(url, "a page"));
    let web_ids = web.each_ref().map(|new| new.document.doc_id);
    db.save_documents(web.to_vec(), NOW).await.unwrap();
    for organization_id in [ours, theirs] {
        let names = ["a.md", "b.md", "c.md"];
        let documents = names.map(|name| workspace_document(organization_id, name, "a file")).to_vec();
        db.save_documents(documents, NOW).await.unwrap();
        for doc_id in web_ids {
            db.grant_document(Grant { organization_id, doc_id, granted_at: NOW, capture_id: None }).await.unwrap();
        }
        let canonical_url = format!("https://example.com/{organization_id}");
        let doc_id = page(&canonical_url, "").document.doc_id;
        let source_url = canonical_url.clone();
        db.register_page(NewPage { organization_id, doc_id, canonical_url, source_url }, NOW).await.unwrap();
    }
    let before = db.count_outbox(IndexName::Workspace).await.unwrap();
    db.mark_organization_deleted(ours, NOW, entry()).await.unwrap();
    let purge = async || db.purge_workspace(ours, 2, NOW).await.unwrap();
    assert_eq!([purge().await, purge().await, purge().await], [2, 1, 0]);
    let queued = db.pending_outbox(IndexName::Workspace, 100).await.unwrap().entries;
    let forgotten = &queued[usize::try_from(before).unwrap()..];
    assert_eq!(forgotten.len(), 3, "the index forgets each document");
    assert!(forgotten.iter().all(|entry| matches!(entry.work, OutboxWork::Document(_))));
    let mut batches = 0;
    while db.delete_tenant_rows(ours, 1).await.unwrap() > 0 {
        batches += 1;
    }
    assert!(batches >= 2, "{batches}");
    for table in ["grants", "page_reads"] {
        let of = |id: model::OrganizationId| {
            let id = if db.is_sqlite() { format!("x'{}'", id.0.simple()) } else { format!("'{id}'") };
            format!("{table} WHERE organization_id = {id}")
        };
        assert_eq!(db.count(&of(ours)).await, 0, "{table}");
        assert!(db.count(&of(theirs)).await > 0, "{table}");
    }
    // Three files, the pages of the index, and the page that the other organization read.
    assert_eq!(db.count("documents").await, 6);
    let late = Duration::from_millis(5);
    let waiting = async || db.list_organizations_to_remove(late, late, at(6)).await.unwrap().len();
    // A removal that starts earlier may miss data that is stored late.
    for (started_at, before, after) in [(4, 1, 1), (5, 1, 0), (6, 0, 0)] {
        assert_eq!(waiting().await, before, "{started_at}");
        db.complete_removal(ours, at(started_at), late).await.unwrap();
        db.complete_removal(theirs, at(started_at), late).await.unwrap();
        assert_eq!(waiting().await, after, "{started_at}");
    }
    assert_eq!(db.find_organization(theirs).await.unwrap().unwrap().removed_at, None);
    let sizes = db.list_organization_sizes().await.unwrap();
    let mut documents: Vec<_> = sizes.iter().map(|size| (size.organization.removed_at, size.documents)).collect();
    documents.sort_unstable();
    assert_eq!(documents, [(None, 3), (Some(at(5)), 0)]);
}

async fn organization_is_listed_once_more_after_the_last_time(db: Database) {
    let organization_id = new_organization(&db).await;
    let [late, last] = [5, 20].map(Duration::from_millis);
    db.mark_organization_deleted(organization_id, NOW, entry()).await.unwrap();
    // Each time a removal is due, it completes.
    for (now, is_due) in [(1, true), (4, true), (6, true), (7, false), (19, false), (20, true), (21, false)] {
        let due = db.list_organizations_to_remove(late, last, at(now)).await.unwrap();
        assert_eq!(due.len(), usize::from(is_due), "{now}");
        for organization in due {
            assert!(db.complete_removal(organization.id, at(now), last).await.unwrap());
        }
    }
}

async fn rows_of_one_run_and_of_one_minute_are_removed_in_batches(db: Database) {
    let organization_id = new_organization(&db).await;
    let event = |key: usize| UsageEvent {
        organization_id,
        identity: format!("key:{key}"),
        route: "POST /v1/search".to_owned(),
        status: 200,
        duration_us: 1,
        created_at: NOW,
    };
    db.record_usage((0..3).map(event).collect(), false).await.unwrap();
    db.request_run(IndexRun::queued(Uuid::new_v4().into(), organization_id, RunMode::Full, NOW)).await.unwrap();
    for name in ["a", "b", "c"] {
        db.execute(&format!(
            "INSERT INTO run_files (sync_id, name, organization_id, outcome, processed_at)
             SELECT sync_id, '{name}', organization_id, 'failed', 0 FROM index_runs"
        ))
        .await;
    }
    let webhook = new_webhook(&db, organization_id, &["run.completed"]).await;
    for _ in 0..3 {
        let delivery = new_delivery(organization_id, Some(webhook.webhook_id));
        db.enqueue_delivery(delivery).await.unwrap();
    }
    // Each identity has rollups of a minute, an hour and a day.
    for (rollups, outcomes, runs, deliveries, webhooks) in
        [(9, 3, 1, 3, 1), (7, 1, 1, 1, 1), (5, 0, 1, 0, 1), (3, 0, 0, 0, 0), (1, 0, 0, 0, 0), (0, 0, 0, 0, 0)]
    {
        let mut counts = Vec::new();
        for table in ["usage_rollups", "run_files", "index_runs", "webhook_deliveries", "webhooks"] {
            counts.push(db.count(table).await);
        }
        assert_eq!(counts, [rollups, outcomes, runs, deliveries, webhooks]);
        db.delete_tenant_rows(organization_id, 2).await.unwrap();
    }
    assert_eq!(db.delete_tenant_rows(organization_id, 2).await.unwrap(), 0);
}

async fn organization_with_documents_or_files_is_not_removed(db: Database) {
    let organization_id = new_organization(&db).await;
    db.save_documents(vec![workspace_document(organization_id, "a.md", "a file")], NOW).await.unwrap();
    let id = if db.is_sqlite() { format!("x'{}'", organization_id.0.simple()) } else { format!("'{organization_id}'") };
    db.execute(&format!(
        "INSERT INTO files (object_key, organization_id, name, doc_id, created_at, bytes) VALUES ('a', {id}, 'a', {id}, 0, 0)"
    ))
    .await;
    db.mark_organization_deleted(organization_id, NOW, entry()).await.unwrap();
    let complete = async || {
        let is_complete = db.complete_removal(organization_id, at(1), Duration::ZERO).await.unwrap();
        let organization = db.find_organization(organization_id).await.unwrap().unwrap();
        assert_eq!(organization.removed_at.is_some(), is_complete);
        is_complete
    };
    assert!(!complete().await, "a document and a file");
    db.purge_workspace(organization_id, 10, NOW).await.unwrap();
    assert!(!complete().await, "a file");
    db.delete_tenant_rows(organization_id, 10).await.unwrap();
    assert!(complete().await);
}

async fn rows_that_another_instance_deletes_are_not_the_last_ones(db: Database) {
    let Place::Postgres(url) = &db.place else { return };
    let organization_id = new_organization(&db).await;
    let names = ["a.md", "b.md", "c.md"];
    let documents = names.map(|name| workspace_document(organization_id, name, "a file")).to_vec();
    let doc_ids: Vec<_> = documents.iter().map(|new| new.document.doc_id).collect();
    db.save_documents(documents, NOW).await.unwrap();
    for doc_id in doc_ids {
        db.grant_document(Grant { organization_id, doc_id, granted_at: NOW, capture_id: None }).await.unwrap();
    }
    db.mark_organization_deleted(organization_id, NOW, entry()).await.unwrap();
    let other = connect(url).await;

    other.batch_execute("BEGIN; DELETE FROM grants").await.unwrap();
    let store = db.store.clone();
    let deleting = tokio::spawn(async move { store.delete_tenant_rows(organization_id, 2).await.unwrap() });
    until_a_query_waits(&connect(url).await).await;
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(deleting.await.unwrap(), 2);

    let first_two = "SELECT doc_id FROM documents ORDER BY doc_id LIMIT 2";
    other.batch_execute(&format!("BEGIN; DELETE FROM documents WHERE doc_id IN ({first_two})")).await.unwrap();
    let store = db.store.clone();
    let purging = tokio::spawn(async move { store.purge_workspace(organization_id, 2, NOW).await.unwrap() });
    until_a_query_waits(&connect(url).await).await;
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(purging.await.unwrap(), 2, "one is left");
    assert_eq!(db.purge_workspace(organization_id, 2, NOW).await.unwrap(), 1);
}
