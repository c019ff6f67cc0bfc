use std::sync::Arc;
use std::time::Duration;

use api_types::{
    CitationsVerifyRequest, CitationsVerifyResponse, DocumentRequest, DocumentResponse, DocumentsRequest,
    DocumentsResponse, FeedbackRequest, FeedbackResponse, FileContentResponse, FileDeleteResponse, FileListResponse,
    FileResponse, IndexFilesResponse, IndexMode, IndexRequest, IndexStartResponse, IndexStatusResponse,
    KeyCreateRequest, KeyCreateResponse, KeyListResponse, KeyRevokeResponse, MeResponse, NoBody, PresignRequest,
    PresignResponse, RequestBody, SearchIndex, SearchRecordResponse, SearchRequest, SearchResponse, SearchScope,
    UsageOverview, WebhookCreateRequest, WebhookCreateResponse, WebhookDeleteResponse, WebhookListResponse,
    WebhookRotateResponse,
};
use bytes::Bytes;
use openapi::parameters::{ApiKeyId, FileName, PageQuery, SearchId, SyncId, UsageQuery, WebhookId};
use openapi::{Input, Operation, PathParameters, QueryParameters, operations};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use reqwest::header::HeaderValue;
use tokio::sync::OnceCell;

use crate::retry::Repeat;
use crate::session::session_header;
use crate::transport::{Call, MAX_ANSWER, MAX_LIST, Transport};
use crate::{Answer, ClientBuilder, Error};

/// Maximum `wait_seconds` of the service.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Client of one service with one API key. Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) transport: Arc<Transport>,
    session: Option<HeaderValue>,
    /// Organization of the key, once asked for; `None` if the service cannot tell.
    organization: Arc<OnceCell<Option<String>>>,
}

impl Client {
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    pub(crate) fn new(transport: Arc<Transport>, session: Option<HeaderValue>) -> Self {
        Self { transport, session, organization: Arc::default() }
    }

    /// Returns a client for another session: the `session_id` of an answer, or a new one.
    ///
    /// # Errors
    /// [`Error::Setting`] if the id is not a UUID.
    pub fn with_session(&self, session_id: &str) -> Result<Self, Error> {
        Ok(Self { session: Some(session_header(session_id)?), ..self.clone() })
    }

    /// Calls any operation of the table. The methods below are shorthands for it.
    ///
    /// # Errors
    /// [`Error::Api`] for errors of the service, [`Error::Setting`] for a path parameter that no path can carry, and
    /// errors of the transport.
    pub async fn call<O: Operation>(&self, input: &Input<O>) -> Result<Answer<O::Response>, Error> {
        self.send::<O>(&input.path, &input.query, &input.body).await
    }

    /// `POST /v1/search`. Searches are charged: after a broken connection the request is not repeated. A search of the workspace
    /// without `workspace_id` gets that of the key's organization.
    pub async fn search(&self, request: &SearchRequest) -> Result<Answer<SearchResponse>, Error> {
        if !lacks_workspace(&request.scope) {
            return self.send::<operations::Search>(&(), &(), request).await;
        }
        let mut request = request.clone();
        request.scope.workspace_id = self.organization_id().await?;
        self.send::<operations::Search>(&(), &(), &request).await
    }

    /// `GET /v1/searches/{search_id}`.
    pub async fn get_search(&self, search_id: &str) -> Result<Answer<SearchRecordResponse>, Error> {
        self.send::<operations::GetSearch>(&SearchId(search_id.to_owned()), &(), &NoBody {}).await
    }

    /// `POST /v1/citations/verify`: up to 50 quotes in one call.
    pub async fn verify_citations(
        &self,
        request: &CitationsVerifyRequest,
    ) -> Result<Answer<CitationsVerifyResponse>, Error> {
        self.send::<operations::VerifyCitations>(&(), &(), request).await
    }

    /// `POST /v1/document`.
    pub async fn read_document(&self, request: &DocumentRequest) -> Result<Answer<DocumentResponse>, Error> {
        self.send::<operations::ReadDocument>(&(), &(), request).await
    }

    /// `POST /v1/documents`: up to 20 documents in one call.
    pub async fn read_documents(&self, request: &DocumentsRequest) -> Result<Answer<DocumentsResponse>, Error> {
        self.send::<operations::ReadDocuments>(&(), &(), request).await
    }

    /// `POST /v1/feedback`. After a broken connection the request is not repeated, since an event could count twice.
    pub async fn submit_feedback(&self, request: &FeedbackRequest) -> Result<Answer<FeedbackResponse>, Error> {
        self.send::<operations::SubmitFeedback>(&(), &(), request).await
    }

    /// `POST /v1/files/presign`. [`Client::upload`] includes it.
    pub async fn presign(&self, request: &PresignRequest) -> Result<Answer<PresignResponse>, Error> {
        self.send::<operations::PresignFile>(&(), &(), request).await
    }

    /// `GET /v1/files`: all files in one response.
    ///
    /// # Errors
    /// [`Error::TooLarge`] beyond 256 MiB, and the errors of [`Client::call`].
    pub async fn list_files(&self) -> Result<Answer<FileListResponse>, Error> {
        self.list_files_page(&PageQuery::default()).await
    }

