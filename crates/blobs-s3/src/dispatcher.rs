//! Sends the S3 library's requests over `reqwest`.
//!
//! The library's own client uses either OpenSSL or a `rustls` with a published advisory, and has no timeouts. See
//! `vendor/hyper-tls/README.md`.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use blobs::{BlobError, BlobErrorKind};
use futures_util::TryStreamExt;
use http02::{HeaderMap, HeaderName, StatusCode};
use reqwest::header::CONTENT_LENGTH;
use reqwest::{Body, Method, Request, Url};
use rusoto_core::ByteStream;
use rusoto_core::request::{DispatchSignedRequest, DispatchSignedRequestFuture, HttpDispatchError, HttpResponse};
use rusoto_core::signature::{SignedRequest, SignedRequestPayload};
use tokio::sync::Semaphore;

use crate::credentials::Credentials;
use crate::endpoint::Endpoint;
use crate::listing;

/// Shorter than a server's idle timeout (60 s is common), to avoid writing to a connection that is being closed.
const POOL_IDLE: Duration = Duration::from_secs(20);

/// Response headers passed to the library. It unwraps the values of others, so those are withheld. The last two tell if an ETag
/// is the MD5 of its object.
const PASSED_HEADERS: [&str; 6] = [
    "content-length",
    "content-type",
    "etag",
    "last-modified",
    "x-amz-server-side-encryption",
    "x-amz-server-side-encryption-customer-algorithm",
];

pub(crate) struct Dispatcher {
    client: reqwest::Client,
    credentials: Arc<Credentials>,
    endpoint: Endpoint,
    /// Permits of requests.
    requests: Arc<Semaphore>,
}

impl Dispatcher {
    pub fn new(
        endpoint: Endpoint,
        credentials: Arc<Credentials>,
        connect_timeout: Duration,
        max_requests: Option<usize>,
    ) -> Result<Self, BlobError> {
        let client = reqwest::Client::builder()
            .connect_timeout(connect_timeout)
            .pool_idle_timeout(POOL_IDLE)
            .tcp_nodelay(true)
            // Stores use HTTP/1.1, where the signed `Host` is an ordinary header.
            .http1_only()
            // Objects are returned as stored, whatever their Content-Encoding.
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            // A signature is valid for one host.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            // Loading the certificates takes longer than the rest of the startup.
            .tls_built_in_root_certs(endpoint.scheme == "https")
            .build()
            .map_err(|error| {
                BlobError::new(BlobErrorKind::Failed, "cannot create the HTTP client").with_source(error)
            })?;
        let requests = Arc::new(Semaphore::new(max_requests.unwrap_or(Semaphore::MAX_PERMITS)));
        Ok(Self { client, credentials, endpoint, requests })
    }

    /// Signs and converts the request. Signing is last, because the addressing style changes the signed values.
    fn prepare(&self, mut request: SignedRequest) -> Result<Request, HttpDispatchError> {
        let refuse = |reason: &str| HttpDispatchError::new(format!("cannot create the request: {reason}"));
        if let Some(path) = self.endpoint.without_bucket(&request.path) {
            request.path = path;
            request.set_hostname(Some(self.endpoint.host()));
        }
        let credentials = self.credentials.known().ok_or_else(|| refuse("the credentials have expired"))?;
        request.sign(&credentials);

        let mut address = format!("{}://{}{}", request.scheme(), request.hostname(), request.canonical_uri());
        if !request.canonical_query_string().is_empty() {
            address.push('?');
            address.push_str(request.canonical_query_string());
        }
        let url = Url::parse(&address).map_err(|_| refuse("invalid URL"))?;
        let method = Method::from_bytes(request.method().as_bytes()).map_err(|_| refuse("invalid method"))?;
        let has_body = request.payload.is_some() || method == Method::PUT;
        let mut prepared = Request::new(method, url);
        for (name, values) in request.headers() {
            let name =
                reqwest::header::HeaderName::from_bytes(name.as_bytes()).map_err(|_| refuse("invalid header name"))?;
            if name == CONTENT_LENGTH && !has_body {
                continue;
            }
            for value in values {
                let value =
                    reqwest::header::HeaderValue::from_bytes(value).map_err(|_| refuse("invalid header value"))?;
                prepared.headers_mut().append(name.clone(), value);
            }
        }
        *prepared.body_mut() = request.payload.map(|payload| match payload {
            SignedRequestPayload::Buffer(bytes) => Body::from(bytes),
            SignedRequestPayload::Stream(stream) => Body::wrap_stream(stream),
        });
        Ok(prepared)
    }
}

