//! Event streams (HTML standard, 9.2), read as they come.

use std::collections::VecDeque;

/// Maximum bytes of one event. The last event of a run has the whole report.
pub const MAX_EVENT: usize = 16 << 20;

/// Reader of one stream. Types and delays of the stream are not used: the data has the type.
#[derive(Debug, Default)]
pub struct Reader {
    /// Bytes of the incomplete last line.
    line: Vec<u8>,
    /// Data of the incomplete last event, each line with a line feed.
    data: Vec<u8>,
    /// True after a carriage return, whose line feed may follow.
    is_after_return: bool,
    is_started: bool,
    events: VecDeque<Vec<u8>>,
}

/// An event that exceeds [`MAX_EVENT`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooLong;

impl Reader {
    /// Takes the next bytes of the stream, in parts of any size.
    pub fn take(&mut self, mut bytes: &[u8]) -> Result<(), TooLong> {
        while let Some((&first, rest)) = bytes.split_first() {
            if std::mem::take(&mut self.is_after_return) && first == b'\n' {
                bytes = rest;
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + self.data.len() + part.len() > MAX_EVENT {
                return Err(TooLong);
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { return Ok(()) };
            self.is_after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line();
        }
        Ok(())
    }

    /// Returns the data of the next complete event.
    pub fn next(&mut self) -> Option<Vec<u8>> {
        self.events.pop_front()
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.is_started, true) && line.starts_with("\u{feff}".as_bytes()) {
            line.drain(..3);
        }
        if line.is_empty() {
            // An event without data is none.
            if self.data.pop().is_some() {
                self.events.push_back(std::mem::take(&mut self.data));
            }
            return;
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &b""[..]),
        };
        if name == b"data" {
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
            self.data.push(b'\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(parts: &[&[u8]]) -> Vec<String> {
        let mut reader = Reader::default();
        let mut events = Vec::new();
        for part in parts {
            reader.take(part).expect("short");
            events.extend(std::iter::from_fn(|| reader.next()).map(|data| String::from_utf8_lossy(&data).into_owned()));
        }
        events
    }

    #[test]
    fn events_are_read_in_parts_of_any_size() {
        let stream = "\u{feff}retry: 1000\r\n\r\n: comment\n\nid: 1\nevent: a\ndata: {\"é\":1}\n\nid\rdata:two\r\
            data:  lines\r\rdata\r\n\r\nevent: b\n\ndata: cut";
        let expected = ["{\"é\":1}", "two\n lines", ""];
        for size in 1..=stream.len() {
            let parts: Vec<&[u8]> = stream.as_bytes().chunks(size).collect();
            assert_eq!(read(&parts), expected, "in parts of {size}");
        }
    }

    #[test]
    fn endless_lines_and_events_are_refused() {
        let part = vec![b'x'; 1 << 20];
        for end in ["", "\ndata: "] {
            let mut reader = Reader::default();
            let mut take = || {
                reader.take(b"data: ")?;
                (0..17).try_for_each(|_| reader.take(&part).and_then(|()| reader.take(end.as_bytes())))
            };
            assert_eq!(take(), Err(TooLong));
        }
    }
}
