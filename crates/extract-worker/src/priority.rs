//! Priority of workers whose documents are slow: requests and quick documents have the cores first.

use admission::BACKGROUND_NICENESS;
use rustix::process::{Pid, getpriority_pgrp, setpriority_pgrp};

/// Wall time of a second of CPU time at low priority, in seconds: a worker has a tenth of a core beside other work.
pub const SLOWDOWN: u32 = 10;

/// Lowers the priority of a worker, which leads a process group of its own: niceness is of the thread, and that of a group reaches
/// all threads. Where it fails, the worker competes with the others.
pub fn lower(process: u32) {
    // No id would mean the group of the current process.
    let Some(group) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return };
    if let Ok(niceness) = getpriority_pgrp(Some(group)) {
        let _ = setpriority_pgrp(Some(group), niceness + BACKGROUND_NICENESS);
    }
}
