use std::time::Duration;

use api_types::{DocumentRequest, ErrorCode, SearchResult};
use serde::de::DeserializeOwned;
use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{ReadOutcome, Refusal, Refused, SearchPlan};

/// A service whose API is implemented.
pub trait Service {
    /// Names of the API's fields, and of the fields of this service that they come from, for messages.
    const FIELDS: &'static [(&'static str, &'static str)];

    /// Prefix that the service's own keys have and some clients insist on. It may precede a key of this server.
    const KEY_PREFIX: &'static str = "";

    /// Returns the error in the format of the service.
    fn error(code: ErrorCode, message: &str, request_id: Uuid) -> ErrorReply;

    /// Replaces names of the API's fields in a message.
    fn translate(message: &str) -> String {
        let replace = |text: String, (ours, theirs): &(&str, &str)| text.replace(ours, theirs);
        Self::FIELDS.iter().fold(message.to_owned(), replace)
    }
}

/// An error in a foreign format.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorReply {
    pub status: u16,
    pub body: Value,
}

/// Time of a request, and its duration so far.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub started_at: OffsetDateTime,
    pub elapsed: Duration,
    pub request_id: Uuid,
}

/// A request of a service.
pub trait ForeignRequest: DeserializeOwned {
    type Service: Service;

    /// Fields that are refused, by the object that they belong to.
    const UNSUPPORTED: &'static [Refused] = &[];
}

/// A search request of a service.
pub trait ForeignSearch: ForeignRequest {
    /// Returns the search.
    ///
    /// # Errors
    /// Returns a refusal for a value that cannot be honoured.
    fn plan(&self, now: OffsetDateTime) -> Result<SearchPlan, Refusal>;

    /// Returns true if the answer contains documents, for which the credential must permit reading them.
    fn reads_documents(&self) -> bool {
        false
    }

    /// Returns the reads of one hit's document.
    fn reads(&self, _hit: &SearchResult) -> Vec<DocumentRequest> {
        Vec::new()
    }

    /// Builds the answer from the hits and their documents.
    fn answer(&self, hits: Vec<Hit>, moment: Moment) -> Value;
}

/// A search result with the outcomes of the reads that [`ForeignSearch::reads`] returned for it.
#[derive(Clone, Debug)]
pub struct Hit {
    pub result: SearchResult,
    pub documents: Vec<ReadOutcome>,
}

/// A request of a service to read documents.
pub trait ForeignRead: ForeignRequest {
    /// Returns the reads, a group for each requested document.
    ///
    /// # Errors
    /// Returns a refusal for a value that cannot be honoured.
    fn reads(&self) -> Result<Vec<Vec<DocumentRequest>>, Refusal>;

    /// Returns the time after which the client stops waiting for the answer, instead of a time for each document.
    fn time(&self) -> Option<Duration> {
        None
    }

    /// Builds the answer from the outcomes, in the order of the reads.
    fn answer(&self, outcomes: Vec<Vec<ReadOutcome>>, moment: Moment) -> Answered;
}

/// Body of an answer about documents, with its status: some services report an unreadable page as an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    pub status: u16,
    pub body: Value,
}

impl Answered {
    pub(crate) fn ok(body: Value) -> Self {
        Self { status: 200, body }
    }
}
