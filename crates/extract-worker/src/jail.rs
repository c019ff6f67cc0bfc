//! Rights that a worker drops before it reads a document.
//!
//! Limits apply on every Unix; the rest needs Linux. Protections that the kernel lacks are skipped, and the report omits
//! them.

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::limits::Limits;
use crate::sandbox::SandboxReport;

/// Open files per worker: the three standard streams and those that the runtime opens briefly.
const OPEN_FILES: u64 = 16;
/// CPU seconds between `SIGXCPU`, whose cause is certain, and `SIGKILL`, whose cause is not.
const CPU_GRACE: u64 = 5;

/// Enters the jail and reports the protections in force.
pub fn enter(limits: &Limits) -> SandboxReport {
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
    held.extend(crate::jail_linux::enter());
    SandboxReport::of_this_process(held)
}

/// Renews the CPU time for the next document: the kernel counts the limit from the start of the process.
pub fn renew_cpu(limits: &Limits) {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).tv_sec;
    let soft = u64::try_from(used).unwrap_or(0).saturating_add(limits.cpu_seconds).saturating_add(1);
    let maximum = rustix::process::getrlimit(Resource::Cpu).maximum;
    let soft = maximum.map_or(soft, |maximum| soft.min(maximum));
    let _ = setrlimit(Resource::Cpu, Rlimit { current: Some(soft), maximum });
}
