//! Client of the DevTools protocol: calls with their results, and the events of sessions.

pub mod remote;
pub mod wire;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use wire::Wire;

/// Events of a page that wait for their turn. A page that causes more is lost.
const MAX_EVENTS: usize = 4096;

/// Connection to a browser. Dropping it closes the connection.
pub struct Devtools {
    outgoing: mpsc::UnboundedSender<String>,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    closed: CancellationToken,
}

#[derive(Default)]
struct State {
    last_id: u64,
    calls: HashMap<u64, oneshot::Sender<Result<Value, CallError>>>,
    sessions: HashMap<String, mpsc::Sender<Event>>,
}

/// Event of a session.
#[derive(Debug)]
pub struct Event {
    pub session: String,
    pub method: String,
    pub params: Value,
}

#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("the connection to the browser was closed")]
    Closed,
    #[error("`{method}`: {message}")]
    Refused { method: String, message: String },
}

#[derive(Deserialize)]
struct Incoming {
    id: Option<u64>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    result: Option<Value>,
    error: Option<Refusal>,
    #[serde(rename = "sessionId")]
    session: Option<String>,
}

#[derive(Deserialize)]
struct Refusal {
    message: String,
}

impl Devtools {
    pub fn new(wire: Wire) -> Self {
        let Wire { outgoing, mut incoming } = wire;
        let shared = Arc::new(Shared { state: Mutex::default(), closed: CancellationToken::new() });
        let routing = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Some(text) = incoming.recv().await {
                match serde_json::from_str(&text) {
                    Ok(message) => routing.route(message),
                    Err(error) => tracing::debug!(%error, "an unreadable message of the browser"),
                }
            }
            routing.close();
        });
        Self { outgoing, shared }
    }

    /// Returns true while the browser can be reached.
    pub fn is_open(&self) -> bool {
        !self.shared.closed.is_cancelled()
    }

    /// Calls a method, of a session or of the browser itself, and waits for the result.
    pub async fn call(&self, session: Option<&str>, method: &str, params: Value) -> Result<Value, CallError> {
        let (reply, result) = oneshot::channel();
        let id = {
            let mut state = self.shared.lock();
            state.last_id += 1;
            let id = state.last_id;
            state.calls.insert(id, reply);
            id
        };
        // Checked after the insertion: a call after the end would wait forever.
        if !self.is_open() {
            return Err(CallError::Closed);
        }
        self.transmit(id, session, method, params);
        match result.await {
            Ok(Err(CallError::Refused { message, .. })) => {
                Err(CallError::Refused { method: method.to_owned(), message })
            }
            Ok(result) => result,
            Err(_) => Err(CallError::Closed),
        }
    }

    /// Calls a method without waiting for its result.
    pub fn send(&self, session: Option<&str>, method: &str, params: Value) {
        let id = {
            let mut state = self.shared.lock();
            state.last_id += 1;
            state.last_id
        };
        self.transmit(id, session, method, params);
    }

    /// Returns the events of a session, and of sessions of its workers and frames. They end with the connection, or if too
    /// many wait.
    pub fn events(&self, session: &str) -> mpsc::Receiver<Event> {
        let (sender, events) = mpsc::channel(MAX_EVENTS);
        self.shared.lock().sessions.insert(session.to_owned(), sender);
        events
    }

    fn transmit(&self, id: u64, session: Option<&str>, method: &str, params: Value) {
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let (Some(session), Value::Object(fields)) = (session, &mut message) {
            fields.insert("sessionId".to_owned(), session.into());
        }
        // Fails after the connection was closed, which callers learn by `is_open`.
        let _ = self.outgoing.send(message.to_string());
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn route(&self, message: Incoming) {
        let Incoming { id, method, params, result, error, session } = message;
        let mut state = self.lock();
        if let Some(id) = id {
            let Some(call) = state.calls.remove(&id) else { return };
            let _ = call.send(match error {
                Some(Refusal { message }) => Err(CallError::Refused { method: String::new(), message }),
                None => Ok(result.unwrap_or_default()),
            });
            return;
        }
        let Some(method) = method else { return };
        let named = || params["sessionId"].as_str().map(str::to_owned);
        // The end of a session is an event of the one above it.
        let Some(session) = session.or_else(named) else { return };
        let Some(events) = state.sessions.get(&session).cloned() else { return };
        if method == "Target.attachedToTarget"
            && let Some(child) = named()
        {
            state.sessions.insert(child, events.clone());
        }
        if events.try_send(Event { session, method, params }).is_err() {
            // Either the page is done, or it floods.
            state.sessions.retain(|_, other| !other.same_channel(&events));
        }
    }

    fn close(&self) {
        self.closed.cancel();
        let mut state = self.lock();
        state.calls.clear();
        state.sessions.clear();
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use super::*;

    fn connection() -> (Devtools, mpsc::UnboundedReceiver<String>, mpsc::Sender<String>) {
        let (outgoing, sent) = mpsc::unbounded_channel();
        let (browser, incoming) = mpsc::channel(8);
        (Devtools::new(Wire { outgoing, incoming }), sent, browser)
    }

    #[tokio::test]
    async fn calls_get_their_results_in_any_order() {
        let (devtools, mut sent, browser) = connection();
        let answers = async {
            let first: Value = serde_json::from_str(&sent.recv().await.unwrap()).unwrap();
            let second: Value = serde_json::from_str(&sent.recv().await.unwrap()).unwrap();
            assert_eq!((&first["method"], &second["sessionId"]), (&json!("A.a"), &json!("s")));
            let refusal = json!({"id": second["id"], "error": {"code": 1, "message": "no"}});
            browser.send(refusal.to_string()).await.unwrap();
            browser.send("not JSON".to_owned()).await.unwrap();
            browser.send(json!({"id": first["id"], "result": {"x": 1}}).to_string()).await.unwrap();
        };
        let (first, second, ()) = futures_util::join!(
            devtools.call(None, "A.a", json!({})),
            devtools.call(Some("s"), "B.b", json!({})),
            answers
        );
        assert_eq!(first.unwrap(), json!({"x": 1}));
        assert_eq!(second.unwrap_err().to_string(), "`B.b`: no");
    }

    #[tokio::test]
    async fn events_of_child_sessions_arrive_with_those_of_their_page() {
        let (devtools, _sent, browser) = connection();
        let mut events = devtools.events("page");
        for (session, method, params) in [
            ("other", "X.lost", json!({})),
            ("page", "Target.attachedToTarget", json!({"sessionId": "worker"})),
            ("worker", "X.kept", json!({})),
        ] {
            let event = json!({"method": method, "params": params, "sessionId": session});
            browser.send(event.to_string()).await.unwrap();
        }
        assert_eq!(events.recv().await.unwrap().method, "Target.attachedToTarget");
        assert_eq!(events.recv().await.unwrap().session, "worker");
        drop(browser);
        assert!(events.recv().await.is_none(), "events end with the connection");
        assert!(matches!(devtools.call(None, "A.a", json!({})).await, Err(CallError::Closed)));
    }

    #[tokio::test]
    async fn a_page_that_floods_loses_its_events() {
        let (devtools, _sent, browser) = connection();
        let mut events = devtools.events("page");
        let flood = async {
            for number in 0..=MAX_EVENTS {
                let event = json!({"method": "X.x", "params": {"n": number}, "sessionId": "page"});
                browser.send(event.to_string()).await.unwrap();
            }
            // The result comes after all events.
            browser.send(json!({"id": 1, "result": {}}).to_string()).await.unwrap();
        };
        let (result, ()) = futures_util::join!(devtools.call(None, "A.a", json!({})), flood);
        result.unwrap();
        let mut received = 0;
        while events.recv().await.is_some() {
            received += 1;
        }
        assert_eq!(received, MAX_EVENTS);
    }
}
