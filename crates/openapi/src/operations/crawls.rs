use api_types::{
    ErrorCode, NoBody, WebCrawlCreateRequest, WebCrawlDeleteResponse, WebCrawlListResponse, WebCrawlReportResponse,
    WebCrawlResponse,
};
use model::Scope;

use crate::examples::{Example, crawls as examples};
use crate::parameters::{CrawlDeleteQuery, CrawlName};
use crate::{InvalidRequest, Operation, Tag};

group! {
    /// The crawls of the shared web index.
    ListCrawls,
    /// A new crawl, or a new round of one.
    StartCrawl,
    /// A crawl with its URLs by outcome.
    GetCrawl,
    /// The end of work on a crawl.
    StopCrawl,
    /// Removal of a crawl.
    DeleteCrawl,
}

/// A name that is too long.
const INVALID_NAME: InvalidRequest =
    InvalidRequest { field: "name", message: "name must have at most 200 characters" };

impl Operation for ListCrawls {
    type Path = ();
    type Query = ();
    type Body = NoBody;
    type Response = WebCrawlListResponse;

    const ID: &'static str = "listCrawls";
    const ROUTE: &'static str = "GET /v1/web/crawls";
    const TAG: Tag = Tag::Web;
    const SCOPE: Option<Scope> = Some(Scope::WebManage);
    const SUMMARY: &'static str = "List crawls";
    const DESCRIPTION: &'static str = "\
Lists all crawls of the shared web index with their progress, oldest first.";
    const LABEL: &'static str = "List crawls";
    const SUCCESS: &'static str = "The crawls.";
    const INVALID: InvalidRequest = InvalidRequest { field: "page", message: "unknown query parameter `page`" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::list_response()
    }
}

impl Operation for StartCrawl {
    type Path = ();
    type Query = ();
    type Body = WebCrawlCreateRequest;
    type Response = WebCrawlResponse;

    const ID: &'static str = "startCrawl";
    const ROUTE: &'static str = "POST /v1/web/crawls";
    const TAG: Tag = Tag::Web;
    const SCOPE: Option<Scope> = Some(Scope::WebManage);
    const SUMMARY: &'static str = "Start a crawl";
    const DESCRIPTION: &'static str = "\
Starts a crawl of sites, pages, sitemaps or feeds into the shared web index, and answers before the first visit. The crawl stays \
on the hosts of its URLs. The name of a crawl that exists makes it go on with the new settings: an unfinished round continues, \
from its start if the settings differ, and after its end a new round visits every URL again. Servers without `crawl.enabled` leave \
the work to others. `GET /v1/web/crawls/{name}` shows the progress.";
    const LABEL: &'static str = "Start crawl";
    const STATUS: u16 = 202;
    const SUCCESS: &'static str = "The crawl, with its first URLs queued.";
    const INVALID: InvalidRequest = InvalidRequest {
        field: "urls[0]",
        message: "urls[0]: `docs.example.com` is not an absolute http:// or https:// URL",
    };
    // A second request could begin a second round.
    const RETRY_SAFE: bool = false;

    fn request_examples() -> Vec<Example> {
        examples::create_requests()
    }

    fn response_example() -> Example {
        examples::create_response()
    }
}

impl Operation for GetCrawl {
    type Path = CrawlName;
    type Query = ();
    type Body = NoBody;
    type Response = WebCrawlReportResponse;

    const ID: &'static str = "getCrawl";
    const ROUTE: &'static str = "GET /v1/web/crawls/{name}";
    const TAG: Tag = Tag::Web;
    const SCOPE: Option<Scope> = Some(Scope::WebManage);
    const SUMMARY: &'static str = "Show a crawl";
    const DESCRIPTION: &'static str = "\
Returns a crawl with its progress, and its URLs by outcome: failures, skipped and gone URLs and links that were not followed, each \
reason with its number and an example.";
    const LABEL: &'static str = "Show crawl";
    const SUCCESS: &'static str = "The crawl.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::CrawlNotFound];
    const INVALID: InvalidRequest = INVALID_NAME;
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::report_response()
    }
}

impl Operation for StopCrawl {
    type Path = CrawlName;
    type Query = ();
    type Body = NoBody;
    type Response = WebCrawlResponse;

    const ID: &'static str = "stopCrawl";
    const ROUTE: &'static str = "POST /v1/web/crawls/{name}/stop";
    const TAG: Tag = Tag::Web;
    const SCOPE: Option<Scope> = Some(Scope::WebManage);
    const SUMMARY: &'static str = "Stop a crawl";
    const DESCRIPTION: &'static str = "\
Stops a crawl after the visits in progress. Its pages stay in the index. Starting a crawl of its name goes on where it was.";
    const LABEL: &'static str = "Stop crawl";
    const SUCCESS: &'static str = "The stopped crawl.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::CrawlNotFound];
    const INVALID: InvalidRequest = INVALID_NAME;
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::stop_response()
    }
}

impl Operation for DeleteCrawl {
    type Path = CrawlName;
    type Query = CrawlDeleteQuery;
    type Body = NoBody;
    type Response = WebCrawlDeleteResponse;

    const ID: &'static str = "deleteCrawl";
    const ROUTE: &'static str = "DELETE /v1/web/crawls/{name}";
    const TAG: Tag = Tag::Web;
    const SCOPE: Option<Scope> = Some(Scope::WebManage);
    const SUMMARY: &'static str = "Remove a crawl";
    const DESCRIPTION: &'static str = "\
Stops and removes a crawl. Its pages stay in the index; with `pages=true`, pages that no other crawl lists are removed, too. One \
request removes up to 10,000 URLs of the frontier: repeat it until `removed` is true.";
    const LABEL: &'static str = "Remove crawl";
    const SUCCESS: &'static str = "The crawl is removed, or stopped and partly removed.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::CrawlNotFound];
    const INVALID: InvalidRequest =
        InvalidRequest { field: "pages", message: "pages must be `true` or `false`, not `all`" };
    // A repeated request reports `crawl_not_found`.
    const RETRY_SAFE: bool = false;

    fn response_example() -> Example {
        examples::delete_response()
    }
}
