use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::task::AtomicWaker;
use metrics::{counter, gauge};

use crate::Limits;
use crate::limits::{is_trusted, source};
use crate::registry::{Admission, Reason, Registry};

/// Least interval of warnings about refused connections.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// The open connections of one listener. Clones share their count.
#[derive(Clone)]
pub struct Connections(Arc<Shared>);

struct Shared {
    listener: &'static str,
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    registry: Registry,
    /// Ways to close connections, by id.
    handles: HashMap<u64, Arc<Handle>>,
    warned: Option<Instant>,
}

/// The side of a connection that its stream sees.
#[derive(Default)]
struct Handle {
    replaced: AtomicBool,
    uses: AtomicUsize,
    /// Uses so far: also one that begins and ends between two reads shows that a head was complete.
    begun: AtomicU64,
    reader: AtomicWaker,
}

impl Connections {
    /// Creates the empty count of a listener, which metrics and the log call `listener`.
    pub fn new(listener: &'static str, limits: Limits) -> Self {
        gauge!("retrieval_connections", "listener" => listener).set(0.0);
        count_shed(listener, 0);
        count_slow(listener, 0);
        [Reason::Full, Reason::Address].into_iter().for_each(|reason| count_refused(listener, reason, 0));
        Self(Arc::new(Shared { listener, limits, state: Mutex::default() }))
    }

    /// Admits a connection, or returns `None`: it must be closed at once. May replace a connection that waits for its next
    /// request, which reads the end of its stream.
    pub fn admit(&self, peer: IpAddr) -> Option<Slot> {
        let Shared { listener, limits, .. } = &*self.0;
        let listener = *listener;
        let source = if is_trusted(peer, &limits.trusted) { None } else { Some(source(peer)) };
        let mut state = self.0.lock();
        match state.registry.admit(source, limits) {
            Admission::Admitted { id, replaced } => {
                let handle = Arc::<Handle>::default();
                state.handles.insert(id, Arc::clone(&handle));
                if let Some(replaced) = replaced.and_then(|replaced| state.handles.remove(&replaced)) {
                    replaced.replaced.store(true, Ordering::Release);
                    replaced.reader.wake();
                    count_shed(listener, 1);
                }
                self.0.report(&state);
                drop(state);
                Some(Slot(Requests { shared: Arc::clone(&self.0), id, handle }))
            }
            Admission::Refused(reason) => {
                let warn = state.warned.is_none_or(|warned| warned.elapsed() >= WARNING_INTERVAL);
                if warn {
                    state.warned = Some(Instant::now());
                }
                drop(state);
                count_refused(listener, reason, 1);
                if warn {
                    self.0.warn(reason, peer);
                }
                None
            }
        }
    }

    /// Returns the number of open connections.
    pub fn open(&self) -> usize {
        self.0.lock().registry.len()
    }

    /// Returns the maximum of open connections.
    pub fn limit(&self) -> usize {
        self.0.limits.connections
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self, state: &State) {
        gauge!("retrieval_connections", "listener" => self.listener).set(state.registry.len() as f64);
    }

    fn warn(&self, reason: Reason, peer: IpAddr) {
        let listener = self.listener;
        match reason {
            Reason::Full => tracing::warn!(listener, limit = self.limits.connections, "all connections are in use"),
            Reason::Address => tracing::warn!(
                listener,
                %peer,
                limit = self.limits.per_address,
                "an address has its maximum of connections; if it is a proxy, add it to server.trusted_networks"
            ),
        }
    }
}

/// Place of one connection, freed when it is dropped.
pub struct Slot(Requests);

impl Slot {
    /// Returns the source of guards for the code that handles the requests of this connection.
    pub fn requests(&self) -> Requests {
        self.0.clone()
    }

    /// Returns true if no request is being served.
    pub(crate) fn is_waiting(&self) -> bool {
        self.0.handle.uses.load(Ordering::Acquire) == 0
    }

    /// Returns the number of uses that have begun.
    pub(crate) fn begun(&self) -> u64 {
        self.0.handle.begun.load(Ordering::Acquire)
    }

    /// Ready once the connection has been replaced and serves no request.
    pub(crate) fn poll_replaced(&self, context: &mut Context<'_>) -> Poll<()> {
        let handle = &self.0.handle;
        handle.reader.register(context.waker());
        if handle.replaced.load(Ordering::Acquire) && self.is_waiting() { Poll::Ready(()) } else { Poll::Pending }
    }

    pub(crate) fn count_slow(&self) {
        count_slow(self.0.shared.listener, 1);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Requests { shared, id, .. } = &self.0;
        let mut state = shared.lock();
        if state.handles.remove(id).is_some() {
            state.registry.remove(*id);
            shared.report(&state);
        }
    }
}

/// Source of [`Serving`] guards of one connection.
#[derive(Clone)]
pub struct Requests {
    shared: Arc<Shared>,
    id: u64,
    handle: Arc<Handle>,
}

impl Requests {
    /// Protects the connection from being replaced while the guard lives: from the head of a request to the end of its
    /// answer.
    pub fn serve(&self) -> Serving {
        self.handle.uses.fetch_add(1, Ordering::AcqRel);
        self.handle.begun.fetch_add(1, Ordering::AcqRel);
        self.shared.lock().registry.begin(self.id);
        Serving(self.clone())
    }
}

/// Guard of a connection that serves a request.
pub struct Serving(Requests);

impl Drop for Serving {
    fn drop(&mut self) {
        let Requests { shared, id, handle } = &self.0;
        shared.lock().registry.end(*id);
        handle.uses.fetch_sub(1, Ordering::AcqRel);
        if handle.replaced.load(Ordering::Acquire) {
            handle.reader.wake();
        }
    }
}

// A count of 0 makes a counter known to the first scrape.

fn count_shed(listener: &'static str, connections: u64) {
    counter!("retrieval_connections_shed_total", "listener" => listener).increment(connections);
}

fn count_slow(listener: &'static str, connections: u64) {
    counter!("retrieval_connections_slow_total", "listener" => listener).increment(connections);
}

fn count_refused(listener: &'static str, reason: Reason, connections: u64) {
    let reason = reason.as_str();
    counter!("retrieval_connections_refused_total", "listener" => listener, "reason" => reason).increment(connections);
}
