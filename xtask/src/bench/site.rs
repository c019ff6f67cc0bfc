//! Web site on loopback that serves the same pages under any number of URLs.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// Site that is served until the process ends.
pub struct Site {
    base: String,
}

/// Content and behaviour of a site.
pub struct Pages {
    /// Loopback address; sites of different addresses are different hosts.
    pub host: &'static str,
    pub content_type: &'static str,
    /// Delay of every page.
    pub delay: Duration,
    pub bodies: Vec<Vec<u8>>,
}

impl Pages {
    /// Returns HTML pages of 127.0.0.1 that are served immediately.
    pub fn html(bodies: Vec<Vec<u8>>) -> Self {
        Self { host: "127.0.0.1", content_type: "text/html; charset=utf-8", delay: Duration::ZERO, bodies }
    }
}

impl Site {
    /// Starts the site.
    ///
    /// # Errors
    ///
    /// Returns an error if no port is available.
    pub fn start(pages: Pages) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((pages.host, 0))?;
        let base = format!("http://{}", listener.local_addr()?);
        let pages = Arc::new(pages);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let pages = Arc::clone(&pages);
                std::thread::spawn(move || while answer(&stream, &pages).is_some() {});
            }
        });
        Ok(Self { base })
    }

    /// Returns the URL with this number; pages repeat.
    pub fn url(&self, number: usize) -> String {
        format!("{}/page/{number}", self.base)
    }
}

/// Answers one request on a kept-alive connection. Returns `None` when the client disconnects.
fn answer(mut stream: &TcpStream, pages: &Pages) -> Option<()> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    lines.find(String::is_empty)?;
    let number = path.rsplit('/').next().and_then(|number| number.parse::<usize>().ok());
    let (status, page) = match number {
        Some(number) => {
            std::thread::sleep(pages.delay);
            ("200 OK", pages.bodies[number % pages.bodies.len()].as_slice())
        }
        None => ("404 Not Found", b"".as_slice()),
    };
    let (content_type, length) = (pages.content_type, page.len());
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n");
    stream.set_nodelay(true).ok()?;
    stream.write_all(&[head.as_bytes(), page].concat()).ok()
}
