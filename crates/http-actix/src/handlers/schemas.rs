use actix_web::{HttpRequest, HttpResponse, web};
use api_types::{ErrorCode, schemas};

use crate::State;
use crate::failure::Failure;
use crate::handlers::unmatched::without_admission;
use crate::query::refuse_unknown_parameters;
use crate::static_file::StaticFile;

/// `GET /schemas/{Name}.json`, without authentication.
pub(crate) async fn read_schema(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    if let Err(failure) = refuse_unknown_parameters(&request, |_| false) {
        return without_admission(&request, &state, Err(failure)).await;
    }
    match file(&state, request.match_info().query("file")) {
        Some(schema) => schema.answer(&request).await,
        None => {
            let failure = Failure::new(ErrorCode::NotFound, "no such schema");
            without_admission(&request, &state, Err(failure)).await
        }
    }
}

/// Builds the file for each request: schemas are small and rarely requested.
fn file(state: &State, name: &str) -> Option<StaticFile> {
    let name = name.strip_suffix(".json")?;
    let mut schema = schemas::json_schema(name)?;
    schema.insert("$id".to_owned(), state.schema_url(name).into());
    let text = serde_json::to_vec_pretty(&schema).ok()?;
    Some(StaticFile::new("application/schema+json", text))
}
