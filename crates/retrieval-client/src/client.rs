use std::sync::Arc;

use api_types::{
    DocumentRequest, DocumentResponse, FeedbackRequest, FeedbackResponse, FileDeleteResponse, FileListResponse,
    IndexMode, IndexRequest, IndexStartResponse, IndexStatusResponse, MeResponse, NoBody, PresignRequest,
    PresignResponse, RequestBody, SearchRequest, SearchResponse, UsageOverview, WebhookCreateRequest,
    WebhookCreateResponse, WebhookDeleteResponse, WebhookListResponse, WebhookRotateResponse,
};
use bytes::Bytes;
use openapi::parameters::{FileName, SyncId, UsageQuery, WebhookId};
use openapi::{Input, Operation, PathParameters, QueryParameters, operations};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use reqwest::header::HeaderValue;

use crate::retry::Repeat;
use crate::session::session_header;
use crate::transport::{Call, Transport};
use crate::{Answer, ClientBuilder, Error};

/// Client of one service with one API key. Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) transport: Arc<Transport>,
    session: Option<HeaderValue>,
}

impl Client {
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    pub(crate) fn new(transport: Arc<Transport>, session: Option<HeaderValue>) -> Self {
        Self { transport, session }
    }

    /// Returns a client for another session: the `session_id` of an answer, or a new one.
    ///
    /// # Errors
    /// [`Error::Setting`] if the id is not a UUID.
    pub fn with_session(&self, session_id: &str) -> Result<Self, Error> {
        Ok(Self { transport: Arc::clone(&self.transport), session: Some(session_header(session_id)?) })
    }

    /// Calls any operation of the table. The methods below are shorthands for it.
    ///
    /// # Errors
    /// [`Error::Api`] for errors of the service, [`Error::Setting`] for a path parameter that no path can carry, and
    /// errors of the transport.
    pub async fn call<O: Operation>(&self, input: &Input<O>) -> Result<Answer<O::Response>, Error> {
        self.send::<O>(&input.path, &input.query, &input.body).await
    }

    /// `POST /v1/search`. Searches are charged: after a broken connection the request is not repeated.
    pub async fn search(&self, request: &SearchRequest) -> Result<Answer<SearchResponse>, Error> {
        self.send::<operations::Search>(&(), &(), request).await
    }

    /// `POST /v1/document`.
    pub async fn read_document(&self, request: &DocumentRequest) -> Result<Answer<DocumentResponse>, Error> {
        self.send::<operations::ReadDocument>(&(), &(), request).await
    }

    /// `POST /v1/feedback`. After a broken connection the request is not repeated, since an event could count twice.
    pub async fn submit_feedback(&self, request: &FeedbackRequest) -> Result<Answer<FeedbackResponse>, Error> {
        self.send::<operations::SubmitFeedback>(&(), &(), request).await
    }

    /// `POST /v1/files/presign`. [`Client::upload`] includes it.
    pub async fn presign(&self, request: &PresignRequest) -> Result<Answer<PresignResponse>, Error> {
        self.send::<operations::PresignFile>(&(), &(), request).await
    }

    /// `GET /v1/files`.
    pub async fn list_files(&self) -> Result<Answer<FileListResponse>, Error> {
        self.send::<operations::ListFiles>(&(), &(), &NoBody {}).await
    }

    /// `DELETE /v1/files/{name}`. Repeated after a broken connection: `deleted` may then be false for a file that the
    /// first attempt deleted.
    pub async fn delete_file(&self, name: &str) -> Result<Answer<FileDeleteResponse>, Error> {
        self.send::<operations::DeleteFile>(&FileName(name.to_owned()), &(), &NoBody {}).await
    }

    /// `POST /v1/files/index`. [`Client::follow_run`] waits for the end of the run.
    pub async fn start_run(&self, mode: IndexMode) -> Result<Answer<IndexStartResponse>, Error> {
        let request = IndexRequest { mode, ..IndexRequest::default() };
        self.send::<operations::StartIndexRun>(&(), &(), &request).await
    }

