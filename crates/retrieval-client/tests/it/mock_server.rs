//! Mock HTTP server of one test, which records requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A received request.
#[derive(Clone, Debug)]
pub struct Request {
    pub at: Instant,
    /// Method and target: `GET /v1/files`.
    pub line: String,
    /// Headers with names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// A scripted response.
pub enum Reply {
    /// Status, further header lines (each with CR LF), body.
    Full(u16, String, Vec<u8>),
    /// Closes the connection without a response.
    Close,
    /// Sends the head and half of the body, then closes the connection.
    Cut,
    /// Sends nothing for this time.
    Silence(Duration),
    /// Sends an endless body of spaces.
    Endless,
}

impl Reply {
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        Reply::Full(status, "Content-Type: application/json\r\n".to_owned(), body.to_string().into_bytes())
    }

    /// Returns an error envelope of the service.
    pub fn error(status: u16, code: &str) -> Self {
        let body = serde_json::json!({
            "type": "error", "request_id": "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001",
            "error": { "code": code, "message": format!("it is {code}"), "details": { "field": "query" } },
        });
        Reply::json(status, &body)
    }
}

/// A server that runs until the process ends.
pub struct MockServer {
    address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl MockServer {
    /// Starts a server. `answer` receives each request and the number of earlier ones.
    pub fn start(answer: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                // Many tests disconnect early.
                thread::spawn(move || drop(serve(&stream, &log, &*answer)));
            }
        });
        Self { address, requests }
    }

    /// Returns `http://127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(
    stream: &TcpStream,
    log: &Mutex<Vec<Request>>,
    answer: &(dyn Fn(&Request, usize) -> Reply + Send + Sync),
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader)? {
        let earlier = {
            let mut log = log.lock().unwrap();
            log.push(request.clone());
            log.len() - 1
        };
        let mut stream = stream;
        match answer(&request, earlier) {
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

fn read(reader: &mut impl BufRead) -> std::io::Result<Option<Request>> {
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
    let mut request = Request { at: Instant::now(), line, headers, body: Vec::new() };
    let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    reader.take(length).read_to_end(&mut request.body)?;
    Ok(Some(request))
}
