//! Standard input, line by line.

use std::io::{self, BufRead, Read};

use tokio::sync::mpsc::{self, Receiver};

/// Longest message, in bytes: that of a body of the API.
pub const MAX_LINE: usize = 1 << 20;

/// Lines that wait for us to come round to them.
const AHEAD: usize = 16;

pub enum Line {
    /// Never empty; without its line break.
    Whole(Vec<u8>),
    /// It was read over.
    TooLong,
    Broken(io::Error),
}

/// The lines to come, until standard input ends. A thread reads them: nobody waits for it at the end.
pub fn lines() -> Receiver<Line> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(line) = next(&mut input) {
            let broken = matches!(line, Line::Broken(_));
            if sender.blocking_send(line).is_err() || broken {
                return;
            }
        }
    });
    receiver
}

fn next(input: &mut impl BufRead) -> Option<Line> {
    loop {
        let mut line = Vec::new();
        // One more than fits, and its line break.
        match input.by_ref().take(MAX_LINE as u64 + 2).read_until(b'\n', &mut line) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => return Some(Line::Broken(error)),
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

/// Reads over the rest of a line, keeping none of it.
fn skip(input: &mut impl BufRead) -> Line {
    match input.skip_until(b'\n') {
        Ok(_) => Line::TooLong,
        Err(error) => Line::Broken(error),
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, MAX_LINE, next};

    #[test]
    fn lines_are_whole_or_too_long_and_blank_ones_are_nothing() {
        let long = "x".repeat(3 * MAX_LINE);
        let fits = "y".repeat(MAX_LINE);
        let text = format!("one\r\n\n  \n{long}\n{fits}\n{fits}z\nlast");
        let mut input = text.as_bytes();
        let mut read = Vec::new();
        while let Some(line) = next(&mut input) {
            read.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(&line).chars().take(5).collect(),
                Line::TooLong => "too long".to_owned(),
                Line::Broken(error) => error.to_string(),
            });
        }
        assert_eq!(read, ["one", "too long", "yyyyy", "too long", "last"]);
    }
}
