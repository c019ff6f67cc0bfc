//! Nodes of the server: calls spread over those that answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::EngineError;
use futures_util::stream::{FuturesUnordered, StreamExt};
use qdrant_client::{Qdrant, QdrantError};
use tokio::time::Timeout;

use crate::error::{from_client, is_not_found, is_of_the_node, unavailable};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Timeout of a call. Callers of searches apply a shorter one.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Time after which a read is sent to a second node, and to a third one after the same time.
const PATIENCE: Duration = Duration::from_millis(800);
/// Time for which a call of all nodes waits for another answer once it has one. What a node knows may be old, so this is longer.
const PATIENCE_FOR_ALL: Duration = Duration::from_secs(5);
/// Time for which calls avoid a node that failed, that was silent while another one answered a read, or that lacks what others have.
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

    /// Starts a call of the node.
    fn start<F: Future>(&self, call: &impl Fn(Qdrant) -> F) -> Timeout<F> {
        let client = self.client.clone();
        let client = trace_context::headers().fold(client, |client, (name, value)| client.with_header(name, value));
        tokio::time::timeout(TIMEOUT, call(client))
    }

    /// Converts the failure of a call: its error, or `None` if the node was silent. A node that is at fault is avoided.
    fn failure(&self, action: &str, error: Option<QdrantError>) -> EngineError {
        match error {
            Some(error) => {
                if is_of_the_node(&error) {
                    self.avoid(PAUSE);
                }
                from_client(action, error)
            }
            None => {
                self.avoid(SILENCE_PAUSE);
                unavailable(format!("{action} failed: no response within {TIMEOUT:?}"))
            }
        }
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

    /// Calls a node, and others if it fails, lacks what the call names, or, for a read, is silent. `action` names the operation in
    /// errors.
    ///
    /// # Errors
    ///
    /// The error of the server, or of the last node if none answers. `Corrupt` if no node has what the call names and most of them say
    /// so: the rest may be down.
    pub async fn call<T, F>(&self, action: &str, kind: Call, call: impl Fn(Qdrant) -> F) -> Result<T, EngineError>
    where
        F: Future<Output = Result<T, QdrantError>>,
    {
        let mut waiting = self.order().into_iter();
        // Nodes that did not answer, or failed.
        let mut called: Vec<&Node> = Vec::new();
        let mut calls = FuturesUnordered::new();
        // Nodes that lack what the call names, with their errors.
        let mut lacking: Vec<(&Node, EngineError)> = Vec::new();
        let mut last = no_node(action);
        loop {
            let is_missing = self.are_most(lacking.len());
            // A change would wait for a silent node until its timeout.
            let is_hopeless = |node: &Node| is_missing && kind == Call::Change && node.is_avoided();
            if let Some(node) = waiting.next().filter(|node| !is_hopeless(node)) {
                let response = node.start(&call);
                calls.push(async move { (node, response.await) });
                called.push(node);
            }
            let hedge = async {
                match kind {
                    Call::Read if is_missing || waiting.len() > 0 => tokio::time::sleep(PATIENCE).await,
                    Call::Read | Call::Change => std::future::pending().await,
                }
            };
            let received = tokio::select! {
                received = calls.next() => received,
                () = hedge => {
                    if waiting.len() > 0 {
                        continue;
                    }
                    None
                }
            };
            let Some((node, response)) = received else {
                called.iter().for_each(|node| node.avoid(PAUSE));
                return Err(lacking.pop().filter(|_| is_missing).map_or(last, |(_, error)| error));
            };
            match response {
                Ok(Ok(response)) => {
                    // Those called before did not answer in time, and the others lack what this one has.
                    lacking.iter().for_each(|(node, _)| node.avoid(PAUSE));
                    called.iter().take_while(|called| !std::ptr::eq(**called, node)).for_each(|node| node.avoid(PAUSE));
                    node.set_ready();
                    return Ok(response);
                }
                Ok(Err(error)) if is_not_found(&error) => {
                    called.retain(|called| !std::ptr::eq(*called, node));
                    lacking.push((node, from_client(action, error)));
                }
                Ok(Err(error)) => {
                    let is_final = !is_of_the_node(&error);
                    last = node.failure(action, Some(error));
                    if is_final {
                        return Err(last);
                    }
                }
                Err(_) => {
                    last = node.failure(action, None);
                    if kind == Call::Change {
                        return Err(last);
                    }
                }
            }
        }
    }

    /// Calls all nodes at the same time, and returns their answers, or those so far once they `suffice`.
    ///
    /// A node answers from what it knows of the cluster, and one that was just started knows nothing. So no single answer proves that
    /// something is missing: see [`require_most`](Self::require_most).
    ///
    /// # Errors
    ///
    /// The error of the last node if none answers.
    pub async fn call_all<T, F>(
        &self,
        action: &str,
        call: impl Fn(Qdrant) -> F,
        suffice: impl Fn(&[T]) -> bool,
    ) -> Result<Vec<T>, EngineError>
    where
        F: Future<Output = Result<T, QdrantError>>,
    {
        let mut silent: Vec<&Node> = self.nodes.iter().collect();
        let mut calls = FuturesUnordered::new();
        for node in &self.nodes {
            let response = node.start(&call);
            calls.push(async move { (node, response.await) });
        }
        let mut answers = Vec::new();
        let mut last = no_node(action);
        loop {
            let (patience, pause) = match silent.iter().all(|node| node.is_avoided()) {
                _ if answers.is_empty() => (TIMEOUT, SILENCE_PAUSE),
                true => (PATIENCE, PAUSE),
                false => (PATIENCE_FOR_ALL, SILENCE_PAUSE),
            };
            let Ok(Some((node, response))) = tokio::time::timeout(patience, calls.next()).await else {
                silent.iter().for_each(|node| node.avoid(pause));
                return if answers.is_empty() { Err(last) } else { Ok(answers) };
            };
            silent.retain(|other| !std::ptr::eq(*other, node));
            match response {
                Ok(Ok(answer)) => {
                    answers.push(answer);
                    if suffice(&answers) {
                        return Ok(answers);
                    }
                }
                Ok(Err(error)) => last = node.failure(action, Some(error)),
                Err(_) => last = node.failure(action, None),
            }
        }
    }

    /// Verifies that enough nodes have answered to conclude that what none of them knows is missing: a node that knows nothing may be
    /// the only one that is up.
    ///
    /// # Errors
    ///
    /// `Unavailable` unless more than half of the nodes have answered.
    pub fn require_most<T>(&self, action: &str, answers: &[T]) -> Result<(), EngineError> {
        if self.are_most(answers.len()) {
            return Ok(());
        }
        let (answered, nodes) = (answers.len(), self.nodes.len());
        Err(unavailable(format!("{action} failed: only {answered} of {nodes} nodes responded")))
    }

    fn are_most(&self, count: usize) -> bool {
        2 * count > self.nodes.len()
    }

    /// Returns the nodes in the order in which to call them.
    fn order(&self) -> Vec<&Node> {
        let first = self.next.fetch_add(1, Ordering::Relaxed) % self.nodes.len().max(1);
        let (avoided, ready): (Vec<&Node>, Vec<&Node>) =
            self.nodes[first..].iter().chain(&self.nodes[..first]).partition(|node| node.is_avoided());
        ready.into_iter().chain(avoided).collect()
    }
}

