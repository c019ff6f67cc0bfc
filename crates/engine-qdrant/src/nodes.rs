//! Nodes of the server: calls spread over those that answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::EngineError;
use futures_util::stream::{FuturesUnordered, StreamExt};
use qdrant_client::{Qdrant, QdrantError};

use crate::error::{from_client, is_of_the_node, unavailable};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Timeout of a call. Callers of searches apply a shorter one.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Time after which a read is sent to a second node, and to a third one after the same time.
const PATIENCE: Duration = Duration::from_millis(800);
/// Time for which calls avoid a node that failed, or that was silent while another one answered a read.
const PAUSE: Duration = Duration::from_secs(5);
/// Time for which calls avoid a node that did not answer at all. The next change would wait for it as long.
const SILENCE_PAUSE: Duration = Duration::from_secs(60);
/// Connections to a node.
const CONNECTIONS: usize = 4;

/// Kind of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call {
    /// A read, which another node answers if the first one fails or is silent.
    Read,
    /// A change, which another node applies only if the first one fails: a silent one may still apply it.
    Change,
}

/// Nodes of one server. All of them answer every call.
pub struct Nodes {
    nodes: Vec<Node>,
    next: AtomicUsize,
}

struct Node {
    client: Qdrant,
    avoided_until: Mutex<Option<Instant>>,
}

impl Node {
    fn is_avoided(&self) -> bool {
        let until = *self.avoided_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    /// Avoids the node for this time, unless it is avoided for longer already.
    fn avoid(&self, pause: Duration) {
        let mut until = self.avoided_until.lock().unwrap_or_else(PoisonError::into_inner);
        *until = (*until).max(Some(Instant::now() + pause));
    }

    fn set_ready(&self) {
        *self.avoided_until.lock().unwrap_or_else(PoisonError::into_inner) = None;
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
            Ok(Node { client: config.build()?, avoided_until: Mutex::default() })
        });
        Ok(Self { nodes: nodes.collect::<Result<_, QdrantError>>()?, next: AtomicUsize::default() })
    }

    /// Calls a node, and others if it fails or, for a read, is silent. `action` names the operation in errors.
    ///
    /// # Errors
    ///
    /// The error of the server, or of the last node if none answers.
    pub async fn call<T, F>(&self, action: &str, kind: Call, call: impl Fn(Qdrant) -> F) -> Result<T, EngineError>
    where
        F: Future<Output = Result<T, QdrantError>>,
    {
        let start = |node: &'_ Node| {
            let client = node.client.clone();
            let client = trace_context::headers().fold(client, |client, (name, value)| client.with_header(name, value));
            tokio::time::timeout(TIMEOUT, call(client))
        };
        let mut waiting = self.order().into_iter();
        let mut called: Vec<&Node> = Vec::new();
        let mut calls = FuturesUnordered::new();
        let mut last = unavailable(format!("{action} failed: no node is configured"));
        loop {
            if let Some(node) = waiting.next() {
                let response = start(node);
                calls.push(async move { (node, response.await) });
                called.push(node);
            }
            let hedge = async {
                match kind {
                    Call::Read if waiting.len() > 0 => tokio::time::sleep(PATIENCE).await,
                    Call::Read | Call::Change => std::future::pending().await,
                }
            };
            let (node, response) = tokio::select! {
                response = calls.next() => match response {
                    Some(response) => response,
                    None => return Err(last),
                },
                () = hedge => continue,
            };
            match response {
                Ok(Ok(response)) => {
                    // Those called before did not answer in time.
                    called.iter().take_while(|called| !std::ptr::eq(**called, node)).for_each(|node| node.avoid(PAUSE));
                    node.set_ready();
                    return Ok(response);
                }
                Ok(Err(error)) if !is_of_the_node(&error) => return Err(from_client(action, error)),
                Ok(Err(error)) => {
                    node.avoid(PAUSE);
                    last = from_client(action, error);
                }
                Err(_) => {
                    node.avoid(SILENCE_PAUSE);
                    last = unavailable(format!("{action} failed: no response within {TIMEOUT:?}"));
                    if kind == Call::Change {
                        return Err(last);
                    }
                }
            }
        }
    }

    /// Returns the nodes in the order in which to call them.
    fn order(&self) -> Vec<&Node> {
        let first = self.next.fetch_add(1, Ordering::Relaxed) % self.nodes.len().max(1);
        let (avoided, ready): (Vec<&Node>, Vec<&Node>) =
            self.nodes[first..].iter().chain(&self.nodes[..first]).partition(|node| node.is_avoided());
        ready.into_iter().chain(avoided).collect()
    }
}
