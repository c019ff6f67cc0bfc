//! `bench answers`: what the characters of a search answer are spent on, for each form of the answer.

use super::client::Client;
use super::collection::Collection;
use super::engine::Engine;
use super::installation::Installation;
use super::report::{Report, Section};
use super::{Options, check_interrupt, spinner};
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::path::Path;

const QUERIES: usize = 50;

/// Answers of one form, added up. Lengths are in characters.
#[derive(Debug, Default, PartialEq)]
struct Spent {
    answers: usize,
    total: usize,
    passages: usize,
    /// Titles and URLs.
    names: usize,
    results: usize,
    without_passage: usize,
}

/// Asks the questions of the given collection, with the embedded engine.
pub fn measure(options: &Options, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let folder = options.collection.as_ref().context("`answers` needs --collection DIR")?;
    let collection = Collection::read(folder)?;
    let questions = &collection.queries[..options.queries.unwrap_or(QUERIES).min(collection.queries.len())];
    let installation = Installation::with(program, &Engine::Embedded, None)?;
    let tenant = installation.tenant()?;
    let waiting = spinner("importing the documents");
    let file = installation.folder().join("import.jsonl");
    collection.write_import(&file)?;
    let import = installation.import(&file)?;
    waiting.finish_and_clear();
    if import.imported != collection.documents.len() as u64 {
        bail!("imported only {} of {} documents", import.imported, collection.documents.len());
    }
    let _server = installation.serve()?;
    let client = installation.client(&tenant);
    for (name, response) in [
        ("REST standard", json!({})),
        ("REST compact", json!({"verbosity": "compact"})),
        ("REST standard, one passage", json!({"max_passages_per_result": 1})),
        ("REST standard, 1,200 characters per result", json!({"max_chars_per_result": 1_200})),
    ] {
        let mut spent = Spent::default();
        for question in questions {
            check_interrupt()?;
            let body = client.call("/v1/search", &json!({"query": question, "response": response}))?;
            spent.add_structured(&body, "results");
        }
        spent.report(report.section(name));
    }
    let (text, structured) = ask_mcp(&client, questions)?;
    text.report(report.section("MCP text"));
    structured.report(report.section("MCP structured content"));
    Ok(())
}

/// Returns what both forms of the answers of the search tool are spent on.
fn ask_mcp(client: &Client, questions: &[String]) -> anyhow::Result<(Spent, Spent)> {
    let (mut text, mut structured) = (Spent::default(), Spent::default());
    for question in questions {
        check_interrupt()?;
        let parameters = json!({"name": "search", "arguments": {"query": question}});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters});
        let result = &client.call("/mcp", &call)?["result"];
        let shown = &result["structuredContent"];
        structured.add_structured(shown, "results");
        text.add_text(result["content"][0]["text"].as_str().unwrap_or_default(), shown);
    }
    Ok((text, structured))
}

impl Spent {
    /// Adds a JSON answer. A snippet stands in for passages that the answer does not have.
    fn add_structured(&mut self, body: &Value, list: &str) {
        self.answers += 1;
        self.total += chars(&body.to_string());
        for result in body[list].as_array().into_iter().flatten() {
            // Texts count as they are written, with escapes but without quotation marks.
            let length = |text: &Value| if text.is_string() { chars(&text.to_string()) - 2 } else { 0 };
            self.names += length(&result["title"]) + length(&result["canonical_url"]);
            let passages = result["passages"].as_array().into_iter().flatten().map(|passage| length(&passage["text"]));
            self.add_passages(passages.sum::<usize>(), || length(&result["snippet"]));
        }
    }

    /// Adds an answer as text, of which `shown` holds the parts.
    fn add_text(&mut self, text: &str, shown: &Value) {
        self.answers += 1;
        self.total += chars(text);
        for result in shown["results"].as_array().into_iter().flatten() {
            let length = |text: &Value| chars(text.as_str().unwrap_or_default());
            self.names += length(&result["title"]) + length(&result["canonical_url"]);
            let passages = result["passages"].as_array().into_iter().flatten().map(|passage| length(&passage["text"]));
            self.add_passages(passages.sum::<usize>(), || 0);
        }
    }

    fn add_passages(&mut self, passages: usize, otherwise: impl FnOnce() -> usize) {
        let quoted = if passages > 0 { passages } else { otherwise() };
        self.passages += quoted;
        self.results += 1;
        self.without_passage += usize::from(quoted == 0);
    }

    fn report(&self, section: &mut Section) {
        let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        let rest = self.total.saturating_sub(self.passages + self.names);
        section.number("characters per answer", (self.total as f64 / self.answers.max(1) as f64).round());
        section.number("passages %", percent(self.passages, self.total));
        section.number("titles and URLs %", percent(self.names, self.total));
        section.number("rest %", percent(rest, self.total));
        section.number("results without a passage %", percent(self.without_passage, self.results));
    }
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::Spent;
    use serde_json::json;

    #[test]
    fn characters_are_counted_by_kind() {
        let body = json!({"results": [
            {"title": "ab", "canonical_url": "c", "passages": [{"text": "d\"é"}, {"text": "f"}], "snippet": "ignored"},
            {"title": "g", "snippet": "hi"},
            {"canonical_url": "j"},
        ]});
        let mut spent = Spent::default();
        spent.add_structured(&body, "results");
        let total = body.to_string().chars().count();
        let expected = Spent { answers: 1, total, passages: 5 + 2, names: 5, results: 3, without_passage: 1 };
        assert_eq!(spent, expected);
        let mut spent = Spent::default();
        spent.add_text("some text", &body);
        assert_eq!((spent.total, spent.passages, spent.without_passage), (9, 4, 2));
    }
}
