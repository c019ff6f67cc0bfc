//! `retrieval files add`.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::ProgressBar;
use retrieval_client::types::IndexMode;
use retrieval_client::{Client, LocalFile, UploadEvent};
use serde_json::json;

use super::plan::{changed, refuse_collisions};
use super::select::{Selected, Selection, select};
use crate::cli::Add;
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::terminal::progress::upload_bar;

pub async fn run(arguments: Add, client: &Client, context: &Context) -> Result<(), Failure> {
    let terminal = &context.terminal;
    let Selection { files, skipped, .. } = select(&arguments.paths, arguments.names)?;
    for skipped in &skipped {
        tell(terminal, "skipped", &skipped.path, &skipped.reason)?;
    }
    if files.is_empty() {
        return Err(Failure::Usage("there is nothing to upload".to_owned()));
    }
    refuse_collisions(&files)?;
    let (files, unchanged) =
        if arguments.force { (files, vec![]) } else { changed(files, &client.list_files().await?.files) };
    for file in &unchanged {
        if terminal.json {
            tell(terminal, "skipped", &file.path, "is unchanged")?;
        }
    }
    if arguments.dry_run {
        return show_plan(&files, &unchanged, terminal);
    }
    let failed = upload(&files, arguments.jobs, client, context).await?;
    let uploaded = files.len() - failed;
    terminal.note(&format!(
        "{uploaded} uploaded, {} unchanged, {} skipped, {failed} failed",
        unchanged.len(),
        skipped.len()
    ));
    // An earlier call may have been interrupted between upload and run, so a run is started even when nothing is new.
    if !arguments.no_run && (uploaded > 0 || failed == 0) {
        super::index(IndexMode::Incremental, !arguments.no_wait, client, context).await?;
    }
    if failed > 0 {
        return Err(Failure::Partial(format!("{failed} of {} files were not uploaded", files.len())));
    }
    Ok(())
}

/// Uploads, tells what failed, and counts it.
async fn upload(files: &[Selected], jobs: u8, client: &Client, context: &Context) -> Result<usize, Failure> {
    let terminal = &context.terminal;
    context.if_interrupted(
        "interrupted; what was uploaded is stored but not indexed: repeat the command, or run `retrieval files sync`",
    );
    let bar = upload_bar(terminal, files.iter().map(|file| file.size).sum());
    let local: Vec<LocalFile> =
        files.iter().map(|file| LocalFile { path: file.path.clone(), name: file.name.clone() }).collect();
    let watch = watcher(bar.clone(), files.len());
    let results = client.upload_files(&local, usize::from(jobs), watch).await;
    bar.finish_and_clear();

    let mut failed = 0;
    for (file, result) in files.iter().zip(results) {
        match result {
            Ok(uploaded) if terminal.json => {
                let path = file.path.display().to_string();
                let event = json!({ "event": "uploaded", "path": path, "name": uploaded.name, "size": uploaded.size });
                terminal.event(&event)?;
            }
            Ok(_) => {}
            Err(error) => {
                failed += 1;
                let failure = Failure::Client(error);
                // Every further file would be refused as well, and for a reason with an exit status of its own.
                if failure.exit() == 3 {
                    return Err(failure);
                }
                tell(terminal, "failed", &file.path, &failure.message())?;
            }
        }
    }
    Ok(failed)
}

/// Adds up what all files together have sent.
fn watcher(bar: ProgressBar, count: usize) -> impl Fn(UploadEvent) + Send + Sync + 'static {
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

/// One file's fate: an event for programs, a line on standard error for people.
fn tell(terminal: &Terminal, event: &str, path: &Path, reason: &str) -> Result<(), Failure> {
    let path = path.display().to_string();
    if terminal.json {
        return terminal.event(&json!({ "event": event, "path": path, "reason": reason }));
    }
    if event == "failed" {
        terminal.complain(&format!("failed: {path}: {reason}"));
    } else {
        terminal.note(&format!("{event}: {path} {reason}"));
    }
    Ok(())
}
