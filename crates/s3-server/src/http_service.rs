//! HTTP layer around the S3 library: cross-origin uploads, and responses that reach their client.

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

use crate::presigned::{PresignedUrl, stated_size};
use crate::upload_length;

/// Limits for draining a rejected upload: time, and bytes beyond the largest object.
const DRAIN_TIME: Duration = Duration::from_secs(10);
const DRAIN_SPARE_BYTES: u64 = 1024 * 1024;

pub(crate) struct HttpService {
    pub s3: S3Service,
    pub max_object_bytes: u64,
}

impl HttpService {
    pub async fn handle(&self, request: Request<Incoming>) -> Result<Response<Body>, HttpError> {
        let is_presigned = matches!(PresignedUrl::find(request.uri()), Ok(Some(_)));
        if request.method() == Method::OPTIONS {
            return Ok(preflight(request.headers(), is_presigned));
        }
        let cross_origin = is_presigned && request.method() == Method::PUT;
        // A client that waits for `100 Continue` sends no body after a rejection, and reading would request it.
        let sends_at_once = !request.headers().contains_key(header::EXPECT);
        let (mut parts, body) = request.into_parts();
        let body = SharedBody(Arc::new(Mutex::new(body)));
        let size = if cross_origin { stated_size(&parts.uri) } else { None };
        let wrong_length = size.and_then(|size| upload_length::check(&mut parts.headers, size).err());
        let mut response = match wrong_length {
            Some(error) => error.to_http_response().map_err(|error| HttpError::new(Box::new(error)))?,
            None => self.s3.call(Request::from_parts(parts, Body::http_body_unsync(body.clone()))).await?,
        };
        if !response.status().is_success() && sends_at_once {
            body.drain(self.max_object_bytes + DRAIN_SPARE_BYTES).await;
        }
        if cross_origin {
            // Also on rejections, so that the page can show the reason.
            allow_any_origin(response.headers_mut());
            let exposed = HeaderValue::from_static("ETag");
            response.headers_mut().insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        }
        Ok(response)
    }
}

/// Responds to a CORS preflight, which a browser sends before a PUT to another origin. A presigned URL carries its own
/// authority and no cookies, so any page may use it; other requests are not for browsers.
fn preflight(headers: &HeaderMap, is_presigned: bool) -> Response<Body> {
    let requests_put = headers.get(header::ACCESS_CONTROL_REQUEST_METHOD).is_some_and(|method| method == "PUT");
    let mut response = Response::new(Body::empty());
    if !(is_presigned && requests_put) {
        *response.status_mut() = StatusCode::FORBIDDEN;
        return response;
    }
    *response.status_mut() = StatusCode::NO_CONTENT;
    let response_headers = response.headers_mut();
    allow_any_origin(response_headers);
    let mut set = |name: HeaderName, value| response_headers.insert(name, value);
    set(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("PUT"));
    set(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("900"));
    if let Some(requested) = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        set(header::ACCESS_CONTROL_ALLOW_HEADERS, requested.clone());
    }
    response
}

fn allow_any_origin(headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
}

/// Request body that stays available after the S3 library dropped its copy.
///
/// A response before the end of the body closes the connection. With unread bytes in its buffer the system sends a
/// reset, which may overtake the response: a client that is still sending would see "connection reset" instead of the
/// 403.
#[derive(Clone)]
struct SharedBody(Arc<Mutex<Incoming>>);

impl SharedBody {
    fn with<T>(&self, work: impl FnOnce(Pin<&mut Incoming>) -> T) -> T {
        work(Pin::new(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Reads and discards the rest of the body, within limits.
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
        // After the timeout the connection is simply closed.
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
