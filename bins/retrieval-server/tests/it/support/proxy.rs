//! A TCP proxy between the service and a backend, which a test can disturb.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Behaviour of a proxy.
#[derive(Clone, Copy, PartialEq)]
pub enum Line {
    /// Passes bytes on.
    Open,
    /// Accepts connections and stays silent, as an unreachable machine.
    Silent,
    /// Ends connections at once, as if the service had ended.
    Refusing,
    /// Passes every piece of bytes on after a delay.
    Slow(Duration),
    /// Responds to every HTTP request with this status.
    Failing(u16),
}

/// A running proxy. It lives as long as the process.
pub struct Proxy {
    pub address: String,
    shared: Arc<State>,
}

struct State {
    line: Mutex<Line>,
    upstream: Mutex<String>,
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Starts a proxy of `HOST:PORT`.
    pub fn start(upstream: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(State {
            line: Mutex::new(Line::Open),
            upstream: Mutex::new(upstream.to_owned()),
            open: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client_side in listener.incoming().map_while(Result::ok) {
                accepting.accept(client_side);
            }
        });
        Self { address, shared }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes the behaviour and ends all connections.
    pub fn set(&self, line: Line) {
        *self.shared.line.lock().unwrap() = line;
        self.disconnect();
    }

    /// Leads new connections to another backend and ends the others.
    pub fn redirect(&self, upstream: &str) {
        upstream.clone_into(&mut self.shared.upstream.lock().unwrap());
        self.disconnect();
    }

    pub fn disconnect(&self) {
        for stream in self.shared.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl State {
    fn accept(self: &Arc<Self>, client_side: TcpStream) {
        let line = *self.line.lock().unwrap();
        match line {
            Line::Silent => {}
            Line::Refusing => {
                let _ = client_side.shutdown(Shutdown::Both);
                return;
            }
            Line::Failing(status) => {
                let stream = client_side.try_clone().unwrap();
                std::thread::spawn(move || fail(&stream, status));
            }
            Line::Open | Line::Slow(_) => {
                let Ok(server_side) = TcpStream::connect(self.upstream.lock().unwrap().as_str()) else {
                    let _ = client_side.shutdown(Shutdown::Both);
                    return;
                };
                let delay = if let Line::Slow(delay) = line { delay } else { Duration::ZERO };
                join(&client_side, &server_side, delay);
                self.open.lock().unwrap().push(server_side);
            }
        }
        self.open.lock().unwrap().push(client_side);
    }
}

fn join(client_side: &TcpStream, server_side: &TcpStream, delay: Duration) {
    for (mut from, mut to) in [(client_side, server_side), (server_side, client_side)]
        .map(|(a, b)| (a.try_clone().unwrap(), b.try_clone().unwrap()))
    {
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                std::thread::sleep(delay);
                if to.write_all(&buffer[..count]).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Write);
        });
    }
}

/// Responds to one request, whatever it is.
fn fail(mut stream: &TcpStream, status: u16) {
    let _ = stream.read(&mut [0; 1 << 16]);
    let head = format!("HTTP/1.1 {status} Said\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.shutdown(Shutdown::Write);
    // Closing with unread bytes would reset the connection before the client reads the response.
    let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
    while let Ok(1..) = stream.read(&mut [0; 1 << 16]) {}
}
