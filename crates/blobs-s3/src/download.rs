//! Bodies of answers, within limits of size and time.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use blobs::{BlobError, BlobErrorKind};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use rusoto_core::ByteStream;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, timeout_at};

use crate::failure::timed_out;
use crate::options::S3Timeouts;

/// The body of one object, on its way.
pub(crate) struct Download {
    body: ByteStream,
    /// What the answer's head says.
    size: u64,
    received: u64,
    idle: Duration,
    /// When the whole must be here.
    end: Instant,
}

impl Download {
    /// # Errors
    /// `TooLarge` for a body of more than `max_bytes`: nothing of it is read.
    pub fn begin(
        key: &str,
        body: ByteStream,
        size: u64,
        max_bytes: u64,
        timeouts: &S3Timeouts,
    ) -> Result<Self, BlobError> {
        if size > max_bytes {
            return Err(BlobError::too_large(key, size, max_bytes));
        }
        Ok(Self { body, size, received: 0, idle: timeouts.idle, end: Instant::now() + timeouts.for_body(size) })
    }

    /// The next slice; `None` behind the last one, when all that the head promised has come.
    async fn next(&mut self) -> Result<Option<Bytes>, BlobError> {
        let until = self.end.min(Instant::now() + self.idle);
        let next = timeout_at(until, self.body.next()).await.map_err(|_| timed_out("get"))?;
        let broken = |message: String| BlobError::new(BlobErrorKind::Unavailable, message);
        match next {
            Some(Ok(slice)) if slice.len() as u64 <= self.size - self.received => {
                self.received += slice.len() as u64;
                Ok(Some(slice))
            }
            Some(Ok(_)) => Err(broken(format!("get: more than the promised {} bytes", self.size))),
            Some(Err(error)) => Err(broken("get: the body broke off".to_owned()).with_source(error)),
            None if self.received == self.size => Ok(None),
            None => Err(broken(format!("get: {} bytes in place of {}", self.received, self.size))),
        }
    }

    pub async fn into_bytes(mut self) -> Result<Bytes, BlobError> {
        let Some(first) = self.next().await? else { return Ok(Bytes::new()) };
        if first.len() as u64 == self.size {
            // Most objects come in one slice, which then need not be copied.
            self.next().await?;
            return Ok(first);
        }
        let mut whole = BytesMut::from(first);
        while let Some(slice) = self.next().await? {
            whole.extend_from_slice(&slice);
        }
        Ok(whole.freeze())
    }

    pub async fn into_file(mut self, path: &Path) -> Result<(), BlobError> {
        let failed = |error: io::Error| {
            BlobError::new(BlobErrorKind::Failed, format!("cannot write `{}`", path.display())).with_source(error)
        };
        let partial = PartialFile(Some(path.to_owned()));
        let mut file = File::create(path).await.map_err(failed)?;
        while let Some(slice) = self.next().await? {
            file.write_all(&slice).await.map_err(failed)?;
        }
        file.flush().await.map_err(failed)?;
        partial.keep();
        Ok(())
    }
}

/// Removes the file, unless it is complete: also when the future that writes it is dropped.
struct PartialFile(Option<PathBuf>);

impl PartialFile {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if let Some(path) = self.0.take()
            && let Err(error) = std::fs::remove_file(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %path.display(), %error, "cannot remove a partial download");
        }
    }
}
