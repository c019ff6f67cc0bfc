//! Web archive input.

use std::borrow::Cow;
use std::io::Read;

use ::warc::http::{HttpError, Response};
use ::warc::{Reader, Record};
use anyhow::Context;
use app::web::WebPage;
use file_types::{ContentType, FileKind};
use ingest::clock::from_date_time;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::page::{Document, RawPage, is_page};
use super::pipeline::Batches;

/// Maximum size of a record, and of a response's decoded content.
const MAX_PAGE_BYTES: usize = 64 << 20;

/// Reads records until the input ends or the import has failed. Records without a page are skipped.
pub fn read(input: impl Read, batches: &mut Batches) -> anyhow::Result<()> {
    let mut reader = Reader::new(input, MAX_PAGE_BYTES);
    while let Some(entry) = reader.next_record().context("reading the input")? {
        let page = match entry.record {
            Ok(record) => page_of(&record),
            Err(damage) => Err(damage.to_string()),
        };
        let Some(page) = page.transpose() else { continue };
        if !batches.push(format!("record {} (offset {})", entry.number, entry.offset), page) {
            break;
        }
    }
    Ok(())
}

/// Returns the page of a record; `None` for requests, redirects, images and other records without a page.
fn page_of(record: &Record) -> Result<Option<RawPage>, String> {
    let Some(url) = record.target_uri() else {
        return if record.kind() == "response" { Err("no WARC-Target-URI".to_owned()) } else { Ok(None) };
    };
    let is_web = ["http://", "https://"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(scheme)));
    if !is_web {
        return Ok(None);
    }
    let document = match record.kind() {
        "response" => response(record).map_err(|error| error.to_string())?,
        // Written by the crawler without an HTTP header.
        "resource" | "conversion" => document(record.content_type(), Cow::Borrowed(&record.block)),
        _ => None,
    };
    let crawled_at = record.date().and_then(|date| OffsetDateTime::parse(date, &Rfc3339).ok()).map(from_date_time);
    let page = WebPage { url: url.to_owned(), crawled_at, ..WebPage::default() };
    Ok(document.map(|document| RawPage { page, document: Some(document) }))
}

/// Returns the document of a successful HTTP response.
fn response(record: &Record) -> Result<Option<Document>, HttpError> {
    let is_http = match record.content_type() {
        Some(content_type) => ContentType::parse(content_type).media_type == "application/http",
        None => record.block.starts_with(b"HTTP/"),
    };
    if !is_http {
        return Ok(None);
    }
    let response = Response::parse(&record.block)?;
    let content_type = response.fields.get("content-type");
    // Content of other types is not decoded.
    let is_unsupported = content_type.is_some_and(|header| page_kind(&ContentType::parse(header)).is_none());
    let is_part = response.status == 206 && !response.fields.get("content-range").is_some_and(is_whole);
    if !(200..300).contains(&response.status) || is_part || is_unsupported {
        return Ok(None);
    }
    Ok(document(content_type, response.content(MAX_PAGE_BYTES, record.is_truncated())?))
}

/// Returns true if a `Content-Range` covers the whole length. Some crawlers request every page from byte 0 on.
fn is_whole(content_range: &str) -> bool {
    let Some((unit, range)) = content_range.trim().split_once(' ') else { return false };
    let bounds = range.split_once('/').and_then(|(range, length)| {
        let (first, last) = range.split_once('-')?;
        Some([first, last, length].map(|number| number.trim().parse::<u64>().ok()))
    });
    let Some([Some(first), Some(last), Some(length)]) = bounds else { return false };
    unit.eq_ignore_ascii_case("bytes") && first == 0 && last.checked_add(1) == Some(length)
}

/// Returns the document if its kind can be a page and it has content.
fn document(content_type: Option<&str>, content: Cow<'_, [u8]>) -> Option<Document> {
    let content_type = content_type.map(ContentType::parse);
    let kind = content_type.as_ref().map_or_else(|| sniff(&content), page_kind)?;
    if content.trim_ascii().is_empty() {
        return None;
    }
    let charset = content_type.and_then(|content_type| content_type.charset);
    Some(Document { kind, bytes: content.into_owned(), charset })
}

fn page_kind(content_type: &ContentType) -> Option<FileKind> {
    if content_type.media_type == "application/xhtml+xml" {
        return Some(FileKind::Html);
    }
    FileKind::from_media_type(&content_type.media_type).filter(is_page)
}

