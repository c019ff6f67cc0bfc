//! The keys that are known, and when they are asked for again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::JoinHandle;

use crate::fetch::Source;
use crate::jwk::KeySet;

/// How long keys are used, and how often the issuer is asked. The defaults suit every issuer; tests are in a hurry.
#[derive(Clone, Copy, Debug)]
pub struct KeyTiming {
    /// Keys of this age are asked for again before they are used; a fifth earlier in the background.
    pub fresh: Duration,
    /// How long keys are used while the issuer does not answer.
    pub kept: Duration,
    /// Between the last time that keys were asked for and a token with an unknown key that has them asked for again.
    pub unknown_key_pause: Duration,
    /// Between a failed attempt and the next.
    pub failure_pause: Duration,
    /// Of one attempt as a whole.
    pub timeout: Duration,
}

impl Default for KeyTiming {
    fn default() -> Self {
        Self {
            fresh: Duration::from_secs(10 * 60),
            kept: Duration::from_secs(24 * 60 * 60),
            unknown_key_pause: Duration::from_secs(30),
            failure_pause: Duration::from_secs(5),
            timeout: Duration::from_secs(3),
        }
    }
}

pub struct KeyCache {
    timing: KeyTiming,
    shared: Arc<Shared>,
    /// Who holds it asks the issuer, and nobody else does.
    gate: Arc<Mutex<LastAttempt>>,
    /// Attempts run on this runtime: the request that began one may be gone before its end.
    runtime: Handle,
}

/// When the last attempt ended.
type LastAttempt = Option<Instant>;

struct Shared {
    source: Source,
    known: RwLock<Option<Known>>,
    failing: AtomicBool,
}

#[derive(Clone)]
struct Known {
    keys: Arc<KeySet>,
    since: Instant,
}

impl KeyCache {
    /// Must be called on a tokio runtime, which must live as long as this. Does not reach out yet.
    pub fn new(source: Source, timing: KeyTiming) -> Self {
        let shared = Shared { source, known: RwLock::default(), failing: AtomicBool::new(false) };
        Self { timing, shared: Arc::new(shared), gate: Arc::default(), runtime: Handle::current() }
    }

    /// The keys to use now; `None` when there are none.
    pub async fn current(&self) -> Option<Arc<KeySet>> {
        let KeyTiming { fresh, kept, failure_pause, .. } = self.timing;
        if let Some(known) = self.shared.known() {
            let age = known.since.elapsed();
            // While the issuer is away, old keys must not cost every request a wait.
            let in_time = age < fresh || (age < kept && self.shared.failing.load(Ordering::Relaxed));
            if in_time {
                if age >= fresh * 4 / 5 {
                    self.refresh_in_background();
                }
                return Some(known.keys);
            }
        }
        self.refresh(failure_pause).await;
        self.shared.known().filter(|known| known.since.elapsed() < kept).map(|known| known.keys)
    }

    /// Keys that may be newer than `used`, which did not verify a token: asked for, unless that was done a moment ago.
    pub async fn newer_than(&self, used: &Arc<KeySet>) -> Option<Arc<KeySet>> {
        self.refresh(self.timing.unknown_key_pause).await;
        self.shared.known().map(|known| known.keys).filter(|keys| !Arc::ptr_eq(keys, used))
    }

    /// Waits for the attempt that is under way, or makes one if the last is at least `pause` ago.
    async fn refresh(&self, pause: Duration) {
        let gate = Arc::clone(&self.gate).lock_owned().await;
        if gate.is_none_or(|last| last.elapsed() >= pause) {
            // It fails when the runtime is going down, and then nobody is left to answer.
            let _ = self.attempt(gate).await;
        }
    }

    fn refresh_in_background(&self) {
        let Ok(gate) = Arc::clone(&self.gate).try_lock_owned() else { return };
        if gate.is_none_or(|last| last.elapsed() >= self.timing.failure_pause) {
            drop(self.attempt(gate));
        }
    }

    fn attempt(&self, mut gate: OwnedMutexGuard<LastAttempt>) -> JoinHandle<()> {
        let shared = Arc::clone(&self.shared);
        self.runtime.spawn(async move {
            shared.fetch().await;
            *gate = Some(Instant::now());
        })
    }
}

impl Shared {
    fn known(&self) -> Option<Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn fetch(&self) {
        match self.source.fetch().await {
            Ok(keys) => {
                let known = Known { keys: Arc::new(keys), since: Instant::now() };
                *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(known);
                if self.failing.swap(false, Ordering::Relaxed) {
                    tracing::info!("the keys of the issuer of access tokens are available again");
                }
            }
            Err(error) => {
                if !self.failing.swap(true, Ordering::Relaxed) {
                    let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
                    tracing::warn!(%error, cause, "the keys of the issuer of access tokens are not available");
                }
            }
        }
    }
}
