//! Memory of the length that the endpoint accepts.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::lengths::MIN_CHARS;

/// Time after which longer texts are tried again: those that were rejected may have been of a script with many tokens.
const MEMORY: Duration = Duration::from_mins(10);

/// Length that the endpoint accepted after it had rejected a longer one, in characters of the query and a text together: the model
/// reads both at once.
#[derive(Default)]
pub struct AcceptedLength(Mutex<Option<Accepted>>);

#[derive(Clone, Copy)]
struct Accepted {
    chars: usize,
    until: Instant,
}

impl AcceptedLength {
    /// Returns the maximum length of a text beside a query of this length; `usize::MAX` if none was rejected lately.
    pub fn beside(&self, query_chars: usize) -> usize {
        self.current().map_or(usize::MAX, |accepted| accepted.chars.saturating_sub(query_chars).max(MIN_CHARS))
    }

    /// Remembers a length, unless a shorter one is remembered.
    pub fn remember(&self, query_chars: usize, text_chars: usize) {
        let chars = query_chars.saturating_add(text_chars);
        if self.current().is_none_or(|accepted| chars < accepted.chars) {
            let accepted = Accepted { chars, until: Instant::now() + MEMORY };
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(accepted);
        }
    }

    fn current(&self) -> Option<Accepted> {
        let accepted = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        accepted.filter(|accepted| Instant::now() < accepted.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn shortest_length_is_remembered_for_a_time() {
        tokio::time::pause();
        let length = AcceptedLength::default();
        assert_eq!(length.beside(10), usize::MAX);
        length.remember(10, 500);
        length.remember(10, 1_000);
        assert_eq!(length.beside(10), 500);
        assert_eq!(length.beside(60), 450);
        assert_eq!(length.beside(5_000), MIN_CHARS);
        tokio::time::advance(MEMORY).await;
        assert_eq!(length.beside(10), usize::MAX);
        length.remember(10, 1_000);
        assert_eq!(length.beside(10), 1_000);
    }
}
