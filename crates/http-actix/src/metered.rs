//! Bodies that state their own length.

use std::io::{self, Write};

use api_types::{DocumentResponse, FeedbackResponse, SearchResponse, Usage};
use serde::Serialize;

use crate::failure::Failure;

/// An answer with a `usage` block.
pub(crate) trait Metered: Serialize {
    fn usage(&mut self) -> &mut Option<Usage>;
}

impl Metered for SearchResponse {
    fn usage(&mut self) -> &mut Option<Usage> {
        &mut self.usage
    }
}

impl Metered for DocumentResponse {
    fn usage(&mut self) -> &mut Option<Usage> {
        &mut self.usage
    }
}

impl Metered for FeedbackResponse {
    fn usage(&mut self) -> &mut Option<Usage> {
        &mut self.usage
    }
}

/// Has an answer state its own length; gives it.
pub(crate) fn complete<T: Metered>(response: &mut T) -> Result<usize, Failure> {
    let length = measure(response)?.bytes;
    if let Some(usage) = response.usage() {
        usage.bytes_returned = length as i64;
    }
    Ok(length)
}

/// Serializes an answer whose `usage.bytes_returned` is the exact length of the outcome.
pub(crate) fn serialize<T: Metered>(response: &mut T) -> Result<Vec<u8>, Failure> {
    let length = complete(response)?;
    let mut body = Vec::with_capacity(length);
    serde_json::to_writer(&mut body, response).map_err(Failure::internal)?;
    Ok(body)
}

/// The length of a body once it states its length.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Length {
    pub bytes: usize,
    /// Unicode scalar values.
    pub chars: usize,
}

pub(crate) fn measure<T: Metered>(response: &mut T) -> Result<Length, Failure> {
    let stated = match response.usage() {
        None => false,
        Some(usage) => {
            usage.bytes_returned = 0;
            true
        }
    };
    let mut counter = Counter::default();
    serde_json::to_writer(&mut counter, response).map_err(Failure::internal)?;
    let Length { bytes, chars } = counter.0;
    if !stated {
        return Ok(counter.0);
    }
    // One digit, the 0, was counted for the number.
    let total = with_own_digits(bytes - 1);
    Ok(Length { bytes: total, chars: chars - 1 + (total - (bytes - 1)) })
}

/// The least `n` with `n = rest + digits(n)`. Starting below it and going up always ends there.
fn with_own_digits(rest: usize) -> usize {
    let mut total = rest + 1;
    loop {
        let next = rest + digits(total);
        if next == total {
            return total;
        }
        total = next;
    }
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Counts what is written, and keeps nothing.
#[derive(Default)]
struct Counter(Length);

impl Write for Counter {
    fn write(&mut self, written: &[u8]) -> io::Result<usize> {
        self.0.bytes += written.len();
        // Every byte but the continuation bytes (10xxxxxx) of UTF-8 starts a character.
        self.0.chars += written.iter().filter(|byte| (**byte & 0xC0) != 0x80).count();
        Ok(written.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{digits, with_own_digits};

    #[test]
    fn the_number_counts_its_own_digits() {
        for rest in (1..2_000).chain(9_980..10_020).chain(999_980..1_000_020) {
            let total = with_own_digits(rest);
            assert_eq!(total, rest + digits(total), "{rest}");
        }
        assert_eq!((digits(0), digits(9), digits(10), digits(99), digits(100)), (1, 1, 2, 2, 3));
    }
}
