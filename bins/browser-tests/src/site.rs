//! A web site of one page, which a test changes.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Runs until the process ends.
pub struct Site {
    url: String,
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    page: String,
    hits: usize,
}

impl Site {
    pub fn start(page: String) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}/page", listener.local_addr()?);
        let shared = Arc::new(Mutex::new(Shared { page, hits: 0 }));
        let answered = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // The reader may disconnect early.
                let _ = answer(&stream, &answered);
            }
        });
        Ok(Self { url, shared })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn put(&self, page: String) {
        lock(&self.shared).page = page;
    }

    /// Returns how often the page was read.
    pub fn hits(&self) -> usize {
        lock(&self.shared).hits
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers one request: the page, or 404 as for robots.txt.
fn answer(mut stream: &TcpStream, shared: &Mutex<Shared>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let (status, body) = match request.starts_with("GET /page ") {
        true => {
            let mut shared = lock(shared);
            shared.hits += 1;
            ("200 OK", shared.page.clone())
        }
        false => ("404 Not Found", String::new()),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat())
}
