//! Priority of workers whose documents are slow: requests and quick documents have the cores first.

use admission::BACKGROUND_NICENESS;
use rustix::process::{Pid, getpriority_process, setpriority_process};

/// Lowers the priority of a process. Where that fails, it competes with the others.
#[cfg(target_os = "linux")]
pub fn lower(process: u32) {
    // Niceness is of the thread. Threads that start later have that of the thread that starts them.
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else { return };
    for thread in threads.flatten() {
        if let Some(id) = thread.file_name().to_str().and_then(|name| name.parse().ok()) {
            lower_one(id);
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub fn lower(process: u32) {
    lower_one(process);
}

fn lower_one(id: u32) {
    // No id would mean the current process.
    let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) else { return };
    if let Ok(niceness) = getpriority_process(Some(id)) {
        let _ = setpriority_process(Some(id), niceness + BACKGROUND_NICENESS);
    }
}
