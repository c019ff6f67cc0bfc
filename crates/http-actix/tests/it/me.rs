use actix_web::test::TestRequest;
use serde_json::json;

use crate::api::Api;

#[actix_web::test]
async fn any_credential_sees_its_organization_and_quotas() {
    let api = Api::new().await;
    let without_scopes = api.bearer_with(&[]).await;
    let answer =
        api.send(TestRequest::get().uri("/v1/me").insert_header(("Authorization", without_scopes.as_str()))).await;
    assert_eq!(answer.status, 200);
    let body = answer.json();
    assert_eq!(body["organization"]["billed"], false);
    assert!(body["organization"].get("balance_cents").is_none());
    assert_eq!(body["credential"]["kind"], "api_key");
    assert_eq!(body["credential"]["scopes"], json!([]));
    assert_eq!(body["quotas"], json!({"files": {"used": 0, "limit": 100}, "bytes": {"used": 0}}));
    assert_eq!(body["access"]["rate_limit"]["limit_rps"], 100);
}