    /// `GET /v1/files/index/{sync_id}`.
    pub async fn run_status(&self, sync_id: &str) -> Result<Answer<IndexStatusResponse>, Error> {
        self.send::<operations::GetIndexRun>(&SyncId(sync_id.to_owned()), &(), &NoBody {}).await
    }

    /// `GET /v1/usage`.
    pub async fn usage(&self, query: &UsageQuery) -> Result<Answer<UsageOverview>, Error> {
        self.send::<operations::GetUsage>(&(), query, &NoBody {}).await
    }

    /// `GET /v1/me`.
    pub async fn me(&self) -> Result<Answer<MeResponse>, Error> {
        self.send::<operations::GetMe>(&(), &(), &NoBody {}).await
    }

    /// `GET /v1/webhooks`.
    pub async fn list_webhooks(&self) -> Result<Answer<WebhookListResponse>, Error> {
        self.send::<operations::ListWebhooks>(&(), &(), &NoBody {}).await
    }

    /// `POST /v1/webhooks`. After a broken connection the request is not repeated, since it could create a second webhook.
    pub async fn create_webhook(&self, request: &WebhookCreateRequest) -> Result<Answer<WebhookCreateResponse>, Error> {
        self.send::<operations::CreateWebhook>(&(), &(), request).await
    }

    /// `POST /v1/webhooks/{webhook_id}/rotate`. Not repeated after a broken connection: it would replace the secret again.
    pub async fn rotate_webhook_secret(&self, webhook_id: &str) -> Result<Answer<WebhookRotateResponse>, Error> {
        self.send::<operations::RotateWebhookSecret>(&WebhookId(webhook_id.to_owned()), &(), &NoBody {}).await
    }

    /// `DELETE /v1/webhooks/{webhook_id}`.
    pub async fn delete_webhook(&self, webhook_id: &str) -> Result<Answer<WebhookDeleteResponse>, Error> {
        self.send::<operations::DeleteWebhook>(&WebhookId(webhook_id.to_owned()), &(), &NoBody {}).await
    }

    async fn send<O: Operation>(
        &self,
        path: &O::Path,
        query: &O::Query,
        body: &O::Body,
    ) -> Result<Answer<O::Response>, Error> {
        let mut url = self.transport.url(&relative_path(O::PATH, &path.values())?)?;
        for (name, value) in query.pairs() {
            url.query_pairs_mut().append_pair(name, &value);
        }
        let body = <O::Body as RequestBody>::NAME.map(|_| serde_json::to_vec(body)).transpose();
        let body = body.map_err(|error| Error::Setting(format!("cannot serialize the request: {error}")))?;
        let call = Call {
            method: method(O::METHOD),
            url,
            body: body.map(Bytes::from),
            repeat: if O::RETRY_SAFE { Repeat::Safe } else { Repeat::Unsafe },
            session: self.session.as_ref(),
        };
        let reply = self.transport.send(call).await?;
        Answer::parse(reply.status, reply.body, reply.rate_limit)
    }
}

fn method(method: openapi::Method) -> Method {
    match method {
        openapi::Method::Get => Method::GET,
        openapi::Method::Post => Method::POST,
        openapi::Method::Put => Method::PUT,
        openapi::Method::Patch => Method::PATCH,
        openapi::Method::Delete => Method::DELETE,
    }
}

/// Fills a path template. The result is relative to the base URL.
fn relative_path(template: &str, values: &[&str]) -> Result<String, Error> {
    let mut values = values.iter();
    let segments = template.trim_start_matches('/').split('/').map(|part| match part.starts_with('{') {
        true => segment(values.next().copied().unwrap_or_default()),
        false => Ok(part.to_owned()),
    });
    Ok(segments.collect::<Result<Vec<_>, _>>()?.join("/"))
}

/// Percent-encodes one segment of a path. Empty and dotted ones are refused: even encoded they would name another path,
/// and no resource has such a name.
fn segment(text: &str) -> Result<String, Error> {
    if matches!(text, "" | "." | "..") {
        return Err(Error::Setting(format!("invalid name `{text}`")));
    }
    Ok(utf8_percent_encode(text, NON_ALPHANUMERIC).to_string())
}
