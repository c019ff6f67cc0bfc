use actix_web::body::MessageBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::{App, Error, HttpRequest, Resource, web};

use crate::State;
use crate::handlers::{documents, feedback, files, schemas, searches, unmatched, usage};

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
            web::scope("/v1")
                .service(api("/search", "POST").route(web::post().to(searches::search)))
                .service(api("/document", "POST").route(web::post().to(documents::read_document)))
                .service(api("/feedback", "POST").route(web::post().to(feedback::submit_feedback)))
                .service(api("/files", "GET").route(web::get().to(files::list_files)))
                .service(api("/files/presign", "POST").route(web::post().to(files::presign_file)))
                .service(api("/files/index", "POST").route(web::post().to(files::start_run)))
                .service(api("/files/index/{sync_id}", "GET").route(web::get().to(files::run_status)))
                .service(api("/usage", "GET").route(web::get().to(usage::usage_overview)))
                // After the fixed names, which no stored file can have: every stored name has an extension.
                .service(api("/files/{name}", "DELETE").route(web::delete().to(files::delete_file)))
                .default_service(web::to(unmatched::unknown_api_path)),
        )
        .service(web::resource("/schemas/{file}").route(web::get().to(schemas::read_schema)).default_service(web::to(
            |request: HttpRequest, state: web::Data<State>| async move {
                unmatched::wrong_method("GET", request, state).await
            },
        )))
        .default_service(web::to(unmatched::unknown_path))
}

/// A path of the API, with the answer for the methods that it does not take.
fn api(path: &'static str, allow: &'static str) -> Resource {
    web::resource(path).default_service(web::to(move |request: HttpRequest, payload: web::Payload| {
        unmatched::wrong_api_method(allow, request, payload)
    }))
}
