//! Uploads of `files add`.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use indicatif::ProgressBar;
use retrieval_client::{Client, Error, LocalFile, Uploaded};
use serde_json::json;

use super::report_file;
use super::select::Selected;
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::terminal::progress::upload_bar;

/// Exit status of what the key or the organization may not do.
const NOT_ALLOWED: u8 = 3;

/// Outcome of the uploads.
#[derive(Default)]
pub struct Uploads {
    /// Names of the uploaded files.
    pub stored: BTreeSet<String>,
    /// Number of files that were not uploaded.
    pub failed: usize,
    /// The first refusal because of the key, the balance or a quota, which has its own exit status. Other files may still have been
    /// stored: smaller ones, and those before a key was revoked.
    pub refused: Option<Failure>,
}

impl Uploads {
    /// Counts the result of a file and reports it.
    fn add(&mut self, file: &Selected, result: Result<Uploaded, Error>, terminal: &Terminal) -> Result<(), Failure> {
        match result {
            Ok(uploaded) => {
                let reported = report_uploaded(file, &uploaded, terminal);
                self.stored.insert(uploaded.name);
                reported
            }
            Err(error) => {
                let failure = Failure::Client(error);
                let message = failure.message();
                self.failed += 1;
                if failure.exit() == NOT_ALLOWED {
                    self.refused.get_or_insert(failure);
                }
                report_file(terminal, "failed", &file.path, &message)
            }
        }
    }
}

/// Uploads the files, and reports each as soon as its upload ends.
pub async fn upload(
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
    let count = files.len();
    bar.set_message(format!("0/{count} files"));
    let (mut uploads, mut done, mut unreported) = (Uploads::default(), 0_usize, None);
    let finished = |index: usize, result: Result<Uploaded, Error>| {
        let Some(file) = files.get(index) else { return };
        if let Err(failure) = bar.suspend(|| uploads.add(file, result, terminal)) {
            unreported.get_or_insert(failure);
        }
        done += 1;
        bar.set_message(format!("{done}/{count} files"));
    };
    client.upload_files(&local, usize::from(jobs), progress_callback(bar.clone(), count), finished).await;
    bar.finish_and_clear();
    match unreported {
        Some(failure) => Err(failure),
        None => Ok(uploads),
    }
}

fn report_uploaded(file: &Selected, uploaded: &Uploaded, terminal: &Terminal) -> Result<(), Failure> {
    if terminal.json {
        let path = file.path.display().to_string();
        let mut event = json!({ "event": "uploaded", "path": path, "name": uploaded.name, "size": uploaded.size });
        if let Some(earlier) = &uploaded.replaces {
            event["replaces"] = json!(earlier);
        }
        return terminal.event(&event);
    }
    if let Some(earlier) = &uploaded.replaces {
        terminal.note(&format!("{} replaced `{earlier}`, which has the same stored name", uploaded.name));
    }
    Ok(())
}

/// Returns a callback that shows the progress of all files.
fn progress_callback(bar: ProgressBar, count: usize) -> impl Fn(usize, u64) + Send + Sync + 'static {
    let sent = Mutex::new(Sent::new(count));
    move |index, bytes| {
        if !bar.is_hidden() {
            bar.set_position(sent.lock().unwrap_or_else(PoisonError::into_inner).set(index, bytes));
        }
    }
}

/// Number of bytes sent of each file, and of all.
struct Sent {
    of_files: Vec<u64>,
    total: u64,
}

impl Sent {
    fn new(count: usize) -> Self {
        Self { of_files: vec![0; count], total: 0 }
    }

    /// Sets the bytes of the file at `index` and returns those of all files. They become fewer when an attempt is repeated.
    fn set(&mut self, index: usize, bytes: u64) -> u64 {
        if let Some(of_file) = self.of_files.get_mut(index) {
            self.total = self.total.saturating_sub(*of_file).saturating_add(bytes);
            *of_file = bytes;
        }
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_all_files_are_added_up() {
        let mut sent = Sent::new(2);
        let totals = [(0, 5), (1, 7), (0, 9), (0, 0), (2, 3)].map(|(index, bytes)| sent.set(index, bytes));
        assert_eq!(totals, [5, 12, 16, 7, 7]);
    }
}
