use std::time::Duration;

use retrieval_client::types::ResearchEvent;
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::terminal::text::{fit, one_line};

/// Maximum width of a query or title.
const MAX_SUBJECT: usize = 120;

/// Progress of a run, from its events.
#[derive(Debug, Default)]
pub struct Progress {
    phase: &'static str,
    searches: usize,
    documents: usize,
    passages: usize,
    /// Query or document of the last step.
    subject: String,
    started: Option<OffsetDateTime>,
    last: Option<OffsetDateTime>,
}

impl Progress {
    pub fn add(&mut self, event: &ResearchEvent) {
        let text = |name: &str| event.fields.get(name).and_then(Value::as_str);
        self.last = OffsetDateTime::parse(&event.at, &Rfc3339).ok().or(self.last);
        match event.kind.as_str() {
            "research.created" => self.phase = "queued",
            "research.started" => {
                self.phase = "planning";
                self.started = self.last;
            }
            "research.plan" => self.phase = "searching",
            "research.search" => {
                self.phase = "searching";
                self.searches += 1;
                self.set_subject(text("query"));
            }
            "research.document" => {
                self.phase = "reading";
                self.documents += 1;
                self.set_subject(text("title").or(text("canonical_url")));
            }
            "research.note" => self.passages += 1,
            "research.output_delta" => {
                self.phase = "writing";
                self.subject.clear();
            }
            _ => {}
        }
    }

    /// Returns the time from the start of the run to the last event.
    pub fn elapsed(&self) -> Duration {
        let elapsed = self.started.zip(self.last).map(|(started, last)| last - started);
        elapsed.and_then(|elapsed| Duration::try_from(elapsed).ok()).unwrap_or_default()
    }

    /// Returns phase, counts and the current subject on one line.
    pub fn line(&self) -> String {
        let counts = [(self.searches, "search", "searches"), (self.documents, "document", "documents")];
        let counts =
            counts.into_iter().chain([(self.passages, "passage", "passages")]).filter(|(count, ..)| *count > 0);
        let counts: Vec<String> =
            counts.map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many })).collect();
        let mut line = self.phase.to_owned();
        if !counts.is_empty() {
            line.push_str(&format!(" ({})", counts.join(", ")));
        }
        if !self.subject.is_empty() {
            line.push_str(&format!(": {}", self.subject));
        }
        line
    }

    fn set_subject(&mut self, subject: Option<&str>) {
        self.subject = subject.map(|subject| fit(&one_line(subject), MAX_SUBJECT)).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn line_has_phase_counts_and_subject() {
        let mut progress = Progress::default();
        let mut lines = Vec::new();
        for (second, kind, fields) in [
            (0, "created", json!({})),
            (5, "started", json!({})),
            (5, "plan", json!({ "questions": ["a"] })),
            (6, "search", json!({ "query": "why\n\u{1b}[2Jtides" })),
            (7, "note", json!({})),
            (8, "document", json!({ "canonical_url": "https://a.example/", "title": null })),
            (9, "tomorrow", json!({})),
            (9, "output_delta", json!({ "text": "x" })),
        ] {
            let mut event = json!({ "type": format!("research.{kind}"), "sequence": 1,
                "research_id": "0190a6d4-0b7e-7d51-8a36-5e2f9c1d7b80", "at": format!("2026-01-05T10:00:0{second}Z") });
            event.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
            progress.add(&serde_json::from_value(event).expect("an event"));
            lines.push(progress.line());
        }
        let expected = [
            "queued",
            "planning",
            "searching",
            "searching (1 search): why ␛[2Jtides",
            "searching (1 search, 1 passage): why ␛[2Jtides",
            "reading (1 search, 1 document, 1 passage): https://a.example/",
            "reading (1 search, 1 document, 1 passage): https://a.example/",
            "writing (1 search, 1 document, 1 passage)",
        ];
        assert_eq!(lines, expected);
        assert_eq!(progress.elapsed(), Duration::from_secs(4));
    }
}
