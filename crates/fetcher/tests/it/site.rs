//! Test web site that sends scripted responses byte by byte.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Part of a scripted response.
#[derive(Clone)]
pub enum Piece {
    Bytes(Vec<u8>),
    /// Sends the bytes repeatedly, with a pause after each, until the client disconnects.
    Forever(Vec<u8>, Duration),
    Pause(Duration),
}

pub type Response = Vec<Piece>;

/// Test site that runs until the test's runtime ends. Closes each connection after one response.
pub struct Site {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    written: Arc<Mutex<usize>>,
}

impl Site {
    /// Starts a site. `response` receives the path and the headers of each request.
    pub async fn start(response: impl Fn(&str, &str) -> Response + Send + Sync + 'static) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.unwrap(), response)
    }

    /// Starts a site that accepts the connections of `listener`.
    pub fn on(listener: TcpListener, response: impl Fn(&str, &str) -> Response + Send + Sync + 'static) -> Self {
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::new(Mutex::new(0));
        let response = Arc::new(response);
        let site = Self { address, requests: Arc::clone(&requests), written: Arc::clone(&written) };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&response), Arc::clone(&requests), Arc::clone(&written)));
            }
        });
        site
    }

    /// Starts a site with one response for every request.
    pub async fn serving(response: impl Into<Vec<u8>>) -> Self {
        let response = vec![Piece::Bytes(response.into())];
        Self::start(move |_, _| response.clone()).await
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns a URL with a host name that [`crate::support::fetcher`] resolves.
    pub fn url_for(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.address.port())
    }

    /// Request line and headers of every request so far.
    pub fn heads(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Path of every request so far.
    pub fn paths(&self) -> Vec<String> {
        self.heads().iter().map(|head| path_of(head).to_owned()).collect()
    }

    /// Bytes read by the client or buffered by the system.
    pub fn written(&self) -> usize {
        *self.written.lock().unwrap()
    }
}

async fn serve(
    mut stream: TcpStream,
    response: Arc<impl Fn(&str, &str) -> Response>,
    requests: Arc<Mutex<Vec<String>>>,
    written: Arc<Mutex<usize>>,
) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match stream.read(&mut byte).await {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    requests.lock().unwrap().push(head.clone());
    for piece in response(path_of(&head), &head) {
        match piece {
            Piece::Pause(pause) => tokio::time::sleep(pause).await,
            Piece::Bytes(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
                *written.lock().unwrap() += bytes.len();
            }
            Piece::Forever(bytes, pause) => {
                while stream.write_all(&bytes).await.is_ok() {
                    *written.lock().unwrap() += bytes.len();
                    tokio::time::sleep(pause).await;
                }
                return;
            }
        }
    }
    let _ = stream.shutdown().await;
    // Closing with unread bytes would reset the connection before the client reads the response.
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.read(&mut [0; 64])).await;
}

fn path_of(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or_default()
}

/// Formats a response from status line, headers and body.
pub fn response(status: &str, headers: &[&str], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    [head.as_bytes(), b"\r\n", body].concat()
}

/// Formats a page of HTML.
pub fn page(body: impl AsRef<[u8]>) -> Vec<u8> {
    response("200 OK", &["Content-Type: text/html"], body)
}

/// Formats a redirect.
pub fn redirect_to(location: &str) -> Vec<u8> {
    response("302 Found", &[&format!("Location: {location}")], "")
}

pub fn bytes(bytes: Vec<u8>) -> Response {
    vec![Piece::Bytes(bytes)]
}

/// Response that announces a short body and does not send it.
pub fn without_body(status: &str, header: &str) -> Response {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n{header}\r\n\r\n");
    vec![Piece::Bytes(head.into_bytes()), Piece::Pause(Duration::from_secs(60))]
}
