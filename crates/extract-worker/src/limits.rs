//! Limits that a worker sets on itself. The pool passes them in one environment variable: arguments belong to the program,
//! and a worker reads no input before the limits apply.

use crate::options::WorkerOptions;

/// Name of the variable; its value is `memory cpu files output` in decimal.
pub const VARIABLE: &str = "EXTRACT_WORKER_LIMITS";

/// Limits of one worker process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    pub memory_bytes: u64,
    /// CPU seconds per document.
    pub cpu_seconds: u64,
    pub files: u32,
    pub max_output_bytes: usize,
}

impl Limits {
    pub fn of(options: &WorkerOptions) -> Self {
        Self {
            memory_bytes: options.memory_bytes,
            cpu_seconds: options.cpu_seconds.max(1),
            files: options.files_per_worker.max(1),
            max_output_bytes: options.max_output_bytes,
        }
    }

    pub fn encode(&self) -> String {
        format!("{} {} {} {}", self.memory_bytes, self.cpu_seconds, self.files, self.max_output_bytes)
    }

    pub fn decode(value: &str) -> Option<Self> {
        let mut numbers = value.split(' ');
        let limits = Self {
            memory_bytes: numbers.next()?.parse().ok()?,
            cpu_seconds: numbers.next()?.parse().ok()?,
            files: numbers.next()?.parse().ok()?,
            max_output_bytes: numbers.next()?.parse().ok()?,
        };
        numbers.next().is_none().then_some(limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_limits_decode_to_the_same() {
        let limits = Limits { memory_bytes: 1 << 30, cpu_seconds: 30, files: 200, max_output_bytes: 7 };
        assert_eq!(Limits::decode(&limits.encode()), Some(limits));
        for bad in ["", "1 2 3", "1 2 3 4 5", "a b c d"] {
            assert_eq!(Limits::decode(bad), None);
        }
    }
}
