//! Many files, and the indexing run that makes them searchable.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use api_types::{IndexStatusResponse, RunState};
use futures_util::stream::{self, StreamExt};

use crate::upload::{Progress, Uploaded};
use crate::{Answer, Client, Error};

const FIRST_POLL: Duration = Duration::from_millis(250);
const SLOWEST_POLL: Duration = Duration::from_secs(2);

/// A file to upload.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LocalFile {
    pub path: PathBuf,
    /// What it is to be called in the workspace; storage sanitizes it.
    pub name: String,
}

/// What happens to the file at `index` of the list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UploadEvent {
    /// So many bytes went out so far; 0 again when an attempt is repeated.
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
    /// Uploads files, `parallel` at a time. One that fails stops no other; the results stand in the order of `files`.
    ///
    /// Names are the identity of files: a file whose sanitized name another of the list has already taken is refused
    /// with [`Error::Setting`], and not uploaded over it.
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
                let accept = move |name: &str| claim(&taken, name, index);
                let result = self.upload_checked(&file.path, &file.name, progress, &accept).await;
                on_event(UploadEvent::Done { index, succeeded: result.is_ok() });
                result
            }
        });
        stream::iter(uploads).buffered(parallel.max(1)).collect().await
    }

    /// Polls a run until it is `completed` or `failed`, and gives its last status; `progress` sees every status.
    ///
    /// There is no limit of time: wrap it in one where that is wanted. Dropping it leaves the run going.
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

/// A repeated attempt of the same file keeps its name.
fn claim(taken: &Mutex<HashMap<String, usize>>, name: &str, index: usize) -> Result<(), Error> {
    let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
    match *taken.entry(name.to_owned()).or_insert(index) {
        owner if owner == index => Ok(()),
        _ => Err(Error::Setting(format!("another file is already stored as `{name}`"))),
    }
}
