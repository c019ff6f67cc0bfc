//! Limit of open descriptors of this process, which started servers inherit.

use anyhow::Context;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit to the maximum that the system permits.
///
/// # Errors
///
/// Returns an error if the system permits fewer than `least` descriptors.
pub fn raise(least: u64) -> anyhow::Result<()> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    set(maximum)?;
    anyhow::ensure!(
        maximum.is_none_or(|maximum| maximum >= least),
        "{least} descriptors are needed: raise the hard limit (`ulimit -Hn`)"
    );
    Ok(())
}

/// Runs `start` with a limit of `count` descriptors, and restores the limit.
///
/// # Errors
///
/// Returns an error if the system refuses the limit, or the error of `start`.
pub fn limited<T>(count: u64, start: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let before = getrlimit(Resource::Nofile).current;
    set(Some(count))?;
    let started = start();
    set(before)?;
    started
}

fn set(current: Option<u64>) -> anyhow::Result<()> {
    let limit = Rlimit { current, maximum: getrlimit(Resource::Nofile).maximum };
    setrlimit(Resource::Nofile, limit).with_context(|| format!("cannot set the limit of descriptors to {current:?}"))
}
