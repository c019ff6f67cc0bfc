//! The article of one operation, and the sections on errors and warnings.

use std::collections::BTreeMap;

use api_types::ErrorCode;
use serde_json::Value;

use super::markup::{escape, inline, prose};
use super::{entries, example, fields, follow, items, text};
use crate::Spec;

/// Renders one operation.
pub(super) fn article(document: &Value, operation: &Spec, described: &Value) -> String {
    let method = operation.method.as_str();
    let id = escape(text(described, "operationId"));
    let scope = match described["security"][0]["apiKey"][0].as_str() {
        Some(scope) => format!("scope <code>{}</code>", escape(scope)),
        None => "any credential".to_owned(),
    };
    let (status, success) = answer(described, |status| status < 400).unwrap_or_default();
    let success = follow(document, success);
    format!(
        "<article id=\"{id}\">\n<h3><a href=\"#{id}\">{summary}</a></h3>\n\
         <p class=\"route\"><span class=\"verb {class}\">{method}</span> <code>{path}</code> \
         <span class=\"scope\">{scope}</span></p>\n\
         <div class=\"columns\">\n<div>\n{description}{parameters}{request}\
         <h4>Response <code>{status}</code></h4>\n<p>{success_text}</p>\n{response}{errors}{warnings}</div>\n\
         <div class=\"examples\">\n{calls}{answers}</div>\n</div>\n</article>\n",
        summary = escape(text(described, "summary")),
        class = method.to_lowercase(),
        path = escape(operation.path),
        description = prose(text(described, "description")),
        parameters = parameters(document, described),
        request = request(document, described),
        success_text = inline(text(success, "description")),
        response = fields::list(document, &success["content"]["application/json"]["schema"]),
        errors = errors(document, described),
        warnings = warnings(document, items(described, "x-warnings")),
        calls = example::calls(operation),
        answers = example::answers(success),
    )
}

/// The first response whose status satisfies `wanted`.
fn answer(described: &Value, wanted: impl Fn(u16) -> bool) -> Option<(&str, &Value)> {
    entries(described, "responses")
        .find(|(status, _)| status.parse().is_ok_and(&wanted))
        .map(|(status, answer)| (status.as_str(), answer))
}

fn parameters(document: &Value, described: &Value) -> String {
    let lines: String = items(described, "parameters")
        .iter()
        .map(|parameter| {
            let parameter = follow(document, parameter);
            let mut field = parameter["schema"].clone();
            field["description"] = parameter["description"].clone();
            let name = text(parameter, "name");
            let name = match text(parameter, "in") {
                "header" => format!("{name} (header)"),
                place => format!("{name} ({place})"),
            };
            format!("<li>{}</li>\n", fields::line(document, &name, &field, parameter["required"] == true))
        })
        .collect();
    format!("<h4>Parameters</h4>\n<ul class=\"fields\">\n{lines}</ul>\n")
}

fn request(document: &Value, described: &Value) -> String {
    match described["requestBody"]["content"]["application/json"].get("schema") {
        None => String::new(),
        Some(schema) => format!("<h4>Request body</h4>\n{}", fields::list(document, schema)),
    }
}

/// Renders the error codes of an operation, by status. The examples of a response are named after its codes.
fn errors(document: &Value, described: &Value) -> String {
    let rows: String = entries(described, "responses")
        .filter(|(status, _)| status.parse().is_ok_and(|status: u16| status >= 400))
        .flat_map(|(status, answer)| {
            let answer = follow(document, answer);
            entries(&answer["content"]["application/json"], "examples")
                .map(move |(code, example)| row(status, code, text(example, "summary")))
        })
        .collect();
    format!("<h4>Errors</h4>\n{}", table(&rows))
}

fn row(status: &str, code: &str, meaning: &str) -> String {
    format!("<tr><td>{}</td><td><code>{}</code></td><td>{}</td></tr>\n", escape(status), escape(code), inline(meaning))
}

fn table(rows: &str) -> String {
    format!(
        "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">Status</th><th scope=\"col\">Code</th>\
         <th scope=\"col\">When</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )
}

fn warnings(document: &Value, codes: &[Value]) -> String {
    if codes.is_empty() {
        return String::new();
    }
    format!("<h4>Warnings</h4>\n{}", warning_list(document, codes))
}

fn warning_list(document: &Value, codes: &[Value]) -> String {
    let about = &document["components"]["schemas"]["WarningCode"]["x-enumDescriptions"];
    let list: String = codes
        .iter()
        .filter_map(Value::as_str)
        .map(|code| format!("<dt><code>{}</code></dt><dd>{}</dd>\n", escape(code), inline(text(about, code))))
        .collect();
    format!("<dl class=\"words\">\n{list}</dl>\n")
}

/// Renders the section with all errors and the envelope.
pub(super) fn all_errors(document: &Value) -> String {
    // Two rows may share a code; the status tells them apart.
    let codes: BTreeMap<_, _> = ErrorCode::ALL.iter().map(|code| ((code.status(), code.as_str()), code)).collect();
    let rows: String =
        codes.iter().map(|((status, name), code)| row(&status.to_string(), name, code.meaning())).collect();
    let envelope = fields::list(document, &document["components"]["schemas"]["ErrorEnvelope"]);
    format!(
        "<section id=\"errors\">\n<h2>Errors</h2>\n<div class=\"lead\"><p>All errors use one envelope. Branch on \
         <code>error.code</code>.</p></div>\n{envelope}{}</section>\n",
        table(&rows)
    )
}

/// Renders the section with all warnings.
pub(super) fn all_warnings(document: &Value) -> String {
    // The list is open: clients must accept codes of newer servers.
    let alternatives = items(&document["components"]["schemas"]["WarningCode"], "anyOf");
    let codes: Vec<_> = alternatives.iter().flat_map(|alternative| items(alternative, "enum")).cloned().collect();
    format!(
        "<section id=\"warnings\">\n<h2>Warnings</h2>\n<div class=\"lead\"><p>A 200 with warnings is a complete \
         answer.</p></div>\n{}</section>\n",
        warning_list(document, &codes)
    )
}
