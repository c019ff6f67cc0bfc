//! Serialization that keeps the threads of connections free.

use std::io::{self, Write};

use serde::Serialize;

use crate::call::Context;
use crate::failure::Failure;

/// Size from which serialization takes about a tenth of a millisecond and continues on another thread.
const LARGE: usize = 64 << 10;

/// Serializes a value: here if the result is small, otherwise when it is the organization's turn.
pub(crate) async fn to_vec<T: Serialize + Send + 'static>(context: &Context, value: T) -> Result<Vec<u8>, Failure> {
    // Its length is unknown; most take few milliseconds.
    to_vec_of(context, LARGE, value).await
}

/// Serializes a value of about `bytes` bytes: here if the result is small, otherwise when it is the organization's turn. Very large ones
/// give way to others.
pub(crate) async fn to_vec_of<T: Serialize + Send + 'static>(
    context: &Context,
    bytes: usize,
    value: T,
) -> Result<Vec<u8>, Failure> {
    match small(&value)? {
        Some(serialized) => Ok(serialized),
        None => context.compute(bytes, move || serde_json::to_vec(&value)).await?.map_err(Failure::internal),
    }
}

/// Serializes a value if the result is small.
fn small(value: &impl Serialize) -> Result<Option<Vec<u8>>, Failure> {
    let mut start = Start { bytes: Vec::with_capacity(1024), is_full: false };
    match serde_json::to_writer(&mut start, value) {
        Ok(()) => Ok(Some(start.bytes)),
        Err(_) if start.is_full => Ok(None),
        Err(error) => Err(Failure::internal(error)),
    }
}

/// Buffer that ends the serialization of a large value.
struct Start {
    bytes: Vec<u8>,
    is_full: bool,
}

impl Write for Start {
    fn write(&mut self, written: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + written.len() > LARGE {
            self.is_full = true;
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.bytes.extend_from_slice(written);
        Ok(written.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn only_small_values_are_serialized_here() {
        for length in [0, 1, LARGE - 3, LARGE - 2, LARGE - 1, LARGE, 3 * LARGE] {
            let text = "x".repeat(length);
            let whole = serde_json::to_vec(&text).unwrap();
            assert_eq!(small(&text).unwrap(), Some(whole).filter(|whole| whole.len() <= LARGE), "{length}");
        }
    }
}
