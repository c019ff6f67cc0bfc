//! Text of a capture that was read.

use docstore::Capture;

use crate::excerpt::Excerpt;

/// A capture with the text that was read of it.
pub struct CapturedText {
    pub capture: Capture,
    pub excerpt: Excerpt,
    /// Characters of the content before the excerpt, if that is one piece of it.
    pub start_char: usize,
    /// True if the content goes on after an excerpt that is one piece of it.
    pub has_more: bool,
    /// True unless all parts were read.
    pub is_part: bool,
}
