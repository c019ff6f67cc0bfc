use super::{Call, KEY_VARIABLE};
use crate::base_url::PLACEHOLDER;

pub(super) fn code(call: &Call) -> String {
    let Call { method, target, body, .. } = call;
    // A body makes it POST, and none GET.
    let implied = if body.is_some() { "POST" } else { "GET" };
    let verb = if method.as_str() == implied { String::new() } else { format!("-X {} ", method.as_str()) };
    let head = format!("curl {verb}\"{PLACEHOLDER}{target}\" \\\n  -H \"Authorization: Bearer ${KEY_VARIABLE}\"");
    match body {
        None => head,
        Some(body) => {
            // Inside single quotes, only the quote itself is special to a shell.
            let body = format!("{body:#}").replace('\'', "'\\''");
            format!("{head} \\\n  -H \"Content-Type: application/json\" \\\n  -d '{body}'")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Call, code};
    use crate::Method;
    use serde_json::json;

    #[test]
    fn quotes_in_a_body_survive_the_shell() {
        let mut call =
            Call { summary: "", method: Method::Post, target: "/x".into(), body: Some(json!({"a": "it's"})) };
        assert!(code(&call).ends_with("-d '{\n  \"a\": \"it'\\''s\"\n}'"), "{}", code(&call));
        call.body = None;
        assert!(code(&call).starts_with("curl -X POST \"{{BASE_URL}}/x\""));
        call.method = Method::Delete;
        assert!(code(&call).starts_with("curl -X DELETE \"{{BASE_URL}}/x\""));
        call.method = Method::Get;
        assert!(code(&call).starts_with("curl \"{{BASE_URL}}/x\""));
    }
}
