use crate::stream::{Stream, StreamError};
use crate::{Damage, Fields, Record};
use std::io::{self, Read};

/// Maximum length of a header; archives of the large crawlers stay below 4 KiB.
const MAX_HEADER: usize = 1 << 16;
/// Maximum initial allocation for a block.
const MAX_INITIAL_CAPACITY: usize = 1 << 16;
/// Beginning of a record in all versions; a digit follows.
const VERSION: &[u8] = b"WARC/";
/// End of a block, followed by the next record.
const BOUNDARY: &[u8] = b"\r\n\r\nWARC/";

/// Reader of an archive, record by record.
pub struct Reader<R> {
    stream: Stream<R>,
    max_block: usize,
    number: u64,
    /// Start of the next record if it was found while checking the previous one. Its version line is consumed.
    start: Option<u64>,
    /// Damage found while checking the previous record.
    damaged: Option<(u64, Damage)>,
}

/// Record of an archive, or its damage.
#[derive(Debug)]
pub struct Entry {
    /// Number among all entries, from 1.
    pub number: u64,
    /// Offset of the record's first byte in a plain file, or of the gzip member that it begins in.
    pub offset: u64,
    pub record: Result<Record, Damage>,
}

/// Result of searching for the start of a record.
enum Found {
    Start(u64),
    /// Garbage from this offset on. The start of the following record, if any, is in [`Reader::start`].
    Garbage(u64),
    End,
}

/// End of a line.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Ending {
    LineBreak,
    /// Ends with a line break but exceeds the limit; all of it is consumed.
    TooLong,
    /// Ended by the end of the input or of the allowed bytes.
    CutOff,
}

/// StreamError to read a record.
enum RecordError {
    Record(Damage),
    Input(io::Error),
}

impl From<Damage> for RecordError {
    fn from(damage: Damage) -> Self {
        Self::Record(damage)
    }
}

impl From<StreamError> for RecordError {
    fn from(failure: StreamError) -> Self {
        match failure {
            StreamError::Input(error) => Self::Input(error),
            StreamError::Member { message, .. } => Self::Record(Damage::Gzip(message)),
        }
    }
}

impl<R: Read> Reader<R> {
    /// Creates a reader of records with blocks of at most `max_block` bytes. Longer ones are skipped and reported.
    /// Memory use does not depend on lengths that the input claims.
    pub fn new(input: R, max_block: usize) -> Self {
        Self { stream: Stream::new(input), max_block, number: 0, start: None, damaged: None }
    }

    /// Returns the next record or its damage, or `None` at the end.
    ///
    /// # Errors
    ///
    /// I/O errors of the input, which end the iteration. Malformed content is never an error.
    pub fn next_record(&mut self) -> io::Result<Option<Entry>> {
        if let Some((offset, damage)) = self.damaged.take() {
            return Ok(Some(self.entry(offset, Err(damage))));
        }
        let offset = match self.start.take() {
            Some(offset) => offset,
            None => match self.find_start() {
                Ok(Found::Start(offset)) => offset,
                Ok(Found::Garbage(offset)) => return Ok(Some(self.entry(offset, Err(Damage::Garbage)))),
                Ok(Found::End) => return Ok(None),
                Err(StreamError::Input(error)) => return Err(error),
                Err(StreamError::Member { offset, message }) => {
                    return Ok(Some(self.entry(offset, Err(Damage::Gzip(message)))));
                }
            },
        };
        match self.read_record() {
            Ok(record) => Ok(Some(self.entry(offset, Ok(record)))),
            Err(RecordError::Record(damage)) => {
                self.resynchronise()?;
                Ok(Some(self.entry(offset, Err(damage))))
            }
            Err(RecordError::Input(error)) => Err(error),
        }
    }

    /// Skips from inside a damaged record to the next one. The bytes in between are part of the damage.
    fn resynchronise(&mut self) -> io::Result<()> {
        if self.start.is_some() || self.damaged.is_some() {
            return Ok(());
        }
        match self.find_start() {
            Ok(Found::Start(offset)) => self.start = Some(offset),
            Ok(Found::Garbage(_) | Found::End) => {}
            Err(StreamError::Member { offset, message }) => self.damaged = Some((offset, Damage::Gzip(message))),
            Err(StreamError::Input(error)) => return Err(error),
        }
        Ok(())
    }

