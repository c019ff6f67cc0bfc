//! HTTP layer around the S3 library: cross-origin uploads, harmless downloads, and responses that reach their client.

use connections::Requests;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use s3s::service::S3Service;
use s3s::{Body, HttpError, s3_error};

use crate::Paces;
use crate::presigned::{PresignedUrl, stated_size};
use crate::served_body::ServedBody;
use crate::shared_body::SharedBody;
use crate::upload_length;

/// Bytes beyond the largest object that are drained of a rejected upload.
const DRAIN_SPARE_BYTES: u64 = 1024 * 1024;

pub(crate) struct HttpService {
    pub s3: S3Service,
    pub max_object_bytes: u64,
    pub paces: Paces,
}

impl HttpService {
    /// Responds to a request. The connection is in use until the response has been sent, except while the rest of a
    /// rejected upload is drained: rejections need no key, so they must not keep others out.
    pub async fn handle(
        &self,
        request: Request<Incoming>,
        connection: &Requests,
    ) -> Result<Response<ServedBody>, HttpError> {
        let mut serving = connection.serve();
        let is_presigned = matches!(PresignedUrl::find(request.uri()), Ok(Some(_)));
        if request.method() == Method::OPTIONS {
            return Ok(preflight(request.headers(), is_presigned).map(|body| ServedBody::new(body, serving)));
        }
        let cross_origin = is_presigned && request.method() == Method::PUT;
        let is_download = is_presigned && request.method() == Method::GET;
        // A client that waits for `100 Continue` sends no body after a rejection, and reading would request it.
        let sends_at_once = !request.headers().contains_key(header::EXPECT);
        let (mut parts, body) = request.into_parts();
        let body = SharedBody::new(body, self.paces);
        let size = if cross_origin { stated_size(&parts.uri) } else { None };
        let refusal = if parts.method == Method::POST && is_form(&parts.headers) {
            Some(s3_error!(NotImplemented, "Uploads by form are not supported here"))
        } else {
            size.and_then(|size| upload_length::check(&mut parts.headers, size).err())
        };
        let mut response = match refusal {
            Some(error) => error.to_http_response().map_err(|error| HttpError::new(Box::new(error)))?,
            None => self.s3.call(Request::from_parts(parts, Body::http_body_unsync(body.clone()))).await?,
        };
        if !response.status().is_success() && sends_at_once {
            drop(serving);
            body.drain(self.max_object_bytes + DRAIN_SPARE_BYTES).await;
            serving = connection.serve();
        }
        if cross_origin {
            // Also on rejections, so that the page can show the reason.
            allow_any_origin(response.headers_mut());
            let exposed = HeaderValue::from_static("ETag");
            response.headers_mut().insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        }
        if is_download {
            isolate(response.headers_mut());
        }
        Ok(response.map(|body| ServedBody::new(body, serving)))
    }
}

/// Returns true for every type that the S3 library reads as a form. It does so before it looks for a signature, and keeps
/// the whole form in memory. A suffix (`multipart/form-data+x`) makes no difference to it.
fn is_form(headers: &HeaderMap) -> bool {
    const FORM: &[u8] = b"multipart/form-data";
    let is_form =
        |value: &HeaderValue| value.as_bytes().get(..FORM.len()).is_some_and(|start| start.eq_ignore_ascii_case(FORM));
    headers.get_all(header::CONTENT_TYPE).iter().any(is_form)
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

/// Keeps a browser from interpreting a downloaded object, which anyone may have written.
fn isolate(headers: &mut HeaderMap) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
}

fn allow_any_origin(headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
}
