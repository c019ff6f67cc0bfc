use std::collections::BTreeMap;

use api_types::timestamp::rfc3339;
use api_types::{
    WebCrawlCreateRequest, WebCrawlDeleteResponse, WebCrawlEntry, WebCrawlListResponse, WebCrawlOutcomes,
    WebCrawlReason, WebCrawlReportResponse, WebCrawlResponse, WebCrawlSettings, WebCrawlState, WebSitemaps,
};
use app::Work;
use app::clock::to_date_time;
use app::web_index::crawls::{CrawlRequest, Removal, Sitemaps};
use app::web_index::report::{self, CrawlState, CrawlView, Outcomes, Reason};
use openapi::parameters::{CrawlDeleteQuery, CrawlName};
use openapi::{Input, operations};

use crate::call::Context;
use crate::endpoint::Endpoint;
use crate::failure::{Failure, clipped};

impl Endpoint for operations::ListCrawls {
    async fn handle(context: &Context, _: Input<Self>) -> Result<WebCrawlListResponse, Failure> {
        let crawls =
            context.run(Work::Small, |service, viewer| async move { service.list_crawls(&viewer).await }).await?;
        Ok(WebCrawlListResponse {
            schema: context.schema::<WebCrawlListResponse>(),
            request_id: context.request_id,
            crawls: crawls.into_iter().map(entry).collect(),
        })
    }
}

impl Endpoint for operations::StartCrawl {
    async fn handle(context: &Context, input: Input<Self>) -> Result<WebCrawlResponse, Failure> {
        let request = request(input.body);
        let crawl = context
            .run(Work::Small, |service, viewer| async move { service.start_crawl(&viewer, request).await })
            .await?;
        Ok(respond(context, crawl))
    }
}

impl Endpoint for operations::GetCrawl {
    async fn handle(context: &Context, input: Input<Self>) -> Result<WebCrawlReportResponse, Failure> {
        let CrawlName(name) = input.path;
        let (crawl, outcomes) =
            context.run(Work::Small, |service, viewer| async move { service.show_crawl(&viewer, &name).await }).await?;
        Ok(WebCrawlReportResponse {
            schema: context.schema::<WebCrawlReportResponse>(),
            request_id: context.request_id,
            crawl: entry(crawl),
            outcomes: by_outcome(outcomes),
        })
    }
}

impl Endpoint for operations::StopCrawl {
    async fn handle(context: &Context, input: Input<Self>) -> Result<WebCrawlResponse, Failure> {
        let CrawlName(name) = input.path;
        let crawl =
            context.run(Work::Small, |service, viewer| async move { service.stop_crawl(&viewer, &name).await }).await?;
        Ok(respond(context, crawl))
    }
}

impl Endpoint for operations::DeleteCrawl {
    async fn handle(context: &Context, input: Input<Self>) -> Result<WebCrawlDeleteResponse, Failure> {
        let (CrawlName(name), CrawlDeleteQuery { pages }) = (input.path, input.query);
        let with_pages = match pages.as_deref() {
            None | Some("false") => false,
            Some("true") => true,
            Some(other) => {
                let message = format!("pages must be `true` or `false`, not `{}`", clipped(other.to_owned()));
                return Err(Failure::invalid("pages", message));
            }
        };
        let asked = name.clone();
        let removal = context
            .run(Work::Small, |service, viewer| async move { service.remove_crawl(&viewer, &asked, with_pages).await })
            .await?;
        Ok(WebCrawlDeleteResponse {
            schema: context.schema::<WebCrawlDeleteResponse>(),
            request_id: context.request_id,
            name,
            removed: removal == Removal::Complete,
            pages_removed: with_pages,
        })
    }
}

/// Converts a request body, whose numbers are validated already.
fn request(body: WebCrawlCreateRequest) -> CrawlRequest {
    CrawlRequest {
        urls: body.urls,
        name: body.name,
        depth: body.depth.and_then(|depth| u32::try_from(depth).ok()),
        limit: body.limit.and_then(|limit| u64::try_from(limit).ok()),
        include: body.include,
        exclude: body.exclude,
        sitemaps: match body.sitemaps {
            WebSitemaps::Auto => Sitemaps::Auto,
            WebSitemaps::Only => Sitemaps::Only,
            WebSitemaps::Off => Sitemaps::Off,
        },
        every_seconds: body.every_seconds.and_then(|seconds| u64::try_from(seconds).ok()),
    }
}

fn respond(context: &Context, crawl: CrawlView) -> WebCrawlResponse {
    WebCrawlResponse {
        schema: context.schema::<WebCrawlResponse>(),
        request_id: context.request_id,
        crawl: entry(crawl),
    }
}

fn entry(view: CrawlView) -> WebCrawlEntry {
    let CrawlView { crawl, state, plan } = view;
    let time = |at| rfc3339(to_date_time(at));
    WebCrawlEntry {
        name: crawl.name,
        crawl_id: crawl.crawl_id.0,
        state: match state {
            CrawlState::Running => WebCrawlState::Running,
            CrawlState::Waiting => WebCrawlState::Waiting,
            CrawlState::Completed => WebCrawlState::Completed,
            CrawlState::Stopped => WebCrawlState::Stopped,
        },
        pages: crawl.pages,
        queued: crawl.queued,
        urls: crawl.urls,
        limit: crawl.page_limit,
        created_at: time(crawl.created_at),
        started_at: time(crawl.started_at),
        finished_at: crawl.finished_at.map(time),
        settings: WebCrawlSettings {
            seeds: plan.seeds,
            depth: plan.depth.map(i64::from),
            include: plan.include,
            exclude: plan.exclude,
            sitemaps: match plan.sitemaps {
                Sitemaps::Auto => WebSitemaps::Auto,
                Sitemaps::Only => WebSitemaps::Only,
                Sitemaps::Off => WebSitemaps::Off,
            },
            every_seconds: plan.every_seconds.and_then(|seconds| i64::try_from(seconds).ok()),
        },
    }
}

fn by_outcome(outcomes: Outcomes) -> WebCrawlOutcomes {
    let Outcomes { redirected, skipped, failed, gone, links_not_followed } = outcomes;
    WebCrawlOutcomes {
        redirected,
        skipped: report::total(&skipped),
        skipped_by_reason: by_reason(skipped),
        failed: report::total(&failed),
        failed_by_reason: by_reason(failed),
        gone: report::total(&gone),
        gone_by_reason: by_reason(gone),
        links_not_followed: by_reason(links_not_followed),
    }
}

fn by_reason(reasons: Vec<Reason>) -> BTreeMap<String, WebCrawlReason> {
    let entry = |Reason { name, count, example }| (name, WebCrawlReason { count, example });
    reasons.into_iter().map(entry).collect()
}
