//! One struct per section. `config/default.toml` documents every key with its default.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

use ipnet::IpNet;

use crate::{Secret, parse};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub data_dir: PathBuf,
    pub server: Server,
    pub mcp: Mcp,
    pub operations: Operations,
    pub database: Database,
    pub index: Index,
    pub storage: Storage,
    pub rate_limit: RateLimit,
    pub rerank: Rerank,
    pub embed: Embed,
    pub generate: Generate,
    pub research: Research,
    pub webhooks: Webhooks,
    pub extract: Extract,
    pub fetch: Fetch,
    pub web: Web,
    pub crawl: Crawl,
    pub captures: Captures,
    pub usage: Usage,
    pub files: Files,
    pub quotas: Quotas,
    pub retention: Retention,
    pub billing: Billing,
    pub auth: Auth,
    pub log: Log,
    pub telemetry: Telemetry,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    #[serde(deserialize_with = "parse::socket_address")]
    pub bind: SocketAddr,
    /// Base URL of the API, `https` if this server has a certificate.
    pub public_url: String,
    /// PEM file; empty: plain HTTP.
    pub tls_cert: String,
    pub tls_key: String,
    /// 0: one per CPU, at most 8.
    pub workers: u16,
    pub request_timeout_ms: u64,
    pub drain_seconds: u64,
    /// 0: as many as fit.
    pub max_connections: u32,
    /// 0: no maximum.
    pub max_connections_per_address: u32,
    #[serde(deserialize_with = "parse::networks")]
    pub trusted_networks: Vec<IpNet>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mcp {
    /// `scheme://host` or `scheme://host:port`, as browsers send it.
    pub allow_origins: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operations {
    #[serde(deserialize_with = "parse::socket_address")]
    pub bind: SocketAddr,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// `sqlite:FILE`, relative to `data_dir`, or `postgres://...`.
    pub url: Secret,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum IndexBackend {
    Embedded,
    Meilisearch,
    Qdrant,
    None,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    pub backend: IndexBackend,
    pub url: String,
    pub api_key: Secret,
    pub prefix: String,
    pub shards: u32,
    pub replicas: u32,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum StorageBackend {
    Embedded,
    S3,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Storage {
    pub backend: StorageBackend,
    #[serde(deserialize_with = "parse::socket_address")]
    pub bind: SocketAddr,
    /// 0: as many as fit.
    pub max_connections: u32,
    /// Empty: `endpoint`, or the embedded listener.
    pub public_endpoint: String,
    pub endpoint: String,
    pub region: String,
    pub bucket: String,
    pub access_key_id: Secret,
    pub secret_access_key: Secret,
    pub path_style: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum RateLimitBackend {
    Memory,
    Redis,
}

/// Behaviour while the shared counter is unavailable.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    Open,
    Closed,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    pub backend: RateLimitBackend,
    pub url: Secret,
    pub on_failure: OnFailure,
    pub default_rps: u32,
    /// 0: no limit.
    pub rejected_per_minute: u32,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum RerankBackend {
    Lexical,
    Http,
    None,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rerank {
    pub backend: RerankBackend,
    pub url: String,
    pub model: String,
    pub api_key: Secret,
    pub timeout_ms: u64,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum EmbedBackend {
    None,
    Http,
    Local,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Embed {
    pub backend: EmbedBackend,
    pub url: String,
    pub model: String,
    pub api_key: Secret,
    pub dir: PathBuf,
    /// 0: the model's own number.
    pub dimensions: u32,
    pub query_prefix: String,
    pub document_prefix: String,
    pub batch: u32,
    pub timeout_ms: u64,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum GenerateBackend {
    None,
    Http,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generate {
    pub backend: GenerateBackend,
    pub url: String,
    pub model: String,
    pub api_key: Secret,
    pub timeout_ms: u64,
    pub max_tokens: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Research {
    pub runs_per_organization: u32,
    pub retention_days: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhooks {
    #[serde(deserialize_with = "parse::networks")]
    pub allow_networks: Vec<IpNet>,
    pub timeout_ms: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crawl {
    pub enabled: bool,
    pub hosts_at_a_time: u32,
    pub min_delay_ms: u64,
    pub max_delay_ms: u64,
    pub max_crawl_delay_ms: u64,
    pub max_back_off_ms: u64,
    pub max_urls: u64,
}

/// Reaction to a system that cannot confine extraction workers, or the pages of a browser.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    Required,
    BestEffort,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    pub sandbox: Sandbox,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fetch {
    #[serde(deserialize_with = "parse::networks")]
    pub allow_networks: Vec<IpNet>,
    #[serde(deserialize_with = "parse::ports")]
    pub allow_ports: Vec<u16>,
    pub timeout_ms: u64,
    pub max_bytes: u64,
    pub respect_robots: bool,
    pub contact: String,
    pub render: Render,
    pub renders_at_a_time: u32,
    pub chromium_url: String,
    pub chromium_sandbox: Sandbox,
    #[serde(deserialize_with = "parse::socket_address")]
    pub chromium_proxy_bind: SocketAddr,
    pub chromium_proxy_address: String,
}

/// Rendering of pages that are empty without scripts.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Render {
    Off,
    Chromium,
}

/// Source of web results.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum WebProvider {
    /// The shared web index.
    Index,
    Searxng,
    Brave,
    Http,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Web {
    pub providers: Vec<WebProvider>,
    pub read_top: u32,
    pub read_timeout_ms: u64,
    pub timeout_ms: u64,
    pub searxng: WebSearxng,
    pub brave: WebBrave,
    pub http: WebHttp,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSearxng {
    pub url: String,
    /// 0: no limit.
    pub limit_rps: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebBrave {
    pub api_key: Secret,
    pub url: String,
    /// 0: no limit.
    pub limit_rps: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebHttp {
    pub url: String,
    pub api_key: Secret,
    pub api_key_header: String,
    pub query_parameter: String,
    /// Empty: a GET request.
    pub query_pointer: String,
    /// JSON object.
    pub body: String,
    pub country_parameter: String,
    pub language_parameter: String,
    pub results: String,
    pub result_url: String,
    pub result_title: String,
    pub result_snippet: String,
    pub result_date: String,
    /// 0: no limit.
    pub limit_rps: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    pub retention_days: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Captures {
    pub search_ttl_seconds: u64,
    pub document_ttl_seconds: u64,
    pub failure_ttl_seconds: u64,
    /// 0: replaced captures are not kept.
    pub evidence_days: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    pub max_object_bytes: u64,
    pub max_per_organization: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quotas {
    /// 0: no quota.
    pub bytes_per_organization: u64,
    /// 0: free disk space is not checked.
    pub min_free_disk_bytes: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// 0: forever.
    pub searches_days: u32,
    /// 0: forever.
    pub feedback_days: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Billing {
    pub search_cents: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    pub oauth: OAuth,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuth {
    /// Empty: OAuth is disabled.
    pub issuer: String,
    pub audience: String,
    pub jwks_url: String,
    pub organization_claim: String,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    Text,
    Json,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub filter: String,
    pub format: LogFormat,
    /// One line per request.
    pub access: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// Empty: traces are not exported.
    pub otlp_url: String,
    pub otlp_api_key: Secret,
    pub otlp_api_key_header: String,
    pub sample_ratio: f64,
    pub service_name: String,
}
