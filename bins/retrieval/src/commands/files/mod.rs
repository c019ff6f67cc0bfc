//! `retrieval files`.

mod add;
mod names;
mod plan;
mod select;

use retrieval_client::types::{IndexMode, IndexStatusResponse, RunState};
use retrieval_client::{Answer, Client};
use serde_json::json;

use crate::cli::{Files, Sync};
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::terminal::progress::{run_line, run_spinner};
use crate::terminal::table::Table;

pub async fn run(arguments: Files, client: &Client, context: &Context) -> Result<(), Failure> {
    match arguments {
        Files::Add(arguments) => add::run(arguments, client, context).await,
        Files::List => list(client, &context.terminal).await,
        Files::Rm { names } => delete(&names, client, &context.terminal).await,
        Files::Sync(Sync { full, no_wait }) => {
            let mode = if full { IndexMode::Full } else { IndexMode::Incremental };
            index(mode, !no_wait, client, context).await
        }
        Files::Status { sync_id, follow: true } => follow(&sync_id, client, context).await,
        Files::Status { sync_id, follow: false } => {
            let status = client.run_status(&sync_id).await?;
            show(&status, &context.terminal)
        }
    }
}

async fn list(client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let answer = client.list_files().await?;
    if terminal.json {
        return terminal.json(&answer.raw);
    }
    let mut table = Table::new(&["NAME", "SIZE", "LAST MODIFIED"]);
    for file in &answer.files {
        let size = indicatif::DecimalBytes(u64::try_from(file.size).unwrap_or(0)).to_string();
        table.row([file.name.clone(), size, file.last_modified.clone()]);
    }
    terminal.print(&table.render(&terminal.appearance))
}

/// Deletes every name, including those after a missing one.
async fn delete(names: &[String], client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let mut missing = Vec::new();
    for name in names {
        let answer = client.delete_file(name).await?;
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

/// Starts a run and optionally waits for it.
async fn index(mode: IndexMode, wait: bool, client: &Client, context: &Context) -> Result<(), Failure> {
    let started = client.start_run(mode).await?;
    if wait {
        return follow(&started.sync_id, client, context).await;
    }
    if context.terminal.json {
        return context.terminal.json(&started.raw);
    }
    context.terminal.content(&format!("started indexing run {}", started.sync_id))
}

async fn follow(sync_id: &str, client: &Client, context: &Context) -> Result<(), Failure> {
    context.set_interrupt_message(format!("interrupted; the run continues: see `retrieval files status {sync_id}`"));
    let spinner = run_spinner(&context.terminal);
    let status = client.follow_run(sync_id, |status| spinner.set_message(run_line(status))).await;
    spinner.finish_and_clear();
    show(&status?, &context.terminal)
}

fn show(status: &Answer<IndexStatusResponse>, terminal: &Terminal) -> Result<(), Failure> {
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
