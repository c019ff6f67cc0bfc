//! Cache of the issuer's keys, with refresh in the background and single flight.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::JoinHandle;

use crate::fetch::Source;
use crate::jwk::KeySet;

/// Lifetimes and intervals of the key cache. The defaults suit every issuer; tests use shorter ones.
#[derive(Clone, Copy, Debug)]
pub struct KeyTiming {
    /// Age at which keys are fetched again before use. The background refresh starts at four fifths of it.
    pub refresh_after: Duration,
    /// Maximum age of keys while the issuer is unavailable.
    pub max_age: Duration,
    /// Minimum time between a fetch and one triggered by an unknown key.
    pub unknown_key_interval: Duration,
    /// Minimum time between a failed fetch and the next one.
    pub retry_interval: Duration,
    /// Timeout of one fetch.
    pub timeout: Duration,
}

impl Default for KeyTiming {
    fn default() -> Self {
        Self {
            refresh_after: Duration::from_secs(10 * 60),
            max_age: Duration::from_secs(24 * 60 * 60),
            unknown_key_interval: Duration::from_secs(30),
            retry_interval: Duration::from_secs(5),
            timeout: Duration::from_secs(3),
        }
    }
}

/// Keys of one issuer, fetched on demand.
pub struct KeyCache {
    timing: KeyTiming,
    shared: Arc<Shared>,
    /// Single flight: the holder of the lock fetches.
    last_fetch: Arc<Mutex<LastFetch>>,
    /// Runtime of the fetches, which outlive the requests that start them.
    runtime: Handle,
}

/// End of the last fetch.
type LastFetch = Option<Instant>;

struct Shared {
    source: Source,
    cached: RwLock<Option<CachedKeys>>,
    failing: AtomicBool,
}

#[derive(Clone)]
struct CachedKeys {
    keys: Arc<KeySet>,
    fetched_at: Instant,
}

impl KeyCache {
    /// Creates an empty cache without fetching. Must be called on a tokio runtime that outlives the cache.
    pub fn new(source: Source, timing: KeyTiming) -> Self {
        let shared = Shared { source, cached: RwLock::default(), failing: AtomicBool::new(false) };
        Self { timing, shared: Arc::new(shared), last_fetch: Arc::default(), runtime: Handle::current() }
    }

    /// Returns the current keys, fetching them if necessary; `None` if there are none.
    pub async fn current(&self) -> Option<Arc<KeySet>> {
        let KeyTiming { refresh_after, max_age, retry_interval, .. } = self.timing;
        if let Some(cached) = self.shared.cached() {
            let age = cached.fetched_at.elapsed();
            // While the issuer is unavailable, requests must not wait for the refresh of old keys.
            let is_usable = age < refresh_after || (age < max_age && self.shared.failing.load(Ordering::Relaxed));
            if is_usable {
                if age >= refresh_after * 4 / 5 {
                    self.refresh_in_background();
                }
                return Some(cached.keys);
            }
        }
        self.refresh(retry_interval).await;
        self.shared.cached().filter(|cached| cached.fetched_at.elapsed() < max_age).map(|cached| cached.keys)
    }

    /// Returns keys other than `used`, which did not verify a token; `None` if there are none or a recent fetch forbids another.
    pub async fn newer_than(&self, used: &Arc<KeySet>) -> Option<Arc<KeySet>> {
        self.refresh(self.timing.unknown_key_interval).await;
        self.shared.cached().map(|cached| cached.keys).filter(|keys| !Arc::ptr_eq(keys, used))
    }

    /// Waits for the fetch in progress, or starts one if the last ended at least `interval` ago.
    async fn refresh(&self, interval: Duration) {
        let last_fetch = Arc::clone(&self.last_fetch).lock_owned().await;
        if last_fetch.is_none_or(|at| at.elapsed() >= interval) {
            // Fails only while the runtime shuts down.
            let _ = self.spawn_fetch(last_fetch).await;
        }
    }

    fn refresh_in_background(&self) {
        let Ok(last_fetch) = Arc::clone(&self.last_fetch).try_lock_owned() else { return };
        if last_fetch.is_none_or(|at| at.elapsed() >= self.timing.retry_interval) {
            drop(self.spawn_fetch(last_fetch));
        }
    }

    fn spawn_fetch(&self, mut last_fetch: OwnedMutexGuard<LastFetch>) -> JoinHandle<()> {
        let shared = Arc::clone(&self.shared);
        self.runtime.spawn(async move {
            shared.fetch().await;
            *last_fetch = Some(Instant::now());
        })
    }
}

impl Shared {
    fn cached(&self) -> Option<CachedKeys> {
        self.cached.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn fetch(&self) {
        match self.source.fetch().await {
            Ok(keys) => {
                let cached = CachedKeys { keys: Arc::new(keys), fetched_at: Instant::now() };
                *self.cached.write().unwrap_or_else(PoisonError::into_inner) = Some(cached);
                if self.failing.swap(false, Ordering::Relaxed) {
                    tracing::info!("the token issuer's keys are available again");
                }
            }
            Err(error) => {
                if !self.failing.swap(true, Ordering::Relaxed) {
                    let error = error_causes::describe(&error);
                    tracing::warn!(error, "fetching the token issuer's keys failed");
                }
            }
        }
    }
}
