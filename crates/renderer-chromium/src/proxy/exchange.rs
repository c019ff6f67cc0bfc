//! Exchanges with a site: tunnels for encrypted connections and WebSockets, and single requests of plain HTTP.

use std::sync::Arc;

use bytes::Bytes;
use fetcher::{Connector, FetchError};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;

use super::allowance::Allowance;
use super::metered::Metered;

pub type Reply = Response<BoxBody<Bytes, hyper::Error>>;

/// Failure to reach a site. The connection of the browser is closed without a response, which a script could not tell from one
/// of the site.
#[derive(Debug, thiserror::Error)]
#[error("the site cannot be reached")]
pub struct Unreachable;

/// Headers of one connection (RFC 9110, 7.6.1), which are not passed on.
const HOP_BY_HOP: [HeaderName; 8] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("proxy-connection"),
];

/// Asks for the password of a page.
pub fn unauthorized() -> Reply {
    let mut reply = empty(StatusCode::PROXY_AUTHENTICATION_REQUIRED);
    let challenge = HeaderValue::from_static("Basic realm=\"pages\"");
    reply.headers_mut().insert(header::PROXY_AUTHENTICATE, challenge);
    reply
}

/// Connects to the target of a CONNECT request, and passes bytes in both directions until the page ends.
pub async fn tunnel(request: Request<Incoming>, connector: &Connector, page: Arc<Allowance>) -> Reply {
    let Some(target) = request.uri().authority() else { return empty(StatusCode::BAD_REQUEST) };
    let mut site = match connector.connect(&format!("https://{target}/"), page.organization_id).await {
        Ok(stream) => Metered::new(stream, Arc::clone(&page)),
        Err(error) => {
            log(&error);
            return empty(StatusCode::FORBIDDEN);
        }
    };
    tokio::spawn(async move {
        let Ok(browser) = hyper::upgrade::on(request).await else { return };
        let mut browser = TokioIo::new(browser);
        tokio::select! {
            _ = tokio::io::copy_bidirectional(&mut browser, &mut site) => {}
            () = page.ended() => {}
        }
    });
    empty(StatusCode::OK)
}

/// Sends a request on a connection of its own and passes the response on.
///
/// # Errors
/// The site cannot be reached, or may not be.
pub async fn forward(
    request: Request<Incoming>,
    connector: &Connector,
    page: Arc<Allowance>,
) -> Result<Reply, Unreachable> {
    if request.uri().scheme_str() != Some("http") {
        return Ok(empty(StatusCode::BAD_REQUEST));
    }
    let connected = connector.connect(&request.uri().to_string(), page.organization_id).await;
    let stream = connected.map_err(|error| {
        log(&error);
        Unreachable
    })?;
    let site = TokioIo::new(Metered::new(stream, Arc::clone(&page)));
    let (mut sender, connection) = hyper::client::conn::http1::handshake(site).await.map_err(|_| Unreachable)?;
    tokio::spawn(async move {
        tokio::select! {
            _ = connection => {}
            () = page.ended() => {}
        }
    });
    let (mut head, body) = request.into_parts();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let Ok(uri) = path.parse::<Uri>() else { return Ok(empty(StatusCode::BAD_REQUEST)) };
    head.uri = uri;
    remove_hop_by_hop(&mut head.headers);
    let mut response = sender.send_request(Request::from_parts(head, body)).await.map_err(|_| Unreachable)?;
    remove_hop_by_hop(response.headers_mut());
    Ok(response.map(BodyExt::boxed))
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<String> = named.flat_map(|value| value.split(',')).map(|name| name.trim().to_owned()).collect();
    named.iter().for_each(|name| drop(headers.remove(name.as_str())));
    HOP_BY_HOP.iter().for_each(|name| drop(headers.remove(name)));
}

fn log(error: &FetchError) {
    tracing::debug!(%error, "a script's connection was refused or failed");
}

fn empty(status: StatusCode) -> Reply {
    let body = Empty::new().map_err(|never| match never {}).boxed();
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    reply
}
