//! Research runs and their events.

use api_types::{
    NoBody, ResearchDeleteResponse, ResearchEvent, ResearchListResponse, ResearchRequest, ResearchResponse,
};
use futures_util::stream::{self, Stream};
use openapi::operations;
use openapi::parameters::{ResearchEventsQuery, ResearchId, ResearchListQuery, ResearchQuery};

use crate::client::lacks_workspace;
use crate::retry::{self, Failure};
use crate::sse::{MAX_EVENT, Reader, TooLong};
use crate::transport::Failed;
use crate::{Answer, Client, Error, NoResponse};

impl Client {
    /// `POST /v1/research`. After a broken connection the request is not repeated, since it could start a second run. Research
    /// in the workspace without `workspace_id` gets that of the key's organization.
    pub async fn create_research(&self, request: &ResearchRequest) -> Result<Answer<ResearchResponse>, Error> {
        if !lacks_workspace(&request.scope) {
            return self.send::<operations::CreateResearch>(&(), &(), request).await;
        }
        let mut request = request.clone();
        request.scope.workspace_id = self.organization_id().await?;
        self.send::<operations::CreateResearch>(&(), &(), &request).await
    }

    /// `GET /v1/research/{research_id}`. The service waits up to `wait_seconds`, at most 30, for the end of the run. The timeout
    /// is extended by the wait.
    pub async fn get_research(&self, research_id: &str, wait_seconds: u32) -> Result<Answer<ResearchResponse>, Error> {
        let wait_seconds = (wait_seconds > 0).then(|| wait_seconds.to_string());
        self.send::<operations::GetResearch>(&id(research_id), &ResearchQuery { wait_seconds }, &NoBody {}).await
    }

    /// `GET /v1/research`: one page.
    pub async fn list_research(&self, query: &ResearchListQuery) -> Result<Answer<ResearchListResponse>, Error> {
        self.send::<operations::ListResearch>(&(), query, &NoBody {}).await
    }

    /// `POST /v1/research/{research_id}/cancel`. A run that has ended stays as it is.
    pub async fn cancel_research(&self, research_id: &str) -> Result<Answer<ResearchResponse>, Error> {
        self.send::<operations::CancelResearch>(&id(research_id), &(), &NoBody {}).await
    }

    /// `DELETE /v1/research/{research_id}`. After a broken connection the request is not repeated.
    pub async fn delete_research(&self, research_id: &str) -> Result<Answer<ResearchDeleteResponse>, Error> {
        self.send::<operations::DeleteResearch>(&id(research_id), &(), &NoBody {}).await
    }

    /// `GET /v1/research/{research_id}/events` as a stream: the events of a run after the sequence `after`, 0 for all, up to
    /// the last one. Connects at the first event.
    pub fn research_events(&self, research_id: &str, after: i64) -> ResearchEvents {
        let connection = None;
        let client = self.clone();
        let research_id = research_id.to_owned();
        ResearchEvents { client, research_id, last: after.max(0), connection, attempts: 0, is_done: false }
    }
}

fn id(research_id: &str) -> ResearchId {
    ResearchId(research_id.to_owned())
}

/// The events of one run, in order and without gaps. A stream that breaks is resumed after its last event.
#[derive(Debug)]
pub struct ResearchEvents {
    client: Client,
    research_id: String,
    /// Sequence of the last event.
    last: i64,
    connection: Option<Connection>,
    /// Attempts to connect since the last event.
    attempts: u32,
    is_done: bool,
}

#[derive(Debug)]
struct Connection {
    response: reqwest::Response,
    reader: Reader,
}

impl ResearchEvents {
    /// Returns the next event. Returns `None` after the last event of the run and after an error.
    ///
    /// # Errors
    /// The errors of the transport once the stream cannot be resumed, [`Error::Api`] for a run that is gone,
    /// [`Error::Malformed`] for events that break the interface, and [`Error::TooLarge`].
    pub async fn next_event(&mut self) -> Result<Option<ResearchEvent>, Error> {
        while !self.is_done {
            let (failure, error) = match self.read().await {
                Ok(event) => {
                    self.last = event.sequence;
                    self.attempts = 0;
                    self.is_done = is_last(&event);
                    return Ok(Some(event));
                }
                Err(failed) => failed,
            };
            self.connection = None;
            let wait = failure.and_then(|failure| retry::resumption(failure, self.attempts, rand::random()));
            let Some(wait) = wait else {
                self.is_done = true;
                return Err(error);
            };
            self.attempts += 1;
            tokio::time::sleep(wait).await;
        }
        Ok(None)
    }

    /// Returns the events as a stream, which ends after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<ResearchEvent, Error>> {
        stream::try_unfold(
            self,
            |mut events| async move { Ok(events.next_event().await?.map(|event| (event, events))) },
        )
    }

    /// Reads the next new event, over a new connection if there is none.
    async fn read(&mut self) -> Result<ResearchEvent, Failed> {
        let transport = &self.client.transport;
        let connection = match &mut self.connection {
            Some(connection) => connection,
            connection => {
                let query = ResearchEventsQuery::default();
                let call = self.client.request_of::<operations::ResearchEvents>(&id(&self.research_id), &query, None);
                let response = transport.open(&call.map_err(|error| (None, error))?, self.last).await?;
                connection.insert(Connection { response, reader: Reader::default() })
            }
        };
        loop {
            while let Some(data) = connection.reader.next() {
                let event = parse(&data).map_err(|reason| (None, malformed(reason)))?;
                if event.sequence > self.last + 1 {
                    let reason = format!("event {} follows event {}", event.sequence, self.last);
                    return Err((None, malformed(reason)));
                }
                // A repeated event adds nothing.
                if event.sequence > self.last {
                    return Ok(event);
                }
            }
            let Some(bytes) = transport.next_chunk(&mut connection.response).await? else {
                return Err((Some(Failure::Broken), ended_early(&transport.server())));
            };
            connection.reader.take(&bytes).map_err(|TooLong| (None, Error::TooLarge { limit: MAX_EVENT }))?;
        }
    }
}

fn parse(data: &[u8]) -> Result<ResearchEvent, String> {
    serde_json::from_slice(data).map_err(|error| format!("{error}, in an event"))
}

fn is_last(event: &ResearchEvent) -> bool {
    matches!(event.kind.as_str(), "research.completed" | "research.failed" | "research.cancelled")
}

fn malformed(reason: String) -> Error {
    Error::Malformed { status: 200, reason }
}

/// The end of a stream before that of its run, as when a server stops.
fn ended_early(server: &str) -> Error {
    let reason = "the stream ended before the run";
    Error::Transport { server: server.to_owned(), reason: NoResponse::Broken(reason.to_owned()), source: reason.into() }
}
