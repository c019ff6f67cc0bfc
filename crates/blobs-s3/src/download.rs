//! Bodies of answers, within limits of size and time.

use std::io;
use std::path::{Path, PathBuf};

use blobs::{BlobError, BlobErrorKind};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use rusoto_core::ByteStream;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, timeout_at};

use crate::failure::timed_out;
use crate::options::S3Timeouts;

/// The body of one object.
pub(crate) struct Download<'a> {
    pub key: &'a str,
    pub body: ByteStream,
    /// What the answer's head says.
    pub size: u64,
    pub max_bytes: u64,
    pub timeouts: &'a S3Timeouts,
}

impl Download<'_> {
    /// Hands the body out slice by slice.
    async fn read(self, mut take: impl AsyncFnMut(Bytes) -> Result<(), BlobError>) -> Result<(), BlobError> {
        let Self { key, mut body, size, max_bytes, timeouts } = self;
        if size > max_bytes {
            return Err(BlobError::too_large(key, size, max_bytes));
        }
        let end = Instant::now() + timeouts.for_body(size);
        let mut received = 0;
        loop {
            let until = end.min(Instant::now() + timeouts.idle);
            let next = timeout_at(until, body.next()).await.map_err(|_| timed_out("get"))?;
            let Some(slice) = next else { break };
            let slice = slice.map_err(|error| {
                BlobError::new(BlobErrorKind::Unavailable, format!("get: the body of `{key}` broke off")).with_source(error)
            })?;
            received += slice.len() as u64;
            // The head promised less, so this is not what we took it for.
            if received > size {
                break;
            }
            take(slice).await?;
        }
        if received == size {
            return Ok(());
        }
        let message = format!("get: `{key}` came with {received} bytes or more in place of {size}");
        Err(BlobError::new(BlobErrorKind::Unavailable, message))
    }

    pub async fn into_bytes(self) -> Result<Bytes, BlobError> {
        let mut whole = BytesMut::new();
        self.read(async |slice| {
            whole.extend_from_slice(&slice);
            Ok(())
        })
        .await?;
        Ok(whole.freeze())
    }

    pub async fn into_file(self, path: &Path) -> Result<(), BlobError> {
        let failed = |error: io::Error| {
            BlobError::new(BlobErrorKind::Failed, format!("cannot write `{}`", path.display())).with_source(error)
        };
        let partial = PartialFile(Some(path.to_owned()));
        let mut file = File::create(path).await.map_err(failed)?;
        self.read(async |slice| file.write_all(&slice).await.map_err(failed)).await?;
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
