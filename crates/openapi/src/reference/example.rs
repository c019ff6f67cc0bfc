//! Example calls and responses.

use serde_json::Value;

use super::markup::{escape, inline};
use super::{entries, text};

/// Renders the calls of one operation: one for each example body, or one without a body.
pub(super) fn calls(method: &str, path: &str, described: &Value) -> String {
    let address = parameters_filled(path, described);
    let bodies: Vec<_> = entries(&described["requestBody"]["content"]["application/json"], "examples").collect();
    if bodies.is_empty() {
        return code("Call", &curl(method, &address, None));
    }
    bodies
        .into_iter()
        .map(|(_, example)| code(text(example, "summary"), &curl(method, &address, Some(&example["value"]))))
        .collect()
}

/// Renders the examples of a response.
pub(super) fn answers(response: &Value) -> String {
    entries(&response["content"]["application/json"], "examples")
        .map(|(_, example)| code(text(example, "summary"), &format!("{:#}", example["value"])))
        .collect()
}

fn code(caption: &str, text: &str) -> String {
    // Long examples scroll in their box, so it must be reachable by keyboard.
    let text = escape(text);
    format!(
        "<figure><figcaption>{}</figcaption>\n<pre tabindex=\"0\"><code>{text}</code></pre></figure>\n",
        inline(caption)
    )
}

fn curl(method: &str, address: &str, body: Option<&Value>) -> String {
    let verb = match method {
        "GET" | "POST" => String::new(),
        other => format!("-X {other} "),
    };
    let head = format!("curl {verb}\"$BASE_URL{address}\" \\\n  -H \"Authorization: Bearer $API_KEY\"");
    match body {
        None => head,
        Some(body) => {
            // Inside single quotes, only the quote itself is special to a shell.
            let body = format!("{body:#}").replace('\'', "'\\''");
            format!("{head} \\\n  -H \"Content-Type: application/json\" \\\n  -d '{body}'")
        }
    }
}

/// Fills the path and the query with the examples of their parameters.
fn parameters_filled(path: &str, described: &Value) -> String {
    let mut address = path.to_owned();
    let mut query = Vec::new();
    for parameter in super::items(described, "parameters") {
        let name = text(parameter, "name");
        let example = match &parameter["example"] {
            Value::Array(items) => items.first().and_then(Value::as_str).unwrap_or_default(),
            other => other.as_str().unwrap_or_default(),
        };
        match text(parameter, "in") {
            "path" => address = address.replace(&format!("{{{name}}}"), example),
            "query" => query.push(format!("{name}={example}")),
            _ => {}
        }
    }
    if query.is_empty() { address } else { format!("{address}?{}", query.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::curl;
    use serde_json::json;

    #[test]
    fn quotes_in_a_body_survive_the_shell() {
        let call = curl("POST", "/x", Some(&json!({"a": "it's"})));
        assert!(call.ends_with("-d '{\n  \"a\": \"it'\\''s\"\n}'"), "{call}");
        assert!(curl("DELETE", "/x", None).starts_with("curl -X DELETE \"$BASE_URL/x\""));
    }
}
