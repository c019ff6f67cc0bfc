use actix_web::body::MessageBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::{App, Error, FromRequest, Handler, HttpRequest, HttpResponse, Resource, web};
use openapi::{Operation, operations};

use crate::State;
use crate::handlers::{documents, feedback, files, mcp, published, schemas, searches, skills, unmatched, usage};

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
    App::new()
        .app_data(state)
        .service(
            web::scope(BASE)
                .service(api(&operations::SEARCH, searches::search))
                .service(api(&operations::READ_DOCUMENT, documents::read_document))
                .service(api(&operations::SUBMIT_FEEDBACK, feedback::submit_feedback))
                .service(api(&operations::LIST_FILES, files::list_files))
                .service(api(&operations::PRESIGN_FILE, files::presign_file))
                .service(api(&operations::START_RUN, files::start_run))
                .service(api(&operations::RUN_STATUS, files::run_status))
                .service(api(&operations::USAGE_OVERVIEW, usage::usage_overview))
                // After the fixed names, which no stored file can have: every stored name has an extension.
                .service(api(&operations::DELETE_FILE, files::delete_file))
                .default_service(web::to(unmatched::unknown_api_path)),
        )
        .service(
            web::resource(["/mcp", "/mcp/"])
                .route(web::post().to(mcp::serve))
                // No stream to open, no session to end.
                .default_service(web::to(|request: HttpRequest, state: web::Data<State>| async move {
                    unmatched::wrong_method("POST", request, state).await
                })),
        )
        .service(public("/openapi/public.json", published::openapi))
        .service(public("/docs", published::docs))
        .service(public("/schemas/{file}", schemas::read_schema))
        .service(public("/skills", skills::index))
        .service(public("/skills/install.sh", skills::installer))
        .service(public("/skills/agents/{file}", skills::agent))
        .service(public("/skills/{skill}/SKILL.md", skills::skill))
        .service(public("/.well-known/agent-skills/index.json", skills::discovery))
        .service(public("/.well-known/agent-skills/{skill}/SKILL.md", skills::skill))
        .service(public("/llms.txt", skills::llms))
        .default_service(web::to(unmatched::unknown_path))
}

/// The base path of the API.
const BASE: &str = "/v1";

/// An operation of the API, with the answer for the methods that its path does not take.
fn api<F, Args>(operation: &'static Operation, handler: F) -> Resource
where
    F: Handler<Args, Output = HttpResponse>,
    Args: FromRequest + 'static,
{
    let path = operation.path();
    // The table's methods are written by us; a name that is none would be a route that nothing reaches, which the walk
    // of the table in the tests finds.
    let method = Method::from_bytes(operation.method().as_bytes()).unwrap_or(Method::OPTIONS);
    web::resource(path.strip_prefix(BASE).unwrap_or(path)).route(web::method(method).to(handler)).default_service(
        web::to(move |request: HttpRequest, payload: web::Payload| {
            unmatched::wrong_api_method(operation.method(), request, payload)
        }),
    )
}

/// A path that is read without a credential.
fn public<F, Args>(path: &'static str, handler: F) -> Resource
where
    F: Handler<Args, Output = HttpResponse>,
    Args: FromRequest + 'static,
{
    web::resource(path).route(web::get().to(handler)).default_service(web::to(
        |request: HttpRequest, state: web::Data<State>| async move {
            unmatched::wrong_method("GET", request, state).await
        },
    ))
}
