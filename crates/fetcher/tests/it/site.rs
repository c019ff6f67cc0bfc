//! A web site that says exactly what a test wants it to, byte by byte.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A piece of an answer.
#[derive(Clone)]
pub enum Piece {
    Bytes(Vec<u8>),
    /// The same bytes over and over, with a pause after each, until the client leaves.
    Forever(Vec<u8>, Duration),
    Pause(Duration),
}

pub type Answer = Vec<Piece>;

/// Runs until the test's runtime ends. Each connection is closed after one answer.
pub struct Site {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    written: Arc<Mutex<usize>>,
}

impl Site {
    /// `answer` gets the path of the request and its whole head.
    pub async fn start(answer: impl Fn(&str, &str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::new(Mutex::new(0));
        let answer = Arc::new(answer);
        let site = Self { address, requests: Arc::clone(&requests), written: Arc::clone(&written) };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&answer), Arc::clone(&requests), Arc::clone(&written)));
            }
        });
        site
    }

    /// A site with the same answer to everything.
    pub async fn saying(answer: impl Into<Vec<u8>>) -> Self {
        let answer = vec![Piece::Bytes(answer.into())];
        Self::start(move |_, _| answer.clone()).await
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The same, under a name that [`crate::world::fetcher`] knows.
    pub fn named(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.address.port())
    }

    /// The heads of all requests until now.
    pub fn heads(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// The paths of all requests until now.
    pub fn paths(&self) -> Vec<String> {
        self.heads().iter().map(|head| path_of(head).to_owned()).collect()
    }

    /// Bytes that the client took, or that the system holds for it.
    pub fn written(&self) -> usize {
        *self.written.lock().unwrap()
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: Arc<impl Fn(&str, &str) -> Answer>,
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
    for piece in answer(path_of(&head), &head) {
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
    // Closing with unread bytes would reset the connection under the answer.
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.read(&mut [0; 64])).await;
}

fn path_of(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or_default()
}

/// A whole answer: a status line, headers and a body.
pub fn answer(status: &str, headers: &[&str], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    [head.as_bytes(), b"\r\n", body].concat()
}

/// A page of HTML.
pub fn page(body: impl AsRef<[u8]>) -> Vec<u8> {
    answer("200 OK", &["Content-Type: text/html"], body)
}

/// A redirect.
pub fn to(location: &str) -> Vec<u8> {
    answer("302 Found", &[&format!("Location: {location}")], "")
}

pub fn bytes(bytes: Vec<u8>) -> Answer {
    vec![Piece::Bytes(bytes)]
}
