//! The answer of a read: a short head, then the text between marks, or quotes.

use api_types::{CaptureEntry, ContentFormat, DocumentProvenance, DocumentResponse, Selection};
use serde::Serialize;
use uuid::Uuid;

use super::hits::day;
use super::passage::Quote;
use super::size::{Size, chars, json_chars, largest, prefix};
use super::text::{fitting, frame, line, mark, marked};
use super::{Answer, Tail};
use crate::Failure;

/// Longest title and heading, in characters.
const MAX_TITLE: usize = 200;

/// Characters of a text that an answer has whatever its limit, so that each call gets further: the head and the
/// continuation alone may exceed a small limit.
const MIN_PART: usize = 100;

/// The list of passages without its items, and the blank line behind it.
const PASSAGES: Size = Size { text: 1, json: "\"passages\":[],".len() };

#[derive(Serialize)]
struct Document<'a> {
    doc: Doc,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Part>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passages: Vec<Quote>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    captures: Vec<Capture>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provenance: Option<&'a DocumentProvenance>,
    #[serde(flatten)]
    tail: Tail,
}

#[derive(Serialize)]
struct Doc {
    doc_id: Uuid,
    canonical_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    published_at: Option<String>,
    /// Only without content, which has them itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    headings: Vec<String>,
}

/// A part of the document's text.
#[derive(Serialize)]
struct Part {
    text: String,
    start_char: i64,
    char_count: i64,
    truncated: bool,
}

#[derive(Serialize)]
struct Capture {
    capture_id: Uuid,
    capture_time: String,
}

impl From<&CaptureEntry> for Capture {
    fn from(entry: &CaptureEntry) -> Self {
        Self { capture_id: entry.capture_id, capture_time: entry.capture_time.clone() }
    }
}

/// Builds the answer of a read within `limit` characters in each form.
///
/// # Errors
/// The answer cannot be serialized.
pub(crate) fn document(response: &DocumentResponse, limit: usize, mut tail: Tail) -> Result<Answer, Failure> {
    tail.shorten(limit);
    let mark = mark(response.request_id);
    let mut answer = Document {
        doc: doc(response),
        content: None,
        passages: Vec::new(),
        captures: response.capture_history.iter().flatten().map(Capture::from).collect(),
        provenance: response.provenance.as_ref(),
        tail,
    };
    let base = Size { text: chars(&answer.text(&mark)) + 1, json: json_chars(&answer) };
    let mut size = base;
    if let Some(content) = &response.content {
        let part = |most: usize| {
            let text = prefix(&content.text, most).to_owned();
            let char_count = chars(&text) as i64;
            let truncated = content.truncated || text.len() < content.text.len();
            Part { text, start_char: content.start_char, char_count, truncated }
        };
        let measured = |part: &Part| Size::of(&marked(&part.text, &mark), part) + Size { text: 0, json: 11 };
        let whole = chars(&content.text);
        // With the longest numbers that the part may have.
        let empty = Part { char_count: whole as i64, truncated: false, ..part(0) };
        let around = base + Size { text: frame(&mark) + 1, json: measured(&empty).json };
        let continued = around + next_size(&continuation(response, content.start_char + whole as i64));
        let most = match content.truncated || fitting(&content.text, around.room(limit)) < whole {
            true => fitting(&content.text, continued.room(limit)).max(MIN_PART),
            false => whole,
        };
        let part = part(if most < whole { boundary(&content.text, most) } else { whole });
        size += measured(&part);
        if part.truncated {
            let next = continuation(response, part.start_char + part.char_count);
            size += next_size(&next);
            answer.tail.next(next);
        }
        answer.content = Some(part);
    }
    let count = response.passages.as_ref().map_or(0, Vec::len);
    let note = |omitted: usize| format!("{omitted} of {count} passages do not fit into {limit} characters");
    let mut passages: Vec<Quote> = Vec::new();
    if count > 0 {
        size += PASSAGES;
        // A document may have very many, of which few fit.
        let mut all = size;
        for passage in response.passages.iter().flatten() {
            let quote = Quote::of(passage);
            all += quote.size();
            passages.push(quote);
            if !all.fits(limit) {
                break;
            }
        }
        if answer.content.is_none() && !all.fits(limit) {
            size += note_size(&note(count));
        }
    }
    for quote in &passages {
        let larger = size + quote.size();
        if !larger.fits(limit) {
            break;
        }
        size = larger;
        answer.passages.push(quote.clone());
    }
    if let (Some(first), true, None) = (passages.first(), answer.passages.is_empty(), &answer.content) {
        let fits = |most: usize| (size + first.cut(most).size()).fits(limit);
        let most = largest(1, chars(&first.text), fits).unwrap_or(0).max(MIN_PART);
        answer.passages.push(first.cut(most));
    }
    let omitted = count - answer.passages.len();
    if omitted > 0 && answer.content.is_none() {
        answer.tail.note(note(omitted));
    }
    answer.fit_headings(limit, &mark);
    let text = answer.text(&mark);
    Answer::new(text, &answer)
}

