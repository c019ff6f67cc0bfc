//! Budget of a response with several documents.

use api_types::{
    DocumentResult, DocumentsResponse, ErrorCode, OnExceed, Passage, ReadDocument, ResponseBudget, Warning, WarningCode,
};
use serde::Serialize;
use serde_json::{Map, json};

use crate::call::Context;
use crate::documents::batch::{self, Limit};
use crate::failure::Failure;
use crate::metered::{self, length_of};
use crate::numbers::wire_int;

const FIELD: &str = "response.budget.max_chars_total";

/// Room for the digits of the length that the body states.
const DIGITS: u64 = 8;

/// Bytes of a response from which it is measured and shaped on another thread.
const LARGE: usize = 64 << 10;

/// Leaves out as little as the budget demands: first passages of documents whose content is there too, then outlines and
/// captures, then the ends of the longest texts.
///
/// # Errors
/// `response_too_large` if the budget cannot be met and the caller asked for an error in that case.
pub(crate) async fn fit(
    context: &Context,
    response: DocumentsResponse,
    budget: &ResponseBudget,
) -> Result<DocumentsResponse, Failure> {
    let Some(max_chars) = budget.max_chars_total.and_then(|max| u64::try_from(max).ok()) else { return Ok(response) };
    let on_exceed = budget.on_exceed;
    let documents = response.results.iter().filter_map(|result| result.document.as_deref());
    let bytes: usize = documents.map(batch::bytes_of).sum();
    if bytes < LARGE {
        return shaped(response, max_chars, on_exceed);
    }
    context.compute(bytes, move || shaped(response, max_chars, on_exceed)).await?
}

fn shaped(response: DocumentsResponse, max_chars: u64, on_exceed: OnExceed) -> Result<DocumentsResponse, Failure> {
    let size = size(&response)?;
    if size <= max_chars { Ok(response) } else { Shaping { response, max_chars, size }.run(on_exceed) }
}

/// Returns the characters of the body.
fn size(response: &DocumentsResponse) -> Result<u64, Failure> {
    Ok(metered::stated(length_of(response)?).chars)
}

struct Shaping {
    response: DocumentsResponse,
    max_chars: u64,
    size: u64,
}

impl Shaping {
    fn run(mut self, on_exceed: OnExceed) -> Result<DocumentsResponse, Failure> {
        // The last level stands for all until it is known which were needed.
        self.state(&["passages", "preset_extras", "content"]);
        let mut levels = Vec::new();
        for (name, level) in [
            ("passages", Self::shed_passages as fn(&mut Self) -> Result<bool, Failure>),
            ("preset_extras", Self::shed_extras),
            ("content", Self::shed_content),
        ] {
            if self.fits()? {
                break;
            }
            if level(&mut self)? {
                levels.push(name);
            }
        }
        self.state(&levels);
        if !self.fits()? {
            if on_exceed == OnExceed::Error {
                let message =
                    format!("no response fits into {} characters, not even one without texts", self.max_chars);
                return Err(Failure::new(ErrorCode::ResponseTooLarge, message)
                    .with("field", FIELD)
                    .with("max_chars_total", self.max_chars));
            }
            let message = "the response without texts exceeds the budget".to_owned();
            let code = WarningCode::BudgetUnsatisfiable;
            self.response.warnings.push(Warning { code, message, details: Map::new() });
        }
        Ok(self.response)
    }

    fn fits(&mut self) -> Result<bool, Failure> {
        self.size = size(&self.response)?;
        Ok(self.size <= self.max_chars)
    }

    /// States in the response which levels were shed, if any were.
    fn state(&mut self, levels: &[&str]) {
        self.response.truncated = (!levels.is_empty()).then_some(true);
        self.response.warnings.clear();
        if levels.is_empty() {
            return;
        }
        let details = Map::from_iter([("shed_levels".to_owned(), json!(levels))]);
        let message = "parts of the response were left out to fit the budget".to_owned();
        self.response.warnings.push(Warning { code: WarningCode::ResponseTruncated, message, details });
    }

    fn documents(&mut self) -> impl DoubleEndedIterator<Item = &mut ReadDocument> {
        self.response.results.iter_mut().filter_map(|result: &mut DocumentResult| result.document.as_deref_mut())
    }

    /// Drops passages of documents with content, from the last one upwards.
    fn shed_passages(&mut self) -> Result<bool, Failure> {
        let mut excess = self.size.saturating_sub(self.max_chars);
        let mut is_shed = false;
        for document in self.documents().rev().filter(|document| document.content.is_some()) {
            while excess > 0
                && let Some(passage) = document.passages.as_mut().and_then(Vec::pop)
            {
                excess = excess.saturating_sub(length_of(&passage)?.chars + 1);
                is_shed = true;
            }
            if document.passages.as_ref().is_some_and(Vec::is_empty) && is_shed {
                document.passages = None;
            }
        }
        Ok(is_shed)
    }

    /// Drops outlines, descriptions and captures.
    fn shed_extras(&mut self) -> Result<bool, Failure> {
        let mut is_shed = false;
        for document in self.documents() {
            let extras = (
                !document.doc.headings.is_empty(),
                document.doc.meta_description.take(),
                document.capture_history.take(),
            );
            is_shed |= extras.0 || extras.1.is_some() || extras.2.is_some();
            document.doc.headings.clear();
        }
        Ok(is_shed)
    }

