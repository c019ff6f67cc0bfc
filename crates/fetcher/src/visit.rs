//! Single requests of a crawler.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, LINK};
use reqwest::{Response, StatusCode};
use tokio::time::Instant;
use url::Url;

use crate::admitted::{is_page, page, requested_delay};
use crate::body;
use crate::error::{FetchError, TimeoutStage};
use crate::guard::AddressGuard;
use crate::outcomes::{self, Success};
use crate::page::{FetchedPage, Validators};
use crate::redirects::{RedirectChain, is_permanent, is_redirect};
use crate::shared::Shared;
use crate::targets::Target;

/// Maximum number of headers of one name that are read.
const MAX_HEADERS: usize = 20;

/// Request of a crawler.
#[derive(Clone, Debug)]
pub struct VisitRequest {
    /// Absolute http or https URL without credentials. A fragment is dropped.
    pub url: String,
    pub validators: Option<Validators>,
    pub accept: Accept,
}

/// Content that a visit accepts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Accept {
    /// Documents of supported types, complete.
    Pages,
    /// Any type, as far as the size limit goes.
    Data,
}

/// Response to a visit.
#[derive(Clone, Debug)]
pub struct Visit {
    pub body: VisitBody,
    /// Time until the response headers.
    pub response_time: Duration,
    /// Values of `X-Robots-Tag`.
    pub robots_tags: Vec<String>,
    /// Values of `Link`.
    pub links: Vec<String>,
    /// True if the server's address is one of the internet, and not on a network that the operator permits.
    pub is_public: bool,
}

#[derive(Clone, Debug)]
pub enum VisitBody {
    /// The copy that the request's validators describe is still current.
    NotModified,
    Redirect {
        /// Checked like the URL of a request.
        target: Url,
        /// True if the page has moved for good.
        is_permanent: bool,
    },
    Page(Box<FetchedPage>),
    Data {
        bytes: Bytes,
        /// True if the content is longer.
        is_truncated: bool,
        validators: Option<Validators>,
    },
}

pub(crate) async fn visit(shared: &Shared, request: &VisitRequest) -> Result<Visit, FetchError> {
    let visited = make(shared, request).await;
    outcomes::record(visited.as_ref().map(|visit| match visit.body {
        VisitBody::NotModified => Success::NotModified,
        VisitBody::Redirect { .. } => Success::Redirect,
        VisitBody::Page(_) | VisitBody::Data { .. } => Success::Fetched,
    }));
    visited
}

async fn make(shared: &Shared, request: &VisitRequest) -> Result<Visit, FetchError> {
    let target = Target::parse(&request.url, shared.client.policy())?;
    let timed_out = |_| Err(FetchError::Timeout { stage: TimeoutStage::Total });
    let exchange = async {
        if let Some(robots) = &shared.robots {
            robots.check(&target).await?;
        }
        exchange(shared, &target, request).await
    };
    tokio::time::timeout(shared.options.time_limits.total, exchange).await.unwrap_or_else(timed_out)
}

async fn exchange(shared: &Shared, target: &Target, request: &VisitRequest) -> Result<Visit, FetchError> {
    let headers = request.validators.as_ref().map(|validators| validators.headers(target.url())).unwrap_or_default();
    let is_conditional = !headers.is_empty();
    let start = Instant::now();
    let response = shared.client.get(target, headers).await?;
    let response_time = start.elapsed();
    let is_public = response.remote_addr().is_some_and(|peer| AddressGuard::default().allows(peer.ip()));
    let robots_tags = values(response.headers(), "x-robots-tag");
    let links = values(response.headers(), LINK.as_str());
    let status = response.status();
    let body = if is_redirect(status) {
        let mut redirects = RedirectChain::new(target, 1);
        let next = redirects.follow(target, response.headers(), shared.client.policy())?;
        body::drain(response).await;
        VisitBody::Redirect { target: next.url().clone(), is_permanent: is_permanent(status) }
    } else if is_conditional && status == StatusCode::NOT_MODIFIED {
        VisitBody::NotModified
    } else if is_page(status) {
        read(shared, target, response, request.accept).await?
    } else {
        let retry_after = requested_delay(response.headers());
        body::drain(response).await;
        return Err(FetchError::Status { status: status.as_u16(), retry_after });
    };
    Ok(Visit { body, response_time, robots_tags, links, is_public })
}

async fn read(shared: &Shared, target: &Target, response: Response, accept: Accept) -> Result<VisitBody, FetchError> {
    let limit = shared.options.max_bytes;
    match accept {
        Accept::Pages => Ok(VisitBody::Page(Box::new(page(target, response, 0, limit).await?))),
        Accept::Data => {
            let validators = Validators::read(target.url(), response.headers());
            let body = body::read(response, limit).await?;
            Ok(VisitBody::Data { bytes: body.bytes, is_truncated: body.is_truncated, validators })
        }
    }
}

fn values(headers: &HeaderMap, name: &str) -> Vec<String> {
    let found = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    found.take(MAX_HEADERS).map(str::to_owned).collect()
}
