use std::sync::Arc;

use api_types::{
    DocumentRequest, DocumentResponse, FeedbackRequest, FeedbackResponse, FileDeleteResponse, FileListResponse,
    IndexMode, IndexRequest, IndexStartResponse, IndexStatusResponse, PresignRequest, PresignResponse, SearchRequest,
    SearchResponse, UsageOverview,
};
use bytes::Bytes;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::HeaderValue;
use reqwest::{Method, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::builder::session_header;
use crate::retry::Repeat;
use crate::transport::{Call, Transport};
use crate::{Answer, ClientBuilder, Error};

/// A connection to one service with one key. Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) transport: Arc<Transport>,
    session: Option<HeaderValue>,
}

/// The window and the grouping of [`Client::usage`]. What is `None` is the service's default: the last 30 days, by day.
#[derive(Clone, Debug, Default)]
pub struct UsageQuery {
    /// ISO 8601.
    pub from: Option<String>,
    /// ISO 8601.
    pub to: Option<String>,
    /// `hour` (windows of up to 8 days) or `day`.
    pub interval: Option<String>,
    /// At most 50.
    pub api_key_ids: Vec<String>,
    /// `none`, `api_key`, `endpoint` or `status_class`.
    pub group_by: Option<String>,
}

impl Client {
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    pub(crate) fn new(transport: Arc<Transport>, session: Option<HeaderValue>) -> Self {
        Self { transport, session }
    }

    /// The same client in another session: carry the `session_id` of an answer on, or begin with one of your own.
    ///
    /// # Errors
    /// [`Error::Setting`] when it is no UUID.
    pub fn with_session(&self, session_id: &str) -> Result<Self, Error> {
        Ok(Self { transport: Arc::clone(&self.transport), session: Some(session_header(session_id)?) })
    }

    /// `POST /v1/search`. A search that may have been answered is not repeated: it may have been paid for.
    pub async fn search(&self, request: &SearchRequest) -> Result<Answer<SearchResponse>, Error> {
        self.post("v1/search", request, Repeat::Unsafe).await
    }

    /// `POST /v1/document`.
    pub async fn read_document(&self, request: &DocumentRequest) -> Result<Answer<DocumentResponse>, Error> {
        self.post("v1/document", request, Repeat::Safe).await
    }

    /// `POST /v1/feedback`. Not repeated when it may have been stored: it would count twice.
    pub async fn submit_feedback(&self, request: &FeedbackRequest) -> Result<Answer<FeedbackResponse>, Error> {
        self.post("v1/feedback", request, Repeat::Unsafe).await
    }

    /// `POST /v1/files/presign`; [`Client::upload`] does this and what follows.
    pub async fn presign(&self, request: &PresignRequest) -> Result<Answer<PresignResponse>, Error> {
        self.post("v1/files/presign", request, Repeat::Safe).await
    }

    /// `GET /v1/files`.
    pub async fn list_files(&self) -> Result<Answer<FileListResponse>, Error> {
        self.get(self.transport.url("v1/files")?).await
    }

    /// `DELETE /v1/files/{name}`. After a broken connection it is sent again, and may then find nothing to delete.
    pub async fn delete_file(&self, name: &str) -> Result<Answer<FileDeleteResponse>, Error> {
        let url = self.transport.url(&format!("v1/files/{}", segment(name)?))?;
        self.send(Method::DELETE, url, None, Repeat::Safe).await
    }

    /// `POST /v1/files/index`; [`Client::follow_run`] waits for the end.
    pub async fn start_run(&self, mode: IndexMode) -> Result<Answer<IndexStartResponse>, Error> {
        let request = IndexRequest { mode, ..IndexRequest::default() };
        self.post("v1/files/index", &request, Repeat::Unsafe).await
    }

    /// `GET /v1/files/index/{sync_id}`.
    pub async fn run_status(&self, sync_id: &str) -> Result<Answer<IndexStatusResponse>, Error> {
        self.get(self.transport.url(&format!("v1/files/index/{}", segment(sync_id)?))?).await
    }

    /// `GET /v1/usage`.
    pub async fn usage(&self, query: &UsageQuery) -> Result<Answer<UsageOverview>, Error> {
        let mut url = self.transport.url("v1/usage")?;
        let UsageQuery { from, to, interval, api_key_ids, group_by } = query;
        let ids = (!api_key_ids.is_empty()).then(|| api_key_ids.join(","));
        let pairs = [("from", from), ("to", to), ("interval", interval), ("api_key_ids", &ids), ("group_by", group_by)];
        for (name, value) in pairs {
            if let Some(value) = value {
                url.query_pairs_mut().append_pair(name, value);
            }
        }
        self.get(url).await
    }

    async fn get<T: DeserializeOwned>(&self, url: Url) -> Result<Answer<T>, Error> {
        self.send(Method::GET, url, None, Repeat::Safe).await
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        request: &impl Serialize,
        repeat: Repeat,
    ) -> Result<Answer<T>, Error> {
        let body = serde_json::to_vec(request)
            .map_err(|error| Error::Setting(format!("the request cannot be written as JSON: {error}")))?;
        self.send(Method::POST, self.transport.url(path)?, Some(body.into()), repeat).await
    }

    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        url: Url,
        body: Option<Bytes>,
        repeat: Repeat,
    ) -> Result<Answer<T>, Error> {
        let call = Call { method, url, body, repeat, session: self.session.as_ref() };
        let reply = self.transport.send(call).await?;
        Answer::parse(reply.status, reply.body, reply.rate_limit)
    }
}

/// One segment of a path. Empty and dotted ones would name another path, even when encoded, and nothing has such a name.
fn segment(text: &str) -> Result<String, Error> {
    if matches!(text, "" | "." | "..") {
        return Err(Error::Setting(format!("`{text}` is no name")));
    }
    Ok(utf8_percent_encode(text, NON_ALPHANUMERIC).to_string())
}