    fn entry(&mut self, offset: u64, record: Result<Record, Damage>) -> Entry {
        self.number += 1;
        Entry { number: self.number, offset, record }
    }

    /// Skips blank lines up to the version line of a record. All other bytes before it are garbage.
    fn find_start(&mut self) -> Result<Found, StreamError> {
        let mut garbage = None;
        let mut line = Vec::new();
        loop {
            if self.stream.fill()?.is_empty() {
                return Ok(garbage.map_or(Found::End, Found::Garbage));
            }
            let offset = self.stream.offset();
            line.clear();
            self.read_line(&mut line, u64::MAX)?;
            if is_version(&line) {
                return Ok(match garbage {
                    None => Found::Start(offset),
                    Some(garbage) => {
                        self.start = Some(offset);
                        Found::Garbage(garbage)
                    }
                });
            }
            if !is_blank(&line) {
                garbage.get_or_insert(offset);
            }
        }
    }

    /// Reads a record after its version line and finds the start of the next one.
    fn read_record(&mut self) -> Result<Record, RecordError> {
        let fields = self.read_fields()?;
        let length = fields.get("content-length").and_then(|length| length.parse::<u64>().ok());
        let length = length.ok_or(Damage::NoLength)?;
        if length > self.max_block as u64 {
            self.skip_block(length)?;
            return Err(Damage::TooLong { length, limit: self.max_block }.into());
        }
        let block = self.read_block(length)?;
        let block = self.check_end(length, block)?;
        Ok(Record { fields, block })
    }

    fn read_fields(&mut self) -> Result<Fields, RecordError> {
        let mut header = Vec::new();
        loop {
            let before = header.len();
            // `fill` may enter a new member, which changes the offset.
            let is_end = self.stream.fill()?.is_empty();
            let offset = self.stream.offset();
            let (ending, _) = self.read_line(&mut header, u64::MAX)?;
            let line = &header[before..];
            if matches!(line, b"\r\n" | b"\n") {
                return Ok(Fields::parse(&header));
            }
            if is_version(line) {
                // The header does not end before the next record begins.
                self.start = Some(offset);
                return Err(Damage::Header(MAX_HEADER).into());
            }
            if is_end || ending != Ending::LineBreak {
                return Err(Damage::Header(MAX_HEADER).into());
            }
        }
    }

    /// Reads a block of `length` bytes, which is within the limit.
    fn read_block(&mut self, length: u64) -> Result<Vec<u8>, RecordError> {
        let whole = usize::try_from(length).unwrap_or(usize::MAX);
        // The length is only a claim, so do not allocate all of it in advance.
        let mut block = Vec::with_capacity(whole.min(MAX_INITIAL_CAPACITY));
        while block.len() < whole {
            let is_record = is_version(self.stream.fill()?) && self.stream.is_at_member();
            let ahead = self.stream.fill()?;
            if is_record && !block.is_empty() {
                return Err(Damage::CutOff { found: block.len(), length }.into());
            }
            if ahead.is_empty() {
                let found = block.len();
                // If another record begins inside the block, the length was wrong.
                let contains_record = self.rewind_to_boundary(&mut block, &[]);
                let damage =
                    if contains_record { Damage::WrongLength(length) } else { Damage::CutOff { found, length } };
                return Err(damage.into());
            }
            let count = ahead.len().min(whole - block.len());
            block.extend_from_slice(&ahead[..count]);
            self.stream.consume(count);
        }
        Ok(block)
    }

    /// Skips a block that exceeds the limit, up to its end or to the next record. Real blocks are rarely this long, and
    /// a wrong length must not cost the rest of the file.
    fn skip_block(&mut self, length: u64) -> Result<(), RecordError> {
        let (mut left, mut is_after_blank) = (length, false);
        let mut line = Vec::new();
        while left > 0 && !self.stream.fill()?.is_empty() {
            let may_begin = is_after_blank || self.stream.is_at_member();
            let offset = self.stream.offset();
            line.clear();
            let (_, used) = self.read_line(&mut line, left)?;
            if may_begin && is_version(&line) {
                self.start = Some(offset);
                return Ok(());
            }
            is_after_blank = is_blank(&line);
            left -= used;
        }
        Ok(())
    }