impl DispatchSignedRequest for Dispatcher {
    fn dispatch(&self, request: SignedRequest, _: Option<Duration>) -> DispatchSignedRequestFuture {
        let is_listing = request.method == "GET" && request.params.contains_key("list-type");
        let prepared = self.prepare(request);
        let (client, requests) = (self.client.clone(), Arc::clone(&self.requests));
        Box::pin(async move {
            let permit = requests.acquire_owned().await.map_err(|error| HttpDispatchError::new(error.to_string()))?;
            let response = client.execute(prepared?).await.map_err(|error| HttpDispatchError::new(describe(&error)))?;
            let status = StatusCode::from_u16(response.status().as_u16())
                .map_err(|error| HttpDispatchError::new(error.to_string()))?;
            let headers = passed_headers(response.headers());
            let body = response.bytes_stream();
            let body = match is_listing && status.is_success() {
                true => ByteStream::from(listing::read(body).await?),
                // The connection is in use until the end of the body, which keeps the permit.
                false => ByteStream::new(body.map_err(io::Error::other).inspect_ok(move |_| {
                    let _kept = &permit;
                })),
            };
            Ok(HttpResponse { status, headers, body })
        })
    }
}

fn passed_headers(from: &reqwest::header::HeaderMap) -> HeaderMap<String> {
    PASSED_HEADERS
        .into_iter()
        .filter_map(|name| {
            let value = from.get(name)?.to_str().ok()?;
            let is_valid = name != "content-length" || value.parse::<i64>().is_ok();
            is_valid.then(|| (HeaderName::from_static(name), value.to_owned()))
        })
        .collect()
}

/// Formats an error with its causes, because the library's error type contains only text. The URL is omitted: it may
/// contain a signature.
fn describe(error: &reqwest::Error) -> String {
    let mut text = if error.is_connect() { "cannot connect" } else { "no response" }.to_owned();
    error_causes::append_causes(&mut text, error);
    text
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use super::*;
    use rusoto_core::Region;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// Returns a dispatcher that sends one request at a time, and a request of it.
    fn dispatcher(address: &str, path_style: bool, path: &str) -> (Dispatcher, SignedRequest) {
        let endpoint = Endpoint::new(Some(address), "r", "files", path_style).unwrap();
        let region = Region::Custom { name: "r".to_owned(), endpoint: endpoint.base() };
        let credentials = Credentials::fixed("id".to_owned(), "secret".to_owned(), Some("token".to_owned()));
        let dispatcher = Dispatcher::new(endpoint, Arc::new(credentials), Duration::from_secs(1), Some(1)).unwrap();
        (dispatcher, SignedRequest::new("GET", "s3", &region, path))
    }

    fn prepared(path_style: bool, path: &str) -> Request {
        let (dispatcher, mut request) = dispatcher("https://store.example:9000/s3", path_style, path);
        request.add_param("list-type", "2");
        dispatcher.prepare(request).unwrap()
    }

    #[tokio::test]
    async fn a_request_is_counted_until_its_body_is_dropped() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut connection, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                connection.read_buf(&mut head).await.unwrap();
            }
            connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx").await.unwrap();
        });
        let (dispatcher, request) = dispatcher(&address, true, "/files/k");
        let response = dispatcher.dispatch(request, None).await.unwrap();
        assert_eq!(dispatcher.requests.available_permits(), 0);
        drop(response);
        assert_eq!(dispatcher.requests.available_permits(), 1);
    }

    #[test]
    fn both_addressing_styles_are_signed() {
        for (path_style, path, url, host) in [
            (true, "/files/a b", "https://store.example:9000/s3/files/a%20b?list-type=2", "store.example:9000"),
            (false, "/files/a b", "https://files.store.example:9000/s3/a%20b?list-type=2", "files.store.example:9000"),
            (false, "/files", "https://files.store.example:9000/s3/?list-type=2", "files.store.example:9000"),
        ] {
            let request = prepared(path_style, path);
            assert_eq!(request.url().as_str(), url);
            assert_eq!(request.headers()["host"], host);
            assert_eq!(request.headers()["x-amz-security-token"], "token");
            let authorization = request.headers()["authorization"].to_str().unwrap();
            assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=id/"), "{authorization}");
            assert!(authorization.contains("/r/s3/aws4_request, SignedHeaders=content-type;host;"), "{authorization}");
            assert!(!request.headers().contains_key("content-length"), "a GET has no body");
        }
    }
}
