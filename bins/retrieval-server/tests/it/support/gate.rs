//! TCP forwarder in front of a service, which can be closed as if the service had ended.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

pub struct Gate {
    pub address: SocketAddr,
    closed: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Gate {
    /// Opens a gate to `HOST:PORT`.
    pub fn to(service: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (closed, open) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let gate = Self { address, closed: Arc::clone(&closed), open: Arc::clone(&open) };
        let service = service.to_owned();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                // A closed gate ends connections at once.
                let upstream = (!closed.load(Ordering::SeqCst)).then(|| TcpStream::connect(&service).ok());
                let Some(upstream) = upstream.flatten() else { continue };
                let mut open = open.lock().unwrap();
                for (from, to) in [(&client, &upstream), (&upstream, &client)] {
                    copy(from.try_clone().unwrap(), to.try_clone().unwrap());
                }
                open.extend([client, upstream]);
            }
        });
        gate
    }

    /// Ends all connections and refuses new ones.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub fn reopen(&self) {
        self.closed.store(false, Ordering::SeqCst);
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
}
