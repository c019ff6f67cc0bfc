//! Upload of one file: presign, then PUT.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use api_types::{IgnoredSchema, PresignRequest, PresignResponse};
use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, Stream, StreamExt};
use reqwest::Body;
use reqwest::header::CONTENT_LENGTH;
use tokio::fs::File;
use tokio::io::AsyncReadExt;

use crate::retry::{self, Failure, Repeat};
use crate::silence::Silence;
use crate::{Client, Error, storage};

const CHUNK: usize = 64 << 10;
/// Time for connecting, for storage to take the next bytes, and to respond after the last one.
const BASE_LIMIT: Duration = Duration::from_secs(60);
/// Maximum number of bytes that the system may hold between the client and the network. Their progress cannot be seen.
const MOST_BUFFERED: u64 = 4 << 20;
/// Speed at which the buffered bytes are expected to leave.
const SLOWEST_BYTES_PER_SECOND: u64 = 64 << 10;

/// An uploaded file, searchable after the next indexing run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Uploaded {
    /// The sanitized name, as listed.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Name of an earlier file that this one replaced although it was sent under another name.
    pub replaces: Option<String>,
}

/// Name and labels to presign.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub name: &'a str,
    pub labels: Option<&'a [String]>,
}

pub(crate) type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// The content of an upload.
enum Source<'a> {
    Text(Bytes),
    File { path: &'a Path, progress: Progress, accept: &'a (dyn Fn(&str) -> Result<(), Error> + Send + Sync) },
}

