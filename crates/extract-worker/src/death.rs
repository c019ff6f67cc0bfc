//! Why a worker died.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::{ExtractError, ExtractErrorKind};

const SIGABRT: i32 = 6;
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// The error for a document whose worker ended while reading it. `stderr` is the last the worker said: the Rust
/// runtime names a failed allocation there before it aborts.
pub(super) fn explain(status: Option<ExitStatus>, stderr: &str) -> ExtractError {
    let signal = status.and_then(|status| status.signal());
    let no_memory = stderr.contains("memory allocation of") || stderr.contains("capacity overflow");
    let (kind, why) = match signal {
        Some(SIGXCPU) => (ExtractErrorKind::TimedOut, "it used up its CPU time".to_owned()),
        Some(SIGABRT) if no_memory => (ExtractErrorKind::OutOfMemory, "it used up its memory".to_owned()),
        // The pool names its own kills itself: this one came from the kernel.
        Some(SIGKILL) => (ExtractErrorKind::OutOfMemory, "the system killed it".to_owned()),
        Some(signal) => (ExtractErrorKind::Crashed, format!("signal {signal}")),
        None => {
            (ExtractErrorKind::Crashed, status.map_or("it cannot be asked".to_owned(), |status| status.to_string()))
        }
    };
    ExtractError::new(kind, format!("the extraction worker died: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_tell_the_cause() {
        let said = "memory allocation of 8 bytes failed";
        for (raw, stderr, kind) in [
            (24, "", ExtractErrorKind::TimedOut),
            (6, said, ExtractErrorKind::OutOfMemory),
            (6, "thread 'extract' has overflowed its stack", ExtractErrorKind::Crashed),
            (9, "", ExtractErrorKind::OutOfMemory),
            (11, said, ExtractErrorKind::Crashed),
            (256, "", ExtractErrorKind::Crashed),
        ] {
            assert_eq!(explain(Some(ExitStatus::from_raw(raw)), stderr).kind, kind, "{raw}");
        }
        assert_eq!(explain(None, "").kind, ExtractErrorKind::Crashed);
    }
}
