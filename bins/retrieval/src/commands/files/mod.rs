//! `retrieval files`.

mod add;
mod labels;
mod names;
mod plan;
mod select;
mod show;
mod stored;
mod upload;

use std::collections::BTreeSet;
use std::path::Path;

use retrieval_client::types::{FileStatus, IndexMode, IndexStatusResponse, RunState};
use retrieval_client::{Answer, Client};
use serde_json::json;

use crate::cli::{Files, Sync};
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::terminal::progress::{run_line, run_spinner};

pub async fn run(arguments: Files, client: &Client, context: &Context) -> Result<(), Failure> {
    match arguments {
        Files::Add(arguments) => context.terminal.finish(add::run(arguments, client, context)).await,
        Files::List => show::list(client, &context.terminal).await,
        Files::Show { name } => show::show(&name, client, &context.terminal).await,
        Files::Get(arguments) => show::get(arguments, client, &context.terminal).await,
        Files::Rm { names } => context.terminal.finish(delete(&names, client, &context.terminal)).await,
        Files::Sync(Sync { full, no_wait }) => {
            let mode = if full { IndexMode::Full } else { IndexMode::Incremental };
            all_read(index(mode, !no_wait, &BTreeSet::new(), client, context).await?)
        }
        Files::Status { sync_id, follow: true } => all_read(follow(&sync_id, &BTreeSet::new(), client, context).await?),
        Files::Status { sync_id, follow: false } => {
            let status = client.run_status(&sync_id).await?;
            show_status(&status, &context.terminal)
        }
    }
}

/// Deletes every name, including those after a missing one.
async fn delete(names: &[String], client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let mut missing = Vec::new();
    for name in names {
        let mut answer = client.delete_file(name).await?;
        if !answer.deleted
            && let Some(stored) = names::stored_as(name)
        {
            answer = client.delete_file(&stored).await?;
        }
        if terminal.json {
            terminal.event(&json!({ "name": name, "deleted": answer.deleted }))?;
        } else if answer.deleted {
            terminal.content(&format!("deleted {name}"))?;
        }
        if !answer.deleted {
            missing.push(format!("`{name}`"));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::NotFound(format!("no such file: {}", missing.join(", "))))
}

/// Starts a run for uploaded files and optionally waits for it. Names the files that cannot be read and returns their number.
async fn index(
    mode: IndexMode,
    wait: bool,
    uploaded: &BTreeSet<String>,
    client: &Client,
    context: &Context,
) -> Result<usize, Failure> {
    let started = client.start_run(mode).await?;
    let terminal = &context.terminal;
    if wait {
        return follow(&started.sync_id, uploaded, client, context).await;
    }
    match terminal.json {
        true => terminal.json(&started.raw)?,
        false => terminal.content(&format!("started indexing run {}", started.sync_id))?,
    }
    Ok(0)
}

/// Waits for the end of a run and shows it. Names the files that it could not read, and uploaded files that were never readable.
/// Returns their number.
async fn follow(
    sync_id: &str,
    uploaded: &BTreeSet<String>,
    client: &Client,
    context: &Context,
) -> Result<usize, Failure> {
    let status = wait_for(sync_id, client, context).await?;
    let unread = name_unread(&status, uploaded, client, &context.terminal).await?;
    show_status(&status, &context.terminal)?;
    Ok(unread)
}

async fn wait_for(sync_id: &str, client: &Client, context: &Context) -> Result<Answer<IndexStatusResponse>, Failure> {
    context.set_interrupt_message(format!("interrupted; the run continues: see `retrieval files status {sync_id}`"));
    let spinner = run_spinner(&context.terminal);
    let status = client.follow_run(sync_id, |status| spinner.set_message(run_line(status))).await;
    spinner.finish_and_clear();
    Ok(status?)
}

/// Names the files that a run could not read, and uploaded files that were never readable. Returns their number.
async fn name_unread(
    status: &IndexStatusResponse,
    uploaded: &BTreeSet<String>,
    client: &Client,
    terminal: &Terminal,
) -> Result<usize, Failure> {
    let count = usize::try_from(status.stats.failed + status.stats.skipped_unsupported).unwrap_or(0);
    let mut open = uploaded.clone();
    let mut named = 0;
    if count > 0 {
        let unread = match client.unread_files(&status.sync_id).await {
            Ok(unread) => unread,
            // A service of an earlier version only counts them.
            Err(error) if error.api().is_some_and(|api| api.status == 404) => return Ok(count),
            Err(error) => return Err(error.into()),
        };
        for file in &unread {
            report_unread(&file.name, file.reason.as_deref(), terminal)?;
            open.remove(&file.name);
        }
        named = unread.len();
    }
    let unchanged = if open.is_empty() { 0 } else { name_unchanged(&open, client, terminal).await? };
    Ok(count.max(named) + unchanged)
}

/// Names the uploaded files that cannot be read although no run says so: a run does not list a file with unchanged bytes, which
/// keeps its state. Returns their number.
async fn name_unchanged(uploaded: &BTreeSet<String>, client: &Client, terminal: &Terminal) -> Result<usize, Failure> {
    let mut unread = 0;
    let names = uploaded.iter().map(String::as_str).collect();
    for file in &stored::entries(&names, client).await? {
        if matches!(file.status, Some(FileStatus::Failed | FileStatus::Unsupported)) {
            report_unread(&file.name, file.reason.as_deref(), terminal)?;
            unread += 1;
        }
    }
    Ok(unread)
}

/// Reports the outcome of one file: an event for programs, a line on standard error for people.
fn report_file(terminal: &Terminal, event: &str, path: &Path, reason: &str) -> Result<(), Failure> {
    let path = path.display().to_string();
    if terminal.json {
        return terminal.event(&json!({ "event": event, "path": path, "reason": reason }));
    }
    if event == "failed" {
        terminal.error(&format!("failed: {path}: {reason}"));
    } else {
        terminal.note(&format!("{event}: {path} {reason}"));
    }
    Ok(())
}

/// Reports a stored file that cannot be read: an event for programs, a line on standard error for people.
fn report_unread(name: &str, reason: Option<&str>, terminal: &Terminal) -> Result<(), Failure> {
    let reason = reason.unwrap_or("unknown reason");
    if terminal.json {
        return terminal.event(&json!({ "event": "failed", "name": name, "reason": reason }));
    }
    terminal.error(&format!("failed: {name}: {reason}"));
    Ok(())
}

/// Fails if there are files that could not be read.
fn all_read(unread: usize) -> Result<(), Failure> {
    match unread {
        0 => Ok(()),
        1 => Err(Failure::Partial("1 file could not be read".to_owned())),
        count => Err(Failure::Partial(format!("{count} files could not be read"))),
    }
}

fn show_status(status: &Answer<IndexStatusResponse>, terminal: &Terminal) -> Result<(), Failure> {
    if terminal.json {
        terminal.json(&status.raw)?;
    } else {
        terminal.content(&run_line(status))?;
    }
    match status.state {
        RunState::Failed => {
            let reason = status.error.as_deref().unwrap_or("unknown cause");
            Err(Failure::Partial(format!("indexing run {} failed: {reason}", status.sync_id)))
        }
        RunState::Queued | RunState::Planning | RunState::Running | RunState::Completed | RunState::Unknown => Ok(()),
    }
}
