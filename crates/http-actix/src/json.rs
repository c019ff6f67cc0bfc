//! Serialization that keeps the threads of connections free.

use std::io::{self, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Size from which serialization takes about a tenth of a millisecond and continues on another thread.
const LARGE: usize = 64 << 10;

/// Serializes a value: here if the result is small, otherwise on a blocking thread.
pub(crate) async fn to_vec<T: Serialize + Send + 'static>(value: T) -> Result<Vec<u8>, Failure> {
    let mut start = Start { bytes: Vec::with_capacity(1024), is_full: false };
    match serde_json::to_writer(&mut start, &value) {
        Ok(()) => Ok(start.bytes),
        Err(_) if start.is_full => {
            drop(start);
            let serialized = tokio::task::spawn_blocking(move || serde_json::to_vec(&value)).await;
            serialized.map_err(Failure::internal)?.map_err(Failure::internal)
        }
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

    #[tokio::test]
    async fn values_of_every_size_are_serialized() {
        for length in [0, 1, LARGE - 3, LARGE - 2, LARGE - 1, LARGE, 3 * LARGE] {
            let text = "x".repeat(length);
            assert_eq!(to_vec(text.clone()).await.unwrap(), serde_json::to_vec(&text).unwrap(), "{length}");
        }
    }
}
