//! `retrieval search`.

use retrieval_client::types::search_request::DEFAULT_MAX_PASSAGES;
use retrieval_client::types::{
    Filters, FreshnessPolicy, OnExceed, ResponseBudget, ResponseShape, SearchRequest, SearchResponse, SearchResult,
    SearchScope, SourcePolicy, Verbosity,
};

use super::{print_warnings, search_scope};
use crate::cli::{Common, Search};
use crate::connection;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::terminal::appearance::{Appearance, Style};
use crate::terminal::text::{fit, one_line, wrap};

const INDENT: &str = "    ";
/// Maximum line length for comfortable reading on wide terminals.
const MAX_TEXT_WIDTH: usize = 100;

pub async fn run(arguments: &Search, common: &Common, terminal: &Terminal) -> Result<(), Failure> {
    let client = connection::client(common)?;
    let scope = search_scope(arguments.scope, &arguments.workspace_id, common)?;
    let request = request(arguments, scope, terminal.json);
    let answer = client.search(&request).await?;
    if terminal.json {
        return terminal.json(&answer.raw);
    }
    terminal.print(&render(&answer, shows_passages(arguments), &terminal.appearance))?;
    if answer.degraded == Some(true) {
        terminal.note("degraded: slow stages were skipped (--timeout-ms)");
    }
    print_warnings(answer.warnings.as_deref().unwrap_or_default(), terminal);
    terminal.note(&format!("search {}  session {}", answer.search_id, answer.session_id));
    Ok(())
}

fn request(arguments: &Search, scope: SearchScope, json: bool) -> SearchRequest {
    let Search { domains, exclude_domains, only_domains, language, country, exact, .. } = arguments;
    let mut request = SearchRequest::new(arguments.query.join(" "));
    if let Some(max_results) = arguments.max_results {
        request.max_results = max_results;
    }
    request.filters = Filters {
        country: country.clone(),
        language: language.clone(),
        exact_match: *exact,
        labels: arguments.labels.clone(),
    };
    request.freshness_policy = FreshnessPolicy {
        published_after: arguments.published_after.clone(),
        published_before: arguments.published_before.clone(),
        freshness: arguments.freshness,
    };
    request.source_policy = SourcePolicy {
        include_domains: domains.clone(),
        exclude_domains: exclude_domains.clone(),
        require_domain_match: *only_domains,
    };
    request.scope = scope;
    // Avoids transferring passages that are not shown.
    let default_verbosity = if json || shows_passages(arguments) { Verbosity::Standard } else { Verbosity::Compact };
    let on_exceed = if arguments.strict_budget { OnExceed::Error } else { OnExceed::Shed };
    request.response = ResponseShape {
        verbosity: arguments.verbosity.clone().unwrap_or(default_verbosity),
        budget: ResponseBudget { max_chars_total: arguments.budget, on_exceed },
        max_passages_per_result: arguments.max_passages.unwrap_or(DEFAULT_MAX_PASSAGES),
        max_chars_per_result: arguments.max_chars_per_result,
    };
    request.timeout_ms = arguments.timeout_ms;
    request.search_queries = (!arguments.rewrites.is_empty()).then(|| arguments.rewrites.clone());
    request.client_model = arguments.client_model.clone();
    request
}

fn shows_passages(arguments: &Search) -> bool {
    arguments.passages || arguments.max_passages.is_some_and(|count| count > 0)
}

fn render(response: &SearchResponse, passages: bool, appearance: &Appearance) -> String {
    let results = response.results.as_deref().unwrap_or_default();
    if results.is_empty() {
        return "no results\n".to_owned();
    }
    let shown: Vec<String> = results.iter().map(|result| render_result(result, passages, appearance)).collect();
    shown.join("\n")
}

fn render_result(result: &SearchResult, passages: bool, appearance: &Appearance) -> String {
    let width = appearance.width.saturating_sub(INDENT.len()).max(20);
    let title = result.title.as_deref().map(one_line).filter(|title| !title.is_empty());
    let address = one_line(&result.canonical_url);
    let heading = appearance.paint(Style::Title, &fit(title.as_deref().unwrap_or(&address), width));
    let mut text = format!("{:>2}  {heading}\n", result.rank);
    // Never truncated, so that it can be copied.
    text.push_str(&format!("{INDENT}{}\n", appearance.paint(Style::Address, &address)));
    text.push_str(&format!("{INDENT}{}\n", appearance.paint(Style::Faint, &details_line(result))));
    let mut paragraph = |content: &str, prefix: &str| {
        for line in wrap(&one_line(content), width.min(MAX_TEXT_WIDTH) - prefix.len()) {
            text.push_str(&format!("{INDENT}{prefix}{line}\n"));
        }
    };
    if let Some(snippet) = result.snippet.as_deref().or(result.description.as_deref()) {
        paragraph(snippet, "");
    }
    for passage in result.passages.iter().flatten().filter(|_| passages) {
        paragraph(&passage.text, "> ");
    }
    text
}

fn details_line(result: &SearchResult) -> String {
    let mut parts = vec![result.doc_id.to_string()];
    parts.extend(result.index.as_deref().map(one_line));
    parts.extend(result.name.as_deref().map(one_line));
    let published = result.metadata.as_ref().and_then(|metadata| metadata.published_at.as_deref());
    parts.extend(published.map(|at| one_line(at.get(..10).unwrap_or(at))));
    parts.extend(result.score.map(|score| format!("score {:.3}", score.value)));
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::text::width;
    use serde_json::json;

    fn response(title: &str, snippet: &str) -> SearchResponse {
        let id = "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001";
        let result = json!({ "rank": 1, "doc_id": id, "canonical_url": "https://a.example/tides", "title": title,
            "snippet": snippet, "metadata": { "published_at": "2026-01-05T10:00:00Z" }, "score": { "value": 0.5 } });
        let body = json!({ "request_id": id, "search_id": id, "session_id": id, "results": [result] });
        serde_json::from_value(body).expect("a response")
    }

    #[test]
    fn result_layout() {
        let appearance = Appearance { colour: false, width: 60 };
        let expected = " 1  Tides\n    https://a.example/tides\n    5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001  2026-01-05  score 0.500\n    The moon pulls.\n";
        assert_eq!(render(&response("Tides", "The moon\npulls."), false, &appearance), expected);
    }

    #[test]
    fn page_text_is_sanitized() {
        let appearance = Appearance { colour: false, width: 60 };
        let text = render(&response("\x1b]0;owned\x07", "\u{9b}2J and \x1b[2J"), false, &appearance);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }

    #[test]
    fn lines_fit_the_terminal_in_every_script() {
        let appearance = Appearance { colour: false, width: 50 };
        let text = render(&response(&"潮".repeat(60), &"満ち引き".repeat(40)), false, &appearance);
        for line in text.lines().filter(|line| !line.contains("5b0f3a52")) {
            assert!(width(line) <= 50, "{line}");
        }
    }

    #[test]
    fn invalid_date_is_shown_unchanged() {
        let appearance = Appearance { colour: true, width: 0 };
        let mut response = response("", "");
        let metadata = response.results.as_mut().and_then(|results| results[0].metadata.as_mut());
        metadata.expect("there").published_at = Some("潮潮潮潮".to_owned());
        assert!(render(&response, true, &appearance).contains("潮潮潮潮"));
    }
}
