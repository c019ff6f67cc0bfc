//! The internal listener: liveness, readiness and metrics.

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::http::{StatusCode, header::CONTENT_TYPE};
use actix_web::{App, Error, HttpRequest, HttpResponse, Resource, web};
use app::readiness::{DependencyState, is_ready};
use app::supervisor::{Phase, TaskState};
use serde::Serialize;
use uuid::Uuid;

use crate::State;
use crate::exchange::Exchange;
use crate::handlers::unmatched;
use crate::pipeline::caught;
use crate::reply::{Reply, respond};

/// Creates the app of the internal listener: `/healthz`, `/readyz` and `/metrics`.
pub fn create_operations_app(
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
        .app_data(web::Data::from(state.app.clone()))
        .app_data(state)
        .service(probe("/healthz").route(web::get().to(health)).route(web::head().to(health)))
        .service(probe("/readyz").route(web::get().to(readiness)).route(web::head().to(readiness)))
        .service(probe("/metrics").route(web::get().to(metrics)).route(web::head().to(metrics)))
        .default_service(web::to(unmatched::unknown_path))
}

fn probe(path: &'static str) -> Resource {
    web::resource(path).default_service(web::to(|request: HttpRequest, state: web::Data<State>| async move {
        unmatched::wrong_method("GET, HEAD", request, state).await
    }))
}

#[derive(Serialize)]
struct Health {
    request_id: Uuid,
    status: &'static str,
}

/// Reports liveness of the process alone, so that an outage of a backend does not restart it.
async fn health(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    let request_id = Exchange::of(&request).request_id;
    let reply = Reply::json(StatusCode::OK, &Health { request_id, status: "ok" });
    respond(&state, &request, request_id, "GET /healthz", reply, None).await
}

#[derive(Serialize)]
struct Readiness {
    request_id: Uuid,
    /// `ready`, `unavailable` or `stopping`.
    status: &'static str,
    dependencies: Vec<Dependency>,
    /// Background tasks. They do not affect `status`, since requests are served while one restarts.
    tasks: Vec<Task>,
}

#[derive(Serialize)]
struct Dependency {
    name: &'static str,
    required: bool,
    /// `up` or `down`.
    state: &'static str,
    latency_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl From<DependencyState> for Dependency {
    fn from(state: DependencyState) -> Self {
        Dependency {
            name: state.name,
            required: state.required,
            state: if state.up { "up" } else { "down" },
            // Rounded to microseconds, the latency of a local database; more digits are noise.
            latency_ms: (state.latency.as_secs_f64() * 1e6).round() / 1e3,
            detail: state.detail,
        }
    }
}

#[derive(Serialize)]
struct Task {
    name: &'static str,
    /// `running`, `restarting` after a panic, or `ended`.
    state: &'static str,
    panics: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_panic: Option<String>,
}

impl From<TaskState> for Task {
    fn from(task: TaskState) -> Self {
        let state = match task.phase {
            Phase::Running => "running",
            Phase::Restarting => "restarting",
            Phase::Ended => "ended",
        };
        Task { name: task.name, state, panics: task.panics, last_panic: task.last_panic }
    }
}

/// Reports all dependencies and background tasks, with 503 if a required one is down or the server stops.
async fn readiness(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    let request_id = Exchange::of(&request).request_id;
    let reply = caught(state.app.readiness()).await.and_then(|dependencies| {
        let (code, status) = match is_ready(&dependencies) {
            // Load balancers must send requests elsewhere while the last ones are answered.
            _ if state.stopping.is_cancelled() => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
            true => (StatusCode::OK, "ready"),
            false => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        };
        let dependencies = dependencies.into_iter().map(Dependency::from).collect();
        let tasks = state.app.background_tasks().into_iter().map(Task::from).collect();
        Reply::json(code, &Readiness { request_id, status, dependencies, tasks })
    });
    respond(&state, &request, request_id, "GET /readyz", reply, None).await
}

/// Serves metrics in the text exposition format of Prometheus, version 0.0.4.
async fn metrics(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    match &state.metrics {
        Some(text) => {
            state.app.measure();
            let request_id = Exchange::of(&request).request_id;
            HttpResponse::Ok()
                .insert_header((CONTENT_TYPE, "text/plain; version=0.0.4"))
                .insert_header(("X-Request-ID", request_id.to_string()))
                .body(text())
        }
        None => unmatched::unknown_path(request, state).await,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Dependency, DependencyState};

    #[test]
    fn latency_is_in_milliseconds_rounded_to_microseconds() {
        let latency = Duration::from_nanos(1_500_400);
        let state = DependencyState { name: "database", required: true, up: true, latency, detail: None };
        assert_eq!(Dependency::from(state).latency_ms, 1.5);
    }
}
