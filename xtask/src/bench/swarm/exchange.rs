//! One request and its response on a connection that does not block.

use crate::bench::wire::Response;
use std::io::{ErrorKind, Read, Write};
use std::time::Instant;

/// Request in progress.
pub struct Exchange {
    pub begun: Instant,
    /// True if the connection served earlier requests.
    pub reused: bool,
    /// Index of the request.
    pub request: usize,
    written: usize,
    pub response: Response,
}

/// State after an attempt to write and read.
pub enum Progress {
    Pending,
    Complete,
    /// The connection failed or was closed.
    Lost,
}

impl Exchange {
    pub fn new(request: usize, reused: bool, begun: Instant) -> Self {
        Self { begun, reused, request, written: 0, response: Response::default() }
    }

    /// Returns true if the connection may have been closed before the server saw the request.
    pub fn is_unseen(&self) -> bool {
        self.reused && self.response.bytes == 0
    }

    /// Writes and reads until both would block.
    pub fn advance(&mut self, stream: &mut (impl Read + Write), request: &[u8], buffer: &mut [u8]) -> Progress {
        while self.written < request.len() {
            match stream.write(&request[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if waits(error.kind()) => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                // A server may refuse a request before it has read all of it.
                Err(_) => break,
            }
        }
        loop {
            match stream.read(buffer) {
                Ok(0) => return Progress::Lost,
                Ok(count) => match self.response.feed(&buffer[..count]) {
                    Ok(true) => return Progress::Complete,
                    Ok(false) => (),
                    Err(_) => return Progress::Lost,
                },
                Err(error) if waits(error.kind()) => return Progress::Pending,
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(_) => return Progress::Lost,
            }
        }
    }
}

/// Returns true for a connection that is not ready, or not yet connected.
fn waits(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::NotConnected)
}
