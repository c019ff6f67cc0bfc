//! Nodes of the server: calls spread over those that answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::EngineError;
use qdrant_client::{Qdrant, QdrantError};

use crate::error::{from_client, is_of_the_node, unavailable};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Timeout of a call. Callers of searches apply a shorter one.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout of a search on a node while others are left.
const NODE_TIMEOUT: Duration = Duration::from_millis(800);
/// Time for which calls avoid a node that failed.
const PAUSE: Duration = Duration::from_secs(5);
/// Connections to a node.
const CONNECTIONS: usize = 4;

/// Kind of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call {
    /// Quick read, which another node takes over if the first one is silent.
    Search,
    /// Change, or read of a whole collection. Another node takes over only if the first one fails: the silent one may still
    /// apply the change.
    Work,
}

/// Nodes of one server. All of them answer every call.
pub struct Nodes {
    nodes: Vec<Node>,
    next: AtomicUsize,
}

struct Node {
    client: Qdrant,
    failed_at: Mutex<Option<Instant>>,
}

impl Node {
    fn is_avoided(&self) -> bool {
        let failed_at = *self.failed_at.lock().unwrap_or_else(PoisonError::into_inner);
        failed_at.is_some_and(|at| at.elapsed() < PAUSE)
    }

    fn set_failed(&self, failed: bool) {
        *self.failed_at.lock().unwrap_or_else(PoisonError::into_inner) = failed.then(Instant::now);
    }
}

impl Nodes {
    /// Creates the clients of nodes without connecting to them.
    ///
    /// # Errors
    ///
    /// Returns an error if a URL is invalid.
    pub fn new<'a>(urls: impl Iterator<Item = &'a str>, api_key: Option<&str>) -> Result<Self, QdrantError> {
        let nodes = urls.map(|url| {
            let mut config = Qdrant::from_url(url)
                .timeout(TIMEOUT)
                .connect_timeout(CONNECT_TIMEOUT)
                .keep_alive_while_idle()
                .skip_compatibility_check();
            config.set_pool_size(CONNECTIONS);
            config.api_key = api_key.map(str::to_owned);
            Ok(Node { client: config.build()?, failed_at: Mutex::default() })
        });
        Ok(Self { nodes: nodes.collect::<Result<_, QdrantError>>()?, next: AtomicUsize::default() })
    }

    /// Calls one node after another until one answers, those last that failed recently. `action` names the operation in
    /// errors.
    ///
    /// # Errors
    ///
    /// The error of the server, or of the last node if none answers.
    pub async fn call<T, F>(&self, action: &str, kind: Call, call: impl Fn(Qdrant) -> F) -> Result<T, EngineError>
    where
        F: Future<Output = Result<T, QdrantError>>,
    {
        let order = self.order();
        let mut last = None;
        for (at, node) in order.iter().enumerate() {
            let is_last = at + 1 == order.len();
            let timeout = if kind == Call::Search && !is_last { NODE_TIMEOUT } else { TIMEOUT };
            let client = trace_context::headers()
                .fold(node.client.clone(), |client, (name, value)| client.with_header(name, value));
            let error = match tokio::time::timeout(timeout, call(client)).await {
                Ok(Ok(response)) => {
                    node.set_failed(false);
                    return Ok(response);
                }
                Ok(Err(error)) if !is_of_the_node(&error) => return Err(from_client(action, error)),
                Ok(Err(error)) => from_client(action, error),
                Err(_) => {
                    let error = unavailable(format!("{action} failed: no response within {timeout:?}"));
                    if kind == Call::Work {
                        return Err(error);
                    }
                    error
                }
            };
            node.set_failed(true);
            last = Some(error);
        }
        Err(last.unwrap_or_else(|| unavailable(format!("{action} failed: no node is configured"))))
    }

    /// Returns the nodes in the order in which to call them.
    fn order(&self) -> Vec<&Node> {
        let first = self.next.fetch_add(1, Ordering::Relaxed) % self.nodes.len().max(1);
        let (avoided, ready): (Vec<&Node>, Vec<&Node>) =
            self.nodes[first..].iter().chain(&self.nodes[..first]).partition(|node| node.is_avoided());
        ready.into_iter().chain(avoided).collect()
    }
}
