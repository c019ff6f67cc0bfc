//! Lines of standard input.

use std::io::{self, BufRead, Read};

use tokio::sync::mpsc::{self, Receiver};

/// Maximum message size in bytes, equal to that of an API request body.
pub const MAX_LINE: usize = 1 << 20;

/// Number of buffered lines.
const BUFFERED_LINES: usize = 16;

pub enum Line {
    /// Trimmed line that is not empty.
    Whole(Vec<u8>),
    /// Line over [`MAX_LINE`], which was skipped.
    TooLong,
    Failed(io::Error),
}

/// Returns a channel of lines until standard input ends. A detached thread reads them.
pub fn lines() -> Receiver<Line> {
    let (sender, receiver) = mpsc::channel(BUFFERED_LINES);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(line) = next(&mut input) {
            let failed = matches!(line, Line::Failed(_));
            if sender.blocking_send(line).is_err() || failed {
                return;
            }
        }
    });
    receiver
}

fn next(input: &mut impl BufRead) -> Option<Line> {
    loop {
        let mut line = Vec::new();
        // One byte more than the maximum, and the line break.
        match input.by_ref().take(MAX_LINE as u64 + 2).read_until(b'\n', &mut line) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => return Some(Line::Failed(error)),
        }
        let ended = line.last() == Some(&b'\n');
        let text = line.trim_ascii();
        if text.len() > MAX_LINE || (!ended && line.len() > MAX_LINE) {
            return Some(if ended { Line::TooLong } else { skip(input) });
        }
        if !text.is_empty() {
            return Some(Line::Whole(text.to_vec()));
        }
    }
}

/// Skips the rest of a line without storing it.
fn skip(input: &mut impl BufRead) -> Line {
    match input.skip_until(b'\n') {
        Ok(_) => Line::TooLong,
        Err(error) => Line::Failed(error),
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, MAX_LINE, next};

    #[test]
    fn lines_are_whole_or_too_long_and_blank_lines_are_ignored() {
        let long = "x".repeat(3 * MAX_LINE);
        let fits = "y".repeat(MAX_LINE);
        let text = format!("one\r\n\n  \n{long}\n{fits}\n{fits}z\nlast");
        let mut input = text.as_bytes();
        let mut read = Vec::new();
        while let Some(line) = next(&mut input) {
            read.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(&line).chars().take(5).collect(),
                Line::TooLong => "too long".to_owned(),
                Line::Failed(error) => error.to_string(),
            });
        }
        assert_eq!(read, ["one", "too long", "yyyyy", "too long", "last"]);
    }
}
