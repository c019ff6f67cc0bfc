//! `admin`: organizations, keys, balances and the audit log. Works on the database directly.

mod organizations;

use anyhow::{Context, bail};
use app::accounts::{self, NewKey};
use app::usage::key_state;
use docstore::{ApiKey, AuditFilter, Docstore, FeedbackExport};
use ingest::clock::from_date_time;
use model::{FileOutcome, OrganizationId, Scope, SyncId, Timestamp};
use serde_json::{Value, json};
use settings::Settings;
use uuid::Uuid;

use crate::arguments::named;
use crate::cli::{Admin, Audit, Balance, Feedback, Key, KeyCreate, Org, Run, Storage};
use crate::{actor, data_folder, objects_binding, output};

pub async fn run(command: Admin, settings: &Settings) -> anyhow::Result<()> {
    let command = match command {
        Admin::Org(Org::Delete { organization_id, yes }) => {
            return organizations::delete(settings, organization_id, yes).await;
        }
        command => command,
    };
    let store = match &command {
        // The first command of an installation that has not been started yet.
        Admin::Org(Org::Create { .. }) => data_folder::open_or_create(settings).await?,
        _ => data_folder::open_existing(settings).await?,
    };
    if !reads_only(&command) {
        return execute(command, settings, &store).await;
    }
    let origin = data_folder::described(settings);
    execute(command, settings, &store).await.with_context(|| origin.clone())?;
    output::note(&origin);
    Ok(())
}

fn reads_only(command: &Admin) -> bool {
    match command {
        Admin::Org(Org::List { .. })
        | Admin::Key(Key::List { .. })
        | Admin::Balance(Balance::Show { .. } | Balance::Ledger { .. })
        | Admin::Feedback(Feedback::Export)
        | Admin::Run(Run::Show { .. })
        | Admin::Audit(_) => true,
        Admin::Org(Org::Create { .. } | Org::Delete { .. })
        | Admin::Key(Key::Create(_) | Key::Revoke { .. })
        | Admin::Balance(Balance::Add { .. })
        | Admin::Storage(Storage::Bind) => false,
    }
}

async fn execute(command: Admin, settings: &Settings, store: &Docstore) -> anyhow::Result<()> {
    let actor = actor::of_command_line();
    let now = store.clock().now();
    match command {
        Admin::Org(Org::Create { name, prepaid_cents }) => {
            let organization = accounts::create_organization(store, &actor, now, &name, prepaid_cents).await?;
            organizations::print_new(organization, settings);
        }
        Admin::Org(Org::List { json }) => organizations::list(store, settings, json).await?,
        // Run by the caller, with the settings of storage and index.
        Admin::Org(Org::Delete { .. }) => {}
        Admin::Key(Key::Create(KeyCreate { org, name, scopes, limit_rps, expires_at })) => {
            let new = NewKey { name, scopes, limit_rps, expires_at: expires_at.map(from_date_time) };
            let created = accounts::create_key(store, &actor, now, org, new).await;
            let created = created.map_err(|error| named(error, &[("expires_at", "--expires-at")]))?;
            let mut shown = key_json(&created.row, now);
            shown["key"] = created.key.into();
            output::json_once(&shown);
        }
        Admin::Key(Key::List { org }) => {
            for key in accounts::list_keys(store, org).await? {
                output::json(&key_json(&key, now));
            }
        }
        Admin::Key(Key::Revoke { key_id }) => {
            output::json(&key_json(&accounts::revoke_key(store, &actor, now, key_id).await?, now));
        }
        Admin::Balance(Balance::Add { org, cents }) => {
            let balance = accounts::add_balance(store, &actor, now, org, cents).await?;
            output::json(&json!({ "organization_id": org.0, "balance_cents": balance }));
        }
        Admin::Balance(Balance::Show { org }) => {
            let balance = accounts::balance(store, org).await?;
            output::json(&json!({ "organization_id": org.0, "balance_cents": balance }));
        }
        Admin::Balance(Balance::Ledger { org }) => print_ledger(store, org).await?,
        Admin::Feedback(Feedback::Export) => export_feedback(store).await?,
        Admin::Run(Run::Show { sync_id }) => show_run(store, sync_id).await?,
        Admin::Storage(Storage::Bind) => objects_binding::replace(settings, store).await?,
        Admin::Audit(audit) => print_audit_log(store, audit).await?,
    }
    Ok(())
}

/// Rows read per query.
const PAGE: i64 = 1_000;

