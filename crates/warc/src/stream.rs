//! The bytes of an archive without their compression.

use crate::raw::{GZIP_MAGIC, Raw};
use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, Read};

const BUFFER: usize = 1 << 16;

pub struct Stream<R> {
    source: Source<R>,
    /// Decoded bytes of one member only.
    buffer: Vec<u8>,
    at: usize,
    /// Where the file stands that the buffer was read from: of a member its start, of a plain file the buffer's start.
    base: u64,
    /// Whether the buffer is the first of its member.
    begins_member: bool,
    /// Bytes that came out of the input, less those that were put back: no input makes us read it more than twice.
    credit: u64,
}

enum Source<R> {
    Plain(Raw<R>),
    /// At the end of a member, or at the very start, which may be that of a plain file.
    Between(Raw<R>),
    Member {
        decoder: Box<GzDecoder<Raw<R>>>,
        /// Nothing was read of it yet.
        is_fresh: bool,
    },
    /// Only while it is being replaced.
    Taken,
}

/// Why there are no bytes.
pub enum Failure {
    /// The input's own error: there is nothing more to be had.
    Input(io::Error),
    /// The member at this offset is damaged; what follows is the next one.
    Member { offset: u64, message: String },
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Input(error)
    }
}

impl<R: Read> Stream<R> {
    pub fn new(input: R) -> Self {
        let source = Source::Between(Raw::new(input));
        Self { source, buffer: Vec::with_capacity(BUFFER), at: 0, base: 0, begins_member: false, credit: 0 }
    }

    /// The next bytes; none at the end.
    pub fn fill(&mut self) -> Result<&[u8], Failure> {
        while self.at == self.buffer.len() && self.refill()? {}
        Ok(&self.buffer[self.at..])
    }

    pub fn consume(&mut self, count: usize) {
        self.at += count;
    }

    /// Offset of the next byte in a plain file; of the member that it stands in, in a compressed one.
    pub fn offset(&self) -> u64 {
        match self.source {
            Source::Plain(_) => self.base + self.at as u64,
            Source::Between(_) | Source::Member { .. } | Source::Taken => self.base,
        }
    }

    /// Whether the next byte is the first of a member.
    pub fn is_at_member(&self) -> bool {
        self.begins_member && self.at == 0 && !self.buffer.is_empty()
    }

    /// Puts bytes that were consumed last back in front of what follows; refuses where an input has had that too often.
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

    /// Replaces the buffer, which is used up, or moves from one member to the next; `false` at the end.
    fn refill(&mut self) -> Result<bool, Failure> {
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

    /// Goes from between two members into the next.
    fn enter(&mut self, mut raw: Raw<R>) -> Result<bool, Failure> {
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
        let passed = raw.skip_to_member()?;
        self.source = Source::Between(raw);
        if passed {
            return Err(Failure::Member { offset, message: "bytes that are no gzip member".to_owned() });
        }
        Ok(true)
    }

    /// Leaves a damaged member for the next.
    fn leave(&mut self, mut raw: Raw<R>, error: &io::Error) -> Failure {
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
        Failure::Member { offset: self.base, message: error.to_string() }
    }
}

/// Replaces what is in the buffer; nothing at the end, or after an error.
fn read_into(buffer: &mut Vec<u8>, from: &mut impl Read) -> io::Result<usize> {
    buffer.resize(BUFFER, 0);
    let read = from.read(buffer);
    buffer.truncate(*read.as_ref().unwrap_or(&0));
    read
}
