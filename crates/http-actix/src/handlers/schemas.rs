use actix_web::{HttpRequest, HttpResponse, web};
use api_types::{ErrorCode, schemas};

use crate::State;
use crate::endpoint::refuse_unknown_parameters;
use crate::failure::Failure;
use crate::handlers::unmatched::outside_the_door;
use crate::static_file::StaticFile;

/// `GET /schemas/{Name}.json`, without authentication.
pub(crate) async fn read_schema(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    if let Err(failure) = refuse_unknown_parameters(&request, |_| false) {
        return outside_the_door(&request, &state, Err(failure)).await;
    }
    match file(&state, request.match_info().query("file")) {
        Some(schema) => schema.answer(&request).await,
        None => {
            let failure = Failure::new(ErrorCode::NotFound, "there is no schema of this name");
            outside_the_door(&request, &state, Err(failure)).await
        }
    }
}

/// The schema of this file name. Made for each request: schemas are small, and seldom asked for.
fn file(state: &State, name: &str) -> Option<StaticFile> {
    let name = name.strip_suffix(".json")?;
    let mut schema = schemas::json_schema(name)?;
    schema.insert("$id".to_owned(), state.schema_url(name).into());
    let text = serde_json::to_vec_pretty(&schema).ok()?;
    Some(StaticFile::new("application/schema+json", text))
}
