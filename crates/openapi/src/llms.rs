//! `llms.txt`: the service for language models, in the format of llmstxt.org.

use crate::calls::{Call, Language};
use crate::{BaseUrl, Spec, operations};

const INTRODUCTION: &str = "\
# Retrieval

> One API for agents: ranked search over a shared web index and an organization's private files, any document or public page as \
clean markdown with citable passages, uploads of files, feedback and usage.

Send `Authorization: Bearer API_KEY` with every request, except to the descriptions below. Bodies are JSON. Errors have one \
envelope: branch on `error.code`. Retry 429 and 5xx with back-off. A 200 with `warnings` is a complete answer.

The usual order is: search with a full question, then read the best results by `doc_id`. Ask for as much text as needed: \
`response.verbosity` and `response.budget.max_chars_total` bound a search, `content.max_chars` bounds a read.
";

/// Renders the text. `skills` are names and descriptions of the skills that the service publishes.
pub fn text<'a>(base: &BaseUrl, skills: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = INTRODUCTION.to_owned();
    if let Some(first) = operations::all().next().and_then(|operation| Call::of(operation).into_iter().next()) {
        text.push_str(&format!("\n```sh\n{}\n```\n", first.code(Language::Curl)));
    }
    text.push_str(
        "\n## Descriptions\n\n\
         - [OpenAPI 3.1]({{BASE_URL}}/openapi/public.json): every operation, field, error and warning\n\
         - [Reference]({{BASE_URL}}/docs): a web page of the same, with examples in curl, Python and JavaScript\n\
         - [MCP]({{BASE_URL}}/mcp): Model Context Protocol server (streamable HTTP) with the same keys; `?profile=search` \
         offers search alone\n\
         - [Pages as markdown]({{BASE_URL}}/read/https://example.com/): `GET /read/{url}` returns any public page as markdown\n\
         \n## Operations\n\n",
    );
    for operation in operations::all() {
        text.push_str(&line(operation));
    }
    let skills: String = skills
        .map(|(name, description)| format!("- [{name}]({{{{BASE_URL}}}}/skills/{name}/SKILL.md): {description}\n"))
        .collect();
    if !skills.is_empty() {
        text.push_str(
            "\n## Skills\n\n- [Installer]({{BASE_URL}}/skills/install.sh): a shell script for coding agents\n",
        );
        text.push_str(&skills);
    }
    base.fill(&text)
}

fn line(operation: &Spec) -> String {
    let Spec { id, route, summary, scope, .. } = operation;
    let scope = scope.map_or("any key".to_owned(), |scope| format!("scope `{scope}`"));
    let body = Call::of(operation).into_iter().next().and_then(|call| call.body);
    let body = body.map(|body| format!("; smallest body `{body}`")).unwrap_or_default();
    format!("- [{route}]({{{{BASE_URL}}}}/docs#{id}): {summary} ({scope}){body}\n")
}
