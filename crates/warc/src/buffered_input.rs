//! The bytes of the file as it is, with their offset, and a look ahead.

use std::io::{self, BufRead, Read};

const BUFFER: usize = 1 << 16;
/// Of a gzip member whose content is deflated (RFC 1952, 2.3.1; there is no other method).
pub const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

pub struct Raw<R> {
    input: R,
    buffer: Box<[u8]>,
    at: usize,
    end: usize,
    /// Of the next byte.
    offset: u64,
    /// What the input said, for those who get it through a decoder that says something of its own.
    failure: Option<io::Error>,
}

impl<R: Read> Raw<R> {
    pub fn new(input: R) -> Self {
        Self { input, buffer: vec![0; BUFFER].into(), at: 0, end: 0, offset: 0, failure: None }
    }

    /// Of the next byte, from the start of the input.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The input's own error, if it had one since the last call.
    pub fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// At least the next `count` bytes (no more than the buffer holds), fewer only at the end.
    pub fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.end - self.at < count {
            self.buffer.copy_within(self.at..self.end, 0);
            (self.at, self.end) = (0, self.end - self.at);
            while self.end < count && self.read()? > 0 {}
        }
        Ok(&self.buffer[self.at..self.end])
    }

    /// Goes to the next bytes that begin as a gzip member does, or to the end; says whether it has passed over
    /// anything but zeros, with which some archives are padded.
    pub fn skip_to_member(&mut self) -> io::Result<bool> {
        let mut passed = false;
        loop {
            let ahead = self.peek(GZIP_MAGIC.len())?;
            // What may be the magic's first bytes stays for the next look.
            let keep = if ahead.len() < GZIP_MAGIC.len() { 0 } else { GZIP_MAGIC.len() - 1 };
            let found = memchr::memmem::find(ahead, &GZIP_MAGIC);
            let skip = found.unwrap_or(ahead.len() - keep);
            passed |= ahead[..skip].iter().any(|byte| *byte != 0);
            let ended = ahead.is_empty();
            self.consume(skip);
            if found.is_some() || ended {
                return Ok(passed);
            }
        }
    }

    /// Reads behind what is in the buffer, which must not be full.
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

impl<R: Read> Read for Raw<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for Raw<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.peek(1)
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
        self.offset += count as u64;
    }
}
