//! A server of one test: it keeps what it was asked, and answers as the test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A request as it came in.
#[derive(Clone, Debug)]
pub struct Asked {
    pub at: Instant,
    /// Method and target: `GET /v1/files`.
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// What comes back.
pub enum Reply {
    /// Status, further header lines (each ends in CR LF), body.
    Full(u16, String, Vec<u8>),
    /// The connection ends without an answer.
    Close,
    /// The head of an answer, half of its body, and the end of the connection.
    Cut,
    /// Nothing, for so long.
    Silence(Duration),
    /// A body without end, of spaces.
    Endless,
}

impl Reply {
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        Reply::Full(status, "Content-Type: application/json\r\n".to_owned(), body.to_string().into_bytes())
    }

    /// The service's error envelope.
    pub fn error(status: u16, code: &str) -> Self {
        let body = serde_json::json!({
            "type": "error", "request_id": "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001",
            "error": { "code": code, "message": format!("it is {code}"), "details": { "field": "query" } },
        });
        Reply::json(status, &body)
    }
}

/// Serves until the process ends.
pub struct StandIn {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl StandIn {
    /// `answer` is given each request and how many came before it.
    pub fn start(answer: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (kept, answer) = (Arc::clone(&asked), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                // A client that goes away is part of many tests.
                thread::spawn(move || drop(serve(&stream, &kept, &*answer)));
            }
        });
        Self { address, asked }
    }

    /// `http://127.0.0.1:PORT`
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(
    stream: &TcpStream,
    kept: &Mutex<Vec<Asked>>,
    answer: &(dyn Fn(&Asked, usize) -> Reply + Send + Sync),
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(asked) = read(&mut reader)? {
        let before = {
            let mut kept = kept.lock().unwrap();
            kept.push(asked.clone());
            kept.len() - 1
        };
        let mut stream = stream;
        match answer(&asked, before) {
            Reply::Full(status, headers, body) => {
                let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
                stream.write_all(&[head.as_bytes(), &body].concat())?;
            }
            Reply::Close => return Ok(()),
            Reply::Cut => return stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{\"request_"),
            Reply::Silence(time) => {
                thread::sleep(time);
                return Ok(());
            }
            Reply::Endless => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n")?;
                let spaces = vec![b' '; 1 << 20];
                loop {
                    stream.write_all(&spaces)?;
                }
            }
        }
    }
    Ok(())
}

fn read(reader: &mut impl BufRead) -> std::io::Result<Option<Asked>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let line = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    let mut asked = Asked { at: Instant::now(), line, headers, body: Vec::new() };
    let length = asked.header("content-length").map_or(0, |length| length.parse().unwrap());
    reader.take(length).read_to_end(&mut asked.body)?;
    Ok(Some(asked))
}
