//! Properties of every operation of the table.

use actix_web::http::Method;
use actix_web::test::TestRequest;
use openapi::{Spec, operations};

use crate::api::{Answer, Api};

/// Fills the placeholders of the operation's path.
pub fn path(operation: &Spec) -> String {
    operation
        .path_parameters
        .iter()
        .fold(operation.path.to_owned(), |path, parameter| path.replace(&format!("{{{}}}", parameter.name), "x.txt"))
}

async fn send(api: &Api, operation: &Spec, path: &str) -> Answer {
    let request = TestRequest::with_uri(path).method(operation.method.as_str().parse().unwrap());
    api.send(api.authorized(request).set_payload("not json")).await
}

#[actix_web::test]
async fn unknown_parameters_are_refused() {
    let api = Api::new().await;
    for operation in operations::all() {
        let answer = send(&api, operation, &format!("{}?nonsense=1", path(operation))).await;
        answer.expect_invalid("nonsense");
    }
}

#[actix_web::test]
async fn malformed_bodies_are_refused() {
    let api = Api::new().await;
    for operation in operations::all().filter(|operation| operation.request.is_some()) {
        send(&api, operation, &path(operation)).await.expect_error(400, "validation_error");
    }
}

#[actix_web::test]
async fn other_methods_are_refused_with_the_allowed_ones() {
    let api = Api::new().await;
    for operation in operations::all() {
        let answer = api.send(api.authorized(TestRequest::with_uri(&path(operation)).method(Method::TRACE))).await;
        answer.expect_error(405, "method_not_allowed");
        let allowed: Vec<_> = answer.header("Allow").unwrap().split(", ").collect();
        assert!(allowed.contains(&operation.method.as_str()), "{}: {allowed:?}", operation.route);
    }
}
