//! HTTP client for targets that passed the policy.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::{Certificate, RequestBuilder, Response};

use crate::body;
use crate::error::{FetchError, OptionsError, TimeoutStage};
use crate::http_errors;
use crate::options::{FetcherOptions, TimeLimits};
use crate::resolver::{GuardedResolver, Resolver};
use crate::targets::{Target, TargetPolicy};

/// Idle time of a pooled connection: spans the redirects of a page and the next page of the same host.
const POOL_IDLE: Duration = Duration::from_secs(15);

/// The HTTP/2 default is too small for pages with long cookies and policies; HTTP/1.1 stops at about 400 KiB.
const MAX_HEADER_BYTES: u32 = 128 * 1024;

/// `Accept` header, in order of preference.
const ACCEPTED: HeaderValue = HeaderValue::from_static(
    "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.9,application/pdf;q=0.9,application/xml;q=0.8,\
     application/json;q=0.8,*/*;q=0.7",
);

pub(crate) struct Client {
    http: reqwest::Client,
    policy: TargetPolicy,
    time_limits: TimeLimits,
}

impl Client {
    pub fn new(
        options: &FetcherOptions,
        resolver: Arc<dyn Resolver>,
        policy: TargetPolicy,
    ) -> Result<Self, OptionsError> {
        let user_agent = HeaderValue::from_str(&options.user_agent)
            .map_err(|_| OptionsError::UserAgent(options.user_agent.clone()))?;
        let mut builder = reqwest::Client::builder()
            .user_agent(user_agent)
            .default_headers(HeaderMap::from_iter([(ACCEPT, ACCEPTED), (ACCEPT_ENCODING, body::ACCEPTED_CODINGS)]))
            .dns_resolver(Arc::new(GuardedResolver {
                resolver,
                guard: policy.guard.clone(),
                time_limit: options.time_limits.connect * 3 / 4,
            }))
            .connect_timeout(options.time_limits.connect)
            .pool_idle_timeout(POOL_IDLE)
            .pool_max_idle_per_host(options.politeness.concurrent)
            .tcp_nodelay(true)
            .http2_max_header_list_size(MAX_HEADER_BYTES)
            // A proxy would resolve and connect without the checks.
            .no_proxy()
            // `Fetcher` checks each hop before it follows.
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            // `body` decompresses, within memory limits.
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd();
        for bundle in &options.root_certificates {
            for certificate in Certificate::from_pem_bundle(bundle).map_err(OptionsError::RootCertificate)? {
                builder = builder.add_root_certificate(certificate);
            }
        }
        let http = builder.build().map_err(OptionsError::Client)?;
        Ok(Self { http, policy, time_limits: options.time_limits })
    }

    pub fn policy(&self) -> &TargetPolicy {
        &self.policy
    }

    /// Sends a GET request and waits for the response headers. Any status is a success here.
    ///
    /// # Errors
    /// `RefusedAddress`, `Dns`, `Overloaded`, `Connect`, `Tls`, `Timeout`, `Interrupted`, `Protocol`.
    pub async fn get(&self, target: &Target, headers: HeaderMap) -> Result<Response, FetchError> {
        self.send(self.http.get(target.url().clone()).headers(headers)).await
    }

    /// Sends a POST request and waits for the response headers. Any status is a success here.
    ///
    /// # Errors
    /// As for [`Client::get`].
    pub async fn post(&self, target: &Target, headers: HeaderMap, body: Vec<u8>) -> Result<Response, FetchError> {
        self.send(self.http.post(target.url().clone()).headers(headers).body(body)).await
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, FetchError> {
        let limit = self.time_limits.connect + self.time_limits.first_byte;
        let response = match tokio::time::timeout(limit, request.send()).await {
            Ok(result) => result.map_err(|error| http_errors::classify(&error))?,
            Err(_) => return Err(FetchError::Timeout { stage: TimeoutStage::FirstByte }),
        };
        // Second line of defence: nothing is read from a refused address, however the connection came about.
        match response.remote_addr() {
            Some(peer) if self.policy.guard.allows(peer.ip()) => Ok(response),
            _ => Err(FetchError::RefusedAddress),
        }
    }
}
