//! A web site on loopback for crawls: pages by rule, and a log of all requests with their times.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::site::Page;

/// Request of a crawler.
#[derive(Clone, Debug)]
pub struct Request {
    /// Path and query.
    pub path: String,
    pub head: String,
    pub began: Instant,
    pub ended: Instant,
}

impl Request {
    /// Returns true if the request names what the crawler knows already.
    pub fn is_conditional(&self) -> bool {
        let head = self.head.to_ascii_lowercase();
        head.contains("\r\nif-none-match:") || head.contains("\r\nif-modified-since:")
    }
}

/// Answer to a path.
pub type Answer = Box<dyn Fn(&str) -> Page + Send + Sync>;

/// A running site. Sites of different loopback addresses are different hosts.
pub struct CrawlSite {
    pub base: String,
    shared: Arc<Shared>,
}

struct Shared {
    answer: Mutex<Arc<Answer>>,
    log: Mutex<Vec<Request>>,
    is_closed: AtomicBool,
}

impl CrawlSite {
    /// Starts a site at a loopback address such as `127.0.0.2`. A page with an `ETag` answers 304 to a request that names it.
    pub fn start(address: &str, answer: impl Fn(&str) -> Page + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            answer: Mutex::new(Arc::new(Box::new(answer))),
            log: Mutex::default(),
            is_closed: AtomicBool::new(false),
        });
        let site = Self { base, shared: Arc::clone(&shared) };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if shared.is_closed.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(&stream, &shared));
            }
        });
        site
    }

    /// Closes the site: it refuses connections from now on.
    pub fn close(&self) {
        self.shared.is_closed.store(true, Ordering::SeqCst);
        // Wakes the listener, which ends with its thread.
        let address = self.base.trim_start_matches("http://");
        while TcpStream::connect(address).is_ok() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// Replaces the answers.
    pub fn change(&self, answer: impl Fn(&str) -> Page + Send + Sync + 'static) {
        *self.shared.answer.lock().unwrap() = Arc::new(Box::new(answer));
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Returns and forgets the requests so far, in the order of their begin.
    pub fn take_log(&self) -> Vec<Request> {
        let mut log = std::mem::take(&mut *self.shared.log.lock().unwrap());
        log.sort_by_key(|request| request.began);
        log
    }

    /// Paths of the requests so far.
    pub fn paths(&self) -> Vec<String> {
        self.shared.log.lock().unwrap().iter().map(|request| request.path.clone()).collect()
    }
}

fn serve(mut stream: &TcpStream, shared: &Shared) -> Option<()> {
    let mut head = String::new();
    let mut reader = BufReader::new(stream);
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let began = Instant::now();
    let path = head.split(' ').nth(1)?.to_owned();
    let answer = Arc::clone(&shared.answer.lock().unwrap());
    let Page { mut status, headers, mut body, pause } = answer(&path);
    let etag = headers.iter().find(|(name, _)| name == "ETag").map(|(_, value)| value.clone());
    if etag
        .is_some_and(|etag| head.to_ascii_lowercase().contains(&format!("if-none-match: {etag}").to_ascii_lowercase()))
    {
        (status, body) = (304, Vec::new());
    }
    std::thread::sleep(pause);
    let mut said = format!("HTTP/1.1 {status} Said\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    for (name, value) in &headers {
        said.push_str(&format!("{name}: {value}\r\n"));
    }
    // Before the last byte: the crawler's next request comes after this one.
    shared.log.lock().unwrap().push(Request { path, head, began, ended: Instant::now() });
    stream.write_all(format!("{said}\r\n").as_bytes()).ok()?;
    stream.write_all(&body).ok()
}

/// Returns a page of generated words with a title and links; equal numbers give equal pages.
pub fn generated(number: usize, links: &[String]) -> Page {
    const WORDS: [&str; 16] = [
        "amber", "basalt", "cedar", "delta", "ember", "fjord", "granite", "harbour", "island", "juniper", "kelp",
        "lagoon", "meadow", "nectar", "orchid", "prairie",
    ];
    let word = |n: usize| WORDS[n % WORDS.len()];
    let text: String = (0..120).map(|n| format!("{} ", word(number / (n % 7 + 1) + n * n + number * n))).collect();
    let links: String = links.iter().map(|link| format!("<li><a href=\"{link}\">more</a></li>")).collect();
    let head = format!("<title>Report {number}</title>");
    let body = format!("<h1>Report {number}</h1><p>Number{number} {text}</p><ul>{links}</ul>");
    let html = format!("<!doctype html><html lang=en><head>{head}</head><body>{body}</body></html>");
    Page::of("text/html; charset=utf-8", html).with("ETag", &format!("\"v-{number}\""))
}
