//! Reasons that a page cannot be read, as far as callers may know them.

use std::fmt;

use extract::ExtractErrorKind;
use fetcher::{FetchError, RobotsFailure};

/// Reason that a page cannot be read.
///
/// All failures before a permitted address answers are [`Unreachable`](Self::Unreachable): anything finer would map the
/// network of this service.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UnreadableReason {
    HttpStatus(u16),
    /// robots.txt disallows the page.
    Robots,
    /// The host does not serve its robots.txt, which counts as disallowed.
    RobotsUnreachable,
    Timeout,
    TooLarge,
    UnsupportedType,
    NoText,
    /// The document consists of images of pages.
    NeedsOcr,
    Unreachable,
}

impl UnreadableReason {
    /// Returns the stable snake_case name.
    pub fn as_str(self) -> &'static str {
        match self {
            UnreadableReason::HttpStatus(_) => "http_status",
            UnreadableReason::Robots | UnreadableReason::RobotsUnreachable => "robots",
            UnreadableReason::Timeout => "timeout",
            UnreadableReason::TooLarge => "too_large",
            UnreadableReason::UnsupportedType => "unsupported_type",
            UnreadableReason::NoText => "no_text",
            UnreadableReason::NeedsOcr => "needs_ocr",
            UnreadableReason::Unreachable => "unreachable",
        }
    }

    /// Returns the status that the host answered with, if that is the reason.
    pub fn status(self) -> Option<u16> {
        match self {
            UnreadableReason::HttpStatus(status) => Some(status),
            _ => None,
        }
    }
}

impl fmt::Display for UnreadableReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnreadableReason::HttpStatus(status) => write!(f, "the host returned status `{status}`"),
            UnreadableReason::Robots => f.write_str("robots.txt of the host disallows it"),
            UnreadableReason::RobotsUnreachable => f.write_str("robots.txt of the host cannot be read"),
            UnreadableReason::Timeout => f.write_str("reading it timed out"),
            UnreadableReason::TooLarge => f.write_str("it is too large"),
            UnreadableReason::UnsupportedType => f.write_str("its type is not supported"),
            UnreadableReason::NoText => f.write_str("it has no text"),
            UnreadableReason::NeedsOcr => f.write_str("it has only images of text, which need OCR"),
            UnreadableReason::Unreachable => f.write_str("the host cannot be reached"),
        }
    }
}

impl From<&FetchError> for UnreadableReason {
    fn from(error: &FetchError) -> Self {
        match error {
            FetchError::Status { status, .. } => UnreadableReason::HttpStatus(*status),
            FetchError::Robots => UnreadableReason::Robots,
            FetchError::RobotsUnreachable { cause: RobotsFailure::Status, .. } => UnreadableReason::RobotsUnreachable,
            FetchError::Timeout { .. } | FetchError::RobotsUnreachable { cause: RobotsFailure::Timeout, .. } => {
                UnreadableReason::Timeout
            }
            FetchError::TooLarge { .. } => UnreadableReason::TooLarge,
            FetchError::ContentType { .. } => UnreadableReason::UnsupportedType,
            // The type is open to new variants: they tell nothing until someone decides otherwise.
            _ => UnreadableReason::Unreachable,
        }
    }
}

impl From<ExtractErrorKind> for UnreadableReason {
    fn from(kind: ExtractErrorKind) -> Self {
        match kind {
            ExtractErrorKind::Unsupported | ExtractErrorKind::WrongType => UnreadableReason::UnsupportedType,
            ExtractErrorKind::NeedsOcr => UnreadableReason::NeedsOcr,
            ExtractErrorKind::TooLarge | ExtractErrorKind::OutOfMemory => UnreadableReason::TooLarge,
            ExtractErrorKind::TimedOut => UnreadableReason::Timeout,
            ExtractErrorKind::Corrupt | ExtractErrorKind::Encrypted | ExtractErrorKind::Crashed => {
                UnreadableReason::NoText
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fetcher::TimeoutStage;

    use super::*;

    fn without_robots(cause: RobotsFailure) -> FetchError {
        FetchError::RobotsUnreachable { cause, retry_after: Duration::ZERO }
    }

    #[test]
    fn failures_before_an_address_answers_are_unreachable() {
        for error in [
            FetchError::InvalidUrl { reason: "is missing" },
            FetchError::RefusedAddress,
            FetchError::RefusedPort { port: 25 },
            FetchError::Dns,
            FetchError::Connect,
            FetchError::Tls,
            FetchError::TooManyRedirects { limit: 5 },
            FetchError::RedirectLoop,
            FetchError::Interrupted,
            FetchError::Protocol { reason: "is not valid HTTP" },
            without_robots(RobotsFailure::Response),
        ] {
            assert_eq!(UnreadableReason::from(&error), UnreadableReason::Unreachable, "{error}");
        }
    }

    #[test]
    fn answers_of_the_host_have_their_reason() {
        for (error, reason) in [
            (FetchError::Status { status: 451, retry_after: None }, "http_status"),
            (FetchError::Robots, "robots"),
            (without_robots(RobotsFailure::Status), "robots"),
            (without_robots(RobotsFailure::Timeout), "timeout"),
            (FetchError::Timeout { stage: TimeoutStage::Connect }, "timeout"),
            (FetchError::TooLarge { limit: 1 }, "too_large"),
            (FetchError::ContentType { content_type: "video/mp4".to_owned() }, "unsupported_type"),
        ] {
            assert_eq!(UnreadableReason::from(&error).as_str(), reason, "{error}");
        }
        assert_eq!(UnreadableReason::HttpStatus(451).status(), Some(451));
        assert_eq!(UnreadableReason::from(ExtractErrorKind::NeedsOcr), UnreadableReason::NeedsOcr);
    }
}
