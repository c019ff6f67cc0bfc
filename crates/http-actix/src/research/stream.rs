//! Streams of events. They hold no permit and end when the server stops; clients continue with `Last-Event-ID`.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use app::Viewer;
use bytes::Bytes;
use futures_util::Stream;
use model::ResearchId;
use research::{Follower, RunEvent};

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
    research_id: ResearchId,
    follower: Follower,
    is_started: bool,
}

/// Follows a run from the event after a sequence.
pub(crate) async fn follow(context: &Context, research_id: ResearchId, after: i64) -> Result<EventStream, Failure> {
    let follower = context.state.research.follow(&context.viewer, research_id, after).await?;
    let streaming = Streaming {
        state: Arc::clone(&context.state),
        viewer: context.viewer.clone(),
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
        let keep_alive: Duration = self.state.research.options().keep_alive;
        let found = tokio::select! {
            () = self.state.stopping.cancelled() => return None,
            found = self.follower.next() => found,
            () = tokio::time::sleep(keep_alive) => return Some(Bytes::from_static(COMMENT)),
        };
        match found {
            Ok(events) if events.is_empty() => None,
            Ok(events) => self.write(events).await,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a stream of research events ended early");
                None
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