impl Source<'_> {
    /// Returns an error if a file was written or replaced since an attempt began: storage has a mixture of its bytes, or the earlier
    /// ones. A file that was removed was uploaded as it was.
    async fn check_unchanged(&self, size: u64, modified: Option<SystemTime>) -> Result<(), Error> {
        let Source::File { path, .. } = self else { return Ok(()) };
        match tokio::fs::metadata(path).await {
            Ok(now) if now.len() != size || now.modified().ok() != modified => {
                Err(Error::FileChanged { path: path.to_path_buf() })
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

/// One attempt of an upload, with a URL of its own.
struct Attempt {
    body: Body,
    /// Bytes.
    size: u64,
    /// Time of the last write to the file.
    modified: Option<SystemTime>,
    signed: PresignResponse,
}

impl Client {
    /// Uploads a file under `name`, in constant memory. `progress` receives the number of bytes sent, and 0 when an
    /// attempt is repeated, as after a write to the file during the attempt. The API key is not sent to storage.
    ///
    /// # Errors
    /// Errors of [`Client::presign`], [`Error::File`], [`Error::FileChanged`], [`Error::Storage`] and transport errors.
    pub async fn upload(
        &self,
        path: &Path,
        name: &str,
        progress: impl Fn(u64) + Send + Sync + 'static,
    ) -> Result<Uploaded, Error> {
        self.upload_checked(path, Named { name, labels: None }, Arc::new(progress), &|_| Ok(())).await
    }

    /// Uploads a text from memory under `name`.
    ///
    /// # Errors
    /// Errors of [`Client::presign`], [`Error::Storage`] and transport errors.
    pub async fn upload_text(&self, text: String, name: &str) -> Result<Uploaded, Error> {
        self.upload_from(&Source::Text(Bytes::from(text)), Named { name, labels: None }).await
    }

    /// Uploads a file after `accept` has approved its sanitized name.
    pub(crate) async fn upload_checked(
        &self,
        path: &Path,
        named: Named<'_>,
        progress: Progress,
        accept: &(dyn Fn(&str) -> Result<(), Error> + Send + Sync),
    ) -> Result<Uploaded, Error> {
        self.upload_from(&Source::File { path, progress, accept }, named).await
    }

    async fn upload_from(&self, source: &Source<'_>, named: Named<'_>) -> Result<Uploaded, Error> {
        let mut retries = 0;
        let mut replaces = None;
        loop {
            // A signed URL is valid for one PUT, so every attempt needs a new one.
            let silence = Silence::start();
            let Attempt { body, size, modified, signed } = self.prepare(source, named, &silence).await?;
            // A repeated attempt replaces nothing but the first one.
            replaces = replaces.or_else(|| signed.replaces.clone());
            let (failure, error) = match self.put(body, size, &signed, &silence).await {
                Ok(()) => match source.check_unchanged(size, modified).await {
                    Ok(()) => return Ok(Uploaded { name: signed.name, size, replaces }),
                    Err(error) => (Failure::Broken, error),
                },
                Err(error) => match storage_failure(&error) {
                    Some(failure) => (failure, error),
                    None => return Err(error),
                },
            };
            let Some(wait) = retry::wait(failure, Repeat::Safe, retries, rand::random()) else { return Err(error) };
            tokio::time::sleep(wait).await;
            retries += 1;
        }
    }

    /// Prepares an attempt. Its body interrupts `silence` whenever bytes of it are taken.
    async fn prepare(&self, source: &Source<'_>, named: Named<'_>, silence: &Silence) -> Result<Attempt, Error> {
        match source {
            Source::Text(text) => {
                let size = text.len() as u64;
                let signed = self.presign(&presign_request(named, size)).await?.body;
                let body = body(parts(text.clone()), size, silence);
                Ok(Attempt { body, size, modified: None, signed })
            }
            Source::File { path, progress, accept } => {
                let file = open(path).await?;
                let metadata = file.metadata().await.map_err(|source| unreadable(path, source))?;
                let (size, modified) = (metadata.len(), metadata.modified().ok());
                let signed = self.presign(&presign_request(named, size)).await?.body;
                accept(&signed.name)?;
                progress(0);
                let body = body(chunks(file, path, size, Arc::clone(progress)), size, silence);
                Ok(Attempt { body, size, modified, signed })
            }
        }
    }

    async fn put(&self, body: Body, size: u64, signed: &PresignResponse, silence: &Silence) -> Result<(), Error> {
        let limit = silence_limit(size);
        let request = self.transport.storage()?.put(&signed.url).header(CONTENT_LENGTH, size).body(body);
        silence.interrupt();
        let response = match silence.limited(limit, request.send()).await {
            Some(Ok(response)) => response,
            Some(Err(error)) => {
                return Err(match changed_file(&error) {
                    Some(path) => Error::FileChanged { path },
                    None => storage::failure(error, storage::origin(&signed.url), limit),
                });
            }
            None => return Err(Error::StorageTimeout { server: storage::origin(&signed.url), limit }),
        };
        let status = response.status();
        if !status.is_success() {
            return Err(Error::Storage { name: signed.name.clone(), status: status.as_u16() });
        }
        Ok(())
    }
}

/// Returns the failure of storage that an error reports.
fn storage_failure(error: &Error) -> Option<Failure> {
    match error {
        Error::Storage { status, .. } => Some(Failure::Status(*status)),
        Error::StorageTransport { .. } => Some(Failure::Broken),
        _ => None,
    }
}

/// Returns the maximum time in which storage neither takes bytes of an upload of `size` bytes nor responds. Steady uploads have no limit.
fn silence_limit(size: u64) -> Duration {
    BASE_LIMIT + Duration::from_secs(size.min(MOST_BUFFERED) / SLOWEST_BYTES_PER_SECOND)
}

/// Returns the body with these chunks, of `size` bytes in total.
fn body(chunks: impl Stream<Item = io::Result<Bytes>> + Send + 'static, size: u64, silence: &Silence) -> Body {
    // An empty stream would use chunked encoding, which storage refuses.
    if size == 0 {
        return Body::from("");
    }
    let silence = silence.clone();
    Body::wrap_stream(chunks.inspect(move |_| silence.interrupt()))
}

/// Streams a text.
fn parts(mut text: Bytes) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    stream::iter(std::iter::from_fn(move || {
        let part = text.split_to(text.len().min(CHUNK));
        (!part.is_empty()).then_some(Ok::<_, io::Error>(part))
    }))
}

fn presign_request(named: Named<'_>, size: u64) -> PresignRequest {
    // No file exceeds i64; the maximum is refused as too large.
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    let Named { name, labels } = named;
    let labels = labels.map(<[String]>::to_vec);
    PresignRequest { schema: IgnoredSchema, filename: name.to_owned(), size, content_type: None, labels }
}

async fn open(path: &Path) -> Result<File, Error> {
    File::open(path).await.map_err(|source| unreadable(path, source))
}

fn unreadable(path: &Path, source: io::Error) -> Error {
    Error::File { path: path.to_owned(), source }
}

/// Reports a changed file length through the HTTP library.
#[derive(Debug, thiserror::Error)]
#[error("`{}` changed during the upload", .0.display())]
struct Changed(PathBuf);

fn changed_file(error: &(dyn std::error::Error + 'static)) -> Option<PathBuf> {
    error_causes::causes(error).find_map(|cause| cause.downcast_ref::<Changed>().map(|changed| changed.0.clone()))
}

struct Reading {
    file: File,
    path: PathBuf,
    sent: u64,
    size: u64,
    progress: Progress,
}

/// Streams exactly `size` bytes of the file, or an error.
fn chunks(file: File, path: &Path, size: u64, progress: Progress) -> impl Stream<Item = io::Result<Bytes>> + use<> {
    let reading = Reading { file, path: path.to_owned(), sent: 0, size, progress };
    stream::try_unfold(reading, |mut reading| async move {
        let left = reading.size - reading.sent;
        if left == 0 {
            return Ok(None);
        }
        let mut chunk = BytesMut::with_capacity(CHUNK);
        let count = (&mut reading.file).take(left).read_buf(&mut chunk).await?;
        if count == 0 {
            return Err(io::Error::other(Changed(reading.path)));
        }
        reading.sent += count as u64;
        // A further byte means that the file has grown since.
        if reading.sent == reading.size && reading.file.read(&mut [0]).await? > 0 {
            return Err(io::Error::other(Changed(reading.path)));
        }
        (reading.progress)(reading.sent);
        Ok(Some((chunk.freeze(), reading)))
    })
}
