//! Enum values stored by a newer version are errors that name them, except scopes.

use docstore::{IndexRun, Result, StoreError};
use model::{Collection, RunMode};
use uuid::Uuid;

use crate::support::{Database, NOW, new_organization, page};

on_both_backends!(unknown_run_state_is_rejected, unknown_names_are_quoted_in_errors);

/// Expects an error that names the column and the value.
fn check<T>(outcome: Result<T>, column: &str, message: &str) {
    match outcome {
        Err(StoreError::UnknownValue { column: named, value }) => {
            assert_eq!((named.as_str(), value.to_string().as_str()), (column, message));
        }
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("the value was read"),
    }
}

async fn unknown_run_state_is_rejected(db: Database) {
    let organization_id = new_organization(&db).await;
    let run = IndexRun::queued(Uuid::new_v4().into(), organization_id, RunMode::Full, NOW);
    let sync_id = run.sync_id;
    db.request_run(run).await.unwrap();
    db.execute("UPDATE index_runs SET state = 'paused'").await;
    check(db.find_run(organization_id, sync_id).await, "state", "unknown run state `paused`");
    db.execute("UPDATE index_runs SET state = 'queued', mode = 'partial'").await;
    check(db.find_run(organization_id, sync_id).await, "mode", "unknown run mode `partial`");
    // A failed claim leaves the run queued.
    check(db.claim_run("worker".to_owned(), NOW, NOW).await, "mode", "unknown run mode `partial`");
    assert_eq!(db.count("index_runs WHERE state = 'queued'").await, 1);
}

async fn unknown_names_are_quoted_in_errors(db: Database) {
    new_organization(&db).await;
    db.execute("UPDATE audit_entries SET action = 'moon.landed'").await;
    check(db.list_audit_entries(Default::default(), None, 10).await, "action", "unknown audit action `moon.landed`");

    let web = page("https://example.com/", "a page");
    let doc_id = web.document.doc_id;
    db.save_documents(vec![web], NOW).await.unwrap();
    db.execute("UPDATE captures SET format = 'pdf'").await;
    check(db.load_documents(Collection::Web, vec![doc_id]).await, "format", "unknown capture format `pdf`");
}
