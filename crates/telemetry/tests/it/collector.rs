//! A collector that keeps what it receives.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

/// Deadline of a request that must come.
const DEADLINE: Duration = Duration::from_secs(30);

/// Answer of a collector: status, further headers, body.
pub type Answer = (u16, &'static str, &'static str);

pub const OK: Answer = (200, "", r#"{"partialSuccess":{}}"#);

/// Received request.
pub struct Received {
    /// Request line and headers.
    pub head: String,
    pub body: Value,
}

impl Received {
    pub fn spans(&self) -> Vec<Value> {
        self.body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().cloned().unwrap_or_default()
    }

    pub fn names(&self) -> Vec<String> {
        self.spans().iter().map(|span| span["name"].as_str().unwrap().to_owned()).collect()
    }
}

pub struct Collector {
    pub address: SocketAddr,
    received: Receiver<Received>,
}

impl Collector {
    /// Gives the answers in turn, and the last one from then on. Without answers it reads and never answers.
    pub fn start(answers: &[Answer]) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), answers)
    }

    pub fn on(listener: TcpListener, answers: &[Answer]) -> Self {
        let address = listener.local_addr().unwrap();
        let (sender, received) = channel();
        let answers = Arc::new(Mutex::new(answers.to_vec()));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answers, sender) = (Arc::clone(&answers), sender.clone());
                std::thread::spawn(move || while serve(&stream, &answers, &sender).is_some() {});
            }
        });
        Self { address, received }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits for the next request.
    pub fn next(&self) -> Received {
        self.received.recv_timeout(DEADLINE).unwrap()
    }

    /// Returns the requests that have arrived.
    pub fn rest(&self) -> Vec<Received> {
        self.received.try_iter().collect()
    }
}

fn serve(stream: &TcpStream, answers: &Mutex<Vec<Answer>>, sender: &Sender<Received>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let answer = {
        let mut answers = answers.lock().unwrap();
        if answers.len() > 1 { Some(answers.remove(0)) } else { answers.first().copied() }
    };
    sender.send(Received { head, body: serde_json::from_slice(&body).unwrap() }).ok()?;
    let Some((status, headers, body)) = answer else {
        // The connection stays open until the client gives up.
        let _ = reader.read(&mut [0]);
        return None;
    };
    let length = body.len();
    let mut stream = stream;
    write!(stream, "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{headers}\r\n{body}").ok()
}
