//! Reasons that an answer has no current content.

use std::fmt;

use ingest::pages::UnreadableReason;

/// Reason that a page was not read, although its content is missing or too old.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unread {
    Unreadable(UnreadableReason),
    /// The request permits stored content only.
    NotStored,
    /// There is no room to store the page.
    DiskFull,
}

impl Unread {
    /// The time of the request ended first.
    pub const TIMEOUT: Unread = Unread::Unreadable(UnreadableReason::Timeout);

    /// Returns the stable snake_case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Unread::Unreadable(reason) => reason.as_str(),
            // To callers the same: stored content is all that there is for now.
            Unread::NotStored | Unread::DiskFull => "not_stored",
        }
    }

    /// Returns the status that the host answered with, if that is the reason.
    pub fn status(self) -> Option<u16> {
        match self {
            Unread::Unreadable(reason) => reason.status(),
            Unread::NotStored | Unread::DiskFull => None,
        }
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unread::Unreadable(reason) => reason.fmt(f),
            Unread::NotStored => f.write_str("no current copy is stored, and cache_only is set"),
            Unread::DiskFull => f.write_str("no current copy is stored, and the disk of the server is almost full"),
        }
    }
}

impl From<UnreadableReason> for Unread {
    fn from(reason: UnreadableReason) -> Self {
        Unread::Unreadable(reason)
    }
}
