use crate::stream::{Failure, Stream};
use crate::{Damage, Fields, Record};
use std::io::{self, Read};

/// Longest header: archives of the large crawlers stay below 4 KiB.
const MAX_HEADER: usize = 1 << 16;
/// Room that a block is given before its bytes are there.
const FIRST_ROOM: usize = 1 << 16;
/// What a record begins with, in all versions; a digit follows.
const VERSION: &[u8] = b"WARC/";
/// The end of a block, and the start of the record behind it.
const BOUNDARY: &[u8] = b"\r\n\r\nWARC/";

/// Reads an archive record by record.
pub struct Reader<R> {
    stream: Stream<R>,
    max_block: usize,
    number: u64,
    /// The start of a record that was met when the one before it was checked: its version line is consumed.
    start: Option<u64>,
    /// Damage that was met in the same way.
    damaged: Option<(u64, Damage)>,
}

/// A record, or what is wrong with it.
#[derive(Debug)]
pub struct Entry {
    /// From 1, of all records.
    pub number: u64,
    /// In a plain file that of the record's first byte, in a compressed one that of the gzip member it begins in.
    pub offset: u64,
    pub record: Result<Record, Damage>,
}

/// What was found where a record should begin.
enum Found {
    Start(u64),
    /// Bytes from this offset on; the start of a record behind them is in [`Reader::start`].
    Garbage(u64),
    End,
}

/// How a line ended.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Ending {
    LineBreak,
    /// With a line break, but it is longer than there was room for; all of it is consumed.
    TooLong,
    /// The end of the input, or of the bytes that were allowed, came first.
    CutOff,
}

/// Why a record could not be read.
enum Trouble {
    Record(Damage),
    Input(io::Error),
}

impl From<Damage> for Trouble {
    fn from(damage: Damage) -> Self {
        Self::Record(damage)
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Input(error) => Self::Input(error),
            Failure::Member { message, .. } => Self::Record(Damage::Gzip(message)),
        }
    }
}

impl<R: Read> Reader<R> {
    /// A reader of records of at most `max_block` bytes; longer ones are passed over and reported. Neither memory nor
    /// anything else grows with what the input says of itself.
    pub fn new(input: R, max_block: usize) -> Self {
        Self { stream: Stream::new(input), max_block, number: 0, start: None, damaged: None }
    }

