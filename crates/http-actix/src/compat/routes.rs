use actix_web::{HttpRequest, Resource, Route, web};
use compat::exa::{self, Exa};
use compat::firecrawl::{self, Firecrawl};
use compat::openwebui::{self, OpenWebUi};
use compat::searxng::{self, Searxng};
use compat::tavily::{self, Tavily};
use model::Scope;

use super::request::ForeignPath;
use super::{page, read, refusals, search};
use crate::State;
use crate::handlers::unmatched;
use crate::pipeline::Foreign;

/// Registers the paths of all services. They are not part of the published contract, which describes `/v1`.
pub(crate) fn register(app: &mut web::ServiceConfig) {
    let searching = || web::post().to(search::post::<firecrawl::SearchRequest>);
    let scraping = || web::post().to(read::post::<firecrawl::ScrapeRequest>);
    app.service(post("/compat/tavily/search", web::post().to(search::post::<tavily::SearchRequest>)))
        .service(post("/compat/tavily/extract", web::post().to(read::post::<tavily::ExtractRequest>)))
        .service(post("/compat/exa/search", web::post().to(search::post::<exa::SearchRequest>)))
        .service(post("/compat/exa/contents", web::post().to(read::post::<exa::ContentsRequest>)))
        .service(post("/compat/firecrawl/v2/search", searching()))
        .service(post("/compat/firecrawl/v2/scrape", scraping()))
        // The Python client drops the path of its base URL. Other methods have no meaning here: this is no API of ours.
        .service(web::resource("/v2/search").route(searching()).default_service(web::to(unmatched::unknown_path)))
        .service(web::resource("/v2/scrape").route(scraping()).default_service(web::to(unmatched::unknown_path)))
        // Some clients send requests to the base URL itself, as the original permits.
        .service(get(
            &["/compat/searxng/search", "/compat/searxng", "/compat/searxng/"],
            [web::get(), web::head()].map(|route| route.to(search::get::<searxng::SearchRequest>)),
        ))
        .service(post("/compat/openwebui/search", web::post().to(search::post::<openwebui::SearchRequest>)))
        .service(post("/compat/openwebui/load", web::post().to(read::post::<openwebui::LoadRequest>)))
        .service(get(&["/read/{url:.*}"], [web::get(), web::head()].map(|route| route.to(page::get))));
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

fn post(path: &str, route: Route) -> Resource {
    web::resource(path).route(route).default_service(wrong_method("POST"))
}

fn get(paths: &[&str], routes: [Route; 2]) -> Resource {
    let resource = routes.into_iter().fold(web::resource(paths.to_vec()), Resource::route);
    resource.default_service(wrong_method("GET, HEAD"))
}

fn wrong_method(allow: &'static str) -> Route {
    web::to(move |request: HttpRequest, state: web::Data<State>| async move {
        unmatched::wrong_method(allow, request, state).await
    })
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
