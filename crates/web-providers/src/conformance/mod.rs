//! Conformance suite for providers. Each function starts providers against scripted endpoints and panics if one violates the
//! contract of [`WebProvider`].
//!
//! ```text
//! web_providers::conformance_tests!(Searxng);
//! ```

mod answers;
mod faults;
mod queries;

pub use answers::*;
pub use faults::*;
pub use queries::*;

use model::Timestamp;

use crate::{ProviderError, WebProvider, WebQuery, WebResponse};

/// Secret that every provider under test has, if it has one.
pub const SECRET: &str = "s3cret-0f-the-pr0vider";

/// Time of all searches.
const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

/// Result in the endpoint's list; the format is the endpoint's.
#[derive(Clone, Debug, Default)]
pub struct Given {
    pub url: String,
    pub title: String,
    pub snippet: String,
    /// RFC 3339, without the offset.
    pub published: Option<String>,
}

/// Reaction of an endpoint to every request.
#[derive(Clone, Debug)]
pub enum Answer {
    Results(Vec<Given>),
    /// Status 200 and this body, as JSON.
    Body(String),
    /// Status 200 and the provider's own form of an error.
    ErrorWithStatus200,
    /// Status 200 and a page.
    Html,
    /// Status and headers, each `Name: value`.
    Status(u16, Vec<String>),
    /// Status 200 and a body that never ends.
    Endless,
    /// Closed connection.
    Close,
}

/// Provider with the endpoint that it calls.
pub struct Running {
    pub provider: Box<dyn WebProvider>,
    /// Returns the texts that the endpoint was asked for so far.
    pub texts: Box<dyn Fn() -> Vec<String> + Send + Sync>,
}

/// Starts endpoints of one kind of provider.
pub trait Scripted {
    fn start(&self, answer: Answer) -> Running;
}

/// Generates one `#[tokio::test]` per function of the suite.
#[macro_export]
macro_rules! conformance_tests {
    ($scripted:expr) => {
        $crate::conformance_tests!(@each $scripted;
            results_keep_their_order_and_values results_without_a_page_are_skipped hostile_texts_are_plain_and_bounded
            pages_are_listed_once lists_are_bounded empty_list_is_an_answer odd_values_are_ignored
            words_are_sent_once operators_of_callers_are_not_sent phrase_and_site_are_sent long_texts_are_cut
            text_without_words_makes_no_request
            other_answers_are_invalid bodies_are_bounded deep_bodies_are_invalid
            quota_is_reported refusals_are_reported other_statuses_are_errors redirects_are_not_followed lost_connections_are_errors
        );
    };
    (@each $scripted:expr; $($name:ident)*) => {
        $(#[tokio::test]
        async fn $name() {
            $crate::conformance::$name(&$scripted).await;
        })*
    };
}

fn query(text: &str) -> WebQuery {
    WebQuery { text: text.to_owned(), ..WebQuery::default() }
}

fn given(number: usize) -> Given {
    Given {
        url: format!("https://site{number}.example/page"),
        title: format!("Title {number}"),
        snippet: format!("Snippet {number}"),
        published: None,
    }
}

async fn search(scripted: &dyn Scripted, answer: Answer) -> Result<WebResponse, ProviderError> {
    let running = scripted.start(answer);
    let outcome = running.provider.search(&query("tides"), NOW).await;
    if let Err(error) = &outcome {
        let mut shown = format!("{error} {error:?}");
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            shown.push_str(&format!("{cause} {cause:?}"));
            source = cause.source();
        }
        assert!(!shown.contains(SECRET), "{shown}");
        assert!(!shown.contains("127.0.0.1"), "an error does not reveal the endpoint: {shown}");
    }
    outcome
}
