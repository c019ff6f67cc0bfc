//! Connection to a browser that others started.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::Request;
use hyper::header::HOST;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::client_async_with_config;
use url::Url;

use super::Devtools;
use super::wire;
use crate::options::StartError;

const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of the answer that names the WebSocket.
const MAX_ANSWER: usize = 64 * 1024;

/// Connects to the DevTools address of a browser.
///
/// # Errors
/// `InvalidUrl`, `Unreachable`.
pub async fn connect(address: &str, max_message: usize) -> Result<Devtools, StartError> {
    let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "ws") && url.has_host());
    let Some(url) = url else { return Err(StartError::invalid_url(address)) };
    let unreachable = |reason: String| StartError::unreachable(address, reason);
    match tokio::time::timeout(TIMEOUT, open(&url, max_message)).await {
        Ok(connected) => connected.map_err(unreachable),
        Err(_) => Err(unreachable(format!("no answer within {TIMEOUT:?}"))),
    }
}

async fn open(url: &Url, max_message: usize) -> Result<Devtools, String> {
    let stream = connection(url).await?;
    let stream = match url.scheme() {
        "ws" => stream,
        _ => return Box::pin(open(&socket_address(url, stream).await?, max_message)).await,
    };
    let host = stream.peer_addr().map_err(|error| error.to_string())?;
    let request = format!("ws://{host}{}", &url[url::Position::BeforePath..]);
    let (socket, _) =
        client_async_with_config(request, stream, Some(wire::socket_config())).await.map_err(|e| e.to_string())?;
    Ok(Devtools::new(wire::socket(socket, max_message)))
}

async fn connection(url: &Url) -> Result<TcpStream, String> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let port = url.port_or_known_default().unwrap_or_default();
    let stream = TcpStream::connect((host, port)).await.map_err(|error| error.to_string())?;
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

/// Asks for the WebSocket of the browser. Its path counts; the host may be one that only the browser's machine knows.
async fn socket_address(url: &Url, stream: TcpStream) -> Result<Url, String> {
    // Chromium refuses other names than `localhost`.
    let host = stream.peer_addr().map_err(|error| error.to_string())?.to_string();
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| error.to_string())?;
    let connection = tokio::spawn(connection);
    let request = Request::get("/json/version").header(HOST, host).body(Empty::<Bytes>::new());
    let response = sender.send_request(request.map_err(|error| error.to_string())?).await;
    let response = response.map_err(|error| error.to_string())?;
    let status = response.status();
    let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await.map_err(|error| error.to_string())?;
    connection.abort();
    let answer: Value = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
    let named = answer["webSocketDebuggerUrl"].as_str().and_then(|named| Url::parse(named).ok());
    let named = named.ok_or_else(|| format!("`/json/version` answered {status} without `webSocketDebuggerUrl`"))?;
    let mut socket = url.clone();
    socket.set_path(named.path());
    socket.set_scheme("ws").map_err(|()| "no WebSocket address".to_owned())?;
    Ok(socket)
}
