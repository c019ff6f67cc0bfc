//! An HTTP endpoint on loopback that follows a script, whatever it is asked to do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

/// A received request.
#[derive(Clone, Debug)]
pub struct Received {
    /// Request line and headers.
    pub head: String,
    pub body: Vec<u8>,
}

impl Received {
    /// Returns the value of a header, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).unwrap_or_default()
    }

    /// Returns the body, or null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// The reaction to a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// These bytes, from the status line on; then the connection closes.
    Raw(Vec<u8>),
    /// The first bytes, and then the second ones again and again until the client leaves.
    Endless(Vec<u8>, Vec<u8>),
    /// The first bytes, and then the second ones again and again with a pause, until the client leaves.
    Drip(Vec<u8>, Vec<u8>, Duration),
    /// The first bytes, and then nothing until the client leaves.
    Trickle(Vec<u8>),
    /// Nothing, until the client leaves.
    Silence,
    /// A closed connection.
    Close,
}

impl Reply {
    pub fn status(status: u16) -> Self {
        Self::other(status, &[], "")
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::other(status, &["Content-Type: application/json"], &body.to_string())
    }

    /// A body with this status and these headers, each `Name: value`.
    pub fn other(status: u16, headers: &[&str], body: &str) -> Self {
        let head = head(status, headers, body.len());
        Self::Raw(format!("{head}{body}").into_bytes())
    }

    /// A body that breaks off after its first byte, and one that stalls there, with this status and these headers.
    pub fn unfinished(status: u16, headers: &[&str]) -> [Self; 2] {
        let beginning = format!("{}{{", head(status, headers, 20)).into_bytes();
        [Self::Raw(beginning.clone()), Self::Trickle(beginning)]
    }
}

fn head(status: u16, headers: &[&str], length: usize) -> String {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    format!("HTTP/1.1 {status} Said\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n")
}

/// A running endpoint. It lives as long as the process.
pub struct Endpoint {
    base: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Endpoint {
    /// Starts an endpoint. The script gets each request with its number, from 0.
    pub fn start(script: impl Fn(usize, &Received) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let (script, log) = (Arc::new(script), Arc::clone(&received));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (script, log) = (Arc::clone(&script), Arc::clone(&log));
                std::thread::spawn(move || answer(&stream, &*script, &log));
            }
        });
        Self { base, received }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Returns the requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

/// Answers one request; each has its own connection.
fn answer(
    mut stream: &TcpStream,
    script: &dyn Fn(usize, &Received) -> Reply,
    log: &Mutex<Vec<Received>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut request = Received { head: String::new(), body: Vec::new() };
    while !request.head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut request.head).ok()? == 0 {
            return None;
        }
    }
    request.body = vec![0; request.header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut request.body).ok()?;
    let number = {
        let mut log = log.lock().unwrap();
        log.push(request.clone());
        log.len() - 1
    };
    match script(number, &request) {
        Reply::Raw(bytes) => stream.write_all(&bytes).ok(),
        Reply::Endless(first, again) => {
            stream.write_all(&first).ok()?;
            loop {
                stream.write_all(&again).ok()?;
            }
        }
        Reply::Drip(first, again, pause) => {
            stream.write_all(&first).ok()?;
            loop {
                std::thread::sleep(pause);
                stream.write_all(&again).ok()?;
            }
        }
        Reply::Trickle(first) => {
            stream.write_all(&first).ok()?;
            until_closed(&mut reader)
        }
        Reply::Silence => until_closed(&mut reader),
        Reply::Close => None,
    }
}

fn until_closed(reader: &mut BufReader<&TcpStream>) -> Option<()> {
    reader.read_to_end(&mut Vec::new()).ok().map(drop)
}
