//! Response bodies, with limits on size and time.

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

use crate::checksum::Checksum;
use crate::errors::timed_out;
use crate::options::S3Timeouts;

/// Body of an object being downloaded.
pub(crate) struct Download {
    body: ByteStream,
    /// Size according to the response headers.
    size: u64,
    received: u64,
    checksum: Checksum,
    idle: Duration,
    /// Deadline for the whole body.
    deadline: Instant,
}

impl Download {
    /// Starts a download.
    ///
    /// # Errors
    /// `TooLarge` for a body of more than `max_bytes`, which is not read.
    pub fn begin(
        key: &str,
        body: ByteStream,
        size: u64,
        checksum: Checksum,
        max_bytes: u64,
        timeouts: &S3Timeouts,
    ) -> Result<Self, BlobError> {
        if size > max_bytes {
            return Err(BlobError::too_large(key, size, max_bytes));
        }
        let deadline = Instant::now() + timeouts.for_body(size);
        Ok(Self { body, size, received: 0, checksum, idle: timeouts.idle, deadline })
    }

    /// Returns the next slice, or `None` after the last one if the body is complete.
    async fn next(&mut self) -> Result<Option<Bytes>, BlobError> {
        let until = self.deadline.min(Instant::now() + self.idle);
        let next = timeout_at(until, self.body.next()).await.map_err(|_| timed_out("get"))?;
        let broken = |message: String| BlobError::new(BlobErrorKind::Unavailable, message);
        match next {
            Some(Ok(slice)) if slice.len() as u64 <= self.size - self.received => {
                self.received += slice.len() as u64;
                self.checksum.update(&slice);
                Ok(Some(slice))
            }
            Some(Ok(_)) => Err(broken(format!("get: the body exceeds its declared {} bytes", self.size))),
            Some(Err(error)) => Err(broken("get: the body was interrupted".to_owned()).with_source(error)),
            None if self.received == self.size && self.checksum.matches() => Ok(None),
            None if self.received == self.size => {
                Err(BlobError::new(BlobErrorKind::Corrupt, "get: the content does not match its checksum"))
            }
            None => Err(broken(format!("get: the body ended after {} of {} bytes", self.received, self.size))),
        }
    }

    pub async fn into_bytes(mut self) -> Result<Bytes, BlobError> {
        let Some(first) = self.next().await? else { return Ok(Bytes::new()) };
        if first.len() as u64 == self.size {
            // Most objects arrive in one slice, which need not be copied.
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

/// Removes the file on drop unless it is complete, also if the writing future is dropped.
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
            tracing::warn!(path = %path.display(), %error, "cannot remove partial download");
        }
    }
}
