//! The answer of a search: per result a head and quotes. Every result gets a quote before any gets a second.

use api_types::{SearchResponse, SearchResult};
use serde::Serialize;
use uuid::Uuid;

use super::passage::Quote;
use super::size::{Size, chars, json_chars, largest};
use super::text::line;
use super::{Answer, Tail};
use crate::Failure;

/// Longest title, in characters.
const MAX_TITLE: usize = 120;

/// Shortest beginning of a passage that is worth showing, in characters. With less room, the last results are dropped.
const MIN_QUOTE: usize = 100;

#[derive(Serialize)]
struct Hits<'a> {
    search_id: Uuid,
    results: &'a [Hit],
    #[serde(flatten)]
    tail: &'a Tail,
}

/// A result in its slim form.
#[derive(Clone, Serialize)]
struct Hit {
    rank: i64,
    doc_id: Uuid,
    canonical_url: String,
    /// Name of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    published_at: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passages: Vec<Quote>,
}

impl Hit {
    fn of(result: &SearchResult) -> Self {
        let passages = result.passages.iter().flatten();
        let mut passages: Vec<Quote> = passages.map(|passage| Quote::of(passage).without_offsets()).collect();
        if passages.is_empty() {
            // Small presets have a snippet instead, and a document without a matching passage has one too.
            let texts = [&result.snippet, &result.description];
            let text = texts.into_iter().flatten().find(|text| !text.trim().is_empty());
            passages.extend(text.map(|text| Quote::plain(text)));
        }
        Self {
            rank: result.rank,
            doc_id: result.doc_id,
            canonical_url: result.canonical_url.clone(),
            name: result.name.as_deref().map(|name| line(name, MAX_TITLE)),
            title: result.title.as_deref().map(|title| line(title, MAX_TITLE)),
            published_at: result.metadata.as_ref().and_then(|metadata| metadata.published_at.clone()),
            passages,
        }
    }

    fn head(&self) -> String {
        let title = self.title.as_deref().filter(|title| !title.is_empty()).unwrap_or("(no title)");
        let url = line(&self.canonical_url, usize::MAX);
        let day = self.published_at.as_deref().map(|time| format!(" | {}", day(time))).unwrap_or_default();
        let name = self.name.as_deref().filter(|name| self.title.as_deref() != Some(*name));
        let name = name.map(|name| format!(" | file {name}")).unwrap_or_default();
        format!("## {}. {title}\n{url} | doc_id {}{name}{day}", self.rank, self.doc_id)
    }

    /// The size of the head, with the blank line behind the result.
    fn head_size(&self) -> Size {
        let head = Self { passages: Vec::new(), ..self.clone() };
        // The key of the list.
        Size::of(&self.head(), &head) + Size { text: 1, json: 16 }
    }

    /// The size with the first passage alone, cut to `most` characters.
    fn least_size(&self, most: usize) -> Size {
        self.head_size() + self.passages.first().map(|first| first.cut(most).size()).unwrap_or_default()
    }
}

/// Returns the day of a time in RFC 3339.
pub(super) fn day(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}

/// Builds the answer of a search within `limit` characters in each form.
///
/// # Errors
/// The answer cannot be serialized.
pub(crate) fn hits(response: &SearchResponse, limit: usize, mut tail: Tail, can_read: bool) -> Result<Answer, Failure> {
    let found: Vec<Hit> = response.results.iter().flatten().map(Hit::of).collect();
    match (found.first(), can_read) {
        (Some(first), true) => {
            tail.next(format!(
                "to read more of a result, call read_document with {{\"doc_id\": \"{}\"}}",
                first.doc_id
            ));
        }
        (Some(_), false) => {}
        (None, _) => {
            tail.next("rephrase the query, use fewer filters, or search other indexes: \"web\", \"workspace\"")
        }
    }
    tail.shorten(limit);
    let empty = Hits { search_id: response.search_id, results: &[], tail: &tail };
    let head = |count: usize| match count {
        0 => format!("Nothing found (search_id {}).", response.search_id),
        1 => format!("1 result (search_id {}):", response.search_id),
        count => format!("{count} results, best first (search_id {}):", response.search_id),
    };
    // A note on omitted results may follow.
    const NOTE: Size = Size { text: 60, json: 70 };
    let fixed = Size { text: chars(&head(found.len())) + 2, json: json_chars(&empty) };
    let fixed = fixed + Size { text: tail.size().text, json: 0 } + NOTE;
    let shown = fit(&found, fixed, limit);
    if shown.len() < found.len() {
        tail.note(format!("{} of {} results fit into {limit} characters", shown.len(), found.len()));
    }
    let mut text = head(found.len());
    for hit in &shown {
        text.push_str("\n\n");
        text.push_str(&hit.head());
        for (index, quote) in hit.passages.iter().enumerate() {
            text.push_str(if index == 0 { "\n" } else { "\n\n" });
            text.push_str(&quote.markdown());
        }
    }
    let tail_lines: Vec<String> = tail.lines().collect();
    if !tail_lines.is_empty() {
        text.push_str("\n\n");
        text.push_str(&tail_lines.join("\n"));
    }
    Answer::new(text, &Hits { search_id: response.search_id, results: &shown, tail: &tail })
}

/// Returns as many results, with as many quotes, as fit: a first quote for all, then second ones by rank, and so on.
fn fit(found: &[Hit], fixed: Size, limit: usize) -> Vec<Hit> {
    let fits = |count: usize, most: usize| {
        let least: Size = found[..count].iter().map(|hit| hit.least_size(most)).sum();
        (fixed + least).fits(limit)
    };
    let Some(count) = (0..=found.len()).rev().find(|count| fits(*count, MIN_QUOTE)).filter(|count| *count > 0) else {
        return Vec::new();
    };
    let longest = found[..count].iter().flat_map(|hit| hit.passages.first()).map(|first| chars(&first.text)).max();
    let most = largest(MIN_QUOTE, longest.unwrap_or(MIN_QUOTE), |most| fits(count, most)).unwrap_or(MIN_QUOTE);
    let mut shown: Vec<Hit> = found[..count]
        .iter()
        .map(|hit| Hit { passages: hit.passages.iter().take(1).map(|first| first.cut(most)).collect(), ..hit.clone() })
        .collect();
    let mut size = fixed + found[..count].iter().map(|hit| hit.least_size(most)).sum();
    let rounds = found[..count].iter().map(|hit| hit.passages.len()).max().unwrap_or(0);
    for round in 1..rounds {
        for (hit, shown) in found[..count].iter().zip(&mut shown) {
            // A quote that was left out leaves no room for the next one of its result.
            let Some(quote) = hit.passages.get(round).filter(|_| shown.passages.len() == round) else { continue };
            let larger = size + quote.size();
            if larger.fits(limit) {
                size = larger;
                shown.passages.push(quote.clone());
            }
        }
    }
    shown
}
