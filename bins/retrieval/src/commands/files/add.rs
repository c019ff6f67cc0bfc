//! `retrieval files add`.

use std::collections::HashSet;

use retrieval_client::Client;
use retrieval_client::types::{FileStatus, IndexMode};
use serde_json::json;

use super::plan::{reject_collisions, split_changed};
use super::select::{Selected, Selection, select};
use super::upload::{Uploads, upload};
use super::{all_read, labels, report_file, report_unread, stored};
use crate::cli::{Add, Names};
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::Terminal;

pub async fn run(arguments: Add, client: &Client, context: &Context) -> Result<(), Failure> {
    let terminal = &context.terminal;
    let labels = labels::normalize(&arguments.labels)?;
    let Selection { files, skipped, .. } = scan(arguments.paths.clone(), arguments.names).await?;
    for skipped in &skipped {
        let event = if skipped.is_failure { "failed" } else { "skipped" };
        report_file(terminal, event, &skipped.path, &skipped.reason)?;
    }
    let unreadable = skipped.iter().filter(|skipped| skipped.is_failure).count();
    match (files.is_empty(), unreadable) {
        (true, 0) => return Err(Failure::Usage("no files to upload: give files of a supported type".to_owned())),
        (true, _) => return not_uploaded(unreadable, unreadable),
        (false, _) => {}
    }
    reject_collisions(&files, arguments.names)?;
    let stored = match arguments.force {
        true => Vec::new(),
        false => stored::entries(&files.iter().map(|file| file.name.as_str()).collect(), client).await?,
    };
    let (files, unchanged) =
        if arguments.force { (files, vec![]) } else { split_changed(files, &stored, labels.as_deref()) };
    for file in &unchanged {
        if terminal.json {
            report_file(terminal, "skipped", &file.path, "is unchanged")?;
        }
    }
    let selected = files.len() + unreadable;
    if arguments.dry_run {
        show_plan(&files, &unchanged, terminal)?;
        return not_uploaded(unreadable, selected);
    }
    let Uploads { stored: sent, failed, refused } = upload(&files, labels, arguments.jobs, client, context).await?;
    let uploaded = files.len() - failed;
    terminal.note(&format!(
        "{uploaded} uploaded, {} unchanged, {} skipped, {} failed",
        unchanged.len(),
        skipped.len() - unreadable,
        failed + unreadable
    ));
    // Runs do not read them again, so that only this tells of them.
    let mut unread = 0;
    let names: HashSet<&str> = unchanged.iter().map(|file| file.name.as_str()).collect();
    for file in stored.iter().filter(|file| names.contains(file.name.as_str())) {
        if matches!(file.status, Some(FileStatus::Failed | FileStatus::Unsupported)) {
            report_unread(&file.name, file.reason.as_deref(), terminal)?;
            unread += 1;
        }
    }
    // Starts a run even without new files, since an earlier call may have been interrupted before it.
    if !arguments.no_run && (uploaded > 0 || failed == 0) {
        unread += super::index(IndexMode::Incremental, !arguments.no_wait, &sent, client, context).await?;
    }
    match refused {
        Some(refused) => Err(refused),
        None => not_uploaded(failed + unreadable, selected).and(all_read(unread)),
    }
}

/// Fails if some of the selected files were not uploaded, or cannot be.
fn not_uploaded(failed: usize, selected: usize) -> Result<(), Failure> {
    match failed {
        0 => Ok(()),
        _ => Err(Failure::Partial(format!("{failed} of {selected} files were not uploaded"))),
    }
}

/// Selects the files outside the runtime's thread, which can be interrupted meanwhile.
async fn scan(paths: Vec<String>, names: Names) -> Result<Selection, Failure> {
    let scanned = tokio::task::spawn_blocking(move || select(&paths, names)).await;
    let unfinished =
        |error| Failure::Local { what: "cannot search the folders".to_owned(), source: std::io::Error::other(error) };
    scanned.map_err(unfinished)?
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
