use std::time::Duration;

use api_types::{ContentFormat, DocumentRequest};
use serde::Deserialize;
use serde_json::json;

use super::{CHUNK_SEPARATOR, Tavily};
use crate::document::{self, check_count, limited_ms, passage_texts};
use crate::request::OneOrMany;
use crate::{Answered, ForeignRead, ForeignRequest, Moment, ReadOutcome, Refusal};

/// Most chunks of one source.
const MAX_CHUNKS: usize = 5;

/// The body of `POST /extract`.
#[derive(Debug, Deserialize)]
pub struct ExtractRequest {
    #[serde(default)]
    urls: OneOrMany,
    format: Option<String>,
    query: Option<String>,
    chunks_per_source: Option<usize>,
    include_usage: Option<bool>,
    /// Seconds that the client waits for the answer.
    timeout: Option<f64>,
}

impl ExtractRequest {
    fn urls(&self) -> Vec<String> {
        self.urls.clone().into_vec()
    }

    fn format(&self) -> Result<ContentFormat, Refusal> {
        match self.format.as_deref() {
            None | Some("markdown") => Ok(ContentFormat::Markdown),
            Some("text") => Ok(ContentFormat::Text),
            Some(_) => Err(Refusal::new("format", "format must be `markdown` or `text`")),
        }
    }

    fn raw_content(&self, outcome: &ReadOutcome) -> Result<String, document::Failure> {
        let text = document::text(outcome)?;
        if self.query.is_none() {
            return Ok(text.to_owned());
        }
        let most = self.chunks_per_source.unwrap_or(3).clamp(1, MAX_CHUNKS);
        Ok(passage_texts(outcome).into_iter().take(most).collect::<Vec<_>>().join(CHUNK_SEPARATOR))
    }
}

impl ForeignRequest for ExtractRequest {
    type Service = Tavily;
}

impl ForeignRead for ExtractRequest {
    fn reads(&self) -> Result<Vec<Vec<DocumentRequest>>, Refusal> {
        let (urls, format) = (self.urls(), self.format()?);
        check_count("urls", &urls)?;
        let read = |url: &String| match self.query.as_deref() {
            Some(query) => vec![document::passages(url, Some(query))],
            None => vec![document::whole(url, format, None)],
        };
        Ok(urls.iter().map(read).collect())
    }

    fn time(&self) -> Option<Duration> {
        let milliseconds = limited_ms(self.timeout.map(|seconds| (seconds * 1_000.0) as i64))?;
        u64::try_from(milliseconds).ok().map(Duration::from_millis)
    }

    fn answer(&self, outcomes: Vec<Vec<ReadOutcome>>, moment: Moment) -> Answered {
        let (mut results, mut failed) = (Vec::new(), Vec::new());
        for (url, outcome) in self.urls().into_iter().zip(outcomes.into_iter().flatten()) {
            match self.raw_content(&outcome) {
                Ok(raw_content) => {
                    let title = outcome.ok().and_then(|document| document.doc.title);
                    results.push(json!({"url": url, "title": title, "raw_content": raw_content, "images": []}));
                }
                Err(failure) => failed.push(json!({"url": url, "error": failure.message})),
            }
        }
        // Reads are free.
        let credits = 0;
        let mut answer = json!({
            "results": results,
            "failed_results": failed,
            "response_time": moment.elapsed.as_secs_f64(),
            "request_id": moment.request_id,
        });
        if self.include_usage == Some(true) {
            answer["usage"] = json!({"credits": credits});
        }
        Answered::ok(answer)
    }
}
