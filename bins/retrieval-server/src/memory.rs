//! Allocator settings, and the return of free memory to the system.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use std::{num::NonZero, thread, time::Duration};

/// Interval of the looks at free memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const INTERVAL: Duration = Duration::from_secs(5);

/// Free bytes on the heap, at two looks in a row, from which on they are returned.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const FREE_BYTES: usize = 64 << 20;

/// Makes the allocator return memory to the system after indexing.
///
/// By default glibc raises its mmap threshold whenever a block above it is freed, so that large blocks stay on the heap: after 600
/// small files the server kept 180 MB, with a fixed threshold 40 MB. Fewer arenas keep less, but threads wait for each other's
/// ("Memory and the allocator" in `docs/benchmarks.md`). Must be called before the first thread starts.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "mallopt has no safe wrapper; it takes two integers and touches nothing of ours")]
pub fn configure_allocator() {
    const MMAP_THRESHOLD: libc::c_int = 128 << 10;
    const ARENAS_PER_CORE: usize = 4;
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let arenas = libc::c_int::try_from(cores.saturating_mul(ARENAS_PER_CORE)).unwrap_or(libc::c_int::MAX);
    // An option unknown to this libc is refused and changes nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_THRESHOLD);
        libc::mallopt(libc::M_ARENA_MAX, arenas);
    }
}

/// Starts a thread that returns free memory to the system after a burst: by itself the allocator only returns what is at the end of an
/// arena.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn return_free_memory() {
    let watch = || {
        let mut before = 0;
        loop {
            thread::sleep(INTERVAL);
            let (free, used) = heap_bytes();
            // A load that goes on frees and needs a part of the heap all the time.
            if free.min(before) > FREE_BYTES.max(used / 2) {
                trim();
            }
            before = free;
        }
    };
    // Without the thread the memory stays with the process.
    let _ = thread::Builder::new().name("memory".to_owned()).spawn(watch);
}

/// Returns the numbers of free and of used bytes in all arenas.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "mallinfo2 has no safe wrapper; it takes nothing and returns counters")]
fn heap_bytes() -> (usize, usize) {
    let counters = unsafe { libc::mallinfo2() };
    (counters.fordblks, counters.uordblks)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "malloc_trim has no safe wrapper; it takes an integer and only returns free pages")]
fn trim() {
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn configure_allocator() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn return_free_memory() {}
