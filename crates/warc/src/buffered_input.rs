//! Buffered input with offset and lookahead.

use std::io::{self, BufRead, Read};

const BUFFER: usize = 1 << 16;
/// Signature of a deflated gzip member (RFC 1952, 2.3.1; there is no other method).
pub const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

pub struct BufferedInput<R> {
    input: R,
    buffer: Box<[u8]>,
    at: usize,
    end: usize,
    /// Offset of the next byte.
    offset: u64,
    /// Copy of the last input error, because decoders on top replace it by their own.
    failure: Option<io::Error>,
}

impl<R: Read> BufferedInput<R> {
    pub fn new(input: R) -> Self {
        Self { input, buffer: vec![0; BUFFER].into(), at: 0, end: 0, offset: 0, failure: None }
    }

    /// Returns the offset of the next byte from the start of the input.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns and clears the last input error.
    pub fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// Returns at least the next `count` bytes (at most the buffer size), or fewer at the end of input.
    pub fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.end - self.at < count {
            self.buffer.copy_within(self.at..self.end, 0);
            (self.at, self.end) = (0, self.end - self.at);
            while self.end < count && self.read()? > 0 {}
        }
        Ok(&self.buffer[self.at..self.end])
    }

    /// Skips to the next gzip signature or to the end. Returns true if anything but zeros was skipped: some archives
    /// are padded with zeros.
    pub fn skip_to_member(&mut self) -> io::Result<bool> {
        let mut skipped = false;
        loop {
            let ahead = self.peek(GZIP_MAGIC.len())?;
            // The last bytes may be the beginning of the signature.
            let keep = if ahead.len() < GZIP_MAGIC.len() { 0 } else { GZIP_MAGIC.len() - 1 };
            let found = memchr::memmem::find(ahead, &GZIP_MAGIC);
            let skip = found.unwrap_or(ahead.len() - keep);
            skipped |= ahead[..skip].iter().any(|byte| *byte != 0);
            let ended = ahead.is_empty();
            self.consume(skip);
            if found.is_some() || ended {
                return Ok(skipped);
            }
        }
    }

    /// Reads to the end of the buffered bytes. The buffer must not be full.
    fn read(&mut self) -> io::Result<usize> {
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failure = Some(io::Error::new(error.kind(), error.to_string()));
                    return Err(error);
                }
            }
        }
    }
}

impl<R: Read> Read for BufferedInput<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for BufferedInput<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.peek(1)
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
        self.offset += count as u64;
    }
}
