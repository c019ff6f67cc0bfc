use std::collections::HashMap;
use std::sync::LazyLock;

use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use actix_web::{HttpRequest, HttpResponse, web};
use api_types::{ErrorCode, schemas};
use bytes::Bytes;
use uuid::Uuid;

use crate::State;
use crate::endpoint::refuse_unknown_parameters;
use crate::failure::Failure;
use crate::handlers::unmatched::outside_the_door;

/// Every schema as it is served. Made at the first request, not at start: most servers are never asked.
static FILES: LazyLock<HashMap<String, Bytes>> = LazyLock::new(|| {
    let file = |name: &'static str| {
        let schema = schemas::json_schema(name)?;
        Some((format!("{name}.json"), Bytes::from(serde_json::to_vec_pretty(&schema).ok()?)))
    };
    schemas::names().filter_map(file).collect()
});

/// `GET /schemas/{Name}.json`, without authentication.
pub(crate) async fn read_schema(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    if let Err(failure) = refuse_unknown_parameters(&request, &[]) {
        return outside_the_door(&request, &state, Err(failure)).await;
    }
    match FILES.get(request.match_info().query("file")) {
        Some(schema) => HttpResponse::Ok()
            .insert_header((CONTENT_TYPE, "application/schema+json"))
            .insert_header((CACHE_CONTROL, "public, max-age=3600"))
            .insert_header(("X-Request-ID", Uuid::now_v7().to_string()))
            .body(schema.clone()),
        None => {
            let failure = Failure::new(ErrorCode::NotFound, "there is no schema of this name");
            outside_the_door(&request, &state, Err(failure)).await
        }
    }
}