    /// Cuts texts to equal shares of what is left; what a short text does not need goes to the longer ones. Returns `false` if
    /// there was nothing to cut.
    fn shed_content(&mut self) -> Result<bool, Failure> {
        let max_chars = self.max_chars;
        let mut texts = Vec::new();
        for document in self.documents() {
            texts.push(Payload::take(document, max_chars)?);
        }
        // Without texts, but with all warnings about cut ones. Short texts in place of their warnings may shorten it.
        let base = size(&self.response)?;
        let mut left = wire_int(max_chars) - wire_int(base + DIGITS);
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|index| texts[*index].chars);
        let mut shares = vec![0; texts.len()];
        for (done, index) in order.iter().enumerate() {
            let share = (left / (order.len() - done) as i64).max(0);
            shares[*index] = texts[*index].chars.min(share);
            left -= shares[*index];
        }
        let mut is_cut = false;
        for ((document, payload), share) in self.documents().zip(texts).zip(shares) {
            is_cut |= payload.put_back(document, share)?;
        }
        Ok(is_cut)
    }
}

/// The text of one document: its content, or its passages if it has none.
struct Payload {
    content: Option<String>,
    /// Warning about a content that was cut when it was read. That about the budget stands in its place meanwhile.
    warning: Option<Warning>,
    passages: Option<Vec<Passage>>,
    /// Characters by which the whole text lengthens the body; negative if it is shorter than the warning about its cut.
    chars: i64,
}

impl Payload {
    /// Takes the text out of a document, which is then shown as cut to nothing by a budget of `max_chars`.
    fn take(document: &mut ReadDocument, max_chars: u64) -> Result<Self, Failure> {
        let whole = chars_of(document)?;
        let content = document.content.as_mut().map(|content| std::mem::take(&mut content.text));
        let (warning, passages) = match content {
            Some(_) => (replace_cut_warning(document, Some(cut_warning(max_chars))), None),
            None => (None, document.passages.as_mut().map(std::mem::take)),
        };
        Ok(Self { content, warning, passages, chars: whole - chars_of(document)? })
    }

    /// Puts back as much as lengthens the body by `share` characters at most. Returns `true` if the rest is left out.
    fn put_back(self, document: &mut ReadDocument, share: i64) -> Result<bool, Failure> {
        // Only whole texts have a negative share.
        let room = u64::try_from(share).unwrap_or_default();
        let mut is_cut = false;
        if let Some(passages) = self.passages {
            // No comma stands before the first one.
            let mut left = room + 1;
            let mut kept = Vec::new();
            for passage in passages {
                let Some(rest) = left.checked_sub(length_of(&passage)?.chars + 1) else {
                    is_cut = true;
                    break;
                };
                left = rest;
                kept.push(passage);
            }
            document.passages = Some(kept);
        }
        let (Some(text), Some(content)) = (self.content, &mut document.content) else { return Ok(is_cut) };
        // An empty text cannot be cut.
        if self.chars <= share || text.is_empty() {
            content.text = text;
            replace_cut_warning(document, self.warning);
            return Ok(is_cut);
        }
        let end = prefix(&text, room);
        content.text = text[..end].to_owned();
        content.char_count = wire_int(content.text.chars().count() as u64);
        content.truncated = true;
        Ok(true)
    }
}

/// Measures a value as JSON, in characters.
fn chars_of(value: &impl Serialize) -> Result<i64, Failure> {
    Ok(wire_int(length_of(value)?.chars))
}

/// Names the limit in the warning about a text that was cut to it when it was read.
pub(crate) fn name_limit(document: &mut ReadDocument, limit: Limit) {
    let unsigned = |max_chars| u64::try_from(max_chars).unwrap_or_default();
    let named = match limit {
        Limit::Caller => return,
        Limit::Budget(max_chars) => cut_warning(unsigned(max_chars)),
        Limit::Share(max_chars) => share_warning(unsigned(max_chars)),
    };
    if document.content.as_ref().is_some_and(|content| content.truncated) {
        replace_cut_warning(document, Some(named));
    }
}

/// Replaces the warning about a cut text. Returns the previous one.
fn replace_cut_warning(document: &mut ReadDocument, new: Option<Warning>) -> Option<Warning> {
    let cut = document.warnings.iter().position(|warning| warning.code == WarningCode::ContentTruncated);
    let Some(at) = cut else {
        document.warnings.extend(new);
        return None;
    };
    document.warnings.splice(at..=at, new).next()
}

fn cut_warning(max_chars: u64) -> Warning {
    let details = Map::from_iter([("field".to_owned(), FIELD.into()), ("max_chars".to_owned(), max_chars.into())]);
    let message = "the content was cut to fit the budget of all documents".to_owned();
    Warning { code: WarningCode::ContentTruncated, message, details }
}

/// No field of the request is the limit.
fn share_warning(max_chars: u64) -> Warning {
    let details = Map::from_iter([("max_chars".to_owned(), max_chars.into())]);
    let message = format!("the content is longer than the {max_chars} characters that each document may have");
    Warning { code: WarningCode::ContentTruncated, message, details }
}

/// Returns the length in bytes of the longest beginning that has at most `left` characters in a JSON string.
fn prefix(text: &str, mut left: u64) -> usize {
    for (at, character) in text.char_indices() {
        let length = match character {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            _ => 1,
        };
        let Some(rest) = left.checked_sub(length) else { return at };
        left = rest;
    }
    text.len()
}
