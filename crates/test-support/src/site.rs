//! A web site on loopback whose pages a test sets.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// The answer of a path.
#[derive(Clone, Default)]
pub struct Page {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Time before the answer begins.
    pub pause: Duration,
}

impl Page {
    pub fn html(body: &str) -> Self {
        Self::of("text/html; charset=utf-8", format!("<!doctype html><html lang=en><body>{body}</body></html>"))
    }

    pub fn of(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, body: body.into(), ..Self::default() }.with("Content-Type", content_type)
    }

    pub fn status(status: u16) -> Self {
        Self { status, ..Self::of("text/html", "<p>This is what the site says about it.</p>") }
    }

    pub fn redirect(location: &str) -> Self {
        Self { status: 302, ..Self::default() }.with("Location", location)
    }

    pub fn with(mut self, header: &str, value: &str) -> Self {
        self.headers.push((header.to_owned(), value.to_owned()));
        self
    }

    pub fn after(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }
}

/// A running site. Unknown paths answer 404; a page with an `ETag` answers 304 to a request that names it.
pub struct Site {
    pub base: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    released: Condvar,
}

#[derive(Default)]
struct State {
    /// Requests wait before they are answered.
    held: bool,
    pages: HashMap<String, Page>,
    /// The heads of all requests, by path.
    requests: HashMap<String, Vec<String>>,
}

impl Site {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared::default());
        let site = Self { base, shared: Arc::clone(&shared) };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || answer(&stream, &shared));
            }
        });
        site
    }

    /// Sets a page and returns its URL.
    pub fn put(&self, path: &str, page: Page) -> String {
        self.shared.state.lock().unwrap().pages.insert(path.to_owned(), page);
        self.url(path)
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// From now on requests wait for [`release`](Self::release) before they are answered.
    pub fn hold(&self) {
        self.shared.state.lock().unwrap().held = true;
    }

    pub fn release(&self) {
        self.shared.state.lock().unwrap().held = false;
        self.shared.released.notify_all();
    }

    /// The heads of the requests for the path so far.
    pub fn requests(&self, path: &str) -> Vec<String> {
        self.shared.state.lock().unwrap().requests.get(path).cloned().unwrap_or_default()
    }

    pub fn hits(&self, path: &str) -> usize {
        self.requests(path).len()
    }
}

fn answer(mut stream: &TcpStream, shared: &Shared) -> Option<()> {
    let mut head = String::new();
    let mut reader = BufReader::new(stream);
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let path = head.split(' ').nth(1)?.to_owned();
    let page = {
        let mut state = shared.state.lock().unwrap();
        state.requests.entry(path.clone()).or_default().push(head.clone());
        state = shared.released.wait_while(state, |state| state.held).unwrap();
        state.pages.get(&path).cloned()
    };
    let Page { mut status, headers, mut body, pause } = page.unwrap_or(Page { status: 404, ..Page::default() });
    let header = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    if header("ETag").is_some_and(|etag| head.to_ascii_lowercase().contains(&format!("if-none-match: {etag}"))) {
        (status, body) = (304, Vec::new());
    }
    std::thread::sleep(pause);
    let mut said = format!("HTTP/1.1 {status} Said\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    for (name, value) in &headers {
        said.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{said}\r\n").as_bytes()).ok()?;
    stream.write_all(&body).ok()
}
