//! The text beside structured content: a summary and the next step, never a second copy.

use api_types::{DocumentResponse, FeedbackResponse, FileListResponse, SearchResponse, Warning};

use crate::fit::LeftOut;

/// Longest text, in characters.
pub(crate) const MAX_CHARS: usize = 2_000;

/// Longest title, in characters.
const MAX_TITLE: usize = 120;

/// Lines of a text within [`MAX_CHARS`]. The last lines are the most useful and are never omitted.
struct Text {
    head: Vec<String>,
    tail: Vec<String>,
}

impl Text {
    fn new(first: String) -> Self {
        Self { head: vec![clipped(&first, MAX_CHARS / 4)], tail: Vec::new() }
    }

    fn tail(&mut self, line: impl Into<String>) {
        self.tail.push(clipped(&line.into(), MAX_CHARS / 4));
    }

    fn warnings(&mut self, warnings: &[Warning]) {
        for warning in warnings.iter().take(3) {
            let code = serde_json::to_value(warning.code).unwrap_or_default();
            let code = code.as_str().unwrap_or_default().to_owned();
            self.tail.push(clipped(&format!("Warning {code}: {}", warning.message), 200));
        }
    }

    /// Joins the lines, with as many items between head and tail as fit.
    fn finish(self, items: Vec<String>) -> String {
        const MORE: usize = 40;
        let length = |line: &String| line.chars().count() + 1;
        let mut left = MAX_CHARS.saturating_sub(self.head.iter().chain(&self.tail).map(length).sum::<usize>() + MORE);
        let mut lines = self.head;
        let count = items.len();
        let mut shown = 0;
        for item in items {
            let Some(rest) = left.checked_sub(length(&item)) else { break };
            left = rest;
            shown += 1;
            lines.push(item);
        }
        if shown < count {
            lines.push(format!("... and {} more", count - shown));
        }
        lines.extend(self.tail);
        lines.join("\n")
    }
}

pub(crate) fn search(response: &SearchResponse) -> String {
    let results = response.results.as_deref().unwrap_or_default();
    let mut text = Text::new(match results.len() {
        0 => format!("Nothing found (search_id {}).", response.search_id),
        count => format!("{count} results, best first (search_id {}):", response.search_id),
    });
    text.warnings(response.warnings.as_deref().unwrap_or_default());
    text.tail(match results.is_empty() {
        true => "Next: rephrase, use fewer filters, or scope.indexes [\"web\", \"workspace\"].",
        false => "Next: quote the passages in structuredContent, or read a result with read_document by its doc_id.",
    });
    let item = |result: &api_types::SearchResult| {
        let title = clipped(result.title.as_deref().unwrap_or("(no title)"), MAX_TITLE);
        format!("{}. {title}\n   {}\n   doc_id {}", result.rank, result.canonical_url, result.doc_id)
    };
    text.finish(results.iter().map(item).collect())
}

pub(crate) fn document(response: &DocumentResponse, left_out: LeftOut) -> String {
    let doc = &response.doc;
    let mut text = Text::new(clipped(doc.title.as_deref().unwrap_or("(no title)"), MAX_TITLE));
    text.warnings(&response.warnings);
    let LeftOut { captures, headings, passages } = left_out;
    for (count, what) in [(captures, "captures"), (headings, "headings"), (passages, "passages")] {
        if count > 0 {
            text.tail(format!("Omitted at the end, to fit: {count} {what}."));
        }
    }
    if passages > 0 {
        text.tail("Next: request fewer passages, with query and content.selection `query_relevant`.");
    }
    let mut items = vec![format!("{}\ndoc_id {}", doc.canonical_url, doc.doc_id)];
    if let Some(content) = &response.content {
        let end = content.start_char + content.char_count;
        let capture = response.provenance.as_ref().map(|capture| capture.capture_id);
        items.push(format!("structuredContent.content.text: characters {} to {end}.", content.start_char));
        if content.truncated {
            let pin = capture.map(|id| format!(", \"capture_id\": \"{id}\"")).unwrap_or_default();
            text.tail(format!(
                "Next: the text continues. Call read_document with {{\"doc_id\": \"{}\", \"content\": {{\"range\": \
                 {{\"start_char\": {end}{pin}}}}}}}.",
                doc.doc_id
            ));
        }
    }
    if let Some(found) = response.passages.as_ref().filter(|found| !found.is_empty()) {
        items.push(format!("structuredContent.passages: {} passages, with the ids to cite.", found.len()));
    }
    text.finish(items)
}

pub(crate) fn feedback(response: &FeedbackResponse) -> String {
    format!("Stored as {}.", response.feedback_id)
}

/// Summarizes a part of the file list. `start`: number of skipped files, of `total`.
pub(crate) fn files(response: &FileListResponse, start: usize, total: usize) -> String {
    let end = start + response.files.len();
    let mut text = Text::new(match response.files.is_empty() {
        true => format!("No files from {start} on, of {total}."),
        false => format!("Files {} to {end} of {total}:", start + 1),
    });
    if end < total && end > start {
        text.tail(format!("Next: call list_files with {{\"start\": {end}}}."));
    }
    let names = response.files.iter().map(|file| format!("{} ({} bytes)", clipped(&file.name, MAX_TITLE), file.size));
    text.finish(names.collect())
}

/// Replaces control characters by blanks and truncates to `most` characters.
fn clipped(text: &str, most: usize) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match text.char_indices().nth(most) {
        None => text,
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}
