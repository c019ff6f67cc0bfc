//! `retrieval files add`.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::ProgressBar;
use retrieval_client::types::{FileStatus, IndexMode};
use retrieval_client::{Client, LocalFile, UploadEvent};
use serde_json::json;

use super::plan::{reject_collisions, split_changed};
use super::select::{Selected, Selection, select};
use super::{all_read, labels, report_unread};
use crate::cli::{Add, Names};
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::terminal::progress::upload_bar;

/// Status of an upload that the organization's quota does not permit.
const QUOTA_USED_UP: u16 = 507;

pub async fn run(arguments: Add, client: &Client, context: &Context) -> Result<(), Failure> {
    let terminal = &context.terminal;
    let labels = labels::normalize(&arguments.labels)?;
    let Selection { files, skipped, .. } = scan(arguments.paths.clone(), arguments.names).await?;
    for skipped in &skipped {
        report_file(terminal, "skipped", &skipped.path, &skipped.reason)?;
    }
    if files.is_empty() {
        return Err(Failure::Usage("no files to upload: give files of a supported type".to_owned()));
    }
    reject_collisions(&files, arguments.names)?;
    let stored = if arguments.force { Vec::new() } else { client.list_files().await?.body.files };
    let (files, unchanged) =
        if arguments.force { (files, vec![]) } else { split_changed(files, &stored, labels.as_deref()) };
    for file in &unchanged {
        if terminal.json {
            report_file(terminal, "skipped", &file.path, "is unchanged")?;
        }
    }
    if arguments.dry_run {
        return show_plan(&files, &unchanged, terminal);
    }
    let Uploads { stored: sent, failed, quota } = upload(&files, labels, arguments.jobs, client, context).await?;
    let uploaded = files.len() - failed;
    terminal.note(&format!(
        "{uploaded} uploaded, {} unchanged, {} skipped, {failed} failed",
        unchanged.len(),
        skipped.len()
    ));
    // Runs do not read them again, so that only this tells of them.
    let mut unread = 0;
    for file in stored.iter().filter(|file| unchanged.iter().any(|own| own.name == file.name)) {
        if matches!(file.status, Some(FileStatus::Failed | FileStatus::Unsupported)) {
            report_unread(&file.name, file.reason.as_deref(), terminal)?;
            unread += 1;
        }
    }
    // Starts a run even without new files, since an earlier call may have been interrupted before it.
    if !arguments.no_run && (uploaded > 0 || failed == 0) {
        unread += super::index(IndexMode::Incremental, !arguments.no_wait, &sent, client, context).await?;
    }
    match (quota, failed, unread) {
        (Some(quota), ..) => Err(quota),
        (None, 0, unread) => all_read(unread),
        _ => Err(Failure::Partial(format!("{failed} of {} files were not uploaded", files.len()))),
    }
}

/// Selects the files outside the runtime's thread, which can be interrupted meanwhile.
async fn scan(paths: Vec<String>, names: Names) -> Result<Selection, Failure> {
    let scanned = tokio::task::spawn_blocking(move || select(&paths, names)).await;
    let unfinished =
        |error| Failure::Local { what: "cannot search the folders".to_owned(), source: std::io::Error::other(error) };
    scanned.map_err(unfinished)?
}

/// Outcome of the uploads.
struct Uploads {
    /// Names of the uploaded files.
    stored: BTreeSet<String>,
    /// Number of files that were not uploaded.
    failed: usize,
    /// The first failure for a used-up quota, which has its own exit status. Smaller files may still have been stored.
    quota: Option<Failure>,
}

/// Uploads the files and reports failures.
async fn upload(
    files: &[Selected],
    labels: Option<Vec<String>>,
    jobs: u8,
    client: &Client,
    context: &Context,
) -> Result<Uploads, Failure> {
    let terminal = &context.terminal;
    context.set_interrupt_message(
        "interrupted; uploaded files are not indexed yet: repeat the command, or run `retrieval files sync`",
    );
    let bar = upload_bar(terminal, files.iter().map(|file| file.size).sum());
    let local: Vec<LocalFile> = files
        .iter()
        .map(|file| LocalFile { path: file.path.clone(), name: file.original_name.clone(), labels: labels.clone() })
        .collect();
    let on_event = progress_callback(bar.clone(), files.len());
    let results = client.upload_files(&local, usize::from(jobs), on_event).await;
    bar.finish_and_clear();

    let mut outcome = Uploads { stored: BTreeSet::new(), failed: 0, quota: None };
    for (file, result) in files.iter().zip(results) {
        if let Ok(uploaded) = &result {
            outcome.stored.insert(uploaded.name.clone());
        }
        match result {
            Ok(uploaded) if terminal.json => {
                let path = file.path.display().to_string();
                let mut event =
                    json!({ "event": "uploaded", "path": path, "name": uploaded.name, "size": uploaded.size });
                if let Some(earlier) = uploaded.replaces {
                    event["replaces"] = json!(earlier);
                }
                terminal.event(&event)?;
            }
            Ok(uploaded) => {
                if let Some(earlier) = uploaded.replaces {
                    terminal.note(&format!("{} replaced `{earlier}`, which has the same stored name", uploaded.name));
                }
            }
            Err(error) => {
                let is_quota = error.api().is_some_and(|api| api.status == QUOTA_USED_UP);
                let failure = Failure::Client(error);
                // A rejected key would fail for every file, and has its own exit status.
                if failure.exit() == 3 && !is_quota {
                    return Err(failure);
                }
                report_file(terminal, "failed", &file.path, &failure.message())?;
                outcome.failed += 1;
                if is_quota {
                    outcome.quota.get_or_insert(failure);
                }
            }
        }
    }
    Ok(outcome)
}

/// Returns a callback that sums up the progress of all files.
fn progress_callback(bar: ProgressBar, count: usize) -> impl Fn(UploadEvent) + Send + Sync + 'static {
    let state = Arc::new(Mutex::new((vec![0_u64; count], 0_usize)));
    bar.set_message(format!("0/{count} files"));
    move |event| {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let (sent, done) = &mut *state;
        match event {
            UploadEvent::Sent { index, bytes } => sent[index] = bytes,
            UploadEvent::Done { .. } => *done += 1,
        }
        bar.set_position(sent.iter().sum());
        bar.set_message(format!("{done}/{count} files"));
    }
}

fn show_plan(files: &[Selected], unchanged: &[Selected], terminal: &Terminal) -> Result<(), Failure> {
    for file in files {
        let path = file.path.display().to_string();
        if terminal.json {
            let event = json!({ "event": "would_upload", "path": path, "name": file.name, "size": file.size });
            terminal.event(&event)?;
        } else {
            terminal.content(&format!("{path} -> {}", file.name))?;
        }
    }
    terminal.note(&format!("{} to upload, {} unchanged", files.len(), unchanged.len()));
    Ok(())
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
