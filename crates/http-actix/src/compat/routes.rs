use actix_web::{HttpRequest, Resource, Route, guard, web};
use compat::exa::{self, Exa};
use compat::firecrawl::{self, Firecrawl};
use compat::openwebui::{self, OpenWebUi};
use compat::searxng::{self, Searxng};
use compat::tavily::{self, Tavily};
use compat::{ForeignRead, ForeignSearch};
use model::Scope;

use super::request::ForeignPath;
use super::{page, read, refusals, search};
use crate::State;
use crate::failure::Failure;
use crate::handlers::unmatched;
use crate::pipeline::Foreign;

/// Registers the paths of all services. They are not part of the published contract, which describes `/v1`.
pub(crate) fn register(app: &mut web::ServiceConfig) {
    app.service(searches::<tavily::SearchRequest>("/compat/tavily/search"))
        .service(reads::<tavily::ExtractRequest>("/compat/tavily/extract"))
        .service(others::<tavily::SearchRequest>("/compat/tavily"))
        .service(searches::<exa::SearchRequest>("/compat/exa/search"))
        .service(reads::<exa::ContentsRequest>("/compat/exa/contents"))
        .service(others::<exa::SearchRequest>("/compat/exa"))
        .service(searches::<firecrawl::SearchRequest>("/compat/firecrawl/v2/search"))
        .service(reads::<firecrawl::ScrapeRequest>("/compat/firecrawl/v2/scrape"))
        .service(others::<firecrawl::SearchRequest>("/compat/firecrawl"))
        // The synchronous Python client drops the path of its base URL. Other methods have no meaning here: this is no API of ours.
        .service(
            others::<firecrawl::SearchRequest>("/v2")
                .guard(guard::Post())
                .service(searches::<firecrawl::SearchRequest>("/search"))
                .service(reads::<firecrawl::ScrapeRequest>("/scrape")),
        )
        // Some clients send requests to the base URL itself, as the original permits.
        .service(get(
            &["/compat/searxng/search", "/compat/searxng", "/compat/searxng/"],
            searxng::SearchRequest::FOREIGN,
            [web::get(), web::head()].map(|route| route.to(search::get::<searxng::SearchRequest>)),
        ))
        .service(others::<searxng::SearchRequest>("/compat/searxng"))
        .service(searches::<openwebui::SearchRequest>("/compat/openwebui/search"))
        .service(reads::<openwebui::LoadRequest>("/compat/openwebui/load"))
        .service(others::<openwebui::SearchRequest>("/compat/openwebui"))
        .service(get(&["/read/{url:.*}"], &page::READ, [web::get(), web::head()].map(|route| route.to(page::get))));
}

/// Returns the names that usage and logs give the paths.
pub(crate) fn names() -> [&'static str; 10] {
    [
        tavily::SearchRequest::FOREIGN,
        tavily::ExtractRequest::FOREIGN,
        exa::SearchRequest::FOREIGN,
        exa::ContentsRequest::FOREIGN,
        firecrawl::SearchRequest::FOREIGN,
        firecrawl::ScrapeRequest::FOREIGN,
        searxng::SearchRequest::FOREIGN,
        openwebui::SearchRequest::FOREIGN,
        openwebui::LoadRequest::FOREIGN,
        &page::READ,
    ]
    .map(|foreign| foreign.name)
}

fn searches<T: ForeignPath + ForeignSearch>(path: &str) -> Resource {
    post::<T>(path, web::post().to(search::post::<T>))
}

fn reads<T: ForeignPath + ForeignRead>(path: &str) -> Resource {
    post::<T>(path, web::post().to(read::post::<T>))
}

fn post<T: ForeignPath>(path: &str, route: Route) -> Resource {
    web::resource(path).route(route).default_service(wrong_method(T::FOREIGN, "POST"))
}

fn get(paths: &[&str], foreign: &'static Foreign, routes: [Route; 2]) -> Resource {
    let resource = routes.into_iter().fold(web::resource(paths.to_vec()), Resource::route);
    resource.default_service(wrong_method(foreign, "GET, HEAD"))
}

fn wrong_method(foreign: &'static Foreign, allow: &'static str) -> Route {
    refusal(foreign, move || unmatched::not_allowed(allow.to_owned()))
}

/// Answers the other paths below a base path of the service of `T`.
fn others<T: ForeignPath>(base: &str) -> actix_web::Scope {
    web::scope(base).default_service(refusal(T::FOREIGN, unmatched::not_found))
}

/// Answers an unmatched request in the format of the service. The message names its known paths: clients show little else.
fn refusal(foreign: &'static Foreign, failure: impl Fn() -> Failure + Clone + 'static) -> Route {
    web::to(move |request: HttpRequest, state: web::Data<State>| {
        let (mut failure, known) = (failure(), implemented(foreign));
        failure.message = format!("{}; implemented here: {known}; see docs/compat.md", failure.message);
        async move { unmatched::refuse_as(&foreign.refusals, &request, &state, failure).await }
    })
}

/// Lists the paths of the service that `foreign` belongs to.
fn implemented(foreign: &Foreign) -> String {
    let of_service = names().into_iter().filter(|name| service(name) == service(foreign.name));
    of_service.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the service in the name of a path: `tavily` in `POST /compat/tavily/search`.
fn service(name: &str) -> Option<&str> {
    name.split('/').nth(2)
}

const fn searching(name: &'static str, refusals: crate::reply::Refusals) -> Foreign {
    Foreign { name, scope: Scope::SearchRead, refusals }
}

const fn reading(name: &'static str, refusals: crate::reply::Refusals) -> Foreign {
    Foreign { name, scope: Scope::DocumentRead, refusals }
}

impl ForeignPath for tavily::SearchRequest {
    const FOREIGN: &'static Foreign = &searching("POST /compat/tavily/search", refusals::<Tavily>());
    const KEY_IN_BODY: bool = true;
}

impl ForeignPath for tavily::ExtractRequest {
    const FOREIGN: &'static Foreign = &reading("POST /compat/tavily/extract", refusals::<Tavily>());
    const KEY_IN_BODY: bool = true;
}

impl ForeignPath for exa::SearchRequest {
    const FOREIGN: &'static Foreign = &searching("POST /compat/exa/search", refusals::<Exa>());
}

impl ForeignPath for exa::ContentsRequest {
    const FOREIGN: &'static Foreign = &reading("POST /compat/exa/contents", refusals::<Exa>());
}

impl ForeignPath for firecrawl::SearchRequest {
    const FOREIGN: &'static Foreign = &searching("POST /compat/firecrawl/v2/search", refusals::<Firecrawl>());
}

impl ForeignPath for firecrawl::ScrapeRequest {
    const FOREIGN: &'static Foreign = &reading("POST /compat/firecrawl/v2/scrape", refusals::<Firecrawl>());
}

impl ForeignPath for searxng::SearchRequest {
    const FOREIGN: &'static Foreign = &searching("GET /compat/searxng/search", refusals::<Searxng>());
}

impl ForeignPath for openwebui::SearchRequest {
    const FOREIGN: &'static Foreign = &searching("POST /compat/openwebui/search", refusals::<OpenWebUi>());
}

impl ForeignPath for openwebui::LoadRequest {
    const FOREIGN: &'static Foreign = &reading("POST /compat/openwebui/load", refusals::<OpenWebUi>());
}
