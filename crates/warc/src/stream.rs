//! Decompressed bytes of an archive.

use crate::buffered_input::{BufferedInput, GZIP_MAGIC};
use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, Read};

const BUFFER: usize = 1 << 16;

pub struct Stream<R> {
    source: Source<R>,
    /// Decoded bytes, of one member only.
    buffer: Vec<u8>,
    at: usize,
    /// Offset in the file: start of the current member, or of the buffer in a plain file.
    base: u64,
    /// True if the buffer is the first of its member.
    begins_member: bool,
    /// Bytes read minus bytes put back. Bounds rereading: no input is read more than twice.
    credit: u64,
}

enum Source<R> {
    Plain(BufferedInput<R>),
    /// At the end of a member, or at the start of the input, which may be a plain file.
    Between(BufferedInput<R>),
    Member {
        decoder: Box<GzDecoder<BufferedInput<R>>>,
        /// True before the first read from the member.
        is_fresh: bool,
    },
    /// Placeholder during a replacement.
    Taken,
}

/// Failure to provide bytes.
pub enum StreamError {
    /// I/O error of the input; there are no further bytes.
    Input(io::Error),
    /// The member at this offset is damaged; the next member follows.
    Member { offset: u64, message: String },
}

impl From<io::Error> for StreamError {
    fn from(error: io::Error) -> Self {
        Self::Input(error)
    }
}

impl<R: Read> Stream<R> {
    pub fn new(input: R) -> Self {
        let source = Source::Between(BufferedInput::new(input));
        Self { source, buffer: Vec::with_capacity(BUFFER), at: 0, base: 0, begins_member: false, credit: 0 }
    }

    /// Returns the next bytes; empty at the end.
    pub fn fill(&mut self) -> Result<&[u8], StreamError> {
        while self.at == self.buffer.len() && self.refill()? {}
        Ok(&self.buffer[self.at..])
    }

    pub fn consume(&mut self, count: usize) {
        self.at += count;
    }

    /// Returns the offset of the next byte in a plain file, or of its member in a compressed one.
    pub fn offset(&self) -> u64 {
        match self.source {
            Source::Plain(_) => self.base + self.at as u64,
            Source::Between(_) | Source::Member { .. } | Source::Taken => self.base,
        }
    }

    /// Returns true if the next byte is the first of a member.
    pub fn is_at_member(&self) -> bool {
        self.begins_member && self.at == 0 && !self.buffer.is_empty()
    }

    /// Puts the last consumed bytes back. Returns false if that would exceed the reread limit.
    pub fn put_back(&mut self, bytes: &[u8]) -> bool {
        let count = bytes.len() as u64;
        if count > self.credit {
            return false;
        }
        self.credit -= count;
        if matches!(self.source, Source::Plain(_)) {
            self.base = self.offset().saturating_sub(count);
        }
        self.buffer.splice(..self.at, bytes.iter().copied());
        (self.at, self.begins_member) = (0, false);
        true
    }

    /// Refills the empty buffer or moves to the next member. Returns false at the end.
    fn refill(&mut self) -> Result<bool, StreamError> {
        self.at = 0;
        match std::mem::replace(&mut self.source, Source::Taken) {
            Source::Plain(mut raw) => {
                self.base = raw.offset();
                let count = read_into(&mut self.buffer, &mut raw)?;
                self.credit += count as u64;
                self.source = Source::Plain(raw);
                Ok(count > 0)
            }
            Source::Between(raw) => self.enter(raw),
            Source::Member { mut decoder, is_fresh } => match read_into(&mut self.buffer, &mut decoder) {
                Ok(0) => {
                    self.source = Source::Between(decoder.into_inner());
                    Ok(true)
                }
                Ok(count) => {
                    self.credit += count as u64;
                    self.begins_member = is_fresh;
                    self.source = Source::Member { decoder, is_fresh: false };
                    Ok(true)
                }
                Err(error) => Err(self.leave(decoder.into_inner(), &error)),
            },
            Source::Taken => Ok(false),
        }
    }

    /// Enters the next member.
    fn enter(&mut self, mut raw: BufferedInput<R>) -> Result<bool, StreamError> {
        let is_start = raw.offset() == 0;
        let ahead = raw.peek(GZIP_MAGIC.len())?;
        if ahead.is_empty() {
            self.source = Source::Between(raw);
            return Ok(false);
        }
        if ahead.starts_with(&GZIP_MAGIC) {
            self.base = raw.offset();
            self.source = Source::Member { decoder: Box::new(GzDecoder::new(raw)), is_fresh: true };
            return Ok(true);
        }
        if is_start {
            self.source = Source::Plain(raw);
            return Ok(true);
        }
        let offset = raw.offset();
        let skipped = raw.skip_to_member()?;
        self.source = Source::Between(raw);
        if skipped {
            return Err(StreamError::Member { offset, message: "bytes outside a gzip member".to_owned() });
        }
        Ok(true)
    }

    /// Leaves a damaged member for the next one.
    fn leave(&mut self, mut raw: BufferedInput<R>, error: &io::Error) -> StreamError {
        if let Some(failure) = raw.take_failure() {
            return failure.into();
        }
        if raw.offset() == self.base {
            raw.consume(1);
        }
        if let Err(failure) = raw.skip_to_member() {
            return failure.into();
        }
        self.source = Source::Between(raw);
        StreamError::Member { offset: self.base, message: error.to_string() }
    }
}

/// Replaces the content of the buffer. It is empty at the end or after an error.
fn read_into(buffer: &mut Vec<u8>, from: &mut impl Read) -> io::Result<usize> {
    buffer.resize(BUFFER, 0);
    let read = from.read(buffer);
    buffer.truncate(*read.as_ref().unwrap_or(&0));
    read
}
