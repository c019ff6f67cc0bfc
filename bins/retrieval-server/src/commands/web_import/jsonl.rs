//! JSON lines input.

use std::io::{self, BufRead, BufReader, Read};

use anyhow::Context;
use app::web::WebPage;
use file_types::FileKind;
use ingest::clock::from_date_time;
use ingest::prepare::Extent;
use model::Timestamp;
use serde::Deserialize;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime};

use super::page::{Document, RawPage};
use super::pipeline::Batches;

/// Maximum length of a line. A longer one is counted as failed and skipped without buffering it.
const MAX_LINE_BYTES: u64 = 64 << 20;
const BUFFER: usize = 1 << 18;

/// Reads lines until the input ends or the import has failed.
pub fn read(input: impl Read, batches: &mut Batches) -> anyhow::Result<()> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let mut number: u64 = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line).context("reading the input")?;
        if length == 0 {
            return Ok(());
        }
        number += 1;
        let page = if length as u64 == MAX_LINE_BYTES && !line.ends_with(b"\n") {
            skip_line(&mut input)?;
            Err(format!("line longer than {MAX_LINE_BYTES} bytes"))
        } else if line.trim_ascii().is_empty() {
            continue;
        } else {
            parse(&line).and_then(Line::into_page)
        };
        if !batches.push(format!("line {number}"), page) {
            return Ok(());
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let (used, ended) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (buffer.len(), false),
        };
        input.consume(used);
        if ended {
            return Ok(());
        }
    }
}

/// Parses a line. Errors state the column, in bytes.
fn parse(line: &[u8]) -> Result<Line, String> {
    // Without its end, which the parser would count as a further line.
    let line = line.trim_ascii_end();
    // serde accepts an array for a struct, field by field.
    if !line.trim_ascii_start().starts_with(b"{") {
        return Err("expected a JSON object".to_owned());
    }
    serde_json::from_slice(line).map_err(|error| {
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        match text.strip_suffix(&place) {
            Some(fault) => format!("{fault} at column {}", error.column()),
            None => text,
        }
    })
}

/// One page as a line of JSON. Unknown fields are ignored, because exports of other tools have many.
#[derive(Deserialize)]
struct Line {
    url: String,
    title: Option<String>,
    text: Option<String>,
    markdown: Option<String>,
    html: Option<String>,
    description: Option<String>,
    published_at: Option<String>,
    language: Option<String>,
    country: Option<String>,
    #[serde(default)]
    labels: Option<Vec<String>>,
}

impl Line {
    fn into_page(self) -> Result<RawPage, String> {
        let mut extent = Extent::Whole;
        // Exports of other tools have all fields, and leave empty what they do not know.
        let filled = |field: Option<String>| field.filter(|text| !text.trim().is_empty());
        let [markdown, text, html] = [self.markdown, self.text, self.html].map(filled);
        let [title, description, language, country] =
            [self.title, self.description, self.language, self.country].map(filled);
        let published_at = filled(self.published_at).as_deref().map(parse_time).transpose()?;
        // Only the kind of the content says if its marks are markup.
        let (content, kind) = match (markdown, text) {
            (Some(markdown), _) => (Some(markdown), Some(FileKind::Md)),
            (None, Some(text)) => (Some(text), Some(FileKind::Txt)),
            (None, None) => (None, None),
        };
        let (markdown, document) = match (content, html, description.as_deref()) {
            (Some(content), _, _) => (content, None),
            (None, Some(html), _) => {
                (String::new(), Some(Document { kind: FileKind::Html, bytes: html.into_bytes(), charset: None }))
            }
            // A result of another search engine: the text is fetched on the first read.
            (None, None, Some(snippet)) => {
                extent = Extent::Snippet;
                (snippet.to_owned(), None)
            }
            (None, None, None) => {
                return Err("one of `text`, `markdown`, `html` or `description` is required".to_owned());
            }
        };
        let page = WebPage {
            url: self.url,
            title,
            markdown,
            description,
            published_at,
            language,
            country,
            labels: self.labels.unwrap_or_default(),
            mime: kind.map(|kind| kind.media_type().to_owned()),
            extent,
            ..WebPage::default()
        };
        Ok(RawPage { page, document })
    }
}

/// Parses an RFC 3339 time or a date.
fn parse_time(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = OffsetDateTime::parse(text, &Rfc3339) {
        return Ok(from_date_time(time));
    }
    Date::parse(text, format_description!("[year]-[month]-[day]"))
        .map(|date| from_date_time(date.midnight().assume_utc()))
        .map_err(|_| format!("published_at: `{text}` is neither an RFC 3339 time nor a date"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_texts_hide_no_content() {
        let page = |fields: &str| {
            let line: Line = serde_json::from_str(&format!(r#"{{"url":"https://e.com/a",{fields}}}"#)).expect("a line");
            line.into_page()
        };
        let from_html = page(r#""markdown":"","text":" \n","html":"<p>Real text</p>""#).expect("a page");
        let document = from_html.document.expect("a document");
        assert_eq!((document.kind, document.bytes.as_slice()), (FileKind::Html, b"<p>Real text</p>".as_slice()));
        let from_text = page(r#""markdown":"","text":"Real text""#).expect("a page").page;
        assert_eq!((from_text.markdown.as_str(), from_text.mime.as_deref()), ("Real text", Some("text/plain")));
        assert!(page(r#""markdown":"","html":" ","description":"""#).is_err());
    }

    #[test]
    fn a_line_is_an_object() {
        let whole = r#"["https://e.com/a","Title","Text",null,null,null,null,null,null,["x"]]"#;
        for line in ["[]", "bad", "null", "\"{}\"", "1", "  [{}]\n", "[", "]", "\u{feff}{}", whole] {
            assert_eq!(parse(line.as_bytes()).err().as_deref(), Some("expected a JSON object"), "{line}");
        }
        for line in [r#"{"url":"https://e.com/a"}"#, " \t{\"url\":\"https://e.com/a\"} \r\n"] {
            assert!(parse(line.as_bytes()).is_ok(), "{line}");
        }
    }

    #[test]
    fn errors_state_the_column_alone() {
        for (line, fault) in [
            ("{}\n", "missing field `url`"),
            (" {\"url\":1}\n", "invalid type: integer `1`, expected a string"),
            ("{\"url\":\"u\",\"labels\":{}}", "invalid type: map, expected a sequence"),
            ("{\"url\":\"u\"\n", "EOF while parsing an object"),
            ("{\"url\":\"u\"},\r\n", "trailing characters"),
        ] {
            let message = parse(line.as_bytes()).err().expect("an error");
            let parts = message.rsplit_once(" at column ");
            let parts = parts.map(|(fault, column)| (fault, column.parse::<u32>().is_ok()));
            assert_eq!(parts, Some((fault, true)), "{message}");
        }
    }

    #[test]
    fn empty_fields_are_missing_fields() {
        let line: Line = serde_json::from_str(
            r#"{"url":"https://e.com/a","text":"x","title":"","published_at":"","language":" ","country":"","description":""}"#,
        )
        .expect("a line");
        let page = line.into_page().expect("a page").page;
        assert_eq!((page.title, page.description, page.published_at), (None, None, None));
        assert_eq!((page.language, page.country), (None, None));
    }
}
