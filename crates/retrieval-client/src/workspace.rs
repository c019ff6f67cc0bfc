//! Uploads of many files, and indexing runs.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use api_types::{FileStatus, IndexStatusResponse, IndexedFile, RunState};
use futures_util::stream::{self, StreamExt};
use openapi::parameters::PageQuery;

use crate::upload::{Named, Progress, Uploaded};
use crate::{Answer, Client, Error};

const FIRST_POLL: Duration = Duration::from_millis(250);
const SLOWEST_POLL: Duration = Duration::from_secs(2);

/// A file to upload.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LocalFile {
    pub path: PathBuf,
    /// Name in the workspace, before sanitizing.
    pub name: String,
    /// Labels of the file; `None` keeps those that it has.
    pub labels: Option<Vec<String>>,
}

/// Progress of the file at `index` of the list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UploadEvent {
    /// Number of bytes sent; 0 when an attempt is repeated.
    Sent {
        index: usize,
        bytes: u64,
    },
    Done {
        index: usize,
        succeeded: bool,
    },
}

impl Client {
    /// Uploads files, `parallel` at a time. A failed upload does not stop the others. Results are in the order of `files`.
    ///
    /// Names identify files. If two files of the list have the same sanitized name, the second fails with
    /// [`Error::Setting`] instead of replacing the first.
    pub async fn upload_files(
        &self,
        files: &[LocalFile],
        parallel: usize,
        on_event: impl Fn(UploadEvent) + Send + Sync + 'static,
    ) -> Vec<Result<Uploaded, Error>> {
        let on_event = Arc::new(on_event);
        let taken = Arc::new(Mutex::new(HashMap::<String, usize>::new()));
        let uploads = files.iter().enumerate().map(|(index, file)| {
            let (on_event, taken) = (Arc::clone(&on_event), Arc::clone(&taken));
            async move {
                let sent = Arc::clone(&on_event);
                let progress: Progress = Arc::new(move |bytes| sent(UploadEvent::Sent { index, bytes }));
                let named = Named { name: &file.name, labels: file.labels.as_deref() };
                let accept = move |name: &str| claim(&taken, name, index);
                let result = self.upload_checked(&file.path, named, progress, &accept).await;
                on_event(UploadEvent::Done { index, succeeded: result.is_ok() });
                result
            }
        });
        stream::iter(uploads).buffered(parallel.max(1)).collect().await
    }

    /// Returns the files that a run could not read, with the reasons.
    pub async fn unread_files(&self, sync_id: &str) -> Result<Vec<IndexedFile>, Error> {
        let mut unread = Vec::new();
        let mut page = PageQuery { cursor: None, limit: Some("1000".to_owned()) };
        loop {
            let answer = self.list_run_files(sync_id, &page).await?.body;
            let is_unread = |file: &IndexedFile| matches!(file.status, FileStatus::Failed | FileStatus::Unsupported);
            unread.extend(answer.files.into_iter().filter(is_unread));
            if answer.next_cursor.is_none() {
                return Ok(unread);
            }
            page.cursor = answer.next_cursor;
        }
    }

    /// Polls a run until it is `completed` or `failed`, and returns the last status. `progress` receives every status.
    ///
    /// There is no timeout; wrap the future in one if needed. Dropping the future does not stop the run.
    pub async fn follow_run(
        &self,
        sync_id: &str,
        mut progress: impl FnMut(&IndexStatusResponse),
    ) -> Result<Answer<IndexStatusResponse>, Error> {
        let mut pause = FIRST_POLL;
        loop {
            let status = self.run_status(sync_id).await?;
            progress(&status);
            if matches!(status.state, RunState::Completed | RunState::Failed) {
                return Ok(status);
            }
            tokio::time::sleep(pause).await;
            pause = pause.mul_f64(1.5).min(SLOWEST_POLL);
        }
    }
}

/// Claims a sanitized name for the file at `index`. Repeated attempts of the same file succeed.
fn claim(taken: &Mutex<HashMap<String, usize>>, name: &str, index: usize) -> Result<(), Error> {
    let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
    match *taken.entry(name.to_owned()).or_insert(index) {
        owner if owner == index => Ok(()),
        _ => Err(Error::Setting(format!("another file is already stored as `{name}`"))),
    }
}
