//! What a worker gives up before it reads a document.
//!
//! Limits hold on every Unix; the rest needs Linux, and what the kernel lacks is left out and told.

use rustix::process::{Resource, Rlimit, setrlimit};

use super::limits::Limits;

/// Files a worker may have open: the three it was born with and what the runtime opens for a moment.
const OPEN_FILES: u64 = 16;
/// CPU seconds between the signal that can be told apart (`SIGXCPU`) and the one that cannot (`SIGKILL`).
const CPU_GRACE: u64 = 5;

/// Enters the jail; returns what holds, for the log.
pub(super) fn enter(limits: &Limits) -> String {
    let mut held = Vec::new();
    let total_cpu = limits.cpu_seconds.saturating_mul(u64::from(limits.files)).saturating_add(CPU_GRACE);
    for (name, resource, soft, hard) in [
        ("core", Resource::Core, 0, 0),
        ("file size", Resource::Fsize, 0, 0),
        ("open files", Resource::Nofile, OPEN_FILES, OPEN_FILES),
        ("memory", Resource::As, limits.memory_bytes, limits.memory_bytes),
        ("cpu", Resource::Cpu, limits.cpu_seconds, total_cpu),
    ] {
        if setrlimit(resource, Rlimit { current: Some(soft), maximum: Some(hard) }).is_ok() {
            held.push(name);
        }
    }
    #[cfg(target_os = "linux")]
    held.extend(super::jail_linux::enter());
    held.join(", ")
}

/// Gives the next document its own CPU time: the limit counts from the start of the process.
pub(super) fn renew_cpu(limits: &Limits) {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).tv_sec;
    let soft = u64::try_from(used).unwrap_or(0).saturating_add(limits.cpu_seconds).saturating_add(1);
    let maximum = rustix::process::getrlimit(Resource::Cpu).maximum;
    let soft = maximum.map_or(soft, |maximum| soft.min(maximum));
    let _ = setrlimit(Resource::Cpu, Rlimit { current: Some(soft), maximum });
}
