use std::collections::BTreeMap;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::{App, Error, FromRequest, Handler, HttpRequest, HttpResponse, Resource, Route, web};
use openapi::{Visit, operations};

use crate::State;
use crate::compat;
use crate::endpoint::{self, Endpoint};
use crate::handlers::{console, mcp, published, schemas, skills, unmatched};
use crate::observe::observe;

/// The public API, as the server and the tests run it.
pub fn create_app(
    state: web::Data<State>,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody + use<>>,
        Error = Error,
        InitError = (),
    > + use<>,
> {
    let access_log = state.access_log;
    App::new()
        .wrap_fn(move |request, routing| observe(request, routing, access_log))
        // Compression takes its turns from it, and is used by what the state holds.
        .app_data(web::Data::from(state.app.clone()))
        .app_data(state)
        .configure(|app| Operations::all().register(app))
        // Unknown paths of the API are admitted like its operations.
        .service(web::scope("/v1").default_service(web::to(unmatched::unknown_api_path)))
        .service(
            web::resource(["/mcp", "/mcp/"])
                .route(web::post().to(mcp::serve))
                // The server opens no streams and keeps no sessions, so only POST has a meaning.
                .default_service(web::to(|request: HttpRequest, state: web::Data<State>| async move {
                    unmatched::wrong_method("POST", request, state).await
                })),
        )
        .configure(compat::register)
        .service(public("/", published::root))
        .service(public("/openapi/public.json", published::openapi))
        // Tools look for the document here.
        .service(public("/openapi.json", published::openapi))
        .service(public("/docs", published::docs))
        .service(public("/docs/reference.css", published::style))
        .service(public("/docs/reference.js", published::script))
        .service(public("/console", console::page))
        .service(public("/console/{file:.*}", console::file))
        .service(public("/schemas/{file}", schemas::read_schema))
        .service(public("/skills", skills::index))
        .service(public("/skills/install.sh", skills::installer))
        .service(public("/skills/agents/{file}", skills::agent))
        .service(public("/skills/{skill}/SKILL.md", skills::skill))
        .service(public("/.well-known/agent-skills/index.json", skills::discovery))
        .service(public("/.well-known/agent-skills/{skill}/SKILL.md", skills::skill))
        .service(public("/.well-known/oauth-protected-resource", mcp::api_metadata))
        .service(public("/.well-known/oauth-protected-resource/mcp", mcp::metadata))
        .service(public("/llms.txt", published::llms))
        .default_service(web::to(unmatched::unknown_path))
}

/// The operations of the table, by path template.
///
/// The order of the map is the order of matching. Paths without placeholders come first: they are compared as text, the others
/// by regular expressions. Among those, `{` sorts after letters and digits, so fixed segments win over placeholders.
#[derive(Default)]
struct Operations(BTreeMap<(bool, &'static str), Vec<(Method, Route)>>);

impl<O: Endpoint> Visit<O> for Operations {
    fn visit(&mut self) {
        let routes = self.0.entry((O::PATH.contains('{'), O::PATH)).or_default();
        let method = method(O::METHOD);
        routes.push((method.clone(), web::method(method.clone()).to(endpoint::serve::<O>)));
        // A server must support HEAD where it supports GET (RFC 9110, 9.1). The listener omits the body.
        if method == Method::GET {
            routes.push((Method::HEAD, web::head().to(endpoint::serve::<O>)));
        }
    }
}

impl Operations {
    fn all() -> Self {
        let mut all = Self::default();
        operations::for_each(&mut all);
        all
    }

    fn register(self, app: &mut web::ServiceConfig) {
        for ((_, path), routes) in self.0 {
            let allow: Vec<_> = routes.iter().map(|(method, _)| method.as_str()).collect();
            let allow = allow.join(", ");
            let wrong_method = move |request: HttpRequest, payload: web::Payload| {
                unmatched::wrong_api_method(allow.clone(), request, payload)
            };
            let resource = web::resource(path).default_service(web::to(wrong_method));
            app.service(routes.into_iter().fold(resource, |resource, (_, route)| resource.route(route)));
        }
    }
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

/// A path that needs no credential.
fn public<F, Args>(path: &'static str, handler: F) -> Resource
where
    F: Handler<Args, Output = HttpResponse>,
    Args: FromRequest + 'static,
{
    let routes = [web::get(), web::head()].map(|route| route.to(handler.clone()));
    let resource = routes.into_iter().fold(web::resource(path), Resource::route);
    resource.default_service(web::to(|request: HttpRequest, state: web::Data<State>| async move {
        unmatched::wrong_method("GET, HEAD", request, state).await
    }))
}