/// Detects the kind of a document without a content type.
fn sniff(content: &[u8]) -> Option<FileKind> {
    if content.starts_with(b"%PDF-") {
        return Some(FileKind::Pdf);
    }
    let start = content.trim_ascii_start();
    let begins = |tag: &[u8]| start.get(..tag.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(tag));
    (begins(b"<!doctype html") || begins(b"<html")).then_some(FileKind::Html)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::page_of;
    use file_types::FileKind;
    use model::Timestamp;
    use warc::Reader;

    fn record(fields: &str, block: &[u8]) -> warc::Record {
        let header = format!("WARC/1.1\r\n{fields}Content-Length: {}\r\n\r\n", block.len());
        let bytes = [header.as_bytes(), block, b"\r\n\r\n"].concat();
        Reader::new(bytes.as_slice(), 1 << 20).next_record().unwrap().unwrap().record.unwrap()
    }

    fn response(fields: &str, block: &[u8]) -> warc::Record {
        let of_response = "WARC-Type: response\r\nWARC-Target-URI: https://example.com/\r\n\
                           Content-Type: application/http; msgtype=response\r\n";
        record(&format!("{of_response}{fields}"), block)
    }

    fn kind_and_text(record: &warc::Record) -> Option<(FileKind, String)> {
        let document = page_of(record).unwrap()?.document.unwrap();
        Some((document.kind, String::from_utf8(document.bytes).unwrap()))
    }

    #[test]
    fn successful_responses_with_documents_are_pages() {
        let of = |block: &str| kind_and_text(&response("", block.as_bytes()));
        let html = Some((FileKind::Html, "<p>a".to_owned()));
        assert_eq!(of("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>a"), html);
        assert_eq!(of("HTTP/1.1 203 OK\r\nContent-Type: application/xhtml+xml\r\n\r\n<p>a"), html);
        assert_eq!(of("HTTP/1.1 206 OK\r\nContent-Type: text/html\r\nContent-Range: bytes 0-3/4\r\n\r\n<p>a"), html);
        let markdown = Some((FileKind::Md, "# a".to_owned()));
        assert_eq!(of("HTTP/1.1 200 OK\r\nContent-Type: text/markdown\r\n\r\n# a"), markdown);
        assert_eq!(of("HTTP/1.1 200 OK\r\n\r\n<!DOCTYPE html>").unwrap().0, FileKind::Html);
        for other in [
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n<p>a",
            "HTTP/1.1 301 Moved\r\nContent-Type: text/html\r\nLocation: /\r\n\r\n<p>a",
            "HTTP/1.1 206 OK\r\nContent-Type: text/html\r\nContent-Range: bytes 0-3/5\r\n\r\n<p>a",
            "HTTP/1.1 206 OK\r\nContent-Type: text/html\r\nContent-Range: bytes 1-4/5\r\n\r\n<p>a",
            "HTTP/1.1 206 OK\r\nContent-Type: text/html\r\nContent-Range: bytes 0-3/*\r\n\r\n<p>a",
            "HTTP/1.1 206 OK\r\nContent-Type: text/html\r\n\r\n<p>a",
            "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\npng",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n \r\n",
            "HTTP/1.1 200 OK\r\n\r\nno type and no sign of one",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn records_without_a_web_page_are_skipped() {
        for fields in [
            "WARC-Type: request\r\nWARC-Target-URI: https://example.com/\r\nContent-Type: text/plain\r\n",
            "WARC-Type: warcinfo\r\nContent-Type: application/warc-fields\r\n",
            "WARC-Type: response\r\nWARC-Target-URI: dns:example.com\r\nContent-Type: text/dns\r\n",
            "WARC-Type: resource\r\nWARC-Target-URI: urn:x:y\r\nContent-Type: text/plain\r\n",
            "WARC-Type: revisit\r\nWARC-Target-URI: https://example.com/\r\nContent-Type: application/http\r\n",
        ] {
            assert!(page_of(&record(fields, b"HTTP/1.1 200 OK\r\n\r\n<html>")).unwrap().is_none(), "{fields}");
        }
        let conversion = "WARC-Type: conversion\r\nWARC-Target-URI: <HTTPS://example.com/a>\r\nContent-Type: text/plain\r\n\
                          WARC-Date: 2026-01-05T10:00:00Z\r\n";
        let page = page_of(&record(conversion, b"text")).unwrap().unwrap();
        assert_eq!(
            (page.page.url.as_str(), page.page.crawled_at),
            ("HTTPS://example.com/a", Some(Timestamp::from_millis(1_767_607_200_000)))
        );
    }

    #[test]
    fn malformed_responses_are_errors() {
        let without = record("WARC-Type: response\r\nContent-Type: application/http\r\n", b"HTTP/1.1 200 OK\r\n\r\n");
        for bad in [
            without,
            response("", b"no HTTP"),
            response("", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08no"),
        ] {
            assert!(page_of(&bad).is_err());
        }
        // The type is checked before the content is decoded.
        let image = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08no";
        assert!(page_of(&response("", image)).unwrap().is_none());
    }

    #[test]
    fn charset_of_the_server_is_kept() {
        let header = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=windows-1251\r\n\r\n\xcf";
        let document = page_of(&response("", header)).unwrap().unwrap().document.unwrap();
        assert_eq!((document.charset.as_deref(), document.bytes), (Some("windows-1251"), vec![0xcf]));
    }
}
