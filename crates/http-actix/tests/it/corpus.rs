//! Documents that answers are shaped from.

use app::web::WebPage;
use model::RunMode;
use serde_json::{Value, json};
use test_support::page;

use crate::api::{Answer, Api};

/// A word that every document holds.
pub const QUERY: &str = "tides";

/// A web page with three passages, in several scripts.
pub fn web_page(n: usize) -> WebPage {
    let markdown = format!(
        "Passage 0 of page {n} \"quoted\" — 日本語のテキスト, naïve café 🦀, and tides that come and go twice a day.\n\n\
         # Root\n\nPassage 1 of page {n} about the tides of the moon, 日本語, with sieben Wörtern und noch einigen mehr.\n\n\
         ## Überschrift\n\nPassage 2 of page {n}: naïve tides, once more, so that a tail can go from every snippet.\n"
    );
    WebPage {
        title: Some(format!("Title {n} é")),
        description: Some("A description".to_owned()),
        language: Some("en".to_owned()),
        mime: Some("text/html".to_owned()),
        ..page(&format!("https://example.com/{n}?utm_source=x"), &markdown)
    }
}

/// A text with a passage for each paragraph.
fn notes() -> String {
    let paragraph = |n: usize| format!("Paragraph {n}. {}\n\n", "The tides are noted here, every day. ".repeat(20));
    (0..3).map(paragraph).collect()
}

impl Api {
    /// Imports `pages` web pages. Each holds [`QUERY`].
    pub async fn with_pages(self, pages: usize) -> Self {
        self.world.import((1..=pages).map(web_page)).await;
        self
    }

    /// Uploads and indexes files. Each holds [`QUERY`].
    pub async fn with_files(self, names: &[&str]) -> Self {
        for name in names {
            self.world.upload(&self.tenant, name, &notes()).await;
        }
        self.world.index_files(&self.tenant, RunMode::Incremental).await;
        self
    }

    /// A search of the web and the workspace for [`QUERY`], with this `response` and `max_results`.
    pub async fn search_both(&self, max_results: usize, response: Value) -> Answer {
        let scope = json!({"indexes": ["web", "workspace"], "workspace_id": self.tenant.organization_id.to_string()});
        let body = json!({"query": QUERY, "max_results": max_results, "scope": scope, "response": response});
        self.search(body).await
    }
}
