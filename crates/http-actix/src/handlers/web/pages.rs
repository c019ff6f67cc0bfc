use api_types::timestamp::rfc3339;
use api_types::{
    WebHost, WebPageEntry, WebPageListResponse, WebPageRefresh, WebPagesRefreshResponse, WebPagesRemoveRequest,
    WebPagesRemoveResponse, WebStatsResponse,
};
use app::Work;
use app::clock::to_date_time;
use app::web_index::PagesQuery;
use app::web_index::pages::{self, Selection};
use app::web_index::stats::Stats;
use openapi::parameters::{WebPagesQuery, WebStatsQuery};
use openapi::{Input, operations};

use crate::call::Context;
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::numbers::wire_int;
use crate::query::number;

const DEFAULT_PAGES: i64 = 100;
const MAX_PAGES: i64 = 1_000;
const DEFAULT_HOSTS: i64 = 20;
const MAX_HOSTS: i64 = 1_000;

impl Endpoint for operations::ListWebPages {
    async fn handle(context: &Context, input: Input<Self>) -> Result<WebPageListResponse, Failure> {
        let WebPagesQuery { host, prefix, cursor, limit } = input.query;
        let limit = number("limit", limit, DEFAULT_PAGES, 1..=MAX_PAGES)?;
        let selection = Selection { host, prefix };
        let query = PagesQuery { selection, cursor, limit: usize::try_from(limit).unwrap_or(1) };
        let (pages, next_cursor) = context
            .run(Work::Small, |service, viewer| async move { service.list_web_pages(&viewer, query).await })
            .await?;
        Ok(WebPageListResponse {
            schema: context.schema::<WebPageListResponse>(),
            request_id: context.request_id,
            pages: pages.into_iter().map(entry).collect(),
            next_cursor,
        })
    }
}

impl Endpoint for operations::GetWebStats {
    async fn handle(context: &Context, input: Input<Self>) -> Result<WebStatsResponse, Failure> {
        let WebStatsQuery { limit } = input.query;
        let limit = number("limit", limit, DEFAULT_HOSTS, 1..=MAX_HOSTS)?;
        let hosts = usize::try_from(limit).unwrap_or(1);
        let stats =
            context.run(Work::Report, |service, viewer| async move { service.web_stats(&viewer, hosts).await }).await?;
        Ok(stats_response(context, stats))
    }
}

impl Endpoint for operations::RemoveWebPages {
    async fn handle(context: &Context, input: Input<Self>) -> Result<WebPagesRemoveResponse, Failure> {
        let target = Target::of(input.body)?;
        let removed = context
            .run(Work::Small, |service, viewer| async move {
                match target {
                    Target::Page(url) => service.remove_web_page(&viewer, &url).await,
                    Target::Pages(selection) => service.remove_web_pages(&viewer, &selection).await,
                }
            })
            .await?;
        Ok(WebPagesRemoveResponse {
            schema: context.schema::<WebPagesRemoveResponse>(),
            request_id: context.request_id,
            removed: wire_int(removed.count as u64),
            is_complete: removed.is_complete,
        })
    }
}

impl Endpoint for operations::RefreshWebPages {
    async fn handle(context: &Context, input: Input<Self>) -> Result<WebPagesRefreshResponse, Failure> {
        let urls = input.body.urls;
        let refreshed = context
            .run(Work::Small, |service, viewer| async move { service.refresh_web_pages(&viewer, &urls).await })
            .await?;
        let result = |page: pages::Refreshed| WebPageRefresh { url: page.url, queued: page.is_queued };
        Ok(WebPagesRefreshResponse {
            schema: context.schema::<WebPagesRefreshResponse>(),
            request_id: context.request_id,
            results: refreshed.into_iter().map(result).collect(),
        })
    }
}

/// Pages to remove.
enum Target {
    Page(String),
    Pages(Selection),
}

impl Target {
    fn of(body: WebPagesRemoveRequest) -> Result<Self, Failure> {
        match (body.url, body.host, body.prefix) {
            (Some(url), None, None) => Ok(Self::Page(url)),
            (None, Some(host), None) => Ok(Self::Pages(Selection { host: Some(host), prefix: None })),
            (None, None, Some(prefix)) => Ok(Self::Pages(Selection { host: None, prefix: Some(prefix) })),
            (_, _, Some(_)) => Err(one_only("prefix")),
            (Some(_), Some(_), None) => Err(one_only("host")),
            (None, None, None) => Err(one_only("url")),
        }
    }
}

fn one_only(field: &str) -> Failure {
    Failure::invalid(field, "exactly one of url, host and prefix is required")
}

fn entry(page: pages::WebPageEntry) -> WebPageEntry {
    let time = |at| rfc3339(to_date_time(at));
    WebPageEntry {
        url: page.url,
        doc_id: page.doc_id.0,
        title: page.title,
        first_seen_at: time(page.first_seen_at),
        last_crawled_at: page.last_crawled_at.map(time),
    }
}

fn stats_response(context: &Context, stats: Stats) -> WebStatsResponse {
    let Stats { pages, hosts, largest_hosts, oldest_crawl, crawls, frontier } = stats;
    let largest = largest_hosts.into_iter().map(|host| WebHost { pages: wire_int(host.pages), host: host.host });
    WebStatsResponse {
        schema: context.schema::<WebStatsResponse>(),
        request_id: context.request_id,
        pages: wire_int(pages),
        hosts: wire_int(hosts as u64),
        largest_hosts: largest.collect(),
        oldest_crawl: oldest_crawl.map(|at| rfc3339(to_date_time(at))),
        crawls: wire_int(crawls as u64),
        crawled_pages: frontier.pages,
        urls: frontier.urls,
        queued: frontier.queued,
        hosts_in_back_off: frontier.hosts_in_back_off,
    }
}
