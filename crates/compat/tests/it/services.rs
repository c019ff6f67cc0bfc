use api_types::ErrorCode;
use compat::exa::Exa;
use compat::firecrawl::Firecrawl;
use compat::openwebui::OpenWebUi;
use compat::searxng::Searxng;
use compat::tavily::Tavily;
use compat::{ErrorReply, Service};
use serde_json::json;
use uuid::Uuid;

fn error<S: Service>(code: ErrorCode) -> (u16, serde_json::Value) {
    let ErrorReply { status, body } = S::error(code, "text", Uuid::nil());
    (status, body)
}

#[test]
fn errors_have_the_format_of_the_service() {
    let spent = ErrorCode::InsufficientBalance;
    assert_eq!(error::<Tavily>(spent), (432, json!({"detail": {"error": "text"}})));
    let id = Uuid::nil();
    assert_eq!(error::<Exa>(spent), (402, json!({"requestId": id, "error": "text", "tag": "NO_MORE_CREDITS"})));
    let firecrawl = json!({"success": false, "error": "text", "code": "INSUFFICIENT_CREDITS"});
    assert_eq!(error::<Firecrawl>(spent), (402, firecrawl));
    assert_eq!(error::<Searxng>(spent), (402, json!({"error": "text"})));
    assert_eq!(error::<OpenWebUi>(spent), (402, json!({"detail": "text"})));
}

#[test]
fn unknown_paths_and_wrong_methods_are_no_faults_of_a_body() {
    let body = json!({"requestId": Uuid::nil(), "error": "text"});
    assert_eq!(error::<Exa>(ErrorCode::NotFound), (404, body.clone()));
    assert_eq!(error::<Exa>(ErrorCode::MethodNotAllowed), (405, body));
}

#[test]
fn every_error_keeps_its_class() {
    for code in ErrorCode::ALL {
        for (status, _) in [error::<Tavily>(code), error::<Exa>(code), error::<Firecrawl>(code)] {
            assert_eq!(status / 100, code.status() / 100, "{code:?}");
        }
    }
}

#[test]
fn messages_name_the_fields_of_the_service() {
    let message = "source_policy.include_domains[0]: `x y` is not a domain";
    assert!(Tavily::translate(message).starts_with("include_domains[0]"));
    assert!(Exa::translate(message).starts_with("includeDomains[0]"));
    assert!(Firecrawl::translate(message).starts_with("includeDomains[0]"));
}
