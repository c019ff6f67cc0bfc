//! Sites on loopback: one whose responses a test sets, and one that must not be reached.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Response of a site: headers and body.
pub type Response = (String, Vec<u8>);

/// Site that a page may connect to. It never answers `/hang`, and sends zeros on `/endless` for ever.
pub struct Site {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub fn start(respond: impl Fn(&str) -> Response + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (log, respond) = (Arc::clone(&requests), Arc::new(respond));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (log, respond) = (Arc::clone(&log), Arc::clone(&respond));
                std::thread::spawn(move || serve(stream, &log, respond.as_ref()));
            }
        });
        Self { address, requests }
    }

    /// Starts a site without pages.
    pub fn empty() -> Self {
        Self::start(|_| plain(""))
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Heads of all requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Paths of all requests so far.
    pub fn paths(&self) -> Vec<String> {
        self.requests().iter().map(|head| head.split(' ').nth(1).unwrap_or_default().to_owned()).collect()
    }
}

fn serve(mut stream: TcpStream, log: &Mutex<Vec<String>>, respond: &dyn Fn(&str) -> Response) {
    let mut head = String::new();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while !head.ends_with("\r\n\r\n") {
        if !reader.read_line(&mut head).is_ok_and(|read| read > 0) {
            return;
        }
    }
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    log.lock().unwrap().push(head);
    if path == "/hang" {
        // Until the browser closes the connection.
        let _ = reader.read(&mut [0]);
        return;
    }
    if path == "/endless" {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n");
        while stream.write_all(&[0; 64 * 1024]).is_ok() {}
        return;
    }
    let (headers, body) = respond(&path);
    let status = if headers.contains("Location:") { "302 Found" } else { "200 OK" };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n", body.len());
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(&body);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = reader.read(&mut [0; 64]);
}

pub fn plain(body: &str) -> Response {
    ("Content-Type: text/plain\r\n".to_owned(), body.as_bytes().to_vec())
}

pub fn script(body: &str) -> Response {
    ("Content-Type: text/javascript\r\n".to_owned(), body.as_bytes().to_vec())
}

pub fn redirect(location: &str) -> Response {
    (format!("Location: {location}\r\nAccess-Control-Allow-Origin: *\r\n"), Vec::new())
}

/// Address that no page may connect to. It counts TCP connections and UDP packets.
pub struct Forbidden {
    pub address: SocketAddr,
    contacts: Arc<Mutex<Vec<String>>>,
}

impl Forbidden {
    pub fn start(host: &str) -> Self {
        let tcp = TcpListener::bind((host, 0)).unwrap();
        let address = tcp.local_addr().unwrap();
        let udp = UdpSocket::bind(address).unwrap();
        let contacts = Arc::new(Mutex::new(Vec::new()));
        let (by_tcp, by_udp) = (Arc::clone(&contacts), Arc::clone(&contacts));
        std::thread::spawn(move || {
            for stream in tcp.incoming().map_while(Result::ok) {
                let mut first = [0; 256];
                let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
                let read = (&stream).read(&mut first).unwrap_or_default();
                by_tcp.lock().unwrap().push(String::from_utf8_lossy(&first[..read]).into_owned());
            }
        });
        std::thread::spawn(move || {
            let mut packet = [0; 256];
            while let Ok((read, from)) = udp.recv_from(&mut packet) {
                by_udp.lock().unwrap().push(format!("{read} bytes by UDP from {from}"));
            }
        });
        Self { address, contacts }
    }

    #[track_caller]
    pub fn assert_untouched(&self) {
        assert_eq!(*self.contacts.lock().unwrap(), Vec::<String>::new(), "{} was contacted", self.address);
    }
}