impl Document<'_> {
    fn text(&self, mark: &str) -> String {
        let doc = &self.doc;
        let title = doc.title.as_deref().filter(|title| !title.is_empty()).unwrap_or("(no title)");
        let mut head = format!("# {title}\n{} | doc_id {}", line(&doc.canonical_url, usize::MAX), doc.doc_id);
        if let Some(time) = &doc.published_at {
            head.push_str(&format!(" | published {}", day(time)));
        }
        if let Some(provenance) = self.provenance {
            head.push_str(&format!(" | read {}", day(&provenance.capture_time)));
        }
        let mut lines = vec![head];
        lines.extend(doc.description.as_ref().map(|description| format!("> {description}")));
        lines.extend(doc.headings.iter().map(|heading| format!("> {heading}")));
        if let Some(part) = &self.content {
            lines.push(marked(&part.text, mark));
        }
        if !self.passages.is_empty() {
            let quotes: Vec<String> = self.passages.iter().map(Quote::markdown).collect();
            lines.push(quotes.join("\n\n"));
        }
        lines.extend(
            self.captures.iter().map(|capture| format!("capture {} {}", capture.capture_id, capture.capture_time)),
        );
        let tail: Vec<String> = self.tail.lines().collect();
        if !tail.is_empty() {
            // A quote would continue in the next line.
            lines.push(if self.passages.is_empty() { tail.join("\n") } else { format!("\n{}", tail.join("\n")) });
        }
        lines.join("\n")
    }

    /// Drops headings and captures from the end of a long outline until it fits.
    fn fit_headings(&mut self, limit: usize, mark: &str) {
        let fits = |answer: &Self| Size { text: chars(&answer.text(mark)), json: json_chars(answer) }.fits(limit);
        while !fits(self) {
            let half = self.doc.headings.len() / 2;
            if self.doc.headings.is_empty() && self.captures.pop().is_none() {
                break;
            }
            self.doc.headings.truncate(half);
        }
    }
}

fn doc(response: &DocumentResponse) -> Doc {
    let doc = &response.doc;
    let has_text = response.content.is_some() || response.passages.iter().flatten().next().is_some();
    let outline = doc.headings.iter().filter(|_| !has_text);
    Doc {
        doc_id: doc.doc_id,
        canonical_url: doc.canonical_url.clone(),
        title: doc.title.as_deref().map(|title| line(title, MAX_TITLE)),
        published_at: doc.published_at.clone(),
        description: doc.meta_description.as_deref().filter(|_| !has_text).map(|text| line(text, MAX_TITLE)),
        headings: outline.map(|heading| line(heading, MAX_TITLE)).collect(),
    }
}

/// Returns the number of characters up to the last line or word end before `most`, if one is near.
fn boundary(text: &str, most: usize) -> usize {
    let start = prefix(text, most);
    let near = start.len() - start.len() / 20;
    let end = start.rfind('\n').filter(|end| *end >= near);
    let end = end.or_else(|| start.rfind(' ').filter(|end| *end >= near));
    end.map_or(most, |end| chars(&start[..=end]))
}

/// Returns the call that reads more of a truncated text. Only a whole document continues at an offset: the next passage of a selection is
/// elsewhere.
fn continuation(response: &DocumentResponse, start_char: i64) -> String {
    if response.content.as_ref().is_some_and(|content| content.selection != Selection::FullDocument) {
        return "the selected passages are longer: repeat the call with a larger max_chars".to_owned();
    }
    let pin = response.provenance.as_ref().map(|capture| format!(", \"capture_id\": \"{}\"", capture.capture_id));
    // Offsets count the characters of one format.
    let is_plain = response.content.as_ref().is_some_and(|content| content.format == ContentFormat::Text);
    format!(
        "the text continues: call read_document with {{\"doc_id\": \"{}\", \"start_char\": {start_char}{}{}}}",
        response.doc.doc_id,
        pin.unwrap_or_default(),
        if is_plain { ", \"format\": \"text\"" } else { "" }
    )
}

/// The size of the line with the next call.
fn next_size(next: &str) -> Size {
    Size::of(&format!("Next: {next}"), &next) + Size { text: 0, json: "\"next\":".len() }
}

/// The size of the first note.
fn note_size(note: &str) -> Size {
    Size::of(&format!("Note: {note}"), &note) + Size { text: 0, json: "\"notes\":[]".len() }
}