    /// `GET /v1/files` with `cursor` and `limit`: one page. Without both it lists all files.
    pub async fn list_files_page(&self, page: &PageQuery) -> Result<Answer<FileListResponse>, Error> {
        self.send::<operations::ListFiles>(&(), page, &NoBody {}).await
    }

    /// `GET /v1/files/{name}`.
    pub async fn get_file(&self, name: &str) -> Result<Answer<FileResponse>, Error> {
        self.send::<operations::GetFile>(&FileName(name.to_owned()), &(), &NoBody {}).await
    }

    /// `GET /v1/files/{name}/content`. [`Client::download`] includes it.
    pub async fn file_content(&self, name: &str) -> Result<Answer<FileContentResponse>, Error> {
        self.send::<operations::GetFileContent>(&FileName(name.to_owned()), &(), &NoBody {}).await
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

    /// `GET /v1/files/index/{sync_id}/files`: one page. [`Client::unread_files`] returns the failures of all pages.
    pub async fn list_run_files(&self, sync_id: &str, page: &PageQuery) -> Result<Answer<IndexFilesResponse>, Error> {
        self.send::<operations::ListIndexRunFiles>(&SyncId(sync_id.to_owned()), page, &NoBody {}).await
    }

    /// `GET /v1/keys`.
    pub async fn list_keys(&self) -> Result<Answer<KeyListResponse>, Error> {
        self.send::<operations::ListKeys>(&(), &(), &NoBody {}).await
    }

    /// `POST /v1/keys`. After a broken connection the request is not repeated, since it could create a second key.
    pub async fn create_key(&self, request: &KeyCreateRequest) -> Result<Answer<KeyCreateResponse>, Error> {
        self.send::<operations::CreateKey>(&(), &(), request).await
    }

    /// `DELETE /v1/keys/{api_key_id}`.
    pub async fn revoke_key(&self, api_key_id: &str) -> Result<Answer<KeyRevokeResponse>, Error> {
        self.send::<operations::RevokeKey>(&ApiKeyId(api_key_id.to_owned()), &(), &NoBody {}).await
    }

    /// `GET /v1/usage`.
    pub async fn usage(&self, query: &UsageQuery) -> Result<Answer<UsageOverview>, Error> {
        self.send::<operations::GetUsage>(&(), query, &NoBody {}).await
    }

    /// `GET /v1/me`.
    pub async fn me(&self) -> Result<Answer<MeResponse>, Error> {
        self.send::<operations::GetMe>(&(), &(), &NoBody {}).await
    }

    /// Returns the organization of the key, which is the `workspace_id` of its searches. Asks the service once; `None` if it is too
    /// old to tell.
    pub async fn organization_id(&self) -> Result<Option<String>, Error> {
        let ask = async || match self.me().await {
            Ok(me) => Ok(Some(me.organization.organization_id.to_string())),
            Err(error) if error.api().is_some_and(|api| api.status == 404) => Ok(None),
            Err(error) => Err(error),
        };
        self.organization.get_or_try_init(ask).await.cloned()
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

    pub(crate) async fn send<O: Operation>(
        &self,
        path: &O::Path,
        query: &O::Query,
        body: &O::Body,
    ) -> Result<Answer<O::Response>, Error> {
        let body = <O::Body as RequestBody>::NAME.map(|_| serde_json::to_vec(body)).transpose();
        let body = body.map_err(|error| Error::Setting(format!("cannot serialize the request: {error}")))?;
        let reply = self.transport.send(self.request_of::<O>(path, query, body.map(Bytes::from))?).await?;
        Answer::parse(reply, &self.transport.server())
    }

    /// Returns the request of an operation.
    pub(crate) fn request_of<O: Operation>(
        &self,
        path: &O::Path,
        query: &O::Query,
        body: Option<Bytes>,
    ) -> Result<Call<'_>, Error> {
        let mut url = self.transport.url(&relative_path(O::PATH, &path.values())?)?;
        let pairs = query.pairs();
        for (name, value) in &pairs {
            url.query_pairs_mut().append_pair(name, value);
        }
        Ok(Call {
            method: method(O::METHOD),
            url,
            body,
            repeat: if O::RETRY_SAFE { Repeat::Safe } else { Repeat::Unsafe },
            session: self.session.as_ref(),
            wait: requested_wait(&pairs),
            max_answer: max_answer::<O>(&pairs),
        })
    }
}

/// True for a search of a workspace that it does not name.
pub(crate) fn lacks_workspace(scope: &SearchScope) -> bool {
    let is_workspace = scope.indexes.as_ref().is_some_and(|indexes| indexes.contains(&SearchIndex::Workspace));
    is_workspace && scope.workspace_id.is_none()
}

/// Returns the time that the query parameters ask the service to wait, within its limit.
fn requested_wait(pairs: &[(&str, String)]) -> Duration {
    let seconds = pairs.iter().find(|(name, _)| *name == "wait_seconds").and_then(|(_, value)| value.parse().ok());
    Duration::from_secs(seconds.unwrap_or(0)).min(LONGEST_WAIT)
}

/// Returns the maximum size of a response in bytes. The list of all files is the only response that grows with the organization.
fn max_answer<O: Operation>(pairs: &[(&str, String)]) -> usize {
    let is_whole_list = O::ID == <operations::ListFiles as Operation>::ID && pairs.is_empty();
    if is_whole_list { MAX_LIST } else { MAX_ANSWER }
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
