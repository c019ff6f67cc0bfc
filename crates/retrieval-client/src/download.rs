//! Download of a file's original: sign, then GET.

use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::{Client, Error, storage};

/// Time for storage to send the next bytes.
const IDLE_LIMIT: Duration = Duration::from_secs(60);

impl Client {
    /// Writes the original of a file to `out`, in constant memory, and returns its size. The API key is not sent to storage.
    ///
    /// # Errors
    /// Errors of [`Client::file_content`], [`Error::Storage`], [`Error::Write`] and transport errors.
    pub async fn download(&self, name: &str, out: &mut (impl AsyncWrite + Unpin)) -> Result<u64, Error> {
        let signed = self.file_content(name).await?.body;
        let request = self.transport.storage()?.get(&signed.url);
        let server = storage::origin(&signed.url);
        let timeout = |_| Error::StorageTimeout { server: server.clone(), limit: IDLE_LIMIT };
        let broken = |error| storage::failure(error, server.clone(), IDLE_LIMIT);
        let mut response = tokio::time::timeout(IDLE_LIMIT, request.send()).await.map_err(timeout)?.map_err(broken)?;
        let status = response.status();
        if !status.is_success() {
            return Err(Error::Storage { name: name.to_owned(), status: status.as_u16() });
        }
        let unwritten = |source| Error::Write { source };
        let mut written = 0;
        while let Some(chunk) =
            tokio::time::timeout(IDLE_LIMIT, response.chunk()).await.map_err(timeout)?.map_err(broken)?
        {
            out.write_all(&chunk).await.map_err(unwritten)?;
            written += chunk.len() as u64;
        }
        out.flush().await.map_err(unwritten)?;
        Ok(written)
    }
}