    /// The next record, or what is wrong with it; `None` at the end.
    ///
    /// # Errors
    ///
    /// The input's own, which end the reading. Whatever the input holds is no error.
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
                Err(Failure::Input(error)) => return Err(error),
                Err(Failure::Member { offset, message }) => {
                    return Ok(Some(self.entry(offset, Err(Damage::Gzip(message)))));
                }
            },
        };
        match self.read_record() {
            Ok(record) => Ok(Some(self.entry(offset, Ok(record)))),
            Err(Trouble::Record(damage)) => {
                self.resynchronise()?;
                Ok(Some(self.entry(offset, Err(damage))))
            }
            Err(Trouble::Input(error)) => Err(error),
        }
    }

    /// Goes from within a damaged record to the next one: what lies between is part of the damage.
    fn resynchronise(&mut self) -> io::Result<()> {
        if self.start.is_some() || self.damaged.is_some() {
            return Ok(());
        }
        match self.find_start() {
            Ok(Found::Start(offset)) => self.start = Some(offset),
            Ok(Found::Garbage(_) | Found::End) => {}
            Err(Failure::Member { offset, message }) => self.damaged = Some((offset, Damage::Gzip(message))),
            Err(Failure::Input(error)) => return Err(error),
        }
        Ok(())
    }

    fn entry(&mut self, offset: u64, record: Result<Record, Damage>) -> Entry {
        self.number += 1;
        Entry { number: self.number, offset, record }
    }

    /// Passes over blank lines to the version line of a record. Anything else on the way is garbage, all of it up to
    /// the next version line.
    fn find_start(&mut self) -> Result<Found, Failure> {
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

    /// Reads a record behind its version line, and goes to the next one.
    fn read_record(&mut self) -> Result<Record, Trouble> {
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

    fn read_fields(&mut self) -> Result<Fields, Trouble> {
        let mut header = Vec::new();
        loop {
            let before = header.len();
            // The line may be the first of a member that is still to be entered.
            let is_end = self.stream.fill()?.is_empty();
            let offset = self.stream.offset();
            let (ending, _) = self.read_line(&mut header, u64::MAX)?;
            let line = &header[before..];
            if matches!(line, b"\r\n" | b"\n") {
                return Ok(Fields::parse(&header));
            }
            if is_version(line) {
                // The header has no end, and another record begins.
                self.start = Some(offset);
                return Err(Damage::Header(MAX_HEADER).into());
            }
            if is_end || ending != Ending::LineBreak {
                return Err(Damage::Header(MAX_HEADER).into());
            }
        }
    }

    /// Reads a block of `length` bytes, which is within the limit.
    fn read_block(&mut self, length: u64) -> Result<Vec<u8>, Trouble> {
        let whole = usize::try_from(length).unwrap_or(usize::MAX);
        // A length is a claim: no more room than for what is there.
        let mut block = Vec::with_capacity(whole.min(FIRST_ROOM));
        while block.len() < whole {
            let is_record = is_version(self.stream.fill()?) && self.stream.is_at_member();
            let ahead = self.stream.fill()?;
            if is_record && !block.is_empty() {
                return Err(Damage::CutOff { found: block.len(), length }.into());
            }
            if ahead.is_empty() {
                let found = block.len();
                // Where another record begins in it, the length was a lie.
                let is_lie = self.return_to_boundary(block, &[]);
                let damage = if is_lie { Damage::WrongLength(length) } else { Damage::CutOff { found, length } };
                return Err(damage.into());
            }
            let count = ahead.len().min(whole - block.len());
            block.extend_from_slice(&ahead[..count]);
            self.stream.consume(count);
        }
        Ok(block)
    }

    /// Passes over a block that is too long to be held, up to its end or to where the next record begins: real blocks
    /// are hardly ever so long, and a lie must not cost the rest of the file.
    fn skip_block(&mut self, length: u64) -> Result<(), Trouble> {
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

    /// Behind a block come line breaks, and then the next record or the end; otherwise its length is wrong.
    fn check_end(&mut self, length: u64, block: Vec<u8>) -> Result<Vec<u8>, Trouble> {
        let member = self.stream.offset();
        let mut line = Vec::new();
        match self.read_behind(&mut line) {
            Ok(Found::Start(offset)) => {
                self.start = Some(offset);
                Ok(block)
            }
            Ok(Found::End) => Ok(block),
            Ok(Found::Garbage(_)) => {
                // Most lengths that are wrong are too great: what the block has swallowed is looked for in it.
                self.return_to_boundary(block, &line);
                Err(Damage::WrongLength(length).into())
            }
            // Of the member that the block ends in: its check sum is wrong. Of a later one: not this record's.
            Err(Failure::Member { offset, message }) if offset == member => Err(Damage::Gzip(message).into()),
            Err(Failure::Member { offset, message }) => {
                self.damaged = Some((offset, Damage::Gzip(message)));
                Ok(block)
            }
            Err(Failure::Input(error)) => Err(Trouble::Input(error)),
        }
    }

    /// What stands behind a block. Garbage before the two line breaks that end a record is the record's own, and its
    /// first line is left in `line`; what comes after them is damage of its own.
    fn read_behind(&mut self, line: &mut Vec<u8>) -> Result<Found, Failure> {
        for _ in 0..2 {
            if self.stream.fill()?.is_empty() {
                return Ok(Found::End);
            }
            let offset = self.stream.offset();
            line.clear();
            self.read_line(line, u64::MAX)?;
            if is_version(line) {
                return Ok(Found::Start(offset));
            }
            if !is_blank(line) {
                return Ok(Found::Garbage(offset));
            }
        }
        let found = self.find_start()?;
        if let Found::Garbage(offset) = found {
            self.damaged = Some((offset, Damage::Garbage));
            return Ok(Found::End);
        }
        Ok(found)
    }

    /// Goes back to where another record begins within a block, behind which `line` was read; says whether one does.
    fn return_to_boundary(&mut self, mut block: Vec<u8>, line: &[u8]) -> bool {
        let starts = memchr::memmem::find_iter(&block, BOUNDARY).map(|at| at + BOUNDARY.len() - VERSION.len());
        let Some(start) = starts.into_iter().find(|start| is_version(&block[*start..])) else { return false };
        block.extend_from_slice(line);
        self.stream.put_back(&block[start..])
    }

    /// Appends a line with its line break, as much of it as there is room for in a header. Reads no more than `limit`
    /// bytes. Says how it ended, and how many bytes it had.
    fn read_line(&mut self, line: &mut Vec<u8>, limit: u64) -> Result<(Ending, u64), Failure> {
        let (mut used, mut is_too_long) = (0, false);
        while used < limit {
            let ahead = self.stream.fill()?;
            if ahead.is_empty() {
                break;
            }
            let allowed = ahead.len().min(usize::try_from(limit - used).unwrap_or(usize::MAX));
            let line_break = memchr::memchr(b'\n', &ahead[..allowed]);
            let count = line_break.map_or(allowed, |at| at + 1);
            let room = MAX_HEADER.saturating_sub(line.len());
            is_too_long |= count > room;
            line.extend_from_slice(&ahead[..count.min(room)]);
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
    // Zeros: the padding of tapes and of broken disks.
    line.iter().all(|byte| matches!(byte, b'\r' | b'\n' | b' ' | 0))
}

fn is_version(line: &[u8]) -> bool {
    line.strip_prefix(VERSION).and_then(|rest| rest.first()).is_some_and(u8::is_ascii_digit)
}