/// Prints all rows, one per line. `page` reads the rows after a cursor, `cursor` returns the cursor of a row. An empty
/// page is the end.
async fn print_rows<Row, Cursor>(
    mut page: impl AsyncFnMut(Option<Cursor>) -> docstore::Result<Vec<Row>>,
    cursor: impl Fn(&Row) -> Cursor,
    line: impl Fn(&Row) -> Value,
) -> anyhow::Result<()> {
    let mut after = None;
    loop {
        let rows = page(after.take()).await?;
        rows.iter().for_each(|row| output::json(&line(row)));
        let Some(last) = rows.last() else { return Ok(()) };
        after = Some(cursor(last));
    }
}

async fn print_ledger(store: &Docstore, organization_id: OrganizationId) -> anyhow::Result<()> {
    accounts::balance(store, organization_id).await?;
    print_rows(
        async |after| store.list_balance_entries(organization_id, after, PAGE).await,
        |entry| (entry.created_at, entry.id),
        |entry| {
            json!({
                "entry_id": entry.id.0,
                "cents": entry.cents,
                "reason": entry.reason.as_str(),
                "search_id": entry.search_id.map(|id| id.0),
                "research_id": entry.research_id.map(|id| id.0),
                "identity": entry.identity,
                "created_at": output::time(entry.created_at),
            })
        },
    )
    .await
}

async fn print_audit_log(store: &Docstore, audit: Audit) -> anyhow::Result<()> {
    let filter =
        AuditFilter { organization_id: audit.org, action: audit.action, since: audit.since.map(from_date_time) };
    let mut remaining = audit.limit.map_or(i64::MAX, i64::from);
    print_rows(
        async |before| {
            let page = store.list_audit_entries(filter.clone(), before, remaining.min(PAGE)).await?;
            remaining -= page.len() as i64;
            Ok(page)
        },
        |entry| (entry.created_at, entry.id),
        |entry| {
            json!({
                "audit_id": entry.id.0,
                "created_at": output::time(entry.created_at),
                "actor": entry.actor,
                "action": entry.action.as_str(),
                "organization_id": entry.organization_id.map(|id| id.0),
                "subject_id": entry.subject_id,
                "details": entry.details.0,
            })
        },
    )
    .await
}

async fn export_feedback(store: &Docstore) -> anyhow::Result<()> {
    print_rows(
        async |after| store.export_feedback(after, PAGE).await,
        |FeedbackExport { event, .. }| (event.created_at, event.feedback_id),
        |FeedbackExport { event, search, document }| {
            json!({
                "feedback_id": event.feedback_id.0,
                "organization_id": event.organization_id.0,
                "session_id": event.session_id.0,
                "event_type": event.event_type.as_str(),
                "created_at": output::time(event.created_at),
                "query": event.query.as_ref().or(search.as_ref().map(|search| &search.query)),
                "search_id": event.search_id.map(|id| id.0),
                "ranked_list": search.as_ref().map(|search| search.results.iter().map(|doc_id| doc_id.0).collect::<Vec<Uuid>>()),
                "rank": event.result_rank,
                "doc_id": event.doc_id.map(|id| id.0),
                "passage_id": event.passage_id.map(|id| id.0),
                "canonical_url": document.as_ref().map(|document| &document.canonical_url),
                "title": document.as_ref().map(|document| &document.title),
                "comment": event.comment,
                "client_model": event.client_model,
            })
        },
    )
    .await
}

async fn show_run(store: &Docstore, sync_id: SyncId) -> anyhow::Result<()> {
    let Some(run) = store.find_any_run(sync_id).await? else { bail!("there is no run `{sync_id}`") };
    output::note(&format!("run {sync_id} of organization {}: {}", run.organization_id, run.state));
    print_rows(
        async |after| store.list_files_of_run(sync_id, after, PAGE).await,
        |file| file.object_key.clone(),
        |file| json!({ "name": file.name, "outcome": file.outcome.map(FileOutcome::as_str), "reason": file.reason }),
    )
    .await
}

fn key_json(key: &ApiKey, now: Timestamp) -> Value {
    json!({
        "api_key_id": key.id.0,
        "organization_id": key.organization_id.0,
        "name": key.name,
        "key_prefix": key.prefix,
        "scopes": key.scopes.iter().copied().map(Scope::as_str).collect::<Vec<_>>(),
        "limit_rps": key.limit_rps,
        "status": key_state(key, now).as_str(),
        "created_at": output::time(key.created_at),
        "expires_at": output::time(key.expires_at),
        "revoked_at": output::time(key.revoked_at),
        "last_used_at": output::time(key.last_used_at),
    })
}
