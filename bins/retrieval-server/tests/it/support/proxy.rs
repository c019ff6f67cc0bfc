use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// TCP proxy between the service and a dependency that can be disconnected.
pub struct Proxy {
    pub url: String,
    cut: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    /// Starts a proxy for the server at an HTTP URL.
    pub fn start(upstream: &str) -> Self {
        let address = upstream.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (cut, open) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let proxy = Self { url, cut: Arc::clone(&cut), open: Arc::clone(&open) };
        std::thread::spawn(move || {
            for client_side in listener.incoming().map_while(Result::ok) {
                // While disconnected it accepts and stays silent, as an unreachable machine, instead of refusing.
                let server_side = TcpStream::connect(&address);
                if let (false, Ok(server_side)) = (cut.load(Ordering::SeqCst), server_side) {
                    join(&client_side, &server_side);
                    open.lock().unwrap().push(server_side);
                }
                open.lock().unwrap().push(client_side);
            }
        });
        proxy
    }

    pub fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
        self.disconnect();
    }

    pub fn restore(&self) {
        self.cut.store(false, Ordering::SeqCst);
        self.disconnect();
    }

    fn disconnect(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn join(client_side: &TcpStream, server_side: &TcpStream) {
    for (mut from, mut to) in [(client_side, server_side), (server_side, client_side)]
        .map(|(a, b)| (a.try_clone().unwrap(), b.try_clone().unwrap()))
    {
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        });
    }
}
