//! Allocator settings.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use std::num::NonZero;

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

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn configure_allocator() {}
