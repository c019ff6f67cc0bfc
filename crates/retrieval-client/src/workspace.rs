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
/// Maximum `limit` of the service.
const LARGEST_PAGE: usize = 1_000;

/// A file to upload.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LocalFile {
    pub path: PathBuf,
    /// Name in the workspace, before sanitizing.
    pub name: String,
    /// Labels of the file; `None` keeps those that it has.
    pub labels: Option<Vec<String>>,
}

impl Client {
    /// Uploads files, `parallel` at a time. A failed upload does not stop the others.
    ///
    /// `progress` receives the index of a file in `files` and the number of its bytes that are sent; 0 when an attempt is repeated.
    /// `finished` receives the index and the result as soon as the upload of a file ends, in no particular order.
    ///
    /// Names identify files. If two files of the list have the same sanitized name, the second fails with
    /// [`Error::Setting`] instead of replacing the first.
    pub async fn upload_files(
        &self,
        files: &[LocalFile],
        parallel: usize,
        progress: impl Fn(usize, u64) + Send + Sync + 'static,
        mut finished: impl FnMut(usize, Result<Uploaded, Error>),
    ) {
        let progress = Arc::new(progress);
        let taken = Arc::new(Mutex::new(HashMap::<String, usize>::new()));
        let uploads = files.iter().enumerate().map(|(index, file)| {
            let (progress, taken) = (Arc::clone(&progress), Arc::clone(&taken));
            async move {
                let sent: Progress = Arc::new(move |bytes| progress(index, bytes));
                let named = Named { name: &file.name, labels: file.labels.as_deref() };
                let accept = move |name: &str| claim(&taken, name, index);
                (index, self.upload_checked(&file.path, named, sent, &accept).await)
            }
        });
        let mut uploads = std::pin::pin!(stream::iter(uploads).buffer_unordered(parallel.max(1)));
        while let Some((index, result)) = uploads.next().await {
            finished(index, result);
        }
    }

    /// Returns the files that a run could not read, with the reasons.
    pub async fn unread_files(&self, sync_id: &str) -> Result<Vec<IndexedFile>, Error> {
        let mut unread = Vec::new();
        let mut page = first_page();
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

/// Returns the query of the first of the fewest pages.
fn first_page() -> PageQuery {
    PageQuery { cursor: None, limit: Some(LARGEST_PAGE.to_string()) }
}

/// Claims a sanitized name for the file at `index`. Repeated attempts of the same file succeed.
fn claim(taken: &Mutex<HashMap<String, usize>>, name: &str, index: usize) -> Result<(), Error> {
    let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
    match *taken.entry(name.to_owned()).or_insert(index) {
        owner if owner == index => Ok(()),
        _ => Err(Error::Setting(format!("another file is already stored as `{name}`"))),
    }
}
