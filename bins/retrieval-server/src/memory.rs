//! Allocator settings.

/// Makes the allocator return memory to the system after indexing.
///
/// By default glibc raises its mmap threshold whenever a block above it is freed, and creates an arena per thread:
/// after 600 small files the server kept 180 MB. With both fixed it keeps 40 MB, without measurable cost. Other allocators
/// keep more of a burst ("Allocators" in `docs/benchmarks.md`). Must be called before the first thread starts.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "mallopt has no safe wrapper; it takes two integers and touches nothing of ours")]
pub fn configure_allocator() {
    const MMAP_THRESHOLD: libc::c_int = 128 << 10;
    const ARENAS: libc::c_int = 2;
    // An option unknown to this libc is refused and changes nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_THRESHOLD);
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn configure_allocator() {}