    /// Checks that line breaks and then the next record or the end follow the block. Otherwise its length is wrong.
    fn check_end(&mut self, length: u64, mut block: Vec<u8>) -> Result<Vec<u8>, RecordError> {
        let member = self.stream.offset();
        match self.read_after_block(&mut block) {
            Ok(true) => Ok(block),
            Ok(false) => Err(Damage::WrongLength(length).into()),
            // In the member of the block's end: its checksum is wrong. In a later member: not part of this record.
            Err(StreamError::Member { offset, message }) if offset == member => Err(Damage::Gzip(message).into()),
            Err(StreamError::Member { offset, message }) => {
                self.damaged = Some((offset, Damage::Gzip(message)));
                Ok(block)
            }
            Err(StreamError::Input(error)) => Err(RecordError::Input(error)),
        }
    }

    /// Finds the start of the next record after a block. Returns false if the length of the block is wrong: if garbage
    /// precedes the two line breaks that end a record, or if the next record begins inside the block. Other garbage is an
    /// entry of its own.
    fn read_after_block(&mut self, block: &mut Vec<u8>) -> Result<bool, StreamError> {
        let (mut garbage, mut line_breaks) = (None, 0);
        // All bytes read after the block, so that they can be put back. Half of the limit is left for the last line.
        let mut behind = Vec::new();
        while garbage.is_none() && behind.len() < MAX_HEADER / 2 {
            if self.stream.fill()?.is_empty() {
                return Ok(true);
            }
            let (offset, before) = (self.stream.offset(), behind.len());
            self.read_line(&mut behind, (MAX_HEADER - before) as u64)?;
            let line = &behind[before..];
            if is_version(line) {
                self.start = Some(offset);
                return Ok(true);
            }
            if is_blank(line) {
                line_breaks += 1;
            } else if self.rewind_to_boundary(block, &behind) {
                // Most wrong lengths are too great.
                return Ok(false);
            } else {
                garbage = Some(offset);
            }
        }
        if !behind.ends_with(b"\n") {
            self.read_line(&mut Vec::new(), u64::MAX)?;
        }
        if garbage.is_some() && line_breaks < 2 {
            return Ok(false);
        }
        match self.find_start()? {
            Found::Start(offset) => self.start = Some(offset),
            Found::Garbage(offset) => garbage = garbage.or(Some(offset)),
            Found::End => {}
        }
        self.damaged = garbage.map(|offset| (offset, Damage::Garbage));
        Ok(true)
    }

    /// Rewinds to the start of another record inside `block`, after which the bytes `behind` were read. Returns false if
    /// there is none.
    fn rewind_to_boundary(&mut self, block: &mut Vec<u8>, behind: &[u8]) -> bool {
        let length = block.len();
        // The wrong end may be inside the version line.
        block.extend_from_slice(behind);
        let start = memchr::memmem::find_iter(block.as_slice(), BOUNDARY)
            .map(|at| at + BOUNDARY.len() - VERSION.len())
            .find(|start| is_version(&block[*start..]));
        let is_rewound = start.is_some_and(|start| self.stream.put_back(&block[start..]));
        block.truncate(length);
        is_rewound
    }

    /// Appends a line with its line break, truncated to the header limit, from at most `limit` bytes. Returns its
    /// ending and the number of bytes read.
    fn read_line(&mut self, line: &mut Vec<u8>, limit: u64) -> Result<(Ending, u64), StreamError> {
        let (mut used, mut is_too_long) = (0, false);
        while used < limit {
            let ahead = self.stream.fill()?;
            if ahead.is_empty() {
                break;
            }
            let allowed = ahead.len().min(usize::try_from(limit - used).unwrap_or(usize::MAX));
            let line_break = memchr::memchr(b'\n', &ahead[..allowed]);
            let count = line_break.map_or(allowed, |at| at + 1);
            let remaining = MAX_HEADER.saturating_sub(line.len());
            is_too_long |= count > remaining;
            line.extend_from_slice(&ahead[..count.min(remaining)]);
            self.stream.consume(count);
            used += count as u64;
            if line_break.is_some() {
                return Ok((if is_too_long { Ending::TooLong } else { Ending::LineBreak }, used));
            }
        }
        Ok((Ending::CutOff, used))
    }
}

fn is_blank(line: &[u8]) -> bool {
    // Tapes and broken disks pad with zeros.
    line.iter().all(|byte| matches!(byte, b'\r' | b'\n' | b' ' | 0))
}

fn is_version(line: &[u8]) -> bool {
    line.strip_prefix(VERSION).and_then(|rest| rest.first()).is_some_and(u8::is_ascii_digit)
}
