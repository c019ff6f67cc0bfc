//! Streams of events. They hold no permit and end when the server stops or their credential becomes invalid; clients
//! continue with `Last-Event-ID`.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;

use app::Viewer;
use bytes::Bytes;
use futures_util::Stream;
use model::ResearchId;
use research::{Follower, RunEvent};
use tokio::time::{Instant, sleep_until};

use super::credential::Credential;
use super::event_view;
use crate::State;
use crate::call::Context;
use crate::failure::Failure;

/// Body of a response that is sent as it comes.
pub(crate) type EventStream = Pin<Box<dyn Stream<Item = Result<Bytes, Infallible>>>>;

/// First bytes of a stream: the delay after which clients reconnect.
const START: &[u8] = b"retry: 1000\n\n";
/// Comment that keeps proxies from closing the connection.
const COMMENT: &[u8] = b": keep-alive\n\n";

struct Streaming {
    state: Arc<State>,
    viewer: Viewer,
    credential: Credential,
    research_id: ResearchId,
    follower: Follower,
    is_started: bool,
}

/// The end of a wait.
enum Wait {
    /// Events; none after the last one.
    Found(app::Result<Vec<RunEvent>>),
    /// Nothing has happened for a while.
    Idle,
    /// The server stops, or the credential is no longer valid.
    Over,
}

/// Follows a run from the event after a sequence, for as long as the token of the request is valid.
pub(crate) async fn follow(context: &Context, research_id: ResearchId, after: i64) -> Result<EventStream, Failure> {
    let follower = context.state.research.follow(&context.viewer, research_id, after).await?;
    let streaming = Streaming {
        state: Arc::clone(&context.state),
        viewer: context.viewer.clone(),
        credential: Credential::admitted(context.token.clone()),
        research_id,
        follower,
        is_started: false,
    };
    Ok(Box::pin(futures_util::stream::unfold(streaming, |mut streaming| async move {
        let bytes = streaming.next().await?;
        Some((Ok(bytes), streaming))
    })))
}

impl Streaming {
    /// Returns the next bytes; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        if !self.is_started {
            self.is_started = true;
            return Some(Bytes::from_static(START));
        }
        match self.wait().await {
            Wait::Over => None,
            Wait::Idle => Some(Bytes::from_static(COMMENT)),
            Wait::Found(Ok(events)) if events.is_empty() => None,
            Wait::Found(Ok(events)) => self.write(events).await,
            Wait::Found(Err(error)) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a stream of research events ended early");
                None
            }
        }
    }

    /// Waits for events, and meanwhile checks the credential.
    async fn wait(&mut self) -> Wait {
        let Self { state, credential, follower, .. } = self;
        let comment_at = Instant::now() + state.research.options().keep_alive;
        // Kept across the checks: a look into a slow database may take longer than the time between two of them.
        let mut next = pin!(follower.next());
        loop {
            let found = tokio::select! {
                () = state.stopping.cancelled() => return Wait::Over,
                found = &mut next => Some(found),
                () = sleep_until(comment_at.min(credential.due_at())) => None,
            };
            if !credential.is_valid(&state.app).await {
                return Wait::Over;
            }
            match found {
                Some(found) => return Wait::Found(found),
                None if comment_at <= Instant::now() => return Wait::Idle,
                None => {}
            }
        }
    }

    async fn write(&self, events: Vec<RunEvent>) -> Option<Bytes> {
        let mut text = String::new();
        for event in events {
            let event = if event.is_last() {
                let run = self.state.research.get(&self.viewer, self.research_id).await.ok()?;
                event_view::last_event(event, &run, self.state.now())
            } else {
                event_view::event(event)
            };
            event_view::write(&event, &mut text);
        }
        Some(text.into())
    }
}
