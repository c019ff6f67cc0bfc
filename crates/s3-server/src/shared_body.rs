//! Bodies of uploads.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use connections::Waiting;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use s3s::StdError;

use crate::Paces;

/// Limit of the time for draining a rejected upload.
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// Request body that stays available after the S3 library dropped its copy, and fails if the client sends too slowly.
///
/// A response before the end of the body closes the connection. With unread bytes in its buffer the system sends a
/// reset, which may overtake the response: a client that is still sending would see "connection reset" instead of the
/// 403.
#[derive(Clone)]
pub(crate) struct SharedBody(Arc<Mutex<Upload>>);

struct Upload {
    body: Incoming,
    waiting: Waiting,
}

impl SharedBody {
    pub fn new(body: Incoming, paces: Paces) -> Self {
        Self(Arc::new(Mutex::new(Upload { body, waiting: Waiting::new(paces.sending) })))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Upload) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads and discards the rest of the body, within limits.
    pub async fn drain(mut self, max_bytes: u64) {
        let drained = async {
            let mut seen = 0;
            while seen <= max_bytes && !self.is_end_stream() {
                match self.frame().await {
                    Some(Ok(frame)) => seen += frame.data_ref().map_or(0, |data| data.len() as u64),
                    Some(Err(_)) | None => break,
                }
            }
        };
        // After the timeout the connection is simply closed.
        let _ = tokio::time::timeout(DRAIN_TIME, drained).await;
    }
}

impl Upload {
    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, StdError>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(frame) => {
                let received = match &frame {
                    Some(Ok(frame)) => frame.data_ref().map_or(0, Bytes::len),
                    Some(Err(_)) | None => 0,
                };
                self.waiting.progress(received);
                Poll::Ready(frame.map(|frame| frame.map_err(StdError::from)))
            }
            Poll::Pending => self.waiting.poll_exhausted(context).map(|()| {
                let error = io::Error::new(io::ErrorKind::TimedOut, "the client sends too slowly");
                Some(Err(StdError::from(error)))
            }),
        }
    }
}

impl http_body::Body for SharedBody {
    type Data = Bytes;
    type Error = StdError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        self.with(|upload| upload.poll_frame(context))
    }

    fn is_end_stream(&self) -> bool {
        self.with(|upload| upload.body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.with(|upload| upload.body.size_hint())
    }
}