fn no_node(action: &str) -> EngineError {
    unavailable(format!("{action} failed: no node is configured"))
}

#[cfg(test)]
mod tests {
    use engine::EngineErrorKind::{self, Corrupt, Unavailable};
    use futures_util::FutureExt;
    use futures_util::future::BoxFuture;
    use tonic::{Code, Status};

    use super::*;

    /// Response of a node.
    #[derive(Clone, Copy)]
    enum Response {
        Found(u32),
        Fails(Code),
        Silent,
    }

    use Response::{Fails, Found, Silent};

    const LACKS: Response = Fails(Code::NotFound);
    const DOWN: Response = Fails(Code::Unavailable);

    fn nodes(count: usize) -> Nodes {
        Nodes::new(std::iter::repeat_n("http://127.0.0.1:1", count), None).expect("clients")
    }

    /// Returns a call to which the nodes respond in the order in which they are called.
    fn in_turn(responses: &[Response]) -> impl Fn(Qdrant) -> BoxFuture<'static, Result<u32, QdrantError>> {
        let (responses, next) = (responses.to_vec(), AtomicUsize::default());
        move |_| {
            let response = responses.get(next.fetch_add(1, Ordering::Relaxed)).copied();
            let responding = async move {
                match response {
                    Some(Found(number)) => Ok(number),
                    Some(Fails(code)) => Err(QdrantError::from(Status::new(code, "no"))),
                    Some(Silent) | None => std::future::pending().await,
                }
            };
            responding.boxed()
        }
    }

    async fn call(nodes: &Nodes, kind: Call, responses: &[Response]) -> Result<u32, EngineErrorKind> {
        nodes.call("searching", kind, in_turn(responses)).await.map_err(|error| error.kind)
    }

    /// Calls all nodes until one of them has found the number 9.
    async fn call_all(nodes: &Nodes, responses: &[Response]) -> Result<Vec<u32>, EngineErrorKind> {
        let suffice = |found: &[u32]| found.contains(&9);
        let found = nodes.call_all("listing", in_turn(responses), suffice).await;
        let mut found = found.map_err(|error| error.kind)?;
        found.sort_unstable();
        Ok(found)
    }

    #[tokio::test]
    async fn what_one_node_lacks_another_one_may_have() {
        for kind in [Call::Read, Call::Change] {
            for (responses, expected) in [
                (vec![LACKS, Found(7)], Ok(7)),
                (vec![LACKS, LACKS, Found(7)], Ok(7)),
                (vec![LACKS, DOWN, Found(7)], Ok(7)),
                (vec![LACKS], Err(Corrupt)),
                (vec![LACKS, LACKS], Err(Corrupt)),
                (vec![LACKS, LACKS, DOWN], Err(Corrupt)),
                (vec![DOWN, LACKS, LACKS], Err(Corrupt)),
                (vec![LACKS, DOWN], Err(Unavailable)),
                (vec![LACKS, DOWN, DOWN], Err(Unavailable)),
                (vec![DOWN, DOWN], Err(Unavailable)),
            ] {
                assert_eq!(call(&nodes(responses.len()), kind, &responses).await, expected, "{kind:?}");
            }
        }
    }

    #[tokio::test]
    async fn node_that_lacks_what_another_one_has_is_avoided() {
        let nodes = nodes(2);
        assert_eq!(call(&nodes, Call::Read, &[LACKS, Found(7)]).await, Ok(7));
        let avoided: Vec<bool> = nodes.nodes.iter().map(Node::is_avoided).collect();
        assert_eq!(avoided, [true, false]);
        // What is missing is the fault of no node.
        assert_eq!(call(&nodes, Call::Read, &[LACKS, LACKS]).await, Err(Corrupt));
        assert!(!nodes.nodes[1].is_avoided());
    }

    #[tokio::test]
    async fn silent_node_hardly_delays_the_report_of_what_is_missing() {
        let started = Instant::now();
        assert_eq!(call(&nodes(3), Call::Read, &[LACKS, LACKS, Silent]).await, Err(Corrupt));
        assert!(started.elapsed() < 2 * PATIENCE, "{:?}", started.elapsed());
        let started = Instant::now();
        let nodes = nodes(3);
        // A change waits for a node that is not known to be silent.
        nodes.nodes[2].avoid(PAUSE);
        assert_eq!(call(&nodes, Call::Change, &[LACKS, LACKS, Silent]).await, Err(Corrupt));
        assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
    }

    #[tokio::test]
    async fn answers_of_all_nodes_count() {
        for (responses, expected) in [
            (vec![Found(1), Found(2)], Ok(vec![1, 2])),
            (vec![DOWN, Found(2), LACKS], Ok(vec![2])),
            (vec![Silent, Found(9)], Ok(vec![9])),
            (vec![DOWN, DOWN], Err(Unavailable)),
        ] {
            assert_eq!(call_all(&nodes(responses.len()), &responses).await, expected);
        }
    }

    #[tokio::test]
    async fn what_few_nodes_do_not_know_may_be_on_the_others() {
        for (responses, expected) in [
            (vec![Found(0)], Ok(())),
            (vec![Found(0), Found(0)], Ok(())),
            (vec![Found(0), DOWN, Found(0)], Ok(())),
            (vec![Found(0), DOWN], Err(Unavailable)),
            (vec![Found(0), Silent], Err(Unavailable)),
            (vec![DOWN, Found(0), DOWN], Err(Unavailable)),
        ] {
            let nodes = nodes(responses.len());
            let answers = call_all(&nodes, &responses).await.expect("answers");
            assert_eq!(nodes.require_most("listing", &answers).map_err(|error| error.kind), expected, "{answers:?}");
        }
    }

    #[tokio::test]
    async fn node_that_is_avoided_hardly_delays_the_answers_of_the_others() {
        let started = Instant::now();
        let nodes = nodes(2);
        nodes.nodes[1].avoid(SILENCE_PAUSE);
        assert_eq!(call_all(&nodes, &[Found(1), Silent]).await, Ok(vec![1]));
        assert!(started.elapsed() < 2 * PATIENCE, "{:?}", started.elapsed());
    }
}
