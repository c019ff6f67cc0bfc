use api_types::{
    NoBody, WebPageListResponse, WebPagesRefreshRequest, WebPagesRefreshResponse, WebPagesRemoveRequest,
    WebPagesRemoveResponse, WebStatsResponse,
};
use model::Scope;

use crate::examples::{Example, web_pages as examples};
use crate::parameters::{WebPagesQuery, WebStatsQuery};
use crate::{InvalidRequest, Operation, Tag};

group! {
    /// The pages of the shared web index.
    ListWebPages,
    /// The size of the shared web index.
    GetWebStats,
    /// Removal of pages.
    RemoveWebPages,
    /// New visits of pages.
    RefreshWebPages,
}

impl Operation for ListWebPages {
    type Path = ();
    type Query = WebPagesQuery;
    type Body = NoBody;
    type Response = WebPageListResponse;

    const ID: &'static str = "listWebPages";
    const ROUTE: &'static str = "GET /v1/web/pages";
    const TAG: Tag = Tag::Web;
    const SCOPE: Option<Scope> = Some(Scope::WebManage);
    const SUMMARY: &'static str = "List web pages";
    const DESCRIPTION: &'static str = "\
Lists pages of the shared web index, of one host or with one beginning of their URLs, in pages: the next one begins at \
`next_cursor`. Pages that organizations read by their URLs are not part of it.";
    const LABEL: &'static str = "List web pages";
    const SUCCESS: &'static str = "A page of the list.";
    const INVALID: InvalidRequest =
        InvalidRequest { field: "prefix", message: "prefix: `docs` begins no URL: add http:// or https://" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::list_response()
    }
}

impl Operation for GetWebStats {
    type Path = ();
    type Query = WebStatsQuery;
    type Body = NoBody;
    type Response = WebStatsResponse;

    const ID: &'static str = "getWebStats";
    const ROUTE: &'static str = "GET /v1/web/stats";
    const TAG: Tag = Tag::Web;
    const SCOPE: Option<Scope> = Some(Scope::WebManage);
    const SUMMARY: &'static str = "Show the size of the web index";
    const DESCRIPTION: &'static str = "\
Returns the number of pages in the shared web index, the hosts with the most pages, and the size of the frontier. Counting reads \
the whole list, which takes seconds for a million pages.";
    const LABEL: &'static str = "Web statistics";
    const SUCCESS: &'static str = "The numbers.";
    const INVALID: InvalidRequest =
        InvalidRequest { field: "limit", message: "limit must be a number between 1 and 1000" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::stats_response()
    }
}

impl Operation for RemoveWebPages {
    type Path = ();
    type Query = ();
    type Body = WebPagesRemoveRequest;
    type Response = WebPagesRemoveResponse;

    const ID: &'static str = "removeWebPages";
    const ROUTE: &'static str = "POST /v1/web/pages/remove";
    const TAG: Tag = Tag::Web;
    const SCOPE: Option<Scope> = Some(Scope::WebManage);
    const SUMMARY: &'static str = "Remove web pages";
    const DESCRIPTION: &'static str = "\
Removes a page, the pages of a host, or the pages with one beginning of their URLs from the shared web index. Crawls do not add \
them again, except new ones. One request removes up to 10,000 pages: repeat it until `is_complete` is true.";
    const LABEL: &'static str = "Remove web pages";
    const SUCCESS: &'static str = "The number of removed pages.";
    const INVALID: InvalidRequest =
        InvalidRequest { field: "url", message: "exactly one of url, host and prefix is required" };
    const RETRY_SAFE: bool = true;

    fn request_examples() -> Vec<Example> {
        examples::remove_requests()
    }

    fn response_example() -> Example {
        examples::remove_response()
    }
}

impl Operation for RefreshWebPages {
    type Path = ();
    type Query = ();
    type Body = WebPagesRefreshRequest;
    type Response = WebPagesRefreshResponse;

    const ID: &'static str = "refreshWebPages";
    const ROUTE: &'static str = "POST /v1/web/pages/refresh";
    const TAG: Tag = Tag::Web;
    const SCOPE: Option<Scope> = Some(Scope::WebManage);
    const SUMMARY: &'static str = "Refresh web pages";
    const DESCRIPTION: &'static str = "\
Queues new visits of pages of the shared web index: in the crawls that know them, or in one of their own.";
    const LABEL: &'static str = "Refresh web pages";
    const SUCCESS: &'static str = "The outcome of each URL.";
    const INVALID: InvalidRequest =
        InvalidRequest { field: "urls", message: "urls must have at least 1 item, not 0" };
    const RETRY_SAFE: bool = true;

    fn request_examples() -> Vec<Example> {
        examples::refresh_requests()
    }

    fn response_example() -> Example {
        examples::refresh_response()
    }
}
