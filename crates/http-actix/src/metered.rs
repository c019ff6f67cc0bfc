//! Responses that state their own length.

use std::io::{self, Write};

use api_types::ResponseBody;
use retrieval_core::shape::Length;
use serde::Serialize;

use crate::call::Context;
use crate::failure::Failure;
use crate::json;
use crate::memory::{Answer, Gathered};

/// Serializes a response of about `bytes` bytes (0 if unknown); the usage block, if it has one, states the exact length of the
/// body.
pub(crate) async fn serialize<T: ResponseBody + Send + 'static>(
    context: &Context,
    bytes: usize,
    mut response: T,
) -> Result<Vec<u8>, Failure> {
    match response.usage_mut() {
        Some(usage) => usage.bytes_returned = 0,
        None => return json::to_vec_of(context, bytes, response).await,
    }
    Ok(state_length(json::to_vec_of(context, bytes, response).await?))
}

/// Serializes a response whose parts have taken memory. A very large one gives way to others.
///
/// # Errors
/// `overloaded` if the answer needs more than its parts, and the wait for it is too long.
pub(crate) async fn answer<T: ResponseBody + Send + 'static>(
    context: &Context,
    memory: Gathered<'_>,
    response: T,
) -> Result<Answer, Failure> {
    let body = serialize(context, memory.bytes(), response).await?;
    memory.into_answer(body).await
}

/// Serializes a response whose `usage.bytes_returned` is 0, and replaces the 0 by the length of the body.
pub(crate) fn to_body(response: &impl Serialize) -> Result<Vec<u8>, Failure> {
    Ok(state_length(serde_json::to_vec(response).map_err(Failure::internal)?))
}

/// Replaces a `bytes_returned` of 0 by the length of the body.
fn state_length(mut body: Vec<u8>) -> Vec<u8> {
    // Quotation marks inside of strings are escaped, so this matches the field alone.
    const UNSTATED: &[u8] = b"\"bytes_returned\":0";
    if let Some(start) = body.windows(UNSTATED.len()).rposition(|window| window == UNSTATED) {
        let zero = start + UNSTATED.len() - 1;
        let length = with_own_digits(body.len() as u64 - 1).to_string();
        body.splice(zero..=zero, length.into_bytes());
    }
    body
}

/// Measures a value as JSON.
pub(crate) fn length_of(value: &impl Serialize) -> Result<Length, Failure> {
    let mut counter = Counter::default();
    serde_json::to_writer(&mut counter, value).map_err(Failure::internal)?;
    Ok(counter.0)
}

/// Returns the length of a body once it states its length, given its length with a 0 in that place.
pub(crate) fn stated(unstated: Length) -> Length {
    let bytes = with_own_digits(unstated.bytes.saturating_sub(1));
    let added = bytes.saturating_sub(unstated.bytes);
    Length { bytes, chars: unstated.chars.saturating_add(added) }
}

/// Returns the least `n` with `n = rest + digits(n)`. Counting up from below always reaches it.
fn with_own_digits(rest: u64) -> u64 {
    let mut total = rest.saturating_add(1);
    loop {
        let next = rest.saturating_add(digits(total));
        if next == total {
            return total;
        }
        total = next;
    }
}

fn digits(number: u64) -> u64 {
    u64::from(number.checked_ilog10().unwrap_or(0)) + 1
}

/// Counts the bytes and characters written to it.
#[derive(Default)]
struct Counter(Length);

impl Write for Counter {
    fn write(&mut self, written: &[u8]) -> io::Result<usize> {
        self.0.bytes += written.len() as u64;
        // Every byte except the continuation bytes (10xxxxxx) of UTF-8 starts a character.
        self.0.chars += written.iter().filter(|byte| (**byte & 0xC0) != 0x80).count() as u64;
        Ok(written.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;

    #[test]
    fn stated_length_counts_its_own_digits() {
        for rest in (1..2_000).chain(9_980..10_020).chain(999_980..1_000_020) {
            let total = with_own_digits(rest);
            assert_eq!(total, rest + digits(total), "{rest}");
        }
        assert_eq!((digits(0), digits(9), digits(10), digits(99), digits(100)), (1, 1, 2, 2, 3));
    }

    #[test]
    fn body_states_its_length_in_the_usage_block_only() {
        let quoted = r#""bytes_returned":0"#;
        for text in [String::new(), quoted.to_owned(), "é".repeat(80), "x".repeat(960), "x".repeat(2_000)] {
            let response = json!({"a": text, "usage": {"bytes_returned": 0}, "warnings": [quoted]});
            let body = to_body(&response).unwrap();
            let read: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(read["usage"]["bytes_returned"], body.len());
            assert_eq!((&read["a"], &read["warnings"]), (&response["a"], &response["warnings"]));
            assert_eq!(stated(length_of(&response).unwrap()).bytes, body.len() as u64);
        }
        assert_eq!(to_body(&json!({"a": quoted})).unwrap(), json!({"a": quoted}).to_string().into_bytes());
    }
}
