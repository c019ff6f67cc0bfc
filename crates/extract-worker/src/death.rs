//! Causes of a worker's death.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use extract::{ExtractError, ExtractErrorKind};

const SIGABRT: i32 = 6;
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// Returns the error for a document whose worker ended while reading it. `stderr` is the end of the worker's output: the
/// Rust runtime names a failed allocation there before it aborts.
pub fn explain(status: Option<ExitStatus>, stderr: &str) -> ExtractError {
    let signal = status.and_then(|status| status.signal());
    let no_memory = stderr.contains("memory allocation of") || stderr.contains("capacity overflow");
    let (kind, why) = match signal {
        Some(SIGXCPU) => (ExtractErrorKind::TimedOut, "CPU time exceeded".to_owned()),
        Some(SIGABRT) if no_memory => (ExtractErrorKind::OutOfMemory, "memory exceeded".to_owned()),
        // The pool reports its own kills itself: this one came from the kernel.
        Some(SIGKILL) => (ExtractErrorKind::OutOfMemory, "killed by the system".to_owned()),
        Some(signal) => (ExtractErrorKind::Crashed, format!("signal {signal}")),
        None => {
            (ExtractErrorKind::Crashed, status.map_or("exit status unknown".to_owned(), |status| status.to_string()))
        }
    };
    ExtractError::new(kind, format!("the extraction worker died: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signal_and_stderr_determine_the_cause() {
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
