//! What stands between HTTP and the S3 library: cross-origin uploads, and answers that reach their client.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use s3s::service::S3Service;
use s3s::{Body, HttpError};

use crate::presigned::PresignedUrl;

/// How long, and how far beyond the largest object, a refused upload is read to its end.
const DRAIN_TIME: Duration = Duration::from_secs(10);
const DRAIN_SPARE_BYTES: u64 = 1024 * 1024;

pub(crate) struct HttpService {
    pub s3: S3Service,
    pub max_object_bytes: u64,
}

impl HttpService {
    pub async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, HttpError> {
        let is_presigned = matches!(PresignedUrl::find(request.uri()), Ok(Some(_)));
        if request.method() == Method::OPTIONS {
            return Ok(preflight(request.headers(), is_presigned));
        }
        let cross_origin = is_presigned && request.method() == Method::PUT;
        // A client that waits for `100 Continue` sends no body after a refusal, and reading would ask it to.
        let sends_at_once = !request.headers().contains_key(header::EXPECT);
        let (parts, body) = request.into_parts();
        let body = SharedBody(Arc::new(Mutex::new(body)));
        let request = Request::from_parts(parts, Body::http_body_unsync(body.clone()));
        let mut response = self.s3.call(request).await?;
        if !response.status().is_success() && sends_at_once {
            body.drain(self.max_object_bytes + DRAIN_SPARE_BYTES).await;
        }
        if cross_origin {
            // On refusals too, so that the page can tell its user why.
            allow_any_origin(response.headers_mut());
            let exposed = HeaderValue::from_static("ETag");
            response.headers_mut().insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        }
        Ok(response)
    }
}

/// A browser asks before it puts to another origin than the page's. A presigned URL carries its own authority and no
/// cookies, so any page that was given one may use it; nothing else is for browsers.
fn preflight(headers: &HeaderMap, is_presigned: bool) -> Response<Body> {
    let asks_for_put = headers.get(header::ACCESS_CONTROL_REQUEST_METHOD).is_some_and(|method| method == "PUT");
    let mut response = Response::new(Body::empty());
    if !(is_presigned && asks_for_put) {
        *response.status_mut() = StatusCode::FORBIDDEN;
        return response;
    }
    *response.status_mut() = StatusCode::NO_CONTENT;
    let answer = response.headers_mut();
    allow_any_origin(answer);
    let mut set = |name: HeaderName, value| answer.insert(name, value);
    set(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("PUT"));
    set(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("900"));
    if let Some(asked) = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        set(header::ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
    }
    response
}

fn allow_any_origin(headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
}

/// A request body that is still at hand after the S3 library is done with its copy.
///
/// Why: an answer before the end of the body closes the connection, and with unread bytes in its buffer the system
/// closes by a reset, which may overtake the answer. A client that is still sending would then see "connection reset"
/// in place of the 403.
#[derive(Clone)]
struct SharedBody(Arc<Mutex<Incoming>>);

impl SharedBody {
    fn with<T>(&self, work: impl FnOnce(Pin<&mut Incoming>) -> T) -> T {
        work(Pin::new(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Reads and forgets what is left, within limits.
    async fn drain(mut self, max_bytes: u64) {
        let drained = async {
            let mut seen = 0;
            while seen <= max_bytes && !self.is_end_stream() {
                match self.frame().await {
                    Some(Ok(frame)) => seen += frame.data_ref().map_or(0, |data| data.len() as u64),
                    Some(Err(_)) | None => break,
                }
            }
        };
        // When the time is up the connection is simply closed.
        let _ = tokio::time::timeout(DRAIN_TIME, drained).await;
    }
}

impl http_body::Body for SharedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        self.with(|body| body.poll_frame(context))
    }

    fn is_end_stream(&self) -> bool {
        self.with(|body| body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.with(|body| body.size_hint())
    }
}
