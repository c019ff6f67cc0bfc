//! Pages whose text is written by scripts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use extract::Extracted;
use fetcher::{FetchedPage, RenderError, RenderRequest, Renderer};
use file_types::FileKind;
use metrics::{counter, histogram};
use model::OrganizationId;
use retrieval_core::url::CanonicalUrl;

/// Letters and digits with which a page needs no scripts. Messages such as "Loading" and "Please enable JavaScript" have fewer.
const ENOUGH_TEXT: usize = 200;

/// Reader of pages that are empty without their scripts.
#[derive(Clone, Default)]
pub struct Scripted {
    renderer: Option<Arc<dyn Renderer>>,
}

/// Organization whose turn a render is, and its patience.
#[derive(Clone, Copy, Debug)]
pub struct RenderTurn {
    pub organization_id: OrganizationId,
    /// Waits for the turn however long that takes.
    pub is_patient: bool,
}

/// Too many pages are being rendered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Busy {
    pub retry_after: Duration,
}

/// Outcome of a request to render a page.
pub enum Rendering {
    /// The page has its text without scripts, or there is no renderer.
    NotNeeded,
    /// Page with the document that its scripts made.
    Rendered(Box<FetchedPage>),
    /// The scripts did not run to their end.
    Failed,
}

/// Outcome of the scripts of a page.
pub enum Scripts {
    /// The page says no less without them.
    NotNeeded,
    /// The document that they made, with its text.
    Wrote(Box<(FetchedPage, Extracted)>),
    Failed,
}

impl Scripts {
    /// Returns the outcome of scripts that made the document `page` with the text `written`, which is `None` if it cannot be
    /// extracted. `text` is the text of the page without them.
    pub fn compare(page: FetchedPage, written: Option<Extracted>, text: &str) -> Self {
        match written {
            Some(written) if says_more(&written.markdown, text) => Scripts::Wrote(Box::new((page, written))),
            Some(written) if !says_nothing(&written.markdown) => Scripts::NotNeeded,
            _ => Scripts::Failed,
        }
    }
}

impl Scripted {
    /// Renders pages with `renderer`; with `None`, none.
    pub fn new(renderer: Option<Arc<dyn Renderer>>) -> Self {
        // Known to the first scrape, also without a renderer.
        for outcome in RenderError::NAMES.into_iter().chain(["rendered"]) {
            counter!("retrieval_renders_total", "outcome" => outcome).increment(0);
        }
        let _ = histogram!("retrieval_render_duration_seconds");
        Self { renderer }
    }

    /// Renders a page whose extracted `text` is almost empty and that has scripts. A failure is logged and counted.
    ///
    /// # Errors
    /// The render would wait too long. Says nothing about the page.
    pub async fn render(&self, turn: RenderTurn, page: &FetchedPage, text: &str) -> Result<Rendering, Busy> {
        let Some(renderer) = &self.renderer else { return Ok(Rendering::NotNeeded) };
        if !needs_scripts(page, text) {
            return Ok(Rendering::NotNeeded);
        }
        let started = Instant::now();
        let RenderTurn { organization_id, is_patient } = turn;
        let outcome = renderer.render(RenderRequest { organization_id, page, is_patient }).await;
        let name = outcome.as_ref().map_or_else(RenderError::as_str, |_| "rendered");
        counter!("retrieval_renders_total", "outcome" => name).increment(1);
        histogram!("retrieval_render_duration_seconds").record(started.elapsed());
        match outcome {
            Ok(html) => Ok(Rendering::Rendered(Box::new(page.rendered(html)))),
            Err(RenderError::Overloaded { retry_after }) => Err(Busy { retry_after }),
            Err(error) => {
                // The rest of a URL may contain secrets.
                let host = CanonicalUrl::parse(page.final_url.as_str()).map(|url| url.host().to_owned());
                let host = host.unwrap_or_default();
                tracing::warn!(host, reason = name, %error, "a page could not be rendered");
                Ok(Rendering::Failed)
            }
        }
    }
}

/// Returns true if a text has neither letters nor digits. That of a rendered page is the sign of scripts that failed: they removed
/// what the page said without them.
fn says_nothing(text: &str) -> bool {
    weight(text) == 0
}

/// Returns true if `text` says more than `other`.
pub fn says_more(text: &str, other: &str) -> bool {
    weight(text) > weight(other)
}

/// Returns true if a page has scripts and hardly any text, or none, without them: its `text` may be what a page says until its data
/// arrives. The validators of such a page tell nothing of the document that the scripts make, now or at a later read.
pub fn needs_scripts(page: &FetchedPage, text: &str) -> bool {
    let is_empty = || text.chars().filter(|c| c.is_alphanumeric()).take(ENOUGH_TEXT).count() < ENOUGH_TEXT;
    page.kind == FileKind::Html && is_empty() && has_scripts(&page.body)
}

fn has_scripts(html: &[u8]) -> bool {
    const TAG: &[u8] = b"<script";
    html.windows(TAG.len()).any(|bytes| bytes.eq_ignore_ascii_case(TAG))
}

fn weight(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use super::*;

    fn page(kind: FileKind, body: &str) -> FetchedPage {
        FetchedPage {
            final_url: url::Url::parse("https://example.com/").unwrap(),
            status: 200,
            kind,
            content_type: None,
            charset: None,
            body: body.to_owned().into(),
            validators: None,
            redirects: 0,
        }
    }

    #[test]
    fn pages_with_scripts_and_hardly_any_text_need_them() {
        let html = |body: &str| page(FileKind::Html, body);
        let (shell, long) = ("<div id=root></div><SCRIPT src=a.js></SCRIPT>", "word ".repeat(60));
        assert!(needs_scripts(&html(shell), "") && needs_scripts(&html(shell), "Loading…"));
        assert!(!needs_scripts(&html(shell), &long), "it has text");
        assert!(!needs_scripts(&html("<p>Hello</p>"), "Hello"), "it has no scripts");
        assert!(!needs_scripts(&page(FileKind::Txt, shell), ""), "it is no page");
    }

    #[test]
    fn scripts_that_leave_less_text_change_nothing() {
        let outcome = |written: Option<&str>| {
            let written = written.map(|text| Extracted { markdown: text.to_owned(), ..Extracted::default() });
            match Scripts::compare(page(FileKind::Html, "rendered"), written, "Loading") {
                Scripts::NotNeeded => "not needed".to_owned(),
                Scripts::Wrote(written) => written.1.markdown,
                Scripts::Failed => "failed".to_owned(),
            }
        };
        assert_eq!(outcome(Some("Hello world")), "Hello world");
        assert_eq!(outcome(Some("Loaded")), "not needed");
        assert_eq!(outcome(Some("…")), "failed");
        assert_eq!(outcome(None), "failed");
    }
}
