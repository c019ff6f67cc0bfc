//! Responses that state their own length.

use std::io::{self, Write};

use api_types::ResponseBody;

use crate::failure::Failure;

/// Sets `usage.bytes_returned` to the exact length of the serialized response, and returns it. Returns `None` for
/// responses without a usage block.
pub(crate) fn complete<T: ResponseBody>(response: &mut T) -> Result<Option<usize>, Failure> {
    if response.usage_mut().is_none() {
        return Ok(None);
    }
    let length = measure(response)?.bytes;
    if let Some(usage) = response.usage_mut() {
        usage.bytes_returned = length as i64;
    }
    Ok(Some(length))
}

/// Serializes a response; a metered one states its length.
pub(crate) fn serialize<T: ResponseBody>(response: &mut T) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::with_capacity(complete(response)?.unwrap_or_default());
    serde_json::to_writer(&mut body, response).map_err(Failure::internal)?;
    Ok(body)
}

/// The length of a response after it states its length.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Length {
    pub bytes: usize,
    /// Unicode scalar values.
    pub chars: usize,
}

/// Measures a response without keeping its text.
pub(crate) fn measure<T: ResponseBody>(response: &mut T) -> Result<Length, Failure> {
    let stated = match response.usage_mut() {
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
    // The number was counted as one digit, 0.
    let total = with_own_digits(bytes - 1);
    Ok(Length { bytes: total, chars: chars - 1 + (total - (bytes - 1)) })
}

/// Returns the least `n` with `n = rest + digits(n)`. The iteration starts below it, rises, and stops there.
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

/// Counts bytes and characters written.
#[derive(Default)]
struct Counter(Length);

impl Write for Counter {
    fn write(&mut self, written: &[u8]) -> io::Result<usize> {
        self.0.bytes += written.len();
        // Every byte starts a character, except UTF-8 continuation bytes (10xxxxxx).
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
