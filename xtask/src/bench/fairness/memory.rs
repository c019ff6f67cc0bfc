//! Memory of a server during and after a load.

use crate::bench::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_millis(100);

/// Returns the peak memory of a server and its workers until `over`, in bytes.
pub fn peak(pid: u32, over: &AtomicBool) -> u64 {
    process::reset_peak(pid);
    let mut most = 0;
    while !over.load(Ordering::Relaxed) {
        most = most.max(process::resident(pid).unwrap_or(0));
        std::thread::sleep(INTERVAL);
    }
    // The kernel's own peak has no gaps, but lacks the workers.
    most.max(process::peak(pid).unwrap_or(0))
}

/// Waits until a server and its workers hold less than `enough` bytes, at most for `time`, and returns what they hold.
///
/// # Errors
///
/// Returns an error if the server has exited or a signal interrupts the wait.
pub fn settled(pid: u32, enough: f64, time: Duration) -> anyhow::Result<u64> {
    let begun = Instant::now();
    loop {
        let held = process::resident(pid)?;
        if (held as f64) < enough || begun.elapsed() >= time {
            return Ok(held);
        }
        crate::bench::check_interrupt()?;
        std::thread::sleep(INTERVAL);
    }
}
