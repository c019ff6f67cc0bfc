#![no_main]
//! Pages of real tags in any order and nesting, which random bytes hardly ever form.

use std::fmt::Write;

use arbitrary::Arbitrary;
use extract::{ExtractRequest, FileKind, extract};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Part {
    Open(u8, Option<(u8, String)>),
    Close(u8),
    Text(String),
    Sentence(u8),
    Entity(u16),
    Comment(String),
}

const TAGS: [&str; 48] = [
    "html", "head", "title", "body", "main", "article", "section", "nav", "aside", "footer", "header", "div", "p", "span",
    "h1", "h2", "h3", "ul", "ol", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td", "caption", "pre",
    "code", "blockquote", "a", "img", "br", "hr", "em", "strong", "script", "style", "template", "noscript", "svg", "math",
    "details", "figure", "base",
];
const ATTRIBUTES: [&str; 12] = [
    "class", "id", "href", "src", "alt", "style", "hidden", "colspan", "rowspan", "lang", "datetime", "start",
];

fuzz_target!(|parts: Vec<Part>| {
    let mut page = String::new();
    for part in &parts {
        let tag = |number: &u8| TAGS[usize::from(*number) % TAGS.len()];
        let _ = match part {
            Part::Open(number, None) => write!(page, "<{}>", tag(number)),
            Part::Open(number, Some((attribute, value))) => {
                let attribute = ATTRIBUTES[usize::from(*attribute) % ATTRIBUTES.len()];
                write!(page, "<{} {attribute}=\"{value}\">", tag(number))
            }
            Part::Close(number) => write!(page, "</{}>", tag(number)),
            Part::Text(text) => write!(page, "{text}"),
            Part::Sentence(length) => write!(page, "{}. ", "Some words of a sentence ".repeat(usize::from(*length) % 8)),
            Part::Entity(number) => write!(page, "&#{number};"),
            Part::Comment(text) => write!(page, "<!--{text}-->"),
        };
    }
    let request = ExtractRequest {
        base_url: Some("https://example.com/a/b".to_owned()),
        ..ExtractRequest::new(FileKind::Html, "page.html")
    };
    match extract(&request, page.as_bytes()) {
        Ok(read) => assert!(!read.markdown.contains(['\0', '\r'])),
        Err(error) => assert_eq!(error.kind, extract::ExtractErrorKind::WrongType, "{error}"),
    }
});
